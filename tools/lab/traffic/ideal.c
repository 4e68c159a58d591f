// SPDX-License-Identifier: GPL-2.0-only
#include "ideal.h"

#define ETH_HEADER 14
#define ETH_MIN 60
#define ETH_AROUND (4 + 8)	/* FCS, preamble and SFD */
#define ETH_GAP 12
#define PS_PER_NS 1000

unsigned int wire_bytes(unsigned int packet)
{
	unsigned int frame = packet + ETH_HEADER;

	return (frame > ETH_MIN ? frame : ETH_MIN) + ETH_AROUND;
}

static uint64_t wire_ps(const struct link *link, unsigned int bytes)
{
	return bytes * 8ULL * NS_PER_S * PS_PER_NS / link->rate_bps;
}

unsigned int roce_payload(unsigned int mtu)
{
	unsigned int bytes = 4096;

	/* as Linux: room for IPv6 and the longest extended headers */
	while (bytes > 256 && bytes + 96 > mtu)
		bytes /= 2;
	return bytes;
}

static uint64_t max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * The last of N equal frames starts on link j at
 *
 *	sum of t(i), i < j, + (N - 1) * max of s(i), i <= j,
 *
 * t(i) is the time of a frame on link i, delay included. s(i) is the interval
 * between starts of frames, gap included: the slowest link up to j is never
 * idle. The final frame may be shorter; on each link it waits for frame N.
 */
int64_t ideal_fct_ns(const struct path *path, unsigned int mtu, unsigned int headers,
		     uint64_t bytes)
{
	unsigned int data = mtu - headers, frame = wire_bytes(mtu);
	uint64_t full = (bytes - 1) / data;
	unsigned int rest = wire_bytes((unsigned int)(bytes - full * data) + headers);
	uint64_t sum = 0, slowest = 0, last = 0, delay, next;
	const struct link *link;
	unsigned int i;

	for (i = 0; i < path->count; i++) {
		link = &path->links[i];
		delay = (uint64_t)link->delay_ns * PS_PER_NS;
		if (full) {
			next = wire_ps(link, frame + ETH_GAP);
			slowest = max(slowest, next);
			last = max(last, sum + (full - 1) * slowest + next);
			sum += wire_ps(link, frame) + delay;
		}
		last += wire_ps(link, rest) + delay;
	}
	return (int64_t)((last + PS_PER_NS / 2) / PS_PER_NS);
}
