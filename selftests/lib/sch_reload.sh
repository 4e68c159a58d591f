# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Load and unload a qdisc's module. A test sources this file after lib.sh.
#
#	+--------- a ---------+     +--------- b ---------+
#	| traffic -> v0: KIND |=====| v1                  |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2154 # setup_ns sets a

if zcat /proc/config.gz 2>/dev/null | grep -q '^CONFIG_KASAN=y' &&
	! zcat /proc/config.gz | grep -q '^CONFIG_KASAN_VMALLOC=y'; then
	skip_all "KASAN of this kernel reports a second load of a module as an overflow"
fi

# Namespaces of an earlier test end by and by, and qdiscs in them use the module.
unused() { [ "$(cat "/sys/module/sch_$SCH/refcnt")" = 0 ]; }

# test_reload KIND: check that the module of a qdisc in use cannot be unloaded, reload it under traffic, and finish
test_reload() {
	local module=${CLOSNET_MODDIR:-}/sch_$1.ko
	need_sch "$1"
	setup_ns a b
	link_ab
	[ -f "$module" ] || module=$(modinfo -n "sch_$SCH")
	check_refused "module of a qdisc in use cannot be unloaded" "in use" \
		eval "new_root $SCH && rmmod sch_$SCH"
	tc -n "$a" qdisc del dev v0 root
	wait_for 5 unused || true
	check "unused module is unloaded" rmmod "sch_$SCH"
	defer "load_module sch_$SCH"

	job traffic udp -n "$a" -d 10.0.0.2 "${SCH_UDP[@]}" -t 2 -l 1400 -g 4 >/dev/null
	job traffic udp -n "$a" -d 10.0.0.2 -p 9 -l 8000 >/dev/null
	check "module is loaded and unloaded 100 times under traffic" \
		qdisc_netlink reload -k "$SCH" -n "$a" -i v0 -c 100 "$module"
	finish
}
