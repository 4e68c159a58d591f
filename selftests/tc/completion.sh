#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Shell completion of closnet's options in tc(8) and ip(8), and of closnet(8)
. "$(dirname "$0")/../lib/lib.sh"

# completed WORD...: print what completes the last WORD, sorted
completed() {
	bash --norc -c '
		. "$0/tools/tc/options.bash"
		. "$0/tools/tc/completion.bash"
		. "$0/tools/closnet/completion.bash"
		# what bash-completion has for iproute2
		_init_completion() { cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
			words=("${COMP_WORDS[@]}") cword=$COMP_CWORD; }
		COMP_WORDS=("$@")
		COMP_CWORD=$(($# - 1))
		function=$(complete -p "$(basename "$1")" | sed "s/.*-F \([^ ]*\) .*/\1/")
		COMPREPLY=()
		"$function" "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
		printf "%s\n" "${COMPREPLY[@]}"' "$LIB_TOP" "$@" 2>"$TMP/err" | sort -u | tr '\n' ' ' | sed 's/ $//'
	cat "$TMP/err" >&2
}

# test_words EXPECTED WORD...
test_words() {
	local expected=$1
	shift
	check_eq "completion of: $*" "$(completed "$@")" "$expected"
}

# test_offers WORD COMMAND...: check that WORD is among the completions
test_offers() {
	local word=$1
	shift
	check_eq "completion of \"$*\" offers $word" "$(completed "$@" | tr ' ' '\n' | grep -xF -e "$word")" "$word"
}

test_words "limit limit_bytes" tc qdisc add dev eth0 root ndp li
test_words "noeu noevict nosrpt" tc qdisc change dev eth0 root handle 1: pcrp limit 9 no
test_words "cp droptail ndp" tc qdisc add dev eth0 root ndp mode ""
test_words "all dscp udp_port" tc qdisc add dev eth0 root ndp match ""
test_words "" tc qdisc add dev eth0 root ndp match udp_port ""
test_words "" tc qdisc add dev eth0 root ndp limit ""
test_words "auto" tc qdisc replace dev eth0 parent 1:2 dcqcn pool sw0 headroom a
test_words "packet" tc qdisc add dev eth0 root dcqcn prio ""
test_words "kmax kmin" tc qdisc add dev eth0 root dcqcn k
test_words "charge choices continue" tc filter add dev eth0 ingress matchall action lb c
test_words "drill hash quality random rr" tc actions add action lb select ""
test_words "auto" tc filter add dev eth0 ingress pref 9 matchall action lb index 3 gap ""
test_words "" tc actions replace action lb select hash index ""
test_words "nocharge" tc filter add dev ndp ingress matchall action gact pipe action lb rate dcqcn 1gbit n
test_words "rate ring" ip link add w0 type closwire r
test_words "clock_drift clock_offset" ip link add w0 type closwire rate 1gbit peer name w1 type closwire clock
test_words "peer" ip link add w0 type closwire rate 1gbit p
test_words "rate" ip link set w0 type closwire ra
if [ -r /usr/share/bash-completion/completions/tc ]; then
	test_offers pcrp tc qdisc add dev eth0 root p
	test_offers pfifo tc qdisc add dev eth0 root p
	test_offers qdisc tc q
	test_offers lb tc action add action l
	test_offers pass tc filter add dev eth0 ingress matchall action lb flows 64 p
	test_offers root tc qdisc add dev ndp r
else
	skip "other words are completed by iproute2" "iproute2 has no completion"
fi
closnet=$LIB_TOP/build/closnet/closnet
make -s -C "$LIB_TOP/tools/closnet" >"$TMP/log" 2>&1 || true
if [ -x "$closnet" ]; then
	PATH=${closnet%/*}:$PATH
	test_words "dcqcn" closnet d
	test_words "peers" closnet ndp p
	test_words "--json" closnet metrics --j
	test_offers --kmin closnet buffers --k
	test_offers lo closnet check-nic l
else
	skip "closnet(8) is completed" "closnet does not build"
fi
finish
