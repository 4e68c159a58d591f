/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a NIC's clock relates to the host's, learnt from received packets alone,
 * in plain C
 *
 * A packet that the NIC stamped is seen at host time now, some latency after
 * it came:
 *
 *	now = stamp + offset(stamp) + latency,	latency >= 0
 *
 * so the points (stamp, now - stamp) lie on or above the wanted line
 * offset(stamp). The point with the least latency is kept of each bucket of
 * 10 ms, or more if there are few packets, and of the lower convex hull of the
 * last 16 such points the edge at their mean time is the line: of all lines
 * below the points, the one that is closest to them. What remains is the least
 * latency itself, a constant that nobody can see from here.
 *
 *	now - stamp
 *	   |	  .   .	     .	 .	. observations
 *	   |  .	    .  o .    .	  .  .	o least of its bucket
 *	   | o . .	 ___o---.--	line: an edge of the lower hull
 *	   |  ___o---o---     .	 o
 *	   +-------------------------- stamp
 *
 * The line is also the judge of what follows. That is late how much a packet
 * came after the line.
 *
 *	what is seen			what it may be		what is done
 *	early, a little			noise, slewing		line goes down
 *	early, or 100 ms late		step, bad stamp		refused; the 3rd
 *								in a bucket: restart
 *	8 in a row late, for 2 ms	step back, busy host	doubt till one is not
 *	a bucket late			the same, slewing	doubt till one is not
 *	8 buckets late			step back, slewing	line through these
 *	nothing for 250 ms		idle			anchor
 *	nothing for 10 minutes		idle			restart
 *
 * "Late" means later than packets have lately been: the bounds follow from the
 * medians of the last buckets. In doubt, as while it learns, as when the last
 * bucket is too long ago, the map answers no question.
 *
 * Many hosts are idle but for a few ms now and then: less than eight buckets. So
 * there is an answer before the line: an anchor, the least latency of the
 * packets since traffic began again, and the skew that was known before. The
 * first anchor takes 16 packets. Without a skew it holds for 20 ms, in which
 * 100 ppm are 2 us. A later one takes 4 packets, and is at most as far above
 * the old line as clocks drift. It is never worse than the host's own stamps: no
 * latency is less than the least. Two anchors give a skew, too. After a step or
 * noise, when stamps have not been what they seemed, there is no anchor: after
 * a step until an idle period has confirmed the clock, after noise until a line
 * has.
 *
 * A step back by less than the bounds is a step that is taken for latency; the
 * line follows within 160 ms, and is off by that much till then. A latency
 * that is there in each packet for 8 buckets is taken for a step back.
 *
 * All times are u64 and differences are taken modulo 2^64, so that clocks may
 * wrap, and stamps may be negative.
 *
 * The convex hull: S. B. Moon, P. Skelly, D. Towsley, "Estimation and Removal
 * of Clock Skew from Network Delay Measurements", INFOCOM 1999; L. Zhang,
 * Z. Liu, C. H. Xia, "Clock Synchronization Algorithms for Network
 * Measurements", INFOCOM 2002.
 */
#ifndef _CLOSNET_NICCLOCK_CORE_H
#define _CLOSNET_NICCLOCK_CORE_H

#include <closnet/core.h>

/* Buckets: how many, from how many on there is a line that counts */
#define NICCLOCK_POINTS		16
#define NICCLOCK_POINTS_MIN	8

/*
 * A bucket ends after BUCKET_NS, if there are so many observations in it that
 * one of them is likely to be good; and in any case after BUCKET_MAX_NS.
 */
#define NICCLOCK_BUCKET_NS	10000000
#define NICCLOCK_BUCKET_MAX_NS	100000000
#define NICCLOCK_BUCKET_MIN	16

/* Fraction bits of the skew, and of them those in use: below 2^-10, 977 ppm */
#define NICCLOCK_SKEW_SHIFT	40
#define NICCLOCK_SKEW_MAX_SHIFT	30

/* The line is made of points of so many ns at most: no product overflows. */
#define NICCLOCK_SPAN_MAX_NS	2000000000

/*
 * With buckets whose median is farther from the line, there is no map: a share
 * of how late packets are in their median, so that a map is always better than
 * the host's own stamps; at least; at most.
 */
#define NICCLOCK_NOISE_SHARE	4
#define NICCLOCK_NOISE_MIN_NS	2000
#define NICCLOCK_NOISE_MAX_NS	50000

