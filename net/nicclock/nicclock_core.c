// SPDX-License-Identifier: GPL-2.0-only
/*
 * nicclock: the relation of a NIC's clock to the host's, learnt from received packets
 *
 * A packet with a NIC timestamp is observed at host time now, some latency after its
 * arrival:
 *
 *	now = stamp + offset(stamp) + latency,	latency >= 0
 *
 * The points (stamp, now - stamp) are on or above the wanted line offset(stamp). A
 * bucket comprises the observations of 10 ms, or of a longer time if packets are rare.
 * The observation with the least latency of each bucket becomes a point, and a line is
 * fitted below the last 16 points (nicclock_fit.c). Its error is the least latency, a
 * constant that cannot be observed at the host.
 *
 * Later observations are judged by their distance from the line. Lateness is the
 * distance above it:
 *
 *	observation			possible causes		reaction
 *	early, a little			noise, slewing		lower the line
 *	early, or 100 ms late		step, bad timestamp	ignore; the 3rd one
 *								in a bucket: restart
 *	8 in a row late, for 2 ms	step back, busy host	doubt until one is not
 *	a bucket late			the same, slewing	doubt until one is not
 *	8 buckets late			step back, slewing	line through these
 *	250 ms without packets		idle			anchor
 *	10 minutes without packets	idle			restart
 *
 * "Late" means later than recent packets: the bounds follow from the medians of the
 * last buckets. In doubt, while learning, and when the last bucket is too old, the map
 * gives no answers.
 *
 *	             anchor             8 points                 late
 *	learning -----------> anchored ----------> synchronised -------> doubt
 *	   ^                     |                  |      ^                |
 *	   +-------- step -------+------------------+      +--- not late ---+
 *
 * Many hosts are idle except for bursts of a few ms: less than eight buckets. An anchor
 * gives answers before there is a line. It combines the least latency of the packets
 * since traffic resumed with the last known skew. The first anchor needs 16 packets.
 * Without a skew it is valid for 20 ms, in which 100 ppm are 2 us. A later anchor needs
 * 4 packets, and its distance from the old line is at most the possible drift. An
 * anchor is never worse than the host's own timestamps, as no latency is below the
 * least one. Two anchors also give a skew. There is no anchor after a step until an
 * idle period has ended, and after noise until there is a line.
 *
 * A step back that is smaller than the bounds is taken for latency: the line follows
 * within 160 ms, and has that error meanwhile. A latency that all packets of 8 buckets
 * have is taken for a step back.
 *
 * All times are u64, and differences are modulo 2^64: clocks may wrap, and timestamps
 * may be negative.
 */
#include "nicclock_fit.h"

/*
 * A bucket ends after BUCKET_NS with at least BUCKET_MIN observations, so that one of
 * them probably has a low latency, and always after BUCKET_MAX_NS.
 */
#define NICCLOCK_BUCKET_NS	10000000
#define NICCLOCK_BUCKET_MAX_NS	100000000
#define NICCLOCK_BUCKET_MIN	16

/* Doubt: number of consecutive late observations, and their minimum duration */
#define NICCLOCK_DOUBT_RUN	8
#define NICCLOCK_DOUBT_NS	2000000

/* Steps: number of observations, or of buckets, that prove one */
#define NICCLOCK_STEP_RUN	3
#define NICCLOCK_STEP_BUCKETS	8

/* Idle time after which the skew is forgotten */
#define NICCLOCK_IDLE_NS	600000000000

/* ---- anchors and steps ---- */

/*
 * Start the line at this observation, with the known skew. It becomes an anchor after
 * @min observations.
 */
