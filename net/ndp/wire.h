/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NDP, version 2: the packet header
 *
 * An NDP packet is a UDP datagram to port NDP_UDP_PORT. Its source port, one of 512 to 1023,
 * selects the path. The payload begins with 56 bytes, numbers in network byte order:
 *
 *	 0               1               2               3
 *	+-------+-------+---------------+---------------+---------------+
 *	|ver (2)| type  | flags         | payload_len                   |  0
 *	+-------+-------+---------------+---------------+---------------+
 *	| flow_id                                                       |  4
 *	+---------------------------------------------------------------+
 *	| seq                                                           |  8
 *	+---------------+---------------+-------------------------------+
 *	| path          | try_no        | checksum of bytes 0..13       | 12
 *	+---------------+---------------+-------------------------------+
 *	| checksum of bytes 18..55      | sport                         | 16
 *	+-------------------------------+---------------+---------------+
 *	| dport                         | prio          | 0 (ack_delay) | 20  DATA, PROBE
 *	|                               | dsfield       | 0             |     CONTROL
 *	|                               | code          | 0             |     ERROR
 *	+-------------------------------+---------------+---------------+
 *
 *	      DATA, PROBE       CONTROL             ERROR        COOKIE
 *	24    msg_id            ack_base            msg_id       0
 *	28    base              pull                0            0
 *	32    pull_target       sack (64 bits)      0            0
 *	36    offset (48 bits)  .                   0            0
 *	40    .                 nack (64 bits)      0            0
 *	42    msg_len (48 bits) .                   0            0
 *	48    msg_base          trimmed (16 bits)   0            0
 *	50    .                 window (16 bits)    0            0
 *	52    token             token               0            token
 *
 * The first packet of a message may carry an ACK of a flow in the other direction, between the same
 * sockets (NDP_DATA_ACK). It then has, instead of offset, which is 0, and msg_len:
 *
 *	36    ack_flow_id (32 bits)
 *	40    ack_seq (32 bits)
 *	44    msg_len (32 bits)
 *
 * The first 16 bytes have a checksum of their own, because a switch may leave no more. They
 * suffice for a NACK. A packet is trimmed if it has fewer bytes than payload_len announces,
 * whatever the lengths of IP and UDP and the DSCP are.
 *
 * Version 3 is the same, with a tag of 8 bytes between header and payload, which authenticates the
 * header (auth.c). payload_len does not include it.
 *
 * Checksums are Internet checksums (RFC 1071). Reserved bits and bytes are 0; other packets are
 * dropped. All statements of a CONTROL about its flow are cumulative, so a lost, duplicated or
 * late CONTROL does no harm.
 *
 * Reference: M. Handley, C. Raiciu, A. Agache, A. Voinescu, A. W. Moore, G. Antichi, M. Wojcik,
 * "Re-architecting datacenter networks and stacks for low latency and high performance",
 * SIGCOMM 2017.
 *
 * Differences from the paper: NDP runs over UDP. ACK, NACK and PULL are one type, with the state
 * of the flow. PROBE, COOKIE, ERROR, and a token that proves that the sender receives answers.
 */
#ifndef _NDP_WIRE_H
#define _NDP_WIRE_H

#include <linux/ndp.h>
#include <closnet/core.h>

#define NDP_UDP_PORT	61199U
#define NDP_VERSION	2
#define NDP_VERSION_KEYED 3	/* a tag follows the header (auth.c) */
#define NDP_HLEN	56U	/* bytes of the header */
#define NDP_TAG_LEN	8U	/* bytes of the tag */
#define NDP_HLEN_MAX	(NDP_HLEN + NDP_TAG_LEN)
#define NDP_NACK_HLEN	16U	/* bytes that suffice for a NACK */
#define NDP_MAP_BITS	64U	/* packets in sack and nack */
#define NDP_ACK_DELAY_MAX 255U	/* µs */
/* longest payload: an IPv4 packet of 65535 bytes less headers */
#define NDP_PAYLOAD_MAX	(65535U - 20 - 8 - NDP_HLEN)

