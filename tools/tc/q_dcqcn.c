// SPDX-License-Identifier: GPL-2.0-only
/*
 * tc(8) plug-in for sch_dcqcn: options and statistics, text and JSON
 */
#include <ctype.h>

#include <linux/pkt_sched_dcqcn.h>

#include "tc_options.h"

#define POOL_NAME_MAX	15

/* ---- names and units ---- */

static const char * const nonect_names[] = { "pass", "drop" };

static const struct tc_names nonects = {
	ARRAY_SIZE(nonect_names), nonect_names, "pass or drop"
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
		"		 [ nonect pass | drop ] [ prio 0..7 | prio packet ]\n"
		"		 [ rate RATE ] [ overhead BYTES ]\n"
		"		 [ stall TIME | stall off ] [ stall_drop | nostall_drop ]\n"
		"		 [ POOL ]\n"
		"POOL := pool NAME [ buffer BYTES ] [ headroom BYTES | headroom auto ]\n"
		"	[ cable TIME ] [ xoff BYTES | xoff auto | xoff dynamic ] [ beta BETA ]\n"
		"	[ pfc PRIOS | pfc all | pfc none ]\n"
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

static int parse_own_prio(const struct tc_opt *opt, struct words *w,
			  struct nlmsghdr *n)
{
	const char *arg = next_word(opt->word, w);
	__u8 prio = TC_DCQCN_PRIO_PACKET;

	if (!arg)
		return -1;
	if (strcmp(arg, "packet") && get_prio(&prio, arg))
		return illegal(opt->word, arg, "packet or a priority from 0 to 7");
	return addattr32(n, TC_MSG_MAX, opt->attr, prio);
}

static int parse_cable(const struct tc_opt *opt, struct words *w,
		       struct nlmsghdr *n)
{
	return parse_time(opt, w, n, 1);
}

static int parse_xoff(const struct tc_opt *opt, struct words *w,
		      struct nlmsghdr *n)
{
	const char *arg = next_word(opt->word, w);
	__u32 val;

	if (!arg)
		return -1;
	if (!strcmp(arg, "auto"))
		return addattr32(n, TC_MSG_MAX, opt->attr, TC_DCQCN_XOFF_AUTO);
	if (!strcmp(arg, "dynamic"))
		return addattr32(n, TC_MSG_MAX, opt->attr,
				 TC_DCQCN_XOFF_DYNAMIC);
	if (get_bytes(&val, arg))
		return illegal(opt->word, arg,
			       "auto, dynamic or a size in bytes");
	if (addattr32(n, TC_MSG_MAX, opt->attr, TC_DCQCN_XOFF_STATIC))
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
	return addattr32(n, TC_MSG_MAX, opt->attr, mask);
}

/* ---- printing ---- */

static void print_percent(const struct tc_opt *opt, struct rtattr **tb)
{
	print_share(opt->word, tb, opt->attr);
}

static void print_own_prio(const struct tc_opt *opt, struct rtattr **tb)
{
	__u64 prio;

	if (!attr_uint(tb, opt->attr, &prio))
		return;
	if (prio != TC_DCQCN_PRIO_PACKET) {
		out_u64(opt->word, opt->word, prio, "");
		return;
	}
	out_text(opt->word);
	print_color_string(PRINT_ANY, COLOR_NONE, opt->word, "%s ", "packet");
}

static void print_cable(const struct tc_opt *opt, struct rtattr **tb)
{
	print_time(opt, tb, 1, NULL);
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

/* Options of the pool, behind "pool NAME" */
static const struct tc_opt pool_opts[] = {
	{ "buffer", TCA_DCQCN_POOL_BUFFER, parse_bytes, print_uint, NULL },
	{ "headroom", TCA_DCQCN_POOL_HEADROOM, parse_auto_bytes,
	  print_auto_bytes, NULL },
	{ "cable", TCA_DCQCN_POOL_CABLE, parse_cable, print_cable, NULL },
	{ "xoff", TCA_DCQCN_POOL_XOFF_MODE, parse_xoff, print_xoff, NULL },
	{ "beta", TCA_DCQCN_POOL_BETA, parse_u32, print_uint, NULL },
	{ "pfc", TCA_DCQCN_POOL_PFC, parse_pfc, print_pfc, NULL },
};

/* A name that tc prints and reads as one word */
static bool good_name(const char *name)
{
	size_t len;

	for (len = 0; name[len]; len++) {
		if (!isgraph((unsigned char)name[len]))
			return false;
	}
	return len && len <= POOL_NAME_MAX;
}

static int parse_pool(const struct tc_opt *opt, struct words *w,
		      struct nlmsghdr *n)
{
	const char *arg = next_word(opt->word, w);
	const struct tc_opt *own;
	struct rtattr *nest;

	if (!arg)
		return -1;
	if (!good_name(arg))
		return illegal(opt->word, arg, "a name of 1 to 15 characters");
	nest = addattr_nest(n, TC_MSG_MAX, opt->attr | NLA_F_NESTED);
	if (addattr_l(n, TC_MSG_MAX, TCA_DCQCN_POOL_NAME, arg, strlen(arg) + 1))
		return -1;
	while (w->argc > 0) {
		own = find_opt(pool_opts, ARRAY_SIZE(pool_opts), *w->argv);
		if (!own)
			break;
		next_word(opt->word, w);
		if (own->parse(own, w, n))
			return -1;
	}
	addattr_nest_end(n, nest);
	return 0;
}

static void print_pool(const struct tc_opt *opt, struct rtattr **tb)
{
	struct rtattr *own[TCA_DCQCN_POOL_MAX + 1], *nest = tb[opt->attr], *a;
	char name[POOL_NAME_MAX + 1];

	if (!nest)
		return;
	parse_rtattr(own, TCA_DCQCN_POOL_MAX, RTA_DATA(nest), RTA_PAYLOAD(nest));
	a = own[TCA_DCQCN_POOL_NAME];
	if (!a)
		return;
	snprintf(name, sizeof(name), "%.*s", (int)RTA_PAYLOAD(a),
		 (const char *)RTA_DATA(a));
	out_text(opt->word);
	open_json_object(opt->word);
	print_color_string(PRINT_ANY, COLOR_NONE, "name", "%s ", name);
	print_opts(pool_opts, ARRAY_SIZE(pool_opts), own);
	close_json_object();
}

static const struct tc_opt dcqcn_opts[] = {
	{ "limit", TCA_DCQCN_LIMIT, parse_bytes, print_uint, NULL },
	{ "kmin", TCA_DCQCN_KMIN, parse_bytes, print_uint, NULL },
	{ "kmax", TCA_DCQCN_KMAX, parse_bytes, print_uint, NULL },
	{ "pmax", TCA_DCQCN_PMAX, parse_percent, print_percent, NULL },
	{ "nonect", TCA_DCQCN_NONECT, parse_name, print_name, &nonects },
	{ "prio", TCA_DCQCN_PRIO, parse_own_prio, print_own_prio, NULL },
	{ "rate", TCA_DCQCN_RATE, parse_rate, print_rate, NULL },
	{ "overhead", TCA_DCQCN_OVERHEAD, parse_bytes, print_uint, NULL },
	{ "stall", TCA_DCQCN_STALL, parse_us_or_off, print_us_or_off, NULL },
	{ "stall_drop", TCA_DCQCN_STALL_DROP, parse_yes, print_flag, NULL },
	{ "nostall_drop", TCA_DCQCN_STALL_DROP, parse_no, NULL, NULL },
	{ "pool", TCA_DCQCN_POOL, parse_pool, print_pool, NULL },
};

static int dcqcn_parse_opt(const struct qdisc_util *qu, int argc, char **argv,
			   struct nlmsghdr *n, const char *dev)
{
	struct words w = { argc, argv };

	return parse_opts(dcqcn_opts, ARRAY_SIZE(dcqcn_opts), &w, n, explain);
}

static int dcqcn_print_opt(const struct qdisc_util *qu, FILE *f,
			   struct rtattr *opt)
{
	struct rtattr *tb[TCA_DCQCN_MAX + 1];

	if (!opt)
		return 0;
	parse_rtattr_flags(tb, TCA_DCQCN_MAX, RTA_DATA(opt), RTA_PAYLOAD(opt),
			   NLA_F_NESTED);
	print_opts(dcqcn_opts, ARRAY_SIZE(dcqcn_opts), tb);
	return 0;
}

/* ---- statistics ---- */

#define PRINT(tb, attr, key, label, unit) \
	print_stat(tb, TCA_DCQCN_STATS_##attr, key, label, unit)

static void print_queue_stats(struct rtattr **tb)
{
	PRINT(tb, PEAK_BYTES, "peak_bytes", "  peak", "b");
	PRINT(tb, MARKED_PACKETS, "marked_packets", "marked", "p");
	PRINT(tb, STALLS, "stalls", "stalls", "");
	print_nl();
	PRINT(tb, DROPPED_LIMIT_PACKETS, "dropped_limit_packets", "  dropped limit", "p");
	PRINT(tb, DROPPED_NONECT_PACKETS, "dropped_nonect_packets", "nonect", "p");
	PRINT(tb, DROPPED_HEADROOM_PACKETS, "dropped_headroom_packets", "headroom", "p");
	PRINT(tb, DROPPED_STALLED_PACKETS, "dropped_stalled_packets", "stalled", "p");
	PRINT(tb, DROPPED_NOMEM_PACKETS, "dropped_nomem_packets", "nomem", "p");
	PRINT(tb, DROPPED_GSO_PACKETS, "dropped_gso_packets", "gso", "p");
}

static void print_pool_stats(struct rtattr *nest)
{
	struct rtattr *tb[TCA_DCQCN_STATS_POOL_MAX + 1];

	if (!nest)
		return;
	parse_stats(tb, TCA_DCQCN_STATS_POOL_MAX, nest);
	print_nl();
	open_json_object("pool");
	PRINT(tb, POOL_PORTS, "ports", "  pool ports", "");
	PRINT(tb, POOL_BYTES, "bytes", "backlog", "b");
	PRINT(tb, POOL_PEAK_BYTES, "peak_bytes", "peak", "b");
	PRINT(tb, POOL_XOFF_BYTES, "xoff_bytes", "xoff", "b");
	PRINT(tb, POOL_HEADROOM_BYTES, "headroom_bytes", "headroom", "b");
	close_json_object();
}

static void print_paused(struct rtattr **tb)
{
	char text[64];
	__u64 ns;

	if (!attr_uint(tb, TCA_DCQCN_STATS_PRIO_PAUSED_NS, &ns))
		return;
	print_color_u64(PRINT_JSON, COLOR_NONE, "paused_ns", NULL, ns);
	out_text("paused");
	out_text(sprint_time64(ns, text));
}

static void print_ingress(struct rtattr **tb)
{
	if (!tb[TCA_DCQCN_STATS_PRIO_INGRESS_BYTES])
		return;
	print_nl();
	PRINT(tb, PRIO_INGRESS_BYTES, "ingress_bytes", "    ingress", "b");
	PRINT(tb, PRIO_INGRESS_PEAK_BYTES, "ingress_peak_bytes", "peak", "b");
	PRINT(tb, PRIO_HEADROOM_BYTES, "headroom_bytes", "headroom", "b");
	PRINT(tb, PRIO_HEADROOM_PEAK_BYTES, "headroom_peak_bytes", "peak", "b");
	PRINT(tb, PRIO_XOFF_FRAMES, "xoff_frames", "xoff", "p");
	PRINT(tb, PRIO_XON_FRAMES, "xon_frames", "xon", "p");
	PRINT(tb, PRIO_DROPPED_PACKETS, "dropped_packets", "dropped", "p");
}

/* Has anything happened in this priority? */
static bool is_used(struct rtattr **tb)
{
	__u64 val;
	int i;

	for (i = TCA_DCQCN_STATS_PRIO_INDEX + 1; i <= TCA_DCQCN_STATS_PRIO_MAX; i++) {
		if (attr_uint(tb, i, &val) && val)
			return true;
	}
	return false;
}

/* As text, only a priority in which something has happened; in JSON, each */
static void print_prio_stats(struct rtattr *nest)
{
	struct rtattr *tb[TCA_DCQCN_STATS_PRIO_MAX + 1];

	parse_stats(tb, TCA_DCQCN_STATS_PRIO_MAX, nest);
	if (!is_json_context() && !is_used(tb))
		return;
	print_nl();
	open_json_object(NULL);
	PRINT(tb, PRIO_INDEX, "prio", "  prio", "");
	print_paused(tb);
	print_ingress(tb);
	close_json_object();
}

static int dcqcn_print_xstats(const struct qdisc_util *qu, FILE *f,
			      struct rtattr *xstats)
{
	struct rtattr *tb[TCA_DCQCN_STATS_MAX + 1], *a;
	int len;

	if (!xstats)
		return 0;
	parse_stats(tb, TCA_DCQCN_STATS_MAX, xstats);
	print_queue_stats(tb);
	print_pool_stats(tb[TCA_DCQCN_STATS_POOL]);
	open_json_array(PRINT_JSON, "prio");
	len = RTA_PAYLOAD(xstats);
	for (a = RTA_DATA(xstats); RTA_OK(a, len); a = RTA_NEXT(a, len)) {
		if ((a->rta_type & NLA_TYPE_MASK) == TCA_DCQCN_STATS_PRIO)
			print_prio_stats(a);
	}
	close_json_array(PRINT_JSON, NULL);
	return 0;
}

struct qdisc_util dcqcn_qdisc_util = {
	.id = "dcqcn",
	.parse_qopt = dcqcn_parse_opt,
	.print_qopt = dcqcn_print_opt,
	.print_xstats = dcqcn_print_xstats,
};
