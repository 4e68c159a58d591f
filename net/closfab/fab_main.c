// SPDX-License-Identifier: GPL-2.0-only
/*
 * closfab: a tunnel between top-of-rack switches that balances load and keeps order
 *
 *	            leaf 1                      spines                     leaf 2
 *	 route -> fab0: number, choose a path ==========> UDP: put in order -> lane -> stack
 *	          fab_xmit.c, fab_path.c                  fab_rx.c, fab_stream.c, fab_lane.c
 *
 * Routes with "encap ip dst PEER dev fab0" name the peers, as for vxlan in metadata mode. The
 * device is an L3 device: it carries IPv4 and IPv6, and has no addresses of its own on the link.
 *
 * This file creates devices, holds their options, and takes them up and down. RTNL protects all
 * of this.
 */
#include <linux/memcontrol.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <net/netdev_lock.h>
#include <net/netns/generic.h>
#include <net/rtnetlink.h>
#include <net/udp_tunnel.h>
#include <closnet/netlink.h>
#include "fab.h"

#define CREATE_TRACE_POINTS
#include "fab_trace.h"

/**
 * struct fab_net - state of a namespace
 * @ports: underlay devices and their load
 * @devices: devices whose packets are in this namespace; under RTNL
 * @used: there was such a device
 */
struct fab_net {
	struct lb_ports ports;
	struct list_head devices;
	bool used;
};

static unsigned int fab_net_id;

/**
 * fab_ports() - get the underlay's devices
 * @net: namespace
 *
 * Return: their ports.
 */
struct lb_ports *fab_ports(struct net *net)
{
	return &((struct fab_net *)net_generic(net, fab_net_id))->ports;
}

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

static void fab_setup(struct net_device *dev)
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

/* ---- options ---- */

/* fab_validate() checks the options, with messages of their own. */
static const struct nla_policy fab_policy[IFLA_CLOSFAB_MAX + 1] = { };

static void fab_apply(struct fab_dev *fab, const struct closfab_options *o)
{
	static const enum lb_policy policies[] = {
		[CLOSFAB_SELECT_RANDOM] = LB_RANDOM, [CLOSFAB_SELECT_RR] = LB_RR,
		[CLOSFAB_SELECT_QUALITY] = LB_QUALITY, [CLOSFAB_SELECT_DRILL] = LB_DRILL,
	};

	fab->options = *o;
	WRITE_ONCE(fab->select.policy, policies[o->select]);
}

/* Weights are act_lb's defaults; queues count, not utilization: packets are chosen one by one. */
static void fab_select_init(struct lb_select_params *p)
{
	const struct lb_weights w = {
		.interval_ns = 16000, .band_ns = 2000, .queue_weight = 100,
		.util_low = 0, .util_high = LB_UTIL_ONE, .charge = true,
	};

	p->choices = 2;
	p->memory = 1;
	lb_grading_init(&p->grading, &w);
}

static int fab_check_address(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	struct in6_addr addr = nla_get_in6_addr(attr);
	__be32 addr4 = addr.s6_addr32[3];
	bool valid;

	if (ipv6_addr_v4mapped(&addr))
		valid = addr4 && !ipv4_is_multicast(addr4) && !ipv4_is_lbcast(addr4);
	else
		valid = !ipv6_addr_any(&addr) && !ipv6_addr_is_multicast(&addr);
	if (valid)
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, attr,
			    "local and remote must be unicast IPv4 or IPv6 addresses");
	return -EINVAL;
}

static int fab_validate(struct nlattr *tb[], struct nlattr *data[], struct netlink_ext_ack *extack)
{
	struct closfab_options o;
	int err;

	if (!data)
		return 0;
	closfab_options_init(&o);
	err = closfab_options_parse(&o, data, extack);
	if (!err && data[IFLA_CLOSFAB_LOCAL])
		err = fab_check_address(data[IFLA_CLOSFAB_LOCAL], extack);
	if (!err && data[IFLA_CLOSFAB_REMOTE])
		err = fab_check_address(data[IFLA_CLOSFAB_REMOTE], extack);
	return err;
}

static void fab_set_key(struct fab_dev *fab, const struct nlattr *attr)
{
	__le64 key[2];

	memcpy(key, nla_data(attr), sizeof(key));
	fab->key.key[0] = le64_to_cpu(key[0]);
	fab->key.key[1] = le64_to_cpu(key[1]);
	fab->keyed = true;
}

