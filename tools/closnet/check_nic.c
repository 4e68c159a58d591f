// SPDX-License-Identifier: GPL-2.0-only
/*
 * closnet check-nic: check whether tcp_timely can measure RTTs by a device's
 * clock, and print commands that remove problems
 *
 * Reads from the kernel by rtnetlink and ethtool ioctls. Changes no settings.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/net_tstamp.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <libmnl/libmnl.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "closnet.h"

#define fail(status, ...) fail_as("check-nic", status, __VA_ARGS__)

#define FINDINGS_MAX	16
#define TEXT_LEN	320
#define NICCLOCK	"/proc/self/net/closnet/nicclock"

/* Limit of a driver's private flags */
#define PRIV_FLAGS_MAX	32

static void help(FILE *to)
{
	fprintf(to, "Usage: closnet check-nic [OPTION] DEVICE\n"
		    "  -j, --json   print the findings as JSON\n"
		    "Exit status: 0: hardware timestamps can be used; 1: a problem was found.\n");
}

enum verdict { GOOD, NOTE, PROBLEM };

static const char * const verdict_names[] = { "good", "note", "problem" };

/**
 * struct finding - result of a check
 * @check: name of the check
 * @verdict: good, note or problem
 * @text: explanation
 * @command: command that removes the problem, or empty
 */
struct finding {
	const char *check;
	enum verdict verdict;
	char text[TEXT_LEN];
	char command[TEXT_LEN];
};

/**
 * struct nic - a device
 * @name: its name
 * @index: ifindex
 * @fd: socket for ioctls
 * @driver: driver's name; empty: no driver
 * @kind: kind of link, see ip-link(8); empty: hardware
 * @qdisc: kind of the root qdisc
 * @lower: ifindex of the lower device; 0: no lower device
 * @ports: number of devices whose master is this device
 * @findings: results of the checks
 * @count: number of @findings
 */
struct nic {
	char name[IFNAMSIZ];
	int index;
	int fd;
	char driver[32];
	char kind[32];
	char qdisc[32];
	int lower;
	int ports;
	struct finding findings[FINDINGS_MAX];
	size_t count;
};

/* From the drivers' source code in Linux 6.1 to 7.x, not measured */
static const struct {
	const char *driver;
	enum verdict verdict;
	const char *text;
} drivers[] = {
	{ "bnxt_en", NOTE, "stamps all packets if the firmware has PTP" },
	{ "closwire", GOOD, "stamps all packets" },
	{ "e1000e", GOOD, "stamps all packets" },
	{ "fbnic", GOOD, "stamps all packets" },
	{ "fsl_dpaa2_eth", GOOD, "stamps all packets" },
	{ "fsl_enetc", GOOD, "stamps all packets" },
	{ "gve", NOTE, "stamps all packets in Linux 7.x, if the host offers it" },
	{ "i40e", PROBLEM, "stamps PTP packets only" },
	{ "ice", GOOD, "stamps all packets" },
	{ "igb", NOTE, "stamps all packets from 82580 on; 82576 stamps PTP packets only" },
	{ "igc", PROBLEM, "keeps stamps in driver-specific buffers, which nicclock cannot read" },
	{ "ionic", GOOD, "stamps all packets" },
	{ "ixgbe", NOTE, "stamps all packets from X550 on; 82599 and X540 stamp PTP packets only" },
	{ "mlx4_en", GOOD, "stamps all packets" },
	{ "mlx5_core", GOOD, "stamps all packets, without CQE compression" },
	{ "rvu_nicpf", GOOD, "stamps all packets" },
	{ "sfc", GOOD, "stamps all packets (EF10 and later)" },
	{ "tsnep", PROBLEM, "keeps stamps in driver-specific buffers, which nicclock cannot read" },
	{ "veth", PROBLEM, "is a virtual device without a clock" },
	{ "virtio_net", PROBLEM, "is a virtual device without a clock" },
	{ "ena", PROBLEM, "does not stamp packets" },
};

/* Add a finding. Return: buffer for its command, to be filled by command() */
static char *add(struct nic *nic, const char *check, enum verdict verdict, const char *format, ...)
{
	struct finding *f = &nic->findings[nic->count];
	va_list args;

	if (nic->count < FINDINGS_MAX - 1)
		nic->count++;
	f->check = check;
	f->verdict = verdict;
	f->command[0] = '\0';
	va_start(args, format);
	vsnprintf(f->text, sizeof(f->text), format, args);
	va_end(args);
	return f->command;
}

