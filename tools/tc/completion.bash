# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Completion of the options of closnet's qdiscs and actions in tc(8) and links in ip(8). Needs options.bash. Everything else is left
# to the completion that iproute2 and bash-completion have for these commands.

_closnet_qdiscs='dcqcn ndp pcrp'
_closnet_actions='lb'
_closnet_links='closwire'

# _closnet_kind MARKS KIND...: print the last KIND before the cursor; the word before it matches the pattern MARKS
_closnet_kind() {
	local marks=$1 i kind
	shift
	for ((i = COMP_CWORD - 1; i > 1; i--)); do
		for kind; do
			# shellcheck disable=SC2053 # MARKS is a pattern
			[[ ${COMP_WORDS[i]} == "$kind" && ${COMP_WORDS[i - 1]} == $marks ]] && echo "$kind" && return
		done
	done
	return 1
}

# _closnet_action: print the kind of the last action before the cursor if it is closnet's
_closnet_action() {
	local i
	for ((i = COMP_CWORD - 1; i > 1; i--)); do
		[[ ${COMP_WORDS[i - 1]} == action ]] || continue
		[[ " $_closnet_actions " == *" ${COMP_WORDS[i]} "* ]] && echo "${COMP_WORDS[i]}"
		return
	done
	return 1
}

# _closnet_option KIND [WORD...]: complete an option, a WORD, or the word after an option
_closnet_option() {
	local previous=${COMP_WORDS[COMP_CWORD - 1]} current=${COMP_WORDS[COMP_CWORD]}
	local -n options=_closnet_$1_options values=_closnet_$1_values
	local words="$options ${*:2}"
	[[ $previous != "$1" && -v values[$previous] ]] && words=${values[$previous]}
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}

# _closnet_other COMMAND ARGUMENT...: call the completion of COMMAND by iproute2 or bash-completion
_closnet_other() {
	local dir command=$1 function=_$1
	if ! declare -F "$function" >/dev/null; then
		for dir in "${XDG_DATA_HOME:-$HOME/.local/share}" /usr/local/share /usr/share; do
			[ -r "$dir/bash-completion/completions/$command" ] || continue
			# shellcheck disable=SC1090 # depends on the system
			. "$dir/bash-completion/completions/$command"
			break
		done
		complete -F "_closnet_$command" "$command" # the file has set its own function
		QDISC_KIND+=" $_closnet_qdiscs " # iproute2's lists
		ACTION_KIND+=" $_closnet_actions "
	fi
	! declare -F "$function" >/dev/null || "$function" "$@"
}

_closnet_tc() {
	local kind
	COMPREPLY=()
	# in "dev ndp", ndp is a device
	# shellcheck disable=SC2086 # words
	if kind=$(_closnet_action); then
		[[ ${COMP_WORDS[COMP_CWORD - 1]} == index ]] ||
			_closnet_option "$kind" index pass continue pipe drop reclassify goto
	elif kind=$(_closnet_kind '!(dev|handle|parent|netns)' $_closnet_qdiscs); then
		_closnet_option "$kind"
	else
		_closnet_other "$@"
	fi
}

_closnet_ip() {
	local kind
	COMPREPLY=()
	# shellcheck disable=SC2086 # words
	if kind=$(_closnet_kind type $_closnet_links) && [[ ${COMP_WORDS[COMP_CWORD - 1]} != peer ]]; then
		_closnet_option "$kind" peer
	else
		_closnet_other "$@"
	fi
}

complete -F _closnet_tc tc
complete -F _closnet_ip ip
