// SPDX-License-Identifier: GPL-2.0-only
/*
 * net/ndp/ndp_rcv.h: each rule, by example
 *
 * Parts of messages have 1000 bytes, packets cost the memory of their payload, and
 * the flow's numbers wrap around soon after it begins.
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

#define SEG	1000U
#define W	NDP_RCV_WINDOW
#define SEQ	0xfffffffcU	/* the first packet */
#define ID	0xfffffffeU	/* the first message */
#define SEC	1000000000ULL

static struct ndp_rcv_params p;
static struct ndp_rcv r;
static struct ndp_rcv_flow f;
static struct ndp_rcv_msg *msg;	/* of the last packet */
static u64 now_ns;

static struct ndp_hdr data_of(u32 n, u32 id, u64 offset, u64 len)
{
	u64 left = len - offset;

	return (struct ndp_hdr) {
		.type = NDP_DATA, .flags = NDP_DATA_SYN, .seq = SEQ + n, .sport = 7, .dport = 9,
		.flow_id = 5, .path = 3, .try_no = 2,
		.payload_len = left < SEG ? left : SEG, .here = left < SEG ? left : SEG,
		.data = { .msg_id = ID + id, .base = SEQ, .offset = offset, .msg_len = len },
	};
}

static int setup(void **state)
{
	struct ndp_hdr h = data_of(0, 0, 0, 1);

	(void)state;
	p = (struct ndp_rcv_params) {
		.memory_max = 10000000, .time_wait_ns = 10 * SEC, .msgs_max = 2000,
		.flows_max = 100, .peer_flows_max = 10, .cookie_flows = 50, .window = 30,
	};
	r = (struct ndp_rcv) { .p = &p };
	now_ns = SEC;
	ndp_rcv_open(&f, &h, 0x12345678, now_ns);
	return 0;
}

static int teardown(void **state)
{
	struct ndp_rcv_msg *m;

	(void)state;
	while ((m = ndp_rcv_pop(&r, &f, U64_MAX)))
		free(m);
	assert_int_equal(f.msgs, 0);
	assert_int_equal(r.msgs, 0);
	assert_true(!r.partial);
	ndp_rcv_close(&r, &f);
	assert_null(r.first);
	return 0;
}

/* Each packet is given memory of its own, so that ASan sees what is kept for too long. */
static enum ndp_rcv_verdict take(const struct ndp_hdr *h)
{
	struct ndp_rcv_msg *spare = malloc(sizeof(*spare));
	u64 before = 0, after = 0;
	enum ndp_rcv_verdict v;
	u32 i;

	memset(spare, 0xa5, sizeof(*spare));
	for (i = 0; i < NDP_RCV_VERDICTS; i++)
		before += r.verdicts[i];
	msg = spare;
	v = ndp_rcv_packet(&r, &f, h, h->here, now_ns, &msg);
	for (i = 0; i < NDP_RCV_VERDICTS; i++)
		after += r.verdicts[i];
	assert_true(after == before + 1);
	if (msg != spare || v != NDP_RCV_PART)
		free(spare);
	if (v == NDP_RCV_WHOLE && msg) {
		assert_null(ndp_rcv_find(&f, h->data.msg_id));
		free(msg);
	}
	return v;
}

static enum ndp_rcv_verdict part(u32 n, u32 id, u64 offset, u64 len)
{
	struct ndp_hdr h = data_of(n, id, offset, len);

	return take(&h);
}

static enum ndp_rcv_verdict trimmed(u32 n, u32 id, u64 offset, u64 len, u16 here)
{
	struct ndp_hdr h = data_of(n, id, offset, len);

	h.here = here;
	return take(&h);
}

static struct ndp_ctl control(void)
{
	struct ndp_hdr h = {};

	ndp_rcv_control(&r, &f, &h);
	return h.ctl;
}

/* ---- windows */

static void test_bits(void **state)
{
	static const u32 counts[] = { 0, 1, 2, 63, 64, 65, 127, 128, 1000, W, W + 1, UINT32_MAX };
	u64 bits[NDP_RCV_WORDS];
	u32 n, i, c;

	(void)state;
	for (n = UINT32_MAX - 200; n != 200; n++) {
		for (c = 0; c < sizeof(counts) / sizeof(*counts); c++) {
			memset(bits, 0xff, sizeof(bits));
			ndp_bits_clear_many(bits, n, counts[c]);
			for (i = 0; i < W; i++)
				assert_int_equal(ndp_bits_has(bits, n + i), i >= counts[c]);
		}
		memset(bits, 0, sizeof(bits));
		ndp_bits_set(bits, n + 5);
		ndp_bits_set(bits, n + 63);
		ndp_bits_set(bits, n + 64);
		assert_true(ndp_bits_map(bits, n) == (1ULL << 5 | 1ULL << 63));
	}
}

/* The window beside a plain array, from random numbers */
static void test_window(void **state)
{
	struct ndp_window w = { .base = 0xffffff00 };
	static bool came[100 * W];
	u32 n, base = 0, i;
	struct rng rng;

	(void)state;
	memset(came, 0, sizeof(came));
	rng_seed(&rng, 1);
	while (base < 99 * W) {
		n = base + rng_in(&rng, 0, rng_percent(&rng, 50) ? 3 : W - 1);
		assert_true(ndp_window_fits(&w, 0xffffff00 + n));
		assert_int_equal(ndp_window_has(&w, 0xffffff00 + n), came[n]);
		if (!came[n])
			ndp_window_add(&w, 0xffffff00 + n);
		came[n] = true;
		while (came[base])
			base++;
		assert_int_equal(w.base, 0xffffff00 + base);
		assert_false(ndp_window_fits(&w, w.base + W));
		assert_true(ndp_window_has(&w, w.base - 1));
		for (i = 0; i < 64; i++)
			assert_int_equal(ndp_bits_map(w.bits, w.base) >> i & 1, came[base + i]);
	}
}

