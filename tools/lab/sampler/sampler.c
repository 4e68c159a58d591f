// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sample qdiscs of devices in network namespaces at a fixed interval into a CSV
 * file, until SIGTERM.
 *
 * Usage: sampler --out FILE --every NS --origin NS [--begin NS] NETNS/DEVICE[,CLASS]...
 *
 * CLASS is the class, as 1:2, that has the qdisc; default: the root.
 *
 * --origin is a time of CLOCK_MONOTONIC and time 0 of the file. Samples are taken
 * at --begin (default 0) plus multiples of --every. In virtual time, sampling
 * takes no time.
 *
 * Columns: time_ns, port (NETNS/DEVICE), packets and bytes (in the queue); since the
 * qdisc was created: sent_bytes, drops, marks (CE), trims, pauses (pause frames
 * sent because of this qdisc, refreshes included).
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/pkt_sched_dcqcn.h>
#include <linux/pkt_sched_ndp.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define NS_PER_S 1000000000LL
#define PORTS_MAX 1024
#define REPLIES_MAX 1024			/* not yet read */
#define READ_MAX 32			/* replies per system call */
#define SOCKET_ROOM (32 << 20)		/* for REPLIES_MAX of up to 16 KiB, and overhead */

static const char usage[] =
	"usage: sampler --out FILE --every NS --origin NS [--begin NS] NETNS/DEVICE[,CLASS]...";

struct port {
	char *name;
	unsigned int ifindex;
	uint32_t parent;
};

/* Consecutive ports of one namespace; `first` is an index */
struct group {
	struct mnl_socket *socket;
	unsigned int first;
	unsigned int count;
};

struct sample {
	uint32_t packets;
	uint32_t bytes;
	uint64_t sent_bytes;
	uint64_t drops;
	uint64_t marks;
	uint64_t trims;
	uint64_t pauses;
};

struct run {
	FILE *out;
	int64_t every;
	int64_t begin;
	struct port ports[PORTS_MAX];
	unsigned int port_count;
	struct group groups[PORTS_MAX];
	unsigned int group_count;
	struct sample samples[REPLIES_MAX];
};

static volatile sig_atomic_t ending;

static void on_signal(int number)
{
	(void)number;
	ending = 1;
}

/* Enter the namespace of NETNS/DEVICE. */
static void enter(const char *name, size_t length)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%.*s", (int)length, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		err(2, "%s", path);
	close(fd);
}

/* Return: a socket in the current namespace, with room for several rounds of replies */
static struct mnl_socket *open_socket(void)
{
	struct mnl_socket *socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	int room = SOCKET_ROOM;

	if (!socket || mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) ||
	    setsockopt(mnl_socket_get_fd(socket), SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)))
		err(2, "netlink socket");
	return socket;
}

/* Cut the class off the name of a port, NETNS/DEVICE[,CLASS]. Return: the parent of its qdisc */
static uint32_t cut_class(char *name)
{
	char *words = strchr(name, ',');
	unsigned int major, minor;

	if (!words)
		return TC_H_ROOT;
	*words++ = '\0';
	if (sscanf(words, "%x:%x", &major, &minor) != 2)
		errx(2, "%s is no class", words);
	return TC_H_MAKE(major << 16, minor);
}

/* Look up the ports and group consecutive ones by namespace. Return: number of groups */
static unsigned int open_ports(struct port *ports, struct group *groups, char **names)
{
	size_t length, last = 0;
	unsigned int i, n = 0;

	for (i = 0; names[i]; i++) {
		length = strcspn(names[i], "/");
		if (!names[i][length])
			errx(2, "%s is not NETNS/DEVICE", names[i]);
		if (!i || length != last || memcmp(names[i], names[i - 1], length)) {
			enter(names[i], length);
			groups[n++] = (struct group){ open_socket(), i, 0 };
		}
		last = length;
		ports[i].name = names[i];
		ports[i].parent = cut_class(names[i]);
		ports[i].ifindex = if_nametoindex(names[i] + length + 1);
		if (!ports[i].ifindex)
			err(2, "%s", names[i]);
		groups[n - 1].count++;
	}
	return n;
}

/* Add the pause frames of a priority. */
static void dcqcn_prio_counters(const struct nlattr *nest, struct sample *s)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, nest) {
		if (mnl_attr_get_type(attr) == TCA_DCQCN_STATS_PRIO_XOFF_FRAMES)
			s->pauses += mnl_attr_get_u64(attr);
	}
}

