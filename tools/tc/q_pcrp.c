// SPDX-License-Identifier: GPL-2.0-only
/*
 * tc(8) plug-in for sch_pcrp: options and statistics, text and JSON
 */
#include <linux/pkt_sched_pcrp.h>

#include "tc_options.h"

#define THRESHOLDS	(TC_PCRP_SPEC_PRIOS - 1)

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
		return addattr8(n, TC_MSG_MAX, opt->attr, TC_PCRP_MFWT_AUTO);
	if (!strcmp(arg, "off"))
		return addattr8(n, TC_MSG_MAX, opt->attr, TC_PCRP_MFWT_OFF);
	if (get_time32(&us, arg, NSEC_PER_USEC))
		return illegal(opt->word, arg,
			       "auto, off or a time with its unit");
	if (addattr8(n, TC_MSG_MAX, opt->attr, TC_PCRP_MFWT_TIME))
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

/* All 0 is netlink's word for auto. */
static int parse_spec(const struct tc_opt *opt, struct words *w,
		      struct nlmsghdr *n)
{
	const char *arg = next_word(opt->word, w);
	struct spec spec = {};

	if (!arg)
		return -1;
	if (strcmp(arg, "auto") &&
	    (take_items(arg, ":", add_threshold, &spec) ||
	     spec.count != THRESHOLDS || !spec.bytes[THRESHOLDS - 1]))
		return illegal(opt->word, arg, "auto or three sizes, like 6kb:25kb:100kb");
	return addattr_l(n, TC_MSG_MAX, opt->attr, spec.bytes,
			 sizeof(spec.bytes));
}

/* What is not listed, is left as it is. */
static int parse_map(const struct tc_opt *opt, struct words *w,
		     struct nlmsghdr *n)
{
	const char *arg = next_word(opt->word, w);
	__u8 map[TC_PCRP_PRIOS];
	struct tc_map reading = { map, get_prio, get_dscp };