/* ---- links ---- */

static int fab_set_link(struct fab_dev *fab, const struct nlattr *attr,
			struct netlink_ext_ack *extack)
{
	if (!attr)
		return 0;
	fab->link = nla_get_u32(attr);
	if (__dev_get_by_index(fab->net, fab->link))
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, attr, "link does not exist");
	return -ENODEV;
}

static void fab_prepare(struct fab_dev *fab, struct net_device *dev)
{
	fab->dev = dev;
	spin_lock_init(&fab->lock);
	INIT_DELAYED_WORK(&fab->gc, fab_peers_gc);
	get_random_bytes(&fab->hash_key, sizeof(fab->hash_key));
	fab_select_init(&fab->select);
}

static int fab_newlink(struct net_device *dev, struct rtnl_newlink_params *params,
		       struct netlink_ext_ack *extack)
{
	struct fab_dev *fab = netdev_priv(dev);
	struct nlattr **data = params->data;
	struct closfab_options o;
	struct fab_net *fn;
	int err;

	fab_prepare(fab, dev);
	fab->net = rtnl_newlink_link_net(params);
	fab->of_user = fab->net->user_ns != &init_user_ns;
	closfab_options_init(&o);
	err = fab_set_link(fab, params->tb[IFLA_LINK], extack);
	if (!err && data)
		err = closfab_options_parse(&o, data, extack);
	if (err)
		return err;
	fab_apply(fab, &o);
	if (data && data[IFLA_CLOSFAB_LOCAL])
		fab->local = nla_get_in6_addr(data[IFLA_CLOSFAB_LOCAL]);
	if (data && data[IFLA_CLOSFAB_REMOTE])
		fab->remote = nla_get_in6_addr(data[IFLA_CLOSFAB_REMOTE]);
	if (data && data[IFLA_CLOSFAB_KEY])
		fab_set_key(fab, data[IFLA_CLOSFAB_KEY]);
	err = register_netdevice(dev);
	if (err)
		return err;
	fn = net_generic(fab->net, fab_net_id);
	list_add(&fab->list, &fn->devices);
	fn->used = true;
	return 0;
}

CLOSNET_NEWLINK(fab_newlink, IFLA_CLOSFAB_UNSPEC)

static int fab_changelink(struct net_device *dev, struct nlattr *tb[], struct nlattr *data[],
			  struct netlink_ext_ack *extack)
{
	struct fab_dev *fab = netdev_priv(dev);
	struct closfab_options o = fab->options;
	int err;

	if (!data)
		return 0;
	if (!ns_capable(fab->net->user_ns, CAP_NET_ADMIN))
		return -EPERM;
	if (data[IFLA_CLOSFAB_LOCAL] || data[IFLA_CLOSFAB_REMOTE] || data[IFLA_CLOSFAB_PORT] ||
	    data[IFLA_CLOSFAB_KEY]) {
		NL_SET_ERR_MSG(extack, "local, remote, port and key cannot be changed");
		return -EOPNOTSUPP;
	}
	err = closfab_options_parse(&o, data, extack);
	if (!err)
		fab_apply(fab, &o);
	return err;
}

static void fab_dellink(struct net_device *dev, struct list_head *head)
{
	struct fab_dev *fab = netdev_priv(dev);

	list_del(&fab->list);
	unregister_netdevice_queue(dev, head);
}

static size_t fab_get_size(const struct net_device *dev)
{
	return closfab_options_size() + 2 * nla_total_size(sizeof(struct in6_addr));
}

static int fab_fill_info(struct sk_buff *skb, const struct net_device *dev)
{
	const struct fab_dev *fab = netdev_priv(dev);
	int err = 0;

	if (!ipv6_addr_any(&fab->local))
		err = nla_put_in6_addr(skb, IFLA_CLOSFAB_LOCAL, &fab->local);
	if (!err && !ipv6_addr_any(&fab->remote))
		err = nla_put_in6_addr(skb, IFLA_CLOSFAB_REMOTE, &fab->remote);
	return err ?: closfab_options_dump(skb, &fab->options);
}

static struct net *fab_get_link_net(const struct net_device *dev)
{
	const struct fab_dev *fab = netdev_priv(dev);

