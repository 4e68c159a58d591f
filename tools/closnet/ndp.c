// SPDX-License-Identifier: GPL-2.0-only
/*
 * closnet ndp: print NDP's sockets, peers and flows of this network namespace
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/ndp_nl.h>

#include "closnet.h"

#define fail(status, ...) fail_as("ndp", status, __VA_ARGS__)

/* Size of the receive buffer, bytes; the kernel sends up to 32 KiB of a dump at once */
#define PIECE	65536

static const struct table {
	const char *name;
	enum ndp_nl_cmd command;
} tables[] = {
	{ "sockets", NDP_NL_CMD_SOCKETS },
	{ "peers", NDP_NL_CMD_PEERS },
	{ "sending", NDP_NL_CMD_SENDING },
	{ "receiving", NDP_NL_CMD_RECEIVING },
};

/* Counters of a socket, u64; unknown ones of later modules are ignored */
static const char * const info_names[] = {
	[NDP_NL_INFO_PEERS] = "peers",
	[NDP_NL_INFO_FLOWS_SENDING] = "flows_sending",
	[NDP_NL_INFO_FLOWS_RECEIVING] = "flows_receiving",
	[NDP_NL_INFO_MSGS_SENDING] = "msgs_sending",
	[NDP_NL_INFO_MSGS_SENT] = "msgs_sent",
	[NDP_NL_INFO_MSGS_FAILED] = "msgs_failed",
	[NDP_NL_INFO_MSGS_RECEIVING] = "msgs_receiving",
	[NDP_NL_INFO_MSGS_RECEIVED] = "msgs_received",
	[NDP_NL_INFO_BYTES_SENT] = "bytes_sent",
	[NDP_NL_INFO_BYTES_RECEIVED] = "bytes_received",
	[NDP_NL_INFO_PACKETS_SENT] = "packets_sent",
	[NDP_NL_INFO_PACKETS_UNASKED] = "packets_unasked",
	[NDP_NL_INFO_PACKETS_RTX] = "packets_rtx",
	[NDP_NL_INFO_PACKETS_RTX_TIMEOUT] = "packets_rtx_timeout",
	[NDP_NL_INFO_ACKS_RECEIVED] = "acks_received",
	[NDP_NL_INFO_NACKS_RECEIVED] = "nacks_received",
	[NDP_NL_INFO_RETURNED_RECEIVED] = "returned_received",
	[NDP_NL_INFO_PULLS_RECEIVED] = "pulls_received",
	[NDP_NL_INFO_PROBES_SENT] = "probes_sent",
	[NDP_NL_INFO_PACKETS_RECEIVED] = "packets_received",
	[NDP_NL_INFO_TRIMMED_RECEIVED] = "trimmed_received",
	[NDP_NL_INFO_DUPLICATES_RECEIVED] = "duplicates_received",
	[NDP_NL_INFO_PULLS_SENT] = "pulls_sent",
	[NDP_NL_INFO_RTT_NS] = "rtt_ns",
	[NDP_NL_INFO_RTT_MIN_NS] = "rtt_min_ns",
	[NDP_NL_INFO_RTO_NS] = "rto_ns",
	[NDP_NL_INFO_PATHS] = "paths",
	[NDP_NL_INFO_PATHS_AVOIDED] = "paths_avoided",
	[NDP_NL_INFO_MSGS_PLACED] = "msgs_placed",
	[NDP_NL_INFO_REGION_BYTES] = "region_bytes",
	[NDP_NL_INFO_REGION_USED] = "region_used",
};

/* Packets of a path by outcome, u32; unknown ones of later modules are ignored */
static const char * const outcome_names[] = {
	[NDP_NL_PATH_ACKED] = "acked",
	[NDP_NL_PATH_TRIMMED] = "trimmed",
	[NDP_NL_PATH_RETURNED] = "returned",
	[NDP_NL_PATH_LOST] = "lost",
};

#define PATHS_MAX	1024