static void nicclock_anchor(struct nicclock_core *core, u64 now_ns, u64 stamp, u32 min)
{
	struct nicclock_map *map = &core->map;

	map->stamp = stamp;
	map->now_ns = now_ns;
	map->skew = core->skew;
	map->age_max_ns = core->skew_known ? NICCLOCK_AGE_MAX_NS : NICCLOCK_ANCHOR_AGE_NS;
	map->early_max_ns = NICCLOCK_FAR_NS;
	core->anchor_min = core->trust == NICCLOCK_TRUST ? min : 0;
	core->anchor_seen = 0;
	core->anchor_ns = now_ns;
	WRITE_ONCE(core->late_run, 0);
	core->late_buckets = 0;
	core->odd = 0;
	core->bucket.count = 0;
}

/* Forget everything, and learn from this observation on. */
static void nicclock_restart(struct nicclock_core *core, u64 now_ns, u64 stamp)
{
	core->count = 0;
	core->fit = NICCLOCK_LEARNING;
	core->skew = 0;
	core->skew_known = false;
	core->mark_known = false;
	core->map.late_max_ns = NICCLOCK_FAR_NS;
	nicclock_anchor(core, now_ns, stamp, NICCLOCK_ANCHOR_FIRST);
}

static void nicclock_step(struct nicclock_core *core, u64 now_ns, u64 stamp)
{
	WRITE_ONCE(core->steps, core->steps + 1);
	core->trust = max_t(u32, core->trust, NICCLOCK_STEPPED);
	nicclock_restart(core, now_ns, stamp);
}

/* Remember the skew of the line, or the skew between two anchors. */
static void nicclock_keep_skew(struct nicclock_core *core)
{
	const struct nicclock_map *map = &core->map;
	s64 dx = map->stamp - core->mark_stamp;

	if (core->fit == NICCLOCK_SYNCHRONISED) {
		core->skew = map->skew;
		core->skew_known = true;
	} else if (core->mark_known && dx < NICCLOCK_AGE_MAX_NS) {
		return;
	} else if (core->mark_known) {
		core->skew_known = nicclock_skew(map->now_ns - core->mark_now_ns - dx, dx,
						 &core->skew);
		if (!core->skew_known)
			core->skew = 0;
	}
	core->mark_known = true;
	core->mark_stamp = map->stamp;
	core->mark_now_ns = map->now_ns;
}

/*
 * Start an anchor at the first observation after an idle period, within the possible
 * drift from the old line.
 */
static void nicclock_resume(struct nicclock_core *core, u64 now_ns, u64 stamp)
{
	s64 late_ns = nicclock_map_late(&core->map, now_ns, stamp);
	s64 idle_ns = now_ns - core->map.now_ns;
	s64 drift_ns = core->off_max_ns + (idle_ns >> NICCLOCK_SLEW_LATE);

	if (core->fit != NICCLOCK_SYNCHRONISED && !core->skew_known)
		drift_ns = late_ns;
	nicclock_keep_skew(core);
	if (idle_ns > NICCLOCK_AGE_MAX_NS) {
		core->count = 0;
		core->fit = NICCLOCK_LEARNING;
	}
	if (core->trust == NICCLOCK_STEPPED)
		core->trust = NICCLOCK_TRUST;
	nicclock_anchor(core, now_ns - max_t(s64, late_ns - drift_ns, 0), stamp,
			NICCLOCK_ANCHOR_LATER);
}

/* Has the map expired since the last observation? */
static bool nicclock_was_idle(const struct nicclock_core *core, u64 now_ns)
{
	s64 idle_ns = now_ns - core->map.now_ns;

	if (core->fit == NICCLOCK_LEARNING && core->trust == NICCLOCK_TRUST)
		return !core->bucket.count && idle_ns > NICCLOCK_ANCHOR_AGE_NS;
	return idle_ns > NICCLOCK_AGE_MAX_NS;
}

/* ---- buckets ---- */

