// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz target: any sequence of packets on the path through sch_roce
 *
 *	classify by the linear bytes, then by more
 *	packets of queue pairs: learn, and queue, send and notify its limiter
 *	CNPs: verify, and find the flow; build a CNP for the flow and classify that
 *
 * Invariants: the core reads only the bytes that it may (the buffers end there). More
 * bytes never change the kind. A CNP of known ICRC is found valid, and one with another
 * bit is not. A flow that a CNP is found to be about leads from the CNP's destination
 * to its source. Counts of packets agree.
 */
#include <assert.h>
#include <string.h>

#include "../../sch/roce/roce_flows.h"
#include "../../sch/roce/roce_rp.h"
#include "frame.h"
#include "fuzz_main.h"

#define FLOWS		64
#define SLOTS		4
#define RECORDS		40
#define RECORD_FRAME	128

/**
 * struct fuzz_record - a packet; an input is a sequence of records
 * @flags: bit 0: without L2; bit 1: IPv6 without L2; bits 2 and 3: action after it
 * @linear: bytes that are linear
 * @time: microseconds since the previous packet
 * @frame: frame
 */
struct fuzz_record {
	u8 flags;
	u8 linear;
	u8 time;
	u8 frame[RECORD_FRAME];
};

static struct rng rng;
static struct frame frame;
static unsigned long kinds[ROCE_KIND_SHORT + 1], paired, found, valid, sent, notified;

/* State of a run */
static struct {
	struct roce_flows flows;
	struct roce_flow memory[FLOWS];
	struct roce_rp rp;
	struct roce_qp qp[SLOTS + ROCE_LISTS];
	u32 bucket[SLOTS];
	u32 used, queued;
	u64 now_ns;
} world;

static void begin(void)
{
	static const struct dcqcn_limits limits = {
		.min_Bps = 1000000, .max_Bps = 1250000000, .ai_Bps = 1250000, .hai_Bps = 12500000,
	};

	memset(&world, 0, sizeof(world));
	world.now_ns = 1;
	world.flows.seed = 1;
	world.rp.params = (struct dcqcn_params) {
		.alpha_ns = 55000, .timer_ns = 55000, .byte_reset = 10000, .threshold = 5,
		.g_inverse = 256, .initial_alpha = 1000, .cnp_interval_ns = 50000,
		.monitor_ns = 50000,
	};
	world.rp.idle_ns = 1000000;
	dcqcn_params_finish(&world.rp.params);
	roce_rp_init(&world.rp, world.qp, world.bucket, SLOTS, SLOTS);
	roce_rp_set_limits(&world.rp, &limits, 1);
}

/* Classify with a buffer that ends where the core has to stop. */
static enum roce_kind classify(struct roce_pkt *pkt, const u8 *b, u32 avail, u32 len, u8 flags)
{
	u8 *copy = exact_copy(b, avail);
	enum roce_kind kind;

	memset(pkt, 0, sizeof(*pkt));
	pkt->l3_off = flags & 1 ? 0 : ETH_HLEN;
	kind = roce_pkt_parse(pkt, copy, avail, len, flags & 2 ? ETH_P_IPV6 : ETH_P_IP);
	exact_free(copy);
	return kind;
}

static void send_one(void)
{
	u32 slot = roce_rp_pick(&world.rp, world.now_ns);

	if (slot == ROCE_NO_SLOT)
		return;
	assert(world.qp[slot].packets);
	roce_rp_sent(&world.rp, slot, 100, world.now_ns);
	world.queued--;
	sent++;
}

static void queue(const struct roce_key *key)
{
	u32 hash = roce_key_hash(key, 5), slot = roce_rp_find(&world.rp, key, hash);

	if (slot == ROCE_NO_SLOT)
		slot = roce_rp_claim(&world.rp, key, hash, world.now_ns);
	if (slot == ROCE_NO_SLOT)
		return;
	assert(roce_rp_find(&world.rp, key, hash) == slot);
	roce_rp_queued(&world.rp, slot, 100, world.now_ns);
	world.queued++;
}

static void learn(const struct roce_pkt *pkt)
{
	struct roce_flow *f = roce_flows_find(&world.flows, &pkt->key);

	if (!f) {
		f = world.used < FLOWS ? &world.memory[world.used++] :
					 roce_flows_evict(&world.flows);
		assert(f);
		roce_flows_add(&world.flows, f, &pkt->key);
	}
	assert(roce_flows_find(&world.flows, &pkt->key) == f);
	roce_flows_learn(&world.flows, f, pkt, world.now_ns);
	paired += f->peer_qpn != ROCE_QPN_NONE;
	assert(world.flows.count == world.used);
}

/* A CNP for the flow has to be parsed as it was built. */
static void answer(const struct roce_flow *f, const struct roce_pkt *pkt)
{
	struct roce_cnp cnp = { .key = f->key, .sport = f->sport, .dscp = 48, .ipv6 = pkt->ipv6 };
	u8 b[ROCE_CNP_MAX];
	struct roce_pkt back;
	u32 len, at;

	cnp.key.qpn = f->peer_qpn & ROCE_24_BITS;
	len = roce_cnp_build(b, &cnp);
	assert(classify(&back, b, len, len, pkt->ipv6 ? 3 : 1) == ROCE_KIND_CNP || b[16] >= 224 ||
	       (pkt->ipv6 && b[24] == 0xff));
	assert(roce_cnp_valid(b, len));
	at = len - 1 - world.now_ns % 20;	/* in the reserved bytes or the ICRC */
	b[at] ^= 1;
	assert(!roce_cnp_valid(b, len));
}

