// SPDX-License-Identifier: GPL-2.0-only
/*
 * Options and statistics of the qdiscs' plug-ins: rates, DSCPs, priorities, sets and maps
 */
#include <string.h>

#include "tc_options.h"

#define DSCP_MAX	63
#define PRIO_MAX	7

/* ---- parsing ---- */

int get_prio(__u8 *val, const char *arg)
{
	return get_u8(val, arg, 0) || *val > PRIO_MAX ? -1 : 0;
}

int get_dscp(__u8 *val, const char *arg)
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

int get_range(__u64 *mask, int (*get)(__u8 *val, const char *arg), char *item)
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

int take_items(const char *arg, const char *separators, int (*take)(void *result, char *item),
	       void *result)
{
	char *copy = strdup(arg), *rest = copy, *item;
	int err = copy ? 0 : -1;

	while (!err && (item = strsep(&rest, separators)))
		err = take(result, item);
	free(copy);
	return err;
}

int add_mapping(void *result, char *item)
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

int parse_dscp(const struct plugin_opt *opt, struct words *w, struct nlmsghdr *n)
{
	const char *arg = next_word(opt->word, w);
	__u8 val;

	if (!arg)
		return -1;
	if (get_dscp(&val, arg))
		return illegal(opt->word, arg, "a DSCP");
	return addattr32(n, PLUGIN_MSG_MAX, opt->attr, val);
}

/*
 * Many tc's take a negative rate for a huge one. And 7bit are 0 bytes a second, which would mean:
 * no limit.
 */
int get_rate_Bps(__u64 *val, const char *arg)
{
	double number = strtod(arg, NULL);

	return get_rate64(val, arg) || number < 0 || (number > 0 && !*val) ? -1 : 0;
}

int parse_rate(const struct plugin_opt *opt, struct words *w, struct nlmsghdr *n)
{
	const char *arg = next_word(opt->word, w);
	__u64 val;

	if (!arg)
		return -1;
	if (get_rate_Bps(&val, arg))
		return illegal(opt->word, arg, "a rate");
	return addattr64(n, PLUGIN_MSG_MAX, opt->attr, val);
}

int parse_opts(const struct plugin_opt *opts, size_t count, struct words *w, struct nlmsghdr *n,
	       void (*explain)(FILE *f))
{
	struct rtattr *nest = addattr_nest(n, PLUGIN_MSG_MAX,
					   TCA_OPTIONS | NLA_F_NESTED);
	const struct plugin_opt *opt;
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

void out_json_bits(const char *key, __u64 mask)
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

/* Write FIRST or FIRST-LAST. Return: number of characters */
static int put_range(char *text, unsigned int first, unsigned int last)
{
	return first == last ? sprintf(text, "%u", first) :
			       sprintf(text, "%u-%u", first, last);
}

void out_bits(const char *key, __u64 mask)
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

void out_map(const char *key, const __u8 *map, unsigned int count, int none)
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

/* ---- statistics ---- */

void parse_stats(struct rtattr **tb, int max, struct rtattr *nest)
{
	parse_rtattr_flags(tb, max, RTA_DATA(nest), RTA_PAYLOAD(nest),
			   NLA_F_NESTED);
}

void print_stat(struct rtattr **tb, int attr, const char *key, const char *label, const char *unit)
{
	__u64 val;

	if (attr_uint(tb, attr, &val))
		out_u64(key, label, val, unit);
}
