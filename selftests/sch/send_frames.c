// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sends crafted frames through a qdisc and says what became of each
 *
 * send_frames [-t TRIM_SIZE] [-d DSCP_TRIMMED] [-r DSCP_RETURNED] [-k] [-T]
 *	-s NS/DEV [-c LABEL=NS/DEV/in|out[/COUNT]]... [-x COMMAND] SPEC...
 *
 * The frames of all SPECs (see frame_parse_spec()) are sent on DEV in network
 * namespace NS. Then COMMAND, if given, is run; it makes the qdisc drain.
 * Frames captured at each -c are compared, byte for byte, with everything
 * that may become of a frame, and one line is printed for each:
 *
 *	LABEL INDEX VARIANT LENGTH NANOSECONDS
 *
 * INDEX counts the frames (of a GSO frame: its segments) in the order of the
 * command line, from 0. With -k, UDP frames keep a checksum when they are
 * trimmed (match dscp, match all), else they have none then (match udp_port).
 * NANOSECONDS is when the kernel saw it; with -T, when the hardware did.
 * VARIANT is whole, trimmed, returned or marked. A frame that is none of these,
 * or comes twice, is shown and makes the exit status 1; so do fewer, or more,
 * than COUNT frames at a capture.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <netinet/in.h>

#include "../lib/packet.h"
#include "frame.h"

#ifndef VIRTIO_NET_HDR_GSO_UDP_L4
#define VIRTIO_NET_HDR_GSO_UDP_L4 5
#endif

#define CAPTURES_MAX 8
#define EXPECT_MAX 4096
#define SHOWN_MAX 4
#define QUIET_MS 150
#define PATIENCE_MS 15000

/* PARTIAL_: its checksum was left to the device when it was trimmed */
enum variant { WHOLE, TRIMMED, RETURNED, PARTIAL_TRIMMED, PARTIAL_RETURNED, MARKED, VARIANTS };

static const char *const variant_name[] = {
	"whole", "trimmed", "returned", "trimmed", "returned", "marked",
};

/* A frame that was sent and all that may become of it; without bytes: that may not */
struct expect {
	struct frame f[VARIANTS];
	bool partial;		/* its checksum may be left to the device */
};

struct capture {
	const char *label;
	int fd;
	bool out;
	unsigned int count;	/* frames awaited */
	unsigned int seen;
	uint8_t *seen_index;
};

/* A captured frame; b as it was on the wire, tag put back */
struct caught {
	uint8_t b[FRAME_MAX + 8];
	unsigned int len;
	bool csum_pending;
	unsigned long long ns;
};

static struct expect *expected[EXPECT_MAX];
static unsigned int expected_count;
static struct capture captures[CAPTURES_MAX];
static unsigned int capture_count;
static unsigned int trim_size = 128;
static int dscp_trimmed = 48, dscp_returned = 49;
static bool hardware_stamps, keeps_csum;
static int failures;

/* The port stamps what it receives, and the socket tells these stamps. */
static void use_hardware_stamps(int fd, const char *dev)
{
	struct hwtstamp_config config = { .rx_filter = HWTSTAMP_FILTER_ALL };
	struct ifreq ifr = { .ifr_data = (void *)&config };

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", dev);
	if (ioctl(fd, SIOCSHWTSTAMP, &ifr))
		err(2, "SIOCSHWTSTAMP on %s", dev);
	packet_option(fd, SOL_SOCKET, SO_TIMESTAMPING,
		      SOF_TIMESTAMPING_RX_HARDWARE | SOF_TIMESTAMPING_RAW_HARDWARE);
}

/* NS/DEV[/...]: cuts text at its slashes */
static unsigned int split(char *text, char *part[], unsigned int max)
{
	unsigned int n = 0;
	char *save, *tok;

	for (tok = strtok_r(text, "/", &save); tok && n < max; tok = strtok_r(NULL, "/", &save))
		part[n++] = tok;
	return n;
}

/* LABEL=NS/DEV/in|out[/COUNT] */
static void add_capture(char *text)
{
	struct capture *c = &captures[capture_count];
	char *part[4], *where = strchr(text, '='), dev[128];
	unsigned int n;

	if (!where || capture_count == CAPTURES_MAX)
		errx(2, "bad capture %s", text);
	*where++ = '\0';
	n = split(where, part, 4);
	if (n < 3)
		errx(2, "capture %s: NS/DEV/in|out is needed", text);
	c->label = text;
	c->out = !strcmp(part[2], "out");
	c->count = n > 3 ? (unsigned int)atoi(part[3]) : 0;
	snprintf(dev, sizeof(dev), "%s/%s", part[0], part[1]);
	c->fd = packet_socket(dev, ETH_P_ALL);
	packet_option(c->fd, SOL_SOCKET, SO_RCVBUFFORCE, 256 << 20);
	if (hardware_stamps)
		use_hardware_stamps(c->fd, part[1]);
	else
		packet_option(c->fd, SOL_SOCKET, SO_TIMESTAMPNS, 1);
	packet_option(c->fd, SOL_PACKET, PACKET_AUXDATA, 1);
	if (!c->out)
		packet_option(c->fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1);
	c->seen_index = calloc(EXPECT_MAX, 1);
	capture_count++;
}

