// SPDX-License-Identifier: GPL-2.0-only
/*
 * ip(8) plug-in for closwire: settings, text and JSON
 *
 * One table, in the order of the output, says for each setting its word, its
 * attribute, how it is read and how it is printed. Only what the user gives
 * is sent: defaults and ranges are the kernel's. The text can be read back by
 * the same table without loss; in JSON the units are bytes per second,
 * nanoseconds, ppb, and a fraction for the loss.
 */
#include <linux/if_closwire.h>

#include "ip_plugin.h"

#define MSG_MAX		((int)sizeof(struct iplink_req))

struct closwire_opt {
	const char *word;
	int attr;
	int (*parse)(const struct closwire_opt *opt, const char *arg,
		     struct nlmsghdr *n);
	void (*print)(const struct closwire_opt *opt, struct rtattr **tb);
};

static const struct unit drift_units[] = {
	{ "ppm", 1000 }, { "ppb", 1 }, { "", 1 }, { }
};

static void explain(FILE *f)
{
	fprintf(f,
		"Usage: ip link add NAME [ numtxqueues N ] type closwire [ SETTINGS ]\n"
		"		[ peer [ LINK ] [ type closwire SETTINGS ] ]\n"
		"       ip link set NAME type closwire SETTINGS\n"
		"SETTINGS := [ rate RATE ] [ delay TIME ] [ ring PACKETS ] [ loss PERCENT ]\n"
		"	    [ clock_offset TIME ] [ clock_drift PPB ]\n"
		"LINK := [ name ] NAME | netns NETNS | address LLADDR | mtu MTU | ...\n"
		"The peer's own SETTINGS come last; what they leave out is as on this side.\n");
}

/* ---- reading ---- */

static int parse_rate(const struct closwire_opt *opt, const char *arg,
		      struct nlmsghdr *n)
{
	__s64 bits;

	if (get_in_units(&bits, arg, rate_units) || bits < 0)
		return illegal(opt->word, arg, "a rate");
	return addattr64(n, MSG_MAX, opt->attr, ((__u64)bits + 4) / 8);
}

static int parse_delay(const struct closwire_opt *opt, const char *arg,
		       struct nlmsghdr *n)
{
	__s64 ns;

	if (get_in_units(&ns, arg, time_units) || ns < 0)
		return illegal(opt->word, arg, "a time with its unit");
	return addattr64(n, MSG_MAX, opt->attr, ns);
}

static int parse_ring(const struct closwire_opt *opt, const char *arg,
		      struct nlmsghdr *n)
{
	__u32 val;

	if (get_u32(&val, arg, 0))
		return illegal(opt->word, arg, "a whole number");
	return addattr32(n, MSG_MAX, opt->attr, val);
}

static int parse_loss(const struct closwire_opt *opt, const char *arg,
		      struct nlmsghdr *n)
{
	__u32 val;

	if (get_percent(&val, arg))
		return illegal(opt->word, arg, "a percentage");
	return addattr32(n, MSG_MAX, opt->attr, val);
}

static int parse_offset(const struct closwire_opt *opt, const char *arg,
			struct nlmsghdr *n)
{
	__s64 ns;

	if (get_in_units(&ns, arg, time_units))
		return illegal(opt->word, arg, "a time with its unit");
	return addattr64(n, MSG_MAX, opt->attr, ns);
}

static int parse_drift(const struct closwire_opt *opt, const char *arg,
		       struct nlmsghdr *n)
{
	__s64 ppb;

	if (get_in_units(&ppb, arg, drift_units) || ppb != (__s32)ppb)
		return illegal(opt->word, arg, "a drift in ppb or ppm");
	return addattr32(n, MSG_MAX, opt->attr, ppb);
}

/* ---- printing ---- */

static void print_rate(const struct closwire_opt *opt, struct rtattr **tb)
{
	__u64 val;

	if (!attr_uint(tb, opt->attr, &val))
		return;
	print_color_u64(PRINT_JSON, COLOR_NONE, opt->word, NULL, val);
	out_text(opt->word);
	out_in_units("", val * 8, rate_units);
}

static void print_delay(const struct closwire_opt *opt, struct rtattr **tb)
{
	__u64 val;

	if (!attr_uint(tb, opt->attr, &val))
		return;
	print_color_u64(PRINT_JSON, COLOR_NONE, opt->word, NULL, val);
	out_text(opt->word);
	out_in_units("", val, time_units);
}

static void print_ring(const struct closwire_opt *opt, struct rtattr **tb)
{
	__u64 val;

	if (!attr_uint(tb, opt->attr, &val))
		return;
	out_text(opt->word);
	print_color_u64(PRINT_ANY, COLOR_NONE, opt->word, "%llu ", val);
}

static void print_loss(const struct closwire_opt *opt, struct rtattr **tb)
{
	print_share(opt->word, tb, opt->attr);
}

