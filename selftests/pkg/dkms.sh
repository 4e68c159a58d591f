#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# DKMS builds and installs the modules from the tarball of `make dist`. All its files, including its tree and signing
# key, are in a temporary directory. Runs on the host. CLOSNET_KERNEL: kernel, default 6.12
# shellcheck disable=SC2317 # functions are called through check
. "$(dirname "$0")/../../tools/common.sh"
. "$(dirname "$0")/../lib/lib.sh"

git -C "$CLOSNET_TOP" rev-parse -q --verify HEAD >/dev/null || skip_all "needs a git checkout"
[ "$(id -u)" -eq 0 ] || skip_all "dkms needs root"
"$CLOSNET_TOP/tools/deps.sh" build dkms
kver='' kdir=''
where=$("$CLOSNET_TOP/tools/vm/kernel" "${CLOSNET_KERNEL:-6.12}")
eval "$where"

# dkms reads these variables; without them it would make keys for the host
export mok_signing_key=$TMP/mok.key mok_certificate=$TMP/mok.pub
mkdir -p "$TMP/dkms" "$TMP/src" "$TMP/lib/modules/$kver"
version=$(<"$CLOSNET_TOP/VERSION")
updates=$TMP/lib/modules/$kver/updates/dkms

trees=(--dkmstree "$TMP/dkms" --sourcetree "$TMP/src" --installtree "$TMP/lib/modules" --no-depmod)

dkms_() { dkms "$@" "${trees[@]}"; }

# for_kernel ACTION: run a dkms action for the kernel
for_kernel() { dkms_ "$1" "closnet/$version" -k "$kver" --kernelsourcedir "$kdir"; }

# installed: print the modules in the kernel's directory; DKMS compresses them as the kernel's modules are
installed() { find "$TMP/lib/modules" -name '*.ko*' | sed 's|.*/||; s|\.ko.*||' | sort; }

# expected: print the modules that Kbuild builds
expected() {
	sed -n 's/^obj-[^+]*+= *\(.*\.o\)$/\1/p' "$TMP/closnet-$version"/{net/*,sch,tcp_cc}/Kbuild | tr ' ' '\n' |
		sed 's|.*/||; s|\.o$||' | sort
}

# accepted RELEASE...: print the RELEASEs for which dkms.conf permits a build
accepted() {
	local BUILD_EXCLUSIVE_KERNEL release
	eval "$(grep '^BUILD_EXCLUSIVE_KERNEL=' "$TMP/closnet-$version/dkms.conf")"
	for release in "$@"; do
		[[ ! $release =~ $BUILD_EXCLUSIVE_KERNEL ]] || echo "$release"
	done
}

tarball=$("$CLOSNET_TOP/tools/pkg/dist" --out "$TMP" 2>/dev/null)
check "tarball unpacks" tar -xf "$tarball" -C "$TMP"
check_eq "dkms.conf permits Linux 6.1 to 7.x" \
	"$(accepted 5.10.0-30-amd64 6.0.19 6.1.0-56-amd64 6.12.117+deb12-amd64 7.0-rc1 7.3.4+deb13-amd64 8.0.1 | xargs)" \
	"6.1.0-56-amd64 6.12.117+deb12-amd64 7.0-rc1 7.3.4+deb13-amd64"
check "dkms adds the modules" dkms_ add "$TMP/closnet-$version"
check "dkms builds the modules for $kver" for_kernel build
[ "$TEST_FAILED" -eq 0 ] || note "$(cat "$TMP/dkms/closnet/$version/build/make.log")"
check "dkms installs the modules" for_kernel install
check_eq "dkms.conf names every module that Kbuild builds" "$(installed)" "$(expected)"
module=$(find "$updates" -name 'sch_ndp.ko*')
check_eq "sch_ndp is installed in updates/dkms" "${module%.ko*}" "$updates/sch_ndp"
check_eq "sch_ndp has the tree's version" "$(modinfo -F version "$module")" "$version"
check_eq "sch_ndp is built for the kernel" "$(modinfo -F vermagic "$module" | cut -d ' ' -f 1)" "$kver"
check_eq "sch_ndp has the alias by which the kernel loads it for tc" "$(modinfo -F alias "$module")" net-sch-ndp
check_eq "sch_dcqcn has the alias by which the kernel loads it for tc" \
	"$(modinfo -F alias "$(find "$updates" -name 'sch_dcqcn.ko*')")" net-sch-dcqcn
check_eq "sch_pcrp has the alias by which the kernel loads it for tc" \
	"$(modinfo -F alias "$(find "$updates" -name 'sch_pcrp.ko*')")" net-sch-pcrp
check_eq "act_lb has the alias by which the kernel loads it for tc" \
	"$(modinfo -F alias "$(find "$updates" -name 'act_lb.ko*')")" net-act-lb
check_eq "ndp has the aliases by which socket() loads it for SOCK_RDM and SOCK_SEQPACKET" \
	"$(modinfo -F alias "$(find "$updates" -name 'ndp.ko*')" | sort | xargs)" \
	"net-pf-10-proto-259-type-4 net-pf-10-proto-259-type-5 net-pf-2-proto-259-type-4 net-pf-2-proto-259-type-5"
check_eq "closwire has the alias by which the kernel loads it for ip" \
	"$(modinfo -F alias "$(find "$updates" -name 'closwire.ko*')")" rtnl-link-closwire
depmod -b "$TMP" "$kver" 2>/dev/null
check_eq "modprobe resolves the alias to the installed sch_ndp" \
	"$(modprobe -d "$TMP" -S "$kver" --show-depends net-sch-ndp)" "insmod $module "
check "dkms removes the modules" dkms_ remove "closnet/$version" --all
check_eq "dkms leaves no modules after removal" "$(installed)" ""
# a first installation, and one over an existing one
for _ in 1 2; do
	check "tools/dkms-install succeeds" env "KVER=$kver" "KDIR=$kdir" "$CLOSNET_TOP/tools/build/dkms-install" "${trees[@]}"
	check_eq "tools/dkms-install installs all modules" "$(installed)" "$(expected)"
done
finish
