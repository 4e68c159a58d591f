// SPDX-License-Identifier: GPL-2.0-only
/*
 * qdisc_netlink: configure a closnet qdisc or action by raw netlink, in ways that tc(8) cannot
 *
 * qdisc_netlink fuzz -k KIND [-n NS] -i DEV [-c COUNT] [-s SEED]
 *	Sends COUNT random changes, valid and malformed, to the qdisc KIND at the
 *	root of DEV, or to an action. A model, written from the header file, determines whether
 *	each change must be accepted. A refused change must have an error message
 *	and leave the configuration unchanged; an accepted one must read back.
 * qdisc_netlink reload -k KIND [-n NS] -i DEV [-c COUNT] MODULE.ko
 *	COUNT times: load the module, put its qdisc at the root of DEV for a few
 *	milliseconds, delete or replace the qdisc, unload the module.
 *
 * Exit status 0: passed; 1: failed; 2: usage or set-up error.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "qdisc_netlink.h"

#define HANDLE_KIND (1U << 16)
#define HANDLE_OTHER (2U << 16)

static const struct kind *kind;
static unsigned int ifindex;

/* ---- requests */

static struct nlmsghdr *start(uint8_t *buf, uint16_t type, uint16_t flags,
			      const char *name)
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
		tc->tcm_handle = strcmp(name, kind->name) ? HANDLE_OTHER : HANDLE_KIND;
	if (name)
		mnl_attr_put_strz(nlh, TCA_KIND, name);
	return nlh;
}

static struct nlmsghdr *start_action(uint8_t *buf, uint16_t type, uint16_t flags)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	mnl_nlmsg_put_extra_header(nlh, sizeof(struct tcamsg));
	return nlh;
}

/* Create, replace, delete or get the action; @options: NULL if it is not created */
static struct nlmsghdr *action_message(uint8_t *buf, uint16_t type, uint16_t flags,
				       const struct blob *options)
{
	struct nlmsghdr *nlh = start_action(buf, type, flags);
	struct nlattr *tab = mnl_attr_nest_start(nlh, TCA_ACT_TAB);
	struct nlattr *first = mnl_attr_nest_start(nlh, 1);

	mnl_attr_put_strz(nlh, TCA_ACT_KIND, kind->name);
	if (options)
		mnl_attr_put(nlh, TCA_ACT_OPTIONS | NLA_F_NESTED, options->len, options->b);
	else
		mnl_attr_put_u32(nlh, TCA_ACT_INDEX, ACTION_INDEX);
	mnl_attr_nest_end(nlh, first);
	mnl_attr_nest_end(nlh, tab);
	return nlh;
}

static int set_action(const struct blob *options)
{
	uint8_t buf[BLOB_MAX + 1024];
	const uint16_t flags = NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE;

	return request(action_message(buf, RTM_NEWACTION, flags, options));
}

static int set_qdisc(const char *name, const struct blob *options, uint16_t flags)
{
	uint8_t buf[BLOB_MAX + 1024];
	struct nlmsghdr *nlh = start(buf, RTM_NEWQDISC, flags, name);

	if (options)
		mnl_attr_put(nlh, TCA_OPTIONS | NLA_F_NESTED, options->len, options->b);
	return request(nlh);
}

static int delete_qdisc(void)
{
	uint8_t buf[1024];

	return request(start(buf, RTM_DELQDISC, 0, NULL));
}

static int set_options(const struct blob *options)
{
	return kind->add_base ? set_action(options) : set_qdisc(kind->name, options, 0);
}

static int catch_options(const struct nlmsghdr *nlh, void *data)
{
	const struct tcmsg *tc = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *attr, *options = NULL;
	struct blob *found = data;
	bool ours = false;

	mnl_attr_for_each(attr, nlh, sizeof(*tc)) {
		if (mnl_attr_get_type(attr) == TCA_KIND)
			ours = !strcmp(mnl_attr_get_str(attr), kind->name);
		if (mnl_attr_get_type(attr) == TCA_OPTIONS)
			options = attr;
	}
	if (ours && options && tc->tcm_ifindex == (int)ifindex) {
		found->len = mnl_attr_get_payload_len(options);
		memcpy(found->b, mnl_attr_get_payload(options), found->len);
	}
	return MNL_CB_OK;
}

