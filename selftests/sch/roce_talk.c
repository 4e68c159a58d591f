// SPDX-License-Identifier: GPL-2.0-only
/*
 * roce_talk: queue pairs of two hosts, packet by packet
 *
 * roce_talk -l NS/DEV -r NS/DEV [-u NS] [-x FILE] STEP...
 *
 * DEV of -l is the device with the qdisc, DEV of -r the other end of the link. Runs the
 * STEPs in order, and prints a line for each RoCEv2 packet that -r receives meanwhile,
 * and with -u for each one that the stack of namespace NS receives at UDP port 4791.
 * A STEP is one of
 *
 *	out[:SPEC[:FIELD=VALUE,...]]	send packets from -l, or from -r with addresses
 *	in...				exchanged, in frames SPEC; see frame_parse_spec(),
 *			default udp4. The FIELDs are
 *			op=HEX		opcode, default 0a (RC WRITE ONLY)
 *			qpn=N psn=N	destination queue pair (22), PSN (0)
 *			sqpn=N		source queue pair of a datagram
 *			n=COUNT		packets with ascending PSNs, default 1
 *			qpns=COUNT	the packets go to COUNT queue pairs in turn
 *			icrc=wrong	spoil the ICRC
 *			every=US	microseconds between two packets
 *	wait=MS		wait for MS milliseconds
 *	await=COUNT	wait for COUNT packets
 *	sh=COMMAND	run a shell command
 *
 * A line is "sent|stack TIME op=... v4|v6 qpn=N psn=N ecn=N dscp=N sport=N vlan=ID.PRIO
 * len=BYTES [error]", with the time since the first line in ns and the length from the IP header
 * on. Packets with an error (ICRC, IP checksum, addresses) set exit status 1. With -x, FILE
 * gets each CNP from the IP header on in hexadecimal, a line each.
 *
 * Written from the InfiniBand specification, independently of the module's code.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/udp.h>
#include <linux/virtio_net.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <netinet/in.h>

#include "../lib/netns.h"
#include "../lib/packet.h"
#include "frame.h"

#define PORT 4791
#define SPORT 49152
#define BTH_LEN 12
#define DETH_LEN 8
#define ICRC_LEN 4
#define CNP_LEN 32
#define OP_CNP 0x81
#define PATIENCE_MS 10000

/* Packets to be sent */
struct talk {
	struct frame_spec spec;
	unsigned int op, qpn, psn, sqpn, count, qpns, every_us;
	bool wrong_icrc;
	bool in;
};

/* Where a packet was received */
struct receipt {
	const char *label;
	unsigned int tos;
	unsigned int vlan, prio;
	unsigned long long ns;
};

static int local_fd, local_tag_fd = -1, remote_fd, udp_fd = -1;
static const char *local_dev;
static FILE *hex_file;
static unsigned long long first_ns;
static unsigned int lines;
static bool failed;

static unsigned int get16(const uint8_t *b)
{
	return b[0] * 256U + b[1];
}

static unsigned int get24(const uint8_t *b)
{
	return b[0] * 65536U + get16(b + 1);
}

static void put24(uint8_t *b, unsigned int v)
{
	b[0] = (uint8_t)(v >> 16);
	b[1] = (uint8_t)(v >> 8);
	b[2] = (uint8_t)v;
}

/* ---- ICRC */

/* CRC-32 of Ethernet, most significant bit of the register first in each reflected byte */
static uint32_t crc_byte(uint32_t crc, uint8_t byte)
{
	int i;

	crc ^= byte;
	for (i = 0; i < 8; i++)
		crc = (crc >> 1) ^ (0xedb88320 & (0U - (crc & 1)));
	return crc;
}

/* Does the ICRC leave out a byte of the packet? @i counts from the IP header. */
static bool is_variant(bool v6, unsigned int i)
{
	unsigned int udp = v6 ? 40 : 20;

	if (v6 ? (i >= 1 && i <= 3) || i == 7 : i == 1 || i == 8 || i == 10 || i == 11)
		return true;
	return i == udp + 6 || i == udp + 7 || i == udp + 8 + 4;
}

