// SPDX-License-Identifier: GPL-2.0-only
/*
 * NDP sender: permission to send, demand and answers of a flow; described in snd.h
 */
#include <linux/errno.h>
#include "snd.h"

/* ---- permission ---- */

/**
 * ndp_snd_is_stalled() - will the receiver send no packet by itself?
 * @f: flow
 *
 * Return: true if it has answered everything and owes no pull, or does not know the demand because
 * the packets that carried it did not arrive.
 */
bool ndp_snd_is_stalled(const struct ndp_snd_flow *f)
{
	return !f->sb.flight.count && !f->credit && (!ndp_snd_expected(f) || f->unheard);
}

static bool ndp_snd_may_stall(const struct ndp_snd_flow *f)
{
	return f->stalls < NDP_SND_STALLS_MAX && ndp_snd_is_stalled(f);
}

/* New packets that may be sent without a pull */
static u32 ndp_snd_spec(const struct ndp_snd_flow *f, const struct ndp_snd_params *p)
{
	u32 window = min_t(u32, p->initial_window, f->window), flight = f->sb.flight.count;
	u32 left = window > flight ? window - flight : 0;

	if (ndp_snd_expected(f) || f->credit || f->sb.lost.count)
		return min_t(u32, left, f->spec);
	return left;
}

/* New packets for which the ring has room */
static u32 ndp_snd_sendable(const struct ndp_snd_flow *f)
{
	return (u32)min_t(u64, f->new_packets, ndp_sb_room(&f->sb));
}

/**
 * ndp_snd_has_new() - check whether a new packet may be sent, once there is permission
 * @f: flow
 *
 * In order, no message begins while an earlier one is refused.
 *
 * Return: true if so.
 */
bool ndp_snd_has_new(const struct ndp_snd_flow *f)
{
	const struct ndp_snd_msg *m = ndp_snd_first(f);

	if (!m || !ndp_sb_room(&f->sb))
		return false;
	if (!list_empty(&m->begun))
		return true;
	return !f->in_order || list_empty(&f->refused);
}

/* Does a new packet go before the lost ones, since the receiver may have room for just that one? */
static bool ndp_snd_is_new_first(const struct ndp_snd_flow *f)
{
	return f->full && ndp_sb_room(&f->sb) && ndp_snd_unsent(f);
}

/* Is a packet in flight that will show whether the receiver has room? Then pulls have to wait. */
static bool ndp_snd_is_testing(const struct ndp_snd_flow *f)
{
	return f->refused_room && !f->push && f->sb.flight.count;
}

/**
 * ndp_snd_pick() - choose the next action of a flow
 * @f: flow
 * @p: configuration
 *
 * Return: the action, which ndp_snd_send() performs.
 */
enum ndp_snd_action ndp_snd_pick(const struct ndp_snd_flow *f, const struct ndp_snd_params *p)
{
	if ((f->credit || f->push) && ndp_snd_is_new_first(f))
		return NDP_SND_NEW;
	if (ndp_snd_is_testing(f))
		return f->probe ? NDP_SND_PROBE : NDP_SND_WAIT;
	/* a receiver without room would refuse the packet again */
	if (f->sb.lost.count && (f->push || f->credit || (f->window && ndp_snd_may_stall(f))))
		return NDP_SND_RTX;
	if (ndp_snd_has_new(f)) {
		if (f->credit || ndp_snd_spec(f, p) || f->push)
			return NDP_SND_NEW;
		if (!f->sb.lost.count && !ndp_snd_expected(f) && ndp_snd_may_stall(f))
			return NDP_SND_PROBE;
	}
	return f->probe ? NDP_SND_PROBE : NDP_SND_WAIT;
}

/*
 * The lost packet to retransmit. A receiver without room accepts at most the first missing packet
 * of a message: the one that was sent longest ago is next.
 */
static u32 ndp_snd_lost_slot(const struct ndp_snd_flow *f)
{
	u32 slot = f->full ? ndp_snd_first_lost(f) : NDP_RING_NONE;

	return slot == NDP_RING_NONE ? f->sb.lost.head : slot;
}

/**
 * ndp_snd_avoid() - get the path that a retransmission should not take
 * @f: flow; ndp_snd_pick() returned NDP_SND_RTX
 *
 * Return: path of the last transmission.
 */
u8 ndp_snd_avoid(const struct ndp_snd_flow *f)
{
	return f->sb.pkt[ndp_snd_lost_slot(f)].path;
}

