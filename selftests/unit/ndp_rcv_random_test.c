// SPDX-License-Identifier: GPL-2.0-only
/*
 * net/ndp/ndp_rcv.h and ndp_pull.h: whatever the network does, each message of an honest
 * sender is delivered once and whole; whatever a sender says, no message has a
 * hole, and no more is kept and pulled than may be
 *
 * Of each message, how often each of its bytes came is counted.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "../../net/ndp/ndp_rcv.h"
#include "rng.h"

#define FLOWS		8
#define PACKETS_MAX	1500	/* of an honest flow: more than a window */
#define MSGS_MAX	400
#define ACTIVE_MAX	5	/* messages that an honest sender interleaves */
#define PARTS_MAX	31	/* of a message of it */
#define WIRE_MAX	10000	/* packets in the network */
#define RTO_NS		5000000ULL
#define SEQS		8192	/* of a hostile flow */

struct body {
	u64 len;
	u64 memory;
	u8 *count;	/* a byte for each byte: how often it came */
	u32 delivered;
};

/* ---- the receiving host, watched */

struct host {
	struct ndp_rcv_params p;
	struct ndp_rcv r;
	struct ndp_pull q;
	struct ndp_rcv_flow f[FLOWS];
	struct body body[FLOWS][MSGS_MAX];
	u32 first_id[FLOWS];
	u32 nacks[FLOWS];
	u64 now_ns;
	u64 unread;
	u64 delivered;
	struct ndp_rcv_msg *spare;
};

static void host_open(struct host *t, struct rng *rng, u64 memory_max, u32 msgs_max)
{
	struct ndp_pull_params pp = {
		.rate_Bps = 1250000000, .late_ns = rng_in(rng, 0, 20000), .ahead = 200,
		.policy = NDP_PULL_FAIR,
	};

	memset(t, 0, sizeof(*t));
	t->now_ns = 1000000000;
	t->p = (struct ndp_rcv_params) {
		.memory_max = memory_max, .time_wait_ns = 10000000000, .msgs_max = msgs_max,
		.window = 30,
	};
	t->r.p = &t->p;
	pp.policy = rng_percent(rng, 50) ? NDP_PULL_FAIR : NDP_PULL_STRICT;
	ndp_pull_init(&t->q, &pp, t->now_ns);
}

static void body_free(struct body *b)
{
	free(b->count);
	b->count = NULL;
	b->memory = 0;
}

static void host_close(struct host *t)
{
	struct ndp_rcv_msg *m;
	u32 i, k;

	for (i = 0; i < FLOWS; i++) {
		while ((m = ndp_rcv_pop(&t->r, &t->f[i], U64_MAX)))
			free(m);
		ndp_pull_flush(&t->q, &t->f[i].pull);
		ndp_rcv_close(&t->r, &t->f[i]);
		for (k = 0; k < MSGS_MAX; k++)
			body_free(&t->body[i][k]);
	}
	assert_true(!t->r.partial && !t->r.msgs && !t->r.first && !t->r.reserved);
	assert_true(ndp_pull_next_ns(&t->q) == U64_MAX);
	free(t->spare);
}

/* The bytes of a packet that was taken, into its message */
static void host_keep(struct host *t, u32 i, const struct ndp_hdr *h, u32 memory)
{
	struct body *b = &t->body[i][h->data.msg_id - t->first_id[i]];
	u64 k;

	if (!b->count) {
		b->len = h->data.msg_len;
		b->count = calloc(1, b->len);
	}
	assert_true(b->len == h->data.msg_len);
	b->memory += memory;
	for (k = 0; k < h->here; k++)
		assert_int_equal(++b->count[h->data.offset + k], 1);
}

static void host_deliver(struct host *t, u32 i, const struct ndp_hdr *h)
{
	struct body *b = &t->body[i][h->data.msg_id - t->first_id[i]];

	assert_null(memchr(b->count, 0, b->len));
	assert_int_equal(b->delivered++, 0);
	assert_null(ndp_rcv_find(&t->f[i], h->data.msg_id));
	t->unread += b->memory;
	t->delivered++;
	body_free(b);
}

