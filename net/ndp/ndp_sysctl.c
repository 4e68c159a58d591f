// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NDP transport: sysctls net.ndp.NAME, of each network namespace
 */
#include <linux/sysctl.h>
#include "ndp.h"

static const struct ndp_conf ndp_conf_defaults = {
	.initial_window = 30,
	.paths = 64,
	.rto_us = 1000,
	.timeout_ms = NDP_TIMEOUT_MAX,
	.pull_policy = NDP_PULL_FAIR,
	.flows_max = 16384,
	.gso_packets = 1,
};

/**
 * struct ndp_knob - a sysctl
 * @name: its name
 * @offset: of its value in struct ndp_conf
 * @min: least
 * @max: greatest
 * @bounded: of a namespace that a user made, greatest is what the initial one has
 */
struct ndp_knob {
	const char *name;
	size_t offset;
	int min;
	int max;
	bool bounded;
};

#define NDP_KNOB(field, from, to)					\
	{								\
		.name = #field, .offset = offsetof(struct ndp_conf, field), \
		.min = (from), .max = (to),				\
	}

/* What takes memory of the kernel, which is not the user namespace's */
#define NDP_KNOB_BOUNDED(field, from, to)				\
	{								\
		.name = #field, .offset = offsetof(struct ndp_conf, field), \
		.min = (from), .max = (to), .bounded = true,		\
	}

/* Not const: that is what tables of older kernels point to. */
static struct ndp_knob ndp_knobs[] = {
	NDP_KNOB(initial_window, 1, NDP_WINDOW_MAX),
	NDP_KNOB_BOUNDED(paths, 1, NDP_PATHS_MAX),
	NDP_KNOB(rto_us, 100, 1000000),
	NDP_KNOB(timeout_ms, NDP_TIMEOUT_MIN, NDP_TIMEOUT_MAX),
	NDP_KNOB(pull_policy, NDP_PULL_FAIR, NDP_PULL_SRPT),
	NDP_KNOB(line_rate_Mbps, 0, 1000000),
	NDP_KNOB_BOUNDED(flows_max, 1, 1000000),
	NDP_KNOB(gso_packets, 1, NDP_BATCH_PACKETS),
};

static int *ndp_sysctl_value(struct ndp_net *nn, const struct ndp_knob *knob)
{
	return (int *)((char *)&nn->conf + knob->offset);
}

/* The greatest value, which is read when one is written; the present one is not greater */
static int *ndp_sysctl_max(struct ndp_net *nn, struct ndp_knob *knob)
{
	int *value = ndp_sysctl_value(nn, knob), *max;

	if (!knob->bounded || nn->net->user_ns == &init_user_ns)
		return &knob->max;
	max = ndp_sysctl_value(ndp_net(&init_net), knob);
	*value = min(*value, READ_ONCE(*max));
	return max;
}

/**
 * ndp_sysctl_init() - a namespace's sysctls, with their defaults
 * @nn: namespace
 *
 * Return: 0 or -ENOMEM.
 */
int ndp_sysctl_init(struct ndp_net *nn)
{
	struct ctl_table *table;
	size_t i;

	nn->conf = ndp_conf_defaults;
	table = kcalloc(ARRAY_SIZE(ndp_knobs) + 1, sizeof(*table), GFP_KERNEL);
	if (!table)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(ndp_knobs); i++) {
		table[i].procname = ndp_knobs[i].name;
		table[i].data = ndp_sysctl_value(nn, &ndp_knobs[i]);
		table[i].maxlen = sizeof(int);
		table[i].mode = 0644;
		table[i].proc_handler = proc_dointvec_minmax;
		table[i].extra1 = &ndp_knobs[i].min;
		table[i].extra2 = ndp_sysctl_max(nn, &ndp_knobs[i]);
	}
	nn->sysctl = register_net_sysctl_sz(nn->net, "net/ndp", table, ARRAY_SIZE(ndp_knobs));
	if (!nn->sysctl) {
		kfree(table);
		return -ENOMEM;
	}
	return 0;
}

/**
 * ndp_sysctl_exit() - take back ndp_sysctl_init()
 * @nn: namespace
 */
void ndp_sysctl_exit(struct ndp_net *nn)
{
	const struct ctl_table *table = nn->sysctl->ctl_table_arg;

	unregister_net_sysctl_table(nn->sysctl);
	kfree(table);
}
