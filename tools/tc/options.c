// SPDX-License-Identifier: GPL-2.0-only
/*
 * Options of a plug-in of tc(8) or ip(8): parsing words, printing attributes as text and JSON
 */
#include <string.h>
#include <strings.h>

#include "options.h"

/* A bare number is in bits too, but is never printed. */
const struct unit rate_units[] = {
	{ "Tbit", 1000000000000 }, { "Gbit", 1000000000 }, { "Mbit", 1000000 },
	{ "Kbit", 1000 }, { "bit", 1 }, { "", 1 }, { }
};

const struct unit time_units[] = {
	{ "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 }, { "ns", 1 }, { }
};

#define UNITS_MAX	(0x1p63L - 1)

/* ---- words and attributes ---- */

const char *next_word(const char *of, struct words *w)
{
	if (w->argc <= 0) {
		fprintf(stderr, "\"%s\" needs a value\n", of);
		return NULL;
	}
	w->argc--;
	return *w->argv++;
}

int illegal(const char *word, const char *arg, const char *wanted)
{
	fprintf(stderr, "Illegal \"%s\": \"%s\" is not %s\n", word, arg, wanted);
	return -1;
}

bool attr_uint(struct rtattr **tb, int attr, __u64 *val)
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

void out_text(const char *text)
{
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", text);
}

/* ---- quantities ---- */

int get_in_units(__s64 *val, const char *arg, const struct unit *unit)
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

void out_in_units(const char *sign, __u64 val, const struct unit *unit)
{
	char text[32];

	while (val % unit->size)
		unit++;
	snprintf(text, sizeof(text), "%s%llu%s", sign, val / unit->size,
		 unit->name);
	out_text(text);
}

int get_percent(__u32 *val, const char *arg)
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

/* Print a share with the fewest decimals that read back as the same number */
static void out_percent(__u64 val)
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

/*
 * tc's get_size() accepts -1 and 5gb and makes other numbers of them. A fraction of a byte is
 * allowed with a larger unit, as in 22.4kb: the result is rounded, but not to 0.
 */
int get_bytes64(__u64 *val, const char *arg)
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

int get_bytes(__u32 *val, const char *arg)
{
	__u64 size;

	if (get_bytes64(&size, arg) || size > UINT32_MAX)
		return -1;
	*val = size;
	return 0;
}

int get_time32(__u32 *val, const char *arg, unsigned int unit_ns)
{
	__s64 ns;

	if (get_in_units(&ns, arg, time_units) || ns < 0 ||
	    (ns && ns < unit_ns) || ns / unit_ns >= UINT32_MAX)
		return -1;
	*val = (ns + unit_ns / 2) / unit_ns;
	return 0;
}

int get_name(const struct value_names *names, const char *arg)
{
	size_t i;

	for (i = 0; i < names->count; i++) {
		if (!strcmp(names->names[i], arg))
			return i;
	}
	return -1;
}

/* ---- parsing ---- */

int parse_u32(const struct plugin_opt *opt, struct words *w, struct nlmsghdr *n)
{
	const char *arg = next_word(opt->word, w);
	__u32 val;

	if (!arg)
		return -1;
	if (get_u32(&val, arg, 0))
		return illegal(opt->word, arg, "a whole number");
	return addattr32(n, PLUGIN_MSG_MAX, opt->attr, val);
}

int parse_bytes(const struct plugin_opt *opt, struct words *w, struct nlmsghdr *n)
{
	const char *arg = next_word(opt->word, w);
	__u32 val;

	if (!arg)
		return -1;
	if (get_bytes(&val, arg))
		return illegal(opt->word, arg, "a size in bytes");
	return addattr32(n, PLUGIN_MSG_MAX, opt->attr, val);
}

/* The attribute is 0 for auto. A typed 0 is an error. */
int parse_auto_bytes(const struct plugin_opt *opt, struct words *w, struct nlmsghdr *n)
{
	const char *arg = next_word(opt->word, w);
	__u32 val = 0;

	if (!arg)
		return -1;
	if (strcmp(arg, "auto") && (get_bytes(&val, arg) || !val))
		return illegal(opt->word, arg, "auto or a size in bytes");
	return addattr32(n, PLUGIN_MSG_MAX, opt->attr, val);
}

static int parse_time(const struct plugin_opt *opt, struct words *w, struct nlmsghdr *n,
		      unsigned int unit_ns)
{
	const char *arg = next_word(opt->word, w);
	__u32 val;

	if (!arg)
		return -1;
	if (get_time32(&val, arg, unit_ns))
		return illegal(opt->word, arg, "a time with its unit");
	return addattr32(n, PLUGIN_MSG_MAX, opt->attr, val);
}

int parse_us(const struct plugin_opt *opt, struct words *w, struct nlmsghdr *n)
{
	return parse_time(opt, w, n, NSEC_PER_USEC);
}

int parse_ns32(const struct plugin_opt *opt, struct words *w, struct nlmsghdr *n)
{
	return parse_time(opt, w, n, 1);
}

int parse_ns64(const struct plugin_opt *opt, struct words *w, struct nlmsghdr *n)
{
	const char *arg = next_word(opt->word, w);
	__s64 ns;

	if (!arg)
		return -1;
	if (get_in_units(&ns, arg, time_units) || ns < 0)
		return illegal(opt->word, arg, "a time with its unit");
	return addattr64(n, PLUGIN_MSG_MAX, opt->attr, ns);
}

int parse_us_or_off(const struct plugin_opt *opt, struct words *w, struct nlmsghdr *n)
{
	if (w->argc <= 0 || strcmp(*w->argv, "off"))
		return parse_us(opt, w, n);
	next_word(opt->word, w);
	return addattr32(n, PLUGIN_MSG_MAX, opt->attr, 0);
}

int parse_auto_us(const struct plugin_opt *opt, struct words *w, struct nlmsghdr *n)
{
	if (w->argc <= 0 || strcmp(*w->argv, "auto"))
		return parse_us(opt, w, n);
	next_word(opt->word, w);
	return addattr32(n, PLUGIN_MSG_MAX, opt->attr, 0);
}

/* Without its sign, 1 could mean 1 % or 100 %. */
int parse_percent(const struct plugin_opt *opt, struct words *w, struct nlmsghdr *n)
{
	const char *arg = next_word(opt->word, w);
	__u32 val;

	if (!arg)
		return -1;
	if (!strchr(arg, '%') || get_percent(&val, arg))
		return illegal(opt->word, arg, "a percentage, like 1%");
	return addattr32(n, PLUGIN_MSG_MAX, opt->attr, val);
}

int parse_name(const struct plugin_opt *opt, struct words *w, struct nlmsghdr *n)
{
	const char *arg = next_word(opt->word, w);
	int val;

	if (!arg)
		return -1;
	val = get_name(opt->names, arg);
	if (val < 0)
		return illegal(opt->word, arg, opt->names->wanted);
	return addattr32(n, PLUGIN_MSG_MAX, opt->attr, val);
}

int parse_yes(const struct plugin_opt *opt, struct words *w, struct nlmsghdr *n)
{
	return addattr32(n, PLUGIN_MSG_MAX, opt->attr, 1);
}

int parse_no(const struct plugin_opt *opt, struct words *w, struct nlmsghdr *n)
{
	return addattr32(n, PLUGIN_MSG_MAX, opt->attr, 0);
}

const struct plugin_opt *find_opt(const struct plugin_opt *opts, size_t count, const char *word)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (!strcmp(opts[i].word, word))
			return &opts[i];
	}
	return NULL;
}

