/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parameters that congestion controls by rate share, and how connections get
 * them
 *
 * A connection takes the parameters as they are when it starts. So a write
 * makes a new configuration, which all later connections share, and the last
 * connection that has the old one frees it.
 *
 * For a module's only source file.
 */
#ifndef _RATE_CONFIG_H
#define _RATE_CONFIG_H

#include <linux/err.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <closnet/knob.h>
#include <closnet/nicclock.h>

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

CLOSNET_KNOB(line_rate, "line rate, Mbit/s (0: what the device says)",
	     .value = 0, .min = 0, .max = 1000000, .unit = " Mbit/s");

/* The parameters are taken as of module_init(); before, nothing is allocated. */
static bool rate_config_ready;
static struct rate_config __rcu *rate_config_current;

/*
 * The congestion control's: the parameters as they are now, in what kfree()
 * takes; or an error, about which it says what is wrong with the parameters.
 */
static struct rate_config *rate_config_new(void);

/* @c: zeros; with its users, and with the line */
static void rate_config_start(struct rate_config *c)
{
	refcount_set(&c->users, 1);
	c->line.rate_Mbps = knob_line_rate.value;
	c->line.byte_time = nicclock_byte_time(knob_line_rate.value);
}

static void rate_config_put(struct rate_config *c)
{
	if (c && refcount_dec_and_test(&c->users))
		kfree_rcu(c, rcu);
}

/* A reference to the current configuration, for a connection */
static struct rate_config *rate_config_get(void)
{
	struct rate_config *c;

	rcu_read_lock();
	do {
		c = rcu_dereference(rate_config_current);
	} while (!refcount_inc_not_zero(&c->users));
	rcu_read_unlock();
	return c;
}

/* Makes the current configuration of the parameters. kernel_param_lock() is held. */
static int rate_config_renew(void)
{
	struct rate_config *c = rate_config_new();

	if (IS_ERR(c))
		return PTR_ERR(c);
	rate_config_put(rcu_replace_pointer(rate_config_current, c, true));
	return 0;
}

static int closnet_knob_changed(void)
{
	return rate_config_ready ? rate_config_renew() : 0;
}

static int rate_config_init(void)
{
	int err;

	kernel_param_lock(THIS_MODULE);
	err = rate_config_renew();
	rate_config_ready = !err;
	kernel_param_unlock(THIS_MODULE);
	return err;
}

/* Nobody writes parameters any more. */
static void rate_config_exit(void)
{
	kernel_param_lock(THIS_MODULE);
	rate_config_ready = false;
	rate_config_put(rcu_replace_pointer(rate_config_current, NULL, true));
	kernel_param_unlock(THIS_MODULE);
}

#endif /* _RATE_CONFIG_H */
