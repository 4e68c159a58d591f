// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz target for NDP's receiver: any packets to a socket with little memory
 *
 * An input is a number of records of RECORD bytes: an event, the length of the datagram, its first
 * 56 bytes. Valid headers go to the flows of net/ndp/rcv.h. Meanwhile messages are read and
 * aborted, reservations lapse, and flows end. After each event the reservations add up, whole
 * messages have no hole, and answers are valid headers.
 */
#include <assert.h>
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "../../net/ndp/rcv.h"
#include "fuzz_main.h"

#define FUZZ_SIGN	0x01	/* correct the checksums, so that most headers are valid */
#define FUZZ_READ	0x02	/* a message is read */
#define FUZZ_LAPSE	0x04	/* a sender is silent */
#define FUZZ_ABORT	0x08	/* a sender gives up the message of the header */
#define FUZZ_END	0x10	/* a flow ends */
#define FUZZ_PULL	0x20	/* it is time for the next pull */
#define FUZZ_SETTLE	0x40	/* deferred answers are due */
#define FUZZ_BATCH	0x80	/* up to six packets arrive as one; this is the first */
#define FUZZ_IN_ORDER	0x80	/* in the first event: messages are delivered in order */

#define RECORD		(3 + NDP_HLEN)
#define RECORDS		80
#define FLOWS		3
#define TOKEN		5
#define SEQ		0xffffffe0U	/* wraps soon */
#define MEMORY_MIN	600U
#define US		1000ULL

/* A message with its parts; @parts: bytes that arrived */
struct message {
	struct ndp_rcv_msg core;
	struct message *next;
	u64 parts;
};

/* how often the target came by */
static unsigned long reads[NDP_READ_VALUE + 1], admits[NDP_ADMIT_DROP + 1];
static unsigned long verdicts[NDP_RCV_VERDICTS], batches[3], ends[3], pulls[2], rides;

static struct ndp_rcv rcv;
static struct ndp_pull queue;
static struct ndp_rcv_flow flow[FLOWS];
static bool is_open[FLOWS];
static struct message *ready;
static u64 charged, now;

static u32 charge(struct ndp_rmem *r, u32 least, u32 most, enum ndp_rmem_share share)
{
	u32 bytes = now % 8 ? most : least;

	(void)r;
	if (now % 16 == 0 && share != NDP_RMEM_MUST)
		return 0;
	charged += bytes;
	return bytes;
}

static void uncharge(struct ndp_rmem *r, u32 bytes)
{
	(void)r;
	assert(bytes <= charged);
	charged -= bytes;
}

/* ---- invariants */

static void check_answer(struct ndp_hdr *answer, u32 flow_id)
{
	u8 b[NDP_HLEN];
	struct ndp_hdr h;

	answer->flow_id = flow_id;
	ndp_hdr_write(answer, b);
	assert(ndp_hdr_read(b, sizeof(b), &h) == NDP_READ_OK);
}

static void add(struct ndp_rmem *sum, const struct ndp_claim *c, u64 kept)
{
	assert(kept <= c->charged && c->charged <= c->bytes);
	sum->limit += c->charged;
	if (c->is_aside) {
		sum->aside += c->bytes;
		return;
	}
	sum->used += c->bytes;
	sum->big += c->is_big ? c->bytes : 0;
	sum->early += c->is_early ? c->bytes : 0;
}

