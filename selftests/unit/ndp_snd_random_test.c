// SPDX-License-Identifier: GPL-2.0-only
/*
 * net/ndp/snd.h: whatever the network does, all that was to be sent arrives, once,
 * and what was promised holds after every step
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "ndp_net.h"
#include "ndp_snd_port.h"

#define ROUNDS		240
#define MSGS		40
#define PACKETS		4096U
#define MSG_PACKETS	200U

/* A receiver that is as simple as can be, by packet and message numbers from 0 */
struct receiver {
	bool open;
	bool got[PACKETS];
	bool nacked[PACKETS];
	struct ndp_hdr first[PACKETS];
	bool part[MSGS][MSG_PACKETS];
	u64 bytes[MSGS];
	u32 base;
	u32 end;
	u32 last;
	u32 target;
	u32 pull;
	u32 trimmed;
	u64 pull_ns;
	u64 next_pull_ns;
};

struct world {
	struct port port;
	struct net net;
	struct receiver r;
	struct rng rng;
	struct ndp_snd_msg msg[MSGS];
	u32 msgs;
	u32 submitted;
	u32 ended;
	u32 cancelled;
	u64 done[MSGS];
	u64 submit_ns;
	u64 pulls_at_idle;
	u64 steps;
	u64 writes;
	u64 alive;
};

/* ------------------------------------------------ receiver */

static u64 map_of(const struct receiver *r, const bool *which)
{
	u64 map = 0;
	u32 i;

	for (i = 0; i < 64 && r->base + i < PACKETS; i++)
		map |= (u64)which[r->base + i] << i;
	return map;
}

static void answer(struct world *w, const struct ndp_hdr *h, u8 flags)
{
	struct receiver *r = &w->r;
	struct ndp_hdr a;

	ndp_answer(h, NDP_CONTROL, &a);
	a.flags = flags;
	if (!(flags & NDP_CTL_BARE))
		a.ctl = (struct ndp_ctl) {
			.ack_base = PORT_SEQ + r->base, .pull = r->pull,
			.sack = map_of(r, r->got), .nack = map_of(r, r->nacked),
			.trimmed = r->trimmed, .window = 64,
		};
	net_answer(&w->net, w->port.now, &a);
}

static void move_base(struct receiver *r)
{
	while (r->base < PACKETS && r->got[r->base])
		r->base++;
}

/* The payload: packets are what they were the first time, each part comes once. */
static void take_payload(struct world *w, u32 nr, const struct ndp_hdr *h)
{
	struct receiver *r = &w->r;
	u32 i = 0;

	while (w->msg[i].id != h->data.msg_id || !w->msg[i].sent)
		assert_true(++i < w->submitted);
	assert_int_equal(h->data.msg_len, w->msg[i].len);
	assert_int_equal(h->data.offset % PORT_PAYLOAD, 0);
	assert_false(r->part[i][h->data.offset / PORT_PAYLOAD]);
	r->part[i][h->data.offset / PORT_PAYLOAD] = true;
	r->bytes[i] += h->payload_len;
	r->got[nr] = true;
	r->nacked[nr] = false;
}

static void check_same(struct receiver *r, u32 nr, const struct ndp_hdr *h)
{
	struct ndp_hdr *first = &r->first[nr];

	if (!first->type)
		*first = *h;
	assert_int_equal(first->data.msg_id, h->data.msg_id);
	assert_int_equal(first->data.offset, h->data.offset);
	assert_int_equal(first->payload_len, h->payload_len);
	assert_int_equal(!(h->flags & NDP_DATA_RTX), !h->try_no);
}

static void learn(struct receiver *r, const struct ndp_hdr *h)
{
	u32 nr = h->seq - PORT_SEQ, base = h->data.base - PORT_SEQ, i;

	r->open = true;
	for (i = r->base; i < base; i++)
		r->got[i] = true;
	move_base(r);
	if (ndp_before(r->target, h->data.pull_target))
		r->target = h->data.pull_target;
	if (h->type == NDP_DATA && nr + 1 >= r->end) {
		r->end = nr + 1;
		r->last = h->flags & NDP_DATA_LAST;
	}
}

