// SPDX-License-Identifier: GPL-2.0-only
/*
 * Global load balancing: adverts of the quality beyond the next hop
 *
 * A leaf measures the load of its own uplinks, but not of the links from a spine to the other leaf.
 * In Broadcom's Global Load Balancing ("cognitive routing"), each router advertises the quality
 * of its egress ports to its neighbours. The neighbour uses the minimum of the local and the remote
 * quality.
 *
 *	leaf A ---u1--- spine 1 ---x---- leaf B: 10.0.2.0/24
 *	       ---u2--- spine 2 --------
 *
 *	packets for 10.0.2.0/24 arrive from A:	spine 1 stores the prefix and A's port
 *	the quality of x changes:		spine 1 sends A an advert: 10.0.2.0/24 has quality 2
 *	A selects for 10.0.2.0/24:		u1 has min(local quality of u1, 2)
 *
 * A router sends adverts only to neighbours that use it for a prefix, and only for prefixes in use:
 *
 *	at once			when a packet finds another quality, at most once in an interval
 *				and in LB_CHANGE_NS
 *	within LB_CHECK_NS	when no packet arrives: a queue has drained
 *	after LB_REFRESH_NS	again, so that a lost advert does no harm; each time after twice
 *				the time, up to LB_REFRESH_MAX_NS
 *
 * All adverts of a teller share a budget, a token bucket: a link that flaps, or many prefixes
 * without egress, cannot flood the neighbour. Changes leave half of the burst to repetitions, so
 * that the receiver does not forget the qualities of other prefixes.
 *
 * Adverts end LB_AGE_NS after the last packet. Quality 0, as of an egress without carrier, is
 * advertised for LB_DOWN_NS: the router may have no route meanwhile, and cannot find the prefix of
 * new packets. A quality that is not repeated for LB_AGE_NS is unknown, which counts as the best
 * quality: a neighbour without act_lb does not change the selection.
 *
 *	 0       1       2       3       4                              12        28           36
 *	+-------+-------+-------+-------+-- ... -----------------------+-- ... --+-- ... -----+
 *	|version|family |length |quality| stamp, ns                    | prefix  | SipHash    |
 *	+-------+-------+-------+-------+-- ... -----------------------+-- ... --+-- ... -----+
 *
 * Numbers are in network byte order. The stamp is the sender's clock. An advert that is not newer
 * than the last one of the same port and prefix is ignored, so that a recorded one cannot be
 * repeated while the entry lives. Without a key, the authenticator is 0.
 *
 * The store has a place for each port and prefix, in buckets of four. A 64-bit keyed hash
 * identifies a place. Readers take no lock. A reader of a place that changes may get a wrong
 * quality for one packet.
 *
 * Differences from the documents: Junos advertises the quality of next-next-hop nodes, which BGP
 * names. Here the prefix of the routing table is the name, which needs no routing protocol. Both
 * routers need the same prefix in their tables, not an aggregate of it.
 */
#include "lb_remote.h"

/* ---- messages ---- */

static void lb_put64(u8 *buf, u64 value)
{
	u32 i;

	for (i = 0; i < 8; i++)
		buf[i] = value >> (56 - 8 * i);
}

static u64 lb_get64(const u8 *buf)
{
	u64 value = 0;
	u32 i;

	for (i = 0; i < 8; i++)
		value = value << 8 | buf[i];
	return value;
}

/**
 * lb_msg_write() - write a message
 * @buf: LB_MSG_LEN bytes; the authenticator is 0
 * @m: the message
 */
void lb_msg_write(u8 *buf, const struct lb_msg *m)
{
	u32 i;

	buf[0] = LB_MSG_VERSION;
	buf[1] = m->ipv6 ? 6 : 4;
	buf[2] = m->prefix_len;
	buf[3] = m->quality;
	lb_put64(buf + 4, m->stamp);
	for (i = 0; i < LB_MSG_PREFIX_LEN; i++)
		buf[12 + i] = m->prefix[i];
	lb_put64(buf + LB_MSG_AUTH, 0);
}

/* Are all bits beyond the length of the prefix 0? */
static bool lb_prefix_is_clean(const struct lb_msg *m)
{
	u32 byte = m->prefix_len / 8, bit;

	for (bit = m->prefix_len % 8; byte < LB_MSG_PREFIX_LEN; byte++, bit = 0)
		if ((u8)(m->prefix[byte] << bit))
			return false;
	return true;
}

/**
 * lb_msg_read() - read a message
 * @m: the message
 * @buf: bytes
 * @len: number of them
 *
 * The caller checks the authenticator. Bytes behind LB_MSG_LEN are ignored: Ethernet pads frames,
 * and a later version may append fields.
 *
 * Return: true if it is valid.
 */
bool lb_msg_read(struct lb_msg *m, const u8 *buf, u32 len)
{
	u32 i;

	if (len < LB_MSG_LEN || buf[0] != LB_MSG_VERSION || (buf[1] != 4 && buf[1] != 6))
		return false;
	m->ipv6 = buf[1] == 6;
	m->prefix_len = buf[2];
	m->quality = buf[3];
	m->stamp = lb_get64(buf + 4);
	for (i = 0; i < LB_MSG_PREFIX_LEN; i++)
		m->prefix[i] = buf[12 + i];
	return m->prefix_len <= (m->ipv6 ? 128 : 32) && m->quality <= LB_BEST &&
	       lb_prefix_is_clean(m);
}

