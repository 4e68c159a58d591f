// SPDX-License-Identifier: GPL-2.0-only
/*
 * tc(8) plug-in for sch_pcrp: options and statistics, text and JSON
 */
#include <linux/pkt_sched_pcrp.h>

#include "tc_options.h"

#define THRESHOLDS	(TC_PCRP_SPEC_PRIOS - 1)
#define LEAVE		255	/* no DSCP: a packet's is left as it is */

static const char * const mfwt_names[] = {
	[TC_PCRP_MFWT_AUTO] = "auto",
	[TC_PCRP_MFWT_OFF] = "off",
	[TC_PCRP_MFWT_TIME] = "time",
};

static void explain(FILE *f)
{
	fprintf(f,
		"Usage: ... pcrp	[ limit PACKETS ] [ flows FLOWS ]\n"
		"		[ chain BYTES | chain auto ] [ first BYTES | first auto ]\n"
		"		[ grants FLOWS ] [ evict | noevict ]\n"
		"		[ mfwt TIME | mfwt auto | mfwt off ] [ eu | noeu ] [ srpt | nosrpt ]\n"
		"		[ hold TIME ] [ window TIME | window off ]\n"
		"		[ spec BYTES:BYTES:BYTES | spec auto ] [ map MAP | map off ]\n"
		"		[ rate RATE ] [ overhead BYTES ]\n"
		"MAP := { 0..7 | 0..7-0..7 }:DSCP [ , MAP ]\n"
		"DSCP := 0..63 | be | cs0..cs7 | af11..af43 | ef\n");
}

/* ---- reading ---- */

static int parse_mfwt(const struct tc_opt *opt, struct words *w,
		      struct nlmsghdr *n)
{
	const char *arg = next_word(opt->word, w);
	__u32 us;

	if (!arg)
		return -1;
	if (!strcmp(arg, "auto"))
		return addattr32(n, TC_MSG_MAX, opt->attr, TC_PCRP_MFWT_AUTO);
	if (!strcmp(arg, "off"))
		return addattr32(n, TC_MSG_MAX, opt->attr, TC_PCRP_MFWT_OFF);
	if (get_time32(&us, arg, NSEC_PER_USEC))
		return illegal(opt->word, arg,
			       "auto, off or a time with its unit");
	if (addattr32(n, TC_MSG_MAX, opt->attr, TC_PCRP_MFWT_TIME))
		return -1;
	return addattr32(n, TC_MSG_MAX, TCA_PCRP_MFWT, us);
}

struct spec {
	__u64 bytes[THRESHOLDS];
	unsigned int count;
};

static int add_threshold(void *result, char *item)
{
	struct spec *spec = result;

	if (spec->count == THRESHOLDS)
		return -1;
	return get_bytes64(&spec->bytes[spec->count++], item);
}

/* No sizes are netlink's word for auto. */
static int parse_spec(const struct tc_opt *opt, struct words *w,
		      struct nlmsghdr *n)
{
	const char *arg = next_word(opt->word, w);
	struct spec spec = {};
	struct rtattr *nest;
	unsigned int i;

	if (!arg)
		return -1;
	if (strcmp(arg, "auto") &&
	    (take_items(arg, ":", add_threshold, &spec) ||
	     spec.count != THRESHOLDS || !spec.bytes[THRESHOLDS - 1]))
		return illegal(opt->word, arg, "auto or three sizes, like 6kb:25kb:100kb");
	nest = addattr_nest(n, TC_MSG_MAX, opt->attr | NLA_F_NESTED);
	for (i = 0; i < spec.count; i++) {
		if (addattr64(n, TC_MSG_MAX, TCA_PCRP_SPEC_P0 + i, spec.bytes[i]))
			return -1;
	}
	addattr_nest_end(n, nest);
	return 0;
}

/* What is not listed, is left as it is. */
static int parse_map(const struct tc_opt *opt, struct words *w,
		     struct nlmsghdr *n)
{
	const char *arg = next_word(opt->word, w);
	__u8 map[TC_PCRP_PRIOS];
	struct tc_map reading = { map, get_prio, get_dscp };
	struct rtattr *nest;
	unsigned int prio;

