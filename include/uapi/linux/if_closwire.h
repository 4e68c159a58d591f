/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * closwire: an emulated pair of NICs and the cable between them
 *
 * Attributes of IFLA_INFO_DATA for links of kind "closwire". They describe one
 * port; rate, delay and loss are for the frames that it transmits. Both ports of
 * a new pair get the settings of the first one; IFLA_CLOSWIRE_PEER overrides
 * them for the peer. A value out of range is refused with a message that names
 * the range.
 */
#ifndef _UAPI_LINUX_IF_CLOSWIRE_H
#define _UAPI_LINUX_IF_CLOSWIRE_H

/**
 * enum - attributes of a closwire port
 * @IFLA_CLOSWIRE_UNSPEC: unused
 * @IFLA_CLOSWIRE_PEER: the other port, when a pair is made: struct ifinfomsg,
 *	then IFLA_* attributes; its own settings in IFLA_LINKINFO/IFLA_INFO_DATA
 * @IFLA_CLOSWIRE_RATE: u64, bytes/s on the wire
 * @IFLA_CLOSWIRE_DELAY: u64, ns from a frame's last bit sent to its last bit
 *	received
 * @IFLA_CLOSWIRE_RING: u32, packets that each TX ring holds; a TSO packet is one
 *	until the last of its frames has left
 * @IFLA_CLOSWIRE_LOSS: u32, probability that a frame is lost, in units of
 *	1/4294967295; independent from frame to frame
 * @IFLA_CLOSWIRE_CLOCK_OFFSET: s64, ns: sets the port's PTP clock to the
 *	host's real time plus this
 * @IFLA_CLOSWIRE_CLOCK_DRIFT: s32, ppb by which the clock's oscillator is too
 *	fast
 * @IFLA_CLOSWIRE_PAD: alignment
 */
enum {
	IFLA_CLOSWIRE_UNSPEC,
	IFLA_CLOSWIRE_PEER,
	IFLA_CLOSWIRE_RATE,
	IFLA_CLOSWIRE_DELAY,
	IFLA_CLOSWIRE_RING,
	IFLA_CLOSWIRE_LOSS,
	IFLA_CLOSWIRE_CLOCK_OFFSET,
	IFLA_CLOSWIRE_CLOCK_DRIFT,
	IFLA_CLOSWIRE_PAD,
	/* private: */
	__IFLA_CLOSWIRE_MAX
};

#define IFLA_CLOSWIRE_MAX (__IFLA_CLOSWIRE_MAX - 1)

#endif /* _UAPI_LINUX_IF_CLOSWIRE_H */
