// SPDX-License-Identifier: GPL-2.0-only
/*
 * tc(8) plug-in for sch_dcqcn: options and statistics, text and JSON
 */
#include <ctype.h>

#include <linux/pkt_sched_dcqcn.h>

#include "tc_options.h"

/* ---- names and units ---- */

static const char * const nonect_names[] = { "pass", "drop" };

static const struct tc_names nonects = {
	ARRAY_SIZE(nonect_names), nonect_names, "pass or drop"
};

static const char * const trust_names[] = {
	[TC_DCQCN_TRUST_DSCP] = "dscp",
	[TC_DCQCN_TRUST_PCP] = "pcp",
	[TC_DCQCN_TRUST_PRIORITY] = "priority",
};

static const struct tc_names trusts = {
	ARRAY_SIZE(trust_names), trust_names, "dscp, pcp or priority"
};

static const char * const sched_names[] = {
	[TC_DCQCN_SCHED_STRICT] = "strict",
	[TC_DCQCN_SCHED_DRR] = "drr",
};

static const struct tc_names scheds = {
	ARRAY_SIZE(sched_names), sched_names, "strict or drr"
};

static const char * const xoff_names[] = {
	[TC_DCQCN_XOFF_AUTO] = "auto",
	[TC_DCQCN_XOFF_STATIC] = "static",
	[TC_DCQCN_XOFF_DYNAMIC] = "dynamic",
};

static void explain(FILE *f)
{
	fprintf(f,
		"Usage: ... dcqcn [ limit BYTES ] [ kmin BYTES ] [ kmax BYTES ] [ pmax PERCENT ]\n"
		"		 [ nonect pass | drop ]\n"
		"		 [ trust dscp | pcp | priority ] [ map MAP ]\n"
		"		 [ sched strict | drr ] [ rate RATE ] [ overhead BYTES ]\n"
		"		 [ stall TIME | stall off ] [ stall_drop | nostall_drop ]\n"
		"		 [ POOL ] [ PRIO ]...\n"
		"POOL := pool NAME [ buffer BYTES ] [ headroom BYTES | headroom auto ]\n"
		"	[ cable TIME ] [ xoff BYTES | xoff auto | xoff dynamic ] [ beta BETA ]\n"
		"	[ pfc PRIOS | pfc all | pfc none ]\n"
		"PRIO := prio 0..7 [ kmin BYTES ] [ kmax BYTES ] [ pmax PERCENT ] [ quantum BYTES ]\n"
		"MAP := { DSCP | DSCP-DSCP | PCP | PCP-PCP }:0..7 [ , MAP ]\n"
		"DSCP := 0..63 | be | cs0..cs7 | af11..af43 | ef\n"
		"PRIOS := 0..7 | 0..7-0..7 [ , PRIOS ]\n");
}

/* ---- reading ---- */

/* A share without its sign could be one of 1 as well as one of 100 */
static int parse_percent(const struct tc_opt *opt, struct words *w,
			 struct nlmsghdr *n)
{
	const char *arg = next_word(opt->word, w);
	__u32 val;

	if (!arg)
		return -1;
	if (!strchr(arg, '%') || get_percent(&val, arg))
		return illegal(opt->word, arg, "a percentage, like 1%");
	return addattr32(n, TC_MSG_MAX, opt->attr, val);
}

static int parse_map(const struct tc_opt *opt, struct words *w,
		     struct nlmsghdr *n)
{
	const char *arg = next_word(opt->word, w);
	__u8 map[TC_DCQCN_MAP_LEN] = {};
	struct tc_map reading = { map, get_dscp, get_prio };

	if (!arg)
		return -1;
	if (take_items(arg, ",", add_mapping, &reading))
		return illegal(opt->word, arg,
			       "a list of DSCP:PRIO, with a DSCP of 0 to 63 and a priority of 0 to 7");
	return addattr_l(n, TC_MSG_MAX, opt->attr, map, sizeof(map));
}

static int parse_cable(const struct tc_opt *opt, struct words *w,
		       struct nlmsghdr *n)
{
	return parse_time(opt, w, n, 1);
}

/* A name that tc prints and reads as one word */
static bool good_name(const char *name)
{
	size_t len;

	for (len = 0; name[len]; len++) {
		if (!isgraph((unsigned char)name[len]))
			return false;
	}
	return len && len <= TC_DCQCN_POOL_NAME_MAX;
}

static int parse_pool(const struct tc_opt *opt, struct words *w,
		      struct nlmsghdr *n)
{
	const char *arg = next_word(opt->word, w);

