// SPDX-License-Identifier: GPL-2.0-only
/*
 * RoCEv2 as NICs have it in hardware: paced packets, go-back-N or selective repeat
 *
 * Packets of a flow leave at the interval that they take on the first link, at most window= of them
 * unacknowledged. Without an answer for ack_timeout=, the sender starts again from the first
 * unacknowledged packet.
 *
 *	gbn	the receiver drops packets that are not in order, and answers the first one of a
 *		gap by a NAK; the sender goes back to the missing packet
 *	sr	the receiver keeps them, and answers each by a NAK that names it; the sender repeats
 *		the missing packets below it, each once until all that was sent before has arrived
 *		(R. Mittal et al., "Revisiting Network Support for RDMA", SIGCOMM 2018)
 *
 * The packets are those of RoCEv2: UDP to port 4791 with a base transport header (BTH) and an ICRC,
 * which is 0. So sch_roce of the hosts treats a flow as a queue pair, and DCQCN controls its rate.
 * There is no other reaction to congestion than the window. Packets are as long as the MTU allows.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "pattern.h"
#include "rdma.h"
#include "sockets.h"

#define ACK_EVERY 4
#define ACK_TIMEOUT_DEFAULT 7		/* 524 us */
#define BUFFER (64 << 20)
#define PACKET_MAX 65535
#define ICRC_BYTES 4
/* bytes of a packet on the wire besides the IP packet: header, FCS, preamble, gap */
#define ON_WIRE (14 + 24)

/* opcodes of a reliable connection */
#define RDMA_WRITE_MIDDLE 0x07
#define ACKNOWLEDGE 0x11
#define SYNDROME_ACK 0x00
#define SYNDROME_NAK 0x60
#define PKEY_DEFAULT 0xffff
/* Queue pairs 0 and 1 have other purposes. */
#define FIRST_QP 2
#define MASK_24 0xffffffU

/* Base transport header; the upper byte of @qp and @psn is not of them */
struct bth {
	uint8_t opcode;
	uint8_t flags;
	uint16_t pkey;
	uint32_t qp;
	uint32_t psn;
};

/* ACK or NAK: @psn is the packet that it answers, @aeth has the syndrome and the expected packet */
struct answer {
	struct bth bth;
	uint32_t aeth;
	uint32_t icrc;
};

/* A bit for each packet of the window */
struct bits {
	uint64_t words[NIC_WINDOW_MAX / 64];
};

/* State of a flow, of both its sides; packets are counted from 0 */
struct nic {
	uint32_t first_psn;
	uint64_t packets;	/* total; UINT64_MAX: endless */
	uint64_t next;		/* to send */
	uint64_t acked;		/* all below are acknowledged */
	int64_t paced_ns;	/* time of the next packet */
	int64_t heard_ns;	/* time of the last progress */
	bool waiting;		/* send_due() is scheduled */
	/* sr */
	struct bits arrived;	/* at the receiver, by NAKs */
	uint64_t resend;	/* the next to repeat, if it has not arrived */
	uint64_t high;		/* repeat packets below */
	uint64_t recovered;	/* a repetition ends when all below are acknowledged */
	/* of the receiver */
	uint64_t expected;
	bool nacked;		/* gbn: a NAK was sent for it */
	struct bits kept;	/* sr: packets that have arrived above it */
};

static char payload[PACKET_MAX];

static bool test(const struct bits *b, uint64_t n)
{
	return b->words[n % NIC_WINDOW_MAX / 64] >> n % 64 & 1;
}

static void set_bit(struct bits *b, uint64_t n)
{
	b->words[n % NIC_WINDOW_MAX / 64] |= 1ULL << n % 64;
}

static void clear_bit(struct bits *b, uint64_t n)
{
	b->words[n % NIC_WINDOW_MAX / 64] &= ~(1ULL << n % 64);
}

static bool selective(const struct flow *f)
{
	return f->pattern->transport == &sr_transport;
}

static uint64_t data_bytes(const struct flow *f)
{
	return run.topology.mtu - f->pattern->transport->headers[f->src->address.sa.sa_family ==
								 AF_INET6];
}

