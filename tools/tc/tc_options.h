/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Options of qdiscs: reading words, printing attributes, text and JSON
 *
 * One table of a plug-in, in the order of the output, says for each option its
 * word, its attribute, how it is read and how it is printed. Only what the
 * user gives is sent: defaults and ranges are the kernel's, which names the
 * attribute when a number is out of range. The text of the options can be read
 * back by the same table without loss; in JSON the units are those of netlink.
 */
#ifndef _CLOSNET_TC_OPTIONS_H
#define _CLOSNET_TC_OPTIONS_H

#include "tc_plugin.h"

#define TC_MSG_MAX	1024
#define DSCP_MAX	63
#define PRIO_MAX	7
#define NSEC_PER_USEC	1000

/**
 * struct tc_names - the values of an attribute that have names
 * @count: number of @names
 * @names: the name of each value
 * @wanted: what an error says is wanted
 */
struct tc_names {
	size_t count;
	const char * const *names;
	const char *wanted;
};

/**
 * struct tc_opt - an option
 * @word: what the user types, and the key in JSON
 * @attr: attribute
 * @parse: reads the words behind @word and adds attributes; 0: good
 * @print: prints @attr, if it is there; NULL: another option prints it
 * @names: for parse_name() and print_name()
 */
struct tc_opt {
	const char *word;
	int attr;
	int (*parse)(const struct tc_opt *opt, struct words *w,
		     struct nlmsghdr *n);
	void (*print)(const struct tc_opt *opt, struct rtattr **tb);
	const struct tc_names *names;
};

/**
 * struct tc_map - a map that is read: FROM:TO and FROM-FROM:TO between commas
 * @to: value of each FROM
 * @get_from: reads a FROM, for which @to has room
 * @get_to: reads a TO
 */
struct tc_map {
	__u8 *to;
	int (*get_from)(__u8 *val, const char *arg);
	int (*get_to)(__u8 *val, const char *arg);
};

/* ---- reading ---- */

/*
 * tc's own get_size() takes -1 and 5gb, and makes other numbers of them. A
 * part of a byte is left where there is a larger unit, as in 22.4kb: rounded,
 * but not to 0.
 */
static inline int get_bytes64(__u64 *val, const char *arg)
{
	static const struct {
		const char *suffix;
		double bytes;
	} units[] = {
		{ "", 1 }, { "b", 1 },
		{ "k", 1 << 10 }, { "kb", 1 << 10 }, { "kbit", (1 << 10) / 8 },
		{ "m", 1 << 20 }, { "mb", 1 << 20 }, { "mbit", (1 << 20) / 8 },
		{ "g", 1 << 30 }, { "gb", 1 << 30 }, { "gbit", (1 << 30) / 8 },
	};
	char *end;
	double size = strtod(arg, &end);
	size_t i;

	if (end == arg)
		return -1;
	for (i = 0; strcasecmp(end, units[i].suffix); i++) {
		if (i + 1 == ARRAY_SIZE(units))
			return -1;
	}
	size *= units[i].bytes;
	if (!(size >= 0 && size <= INT64_MAX))
		return -1;
	*val = size + 0.5;
	return size != *val && (units[i].bytes == 1 || !*val) ? -1 : 0;
}

static inline int get_bytes(__u32 *val, const char *arg)
{
	__u64 size;

	if (get_bytes64(&size, arg) || size > UINT32_MAX)
		return -1;
	*val = size;
	return 0;
}

static inline int get_prio(__u8 *val, const char *arg)
{
	return get_u8(val, arg, 0) || *val > PRIO_MAX ? -1 : 0;
}

static inline int get_dscp(__u8 *val, const char *arg)
{
	if (!strcmp(arg, "be")) {
		*val = 0;
	} else if (!strcmp(arg, "ef")) {
		*val = 46;
	} else if (!strncmp(arg, "cs", 2) && arg[2] >= '0' && arg[2] <= '7' &&
		   !arg[3]) {
		*val = (arg[2] - '0') * 8;
	} else if (!strncmp(arg, "af", 2) && arg[2] >= '1' && arg[2] <= '4' &&
		   arg[3] >= '1' && arg[3] <= '3' && !arg[4]) {
		*val = (arg[2] - '0') * 8 + (arg[3] - '0') * 2;
	} else {
		return get_u8(val, arg, 0) || *val > DSCP_MAX ? -1 : 0;
	}
	return 0;
}