static void check(void)
{
	const struct ndp_rmem *r = &rcv.mem;
	struct ndp_rmem sum = {};
	const struct ndp_rcv_msg *m;
	const struct message *w;
	u32 i, n, msgs = 0;

	for (w = ready; w; w = w->next)
		add(&sum, &w->core.claim, w->core.kept);
	for (i = 0; i < FLOWS; i++) {
		u32 count = 0, windows = 0;

		if (!is_open[i])
			continue;
		add(&sum, &flow[i].promise, 0);
		for (n = 0; n < NDP_RCV_BUCKETS; n++)
			hlist_for_each_entry(m, &flow[i].bucket[n], chain) {
				add(&sum, &m->claim, m->kept);
				assert(m->read <= ndp_rcv_prefix(m) && ndp_rcv_prefix(m) <= m->len);
				windows += m->claim.is_window;
				count++;
			}
		assert(count == flow[i].msgs && windows == flow[i].windows && windows <= 1);
		msgs += count;
	}
	assert(sum.used == r->used && sum.big == r->big && sum.early == r->early);
	assert(sum.aside == r->aside && sum.limit == charged);
	assert(msgs == rcv.msgs && msgs <= rcv.msgs_max);
	assert(charged <= 2 * r->limit + r->limit / 2);
}

/* ---- messages */

static void done(struct message *m)
{
	assert(m->parts == m->core.len);
	ends[0]++;
	m->next = ready;
	ready = m;
}

static void drop(struct ndp_rcv_msg *m)
{
	if (!m)
		return;
	ends[1]++;
	ndp_rmem_end(&rcv.mem, &m->claim);
	free(m);
}

static void read_one(void)
{
	struct message *m = ready;

	if (!m)
		return;
	ready = m->next;
	ndp_rcv_read(&rcv, &m->core, m->core.len - m->core.read, (u32)m->core.kept);
	ndp_rmem_end(&rcv.mem, &m->core.claim);
	free(m);
}

/* Read the prefix of messages that are read in parts. */
static void read_parts(struct ndp_rcv_flow *f)
{
	struct ndp_rcv_msg *m;
	u32 i;
	u64 bytes;

	for (i = 0; i < NDP_RCV_BUCKETS; i++)
		hlist_for_each_entry(m, &f->bucket[i], chain) {
			bytes = ndp_rcv_prefix(m) - m->read;
			if (!m->claim.is_window || m->is_whole || !bytes)
				continue;
			assert(!rcv.in_order || m->id == f->next_id);
			ndp_rcv_read(&rcv, m, bytes, (u32)min_t(u64, bytes, m->kept));
			ends[2]++;
		}
}

static void end_flow(u32 i)
{
	struct ndp_rcv_msg *m;

	while ((m = ndp_rcv_take_any(&rcv, &flow[i]))) {
		if (m->is_whole)
			done((struct message *)m);
		else
			drop(m);
	}
	ndp_pull_flush(&queue, &flow[i].pull);
	ndp_pull_leave(&queue, &flow[i].pull);
	ndp_rcv_close(&rcv, &flow[i]);
	is_open[i] = false;
}

/* ---- packets */

static bool admit(const struct ndp_hdr *h, u32 i)
{
	const struct ndp_rcv_limits limits = {
		.flows_max = FLOWS, .peer_flows_max = FLOWS, .cookie_flows = 1,
	};
	static const u32 token[2] = { TOKEN, TOKEN + 1 };
	enum ndp_rcv_admit how;
	u32 n, flows = 0;

	for (n = 0; n < FLOWS; n++)
		flows += is_open[n];
	how = ndp_rcv_admit(&limits, h, flows + h->seq % 2, flows, token);
	admits[how]++;
	if (how != NDP_ADMIT_OPEN)
		return false;
	ndp_rcv_open(&flow[i], h, h->seq, now);
	flow[i].token = TOKEN;
	is_open[i] = true;
	return true;
}

