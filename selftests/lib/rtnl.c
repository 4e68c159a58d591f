// SPDX-License-Identifier: GPL-2.0-only
/* Raw netlink for test programs, see rtnl.h */
#define _GNU_SOURCE
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rtnl.h"

struct mnl_socket *nl;
char message[256];

/* ---- random numbers */

static uint64_t state = 88172645463325252ULL;

void seed_random(const char *number)
{
	state ^= strtoull(number, NULL, 0) << 20;
}

uint64_t random64(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state * 2685821657736338717ULL;
}

unsigned int below(unsigned int n)
{
	return (unsigned int)(random64() >> 33) % n;
}

/* ---- attributes */

void put_attr(struct blob *blob, uint16_t type, const void *data, unsigned int len)
{
	struct nlattr *attr = (struct nlattr *)(blob->b + blob->len);

	if (blob->len + MNL_ALIGN(len) + MNL_ATTR_HDRLEN > BLOB_MAX)
		return;
	attr->nla_type = type;
	attr->nla_len = (uint16_t)(MNL_ATTR_HDRLEN + len);
	memset(attr + 1, 0, MNL_ALIGN(len));
	memcpy(attr + 1, data, len);
	blob->len += (unsigned int)(MNL_ATTR_HDRLEN + MNL_ALIGN(len));
}

/* ---- requests */

void open_netlink(void)
{
	int on = 1;

	nl = mnl_socket_open(NETLINK_ROUTE);
	if (!nl || mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) < 0)
		err(2, "netlink socket");
	if (mnl_socket_setsockopt(nl, NETLINK_EXT_ACK, &on, sizeof(on)))
		err(2, "NETLINK_EXT_ACK");
}

static int catch_message(const struct nlattr *attr, void *data)
{
	(void)data;
	if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG)
		snprintf(message, sizeof(message), "%s", mnl_attr_get_str(attr));
	return MNL_CB_OK;
}

static int parse_ack(const struct nlmsghdr *nlh)
{
	const struct nlmsgerr *e = mnl_nlmsg_get_payload(nlh);
	size_t skip = sizeof(*e);

	message[0] = '\0';
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED) && e->error)
		skip += mnl_nlmsg_get_payload_len(&e->msg);
	if (nlh->nlmsg_flags & NLM_F_ACK_TLVS)
		mnl_attr_parse(nlh, (unsigned int)skip, catch_message, NULL);
	return -e->error;
}

int request(const struct nlmsghdr *nlh)
{
	uint8_t buf[BLOB_MAX + 8192];
	ssize_t n;

	if (mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0)
		err(2, "netlink send");
	n = mnl_socket_recvfrom(nl, buf, sizeof(buf));
	if (n < (ssize_t)sizeof(*nlh))
		err(2, "netlink receive");
	return parse_ack((struct nlmsghdr *)buf);
}

void show(const char *why, const struct blob *blob)
{
	unsigned int i;

	fprintf(stderr, "%s (\"%s\"):", why, message);
	for (i = 0; i < blob->len; i++)
		fprintf(stderr, "%s%02x", i % 4 ? "" : " ", blob->b[i]);
	fprintf(stderr, "\n");
	exit(1);
}
