#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# `make install` and `make uninstall` install and remove exactly the right files. Runs on the host with DESTDIR in a
# copy of the tree, and installs no file there.
# Usage: install.sh [KERNEL...]     default: 6.1 6.12. With 6.1's headers, `make kernelrelease` differs from `uname -r`.
# shellcheck disable=SC2317 # functions are called through check
. "$(dirname "$0")/../../tools/common.sh"
. "$(dirname "$0")/../lib/lib.sh"

git -C "$CLOSNET_TOP" rev-parse -q --verify HEAD >/dev/null || skip_all "needs a git checkout"
"$CLOSNET_TOP/tools/deps.sh" build tools
tree=$TMP/tree
mkdir "$tree"
(cd "$CLOSNET_TOP" && git ls-files -z Kbuild Makefile VERSION compat include net sch tcp_cc tools Documentation/man |
	xargs -0 cp --parents -t "$tree")

make_() { make -s -C "$tree" KDIR="$kdir" DESTDIR="$dest" "$@"; }

# present: print the files in DESTDIR, except depmod's
present() { (cd "$dest" && find . -type f ! -name 'modules.*' | cut -c 2- | sort); }

# expected: print the files to be installed, derived from the sources
expected() {
	local f lib
	lib=/usr/lib/$(gcc -print-multiarch)
	cd "$tree"
	sed -n 's/^obj-[^+]*+= *\(.*\.o\)$/\1/p' {net/*,sch,tcp_cc}/Kbuild | tr ' ' '\n' | while read -r f; do
		f=${f##*/}
		echo "/lib/modules/$kver/updates/${f%.o}.ko"
	done
	for f in tools/tc/[mq]_*.c tools/tc/link_*.c; do
		f=${f##*/}
		case $f in [mq]_*) echo "$lib/tc/${f%.c}.so" ;; *) echo "$lib/ip/${f%.c}.so" ;; esac
	done
	echo /usr/include/linux/ndp.h
	echo /usr/sbin/closnet
	echo /etc/bash_completion.d/closnet
	echo /usr/sbin/pcrpd
	for f in tools/pcrpd/*.service; do
		echo "/usr/lib/systemd/system/${f##*/}"
	done
	for f in Documentation/man/*.[1-9]; do
		[ ! -e "$f" ] || echo "/usr/share/man/man${f##*.}/${f##*/}"
	done
}

# the program in ndp(7)
make -s -C "$CLOSNET_TOP/selftests/net" O="$TMP" "$TMP/ndp_example.c"

# test_kernel NAME: test with the headers of kernel NAME
test_kernel() {
	local kver='' kdir='' where dest=$TMP/dest-$1 other m
	where=$("$CLOSNET_TOP/tools/vm/kernel" "$1")
	eval "$where"
	# a file that is not closnet's
	mkdir -p "$dest/lib/modules/$kver/updates"
	other=/lib/modules/$kver/updates/other.ko
	: >"$dest$other"

	check "$1: make succeeds" make_
	check "$1: make install succeeds" make_ install
	check_eq "$1: make install installs exactly the expected files" "$(present)" "$( (expected; echo "$other") | sort)"
	check "$1: the program in ndp(7) compiles with the installed header" \
		gcc -Wall -Werror -I "$dest/usr/include" -o "$TMP/ndp_example" "$TMP/ndp_example.c"
	for m in ndp sch_ndp sch_dcqcn sch_pcrp sch_roce sch_voq act_lb closfab closwire closnet_cc nicclock tcp_dcqcn tcp_timely; do
		check_eq "$1: depmod finds $m" \
			"$(modprobe -d "$dest" -S "$kver" --show-depends $m 2>&1 | tail -n 1 | xargs)" \
			"insmod $dest/lib/modules/$kver/updates/$m.ko"
	done
	for m in "closnet_cc tcp_dcqcn" "closnet_cc nicclock tcp_timely"; do
		check_eq "$1: modprobe loads $m" \
			"$(modprobe -d "$dest" -S "$kver" --show-depends "${m##* }" | sed 's/.*\///; s/\.ko.*//' | xargs)" \
			"$m"
	done
	check "$1: make install succeeds over an installation" make_ install
	check "$1: make uninstall succeeds" make_ uninstall
	check_eq "$1: make uninstall removes exactly closnet's files" "$(present)" "$other"
	check "$1: make uninstall removes ip's plug-in directory" test ! -e "$dest/usr/lib/$(gcc -print-multiarch)/ip"
	check "$1: depmod finds no sch_ndp after make uninstall" \
		test -z "$(modprobe -d "$dest" -S "$kver" --show-depends sch_ndp 2>/dev/null)"
	check "$1: make uninstall succeeds without an installation" make_ uninstall
	check "$1: make install-tools PCRPD=no succeeds" make_ install-tools PCRPD=no
	check_eq "$1: make install-tools PCRPD=no installs no pcrpd" "$(present | grep pcrpd)" ""
	check "$1: make install-tools accepts PREFIX" make_ install-tools PREFIX=/usr/local
	check "$1: systemd units have the path with PREFIX" grep -q "ExecStart=/usr/local/sbin/pcrpd" \
		"$dest/usr/local/lib/systemd/system/pcrpd-agent.service"
}

[ $# -gt 0 ] || set -- 6.1 6.12
for kernel; do
	test_kernel "$kernel"
done
finish
