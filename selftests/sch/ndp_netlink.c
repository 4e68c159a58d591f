// SPDX-License-Identifier: GPL-2.0-only
/*
 * Configures sch_ndp by raw netlink, in ways that tc(8) cannot
 *
 * ndp_netlink fuzz [-n NS] -i DEV [-c COUNT] [-s SEED]
 *	Sends COUNT random changes to the ndp qdisc at the root of DEV, valid
 *	and malformed. A model written from the header file's ranges says for
 *	each whether it must be accepted. A refused change must carry a message
 *	and leave the configuration as it was; an accepted one must read back.
 * ndp_netlink reload [-n NS] -i DEV [-c COUNT] MODULE.ko
 *	COUNT times: load the module, put ndp at the root of DEV for a moment,
 *	delete or replace it, unload the module.
 *
 * Exit status 0: all as it should be, 1: not so, 2: could not be tried.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/pkt_sched_ndp.h>

#define BLOB_MAX 2048
#define HANDLE_NDP (1U << 16)
#define HANDLE_OTHER (2U << 16)

/* The options of a request or of a dump: attributes one after the other */
struct blob {
	unsigned int len;
	uint8_t b[BLOB_MAX];
};

static struct mnl_socket *nl;
static unsigned int ifindex;
static char message[256]; /* of the last refusal */

/* ---- random numbers, the same in each run */

static uint64_t state;

static uint64_t random64(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state * 2685821657736338717ULL;
}

static unsigned int below(unsigned int n)
{
	return (unsigned int)(random64() >> 33) % n;
}

/* ---- requests */

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

static struct nlmsghdr *start(uint8_t *buf, uint16_t type, uint16_t flags,
			      const char *kind)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct tcmsg *tc;

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	tc = mnl_nlmsg_put_extra_header(nlh, sizeof(*tc));
	tc->tcm_family = AF_UNSPEC;
	tc->tcm_ifindex = (int)ifindex;
	tc->tcm_parent = TC_H_ROOT;
	if (type == RTM_NEWQDISC)
		tc->tcm_handle = strcmp(kind, "ndp") ? HANDLE_OTHER : HANDLE_NDP;
	if (kind)
		mnl_attr_put_strz(nlh, TCA_KIND, kind);
	return nlh;
}

/* Return: 0 or the kernel's error number */
static int finish(struct nlmsghdr *nlh)
{
	uint8_t buf[8192];
	ssize_t n;

	if (mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0)
		err(2, "netlink send");
	n = mnl_socket_recvfrom(nl, buf, sizeof(buf));
	if (n < (ssize_t)sizeof(*nlh))
		err(2, "netlink receive");
	return parse_ack((struct nlmsghdr *)buf);
}

static int set_qdisc(const char *kind, const struct blob *options, uint16_t flags)
{
	uint8_t buf[BLOB_MAX + 1024];
	struct nlmsghdr *nlh = start(buf, RTM_NEWQDISC, flags, kind);

	if (options)
		mnl_attr_put(nlh, TCA_OPTIONS | NLA_F_NESTED, options->len, options->b);
	return finish(nlh);
}

static int delete_qdisc(void)
{
	uint8_t buf[1024];

	return finish(start(buf, RTM_DELQDISC, 0, NULL));
}

static int catch_options(const struct nlmsghdr *nlh, void *data)
{
	const struct tcmsg *tc = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *attr, *options = NULL;
	struct blob *found = data;
	bool ndp = false;

	mnl_attr_for_each(attr, nlh, sizeof(*tc)) {
		if (mnl_attr_get_type(attr) == TCA_KIND)
			ndp = !strcmp(mnl_attr_get_str(attr), "ndp");
		if (mnl_attr_get_type(attr) == TCA_OPTIONS)
			options = attr;
	}
	if (ndp && options && tc->tcm_ifindex == (int)ifindex) {
		found->len = mnl_attr_get_payload_len(options);
		memcpy(found->b, mnl_attr_get_payload(options), found->len);
	}
	return MNL_CB_OK;
}

