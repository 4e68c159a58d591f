# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Numbers of a dcqcn without jq, of which a start takes long in an emulated guest

# dcqcn_stat NS/DEV NAME [PRIO]: a counter of its statistics, or of a priority's
dcqcn_stat() {
	local json prios
	json=$(tc -n "${1%/*}" -s -j qdisc show dev "${1#*/}" root)
	if [ $# -eq 3 ]; then
		IFS='{' read -ra prios <<<"${json#*\"prio\":}"
		json=${prios[$3 + 1]}
	fi
	[[ $json =~ \"$2\":([0-9]+) ]] && echo "${BASH_REMATCH[1]}"
}

# dcqcn_has NS/DEV NAME COUNT [PRIO]: has the counter come to COUNT?
dcqcn_has() { [ "$(dcqcn_stat "$1" "$2" "${@:4}")" -ge "$3" ]; }

# dcqcn_is NS/DEV NAME COUNT [PRIO]: is the counter COUNT?
dcqcn_is() { [ "$(dcqcn_stat "$1" "$2" "${@:4}")" -eq "$3" ]; }
