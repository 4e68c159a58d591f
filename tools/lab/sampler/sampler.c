// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples the root qdiscs of devices in network namespaces, at fixed times, into
 * a CSV file, until it is told to end (SIGTERM).
 *
 * Usage: sampler --out FILE --every NS --origin NS NETNS/DEVICE...
 *
 * The origin is a time of CLOCK_MONOTONIC; the times in the file count from it,
 * and the samples lie on whole multiples of --every after it. In virtual time
 * nothing of what is done here takes any.
 *
 * Columns: time_ns, port (NETNS/DEVICE), packets and bytes (in the queue now);
 * and since the qdisc was made: sent_bytes, drops, marks (CE set), trims.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libmnl/libmnl.h>
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/pkt_sched_ndp.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define NS_PER_S 1000000000LL

struct port {
	const char *name;
	struct mnl_socket *socket;	/* in its namespace */
	unsigned int ifindex;
};

struct sample {
	uint32_t packets;
	uint32_t bytes;
	uint64_t sent_bytes;
	uint64_t drops;
	uint64_t marks;
	uint64_t trims;
};

static volatile sig_atomic_t ending;

static void on_signal(int number)
{
	(void)number;
	ending = 1;
}

/* Goes into the namespace of NAME/DEVICE, where the port's socket is made */
static void open_port(struct port *port, const char *name)
{
	char path[256];
	const char *device = strchr(name, '/');
	int fd;

	if (!device)
		errx(2, "%s is not NETNS/DEVICE", name);
	snprintf(path, sizeof(path), "/run/netns/%.*s", (int)(device - name), name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		err(2, "%s", path);
	close(fd);
	port->name = name;
	port->ifindex = if_nametoindex(device + 1);
	if (!port->ifindex)
		err(2, "%s", name);
	port->socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	if (!port->socket || mnl_socket_bind(port->socket, 0, MNL_SOCKET_AUTOPID))
		err(2, "netlink socket in %s", path);
}

/* The counters that only some kinds of qdisc have */
static void own_counters(const char *kind, const struct nlattr *app, struct sample *s)
{
	union {
		struct tc_red_xstats red;
		struct tc_codel_xstats codel;
		struct tc_fq_codel_xstats fq_codel;
		struct tc_ndp_xstats ndp;
	} x;
	size_t length = mnl_attr_get_payload_len(app);

	memset(&x, 0, sizeof(x));
	memcpy(&x, mnl_attr_get_payload(app), length < sizeof(x) ? length : sizeof(x));
	if (!strcmp(kind, "red")) {
		s->marks = x.red.marked;
	} else if (!strcmp(kind, "codel")) {
		s->marks = x.codel.ecn_mark;
	} else if (!strcmp(kind, "fq_codel")) {
		s->marks = x.fq_codel.qdisc_stats.ecn_mark;
	} else if (!strcmp(kind, "ndp")) {
		s->marks = x.ndp.ecn_marked_packets;
		s->trims = x.ndp.trimmed_arrival_packets + x.ndp.trimmed_tail_packets;
	}
}

static void read_stats(const char *kind, const struct nlattr *stats, struct sample *s)
{
	const struct nlattr *attr;
	struct gnet_stats_basic basic;
	struct gnet_stats_queue queue;

	mnl_attr_for_each_nested(attr, stats) {
		switch (mnl_attr_get_type(attr)) {
		case TCA_STATS_BASIC:
			memcpy(&basic, mnl_attr_get_payload(attr), sizeof(basic));
			s->sent_bytes = basic.bytes;
			break;
		case TCA_STATS_QUEUE:
			memcpy(&queue, mnl_attr_get_payload(attr), sizeof(queue));
			s->packets = queue.qlen;
			s->bytes = queue.backlog;
			s->drops = queue.drops;
			break;
		case TCA_STATS_APP:
			own_counters(kind, attr, s);
			break;
		}
	}
}

static int read_qdisc(const struct nlmsghdr *message, void *data)
{
	const struct nlattr *attr;
	const char *kind = "";

	if (message->nlmsg_type != RTM_NEWQDISC)
		return MNL_CB_OK;
	mnl_attr_for_each(attr, message, sizeof(struct tcmsg)) {
		if (mnl_attr_get_type(attr) == TCA_KIND)
			kind = mnl_attr_get_str(attr);
		else if (mnl_attr_get_type(attr) == TCA_STATS2)
			read_stats(kind, attr, data);
	}
	return MNL_CB_STOP;
}

static void sample_port(const struct port *port, int64_t time, FILE *out)
{
	char buffer[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
	struct sample s = { 0 };
	struct tcmsg *tcm;
	ssize_t length;
	int status;

	message->nlmsg_type = RTM_GETQDISC;
	message->nlmsg_flags = NLM_F_REQUEST | NLM_F_ECHO;
	tcm = mnl_nlmsg_put_extra_header(message, sizeof(*tcm));
	tcm->tcm_ifindex = port->ifindex;
	tcm->tcm_parent = TC_H_ROOT;
	if (mnl_socket_sendto(port->socket, message, message->nlmsg_len) < 0)
		err(1, "%s", port->name);
	do {
		length = mnl_socket_recvfrom(port->socket, buffer, sizeof(buffer));
		status = length < 0 ? -1 : mnl_cb_run(buffer, length, 0, 0, read_qdisc, &s);
	} while (status > MNL_CB_STOP);
	if (status < 0)
		err(1, "the qdisc of %s", port->name);
	fprintf(out, "%" PRId64 ",%s,%u,%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
		time, port->name, s.packets, s.bytes, s.sent_bytes, s.drops, s.marks, s.trims);
}

static int open_timer(int64_t origin, int64_t every)
{
	struct itimerspec when = {
		.it_value = { origin / NS_PER_S, origin % NS_PER_S },
		.it_interval = { every / NS_PER_S, every % NS_PER_S },
	};
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);

	if (fd < 0 || timerfd_settime(fd, TFD_TIMER_ABSTIME, &when, NULL))
		err(2, "timer");
	return fd;
}

/* Samples until a signal comes, which only ppoll() lets through */
static void run(const struct port *ports, int count, int64_t origin, int64_t every, FILE *out)
{
	struct pollfd timer = { .fd = open_timer(origin, every), .events = POLLIN };
	struct sigaction action = { .sa_handler = on_signal };
	sigset_t block, open;
	uint64_t expired, turn = 0;
	int i;

	sigemptyset(&block);
	sigaddset(&block, SIGTERM);
	sigprocmask(SIG_BLOCK, &block, &open);
	sigaction(SIGTERM, &action, NULL);
	while (ppoll(&timer, 1, NULL, &open) == 1 && !ending) {
		if (read(timer.fd, &expired, sizeof(expired)) != sizeof(expired))
			err(1, "timer");
		turn += expired;
		for (i = 0; i < count; i++)
			sample_port(&ports[i], (int64_t)(turn - 1) * every, out);
	}
}

static int64_t number(const char *option, const char *text, int64_t min)
{
	char *end;
	long long n = strtoll(text, &end, 10);

	if (*end || end == text || n < min)
		errx(2, "%s %s: not a number of at least %" PRId64, option, text, min);
	return n;
}

int main(int argc, char **argv)
{
	int64_t every = 0, origin = 0;
	const char *name = NULL;
	struct port *ports;
	FILE *out;
	int i, n;

	for (i = 1; i + 1 < argc && !strncmp(argv[i], "--", 2); i += 2) {
		if (!strcmp(argv[i], "--out"))
			name = argv[i + 1];
		else if (!strcmp(argv[i], "--every"))
			every = number(argv[i], argv[i + 1], 1);
		else if (!strcmp(argv[i], "--origin"))
			origin = number(argv[i], argv[i + 1], 1);
		else
			errx(2, "no such option: %s", argv[i]);
	}
	if (!name || !every || !origin || i == argc)
		errx(2, "usage: sampler --out FILE --every NS --origin NS NETNS/DEVICE...");
	out = fopen(name, "we");
	if (!out)
		err(2, "%s", name);
	ports = calloc(argc - i, sizeof(*ports));
	if (!ports)
		err(2, "ports");
	for (n = 0; i + n < argc; n++)
		open_port(&ports[n], argv[i + n]);
	fprintf(out, "time_ns,port,packets,bytes,sent_bytes,drops,marks,trims\n");
	run(ports, n, origin, every, out);
	if (fclose(out))
		err(1, "%s", name);
	return 0;
}
