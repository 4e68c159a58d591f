// SPDX-License-Identifier: GPL-2.0-only
/* What pkt_sched_dcqcn.h says of sch_dcqcn's configuration */
#include <stdio.h>
#include <string.h>

#include <linux/pkt_sched_dcqcn.h>

#include "qdisc_netlink.h"

/* Own values: of each priority by its attribute, and of the map */
#define OWN(prio, type) (ATTRS_MAX + (prio) * (TCA_DCQCN_PRIO_MAX + 1) + (type))
#define MAP(i) (OWN(TC_DCQCN_PRIOS, 0) + (i))
#define TRUSTED MAP(TC_DCQCN_MAP_LEN)	/* what was, before the change at hand */
#define QUANTUM 3028

static const struct range dcqcn_ranges[TCA_DCQCN_MAX + 1] = {
	[TCA_DCQCN_LIMIT] = { "limit", 64, 1 << 30, 4 << 20, 4, false, false },
	[TCA_DCQCN_KMIN] = { "kmin", 0, 1 << 30, 5 << 10, 4, false, false },
	[TCA_DCQCN_KMAX] = { "kmax", 0, 1 << 30, 200 << 10, 4, false, false },
	[TCA_DCQCN_PMAX] = { "pmax", 0, UINT32_MAX, 0, 4, false, true },
	[TCA_DCQCN_NONECT] = { "nonect", 0, 1, 0, 1, false, false },
	[TCA_DCQCN_TRUST] = { "trust", 0, 2, TC_DCQCN_TRUST_DSCP, 1, false, false },
	[TCA_DCQCN_SCHED] = { "sched", 0, 1, TC_DCQCN_SCHED_STRICT, 1, false, false },
	[TCA_DCQCN_RATE] = { "rate", 125, 1ULL << 40, 0, 8, true, false },
	[TCA_DCQCN_OVERHEAD] = { "overhead", 0, 256, 0, 4, false, false },
	[TCA_DCQCN_STALL] = { "stall", 1000, 60000000, 100000, 4, true, false },
	[TCA_DCQCN_STALL_DROP] = { "stall_drop", 0, 1, 0, 1, false, false },
	/* of the pool: not there without one */
	[TCA_DCQCN_POOL_BUFFER] = { "buffer", 64, 1 << 30, 0, 4, false, true },
	[TCA_DCQCN_POOL_HEADROOM] = { "headroom", 64, 1 << 30, 0, 4, true, true },
	[TCA_DCQCN_POOL_CABLE] = { "cable", 0, 10000000, 0, 4, false, true },
	[TCA_DCQCN_POOL_XOFF_MODE] = { "xoff", 0, 2, 0, 1, false, true },
	[TCA_DCQCN_POOL_XOFF] = { "xoff bytes", 64, 1 << 30, 0, 4, false, true },
	[TCA_DCQCN_POOL_BETA] = { "beta", 1, 128, 0, 4, false, true },
	[TCA_DCQCN_POOL_PFC] = { "pfc", 0, UINT8_MAX, 0, 1, false, true },
};

static const struct range prio_ranges[TCA_DCQCN_PRIO_MAX + 1] = {
	[TCA_DCQCN_PRIO_INDEX] = { "prio", 0, 7, 0, 1, false, false },
	[TCA_DCQCN_PRIO_KMIN] = { "kmin", 0, 1 << 30, 0, 4, false, false },
	[TCA_DCQCN_PRIO_KMAX] = { "kmax", 0, 1 << 30, 0, 4, false, false },
	[TCA_DCQCN_PRIO_PMAX] = { "pmax", 0, UINT32_MAX, 0, 4, false, false },
	[TCA_DCQCN_PRIO_QUANTUM] = { "quantum", 64, 1 << 20, QUANTUM, 4, false, false },
};

/* The map that goes with what is trusted */
static void default_map(struct model *m)
{
	bool pcp = m->v[TCA_DCQCN_TRUST] == TC_DCQCN_TRUST_PCP;
	unsigned int i;

	for (i = 0; i < TC_DCQCN_MAP_LEN; i++)
		m->v[MAP(i)] = !pcp ? i >> 3 : i < TC_DCQCN_PRIOS ? i : 0;
	m->known[TCA_DCQCN_MAP] = true;
}

