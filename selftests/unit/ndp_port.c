// SPDX-License-Identifier: GPL-2.0-only
/* A switch port that uses sch/ndp/ndpq_queue.c, see ndp_port.h. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ndp_port.h"

static enum ndpq_kind kind_of(const struct pkt *p)
{
	static const enum ndpq_kind kinds[SORTS] = {
		[SORT_FULL] = NDPQ_KIND_DATA,
		[SORT_SHORT] = NDPQ_KIND_CONTROL,
		[SORT_CUT] = NDPQ_KIND_TRIMMED,
		[SORT_BOUNCED] = NDPQ_KIND_RETURNED,
		[SORT_FOREIGN] = NDPQ_KIND_OTHER,
	};

	return kinds[p->sort];
}

const struct port_conf port_paper = {
	.mode = PORT_NDP,
	.data_packets = 8,
	.header_bytes = 8 * JUMBO_FRAME,
	.bands = 1,
	.headers_per_data = 10,
	.keep = 128,
	.bounce = true,
	.foreign_bytes = 1U << 30,
};

void port_purge(struct ndp_port *port)
{
	struct port_pkt *pp;
	int i;

	for (i = 0; i < NDPQ_QUEUES; i++) {
		while ((pp = TAILQ_FIRST(&port->list[i]))) {
			TAILQ_REMOVE(&port->list[i], pp, link);
			free(pp);
		}
	}
}

void port_configure(struct ndp_port *port, const struct port_conf *conf)
{
	static const u8 modes[PORT_MODES] = {
		[PORT_NDP] = TC_NDP_MODE_NDP,
		[PORT_CP] = TC_NDP_MODE_CP,
		[PORT_DROPTAIL] = TC_NDP_MODE_DROPTAIL,
	};

	port->keep = conf->keep;
	port->par = (struct ndpq_params) {
		.limit = conf->data_packets,
		.limit_bytes = conf->data_bytes ?: UINT32_MAX,
		.hlimit = conf->header_bytes,
		.ratio = conf->headers_per_data,
		.other_limit = conf->foreign_bytes,
		.other_ecn = conf->mark_from,
		.mode = modes[conf->mode],
		.bands = (u8)conf->bands,
		.rts = conf->bounce,
	};
}

void port_setup(struct ndp_port *port, const struct port_conf *conf)
{
	int i;

	memset(port, 0, sizeof(*port));
	for (i = 0; i < NDPQ_QUEUES; i++)
		TAILQ_INIT(&port->list[i]);
	port_configure(port, conf);
}

static int level_of(const struct ndp_port *port, const struct port_pkt *pp)
{
	return ndpq_level(&port->par, pp->p.dscp);
}

/* The newest packet behind which a data packet waits; NULL: it is the first */
static struct port_pkt *queue_before(struct ndp_port *port, const struct port_pkt *pp)
{
	struct port_pkt *before = TAILQ_LAST(&port->list[NDPQ_DATA], port_list);

	while (before && level_of(port, before) < level_of(port, pp))
		before = TAILQ_PREV(before, port_list, link);
	return before;
}

static void queue_up(struct ndp_port *port, struct port_pkt *pp)
{
	enum ndpq_queue_id id = ndpq_queue_of(kind_of(&pp->p));
	struct port_pkt *before;

	if (id == NDPQ_DATA && port->par.bands > 1) {
		before = queue_before(port, pp);
		if (before)
			TAILQ_INSERT_AFTER(&port->list[id], before, pp, link);
		else
			TAILQ_INSERT_HEAD(&port->list[id], pp, link);
	} else {
		TAILQ_INSERT_TAIL(&port->list[ndpq_list_of(&port->par, id)], pp, link);
	}
	ndpq_count_in(&port->v, id, pp->p.len);
}

static enum fate header_arrives(struct ndp_port *port, struct port_pkt *pp)
{
	if (ndpq_header_fits(&port->par, &port->v, pp->p.len)) {
		queue_up(port, pp);
		return FATE_HEADER;
	}
	if (ndpq_header_full(&port->par, kind_of(&pp->p)) == NDPQ_RETURN) {
		port->t.bounced++;
		free(pp);
		return FATE_BOUNCED;
	}
	if (pp->p.sort == SORT_BOUNCED)
		port->t.lost_bounced++;
	else
		port->t.lost_headers++;
	free(pp);
	return FATE_LOST;
}

static void cut(struct ndp_port *port, struct port_pkt *pp)
{
	port->t.cut_bytes += pp->p.len - port->keep;
	pp->p.len = port->keep;
	pp->p.sort = SORT_CUT;
}

