// SPDX-License-Identifier: GPL-2.0-only
/*
 * Configures closwire by raw netlink, in ways that ip(8) cannot
 *
 * closwire_netlink refused -n NS -i DEV
 *	Sends requests that must be refused, and checks the messages.
 * closwire_netlink change -n NS -i DEV [-c COUNT] [-s SEED]
 *	Sends COUNT random changes of port DEV, valid and malformed. A model of the ranges in
 *	ip-link-closwire(8) determines whether a change must be accepted. A refused change must
 *	have a message and leave the settings unchanged; an accepted one must read back.
 * closwire_netlink create -n NS -i NAME [-c COUNT] [-s SEED]
 *	COUNT times: makes a pair with random attributes for both ports. Afterwards there must be
 *	either two ports, which are deleted, or none.
 *
 * Exit status: 0 all checks passed, 1 a check failed, 2 a request could not be sent.
 */
#define _GNU_SOURCE
#include <err.h>
#include <libmnl/libmnl.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/if_closwire.h>

#include "../lib/rtnl.h"

static const char *dev = "";

static void put_linkinfo(struct blob *blob, const struct blob *data)
{
	struct blob info = { .len = 0 };

	put_attr(&info, IFLA_INFO_KIND, "closwire", sizeof("closwire"));
	put_attr(&info, IFLA_INFO_DATA | NLA_F_NESTED, data->b, data->len);
	put_attr(blob, IFLA_LINKINFO | NLA_F_NESTED, info.b, info.len);
}

/* Send a request for @dev with attributes @attrs. Return: 0 or an error number */
static int request_link(uint16_t type, uint16_t flags, const struct blob *attrs)
{
	uint8_t buf[BLOB_MAX + 8192];
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	mnl_nlmsg_put_extra_header(nlh, sizeof(struct ifinfomsg));
	mnl_attr_put_strz(nlh, IFLA_IFNAME, dev);
	if (attrs) {
		memcpy(mnl_nlmsg_get_payload_tail(nlh), attrs->b, attrs->len);
		nlh->nlmsg_len += attrs->len;
	}
	return request(nlh);
}

static int change(const struct blob *data)
{
	struct blob attrs = { .len = 0 };

	put_linkinfo(&attrs, data);
	return request_link(RTM_NEWLINK, 0, &attrs);
}

/* Find the attribute of type @type in a nest or a message */
static const struct nlattr *find(const void *from, size_t len, uint16_t type)
{
	const struct nlattr *attr;

	mnl_attr_for_each_payload(from, len)
		if (mnl_attr_get_type(attr) == type)
			return attr;
	return NULL;
}

static void dump(struct blob *found)
{
	uint8_t buf[16384];
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	const struct nlattr *info, *data = NULL;
	size_t head = sizeof(*nlh) + sizeof(struct ifinfomsg);

	nlh->nlmsg_type = RTM_GETLINK;
	nlh->nlmsg_flags = NLM_F_REQUEST;
	mnl_nlmsg_put_extra_header(nlh, sizeof(struct ifinfomsg));
	mnl_attr_put_strz(nlh, IFLA_IFNAME, dev);
	if (mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0 ||
	    mnl_socket_recvfrom(nl, buf, sizeof(buf)) < (ssize_t)head)
		err(2, "netlink");
	info = find(buf + head, nlh->nlmsg_len - head, IFLA_LINKINFO);
	if (info)
		data = find(mnl_attr_get_payload(info), mnl_attr_get_payload_len(info),
			    IFLA_INFO_DATA);
	if (!data)
		errx(1, "%s has no settings", dev);
	found->len = mnl_attr_get_payload_len(data);
	memcpy(found->b, mnl_attr_get_payload(data), found->len);
}

/* ---- the model: the ranges of ip-link-closwire(8) */

#define CLOSWIRE_RATE_MIN	125LL
#define CLOSWIRE_RATE_MAX	125000000000LL
#define CLOSWIRE_DELAY_MAX_NS	10000000000LL
#define CLOSWIRE_DRIFT_MAX_PPB	500000

