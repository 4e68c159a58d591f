// SPDX-License-Identifier: GPL-2.0-only
/*
 * NDP's sender and receiver talk to each other: net/ndp/ndp_snd.h and ndp_rcv.h with
 * ndp_pull.h, over a network that delays, reorders, trims, loses, doubles and bounces,
 * and every header goes through ndp_wire.h
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "../../net/ndp/ndp_rcv_share.h"
#include "ndp_net.h"
#include "ndp_snd_port.h"

#define ROUNDS		120
#define FLOWS		4U
#define MSGS		16U
#define MSG_PACKETS	150U

/*
 * A sender and its messages, with what its receiver got of them; programs write, and read,
 * now and then
 */
struct pair {
	struct port port;
	struct ndp_rcv_params params;
	struct ndp_rcv rcv;
	struct ndp_rcv_flow rf;
	bool open;
	struct ndp_snd_msg msg[MSGS];
	u64 got[MSGS];
	u32 delivered[MSGS];
	u32 msgs;
	u32 submitted;
	u32 ended;
	u64 submit_ns;
	u64 write_ns;
	u64 read_ns;
	u64 settle_ns;
};

struct world {
	struct pair pair[FLOWS];
	struct ndp_pull pull;
	struct net net;
	struct rng rng;
	u64 now;
	u64 steps;
	u64 cookies;
	u64 no_room;
	u64 writes;
	u64 shared;
};

/* Networks as they are; and a clean one, with receivers that have little memory */
#define FULL	NET_KINDS
#define KINDS	(NET_KINDS + 1)

static u32 flow_id(u32 i)
{
	return 1000 + i;
}

/* To bytes and back: what cannot be written, or read, does not get through. */
static struct ndp_hdr over_the_wire(const struct ndp_hdr *h)
{
	u8 b[NDP_HLEN + NDP_PAYLOAD_MAX] = {};
	struct ndp_hdr read;
	u32 len = NDP_HLEN + h->here;

	ndp_hdr_write(h, (struct ndp_wire *)b);
	if (h->is_short)
		len = NDP_NACK_HLEN;
	assert_int_equal(ndp_hdr_read(b, len, &read), NDP_READ_OK);
	return read;
}

/* ------------------------------------------------ receiver */

/* Who it is from is known by address, here by the flow. */
static struct pair *pair_of(struct world *w, const struct ndp_hdr *h)
{
	assert_in_range(h->flow_id, flow_id(0), flow_id(FLOWS - 1));
	return &w->pair[h->flow_id - flow_id(0)];
}

static void send_answer(struct world *w, struct ndp_hdr *answer)
{
	answer->here = 0;
	*answer = over_the_wire(answer);
	net_answer(&w->net, w->now, answer);
}

static bool admit(struct world *w, struct pair *p, const struct ndp_hdr *h)
{
	static const u64 cookies[2] = { 1, 2 };
	struct ndp_hdr answer;

	switch (ndp_rcv_admit(&p->params, h, 0, 0, cookies)) {
	case NDP_ADMIT_OPEN:
		ndp_rcv_open(&p->rf, h, rng_u32(&w->rng), w->now);
		p->open = true;
		return true;
	case NDP_ADMIT_COOKIE:
		ndp_answer(h, NDP_COOKIE, &answer);
		answer.cookie = cookies[0];
		send_answer(w, &answer);
		w->cookies++;
		return false;
	case NDP_ADMIT_BARE:
		ndp_answer(h, NDP_CONTROL, &answer);
		answer.flags = NDP_CTL_NACK | NDP_CTL_BARE;
		answer.sport = 0;
		answer.dport = 0;
		send_answer(w, &answer);
		return false;
	default:
		fail();
		return false;
	}
}

static u32 msg_index(const struct pair *p, u32 id)
{
	u32 i;

	for (i = 0; i < p->submitted; i++)
		if (p->msg[i].sent && p->msg[i].id == id)
			return i;
	fail();
	return 0;
}

static void take_part(struct world *w, struct pair *p, const struct ndp_hdr *h,
		      enum ndp_rcv_verdict v)
{
	u32 i = msg_index(p, h->data.msg_id);

