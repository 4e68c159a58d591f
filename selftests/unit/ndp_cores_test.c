// SPDX-License-Identifier: GPL-2.0-only
/*
 * Several senders (net/ndp/snd.h) and one receiving socket (rcv.h, pull.h, rmem.h) exchange
 * messages over a network that delays, reorders, trims, loses, duplicates and returns packets. The
 * socket may have little memory. Each header passes wire.h. All messages arrive whole and once, in
 * order if the socket delivers in order.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "../../net/ndp/rcv.h"
#include "ndp_net.h"
#include "ndp_snd_port.h"

#define ROUNDS		400
#define FLOWS		4U
#define MSGS		16U
#define MSG_PACKETS	150U
#define EXTRA		500U	/* memory of a packet without payload */
#define TOKEN		7U

/* A received message; it is in the list @ready of the world when it is whole */
struct message {
	struct ndp_rcv_msg core;
	struct message *next;
	u32 pair;
};

/* A sender and its receiving flow */
struct pair {
	struct port port;
	struct ndp_rcv_flow rf;
	bool open;
	struct ndp_snd_msg msg[MSGS];
	u64 received[MSGS];
	u32 delivered[MSGS];
	u32 last_read;
	u32 msgs;
	u32 submitted;
	u32 ended;
	bool single;	/* messages of one packet */
	u64 submit_ns;
	u64 write_ns;
	u64 settle_ns;
	u64 asked_ns;
	u64 promised_ns;
	u64 waits;	/* place in the queue of flows that wait, or 0 */
};

struct world {
	struct pair pair[FLOWS];
	struct ndp_rcv rcv;
	struct ndp_pull pull;
	struct net net;
	struct rng rng;
	struct message *ready, **ready_end;
	u64 now;
	u64 steps;
	u64 read_ns;
	u64 idle_ns;	/* the reader does not read before */
	u64 tick_ns;
	u64 charged;
	u32 scarce;	/* % */
	u64 queue;
	u64 cookies;
	u64 refused;
	u64 full;
	u64 windows;
	u64 writes;
	u64 shared;
	bool small;
	bool cookie;
};

static struct world w;

/* Total memory. In some worlds it is short, and only packets with NDP_RMEM_MUST are sure of it. */
static u32 charge(struct ndp_rmem *r, u32 least, u32 most, enum ndp_rmem_share share)
{
	(void)r;
	(void)least;
	if (share != NDP_RMEM_MUST && rng_percent(&w.rng, w.scarce))
		return 0;
	w.charged += most;
	return most;
}

static void uncharge(struct ndp_rmem *r, u32 bytes)
{
	(void)r;
	assert_true(bytes <= w.charged);
	w.charged -= bytes;
}

/* Memory of a part without its payload: allocators give packets of one length different memory. */
static u32 extra(u64 offset)
{
	return EXTRA - 200 + (u32)(offset / PORT_PAYLOAD * 137 % 400);
}

static u32 flow_id(u32 i)
{
	return 1000 + i;
}

/* To bytes and back; the payload does not matter. */
static struct ndp_hdr over_the_wire(const struct ndp_hdr *h)
{
	static u8 b[NDP_HLEN + NDP_PAYLOAD_MAX];
	u32 len = h->is_short ? NDP_NACK_HLEN : NDP_HLEN + h->here;
	struct ndp_hdr read;

	ndp_hdr_write(h, b);
	assert_int_equal(ndp_hdr_read(b, len, &read), NDP_READ_OK);
	return read;
}

static struct pair *pair_of(const struct ndp_hdr *h)
{
	assert_in_range(h->flow_id, flow_id(0), flow_id(FLOWS - 1));
	return &w.pair[h->flow_id - flow_id(0)];
}

/* ---- receiver */

static void send_answer(struct ndp_hdr *answer)
{
	answer->here = 0;
	*answer = over_the_wire(answer);
	net_answer(&w.net, w.now, answer);
}

/* A CONTROL that answers no packet */
static void say(struct pair *p, u8 flags)
{
	struct ndp_hdr h = { .type = NDP_CONTROL };

	if (!ndp_rcv_settle(&w.rcv, &p->rf, &h))
		ndp_rcv_control(&w.rcv, &p->rf, &h);
	h.flow_id = flow_id((u32)(p - w.pair));
	h.flags |= flags;
	send_answer(&h);
}