	if (!arg)
		return -1;
	memset(map, LEAVE, sizeof(map));
	if (strcmp(arg, "off") && take_items(arg, ",", add_mapping, &reading))
		return illegal(opt->word, arg,
			       "off or a list of PRIO:DSCP, with a priority of 0 to 7 and a DSCP of 0 to 63");
	nest = addattr_nest(n, TC_MSG_MAX, opt->attr | NLA_F_NESTED);
	for (prio = 0; prio < TC_PCRP_PRIOS; prio++) {
		if (map[prio] != LEAVE &&
		    addattr32(n, TC_MSG_MAX, TCA_PCRP_MAP_P0 + prio, map[prio]))
			return -1;
	}
	addattr_nest_end(n, nest);
	return 0;
}

/* ---- printing ---- */

static void print_mfwt(const struct tc_opt *opt, struct rtattr **tb)
{
	__u64 mode, us;

	if (!attr_uint(tb, opt->attr, &mode))
		return;
	out_text(opt->word);
	if (mode == TC_PCRP_MFWT_TIME && attr_uint(tb, TCA_PCRP_MFWT, &us)) {
		print_color_string(PRINT_JSON, COLOR_NONE, opt->word, NULL,
				   mfwt_names[mode]);
		print_color_u64(PRINT_JSON, COLOR_NONE, "mfwt_us", NULL, us);
		out_in_units("", us * NSEC_PER_USEC, time_units);
		return;
	}
	print_color_string(PRINT_ANY, COLOR_NONE, opt->word, "%s ",
			   mode < ARRAY_SIZE(mfwt_names) ? mfwt_names[mode] :
							   "unknown");
}

/* An array in JSON; as text SIZE:SIZE:SIZE */
static void out_thresholds(const char *key, const __u64 *bytes)
{
	unsigned int i;

	open_json_array(PRINT_JSON, key);
	for (i = 0; i < THRESHOLDS; i++)
		print_color_u64(PRINT_ANY, COLOR_NONE, NULL,
				i + 1 < THRESHOLDS ? "%llu:" : "%llu ",
				bytes[i]);
	close_json_array(PRINT_JSON, NULL);
}

/* Thresholds of a nest. Returns how many there are, one after the other. */
static unsigned int get_thresholds(struct rtattr *nest, __u64 *bytes)
{
	struct rtattr *tb[TCA_PCRP_SPEC_MAX + 1];
	unsigned int i;

	parse_stats(tb, TCA_PCRP_SPEC_MAX, nest);
	for (i = 0; i < THRESHOLDS; i++) {
		if (!attr_uint(tb, TCA_PCRP_SPEC_P0 + i, &bytes[i]))
			break;
	}
	return i;
}

static void print_spec(const struct tc_opt *opt, struct rtattr **tb)
{
	__u64 bytes[THRESHOLDS] = {};
	unsigned int count;

	if (!tb[opt->attr])
		return;
	count = get_thresholds(tb[opt->attr], bytes);
	out_text(opt->word);
	if (count == THRESHOLDS || is_json_context())
		out_thresholds(opt->word, bytes);
	else
		out_text("auto");
}

static void print_map(const struct tc_opt *opt, struct rtattr **tb)
{
	struct rtattr *prios[TCA_PCRP_MAP_MAX + 1];
	__u8 map[TC_PCRP_PRIOS];
	unsigned int i;
	__u64 dscp;

	if (!tb[opt->attr])
		return;
	memset(map, LEAVE, sizeof(map));
	parse_stats(prios, TCA_PCRP_MAP_MAX, tb[opt->attr]);
	for (i = 0; i < TC_PCRP_PRIOS; i++) {
		if (attr_uint(prios, TCA_PCRP_MAP_P0 + i, &dscp))
			map[i] = dscp;
	}
	out_map(opt->word, map, TC_PCRP_PRIOS, LEAVE);
}

/* ---- the table ---- */

