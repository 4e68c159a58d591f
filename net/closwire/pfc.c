// SPDX-License-Identifier: GPL-2.0-only
/*
 * closwire: pause frames and pauses, for other modules
 */
#include <linux/etherdevice.h>
#include <closnet/pfc.h>
#include "closwire.h"

/**
 * closwire_pfc_xmit() - send a pause frame to the peer of a closwire port
 * @dev: a closwire port; the caller holds a reference or RCU
 * @enable: priorities that the frame applies to
 * @quanta: duration by priority, in 512 bit times; 0: resume
 *
 * The port sends the frame ahead of the frames in its rings, once the frame on
 * the line has left. No pause holds it.
 *
 * Context: Softirq or process, softirqs on or off, hard interrupts on. Takes
 * the port's own TX lock and, inside it, the peer's RX lock, so two CPUs may
 * call it for any two ports, also for both ends of a cable. The caller must
 * hold no lock that an skb destructor or a socket's write_space() takes.
 *
 * Return: 0; -EOPNOTSUPP if @dev is not a closwire port, -ENETDOWN without
 * carrier, -ENOBUFS if too many control frames wait, -ENOMEM.
 */
int closwire_pfc_xmit(struct net_device *dev, u8 enable,
		      const u16 quanta[CLOSNET_PFC_PRIOS])
{
	struct closwire_port *port = netdev_priv(dev);
	struct sk_buff *skb;
	u64 now_ns;
	int err;

	if (!closwire_is_port(dev))
		return -EOPNOTSUPP;
	skb = alloc_skb(ETH_ZLEN, GFP_ATOMIC);
	if (!skb)
		return -ENOMEM;
	closnet_pfc_fill(skb_put_zero(skb, ETH_ZLEN), dev->dev_addr, enable, quanta);

	spin_lock_bh(&port->tx.lock);
	if (port->tx.up && netif_carrier_ok(dev)) {
		now_ns = ktime_get_ns();
		closwire_tx_catch_up(port, now_ns);
		err = closwire_post_ctrl(port, skb);
		closwire_tx_run(port, now_ns);
	} else {
		kfree_skb(skb);
		err = -ENETDOWN;
	}
	spin_unlock_bh(&port->tx.lock);
	return err;
}
EXPORT_SYMBOL_GPL(closwire_pfc_xmit);

/**
 * closwire_pfc_paused_ns() - get the time for which pause frames have held a port
 * @dev: a closwire port; the caller holds a reference or RCU
 * @ns: filled in: by priority, the time in all pauses, the current one included
 *
 * Context: Any but hard interrupt.
 *
 * Return: 0; -EOPNOTSUPP if @dev is not a closwire port.
 */
int closwire_pfc_paused_ns(struct net_device *dev, u64 ns[CLOSNET_PFC_PRIOS])
{
	struct closwire_port *port = netdev_priv(dev);
	u64 now_ns;
	u32 prio;

	if (!closwire_is_port(dev))
		return -EOPNOTSUPP;
	spin_lock_bh(&port->tx.lock);
	now_ns = ktime_get_ns();
	for (prio = 0; prio < CLOSNET_PFC_PRIOS; prio++)
		ns[prio] = closwire_paused_ns(&port->tx.line, now_ns, prio);
	spin_unlock_bh(&port->tx.lock);
	return 0;
}
EXPORT_SYMBOL_GPL(closwire_pfc_paused_ns);

/**
 * closwire_pfc_paused_until_ns() - get the end of a priority's pause
 * @dev: a closwire port; the caller holds a reference or RCU
 * @prio: priority, below CLOSNET_PFC_PRIOS
 *
 * For a qdisc that keeps packets of a paused priority: it arms a timer for the
 * end of the pause. If a pause ends sooner, the port schedules the qdiscs of
 * all its TX queues, as a driver does that wakes them. Takes no lock.
 *
 * Context: Any.
 *
 * Return: CLOCK_MONOTONIC in ns, which may have passed; 0: @prio is not paused.
 */
u64 closwire_pfc_paused_until_ns(struct net_device *dev, u32 prio)
{
	struct closwire_port *port = netdev_priv(dev);

	return closwire_paused_until_ns(&port->tx.line, prio);
}
EXPORT_SYMBOL_GPL(closwire_pfc_paused_until_ns);

/**
 * closwire_pfc_peer_Mbps() - get the rate at which the peer counts pause quanta
 * @dev: a closwire port; the caller holds a reference or RCU
 *
 * A pause of N quanta holds the peer for N * 512 bit times of the peer's own
 * line rate, which may differ from this port's and may change at any time.
 *
 * Context: Any.
 *
 * Return: Mbit/s, rounded up; 0 if @dev is not a closwire port or has no peer.
 */
u32 closwire_pfc_peer_Mbps(struct net_device *dev)
{
	struct closwire_port *port = netdev_priv(dev);
	struct closwire_port *peer;
	u64 rate_Bps = 0;

	if (!closwire_is_port(dev))
		return 0;
	rcu_read_lock();
	peer = rcu_dereference(port->peer);
	if (peer)
		rate_Bps = READ_ONCE(peer->tx.rate_Bps);
	rcu_read_unlock();
	return DIV_ROUND_UP_ULL(rate_Bps, 125000);
}
EXPORT_SYMBOL_GPL(closwire_pfc_peer_Mbps);
