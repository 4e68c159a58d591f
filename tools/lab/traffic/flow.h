/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Flows, and the connections that carry them
 *
 * A flow is what is measured: some bytes from one host to another, perhaps with
 * an answer. A channel is what carries flows, one after the other. A transport
 * knows a type of sockets.
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
	FLOW_WAITING,		/* for its start */
	FLOW_RUNNING,		/* at the end of the run: unfinished */
	FLOW_DONE,		/* all bytes have arrived */
	FLOW_STOPPED,		/* it had no size, and time was over */
	FLOW_FAILED,
};

struct flow {
	uint32_t id;
	uint32_t round;			/* of an incast; number of a request, a closed flow */
	enum flow_state state;
	int error;			/* negative errno, when failed */
	struct pattern *pattern;
	struct channel *channel;	/* while it runs */
	const struct host *src;
	const struct host *dst;
	uint64_t bytes;			/* 0: until time is over */
	uint64_t response;		/* bytes of the answer */
	uint64_t received;
	uint64_t answered;
	int64_t start_ns;
	int64_t end_ns;
	uint64_t retrans_packets;
	/* datagrams */
	uint64_t due_packets;		/* at its rate, so far */
	uint64_t sent_packets;
	uint64_t whole_packets;
	uint64_t short_packets;		/* arrived without all of their data: trimmed */
};

/* What a transport tells of a socket */
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
	bool writable;			/* as far as is known */
	uint64_t to_send;		/* bytes that are not yet in the socket */
	uint64_t received;
	uint64_t lowat;			/* SO_RCVLOWAT, where it was set */
};

/* A socket that others connect to, or send to: one a pattern and host */
struct listener {
	struct watch watch;
	struct pattern *pattern;
	const struct host *host;
	int fd;
};

struct channel {
	struct endpoint ends[2];	/* of the host that opened it, and the other */
	struct pattern *pattern;
	const struct host *src;
	const struct host *dst;
	struct flow *flow;		/* the one that it carries now */
	bool once;			/* closed with its flow */
	bool opened;
	uint16_t port;			/* of the first end, network order */
	struct channel *next;		/* in the table of those that are open */
};

/**
 * struct transport - a type of sockets
 * @name: as on the command line
 * @headers: bytes of each packet that are not data, for IPv4 and IPv6
 * @listen: make the listener's socket; its namespace has been entered
 * @open: make the first end's socket; its namespace has been entered. It calls
 *	channel_opened() when data can flow both ways. Return: 0, or a
 *	negative errno
 * @send: hand over what the end has to send, as far as possible; called when it
 *	is writable. Return: 0, or a negative errno
 * @receive: take what has come at an end's socket, of which epoll has told EVENTS; that may close
 *	the channel. Return: 0, or a negative errno. NULL: endpoint_watch() is not used
 * @expect: so many bytes of the flow are still to arrive at that end: nobody has to
 *	be woken for each packet; may be NULL
 * @unread: bytes that wait in the socket to be read; may be NULL
 * @catch_up: tell what has arrived at the listener's socket; may be NULL
 * @sample: fill in what is known of a socket
 *
 * What arrives is told by channel_received().
 *
 * A system call that fails takes a microsecond of the lab's virtual time. So
 * nothing is tried that epoll has not announced, nor tried again after it was
 * done in part only.
 */
struct transport {
	const char *name;
	unsigned int headers[2];
	void (*listen)(struct listener *listener);
	int (*open)(struct channel *channel);
	int (*send)(struct endpoint *end);
	int (*receive)(struct endpoint *end, uint32_t events);
	void (*expect)(struct endpoint *end, uint64_t bytes);
	uint64_t (*unread)(const struct endpoint *end);
	void (*catch_up)(struct listener *listener);
	void (*sample)(int fd, struct sample *sample);
};

extern const struct transport tcp_transport;
extern const struct transport udp_transport;
extern const struct transport ndp_transport;

/* ---- flows */

/* All flows, in order of their id */
extern struct flow **flows;
extern uint32_t flow_count;

struct flow *flow_new(struct pattern *pattern, const struct host *src, const struct host *dst,
		      uint64_t bytes);

/* At that instant, or one of the next nanoseconds: no two flows start at once. */
void flow_start_at(struct flow *flow, int64_t ns, void (*start)(void *flow));

/* Starts on a channel that is there, or with NULL on one of its own. */
void flow_start(struct flow *flow, struct channel *channel);

/* It ends in that state; its pattern hears of it. */
void flow_end(struct flow *flow, enum flow_state state, int error);

/* Bytes that have arrived, read or not */
uint64_t flow_received(const struct flow *flow);

/* Time is over: no flow starts any more, those without a size end. */
void flows_stop(void);

/* Flows that have not ended, among those that were given a start */
extern uint32_t flows_pending;

/* ---- channels */

struct channel *channel_new(struct pattern *pattern, const struct host *src,
			    const struct host *dst);

/* Opens it; where that fails, its flow does, or without one the program. */
void channel_open(struct channel *channel);

void channel_send(struct endpoint *end, uint64_t bytes);

void channel_close(struct channel *channel);

/* Channels that were opened and have not called channel_opened() */
extern uint32_t channels_opening;

/* ---- for transports */

/* Sockets that are made then are the host's. */
void enter_host(const struct host *host);

/* A socket of that type, not blocking, with the pattern's options that all types have */
int new_socket(const struct pattern *pattern, const struct host *host, int type, int protocol);

void set_option(int fd, int level, int option, int value, const char *name);

/* bind() to the host's address, or die */
void bind_to(int fd, const struct host *host, uint16_t port);

/* Return: 0, or the negative errno that the socket keeps, which it then forgets */
int pending_error(int fd);

/* From now on the end sends and receives when its socket is ready; MORE: events of epoll besides */
void endpoint_watch(struct endpoint *end, uint32_t more);

/* connect() to the other host's listener. Return: 0, or a negative errno */
int connect_to(struct channel *channel);

socklen_t address_length(const union address *a);

/* Return: the channel that was opened from there to the listener, or NULL */
struct channel *channel_find(const struct listener *listener, const union address *from);

void channel_opened(struct channel *channel);

/* Tells the transport what the flow still expects there. */
void channel_expect(struct endpoint *end);

/* That many bytes have been read at that end. */
void channel_received(struct channel *channel, struct endpoint *end, uint64_t bytes);

void channel_failed(struct channel *channel, int error);

#endif /* _TRAFFIC_FLOW_H */
