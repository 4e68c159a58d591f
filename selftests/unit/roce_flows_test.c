// SPDX-License-Identifier: GPL-2.0-only
/*
 * sch/roce/roce_flows.c: which two directions are one queue pair
 *
 * The tests play a host L and a host R, and show the core each packet between them, as
 * a device of L sees it.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "../../sch/roce/roce_flows.h"
#include "rng.h"

#define MAX	1024
#define L	1
#define R	2

static struct roce_flows flows;
static struct roce_flow memory[MAX];
static u32 used;
static u64 now_ns;
static struct rng rng;

/* Queue pair @local of host L is connected to @remote of host R. */
struct qp {
	u32 local;
	u32 remote;
	u32 psn;	/* of the next request from L */
	u32 back_psn;	/* of the next request from R */
};

static int setup(void **state)
{
	(void)state;
	memset(&flows, 0, sizeof(flows));
	flows.seed = 77;
	used = 0;
	now_ns = 1000000000;
	rng_seed(&rng, 3);
	return 0;
}

static struct roce_key key_of(u8 from, u8 to, u32 qpn)
{
	struct roce_key key = { .qpn = qpn };

	key.src.b[15] = from;
	key.dst.b[15] = to;
	return key;
}

/* Show a packet. @kind: 'q' request, 'a' response, 'd' other data */
static struct roce_flow *show(u8 from, u8 to, u32 qpn, char kind, u32 psn, u16 sport)
{
	struct roce_pkt pkt = {
		.key = key_of(from, to, qpn), .psn = psn & ROCE_24_BITS, .sport = sport,
		.sqpn = ROCE_QPN_NONE, .request = kind == 'q', .response = kind == 'a',
	};
	struct roce_flow *f = roce_flows_find(&flows, &pkt.key);

	if (!f) {
		assert_in_range(used, 0, MAX - 1);
		f = &memory[used++];
		roce_flows_add(&flows, f, &pkt.key);
	}
	now_ns += ROCE_SEARCH_NS;
	roce_flows_learn(&flows, f, &pkt, now_ns);
	return f;
}

static struct roce_flow *request(struct qp *qp)
{
	return show(L, R, qp->remote, 'q', qp->psn++, 0);
}

static struct roce_flow *ack(const struct qp *qp, u32 psn)
{
	return show(R, L, qp->local, 'a', psn, 0);
}

static void expect_paired(const struct qp *qp, bool paired)
{
	struct roce_key out = key_of(L, R, qp->remote), in = key_of(R, L, qp->local);
	struct roce_flow *f = roce_flows_find(&flows, &out), *b = roce_flows_find(&flows, &in);

	assert_non_null(f);
	assert_non_null(b);
	assert_int_equal(f->peer_qpn, paired ? qp->local : ROCE_QPN_NONE);
	assert_int_equal(b->peer_qpn, paired ? qp->remote : ROCE_QPN_NONE);
	/* a CNP to the local queue pair is about the flow to the remote one */
	now_ns += ROCE_SEARCH_NS;
	assert_ptr_equal(roce_flows_notified(&flows, &in, now_ns), paired ? f : NULL);
}

static void test_ack_pairs_the_directions(void **state)
{
	struct qp qp = { .local = 0x11, .remote = 0x22, .psn = 0xfffffe };

	(void)state;
	request(&qp);
	request(&qp);
	request(&qp);	/* PSN 0 */
	ack(&qp, 0xffffff);
	expect_paired(&qp, true);
	ack(&qp, 0);
	expect_paired(&qp, true);
}

static void test_ack_of_no_request_pairs_nothing(void **state)
{
	struct qp qp = { .local = 0x11, .remote = 0x22, .psn = 100 };

	(void)state;
	request(&qp);
	ack(&qp, 99);
	expect_paired(&qp, false);
	ack(&qp, 101);
	expect_paired(&qp, false);
	ack(&qp, 100);
	expect_paired(&qp, true);
}

static void test_read_responses_pair_the_directions(void **state)
{
	struct qp qp = { .local = 0x11, .remote = 0x22, .psn = 5 };

	(void)state;
	request(&qp);
	show(R, L, qp.local, 'd', 6, 0);	/* its PSN is not that of a request */
	expect_paired(&qp, false);
	show(R, L, qp.local, 'a', 5, 0);
	expect_paired(&qp, true);
	/* the next request follows ten responses */
	qp.psn += 9;
	request(&qp);
	ack(&qp, qp.psn - 1);
	expect_paired(&qp, true);
}

/* Random PSNs: each of many queue pairs of two hosts is paired by its first ACKs. */
static void test_many_queue_pairs(void **state)
{
	struct qp qp[100];
	u32 i, round;

	(void)state;
	for (i = 0; i < 100; i++)
		qp[i] = (struct qp) {
			.local = 1000 + i, .remote = 5000 + i * 7, .psn = rng_u32(&rng),
		};
	for (round = 0; round < 2; round++) {
		for (i = 0; i < 100; i++)
			request(&qp[i]);
		for (i = 0; i < 100; i++)
			ack(&qp[i], qp[i].psn - 1);
	}
	for (i = 0; i < 100; i++)
		expect_paired(&qp[i], true);
}

