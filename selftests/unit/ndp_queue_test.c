// SPDX-License-Identifier: GPL-2.0-only
/*
 * sch/ndp/ndpq_queue.c, arrivals: against a model, limits, row by row
 *
 * The model (ndp_model.c) and the port that uses the core (ndp_port.c) get the
 * same packets, coins and configurations. They must agree on the fate of each
 * packet, on the order of departures, and on every counter.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "ndp_model.h"
#include "ndp_port.h"
#include "rng.h"

#define ROUNDS		1000
#define ROUND_EVENTS	1000

/* ------------------------------------------------ against the model */

static struct port_conf random_conf(struct rng *rng, enum port_mode mode, u32 bands)
{
	static const u32 ratios[] = { 1, 2, 3, 10, 10, 10, 50, 100000 };
	struct port_conf c = { .mode = mode, .bands = bands, .keep = 128 };

	c.data_packets = rng_in(rng, 1, rng_percent(rng, 80) ? 16 : 64);
	c.header_bytes = rng_in(rng, 64, 20000);
	c.headers_per_data = ratios[rng_in(rng, 0, 7)];
	c.bounce = rng_percent(rng, 50);
	c.foreign_bytes = rng_in(rng, 64, 300000);
	if (rng_percent(rng, 50))
		c.keep = rng_in(rng, 64, 1500);
	if (rng_percent(rng, 50))
		c.data_bytes = rng_in(rng, 64, 100000);
	if (rng_percent(rng, 60))
		c.mark_from = rng_in(rng, 1, c.foreign_bytes);
	return c;
}

static u32 random_data_len(struct rng *rng, u32 above)
{
	switch (rng_in(rng, 0, 3)) {
	case 0:
		return above + 1;
	case 1:
		return above < MTU_FRAME ? MTU_FRAME : above + 1;
	case 2:
		return JUMBO_FRAME;
	default:
		return rng_in(rng, above + 1, JUMBO_FRAME);
	}
}

static struct pkt random_pkt(struct rng *rng, const struct port_conf *conf,
			     u32 data_percent)
{
	enum pkt_sort sort = SORT_FULL;

	if (!rng_percent(rng, data_percent))
		sort = rng_in(rng, SORT_SHORT, SORT_FOREIGN);
	switch (sort) {
	case SORT_FULL:
		return new_pkt(sort, random_data_len(rng, conf->keep));
	case SORT_FOREIGN:
		return new_pkt(sort, rng_in(rng, 60, rng_percent(rng, 90) ?
					MTU_FRAME : GSO_FRAME));
	default:
		return new_pkt(sort, rng_in(rng, 60, conf->keep));
	}
}

/* Fates of the random packets. The test requires that each possible fate occurs. */
static struct {
	u32 arrival[PORT_MODES][SORTS][FATES];
	u32 tail[FATES];
	u32 marked;
} met;

static void print_tally(const char *who, const struct tally *t)
{
	const u64 *n = (const u64 *)t;
	size_t i;

	fprintf(stderr, "%s:", who);
	for (i = 0; i < sizeof(*t) / sizeof(*n); i++)
		fprintf(stderr, " %llu", (unsigned long long)n[i]);
	fprintf(stderr, "\n");
}

static void same_tally(const struct ndp_port *port, const struct ndp_model *m)
{
	struct tally got, want;

	port_tally(port, &got);
	model_tally(m, &want);
	if (!memcmp(&got, &want, sizeof(got)))
		return;
	print_tally("core ", &got);
	print_tally("model", &want);
	fail_msg("core and model count differently");
}

static void both_arrive(struct ndp_port *port, struct ndp_model *m, struct pkt p,
			bool coin)
{
	struct outcome got = port_arrive(port, p, coin);
	struct outcome want = model_arrive(m, p, coin);

	assert_int_equal(got.arrival, want.arrival);
	assert_int_equal(got.tail, want.tail);
	assert_int_equal(got.tail_id, want.tail_id);
	assert_int_equal(got.marked, want.marked);
	met.arrival[port->par.mode][p.sort][want.arrival]++;
	met.tail[want.tail]++;
	met.marked += want.marked;
}

static void both_depart(struct ndp_port *port, struct ndp_model *m)
{
	struct pkt got = {}, want = {};

	assert_int_equal(port_depart(port, &got), model_depart(m, &want));
	assert_int_equal(got.id, want.id);
	assert_int_equal(got.len, want.len);
	assert_int_equal(got.sort, want.sort);
}

