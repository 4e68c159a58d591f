/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Options of a plug-in of tc(8) or ip(8): parsing words, printing attributes as text and JSON
 *
 * A plug-in has a table of its options in the order of the output; tools/build/options writes it.
 * Only options that the user gives are sent: the kernel knows defaults and ranges, and names the
 * option that is out of range. The text of the options can be read back without loss; numbers in
 * JSON have the units of netlink.
 */
#ifndef _CLOSNET_OPTIONS_H
#define _CLOSNET_OPTIONS_H

#include "plugin.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* Size of a request: what tc and ip have room for */
#define PLUGIN_MSG_MAX	1024
#define NSEC_PER_USEC	1000

/* Remaining words of the command line */
struct words {
	int argc;
	char **argv;
};

/**
 * struct unit - a unit of a quantity, in tables from large to small
 * @name: suffix of the number; NULL ends the table
 * @size: in the smallest unit of the table
 */
struct unit {
	const char *name;
	__u64 size;
};

extern const struct unit rate_units[], time_units[];

/**
 * struct value_names - names of an attribute's values
 * @count: number of @names
 * @names: the name of each value
 * @wanted: list of the names, for error messages
 */
struct value_names {
	size_t count;
	const char * const *names;
	const char *wanted;
};

/**
 * struct plugin_opt - an option
 * @word: word of the command line, and key in JSON
 * @attr: attribute
 * @parse: parses the words after @word and adds attributes; returns 0, or -1 after an error message
 * @print: prints @attr if it is present; NULL: another option prints it
 * @names: for parse_name() and print_name()
 */
struct plugin_opt {
	const char *word;
	int attr;
	int (*parse)(const struct plugin_opt *opt, struct words *w, struct nlmsghdr *n);
	void (*print)(const struct plugin_opt *opt, struct rtattr **tb);
	const struct value_names *names;
};

/* Take the next word of the command line; NULL after an error message that @of needs a value */
const char *next_word(const char *of, struct words *w);
/* Print an error message. Return: -1 */
int illegal(const char *word, const char *arg, const char *wanted);
/*
 * Get an unsigned attribute of any width: a kernel of another version may send fewer attributes or
 * other widths.
 * Return: whether it is present
 */
bool attr_uint(struct rtattr **tb, int attr, __u64 *val);
void out_text(const char *text);

/* Get a number with a unit, rounded, but not to 0. Only 0 needs no unit. Return: 0 or -1 */
int get_in_units(__s64 *val, const char *arg, const struct unit *unit);
/* Print a number as text in the largest unit that is exact; the last unit must be 1 */
void out_in_units(const char *sign, __u64 val, const struct unit *unit);
/* Get a percentage as a share of UINT32_MAX, rounded, but not to 0. Return: 0 or -1 */
int get_percent(__u32 *val, const char *arg);
/* Get a size in bytes. Return: 0 or -1 */
int get_bytes64(__u64 *val, const char *arg);
int get_bytes(__u32 *val, const char *arg);
/* Get a time in units of @unit_ns, rounded, but not to 0. Return: 0 or -1 */
int get_time32(__u32 *val, const char *arg, unsigned int unit_ns);
/* Return: index of a name, or -1 */
int get_name(const struct value_names *names, const char *arg);
/* Return: the option with this word, or NULL */
const struct plugin_opt *find_opt(const struct plugin_opt *opts, size_t count, const char *word);

/* For tables */
int parse_u32(const struct plugin_opt *opt, struct words *w, struct nlmsghdr *n);
int parse_bytes(const struct plugin_opt *opt, struct words *w, struct nlmsghdr *n);
int parse_auto_bytes(const struct plugin_opt *opt, struct words *w, struct nlmsghdr *n);
int parse_us(const struct plugin_opt *opt, struct words *w, struct nlmsghdr *n);
int parse_auto_us(const struct plugin_opt *opt, struct words *w, struct nlmsghdr *n);
int parse_us_or_off(const struct plugin_opt *opt, struct words *w, struct nlmsghdr *n);
int parse_ns32(const struct plugin_opt *opt, struct words *w, struct nlmsghdr *n);
int parse_ns64(const struct plugin_opt *opt, struct words *w, struct nlmsghdr *n);
int parse_percent(const struct plugin_opt *opt, struct words *w, struct nlmsghdr *n);
int parse_name(const struct plugin_opt *opt, struct words *w, struct nlmsghdr *n);
int parse_yes(const struct plugin_opt *opt, struct words *w, struct nlmsghdr *n);
int parse_no(const struct plugin_opt *opt, struct words *w, struct nlmsghdr *n);
/* in tc_options.c for tc, in the plug-in for ip */
int parse_rate(const struct plugin_opt *opt, struct words *w, struct nlmsghdr *n);

void print_uint(const struct plugin_opt *opt, struct rtattr **tb);
void print_auto_bytes(const struct plugin_opt *opt, struct rtattr **tb);
void print_us(const struct plugin_opt *opt, struct rtattr **tb);
void print_auto_us(const struct plugin_opt *opt, struct rtattr **tb);
void print_us_or_off(const struct plugin_opt *opt, struct rtattr **tb);
void print_ns(const struct plugin_opt *opt, struct rtattr **tb);
void print_rate(const struct plugin_opt *opt, struct rtattr **tb);
void print_percent(const struct plugin_opt *opt, struct rtattr **tb);
void print_name(const struct plugin_opt *opt, struct rtattr **tb);
void print_flag(const struct plugin_opt *opt, struct rtattr **tb);

/* Print a number; as text @label first and @unit last */
void out_u64(const char *key, const char *label, __u64 val, const char *unit);
/* Print the options that are present */
void print_opts(const struct plugin_opt *opts, size_t count, struct rtattr **tb);

#endif /* _CLOSNET_OPTIONS_H */
