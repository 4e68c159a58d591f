#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each port has a PTP clock with the configured offset and drift, which tools set and steer. Transmit timestamps are the
# receiver's minus the cable delay. ptp4l synchronizes a slave's clock to its master's.
#
#	+--------- a ---------+     +--------- b ---------+
#	| w0, ptp4l: master   |=====| w1, ptp4l: slave    |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2317 # functions are called through check and wait_for
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
setup_ns a b
wire_ab delay 2us

# clock_of NS/DEV: the port's PTP device
clock_of() {
	ip netns exec "${1%/*}" ethtool -T "${1#*/}" |
		awk '/^(PTP Hardware Clock|Hardware timestamp provider index): [0-9]/ { print "/dev/ptp" $NF; n++ }
			END { exit !n }'
}
p0=$(clock_of "$a/w0") || skip_all "no PTP clocks in this kernel"
p1=$(clock_of "$b/w1")
check "each port has its own PTP clock" test "$p0" != "$p1" -a -c "$p0" -a -c "$p1"
ip netns exec "$a" ethtool -T w0 >"$TMP/info"
for word in hardware-transmit hardware-receive hardware-raw-clock software-transmit 'off' 'on' 'all'; do
	check "ethtool -T lists $word" grep -qw -- "$word" "$TMP/info"
done

# ---- timestamp configuration

check_eq "receive timestamps can be turned on for all frames" "$(closwire_stamp config "$a/w0" 0 1)" "tx 0 rx 1"
check_eq "a receive filter for some frames becomes one for all frames" \
	"$(closwire_stamp config "$a/w0" 1 12)" "tx 1 rx 1"
check_eq "timestamps can be turned off" "$(closwire_stamp config "$a/w0" 0 0)" "tx 0 rx 0"
check_refused "one-step sync is refused" "Numerical result out of range" closwire_stamp config "$a/w0" 2 0

# ---- timestamps of both sides

# Three clocks round to nanoseconds, so the timestamps may be off by 2 ns.
stamps() { closwire_stamp udp -s "$a/w0" -r "$b/w1" -d 10.0.0.2 "$@" >"$TMP/stamps"; }
check "datagrams sent one by one have four timestamps each" stamps -c 20
check "timestamps of datagrams sent one by one differ by the cable delay" stamps_apart "$TMP/stamps" 1998 2002
check "datagrams sent at once have four timestamps each" stamps -c 200 -x -l 1000
check "timestamps of datagrams sent at once differ by the cable delay" stamps_apart "$TMP/stamps" 1998 2002
check "tx_hwtstamps counts the sender's timestamps" counted "$a/w0" tx_hwtstamps 220
wire_set "$b/w1" clock_offset 1ms
stamps -c 2
check "clock_offset shifts the receiver's timestamps by 1 ms" stamps_apart "$TMP/stamps" 1001990 1002010

# ---- the clock

# offset_ns DEVICE: time in ns by which the clock is ahead of CLOCK_REALTIME
offset_ns() { closwire_stamp cross "$1" | awk '$1 == "precise" { print $2 }'; }
# within NAME VALUE MIN MAX
within() { check "$1: $2" test "$2" -ge "$3" -a "$2" -le "$4"; }
wire_set "$a/w0" clock_offset 0 clock_drift 0
within "clock with offset 0 agrees with CLOCK_REALTIME, in ns" "$(offset_ns "$p0")" -10 10
wire_set "$a/w0" clock_offset -3s
within "clock with offset -3 s is 3 s behind, in ns" "$(offset_ns "$p0")" -3000000010 -2999999990
check_to "$TMP/cross" "each kind of cross timestamp succeeds" closwire_stamp cross "$p0"
# shellcheck disable=SC2016 # awk expands
check "each clock reading lies between two readings of CLOCK_REALTIME" awk '
	$1 != "precise" { n++; bad += $2 < -3000000010 || $3 > -2999999990 } END { exit bad || n != 6 }' "$TMP/cross"