static void receive(struct world *w, const struct ndp_hdr *h)
{
	struct receiver *r = &w->r;
	u32 nr = h->seq - PORT_SEQ;

	if (!r->open && (h->is_short || h->type == NDP_PROBE || !(h->flags & NDP_DATA_SYN))) {
		if (h->is_short)
			answer(w, h, NDP_CTL_BARE | NDP_CTL_NACK);
		return;
	}
	if (!h->is_short)
		learn(r, h);
	if (h->type == NDP_PROBE) {
		answer(w, h, NDP_CTL_PROBED);
		return;
	}
	assert_true(nr < PACKETS);
	if (!h->is_short)
		check_same(r, nr, h);
	if (r->got[nr]) {
		answer(w, h, NDP_CTL_ACK);
	} else if (ndp_is_trimmed(h)) {
		r->nacked[nr] = true;
		r->trimmed++;
		r->target++;
		answer(w, h, NDP_CTL_NACK);
	} else {
		take_payload(w, nr, h);
		move_base(r);
		if (r->last && r->base == r->end)
			r->target = r->pull;
		answer(w, h, NDP_CTL_ACK);
	}
}

static u64 pull_due(const struct world *w)
{
	if (w->r.target == w->r.pull)
		return U64_MAX;
	return max_t(u64, w->r.next_pull_ns, w->port.now);
}

static void pull(struct world *w)
{
	struct ndp_hdr nobody = { .flow_id = PORT_FLOW_ID, .sport = 1, .dport = 2 };

	w->r.pull++;
	w->r.next_pull_ns = w->port.now + w->r.pull_ns;
	answer(w, &nobody, NDP_CTL_PULL);
}

/* ------------------------------------------------ what always holds */

static void check_list(const struct ndp_scoreboard *b, const struct ndp_pkt_list *list, u8 state)
{
	u32 slot, prev = NDP_RING_NONE, count = 0;
	u64 sent_ns = 0;

	for (slot = list->head; slot != NDP_RING_NONE; slot = b->pkt[slot].next) {
		assert_int_equal(b->pkt[slot].prev, prev);
		assert_int_equal(b->pkt[slot].state, state);
		assert_true(state == NDP_PKT_LOST || b->pkt[slot].sent_ns >= sent_ns);
		sent_ns = b->pkt[slot].sent_ns;
		prev = slot;
		count++;
	}
	assert_int_equal(list->tail, prev);
	assert_int_equal(list->count, count);
}

static bool has(const u64 *map, u32 slot)
{
	return map[slot / 64] >> slot % 64 & 1;
}

static void check_board(const struct ndp_scoreboard *b)
{
	u32 seq, slot, left = 0;

	assert_true(b->next - b->base <= b->mask + 1);
	for (seq = b->base; seq != b->base + b->mask + 1; seq++) {
		slot = seq & b->mask;
		if (seq - b->base >= b->next - b->base) {
			assert_false(has(b->done, slot) || has(b->again, slot));
			continue;
		}
		assert_int_equal(has(b->done, slot), b->pkt[slot].state == NDP_PKT_DONE);
		if (b->pkt[slot].state == NDP_PKT_DONE)
			continue;
		left++;
		assert_int_equal(ndp_sb_seq(b, slot), seq);
		assert_int_equal(has(b->again, slot),
				 b->pkt[slot].try_no || b->pkt[slot].state == NDP_PKT_LOST);
	}
	assert_int_equal(b->flight.count + b->lost.count, left);
	if (b->base != b->next)
		assert_false(has(b->done, b->base & b->mask));
	check_list(b, &b->flight, NDP_PKT_FLIGHT);
	check_list(b, &b->lost, NDP_PKT_LOST);
}