/* Start with random parameters, and change them now and then while packets wait. */
static void random_round(struct rng *rng)
{
	enum port_mode mode = rng_in(rng, 0, PORT_MODES - 1);
	u32 bands = mode == PORT_NDP && rng_percent(rng, 50) ? rng_in(rng, 2, 8) : 1;
	struct port_conf conf = random_conf(rng, mode, bands);
	u32 data_percent = rng_in(rng, 0, 100);
	struct ndp_model *m = model_new();
	struct ndp_port port;
	u32 load = 50;
	struct pkt p;
	int i;

	port_setup(&port, &conf);
	model_configure(m, &conf);
	for (i = 0; i < ROUND_EVENTS; i++) {
		if (rng_in(rng, 0, 99) == 0)
			load = rng_in(rng, 20, 90);
		if (rng_in(rng, 0, 399) == 0) {
			conf = random_conf(rng, mode, bands);
			port_configure(&port, &conf);
			model_configure(m, &conf);
		}
		if (rng_percent(rng, load)) {
			p = random_pkt(rng, &conf, data_percent);
			p.dscp = rng_in(rng, 0, 63);
			both_arrive(&port, m, p, rng_percent(rng, 50));
		} else {
			both_depart(&port, m);
		}
		same_tally(&port, m);
	}
	port_purge(&port);
	model_free(m);
}

/* Check that each fate that is possible for a sort in a mode has occurred. */
static void met_all(void)
{
	static const enum fate fates[PORT_MODES][SORTS][4] = {
		[PORT_NDP] = {
			{ FATE_DATA, FATE_HEADER, FATE_BOUNCED, FATE_LOST },
			{ FATE_HEADER, FATE_LOST },
			{ FATE_HEADER, FATE_BOUNCED, FATE_LOST },
			{ FATE_HEADER, FATE_LOST },
			{ FATE_FOREIGN, FATE_LOST },
		},
		[PORT_CP] = {
			{ FATE_DATA, FATE_HEADER, FATE_LOST },
			{ FATE_HEADER, FATE_LOST },
			{ FATE_HEADER, FATE_LOST },
			{ FATE_HEADER, FATE_LOST },
			{ FATE_FOREIGN, FATE_LOST },
		},
		[PORT_DROPTAIL] = {
			{ FATE_DATA, FATE_LOST },
			{ FATE_HEADER, FATE_LOST },
			{ FATE_HEADER, FATE_LOST },
			{ FATE_HEADER, FATE_LOST },
			{ FATE_FOREIGN, FATE_LOST },
		},
	};
	u32 mode, sort, i, n;

	for (mode = 0; mode < PORT_MODES; mode++) {
		for (sort = 0; sort < SORTS; sort++) {
			for (i = n = 0; i < FATES; i++)
				n += !!met.arrival[mode][sort][i];
			for (i = 0; i < 4 && fates[mode][sort][i]; i++, n--)
				assert_true(met.arrival[mode][sort]
						       [fates[mode][sort][i]] > 100);
			assert_int_equal(n, 0);
		}
	}
	assert_true(met.tail[FATE_HEADER] > 1000);
	assert_true(met.tail[FATE_BOUNCED] > 1000);
	assert_true(met.tail[FATE_LOST] > 1000);
	assert_true(met.marked > 1000);
}

static void test_core_agrees_with_model(void **state)
{
	struct rng rng;
	int i;

	(void)state;
	rng_seed(&rng, 20170821);
	for (i = 0; i < ROUNDS; i++)
		random_round(&rng);
	met_all();
}

/* ------------------------------------------------ promises: the queues */

static void within_limits(const struct ndp_port *port, const struct port_conf *c)
{
	const struct ndpq_queue_vars *d = &port->v.q[NDPQ_DATA];
	const struct ndpq_queue_vars *h = &port->v.q[NDPQ_HEADER];
	u32 packets = d->packets, bytes = d->bytes;

	if (c->mode == PORT_DROPTAIL) {
		packets += h->packets;
		bytes += h->bytes;
	} else {
		assert_in_range(h->bytes, 0, c->header_bytes);
		assert_in_range(h->peak_bytes, 0, c->header_bytes);
	}
	assert_in_range(packets, 0, c->data_packets);
	if (c->data_bytes)
		assert_in_range(bytes, 0, c->data_bytes);
	assert_in_range(port->v.q[NDPQ_OTHER].bytes, 0, c->foreign_bytes);
	/* a peak is a state that was seen, so the limits bound it too */
	assert_in_range(d->peak_packets, d->packets, c->data_packets);
	if (c->data_bytes)
		assert_in_range(d->peak_bytes, d->bytes, c->data_bytes);
	assert_in_range(port->v.q[NDPQ_OTHER].peak_bytes, 0, c->foreign_bytes);
}

