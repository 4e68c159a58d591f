/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * qdisc_netlink.h: model of a qdisc's or action's configuration, written from the header file
 * of its netlink interface: numeric attributes with ranges, and further conditions
 */
#ifndef _SELFTESTS_QDISC_NETLINK_H
#define _SELFTESTS_QDISC_NETLINK_H

#include <stdbool.h>
#include <stdint.h>

#include "../lib/rtnl.h"

#define ATTRS_MAX 32
#define VALUES_MAX 160
#define ACTION_INDEX 7

/* A numeric attribute; without a name: an attribute of another type */
struct range {
	const char *name;
	uint64_t min, max, initial;
	unsigned int len;
	bool or_zero;
	bool derived;	/* its default depends on other values */
};

/* A configuration. The values from ATTRS_MAX on are specific to the qdisc. */
struct model {
	uint64_t v[VALUES_MAX];
	bool given[VALUES_MAX];	/* in the current change */
	bool known[VALUES_MAX];	/* not derived */
	bool valid;
	bool unsure;	/* may be refused although it is valid */
};

/**
 * struct kind - a qdisc, or an action
 * @name: name in tc; the module is sch_NAME
 * @ranges: attributes, @last + 1 of them
 * @last: the last attribute
 * @unknown: the first unknown attribute
 * @rate: the attribute of the shaper, u64 bytes per second
 * @consistent: are the values of a change consistent?
 * @shows: is the attribute dumped in this configuration?
 * @init: set the qdisc-specific values; may be NULL
 * @derive: set the values that others of a change imply; may be NULL
 * @add_other: add a non-numeric attribute to a change; may be NULL
 * @other_matches: does a dumped non-numeric attribute read back? May be NULL
 * @all_seen: called last: does the dump have all qdisc-specific values? May be NULL
 * @add_base: an action: add the attributes that each request must have
 * @is_state: an action: is the attribute of a dump no option?
 * @may_conflict: may a change be refused although it is valid? May be NULL
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
	void (*derive)(struct model *m);
	void (*add_other)(struct blob *blob, struct model *m, unsigned int type);
	bool (*other_matches)(const struct model *m, const struct nlattr *attr,
			      struct model *seen);
	bool (*all_seen)(const struct model *m, const struct model *seen);
	void (*add_base)(struct blob *blob);
	bool (*is_state)(unsigned int type);
	bool (*may_conflict)(const struct model *now, const struct model *next);
};

extern const struct kind ndp_kind, dcqcn_kind, pcrp_kind, roce_kind, lb_kind, voq_kind;

uint64_t random_value(const struct range *r);
bool in_range(const struct range *r, uint64_t v);
uint64_t read_value(const struct nlattr *attr);

#endif
