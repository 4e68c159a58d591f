#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# closnet builds without warnings inside a kernel tree, at net/closnet. Uses the part of Debian's kernel source that is
# needed to build one directory for um. Runs on the host.
# shellcheck disable=SC2317 # functions are called through check
# shellcheck disable=SC2016 # dollars are sed's
. "$(dirname "$0")/../../tools/common.sh"
. "$(dirname "$0")/../lib/lib.sh"

git -C "$CLOSNET_TOP" rev-parse -q --verify HEAD >/dev/null || skip_all "needs a git checkout"
"$CLOSNET_TOP/tools/deps.sh" uml
source=$("$CLOSNET_TOP/tools/build/ksource" intree Makefile Kbuild Kconfig '*/Kconfig*' include arch/um arch/x86 \
	scripts kernel/Makefile kernel/bounds.c kernel/time net/Makefile net/sched tools/build tools/include tools/scripts)

# Hard links to the source. sed -i replaces files instead of changing them, so the originals stay unchanged.
work=$(mktemp -d -p "$CLOSNET_CACHE")
defer "rm -rf '$work'"
linux=$work/linux
build=$work/build
mkdir "$build"
cp -al "$source" "$linux"

# add_closnet: add closnet to the kernel tree as a user does
add_closnet() {
	mkdir "$linux/net/closnet"
	(cd "$CLOSNET_TOP" && git ls-files -z Kbuild Kconfig VERSION compat include net sch tcp_cc |
		xargs -0 cp --parents -t "$linux/net/closnet")
	sed -i '$i source "net/closnet/Kconfig"' "$linux/net/Kconfig"
	sed -i '$a obj-y += closnet/' "$linux/net/Makefile"
}

# kmake ARGUMENT...: run the kernel's make
kmake() { nice make -s -j2 -C "$linux" O="$build" ARCH=um SUBARCH=x86_64 "$@"; }

# configure: configure the smallest kernel with all modules of closnet built in
configure() {
	{
		printf 'CONFIG_%s=y\n' NET INET IPV6 NET_SCHED NET_CLS_ACT NETFILTER NETFILTER_ADVANCED NETFILTER_INGRESS \
			TCP_CONG_ADVANCED PROC_FS FTRACE ENABLE_DEFAULT_TRACERS
		sed -n 's/^config \(.*\)/CONFIG_\1=y/p' "$CLOSNET_TOP/Kconfig"
	} >"$build/requested"
	kmake KCONFIG_ALLCONFIG="$build/requested" allnoconfig
}

# lost: print requested symbols that are not set
lost() { grep -vxFf "$build/.config" "$build/requested" || true; }

# symbols_differ: print symbols that only one of Kconfig and Kbuild has
symbols_differ() {
	comm -3 <(sed -n 's/^config /CONFIG_/p' "$CLOSNET_TOP/Kconfig" | sort) \
		<(sed -n 's/^obj-$(\(CONFIG_[A-Z0-9_]*\)).*/\1/p' "$CLOSNET_TOP/Kbuild" | sort -u)
}

# without_output COMMAND...: true if COMMAND succeeds without any output
without_output() {
	local out
	if ! out=$("$@" 2>&1) || [ -n "$out" ]; then
		printf '%s\n' "$out"
		return 1
	fi
}

check_eq "Kconfig and Kbuild have the same symbols" "$(symbols_differ)" ""
check "closnet is added to the kernel tree" add_closnet
check "kernel is configured" configure
check_eq "configuration has all symbols of closnet" "$(lost)" ""
kmake prepare >"$TMP/log" 2>&1 || note "$(cat "$TMP/log")"
check "net/closnet builds without a warning" without_output kmake W=1 net/closnet/
for object in sch/{ndp/ndpq,dcqcn/dcqcnq,pcrp/pcrp,act_lb/lb}_main.o net/{closwire,ndp}/main.o \
	net/nicclock/nicclock_main.o tcp_cc/{dcqcn,timely}_main.o; do
	check "$object is built" test -s "$build/net/closnet/$object"
done
finish