/* ---- packets */

static void test_in_order(void **state)
{
	u32 n;

	(void)state;
	for (n = 0; n < 5; n++) {
		assert_int_equal(part(n, 0, n * SEG, 5 * SEG + 1), NDP_RCV_PART);
		assert_int_equal(control().ack_base, SEQ + n + 1);
		assert_true(ndp_rcv_prefix(msg) == (n + 1) * SEG);
		assert_true(r.partial == (n + 1) * SEG);
	}
	assert_int_equal(part(5, 0, 5 * SEG, 5 * SEG + 1), NDP_RCV_WHOLE);
	assert_true(r.partial == 0 && r.unread == 5 * SEG + 1);
	assert_int_equal(control().ack_base, SEQ + 6);
	assert_true(!control().sack && !control().nack);
	ndp_rcv_release(&r, r.unread);
}

/* All orders of a message's five packets, each also without the tail's being short */
static void test_orders(void **state)
{
	u32 order[5], code, i, k, len, digits, whole;

	for (code = 0; code < 2 * 5 * 5 * 5 * 5 * 5; code++) {
		u32 set = 0;

		for (i = 0, digits = code / 2; i < 5; i++, digits /= 5) {
			order[i] = digits % 5;
			set |= 1U << order[i];
		}
		if (set != 0x1f)
			continue;
		setup(state);
		len = 4 * SEG + (code % 2 ? SEG : 1);
		for (i = 0, whole = 0; i < 5; i++) {
			k = order[i];
			assert_int_equal(part(k, 0, k * SEG, len),
					 i == 4 ? NDP_RCV_WHOLE : NDP_RCV_PART);
			assert_true(i == 4 || !ndp_rcv_is_whole(msg));
			whole |= 1U << k;
			assert_true((control().sack | 1) ==
				    ((u64)whole >> (control().ack_base - SEQ) | 1));
			assert_int_equal(part(k, 0, k * SEG, len), NDP_RCV_AGAIN);
		}
		assert_true(r.unread == len);
		teardown(state);
	}
}

static void test_single(void **state)
{
	(void)state;
	assert_int_equal(part(1, 1, 0, 1), NDP_RCV_WHOLE);
	assert_null(msg);
	assert_int_equal(control().ack_base, SEQ);
	assert_true(control().sack == 2);
	assert_int_equal(part(0, 0, 0, SEG), NDP_RCV_WHOLE);
	assert_null(msg);
	assert_int_equal(control().ack_base, SEQ + 2);
	assert_true(r.unread == SEG + 1);
	assert_int_equal(part(0, 0, 0, SEG), NDP_RCV_AGAIN);
	assert_true(r.unread == SEG + 1);
}

static void test_trimmed(void **state)
{
	const struct ndp_hdr bare = {
		.type = NDP_DATA, .flags = NDP_DATA_LAST, .seq = SEQ + 2, .payload_len = 500,
		.is_short = true,
	};

	(void)state;
	assert_int_equal(trimmed(1, 0, SEG, 3 * SEG, 0), NDP_RCV_TRIMMED);
	assert_int_equal(trimmed(0, 0, 0, 3 * SEG, SEG - 1), NDP_RCV_TRIMMED);
	/* of this one only 16 bytes are left: who sent it is not known, nor its message */
	assert_int_equal(take(&bare), NDP_RCV_TRIMMED);
	assert_true(control().nack == 7 && !control().sack);
	assert_int_equal(control().trimmed, 3);
	assert_int_equal(f.msgs, 0);
	/* again, as its retransmission was trimmed as well */
	assert_int_equal(trimmed(1, 0, SEG, 3 * SEG, 0), NDP_RCV_TRIMMED);
	assert_int_equal(control().trimmed, 4);
	assert_int_equal(part(1, 0, SEG, 3 * SEG), NDP_RCV_PART);
	assert_true(control().nack == 5 && control().sack == 2);
	/* one that came whole meanwhile needs no NACK */
	assert_int_equal(trimmed(1, 0, SEG, 3 * SEG, 0), NDP_RCV_AGAIN);
	assert_int_equal(control().trimmed, 4);
	assert_int_equal(part(0, 0, 0, 3 * SEG), NDP_RCV_PART);
	assert_int_equal(control().ack_base, SEQ + 2);
	assert_true(control().nack == 1);
	assert_int_equal(part(2, 0, 2 * SEG, 3 * SEG), NDP_RCV_WHOLE);
	assert_true(!control().nack);
	assert_int_equal(take(&bare), NDP_RCV_AGAIN);
}

