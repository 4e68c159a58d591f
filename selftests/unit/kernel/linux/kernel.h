/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For unit tests: the system's <linux/kernel.h> and what the kernel's containers use of its own
 */
#ifndef _CLOSNET_UNIT_LINUX_KERNEL_H
#define _CLOSNET_UNIT_LINUX_KERNEL_H

#include_next <linux/kernel.h>
#include <stddef.h>

#define container_of(ptr, type, member)	((type *)((char *)(ptr) - offsetof(type, member)))

#endif /* _CLOSNET_UNIT_LINUX_KERNEL_H */
