// SPDX-License-Identifier: GPL-2.0-only
/*
 * net/ndp/ndp_rcv_run.h: packets that come as one leave a flow as they would one by one
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "ndp_rcv_port.h"
#include "../../net/ndp/ndp_rcv_run.h"

#define ROUNDS	200

/* A run of @n packets from part @k of message @id on; packet @k of the flow is its first. */
static struct ndp_run run_of(u32 seq, u32 id, u32 k, u32 n, u64 len)
{
	struct ndp_hdr h = data_of(seq, id, (u64)k * SEG, len);
	struct ndp_run run;
	u32 i;

	assert_true(ndp_run_begin(&run, &h));
	for (i = 1; i < n; i++) {
		h = data_of(seq + i, id, (u64)(k + i) * SEG, len);
		assert_true(ndp_run_add(&run, &h));
	}
	assert_int_equal(run.count, n);
	return run;
}

static enum ndp_rcv_verdict take_run(const struct ndp_run *run)
{
	struct ndp_rcv_msg *spare = malloc(sizeof(*spare));
	enum ndp_rcv_verdict v;

	memset(spare, 0xa5, sizeof(*spare));
	msg = spare;
	v = ndp_rcv_run(&r, &f, run, ndp_run_bytes(run), now_ns, &msg);
	if (v == NDP_RCV_VERDICTS || msg != spare)
		free(spare);
	if (v == NDP_RCV_WHOLE) {
		assert_null(ndp_rcv_find(&f, run->first.data.msg_id));
		free(msg);
	}
	return v;
}

/* ---- which packets are a run */

static void test_which(void **state)
{
	const struct ndp_hdr second = data_of(1, 0, SEG, 10 * SEG);
	const struct ndp_hdr first = data_of(0, 0, 0, 10 * SEG);
	struct ndp_run run;
	struct ndp_hdr h;

	(void)state;
#define REFUSED(change) do {				\
	assert_true(ndp_run_begin(&run, &first));	\
	h = second;					\
	change;						\
	assert_false(ndp_run_add(&run, &h));		\
	assert_int_equal(run.count, 1);			\
} while (0)
	REFUSED(h.type = NDP_PROBE);
	REFUSED(h.is_short = true);
	REFUSED(h.here--);
	REFUSED(h.flags |= NDP_DATA_RTX);
	REFUSED(h.flags |= NDP_DATA_SPEC);
	REFUSED(h.flags &= ~NDP_DATA_SYN);
	REFUSED(h.path++);
	REFUSED(h.try_no++);
	REFUSED(h.flow_id++);
	REFUSED(h.sport++);
	REFUSED(h.dport++);
	REFUSED(h.seq++);
	REFUSED(h.seq--);
	REFUSED(h.data.prio++);
	REFUSED(h.data.msg_id++);
	REFUSED(h.data.msg_len++);
	REFUSED(h.data.base++);
	REFUSED(h.data.offset++);
	REFUSED(h.data.offset--);
	REFUSED(h.payload_len = --h.here);
	REFUSED(h.payload_len = ++h.here);
#undef REFUSED
	h = first;
	h.flags |= NDP_DATA_RTX;
	assert_false(ndp_run_begin(&run, &h));
	h = first;
	h.here = 0;
	assert_false(ndp_run_begin(&run, &h));
	h.is_short = true;
	assert_false(ndp_run_begin(&run, &h));
	h = first;
	h.type = NDP_CONTROL;
	assert_false(ndp_run_begin(&run, &h));

	/* behind the last packet that the sender has, there is none */
	h = first;
	h.flags |= NDP_DATA_LAST;
	assert_true(ndp_run_begin(&run, &h));
	assert_false(ndp_run_add(&run, &second));
	assert_true(ndp_run_begin(&run, &first));
	h = second;
	h.flags |= NDP_DATA_LAST;
	assert_true(ndp_run_add(&run, &h));
	h = data_of(2, 0, 2 * SEG, 10 * SEG);
	assert_false(ndp_run_add(&run, &h));

	/* a tail ends it */
	assert_true(ndp_run_begin(&run, &first));
	h = second;
	h.data.msg_len = 2 * SEG - 1;
	h.payload_len = --h.here;
	run.first.data.msg_len = h.data.msg_len;
	assert_true(ndp_run_add(&run, &h));
	assert_int_equal(ndp_run_bytes(&run), 2 * SEG - 1);
	h.seq++;
	assert_false(ndp_run_add(&run, &h));
}

