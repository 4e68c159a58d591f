/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NDP's header: bytes to struct, struct to bytes
 *
 * Plain C on a buffer, no kernel types, for the module, unit tests and fuzzers.
 * An NDP packet is a UDP datagram to port NDP_UDP_PORT, from a source port that
 * selects its path. Its payload begins with these 56 bytes, numbers in network
 * byte order:
 *
 *	 0               1               2               3
 *	+-------+-------+---------------+---------------+---------------+
 *	|ver (1)| type  | flags         | payload_len                   |  0
 *	+-------+-------+---------------+---------------+---------------+
 *	| flow_id                                                       |  4
 *	+---------------------------------------------------------------+
 *	| seq                                                           |  8
 *	+---------------+---------------+-------------------------------+
 *	| path          | try_no        | checksum of bytes 0..13       | 12
 *	+---------------+---------------+-------------------------------+
 *	| checksum of bytes 18..55      | sport                         | 16
 *	+-------------------------------+---------------+---------------+
 *	| dport                         | prio          | 0             | 20  DATA, PROBE
 *	|                               | dsfield       | 0             |     CONTROL
 *	|                               | code          | 0             |     ERROR
 *	+-------------------------------+---------------+---------------+
 *
 *	      DATA, PROBE       CONTROL           ERROR        COOKIE
 *	24    msg_id            ack_base          msg_id       0
 *	28    base              pull              0            0
 *	32    pull_target       sack (64 bits)    0            0
 *	36    offset (48 bits)  .                 0            0
 *	40    .                 nack (64 bits)    0            0
 *	42    msg_len (48 bits) .                 0            0
 *	48    cookie (64 bits)  trimmed           0            cookie
 *	52    .                 window            0            .
 *
 * The first 16 bytes have a checksum of their own, since a switch may leave no
 * more of a packet, and they are enough to answer with a NACK. A packet is trimmed if
 * payload_len is more than there is: that holds whether the switch corrected
 * the lengths of IP and UDP or not, and whatever DSCP it gave to the packet.
 *
 * Checksums are Internet checksums (RFC 1071), over all words of their bytes.
 *
 * A flow goes from one socket to another. Its packets have serial numbers (seq,
 * modulo 2^32), and so have its messages (msg_id). flow_id is the sender's own
 * name of the flow, in what the receiver answers, too. All that a CONTROL says
 * about the flow is cumulative: lost, doubled and late ones do no harm.
 *
 * Reserved bits and bytes are 0, or the packet is refused: what a later version has
 * to say in them, it will say with its own number.
 *
 * Reference: M. Handley, C. Raiciu, A. Agache, A. Voinescu, A. W. Moore,
 * G. Antichi, M. Wojcik, "Re-architecting datacenter networks and stacks for
 * low latency and high performance", SIGCOMM 2017.
 *
 * Differences from the paper: NDP is in UDP; ACK, NACK and PULL are one type,
 * with all of the flow's state; a sender that waits in vain asks (PROBE), and a
 * receiver short of memory hands out cookies before it keeps state (COOKIE).
 */
#ifndef _NDP_WIRE_H
#define _NDP_WIRE_H

#include <linux/ndp.h>
#include <linux/pkt_sched_ndp.h>
#include <closnet/pkt_core.h>

#define NDP_VERSION	1
#define NDP_HLEN	56U	/* a header */
#define NDP_NACK_HLEN	16U	/* what of it is enough to answer with a NACK */
/* What fits behind the headers of IPv4 and UDP, whose lengths have 16 bits */
#define NDP_PAYLOAD_MAX	(65535U - 20 - 8 - NDP_HLEN)
#define NDP_MAP_BITS	64U	/* of sack and nack */