static void notify(const struct roce_pkt *pkt, const u8 *b, u32 len)
{
	struct roce_flow *f;
	u32 slot;

	valid += roce_cnp_valid(b + pkt->l3_off, len - pkt->l3_off);
	f = roce_flows_notified(&world.flows, &pkt->key, world.now_ns);
	if (!f)
		return;
	found++;
	assert(!memcmp(&f->key.src, &pkt->key.dst, sizeof(f->key.src)));
	assert(!memcmp(&f->key.dst, &pkt->key.src, sizeof(f->key.dst)));
	answer(f, pkt);
	slot = roce_rp_find(&world.rp, &f->key, roce_key_hash(&f->key, 5));
	if (slot != ROCE_NO_SLOT)
		notified += roce_rp_notify(&world.rp, slot, world.now_ns);
}

static void take(const struct fuzz_record *r, u32 len)
{
	u32 linear = r->linear < len ? r->linear : len, held = 0, slot;
	enum roce_kind part, kind;
	struct roce_pkt pkt;

	world.now_ns += r->time * 1000ULL;
	part = classify(&pkt, r->frame, linear, len, r->flags);
	kind = classify(&pkt, r->frame, len, len, r->flags);
	assert(part == kind || part == ROCE_KIND_SHORT);
	kinds[kind]++;
	if (kind == ROCE_KIND_QP) {
		learn(&pkt);
		queue(&pkt.key);
	} else if (kind == ROCE_KIND_CNP) {
		notify(&pkt, r->frame, len);
	}
	if (r->flags & 4)
		send_one();
	if (r->flags & 8)
		send_one();
	for (slot = 0; slot < SLOTS; slot++)
		held += world.qp[slot].packets;
	assert(held == world.queued);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	const size_t head = offsetof(struct fuzz_record, frame);
	size_t at, len;

	begin();
	for (at = 0; at + head < size; at += sizeof(struct fuzz_record)) {
		len = min_t(size_t, size - at - head, RECORD_FRAME);
		take((const struct fuzz_record *)(data + at), (u32)len);
	}
	return 0;
}

/* Make a packet of a few queue pairs of two hosts. */
static void make_frame(struct fuzz_record *r, bool ipv6)
{
	static const u8 opcodes[] = {
		0x0a, 0x0a, 0x0c, 0x0d, 0x11, 0x11, 0x2a, 0x64, 0x81, 0x81,
	};
	u8 opcode = opcodes[rng_in(&rng, 0, sizeof(opcodes) - 1)];
	u32 payload = opcode == 0x81 ? ROCE_CNP_LEN : 44;
	u32 qpn = rng_in(&rng, 1, 3), psn = rng_in(&rng, 0, 3);
	struct frame_spec s = {
		.l2 = L2_ETHER, .ipv6 = ipv6, .proto = PROTO_UDP, .sport = 0xc000,
		.dport = ROCE_UDP_PORT,
	};
	u8 host = (u8)rng_in(&rng, 1, 2), *iph, *bth;

	s.len = frame_min_len(&s) + payload;
	frame_build(&frame, &s, &rng);
	iph = frame.b + frame.l3;
	bth = frame.b + frame.l4 + ROCE_UDP_HLEN;
	memset(iph + (ipv6 ? 8 : 12), 1, ipv6 ? 32 : 8);
	iph[ipv6 ? 23 : 15] = host;
	iph[ipv6 ? 39 : 19] = 3 - host;
	memset(bth, 0, payload);
	bth[0] = opcode;
	closnet_put32(bth + 4, host == 1 ? qpn : qpn + 10);
	closnet_put32(bth + 8, psn);
	if (opcode == 0x64)
		closnet_put32(bth + 16, qpn + 10);
	if (opcode == 0x81) {
		psn = roce_icrc(iph, frame.len - frame.l3 - 4);
		memcpy(frame.b + frame.len - 4, &psn, 4);
	}
	memcpy(r->frame, frame.b, frame.len);
}

static size_t make_input(u8 *input)
{
	struct fuzz_record *r = (void *)input;
	u32 n = rng_in(&rng, 1, RECORDS), i;

	for (i = 0; i < n; i++, r++) {
		memset(r, 0, sizeof(*r));
		make_frame(r, rng_percent(&rng, 10));
		r->flags = (u8)rng_in(&rng, 0, 3) << 2;
		r->linear = (u8)rng_in(&rng, 0, RECORD_FRAME);
		r->time = (u8)rng_in(&rng, 0, 255);
	}
	return n * sizeof(*r);
}

static size_t mutate(u8 *input, size_t size)
{
	u32 n = rng_in(&rng, 0, 8), at;

	while (n--) {
		at = rng_in(&rng, 0, (u32)size - 1);
		input[at] ^= (u8)(1U << rng_in(&rng, 0, 7));
	}
	if (rng_percent(&rng, 10))
		size = rng_in(&rng, 0, (u32)size);
	return size;
}

static bool reached(void)
{
	bool all = true;

	all &= fuzz_show("other, packets of queue pairs, CNPs", kinds, ROCE_KIND_SHORT, 1000);
	all &= fuzz_show("paired", &paired, 1, 1000);
	all &= fuzz_show("CNPs with a flow", &found, 1, 1000);
	all &= fuzz_show("valid CNPs", &valid, 1, 1000);
	all &= fuzz_show("sent", &sent, 1, 1000);
	all &= fuzz_show("cuts", &notified, 1, 1000);
	return all;
}

const struct fuzz_target fuzz_target = {
	.seed = 4791, .rng = &rng, .inputs = 20000, .seeds = 100,
	.input_max = RECORDS * sizeof(struct fuzz_record),
	.make = make_input, .mutate = mutate, .reached = reached,
};