/* New packets that may be made of what is ready */
static u64 packets_of(const struct ndp_snd_msg *m)
{
	u64 left = m->ready - m->sent;

	return m->ready == m->len ? (left + m->payload - 1) / m->payload : left / m->payload;
}

/* What is counted of messages is so. */
static void check_messages(const struct world *w)
{
	const struct ndp_snd_flow *f = &w->port.f;
	u32 i, open = 0, begun = 0;
	u64 packets = 0;

	for (i = 0; i < w->submitted; i++) {
		const struct ndp_snd_msg *m = &w->msg[i];

		if (m->ended)
			continue;
		open++;
		begun += !!m->sent;
		packets += packets_of(m);
		assert_true(m->done <= m->sent && m->sent <= m->ready && m->ready <= m->len);
		assert_true(m->pending || m->done == m->sent);
		assert_true(m->pending || m->sent < m->len);
	}
	assert_int_equal(open, w->submitted - w->ended);
	assert_int_equal(begun, f->msgs_begun);
	assert_true(packets == f->new_packets);
}

static void check(struct world *w)
{
	const struct ndp_snd_flow *f = &w->port.f;
	const struct ndp_snd_stats *s = &w->port.stats;
	u64 used = s->pulls - s->pulls_unused - f->credit;

	check_board(&f->sb);
	/* each packet had its licence */
	assert_true(s->new_packets + s->rtx_packets ==
		    s->spec_packets + s->pushed_packets + used);
	assert_true(f->credit <= w->port.p.initial_window);
	/* no more in flight than window and pulls */
	if (!ndp_snd_is_busy(f))
		w->pulls_at_idle = s->pulls;
	assert_true(f->sb.flight.count <=
		    w->port.p.initial_window + s->pulls - w->pulls_at_idle);
	/* a timer while there is something to wait for, and only then */
	assert_int_equal(ndp_snd_is_busy(f) || f->msgs_begun,
			 ndp_snd_due_ns(f, &w->port.p) != U64_MAX);
	check_messages(w);
}

/* ------------------------------------------------ what happens */

static void send_all(struct world *w)
{
	const struct ndp_scoreboard *b = &w->port.f.sb;
	enum ndp_snd_action action;
	u32 lost, flight;
	struct ndp_hdr h;
	bool busy;

	for (;;) {
		busy = ndp_snd_is_busy(&w->port.f);
		lost = b->lost.count;
		flight = b->flight.count;
		action = port_send(&w->port, (u8)rng_u32(&w->rng), &h);
		if (action == NDP_SND_WAIT)
			break;
		w->steps++;
		w->alive += !busy;
		assert_true(busy || action == NDP_SND_PROBE);
		/* a pull is for what was lost, first; the window for what is new */
		if (action == NDP_SND_NEW && !(h.flags & NDP_DATA_SPEC))
			assert_int_equal(lost, 0);
		if (h.flags & NDP_DATA_SPEC)
			assert_true(flight < w->port.p.initial_window);
		net_forward(&w->net, w->port.now, h);
		check(w);
	}
}

static void reap(struct world *w)
{
	struct ndp_snd_msg *m;
	u32 i;

	while ((m = ndp_snd_reap(&w->port.f))) {
		i = (u32)(m - w->msg);
		/* what is done has come, all of it */
		assert_true(m->done >= w->done[i]);
		for (; w->done[i] < m->done; w->done[i] += PORT_PAYLOAD)
			assert_true(w->r.part[i][w->done[i] / PORT_PAYLOAD]);
		w->done[i] = m->done;
		if (!m->ended)
			continue;
		w->ended++;
		if (m->error) {
			assert_int_equal(m->error, ECANCELED);
			continue;
		}
		/* all of it is there, now */
		assert_true(m->sent == m->len);
		assert_true(w->r.bytes[i] == m->len);
	}
}