/* All that is counted is what there is, and not too much. */
static void host_check(struct host *t)
{
	u64 memory = 0;
	u32 i, k, n, msgs = 0;
	struct ndp_rcv_msg *m;

	for (i = 0; i < FLOWS; i++) {
		for (k = 0, n = 0; k < NDP_RCV_BUCKETS; k++) {
			for (m = t->f[i].bucket[k]; m; m = m->chain, n++) {
				const struct body *b = &t->body[i][m->id - t->first_id[i]];

				assert_true(m->memory == b->memory);
				assert_true(ndp_rcv_prefix(m) <= m->len);
				assert_null(memchr(b->count, 0, ndp_rcv_prefix(m)));
				memory += m->memory;
			}
		}
		assert_int_equal(n, t->f[i].msgs);
		msgs += n;
	}
	assert_true(memory == t->r.partial);
	assert_int_equal(msgs, t->r.msgs);
	assert_in_range(msgs, 0, 2 * t->p.msgs_max);
	assert_true(t->unread == t->r.unread);
	assert_true(t->r.partial + t->r.unread <= 2 * t->p.memory_max);
}

static enum ndp_rcv_verdict host_take(struct host *t, u32 i, const struct ndp_hdr *h,
				      struct ndp_hdr *answer)
{
	struct ndp_rcv_flow *f = &t->f[i];
	u32 base = f->got.base, granted = f->pull.granted, target = f->pull.target;
	struct ndp_rcv_msg *msg;
	enum ndp_rcv_verdict v;
	bool pull, yields;

	if (!t->spare)
		t->spare = malloc(sizeof(*t->spare));
	msg = t->spare;
	v = ndp_rcv_packet(&t->r, f, h, h->here, t->now_ns, &msg);
	if (v == NDP_RCV_PART || v == NDP_RCV_WHOLE)
		host_keep(t, i, h, h->here);
	else
		assert_null(msg);
	if (v == NDP_RCV_PART && msg == t->spare)
		t->spare = NULL;
	if (v == NDP_RCV_WHOLE) {
		assert_true(msg != t->spare);
		free(msg);
		host_deliver(t, i, h);
	}
	t->nacks[i] += v == NDP_RCV_TRIMMED;
	assert_int_equal(f->trimmed, t->nacks[i]);
	assert_false(ndp_before(f->got.base, base));
	if (v >= NDP_RCV_FAR)
		return v;
	yields = ndp_rcv_yields(&t->r, f, h, v, t->now_ns);
	pull = ndp_rcv_wish(&t->q, f, h, v, yields, t->now_ns);
	assert_int_equal(f->pull.granted, granted + pull);
	assert_false(ndp_before(f->pull.target, f->pull.granted));
	/* wishes are only dropped when all has come */
	if (ndp_before(f->pull.target, target))
		assert_true(ndp_rcv_has_all(f));
	ndp_rcv_answer(&t->r, f, h, v, pull, 0, answer);
	assert_int_equal(!!(answer->flags & NDP_CTL_NACK), v == NDP_RCV_TRIMMED);
	return v;
}

/* Of messages that are not whole, what is there from their begin on */
static void host_read_begins(struct host *t, u32 i)
{
	struct ndp_rcv_msg *m;
	u64 bytes;
	u32 k;

	for (k = 0; k < NDP_RCV_BUCKETS; k++) {
		for (m = t->f[i].bucket[k]; m; m = m->chain) {
			bytes = ndp_rcv_prefix(m) - m->read;
			ndp_rcv_read(&t->r, m, bytes, bytes);
			t->body[i][m->id - t->first_id[i]].memory -= bytes;
		}
	}
}

/* The application reads what is whole, and if memory runs short, what it can. */
static void host_read(struct host *t)
{
	u32 i;

	ndp_rcv_release(&t->r, t->unread);
	t->unread = 0;
	for (i = 0; i < FLOWS; i++) {
		if (t->r.partial > t->p.memory_max / 2)
			host_read_begins(t, i);
		ndp_pull_hold(&t->q, &t->f[i].pull, false, t->now_ns);
	}
}

/* ---- honest senders */

struct packet {
	u32 id;
	u64 offset;
	u64 len;
	u16 payload;
	u64 sent_ns;
	u8 tries;
	bool sent;
	bool nacked;
	bool acked;
};

