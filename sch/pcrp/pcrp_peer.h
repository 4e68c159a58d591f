/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PCRP, sender: does the other host answer, and how soon
 *
 * Plain C, no kernel types, so that the unit test runs the very code that the
 * module runs.
 *
 * A host that does not know PCRP never sends a GRANT. To make a flow wait for one
 * would harm it. So only flows to a peer that has answered wait (are gated); what
 * goes to others is sent as ever. To ask is to send a REQUEST or a PROBE; each of
 * them is answered at once.
 *
 *	             answer
 *	+---------+ ---------------> +-----------+
 *	| unknown |                  | answering | <-+ answer
 *	+---------+                  +-----------+ --+
 *	     |                         |      ^
 *	     | 5 asked, for 5 ms       |      | answer
 *	     |                         v      |
 *	     |                       +-----------+
 *	     +---------------------> |  silent   | asked again after 10 ms, 20 ms ..
 *	                             +-----------+ 10 s, beside a chain that begins
 *
 * The base round-trip time is the least from asking to the answer, of any peer.
 * The network's or a peer's queues make times longer, never shorter. As routes
 * change, it is that of the last five to ten seconds.
 *
 * Reference: K. Wu, D. Dong, C. Li, S. Huang, Y. Dai, "Network Congestion
 * Avoidance through Packet-chaining Reservation", ICPP 2019.
 *
 * Differences from the paper:
 * - There every host knows PCRP, no packet is lost, and the round-trip time is
 *   a constant of the network.
 */
#ifndef _CLOSNET_PCRP_PEER_H
#define _CLOSNET_PCRP_PEER_H

#include <closnet/core.h>

/* So many, and for so long, unanswered: silent */
#define PCRP_SILENT_ASKED	5
#define PCRP_SILENT_NS		5000000ULL
/* A silent peer is asked again, at first and at last */
#define PCRP_RETRY_MIN_NS	10000000ULL
#define PCRP_RETRY_MAX_NS	10000000000ULL

/* Base round-trip time: half of the time it is remembered, until measured, bounds */
#define PCRP_RTT_HALF_NS	5000000000ULL
#define PCRP_RTT_UNKNOWN_NS	20000
#define PCRP_RTT_MIN_NS		5000
#define PCRP_RTT_MAX_NS		1000000

/**
 * enum pcrp_peer_state - what is known of a peer
 * @PCRP_PEER_UNKNOWN: nothing yet
 * @PCRP_PEER_ANSWERING: it has answered
 * @PCRP_PEER_SILENT: it does not answer, at least not now
 * @PCRP_PEER_STATES: how many there are
 */
enum pcrp_peer_state {
	PCRP_PEER_UNKNOWN,
	PCRP_PEER_ANSWERING,
	PCRP_PEER_SILENT,
	PCRP_PEER_STATES,
};

/**
 * struct pcrp_peer - a host; zeros at first
 * @asked_ns: when the first of the @asked was asked
 * @retry_ns: silent: when it may be asked again
 * @wait_ns: silent: how long after asking that is
 * @asked: since the last answer
 * @state: enum pcrp_peer_state
 */
struct pcrp_peer {
	u64 asked_ns;
	u64 retry_ns;
	u64 wait_ns;
	u32 asked;
	u8 state;
};

/**
 * struct pcrp_rtt - the base round-trip time; zeros at first
 * @since_ns: when the newer half of the time began
 * @newer_ns: least in it; 0: none
 * @older_ns: least in the half before; 0: none
 */
struct pcrp_rtt {
	u64 since_ns;
	u64 newer_ns;
	u64 older_ns;
};

static inline void pcrp_peer_retry(struct pcrp_peer *peer, u64 wait_ns, u64 now)
{
	peer->wait_ns = min_t(u64, wait_ns, PCRP_RETRY_MAX_NS);
	peer->retry_ns = now + peer->wait_ns;
}

/**
 * pcrp_peer_ask() - a REQUEST or PROBE is about to be sent
 * @peer: the peer
 * @gated: does the flow wait for GRANTs?
 * @now: the time, ns
 *
 * A flow that does not wait would ask with each of its chains: it may until the peer
 * was asked often enough to tell.
 *
 * Return: true if it is to be sent; false: no flow that asks is to wait any longer.
 */
static inline bool pcrp_peer_ask(struct pcrp_peer *peer, bool gated, u64 now)
{
	if (peer->state != PCRP_PEER_SILENT && peer->asked >= PCRP_SILENT_ASKED &&
	    now - peer->asked_ns >= PCRP_SILENT_NS) {
		peer->state = PCRP_PEER_SILENT;
		pcrp_peer_retry(peer, PCRP_RETRY_MIN_NS, peer->asked_ns + PCRP_SILENT_NS);
	}
	if (peer->state == PCRP_PEER_SILENT) {
		if (gated || now < peer->retry_ns)
			return false;
		pcrp_peer_retry(peer, 2 * peer->wait_ns, now);
		return true;
	}
	if (!gated && peer->asked >= PCRP_SILENT_ASKED)
		return false;
	if (!peer->asked++)
		peer->asked_ns = now;
	return true;
}

/**
 * pcrp_peer_answered() - a GRANT of the peer came, be it for whichever flow
 * @peer: the peer
 */
static inline void pcrp_peer_answered(struct pcrp_peer *peer)
{
	peer->asked = 0;
	peer->state = PCRP_PEER_ANSWERING;
}

/* The newer half becomes the older one after its time; after twice that both are over. */
static inline void pcrp_rtt_age(struct pcrp_rtt *r, u64 now)
{
	s64 age_ns = now - r->since_ns;	/* a GRANT's time may be from before */

	if (likely(age_ns < (s64)PCRP_RTT_HALF_NS))
		return;
	if (age_ns < 2 * (s64)PCRP_RTT_HALF_NS) {
		r->older_ns = r->newer_ns;
		r->since_ns += PCRP_RTT_HALF_NS;
	} else {
		r->older_ns = 0;
		r->since_ns = now;
	}
	r->newer_ns = 0;
}

/**
 * pcrp_rtt_sample() - a peer has answered
 * @r: the base round-trip time
 * @rtt_ns: how long it took; not 0
 * @now: the time, ns
 */
static inline void pcrp_rtt_sample(struct pcrp_rtt *r, u64 rtt_ns, u64 now)
{
	pcrp_rtt_age(r, now);
	if (!r->newer_ns || rtt_ns < r->newer_ns)
		r->newer_ns = rtt_ns;
}

/**
 * pcrp_rtt_ns() - the base round-trip time
 * @r: the base round-trip time
 * @now: the time, ns
 *
 * Return: ns, within PCRP_RTT_MIN_NS and PCRP_RTT_MAX_NS.
 */
static inline u32 pcrp_rtt_ns(struct pcrp_rtt *r, u64 now)
{
	u64 least;

	pcrp_rtt_age(r, now);
	least = r->newer_ns;
	if (!least || (r->older_ns && r->older_ns < least))
		least = r->older_ns;
	if (!least)
		return PCRP_RTT_UNKNOWN_NS;
	return max_t(u64, min_t(u64, least, PCRP_RTT_MAX_NS), PCRP_RTT_MIN_NS);
}

#endif /* _CLOSNET_PCRP_PEER_H */
