// SPDX-License-Identifier: GPL-2.0-only
/*
 * NDP sender: packets that later ones have overtaken are lost: RACK; described in snd.h
 */
#include "snd.h"

/* limits of the flow's bits; RFC 8985, section 6.2: reo_wnd_persist is 16 */
#define NDP_SND_REORDER_MAX	7
#define NDP_SND_PERSIST		15

/**
 * ndp_snd_judge() - record the outcome of a packet
 * @c: call
 * @path: its path
 * @outcome: outcome
 */
void ndp_snd_judge(const struct ndp_snd_call *c, u8 path, enum ndp_outcome outcome)
{
	if (c->paths)
		ndp_path_outcome(c->paths, path, outcome, c->now);
}

/**
 * ndp_snd_slow() - a packet that counted as lost has arrived: it was only slow
 * @f: flow
 * @pkt: packet
 *
 * The reordering time doubles, unless it has doubled since the packet was sent.
 */
void ndp_snd_slow(struct ndp_snd_flow *f, const struct ndp_snd_pkt *pkt)
{
	if (pkt->reorder != (f->reorder & 1) || f->reorder == NDP_SND_REORDER_MAX)
		return;
	f->reorder++;
	f->persist = NDP_SND_PERSIST;
}

/**
 * ndp_snd_vain() - an ACK names a packet: was it retransmitted in vain?
 * @f: flow
 * @h: ACK
 *
 * That is so if an earlier transmission has arrived, before the last one or after it. The slot of a
 * packet that is done remains until the ring has turned.
 */
void ndp_snd_vain(struct ndp_snd_flow *f, const struct ndp_hdr *h)
{
	const struct ndp_snd_pkt *pkt = &f->sb.pkt[h->seq & f->sb.mask];

	if (f->sb.next - h->seq <= f->sb.mask + 1 && pkt->try_no != h->try_no)
		ndp_snd_slow(f, pkt);
}

/* The reordering time: doubled while it is much shorter than a timeout, which must come later */
static u64 ndp_snd_reorder_ns(const struct ndp_snd_call *c, const struct ndp_snd_flow *f)
{
	u32 most = max_t(u32, c->p->reorder_ns, c->p->rto_ns - c->p->rto_ns / 4);

	return min_t(u64, (u64)c->p->reorder_ns << f->reorder, most);
}

/* Packets were lost, maybe: a reordering time that is not needed any more becomes shorter. */
static void ndp_snd_persist(struct ndp_snd_flow *f)
{
	if (!f->reorder || --f->persist)
		return;
	f->reorder--;
	f->persist = NDP_SND_PERSIST;
}

/**
 * ndp_snd_overtake() - a packet was answered: earlier ones that were not are lost
 * @c: call
 * @f: flow
 * @sent_ns: time of its transmission; 0: unknown
 * @below: bands above its own
 *
 * Packets of its band or a higher one that were sent earlier by the reordering time are lost. Those
 * behind one of a lower band are not examined.
 */
void ndp_snd_overtake(const struct ndp_snd_call *c, struct ndp_snd_flow *f, u64 sent_ns, u8 below)
{
	u64 reorder_ns = ndp_snd_reorder_ns(c, f);
	struct ndp_scoreboard *sb = &f->sb;
	struct ndp_snd_pkt *pkt;
	bool any = false;

	while (sb->flight.count) {
		pkt = &sb->pkt[sb->flight.head];
		if (pkt->below > below || pkt->sent_ns + reorder_ns >= sent_ns)
			break;
		any = true;
		ndp_snd_judge(c, pkt->path, NDP_OUTCOME_LOST);
		ndp_snd_count(&c->stats->overtaken_packets, 1);
		ndp_sb_lose(sb, pkt, false);
	}
	if (any)
		ndp_snd_persist(f);
}