#define command(buffer, ...) snprintf(buffer, TEXT_LEN, __VA_ARGS__)

/* ---- rtnetlink */

static int read_info(const struct nlattr *attr, void *data)
{
	struct nic *nic = data;

	if (mnl_attr_get_type(attr) == IFLA_INFO_KIND &&
	    !mnl_attr_validate(attr, MNL_TYPE_STRING))
		snprintf(nic->kind, sizeof(nic->kind), "%s", mnl_attr_get_str(attr));
	return MNL_CB_OK;
}

static int read_link(const struct nlmsghdr *nlh, void *data)
{
	const struct ifinfomsg *ifi = mnl_nlmsg_get_payload(nlh);
	struct nic *nic = data;
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, sizeof(*ifi)) {
		switch (mnl_attr_get_type(attr)) {
		case IFLA_MASTER:
			nic->ports += (int)mnl_attr_get_u32(attr) == nic->index;
			break;
		case IFLA_LINK:
			if (ifi->ifi_index == nic->index)
				nic->lower = mnl_attr_get_u32(attr);
			break;
		case IFLA_QDISC:
			if (ifi->ifi_index == nic->index)
				snprintf(nic->qdisc, sizeof(nic->qdisc), "%s",
					 mnl_attr_get_str(attr));
			break;
		case IFLA_LINKINFO:
			if (ifi->ifi_index == nic->index)
				mnl_attr_parse_nested(attr, read_info, nic);
			break;
		}
	}
	return MNL_CB_OK;
}

/* Dump all links: only the ports of a device refer to it, as their master. */
static int read_links(struct nic *nic)
{
	char buffer[32768];
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);
	struct ifinfomsg *ifi;
	struct mnl_socket *nl;
	unsigned int port;
	ssize_t n;
	int more;

	nlh->nlmsg_type = RTM_GETLINK;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	ifi = mnl_nlmsg_put_extra_header(nlh, sizeof(*ifi));
	ifi->ifi_family = AF_UNSPEC;
	nl = mnl_socket_open(NETLINK_ROUTE);
	if (!nl || mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) < 0 ||
	    mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0)
		return -1;
	port = mnl_socket_get_portid(nl);
	do {
		n = mnl_socket_recvfrom(nl, buffer, sizeof(buffer));
		more = n < 0 ? -1 : mnl_cb_run(buffer, n, 0, port, read_link, nic);
	} while (more > 0);
	mnl_socket_close(nl);
	return more;
}

/* ---- ethtool */

static int device_ioctl(const struct nic *nic, unsigned long request, void *data)
{
	struct ifreq ifr = { .ifr_data = data };

	memcpy(ifr.ifr_name, nic->name, sizeof(ifr.ifr_name));
	return ioctl(nic->fd, request, &ifr);
}

static void read_driver(struct nic *nic)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };

	if (!device_ioctl(nic, SIOCETHTOOL, &info))
		snprintf(nic->driver, sizeof(nic->driver), "%s", info.driver);
}

/* Return: link speed in Mbit/s; 0: unknown */
static uint32_t line_rate(const struct nic *nic)
{
	struct ethtool_cmd cmd = { .cmd = ETHTOOL_GSET };
	uint32_t Mbps;

	if (device_ioctl(nic, SIOCETHTOOL, &cmd))
		return 0;
	Mbps = ethtool_cmd_speed(&cmd);
	return Mbps == (uint32_t)SPEED_UNKNOWN ? 0 : Mbps;
}

static bool can_stamp_all(const struct nic *nic)
{
	struct ethtool_ts_info info = { .cmd = ETHTOOL_GET_TS_INFO };

	return !device_ioctl(nic, SIOCETHTOOL, &info) &&
	       info.rx_filters & (1U << HWTSTAMP_FILTER_ALL);
}