	p->got[i] += h->payload_len;
	assert_int_equal(p->delivered[i], 0);
	assert_int_equal(v == NDP_RCV_WHOLE, p->got[i] == p->msg[i].len);
	if (v != NDP_RCV_WHOLE)
		return;
	p->delivered[i]++;
	if (p->read_ns == U64_MAX)
		p->read_ns = w->now + rng_in(&w->rng, 1, 200000);
}

static void receive(struct world *w, const struct ndp_hdr *h)
{
	struct ndp_rcv_msg *spare = calloc(1, sizeof(*spare)), *m = spare;
	struct pair *p = pair_of(w, h);
	enum ndp_rcv_verdict v;
	struct ndp_hdr answer;
	bool pull;

	if (!p->open && !admit(w, p, h)) {
		free(spare);
		return;
	}
	v = ndp_rcv_packet(&p->rcv, &p->rf, h, h->payload_len, w->now, &m);
	/* an honest sender: nothing of it is refused */
	assert_true(v <= NDP_RCV_NO_ROOM);
	w->no_room += v == NDP_RCV_NO_ROOM;
	if (v != NDP_RCV_PART || m != spare)
		free(spare);
	if (v == NDP_RCV_WHOLE)
		free(m);
	if (v == NDP_RCV_PART || v == NDP_RCV_WHOLE)
		take_part(w, p, h, v);
	pull = ndp_rcv_wish(&w->pull, &p->rf, h, v, ndp_rcv_yields(&p->rcv, &p->rf, h, v, w->now),
			    w->now);
	if (ndp_rcv_reply(&p->rcv, &p->rf, h, v, pull, v == NDP_RCV_TRIMMED, &answer))
		send_answer(w, &answer);
	if (p->rf.owed.count && p->settle_ns == U64_MAX)
		p->settle_ns = w->now + rng_in(&w->rng, 0, 5000);
}

/* The receiver's host has nothing more to do. */
static void settle(struct world *w, struct pair *p)
{
	struct ndp_hdr answer;

	p->settle_ns = U64_MAX;
	w->shared += p->rf.owed.count > 1;
	if (!ndp_rcv_settle(&p->rcv, &p->rf, &answer))
		return;
	answer.flow_id = flow_id((u32)(p - w->pair));
	send_answer(w, &answer);
}

static void pull_next(struct world *w)
{
	struct ndp_pull_node *n = ndp_pull_next(&w->pull, w->now);
	struct ndp_hdr answer = { .type = NDP_CONTROL };
	u32 i = 0;

	assert_non_null(n);
	while (&w->pair[i].rf.pull != n)
		i++;
	if (!ndp_rcv_settle(&w->pair[i].rcv, &w->pair[i].rf, &answer))
		ndp_rcv_control(&w->pair[i].rcv, &w->pair[i].rf, &answer);
	answer.flow_id = flow_id(i);
	answer.flags |= NDP_CTL_PULL;
	send_answer(w, &answer);
}

/* ------------------------------------------------ sender */

static void send_all(struct world *w, struct pair *p)
{
	struct ndp_hdr h;

	p->port.now = w->now;
	while (port_send(&p->port, (u8)rng_u32(&w->rng), &h) != NDP_SND_WAIT) {
		w->steps++;
		h.here = h.payload_len;
		net_forward(&w->net, w->now, over_the_wire(&h));
	}
}

static void reap(struct pair *p)
{
	struct ndp_snd_msg *m;

	while ((m = ndp_snd_reap(&p->port.f))) {
		if (!m->ended)
			continue;
		assert_int_equal(m->error, 0);
		assert_int_equal(p->delivered[m - p->msg], 1);
		p->ended++;
	}
}

/* Some messages are written bit by bit. */
static void submit(struct world *w, struct pair *p)
{
	struct ndp_snd_msg *m = &p->msg[p->submitted++];
	struct ndp_snd_call c = port_call(&p->port);

	*m = (struct ndp_snd_msg) { .payload = PORT_PAYLOAD };
	m->len = rng_log(&w->rng, 1, MSG_PACKETS * PORT_PAYLOAD);
	m->prio = (u8)rng_in(&w->rng, 0, NDP_PRIOS - 1);
	m->ready = rng_percent(&w->rng, 70) ? m->len : 0;
	assert_true(ndp_snd_submit(&c, &p->port.f, m));
	if (m->ready < m->len && p->write_ns == U64_MAX)
		p->write_ns = w->now + rng_in(&w->rng, 1, 50000);
	if (p->submitted == p->msgs)
		p->submit_ns = U64_MAX;
	else
		p->submit_ns += rng_log(&w->rng, 1, 2 * MS);
}

