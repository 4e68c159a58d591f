// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NDP transport: ACKs that DATA of the other direction carries
 *
 * Most programs answer a message soon. So the ACK of a whole message is deferred for NDP_RIDE_NS,
 * and offered to the flow from the same socket to the message's sender. If that flow begins a
 * message meanwhile, its first packet carries the ACK (NDP_DATA_ACK). Otherwise a CONTROL has it:
 *
 *	receiving flow, rx_lock			sending flow, tx->lock
 *
 *	message is whole --> offer --.
 *	                             +--> tx->ride --> next new packet carries it
 *	pacer: NDP_RIDE_NS later <---'
 *	   still there: withdraw, CONTROL
 *
 * Either side takes the offer by an atomic operation, so just one of them sends the ACK. It names
 * the flow and a packet up to which all have arrived, which remains true whatever happens to
 * the flow. A carrier that has to be retransmitted may have lost the ACK, so a CONTROL repeats it.
 *
 * Only ACKs that are likely to be carried are offered. A flow has a number of @ride_misses: each
 * ACK that was carried lowers it, each one that was not raises it, and at NDP_RIDE_MISSES only one
 * ACK in NDP_RIDE_TRY is offered. A socket without a flow to the sender defers nothing.
 */
#include "rx_ride.h"
#include "tx_table.h"

#define NDP_RIDE_MISSES	4	/* greatest number of misses, the least negated, ... */
#define NDP_RIDE_LATE	4	/* ... and difference by an ACK that was not carried in time */
#define NDP_RIDE_TRY	64U	/* divides 256 */

/* The flow of the other direction; or NULL. Under RCU */
static struct ndp_tx *ndp_ride_tx(const struct ndp_rx *rx)
{
	const struct ndp_tx_to to = {
		.sk = rx->sk, .addrs = rx->key.addrs, .port = rx->f.sport,
	};

	return ndp_tx_lookup(&to);
}

static void ndp_ride_missed(struct ndp_rx *rx, int misses)
{
	rx->ride_misses = (s8)min(rx->ride_misses + misses, NDP_RIDE_MISSES);
}

/*
 * Take an offer back. If the flow has ended or was renamed meanwhile, the offer may be lost, and
 * the ACK is sent again to be sure. Return: false if DATA has carried it
 */
static bool ndp_ride_withdraw(struct ndp_rx *rx, struct ndp_tx *tx)
{
	s64 offered = (s64)rx->offered;

	rx->offered = 0;
	if (!tx || atomic64_cmpxchg(&tx->ride, offered, 0) == offered ||
	    READ_ONCE(tx->flow_id) != rx->offered_to)
		return true;
	ndp_rcv_rode(&rx->f);
	rx->ride_misses = (s8)max(rx->ride_misses - 1, -NDP_RIDE_MISSES);
	return false;
}

/**
 * ndp_ride_end() - a CONTROL will be sent, or the time of a deferred answer has come
 * @rx: flow; under rx_lock and RCU
 * @late: DATA should have carried the ACK by now
 *
 * If DATA has carried it, no answer is deferred any more.
 */
void ndp_ride_end(struct ndp_rx *rx, bool late)
{
	if (rx->offered && ndp_ride_withdraw(rx, ndp_ride_tx(rx)) && late)
		ndp_ride_missed(rx, NDP_RIDE_LATE);
}

/* Has the sender nothing to learn but the ACK, and may that be deferred? */
static bool ndp_ride_suffices(const struct ndp_rx *rx, const struct ndp_packet *p,
			      enum ndp_rcv_verdict v)
{
	return !ndp_sk(rx->sk)->closed && rx->reported_room &&
	       ndp_rcv_may_ride(&rx->f, &p->h, v, p->dsfield) &&
	       rx->reported == READ_ONCE(rx->f.pull.granted) &&
	       rx->reported_trimmed == rx->f.trimmed;
}

static bool ndp_ride_is_likely(struct ndp_rx *rx)
{
	return rx->ride_misses < NDP_RIDE_MISSES || !(++rx->unoffered % NDP_RIDE_TRY);
}