static const struct range {
	const char *name;
	int64_t min, max;
	unsigned int len;
} ranges[IFLA_CLOSWIRE_MAX + 1] = {
	[IFLA_CLOSWIRE_RATE] = { "rate", CLOSWIRE_RATE_MIN, CLOSWIRE_RATE_MAX, 8 },
	[IFLA_CLOSWIRE_DELAY] = { "delay", 0, CLOSWIRE_DELAY_MAX_NS, 8 },
	[IFLA_CLOSWIRE_RING] = { "ring", 2, 16384, 4 },
	[IFLA_CLOSWIRE_LOSS] = { "loss", 0, UINT32_MAX, 4 },
	[IFLA_CLOSWIRE_CLOCK_OFFSET] = { "clock_offset", INT64_MIN, INT64_MAX, 8 },
	[IFLA_CLOSWIRE_CLOCK_DRIFT] = { "clock_drift", -CLOSWIRE_DRIFT_MAX_PPB,
					CLOSWIRE_DRIFT_MAX_PPB, 4 },
};

/* Return: an attribute's value as the kernel reads it */
static int64_t value_of(unsigned int type, const void *from)
{
	uint64_t v64;
	uint32_t v32;

	if (ranges[type].len == 8) {
		memcpy(&v64, from, 8);
		return (int64_t)v64;
	}
	memcpy(&v32, from, 4);
	return type == IFLA_CLOSWIRE_CLOCK_DRIFT ? (int32_t)v32 : (int64_t)v32;
}

static bool in_range(unsigned int type, int64_t v)
{
	/* an unsigned 64-bit value above INT64_MAX is negative here, and below the minimum */
	return v >= ranges[type].min && v <= ranges[type].max;
}

struct model {
	int64_t v[IFLA_CLOSWIRE_MAX + 1];
	bool valid;
	bool open;	/* undocumented whether it is accepted, and with which value */
};

static int64_t random_value(const struct range *r)
{
	uint64_t span = (uint64_t)r->max - (uint64_t)r->min;

	switch (below(10)) {
	case 0: return r->min;
	case 1: return r->max;
	case 2: return (int64_t)((uint64_t)r->min - 1);
	case 3: return (int64_t)((uint64_t)r->max + 1);
	case 4: return 0;
	case 5: return (int64_t)random64();
	default: return (int64_t)((uint64_t)r->min + random64() % (span ? span : 1));
	}
}

static void add_sane(struct blob *blob, struct model *m)
{
	unsigned int type = IFLA_CLOSWIRE_RATE + below(IFLA_CLOSWIRE_CLOCK_DRIFT - 1);
	int64_t v = random_value(&ranges[type]);

	/* not tested: the last one of two attributes of the same type counts */
	if (find(blob->b, blob->len, (uint16_t)type))
		return;
	put_attr(blob, (uint16_t)type, &v, ranges[type].len);
	v = value_of(type, &v);
	if (!in_range(type, v))
		m->valid = false;
	m->v[type] = v;
}

static void add_malformed(struct blob *blob, struct model *m)
{
	unsigned int type = IFLA_CLOSWIRE_RATE + below(IFLA_CLOSWIRE_CLOCK_DRIFT - 1), i;
	uint8_t junk[64];

	for (i = 0; i < sizeof(junk); i++)
		junk[i] = (uint8_t)random64();
	switch (below(4)) {
	case 0:
		if (!find(blob->b, blob->len, (uint16_t)type))
			put_attr(blob, (uint16_t)type, junk, below(ranges[type].len));
		m->valid = false;
		m->open = true;
		break;
	case 1:
		put_attr(blob, (uint16_t)type, junk, ranges[type].len + 1 + below(8));
		m->open = true;
		break;
	case 2:
		put_attr(blob, IFLA_CLOSWIRE_PEER, junk, sizeof(struct ifinfomsg) + below(32));
		m->valid = false;
		break;
	default: /* rtnetlink ignores unknown attributes */
		put_attr(blob, (uint16_t)(IFLA_CLOSWIRE_PAD + 1 + below(1000)), junk, below(64));
	}
}

