// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz target for NDP's receive path: any datagrams, to headers, to flows and paths
 *
 * An input is a number of records of RECORD bytes: what happens, how many bytes of the
 * datagram are there, and its first 56. What is a header is the same when written
 * again, and keeps what it may not say out. What comes from a sender goes to the
 * receiver's core, whose answers have to be headers, and whose messages have no hole.
 * What a CONTROL says about a path goes to net/ndp/ndp_path.h, which picks paths in
 * between.
 */
#include <assert.h>
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "../../net/ndp/ndp_path.h"
#include "../../net/ndp/ndp_rcv.h"
#include "fuzz_main.h"

#define FUZZ_SIGN	0x01	/* give it the right checksums, or little would get further */
#define FUZZ_LOST	0x02	/* what the last pick sent is not heard of */
#define FUZZ_RETURNED	0x04	/* it comes back from a switch */
#define FUZZ_LATER	0x08	/* much later */

#define RECORD		(3 + NDP_HLEN)
#define RECORDS		60
#define PATHS		64
#define FLOWS		4
#define COOKIE		5	/* what the receiver hands out */
#define MS		1000000ULL

/* how often the target came by */
static unsigned long reads[NDP_READ_VALUE + 1], types[NDP_COOKIE + 1], outcomes[NDP_OUTCOMES];
static unsigned long admits[NDP_ADMIT_DROP + 1], verdicts[NDP_RCV_VERDICTS], pulls;

static struct ndp_path path[PATHS];
static u8 order[PATHS];
static struct ndp_paths paths;
static u32 last_path;
static u64 now;

static const struct ndp_rcv_params params = {
	.memory_max = 5000, .time_wait_ns = 100 * MS, .msgs_max = 3, .flows_max = 3,
	.peer_flows_max = 3, .cookie_flows = 2, .window = 30,
};

static struct ndp_rcv rcv;
static struct ndp_pull queue;
static struct ndp_rcv_flow flow[FLOWS];
static bool is_open[FLOWS];

static void outcome(u32 which, enum ndp_outcome is)
{
	u32 i, skips = 0;

	outcomes[is]++;
	ndp_path_outcome(&paths, which, is, now);
	for (i = 0; i < PATHS; i++) {
		assert(order[path[i].place] == i);
		skips += path[i].skip;
	}
	assert(skips == paths.skips);
	assert(paths.next <= paths.live && paths.live <= PATHS);
}

static void check_data(const struct ndp_hdr *h)
{
	assert(h->sport && h->dport && h->data.prio < NDP_PRIOS);
	assert(h->data.offset + h->payload_len <= NDP_MSG_MAX);
	assert(h->here <= h->payload_len);
	if (h->type == NDP_DATA)
		assert(h->data.offset + h->payload_len <= h->data.msg_len &&
		       !ndp_before(h->seq, h->data.base));
}

/* What is said to a sender is a header that names its flow. */
static void check_answer(const struct ndp_hdr *answer, u32 flow_id)
{
	struct ndp_hdr got;
	struct ndp_wire w;

	ndp_hdr_write(answer, &w);
	assert(ndp_hdr_read((const u8 *)&w, sizeof(w), &got) == NDP_READ_OK);
	assert(got.flow_id == flow_id);
}

static void refuse(const struct ndp_hdr *h, enum ndp_rcv_admit why)
{
	struct ndp_hdr answer;

	ndp_answer(h, why == NDP_ADMIT_BARE ? NDP_CONTROL : NDP_ERROR, &answer);
	if (why == NDP_ADMIT_BARE) {
		answer.flags = NDP_CTL_NACK | NDP_CTL_BARE;
	} else if (why == NDP_ADMIT_COOKIE) {
		answer.type = NDP_COOKIE;
		answer.cookie = COOKIE;
	} else {
		answer.err.code = NDP_CODE_NO_FLOW;
	}
	check_answer(&answer, h->flow_id);
}

