/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CLOSNET_COMPAT_LINUX_HRTIMER_H
#define _CLOSNET_COMPAT_LINUX_HRTIMER_H

#include_next <linux/hrtimer.h>

/* hrtimer_setup() is new in 6.13; later kernels have no hrtimer_init(). */
#ifndef CLOSNET_HAVE_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock_id, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock_id, mode);
	timer->function = function;
}
#endif

#endif /* _CLOSNET_COMPAT_LINUX_HRTIMER_H */
