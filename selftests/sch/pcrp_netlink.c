// SPDX-License-Identifier: GPL-2.0-only
/*
 * pcrp_netlink: access PCRP's statistics unit in the kernel by raw generic netlink
 *
 * pcrp_netlink [-n NS] get
 *	Prints lines "updates N", "bytes N", "sizes CLASS:N ..." with the non-empty
 *	classes, and "thresholds N N N" or "thresholds none".
 * pcrp_netlink [-n NS] set BYTES BYTES BYTES
 * pcrp_netlink [-n NS] reset
 * pcrp_netlink [-n NS] raw COMMAND [TYPE:LENGTH]...
 *	Sends the command with attributes of zeros.
 * pcrp_netlink [-n NS] fuzz COUNT SEED
 *	Sends COUNT random requests, valid and malformed, and compares the results
 *	with a model.
 *
 * Exit status 0: passed; 1: refused or failed; 2: usage or set-up error; 3: the
 * kernel has no such family.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/pcrp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/rtnl.h"

/* State of the unit, as the kernel reports it or as the model expects it */
struct numbers {
	uint64_t sizes[PCRP_SIZE_CLASSES];
	uint64_t bytes;
	uint64_t thresholds[PCRP_THRESHOLDS];
	bool set;
	uint32_t updates;
};

static uint16_t family;

/* ---- requests */

static struct nlmsghdr *start(uint8_t *buf, uint16_t type, uint8_t cmd, uint16_t flags)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *genl;

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	genl->cmd = cmd;
	genl->version = PCRP_GENL_VERSION;
	return nlh;
}

/* Send a request that is acknowledged only. Return: 0 or the kernel's error number */
static int send_attrs(uint8_t cmd, const struct blob *attrs)
{
	static uint8_t buf[BLOB_MAX + 1024];
	struct nlmsghdr *nlh = start(buf, family, cmd, NLM_F_ACK);

	memcpy(mnl_nlmsg_get_payload_tail(nlh), attrs->b, attrs->len);
	nlh->nlmsg_len += attrs->len;
	return request(nlh);
}

/* Send a request with a reply, and parse it. Return: 0 or the kernel's error number */
static int request_reply(const struct nlmsghdr *nlh,
			 int (*catch)(const struct nlattr *, void *), void *data)
{
	uint8_t buf[8192];
	const struct nlmsghdr *reply = (const struct nlmsghdr *)buf;
	ssize_t n;

	if (mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0)
		err(2, "netlink send");
	n = mnl_socket_recvfrom(nl, buf, sizeof(buf));
	if (n < (ssize_t)sizeof(*reply))
		err(2, "netlink receive");
	if (reply->nlmsg_type == NLMSG_ERROR)
		return -((const struct nlmsgerr *)mnl_nlmsg_get_payload(reply))->error;
	mnl_attr_parse(reply, sizeof(struct genlmsghdr), catch, data);
	return 0;
}

static int catch_family(const struct nlattr *attr, void *data)
{
	if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
		*(uint16_t *)data = mnl_attr_get_u16(attr);
	return MNL_CB_OK;
}

static void find_family(void)
{
	uint8_t buf[1024];
	struct nlmsghdr *nlh = start(buf, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0);

	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, PCRP_GENL_NAME);
	if (request_reply(nlh, catch_family, &family))
		errx(3, "no generic netlink family " PCRP_GENL_NAME);
}

#define THRESHOLD_MAX (1ULL << 40)

static void read_attr(void *to, unsigned int len, const struct nlattr *attr)
{
	if (mnl_attr_get_payload_len(attr) != len)
		errx(1, "attribute %u has %u bytes, not %u", mnl_attr_get_type(attr),
		     mnl_attr_get_payload_len(attr), len);
	memcpy(to, mnl_attr_get_payload(attr), len);
}

/* Number of flows of a size class */
struct size {
	uint32_t class;
	uint64_t flows;
};

static int catch_size(const struct nlattr *attr, void *data)
{
	struct size *size = data;

	switch (mnl_attr_get_type(attr)) {
	case PCRP_A_SIZE_CLASS:
		read_attr(&size->class, sizeof(size->class), attr);
		break;
	case PCRP_A_SIZE_FLOWS:
		read_attr(&size->flows, sizeof(size->flows), attr);
		break;
	case PCRP_A_SIZE_PAD:
		break;
	default:
		errx(1, "unknown attribute %u of a size", mnl_attr_get_type(attr));
	}
	return MNL_CB_OK;
}

