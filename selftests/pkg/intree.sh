#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Does closnet build inside a kernel tree, at net/closnet, without a warning? Takes the part
# of Debian's kernel source that building one directory for um needs. Runs on the host.
# shellcheck disable=SC2317 # functions are called through check
# shellcheck disable=SC2016 # dollars are sed's
. "$(dirname "$0")/../../tools/common.sh"
. "$(dirname "$0")/../lib/lib.sh"

git -C "$CLOSNET_TOP" rev-parse -q --verify HEAD >/dev/null || skip_all "needs a git checkout"
"$CLOSNET_TOP/tools/deps.sh" uml
source=$("$CLOSNET_TOP/tools/build/ksource" intree Makefile Kbuild Kconfig '*/Kconfig*' include arch/um arch/x86 scripts \
	kernel/Makefile kernel/bounds.c kernel/time net/Makefile net/sched tools/build tools/include tools/scripts)

# hard links to the source; sed -i and > through a new name leave the originals alone
work=$(mktemp -d -p "$CLOSNET_CACHE")
defer "rm -rf '$work'"
linux=$work/linux
build=$work/build
mkdir "$build"
cp -al "$source" "$linux"

# drop_in: what a user does
drop_in() {
	mkdir "$linux/net/closnet"
	(cd "$CLOSNET_TOP" && git ls-files -z Kbuild Kconfig VERSION compat include net sch tcp_cc |
		xargs -0 cp --parents -t "$linux/net/closnet")
	sed -i '$i source "net/closnet/Kconfig"' "$linux/net/Kconfig"
	sed -i '$a obj-y += closnet/' "$linux/net/Makefile"
}

# kmake ARGUMENT...
kmake() { nice make -s -j2 -C "$linux" O="$build" ARCH=um SUBARCH=x86_64 "$@"; }

# configure: the smallest kernel with each module of closnet in it
configure() {
	{
		printf 'CONFIG_%s=y\n' NET INET IPV6 NET_SCHED NET_CLS_ACT NETFILTER NETFILTER_ADVANCED NETFILTER_INGRESS \
			TCP_CONG_ADVANCED PROC_FS FTRACE ENABLE_DEFAULT_TRACERS
		sed -n 's/^config \(.*\)/CONFIG_\1=y/p' "$CLOSNET_TOP/Kconfig"
	} >"$build/wanted"
	kmake KCONFIG_ALLCONFIG="$build/wanted" allnoconfig
}

# lost: the symbols that did not take
lost() { grep -vxFf "$build/.config" "$build/wanted" || true; }

# symbols_differ: those of Kbuild that Kconfig lacks, and the other way round
symbols_differ() {
	comm -3 <(sed -n 's/^config /CONFIG_/p' "$CLOSNET_TOP/Kconfig" | sort) \
		<(sed -n 's/^obj-$(\(CONFIG_[A-Z0-9_]*\)).*/\1/p' "$CLOSNET_TOP/Kbuild" | sort -u)
}

# without_output COMMAND...: succeeds and says nothing
without_output() {
	local out
	if ! out=$("$@" 2>&1) || [ -n "$out" ]; then
		printf '%s\n' "$out"
		return 1
	fi
}

check_eq "Kconfig and Kbuild have the same symbols" "$(symbols_differ)" ""
check "it can be dropped in" drop_in
check "the kernel can be configured" configure
check_eq "the configuration has it" "$(lost)" ""
kmake prepare >"$TMP/log" 2>&1 || note "$(cat "$TMP/log")"
check "net/closnet builds without a warning" without_output kmake W=1 net/closnet/
for object in sch/{sch_ndp,dcqcn_main,dcqcn_pool,pcrp_main,pcrp_rx,pcrp_net}.o net/closwire/wire.o net/ndp/ndp_{main,tx,rx}.o net/nicclock/nicclock.o tcp_cc/tcp_{dcqcn,timely}.o; do
	check "$object is there" test -s "$build/net/closnet/$object"
done
finish
