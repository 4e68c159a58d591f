// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz target for act_lb's cores: adverts that a stranger may send, and packets in any order
 *
 * An input is a sequence of records: what happens, after which time, and bytes for it.
 *
 *	RECEIVE		bytes of an advert arrive at a port: one that is valid must be the same when
 *			it is written again, and the store has its quality, or a newer one
 *	ADVERTISE	packets or the timer find a quality of some prefixes: the adverts of a
 *			teller and of a prefix are limited, and an advert is repeated in time
 *	PACKET		a packet of a flow meets a bucket of the table
 *	CHOOSE		a member of a group is chosen: one that is up
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "../../sch/act_lb/lb_flow.h"
#include "../../sch/act_lb/lb_remote.h"
#include "../../sch/act_lb/lb_select.h"
#include "fuzz_main.h"

#define RECORDS		200
#define MSG_MAX		(LB_MSG_LEN + 4)
#define BUCKETS		2
#define PREFIXES	64
#define START_NS	NSEC_PER_SEC

enum kind {
	RECEIVE,
	ADVERTISE,
	PACKET,
	CHOOSE,
	KINDS,
};

/**
 * struct record - what happens
 * @kind: modulo KINDS, enum kind
 * @len: length of the advert; first prefix; bucket; policy
 * @time: time since the record before, us
 * @bytes: the advert; quality and number of prefixes; hash of the flow; members
 */
struct record {
	u8 kind;
	u8 len;
	u8 time[2];
	u8 bytes[MSG_MAX];
};

/* coverage */
static unsigned long refused, results[LB_RECEIVED_FULL + 1], sent, repeated, delayed;
static unsigned long states[LB_FLOW_FULL + 1], chosen[LB_DRILL + 1], none;

/* State of a run */
static struct {
	struct lb_remote store[BUCKETS][LB_REMOTE_WAYS];
	struct lb_advert advert[PREFIXES];
	struct lb_budget budget;
	u64 told;
	struct lb_flow flows[BUCKETS][LB_WAYS];
	struct lb_memory memory;
	struct lb_load load[LB_MEMBERS_MAX];
	u64 now_ns;
} world;

