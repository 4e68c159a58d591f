/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * frame.h: Ethernet frames for the tests of qdiscs, and their permitted changes
 *
 * Written from the definitions of the protocols, independently of the modules'
 * code, so that both cannot have the same bug. Checksums are always computed from
 * scratch, never updated.
 */
#ifndef _SELFTESTS_FRAME_H
#define _SELFTESTS_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#define FRAME_MAX 65536

enum frame_vlan {
	VLAN_NONE,
	VLAN_IN_BAND,	/* tag in the frame */
	VLAN_QINQ,	/* 802.1ad tag, then 802.1Q tag, both in the frame */
	VLAN_OFFLOADED,	/* tag in the skb's metadata: sent through a VLAN device */
};

enum frame_csum {
	CSUM_FULL,	/* complete and correct */
	CSUM_PARTIAL,	/* completed by the device: virtio_net_hdr, NEEDS_CSUM */
	CSUM_NONE,	/* UDP: 0 */
	CSUM_WRONG,	/* neither 0 nor correct */
};

/* The checksum of a trimmed frame */
enum trim_csum {
	TRIM_NO_CSUM,		/* UDP: 0 */
	TRIM_STALE_CSUM,	/* checksum of the full frame */
	TRIM_PARTIAL_CSUM,	/* was CSUM_PARTIAL before */
};

/* A frame as specified on the command line. Lengths are in bytes on the wire. */
struct frame_spec {
	bool v6;
	uint8_t proto;		/* IPPROTO_UDP, IPPROTO_TCP; 0: not IP */
	unsigned int len;	/* with VLAN tags, without FCS */
	unsigned int count;
	enum frame_vlan vlan;
	enum frame_csum csum;
	int dscp;
	int ecn;		/* -1: varies */
	uint16_t port;		/* destination port */
	uint16_t sport;		/* source port; 0: varies */
	bool flow;		/* headers as in a flow, so that GRO can merge frames */
	unsigned int opt;	/* IPv4 options or IPv6 extension headers */
	unsigned int pad;	/* bytes after the end of the IP packet */
	int tot;		/* total length in the IPv4 header; -1: the correct one */
	bool frag;		/* first fragment of a longer packet */
	bool mcast;
	unsigned int ttl;	/* or hop limit; 0: random, more than 1 */
	unsigned int gso;	/* payload of a segment; 0: no GSO */
	unsigned int lin;	/* linear bytes; 0: all */
	int prio;		/* SO_PRIORITY of the sending socket */
	int pcp;		/* of the outer VLAN tag; -1: 0 (offloaded), 1 (QinQ) or 3 */
};

struct frame {
	uint8_t *b;
	unsigned int len;
	unsigned int l3;	/* offset of the IP header */
	unsigned int l4;	/* offset of the transport header */
	unsigned int check;	/* offset of the transport checksum; 0: no checksum */
	unsigned int end;	/* offset of the IP packet's end */
	bool v6;
	uint8_t proto;
};

const char *frame_parse_spec(const char *text, struct frame_spec *s);
void frame_build(const struct frame_spec *s, unsigned int id, struct frame *f);
void frame_set_payload(const struct frame_spec *s, struct frame *f, const void *b,
		       unsigned int len);
unsigned int frame_segments(const struct frame *f, unsigned int gso);
void frame_segment(const struct frame *f, unsigned int gso, unsigned int i,
		   struct frame *seg);
void frame_trim(const struct frame *f, unsigned int size, int dscp, enum trim_csum csum,
		struct frame *t);
void frame_turn(const struct frame *f, int dscp, struct frame *t);
void frame_mark_ce(const struct frame *f, struct frame *t);
int frame_dscp(const struct frame *f);
uint16_t frame_pseudo_sum(const struct frame *f);
unsigned int frame_tag_len(enum frame_vlan vlan);
unsigned int frame_header_len(const struct frame *f);

#endif
