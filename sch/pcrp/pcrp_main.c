// SPDX-License-Identifier: GPL-2.0-only
/*
 * sch_pcrp: packet-chain reservation as a qdisc
 *
 * For the egress of a host. The qdisc divides TCP, UDP and other traffic into flows, and
 * flows into chains of the bytes that the link carries in one round trip. A flow's first
 * chain leaves at once. Each later chain leaves when the receiver's qdisc, the peer, has
 * granted it. Short flows go first, and the DSCP of a packet carries its priority.
 *
 *	enqueue(): ACKs and control packets go to the top queue. A packet with data goes to
 *	  the FIFO of its flow (pcrp_flow.c). Most packets need no full parse (pcrp_plain.h),
 *	  and no lookup either if they continue the flow of the previous packet. Whether the
 *	  flow waits for GRANTs depends on its source and its peer (pcrp_host.c); the entry
 *	  remembers it for 10 ms, for the next flow with its key.
 *
 *	dequeue(): first applies the GRANTs that have come. Then it takes a packet from the
 *	  top queue, or else does what the sender decides (pcrp_sender.c): send a flow's
 *	  next packet, REQUEST or PROBE. If no flow may send, a watchdog is scheduled for
 *	  the end of the shortest wait.
 *
 *	ingress: the receiving half (pcrp_ingress.c) sees every packet that the device
 *	  receives. If a device has several pcrp qdiscs, as below mq, they share it
 *	  (pcrp_port.c).
 *
 *	            +------------------------- sch_pcrp --------------------------+
 *	 stack ---> | top ------------------------------------------------+       |
 *	            | flow 1 --+                                          v       |
 *	            | flow 2 --+-> EU, SRPT, MFWT --> P0..P7 in DSCP --> rate --> | device
 *	            | ...    --+        ^                                         |
 *	            +-------------------|-----------------------------------------+
 *	 stack <------------------ GRANTs, tables, window <------------------------ device
 *
 * Both ends count a flow's bytes by TCP sequence numbers, so a retransmission adds none.
 * It needs no GRANT, precedes packets that do, and starts no flow. The remaining bytes of
 * a flow are those queued here and those in its socket.
 *
 * Reference: K. Wu, D. Dong, C. Li, S. Huang, Y. Dai, "Network Congestion
 * Avoidance through Packet-chaining Reservation", ICPP 2019.
 *
 * Differences from the paper: see pcrp_sender.c, pcrp_receiver.c, pcrp_peer.c and
 * pcrp_wire.c, and:
 * - The paper's sender is a network interface that receives whole flows. Here, flows are
 *   TCP and UDP traffic. ACKs, which the paper does not have, go first.
 * - A GSO packet is sent whole, so a chain may be longer by one packet.
 */

#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <closnet/link_rate.h>
#include <closnet/qdisc.h>
#include <net/pkt_sched.h>
#include "pcrp.h"

/* Flows of a TX queue's qdisc, at least, by default */
#define PCRP_QUEUE_FLOWS	1024U

/* ---- configuration ---- */

/* Under the root lock, or in init() */
static void pcrp_apply(struct pcrp_sched_data *q, const struct pcrp_config *cfg)
{
	q->cfg = *cfg;
	closnet_shaper_set(&q->shaper, cfg->options.rate_Bps, cfg->options.overhead);
	pcrp_refresh(q, ktime_get_ns());
	pcrp_tx_params_changed(&q->tx);
}

static void pcrp_apply_ingress(struct pcrp_port *port, const struct pcrp_config *cfg)
{
	struct pcrp_ingress_params params = {
		.grants = cfg->options.grants,
		.evict = cfg->options.evict,
		.paper = cfg->options.profile == TC_PCRP_PROFILE_PAPER,
		.window_us = cfg->options.window_us,
	};

	memcpy(params.map, cfg->map, sizeof(params.map));
	pcrp_ingress_set(port->ingress, &params);
}

