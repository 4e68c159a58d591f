/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ConWeave at the source leaf: when a flow is rerouted
 *
 * The interface of fab_source.c, which explains the algorithm.
 */
#ifndef _CLOSNET_FAB_SOURCE_H
#define _CLOSNET_FAB_SOURCE_H

#include "fab_wire.h"

/* No path: all sampled ones are busy */
#define FAB_NO_PATH	(-1)

/* Slots of the NOTIFY table of a peer, a power of two */
#define FAB_BUSY_SLOTS	256U

/* Samples of RTT above this are no base RTT of a fabric */
#define FAB_RTT_MAX_US	1000000U
/* Period of the minimum filter of the base RTT */
#define FAB_RTT_PERIOD_NS	10000000000ULL

/**
 * struct fab_source_params - parameters, named after the paper's symbols
 * @reply_ns: with the base RTT, theta_reply: time in which RTT_REPLY has to come
 * @busy_ns: theta_path_busy: how long a path is avoided after NOTIFY
 * @inactive_ns: theta_inactive: idle time after which a flow may take any path
 */
struct fab_source_params {
	u32 reply_ns;
	u32 busy_ns;
	u32 inactive_ns;
};

/**
 * struct fab_source - state of a flow
 * @active_ns: time of its last packet; 0: no packet yet
 * @deadline_ns: cutoff of this epoch; U64_MAX: passed, or RTT_REPLY came
 * @tail_ns: time of TAIL
 * @tail_us: the same, for the header
 * @request_us: clock of RTT_REQUEST in this epoch and the one before, by the epoch's last bit
 * @path: its path
 * @epoch: its epoch
 * @rerouted: TAIL was sent in this epoch
 * @stable: RTT_REPLY or CLEAR came: the next packet begins an epoch
 */
struct fab_source {
	u64 active_ns;
	u64 deadline_ns;
	u64 tail_ns;
	u32 tail_us;
	u32 request_us[2];
	u16 path;
	u16 epoch;
	bool rerouted;
	bool stable;
};

/**
 * struct fab_rtt - base RTT of a peer: smallest sample of this period and the last one
 * @since_ns: beginning of the period
 * @ns: base RTT; 0: not known
 * @next_ns: smallest sample of this period; 0: none yet
 */
struct fab_rtt {
	u64 since_ns;
	u32 ns;
	u32 next_ns;
};

/**
 * enum fab_step - role of a packet of a flow
 * @FAB_STAY: takes the flow's path
 * @FAB_EPOCH: begins an epoch on the flow's path, requests RTT_REPLY
 * @FAB_FRESH: the same, but may take any path: the flow has no packets in the fabric
 * @FAB_TAIL: is the last on the flow's path; the next packet may take another one
 */
enum fab_step {
	FAB_STAY,
	FAB_EPOCH,
	FAB_FRESH,
	FAB_TAIL,
};

/**
 * struct fab_busy - NOTIFY table of a peer: a hash table that forgets
 * @until_us: a path of this slot is busy until then. fab_busy_slot() has the index
 */
struct fab_busy {
	u32 until_us[FAB_BUSY_SLOTS];
};

enum fab_step fab_source_begin(struct fab_source *s, const struct fab_source_params *p,
			       bool has_path, u32 rtt_ns, u64 now_ns);
void fab_source_finish(struct fab_source *s, enum fab_step step, int good, u16 any, u64 now_ns,
		       struct fab_header *h);
bool fab_source_reply(struct fab_source *s, u16 epoch, u64 now_ns);
bool fab_source_clear(struct fab_source *s, u16 epoch);
u32 fab_source_rtt_ns(const struct fab_source *s, u16 epoch, u32 tx_us, u64 now_ns);
void fab_rtt_add(struct fab_rtt *r, u32 rtt_ns, u64 now_ns);
void fab_busy_set(struct fab_busy *b, u16 path, const struct fab_source_params *p, u64 now_ns);
bool fab_busy_test(const struct fab_busy *b, u16 path, u64 now_ns);

#endif /* _CLOSNET_FAB_SOURCE_H */
