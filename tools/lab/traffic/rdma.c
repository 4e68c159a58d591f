// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA transports by verbs: RoCEv2 (rdma_rxe) and iWARP (siw)
 *
 * A channel is a reliable connection, that is, a queue pair at each end. Data
 * are messages of message= bytes, one after the other, by the operation verb=.
 * All messages leave and enter the same memory of a device.
 *
 * The program sleeps until the device reports a completion. Programs that poll
 * the completion queue stop virtual time.
 */
#include "rdma.h"

#include <errno.h>
#include <fcntl.h>
#include <rdma/rdma_cma.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>

#include "ideal.h"
#include "pattern.h"
#include "sockets.h"

/* work requests in a send queue or a receive queue */
#define DEPTH 512
/* of a message: VERB_NCCL has two */
#define REQUESTS_MAX 2
#define ACK_TIMEOUT_DEFAULT 14
/* bytes in a send queue, if messages are shorter */
#define AHEAD (1 << 20)
/* A completion is requested after so many bytes or requests. */
#define SIGNAL_BYTES (64 << 10)
#define SIGNAL_REQUESTS 64
#define BATCH 32
#define RESOLVE_MS 1000

/* RDMA device of a host, and the memory of all messages */
struct device {
	struct device *next;
	struct ibv_context *verbs;
	struct ibv_pd *pd;
	struct ibv_mr *memory;
};

/* Where a peer's WRITEs go; sent with the connection request and its answer */
struct target {
	uint64_t address;
	uint64_t key;
};

/* An end of a connection */
struct side {
	struct rdma_cm_id *id;
	struct device *device;
	struct ibv_comp_channel *completions;
	struct ibv_cq *queue;
	struct target peer;
	/* of the message that is cut into packets: bytes, and those that are not posted */
	uint64_t message;
	uint64_t left;
	/* in the send queue */
	unsigned int requests;
	uint64_t bytes;
	/* after the last request with a completion */
	unsigned int quiet_requests;
	uint64_t quiet_bytes;
};

static struct device *devices;
static struct rdma_event_channel *cm;

/* ---- verbs */

/* iWARP has no immediate data. A WRITE is complete when TCP has its data, not when the peer has. */
static enum verb verb_of(const struct pattern *p)
{
	return p->transport == &iwarp_transport ? VERB_SEND : p->set.verb;
}

static struct side *side_of(const struct endpoint *end)
{
	return end->private;
}

/* ---- devices and queue pairs */