/* Return: bytes of data of a packet of the flow */
static uint64_t bytes_of(const struct flow *f, uint64_t packet)
{
	const struct nic *g = f->state_of_transport;

	return packet + 1 < g->packets ? data_bytes(f) : f->bytes - packet * data_bytes(f);
}

static int64_t timeout_ns(const struct flow *f)
{
	uint64_t n = f->pattern->set.ack_timeout;

	return (int64_t)4096 << (n ? n : ACK_TIMEOUT_DEFAULT);
}

/* ---- headers */

static struct bth bth_of(const struct flow *f, uint8_t opcode, uint64_t packet)
{
	const struct nic *g = f->state_of_transport;

	return (struct bth){
		.opcode = opcode,
		.pkey = htons(PKEY_DEFAULT),
		.qp = htonl((f->id + FIRST_QP) & MASK_24),
		.psn = htonl((g->first_psn + (uint32_t)packet) & MASK_24),
	};
}

/* Return: the running flow of a packet, or NULL */
static struct flow *flow_of(const struct bth *h)
{
	uint32_t id = (ntohl(h->qp) & MASK_24) - FIRST_QP;

	if (id >= flow_count || flows[id]->state != FLOW_RUNNING ||
	    !flows[id]->state_of_transport)
		return NULL;
	return flows[id];
}

/* Return: number of the packet with these lowest 24 bits that is nearest to @near */
static uint64_t unwrap(uint64_t near, uint32_t low)
{
	uint32_t ahead = (low - (uint32_t)near) & MASK_24;

	return near + ahead - (ahead > MASK_24 / 2 && near + ahead > MASK_24 ? MASK_24 + 1 : 0);
}

/* ---- sender */

static void send_due(void *flow);

/* Return: rate of the hosts' links in bit/s; 0: the file of hosts has no path */
static uint64_t link_rate_bps(void)
{
	const struct path *path;

	for (path = run.topology.paths; path < run.topology.paths + DISTANCES; path++)
		if (path->count)
			return path->links[0].rate_bps;
	return 0;
}

static int64_t interval_ns(void)
{
	return (int64_t)((uint64_t)(run.topology.mtu + ON_WIRE) * 8 * NS_PER_S / link_rate_bps());
}

/* Return: true if a packet is to be repeated, which is then g->resend */
static bool repeats(struct nic *g)
{
	if (g->resend < g->acked)
		g->resend = g->acked;
	while (g->resend < g->high && test(&g->arrived, g->resend))
		g->resend++;
	return g->resend < g->high;
}

static bool has_packet(const struct flow *f)
{
	struct nic *g = f->state_of_transport;

	return repeats(g) || (g->next < g->packets && g->next < g->acked + f->pattern->set.window);
}

static void send_later(struct flow *f)
{
	struct nic *g = f->state_of_transport;
	int64_t now = loop_now();

	if (g->waiting || !has_packet(f))
		return;
	g->waiting = true;
	loop_at(g->paced_ns > now ? g->paced_ns : now, send_due, f);
}

/* Return: 0 or a negative errno */
static int send_packet(struct flow *f, uint64_t packet)
{
	struct bth header = bth_of(f, RDMA_WRITE_MIDDLE, packet);
	struct iovec iov[] = {
		{ &header, sizeof(header) },
		{ payload, bytes_of(f, packet) + ICRC_BYTES },
	};
	struct msghdr out = { .msg_iov = iov, .msg_iovlen = 2 };

	return sendmsg(f->channel->ends[0].fd, &out, MSG_DONTWAIT) < 0 ? -errno : 0;
}

static void send_due(void *flow)
{
	struct flow *f = flow;
	struct nic *g = f->state_of_transport;
	uint64_t *number;
	int error;

	g->waiting = false;
	if (f->state != FLOW_RUNNING || !has_packet(f))
		return;
	number = repeats(g) ? &g->resend : &g->next;
	error = send_packet(f, *number);
	if (error && error != -EAGAIN) {
		channel_failed(f->channel, error);
		return;
	}
	if (!error) {
		++*number;
		f->sent_packets++;
	}
	g->paced_ns = loop_now() + interval_ns();
	send_later(f);
}

static void start_again(const struct flow *f)
{
	struct nic *g = f->state_of_transport;

	if (!selective(f)) {
		g->next = g->acked;
		return;
	}
	g->resend = g->acked;
	g->high = g->next;
	g->recovered = g->next;
}