/* Offer the ACK of a packet. Return: false: another ACK is offered */
static bool ndp_ride_put(struct ndp_rx *rx, struct ndp_tx *tx, u32 seq, u64 now)
{
	u64 offer = (u64)rx->key.flow_id << 32 | seq;

	if (!offer || atomic64_read(&tx->ride))
		return false;
	WRITE_ONCE(tx->ride_ns, (u32)now);
	if (atomic64_cmpxchg(&tx->ride, 0, (s64)offer))
		return false;
	rx->offered = offer;
	rx->offered_to = READ_ONCE(tx->flow_id);
	return true;
}

/**
 * ndp_ride_offer() - offer the ACK of a packet, and end the offer before
 * @rx: flow; under rx_lock and RCU
 * @p: packet
 * @v: verdict
 * @now: time
 *
 * Return: true if the answer is deferred.
 */
bool ndp_ride_offer(struct ndp_rx *rx, const struct ndp_packet *p, enum ndp_rcv_verdict v, u64 now)
{
	bool may = ndp_ride_suffices(rx, p, v) && ndp_ride_is_likely(rx), first;
	struct ndp_tx *tx;

	if (!may && !rx->offered)
		return false;
	tx = ndp_ride_tx(rx);
	if (rx->offered)
		ndp_ride_withdraw(rx, tx);
	if (!may)
		return false;
	if (!tx) {
		ndp_ride_missed(rx, 1);
		return false;
	}
	if (!ndp_ride_put(rx, tx, p->h.seq, now))
		return false;
	first = !rx->f.deferred.count;
	ndp_rcv_ride(&rx->f, &p->h, p->dsfield);
	ndp_pacer_defer(rx, NDP_DEFER_RIDE, first, now);
	return true;
}

/**
 * ndp_ride_take() - let a new packet carry an ACK, if one is offered
 * @tx: its flow, locked
 * @h: its header, which no retransmission has
 * @now: time
 */
void ndp_ride_take(struct ndp_tx *tx, struct ndp_hdr *h, u64 now)
{
	struct ndp_data *d = &h->data;
	s32 delay_ns;
	u64 ride;

	if (!atomic64_read(&tx->ride) || d->offset || d->msg_len > U32_MAX)
		return;
	ride = (u64)atomic64_xchg(&tx->ride, 0);
	if (!ride)
		return;
	delay_ns = max_t(s32, (s32)((u32)now - READ_ONCE(tx->ride_ns)), 0);
	h->flags |= NDP_DATA_ACK;
	d->ack_flow_id = (u32)(ride >> 32);
	d->ack_seq = (u32)ride;
	d->ack_delay = (u8)min_t(u32, (u32)delay_ns / NSEC_PER_USEC, NDP_ACK_DELAY_MAX);
	tx->carried = ride;
	tx->carrier_seq = h->seq;
}

/**
 * ndp_ride_lost() - a packet is retransmitted: did it carry an ACK?
 * @tx: its flow, locked
 * @w: work; result: ndp_ride_repeat() has to follow
 * @h: its header
 *
 * A later ACK covers earlier ones, so only the last carrier matters.
 */
void ndp_ride_lost(struct ndp_tx *tx, struct ndp_tx_work *w, const struct ndp_hdr *h)
{
	if (!tx->carried || h->seq != tx->carrier_seq)
		return;
	w->repeat = tx->carried;
	tx->carried = 0;
}

/**
 * ndp_ride_repeat() - repeat a carried ACK in a CONTROL
 * @tx: flow whose packet carried it
 * @ride: ACK
 *
 * Under RCU, without locks.
 */
void ndp_ride_repeat(const struct ndp_tx *tx, u64 ride)
{
	const struct ndp_packet of = {
		.nn = tx->peer->nn, .addrs = tx->to.addrs, .h.flow_id = (u32)(ride >> 32),
	};
	struct ndp_rx *rx = ndp_rx_lookup(&of);

	if (rx)
		READ_ONCE(rx->pacer)->say(rx, NDP_CTL_ROOM);
}

/**
 * ndp_ride_heard() - get the time at which a CONTROL would have arrived instead of a carried ACK
 * @d: DATA that carries it
 * @now: time
 *
 * Return: time; 0: unknown.
 */
u64 ndp_ride_heard(const struct ndp_data *d, u64 now)
{
	return d->ack_delay == NDP_ACK_DELAY_MAX ? 0 : now - d->ack_delay * NSEC_PER_USEC;
}
