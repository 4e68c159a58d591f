// SPDX-License-Identifier: GPL-2.0-only
/*
 * NDP: headers from and to bytes; the format is in wire.h
 */
#include <closnet/pkt_core.h>
#include "wire.h"

/* Offsets in bytes */
enum {
	OFF_PAYLOAD_LEN = 2, OFF_FLOW_ID = 4, OFF_SEQ = 8, OFF_PATH = 12, OFF_TRY_NO = 13,
	OFF_CHECK = 14, OFF_CHECK_REST = 16, OFF_SPORT = 18, OFF_DPORT = 20, OFF_WHAT = 22,
	OFF_RESERVED = 23, OFF_BODY = 24,
	/* DATA with NDP_DATA_ACK */
	OFF_ACK_DELAY = 23, OFF_ACK_FLOW_ID = 36, OFF_ACK_SEQ = 40, OFF_MSG_LEN_32 = 44,
	/* DATA, PROBE */
	OFF_MSG_ID = 24, OFF_BASE = 28, OFF_PULL_TARGET = 32, OFF_OFFSET = 36, OFF_MSG_LEN = 42,
	OFF_MSG_BASE = 48,
	/* CONTROL */
	OFF_ACK_BASE = 24, OFF_PULL = 28, OFF_SACK = 32, OFF_NACK = 40, OFF_TRIMMED = 48,
	OFF_WINDOW = 50,
	/* DATA, PROBE, CONTROL, COOKIE */
	OFF_TOKEN = 52,
};

#define LEN_48		6U

static u32 ndp_get32(const u8 *b)
{
	return (u32)closnet_get(b, 4);
}

static void ndp_put32(u8 *b, u32 val)
{
	closnet_put(b, 4, val);
}

/* Sum of three numbers of 32 bits */
static u64 ndp_sum(const u8 *b)
{
	return (u64)ndp_get32(b) + ndp_get32(b + 4) + ndp_get32(b + 8);
}

/* Internet checksum of a sum of few numbers of 32 bits */
static u16 ndp_fold(u64 sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (u16)~sum;
}

static u16 ndp_checksum_first(const u8 *b)
{
	return ndp_fold(ndp_sum(b) + closnet_get16(b + OFF_PATH));
}

/* Without a loop, which would be half of the cost of a header */
static u16 ndp_checksum_rest(const u8 *b)
{
	return ndp_fold(closnet_get16(b + OFF_SPORT) + ndp_sum(b + OFF_DPORT) +
			ndp_sum(b + OFF_DPORT + 12) + ndp_sum(b + OFF_DPORT + 24));
}

static bool ndp_is_zero(const u8 *b, u32 len)
{
	while (len--)
		if (*b++)
			return false;
	return true;
}

/**
 * ndp_answer() - begin the answer to a packet
 * @h: the packet
 * @type: type of the answer
 * @answer: result: the fields that name the packet; the other fields are 0
 */
void ndp_answer(const struct ndp_hdr *h, enum ndp_type type, struct ndp_hdr *answer)
{
	*answer = (struct ndp_hdr) {
		.type = (u8)type, .path = h->path, .try_no = h->try_no,
		.flow_id = h->flow_id, .seq = h->seq, .sport = h->dport, .dport = h->sport,
	};
}

/* ---- to bytes ---- */

static void ndp_part_write(const struct ndp_hdr *h, u8 *b)
{
	const struct ndp_data *d = &h->data;

	if (h->flags & NDP_DATA_ACK) {
		b[OFF_ACK_DELAY] = d->ack_delay;
		ndp_put32(b + OFF_ACK_FLOW_ID, d->ack_flow_id);
		ndp_put32(b + OFF_ACK_SEQ, d->ack_seq);
		ndp_put32(b + OFF_MSG_LEN_32, (u32)d->msg_len);
	} else {
		closnet_put(b + OFF_OFFSET, LEN_48, d->offset);
		closnet_put(b + OFF_MSG_LEN, LEN_48, d->msg_len);
	}
}