/* Return: true if the driver has the private flag and it is on */
static bool private_flag(const struct nic *nic, const char *name)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
	struct ethtool_value flags = { .cmd = ETHTOOL_GPFLAGS };
	struct ethtool_gstrings *strings;
	const char *flag;
	bool on = false;
	uint32_t i;

	if (device_ioctl(nic, SIOCETHTOOL, &info) || !info.n_priv_flags ||
	    info.n_priv_flags > PRIV_FLAGS_MAX || device_ioctl(nic, SIOCETHTOOL, &flags))
		return false;
	strings = calloc(1, sizeof(*strings) + info.n_priv_flags * ETH_GSTRING_LEN);
	if (!strings)
		return false;
	strings->cmd = ETHTOOL_GSTRINGS;
	strings->string_set = ETH_SS_PRIV_FLAGS;
	strings->len = info.n_priv_flags;
	if (!device_ioctl(nic, SIOCETHTOOL, strings)) {
		for (i = 0; i < info.n_priv_flags; i++) {
			flag = (const char *)strings->data + i * ETH_GSTRING_LEN;
			if (!strncmp(flag, name, ETH_GSTRING_LEN))
				on = flags.data & (1U << i);
		}
	}
	free(strings);
	return on;
}

/* ---- the checks */

/* Return: true if the device itself stamps packets, so that its driver is to be checked */
static bool check_kind(struct nic *nic)
{
	char below[IFNAMSIZ] = "";

	if (nic->ports) {
		add(nic, "kind", PROBLEM,
		    "%s is a %s of %d devices, and each NIC has its own clock. "
		    "With more than one active NIC, RTTs come from software. "
		    "Check each NIC separately, and set the line rate manually.",
		    nic->name, nic->kind, nic->ports);
		return false;
	}
	if (nic->lower && nic->lower != nic->index && strcmp(nic->kind, "veth") &&
	    strcmp(nic->kind, "closwire") && if_indextoname(nic->lower, below)) {
		command(add(nic, "kind", NOTE,
			    "%s is a %s on %s, which stamps its packets: check %s.",
			    nic->name, nic->kind, below, below), "closnet check-nic %s", below);
		return false;
	}
	return true;
}

static void check_driver(struct nic *nic)
{
	size_t i;

	for (i = 0; i < COUNT(drivers); i++) {
		if (!strcmp(nic->driver, drivers[i].driver)) {
			add(nic, "driver", drivers[i].verdict, "driver %s %s.", nic->driver,
			    drivers[i].text);
			return;
		}
	}
	add(nic, "driver", NOTE, "driver %s is not in closnet's table.",
	    nic->driver[0] ? nic->driver : "(none)");
}

static void check_filter(struct nic *nic)
{
	struct hwtstamp_config config = { };
	bool can = can_stamp_all(nic);

	if (!device_ioctl(nic, SIOCGHWTSTAMP, &config) && config.rx_filter == HWTSTAMP_FILTER_ALL)
		add(nic, "rx_filter", GOOD, "the NIC stamps all received packets.");
	else if (can)
		command(add(nic, "rx_filter", PROBLEM,
			    "the NIC can stamp all received packets, but this is off."),
			"hwstamp_ctl -i %s -t 0 -r 1", nic->name);
	else
		add(nic, "rx_filter", PROBLEM,
		    "the NIC cannot stamp all received packets: RTTs come from software.");
}

static void check_compression(struct nic *nic)
{
	if (private_flag(nic, "rx_cqe_compress"))
		command(add(nic, "cqe_compression", PROBLEM,
			    "CQE compression is on: several packets get the stamp of the first."),
			"ethtool --set-priv-flags %s rx_cqe_compress off", nic->name);
}

static void check_rate(struct nic *nic)
{
	uint32_t Mbps = line_rate(nic);

	if (Mbps)
		add(nic, "line_rate", GOOD, "the line rate is %u Mbit/s.", Mbps);
	else
		command(add(nic, "line_rate", PROBLEM,
			    "the line rate is unknown (is the link down?); timely assumes "
			    "10 Gbit/s."),
			"sysctl -w net.ipv4.tcp_timely.line_rate=MBITS");
}

/* Documentation/experiments/timely-incast.rst, "No fq" */
static void check_qdisc(struct nic *nic)
{
	if (!strcmp(nic->qdisc, "fq"))
		command(add(nic, "qdisc", NOTE,
			    "the root qdisc is fq. Without fq, TCP paces by its own timers and "
			    "applies new rates immediately: with fq, timely had 2 to 11 %% less "
			    "throughput in the lab."),
			"tc qdisc replace dev %s root pfifo_fast", nic->name);
	else
		add(nic, "qdisc", GOOD, "the root qdisc is %s: TCP paces by its own timers.",
		    nic->qdisc);
}