/* What holds for a priority: its own value, or that of all */
static uint64_t dcqcn_value(const struct model *m, unsigned int prio, unsigned int type)
{
	static const unsigned int of_all[] = {
		[TCA_DCQCN_PRIO_KMIN] = TCA_DCQCN_KMIN,
		[TCA_DCQCN_PRIO_KMAX] = TCA_DCQCN_KMAX,
		[TCA_DCQCN_PRIO_PMAX] = TCA_DCQCN_PMAX,
	};

	if (m->known[OWN(prio, type)])
		return m->v[OWN(prio, type)];
	return type == TCA_DCQCN_PRIO_QUANTUM ? QUANTUM : m->v[of_all[type]];
}

static bool dcqcn_consistent(const struct model *m)
{
	unsigned int prio;

	for (prio = 0; prio < TC_DCQCN_PRIOS; prio++)
		if (dcqcn_value(m, prio, TCA_DCQCN_PRIO_KMIN) >
		    dcqcn_value(m, prio, TCA_DCQCN_PRIO_KMAX))
			return false;
	if (m->given[TCA_DCQCN_MAP] && m->v[TCA_DCQCN_TRUST] == TC_DCQCN_TRUST_PRIORITY)
		return false;
	return m->v[TCA_DCQCN_KMIN] <= m->v[TCA_DCQCN_KMAX];
}

static bool dcqcn_shows(const struct model *m, unsigned int type)
{
	if (type == TCA_DCQCN_MAP)
		return m->v[TCA_DCQCN_TRUST] != TC_DCQCN_TRUST_PRIORITY;
	if (type == TCA_DCQCN_POOL_XOFF)
		return m->known[TCA_DCQCN_POOL_XOFF_MODE] &&
		       m->v[TCA_DCQCN_POOL_XOFF_MODE] == TC_DCQCN_XOFF_STATIC;
	return true;
}

/* A change of what is trusted changes the map, too, if that is not given. */
static void dcqcn_settle(struct model *m)
{
	bool pcp = m->v[TCA_DCQCN_TRUST] == TC_DCQCN_TRUST_PCP;
	unsigned int i;

	if (!m->given[TCA_DCQCN_MAP]) {
		if (m->v[TCA_DCQCN_TRUST] != m->v[TRUSTED])
			default_map(m);
	} else if (pcp) {
		for (i = TC_DCQCN_PRIOS; i < TC_DCQCN_MAP_LEN; i++)
			m->v[MAP(i)] = 0;
	}
	m->v[TRUSTED] = m->v[TCA_DCQCN_TRUST];
}

/* ---- attributes that are no numbers */

static void set_value(struct model *m, unsigned int at, uint64_t v)
{
	m->v[at] = v;
	m->known[at] = true;
}

static void add_map(struct blob *blob, struct model *m)
{
	uint8_t map[TC_DCQCN_MAP_LEN];
	unsigned int i;

	for (i = 0; i < TC_DCQCN_MAP_LEN; i++)
		map[i] = (uint8_t)below(TC_DCQCN_PRIOS);
	if (!below(4)) {
		map[below(TC_DCQCN_PRIOS)] = TC_DCQCN_PRIOS;
		m->valid = false;
	}
	for (i = 0; i < TC_DCQCN_MAP_LEN; i++)
		m->v[MAP(i)] = map[i];
	m->given[TCA_DCQCN_MAP] = true;
	put_attr(blob, TCA_DCQCN_MAP, map, sizeof(map));
}

static void add_prio(struct blob *blob, struct model *m)
{
	unsigned int prio = below(TC_DCQCN_PRIOS + !below(4)), type, n = below(4);
	struct blob nest = { .len = 0 };
	uint8_t index = (uint8_t)prio;
	uint64_t v;

	if (prio == TC_DCQCN_PRIOS)
		m->valid = false;
	put_attr(&nest, TCA_DCQCN_PRIO_INDEX, &index, 1);
	/* what it does not give is the priority's own no more */
	for (type = TCA_DCQCN_PRIO_KMIN;
	     type <= TCA_DCQCN_PRIO_MAX && prio < TC_DCQCN_PRIOS; type++) {
		m->known[OWN(prio, type)] = false;
		m->given[OWN(prio, type)] = false;
	}
	while (n--) {
		type = TCA_DCQCN_PRIO_KMIN + below(TCA_DCQCN_PRIO_MAX - 1);
		if (prio < TC_DCQCN_PRIOS && m->given[OWN(prio, type)])
			continue;
		v = random_value(&prio_ranges[type]);
		put_attr(&nest, (uint16_t)type, &v, prio_ranges[type].len);
		if (prio == TC_DCQCN_PRIOS)
			continue;
		if (!in_range(&prio_ranges[type], v))
			m->valid = false;
		set_value(m, OWN(prio, type), v);
		m->given[OWN(prio, type)] = true;
	}
	put_attr(blob, TCA_DCQCN_PRIO | NLA_F_NESTED, nest.b, nest.len);
}