/* Numeric attributes; text output omits zeros */
static const struct number {
	const char *name;
	size_t size;
	bool shown;	/* even if 0 */
} numbers[NDP_NL_A_MAX + 1] = {
	[NDP_NL_A_IFINDEX] = { "ifindex", 4, false },
	[NDP_NL_A_LOCAL_PORT] = { "local_port", 4, true },
	[NDP_NL_A_REMOTE_PORT] = { "remote_port", 4, true },
	[NDP_NL_A_INODE] = { "inode", 8, false },
	[NDP_NL_A_PATHS] = { "paths", 8, true },
	[NDP_NL_A_AVOIDED] = { "avoided", 8, false },
	[NDP_NL_A_FLOW_ID] = { "flow_id", 4, true },
	[NDP_NL_A_MSGS] = { "msgs", 8, true },
	[NDP_NL_A_UNSENT] = { "unsent", 8, false },
	[NDP_NL_A_FLIGHT] = { "flight", 8, false },
	[NDP_NL_A_LOST] = { "lost", 8, false },
	[NDP_NL_A_CREDIT] = { "credit", 8, false },
	[NDP_NL_A_EXPECTED] = { "expected", 8, false },
	[NDP_NL_A_WINDOW] = { "window", 8, false },
	[NDP_NL_A_RTO_NS] = { "rto_ns", 8, false },
	[NDP_NL_A_RTT_NS] = { "rtt_ns", 8, false },
	[NDP_NL_A_RTT_MIN_NS] = { "rtt_min_ns", 8, false },
	[NDP_NL_A_PACKETS] = { "packets", 8, false },
	[NDP_NL_A_RTX] = { "rtx", 8, false },
	[NDP_NL_A_TIMEOUTS] = { "timeouts", 8, false },
	[NDP_NL_A_TRIMMED] = { "trimmed", 8, false },
	[NDP_NL_A_RETURNED] = { "returned", 8, false },
	[NDP_NL_A_WISHED] = { "demand", 8, false },
	[NDP_NL_A_HELD] = { "held", 8, false },
	[NDP_NL_A_DEVICE] = { "device", 8, false },
	[NDP_NL_A_IDLE_NS] = { "idle_ns", 8, false },
	[NDP_NL_A_ORDERED] = { "ordered", 8, false },
	[NDP_NL_A_WAITING] = { "waiting", 8, false },
};

/**
 * struct view - state of the output
 * @nl: socket
 * @family: id of the generic netlink family
 * @json: print JSON
 * @objects: number of objects printed in this table
 * @fields: number of fields printed in this object
 * @paths: number of paths of this object, up to PATHS_MAX
 * @outcomes: packets of each path by outcome
 */
struct view {
	struct mnl_socket *nl;
	uint16_t family;
	bool json;
	unsigned int objects;
	unsigned int fields;
	unsigned int paths;
	uint32_t outcomes[PATHS_MAX][COUNT(outcome_names)];
};

/* ---- output ---- */

static void print_name(struct view *v, const char *name)
{
	if (v->json)
		printf("%s\"%s\": ", v->fields++ ? ", " : "", name);
	else
		printf("%s%s ", v->fields++ ? " " : "", name);
}

static void print_number(struct view *v, const char *name, uint64_t value, bool shown)
{
	if (!value && !shown && !v->json)
		return;
	print_name(v, name);
	printf("%" PRIu64, value);
}

static void print_address(struct view *v, const char *name, const struct nlattr *attr)
{
	const struct in6_addr *a = mnl_attr_get_payload(attr);
	char text[INET6_ADDRSTRLEN];

	if (mnl_attr_get_payload_len(attr) != sizeof(*a))
		return;
	print_name(v, name);
	if (IN6_IS_ADDR_V4MAPPED(a))
		inet_ntop(AF_INET, &a->s6_addr[12], text, sizeof(text));
	else
		inet_ntop(AF_INET6, a, text, sizeof(text));
	printf(v->json ? "\"%s\"" : "%s", text);
}

