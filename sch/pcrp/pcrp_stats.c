// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dump the statistics of sch_pcrp
 */

#include <net/netlink.h>
#include "pcrp.h"
#include "pcrp_counters.h"

#define PCRP_STAT(attr, member)	\
	{ TCA_PCRP_STATS_##attr, offsetof(struct pcrp_stats, member) / sizeof(u64) }

/* Statistics that are plain numbers */
static const struct {
	u16 attr;
	u16 index;
} pcrp_stat_attrs[] = {
	PCRP_STAT(CHAIN_BYTES, chain_bytes),
	PCRP_STAT(BASE_RTT_NS, base_rtt_ns),
	PCRP_STAT(RATE_BPS, rate_Bps),
	PCRP_STAT(FLOWS_READY, flows_ready),
	PCRP_STAT(FLOWS_WAITING, flows_waiting),
	PCRP_STAT(FLOWS_IDLE, flows_idle),
	PCRP_STAT(FLOWS_STARTED, tx.flows_started),
	PCRP_STAT(FLOWS_FINISHED, tx.flows_finished),
	PCRP_STAT(FLOWS_UNGATED, tx.flows_ungated),
	PCRP_STAT(FLOWS_OVERFLOW, flows_overflow),
	PCRP_STAT(CHAINS_SPECULATIVE, tx.chains_speculative),
	PCRP_STAT(CHAINS_GRANTED, tx.chains_granted),
	PCRP_STAT(CHAINS_OVERDUE, tx.chains_overdue),
	PCRP_STAT(PROMOTIONS, tx.promotions),
	PCRP_STAT(EU_PACKETS, tx.eu_packets),
	PCRP_STAT(REQUESTS_SENT, tx.requests_sent),
	PCRP_STAT(PROBES_SENT, tx.probes_sent),
	PCRP_STAT(GRANTS_RECEIVED, tx.grants_received),
	PCRP_STAT(GRANTS_LATE, tx.grants_late),
	PCRP_STAT(GRANTS_IDLE, tx.grants_idle),
	PCRP_STAT(GRANTS_REFUSED, tx.grants_refused),
	PCRP_STAT(PEERS, peers),
	PCRP_STAT(PEERS_ANSWERING, peers_answering),
	PCRP_STAT(PEERS_SILENT, peers_silent),
	PCRP_STAT(TOP_PACKETS, top_packets),
	PCRP_STAT(UNGATED_PACKETS, tx.ungated_packets),
	PCRP_STAT(DROPPED_LIMIT_PACKETS, dropped_limit_packets),
	PCRP_STAT(DROPPED_TOP_PACKETS, dropped_top_packets),
	PCRP_STAT(DROPPED_NOMEM_PACKETS, dropped_nomem_packets),
	PCRP_STAT(DROPPED_FORGED_PACKETS, dropped_forged_packets),
	PCRP_STAT(RX_REQUESTS, rx.requests),
	PCRP_STAT(RX_PROBES, rx.probes),
	PCRP_STAT(RX_MALFORMED, rx_malformed),
	PCRP_STAT(RX_OVERFLOW, rx.overflow),
	PCRP_STAT(RX_EXPIRED, rx.expired),
	PCRP_STAT(RX_FLOWS, rx_flows),
	PCRP_STAT(RX_GRANTED, rx_granted),
	PCRP_STAT(RX_GRANTED_PEAK, rx.granted_peak),
	PCRP_STAT(RX_EVICTED, rx.evicted),
	PCRP_STAT(RX_REVOKED, rx.revoked),
	PCRP_STAT(RX_FINISHED, rx.finished),
	PCRP_STAT(GRANTS_SENT, rx.grants),
	PCRP_STAT(ANSWERS_SENT, rx.answers),
	PCRP_STAT(WINDOW_PACKETS, window_packets),
	PCRP_STAT(WINDOW_EARLY, window_early),
};

static int pcrp_stats_put_prios(struct sk_buff *skb, const u64 *packets)
{
	struct nlattr *nest = nla_nest_start(skb, TCA_PCRP_STATS_PRIO_PACKETS);
	u32 prio;

	if (!nest)
		return -EMSGSIZE;
	for (prio = 0; prio < TC_PCRP_PRIOS; prio++)
		if (nla_put_u64_64bit(skb, TCA_PCRP_STATS_PRIO_P0 + prio, packets[prio],
				      TCA_PCRP_STATS_PRIO_PAD))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int pcrp_stats_put(struct sk_buff *skb, const struct pcrp_stats *st)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(pcrp_stat_attrs); i++)
		if (nla_put_u64_64bit(skb, pcrp_stat_attrs[i].attr,
				      ((const u64 *)st)[pcrp_stat_attrs[i].index],
				      TCA_PCRP_STATS_PAD))
			return -EMSGSIZE;
	return pcrp_config_dump_spec(skb, TCA_PCRP_STATS_SPEC_BYTES, st->spec_bytes) ?:
	       pcrp_stats_put_prios(skb, st->tx.prio_packets);
}