static bool admit(const struct ndp_hdr *h, u32 i)
{
	static const u64 cookies[2] = { COOKIE, COOKIE + 1 };
	enum ndp_rcv_admit how;
	u32 n, flows = 0;

	for (n = 0; n < FLOWS; n++)
		flows += is_open[n];
	how = ndp_rcv_admit(&params, h, flows, flows, cookies);
	admits[how]++;
	if (how != NDP_ADMIT_OPEN) {
		refuse(h, how);
		return false;
	}
	ndp_rcv_open(&flow[i], h, h->seq, now);
	is_open[i] = true;
	return true;
}

static void close_flow(u32 i)
{
	struct ndp_rcv_msg *m;

	while ((m = ndp_rcv_pop(&rcv, &flow[i], U64_MAX)))
		free(m);
	ndp_pull_flush(&queue, &flow[i].pull);
	ndp_rcv_close(&rcv, &flow[i]);
	is_open[i] = false;
}

/* What is whole has each of its bytes once; it is read at once. */
static void deliver(const struct ndp_hdr *h, struct ndp_rcv_msg *m)
{
	assert(m ? m->memory == m->len : h->here == h->data.msg_len);
	ndp_rcv_release(&rcv, h->data.msg_len);
	free(m);
}

/* A DATA or PROBE came, to a receiver of four flows. */
static void receive(const struct ndp_hdr *h, u8 dsfield)
{
	struct ndp_rcv_msg *spare = malloc(sizeof(*spare)), *m = spare;
	u32 i = h->flow_id % FLOWS;
	enum ndp_rcv_verdict v;
	struct ndp_hdr answer;
	bool pull;

	if (!spare)
		err(2, "malloc");
	if (!is_open[i] && !admit(h, i)) {
		free(spare);
		return;
	}
	v = ndp_rcv_packet(&rcv, &flow[i], h, h->here, now, &m);
	verdicts[v]++;
	if (v == NDP_RCV_WHOLE)
		deliver(h, m);
	if (v != NDP_RCV_PART || m != spare)
		free(spare);
	assert(rcv.partial + rcv.unread <= 2 * params.memory_max);
	assert(rcv.msgs <= 2 * params.msgs_max);
	if (v >= NDP_RCV_FAR)
		return;
	pull = ndp_rcv_wish(&queue, &flow[i], h, v, ndp_rcv_yields(&rcv, &flow[i], h, v, now), now);
	ndp_rcv_answer(&rcv, &flow[i], h, v, pull, dsfield, &answer);
	check_answer(&answer, h->flow_id);
}

/* Pulls that are due, and flows of which nothing came for long */
static void pass_time(u64 time_ns)
{
	struct ndp_hdr answer = { .type = NDP_CONTROL, .flags = NDP_CTL_PULL };
	struct ndp_pull_node *n;
	struct ndp_rcv_flow *f;
	u32 i;

	now += time_ns;
	while ((n = ndp_pull_next(&queue, now))) {
		pulls++;
		f = (struct ndp_rcv_flow *)((char *)n - offsetof(struct ndp_rcv_flow, pull));
		assert(!ndp_before(n->target, n->granted));
		ndp_rcv_control(&rcv, f, &answer);
		check_answer(&answer, 0);
	}
	for (i = 0; i < FLOWS; i++)
		if (is_open[i] && ndp_rcv_is_silent(&params, &flow[i], now))
			close_flow(i);
}

static void take(const struct ndp_hdr *h, const u8 *b, u8 how)
{
	u32 i = h->flow_id % FLOWS;
	struct ndp_wire w;

	types[h->type]++;
	if (h->is_short) {
		assert(!h->sport && !h->dport && ndp_is_trimmed(h));
		return receive(h, how);
	}
	ndp_hdr_write(h, &w);
	assert(!memcmp(&w, b, NDP_HLEN));
	if (h->type == NDP_CONTROL) {
		assert(!(h->ctl.sack & (h->ctl.nack | 1)));
		if (h->flags & (NDP_CTL_ACK | NDP_CTL_NACK))
			outcome(h->path, h->flags & NDP_CTL_ACK ? NDP_OUTCOME_ACK :
								  NDP_OUTCOME_NACK);
	} else if (h->type == NDP_ERROR && h->err.code == NDP_CODE_ABORT && is_open[i]) {
		free(ndp_rcv_abort(&rcv, &flow[i], h->err.msg_id));
	} else if (h->type == NDP_DATA || h->type == NDP_PROBE) {
		check_data(h);
		if (how & FUZZ_RETURNED)
			outcome(h->path, NDP_OUTCOME_RETURNED);
		else
			receive(h, how);
	}
}