static void *message_memory(void)
{
	static void *memory;

	if (memory)
		return memory;
	memory = mmap(NULL, run.message_max, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (memory == MAP_FAILED)
		die("message=%llu: %s", (unsigned long long)run.message_max, strerror(errno));
	return memory;
}

static void check_device(const struct pattern *p, const struct host *host,
			 const struct ibv_context *verbs)
{
	bool iwarp = verbs->device->transport_type == IBV_TRANSPORT_IWARP;
	bool wanted = p->transport == &iwarp_transport;

	if (iwarp != wanted)
		die("host %s: RDMA device %s does not have transport=%s", host->name,
		    verbs->device->name, p->transport->name);
}

static struct device *device_of(const struct host *host, struct ibv_context *verbs)
{
	struct device *d;

	for (d = devices; d; d = d->next)
		if (d->verbs == verbs)
			return d;
	d = zalloc(1, sizeof(*d));
	d->verbs = verbs;
	d->pd = ibv_alloc_pd(verbs);
	if (d->pd)
		d->memory = ibv_reg_mr(d->pd, message_memory(), run.message_max,
				       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!d->memory)
		die("host %s: RDMA device %s: %s", host->name, verbs->device->name,
		    strerror(errno));
	d->next = devices;
	devices = d;
	return d;
}

/* Post COUNT receive requests. Return: 0 or a negative errno */
static int post_receives(struct side *s, unsigned int count)
{
	struct ibv_sge memory = {
		.addr = (uintptr_t)s->device->memory->addr,
		.length = (uint32_t)run.message_max,
		.lkey = s->device->memory->lkey,
	};
	struct ibv_recv_wr request = { .sg_list = &memory, .num_sge = 1 }, *bad;
	int error = 0;

	while (count-- && !error)
		error = ibv_post_recv(s->id->qp, &request, &bad);
	return -error;
}

static void completion_ready(struct watch *w, uint32_t events);

/* Make the queue pair of an end. Return: 0 or a negative errno */
static int make_queue_pair(struct endpoint *end, const struct host *host)
{
	struct side *s = side_of(end);
	struct ibv_qp_init_attr init = {
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};

	check_device(end->channel->pattern, host, s->id->verbs);
	s->device = device_of(host, s->id->verbs);
	s->completions = ibv_create_comp_channel(s->id->verbs);
	if (!s->completions)
		return -errno;
	s->queue = ibv_create_cq(s->id->verbs, 2 * DEPTH, NULL, s->completions, 0);
	if (!s->queue || ibv_req_notify_cq(s->queue, 0))
		return -errno;
	init.send_cq = s->queue;
	init.recv_cq = s->queue;
	if (rdma_create_qp(s->id, s->device->pd, &init))
		return -errno;
	end->fd = s->completions->fd;
	end->watch.ready = completion_ready;
	loop_watch(end->fd, EPOLLIN, &end->watch);
	return post_receives(s, DEPTH);
}

static void rdma_close(struct endpoint *end)
{
	struct side *s = side_of(end);

	if (!s)
		return;
	if (s->id->qp)
		rdma_destroy_qp(s->id);
	if (s->queue)
		ibv_destroy_cq(s->queue);
	if (s->completions)
		ibv_destroy_comp_channel(s->completions);
	rdma_destroy_id(s->id);
	free(s);
	end->private = NULL;
}

/* ---- sender */

/* May a further message be posted? If there is enough to send, two messages are in the queue. */
static bool has_room(const struct endpoint *end)
{
	const struct side *s = side_of(end);
	uint64_t ahead = end->channel->pattern->set.message;

	if (ahead < AHEAD)
		ahead = AHEAD;
	return (end->to_send || s->left) && s->bytes <= ahead &&
	       s->requests + REQUESTS_MAX <= DEPTH;
}

static uint64_t next_message(struct endpoint *end)
{
	uint64_t bytes = end->channel->pattern->set.message;

	if (bytes > end->to_send)
		bytes = end->to_send;
	/* UINT64_MAX: endless */
	if (end->to_send != UINT64_MAX)
		end->to_send -= bytes;
	return bytes;
}

/* Requests to post at once */
struct batch {
	struct ibv_send_wr requests[BATCH];
	struct ibv_sge memory[BATCH];
	unsigned int count;
};

static struct ibv_send_wr *add_request(struct batch *b, const struct side *s,
				       enum ibv_wr_opcode opcode, uint32_t bytes)
{
	struct ibv_send_wr *r = &b->requests[b->count];
	struct ibv_sge *m = &b->memory[b->count];

	*m = (struct ibv_sge){ (uintptr_t)s->device->memory->addr, bytes,
			       s->device->memory->lkey };
	*r = (struct ibv_send_wr){ .sg_list = m, .num_sge = bytes ? 1 : 0, .opcode = opcode };
	r->wr.rdma.remote_addr = s->peer.address;
	r->wr.rdma.rkey = (uint32_t)s->peer.key;
	if (b->count)
		r[-1].next = r;
	b->count++;
	return r;
}

/* Immediate data are the length of the message. */
static struct ibv_send_wr *add_message(struct batch *b, const struct side *s, enum verb operation,
				       uint32_t bytes)
{
	struct ibv_send_wr *r;

	switch (operation) {
	case VERB_SEND:
		return add_request(b, s, IBV_WR_SEND, bytes);
	case VERB_WRITE:
		return add_request(b, s, IBV_WR_RDMA_WRITE, bytes);
	case VERB_NCCL:
		add_request(b, s, IBV_WR_RDMA_WRITE, bytes);
		r = add_request(b, s, IBV_WR_RDMA_WRITE_WITH_IMM, 0);
		break;
	default:
		r = add_request(b, s, IBV_WR_RDMA_WRITE_WITH_IMM, bytes);
	}
	r->imm_data = htonl(bytes);
	return r;
}

/* Add the next packet of a message, a WRITE of its own. Return: its request, of BYTES */
static struct ibv_send_wr *add_packet(struct batch *b, struct endpoint *end, uint64_t *bytes)
{
	struct side *s = side_of(end);
	uint64_t offset;
	struct ibv_send_wr *r;

	if (!s->left) {
		s->message = next_message(end);
		s->left = s->message;
	}
	offset = s->message - s->left;
	*bytes = roce_payload(run.topology.mtu);
	if (*bytes > s->left)
		*bytes = s->left;
	s->left -= *bytes;
	r = add_request(b, s, s->left ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_WRITE_WITH_IMM,
			(uint32_t)*bytes);
	r->sg_list->addr += offset;
	r->wr.rdma.remote_addr += offset;
	r->imm_data = htonl((uint32_t)s->message);
	return r;
}

/* Account a message or packet, whose last request is R, and request a completion now and then. */
static void account(struct side *s, struct ibv_send_wr *r, unsigned int requests, uint64_t bytes,
		    bool last)
{
	s->requests += requests;
	s->bytes += bytes;
	s->quiet_requests += requests;
	s->quiet_bytes += bytes;
	if (!last && s->quiet_requests < SIGNAL_REQUESTS && s->quiet_bytes < SIGNAL_BYTES)
		return;
	r->send_flags = IBV_SEND_SIGNALED;
	/* completions are in order; one stands for all requests since the previous one */
	r->wr_id = (uint64_t)s->quiet_requests << 48 | s->quiet_bytes;
	s->quiet_requests = 0;
	s->quiet_bytes = 0;
}

/* Return: 0 or a negative errno */
static int post_batch(struct endpoint *end)
{
	struct side *s = side_of(end);
	enum verb verb = verb_of(end->channel->pattern);
	struct batch b = { };
	struct ibv_send_wr *r, *bad;
	unsigned int before;
	uint64_t bytes;

	while (has_room(end) && b.count + REQUESTS_MAX <= BATCH) {
		before = b.count;
		if (verb == VERB_WRITE_ONLY) {
			r = add_packet(&b, end, &bytes);
		} else {
			bytes = next_message(end);
			r = add_message(&b, s, verb, (uint32_t)bytes);
		}
		account(s, r, b.count - before, bytes, !end->to_send && !s->left);
	}
	return -ibv_post_send(s->id->qp, b.requests, &bad);
}

static int rdma_send(struct endpoint *end)
{
	int error = 0;

	while (has_room(end) && !error)
		error = post_batch(end);
	return error;
}

/* ---- completions */

static int error_of(enum ibv_wc_status status)
{
	switch (status) {
	case IBV_WC_SUCCESS:
		return 0;
	case IBV_WC_RETRY_EXC_ERR:
	case IBV_WC_RNR_RETRY_EXC_ERR:
		return -ETIMEDOUT;
	case IBV_WC_WR_FLUSH_ERR:
		return -ECONNRESET;
	default:
		return -EIO;
	}
}

static struct endpoint *other(struct endpoint *end)
{
	return end == &end->channel->ends[0] ? &end->channel->ends[1] : &end->channel->ends[0];
}

static void sent(struct endpoint *end, const struct ibv_wc *wc)
{
	struct side *s = side_of(end);
	uint64_t bytes = wc->wr_id & ((1ULL << 48) - 1);

	s->requests -= (unsigned int)(wc->wr_id >> 48);
	s->bytes -= bytes;
	if (verb_of(end->channel->pattern) == VERB_WRITE)
		channel_received(end->channel, other(end), bytes);
}

/* Return: 0 or a negative errno */
static int received(struct endpoint *end, const struct ibv_wc *wc)
{
	bool imm = wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM;
	int error = post_receives(side_of(end), 1);

	if (!error)
		channel_received(end->channel, end, imm ? ntohl(wc->imm_data) : wc->byte_len);
	return error;
}

/* Handle all completions of an end; may close the channel. Return: 0 or a negative errno */
static int complete(struct endpoint *end)
{
	struct ibv_wc wc[BATCH];
	int error = 0, n, i;

	do {
		n = ibv_poll_cq(side_of(end)->queue, BATCH, wc);
		for (i = 0; i < n && !error && end->private; i++) {
			error = error_of(wc[i].status);
			if (!error && wc[i].opcode & IBV_WC_RECV)
				error = received(end, &wc[i]);
			else if (!error)
				sent(end, &wc[i]);
		}
	} while (n == BATCH && !error && end->private);
	return n < 0 ? n : error;
}

static void completion_ready(struct watch *w, uint32_t events)
{
	struct endpoint *end = (struct endpoint *)w;
	struct ibv_cq *queue;
	void *unused;
	int error;

	(void)events;
	if (ibv_get_cq_event(side_of(end)->completions, &queue, &unused))
		die("completion channel: %s", strerror(errno));
	ibv_ack_cq_events(queue, 1);
	/* before polling, so that no completion is missed */
	error = -ibv_req_notify_cq(queue, 0);
	if (!error)
		error = complete(end);
	if (!error && end->private && end->writable)
		error = rdma_send(end);
	if (error && end->private)
		channel_failed(end->channel, error);
}

/* ---- connections */

/* Set the options that apply to both ends. Return: 0 or a negative errno */
static int set_options(struct rdma_cm_id *id, const struct settings *set)
{
	uint8_t tos = (uint8_t)set->tos, timeout = ACK_TIMEOUT_DEFAULT;

	if (set->ack_timeout)
		timeout = (uint8_t)set->ack_timeout;
	if (rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos)) ||
	    rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout,
			    sizeof(timeout)))
		return -errno;
	return 0;
}