struct sender {
	struct packet packet[PACKETS_MAX + ACTIVE_MAX * PARTS_MAX];
	u32 packets;
	u32 messages;
	u32 next;	/* never sent so far */
	u32 base;
	u32 seq0;
	u32 unasked;	/* may still be sent unasked */
	u32 first;	/* could be at first */
	u32 pull;	/* newest CONTROL's */
	u32 used;
	u32 trimmed;	/* newest CONTROL's */
};

struct wire {
	struct ndp_hdr h;
	u32 flow;
};

struct world {
	struct host host;
	struct sender s[FLOWS];
	struct wire wire[WIRE_MAX];
	u32 wires;
	u32 loss, trim, twice;	/* percent */
	u32 steps;
	struct rng rng;
};

/* Messages are interleaved; those of one flow have ids by their first packet. */
static void sender_plan(struct sender *s, struct rng *rng, u32 id0)
{
	struct {
		u32 id;
		u64 len, at;
		u16 seg;
	} active[ACTIVE_MAX];
	u32 n = 0, k, packets = rng_log(rng, 1, PACKETS_MAX);
	struct packet *p;

	s->seq0 = rng_u32(rng);
	s->first = rng_in(rng, 1, 40);
	s->unasked = s->first;
	while (s->packets < packets || n) {
		if (n < ACTIVE_MAX && s->packets < packets && s->messages < MSGS_MAX &&
		    (!n || rng_percent(rng, 30))) {
			active[n].id = id0 + s->messages++;
			active[n].seg = rng_in(rng, 20, 1500);
			active[n].len = rng_log(rng, 1, (PARTS_MAX - 1) * active[n].seg);
			active[n].at = 0;
			k = n++;
		} else if (n) {
			k = rng_in(rng, 0, n - 1);
		} else {
			break;	/* no ids are left */
		}
		p = &s->packet[s->packets++];
		*p = (struct packet) {
			.id = active[k].id, .offset = active[k].at, .len = active[k].len,
		};
		p->payload = min_t(u64, active[k].seg, p->len - p->offset);
		active[k].at += p->payload;
		if (active[k].at == p->len)
			active[k] = active[--n];
	}
}

static u32 sender_wish(const struct sender *s)
{
	return (s->packets > s->first ? s->packets - s->first : 0) + s->trimmed;
}

/* The network takes so many, no more. */
static void transmit(struct world *w, u32 i, const struct ndp_hdr *h)
{
	if (w->wires < WIRE_MAX)
		w->wire[w->wires++] = (struct wire) { .h = *h, .flow = i };
}

static void send(struct world *w, u32 i, u32 k)
{
	struct sender *s = &w->s[i];
	struct packet *p = &s->packet[k];
	struct ndp_hdr h = {
		.type = NDP_DATA, .payload_len = p->payload, .here = p->payload,
		.seq = s->seq0 + k, .sport = 1, .dport = 2, .try_no = p->tries,
		.flags = NDP_DATA_SYN | (p->sent ? NDP_DATA_RTX : 0) |
			 (k == s->packets - 1 ? NDP_DATA_LAST : 0),
		.data = { .msg_id = p->id, .base = s->seq0 + s->base, .offset = p->offset,
			  .msg_len = p->len, .pull_target = sender_wish(s), .prio = i % 3 },
	};
	u32 copies = 1 + rng_percent(&w->rng, w->twice);

	p->sent = true;
	p->nacked = false;
	p->tries++;
	p->sent_ns = w->host.now_ns;
	if (rng_percent(&w->rng, w->loss))
		return;
	if (rng_percent(&w->rng, w->trim))
		h.here = rng_in(&w->rng, 0, p->payload - 1);
	if (!h.here && rng_percent(&w->rng, 20)) {
		h.is_short = true;
		h.sport = 0;
		h.dport = 0;
		h.data = (struct ndp_data) {};
	}
	while (copies--)
		transmit(w, i, &h);
}