static void submit(struct world *w)
{
	struct ndp_snd_msg *m = &w->msg[w->submitted++];
	struct ndp_snd_call c = port_call(&w->port);

	*m = (struct ndp_snd_msg) { .payload = PORT_PAYLOAD };
	m->len = rng_log(&w->rng, 1, MSG_PACKETS * PORT_PAYLOAD);
	m->prio = (u8)rng_in(&w->rng, 0, NDP_PRIOS - 1);
	m->ready = rng_percent(&w->rng, 70) ? m->len : rng_in(&w->rng, 0, (u32)m->len);
	assert_true(ndp_snd_submit(&c, &w->port.f, m));
	if (w->submitted == w->msgs)
		w->submit_ns = U64_MAX;
	else if (rng_percent(&w->rng, 50))
		w->submit_ns += rng_log(&w->rng, 1, 5 * MS);
}

static bool is_partial(const struct ndp_snd_msg *m)
{
	return !m->ended && m->ready < m->len;
}

/* Some program goes on writing: some of the rest, or all. Return: was there one? */
static bool write_more(struct world *w)
{
	struct ndp_snd_call c = port_call(&w->port);
	u32 from = rng_in(&w->rng, 0, MSGS - 1), i;
	struct ndp_snd_msg *m;

	for (i = 0; i < w->submitted; i++) {
		m = &w->msg[(from + i) % w->submitted];
		if (!is_partial(m))
			continue;
		assert_true(ndp_snd_more(&c, &w->port.f, m, rng_percent(&w->rng, 20) ? m->len :
					 m->ready + rng_in(&w->rng, 0, (u32)(m->len - m->ready))));
		return true;
	}
	return false;
}

static void cancel(struct world *w)
{
	struct ndp_snd_msg *m = &w->msg[rng_in(&w->rng, 0, w->submitted - 1)];
	struct ndp_snd_call c = port_call(&w->port);

	if (m->ended)
		return;
	ndp_snd_cancel(&c, &w->port.f, m, ECANCELED);
	w->cancelled++;
}

static void deliver(struct world *w)
{
	struct net_packet p = net_take(&w->net);
	struct ndp_snd_call c;

	w->port.now = p.at_ns;
	c = port_call(&w->port);
	if (p.where == NET_TO_RECEIVER)
		receive(w, &p.h);
	else if (p.where == NET_RETURNED)
		ndp_snd_returned(&c, &w->port.f, &p.h);
	else
		assert_int_not_equal(ndp_snd_control(&c, &w->port.f, &p.h), NDP_SND_REFUSED);
}

static void expire(struct world *w)
{
	struct ndp_snd_call c = port_call(&w->port);
	enum ndp_snd_expiry e;
	u8 path;

	do {
		e = ndp_snd_expire(&c, &w->port.f, rng_u32(&w->rng), &path);
		assert_int_not_equal(e, NDP_SND_FAILED);
		check_board(&w->port.f.sb);
	} while (e == NDP_SND_LOST);
	assert_true(ndp_snd_pick(&w->port.f, &w->port.p) != NDP_SND_WAIT ||
		    ndp_snd_due_ns(&w->port.f, &w->port.p) > w->port.now);
}

/* The next thing that happens; false: nothing more will. */
static bool step(struct world *w)
{
	const struct net_packet *next = net_next(&w->net);
	u64 net_ns = next ? next->at_ns : U64_MAX, pull_ns = pull_due(w);
	u64 due_ns = ndp_snd_due_ns(&w->port.f, &w->port.p);
	bool more = false;
	u64 at = min_t(u64, min_t(u64, net_ns, pull_ns), min_t(u64, due_ns, w->submit_ns));

	if (w->submitted && (at == U64_MAX || rng_percent(&w->rng, 2)))
		more = write_more(w);
	if (more) {
		w->writes++;
	} else if (at == U64_MAX) {
		return false;
	} else if (at == net_ns) {
		deliver(w);
	} else {
		w->port.now = max_t(u64, at, w->port.now);
		if (at == pull_ns)
			pull(w);
		else if (at == w->submit_ns)
			submit(w);
		else
			expire(w);
	}
	reap(w);
	check(w);
	send_all(w);
	return true;
}

