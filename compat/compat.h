/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Included before all other files.
 *
 * closnet's code is written for the newest supported kernel. For older kernels, headers
 * under compat/include with the names of kernel headers include these (#include_next)
 * and add the missing parts, which probes.mk detects. Kernel versions appear in no
 * other place.
 */
#ifndef _CLOSNET_COMPAT_H
#define _CLOSNET_COMPAT_H

#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error "closnet needs Linux 6.1 or newer"
#endif

#endif /* _CLOSNET_COMPAT_H */
