/* SPDX-License-Identifier: GPL-2.0-only */
/* vm_flags_set() is new in 6.3. */
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