/* ------------------------------------------------ rounds */

/* Networks as they are, and the last of them with messages that are cancelled */
#define CANCELS	NET_KINDS
#define KINDS	(NET_KINDS + 1)

static void open_round(struct world *w, u32 seed)
{
	bool in_order;
	u32 ring;

	memset(w, 0, sizeof(*w));
	rng_seed(&w->rng, seed);
	ring = 64U << rng_in(&w->rng, 0, 2);
	in_order = rng_percent(&w->rng, 30);
	port_open(&w->port, ring, (u16)rng_in(&w->rng, 1, ring), in_order);
	w->port.p.max_tries = 200;
	w->port.p.timeout_ns = 100000 * MS;
	w->port.p.rto_max_ns = 8 * MS;
	w->net.rng = &w->rng;
	w->net.p = net_random(&w->rng, min_t(u32, seed % KINDS, NET_ALL));
	w->r.pull_ns = rng_in(&w->rng, 500, 20000);
	w->msgs = rng_in(&w->rng, 1, MSGS);
	w->submit_ns = w->port.now;
}

static void one_round(struct world *w, u32 seed)
{
	const struct ndp_snd_stats *s = &w->port.stats;
	u32 i;

	open_round(w, seed);
	while (step(w)) {
		/* it comes to an end */
		assert_true(++w->steps < 1000000);
		if (seed % KINDS == CANCELS && w->submitted && rng_percent(&w->rng, 1))
			cancel(w);
	}
	reap(w);
	assert_int_equal(w->ended, w->msgs);
	assert_int_equal(s->msgs_failed, w->cancelled);
	assert_false(ndp_snd_is_busy(&w->port.f));
	for (i = 0; i < w->msgs; i++)
		assert_true(w->msg[i].error || w->r.bytes[i] == w->msg[i].len);
	if (!w->cancelled)
		assert_true(s->acked_packets == s->new_packets);
	port_close(&w->port);
}

static void test_random(void **state)
{
	static struct ndp_snd_stats sum[KINDS];
	static struct world w;
	u32 round, cancelled = 0;
	u64 writes = 0, alive = 0;

	(void)state;
	for (round = 0; round < ROUNDS; round++) {
		one_round(&w, round);
		/* PROBEs that show that it is alive: not as anything was missed */
		w.port.stats.probes -= w.alive;
		alive += w.alive;
		port_add_stats(&sum[round % KINDS], &w.port.stats);
		cancelled += w.cancelled;
		writes += w.writes;
	}
	/* nothing lost: nothing sent twice, and no timer */
	assert_true(sum[NET_CLEAN].rtx_packets + sum[NET_CLEAN].timeouts == 0);
	assert_true(sum[NET_CLEAN].probes == 0);
	/* trimmed only: once for each NACK, and no timer */
	assert_true(sum[NET_TRIMS].nacked_packets > 10000);
	assert_true(sum[NET_TRIMS].rtx_packets == sum[NET_TRIMS].nacked_packets);
	assert_true(sum[NET_TRIMS].timeouts + sum[NET_TRIMS].probes == 0);
	assert_true(sum[NET_BOUNCES].returned_packets > 1000);
	/* a bounced packet that asked for pulls has asked nobody */
	assert_true(sum[NET_BOUNCES].timeouts == 0);
	assert_true(sum[NET_BOUNCES].probes < sum[NET_BOUNCES].returned_packets / 100);
	assert_true(sum[NET_LOSSES].timeouts > 1000);
	assert_true(sum[NET_LOSSES].probes + sum[NET_ALL].probes + sum[CANCELS].probes);
	assert_true(sum[NET_ALL].answers_stale > 500);
	assert_true(sum[NET_ALL].stalls);
	assert_true(cancelled > 100);
	assert_true(writes > 1000);
	assert_true(alive > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