/* @ip: a packet of @len bytes without its ICRC; @icrc: result in wire order */
static void compute_icrc(const uint8_t *ip, unsigned int len, uint8_t *icrc)
{
	bool v6 = ip[0] >> 4 == 6;
	uint32_t crc = 0xffffffff;
	unsigned int i;

	for (i = 0; i < 8; i++)
		crc = crc_byte(crc, 0xff);
	for (i = 0; i < len; i++) {
		uint8_t byte = is_variant(v6, i) ? 0xff : ip[i];

		if (v6 && i == 0)
			byte = 0x6f;	/* the upper half of the traffic class */
		crc = crc_byte(crc, byte);
	}
	crc = ~crc;
	for (i = 0; i < 4; i++)
		icrc[i] = (uint8_t)(crc >> 8 * i);
}

/* ---- sending */

static void swap(uint8_t *b, unsigned int x, unsigned int y, unsigned int n)
{
	uint8_t tmp[16];

	memcpy(tmp, b + x, n);
	memcpy(b + x, b + y, n);
	memcpy(b + y, tmp, n);
}

/* Write BTH, DETH and ICRC over the payload. */
static void fill(const struct talk *t, struct frame *f, unsigned int n)
{
	uint8_t *bth = f->b + f->l4 + 8;
	unsigned int len = f->end - f->l4 - 8;

	if (len < BTH_LEN + ICRC_LEN)
		errx(2, "%u bytes have no room for BTH and ICRC", len);
	memset(bth, 0, BTH_LEN);
	bth[0] = (uint8_t)t->op;
	memset(bth + 2, 0xff, 2);
	put24(bth + 5, t->qpn + n % t->qpns);
	put24(bth + 9, t->psn + n / t->qpns);
	if (t->op == OP_CNP) {
		bth[4] = 0x40;
		memset(bth + BTH_LEN, 0, len - BTH_LEN);
	}
	if (t->op >> 5 == 3) {
		memset(bth + BTH_LEN, 0, DETH_LEN);
		put24(bth + BTH_LEN + 5, t->sqpn);
	}
	if (t->in) {
		swap(f->b, 0, 6, 6);
		swap(f->b, f->l3 + (f->v6 ? 8 : 12), f->l3 + (f->v6 ? 24 : 16), f->v6 ? 16 : 4);
	}
	compute_icrc(f->b + f->l3, f->end - ICRC_LEN - f->l3, f->b + f->end - ICRC_LEN);
	f->b[f->end - 1] ^= t->wrong_icrc;
}

static int sending_fd(const struct talk *t)
{
	char name[128];

	if (t->in)
		return remote_fd;
	if (t->spec.vlan != VLAN_OFFLOADED)
		return local_fd;
	if (local_tag_fd < 0) {
		snprintf(name, sizeof(name), "%s.5", local_dev);
		local_tag_fd = packet_socket(name, 0);
		packet_option(local_tag_fd, SOL_PACKET, PACKET_VNET_HDR, 1);
	}
	return local_tag_fd;
}

static void send_one(const struct talk *t, unsigned int n)
{
	unsigned int cut = t->spec.vlan == VLAN_OFFLOADED && !t->in ? 4 : 0;
	struct virtio_net_hdr vh = { .hdr_len = (uint16_t)t->spec.lin };
	struct frame f;
	struct iovec iov[3] = { { &vh, sizeof(vh) } };
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 3 };

	frame_build(&t->spec, 0, &f);
	fill(t, &f, n);
	iov[1] = (struct iovec){ f.b, 12 };
	iov[2] = (struct iovec){ f.b + 12 + cut, f.len - 12 - cut };
	/* ENOBUFS: the qdisc dropped the frame */
	if (sendmsg(sending_fd(t), &msg, 0) < 0 && errno != ENOBUFS)
		err(2, "send");
	free(f.b);
}

static void read_field(struct talk *t, char *text)
{
	char *value = strchr(text, '=');

	if (!value)
		errx(2, "field \"%s\" has no value", text);
	*value++ = '\0';
	if (!strcmp(text, "op"))
		t->op = (unsigned int)strtoul(value, NULL, 16);
	else if (!strcmp(text, "qpn"))
		t->qpn = (unsigned int)atoi(value);
	else if (!strcmp(text, "psn"))
		t->psn = (unsigned int)atoi(value);
	else if (!strcmp(text, "sqpn"))
		t->sqpn = (unsigned int)atoi(value);
	else if (!strcmp(text, "n"))
		t->count = (unsigned int)atoi(value);
	else if (!strcmp(text, "qpns"))
		t->qpns = (unsigned int)atoi(value);
	else if (!strcmp(text, "every"))
		t->every_us = (unsigned int)atoi(value);
	else if (!strcmp(text, "icrc"))
		t->wrong_icrc = !strcmp(value, "wrong");
	else
		errx(2, "unknown field \"%s\"", text);
}

