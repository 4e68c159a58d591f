// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages of sch_voq: sockets, timers, trust
 *
 * The qdiscs of a network namespace share a UDP socket for each family. The ingress leaf sends
 * requests to the address that the tunnel route of the VOQ names. The egress leaf looks up the
 * destination in its routing table, and the qdisc of the route's device takes the request; without
 * one, it refuses. Answers return to the address of the request, from the address that it was
 * sent to.
 *
 * Trust. A message must come from the same, privileged port, and be authentic if there is a key. A
 * grant must come from the egress leaf of the VOQ, name its random number, and stay within the
 * last request. A stranger with a forged request takes at most its share of the port's credit and
 * VOQ_REQUEST_CREDITS, for VOQ_FORGET_RETRIES * retry, and a place in a table of fixed size. Answer
 * and grants are as long as the request.
 *
 * Locks. The lock of an end guards its core. Messages are sent without it, from the timer's or the
 * receiver's softirq, never under a root lock: the other device's root lock follows.
 */
#include <net/ip.h>
#include <net/ip_tunnels.h>
#include <net/netns/generic.h>
#include <net/pkt_sched.h>
#include <net/route.h>
#include <net/udp.h>
#include <net/udp_tunnel.h>
#include <net/closnet_fib6.h>
#include <closnet/pkt_core.h>
#include "voq.h"

#define CREATE_TRACE_POINTS
#include "voq_trace.h"

/* Messages of a timer before it yields */
#define VOQ_BATCH	8U
#define VOQ_TTL		64
#define VOQ_TOS		0xc0	/* CS6 */

/**
 * struct voq_out - a message on its way
 * @to: address of the peer; IPv4 is mapped
 * @from: source address; all zero: the route decides
 * @m: the message
 */
struct voq_out {
	struct in6_addr to;
	struct in6_addr from;
	struct voq_msg m;
};

static unsigned int voq_net_id;

/**
 * voq_net_of() - get the messages of a namespace
 * @net: namespace
 *
 * Return: them, never NULL.
 */
struct voq_net *voq_net_of(const struct net *net)
{
	return net_generic(net, voq_net_id);
}

static u64 voq_mac(const struct voq_net *vn, const struct in6_addr *from,
		   const struct in6_addr *to, const u8 *msg)
{
	struct {
		struct in6_addr from;
		struct in6_addr to;
		u8 msg[VOQ_MSG_MAC];
	} __aligned(SIPHASH_ALIGNMENT) data = { .from = *from, .to = *to };

	memcpy(data.msg, msg, VOQ_MSG_MAC);
	return siphash(&data, sizeof(data), &vn->key);
}

/* ---- sending ---- */

static struct sk_buff *voq_build(const struct voq_net *vn, const struct voq_out *out)
{
	const u32 headroom = LL_MAX_HEADER + sizeof(struct ipv6hdr) + sizeof(struct udphdr);
	struct sk_buff *skb = alloc_skb(headroom + VOQ_MSG_LEN, GFP_ATOMIC | __GFP_NOWARN);

	if (!skb)
		return NULL;
	skb_reserve(skb, headroom);
	voq_msg_write(skb_put(skb, VOQ_MSG_LEN), &out->m);
	if (vn->keyed)
		closnet_put(skb->data + VOQ_MSG_MAC, 8,
			    voq_mac(vn, &out->from, &out->to, skb->data));
	skb->priority = TC_PRIO_CONTROL;
	return skb;
}

static bool voq_send4(struct voq_net *vn, struct voq_out *out)
{
	struct sock *sk = rcu_dereference(vn->sk4);
	__be16 port = htons(vn->port);
	struct flowi4 fl4 = {
		.flowi4_proto = IPPROTO_UDP, .flowi4_uid = sock_net_uid(vn->net, NULL),
		.daddr = out->to.s6_addr32[3], .saddr = out->from.s6_addr32[3],
		.fl4_sport = port, .fl4_dport = port,
	};
	struct sk_buff *skb;
	struct rtable *rt;

	if (!sk)
		return false;
	rt = ip_route_output_key(vn->net, &fl4);
	if (IS_ERR(rt))
		return false;
	ipv6_addr_set_v4mapped(fl4.saddr, &out->from);
	skb = voq_build(vn, out);
	if (!skb) {
		ip_rt_put(rt);
		return false;
	}
	closnet_udp_tunnel_xmit(rt, sk, skb, fl4.saddr, fl4.daddr, VOQ_TOS, VOQ_TTL, 0, port, port,
				false, false);
	return true;
}

