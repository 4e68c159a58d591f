/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sysctls of a network namespace that have a range
 *
 * A sysctl is a number, a fraction with three decimals, or one of some words. A
 * write out of range changes nothing, and so does one that the module refuses.
 * The kernel's log then has the name and the range, if the writer is privileged
 * in the initial user namespace: nobody else can fill the log.
 *
 * A new namespace starts with the values that the initial one has at that time.
 *
 * For a module's only source file.
 */
#ifndef _CLOSNET_SYSCTL_H
#define _CLOSNET_SYSCTL_H

#include <linux/capability.h>
#include <linux/ctype.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysctl.h>
#include <net/net_namespace.h>

/* Longest text of a value, with its end */
#define CLOSNET_SYSCTL_TEXT	32

/**
 * struct closnet_sysctl - a sysctl
 * @name: its name
 * @value: default; a fraction's is in thousandths, a word's its number
 * @min: least value
 * @max: highest value
 * @unit: for messages
 * @fraction: it is written as 0.875
 * @words: it is one of these, @max + 1 of them
 */
struct closnet_sysctl {
	const char *name;
	u32 value;
	u32 min;
	u32 max;
	const char *unit;
	bool fraction;
	const char * const *words;
};

/**
 * struct closnet_sysctls - a module's sysctls in a namespace
 * @options: what they are
 * @count: how many
 * @values: their values, in the same order
 * @lock: for writing @values
 * @changed: called with @lock after a write. If it returns an error, the sysctl
 *	gets its old value back.
 * @header: registration
 */
struct closnet_sysctls {
	const struct closnet_sysctl *options;
	unsigned int count;
	u32 *values;
	struct mutex lock;	/* for writing @values */
	int (*changed)(struct closnet_sysctls *s);
	struct ctl_table_header *header;
};

/* @text in thousandths: digits, and up to three behind a point */
static int closnet_sysctl_fraction(const char *text, u32 *value)
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