static void ndp_data_write(const struct ndp_hdr *h, u8 *b)
{
	const struct ndp_data *d = &h->data;

	b[OFF_WHAT] = d->prio;
	ndp_put32(b + OFF_MSG_ID, d->msg_id);
	ndp_put32(b + OFF_BASE, d->base);
	ndp_put32(b + OFF_PULL_TARGET, d->pull_target);
	ndp_part_write(h, b);
	ndp_put32(b + OFF_MSG_BASE, d->msg_base);
	ndp_put32(b + OFF_TOKEN, d->token);
}

static void ndp_ctl_write(const struct ndp_ctl *c, u8 *b)
{
	b[OFF_WHAT] = c->dsfield;
	ndp_put32(b + OFF_ACK_BASE, c->ack_base);
	ndp_put32(b + OFF_PULL, c->pull);
	closnet_put(b + OFF_SACK, 8, c->sack);
	closnet_put(b + OFF_NACK, 8, c->nack);
	closnet_put16(b + OFF_TRIMMED, c->trimmed);
	closnet_put16(b + OFF_WINDOW, c->window);
	ndp_put32(b + OFF_TOKEN, c->token);
}

static void ndp_body_write(const struct ndp_hdr *h, u8 *b)
{
	switch (h->type) {
	case NDP_DATA:
	case NDP_PROBE:
		ndp_data_write(h, b);
		break;
	case NDP_CONTROL:
		ndp_ctl_write(&h->ctl, b);
		break;
	case NDP_ERROR:
		b[OFF_WHAT] = h->err.code;
		ndp_put32(b + OFF_MSG_ID, h->err.msg_id);
		break;
	default:
		ndp_put32(b + OFF_TOKEN, h->token);
	}
}

/**
 * ndp_hdr_write() - convert a header to bytes
 * @h: header; @is_short and @here are ignored
 * @b: result, NDP_HLEN bytes
 */
void ndp_hdr_write(const struct ndp_hdr *h, u8 *b)
{
	u32 i;

	for (i = 0; i < NDP_HLEN; i++)
		b[i] = 0;
	b[0] = (u8)(NDP_VERSION << 4 | h->type);
	b[1] = h->flags;
	closnet_put16(b + OFF_PAYLOAD_LEN, h->payload_len);
	ndp_put32(b + OFF_FLOW_ID, h->flow_id);
	ndp_put32(b + OFF_SEQ, h->seq);
	b[OFF_PATH] = h->path;
	b[OFF_TRY_NO] = h->try_no;
	closnet_put16(b + OFF_SPORT, h->sport);
	closnet_put16(b + OFF_DPORT, h->dport);
	ndp_body_write(h, b);
	closnet_put16(b + OFF_CHECK, ndp_checksum_first(b));
	closnet_put16(b + OFF_CHECK_REST, ndp_checksum_rest(b));
}

/**
 * ndp_hdr_set_keyed() - mark a header as followed by a tag
 * @b: result of ndp_hdr_write()
 */
void ndp_hdr_set_keyed(u8 *b)
{
	b[0] = (u8)(NDP_VERSION_KEYED << 4 | (b[0] & 0x0f));
	closnet_put16(b + OFF_CHECK, ndp_checksum_first(b));
}

/* ---- from bytes ---- */

static bool ndp_ctl_flags_valid(const struct ndp_hdr *h)
{
	u8 about = h->flags & NDP_CTL_ABOUT;

	if (h->flags & NDP_CTL_BARE)
		return h->flags == (NDP_CTL_BARE | NDP_CTL_NACK);
	if (!about && (h->seq || h->path || h->try_no))
		return false;
	return !(about & (about - 1));
}

/* Are the first 16 bytes valid? */
static bool ndp_first_valid(const struct ndp_hdr *h)
{
	if (h->type == NDP_DATA)
		return h->payload_len && h->payload_len <= NDP_PAYLOAD_MAX &&
		       !(h->flags & ~NDP_DATA_FLAGS) &&
		       !(h->flags & NDP_DATA_RTX && h->flags & (NDP_DATA_SPEC | NDP_DATA_ACK));
	if (h->payload_len)
		return false;
	if (h->type == NDP_CONTROL)
		return ndp_ctl_flags_valid(h);
	return h->type >= NDP_PROBE && h->type <= NDP_COOKIE && !h->flags;
}