/* How far a bucket may be from the line: multiple of the median, at least */
#define NICCLOCK_OFF_FACTOR	6
#define NICCLOCK_OFF_MIN_NS	2000

/* How late packets may be: multiple of the median, at least, at most */
#define NICCLOCK_LATE_FACTOR	4
#define NICCLOCK_LATE_MIN_NS	20000
#define NICCLOCK_LATE_MAX_NS	1000000

/* Doubt: so many in a row are late, for so long */
#define NICCLOCK_DOUBT_RUN	8
#define NICCLOCK_DOUBT_NS	2000000

/* Steps: what no latency explains, and how often; buckets that are late */
#define NICCLOCK_FAR_NS		100000000
#define NICCLOCK_STEP_RUN	3
#define NICCLOCK_STEP_BUCKETS	8

/* Slewing that is believed since the last bucket, as shifts: 122, 15 ppm */
#define NICCLOCK_SLEW_EARLY	13
#define NICCLOCK_SLEW_LATE	16

/* The map ends so long after its last point (or its own length) */
#define NICCLOCK_AGE_MAX_NS	250000000

/* Idle time after which the skew is forgotten */
#define NICCLOCK_IDLE_NS	600000000000

/*
 * Anchors: how many observations the first and later ones take, within AGE_NS;
 * how long one holds whose skew is not known
 */
#define NICCLOCK_ANCHOR_FIRST	16
#define NICCLOCK_ANCHOR_LATER	4
#define NICCLOCK_ANCHOR_AGE_NS	20000000

/*
 * What is out of the map's reach is as early or as late as NEVER_NS. Beyond
 * NEAR_NS the skew's low bits are dropped, so that no product overflows.
 */
#define NICCLOCK_NEAR_NS	((s64)1 << 31)
#define NICCLOCK_REACH_NS	((s64)1 << 41)
#define NICCLOCK_FAR_SHIFT	10
#define NICCLOCK_NEVER_NS	((s64)1 << 62)

/**
 * enum nicclock_state - what a map is good for
 * @NICCLOCK_NO_STAMPS: nothing was seen
 * @NICCLOCK_LEARNING: there are too few points
 * @NICCLOCK_NOISY: the points are not on a line
 * @NICCLOCK_DOUBT: what comes is late
 * @NICCLOCK_ANCHORED: there is no line, but an anchor: the map answers
 * @NICCLOCK_SYNCHRONISED: there is a line: the map answers
 */
enum nicclock_state {
	NICCLOCK_NO_STAMPS,
	NICCLOCK_LEARNING,
	NICCLOCK_NOISY,
	NICCLOCK_DOUBT,
	NICCLOCK_ANCHORED,
	NICCLOCK_SYNCHRONISED,
};

/**
 * enum nicclock_trust - may there be an anchor?
 * @NICCLOCK_TRUST: yes
 * @NICCLOCK_STEPPED: the clock has stepped; not until an idle period is over
 * @NICCLOCK_DISTRUST: stamps were noisy; not until they are not
 */
enum nicclock_trust {
	NICCLOCK_TRUST,
	NICCLOCK_STEPPED,
	NICCLOCK_DISTRUST,
};

/**
 * struct nicclock_map - the line, and what to think of what is not on it
 * @stamp: NIC time of the last point
 * @now_ns: host time of that, by the line
 * @skew: how much longer the host's seconds are, Q.40
 * @age_max_ns: how long after @now_ns the map holds
 * @early_max_ns: how early a packet may be, without slewing
 * @late_max_ns: later than this is worth a note
 * @state: enum nicclock_state
 */
struct nicclock_map {
	u64 stamp;
	u64 now_ns;
	s64 skew;
	u32 age_max_ns;
	u32 early_max_ns;
	u32 late_max_ns;
	u32 state;
};

/**
 * struct nicclock_point - the best observation of a bucket
 * @stamp: NIC time
 * @now_ns: host time when it was seen
 * @late_ns: of the bucket's first observation, how much later it is than this
 */
struct nicclock_point {
	u64 stamp;
	u64 now_ns;
	u32 late_ns;
};

/**
 * struct nicclock_bucket - the observations since the last point
 * @start_ns: host time of the first
 * @full_ns: host time from which on it may end; before it has NICCLOCK_BUCKET_MIN
 *	observations this is @start_ns
 * @stamp: the best observation: NIC time
 * @now_ns: its host time
 * @late_ns: how late it was, by the map
 * @first_late_ns: how late the first was
 * @count: observations, up to NICCLOCK_BUCKET_MIN
 */