/* Turn the best observation of the bucket into a point; returns whether to fit a line. */
static bool nicclock_add_point(struct nicclock_core *core)
{
	const struct nicclock_bucket *bucket = &core->bucket;
	struct nicclock_point *points = core->points;
	s64 gap = bucket->stamp - core->map.stamp;
	u32 i;

	if (core->count == NICCLOCK_POINTS) {
		for (i = 1; i < NICCLOCK_POINTS; i++)
			points[i - 1] = points[i];
		core->count--;
	}
	points[core->count++] = (struct nicclock_point) {
		.stamp = bucket->stamp,
		.now_ns = bucket->now_ns,
		.late_ns = min_t(s64, bucket->first_late_ns - bucket->late_ns,
				 NICCLOCK_FAR_NS),
	};
	if (core->fit != NICCLOCK_SYNCHRONISED ||
	    bucket->late_ns <= core->off_max_ns + (gap >> NICCLOCK_SLEW_LATE)) {
		core->late_buckets = 0;
		return true;
	}
	if (++core->late_buckets < NICCLOCK_STEP_BUCKETS)
		return false;
	for (i = 0; i < core->late_buckets; i++)
		points[i] = points[core->count - core->late_buckets + i];
	core->count = core->late_buckets;
	core->late_buckets = 0;
	WRITE_ONCE(core->late_run, 0);
	WRITE_ONCE(core->steps, core->steps + 1);
	return true;
}

/* End the bucket; returns false if the clock went back by more than its duration. */
static bool nicclock_end_bucket(struct nicclock_core *core)
{
	u32 count = core->count;

	if (count && (s64)(core->bucket.stamp -
			   core->points[count - 1].stamp) <= 0)
		return false;
	if (nicclock_add_point(core))
		nicclock_fit(core);
	core->bucket.count = 0;
	core->odd = 0;
	return true;
}

static bool nicclock_bucket_ends(const struct nicclock_bucket *bucket, u64 now_ns)
{
	if (!bucket->count)
		return false;
	if (bucket->count == NICCLOCK_BUCKET_MIN &&
	    (s64)(now_ns - bucket->full_ns) >= 0)
		return true;
	return (s64)(now_ns - bucket->start_ns) >= NICCLOCK_BUCKET_MAX_NS;
}

static void nicclock_fill_bucket(struct nicclock_bucket *bucket, u64 now_ns, u64 stamp, s64 late_ns)
{
	if (!bucket->count) {
		bucket->start_ns = now_ns;
		WRITE_ONCE(bucket->full_ns, now_ns);
		bucket->first_late_ns = late_ns;
	}
	if (!bucket->count || late_ns < bucket->late_ns) {
		bucket->stamp = stamp;
		bucket->now_ns = now_ns;
		WRITE_ONCE(bucket->late_ns, late_ns);
	}
	if (bucket->count < NICCLOCK_BUCKET_MIN &&
	    ++bucket->count == NICCLOCK_BUCKET_MIN)
		WRITE_ONCE(bucket->full_ns,
			   bucket->start_ns + NICCLOCK_BUCKET_NS);
}

/* ---- observations ---- */

/* Lower the line by @by_ns: no packet is observed before its arrival. */
static void nicclock_lower(struct nicclock_core *core, s64 by_ns)
{
	core->map.now_ns -= by_ns;
	core->bucket.first_late_ns += by_ns;
	WRITE_ONCE(core->bucket.late_ns, 0);
}

static void nicclock_note_late(struct nicclock_core *core, u64 now_ns, s64 late_ns)
{
	if (late_ns <= core->map.late_max_ns) {
		WRITE_ONCE(core->late_run, 0);
		return;
	}
	if (!core->late_run)
		core->late_since_ns = now_ns;
	if (core->late_run < NICCLOCK_DOUBT_RUN)
		WRITE_ONCE(core->late_run, core->late_run + 1);
}

/* Count an observation for the anchor. */
static void nicclock_note_anchor(struct nicclock_core *core, u64 now_ns)
{
	if (core->anchor_seen == core->anchor_min || !nicclock_anchor_holds(core, now_ns))
		return;
	if (++core->anchor_seen == core->anchor_min)
		core->map.early_max_ns = NICCLOCK_LATE_MAX_NS;
}

