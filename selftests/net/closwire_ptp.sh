#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each port has a PTP clock, off and drifting as told, which tools set and
# steer; transmit stamps are those of the receiver but for the cable; and
# ptp4l brings a slave's clock to its master's.
#
#	+--------- a ---------+     +--------- b ---------+
#	| w0, ptp4l: master   |=====| w1, ptp4l: slave    |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2317 # functions are called through check and wait_for
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
setup_ns a b
wire_ab delay 2us

# clock_of NS/DEV: its PTP device
clock_of() {
	ip netns exec "${1%/*}" ethtool -T "${1#*/}" |
		awk '/^PTP Hardware Clock: [0-9]|^Hardware timestamp provider index: [0-9]/ { print "/dev/ptp" $NF; n++ } END { exit !n }'
}
p0=$(clock_of "$a/w0") || skip_all "no PTP clocks in this kernel"
p1=$(clock_of "$b/w1")
check "each port has a clock of its own" test "$p0" != "$p1" -a -c "$p0" -a -c "$p1"
ip netns exec "$a" ethtool -T w0 >"$TMP/info"
for word in hardware-transmit hardware-receive hardware-raw-clock software-transmit 'off' 'on' 'all'; do
	check "ethtool -T: $word" grep -qw -- "$word" "$TMP/info"
done

# ---- which frames are stamped

check_eq "all that is received" "$(closwire_stamp config "$a/w0" 0 1)" "tx 0 rx 1"
check_eq "some: all" "$(closwire_stamp config "$a/w0" 1 12)" "tx 1 rx 1"
check_eq "none" "$(closwire_stamp config "$a/w0" 0 0)" "tx 0 rx 0"
check_refused "one-step sync" "Numerical result out of range" closwire_stamp config "$a/w0" 2 0

# ---- stamps of both sides

# The stamps may be off by fractions of a nanosecond of three clocks.
stamps() { closwire_stamp udp -s "$a/w0" -r "$b/w1" -d 10.0.0.2 "$@" >"$TMP/stamps"; }
check "one by one: each datagram has four stamps" stamps -c 20
check "the receiver's are those of the sender, and the cable" stamps_apart "$TMP/stamps" 1998 2002
check "at once: each datagram has four stamps" stamps -c 200 -x -l 1000
check "the receiver's are those of the sender, and the cable" stamps_apart "$TMP/stamps" 1998 2002
check "sender's stamps are counted" counted "$a/w0" tx_hwtstamps 220
wire_set "$b/w1" clock_offset 1ms
stamps -c 2
check "with an offset of 1 ms" stamps_apart "$TMP/stamps" 1001990 1002010

# ---- the clock

# ahead DEVICE: how far it is ahead of real time, in ns
ahead() { closwire_stamp cross "$1" | awk '$1 == "precise" { print $2 }'; }
# within WHAT VALUE LEAST MOST
within() { check "$1: $2" test "$2" -ge "$3" -a "$2" -le "$4"; }
wire_set "$a/w0" clock_offset 0 clock_drift 0
within "set by ip: ahead" "$(ahead "$p0")" -10 10
wire_set "$a/w0" clock_offset -3s
within "set by ip to 3 s behind: ahead" "$(ahead "$p0")" -3000000010 -2999999990
check_to "$TMP/cross" "cross time stamps of each kind" closwire_stamp cross "$p0"
# shellcheck disable=SC2016 # awk expands
check "each reading is between those of the system's clock" awk '
	$1 != "precise" { n++; bad += $2 < -3000000010 || $3 > -2999999990 } END { exit bad || n != 6 }' "$TMP/cross"

# drift_of DEVICE: how much faster than real time it runs, in ppb
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
within "100 ppm too fast, in ppb" "$(drift_of "$p0")" 99900 100100
wire_set "$a/w0" clock_drift -500ppm
within "500 ppm too slow, in ppb" "$(drift_of "$p0")" -500100 -499900
wire_set "$a/w0" clock_drift 0 clock_offset 0

# ---- linuxptp

if ! command -v phc_ctl ptp4l hwstamp_ctl >/dev/null; then
	skip "linuxptp" "not installed"
	finish
fi
check "hwstamp_ctl" ip netns exec "$a" hwstamp_ctl -i w0 -t 1 -r 1
check "phc_ctl set" phc_ctl "$p0" set 1000
within "then at about 1000 s: ahead of real time" "$((($(ahead "$p0") + $(date +%s%N)) / 1000000000))" 1000 1030
check "phc_ctl adj" phc_ctl "$p0" set 1000 adj 500.5
within "then at about 1500 s" "$((($(ahead "$p0") + $(date +%s%N)) / 1000000000))" 1500 1530
wire_set "$a/w0" clock_offset 0
check "phc_ctl freq" phc_ctl "$p0" freq 200000
within "then it drifts by 200 ppm" "$(drift_of "$p0")" 199900 200100
check "phc_ctl freq 0" phc_ctl "$p0" freq 0
check "phc_ctl cmp, get, caps" phc_ctl "$p0" cmp get caps

# locked: the last eight offsets of the slave are below 1 us; "rms 3 max 7 freq ..."
locked() {
	awk '/ rms / { for (i = 1; i < NF; i++) if ($i == "max") n = $(i + 1) < 1000 ? n + 1 : 0 }
		END { exit n < 8 }' "$TMP/slave"
}

# locks OPTION...: ptp4l at w1 comes within 1 us of that at w0, and stays
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
	check "ptp4l $*: locks below 1 us" wait_for 60 locked
	agree=$(($(ahead "$p1") - $(ahead "$p0")))
	if exact; then
		within "ptp4l $*: the clocks agree" "$agree" -1000 1000
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

# ---- the clock goes while it is in use

check "deleted while a program holds the clock" closwire_stamp hold "$p0" "ip -n $a link del w0"
check "the clocks are gone" test ! -e "$p0" -a ! -e "$p1"
finish
