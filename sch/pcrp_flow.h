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

#include <linux/in6.h>
#include <linux/list.h>
#include <linux/skbuff.h>
#include <net/ipv6.h>
#include <closnet/core.h>
#include "pcrp_seq.h"

/**
 * struct pcrp_key - who a flow is
 * @src: source; an IPv4 address as one of IPv6, mapped
 * @dst: destination
 * @sport: source port, 0: there is none
 * @dport: destination port
 * @proto: of IP
 */
struct pcrp_key {
	struct in6_addr src;
	struct in6_addr dst;
	__be16 sport;
	__be16 dport;
	u32 proto;
} __aligned(8);

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
 * @key: valid from PCRP_KIND_CONTROL on
 * @l3_off: where the IP header is, from skb->data on
 * @ip_hlen: CLOSNET_IPV4_HLEN or CLOSNET_IPV6_HLEN; 0: not IP
 * @l4_off: where its payload is
 * @bytes: payload of TCP, UDP, or else of IP
 * @seq: TCP: of the first byte of data
 * @fin: TCP: the flow's end takes a sequence number after the data
 * @syn: TCP: it begins a connection
 * @dsfield: DSCP and ECN bits
 * @kind: what it is
 */
struct pcrp_pkt {
	struct pcrp_key key;
	u32 l3_off;
	u32 ip_hlen;
	u32 l4_off;
	u32 bytes;
	u32 seq;
	bool fin;
	bool syn;
	u8 dsfield;
	enum pcrp_kind kind;
};

void pcrp_parse(const struct sk_buff *skb, u32 l3_off, u16 ethertype,
		struct pcrp_pkt *pkt);
u32 pcrp_key_hash(const struct pcrp_key *key, u32 seed);

static inline bool pcrp_key_equal(const struct pcrp_key *a, const struct pcrp_key *b)
{
	return a->sport == b->sport && a->dport == b->dport && a->proto == b->proto &&
	       ipv6_addr_equal(&a->dst, &b->dst) && ipv6_addr_equal(&a->src, &b->src);
}

/**
 * struct pcrp_entry - what a slot holds
 * @key: whose it is
 * @node: among those of its hash
 * @head: first packet
 * @tail: last packet
 * @again: last of the packets that were sent before; they are the first. NULL: none
 * @seq: TCP: its sequence numbers
 */
struct pcrp_entry {
	struct pcrp_key key;
	struct hlist_node node;
	struct sk_buff *head;
	struct sk_buff *tail;
	struct sk_buff *again;
	struct pcrp_seq seq;
};

/**
 * struct pcrp_flows - the table
 * @entries: by slot: @count and one more, of what has no flow
 * @buckets: heads of the hash's lists
 * @count: flows that are told apart
 * @mask: of the hash
 * @seed: of the hash
 */
struct pcrp_flows {
	struct pcrp_entry *entries;
	struct hlist_head *buckets;
	u32 count;
	u32 mask;
	u32 seed;
};

int pcrp_flows_init(struct pcrp_flows *t, u32 count);
void pcrp_flows_clear(struct pcrp_flows *t);
void pcrp_flows_free(struct pcrp_flows *t);
struct pcrp_entry *pcrp_flows_find(const struct pcrp_flows *t, const struct pcrp_key *key,
				   u32 hash);
struct pcrp_entry *pcrp_flows_give(struct pcrp_flows *t, u32 slot,
				   const struct pcrp_key *key, u32 hash);

/* The slot of what has no flow */
static inline u32 pcrp_flows_rest(const struct pcrp_flows *t)
{
	return t->count;
}

static inline u32 pcrp_slot(const struct pcrp_flows *t, const struct pcrp_entry *e)
{
	return e - t->entries;
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