static u32 nicclock_core_state(const struct nicclock_core *core, u64 now_ns)
{
	bool anchored = core->fit == NICCLOCK_LEARNING && core->anchor_min &&
			core->anchor_seen == core->anchor_min;

	if (core->fit != NICCLOCK_SYNCHRONISED && !anchored)
		return core->fit;
	if (core->late_buckets ||
	    (core->late_run == NICCLOCK_DOUBT_RUN &&
	     (s64)(now_ns - core->late_since_ns) >= NICCLOCK_DOUBT_NS))
		return NICCLOCK_DOUBT;
	return anchored ? NICCLOCK_ANCHORED : NICCLOCK_SYNCHRONISED;
}

/* Process an observation in full. Not inline, to keep the shortcut short. */
static noinline bool nicclock_process(struct nicclock_core *core, u64 now_ns, u64 stamp,
				      s64 late_ns)
{
	struct nicclock_map *map = &core->map;
	u32 state = map->state;
	bool changed = false;

	if (map->state == NICCLOCK_NO_STAMPS ||
	    (s64)(now_ns - map->now_ns) > NICCLOCK_IDLE_NS) {
		nicclock_restart(core, now_ns, stamp);
		changed = true;
	} else if (late_ns < -nicclock_map_early_max(map, now_ns) ||
		   late_ns > NICCLOCK_FAR_NS) {
		if (++core->odd < NICCLOCK_STEP_RUN)
			return false;
		nicclock_step(core, now_ns, stamp);
		changed = true;
	}
	if (nicclock_bucket_ends(&core->bucket, now_ns)) {
		if (!nicclock_end_bucket(core))
			nicclock_step(core, now_ns, stamp);
		changed = true;
	}
	if (nicclock_was_idle(core, now_ns)) {
		nicclock_resume(core, now_ns, stamp);
		changed = true;
	}
	if (changed)
		late_ns = nicclock_map_late(map, now_ns, stamp);
	nicclock_note_anchor(core, now_ns);
	nicclock_note_late(core, now_ns, late_ns);
	nicclock_fill_bucket(&core->bucket, now_ns, stamp, late_ns);
	if (late_ns < 0) {
		nicclock_lower(core, -late_ns);
		changed = true;
	}
	map->state = nicclock_core_state(core, now_ns);
	return changed || map->state != state;
}

/*
 * Is the observation merely to be counted? It is neither early, suspect nor the best of
 * its bucket, which neither starts nor ends with it. This shortcut of
 * nicclock_core_observe() covers most of the observations that readers report.
 */
static bool nicclock_only_counts(const struct nicclock_core *core, u64 now_ns, s64 late_ns)
{
	const struct nicclock_bucket *bucket = &core->bucket;

	return core->map.state == NICCLOCK_SYNCHRONISED && !core->late_run &&
	       bucket->count - 1 < NICCLOCK_BUCKET_MIN - 2 &&
	       late_ns >= bucket->late_ns && late_ns >= 0 && late_ns <= core->map.late_max_ns &&
	       (s64)(now_ns - bucket->start_ns) < NICCLOCK_BUCKET_MAX_NS &&
	       (s64)(now_ns - core->map.now_ns) <= NICCLOCK_AGE_MAX_NS;
}

/**
 * nicclock_core_observe() - learn from a packet
 * @core: state
 * @now_ns: host time, read after the arrival of the packet
 * @stamp: NIC time of its arrival
 *
 * Return: true if the map may have changed.
 */
bool nicclock_core_observe(struct nicclock_core *core, u64 now_ns, u64 stamp)
{
	s64 late_ns = nicclock_map_late(&core->map, now_ns, stamp);

	if (nicclock_only_counts(core, now_ns, late_ns)) {
		core->bucket.count++;
		return false;
	}
	return nicclock_process(core, now_ns, stamp, late_ns);
}
