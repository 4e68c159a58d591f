// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sender's parameters: from options, link rate, round-trip time and thresholds
 */

#include <linux/jiffies.h>
#include <linux/netdevice.h>
#include "pcrp.h"
#include "pcrp_auto.h"

/* Time between two calls of pcrp_refresh(): 10 ms, but at least a tick */
#define PCRP_REFRESH_JIFFIES	(HZ / 100 + 1)
/* Assumed rate of a link that does not report it, bytes per second */
#define PCRP_LINK_UNKNOWN	1250000000ULL
/* Largest GSO packet that counts. The stack builds larger ones (BIG TCP) for fast links only. */
#define PCRP_PACKET_MAX		65536U

static u64 pcrp_mfwt_ns(const struct pcrp_sched_data *q, u32 chain_bytes)
{
	switch (q->cfg.options.mfwt_mode) {
	case TC_PCRP_MFWT_OFF:
		return U64_MAX;
	case TC_PCRP_MFWT_TIME:
		return (u64)q->cfg.options.mfwt_us * NSEC_PER_USEC;
	default:
		return pcrp_auto_mfwt(q->rate_Bps, chain_bytes);
	}
}

/* Thresholds of P0..P2: the qdisc's, else the namespace's, else from the chain's length */
static void pcrp_refresh_spec(struct pcrp_sched_data *q, u32 chain_bytes)
{
	u64 *to = q->params.spec_bytes;

	if (q->cfg.spec_bytes[0]) {
		memcpy(to, q->cfg.spec_bytes, sizeof(q->params.spec_bytes));
		return;
	}
	pcrp_net_changed(q->pn, &q->updates_seen);
	if (pcrp_net_thresholds(q->pn, to))
		return;
	to[0] = chain_bytes / 4;
	to[1] = chain_bytes;
	to[2] = 4ULL * chain_bytes;
}

/*
 * Largest packet that the stack builds. A receiver sees it only when it is complete. So
 * a chain must hold more than one of them, or each would wait for its GRANT.
 */
static u32 pcrp_packet_max(const struct net_device *dev)
{
	u32 mtu = READ_ONCE(dev->mtu);

	if (!(dev->features & NETIF_F_GSO))
		return mtu;
	return max(mtu, min3(READ_ONCE(dev->gso_max_size), READ_ONCE(dev->gso_max_segs) * mtu,
			     PCRP_PACKET_MAX));
}

/**
 * pcrp_refresh() - compute the parameters
 * @q: the qdisc
 * @now: the time, ns
 *
 * Call it after a change of options, link rate or round-trip time, and when q->refresh_at
 * has come, for changes of MTU and thresholds.
 */
void pcrp_refresh(struct pcrp_sched_data *q, u64 now)
{
	const struct net_device *dev = qdisc_dev(q->user.sch);
	struct pcrp_tx_params *p = &q->params;
	u32 chain_bytes;

	q->refresh_at = jiffies + PCRP_REFRESH_JIFFIES;
	WRITE_ONCE(q->rtt_ns, pcrp_port_rtt_ns(q->port, now));
	WRITE_ONCE(q->rate_Bps, q->cfg.options.rate_Bps ?: q->link_Bps ?: PCRP_LINK_UNKNOWN);
	chain_bytes = q->cfg.options.chain_bytes ?:
		      pcrp_auto_chain(q->rate_Bps, q->rtt_ns, pcrp_packet_max(dev));
	p->first_bytes = q->cfg.options.first_bytes ?: q->cfg.options.chain_bytes ?:
			 pcrp_auto_chain(q->rate_Bps, q->rtt_ns, READ_ONCE(dev->mtu));
	p->mfwt_ns = pcrp_mfwt_ns(q, chain_bytes);
	p->hold_ns = (u64)q->cfg.options.hold_us * NSEC_PER_USEC;
	p->probe_ns = pcrp_auto_probe_ns(q->rtt_ns, q->rate_Bps, chain_bytes);
	p->probe_gap_ns = pcrp_auto_probe_gap_ns(q->rate_Bps);
	p->eu = q->cfg.options.eu;
	p->srpt = q->cfg.options.srpt;
	pcrp_refresh_spec(q, chain_bytes);
	if (chain_bytes == p->chain_bytes)
		return;
	WRITE_ONCE(p->chain_bytes, chain_bytes);
	pcrp_ingress_set_chain(q->port->ingress, &q->inbox, chain_bytes);
}
