/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The receiver's half of a qdisc: see pcrp_rx.c
 *
 * It has locks of its own, and never takes a root lock. GRANTs for our own flows
 * wait in a small ring until dequeue() asks for them: only there is it sure that
 * the qdisc is the one in use, and under the lock of the right root.
 */
#ifndef _CLOSNET_PCRP_RX_H
#define _CLOSNET_PCRP_RX_H

#include <linux/netlink.h>
#include <linux/pkt_sched_pcrp.h>
#include <linux/spinlock.h>
#include <net/sch_generic.h>
#include "pcrp_stats.h"
#include "pcrp_wire.h"

/* GRANTs that wait for dequeue(), at most; a lost one is probed for */
#define PCRP_RX_GRANTS	128

struct pcrp_rx;

/**
 * struct pcrp_rx_params - configuration
 * @chain_bytes: a chain
 * @grants: flows that are granted at a time
 * @evict: a shorter flow takes the place of a longer one
 * @window_us: that packets wait for more urgent ones; 0: not at all
 * @map: DSCP of P0..P7, or PCRP_MAP_LEAVE
 */
struct pcrp_rx_params {
	u32 chain_bytes;
	u32 grants;
	bool evict;
	u32 window_us;
	u8 map[TC_PCRP_PRIOS];
};

/**
 * struct pcrp_rx_grant - a GRANT for a flow of ours; its cookie is right
 * @msg: what it says
 * @now: when it came, ns
 */
struct pcrp_rx_grant {
	struct pcrp_msg msg;
	u64 now;
};

/**
 * struct pcrp_ring - GRANTs for our own flows
 * @lock: protects all of it
 * @head: how many were put in, modulo 2^32
 * @tail: how many were taken out, modulo 2^32
 * @slots: those between
 */
struct pcrp_ring {
	spinlock_t lock;	/* protects all of it */
	u32 head;
	u32 tail;
	struct pcrp_rx_grant slots[PCRP_RX_GRANTS];
};

/**
 * pcrp_ring_has_grants() - is there a GRANT for a flow of ours?
 * @ring: the ring
 *
 * To be called in dequeue(), as pcrp_rx_next_grant().
 *
 * Return: true if so.
 */
static inline bool pcrp_ring_has_grants(const struct pcrp_ring *ring)
{
	return READ_ONCE(ring->head) != ring->tail;
}

struct pcrp_rx *pcrp_rx_create(struct Qdisc *sch, struct netlink_ext_ack *extack);
void pcrp_rx_destroy(struct pcrp_rx *rx);
void pcrp_rx_set(struct pcrp_rx *rx, const struct pcrp_rx_params *params);
void pcrp_rx_set_chain(struct pcrp_rx *rx, u32 chain_bytes);
u64 pcrp_rx_cookie(const struct pcrp_rx *rx, u32 slot, u32 flow_no);
const struct pcrp_ring *pcrp_rx_ring(const struct pcrp_rx *rx);
bool pcrp_rx_next_grant(struct pcrp_rx *rx, struct pcrp_rx_grant *grant);
void pcrp_rx_stats(struct pcrp_rx *rx, struct pcrp_stats *to);

#endif /* _CLOSNET_PCRP_RX_H */
