#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Does DKMS build and install the modules out of the tarball of `make dist`? Everything,
# DKMS's own tree and its signing key included, is in a temporary directory.
# Runs on the host. CLOSNET_KERNEL: for which kernel (default 6.12).
# shellcheck disable=SC2317 # functions are called through check
. "$(dirname "$0")/../../tools/common.sh"
. "$(dirname "$0")/../lib/lib.sh"

git -C "$CLOSNET_TOP" rev-parse -q --verify HEAD >/dev/null || skip_all "needs a git checkout"
[ "$(id -u)" -eq 0 ] || skip_all "needs root: dkms does"
"$CLOSNET_TOP/tools/deps.sh" build dkms
kver='' kdir=''
where=$("$CLOSNET_TOP/tools/vm/kernel" "${CLOSNET_KERNEL:-6.12}")
eval "$where"

# read by dkms out of its environment; without them it would make keys for the host
export mok_signing_key=$TMP/mok.key mok_certificate=$TMP/mok.pub
mkdir -p "$TMP/dkms" "$TMP/src" "$TMP/lib/modules/$kver"
version=$(<"$CLOSNET_TOP/VERSION")
updates=$TMP/lib/modules/$kver/updates/dkms

trees=(--dkmstree "$TMP/dkms" --sourcetree "$TMP/src" --installtree "$TMP/lib/modules" --no-depmod)

dkms_() { dkms "$@" "${trees[@]}"; }

# for_kernel ACTION: on the one kernel
for_kernel() { dkms_ "$1" "closnet/$version" -k "$kver" --kernelsourcedir "$kdir"; }

# installed: the modules that DKMS has put into the kernel's directory; it packs them as the kernel's are
installed() { find "$TMP/lib/modules" -name '*.ko*' | sed 's|.*/||; s|\.ko.*||' | sort; }

# expected: the modules that Kbuild makes
expected() {
	sed -n 's/^obj-[^+]*+= *\(.*\.o\)$/\1/p' "$TMP/closnet-$version"/{net/*,sch,tcp_cc}/Kbuild | tr ' ' '\n' |
		sed 's|.*/||; s|\.o$||' | sort
}

# accepted RELEASE...: those that DKMS builds for
accepted() {
	local BUILD_EXCLUSIVE_KERNEL release
	eval "$(grep '^BUILD_EXCLUSIVE_KERNEL=' "$TMP/closnet-$version/dkms.conf")"
	for release in "$@"; do
		[[ ! $release =~ $BUILD_EXCLUSIVE_KERNEL ]] || echo "$release"
	done
}

tarball=$("$CLOSNET_TOP/tools/pkg/dist" --out "$TMP" 2>/dev/null)
check "the tarball unpacks" tar -xf "$tarball" -C "$TMP"
check_eq "dkms.conf is for Linux 6.1 to 7.x" \
	"$(accepted 5.10.0-30-amd64 6.0.19 6.1.0-56-amd64 6.12.117+deb12-amd64 7.0-rc1 7.3.4+deb13-amd64 8.0.1 | xargs)" \
	"6.1.0-56-amd64 6.12.117+deb12-amd64 7.0-rc1 7.3.4+deb13-amd64"
check "dkms add" dkms_ add "$TMP/closnet-$version"
check "dkms build for $kver" for_kernel build
[ "$TEST_FAILED" -eq 0 ] || note "$(cat "$TMP/dkms/closnet/$version/build/make.log")"
check "dkms install" for_kernel install
check_eq "dkms.conf names every module that Kbuild makes" "$(installed)" "$(expected)"
module=$(find "$updates" -name 'sch_ndp.ko*')
check_eq "the module is in updates/dkms" "${module%.ko*}" "$updates/sch_ndp"
check_eq "modinfo: version" "$(modinfo -F version "$module")" "$version"
check_eq "modinfo: kernel" "$(modinfo -F vermagic "$module" | cut -d ' ' -f 1)" "$kver"
check_eq "modinfo: alias by which tc has it loaded" "$(modinfo -F alias "$module")" net-sch-ndp
check_eq "modinfo: that of sch_dcqcn" "$(modinfo -F alias "$(find "$updates" -name 'sch_dcqcn.ko*')")" net-sch-dcqcn
check_eq "modinfo: that of sch_pcrp" "$(modinfo -F alias "$(find "$updates" -name 'sch_pcrp.ko*')")" net-sch-pcrp
check_eq "modinfo: aliases by which socket() has ndp loaded, of SOCK_RDM and SOCK_SEQPACKET" \
	"$(modinfo -F alias "$(find "$updates" -name 'ndp.ko*')" | sort | xargs)" \
	"net-pf-10-proto-261-type-4 net-pf-10-proto-261-type-5 net-pf-2-proto-261-type-4 net-pf-2-proto-261-type-5"
check_eq "modinfo: alias by which ip has closwire loaded" \
	"$(modinfo -F alias "$(find "$updates" -name 'closwire.ko*')")" rtnl-link-closwire
depmod -b "$TMP" "$kver" 2>/dev/null
check_eq "modprobe takes this module for the alias" \
	"$(modprobe -d "$TMP" -S "$kver" --show-depends net-sch-ndp)" "insmod $module "
check "dkms remove" dkms_ remove "closnet/$version" --all
check_eq "nothing is left" "$(installed)" ""
# once in place of nothing, once in place of what is there
for _ in 1 2; do
	check "tools/build/dkms-install" env "KVER=$kver" "KDIR=$kdir" "$CLOSNET_TOP/tools/build/dkms-install" "${trees[@]}"
	check_eq "the modules are installed" "$(installed)" "$(expected)"
done
finish
