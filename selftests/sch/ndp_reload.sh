#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The module is loaded, used and unloaded 100 times while traffic runs.
#
#	+--------- a ---------+     +--------- b ---------+
#	| traffic -> v0: ndp  |=====| v1                  |
#	+---------------------+     +---------------------+
. "$(dirname "$0")/../lib/lib.sh"
need_ndp
if zcat /proc/config.gz 2>/dev/null | grep -q '^CONFIG_KASAN=y' &&
	! zcat /proc/config.gz | grep -q '^CONFIG_KASAN_VMALLOC=y'; then
	skip_all "KASAN of this kernel takes a second load for an overflow"
fi
setup_ns a b
link_ab

module=${CLOSNET_MODDIR:-}/sch_ndp.ko
[ -f "$module" ] || module=$(modinfo -n sch_ndp)
check_refused "in use, it cannot be unloaded" "in use" \
	eval 'ndp && rmmod sch_ndp'
tc -n "$a" qdisc del dev v0 root
check "unload" rmmod sch_ndp
defer "load_module sch_ndp"

job traffic udp -n "$a" -d 10.0.0.2 -p 61199 -l 1400 -g 4 >/dev/null
job traffic udp -n "$a" -d 10.0.0.2 -p 9 -l 8000 >/dev/null
check "100 times" qdisc_netlink reload -k ndp -n "$a" -i v0 -c 100 "$module"
finish
