# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# A bridge in namespace r between a and b. A test sources this file after lib.sh.
#
#	+-- a --+   +--------- r ---------+   +-- b --+
#	| v0    |===| v2    bridge     v3 |===| v1    |
#	+-------+   +---------------------+   +-------+
# shellcheck disable=SC2317,SC2154 # functions are called through wait_for; setup_ns sets a and b

r=''

# bridge_forwards: true if both ports of the bridge forward
bridge_forwards() { [ "$(bridge -n "$r" link show | grep -c 'state forwarding')" -eq 2 ]; }

# bridge_ab: make the namespaces and the bridge
bridge_ab() {
	setup_ns a b r
	ip -batch - <<-END
		link add v0 address $MAC_A netns $a type veth peer name v2 netns $r
		link add v1 address $MAC_B netns $b type veth peer name v3 netns $r
	END
	ip -n "$a" link set v0 up
	ip -n "$b" link set v1 up
	ip -n "$r" link add br0 type bridge || skip_all "no bridge"
	ip -n "$r" -batch - <<-END
		link set v2 master br0 up
		link set v3 master br0 up
		link set br0 up
		link set v3 type bridge_slave learning off
	END
	wait_for 10 bridge_forwards
}