static bool admit(struct pair *p, const struct ndp_hdr *h)
{
	const struct ndp_rcv_limits limits = {
		.flows_max = FLOWS, .peer_flows_max = FLOWS, .cookie_flows = w.cookie ? 0 : FLOWS,
	};
	static const u32 token[2] = { TOKEN, TOKEN + 1 };
	struct ndp_hdr answer;

	switch (ndp_rcv_admit(&limits, h, 0, 0, token)) {
	case NDP_ADMIT_OPEN:
		ndp_rcv_open(&p->rf, h, rng_u32(&w.rng), w.now);
		p->rf.token = TOKEN;
		p->open = true;
		return true;
	case NDP_ADMIT_COOKIE:
		ndp_answer(h, NDP_COOKIE, &answer);
		answer.token = TOKEN;
		w.cookies++;
		break;
	case NDP_ADMIT_BARE:
		ndp_answer(h, NDP_CONTROL, &answer);
		answer.flags = NDP_CTL_NACK | NDP_CTL_BARE;
		answer.sport = 0;
		answer.dport = 0;
		break;
	default:
		fail();
	}
	send_answer(&answer);
	return false;
}

static u32 msg_index(const struct pair *p, u32 id)
{
	u32 i;

	for (i = 0; i < p->submitted; i++)
		if (!list_empty(&p->msg[i].begun) && p->msg[i].id == id)
			return i;
	fail();
	return 0;
}

static struct pair *first_waiting(void)
{
	struct pair *p, *first = NULL;

	for (p = w.pair; p < w.pair + FLOWS; p++)
		if (p->waits && (!first || p->waits < first->waits))
			first = p;
	w.rcv.mem.waiting = first;
	return first;
}

/* As receiver.c: a flow that was refused waits, and has a place in the queue. */
static void update_wait(struct pair *p)
{
	bool promised = p->rf.promise.bytes;

	if (p->rf.need && p->rf.is_verified && !promised && (p->promised_ns || !p->waits))
		p->waits = ++w.queue;
	else if (!p->rf.need)
		p->waits = 0;
	if (!promised)
		p->promised_ns = 0;
	first_waiting();
	if (w.rcv.mem.waiting && w.tick_ns == U64_MAX)
		w.tick_ns = w.now + MS;
}

static void resume(struct pair *p)
{
	ndp_rcv_allow(&p->rf, false);
	ndp_pull_update(&w.pull, &p->rf.pull, w.now);
}

/* There may be room for flows that wait. */
static void promise(void)
{
	struct pair *p;

	while ((p = first_waiting())) {
		ndp_rmem_end(&w.rcv.mem, &p->rf.promise);
		if (!ndp_rmem_reserve(&w.rcv.mem, &p->rf.promise, p->rf.need, 0,
				      NDP_RESERVE_FIRST))
			break;
		p->rf.need = 0;
		p->promised_ns = w.now;
		p->waits = 0;
		resume(p);
		say(p, 0);
	}
}

static void deliver_message(struct message *m)
{
	m->next = NULL;
	*w.ready_end = m;
	w.ready_end = &m->next;
}

static void deliver_in_order(struct pair *p)
{
	struct ndp_rcv_msg *m;

	while ((m = ndp_rcv_take_next(&w.rcv, &p->rf)))
		deliver_message((struct message *)m);
}

static void take_part(struct pair *p, const struct ndp_hdr *h, struct message *m, bool whole)
{
	u32 i = msg_index(p, h->data.msg_id);

	m->pair = (u32)(p - w.pair);
	p->received[i] += h->payload_len;
	assert_int_equal(p->delivered[i], 0);
	assert_int_equal(whole, p->received[i] == p->msg[i].len);
	p->delivered[i] = whole;
	if (w.rcv.in_order)
		deliver_in_order(p);
	else if (whole)
		deliver_message(m);
	if (w.read_ns == U64_MAX)
		w.read_ns = max_t(u64, w.now + rng_in(&w.rng, 1, 200000), w.idle_ns);
}

