// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz target: any packet and configuration on the path through sch_ndp
 *
 *	classify by the linear bytes, then by more
 *	data: cut, correct, classify: a trimmed packet with the same headers
 *	trimmed: turn round, classify: a returned packet with the same headers
 *
 * Invariants: the core accesses only the bytes that it may (the buffers end
 * there). Only the documented fields change. After the cut, no length field
 * exceeds the packet unless it did before. The checksum of an IPv4 header is
 * correct if and only if it was before.
 */
#include <assert.h>
#include <string.h>

#include "fuzz_main.h"
#include "ndp_pkt_common.h"

#define FUZZ_NO_L2	0x01	/* the frame starts with its IP header */
#define FUZZ_IPV6	0x02	/* without L2: skb->protocol is IPv6 */
#define FUZZ_TAG	0x04	/* a VLAN tag is offloaded */
#define FUZZ_MATCH	0x30	/* enum tc_ndp_match, modulo their number */

/**
 * struct fuzz_input - layout of an input; shorter inputs are ignored
 * @flags: FUZZ_*
 * @trim_size: less 64, modulo the range
 * @dscp_trimmed: modulo 64
 * @dscp_returned: modulo 64; the next one if it is the same
 * @udp_port: 0 means 1
 * @dscp_mask: as in TCA_NDP_DSCP_MASK
 * @linear: bytes of the frame that are linear
 * @frame: the frame, up to the end of the input
 *
 * Numbers of several bytes are big-endian.
 */
struct fuzz_input {
	u8 flags;
	u8 trim_size[2];
	u8 dscp_trimmed;
	u8 dscp_returned;
	u8 udp_port[2];
	u8 dscp_mask[8];
	u8 linear;
	u8 frame[];
};

/* How often the target saw each kind, a trim, a return, and a packet that is not returnable */
static unsigned long kinds[NDPQ_KIND_RETURNED + 1], trimmed, turned, refused;

/* A packet at a port */
struct at_port {
	struct ndpq_match m;
	u32 l3_off;
	u16 ethertype;
	u32 tag_len;
	const u8 *b;
	u32 len;
	struct ndpq_pkt pkt;
	enum ndpq_kind kind;
};

/* Classify by the first @avail bytes. Return false if they are not enough. */
static bool classify_bytes(struct at_port *p, u32 avail)
{
	u8 *b = exact_copy(p->b, avail);

	p->pkt.l3_off = (u16)p->l3_off;
	p->pkt.tag_len = (u8)p->tag_len;
	p->kind = ndpq_pkt_classify(&p->m, &p->pkt, b, avail, p->len, p->ethertype);
	assert(!memcmp(b, p->b, avail));
	exact_free(b);
	return p->kind != NDPQ_KIND_UNKNOWN;
}

static void same_answer(const struct at_port *a, const struct at_port *b)
{
	assert(a->kind == b->kind);
	if (a->kind == NDPQ_KIND_OTHER)
		return;
	assert(a->pkt.l3_off == b->pkt.l3_off);
	assert(a->pkt.l4_off == b->pkt.l4_off);
	assert(a->pkt.ipv6 == b->pkt.ipv6);
	assert(a->pkt.proto == b->pkt.proto);
}

/* Pull bytes until the core can classify. More bytes must not change the result. */
static void classify(struct at_port *p, u32 linear)
{
	const u32 pulls[] = { linear, linear > 128 ? linear : 128, p->len };
	struct at_port first;
	bool decided = false;
	size_t i;

	for (i = 0; i < 3; i++) {
		bool now = classify_bytes(p, pulls[i] < p->len ? pulls[i] : p->len);

		assert(now || !decided);
		if (now && decided)
			same_answer(&first, p);
		first = *p;
		decided = now;
	}
	if (!decided)
		p->kind = NDPQ_KIND_OTHER;
	kinds[p->kind]++;
	if (p->kind == NDPQ_KIND_OTHER)
		return;
	assert(p->pkt.l3_off >= p->l3_off);
	assert(p->pkt.l4_off >= p->pkt.l3_off + 20);
	assert(p->pkt.l4_off + 8U <= p->len);
	if (p->kind != NDPQ_KIND_DATA)
		assert(p->len + p->tag_len <= p->m.trim_size ||
		       p->len == p->pkt.l4_off + 8U);
}

static u16 header_sum(const u8 *b, const struct ndpq_pkt *pkt)
{
	return sum16(b + pkt->l3_off, pkt->l4_off - pkt->l3_off, 0);
}

/* After a cut, a length field is lowered to the remaining bytes. */
static void check_len(const u8 *was, const u8 *is, u32 covers)
{
	assert(get16(is) == (get16(was) < covers ? get16(was) : covers));
}

