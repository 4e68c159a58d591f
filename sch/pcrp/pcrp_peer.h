/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PCRP's sender: state of a peer, and base round-trip time. pcrp_peer.c describes both.
 */
#ifndef _PCRP_PEER_H
#define _PCRP_PEER_H

#include <closnet/core.h>

/* A peer is silent after as many unanswered requests, the first of them as long ago. */
#define PCRP_SILENT_REQUESTS	5
#define PCRP_SILENT_NS		5000000ULL

/**
 * enum pcrp_peer_state - does a peer answer?
 * @PCRP_PEER_UNKNOWN: not known yet
 * @PCRP_PEER_ANSWERING: it has answered
 * @PCRP_PEER_SILENT: it left the last requests unanswered
 * @PCRP_PEER_STATES: number of states
 */
enum pcrp_peer_state {
	PCRP_PEER_UNKNOWN,
	PCRP_PEER_ANSWERING,
	PCRP_PEER_SILENT,
	PCRP_PEER_STATES,
};

/**
 * struct pcrp_peer - a host; zeroed at first
 * @first_ns: when the first unanswered request was sent
 * @retry_ns: silent: when it may get another request
 * @wait_ns: silent: time between the last request and @retry_ns
 * @unanswered: requests since the last answer
 * @state: enum pcrp_peer_state
 */
struct pcrp_peer {
	u64 first_ns;
	u64 retry_ns;
	u64 wait_ns;
	u32 unanswered;
	u8 state;
};

/**
 * struct pcrp_rtt - base round-trip time; zeroed at first
 * @since_ns: when the current half of the period began
 * @current_ns: minimum in the current half; 0: no sample
 * @previous_ns: minimum in the half before it; 0: no sample
 */
struct pcrp_rtt {
	u64 since_ns;
	u64 current_ns;
	u64 previous_ns;
};

bool pcrp_peer_request(struct pcrp_peer *peer, bool gated, u64 now);
void pcrp_peer_answered(struct pcrp_peer *peer);
void pcrp_rtt_sample(struct pcrp_rtt *r, u64 rtt_ns, u64 now);
u32 pcrp_rtt_ns(struct pcrp_rtt *r, u64 now);

#endif /* _PCRP_PEER_H */
