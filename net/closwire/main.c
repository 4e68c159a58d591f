// SPDX-License-Identifier: GPL-2.0-only
/*
 * closwire: an emulated pair of NICs and the cable between them
 *
 * A veth pair has no rate, no ring and no clock: no qdisc queues on it, and it gives no
 * hardware timestamps. A closwire port behaves like a NIC in all respects that matter
 * to congestion control:
 *
 * - It transmits frame after frame at its rate, including preamble, FCS and gap.
 * - Its TX rings fill up, BQL and full rings stop the queues, and a root qdisc queues
 *   as on hardware.
 * - It splits TSO packets into frames, receives through NAPI and GRO, and can delay its
 *   interrupt (rx-usecs).
 * - It has a PTP clock with a configurable offset and drift, and timestamps frames.
 * - It obeys priority pause frames (802.1Qbb) and sends them for other modules.
 *
 * As on veth, frames are not copied, and checksums left to the hardware stay that way
 * (CHECKSUM_PARTIAL). wire.c, closwire_line.c and ptp.c describe the model further.
 *
 * This file creates pairs, holds their options, and takes them up and down. RTNL
 * protects all of this.
 */
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <net/netdev_lock.h>
#include <net/rtnetlink.h>
#include <closnet/netlink.h>
#include "closwire.h"

/* ---- options ---- */

/*
 * Policy for rtnetlink, which checks the attributes before it reads the peer.
 * closwire_validate() then checks the options, with messages of their own.
 */
static const struct nla_policy closwire_link_policy[IFLA_CLOSWIRE_MAX + 1] = {
	[IFLA_CLOSWIRE_PEER]		= { .len = sizeof(struct ifinfomsg) },
};

static void closwire_set_rate(struct closwire_port *port, u64 rate_Bps)
{
	spin_lock_bh(&port->tx.lock);
	WRITE_ONCE(port->tx.rate_Bps, rate_Bps);
	closwire_line_set_rate(&port->tx.line, rate_Bps);
	spin_unlock_bh(&port->tx.lock);
}

/**
 * closwire_set_ring() - set the size of the TX rings
 * @port: port
 * @packets: CLOSWIRE_RING_MIN to CLOSWIRE_RING_MAX; no packets are dropped
 */
void closwire_set_ring(struct closwire_port *port, u32 packets)
{
	struct closwire_tx *tx = &port->tx;
	u32 i;

	spin_lock_bh(&tx->lock);
	WRITE_ONCE(tx->ring_max, packets);
	for (i = 0; tx->up && i < port->dev->real_num_tx_queues; i++) {
		if (tx->posted[i] < packets)
			netif_wake_subqueue(port->dev, i);
	}
	spin_unlock_bh(&tx->lock);
}

/* Defaults: a common NIC, a cable without delay */
static void closwire_set_defaults(struct closwire_port *port)
{
	struct closwire_options o;

	closwire_options_init(&o);
	closwire_set_rate(port, o.rate_Bps);
	closwire_set_ring(port, o.ring);
	closwire_set_pfc(port, 0xff);
}

static void closwire_get_options(const struct closwire_port *port, struct closwire_options *o)
{
	*o = (struct closwire_options) {
		.rate_Bps = port->tx.rate_Bps,
		.delay_ns = port->tx.delay_ns,
		.ring = port->tx.ring_max,
		.loss = port->tx.loss,
		.clock_offset_ns = port->ptp.offset_ns,
		.clock_drift_ppb = port->ptp.clock.drift_ppb,
		.cpu_packet_ns = READ_ONCE(port->tx.cpu.packet_ns),
		.cpu_frame_ns = READ_ONCE(port->tx.cpu.frame_ns),
		.cpu_kb_ns = READ_ONCE(port->tx.cpu.kb_ns),
	};
}