/* A name that is one, mostly; whether the pool can be had depends on its buffer. */
static void add_pool(struct blob *blob, struct model *m)
{
	static const char name[] = "sixteen_letters_";
	uint8_t len = (uint8_t)(below(8) ? 3 : below(2) ? 0 : TC_DCQCN_POOL_NAME_MAX + 1);

	put_attr(blob, TCA_DCQCN_POOL, name + sizeof(name) - 1 - len, len + 1U);
	m->given[TCA_DCQCN_POOL] = true;
	m->unsure = true;
	if (len != 3)
		m->valid = false;
	else
		m->known[TCA_DCQCN_POOL] = true;
}

static void dcqcn_add_other(struct blob *blob, struct model *m, unsigned int type)
{
	if (type == TCA_DCQCN_MAP)
		add_map(blob, m);
	else if (type == TCA_DCQCN_PRIO)
		add_prio(blob, m);
	else
		add_pool(blob, m);
}

static bool map_matches(const struct model *m, const struct nlattr *attr)
{
	const uint8_t *map = mnl_attr_get_payload(attr);
	unsigned int i;

	if (mnl_attr_get_payload_len(attr) != TC_DCQCN_MAP_LEN)
		return false;
	for (i = 0; i < TC_DCQCN_MAP_LEN; i++)
		if (map[i] != m->v[MAP(i)])
			return false;
	return true;
}

static bool dcqcn_other_matches(const struct model *m, const struct nlattr *attr,
				struct model *seen)
{
	unsigned int prio = TC_DCQCN_PRIOS, type;
	const struct nlattr *own;

	if (mnl_attr_get_type(attr) == TCA_DCQCN_MAP && !map_matches(m, attr)) {
		fprintf(stderr, "the map does not read back\n");
		return false;
	}
	if (mnl_attr_get_type(attr) != TCA_DCQCN_PRIO)
		return true;
	mnl_attr_for_each_nested(own, attr) {
		type = mnl_attr_get_type(own);
		if (type == TCA_DCQCN_PRIO_INDEX)
			prio = (unsigned int)read_value(own);
		else if (type <= TCA_DCQCN_PRIO_MAX && prio < TC_DCQCN_PRIOS)
			set_value(seen, OWN(prio, type), read_value(own));
	}
	return prio < TC_DCQCN_PRIOS;
}

/* Has each priority the value that it should have? */
static bool dcqcn_all_seen(const struct model *m, const struct model *seen)
{
	unsigned int prio, type;

	for (prio = 0; prio < TC_DCQCN_PRIOS; prio++) {
		for (type = TCA_DCQCN_PRIO_KMIN; type <= TCA_DCQCN_PRIO_MAX; type++) {
			uint64_t v = dcqcn_value(m, prio, type), is;

			if (type == TCA_DCQCN_PRIO_PMAX && !m->known[TCA_DCQCN_PMAX])
				continue;
			is = seen->known[OWN(prio, type)] ? seen->v[OWN(prio, type)] : v;
			if (is == v && (seen->known[OWN(prio, type)] || !m->known[OWN(prio, type)]))
				continue;
			fprintf(stderr, "priority %u: %s is %llu, not %llu\n", prio,
				prio_ranges[type].name, (unsigned long long)is,
				(unsigned long long)v);
			return false;
		}
	}
	return true;
}

const struct kind dcqcn_kind = {
	.name = "dcqcn",
	.ranges = dcqcn_ranges,
	.last = TCA_DCQCN_POOL_PFC,
	.unsure = TCA_DCQCN_POOL,
	.unknown = TCA_DCQCN_PAD + 1,
	.rate = TCA_DCQCN_RATE,
	.consistent = dcqcn_consistent,
	.shows = dcqcn_shows,
	.init = default_map,
	.settle = dcqcn_settle,
	.add_other = dcqcn_add_other,
	.other_matches = dcqcn_other_matches,
	.all_seen = dcqcn_all_seen,
};