/**
 * ndp_snd_level() - get the level of a message's packets: the shorter its rest, the higher
 * @m: message
 * @bands: number of levels, at least 1
 *
 * Return: 0..bands - 1; NICs and switches send higher ones first.
 */
u8 ndp_snd_level(const struct ndp_snd_msg *m, u32 bands)
{
	u64 rest = m->len - m->done, most = NDP_SND_TOP_BYTES;
	u32 level = bands - 1;

	for (; level && rest > most; level--)
		most *= NDP_SND_LEVEL_STEP;
	return (u8)level;
}

/**
 * ndp_snd_next() - describe the packet of the next action
 * @f: flow
 * @action: NDP_SND_NEW or NDP_SND_RTX, which ndp_snd_pick() returned
 * @bands: number of levels, at least 1
 *
 * Return: the packet.
 */
struct ndp_snd_next ndp_snd_next(const struct ndp_snd_flow *f, enum ndp_snd_action action,
				 u32 bands)
{
	bool rtx = action == NDP_SND_RTX;
	const struct ndp_snd_pkt *pkt = rtx ? &f->sb.pkt[ndp_snd_lost_slot(f)] : NULL;
	const struct ndp_snd_msg *m = rtx ? pkt->msg : ndp_snd_first(f);
	u16 len = rtx ? pkt->len : ndp_snd_cut_len(m);

	return (struct ndp_snd_next) {
		.rest = m->len - m->sent + (rtx ? len : 0), .len = len, .prio = m->prio,
		.level = ndp_snd_level(m, bands),
	};
}

/* ---- sending ---- */

static struct ndp_snd_pkt *ndp_snd_take_lost(const struct ndp_snd_call *c, struct ndp_snd_flow *f)
{
	ndp_snd_count(&c->stats->rtx_packets, 1);
	if (f->push) {
		f->push = false;
		ndp_snd_count(&c->stats->pushed_packets, 1);
	} else if (f->credit) {
		f->credit--;
	} else {
		f->stalls++;
		ndp_snd_count(&c->stats->pushed_packets, 1);
		ndp_snd_count(&c->stats->stalls, 1);
	}
	return ndp_sb_resend(&f->sb, ndp_snd_lost_slot(f));
}

static struct ndp_snd_pkt *ndp_snd_take_new(const struct ndp_snd_call *c, struct ndp_snd_flow *f,
					    bool *spec)
{
	struct ndp_snd_pkt *pkt;

	*spec = !f->credit;
	if (*spec) {
		if (!f->push)
			f->spec = ndp_snd_spec(f, c->p) - 1;
		f->push = false;
		ndp_snd_count(&c->stats->spec_packets, 1);
	} else {
		f->credit--;
	}
	pkt = ndp_snd_cut(f, ndp_snd_first(f));
	f->full = false;
	ndp_snd_count(&c->stats->new_packets, 1);
	ndp_snd_count(&c->stats->new_bytes, pkt->len);
	return pkt;
}

static void ndp_snd_probe(const struct ndp_snd_call *c, struct ndp_snd_flow *f, struct ndp_hdr *h)
{
	if (!f->probe)
		f->stalls++;
	ndp_snd_count(&c->stats->probes, 1);
	h->type = NDP_PROBE;
	h->seq = f->sb.base - 1;
	h->try_no = f->probe_no++;
}

static void ndp_snd_data(struct ndp_snd_flow *f, const struct ndp_snd_pkt *pkt, struct ndp_hdr *h)
{
	h->type = NDP_DATA;
	h->seq = ndp_sb_seq(&f->sb, (u32)(pkt - f->sb.pkt));
	h->try_no = pkt->try_no;
	h->payload_len = pkt->len;
	if (!f->known)
		h->flags |= NDP_DATA_SYN;
	if (h->seq + 1 == f->sb.next) {
		f->said_last &= pkt->try_no > 0;
		if (!f->new_packets) {
			f->said_last = true;
			h->flags |= NDP_DATA_LAST;
		}
	}
	h->data.prio = pkt->msg->prio;
	h->data.msg_id = pkt->msg->id;
	h->data.offset = pkt->offset;
	h->data.msg_len = pkt->msg->len;
}

/*
 * New packets for which one packet may raise the demand. A sender that uses each pull at once is
 * pulled twice as fast a round trip later. One with credit left is limited by its own link, and
 * is pulled as often as it sends: pulls that it cannot use are lost to the receiver's other
 * senders.
 */
