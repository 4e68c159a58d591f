// SPDX-License-Identifier: GPL-2.0-only
/*
 * tc(8) plug-in for sch_ndp: options and statistics, text and JSON
 *
 * One table, in the order of the output, says for each option its word, its
 * attribute, how it is read and how it is printed. Only what the user gives
 * is sent: defaults and ranges are the kernel's, which names the attribute
 * when a number is out of range. The text of the options can be read back by
 * the same table without loss; in JSON the units are those of netlink.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <linux/pkt_sched_ndp.h>

#include "tc_plugin.h"

#define NDP_MSG_MAX	1024
#define NDP_DSCP_MAX	63

struct ndp_opt {
	const char *word;
	int attr;
	int (*parse)(const struct ndp_opt *opt, struct words *w,
		     struct nlmsghdr *n);
	void (*print)(const struct ndp_opt *opt, struct rtattr **tb);
};

static const char * const mode_names[] = {
	[TC_NDP_MODE_NDP] = "ndp",
	[TC_NDP_MODE_CP] = "cp",
	[TC_NDP_MODE_DROPTAIL] = "droptail",
};

static const char * const match_names[] = {
	[TC_NDP_MATCH_UDP_PORT] = "udp_port",
	[TC_NDP_MATCH_DSCP] = "dscp",
	[TC_NDP_MATCH_ALL] = "all",
};

static void explain(FILE *f)
{
	fprintf(f,
		"Usage: ... ndp	[ limit PACKETS ] [ limit_bytes BYTES ] [ hlimit BYTES ]\n"
		"		[ ratio HEADERS ] [ trim_size BYTES ]\n"
		"		[ mode ndp | cp | droptail ]\n"
		"		[ match udp_port PORT | match dscp LIST | match all ]\n"
		"		[ dscp_trimmed DSCP ] [ rts | norts ] [ dscp_returned DSCP ]\n"
		"		[ rate RATE ] [ overhead BYTES ]\n"
		"		[ other_limit BYTES ] [ other_ecn BYTES ]\n"
		"LIST := DSCP | DSCP-DSCP [ , LIST ]\n"
		"DSCP := 0..63 | be | cs0..cs7 | af11..af43 | ef\n");
}

/* ---- reading ---- */

/* tc's own get_size() takes -1 and 5gb, and makes other numbers of them */
static int get_bytes(__u32 *val, const char *arg)
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
	if (!(size >= 0 && size <= UINT32_MAX) || size != (__u32)size)
		return -1;
	*val = size;
	return 0;
}

static int get_dscp(__u8 *val, const char *arg)
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
		return get_u8(val, arg, 0) || *val > NDP_DSCP_MAX ? -1 : 0;
	}
	return 0;
}

/* Adds a DSCP or a range of them to the set; item is written to */
static int get_dscp_item(__u64 *mask, char *item)
{
	char *dash = strchr(item, '-');
	__u8 first, last;

	if (dash)
		*dash++ = '\0';
	if (get_dscp(&first, item) || get_dscp(&last, dash ? dash : item))
		return -1;
	if (first > last)
		return -1;
	*mask |= (~0ULL >> (NDP_DSCP_MAX - last)) & (~0ULL << first);
	return 0;
}

static int get_dscp_list(__u64 *mask, const char *arg)
{
	char *copy = strdup(arg), *rest = copy, *item;
	int err = copy ? 0 : -1;

	*mask = 0;
	while (!err && (item = strsep(&rest, ",")))
		err = get_dscp_item(mask, item);
	free(copy);
	return err;
}

/* Index of a name; -1: none */
static int get_name(const char * const *names, size_t count, const char *arg)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (!strcmp(names[i], arg))
			return i;
	}
	return -1;
}

static int parse_u32(const struct ndp_opt *opt, struct words *w,
		     struct nlmsghdr *n)
{
	const char *arg = next_word(opt->word, w);
	__u32 val;

