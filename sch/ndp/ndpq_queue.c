// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queues of an NDP switch port: admission, trimming, scheduling
 *
 * The NDP switch service model, without packets: plain C, compiled into sch_ndp
 * and into its unit test. The caller holds the packets, and passes lengths and
 * random bits.
 *
 * A port has the paper's two queues for NDP, and a third one for other traffic:
 *
 *	data	limit_bytes, limit packets if set; low priority
 *	header	hlimit bytes, high priority: trimmed packets and control
 *	other	other_limit bytes, ECN marks from other_ecn bytes on
 *
 *	arrival of a data packet
 *	  |
 *	  +- fits ------------------------------------> data queue
 *	  +- full, coin selects the arrival: trim ----> header queue
 *	  +- full, coin selects the tail: trim the
 *	     newest packet of the data queue ---------> header queue
 *	     and give its place to the arrival -------> data queue
 *
 * With bands, IP precedence gives each data packet a level. The data queue is sorted: higher levels
 * first, packets of one level in order of arrival. So its tail is the newest packet of the lowest
 * level. The coin decides only between packets of that level; an arrival of a higher level takes
 * the tail's place, and one of a lower level is trimmed.
 *
 *	arrival of a header (trimmed or control packet)
 *	  |
 *	  +- fits ------------------------------------> header queue
 *	  +- full, rts, trimmed ----------------------> back to its sender
 *	  +- full ------------------------------------> dropped
 *
 * Departures. Between NDP (queues data and header) and other traffic, deficit
 * round robin shares the link equally, by bytes. Within NDP, @ratio headers are
 * sent per data packet while both wait:
 *
 *	ahead	= bytes sent of other traffic - bytes sent of NDP,
 *		  counted while both wait
 *	other	if it waits and (ahead < 0 or no NDP packet waits)
 *	data	if it waits and (no header waits or headers_run >= ratio)
 *	header	otherwise
 *
 * Two sides need no quantum: with the length of the packet at hand as quantum,
 * the deficits reduce to their difference, @ahead, and each packet costs O(1)
 * whatever its length.
 *
 * Mode cp (cut payload, NSDI 2014) has one FIFO and always trims the arrival.
 * Mode droptail has one FIFO and drops. Both serve for comparison.
 *
 * Reference: M. Handley, C. Raiciu, A. Agache, A. Voinescu, A. W. Moore,
 * G. Antichi, M. Wojcik: "Re-architecting datacenter networks and stacks for
 * low latency and high performance", SIGCOMM 2017, sections 3.1 (switch service
 * model), 3.2.4 (return to sender), 4 (packets without data use the header
 * queue). Its section "Limitations" leaves the sharing with TCP open.
 *
 * Differences from the paper:
 * - By default the data queue is limited in bytes, not packets. If the arrival does
 *   not fit in the place of the tail, the arrival is trimmed, whatever the coin.
 * - Return to sender is off by default, since it reflects packets to spoofed
 *   source addresses. Only trimmed packets are returned. A control packet that
 *   finds the header queue full is dropped, because its sender could make no
 *   use of it.
 * - Two ports cannot return a packet to each other without end, even if
 *   dscp_trimmed of one is dscp_returned of the other. With match udp_port, a
 *   packet from NDP's port counts as returned and is dropped. In all modes, a
 *   return decrements TTL or hop limit.
 * - The third queue, and the scheduler that serves it.
 * - Bands, which are off by default.
 */
#include "ndpq_queue.h"

/**
 * ndpq_fifo_fits() - check the limits of the FIFO of mode droptail
 * @p: configuration
 * @v: state
 * @len: length of the arrival, bytes
 *
 * Headers count like data.
 *
 * Return: true if the packet fits.
 */
bool ndpq_fifo_fits(const struct ndpq_params *p, const struct ndpq_vars *v, u32 len)
{
	const struct ndpq_queue_vars *d = &v->q[NDPQ_DATA], *h = &v->q[NDPQ_HEADER];

	return d->packets + h->packets < p->limit &&
	       ndpq_bytes_fit(p->limit_bytes, d->bytes + h->bytes, len);
}

/**
 * ndpq_header_full() - decide about a header that does not fit
 * @p: configuration
 * @kind: NDPQ_KIND_CONTROL, NDPQ_KIND_TRIMMED or NDPQ_KIND_RETURNED
 *
 * Return: NDPQ_RETURN or NDPQ_DROP.
 */
enum ndpq_verdict ndpq_header_full(const struct ndpq_params *p, enum ndpq_kind kind)
{
	if (p->rts && p->mode == TC_NDP_MODE_NDP && kind == NDPQ_KIND_TRIMMED)
		return NDPQ_RETURN;
	return NDPQ_DROP;
}

/**
 * ndpq_charge() - charge a packet to its side of the deficit round robin
 * @v: state, before the packet leaves its queue
 * @other: the packet is other traffic, else NDP
 * @len: length of the packet, bytes
 *
 * A side that is served alone builds up no debt, but works off the debt of the
 * idle side. Otherwise traffic that shows one large packet at a time, with a
 * short pause after each, would exceed its share.
 */
void ndpq_charge(struct ndpq_vars *v, bool other, u32 len)
{
	bool contended = other ? v->q[NDPQ_DATA].packets || v->q[NDPQ_HEADER].packets :
				 v->q[NDPQ_OTHER].packets;
	s32 ahead = other ? v->other_ahead_bytes : -v->other_ahead_bytes;

	ahead += (s32)len;
	if (!contended)
		ahead = min_t(s32, ahead, 0);
	v->other_ahead_bytes = other ? ahead : -ahead;
}