/* Copy the options of an action: of TCA_ACT_TAB, of its first element, of that TCA_ACT_OPTIONS */
static void copy_action_options(const struct nlattr *tab, struct blob *found)
{
	const struct nlattr *element, *part, *option;

	mnl_attr_for_each_nested(element, tab) {
		mnl_attr_for_each_nested(part, element) {
			if (mnl_attr_get_type(part) != TCA_ACT_OPTIONS)
				continue;
			mnl_attr_for_each_nested(option, part)
				if (!kind->is_state(mnl_attr_get_type(option)))
					put_attr(found, option->nla_type,
						 mnl_attr_get_payload(option),
						 mnl_attr_get_payload_len(option));
		}
	}
}

static int catch_action(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, sizeof(struct tcamsg))
		if (mnl_attr_get_type(attr) == TCA_ACT_TAB)
			copy_action_options(attr, data);
	return MNL_CB_OK;
}

static void get_action(struct blob *found)
{
	uint8_t buf[16384];
	struct nlmsghdr *nlh = action_message(buf, RTM_GETACTION, 0, NULL);
	ssize_t n;

	if (mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0)
		err(2, "netlink send");
	n = mnl_socket_recvfrom(nl, buf, sizeof(buf));
	if (n < 0 || mnl_cb_run(buf, (size_t)n, 0, 0, catch_action, found) < 0)
		err(2, "netlink receive");
}

static void dump_qdisc(struct blob *found)
{
	uint8_t buf[16384];
	struct nlmsghdr *nlh = start(buf, RTM_GETQDISC, NLM_F_DUMP, NULL);
	ssize_t n;

	nlh->nlmsg_flags &= (uint16_t)~NLM_F_ACK;
	if (mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0)
		err(2, "netlink send");
	do {
		n = mnl_socket_recvfrom(nl, buf, sizeof(buf));
		if (n < 0)
			err(2, "netlink receive");
	} while (mnl_cb_run(buf, (size_t)n, 0, 0, catch_options, found) > MNL_CB_STOP);
}

static void dump_options(struct blob *found)
{
	found->len = 0;
	if (kind->add_base)
		get_action(found);
	else
		dump_qdisc(found);
	if (!found->len)
		errx(1, "%s is not in the dump", kind->name);
}

/* ---- the model */

bool in_range(const struct range *r, uint64_t v)
{
	return (r->or_zero && !v) || (v >= r->min && v <= r->max);
}

uint64_t read_value(const struct nlattr *attr)
{
	uint64_t v = 0;

	memcpy(&v, mnl_attr_get_payload(attr),
	       mnl_attr_get_payload_len(attr) < 8 ? mnl_attr_get_payload_len(attr) : 8);
	return v;
}

static void model_init(struct model *m)
{
	unsigned int i;

	memset(m, 0, sizeof(*m));
	for (i = 1; i <= kind->last; i++) {
		m->v[i] = kind->ranges[i].initial;
		m->known[i] = kind->ranges[i].name && !kind->ranges[i].derived;
	}
	if (kind->init)
		kind->init(m);
}

static bool attr_matches(const struct model *m, const struct nlattr *attr, struct model *seen)
{
	unsigned int type = mnl_attr_get_type(attr);

	if (type > kind->last)
		return true;
	seen->known[type] = true;
	if (!kind->ranges[type].name)
		return !kind->other_matches || kind->other_matches(m, attr, seen);
	if (!m->known[type] || read_value(attr) == m->v[type])
		return true;
	fprintf(stderr, "%s reads back as %llu, not %llu\n", kind->ranges[type].name,
		(unsigned long long)read_value(attr), (unsigned long long)m->v[type]);
	return false;
}

