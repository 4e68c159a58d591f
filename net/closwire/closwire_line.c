// SPDX-License-Identifier: GPL-2.0-only
/*
 * closwire: times of the frames on a link, and priority pauses
 *
 * A transmitter sends frame after frame. It knows when the last bit of the last frame
 * has left, and until when each priority is paused. Time is an argument of all
 * functions, so that the unit test runs the code of the module.
 *
 *	   end of the last frame                            end
 *	-------|-- gap --|-- preamble --|-- frame ... -- FCS --|---
 *	           12          8        ^   len, at least 60    4    bytes
 *	                                sfd: time of a hardware timestamp
 *
 * On a busy link, a frame follows the last one after the gap; on an idle link, it
 * starts at once. The distance of back-to-back frames is exactly
 *
 *	(max(len, 60) + 24) * 8 / rate
 *
 * that is, 1230.4 ns for 1514 bytes at 10 Gbit/s. Times are in ns. The fraction of
 * the last end is carried along, so that rounding errors do not accumulate. The time
 * of a byte is Q.shift, with as many fraction bits as the longest frame permits: the
 * error is at most 3 ns per day at full load.
 *
 * Pauses follow IEEE 802.1Qbb (PFC). A pause frame has a time for each of eight
 * priorities, in quanta of 512 bit times; 0 ends the pause. A pause frame during a
 * pause sets a new end. The total time of the pauses is updated when a pause ends or
 * is renewed, and counts each ns once.
 */
#include "closwire_line.h"

/**
 * closwire_line_set_rate() - set the rate for frames that start from now on
 * @line: transmitter; a frame on the link keeps its end
 * @rate_Bps: rate, bytes per second, at least 125
 */
void closwire_line_set_rate(struct closwire_line *line, u64 rate_Bps)
{
	u64 mult = 1000000000 / rate_Bps;
	u64 rest = 1000000000 % rate_Bps;
	u32 shift = 0;

	/* long division, until mult has all its bits */
	while (!(mult >> (CLOSWIRE_MULT_BITS - 1))) {
		mult <<= 1;
		rest <<= 1;
		if (rest >= rate_Bps) {
			rest -= rate_Bps;
			mult++;
		}
		shift++;
	}
	/* Round up: an end that is exactly a whole ns must not become the ns before. */
	if (rest)
		mult++;
	line->mult = mult;
	line->shift = shift;
	line->end_frac = 0;
}

/**
 * closwire_line_ns() - get the serialisation time of a number of bytes
 * @line: transmitter
 * @bytes: less than 2^17
 *
 * Return: whole ns.
 */
u64 closwire_line_ns(const struct closwire_line *line, u32 bytes)
{
	return (line->mult * bytes) >> line->shift;
}

/**
 * closwire_line_send() - transmit the next frame
 * @line: transmitter; @end_ns becomes the end of this frame
 * @now_ns: present time; may be before the end of the last frame
 * @len: length of the frame without FCS, bytes, less than 2^17 - 24
 *
 * Return: time when the start frame delimiter passes, ns.
 */
u64 closwire_line_send(struct closwire_line *line, u64 now_ns, u32 len)
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
 * closwire_paused_ns() - get the total time of a priority's pauses
 * @line: transmitter
 * @now_ns: present time; a pause in progress counts up to it
 * @prio: priority, below CLOSWIRE_PRIOS
 *
 * Return: time, ns.
 */
u64 closwire_paused_ns(const struct closwire_line *line, u64 now_ns, u32 prio)
{
	u64 to_ns = min_t(u64, now_ns, line->pause_end_ns[prio]);
	u64 paused_ns = line->paused_ns[prio];

	if (line->paused & (1U << prio) && to_ns > line->counted_to_ns[prio])
		paused_ns += to_ns - line->counted_to_ns[prio];
	return paused_ns;
}

/**
 * closwire_pause_stop() - end the pause of a priority, if any
 * @line: transmitter
 * @now_ns: present time
 * @prio: priority, below CLOSWIRE_PRIOS
 */
void closwire_pause_stop(struct closwire_line *line, u64 now_ns, u32 prio)
{
	line->paused_ns[prio] = closwire_paused_ns(line, now_ns, prio);
	line->counted_to_ns[prio] = max_t(u64, line->counted_to_ns[prio],
					  now_ns);
	WRITE_ONCE(line->paused, line->paused & ~(1U << prio));
}

/**
 * closwire_line_pause() - obey a pause frame
 * @line: transmitter
 * @now_ns: present time
 * @prio: priority, below CLOSWIRE_PRIOS
 * @quanta: duration in units of 512 bit times; 0: end the pause
 */
void closwire_line_pause(struct closwire_line *line, u64 now_ns, u32 prio, u16 quanta)
{
	u64 bytes = (u64)quanta * CLOSWIRE_QUANTUM_BYTES;

	closwire_pause_stop(line, now_ns, prio);
	if (!quanta)
		return;
	/*
	 * The product needs 8 bits less of mult, as bytes has 22 bits.
	 * closwire_paused_until_ns() reads both members without a lock.
	 */
	WRITE_ONCE(line->pause_end_ns[prio],
		   now_ns + (((line->mult >> 8) * bytes) >> (line->shift - 8)));
	WRITE_ONCE(line->paused, line->paused | 1U << prio);
}

/**
 * closwire_line_paused() - check whether a priority is paused
 * @line: transmitter
 * @now_ns: present time
 * @prio: priority, below CLOSWIRE_PRIOS
 *
 * Return: true if it is paused at @now_ns.
 */
bool closwire_line_paused(struct closwire_line *line, u64 now_ns, u32 prio)
{
	if (likely(!(line->paused & (1U << prio))))
		return false;
	if (now_ns < line->pause_end_ns[prio])
		return true;
	closwire_pause_stop(line, line->pause_end_ns[prio], prio);
	return false;
}

/**
 * closwire_paused_until_ns() - get the end of a priority's pause, without a lock
 * @line: transmitter; may change concurrently
 * @prio: priority, below CLOSWIRE_PRIOS
 *
 * Return: time, ns, possibly in the past; 0: the priority is not paused.
 */
u64 closwire_paused_until_ns(const struct closwire_line *line, u32 prio)
{
	if (likely(!(READ_ONCE(line->paused) & (1U << prio))))
		return 0;
	return READ_ONCE(line->pause_end_ns[prio]);
}

/**
 * closwire_pause_end() - get the end of the next pause to end
 * @line: transmitter
 * @now_ns: present time
 *
 * Return: earliest end after @now_ns of a pause in progress, ns; U64_MAX (all ones)
 * if no priority is paused.
 */
u64 closwire_pause_end(const struct closwire_line *line, u64 now_ns)
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
 * closwire_next_queue() - select a queue by round robin
 * @waiting: queues with a frame, one bit each; not 0
 * @last: queue served last
 *
 * Return: first waiting queue after @last, cyclically.
 */
u32 closwire_next_queue(u32 waiting, u32 last)
{
	u32 after = waiting & ~(((u32)2 << last) - 1);

	return __builtin_ctz(after ? after : waiting);
}
