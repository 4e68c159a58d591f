// SPDX-License-Identifier: GPL-2.0-only
/*
 * sch/dcqcn/dcqcnq_mmu.c: against a model, lossless operation, the paper's thresholds
 *
 * The model has a list of the waiting packets, and adds them up for each
 * decision. Core and model get the same packets, ports and settings. They must
 * agree on each packet's fate, on each pause, and on every counter.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "../../sch/dcqcn/dcqcnq_mmu.h"
#include "rng.h"

#define ROUNDS		300
#define ROUND_EVENTS	2000
#define PORTS		6
#define PRIOS		DCQCNQ_PRIOS
#define PACKETS		4096
#define OUTSIDE		(-1)	/* a packet that came in by no port */

/* ------------------------------------------------ the model */

struct packet {
	int port;
	u32 prio;
	u32 len;
};

struct model_port {
	bool member;
	u32 headroom;
	u32 mtu;
	bool paused[PRIOS];
	u64 in_headroom[PRIOS];
};

struct model {
	struct dcqcnq_pool_options p;
	struct model_port port[PORTS];
	struct packet packet[PACKETS];
	u32 packets;
};

static u64 waits(const struct model *m, int port, u32 prio)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < m->packets; i++)
		if (m->packet[i].port == port && m->packet[i].prio == prio)
			sum += m->packet[i].len;
	return sum;
}

static u64 waits_in_all(const struct model *m)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < m->packets; i++)
		sum += m->packet[i].len;
	return sum;
}

static u64 in_all_headrooms(const struct model *m)
{
	u64 sum = 0;
	u32 i, prio;

	for (i = 0; i < PORTS; i++)
		for (prio = 0; prio < PRIOS; prio++)
			sum += m->port[i].in_headroom[prio];
	return sum;
}

static u32 lossless_prios(const struct model *m)
{
	u32 prio, n = 0;

	for (prio = 0; prio < PRIOS; prio++)
		n += m->p.pfc >> prio & 1;
	return n;
}

/* Compute B - k n t_flight for ports with different headrooms. */
static s64 model_shared(const struct model *m)
{
	s64 shared = m->p.buffer;
	u32 i;

	for (i = 0; i < PORTS; i++)
		if (m->port[i].member)
			shared -= (s64)lossless_prios(m) * m->port[i].headroom;
	return max_t(s64, shared, 0);
}

static s64 model_free(const struct model *m)
{
	s64 free = model_shared(m) - (s64)(waits_in_all(m) - in_all_headrooms(m));

	free = min_t(s64, free, (s64)m->p.buffer - (s64)waits_in_all(m));
	return max_t(s64, free, 0);
}

static s64 model_xoff(const struct model *m)
{
	u32 i, ports = 0, prios = max_t(u32, lossless_prios(m), 1);

	for (i = 0; i < PORTS; i++)
		ports += m->port[i].member;
	switch (m->p.xoff_mode) {
	case TC_DCQCN_XOFF_AUTO:
		return model_shared(m) / (max_t(u32, ports, 1) * prios);
	case TC_DCQCN_XOFF_DYNAMIC:
		return min_t(s64, model_free(m) * m->p.beta / prios, m->p.buffer);
	default:
		return m->p.xoff;
	}
}

static bool model_lossless(const struct model *m, int port, u32 prio)
{
	return port != OUTSIDE && m->port[port].member && m->p.pfc >> prio & 1;
}

static s64 model_room(const struct model *m, int port, u32 prio)
{
	s64 in_shared = waits(m, port, prio) - m->port[port].in_headroom[prio];

	return min_t(s64, model_xoff(m) - in_shared, model_free(m));
}

static void model_lift(struct model *m, int port, u32 prio)
{
	struct model_port *q = &m->port[port];

	if (!model_lossless(m, port, prio) || !waits(m, port, prio) ||
	    (!q->in_headroom[prio] && model_room(m, port, prio) >= 2 * (s64)q->mtu))
		q->paused[prio] = false;
}

static enum dcqcnq_verdict model_admit(struct model *m, struct packet p, bool fits)
{
	struct model_port *q;