static int print_info(const struct nlattr *attr, void *data)
{
	unsigned int type = mnl_attr_get_type(attr);

	if (type < COUNT(info_names) && info_names[type] &&
	    !mnl_attr_validate(attr, MNL_TYPE_U64))
		print_number(data, info_names[type], mnl_attr_get_u64(attr), false);
	return MNL_CB_OK;
}

static int take_outcome(const struct nlattr *attr, void *data)
{
	unsigned int type = mnl_attr_get_type(attr);
	struct view *v = data;

	if (type < COUNT(outcome_names) && outcome_names[type] &&
	    !mnl_attr_validate(attr, MNL_TYPE_U32))
		v->outcomes[v->paths][type] = mnl_attr_get_u32(attr);
	return MNL_CB_OK;
}

static void take_path(struct view *v, const struct nlattr *attr)
{
	if (v->paths == PATHS_MAX)
		return;
	memset(v->outcomes[v->paths], 0, sizeof(v->outcomes[0]));
	mnl_attr_parse_nested(attr, take_outcome, v);
	v->paths++;
}

/* Text has the sums of all paths, JSON an array with each path. */
static void print_outcomes(struct view *v)
{
	unsigned int i, k;
	uint64_t sum;

	for (k = NDP_NL_PATH_ACKED; v->paths && k < COUNT(outcome_names); k++) {
		for (i = 0, sum = 0; i < v->paths; i++)
			sum += v->outcomes[i][k];
		if (!v->json) {
			print_number(v, outcome_names[k], sum, false);
			continue;
		}
		print_name(v, outcome_names[k]);
		for (i = 0; i < v->paths; i++)
			printf("%s%" PRIu32, i ? ", " : "[", v->outcomes[i][k]);
		printf("]");
	}
}

static int print_attr(const struct nlattr *attr, void *data)
{
	unsigned int type = mnl_attr_get_type(attr);
	uint64_t value = 0;

	switch (type) {
	case NDP_NL_A_LOCAL:
		print_address(data, "local", attr);
		break;
	case NDP_NL_A_REMOTE:
		print_address(data, "remote", attr);
		break;
	case NDP_NL_A_INFO:
		mnl_attr_parse_nested(attr, print_info, data);
		break;
	case NDP_NL_A_PATH:
		take_path(data, attr);
		break;
	default:
		if (type > NDP_NL_A_MAX || !numbers[type].name ||
		    mnl_attr_get_payload_len(attr) != numbers[type].size)
			break;
		/* u32 or u64 in host byte order */
		if (numbers[type].size == 4)
			value = mnl_attr_get_u32(attr);
		else
			value = mnl_attr_get_u64(attr);
		print_number(data, numbers[type].name, value, numbers[type].shown);
	}
	return MNL_CB_OK;
}

static int print_object(const struct nlmsghdr *nlh, void *data)
{
	struct view *v = data;

	v->fields = 0;
	v->paths = 0;
	if (v->json)
		printf("%s    { ", v->objects ? ",\n" : "");
	else
		printf("  ");
	v->objects++;
	mnl_attr_parse(nlh, sizeof(struct genlmsghdr), print_attr, v);
	print_outcomes(v);
	printf(v->json ? " }" : "\n");
	return MNL_CB_OK;
}

/* ---- requests ---- */

static int take_family(const struct nlattr *attr, void *data)
{
	if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID &&
	    !mnl_attr_validate(attr, MNL_TYPE_U16))
		((struct view *)data)->family = mnl_attr_get_u16(attr);
	return MNL_CB_OK;
}

static int take_families(const struct nlmsghdr *nlh, void *data)
{
	return mnl_attr_parse(nlh, sizeof(struct genlmsghdr), take_family, data);
}

static struct nlmsghdr *start(void *buf, uint16_t type, uint8_t version, uint8_t command,
			      uint16_t flags)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *genl;

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	genl->cmd = command;
	genl->version = version;
	return nlh;
}