static void deliver(struct world *w)
{
	struct net_packet packet = net_take(&w->net);
	struct pair *p = pair_of(w, &packet.h);
	struct ndp_snd_call c;

	w->now = packet.at_ns;
	p->port.now = w->now;
	c = port_call(&p->port);
	if (packet.where == NET_RETURNED) {
		ndp_snd_returned(&c, &p->port.f, &packet.h);
	} else if (packet.h.type == NDP_COOKIE) {
		ndp_snd_cookie(&c, &p->port.f, &packet.h);
	} else if (packet.where == NET_TO_SENDER) {
		assert_int_not_equal(ndp_snd_control(&c, &p->port.f, &packet.h),
				     NDP_SND_REFUSED);
	} else {
		packet.h = over_the_wire(&packet.h);
		receive(w, &packet.h);
	}
	reap(p);
	send_all(w, p);
}

/* All messages that are not wholly written get longer. */
static void write_more(struct world *w, struct pair *p)
{
	struct ndp_snd_call c = port_call(&p->port);
	struct ndp_snd_msg *m;
	u64 more;

	p->write_ns = U64_MAX;
	for (m = p->msg; m < p->msg + p->submitted; m++) {
		if (m->ready == m->len)
			continue;
		more = rng_in(&w->rng, 1, 20000);
		more = min_t(u64, more, m->len - m->ready);
		assert_true(ndp_snd_more(&c, &p->port.f, m, m->ready + more));
		w->writes++;
		if (m->ready < m->len)
			p->write_ns = w->now + rng_in(&w->rng, 1, 50000);
	}
}

static void read_all(struct world *w, struct pair *p)
{
	p->read_ns = U64_MAX;
	ndp_rcv_release(&p->rcv, p->rcv.unread);
	ndp_pull_hold(&w->pull, &p->rf.pull, false, w->now);
}

/* The programs' and the receiver's own, or the timer expires; when that is */
static u64 own_ns(const struct pair *p)
{
	u64 program_ns = min_t(u64, p->submit_ns, min_t(u64, p->write_ns, p->read_ns));

	return min_t(u64, program_ns,
		     min_t(u64, p->settle_ns, ndp_snd_due_ns(&p->port.f, &p->port.p)));
}

static void own(struct world *w, struct pair *p)
{
	u8 path;

	p->port.now = w->now;
	if (p->submit_ns <= w->now)
		submit(w, p);
	else if (p->write_ns <= w->now)
		write_more(w, p);
	else if (p->read_ns <= w->now)
		read_all(w, p);
	else if (p->settle_ns <= w->now)
		settle(w, p);
	else
		assert_true(port_expire(&p->port, &path) >= 0);
	reap(p);
	send_all(w, p);
}

static bool step(struct world *w)
{
	const struct net_packet *next = net_next(&w->net);
	u64 net_ns = next ? next->at_ns : U64_MAX;
	u64 pull_ns = ndp_pull_next_ns(&w->pull), at;
	struct pair *first = &w->pair[0], *p;

	for (p = w->pair; p < w->pair + FLOWS; p++)
		if (own_ns(p) < own_ns(first))
			first = p;
	at = min_t(u64, min_t(u64, net_ns, pull_ns), own_ns(first));
	if (at == U64_MAX)
		return false;
	w->now = max_t(u64, w->now, at);
	if (at == net_ns)
		deliver(w);
	else if (at == pull_ns)
		pull_next(w);
	else
		own(w, first);
	return true;
}

/* ------------------------------------------------ rounds */

