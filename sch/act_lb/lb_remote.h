/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Global load balancing: adverts of the quality beyond the next hop
 *
 * The interface of lb_remote.c, which explains protocol and store.
 */
#ifndef _CLOSNET_LB_REMOTE_H
#define _CLOSNET_LB_REMOTE_H

#include <closnet/core.h>
#include "lb_load.h"

/* Message: version, family, length of the prefix, quality, stamp, prefix, authenticator */
#define LB_MSG_VERSION		1
#define LB_MSG_LEN		36
/* bytes that the authenticator covers, and where it is */
#define LB_MSG_AUTH		28
#define LB_MSG_PREFIX_LEN	16

/* Time after which an advert is repeated: it doubles with each repetition */
#define LB_REFRESH_NS		1000000
#define LB_REFRESH_MAX_NS	(4 * LB_REFRESH_NS)
/* Time between two checks of the ports, and least time between two adverts of a prefix */
#define LB_CHECK_NS		100000
#define LB_CHANGE_NS		16000
/* Time after which the receiver forgets a quality */
#define LB_AGE_NS		(10 * LB_REFRESH_NS)

/* Time that quality 0 is advertised without packets: routing takes longer to find another path. */
#define LB_DOWN_NS		(30000ULL * LB_REFRESH_NS)

#define LB_REMOTE_WAYS		4

/* Places for prefixes and ports in a teller */
#define LB_TELLER_BITS		8
#define LB_TELLER_PLACES	(LB_REMOTE_WAYS << LB_TELLER_BITS)
/*
 * Adverts of a teller: a burst for all its places, and then one in LB_TELL_NS, which repeats those
 * of all places in time
 */
#define LB_TELL_BURST		LB_TELLER_PLACES
#define LB_TELL_NS		(LB_REFRESH_MAX_NS / LB_TELLER_PLACES)

/**
 * struct lb_msg - an advert on the wire
 * @ipv6: family of the prefix
 * @prefix_len: length of the prefix in bits, up to 32 or 128
 * @quality: 0 to LB_BEST
 * @stamp: increases from message to message of a sender
 * @prefix: the prefix in network byte order; bits beyond its length are 0
 */
struct lb_msg {
	bool ipv6;
	u8 prefix_len;
	u8 quality;
	u64 stamp;
	u8 prefix[LB_MSG_PREFIX_LEN];
};

/**
 * struct lb_remote - quality of a path beyond the next hop
 * @tag: hash of prefix and port; 0: the place is free
 * @stamp: stamp of the last advert
 * @received_ns: time of its arrival
 * @quality: 0 to LB_BEST
 */
struct lb_remote {
	u64 tag;
	u64 stamp;
	u64 received_ns;
	u8 quality;
};

/**
 * enum lb_received - result of an advert
 * @LB_RECEIVED: its quality is stored
 * @LB_RECEIVED_OLD: a newer one came before
 * @LB_RECEIVED_FULL: no place in the store
 */
enum lb_received {
	LB_RECEIVED,
	LB_RECEIVED_OLD,
	LB_RECEIVED_FULL,
};

/**
 * struct lb_advert - last advert of a prefix to a neighbour
 * @sent_ns: time of the advert; 0: not sent yet
 * @used_ns: arrival of the neighbour's last packet for the prefix
 * @refresh_ns: time after which it is repeated
 * @quality: quality that it had
 * @delayed: the next one is due, and waits for the budget
 */
struct lb_advert {
	u64 sent_ns;
	u64 used_ns;
	u32 refresh_ns;
	u8 quality;
	bool delayed;
};

/**
 * struct lb_budget - adverts that a teller may send, a token bucket
 * @full_ns: time at which it is full, LB_TELL_NS for each advert that is missing
 */
struct lb_budget {
	u64 full_ns;
};

void lb_msg_write(u8 *buf, const struct lb_msg *m);
bool lb_msg_read(struct lb_msg *m, const u8 *buf, u32 len);
enum lb_received lb_remote_set(struct lb_remote *bucket, u64 tag, u64 stamp, u8 quality,
			       u64 now_ns);
u8 lb_remote_quality(const struct lb_remote *bucket, u64 tag, u64 now_ns);
bool lb_advert_is_due(const struct lb_advert *t, u8 quality, u32 interval_ns, u64 now_ns);
bool lb_advert_send(struct lb_advert *t, struct lb_budget *budget, u8 quality, u64 now_ns);
bool lb_advert_is_idle(const struct lb_advert *t, u64 now_ns);

#endif /* _CLOSNET_LB_REMOTE_H */