	if (!model_lossless(m, p.port, p.prio)) {
		if (!fits || p.len > model_free(m))
			return DCQCNQ_NO_ROOM;
		m->packet[m->packets++] = p;
		return DCQCNQ_LOSSY;
	}
	q = &m->port[p.port];
	if (p.len > model_room(m, p.port, p.prio)) {
		if (q->in_headroom[p.prio] + p.len > q->headroom ||
		    waits_in_all(m) + p.len > m->p.buffer) {
			q->paused[p.prio] |= !!waits(m, p.port, p.prio);
			return DCQCNQ_NO_HEADROOM;
		}
		q->in_headroom[p.prio] += p.len;
		q->paused[p.prio] = true;
	}
	m->packet[m->packets++] = p;
	return DCQCNQ_LOSSLESS;
}

static struct packet model_release(struct model *m, u32 i)
{
	struct packet p = m->packet[i];
	struct model_port *q;

	m->packet[i] = m->packet[--m->packets];
	if (p.port == OUTSIDE)
		return p;
	q = &m->port[p.port];
	q->in_headroom[p.prio] -= min_t(u64, p.len, q->in_headroom[p.prio]);
	model_lift(m, p.port, p.prio);
	return p;
}

static void model_review(struct model *m)
{
	s64 back;
	int port;
	u32 prio;

	for (port = 0; port < PORTS; port++) {
		struct model_port *q = &m->port[port];

		for (prio = 0; prio < PRIOS; prio++) {
			back = q->in_headroom[prio];
			if (model_lossless(m, port, prio)) {
				back = min_t(s64, back, max_t(s64, model_room(m, port, prio), 0));
				q->in_headroom[prio] -= back;
				if (q->in_headroom[prio] ||
				    waits(m, port, prio) > (u64)model_xoff(m))
					q->paused[prio] = true;
			} else {
				q->in_headroom[prio] = 0;
			}
			model_lift(m, port, prio);
		}
	}
}

/* ------------------------------------------------ core beside model */

/* A port, as in dcqcnq_pool.c */
struct port {
	bool member;
	u32 headroom;
	u32 mtu;
	struct dcqcnq_ingress in[PRIOS];
};

/* Recompute all limits, as dcqcnq_update() and dcqcnq_set_port() do. */
static void update(struct dcqcnq_mmu *m, const struct dcqcnq_pool_options *p,
		   struct port *port, u32 count)
{
	u32 i, prio, ports = 0;
	u64 sum = 0;

	for (i = 0; i < count; i++) {
		ports += port[i].member;
		sum += port[i].member ? port[i].headroom : 0;
	}
	dcqcnq_mmu_set(m, p, ports, sum);
	for (i = 0; i < count; i++) {
		for (prio = 0; prio < PRIOS; prio++) {
			struct dcqcnq_ingress *in = &port[i].in[prio];

			in->headroom = port[i].member ? port[i].headroom : 0;
			in->xon_gap = 2 * port[i].mtu;
			in->lossless = port[i].member && p->pfc >> prio & 1;
			dcqcnq_mmu_review(m, in);
		}
	}
}

static u32 paused_of(const struct port *port)
{
	u32 prio, mask = 0;

	for (prio = 0; prio < PRIOS; prio++)
		mask |= (u32)port->in[prio].paused << prio;
	return mask;
}

static enum dcqcnq_verdict admit(struct dcqcnq_mmu *m, struct port *port, u32 prio, u32 len,
				 bool fits)
{
	return port ? dcqcnq_mmu_admit(m, &port->in[prio], len, fits) :
		      dcqcnq_mmu_admit_other(m, len, fits);
}

static void release(struct dcqcnq_mmu *m, struct port *port, u32 prio, u32 len)
{
	if (port)
		dcqcnq_mmu_release(m, &port->in[prio], len);
	else
		dcqcnq_mmu_release_other(m, len);
}

/*
 * A port that leaves while its packets wait stays as a remnant. The next port
 * that joins takes a place without waiting packets.
 */
struct pair {
	struct dcqcnq_mmu core;
	struct port port[PORTS];
	struct model model;
};

/* Events of the random test, which requires that each of them occurs. */
static struct {
	u32 verdict[3][DCQCNQ_NO_HEADROOM + 1];
	u32 xoff, xon, remnants, headroom_back;
} met;

