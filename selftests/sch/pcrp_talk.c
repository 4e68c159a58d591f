// SPDX-License-Identifier: GPL-2.0-only
/*
 * pcrp_talk: a scripted PCRP peer, which can also violate the protocol
 *
 * pcrp_talk -s NS/DEV STEP...
 *
 * Runs the STEPs in order, and prints a line for each control packet that arrives
 * on DEV meanwhile. A STEP is one of
 *
 *	request[:SPEC[:FIELD=VALUE,...]]	send a control packet in a frame SPEC,
 *	probe...	see frame_parse_spec(), default udp4. The FIELDs are the packet's
 *	grant...	fields in fields[], and
 *			len=BYTES	length of the payload, default 64
 *			n=COUNT		number of messages in the payload
 *			mac=other	to another Ethernet address
 *			src=ADDRESS	source IP address; only with csum=partial
 *			udplen=BYTES	length in the UDP header; only with csum=partial
 *			Default FIELDs of a grant are copied from the last packet received.
 *	data[:SPEC[:bytes=N,seq=N]]	send a data packet, default tcp4
 *	answer=OFFSET	from now on answer each request and probe with a grant up to OFFSET;
 *			answer=off: do not answer
 *	wait=MS		wait for MS milliseconds
 *	await		wait for a control packet
 *	show		print "data N", the bytes of data received since the last show
 *	sh=COMMAND	run a shell command
 *
 * A line is "TYPE FIELD=VALUE ...". Of a grant it has the fields that are not copied
 * from the request, and copied ones that differ from fields[]. Of a request or probe it
 * has the fields that the sender does not choose at random. If length, checksum or
 * addresses are wrong, the line ends with an error, and the exit status is 1.
 *
 * Written from the description of the protocol, independently of the module's code.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include <netinet/in.h>

#include "../lib/packet.h"
#include "frame.h"

#ifndef VIRTIO_NET_HDR_GSO_UDP_L4
#define VIRTIO_NET_HDR_GSO_UDP_L4 5
#endif

#define PORT 1021
#define MSG_LEN 64
#define PATIENCE_MS 5000

enum { REQUEST = 1, PROBE, GRANT };

static const char *const type_names[] = { "?", "request", "probe", "grant" };

enum field {
	VERSION, TYPE, PRIO, PROTO, SPORT, DPORT, SLOT, FLOW_NO, COOKIE, SIZE, OFFSET,
	CHAIN_NO, FIRST, SEQ, CHAIN, ASK, RESERVED, FIELDS
};

static const struct {
	const char *name;
	unsigned int at, len;
	uint64_t initial;	/* default in a REQUEST or PROBE */
	bool echoed;		/* copied into a GRANT */
	bool random;		/* a qdisc chooses it at random */
} fields[FIELDS] = {
	[VERSION] = { "version", 0, 1, 1, true, false },
	[TYPE] = { "type", 1, 1, 0, false, false },
	[PRIO] = { "prio", 2, 1, 3, false, false },
	[PROTO] = { "proto", 3, 1, IPPROTO_TCP, true, false },
	[SPORT] = { "sport", 4, 2, 1000, true, true },
	[DPORT] = { "dport", 6, 2, 2000, true, false },
	[SLOT] = { "slot", 8, 4, 7, true, true },
	[FLOW_NO] = { "flow_no", 12, 4, 1, true, true },
	[COOKIE] = { "cookie", 16, 8, 0x1122334455667788, true, true },
	[SIZE] = { "size", 24, 8, 100000, true, false },
	[OFFSET] = { "offset", 32, 8, 0, false, false },
	[CHAIN_NO] = { "chain_no", 40, 4, 1, true, false },
	[FIRST] = { "first", 44, 4, 10000, false, false },
	[SEQ] = { "seq", 48, 4, 5000, false, false },
	[CHAIN] = { "chain", 52, 4, 10000, false, false },
	[ASK] = { "ask", 56, 4, 1, true, false },
	[RESERVED] = { "reserved", 60, 4, 0, false, false },
};

/* A control packet to be sent */
struct talk {
	struct frame_spec spec;
	uint8_t payload[FRAME_MAX / 2];
	unsigned int len;
	unsigned int udp_len;	/* 0: the correct length */
	const char *src;	/* NULL: the default address */
	bool other_mac;
};

static int fd;
static uint8_t last[MSG_LEN];	/* the last control packet received */
static bool have_last;
static const char *answer;	/* OFFSET of answers, or NULL */
static unsigned long long data_bytes;
static bool failed;

static void put(uint8_t *b, enum field field, uint64_t v)
{
	unsigned int i;

	for (i = fields[field].len; i-- > 0; v >>= 8)
		b[fields[field].at + i] = (uint8_t)v;
}