/* All PSNs begin at 0, as NCCL's: the flow that is ahead is paired, then the next one. */
static void test_equal_psns_are_told_apart_by_progress(void **state)
{
	struct qp qp[4];
	u32 i, round;

	(void)state;
	for (i = 0; i < 4; i++)
		qp[i] = (struct qp) { .local = 10 + i, .remote = 20 + i };
	for (round = 0; round < 5; round++)
		for (i = 0; i < 4; i++)
			request(&qp[i]);
	for (i = 0; i < 4; i++)
		ack(&qp[i], 4);
	for (i = 0; i < 4; i++)
		expect_paired(&qp[i], false);
	for (i = 0; i < 4; i++) {
		request(&qp[i]);
		ack(&qp[i], 5);
		expect_paired(&qp[i], true);
	}
}

/* In lockstep, Linux's source ports decide. */
static void test_source_port_decides_between_equal_psns(void **state)
{
	u32 local[] = { 0x11, 0x12, 0x13 }, remote[] = { 0x21, 0x22, 0x23 }, i, port;
	struct qp qp;

	(void)state;
	for (i = 0; i < 3; i++) {
		port = 0xc000 + (local[i] * 0x61C88647U >> 18);	/* rxe's */
		show(L, R, remote[i], 'q', 0, (u16)port);
	}
	for (i = 0; i < 3; i++)
		show(R, L, local[i], 'a', 0, 0);
	for (i = 0; i < 3; i++) {
		qp = (struct qp) { .local = local[i], .remote = remote[i] };
		expect_paired(&qp, true);
	}
}

/* A wrong pair is separated by the first response that does not fit, and learned anew. */
static void test_numbers_that_are_used_again(void **state)
{
	struct qp old = { .local = 1, .remote = 2, .psn = 1000 };
	struct qp new1 = { .local = 1, .remote = 3, .psn = 0x700000 };
	struct qp new2 = { .local = 4, .remote = 2, .psn = 0x300000 };

	(void)state;
	request(&old);
	ack(&old, 1000);
	expect_paired(&old, true);
	request(&new1);
	request(&new2);
	ack(&new1, 0x700000);
	ack(&new2, 0x300000);
	expect_paired(&new1, true);
	expect_paired(&new2, true);
}

static void test_late_ack_separates_nothing(void **state)
{
	struct qp qp = { .local = 1, .remote = 2, .psn = 50 };
	u32 i;

	(void)state;
	for (i = 0; i < 200; i++)
		request(&qp);
	ack(&qp, 249);
	expect_paired(&qp, true);
	ack(&qp, 60);
	expect_paired(&qp, true);
}

static void test_other_hosts_do_not_interfere(void **state)
{
	struct qp qp = { .local = 1, .remote = 2, .psn = 7 };
	struct roce_key cnp = key_of(3, L, 1);

	(void)state;
	show(L, 3, 9, 'q', 7, 0);	/* the same PSN to another host */
	request(&qp);
	ack(&qp, 7);
	expect_paired(&qp, true);
	now_ns += ROCE_SEARCH_NS;
	assert_null(roce_flows_notified(&flows, &cnp, now_ns));
}

/* Datagrams carry the sender's number; a CNP finds them without any packet back. */
static void test_datagrams(void **state)
{
	struct roce_pkt pkt = { .key = key_of(L, R, 0x55), .sqpn = 0x66 };
	struct roce_key cnp = key_of(R, L, 0x66);
	struct roce_flow *f = &memory[0];

	(void)state;
	roce_flows_add(&flows, f, &pkt.key);
	roce_flows_learn(&flows, f, &pkt, now_ns);
	assert_int_equal(f->peer_qpn, 0x66);
	assert_ptr_equal(roce_flows_notified(&flows, &cnp, now_ns), f);
	/* searches are limited: a flood of CNPs for unknown queue pairs costs little */
	assert_null(roce_flows_notified(&flows, &cnp, now_ns + 1));
	now_ns += ROCE_SEARCH_NS;
	assert_ptr_equal(roce_flows_notified(&flows, &cnp, now_ns), f);
}

/* Unknown CNPs and ACKs of other hosts do not use up the searches for a pair of hosts. */
static void test_strangers_delay_nothing(void **state)
{
	struct qp qp = { .local = 1, .remote = 2, .psn = 7 };
	struct roce_key cnp;
	struct roce_flow *f;
	u8 host;

	(void)state;
	flows.seed = 0x9e3779b97f4a7c15;	/* as long as a real one */
	request(&qp);
	for (host = 10; host < 15; host++) {
		cnp = key_of(host, L, 1);
		assert_null(roce_flows_notified(&flows, &cnp, now_ns + ROCE_SEARCH_NS));
	}
	f = ack(&qp, 7);
	assert_int_equal(f->peer_qpn, qp.remote);
}

