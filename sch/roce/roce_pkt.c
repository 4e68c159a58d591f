// SPDX-License-Identifier: GPL-2.0-only
/*
 * RoCEv2 packets: classify, verify and build
 *
 * Plain C on a linear buffer, compiled into sch_roce, its unit tests and its fuzzer.
 * Every read is checked against the bytes that are available.
 *
 *	Ethernet | VLAN tags | IPv4 or IPv6 | UDP to 4791 | BTH | ... | ICRC
 *
 *	BTH, 12 bytes:	opcode | SE M pad TVer | P_Key (2) | FECN BECN (1) |
 *			destination QP (3) | A (1) | PSN (3)
 *	DETH, 8 bytes, datagrams only:	Q_Key (4) | 0 (1) | source QP (3)
 *	CNP:		BTH with opcode 0x81 and BECN | 16 zeros | ICRC
 *
 * The ICRC is Ethernet's CRC-32 of 8 bytes of ones and of the packet from the IP
 * header on. The fields that routers may change count as ones: DSCP, ECN, TTL and
 * checksum of IPv4; traffic class, flow label and hop limit of IPv6; UDP's checksum;
 * FECN, BECN and the reserved bits of the BTH. So a change of the ECN bits leaves the
 * ICRC valid.
 *
 * Other traffic: fragments, IPv4 options and IPv6 extension headers, which RoCEv2 does
 * not use, and multicast.
 *
 * Reference: InfiniBand Architecture Specification, volume 1, chapter 9, and its
 * annex A17, "RoCEv2".
 */
#include <linux/in.h>
#include "roce_pkt.h"

#define ROCE_IPV4_FRAGMENT	0x3fff
#define ROCE_IPV4_DF		0x4000
/* First byte of the first IPv4 address that is not unicast */
#define ROCE_IPV4_GROUP		224
#define ROCE_IPV6_GROUP		0xff
#define ROCE_TTL		64

/* Opcodes: transport service in the upper 3 bits, operation in the lower 5 */
#define ROCE_SERVICE(opcode)	((opcode) >> 5)
#define ROCE_RC			0
#define ROCE_UD			3
#define ROCE_XRC		5
#define ROCE_OPERATION(opcode)	((opcode) & 0x1f)
#define ROCE_READ_FIRST		0x0d
#define ROCE_READ_MIDDLE	0x0e
#define ROCE_READ_LAST		0x0f
#define ROCE_READ_ONLY		0x10
#define ROCE_ACK		0x11
#define ROCE_ATOMIC_ACK		0x12
#define ROCE_OPCODE_CNP		0x81

/* The general services interface, queue pair 1, takes management datagrams; 0 is reserved. */
#define ROCE_QPN_GSI		1
#define ROCE_TVER_MASK		0x0f
#define ROCE_BECN		0x40
#define ROCE_PKEY_DEFAULT	0xffff
/* CRC-32 of 8 bytes of ones */
#define ROCE_ICRC_SEED		0xdebb20e3U

/* ---- parse ---- */

static void roce_map_ipv4(struct roce_addr *a, const u8 *ipv4)
{
	u32 i;

	*a = (struct roce_addr) { .b = { [10] = 0xff, [11] = 0xff } };
	for (i = 0; i < 4; i++)
		a->b[12 + i] = ipv4[i];
}

static void roce_copy_ipv6(struct roce_addr *a, const u8 *ipv6)
{
	u32 i;

	for (i = 0; i < sizeof(a->b); i++)
		a->b[i] = ipv6[i];
}

/* Parse an IP header. Return: ROCE_KIND_QP if a UDP header follows it */
static enum roce_kind roce_parse_ipv4(struct roce_pkt *pkt, const u8 *iph, u32 avail)
{
	if (avail < CLOSNET_IPV4_HLEN)
		return ROCE_KIND_SHORT;
	if (iph[0] != 0x45 || iph[9] != IPPROTO_UDP || iph[16] >= ROCE_IPV4_GROUP ||
	    closnet_get16(iph + 6) & ROCE_IPV4_FRAGMENT)
		return ROCE_KIND_OTHER;
	pkt->ipv6 = false;
	pkt->dsfield = closnet_ipv4_dsfield(iph);
	roce_map_ipv4(&pkt->key.src, iph + 12);
	roce_map_ipv4(&pkt->key.dst, iph + 16);
	return ROCE_KIND_QP;
}

static enum roce_kind roce_parse_ipv6(struct roce_pkt *pkt, const u8 *iph, u32 avail)
{
	if (avail < CLOSNET_IPV6_HLEN)
		return ROCE_KIND_SHORT;
	if (iph[0] >> 4 != 6 || iph[6] != IPPROTO_UDP || iph[24] == ROCE_IPV6_GROUP)
		return ROCE_KIND_OTHER;
	pkt->ipv6 = true;
	pkt->dsfield = closnet_ipv6_dsfield(iph);
	roce_copy_ipv6(&pkt->key.src, iph + 8);
	roce_copy_ipv6(&pkt->key.dst, iph + 24);
	return ROCE_KIND_QP;
}

