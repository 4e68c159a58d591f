// SPDX-License-Identifier: GPL-2.0-only
/*
 * Load of an egress port: samples, bands and quality
 *
 * Switch ASICs grade each port by its past load, the bytes sent, and its future load, the
 * bytes queued. Both are quantized to eight bands, and the quality of the port is their
 * weighted sum. This is the model of Broadcom's Dynamic Load Balancing in OpenBCM, of SAI
 * (saiars.h) and of SONiC's Adaptive Routing and Switching:
 *
 *	quality = (wq band(queue) + wu band(utilization)) / (wq + wu)	0 to 7, 7 is best
 *
 * The queue counts as the time that it takes to drain, so that ports of different rates
 * compare:
 *
 *	drain = (backlog + charged) 8 / rate
 *
 *	band     7      6      5      4      3      2      1      0
 *	drain   < W    < 2W   < 4W   < 8W  < 16W  < 32W  < 64W   more
 *
 * "charged" are bytes that were given to the port since the last sample. The utilization
 * has band 7 up to a low mark, 0 from a high mark on, and falls linearly between them, as in
 * Juniper's configuration of the same ASIC. It is an exponential mean of samples:
 *
 *	u = u + (1 - (3/4)^n) (bytes sent / (rate elapsed) - u),  n = elapsed / interval
 *
 * SAI's exponent of 2 gives the weight of 1/4 for one interval. A sample is taken by the packet
 * that finds the last one older than the interval; an idle port costs nothing. As in the ASIC,
 * a table has the quality of each pair of bands.
 *
 * Differences from the documents:
 *  - OpenBCM's bands of the queue are in cells of 208 bytes, with a factor for the port's
 *    rate. Time to drain needs no factor.
 *  - OpenBCM also weighs the port's share of the shared buffer. Linux has no such buffer.
 *  - ASICs sample each 16 us (SAI) or each 1 us (Spectrum) by a timer.
 */
#include "lb_load.h"

/* Intervals after which an old mean has a weight below 2^-13, which is taken as 0 */
#define LB_INTERVALS_MAX	32
/* Most that the bytes of a sample take, in times of its duration */
#define LB_BUSY_MAX	64
/* 2^64 over the golden ratio */
#define LB_TAG_FACTOR	0x9e3779b97f4a7c15ULL

/* A mean of the two bands by their weights, rounded to the nearest */
static u8 lb_weighted(const struct lb_weights *w, u32 queue_band, u32 util_band)
{
	u32 sum = w->queue_weight + w->util_weight;

	return (w->queue_weight * queue_band + w->util_weight * util_band + sum / 2) / sum;
}

/* Equal for gradings that give a load the same quality; different for others, almost always */
static u32 lb_tag(const struct lb_weights *w)
{
	u64 all = (u64)w->charge << 56 | (u64)w->queue_weight << 48 | (u64)w->util_weight << 40 |
		  w->band_ns;
	u64 marks = (u64)w->util_low << 32 | w->util_high;

	all = (all * LB_TAG_FACTOR ^ marks) * LB_TAG_FACTOR;
	return all >> (32 + LB_TAG_SHIFT) | 1;
}

/**
 * lb_grading_init() - compute what grading needs
 * @g: grading
 * @w: weights and bounds
 */
void lb_grading_init(struct lb_grading *g, const struct lb_weights *w)
{
	u32 queue, util, width = w->util_high - w->util_low;

	g->w = *w;
	g->band_recip = (1ULL << 32) / w->band_ns + 1;
	g->util_recip = width ? div_u64(((u64)LB_BEST << 32) + width - 1, width) : 0;
	g->tag = lb_tag(w);
	for (queue = 0; queue < LB_BANDS; queue++)
		for (util = 0; util < LB_BANDS; util++)
			g->quality[queue][util] = lb_weighted(w, queue, util);
}

/**
 * lb_load_init() - begin with an idle port
 * @l: load
 */
void lb_load_init(struct lb_load *l)
{
	*l = (struct lb_load) { .intervals = 1 };
}

/**
 * lb_load_set_rate() - set the rate of the port
 * @l: load
 * @rate_Bps: bytes per second, above 0
 */
