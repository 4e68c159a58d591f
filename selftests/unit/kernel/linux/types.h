/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For unit tests: the system's <linux/types.h> and the types of the kernel's containers
 */
#ifndef _CLOSNET_UNIT_LINUX_TYPES_H
#define _CLOSNET_UNIT_LINUX_TYPES_H

#include_next <linux/types.h>

struct list_head {
	struct list_head *next, *prev;
};

struct hlist_head {
	struct hlist_node *first;
};

struct hlist_node {
	struct hlist_node *next, **pprev;
};

#endif /* _CLOSNET_UNIT_LINUX_TYPES_H */