static u32 ndp_snd_growth(const struct ndp_snd_flow *f, u32 covered, u32 half)
{
	if (covered < half)
		return max_t(u32, half - covered, 2);
	return f->credit > half ? 0 : f->credit ? 1 : 2;
}

/* Raise the demand that the next header announces. */
static void ndp_snd_announce(const struct ndp_snd_call *c, struct ndp_snd_flow *f)
{
	u32 fresh = ndp_snd_sendable(f), spec = ndp_snd_spec(f, c->p);
	u32 lost = f->sb.lost.count, covered = f->credit + ndp_snd_expected(f);
	u32 need = lost + fresh - min_t(u32, fresh, spec), more;

	/* most packets need no more, whether new ones may be sent or not */
	if (need > covered && !ndp_snd_has_new(f))
		need = lost;
	if (need <= covered)
		return;
	more = max_t(u32, ndp_snd_growth(f, covered, c->p->initial_window / 2),
		     lost > covered ? lost - covered : 0);
	if (!more)
		return;
	f->announced += min_t(u32, need - covered, more);
	f->announced_ns = c->now;
	f->unheard = true;
}

static u32 ndp_snd_msg_base(const struct ndp_snd_flow *f)
{
	if (list_empty(&f->begun))
		return f->msg_next;
	return list_first_entry(&f->begun, struct ndp_snd_msg, begun)->id;
}

/**
 * ndp_snd_send() - perform the action that ndp_snd_pick() has chosen
 * @c: call
 * @f: flow
 * @action: action; not NDP_SND_WAIT
 * @path: path of the packet
 * @h: result: header
 *
 * Return: the packet; NULL: a PROBE.
 */
const struct ndp_snd_pkt *ndp_snd_send(const struct ndp_snd_call *c, struct ndp_snd_flow *f,
				       enum ndp_snd_action action, u8 path, struct ndp_hdr *h)
{
	struct ndp_snd_pkt *pkt = NULL;
	bool spec = false;

	*h = (struct ndp_hdr) {
		.path = path, .flow_id = f->flow_id, .sport = f->sport, .dport = f->dport,
	};
	f->quiet_ns = c->now;
	if (!f->unanswered)
		f->silent_ns = c->now;
	f->unanswered = true;
	if (action == NDP_SND_PROBE) {
		ndp_snd_probe(c, f, h);
	} else {
		if (action == NDP_SND_RTX)
			pkt = ndp_snd_take_lost(c, f);
		else
			pkt = ndp_snd_take_new(c, f, &spec);
		pkt->path = path;
		pkt->sent_ns = c->now;
		pkt->postponed = false;
		pkt->reorder = f->reorder & 1;
		pkt->below = (u8)(c->bands - 1 - ndp_snd_level(pkt->msg, c->bands));
		h->flags = action == NDP_SND_RTX ? NDP_DATA_RTX : spec ? NDP_DATA_SPEC : 0;
		ndp_snd_data(f, pkt, h);
	}
	f->probe = false;
	ndp_snd_announce(c, f);
	h->data.base = f->sb.base;
	h->data.pull_target = f->announced;
	h->data.msg_base = ndp_snd_msg_base(f);
	h->data.token = f->token;
	return pkt;
}

/**
 * ndp_snd_postpone() - a packet has left the host only now
 * @f: flow
 * @pkt: packet in flight; the packet that was sent last comes first
 * @now: time, which counts as the time of transmission
 *
 * The order of packets and of the announcement of demand is kept.
 */
void ndp_snd_postpone(struct ndp_snd_flow *f, struct ndp_snd_pkt *pkt, u64 now)
{
	pkt->postponed = true;
	if (pkt->sent_ns >= f->announced_ns) {
		pkt->sent_ns = now;
	} else {
		pkt->sent_ns = now - 1;
		f->announced_ns = now;
	}
}

/* ---- answers ---- */

static void ndp_snd_answered(struct ndp_snd_flow *f, bool ack)
{
	f->answers = f->answers << 1 | ack;
	if (f->answers_count < NDP_SND_ANSWERS)
		f->answers_count++;
}