/* Signed attribute of 32 or 64 bits, with its number for text and for JSON */
static void print_signed(const struct closwire_opt *opt, struct rtattr **tb,
			 const struct unit *units)
{
	const struct rtattr *a = tb[opt->attr];
	__s64 val;

	if (!a || RTA_PAYLOAD(a) < sizeof(__s32))
		return;
	if (RTA_PAYLOAD(a) < sizeof(__s64))
		val = *(const __s32 *)RTA_DATA(a);
	else
		memcpy(&val, RTA_DATA(a), sizeof(val));
	print_color_s64(PRINT_JSON, COLOR_NONE, opt->word, NULL, val);
	out_text(opt->word);
	out_in_units(val < 0 ? "-" : "", val < 0 ? -(__u64)val : (__u64)val,
		     units);
}

static void print_offset(const struct closwire_opt *opt, struct rtattr **tb)
{
	print_signed(opt, tb, time_units);
}

static void print_drift(const struct closwire_opt *opt, struct rtattr **tb)
{
	print_signed(opt, tb, drift_units);
}

/* ---- the table ---- */

static const struct closwire_opt closwire_opts[] = {
	{ "rate", IFLA_CLOSWIRE_RATE, parse_rate, print_rate },
	{ "delay", IFLA_CLOSWIRE_DELAY, parse_delay, print_delay },
	{ "ring", IFLA_CLOSWIRE_RING, parse_ring, print_ring },
	{ "loss", IFLA_CLOSWIRE_LOSS, parse_loss, print_loss },
	{ "clock_offset", IFLA_CLOSWIRE_CLOCK_OFFSET, parse_offset,
	  print_offset },
	{ "clock_drift", IFLA_CLOSWIRE_CLOCK_DRIFT, parse_drift, print_drift },
};

static int parse_setting(const char *word, struct words *w, struct nlmsghdr *n)
{
	const char *arg;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(closwire_opts); i++) {
		if (strcmp(closwire_opts[i].word, word))
			continue;
		arg = next_word(word, w);
		return arg ? closwire_opts[i].parse(&closwire_opts[i], arg, n) :
			     -1;
	}
	if (strcmp(word, "help"))
		fprintf(stderr, "unknown option \"%s\"\n", word);
	explain(stderr);
	return -1;
}

/* The words behind the peer's "type closwire" */
static int parse_peer_settings(struct words *w, struct nlmsghdr *n)
{
	struct rtattr *info, *data;

	info = addattr_nest(n, MSG_MAX, IFLA_LINKINFO);
	if (addattr_l(n, MSG_MAX, IFLA_INFO_KIND, closwire_link_util.id,
		      strlen(closwire_link_util.id)))
		return -1;
	data = addattr_nest(n, MSG_MAX, IFLA_INFO_DATA);
	while (w->argc > 0) {
		if (parse_setting(next_word("closwire", w), w, n))
			return -1;
	}
	addattr_nest_end(n, data);
	addattr_nest_end(n, info);
	return 0;
}

/*
 * ip writes what it reads for the peer's header into that of the request,
 * which is why this is kept aside meanwhile.
 */
static int parse_peer(struct words *w, struct nlmsghdr *n)
{
	struct iplink_req *req = (struct iplink_req *)n;
	const struct ifinfomsg own = req->i, none = {};
	char *type = NULL;
	struct rtattr *nest;
	int words;

	if (!(n->nlmsg_flags & NLM_F_CREATE)) {
		fprintf(stderr, "\"peer\" is for ip link add only\n");
		return -1;
	}
	nest = addattr_nest(n, MSG_MAX, IFLA_CLOSWIRE_PEER);
	if (addraw_l(n, MSG_MAX, &none, sizeof(none)))
		return -1;
	req->i = none;
	words = iplink_parse(w->argc, w->argv, req, &type);
	if (words < 0)
		return -1;
	memcpy(RTA_DATA(nest), &req->i, sizeof(req->i));
	req->i = own;
	w->argc -= words;
	w->argv += words;
	if (type && strcmp(type, closwire_link_util.id))
		return illegal("peer type", type, "closwire");
	if (type && parse_peer_settings(w, n))
		return -1;
	addattr_nest_end(n, nest);
	return 0;
}

static int closwire_parse_opt(struct link_util *lu, int argc, char **argv,
			      struct nlmsghdr *n)
{
	struct words w = { argc, argv };
	const char *word;
	int err = 0;

	while (!err && w.argc > 0) {
		word = next_word(lu->id, &w);
		err = strcmp(word, "peer") ? parse_setting(word, &w, n) :
					     parse_peer(&w, n);
	}
	return err;
}

static void closwire_print_opt(struct link_util *lu, FILE *f,
			       struct rtattr **tb)
{
	size_t i;

	if (!tb)
		return;
	for (i = 0; i < ARRAY_SIZE(closwire_opts); i++)
		closwire_opts[i].print(&closwire_opts[i], tb);
}

static void closwire_print_help(struct link_util *lu, int argc, char **argv,
				FILE *f)
{
	explain(f);
}

struct link_util closwire_link_util = {
	.id = "closwire",
	.maxattr = IFLA_CLOSWIRE_MAX,
	.parse_opt = closwire_parse_opt,
	.print_opt = closwire_print_opt,
	.print_help = closwire_print_help,
};