static bool is_held(struct pair *p)
{
	struct ndp_rcv_msg *m;
	u32 i;

	for (i = 0; i < NDP_RCV_BUCKETS; i++)
		hlist_for_each_entry(m, &p->rf.bucket[i], chain)
			if (ndp_rcv_is_narrow(&w.rcv, m))
				return true;
	return false;
}

static enum ndp_rcv_verdict process(struct pair *p, const struct ndp_hdr *h)
{
	struct message *fresh = calloc(1, sizeof(*fresh));
	struct ndp_rcv_msg *m = &fresh->core;
	struct ndp_rcv_pkt pkt = {
		.h = h, .now_ns = w.now, .memory = h->here == h->payload_len ?
			  h->here + extra(h->data.offset) : 0,
		.first = p->waits && first_waiting() == p,
	};
	enum ndp_rcv_verdict v;

	if (h->type != NDP_DATA || h->is_short) {
		m = NULL;
		pkt.memory = 0;
	}
	v = ndp_rcv_packet(&w.rcv, &p->rf, &pkt, &m);
	/* an honest sender's packets are valid */
	assert_true(v < NDP_RCV_GONE || v == NDP_RCV_OUT_OF_WINDOW);
	if (m != &fresh->core)
		free(fresh);
	if (m && !m->read && m->claim.is_window)
		w.windows++;
	if (v == NDP_RCV_PART || v == NDP_RCV_WHOLE)
		take_part(p, h, (struct message *)m, v == NDP_RCV_WHOLE);
	assert_null(ndp_rcv_take_over(&w.rcv, &p->rf));
	return v;
}

static void receive(const struct ndp_hdr *h)
{
	struct pair *p = pair_of(h);
	enum ndp_rcv_verdict v;
	struct ndp_hdr answer;
	bool pull;

	if (!p->open && !admit(p, h))
		return;
	v = process(p, h);
	w.refused += v == NDP_RCV_REFUSED;
	w.full += v == NDP_RCV_FULL;
	if (v == NDP_RCV_OUT_OF_WINDOW)
		return;
	if (p->rf.is_verified)
		p->asked_ns = 0;
	update_wait(p);
	pull = ndp_rcv_demand(&w.pull, &p->rf, h, v, is_held(p), w.now);
	if (ndp_rcv_reply(&w.rcv, &p->rf, h, v, pull, 0, &answer))
		send_answer(&answer);
	if (p->rf.deferred.count && p->settle_ns == U64_MAX)
		p->settle_ns = w.now + rng_in(&w.rng, 0, 5000);
}

static void settle(struct pair *p)
{
	p->settle_ns = U64_MAX;
	w.shared += p->rf.deferred.count > 1;
	if (p->rf.deferred.count)
		say(p, 0);
}

static void pull_next(void)
{
	struct ndp_pull_node *n = ndp_pull_next(&w.pull, w.now);
	u32 i = 0;

	assert_non_null(n);
	while (&w.pair[i].rf.pull != n)
		i++;
	say(&w.pair[i], NDP_CTL_PULL);
}

/* Read all of the message that became whole first. */
static bool read_whole(void)
{
	struct message *m = w.ready;
	struct pair *p;

	if (!m)
		return false;
	w.ready = m->next;
	if (!w.ready)
		w.ready_end = &w.ready;
	p = &w.pair[m->pair];
	if (w.rcv.in_order)
		assert_int_equal(m->core.id, p->last_read++);
	ndp_rmem_end(&w.rcv.mem, &m->core.claim);
	free(m);
	return true;
}

/* Read the parts of one message that are there, up to a hole. */
static bool read_part(void)
{
	struct ndp_rcv_msg *m;
	u64 bytes, offset, end;
	struct pair *p;
	u32 i, memory;

	for (p = w.pair; p < w.pair + FLOWS; p++)
		for (i = 0; i < NDP_RCV_BUCKETS; i++)
			hlist_for_each_entry(m, &p->rf.bucket[i], chain) {
				bytes = ndp_rcv_prefix(m) - m->read;
				if (!m->claim.is_window || !bytes)
					continue;
				memory = (u32)bytes;
				end = m->read + bytes;
				for (offset = m->read; offset < end; offset += m->cut.seg)
					memory += extra(offset);
				ndp_rcv_read(&w.rcv, m, bytes, memory);
				if (!is_held(p)) {
					resume(p);
					say(p, 0);
				}
				return true;
			}
	return false;
}

