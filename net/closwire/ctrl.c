// SPDX-License-Identifier: GPL-2.0-only
/*
 * closwire: MAC control frames, that is, pause frames (802.1Qbb, 802.3x)
 */
#include <closnet/pfc.h>
#include "closwire.h"

/* MAC control opcode of an 802.3x pause, which has no priorities */
#define CLOSWIRE_PAUSE_OPCODE	0x0001

/**
 * closwire_schedule_qdiscs() - run the qdiscs after a pause ended early
 * @dev: device of the port
 *
 * A qdisc may hold a priority until the time when its pause would have ended.
 */
void closwire_schedule_qdiscs(struct net_device *dev)
{
	u32 i;

	for (i = 0; i < dev->real_num_tx_queues; i++)
		netif_schedule_queue(netdev_get_tx_queue(dev, i));
}

static void closwire_receive_pfc(struct closwire_port *port,
				 const struct closnet_pfc_frame *pfc, u64 arrival_ns)
{
	struct closwire_line *line = &port->tx.line;
	u16 enable = ntohs(pfc->enable);
	u64 until_ns;
	bool sooner = false;
	u32 prio;

	for (prio = 0; prio < CLOSWIRE_PRIOS; prio++) {
		if (!(enable & BIT(prio)))
			continue;
		closwire_add(&port->stats.rx_prio_pause[prio], 1);
		if (!(port->tx.pfc & BIT(prio)))
			continue;
		until_ns = closwire_paused_until_ns(line, prio);
		closwire_line_pause(line, arrival_ns, prio, ntohs(pfc->quanta[prio]));
		sooner |= closwire_paused_until_ns(line, prio) < until_ns;
	}
	if (sooner)
		closwire_schedule_qdiscs(port->dev);
}

/* Opcode of a MAC control frame; 0, which is not assigned, if it is too short */
static u16 closwire_opcode(const struct sk_buff *skb)
{
	const __be16 *opcode;
	__be16 buffer;

	opcode = skb_header_pointer(skb, offsetof(struct closnet_pfc_frame, opcode),
				    sizeof(buffer), &buffer);
	return opcode ? ntohs(*opcode) : 0;
}

/* Priority pause frame in @skb, in linear memory; NULL: another MAC control frame */
static const struct closnet_pfc_frame *closwire_parse_pfc(const struct sk_buff *skb,
							  struct closnet_pfc_frame *buffer)
{
	if (closwire_opcode(skb) != CLOSNET_PFC_OPCODE)
		return NULL;
	return skb_header_pointer(skb, 0, sizeof(*buffer), buffer);
}

/**
 * closwire_receive_ctrl() - process and free a received MAC control frame
 * @port: receiving port
 * @skb: frame
 *
 * MAC control frames are for the NIC only; the stack does not see them. Called under
 * the tx lock.
 */
void closwire_receive_ctrl(struct closwire_port *port, struct sk_buff *skb)
{
	struct closwire_stats *stats = &port->stats;
	const struct closnet_pfc_frame *pfc;
	struct closnet_pfc_frame buffer;

	if (closwire_cb(skb)->held)
		closwire_unhold(rcu_dereference_bh(port->peer), closwire_cb(skb));
	closwire_add(&stats->rx_ctrl, 1);
	pfc = closwire_parse_pfc(skb, &buffer);
	if (pfc) {
		closwire_receive_pfc(port, pfc, closwire_cb(skb)->arrival_ns);
	} else {
		closwire_add(&stats->rx_ctrl_unknown, 1);
		closwire_add(&stats->rx_pause,
			     closwire_opcode(skb) == CLOSWIRE_PAUSE_OPCODE);
	}
	consume_skb(skb);
}

/**
 * closwire_count_ctrl() - count a sent MAC control frame
 * @stats: counters of the port
 * @skb: frame
 */
void closwire_count_ctrl(struct closwire_stats *stats, const struct sk_buff *skb)
{
	const struct closnet_pfc_frame *pfc;
	struct closnet_pfc_frame buffer;
	u32 prio;

	closwire_add(&stats->tx_ctrl, 1);
	closwire_add(&stats->tx_pause,
		     closwire_opcode(skb) == CLOSWIRE_PAUSE_OPCODE);
	pfc = closwire_parse_pfc(skb, &buffer);
	if (!pfc)
		return;
	for (prio = 0; prio < CLOSWIRE_PRIOS; prio++)
		closwire_add(&stats->tx_prio_pause[prio],
			     !!(ntohs(pfc->enable) & BIT(prio)));
}