static uint64_t get(const uint8_t *b, enum field field)
{
	uint64_t v = 0;
	unsigned int i;

	for (i = 0; i < fields[field].len; i++)
		v = v << 8 | b[fields[field].at + i];
	return v;
}

/* ---- sending */

static void send_frame(const struct frame_spec *s, const struct frame *f)
{
	struct virtio_net_hdr vh = { .gso_size = (uint16_t)s->gso };
	struct iovec iov[] = { { &vh, sizeof(vh) }, { f->b, f->len } };
	uint16_t sum = frame_pseudo_sum(f);

	if (s->gso) {
		vh.hdr_len = (uint16_t)frame_header_len(f);
		vh.gso_type = s->proto == IPPROTO_UDP ? VIRTIO_NET_HDR_GSO_UDP_L4 :
			      s->v6 ? VIRTIO_NET_HDR_GSO_TCPV6 : VIRTIO_NET_HDR_GSO_TCPV4;
	}
	if (s->csum == CSUM_PARTIAL) {
		vh.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
		vh.csum_start = (uint16_t)f->l4;
		vh.csum_offset = (uint16_t)(f->check - f->l4);
		f->b[f->check] = (uint8_t)(sum >> 8);
		f->b[f->check + 1] = (uint8_t)sum;
	}
	if (writev(fd, iov, 2) < 0)
		err(2, "send %u bytes", f->len);
}

/* Parse a spec, and set the length for @payload bytes. */
static struct frame_spec parse_spec(const char *text, unsigned int payload)
{
	struct frame_spec s;
	const char *error = frame_parse_spec(text, &s);

	if (error)
		errx(2, "%s: %s", text, error);
	s.len = ETH_HLEN + frame_tag_len(s.vlan) + (s.v6 ? 40 : 20) + s.opt +
		(s.v6 && s.frag ? 8 : 0) + (s.proto == IPPROTO_TCP ? 20 : 8) + payload + s.pad;
	return s;
}

static void set_field(struct talk *t, uint8_t *msg, char *text, unsigned int *n)
{
	char *value = strchr(text, '=');
	unsigned int i;

	if (!value)
		errx(2, "\"%s\" is not FIELD=VALUE", text);
	*value++ = '\0';
	for (i = 0; i < FIELDS; i++) {
		if (!strcmp(text, fields[i].name)) {
			put(msg, (enum field)i, strtoull(value, NULL, 0));
			return;
		}
	}
	if (!strcmp(text, "len"))
		t->len = (unsigned int)atoi(value);
	else if (!strcmp(text, "n"))
		*n = (unsigned int)atoi(value);
	else if (!strcmp(text, "mac"))
		t->other_mac = true;
	else if (!strcmp(text, "src"))
		t->src = value;
	else if (!strcmp(text, "udplen"))
		t->udp_len = (unsigned int)atoi(value);
	else
		errx(2, "unknown field \"%s\"", text);
}

static void default_fields(uint8_t *msg, unsigned int type)
{
	unsigned int i;

	for (i = 0; i < FIELDS; i++) {
		if (type != GRANT)
			put(msg, (enum field)i, fields[i].initial);
		else if (fields[i].echoed)
			put(msg, (enum field)i,
			    have_last ? get(last, (enum field)i) : fields[i].initial);
	}
	put(msg, TYPE, type);
	if (type == GRANT)
		put(msg, PRIO, 4);
}

/* Recompute the checksum of an IPv4 header. */
static void fix_ip_sum(uint8_t *ip)
{
	unsigned int len = (ip[0] & 0x0f) * 4U, i;
	uint32_t sum = 0;

	ip[10] = 0;
	ip[11] = 0;
	for (i = 0; i < len; i += 2)
		sum += (uint32_t)(ip[i] << 8 | ip[i + 1]);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~(sum + (sum >> 16));
	ip[10] = (uint8_t)(sum >> 8);
	ip[11] = (uint8_t)sum;
}

/* Apply mac=, src= and udplen= to the headers of a control packet. */
static void spoil_headers(const struct talk *t, const struct frame *f)
{
	bool v6 = t->spec.v6;

	if (t->other_mac)
		f->b[5]++;
	if (t->src && inet_pton(v6 ? AF_INET6 : AF_INET, t->src, f->b + f->l3 + (v6 ? 8 : 12)) != 1)
		errx(2, "invalid address \"%s\"", t->src);
	if (t->src && !v6)
		fix_ip_sum(f->b + f->l3);
	if (t->udp_len) {
		f->b[f->l4 + 4] = (uint8_t)(t->udp_len >> 8);
		f->b[f->l4 + 5] = (uint8_t)t->udp_len;
	}
}