static void dump_options(struct blob *found)
{
	uint8_t buf[16384];
	struct nlmsghdr *nlh = start(buf, RTM_GETQDISC, NLM_F_DUMP, NULL);
	ssize_t n;

	nlh->nlmsg_flags &= (uint16_t)~NLM_F_ACK;
	found->len = 0;
	if (mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0)
		err(2, "netlink send");
	do {
		n = mnl_socket_recvfrom(nl, buf, sizeof(buf));
		if (n < 0)
			err(2, "netlink receive");
	} while (mnl_cb_run(buf, (size_t)n, 0, 0, catch_options, found) > MNL_CB_STOP);
	if (!found->len)
		errx(1, "the qdisc is not in the dump");
}

static void put_attr(struct blob *blob, uint16_t type, const void *data, unsigned int len)
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

/* ---- the model: what the header file says */

struct range {
	const char *name;
	uint64_t min, max, initial;
	unsigned int len;
	bool or_zero;
	bool derived;	/* its default depends on other values */
};

#define BYTES_MAX (1U << 30)

static const struct range ranges[TCA_NDP_MAX + 1] = {
	[TCA_NDP_LIMIT] = { "limit", 1, 65535, 8, 4, false, false },
	[TCA_NDP_LIMIT_BYTES] = { "limit_bytes", 64, BYTES_MAX, 0, 4, true, false },
	[TCA_NDP_HLIMIT] = { "hlimit", 64, BYTES_MAX, 0, 4, false, true },
	[TCA_NDP_RATIO] = { "ratio", 1, 100000, 10, 4, false, false },
	[TCA_NDP_TRIM_SIZE] = { "trim_size", 64, 9216, 128, 4, false, false },
	[TCA_NDP_MODE] = { "mode", 0, TC_NDP_MODE_MAX, TC_NDP_MODE_NDP, 1, false, false },
	[TCA_NDP_MATCH] = { "match", 0, TC_NDP_MATCH_MAX, TC_NDP_MATCH_UDP_PORT, 1, false, false },
	[TCA_NDP_DSCP_MASK] = { "dscp", 1, UINT64_MAX, 0, 8, false, false },
	[TCA_NDP_UDP_PORT] = { "udp_port", 1, 65535, NDP_UDP_PORT, 2, false, false },
	[TCA_NDP_DSCP_TRIMMED] = { "dscp_trimmed", 0, 63, 48, 1, false, false },
	[TCA_NDP_RTS] = { "rts", 0, 1, 1, 1, false, false },
	[TCA_NDP_DSCP_RETURNED] = { "dscp_returned", 0, 63, 49, 1, false, false },
	[TCA_NDP_RATE] = { "rate", 125, 1ULL << 40, 0, 8, true, false },
	[TCA_NDP_OVERHEAD] = { "overhead", 0, 256, 0, 4, false, false },
	[TCA_NDP_OTHER_LIMIT] = { "other_limit", 64, BYTES_MAX, 0, 4, false, true },
	[TCA_NDP_OTHER_ECN] = { "other_ecn", 0, BYTES_MAX, 0, 4, false, false },
};

struct model {
	uint64_t v[TCA_NDP_MAX + 1];
	bool given[TCA_NDP_MAX + 1];	/* by the change at hand */
	bool known[TCA_NDP_MAX + 1];	/* not derived */
	bool valid;
};

static void model_init(struct model *m)
{
	unsigned int i;

	memset(m, 0, sizeof(*m));
	for (i = 1; i <= TCA_NDP_MAX; i++) {
		m->v[i] = ranges[i].initial;
		m->known[i] = ranges[i].name && !ranges[i].derived;
	}
}

static bool in_range(const struct range *r, uint64_t v)
{
	return (r->or_zero && !v) || (v >= r->min && v <= r->max);
}

static bool model_consistent(const struct model *m)
{
	uint64_t trimmed = m->v[TCA_NDP_DSCP_TRIMMED], returned = m->v[TCA_NDP_DSCP_RETURNED];
	uint64_t match = m->v[TCA_NDP_MATCH], mask = m->v[TCA_NDP_DSCP_MASK];

	if (trimmed == returned)
		return false;
	if (m->given[TCA_NDP_UDP_PORT] && match != TC_NDP_MATCH_UDP_PORT)
		return false;
	if (match != TC_NDP_MATCH_DSCP)
		return !m->given[TCA_NDP_DSCP_MASK];
	return mask && !(mask & (1ULL << trimmed | 1ULL << returned));
}

/* Is it dumped in this configuration? */
static bool model_shows(const struct model *m, unsigned int type)
{
	if (type == TCA_NDP_UDP_PORT)
		return m->v[TCA_NDP_MATCH] == TC_NDP_MATCH_UDP_PORT;
	if (type == TCA_NDP_DSCP_MASK)
		return m->v[TCA_NDP_MATCH] == TC_NDP_MATCH_DSCP;
	return m->known[type];
}

