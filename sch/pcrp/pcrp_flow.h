/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From packets to flows
 *
 * pcrp_parse() says what a packet is, at the sender and at the receiver alike.
 * The table finds a flow's slot, which is the number that the sender's core
 * (pcrp_sender.h) knows it by and gives it, and its FIFO.
 *
 * A flow is told by its addresses, protocol and ports. Sockets do not tell it: one
 * that is not connected has many flows, and the memory of one that is gone is used
 * again. A socket is asked for what it has not sent yet, no more.
 *
 * What has no flow (multicast, fragments, flows for which the table has no place)
 * is one flow together, in the slot after the last: so it is scheduled like any
 * other, and cannot starve.
 *
 * All of the table is under the root lock.
 */
#ifndef _CLOSNET_PCRP_FLOW_H
#define _CLOSNET_PCRP_FLOW_H

#include <linux/bitops.h>
#include <linux/cache.h>
#include <linux/in6.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/skbuff.h>
#include <net/ipv6.h>
#include "pcrp_seq.h"

#define PCRP_KEY_WORDS		5

/**
 * struct pcrp_key - who a flow is
 * @src: source; an IPv4 address as one of IPv6, mapped
 * @dst: destination
 * @sport: source port, 0: there is none
 * @dport: destination port
 * @proto: of IP
 * @word: all of that
 */
struct pcrp_key {
	union {
		struct {
			struct in6_addr src;
			struct in6_addr dst;
			__be16 sport;
			__be16 dport;
			u32 proto;
		};
		u64 word[PCRP_KEY_WORDS];
	};
};

static_assert(sizeof(struct pcrp_key) == PCRP_KEY_WORDS * sizeof(u64));

/**
 * enum pcrp_kind - what a packet is
 * @PCRP_KIND_REST: of no flow: multicast, a fragment, headers that end early
 * @PCRP_KIND_TOP: a TCP ACK without data, neighbour discovery, not IP
 * @PCRP_KIND_CONTROL: PCRP's own, by its ports
 * @PCRP_KIND_SIGNAL: SYN, FIN or RST of TCP, without data
 * @PCRP_KIND_FLOW: data of a flow
 */
enum pcrp_kind {
	PCRP_KIND_REST,
	PCRP_KIND_TOP,
	PCRP_KIND_CONTROL,
	PCRP_KIND_SIGNAL,
	PCRP_KIND_FLOW,
};

/**
 * struct pcrp_pkt - what pcrp_parse() has found
 * @key: valid from PCRP_KIND_CONTROL on, and of IP's PCRP_KIND_TOP
 * @l3_off: where the IP header is, from skb->data on
 * @l4_off: where its payload is
 * @bytes: payload of TCP, UDP, or else of IP
 * @seq: TCP: of the first byte of data
 * @ip_hlen: CLOSNET_IPV4_HLEN or CLOSNET_IPV6_HLEN; 0: not IP
 * @dsfield: DSCP and ECN bits
 * @fin: TCP: the flow's end takes a sequence number after the data
 * @syn: TCP: it begins a connection
 * @kind: what it is
 */
struct pcrp_pkt {
	struct pcrp_key key;
	u32 l3_off;
	u32 l4_off;
	u32 bytes;
	u32 seq;
	u8 ip_hlen;
	u8 dsfield;
	bool fin;
	bool syn;
	enum pcrp_kind kind;
};

bool pcrp_parse_row(const struct sk_buff *skb, const u8 *data, u32 avail, u16 ethertype,
		    struct pcrp_pkt *pkt);
void pcrp_parse_fragments(const struct sk_buff *skb, u16 ethertype, struct pcrp_pkt *pkt);

/**
 * pcrp_parse() - find out what a packet is
 * @skb: the packet; its headers may lie in fragments
 * @l3_off: where its L3 header is, from skb->data on; in the packet, unless that is not known
 * @ethertype: protocol of that, host byte order; 0: not known
 * @pkt: result
 */
static inline void pcrp_parse(const struct sk_buff *skb, u32 l3_off, u16 ethertype,
			      struct pcrp_pkt *pkt)
{
	u32 linear = skb_headlen(skb);

	pkt->l3_off = l3_off;
	if (unlikely(!pcrp_parse_row(skb, skb->data + l3_off,
				     linear > l3_off ? linear - l3_off : 0, ethertype, pkt)) &&
	    skb_is_nonlinear(skb))
		pcrp_parse_fragments(skb, ethertype, pkt);
}

/* Both halves of a product: each of its bits depends on many of either factor. */
static inline u64 pcrp_mix(u64 a, u64 b)
{
	return a * b ^ mul_u64_u64_shr(a, b, 64);
}

/**
 * pcrp_key_hash() - hash of a flow's key
 * @key: the flow
 * @seed: nobody else knows it: both factors of each product have it, or a hash that
 *	depends on it
 *
 * Return: the hash.
 */