/**
 * enum ndp_type - types of packets
 * @NDP_DATA: sender to receiver: a part of a message
 * @NDP_CONTROL: receiver to sender: ACK, NACK, PULL, or what a PROBE asked for
 * @NDP_PROBE: sender to receiver: answer with the flow's state. No payload; seq is
 *	base - 1; msg_id, offset, msg_len and cookie are 0
 * @NDP_ERROR: either way, see enum ndp_code
 * @NDP_COOKIE: receiver to sender: send that again, with this cookie
 */
enum ndp_type {
	NDP_DATA = 1,
	NDP_CONTROL,
	NDP_PROBE,
	NDP_ERROR,
	NDP_COOKIE,
};

/* Flags of DATA */
#define NDP_DATA_SYN	0x01	/* the receiver may not know the flow: it begins at base */
#define NDP_DATA_RTX	0x02	/* a retransmission; try_no is not 0, or has wrapped */
#define NDP_DATA_LAST	0x04	/* the sender has nothing to send behind this one now */
#define NDP_DATA_SPEC	0x08	/* sent unasked, without a PULL; never with RTX */
#define NDP_DATA_FLAGS	0x0f

/* Flags of CONTROL; ACK, NACK and PROBED exclude each other */
#define NDP_CTL_ACK	0x01	/* packet seq came whole, by path, at its try_no */
#define NDP_CTL_NACK	0x02	/* packet seq came trimmed, by path, at its try_no */
#define NDP_CTL_PULL	0x04	/* pull has grown */
#define NDP_CTL_PROBED	0x08	/* answers the PROBE with this seq, path, try_no */
#define NDP_CTL_BARE	0x10	/* NACK of a receiver without state: no more is said */
#define NDP_CTL_FLAGS	0x1f

/**
 * enum ndp_code - what an ERROR says
 * @NDP_CODE_NO_PORT: by the receiver: no socket has this port, or no longer
 * @NDP_CODE_NO_FLOW: by the receiver: it does not know the flow, and the packet had
 *	no SYN: what of the flow was not acknowledged has to be sent as a new flow
 * @NDP_CODE_MSG_SIZE: by the receiver: it never takes a message that long
 * @NDP_CODE_ABORT: by the sender: the rest of the message will not be sent
 */
enum ndp_code {
	NDP_CODE_NO_PORT = 1,
	NDP_CODE_NO_FLOW,
	NDP_CODE_MSG_SIZE,
	NDP_CODE_ABORT,
};

/**
 * enum ndp_read - result of reading
 * @NDP_READ_OK: a header
 * @NDP_READ_SHORT: too few bytes are there
 * @NDP_READ_VERSION: of another version of the protocol
 * @NDP_READ_CHECKSUM: a checksum is wrong
 * @NDP_READ_VALUE: it says what none may say
 */
enum ndp_read {
	NDP_READ_OK,
	NDP_READ_SHORT,
	NDP_READ_VERSION,
	NDP_READ_CHECKSUM,
	NDP_READ_VALUE,
};

/**
 * struct ndp_wire - a header's bytes
 *
 * Bytes only, so that it may lie anywhere; see struct ndp_hdr.
 */
struct ndp_wire {
	/* private: */
	u8 ver_type;
	u8 flags;
	u8 payload_len[2];
	u8 flow_id[4];
	u8 seq[4];
	u8 path;
	u8 try_no;
	u8 check[2];
	u8 check_rest[2];
	u8 sport[2];
	u8 dport[2];
	u8 what;
	u8 reserved;
	union {
		u8 rest[32];
		struct {
			u8 msg_id[4];
			u8 base[4];
			u8 pull_target[4];
			u8 offset[6];
			u8 msg_len[6];
			u8 cookie[8];
		} data;
		struct {
			u8 ack_base[4];
			u8 pull[4];
			u8 sack[8];
			u8 nack[8];
			u8 trimmed[4];
			u8 window[4];
		} ctl;
		struct {
			u8 msg_id[4];
			u8 reserved[28];
		} err;
		struct {
			u8 reserved[24];
			u8 cookie[8];
		} ask;
	};
};

