/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NDP's receiver: which parts of a message are there
 *
 * Plain C, no kernel types. Each packet of a flow is taken once, so with an honest
 * sender it would do to count bytes. One that lies may give a message's bytes
 * twice, with other seqs, and it is not to find holes in a message that we call
 * whole: they would be memory of the kernel. All parts but the last are equally
 * long:
 *
 *	           seg       seg       seg          rest
 *	message	+---------+---------+---------+-------------+
 *	        |   0     |   1     |   2     | tail        |	1 <= rest <= seg
 *	        +---------+---------+---------+-------------+
 *	offset	0        seg      2 seg     3 seg        msg_len
 *
 * So those that came are marked, by offset / seg, in a window from the first that
 * is missing: of a message's packets, those at a smaller offset have a smaller
 * seq, and seqs are within a window, too. The tail is known by where it ends.
 * seg is learnt from the first packet that is not the tail. A division then gives its
 * reciprocal r, and other packets need none:
 *
 *	r = floor((2^64 - 1) / seg) + 1,  2 <= seg < 2^16
 *	floor(offset * r / 2^64) = floor(offset / seg),  offset < 2^40
 *
 * as r = (2^64 + e) / seg with 0 <= e < seg, and offset * e < 2^56: what e adds
 * to the quotient is less than 1 / seg, by which the fraction is below 1.
 */
#ifndef _NDP_RCV_MSG_H
#define _NDP_RCV_MSG_H

#include "ndp_wire.h"

/* Packets from ack_base, parts of a message from its first hole, ids: a power of 2 */
#define NDP_RCV_WINDOW		1024U
#define NDP_RCV_WORDS		(NDP_RCV_WINDOW / 64)
/* Parts of a message: of seg the reciprocal fits 64 bits; of their number 31 do. */
#define NDP_RCV_SEG_MIN		2U
#define NDP_RCV_PARTS_MAX	0x80000000U

/**
 * enum ndp_rcv_verdict - what a packet was
 * @NDP_RCV_PART: a part of a message: keep it, ACK
 * @NDP_RCV_WHOLE: the last part that was missing: keep it, deliver the message, ACK
 * @NDP_RCV_AGAIN: came before: ACK
 * @NDP_RCV_TRIMMED: trimmed: NACK
 * @NDP_RCV_PROBED: a PROBE: answer it
 * @NDP_RCV_NO_ROOM: not taken, for lack of memory: say that the window is 0
 * @NDP_RCV_FAR: outside of the window: drop
 * @NDP_RCV_BAD_PORT: not the flow's sockets: drop
 * @NDP_RCV_BAD_ID: a message that is over, or too old: drop
 * @NDP_RCV_BAD_PART: not a part of its message, as that is known: drop
 * @NDP_RCV_BAD_OVERLAP: this part came with another seq: drop
 * @NDP_RCV_VERDICTS: how many there are
 */
enum ndp_rcv_verdict {
	NDP_RCV_PART,
	NDP_RCV_WHOLE,
	NDP_RCV_AGAIN,
	NDP_RCV_TRIMMED,
	NDP_RCV_PROBED,
	NDP_RCV_NO_ROOM,
	NDP_RCV_FAR,
	NDP_RCV_BAD_PORT,
	NDP_RCV_BAD_ID,
	NDP_RCV_BAD_PART,
	NDP_RCV_BAD_OVERLAP,
	NDP_RCV_VERDICTS,
};

/**
 * struct ndp_window - which of the numbers from base on came; all before it did
 * @base: the first that did not, modulo 2^32
 * @bits: of NDP_RCV_WINDOW numbers from @base on, by number modulo NDP_RCV_WINDOW
 */
struct ndp_window {
	u32 base;
	u64 bits[NDP_RCV_WORDS];
};

/**
 * struct ndp_rcv_cut - how a message is cut into parts; zeros: not known yet
 * @reciprocal: 2^64 / @seg, rounded up
 * @fulls: parts before the tail
 * @seg: bytes of each of them
 */
struct ndp_rcv_cut {
	u64 reciprocal;
	u32 fulls;
	u16 seg;
};

/**
 * struct ndp_rcv_msg - a message that is not whole yet; zeros at first
 * @chain: the next one in its flow's list
 * @len: msg_len
 * @last_ns: when a part of it came
 * @missing: bytes that did not come yet
 * @read: bytes from its begin that were read already
 * @memory: bytes that its parts take
 * @tail_offset: offset of the tail, if it is there
 * @id: msg_id
 * @cut: how it is cut
 * @has_tail: the tail is there
 * @got: parts before the tail that are there
 */
struct ndp_rcv_msg {
	struct ndp_rcv_msg *chain;
	u64 len;
	u64 last_ns;
	u64 missing;
	u64 read;
	u64 memory;
	u64 tail_offset;
	u32 id;
	struct ndp_rcv_cut cut;
	bool has_tail;
	struct ndp_window got;
};

/* ---- windows */

static inline u64 ndp_window_bit(u32 n)
{
	return 1ULL << (n % 64);
}

static inline u32 ndp_window_word(u32 n)
{
	return n / 64 % NDP_RCV_WORDS;
}

/* Bits of numbers of one window, by number modulo its size */
static inline bool ndp_bits_has(const u64 *bits, u32 n)
{
	return bits[ndp_window_word(n)] & ndp_window_bit(n);
}

static inline void ndp_bits_set(u64 *bits, u32 n)
{
	bits[ndp_window_word(n)] |= ndp_window_bit(n);
}