static void open_pair(struct world *w, u32 i, bool full)
{
	struct pair *p = &w->pair[i];
	u32 ring = 64U << rng_in(&w->rng, 0, 4);
	enum ndp_policy policy = (enum ndp_policy)rng_in(&w->rng, 0, 2);

	port_open(&p->port, ring, (u16)rng_in(&w->rng, 1, 32), policy);
	p->port.f.flow_id = flow_id(i);
	p->port.p.max_tries = 200;
	p->port.p.timeout_ns = 100000 * MS;
	p->port.p.rto_max_ns = 8 * MS;
	p->msgs = rng_in(&w->rng, 1, MSGS);
	w->now = p->port.now;
	p->submit_ns = w->now + rng_in(&w->rng, 0, 1000000);
	p->write_ns = U64_MAX;
	p->read_ns = U64_MAX;
	p->settle_ns = U64_MAX;
	p->params = (struct ndp_rcv_params) {
		.memory_max = full ? MSG_PACKETS * PORT_PAYLOAD : 1ULL << 40,
		.time_wait_ns = 10000000000ULL, .msgs_max = full ? 4 : 1000,
		.flows_max = FLOWS, .peer_flows_max = FLOWS, .window = 1024,
		.cookie_flows = rng_percent(&w->rng, 20) ? 0 : FLOWS,
	};
	p->rcv.p = &p->params;
}

static void open_world(struct world *w, u32 seed)
{
	struct ndp_pull_params pull = {
		.rate_Bps = 1250000000, .late_ns = 1000, .ahead = 1024,
		.policy = NDP_PULL_FAIR,
	};
	u32 i;

	memset(w, 0, sizeof(*w));
	rng_seed(&w->rng, seed);
	if (rng_percent(&w->rng, 30))
		pull.policy = NDP_PULL_STRICT;
	w->net.rng = &w->rng;
	if (seed % KINDS == FULL)
		w->net.p = net_random(&w->rng, NET_CLEAN);
	else
		w->net.p = net_random(&w->rng, seed % KINDS);
	for (i = 0; i < FLOWS; i++)
		open_pair(w, i, seed % KINDS == FULL);
	ndp_pull_init(&w->pull, &pull, w->now);
}

static void check_end(const struct pair *p)
{
	u32 i;

	assert_int_equal(p->ended, p->msgs);
	for (i = 0; i < p->msgs; i++)
		assert_int_equal(p->delivered[i], 1);
	assert_false(ndp_snd_busy(&p->port.f));
	assert_true(p->port.stats.acked_packets == p->port.stats.new_packets);
	assert_int_equal(p->rcv.partial + p->rcv.unread + p->rcv.msgs, 0);
	assert_int_equal(ndp_pull_wanted(&p->rf.pull), 0);
}

static void one_round(struct world *w, u32 seed, struct ndp_snd_stats *sum)
{
	u32 i;

	open_world(w, seed);
	while (step(w))
		assert_true(++w->steps < 1000000);
	assert_int_equal(w->pull.queued, 0);
	for (i = 0; i < FLOWS; i++) {
		check_end(&w->pair[i]);
		port_add_stats(sum, &w->pair[i].port.stats);
		port_close(&w->pair[i].port);
	}
}

/*
 * All messages arrive, whole and once; and without losses, and with room for what comes,
 * no packet times out. PROBEs there may be: of two priorities, the lower may wait for its
 * pulls for long.
 */
static void test_together(void **state)
{
	u64 cookies = 0, no_room = 0, writes = 0, shared = 0;
	static struct ndp_snd_stats sum[KINDS];
	static struct world w;
	u32 round;

	(void)state;
	for (round = 0; round < ROUNDS; round++) {
		one_round(&w, round, &sum[round % KINDS]);
		assert_true(!w.no_room || round % KINDS == FULL);
		cookies += w.cookies;
		no_room += w.no_room;
		writes += w.writes;
		shared += w.shared;
	}
	/* what a cookie was asked of is sent again, and nothing else */
	assert_true(sum[NET_CLEAN].rtx_packets == sum[NET_CLEAN].cookies);
	assert_true(sum[NET_CLEAN].timeouts == 0);
	assert_true(sum[NET_TRIMS].nacked_packets > 1000);
	assert_true(sum[NET_TRIMS].rtx_packets ==
		    sum[NET_TRIMS].nacked_packets + sum[NET_TRIMS].cookies);
	assert_true(sum[NET_TRIMS].timeouts == 0);
	assert_true(sum[NET_BOUNCES].bounced_packets > 1000);
	assert_true(sum[NET_BOUNCES].timeouts == 0);
	assert_true(sum[NET_LOSSES].timeouts > 1000);
	assert_true(sum[NET_ALL].answers_stale > 100);
	assert_true(cookies > 100);
	assert_true(no_room > 100);
	assert_true(writes > 1000);
	assert_true(shared > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