static_assert(sizeof(struct ndp_wire) == NDP_HLEN, "bytes only, no holes");

/**
 * struct ndp_data - what DATA says about its message and its flow; PROBE: about
 * its flow
 * @prio: of the message's pulls, 0..7; 7 is served first
 * @msg_id: serial number of the message on this flow, modulo 2^32
 * @base: the oldest packet of the flow that the sender still waits for an answer about;
 *	what is before it is acknowledged or given up. @seq is not before it
 * @pull_target: packets that the sender wishes to be pulled, since the flow
 *	began, modulo 2^32
 * @offset: of the payload in the message, bytes
 * @msg_len: length of the message, 1..NDP_MSG_MAX bytes
 * @cookie: the receiver's, 0: it has sent none
 */
struct ndp_data {
	u8 prio;
	u32 msg_id;
	u32 base;
	u32 pull_target;
	u64 offset;
	u64 msg_len;
	u64 cookie;
};

/**
 * struct ndp_ctl - what CONTROL says about the flow; all 0 if NDP_CTL_BARE
 * @dsfield: DSCP and ECN bits of the packet that it is about; 0 if it is about none
 * @ack_base: all packets before this one have come, or were given up by the
 *	sender; it itself has not
 * @pull: packets that were pulled since the flow began, modulo 2^32
 * @sack: bit i: packet ack_base + i has come; never bit 0
 * @nack: bit i: packet ack_base + i has come trimmed, and not whole since; a
 *	retransmission may be on its way
 * @trimmed: NACKs sent since the flow began, modulo 2^32
 * @window: packets that the sender may send unasked when it next begins to
 */
struct ndp_ctl {
	u8 dsfield;
	u32 ack_base;
	u32 pull;
	u64 sack;
	u64 nack;
	u32 trimmed;
	u32 window;
};

/**
 * struct ndp_error - what ERROR says
 * @code: enum ndp_code
 * @msg_id: MSG_SIZE, ABORT: the message; else 0
 */
struct ndp_error {
	u8 code;
	u32 msg_id;
};

/**
 * struct ndp_hdr - a header, host byte order
 * @type: enum ndp_type
 * @flags: NDP_DATA_* or NDP_CTL_*; else 0
 * @path: which of the sender's entropies; answers: that of the packet in question
 * @try_no: which transmission of this packet it is, modulo 256, 0: the first;
 *	answers: that of the packet in question
 * @payload_len: DATA: bytes of the message that were sent in this packet, 1 or
 *	more; else 0
 * @flow_id: the sender's name of the flow
 * @seq: serial number of the packet on this flow; answers: that of the packet in
 *	question, 0 if there is none
 * @sport: port of the socket that sent it; 0 if not known: see @is_short, BARE
 * @dport: port of the socket that it is for; the same
 * @is_short: set by reading: DATA, of which so little is left that @sport, @dport and
 *	@data are not known, and 0
 * @here: set by reading: bytes of payload that are there
 * @data: DATA, PROBE
 * @ctl: CONTROL
 * @err: ERROR
 * @cookie: COOKIE
 */
struct ndp_hdr {
	u8 type;
	u8 flags;
	u8 path;
	u8 try_no;
	u16 payload_len;
	u32 flow_id;
	u32 seq;
	u16 sport;
	u16 dport;
	bool is_short;
	u16 here;
	union {
		struct ndp_data data;
		struct ndp_ctl ctl;
		struct ndp_error err;
		u64 cookie;
	};
};

/* a is before b, modulo 2^32 */
static inline bool ndp_before(u32 a, u32 b)
{
	return (s32)(a - b) < 0;
}

/* Less of it came than was sent. */
static inline bool ndp_is_trimmed(const struct ndp_hdr *h)
{
	return h->here < h->payload_len;
}

static inline bool ndp_any(const u8 *b, u32 len)
{
	while (len--)
		if (*b++)
			return true;
	return false;
}