static bool voq_send6(struct voq_net *vn, struct voq_out *out)
{
	struct sock *sk = rcu_dereference(vn->sk6);
	__be16 port = htons(vn->port);
	struct flowi6 fl6 = {
		.flowi6_proto = IPPROTO_UDP, .flowi6_uid = sock_net_uid(vn->net, NULL),
		.daddr = out->to, .saddr = out->from, .fl6_sport = port, .fl6_dport = port,
	};
	struct dst_entry *dst;
	struct sk_buff *skb;

	if (!sk)
		return false;
	dst = closnet_ip6_dst_lookup_flow(vn->net, sk, &fl6, NULL);
	if (IS_ERR(dst))
		return false;
	out->from = fl6.saddr;
	skb = voq_build(vn, out);
	if (!skb) {
		dst_release(dst);
		return false;
	}
	closnet_udp_tunnel6_xmit(dst, sk, skb, NULL, &out->from, &out->to, VOQ_TOS, VOQ_TTL, 0,
				 port, port, false);
	return true;
}

/* Context: RCU, BH off. Return: false: no route or memory */
static bool voq_send(struct voq_net *vn, struct voq_out *out)
{
	trace_voq_send(&out->to, &out->m);
	return ipv6_addr_v4mapped(&out->to) ? voq_send4(vn, out) : voq_send6(vn, out);
}

static void voq_send_all(struct voq_end *end, struct voq_out *out, u32 count)
{
	u32 failed = 0, i;

	for (i = 0; i < count; i++)
		failed += !voq_send(end->vn, &out[i]);
	if (unlikely(failed))
		WRITE_ONCE(end->nomem, end->nomem + failed);
}

/* ---- timers ---- */

/* Wake the qdisc if a VOQ may send. The lock and RCU are held. */
static void voq_wake(struct voq_end *end)
{
	if (!list_empty(&end->table.lists[VOQ_READY]))
		__netif_schedule(qdisc_root(end->sch));
}

/**
 * voq_end_arm() - set the timer to the time of the next message
 * @end: end of a qdisc
 *
 * Context: the lock is held, BH off.
 */
void voq_end_arm(struct voq_end *end)
{
	u64 next_ns = end->grant ? voq_grant_ns(&end->granter) : voq_request_ns(&end->table);

	if (next_ns >= end->timer_ns || end->dead || !end->vn)
		return;
	end->timer_ns = next_ns;
	hrtimer_start(&end->timer, ns_to_ktime(next_ns), HRTIMER_MODE_ABS_SOFT);
}

static u32 voq_take_grants(struct voq_end *end, struct voq_out *out)
{
	u64 now_ns = ktime_get_ns(), backlog = READ_ONCE(end->sch->qstats.backlog);
	struct voq_source_key key;
	u32 n;

	for (n = 0; n < VOQ_BATCH; n++) {
		if (!voq_grant_next(&end->granter, backlog, now_ns, &key, &out[n].m))
			break;
		memcpy(&out[n].to, key.addr, sizeof(out[n].to));
		memset(&out[n].from, 0, sizeof(out[n].from));
	}
	return n;
}

static u32 voq_take_requests(struct voq_end *end, struct voq_out *out)
{
	u64 now_ns = ktime_get_ns(), opened = end->table.stats.opened;
	const struct voq_key *key;
	u32 n, slot;

	for (n = 0; n < VOQ_BATCH; n++) {
		slot = voq_request(&end->table, now_ns, &out[n].m);
		if (slot == VOQ_NO_SLOT)
			break;
		key = &end->table.slot[slot].key;
		out[n].m.id = end->id;
		memcpy(out[n].m.dst, key->dst, VOQ_ADDR_LEN);
		memcpy(&out[n].to, key->leaf, sizeof(out[n].to));
		memset(&out[n].from, 0, sizeof(out[n].from));
	}
	if (end->table.stats.opened != opened)
		voq_wake(end);
	return n;
}

