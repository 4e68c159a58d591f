/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRAFFIC_IDEAL_H
#define _TRAFFIC_IDEAL_H

#include "topology.h"

/* IP, TCP and TCP's time stamps, which Linux sends by default */
#define HEADERS_IPV4 (20 + 20 + 12)
#define HEADERS_IPV6 (40 + 20 + 12)

/**
 * wire_bytes() - what a packet is on an Ethernet wire
 * @packet: bytes from the IP header on
 *
 * Return: with Ethernet's header, padding, FCS and preamble; a gap of 12 bytes
 * is between two frames
 */
unsigned int wire_bytes(unsigned int packet);

/**
 * ideal_fct_ns() - how long data takes on a path that has nothing else to do
 * @path: the links; each sends a frame on when it has it whole
 * @mtu: of all links: the greatest packet, from the IP header on
 * @headers: bytes of each packet that are not data
 * @bytes: of data, at least 1; all is at the first link at once
 *
 * No connection is opened in this time and nothing acknowledged: it is the same
 * for all transports.
 *
 * Return: time from the first bit of the first frame to the last of the last
 */
int64_t ideal_fct_ns(const struct path *path, unsigned int mtu, unsigned int headers,
		     uint64_t bytes);

#endif /* _TRAFFIC_IDEAL_H */