static void same(const struct pair *t)
{
	const struct model *m = &t->model;
	u64 headrooms = in_all_headrooms(m), sum[PORTS][PRIOS] = {};
	u32 prio, i;
	int port;

	for (i = 0; i < m->packets; i++)
		if (m->packet[i].port != OUTSIDE)
			sum[m->packet[i].port][m->packet[i].prio] += m->packet[i].len;

	assert_int_equal(dcqcnq_mmu_bytes(&t->core), waits_in_all(m));
	assert_int_equal(dcqcnq_fill_headroom(atomic64_read(&t->core.fill)), headrooms);
	assert_int_equal(t->core.shared, model_shared(m));
	assert_int_equal(dcqcnq_mmu_xoff(&t->core), model_xoff(m));
	for (port = 0; port < PORTS; port++) {
		for (prio = 0; prio < PRIOS; prio++) {
			const struct dcqcnq_ingress *q = &t->port[port].in[prio];

			assert_int_equal(q->headroom_bytes, m->port[port].in_headroom[prio]);
			assert_int_equal(q->shared_bytes + q->headroom_bytes,
					 sum[port][prio]);
			assert_int_equal(q->paused, m->port[port].paused[prio]);
		}
	}
}

/* Check the invariants of paused and open ingresses. */
static void pauses_make_sense(const struct pair *t)
{
	int port;
	u32 prio;

	for (port = 0; port < PORTS; port++) {
		for (prio = 0; prio < PRIOS; prio++) {
			const struct dcqcnq_ingress *q = &t->port[port].in[prio];

			if (q->paused)
				assert_true(q->shared_bytes + q->headroom_bytes);
			else
				assert_int_equal(q->headroom_bytes, 0);
		}
	}
}

static void set_params(struct pair *t, const struct dcqcnq_pool_options *p)
{
	u32 port, paused = 0;
	u64 headrooms = in_all_headrooms(&t->model);

	t->model.p = *p;
	update(&t->core, p, t->port, PORTS);
	model_review(&t->model);
	for (port = 0; port < PORTS; port++)
		paused |= paused_of(&t->port[port]);
	met.headroom_back += headrooms > in_all_headrooms(&t->model) && paused;
}

static void arrive(struct pair *t, struct packet p, bool fits)
{
	struct port *port = p.port == OUTSIDE ? NULL : &t->port[p.port];
	u8 paused = port ? paused_of(port) : 0;
	enum dcqcnq_verdict got = admit(&t->core, port, p.prio, p.len, fits);

	if (t->model.packets == PACKETS - 1)
		fail_msg("more packets than the model holds");
	assert_int_equal(got, model_admit(&t->model, p, fits));
	met.verdict[t->model.p.xoff_mode][got]++;
	met.xoff += port && (paused_of(port) & ~paused);
}

static void depart(struct pair *t, u32 i)
{
	struct packet p = model_release(&t->model, i);
	struct port *port = p.port == OUTSIDE ? NULL : &t->port[p.port];
	u8 paused = port ? paused_of(port) : 0;

	release(&t->core, port, p.prio, p.len);
	met.xon += port && (paused & ~paused_of(port));
}

static void set_port(struct pair *t, u32 i, u32 headroom, u32 mtu)
{
	t->port[i].headroom = headroom;
	t->port[i].mtu = mtu;
	t->model.port[i].headroom = headroom;
	t->model.port[i].mtu = mtu;
}

static void join(struct pair *t, u32 i, u32 headroom, u32 mtu)
{
	struct dcqcnq_pool_options p = t->model.p;

	t->port[i].member = true;
	t->model.port[i].member = true;
	set_port(t, i, headroom, mtu);
	set_params(t, &p);
}

static void leave(struct pair *t, u32 i)
{
	struct dcqcnq_pool_options p = t->model.p;
	u32 prio;

	t->port[i].member = false;
	/* before the limits change, as in dcqcnq_pool_leave() */
	for (prio = 0; prio < PRIOS; prio++) {
		t->port[i].in[prio].lossless = false;
		dcqcnq_mmu_review(&t->core, &t->port[i].in[prio]);
	}
	memset(&t->model.port[i], 0, sizeof(t->model.port[i]));
	set_params(t, &p);
	assert_int_equal(paused_of(&t->port[i]), 0);
	for (prio = 0; prio < PRIOS; prio++)
		met.remnants += !!t->port[i].in[prio].shared_bytes;
}

static bool empty(const struct pair *t, u32 i)
{
	u32 prio;

	for (prio = 0; prio < PRIOS; prio++)
		if (waits(&t->model, i, prio))
			return false;
	return true;
}

static struct dcqcnq_pool_options random_params(struct rng *rng)
{
	static const u8 pfc[] = { 0xff, 0xff, 0x08, 0x81, 0x00 };
	struct dcqcnq_pool_options p = {};