static void test_far(void **state)
{
	struct ndp_hdr h;
	u32 n;

	(void)state;
	assert_int_equal(part(W, 0, 0, SEG), NDP_RCV_FAR);
	assert_int_equal(trimmed(W, 0, 0, SEG, 0), NDP_RCV_FAR);
	assert_int_equal(part(0x7fffffff, 0, 0, SEG), NDP_RCV_FAR);
	assert_int_equal(part(W - 1, W - 1, 0, SEG), NDP_RCV_WHOLE);
	for (n = 0; n < W - 1; n++)
		assert_int_equal(part(n, n, 0, SEG), NDP_RCV_WHOLE);
	assert_int_equal(control().ack_base, SEQ + W);
	/* old ones: of those that are not too old we say that they came */
	h = data_of(W - NDP_RCV_OLD, 0, 0, SEG);
	h.data.base = h.seq;
	assert_int_equal(take(&h), NDP_RCV_AGAIN);
	h.seq--;
	h.data.base--;
	assert_int_equal(take(&h), NDP_RCV_FAR);
}

static void test_port(void **state)
{
	struct ndp_hdr h = data_of(0, 0, 0, SEG);

	(void)state;
	h.sport++;
	assert_int_equal(take(&h), NDP_RCV_BAD_PORT);
	h = data_of(0, 0, 0, SEG);
	h.dport++;
	h.here = 0;
	assert_int_equal(take(&h), NDP_RCV_BAD_PORT);
	assert_int_equal(control().trimmed, 0);
}

/* The sender gives up packets: its base moves past them. */
static void test_give_up(void **state)
{
	struct ndp_hdr h;

	(void)state;
	assert_int_equal(part(1, 0, SEG, 3 * SEG), NDP_RCV_PART);
	assert_int_equal(trimmed(2, 0, 2 * SEG, 3 * SEG, 0), NDP_RCV_TRIMMED);
	assert_int_equal(part(5, 2, 0, SEG), NDP_RCV_WHOLE);
	h = data_of(6, 3, 0, SEG);
	h.data.base = SEQ + 4;
	assert_int_equal(take(&h), NDP_RCV_WHOLE);
	assert_int_equal(control().ack_base, SEQ + 4);
	assert_true(control().sack == 6 && !control().nack);
	/* an older packet takes nothing back */
	assert_int_equal(part(4, 4, 0, SEG), NDP_RCV_WHOLE);
	assert_int_equal(control().ack_base, SEQ + 7);
	/* much later */
	h = data_of(100 * W, 5, 0, SEG);
	h.data.base = SEQ + 100 * W - 1;
	assert_int_equal(take(&h), NDP_RCV_WHOLE);
	assert_int_equal(control().ack_base, SEQ + 100 * W - 1);
	assert_true(control().sack == 2 && !control().nack);
	/* ABORT of the message that lost its packets */
	assert_int_equal(r.msgs, 1);
	msg = ndp_rcv_abort(&r, &f, ID);
	assert_non_null(msg);
	free(msg);
	assert_null(ndp_rcv_abort(&r, &f, ID));
	assert_true(!r.partial && !r.msgs);
	/* it does not begin again */
	h.seq--;
	h.data.msg_id = ID;
	assert_int_equal(take(&h), NDP_RCV_BAD_ID);
}

static void test_probe(void **state)
{
	struct ndp_hdr h = { .type = NDP_PROBE, .seq = SEQ + 1, .sport = 7, .dport = 9,
			     .path = 4, .try_no = 8, .data = { .base = SEQ + 2 } }, answer;

	(void)state;
	assert_int_equal(part(3, 0, 0, SEG), NDP_RCV_WHOLE);
	assert_int_equal(take(&h), NDP_RCV_PROBED);
	assert_int_equal(control().ack_base, SEQ + 2);
	assert_int_equal(control().trimmed, 0);
	ndp_rcv_answer(&r, &f, &h, NDP_RCV_PROBED, true, 0xb8, &answer);
	assert_int_equal(answer.type, NDP_CONTROL);
	assert_int_equal(answer.flags, NDP_CTL_PROBED | NDP_CTL_PULL);
	assert_int_equal(answer.seq, SEQ + 1);
	assert_int_equal(answer.path, 4);
	assert_int_equal(answer.try_no, 8);
	assert_int_equal(answer.ctl.dsfield, 0xb8);
}

/* What is written is what a sender reads. */
static void test_answers(void **state)
{
	static const u8 flags[] = { NDP_CTL_ACK, NDP_CTL_ACK, NDP_CTL_ACK, NDP_CTL_NACK,
				    NDP_CTL_PROBED, 0 };
	struct ndp_hdr h = data_of(3, 0, 0, SEG), answer, read;
	struct ndp_wire wire;
	u32 v;

	(void)state;
	assert_int_equal(part(2, 2, 0, SEG), NDP_RCV_WHOLE);
	assert_int_equal(trimmed(1, 1, 0, SEG, 0), NDP_RCV_TRIMMED);
	f.pull.granted = 77;
	for (v = NDP_RCV_PART; v < NDP_RCV_FAR; v++) {
		ndp_rcv_answer(&r, &f, &h, v, v % 2, 12, &answer);
		ndp_hdr_write(&answer, &wire);
		assert_int_equal(ndp_hdr_read((u8 *)&wire, sizeof(wire), &read), NDP_READ_OK);
		assert_int_equal(read.flags, flags[v] | (v % 2 ? NDP_CTL_PULL : 0));
		assert_int_equal(read.seq, flags[v] ? SEQ + 3 : 0);
		assert_int_equal(read.path, flags[v] ? 3 : 0);
		assert_int_equal(read.try_no, flags[v] ? 2 : 0);
		assert_int_equal(read.ctl.dsfield, flags[v] ? 12 : 0);
		assert_int_equal(read.flow_id, 5);
		assert_int_equal(read.sport, 9);
		assert_int_equal(read.dport, 7);
		assert_int_equal(read.ctl.ack_base, SEQ);
		assert_int_equal(read.ctl.pull, 77);
		assert_true(read.ctl.sack == 4 && read.ctl.nack == 2);
		assert_int_equal(read.ctl.trimmed, 1);
		assert_int_equal(read.ctl.window, v == NDP_RCV_NO_ROOM ? 0 : 30);
	}
}