	if (!arg)
		return -1;
	if (!good_name(arg))
		return illegal(opt->word, arg, "a name of 1 to 15 characters");
	return addattr_l(n, TC_MSG_MAX, opt->attr, arg, strlen(arg) + 1);
}

static int parse_xoff(const struct tc_opt *opt, struct words *w,
		      struct nlmsghdr *n)
{
	const char *arg = next_word(opt->word, w);
	__u32 val;

	if (!arg)
		return -1;
	if (!strcmp(arg, "auto"))
		return addattr8(n, TC_MSG_MAX, opt->attr, TC_DCQCN_XOFF_AUTO);
	if (!strcmp(arg, "dynamic"))
		return addattr8(n, TC_MSG_MAX, opt->attr,
				TC_DCQCN_XOFF_DYNAMIC);
	if (get_bytes(&val, arg))
		return illegal(opt->word, arg,
			       "auto, dynamic or a size in bytes");
	if (addattr8(n, TC_MSG_MAX, opt->attr, TC_DCQCN_XOFF_STATIC))
		return -1;
	return addattr32(n, TC_MSG_MAX, TCA_DCQCN_POOL_XOFF, val);
}

static int add_prios(void *mask, char *item)
{
	__u64 more;

	if (get_range(&more, get_prio, item))
		return -1;
	*(__u64 *)mask |= more;
	return 0;
}

static int parse_pfc(const struct tc_opt *opt, struct words *w,
		     struct nlmsghdr *n)
{
	const char *arg = next_word(opt->word, w);
	__u64 mask = 0;

	if (!arg)
		return -1;
	if (!strcmp(arg, "all"))
		mask = UINT8_MAX;
	else if (strcmp(arg, "none") && take_items(arg, ",", add_prios, &mask))
		return illegal(opt->word, arg,
			       "all, none or a list of priorities from 0 to 7");
	return addattr8(n, TC_MSG_MAX, opt->attr, mask);
}

/* ---- printing ---- */

static void print_percent(const struct tc_opt *opt, struct rtattr **tb)
{
	print_share(opt->word, tb, opt->attr);
}

/* PCP has 8 values */
static void print_map(const struct tc_opt *opt, struct rtattr **tb)
{
	unsigned int count = TC_DCQCN_MAP_LEN;
	__u64 trust;

	if (!tb[opt->attr] || RTA_PAYLOAD(tb[opt->attr]) < TC_DCQCN_MAP_LEN)
		return;
	if (attr_uint(tb, TCA_DCQCN_TRUST, &trust) &&
	    trust == TC_DCQCN_TRUST_PCP)
		count = TC_DCQCN_PRIOS;
	out_map(opt->word, RTA_DATA(tb[opt->attr]), count, NO_VALUE);
}

static void print_cable(const struct tc_opt *opt, struct rtattr **tb)
{
	print_time(opt, tb, 1, NULL);
}

static void print_pool(const struct tc_opt *opt, struct rtattr **tb)
{
	const struct rtattr *a = tb[opt->attr];
	char name[TC_DCQCN_POOL_NAME_MAX + 1];

	if (!a)
		return;
	snprintf(name, sizeof(name), "%.*s", (int)RTA_PAYLOAD(a),
		 (const char *)RTA_DATA(a));
	out_text(opt->word);
	print_color_string(PRINT_ANY, COLOR_NONE, opt->word, "%s ", name);
}

static void print_xoff(const struct tc_opt *opt, struct rtattr **tb)
{
	__u64 mode, bytes;

	if (!attr_uint(tb, opt->attr, &mode))
		return;
	out_text(opt->word);
	if (mode == TC_DCQCN_XOFF_STATIC &&
	    attr_uint(tb, TCA_DCQCN_POOL_XOFF, &bytes)) {
		print_color_string(PRINT_JSON, COLOR_NONE, opt->word, NULL,
				   xoff_names[mode]);
		print_color_u64(PRINT_ANY, COLOR_NONE, "xoff_bytes", "%llu ",
				bytes);
		return;
	}
	print_color_string(PRINT_ANY, COLOR_NONE, opt->word, "%s ",
			   mode < ARRAY_SIZE(xoff_names) ? xoff_names[mode] :
							   "unknown");
}

static void print_pfc(const struct tc_opt *opt, struct rtattr **tb)
{
	__u64 mask;

	if (!attr_uint(tb, opt->attr, &mask))
		return;
	out_text(opt->word);
	if (mask && mask != UINT8_MAX) {
		out_bits(opt->word, mask);
		return;
	}
	out_json_bits(opt->word, mask);
	out_text(mask ? "all" : "none");
}