/* Apply the options that are given; closwire_validate() has checked them. */
static void closwire_configure(struct closwire_port *port, struct nlattr *data[])
{
	struct closwire_options o;

	closwire_get_options(port, &o);
	if (closwire_options_parse(&o, data, NULL))
		return;
	if (data[IFLA_CLOSWIRE_RATE])
		closwire_set_rate(port, o.rate_Bps);
	if (data[IFLA_CLOSWIRE_DELAY])
		WRITE_ONCE(port->tx.delay_ns, o.delay_ns);
	if (data[IFLA_CLOSWIRE_RING])
		closwire_set_ring(port, o.ring);
	if (data[IFLA_CLOSWIRE_LOSS])
		WRITE_ONCE(port->tx.loss, o.loss);
	if (data[IFLA_CLOSWIRE_CLOCK_OFFSET])
		closwire_ptp_set_offset(port, o.clock_offset_ns);
	if (data[IFLA_CLOSWIRE_CLOCK_DRIFT])
		closwire_ptp_set_drift(port, o.clock_drift_ppb);
	closwire_set_cpu(port, &o);
}

/* ---- up and down ---- */

/* There is a carrier if both ports are up and the cable is plugged in. */
static void closwire_update_carrier(struct closwire_port *port)
{
	struct closwire_port *peer = rtnl_dereference(port->peer);
	bool carrier;

	if (!peer)
		return;
	carrier = netif_running(port->dev) && netif_running(peer->dev) &&
		  !port->unplugged && !peer->unplugged;
	if (carrier) {
		netif_carrier_on(port->dev);
		netif_carrier_on(peer->dev);
	} else {
		netif_carrier_off(port->dev);
		netif_carrier_off(peer->dev);
	}
}

static int closwire_open(struct net_device *dev)
{
	struct closwire_port *port = netdev_priv(dev);

	closwire_wire_start(port);
	netif_tx_start_all_queues(dev);
	closwire_update_carrier(port);
	return 0;
}

static int closwire_stop(struct net_device *dev)
{
	struct closwire_port *port = netdev_priv(dev);
	struct closwire_port *peer = rtnl_dereference(port->peer);

	netif_tx_stop_all_queues(dev);
	netif_carrier_off(dev);
	if (peer)
		netif_carrier_off(peer->dev);
	closwire_wire_stop(port);
	return 0;
}

static int closwire_change_carrier(struct net_device *dev, bool carrier)
{
	struct closwire_port *port = netdev_priv(dev);

	port->unplugged = !carrier;
	closwire_update_carrier(port);
	return 0;
}

/* ---- the device ---- */

static int closwire_init(struct net_device *dev)
{
	netdev_lockdep_set_classes(dev);
	return 0;
}

static void closwire_uninit(struct net_device *dev)
{
	closwire_delay_stop(netdev_priv(dev));
	closwire_ptp_unregister(netdev_priv(dev));
}

static int closwire_get_iflink(const struct net_device *dev)
{
	struct closwire_port *port = netdev_priv(dev);
	struct closwire_port *peer;
	int iflink = 0;

	rcu_read_lock();
	peer = rcu_dereference(port->peer);
	if (peer)
		iflink = READ_ONCE(peer->dev->ifindex);
	rcu_read_unlock();
	return iflink;
}

static void closwire_get_stats64(struct net_device *dev,
				 struct rtnl_link_stats64 *to)
{
	struct closwire_port *port = netdev_priv(dev);
	const struct closwire_stats *stats = &port->stats;

	to->tx_packets = READ_ONCE(stats->tx_frames);
	to->tx_bytes = READ_ONCE(stats->tx_bytes);
	to->tx_carrier_errors = READ_ONCE(stats->tx_dropped_carrier);
	to->tx_errors = to->tx_carrier_errors;
	to->tx_dropped = READ_ONCE(stats->tx_dropped_ctrl) +
			 READ_ONCE(stats->tx_dropped_limit) +
			 READ_ONCE(stats->tx_dropped_nomem);
	to->rx_packets = READ_ONCE(stats->rx_frames);
	to->rx_bytes = READ_ONCE(stats->rx_bytes);
	to->rx_crc_errors = READ_ONCE(stats->rx_lost);
	to->rx_length_errors = READ_ONCE(stats->rx_dropped_length);
	to->rx_errors = to->rx_crc_errors + to->rx_length_errors;
	to->rx_missed_errors = READ_ONCE(stats->rx_missed);
	to->rx_dropped = READ_ONCE(stats->rx_dropped_down) +
			 READ_ONCE(stats->rx_dropped_nomem);
}

