// SPDX-License-Identifier: GPL-2.0-only
/*
 * sch/dcqcn/dcqcnq_mmu.c with threads: the invariants of its section "Concurrency"
 *
 * Threads admit and release packets at ingresses that have a lock each, while
 * another thread changes the limits. The test checks the invariants after each
 * admission. When all packets are released, the sums must be zero. It runs under
 * ThreadSanitizer.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <pthread.h>
#include <string.h>
#include <cmocka.h>

#include "../../sch/dcqcn/dcqcnq_mmu.h"
#include "rng.h"

#define THREADS		4
#define PORTS		3
#define ROUNDS		200000
#define WAITING		256
#define BUFFER		200000
#define HEADROOM	3000

static struct dcqcnq_mmu mmu;
static struct group {
	pthread_mutex_t lock;
	struct dcqcnq_ingress in;
} groups[PORTS][DCQCNQ_PRIOS];

struct packet {
	struct group *group;	/* NULL: came in by no port */
	u32 len;
};

struct worker {
	pthread_t thread;
	u32 seed;
	u32 verdicts[DCQCNQ_NO_HEADROOM + 1];
	u32 paused;
	bool too_much;
};

static struct dcqcnq_pool_options params(u32 mode)
{
	return (struct dcqcnq_pool_options) {
		.buffer = BUFFER, .xoff_mode = mode, .xoff = 8000, .beta = 2, .pfc = 0x7f,
	};
}

static void set_limits(u32 mode)
{
	const struct dcqcnq_pool_options p = params(mode);

	dcqcnq_mmu_set(&mmu, &p, PORTS, PORTS * HEADROOM);
}

static bool admit(struct worker *w, const struct packet *p, bool fits)
{
	enum dcqcnq_verdict verdict;

	if (p->group) {
		pthread_mutex_lock(&p->group->lock);
		verdict = dcqcnq_mmu_admit(&mmu, &p->group->in, p->len, fits);
		w->paused += p->group->in.paused;
		w->too_much |= p->group->in.headroom_bytes > HEADROOM;
		/* a release frees headroom first, so an open group has an empty headroom */
		w->too_much |= !p->group->in.paused && p->group->in.headroom_bytes;
		pthread_mutex_unlock(&p->group->lock);
	} else {
		verdict = dcqcnq_mmu_admit_other(&mmu, p->len, fits);
	}
	/* the sizes of buffer and shared part do not change here */
	w->too_much |= dcqcnq_mmu_bytes(&mmu) > BUFFER;
	w->too_much |= dcqcnq_fill_shared(atomic64_read(&mmu.fill)) > READ_ONCE(mmu.shared);
	w->verdicts[verdict]++;
	return verdict == DCQCNQ_LOSSY || verdict == DCQCNQ_LOSSLESS;
}

static void release(const struct packet *p)
{
	if (!p->group) {
		dcqcnq_mmu_release_other(&mmu, p->len);
		return;
	}
	pthread_mutex_lock(&p->group->lock);
	dcqcnq_mmu_release(&mmu, &p->group->in, p->len);
	pthread_mutex_unlock(&p->group->lock);
}

static struct packet random_packet(struct rng *rng)
{
	struct packet p = { .len = rng_percent(rng, 70) ? 1514 : rng_in(rng, 60, 9014) };

	if (rng_percent(rng, 90))
		p.group = &groups[rng_in(rng, 0, PORTS - 1)][rng_percent(rng, 70) ? 3 :
			  rng_in(rng, 0, DCQCNQ_PRIOS - 1)];
	return p;
}

static void *work(void *arg)
{
	struct packet waiting[WAITING];
	struct worker *w = arg;
	struct rng rng;
	u32 i, n = 0, load = 50, out;

	rng_seed(&rng, w->seed);
	for (i = 0; i < ROUNDS; i++) {
		if (!rng_in(&rng, 0, 199))
			load = rng_in(&rng, 20, 80);
		if (n < WAITING && rng_percent(&rng, load)) {
			waiting[n] = random_packet(&rng);
			n += admit(w, &waiting[n], rng_percent(&rng, 95));
		} else if (n) {
			out = rng_in(&rng, 0, n - 1);
			release(&waiting[out]);
			waiting[out] = waiting[--n];
		}
	}
	while (n)
		release(&waiting[--n]);
	return NULL;
}

static bool done;

/* Change and review as dcqcnq_update() and the refresh timer do. */
static void *change(void *arg)
{
	u32 port, prio, mode = 0;

	(void)arg;
	while (!__atomic_load_n(&done, __ATOMIC_SEQ_CST)) {
		set_limits(mode++ % 3);
		for (port = 0; port < PORTS; port++) {
			for (prio = 0; prio < DCQCNQ_PRIOS; prio++) {
				struct group *g = &groups[port][prio];

				pthread_mutex_lock(&g->lock);
				dcqcnq_mmu_review(&mmu, &g->in);
				pthread_mutex_unlock(&g->lock);
			}
		}
	}
	return NULL;
}

static void set_up(void)
{
	u32 port, prio;

	set_limits(TC_DCQCN_XOFF_STATIC);
	for (port = 0; port < PORTS; port++) {
		for (prio = 0; prio < DCQCNQ_PRIOS; prio++) {
			pthread_mutex_init(&groups[port][prio].lock, NULL);
			groups[port][prio].in = (struct dcqcnq_ingress) {
				.headroom = HEADROOM, .xon_gap = 3000, .lossless = prio != 7,
			};
		}
	}
}

static void test_invariants_hold_with_threads(void **state)
{
	struct worker workers[THREADS] = {};
	u32 i, prio, verdict, paused = 0, met[DCQCNQ_NO_HEADROOM + 1] = {};
	pthread_t changer;

	(void)state;
	set_up();
	assert_int_equal(pthread_create(&changer, NULL, change, NULL), 0);
	for (i = 0; i < THREADS; i++) {
		workers[i].seed = i + 1;
		assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(workers[i].thread, NULL);
		assert_false(workers[i].too_much);
		paused += workers[i].paused;
		for (verdict = 0; verdict <= DCQCNQ_NO_HEADROOM; verdict++)
			met[verdict] += workers[i].verdicts[verdict];
	}
	__atomic_store_n(&done, true, __ATOMIC_SEQ_CST);
	pthread_join(changer, NULL);
	for (verdict = 0; verdict <= DCQCNQ_NO_HEADROOM; verdict++)
		assert_true(met[verdict] > 1000);
	assert_true(paused > 1000);
	assert_int_equal(atomic64_read(&mmu.fill), 0);
	for (i = 0; i < PORTS; i++) {
		for (prio = 0; prio < DCQCNQ_PRIOS; prio++) {
			const struct dcqcnq_ingress *in = &groups[i][prio].in;

			assert_int_equal(in->shared_bytes + in->headroom_bytes, 0);
			assert_false(in->paused);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_invariants_hold_with_threads),
	};

	return cmocka_run_group_tests_name("dcqcn_pool_smp", tests, NULL, NULL);
}