/* Set the flags. Unknown operations are data without responses, management datagrams no data. */
static void roce_parse_opcode(struct roce_pkt *pkt)
{
	u32 service = ROCE_SERVICE(pkt->opcode), operation = ROCE_OPERATION(pkt->opcode);
	bool reliable = service == ROCE_RC || service == ROCE_XRC;
	bool ack = operation == ROCE_ACK || operation == ROCE_ATOMIC_ACK;
	bool read = operation >= ROCE_READ_FIRST && operation <= ROCE_READ_ONLY;

	pkt->data = !(reliable && ack) && pkt->key.qpn > ROCE_QPN_GSI;
	pkt->request = reliable && !ack && !read;
	pkt->response = reliable && (ack || operation == ROCE_READ_FIRST ||
				     operation == ROCE_READ_ONLY);
}

/* @len: bytes from the BTH on */
static enum roce_kind roce_parse_bth(struct roce_pkt *pkt, const u8 *bth, u32 avail, u32 len)
{
	if (len < ROCE_BTH_LEN + ROCE_ICRC_LEN)
		return ROCE_KIND_OTHER;
	if (avail < ROCE_BTH_LEN)
		return ROCE_KIND_SHORT;
	if (bth[1] & ROCE_TVER_MASK)
		return ROCE_KIND_OTHER;
	pkt->opcode = bth[0];
	pkt->key.qpn = closnet_get32(bth + 4) & ROCE_24_BITS;
	pkt->psn = closnet_get32(bth + 8) & ROCE_24_BITS;
	pkt->sqpn = ROCE_QPN_NONE;
	if (pkt->opcode == ROCE_OPCODE_CNP)
		return len == ROCE_CNP_LEN ? ROCE_KIND_CNP : ROCE_KIND_OTHER;
	roce_parse_opcode(pkt);
	if (ROCE_SERVICE(pkt->opcode) != ROCE_UD)
		return ROCE_KIND_QP;
	if (len < ROCE_BTH_LEN + ROCE_DETH_LEN + ROCE_ICRC_LEN)
		return ROCE_KIND_OTHER;
	if (avail < ROCE_BTH_LEN + ROCE_DETH_LEN)
		return ROCE_KIND_SHORT;
	pkt->sqpn = closnet_get32(bth + ROCE_BTH_LEN + 4) & ROCE_24_BITS;
	return ROCE_KIND_QP;
}

/**
 * roce_pkt_parse() - classify a packet
 * @pkt: headers. On entry, @l3_off is the length of an Ethernet header, or 0 if the
 *	packet begins with its IP header. Complete on return of ROCE_KIND_QP and, without
 *	@data, @request and @response, of ROCE_KIND_CNP
 * @data: the packet, from its L2 header; VLAN tags may follow
 * @avail: bytes that can be read at @data
 * @len: length of the packet from @data on, bytes
 * @ethertype: if @l3_off is 0: the packet's protocol, host byte order
 *
 * Return: the kind.
 */
enum roce_kind roce_pkt_parse(struct roce_pkt *pkt, const u8 *data, u32 avail, u32 len,
			      u16 ethertype)
{
	u32 off = pkt->l3_off, udp_len;
	enum roce_kind kind;

	if (off && !closnet_find_l3(data, avail, &off, &ethertype))
		return ROCE_KIND_SHORT;
	pkt->l3_off = (u16)off;
	if (ethertype == ETH_P_IP)
		kind = roce_parse_ipv4(pkt, data + off, avail - off);
	else if (ethertype == ETH_P_IPV6)
		kind = roce_parse_ipv6(pkt, data + off, avail - off);
	else
		return ROCE_KIND_OTHER;
	if (kind != ROCE_KIND_QP)
		return kind;
	off += pkt->ipv6 ? CLOSNET_IPV6_HLEN : CLOSNET_IPV4_HLEN;
	if (len < off + ROCE_UDP_HLEN)
		return ROCE_KIND_OTHER;
	if (avail < off + ROCE_UDP_HLEN)
		return ROCE_KIND_SHORT;
	udp_len = closnet_get16(data + off + 4);
	if (closnet_get16(data + off + 2) != ROCE_UDP_PORT || udp_len < ROCE_UDP_HLEN ||
	    udp_len > len - off)
		return ROCE_KIND_OTHER;
	pkt->sport = closnet_get16(data + off);
	off += ROCE_UDP_HLEN;
	return roce_parse_bth(pkt, data + off, avail - off, udp_len - ROCE_UDP_HLEN);
}