static void test_last(void **state)
{
	struct ndp_hdr h = data_of(2, 2, 0, SEG);

	(void)state;
	assert_false(ndp_rcv_has_all(&f));
	h.flags |= NDP_DATA_LAST;
	h.here = 0;
	assert_int_equal(take(&h), NDP_RCV_TRIMMED);
	part(0, 0, 0, SEG);
	part(1, 1, 0, SEG);
	assert_false(ndp_rcv_has_all(&f));
	h.here = SEG;
	assert_int_equal(take(&h), NDP_RCV_WHOLE);
	assert_true(ndp_rcv_has_all(&f));
	/* more came to be sent after all */
	part(4, 4, 0, SEG);
	assert_false(ndp_rcv_has_all(&f));
	part(3, 3, 0, SEG);
	assert_false(ndp_rcv_has_all(&f));
	/* LAST of one that is not the newest says nothing */
	h = data_of(5, 5, 0, SEG);
	h.flags |= NDP_DATA_LAST;
	part(6, 6, 0, SEG);
	take(&h);
	assert_false(ndp_rcv_has_all(&f));
	h = data_of(7, 7, 0, SEG);
	h.flags |= NDP_DATA_LAST;
	take(&h);
	assert_true(ndp_rcv_has_all(&f));
	trimmed(8, 8, 0, SEG, 0);
	assert_false(ndp_rcv_has_all(&f));
}

/* ---- messages */

/* What is wrong with a packet of a message of 5 parts is found whatever came before. */
static void test_lies(void **state)
{
	static const u32 firsts[] = { 0, 2, 4 };	/* the tail, too */
	struct ndp_hdr h;
	u32 i, k;

	for (i = 0; i < 3; i++) {
		setup(state);
		assert_int_equal(part(0, 0, firsts[i] * SEG, 4 * SEG + 10), NDP_RCV_PART);
		/* another length */
		assert_int_equal(part(1, 0, SEG, 4 * SEG + 11), NDP_RCV_BAD_PART);
		assert_int_equal(part(1, 0, SEG, 4 * SEG), NDP_RCV_BAD_PART);
		assert_int_equal(part(1, 0, 0, 10), NDP_RCV_BAD_PART);
		/* between two parts */
		h = data_of(1, 0, SEG + 1, 4 * SEG + 10);
		assert_int_equal(take(&h), NDP_RCV_BAD_PART);
		/* of another size */
		h = data_of(1, 0, SEG, 4 * SEG + 10);
		h.payload_len--;
		h.here--;
		assert_int_equal(take(&h), NDP_RCV_BAD_PART);
		h = data_of(1, 0, 0, 4 * SEG + 10);
		h.payload_len = 1;
		h.here = 1;
		assert_int_equal(take(&h), NDP_RCV_BAD_PART);
		/* a tail that begins too early, or covers all */
		h = data_of(1, 0, 4 * SEG, 4 * SEG + 10);
		h.data.offset--;
		h.payload_len++;
		h.here++;
		assert_int_equal(take(&h), i == 2 ? NDP_RCV_BAD_OVERLAP : NDP_RCV_BAD_PART);
		/* the same with another seq */
		assert_int_equal(part(1, 0, firsts[i] * SEG, 4 * SEG + 10),
				 NDP_RCV_BAD_OVERLAP);
		/* none of that was acknowledged, or did harm */
		assert_int_equal(control().ack_base, SEQ + 1);
		assert_true(!control().sack);
		for (k = 0; k < 4; k++)
			assert_int_equal(part(k + 1, 0, (firsts[i] + k + 1) % 5 * SEG,
					      4 * SEG + 10),
					 k == 3 ? NDP_RCV_WHOLE : NDP_RCV_PART);
		assert_true(r.unread == 4 * SEG + 10);
		teardown(state);
	}
}

/* A first packet that cannot be of any message leaves nothing behind. */
static void test_no_message(void **state)
{
	struct ndp_hdr h = data_of(0, 0, 1, 3 * SEG);

	(void)state;
	assert_int_equal(take(&h), NDP_RCV_BAD_PART);
	h = data_of(0, 0, 0, 3 * SEG);
	h.payload_len = 1;
	h.here = 1;
	assert_int_equal(take(&h), NDP_RCV_BAD_PART);
	/* 2^31 parts and more */
	h = data_of(0, 0, 0, NDP_MSG_MAX);
	h.payload_len = 511;
	h.here = 511;
	assert_int_equal(take(&h), NDP_RCV_BAD_PART);
	assert_int_equal(r.msgs, 0);
	assert_int_equal(part(0, 0, 0, SEG), NDP_RCV_WHOLE);
}