CLOSNET_HWTSTAMP(closwire_hwtstamp)

static const struct net_device_ops closwire_netdev_ops = {
	.ndo_init		= closwire_init,
	.ndo_uninit		= closwire_uninit,
	.ndo_open		= closwire_open,
	.ndo_stop		= closwire_stop,
	.ndo_start_xmit		= closwire_xmit,
	.ndo_get_stats64	= closwire_get_stats64,
	.ndo_get_iflink		= closwire_get_iflink,
	.ndo_change_carrier	= closwire_change_carrier,
	.ndo_set_mac_address	= eth_mac_addr,
	.ndo_validate_addr	= eth_validate_addr,
	.ndo_features_check	= passthru_features_check,
	CLOSNET_HWTSTAMP_OPS(closwire_hwtstamp),
};

/**
 * closwire_is_port() - check whether a device is a closwire port
 * @dev: device
 *
 * Return: true if netdev_priv() is a struct closwire_port.
 */
bool closwire_is_port(const struct net_device *dev)
{
	return dev->netdev_ops == &closwire_netdev_ops;
}

/* The "hardware" of the port segments all kinds of packets. */
#define CLOSWIRE_FEATURES \
	(NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_RXCSUM | NETIF_F_HIGHDMA | \
	 NETIF_F_ALL_TSO | NETIF_F_GSO_UDP_L4 | NETIF_F_GSO_ENCAP_ALL | \
	 NETIF_F_HW_VLAN_CTAG_TX | NETIF_F_HW_VLAN_STAG_TX)

static void closwire_setup(struct net_device *dev)
{
	ether_setup(dev);
	eth_hw_addr_random(dev);
	dev->netdev_ops = &closwire_netdev_ops;
	dev->ethtool_ops = &closwire_ethtool_ops;
	closwire_dcb_setup(dev);
	dev->needs_free_netdev = true;
	dev->min_mtu = ETH_MIN_MTU;
	dev->max_mtu = ETH_MAX_MTU;
	/* netconsole transmits with interrupts disabled; the locks here need softirqs only. */
	dev->priv_flags |= IFF_LIVE_ADDR_CHANGE | IFF_DISABLE_NETPOLL;
	dev->priv_flags &= ~IFF_TX_SKB_SHARING;
	dev->hw_features = CLOSWIRE_FEATURES;
	dev->features = CLOSWIRE_FEATURES;
	dev->hw_enc_features = CLOSWIRE_FEATURES;
	dev->vlan_features = CLOSWIRE_FEATURES & ~(NETIF_F_HW_VLAN_CTAG_TX |
						   NETIF_F_HW_VLAN_STAG_TX);
	dev->mpls_features = NETIF_F_HW_CSUM | NETIF_F_GSO_SOFTWARE;
}

/* ---- links ---- */

static struct rtnl_link_ops closwire_link_ops;

static int closwire_validate(struct nlattr *tb[], struct nlattr *data[],
			     struct netlink_ext_ack *extack)
{
	struct closwire_options o = {};

	if (tb[IFLA_ADDRESS] &&
	    (nla_len(tb[IFLA_ADDRESS]) != ETH_ALEN ||
	     !is_valid_ether_addr(nla_data(tb[IFLA_ADDRESS])))) {
		NL_SET_ERR_MSG_ATTR(extack, tb[IFLA_ADDRESS],
				    "address must be a unicast Ethernet address");
		return -EADDRNOTAVAIL;
	}
	if (tb[IFLA_NUM_TX_QUEUES] &&
	    nla_get_u32(tb[IFLA_NUM_TX_QUEUES]) > CLOSWIRE_TX_QUEUES_MAX) {
		NL_SET_ERR_MSG_ATTR(extack, tb[IFLA_NUM_TX_QUEUES], "numtxqueues must be 1 to "
				    __stringify(CLOSWIRE_TX_QUEUES_MAX));
		return -ERANGE;
	}
	return data ? closwire_options_parse(&o, data, extack) : 0;
}