static void send_control(unsigned int type, const char *spec, char *text)
{
	static struct talk t;
	uint8_t msg[MSG_LEN] = { 0 };
	unsigned int n = 1, i;
	struct frame f;
	char *word, *save;

	memset(&t, 0, sizeof(t));
	t.len = MSG_LEN;
	default_fields(msg, type);
	for (word = strtok_r(text, ",", &save); word; word = strtok_r(NULL, ",", &save))
		set_field(&t, msg, word, &n);
	for (i = 0; i < n; i++) {
		memcpy(t.payload + i * MSG_LEN, msg, MSG_LEN);
		put(msg, ASK, get(msg, ASK) + 1);
	}
	t.len += (n - 1) * MSG_LEN;
	t.spec = parse_spec(spec ? spec : "udp4", t.len);
	if (t.spec.port == 61199)	/* the spec's default */
		t.spec.port = PORT;
	if (!t.spec.sport)
		t.spec.sport = PORT;
	frame_build(&t.spec, 0, &f);
	frame_set_payload(&t.spec, &f, t.payload, t.len);
	spoil_headers(&t, &f);
	send_frame(&t.spec, &f);
	free(f.b);
}

static void send_data(const char *spec, char *text)
{
	unsigned int bytes = 1000, seq = 5000;
	char *word, *save;
	struct frame_spec s;
	struct frame f;

	for (word = strtok_r(text, ",", &save); word; word = strtok_r(NULL, ",", &save))
		if (sscanf(word, "bytes=%u", &bytes) != 1 && sscanf(word, "seq=%u", &seq) != 1)
			errx(2, "invalid option \"%s\" of data", word);
	s = parse_spec(spec ? spec : "tcp4", bytes);
	if (s.port == 61199)
		s.port = (uint16_t)fields[DPORT].initial;
	if (!s.sport)
		s.sport = (uint16_t)fields[SPORT].initial;
	frame_build(&s, 0, &f);
	seq = htonl(seq);
	if (s.proto == IPPROTO_TCP)
		memcpy(f.b + f.l4 + 4, &seq, sizeof(seq));
	send_frame(&s, &f);
	free(f.b);
}

/* ---- receiving */

/* Find the IP header, and the UDP header. Return: its offset, 0: not UDP */
static unsigned int find_udp(const uint8_t *b, unsigned int len, unsigned int *l3)
{
	unsigned int type = (unsigned int)(b[12] << 8 | b[13]);

	*l3 = ETH_HLEN;
	if (type == ETH_P_8021Q) {
		type = (unsigned int)(b[16] << 8 | b[17]);
		*l3 += 4;
	}
	if (type == ETH_P_IP && len >= *l3 + 28 && b[*l3 + 9] == IPPROTO_UDP)
		return *l3 + (b[*l3] & 15) * 4U;
	if (type == ETH_P_IPV6 && len >= *l3 + 48 && b[*l3 + 6] == IPPROTO_UDP)
		return *l3 + 40;
	return 0;
}

