// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz target for answers to NDP's sender: any answers, to a flow with messages
 *
 * An input is a number of records of RECORD bytes: what happens, a header, a message. Messages
 * come, and are given up; time passes; the header goes to net/ndp/snd.h, as an answer or as a
 * packet that a switch has returned. After each the flow sends all that it may. After
 * any answer, its lists are lists, it sends valid headers, each packet had a permission, no
 * message ends twice, or is acknowledged before all of it was sent.
 */
#include <assert.h>
#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../net/ndp/snd.h"
#include "fuzz_main.h"

#define FUZZ_RETURNED	0x01	/* DATA comes back from a switch */
#define FUZZ_SUBMIT	0x02	/* a message begins, or there is more of it */
#define FUZZ_CANCEL	0x04	/* a message is given up */
#define FUZZ_LATER	0x08	/* some timeouts later */
#define FUZZ_MUCH_LATER	0x10
#define FUZZ_OF_THE_FIRST 0x20	/* it is about the oldest packet in flight */

#define WHAT		4		/* bytes that describe a message */
#define RECORD		(1 + NDP_HLEN + WHAT)
#define RECORDS		80
#define MSGS		6
#define RING		64U
#define WINDOW		10
#define PAYLOAD		1000U
#define SEQ		0xffffffe0U	/* wraps soon */
#define FLOW_ID		77U
#define US		1000ULL
#define MS		1000000ULL

/* how often the target came by */
static unsigned long verdicts[NDP_SND_REFUSED + 1], returns[NDP_SND_STALE + 1];
static unsigned long cookies[NDP_SND_STALE + 1], errors[NDP_SND_REFUSED + 1];
static unsigned long carried[2];
static unsigned long actions[NDP_SND_PROBE + 1], expiries[NDP_SND_FAILED + 1], ends[2];

static const struct ndp_snd_params params = {
	.rto_ns = MS, .rto_max_ns = 20 * MS, .renew_ns = 300 * MS, .timeout_ns = 400 * MS,
	.initial_window = WINDOW, .max_tries = 6,
};

static struct ndp_snd_flow flow;
static struct ndp_snd_stats stats;
static struct ndp_snd_msg msg[MSGS];
static bool is_open[MSGS];
static void *ring;
static u64 now;

static struct ndp_snd_call call(void)
{
	return (struct ndp_snd_call) { .p = &params, .stats = &stats, .now = now, .bands = 1 };
}

static void begin_flow(void)
{
	memset(ring, 0, ndp_sb_bytes(RING));
	memset(&stats, 0, sizeof(stats));
	ndp_snd_init(&flow, &params, now / MS % 2, FLOW_ID, SEQ);
	flow.sport = 1;
	flow.dport = 2;
	flow.quiet_ns = now;
	ndp_sb_attach(&flow.sb, ring, RING);
}

/* ---- what always holds */

static u32 check_list(const struct ndp_pkt_list *list, u8 state)
{
	const struct ndp_snd_pkt *pkt = flow.sb.pkt;
	u32 slot, prev = NDP_RING_NONE, count = 0;

	for (slot = list->head; slot != NDP_RING_NONE; slot = pkt[slot].next) {
		assert(pkt[slot].prev == prev && pkt[slot].state == state);
		assert(++count <= RING);
		prev = slot;
	}
	assert(list->tail == prev && list->count == count);
	return count;
}

/* New packets that the ready bytes make */
static u64 packets_of(const struct ndp_snd_msg *m)
{
	u64 left = m->ready - m->sent;

	return m->ready == m->len ? (left + m->payload - 1) / m->payload : left / m->payload;
}

static void check_messages(void)
{
	u32 i, begun = 0, pending = 0;
	u64 packets = 0;

	for (i = 0; i < MSGS; i++) {
		const struct ndp_snd_msg *m = &msg[i];

		if (!is_open[i])
			continue;
		assert(m->done <= m->sent && m->sent <= m->ready && m->ready <= m->len);
		begun += !list_empty(&m->begun);
		pending += m->pending;
		packets += m->is_refused ? 0 : packets_of(m);
	}
	assert(begun == flow.msgs_begun && packets == flow.new_packets);
	assert(pending == flow.sb.flight.count + flow.sb.lost.count);
}

