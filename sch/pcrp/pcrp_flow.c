// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sender's flow table: see pcrp_flow.h
 */

#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/rtnetlink.h>
#include "pcrp_flow.h"

/**
 * pcrp_flows_init() - allocate a table
 * @t: the table, zeroed
 * @count: flows that get an entry of their own
 * @seed: secret seed of the hash
 *
 * Return: 0 or -ENOMEM.
 */
int pcrp_flows_init(struct pcrp_flows *t, u32 count, u64 seed)
{
	u32 buckets = roundup_pow_of_two(count);

	t->count = count;
	t->mask = buckets - 1;
	t->seed = seed;
	t->entries = kvcalloc(count + 1, sizeof(*t->entries), GFP_KERNEL_ACCOUNT);
	t->buckets = kvcalloc(buckets, sizeof(*t->buckets), GFP_KERNEL_ACCOUNT);
	if (!t->entries || !t->buckets) {
		pcrp_flows_free(t);
		return -ENOMEM;
	}
	t->last = t->entries;	/* no packet has its key */
	return 0;
}

/**
 * pcrp_flows_free() - free a table without packets
 * @t: the table
 */
void pcrp_flows_free(struct pcrp_flows *t)
{
	kvfree(t->buckets);
	kvfree(t->entries);
	t->buckets = NULL;
	t->entries = NULL;
}

/**
 * pcrp_flows_clear() - drop all packets and zero all entries
 * @t: the table; RTNL is held
 */
void pcrp_flows_clear(struct pcrp_flows *t)
{
	u32 i;

	for (i = 0; i <= t->count; i++)
		rtnl_kfree_skbs(t->entries[i].head, t->entries[i].tail);
	memset(t->entries, 0, (t->count + 1) * sizeof(*t->entries));
	memset(t->buckets, 0, (t->mask + 1) * sizeof(*t->buckets));
}

static inline struct hlist_head *pcrp_flows_bucket(const struct pcrp_flows *t,
						   const struct pcrp_key *key)
{
	return &t->buckets[pcrp_key_hash(key, t->seed) & t->mask];
}

/**
 * pcrp_flows_find() - find a flow
 * @t: the table
 * @key: key of the flow
 *
 * Return: its entry, or NULL.
 */
struct pcrp_entry *pcrp_flows_find(struct pcrp_flows *t, const struct pcrp_key *key)
{
	struct pcrp_entry *e;

	hlist_for_each_entry(e, pcrp_flows_bucket(t, key), node) {
		if (pcrp_key_equal(&e->key, key)) {
			t->last = e;
			return e;
		}
	}
	return NULL;
}

/**
 * pcrp_flows_assign() - assign an entry to another flow
 * @t: the table
 * @e: the entry, without packets
 * @key: key of a flow that has no entry
 */
void pcrp_flows_assign(struct pcrp_flows *t, struct pcrp_entry *e, const struct pcrp_key *key)
{
	if (!hlist_unhashed(&e->node))
		hlist_del(&e->node);
	e->key = *key;
	e->ip_hlen = pcrp_plain_ip_hlen(key);
	e->seq = (struct pcrp_seq) {};
	e->gate_until = jiffies;
	e->src_hash = pcrp_addr_hash(&key->src, t->seed);
	e->dst_hash = pcrp_addr_hash(&key->dst, t->seed);
	hlist_add_head(&e->node, pcrp_flows_bucket(t, key));
	t->last = e;
}