/**
 * enum ndp_type - types of packets
 * @NDP_DATA: sender to receiver: a part of a message
 * @NDP_CONTROL: receiver to sender: ACK, NACK, PULL, answer to a PROBE
 * @NDP_PROBE: sender to receiver: requests the state of the flow; seq is base - 1
 * @NDP_ERROR: either way, see enum ndp_code
 * @NDP_COOKIE: receiver to sender: send the packet again, with this token
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
#define NDP_DATA_RTX	0x02	/* a retransmission */
#define NDP_DATA_LAST	0x04	/* the sender has no data after this packet now */
#define NDP_DATA_SPEC	0x08	/* sent without a PULL; never with RTX */
#define NDP_DATA_ACK	0x10	/* carries an ACK; never with RTX */
#define NDP_DATA_FLAGS	0x1f

/* Flags of CONTROL; ACK, NACK, PROBED and FULL exclude each other */
#define NDP_CTL_ACK	0x01	/* packet seq arrived whole */
#define NDP_CTL_NACK	0x02	/* packet seq arrived trimmed */
#define NDP_CTL_PULL	0x04	/* pull has grown */
#define NDP_CTL_PROBED	0x08	/* answers a PROBE */
#define NDP_CTL_BARE	0x10	/* NACK of a receiver without state: no other field is valid */
#define NDP_CTL_FULL	0x20	/* packet seq arrived whole, and found no room */
#define NDP_CTL_PING	0x40	/* requests a PROBE */
#define NDP_CTL_ROOM	0x80	/* refused messages may begin again */
#define NDP_CTL_ABOUT	(NDP_CTL_ACK | NDP_CTL_NACK | NDP_CTL_PROBED | NDP_CTL_FULL)

/**
 * enum ndp_code - codes of ERROR
 * @NDP_CODE_NO_PORT: receiver: no socket has this port
 * @NDP_CODE_NO_FLOW: receiver: the flow is unknown, and the packet had no SYN
 * @NDP_CODE_GONE: receiver: the message was given up
 * @NDP_CODE_ABORT: sender: the message was given up
 * @NDP_CODE_REFUSED: receiver: no room for the message now; no part of it was kept
 */
enum ndp_code {
	NDP_CODE_NO_PORT = 1,
	NDP_CODE_NO_FLOW,
	NDP_CODE_GONE,
	NDP_CODE_ABORT,
	NDP_CODE_REFUSED,
};

/**
 * enum ndp_read - result of ndp_hdr_read()
 * @NDP_READ_OK: the header is valid
 * @NDP_READ_SHORT: too few bytes
 * @NDP_READ_VERSION: another version of the protocol
 * @NDP_READ_CHECKSUM: wrong checksum
 * @NDP_READ_VALUE: a field has a value that it must not have
 */
enum ndp_read {
	NDP_READ_OK,
	NDP_READ_SHORT,
	NDP_READ_VERSION,
	NDP_READ_CHECKSUM,
	NDP_READ_VALUE,
};

/**
 * struct ndp_data - fields of DATA and PROBE
 * @prio: priority of the message's pulls, 0..7; 7 is served first
 * @ack_delay: NDP_DATA_ACK: time between the arrival of packet @ack_seq and this packet, µs;
 *	NDP_ACK_DELAY_MAX: as long or longer
 * @msg_id: serial number of the message on this flow; PROBE: 0
 * @base: the oldest packet that is neither acknowledged nor given up
 * @pull_target: packets to be pulled since the flow began, modulo 2^32
 * @msg_base: the oldest message that is not over; all before it have ended at the sender
 * @token: the receiver's token of the flow; 0: not known yet
 * @offset: the payload's offset in the message, bytes; PROBE: 0
 * @msg_len: length of the message, 1..NDP_MSG_MAX bytes; PROBE: 0
 * @ack_flow_id: NDP_DATA_ACK: the flow that is acknowledged
 * @ack_seq: NDP_DATA_ACK: its packets up to this one have arrived or were given up
 */
struct ndp_data {
	u8 prio;
	u8 ack_delay;
	u32 msg_id;
	u32 base;
	u32 pull_target;
	u32 msg_base;
	u32 token;
	u64 offset;
	u64 msg_len;
	u32 ack_flow_id;
	u32 ack_seq;
};