/* The peaks show that limits are not exceeded between two observations either. */
static void test_limits_are_never_exceeded(void **state)
{
	struct port_conf conf;
	struct ndp_port port;
	struct rng rng;
	struct pkt p;
	int i, j;

	(void)state;
	rng_seed(&rng, 1);
	for (i = 0; i < 200; i++) {
		conf = random_conf(&rng, i % PORT_MODES, 1);
		port_setup(&port, &conf);
		for (j = 0; j < 500; j++) {
			if (rng_percent(&rng, 70)) {
				p = random_pkt(&rng, &conf, 60);
				port_arrive(&port, p, rng_percent(&rng, 50));
			} else {
				port_depart(&port, &p);
			}
			within_limits(&port, &conf);
		}
		port_purge(&port);
	}
}

/* Each departure succeeds until all packets have left. */
static void test_port_is_work_conserving(void **state)
{
	struct port_conf conf;
	struct ndp_port port;
	u32 waiting;
	struct rng rng;
	struct pkt p;
	int i, j;

	(void)state;
	rng_seed(&rng, 2);
	for (i = 0; i < 300; i++) {
		conf = random_conf(&rng, i % PORT_MODES, 1);
		port_setup(&port, &conf);
		for (j = 0; j < 60; j++)
			port_arrive(&port, random_pkt(&rng, &conf, 40), j & 1);
		waiting = port.v.q[NDPQ_DATA].packets +
			  port.v.q[NDPQ_HEADER].packets +
			  port.v.q[NDPQ_OTHER].packets;
		while (waiting--)
			assert_true(port_depart(&port, &p));
		assert_false(port_depart(&port, &p));
		for (j = 0; j < NDPQ_QUEUES; j++) {
			assert_int_equal(port.v.q[j].packets, 0);
			assert_int_equal(port.v.q[j].bytes, 0);
		}
		port_purge(&port);
	}
}

/* Packets and bytes may have their peaks at different times. */
static void test_peaks_are_kept(void **state)
{
	struct ndp_port port;
	struct pkt p;

	(void)state;
	port_setup(&port, &port_paper);
	port_put(&port, SORT_FULL, 9000);
	port_put(&port, SORT_FULL, 1000);
	assert_int_equal(port.v.q[NDPQ_DATA].peak_packets, 2);
	assert_int_equal(port.v.q[NDPQ_DATA].peak_bytes, 10000);
	port_depart(&port, &p);
	port_put(&port, SORT_FULL, 200);
	port_put(&port, SORT_FULL, 200);
	assert_int_equal(port.v.q[NDPQ_DATA].packets, 3);
	assert_int_equal(port.v.q[NDPQ_DATA].peak_packets, 3);
	assert_int_equal(port.v.q[NDPQ_DATA].peak_bytes, 10000);
	port_purge(&port);
}

/* The tail leaves the queue before the arrival enters it. */
static void test_replacing_the_tail_keeps_limits(void **state)
{
	struct port_conf conf = port_paper;
	struct ndp_port port;
	struct outcome o;

	(void)state;
	conf.data_packets = 100;
	conf.data_bytes = 10000;
	port_setup(&port, &conf);
	port_backlog(&port, SORT_FULL, 4000, 2);
	/* would fit in the tail's place to the byte */
	o = port_arrive(&port, new_pkt(SORT_FULL, 6000), true);
	assert_int_equal(o.tail, FATE_HEADER);
	assert_int_equal(o.arrival, FATE_DATA);
	assert_int_equal(port.v.q[NDPQ_DATA].bytes, 10000);
	assert_int_equal(port.v.q[NDPQ_DATA].peak_bytes, 10000);
	/* one byte too long for it: the arrival is trimmed, whatever the coin */
	o = port_arrive(&port, new_pkt(SORT_FULL, 6001), true);
	assert_int_equal(o.tail, FATE_NONE);
	assert_int_equal(o.arrival, FATE_HEADER);
	assert_int_equal(port.v.q[NDPQ_DATA].bytes, 10000);
	assert_int_equal(port.v.q[NDPQ_DATA].packets, 2);
	port_purge(&port);
}

