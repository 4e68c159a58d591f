// SPDX-License-Identifier: GPL-2.0-only
/* Model of sch_dcqcn's configuration, written from tc-dcqcn(8) */
#include <stdio.h>
#include <string.h>

#include <linux/pkt_sched_dcqcn.h>

#include "qdisc_netlink.h"

#define NAME_MAX_LEN 15

/* Index of the value of a pool attribute */
#define POOL(type) (ATTRS_MAX + (type))

static const struct range dcqcn_ranges[TCA_DCQCN_MAX + 1] = {
	[TCA_DCQCN_LIMIT] = { "limit", 64, 1 << 30, 4 << 20, 4, false, false },
	[TCA_DCQCN_KMIN] = { "kmin", 0, 1 << 30, 5 << 10, 4, false, false },
	[TCA_DCQCN_KMAX] = { "kmax", 0, 1 << 30, 200 << 10, 4, false, false },
	[TCA_DCQCN_PMAX] = { "pmax", 0, UINT32_MAX, 0, 4, false, true },
	[TCA_DCQCN_NONECT] = { "nonect", 0, 1, 0, 4, false, false },
	[TCA_DCQCN_PRIO] = { "prio", 0, 8, TC_DCQCN_PRIO_PACKET, 4, false, false },
	[TCA_DCQCN_RATE] = { "rate", 125, 1ULL << 40, 0, 8, true, false },
	[TCA_DCQCN_OVERHEAD] = { "overhead", 0, 256, 0, 4, false, false },
	[TCA_DCQCN_STALL] = { "stall", 1000, 60000000, 100000, 4, true, false },
	[TCA_DCQCN_STALL_DROP] = { "stall_drop", 0, 1, 0, 4, false, false },
};

static const struct range pool_ranges[TCA_DCQCN_POOL_MAX + 1] = {
	[TCA_DCQCN_POOL_BUFFER] = { "buffer", 64, 1 << 30, 0, 4, false, true },
	[TCA_DCQCN_POOL_HEADROOM] = { "headroom", 64, 1 << 30, 0, 4, true, true },
	[TCA_DCQCN_POOL_CABLE] = { "cable", 0, 10000000, 0, 4, false, true },
	[TCA_DCQCN_POOL_XOFF_MODE] = { "xoff", 0, 2, 0, 4, false, true },
	[TCA_DCQCN_POOL_XOFF] = { "xoff bytes", 64, 1 << 30, 0, 4, false, true },
	[TCA_DCQCN_POOL_BETA] = { "beta", 1, 128, 0, 4, false, true },
	[TCA_DCQCN_POOL_PFC] = { "pfc", 0, UINT8_MAX, 0, 4, false, true },
};

static bool dcqcn_consistent(const struct model *m)
{
	return m->v[TCA_DCQCN_KMIN] <= m->v[TCA_DCQCN_KMAX];
}

/* All numeric attributes are dumped. */
static bool dcqcn_shows(const struct model *m, unsigned int type)
{
	(void)m;
	(void)type;
	return true;
}

/* Add a name to the pool, which is valid most of the time. */
static void add_name(struct blob *nest, struct model *m)
{
	static const char name[] = "sixteen_letters_";
	uint8_t len = (uint8_t)(below(8) ? 3 : below(2) ? 0 : NAME_MAX_LEN + 1);

	put_attr(nest, TCA_DCQCN_POOL_NAME, name + sizeof(name) - 1 - len, len + 1U);
	if (len != 3)
		m->valid = false;
	m->known[TCA_DCQCN_POOL] = true;
}

static void add_value(struct blob *nest, struct model *m, unsigned int type)
{
	uint64_t v = random_value(&pool_ranges[type]);

	put_attr(nest, (uint16_t)type, &v, pool_ranges[type].len);
	if (!in_range(&pool_ranges[type], v))
		m->valid = false;
	m->v[POOL(type)] = v;
	m->known[POOL(type)] = true;
	m->given[POOL(type)] = true;
}

/* A valid pool may be refused, depending on its buffer and on the previous pool. */
static void dcqcn_add_other(struct blob *blob, struct model *m, unsigned int type)
{
	struct blob nest = { .len = 0 };
	unsigned int n = below(4);

	if (below(4))
		add_name(&nest, m);
	while (n--) {
		type = TCA_DCQCN_POOL_BUFFER + below(TCA_DCQCN_POOL_MAX - TCA_DCQCN_POOL_NAME);
		if (!m->given[POOL(type)])
			add_value(&nest, m, type);
	}
	if (!below(16)) {	/* unknown attribute */
		put_attr(&nest, TCA_DCQCN_POOL_MAX + 1, "", 0);
		m->valid = false;
	}
	m->given[TCA_DCQCN_POOL] = true;
	m->unsure = true;
	put_attr(blob, TCA_DCQCN_POOL | NLA_F_NESTED, nest.b, nest.len);
}

static bool dcqcn_other_matches(const struct model *m, const struct nlattr *attr,
				struct model *seen)
{
	const struct nlattr *own;
	unsigned int type;

	mnl_attr_for_each_nested(own, attr) {
		type = mnl_attr_get_type(own);
		if (type > TCA_DCQCN_POOL_MAX || type == TCA_DCQCN_POOL_NAME)
			continue;
		seen->known[POOL(type)] = true;
		if (!m->known[POOL(type)] || read_value(own) == m->v[POOL(type)])
			continue;
		fprintf(stderr, "%s of the pool reads back as %llu, not %llu\n",
			pool_ranges[type].name, (unsigned long long)read_value(own),
			(unsigned long long)m->v[POOL(type)]);
		return false;
	}
	return true;
}

/* The size of xoff is dumped in mode static only. */
static bool dcqcn_all_seen(const struct model *m, const struct model *seen)
{
	unsigned int type;

	if (!m->known[TCA_DCQCN_POOL])
		return true;
	for (type = TCA_DCQCN_POOL_BUFFER; type <= TCA_DCQCN_POOL_MAX; type++) {
		if (seen->known[POOL(type)] || type == TCA_DCQCN_POOL_XOFF)
			continue;
		fprintf(stderr, "%s of the pool is not in the dump\n", pool_ranges[type].name);
		return false;
	}
	return true;
}

const struct kind dcqcn_kind = {
	.name = "dcqcn",
	.ranges = dcqcn_ranges,
	.last = TCA_DCQCN_POOL,
	.unknown = TCA_DCQCN_PAD + 1,
	.rate = TCA_DCQCN_RATE,
	.consistent = dcqcn_consistent,
	.shows = dcqcn_shows,
	.add_other = dcqcn_add_other,
	.other_matches = dcqcn_other_matches,
	.all_seen = dcqcn_all_seen,
};
