# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Numbers of a dcqcn without jq, which takes long to start in an emulated guest

# dcqcn_stat NS/DEV NAME [PRIO]: a counter of the qdisc at the root; of the pool, if NAME begins with pool_, or of one of
# the port's priorities
dcqcn_stat() {
	local json name=$2
	json=$(tc -n "${1%/*}" -s -j qdisc show dev "${1#*/}" root)
	if [ $# -eq 3 ]; then
		json=${json#*\{\"prio\":"$3",}
	elif [[ $name == pool_* ]]; then
		name=${name#pool_}
		json=${json#*\"pool\":\{\"ports\"}
		json="\"ports\"$json"
	fi
	[[ $json =~ \"$name\":([0-9]+) ]] && echo "${BASH_REMATCH[1]}"
}

# dcqcn_has NS/DEV NAME COUNT [PRIO]: has the counter come to COUNT?
dcqcn_has() { [ "$(dcqcn_stat "$1" "$2" "${@:4}")" -ge "$3" ]; }

# dcqcn_is NS/DEV NAME COUNT [PRIO]: is the counter COUNT?
dcqcn_is() { [ "$(dcqcn_stat "$1" "$2" "${@:4}")" -eq "$3" ]; }

# dcqcn_sum NS/DEV NAME: of all the device's dcqcn
dcqcn_sum() {
	tc -n "${1%/*}" -s -j qdisc show dev "${1#*/}" | jq "[.[] | select(.kind == \"dcqcn\").$2] | add"
}

# dcqcn_of NS/DEV PRIO NAME: a number of the leaf with that prio
dcqcn_of() {
	tc -n "${1%/*}" -s -j qdisc show dev "${1#*/}" |
		jq "[.[] | select(.kind == \"dcqcn\" and .options.prio == $2)][0].$3"
}

# dcqcn_of_is NS/DEV PRIO NAME COUNT: is it that?
dcqcn_of_is() { [ "$(dcqcn_of "$1" "$2" "$3")" -eq "$4" ]; }