static void test_empty_queue_trims_arrival(void **state)
{
	struct ndpq_params par = { .limit = 8, .limit_bytes = UINT32_MAX, .rts = true };
	struct ndpq_vars v = {};

	(void)state;
	assert_int_equal(ndpq_data_full(&par, &v, 1000, 0, 0, true), NDPQ_TRIM_ARRIVAL);
	v.q[NDPQ_DATA].bytes = 129;
	assert_int_equal(ndpq_data_full(&par, &v, 1000, 129, 0, true), NDPQ_TRIM_TAIL);
}

/* The coin decides within a band only; precedence from bands - 1 on is the first band. */
static void test_lower_band_is_trimmed_first(void **state)
{
	struct ndpq_params par = { .limit = 8, .limit_bytes = UINT32_MAX, .bands = 4 };
	struct ndpq_vars v = { .q[NDPQ_DATA].bytes = 9000 };
	bool coin = false;

	(void)state;
	do {
		assert_int_equal(ndpq_data_full(&par, &v, 1000, 9000, 1, coin), NDPQ_TRIM_TAIL);
		assert_int_equal(ndpq_data_full(&par, &v, 1000, 9000, -1, coin),
				 NDPQ_TRIM_ARRIVAL);
		coin = !coin;
	} while (coin);
	assert_int_equal(ndpq_level(&par, 0), 0);
	assert_int_equal(ndpq_level(&par, 7), 0);
	assert_int_equal(ndpq_level(&par, 8), 1);
	assert_int_equal(ndpq_level(&par, 24), 3);
	assert_int_equal(ndpq_level(&par, 63), 3);
	par.bands = 1;
	assert_int_equal(ndpq_level(&par, 63), 0);
}

/* A data packet longer than the queue is trimmed, whatever the coin. */
static void test_too_long_data_is_trimmed(void **state)
{
	struct port_conf conf = port_paper;
	struct ndp_port port;
	struct outcome o;

	(void)state;
	conf.data_bytes = 1000;
	port_setup(&port, &conf);
	o = port_arrive(&port, new_pkt(SORT_FULL, 1001), true);
	assert_int_equal(o.arrival, FATE_HEADER);
	assert_int_equal(port_put(&port, SORT_FULL, 1000), FATE_DATA);
	o = port_arrive(&port, new_pkt(SORT_FULL, 1001), true);
	assert_int_equal(o.tail, FATE_NONE);
	assert_int_equal(o.arrival, FATE_HEADER);
	port_purge(&port);
}

/* ------------------------------------------------ row by row */

struct data_row {
	const char *what;
	enum port_mode mode;
	u32 limit;
	u32 limit_bytes;
	u32 waiting;	/* data packets of 1000 bytes */
	u32 len;
	bool coin;
	enum fate arrival;
	enum fate tail;
};