/* Initialise a port with the settings of the peer, then those of @data. */
static struct closwire_port *closwire_prepare(struct net_device *dev,
					      struct nlattr *peer_data[],
					      struct nlattr *data[])
{
	struct closwire_port *port = netdev_priv(dev);

	port->dev = dev;
	closwire_wire_init(port);
	closwire_ptp_init(port);
	netif_napi_add(dev, &port->napi, closwire_poll);
	closwire_set_defaults(port);
	if (peer_data)
		closwire_configure(port, peer_data);
	if (data)
		closwire_configure(port, data);
	return port;
}

static int closwire_register(struct net_device *dev)
{
	int err;

	netif_carrier_off(dev);
	err = register_netdevice(dev);
	if (err)
		return err;
	err = closwire_ptp_register(netdev_priv(dev));
	if (err)
		unregister_netdevice(dev);
	return err;
}

static int closwire_peer_kind(const struct nlattr *kind,
			      struct netlink_ext_ack *extack)
{
	if (!kind || !nla_strcmp(kind, CLOSWIRE_NAME))
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, kind, "the peer must be of kind closwire");
	return -EINVAL;
}

/* Parse the peer's own settings, if any, into @data. */
static int closwire_peer_data(struct nlattr *tb[], struct nlattr *data[],
			      struct netlink_ext_ack *extack)
{
	struct nlattr *info[IFLA_INFO_MAX + 1];
	int err;

	memset(data, 0, sizeof(*data) * (IFLA_CLOSWIRE_MAX + 1));
	if (!tb[IFLA_LINKINFO])
		return 0;
	err = nla_parse_nested_deprecated(info, IFLA_INFO_MAX,
					  tb[IFLA_LINKINFO], NULL, extack);
	if (!err)
		err = closwire_peer_kind(info[IFLA_INFO_KIND], extack);
	if (err || !info[IFLA_INFO_DATA])
		return err;
	return nla_parse_nested_deprecated(data, IFLA_CLOSWIRE_MAX,
					   info[IFLA_INFO_DATA],
					   closwire_link_policy, extack);
}

/*
 * Create the second port of a pair. @attr: IFLA_CLOSWIRE_PEER or NULL; @data: settings
 * of the first port
 */
static struct net_device *closwire_new_peer(struct net *net,
					    const struct nlattr *attr,
					    struct nlattr *data[],
					    struct netlink_ext_ack *extack)
{
	struct nlattr *peer_data[IFLA_CLOSWIRE_MAX + 1];
	struct nlattr *tb[IFLA_MAX + 1] = {};
	unsigned char assign = NET_NAME_ENUM;
	const struct ifinfomsg *ifm = NULL;
	char name[IFNAMSIZ];
	struct net_device *dev;
	int err;

	if (attr) {
		ifm = nla_data(attr);
		err = rtnl_nla_parse_ifinfomsg(tb, attr, extack);
		if (err < 0)
			return ERR_PTR(err);
	}
	err = closwire_peer_data(tb, peer_data, extack);
	if (!err)
		err = closwire_validate(tb, peer_data, extack);
	if (err)
		return ERR_PTR(err);

	strscpy(name, CLOSWIRE_NAME "%d", sizeof(name));
	if (tb[IFLA_IFNAME]) {
		nla_strscpy(name, tb[IFLA_IFNAME], sizeof(name));
		assign = NET_NAME_USER;
	}
	dev = rtnl_create_link(net, name, assign, &closwire_link_ops, tb,
			       extack);
	if (IS_ERR(dev))
		return dev;
	closwire_prepare(dev, data, peer_data);
	err = closwire_register(dev);
	if (err) {
		free_netdev(dev);
		return ERR_PTR(err);
	}
	err = rtnl_configure_link(dev, ifm, 0, NULL);
	if (err < 0) {
		unregister_netdevice(dev);
		return ERR_PTR(err);
	}
	return dev;
}