	if (!arg)
		return -1;
	if (get_u32(&val, arg, 0))
		return illegal(opt->word, arg, "a whole number");
	return addattr32(n, NDP_MSG_MAX, opt->attr, val);
}

static int parse_bytes(const struct ndp_opt *opt, struct words *w,
		       struct nlmsghdr *n)
{
	const char *arg = next_word(opt->word, w);
	__u32 val;

	if (!arg)
		return -1;
	if (get_bytes(&val, arg))
		return illegal(opt->word, arg, "a size in bytes");
	return addattr32(n, NDP_MSG_MAX, opt->attr, val);
}

static int parse_dscp(const struct ndp_opt *opt, struct words *w,
		      struct nlmsghdr *n)
{
	const char *arg = next_word(opt->word, w);
	__u8 val;

	if (!arg)
		return -1;
	if (get_dscp(&val, arg))
		return illegal(opt->word, arg, "a DSCP");
	return addattr8(n, NDP_MSG_MAX, opt->attr, val);
}

static int parse_rate(const struct ndp_opt *opt, struct words *w,
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
	return addattr64(n, NDP_MSG_MAX, opt->attr, val);
}

static int parse_mode(const struct ndp_opt *opt, struct words *w,
		      struct nlmsghdr *n)
{
	const char *arg = next_word(opt->word, w);
	int mode;

	if (!arg)
		return -1;
	mode = get_name(mode_names, ARRAY_SIZE(mode_names), arg);
	if (mode < 0)
		return illegal(opt->word, arg, "ndp, cp or droptail");
	return addattr8(n, NDP_MSG_MAX, opt->attr, mode);
}

static int parse_match_port(struct words *w, struct nlmsghdr *n)
{
	const char *arg = next_word("match udp_port", w);
	__u16 port;

	if (!arg)
		return -1;
	if (get_u16(&port, arg, 0))
		return illegal("match udp_port", arg, "a port");
	return addattr16(n, NDP_MSG_MAX, TCA_NDP_UDP_PORT, port);
}

static int parse_match_dscp(struct words *w, struct nlmsghdr *n)
{
	const char *arg = next_word("match dscp", w);
	__u64 mask;

	if (!arg)
		return -1;
	if (get_dscp_list(&mask, arg))
		return illegal("match dscp", arg, "a list of DSCPs");
	return addattr64(n, NDP_MSG_MAX, TCA_NDP_DSCP_MASK, mask);
}

static int parse_match(const struct ndp_opt *opt, struct words *w,
		       struct nlmsghdr *n)
{
	const char *arg = next_word(opt->word, w);
	int match;

	if (!arg)
		return -1;
	match = get_name(match_names, ARRAY_SIZE(match_names), arg);
	if (match < 0)
		return illegal(opt->word, arg, "udp_port, dscp or all");
	if (addattr8(n, NDP_MSG_MAX, opt->attr, match))
		return -1;
	if (match == TC_NDP_MATCH_UDP_PORT)
		return parse_match_port(w, n);
	if (match == TC_NDP_MATCH_DSCP)
		return parse_match_dscp(w, n);
	return 0;
}

static int parse_yes(const struct ndp_opt *opt, struct words *w,
		     struct nlmsghdr *n)
{
	return addattr8(n, NDP_MSG_MAX, opt->attr, 1);
}

static int parse_no(const struct ndp_opt *opt, struct words *w,
		    struct nlmsghdr *n)
{
	return addattr8(n, NDP_MSG_MAX, opt->attr, 0);
}

/* ---- printing ---- */

/* Text: label, then the number */
static void out_u64(const char *key, const char *label, __u64 val,
		    const char *unit)
{
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", label);
	print_color_u64(PRINT_ANY, COLOR_NONE, key, "%llu", val);
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", unit);
}

static void print_uint(const struct ndp_opt *opt, struct rtattr **tb)
{
	__u64 val;

	if (attr_uint(tb, opt->attr, &val))
		out_u64(opt->word, opt->word, val, "");
}