static const struct data_row data_rows[] = {
	{ "empty", PORT_NDP, 8, 0, 0, 9000, true,
	  FATE_DATA, FATE_NONE },
	{ "last place", PORT_NDP, 8, 0, 7, 9000, true,
	  FATE_DATA, FATE_NONE },
	{ "full, coin: arrival", PORT_NDP, 8, 0, 8, 9000, false,
	  FATE_HEADER, FATE_NONE },
	{ "full, coin: tail", PORT_NDP, 8, 0, 8, 9000, true,
	  FATE_DATA, FATE_HEADER },
	{ "limit 1: last", PORT_NDP, 1, 0, 0, 9000, false,
	  FATE_DATA, FATE_NONE },
	{ "limit 1: tail", PORT_NDP, 1, 0, 1, 9000, true,
	  FATE_DATA, FATE_HEADER },
	{ "bytes: exact", PORT_NDP, 99, 5000, 4, 1000, true,
	  FATE_DATA, FATE_NONE },
	{ "bytes: one too many", PORT_NDP, 99, 5000, 4, 1001, false,
	  FATE_HEADER, FATE_NONE },
	{ "bytes: for the tail", PORT_NDP, 99, 5000, 4, 1001, true,
	  FATE_DATA, FATE_HEADER },
	{ "bytes: tail, exact", PORT_NDP, 99, 5000, 5, 1000, true,
	  FATE_DATA, FATE_HEADER },
	{ "bytes: tail too short", PORT_NDP, 99, 5000, 5, 1001, true,
	  FATE_HEADER, FATE_NONE },
	{ "bytes: empty, too long", PORT_NDP, 99, 5000, 0, 5001, true,
	  FATE_HEADER, FATE_NONE },
	{ "packets bind first", PORT_NDP, 4, 5000, 4, 129, false,
	  FATE_HEADER, FATE_NONE },
	{ "cp: room", PORT_CP, 8, 0, 7, 9000, true,
	  FATE_DATA, FATE_NONE },
	{ "cp: no coin", PORT_CP, 8, 0, 8, 9000, true,
	  FATE_HEADER, FATE_NONE },
	{ "cp: bytes", PORT_CP, 99, 5000, 5, 129, true,
	  FATE_HEADER, FATE_NONE },
	{ "droptail: room", PORT_DROPTAIL, 8, 0, 7, 9000, true,
	  FATE_DATA, FATE_NONE },
	{ "droptail: full", PORT_DROPTAIL, 8, 0, 8, 9000, true,
	  FATE_LOST, FATE_NONE },
	{ "droptail: bytes", PORT_DROPTAIL, 99, 5000, 4, 1001, false,
	  FATE_LOST, FATE_NONE },
	{ "droptail: exact", PORT_DROPTAIL, 99, 5000, 4, 1000, false,
	  FATE_DATA, FATE_NONE },
};

static void test_fate_of_data_packets(void **state)
{
	const struct data_row *row;
	struct ndp_port port;
	struct outcome o;
	u64 cuts;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(data_rows) / sizeof(*data_rows); i++) {
		struct port_conf conf = port_paper;

		row = &data_rows[i];
		conf.mode = row->mode;
		conf.data_packets = row->limit;
		conf.data_bytes = row->limit_bytes;
		port_setup(&port, &conf);
		port_backlog(&port, SORT_FULL, 1000, row->waiting);
		o = port_arrive(&port, new_pkt(SORT_FULL, row->len), row->coin);
		if (o.arrival != row->arrival || o.tail != row->tail)
			fail_msg("%s: fates %d, %d", row->what, o.arrival, o.tail);
		cuts = port.t.cut_arrivals + port.t.cut_tails;
		assert_int_equal(cuts, row->tail || row->arrival == FATE_HEADER);
		port_purge(&port);
	}
}

struct header_row {
	const char *what;
	enum port_mode mode;
	bool rts;
	u32 waiting;	/* headers of 100 bytes, of 1000 */
	u32 len;
	enum pkt_sort sort;
	enum fate fate;
};

static const struct header_row header_rows[] = {
	{ "empty", PORT_NDP, true, 0, 1000, SORT_CUT, FATE_HEADER },
	{ "too long for it", PORT_NDP, true, 0, 1001, SORT_CUT, FATE_BOUNCED },
	{ "exact", PORT_NDP, true, 9, 100, SORT_CUT, FATE_HEADER },
	{ "trimmed", PORT_NDP, true, 9, 101, SORT_CUT, FATE_BOUNCED },
	{ "trimmed, norts", PORT_NDP, false, 9, 101, SORT_CUT, FATE_LOST },
	{ "returned", PORT_NDP, true, 9, 101, SORT_BOUNCED, FATE_LOST },
	{ "returned, room", PORT_NDP, true, 9, 100, SORT_BOUNCED, FATE_HEADER },
	{ "control", PORT_NDP, true, 9, 101, SORT_SHORT, FATE_LOST },
	{ "control, room", PORT_NDP, true, 9, 100, SORT_SHORT, FATE_HEADER },
	{ "full", PORT_NDP, true, 10, 60, SORT_CUT, FATE_BOUNCED },
	{ "cp: exact", PORT_CP, true, 9, 100, SORT_CUT, FATE_HEADER },
	{ "cp: never returns", PORT_CP, true, 9, 101, SORT_CUT, FATE_LOST },
	{ "droptail: hlimit is nothing", PORT_DROPTAIL, true, 10, 500, SORT_CUT,
	  FATE_HEADER },
	{ "droptail: full", PORT_DROPTAIL, true, 20, 60, SORT_CUT, FATE_LOST },
};

