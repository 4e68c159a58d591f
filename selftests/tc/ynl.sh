#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Does Documentation/netlink/tc-ndp.yaml fit the uAPI header, and the tc.yaml of Debian's
# kernel source? Where sch_ndp can be loaded: does the kernel's own YNL tool read its dump?
# shellcheck disable=SC2317,SC2154 # functions are called through check; node: set by setup_ns
. "$(dirname "$0")/../../tools/common.sh"
. "$(dirname "$0")/../lib/lib.sh"

here=$(cd "$(dirname "$0")" && pwd)
source=${CLOSNET_KERNEL_SOURCE:-/usr/src/linux-source-6.12.tar.xz}
fragment=$CLOSNET_TOP/Documentation/netlink/tc-ndp.yaml

# altered SED-SCRIPT: a fragment that is not right
altered() {
	sed "$1" "$fragment" >"$TMP/altered.yaml"
	cmp -s "$fragment" "$TMP/altered.yaml" && { echo "not altered: $1" >&2; exit 1; }
	echo "$TMP/altered.yaml"
}

# test_found WHAT MESSAGE SED-SCRIPT: a wrong fragment is found to be wrong
test_found() {
	check_refused "$1 is found" "$2" "$here/ynl.py" check "$(altered "$3")"
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
	attrs = spec.attr_sets["tc-ndp-attrs"]
	assert attrs["limit"].value == 1 and attrs["pad"].value == 17, attrs
	apps = spec.sub_msgs["tca-stats-app-msg"].formats
	assert apps["ndp"].fixed_header == "tc-ndp-xstats"
	EOF
}

# dumped: sch_ndp's qdisc as the kernel's YNL tool reads it
dumped() {
	ip netns exec "$node" env PYTHONPATH= /usr/bin/python3 "$kernel/tools/net/ynl/cli.py" \
		--spec "$TMP/tc.yaml" --schema "$kernel/Documentation/netlink/netlink-raw.yaml" \
		--output-json --dump getqdisc |
		jq -c '[.[] | select(.kind == "ndp")][0]'
}

test_dump() {
	setup_ns node
	tc -n "$node" qdisc add dev lo root ndp limit 9 mode cp match dscp 10,46 rate 1gbit
	check_json "$(dumped)" \
		"YNL reads numbers" '.options.limit == 9 and .options.rate == 125000000' \
		"YNL reads names" '.options.mode == "cp" and .options.match == "dscp"' \
		"YNL reads the DSCP set" '.options["dscp-mask"] == 70368744178688' \
		"YNL reads the queues' statistics" '.stats2.app.header["peak-bytes"] == 0' \
		"YNL reads the last counter" '.stats2.app["dropped-nomem-packets"] == 0'
}

/usr/bin/python3 -c 'import yaml' 2>/dev/null || skip_all "needs python3-yaml"
check "the specification says what the uAPI header says" "$here/ynl.py" check
test_found "a wrong attribute" "attributes differ" 's/name: hlimit$/name: hsize/'
test_found "a wrong type" "types differ" '/name: udp-port/,/type:/s/u16/u32/'
test_found "a wrong enum" "mode differ" 's/\[ ndp, cp,/[ cp, ndp,/'
test_found "a wrong counter" "tc_ndp_xstats differ" 's/trimmed-bytes/trimmed-octets/'

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
	"$(altered 's/struct: tc-ndp-queue-xstats/struct: [ ]/')" >"$TMP/wrong.yaml"
check_refused "a specification that breaks the schema is found" "ValidationError" \
	loads "$TMP/wrong.yaml"

if [ "$(id -u)" -eq 0 ] && load_module sch_ndp 2>/dev/null; then
	test_dump
else
	skip "YNL reads a dump" "no module sch_ndp"
fi
finish