/* Do most packets arrive, so that those which do not take a bad path? */
static bool ndp_snd_path_is_bad(const struct ndp_snd_flow *f)
{
	u16 last = f->answers;

	return f->answers_count == NDP_SND_ANSWERS &&
	       4 * (hweight8((u8)last) + hweight8((u8)(last >> 8))) > NDP_SND_ANSWERS;
}

/* Return: the packet in flight that an answer names, if its last transmission is meant */
static struct ndp_snd_pkt *ndp_snd_flying(const struct ndp_snd_flow *f, const struct ndp_hdr *h)
{
	struct ndp_snd_pkt *pkt = ndp_sb_find(&f->sb, h->seq);

	return pkt && pkt->state == NDP_PKT_FLIGHT && pkt->try_no == h->try_no ? pkt : NULL;
}

static struct ndp_snd_pkt *ndp_snd_about(const struct ndp_snd_call *c,
					 const struct ndp_snd_flow *f, const struct ndp_hdr *h)
{
	struct ndp_snd_pkt *pkt = ndp_snd_flying(f, h);

	if (!pkt)
		ndp_snd_count(&c->stats->answers_stale, 1);
	return pkt;
}

/* The receiver has seen a packet's last transmission, and its announcement. */
static void ndp_snd_reached(struct ndp_snd_flow *f, const struct ndp_snd_pkt *pkt)
{
	if (pkt->state == NDP_PKT_FLIGHT && pkt->sent_ns >= f->announced_ns)
		f->unheard = false;
}

/*
 * A CONTROL covers a packet without naming it. If the packet was sent more than once, the
 * transmission is unknown.
 */
static void ndp_snd_implied(const struct ndp_snd_call *c, struct ndp_snd_flow *f,
			    const struct ndp_snd_pkt *pkt, bool ack)
{
	if (pkt->try_no)
		return;
	ndp_snd_answered(f, ack);
	ndp_snd_judge(c, pkt->path, ack ? NDP_OUTCOME_ACK : NDP_OUTCOME_NACK);
	ndp_snd_reached(f, pkt);
}

/*
 * The packet that a CONTROL names. Another CONTROL may have covered its first transmission, whose
 * path is not judged twice. Any answer shows that a path is not dead.
 */
static void ndp_snd_named(const struct ndp_snd_call *c, struct ndp_snd_flow *f,
			  const struct ndp_hdr *h)
{
	const struct ndp_snd_pkt *pkt = ndp_sb_find(&f->sb, h->seq);
	bool whole = h->flags & (NDP_CTL_ACK | NDP_CTL_FULL);
	bool last = pkt && pkt->try_no == h->try_no;

	ndp_snd_answered(f, whole);
	if (h->flags & NDP_CTL_ACK)
		ndp_snd_vain(f, h);
	if (last)
		ndp_snd_reached(f, pkt);
	if (h->try_no || (whole ? !!pkt : last && pkt->state == NDP_PKT_FLIGHT) ||
	    (c->paths && h->path < c->paths->count && ndp_path_avoided(c->paths, h->path)))
		ndp_snd_judge(c, h->path, whole ? NDP_OUTCOME_ACK : NDP_OUTCOME_NACK);
}

/* Acknowledge a packet before ack_base or in sack. */
static void ndp_snd_acked(const struct ndp_snd_call *c, struct ndp_snd_flow *f, u32 seq,
			  const struct ndp_hdr *h)
{
	struct ndp_snd_pkt *pkt = ndp_sb_find(&f->sb, seq);

	if (!pkt)
		return;
	if (seq != h->seq || !(h->flags & NDP_CTL_ACK))
		ndp_snd_implied(c, f, pkt, true);
	ndp_snd_pkt_done(c, f, pkt);
}

/* Process ACKs, cumulative and selective. Return: was there news? */
static bool ndp_snd_acks(const struct ndp_snd_call *c, struct ndp_snd_flow *f,
			 const struct ndp_hdr *h)
{
	struct ndp_scoreboard *sb = &f->sb;
	struct ndp_snd_pkt *pkt;
	u32 seq = sb->base;
	bool news = false;
	u64 map;

	for (; ndp_before(seq, h->ctl.ack_base); seq++) {
		ndp_snd_acked(c, f, seq, h);
		news = true;
	}
	ndp_sb_advance(sb);
	map = ndp_sb_news(sb, h->ctl.ack_base, h->ctl.sack, ndp_sb_map(sb, sb->done));
	for (; map; map &= map - 1) {
		ndp_snd_acked(c, f, sb->base + __ffs64(map), h);
		news = true;
	}
	pkt = h->flags & NDP_CTL_ACK ? ndp_sb_find(sb, h->seq) : NULL;
	if (pkt) {
		ndp_snd_pkt_done(c, f, pkt);
		news = true;
	}
	ndp_sb_advance(sb);
	if (news)
		f->refused_room = false;
	return news;
}