/* Up to byte len, only lengths, DSCP and checksum have changed. */
static void only_allowed(const u8 *was, const u8 *is, const struct ndpq_pkt *pkt,
			 u32 len)
{
	u8 *b = exact_copy(is, len);
	u8 *iph = b + pkt->l3_off;
	const u8 *old = was + pkt->l3_off;

	if (pkt->ipv6) {
		iph[0] = (iph[0] & 0xf0) | (old[0] & 0x0f);
		iph[1] = (iph[1] & 0x3f) | (old[1] & 0xc0);
		memcpy(iph + 4, old + 4, 2);
	} else {
		iph[1] = (iph[1] & 0x03) | (old[1] & 0xfc);
		memcpy(iph + 2, old + 2, 2);
		memcpy(iph + 10, old + 10, 2);
	}
	if (pkt->proto == PROTO_UDP)
		memcpy(b + pkt->l4_off + 4, was + pkt->l4_off + 4, 2);
	assert(!memcmp(b, was, len));
	exact_free(b);
}

/* With match udp_port, the UDP checksum is 0 if bytes of the datagram were cut. */
static void check_csum(const struct at_port *p, u8 *is, u32 keep)
{
	const u8 *was = p->b + p->pkt.l4_off;
	u8 *udp = is + p->pkt.l4_off;

	if (p->pkt.proto != PROTO_UDP || p->m.mode != TC_NDP_MATCH_UDP_PORT ||
	    get16(was + 4) <= keep - p->pkt.l4_off)
		return;
	assert(!get16(udp + 6));
	memcpy(udp + 6, was + 6, 2);
}

static void check_trimmed(const struct at_port *p, const u8 *trimmed_head, u32 keep)
{
	const u8 *was = p->b;
	u32 l3 = p->pkt.l3_off, l4 = p->pkt.l4_off;
	u8 *is = exact_copy(trimmed_head, l4 + 8);

	check_csum(p, is, keep);
	only_allowed(was, is, &p->pkt, l4 + 8);
	if (p->pkt.proto == PROTO_UDP)
		check_len(was + l4 + 4, is + l4 + 4, keep - l4);
	if (p->pkt.ipv6) {
		check_len(was + l3 + 4, is + l3 + 4, keep - l3 - 40);
	} else {
		check_len(was + l3 + 2, is + l3 + 2, keep - l3);
		assert(header_sum(was, &p->pkt) % 0xffff == header_sum(is, &p->pkt) % 0xffff);
		assert((header_sum(was, &p->pkt) == 0xffff) ==
		       (header_sum(is, &p->pkt) == 0xffff));
	}
	exact_free(is);
}

static void turn_round(const struct at_port *p)
{
	struct at_port back = *p;
	u32 head_len = p->pkt.l4_off + 8;
	u8 *head, *whole;

	if (!ndpq_pkt_returnable(&p->pkt, p->b)) {
		refused++;
		return;
	}
	head = exact_copy(p->b, head_len);
	ndpq_pkt_turn_round(&back.pkt, head, p->m.dscp_returned);
	whole = exact_copy(p->b, p->len);
	memcpy(whole, head, head_len);
	back.b = whole;
	turned++;
	if (!p->pkt.ipv6)
		assert(header_sum(p->b, &p->pkt) % 0xffff ==
		       header_sum(head, &p->pkt) % 0xffff);

	classify(&back, p->len);
	assert(back.kind == NDPQ_KIND_RETURNED);
	assert(ndpq_pkt_dscp(&back.pkt, whole) == p->m.dscp_returned);
	assert(back.pkt.l4_off == p->pkt.l4_off);
	/* turned again, it is the original except for TTL, and 0 or -0 in the sum */
	ndpq_pkt_turn_round(&back.pkt, head, ndpq_pkt_dscp(&p->pkt, p->b));
	head[p->pkt.l3_off + (p->pkt.ipv6 ? 7 : 8)] += 2;
	only_allowed(p->b, head, &p->pkt, head_len);
	exact_free(whole);
	exact_free(head);
}

static void trim(const struct at_port *p)
{
	u32 keep = ndpq_pkt_keep(&p->m, &p->pkt, p->len);
	u32 head_len = p->pkt.l4_off + 8;
	struct at_port cut = *p;
	enum ndpq_kind cut_kind;
	u8 *head, *whole;
	bool returned;

	/* trimming shortens each data packet */
	assert(keep < p->len && keep >= head_len);
	assert(keep + p->tag_len <= p->m.trim_size || keep == head_len);
	head = exact_copy(p->b, head_len);
	cut_kind = ndpq_pkt_trimmed(&p->m, &cut.pkt, head, keep);
	returned = ndpq_pkt_dscp(&p->pkt, p->b) == p->m.dscp_returned ||
		   (p->m.mode == TC_NDP_MATCH_UDP_PORT &&
		    get16(p->b + p->pkt.l4_off) == p->m.udp_port);
	assert(cut_kind == (returned ? NDPQ_KIND_RETURNED : NDPQ_KIND_TRIMMED));
	check_trimmed(p, head, keep);
	trimmed++;

	whole = exact_copy(p->b, keep);
	memcpy(whole, head, head_len);
	cut.b = whole;
	cut.len = keep;
	classify(&cut, keep);
	assert(cut.kind == cut_kind);
	assert(cut.pkt.l3_off == p->pkt.l3_off);
	assert(cut.pkt.l4_off == p->pkt.l4_off);
	assert(cut.pkt.proto == p->pkt.proto);
	if (p->l3_off && cut.kind == NDPQ_KIND_TRIMMED)
		turn_round(&cut);
	exact_free(whole);
	exact_free(head);
}