static void check_progress(void *flow)
{
	struct flow *f = flow;
	struct nic *g = f->state_of_transport;

	if (f->state != FLOW_RUNNING)
		return;
	if (loop_now() - g->heard_ns >= timeout_ns(f)) {
		start_again(f);
		g->heard_ns = loop_now();
		send_later(f);
	}
	loop_at(g->heard_ns + timeout_ns(f), check_progress, f);
}

static int nic_send(struct endpoint *end)
{
	struct flow *f = end->channel->flow;
	struct nic *g = f->state_of_transport;

	if (g)
		return 0;
	g = zalloc(1, sizeof(*g));
	f->state_of_transport = g;
	/* differs between the queue pairs of two hosts, as NICs choose it at random */
	g->first_psn = f->id * 0x9e3779U & MASK_24;
	g->packets = f->bytes ? (f->bytes + data_bytes(f) - 1) / data_bytes(f) : UINT64_MAX;
	g->heard_ns = loop_now();
	send_later(f);
	loop_at(g->heard_ns + timeout_ns(f), check_progress, f);
	return 0;
}

/* The receiver has all packets below @expected; after a NAK of sr, also @packet. */
static void answered(struct flow *f, bool nak, uint64_t expected, uint64_t packet)
{
	struct nic *g = f->state_of_transport;

	if (expected > g->acked)
		g->heard_ns = loop_now();
	for (; g->acked < expected; g->acked++)
		clear_bit(&g->arrived, g->acked);
	if (nak && selective(f) && packet > g->acked && packet < g->next) {
		set_bit(&g->arrived, packet);
		if (g->acked >= g->recovered) {
			g->resend = g->acked;
			g->recovered = g->next;
		}
		if (g->high < packet)
			g->high = packet;
	}
	if ((nak && !selective(f)) || g->next < g->acked)
		g->next = g->acked;
	send_later(f);
}

/* An ACK or NAK has arrived. */
static void answer_arrived(const struct answer *a)
{
	struct flow *f = flow_of(&a->bth);
	uint32_t aeth = ntohl(a->aeth);
	const struct nic *g;

	if (!f)
		return;
	g = f->state_of_transport;
	answered(f, aeth >> 24 == SYNDROME_NAK, unwrap(g->acked, aeth & MASK_24),
		 unwrap(g->acked, ntohl(a->bth.psn) - g->first_psn));
}

/* ---- receiver */

/* Answer a packet. */
static void answer(const struct flow *f, uint8_t syndrome, uint64_t packet)
{
	const struct nic *g = f->state_of_transport;
	struct answer a = {
		.bth = bth_of(f, ACKNOWLEDGE, packet),
		.aeth = htonl((uint32_t)syndrome << 24 | (g->expected & MASK_24)),
	};

	/* a lost answer is like one that the network drops */
	(void)!send(f->channel->ends[1].fd, &a, sizeof(a), MSG_DONTWAIT);
}

/* Handle a packet above the expected one. Return: true if it is new and kept */
static bool out_of_order(const struct flow *f, uint64_t packet)
{
	struct nic *g = f->state_of_transport;
	bool new;

	if (!selective(f)) {
		/* the NAK has the number of the missing packet */
		if (!g->nacked)
			answer(f, SYNDROME_NAK, g->expected);
		g->nacked = true;
		return false;
	}
	new = !test(&g->kept, packet);
	set_bit(&g->kept, packet);
	answer(f, SYNDROME_NAK, packet);
	return new;
}

static void in_order(struct nic *g)
{
	do {
		clear_bit(&g->kept, g->expected);
		g->expected++;
	} while (test(&g->kept, g->expected));
	g->nacked = false;
}

static void packet_arrived(struct flow *f, uint64_t packet)
{
	struct nic *g = f->state_of_transport;
	uint64_t before = g->expected;
	bool new = packet == before;

	if (packet > before) {
		if (packet < before + NIC_WINDOW_MAX)
			new = out_of_order(f, packet);
	} else {
		if (new)
			in_order(g);
		if (!new || g->expected > before + 1 || g->expected % ACK_EVERY == 0 ||
		    g->expected == g->packets)
			answer(f, SYNDROME_ACK, packet);
	}
	if (!new)
		return;
	f->whole_packets++;
	channel_received(f->channel, &f->channel->ends[1], bytes_of(f, packet));
}