/* The packet that a NACK names, or a report that it found no room. Return: was that news? */
static bool ndp_snd_named_lost(const struct ndp_snd_call *c, struct ndp_snd_flow *f,
			       const struct ndp_hdr *h)
{
	struct ndp_snd_pkt *pkt;

	if (!(h->flags & (NDP_CTL_NACK | NDP_CTL_FULL)))
		return false;
	pkt = ndp_snd_about(c, f, h);
	if (!pkt)
		return false;
	ndp_snd_count(h->flags & NDP_CTL_NACK ? &c->stats->nacked_packets :
		      &c->stats->full_packets, 1);
	ndp_sb_lose(&f->sb, pkt, false);
	if (h->flags & NDP_CTL_FULL) {
		f->full = true;
		f->refused_room = true;
		ndp_snd_rewind(f, pkt->msg);
	}
	return true;
}

/* Process NACKs: of the named packet, and of first transmissions. Return: was there news? */
static bool ndp_snd_nacks(const struct ndp_snd_call *c, struct ndp_snd_flow *f,
			  const struct ndp_hdr *h)
{
	struct ndp_scoreboard *sb = &f->sb;
	bool news = ndp_snd_named_lost(c, f, h);
	struct ndp_snd_pkt *pkt;
	u64 map;

	map = ndp_sb_news(sb, h->ctl.ack_base, h->ctl.nack,
			  ndp_sb_map(sb, sb->done) | ndp_sb_map(sb, sb->again));
	for (; map; map &= map - 1) {
		pkt = ndp_sb_find(sb, sb->base + __ffs64(map));
		ndp_snd_implied(c, f, pkt, false);
		ndp_snd_count(&c->stats->nacked_packets, 1);
		ndp_sb_lose(sb, pkt, false);
		news = true;
	}
	return news;
}

/*
 * Process the counters of NACKs and pulls. An honest receiver pulls no more than the demand. Beyond
 * it, a ring's packets are accepted each time, so that both sides agree again in the
 * end, whatever was wrong. Return: were there pulls?
 */
static bool ndp_snd_pulls(const struct ndp_snd_call *c, struct ndp_snd_flow *f,
			  const struct ndp_ctl *ctl)
{
	u32 ring = f->sb.mask + 1, most, pulls, room;
	u16 trimmed = (u16)(ctl->trimmed - f->trimmed);

	if (trimmed && trimmed < 0x8000) {
		room = 2 * ring - min_t(u32, ndp_snd_expected(f), 2 * ring);
		f->announced += min_t(u32, trimmed, room);
		f->trimmed = ctl->trimmed;
	}
	if (!ndp_before(f->pull, ctl->pull))
		return false;
	pulls = ctl->pull - f->pull;
	most = ndp_snd_expected(f) + ring;
	if (pulls > most) {
		ndp_snd_count(&c->stats->pulls_refused, pulls - most);
		pulls = most;
	}
	f->pull += pulls;
	if (ndp_before(f->announced, f->pull))
		f->announced = f->pull;
	room = c->p->initial_window - min_t(u32, f->credit, c->p->initial_window);
	ndp_snd_count(&c->stats->pulls, pulls);
	ndp_snd_count(&c->stats->pulls_unused, pulls - min_t(u32, pulls, room));
	f->credit += min_t(u32, pulls, room);
	return true;
}

/* The receiver has room or not (0). When it has room again, backoff ends. */
static void ndp_snd_window(const struct ndp_snd_call *c, struct ndp_snd_flow *f, u32 window)
{
	if (!f->window && window) {
		ndp_snd_progress(c, f);
		if (f->sb.flight.count)
			f->sb.pkt[f->sb.flight.head].timeouts = 0;
	}
	f->window = window;
	if (!window)
		f->full_ns = c->now;
}