/* ---- the tables ---- */

/* What stands behind "prio N" */
static const struct tc_opt prio_opts[] = {
	{ "kmin", TCA_DCQCN_PRIO_KMIN, parse_bytes, print_uint, NULL },
	{ "kmax", TCA_DCQCN_PRIO_KMAX, parse_bytes, print_uint, NULL },
	{ "pmax", TCA_DCQCN_PRIO_PMAX, parse_percent, print_percent, NULL },
	{ "quantum", TCA_DCQCN_PRIO_QUANTUM, parse_bytes, print_uint, NULL },
};

static int parse_prio(const struct tc_opt *opt, struct words *w,
		      struct nlmsghdr *n)
{
	const char *arg = next_word(opt->word, w);
	const struct tc_opt *own;
	struct rtattr *nest;
	__u8 prio;

	if (!arg)
		return -1;
	if (get_prio(&prio, arg))
		return illegal(opt->word, arg, "a priority from 0 to 7");
	nest = addattr_nest(n, TC_MSG_MAX, opt->attr | NLA_F_NESTED);
	if (addattr8(n, TC_MSG_MAX, TCA_DCQCN_PRIO_INDEX, prio))
		return -1;
	while (w->argc > 0) {
		own = find_opt(prio_opts, ARRAY_SIZE(prio_opts), *w->argv);
		if (!own)
			break;
		next_word(opt->word, w);
		if (own->parse(own, w, n))
			return -1;
	}
	addattr_nest_end(n, nest);
	return 0;
}

static const struct tc_opt dcqcn_opts[] = {
	{ "limit", TCA_DCQCN_LIMIT, parse_bytes, print_uint, NULL },
	{ "kmin", TCA_DCQCN_KMIN, parse_bytes, print_uint, NULL },
	{ "kmax", TCA_DCQCN_KMAX, parse_bytes, print_uint, NULL },
	{ "pmax", TCA_DCQCN_PMAX, parse_percent, print_percent, NULL },
	{ "nonect", TCA_DCQCN_NONECT, parse_name, print_name, &nonects },
	{ "trust", TCA_DCQCN_TRUST, parse_name, print_name, &trusts },
	{ "map", TCA_DCQCN_MAP, parse_map, print_map, NULL },
	{ "sched", TCA_DCQCN_SCHED, parse_name, print_name, &scheds },
	{ "rate", TCA_DCQCN_RATE, parse_rate, print_rate, NULL },
	{ "overhead", TCA_DCQCN_OVERHEAD, parse_bytes, print_uint, NULL },
	{ "stall", TCA_DCQCN_STALL, parse_us_or_off, print_us_or_off, NULL },
	{ "stall_drop", TCA_DCQCN_STALL_DROP, parse_yes, print_flag, NULL },
	{ "nostall_drop", TCA_DCQCN_STALL_DROP, parse_no, NULL, NULL },
	{ "pool", TCA_DCQCN_POOL, parse_pool, print_pool, NULL },
	{ "buffer", TCA_DCQCN_POOL_BUFFER, parse_bytes, print_uint, NULL },
	{ "headroom", TCA_DCQCN_POOL_HEADROOM, parse_auto_bytes,
	  print_auto_bytes, NULL },
	{ "cable", TCA_DCQCN_POOL_CABLE, parse_cable, print_cable, NULL },
	{ "xoff", TCA_DCQCN_POOL_XOFF_MODE, parse_xoff, print_xoff, NULL },
	{ "beta", TCA_DCQCN_POOL_BETA, parse_u32, print_uint, NULL },
	{ "pfc", TCA_DCQCN_POOL_PFC, parse_pfc, print_pfc, NULL },
	{ "prio", TCA_DCQCN_PRIO, parse_prio, NULL, NULL },
};

static int dcqcn_parse_opt(const struct qdisc_util *qu, int argc, char **argv,
			   struct nlmsghdr *n, const char *dev)
{
	struct words w = { argc, argv };

	return parse_opts(dcqcn_opts, ARRAY_SIZE(dcqcn_opts), &w, n, explain);
}

