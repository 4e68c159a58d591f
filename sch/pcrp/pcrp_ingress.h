/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The receiving half of a device: see pcrp_ingress.c
 */
#ifndef _PCRP_INGRESS_H
#define _PCRP_INGRESS_H

#include <linux/kfifo.h>
#include <linux/netlink.h>
#include <linux/rbtree.h>
#include <linux/pkt_sched_pcrp.h>
#include <net/sch_generic.h>
#include "pcrp_counters.h"
#include "pcrp_wire.h"

/* GRANTs that wait for dequeue(), at most; a PROBE replaces a lost one. A power of two */
#define PCRP_INGRESS_GRANTS	128

/* A slot in a control packet: number of the qdisc, and of its flow */
#define PCRP_SLOT_BITS		16
#define PCRP_SLOT_MASK		((1U << PCRP_SLOT_BITS) - 1)

struct pcrp_ingress;

/**
 * struct pcrp_ingress_params - parameters
 * @grants: flows that are granted at a time
 * @evict: a smaller flow takes the place of a larger one
 * @paper: the table and the priorities follow the paper's rules
 * @window_us: time that packets wait for more urgent ones; 0: they do not wait
 * @map: DSCP of P0..P7, or PCRP_MAP_LEAVE
 */
struct pcrp_ingress_params {
	u32 grants;
	bool evict;
	bool paper;
	u32 window_us;
	u8 map[TC_PCRP_PRIOS];
};

/**
 * struct pcrp_ingress_grant - a GRANT whose cookie is right
 * @msg: its content
 * @now: when it was received, ns
 */
struct pcrp_ingress_grant {
	struct pcrp_msg msg;
	u64 now;
};

/**
 * struct pcrp_inbox - GRANTs to the flows of a qdisc
 * @pending: @grants may not be empty; read locklessly
 * @sch: the qdisc
 * @number: number of the qdisc among those of the device
 * @chain: in the tree of the qdiscs' chains
 * @chain_bytes: length of the qdisc's chains; 0: not in the tree
 * @grants: the GRANTs
 */
struct pcrp_inbox {
	bool pending;
	struct Qdisc *sch;
	u32 number;
	struct rb_node chain;
	u32 chain_bytes;
	DECLARE_KFIFO(grants, struct pcrp_ingress_grant, PCRP_INGRESS_GRANTS);
};

struct pcrp_ingress *pcrp_ingress_create(struct net_device *dev, struct netlink_ext_ack *extack);
void pcrp_ingress_destroy(struct pcrp_ingress *in);
int pcrp_ingress_join(struct pcrp_ingress *in, struct pcrp_inbox *inbox, struct Qdisc *sch,
		      struct netlink_ext_ack *extack);
void pcrp_ingress_leave(struct pcrp_ingress *in, struct pcrp_inbox *inbox);
void pcrp_ingress_set(struct pcrp_ingress *in, const struct pcrp_ingress_params *params);
void pcrp_ingress_set_chain(struct pcrp_ingress *in, struct pcrp_inbox *inbox, u32 chain_bytes);
u64 pcrp_ingress_cookie(const struct pcrp_ingress *in, u32 slot, u32 flow_no);
bool pcrp_ingress_next_grant(struct pcrp_ingress *in, struct pcrp_inbox *inbox,
			     struct pcrp_ingress_grant *grant);
void pcrp_ingress_stats(struct pcrp_ingress *in, struct pcrp_stats *to);

#endif /* _PCRP_INGRESS_H */