	p.buffer = rng_in(rng, 100000, 500000);
	p.xoff_mode = rng_in(rng, 0, 2);
	p.beta = 1 << rng_in(rng, 0, 7);
	p.pfc = pfc[rng_in(rng, 0, 4)];
	if (p.xoff_mode == TC_DCQCN_XOFF_STATIC)
		p.xoff = rng_in(rng, 64, rng_percent(rng, 80) ? 20000 : 500000);
	return p;
}

static struct packet random_packet(struct rng *rng, const struct pair *t)
{
	struct packet p = {};

	p.port = (int)rng_in(rng, 0, PORTS) - 1;
	p.prio = rng_percent(rng, 60) ? 3 : rng_in(rng, 0, PRIOS - 1);
	p.len = rng_percent(rng, 70) ? 1514 : rng_in(rng, 60, 9014);
	if (p.port != OUTSIDE && !t->port[p.port].member)
		p.port = OUTSIDE;
	return p;
}

static void random_change(struct rng *rng, struct pair *t)
{
	u32 i = rng_in(rng, 0, PORTS - 1), headroom = rng_in(rng, 1000, 10000);
	struct dcqcnq_pool_options p;

	if (rng_percent(rng, 40)) {
		p = random_params(rng);
		set_params(t, &p);
	} else if (t->port[i].member && rng_percent(rng, 50)) {
		set_port(t, i, headroom, 1500);
		p = t->model.p;
		set_params(t, &p);
	} else if (t->port[i].member) {
		leave(t, i);
	} else if (empty(t, i)) {
		join(t, i, headroom, 1500);
	}
}

static void drain(struct pair *t)
{
	u32 i;

	while (t->model.packets)
		depart(t, t->model.packets - 1);
	same(t);
	assert_int_equal(atomic64_read(&t->core.fill), 0);
	for (i = 0; i < PORTS; i++)
		assert_int_equal(paused_of(&t->port[i]), 0);
}

static void random_round(struct rng *rng)
{
	static struct pair t;
	u32 i, load = 50, bytes;
	struct packet p;

	memset(&t, 0, sizeof(t));
	t.model.p = random_params(rng);
	for (i = 0; i < PORTS / 2; i++)
		join(&t, i, rng_in(rng, 1000, 10000), 1500);
	for (i = 0; i < ROUND_EVENTS; i++) {
		if (!rng_in(rng, 0, 99))
			load = rng_in(rng, 20, 90);
		if (!rng_in(rng, 0, 99))
			random_change(rng, &t);
		bytes = dcqcnq_mmu_bytes(&t.core);
		if (rng_percent(rng, load)) {
			p = random_packet(rng, &t);
			arrive(&t, p, rng_percent(rng, 95));
		} else if (t.model.packets) {
			depart(&t, rng_in(rng, 0, t.model.packets - 1));
		}
		/* a buffer that was reduced may exceed its size for a while */
		assert_true(dcqcnq_mmu_bytes(&t.core) <= max_t(u32, bytes, t.core.buffer));
		same(&t);
		pauses_make_sense(&t);
	}
	drain(&t);
}

static void test_core_agrees_with_model(void **state)
{
	struct rng rng;
	int i, mode, verdict;

	(void)state;
	rng_seed(&rng, 20150817);
	for (i = 0; i < ROUNDS; i++)
		random_round(&rng);
	for (mode = 0; mode < 3; mode++)
		for (verdict = 0; verdict <= DCQCNQ_NO_HEADROOM; verdict++)
			assert_true(met.verdict[mode][verdict] > 1000);
	assert_true(met.xoff > 10000);
	assert_true(met.xon > 10000);
	assert_true(met.remnants > 1000);
	assert_true(met.headroom_back > 100);
}

/* ------------------------------------------------ invariants */

#define FLIGHT		9000

/*
 * Lossless senders that stop in time lose no packet. After XOFF, a sender sends
 * at most its headroom until XON. This holds with any thresholds, while lossy
 * traffic fills the shared part.
 */
