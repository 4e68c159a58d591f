# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Statistics of qdisc dcqcn, read without jq, which starts slowly in an emulated guest

# dcqcn_stat NS/DEV NAME [PRIO]: counter NAME of the root qdisc, of its pool if NAME begins with pool_, or of priority
# PRIO of its port
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

# dcqcn_has NS/DEV NAME COUNT [PRIO]: true once the counter is at least COUNT
dcqcn_has() { [ "$(dcqcn_stat "$1" "$2" "${@:4}")" -ge "$3" ]; }

# dcqcn_is NS/DEV NAME COUNT [PRIO]: true if the counter equals COUNT
dcqcn_is() { [ "$(dcqcn_stat "$1" "$2" "${@:4}")" -eq "$3" ]; }

# dcqcn_sum NS/DEV NAME: sum of the counter over all dcqcn qdiscs of the device
dcqcn_sum() {
	tc -n "${1%/*}" -s -j qdisc show dev "${1#*/}" | jq "[.[] | select(.kind == \"dcqcn\").$2] | add"
}

# dcqcn_of NS/DEV PRIO NAME: counter NAME of the leaf with option prio PRIO
dcqcn_of() {
	tc -n "${1%/*}" -s -j qdisc show dev "${1#*/}" |
		jq "[.[] | select(.kind == \"dcqcn\" and .options.prio == $2)][0].$3"
}

# dcqcn_of_is NS/DEV PRIO NAME COUNT: true if that counter equals COUNT
dcqcn_of_is() { [ "$(dcqcn_of "$1" "$2" "$3")" -eq "$4" ]; }