static void send_packets(bool in, const char *spec, char *fields)
{
	struct talk t = { .op = 0x0a, .qpn = 22, .count = 1, .qpns = 1, .in = in };
	struct timespec pause = { 0 };
	const char *error;
	char *save, *tok;
	unsigned int n;

	error = frame_parse_spec(spec && *spec ? spec : "udp4", &t.spec);
	if (error)
		errx(2, "%s: %s", spec, error);
	t.spec.port = t.spec.port == 61199 ? PORT : t.spec.port;
	t.spec.sport = t.spec.sport ? t.spec.sport : SPORT;
	t.spec.ecn = t.spec.ecn < 0 ? 0 : t.spec.ecn;
	t.spec.csum = CSUM_NONE;
	for (tok = strtok_r(fields, ",", &save); tok; tok = strtok_r(NULL, ",", &save))
		read_field(&t, tok);
	if (t.op == OP_CNP)
		t.spec.len = (t.spec.v6 ? 62 : 42) + frame_tag_len(t.spec.vlan) + CNP_LEN;
	pause.tv_nsec = t.every_us * 1000L;
	for (n = 0; n < t.count; n++) {
		send_one(&t, n);
		if (t.every_us)
			nanosleep(&pause, NULL);
	}
}

/* ---- receiving */

static unsigned int header_sum(const uint8_t *ip)
{
	unsigned int sum = 0, i;

	for (i = 0; i < 20; i += 2)
		sum += get16(ip + i);
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16);
}

/* Return: what is wrong with a packet from -l, or NULL */
static const char *find_error(const uint8_t *ip, unsigned int len)
{
	bool v6 = ip[0] >> 4 == 6;
	unsigned int udp = v6 ? 40 : 20, udp_len = get16(ip + udp + 4);
	uint8_t icrc[ICRC_LEN];

	if (v6 ? ip[23] != 1 || ip[39] != 2 : ip[15] != 1 || ip[19] != 2)
		return "addresses";
	if (!v6 && header_sum(ip) != 0xffff)
		return "IP checksum";
	if (udp + udp_len > len || (v6 ? get16(ip + 4) : get16(ip + 2) - 20) != udp_len)
		return "length";
	compute_icrc(ip, udp + udp_len - ICRC_LEN, icrc);
	return memcmp(icrc, ip + udp + udp_len - ICRC_LEN, ICRC_LEN) ? "ICRC" : NULL;
}

static void print_hex(const uint8_t *b, unsigned int len)
{
	unsigned int i;

	for (i = 0; hex_file && i < len; i++)
		fprintf(hex_file, "%02x", b[i]);
	if (hex_file)
		fprintf(hex_file, "\n");
}

/* @udp: the UDP header; @payload: length after it */
static void print_packet(const struct receipt *r, bool v6, unsigned int sport, const uint8_t *bth,
			 unsigned int len, const char *error)
{
	if (!lines++)
		first_ns = r->ns;
	printf("%s %llu op=%02x %s qpn=%u psn=%u ecn=%u dscp=%u sport=%u vlan=%u.%u len=%u%s%s\n",
	       r->label, r->ns - first_ns, bth[0], v6 ? "v6" : "v4", get24(bth + 5),
	       get24(bth + 9), r->tos & 3, r->tos >> 2, sport, r->vlan, r->prio, len,
	       error ? " wrong " : "", error ? error : "");
	failed |= !!error;
}

