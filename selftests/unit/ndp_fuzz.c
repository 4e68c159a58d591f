// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz target for NDP's receive path: any datagrams, to headers, to paths
 *
 * An input is a number of records of RECORD bytes: what happens, how many bytes of the
 * datagram are there, and its first 56. What is a header is the same when written
 * again, keeps what it may not say out, and can be answered; what a CONTROL says about
 * a path goes to net/ndp/ndp_path.h, which picks paths in between.
 */
#include <assert.h>
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "../../net/ndp/ndp_path.h"
#include "../../net/ndp/ndp_wire.h"
#include "fuzz_main.h"

#define FUZZ_SIGN	0x01	/* give it the right checksums, or little would get further */
#define FUZZ_LOST	0x02	/* what the last pick sent is not heard of */
#define FUZZ_RETURNED	0x04	/* it comes back from a switch */

#define RECORD		(3 + NDP_HLEN)
#define RECORDS		40
#define PATHS		64

/* how often the target came by */
static unsigned long reads[NDP_READ_VALUE + 1], types[NDP_COOKIE + 1], outcomes[NDP_OUTCOMES];
static unsigned long trimmed, is_short;

static struct ndp_path path[PATHS];
static u8 order[PATHS];
static struct ndp_paths paths;
static u32 last_path;
static u64 now;

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

static void check_answer(const struct ndp_hdr *h)
{
	struct ndp_hdr answer, got;
	struct ndp_wire w;

	ndp_answer(h, NDP_CONTROL, &answer);
	answer.flags = NDP_CTL_NACK | (h->is_short ? NDP_CTL_BARE : 0);
	ndp_hdr_write(&answer, &w);
	assert(ndp_hdr_read((const u8 *)&w, sizeof(w), &got) == NDP_READ_OK);
	assert(got.flow_id == h->flow_id && got.seq == h->seq && got.try_no == h->try_no);
}

static void take(const struct ndp_hdr *h, const u8 *b, u8 how)
{
	struct ndp_wire w;

	types[h->type]++;
	if (h->is_short) {
		is_short++;
		assert(!h->sport && !h->dport && ndp_is_trimmed(h));
		return check_answer(h);
	}
	ndp_hdr_write(h, &w);
	assert(!memcmp(&w, b, NDP_HLEN));
	if (h->type == NDP_CONTROL) {
		assert(!(h->ctl.sack & (h->ctl.nack | 1)));
		if (h->flags & (NDP_CTL_ACK | NDP_CTL_NACK))
			outcome(h->path, h->flags & NDP_CTL_ACK ? NDP_OUTCOME_ACK :
								  NDP_OUTCOME_NACK);
	} else if (h->type == NDP_DATA || h->type == NDP_PROBE) {
		check_data(h);
		check_answer(h);
		trimmed += ndp_is_trimmed(h);
		if (how & FUZZ_RETURNED)
			outcome(h->path, NDP_OUTCOME_RETURNED);
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
	now += 100000;
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
	ndp_paths_init(&paths, path, order, PATHS);
	last_path = NDP_PATH_NONE;
	now = 0;
	for (; size >= RECORD; data += RECORD, size -= RECORD)
		step(data);
	return 0;
}

static struct rng rng;

static void make_data(struct ndp_hdr *h)
{
	h->data.prio = (u8)rng_in(&rng, 0, 7);
	h->data.base = h->seq - rng_in(&rng, 0, 100);
	h->data.pull_target = rng_in(&rng, 0, 1000);
	if (h->type == NDP_PROBE) {
		h->data.base = h->seq + 1;
		return;
	}
	h->flags = (u8)(rng_u32(&rng) & (rng_percent(&rng, 50) ? 0x07 : 0x0d));
	h->payload_len = (u16)rng_in(&rng, 1, 9000);
	h->data.msg_id = rng_u32(&rng);
	h->data.offset = rng_log(&rng, 1, 1ULL << 39);
	h->data.msg_len = h->data.offset + h->payload_len + rng_log(&rng, 1, 1 << 20);
	h->data.cookie = rng_u32(&rng);
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
		.type = (u8)rng_in(&rng, NDP_DATA, NDP_COOKIE),
		.path = (u8)rng_in(&rng, 0, PATHS + 1), .try_no = (u8)rng_in(&rng, 0, 2),
		.sport = 1, .dport = 2,
	};

	h.flow_id = rng_u32(&rng);
	h.seq = rng_u32(&rng);
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
		input[0] = (u8)(rng_u32(&rng) & ~FUZZ_SIGN);
		if (rng_percent(&rng, 80))
			input[0] |= FUZZ_SIGN;
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
	all &= fuzz_show("trimmed", &trimmed, 1, 1000);
	all &= fuzz_show("short", &is_short, 1, 1000);
	return all;
}

const struct fuzz_target fuzz_target = {
	.seed = 77, .rng = &rng, .inputs = 10000, .seeds = 50,
	.input_max = RECORDS * RECORD, .make = make_input, .reached = reached,
};