/* The memory of a packet or batch is no less than its payload. @last: NULL: a packet */
static enum ndp_rcv_verdict process(struct ndp_rcv_flow *f, const struct ndp_hdr *h,
				    const struct ndp_hdr *last)
{
	struct message *fresh = calloc(1, sizeof(*fresh));
	struct ndp_rcv_pkt p = { .h = h, .last = last, .now_ns = now, .first = now % 3 == 0 };
	u32 len = h->payload_len;
	struct ndp_rcv_msg *m = &fresh->core;
	enum ndp_rcv_verdict v;

	if (!fresh)
		err(2, "calloc");
	if (last)
		len = (u32)(last->data.offset - h->data.offset) + last->payload_len;
	if (h->type == NDP_DATA && !ndp_is_trimmed(h))
		p.memory = MEMORY_MIN * ndp_rcv_packets(&p) + len;
	ndp_rmem_set_limit(&rcv.mem, rcv.mem.limit, ndp_rcv_memory(&p));
	v = last ? ndp_rcv_batch(&rcv, f, &p, &m) : ndp_rcv_packet(&rcv, f, &p, &m);
	if (v <= NDP_RCV_WHOLE) {
		((struct message *)m)->parts += len;
		assert(((struct message *)m)->parts <= m->len);
	}
	if (m != &fresh->core)
		free(fresh);
	if (v == NDP_RCV_WHOLE && !rcv.in_order)
		done((struct message *)m);
	while (rcv.in_order && (m = ndp_rcv_take_next(&rcv, f)))
		done((struct message *)m);
	while ((m = ndp_rcv_take_over(&rcv, f)))
		drop(m);
	return v;
}

static void arrive(const struct ndp_hdr *h)
{
	struct ndp_rcv_flow *f = &flow[h->flow_id % FLOWS];
	enum ndp_rcv_verdict v;
	struct ndp_hdr answer;
	bool pull;

	if (!is_open[h->flow_id % FLOWS] && !admit(h, h->flow_id % FLOWS))
		return;
	v = process(f, h, NULL);
	verdicts[v]++;
	check();
	if (v >= NDP_RCV_OUT_OF_WINDOW)
		return;
	pull = ndp_rcv_demand(&queue, f, h, v, h->seq % 5 == 0, now);
	pulls[pull]++;
	if (h->seq % 4 && ndp_rcv_may_ride(f, h, v, 0)) {
		assert(!pull);
		ndp_rcv_ride(f, h, 0);
		rides++;
		if (h->seq % 4 == 1)
			ndp_rcv_rode(f);
	} else if (ndp_rcv_reply(&rcv, f, h, v, pull, 0, &answer)) {
		check_answer(&answer, h->flow_id);
	}
	assert(f->pull.granted == f->pull.target || f->pull.queued || !f->pull.allowed ||
	       (s32)(f->pull.granted - f->pull.seen) >= (s32)f->pull.allowed);
}

/* Return: false if the first packet must be processed alone */
static bool arrive_batch(const struct ndp_hdr *h, u32 count)
{
	struct ndp_rcv_flow *f = &flow[h->flow_id % FLOWS];
	u64 left = h->data.msg_len - h->data.offset;
	struct ndp_hdr last = *h, second, answer;
	enum ndp_rcv_verdict v;
	bool pull;

	if (!is_open[h->flow_id % FLOWS] || h->type != NDP_DATA || h->is_short)
		return false;
	count = (u32)min_t(u64, count, (left + h->payload_len - 1) / h->payload_len);
	if (count < 2)
		return false;
	last.seq += count - 1;
	last.data.offset += (u64)(count - 1) * h->payload_len;
	left = h->data.msg_len - last.data.offset;
	last.payload_len = (u16)min_t(u64, h->payload_len, left);
	last.here = last.payload_len;
	second = ndp_hdr_nth(h, &last, 1);
	if (!ndp_hdr_join(h, &second))
		return false;
	v = process(f, h, &last);
	batches[min_t(u32, v, 2)]++;
	check();
	if (v == NDP_RCV_VERDICTS)
		return false;
	assert(v <= NDP_RCV_WHOLE && ndp_window_has(&f->arrived, h->seq) &&
	       ndp_window_has(&f->arrived, last.seq));
	pull = ndp_rcv_demand_batch(&queue, f, &(struct ndp_rcv_pkt){
		.h = h, .last = &last, .now_ns = now }, h->seq % 5 == 0);
	ndp_rcv_answer(&rcv, f, &last, v, pull, 0, &answer);
	check_answer(&answer, h->flow_id);
	return true;
}

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