static void random_data(struct blob *blob, struct model *m)
{
	unsigned int n = 1 + below(4);

	blob->len = 0;
	m->valid = true;
	m->open = false;
	while (n--) {
		if (below(12))
			add_sane(blob, m);
		else
			add_malformed(blob, m);
	}
}

/* Copy dumped settings into the model. */
static void model_read(struct model *m, const struct blob *dumped)
{
	const struct nlattr *attr;
	unsigned int type;

	for (type = IFLA_CLOSWIRE_RATE; type <= IFLA_CLOSWIRE_CLOCK_DRIFT; type++) {
		attr = find(dumped->b, dumped->len, (uint16_t)type);
		if (!attr || mnl_attr_get_payload_len(attr) != ranges[type].len)
			show(ranges[type].name, dumped);
		m->v[type] = value_of(type, mnl_attr_get_payload(attr));
		if (!in_range(type, m->v[type]))
			show(ranges[type].name, dumped);
	}
}

static void random_changes(unsigned int count)
{
	unsigned int accepted = 0, i;
	struct blob blob, before, after;
	struct model now = { .valid = true }, next, read;

	dump(&before);
	model_read(&now, &before);
	for (i = 0; i < count; i++) {
		next = now;
		random_data(&blob, &next);
		if (change(&blob)) {
			if (!message[0])
				show("refused without a message", &blob);
			if (next.valid && !next.open)
				show("refused, but is valid", &blob);
			dump(&after);
			if (after.len != before.len || memcmp(after.b, before.b, after.len))
				show("refused change has an effect", &blob);
			continue;
		}
		accepted++;
		if (!next.valid && !next.open)
			show("accepted, but is invalid", &blob);
		dump(&before);
		model_read(&read, &before);
		if (!next.open && memcmp(read.v, next.v, sizeof(read.v)))
			show("does not read back", &blob);
		memcpy(now.v, read.v, sizeof(now.v));
	}
	printf("%u changes, %u accepted\n", count, accepted);
	if (accepted < count / 10 || accepted > count * 9 / 10)
		errx(1, "too few or too many requests were accepted");
}

/* ---- new pairs */

static void random_link_attrs(struct blob *blob, const char *name)
{
	uint8_t mac[6] = { 2, 0, 0, 0, (uint8_t)below(3), (uint8_t)below(256) };
	uint32_t number = below(4) ? below(20) : (uint32_t)random64();

	if (!below(4)) {
		mac[0] = (uint8_t)random64();
		put_attr(blob, IFLA_ADDRESS, mac, below(8));
	} else if (!below(4)) {
		put_attr(blob, IFLA_ADDRESS, mac, 6);
	}
	if (!below(3))
		put_attr(blob, IFLA_NUM_TX_QUEUES, &number, 4);
	if (!below(3))
		put_attr(blob, IFLA_MTU, &number, 4);
	if (name && below(4))
		put_attr(blob, IFLA_IFNAME, name, (unsigned int)strlen(name) + 1);
}

static void random_peer(struct blob *data)
{
	struct blob peer = { .len = sizeof(struct ifinfomsg) }, own = { .len = 0 };
	struct model unused;

	memset(peer.b, 0, peer.len);
	random_link_attrs(&peer, below(8) ? "peer" : dev);
	if (below(2)) {
		random_data(&own, &unused);
		put_linkinfo(&peer, &own);
	}
	if (below(8))
		put_attr(data, IFLA_CLOSWIRE_PEER | NLA_F_NESTED, peer.b, peer.len);
	else
		put_attr(data, IFLA_CLOSWIRE_PEER | NLA_F_NESTED, peer.b, below(peer.len));
}

/* Return: the number of devices; some kernels put more than lo into a new namespace */
static unsigned int devices(void)
{
	struct if_nameindex *all = if_nameindex(), *i;
	unsigned int n = 0;

	for (i = all; i && i->if_index; i++)
		n++;
	if_freenameindex(all);
	return n;
}

