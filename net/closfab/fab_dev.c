// SPDX-License-Identifier: GPL-2.0-only
/*
 * The network device: its sockets, and how it is taken up and down. Under RTNL
 */
#include <linux/memcontrol.h>
#include <linux/rtnetlink.h>
#include <net/netdev_lock.h>
#include <net/udp_tunnel.h>
#include "fab.h"

/* ---- sockets ---- */

/* Return: 0: an ICMP error is about one of our packets */
static int fab_err_lookup(struct sock *sk, struct sk_buff *skb)
{
	return 0;
}

static int fab_open_socket(struct fab_dev *fab, u8 family, struct sock __rcu **place)
{
	struct udp_tunnel_sock_cfg tunnel = {
		.sk_user_data = fab, .encap_type = 1, .encap_rcv = fab_receive,
		.encap_err_lookup = fab_err_lookup,
	};
	struct udp_port_cfg cfg = {
		.family = family, .local_udp_port = htons(fab->options.port),
		.bind_ifindex = fab->link, .use_udp6_rx_checksums = true, .ipv6_v6only = true,
	};
	struct socket *sock;
	int err;

	if (family == AF_INET)
		cfg.local_ip.s_addr = fab->local.s6_addr32[3];
#if IS_ENABLED(CONFIG_IPV6)
	else
		cfg.local_ip6 = fab->local;
#endif
	err = udp_sock_create(fab->net, &cfg, &sock);
	if (err)
		return err;
	closnet_udp_tunnel_setup(fab->net, sock->sk, &tunnel);
	rcu_assign_pointer(*place, sock->sk);
	return 0;
}

static void fab_close_sockets(struct fab_dev *fab)
{
	struct sock *sk4 = rtnl_dereference(fab->sk4), *sk6 = rtnl_dereference(fab->sk6);

	RCU_INIT_POINTER(fab->sk4, NULL);
	RCU_INIT_POINTER(fab->sk6, NULL);
	synchronize_net();
	if (sk4)
		closnet_udp_tunnel_release(sk4);
	if (sk6)
		closnet_udp_tunnel_release(sk6);
}

/* Of the family of the local address, or of both */
static int fab_open_sockets(struct fab_dev *fab)
{
	bool any = ipv6_addr_any(&fab->local), v4 = ipv6_addr_v4mapped(&fab->local);
	int err = 0;

	if (any || v4)
		err = fab_open_socket(fab, AF_INET, &fab->sk4);
	if (!err && !v4)
		err = fab_open_socket(fab, AF_INET6, &fab->sk6);
	if (any && (err == -EAFNOSUPPORT || err == -EPFNOSUPPORT))
		err = 0;
	if (err)
		fab_close_sockets(fab);
	return err;
}

/* ---- up and down ---- */

static int fab_open(struct net_device *dev)
{
	struct fab_dev *fab = netdev_priv(dev);
	int err;

	fab_lanes_start(fab);
	spin_lock_bh(&fab->lock);
	fab->up = true;
	spin_unlock_bh(&fab->lock);
	err = fab_open_sockets(fab);
	if (err) {
		fab_peers_remove(fab);
		fab_lanes_stop(fab);
		return err;
	}
	schedule_delayed_work(&fab->gc, FAB_PEER_PERIOD);
	return 0;
}

/* The order matters: first no packets come, then no timers, then the lanes are empty. */
static int fab_stop(struct net_device *dev)
{
	struct fab_dev *fab = netdev_priv(dev);

	cancel_delayed_work_sync(&fab->gc);
	fab_close_sockets(fab);
	fab_peers_remove(fab);
	fab_lanes_stop(fab);
	return 0;
}

static int fab_init(struct net_device *dev)
{
	struct fab_dev *fab = netdev_priv(dev);
	int err;

	fab->stats = alloc_percpu_gfp(struct fab_stats, GFP_KERNEL_ACCOUNT);
	if (!fab->stats)
		return -ENOMEM;
	err = fab_lanes_create(fab);
	if (err) {
		free_percpu(fab->stats);
		return err;
	}
	fab->memcg = get_mem_cgroup_from_mm(current->mm);
	netdev_lockdep_set_classes(dev);
	return 0;
}

static void fab_uninit(struct net_device *dev)
{
	struct fab_dev *fab = netdev_priv(dev);

	fab_lanes_destroy(fab);
}

/* After the last packet: they count in the statistics. */
static void fab_free(struct net_device *dev)
{
	struct fab_dev *fab = netdev_priv(dev);

	free_percpu(fab->stats);
	mem_cgroup_put(fab->memcg);
}

static int fab_get_iflink(const struct net_device *dev)
{
	const struct fab_dev *fab = netdev_priv(dev);

	return fab->link ?: READ_ONCE(dev->ifindex);
}

static const struct net_device_ops fab_netdev_ops = {
	.ndo_init		= fab_init,
	.ndo_uninit		= fab_uninit,
	.ndo_open		= fab_open,
	.ndo_stop		= fab_stop,
	.ndo_start_xmit		= fab_xmit,
	.ndo_get_stats64	= dev_get_tstats64,
	.ndo_get_iflink		= fab_get_iflink,
};

/**
 * fab_is_device() - check whether a device is a closfab device
 * @dev: device
 *
 * Return: true if netdev_priv() is a struct fab_dev.
 */
bool fab_is_device(const struct net_device *dev)
{
	return dev->netdev_ops == &fab_netdev_ops;
}

static const struct device_type fab_type = {
	.name = FAB_NAME,
};

/**
 * fab_setup() - prepare a new device
 * @dev: device
 */
void fab_setup(struct net_device *dev)
{
	dev->netdev_ops = &fab_netdev_ops;
	dev->ethtool_ops = &fab_ethtool_ops;
	dev->needs_free_netdev = true;
	dev->priv_destructor = fab_free;
	SET_NETDEV_DEVTYPE(dev, &fab_type);
	dev->type = ARPHRD_NONE;
	dev->flags = IFF_POINTOPOINT | IFF_NOARP | IFF_MULTICAST;
	dev->hard_header_len = 0;
	dev->addr_len = 0;
	dev->needed_headroom = LL_MAX_HEADER + FAB_OVERHEAD;
	dev->mtu = ETH_DATA_LEN - FAB_OVERHEAD;
	dev->min_mtu = IPV4_MIN_MTU;
	dev->max_mtu = IP_MAX_MTU - FAB_OVERHEAD;
	dev->features = NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_RXCSUM;
	dev->hw_features = NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_RXCSUM;
	dev->pcpu_stat_type = NETDEV_PCPU_STAT_TSTATS;
	dev->priv_flags |= IFF_NO_QUEUE | IFF_LIVE_ADDR_CHANGE;
	dev->priv_flags &= ~IFF_TX_SKB_SHARING;
	netif_keep_dst(dev);
	closnet_set_lltx(dev);
}