/* Retransmissions first, then new ones; unasked: only new ones */
static void sender_run(struct world *w, u32 i)
{
	struct sender *s = &w->s[i];
	u32 k;

	while (s->base < s->next && s->packet[s->base].acked)
		s->base++;
	for (k = s->base; k < s->next && (s32)(s->pull - s->used) > 0; k++) {
		if (s->packet[k].nacked && !s->packet[k].acked) {
			s->used++;
			send(w, i, k);
		}
	}
	while (s->next < s->packets && s->next < s->base + NDP_RCV_WINDOW) {
		if (s->unasked)
			s->unasked--;
		else if ((s32)(s->pull - s->used) > 0)
			s->used++;
		else
			break;
		send(w, i, s->next++);
	}
	for (k = s->base; k < s->next; k++)
		if (!s->packet[k].acked && w->host.now_ns - s->packet[k].sent_ns > RTO_NS)
			send(w, i, k);
}

static void sender_control(struct sender *s, const struct ndp_hdr *h)
{
	u32 k, n = h->seq - s->seq0, base = h->ctl.ack_base - s->seq0;

	/* never is anything acknowledged that was not sent, or pulled that was not wished */
	assert_in_range(base, 0, s->next);
	for (k = 0; k < base; k++)
		s->packet[k].acked = true;
	for (k = 0; k < 64; k++) {
		if (h->ctl.sack >> k & 1) {
			assert_in_range(base + k, 0, s->next - 1);
			s->packet[base + k].acked = true;
		}
		if (h->ctl.nack >> k & 1)
			assert_in_range(base + k, 0, s->next - 1);
	}
	if (h->flags & NDP_CTL_ACK)
		s->packet[n].acked = true;
	if (h->flags & NDP_CTL_NACK && h->try_no == (u8)(s->packet[n].tries - 1))
		s->packet[n].nacked = true;
	if (ndp_before(s->trimmed, h->ctl.trimmed))
		s->trimmed = h->ctl.trimmed;
	if (ndp_before(s->pull, h->ctl.pull))
		s->pull = h->ctl.pull;
	assert_false(ndp_before(sender_wish(s), s->pull));
}

/* Answers are lost and doubled, too. */
static void answer(struct world *w, u32 i, const struct ndp_hdr *h)
{
	struct ndp_wire bytes;
	struct ndp_hdr read;
	u32 copies;

	if (rng_percent(&w->rng, w->loss))
		return;
	ndp_hdr_write(h, &bytes);
	assert_int_equal(ndp_hdr_read((u8 *)&bytes, sizeof(bytes), &read), NDP_READ_OK);
	copies = 1 + rng_percent(&w->rng, w->twice);
	while (copies--)
		transmit(w, i, &read);
}

/* Any of the packets in the network arrives, mostly one of the older ones. */
static void arrive(struct world *w)
{
	u32 k = rng_in(&w->rng, 0, rng_percent(&w->rng, 70) ? (w->wires - 1) / 8 :
							      w->wires - 1);
	struct wire x = w->wire[k];
	struct host *t = &w->host;
	struct ndp_hdr out;
	u32 wish;

	memmove(&w->wire[k], &w->wire[k + 1], (--w->wires - k) * sizeof(x));
	if (x.h.type == NDP_CONTROL) {
		sender_control(&w->s[x.flow], &x.h);
	} else {
		enum ndp_rcv_verdict v = host_take(t, x.flow, &x.h, &out);

		assert_in_range(v, 0, NDP_RCV_NO_ROOM);
		assert_false(v == NDP_RCV_TRIMMED && !ndp_is_trimmed(&x.h));
		wish = sender_wish(&w->s[x.flow]) - w->s[x.flow].trimmed;
		assert_in_range(t->f[x.flow].pull.target, 0, wish + t->nacks[x.flow]);
		answer(w, x.flow, &out);
	}
	sender_run(w, x.flow);
}

static void pulls(struct world *w)
{
	struct host *t = &w->host;
	struct ndp_pull_node *n;
	struct ndp_hdr h;
	u32 i;

	while ((n = ndp_pull_next(&t->q, t->now_ns))) {
		for (i = 0; n != &t->f[i].pull; i++)
			;
		h = (struct ndp_hdr) { .type = NDP_CONTROL, .flags = NDP_CTL_PULL };
		ndp_rcv_control(&t->r, &t->f[i], &h);
		answer(w, i, &h);
	}
}