/* Send a request and process all replies. Return: 0 or an errno */
static int talk(struct view *v, const struct nlmsghdr *nlh,
		int (*take)(const struct nlmsghdr *nlh, void *data))
{
	static char buf[PIECE];
	ssize_t len;
	int more;

	if (mnl_socket_sendto(v->nl, nlh, nlh->nlmsg_len) < 0)
		return errno;
	do {
		len = mnl_socket_recvfrom(v->nl, buf, sizeof(buf));
		if (len < 0)
			return errno;
		more = mnl_cb_run(buf, (size_t)len, 0, 0, take, v);
	} while (more > MNL_CB_STOP);
	return more == MNL_CB_STOP ? 0 : errno;
}

static int find_family(struct view *v)
{
	char buf[256];
	struct nlmsghdr *nlh = start(buf, GENL_ID_CTRL, 1, CTRL_CMD_GETFAMILY, NLM_F_ACK);

	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, NDP_GENL_NAME);
	return talk(v, nlh, take_families);
}

static int show(struct view *v, const struct table *t, bool first)
{
	char buf[64];
	int error;

	v->objects = 0;
	if (v->json)
		printf("%s  \"%s\": [\n", first ? "{\n" : ",\n", t->name);
	else
		printf("%s:\n", t->name);
	error = talk(v, start(buf, v->family, NDP_GENL_VERSION, t->command, NLM_F_DUMP),
		     print_object);
	if (error)
		return fail(CANNOT, "%s: %s", t->name, strerror(error));
	if (v->json)
		printf("%s  ]", v->objects ? "\n" : "");
	return DONE;
}

static int show_all(struct view *v, const struct table *only)
{
	size_t i;
	int error;

	error = find_family(v);
	if (error == ENOENT)
		return fail(CANNOT, "no netlink family " NDP_GENL_NAME ": load the module ndp");
	if (error)
		return fail(CANNOT, "netlink: %s", strerror(error));
	for (i = 0; i < COUNT(tables); i++) {
		if (only && only != &tables[i])
			continue;
		if (show(v, &tables[i], only || !i))
			return CANNOT;
	}
	if (v->json)
		printf("\n}\n");
	return DONE;
}

/* ---- command line ---- */

static void help(FILE *to)
{
	fprintf(to, "Usage: closnet ndp [sockets | peers | sending | receiving] [OPTION]\n"
		    "  sockets      bound sockets and their counters\n"
		    "  peers        pairs of addresses, and the packets of their paths by outcome\n"
		    "  sending      flows from sockets of this network namespace\n"
		    "  receiving    flows to sockets of this network namespace\n"
		    "  -j, --json   print JSON\n");
}

static int read_words(int argc, char **argv, const struct table **only)
{
	size_t i;

	*only = NULL;
	if (argc > 1)
		return fail(USAGE, "unexpected argument \"%s\" after %s", argv[1], argv[0]);
	for (i = 0; argc && i < COUNT(tables); i++)
		if (!strcmp(argv[0], tables[i].name))
			*only = &tables[i];
	if (argc && !*only)
		return fail(USAGE, "\"%s\" is not sockets, peers, sending or receiving", argv[0]);
	return DONE;
}

int ndp(int argc, char **argv)
{
	static struct view v;
	const struct table *only;
	int status;

	argv[0] = "closnet ndp";
	if (read_options(argc, argv, help, &v.json, &status))
		return status;
	status = read_words(argc - optind, argv + optind, &only);
	if (status)
		return status;
	v.nl = mnl_socket_open(NETLINK_GENERIC);
	if (!v.nl || mnl_socket_bind(v.nl, 0, MNL_SOCKET_AUTOPID) < 0)
		return fail(CANNOT, "netlink: %s", strerror(errno));
	status = show_all(&v, only);
	mnl_socket_close(v.nl);
	return status;
}