static uint32_t sum16(const uint8_t *b, unsigned int len, uint32_t sum)
{
	unsigned int i;

	for (i = 0; i < len; i++)
		sum += (uint32_t)b[i] << (i & 1 ? 0 : 8);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/* Check a received control packet. Return: the wrong part, or NULL */
static const char *find_error(const uint8_t *b, unsigned int len, unsigned int l3,
			      unsigned int l4)
{
	static const uint8_t a_mac[] = { 2, 0, 0, 0, 0, 0x0a }, b_mac[] = { 2, 0, 0, 0, 0, 0x0b };
	bool v6 = b[l3] >> 4 == 6;
	uint32_t pseudo = IPPROTO_UDP + len - l4;

	if (len != l4 + 8 + MSG_LEN)
		return "length";
	if (memcmp(b, a_mac, 6) || memcmp(b + 6, b_mac, 6))
		return "Ethernet addresses";
	if (v6 ? b[l3 + 23] != 2 || b[l3 + 39] != 1 : b[l3 + 15] != 2 || b[l3 + 19] != 1)
		return "IP addresses";
	if (!v6 && sum16(b + l3, l4 - l3, 0) != 0xffff)
		return "IP checksum";
	pseudo = v6 ? sum16(b + l3 + 8, 32, pseudo) : sum16(b + l3 + 12, 8, pseudo);
	if (!(b[l4 + 6] | b[l4 + 7]) || sum16(b + l4, len - l4, pseudo) != 0xffff)
		return "UDP checksum";
	return NULL;
}

static void print_control(const uint8_t *b, unsigned int len, unsigned int l3,
			  unsigned int l4, unsigned int vlan)
{
	const char *error = find_error(b, len, l3, l4);
	const uint8_t *msg = b + l4 + 8;
	unsigned int type = msg[1] < 4 ? msg[1] : 0, i;
	char offset[40];
	unsigned int tos = b[l3] >> 4 == 6 ? (b[l3] << 4 | b[l3 + 1] >> 4) & 255 : b[l3 + 1];

	printf("%s dscp=%u", type_names[type], tos >> 2);
	if (vlan)
		printf(" vlan=%u", vlan);
	for (i = PRIO; i < FIELDS; i++) {
		if (type != GRANT && (fields[i].random || i == SEQ))
			continue;
		if (type == GRANT && fields[i].echoed ?
		    get(msg, (enum field)i) != fields[i].initial :
		    get(msg, (enum field)i) || i == OFFSET)
			printf(" %s=%llu", fields[i].name,
			       (unsigned long long)get(msg, (enum field)i));
	}
	printf("%s%s\n", error ? " wrong " : "", error ? error : "");
	if (error)
		failed = true;
	memcpy(last, msg, MSG_LEN);
	have_last = true;
	if (answer && type != GRANT) {
		snprintf(offset, sizeof(offset), "offset=%s", answer);
		send_control(GRANT, NULL, offset);
	}
}

/* VLAN ID of an offloaded tag, 0: no tag */
static unsigned int tag_of(struct msghdr *msg)
{
	struct tpacket_auxdata aux;
	struct cmsghdr *cm;

	for (cm = CMSG_FIRSTHDR(msg); cm; cm = CMSG_NXTHDR(msg, cm)) {
		if (cm->cmsg_level != SOL_PACKET || cm->cmsg_type != PACKET_AUXDATA)
			continue;
		memcpy(&aux, CMSG_DATA(cm), sizeof(aux));
		if (aux.tp_status & TP_STATUS_VLAN_VALID)
			return aux.tp_vlan_tci & 0xfff;
	}
	return 0;
}

/* Receive a frame. Return: is it a control packet? */
static bool take_frame(void)
{
	static uint8_t b[FRAME_MAX];
	union {
		struct cmsghdr align;
		char b[256];
	} control;
	struct virtio_net_hdr vh;
	struct iovec iov[] = { { &vh, sizeof(vh) }, { b, sizeof(b) } };
	struct msghdr msg = {
		.msg_iov = iov, .msg_iovlen = 2,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	ssize_t n = recvmsg(fd, &msg, MSG_DONTWAIT);
	unsigned int len = (unsigned int)(n - (ssize_t)sizeof(vh)), l3, l4;

	if (n < (ssize_t)sizeof(vh) + ETH_HLEN)
		return false;
	l4 = find_udp(b, len, &l3);
	if (!l4)
		return false;
	if ((b[l4] << 8 | b[l4 + 1]) == PORT && (b[l4 + 2] << 8 | b[l4 + 3]) == PORT) {
		print_control(b, len, l3, l4, tag_of(&msg));
		return true;
	}
	data_bytes += len - l4 - 8;
	return false;
}

/* ---- steps */

static void step(char *text)
{
	char *save, *what, *spec, *rest, none[] = "";
	unsigned int type;

	if (!strncmp(text, "sh=", 3)) {
		if (system(text + 3))
			errx(2, "sh=%s: failed", text + 3);
		return;
	}
	what = strtok_r(text, ":", &save);
	spec = strtok_r(NULL, ":", &save);
	rest = strtok_r(NULL, "", &save);
	for (type = REQUEST; type <= GRANT; type++)
		if (!strcmp(what, type_names[type]))
			return send_control(type, spec, rest ? rest : none);
	if (!strcmp(what, "data"))
		return send_data(spec, rest ? rest : none);
	if (!strncmp(what, "wait=", 5)) {
		packet_wait(fd, atoi(what + 5), UINT32_MAX, take_frame);
		return;
	}
	if (!strcmp(what, "await")) {
		if (!packet_wait(fd, PATIENCE_MS, 1, take_frame))
			errx(1, "no control packet within %d ms", PATIENCE_MS);
		return;
	}
	if (!strncmp(what, "answer=", 7)) {
		answer = strcmp(what + 7, "off") ? what + 7 : NULL;
		return;
	}
	if (strcmp(what, "show"))
		errx(2, "unknown step \"%s\"", what);
	printf("data %llu\n", data_bytes);
	data_bytes = 0;
}

int main(int argc, char *argv[])
{
	int i;

	if (argc < 3 || strcmp(argv[1], "-s"))
		errx(2, "usage: pcrp_talk -s NS/DEV STEP...");
	fd = packet_socket(argv[2], ETH_P_ALL);
	packet_option(fd, SOL_PACKET, PACKET_VNET_HDR, 1);
	packet_option(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1);
	packet_option(fd, SOL_PACKET, PACKET_AUXDATA, 1);
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 3; i < argc; i++)
		step(argv[i]);
	return failed;
}
