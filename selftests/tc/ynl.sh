#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Documentation/netlink/*.yaml agree with the files that tools/build/options writes and with the hand-written uapi headers,
# and fit into tc.yaml, rt-link.yaml and the schemas of Debian's kernel source. If the modules can be loaded, the
# kernel's own YNL tool reads their dumps.
# shellcheck disable=SC2317,SC2154 # functions are called through check; node: set by setup_ns
. "$(dirname "$0")/../../tools/common.sh"
. "$(dirname "$0")/../lib/lib.sh"

here=$(cd "$(dirname "$0")" && pwd)

specs=$CLOSNET_TOP/Documentation/netlink

# altered NAME SED-SCRIPT: print the path of a specification with errors
altered() {
	mkdir -p "$TMP/altered"
	sed "$2" "$specs/$1.yaml" >"$TMP/altered/$1.yaml"
	cmp -s "$specs/$1.yaml" "$TMP/altered/$1.yaml" && { echo "not altered: $2" >&2; exit 1; }
	echo "$TMP/altered/$1.yaml"
}

# test_found NAME MESSAGE SPEC SED-SCRIPT: check that ynl.py detects the error in a specification
test_found() {
	check_refused "ynl.py detects $1" "$2" "$here/ynl.py" check "$(altered "$3" "$4")"
}

# loads SPEC: true if the kernel's library accepts SPEC by the kernel's schema
loads() {
	PYTHONPATH=$kernel/tools/net/ynl /usr/bin/python3 - "$1" "$kernel" <<-'EOF'
	import sys
	from lib import SpecFamily
	spec = SpecFamily(sys.argv[1], sys.argv[2] + "/Documentation/netlink/netlink-raw.yaml")
	apps = spec.sub_msgs["tca-stats-app-msg"].formats
	for kind in "ndp", "dcqcn", "pcrp", "roce":
	    attrs = spec.attr_sets[f"tc-{kind}-attrs"]
	    assert attrs["profile" if kind in ("pcrp", "roce") else "limit"].value == 1, attrs
	    assert apps[kind].attr_set == f"tc-{kind}-stats-attrs"
	actions = spec.sub_msgs.get("act-options-msg") or spec.sub_msgs["tc-act-options-msg"]
	assert actions.formats["lb"].attr_set == "tc-lb-attrs"
	assert spec.attr_sets["tc-lb-attrs"]["parms"].value == 1
	EOF
}

# link_loads SPEC: the same for the merged rt-link.yaml
link_loads() {
	PYTHONPATH=$kernel/tools/net/ynl /usr/bin/python3 - "$1" "$kernel" <<-'EOF'
	import sys
	from lib import SpecFamily
	spec = SpecFamily(sys.argv[1], sys.argv[2] + "/Documentation/netlink/netlink-raw.yaml")
	attrs = spec.attr_sets["linkinfo-closwire-attrs"]
	assert attrs["clock-drift"].value == 7, attrs
	assert spec.sub_msgs["linkinfo-data-msg"].formats["closwire"].attr_set == "linkinfo-closwire-attrs"
	EOF
}

# family_loads SPEC: true if the kernel's library accepts closnet_pcrp's SPEC by the schema of generic netlink families
family_loads() {
	PYTHONPATH=$kernel/tools/net/ynl /usr/bin/python3 - "$1" "$kernel" <<-'EOF'
	import sys
	from lib import SpecFamily
	spec = SpecFamily(sys.argv[1], sys.argv[2] + "/Documentation/netlink/genetlink.yaml")
	values = {name: op.req_value for name, op in spec.msgs.items()}
	assert values == {"get": 1, "set": 2, "reset": 3}, values
	assert spec.attr_sets["pcrp"]["updates"].value == 4
	EOF
}