static void test_fate_of_headers(void **state)
{
	const struct header_row *row;
	struct ndp_port port;
	enum fate fate;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(header_rows) / sizeof(*header_rows); i++) {
		struct port_conf conf = port_paper;

		row = &header_rows[i];
		conf.mode = row->mode;
		conf.data_packets = 20;
		conf.header_bytes = 1000;
		conf.bounce = row->rts;
		port_setup(&port, &conf);
		port_backlog(&port, SORT_SHORT, 100, row->waiting);
		fate = port_put(&port, row->sort, row->len);
		if (fate != row->fate)
			fail_msg("%s: fate %d", row->what, fate);
		port_purge(&port);
	}
}

/* With the header queue full, the trimmed tail returns and the arrival is queued. */
static void test_trimmed_tail_is_returned(void **state)
{
	struct port_conf conf = port_paper;
	struct ndp_port port;
	struct outcome o;

	(void)state;
	conf.header_bytes = 64;
	port_setup(&port, &conf);
	port_backlog(&port, SORT_FULL, 1000, 8);
	o = port_arrive(&port, new_pkt(SORT_FULL, 2000), true);
	assert_int_equal(o.arrival, FATE_DATA);
	assert_int_equal(o.tail, FATE_BOUNCED);
	assert_int_equal(port.v.q[NDPQ_DATA].bytes, 9000);
	assert_int_equal(port.v.q[NDPQ_HEADER].packets, 0);
	assert_int_equal(port.v.q[NDPQ_DATA].sent_packets, 0);
	port_purge(&port);
}

/* Mode droptail counts headers as places of the FIFO, mode cp does not. */
static void test_headers_in_one_fifo(void **state)
{
	struct port_conf conf = port_paper;
	struct ndp_port port;

	(void)state;
	conf.mode = PORT_DROPTAIL;
	port_setup(&port, &conf);
	port_backlog(&port, SORT_SHORT, 64, 7);
	assert_int_equal(port_put(&port, SORT_FULL, 9000), FATE_DATA);
	assert_int_equal(port_put(&port, SORT_FULL, 9000), FATE_LOST);
	assert_int_equal(port_put(&port, SORT_SHORT, 64), FATE_LOST);
	assert_int_equal(port.t.lost_data, 1);
	assert_int_equal(port.t.lost_headers, 1);
	port_purge(&port);

	conf.mode = PORT_CP;
	port_setup(&port, &conf);
	port_backlog(&port, SORT_SHORT, 64, 100);
	port_backlog(&port, SORT_FULL, 9000, 8);
	assert_int_equal(port.v.q[NDPQ_DATA].packets, 8);
	assert_int_equal(port_put(&port, SORT_FULL, 9000), FATE_HEADER);
	port_purge(&port);
}

/* Limit and mark of other traffic, at the boundaries. */
static void test_limit_and_mark_of_other_traffic(void **state)
{
	struct port_conf conf = port_paper;
	struct ndp_port port;
	struct outcome o;

	(void)state;
	conf.foreign_bytes = 3000;
	conf.mark_from = 1000;
	port_setup(&port, &conf);
	o = port_arrive(&port, new_pkt(SORT_FOREIGN, 999), false);
	assert_int_equal(o.arrival, FATE_FOREIGN);
	assert_false(o.marked);
	o = port_arrive(&port, new_pkt(SORT_FOREIGN, 1), false);
	assert_false(o.marked);
	o = port_arrive(&port, new_pkt(SORT_FOREIGN, 1500), false);
	assert_true(o.marked);
	o = port_arrive(&port, new_pkt(SORT_FOREIGN, 501), false);
	assert_int_equal(o.arrival, FATE_LOST);
	assert_false(o.marked);
	o = port_arrive(&port, new_pkt(SORT_FOREIGN, 500), false);
	assert_int_equal(o.arrival, FATE_FOREIGN);
	port_purge(&port);

	conf.mark_from = 0;
	port_setup(&port, &conf);
	port_backlog(&port, SORT_FOREIGN, 1000, 2);
	assert_false(port_arrive(&port, new_pkt(SORT_FOREIGN, 1000), false).marked);
	port_purge(&port);
}

