/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Included before everything else.
 *
 * closnet's code is written for the newest supported kernel. What an older
 * one lacks is added by a header of the kernel's own name under
 * compat/include, which includes the kernel's (#include_next) and then
 * supplies the rest; probes.mk finds out what that is. No other place knows
 * kernel versions.
 */
#ifndef _CLOSNET_COMPAT_H
#define _CLOSNET_COMPAT_H

#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error "closnet needs Linux 6.1 or newer"
#endif

#endif /* _CLOSNET_COMPAT_H */