	if (!arg)
		return -1;
	memset(map, TC_PCRP_MAP_LEAVE, sizeof(map));
	if (strcmp(arg, "off") && take_items(arg, ",", add_mapping, &reading))
		return illegal(opt->word, arg,
			       "off or a list of PRIO:DSCP, with a priority of 0 to 7 and a DSCP of 0 to 63");
	return addattr_l(n, TC_MSG_MAX, opt->attr, map, sizeof(map));
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

static void print_spec(const struct tc_opt *opt, struct rtattr **tb)
{
	__u64 bytes[THRESHOLDS];

	if (!tb[opt->attr] || RTA_PAYLOAD(tb[opt->attr]) < sizeof(bytes))
		return;
	memcpy(bytes, RTA_DATA(tb[opt->attr]), sizeof(bytes));
	out_text(opt->word);
	if (bytes[THRESHOLDS - 1] || is_json_context())
		out_thresholds(opt->word, bytes);
	else
		out_text("auto");
}

static void print_map(const struct tc_opt *opt, struct rtattr **tb)
{
	if (tb[opt->attr] && RTA_PAYLOAD(tb[opt->attr]) >= TC_PCRP_PRIOS)
		out_map(opt->word, RTA_DATA(tb[opt->attr]), TC_PCRP_PRIOS,
			TC_PCRP_MAP_LEAVE);
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
	parse_rtattr(tb, TCA_PCRP_MAX, RTA_DATA(opt), RTA_PAYLOAD(opt));
	print_opts(pcrp_opts, ARRAY_SIZE(pcrp_opts), tb);
	return 0;
}

/* ---- statistics ---- */

/* What the qdisc has found out, or was told */
static void print_state(const struct tc_pcrp_xstats *st)
{
	char rtt[64];

	OUT(chain_bytes, "  chain", "b");
	print_color_u64(PRINT_JSON, COLOR_NONE, "base_rtt_ns", NULL,
			st->base_rtt_ns);
	out_text("base_rtt");
	out_text(sprint_time64(st->base_rtt_ns, rtt));
	print_color_u64(PRINT_JSON, COLOR_NONE, "rate_Bps", NULL, st->rate_Bps);
	out_text("line");
	out_in_units("", st->rate_Bps * 8, rate_units);
	out_text("spec");
	out_thresholds("spec_bytes", st->spec_bytes);
	print_nl();
}

static void print_flows(const struct tc_pcrp_xstats *st)
{
	OUT(flows_ready, "  flows ready", "");
	OUT(flows_waiting, "waiting", "");
	OUT(flows_idle, "idle", "");
	OUT(flows_started, "started", "");
	OUT(flows_finished, "finished", "");
	OUT(flows_ungated, "ungated", "");
	OUT(flows_overflow, "overflow", "p");
	print_nl();
	OUT(chains_speculative, "  chains speculative", "");
	OUT(chains_granted, "granted", "");
	OUT(chains_overdue, "overdue", "");
	OUT(promotions, "promotions", "p");
	OUT(eu_packets, "eu", "p");
	print_nl();
}

static void print_sender(const struct tc_pcrp_xstats *st)
{
	OUT(requests_sent, "  sent requests", "");
	OUT(probes_sent, "probes", "");
	out_text("got");
	OUT(grants_received, "grants", "");
	OUT(grants_late, "late", "");
	OUT(grants_idle, "nothing_new", "");
	OUT(grants_refused, "refused", "");
	print_nl();
	OUT(peers, "  peers", "");
	OUT(peers_answering, "answering", "");
	OUT(peers_silent, "silent", "");
	print_nl();
}

static void print_packets(const struct tc_pcrp_xstats *st)
{
	unsigned int prio;
	char label[16];

	out_text("  packets");
	OUT(top_packets, "top", "");
	open_json_array(PRINT_JSON, "prio_packets");
	for (prio = 0; prio < TC_PCRP_PRIOS; prio++) {
		snprintf(label, sizeof(label), "P%u", prio);
		out_u64(NULL, label, st->prio_packets[prio], "");
	}
	close_json_array(PRINT_JSON, NULL);
	OUT(ungated_packets, "ungated", "");
	print_nl();
	OUT(dropped_limit_packets, "  dropped limit", "");
	OUT(dropped_top_packets, "top", "");
	OUT(dropped_nomem_packets, "nomem", "");
	OUT(dropped_forged_packets, "forged", "");
	print_nl();
}

static void print_receiver(const struct tc_pcrp_xstats *st)
{
	OUT(rx_requests, "  receiver got requests", "");
	OUT(rx_probes, "probes", "");
	OUT(rx_malformed, "malformed", "");
	out_text("sent");
	OUT(grants_sent, "grants", "");
	OUT(answers_sent, "answers", "");
	print_nl();
	OUT(rx_flows, "    flows", "");
	OUT(rx_granted, "granted", "");
	OUT(rx_granted_peak, "peak", "");
	OUT(rx_finished, "finished", "");
	OUT(rx_evicted, "evicted", "");
	OUT(rx_revoked, "revoked", "");
	OUT(rx_expired, "expired", "");
	OUT(rx_overflow, "overflow", "");
	print_nl();
	OUT(window_packets, "    window", "p");
	OUT(window_early, "early", "");
}

static int pcrp_print_xstats(const struct qdisc_util *qu, FILE *f,
			     struct rtattr *xstats)
{
	struct tc_pcrp_xstats st;

	if (!xstats)
		return 0;
	get_xstats(&st, sizeof(st), xstats);
	print_state(&st);
	print_flows(&st);
	print_sender(&st);
	print_packets(&st);
	print_receiver(&st);
	return 0;
}

struct qdisc_util pcrp_qdisc_util = {
	.id = "pcrp",
	.parse_qopt = pcrp_parse_opt,
	.print_qopt = pcrp_print_opt,
	.print_xstats = pcrp_print_xstats,
};
