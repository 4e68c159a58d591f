// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reference model of the NDP switch port, with explicit lists
 *
 * Source: M. Handley et al., SIGCOMM 2017, sections 3.1 (two queues, ten
 * headers for a data packet, trim the arrival or the tail with equal
 * probability), 3.2.4 (return to sender, once) and 4 (control packets are
 * headers). As in the authors' simulator, the ten-to-one rule advances only while
 * both queues wait.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ndp_model.h"

#define SHELF_ROOM	8192

/* A list of packets in order of departure */
struct shelf {
	u32 n;
	struct pkt pkt[SHELF_ROOM];
};

enum side { SIDE_NDP, SIDE_FOREIGN, SIDES };

/**
 * struct ndp_model - the port
 * @conf: configuration
 * @low: data packets; the only FIFO in modes cp and droptail
 * @high: headers
 * @rest: foreign packets
 * @round: position in the round of headers_per_data headers and a data packet
 * @debt: bytes that a side got above its half, and has to wait for; at least one
 *	of the two is 0
 * @t: counters that the lists do not show
 */
struct ndp_model {
	struct port_conf conf;
	struct shelf low;
	struct shelf high;
	struct shelf rest;
	u32 round;
	u64 debt[SIDES];
	struct tally t;
};

static void shelf_put(struct shelf *s, struct pkt p)
{
	assert(s->n < SHELF_ROOM);
	s->pkt[s->n++] = p;
}

/* Rank of a data packet: 0 departs first. Its last band has precedence 0. */
static u32 rank(const struct ndp_model *m, const struct pkt *p)
{
	u32 precedence = p->dscp / 8;

	return precedence >= m->conf.bands ? 0 : m->conf.bands - 1 - precedence;
}

/* Put a data packet before the first one of a worse rank. */
static void data_put(struct ndp_model *m, struct pkt p)
{
	struct shelf *s = &m->low;
	u32 i = 0;

	assert(s->n < SHELF_ROOM);
	if (m->conf.mode != PORT_NDP || m->conf.bands == 1)
		i = s->n;
	while (i < s->n && rank(m, &s->pkt[i]) <= rank(m, &p))
		i++;
	memmove(&s->pkt[i + 1], &s->pkt[i], (s->n - i) * sizeof(p));
	s->pkt[i] = p;
	s->n++;
}

static struct pkt shelf_take_first(struct shelf *s)
{
	struct pkt p = s->pkt[0];

	s->n--;
	memmove(&s->pkt[0], &s->pkt[1], s->n * sizeof(p));
	return p;
}

/* Add up the packets of a list that are (or are not) full-size. */
static void shelf_sum(const struct shelf *s, bool full, u64 *packets,
		      u64 *bytes)
{
	u32 i;

	for (i = 0; i < s->n; i++) {
		bool is_full = s->pkt[i].sort == SORT_FULL;

		if (is_full != full)
			continue;
		*packets += 1;
		*bytes += s->pkt[i].len;
	}
}

static enum tally_queue tally_queue_of(const struct pkt *p)
{
	switch (p->sort) {
	case SORT_FULL:
		return TALLY_DATA;
	case SORT_FOREIGN:
		return TALLY_FOREIGN;
	default:
		return TALLY_HEADER;
	}
}

/* Compute the occupancy of a queue from its packets. */
static void occupancy(const struct ndp_model *m, enum tally_queue which,
		      u64 *packets, u64 *bytes)
{
	*packets = 0;
	*bytes = 0;
	if (which == TALLY_FOREIGN) {
		shelf_sum(&m->rest, false, packets, bytes);
		return;
	}
	shelf_sum(&m->low, which == TALLY_DATA, packets, bytes);
	shelf_sum(&m->high, which == TALLY_DATA, packets, bytes);
}

static u64 bytes_of(const struct ndp_model *m, enum tally_queue which)
{
	u64 packets, bytes;

	occupancy(m, which, &packets, &bytes);
	return bytes;
}

/* Is this occupancy within the limits of the data queue? */
static bool within_data_limits(const struct ndp_model *m, u64 packets,
			       u64 bytes)
{
	if (packets > m->conf.data_packets)
		return false;
	return m->conf.data_bytes == 0 || bytes <= m->conf.data_bytes;
}

static bool fifo_has_room(const struct ndp_model *m, u32 len)
{
	u64 bytes = bytes_of(m, TALLY_DATA) + bytes_of(m, TALLY_HEADER);

	return within_data_limits(m, m->low.n + 1, bytes + len);
}

static enum fate header_lost(struct ndp_model *m, const struct pkt *p)
{
	if (p->sort == SORT_BOUNCED)
		m->t.lost_bounced++;
	else
		m->t.lost_headers++;
	return FATE_LOST;
}

static enum fate header_arrives(struct ndp_model *m, struct pkt p)
{
	if (m->conf.mode == PORT_DROPTAIL) {
		if (!fifo_has_room(m, p.len))
			return header_lost(m, &p);
		shelf_put(&m->low, p);
		return FATE_HEADER;
	}
	if (bytes_of(m, TALLY_HEADER) + p.len <= m->conf.header_bytes) {
		shelf_put(m->conf.mode == PORT_NDP ? &m->high : &m->low, p);
		return FATE_HEADER;
	}
	if (m->conf.mode == PORT_NDP && m->conf.bounce && p.sort == SORT_CUT) {
		m->t.bounced++;
		return FATE_BOUNCED;
	}
	return header_lost(m, &p);
}

static struct pkt cut(struct ndp_model *m, struct pkt p)
{
	m->t.cut_bytes += p.len - m->conf.keep;
	p.len = m->conf.keep;
	p.sort = SORT_CUT;
	return p;
}