/* ---- ICRC and CNPs ---- */

/* Length of an IP header without options or extensions */
static u32 roce_ip_hlen(const u8 *iph)
{
	return iph[0] >> 4 == 6 ? CLOSNET_IPV6_HLEN : CLOSNET_IPV4_HLEN;
}

/* Replace the fields that the ICRC does not cover by ones. */
static void roce_icrc_mask(u8 *iph, u32 hlen)
{
	u8 *udph = iph + hlen, *bth = udph + ROCE_UDP_HLEN;

	if (hlen == CLOSNET_IPV6_HLEN) {
		closnet_put32(iph, closnet_get32(iph) | 0x0fffffff);
		iph[7] = 0xff;
	} else {
		iph[1] = 0xff;
		iph[8] = 0xff;
		closnet_put16(iph + 10, 0xffff);
	}
	closnet_put16(udph + 6, 0xffff);
	bth[4] = 0xff;
}

/**
 * roce_icrc() - compute the ICRC of a RoCEv2 packet
 * @iph: the packet, from its IP header on
 * @len: its length without the ICRC, bytes; headers up to the BTH at least
 *
 * Return: the ICRC; the packet has it in little-endian order.
 */
u32 roce_icrc(const u8 *iph, u32 len)
{
	u32 hlen = roce_ip_hlen(iph), head_len = hlen + ROCE_UDP_HLEN + ROCE_BTH_LEN, i;
	u8 head[CLOSNET_IPV6_HLEN + ROCE_UDP_HLEN + ROCE_BTH_LEN];

	for (i = 0; i < head_len; i++)
		head[i] = iph[i];
	roce_icrc_mask(head, hlen);
	return ~crc32_le(crc32_le(ROCE_ICRC_SEED, head, head_len), iph + head_len,
			 len - head_len);
}

static void roce_put_icrc(u8 *b, u32 icrc)
{
	b[0] = (u8)icrc;
	b[1] = (u8)(icrc >> 8);
	b[2] = (u8)(icrc >> 16);
	b[3] = (u8)(icrc >> 24);
}

/**
 * roce_cnp_valid() - verify the ICRC of a CNP
 * @iph: the packet of ROCE_KIND_CNP, from its IP header on
 * @len: bytes at @iph; padding may follow the CNP
 *
 * Return: true if the CNP is complete and unchanged.
 */
bool roce_cnp_valid(const u8 *iph, u32 len)
{
	u32 end = roce_ip_hlen(iph) + ROCE_UDP_HLEN + ROCE_CNP_LEN - ROCE_ICRC_LEN;
	u8 icrc[ROCE_ICRC_LEN];

	if (len < end + ROCE_ICRC_LEN)
		return false;
	roce_put_icrc(icrc, roce_icrc(iph, end));
	return closnet_get32(icrc) == closnet_get32(iph + end);
}

/* Write an IPv4 header. Return: its length */
static u32 roce_put_ipv4(u8 *iph, const struct roce_cnp *cnp, u32 payload)
{
	u32 sum = 0, i;

	closnet_put16(iph, (u16)(0x4500 | cnp->dscp << 2));
	closnet_put16(iph + 2, (u16)(CLOSNET_IPV4_HLEN + payload));
	closnet_put16(iph + 4, 0);
	closnet_put16(iph + 6, ROCE_IPV4_DF);
	iph[8] = ROCE_TTL;
	iph[9] = IPPROTO_UDP;
	closnet_put16(iph + 10, 0);
	for (i = 0; i < 4; i++) {
		iph[12 + i] = cnp->key.src.b[12 + i];
		iph[16 + i] = cnp->key.dst.b[12 + i];
	}
	for (i = 0; i < CLOSNET_IPV4_HLEN; i += 2)
		sum += closnet_get16(iph + i);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	closnet_put16(iph + 10, (u16)~sum);
	return CLOSNET_IPV4_HLEN;
}

static u32 roce_put_ipv6(u8 *iph, const struct roce_cnp *cnp, u32 payload)
{
	u32 i;

	closnet_put32(iph, 6U << 28 | (u32)cnp->dscp << 22);
	closnet_put16(iph + 4, (u16)payload);
	iph[6] = IPPROTO_UDP;
	iph[7] = ROCE_TTL;
	for (i = 0; i < sizeof(cnp->key.src.b); i++) {
		iph[8 + i] = cnp->key.src.b[i];
		iph[24 + i] = cnp->key.dst.b[i];
	}
	return CLOSNET_IPV6_HLEN;
}

/**
 * roce_cnp_build() - write a CNP
 * @iph: where its IP header begins; ROCE_CNP_MAX bytes
 * @cnp: its fields
 *
 * The CNP is not ECN-capable: no switch can mark it, and none answers it.
 *
 * Return: its length, bytes.
 */
