/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A flow of net/ndp/snd.h with memory and a clock, and what its receiver may say
 */
#ifndef _CLOSNET_UNIT_NDP_SND_PORT_H
#define _CLOSNET_UNIT_NDP_SND_PORT_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../net/ndp/snd.h"

#define US		1000ULL
#define MS		1000000ULL
#define PORT_RING	128U
#define PORT_PAYLOAD	1000U
#define PORT_SEQ	0xffffffe0U	/* wraps soon */
#define PORT_FLOW_ID	77U

/**
 * struct port - a sender of one flow
 * @f: the flow
 * @p: configuration
 * @stats: counters
 * @now: the time, ns
 * @bands: by which messages are sent
 * @mem: the ring
 * @ack_base: what port_answer() says: all before came
 * @pull: cumulative
 * @trimmed: cumulative
 */
struct port {
	struct ndp_snd_flow f;
	struct ndp_snd_params p;
	struct ndp_snd_stats stats;
	u64 now;
	u32 bands;
	void *mem;
	u32 ack_base;
	u32 pull;
	u32 trimmed;
};

static inline struct ndp_snd_call port_call(struct port *port)
{
	return (struct ndp_snd_call) {
		.p = &port->p, .stats = &port->stats, .now = port->now, .bands = port->bands,
	};
}

static inline void port_open(struct port *port, u32 ring, u16 window,
			     bool in_order)
{
	*port = (struct port) {
		.p = NDP_SND_DEFAULTS, .now = 1000 * MS, .bands = 1, .ack_base = PORT_SEQ,
	};
	port->p.initial_window = window;
	ndp_snd_init(&port->f, &port->p, in_order, PORT_FLOW_ID, PORT_SEQ);
	port->f.sport = 1;
	port->f.dport = 2;
	port->mem = calloc(1, ndp_sb_bytes(ring));
	ndp_sb_attach(&port->f.sb, port->mem, ring);
}

static inline void port_close(struct port *port)
{
	free(port->mem);
}

static inline bool port_submit(struct port *port, struct ndp_snd_msg *m, u64 len, u8 prio)
{
	struct ndp_snd_call c = port_call(port);

	*m = (struct ndp_snd_msg) {
		.len = len, .ready = len, .payload = PORT_PAYLOAD, .prio = prio,
	};
	return ndp_snd_submit(&c, &port->f, m);
}

/* What it sends next, by @path; its action */
static inline enum ndp_snd_action port_send(struct port *port, u8 path, struct ndp_hdr *h)
{
	struct ndp_snd_call c = port_call(port);
	enum ndp_snd_action action = ndp_snd_pick(&port->f, &port->p);
	u16 len = action == NDP_SND_NEW ? ndp_snd_next(&port->f, action, 1).len : 0;
	const struct ndp_snd_pkt *pkt;

	if (action == NDP_SND_WAIT)
		return action;
	pkt = ndp_snd_send(&c, &port->f, action, path, h);
	if (len)
		assert_int_equal(pkt->len, len);
	return action;
}

/* A CONTROL about packet @seq at its @try_no, with the counters as they are */
static inline struct ndp_hdr port_answer(const struct port *port, u8 flags, u32 seq,
					 u8 try_no)
{
	return (struct ndp_hdr) {
		.type = NDP_CONTROL, .flags = flags, .seq = seq, .try_no = try_no,
		.flow_id = PORT_FLOW_ID, .sport = 2, .dport = 1,
		.ctl = { .ack_base = port->ack_base, .pull = port->pull,
			 .trimmed = (u16)port->trimmed, .window = UINT16_MAX, .token = 1 },
	};
}

static inline enum ndp_snd_verdict port_control(struct port *port, const struct ndp_hdr *h)
{
	struct ndp_snd_call c = port_call(port);

	return ndp_snd_control(&c, &port->f, h);
}

/* The timer expires now; how many packets are lost, or -1: the flow has failed */
static inline int port_expire(struct port *port, u8 *path)
{
	struct ndp_snd_call c = port_call(port);
	enum ndp_snd_expiry e;
	int lost = 0;

	while ((e = ndp_snd_expire(&c, &port->f, 0, path)) == NDP_SND_LOST)
		lost++;
	return e == NDP_SND_FAILED ? -1 : lost;
}

static inline void port_add_stats(struct ndp_snd_stats *sum, const struct ndp_snd_stats *s)
{
	u32 i;

	for (i = 0; i < sizeof(*s) / sizeof(u64); i++)
		((u64 *)sum)[i] += ((const u64 *)s)[i];
}

#endif /* _CLOSNET_UNIT_NDP_SND_PORT_H */
