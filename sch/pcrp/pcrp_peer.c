// SPDX-License-Identifier: GPL-2.0-only
/*
 * PCRP's sender: does a peer answer, and how fast?
 *
 * Plain C, for the module and its unit test. Time is an argument.
 *
 * A host without PCRP never sends a GRANT, so a flow that waited for one would only
 * lose time. Hence only flows to a peer that has answered are gated. REQUESTs and
 * PROBEs, both called requests here, find out: PCRP answers each of them at once.
 *
 *	             answer
 *	+---------+ ---------------> +-----------+
 *	| unknown |                  | answering | <-+ answer
 *	+---------+                  +-----------+ --+
 *	     |                         |      ^
 *	     | 5 unanswered, 5 ms      |      | answer
 *	     |                         v      |
 *	     |                       +-----------+
 *	     +---------------------> |  silent   | a request after 10 ms, 20 ms .. 10 s,
 *	                             +-----------+ beside the first packet of a chain
 *
 * The base round-trip time is the minimum time from a request to its answer, over all
 * peers. Queues only add to it. Since routes change, it covers the last 5 to 10 s: the
 * minimum of two halves of 5 s. The older half is dropped when the newer one is over.
 *
 * Reference: K. Wu, D. Dong, C. Li, S. Huang, Y. Dai, "Network Congestion
 * Avoidance through Packet-chaining Reservation", ICPP 2019.
 *
 * Differences from the paper: there, every host has PCRP, packets are never lost, and
 * the round-trip time is a constant of the network.
 */

#include "pcrp_peer.h"

/* Time between two requests to a silent peer: the first and the longest */
#define PCRP_RETRY_MIN_NS	10000000ULL
#define PCRP_RETRY_MAX_NS	10000000000ULL

/* Base round-trip time: half of the period, value without samples, bounds */
#define PCRP_RTT_HALF_NS	5000000000ULL
#define PCRP_RTT_UNKNOWN_NS	20000
#define PCRP_RTT_MIN_NS		5000
#define PCRP_RTT_MAX_NS		1000000

static void pcrp_peer_retry(struct pcrp_peer *peer, u64 wait_ns, u64 now)
{
	peer->wait_ns = min_t(u64, wait_ns, PCRP_RETRY_MAX_NS);
	peer->retry_ns = now + peer->wait_ns;
}

/**
 * pcrp_peer_request() - decide whether to send a REQUEST or PROBE, and account for it
 * @peer: the peer
 * @gated: its flow waits for GRANTs
 * @now: the time, ns
 *
 * An ungated flow would send a request with each chain. It may, until there were as
 * many as show that a peer is silent.
 *
 * Return: true: send it; false: the flow that has the request must be ungated.
 */
bool pcrp_peer_request(struct pcrp_peer *peer, bool gated, u64 now)
{
	if (peer->state != PCRP_PEER_SILENT && peer->unanswered >= PCRP_SILENT_REQUESTS &&
	    now - peer->first_ns >= PCRP_SILENT_NS) {
		peer->state = PCRP_PEER_SILENT;
		pcrp_peer_retry(peer, PCRP_RETRY_MIN_NS, peer->first_ns + PCRP_SILENT_NS);
	}
	if (peer->state == PCRP_PEER_SILENT) {
		if (gated || now < peer->retry_ns)
			return false;
		pcrp_peer_retry(peer, 2 * peer->wait_ns, now);
		return true;
	}
	if (!gated && peer->unanswered >= PCRP_SILENT_REQUESTS)
		return false;
	if (!peer->unanswered++)
		peer->first_ns = now;
	return true;
}

/**
 * pcrp_peer_answered() - account for a GRANT, for whichever flow
 * @peer: the peer
 */
void pcrp_peer_answered(struct pcrp_peer *peer)
{
	peer->unanswered = 0;
	peer->state = PCRP_PEER_ANSWERING;
}

/* Start another half when the current one is over; after two of them, forget both. */
static void pcrp_rtt_age(struct pcrp_rtt *r, u64 now)
{
	s64 age_ns = now - r->since_ns;	/* negative: a GRANT was received before */

	if (likely(age_ns < (s64)PCRP_RTT_HALF_NS))
		return;
	if (age_ns < 2 * (s64)PCRP_RTT_HALF_NS) {
		r->previous_ns = r->current_ns;
		r->since_ns += PCRP_RTT_HALF_NS;
	} else {
		r->previous_ns = 0;
		r->since_ns = now;
	}
	r->current_ns = 0;
}

/**
 * pcrp_rtt_sample() - add a sample
 * @r: base round-trip time
 * @rtt_ns: the sample; not 0
 * @now: the time, ns
 */
void pcrp_rtt_sample(struct pcrp_rtt *r, u64 rtt_ns, u64 now)
{
	pcrp_rtt_age(r, now);
	if (!r->current_ns || rtt_ns < r->current_ns)
		r->current_ns = rtt_ns;
}

/**
 * pcrp_rtt_ns() - get the base round-trip time
 * @r: base round-trip time
 * @now: the time, ns
 *
 * Return: ns, PCRP_RTT_MIN_NS to PCRP_RTT_MAX_NS.
 */
u32 pcrp_rtt_ns(struct pcrp_rtt *r, u64 now)
{
	u64 least;

	pcrp_rtt_age(r, now);
	least = r->current_ns;
	if (!least || (r->previous_ns && r->previous_ns < least))
		least = r->previous_ns;
	if (!least)
		return PCRP_RTT_UNKNOWN_NS;
	return max_t(u64, min_t(u64, least, PCRP_RTT_MAX_NS), PCRP_RTT_MIN_NS);
}