static void dcqcn_counters(const struct nlattr *app, struct sample *s)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, app) {
		if (mnl_attr_get_type(attr) == TCA_DCQCN_STATS_MARKED_PACKETS)
			s->marks = mnl_attr_get_u64(attr);
		else if (mnl_attr_get_type(attr) == TCA_DCQCN_STATS_PRIO)
			dcqcn_prio_counters(attr, s);
	}
}

static void ndp_counters(const struct nlattr *app, struct sample *s)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, app) {
		switch (mnl_attr_get_type(attr)) {
		case TCA_NDP_STATS_ECN_MARKED_PACKETS:
			s->marks = mnl_attr_get_u64(attr);
			break;
		case TCA_NDP_STATS_TRIMMED_ARRIVAL_PACKETS:
		case TCA_NDP_STATS_TRIMMED_TAIL_PACKETS:
			s->trims += mnl_attr_get_u64(attr);
			break;
		}
	}
}

/* Read the counters of a kind of qdisc. */
static void own_counters(const char *kind, const struct nlattr *app, struct sample *s)
{
	union {
		struct tc_red_xstats red;
		struct tc_codel_xstats codel;
		struct tc_fq_codel_xstats fq_codel;
	} x;
	size_t length = mnl_attr_get_payload_len(app);

	memset(&x, 0, sizeof(x));
	memcpy(&x, mnl_attr_get_payload(app), length < sizeof(x) ? length : sizeof(x));
	if (!strcmp(kind, "red"))
		s->marks = x.red.marked;
	else if (!strcmp(kind, "codel"))
		s->marks = x.codel.ecn_mark;
	else if (!strcmp(kind, "fq_codel"))
		s->marks = x.fq_codel.qdisc_stats.ecn_mark;
	else if (!strcmp(kind, "ndp"))
		ndp_counters(app, s);
	else if (!strcmp(kind, "dcqcn"))
		dcqcn_counters(app, s);
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

	mnl_attr_for_each(attr, message, sizeof(struct tcmsg)) {
		if (mnl_attr_get_type(attr) == TCA_KIND)
			kind = mnl_attr_get_str(attr);
		else if (mnl_attr_get_type(attr) == TCA_STATS2)
			read_stats(kind, attr, data);
	}
	return MNL_CB_OK;
}

/* Append the request for a port to the batch. */
static void put_request(struct mnl_nlmsg_batch *batch, const struct port *port)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(mnl_nlmsg_batch_current(batch));
	struct tcmsg *tcm;

	message->nlmsg_type = RTM_GETQDISC;
	message->nlmsg_flags = NLM_F_REQUEST | NLM_F_ECHO;
	tcm = mnl_nlmsg_put_extra_header(message, sizeof(*tcm));
	tcm->tcm_ifindex = port->ifindex;
	tcm->tcm_parent = port->parent;
	mnl_nlmsg_batch_next(batch);
}

/*
 * Send the requests of a round. The kernel queues the replies immediately. Reading
 * many replies by one system call keeps the cost in real time low.
 */
static void send_requests(const struct run *run)
{
	static char buffer[PORTS_MAX * 64];
	struct mnl_nlmsg_batch *batch;
	const struct group *g;
	unsigned int i;

	for (g = run->groups; g < run->groups + run->group_count; g++) {
		batch = mnl_nlmsg_batch_start(buffer, sizeof(buffer));
		for (i = 0; i < g->count; i++)
			put_request(batch, &run->ports[g->first + i]);
		if (mnl_socket_sendto(g->socket, mnl_nlmsg_batch_head(batch),
				      mnl_nlmsg_batch_size(batch)) < 0)
			err(1, "%s", run->ports[g->first].name);
		mnl_nlmsg_batch_stop(batch);
	}
}

