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
 * This file creates and deletes devices, and holds their options. RTNL protects all of this.
 */
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <net/netns/generic.h>
#include <net/rtnetlink.h>
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
	fn = net_generic(fab->net, fab_net_id);
	fab->ports = &fn->ports;
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
	struct fab_net *fn = net_generic(dev_net(dev), fab_net_id);

	switch (event) {
	case NETDEV_UP:
	case NETDEV_CHANGE:
		lb_port_device_changed(&fn->ports, dev);
		break;
	case NETDEV_UNREGISTER:
		lb_port_device_gone(&fn->ports, dev);
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
	list_for_each_entry(net, nets, exit_list) {
		fn = net_generic(net, fab_net_id);
		lb_ports_exit(&fn->ports);
	}
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
