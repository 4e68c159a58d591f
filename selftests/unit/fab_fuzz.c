// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz target for closfab's cores: headers that a stranger may send
 *
 * An input is a sequence of records of RECORD bytes: a header, the length of the packet, and the
 * time until the next one. A header that is valid must be the same when it is written again. Its
 * packet then goes to the order, the cells or ConWeave's destination of one bucket. No packet may
 * be delivered twice or kept longer than the bound.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <closnet/pkt_core.h>
#include "../../net/closfab/fab_cell.h"
#include "../../net/closfab/fab_dest.h"
#include "../../net/closfab/fab_order.h"
#include "fuzz_main.h"

#define RECORD		(FAB_HLEN + 4)
#define RECORDS		200
#define US		1000ULL

static const struct fab_wait wait = { .min_ns = 10 * US, .max_ns = 1000 * US };
static const struct fab_dest_params dp = {
	.extra_ns = 16 * US, .default_ns = 200 * US, .max_ns = 1000 * US,
};

/* coverage */
static unsigned long ops[FAB_OPS], verdicts[FAB_RESTART + 1], cell_results[FAB_CELL_DONE + 1];
static unsigned long refused, skipped, fifos, flushes;

static struct fab_order order;
static struct fab_skew skew;
static struct fab_cells cells;
static struct fab_dest dest;
static struct fab_held places[RECORDS];
static bool is_held[RECORDS];
static u64 now_ns;

static void take(struct fab_held *held)
{
	u32 i = held - places;

	assert(is_held[i]);
	is_held[i] = false;
}

static void take_ordered(void)
{
	struct fab_held *held;

	while ((held = fab_order_pop(&order)))
		take(held);
}

static void expire(void)
{
	while (!fab_order_wait_ns(&order, &skew, &wait, now_ns)) {
		assert(fab_order_skip(&order, &skew, now_ns));
		skipped++;
		take_ordered();
	}
	if (dest.held && dest.deadline_ns <= now_ns)
		fab_dest_pass(&dest);
}

static void restart(u32 seq)
{
	struct fab_held *held;

	while ((held = fab_order_flush(&order)))
		take(held);
	fab_order_init(&order, seq);
}

static void receive_ordered(const struct fab_header *h, u32 i, u32 len)
{
	struct fab_held *place = len % 8 ? &places[i] : NULL;
	enum fab_verdict v = fab_order_receive(&order, place, h->seq, &skew, now_ns);

	verdicts[v]++;
	if (v == FAB_RESTART) {
		restart(h->seq);
		v = fab_order_receive(&order, place, h->seq, &skew, now_ns);
		assert(v == FAB_PASS);
	}
	assert(v != FAB_HOLD || place);
	is_held[i] = v == FAB_HOLD;
	take_ordered();
	assert(order.count <= FAB_HELD_MAX);
}

static void receive_cell(const struct fab_header *h, u32 len)
{
	u32 before = cells.bytes;
	enum fab_cell c;

	if (fab_cells_breaks(&cells, h->seq, h->flags))
		assert(!cells.open);
	c = fab_cells_receive(&cells, h->seq, h->flags, len, 10000);
	cell_results[c]++;
	if (c == FAB_CELL_DROP)
		assert(!cells.open);
	else
		assert(cells.bytes <= 10000 &&
		       cells.bytes == (h->flags & FAB_F_FIRST ? 0 : before) + len);
}

static void receive_weave(const struct fab_header *h)
{
	struct fab_todo todo = fab_dest_receive(&dest, &dp, h, now_ns);

	fifos += todo.start;
	flushes += todo.flush || todo.flush_before;
	assert(!todo.start || todo.hold);
	assert(!todo.hold || dest.held);
	assert(todo.hold + todo.stray + todo.late <= 1);
	if (dest.held)
		assert(dest.deadline_ns <= dest.held_ns + dp.max_ns && dest.held_ns <= now_ns);
}

