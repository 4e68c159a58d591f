/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Flows, and the connections that carry them
 *
 * A flow is the unit of measurement: a transfer from one host to another, with
 * an optional response. A channel is a connection that carries flows, one after
 * the other. A transport implements a type of sockets.
 *
 *	pattern --starts--> flow --uses--> channel --by--> transport
 *	   ^------flow_end()---'  ^-channel_received()-'
 */
#ifndef _TRAFFIC_FLOW_H
#define _TRAFFIC_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "loop.h"
#include "topology.h"

struct pattern;
struct channel;

enum flow_state {
	FLOW_WAITING,		/* not started */
	FLOW_RUNNING,		/* reported as unfinished at the end of the run */
	FLOW_DONE,		/* all bytes have arrived */
	FLOW_STOPPED,		/* endless, ended at --time */
	FLOW_FAILED,
};

struct flow {
	uint32_t id;
	uint32_t round;			/* incast: round; rpc: request; closed: flow */
	enum flow_state state;
	int error;			/* negative errno if failed */
	bool connected;			/* it opened its channel */
	struct pattern *pattern;
	struct channel *channel;	/* while it runs */
	const struct host *src;
	const struct host *dst;
	uint64_t bytes;			/* 0: endless, until --time */
	uint64_t response;		/* bytes of the response */
	uint64_t received;
	uint64_t answered;		/* bytes of the response received */
	int64_t start_ns;
	int64_t end_ns;
	uint64_t retrans_packets;
	void *state_of_transport;	/* NULL until the transport sets it */
	/* datagrams; gbn, sr: packets of data */
	uint64_t due_packets;		/* due so far, by its rate */
	uint64_t sent_packets;
	uint64_t whole_packets;		/* arrived whole; gbn, sr: and accepted */
	uint64_t short_packets;		/* arrived trimmed */
};

/* State of a socket, as its transport reports it */
struct sample {
	uint64_t acked_bytes;
	uint64_t cwnd_packets;
	uint64_t srtt_us;
	uint64_t rttvar_us;
	uint64_t min_rtt_us;
	uint64_t retrans_packets;
	uint64_t delivery_rate_bps;
	uint64_t pacing_rate_bps;
	unsigned int ca_state;
};

/* One side of a channel */
struct endpoint {
	struct watch watch;
	struct channel *channel;
	int fd;				/* -1: none */
	bool writable;			/* false from EAGAIN to the next EPOLLOUT */
	uint64_t to_send;		/* bytes not yet written to the socket */
	uint64_t received;
	uint64_t lowat;			/* SO_RCVLOWAT; 0: not set */
	void *private;			/* of the transport */
};

/* A pattern's receiving socket at a host */
struct listener {
	struct watch watch;
	struct pattern *pattern;
	const struct host *host;
	int fd;
};

struct channel {
	struct endpoint ends[2];	/* ends[0]: src, which opened it; ends[1]: dst */
	struct pattern *pattern;
	const struct host *src;
	const struct host *dst;
	struct flow *flow;		/* that it carries now */
	bool once;			/* closed with its flow */
	bool opened;
	/* takes it out of its pool before it is closed, pool.h */
	void (*remove)(struct channel *channel);
	uint16_t port;			/* of ends[0], network order */
	struct channel *next;		/* in the hash table of open channels */
	struct channel *next_idle;	/* in the pool */
};