struct nicclock_bucket {
	u64 start_ns;
	u64 full_ns;
	u64 stamp;
	u64 now_ns;
	s64 late_ns;
	s64 first_late_ns;
	u32 count;
};

/**
 * struct nicclock_core - all that is known of a NIC's clock
 * @map: what readers get a copy of
 * @bucket: the present one
 * @points: the last ones, oldest first
 * @count: of @points
 * @fit: enum nicclock_state, doubt apart
 * @off_max_ns: how far the next bucket may be from the line
 * @late_since_ns: since when all observations have been late
 * @late_run: how many, up to NICCLOCK_DOUBT_RUN
 * @late_buckets: buckets in a row that were late
 * @odd: observations of this bucket that no latency explains
 * @trust: enum nicclock_trust
 * @anchor_min: observations that the anchor takes; 0: there is none
 * @anchor_seen: how many there were, up to @anchor_min
 * @anchor_ns: host time of the first
 * @skew_known: @skew is one
 * @mark_known: the next two are valid
 * @mark_stamp: an earlier place on the line: NIC time
 * @mark_now_ns: host time of that
 * @skew: the last known, Q.40; or 0
 * @steps: how often the clock has stepped, or slewed too fast
 */
struct nicclock_core {
	struct nicclock_map map;
	struct nicclock_bucket bucket;
	struct nicclock_point points[NICCLOCK_POINTS];
	u32 count;
	u32 fit;
	u32 off_max_ns;
	u64 late_since_ns;
	u32 late_run;
	u32 late_buckets;
	u32 odd;
	u32 trust;
	u32 anchor_min;
	u32 anchor_seen;
	u64 anchor_ns;
	bool skew_known;
	bool mark_known;
	u64 mark_stamp;
	u64 mark_now_ns;
	s64 skew;
	u64 steps;
};

/* ---- the map: for readers ---- */

static inline bool nicclock_is_near(s64 ns)
{
	return (u64)ns + NICCLOCK_NEAR_NS < 2 * (u64)NICCLOCK_NEAR_NS;
}

/* How far the offset goes in that time, which is within NICCLOCK_REACH_NS */
static inline s64 nicclock_skewed(s64 skew, s64 ns)
{
	if (likely(nicclock_is_near(ns)))
		return skew * ns >> NICCLOCK_SKEW_SHIFT;
	return skew * (ns >> NICCLOCK_FAR_SHIFT) >> (NICCLOCK_SKEW_SHIFT - NICCLOCK_FAR_SHIFT);
}

/**
 * nicclock_map_late() - how late a packet is
 * @map: the map
 * @now_ns: host time
 * @stamp: NIC time when the packet came
 *
 * Return: @now_ns - host time when it came, by the map, be it trusted or not.
 */
static inline s64 nicclock_map_late(const struct nicclock_map *map, u64 now_ns,
				    u64 stamp)
{
	s64 since = stamp - map->stamp;

	if (unlikely(!nicclock_is_near(since))) {
		if (since >= NICCLOCK_REACH_NS)
			return -NICCLOCK_NEVER_NS;
		if (since <= -NICCLOCK_REACH_NS)
			return NICCLOCK_NEVER_NS;
	}
	return (s64)(now_ns - map->now_ns) - since - nicclock_skewed(map->skew, since);
}

/* How early a packet may be and not contradict the map */
static inline s64 nicclock_map_early_max(const struct nicclock_map *map,
					 u64 now_ns)
{
	s64 age = now_ns - map->now_ns;

	return map->early_max_ns + (age >> NICCLOCK_SLEW_EARLY);
}

/**
 * nicclock_map_answers() - is the map to be believed?
 * @map: the map
 * @now_ns: host time
 * @late_ns: how late the packet is
 *
 * Return: if so, it came at @now_ns - @late_ns, or at @now_ns if it is early.
 */
static inline bool nicclock_map_answers(const struct nicclock_map *map,
					u64 now_ns, s64 late_ns)
{
	return map->state >= NICCLOCK_ANCHORED &&
	       (s64)(now_ns - map->now_ns) <= (s64)map->age_max_ns &&
	       late_ns <= NICCLOCK_LATE_MAX_NS &&
	       late_ns >= -nicclock_map_early_max(map, now_ns);
}