static void decode(struct at_port *p, const struct fuzz_input *in, u32 len)
{
	struct ndpq_match *m = &p->m;
	int i;

	*p = (struct at_port) { .b = in->frame, .len = len };
	p->l3_off = in->flags & FUZZ_NO_L2 ? 0 : ETH_HLEN;
	p->ethertype = in->flags & FUZZ_IPV6 ? ETH_P_IPV6 : ETH_P_IP;
	p->tag_len = in->flags & FUZZ_TAG ? CLOSNET_VLAN_HLEN : 0;
	m->mode = (in->flags & FUZZ_MATCH) / 16 % (TC_NDP_MATCH_MAX + 1);
	m->trim_size = 64 + get16(in->trim_size) % (9216 - 64 + 1);
	m->dscp_trimmed = in->dscp_trimmed % 64;
	m->dscp_returned = in->dscp_returned % 64;
	if (m->dscp_returned == m->dscp_trimmed)
		m->dscp_returned = (m->dscp_returned + 1) % 64;
	m->udp_port = get16(in->udp_port) ?: 1;
	for (i = 0; i < 8; i++)
		m->dscp_mask = m->dscp_mask << 8 | in->dscp_mask[i];
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	const struct fuzz_input *in = (const void *)data;
	struct at_port p;

	if (size < sizeof(*in))
		return 0;
	decode(&p, in, (u32)(size - sizeof(*in)));
	classify(&p, in->linear);
	if (p.kind == NDPQ_KIND_DATA)
		trim(&p);
	else if (p.kind == NDPQ_KIND_TRIMMED && p.l3_off)
		turn_round(&p);
	return 0;
}

/* Make a valid frame, at a port that may match it. */
static size_t make_input(u8 *input)
{
	struct fuzz_input *in = (void *)input;
	const struct frame_spec *stack = &stacks[rng_in(&rng, 0, STACKS - 1)];
	struct frame_spec s;
	u32 min_len, i;

	s = spec_of(stack, protos[rng_in(&rng, 0, PROTOS - 1)], 0);
	min_len = s.len;
	s.len = rng_in(&rng, min_len, rng_percent(&rng, 80) ? min_len + 200 : 3000);
	s.dscp = rng_percent(&rng, 30) ? DSCP_TRIMMED : 10;
	frame_build(&frame, &s, &rng);

	in->flags = (u8)(rng_u32(&rng) & (FUZZ_MATCH | FUZZ_TAG));
	if (s.l2 == L2_NONE)
		in->flags |= FUZZ_NO_L2;
	if (s.ipv6)
		in->flags |= FUZZ_IPV6;
	set16(in->trim_size, rng_in(&rng, 0, rng_percent(&rng, 90) ? 192 : 9152));
	in->dscp_trimmed = DSCP_TRIMMED;
	in->dscp_returned = DSCP_RETURNED;
	set16(in->udp_port, PORT);
	for (i = 0; i < sizeof(in->dscp_mask); i++)
		in->dscp_mask[i] = (u8)rng_u32(&rng);
	in->linear = (u8)rng_in(&rng, 0, 255);
	memcpy(in->frame, frame.b, frame.len);
	return sizeof(*in) + frame.len;
}

/* Change some bytes, most of them in headers, or cut off the end. */
static size_t mutate(u8 *input, size_t size)
{
	static const u8 bytes[] = { 0, 1, 0x7f, 0x80, 0xff, 4, 6, 17, 44, 60, 0x45, 0x60 };
	u32 n = rng_in(&rng, 0, 6), near = (u32)size < 100 ? (u32)size : 100;

	while (n--) {
		u32 at = rng_in(&rng, 0, rng_percent(&rng, 90) ? near - 1 : (u32)size - 1);

		if (rng_percent(&rng, 50))
			input[at] = bytes[rng_in(&rng, 0, sizeof(bytes) - 1)];
		else
			input[at] ^= (u8)(1U << rng_in(&rng, 0, 7));
	}
	if (rng_percent(&rng, 10))
		size = rng_in(&rng, 0, (u32)size);
	return size;
}

static bool reached(void)
{
	bool all = true;

	all &= fuzz_show("other, data, control, trimmed, returned", kinds,
			 NDPQ_KIND_RETURNED + 1, 100);
	all &= fuzz_show("trims", &trimmed, 1, 1000);
	all &= fuzz_show("turns", &turned, 1, 1000);
	all &= fuzz_show("refused", &refused, 1, 100);
	return all;
}

const struct fuzz_target fuzz_target = {
	.seed = 48, .rng = &rng, .inputs = 200000, .seeds = 100,
	.input_max = sizeof(struct fuzz_input) + FRAME_MAX,
	.make = make_input, .mutate = mutate, .reached = reached,
};
