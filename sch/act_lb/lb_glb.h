/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Global load balancing: adverts to and from neighbours
 *
 * The interface of lb_glb.c, which explains trust and locks.
 */
#ifndef _CLOSNET_LB_GLB_H
#define _CLOSNET_LB_GLB_H

#include <linux/hrtimer.h>
#include <linux/if_ether.h>
#include <linux/siphash.h>
#include "lb_fib.h"
#include "lb_port.h"
#include "lb_remote.h"

/* Ethertype of adverts: IEEE's for local experiments */
#define LB_ETHERTYPE		0x88b5
#define LB_KEY_LEN		16
/* Places for prefixes and ports in the store */
#define LB_STORE_BITS		8
/* Egress ports of a prefix that are graded between packets */
#define LB_EGRESS_MAX		8

#define LB_KEYS			2

/**
 * struct lb_keys - keys of a namespace's adverts
 * @rcu: for freeing
 * @count: number of @key
 * @key: the first one signs, each of them is accepted
 */
struct lb_keys {
	struct rcu_head rcu;
	u32 count;
	siphash_key_t key[LB_KEYS];
};

/**
 * struct lb_glb - state of a namespace
 * @store: remote qualities; NULL until an action uses them; freed with the namespace
 * @keys: keys; NULL: adverts are not authenticated
 * @lock: guards changes of @store and of the counters
 * @hash_key: key of the tags
 * @heard: adverts stored
 * @refused: adverts from other ports, not authentic, not valid, old, or without a place
 * @mutex: guards changes of @keys, and the following members
 * @users: actions that use @keys
 * @choosers: actions that use remote qualities; read without the lock
 */
struct lb_glb {
	struct lb_remote __rcu *store;
	struct lb_keys __rcu *keys;
	spinlock_t lock;	/* guards changes of @store and of the counters */
	siphash_key_t hash_key;
	u64 heard;
	u64 refused;
	struct mutex mutex;	/* guards changes of @keys, and the members below */
	u32 users;
	u32 choosers;
};

struct lb_teller;

struct lb_keys *lb_keys_create(const u8 *key);
int lb_glb_check_key(struct lb_glb *glb, const struct lb_keys *keys, bool change,
		     struct netlink_ext_ack *extack);
void lb_glb_use_key(struct lb_glb *glb, struct lb_keys *keys);
void lb_glb_drop_key(struct lb_glb *glb);
int lb_glb_join(struct lb_glb *glb);
void lb_glb_leave(struct lb_glb *glb);
void lb_glb_init(struct lb_glb *glb);
void lb_glb_exit(struct lb_glb *glb);
u64 lb_glb_prefix_hash(const struct lb_glb *glb, const struct lb_route *r);
u8 lb_glb_quality(const struct lb_remote *store, u64 hash, struct lb_port *port, u64 now_ns);
int lb_glb_receive(struct lb_glb *glb, struct lb_ports *ports, const struct sk_buff *skb);

struct lb_teller *lb_teller_create(struct lb_ports *ports, struct lb_glb *glb,
				   const struct lb_grading *grading, u64 __percpu *sent,
				   u64 __percpu *delayed);
void lb_teller_destroy(struct lb_teller *t);
void lb_tell(struct lb_teller *t, const struct lb_route *r, const struct sk_buff *skb, u64 now_ns);

#endif /* _CLOSNET_LB_GLB_H */
