/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For unit tests: what the kernel's containers use of <linux/compiler.h>
 */
#ifndef _CLOSNET_UNIT_LINUX_COMPILER_H
#define _CLOSNET_UNIT_LINUX_COMPILER_H

#include <sys/cdefs.h>
#include <closnet/core.h>

#endif /* _CLOSNET_UNIT_LINUX_COMPILER_H */
