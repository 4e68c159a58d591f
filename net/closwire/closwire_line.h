/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * closwire: interface of the link's timing and pauses in closwire_line.c
 */
#ifndef _CLOSWIRE_LINE_H
#define _CLOSWIRE_LINE_H

#include <closnet/core.h>
#include "closwire_options.h"

#define CLOSWIRE_PRIOS		8

#define CLOSWIRE_TX_QUEUES_MAX	16

/* Overhead of a frame, and minimum length of a frame without FCS */
#define CLOSWIRE_GAP_BYTES	12
#define CLOSWIRE_PREAMBLE_BYTES	8
#define CLOSWIRE_FCS_BYTES	4
#define CLOSWIRE_FRAME_MIN	60
/* A quantum of pause is 512 bit times */
#define CLOSWIRE_QUANTUM_BYTES	64

/* 64 bits less 17 for the length of a frame and one for the carried fraction */
#define CLOSWIRE_MULT_BITS	46

/**
 * struct closwire_line - transmitter of a port
 * @mult: serialisation time of a byte, ns, Q.@shift
 * @shift: fraction bits of @mult and @end_frac
 * @paused: priorities that may be paused, one bit each; a bit is stale after the time
 *	in @pause_end_ns
 * @end_ns: end of the last frame's transmission
 * @end_frac: fraction of @end_ns
 * @pause_end_ns: end of the pause of each priority
 * @counted_to_ns: time up to which @paused_ns includes the pauses of each priority
 * @paused_ns: total time of the pauses of each priority
 */
struct closwire_line {
	u64 mult;
	u32 shift;
	u32 paused;
	u64 end_ns;
	u64 end_frac;
	u64 pause_end_ns[CLOSWIRE_PRIOS];
	u64 counted_to_ns[CLOSWIRE_PRIOS];
	u64 paused_ns[CLOSWIRE_PRIOS];
};

void closwire_line_set_rate(struct closwire_line *line, u64 rate_Bps);
u64 closwire_line_ns(const struct closwire_line *line, u32 bytes);
u64 closwire_line_send(struct closwire_line *line, u64 now_ns, u32 len);
u64 closwire_paused_ns(const struct closwire_line *line, u64 now_ns, u32 prio);
void closwire_pause_stop(struct closwire_line *line, u64 now_ns, u32 prio);
void closwire_line_pause(struct closwire_line *line, u64 now_ns, u32 prio, u16 quanta);
bool closwire_line_paused(struct closwire_line *line, u64 now_ns, u32 prio);
u64 closwire_paused_until_ns(const struct closwire_line *line, u32 prio);
u64 closwire_pause_end(const struct closwire_line *line, u64 now_ns);
u32 closwire_next_queue(u32 waiting, u32 last);

#endif /* _CLOSWIRE_LINE_H */