/* Read ancillary data: tag, time, traffic class. */
static void read_control(struct msghdr *msg, struct receipt *r)
{
	struct tpacket_auxdata aux;
	struct timespec ts;
	struct cmsghdr *cm;
	int tclass;

	for (cm = CMSG_FIRSTHDR(msg); cm; cm = CMSG_NXTHDR(msg, cm)) {
		if (cm->cmsg_level == SOL_PACKET && cm->cmsg_type == PACKET_AUXDATA) {
			memcpy(&aux, CMSG_DATA(cm), sizeof(aux));
			if (aux.tp_status & TP_STATUS_VLAN_VALID) {
				r->vlan = aux.tp_vlan_tci & 0xfff;
				r->prio = aux.tp_vlan_tci >> 13;
			}
		} else if (cm->cmsg_level == SOL_SOCKET) {
			memcpy(&ts, CMSG_DATA(cm), sizeof(ts));
			r->ns = (unsigned long long)(ts.tv_sec * 1000000000LL + ts.tv_nsec);
		} else if (cm->cmsg_level == IPPROTO_IP && cm->cmsg_type == IP_TOS) {
			r->tos = *CMSG_DATA(cm);
		} else if (cm->cmsg_level == IPPROTO_IPV6 && cm->cmsg_type == IPV6_TCLASS) {
			memcpy(&tclass, CMSG_DATA(cm), sizeof(tclass));
			r->tos = (unsigned int)tclass;
		}
	}
}

static ssize_t receive(int fd, struct msghdr *msg, struct receipt *r)
{
	static union {
		struct cmsghdr align;
		char b[256];
	} control;
	ssize_t n;

	msg->msg_control = &control;
	msg->msg_controllen = sizeof(control);
	n = recvmsg(fd, msg, MSG_DONTWAIT);
	if (n > 0)
		read_control(msg, r);
	return n;
}

/* Receive a frame at -r. Return: is it RoCEv2? */
static bool take_frame(void)
{
	static uint8_t b[FRAME_MAX];
	struct virtio_net_hdr vh;
	struct iovec iov[] = { { &vh, sizeof(vh) }, { b, sizeof(b) } };
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2 };
	struct receipt r = { .label = "sent" };
	ssize_t n = receive(remote_fd, &msg, &r);
	unsigned int len = (unsigned int)(n - (ssize_t)sizeof(vh)), l3 = 14, udp;
	bool v6;

	if (n < (ssize_t)sizeof(vh) + 14 + 28 + BTH_LEN)
		return false;
	while (get16(b + l3 - 2) == 0x8100 || get16(b + l3 - 2) == 0x88a8)
		l3 += 4;
	v6 = get16(b + l3 - 2) == 0x86dd;
	if (!v6 && get16(b + l3 - 2) != 0x0800)
		return false;
	udp = l3 + (v6 ? 40 : 20);
	if (b[l3 + (v6 ? 6 : 9)] != IPPROTO_UDP || get16(b + udp + 2) != PORT)
		return false;
	r.tos = v6 ? (get16(b + l3) >> 4) & 255 : b[l3 + 1];
	if (b[udp + 8] == OP_CNP)
		print_hex(b + l3, len - l3);
	print_packet(&r, v6, get16(b + udp), b + udp + 8, len - l3, find_error(b + l3, len - l3));
	return true;
}

/* Receive a datagram at the stack of -u. */
static bool take_datagram(void)
{
	static uint8_t b[FRAME_MAX];
	struct sockaddr_in6 from;
	struct iovec iov = { b, sizeof(b) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_name = &from, .msg_namelen = sizeof(from),
	};
	struct receipt r = { .label = "stack" };
	ssize_t n = receive(udp_fd, &msg, &r);
	bool v6 = !IN6_IS_ADDR_V4MAPPED(&from.sin6_addr);

	if (n < BTH_LEN)
		return false;
	print_packet(&r, v6, ntohs(from.sin6_port), b, (unsigned int)n + (v6 ? 48 : 28), NULL);
	return true;
}

/* Receive for @ms, or until @count packets have arrived. Return: number of packets */
static unsigned int receive_all(int ms, unsigned int count)
{
	struct pollfd pfd[] = { { remote_fd, POLLIN, 0 }, { udp_fd, POLLIN, 0 } };
	unsigned int seen = 0;
	struct timespec now;
	long long end;

	clock_gettime(CLOCK_MONOTONIC, &now);
	end = now.tv_sec * 1000LL + now.tv_nsec / 1000000 + ms;
	while (seen < count) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		ms = (int)(end - now.tv_sec * 1000LL - now.tv_nsec / 1000000);
		if (poll(pfd, 2, ms > 0 ? ms : 0) < 0)
			err(2, "poll");
		if (pfd[0].revents)
			seen += take_frame();
		if (pfd[1].revents)
			seen += take_datagram();
		if (!pfd[0].revents && !pfd[1].revents && ms <= 0)
			break;
	}
	return seen;
}