static void step(const u8 *record)
{
	u32 len = closnet_get16(record + 1), there = len < NDP_HLEN ? len : NDP_HLEN;
	struct ndp_wire w;
	struct ndp_hdr h;
	enum ndp_read is;
	u8 *copy;

	if (record[0] & FUZZ_LOST)
		outcome(last_path, NDP_OUTCOME_LOST);
	pass_time(record[0] & FUZZ_LATER ? 200 * MS : MS / 10);
	last_path = ndp_path_pick(&paths, last_path, now, record[0] * 0x01010101U);
	assert(last_path < PATHS);
	memcpy(&w, record + 3, sizeof(w));
	if (record[0] & FUZZ_SIGN) {
		closnet_put16(w.check, ndp_checksum_first(&w));
		closnet_put16(w.check_rest, ndp_checksum_rest(&w));
	}
	/* no byte behind these may be read, however long the payload is */
	copy = malloc(there + 1);
	if (!copy)
		err(2, "malloc");
	memcpy(copy + 1, &w, there);
	is = ndp_hdr_read(copy + 1, len, &h);
	reads[is]++;
	if (is == NDP_READ_OK)
		take(&h, copy + 1, record[0]);
	free(copy);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	const struct ndp_pull_params pp = {
		.rate_Bps = 100000000, .late_ns = 20000, .ahead = 20,
	};
	u32 i;

	ndp_paths_init(&paths, path, order, PATHS);
	last_path = NDP_PATH_NONE;
	now = 1000 * MS;
	rcv = (struct ndp_rcv) { .p = &params };
	ndp_pull_init(&queue, &pp, now);
	for (; size >= RECORD; data += RECORD, size -= RECORD)
		step(data);
	for (i = 0; i < FLOWS; i++)
		if (is_open[i])
			close_flow(i);
	assert(!rcv.partial && !rcv.unread && !rcv.msgs && !rcv.first);
	assert(ndp_pull_next_ns(&queue) == U64_MAX);
	return 0;
}

static struct rng rng;

static void make_data(struct ndp_hdr *h)
{
	h->data.prio = (u8)rng_in(&rng, 0, 7);
	h->data.base = h->seq - rng_in(&rng, 0, rng_percent(&rng, 90) ? 0 : 100);
	h->data.pull_target = rng_in(&rng, 0, 1000);
	if (h->type == NDP_PROBE) {
		h->data.base = h->seq + 1;
		return;
	}
	h->flags = (u8)(rng_u32(&rng) & (rng_percent(&rng, 50) ? 0x07 : 0x0d));
	if (rng_percent(&rng, 50))
		h->flags |= NDP_DATA_SYN;
	h->data.cookie = rng_in(&rng, COOKIE - 1, COOKIE);
	/* packets of small messages, that go together, from the flow's first on */
	if (rng_percent(&rng, 90)) {
		h->data.base = rng_percent(&rng, 90) ? 0 : h->seq;
		h->payload_len = 1000;
		h->data.msg_id = rng_percent(&rng, 95) ? h->seq / 3 : rng_in(&rng, 0, 3);
		h->data.offset = h->seq % 3 * 1000;
		h->data.msg_len = 3000;
		return;
	}
	h->payload_len = (u16)rng_in(&rng, 1, 5000);
	h->data.msg_id = rng_in(&rng, 0, 9);
	h->data.offset = rng_percent(&rng, 50) ? 0 : rng_log(&rng, 1, 1ULL << 39);
	h->data.msg_len = h->data.offset + h->payload_len;
	if (rng_percent(&rng, 50))
		h->data.msg_len += rng_log(&rng, 1, 1 << 20);
}