/* ---- printing ---- */

void out_u64(const char *key, const char *label, __u64 val, const char *unit)
{
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", label);
	print_color_u64(PRINT_ANY, COLOR_NONE, key, "%llu", val);
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", unit);
}

void print_uint(const struct plugin_opt *opt, struct rtattr **tb)
{
	__u64 val;

	if (attr_uint(tb, opt->attr, &val))
		out_u64(opt->word, opt->word, val, "");
}

void print_auto_bytes(const struct plugin_opt *opt, struct rtattr **tb)
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

/* Print a time in units of @unit_ns; @zero: word for 0, or NULL */
static void print_time(const struct plugin_opt *opt, struct rtattr **tb, unsigned int unit_ns,
		       const char *zero)
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

void print_us(const struct plugin_opt *opt, struct rtattr **tb)
{
	print_time(opt, tb, NSEC_PER_USEC, NULL);
}

void print_us_or_off(const struct plugin_opt *opt, struct rtattr **tb)
{
	print_time(opt, tb, NSEC_PER_USEC, "off");
}

void print_auto_us(const struct plugin_opt *opt, struct rtattr **tb)
{
	print_time(opt, tb, NSEC_PER_USEC, "auto");
}

void print_ns(const struct plugin_opt *opt, struct rtattr **tb)
{
	print_time(opt, tb, 1, NULL);
}

void print_rate(const struct plugin_opt *opt, struct rtattr **tb)
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

void print_name(const struct plugin_opt *opt, struct rtattr **tb)
{
	const struct value_names *names = opt->names;
	__u64 val;

	if (!attr_uint(tb, opt->attr, &val))
		return;
	out_text(opt->word);
	print_color_string(PRINT_ANY, COLOR_NONE, opt->word, "%s ",
			   val < names->count ? names->names[val] : "unknown");
}

void print_flag(const struct plugin_opt *opt, struct rtattr **tb)
{
	__u64 val;

	if (!attr_uint(tb, opt->attr, &val))
		return;
	print_color_bool(PRINT_JSON, COLOR_NONE, opt->word, NULL, val);
	print_color_string(PRINT_FP, COLOR_NONE, NULL, val ? "%s " : "no%s ",
			   opt->word);
}

void print_percent(const struct plugin_opt *opt, struct rtattr **tb)
{
	__u64 val;

	if (!attr_uint(tb, opt->attr, &val))
		return;
	print_color_float(PRINT_JSON, COLOR_NONE, opt->word, NULL, (double)val / UINT32_MAX);
	out_text(opt->word);
	out_percent(val);
}

void print_opts(const struct plugin_opt *opts, size_t count, struct rtattr **tb)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (opts[i].print)
			opts[i].print(&opts[i], tb);
	}
}