/* Open a socket at the RoCEv2 port of a namespace; the process stays there. */
static void open_udp(const char *ns)
{
	struct sockaddr_in6 any = { .sin6_family = AF_INET6, .sin6_port = htons(PORT) };
	char where[128];

	snprintf(where, sizeof(where), "%s/lo", ns);
	enter_ns_of(where);
	udp_fd = socket(AF_INET6, SOCK_DGRAM, 0);
	if (udp_fd < 0 || bind(udp_fd, (struct sockaddr *)&any, sizeof(any)))
		err(2, "UDP port %d in %s", PORT, ns);
	packet_option(udp_fd, IPPROTO_UDP, UDP_NO_CHECK6_RX, 1);
	packet_option(udp_fd, IPPROTO_IPV6, IPV6_RECVTCLASS, 1);
	packet_option(udp_fd, IPPROTO_IP, IP_RECVTOS, 1);
	packet_option(udp_fd, SOL_SOCKET, SO_TIMESTAMPNS, 1);
	packet_option(udp_fd, SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20);
}

static int open_packet(const char *where)
{
	int fd = packet_socket(where, ETH_P_ALL);

	packet_option(fd, SOL_PACKET, PACKET_VNET_HDR, 1);
	packet_option(fd, SOL_PACKET, PACKET_AUXDATA, 1);
	packet_option(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1);
	packet_option(fd, SOL_SOCKET, SO_TIMESTAMPNS, 1);
	packet_option(fd, SOL_SOCKET, SO_RCVBUFFORCE, 256 << 20);
	packet_option(fd, SOL_SOCKET, SO_SNDBUFFORCE, 256 << 20);
	return fd;
}

/* ---- steps */

static void step(char *text)
{
	char *save, *what, *spec, *rest, none[] = "";
	unsigned int count;

	if (!strncmp(text, "sh=", 3)) {
		fflush(stdout);
		if (system(text + 3))
			errx(2, "sh=%s: failed", text + 3);
		return;
	}
	if (!strncmp(text, "wait=", 5)) {
		receive_all(atoi(text + 5), UINT32_MAX);
		return;
	}
	if (!strncmp(text, "await=", 6)) {
		count = (unsigned int)atoi(text + 6);
		if (receive_all(PATIENCE_MS, count) < count)
			errx(1, "fewer than %u packets within %d ms", count, PATIENCE_MS);
		return;
	}
	what = strtok_r(text, ":", &save);
	spec = strtok_r(NULL, ":", &save);
	rest = strtok_r(NULL, "", &save);
	if (strcmp(what, "out") && strcmp(what, "in"))
		errx(2, "unknown step \"%s\"", what);
	send_packets(!strcmp(what, "in"), spec, rest ? rest : none);
}

int main(int argc, char **argv)
{
	const char *remote = NULL, *udp = NULL;
	int opt;

	while ((opt = getopt(argc, argv, "l:r:u:x:")) != -1) {
		if (opt == 'l')
			local_dev = optarg;
		else if (opt == 'r')
			remote = optarg;
		else if (opt == 'u')
			udp = optarg;
		else if (opt == 'x')
			hex_file = fopen(optarg, "w");
		else
			errx(2, "usage: roce_talk -l NS/DEV -r NS/DEV [-u NS] [-x FILE] STEP...");
	}
	if (!local_dev || !remote)
		errx(2, "-l and -r are missing");
	prctl(PR_SET_TIMERSLACK, 1);	/* for every=US */
	local_fd = packet_socket(local_dev, 0);
	packet_option(local_fd, SOL_PACKET, PACKET_VNET_HDR, 1);
	packet_option(local_fd, SOL_SOCKET, SO_SNDBUFFORCE, 256 << 20);
	remote_fd = open_packet(remote);
	if (udp)
		open_udp(udp);
	for (; optind < argc; optind++)
		step(argv[optind]);
	if (hex_file)
		fclose(hex_file);
	return failed;
}