# ndp_loads SPEC: the same for closnet_ndp
ndp_loads() {
	PYTHONPATH=$kernel/tools/net/ynl /usr/bin/python3 - "$1" "$kernel" <<-'EOF'
	import sys
	from lib import SpecFamily
	spec = SpecFamily(sys.argv[1], sys.argv[2] + "/Documentation/netlink/genetlink.yaml")
	values = {name: op.req_value for name, op in spec.msgs.items()}
	assert values == {"sockets": 1, "peers": 2, "sending": 3, "receiving": 4}, values
	assert spec.attr_sets["ndp"]["idle-ns"].value == 31
	EOF
}

# ynl ARGUMENT...: run the kernel's YNL tool in the namespace
ynl() {
	ip netns exec "$node" env PYTHONPATH= /usr/bin/python3 "$kernel/tools/net/ynl/cli.py" --output-json "$@"
}

# put_qdiscs: add a qdisc of each kind, and dump all of them by the kernel's YNL tool
put_qdiscs() {
	ip -n "$node" link add v0 type veth peer name v1
	tc -n "$node" qdisc add dev lo root ndp limit 9 mode cp match dscp 10,46 rate 1gbit
	tc -n "$node" qdisc add dev v0 root dcqcn limit 9000 prio 3 pool sw0 xoff 6000 headroom 7000
	ip -n "$node" link add v2 type veth peer name v3
	tc -n "$node" qdisc add dev v2 root roce profile nic rpg_ai_rate 8mbit noect ce clear
	tc -n "$node" qdisc add dev v1 root pcrp flows 64 chain 25kb mfwt 250us eu spec 1:2:1024g map 0:46
	ynl --spec "$TMP/tc.yaml" --schema "$kernel/Documentation/netlink/netlink-raw.yaml" --dump getqdisc >"$TMP/dump"
}

# put_action: add an action to the ingress of v0, and dump its filter by the kernel's YNL tool
put_action() {
	tc -n "$node" qdisc add dev v0 clsact
	tc -n "$node" filter add dev v0 ingress matchall action lb granularity packet select drill band 3us index 5
	ynl --spec "$TMP/tc.yaml" --schema "$kernel/Documentation/netlink/netlink-raw.yaml" --dump gettfilter \
		--json "{\"ifindex\": $(in_ns "$node" cat /sys/class/net/v0/ifindex), \"parent\": $((0xfffffff2))}" >"$TMP/filters"
}

test_dump_lb() {
	check_json "$(jq -c '[.. | objects | select(.kind? == "lb" and .options?)][0]' "$TMP/filters")" \
		"YNL reads the common part of an action" '.options.parms.index == 5 and .options.parms.bindcnt == 1' \
		"YNL reads numbers of lb" '.options.band == 3000 and .options.choices == 2' \
		"YNL reads names of lb" '.options.granularity == "packet" and .options.select == "drill"' \
		"YNL reads the statistics of lb" '.options.stats.overflows == 0 and .options.stats.pass.hook == 0'
}

# dumped KIND: the dumped qdisc of that kind
dumped() { jq -c "[.[] | select(.kind == \"$1\")][0]" "$TMP/dump"; }

test_dump_ndp() {
	check_json "$(dumped ndp)" \
		"YNL reads numbers of ndp" '.options.limit == 9 and .options.rate == 125000000' \
		"YNL reads names of ndp" '.options.mode == "cp" and .options.match == "dscp"' \
		"YNL reads the DSCP set of ndp" '.options["dscp-mask"] == 70368744178688' \
		"YNL reads the queues' statistics of ndp" '.stats2.app.header["peak-bytes"] == 0' \
		"YNL reads the last counter of ndp" '.stats2.app["dropped-nomem-packets"] == 0'
}

test_dump_dcqcn() {
	check_json "$(dumped dcqcn)" \
		"YNL reads numbers of dcqcn" '.options.limit == 9000 and .options.prio == 3 and .options.pool.xoff == 6000' \
		"YNL reads names of dcqcn" '.options.pool["xoff-mode"] == "static"' \
		"YNL reads the pool's name of dcqcn" '.options.pool.name == "sw0"' \
		"YNL reads the queue's statistics of dcqcn" '.stats2.app["dropped-gso-packets"] == 0' \
		"YNL reads the priorities' statistics of dcqcn" '.stats2.app.prio | map([.index, .["xoff-frames"]]) == [[3, 0]]' \
		"YNL reads the pool's statistics of dcqcn" '.stats2.app.pool["headroom-bytes"] == 7000'
}