void lb_load_set_rate(struct lb_load *l, u64 rate_Bps)
{
	WRITE_ONCE(l->byte_ns, div64_u64((u64)NSEC_PER_SEC << LB_BYTE_SHIFT, rate_Bps));
	WRITE_ONCE(l->graded, 0);
}

/* (3/4)^n, LB_UTIL_ONE is 1; at most LB_INTERVALS_MAX rounds */
static u32 lb_load_decay(u64 intervals)
{
	u32 decay = LB_UTIL_ONE;

	if (intervals >= LB_INTERVALS_MAX)
		return 0;
	while (intervals--)
		decay -= decay >> 2;
	return decay;
}

/*
 * Time that the bytes sent since the last sample take on the wire, as a share of the elapsed time,
 * LB_UTIL_ONE is all of it. A GSO packet, or a packet of a slow port, takes longer than an
 * interval: it counts in full at once, so that the mean over several samples is right.
 */
static u32 lb_load_busy(const struct lb_load *l, u64 elapsed_ns, u64 sent_bytes)
{
	u64 busy_ns = mul_u64_u64_shr(sent_bytes - l->sent_bytes, l->byte_ns, LB_BYTE_SHIFT);

	busy_ns = min_t(u64, busy_ns, LB_BUSY_MAX * elapsed_ns);
	return div64_u64(busy_ns << LB_UTIL_SHIFT, elapsed_ns);
}

/**
 * lb_load_sample() - take a sample
 * @l: load
 * @g: grading
 * @now_ns: present time
 * @sent_bytes: bytes that the port has sent until now, a counter
 * @backlog_bytes: bytes in its queues now
 *
 * The first sample, and one with a counter that begins at 0 again, sets the counter only. One
 * that is not newer than the last one is ignored: another CPU was faster.
 */
void lb_load_sample(struct lb_load *l, const struct lb_grading *g, u64 now_ns, u64 sent_bytes,
		    u32 backlog_bytes)
{
	u64 elapsed_ns = min_t(u64, now_ns - l->sampled_ns, NSEC_PER_SEC);
	s64 busy, util = l->util;

	if (l->sampled_ns && (s64)(now_ns - l->sampled_ns) <= 0)
		return;
	if (l->sampled_ns && sent_bytes >= l->sent_bytes) {
		busy = lb_load_busy(l, elapsed_ns, sent_bytes);
		util = l->util - busy;
		util *= lb_load_decay(div_u64(elapsed_ns, g->w.interval_ns));
		util = busy + (util >> LB_UTIL_SHIFT);
	}
	WRITE_ONCE(l->util, util);
	WRITE_ONCE(l->backlog_bytes, backlog_bytes);
	WRITE_ONCE(l->charged_bytes, 0);
	WRITE_ONCE(l->graded, 0);
	l->sent_bytes = sent_bytes;
	WRITE_ONCE(l->sampled_ns, now_ns);
}

/**
 * lb_load_queue_band() - grade the queue
 * @l: load
 * @g: grading
 *
 * Return: 0 to LB_BEST.
 */
u32 lb_load_queue_band(const struct lb_load *l, const struct lb_grading *g)
{
	u32 widths = (u64)lb_load_drain_ns(l, g) * g->band_recip >> 32;

	return LB_BEST - min_t(u32, fls64(widths), LB_BEST);
}

/**
 * lb_load_util_band() - grade the utilization
 * @l: load
 * @g: grading
 *
 * Return: 0 to LB_BEST.
 */
u32 lb_load_util_band(const struct lb_load *l, const struct lb_grading *g)
{
	u32 util = READ_ONCE(l->util), low = g->w.util_low, high = g->w.util_high;

	if (util <= low)
		return LB_BEST;
	if (util >= high)
		return 0;
	/* exact, as utilizations are at most 2^16 */
	return (high - util) * g->util_recip >> 32;
}

/**
 * lb_load_grade() - compute the quality of the port, and keep it until the load changes
 * @l: load
 * @g: grading
 *
 * Return: 0 to LB_BEST.
 */
u32 lb_load_grade(struct lb_load *l, const struct lb_grading *g)
{
	u32 quality = g->quality[lb_load_queue_band(l, g)][lb_load_util_band(l, g)];

	WRITE_ONCE(l->graded, g->tag << LB_TAG_SHIFT | quality);
	return quality;
}
