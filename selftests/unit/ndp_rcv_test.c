// SPDX-License-Identifier: GPL-2.0-only
/*
 * net/ndp/ndp_rcv.h: packets and messages, each rule by example
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "ndp_rcv_port.h"

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
	};

	return cmocka_run_group_tests_name("ndp_rcv", tests, NULL, NULL);
}