/* The numbers of FIRST or FIRST-LAST, below 64, as bits; item is written to */
static inline int get_range(__u64 *mask,
			    int (*get)(__u8 *val, const char *arg), char *item)
{
	char *dash = strchr(item, '-');
	__u8 first, last;

	if (dash)
		*dash++ = '\0';
	if (get(&first, item) || get(&last, dash ? dash : item))
		return -1;
	if (first > last)
		return -1;
	*mask = (~0ULL >> (63 - last)) & (~0ULL << first);
	return 0;
}

/* Calls take() for each item between separators, which may write to it */
static inline int take_items(const char *arg, const char *separators,
			     int (*take)(void *result, char *item),
			     void *result)
{
	char *copy = strdup(arg), *rest = copy, *item;
	int err = copy ? 0 : -1;

	while (!err && (item = strsep(&rest, separators)))
		err = take(result, item);
	free(copy);
	return err;
}

/* For take_items(), with a struct tc_map */
static inline int add_mapping(void *result, char *item)
{
	const struct tc_map *map = result;
	char *colon = strchr(item, ':');
	unsigned int from;
	__u64 mask;
	__u8 to;

	if (!colon)
		return -1;
	*colon++ = '\0';
	if (get_range(&mask, map->get_from, item) || map->get_to(&to, colon))
		return -1;
	for (from = 0; from < 64; from++) {
		if (mask >> from & 1)
			map->to[from] = to;
	}
	return 0;
}

/* Time in units of unit_ns, rounded, but not to 0 */
static inline int get_time32(__u32 *val, const char *arg, unsigned int unit_ns)
{
	__s64 ns;

	if (get_in_units(&ns, arg, time_units) || ns < 0 ||
	    (ns && ns < unit_ns) || ns / unit_ns >= UINT32_MAX)
		return -1;
	*val = (ns + unit_ns / 2) / unit_ns;
	return 0;
}

/* Index of a name; -1: none */
static inline int get_name(const struct tc_names *names, const char *arg)
{
	size_t i;

	for (i = 0; i < names->count; i++) {
		if (!strcmp(names->names[i], arg))
			return i;
	}
	return -1;
}

static inline int parse_u32(const struct tc_opt *opt, struct words *w,
			    struct nlmsghdr *n)
{
	const char *arg = next_word(opt->word, w);
	__u32 val;

	if (!arg)
		return -1;
	if (get_u32(&val, arg, 0))
		return illegal(opt->word, arg, "a whole number");
	return addattr32(n, TC_MSG_MAX, opt->attr, val);
}

static inline int parse_bytes(const struct tc_opt *opt, struct words *w,
			      struct nlmsghdr *n)
{
	const char *arg = next_word(opt->word, w);
	__u32 val;

	if (!arg)
		return -1;
	if (get_bytes(&val, arg))
		return illegal(opt->word, arg, "a size in bytes");
	return addattr32(n, TC_MSG_MAX, opt->attr, val);
}

/* 0 is netlink's word for auto; who types it means nothing at all */
static inline int parse_auto_bytes(const struct tc_opt *opt, struct words *w,
				   struct nlmsghdr *n)
{
	const char *arg = next_word(opt->word, w);
	__u32 val = 0;

	if (!arg)
		return -1;
	if (strcmp(arg, "auto") && (get_bytes(&val, arg) || !val))
		return illegal(opt->word, arg, "auto or a size in bytes");
	return addattr32(n, TC_MSG_MAX, opt->attr, val);
}

static inline int parse_time(const struct tc_opt *opt, struct words *w,
			     struct nlmsghdr *n, unsigned int unit_ns)
{
	const char *arg = next_word(opt->word, w);
	__u32 val;

	if (!arg)
		return -1;
	if (get_time32(&val, arg, unit_ns))
		return illegal(opt->word, arg, "a time with its unit");
	return addattr32(n, TC_MSG_MAX, opt->attr, val);
}

static inline int parse_us(const struct tc_opt *opt, struct words *w,
			   struct nlmsghdr *n)
{
	return parse_time(opt, w, n, NSEC_PER_USEC);
}

static inline int parse_us_or_off(const struct tc_opt *opt, struct words *w,
				  struct nlmsghdr *n)
{
	if (w->argc <= 0 || strcmp(*w->argv, "off"))
		return parse_us(opt, w, n);
	next_word(opt->word, w);
	return addattr32(n, TC_MSG_MAX, opt->attr, 0);
}