/* The reader */
static void read_some(void)
{
	bool more = read_whole() || read_part();

	w.read_ns = more ? w.now + rng_in(&w.rng, 1, 200000) : U64_MAX;
	promise();
}

/* The timer of receiver.c: silent senders get a PING, promises end. Some hosts stall for 3 ms. */
static void tick(void)
{
	struct pair *p;

	w.tick_ns = U64_MAX;
	for (p = w.pair; p < w.pair + FLOWS; p++) {
		if (p->promised_ns && w.now - p->promised_ns >= 3 * MS) {
			ndp_rmem_end(&w.rcv.mem, &p->rf.promise);
			p->promised_ns = 0;
		}
		if (p->open && rng_percent(&w.rng, 20))
			ndp_rcv_lapse(&w.rcv, &p->rf);
		if (!p->rf.msgs || w.now - p->rf.last_ns < MS)
			continue;
		if (p->asked_ns && w.now - p->asked_ns >= 3 * MS)
			ndp_rcv_lapse(&w.rcv, &p->rf);
		if (!p->asked_ns)
			p->asked_ns = w.now;
		say(p, NDP_CTL_PING);
	}
	promise();
	for (p = w.pair; p < w.pair + FLOWS; p++)
		if (p->waits || p->promised_ns)
			w.tick_ns = w.now + MS;
}

/* ---- sender */

