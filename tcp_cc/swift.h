/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Swift: interface of the algorithm in swift.c
 */
#ifndef _SWIFT_H
#define _SWIFT_H

#include <closnet/core.h>

/* Fraction bits of windows, and of factors */
#define SWIFT_CWND_SHIFT	16
#define SWIFT_SHIFT		20
#define SWIFT_CWND_ONE		(1U << SWIFT_CWND_SHIFT)
#define SWIFT_ONE		(1U << SWIFT_SHIFT)

/* Smallest window, 0.001 packets, and largest, 16384 packets */
#define SWIFT_CWND_MIN		66
#define SWIFT_CWND_MAX		(16384U << SWIFT_CWND_SHIFT)

/* fs_min_cwnd and fs_max_cwnd: windows with the longest and no addition to the target */
#define SWIFT_FS_MIN		(SWIFT_CWND_ONE / 10)
#define SWIFT_FS_MAX		(100 * SWIFT_CWND_ONE)

/* Longer delays are treated as this one, and shorter RTTs as that one. */
#define SWIFT_DELAY_MAX_NS	(1U << 30)
#define SWIFT_RTT_MIN_NS	1000

/* Delay, in targets, above which beta_high applies */
#define SWIFT_HIGH		4

/* Largest multiple of ai in hyper increase */
#define SWIFT_HYPER_MAX		64

/* Retransmission timeouts in a row that reset the window */
#define SWIFT_RETX_RESET	5

/**
 * struct swift_params - parameters of a network namespace
 * @beta: multiplicative decrease, Q12.20, at most 1
 * @beta_high: and above %SWIFT_HIGH times the target
 * @max_mdf: largest decrease at once, Q12.20, below 1
 * @hop_ns: target delay of a hop, at most 2^22
 * @fs_range_ns: largest addition to the target for small windows, at most 2^30
 * @host_target_ns: target of the endpoint delay
 * @fs_alpha_ns: alpha of flow scaling; set by swift_params_finish()
 */
struct swift_params {
	u32 beta;
	u32 beta_high;
	u32 max_mdf;
	u32 hop_ns;
	u32 fs_range_ns;
	u32 host_target_ns;
	u32 fs_alpha_ns;
};

/**
 * struct swift_limits - parameters that depend on link and path
 * @base_ns: target delay without hops and flow scaling, at most 2^30
 * @ai: additive increase per RTT, packets, Q16.16, at most 2^24
 * @max_cwnd: largest window, Q16.16, 1 to %SWIFT_CWND_MAX
 * @hyper_ns: time without a decrease after which the increase grows; 0: it is constant
 */
struct swift_limits {
	u32 base_ns;
	u32 ai;
	u32 max_cwnd;
	u32 hyper_ns;
};

/**
 * struct swift_vars - state of a sender, initialised by swift_start()
 * @rate_Bps: pacing rate, bytes per second; maintained by the caller
 * @fabric_cwnd: fcwnd, window by the fabric delay, packets, Q16.16
 * @host_cwnd: ecwnd, window by the endpoint delay, packets, Q16.16
 * @fabric_cut_ns: time of the last decrease of @fabric_cwnd, modulo 2^32
 * @host_cut_ns: time of the last decrease of @host_cwnd, modulo 2^32
 * @fabric_ns: last fabric delay
 * @host_ns: average of the endpoint delay
 */
struct swift_vars {
	u64 rate_Bps;
	u32 fabric_cwnd;
	u32 host_cwnd;
	u32 fabric_cut_ns;
	u32 host_cut_ns;
	u32 fabric_ns;
	u32 host_ns;
};

/**
 * struct swift_sample - delays of a burst
 * @fabric_ns: delay in the fabric, at the receiver, and in queues of the sender
 * @host_ns: delay of its ACK in the sender's stack; negative: unknown
 * @rtt_ns: RTT, from which @fabric_ns may lack the serialisation time
 * @acked: acknowledged packets, Q16.16, at most %SWIFT_CWND_MAX
 * @hops: switches on the path
 * @hold: the sender did not use its window, which must not rise
 */
struct swift_sample {
	u32 fabric_ns;
	s64 host_ns;
	u32 rtt_ns;
	u32 acked;
	u8 hops;
	bool hold;
};

/**
 * enum swift_result - effect of a sample
 * @SWIFT_UP: the fabric window may rise
 * @SWIFT_DOWN: the fabric window was reduced
 * @SWIFT_KEEP: the fabric delay is too long, but the last decrease was within an RTT
 * @SWIFT_HOST: as SWIFT_UP or SWIFT_KEEP, and the endpoint window was reduced
 */
enum swift_result {
	SWIFT_UP,
	SWIFT_DOWN,
	SWIFT_KEEP,
	SWIFT_HOST,
};

void swift_params_finish(struct swift_params *p);
u32 swift_target(const struct swift_params *p, const struct swift_limits *l, u32 cwnd, u8 hops);
void swift_start(struct swift_vars *v, const struct swift_limits *l);
enum swift_result swift_update(struct swift_vars *v, const struct swift_params *p,
			       const struct swift_limits *l, const struct swift_sample *s,
			       u64 now_ns);
u32 swift_cwnd(const struct swift_vars *v);
u64 swift_rate(const struct swift_vars *v, u32 mss, u32 rtt_ns);
bool swift_raise(struct swift_vars *v, const struct swift_limits *l, u32 cwnd);
void swift_cut(struct swift_vars *v, const struct swift_params *p);
void swift_undo(struct swift_vars *v, const struct swift_params *p, const struct swift_limits *l);
void swift_timeout(struct swift_vars *v, const struct swift_params *p, unsigned int timeouts);

#endif /* _SWIFT_H */