/**
 * nicclock_core_wants() - would an observation change anything?
 * @core: the NIC's; other CPUs may be changing it
 * @map: a copy of its map
 * @now_ns: host time
 * @late_ns: how late the packet is
 *
 * Most do not.
 *
 * Return: false if it would not; true, in error, costs time only.
 */
static inline bool nicclock_core_wants(const struct nicclock_core *core,
				       const struct nicclock_map *map,
				       u64 now_ns, s64 late_ns)
{
	return late_ns < READ_ONCE(core->bucket.late_ns) ||
	       (s64)(now_ns - READ_ONCE(core->bucket.full_ns)) >= 0 ||
	       late_ns > map->late_max_ns || READ_ONCE(core->late_run);
}

/* ---- the line ---- */

/*
 * Points as the line wants them: relative to the newest, and its offset
 */
struct nicclock_cloud {
	s64 x[NICCLOCK_POINTS];
	s64 y[NICCLOCK_POINTS];
	u32 count;
};

/* Drops what is too old, or too far away to multiply with. */
static inline void nicclock_cloud_get(struct nicclock_cloud *cloud,
				      struct nicclock_core *core)
{
	const struct nicclock_point *last = &core->points[core->count - 1];
	u32 i, from = core->count;
	s64 x, y;

	while (from) {
		const struct nicclock_point *p = &core->points[from - 1];

		x = p->stamp - last->stamp;
		y = p->now_ns - last->now_ns - x;
		if (x < -NICCLOCK_SPAN_MAX_NS ||
		    y < -NICCLOCK_SPAN_MAX_NS / 2 ||
		    y > NICCLOCK_SPAN_MAX_NS / 2)
			break;
		from--;
		cloud->x[from] = x;
		cloud->y[from] = y;
	}
	core->count -= from;
	cloud->count = core->count;
	for (i = 0; from && i < core->count; i++) {
		core->points[i] = core->points[i + from];
		cloud->x[i] = cloud->x[i + from];
		cloud->y[i] = cloud->y[i + from];
	}
}

/* Is point b on or above the line from a to c? */
static inline bool nicclock_above(const struct nicclock_cloud *cloud, u32 a,
				  u32 b, u32 c)
{
	const s64 *x = cloud->x, *y = cloud->y;

	return (y[b] - y[a]) * (x[c] - x[a]) >= (y[c] - y[a]) * (x[b] - x[a]);
}

/*
 * The ends of the lower hull's edge at the mean time; there are at least two
 * points.
 */
static inline void nicclock_edge(const struct nicclock_cloud *cloud,
				 u32 *left, u32 *right)
{
	u32 hull[NICCLOCK_POINTS], corners = 0, i;
	s64 sum = 0;

	for (i = 0; i < cloud->count; i++) {
		while (corners >= 2 &&
		       nicclock_above(cloud, hull[corners - 2],
				      hull[corners - 1], i))
			corners--;
		hull[corners++] = i;
		sum += cloud->x[i];
	}
	for (i = 1; i < corners - 1; i++)
		if (cloud->x[hull[i]] * cloud->count > sum)
			break;
	*left = hull[i - 1];
	*right = hull[i];
}

/* Sorts the values. */
static inline u32 nicclock_median(u32 *values, u32 count)
{
	u32 i, j, value;

	for (i = 1; i < count; i++) {
		value = values[i];
		for (j = i; j && values[j - 1] > value; j--)
			values[j] = values[j - 1];
		values[j] = value;
	}
	return values[count / 2];
}

/* dy / dx in Q.40, for a dx in reach; false if that is more than any clock's */
static inline bool nicclock_skew(s64 dy, s64 dx, s64 *skew)
{
	s64 max;

	if (dx > NICCLOCK_SPAN_MAX_NS) {
		dx >>= NICCLOCK_FAR_SHIFT;
		dy >>= NICCLOCK_FAR_SHIFT;
	}
	max = dx >> (NICCLOCK_SKEW_SHIFT - NICCLOCK_SKEW_MAX_SHIFT);
	if (dy > max || dy < -max)
		return false;
	*skew = div64_s64(dy * ((s64)1 << NICCLOCK_SKEW_SHIFT), dx);
	return true;
}