static int closnet_sysctl_parse(const struct closnet_sysctl *option, const char *text, u32 *value)
{
	u32 i;

	if (option->fraction)
		return closnet_sysctl_fraction(text, value);
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

/* Logs what a sysctl may be. */
static void closnet_sysctl_complain(const struct closnet_sysctl *option)
{
	char words[64];
	u32 i, len = 0;

	if (option->fraction) {
		pr_err("%s must be %u.%03u to %u.%03u, with three decimals at most\n", option->name,
		       option->min / 1000, option->min % 1000, option->max / 1000,
		       option->max % 1000);
	} else if (!option->words) {
		pr_err("%s must be %u to %u%s\n", option->name, option->min, option->max,
		       option->unit ?: "");
	} else {
		for (i = 0; i <= option->max; i++)
			len += scnprintf(words + len, sizeof(words) - len, "%s%s",
					 i ? " or " : "", option->words[i]);
		pr_err("%s must be %s\n", option->name, words);
	}
}

/* @s->lock is held. */
static int closnet_sysctl_set(struct closnet_sysctls *s, unsigned int i, const char *text)
{
	const struct closnet_sysctl *option = &s->options[i];
	u32 value, old = s->values[i];
	int err;

	err = closnet_sysctl_parse(option, text, &value);
	if (!err && (value < option->min || value > option->max))
		err = -ERANGE;
	if (err) {
		if (capable(CAP_NET_ADMIN))
			closnet_sysctl_complain(option);
		return err;
	}
	WRITE_ONCE(s->values[i], value);	/* read without @lock */
	err = s->changed(s);
	if (err)
		WRITE_ONCE(s->values[i], old);
	return err;
}

static void closnet_sysctl_show(const struct closnet_sysctls *s, unsigned int i, char *text)
{
	const struct closnet_sysctl *option = &s->options[i];
	u32 value = READ_ONCE(s->values[i]);

	if (option->words)
		strscpy(text, option->words[value], CLOSNET_SYSCTL_TEXT);
	else if (option->fraction)
		snprintf(text, CLOSNET_SYSCTL_TEXT, "%u.%03u", value / 1000, value % 1000);
	else
		snprintf(text, CLOSNET_SYSCTL_TEXT, "%u", value);
}

/* proc_handler: @ctl has the struct closnet_sysctls and the struct closnet_sysctl */
static int closnet_sysctl_handler(closnet_ctl_table *ctl, int write, void *buffer, size_t *len,
				  loff_t *pos)
{
	struct closnet_sysctls *s = ctl->data;
	const struct closnet_sysctl *option = ctl->extra1;
	char text[CLOSNET_SYSCTL_TEXT];
	const struct ctl_table copy = { .data = text, .maxlen = sizeof(text) };
	int err;

	if (!write) {
		closnet_sysctl_show(s, option - s->options, text);
		return proc_dostring((closnet_ctl_table *)&copy, 0, buffer, len, pos);
	}
	text[0] = '\0';
	err = proc_dostring((closnet_ctl_table *)&copy, 1, buffer, len, pos);
	if (err)
		return err;
	mutex_lock(&s->lock);
	err = closnet_sysctl_set(s, option - s->options, text);
	mutex_unlock(&s->lock);
	return err;
}

static struct ctl_table *closnet_sysctl_table(struct closnet_sysctls *s)
{
	struct ctl_table *table = kcalloc(s->count + 1, sizeof(*table), GFP_KERNEL_ACCOUNT);
	unsigned int i;

	for (i = 0; table && i < s->count; i++) {
		table[i].procname = s->options[i].name;
		table[i].data = s;
		table[i].extra1 = (void *)&s->options[i];
		table[i].mode = 0644;
		table[i].proc_handler = closnet_sysctl_handler;
	}
	return table;
}

/* The initial values: @from's, or, for the initial namespace, the defaults. */
static int closnet_sysctls_copy(struct closnet_sysctls *s, struct closnet_sysctls *from)
{
	unsigned int i;

	s->values = kcalloc(s->count, sizeof(*s->values), GFP_KERNEL_ACCOUNT);
	if (!s->values)
		return -ENOMEM;
	if (s == from) {
		for (i = 0; i < s->count; i++)
			s->values[i] = s->options[i].value;
		return 0;
	}
	mutex_lock(&from->lock);
	memcpy(s->values, from->values, s->count * sizeof(*s->values));
	mutex_unlock(&from->lock);
	return 0;
}

/**
 * closnet_sysctls_init() - register a namespace's sysctls
 * @s: with its options, their count, and changed(), which is called here, too
 * @net: namespace
 * @from: those of the initial namespace; @s itself, if it is that
 * @path: directory below /proc/sys
 *
 * Return: 0 or a negative error.
 */
static int closnet_sysctls_init(struct closnet_sysctls *s, struct net *net,
				struct closnet_sysctls *from, const char *path)
{
	struct ctl_table *table;
	int err;

	mutex_init(&s->lock);
	err = closnet_sysctls_copy(s, from);
	if (err)
		return err;
	err = -ENOMEM;
	table = closnet_sysctl_table(s);
	if (!table)
		goto out_values;
	mutex_lock(&s->lock);
	err = s->changed(s);
	mutex_unlock(&s->lock);
	if (err)
		goto out_table;
	s->header = register_net_sysctl_sz(net, path, table, s->count);
	if (s->header)
		return 0;
	err = -ENOMEM;
out_table:
	kfree(table);
out_values:
	kfree(s->values);
	return err;
}

/**
 * closnet_sysctls_exit() - take back closnet_sysctls_init()
 * @s: sysctls
 *
 * Nobody writes any more. What changed() has made is still there.
 */
static void closnet_sysctls_exit(struct closnet_sysctls *s)
{
	const struct ctl_table *table = s->header->ctl_table_arg;

	unregister_net_sysctl_table(s->header);
	kfree(table);
	kfree(s->values);
}

#endif /* _CLOSNET_SYSCTL_H */