/* ---- sending */

struct sender {
	char *ns, *dev;
	int fd;		/* on DEV */
	int tag_fd;	/* on DEV.5, which offloads the tag; -1: not open */
};

static int sender_fd(struct sender *tx, bool tagged)
{
	char name[128];
	int *fd = tagged ? &tx->tag_fd : &tx->fd;

	if (*fd >= 0)
		return *fd;
	snprintf(name, sizeof(name), tagged ? "%s/%s.5" : "%s/%s", tx->ns, tx->dev);
	*fd = packet_socket(name, 0);
	packet_option(*fd, SOL_SOCKET, SO_SNDBUFFORCE, 256 << 20);
	packet_option(*fd, SOL_PACKET, PACKET_VNET_HDR, 1);
	return *fd;
}

static uint8_t gso_type(const struct frame_spec *s)
{
	if (!s->gso)
		return VIRTIO_NET_HDR_GSO_NONE;
	if (s->proto == IPPROTO_UDP)
		return VIRTIO_NET_HDR_GSO_UDP_L4;
	return s->v6 ? VIRTIO_NET_HDR_GSO_TCPV6 : VIRTIO_NET_HDR_GSO_TCPV4;
}

static void send_frame(struct sender *tx, const struct frame_spec *s,
		       const struct frame *f)
{
	unsigned int cut = s->vlan == VLAN_OFFLOADED ? 4 : 0;
	struct virtio_net_hdr vh = { .gso_type = gso_type(s), .gso_size = (uint16_t)s->gso };
	struct iovec iov[] = {
		{ &vh, sizeof(vh) }, { f->b, 12 }, { f->b + 12 + cut, f->len - 12 - cut },
	};
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 3 };
	int fd = sender_fd(tx, cut);
	uint8_t check[2] = { 0, 0 };

	packet_option(fd, SOL_SOCKET, SO_PRIORITY, s->prio);
	vh.hdr_len = (uint16_t)(s->lin ? s->lin : s->gso ? frame_header_len(f) - cut : 0);
	if (s->csum == CSUM_PARTIAL) {
		uint16_t sum = frame_pseudo_sum(f);

		vh.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
		vh.csum_start = (uint16_t)(f->l4 - cut);
		vh.csum_offset = (uint16_t)(f->check - f->l4);
		memcpy(check, f->b + f->check, 2);
		f->b[f->check] = (uint8_t)(sum >> 8);
		f->b[f->check + 1] = (uint8_t)sum;
	}
	/* ENOBUFS: the qdisc dropped it, which is its right */
	if (sendmsg(fd, &msg, 0) < 0 && errno != ENOBUFS)
		err(2, "send %u bytes", f->len);
	if (s->csum == CSUM_PARTIAL)
		memcpy(f->b + f->check, check, 2);
}

static void expect_trimmed(struct expect *e, enum variant v, enum trim_csum csum)
{
	const struct frame *f = &e->f[WHOLE];

	/* a packet on its way back stays one */
	frame_trim(f, trim_size, frame_dscp(f) == dscp_returned ? dscp_returned : dscp_trimmed,
		   csum, &e->f[v]);
	frame_turn(&e->f[v], dscp_returned, &e->f[v + 1]);
}

/* FULL, PARTIAL: the qdisc may find its checksum complete, or left to the device */
static void add_expected(const struct frame *f, bool full, bool partial)
{
	struct expect *e = calloc(1, sizeof(*e));
	bool none = !keeps_csum && f->proto == IPPROTO_UDP;

	if (!e || expected_count == EXPECT_MAX)
		errx(2, "too many frames");
	e->partial = partial;
	e->f[WHOLE] = *f;
	if (full || none)
		expect_trimmed(e, TRIMMED, none ? TRIM_NO_CSUM : TRIM_STALE_CSUM);
	if (partial && !none)
		expect_trimmed(e, PARTIAL_TRIMMED, TRIM_PARTIAL_CSUM);
	frame_mark_ce(f, &e->f[MARKED]);
	expected[expected_count++] = e;
}

