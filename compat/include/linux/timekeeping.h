/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Simultaneous reading of a system clock and CLOCK_MONOTONIC_RAW. The newest kernels
 * support all clocks, older ones CLOCK_REALTIME only, and their structures have
 * different members.
 */
#ifndef _CLOSNET_COMPAT_LINUX_TIMEKEEPING_H
#define _CLOSNET_COMPAT_LINUX_TIMEKEEPING_H

#include_next <linux/timekeeping.h>

/*
 * closnet_snapshot(): read CLOCK_MONOTONIC or CLOCK_REALTIME, and *raw
 * closnet_crosststamp(): fill the system's part of a cross timestamp
 */
#ifdef CLOSNET_HAVE_KTIME_GET_SNAPSHOT_ID

#include <linux/errno.h>

static inline ktime_t closnet_snapshot(clockid_t id, ktime_t *raw)
{
	struct system_time_snapshot snap;

	ktime_get_snapshot_id(id, &snap);
	*raw = snap.monoraw;
	return snap.systime;
}

static inline int closnet_crosststamp(struct system_device_crosststamp *cts)
{
	struct system_time_snapshot snap;

	/* The auxiliary clocks have a different raw time. */
	if (cts->clock_id >= CLOCK_AUX)
		return -EOPNOTSUPP;
	ktime_get_snapshot_id(cts->clock_id, &snap);
	cts->sys_counter = (struct system_counterval_t) {
		.cycles = snap.cycles,
		.cs_id = snap.cs_id,
	};
	cts->sys_systime = snap.systime;
	cts->sys_monoraw = snap.monoraw;
	return 0;
}

#else

static inline ktime_t closnet_snapshot(clockid_t id, ktime_t *raw)
{
	struct system_time_snapshot snap;
	ktime_t offset;

	/* If the offset is unchanged, the clock was not set meanwhile. */
	do {
		offset = ktime_mono_to_real(0);
		ktime_get_snapshot(&snap);
	} while (offset != ktime_mono_to_real(0));
	*raw = snap.raw;
	return id == CLOCK_REALTIME ? snap.real : snap.real - offset;
}

static inline int closnet_crosststamp(struct system_device_crosststamp *cts)
{
	struct system_time_snapshot snap;

	ktime_get_snapshot(&snap);
	cts->sys_realtime = snap.real;
	cts->sys_monoraw = snap.raw;
	return 0;
}

#endif

#endif /* _CLOSNET_COMPAT_LINUX_TIMEKEEPING_H */