/* ---- what a run does, by example */

static void test_whole(void **state)
{
	struct ndp_run run = run_of(0, 0, 0, 6, 5 * SEG + 1);

	(void)state;
	assert_int_equal(take_run(&run), NDP_RCV_WHOLE);
	assert_true(!r.partial && r.unread == 5 * SEG + 1 && !r.msgs);
	assert_int_equal(control().ack_base, SEQ + 6);
	assert_true(r.verdicts[NDP_RCV_PART] == 5 && r.verdicts[NDP_RCV_WHOLE] == 1);
	/* that message is over */
	assert_int_equal(take_run(&run), NDP_RCV_VERDICTS);
	run = run_of(6, 0, 0, 6, 5 * SEG + 1);
	assert_int_equal(take_run(&run), NDP_RCV_VERDICTS);
}

static void test_refused(void **state)
{
	struct ndp_run run = run_of(0, 0, 0, 4, 20 * SEG);

	(void)state;
	assert_int_equal(part(2, 0, 2 * SEG, 20 * SEG), NDP_RCV_PART);
	assert_int_equal(take_run(&run), NDP_RCV_VERDICTS);
	/* other seqs, a part that is there */
	run = run_of(4, 0, 0, 4, 20 * SEG);
	assert_int_equal(take_run(&run), NDP_RCV_VERDICTS);
	/* other ports */
	run = run_of(4, 0, 4, 4, 20 * SEG);
	run.first.sport++;
	assert_int_equal(take_run(&run), NDP_RCV_VERDICTS);
	/* another length of the message, another cut */
	run = run_of(4, 0, 4, 4, 21 * SEG);
	assert_int_equal(take_run(&run), NDP_RCV_VERDICTS);
	run = run_of(4, 0, 4, 4, 20 * SEG);
	run.first.payload_len--;
	assert_int_equal(take_run(&run), NDP_RCV_VERDICTS);
	/* beyond the window, by one */
	run = run_of(W - 3, 0, 4, 4, 20 * SEG);
	assert_int_equal(take_run(&run), NDP_RCV_VERDICTS);
	run = run_of(W - 4, 0, 4, 4, 20 * SEG);
	assert_int_equal(take_run(&run), NDP_RCV_PART);
	/* no memory for a message */
	run = run_of(4, 1, 0, 2, 20 * SEG);
	msg = NULL;
	assert_int_equal(ndp_rcv_run(&r, &f, &run, 1, now_ns, &msg), NDP_RCV_VERDICTS);
	assert_int_equal(r.msgs, 1);
	assert_true(r.partial == 5 * SEG);
}

/* All of it, or nothing */
static void test_room(void **state)
{
	struct ndp_run run = run_of(0, 0, 0, 4, 20 * SEG);

	(void)state;
	r.unread = p.memory_max - 4 * SEG + 1;
	assert_int_equal(take_run(&run), NDP_RCV_VERDICTS);
	assert_true(!r.partial && !r.msgs);
	r.unread--;
	assert_int_equal(take_run(&run), NDP_RCV_PART);
	assert_true(r.partial == 4 * SEG);
}

/* ---- beside single packets */

struct side {
	struct ndp_rcv r;
	struct ndp_rcv_flow f;
};

static void swap_with(struct side *s)
{
	struct side other = { r, f };

	r = s->r;
	f = s->f;
	*s = other;
}