/* At the limits of the netlink ranges, sums do not wrap around. */
static void test_largest_limits_do_not_wrap(void **state)
{
	struct port_conf conf = port_paper;
	struct ndp_port port;

	(void)state;
	conf.data_packets = 65535;
	conf.data_bytes = 1U << 30;
	conf.header_bytes = 1U << 30;
	port_setup(&port, &conf);
	port.v.q[NDPQ_DATA].packets = 65534;
	port.v.q[NDPQ_DATA].bytes = (1U << 30) - 9000;
	assert_true(ndpq_data_fits(&port.par, &port.v, 9000));
	assert_false(ndpq_data_fits(&port.par, &port.v, 9001));
	port.v.q[NDPQ_DATA].packets = 65535;
	assert_false(ndpq_data_fits(&port.par, &port.v, 129));
	port.v.q[NDPQ_HEADER].bytes = 1U << 30;
	assert_false(ndpq_header_fits(&port.par, &port.v, 1));
	assert_int_equal(ndpq_header_full(&port.par, NDPQ_KIND_CONTROL), NDPQ_DROP);
	port.v.q[NDPQ_OTHER].bytes = (1U << 30) - 1;
	assert_true(ndpq_other_fits(&port.par, &port.v, 1));
	assert_false(ndpq_other_fits(&port.par, &port.v, 2));
	assert_false(ndpq_other_fits(&port.par, &port.v, UINT32_MAX));
	/* a limit that was lowered below the backlog */
	port.par.limit_bytes = 64;
	assert_false(ndpq_data_fits(&port.par, &port.v, 1));
	assert_int_equal(ndpq_data_full(&port.par, &port.v, 1000, 9000, 0, true),
			 NDPQ_TRIM_ARRIVAL);
}

/* The queue that counts a kind is fixed, the list that holds it depends on the mode. */
static void test_queue_and_list_of_each_kind(void **state)
{
	struct ndpq_params par = { .mode = TC_NDP_MODE_NDP };

	(void)state;
	assert_int_equal(ndpq_queue_of(NDPQ_KIND_DATA), NDPQ_DATA);
	assert_int_equal(ndpq_queue_of(NDPQ_KIND_CONTROL), NDPQ_HEADER);
	assert_int_equal(ndpq_queue_of(NDPQ_KIND_TRIMMED), NDPQ_HEADER);
	assert_int_equal(ndpq_queue_of(NDPQ_KIND_RETURNED), NDPQ_HEADER);
	assert_int_equal(ndpq_queue_of(NDPQ_KIND_OTHER), NDPQ_OTHER);
	assert_int_equal(ndpq_list_of(&par, NDPQ_DATA), NDPQ_DATA);
	assert_int_equal(ndpq_list_of(&par, NDPQ_HEADER), NDPQ_HEADER);
	assert_int_equal(ndpq_list_of(&par, NDPQ_OTHER), NDPQ_OTHER);
	for (par.mode = TC_NDP_MODE_CP; par.mode <= TC_NDP_MODE_MAX; par.mode++) {
		assert_int_equal(ndpq_list_of(&par, NDPQ_DATA), NDPQ_DATA);
		assert_int_equal(ndpq_list_of(&par, NDPQ_HEADER), NDPQ_DATA);
		assert_int_equal(ndpq_list_of(&par, NDPQ_OTHER), NDPQ_OTHER);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_core_agrees_with_model),
		cmocka_unit_test(test_limits_are_never_exceeded),
		cmocka_unit_test(test_port_is_work_conserving),
		cmocka_unit_test(test_peaks_are_kept),
		cmocka_unit_test(test_replacing_the_tail_keeps_limits),
		cmocka_unit_test(test_empty_queue_trims_arrival),
		cmocka_unit_test(test_lower_band_is_trimmed_first),
		cmocka_unit_test(test_too_long_data_is_trimmed),
		cmocka_unit_test(test_fate_of_data_packets),
		cmocka_unit_test(test_fate_of_headers),
		cmocka_unit_test(test_trimmed_tail_is_returned),
		cmocka_unit_test(test_headers_in_one_fifo),
		cmocka_unit_test(test_limit_and_mark_of_other_traffic),
		cmocka_unit_test(test_largest_limits_do_not_wrap),
		cmocka_unit_test(test_queue_and_list_of_each_kind),
	};

	return cmocka_run_group_tests_name("ndp_queue", tests, NULL, NULL);
}
