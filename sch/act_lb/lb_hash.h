/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hash of a packet's flow
 *
 * The interface of lb_hash.c; act_lb and closfab use it.
 */
#ifndef _CLOSNET_LB_HASH_H
#define _CLOSNET_LB_HASH_H

#include <linux/siphash.h>
#include <linux/skbuff.h>

u64 lb_hash4(const siphash_key_t *key, const struct sk_buff *skb);
u64 lb_hash6(const siphash_key_t *key, const struct sk_buff *skb);

#endif /* _CLOSNET_LB_HASH_H */