/**
 * struct ndp_ctl - fields of CONTROL; all 0 with NDP_CTL_BARE
 * @dsfield: DSCP and ECN bits of the packet that the CONTROL names; else 0
 * @trimmed: NACKs since the flow began, modulo 2^16
 * @window: packets that the sender may push when it begins to send; 0: no room
 * @ack_base: all packets before this one have arrived or were given up; this one has not
 * @pull: packets pulled since the flow began, modulo 2^32
 * @token: proves, in DATA, that the sender has received this CONTROL; not 0
 * @sack: bit i: packet ack_base + i has arrived; never bit 0
 * @nack: bit i: packet ack_base + i has arrived trimmed, and not whole since
 */
struct ndp_ctl {
	u8 dsfield;
	u16 trimmed;
	u16 window;
	u32 ack_base;
	u32 pull;
	u32 token;
	u64 sack;
	u64 nack;
};

/**
 * struct ndp_error - fields of ERROR
 * @code: enum ndp_code
 * @msg_id: GONE, ABORT, REFUSED: the message; else 0
 */
struct ndp_error {
	u8 code;
	u32 msg_id;
};

/**
 * struct ndp_hdr - a header in host byte order
 * @type: enum ndp_type
 * @flags: NDP_DATA_* or NDP_CTL_*; else 0
 * @path: number of the sender's entropy; answers: the same as the packet's
 * @try_no: transmission of the packet, modulo 256, 0 the first; answers: the same
 * @payload_len: DATA: bytes of payload that were sent, 1 or more; else 0
 * @flow_id: the sender's random name of the flow
 * @seq: serial number of the packet; answers: the packet in question's, or 0
 * @sport: port of the sending socket; 0: unknown, see @is_short and NDP_CTL_BARE
 * @dport: port of the receiving socket; 0: unknown
 * @here: set by ndp_hdr_read(): bytes of payload that are present
 * @is_short: set by ndp_hdr_read(): DATA, cut within the header: @sport, @dport, @data are 0
 * @keyed: set by ndp_hdr_read(): a tag follows the header
 * @data: DATA, PROBE
 * @ctl: CONTROL
 * @err: ERROR
 * @token: COOKIE
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
	u16 here;
	bool is_short;
	bool keyed;
	union {
		struct ndp_data data;
		struct ndp_ctl ctl;
		struct ndp_error err;
		u32 token;
	};
};

/* a is before b, modulo 2^32 */
static inline bool ndp_before(u32 a, u32 b)
{
	return (s32)(a - b) < 0;
}

/* Bytes before the payload */
static inline u32 ndp_hdr_len(const struct ndp_hdr *h)
{
	return h->keyed ? NDP_HLEN_MAX : NDP_HLEN;
}

/* Has a packet fewer bytes of payload than were sent? */
static inline bool ndp_is_trimmed(const struct ndp_hdr *h)
{
	return h->here < h->payload_len;
}

/* Flags that all DATA packets of a batch have in common, see ndp_hdr_join() */
#define NDP_DATA_COMMON	(NDP_DATA_SYN | NDP_DATA_SPEC)

/* Does a packet carry an ACK? If it is short, the ACK is lost. */
static inline bool ndp_carries_ack(const struct ndp_hdr *h)
{
	return h->type == NDP_DATA && h->flags & NDP_DATA_ACK && !h->is_short;
}

/* Is a DATA packet the last one of its message? */
static inline bool ndp_is_tail(const struct ndp_hdr *h)
{
	return h->data.offset + h->payload_len == h->data.msg_len;
}

void ndp_answer(const struct ndp_hdr *h, enum ndp_type type, struct ndp_hdr *answer);
void ndp_hdr_write(const struct ndp_hdr *h, u8 *b);
void ndp_hdr_set_keyed(u8 *b);
bool ndp_hdr_is_cut(const u8 *b, u32 len);
bool ndp_hdr_read_next(const u8 *before, const u8 *b, u32 len, struct ndp_hdr *h);
bool ndp_hdr_join(const struct ndp_hdr *a, const struct ndp_hdr *b);
struct ndp_hdr ndp_hdr_nth(const struct ndp_hdr *first, const struct ndp_hdr *last, u32 n);
enum ndp_read ndp_hdr_read(const u8 *b, u32 len, struct ndp_hdr *h);

#endif /* _NDP_WIRE_H */