static void send_all(struct pair *p)
{
	struct ndp_hdr h;

	p->port.now = w.now;
	while (port_send(&p->port, (u8)rng_u32(&w.rng), &h) != NDP_SND_WAIT) {
		w.steps++;
		h.here = h.payload_len;
		net_forward(&w.net, w.now, over_the_wire(&h));
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
static void submit(struct pair *p)
{
	struct ndp_snd_msg *m = &p->msg[p->submitted++];
	struct ndp_snd_call c = port_call(&p->port);

	*m = (struct ndp_snd_msg) { .payload = PORT_PAYLOAD };
	m->len = rng_log(&w.rng, 1, (p->single ? 1 : MSG_PACKETS) * PORT_PAYLOAD);
	m->prio = (u8)rng_in(&w.rng, 0, NDP_PRIOS - 1);
	/* in order, the next message begins when this one is written */
	m->ready = rng_percent(&w.rng, 70) || p->port.f.in_order ? m->len : 0;
	assert_true(ndp_snd_submit(&c, &p->port.f, m));
	if (m->ready < m->len && p->write_ns == U64_MAX)
		p->write_ns = w.now + rng_in(&w.rng, 1, 50000);
	if (p->submitted == p->msgs)
		p->submit_ns = U64_MAX;
	else
		p->submit_ns += rng_log(&w.rng, 1, 2 * MS);
}

static void deliver(void)
{
	struct net_packet packet = net_take(&w.net);
	struct pair *p = pair_of(&packet.h);
	struct ndp_snd_call c;

	w.now = packet.at_ns;
	p->port.now = w.now;
	c = port_call(&p->port);
	if (packet.where == NET_RETURNED) {
		ndp_snd_returned(&c, &p->port.f, &packet.h);
	} else if (packet.h.type == NDP_COOKIE) {
		ndp_snd_cookie(&c, &p->port.f, &packet.h);
	} else if (packet.h.type == NDP_ERROR) {
		ndp_snd_error(&c, &p->port.f, &packet.h);
	} else if (packet.where == NET_TO_SENDER) {
		assert_int_not_equal(ndp_snd_control(&c, &p->port.f, &packet.h),
				     NDP_SND_REFUSED);
	} else {
		packet.h = over_the_wire(&packet.h);
		receive(&packet.h);
	}
	reap(p);
	send_all(p);
}

/* All messages that are not wholly written get longer. */
static void write_more(struct pair *p)
{
	struct ndp_snd_call c = port_call(&p->port);
	struct ndp_snd_msg *m;
	u64 more;

	p->write_ns = U64_MAX;
	for (m = p->msg; m < p->msg + p->submitted; m++) {
		if (m->ready == m->len)
			continue;
		more = rng_in(&w.rng, 1, 20000);
		more = min_t(u64, more, m->len - m->ready);
		assert_true(ndp_snd_more(&c, &p->port.f, m, m->ready + more));
		w.writes++;
		if (m->ready < m->len)
			p->write_ns = w.now + rng_in(&w.rng, 1, 50000);
	}
}

/* The time of the next event of a sender, or of its deferred answer */
static u64 own_ns(const struct pair *p)
{
	return min_t(u64, min_t(u64, p->submit_ns, p->write_ns),
		     min_t(u64, p->settle_ns, ndp_snd_due_ns(&p->port.f, &p->port.p)));
}

static void own(struct pair *p)
{
	u8 path;

	p->port.now = w.now;
	if (p->submit_ns <= w.now)
		submit(p);
	else if (p->write_ns <= w.now)
		write_more(p);
	else if (p->settle_ns <= w.now)
		settle(p);
	else
		assert_true(port_expire(&p->port, &path) >= 0);
	reap(p);
	send_all(p);
}

static bool step(void)
{
	const struct net_packet *next = net_next(&w.net);
	u64 net_ns = next ? next->at_ns : U64_MAX;
	u64 pull_ns = ndp_pull_next_ns(&w.pull), host_ns, at;
	struct pair *first = &w.pair[0], *p;

	for (p = w.pair; p < w.pair + FLOWS; p++)
		if (own_ns(p) < own_ns(first))
			first = p;
	host_ns = min_t(u64, min_t(u64, pull_ns, w.read_ns), w.tick_ns);
	at = min_t(u64, min_t(u64, net_ns, host_ns), own_ns(first));
	if (at == U64_MAX)
		return false;
	w.now = max_t(u64, w.now, at);
	if (at == net_ns)
		deliver();
	else if (at == pull_ns)
		pull_next();
	else if (at == w.read_ns)
		read_some();
	else if (at == w.tick_ns)
		tick();
	else
		own(first);
	return true;
}

/* ---- rounds */

static void open_pair(u32 i)
{
	struct pair *p = &w.pair[i];
	u32 ring = 64U << rng_in(&w.rng, 0, 4);
	bool in_order = w.rcv.in_order || rng_percent(&w.rng, 30);

	port_open(&p->port, ring, (u16)rng_in(&w.rng, 1, 32), in_order);
	p->port.f.flow_id = flow_id(i);
	p->port.p.max_tries = 200;
	p->port.p.timeout_ns = 100000 * MS;
	p->port.p.rto_max_ns = 8 * MS;
	p->msgs = rng_in(&w.rng, 1, MSGS);
	w.now = p->port.now;
	p->submit_ns = w.now + rng_in(&w.rng, 0, 1000000);
	p->write_ns = U64_MAX;
	p->settle_ns = U64_MAX;
}

static void open_world(u32 seed)
{
	u32 i;

	memset(&w, 0, sizeof(w));
	rng_seed(&w.rng, seed);
	w.small = seed / NET_KINDS % 2;
	w.cookie = w.small && seed / NET_KINDS / 2 % 2;
	w.scarce = w.small && seed / NET_KINDS / 4 % 2 ? (u32)rng_in(&w.rng, 1, 100) : 0;
	w.net.rng = &w.rng;
	w.net.p = net_random(&w.rng, seed % NET_KINDS);
	w.rcv = (struct ndp_rcv) {
		.mem = { .charge = charge, .uncharge = uncharge }, .msgs_max = 1000,
		.overhead = EXTRA, .window = 1024, .in_order = rng_percent(&w.rng, 40),
	};
	ndp_rmem_set_limit(&w.rcv.mem, w.small ? rng_log(&w.rng, 5000, 500000) : 100000000,
			   PORT_PAYLOAD + EXTRA + 200);
	w.ready_end = &w.ready;
	w.read_ns = U64_MAX;
	w.tick_ns = U64_MAX;
	for (i = 0; i < FLOWS; i++)
		open_pair(i);
	ndp_pull_init(&w.pull, 1000, w.now);
	ndp_pull_rate(&w.pull, 1250000000);
	ndp_pull_policy(&w.pull, (enum ndp_pull_policy)rng_in(&w.rng, 0, 2));
}

static void check_end(struct pair *p)
{
	u32 i;

	assert_int_equal(p->ended, p->msgs);
	for (i = 0; i < p->msgs; i++)
		assert_int_equal(p->delivered[i], 1);
	assert_false(ndp_snd_is_busy(&p->port.f));
	assert_int_equal(ndp_pull_wanted(&p->rf.pull), 0);
	ndp_rcv_close(&w.rcv, &p->rf);
}

static void one_round(u32 seed, struct ndp_snd_stats *sum)
{
	u32 i;

	open_world(seed);
	while (step())
		assert_true(++w.steps < 1000000);
	assert_int_equal(w.pull.queued, 0);
	assert_null(w.ready);
	for (i = 0; i < FLOWS; i++) {
		check_end(&w.pair[i]);
		port_add_stats(sum, &w.pair[i].port.stats);
		port_close(&w.pair[i].port);
	}
	assert_int_equal(w.rcv.msgs, 0);
	assert_int_equal(w.charged, 0);
}

/*
 * All messages arrive, whole and once. Without losses and with room, no packet times out. PROBEs
 * may be sent: a flow of low priority may wait long for its pulls.
 */
static void test_together(void **state)
{
	u64 cookies = 0, refused = 0, full = 0, windows = 0, writes = 0, shared = 0;
	static struct ndp_snd_stats sum[2][NET_KINDS];
	u32 round;

	(void)state;
	for (round = 0; round < ROUNDS; round++) {
		u32 kind = round % NET_KINDS, small = round / NET_KINDS % 2;

		one_round(round, &sum[small][kind]);
		assert_true(small || !(w.refused + w.full));
		cookies += w.cookies;
		refused += w.refused;
		full += w.full;
		windows += w.windows;
		writes += w.writes;
		shared += w.shared;
	}
	assert_true(sum[0][NET_CLEAN].rtx_packets == 0);
	assert_true(sum[0][NET_CLEAN].timeouts == 0);
	assert_true(sum[0][NET_TRIMS].nacked_packets > 1000);
	assert_true(sum[0][NET_TRIMS].rtx_packets == sum[0][NET_TRIMS].nacked_packets);
	assert_true(sum[0][NET_TRIMS].timeouts == 0);
	assert_true(sum[0][NET_BOUNCES].returned_packets > 1000);
	assert_true(sum[0][NET_BOUNCES].timeouts == 0);
	assert_true(sum[0][NET_LOSSES].timeouts > 1000);
	assert_true(sum[0][NET_ALL].answers_stale > 100);
	assert_true(cookies > 100);
	assert_true(refused > 1000);
	assert_true(full > 100);
	assert_true(windows > 1000);
	assert_true(writes > 1000);
	assert_true(shared > 1000);
}

/*
 * While the receiver does not read, senders of refused messages send ever less often, up to two
 * PROBEs a second, each followed by a try; pulls of the refused packets must not change that.
 */
static void test_refused_back_off(void **state)
{
	u32 seed, i;
	u64 begin;

	(void)state;
	for (seed = 0; seed < 50; seed++) {
		open_world(NET_CLEAN + NET_KINDS * (2 * seed + 1));
		w.rcv.in_order = false;
		w.scarce = 0;
		ndp_rmem_set_limit(&w.rcv.mem, 20000, PORT_PAYLOAD + EXTRA);
		begin = w.now;
		w.idle_ns = begin + 5000 * MS;
		for (i = 0; i < FLOWS; i++) {
			w.pair[i].port.p.rto_max_ns = 500 * MS;
			w.pair[i].port.f.in_order = false;
			w.pair[i].msgs = MSGS;
			w.pair[i].single = true;
		}
		while (w.now < w.idle_ns)
			assert_true(step());
		assert_true(w.refused > 10);
		/* 16 messages, 10 to back off, and 2 a second; a PROBE and DATA each */
		assert_in_range(w.steps, 1, FLOWS * 2 * (MSGS + 10 + 2 * 5 * MSGS));
		while (step())
			assert_true(++w.steps < 100000);
		for (i = 0; i < FLOWS; i++) {
			check_end(&w.pair[i]);
			port_close(&w.pair[i].port);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_together),
		cmocka_unit_test(test_refused_back_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
