// SPDX-License-Identifier: GPL-2.0-only
/*
 * closnet_cc: sysctls of a network namespace, and configurations made from them
 *
 * A sysctl is a number, a fraction with three decimals, or a word. A write that is
 * out of range or that the congestion control rejects leaves the value unchanged.
 * The kernel log then has the name and the range, provided that the writer has
 * CAP_NET_ADMIN in the initial user namespace; other users cannot fill the log.
 *
 * A new namespace starts with the present values of the initial one.
 */
#include <linux/capability.h>
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysctl.h>
#include <net/net_namespace.h>
#include "closnet_cc.h"

/* Maximum length of a value's text, with the terminating null byte */
#define CLOSNET_CC_TEXT		32

/* Link rate of devices that do not know theirs; TIMELY's testbed had this rate. */
#define CLOSNET_CC_DEFAULT_MBPS	10000

/* ---- configurations ---- */

/**
 * closnet_cc_config_put() - release a reference
 * @c: configuration, or NULL
 */
void closnet_cc_config_put(struct closnet_cc_config *c)
{
	if (c && refcount_dec_and_test(&c->users))
		kfree_rcu(c, rcu);
}
EXPORT_SYMBOL_GPL(closnet_cc_config_put);

/**
 * closnet_cc_config_get() - get the configuration for a new connection
 * @cn: state of the congestion control in the connection's namespace
 *
 * A reader that races with a writer gets the newer configuration.
 *
 * Return: current configuration, with a reference.
 */
struct closnet_cc_config *closnet_cc_config_get(const struct closnet_cc_net *cn)
{
	struct closnet_cc_config *c;

	rcu_read_lock();
	do {
		c = rcu_dereference(cn->config);
	} while (!refcount_inc_not_zero(&c->users));
	rcu_read_unlock();
	return c;
}
EXPORT_SYMBOL_GPL(closnet_cc_config_get);

/* Make a configuration from the values; @cn->lock is held. */
static int closnet_cc_config_update(struct closnet_cc_net *cn)
{
	struct closnet_cc_config *c = cn->kind->new_config(cn->values);
	u32 link_Mbps = cn->values[cn->kind->link_rate];

	if (IS_ERR(c))
		return PTR_ERR(c);
	refcount_set(&c->users, 1);
	c->fixed = link_Mbps;
	c->rate.Mbps = link_Mbps ?: CLOSNET_CC_DEFAULT_MBPS;
	c->rate.byte_time = closnet_cc_byte_time(c->rate.Mbps);
	c->counters = cn->counters.values;
	closnet_cc_config_put(rcu_replace_pointer(cn->config, c, true));
	return 0;
}

/* ---- sysctls ---- */

/* Parse digits and up to three decimals, as thousandths. */
static int closnet_cc_parse_fraction(const char *text, u32 *value)
{
	u32 whole = 0, part = 0, digits = 0;
	const char *s = text;

	while (isdigit(*s) && whole <= 1000)
		whole = whole * 10 + *s++ - '0';
	if (s == text)
		return -EINVAL;
	if (*s == '.') {
		for (s++; isdigit(*s) && digits < 3; digits++)
			part = part * 10 + *s++ - '0';
	}
	if (*s)
		return -EINVAL;
	for (; digits < 3; digits++)
		part *= 10;
	*value = whole * 1000 + part;
	return 0;
}

static int closnet_cc_parse(const struct closnet_cc_option *option, const char *text, u32 *value)
{
	u32 i;

	if (option->fraction)
		return closnet_cc_parse_fraction(text, value);
	if (!option->words)
		return kstrtouint(text, 10, value);
	for (i = 0; i <= option->max; i++) {
		if (!strcmp(text, option->words[i])) {
			*value = i;
			return 0;
		}
	}
	return -EINVAL;
}

/* Log the valid values, with the name of the congestion control's module. */
static void closnet_cc_log_range(const struct closnet_cc_kind *kind,
				 const struct closnet_cc_option *option)
{
	const char *module = kbasename(kind->path);
	char words[64];
	u32 i, len = 0;

	if (option->fraction) {
		pr_err("%s: %s must be %u.%03u to %u.%03u, with three decimals at most\n", module,
		       option->name, option->min / 1000, option->min % 1000,
		       option->max / 1000, option->max % 1000);
	} else if (!option->words) {
		pr_err("%s: %s must be %u to %u%s\n", module, option->name, option->min,
		       option->max, option->unit ?: "");
	} else {
		for (i = 0; i <= option->max; i++)
			len += scnprintf(words + len, sizeof(words) - len, "%s%s",
					 i ? " or " : "", option->words[i]);
		pr_err("%s: %s must be %s\n", module, option->name, words);
	}
}

static int closnet_cc_write(struct closnet_cc_net *cn, unsigned int i, const char *text)
{
	const struct closnet_cc_option *option = &cn->kind->options[i];
	u32 value, old;
	int err;

	err = closnet_cc_parse(option, text, &value);
	if (!err && (value < option->min || value > option->max))
		err = -ERANGE;
	if (err) {
		if (capable(CAP_NET_ADMIN))
			closnet_cc_log_range(cn->kind, option);
		return err;
	}
	mutex_lock(&cn->lock);
	old = cn->values[i];
	WRITE_ONCE(cn->values[i], value);	/* closnet_cc_read() does not lock */
	err = closnet_cc_config_update(cn);
	if (err)
		WRITE_ONCE(cn->values[i], old);
	mutex_unlock(&cn->lock);
	return err;
}

