/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A switch port around sch/ndp/ndpq_queue.h: real lists of packets, no kernel
 *
 * Calls the decision core in the way that the module does. It is the side
 * under test; see ndp_model.h for the other, and for the types.
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
 * @par: configuration, as the core has it
 * @keep: bytes that a cut packet keeps
 * @v: state of the core
 * @list: the packets
 * @t: what the core leaves to the module to count
 */
struct ndp_port {
	struct ndpq_params par;
	u32 keep;
	struct ndpq_vars v;
	struct port_list list[NDPQ_QUEUES];
	struct tally t;
};

/**
 * port_setup() - an empty port
 * @port: port
 * @conf: configuration
 */
void port_setup(struct ndp_port *port, const struct port_conf *conf);

/**
 * port_purge() - free the packets that wait
 * @port: port
 */
void port_purge(struct ndp_port *port);

/* As their namesakes in ndp_model.h. */
void port_configure(struct ndp_port *port, const struct port_conf *conf);
struct outcome port_arrive(struct ndp_port *port, struct pkt p, bool coin);
bool port_depart(struct ndp_port *port, struct pkt *p);
void port_tally(const struct ndp_port *port, struct tally *t);

/* ------------------------------------------------ for brief tests */

/* lengths of frames: usual, jumbo, as long as a GSO packet can be */
#define MTU_FRAME	1514U
#define JUMBO_FRAME	9018U
#define GSO_FRAME	65549U

/* The paper's port; no bound for other traffic. */
extern const struct port_conf port_paper;

/**
 * new_pkt() - a packet with an id of its own
 * @sort: its sort
 * @len: its length, bytes
 */
struct pkt new_pkt(enum pkt_sort sort, u32 len);

/**
 * port_put() - a new packet arrives; a coin that is needed says: the arrival
 * @port: port
 * @sort: its sort
 * @len: its length, bytes
 */
enum fate port_put(struct ndp_port *port, enum pkt_sort sort, u32 len);

/**
 * port_backlog() - so many new packets arrive, and none of them is lost
 * @port: port
 * @sort: their sort
 * @len: length of each, bytes
 * @packets: how many
 */
void port_backlog(struct ndp_port *port, enum pkt_sort sort, u32 len,
		  u32 packets);

#endif /* _CLOSNET_UNIT_NDP_PORT_H */