/* A whole message of the greatest length has parts up to its end. */
static void test_longest(void **state)
{
	struct ndp_rcv_cut cut = {};
	struct ndp_hdr h = data_of(0, 0, 0, NDP_MSG_MAX);
	u32 seg, k, i;
	struct rng rng;
	u64 offset;

	(void)state;
	rng_seed(&rng, 3);
	for (seg = 513; seg <= 65535; seg += seg < 1100 ? 1 : 97) {
		h.payload_len = seg;
		assert_true(ndp_rcv_learn(&cut, &h));
		assert_int_equal(cut.fulls, (NDP_MSG_MAX - 1) / seg);
		for (i = 0; i < 20; i++) {
			k = rng_log(&rng, 1, cut.fulls) - !i;
			offset = (u64)k * seg;
			assert_int_equal(ndp_rcv_index(&cut, offset), k);
			assert_int_equal(ndp_rcv_index(&cut, offset + seg - 1), k);
		}
	}
	for (seg = 2; seg < 600; seg++) {
		h.payload_len = seg;
		h.data.msg_len = (u64)seg * NDP_RCV_PARTS_MAX;
		if (h.data.msg_len > NDP_MSG_MAX)
			continue;
		assert_true(ndp_rcv_learn(&cut, &h));
		assert_int_equal(cut.fulls, NDP_RCV_PARTS_MAX - 1);
		h.data.msg_len++;
		assert_false(ndp_rcv_learn(&cut, &h));
	}
}

/* Parts of one message may not be farther from its first hole than the window. */
static void test_message_window(void **state)
{
	u32 len = 3 * W * SEG;

	(void)state;
	assert_int_equal(part(0, 0, W * SEG, len), NDP_RCV_BAD_PART);
	assert_int_equal(part(0, 0, (W - 1) * SEG, len), NDP_RCV_PART);
	assert_int_equal(part(1, 0, W * SEG, len), NDP_RCV_BAD_PART);
	assert_int_equal(part(1, 0, 0, len), NDP_RCV_PART);
	assert_int_equal(part(2, 0, W * SEG, len), NDP_RCV_PART);
}

static void test_ids(void **state)
{
	(void)state;
	assert_int_equal(part(0, 0, 0, SEG), NDP_RCV_WHOLE);
	/* over */
	assert_int_equal(part(1, 0, 0, SEG), NDP_RCV_BAD_ID);
	assert_int_equal(part(1, 0, 0, 2 * SEG), NDP_RCV_BAD_ID);
	/* later ones first, and one that lasts */
	assert_int_equal(part(1, 1, 0, 2 * SEG), NDP_RCV_PART);
	assert_int_equal(part(2, W + 1, 0, SEG), NDP_RCV_WHOLE);
	assert_int_equal(part(3, 2, 0, SEG), NDP_RCV_WHOLE);
	assert_int_equal(part(4, 2, 0, SEG), NDP_RCV_BAD_ID);
	assert_int_equal(part(4, W + 2, 0, SEG), NDP_RCV_WHOLE);
	assert_int_equal(part(5, 3, 0, SEG), NDP_RCV_WHOLE);
	/* too old, unless it has begun and is not over */
	assert_int_equal(part(6, W + 4, 0, SEG), NDP_RCV_WHOLE);
	assert_int_equal(part(7, 4, 0, SEG), NDP_RCV_BAD_ID);
	assert_int_equal(part(7, 5, 0, SEG), NDP_RCV_WHOLE);
	assert_int_equal(part(8, 1, SEG, 2 * SEG), NDP_RCV_WHOLE);
	/* what lies between old and new is not taken for begun */
	assert_int_equal(part(9, 3 * W, 0, SEG), NDP_RCV_WHOLE);
	assert_int_equal(part(10, 2 * W + 1, 0, SEG), NDP_RCV_WHOLE);
	assert_int_equal(part(11, 2 * W, 0, SEG), NDP_RCV_BAD_ID);
	assert_int_equal(part(11, W + 50, 0, SEG), NDP_RCV_BAD_ID);
}

/* A thousand messages at once, one packet of each after the other's */
static void test_many(void **state)
{
	u32 k, id, n = 0, longest = 0, chain, i;
	struct ndp_rcv_msg *m;

	(void)state;
	for (k = 0; k < 3; k++) {
		for (id = 0; id < W; id++) {
			struct ndp_hdr h = data_of(n++, id, k * SEG, 3 * SEG);

			assert_int_equal(take(&h), k == 2 ? NDP_RCV_WHOLE : NDP_RCV_PART);
		}
		if (k == 2)
			break;
		assert_int_equal(f.msgs, W);
		for (i = 0; i < NDP_RCV_BUCKETS; i++) {
			for (chain = 0, m = f.bucket[i]; m; m = m->chain)
				chain++;
			longest = chain > longest ? chain : longest;
		}
	}
	/* lists are about equally long */
	assert_in_range(longest, W / NDP_RCV_BUCKETS, 2 * W / NDP_RCV_BUCKETS);
	assert_true(r.unread == 3 * W * SEG);
}

/* ---- memory */

static void test_room(void **state)
{
	(void)state;
	p.memory_max = 3 * SEG;
	assert_int_equal(part(0, 0, 0, SEG), NDP_RCV_WHOLE);
	assert_int_equal(part(1, 1, 0, 3 * SEG), NDP_RCV_PART);
	assert_int_equal(control().window, 30);
	assert_int_equal(part(2, 1, SEG, 3 * SEG), NDP_RCV_PART);
	assert_int_equal(control().window, 0);
	/* full, and what is whole has not been read */
	assert_int_equal(part(3, 1, 2 * SEG, 3 * SEG), NDP_RCV_NO_ROOM);
	assert_int_equal(part(4, 2, 0, 1), NDP_RCV_NO_ROOM);
	assert_int_equal(control().ack_base, SEQ + 3);
	assert_true(!control().sack);
	ndp_rcv_release(&r, SEG);
	assert_int_equal(part(3, 1, 2 * SEG, 3 * SEG), NDP_RCV_WHOLE);
	ndp_rcv_release(&r, 3 * SEG);
	assert_true(!r.unread && !r.partial);
	assert_int_equal(part(4, 2, 0, 1), NDP_RCV_WHOLE);
}

