/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parameters for the tests of net/lib/dcqcn.c
 */
#ifndef _CLOSNET_UNIT_DCQCN_COMMON_H
#define _CLOSNET_UNIT_DCQCN_COMMON_H

#include <closnet/dcqcn.h>
#include "rng.h"

#define SECOND		1000000000ULL
#define HOUR		(3600 * SECOND)

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Profile "paper" */
static const struct dcqcn_params paper = {
	.alpha_ns = 55000,
	.timer_ns = 55000,
	.byte_reset = 10000000,
	.threshold = 5,
	.g_inverse = 256,
	.initial_alpha = 1000,
	.cnp_interval_ns = 50000,
	.monitor_ns = 50000,
};

/* Profile "nic" */
static const struct dcqcn_params nic = {
	.alpha_ns = 1000,
	.timer_ns = 300000,
	.byte_reset = 32767,
	.threshold = 1,
	.g_inverse = 205,
	.initial_alpha = 1000,
	.cnp_interval_ns = 4000,
	.monitor_ns = 4000,
};

/* Profile "tuned" */
static const struct dcqcn_params tuned __maybe_unused = {
	.alpha_ns = 15000,
	.timer_ns = 40000,
	.byte_reset = 10000000,
	.threshold = 5,
	.g_inverse = 128,
	.initial_alpha = 1000,
	.cnp_interval_ns = 25000,
	.monitor_ns = 25000,
	.by_rate = true,
};

/*
 * Times from 1 us to 1 s, bytes from a packet to 1 GB. T is at most ten times K, as
 * the model takes single steps of K.
 */
static inline void random_params(struct rng *rng, struct dcqcn_params *p)
{
	p->alpha_ns = rng_log(rng, 1000, SECOND);
	p->timer_ns = rng_log(rng, 1000, min_t(u64, 10 * (u64)p->alpha_ns, SECOND));
	p->byte_reset = rng_log(rng, 1500, 1U << 30);
	p->threshold = rng_percent(rng, 5) ? rng_in(rng, 1, 254) : rng_in(rng, 1, 10);
	p->g_inverse = rng_percent(rng, 5) ? 1 : rng_log(rng, 1, 1U << 16);
	p->initial_alpha = rng_percent(rng, 50) ? 1000 : rng_in(rng, 0, 1000);
	p->monitor_ns = rng_percent(rng, 10) ? 0 : rng_log(rng, 1000, SECOND);
	p->cnp_interval_ns = p->monitor_ns;
}

/* Links from 100 Mbit/s to 1 Tbit/s; steps from 0 to the link rate */
static inline void random_limits(struct rng *rng, struct dcqcn_limits *l)
{
	l->max_Bps = rng_log(rng, 12500000, 1ULL << 37);
	l->min_Bps = rng_log(rng, 1, l->max_Bps);
	l->ai_Bps = rng_percent(rng, 5) ? 0 : rng_log(rng, l->max_Bps / 10000, l->max_Bps / 2);
	l->hai_Bps = rng_percent(rng, 5) ? 0 : rng_log(rng, l->max_Bps / 10000, l->max_Bps);
}

#endif /* _CLOSNET_UNIT_DCQCN_COMMON_H */
