/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Types and helpers for algorithm cores, in the kernel and in user space
 *
 * The cores (sch/ndp/ndpq_queue.c, sch/dcqcn/dcqcnq_mmu.c, ...) are plain C
 * without skb, socket or netlink. They compile into modules and into unit tests
 * and fuzzers, where this header stands in for the kernel's. tools/lint treats
 * each file that includes it as a core.
 */
#ifndef _CLOSNET_CORE_H
#define _CLOSNET_CORE_H

#ifdef __KERNEL__

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/crc32.h>
#include <linux/limits.h>
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

#else

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

#define U64_MAX		UINT64_MAX
#define NSEC_PER_SEC	1000000000L

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#define noinline	__attribute__((__noinline__))
#ifndef __always_inline
#define __always_inline	inline __attribute__((__always_inline__))
#endif
#define __maybe_unused	__attribute__((__unused__))
#define __force
#define READ_ONCE(x)	__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, val) __atomic_store_n(&(x), val, __ATOMIC_RELAXED)
#define min_t(type, x, y) ((type)(x) < (type)(y) ? (type)(x) : (type)(y))
#define max_t(type, x, y) ((type)(x) > (type)(y) ? (type)(x) : (type)(y))

/* As in the kernel, but all fully ordered */
typedef struct {
	s64 counter;
} atomic64_t;

static inline s64 atomic64_read(const atomic64_t *v)
{
	return __atomic_load_n(&v->counter, __ATOMIC_SEQ_CST);
}

static inline void atomic64_sub(s64 i, atomic64_t *v)
{
	__atomic_sub_fetch(&v->counter, i, __ATOMIC_SEQ_CST);
}

static inline s64 atomic64_inc_return(atomic64_t *v)
{
	return __atomic_add_fetch(&v->counter, 1, __ATOMIC_SEQ_CST);
}

static inline bool atomic64_try_cmpxchg(atomic64_t *v, s64 *old, s64 new)
{
	return __atomic_compare_exchange_n(&v->counter, old, new, false,
					   __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static inline u32 hweight8(u8 bits)
{
	return __builtin_popcount(bits);
}

static inline u32 hweight64(u64 bits)
{
	return __builtin_popcountll(bits);
}

static inline unsigned int __ffs64(u64 word)
{
	return __builtin_ctzll(word);
}

/* As in the kernel, bit by bit */
static inline u32 crc32_le(u32 crc, const u8 *b, size_t len)
{
	unsigned int bit;

	for (; len; len--) {
		crc ^= *b++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320U : 0);
	}
	return crc;
}

static inline int fls64(u64 word)
{
	return word ? 64 - __builtin_clzll(word) : 0;
}

static inline u64 ror64(u64 word, unsigned int shift)
{
	return word >> (shift & 63) | word << (-shift & 63);
}

static inline u64 mul_u64_u64_shr(u64 a, u64 b, unsigned int shift)
{
	return ((__uint128_t)a * b) >> shift;
}

static inline u64 mul_u64_u32_div(u64 a, u32 mul, u32 divisor)
{
	return (__uint128_t)a * mul / divisor;
}

/* Bit by bit, as in the kernel */
static inline u32 int_sqrt64(u64 x)
{
	u64 root = 0, bit;

	for (bit = 1ULL << 62; bit; bit >>= 2) {
		u64 sum = root + bit;

		root >>= 1;
		if (x >= sum) {
			x -= sum;
			root += bit;
		}
	}
	return root;
}

static inline u64 div_u64(u64 dividend, u32 divisor)
{
	return dividend / divisor;
}

static inline u64 div64_u64(u64 dividend, u64 divisor)
{
	return dividend / divisor;
}

static inline s64 div64_s64(s64 dividend, s64 divisor)
{
	return dividend / divisor;
}

#endif

#endif /* _CLOSNET_CORE_H */