static const struct tc_opt pcrp_opts[] = {
	{ "limit", TCA_PCRP_LIMIT, parse_u32, print_uint, NULL },
	{ "flows", TCA_PCRP_FLOWS, parse_u32, print_uint, NULL },
	{ "chain", TCA_PCRP_CHAIN, parse_auto_bytes, print_auto_bytes, NULL },
	{ "first", TCA_PCRP_FIRST, parse_auto_bytes, print_auto_bytes, NULL },
	{ "grants", TCA_PCRP_GRANTS, parse_u32, print_uint, NULL },
	{ "evict", TCA_PCRP_EVICT, parse_yes, print_flag, NULL },
	{ "noevict", TCA_PCRP_EVICT, parse_no, NULL, NULL },
	{ "mfwt", TCA_PCRP_MFWT_MODE, parse_mfwt, print_mfwt, NULL },
	{ "eu", TCA_PCRP_EU, parse_yes, print_flag, NULL },
	{ "noeu", TCA_PCRP_EU, parse_no, NULL, NULL },
	{ "srpt", TCA_PCRP_SRPT, parse_yes, print_flag, NULL },
	{ "nosrpt", TCA_PCRP_SRPT, parse_no, NULL, NULL },
	{ "hold", TCA_PCRP_HOLD, parse_us, print_us, NULL },
	{ "window", TCA_PCRP_WINDOW, parse_us_or_off, print_us_or_off, NULL },
	{ "spec", TCA_PCRP_SPEC, parse_spec, print_spec, NULL },
	{ "map", TCA_PCRP_MAP, parse_map, print_map, NULL },
	{ "rate", TCA_PCRP_RATE, parse_rate, print_rate, NULL },
	{ "overhead", TCA_PCRP_OVERHEAD, parse_bytes, print_uint, NULL },
};

static int pcrp_parse_opt(const struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *n, const char *dev)
{
	struct words w = { argc, argv };

	return parse_opts(pcrp_opts, ARRAY_SIZE(pcrp_opts), &w, n, explain);
}

static int pcrp_print_opt(const struct qdisc_util *qu, FILE *f,
			  struct rtattr *opt)
{
	struct rtattr *tb[TCA_PCRP_MAX + 1];

	if (!opt)
		return 0;
	parse_rtattr_flags(tb, TCA_PCRP_MAX, RTA_DATA(opt), RTA_PAYLOAD(opt),
			   NLA_F_NESTED);
	print_opts(pcrp_opts, ARRAY_SIZE(pcrp_opts), tb);
	return 0;
}

/* ---- statistics ---- */

