/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CLOSNET_COMPAT_LINUX_SYSCTL_H
#define _CLOSNET_COMPAT_LINUX_SYSCTL_H

#include_next <linux/sysctl.h>

/* The table of a proc_handler is const since 6.11. */
#ifdef CLOSNET_HAVE_CONST_CTL_TABLE
typedef const struct ctl_table closnet_ctl_table;
#else
typedef struct ctl_table closnet_ctl_table;
#endif

#endif /* _CLOSNET_COMPAT_LINUX_SYSCTL_H */
