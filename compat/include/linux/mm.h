/* SPDX-License-Identifier: GPL-2.0-only */
/* Since 6.3 flags of a mapping are set by a function, which 6.1 lacks. */
#ifndef _CLOSNET_COMPAT_LINUX_MM_H
#define _CLOSNET_COMPAT_LINUX_MM_H

#include_next <linux/mm.h>

#ifndef CLOSNET_HAVE_VM_FLAGS_SET
static inline void vm_flags_set(struct vm_area_struct *vma, unsigned long flags)
{
	vma->vm_flags |= flags;
}
#endif

#endif