# drift_of DEVICE: frequency offset to CLOCK_REALTIME in ppb
drift_of() {
	local from to from_ahead from_real to_ahead to_real
	from=$(closwire_stamp cross "$1" | grep precise)
	sleep 0.2
	to=$(closwire_stamp cross "$1" | grep precise)
	read -r _ from_ahead from_real <<<"$from"
	read -r _ to_ahead to_real <<<"$to"
	echo $(((to_ahead - from_ahead) * 1000000000 / (to_real - from_real)))
}
wire_set "$a/w0" clock_drift 100ppm
within "clock with drift 100 ppm runs fast, in ppb" "$(drift_of "$p0")" 99900 100100
wire_set "$a/w0" clock_drift -500ppm
within "clock with drift -500 ppm runs slow, in ppb" "$(drift_of "$p0")" -500100 -499900
wire_set "$a/w0" clock_drift 0 clock_offset 0

# ---- linuxptp

if ! command -v phc_ctl ptp4l hwstamp_ctl >/dev/null; then
	skip "linuxptp steers the clock" "not installed"
	finish
fi
check "hwstamp_ctl turns timestamps on" ip netns exec "$a" hwstamp_ctl -i w0 -t 1 -r 1
check "phc_ctl sets the clock" phc_ctl "$p0" set 1000
within "clock set to 1000 s shows about 1000 s" "$((($(offset_ns "$p0") + $(date +%s%N)) / 1000000000))" 1000 1030
check "phc_ctl adjusts the clock" phc_ctl "$p0" set 1000 adj 500.5
within "clock adjusted by 500.5 s shows about 1500 s" "$((($(offset_ns "$p0") + $(date +%s%N)) / 1000000000))" 1500 1530
wire_set "$a/w0" clock_offset 0
check "phc_ctl sets the frequency" phc_ctl "$p0" freq 200000
within "clock drifts by the 200 ppm that phc_ctl has set, in ppb" "$(drift_of "$p0")" 199900 200100
check "phc_ctl resets the frequency" phc_ctl "$p0" freq 0
check "phc_ctl compares and reads the clock and shows its capabilities" phc_ctl "$p0" cmp get caps

# locked: true if the slave's last eight offsets, as in "rms 3 max 7 freq ...", are below 1 µs
locked() {
	awk '/ rms / { for (i = 1; i < NF; i++) if ($i == "max") n = $(i + 1) < 1000 ? n + 1 : 0 }
		END { exit n < 8 }' "$TMP/slave"
}

# locks OPTION...: check that ptp4l keeps w1's clock within 1 µs of w0's
locks() {
	local agree
	wire_set "$a/w0" clock_offset 0 clock_drift 10ppm
	wire_set "$b/w1" clock_offset 37us clock_drift -20ppm
	phc_ctl "$p1" freq 0 >/dev/null
	cat >"$TMP/ptp.conf" <<-END
		[global]
		logSyncInterval -4
		logMinDelayReqInterval -4
		logAnnounceInterval -2
		tx_timestamp_timeout 1000
		summary_interval -2
		step_threshold 0.00001
	END
	job ip netns exec "$a" ptp4l -f "$TMP/ptp.conf" -i w0 "$@" --priority1 1 \
		--uds_address "$TMP/master.uds" -q >/dev/null
	job ip netns exec "$b" ptp4l -f "$TMP/ptp.conf" -i w1 "$@" -s \
		--uds_address "$TMP/slave.uds" -m -q >"$TMP/slave"
	check "slave of ptp4l $* locks below 1 µs" wait_for 60 locked
	agree=$(($(offset_ns "$p1") - $(offset_ns "$p0")))
	if exact; then
		within "clocks of ptp4l $* agree, in ns" "$agree" -1000 1000
	fi
	stop_jobs
}
locks -2
locks -4
ip netns exec "$a" tee /proc/sys/net/ipv6/conf/w0/disable_ipv6 >/dev/null <<<0
ip netns exec "$b" tee /proc/sys/net/ipv6/conf/w1/disable_ipv6 >/dev/null <<<0
ip -n "$a" addr add fe80::1/64 dev w0 nodad || true
ip -n "$b" addr add fe80::2/64 dev w1 nodad || true
locks -6

# ---- deletion of a clock in use

check "an open clock returns ENODEV after its port is deleted" closwire_stamp hold "$p0" "ip -n $a link del w0"
check "deleting a pair deletes its clocks" test ! -e "$p0" -a ! -e "$p1"
finish
