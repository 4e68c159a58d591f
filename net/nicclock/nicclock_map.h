/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * nicclock: state and map of a NIC's clock; interface of nicclock_core.c
 *
 * The functions here are inline, as readers call them for each timestamp.
 */
#ifndef _NICCLOCK_MAP_H
#define _NICCLOCK_MAP_H

#include <closnet/core.h>

/* Number of buckets in the fit */
#define NICCLOCK_POINTS		16

/* Fraction bits of the skew */
#define NICCLOCK_SKEW_SHIFT	40

/* Maximum lateness of a packet that the map answers for */
#define NICCLOCK_LATE_MAX_NS	1000000

/* Lateness or earliness that no latency explains */
#define NICCLOCK_FAR_NS		100000000

/* Accepted slewing since the last bucket, as shifts: 122 ppm early, 15 ppm late */
#define NICCLOCK_SLEW_EARLY	13
#define NICCLOCK_SLEW_LATE	16

/* Maximum validity of the map after its last point */
#define NICCLOCK_AGE_MAX_NS	250000000

/*
 * Anchors: number of observations for the first and for later ones, within AGE_NS,
 * which is also the validity of an anchor without a known skew
 */
#define NICCLOCK_ANCHOR_FIRST	16
#define NICCLOCK_ANCHOR_LATER	4
#define NICCLOCK_ANCHOR_AGE_NS	20000000

/*
 * Beyond NEAR_NS, the low bits of the skew are dropped to avoid overflow. Beyond
 * REACH_NS, a packet counts as early or late by NEVER_NS.
 */
#define NICCLOCK_NEAR_NS	((s64)1 << 31)
#define NICCLOCK_REACH_NS	((s64)1 << 41)
#define NICCLOCK_FAR_SHIFT	10
#define NICCLOCK_NEVER_NS	((s64)1 << 62)

/**
 * enum nicclock_state - quality of a map
 * @NICCLOCK_NO_STAMPS: no observations
 * @NICCLOCK_LEARNING: too few points
 * @NICCLOCK_NOISY: the points do not form a line
 * @NICCLOCK_DOUBT: observations are late
 * @NICCLOCK_ANCHORED: no line, but an anchor: the map answers
 * @NICCLOCK_SYNCHRONISED: a line: the map answers
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
 * enum nicclock_trust - condition for anchors
 * @NICCLOCK_TRUST: anchors are permitted
 * @NICCLOCK_STEPPED: the clock has stepped: no anchor until after an idle period
 * @NICCLOCK_DISTRUST: timestamps were noisy: no anchor until they form a line
 */
enum nicclock_trust {
	NICCLOCK_TRUST,
	NICCLOCK_STEPPED,
	NICCLOCK_DISTRUST,
};

/**
 * struct nicclock_map - line that maps NIC time to host time
 * @stamp: NIC time of the last point
 * @now_ns: host time of the line at @stamp
 * @skew: relative excess of the host's rate, Q.40
 * @age_max_ns: validity after @now_ns
 * @early_max_ns: maximum earliness of a packet, without slewing
 * @late_max_ns: lateness from which on packets are suspect
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
 * struct nicclock_point - best observation of a bucket
 * @stamp: NIC time
 * @now_ns: host time
 * @late_ns: lateness of the bucket's first observation, compared with this one
 */
struct nicclock_point {
	u64 stamp;
	u64 now_ns;
	u32 late_ns;
};

