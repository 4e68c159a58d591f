/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers and headers in a packet's bytes
 *
 * For the algorithm cores, on a linear buffer. Numbers are in network byte order,
 * at any alignment. All functions are inline: most compile to one instruction,
 * and a call in the classifier of sch_ndp costs 3 % of an enqueue and dequeue,
 * since the caller must save registers.
 */
#ifndef _CLOSNET_PKT_CORE_H
#define _CLOSNET_PKT_CORE_H

#include <linux/if_ether.h>
#include <closnet/core.h>

#define CLOSNET_VLAN_HLEN	4U
#define CLOSNET_IPV4_HLEN	20U
#define CLOSNET_IPV6_HLEN	40U
/* VLAN tags that are parsed: 802.1ad, then 802.1Q */
#define CLOSNET_VLAN_DEPTH	2

static inline u16 closnet_get16(const u8 *b)
{
	return (u16)(b[0] << 8 | b[1]);
}

static inline void closnet_put16(u8 *b, u16 val)
{
	b[0] = (u8)(val >> 8);
	b[1] = val & 0xff;
}

/* Compilers reduce this to one load. */
static inline u32 closnet_get32(const u8 *b)
{
	return (u32)b[0] << 24 | (u32)b[1] << 16 | (u32)b[2] << 8 | b[3];
}

static inline void closnet_put32(u8 *b, u32 val)
{
	b[0] = (u8)(val >> 24);
	b[1] = (u8)(val >> 16);
	b[2] = (u8)(val >> 8);
	b[3] = (u8)val;
}

/* Read a number of @len bytes, at most 8. No loop, since @len is a constant. */
static inline u64 closnet_get(const u8 *b, u32 len)
{
	u64 val = 0;

	if (len & 8)
		return (u64)closnet_get32(b) << 32 | closnet_get32(b + 4);
	if (len & 4)
		val = closnet_get32(b);
	if (len & 2)
		val = val << 16 | closnet_get16(b + (len & 4));
	if (len & 1)
		val = val << 8 | b[len - 1];
	return val;
}

static inline void closnet_put(u8 *b, u32 len, u64 val)
{
	if (len & 8) {
		closnet_put32(b, (u32)(val >> 32));
		closnet_put32(b + 4, (u32)val);
		return;
	}
	if (len & 1) {
		b[len - 1] = (u8)val;
		val >>= 8;
	}
	if (len & 2) {
		closnet_put16(b + (len & 4), (u16)val);
		val >>= 16;
	}
	if (len & 4)
		closnet_put32(b, (u32)val);
}

static inline bool closnet_is_vlan(u16 ethertype)
{
	return ethertype == ETH_P_8021Q || ethertype == ETH_P_8021AD;
}

/**
 * closnet_find_l3() - skip an Ethernet header and its VLAN tags
 * @data: the packet, from its L2 header
 * @avail: bytes that can be read at @data
 * @off: length of the Ethernet header; result: offset of the L3 header
 * @ethertype: result: L3 protocol, host byte order
 *
 * Return: false if more linear bytes are needed.
 */
static inline bool closnet_find_l3(const u8 *data, u32 avail, u32 *off,
				   u16 *ethertype)
{
	u32 depth;

	if (avail < *off)
		return false;
	*ethertype = closnet_get16(data + *off - 2);
	for (depth = 0; depth < CLOSNET_VLAN_DEPTH; depth++) {
		if (!closnet_is_vlan(*ethertype))
			break;
		*off += CLOSNET_VLAN_HLEN;
		if (avail < *off)
			return false;
		*ethertype = closnet_get16(data + *off - 2);
	}
	return true;
}

/* DSCP and ECN bits of an IPv4 header; reads its first 2 bytes */
static inline u8 closnet_ipv4_dsfield(const u8 *iph)
{
	return iph[1];
}

/* DSCP and ECN bits of an IPv6 header; reads its first 2 bytes */
static inline u8 closnet_ipv6_dsfield(const u8 *iph)
{
	return (u8)(iph[0] << 4 | iph[1] >> 4);
}

#endif /* _CLOSNET_PKT_CORE_H */
