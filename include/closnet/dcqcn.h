/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * DCQCN: interface of the algorithm in net/lib/dcqcn.c
 *
 * tcp_dcqcn and sch_roce each compile a copy of it.
 */
#ifndef _CLOSNET_DCQCN_H
#define _CLOSNET_DCQCN_H

#include <closnet/core.h>

/* alpha and g are Q1.63. */
#define DCQCN_SHIFT		63
#define DCQCN_ONE		(1ULL << DCQCN_SHIFT)

/* The counts of events since the last CNP saturate here. */
#define DCQCN_STAGE_MAX		255U

/* With @by_rate of struct dcqcn_params: divisor of R_C that limits R_AI, as a shift */
#define DCQCN_AI_SHIFT		7

/* With @by_rate: the packet whose time at R_C is the minimum of K */
#define DCQCN_PACKET_BYTES	1500

/**
 * struct dcqcn_params - parameters that do not depend on the line rate
 * @alpha_ns: K, time without a CNP after which alpha decays; not 0
 * @timer_ns: T, time between two timer events; not 0
 * @byte_reset: B, bytes between two byte counter events; not 0
 * @threshold: F, events in fast recovery; below 255
 * @g_inverse: 1/g, 1 to 2^16
 * @initial_alpha: alpha before the first CNP, thousandths
 * @cnp_interval_ns: N, minimum time between two CNPs to a flow
 * @monitor_ns: minimum time between two effective CNPs if the receiver is not an NP
 * @alpha_first: a CNP raises alpha before it cuts the rate, not after
 * @by_rate: R_AI is at most 1/128 of R_C, and K at least the time of a packet at R_C
 * @g: weight of a CNP in alpha, Q1.63; set by dcqcn_params_finish()
 * @start_alpha: @initial_alpha in Q1.63; set by dcqcn_params_finish()
 */
struct dcqcn_params {
	u32 alpha_ns;
	u32 timer_ns;
	u32 byte_reset;
	u32 threshold;
	u32 g_inverse;
	u32 initial_alpha;
	u32 cnp_interval_ns;
	u32 monitor_ns;
	bool alpha_first;
	bool by_rate;
	u64 g;
	u64 start_alpha;
};

/**
 * enum dcqcn_profile_id - set of parameters that belong together
 * @DCQCN_PROFILE_PAPER: SIGCOMM 2015
 * @DCQCN_PROFILE_NIC: default values of NICs
 * @DCQCN_PROFILE_TUNED: full links and equal shares for 2 to 64 flows; needs switches that
 *	mark all packets above Kmax
 * @DCQCN_PROFILES: number of profiles
 */
enum dcqcn_profile_id {
	DCQCN_PROFILE_PAPER,
	DCQCN_PROFILE_NIC,
	DCQCN_PROFILE_TUNED,
	DCQCN_PROFILES
};

/**
 * struct dcqcn_profile - values of a profile; times in us
 * @time_reset_us: T
 * @byte_reset: B, bytes
 * @threshold: F
 * @ai_share: divisor of the line rate that gives R_AI
 * @g_inverse: 1/g
 * @alpha_us: K
 * @cnp_us: N
 * @monitor_us: minimum time between two cuts
 * @by_rate: as in struct dcqcn_params
 * @burst_us: a burst is what the flow sends in this time; 0: a burst has a fixed size
 * @window_us: the window is what the flow sends in this time, at the line rate; with
 *	@burst_us at R_C
 */
struct dcqcn_profile {
	u32 time_reset_us;
	u32 byte_reset;
	u32 threshold;
	u32 ai_share;
	u32 g_inverse;
	u32 alpha_us;
	u32 cnp_us;
	u32 monitor_us;
	bool by_rate;
	u32 burst_us;
	u32 window_us;
};

/**
 * struct dcqcn_rates - configured rates, bytes per second
 * @ai_Bps: R_AI; 0: a share of the line rate
 * @hai_Bps: R_HAI; 0: ten times R_AI
 * @min_Bps: lowest rate; 0: R_AI
 * @ai_share: divisor of the line rate that gives R_AI; not 0
 */
struct dcqcn_rates {
	u64 ai_Bps;
	u64 hai_Bps;
	u64 min_Bps;
	u32 ai_share;
};