/* The last eighth is for what all others wait for, also when nothing has been read. */
static void test_next(void **state)
{
	u32 k;

	(void)state;
	p.memory_max = 8 * SEG;
	for (k = 1; k < 8; k++)
		assert_int_equal(part(k, k, 0, SEG), NDP_RCV_WHOLE);
	assert_int_equal(part(8, 8, 0, SEG), NDP_RCV_NO_ROOM);
	assert_int_equal(part(0, 0, 0, SEG), NDP_RCV_WHOLE);
	assert_int_equal(control().ack_base, SEQ + 8);
	assert_int_equal(part(8, 8, 0, SEG), NDP_RCV_NO_ROOM);
	ndp_rcv_release(&r, SEG);
	assert_int_equal(part(8, 8, 0, SEG), NDP_RCV_WHOLE);
}

/*
 * Messages that are not whole use up all memory. Of one flow, the packet that all
 * others wait for is taken; not so of another one, until the first has a message.
 */
static void test_first(void **state)
{
	struct ndp_rcv_flow other;
	struct ndp_hdr h = data_of(0, 0, 0, 2 * SEG);
	u32 k;

	(void)state;
	p.memory_max = 46 * SEG / 10;
	ndp_rcv_open(&other, &h, 1, now_ns);
	for (k = 1; k <= 6; k++) {
		assert_int_equal(part(k, k, 0, 2 * SEG), NDP_RCV_PART);
		assert_ptr_equal(r.first, k < 5 ? NULL : &f);
	}
	assert_int_equal(part(7, 1, SEG, 2 * SEG), NDP_RCV_NO_ROOM);
	assert_int_equal(part(0, 0, 0, 2 * SEG), NDP_RCV_PART);
	msg = NULL;
	h.payload_len = SEG;
	h.data.msg_len = SEG;
	assert_int_equal(ndp_rcv_packet(&r, &other, &h, SEG, now_ns, &msg), NDP_RCV_NO_ROOM);
	assert_int_equal(part(8, 2, SEG, 2 * SEG), NDP_RCV_NO_ROOM);
	assert_int_equal(part(7, 1, SEG, 2 * SEG), NDP_RCV_WHOLE);
	assert_null(r.first);
	/* now there is something to read */
	assert_int_equal(part(8, 2, SEG, 2 * SEG), NDP_RCV_NO_ROOM);
	for (k = 2; k <= 6; k++) {
		ndp_rcv_release(&r, r.unread);
		assert_int_equal(part(6 + k, k, SEG, 2 * SEG), NDP_RCV_WHOLE);
	}
	assert_true(r.partial == SEG);
}

/* The flow that may go on does not: another one may. It never gets more than twice max. */
static void test_first_silent(void **state)
{
	struct ndp_hdr h = data_of(0, 0, 0, 9 * SEG);
	struct ndp_rcv_flow other;
	u32 k;

	(void)state;
	p.memory_max = 3 * SEG;
	ndp_rcv_open(&other, &h, 1, now_ns);
	for (k = 0; k < 6; k++)
		assert_int_equal(part(k, 0, k * SEG, 9 * SEG), NDP_RCV_PART);
	assert_int_equal(part(6, 0, 6 * SEG, 9 * SEG), NDP_RCV_NO_ROOM);
	msg = ndp_rcv_find(&f, ID);
	ndp_rcv_read(&r, msg, 3 * SEG, 3 * SEG);
	now_ns += NDP_RCV_FIRST_NS - 1;
	h = data_of(0, 0, 0, SEG);
	msg = NULL;
	assert_int_equal(ndp_rcv_packet(&r, &other, &h, SEG, now_ns, &msg), NDP_RCV_NO_ROOM);
	now_ns++;
	assert_int_equal(ndp_rcv_packet(&r, &other, &h, SEG, now_ns, &msg), NDP_RCV_WHOLE);
	ndp_rcv_release(&r, SEG);
	assert_int_equal(part(6, 0, 6 * SEG, 9 * SEG), NDP_RCV_PART);
	assert_ptr_equal(r.first, &f);
	/* it does go on */
	now_ns += NDP_RCV_FIRST_NS - 1;
	assert_int_equal(part(7, 0, 7 * SEG, 9 * SEG), NDP_RCV_PART);
	now_ns++;
	h.seq++;
	h.data.msg_id++;
	assert_int_equal(ndp_rcv_packet(&r, &other, &h, SEG, now_ns, &msg), NDP_RCV_NO_ROOM);
	/* its time begins anew with a packet that is not taken */
	now_ns += NDP_RCV_FIRST_NS;
	assert_int_equal(part(9, 1, 0, 2 * SEG), NDP_RCV_NO_ROOM);
	assert_int_equal(ndp_rcv_packet(&r, &other, &h, SEG, now_ns, &msg), NDP_RCV_NO_ROOM);
	ndp_rcv_close(&r, &other);
	assert_ptr_equal(r.first, &f);
}

