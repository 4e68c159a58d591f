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

/* Time after which an advert is repeated, and between two checks of the ports */
#define LB_REFRESH_NS		1000000
#define LB_CHECK_NS		100000
/* Time after which the receiver forgets a quality */
#define LB_AGE_NS		(10 * LB_REFRESH_NS)

/* Time that quality 0 is advertised without packets: routing takes longer to find another path. */
#define LB_DOWN_NS		(30000ULL * LB_REFRESH_NS)

#define LB_REMOTE_WAYS		4

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
 * @quality: quality that it had
 */
struct lb_advert {
	u64 sent_ns;
	u64 used_ns;
	u8 quality;
};

void lb_msg_write(u8 *buf, const struct lb_msg *m);
bool lb_msg_read(struct lb_msg *m, const u8 *buf, u32 len);
enum lb_received lb_remote_set(struct lb_remote *bucket, u64 tag, u64 stamp, u8 quality,
			       u64 now_ns);
u8 lb_remote_quality(const struct lb_remote *bucket, u64 tag, u64 now_ns);
bool lb_advert_is_due(const struct lb_advert *t, u8 quality, u32 interval_ns, u64 now_ns);
bool lb_advert_is_idle(const struct lb_advert *t, u64 now_ns);

#endif /* _CLOSNET_LB_REMOTE_H */