/**
 * struct transport - a type of sockets
 * @name: value of transport= on the command line
 * @headers: bytes of headers per packet, IP included, for IPv4 and IPv6
 * @payload: bytes of data of the longest packet on links of an MTU; NULL: all
 *	that the headers leave
 * @listen: make the listener's socket, in its namespace
 * @open: make the socket of ends[0], in its namespace. Call channel_opened()
 *	when data can flow both ways. Return: 0 or a negative errno
 * @send: write as much of the end's data as the socket takes; called when it is
 *	writable. Return: 0 or a negative errno
 * @receive: read data after the epoll EVENTS of an end's socket, and call
 *	channel_received(); may close the channel. Return: 0 or a negative
 *	errno. NULL if the transport does not use endpoint_watch()
 * @expect: the flow still expects that many bytes at the end, so the transport
 *	can avoid a wakeup per packet; may be NULL
 * @close: release an end, of which open() or later functions may have failed.
 *	NULL: close its socket
 * @unread: bytes in the socket that are not read; may be NULL
 * @catch_up: read and count data at the listener's socket; may be NULL
 * @sample: fill in the state of a socket
 *
 * In virtual time, a system call that fails takes a microsecond. So transports
 * call only after an event of epoll, and do not call again after a short read or
 * write.
 */
struct transport {
	const char *name;
	unsigned int headers[2];
	unsigned int (*payload)(unsigned int mtu);
	void (*listen)(struct listener *listener);
	int (*open)(struct channel *channel);
	int (*send)(struct endpoint *end);
	int (*receive)(struct endpoint *end, uint32_t events);
	void (*expect)(struct endpoint *end, uint64_t bytes);
	void (*close)(struct endpoint *end);
	uint64_t (*unread)(const struct endpoint *end);
	void (*catch_up)(struct listener *listener);
	void (*sample)(int fd, struct sample *sample);
};

extern const struct transport tcp_transport;
extern const struct transport udp_transport;
extern const struct transport ndp_transport;
extern const struct transport gbn_transport;
extern const struct transport sr_transport;
extern const struct transport roce_transport;
extern const struct transport iwarp_transport;

/* ---- flows */

/* All flows, by id */
extern struct flow **flows;
extern uint32_t flow_count;

struct flow *flow_new(struct pattern *pattern, const struct host *src, const struct host *dst,
		      uint64_t bytes);

/* Schedule START at @ns or up to some ns later: no two flows start at the same ns. */
void flow_start_at(struct flow *flow, int64_t ns, void (*start)(void *flow));

/*
 * Start the flow on @channel, which is opened if it is new; NULL: on a channel that is
 * opened and closed with the flow.
 */
void flow_start(struct flow *flow, struct channel *channel);

/* Set the final state and call the pattern's ended(). */
void flow_end(struct flow *flow, enum flow_state state, int error);

/* Return: bytes that have arrived, read or not */
uint64_t flow_received(const struct flow *flow);

/* At --time: end endless flows; other flows no longer start. */
void flows_stop(void);

/* Number of flows with a scheduled start that have not ended */
extern uint32_t flows_pending;

/* ---- channels */

struct channel *channel_new(struct pattern *pattern, const struct host *src,
			    const struct host *dst);

/* Open the channel. On error, its flow fails; without a flow, the program ends. */
void channel_open(struct channel *channel);

void channel_send(struct endpoint *end, uint64_t bytes);

void channel_close(struct channel *channel);

/* Number of channels between channel_open() and channel_opened() */
extern uint32_t channels_opening;

/* ---- for transports */

/* Return: a non-blocking socket with the options that apply to all transports */
int new_socket(const struct pattern *pattern, const struct host *host, int type, int protocol);

/* Call the transport's send() and receive() when the socket is ready; MORE: further epoll events */
void endpoint_watch(struct endpoint *end, uint32_t more);

/* connect() to the listener at dst. Return: 0 or a negative errno */
int connect_to(struct channel *channel);

/* Return: the channel from address @from to the listener, or NULL */
struct channel *channel_find(const struct listener *listener, const union address *from);

void channel_opened(struct channel *channel);

/* Call the transport's expect() with the bytes that the flow still expects at the end. */
void channel_expect(struct endpoint *end);

/* Account @bytes read at the end. */
void channel_received(struct channel *channel, struct endpoint *end, uint64_t bytes);

void channel_failed(struct channel *channel, int error);

#endif /* _TRAFFIC_FLOW_H */