static int closwire_newlink(struct net_device *dev,
			    struct rtnl_newlink_params *params,
			    struct netlink_ext_ack *extack)
{
	struct nlattr *attr = params->data ?
			      params->data[IFLA_CLOSWIRE_PEER] : NULL;
	struct closwire_port *port, *peer;
	struct net_device *peer_dev;
	int err;

	peer_dev = closwire_new_peer(rtnl_newlink_peer_net(params), attr,
				     params->data, extack);
	if (IS_ERR(peer_dev))
		return PTR_ERR(peer_dev);
	port = closwire_prepare(dev, params->data, NULL);
	peer = netdev_priv(peer_dev);
	rcu_assign_pointer(port->peer, peer);
	rcu_assign_pointer(peer->peer, port);
	err = closwire_register(dev);
	if (err)
		goto err_peer;
	closwire_update_carrier(port);
	return 0;

err_peer:
	RCU_INIT_POINTER(peer->peer, NULL);
	RCU_INIT_POINTER(port->peer, NULL);
	unregister_netdevice(peer_dev);
	return err;
}

CLOSNET_NEWLINK(closwire_newlink, IFLA_CLOSWIRE_PEER)

static int closwire_changelink(struct net_device *dev, struct nlattr *tb[],
			       struct nlattr *data[],
			       struct netlink_ext_ack *extack)
{
	if (!data)
		return 0;
	if (data[IFLA_CLOSWIRE_PEER]) {
		NL_SET_ERR_MSG_ATTR(extack, data[IFLA_CLOSWIRE_PEER],
				    "the peer cannot be changed: change the link that it is");
		return -EOPNOTSUPP;
	}
	closwire_configure(netdev_priv(dev), data);
	return 0;
}

static void closwire_dellink(struct net_device *dev, struct list_head *head)
{
	struct closwire_port *port = netdev_priv(dev);
	struct closwire_port *peer = rtnl_dereference(port->peer);

	RCU_INIT_POINTER(port->peer, NULL);
	unregister_netdevice_queue(dev, head);
	if (!peer)
		return;
	RCU_INIT_POINTER(peer->peer, NULL);
	unregister_netdevice_queue(peer->dev, head);
}

static size_t closwire_get_size(const struct net_device *dev)
{
	return closwire_options_size();
}

static int closwire_fill_info(struct sk_buff *skb,
			      const struct net_device *dev)
{
	struct closwire_options o;

	closwire_get_options(netdev_priv(dev), &o);
	return closwire_options_dump(skb, &o);
}

static struct net *closwire_get_link_net(const struct net_device *dev)
{
	struct closwire_port *port = netdev_priv(dev);
	struct closwire_port *peer = rcu_dereference_rtnl(port->peer);

	return peer ? dev_net(peer->dev) : dev_net(dev);
}

static struct rtnl_link_ops closwire_link_ops = {
	.kind			= CLOSWIRE_NAME,
	.priv_size		= sizeof(struct closwire_port),
	.setup			= closwire_setup,
	.maxtype		= IFLA_CLOSWIRE_MAX,
	.policy			= closwire_link_policy,
	.validate		= closwire_validate,
	.changelink		= closwire_changelink,
	.dellink		= closwire_dellink,
	.get_size		= closwire_get_size,
	.fill_info		= closwire_fill_info,
	.get_link_net		= closwire_get_link_net,
	CLOSNET_NEWLINK_OPS(closwire_newlink, IFLA_CLOSWIRE_PEER),
};

static int __init closwire_module_init(void)
{
	return rtnl_link_register(&closwire_link_ops);
}

static void __exit closwire_module_exit(void)
{
	rtnl_link_unregister(&closwire_link_ops);
}

module_init(closwire_module_init);
module_exit(closwire_module_exit);
MODULE_ALIAS_RTNL_LINK(CLOSWIRE_NAME);
MODULE_AUTHOR("The closnet authors");
MODULE_DESCRIPTION("Emulated pair of NICs with rate, delay, hardware clocks and PFC");
MODULE_LICENSE("GPL");
MODULE_VERSION(CLOSNET_VERSION);