/* Apply a configuration to a qdisc in use. */
static void pcrp_reconfigure(struct pcrp_sched_data *q, const struct pcrp_config *cfg)
{
	sch_tree_lock(q->user.sch);
	pcrp_apply(q, cfg);
	if (q->user.sch->q.qlen)
		closnet_shaper_kick(&q->shaper);
	sch_tree_unlock(q->user.sch);
}

/* Give a configuration to the device of a qdisc: the receiving half and the other qdiscs. */
static void pcrp_share(struct pcrp_sched_data *q, const struct pcrp_config *shared)
{
	struct pcrp_sched_data *other;
	struct pcrp_config cfg;

	list_for_each_entry(other, &q->port->base.qdiscs, user.node) {
		if (other == q)
			continue;
		cfg = other->cfg;
		pcrp_config_share(&cfg, shared);
		pcrp_reconfigure(other, &cfg);
	}
	pcrp_apply_ingress(q->port, shared);
	q->port->base.newest = NULL;
}

static int pcrp_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct pcrp_sched_data *q = qdisc_priv(sch);
	struct pcrp_config cfg = q->cfg;
	int err;

	err = pcrp_config_parse(&cfg, opt, true, extack);
	if (err)
		return err;
	pcrp_reconfigure(q, &cfg);
	pcrp_share(q, &cfg);
	return 0;
}

/* Give the sender its slots. All entries are zeroed. */
static void pcrp_add_slots(struct pcrp_sched_data *q)
{
	u32 i;

	for (i = 0; i <= q->flows.count; i++)
		pcrp_tx_add_slot(&q->tx, &q->flows.entries[i].tx);
}

static void pcrp_reset(struct Qdisc *sch)
{
	struct pcrp_sched_data *q = qdisc_priv(sch);

	closnet_shaper_reset(&q->shaper);
	__qdisc_reset_queue(&q->top);
	if (!q->flows.entries)	/* init() has failed */
		return;
	pcrp_flows_clear(&q->flows);
	pcrp_tx_reset(&q->tx);
	pcrp_add_slots(q);
}

/*
 * Is the qdisc a child of mq or mqprio, for one TX queue? A child that mq itself creates
 * has no handle.
 */
static bool pcrp_is_queue(const struct Qdisc *sch)
{
	if (sch->parent == TC_H_ROOT || !netif_is_multiqueue(qdisc_dev(sch)))
		return false;
	return !sch->handle || qdisc_root_sleeping(sch)->flags & TCQ_F_ONETXQUEUE;
}

/* Set the defaults. The TX queues of a device share the flows, and most options. */
static void pcrp_init_config(struct pcrp_config *cfg, const struct Qdisc *sch,
			     const struct pcrp_sched_data *sibling)
{
	pcrp_config_init(cfg);
	if (pcrp_is_queue(sch))
		cfg->options.flows = max(cfg->options.flows / qdisc_dev(sch)->real_num_tx_queues,
					 PCRP_QUEUE_FLOWS);
	if (sibling)
		pcrp_config_share(cfg, &sibling->cfg);
}

/* Share the port of a sibling, or create one. */
static int pcrp_join(struct Qdisc *sch, const struct pcrp_sched_data *sibling,
		     struct netlink_ext_ack *extack)
{
	struct pcrp_sched_data *q = qdisc_priv(sch);
	struct pcrp_port *port;
	int err;

	port = sibling ? sibling->port : pcrp_port_create(qdisc_dev(sch), extack);
	if (IS_ERR(port))
		return PTR_ERR(port);
	err = pcrp_ingress_join(port->ingress, &q->inbox, sch, extack);
	if (err) {
		pcrp_port_put(port);
		return err;
	}
	q->port = port;
	list_add(&q->user.node, &port->base.qdiscs);
	return 0;
}