static inline int parse_rate(const struct tc_opt *opt, struct words *w,
			     struct nlmsghdr *n)
{
	const char *arg = next_word(opt->word, w);
	double number;
	__u64 val;

	if (!arg)
		return -1;
	/*
	 * Many tc's take a negative rate for a huge one. And 7bit are 0 bytes
	 * a second, which would mean: no limit.
	 */
	number = strtod(arg, NULL);
	if (get_rate64(&val, arg) || number < 0 || (number > 0 && !val))
		return illegal(opt->word, arg, "a rate");
	return addattr64(n, TC_MSG_MAX, opt->attr, val);
}

static inline int parse_name(const struct tc_opt *opt, struct words *w,
			     struct nlmsghdr *n)
{
	const char *arg = next_word(opt->word, w);
	int val;

	if (!arg)
		return -1;
	val = get_name(opt->names, arg);
	if (val < 0)
		return illegal(opt->word, arg, opt->names->wanted);
	return addattr32(n, TC_MSG_MAX, opt->attr, val);
}

static inline int parse_yes(const struct tc_opt *opt, struct words *w,
			    struct nlmsghdr *n)
{
	return addattr32(n, TC_MSG_MAX, opt->attr, 1);
}

static inline int parse_no(const struct tc_opt *opt, struct words *w,
			   struct nlmsghdr *n)
{
	return addattr32(n, TC_MSG_MAX, opt->attr, 0);
}

static inline const struct tc_opt *find_opt(const struct tc_opt *opts,
					    size_t count, const char *word)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (!strcmp(opts[i].word, word))
			return &opts[i];
	}
	return NULL;
}

/* All words, into TCA_OPTIONS; explain() tells what words there are */
static inline int parse_opts(const struct tc_opt *opts, size_t count,
			     struct words *w, struct nlmsghdr *n,
			     void (*explain)(FILE *f))
{
	struct rtattr *nest = addattr_nest(n, TC_MSG_MAX,
					   TCA_OPTIONS | NLA_F_NESTED);
	const struct tc_opt *opt;
	const char *word;

	while (w->argc > 0) {
		word = next_word("options", w);
		opt = find_opt(opts, count, word);
		if (!opt) {
			if (strcmp(word, "help"))
				fprintf(stderr, "unknown option \"%s\"\n", word);
			explain(stderr);
			return -1;
		}
		if (opt->parse(opt, w, n))
			return -1;
	}
	addattr_nest_end(n, nest);
	return 0;
}

/* ---- printing ---- */

/* Text: label, then the number */
static inline void out_u64(const char *key, const char *label, __u64 val,
			   const char *unit)
{
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", label);
	print_color_u64(PRINT_ANY, COLOR_NONE, key, "%llu", val);
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", unit);
}

/* The numbers of set bits, for JSON only */
static inline void out_json_bits(const char *key, __u64 mask)
{
	unsigned int bit;

	open_json_array(PRINT_JSON, key);
	for (bit = 0; bit < 64; bit++) {
		if (mask >> bit & 1)
			print_color_u64(PRINT_JSON, COLOR_NONE, NULL, NULL,
					bit);
	}
	close_json_array(PRINT_JSON, NULL);
}

/* Writes FIRST or FIRST-LAST; returns how many characters */
static inline int put_range(char *text, unsigned int first, unsigned int last)
{
	return first == last ? sprintf(text, "%u", first) :
			       sprintf(text, "%u-%u", first, last);
}

/* The numbers of set bits: an array in JSON, a list of ranges as text */
static inline void out_bits(const char *key, __u64 mask)
{
	unsigned int first, last, len = 0;
	char text[64 * sizeof("63-")] = "";

	out_json_bits(key, mask);
	for (first = 0; first < 64; first = last + 1) {
		last = first;
		if (!(mask >> first & 1))
			continue;
		while (last < 63 && mask >> (last + 1) & 1)
			last++;
		if (len)
			text[len++] = ',';
		len += put_range(text + len, first, last);
	}
	out_text(text);
}

/* out_map(): there is none that is left out */
#define NO_VALUE	-1

/*
 * A map: an array in JSON. As text FROM:TO and FROM-FROM:TO without those whose
 * value is `none`; off: all have it.
 */