static bool honest_done(struct world *w)
{
	u32 i;

	for (i = 0; i < FLOWS; i++)
		if (w->s[i].base < w->s[i].packets)
			return false;
	return !w->wires;
}

static void honest_open(struct world *w, u32 seed)
{
	u32 i;

	memset(w, 0, sizeof(*w));
	rng_seed(&w->rng, seed);
	w->loss = rng_percent(&w->rng, 50) ? 0 : rng_in(&w->rng, 1, 20);
	w->trim = rng_percent(&w->rng, 30) ? 0 : rng_in(&w->rng, 1, 70);
	w->twice = rng_percent(&w->rng, 50) ? 0 : rng_in(&w->rng, 1, 20);
	host_open(&w->host, &w->rng, rng_log(&w->rng, 300000, 100000000),
		  rng_in(&w->rng, 40, 100));
	for (i = 0; i < FLOWS; i++) {
		struct ndp_hdr h = { .sport = 1, .dport = 2 };

		w->host.first_id[i] = rng_u32(&w->rng);
		sender_plan(&w->s[i], &w->rng, w->host.first_id[i]);
		h.data.base = w->s[i].seq0;
		h.data.msg_id = w->host.first_id[i];
		ndp_rcv_open(&w->host.f[i], &h, rng_u32(&w->rng), w->host.now_ns);
		sender_run(w, i);
	}
}

static void honest_round(struct world *w, u32 seed)
{
	struct host *t = &w->host;
	u32 i, messages = 0;

	honest_open(w, seed);
	while (!honest_done(w)) {
		assert_in_range(w->steps++, 0, 3000000);
		t->now_ns += w->wires ? rng_in(&w->rng, 0, 1500) : RTO_NS / 10;
		pulls(w);
		if (w->wires)
			arrive(w);
		if (rng_percent(&w->rng, 1)) {
			host_check(t);
			host_read(t);
		}
		if (w->steps % 64 == 0)
			for (i = 0; i < FLOWS; i++)
				sender_run(w, i);
	}
	host_check(t);
	for (i = 0; i < FLOWS; i++) {
		messages += w->s[i].messages;
		/* all has come, and with it LAST: nothing is pulled any more */
		assert_int_equal(ndp_pull_wanted(&t->f[i].pull), 0);
		assert_int_equal(t->f[i].got.base, w->s[i].seq0 + w->s[i].packets);
	}
	assert_true(t->delivered == messages);
	for (i = NDP_RCV_FAR; i < NDP_RCV_VERDICTS; i++)
		assert_true(!t->r.verdicts[i]);
}

static void test_honest(void **state)
{
	struct world *w = malloc(sizeof(*w));
	u64 verdicts[NDP_RCV_VERDICTS] = {}, at_once = 0, pulled = 0;
	u32 seed, i;

	(void)state;
	for (seed = 0; seed < 20; seed++) {
		honest_round(w, seed);
		for (i = 0; i < NDP_RCV_VERDICTS; i++)
			verdicts[i] += w->host.r.verdicts[i];
		at_once += w->host.q.stats.at_once;
		pulled += w->host.q.stats.pulls;
		host_close(&w->host);
	}
	/* all that may happen did */
	for (i = 0; i <= NDP_RCV_NO_ROOM; i++)
		assert_true(i == NDP_RCV_PROBED || verdicts[i] > 100);
	assert_true(at_once > 100 && pulled > 1000);
	free(w);
}

/* ---- hostile senders */

struct hostile {
	struct host host;
	bool came[FLOWS][SEQS];
	u32 base[FLOWS];	/* in came */
	u32 seq0[FLOWS];
	u64 wished[FLOWS];
	struct rng rng;
};

/* Mostly plausible, so that it gets far; any of its numbers may be a lie. */
static struct ndp_hdr hostile_hdr(struct hostile *w, u32 i)
{
	struct rng *rng = &w->rng;
	u32 ahead = rng_percent(rng, 97) ? rng_in(rng, 0, 20) : rng_in(rng, 0, 1200);
	u32 n = w->base[i] + ahead - rng_in(rng, 0, 3), seg = 64 << rng_in(rng, 0, 2);
	struct ndp_hdr h = {
		.type = rng_percent(rng, 97) ? NDP_DATA : NDP_PROBE,
		.flags = rng_in(rng, 0, NDP_DATA_FLAGS), .seq = w->seq0[i] + n,
		.sport = 1 + rng_percent(rng, 1), .dport = 2,
		.data = { .msg_id = w->host.first_id[i] + rng_log(rng, 1, MSGS_MAX) - 1,
			  .prio = rng_in(rng, 0, 7) },
	};