static int catch_threshold(const struct nlattr *attr, void *data)
{
	struct numbers *n = data;
	unsigned int type = mnl_attr_get_type(attr);

	if (type == PCRP_A_THRESHOLD_PAD)
		return MNL_CB_OK;
	if (type < PCRP_A_THRESHOLD_P0 || type > PCRP_A_THRESHOLD_P2)
		errx(1, "unknown threshold %u", type);
	read_attr(&n->thresholds[type - PCRP_A_THRESHOLD_P0], sizeof(n->thresholds[0]), attr);
	return MNL_CB_OK;
}

static int catch_number(const struct nlattr *attr, void *data)
{
	struct size size = { .class = PCRP_SIZE_CLASSES };
	struct numbers *n = data;

	switch (mnl_attr_get_type(attr)) {
	case PCRP_A_SIZE:
		mnl_attr_parse_nested(attr, catch_size, &size);
		if (size.class >= PCRP_SIZE_CLASSES || !size.flows)
			errx(1, "class %u, %llu flows", size.class, (unsigned long long)size.flows);
		n->sizes[size.class] = size.flows;
		break;
	case PCRP_A_BYTES:
		read_attr(&n->bytes, sizeof(n->bytes), attr);
		break;
	case PCRP_A_THRESHOLDS:
		mnl_attr_parse_nested(attr, catch_threshold, n);
		n->set = true;
		break;
	case PCRP_A_UPDATES:
		read_attr(&n->updates, sizeof(n->updates), attr);
		break;
	case PCRP_A_PAD:
		break;
	default:
		errx(1, "unknown attribute %u", mnl_attr_get_type(attr));
	}
	return MNL_CB_OK;
}

static struct numbers get(void)
{
	struct numbers n = { .updates = UINT32_MAX };
	uint8_t buf[1024];
	int error = request_reply(start(buf, family, PCRP_CMD_GET, 0), catch_number, &n);

	if (error)
		errx(1, "get: %s", strerror(error));
	return n;
}

/* ---- commands */

static void show_numbers(void)
{
	struct numbers n = get();
	unsigned int i;

	printf("updates %u\nbytes %llu\nsizes", n.updates, (unsigned long long)n.bytes);
	for (i = 0; i < PCRP_SIZE_CLASSES; i++)
		if (n.sizes[i])
			printf(" %u:%llu", i, (unsigned long long)n.sizes[i]);
	printf("\nthresholds");
	for (i = 0; n.set && i < PCRP_THRESHOLDS; i++)
		printf(" %llu", (unsigned long long)n.thresholds[i]);
	printf("%s\n", n.set ? "" : " none");
}

static int refused(int error)
{
	if (error)
		fprintf(stderr, "%s%s%s\n", message, *message ? ": " : "", strerror(error));
	return error ? 1 : 0;
}

static void put_thresholds(struct blob *attrs, const uint64_t *thresholds)
{
	struct blob nest = { .len = 0 };
	unsigned int i;

	for (i = 0; i < PCRP_THRESHOLDS; i++)
		put_attr(&nest, (uint16_t)(PCRP_A_THRESHOLD_P0 + i), &thresholds[i],
			 sizeof(thresholds[i]));
	put_attr(attrs, PCRP_A_THRESHOLDS | NLA_F_NESTED, nest.b, nest.len);
}

static int set(char *words[])
{
	uint64_t thresholds[PCRP_THRESHOLDS];
	struct blob attrs = { .len = 0 };
	unsigned int i;

	for (i = 0; i < PCRP_THRESHOLDS; i++)
		thresholds[i] = strtoull(words[i], NULL, 0);
	put_thresholds(&attrs, thresholds);
	return refused(send_attrs(PCRP_CMD_SET, &attrs));
}

static int raw(char *words[])
{
	static const uint8_t zeros[1024];
	uint8_t cmd = (uint8_t)atoi(*words);
	struct blob attrs = { .len = 0 };
	unsigned int type, len;

	while (*++words) {
		if (sscanf(*words, "%u:%u", &type, &len) != 2 || len > sizeof(zeros))
			errx(2, "invalid attribute \"%s\"", *words);
		put_attr(&attrs, (uint16_t)type, zeros, len);
	}
	return refused(send_attrs(cmd, &attrs));
}

/* ---- random requests */

static uint64_t random_threshold(void)
{
	const uint64_t edges[] = { 0, 1, THRESHOLD_MAX, THRESHOLD_MAX + 1, UINT64_MAX };
	unsigned int n = below(40);

	if (n < sizeof(edges) / sizeof(edges[0]))
		return edges[n];
	return 1 + random64() % THRESHOLD_MAX;
}

