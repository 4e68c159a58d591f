#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# tools/vm/run with QEMU: it returns the guest's output, files and status, and reports a broken guest. In virtual time
# all runs are identical. Runs on the host.
. "$(dirname "$0")/../lib/lib.sh"

# guest NAME [OPTION...] COMMAND: run COMMAND in a guest; its output, errors, files and status go to $TMP/NAME/
guest() {
	local dir=$TMP/$1 status=0
	shift
	mkdir -p "$dir"
	"$top/tools/vm/run" --out "$dir/files" "$@" >"$dir/out" 2>"$dir/err" || status=$?
	echo $status >"$dir/status"
}

# check_status WHAT NAME STATUS: guest NAME exited with STATUS
check_status() {
	local status
	status=$(<"$TMP/$2/status")
	if [ "$status" -eq "$3" ]; then
		ok "$1"
	else
		not_ok "$1" "status $status, not $3: $(tail -n 60 "$TMP/$2/err")"
	fi
}

# Guests use a copy, because the checkout may change while they run.
top=$TMP/closnet
mkdir "$top"
(cd "$LIB_TOP" && cp -r Kbuild Makefile VERSION compat include net sch tcp_cc tools "$top")

guest hang --timeout 20 "tail -f /dev/null" &
hang=$!

guest fine "echo to stdout; echo to stderr >&2; seq 100000 >\$CLOSNET_OUT/file
	ls \$CLOSNET_MODDIR \$TC_LIB_DIR; nproc; uname -r; touch $LIB_TOP/Kbuild \$PWD/Kbuild; exit 7"
check_status "run exits with the status of COMMAND" fine 7
check "run prints the guest's standard output" grep -qx "to stdout" "$TMP/fine/out"
check "run prints the guest's standard error" grep -qx "to stderr" "$TMP/fine/err"
check_eq "run copies the guest's files" "$(sha256sum <"$TMP/fine/files/file")" "$(seq 100000 | sha256sum)"
check "the guest has the modules" grep -qx sch_ndp.ko "$TMP/fine/out"
check "the guest has the tc plug-ins" eval "grep -qx q_ndp.so $TMP/fine/out && grep -qx q_dcqcn.so $TMP/fine/out"
check "the guest runs the default kernel, 6.12" grep -q '^6\.12\..*cloud-amd64$' "$TMP/fine/out"
check_eq "the host's files and the checkout are read-only in the guest" 2 \
	"$(grep -c 'touch: .*Read-only file system' "$TMP/fine/err")"

guest panic "echo before; echo c >/proc/sysrq-trigger"
check_status "a guest that panics is broken" panic 125
check "the console of a guest that panics is shown" \
	grep -q "Kernel panic - not syncing: sysrq triggered crash" "$TMP/panic/err"
check_eq "the output before a panic is shown" "$(<"$TMP/panic/out")" before

guest complaint "echo '<4>WARNING: possible recursive locking detected' >/dev/kmsg"
check_status "a guest whose kernel logs a complaint is broken" complaint 125
check "the kernel's complaint is shown" grep -q "reported an error: .*recursive locking" "$TMP/complaint/err"

wait $hang
check_status "a guest that hangs is broken" hang 125
check "a guest that hangs is ended after --timeout" grep -q "did not end within 20 s" "$TMP/hang/err"
check "the console of a guest that hangs is shown" grep -q "COMMAND starts" "$TMP/hang/err"

# Interrupt counts, times and random bytes are the most sensitive to a difference between two runs.
# The ping gets no reply, so its exit status is 1.
virtual="set -e -o pipefail
	insmod \$CLOSNET_MODDIR/sch_ndp.ko
	ip link add v0 type veth peer name v1
	ip link set v0 up
	ip link set v1 up
	tc qdisc add dev v0 root ndp
	ping -c 20 -i 0.01 -I v0 -b 10.255.255.255 || [ \$? -eq 1 ]
	cat /proc/interrupts /proc/uptime /proc/schedstat
	dmesg
	head -c 16 /dev/urandom | od -A n -t x1
	dmesg >\$CLOSNET_OUT/dmesg"
guest first --icount --verbose "$virtual"
guest second --icount --verbose "$virtual"
check_status "a guest in virtual time runs COMMAND" first 0
check "run copies the files of a guest in virtual time" [ -s "$TMP/first/files/dmesg" ]
check "two runs in virtual time have the same output" cmp "$TMP/first/out" "$TMP/second/out"
check "two runs in virtual time have the same files" cmp "$TMP/first/files/dmesg" "$TMP/second/files/dmesg"
check "two runs in virtual time have the same console" \
	cmp <(sed -n '/^--- console/,$p' "$TMP/first/err") <(sed -n '/^--- console/,$p' "$TMP/second/err")
finish