/**
 * struct dcqcn_limits - parameters that depend on the line rate or on the path
 * @min_Bps: lowest rate, bytes per second, at most @max_Bps
 * @max_Bps: highest rate, bytes per second, at most 2^38
 * @ai_Bps: R_AI, step of additive increase, bytes per second, at most 2^38
 * @hai_Bps: R_HAI, step of hyper increase, bytes per second, at most 2^38
 * @timer_ns: lowest T; 0 after dcqcn_limits_set()
 */
struct dcqcn_limits {
	u64 min_Bps;
	u64 max_Bps;
	u64 ai_Bps;
	u64 hai_Bps;
	u64 timer_ns;
};

/**
 * struct dcqcn_vars - state of a sender (RP), initialised by dcqcn_start()
 * @rate_Bps: R_C, current rate, bytes per second; at most @target_Bps
 * @target_Bps: R_T, target rate, bytes per second
 * @alpha: congestion estimate after the last CNP, Q1.63; see dcqcn_alpha()
 * @cnp_ns: time of the last CNP
 * @timer_ns: time of the last timer event or reset
 * @bytes: bytes since the last byte counter event
 * @timer_stage: TC, timer events since the last cut
 * @byte_stage: BC, byte counter events since the last cut
 * @cnp_seen: there was a CNP
 * @lost: the last cut was due to a loss
 */
struct dcqcn_vars {
	u64 rate_Bps;
	u64 target_Bps;
	u64 alpha;
	u64 cnp_ns;
	u64 timer_ns;
	u32 bytes;
	u8 timer_stage;
	u8 byte_stage;
	u8 cnp_seen:1,
	   lost:1;
};

/**
 * struct dcqcn_np - state of a receiver (NP), initially all zero
 * @cnp_ns: time of the last CNP; 0: there was no CNP
 * @pending: a marked packet has arrived since then
 */
struct dcqcn_np {
	u64 cnp_ns;
	bool pending;
};

/**
 * enum dcqcn_cause - reason of a rate change
 * @DCQCN_NONE: no change
 * @DCQCN_START: start of a flow
 * @DCQCN_FAST: fast recovery
 * @DCQCN_ADDITIVE: additive increase
 * @DCQCN_HYPER: hyper increase
 * @DCQCN_CNP: CNP
 * @DCQCN_LOSS: loss
 * @DCQCN_UNDO: the loss was spurious
 * @DCQCN_CAUSES: number of causes
 */
enum dcqcn_cause {
	DCQCN_NONE,
	DCQCN_START,
	DCQCN_FAST,
	DCQCN_ADDITIVE,
	DCQCN_HYPER,
	DCQCN_CNP,
	DCQCN_LOSS,
	DCQCN_UNDO,
	DCQCN_CAUSES
};

extern const struct dcqcn_profile dcqcn_profiles[DCQCN_PROFILES];

void dcqcn_params_finish(struct dcqcn_params *p);
void dcqcn_limits_set(struct dcqcn_limits *l, const struct dcqcn_rates *r, u64 line_Bps,
		      u64 max_Bps);

/* Reaction point (RP), the sender */
void dcqcn_start(struct dcqcn_vars *v, const struct dcqcn_params *p,
		 const struct dcqcn_limits *l, u64 now_ns);
u64 dcqcn_alpha(const struct dcqcn_vars *v, const struct dcqcn_params *p, u64 now_ns);
enum dcqcn_cause dcqcn_advance(struct dcqcn_vars *v, const struct dcqcn_params *p,
			       const struct dcqcn_limits *l, u64 now_ns, u64 bytes);
bool dcqcn_cnp(struct dcqcn_vars *v, const struct dcqcn_params *p,
	       const struct dcqcn_limits *l, u64 now_ns, bool fresh);
void dcqcn_cut(struct dcqcn_vars *v, const struct dcqcn_params *p,
	       const struct dcqcn_limits *l, u64 now_ns);
bool dcqcn_undo(struct dcqcn_vars *v);

/* Notification point (NP), the receiver */
bool dcqcn_np_packet(struct dcqcn_np *np, const struct dcqcn_params *p, u64 now_ns, bool ce);

#endif /* _CLOSNET_DCQCN_H */
