#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Every byte of a trimmed packet is correct: IPv4 and IPv6, UDP and TCP, no VLAN
# tag, a tag in the frame, an offloaded tag, two tags, 60 to 9000 bytes, options
# and extension headers, padding, and all kinds of checksums.
#
#	+--------- a ---------+     +--------- b ---------+
#	| frames -> v0: ndp   |=====| v1 -> capture       |
#	|           | v0.5    |     |                     |
#	+---------------------+     +---------------------+
#
# The shaper blocks while the frames are sent: the first frame leaves, and the
# second one fills the data queue of one packet. Each following frame longer than
# trim_size must leave trimmed, each shorter one whole. In mode ndp, one of them
# may take the place of the second frame in the data queue and leave whole.
. "$(dirname "$0")/../lib/lib.sh"
need_ndp
setup_ns a b
link_ab
vlan_v0

# make_frames KIND...: set frames
make_frames() {
	local kind vlan len
	frames=()
	for kind in "$@"; do
		for vlan in none in off qinq; do
			for len in 60 128 129 200 1500 9000; do
				# the headers are longer than 60 bytes
				case $kind,$vlan,$len in
				udp6,in,60 | udp6,off,60 | udp6,qinq,60 | udp6,none,60) len=72 ;;
				tcp6,*,60) len=84 ;;
				tcp4,*,60) len=64 ;;
				esac
				frames+=("$kind,vlan=$vlan,len=$len")
			done
		done
		frames+=("$kind,opt=24,len=900" "$kind,pad=300,len=500" "$kind,csum=wrong" "$kind,ecn=3")
		# the device completes the checksum; only the headers are linear, or not even all of them
		frames+=("$kind,csum=partial" "$kind,csum=partial,vlan=off,len=8000,lin=94")
		frames+=("$kind,csum=partial,len=9000,lin=14" "$kind,csum=partial,vlan=in,len=9000,lin=18")
		# odd lengths, and one byte more than trim_size
		frames+=("$kind,csum=partial,len=1501" "$kind,csum=partial,len=129,opt=24" "$kind,csum=partial,vlan=qinq")
	done
	frames+=("udp4,csum=none")
	# trimming removes padding only: the datagram is whole and keeps its checksum
	frames+=("udp4,len=500,pad=400" "udp6,len=500,pad=400")
}

# verdicts FILE: index, variant and length of the captured frames, without the first two
verdicts() { sort -k2n "$1" | awk '$2 > 1 { print $2, $3, $4 }'; }

# expected SIZE: the output of verdicts, if each frame longer than SIZE is trimmed
expected() {
	local i=2 frame len opt tag l4 room
	for frame in "${frames[@]}"; do
		[[ $frame =~ len=([0-9]+) ]] && len=${BASH_REMATCH[1]} || len=1000
		[[ $frame =~ opt=([0-9]+) ]] && opt=${BASH_REMATCH[1]} || opt=0
		case $frame in *qinq*) tag=8 ;; *vlan=in* | *vlan=off*) tag=4 ;; *) tag=0 ;; esac
		case $frame in ???4*) l4=34 ;; *) l4=54 ;; esac
		# a trimmed packet keeps 8 bytes after its IP header
		room=$((l4 + tag + opt + 8))
		[ "$room" -ge "$1" ] || room=$1
		if [ "$len" -gt "$room" ]; then
			echo "$i trimmed $room"
		else
			echo "$i whole $len"
		fi
		i=$((i + 1))
	done
}

# trim_case MODE SIZE MATCH OPTION...: send all frames with OPTIONs of send_frames
trim_case() {
	local mode=$1 size=$2 match=$3 total=$((${#frames[@]} + 2)) what differ
	shift 3
	what="mode $mode, match $match, trim_size $size"
	# shellcheck disable=SC2086 # MATCH is words
	ndp limit 1 hlimit 1000000 trim_size "$size" mode "$mode" match $match rate 1kbit
	check_to "$TMP/result" "$what: $total frames leave with all bytes correct" \
		send_frames "$@" -t "$size" -s "$a/v0" -c "in=$b/v1/in/$total" \
		-x "$(release)" "$PLUG" udp4,len=1000 "${frames[@]}"
	verdicts "$TMP/result" >"$TMP/verdicts"
	expected "$size" >"$TMP/expected"
	differ=$(diff "$TMP/expected" "$TMP/verdicts" | grep -c '^>' || true)
	case $mode in
	cp) check_eq "$what: each frame longer than trim_size is trimmed" "$differ" 0 ;;
	# one frame is left in the data queue, unless it is the second frame
	ndp) check "$what: each frame longer than trim_size but at most one is trimmed" test "$differ" -le 1 ;;
	esac
}

for mode in cp ndp; do
	for size in 64 128 256; do
		make_frames udp4 udp6 tcp4 tcp6
		trim_case $mode $size all -k
		make_frames udp4 udp6
		trim_case $mode $size "udp_port 61199"
	done
done
finish