static u64 get64(const u8 *bytes)
{
	u64 value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

/* ---- adverts from neighbours ---- */

static void store(const struct lb_msg *m, u8 port)
{
	u64 tag = (get64(m->prefix) + m->prefix_len + m->ipv6) << 3 | port % 8 << 1 | 1;
	struct lb_remote *bucket = world.store[tag / 2 % BUCKETS];
	u8 before = lb_remote_quality(bucket, tag, world.now_ns), after;
	enum lb_received r;

	r = lb_remote_set(bucket, tag, m->stamp, m->quality, world.now_ns);
	results[r]++;
	after = lb_remote_quality(bucket, tag, world.now_ns);
	assert(after == (r == LB_RECEIVED ? m->quality : before));
	assert(r != LB_RECEIVED_FULL || before == LB_BEST);
	assert(lb_remote_quality(bucket, tag, world.now_ns + LB_AGE_NS + 1) == LB_BEST);
}

static void receive(const struct record *r)
{
	u32 len = r->len % (MSG_MAX + 1);
	u8 *msg = malloc(len + 1), again[LB_MSG_LEN];
	struct lb_msg m;

	/* the message ends where its memory ends */
	assert(msg);
	memcpy(msg + 1, r->bytes, len);
	if (lb_msg_read(&m, msg + 1, len)) {
		assert(len >= LB_MSG_LEN && m.quality <= LB_BEST);
		assert(m.prefix_len <= (m.ipv6 ? 128 : 32));
		lb_msg_write(again, &m);
		assert(!memcmp(again, r->bytes, LB_MSG_AUTH));
		store(&m, r->len / (MSG_MAX + 1));
	} else {
		refused++;
	}
	free(msg);
}

/* ---- adverts to neighbours ---- */

static void tell_one(struct lb_advert *t, u8 quality, u32 interval_ns)
{
	struct lb_advert before = *t;
	u64 elapsed_ns = world.now_ns - before.sent_ns;

	t->used_ns = world.now_ns;
	assert(!lb_advert_is_idle(t, world.now_ns));
	if (!lb_advert_is_due(t, quality, interval_ns, world.now_ns)) {
		assert(elapsed_ns < LB_REFRESH_MAX_NS);
		assert(elapsed_ns < interval_ns || elapsed_ns < LB_CHANGE_NS ||
		       quality == t->quality);
		return;
	}
	if (!lb_advert_send(t, &world.budget, quality, world.now_ns)) {
		assert(t->delayed && t->sent_ns == before.sent_ns);
		delayed++;
		return;
	}
	assert(!t->delayed && t->sent_ns == world.now_ns && t->quality == quality);
	assert(t->refresh_ns >= LB_REFRESH_NS && t->refresh_ns <= LB_REFRESH_MAX_NS);
	assert(!before.sent_ns || elapsed_ns >= LB_CHANGE_NS);
	repeated += before.sent_ns && quality == before.quality;
	sent++;
	world.told++;
	assert(world.told <= LB_TELL_BURST + (world.now_ns - START_NS) / LB_TELL_NS + 1);
}

static void tell(const struct record *r)
{
	u32 i;

	for (i = 0; i <= r->bytes[2] % PREFIXES; i++)
		tell_one(&world.advert[(r->len + i) % PREFIXES], r->bytes[0] % LB_BANDS,
			 1000 + r->bytes[1] % 32 * 1000);
}

/* ---- packets ---- */

static void packet(const struct record *r)
{
	struct lb_flow *bucket = world.flows[r->len % BUCKETS], *flow;
	/* few flows, so that they meet again */
	u64 hash = (u64)(r->bytes[0] % 8) << 33 | r->bytes[1];
	enum lb_flow_state state;

	state = lb_flow_find(bucket, hash, world.now_ns, r->bytes[2] * 10000ULL, &flow);
	states[state]++;
	if (state == LB_FLOW_FULL)
		assert(!flow);
	else
		assert(flow >= bucket && flow < bucket + LB_WAYS);
	if (flow)
		flow->member = r->bytes[3];
}

static void choose(const struct record *r)
{
	const struct lb_weights w = {
		.interval_ns = 1000, .band_ns = LB_BAND_NS_MIN + r->bytes[1], .charge = true,
		.queue_weight = r->bytes[2] % 101, .util_weight = 1 + r->bytes[3] % 100,
		.util_low = LB_UTIL_ONE / 256 * r->bytes[4], .util_high = LB_UTIL_ONE,
	};
	struct lb_select_params p = {
		.policy = r->len % (LB_DRILL + 1), .choices = 1 + r->bytes[5] % LB_CHOICES_MAX,
		.memory = r->bytes[6] % (LB_MEMORY_MAX + 1),
	};
	u32 number = get64(r->bytes + 8), up = get64(r->bytes + 16), i;
	struct lb_group group = { .up = up, .even = r->bytes[7] % 2 };
	int member;

	lb_grading_init(&p.grading, &w);
	for (i = 0; i < LB_MEMBERS_MAX; i++) {
		group.members[i] = (struct lb_member) {
			.load = &world.load[i], .weight = 1 + r->bytes[i % MSG_MAX] * 257,
			.remote = r->bytes[MSG_MAX - 1 - i] % LB_BANDS,
		};
		if (up >> i & 1)
			lb_grade(&group.grades, 1ULL << i, &world.load[i], &p.grading,
				 group.members[i].remote);
	}
	lb_drill_sample(&p, &group, &world.memory, number);
	member = lb_select(&p, p.policy, &group, &world.memory, number, (int)(number % 33) - 1);
	if (!up) {
		assert(member == LB_NO_MEMBER);
		none++;
		return;
	}
	assert(member >= 0 && member < LB_MEMBERS_MAX && up >> member & 1);
	chosen[p.policy]++;
	lb_load_charge(&world.load[member], 1500);
	if (lb_load_is_due(&world.load[member], &p.grading, world.now_ns))
		lb_load_sample(&world.load[member], &p.grading, world.now_ns, number, number >> 8);
	assert(lb_load_quality(&world.load[member], &p.grading) <= LB_BEST);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static void (*const happen[KINDS])(const struct record *r) = {
		receive, tell, packet, choose,
	};
	struct record r;
	u32 i;

	memset(&world, 0, sizeof(world));
	world.now_ns = START_NS;
	for (i = 0; i < LB_MEMBERS_MAX; i++) {
		lb_load_init(&world.load[i]);
		lb_load_set_rate(&world.load[i], 125000000);
	}
	for (i = 0; i < RECORDS && size >= sizeof(r); i++) {
		memcpy(&r, data, sizeof(r));
		data += sizeof(r);
		size -= sizeof(r);
		world.now_ns += (r.time[0] | r.time[1] << 8) * 1000ULL;
		happen[r.kind % KINDS](&r);
	}
	return 0;
}

/* ---- own inputs ---- */

static struct rng rng;

static void make_advert(struct record *r, u32 number)
{
	struct lb_msg m = { .prefix_len = 24, .prefix = { 10 } };

	m.ipv6 = rng_percent(&rng, 50);
	m.quality = rng_in(&rng, 0, LB_BEST);
	m.stamp = number + rng_in(&rng, 0, 3);
	m.prefix[2] = rng_in(&rng, 0, 5);
	lb_msg_write(r->bytes, &m);
	r->len = LB_MSG_LEN + rng_in(&rng, 0, 4);
	r->len += (MSG_MAX + 1) * rng_in(&rng, 0, 1);
}

static size_t make(u8 *input)
{
	u32 records = rng_in(&rng, 1, RECORDS), i, j, us;
	struct record r;

	for (i = 0; i < records; i++) {
		r.kind = rng_in(&rng, 0, KINDS - 1);
		r.len = rng_u32(&rng);
		us = rng_percent(&rng, 99) ? 20 : 20000;
		us = rng_u32(&rng) % us;
		r.time[0] = us;
		r.time[1] = us >> 8;
		for (j = 0; j < MSG_MAX; j++)
			r.bytes[j] = rng_u32(&rng);
		if (r.kind == RECEIVE)
			make_advert(&r, i);
		if (r.kind == CHOOSE && rng_percent(&rng, 5))
			memset(r.bytes + 16, 0, 8);
		memcpy(input + i * sizeof(r), &r, sizeof(r));
	}
	return records * sizeof(r);
}

static size_t mutate(u8 *input, size_t size)
{
	return fuzz_mutate_bytes(&rng, input, size);
}

static bool reached(void)
{
	bool all = fuzz_show("refused", &refused, 1, 100);

	all = fuzz_show("stored, old, full", results, LB_RECEIVED_FULL + 1, 100) && all;
	all = fuzz_show("sent", &sent, 1, 1000) && all;
	all = fuzz_show("repeated", &repeated, 1, 100) && all;
	all = fuzz_show("delayed", &delayed, 1, 100) && all;
	all = fuzz_show("flows", states, LB_FLOW_FULL + 1, 100) && all;
	all = fuzz_show("chosen", chosen, LB_DRILL + 1, 1000) && all;
	return fuzz_show("none", &none, 1, 100) && all;
}

const struct fuzz_target fuzz_target = {
	.seed = 1, .rng = &rng, .inputs = 5000, .seeds = 50,
	.input_max = RECORDS * sizeof(struct record),
	.make = make, .mutate = mutate, .reached = reached,
};