static void ndp_part_read(const u8 *b, struct ndp_hdr *h)
{
	struct ndp_data *d = &h->data;

	if (h->flags & NDP_DATA_ACK) {
		d->ack_delay = b[OFF_ACK_DELAY];
		d->ack_flow_id = ndp_get32(b + OFF_ACK_FLOW_ID);
		d->ack_seq = ndp_get32(b + OFF_ACK_SEQ);
		d->msg_len = ndp_get32(b + OFF_MSG_LEN_32);
	} else {
		d->offset = closnet_get(b + OFF_OFFSET, LEN_48);
		d->msg_len = closnet_get(b + OFF_MSG_LEN, LEN_48);
	}
}

static void ndp_data_read(const u8 *b, struct ndp_hdr *h)
{
	struct ndp_data *d = &h->data;

	d->prio = b[OFF_WHAT];
	d->msg_id = ndp_get32(b + OFF_MSG_ID);
	d->base = ndp_get32(b + OFF_BASE);
	d->pull_target = ndp_get32(b + OFF_PULL_TARGET);
	ndp_part_read(b, h);
	d->msg_base = ndp_get32(b + OFF_MSG_BASE);
	d->token = ndp_get32(b + OFF_TOKEN);
}

static bool ndp_data_valid(const struct ndp_hdr *h)
{
	const struct ndp_data *d = &h->data;

	if (d->prio >= NDP_PRIOS)
		return false;
	if (h->type == NDP_PROBE)
		return h->seq == d->base - 1 && !d->msg_id && !d->offset && !d->msg_len;
	return !ndp_before(h->seq, d->base) && !ndp_before(d->msg_id, d->msg_base) &&
	       d->msg_len <= NDP_MSG_MAX && d->offset + h->payload_len <= d->msg_len;
}

static void ndp_ctl_read(const u8 *b, struct ndp_ctl *c)
{
	c->dsfield = b[OFF_WHAT];
	c->ack_base = ndp_get32(b + OFF_ACK_BASE);
	c->pull = ndp_get32(b + OFF_PULL);
	c->sack = closnet_get(b + OFF_SACK, 8);
	c->nack = closnet_get(b + OFF_NACK, 8);
	c->trimmed = closnet_get16(b + OFF_TRIMMED);
	c->window = closnet_get16(b + OFF_WINDOW);
	c->token = ndp_get32(b + OFF_TOKEN);
}

static bool ndp_ctl_valid(const struct ndp_hdr *h, const u8 *b)
{
	const struct ndp_ctl *c = &h->ctl;

	if (h->flags & NDP_CTL_BARE)
		return ndp_is_zero(b + OFF_BODY, NDP_HLEN - OFF_BODY);
	if (!(h->flags & NDP_CTL_ABOUT) && c->dsfield)
		return false;
	return c->token && !(c->sack & 1) && !(c->sack & c->nack);
}

static bool ndp_error_valid(const struct ndp_error *e)
{
	switch (e->code) {
	case NDP_CODE_NO_PORT:
	case NDP_CODE_NO_FLOW:
		return !e->msg_id;
	case NDP_CODE_GONE:
	case NDP_CODE_ABORT:
	case NDP_CODE_REFUSED:
		return true;
	default:
		return false;
	}
}

/* Read bytes 18 to 55. Return: false if a value is invalid */
static bool ndp_rest_read(const u8 *b, struct ndp_hdr *h)
{
	bool bare = h->type == NDP_CONTROL && h->flags & NDP_CTL_BARE;

	h->sport = closnet_get16(b + OFF_SPORT);
	h->dport = closnet_get16(b + OFF_DPORT);
	if ((b[OFF_RESERVED] && !ndp_carries_ack(h)) || !h->sport != bare || !h->dport != bare)
		return false;
	switch (h->type) {
	case NDP_DATA:
	case NDP_PROBE:
		ndp_data_read(b, h);
		return ndp_data_valid(h);
	case NDP_CONTROL:
		ndp_ctl_read(b, &h->ctl);
		return ndp_ctl_valid(h, b);
	case NDP_ERROR:
		h->err.code = b[OFF_WHAT];
		h->err.msg_id = ndp_get32(b + OFF_MSG_ID);
		return ndp_error_valid(&h->err) && ndp_is_zero(b + OFF_BASE, NDP_HLEN - OFF_BASE);
	default:
		h->token = ndp_get32(b + OFF_TOKEN);
		return h->token && !b[OFF_WHAT] && ndp_is_zero(b + OFF_BODY, OFF_TOKEN - OFF_BODY);
	}
}