static void make_ctl(struct ndp_hdr *h)
{
	static const u8 about[] = { 0, NDP_CTL_ACK, NDP_CTL_NACK, NDP_CTL_PROBED };

	h->flags = about[rng_in(&rng, 0, 3)];
	if (!h->flags) {
		h->seq = 0;
		h->path = 0;
		h->try_no = 0;
	}
	if (rng_percent(&rng, 50))
		h->flags |= NDP_CTL_PULL;
	h->ctl.ack_base = h->seq - rng_in(&rng, 0, 64);
	h->ctl.pull = rng_u32(&rng);
	h->ctl.sack = rng_u32(&rng) & ~1U;
	h->ctl.nack = (u64)rng_u32(&rng) << 32;
}

/* A header as a peer would write it, in packets of all lengths; returns what is there */
static u32 make_wire(struct ndp_wire *w)
{
	struct ndp_hdr h = {
		.type = rng_percent(&rng, 50) ? NDP_DATA : (u8)rng_in(&rng, NDP_DATA, NDP_COOKIE),
		.path = (u8)rng_in(&rng, 0, PATHS + 1), .try_no = (u8)rng_in(&rng, 0, 2),
		.sport = 1, .dport = 2,
	};

	h.flow_id = rng_percent(&rng, 70) ? 0 : rng_in(&rng, 0, FLOWS);
	h.seq = rng_percent(&rng, 90) ? rng_in(&rng, 0, 11) : rng_u32(&rng);
	if (h.type == NDP_DATA || h.type == NDP_PROBE) {
		make_data(&h);
	} else if (h.type == NDP_CONTROL) {
		make_ctl(&h);
	} else if (h.type == NDP_ERROR) {
		h.err.code = (u8)rng_in(&rng, 0, NDP_CODE_ABORT + 1);
		h.err.msg_id = rng_in(&rng, 0, 1);
	} else {
		h.cookie = rng_in(&rng, 0, 9);
	}
	ndp_hdr_write(&h, w);
	if (h.type != NDP_DATA || rng_percent(&rng, 50))
		return NDP_HLEN + (rng_percent(&rng, 90) ? h.payload_len : 0);
	return rng_in(&rng, 0, NDP_HLEN + 100);
}

static size_t make_input(u8 *input)
{
	u32 i, n, len, count = rng_in(&rng, 1, RECORDS);

	for (i = 0; i < count; i++, input += RECORD) {
		len = make_wire((struct ndp_wire *)(input + 3));
		input[0] = rng_percent(&rng, 80) ? FUZZ_SIGN : 0;
		if (rng_percent(&rng, 10))
			input[0] |= FUZZ_LOST;
		if (rng_percent(&rng, 5))
			input[0] |= FUZZ_RETURNED;
		if (rng_percent(&rng, 2))
			input[0] |= FUZZ_LATER;
		closnet_put16(input + 1, (u16)len);
		for (n = rng_percent(&rng, 30) ? 3 : 0; n; n--)
			input[3 + rng_in(&rng, 0, NDP_HLEN - 1)] ^=
				(u8)(1U << rng_in(&rng, 0, 7));
	}
	return count * RECORD;
}

static bool reached(void)
{
	bool all = true;

	all &= fuzz_show("reads", reads, NDP_READ_VALUE + 1, 1000);
	all &= fuzz_show("types", types + 1, NDP_COOKIE, 1000);
	all &= fuzz_show("outcomes", outcomes, NDP_OUTCOMES, 1000);
	all &= fuzz_show("admits", admits, NDP_ADMIT_DROP + 1, 100);
	all &= fuzz_show("verdicts", verdicts, NDP_RCV_VERDICTS, 100);
	all &= fuzz_show("pulls", &pulls, 1, 1000);
	return all;
}

const struct fuzz_target fuzz_target = {
	.seed = 77, .rng = &rng, .inputs = 20000, .seeds = 50,
	.input_max = RECORDS * RECORD, .make = make_input, .reached = reached,
};