/* Read the replies of several rounds into the table: a row per round, a column per port */
static void read_replies(struct run *run, const struct group *g, unsigned int rounds)
{
	static char buffers[READ_MAX][4096];
	struct mmsghdr messages[READ_MAX];
	struct iovec iov[READ_MAX];
	unsigned int at = 0, left = rounds * g->count, port;
	int i, got;

	for (i = 0; i < READ_MAX; i++) {
		iov[i] = (struct iovec){ buffers[i], sizeof(buffers[i]) };
		messages[i] = (struct mmsghdr){
			.msg_hdr = { .msg_iov = &iov[i], .msg_iovlen = 1 }
		};
	}
	for (; left; left -= got) {
		got = recvmmsg(mnl_socket_get_fd(g->socket), messages,
			       left < READ_MAX ? left : READ_MAX, 0, NULL);
		if (got < 0)
			err(1, "%s", run->ports[g->first].name);
		for (i = 0; i < got; i++, at++) {
			port = g->first + at % g->count;
			if (mnl_cb_run(buffers[i], messages[i].msg_len, 0, 0, read_qdisc,
				       &run->samples[at / g->count * run->port_count + port]) < 0)
				err(1, "the qdisc of %s", run->ports[port].name);
		}
	}
}

/* Write the last rounds; the latest one was at @last. */
static void write_rounds(struct run *run, unsigned int rounds, int64_t last)
{
	const struct sample *s = run->samples;
	unsigned int i, round;

	memset(run->samples, 0, rounds * run->port_count * sizeof(*s));
	for (i = 0; i < run->group_count; i++)
		read_replies(run, &run->groups[i], rounds);
	for (round = 0; round < rounds; round++)
		for (i = 0; i < run->port_count; i++, s++)
			fprintf(run->out, "%jd,%s,%u,%u,%ju,%ju,%ju,%ju,%ju\n",
				(intmax_t)(last - (int64_t)(rounds - 1 - round) * run->every),
				run->ports[i].name, s->packets, s->bytes, (uintmax_t)s->sent_bytes,
				(uintmax_t)s->drops, (uintmax_t)s->marks, (uintmax_t)s->trims,
				(uintmax_t)s->pauses);
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

/* Sample until SIGTERM. A signal just before read() takes effect one round later. */
static void sample(struct run *run, int64_t origin)
{
	unsigned int batch = REPLIES_MAX / run->port_count, rounds = 0;
	int timer = open_timer(origin + run->begin, run->every);
	int64_t time = run->begin - run->every;
	uint64_t expired;

	while (!ending && read(timer, &expired, sizeof(expired)) == sizeof(expired)) {
		if (expired > 1) {
			/* late, impossible in virtual time: the rounds between are lost */
			write_rounds(run, rounds, time);
			rounds = 0;
		}
		time += (int64_t)expired * run->every;
		send_requests(run);
		if (++rounds >= batch) {
			write_rounds(run, rounds, time);
			rounds = 0;
		}
	}
	write_rounds(run, rounds, time);
}

static int64_t number(const char *option, const char *text, int64_t min)
{
	char *end;
	long long n = strtoll(text, &end, 10);

	if (*end || end == text || n < min)
		errx(2, "bad value for %s: \"%s\", minimum %jd", option, text, (intmax_t)min);
	return n;
}

static void parse(int argc, char **argv, struct run *run, int64_t *origin)
{
	int i;

	for (i = 1; i + 1 < argc && !strncmp(argv[i], "--", 2); i += 2) {
		if (!strcmp(argv[i], "--out"))
			run->out = fopen(argv[i + 1], "we");
		else if (!strcmp(argv[i], "--every"))
			run->every = number(argv[i], argv[i + 1], 1);
		else if (!strcmp(argv[i], "--begin"))
			run->begin = number(argv[i], argv[i + 1], 0);
		else if (!strcmp(argv[i], "--origin"))
			*origin = number(argv[i], argv[i + 1], 1);
		else
			errx(2, "unknown option \"%s\"", argv[i]);
		if (!strcmp(argv[i], "--out") && !run->out)
			err(2, "%s", argv[i + 1]);
	}
	run->port_count = argc - i;
	if (run->port_count > PORTS_MAX)
		errx(2, "more than %d ports", PORTS_MAX);
	if (!run->out || !run->every || !*origin || !run->port_count)
		errx(2, "%s", usage);
	run->group_count = open_ports(run->ports, run->groups, argv + i);
}

int main(int argc, char **argv)
{
	static struct run run;
	struct sigaction action = { .sa_handler = on_signal };
	int64_t origin = 0;

	sigaction(SIGTERM, &action, NULL);
	parse(argc, argv, &run, &origin);
	fprintf(run.out, "time_ns,port,packets,bytes,sent_bytes,drops,marks,trims,pauses\n");
	sample(&run, origin);
	if (fclose(run.out))
		err(1, "write error");
	return 0;
}