static void step(const u8 *record)
{
	static u8 b[NDP_HLEN + NDP_PAYLOAD_MAX];
	u32 len = (u32)record[1] << 8 | record[2], i;
	struct ndp_hdr h, answer = { .type = NDP_CONTROL };
	enum ndp_read read;

	now += 7 * US + record[2];
	memcpy(b, record + 3, NDP_HLEN);
	if (record[0] & FUZZ_SIGN) {
		put_sum(b, 14, 0, 14);
		put_sum(b, 16, 18, NDP_HLEN);
	}
	read = ndp_hdr_read(b, min_t(u32, len, sizeof(b)), &h);
	reads[read]++;
	i = record[6] % FLOWS;
	if (record[0] & FUZZ_READ) {
		read_one();
		read_parts(&flow[i]);
	}
	if (record[0] & FUZZ_PULL)
		ndp_pull_next(&queue, now);
	if (is_open[i] && record[0] & FUZZ_LAPSE)
		ndp_rcv_lapse(&rcv, &flow[i]);
	if (is_open[i] && record[0] & FUZZ_SETTLE && ndp_rcv_settle(&rcv, &flow[i], &answer))
		check_answer(&answer, i);
	if (is_open[i] && record[0] & FUZZ_END)
		end_flow(i);
	check();
	if (read != NDP_READ_OK || (h.type != NDP_DATA && h.type != NDP_PROBE))
		return;
	i = h.flow_id % FLOWS;
	if (is_open[i] && record[0] & FUZZ_ABORT)
		drop(ndp_rcv_abort(&rcv, &flow[i], h.data.msg_id));
	if (!(record[0] & FUZZ_BATCH) || !arrive_batch(&h, 2 + record[2] % 5))
		arrive(&h);
	check();
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	u32 i;

	memset(flow, 0, sizeof(flow));
	memset(is_open, 0, sizeof(is_open));
	now = 1000 * US;
	rcv = (struct ndp_rcv) {
		.mem = { .charge = charge, .uncharge = uncharge }, .msgs_max = 12,
		.overhead = MEMORY_MIN, .window = 30, .in_order = size && data[0] & FUZZ_IN_ORDER,
	};
	ndp_rmem_set_limit(&rcv.mem, 20000, 0);
	ndp_pull_init(&queue, 1000, now);
	ndp_pull_rate(&queue, 1250000000);
	for (; size >= RECORD; data += RECORD, size -= RECORD)
		step(data);
	for (i = 0; i < FLOWS; i++)
		if (is_open[i])
			end_flow(i);
	while (ready)
		read_one();
	check();
	assert(!charged && !queue.queued);
	return 0;
}

/* ---- inputs */

static struct rng rng;

/* Parts of short and long messages, cut alike most of the time */
static u32 make_data(struct ndp_hdr *h)
{
	struct ndp_data *d = &h->data;
	u32 parts = rng_in(&rng, 1, 1 + (d->msg_id = rng_in(&rng, 0, 9)) * 4);

	d->base = SEQ + (rng_percent(&rng, 5) ? rng_in(&rng, 0, 40) : 0);
	d->msg_base = rng_percent(&rng, 3) ? d->msg_id : 0;
	d->msg_len = rng_percent(&rng, 95) ? 1000 * (4 * d->msg_id + 1) - 300 :
					     1 + rng_u32(&rng) % 100000;
	d->offset = 1000 * (parts - 1);
	if (d->offset >= d->msg_len)
		d->offset = 0;
	h->payload_len = (u16)min_t(u64, rng_percent(&rng, 97) ? 1000 : 500,
				    d->msg_len - d->offset);
	h->seq = d->base + rng_in(&rng, 0, rng_percent(&rng, 98) ? 60 : 3000);
	h->flags = rng_percent(&rng, 90) ? NDP_DATA_SYN : 0;
	h->flags |= rng_percent(&rng, 10) ? NDP_DATA_LAST : 0;
	/* nothing is missing */
	if (h->flags & NDP_DATA_LAST && rng_percent(&rng, 50))
		d->base = h->seq;
	h->flags |= rng_percent(&rng, 30) ? NDP_DATA_RTX :
		    rng_percent(&rng, 30) ? NDP_DATA_SPEC : 0;
	if (!d->offset && !(h->flags & NDP_DATA_RTX) && rng_percent(&rng, 20))
		h->flags |= NDP_DATA_ACK;
	if (rng_percent(&rng, 10))
		return rng_percent(&rng, 80) ? NDP_HLEN : NDP_NACK_HLEN;
	return NDP_HLEN + h->payload_len;
}

