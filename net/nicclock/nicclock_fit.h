/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * nicclock: interface of nicclock_fit.c, which fits a line to points
 */
#ifndef _NICCLOCK_FIT_H
#define _NICCLOCK_FIT_H

#include "nicclock_map.h"

/**
 * struct nicclock_cloud - points relative to the newest one
 * @x: NIC time, ns
 * @y: offset of the host time, ns
 * @count: number of points
 */
struct nicclock_cloud {
	s64 x[NICCLOCK_POINTS];
	s64 y[NICCLOCK_POINTS];
	u32 count;
};

void nicclock_edge(const struct nicclock_cloud *cloud, u32 *left, u32 *right);
u32 nicclock_median(u32 *values, u32 count);
bool nicclock_skew(s64 dy, s64 dx, s64 *skew);
bool nicclock_anchor_holds(const struct nicclock_core *core, u64 now_ns);
void nicclock_fit(struct nicclock_core *core);

#endif /* _NICCLOCK_FIT_H */
