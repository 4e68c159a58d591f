#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Install missing Debian packages and print their names.
# Usage: tools/deps.sh [GROUP...]     groups: see packages() below; default: build vm test
set -eu -o pipefail
. "$(dirname "$0")/common.sh"

# verbs, the user space of rxe and siw, and rping
RDMA="libibverbs-dev librdmacm-dev ibverbs-providers rdmacm-utils"

# packages GROUP: the group's packages, one a line
packages() {
	case $1 in
	build) echo make gcc libc6-dev kmod xz-utils ;;
	tools) echo make gcc libc6-dev libmnl-dev libjson-c-dev nettle-dev ;;
	# guests use the host's programs, so these include the programs that kselftests call
	vm)
		grep -qx 'VERSION_ID="12"' /etc/os-release || echo virtiofsd # Debian 12 has it in qemu-system-common
		echo qemu-system-x86 busybox-static cpio kmod xz-utils zstd lz4 iproute2 iperf3 ethtool linuxptp nftables perftest ibverbs-providers python3-minimal jq procps iputils-ping
		;;
	uml) echo make gcc libc6-dev flex bison bc libelf-dev libssl-dev ccache kmod cpio xz-utils patch ;;
	test) echo libcmocka-dev libmnl-dev libjson-c-dev nettle-dev make gcc libc6-dev jq iperf3 iproute2 ethtool procps openssl python3-minimal python3-yaml python3-jsonschema python3-prometheus-client ccache "$RDMA" ;;
	fuzz) echo clang llvm libclang-rt-dev ;;
	lint) echo sparse shellcheck codespell mandoc git python3-yaml ;;
	bpftrace) echo bpftrace ;;
	docs) echo furo python3-sphinx python3-bs4 python3-yaml mandoc ;;
	plot) echo python3-matplotlib ;;
	wireshark) echo tshark python3-minimal ;;
	lab) echo make gcc libc6-dev libmnl-dev libjson-c-dev nettle-dev busybox-static iproute2 python3 python3-matplotlib "$RDMA" ;;
	ns3) echo make g++ libc6-dev libns3-dev python3 python3-matplotlib ;; # only for tools/lab/crosscheck; Debian 12's is 3.37
	tdc) echo python3-pyroute2 python3-scapy ;;
	dkms) echo dkms ;;
	deb) echo build-essential libmnl-dev libjson-c-dev nettle-dev debhelper dh-dkms devscripts lintian ;;
	trixie) echo mmdebstrap debian-archive-keyring ;;
	arm64) echo make gcc gcc-12-aarch64-linux-gnu debian-archive-keyring ;; # Debian 12's compiler for arm64
	bookworm) echo gcc-12 debian-archive-keyring ;; # for Debian 12's kernel on a later Debian
	*) die "no such group of packages: $1" ;;
	esac | tr ' ' '\n'
}

# missing PACKAGE...: print the packages that are not installed
missing() {
	local p
	for p in "$@"; do
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || echo "$p"
	done
}

# progress: read apt's output and print its state every 5 s
progress() {
	local line next=$((SECONDS + 5))
	while IFS= read -r line; do
		[[ $SECONDS -ge $next && $line =~ ^(dl|pm)status:.*:([0-9]+)(\.[0-9]+)?:(.*)$ ]] || continue
		case ${BASH_REMATCH[1]} in
		dl) say "download ${BASH_REMATCH[2]} %: ${BASH_REMATCH[4]}" ;;
		pm) say "installation ${BASH_REMATCH[2]} %: ${BASH_REMATCH[4]}" ;;
		esac
		next=$((SECONDS + 5))
	done
}

main() {
	local g names='' todo sudo=()
	[ $# -gt 0 ] || set -- build vm test
	for g in "$@"; do
		names+=" $(packages "$g")"
	done
	# shellcheck disable=SC2086 # names are words
	mapfile -t todo < <(missing $names | sort -u)
	[ ${#todo[@]} -gt 0 ] || return 0
	if [ "$(id -u)" -ne 0 ]; then
		command -v sudo >/dev/null || die "only root can install packages; as root: apt-get install ${todo[*]}"
		sudo=(sudo)
	fi
	say "installing from Debian: ${todo[*]}"
	export DEBIAN_FRONTEND=noninteractive INITRD=No LC_ALL=C
	apt_update
	"${sudo[@]}" apt-get -qq -o DPkg::Lock::Timeout=$APT_TIMEOUT -o APT::Status-Fd=1 install -y --no-install-recommends \
		"${todo[@]}" | progress
}

main "$@"
