#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The kernel kcsan reports data races between CPUs. A race breaks the guest only if a module takes part in it.
# Runs on the host.
. "$(dirname "$0")/../lib/lib.sh"
. "$LIB_TOP/selftests/vm/guests.sh"

# report FRAME...: print KCSAN's report of a race, as the kernel logs it; FRAMEs are the functions of its second stack
report() {
	printf '%s\n' "BUG: KCSAN: data-race in first_writer / $1" "" \
		"write to 0xffff888003a3c2b8 of 8 bytes by interrupt on cpu 1:" " first_writer+0x56/0x80" \
		" __do_softirq+0x10/0x20" "" "read to 0xffff888003a3c2b8 of 8 bytes by task 67 on cpu 3:"
	printf ' %s\n' "${@/%/+0x12\/0x34}" | sed 's/ \(\[.*\]\)\(+.*\)/\2 \1/'
	printf '%s\n' "" "Reported by Kernel Concurrency Sanitizer on:" "CPU: 3 UID: 0 PID: 67 Comm: tc"
}

# verdict: print the complaints that guest-init finds in a log (stdin); the ignored races go to $TMP/races
verdict() {
	rm -f "$TMP/races"
	awk -v marker="COMMAND starts" -v complaint="BUG[: ]|WARNING: " -v races="$TMP/races" \
		-f "$LIB_TOP/tools/vm/complaints.awk"
}

ours=("list_add" "enqueue [sch_ndp]" "dev_qdisc_enqueue")
theirs=("dst_release" "skb_release_head_state" "__kfree_skb" "poll [closwire]")
check_eq "race inside the kernel is ignored" "$(report "${theirs[@]}" | verdict)" ""
check_eq "ignored race is counted" \
	"$({ report "${theirs[@]}" && report "${theirs[@]}"; } | verdict && cat "$TMP/races")" \
	"2 BUG: KCSAN: data-race in first_writer / dst_release"
check_eq "race in a function that a module calls is shown in full, once" \
	"$({ report "${ours[@]}" && report "${theirs[@]}" && report "${ours[@]}"; } | verdict)" \
	"$(report "${ours[@]}" | sed '/^CPU/d')"
check_eq "race before COMMAND starts is ignored" \
	"$({ report "${ours[@]}" && echo "COMMAND starts"; } | verdict)" ""
check_eq "warning after an ignored race is shown" \
	"$({ report "${theirs[@]}" && echo "WARNING: at foo"; } | verdict)" "WARNING: at foo"

build_buggy kcsan
check_status "guest without a race in a module passes" 0 kcsan "nproc; insmod $buggy bug=none
	while read -r line; do echo \"<3>\$line\" >/dev/kmsg; done <<-END
	$(report "${theirs[@]}")
	END"
check_eq "guest has 4 CPUs" "$(<"$TMP/out")" 4
check "guest lists the ignored races" grep -q "1 BUG: KCSAN: data-race in first_writer / dst_release" "$TMP/files/races"
check_bug kcsan race "BUG: KCSAN: data-race in .* \[buggy\]"
finish
