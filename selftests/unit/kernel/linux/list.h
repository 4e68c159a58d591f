/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For unit tests: <linux/list.h> of the kernel's tools/, and what that one lacks
 */
#ifndef _CLOSNET_UNIT_LINUX_LIST_H
#define _CLOSNET_UNIT_LINUX_LIST_H

#include_next <linux/list.h>

static inline void list_bulk_move_tail(struct list_head *head, struct list_head *first,
				       struct list_head *last)
{
	__list_del(first->prev, last->next);
	first->prev = head->prev;
	head->prev->next = first;
	last->next = head;
	head->prev = last;
}

#endif /* _CLOSNET_UNIT_LINUX_LIST_H */