static struct side *new_side(struct endpoint *end, struct rdma_cm_id *id)
{
	struct side *s = zalloc(1, sizeof(*s));

	s->id = id;
	id->context = end;
	end->private = s;
	return s;
}

/* Call rdma_connect() or rdma_accept(). Return: 0 or a negative errno */
static int call(struct side *s, int (*function)(struct rdma_cm_id *id, struct rdma_conn_param *p))
{
	struct target own = { (uintptr_t)s->device->memory->addr, s->device->memory->rkey };
	struct rdma_conn_param param = {
		.private_data = &own,
		.private_data_len = sizeof(own),
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 7,
		.rnr_retry_count = 7,
	};

	return function(s->id, &param) ? -errno : 0;
}

static int address_resolved(struct endpoint *end)
{
	struct channel *ch = end->channel;
	int error;

	enter_host(ch->src);
	error = make_queue_pair(end, ch->src);
	if (!error)
		error = rdma_resolve_route(side_of(end)->id, RESOLVE_MS) ? -errno : 0;
	return error;
}

static int established(struct endpoint *end)
{
	channel_opened(end->channel);
	if (end->private && !end->writable) {
		end->writable = true;
		return rdma_send(end);
	}
	return 0;
}

/* A client has sent a connection request: accept it. */
static void requested(struct listener *l, struct rdma_cm_id *id, const struct target *peer)
{
	struct channel *ch = channel_find(l, (union address *)rdma_get_peer_addr(id));
	struct endpoint *end;
	int error;

	if (!ch || ch->ends[1].private) {
		/* its flow has failed meanwhile, or it is not a connection of ours */
		rdma_destroy_id(id);
		return;
	}
	end = &ch->ends[1];
	new_side(end, id)->peer = *peer;
	enter_host(l->host);
	error = set_options(id, &l->pattern->set);
	if (!error)
		error = make_queue_pair(end, l->host);
	if (!error)
		error = call(side_of(end), rdma_accept);
	if (error)
		channel_failed(ch, error);
	else
		end->writable = true;
}