/* Read nicclock's state of the device; an empty string if it has no entry */
static void nicclock_state(FILE *f, const char *device, char *state, size_t size)
{
	char line[256], name[64], word[32];

	state[0] = '\0';
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%63s %*d %*u %31s", name, word) == 2 && !strcmp(name, device))
			snprintf(state, size, "%s", word);
}

static void check_nicclock(struct nic *nic)
{
	FILE *f = fopen(NICCLOCK, "r");
	char state[32];

	if (!f) {
		command(add(nic, "nicclock", PROBLEM, "module nicclock is not loaded."),
			"modprobe tcp_timely");
		return;
	}
	nicclock_state(f, nic->name, state, sizeof(state));
	fclose(f);
	if (!state[0])
		add(nic, "nicclock", NOTE,
		    "nicclock has received no stamps of this device: no connection with timely used it.");
	else if (!strcmp(state, "noisy") || !strcmp(state, "doubt"))
		add(nic, "nicclock", PROBLEM,
		    "nicclock rejects the NIC's clock (%s): the device has several clocks, "
		    "or a program sets the clock.", state);
	else
		add(nic, "nicclock", GOOD, "nicclock follows the NIC's clock (%s).", state);
}

/* ---- output */

static void print_text(const struct nic *nic)
{
	size_t i;

	for (i = 0; i < nic->count; i++) {
		const struct finding *f = &nic->findings[i];

		printf("%-8s %s: %s\n", verdict_names[f->verdict], f->check, f->text);
		if (f->command[0])
			printf("         # %s\n", f->command);
	}
}

/* Device names may contain any character except space and slash. */
static void print_string(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			printf("\\%c", *text);
		else if ((unsigned char)*text < ' ')
			printf("\\u%04x", *text);
		else
			putchar(*text);
	}
	putchar('"');
}

static void print_json(const struct nic *nic, bool good)
{
	size_t i;

	printf("{\n  \"device\": ");
	print_string(nic->name);
	printf(",\n  \"driver\": ");
	print_string(nic->driver);
	printf(",\n  \"good\": %s,\n  \"findings\": [", good ? "true" : "false");
	for (i = 0; i < nic->count; i++) {
		const struct finding *f = &nic->findings[i];

		printf("%s\n    { \"check\": \"%s\", \"verdict\": \"%s\",\n      \"text\": ",
		       i ? "," : "", f->check, verdict_names[f->verdict]);
		print_string(f->text);
		printf(",\n      \"command\": ");
		if (f->command[0])
			print_string(f->command);
		else
			printf("null");
		printf(" }");
	}
	printf("\n  ]\n}\n");
}

static bool all_good(const struct nic *nic)
{
	size_t i;

	for (i = 0; i < nic->count; i++)
		if (nic->findings[i].verdict == PROBLEM)
			return false;
	return true;
}

static int check(struct nic *nic, bool json)
{
	bool good;

	nic->index = if_nametoindex(nic->name);
	if (!nic->index)
		return fail(CANNOT, "no such device: %s", nic->name);
	nic->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (nic->fd < 0 || read_links(nic))
		return fail(CANNOT, "%s: %s", nic->name, strerror(errno));
	read_driver(nic);
	if (check_kind(nic)) {
		check_driver(nic);
		check_filter(nic);
		check_compression(nic);
	}
	check_rate(nic);
	check_qdisc(nic);
	check_nicclock(nic);
	close(nic->fd);
	good = all_good(nic);
	if (json)
		print_json(nic, good);
	else
		print_text(nic);
	return good ? DONE : CANNOT;
}

int check_nic(int argc, char **argv)
{
	struct nic nic = { };
	bool json = false;
	int status;

	if (read_options(argc, argv, help, &json, &status))
		return status;
	if (argc - optind != 1)
		return fail(USAGE, "missing argument DEVICE");
	if (strlen(argv[optind]) >= sizeof(nic.name))
		return fail(CANNOT, "no such device: %s", argv[optind]);
	snprintf(nic.name, sizeof(nic.name), "%s", argv[optind]);
	return check(&nic, json);
}