static u32 make_wire(u8 *b)
{
	struct ndp_hdr h = {
		.type = rng_percent(&rng, 95) ? NDP_DATA : NDP_PROBE,
		.flow_id = rng_in(&rng, 0, FLOWS - 1), .sport = 1,
		.dport = rng_percent(&rng, 98) ? 2 : 3,
	};
	u32 len = NDP_HLEN;

	h.data.pull_target = rng_percent(&rng, 95) ? rng_in(&rng, 0, 100) : rng_u32(&rng);
	h.data.prio = rng_percent(&rng, 80) ? 0 : (u8)rng_in(&rng, 0, NDP_PRIOS - 1);
	h.data.token = rng_in(&rng, 0, TOKEN + 1);
	if (h.type == NDP_DATA) {
		len = make_data(&h);
	} else {
		h.data.base = SEQ;
		h.seq = SEQ - 1;
	}
	ndp_hdr_write(&h, b);
	return len;
}

static size_t make_input(u8 *input)
{
	u32 i, len, count = rng_in(&rng, 1, RECORDS);

	for (i = 0; i < count; i++, input += RECORD) {
		len = make_wire(input + 3);
		input[0] = rng_percent(&rng, 95) ? FUZZ_SIGN : 0;
		input[0] |= rng_percent(&rng, 30) ? FUZZ_READ : 0;
		input[0] |= rng_percent(&rng, 5) ? FUZZ_LAPSE : 0;
		input[0] |= rng_percent(&rng, 2) ? FUZZ_ABORT : 0;
		input[0] |= rng_percent(&rng, 1) ? FUZZ_END : 0;
		input[0] |= rng_percent(&rng, 50) ? FUZZ_PULL : 0;
		input[0] |= rng_percent(&rng, 20) ? FUZZ_SETTLE : 0;
		input[0] |= rng_percent(&rng, 50) ? FUZZ_BATCH : 0;
		input[1] = (u8)(len >> 8);
		input[2] = (u8)len;
		if (rng_percent(&rng, 5))
			input[rng_in(&rng, 1, RECORD - 1)] ^= (u8)(1U << rng_in(&rng, 0, 7));
	}
	return count * RECORD;
}

static bool reached(void)
{
	bool all = true;

	all &= fuzz_show("header", reads, NDP_READ_VALUE + 1, 10);
	all &= fuzz_show("unknown flow", admits, NDP_ADMIT_DROP, 10);
	all &= fuzz_show("packet", verdicts, NDP_RCV_VERDICTS, 10);
	all &= fuzz_show("batch a part, whole, not at once", batches, 3, 10);
	all &= fuzz_show("messages whole, dropped, read in parts", ends, 3, 100);
	all &= fuzz_show("ACKs that may ride", &rides, 1, 50);
	all &= fuzz_show("answers that do not pull, pull", pulls, 2, 1000);
	return all;
}

const struct fuzz_target fuzz_target = {
	.seed = 79, .rng = &rng, .inputs = 10000, .seeds = 50,
	.input_max = RECORDS * RECORD, .make = make_input, .reached = reached,
};