static void data_arrives(struct ndp_port *port, struct port_pkt *pp, bool coin,
			 struct outcome *o)
{
	struct port_pkt *tail = TAILQ_LAST(&port->list[NDPQ_DATA], port_list);
	int above = tail ? level_of(port, pp) - level_of(port, tail) : 0;

	if (ndpq_data_fits(&port->par, &port->v, pp->p.len)) {
		queue_up(port, pp);
		o->arrival = FATE_DATA;
		return;
	}
	switch (ndpq_data_full(&port->par, &port->v, pp->p.len, tail ? tail->p.len : 0, above,
			       coin)) {
	case NDPQ_TRIM_ARRIVAL:
		port->t.cut_arrivals++;
		cut(port, pp);
		o->arrival = header_arrives(port, pp);
		break;
	case NDPQ_TRIM_TAIL:
		port->t.cut_tails++;
		TAILQ_REMOVE(&port->list[NDPQ_DATA], tail, link);
		ndpq_count_out(&port->v, NDPQ_DATA, tail->p.len);
		queue_up(port, pp);
		o->arrival = FATE_DATA;
		cut(port, tail);
		o->tail_id = tail->p.id;
		o->tail = header_arrives(port, tail);
		break;
	case NDPQ_DROP:
		port->t.lost_data++;
		free(pp);
		o->arrival = FATE_LOST;
		break;
	default:
		abort();
	}
}

static void foreign_arrives(struct ndp_port *port, struct port_pkt *pp,
			    struct outcome *o)
{
	if (!ndpq_other_fits(&port->par, &port->v, pp->p.len)) {
		port->t.lost_foreign++;
		free(pp);
		o->arrival = FATE_LOST;
		return;
	}
	o->marked = ndpq_other_marks(&port->par, &port->v);
	port->t.marked += o->marked;
	queue_up(port, pp);
	o->arrival = FATE_FOREIGN;
}

struct outcome port_arrive(struct ndp_port *port, struct pkt p, bool coin)
{
	struct port_pkt *pp = malloc(sizeof(*pp));
	struct outcome o = {};

	assert(pp);
	pp->p = p;
	if (p.sort == SORT_FOREIGN)
		foreign_arrives(port, pp, &o);
	else if (p.sort == SORT_FULL)
		data_arrives(port, pp, coin, &o);
	else
		o.arrival = header_arrives(port, pp);
	return o;
}

bool port_depart(struct ndp_port *port, struct pkt *p)
{
	enum ndpq_queue_id id = ndpq_pick(&port->par, &port->v);
	struct port_pkt *pp;

	if (id == NDPQ_QUEUES)
		return false;
	pp = TAILQ_FIRST(&port->list[id]);
	assert(pp);
	TAILQ_REMOVE(&port->list[id], pp, link);
	ndpq_sent(&port->v, ndpq_queue_of(kind_of(&pp->p)), pp->p.len);
	*p = pp->p;
	free(pp);
	return true;
}

void port_tally(const struct ndp_port *port, struct tally *t)
{
	static const enum tally_queue queues[NDPQ_QUEUES] = {
		[NDPQ_DATA] = TALLY_DATA,
		[NDPQ_HEADER] = TALLY_HEADER,
		[NDPQ_OTHER] = TALLY_FOREIGN,
	};
	int i;

	*t = port->t;
	for (i = 0; i < NDPQ_QUEUES; i++) {
		const struct ndpq_queue_vars *q = &port->v.q[i];

		t->queue[queues[i]].packets = q->packets;
		t->queue[queues[i]].bytes = q->bytes;
		t->queue[queues[i]].peak_packets = q->peak_packets;
		t->queue[queues[i]].peak_bytes = q->peak_bytes;
		t->queue[queues[i]].sent_packets = q->sent_packets;
		t->queue[queues[i]].sent_bytes = q->sent_bytes;
	}
}

struct pkt new_pkt(enum pkt_sort sort, u32 len)
{
	static u32 last_id;

	return (struct pkt) { .id = ++last_id, .len = len, .sort = sort };
}

enum fate port_put(struct ndp_port *port, enum pkt_sort sort, u32 len)
{
	return port_arrive(port, new_pkt(sort, len), false).arrival;
}

void port_backlog(struct ndp_port *port, enum pkt_sort sort, u32 len,
		  u32 packets)
{
	enum fate fate;

	while (packets--) {
		fate = port_put(port, sort, len);
		assert(fate != FATE_LOST && fate != FATE_BOUNCED);
	}
}