static inline void ndp_bits_clear(u64 *bits, u32 n)
{
	bits[ndp_window_word(n)] &= ~ndp_window_bit(n);
}

/* Clears @count bits from @n on: a word at a time, and all of them at most once. */
static inline void ndp_bits_clear_many(u64 *bits, u32 n, u32 count)
{
	u32 step;

	for (count = min_t(u32, count, NDP_RCV_WINDOW); count; count -= step, n += step) {
		step = min_t(u32, count, 64 - n % 64);
		bits[ndp_window_word(n)] &= ~((~0ULL >> (64 - step)) << (n % 64));
	}
}

/* The 64 bits from @n on */
static inline u64 ndp_bits_map(const u64 *bits, u32 n)
{
	u64 low = bits[ndp_window_word(n)] >> (n % 64);

	if (!(n % 64))
		return low;
	return low | bits[ndp_window_word(n + 64)] << (64 - n % 64);
}

/* @n is not beyond the window. */
static inline bool ndp_window_fits(const struct ndp_window *w, u32 n)
{
	return (s32)(n - w->base) < (s32)NDP_RCV_WINDOW;
}

/* @n came; it fits. */
static inline bool ndp_window_has(const struct ndp_window *w, u32 n)
{
	return ndp_before(n, w->base) || ndp_bits_has(w->bits, n);
}

/* What came from base on is before it; whole words at once */
static inline void ndp_window_slide(struct ndp_window *w)
{
	while (ndp_bits_has(w->bits, w->base)) {
		if (!(w->base % 64) && !~w->bits[ndp_window_word(w->base)]) {
			w->bits[ndp_window_word(w->base)] = 0;
			w->base += 64;
		} else {
			ndp_bits_clear(w->bits, w->base);
			w->base++;
		}
	}
}

/* @n came; it had not, and it fits. */
static inline void ndp_window_add(struct ndp_window *w, u32 n)
{
	ndp_bits_set(w->bits, n);
	ndp_window_slide(w);
}

/* ---- parts of a message */

static inline bool ndp_rcv_is_tail(const struct ndp_hdr *h)
{
	return h->data.offset + h->payload_len == h->data.msg_len;
}

static inline u32 ndp_rcv_index(const struct ndp_rcv_cut *cut, u64 offset)
{
	return (u32)mul_u64_u64_shr(offset, cut->reciprocal, 64);
}

/* How the message of @h, which is not its tail, is cut. The one division */
static inline bool ndp_rcv_learn(struct ndp_rcv_cut *cut, const struct ndp_hdr *h)
{
	u64 fulls;

	if (h->payload_len < NDP_RCV_SEG_MIN)
		return false;
	cut->seg = h->payload_len;
	cut->reciprocal = div64_u64(U64_MAX, cut->seg) + 1;
	fulls = mul_u64_u64_shr(h->data.msg_len - 1, cut->reciprocal, 64);
	cut->fulls = (u32)fulls;
	return fulls < NDP_RCV_PARTS_MAX;
}

static inline enum ndp_rcv_verdict ndp_rcv_fits_tail(const struct ndp_rcv_msg *m,
						     const struct ndp_hdr *h)
{
	const struct ndp_rcv_cut *cut = &m->cut;

	if (m->has_tail)
		return NDP_RCV_BAD_OVERLAP;
	if (cut->seg && h->data.offset != (u64)cut->fulls * cut->seg)
		return NDP_RCV_BAD_PART;
	return NDP_RCV_PART;
}

static inline enum ndp_rcv_verdict ndp_rcv_fits_full(const struct ndp_rcv_msg *m,
						     const struct ndp_rcv_cut *cut,
						     const struct ndp_hdr *h)
{
	u32 index;

	if (h->payload_len != cut->seg)
		return NDP_RCV_BAD_PART;
	index = ndp_rcv_index(cut, h->data.offset);
	if ((u64)index * cut->seg != h->data.offset || !ndp_window_fits(&m->got, index))
		return NDP_RCV_BAD_PART;
	return ndp_window_has(&m->got, index) ? NDP_RCV_BAD_OVERLAP : NDP_RCV_PART;
}

/*
 * Is @h a part of @m that is not there yet? Then how @m is cut is known, unless
 * it is the tail; else @m is what it was.
 */
static inline enum ndp_rcv_verdict ndp_rcv_fits(struct ndp_rcv_msg *m,
						const struct ndp_hdr *h)
{
	struct ndp_rcv_cut cut = m->cut;
	enum ndp_rcv_verdict v;

	if (h->data.msg_len != m->len)
		return NDP_RCV_BAD_PART;
	if (ndp_rcv_is_tail(h))
		return ndp_rcv_fits_tail(m, h);
	if (!cut.seg && !ndp_rcv_learn(&cut, h))
		return NDP_RCV_BAD_PART;
	if (m->has_tail && m->tail_offset != (u64)cut.fulls * cut.seg)
		return NDP_RCV_BAD_PART;
	v = ndp_rcv_fits_full(m, &cut, h);
	if (v == NDP_RCV_PART)
		m->cut = cut;
	return v;
}

static inline bool ndp_rcv_is_whole(const struct ndp_rcv_msg *m)
{
	return m->has_tail && m->cut.seg && m->got.base == m->cut.fulls;
}

/**
 * ndp_rcv_prefix() - bytes from a message's begin that are there without a hole
 * @m: the message, not whole
 *
 * Return: how many; the tail is none of them.
 */
static inline u64 ndp_rcv_prefix(const struct ndp_rcv_msg *m)
{
	return (u64)m->got.base * m->cut.seg;
}

#endif /* _NDP_RCV_MSG_H */