static void send_spec(struct sender *tx, const char *text)
{
	unsigned int i, k, segments;
	const char *wrong;
	struct frame_spec s;
	struct frame f, seg;

	wrong = frame_parse_spec(text, &s);
	if (wrong)
		errx(2, "%s: %s", text, wrong);
	for (i = 0; i < s.count; i++) {
		frame_build(&s, expected_count, &f);
		segments = s.gso ? frame_segments(&f, s.gso) : 1;
		for (k = 0; s.gso && k < segments; k++) {
			frame_segment(&f, s.gso, k, &seg);
			add_expected(&seg, false, true);
		}
		if (!s.gso)
			add_expected(&f, s.csum != CSUM_PARTIAL, s.csum == CSUM_PARTIAL || s.flow);
		send_frame(tx, &s, &f);
	}
}

/* ---- capturing */

static void put_tag_back(struct caught *c, const struct tpacket_auxdata *aux)
{
	unsigned int tpid = ETH_P_8021Q;

	if (!(aux->tp_status & TP_STATUS_VLAN_VALID))
		return;
	if (aux->tp_status & TP_STATUS_VLAN_TPID_VALID)
		tpid = aux->tp_vlan_tpid;
	memmove(c->b + 16, c->b + 12, c->len - 12);
	c->b[12] = (uint8_t)(tpid >> 8);
	c->b[13] = (uint8_t)tpid;
	c->b[14] = (uint8_t)(aux->tp_vlan_tci >> 8);
	c->b[15] = (uint8_t)aux->tp_vlan_tci;
	c->len += 4;
}

static unsigned long long nanoseconds(const struct timespec *ts)
{
	return (unsigned long long)ts->tv_sec * 1000000000 + (unsigned long long)ts->tv_nsec;
}

