/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Load of an egress port: samples, bands and quality
 *
 * The interface of lb_load.c, which explains the algorithm.
 */
#ifndef _CLOSNET_LB_LOAD_H
#define _CLOSNET_LB_LOAD_H

#include <closnet/core.h>

/* Bands and qualities: 0, the worst, to 7 */
#define LB_BEST			7
#define LB_BANDS		8
/* Fraction bits of: utilization; time per byte */
#define LB_UTIL_SHIFT		16
#define LB_UTIL_ONE		(1U << LB_UTIL_SHIFT)
#define LB_BYTE_SHIFT		24
/* Bits of a quality beside a tag */
#define LB_TAG_SHIFT		3
/* Shortest width of the best band, ns */
#define LB_BAND_NS_MIN		100

/**
 * struct lb_weights - weights and bounds of grading
 * @interval_ns: time between two samples; 1000 to 10^9
 * @band_ns: time to drain below which the queue has the best band; each further band
 *	doubles it; at least LB_BAND_NS_MIN
 * @queue_weight: weight of the queue's band, 0 to 100
 * @util_weight: weight of the utilization's band, 0 to 100; not both are 0
 * @util_low: utilization up to which it has the best band, LB_UTIL_ONE is the full rate
 * @util_high: utilization from which it has the worst band; not below @util_low
 * @charge: count the bytes that were given to a port since its last sample
 */
struct lb_weights {
	u32 interval_ns;
	u32 band_ns;
	u32 queue_weight;
	u32 util_weight;
	u32 util_low;
	u32 util_high;
	bool charge;
};

/**
 * struct lb_grading - how load becomes quality, computed from struct lb_weights
 * @w: its input
 * @band_recip: 2^32 / w.band_ns, rounded up
 * @util_recip: 2^32 * LB_BEST / (w.util_high - w.util_low), rounded up; 0 if they are equal
 * @tag: hash of what lb_load_quality() uses of @w, above 0; LB_TAG_SHIFT bits less than 32
 * @quality: quality by the band of the queue and the band of the utilization
 */
struct lb_grading {
	struct lb_weights w;
	u32 band_recip;
	u64 util_recip;
	u32 tag;
	u8 quality[LB_BANDS][LB_BANDS];
};

/**
 * struct lb_load - load of a port
 * @byte_ns: time that a byte takes on the wire, ns, Q40.24
 * @util: mean utilization, LB_UTIL_ONE is the full rate; above it after a packet that takes longer
 *	than an interval. Its band depends on the grading: actions that share a port may differ
 * @backlog_bytes: bytes in its queues at the last sample
 * @charged_bytes: bytes given to the port since then
 * @sampled_ns: time of the last sample; 0: no sample yet
 * @sent_bytes: bytes sent until then, a counter
 * @intervals: intervals from one sample to the next; more than 1 if a sample costs much
 * @graded: quality, and the tag of the grading that gave it, shifted by LB_TAG_SHIFT; 0: the load
 *	has changed since
 *
 * One CPU writes a sample at a time, ensured by the caller's lock; other CPUs read members
 * with READ_ONCE and may combine two samples, which costs a choice and no more. A CPU that grades
 * while another one changes the load may store the old quality until the next change or sample.
 */
struct lb_load {
	u64 byte_ns;
	u32 util;
	u32 backlog_bytes;
	u32 charged_bytes;
	u64 sampled_ns;
	u64 sent_bytes;
	u32 intervals;
	u32 graded;
};

void lb_grading_init(struct lb_grading *g, const struct lb_weights *w);
void lb_load_init(struct lb_load *l);
void lb_load_set_rate(struct lb_load *l, u64 rate_Bps);
void lb_load_sample(struct lb_load *l, const struct lb_grading *g, u64 now_ns, u64 sent_bytes,
		    u32 backlog_bytes);
u32 lb_load_queue_band(const struct lb_load *l, const struct lb_grading *g);
u32 lb_load_util_band(const struct lb_load *l, const struct lb_grading *g);
u32 lb_load_grade(struct lb_load *l, const struct lb_grading *g);

/**
 * lb_load_drain_ns() - compute the time to drain
 * @l: load
 * @g: grading
 *
 * Return: time that the queue and the bytes charged since the last sample take at the
 * port's rate, ns.
 */
static inline u32 lb_load_drain_ns(const struct lb_load *l, const struct lb_grading *g)
{
	u64 bytes = READ_ONCE(l->backlog_bytes), drain_ns;

	if (g->w.charge)
		bytes += READ_ONCE(l->charged_bytes);
	drain_ns = mul_u64_u64_shr(bytes, READ_ONCE(l->byte_ns), LB_BYTE_SHIFT);
	return min_t(u64, drain_ns, ~0U);
}

/**
 * lb_load_quality() - get the quality of the port
 * @l: load
 * @g: grading
 *
 * Return: 0 to LB_BEST.
 */
static inline u32 lb_load_quality(struct lb_load *l, const struct lb_grading *g)
{
	u32 graded = READ_ONCE(l->graded);

	if (likely(graded >> LB_TAG_SHIFT == g->tag))
		return graded % LB_BANDS;
	return lb_load_grade(l, g);
}

/**
 * lb_load_is_due() - is it time for the next sample?
 * @l: load
 * @g: grading
 * @now_ns: present time
 *
 * Another CPU may have taken a sample since the caller has read the clock.
 *
 * Return: true if the last sample is older than @l->intervals intervals.
 */
static inline bool lb_load_is_due(const struct lb_load *l, const struct lb_grading *g, u64 now_ns)
{
	s64 elapsed_ns = now_ns - READ_ONCE(l->sampled_ns);

	/* the product is seldom needed */
	return elapsed_ns >= (s64)g->w.interval_ns &&
	       elapsed_ns >= (s64)g->w.interval_ns * READ_ONCE(l->intervals);
}

/**
 * lb_load_charge() - count a packet that is given to the port
 * @l: load
 * @bytes: its length
 *
 * Until the next sample, later choices see the packets that earlier ones have added. Without
 * this, every packet of an interval takes the port that was best at its beginning. CPUs that
 * race here may lose a packet, which costs a choice and no more.
 */
static inline void lb_load_charge(struct lb_load *l, u32 bytes)
{
	WRITE_ONCE(l->charged_bytes, READ_ONCE(l->charged_bytes) + bytes);
	WRITE_ONCE(l->graded, 0);
}

#endif /* _CLOSNET_LB_LOAD_H */