static void print_prio(struct rtattr *nest)
{
	struct rtattr *tb[TCA_DCQCN_PRIO_MAX + 1];
	__u64 index;

	parse_rtattr(tb, TCA_DCQCN_PRIO_MAX, RTA_DATA(nest), RTA_PAYLOAD(nest));
	if (!attr_uint(tb, TCA_DCQCN_PRIO_INDEX, &index))
		return;
	open_json_object(NULL);
	out_u64("index", "prio", index, "");
	print_opts(prio_opts, ARRAY_SIZE(prio_opts), tb);
	close_json_object();
}

/* Of TCA_DCQCN_PRIO there are as many as priorities with values of their own */
static int dcqcn_print_opt(const struct qdisc_util *qu, FILE *f,
			   struct rtattr *opt)
{
	struct rtattr *tb[TCA_DCQCN_MAX + 1], *a;
	int len;

	if (!opt)
		return 0;
	parse_rtattr(tb, TCA_DCQCN_MAX, RTA_DATA(opt), RTA_PAYLOAD(opt));
	print_opts(dcqcn_opts, ARRAY_SIZE(dcqcn_opts), tb);
	open_json_array(PRINT_JSON, "prio");
	len = RTA_PAYLOAD(opt);
	for (a = RTA_DATA(opt); RTA_OK(a, len); a = RTA_NEXT(a, len)) {
		if ((a->rta_type & NLA_TYPE_MASK) == TCA_DCQCN_PRIO)
			print_prio(a);
	}
	close_json_array(PRINT_JSON, NULL);
	return 0;
}

static void print_ingress(const struct tc_dcqcn_prio_xstats *st)
{
	OUT(ingress_bytes, "    ingress", "b");
	OUT(ingress_peak_bytes, "peak", "b");
	OUT(headroom_bytes, "headroom", "b");
	OUT(headroom_peak_bytes, "peak", "b");
	OUT(xoff_frames, "xoff", "p");
	OUT(xon_frames, "xon", "p");
	OUT(dropped_headroom_packets, "dropped", "p");
	print_nl();
}

static void print_prio_xstats(unsigned int prio,
			      const struct tc_dcqcn_prio_xstats *st,
			      bool ingress)
{
	char label[32], paused[64];

	open_json_object(NULL);
	snprintf(label, sizeof(label), "  prio %u qlen", prio);
	OUT(qlen_packets, label, "p");
	OUT(backlog_bytes, "backlog", "b");
	OUT(peak_bytes, "peak", "b");
	OUT(sent_packets, "sent", "p");
	print_color_u64(PRINT_ANY, COLOR_NONE, "sent_bytes", "%llub ",
			st->sent_bytes);
	OUT(marked_packets, "marked", "p");
	print_nl();
	OUT(dropped_limit_packets, "    dropped limit", "p");
	OUT(dropped_nonect_packets, "nonect", "p");
	OUT(dropped_stalled_packets, "stalled", "p");
	OUT(stalls, "stalls", "");
	print_color_u64(PRINT_JSON, COLOR_NONE, "paused_ns", NULL,
			st->paused_ns);
	out_text("paused");
	out_text(sprint_time64(st->paused_ns, paused));
	print_nl();
	if (ingress)
		print_ingress(st);
	close_json_object();
}

/* As text, only what has happened; in JSON, everything */
static int dcqcn_print_xstats(const struct qdisc_util *qu, FILE *f,
			      struct rtattr *xstats)
{
	static const struct tc_dcqcn_prio_xstats none;
	struct tc_dcqcn_xstats space, *st = &space;
	bool all = is_json_context();
	unsigned int prio;

	if (!xstats)
		return 0;
	get_xstats(st, sizeof(*st), xstats);
	open_json_array(PRINT_JSON, "prio");
	for (prio = 0; prio < TC_DCQCN_PRIOS; prio++) {
		if (all || memcmp(&st->prio[prio], &none, sizeof(none)))
			print_prio_xstats(prio, &st->prio[prio],
					  all || st->pool_ports);
	}
	close_json_array(PRINT_JSON, NULL);
	if (all || st->pool_ports) {
		OUT(pool_ports, "  pool ports", "");
		OUT(pool_bytes, "backlog", "b");
		OUT(pool_peak_bytes, "peak", "b");
		OUT(pool_xoff_bytes, "xoff", "b");
		OUT(pool_headroom_bytes, "headroom", "b");
		print_nl();
	}
	OUT(dropped_nomem_packets, "  dropped nomem", "");
	return 0;
}

struct qdisc_util dcqcn_qdisc_util = {
	.id = "dcqcn",
	.parse_qopt = dcqcn_parse_opt,
	.print_qopt = dcqcn_print_opt,
	.print_xstats = dcqcn_print_xstats,
};