/* One frame off the socket; false if there is none that counts */
static bool catch(const struct capture *cap, struct caught *c)
{
	union {
		struct cmsghdr align;
		char b[256];
	} control;
	struct sockaddr_ll from;
	struct iovec iov = { c->b, FRAME_MAX };
	struct msghdr msg = {
		.msg_name = &from, .msg_namelen = sizeof(from),
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	ssize_t n = recvmsg(cap->fd, &msg, MSG_DONTWAIT);
	struct cmsghdr *cm;
	bool outgoing;

	if (n < 14)
		return false;
	outgoing = from.sll_pkttype == PACKET_OUTGOING;
	if (outgoing != cap->out)
		return false;
	c->len = (unsigned int)n;
	c->csum_pending = false;
	for (cm = CMSG_FIRSTHDR(&msg); cm; cm = CMSG_NXTHDR(&msg, cm)) {
		struct tpacket_auxdata aux;
		struct timespec ts[3];

		if (cm->cmsg_level == SOL_PACKET && cm->cmsg_type == PACKET_AUXDATA) {
			memcpy(&aux, CMSG_DATA(cm), sizeof(aux));
			c->csum_pending = aux.tp_status & TP_STATUS_CSUMNOTREADY;
			put_tag_back(c, &aux);
		} else if (cm->cmsg_level == SOL_SOCKET) {
			/* of three stamps, the last is the hardware's */
			memcpy(ts, CMSG_DATA(cm), cm->cmsg_len - CMSG_LEN(0));
			c->ns = nanoseconds(&ts[hardware_stamps ? 2 : 0]);
		}
	}
	return true;
}

/*
 * Is it this one? A checksum that the device is still to complete shows the
 * pseudo header's sum. That is no excuse for a trimmed frame: its checksum
 * must be complete, no device could do it afterwards.
 */
static bool is_variant(const struct caught *c, const struct expect *e, enum variant v)
{
	const struct frame *f = &e->f[v];
	unsigned int check = f->check;
	uint16_t sum;

	if (!f->b || c->len != f->len)
		return false;
	if (!c->csum_pending)
		return !memcmp(c->b, f->b, f->len);
	if (!e->partial || (v != WHOLE && v != MARKED))
		return false;
	sum = frame_pseudo_sum(f);
	return c->b[check] == sum >> 8 && c->b[check + 1] == (sum & 0xff) &&
	       !memcmp(c->b, f->b, check) &&
	       !memcmp(c->b + check + 2, f->b + check + 2, f->len - check - 2);
}

/* Most come in order, so the search begins behind the last one. */
static bool identify(const struct caught *c, unsigned int *index, enum variant *variant)
{
	static unsigned int next;
	unsigned int i, n, v;

	for (n = 0; n < expected_count; n++) {
		i = (next + n) % expected_count;
		for (v = 0; v < VARIANTS; v++) {
			if (is_variant(c, expected[i], (enum variant)v)) {
				next = i + 1;
				*index = i;
				*variant = (enum variant)v;
				return true;
			}
		}
	}
	return false;
}

static void dump(const char *what, const uint8_t *b, unsigned int len)
{
	unsigned int i;

	fprintf(stderr, "%-8s", what);
	for (i = 0; i < len && i < 96; i++)
		fprintf(stderr, "%s%02x", i % 2 ? "" : " ", b[i]);
	fprintf(stderr, "\n");
}

static unsigned int common(const struct caught *c, const struct frame *f)
{
	unsigned int i, same = c->len == f->len ? 50 : 0;

	for (i = 0; i < c->len && i < f->len && i < 128; i++)
		same += c->b[i] == f->b[i];
	return same;
}

/* Shows a frame that was not expected beside the most similar expectation. */
static void show_unknown(const struct capture *cap, const struct caught *c)
{
	unsigned int i, v, same, best = 0, bi = 0, bv = 0;

	if (failures++ >= SHOWN_MAX)
		return;
	for (i = 0; i < expected_count; i++) {
		for (v = 0; v < VARIANTS; v++) {
			if (!expected[i]->f[v].b)
				continue;
			same = common(c, &expected[i]->f[v]);
			if (same > best) {
				best = same;
				bi = i;
				bv = v;
			}
		}
	}
	fprintf(stderr, "%s: unexpected frame of %u bytes%s; most like %u %s of %u bytes\n",
		cap->label, c->len, c->csum_pending ? " (checksum pending)" : "", bi,
		variant_name[bv], expected[bi]->f[bv].len);
	dump("got", c->b, c->len);
	dump("want", expected[bi]->f[bv].b, expected[bi]->f[bv].len);
}

static void handle(struct capture *cap, const struct caught *c)
{
	enum variant variant;
	unsigned int index;

	cap->seen++;
	if (!identify(c, &index, &variant)) {
		show_unknown(cap, c);
		return;
	}
	printf("%s %u %s %u %llu\n", cap->label, index, variant_name[variant], c->len, c->ns);
	if (cap->seen_index[index]++) {
		fprintf(stderr, "%s: frame %u came twice\n", cap->label, index);
		failures++;
	}
}

static bool all_seen(void)
{
	unsigned int i;

	for (i = 0; i < capture_count; i++)
		if (captures[i].seen < captures[i].count)
			return false;
	return true;
}

/* Until all captures have their count, and no frame came for a while */
static void capture_all(void)
{
	static struct caught c;
	struct pollfd pfd[CAPTURES_MAX];
	unsigned int i;
	int n;

	for (i = 0; i < capture_count; i++)
		pfd[i] = (struct pollfd){ captures[i].fd, POLLIN, 0 };
	for (;;) {
		n = poll(pfd, capture_count, all_seen() ? QUIET_MS : PATIENCE_MS);
		if (n < 0)
			err(2, "poll");
		if (!n)
			break;
		for (i = 0; i < capture_count; i++)
			if (pfd[i].revents && catch(&captures[i], &c))
				handle(&captures[i], &c);
	}
	for (i = 0; i < capture_count; i++) {
		if (captures[i].seen == captures[i].count)
			continue;
		fprintf(stderr, "%s: %u frames captured, %u expected\n", captures[i].label,
			captures[i].seen, captures[i].count);
		failures++;
	}
}

static void usage(void)
{
	fprintf(stderr, "usage: send_frames %s %s\n", "[-t TRIM_SIZE] [-d DSCP_TRIMMED]",
		"[-r DSCP_RETURNED] [-T] -s NS/DEV [-c CAPTURE]... [-x COMMAND] SPEC...");
	exit(2);
}

int main(int argc, char **argv)
{
	struct sender tx = { .fd = -1, .tag_fd = -1 };
	const char *command = NULL;
	char *part[2];
	int opt;

	while ((opt = getopt(argc, argv, "t:d:r:kTs:c:x:")) != -1) {
		if (opt == 't') {
			trim_size = (unsigned int)atoi(optarg);
		} else if (opt == 'd') {
			dscp_trimmed = atoi(optarg);
		} else if (opt == 'r') {
			dscp_returned = atoi(optarg);
		} else if (opt == 'k') {
			keeps_csum = true;
		} else if (opt == 'T') {
			hardware_stamps = true;
		} else if (opt == 's' && split(optarg, part, 2) == 2) {
			tx.ns = part[0];
			tx.dev = part[1];
		} else if (opt == 'c') {
			add_capture(optarg);
		} else if (opt == 'x') {
			command = optarg;
		} else {
			usage();
		}
	}
	if (!tx.ns || optind == argc)
		usage();
	for (; optind < argc; optind++)
		send_spec(&tx, argv[optind]);
	if (command && system(command))
		errx(2, "%s: failed", command);
	capture_all();
	return failures ? 1 : 0;
}