static void random_pairs(unsigned int count)
{
	unsigned int before = devices(), made = 0, i;
	struct blob attrs, data;
	struct model unused;

	for (i = 0; i < count; i++) {
		attrs.len = 0;
		data.len = 0;
		random_link_attrs(&attrs, NULL);
		if (below(2))
			random_data(&data, &unused);
		if (below(4))
			random_peer(&data);
		put_linkinfo(&attrs, &data);
		if (request_link(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &attrs)) {
			if (devices() != before)
				show("devices remain of a refused pair", &attrs);
			continue;
		}
		made++;
		if (devices() != before + 2)
			show("an accepted pair does not exist", &attrs);
		if (request_link(RTM_DELLINK, 0, NULL) || devices() != before)
			show("cannot be deleted", &attrs);
	}
	printf("%u of %u pairs made\n", made, count);
	if (made < count / 20 || made > count * 9 / 10)
		errx(1, "too few or too many requests were accepted");
}

/* ---- refusals with their messages */

static void refused(const char *name, uint16_t type, const void *data, unsigned int len,
		    const char *want)
{
	struct blob blob = { .len = 0 };

	put_attr(&blob, type, data, len);
	if (!change(&blob))
		errx(1, "%s: accepted", name);
	if (!strstr(message, want))
		errx(1, "%s: message lacks \"%s\": %s", name, want, message);
}

static void refused_kind(void)
{
	struct blob peer = { .len = sizeof(struct ifinfomsg) }, info = { .len = 0 };
	struct blob data = { .len = 0 }, attrs = { .len = 0 };
	const char *own = dev;

	memset(peer.b, 0, peer.len);
	put_attr(&info, IFLA_INFO_KIND, "veth", sizeof("veth"));
	put_attr(&peer, IFLA_LINKINFO | NLA_F_NESTED, info.b, info.len);
	put_attr(&data, IFLA_CLOSWIRE_PEER | NLA_F_NESTED, peer.b, peer.len);
	put_linkinfo(&attrs, &data);
	dev = "other";
	if (!request_link(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &attrs))
		errx(1, "a peer of kind veth: accepted");
	if (!strstr(message, "the peer must be of kind closwire"))
		errx(1, "a peer of kind veth: %s", message);
	dev = own;
}

static void all_refused(void)
{
	static const uint8_t ones[16] = { 255, 255, 255, 255, 255, 255, 255, 255 };

	refused("a peer", IFLA_CLOSWIRE_PEER, ones, sizeof(ones), "the peer cannot be changed");
	refused("rate of all ones", IFLA_CLOSWIRE_RATE, ones, 8,
		"rate must be 1 kbit/s to 1 Tbit/s");
	refused("delay of all ones", IFLA_CLOSWIRE_DELAY, ones, 8, "delay must be 0 to 10 s");
	refused("ring of 0", IFLA_CLOSWIRE_RING, ones + 8, 4, "ring must be 2 to 16384 packets");
	refused("a short rate", IFLA_CLOSWIRE_RATE, ones, 4, "policy");
	refused("an empty loss", IFLA_CLOSWIRE_LOSS, ones, 0, "policy");
	refused_kind();
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	unsigned int count = 1000;
	int opt;

	optind = 2;
	while ((opt = getopt(argc, argv, "n:i:c:s:")) != -1) {
		if (opt == 'n')
			enter_ns(optarg);
		else if (opt == 'i')
			dev = optarg;
		else if (opt == 'c')
			count = (unsigned int)atoi(optarg);
		else if (opt == 's')
			seed_random(optarg);
		else
			return 2;
	}
	open_netlink();
	if (!strcmp(what, "refused"))
		all_refused();
	else if (!strcmp(what, "change"))
		random_changes(count);
	else if (!strcmp(what, "create"))
		random_pairs(count);
	else
		errx(2, "usage: closwire_netlink refused|change|create -n NS -i DEV [OPTION...]");
	return 0;
}