static void check(void)
{
	const struct ndp_scoreboard *b = &flow.sb;
	u32 seq, left = 0;

	assert(b->next - b->base <= RING);
	for (seq = b->base; seq != b->next; seq++)
		left += b->pkt[seq & b->mask].state != NDP_PKT_DONE;
	assert(check_list(&b->flight, NDP_PKT_FLIGHT) + check_list(&b->lost, NDP_PKT_LOST) == left);
	assert(flow.credit <= WINDOW);
	assert(stats.new_packets + stats.rtx_packets == stats.spec_packets + stats.pushed_packets +
	       stats.pulls - stats.pulls_unused - flow.credit);
	assert(flow.error || (ndp_snd_is_busy(&flow) || flow.msgs_begun) ==
	       (ndp_snd_due_ns(&flow, &params) != U64_MAX));
	check_messages();
}

/* ---- what happens */

static void reap(void)
{
	struct ndp_snd_msg *m;
	u32 i;

	while ((m = ndp_snd_reap(&flow))) {
		i = (u32)(m - msg);
		assert(i < MSGS && is_open[i]);
		if (!m->ended)
			continue;
		ends[m->error > 0]++;
		is_open[i] = false;
		assert(!m->pending && (m->error || (m->sent == m->len && m->done == m->len)));
	}
	check();
}

/* Each packet that it may send; a header that a receiver takes */
static void send_all(void)
{
	struct ndp_snd_call c = call();
	const struct ndp_snd_pkt *pkt;
	enum ndp_snd_action action;
	struct ndp_hdr h, got;
	u8 w[NDP_HLEN];
	u32 count = 0;

	while ((action = ndp_snd_pick(&flow, &params)) != NDP_SND_WAIT) {
		actions[action]++;
		pkt = ndp_snd_send(&c, &flow, action, (u8)count, &h);
		assert(!pkt == (action == NDP_SND_PROBE));
		if (pkt)
			assert(pkt->len == h.payload_len && is_open[pkt->msg - msg]);
		ndp_hdr_write(&h, w);
		assert(ndp_hdr_read(w, sizeof(w), &got) == NDP_READ_OK);
		/* it has an end without an answer */
		assert(++count <= 4 * RING);
		check();
	}
}

static void submit(const u8 *b)
{
	struct ndp_snd_msg *m = &msg[b[0] % MSGS];
	struct ndp_snd_call c = call();

	if (is_open[b[0] % MSGS]) {
		ndp_snd_more(&c, &flow, m, m->ready + b[1] * 100);
		return;
	}
	*m = (struct ndp_snd_msg) {
		.len = (b[3] & 0x40 ? 256ULL * b[1] : 8ULL * b[1]) + b[2] + 1,
		.payload = PAYLOAD, .prio = b[3] % NDP_PRIOS,
	};
	m->ready = b[3] & 0x80 ? m->len / 2 : m->len;
	is_open[b[0] % MSGS] = ndp_snd_submit(&c, &flow, m);
	assert(is_open[b[0] % MSGS]);
}

static void expire(void)
{
	struct ndp_snd_call c = call();
	enum ndp_snd_expiry e;
	u8 path;

	do {
		e = ndp_snd_expire(&c, &flow, (u32)now, &path);
		expiries[e]++;
	} while (e == NDP_SND_LOST);
}

/* DATA of the other direction carries an ACK. */
static void hear_carried(struct ndp_hdr *h, u8 how)
{
	struct ndp_snd_call c = call();
	u32 first = flow.sb.flight.head;
	struct ndp_hdr said;

	if (how & FUZZ_OF_THE_FIRST && first != NDP_RING_NONE)
		h->data.ack_seq = ndp_sb_seq(&flow.sb, first);
	if (!ndp_snd_carried(&c, &flow, h->data.ack_seq, &said)) {
		carried[1]++;
		return;
	}
	carried[0]++;
	assert(ndp_snd_control(&c, &flow, &said) == NDP_SND_NEWS);
}