static void print_rate(const struct ndp_opt *opt, struct rtattr **tb)
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

static void print_mode(const struct ndp_opt *opt, struct rtattr **tb)
{
	__u64 val;

	if (!attr_uint(tb, opt->attr, &val))
		return;
	out_text(opt->word);
	print_color_string(PRINT_ANY, COLOR_NONE, opt->word, "%s ",
			   val < ARRAY_SIZE(mode_names) ? mode_names[val] :
							  "unknown");
}

static void print_dscp_json(__u64 mask)
{
	unsigned int dscp;

	open_json_array(PRINT_JSON, "dscp");
	for (dscp = 0; dscp <= NDP_DSCP_MAX; dscp++) {
		if (mask >> dscp & 1)
			print_color_u64(PRINT_JSON, COLOR_NONE, NULL, NULL,
					dscp);
	}
	close_json_array(PRINT_JSON, NULL);
}

static void print_dscp_text(__u64 mask)
{
	char text[NDP_DSCP_MAX * 4] = "";
	unsigned int first, last, len = 0;

	for (first = 0; first <= NDP_DSCP_MAX; first = last + 1) {
		last = first;
		if (!(mask >> first & 1))
			continue;
		while (last < NDP_DSCP_MAX && mask >> (last + 1) & 1)
			last++;
		len += sprintf(text + len, "%s%u", len ? "," : "", first);
		if (last > first)
			len += sprintf(text + len, "-%u", last);
	}
	out_text(text);
}

static void print_match(const struct ndp_opt *opt, struct rtattr **tb)
{
	__u64 match, val;

	if (!attr_uint(tb, opt->attr, &match))
		return;
	out_text(opt->word);
	print_color_string(PRINT_ANY, COLOR_NONE, opt->word, "%s ",
			   match < ARRAY_SIZE(match_names) ?
			   match_names[match] : "unknown");
	if (match == TC_NDP_MATCH_UDP_PORT &&
	    attr_uint(tb, TCA_NDP_UDP_PORT, &val))
		print_color_u64(PRINT_ANY, COLOR_NONE, "udp_port",
				"%llu ", val);
	if (match == TC_NDP_MATCH_DSCP &&
	    attr_uint(tb, TCA_NDP_DSCP_MASK, &val)) {
		print_dscp_json(val);
		print_dscp_text(val);
	}
}

static void print_rts(const struct ndp_opt *opt, struct rtattr **tb)
{
	__u64 val;

	if (!attr_uint(tb, opt->attr, &val))
		return;
	print_color_bool(PRINT_JSON, COLOR_NONE, opt->word, NULL, val);
	out_text(val ? "rts" : "norts");
}

/* ---- the table ---- */

static const struct ndp_opt ndp_opts[] = {
	{ "limit", TCA_NDP_LIMIT, parse_u32, print_uint },
	{ "limit_bytes", TCA_NDP_LIMIT_BYTES, parse_bytes, print_uint },
	{ "hlimit", TCA_NDP_HLIMIT, parse_bytes, print_uint },
	{ "ratio", TCA_NDP_RATIO, parse_u32, print_uint },
	{ "trim_size", TCA_NDP_TRIM_SIZE, parse_bytes, print_uint },
	{ "mode", TCA_NDP_MODE, parse_mode, print_mode },
	{ "match", TCA_NDP_MATCH, parse_match, print_match },
	{ "dscp_trimmed", TCA_NDP_DSCP_TRIMMED, parse_dscp, print_uint },
	{ "rts", TCA_NDP_RTS, parse_yes, print_rts },
	{ "norts", TCA_NDP_RTS, parse_no, NULL },
	{ "dscp_returned", TCA_NDP_DSCP_RETURNED, parse_dscp, print_uint },
	{ "rate", TCA_NDP_RATE, parse_rate, print_rate },
	{ "overhead", TCA_NDP_OVERHEAD, parse_bytes, print_uint },
	{ "other_limit", TCA_NDP_OTHER_LIMIT, parse_bytes, print_uint },
	{ "other_ecn", TCA_NDP_OTHER_ECN, parse_bytes, print_uint },
};

