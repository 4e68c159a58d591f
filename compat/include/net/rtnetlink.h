/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Creation of a link with a peer. Since 6.15, the core finds the namespace of the peer,
 * checks the permission to use it, and passes everything in a structure. The code below
 * does the same for older kernels.
 */
#ifndef _CLOSNET_COMPAT_NET_RTNETLINK_H
#define _CLOSNET_COMPAT_NET_RTNETLINK_H

#include_next <net/rtnetlink.h>

#ifdef CLOSNET_HAVE_RTNL_NEWLINK_PARAMS

#define CLOSNET_NEWLINK(function, type)
#define CLOSNET_NEWLINK_OPS(function, type) \
	.newlink = function, \
	.peer_type = type

#else

#include <linux/err.h>
#include <net/net_namespace.h>

struct rtnl_newlink_params {
	struct net *src_net;
	struct net *peer_net;
	struct nlattr **tb;
	struct nlattr **data;
};

/* The core passes the namespace of IFLA_LINK_NETNSID as src_net. */
static inline struct net *rtnl_newlink_link_net(struct rtnl_newlink_params *p)
{
	return p->src_net;
}

static inline struct net *rtnl_newlink_peer_net(struct rtnl_newlink_params *p)
{
	return p->peer_net ? : p->src_net;
}

typedef int (*closnet_newlink_t)(struct net_device *dev,
				 struct rtnl_newlink_params *params,
				 struct netlink_ext_ack *extack);

/* Get the namespace in the attributes of a peer, with a reference. */
static inline struct net *closnet_peer_net(struct net *src_net,
					   const struct nlattr *peer,
					   struct netlink_ext_ack *extack)
{
	struct nlattr *tb[IFLA_MAX + 1];
	struct net *net;
	int err;

	err = rtnl_nla_parse_ifinfomsg(tb, peer, extack);
	if (err < 0)
		return ERR_PTR(err);
	net = rtnl_link_get_net(src_net, tb);
	if (!IS_ERR(net) && !ns_capable(net->user_ns, CAP_NET_ADMIN)) {
		put_net(net);
		return ERR_PTR(-EPERM);
	}
	return net;
}

static inline int closnet_newlink(closnet_newlink_t newlink, u16 peer_type,
				  struct rtnl_newlink_params *params,
				  struct net_device *dev,
				  struct netlink_ext_ack *extack)
{
	int err;

	if (!params->data || !params->data[peer_type])
		return newlink(dev, params, extack);
	params->peer_net = closnet_peer_net(params->src_net,
					    params->data[peer_type], extack);
	if (IS_ERR(params->peer_net))
		return PTR_ERR(params->peer_net);
	err = newlink(dev, params, extack);
	put_net(params->peer_net);
	return err;
}

#define CLOSNET_NEWLINK(function, type)					\
static int function##_compat(struct net *src_net, struct net_device *dev, \
			     struct nlattr *tb[], struct nlattr *data[], \
			     struct netlink_ext_ack *extack)		\
{									\
	struct rtnl_newlink_params params = {				\
		.src_net = src_net, .tb = tb, .data = data,		\
	};								\
									\
	return closnet_newlink(function, type, &params, dev, extack);	\
}

#define CLOSNET_NEWLINK_OPS(function, type) \
	.newlink = function##_compat

#endif /* CLOSNET_HAVE_RTNL_NEWLINK_PARAMS */

#endif /* _CLOSNET_COMPAT_NET_RTNETLINK_H */
