/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What qdisc_netlink has to know of a qdisc: its numbers with their ranges, and
 * what else a configuration must be, written from the header file of its
 * netlink interface
 */
#ifndef _SELFTESTS_QDISC_NETLINK_H
#define _SELFTESTS_QDISC_NETLINK_H

#include <stdbool.h>
#include <stdint.h>

#include "../lib/rtnl.h"

#define ATTRS_MAX 32
#define VALUES_MAX 160

/* An attribute that is a number; without a name: another kind of attribute */
struct range {
	const char *name;
	uint64_t min, max, initial;
	unsigned int len;
	bool or_zero;
	bool derived;	/* its default depends on other values */
};

/* A configuration. Values behind those of the attributes are the qdisc's own. */
struct model {
	uint64_t v[VALUES_MAX];
	bool given[VALUES_MAX];	/* by the change at hand */
	bool known[VALUES_MAX];	/* not derived */
	bool valid;
	bool unsure;	/* may be refused though it is valid */
};

/**
 * struct kind - a qdisc
 * @name: as tc knows it; its module is sch_NAME
 * @ranges: its attributes, @last + 1 of them
 * @last: the last attribute
 * @unknown: from here on no attribute is known
 * @rate: the attribute of the shaper, u64 bytes per second
 * @consistent: do the values of a change go together?
 * @shows: is the attribute dumped in this configuration?
 * @init: sets its own values; or NULL
 * @add_other: adds an attribute that is no number to a change; or NULL
 * @other_matches: does a dumped attribute that is no number read back? Or NULL
 * @all_seen: called last: has the dump had all of its own values? Or NULL
 */
struct kind {
	const char *name;
	const struct range *ranges;
	unsigned int last;
	unsigned int unknown;
	unsigned int rate;
	bool (*consistent)(const struct model *m);
	bool (*shows)(const struct model *m, unsigned int type);
	void (*init)(struct model *m);
	void (*add_other)(struct blob *blob, struct model *m, unsigned int type);
	bool (*other_matches)(const struct model *m, const struct nlattr *attr,
			      struct model *seen);
	bool (*all_seen)(const struct model *m, const struct model *seen);
};

extern const struct kind ndp_kind, dcqcn_kind, pcrp_kind;

uint64_t random_value(const struct range *r);
bool in_range(const struct range *r, uint64_t v);
uint64_t read_value(const struct nlattr *attr);

#endif