	return READ_ONCE(fab->net);
}

static struct rtnl_link_ops fab_link_ops = {
	.kind			= FAB_NAME,
	.priv_size		= sizeof(struct fab_dev),
	.setup			= fab_setup,
	.maxtype		= IFLA_CLOSFAB_MAX,
	.policy			= fab_policy,
	.validate		= fab_validate,
	.changelink		= fab_changelink,
	.dellink		= fab_dellink,
	.get_size		= fab_get_size,
	.fill_info		= fab_fill_info,
	.get_link_net		= fab_get_link_net,
	CLOSNET_NEWLINK_OPS(fab_newlink, IFLA_CLOSFAB_UNSPEC),
};

/* ---- namespaces and devices ---- */

/* Delete the tunnels whose packets a device routes: the device is being removed. */
static void fab_link_gone(const struct net_device *dev)
{
	const struct fab_net *fn = net_generic(dev_net(dev), fab_net_id);
	struct fab_dev *fab, *next;
	LIST_HEAD(gone);

	list_for_each_entry_safe(fab, next, &fn->devices, list)
		if (fab->link == dev->ifindex)
			fab_dellink(fab->dev, &gone);
	unregister_netdevice_many(&gone);
}

static int fab_device_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct lb_ports *ports = fab_ports(dev_net(dev));

	switch (event) {
	case NETDEV_UP:
	case NETDEV_CHANGE:
		lb_port_device_changed(ports, dev);
		break;
	case NETDEV_UNREGISTER:
		lb_port_device_gone(ports, dev);
		fab_link_gone(dev);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block fab_notifier = {
	.notifier_call	= fab_device_event,
};

static int __net_init fab_net_init(struct net *net)
{
	struct fab_net *fn = net_generic(net, fab_net_id);

	lb_ports_init(&fn->ports, net);
	INIT_LIST_HEAD(&fn->devices);
	return 0;
}

/*
 * Devices may be in other namespaces than their packets. Their routes are released before those of
 * the namespace end.
 */
static void __net_exit fab_net_exit(struct list_head *nets)
{
	struct fab_dev *fab, *next;
	bool used = false;
	struct fab_net *fn;
	struct net *net;
	LIST_HEAD(gone);

	rtnl_lock();
	list_for_each_entry(net, nets, exit_list) {
		fn = net_generic(net, fab_net_id);
		used |= fn->used;
		list_for_each_entry_safe(fab, next, &fn->devices, list)
			fab_dellink(fab->dev, &gone);
	}
	unregister_netdevice_many(&gone);
	rtnl_unlock();
	if (used)
		rcu_barrier();
	list_for_each_entry(net, nets, exit_list)
		lb_ports_exit(fab_ports(net));
}

static struct pernet_operations fab_net_ops = {
	.init		= fab_net_init,
	.exit_batch	= fab_net_exit,
	.id		= &fab_net_id,
	.size		= sizeof(struct fab_net),
};

static int __init fab_module_init(void)
{
	int err;

	err = register_pernet_device(&fab_net_ops);
	if (err)
		return err;
	err = register_netdevice_notifier(&fab_notifier);
	if (err)
		goto err_net;
	err = rtnl_link_register(&fab_link_ops);
	if (err)
		goto err_notifier;
	err = fab_nl_init();
	if (!err)
		return 0;
	rtnl_link_unregister(&fab_link_ops);
err_notifier:
	unregister_netdevice_notifier(&fab_notifier);
err_net:
	unregister_pernet_device(&fab_net_ops);
	return err;
}

static void __exit fab_module_exit(void)
{
	fab_nl_exit();
	rtnl_link_unregister(&fab_link_ops);
	unregister_netdevice_notifier(&fab_notifier);
	unregister_pernet_device(&fab_net_ops);
	/* paths are freed by call_rcu() */
	rcu_barrier();
}

module_init(fab_module_init);
module_exit(fab_module_exit);
MODULE_ALIAS_RTNL_LINK(FAB_NAME);
MODULE_AUTHOR("The closnet authors");
MODULE_DESCRIPTION("Tunnel between top-of-rack switches: ConWeave, in-order spraying, cells");
MODULE_LICENSE("GPL");
MODULE_VERSION(CLOSNET_VERSION);