/* A datagram names a sender, but does not change a connection that is known, or comes later. */
static void test_datagrams_change_no_connection(void **state)
{
	struct roce_pkt forged = { .key = key_of(L, R, 2), .sqpn = 0x66 };
	struct qp qp = { .local = 1, .remote = 2, .psn = 7 };
	struct roce_flow *f;

	(void)state;
	f = show(L, R, 2, 'd', 0, 0);
	roce_flows_learn(&flows, f, &forged, now_ns);
	assert_int_equal(f->peer_qpn, 0x66);
	request(&qp);
	assert_int_equal(f->peer_qpn, ROCE_QPN_NONE);
	ack(&qp, 7);
	expect_paired(&qp, true);
	roce_flows_learn(&flows, f, &forged, now_ns);
	expect_paired(&qp, true);
}

/*
 * 20 queue pairs of two hosts, in both directions, with messages of random lengths,
 * coalesced ACKs, lost packets and retransmissions. @same: all PSNs begin at 0. Return: wrong
 * pairs seen after a packet
 */
static u32 random_traffic(bool same, u32 rounds)
{
	struct qp qp[20];
	u32 i, n, round, psn, wrong = 0;
	struct roce_key key;
	struct roce_flow *f;

	for (i = 0; i < 20; i++)
		qp[i] = (struct qp) {
			.local = 100 + i, .remote = 200 + 3 * i, .psn = same ? 0 : rng_u32(&rng),
		};
	for (round = 0; round < rounds; round++) {
		i = rng_in(&rng, 0, 19);
		for (n = rng_in(&rng, 1, 30); n; n--) {
			if (rng_percent(&rng, 5) && qp[i].psn > 3)
				show(L, R, qp[i].remote, 'q', qp[i].psn - rng_in(&rng, 1, 3), 0);
			request(&qp[i]);
		}
		psn = qp[i].psn - 1 - (rng_percent(&rng, 20) ? rng_in(&rng, 0, 5) : 0);
		if (!rng_percent(&rng, 10))
			ack(&qp[i], psn);
		key = key_of(L, R, qp[i].remote);
		f = roce_flows_find(&flows, &key);
		wrong += f->peer_qpn != ROCE_QPN_NONE && f->peer_qpn != qp[i].local;
	}
	for (i = 0; i < 20; i++)
		expect_paired(&qp[i], true);
	return wrong;
}

static void test_random_psns_are_never_paired_wrongly(void **state)
{
	(void)state;
	assert_int_equal(random_traffic(false, 2000), 0);
}

static void test_equal_psns_are_never_paired_wrongly(void **state)
{
	(void)state;
	assert_int_equal(random_traffic(true, 2000), 0);
}

/* Each flow is found until it is removed; eviction prefers idle ones. */
static void test_table(void **state)
{
	struct roce_flow *f, *list;
	struct roce_key key;
	u32 i, n;

	(void)state;
	for (i = 0; i < MAX; i++)
		show((u8)(i % 7), 9, i, 'q', 0, 0);
	assert_int_equal(flows.count, MAX);
	for (i = 0; i < 100; i++) {
		f = roce_flows_evict(&flows);
		assert_non_null(f);
		assert_null(roce_flows_find(&flows, &f->key));
	}
	assert_int_equal(flows.count, MAX - 100);
	/* the most recent sixteenth stays: no 16 flows are all younger */
	for (i = MAX - 8; i < MAX; i++) {
		key = key_of((u8)(i % 7), 9, i);
		assert_non_null(roce_flows_find(&flows, &key));
	}
	list = roce_flows_expire(&flows, memory[MAX / 2].seen_ns);
	for (n = 0; list; list = list->next, n++)
		assert_true(list->seen_ns < memory[MAX / 2].seen_ns);
	assert_int_equal(flows.count, MAX - 100 - n);
	list = roce_flows_expire(&flows, UINT64_MAX);
	for (i = 0; list; list = list->next)
		i++;
	assert_int_equal(i, MAX - 100 - n);
	assert_null(roce_flows_evict(&flows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_ack_pairs_the_directions, setup),
		cmocka_unit_test_setup(test_ack_of_no_request_pairs_nothing, setup),
		cmocka_unit_test_setup(test_read_responses_pair_the_directions, setup),
		cmocka_unit_test_setup(test_many_queue_pairs, setup),
		cmocka_unit_test_setup(test_equal_psns_are_told_apart_by_progress, setup),
		cmocka_unit_test_setup(test_source_port_decides_between_equal_psns, setup),
		cmocka_unit_test_setup(test_numbers_that_are_used_again, setup),
		cmocka_unit_test_setup(test_late_ack_separates_nothing, setup),
		cmocka_unit_test_setup(test_other_hosts_do_not_interfere, setup),
		cmocka_unit_test_setup(test_datagrams, setup),
		cmocka_unit_test_setup(test_strangers_delay_nothing, setup),
		cmocka_unit_test_setup(test_datagrams_change_no_connection, setup),
		cmocka_unit_test_setup(test_random_psns_are_never_paired_wrongly, setup),
		cmocka_unit_test_setup(test_equal_psns_are_never_paired_wrongly, setup),
		cmocka_unit_test_setup(test_table, setup),
	};

	return cmocka_run_group_tests_name("roce_flows", tests, NULL, NULL);
}