test_dump_pcrp() {
	check_json "$(dumped pcrp)" \
		"YNL reads numbers of pcrp" '.options.flows == 64 and .options.chain == 25600 and .options.mfwt == 250' \
		"YNL reads names of pcrp" '.options["mfwt-mode"] == "time"' \
		"YNL reads the thresholds of pcrp" '.options.spec == {p0: 1, p1: 2, p2: 1099511627776}' \
		"YNL reads the map of pcrp" '.options.map == {p0: 46}' \
		"YNL reads the chain in use of pcrp" '.stats2.app["chain-bytes"] == 25600' \
		"YNL reads the thresholds in use of pcrp" '.stats2.app["spec-bytes"].p2 == 1099511627776' \
		"YNL reads the last counter of pcrp" '.stats2.app["window-early"] == 0'
}

test_dump_roce() {
	check_json "$(dumped roce)" \
		"YNL reads numbers of roce" '.options["rpg-ai-rate"] == 1000000 and .options.ect == 0' \
		"YNL reads names of roce" '.options.profile == "nic" and .options.ce == "clear"' \
		"YNL reads the queues' statistics of roce" '.stats2.app.roce["sent-packets"] == 0' \
		"YNL reads the last counter of roce" '.stats2.app["dropped-gso-packets"] == 0'
	check_json "$(ynl --spec "$specs/closnet_roce.yaml" --schema "$kernel/Documentation/netlink/genetlink.yaml" --dump qps)" \
		"YNL reads an empty table of closnet_roce" '. == []'
}

# family COMMAND [ATTRIBUTES]: send a command of closnet_pcrp
family() {
	ynl --spec "$specs/closnet_pcrp.yaml" --schema "$kernel/Documentation/netlink/genetlink.yaml" \
		--do "$1" --json "${2:-{\}}"
}

test_family() {
	check_json "$(family get)" \
		"YNL reads the histogram" '.sizes == [range(42) | 0] and .bytes == 0' \
		"YNL reads missing thresholds" '.updates == 0 and has("thresholds") == false'
	check "YNL sets thresholds" family set \
		'{"thresholds": "010000000000000002000000000000000300000000000000"}'
	check_json "$(family get)" "YNL reads the thresholds of the namespace" '.thresholds == [1, 2, 3]'
	check "YNL resets thresholds" family reset
	check_json "$(family get)" "YNL reads the number of updates" '.updates == 2 and has("thresholds") == false'
}

# tables NAME: dump a table of closnet_ndp
tables() {
	ynl --spec "$specs/closnet_ndp.yaml" --schema "$kernel/Documentation/netlink/genetlink.yaml" \
		--dump "$1"
}

# test_ndp_family: test the tables with a socket on port 7
test_ndp_family() {
	local numbers
	numbers=$(sed -n '/^struct ndp_info {/,/^}/p' "$CLOSNET_TOP/include/uapi/linux/ndp.h" | grep -c __u64)
	check_json "$(tables sockets)" "YNL reads an empty table" '. == []'
	job ip netns exec "$node" /usr/bin/python3 -c 'import signal, socket
s = socket.socket(socket.AF_INET, 4, 259)
s.bind(("127.0.0.1", 7))
signal.pause()'
	check "socket appears in the table" wait_for 10 has_socket
	check_json "$(tables sockets)" "YNL reads a port" '.[0]["local-port"] == 7' \
		"YNL reads an address" '.[0].local == "::ffff:127.0.0.1"' \
		"YNL reads a socket's counters" ".[0].info | length == $numbers and add > 0"
	stop_jobs
}
has_socket() { tables sockets | jq -e 'length == 1' >/dev/null; }

