// SPDX-License-Identifier: GPL-2.0-only
/*
 * tc(8) plug-in for sch_ndp: options and statistics, text and JSON
 */
#include <linux/pkt_sched_ndp.h>

#include "tc_options.h"

static const char * const mode_names[] = {
	[TC_NDP_MODE_NDP] = "ndp",
	[TC_NDP_MODE_CP] = "cp",
	[TC_NDP_MODE_DROPTAIL] = "droptail",
};

static const struct tc_names modes = {
	ARRAY_SIZE(mode_names), mode_names, "ndp, cp or droptail"
};

static const char * const match_names[] = {
	[TC_NDP_MATCH_UDP_PORT] = "udp_port",
	[TC_NDP_MATCH_DSCP] = "dscp",
	[TC_NDP_MATCH_ALL] = "all",
};

static const struct tc_names matches = {
	ARRAY_SIZE(match_names), match_names, "udp_port, dscp or all"
};

static void explain(FILE *f)
{
	fprintf(f,
		"Usage: ... ndp	[ limit PACKETS ] [ limit_bytes BYTES ] [ hlimit BYTES | auto ]\n"
		"		[ ratio HEADERS ] [ trim_size BYTES ]\n"
		"		[ mode ndp | cp | droptail ]\n"
		"		[ match udp_port PORT | match dscp LIST | match all ]\n"
		"		[ dscp_trimmed DSCP ] [ rts | norts ] [ dscp_returned DSCP ]\n"
		"		[ rate RATE ] [ overhead BYTES ]\n"
		"		[ other_limit BYTES | auto ] [ other_ecn BYTES ]\n"
		"LIST := DSCP | DSCP-DSCP [ , LIST ]\n"
		"DSCP := 0..63 | be | cs0..cs7 | af11..af43 | ef\n");
}

/* ---- reading ---- */

static int add_dscps(void *mask, char *item)
{
	__u64 more;

	if (get_range(&more, get_dscp, item))
		return -1;
	*(__u64 *)mask |= more;
	return 0;
}

static int parse_dscp(const struct tc_opt *opt, struct words *w,
		      struct nlmsghdr *n)
{
	const char *arg = next_word(opt->word, w);
	__u8 val;

	if (!arg)
		return -1;
	if (get_dscp(&val, arg))
		return illegal(opt->word, arg, "a DSCP");
	return addattr32(n, TC_MSG_MAX, opt->attr, val);
}

static int parse_match_port(struct words *w, struct nlmsghdr *n)
{
	const char *arg = next_word("match udp_port", w);
	__u16 port;

	if (!arg)
		return -1;
	if (get_u16(&port, arg, 0))
		return illegal("match udp_port", arg, "a port");
	return addattr32(n, TC_MSG_MAX, TCA_NDP_UDP_PORT, port);
}

static int parse_match_dscp(struct words *w, struct nlmsghdr *n)
{
	const char *arg = next_word("match dscp", w);
	__u64 mask = 0;

	if (!arg)
		return -1;
	if (take_items(arg, ",", add_dscps, &mask))
		return illegal("match dscp", arg, "a list of DSCPs");
	return addattr64(n, TC_MSG_MAX, TCA_NDP_DSCP_MASK, mask);
}

static int parse_match(const struct tc_opt *opt, struct words *w,
		       struct nlmsghdr *n)
{
	const char *arg = next_word(opt->word, w);
	int match;

	if (!arg)
		return -1;
	match = get_name(opt->names, arg);
	if (match < 0)
		return illegal(opt->word, arg, opt->names->wanted);
	if (addattr32(n, TC_MSG_MAX, opt->attr, match))
		return -1;
	if (match == TC_NDP_MATCH_UDP_PORT)
		return parse_match_port(w, n);
	if (match == TC_NDP_MATCH_DSCP)
		return parse_match_dscp(w, n);
	return 0;
}

/* ---- printing ---- */

static void print_match(const struct tc_opt *opt, struct rtattr **tb)
{
	__u64 match, val;

	if (!attr_uint(tb, opt->attr, &match))
		return;
	print_name(opt, tb);
	if (match == TC_NDP_MATCH_UDP_PORT &&
	    attr_uint(tb, TCA_NDP_UDP_PORT, &val))
		print_color_u64(PRINT_ANY, COLOR_NONE, "udp_port",
				"%llu ", val);
	if (match == TC_NDP_MATCH_DSCP &&
	    attr_uint(tb, TCA_NDP_DSCP_MASK, &val))
		out_bits("dscp", val);
}

/* ---- the table ---- */

static const struct tc_opt ndp_opts[] = {
	{ "limit", TCA_NDP_LIMIT, parse_u32, print_uint, NULL },
	{ "limit_bytes", TCA_NDP_LIMIT_BYTES, parse_bytes, print_uint, NULL },
	{ "hlimit", TCA_NDP_HLIMIT, parse_auto_bytes, print_auto_bytes, NULL },
	{ "ratio", TCA_NDP_RATIO, parse_u32, print_uint, NULL },
	{ "trim_size", TCA_NDP_TRIM_SIZE, parse_bytes, print_uint, NULL },
	{ "mode", TCA_NDP_MODE, parse_name, print_name, &modes },
	{ "match", TCA_NDP_MATCH, parse_match, print_match, &matches },
	{ "dscp_trimmed", TCA_NDP_DSCP_TRIMMED, parse_dscp, print_uint, NULL },
	{ "rts", TCA_NDP_RTS, parse_yes, print_flag, NULL },
	{ "norts", TCA_NDP_RTS, parse_no, NULL, NULL },
	{ "dscp_returned", TCA_NDP_DSCP_RETURNED, parse_dscp, print_uint, NULL },
	{ "rate", TCA_NDP_RATE, parse_rate, print_rate, NULL },
	{ "overhead", TCA_NDP_OVERHEAD, parse_bytes, print_uint, NULL },
	{ "other_limit", TCA_NDP_OTHER_LIMIT, parse_auto_bytes,
	  print_auto_bytes, NULL },
	{ "other_ecn", TCA_NDP_OTHER_ECN, parse_bytes, print_uint, NULL },
};