static void pcrp_tx_gather(const struct pcrp_sender *tx, struct pcrp_stats *to)
{
	to->flows_ready = READ_ONCE(tx->count[PCRP_TX_READY]);
	to->flows_waiting = READ_ONCE(tx->count[PCRP_TX_WAITING]);
	to->flows_idle = READ_ONCE(tx->count[PCRP_TX_IDLE]);
	pcrp_copy_counters(&to->tx, &tx->stats, sizeof(to->tx));
}

static void pcrp_peers_gather(const struct pcrp_peers *peers, struct pcrp_stats *to)
{
	u32 count[PCRP_PEER_STATES], state;

	pcrp_peers_count(peers, count);
	for (state = 0; state < PCRP_PEER_STATES; state++)
		to->peers += count[state];
	to->peers_answering = count[PCRP_PEER_ANSWERING];
	to->peers_silent = count[PCRP_PEER_SILENT];
}

/* Collect the statistics of the qdisc and of its device. */
static void pcrp_gather(struct pcrp_sched_data *q, struct pcrp_stats *st)
{
	u32 i;

	*st = (struct pcrp_stats) {
		.chain_bytes = READ_ONCE(q->params.chain_bytes),
		.base_rtt_ns = READ_ONCE(q->rtt_ns),
		.rate_Bps = READ_ONCE(q->rate_Bps),
		.flows_overflow = READ_ONCE(q->flows_overflow),
		.top_packets = READ_ONCE(q->top_packets),
		.dropped_limit_packets = READ_ONCE(q->dropped_limit_packets),
		.dropped_top_packets = READ_ONCE(q->dropped_top_packets),
		.dropped_nomem_packets = READ_ONCE(q->dropped_nomem_packets),
		.dropped_forged_packets = READ_ONCE(q->dropped_forged_packets),
	};
	for (i = 0; i < ARRAY_SIZE(st->spec_bytes); i++)
		st->spec_bytes[i] = READ_ONCE(q->params.spec_bytes[i]);
	pcrp_tx_gather(&q->tx, st);
	pcrp_peers_gather(&q->port->peers, st);
	pcrp_ingress_stats(q->port->ingress, st);
}

/**
 * pcrp_dump_stats() - dump the statistics of a qdisc
 * @sch: the qdisc
 * @d: dump
 *
 * Return: 0 or -1.
 */
int pcrp_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct pcrp_sched_data *q = qdisc_priv(sch);
	struct pcrp_stats st;
	struct nlattr *nest;

	nest = nla_nest_start_noflag(d->skb, TCA_STATS_APP);	/* like all qdiscs */
	if (!nest)
		return -1;
	pcrp_gather(q, &st);
	if (pcrp_stats_put(d->skb, &st)) {
		nla_nest_cancel(d->skb, nest);
		return -1;
	}
	nla_nest_end(d->skb, nest);
	return 0;
}
