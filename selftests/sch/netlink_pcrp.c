// SPDX-License-Identifier: GPL-2.0-only
/* Model of sch_pcrp's configuration, written from pkt_sched_pcrp.h */
#include <stdio.h>
#include <string.h>

#include <linux/pkt_sched_pcrp.h>

#include "qdisc_netlink.h"

/* Qdisc-specific values: thresholds, then the map */
#define SPECS (TC_PCRP_SPEC_PRIOS - 1)
#define SPEC(i) (ATTRS_MAX + (i))
#define MAP(i) (ATTRS_MAX + SPECS + (i))
#define FLOWS 16384
#define SPEC_MAX (1ULL << 40)
#define LEAVE 255	/* the priority is not in the map */

static const struct range pcrp_ranges[TCA_PCRP_MAX + 1] = {
	[TCA_PCRP_LIMIT] = { "limit", 1, 1000000, 10000, 4, false, false },
	[TCA_PCRP_FLOWS] = { "flows", 16, 65536, FLOWS, 4, false, false },
	[TCA_PCRP_CHAIN] = { "chain", 256, 1 << 30, 0, 4, true, false },
	[TCA_PCRP_FIRST] = { "first", 256, 1 << 30, 0, 4, true, false },
	[TCA_PCRP_GRANTS] = { "grants", 1, 64, 8, 4, false, false },
	[TCA_PCRP_EVICT] = { "evict", 0, 1, 1, 4, false, false },
	[TCA_PCRP_MFWT_MODE] = { "mfwt", 0, 2, TC_PCRP_MFWT_AUTO, 4, false, false },
	[TCA_PCRP_MFWT] = { "mfwt time", 1, 10000000, 0, 4, false, false },
	[TCA_PCRP_EU] = { "eu", 0, 1, 0, 4, false, false },
	[TCA_PCRP_SRPT] = { "srpt", 0, 1, 1, 4, false, false },
	[TCA_PCRP_HOLD] = { "hold", 1000, 10000000, 100000, 4, false, false },
	[TCA_PCRP_WINDOW] = { "window", 0, 1000, 0, 4, false, false },
	[TCA_PCRP_RATE] = { "rate", 125, 1ULL << 40, 0, 8, true, false },
	[TCA_PCRP_OVERHEAD] = { "overhead", 0, 256, 0, 4, false, false },
};

static void pcrp_init(struct model *m)
{
	static const uint8_t map[TC_PCRP_PRIOS] = { 56, 48, 40, 32, 24, 16, 8, 1 };
	unsigned int i;

	for (i = 0; i < TC_PCRP_PRIOS; i++)
		m->v[MAP(i)] = map[i];
	m->known[TCA_PCRP_MAP] = true;
	m->known[TCA_PCRP_SPEC] = true;
}

static bool spec_valid(const uint64_t *spec)
{
	return spec[0] && spec[0] <= spec[1] && spec[1] <= spec[2] && spec[2] <= SPEC_MAX;
}

static bool pcrp_consistent(const struct model *m)
{
	bool timed = m->v[TCA_PCRP_MFWT_MODE] == TC_PCRP_MFWT_TIME;

	/* the number of flows cannot change */
	if (m->v[TCA_PCRP_FLOWS] != FLOWS)
		return false;
	return timed ? m->v[TCA_PCRP_MFWT] : !m->given[TCA_PCRP_MFWT];
}

static bool pcrp_shows(const struct model *m, unsigned int type)
{
	return type != TCA_PCRP_MFWT || m->v[TCA_PCRP_MFWT_MODE] == TC_PCRP_MFWT_TIME;
}

/* ---- non-numeric attributes */

/* Add no thresholds, all three, or fewer. */
static void add_spec(struct blob *blob, struct model *m)
{
	static const struct range size = { "spec", 1, SPEC_MAX, 0, 8, false, false };
	unsigned int i, how = below(4), count = how ? below(8) ? SPECS : 1 + below(SPECS - 1) : 0;
	struct blob nest = { .len = 0 };
	uint64_t spec[SPECS] = { 0 };

	for (i = 0; i < count; i++) {
		spec[i] = how == 1 ? random_value(&size) : 1 + i * 1000 + below(2000);
		put_attr(&nest, (uint16_t)(TCA_PCRP_SPEC_P0 + i), &spec[i], sizeof(spec[i]));
	}
	if (count && !spec_valid(spec))
		m->valid = false;
	for (i = 0; i < SPECS; i++)
		m->v[SPEC(i)] = spec[i];
	put_attr(blob, TCA_PCRP_SPEC | NLA_F_NESTED, nest.b, nest.len);
}

static void add_map(struct blob *blob, struct model *m)
{
	unsigned int i, wrong = below(4) ? TC_PCRP_PRIOS : below(TC_PCRP_PRIOS);
	struct blob nest = { .len = 0 };
	uint32_t dscp;

	for (i = 0; i < TC_PCRP_PRIOS; i++) {
		m->v[MAP(i)] = LEAVE;
		if (i != wrong && !below(8))
			continue;
		dscp = i == wrong ? 64 + below(1000) : below(64);
		m->v[MAP(i)] = dscp;
		put_attr(&nest, (uint16_t)(TCA_PCRP_MAP_P0 + i), &dscp, sizeof(dscp));
	}
	if (wrong < TC_PCRP_PRIOS)
		m->valid = false;
	put_attr(blob, TCA_PCRP_MAP | NLA_F_NESTED, nest.b, nest.len);
}

static void pcrp_add_other(struct blob *blob, struct model *m, unsigned int type)
{
	if (type == TCA_PCRP_SPEC)
		add_spec(blob, m);
	else
		add_map(blob, m);
	m->given[type] = true;
}

static bool pcrp_other_matches(const struct model *m, const struct nlattr *attr,
			       struct model *seen)
{
	bool is_map = mnl_attr_get_type(attr) == TCA_PCRP_MAP;
	unsigned int i, n = is_map ? TC_PCRP_PRIOS : SPECS;
	uint64_t v[TC_PCRP_PRIOS];
	const struct nlattr *one;

	(void)seen;
	for (i = 0; i < n; i++)
		v[i] = is_map ? LEAVE : 0;
	mnl_attr_for_each_nested(one, attr) {
		if (!is_map && mnl_attr_get_type(one) == TCA_PCRP_SPEC_PAD)
			continue;
		i = mnl_attr_get_type(one) - 1U;	/* P0 is 1 in either */
		if (i >= n || mnl_attr_get_payload_len(one) != (is_map ? 4 : 8))
			return false;
		v[i] = is_map ? mnl_attr_get_u32(one) : mnl_attr_get_u64(one);
	}
	for (i = 0; i < n; i++) {
		if (v[i] == m->v[is_map ? MAP(i) : SPEC(i)])
			continue;
		fprintf(stderr, "%s does not read back\n", is_map ? "map" : "spec");
		return false;
	}
	return true;
}

const struct kind pcrp_kind = {
	.name = "pcrp",
	.ranges = pcrp_ranges,
	.last = TCA_PCRP_OVERHEAD,
	.unknown = TCA_PCRP_PAD + 1,
	.rate = TCA_PCRP_RATE,
	.consistent = pcrp_consistent,
	.shows = pcrp_shows,
	.init = pcrp_init,
	.add_other = pcrp_add_other,
	.other_matches = pcrp_other_matches,
};
