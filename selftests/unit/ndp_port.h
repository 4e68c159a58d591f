/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A switch port that uses sch/ndp/ndpq_queue.c, with lists of packets
 *
 * It calls the core as the module does, and is the side under test. ndp_model.h
 * has the model and the types.
 */
#ifndef _CLOSNET_UNIT_NDP_PORT_H
#define _CLOSNET_UNIT_NDP_PORT_H

#include <sys/queue.h>

#include "../../sch/ndp/ndpq_queue.h"
#include "ndp_model.h"

struct port_pkt {
	TAILQ_ENTRY(port_pkt) link;
	struct pkt p;
};

TAILQ_HEAD(port_list, port_pkt);

/**
 * struct ndp_port - the port
 * @par: configuration of the core
 * @keep: bytes that a cut packet keeps
 * @v: state of the core
 * @list: the packets
 * @t: counters that the module keeps
 */
struct ndp_port {
	struct ndpq_params par;
	u32 keep;
	struct ndpq_vars v;
	struct port_list list[NDPQ_QUEUES];
	struct tally t;
};

/**
 * port_setup() - initialise an empty port
 * @port: port
 * @conf: configuration
 */
void port_setup(struct ndp_port *port, const struct port_conf *conf);

/**
 * port_purge() - free the packets that wait
 * @port: port
 */
void port_purge(struct ndp_port *port);

/* As the functions of the model in ndp_model.h */
void port_configure(struct ndp_port *port, const struct port_conf *conf);
struct outcome port_arrive(struct ndp_port *port, struct pkt p, bool coin);
bool port_depart(struct ndp_port *port, struct pkt *p);
void port_tally(const struct ndp_port *port, struct tally *t);

/* ------------------------------------------------ helpers */

/* lengths of a usual frame, a jumbo frame, and the longest GSO packet */
#define MTU_FRAME	1514U
#define JUMBO_FRAME	9018U
#define GSO_FRAME	65549U

/* The paper's port, with a large limit for other traffic */
extern const struct port_conf port_paper;

/**
 * new_pkt() - make a packet with a new id
 * @sort: its sort
 * @len: its length, bytes
 */
struct pkt new_pkt(enum pkt_sort sort, u32 len);

/**
 * port_put() - let a new packet arrive, with a coin that selects the arrival
 * @port: port
 * @sort: its sort
 * @len: its length, bytes
 */
enum fate port_put(struct ndp_port *port, enum pkt_sort sort, u32 len);

/**
 * port_backlog() - let new packets arrive, without loss
 * @port: port
 * @sort: their sort
 * @len: length of each, bytes
 * @packets: number of packets
 */
void port_backlog(struct ndp_port *port, enum pkt_sort sort, u32 len,
		  u32 packets);

#endif /* _CLOSNET_UNIT_NDP_PORT_H */