static int parse_word(const char *word, struct words *w, struct nlmsghdr *n)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ndp_opts); i++) {
		if (!strcmp(ndp_opts[i].word, word))
			return ndp_opts[i].parse(&ndp_opts[i], w, n);
	}
	if (strcmp(word, "help"))
		fprintf(stderr, "What is \"%s\"?\n", word);
	explain(stderr);
	return -1;
}

static int ndp_parse_opt(const struct qdisc_util *qu, int argc, char **argv,
			 struct nlmsghdr *n, const char *dev)
{
	struct words w = { argc, argv };
	struct rtattr *nest;

	nest = addattr_nest(n, NDP_MSG_MAX, TCA_OPTIONS | NLA_F_NESTED);
	while (w.argc > 0) {
		if (parse_word(next_word("ndp", &w), &w, n))
			return -1;
	}
	addattr_nest_end(n, nest);
	return 0;
}

static int ndp_print_opt(const struct qdisc_util *qu, FILE *f,
			 struct rtattr *opt)
{
	struct rtattr *tb[TCA_NDP_MAX + 1];
	size_t i;

	if (!opt)
		return 0;
	parse_rtattr(tb, TCA_NDP_MAX, RTA_DATA(opt), RTA_PAYLOAD(opt));
	for (i = 0; i < ARRAY_SIZE(ndp_opts); i++) {
		if (ndp_opts[i].print)
			ndp_opts[i].print(&ndp_opts[i], tb);
	}
	return 0;
}

static void print_queue(const char *name, const struct tc_ndp_queue_xstats *q)
{
	open_json_object(name);
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "  %-6s ", name);
	out_u64("qlen_packets", "qlen", q->qlen_packets, "p");
	out_u64("backlog_bytes", "backlog", q->backlog_bytes, "b");
	out_u64("peak_packets", "peak", q->peak_packets, "p");
	print_color_u64(PRINT_ANY, COLOR_NONE, "peak_bytes", "%llub ",
			q->peak_bytes);
	out_u64("sent_packets", "sent", q->sent_packets, "p");
	print_color_u64(PRINT_ANY, COLOR_NONE, "sent_bytes", "%llub",
			q->sent_bytes);
	close_json_object();
	print_nl();
}

/* A shorter structure is an older kernel's: what it lacks counts as 0. */
static int ndp_print_xstats(const struct qdisc_util *qu, FILE *f,
			    struct rtattr *xstats)
{
	struct tc_ndp_xstats st = {};
	size_t len;

	if (!xstats)
		return 0;
	len = RTA_PAYLOAD(xstats);
	memcpy(&st, RTA_DATA(xstats), len < sizeof(st) ? len : sizeof(st));

	print_queue("data", &st.data);
	print_queue("header", &st.header);
	print_queue("other", &st.other);
#define OUT(field, label) out_u64(#field, label, st.field, "")
	out_text("  trimmed");
	OUT(trimmed_arrival_packets, "arrival");
	OUT(trimmed_tail_packets, "tail");
	OUT(trimmed_bytes, "bytes");
	print_nl();
	OUT(returned_packets, "  returned");
	OUT(ecn_marked_packets, "ecn_marked");
	print_nl();
	out_text("  dropped");
	OUT(dropped_data_packets, "data");
	OUT(dropped_header_packets, "header");
	OUT(dropped_returned_packets, "returned");
	OUT(dropped_other_packets, "other");
	OUT(dropped_nomem_packets, "nomem");
#undef OUT
	return 0;
}

struct qdisc_util ndp_qdisc_util = {
	.id = "ndp",
	.parse_qopt = ndp_parse_opt,
	.print_qopt = ndp_print_opt,
	.print_xstats = ndp_print_xstats,
};
