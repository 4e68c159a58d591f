// SPDX-License-Identifier: GPL-2.0-only
/*
 * send_frames: send crafted frames through a qdisc and identify the frames that leave
 *
 * send_frames [-t TRIM_SIZE] [-d DSCP_TRIMMED] [-r DSCP_RETURNED] [-k] [-T]
 *	-s NS/DEV [-c LABEL=NS/DEV/in|out[/COUNT]]... [-x COMMAND] SPEC...
 *
 * Sends the frames of each SPEC (see frame_parse_spec()) on DEV in network
 * namespace NS, then runs COMMAND, which lets the qdisc drain. Each frame that a
 * capture (-c) receives is compared, byte for byte, with all variants of the sent
 * frames. One line is printed for each captured frame:
 *
 *	LABEL INDEX VARIANT LENGTH NANOSECONDS
 *
 * INDEX counts the sent frames, or the segments of a GSO frame, from 0 in the
 * order of the command line. VARIANT is whole, trimmed, returned or marked.
 * NANOSECONDS is the kernel's timestamp, or the hardware's with -T. With -k,
 * trimmed UDP frames keep their checksum (match dscp, match all); without, they
 * have none (match udp_port).
 *
 * An unknown or duplicate frame is printed and causes exit status 1, as does a
 * capture of fewer or more than COUNT frames.
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

/* PARTIAL_: trimmed before the device completed the checksum */
enum variant { WHOLE, TRIMMED, RETURNED, PARTIAL_TRIMMED, PARTIAL_RETURNED, MARKED, VARIANTS };

static const char *const variant_name[] = {
	"whole", "trimmed", "returned", "trimmed", "returned", "marked",
};

/* A sent frame and its variants; a variant without bytes is not permitted */
struct expect {
	struct frame f[VARIANTS];
	bool partial;		/* the device may complete the checksum */
};

struct capture {
	const char *label;
	int fd;
	bool out;
	unsigned int count;	/* expected frames */
	unsigned int seen;
	uint8_t *seen_index;
};

/* A captured frame; b has the bytes on the wire, including an offloaded tag */
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

/* Enable hardware timestamps of received frames at the port and the socket. */
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

/* Split text at its slashes. Return: number of parts */
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
	char *part[4], *point = strchr(text, '='), dev[128];
	unsigned int n;

	if (!point || capture_count == CAPTURES_MAX)
		errx(2, "invalid capture \"%s\"", text);
	*point++ = '\0';
	n = split(point, part, 4);
	if (n < 3)
		errx(2, "capture \"%s\" must have NS/DEV/in|out", text);
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
	/* ENOBUFS: the qdisc dropped the frame */
	if (sendmsg(fd, &msg, 0) < 0 && errno != ENOBUFS)
		err(2, "send %u bytes", f->len);
	if (s->csum == CSUM_PARTIAL)
		memcpy(f->b + f->check, check, 2);
}

static void expect_trimmed(struct expect *e, enum variant v, enum trim_csum csum)
{
	const struct frame *f = &e->f[WHOLE];

	/* trimming a returned packet keeps its mark */
	frame_trim(f, trim_size, frame_dscp(f) == dscp_returned ? dscp_returned : dscp_trimmed,
		   csum, &e->f[v]);
	frame_turn(&e->f[v], dscp_returned, &e->f[v + 1]);
}

/* @full, @partial: the qdisc may see a complete checksum, or one that the device completes */
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
	const char *error;
	struct frame_spec s;
	struct frame f, seg;

	error = frame_parse_spec(text, &s);
	if (error)
		errx(2, "%s: %s", text, error);
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

static void insert_tag(struct caught *c, const struct tpacket_auxdata *aux)
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

/* Read a frame from the socket. Return: did it pass in the capture's direction? */
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
			insert_tag(c, &aux);
		} else if (cm->cmsg_level == SOL_SOCKET) {
			/* the last of three timestamps is the hardware's */
			memcpy(ts, CMSG_DATA(cm), cm->cmsg_len - CMSG_LEN(0));
			c->ns = nanoseconds(&ts[hardware_stamps ? 2 : 0]);
		}
	}
	return true;
}

/*
 * Is the captured frame this variant? If the device is to complete the checksum,
 * the field has the sum of the pseudo header. This is permitted for whole and
 * marked frames only: a trimmed frame must have a complete checksum.
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

/* Find the frame. The search begins after the previous one, as most frames arrive in order. */
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

	fprintf(stderr, "%-9s", what);
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

/* Print an unexpected frame and the expected variant that is most similar to it. */
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
	fprintf(stderr, "%s: unexpected frame of %u bytes%s, most similar to %u %s of %u bytes\n",
		cap->label, c->len, c->csum_pending ? " (checksum pending)" : "", bi,
		variant_name[bv], expected[bi]->f[bv].len);
	dump("received", c->b, c->len);
	dump("expected", expected[bi]->f[bv].b, expected[bi]->f[bv].len);
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
		fprintf(stderr, "%s: frame %u captured twice\n", cap->label, index);
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

/* Capture until all captures have their count and no frame has arrived for QUIET_MS. */
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