/**
 * ndp_hdr_is_cut() - check whether a packet looks trimmed
 * @b: payload of the datagram; its first 4 bytes are read
 * @len: bytes that are present
 *
 * For packets that nothing has checked yet: ndp_hdr_read() has to follow.
 *
 * Return: false: it has all the bytes that it announces.
 */
bool ndp_hdr_is_cut(const u8 *b, u32 len)
{
	u32 hlen = b[0] >> 4 == NDP_VERSION_KEYED ? NDP_HLEN_MAX : NDP_HLEN;

	return len < hlen + closnet_get16(b + OFF_PAYLOAD_LEN);
}

/**
 * ndp_hdr_read() - convert bytes to a header
 * @b: payload of the datagram; at most NDP_HLEN bytes are read
 * @len: bytes that are present, whatever the lengths of IP and UDP are
 * @h: result, valid with NDP_READ_OK only
 *
 * Return: NDP_READ_OK or the reason why this is no header.
 */
enum ndp_read ndp_hdr_read(const u8 *b, u32 len, struct ndp_hdr *h)
{
	if (len < NDP_NACK_HLEN)
		return NDP_READ_SHORT;
	if (b[0] >> 4 != NDP_VERSION && b[0] >> 4 != NDP_VERSION_KEYED)
		return NDP_READ_VERSION;
	if (closnet_get16(b + OFF_CHECK) != ndp_checksum_first(b))
		return NDP_READ_CHECKSUM;
	*h = (struct ndp_hdr) {
		.type = b[0] & 0x0f, .flags = b[1], .path = b[OFF_PATH], .try_no = b[OFF_TRY_NO],
		.payload_len = closnet_get16(b + OFF_PAYLOAD_LEN),
		.flow_id = ndp_get32(b + OFF_FLOW_ID), .seq = ndp_get32(b + OFF_SEQ),
		.keyed = b[0] >> 4 == NDP_VERSION_KEYED,
	};
	if (!ndp_first_valid(h))
		return NDP_READ_VALUE;
	if (len < ndp_hdr_len(h)) {
		h->is_short = true;
		return h->type == NDP_DATA ? NDP_READ_OK : NDP_READ_SHORT;
	}
	if (closnet_get16(b + OFF_CHECK_REST) != ndp_checksum_rest(b))
		return NDP_READ_CHECKSUM;
	len -= ndp_hdr_len(h);
	if (len > h->payload_len || !ndp_rest_read(b, h))
		return NDP_READ_VALUE;
	h->here = (u16)len;
	return NDP_READ_OK;
}

/* ---- batches ---- */

static bool ndp_data_join(const struct ndp_hdr *a, const struct ndp_hdr *b)
{
	const struct ndp_data *x = &a->data, *y = &b->data;

	return x->prio == y->prio && x->msg_id == y->msg_id && x->base == y->base &&
	       x->msg_base == y->msg_base && x->token == y->token && x->msg_len == y->msg_len &&
	       !ndp_before(y->pull_target, x->pull_target) &&
	       x->offset + a->payload_len == y->offset;
}

/* Bytes that all headers of a batch's middle have in common, as 7 numbers of 8 bytes */
static const u64 ndp_hdr_common[NDP_HLEN / 8] = {
	~0ULL,			/* type .. flow_id */
	0xffff0000ULL,		/* path, try_no */
	0xffffffffffffULL,	/* sport .. prio */
	~0ULL,			/* msg_id, base */
	0,			/* pull_target, offset */
	0xffffffffffffULL,	/* msg_len */
	~0ULL,			/* msg_base, token */
};