/* What may be expected of buckets and packets, and whether the line is one */
static inline void nicclock_judge(struct nicclock_core *core,
				  const struct nicclock_cloud *cloud, s64 base,
				  bool steep)
{
	struct nicclock_map *map = &core->map;
	u32 off[NICCLOCK_POINTS], late[NICCLOCK_POINTS];
	u32 noise, noise_max, last, late_ns, i;
	s64 above;

	for (i = 0; i < cloud->count; i++) {
		above = cloud->y[i] - base -
			(map->skew * cloud->x[i] >> NICCLOCK_SKEW_SHIFT);
		off[i] = max_t(s64, above, 0);
		late[i] = core->points[i].late_ns;
	}
	last = off[cloud->count - 1];
	noise = nicclock_median(off, cloud->count);
	late_ns = min_t(u32, nicclock_median(late, cloud->count),
			NICCLOCK_LATE_MAX_NS);
	noise_max = min_t(u32, max_t(u32, late_ns / NICCLOCK_NOISE_SHARE,
				     NICCLOCK_NOISE_MIN_NS),
			  NICCLOCK_NOISE_MAX_NS);
	core->off_max_ns = max_t(u32, NICCLOCK_OFF_MIN_NS,
				 min_t(u32, noise, noise_max) *
				 NICCLOCK_OFF_FACTOR);
	map->late_max_ns = min_t(u32, max_t(u32, late_ns * NICCLOCK_LATE_FACTOR,
					    NICCLOCK_LATE_MIN_NS),
				 NICCLOCK_LATE_MAX_NS);
	if (cloud->count < NICCLOCK_POINTS_MIN) {
		core->fit = NICCLOCK_LEARNING;
	} else if (steep || noise > noise_max || last > core->off_max_ns) {
		core->fit = NICCLOCK_NOISY;
		core->trust = NICCLOCK_DISTRUST;
	} else {
		core->fit = NICCLOCK_SYNCHRONISED;
		core->trust = NICCLOCK_TRUST;
	}
	map->early_max_ns = core->fit == NICCLOCK_SYNCHRONISED ? core->off_max_ns :
			    core->anchor_min ? NICCLOCK_LATE_MAX_NS : NICCLOCK_FAR_NS;
}

/*
 * The line below the points that is closest to them: its skew, and how far it is
 * below the last point. False if it is too steep: there was a step, and any line
 * will do till that is forgotten.
 */
static inline bool nicclock_lay(const struct nicclock_cloud *cloud, s64 *skew, s64 *base)
{
	u32 left, right;

	*skew = 0;
	*base = 0;
	if (cloud->count == 1)
		return true;
	nicclock_edge(cloud, &left, &right);
	if (!nicclock_skew(cloud->y[right] - cloud->y[left], cloud->x[right] - cloud->x[left],
			   skew))
		return false;
	*base = cloud->y[right] - nicclock_skewed(*skew, cloud->x[right]);
	return true;
}

/* The same of the anchor, by the points since it began */
static inline s64 nicclock_lay_anchor(const struct nicclock_core *core,
				      const struct nicclock_cloud *cloud)
{
	s64 base = 0;
	u32 i;

	for (i = 0; i < cloud->count; i++)
		if ((s64)(core->points[i].now_ns - core->anchor_ns) >= 0)
			base = min_t(s64, base, cloud->y[i] -
				     nicclock_skewed(core->skew, cloud->x[i]));
	return base;
}

/* Is the anchor valid at that host time? */
static inline bool nicclock_anchor_holds(const struct nicclock_core *core, u64 now_ns)
{
	if (!core->anchor_min)
		return false;
	return (core->skew_known && core->anchor_seen == core->anchor_min) ||
	       (s64)(now_ns - core->anchor_ns) <= NICCLOCK_ANCHOR_AGE_NS;
}

/* From the points to the map */
static inline void nicclock_fit(struct nicclock_core *core)
{
	struct nicclock_map *map = &core->map;
	struct nicclock_cloud cloud;
	const struct nicclock_point *last;
	bool steep = false;
	s64 age_ns, base;

	nicclock_cloud_get(&cloud, core);
	last = &core->points[cloud.count - 1];
	if (cloud.count >= NICCLOCK_POINTS_MIN || !nicclock_anchor_holds(core, last->now_ns))
		core->anchor_min = 0;
	if (core->anchor_min) {
		map->skew = core->skew;
		base = nicclock_lay_anchor(core, &cloud);
		age_ns = core->skew_known ? NICCLOCK_AGE_MAX_NS :
		       (s64)(core->anchor_ns + NICCLOCK_ANCHOR_AGE_NS - last->now_ns);
	} else {
		steep = !nicclock_lay(&cloud, &map->skew, &base);
		age_ns = -cloud.x[0];
	}
	map->stamp = last->stamp;
	map->now_ns = last->now_ns + base;
	map->age_max_ns = min_t(s64, age_ns, NICCLOCK_AGE_MAX_NS);
	nicclock_judge(core, &cloud, base, steep);
}

