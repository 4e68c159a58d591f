/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random parameters and samples for the tests of tcp_cc/timely.c
 */
#ifndef _CLOSNET_UNIT_TIMELY_COMMON_H
#define _CLOSNET_UNIT_TIMELY_COMMON_H

#include "../../tcp_cc/timely.h"
#include "rng.h"

#define SECOND		1000000000ULL
#define HOUR		(3600 * SECOND)

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Links from 100 Mbit/s to 1 Tbit/s; times from 0 or 1 us to 1 s */
static inline void random_params(struct rng *rng, struct timely_params *p,
				 struct timely_limits *l)
{
	p->alpha = rng_log(rng, TIMELY_ONE / 1000, TIMELY_ONE);
	p->beta = rng_log(rng, TIMELY_ONE / 1000, TIMELY_ONE);
	p->beta_high = rng_log(rng, TIMELY_ONE / 1000, TIMELY_ONE);
	p->t_high_ns = rng_log(rng, 1000, 1U << 30);
	p->t_low_ns = rng_percent(rng, 10) ? 0 : rng_log(rng, 1, p->t_high_ns);
	p->min_rtt_ns = rng_log(rng, 1000, SECOND);
	p->hai_n = rng_in(rng, 1, 16);
	p->hai_threshold = rng_in(rng, 1, 16);
	p->patched = rng_percent(rng, 50);
	timely_params_finish(p);
	l->max_Bps = rng_log(rng, 12500000, 1ULL << 37);
	l->delta_Bps = rng_log(rng, l->max_Bps / 10000, l->max_Bps / 2);
	l->min_Bps = rng_log(rng, l->delta_Bps, l->max_Bps);
}

/* An RTT of any size, close to the previous one, or on a threshold */
static inline u32 random_rtt(struct rng *rng, const struct timely_params *p, u32 prev_rtt_ns)
{
	u32 threshold = rng_percent(rng, 50) ? p->t_low_ns : p->t_high_ns;
	u32 by = rng_log(rng, 1, p->min_rtt_ns);

	if (rng_percent(rng, 10))
		return rng_log(rng, 1, 1U << 30);
	if (rng_percent(rng, 10) || !prev_rtt_ns)
		return threshold ? threshold : 1;
	if (rng_percent(rng, 5))
		return prev_rtt_ns;
	if (rng_percent(rng, 50))
		return min_t(u32, prev_rtt_ns + by, 1U << 30);
	return prev_rtt_ns > by ? prev_rtt_ns - by : 1;
}

/* Time to the next sample: 0, hours, or up to twice minRTT */
static inline u64 random_dt(struct rng *rng, const struct timely_params *p)
{
	if (rng_percent(rng, 5))
		return 0;
	if (rng_percent(rng, 10))
		return rng_log(rng, 1, 100 * HOUR);
	return rng_log(rng, 1, 2 * (u64)p->min_rtt_ns);
}

#endif /* _CLOSNET_UNIT_TIMELY_COMMON_H */
