/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Short ways to say what happens to a flow of net/ndp/snd.h, and what it has to do
 * then. Its packets are numbered from 0. cmocka.h goes before this.
 */
#ifndef _CLOSNET_UNIT_NDP_SND_SAY_H
#define _CLOSNET_UNIT_NDP_SND_SAY_H

#include "ndp_snd_port.h"

#define WINDOW	10U	/* initial window, packets */

static inline void start(struct port *port)
{
	port_open(port, PORT_RING, WINDOW, false);
}

/* A message of so many packets */
static inline void give(struct port *port, struct ndp_snd_msg *m, u32 packets)
{
	assert_true(port_submit(port, m, (u64)packets * PORT_PAYLOAD, 0));
}

static inline void expect_wait(struct port *port)
{
	struct ndp_hdr h;

	assert_int_equal(port_send(port, 0, &h), NDP_SND_WAIT);
}

/* The next packet is a new one, number @nr. */
static inline struct ndp_hdr expect_new(struct port *port, u32 nr, u8 flags)
{
	struct ndp_hdr h;

	assert_int_equal(port_send(port, 1, &h), NDP_SND_NEW);
	assert_int_equal(h.type, NDP_DATA);
	assert_int_equal(h.seq, PORT_SEQ + nr);
	assert_int_equal(h.flags, flags);
	assert_int_equal(h.try_no, 0);
	return h;
}

/* Packet @nr is sent again, by another path. */
static inline struct ndp_hdr expect_rtx(struct port *port, u32 nr, u8 flags)
{
	struct ndp_hdr h;
	u8 old;

	assert_int_equal(ndp_snd_pick(&port->f, &port->p), NDP_SND_RTX);
	old = ndp_snd_avoid(&port->f);
	assert_int_equal(port_send(port, old + 1, &h), NDP_SND_RTX);
	assert_int_equal(h.seq, PORT_SEQ + nr);
	assert_int_equal(h.flags, flags | NDP_DATA_RTX);
	return h;
}

/* The initial window goes out; what its last packet says */
static inline struct ndp_hdr push_window(struct port *port, u32 packets)
{
	struct ndp_hdr h = {};
	u32 i;

	for (i = 0; i < packets && i < WINDOW; i++)
		h = expect_new(port, i, NDP_DATA_SYN | NDP_DATA_SPEC |
			       (i == packets - 1 ? NDP_DATA_LAST : 0));
	return h;
}

static inline enum ndp_snd_verdict ack(struct port *port, u32 nr)
{
	struct ndp_hdr h = port_answer(port, NDP_CTL_ACK, PORT_SEQ + nr, 0);

	return port_control(port, &h);
}

/* The receiver counts it, and so says so. */
static inline enum ndp_snd_verdict nack(struct port *port, u32 nr, u8 try_no)
{
	struct ndp_hdr h;

	port->trimmed++;
	h = port_answer(port, NDP_CTL_NACK, PORT_SEQ + nr, try_no);
	return port_control(port, &h);
}

static inline void pull(struct port *port, u32 packets)
{
	struct ndp_hdr h;

	port->pull += packets;
	h = port_answer(port, NDP_CTL_PULL, 0, 0);
	assert_int_equal(port_control(port, &h), NDP_SND_NEWS);
}

static inline enum ndp_snd_verdict bounce(struct port *port, u32 nr, u8 try_no)
{
	struct ndp_hdr h = { .type = NDP_DATA, .seq = PORT_SEQ + nr, .try_no = try_no };
	struct ndp_snd_call c = port_call(port);

	return ndp_snd_returned(&c, &port->f, &h);
}

static inline void expect_done(struct port *port, const struct ndp_snd_msg *m, u8 error)
{
	const struct ndp_snd_msg *news;

	do {
		news = ndp_snd_reap(&port->f);
		assert_non_null(news);
	} while (!news->ended);
	assert_ptr_equal(news, m);
	assert_int_equal(m->error, error);
}

static inline void expect_idle(struct port *port)
{
	assert_false(ndp_snd_is_busy(&port->f));
	assert_true(ndp_snd_due_ns(&port->f, &port->p) == U64_MAX);
	assert_int_equal(port->f.credit, 0);
	expect_wait(port);
}

#endif /* _CLOSNET_UNIT_NDP_SND_SAY_H */