static inline void out_map(const char *key, const __u8 *map, unsigned int count,
			   int none)
{
	unsigned int from, next, len = 0;
	char text[64 * sizeof("63:255,")] = "off";

	open_json_array(PRINT_JSON, key);
	for (from = 0; from < count; from++)
		print_color_u64(PRINT_JSON, COLOR_NONE, NULL, NULL, map[from]);
	close_json_array(PRINT_JSON, NULL);
	for (from = 0; from < count; from = next) {
		next = from + 1;
		while (next < count && map[next] == map[from])
			next++;
		if (map[from] == none)
			continue;
		if (len)
			text[len++] = ',';
		len += put_range(text + len, from, next - 1);
		len += sprintf(text + len, ":%u", map[from]);
	}
	out_text(key);
	out_text(text);
}

static inline void print_uint(const struct tc_opt *opt, struct rtattr **tb)
{
	__u64 val;

	if (attr_uint(tb, opt->attr, &val))
		out_u64(opt->word, opt->word, val, "");
}

static inline void print_auto_bytes(const struct tc_opt *opt,
				    struct rtattr **tb)
{
	__u64 val;

	if (!attr_uint(tb, opt->attr, &val))
		return;
	if (val) {
		out_u64(opt->word, opt->word, val, "");
		return;
	}
	print_color_u64(PRINT_JSON, COLOR_NONE, opt->word, NULL, val);
	out_text(opt->word);
	out_text("auto");
}

/* Time in units of unit_ns; zero: the word for 0, if there is one */
static inline void print_time(const struct tc_opt *opt, struct rtattr **tb,
			      unsigned int unit_ns, const char *zero)
{
	__u64 val;

	if (!attr_uint(tb, opt->attr, &val))
		return;
	print_color_u64(PRINT_JSON, COLOR_NONE, opt->word, NULL, val);
	out_text(opt->word);
	if (!val && zero)
		out_text(zero);
	else
		out_in_units("", val * unit_ns, time_units);
}

static inline void print_us(const struct tc_opt *opt, struct rtattr **tb)
{
	print_time(opt, tb, NSEC_PER_USEC, NULL);
}

static inline void print_us_or_off(const struct tc_opt *opt,
				   struct rtattr **tb)
{
	print_time(opt, tb, NSEC_PER_USEC, "off");
}

static inline void print_rate(const struct tc_opt *opt, struct rtattr **tb)
{
	__u64 val;

	if (!attr_uint(tb, opt->attr, &val))
		return;
	print_color_u64(PRINT_JSON, COLOR_NONE, opt->word, NULL, val);
	if (!val)
		return;
	out_text(opt->word);
	out_in_units("", val * 8, rate_units);
}

static inline void print_name(const struct tc_opt *opt, struct rtattr **tb)
{
	const struct tc_names *names = opt->names;
	__u64 val;

	if (!attr_uint(tb, opt->attr, &val))
		return;
	out_text(opt->word);
	print_color_string(PRINT_ANY, COLOR_NONE, opt->word, "%s ",
			   val < names->count ? names->names[val] : "unknown");
}

/* WORD or noWORD */
static inline void print_flag(const struct tc_opt *opt, struct rtattr **tb)
{
	__u64 val;

	if (!attr_uint(tb, opt->attr, &val))
		return;
	print_color_bool(PRINT_JSON, COLOR_NONE, opt->word, NULL, val);
	print_color_string(PRINT_FP, COLOR_NONE, NULL, val ? "%s " : "no%s ",
			   opt->word);
}

static inline void print_opts(const struct tc_opt *opts, size_t count,
			      struct rtattr **tb)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (opts[i].print)
			opts[i].print(&opts[i], tb);
	}
}

/* ---- statistics: nested attributes, a u64 each ---- */

/*
 * Parse nested statistics. tb has max + 1 entries; attributes above max, of a
 * newer kernel, are skipped.
 */
static inline void parse_stats(struct rtattr **tb, int max, struct rtattr *nest)
{
	parse_rtattr_flags(tb, max, RTA_DATA(nest), RTA_PAYLOAD(nest),
			   NLA_F_NESTED);
}

/* Print a counter; an older kernel may lack it, and then it is left out. */
static inline void print_stat(struct rtattr **tb, int attr, const char *key,
			      const char *label, const char *unit)
{
	__u64 val;

	if (attr_uint(tb, attr, &val))
		out_u64(key, label, val, unit);
}

#endif /* _CLOSNET_TC_OPTIONS_H */
