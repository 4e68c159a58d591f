/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When a frame leaves, and which: the line of a NIC, in plain C
 *
 * A line is what one port transmits, frame by frame. It knows when the last
 * frame's last bit left, and to when each priority is paused. Time comes in
 * as an argument, so that the unit test runs the very code of the module.
 *
 *	   end of the last frame                            end
 *	-------|-- gap --|-- preamble --|-- frame ... -- FCS --|---
 *	           12          8        ^   len, at least 60    4    bytes
 *	                                sfd: what hardware stamps
 *
 * A frame that finds the line busy follows the last one at the gap. One that
 * finds it idle starts at once. Frames back to back are therefore exactly
 *
 *	(max(len, 60) + 24) * 8 / rate
 *
 * apart: 1230.4 ns for 1514 bytes at 10 Gbit/s. Times are in ns, and the line
 * carries the fraction of the last end along, so that nothing is lost to
 * rounding: the time per byte is Q.shift with as many fraction bits as leave
 * room for the longest frame, an error of at most 3 ns in a day of full load.
 *
 * Pause: IEEE 802.1Qbb (PFC). A pause frame carries a time for each of eight
 * priorities, in quanta of 512 bit times; 0 lifts the pause. One that comes
 * during a pause sets its end anew. How long a priority was paused is counted
 * when a pause ends or is renewed, each ns once.
 */
#ifndef _CLOSWIRE_WIRE_CORE_H
#define _CLOSWIRE_WIRE_CORE_H

#include <closnet/core.h>
#include "closwire_options.h"

#define CLOSWIRE_PRIOS		8

#define CLOSWIRE_TX_QUEUES_MAX	16

/* Bytes around a frame, and a frame's shortest length without FCS */
#define CLOSWIRE_GAP_BYTES	12
#define CLOSWIRE_PREAMBLE_BYTES	8
#define CLOSWIRE_FCS_BYTES	4
#define CLOSWIRE_FRAME_MIN	60
/* A quantum of pause is 512 bit times */
#define CLOSWIRE_QUANTUM_BYTES	64

/* A frame's length has 17 bits, and one is left for the fraction added. */
#define CLOSWIRE_MULT_BITS	46

/**
 * struct closwire_line - a port's transmitter
 * @mult: time a byte takes, in ns, Q.@shift
 * @shift: fraction bits of @mult and @end_frac
 * @end_ns: when the last frame's last bit left, or will leave
 * @end_frac: the fraction of that
 * @paused: priorities that may be paused; a bit is stale when the time in
 *	@pause_end_ns has come
 * @pause_end_ns: when each priority's pause ends
 * @counted_to_ns: up to when @paused_ns counts each priority's pauses
 * @paused_ns: how long each priority was paused
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

/**
 * closwire_line_set_rate() - set the rate for frames that start from now on
 * @line: the line; the frame on it keeps its end
 * @rate_Bps: bytes per second, at least 125
 */
static inline void closwire_line_set_rate(struct closwire_line *line,
					  u64 rate_Bps)
{
	u64 mult = 1000000000 / rate_Bps;
	u64 rest = 1000000000 % rate_Bps;
	u32 shift = 0;

	/* long division, until no more bits fit */
	while (!(mult >> (CLOSWIRE_MULT_BITS - 1))) {
		mult <<= 1;
		rest <<= 1;
		if (rest >= rate_Bps) {
			rest -= rate_Bps;
			mult++;
		}
		shift++;
	}
	/* rounded up, the end of a frame that is a whole ns is that ns */
	if (rest)
		mult++;
	line->mult = mult;
	line->shift = shift;
	line->end_frac = 0;
}

/**
 * closwire_line_ns() - how long bytes take
 * @line: the line
 * @bytes: less than 2^17
 *
 * Return: whole ns.
 */
static inline u64 closwire_line_ns(const struct closwire_line *line, u32 bytes)
{
	return (line->mult * bytes) >> line->shift;
}

/**
 * closwire_line_send() - put the next frame on the line
 * @line: the line; @end_ns becomes the end of this frame
 * @now_ns: the time; may be before the end of the last frame
 * @len: bytes of the frame without FCS, less than 2^17 - 24
 *
 * Return: when the start frame delimiter passes, in ns.
 */
static inline u64 closwire_line_send(struct closwire_line *line, u64 now_ns,
				     u32 len)
{
	u64 fraction = ((u64)1 << line->shift) - 1;
	u64 gap = line->end_frac + line->mult * CLOSWIRE_GAP_BYTES;
	u64 start_ns = line->end_ns + (gap >> line->shift);
	u64 acc = gap & fraction;

	if (now_ns > start_ns) {
		start_ns = now_ns;
		acc = 0;
	}
	len = max_t(u32, len, CLOSWIRE_FRAME_MIN) + CLOSWIRE_PREAMBLE_BYTES +
	      CLOSWIRE_FCS_BYTES;
	acc += line->mult * len;
	line->end_ns = start_ns + (acc >> line->shift);
	line->end_frac = acc & fraction;
	return start_ns + closwire_line_ns(line, CLOSWIRE_PREAMBLE_BYTES);
}

