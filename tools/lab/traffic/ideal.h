/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRAFFIC_IDEAL_H
#define _TRAFFIC_IDEAL_H

#include "topology.h"

/* IP, TCP and TCP's timestamp option, Linux's default */
#define HEADERS_IPV4 (20 + 20 + 12)
#define HEADERS_IPV6 (40 + 20 + 12)

/**
 * wire_bytes() - length of a packet's frame on the wire
 * @packet: bytes, IP header included
 *
 * Return: bytes with Ethernet header, padding, FCS and preamble, without the
 * gap of 12 bytes between frames
 */
unsigned int wire_bytes(unsigned int packet);

/**
 * ideal_fct_ns() - completion time of a flow on an idle path
 * @path: the links; nodes store and forward
 * @mtu: MTU of the links, in bytes
 * @headers: bytes of headers per packet, IP included
 * @bytes: bytes of data, at least 1, available at once
 *
 * The time includes neither handshake nor acknowledgements, so it is comparable
 * between transports.
 *
 * Return: ns from the first bit of the first frame to the last bit of the last
 */
int64_t ideal_fct_ns(const struct path *path, unsigned int mtu, unsigned int headers,
		     uint64_t bytes);

/* Return: path MTU of RoCEv2 on links of an MTU: bytes of data of the longest packet */
unsigned int roce_payload(unsigned int mtu);

#endif /* _TRAFFIC_IDEAL_H */