static void lossless_round(struct rng *rng)
{
	struct dcqcnq_pool_options params = random_params(rng);
	u32 in_flight[PORTS][PRIOS] = {}, peak = 0, i;
	static struct pair t;

	memset(&t, 0, sizeof(t));
	params.buffer += PORTS * PRIOS * FLIGHT;
	t.model.p = params;
	for (i = 0; i < PORTS; i++)
		join(&t, i, FLIGHT, 1500);
	for (i = 0; i < ROUND_EVENTS; i++) {
		struct packet p = random_packet(rng, &t);
		u32 *flight = p.port == OUTSIDE ? NULL : &in_flight[p.port][p.prio];
		bool lossless = model_lossless(&t.model, p.port, p.prio);

		if (t.model.packets && rng_percent(rng, 30)) {
			depart(&t, rng_in(rng, 0, t.model.packets - 1));
			continue;
		}
		if (lossless && !t.port[p.port].in[p.prio].paused)
			*flight = 0;
		if (lossless && *flight + p.len > FLIGHT)
			continue;
		peak = max_t(u32, peak, dcqcnq_mmu_bytes(&t.core));
		assert_int_not_equal(admit(&t.core, p.port != OUTSIDE ? &t.port[p.port] : NULL,
					   p.prio, p.len, true),
				     DCQCNQ_NO_HEADROOM);
		model_admit(&t.model, p, true);
		if (lossless && t.port[p.port].in[p.prio].paused)
			*flight += p.len;
	}
	same(&t);
	assert_true(t.core.peak_bytes >= peak);
	assert_true(t.core.peak_bytes <= t.core.buffer);
	drain(&t);
}

static void test_senders_that_stop_lose_nothing(void **state)
{
	struct rng rng;
	int i;

	(void)state;
	rng_seed(&rng, 3);
	for (i = 0; i < 300; i++)
		lossless_round(&rng);
}

static const struct dcqcnq_pool_options one_params = {
	.buffer = 1000000,
	.xoff_mode = TC_DCQCN_XOFF_STATIC,
	.pfc = 0xff,
};

static void set_xoff(struct dcqcnq_mmu *m, struct port *port, u32 xoff)
{
	struct dcqcnq_pool_options p = one_params;

	p.xoff = xoff;
	update(m, &p, port, 1);
}

static struct dcqcnq_mmu one_port(struct port *port, u32 xoff, u32 headroom)
{
	struct dcqcnq_mmu m = {};

	memset(port, 0, sizeof(*port));
	port->member = true;
	port->headroom = headroom;
	port->mtu = 1000;
	set_xoff(&m, port, xoff);
	return m;
}

/* XOFF comes with the first byte above the threshold, XON 2 MTU below it. */
static void test_xon_is_two_mtu_below_xoff(void **state)
{
	struct port port;
	struct dcqcnq_mmu m = one_port(&port, 10000, 5000);
	int i;

	(void)state;
	for (i = 0; i < 10; i++)
		assert_int_equal(admit(&m, &port, 3, 1000, true), DCQCNQ_LOSSLESS);
	assert_int_equal(paused_of(&port), 0);
	assert_int_equal(admit(&m, &port, 3, 1, true), DCQCNQ_LOSSLESS);
	assert_int_equal(paused_of(&port), 1 << 3);
	assert_int_equal(port.in[3].headroom_bytes, 1);
	release(&m, &port, 3, 1);
	release(&m, &port, 3, 1000);
	release(&m, &port, 3, 999);
	assert_int_equal(paused_of(&port), 1 << 3);
	release(&m, &port, 3, 1);
	assert_int_equal(paused_of(&port), 0);
	/* other priorities are independent */
	assert_int_equal(admit(&m, &port, 4, 10000, true), DCQCNQ_LOSSLESS);
	assert_int_equal(paused_of(&port), 0);
}

/* A new threshold applies to waiting packets. */
static void test_new_threshold_applies_to_backlog(void **state)
{
	struct port port;
	struct dcqcnq_mmu m = one_port(&port, 10000, 5000);

	(void)state;
	assert_int_equal(admit(&m, &port, 3, 6000, true), DCQCNQ_LOSSLESS);
	set_xoff(&m, &port, 6000);
	assert_int_equal(paused_of(&port), 0);
	set_xoff(&m, &port, 5999);
	assert_int_equal(paused_of(&port), 1 << 3);
	set_xoff(&m, &port, 7999);
	assert_int_equal(paused_of(&port), 1 << 3);
	set_xoff(&m, &port, 8000);
	assert_int_equal(paused_of(&port), 0);
	assert_int_equal(port.in[3].headroom_bytes, 0);
}