static int by_size(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Add random thresholds. Return: are they valid? */
static bool add_thresholds(struct blob *attrs, struct numbers *next)
{
	uint64_t *t = next->thresholds;
	unsigned int i;

	for (i = 0; i < PCRP_THRESHOLDS; i++)
		t[i] = random_threshold();
	if (below(4))
		qsort(t, PCRP_THRESHOLDS, sizeof(*t), by_size);
	put_thresholds(attrs, t);
	return t[0] >= 1 && t[0] <= t[1] && t[1] <= t[2] && t[2] <= THRESHOLD_MAX;
}

static void add_malformed(struct blob *attrs)
{
	unsigned int i;
	uint8_t junk[64];

	for (i = 0; i < sizeof(junk); i++)
		junk[i] = (uint8_t)random64();
	switch (below(4)) {
	case 0:
		put_attr(attrs, PCRP_A_THRESHOLDS, junk, below(sizeof(junk)));
		break;
	case 1:	/* a nest with an unknown attribute */
		put_attr(attrs, PCRP_A_THRESHOLDS | NLA_F_NESTED,
			 (const uint16_t[]){ 12, PCRP_A_THRESHOLD_P2 + 1 + below(9), 0, 0, 0, 0 },
			 12);
		break;
	case 2:	/* an attribute of replies, or an unknown one */
		put_attr(attrs, below(2) ? PCRP_A_BYTES : (uint16_t)(PCRP_A_PAD + 1 + below(1000)),
			 junk, sizeof(uint64_t));
		break;
	default:
		put_attr(attrs, PCRP_A_THRESHOLDS | NLA_F_NESTED, NULL, 0);
	}
}

/* Build a random request, and the state after it. Return: is it valid? */
static bool random_request(uint8_t *cmd, struct blob *attrs, struct numbers *next)
{
	bool valid;

	attrs->len = 0;
	next->updates++;
	switch (below(8)) {
	case 0:
		*cmd = PCRP_CMD_RESET;
		next->set = false;
		return true;
	case 1:
		*cmd = PCRP_CMD_RESET;
		add_malformed(attrs);
		return false;
	case 2:
		*cmd = (uint8_t)(below(2) ? PCRP_CMD_SET : PCRP_CMD_MAX + 1 + below(200));
		return false;
	case 3:
		*cmd = PCRP_CMD_SET;
		add_malformed(attrs);
		return false;
	default:
		*cmd = PCRP_CMD_SET;
		next->set = true;
		valid = add_thresholds(attrs, next);
		if (below(16))
			return valid;
		add_malformed(attrs);
		return false;
	}
}

static bool same(const struct numbers *a, const struct numbers *b)
{
	return a->updates == b->updates && a->set == b->set && a->bytes == b->bytes &&
	       !memcmp(a->sizes, b->sizes, sizeof(a->sizes)) &&
	       (!a->set || !memcmp(a->thresholds, b->thresholds, sizeof(a->thresholds)));
}

static void fuzz(unsigned int count)
{
	struct numbers now = get(), next, actual;
	unsigned int accepted = 0, i;
	struct blob attrs;
	uint8_t cmd;
	bool valid;
	int error;

	for (i = 0; i < count; i++) {
		next = now;
		valid = random_request(&cmd, &attrs, &next);
		error = send_attrs(cmd, &attrs);
		if (!error != valid)
			show(valid ? "valid request refused" : "invalid request accepted", &attrs);
		if (error && error != EOPNOTSUPP && !*message)
			show("refused without a message", &attrs);
		if (valid)
			now = next;
		actual = get();
		if (!same(&actual, &now))
			show(valid ? "accepted request does not read back" :
			     "a refused request changed the state", &attrs);
		accepted += valid;
	}
	printf("%u requests, %u accepted\n", count, accepted);
}

static void open_generic(void)
{
	int on = 1;

	nl = mnl_socket_open(NETLINK_GENERIC);
	if (!nl || mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) < 0)
		err(2, "netlink socket");
	if (mnl_socket_setsockopt(nl, NETLINK_EXT_ACK, &on, sizeof(on)))
		err(2, "NETLINK_EXT_ACK");
}

int main(int argc, char *argv[])
{
	const char *what;

	if (argc > 2 && !strcmp(argv[1], "-n")) {
		enter_ns(argv[2]);
		argv += 2;
		argc -= 2;
	}
	what = argc > 1 ? argv[1] : "";
	open_generic();
	find_family();
	if (!strcmp(what, "get"))
		show_numbers();
	else if (!strcmp(what, "set") && argc == 2 + PCRP_THRESHOLDS)
		return set(argv + 2);
	else if (!strcmp(what, "reset"))
		return refused(send_attrs(PCRP_CMD_RESET, &(struct blob){ .len = 0 }));
	else if (!strcmp(what, "raw") && argc > 2)
		return raw(argv + 2);
	else if (!strcmp(what, "fuzz") && argc == 4)
		seed_random(argv[3]), fuzz((unsigned int)atoi(argv[2]));
	else
		errx(2, "usage: pcrp_netlink [-n NS] get|set|reset|raw|fuzz ...");
	return 0;
}