static int ndp_parse_opt(const struct qdisc_util *qu, int argc, char **argv,
			 struct nlmsghdr *n, const char *dev)
{
	struct words w = { argc, argv };

	return parse_opts(ndp_opts, ARRAY_SIZE(ndp_opts), &w, n, explain);
}

static int ndp_print_opt(const struct qdisc_util *qu, FILE *f,
			 struct rtattr *opt)
{
	struct rtattr *tb[TCA_NDP_MAX + 1];

	if (!opt)
		return 0;
	parse_rtattr(tb, TCA_NDP_MAX, RTA_DATA(opt), RTA_PAYLOAD(opt));
	print_opts(ndp_opts, ARRAY_SIZE(ndp_opts), tb);
	return 0;
}

static void print_queue(const char *name, struct rtattr *nest)
{
	struct rtattr *tb[TCA_NDP_STATS_QUEUE_MAX + 1];
	__u64 val;

	if (!nest)
		return;
	parse_stats(tb, TCA_NDP_STATS_QUEUE_MAX, nest);
	open_json_object(name);
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "  %-6s ", name);
	print_stat(tb, TCA_NDP_STATS_QUEUE_QLEN_PACKETS, "qlen_packets", "qlen", "p");
	print_stat(tb, TCA_NDP_STATS_QUEUE_BACKLOG_BYTES, "backlog_bytes", "backlog", "b");
	print_stat(tb, TCA_NDP_STATS_QUEUE_PEAK_PACKETS, "peak_packets", "peak", "p");
	if (attr_uint(tb, TCA_NDP_STATS_QUEUE_PEAK_BYTES, &val))
		print_color_u64(PRINT_ANY, COLOR_NONE, "peak_bytes", "%llub ", val);
	print_stat(tb, TCA_NDP_STATS_QUEUE_SENT_PACKETS, "sent_packets", "sent", "p");
	if (attr_uint(tb, TCA_NDP_STATS_QUEUE_SENT_BYTES, &val))
		print_color_u64(PRINT_ANY, COLOR_NONE, "sent_bytes", "%llub", val);
	close_json_object();
	print_nl();
}

static int ndp_print_xstats(const struct qdisc_util *qu, FILE *f,
			    struct rtattr *xstats)
{
	struct rtattr *tb[TCA_NDP_STATS_MAX + 1];

	if (!xstats)
		return 0;
	parse_stats(tb, TCA_NDP_STATS_MAX, xstats);
	print_queue("data", tb[TCA_NDP_STATS_DATA]);
	print_queue("header", tb[TCA_NDP_STATS_HEADER]);
	print_queue("other", tb[TCA_NDP_STATS_OTHER]);
	out_text("  trimmed");
	print_stat(tb, TCA_NDP_STATS_TRIMMED_ARRIVAL_PACKETS, "trimmed_arrival_packets",
		   "arrival", "");
	print_stat(tb, TCA_NDP_STATS_TRIMMED_TAIL_PACKETS, "trimmed_tail_packets",
		   "tail", "");
	print_stat(tb, TCA_NDP_STATS_TRIMMED_BYTES, "trimmed_bytes", "bytes", "");
	print_nl();
	print_stat(tb, TCA_NDP_STATS_RETURNED_PACKETS, "returned_packets",
		   "  returned", "");
	print_stat(tb, TCA_NDP_STATS_ECN_MARKED_PACKETS, "ecn_marked_packets",
		   "ecn_marked", "");
	print_nl();
	out_text("  dropped");
	print_stat(tb, TCA_NDP_STATS_DROPPED_DATA_PACKETS, "dropped_data_packets",
		   "data", "");
	print_stat(tb, TCA_NDP_STATS_DROPPED_HEADER_PACKETS, "dropped_header_packets",
		   "header", "");
	print_stat(tb, TCA_NDP_STATS_DROPPED_RETURNED_PACKETS, "dropped_returned_packets",
		   "returned", "");
	print_stat(tb, TCA_NDP_STATS_DROPPED_OTHER_PACKETS, "dropped_other_packets",
		   "other", "");
	print_stat(tb, TCA_NDP_STATS_DROPPED_GSO_PACKETS, "dropped_gso_packets",
		   "gso", "");
	print_stat(tb, TCA_NDP_STATS_DROPPED_NOMEM_PACKETS, "dropped_nomem_packets",
		   "nomem", "");
	return 0;
}

struct qdisc_util ndp_qdisc_util = {
	.id = "ndp",
	.parse_qopt = ndp_parse_opt,
	.print_qopt = ndp_print_opt,
	.print_xstats = ndp_print_xstats,
};