#define STAT(name, key, label, unit) \
	print_stat(tb, TCA_PCRP_STATS_##name, key, label, unit)

/* What the qdisc has found out, or was told */
static void print_state(struct rtattr **tb)
{
	__u64 val, bytes[THRESHOLDS] = {};
	char rtt[64];

	STAT(CHAIN_BYTES, "chain_bytes", "  chain", "b");
	if (attr_uint(tb, TCA_PCRP_STATS_BASE_RTT_NS, &val)) {
		print_color_u64(PRINT_JSON, COLOR_NONE, "base_rtt_ns", NULL, val);
		out_text("base_rtt");
		out_text(sprint_time64(val, rtt));
	}
	if (attr_uint(tb, TCA_PCRP_STATS_RATE_BPS, &val)) {
		print_color_u64(PRINT_JSON, COLOR_NONE, "rate_Bps", NULL, val);
		out_text("line");
		out_in_units("", val * 8, rate_units);
	}
	if (tb[TCA_PCRP_STATS_SPEC_BYTES] &&
	    get_thresholds(tb[TCA_PCRP_STATS_SPEC_BYTES], bytes) == THRESHOLDS) {
		out_text("spec");
		out_thresholds("spec_bytes", bytes);
	}
	print_nl();
}

static void print_flows(struct rtattr **tb)
{
	STAT(FLOWS_READY, "flows_ready", "  flows ready", "");
	STAT(FLOWS_WAITING, "flows_waiting", "waiting", "");
	STAT(FLOWS_IDLE, "flows_idle", "idle", "");
	STAT(FLOWS_STARTED, "flows_started", "started", "");
	STAT(FLOWS_FINISHED, "flows_finished", "finished", "");
	STAT(FLOWS_UNGATED, "flows_ungated", "ungated", "");
	STAT(FLOWS_OVERFLOW, "flows_overflow", "overflow", "p");
	print_nl();
	STAT(CHAINS_SPECULATIVE, "chains_speculative", "  chains speculative", "");
	STAT(CHAINS_GRANTED, "chains_granted", "granted", "");
	STAT(CHAINS_OVERDUE, "chains_overdue", "overdue", "");
	STAT(PROMOTIONS, "promotions", "promotions", "p");
	STAT(EU_PACKETS, "eu_packets", "eu", "p");
	print_nl();
}

static void print_sender(struct rtattr **tb)
{
	STAT(REQUESTS_SENT, "requests_sent", "  sent requests", "");
	STAT(PROBES_SENT, "probes_sent", "probes", "");
	out_text("got");
	STAT(GRANTS_RECEIVED, "grants_received", "grants", "");
	STAT(GRANTS_LATE, "grants_late", "late", "");
	STAT(GRANTS_IDLE, "grants_idle", "nothing_new", "");
	STAT(GRANTS_REFUSED, "grants_refused", "refused", "");
	print_nl();
	STAT(PEERS, "peers", "  peers", "");
	STAT(PEERS_ANSWERING, "peers_answering", "answering", "");
	STAT(PEERS_SILENT, "peers_silent", "silent", "");
	print_nl();
}

static void print_prios(struct rtattr *nest)
{
	struct rtattr *tb[TCA_PCRP_STATS_PRIO_MAX + 1];
	unsigned int prio;
	char label[16];
	__u64 val;

	if (!nest)
		return;
	parse_stats(tb, TCA_PCRP_STATS_PRIO_MAX, nest);
	open_json_array(PRINT_JSON, "prio_packets");
	for (prio = 0; prio < TC_PCRP_PRIOS; prio++) {
		if (!attr_uint(tb, TCA_PCRP_STATS_PRIO_P0 + prio, &val))
			continue;
		snprintf(label, sizeof(label), "P%u", prio);
		out_u64(NULL, label, val, "");
	}
	close_json_array(PRINT_JSON, NULL);
}

static void print_packets(struct rtattr **tb)
{
	out_text("  packets");
	STAT(TOP_PACKETS, "top_packets", "top", "");
	print_prios(tb[TCA_PCRP_STATS_PRIO_PACKETS]);
	STAT(UNGATED_PACKETS, "ungated_packets", "ungated", "");
	print_nl();
	out_text("  dropped");
	STAT(DROPPED_LIMIT_PACKETS, "dropped_limit_packets", "limit", "");
	STAT(DROPPED_TOP_PACKETS, "dropped_top_packets", "top", "");
	STAT(DROPPED_NOMEM_PACKETS, "dropped_nomem_packets", "nomem", "");
	STAT(DROPPED_FORGED_PACKETS, "dropped_forged_packets", "forged", "");
	print_nl();
}

static void print_receiver(struct rtattr **tb)
{
	STAT(RX_REQUESTS, "rx_requests", "  receiver got requests", "");
	STAT(RX_PROBES, "rx_probes", "probes", "");
	STAT(RX_MALFORMED, "rx_malformed", "malformed", "");
	out_text("sent");
	STAT(GRANTS_SENT, "grants_sent", "grants", "");
	STAT(ANSWERS_SENT, "answers_sent", "answers", "");
	print_nl();
	STAT(RX_FLOWS, "rx_flows", "    flows", "");
	STAT(RX_GRANTED, "rx_granted", "granted", "");
	STAT(RX_GRANTED_PEAK, "rx_granted_peak", "peak", "");
	STAT(RX_FINISHED, "rx_finished", "finished", "");
	STAT(RX_EVICTED, "rx_evicted", "evicted", "");
	STAT(RX_REVOKED, "rx_revoked", "revoked", "");
	STAT(RX_EXPIRED, "rx_expired", "expired", "");
	STAT(RX_OVERFLOW, "rx_overflow", "overflow", "");
	print_nl();
	STAT(WINDOW_PACKETS, "window_packets", "    window", "p");
	STAT(WINDOW_EARLY, "window_early", "early", "");
}

/* Below mq: a FIFO for a TX queue */
static void print_fifo(struct rtattr **tb)
{
	print_color_bool(PRINT_JSON, COLOR_NONE, "fifo", NULL, true);
	out_text("  fifo below mq, no reservations: packets");
	STAT(TOP_PACKETS, "top_packets", "top", "");
	STAT(DROPPED_LIMIT_PACKETS, "dropped_limit_packets", "dropped", "");
}

static int pcrp_print_xstats(const struct qdisc_util *qu, FILE *f,
			     struct rtattr *xstats)
{
	struct rtattr *tb[TCA_PCRP_STATS_MAX + 1];
	__u64 fifo = 0;

	if (!xstats)
		return 0;
	parse_stats(tb, TCA_PCRP_STATS_MAX, xstats);
	attr_uint(tb, TCA_PCRP_STATS_FIFO, &fifo);
	if (fifo) {
		print_fifo(tb);
		return 0;
	}
	print_state(tb);
	print_flows(tb);
	print_sender(tb);
	print_packets(tb);
	print_receiver(tb);
	return 0;
}

struct qdisc_util pcrp_qdisc_util = {
	.id = "pcrp",
	.parse_qopt = pcrp_parse_opt,
	.print_qopt = pcrp_print_opt,
	.print_xstats = pcrp_print_xstats,
};