static void hear(struct ndp_hdr *h, u8 how)
{
	struct ndp_snd_call c = call();
	u32 first = flow.sb.flight.head;

	if (how & FUZZ_OF_THE_FIRST && first != NDP_RING_NONE) {
		h->seq = ndp_sb_seq(&flow.sb, first);
		h->try_no = flow.sb.pkt[first].try_no;
	}
	if (h->type == NDP_CONTROL)
		verdicts[ndp_snd_control(&c, &flow, h)]++;
	else if (h->type == NDP_COOKIE)
		cookies[ndp_snd_cookie(&c, &flow, h)]++;
	else if (h->type == NDP_ERROR && h->err.code != NDP_CODE_ABORT)
		errors[ndp_snd_error(&c, &flow, h)]++;
	else if (h->type == NDP_DATA && how & FUZZ_RETURNED)
		returns[ndp_snd_returned(&c, &flow, h)]++;
	else if (ndp_carries_ack(h))
		hear_carried(h, how);
}

/* Internet checksum of bytes from..to - 1, stored at @at */
static void put_sum(u8 *b, u32 at, u32 from, u32 to)
{
	u32 sum = 0;

	for (; from < to; from += 2)
		sum += (u32)b[from] << 8 | b[from + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	b[at] = (u8)(~sum >> 8);
	b[at + 1] = (u8)~sum;
}

static void seal(u8 *b)
{
	put_sum(b, 14, 0, 14);
	put_sum(b, 16, 18, NDP_HLEN);
}

static void step(const u8 *record)
{
	struct ndp_snd_call c;
	const u8 *what = record + 1 + NDP_HLEN;
	u8 w[NDP_HLEN];
	struct ndp_hdr h;

	now += record[0] & FUZZ_MUCH_LATER ? 450 * MS : record[0] & FUZZ_LATER ? 5 * MS : 20 * US;
	memcpy(w, record + 1, sizeof(w));
	if (record[0] & FUZZ_SUBMIT)
		submit(what);
	c = call();
	if (record[0] & FUZZ_CANCEL && is_open[what[0] % MSGS])
		ndp_snd_cancel(&c, &flow, &msg[what[0] % MSGS], ECANCELED);
	reap();
	if (ndp_snd_is_old(&c, &flow))
		ndp_snd_renew(&flow, FLOW_ID);
	expire();
	reap();
	seal(w);
	if (ndp_hdr_read(w, sizeof(w), &h) == NDP_READ_OK)
		hear(&h, record[0]);
	reap();
	if (flow.error)
		begin_flow();
	send_all();
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	ring = malloc(ndp_sb_bytes(RING));
	if (!ring)
		err(2, "malloc");
	memset(is_open, 0, sizeof(is_open));
	now = 1000 * MS;
	begin_flow();
	for (; size >= RECORD; data += RECORD, size -= RECORD)
		step(data);
	free(ring);
	return 0;
}

/* ---- inputs */

static struct rng rng;

static void make_ctl(struct ndp_hdr *h)
{
	static const u8 about[] = { 0, NDP_CTL_ACK, NDP_CTL_ACK, NDP_CTL_NACK, NDP_CTL_FULL };

	h->flags = about[rng_in(&rng, 0, 4)];
	if (h->flags == NDP_CTL_NACK && rng_percent(&rng, 10)) {
		h->flags |= NDP_CTL_BARE;
		h->sport = 0;
		h->dport = 0;
		return;
	}
	if (!h->flags) {
		h->seq = 0;
		h->try_no = 0;
	}
	h->flags |= rng_percent(&rng, 70) ? NDP_CTL_ROOM : 0;
	h->flags |= rng_percent(&rng, 5) ? NDP_CTL_PING : 0;
	h->ctl.ack_base = SEQ + rng_in(&rng, 0, rng_percent(&rng, 90) ? 5 : 200);
	h->ctl.pull = rng_percent(&rng, 90) ? rng_in(&rng, 0, 100) : rng_u32(&rng);
	h->ctl.trimmed = rng_percent(&rng, 90) ? rng_in(&rng, 0, 50) : rng_u32(&rng);
	h->ctl.token = rng_in(&rng, 1, 3);
	h->ctl.window = rng_percent(&rng, 20) ? 0 : 1024;
	if (rng_percent(&rng, 50))
		h->ctl.sack = (u64)1 << rng_in(&rng, 1, 20);
	if (rng_percent(&rng, 30))
		h->ctl.nack = ((u64)1 << rng_in(&rng, 0, 20)) & ~h->ctl.sack;
}

/* A header of a peer, or of a forger with its knowledge */
static void make_wire(u8 *w)
{
	static const u8 types[] = { NDP_DATA, NDP_ERROR, NDP_COOKIE };
	struct ndp_hdr h = {
		.type = rng_percent(&rng, 80) ? NDP_CONTROL : types[rng_in(&rng, 0, 2)],
		.flow_id = FLOW_ID, .seq = SEQ + rng_in(&rng, 0, 60), .sport = 2, .dport = 1,
	};

	if (h.type == NDP_CONTROL) {
		make_ctl(&h);
	} else if (h.type == NDP_DATA) {
		h.payload_len = PAYLOAD;
		h.data.base = h.seq;
		h.data.msg_len = PAYLOAD;
		h.flags = rng_percent(&rng, 50) ? NDP_DATA_ACK : 0;
		h.data.ack_seq = SEQ + rng_in(&rng, 0, 60);
	} else if (h.type == NDP_ERROR) {
		h.err.code = (u8)rng_in(&rng, NDP_CODE_NO_PORT, NDP_CODE_REFUSED);
		if (h.err.code >= NDP_CODE_GONE)
			h.err.msg_id = rng_in(&rng, 0, 5);
	} else {
		h.token = rng_in(&rng, 1, 3);
	}
	ndp_hdr_write(&h, w);
}

static size_t make_input(u8 *input)
{
	u32 i, n, count = rng_in(&rng, 1, RECORDS);

	for (i = 0; i < count; i++, input += RECORD) {
		make_wire(input + 1);
		input[0] = rng_percent(&rng, 50) ? FUZZ_RETURNED : 0;
		input[0] |= rng_percent(&rng, 60) ? FUZZ_OF_THE_FIRST : 0;
		input[0] |= rng_percent(&rng, 10) ? FUZZ_LATER : 0;
		input[0] |= rng_percent(&rng, 1) ? FUZZ_MUCH_LATER : 0;
		if (rng_percent(&rng, 30)) {
			input[0] |= FUZZ_SUBMIT | (rng_percent(&rng, 10) ? FUZZ_CANCEL : 0);
			for (n = 0; n < WHAT; n++)
				input[1 + NDP_HLEN + n] = (u8)rng_u32(&rng);
		}
		if (rng_percent(&rng, 10))
			input[rng_in(&rng, 1, NDP_HLEN)] ^= (u8)(1U << rng_in(&rng, 0, 7));
	}
	return count * RECORD;
}

static bool reached(void)
{
	bool all = true;

	all &= fuzz_show("CONTROL", verdicts, NDP_SND_REFUSED + 1, 1000);
	all &= fuzz_show("returned", returns, NDP_SND_STALE + 1, 100);
	all &= fuzz_show("carried, not", carried, 2, 100);
	all &= fuzz_show("COOKIE", cookies, NDP_SND_STALE + 1, 100);
	all &= fuzz_show("ERROR", errors, NDP_SND_REFUSED + 1, 100);
	all &= fuzz_show("sent", actions + 1, NDP_SND_PROBE, 1000);
	all &= fuzz_show("timer", expiries, NDP_SND_FAILED + 1, 100);
	all &= fuzz_show("messages done, failed", ends, 2, 1000);
	return all;
}

const struct fuzz_target fuzz_target = {
	.seed = 78, .rng = &rng, .inputs = 10000, .seeds = 50,
	.input_max = RECORDS * RECORD, .make = make_input, .reached = reached,
};