static bool ndp_hdr_resembles(const u8 *a, const u8 *b)
{
	u64 differs = 0;
	u32 i;

	for (i = 0; i < NDP_HLEN / 8; i++)
		differs |= (closnet_get(a + 8 * i, 8) ^ closnet_get(b + 8 * i, 8)) &
			   ndp_hdr_common[i];
	return !differs;
}

/**
 * ndp_hdr_read_next() - read a header in the middle of a batch
 * @before: bytes of the header before, NDP_HLEN
 * @b: bytes of the header
 * @len: bytes that are present
 * @h: in: header before, which ndp_hdr_read() or this function has read; result: header, unchanged
 *	if false
 *
 * This is much faster than ndp_hdr_read() and ndp_hdr_join().
 *
 * Return: true if the header is valid, without a tag, and the packets join each other; false: they
 * may still do so.
 */
bool ndp_hdr_read_next(const u8 *before, const u8 *b, u32 len, struct ndp_hdr *h)
{
	u32 pull_target = ndp_get32(b + OFF_PULL_TARGET);
	u64 offset = h->data.offset + h->payload_len;

	if (h->type != NDP_DATA || h->flags & ~NDP_DATA_COMMON || h->try_no || h->keyed ||
	    len != NDP_HLEN + h->payload_len || h->here != h->payload_len ||
	    !ndp_hdr_resembles(before, b) || ndp_get32(b + OFF_SEQ) != h->seq + 1 ||
	    closnet_get(b + OFF_OFFSET, LEN_48) != offset ||
	    ndp_before(pull_target, h->data.pull_target) ||
	    offset + h->payload_len > h->data.msg_len || ndp_before(h->seq + 1, h->data.base) ||
	    closnet_get16(b + OFF_CHECK) != ndp_checksum_first(b) ||
	    closnet_get16(b + OFF_CHECK_REST) != ndp_checksum_rest(b))
		return false;
	h->seq++;
	h->data.offset = offset;
	h->data.pull_target = pull_target;
	return true;
}

/**
 * ndp_hdr_join() - check whether two packets of a batch can be processed as one
 * @a: a packet; only the first one of a batch may have flags that are not about the batch
 * @b: the next one
 *
 * Both are whole DATA packets, sent for the first time one after the other, of successive parts of
 * a message. All parts have the same length, but the tail of the message may be shorter.
 *
 * Return: true if so.
 */
bool ndp_hdr_join(const struct ndp_hdr *a, const struct ndp_hdr *b)
{
	return a->type == NDP_DATA && b->type == NDP_DATA && !a->is_short && !b->is_short &&
	       !ndp_is_trimmed(a) && !ndp_is_trimmed(b) && a->keyed == b->keyed &&
	       !(a->flags & (NDP_DATA_RTX | NDP_DATA_LAST)) && !a->try_no && !b->try_no &&
	       (b->flags & ~NDP_DATA_LAST) == (a->flags & NDP_DATA_COMMON) &&
	       a->flow_id == b->flow_id && a->seq + 1 == b->seq && a->path == b->path &&
	       a->sport == b->sport && a->dport == b->dport && ndp_data_join(a, b) &&
	       (a->payload_len == b->payload_len ||
		(a->payload_len > b->payload_len && ndp_is_tail(b)));
}

/**
 * ndp_hdr_nth() - get a header of a batch whose packets join each other
 * @first: the first header
 * @last: the last one
 * @n: number of the packet, 0 the first
 *
 * The demand of a packet in the middle is the first one's.
 *
 * Return: the header.
 */
struct ndp_hdr ndp_hdr_nth(const struct ndp_hdr *first, const struct ndp_hdr *last, u32 n)
{
	struct ndp_hdr h = *first;

	if (first->seq + n == last->seq)
		return *last;
	if (n)
		h.flags &= NDP_DATA_COMMON;
	h.seq += n;
	h.data.offset += (u64)n * first->payload_len;
	return h;
}
