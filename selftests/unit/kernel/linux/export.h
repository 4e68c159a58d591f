/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For unit tests: the kernel's rbtree.c includes <linux/export.h> and uses none of it
 */
