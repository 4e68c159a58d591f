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
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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
/* The same for types that carry these flags */
int parse_rtattr_flags(struct rtattr *tb[], int max, struct rtattr *rta,
		       int len, unsigned short flags);

/* Output: fmt for text, key for JSON */
bool is_json_context(void);
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

static const struct unit time_units[] = {
	{ "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 }, { "ns", 1 }, { }
};

#define UNITS_MAX	(0x1p63L - 1)

/*
 * A number with a unit, in the smallest one: rounded, but not to 0. Only 0
 * needs no unit.
 */
static inline int get_in_units(__s64 *val, const char *arg,
			       const struct unit *unit)
{
	long double number;
	char *end;

	number = strtold(arg, &end);
	if (end == arg)
		return -1;
	while (unit->name && strcasecmp(unit->name, end))
		unit++;
	if (unit->name)
		number *= unit->size;
	else if (*end || number != 0)
		return -1;
	if (!(number >= -UNITS_MAX && number <= UNITS_MAX))
		return -1;
	*val = number < 0 ? number - 0.5L : number + 0.5L;
	return number != 0 && *val == 0 ? -1 : 0;
}

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

/* A share of all, UINT32_MAX: rounded, but not to 0 */
static inline int get_percent(__u32 *val, const char *arg)
{
	char *end;
	double percent = strtod(arg, &end);

	if (end == arg || (*end && strcmp(end, "%")))
		return -1;
	if (!(percent >= 0 && percent <= 100))
		return -1;
	*val = percent / 100 * UINT32_MAX + 0.5;
	return percent > 0 && !*val ? -1 : 0;
}

/* Text: with as few decimals as make the same number when they are read back */
static inline void out_percent(__u64 val)
{
	__u32 again = 0;
	char text[32];
	int decimals;

	for (decimals = 0; decimals <= 10; decimals++) {
		snprintf(text, sizeof(text), "%.*f%%", decimals,
			 100.0 * val / UINT32_MAX);
		if (!get_percent(&again, text) && again == val)
			break;
	}
	out_text(text);
}

/* Such a share, if the attribute is there; in JSON a part of 1 */
static inline void print_share(const char *word, struct rtattr **tb, int attr)
{
	__u64 val;

	if (!attr_uint(tb, attr, &val))
		return;
	print_color_float(PRINT_JSON, COLOR_NONE, word, NULL,
			  (double)val / UINT32_MAX);
	out_text(word);
	out_percent(val);
}

#endif /* _CLOSNET_PLUGIN_H */
