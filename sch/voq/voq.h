/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sch_voq: shared by the qdisc and its messages
 */
#ifndef _CLOSNET_VOQ_H
#define _CLOSNET_VOQ_H

#include <linux/hrtimer.h>
#include <linux/in6.h>
#include <linux/mutex.h>
#include <linux/netlink.h>
#include <linux/siphash.h>
#include <linux/xarray.h>
#include <net/sch_generic.h>
#include "voq_core.h"
#include "voq_grant.h"

#define VOQ_KEY_LEN	16

/**
 * struct voq_net - messages of a network namespace
 * @net: the namespace
 * @mutex: guards changes of the following members
 * @users: qdiscs that send messages
 * @port: UDP port
 * @keyed: messages are authenticated
 * @key: the key
 * @hash_key: key of the hash of sources
 * @sk4: UDP socket, NULL without users
 * @sk6: as @sk4; NULL without IPv6
 * @ingress: qdiscs with option credit, by their number
 * @ports: newest qdisc with option grant of a device, by the index of the device
 * @malformed: messages of wrong length, version or content, and multicasts
 * @wrong_port: messages from another source port
 * @not_authentic: messages with a wrong authenticator
 */
struct voq_net {
	struct net *net;
	struct mutex mutex;	/* guards changes of the members below */
	u32 users;
	u16 port;
	bool keyed;
	siphash_key_t key;
	siphash_key_t hash_key;
	struct sock __rcu *sk4;
	struct sock __rcu *sk6;
	struct xarray ingress;
	struct xarray ports;
	atomic64_t malformed;
	atomic64_t wrong_port;
	atomic64_t not_authentic;
};

/**
 * struct voq_end - the state of a qdisc that messages change
 * @rcu: for freeing
 * @vn: its namespace
 * @older: next qdisc in the list of its port, or NULL; under the mutex of @vn
 * @sch: the qdisc; not valid if @dead
 * @ifindex: its device
 * @id: its number in messages
 * @grant: it grants credit
 * @lock: guards the following members; the root lock may be held around it
 * @dead: the qdisc is being destroyed
 * @timer: sends messages
 * @timer_ns: when it expires; U64_MAX: it does not
 * @table: VOQs, without @grant
 * @granter: credit, with @grant
 * @nomem: messages that could not be sent
 */
struct voq_end {
	struct rcu_head rcu;
	struct voq_net *vn;
	struct voq_end *older;
	struct Qdisc *sch;
	u32 ifindex;
	u32 id;
	bool grant;
	spinlock_t lock;	/* guards the members below */
	bool dead;
	struct hrtimer timer;
	u64 timer_ns;
	struct voq_table table;
	struct voq_granter granter;
	u64 nomem;
};

struct voq_net *voq_net_of(const struct net *net);
int voq_net_join(struct voq_net *vn, struct voq_end *end, u16 port, const u8 *key,
		 struct netlink_ext_ack *extack);
void voq_net_leave(struct voq_net *vn, struct voq_end *end);
int voq_net_register(void);
void voq_net_unregister(void);
void voq_end_init(struct voq_end *end);
void voq_end_arm(struct voq_end *end);

#endif /* _CLOSNET_VOQ_H */
