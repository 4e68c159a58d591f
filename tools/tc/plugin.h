/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What plug-ins of tc(8) and of ip(8) share
 *
 * iproute2 installs no header for plug-ins. Each of its programs looks up a
 * plug-in in a directory of its own, and lets it call the functions that the
 * program itself exports. Those that both export and the plug-ins call are
 * declared here: only such as have had the same binary interface in iproute2
 * 6.1 and in all that came later. tc-symbols.allow and ip-symbols.allow name
 * them for the test that keeps it so.
 */
#ifndef _CLOSNET_PLUGIN_H
#define _CLOSNET_PLUGIN_H

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* For which kind of output a call prints. */
enum output_type {
	PRINT_FP = 1,
	PRINT_JSON = 2,
	PRINT_ANY = 4,
};

enum color_attr {
	COLOR_NONE = 6,
};

/* Numbers from words; 0: good */
int get_u8(__u8 *val, const char *arg, int base);
int get_u16(__u16 *val, const char *arg, int base);
int get_u32(__u32 *val, const char *arg, int base);

/* Netlink attributes; the adders return 0 when there was room */
int addattr8(struct nlmsghdr *n, int maxlen, int type, __u8 val);
int addattr16(struct nlmsghdr *n, int maxlen, int type, __u16 val);
int addattr32(struct nlmsghdr *n, int maxlen, int type, __u32 val);
int addattr64(struct nlmsghdr *n, int maxlen, int type, __u64 val);
int addattr_l(struct nlmsghdr *n, int maxlen, int type, const void *data,
	      int len);
int addraw_l(struct nlmsghdr *n, int maxlen, const void *data, int len);
struct rtattr *addattr_nest(struct nlmsghdr *n, int maxlen, int type);
int addattr_nest_end(struct nlmsghdr *n, struct rtattr *nest);
int parse_rtattr(struct rtattr *tb[], int max, struct rtattr *rta, int len);

/* Output: fmt for text, key for JSON */
int print_color_bool(enum output_type t, enum color_attr c, const char *key,
		     const char *fmt, bool val);
int print_color_float(enum output_type t, enum color_attr c, const char *key,
		      const char *fmt, double val);
int print_color_s64(enum output_type t, enum color_attr c, const char *key,
		    const char *fmt, int64_t val);
int print_color_string(enum output_type t, enum color_attr c, const char *key,
		       const char *fmt, const char *val);
int print_color_u64(enum output_type t, enum color_attr c, const char *key,
		    const char *fmt, uint64_t val);
void print_nl(void);
void open_json_object(const char *key);
void close_json_object(void);
void open_json_array(enum output_type t, const char *key);
void close_json_array(enum output_type t, const char *end);

/* ---- not iproute2's: what is common to our own plug-ins ---- */

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* The rest of the command line */
struct words {
	int argc;
	char **argv;
};

static inline const char *next_word(const char *of, struct words *w)
{
	if (w->argc <= 0) {
		fprintf(stderr, "\"%s\" needs a value\n", of);
		return NULL;
	}
	w->argc--;
	return *w->argv++;
}

static inline int illegal(const char *word, const char *arg, const char *wanted)
{
	fprintf(stderr, "Illegal \"%s\": \"%s\" is not %s\n", word, arg, wanted);
	return -1;
}

/*
 * Unsigned attribute of any width, as far as the payload goes: a kernel of
 * another version may send fewer attributes or other widths.
 */
static inline bool attr_uint(struct rtattr **tb, int attr, __u64 *val)
{
	const struct rtattr *a = tb[attr];

	if (!a)
		return false;
	if (RTA_PAYLOAD(a) >= sizeof(__u64))
		memcpy(val, RTA_DATA(a), sizeof(*val));
	else if (RTA_PAYLOAD(a) >= sizeof(__u32))
		*val = *(const __u32 *)RTA_DATA(a);
	else if (RTA_PAYLOAD(a) >= sizeof(__u16))
		*val = *(const __u16 *)RTA_DATA(a);
	else if (RTA_PAYLOAD(a))
		*val = *(const __u8 *)RTA_DATA(a);
	else
		return false;
	return true;
}

static inline void out_text(const char *text)
{
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", text);
}

/**
 * struct unit - a unit of a quantity, in tables from large to small
 * @name: what stands behind the number; NULL ends the table
 * @size: in the smallest unit of the table
 */
struct unit {
	const char *name;
	__u64 size;
};

/* A bare number is in bits, too, but nothing is printed like that */
static const struct unit rate_units[] = {
	{ "Tbit", 1000000000000 }, { "Gbit", 1000000000 }, { "Mbit", 1000000 },
	{ "Kbit", 1000 }, { "bit", 1 }, { "", 1 }, { }
};

/* Text: the number in the largest unit that loses nothing; one must fit */
static inline void out_in_units(const char *sign, __u64 val,
				const struct unit *unit)
{
	char text[32];

	while (val % unit->size)
		unit++;
	snprintf(text, sizeof(text), "%s%llu%s", sign, val / unit->size,
		 unit->name);
	out_text(text);
}

#endif /* _CLOSNET_PLUGIN_H */