static uint64_t read_value(const struct nlattr *attr)
{
	uint64_t v = 0;

	memcpy(&v, mnl_attr_get_payload(attr),
	       mnl_attr_get_payload_len(attr) < 8 ? mnl_attr_get_payload_len(attr) : 8);
	return v;
}

static bool model_matches(const struct model *m, const struct blob *dumped)
{
	bool seen[TCA_NDP_MAX + 1] = { false };
	const struct nlattr *attr;
	unsigned int type;

	mnl_attr_for_each_payload((const void *)dumped->b, dumped->len) {
		type = mnl_attr_get_type(attr);
		if (type > TCA_NDP_MAX || !ranges[type].name)
			continue;
		seen[type] = true;
		if (!m->known[type] || read_value(attr) == m->v[type])
			continue;
		fprintf(stderr, "%s reads back as %llu, not %llu\n", ranges[type].name,
			(unsigned long long)read_value(attr),
			(unsigned long long)m->v[type]);
		return false;
	}
	for (type = 1; type <= TCA_NDP_MAX; type++) {
		if (ranges[type].name && model_shows(m, type) && !seen[type]) {
			fprintf(stderr, "%s is not in the dump\n", ranges[type].name);
			return false;
		}
	}
	return true;
}

/* ---- random changes */

static uint64_t random_value(const struct range *r)
{
	switch (below(12)) {
	case 0: return r->min;
	case 1: return r->max;
	case 2: return r->min - 1;
	case 3: return r->max + 1;
	case 4: return 0;
	case 5: return UINT64_MAX;
	case 6: return random64();
	default: return r->min + random64() % (r->max - r->min ? r->max - r->min : 1);
	}
}

static void add_sane(struct blob *blob, struct model *m)
{
	unsigned int type = 1 + below(TCA_NDP_OTHER_ECN);
	const struct range *r = &ranges[type];
	uint64_t v = random_value(r);

	/* of an attribute given twice the last one counts: not tried */
	if (m->given[type])
		return;
	if (r->len < 8)
		v &= (1ULL << (8 * r->len)) - 1;
	put_attr(blob, (uint16_t)type, &v, r->len);
	if (!in_range(r, v))
		m->valid = false;
	m->v[type] = v;
	m->given[type] = true;
	m->known[type] = true;
}

static void add_malformed(struct blob *blob, struct model *m)
{
	unsigned int type = 1 + below(TCA_NDP_OTHER_ECN), len = ranges[type].len;
	uint8_t junk[64];
	unsigned int i;

	for (i = 0; i < sizeof(junk); i++)
		junk[i] = (uint8_t)random64();
	m->valid = false;
	switch (below(4)) {
	case 0: /* a length that is not the type's */
		put_attr(blob, (uint16_t)type, junk, len + 1 + below(8));
		break;
	case 1:
		put_attr(blob, (uint16_t)type, junk, below(len));
		break;
	case 2: /* no such attribute */
		put_attr(blob, (uint16_t)(TCA_NDP_PAD + 1 + below(1000)), junk, below(64));
		break;
	default: /* nested, where nothing nests */
		put_attr(blob, (uint16_t)(type | NLA_F_NESTED), junk, len);
	}
}

static void random_change(struct blob *blob, struct model *m)
{
	unsigned int n = 1 + below(4);

	blob->len = 0;
	m->valid = true;
	memset(m->given, 0, sizeof(m->given));
	while (n--) {
		if (below(16))
			add_sane(blob, m);
		else
			add_malformed(blob, m);
	}
	if (!model_consistent(m))
		m->valid = false;
}

static void random_bytes(struct blob *blob)
{
	unsigned int i;

	blob->len = below(256);
	for (i = 0; i < blob->len; i++)
		blob->b[i] = below(3) ? (uint8_t)below(20) : (uint8_t)random64();
}

static void show(const char *why, const struct blob *blob)
{
	unsigned int i;

	fprintf(stderr, "%s (\"%s\"):", why, message);
	for (i = 0; i < blob->len; i++)
		fprintf(stderr, "%s%02x", i % 4 ? "" : " ", blob->b[i]);
	fprintf(stderr, "\n");
	exit(1);
}