/**
 * struct nicclock_bucket - observations since the last point
 * @start_ns: host time of the first one
 * @full_ns: earliest end of the bucket, host time; @start_ns as long as it has less
 *	than NICCLOCK_BUCKET_MIN observations
 * @stamp: best observation: NIC time
 * @now_ns: best observation: host time
 * @late_ns: best observation: lateness by the map
 * @first_late_ns: lateness of the first observation
 * @count: observations, saturates at NICCLOCK_BUCKET_MIN
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
 * struct nicclock_core - state of a NIC's clock
 * @map: map; readers use a copy
 * @bucket: present bucket
 * @points: last points, oldest first
 * @count: number of @points
 * @fit: enum nicclock_state of the points, without doubt
 * @off_max_ns: maximum distance of the next bucket from the line
 * @late_since_ns: host time since which all observations have been late
 * @late_run: consecutive late observations, saturates at NICCLOCK_DOUBT_RUN
 * @late_buckets: consecutive late buckets
 * @odd: observations of this bucket that no latency explains
 * @trust: enum nicclock_trust
 * @anchor_min: observations that the anchor needs; 0: no anchor
 * @anchor_seen: observations of the anchor, saturates at @anchor_min
 * @anchor_ns: host time of the first one
 * @skew_known: @skew is valid
 * @mark_known: @mark_stamp and @mark_now_ns are valid
 * @mark_stamp: earlier point of the line: NIC time
 * @mark_now_ns: earlier point of the line: host time
 * @skew: last known skew, Q.40; or 0
 * @steps: number of steps of the clock, and of slews that were too fast
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

static inline bool nicclock_is_near(s64 ns)
{
	return (u64)ns + NICCLOCK_NEAR_NS < 2 * (u64)NICCLOCK_NEAR_NS;
}

/* Change of the offset in @ns, at most NICCLOCK_REACH_NS */
static inline s64 nicclock_skewed(s64 skew, s64 ns)
{
	if (likely(nicclock_is_near(ns)))
		return skew * ns >> NICCLOCK_SKEW_SHIFT;
	return skew * (ns >> NICCLOCK_FAR_SHIFT) >> (NICCLOCK_SKEW_SHIFT - NICCLOCK_FAR_SHIFT);
}

/**
 * nicclock_map_late() - lateness of a packet
 * @map: map
 * @now_ns: host time
 * @stamp: NIC time when the packet arrived
 *
 * Return: @now_ns less the arrival in host time by the map, trusted or not.
 */
static inline s64 nicclock_map_late(const struct nicclock_map *map, u64 now_ns, u64 stamp)
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

/* Earliness up to which a packet does not contradict the map */
static inline s64 nicclock_map_early_max(const struct nicclock_map *map, u64 now_ns)
{
	s64 age = now_ns - map->now_ns;

	return map->early_max_ns + (age >> NICCLOCK_SLEW_EARLY);
}

/**
 * nicclock_map_answers() - check whether the map is trusted for a packet
 * @map: map
 * @now_ns: host time
 * @late_ns: lateness of the packet
 *
 * Return: true if the packet arrived at @now_ns - @late_ns, or at @now_ns if early.
 */
static inline bool nicclock_map_answers(const struct nicclock_map *map, u64 now_ns, s64 late_ns)
{
	return map->state >= NICCLOCK_ANCHORED &&
	       (s64)(now_ns - map->now_ns) <= (s64)map->age_max_ns &&
	       late_ns <= NICCLOCK_LATE_MAX_NS &&
	       late_ns >= -nicclock_map_early_max(map, now_ns);
}

/**
 * nicclock_core_wants() - check whether an observation may change the state
 * @core: state; another CPU may be changing it
 * @map: copy of its map
 * @now_ns: host time
 * @late_ns: lateness of the packet
 *
 * Most observations do not.
 *
 * Return: false if it does not; a wrong true only costs time.
 */
static inline bool nicclock_core_wants(const struct nicclock_core *core,
				       const struct nicclock_map *map,
				       u64 now_ns, s64 late_ns)
{
	return late_ns < READ_ONCE(core->bucket.late_ns) ||
	       (s64)(now_ns - READ_ONCE(core->bucket.full_ns)) >= 0 ||
	       late_ns > map->late_max_ns || READ_ONCE(core->late_run);
}

bool nicclock_core_observe(struct nicclock_core *core, u64 now_ns, u64 stamp);

#endif /* _NICCLOCK_MAP_H */
