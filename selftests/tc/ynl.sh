#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Do Documentation/netlink/tc-*.yaml fit their uAPI headers, and the tc.yaml of Debian's kernel
# source? Where the qdiscs can be loaded: does the kernel's own YNL tool read their dumps?
# shellcheck disable=SC2317,SC2154 # functions are called through check; node: set by setup_ns
. "$(dirname "$0")/../../tools/common.sh"
. "$(dirname "$0")/../lib/lib.sh"

here=$(cd "$(dirname "$0")" && pwd)
source=${CLOSNET_KERNEL_SOURCE:-/usr/src/linux-source-6.12.tar.xz}

# altered KIND SED-SCRIPT: a fragment that is not right
altered() {
	local fragment=$CLOSNET_TOP/Documentation/netlink/tc-$1.yaml
	sed "$2" "$fragment" >"$TMP/altered.yaml"
	cmp -s "$fragment" "$TMP/altered.yaml" && { echo "not altered: $2" >&2; exit 1; }
	echo "$TMP/altered.yaml"
}

# test_found WHAT MESSAGE KIND SED-SCRIPT: a wrong fragment is found to be wrong
test_found() {
	check_refused "$1 is found" "$2" "$here/ynl.py" check "$(altered "$3" "$4")"
}

# kernel_files: directory with what is needed of the kernel source, unpacked once. In a guest
# only if a run on the host has done that: the cache is read-only there.
kernel_files() {
	local dir
	dir=$CLOSNET_CACHE/ynl/$(basename "$source" .tar.xz)-$(stat -c %Y-%s "$source")
	if [ ! -e "$dir/complete" ]; then
		mkdir -p "$dir" 2>/dev/null && [ -w "$dir" ] && locked ynl unpack "$dir" || return 1
	fi
	echo "$dir"
}

unpack() {
	tar -xJf "$source" -C "$1" --strip-components=1 --wildcards \
		'*/Documentation/netlink' '*/tools/net/ynl' && : >"$1/complete"
}

# loads SPEC: does the kernel's library take it, by the kernel's schema?
loads() {
	PYTHONPATH=$kernel/tools/net/ynl /usr/bin/python3 - "$1" "$kernel" <<-'EOF'
	import sys
	from lib import SpecFamily
	spec = SpecFamily(sys.argv[1], sys.argv[2] + "/Documentation/netlink/netlink-raw.yaml")
	apps = spec.sub_msgs["tca-stats-app-msg"].formats
	for kind, last in ("ndp", 17), ("dcqcn", 22):
	    attrs = spec.attr_sets[f"tc-{kind}-attrs"]
	    assert attrs["limit"].value == 1 and attrs["pad"].value == last, attrs
	    assert apps[kind].fixed_header == f"tc-{kind}-xstats"
	EOF
}

# dumped KIND: the qdisc as the kernel's YNL tool reads it
dumped() {
	ip netns exec "$node" env PYTHONPATH= /usr/bin/python3 "$kernel/tools/net/ynl/cli.py" \
		--spec "$TMP/tc.yaml" --schema "$kernel/Documentation/netlink/netlink-raw.yaml" \
		--output-json --dump getqdisc |
		jq -c "[.[] | select(.kind == \"$1\")][0]"
}

test_dump_ndp() {
	tc -n "$node" qdisc add dev lo root ndp limit 9 mode cp match dscp 10,46 rate 1gbit
	check_json "$(dumped ndp)" \
		"YNL reads numbers" '.options.limit == 9 and .options.rate == 125000000' \
		"YNL reads names" '.options.mode == "cp" and .options.match == "dscp"' \
		"YNL reads the DSCP set" '.options["dscp-mask"] == 70368744178688' \
		"YNL reads the queues' statistics" '.stats2.app.header["peak-bytes"] == 0' \
		"YNL reads the last counter" '.stats2.app["dropped-nomem-packets"] == 0'
	tc -n "$node" qdisc del dev lo root
}

test_dump_dcqcn() {
	ip -n "$node" link add v0 type veth peer name v1
	tc -n "$node" qdisc add dev v0 root dcqcn limit 9000 trust pcp sched drr pool sw0 xoff 6000 headroom 7000 \
		prio 3 kmin 5 prio 6 quantum 64
	check_json "$(dumped dcqcn)" \
		"YNL reads numbers" '.options.limit == 9000 and .options["pool-xoff"] == 6000' \
		"YNL reads names" '.options.trust == "pcp" and .options.sched == "drr"
			and .options["pool-xoff-mode"] == "static"' \
		"YNL reads the pool's name" '.options.pool == "sw0"' \
		"YNL reads the map" '.options.map | ascii_downcase | gsub("[^0-9a-f]"; "") | startswith("0001020304050607")' \
		"YNL reads priorities' own values" '.options.prio | map([.index, .kmin, .quantum])
			== [[3, 5, null], [6, null, 64]]' \
		"YNL reads the priorities' statistics" '.stats2.app.prio7["xoff-frames"] == 0' \
		"YNL reads the last counter" '.stats2.app["pool-headroom-bytes"] == 7000'
}

/usr/bin/python3 -c 'import yaml' 2>/dev/null || skip_all "needs python3-yaml"
check "the specifications say what the uAPI headers say" "$here/ynl.py" check
test_found "a wrong attribute" "attributes differ" ndp 's/name: hlimit$/name: hsize/'
test_found "a wrong type" "types differ" ndp '/name: udp-port/,/type:/s/u16/u32/'
test_found "a wrong enum" "mode differ" ndp 's/\[ ndp, cp,/[ cp, ndp,/'
test_found "a wrong counter" "tc_ndp_xstats differ" ndp 's/trimmed-bytes/trimmed-octets/'
test_found "a wrong attribute of a nest" "prio attributes differ" dcqcn 's/name: quantum$/name: weight/'
test_found "a number for a name" "types differ" dcqcn '/name: pool$/,/type:/s/string/u32/'
test_found "a wrong element of an array" "tc_dcqcn_xstats differ" dcqcn 's/name: prio6/name: prio8/'

# rest WHY: what follows is left out
rest() {
	skip "tc.yaml with ours loads" "$1"
	finish
}
[ -e "$source" ] || rest "no $source"
/usr/bin/python3 -c 'import jsonschema' 2>/dev/null || rest "needs python3-jsonschema"
kernel=$(kernel_files) || rest "cannot unpack $source into $CLOSNET_CACHE"
"$here/ynl.py" merge "$kernel/Documentation/netlink/specs/tc.yaml" >"$TMP/tc.yaml"
check "tc.yaml with ours loads" loads "$TMP/tc.yaml"
"$here/ynl.py" merge "$kernel/Documentation/netlink/specs/tc.yaml" \
	"$(altered ndp 's/struct: tc-ndp-queue-xstats/struct: [ ]/')" >"$TMP/wrong.yaml"
check_refused "a specification that breaks the schema is found" "ValidationError" \
	loads "$TMP/wrong.yaml"

if [ "$(id -u)" -eq 0 ] && load_module sch_ndp 2>/dev/null && load_module sch_dcqcn 2>/dev/null; then
	setup_ns node
	test_dump_ndp
	test_dump_dcqcn
else
	skip "YNL reads dumps" "no modules sch_ndp, sch_dcqcn"
fi
finish