/**
 * ndp_is_returned() - is a datagram one of ours, that a switch sent back?
 * @udp_sport: its UDP source port
 * @udp_dport: its UDP destination port
 *
 * Who returns a packet swaps its ports; an entropy is never NDP_UDP_PORT.
 *
 * Return: true if so.
 */
static inline bool ndp_is_returned(u16 udp_sport, u16 udp_dport)
{
	return udp_sport == NDP_UDP_PORT && udp_dport != NDP_UDP_PORT;
}

/**
 * ndp_answer() - begin to answer a packet
 * @h: the packet, as it was read
 * @type: of the answer
 * @answer: result: what names the packet in question; all else is 0
 */
static inline void ndp_answer(const struct ndp_hdr *h, enum ndp_type type,
			      struct ndp_hdr *answer)
{
	*answer = (struct ndp_hdr) {
		.type = (u8)type, .path = h->path, .try_no = h->try_no,
		.flow_id = h->flow_id, .seq = h->seq, .sport = h->dport, .dport = h->sport,
	};
}

/* Internet checksum of an even number of bytes, 64 at most (RFC 1071) */
static inline u16 ndp_checksum(const u8 *b, u32 len)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i + 4 <= len; i += 4)
		sum += closnet_get32(b + i);
	if (i < len)
		sum += closnet_get16(b + i);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (u16)~sum;
}

/* check is the last of the first 16 bytes, check_rest the first of the rest. */
static inline u16 ndp_checksum_first(const struct ndp_wire *w)
{
	return ndp_checksum((const u8 *)w, NDP_NACK_HLEN - sizeof(w->check));
}

static inline u16 ndp_checksum_rest(const struct ndp_wire *w)
{
	const u32 off = NDP_NACK_HLEN + sizeof(w->check_rest);

	return ndp_checksum((const u8 *)w + off, NDP_HLEN - off);
}

static inline void ndp_data_write(const struct ndp_data *d, struct ndp_wire *w)
{
	w->what = d->prio;
	closnet_put(w->data.msg_id, sizeof(w->data.msg_id), d->msg_id);
	closnet_put(w->data.base, sizeof(w->data.base), d->base);
	closnet_put(w->data.pull_target, sizeof(w->data.pull_target), d->pull_target);
	closnet_put(w->data.offset, sizeof(w->data.offset), d->offset);
	closnet_put(w->data.msg_len, sizeof(w->data.msg_len), d->msg_len);
	closnet_put(w->data.cookie, sizeof(w->data.cookie), d->cookie);
}

static inline void ndp_data_read(const struct ndp_wire *w, struct ndp_data *d)
{
	d->prio = w->what;
	d->msg_id = (u32)closnet_get(w->data.msg_id, sizeof(w->data.msg_id));
	d->base = (u32)closnet_get(w->data.base, sizeof(w->data.base));
	d->pull_target = (u32)closnet_get(w->data.pull_target, sizeof(w->data.pull_target));
	d->offset = closnet_get(w->data.offset, sizeof(w->data.offset));
	d->msg_len = closnet_get(w->data.msg_len, sizeof(w->data.msg_len));
	d->cookie = closnet_get(w->data.cookie, sizeof(w->data.cookie));
}

static inline void ndp_ctl_write(const struct ndp_ctl *c, struct ndp_wire *w)
{
	w->what = c->dsfield;
	closnet_put(w->ctl.ack_base, sizeof(w->ctl.ack_base), c->ack_base);
	closnet_put(w->ctl.pull, sizeof(w->ctl.pull), c->pull);
	closnet_put(w->ctl.sack, sizeof(w->ctl.sack), c->sack);
	closnet_put(w->ctl.nack, sizeof(w->ctl.nack), c->nack);
	closnet_put(w->ctl.trimmed, sizeof(w->ctl.trimmed), c->trimmed);
	closnet_put(w->ctl.window, sizeof(w->ctl.window), c->window);
}