/* NACK of a receiver without state, which will not pull the packet */
static enum ndp_snd_verdict ndp_snd_bare(const struct ndp_snd_call *c, struct ndp_snd_flow *f,
					 const struct ndp_hdr *h)
{
	struct ndp_snd_pkt *pkt = ndp_snd_about(c, f, h);

	ndp_snd_judge(c, h->path, NDP_OUTCOME_NACK);
	if (!pkt)
		return NDP_SND_STALE;
	ndp_snd_answered(f, false);
	ndp_snd_count(&c->stats->nacked_packets, 1);
	ndp_sb_lose(&f->sb, pkt, false);
	return NDP_SND_NEWS;
}

static enum ndp_snd_verdict ndp_snd_deny(const struct ndp_snd_call *c)
{
	ndp_snd_count(&c->stats->answers_refused, 1);
	return NDP_SND_REFUSED;
}

/**
 * ndp_snd_control() - process a CONTROL
 * @c: call
 * @f: flow
 * @h: header; its addresses and flow_id are the flow's
 *
 * O(1), and O(1) for each packet that it covers. ndp_snd_reap() and ndp_snd_pick() may have
 * results then.
 *
 * Return: effect.
 */
enum ndp_snd_verdict ndp_snd_control(const struct ndp_snd_call *c, struct ndp_snd_flow *f,
				     const struct ndp_hdr *h)
{
	u8 about = h->flags & (NDP_CTL_ACK | NDP_CTL_NACK | NDP_CTL_FULL), below = 0;
	const struct ndp_snd_pkt *pkt;
	u64 sent_ns = 0;
	bool news;

	if (!f->sb.pkt || f->error)
		return NDP_SND_STALE;
	if (about && f->sb.next - h->seq - 1 >= 2 * NDP_RING_MAX)
		return ndp_snd_deny(c);
	if (h->flags & NDP_CTL_BARE)
		return ndp_snd_bare(c, f, h);
	if (!ndp_sb_covers(&f->sb, &h->ctl))
		return ndp_snd_deny(c);

	f->unanswered = false;
	f->stalls = 0;
	f->known = true;
	f->token = h->ctl.token;
	if (h->flags & NDP_CTL_PING)
		f->probe = true;
	if (h->flags & NDP_CTL_ROOM)
		ndp_snd_retry(c, f, h->flags & NDP_CTL_PROBED);
	pkt = about ? ndp_snd_flying(f, h) : NULL;
	if (pkt && !pkt->postponed && c->p->reorder_ns) {
		sent_ns = pkt->sent_ns;
		below = pkt->below;
	}
	if (about)
		ndp_snd_named(c, f, h);
	else if (h->flags & NDP_CTL_PROBED)
		ndp_snd_judge(c, h->path, NDP_OUTCOME_ACK);
	news = ndp_snd_acks(c, f, h);
	news |= ndp_snd_nacks(c, f, h);
	ndp_snd_overtake(c, f, sent_ns, below);
	news |= ndp_snd_pulls(c, f, &h->ctl);
	ndp_snd_window(c, f, h->ctl.window);
	if (news)
		ndp_snd_progress(c, f);
	ndp_snd_settle(c, f);
	return news ? NDP_SND_NEWS : NDP_SND_STALE;
}

/**
 * ndp_snd_carried() - make the CONTROL for which an ACK stands that DATA has carried
 * @c: call
 * @f: flow
 * @seq: packets up to this one have arrived
 * @h: result, for ndp_snd_control()
 *
 * The ACK is of the first transmission of packet @seq. If that was sent again, its path is unknown.
 * Only a receiver with room, from which a CONTROL has arrived, lets an ACK be carried.
 *
 * Return: false if it has no news or cannot be true.
 */
bool ndp_snd_carried(const struct ndp_snd_call *c, const struct ndp_snd_flow *f, u32 seq,
		     struct ndp_hdr *h)
{
	const struct ndp_snd_pkt *pkt;

	if (!f->sb.pkt || f->error)
		return false;
	if (!f->token || f->sb.next - seq - 1 >= 2 * NDP_RING_MAX) {
		ndp_snd_deny(c);
		return false;
	}
	pkt = ndp_sb_find(&f->sb, seq);
	if (!pkt) {
		ndp_snd_count(&c->stats->answers_stale, 1);
		return false;
	}
	*h = (struct ndp_hdr) {
		.type = NDP_CONTROL, .flow_id = f->flow_id, .sport = f->dport, .dport = f->sport,
		.ctl = {
			.ack_base = seq + 1, .pull = f->pull, .trimmed = f->trimmed,
			.token = f->token, .window = (u16)(f->window ?: 1),
		},
	};
	if (!pkt->try_no) {
		h->flags = NDP_CTL_ACK;
		h->seq = seq;
		h->path = pkt->path;
	}
	return true;
}