static void receive(const u8 *record, u32 i)
{
	u32 len = closnet_get16(record + FAB_HLEN), hlen;
	u8 again[FAB_HLEN];
	struct fab_header h;

	now_ns += (u64)closnet_get16(record + FAB_HLEN + 2) * 100;
	expire();
	hlen = fab_header_read(&h, record, len);
	if (!hlen) {
		refused++;
		return;
	}
	assert(hlen <= len && h.op < FAB_OPS);
	fab_header_write(again, &h);
	assert(!memcmp(again, record, FAB_HLEN));
	ops[h.op]++;
	if (h.op == FAB_ORDERED)
		receive_ordered(&h, i, len);
	else if (h.op == FAB_CELL)
		receive_cell(&h, len - hlen);
	else if (h.op == FAB_CONWEAVE)
		receive_weave(&h);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	u32 i;

	fab_order_init(&order, 0);
	memset(&cells, 0, sizeof(cells));
	memset(&dest, 0, sizeof(dest));
	memset(is_held, 0, sizeof(is_held));
	skew = (struct fab_skew){ };
	now_ns = 1;
	for (i = 0; i < RECORDS && size >= RECORD; i++, data += RECORD, size -= RECORD)
		receive(data, i);
	now_ns += wait.max_ns + US;
	expire();
	for (i = 0; i < RECORDS; i++)
		assert(!is_held[i]);
	return 0;
}

/* ---- own inputs ---- */

static struct rng rng;

static size_t make(u8 *input)
{
	u32 records = rng_in(&rng, 1, RECORDS), i, seq = 0, epoch = 0;
	u8 op = rng_in(&rng, FAB_DATA, FAB_NOTIFY);

	for (i = 0; i < records; i++, input += RECORD) {
		struct fab_header h = {
			.op = rng_percent(&rng, 90) ? op : rng_u32(&rng) % FAB_OPS,
		};

		seq += rng_percent(&rng, 95) ? rng_u32(&rng) % 3 :
					       rng_u32(&rng) >> (rng_u32(&rng) % 32);
		epoch += rng_percent(&rng, 10);
		h.seq = seq - rng_u32(&rng) % 3;
		h.epoch = epoch;
		h.tx_us = i;
		if (h.op == FAB_CONWEAVE)
			h.flags = "\0\0\1\2\4\4"[rng_u32(&rng) % 6];
		if (h.op == FAB_CELL)
			h.flags = (rng_u32(&rng) % 4) << 5;
		if (!fab_op_is_control(h.op))
			h.proto = ETH_P_IP;
		fab_header_write(input, &h);
		closnet_put16(input + FAB_HLEN, FAB_HLEN + (h.proto ? rng_in(&rng, 1, 4000) : 0));
		closnet_put16(input + FAB_HLEN + 2,
			      rng_u32(&rng) % (rng_percent(&rng, 95) ? 100 : 20000));
	}
	return records * RECORD;
}

static size_t mutate(u8 *input, size_t size)
{
	return fuzz_mutate_bytes(&rng, input, size);
}

static bool reached(void)
{
	bool all = fuzz_show("refused", &refused, 1, 100);

	all = fuzz_show("kinds", ops, FAB_OPS, 1000) && all;
	all = fuzz_show("verdicts", verdicts, FAB_RESTART + 1, 1) && all;
	all = fuzz_show("cells", cell_results, FAB_CELL_DONE + 1, 100) && all;
	all = fuzz_show("holes given up", &skipped, 1, 100) && all;
	all = fuzz_show("FIFOs", &fifos, 1, 100) && all;
	return fuzz_show("flushes", &flushes, 1, 100) && all;
}

const struct fuzz_target fuzz_target = {
	.seed = 1, .rng = &rng, .inputs = 5000, .seeds = 50, .input_max = RECORDS * RECORD,
	.make = make, .mutate = mutate, .reached = reached,
};