/* The headroom is used to its last byte, and drops are counted. */
static void test_headroom_is_used_to_the_last_byte(void **state)
{
	struct port port;
	struct dcqcnq_mmu m = one_port(&port, 1000, 5000);

	(void)state;
	assert_int_equal(admit(&m, &port, 0, 1000, true), DCQCNQ_LOSSLESS);
	assert_int_equal(admit(&m, &port, 0, 4000, true), DCQCNQ_LOSSLESS);
	assert_int_equal(admit(&m, &port, 0, 1001, true), DCQCNQ_NO_HEADROOM);
	assert_int_equal(admit(&m, &port, 0, 1000, true), DCQCNQ_LOSSLESS);
	assert_int_equal(admit(&m, &port, 0, 1, true), DCQCNQ_NO_HEADROOM);
	assert_int_equal(port.in[0].dropped_packets, 2);
	assert_int_equal(port.in[0].headroom_peak_bytes, 5000);
	assert_int_equal(port.in[0].peak_bytes, 6000);
	assert_int_equal(dcqcnq_mmu_bytes(&m), 6000);
}

/* A packet that can never fit does not pause an ingress for ever. */
static void test_too_long_packet_does_not_pause(void **state)
{
	struct port port;
	struct dcqcnq_mmu m = one_port(&port, 64, 100);

	(void)state;
	assert_int_equal(admit(&m, &port, 0, 1500, true), DCQCNQ_NO_HEADROOM);
	assert_int_equal(paused_of(&port), 0);
	/* with t_PFC below 2 MTU, a pause lasts until the ingress is empty */
	assert_int_equal(admit(&m, &port, 0, 60, true), DCQCNQ_LOSSLESS);
	assert_int_equal(admit(&m, &port, 0, 60, true), DCQCNQ_LOSSLESS);
	assert_int_equal(paused_of(&port), 1);
	release(&m, &port, 0, 60);
	assert_int_equal(paused_of(&port), 1);
	release(&m, &port, 0, 60);
	assert_int_equal(paused_of(&port), 0);
}

/* Section 4 of the paper: 32 ports, 12 MB, t_flight 22.4 KB, beta 8 */
static void test_thresholds_of_the_paper(void **state)
{
	struct dcqcnq_pool_options p = { .buffer = 12000000, .beta = 8, .pfc = 0xff };
	static struct port port[32];
	struct dcqcnq_mmu m = {};
	u32 i, n;

	(void)state;
	memset(port, 0, sizeof(port));
	for (i = 0; i < 32; i++)
		port[i] = (struct port) { .member = true, .headroom = 22400, .mtu = 1500 };
	update(&m, &p, port, 32);
	assert_int_equal(dcqcnq_mmu_xoff(&m), 24475);	/* 24.47 KB */
	p.xoff_mode = TC_DCQCN_XOFF_DYNAMIC;
	update(&m, &p, port, 32);
	assert_int_equal(dcqcnq_mmu_xoff(&m), 12000000 - 32 * 8 * 22400);

	/*
	 * The bound of t_ECN is 21.75 KB. With as much in each of 32 queues of each
	 * priority, and all bytes of a priority from one port, no port is paused.
	 * With another packet in each queue, some are.
	 */
	for (i = 0; i < 8 * 32; i++)
		admit(&m, &port[i % 8], i % 8, 21755, true);
	for (i = n = 0; i < 32; i++)
		n += !!paused_of(&port[i]);
	assert_int_equal(n, 0);
	for (i = 0; i < 8 * 32; i++)
		admit(&m, &port[i % 8], i % 8, 1500, true);
	for (i = n = 0; i < 32; i++)
		n += !!paused_of(&port[i]);
	assert_int_equal(n, 8);
}

/* The sum of headrooms must be less than the buffer. */
static void test_buffer_must_exceed_headrooms(void **state)
{
	struct dcqcnq_pool_options p = { .buffer = 1000, .pfc = 0x0f };

	(void)state;
	assert_true(dcqcnq_mmu_fits(&p, 249));
	assert_false(dcqcnq_mmu_fits(&p, 250));
	p.pfc = 0;
	assert_true(dcqcnq_mmu_fits(&p, 1ULL << 40));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_core_agrees_with_model),
		cmocka_unit_test(test_senders_that_stop_lose_nothing),
		cmocka_unit_test(test_xon_is_two_mtu_below_xoff),
		cmocka_unit_test(test_new_threshold_applies_to_backlog),
		cmocka_unit_test(test_headroom_is_used_to_the_last_byte),
		cmocka_unit_test(test_too_long_packet_does_not_pause),
		cmocka_unit_test(test_thresholds_of_the_paper),
		cmocka_unit_test(test_buffer_must_exceed_headrooms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