	h.data.base = w->seq0[i] + w->base[i] - rng_in(rng, 0, 5);
	if (ndp_before(h.seq, h.data.base) || rng_in(rng, 0, 999) < 3)
		h.data.base = h.seq - rng_log(rng, 1, 2000) + 1;
	h.data.pull_target = w->host.f[i].pull.granted +
			     (u32)rng_log(rng, 1, rng_percent(rng, 95) ? 100 : UINT32_MAX) - 50;
	if (h.type == NDP_PROBE) {
		h.seq = h.data.base - 1;
		h.data.msg_id = 0;
		return h;
	}
	/* what is true of a message follows from its id, mostly */
	h.data.msg_len = 1 + (h.data.msg_id * 2654435761U >> 20);
	if (rng_percent(rng, 2))
		h.data.msg_len = rng_log(rng, 1, 100000);
	if (rng_percent(rng, 90))
		seg = 64 << h.data.msg_id % 3;
	h.data.offset = rng_in(rng, 0, (h.data.msg_len - 1) / seg) * seg;
	if (rng_percent(rng, 2))
		h.data.offset = rng_in(rng, 0, h.data.msg_len - 1);
	h.payload_len = min_t(u64, seg, h.data.msg_len - h.data.offset);
	if (rng_percent(rng, 2))
		h.payload_len = rng_in(rng, 1, h.payload_len);
	h.here = rng_percent(rng, 80) ? h.payload_len : rng_in(rng, 0, h.payload_len);
	return h;
}

/* What a reader of headers lets through is all that the receiver has to bear. */
static bool hostile_read(struct ndp_hdr *h, struct rng *rng)
{
	u8 bytes[NDP_HLEN + 65536];
	u32 len = NDP_HLEN + h->here;
	bool cut = !h->here && rng_percent(rng, 20);
	struct ndp_hdr sent = *h;

	ndp_hdr_write(&sent, (struct ndp_wire *)bytes);
	return ndp_hdr_read(bytes, cut ? NDP_NACK_HLEN : len, h) == NDP_READ_OK;
}

/* What came, by an array */
static enum ndp_rcv_verdict hostile_expect(struct hostile *w, u32 i, const struct ndp_hdr *h)
{
	u32 n = h->seq - w->seq0[i], base = h->data.base - w->seq0[i];

	if (!h->is_short && (h->sport != 1 || h->dport != 2))
		return NDP_RCV_BAD_PORT;
	if (!h->is_short && (s32)(base - w->base[i]) > 0)
		w->base[i] = base;
	while (w->came[i][w->base[i] % SEQS] && w->base[i] < SEQS)
		w->base[i]++;
	if (h->type == NDP_PROBE)
		return NDP_RCV_PROBED;
	if ((s32)(n - w->base[i]) >= (s32)NDP_RCV_WINDOW)
		return NDP_RCV_FAR;
	if ((s32)(n - w->base[i]) < 0 || w->came[i][n])
		return NDP_RCV_AGAIN;
	if (h->is_short || h->here < h->payload_len)
		return NDP_RCV_TRIMMED;
	return NDP_RCV_PART;
}

static void hostile_step(struct hostile *w)
{
	u32 i = rng_in(&w->rng, 0, FLOWS - 1), n, before;
	struct ndp_hdr h = hostile_hdr(w, i), out;
	struct ndp_rcv_flow *f = &w->host.f[i];
	enum ndp_rcv_verdict v, expect;

	if (!hostile_read(&h, &w->rng))
		return;
	expect = hostile_expect(w, i, &h);
	before = f->pull.target;
	v = host_take(&w->host, i, &h, &out);
	if (expect != NDP_RCV_PART) {
		assert_int_equal(v, expect);
	} else {
		assert_true(v <= NDP_RCV_WHOLE || v == NDP_RCV_NO_ROOM || v >= NDP_RCV_BAD_ID);
		n = h.seq - w->seq0[i];
		w->came[i][n] = v <= NDP_RCV_WHOLE;
		while (w->came[i][w->base[i]])
			w->base[i]++;
	}
	assert_int_equal(f->got.base, w->seq0[i] + w->base[i]);
	assert_in_range(ndp_pull_wanted(&f->pull), 0, NDP_PULL_WISH_MAX);
	if (v >= NDP_RCV_FAR)
		assert_int_equal(f->pull.target, before);
}