/* One message longer than all memory, read as it comes */
static void test_stream(void **state)
{
	u64 len = 20 * SEG;
	u32 k;

	(void)state;
	p.memory_max = 4 * SEG;
	for (k = 0; k < 8; k++)
		assert_int_equal(part(k, 0, k * SEG, len), NDP_RCV_PART);
	for (; k < 20; k++) {
		assert_int_equal(part(k, 0, k * SEG, len), NDP_RCV_NO_ROOM);
		assert_true(ndp_rcv_prefix(ndp_rcv_find(&f, ID)) == k * SEG);
		ndp_rcv_read(&r, ndp_rcv_find(&f, ID), SEG, SEG);
		assert_int_equal(part(k, 0, k * SEG, len),
				 k == 19 ? NDP_RCV_WHOLE : NDP_RCV_PART);
	}
	assert_true(r.unread == 8 * SEG && !r.partial);
}

static void test_no_memory(void **state)
{
	struct ndp_hdr h = data_of(0, 0, 0, 3 * SEG);

	(void)state;
	msg = NULL;
	assert_int_equal(ndp_rcv_packet(&r, &f, &h, SEG, now_ns, &msg), NDP_RCV_NO_ROOM);
	assert_null(msg);
	p.msgs_max = 1;
	assert_int_equal(part(1, 1, 0, 3 * SEG), NDP_RCV_PART);
	assert_int_equal(part(2, 2, 0, 3 * SEG), NDP_RCV_NO_ROOM);
	/* what all others wait for */
	assert_int_equal(take(&h), NDP_RCV_PART);
	assert_int_equal(part(2, 2, 0, 3 * SEG), NDP_RCV_NO_ROOM);
	/* one that is whole at once needs none */
	h = data_of(2, 2, 0, SEG);
	msg = NULL;
	assert_int_equal(ndp_rcv_packet(&r, &f, &h, SEG, now_ns, &msg), NDP_RCV_WHOLE);
	assert_int_equal(part(3, 0, SEG, 3 * SEG), NDP_RCV_PART);
	assert_int_equal(part(4, 0, 2 * SEG, 3 * SEG), NDP_RCV_WHOLE);
	ndp_rcv_release(&r, r.unread);
	assert_int_equal(part(5, 3, 0, 3 * SEG), NDP_RCV_PART);
}

/* ---- flows */

static void test_admit(void **state)
{
	static const u64 cookies[2] = { 111, 222 };
	struct ndp_hdr h = data_of(0, 0, 0, SEG);

	(void)state;
	assert_int_equal(ndp_rcv_admit(&p, &h, 0, 0, cookies), NDP_ADMIT_OPEN);
	assert_int_equal(ndp_rcv_admit(&p, &h, 49, 9, cookies), NDP_ADMIT_OPEN);
	assert_int_equal(ndp_rcv_admit(&p, &h, 49, 10, cookies), NDP_ADMIT_DROP);
	assert_int_equal(ndp_rcv_admit(&p, &h, 50, 0, cookies), NDP_ADMIT_COOKIE);
	h.data.cookie = 110;
	assert_int_equal(ndp_rcv_admit(&p, &h, 50, 0, cookies), NDP_ADMIT_COOKIE);
	h.data.cookie = 111;
	assert_int_equal(ndp_rcv_admit(&p, &h, 99, 0, cookies), NDP_ADMIT_OPEN);
	h.data.cookie = 222;
	assert_int_equal(ndp_rcv_admit(&p, &h, 99, 0, cookies), NDP_ADMIT_OPEN);
	assert_int_equal(ndp_rcv_admit(&p, &h, 100, 0, cookies), NDP_ADMIT_DROP);
	h.flags = NDP_DATA_RTX;
	assert_int_equal(ndp_rcv_admit(&p, &h, 0, 0, cookies), NDP_ADMIT_NO_FLOW);
	h = (struct ndp_hdr) { .type = NDP_PROBE };
	assert_int_equal(ndp_rcv_admit(&p, &h, 0, 0, cookies), NDP_ADMIT_NO_FLOW);
	h = (struct ndp_hdr) { .type = NDP_DATA, .flags = NDP_DATA_SYN, .is_short = true };
	assert_int_equal(ndp_rcv_admit(&p, &h, 0, 0, cookies), NDP_ADMIT_BARE);
}

/* Any packet of the first window may open the flow: it begins at base. */
static void test_open(void **state)
{
	struct ndp_hdr h = data_of(5, 2, SEG, 2 * SEG);

	(void)state;
	ndp_rcv_open(&f, &h, 0, now_ns);
	assert_true(f.secret);
	assert_int_equal(take(&h), NDP_RCV_PART);
	assert_int_equal(control().ack_base, SEQ);
	assert_true(control().sack == 1U << 5);
	assert_int_equal(part(0, 0, 0, SEG), NDP_RCV_WHOLE);
	assert_int_equal(part(1, 1, 0, SEG), NDP_RCV_WHOLE);
	assert_int_equal(part(2, 2, 0, 2 * SEG), NDP_RCV_WHOLE);
}

static void test_silent(void **state)
{
	u64 dead_ns;

	(void)state;
	part(0, 0, 0, 3 * SEG);
	now_ns += 5 * SEC;
	/* what is not answered keeps nothing alive */
	part(W + 1, 0, 0, 3 * SEG);
	part(1, 0, 0, 3 * SEG);
	assert_false(ndp_rcv_is_silent(&p, &f, now_ns + 5 * SEC - 1));
	assert_true(ndp_rcv_dead_ns(&p, &f, now_ns + 5 * SEC - 1) == 0);
	assert_true(ndp_rcv_is_silent(&p, &f, now_ns + 5 * SEC));
	dead_ns = ndp_rcv_dead_ns(&p, &f, now_ns + 5 * SEC);
	msg = ndp_rcv_pop(&r, &f, dead_ns);
	assert_non_null(msg);
	free(msg);
	assert_null(ndp_rcv_pop(&r, &f, dead_ns));
	/* what came again does */
	part(0, 0, 0, 3 * SEG);
	assert_false(ndp_rcv_is_silent(&p, &f, now_ns + 10 * SEC - 1));
}