/**
 * closwire_paused_ns() - how long a priority was paused
 * @line: the line
 * @now_ns: the time; the pause that is on counts up to it
 * @prio: priority, below CLOSWIRE_PRIOS
 *
 * Return: the time in all pauses, in ns.
 */
static inline u64 closwire_paused_ns(const struct closwire_line *line,
				     u64 now_ns, u32 prio)
{
	u64 to_ns = min_t(u64, now_ns, line->pause_end_ns[prio]);
	u64 paused_ns = line->paused_ns[prio];

	if (line->paused & (1U << prio) && to_ns > line->counted_to_ns[prio])
		paused_ns += to_ns - line->counted_to_ns[prio];
	return paused_ns;
}

/**
 * closwire_pause_stop() - end a priority's pause, if there is one
 * @line: the line
 * @now_ns: the time
 * @prio: priority, below CLOSWIRE_PRIOS
 */
static inline void closwire_pause_stop(struct closwire_line *line, u64 now_ns,
				       u32 prio)
{
	line->paused_ns[prio] = closwire_paused_ns(line, now_ns, prio);
	line->counted_to_ns[prio] = max_t(u64, line->counted_to_ns[prio],
					  now_ns);
	WRITE_ONCE(line->paused, line->paused & ~(1U << prio));
}

/**
 * closwire_line_pause() - obey a pause frame
 * @line: the line
 * @now_ns: the time
 * @prio: priority, below CLOSWIRE_PRIOS
 * @quanta: for how long, in 512 bit times; 0: go on
 */
static inline void closwire_line_pause(struct closwire_line *line, u64 now_ns,
				       u32 prio, u16 quanta)
{
	u64 bytes = (u64)quanta * CLOSWIRE_QUANTUM_BYTES;

	closwire_pause_stop(line, now_ns, prio);
	if (!quanta)
		return;
	/* 22 bits of bytes take 8 of mult's fraction, of which there are more */
	/* closwire_paused_until_ns() reads both without a lock */
	WRITE_ONCE(line->pause_end_ns[prio],
		   now_ns + (((line->mult >> 8) * bytes) >> (line->shift - 8)));
	WRITE_ONCE(line->paused, line->paused | 1U << prio);
}

/**
 * closwire_line_paused() - must this priority wait?
 * @line: the line
 * @now_ns: the time
 * @prio: priority, below CLOSWIRE_PRIOS
 *
 * Return: whether it is paused at @now_ns.
 */
static inline bool closwire_line_paused(struct closwire_line *line, u64 now_ns,
					u32 prio)
{
	if (likely(!(line->paused & (1U << prio))))
		return false;
	if (now_ns < line->pause_end_ns[prio])
		return true;
	closwire_pause_stop(line, line->pause_end_ns[prio], prio);
	return false;
}

/**
 * closwire_paused_until_ns() - get the end of a priority's pause
 * @line: the line; may change meanwhile
 * @prio: priority, below CLOSWIRE_PRIOS
 *
 * Return: in ns, which may have passed; 0: the priority is not paused.
 */
static inline u64 closwire_paused_until_ns(const struct closwire_line *line,
					   u32 prio)
{
	if (likely(!(READ_ONCE(line->paused) & (1U << prio))))
		return 0;
	return READ_ONCE(line->pause_end_ns[prio]);
}

/**
 * closwire_pause_end() - when the next pause ends
 * @line: the line
 * @now_ns: the time
 *
 * Return: the earliest end of a pause that is on at @now_ns, in ns, and always
 * later than @now_ns; U64_MAX (all ones) if none is.
 */
static inline u64 closwire_pause_end(const struct closwire_line *line,
				     u64 now_ns)
{
	u64 end_ns = ~(u64)0;
	u32 prio;

	for (prio = 0; prio < CLOSWIRE_PRIOS; prio++) {
		if (line->paused & (1U << prio) &&
		    line->pause_end_ns[prio] > now_ns)
			end_ns = min_t(u64, end_ns, line->pause_end_ns[prio]);
	}
	return end_ns;
}

/**
 * closwire_next_queue() - round robin
 * @waiting: queues that have a frame, one bit each; not 0
 * @last: the queue served last
 *
 * Return: the first waiting queue after @last, around the corner.
 */
static inline u32 closwire_next_queue(u32 waiting, u32 last)
{
	u32 after = waiting & ~(((u32)2 << last) - 1);

	return __builtin_ctz(after ? after : waiting);
}

#endif /* _CLOSWIRE_WIRE_CORE_H */