static inline u32 pcrp_key_hash(const struct pcrp_key *key, u64 seed)
{
	const u64 *w = key->word;
	u64 hash;

	hash = pcrp_mix(w[0] ^ seed, w[1] ^ ror64(seed, 32));
	hash = pcrp_mix(w[2] ^ seed, w[3] ^ hash);
	return pcrp_mix(w[4] ^ seed, hash);
}

/**
 * pcrp_addr_hash() - hash of an address
 * @addr: the address
 * @seed: nobody else knows it
 *
 * Return: the hash.
 */
static inline u32 pcrp_addr_hash(const struct in6_addr *addr, u64 seed)
{
	u64 low = (u64)(__force u32)addr->s6_addr32[2] << 32 | (__force u32)addr->s6_addr32[3];
	u64 high = (u64)(__force u32)addr->s6_addr32[0] << 32 | (__force u32)addr->s6_addr32[1];

	return pcrp_mix(high ^ seed, low ^ ror64(seed, 32));
}

static inline bool pcrp_key_equal(const struct pcrp_key *a, const struct pcrp_key *b)
{
	const u64 *v = a->word, *w = b->word;

	return v[4] == w[4] &&	/* ports: they differ most */
	       !((v[0] ^ w[0]) | (v[1] ^ w[1]) | (v[2] ^ w[2]) | (v[3] ^ w[3]));
}

/**
 * struct pcrp_entry - what a slot holds
 * @key: whose it is
 * @slot: which one, if there is a @key
 * @node: among those of its hash
 * @head: first packet
 * @tail: last packet
 * @again: last of the packets that were sent before; they are the first. NULL: none
 * @seq: TCP: its sequence numbers
 * @src_hash: pcrp_addr_hash() of its source
 * @dst_hash: of its destination
 */
struct pcrp_entry {
	struct pcrp_key key;
	u32 slot;
	struct hlist_node node;
	struct sk_buff *head;
	struct sk_buff *tail;
	struct sk_buff *again;
	struct pcrp_seq seq;
	u32 src_hash;
	u32 dst_hash;
} ____cacheline_aligned;

/**
 * struct pcrp_flows - the table
 * @entries: by slot: @count and one more, of what has no flow
 * @buckets: heads of the hash's lists
 * @last: whose packet came last: the next one's is often the same
 * @count: flows that are told apart
 * @mask: of the hash
 * @seed: of the hash
 */
struct pcrp_flows {
	struct pcrp_entry *entries;
	struct hlist_head *buckets;
	struct pcrp_entry *last;
	u32 count;
	u32 mask;
	u64 seed;
};

int pcrp_flows_init(struct pcrp_flows *t, u32 count);
void pcrp_flows_clear(struct pcrp_flows *t);
void pcrp_flows_free(struct pcrp_flows *t);
struct pcrp_entry *pcrp_flows_give(struct pcrp_flows *t, u32 slot,
				   const struct pcrp_key *key);

static inline struct hlist_head *pcrp_flows_bucket(const struct pcrp_flows *t,
						   const struct pcrp_key *key)
{
	return &t->buckets[pcrp_key_hash(key, t->seed) & t->mask];
}

/**
 * pcrp_flows_find() - find a flow
 * @t: the table
 * @key: the flow
 *
 * Return: its entry, or NULL.
 */
static inline struct pcrp_entry *pcrp_flows_find(struct pcrp_flows *t, const struct pcrp_key *key)
{
	struct pcrp_entry *e = t->last;

	if (pcrp_key_equal(&e->key, key))
		return e;
	hlist_for_each_entry(e, pcrp_flows_bucket(t, key), node) {
		if (pcrp_key_equal(&e->key, key)) {
			t->last = e;
			return e;
		}
	}
	return NULL;
}

/* The slot of what has no flow */
static inline u32 pcrp_flows_rest(const struct pcrp_flows *t)
{
	return t->count;
}

/**
 * pcrp_flow_push() - append a packet
 * @e: its flow
 * @skb: the packet
 */
static inline void pcrp_flow_push(struct pcrp_entry *e, struct sk_buff *skb)
{
	if (e->head)
		e->tail->next = skb;
	else
		e->head = skb;
	e->tail = skb;
	skb->next = NULL;
}

/**
 * pcrp_flow_push_again() - insert a packet that was sent before
 * @e: its flow
 * @skb: the packet
 *
 * It goes behind those that were sent before, too, and before all others.
 */
static inline void pcrp_flow_push_again(struct pcrp_entry *e, struct sk_buff *skb)
{
	struct sk_buff **link = e->again ? &e->again->next : &e->head;

	skb->next = *link;
	*link = skb;
	if (!skb->next)
		e->tail = skb;
	e->again = skb;
}

/**
 * pcrp_flow_pop() - take the first packet
 * @e: the flow, which has one
 *
 * Return: the packet.
 */
static inline struct sk_buff *pcrp_flow_pop(struct pcrp_entry *e)
{
	struct sk_buff *skb = e->head;

	e->head = skb->next;
	if (e->again == skb)
		e->again = NULL;
	skb_mark_not_on_list(skb);
	return skb;
}

#endif /* _CLOSNET_PCRP_FLOW_H */