static void take_each(const struct ndp_hdr *h, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		take(&h[i]);
}

/* What is not whole is given up. */
static void drop_messages(void)
{
	struct ndp_rcv_msg *m;

	while ((m = ndp_rcv_pop(&r, &f, U64_MAX)))
		free(m);
}

/* Are both flows the same, but for where their messages are? */
static void same(const struct side *s)
{
	struct ndp_rcv_flow a = f, b = s->f;
	struct ndp_rcv_msg *m, *n;
	u32 i;

	for (i = 0; i < NDP_RCV_BUCKETS; i++) {
		for (m = f.bucket[i], n = s->f.bucket[i]; m; m = m->chain, n = n->chain) {
			assert_int_equal(m->id, n->id);
			assert_true(m->memory == n->memory && m->has_tail == n->has_tail);
			assert_true(m->tail_offset == n->tail_offset && m->missing == n->missing);
			assert_memory_equal(&m->got, &n->got, sizeof(m->got));
			assert_int_equal(m->cut.seg, n->cut.seg);
			assert_int_equal(m->cut.fulls, n->cut.fulls);
			assert_true(m->last_ns == n->last_ns);
		}
		assert_null(n);
		a.bucket[i] = NULL;
		b.bucket[i] = NULL;
	}
	assert_memory_equal(&a, &b, sizeof(a));
	assert_true(r.partial == s->r.partial && r.unread == s->r.unread);
	assert_int_equal(r.msgs, s->r.msgs);
	assert_memory_equal(r.verdicts, s->r.verdicts, sizeof(r.verdicts));
}

/*
 * Five messages, whose packets have the seqs that a sender would give them, in pieces of 1..64,
 * in any order, some more than once, some trimmed before, some never; then base moves on.
 */
static void test_random(void **state)
{
	struct ndp_hdr sent[500], *h;
	u32 runs = 0, round, n, i, id, count;
	u32 left;
	u64 len[5];
	struct side s;
	struct rng rng;

	setup(state);
	rng_seed(&rng, 7);
	s = (struct side) { r, f };
	for (round = 0; round < ROUNDS; round++) {
		u32 seq = f.end - SEQ, first_id = f.newest_id - ID + (round > 0);

		for (n = 0, id = 0; id < 5; id++) {
			len[id] = rng_in(&rng, 2, 70) * SEG - rng_in(&rng, 0, SEG - 1);
			count = (u32)((len[id] + SEG - 1) / SEG);
			for (i = 0; i < count; i++, n++) {
				sent[n] = data_of(seq + n, first_id + id, (u64)i * SEG, len[id]);
				sent[n].data.base = SEQ + seq;
			}
		}
		if (rng_percent(&rng, 50))
			sent[n - 1].flags |= NDP_DATA_LAST;
		left = n * 2;
		while (left) {
			struct ndp_run run;

			h = &sent[rng_in(&rng, 0, n - 1)];
			now_ns++;
			if (rng_percent(&rng, 5)) {
				struct ndp_hdr t = *h;

				t.here = 0;
				take(&t);
				swap_with(&s);
				take(&t);
				swap_with(&s);
			}
			count = rng_in(&rng, 1, 64);
			count = min_t(u32, count, min_t(u32, left, (u32)(&sent[n] - h)));
			ndp_run_begin(&run, h);
			for (i = 1; i < count && ndp_run_add(&run, &h[i]); i++)
				;
			if (i < 2 || take_run(&run) == NDP_RCV_VERDICTS)
				take_each(h, i);
			else
				runs++;
			swap_with(&s);
			take_each(h, i);
			swap_with(&s);
			same(&s);
			left -= i;
		}
		drop_messages();
		swap_with(&s);
		drop_messages();
		swap_with(&s);
	}
	assert_true(runs > 4 * ROUNDS);
	teardown(state);
	swap_with(&s);
	teardown(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_which),
		cmocka_unit_test_setup_teardown(test_whole, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_room, setup, teardown),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