/* ---- store ---- */

static bool lb_remote_is_old(const struct lb_remote *r, u64 now_ns)
{
	/* another CPU may have received it after @now_ns */
	return (s64)(now_ns - READ_ONCE(r->received_ns)) > (s64)LB_AGE_NS;
}

/**
 * lb_remote_set() - store the quality of an advert
 * @bucket: LB_REMOTE_WAYS places
 * @tag: hash of prefix and port, not 0
 * @stamp: stamp of the message
 * @quality: quality of the message
 * @now_ns: present time
 *
 * The caller holds the lock of the store.
 *
 * Return: enum lb_received.
 */
enum lb_received lb_remote_set(struct lb_remote *bucket, u64 tag, u64 stamp, u8 quality, u64 now_ns)
{
	struct lb_remote *r, *place = NULL;

	for (r = bucket; r < bucket + LB_REMOTE_WAYS; r++) {
		if (r->tag == tag) {
			if (!lb_remote_is_old(r, now_ns) && stamp <= r->stamp)
				return LB_RECEIVED_OLD;
			place = r;
			break;
		}
		if (!r->tag || lb_remote_is_old(r, now_ns))
			place = r;
	}
	if (!place)
		return LB_RECEIVED_FULL;
	place->stamp = stamp;
	WRITE_ONCE(place->quality, quality);
	WRITE_ONCE(place->received_ns, now_ns);
	WRITE_ONCE(place->tag, tag);
	return LB_RECEIVED;
}

/**
 * lb_remote_quality() - look up the quality of a path
 * @bucket: LB_REMOTE_WAYS places
 * @tag: hash of prefix and port
 * @now_ns: present time
 *
 * Return: 0 to LB_BEST; LB_BEST of an unknown path.
 */
u8 lb_remote_quality(const struct lb_remote *bucket, u64 tag, u64 now_ns)
{
	const struct lb_remote *r;

	for (r = bucket; r < bucket + LB_REMOTE_WAYS; r++)
		if (READ_ONCE(r->tag) == tag)
			return lb_remote_is_old(r, now_ns) ? LB_BEST : READ_ONCE(r->quality);
	return LB_BEST;
}

/* ---- adverts ---- */

/**
 * lb_advert_is_due() - is an advert due?
 * @t: the last advert
 * @quality: quality now
 * @interval_ns: least time between two messages
 * @now_ns: present time
 *
 * Return: true if it is.
 */
bool lb_advert_is_due(const struct lb_advert *t, u8 quality, u32 interval_ns, u64 now_ns)
{
	s64 elapsed_ns = now_ns - t->sent_ns;

	if (!t->sent_ns || elapsed_ns >= (s64)t->refresh_ns)
		return true;
	return quality != t->quality && elapsed_ns >= (s64)max_t(u32, interval_ns, LB_CHANGE_NS);
}

/* Take an advert out of the budget. Return: false if it has to wait */
static bool lb_budget_take(struct lb_budget *b, bool urgent, u64 now_ns)
{
	u64 burst_ns = LB_TELL_NS * (urgent ? LB_TELL_BURST : LB_TELL_BURST / 2);
	u64 missing_ns = (s64)(b->full_ns - now_ns) > 0 ? b->full_ns - now_ns : 0;

	if (missing_ns + LB_TELL_NS > burst_ns)
		return false;
	b->full_ns = now_ns + missing_ns + LB_TELL_NS;
	return true;
}

/**
 * lb_advert_send() - store an advert that is due, if the budget allows it
 * @t: the last advert
 * @budget: budget of the teller
 * @quality: quality now
 * @now_ns: present time
 *
 * Return: true if it is to be sent now; otherwise it stays due, and @t->delayed is set.
 */
bool lb_advert_send(struct lb_advert *t, struct lb_budget *budget, u8 quality, u64 now_ns)
{
	bool repeats = t->sent_ns && quality == t->quality;
	bool urgent = repeats || now_ns - t->sent_ns >= LB_REFRESH_MAX_NS;

	t->delayed = !lb_budget_take(budget, urgent, now_ns);
	if (t->delayed)
		return false;
	t->refresh_ns = repeats ? min_t(u32, 2 * t->refresh_ns, LB_REFRESH_MAX_NS) : LB_REFRESH_NS;
	t->sent_ns = now_ns;
	t->quality = quality;
	return true;
}

/**
 * lb_advert_is_idle() - has the neighbour stopped to use the prefix?
 * @t: the last advert
 * @now_ns: present time
 *
 * Return: true if it may be forgotten.
 */
bool lb_advert_is_idle(const struct lb_advert *t, u64 now_ns)
{
	u64 idle_ns = t->sent_ns && !t->quality ? LB_DOWN_NS : LB_AGE_NS;

	return (s64)(now_ns - t->used_ns) > (s64)idle_ns;
}
