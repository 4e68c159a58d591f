#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# check-config, diag and the lint rules detect the problems that they are for. Runs on the host.
# shellcheck disable=SC2317 # functions are called through check
. "$(dirname "$0")/../../tools/common.sh"
. "$(dirname "$0")/../lib/lib.sh"

check_config=$CLOSNET_TOP/tools/build/check-config
kdir=$TMP/kdir

# kernel RELEASE SYMBOL...: make a build directory whose configuration has these symbols
kernel() {
	rm -rf "$kdir"
	mkdir -p "$kdir/include/generated"
	: >"$kdir/Makefile"
	printf '#define UTS_RELEASE "%s"\n' "$1" >"$kdir/include/generated/utsrelease.h"
	shift
	printf 'CONFIG_%s=y\n' "$@" >"$kdir/.config"
}

# check_output NAME STATUS TEXT COMMAND...: check that COMMAND exits with STATUS and its output contains TEXT
check_output() {
	local name=$1 expected=$2 text=$3 out status=0
	shift 3
	out=$("$@" 2>&1) || status=$?
	if [ "$status" -eq "$expected" ] && [[ $out == *"$text"* ]]; then
		ok "$name"
	else
		not_ok "$name" "status $status, expected $expected; or no '$text' in: $out"
	fi
}

required=(MODULES INET IPV6 DST_CACHE NET_SCHED NET_CLS_ACT NETFILTER_INGRESS TRACEPOINTS PROC_FS NET_UDP_TUNNEL LWTUNNEL)
kernel 6.12.1 "${required[@]}"
check_output "check-config accepts a kernel with all required symbols" 0 "all requirements of closnet are met" \
	"$check_config" "$kdir"
check_eq "check-config -q prints no output for that kernel" "$("$check_config" -q "$kdir" 2>&1)" ""
kernel 6.12.1 MODULES INET PROC_FS
check_output "check-config names the modules that need a missing symbol" \
	1 "CONFIG_NET_SCHED (sch_ndp, sch_dcqcn, sch_pcrp, sch_roce, sch_voq): " "$check_config" -q "$kdir"
check_output "check-config names all missing symbols" 1 "CONFIG_TRACEPOINTS (tcp_dcqcn, tcp_timely): " "$check_config" -q "$kdir"
check_eq "check-config prints each missing symbol once" \
	"$("$check_config" "$kdir" 2>&1 | grep -o 'CONFIG_[A-Z0-9_]*' | sort | uniq -d)" ""
kernel 5.10.0-30-amd64 "${required[@]}"
check_output "check-config refuses an old kernel" 1 "Linux 6.1 to 7.x: this one is 5.10.0" "$check_config" "$kdir"
kernel 6.12.1 "${required[@]}" MODULE_SIG_FORCE
check_output "check-config explains module signatures" 0 "sign them with a key" "$check_config" "$kdir"
check_output "check-config refuses a kernel without headers" 1 "no module can be built for 6.1.0-none" \
	"$check_config" /lib/modules/6.1.0-none/build
check_output "check-config refuses a directory without a kernel" \
	2 "not a kernel's build directory" "$check_config" "$TMP"

check_output "diag prints the version" 0 "$(<"$CLOSNET_TOP/VERSION")" "$CLOSNET_TOP/tools/diag"
# a minimal machine: no tc, ip, gcc, modinfo, git, ethtool, mokutil
mkdir "$TMP/bin"
for tool in bash readlink dirname uname cat sed grep head tail awk sort cut; do
	ln -s "$(command -v $tool)" "$TMP/bin"
done
sed 's/^PATH=.*//' "$CLOSNET_TOP/tools/diag" >"$TMP/diag"
ln -s "$CLOSNET_TOP/tools/common.sh" "$TMP/common.sh"
check_output "diag names a missing tool and succeeds" 0 "gcc is not installed" \
	env PATH="$TMP/bin" bash "$TMP/diag"
printf '#!%s\necho "usb 1-1: endpoint 0x81"\necho "ndp: a message of ours"\n' "$(command -v bash)" >"$TMP/bin/dmesg"
chmod +x "$TMP/bin/dmesg"
env PATH="$TMP/bin" bash "$TMP/diag" >"$TMP/log" 2>&1
check "diag prints the kernel's messages about ndp" grep -q '^ndp: a message of ours' "$TMP/log"
check_eq "diag prints no messages about endpoints" "$(grep -c endpoint "$TMP/log")" 0
check_output "diag uses KDIR" 0 "headers        $kdir" env KDIR="$kdir" "$CLOSNET_TOP/tools/diag"

# rule NAME FILE CONTENT TEXT: check that tools/lint-rules prints TEXT for FILE with CONTENT
rule() {
	mkdir -p "$TMP/tree/${2%/*}"
	printf '%s\n' "$3" >"$TMP/tree/$2"
	check_output "lint detects $1" 1 "$4" env -C "$TMP/tree" "$CLOSNET_TOP/tools/lint-rules" "$2"
}

spdx='/* SPDX-License-Identifier: GPL-2.0-only */'
rule "a file without a licence" sch/x.c 'int x;' "sch/x.c:1: no SPDX"
rule "a wrong licence" include/uapi/x.h "$spdx" "licence is GPL-2.0-only, not GPL-2.0 WITH"
rule "a kernel version outside compat" sch/x.c "$spdx
#if LINUX_VERSION_CODE > 1" "sch/x.c:2: kernel version outside compat/"
rule "plumbing in a core" sch/x.h "$spdx
#include <closnet/core.h>
void x(struct sk_buff *skb);" "sch/x.h:3: plumbing in an algorithm core: struct sk_buff"
rule "a qdisc without a manual page" sch/Kbuild "# ${spdx:3:41}
obj-m += sch_x.o" "sch/Kbuild:2: no manual page: Documentation/man/tc-x.8"
rule "a long file" sch/x.c "$spdx
$(seq 900)" "sch/x.c:1: 901 lines; at most 900"
rule "a long function" sch/x.c "$spdx
{
$(seq 81)
}" "sch/x.c:2: function of 81 lines; at most 80"
nap="sleep"
rule "a test that sleeps" selftests/x.sh "#!/bin/sh
# ${spdx:3:41}
$nap 1" "selftests/x.sh:3: fixed sleep"
rule "test cases that are not JSON" selftests/tdc/x.json '[{"id": }]' "selftests/tdc/x.json:1: not JSON"
rule "a duplicate id of a test case" selftests/tdc/x.json '[{"id": "00aa"}, {"id": "00aa"}]' "id 00aa is in"
finish