/* Handle an event of an end's connection. Return: 0 or a negative errno */
static int connection_event(struct endpoint *end, const struct rdma_cm_event *event,
			    const struct target *peer)
{
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		return address_resolved(end);
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		/* siw makes its socket in the caller's namespace */
		enter_host(end->channel->src);
		return call(side_of(end), rdma_connect);
	case RDMA_CM_EVENT_ESTABLISHED:
		/* the answer to a request */
		if (end == &end->channel->ends[0])
			side_of(end)->peer = *peer;
		return end == &end->channel->ends[0] ? established(end) : 0;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return 0;
	case RDMA_CM_EVENT_DISCONNECTED:
		return -ECONNRESET;
	case RDMA_CM_EVENT_REJECTED:
		return -ECONNREFUSED;
	default:
		return event->status < 0 ? event->status : -EHOSTUNREACH;
	}
}

static void cm_ready(struct watch *w, uint32_t events)
{
	struct rdma_cm_event *event, copy;
	struct target peer = { };
	struct endpoint *end;
	int error;

	(void)w;
	(void)events;
	if (rdma_get_cm_event(cm, &event)) {
		/* its id has been destroyed since the kernel reported the event */
		if (errno == EAGAIN)
			return;
		die("rdma_get_cm_event: %s", strerror(errno));
	}
	copy = *event;
	if (event->param.conn.private_data_len >= sizeof(peer) &&
	    (copy.event == RDMA_CM_EVENT_CONNECT_REQUEST ||
	     copy.event == RDMA_CM_EVENT_ESTABLISHED))
		memcpy(&peer, event->param.conn.private_data, sizeof(peer));
	/* now, since the id cannot be destroyed before */
	rdma_ack_cm_event(event);
	if (copy.event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		requested(copy.listen_id->context, copy.id, &peer);
		return;
	}
	end = copy.id->context;
	error = connection_event(end, &copy, &peer);
	if (error && end->private)
		channel_failed(end->channel, error);
}

