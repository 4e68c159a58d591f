/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Module parameters that say what they may be
 *
 * A parameter has a range, and is a number, a fraction with three decimals or
 * one of some words. A write that is out of range changes nothing, and the
 * message names the parameter and its range. So does a write that the module
 * itself does not want: it defines closnet_knob_changed().
 *
 * For a module's only source file.
 */
#ifndef _CLOSNET_KNOB_H
#define _CLOSNET_KNOB_H

#include <linux/ctype.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <linux/sysfs.h>

/**
 * struct closnet_knob - a module parameter
 * @value: its value; a fraction's is in thousandths, a word's its number
 * @min: least value
 * @max: highest value
 * @unit: for messages
 * @fraction: it is written as 0.875
 * @words: it is one of these, @max + 1 of them
 */
struct closnet_knob {
	u32 value;
	u32 min;
	u32 max;
	const char *unit;
	bool fraction;
	const char * const *words;
};

static const struct kernel_param_ops closnet_knob_ops;

/* Parameter _name; the rest initializes its struct closnet_knob, knob__name. */
#define CLOSNET_KNOB(_name, _desc, ...)						\
	static struct closnet_knob knob_##_name = { __VA_ARGS__ };		\
	module_param_cb(_name, &closnet_knob_ops, &knob_##_name, 0644);		\
	MODULE_PARM_DESC(_name, _desc)

/*
 * The module's: a parameter has another value. If it returns an error, the
 * parameter gets its old value back. kernel_param_lock() is held, but before
 * module_init().
 */
static int closnet_knob_changed(void);

/* @text in thousandths: digits, and up to three behind a point */
static int closnet_knob_fraction(const char *text, u32 *value)
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
	if (*s == '\n')
		s++;
	if (*s)
		return -EINVAL;
	for (; digits < 3; digits++)
		part *= 10;
	*value = whole * 1000 + part;
	return 0;
}

static int closnet_knob_parse(const struct closnet_knob *knob, const char *text, u32 *value)
{
	u32 i;

	if (knob->fraction)
		return closnet_knob_fraction(text, value);
	if (!knob->words)
		return kstrtouint(text, 10, value);
	for (i = 0; i <= knob->max; i++) {
		if (sysfs_streq(text, knob->words[i])) {
			*value = i;
			return 0;
		}
	}
	return -EINVAL;
}

/* Says what a parameter may be. */
static void closnet_knob_complain(const char *name, const struct closnet_knob *knob)
{
	char words[64];
	u32 i, len = 0;

	if (knob->fraction) {
		pr_err("%s must be %u.%03u to %u.%03u, with three decimals at most\n", name,
		       knob->min / 1000, knob->min % 1000, knob->max / 1000, knob->max % 1000);
	} else if (!knob->words) {
		pr_err("%s must be %u to %u%s\n", name, knob->min, knob->max, knob->unit ?: "");
	} else {
		for (i = 0; i <= knob->max; i++)
			len += scnprintf(words + len, sizeof(words) - len, "%s%s",
					 i ? " or " : "", knob->words[i]);
		pr_err("%s must be %s\n", name, words);
	}
}

static int closnet_knob_set(const char *text, const struct kernel_param *kp)
{
	struct closnet_knob *knob = kp->arg;
	u32 value, old = knob->value;
	int err;

	err = closnet_knob_parse(knob, text, &value);
	if (!err && (value < knob->min || value > knob->max))
		err = -ERANGE;
	if (err) {
		closnet_knob_complain(kp->name, knob);
		return err;
	}
	knob->value = value;
	err = closnet_knob_changed();
	if (err)
		knob->value = old;
	return err;
}

static int closnet_knob_get(char *buffer, const struct kernel_param *kp)
{
	const struct closnet_knob *knob = kp->arg;

	if (knob->words)
		return sysfs_emit(buffer, "%s\n", knob->words[knob->value]);
	if (knob->fraction)
		return sysfs_emit(buffer, "%u.%03u\n", knob->value / 1000, knob->value % 1000);
	return sysfs_emit(buffer, "%u\n", knob->value);
}

static const struct kernel_param_ops closnet_knob_ops = {
	.set = closnet_knob_set,
	.get = closnet_knob_get,
};

#endif /* _CLOSNET_KNOB_H */
