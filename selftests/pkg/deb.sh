#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The Debian packages build, contain the right files, and pass lintian; DKMS builds the modules from closnet-dkms. Runs
# on the host and installs no package there.
# CLOSNET_KERNEL: kernel for which DKMS builds, default 6.12
# shellcheck disable=SC2317 # functions are called through check
. "$(dirname "$0")/../../tools/common.sh"
. "$(dirname "$0")/../lib/lib.sh"

git -C "$CLOSNET_TOP" rev-parse -q --verify HEAD >/dev/null || skip_all "needs a git checkout"
"$CLOSNET_TOP/tools/deps.sh" build deb dkms
version=$(<"$CLOSNET_TOP/VERSION")
arch=$(dpkg --print-architecture)
lib=usr/lib/$(gcc -print-multiarch)
dkms_deb=$TMP/out/closnet-dkms_${version}_all.deb
tools_deb=$TMP/out/closnet-tools_${version}_$arch.deb
dev_deb=$TMP/out/closnet-dev_${version}_all.deb
pcrpd_deb=$TMP/out/closnet-pcrpd_${version}_$arch.deb

# content DEB: print the package's files
content() { dpkg -c "$1" | awk '!/^d/ { sub("^[./]*", "", $6); print $6 }'; }

# sources: print all files that Kbuild may need
sources() { git -C "$CLOSNET_TOP" ls-files Kbuild Makefile VERSION compat include net sch tcp_cc; }

# manuals: print the names of the manual pages
manuals() { git -C "$CLOSNET_TOP" ls-files 'Documentation/man/*.[1-9]' | sed 's|.*/||'; }

# dkms_ ARGUMENT...: run dkms with all its files, including keys, in the temporary directory
dkms_() {
	mok_signing_key=$TMP/mok.key mok_certificate=$TMP/mok.pub \
		dkms "$@" --dkmstree "$TMP/dkms" --sourcetree "$TMP/root/usr/src"
}

# build_of_package: build the modules as the package's postinst does
build_of_package() {
	local kver='' kdir='' where
	where=$("$CLOSNET_TOP/tools/vm/kernel" "${CLOSNET_KERNEL:-6.12}")
	eval "$where"
	mkdir "$TMP/dkms"
	dkms_ add "closnet/$version"
	dkms_ build "closnet/$version" -k "$kver" --kernelsourcedir "$kdir" || {
		cat "$TMP/dkms/closnet/$version/build/make.log"
		return 1
	}
}

check "packages build" "$CLOSNET_TOP/tools/pkg/deb" --out "$TMP/out"
[ "$TEST_FAILED" -eq 0 ] || finish
check "lintian finds no error" lintian --fail-on error "$TMP/out/closnet_${version}_$arch.changes"
check_eq "debian/changelog has the tree's version" \
	"$(dpkg-parsechangelog -l "$CLOSNET_TOP/debian/changelog" -S Version)" "$version"
check_eq "closnet-dkms has the tree's version" "$(dpkg-deb -f "$dkms_deb" Version)" "$version"
check_eq "closnet-tools has the tree's version" "$(dpkg-deb -f "$tools_deb" Version)" "$version"
check_eq "closnet-dev has the tree's version" "$(dpkg-deb -f "$dev_deb" Version)" "$version"
check_eq "closnet-pcrpd has the tree's version" "$(dpkg-deb -f "$pcrpd_deb" Version)" "$version"

check_eq "closnet-dkms has every source file" \
	"$(comm -13 <(content "$dkms_deb" | sort) <(sources | sed "s|^|usr/src/closnet-$version/|" | sort))" ""
check "closnet-dkms depends on dkms" grep -q '\bdkms\b' <<<"$(dpkg-deb -f "$dkms_deb" Depends)"
for plugin in "$CLOSNET_TOP"/tools/tc/[mq]_*.c; do
	plugin=$(basename "$plugin" .c).so
	check "closnet-tools has $plugin in tc's directory" grep -qx "$lib/tc/$plugin" <<<"$(content "$tools_deb")"
done
for plugin in "$CLOSNET_TOP"/tools/tc/link_*.c; do
	plugin=$(basename "$plugin" .c).so
	check "closnet-tools has $plugin in ip's directory" grep -qx "$lib/ip/$plugin" <<<"$(content "$tools_deb")"
done
check "closnet-tools has the shell completion" grep -qx etc/bash_completion.d/closnet <<<"$(content "$tools_deb")"
check "closnet-tools has closnet" grep -qx usr/sbin/closnet <<<"$(content "$tools_deb")"
check "closnet-pcrpd has pcrpd" grep -qx usr/sbin/pcrpd <<<"$(content "$pcrpd_deb")"
for unit in "$CLOSNET_TOP"/tools/pcrpd/*.service; do
	check "closnet-pcrpd has ${unit##*/}" grep -qx "lib/systemd/system/${unit##*/}" <<<"$(content "$pcrpd_deb")"
	check "closnet-pcrpd does not enable ${unit##*/}" \
		grep -q "was-enabled.*${unit##*/}" <<<"$(dpkg-deb -I "$pcrpd_deb" postinst)"
done
check_eq "every manual page is in closnet-tools or closnet-pcrpd" \
	"$(comm -13 <({ content "$tools_deb" && content "$pcrpd_deb"; } | sed -n 's|^usr/share/man/.*/\(.*\)\.gz$|\1|p' | sort) <(manuals | sort))" ""

check "closnet-tools unpacks" dpkg -x "$tools_deb" "$TMP/root"
check "closnet-diag runs" "$TMP/root/usr/sbin/closnet-diag"
check_eq "closnet-diag prints the version" \
	"$("$TMP/root/usr/sbin/closnet-diag" | sed -n 's/^version  *//p')" "$version, not from a git checkout"
check_eq "closnet-dev has only the header of NDP sockets" \
	"$(content "$dev_deb" | grep -v ^usr/share/doc/)" usr/include/linux/ndp.h
check "closnet-dev unpacks" dpkg -x "$dev_deb" "$TMP/root"
make -s -C "$CLOSNET_TOP/selftests/net" O="$TMP" "$TMP/ndp_example.c"
check "the program in ndp(7) compiles with closnet-dev's header" \
	gcc -Wall -Werror -I "$TMP/root/usr/include" -o "$TMP/ndp_example" "$TMP/ndp_example.c"
check "closnet-dkms unpacks" dpkg -x "$dkms_deb" "$TMP/root"
if [ "$(id -u)" -eq 0 ]; then
	check "DKMS builds the modules from closnet-dkms" build_of_package
else
	skip "DKMS builds the modules from closnet-dkms" "dkms needs root"
fi
finish