static bool model_matches(const struct model *m, const struct blob *dumped)
{
	static struct model seen;
	const struct nlattr *attr;
	unsigned int type;

	memset(&seen, 0, sizeof(seen));
	mnl_attr_for_each_payload((const void *)dumped->b, dumped->len)
		if (!attr_matches(m, attr, &seen))
			return false;
	for (type = 1; type <= kind->last; type++) {
		if (m->known[type] && kind->shows(m, type) && !seen.known[type]) {
			fprintf(stderr, "attribute %u is not in the dump\n", type);
			return false;
		}
	}
	return !kind->all_seen || kind->all_seen(m, &seen);
}

/* ---- random changes */

uint64_t random_value(const struct range *r)
{
	uint64_t mask = r->len < 8 ? (1ULL << (8 * r->len)) - 1 : UINT64_MAX;
	const uint64_t edges[] = {
		r->min, r->max, r->min - 1, r->max + 1, 0, UINT64_MAX, random64(),
	};
	unsigned int n = below(12);

	if (n < sizeof(edges) / sizeof(edges[0]))
		return edges[n] & mask;
	return r->min + random64() % (r->max - r->min ? r->max - r->min : 1);
}

static void add_sane(struct blob *blob, struct model *m)
{
	unsigned int type = 1 + below(kind->last);
	const struct range *r = &kind->ranges[type];
	uint64_t v;

	/* no attribute is given twice */
	if (m->given[type])
		return;
	if (!r->name) {
		if (kind->add_other)
			kind->add_other(blob, m, type);
		return;
	}
	v = random_value(r);
	put_attr(blob, (uint16_t)type, &v, r->len);
	if (!in_range(r, v))
		m->valid = false;
	m->v[type] = v;
	m->given[type] = true;
	m->known[type] = true;
}

static void add_malformed(struct blob *blob, struct model *m)
{
	unsigned int type, len, i;
	uint8_t junk[64];

	do
		type = 1 + below(kind->last);
	while (!kind->ranges[type].name);
	len = kind->ranges[type].len;
	for (i = 0; i < sizeof(junk); i++)
		junk[i] = (uint8_t)random64();
	m->valid = false;
	switch (below(4)) {
	case 0: /* too long */
		put_attr(blob, (uint16_t)type, junk, len + 1 + below(8));
		break;
	case 1: /* too short */
		put_attr(blob, (uint16_t)type, junk, below(len));
		break;
	case 2: /* unknown attribute */
		put_attr(blob, (uint16_t)(kind->unknown + below(1000)), junk, below(64));
		break;
	default: /* nested flag on a number */
		put_attr(blob, (uint16_t)(type | NLA_F_NESTED), junk, len);
	}
}

static void random_change(struct blob *blob, struct model *m)
{
	unsigned int n = 1 + below(4);

	m->valid = true;
	m->unsure = false;
	memset(m->given, 0, sizeof(m->given));
	while (n--) {
		if (below(16))
			add_sane(blob, m);
		else
			add_malformed(blob, m);
	}
	if (kind->derive)
		kind->derive(m);
	if (!kind->consistent(m))
		m->valid = false;
}

static void random_bytes(struct blob *blob)
{
	unsigned int i;

	for (i = below(256); i; i--)
		blob->b[blob->len++] = below(3) ? (uint8_t)below(20) : (uint8_t)random64();
}

static void check_refused(const struct blob *blob, const struct blob *before)
{
	struct blob after;

	if (!message[0])
		show("refused without a message", blob);
	dump_options(&after);
	if (after.len != before->len || memcmp(after.b, before->b, after.len))
		show("a refused change changed the configuration", blob);
}

