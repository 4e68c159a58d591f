// SPDX-License-Identifier: GPL-2.0-only
/*
 * nicclock: fit a line to the points of a NIC's clock, and judge it
 *
 * Each point is the observation with the least latency of a bucket: its NIC time x and
 * its offset y, the host time minus x. All points are on or above the wanted line. An
 * edge of the points' lower convex hull is a line below all points. The edge at their
 * mean time is the line with the smallest total distance from the points:
 *
 *	y = host - NIC time
 *	   |	  .   .	     .	 .	. observations
 *	   |  .	    .  o .    .	  .  .	o points: the least of each bucket
 *	   | o . .	 ___o---.--	line: an edge of the lower hull
 *	   |  ___o---o---     .	 o
 *	   +-------------------------- x = NIC time
 *
 *   S. B. Moon, P. Skelly, D. Towsley: "Estimation and Removal of Clock Skew from
 *   Network Delay Measurements", INFOCOM 1999.
 *   L. Zhang, Z. Liu, C. H. Xia: "Clock Synchronization Algorithms for Network
 *   Measurements", INFOCOM 2002.
 *
 * Differences from the papers: they fit the line once to a complete trace, in both
 * directions of a path. Here it is fitted again after each bucket, to the last 16
 * points, and the bounds of later observations follow from medians of these points.
 */
#include "nicclock_fit.h"

/* Minimum number of points for a line */
#define NICCLOCK_POINTS_MIN	8

/* Maximum skew as a shift, below the fraction bits: 2^-10, 977 ppm */
#define NICCLOCK_SKEW_MAX_SHIFT	30

/* Maximum age of a point: no product overflows. */
#define NICCLOCK_SPAN_MAX_NS	2000000000

/*
 * The points form a line if their median distance from it is at most this share of
 * the packets' median lateness, so that the map is always better than the host's own
 * timestamps; lower and upper bound of that distance
 */
#define NICCLOCK_NOISE_SHARE	4
#define NICCLOCK_NOISE_MIN_NS	2000
#define NICCLOCK_NOISE_MAX_NS	50000

/* Maximum distance of a bucket from the line: multiple of the median, lower bound */
#define NICCLOCK_OFF_FACTOR	6
#define NICCLOCK_OFF_MIN_NS	2000

/* Lateness that makes packets suspect: multiple of the median, lower bound */
#define NICCLOCK_LATE_FACTOR	4
#define NICCLOCK_LATE_MIN_NS	20000

/* Compute relative points; drop points that are too old, or too far to multiply with. */
static void nicclock_cloud_get(struct nicclock_cloud *cloud, struct nicclock_core *core)
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

/* Is point @b on or above the line from @a to @c? */
static bool nicclock_above(const struct nicclock_cloud *cloud, u32 a, u32 b, u32 c)
{
	const s64 *x = cloud->x, *y = cloud->y;

	return (y[b] - y[a]) * (x[c] - x[a]) >= (y[c] - y[a]) * (x[b] - x[a]);
}

/**
 * nicclock_edge() - find the edge of the lower hull at the mean time
 * @cloud: at least two points
 * @left: set to the index of the edge's left end
 * @right: set to the index of the edge's right end
 */
void nicclock_edge(const struct nicclock_cloud *cloud, u32 *left, u32 *right)
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

/**
 * nicclock_median() - find the median by sorting
 * @values: values; sorted afterwards
 * @count: number of values, small
 *
 * Return: median.
 */
u32 nicclock_median(u32 *values, u32 count)
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

/**
 * nicclock_skew() - compute a skew
 * @dy: difference of the offsets, ns
 * @dx: difference of the NIC times, ns, at most NICCLOCK_REACH_NS
 * @skew: set to @dy / @dx, Q.40
 *
 * Return: false if no clock has such a skew.
 */
bool nicclock_skew(s64 dy, s64 dx, s64 *skew)
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

/*
 * Derive the bounds for later buckets and packets from the medians of distances and
 * latenesses, and decide whether the points form a line. @base: offset of the line at
 * the newest point; @steep: its skew is impossible
 */
static void nicclock_judge(struct nicclock_core *core,
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
 * Fit the line: compute its skew and its offset at the newest point. Returns false if
 * the skew is impossible: the clock has stepped, and the map is not trusted until the
 * points before the step are gone.
 */
static bool nicclock_fit_line(const struct nicclock_cloud *cloud, s64 *skew, s64 *base)
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

/* Offset of the anchor at the newest point, from the points since it started */
static s64 nicclock_fit_anchor(const struct nicclock_core *core, const struct nicclock_cloud *cloud)
{
	s64 base = 0;
	u32 i;

	for (i = 0; i < cloud->count; i++)
		if ((s64)(core->points[i].now_ns - core->anchor_ns) >= 0)
			base = min_t(s64, base, cloud->y[i] -
				     nicclock_skewed(core->skew, cloud->x[i]));
	return base;
}

/**
 * nicclock_anchor_holds() - check whether the anchor is valid
 * @core: state
 * @now_ns: host time
 *
 * Return: true if there is an anchor, and it has not expired.
 */
bool nicclock_anchor_holds(const struct nicclock_core *core, u64 now_ns)
{
	if (!core->anchor_min)
		return false;
	return (core->skew_known && core->anchor_seen == core->anchor_min) ||
	       (s64)(now_ns - core->anchor_ns) <= NICCLOCK_ANCHOR_AGE_NS;
}

/**
 * nicclock_fit() - compute the map from the points
 * @core: state with at least one point
 */
void nicclock_fit(struct nicclock_core *core)
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
		base = nicclock_fit_anchor(core, &cloud);
		age_ns = core->skew_known ? NICCLOCK_AGE_MAX_NS :
		       (s64)(core->anchor_ns + NICCLOCK_ANCHOR_AGE_NS - last->now_ns);
	} else {
		steep = !nicclock_fit_line(&cloud, &map->skew, &base);
		age_ns = -cloud.x[0];
	}
	map->stamp = last->stamp;
	map->now_ns = last->now_ns + base;
	map->age_max_ns = min_t(s64, age_ns, NICCLOCK_AGE_MAX_NS);
	nicclock_judge(core, &cloud, base, steep);
}