static void check_refused(const struct blob *blob, const struct blob *before)
{
	struct blob after;

	if (!message[0])
		show("refused without a message", blob);
	dump_options(&after);
	if (after.len != before->len || memcmp(after.b, before->b, after.len))
		show("a refused change changed something", blob);
}

static void recreate(struct model *m)
{
	delete_qdisc();
	if (set_qdisc("ndp", NULL, NLM_F_CREATE | NLM_F_EXCL))
		errx(1, "cannot add the qdisc: %s", message);
	model_init(m);
}

static void fuzz(unsigned int count)
{
	unsigned int accepted = 0, i;
	struct blob blob, dumped;
	struct model now, next;

	recreate(&now);
	dump_options(&dumped);
	for (i = 0; i < count; i++) {
		bool structured = below(8);

		next = now;
		if (structured)
			random_change(&blob, &next);
		else
			random_bytes(&blob);
		if (set_qdisc("ndp", &blob, 0)) {
			check_refused(&blob, &dumped);
			if (structured && next.valid)
				show("refused, but is valid", &blob);
			continue;
		}
		accepted++;
		if (!structured) {
			recreate(&now);
			dump_options(&dumped);
			continue;
		}
		if (!next.valid)
			show("accepted, but is invalid", &blob);
		dump_options(&dumped);
		if (!model_matches(&next, &dumped))
			show("does not read back", &blob);
		now = next;
	}
	printf("%u changes, %u accepted\n", count, accepted);
	if (accepted < count / 10 || accepted > count * 9 / 10)
		errx(1, "that is not a good mix");
}

/* ---- load and unload */

static void load(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || syscall(SYS_finit_module, fd, "", 0))
		err(1, "load %s", path);
	close(fd);
}

/* The last packet of a deleted qdisc may still hold a reference: try for 10 s */
static void unload(void)
{
	int tries = 10000;

	while (syscall(SYS_delete_module, "sch_ndp", O_NONBLOCK)) {
		if ((errno != EAGAIN && errno != EBUSY) || !tries--)
			err(1, "unload sch_ndp");
		usleep(1000);
	}
}

static void reload(unsigned int count, const char *path)
{
	struct blob slow = { .len = 0 };
	uint64_t rate = 100000;
	unsigned int i;

	put_attr(&slow, TCA_NDP_RATE, &rate, sizeof(rate));
	for (i = 0; i < count; i++) {
		load(path);
		if (set_qdisc("ndp", &slow, NLM_F_CREATE | NLM_F_REPLACE))
			errx(1, "cannot add the qdisc: %s", message);
		usleep(500 + below(3000));
		if (i % 2 ? delete_qdisc() :
		    set_qdisc("pfifo", NULL, NLM_F_CREATE | NLM_F_REPLACE))
			errx(1, "cannot remove the qdisc: %s", message);
		unload();
	}
	printf("%u times loaded and unloaded\n", count);
}

static void enter_ns(const char *ns)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", ns);
	fd = open(path, O_RDONLY);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		err(2, "network namespace %s", ns);
	close(fd);
}

static void open_netlink(void)
{
	int on = 1;

	nl = mnl_socket_open(NETLINK_ROUTE);
	if (!nl || mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) < 0)
		err(2, "netlink socket");
	if (mnl_socket_setsockopt(nl, NETLINK_EXT_ACK, &on, sizeof(on)))
		err(2, "NETLINK_EXT_ACK");
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *dev = "";
	unsigned int count = 1000;
	int opt;

	state = 88172645463325252ULL;
	optind = 2;
	while ((opt = getopt(argc, argv, "n:i:c:s:")) != -1) {
		if (opt == 'n')
			enter_ns(optarg);
		else if (opt == 'i')
			dev = optarg;
		else if (opt == 'c')
			count = (unsigned int)atoi(optarg);
		else if (opt == 's')
			state ^= strtoull(optarg, NULL, 0) << 20;
		else
			return 2;
	}
	ifindex = if_nametoindex(dev);
	if (!ifindex)
		errx(2, "no device %s", dev);
	open_netlink();
	if (!strcmp(what, "fuzz"))
		fuzz(count);
	else if (!strcmp(what, "reload") && optind < argc)
		reload(count, argv[optind]);
	else
		errx(2, "usage: ndp_netlink fuzz|reload -i DEV [OPTION...] [MODULE]");
	return 0;
}