/usr/bin/python3 -c 'import yaml' 2>/dev/null || skip_all "needs python3-yaml"
check "generated files agree with their specifications" "$CLOSNET_TOP/tools/build/options" check
check_refused "a file that differs from its specification is named" "pkt_sched_ndp.h differs" \
	"$CLOSNET_TOP/tools/build/options" check "$(altered tc-ndp 's/name: hlimit$/name: hsize/')"
check_refused "an unknown key of an option is refused" "unknown key 'colour'" \
	"$CLOSNET_TOP/tools/build/options" check "$(altered tc-ndp 's/zero: auto/colour: blue/')"
check "specifications of families agree with their uapi headers" "$here/ynl.py" check
test_found "a wrong command" "commands differ" closnet_pcrp 's/name: reset$/name: clear/'
test_found "a wrong name of a family" "name differ" closnet_pcrp 's/^name: .*/name: pcrp/'
test_found "a wrong constant" "pcrp_size_classes differ" closnet_pcrp 's/value: 42/value: 64/'

test_found "a wrong command of closnet_ndp" "commands differ" closnet_ndp 's/name: peers$/name: hosts/'
test_found "a wrong type of closnet_ndp" "types differ" closnet_ndp '/name: flow-id/,/type:/s/u32/u64/'

# skip_others REASON: skip the other checks
skip_others() {
	skip "tc.yaml merged with closnet's fragments loads" "$1"
	finish
}
/usr/bin/python3 -c 'import jsonschema' 2>/dev/null || skip_others "needs python3-jsonschema"
# a guest needs an earlier run on the host: the cache is read-only there
kernel=$("$CLOSNET_TOP/tools/build/ksource" ynl tools/net/ynl Documentation/netlink 2>"$TMP/log") ||
	skip_others "no kernel source: $(tail -n 1 "$TMP/log")"
"$here/ynl.py" merge "$kernel/Documentation/netlink/specs/tc.yaml" >"$TMP/tc.yaml"
check "tc.yaml merged with closnet's fragments loads" loads "$TMP/tc.yaml"
"$here/ynl.py" merge "$kernel/Documentation/netlink/specs/tc.yaml" \
	"$(altered tc-ndp 's/type: u64$/type: long/')" >"$TMP/wrong.yaml"
# rt_link.yaml before Linux 6.15
"$here/ynl.py" merge "$kernel"/Documentation/netlink/specs/rt?link.yaml >"$TMP/rt-link.yaml"
check "rt-link.yaml merged with closwire's fragment loads" link_loads "$TMP/rt-link.yaml"
check_refused "the kernel's library refuses a fragment that breaks the schema" "ValidationError" \
	loads "$TMP/wrong.yaml"

check "closnet_ndp.yaml loads" ndp_loads "$specs/closnet_ndp.yaml"
check "closnet_pcrp.yaml loads" family_loads "$specs/closnet_pcrp.yaml"
check_refused "the kernel's library refuses a family that breaks the schema" "ValidationError" \
	family_loads "$(altered closnet_pcrp 's/admin-perm/root/')"

# loadable: true if all qdiscs and actions can be loaded
loadable() {
	[ "$(id -u)" -eq 0 ] || return 1
	for module in act_lb sch_ndp sch_dcqcn sch_pcrp sch_roce; do
		load_module $module 2>/dev/null || return 1
	done
}

if loadable; then
	setup_ns node
	check "the kernel's YNL tool dumps the qdiscs" put_qdiscs
	test_dump_ndp
	test_dump_dcqcn
	test_dump_pcrp
	test_dump_roce
	check "the kernel's YNL tool dumps an action" put_action
	test_dump_lb
	test_family
	if load_module ndp 2>/dev/null; then
		test_ndp_family
	else
		skip "YNL reads tables of closnet_ndp" "no module ndp"
	fi
else
	skip "the kernel's YNL tool dumps the qdiscs" "no modules act_lb, sch_ndp, sch_dcqcn, sch_pcrp, sch_roce"
fi
finish
