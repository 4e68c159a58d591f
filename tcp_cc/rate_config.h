/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What congestion controls by rate share: their sysctls, and how connections
 * get them
 *
 * A connection takes the values that its network namespace has when it starts,
 * and keeps them. So a write makes a new configuration, which all later
 * connections of that namespace share, and the last connection that has the old
 * one frees it.
 *
 * For a module's only source file.
 */
#ifndef _RATE_CONFIG_H
#define _RATE_CONFIG_H

#include <linux/err.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <net/netns/generic.h>
#include <closnet/counters.h>
#include <closnet/nicclock.h>
#include <closnet/sysctl.h>

/**
 * struct rate_config - what a configuration begins with
 * @line: the line; of rate 0: the device's
 * @max_Mbps: highest rate; 0: what the line carries of payload
 * @seg_bytes: most bytes of a burst
 * @cap_bytes: most bytes outstanding; 0: by line rate
 * @cap_ns: what the line carries in that time, that is
 * @users: connections, and one if it is the current one
 * @rcu: for freeing it
 */
struct rate_config {
	struct nicclock_line line;
	u32 max_Mbps;
	u32 seg_bytes;
	u32 cap_bytes;
	u32 cap_ns;
	refcount_t users;
	struct rcu_head rcu;
};

/**
 * struct rate_net - of a network namespace
 * @counters: counters
 * @sysctls: sysctls
 * @config: configuration of new connections
 */
struct rate_net {
	struct closnet_counters counters;
	struct closnet_sysctls sysctls;
	struct rate_config __rcu *config;
};

#define RATE_OPTION_LINE_RATE \
	{ "line_rate", .value = 0, .min = 0, .max = 1000000, .unit = " Mbit/s" }

/*
 * The congestion control's: the configuration that the values make, in memory
 * that kfree() takes; or an error, about which it says what is wrong.
 */
static struct rate_config *rate_config_new(const u32 *values);

/* @c: zeros; with its users, and with the line */
static void rate_config_start(struct rate_config *c, u32 line_Mbps)
{
	refcount_set(&c->users, 1);
	c->line.rate_Mbps = line_Mbps;
	c->line.byte_time = nicclock_byte_time(line_Mbps);
}

static void rate_config_put(struct rate_config *c)
{
	if (c && refcount_dec_and_test(&c->users))
		kfree_rcu(c, rcu);
}

/*
 * Take a reference to the current configuration, for a connection. A reader that
 * loses to a writer takes the newer one.
 */
static struct rate_config *rate_config_get(const struct rate_net *rn)
{
	struct rate_config *c;

	rcu_read_lock();
	do {
		c = rcu_dereference(rn->config);
	} while (!refcount_inc_not_zero(&c->users));
	rcu_read_unlock();
	return c;
}

static int rate_config_changed(struct closnet_sysctls *s)
{
	struct rate_net *rn = container_of(s, struct rate_net, sysctls);
	struct rate_config *c = rate_config_new(s->values);

	if (IS_ERR(c))
		return PTR_ERR(c);
	rate_config_put(rcu_replace_pointer(rn->config, c, true));
	return 0;
}

/* @rn: zeros, and the counters; @id: of the module's struct rate_net */
static int rate_net_init(struct rate_net *rn, struct net *net, unsigned int id,
			 const struct closnet_sysctl *options, unsigned int count,
			 const char *path)
{
	struct rate_net *initial = net_generic(&init_net, id);
	int err;

	rn->sysctls.options = options;
	rn->sysctls.count = count;
	rn->sysctls.changed = rate_config_changed;
	err = closnet_sysctls_init(&rn->sysctls, net, &initial->sysctls, path);
	if (err)
		rate_config_put(rcu_replace_pointer(rn->config, NULL, true));
	return err;
}

/* Free a namespace's sysctls and configuration, after its sockets. */
static void rate_net_exit(struct rate_net *rn)
{
	closnet_sysctls_exit(&rn->sysctls);
	rate_config_put(rcu_replace_pointer(rn->config, NULL, true));
}

#endif /* _RATE_CONFIG_H */