static int pcrp_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct Qdisc *other = closnet_port_sibling(sch);
	struct pcrp_sched_data *q = qdisc_priv(sch), *sibling = other ? qdisc_priv(other) : NULL;
	struct net_device *dev = qdisc_dev(sch);
	struct pcrp_config cfg;
	int err;

	/* destroy() follows an error, so these come first */
	q->user.sch = sch;
	closnet_shaper_init(&q->shaper, sch);
	q->l2_len = closnet_l2_len(dev);
	q->pn = pcrp_net_of(dev_net(dev));
	q->link_Bps = closnet_link_Mbps(dev) * 125000ULL;

	pcrp_init_config(&cfg, sch, sibling);
	if (opt) {
		err = pcrp_config_parse(&cfg, opt, false, extack);
		if (err)
			return err;
	}
	err = pcrp_join(sch, sibling, extack);
	if (err)
		return err;
	err = pcrp_flows_init(&q->flows, cfg.options.flows, q->port->seed);
	if (err)
		return err;
	pcrp_tx_init(&q->tx, &q->params, &q->port->link);
	pcrp_add_slots(q);
	pcrp_apply(q, &cfg);
	if (sibling)
		q->before = sibling->cfg;
	if (opt || !sibling)
		pcrp_share(q, &cfg);
	q->port->base.newest = sibling && opt ? sch : NULL;
	return 0;
}

static void pcrp_destroy(struct Qdisc *sch)
{
	struct pcrp_sched_data *q = qdisc_priv(sch);

	if (q->port) {
		if (q->port->base.newest == sch)
			pcrp_share(q, closnet_has_sent(sch) ? &q->cfg : &q->before);
		pcrp_ingress_leave(q->port->ingress, &q->inbox);
		list_del(&q->user.node);
		pcrp_port_put(q->port);
	}
	closnet_shaper_reset(&q->shaper);
	pcrp_flows_free(&q->flows);
}

static void pcrp_set_link(struct Qdisc *sch, u64 link_Bps)
{
	struct pcrp_sched_data *q = qdisc_priv(sch);

	q->link_Bps = link_Bps;
	pcrp_refresh(q, ktime_get_ns());
}

/* ---- dump ---- */

static int pcrp_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct pcrp_sched_data *q = qdisc_priv(sch);
	struct nlattr *nest;

	nest = nla_nest_start(skb, TCA_OPTIONS);
	if (!nest)
		return -EMSGSIZE;
	if (pcrp_config_dump(skb, &q->cfg)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, nest);
}

static struct Qdisc_ops pcrp_qdisc_ops __read_mostly = {
	.id		= "pcrp",
	.priv_size	= sizeof(struct pcrp_sched_data),
	.enqueue	= pcrp_enqueue,
	.dequeue	= pcrp_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= pcrp_init,
	.reset		= pcrp_reset,
	.destroy	= pcrp_destroy,
	.change		= pcrp_change,
	.dump		= pcrp_dump,
	.dump_stats	= pcrp_dump_stats,
	.owner		= THIS_MODULE,
};
MODULE_ALIAS_NET_SCH("pcrp");

static int __init pcrp_module_init(void)
{
	int err;

	err = pcrp_net_init();
	if (err)
		return err;
	err = closnet_ports_init(pcrp_set_link);
	if (err)
		goto no_ports;
	err = register_qdisc(&pcrp_qdisc_ops);
	if (err)
		goto no_qdisc;
	return 0;

no_qdisc:
	closnet_ports_exit();
no_ports:
	pcrp_net_exit();
	return err;
}

static void __exit pcrp_module_exit(void)
{
	unregister_qdisc(&pcrp_qdisc_ops);
	closnet_ports_exit();
	pcrp_net_exit();
}

module_init(pcrp_module_init);
module_exit(pcrp_module_exit);
MODULE_AUTHOR("The closnet authors");
MODULE_DESCRIPTION("Packet-chain reservation: grants, SRPT and priorities for a host's traffic");
MODULE_LICENSE("GPL");
MODULE_VERSION(CLOSNET_VERSION);