static void closnet_cc_read(const struct closnet_cc_net *cn, unsigned int i, char *text)
{
	const struct closnet_cc_option *option = &cn->kind->options[i];
	u32 value = READ_ONCE(cn->values[i]);

	if (option->words)
		strscpy(text, option->words[value], CLOSNET_CC_TEXT);
	else if (option->fraction)
		snprintf(text, CLOSNET_CC_TEXT, "%u.%03u", value / 1000, value % 1000);
	else
		snprintf(text, CLOSNET_CC_TEXT, "%u", value);
}

/* proc_handler; @ctl->data is the struct closnet_cc_net, @ctl->extra1 the option */
static int closnet_cc_sysctl(closnet_ctl_table *ctl, int write, void *buffer, size_t *len,
			     loff_t *pos)
{
	struct closnet_cc_net *cn = ctl->data;
	const struct closnet_cc_option *option = ctl->extra1;
	char text[CLOSNET_CC_TEXT];
	const struct ctl_table copy = { .data = text, .maxlen = sizeof(text) };
	int err;

	if (!write) {
		closnet_cc_read(cn, option - cn->kind->options, text);
		return proc_dostring((closnet_ctl_table *)&copy, 0, buffer, len, pos);
	}
	text[0] = '\0';
	err = proc_dostring((closnet_ctl_table *)&copy, 1, buffer, len, pos);
	return err ?: closnet_cc_write(cn, option - cn->kind->options, text);
}

static struct ctl_table *closnet_cc_table(struct closnet_cc_net *cn)
{
	const struct closnet_cc_kind *kind = cn->kind;
	struct ctl_table *table = kcalloc(kind->count + 1, sizeof(*table), GFP_KERNEL_ACCOUNT);
	unsigned int i;

	for (i = 0; table && i < kind->count; i++) {
		table[i].procname = kind->options[i].name;
		table[i].data = cn;
		table[i].extra1 = (void *)&kind->options[i];
		table[i].mode = 0644;
		table[i].proc_handler = closnet_cc_sysctl;
	}
	return table;
}

/* Initial values: those of the initial namespace, which itself starts with the defaults */
static int closnet_cc_init_values(struct closnet_cc_net *cn)
{
	struct closnet_cc_net *initial = net_generic(&init_net, *cn->kind->net_id);
	unsigned int i;

	cn->values = kcalloc(cn->kind->count, sizeof(*cn->values), GFP_KERNEL_ACCOUNT);
	if (!cn->values)
		return -ENOMEM;
	if (cn == initial) {
		for (i = 0; i < cn->kind->count; i++)
			cn->values[i] = cn->kind->options[i].value;
		return 0;
	}
	mutex_lock(&initial->lock);
	memcpy(cn->values, initial->values, cn->kind->count * sizeof(*cn->values));
	mutex_unlock(&initial->lock);
	return 0;
}

/**
 * closnet_cc_net_init() - set up sysctls and configuration of a namespace
 * @net: namespace, in which the congestion control already has its counters
 * @kind: congestion control
 *
 * Return: 0 or a negative error.
 */
int closnet_cc_net_init(struct net *net, const struct closnet_cc_kind *kind)
{
	struct closnet_cc_net *cn = net_generic(net, *kind->net_id);
	struct ctl_table *table;
	int err;

	cn->kind = kind;
	mutex_init(&cn->lock);
	err = closnet_cc_init_values(cn);
	if (err)
		return err;
	err = -ENOMEM;
	table = closnet_cc_table(cn);
	if (!table)
		goto out_values;
	mutex_lock(&cn->lock);
	err = closnet_cc_config_update(cn);
	mutex_unlock(&cn->lock);
	if (err)
		goto out_table;
	cn->header = register_net_sysctl_sz(net, kind->path, table, kind->count);
	if (cn->header)
		return 0;
	err = -ENOMEM;
	closnet_cc_config_put(rcu_replace_pointer(cn->config, NULL, true));
out_table:
	kfree(table);
out_values:
	kfree(cn->values);
	return err;
}
EXPORT_SYMBOL_GPL(closnet_cc_net_init);

/**
 * closnet_cc_net_exit() - undo closnet_cc_net_init(), after the sockets are closed
 * @net: namespace
 * @kind: congestion control
 */
void closnet_cc_net_exit(struct net *net, const struct closnet_cc_kind *kind)
{
	struct closnet_cc_net *cn = net_generic(net, *kind->net_id);
	const struct ctl_table *table = cn->header->ctl_table_arg;

	unregister_net_sysctl_table(cn->header);
	kfree(table);
	kfree(cn->values);
	closnet_cc_config_put(rcu_replace_pointer(cn->config, NULL, true));
}
EXPORT_SYMBOL_GPL(closnet_cc_net_exit);