static bool has_room(const struct ndp_model *m, u32 len)
{
	u64 packets, bytes;

	if (m->conf.mode == PORT_DROPTAIL)
		return fifo_has_room(m, len);
	occupancy(m, TALLY_DATA, &packets, &bytes);
	return within_data_limits(m, packets + 1, bytes + len);
}

/* Does the arrival fit in the place of the newest data packet? */
static bool can_replace_newest(const struct ndp_model *m, u32 len)
{
	u64 bytes = bytes_of(m, TALLY_DATA);

	if (m->conf.mode != PORT_NDP || m->low.n == 0)
		return false;
	bytes -= m->low.pkt[m->low.n - 1].len;
	return m->conf.data_bytes == 0 || bytes + len <= m->conf.data_bytes;
}

/* Is the arrival of a better band than the last packet, or equal and the coin selects that one? */
static bool outranks_newest(const struct ndp_model *m, const struct pkt *p, bool coin)
{
	u32 last = rank(m, &m->low.pkt[m->low.n - 1]), own = rank(m, p);

	return own < last || (own == last && coin);
}

static struct outcome data_arrives(struct ndp_model *m, struct pkt p, bool coin)
{
	struct outcome o = { .arrival = FATE_DATA };
	struct pkt newest;

	if (has_room(m, p.len)) {
		data_put(m, p);
		return o;
	}
	if (m->conf.mode == PORT_DROPTAIL) {
		m->t.lost_data++;
		o.arrival = FATE_LOST;
		return o;
	}
	if (can_replace_newest(m, p.len) && outranks_newest(m, &p, coin)) {
		newest = m->low.pkt[--m->low.n];
		data_put(m, p);
		m->t.cut_tails++;
		o.tail_id = newest.id;
		o.tail = header_arrives(m, cut(m, newest));
		return o;
	}
	m->t.cut_arrivals++;
	o.arrival = header_arrives(m, cut(m, p));
	return o;
}

static struct outcome foreign_arrives(struct ndp_model *m, struct pkt p)
{
	struct outcome o = { .arrival = FATE_FOREIGN };
	u64 before = bytes_of(m, TALLY_FOREIGN);

	if (before + p.len > m->conf.foreign_bytes) {
		m->t.lost_foreign++;
		o.arrival = FATE_LOST;
		return o;
	}
	o.marked = m->conf.mark_from != 0 && before >= m->conf.mark_from;
	m->t.marked += o.marked;
	shelf_put(&m->rest, p);
	return o;
}

static void note_peaks(struct ndp_model *m)
{
	u64 packets, bytes;
	int i;

	for (i = 0; i < TALLY_QUEUES; i++) {
		occupancy(m, i, &packets, &bytes);
		if (packets > m->t.queue[i].peak_packets)
			m->t.queue[i].peak_packets = packets;
		if (bytes > m->t.queue[i].peak_bytes)
			m->t.queue[i].peak_bytes = bytes;
	}
}

struct outcome model_arrive(struct ndp_model *m, struct pkt p, bool coin)
{
	struct outcome o = {};

	if (p.sort == SORT_FOREIGN)
		o = foreign_arrives(m, p);
	else if (p.sort == SORT_FULL)
		o = data_arrives(m, p, coin);
	else
		o.arrival = header_arrives(m, p);
	note_peaks(m);
	return o;
}

/* Charge a sender: first against the debt of its rival, then as a debt of its own. */
static void settle(struct ndp_model *m, enum side sender, bool rival_waits,
		   u64 len)
{
	enum side rival = sender == SIDE_NDP ? SIDE_FOREIGN : SIDE_NDP;
	u64 paid = len < m->debt[rival] ? len : m->debt[rival];

	m->debt[rival] -= paid;
	if (rival_waits)
		m->debt[sender] += len - paid;
}

static struct shelf *ndp_turn(struct ndp_model *m)
{
	if (m->high.n == 0)
		return &m->low;
	if (m->low.n == 0)
		return &m->high;
	if (m->round < m->conf.headers_per_data) {
		m->round++;
		return &m->high;
	}
	m->round = 0;
	return &m->low;
}

bool model_depart(struct ndp_model *m, struct pkt *p)
{
	bool ndp_waits = m->low.n + m->high.n > 0, foreign_waits = m->rest.n > 0;
	enum tally_queue q;

	if (!ndp_waits && !foreign_waits)
		return false;
	if (foreign_waits &&
	    (!ndp_waits || m->debt[SIDE_NDP] > m->debt[SIDE_FOREIGN])) {
		*p = shelf_take_first(&m->rest);
		settle(m, SIDE_FOREIGN, ndp_waits, p->len);
	} else {
		*p = shelf_take_first(ndp_turn(m));
		settle(m, SIDE_NDP, foreign_waits, p->len);
	}
	q = tally_queue_of(p);
	m->t.queue[q].sent_packets++;
	m->t.queue[q].sent_bytes += p->len;
	return true;
}

void model_tally(const struct ndp_model *m, struct tally *t)
{
	int i;

	*t = m->t;
	for (i = 0; i < TALLY_QUEUES; i++)
		occupancy(m, i, &t->queue[i].packets, &t->queue[i].bytes);
}

void model_configure(struct ndp_model *m, const struct port_conf *conf)
{
	m->conf = *conf;
}

struct ndp_model *model_new(void)
{
	struct ndp_model *m = calloc(1, sizeof(*m));

	assert(m);
	return m;
}

void model_free(struct ndp_model *m)
{
	free(m);
}