static void data_arrived(const struct bth *h)
{
	struct flow *f = flow_of(h);
	const struct nic *g;

	if (!f)
		return;
	g = f->state_of_transport;
	packet_arrived(f, unwrap(g->expected, ntohl(h->psn) - g->first_psn));
}

/* ---- both */

/* A host's socket for all packets to a UDP port; patterns share it, since packets name flows */
struct receiver {
	struct watch watch;
	struct receiver *next;
	const struct host *host;
	uint64_t port;
	int fd;
};

static void receiver_ready(struct watch *w, uint32_t events)
{
	const struct receiver *r = (struct receiver *)w;
	struct answer a;
	ssize_t n;

	(void)events;
	n = recv(r->fd, &a, sizeof(a), MSG_DONTWAIT | MSG_TRUNC);
	if (n < 0 && errno != EAGAIN)
		die("host %s: recv: %s", r->host->name, strerror(errno));
	if (n == sizeof(a) && a.bth.opcode == ACKNOWLEDGE)
		answer_arrived(&a);
	else if (n > (ssize_t)sizeof(a.bth) && a.bth.opcode == RDMA_WRITE_MIDDLE)
		data_arrived(&a.bth);
}

static int nic_socket(const struct pattern *p, const struct host *host, uint16_t port)
{
	int fd = new_socket(p, host, SOCK_DGRAM, 0);

	set_option(fd, SOL_SOCKET, SO_RCVBUFFORCE, BUFFER, "SO_RCVBUFFORCE");
	set_option(fd, SOL_SOCKET, SO_SNDBUFFORCE, BUFFER, "SO_SNDBUFFORCE");
	bind_to(fd, host, port);
	return fd;
}

/* Open the receiver of a host, unless an earlier flow or pattern has. The host is entered. */
static void open_receiver(const struct pattern *p, const struct host *host)
{
	static struct receiver *all;
	struct receiver *r;

	for (r = all; r; r = r->next)
		if (r->host == host && r->port == p->set.port)
			return;
	r = zalloc(1, sizeof(*r));
	r->watch.ready = receiver_ready;
	r->next = all;
	r->host = host;
	r->port = p->set.port;
	r->fd = nic_socket(p, host, (uint16_t)r->port);
	all = r;
	loop_watch(r->fd, EPOLLIN, &r->watch);
}

static void nic_listen(struct listener *l)
{
	if (!link_rate_bps())
		die("transport=%s needs a path in the file of hosts", l->pattern->transport->name);
	open_receiver(l->pattern, l->host);
}

/* Open the socket of an end, which only sends. Return: 0 or a negative errno */
static int open_end(struct endpoint *end, const struct host *from, const struct host *to)
{
	const struct pattern *p = end->channel->pattern;
	union address peer = address_with_port(to, (uint16_t)p->set.port);

	enter_host(from);
	end->fd = nic_socket(p, from, 0);
	return connect(end->fd, &peer.sa, address_length(&peer)) ? -errno : 0;
}

static int nic_open(struct channel *ch)
{
	int error;

	open_receiver(ch->pattern, ch->src);
	error = open_end(&ch->ends[1], ch->dst, ch->src);
	if (!error)
		error = open_end(&ch->ends[0], ch->src, ch->dst);
	if (error)
		return error;
	ch->ends[0].writable = true;
	channel_opened(ch);
	return 0;
}

static void nic_sample(int fd, struct sample *s)
{
	(void)fd;
	(void)s;
}

/* IP, UDP, BTH, ICRC */
#define HEADERS { 20 + 8 + 12 + 4, 40 + 8 + 12 + 4 }

const struct transport gbn_transport = {
	.name = "gbn",
	.headers = HEADERS,
	.listen = nic_listen,
	.open = nic_open,
	.send = nic_send,
	.sample = nic_sample,
};

const struct transport sr_transport = {
	.name = "sr",
	.headers = HEADERS,
	.listen = nic_listen,
	.open = nic_open,
	.send = nic_send,
	.sample = nic_sample,
};