static inline void ndp_ctl_read(const struct ndp_wire *w, struct ndp_ctl *c)
{
	c->dsfield = w->what;
	c->ack_base = (u32)closnet_get(w->ctl.ack_base, sizeof(w->ctl.ack_base));
	c->pull = (u32)closnet_get(w->ctl.pull, sizeof(w->ctl.pull));
	c->sack = closnet_get(w->ctl.sack, sizeof(w->ctl.sack));
	c->nack = closnet_get(w->ctl.nack, sizeof(w->ctl.nack));
	c->trimmed = (u32)closnet_get(w->ctl.trimmed, sizeof(w->ctl.trimmed));
	c->window = (u32)closnet_get(w->ctl.window, sizeof(w->ctl.window));
}

/**
 * ndp_hdr_write() - header to bytes
 * @h: header; @is_short and @here do not matter
 * @w: result
 */
static inline void ndp_hdr_write(const struct ndp_hdr *h, struct ndp_wire *w)
{
	*w = (struct ndp_wire) {
		.ver_type = (u8)(NDP_VERSION << 4 | h->type), .flags = h->flags,
		.path = h->path, .try_no = h->try_no,
	};
	closnet_put16(w->payload_len, h->payload_len);
	closnet_put(w->flow_id, sizeof(w->flow_id), h->flow_id);
	closnet_put(w->seq, sizeof(w->seq), h->seq);
	closnet_put16(w->sport, h->sport);
	closnet_put16(w->dport, h->dport);
	if (h->type == NDP_DATA || h->type == NDP_PROBE) {
		ndp_data_write(&h->data, w);
	} else if (h->type == NDP_CONTROL) {
		ndp_ctl_write(&h->ctl, w);
	} else if (h->type == NDP_ERROR) {
		w->what = h->err.code;
		closnet_put(w->err.msg_id, sizeof(w->err.msg_id), h->err.msg_id);
	} else {
		closnet_put(w->ask.cookie, sizeof(w->ask.cookie), h->cookie);
	}
	closnet_put16(w->check, ndp_checksum_first(w));
	closnet_put16(w->check_rest, ndp_checksum_rest(w));
}

/* What the first 16 bytes say */
static inline bool ndp_first_valid(const struct ndp_hdr *h)
{
	u8 about = h->flags & (NDP_CTL_ACK | NDP_CTL_NACK | NDP_CTL_PROBED);

	if (h->type == NDP_DATA)
		return h->payload_len && h->payload_len <= NDP_PAYLOAD_MAX &&
		       !(h->flags & ~NDP_DATA_FLAGS) &&
		       (h->flags & (NDP_DATA_RTX | NDP_DATA_SPEC)) !=
			       (NDP_DATA_RTX | NDP_DATA_SPEC);
	if (h->payload_len)
		return false;
	if (h->type != NDP_CONTROL)
		return h->type >= NDP_PROBE && h->type <= NDP_COOKIE && !h->flags;
	if (h->flags & NDP_CTL_BARE)
		return h->flags == (NDP_CTL_BARE | NDP_CTL_NACK);
	if (!about && (h->seq || h->path || h->try_no))
		return false;
	return !(h->flags & ~NDP_CTL_FLAGS) && !(about & (about - 1));
}

static inline bool ndp_data_valid(const struct ndp_hdr *h)
{
	const struct ndp_data *d = &h->data;

	if (d->prio >= NDP_PRIOS)
		return false;
	if (h->type == NDP_PROBE)
		return h->seq == d->base - 1 && !d->msg_id && !d->offset && !d->msg_len &&
		       !d->cookie;
	return !ndp_before(h->seq, d->base) && d->msg_len <= NDP_MSG_MAX &&
	       d->offset + h->payload_len <= d->msg_len;
}