static enum hrtimer_restart voq_end_timer(struct hrtimer *timer)
{
	struct voq_end *end = container_of(timer, struct voq_end, timer);
	struct voq_out out[VOQ_BATCH];
	u32 count = 0;

	rcu_read_lock();
	spin_lock(&end->lock);
	end->timer_ns = U64_MAX;
	if (!end->dead) {
		count = end->grant ? voq_take_grants(end, out) : voq_take_requests(end, out);
		voq_end_arm(end);
	}
	spin_unlock(&end->lock);
	voq_send_all(end, out, count);
	rcu_read_unlock();
	return HRTIMER_NORESTART;
}

/**
 * voq_end_init() - initialise an end
 * @end: zeroed
 */
void voq_end_init(struct voq_end *end)
{
	spin_lock_init(&end->lock);
	hrtimer_setup(&end->timer, voq_end_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	end->timer_ns = U64_MAX;
}

/* ---- receiving ---- */

/* Index of the device that leads to an address; 0: no route */
static u32 voq_route(const struct voq_net *vn, const struct in6_addr *addr)
{
	struct flowi4 fl4 = { .daddr = addr->s6_addr32[3] };
	struct flowi6 fl6 = { .daddr = *addr };
	struct dst_entry *dst;
	struct rtable *rt;
	struct sock *sk;
	u32 ifindex;

	if (ipv6_addr_v4mapped(addr)) {
		rt = ip_route_output_key(vn->net, &fl4);
		if (IS_ERR(rt))
			return 0;
		dst = &rt->dst;
	} else {
		sk = rcu_dereference(vn->sk6);
		dst = sk ? closnet_ip6_dst_lookup_flow(vn->net, sk, &fl6, NULL) : ERR_PTR(-ENOENT);
		if (IS_ERR(dst))
			return 0;
	}
	ifindex = dst->dev->ifindex;
	dst_release(dst);
	return ifindex;
}

/* Return: true: the request is taken, and @answer is to be sent if @answered */
static bool voq_take_request(struct voq_end *end, const struct in6_addr *from,
			     const struct voq_msg *m, struct voq_msg *answer, bool *answered)
{
	struct voq_source_key key = { .id = m->id, .cookie = m->cookie };
	u32 hash;

	memcpy(key.addr, from, sizeof(key.addr));
	hash = siphash(&key, sizeof(key), &end->vn->hash_key);
	spin_lock(&end->lock);
	if (end->dead) {
		spin_unlock(&end->lock);
		return false;
	}
	*answered = voq_grant_request(&end->granter, &key, hash, m, ktime_get_ns(), answer);
	voq_end_arm(end);
	spin_unlock(&end->lock);
	return true;
}

static void voq_receive_request(struct voq_net *vn, const struct in6_addr *from,
				const struct in6_addr *to, const struct voq_msg *m)
{
	struct voq_out out = { .to = *from, .from = *to, .m = *m };
	struct in6_addr dst;
	struct voq_end *end;
	bool answered = true;
	u32 ifindex;

	memcpy(&dst, m->dst, sizeof(dst));
	ifindex = voq_route(vn, &dst);
	end = ifindex ? xa_load(&vn->ports, ifindex) : NULL;
	if (!end || !voq_take_request(end, from, m, &out.m, &answered))
		out.m.op = VOQ_REFUSE;
	if (answered)
		voq_send(vn, &out);
}

static void voq_receive_answer(struct voq_net *vn, const struct in6_addr *from,
			       const struct voq_msg *m)
{
	struct voq_end *end = xa_load(&vn->ingress, m->id);

	if (!end)
		return;
	spin_lock(&end->lock);
	if (!end->dead) {
		if (voq_answer(&end->table, from->s6_addr, m, ktime_get_ns()))
			voq_wake(end);
		voq_end_arm(end);
	}
	spin_unlock(&end->lock);
}

static void voq_addresses(const struct sk_buff *skb, struct in6_addr *from, struct in6_addr *to)
{
	if (ip_hdr(skb)->version == 4) {
		ipv6_addr_set_v4mapped(ip_hdr(skb)->saddr, from);
		ipv6_addr_set_v4mapped(ip_hdr(skb)->daddr, to);
		return;
	}
	*from = ipv6_hdr(skb)->saddr;
	*to = ipv6_hdr(skb)->daddr;
}

/* Read a message; skb->data is at the UDP header. Return: NULL, or the counter of the fault */
static atomic64_t *voq_read(struct voq_net *vn, struct sk_buff *skb, struct in6_addr *from,
			    struct in6_addr *to, struct voq_msg *m)
{
	const u32 udp = sizeof(struct udphdr);
	const u8 *msg;

	/* the answer to a multicast would have its address as source, which no packet may have */
	if (skb->pkt_type != PACKET_HOST || skb_is_gso(skb) ||
	    !pskb_may_pull(skb, udp + VOQ_MSG_LEN))
		return &vn->malformed;
	if (udp_hdr(skb)->source != htons(vn->port))
		return &vn->wrong_port;
	voq_addresses(skb, from, to);
	msg = skb->data + udp;
	if (!voq_msg_read(m, msg, skb->len - udp))
		return &vn->malformed;
	if (vn->keyed && closnet_get(msg + VOQ_MSG_MAC, 8) != voq_mac(vn, from, to, msg))
		return &vn->not_authentic;
	return NULL;
}

/* Context: RCU, BH off. Return: 0: the packet is taken */
static int voq_receive(struct sock *sk, struct sk_buff *skb)
{
	struct voq_net *vn = rcu_dereference_sk_user_data(sk);
	struct in6_addr from, to;
	atomic64_t *fault;
	struct voq_msg m;

	if (!vn) {
		kfree_skb(skb);
		return 0;
	}
	fault = voq_read(vn, skb, &from, &to, &m);
	if (fault) {
		atomic64_inc(fault);
		kfree_skb(skb);
		return 0;
	}
	trace_voq_receive(&from, &m);
	if (m.op == VOQ_REQUEST)
		voq_receive_request(vn, &from, &to, &m);
	else
		voq_receive_answer(vn, &from, &m);
	consume_skb(skb);
	return 0;
}

/* ---- sockets ---- */

static int voq_open_socket(struct voq_net *vn, u8 family, struct sock __rcu **place)
{
	struct udp_tunnel_sock_cfg tunnel = {
		.sk_user_data = vn, .encap_type = 1, .encap_rcv = voq_receive,
	};
	struct udp_port_cfg cfg = {
		.family = family, .local_udp_port = htons(vn->port),
		.use_udp6_rx_checksums = true, .ipv6_v6only = true,
	};
	struct socket *sock;
	int err;

	err = udp_sock_create(vn->net, &cfg, &sock);
	if (err)
		return err;
	closnet_udp_tunnel_setup(vn->net, sock->sk, &tunnel);
	rcu_assign_pointer(*place, sock->sk);
	return 0;
}

/* The tunnel's release waits for an RCU grace period. */
static void voq_close_socket(struct voq_net *vn, struct sock __rcu **place)
{
	struct sock *sk = rcu_dereference_protected(*place, lockdep_is_held(&vn->mutex));

	RCU_INIT_POINTER(*place, NULL);
	if (sk)
		closnet_udp_tunnel_release(sk);
}

static int voq_open_sockets(struct voq_net *vn)
{
	int err = voq_open_socket(vn, AF_INET, &vn->sk4);

	if (!err)
		err = voq_open_socket(vn, AF_INET6, &vn->sk6);
	if (err == -EAFNOSUPPORT || err == -EPFNOSUPPORT)
		err = 0;
	if (err)
		voq_close_socket(vn, &vn->sk4);
	return err;
}

/* ---- the namespace ---- */

static int voq_net_set(struct voq_net *vn, u16 port, const u8 *key,
		       struct netlink_ext_ack *extack)
{
	siphash_key_t new = { };

	if (key)
		memcpy(&new, key, VOQ_KEY_LEN);
	if (!vn->users) {
		vn->port = port;
		vn->key = new;
		vn->keyed = key;
		return 0;
	}
	if (vn->port == port && vn->keyed == !!key && !memcmp(&vn->key, &new, sizeof(new)))
		return 0;
	NL_SET_ERR_MSG(extack,
		       "port and key must be those of the namespace's other voq qdiscs");
	return -EBUSY;
}

/*
 * The newest qdisc of a port takes the requests. The one before stays in its list: the kernel may
 * give up the new one, for example when its rate estimator is not valid.
 */
static int voq_net_add_port(struct voq_net *vn, struct voq_end *end)
{
	end->older = xa_load(&vn->ports, end->ifindex);
	return xa_err(xa_store(&vn->ports, end->ifindex, end, GFP_KERNEL_ACCOUNT));
}

/* Needs no memory: the port has an entry. */
static void voq_net_del_port(struct voq_net *vn, struct voq_end *end)
{
	struct voq_end *newer = xa_load(&vn->ports, end->ifindex);

	if (newer == end) {
		xa_store(&vn->ports, end->ifindex, end->older, GFP_KERNEL);
		return;
	}
	while (newer->older != end)
		newer = newer->older;
	newer->older = end->older;
}

static int voq_net_add(struct voq_net *vn, struct voq_end *end)
{
	int err;

	if (end->grant)
		return voq_net_add_port(vn, end);
	do {
		end->id = get_random_u32();
		err = xa_insert(&vn->ingress, end->id, end, GFP_KERNEL_ACCOUNT);
	} while (err == -EBUSY);
	return err;
}

/**
 * voq_net_join() - let a qdisc send and receive messages
 * @vn: its namespace
 * @end: its end
 * @port: UDP port
 * @key: VOQ_KEY_LEN bytes, or NULL for no authentication
 * @extack: error report
 *
 * Context: process; may sleep.
 *
 * Return: 0; -EBUSY: other qdiscs have another port or key; -EADDRINUSE, -ENOMEM.
 */
int voq_net_join(struct voq_net *vn, struct voq_end *end, u16 port, const u8 *key,
		 struct netlink_ext_ack *extack)
{
	int err;

	mutex_lock(&vn->mutex);
	err = voq_net_set(vn, port, key, extack);
	if (!err && !vn->users)
		err = voq_open_sockets(vn);
	if (!err) {
		end->vn = vn;
		err = voq_net_add(vn, end);
		vn->users += !err;
		if (err)
			end->vn = NULL;
		if (!vn->users) {
			voq_close_socket(vn, &vn->sk4);
			voq_close_socket(vn, &vn->sk6);
		}
	}
	mutex_unlock(&vn->mutex);
	return err;
}

/**
 * voq_net_leave() - end the messages of a qdisc
 * @vn: its namespace
 * @end: its end, for which voq_net_join() succeeded
 *
 * Afterwards receivers may still see @end until an RCU grace period ends, but not use its qdisc.
 *
 * Context: process; may sleep.
 */
void voq_net_leave(struct voq_net *vn, struct voq_end *end)
{
	mutex_lock(&vn->mutex);
	if (end->grant)
		voq_net_del_port(vn, end);
	else
		xa_erase(&vn->ingress, end->id);
	if (!--vn->users) {
		voq_close_socket(vn, &vn->sk4);
		voq_close_socket(vn, &vn->sk6);
	}
	mutex_unlock(&vn->mutex);
}

static int __net_init voq_net_init(struct net *net)
{
	struct voq_net *vn = voq_net_of(net);

	vn->net = net;
	mutex_init(&vn->mutex);
	xa_init(&vn->ingress);
	xa_init(&vn->ports);
	get_random_bytes(&vn->hash_key, sizeof(vn->hash_key));
	return 0;
}

static struct pernet_operations voq_net_ops = {
	.init = voq_net_init,
	.id = &voq_net_id,
	.size = sizeof(struct voq_net),
};

/**
 * voq_net_register() - prepare all namespaces
 *
 * Return: 0 or a negative error.
 */
int voq_net_register(void)
{
	return register_pernet_subsys(&voq_net_ops);
}

/* voq_net_unregister() - undo voq_net_register() */
void voq_net_unregister(void)
{
	unregister_pernet_subsys(&voq_net_ops);
}
