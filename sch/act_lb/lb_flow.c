// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flows and the members that they use
 *
 * A set-associative table of fixed size, as in switch ASICs ("flowset table", SAI's
 * max_flows). The lower half of a flow's 64-bit keyed hash selects a bucket of four places,
 * the upper half is the tag. A lookup reads one cache line and compares four tags.
 *
 *	packet of a flow:  in its bucket, younger than the gap    ACTIVE  keeps its member
 *	                   in its bucket, older                   GAP     may move
 *	                   not there, a place is free or idle     NEW     takes the place
 *	                   not there, four active flows           FULL    is not remembered
 *
 * A flow is idle if its last packet is older than the gap. It can leave without harm, since its
 * next packet would begin a flowlet anyway. The oldest idle flow leaves first. Flows that
 * find no place use the hash (the caller's part), so that they stay in order.
 *
 *   Mohammad Alizadeh et al.: "CONGA: Distributed Congestion-Aware Load Balancing for
 *   Datacenters", SIGCOMM 2014, section 3.4 (flowlet table).
 *   Erico Vanini et al.: "Let It Flow: Resilient Asymmetric Load Balancing with Flowlet
 *   Switching", NSDI 2017.
 *
 * Differences from the papers:
 *  - CONGA ages entries by a bit that a timer clears, so that a gap is between one and two
 *    periods. Here each flow has the time of its last packet.
 *  - CONGA's table is direct-mapped, and colliding flows share an entry. Here they share one if
 *    their tags are equal, too, with a probability of 2^-30 in a full bucket.
 */
#include "lb_flow.h"

/* Ticks by which another CPU may see a flow after the caller has read the clock */
#define LB_AHEAD	(1U << 20)

/* Ticks since the last packet of a flow */
static u32 lb_flow_age(const struct lb_flow *f, u32 now)
{
	return f->seen - now < LB_AHEAD ? 0 : now - f->seen;
}

/**
 * lb_flow_find() - look up the flow of a packet
 * @bucket: LB_WAYS places
 * @hash: keyed hash of the flow; see lb_flow_bucket()
 * @now_ns: present time
 * @gap_ns: idle time that ends a flowlet, below 2^31 ticks
 * @flow: result: the flow; NULL with LB_FLOW_FULL
 *
 * The caller holds the bucket's lock. With LB_FLOW_GAP and LB_FLOW_NEW it sets the member.
 *
 * Return: the state of the flow before this packet.
 */
enum lb_flow_state lb_flow_find(struct lb_flow *bucket, u64 hash, u64 now_ns, u64 gap_ns,
				struct lb_flow **flow)
{
	u32 tag = (hash >> 32) | 1, now = now_ns >> LB_TICK_SHIFT, gap = gap_ns >> LB_TICK_SHIFT;
	struct lb_flow *f, *place = NULL;
	u32 age, oldest = gap;

	for (f = bucket; f < bucket + LB_WAYS; f++) {
		age = f->tag ? lb_flow_age(f, now) : ~0U;
		if (f->tag == tag) {
			*flow = f;
			if (age)
				f->seen = now;
			return age > gap ? LB_FLOW_GAP : LB_FLOW_ACTIVE;
		}
		if (age > oldest) {
			oldest = age;
			place = f;
		}
	}
	*flow = place;
	if (!place)
		return LB_FLOW_FULL;
	*place = (struct lb_flow) { .tag = tag, .seen = now };
	return LB_FLOW_NEW;
}
