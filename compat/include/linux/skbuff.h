/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Older kernels have a bit in the place of the clock of skb->tstamp.
 */
#ifndef _CLOSNET_COMPAT_LINUX_SKBUFF_H
#define _CLOSNET_COMPAT_LINUX_SKBUFF_H

#include_next <linux/skbuff.h>

#ifndef CLOSNET_HAVE_SKB_TSTAMP_TYPE
#define SKB_CLOCK_MONOTONIC	true
#endif

/* Is skb->tstamp a delivery time by CLOCK_MONOTONIC? */
static inline bool closnet_skb_has_mono(const struct sk_buff *skb)
{
#ifdef CLOSNET_HAVE_SKB_TSTAMP_TYPE
	return skb->tstamp && skb->tstamp_type == SKB_CLOCK_MONOTONIC;
#else
	return skb->tstamp && skb->mono_delivery_time;
#endif
}

#endif /* _CLOSNET_COMPAT_LINUX_SKBUFF_H */
