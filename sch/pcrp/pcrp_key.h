/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The key of a flow: addresses, protocol and ports
 *
 * Inline, as each packet of both directions is hashed and compared.
 */
#ifndef _PCRP_KEY_H
#define _PCRP_KEY_H

#include <closnet/core.h>
#include <linux/in6.h>

#define PCRP_KEY_WORDS		5

/**
 * struct pcrp_key - key of a flow
 * @src: source address; an IPv4 address is mapped to IPv6
 * @dst: destination address
 * @sport: source port; 0: none
 * @dport: destination port
 * @proto: IP protocol
 * @word: all of them
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

/* Both halves of a product. If one factor is constant, results of a series are a series, too. */
static inline u64 pcrp_mix(u64 a, u64 b)
{
	return a * b ^ mul_u64_u64_shr(a, b, 64);
}

/* The last step of a hash: consecutive addresses and ports go to buckets as random ones do. */
static inline u32 pcrp_hash_end(u64 hash, u64 seed)
{
	return pcrp_mix(hash ^ seed, hash ^ ror64(seed, 32));
}

/**
 * pcrp_key_hash() - hash a key
 * @key: the key
 * @seed: secret; both factors of each product contain it, or a hash that depends on it
 *
 * Return: the hash.
 */
static inline u32 pcrp_key_hash(const struct pcrp_key *key, u64 seed)
{
	const u64 *w = key->word;
	u64 hash;

	hash = pcrp_mix(w[0] ^ seed, w[1] ^ ror64(seed, 32));
	hash = pcrp_mix(w[2] ^ seed, w[3] ^ hash);
	return pcrp_hash_end(pcrp_mix(w[4] ^ seed, hash), seed);
}

/**
 * pcrp_addr_hash() - hash an address
 * @addr: the address
 * @seed: secret
 *
 * Return: the hash.
 */
static inline u32 pcrp_addr_hash(const struct in6_addr *addr, u64 seed)
{
	u64 low = (u64)(__force u32)addr->s6_addr32[2] << 32 | (__force u32)addr->s6_addr32[3];
	u64 high = (u64)(__force u32)addr->s6_addr32[0] << 32 | (__force u32)addr->s6_addr32[1];

	return pcrp_hash_end(pcrp_mix(high ^ seed, low ^ ror64(seed, 32)), seed);
}

/**
 * pcrp_key_equal() - compare two keys
 * @a: one key
 * @b: the other key
 *
 * Return: true if they are equal.
 */
static inline bool pcrp_key_equal(const struct pcrp_key *a, const struct pcrp_key *b)
{
	const u64 *v = a->word, *w = b->word;

	return v[4] == w[4] &&	/* ports: they differ most */
	       !((v[0] ^ w[0]) | (v[1] ^ w[1]) | (v[2] ^ w[2]) | (v[3] ^ w[3]));
}

#endif /* _PCRP_KEY_H */
