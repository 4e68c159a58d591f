# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Completion of closnet(8). The program's help lists commands and options.

_closnet() {
	local current=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} words
	if ((COMP_CWORD == 1)); then
		words=$("$1" --help 2>/dev/null | awk '/^  [a-z]/ { print $1 }')
	elif [[ $current == -* ]]; then
		words=$("$1" "$command" --help 2>/dev/null | grep -oE -e '--[a-z-]+')
	elif ((COMP_CWORD == 2)); then
		case $command in
		ndp) words='sockets peers sending receiving' ;;
		pcrp) words='get set reset' ;;
		fab) words='peers flows' ;;
		roce) words='qps flows' ;;
		dcqcn) words=setup ;;
		check-nic) words=$(_closnet_devices) ;;
		esac
	elif [[ ${COMP_WORDS[COMP_CWORD - 1]} == setup ]]; then
		words=$(_closnet_devices)
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}

_closnet_devices() { ls /sys/class/net; }

complete -F _closnet closnet