u32 roce_cnp_build(u8 *iph, const struct roce_cnp *cnp)
{
	u32 payload = ROCE_UDP_HLEN + ROCE_CNP_LEN, hlen, end, i;
	u8 *udph, *bth;

	hlen = cnp->ipv6 ? roce_put_ipv6(iph, cnp, payload) : roce_put_ipv4(iph, cnp, payload);
	udph = iph + hlen;
	closnet_put16(udph, cnp->sport);
	closnet_put16(udph + 2, ROCE_UDP_PORT);
	closnet_put16(udph + 4, (u16)payload);
	closnet_put16(udph + 6, 0);	/* no checksum, as in all of RoCEv2 */
	bth = udph + ROCE_UDP_HLEN;
	for (i = 0; i < ROCE_CNP_LEN; i++)
		bth[i] = 0;
	bth[0] = ROCE_OPCODE_CNP;
	closnet_put16(bth + 2, ROCE_PKEY_DEFAULT);
	closnet_put32(bth + 4, (u32)ROCE_BECN << 24 | cnp->key.qpn);
	end = hlen + payload - ROCE_ICRC_LEN;
	roce_put_icrc(iph + end, roce_icrc(iph, end));
	return hlen + payload;
}

/* ---- hashes ---- */

static u64 roce_word(const u8 *b)
{
	return closnet_get(b, 8);
}

/* Fold the 128-bit product. If one factor is constant, results of a series are a series, too. */
static u64 roce_mix(u64 a, u64 b)
{
	return mul_u64_u64_shr(a, b, 64) ^ a * b;
}

/* Both factors depend on a secret and on @high or @low. */
static u64 roce_mix_seed(u64 high, u64 low, u64 seed)
{
	return roce_mix(high ^ seed, low ^ (seed << 32 | seed >> 32));
}

static u64 roce_addr_mix(const struct roce_addr *a, u64 seed)
{
	return roce_mix_seed(roce_word(a->b), roce_word(a->b + 8), seed);
}

/* The last step of a hash: consecutive addresses and queue pairs spread as random ones do. */
static u64 roce_hash_end(u64 hash, u64 seed)
{
	return roce_mix_seed(hash, hash, seed);
}

/**
 * roce_pair_hash() - hash the two addresses of a key, whatever their order
 * @key: the key
 * @seed: secret, so that a peer cannot make hashes collide
 *
 * Return: the hash.
 */
u32 roce_pair_hash(const struct roce_key *key, u64 seed)
{
	return (u32)(roce_hash_end(roce_addr_mix(&key->src, seed), seed) +
		     roce_hash_end(roce_addr_mix(&key->dst, seed), seed));
}

/**
 * roce_key_hash() - hash a key
 * @key: the key
 * @seed: secret, as for roce_pair_hash()
 *
 * Return: the hash.
 */
u32 roce_key_hash(const struct roce_key *key, u64 seed)
{
	u64 src = roce_addr_mix(&key->src, seed), dst = roce_addr_mix(&key->dst, ~seed);

	return (u32)roce_hash_end(roce_mix(src ^ key->qpn, dst ^ seed), seed);
}

/* ---- source ports ---- */

#define ROCE_SPORT_MIN		0xc000U
#define ROCE_SPORT_BITS		14
#define ROCE_SPORT_MASK		0x3fffU
/* GOLDEN_RATIO_32 of the kernel's hash_32() */
#define ROCE_GOLDEN_RATIO	0x61C88647U

/* The port that rxe gives a queue pair: a hash of its own number */
static u16 roce_sport_rxe(u32 qpn)
{
	return (u16)(ROCE_SPORT_MIN + (qpn * ROCE_GOLDEN_RATIO >> (32 - ROCE_SPORT_BITS)));
}

/* The port of drivers that use rdma_get_udp_sport(), if the application sets no flow label */
static u16 roce_sport_product(u32 sqpn, u32 dqpn)
{
	u64 v = (u64)sqpn * dqpn;
	u32 label;

	v ^= v >> 20;
	v ^= v >> 40;
	label = v & 0xfffff;
	return (u16)(ROCE_SPORT_MIN | ((label ^ label >> ROCE_SPORT_BITS) & ROCE_SPORT_MASK));
}

/**
 * roce_sport_fits() - check whether drivers give a queue pair this UDP source port
 * @sport: UDP source port
 * @sqpn: queue pair of the sender
 * @dqpn: queue pair of the receiver
 *
 * Return: true if rxe or Linux's helper for drivers of NICs computes this port.
 */
bool roce_sport_fits(u16 sport, u32 sqpn, u32 dqpn)
{
	return sport == roce_sport_rxe(sqpn) || sport == roce_sport_product(sqpn, dqpn);
}