static struct rdma_cm_id *new_id(const struct host *host, void *context)
{
	static struct watch watch = { cm_ready };
	struct rdma_cm_id *id;

	if (!cm) {
		cm = rdma_create_event_channel();
		if (!cm)
			die("host %s: rdma_create_event_channel: %s (is there an RDMA device?)",
			    host->name, strerror(errno));
		if (fcntl(cm->fd, F_SETFL, O_NONBLOCK))
			die("fcntl: %s", strerror(errno));
		loop_watch(cm->fd, EPOLLIN, &watch);
	}
	if (rdma_create_id(cm, &id, context, RDMA_PS_TCP))
		die("host %s: rdma_create_id: %s", host->name, strerror(errno));
	return id;
}

static void bind_id(struct rdma_cm_id *id, const struct host *host, uint16_t port)
{
	union address a = address_with_port(host, port);

	if (rdma_bind_addr(id, &a.sa))
		die("host %s: rdma_bind_addr, port=%u: %s (is there an RDMA device?)", host->name,
		    port, strerror(errno));
}

static void rdma_transport_listen(struct listener *l)
{
	struct rdma_cm_id *id = new_id(l->host, l);

	bind_id(id, l->host, (uint16_t)l->pattern->set.port);
	if (rdma_listen(id, 65535))
		die("host %s: rdma_listen: %s", l->host->name, strerror(errno));
}

static int rdma_open(struct channel *ch)
{
	union address to = address_with_port(ch->dst, (uint16_t)ch->pattern->set.port);
	struct endpoint *end = &ch->ends[0];
	struct rdma_cm_id *id = new_id(ch->src, NULL);
	int error;

	new_side(end, id);
	bind_id(id, ch->src, 0);
	ch->port = rdma_get_src_port(id);
	error = set_options(id, &ch->pattern->set);
	if (!error && rdma_resolve_addr(id, NULL, &to.sa, RESOLVE_MS))
		error = -errno;
	return error;
}

static void rdma_sample(int fd, struct sample *s)
{
	(void)fd;
	(void)s;
}

const struct transport roce_transport = {
	.name = "roce",
	/* IP, UDP, BTH, ICRC */
	.headers = { 20 + 8 + 12 + 4, 40 + 8 + 12 + 4 },
	.payload = roce_payload,
	.listen = rdma_transport_listen,
	.open = rdma_open,
	.send = rdma_send,
	.close = rdma_close,
	.sample = rdma_sample,
};

const struct transport iwarp_transport = {
	.name = "iwarp",
	/* as TCP's; MPA's length and CRC, header of a tagged DDP segment */
	.headers = { 20 + 20 + 12 + 2 + 4 + 14, 40 + 20 + 12 + 2 + 4 + 14 },
	.listen = rdma_transport_listen,
	.open = rdma_open,
	.send = rdma_send,
	.close = rdma_close,
	.sample = rdma_sample,
};