/* ABORT was lost: the message that will not be whole goes, others do not. */
static void test_dead(void **state)
{
	struct ndp_hdr h;

	(void)state;
	part(0, 0, 0, 3 * SEG);
	part(2, 1, 0, 3 * SEG);
	now_ns += SEC;
	h = data_of(3, 1, SEG, 3 * SEG);
	h.data.base = SEQ + 2;
	assert_int_equal(take(&h), NDP_RCV_PART);
	now_ns += 9 * SEC;
	h = data_of(4, 2, 0, SEG);
	take(&h);
	assert_null(ndp_rcv_pop(&r, &f, ndp_rcv_dead_ns(&p, &f, now_ns)));
	now_ns += SEC;
	msg = ndp_rcv_pop(&r, &f, ndp_rcv_dead_ns(&p, &f, now_ns));
	assert_non_null(msg);
	assert_int_equal(msg->id, ID);
	free(msg);
	assert_null(ndp_rcv_pop(&r, &f, ndp_rcv_dead_ns(&p, &f, now_ns)));
	assert_int_equal(part(5, 1, 2 * SEG, 3 * SEG), NDP_RCV_WHOLE);
}

/* 10,000 peers, 100,000 messages in flight */
static void test_size(void **state)
{
	(void)state;
	assert_in_range(10000 * sizeof(struct ndp_rcv_flow), 1, 8 << 20);
	assert_in_range(100000 * sizeof(struct ndp_rcv_msg), 1, 24 << 20);
}

/* ---- with the pull queue */

static void test_wish(void **state)
{
	const struct ndp_pull_params pp = { .rate_Bps = 1000000000, .ahead = 100 };
	struct ndp_hdr h = data_of(0, 0, 0, 9 * SEG);
	struct ndp_pull q;

	(void)state;
	ndp_pull_init(&q, &pp, now_ns);
	/* the sender wishes 4, and the first is pulled at once */
	h.data.pull_target = 4;
	assert_true(ndp_rcv_wish(&q, &f, &h, take(&h), now_ns));
	assert_int_equal(f.pull.granted, 1);
	assert_int_equal(f.pull.target, 4);
	/* a NACK is one more; the link is busy */
	h = data_of(1, 0, SEG, 9 * SEG);
	h.data.pull_target = 4;
	h.here = 0;
	assert_false(ndp_rcv_wish(&q, &f, &h, take(&h), now_ns));
	assert_int_equal(f.pull.target, 5);
	/* it is not taken for lack of room: it is not asked for any more */
	p.memory_max = 3 * SEG;
	h = data_of(1, 0, SEG, 9 * SEG);
	r.unread = 2 * SEG;
	assert_false(ndp_rcv_wish(&q, &f, &h, take(&h), now_ns));
	assert_true(ndp_pull_next_ns(&q) == U64_MAX);
	r.unread = 0;
	assert_false(ndp_rcv_wish(&q, &f, &h, take(&h), now_ns));
	assert_true(ndp_pull_next_ns(&q) != U64_MAX);
	/* all that there is has come: no more pulls */
	h = data_of(2, 0, 2 * SEG, 9 * SEG);
	h.data.pull_target = 9;
	h.flags |= NDP_DATA_LAST;
	assert_false(ndp_rcv_wish(&q, &f, &h, take(&h), now_ns));
	assert_int_equal(f.pull.target, 1);
	assert_true(ndp_pull_next_ns(&q) == U64_MAX);
	assert_true(q.stats.flushed == 8);
	/* there is more to send, which the sender may not do unasked */
	h = (struct ndp_hdr) { .type = NDP_PROBE, .seq = SEQ + 2, .sport = 7, .dport = 9,
			       .data = { .base = SEQ + 3, .pull_target = 1 } };
	assert_false(ndp_rcv_wish(&q, &f, &h, take(&h), now_ns));
	assert_true(ndp_rcv_has_all(&f));
	h.data.pull_target = 3;
	assert_false(ndp_rcv_wish(&q, &f, &h, take(&h), now_ns));
	assert_int_equal(f.pull.target, 3);
	assert_true(ndp_pull_next_ns(&q) != U64_MAX);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_bits),
		TEST(test_window),
		TEST(test_in_order),
		TEST(test_orders),
		TEST(test_single),
		TEST(test_trimmed),
		TEST(test_far),
		TEST(test_port),
		TEST(test_give_up),
		TEST(test_probe),
		TEST(test_answers),
		TEST(test_last),
		TEST(test_lies),
		TEST(test_no_message),
		TEST(test_longest),
		TEST(test_message_window),
		TEST(test_ids),
		TEST(test_many),
		TEST(test_room),
		TEST(test_next),
		TEST(test_first),
		TEST(test_first_silent),
		TEST(test_stream),
		TEST(test_no_memory),
		TEST(test_admit),
		TEST(test_open),
		TEST(test_silent),
		TEST(test_dead),
		TEST(test_size),
		TEST(test_wish),
	};

	return cmocka_run_group_tests_name("ndp_rcv", tests, NULL, NULL);
}