/* ---- observations ---- */

/*
 * Start the line at this observation, with the known skew. It is an anchor after
 * @min observations.
 */
static inline void nicclock_anchor(struct nicclock_core *core, u64 now_ns, u64 stamp, u32 min)
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
static inline void nicclock_restart(struct nicclock_core *core, u64 now_ns,
				    u64 stamp)
{
	core->count = 0;
	core->fit = NICCLOCK_LEARNING;
	core->skew = 0;
	core->skew_known = false;
	core->mark_known = false;
	core->map.late_max_ns = NICCLOCK_FAR_NS;
	nicclock_anchor(core, now_ns, stamp, NICCLOCK_ANCHOR_FIRST);
}

static inline void nicclock_step(struct nicclock_core *core, u64 now_ns, u64 stamp)
{
	WRITE_ONCE(core->steps, core->steps + 1);
	core->trust = max_t(u32, core->trust, NICCLOCK_STEPPED);
	nicclock_restart(core, now_ns, stamp);
}

/* Keep the skew of the line, or that between two anchors. */
static inline void nicclock_keep_skew(struct nicclock_core *core)
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
 * Start an anchor at the first observation after an idle period, bounded by the
 * old line and the drift of clocks.
 */
static inline void nicclock_resume(struct nicclock_core *core, u64 now_ns, u64 stamp)
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
static inline bool nicclock_was_idle(const struct nicclock_core *core, u64 now_ns)
{
	s64 idle_ns = now_ns - core->map.now_ns;

	if (core->fit == NICCLOCK_LEARNING && core->trust == NICCLOCK_TRUST)
		return !core->bucket.count && idle_ns > NICCLOCK_ANCHOR_AGE_NS;
	return idle_ns > NICCLOCK_AGE_MAX_NS;
}

/* The bucket's best observation becomes a point; may the line be laid anew? */
static inline bool nicclock_add_point(struct nicclock_core *core)
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

/*
 * Ends the bucket, unless the clock has gone back by more than that: then
 * false.
 */
static inline bool nicclock_end_bucket(struct nicclock_core *core)
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

static inline bool nicclock_bucket_ends(const struct nicclock_bucket *bucket,
					u64 now_ns)
{
	if (!bucket->count)
		return false;
	if (bucket->count == NICCLOCK_BUCKET_MIN &&
	    (s64)(now_ns - bucket->full_ns) >= 0)
		return true;
	return (s64)(now_ns - bucket->start_ns) >= NICCLOCK_BUCKET_MAX_NS;
}

static inline void nicclock_fill_bucket(struct nicclock_bucket *bucket,
					u64 now_ns, u64 stamp, s64 late_ns)
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

/* Nothing comes before it came: the line is too high by that much. */
static inline void nicclock_lower(struct nicclock_core *core, s64 by_ns)
{
	core->map.now_ns -= by_ns;
	core->bucket.first_late_ns += by_ns;
	WRITE_ONCE(core->bucket.late_ns, 0);
}

static inline void nicclock_note_late(struct nicclock_core *core, u64 now_ns,
				      s64 late_ns)
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

/* Count an observation towards the anchor. */
static inline void nicclock_note_anchor(struct nicclock_core *core, u64 now_ns)
{
	if (core->anchor_seen == core->anchor_min || !nicclock_anchor_holds(core, now_ns))
		return;
	if (++core->anchor_seen == core->anchor_min)
		core->map.early_max_ns = NICCLOCK_LATE_MAX_NS;
}

static inline u32 nicclock_core_state(const struct nicclock_core *core,
				      u64 now_ns)
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

/**
 * nicclock_core_observe() - learn from a packet
 * @core: the NIC's
 * @now_ns: host time, read after the packet had come
 * @stamp: NIC time when it came
 *
 * Return: the map may have changed.
 */
static inline bool nicclock_core_observe(struct nicclock_core *core,
					 u64 now_ns, u64 stamp)
{
	struct nicclock_map *map = &core->map;
	s64 late_ns = nicclock_map_late(map, now_ns, stamp);
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

#endif /* _CLOSNET_NICCLOCK_CORE_H */