static void recreate(struct model *m)
{
	struct blob base = { .len = 0 };

	if (kind->add_base) {
		kind->add_base(&base);
		if (set_action(&base))
			errx(1, "cannot add the action: %s", message);
	} else {
		delete_qdisc();
		if (set_qdisc(kind->name, NULL, NLM_F_CREATE | NLM_F_EXCL))
			errx(1, "cannot add the qdisc: %s", message);
	}
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

		/* in virtual time, only a pause lets traffic run */
		if (!(i % 16))
			usleep(1000);
		next = now;
		blob.len = 0;
		/* a change of an action begins with the defaults */
		if (kind->add_base) {
			model_init(&next);
			kind->add_base(&blob);
		}
		if (structured)
			random_change(&blob, &next);
		else
			random_bytes(&blob);
		if (set_options(&blob)) {
			check_refused(&blob, &dumped);
			next.unsure |= kind->may_conflict && kind->may_conflict(&now, &next);
			if (structured && next.valid && !next.unsure)
				show("valid change refused", &blob);
			continue;
		}
		accepted++;
		if (!structured) {
			recreate(&now);
			dump_options(&dumped);
			continue;
		}
		if (!next.valid)
			show("invalid change accepted", &blob);
		dump_options(&dumped);
		if (!model_matches(&next, &dumped))
			show("accepted change does not read back", &blob);
		now = next;
	}
	printf("%u changes, %u accepted\n", count, accepted);
	if (accepted < count / 10 || accepted > count * 9 / 10)
		errx(1, "fewer than 10 %% or more than 90 %% of the changes were accepted");
}

/* ---- load and unload */

static void load(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || syscall(SYS_finit_module, fd, "", 0))
		err(1, "load %s", path);
	close(fd);
}

/* Unload the module. Retry for 10 s, as a packet of the deleted qdisc may hold a reference. */
static void unload(void)
{
	int tries = 10000;
	char module[32];

	snprintf(module, sizeof(module), "sch_%s", kind->name);
	while (syscall(SYS_delete_module, module, O_NONBLOCK)) {
		if ((errno != EAGAIN && errno != EBUSY) || !tries--)
			err(1, "unload %s", module);
		usleep(1000);
	}
}

static void reload(unsigned int count, const char *path)
{
	struct blob slow = { .len = 0 };
	uint64_t rate = 100000;
	unsigned int i;

	put_attr(&slow, (uint16_t)kind->rate, &rate, sizeof(rate));
	for (i = 0; i < count; i++) {
		load(path);
		if (set_qdisc(kind->name, &slow, NLM_F_CREATE | NLM_F_REPLACE))
			errx(1, "cannot add the qdisc: %s", message);
		usleep(500 + below(3000));
		if (i % 2 ? delete_qdisc() :
		    set_qdisc("pfifo", NULL, NLM_F_CREATE | NLM_F_REPLACE))
			errx(1, "cannot remove the qdisc: %s", message);
		unload();
	}
	printf("%u times loaded and unloaded\n", count);
}

static const struct kind *find_kind(const char *name)
{
	if (!strcmp(name, ndp_kind.name))
		return &ndp_kind;
	if (!strcmp(name, dcqcn_kind.name))
		return &dcqcn_kind;
	if (!strcmp(name, pcrp_kind.name))
		return &pcrp_kind;
	if (!strcmp(name, voq_kind.name))
		return &voq_kind;
	if (!strcmp(name, roce_kind.name))
		return &roce_kind;
	if (!strcmp(name, lb_kind.name))
		return &lb_kind;
	errx(2, "unknown kind \"%s\"", name);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *dev = "";
	unsigned int count = 1000;
	int opt;

	optind = 2;
	while ((opt = getopt(argc, argv, "k:n:i:c:s:")) != -1) {
		if (opt == 'k')
			kind = find_kind(optarg);
		else if (opt == 'n')
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
	ifindex = if_nametoindex(dev);
	if (!ifindex || !kind)
		errx(2, "unknown device \"%s\", or -k is missing", dev);
	open_netlink();
	if (!strcmp(what, "fuzz"))
		fuzz(count);
	else if (!strcmp(what, "reload") && optind < argc)
		reload(count, argv[optind]);
	else
		errx(2, "usage: qdisc_netlink fuzz|reload -k KIND -i DEV [OPTION...] [MODULE]");
	return 0;
}