/**
 * ndp_snd_returned() - process a packet that a switch has returned
 * @c: call
 * @f: flow
 * @h: its header
 *
 * Return: NDP_SND_NEWS if it will be retransmitted; its path is suspect.
 */
enum ndp_snd_verdict ndp_snd_returned(const struct ndp_snd_call *c, struct ndp_snd_flow *f,
				      const struct ndp_hdr *h)
{
	struct ndp_snd_pkt *pkt;

	if (!f->sb.pkt || f->error || h->type != NDP_DATA)
		return NDP_SND_STALE;
	pkt = ndp_snd_about(c, f, h);
	if (!pkt)
		return NDP_SND_STALE;
	ndp_snd_count(&c->stats->returned_packets, 1);
	ndp_snd_answered(f, false);
	ndp_sb_lose(&f->sb, pkt, true);
	if (ndp_snd_path_is_bad(f))
		f->push = true;
	return NDP_SND_NEWS;
}

/**
 * ndp_snd_cookie() - process a COOKIE: the receiver did not keep the packet
 * @c: call
 * @f: flow
 * @h: header
 *
 * Return: effect.
 */
enum ndp_snd_verdict ndp_snd_cookie(const struct ndp_snd_call *c, struct ndp_snd_flow *f,
				    const struct ndp_hdr *h)
{
	struct ndp_snd_pkt *pkt;

	if (!f->sb.pkt || f->error)
		return NDP_SND_STALE;
	pkt = ndp_snd_about(c, f, h);
	if (!pkt)
		return NDP_SND_STALE;
	ndp_snd_count(&c->stats->cookies, 1);
	ndp_sb_lose(&f->sb, pkt, false);
	if (f->token != h->token && f->stalls < NDP_SND_STALLS_MAX) {
		f->stalls++;
		f->push = true;
	}
	f->token = h->token;
	return NDP_SND_NEWS;
}

/*
 * The receiver has no room for a message now. If it has acknowledged a packet of the message, it is
 * wrong.
 */
static enum ndp_snd_verdict ndp_snd_no_room(const struct ndp_snd_call *c, struct ndp_snd_flow *f,
					    struct ndp_snd_msg *m)
{
	if (m->acked)
		return ndp_snd_deny(c);
	f->unanswered = false;
	f->stalls = 0;
	f->known = true;
	f->full_ns = c->now;
	ndp_snd_refuse(c, f, m);
	f->quiet_ns = c->now;
	ndp_snd_settle(c, f);
	return NDP_SND_NEWS;
}

/**
 * ndp_snd_error() - process an ERROR
 * @c: call
 * @f: flow
 * @h: header
 *
 * It must name a packet that is not done, or the last one before. A host that cannot see the
 * flow's packets can hardly guess that and flow_id.
 *
 * Return: NDP_SND_NEWS if the flow or a message has failed or was refused.
 */
enum ndp_snd_verdict ndp_snd_error(const struct ndp_snd_call *c, struct ndp_snd_flow *f,
				   const struct ndp_hdr *h)
{
	struct ndp_snd_pkt *pkt;

	if (!f->sb.pkt || f->error || ndp_snd_is_idle(f))
		return NDP_SND_STALE;
	pkt = ndp_sb_find(&f->sb, h->seq);
	if (!pkt && h->seq + 1 != f->sb.base)
		return ndp_snd_deny(c);
	switch (h->err.code) {
	case NDP_CODE_NO_PORT:
		ndp_snd_fail(c, f, ECONNREFUSED);
		return NDP_SND_NEWS;
	case NDP_CODE_NO_FLOW:
		ndp_snd_fail(c, f, ECONNRESET);
		return NDP_SND_NEWS;
	case NDP_CODE_REFUSED:
		if (!pkt || pkt->msg->id != h->err.msg_id)
			return ndp_snd_deny(c);
		return ndp_snd_no_room(c, f, pkt->msg);
	case NDP_CODE_GONE:
		if (!pkt || pkt->msg->id != h->err.msg_id)
			return ndp_snd_deny(c);
		ndp_snd_cancel(c, f, pkt->msg, EMSGSIZE);
		return NDP_SND_NEWS;
	default:
		return ndp_snd_deny(c);
	}
}