static void hostile_pulls(struct hostile *w)
{
	struct host *t = &w->host;
	struct ndp_pull_node *n;
	u32 i, granted[FLOWS], pulled = 0;
	u64 from_ns = t->now_ns;

	for (i = 0; i < FLOWS; i++)
		granted[i] = t->f[i].pull.granted;
	t->now_ns += rng_log(&w->rng, 1, 100000);
	while ((n = ndp_pull_next(&t->q, t->now_ns)))
		pulled++;
	/* never more than the line can take, 123 bytes each at least: 99 ns */
	assert_in_range(pulled, 0, (t->now_ns - from_ns + t->q.late_ns) / 99 + 1);
	for (i = 0; i < FLOWS; i++) {
		assert_false(ndp_before(t->f[i].pull.granted, granted[i]));
		assert_false(ndp_before(t->f[i].pull.target, t->f[i].pull.granted));
		assert_in_range(t->f[i].pull.granted - t->f[i].pull.heard, 0, t->q.ahead);
	}
}

/* The sender, or time, ends a message. */
static void hostile_abort(struct hostile *w)
{
	u32 i = rng_in(&w->rng, 0, FLOWS - 1), id = rng_in(&w->rng, 0, MSGS_MAX - 1);
	struct ndp_rcv_msg *m = ndp_rcv_abort(&w->host.r, &w->host.f[i],
					      w->host.first_id[i] + id);

	if (!m)
		return;
	body_free(&w->host.body[i][id]);
	w->host.body[i][id].delivered = 1;
	free(m);
}

static void hostile_open(struct hostile *w, u32 seed)
{
	u32 i;

	memset(w, 0, sizeof(*w));
	rng_seed(&w->rng, seed);
	host_open(&w->host, &w->rng, rng_log(&w->rng, 2000, 200000),
		  rng_in(&w->rng, 1, 200));
	for (i = 0; i < FLOWS; i++) {
		struct ndp_hdr h = { .sport = 1, .dport = 2 };

		w->seq0[i] = rng_u32(&w->rng);
		w->host.first_id[i] = rng_u32(&w->rng);
		h.data.base = w->seq0[i];
		h.data.msg_id = w->host.first_id[i];
		ndp_rcv_open(&w->host.f[i], &h, rng_u32(&w->rng), w->host.now_ns);
	}
}

static bool hostile_over(const struct hostile *w)
{
	u32 i;

	for (i = 0; i < FLOWS; i++)
		if (w->base[i] > SEQS - 4100)
			return true;
	return false;
}

static void test_hostile(void **state)
{
	struct hostile *w = malloc(sizeof(*w));
	u64 verdicts[NDP_RCV_VERDICTS] = {}, delivered = 0;
	u32 seed, i, k;

	(void)state;
	for (seed = 0; seed < 60; seed++) {
		hostile_open(w, seed);
		for (k = 0; k < 20000 && !hostile_over(w); k++) {
			hostile_step(w);
			if (rng_percent(&w->rng, 20))
				hostile_pulls(w);
			if (rng_percent(&w->rng, 1))
				hostile_abort(w);
			if (rng_percent(&w->rng, 5)) {
				host_check(&w->host);
				host_read(&w->host);
			}
		}
		host_check(&w->host);
		for (i = 0; i < NDP_RCV_VERDICTS; i++)
			verdicts[i] += w->host.r.verdicts[i];
		delivered += w->host.delivered;
		host_close(&w->host);
	}
	for (i = 0; i < NDP_RCV_VERDICTS; i++)
		assert_true(verdicts[i] > 100);
	assert_true(delivered > 2000);
	free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_honest),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests_name("ndp_rcv_random", tests, NULL, NULL);
}
