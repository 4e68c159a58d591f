/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * closnet(8): its commands, and what they share
 */
#ifndef _CLOSNET_CLOSNET_H
#define _CLOSNET_CLOSNET_H

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Exit status; cannot: what is asked for does not exist */
#define DONE	0
#define CANNOT	1
#define USAGE	2

int buffers(int argc, char **argv);

#endif /* _CLOSNET_CLOSNET_H */