static inline bool ndp_ctl_valid(const struct ndp_hdr *h)
{
	const struct ndp_ctl *c = &h->ctl;

	if (h->flags & NDP_CTL_BARE)
		return !c->ack_base && !c->pull && !c->sack && !c->nack && !c->trimmed &&
		       !c->window;
	if (!(h->flags & (NDP_CTL_ACK | NDP_CTL_NACK | NDP_CTL_PROBED)) && c->dsfield)
		return false;
	return !(c->sack & 1) && !(c->sack & c->nack);
}

static inline bool ndp_error_valid(const struct ndp_error *e)
{
	if (e->code == NDP_CODE_MSG_SIZE || e->code == NDP_CODE_ABORT)
		return true;
	return (e->code == NDP_CODE_NO_PORT || e->code == NDP_CODE_NO_FLOW) && !e->msg_id;
}

/* The other bytes: to header. Return: false if they say what none may say. */
static inline bool ndp_rest_read(const struct ndp_wire *w, struct ndp_hdr *h)
{
	bool bare = h->type == NDP_CONTROL && h->flags & NDP_CTL_BARE;

	h->sport = closnet_get16(w->sport);
	h->dport = closnet_get16(w->dport);
	if (w->reserved || !h->sport != bare || !h->dport != bare)
		return false;
	if (h->type == NDP_DATA || h->type == NDP_PROBE) {
		ndp_data_read(w, &h->data);
		return ndp_data_valid(h);
	}
	if (h->type == NDP_CONTROL) {
		ndp_ctl_read(w, &h->ctl);
		return ndp_ctl_valid(h);
	}
	if (h->type == NDP_ERROR) {
		h->err.code = w->what;
		h->err.msg_id = (u32)closnet_get(w->err.msg_id, sizeof(w->err.msg_id));
		return ndp_error_valid(&h->err) &&
		       !ndp_any(w->err.reserved, sizeof(w->err.reserved));
	}
	h->cookie = closnet_get(w->ask.cookie, sizeof(w->ask.cookie));
	return h->cookie && !w->what && !ndp_any(w->ask.reserved, sizeof(w->ask.reserved));
}

/**
 * ndp_hdr_read() - bytes to header
 * @b: a datagram's payload; NDP_HLEN bytes of it are read at most
 * @len: bytes of it that are there, whatever the length fields of IP and UDP say
 * @h: result, with NDP_READ_OK only
 *
 * Return: whether it is a header, or what is wrong.
 */
static inline enum ndp_read ndp_hdr_read(const u8 *b, u32 len, struct ndp_hdr *h)
{
	const struct ndp_wire *w = (const struct ndp_wire *)b;

	if (len < NDP_NACK_HLEN)
		return NDP_READ_SHORT;
	if (w->ver_type >> 4 != NDP_VERSION)
		return NDP_READ_VERSION;
	if (closnet_get16(w->check) != ndp_checksum_first(w))
		return NDP_READ_CHECKSUM;
	*h = (struct ndp_hdr) {
		.type = w->ver_type & 0x0f, .flags = w->flags, .path = w->path,
		.try_no = w->try_no, .payload_len = closnet_get16(w->payload_len),
		.flow_id = (u32)closnet_get(w->flow_id, sizeof(w->flow_id)),
		.seq = (u32)closnet_get(w->seq, sizeof(w->seq)),
	};
	if (!ndp_first_valid(h))
		return NDP_READ_VALUE;
	if (len < NDP_HLEN) {
		h->is_short = true;
		return h->type == NDP_DATA ? NDP_READ_OK : NDP_READ_SHORT;
	}
	if (closnet_get16(w->check_rest) != ndp_checksum_rest(w))
		return NDP_READ_CHECKSUM;
	len -= NDP_HLEN;
	if (len > h->payload_len || !ndp_rest_read(w, h))
		return NDP_READ_VALUE;
	h->here = (u16)len;
	return NDP_READ_OK;
}

#endif /* _NDP_WIRE_H */
