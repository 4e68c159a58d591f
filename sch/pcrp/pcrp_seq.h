/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PCRP, sender: what a TCP packet is to its flow, by its sequence numbers
 *
 * Plain C, no kernel types, so that the unit test runs the very code that the
 * module runs. All arithmetic is modulo 2^32: a flow may be of any length, as long as
 * no packet is further than a window from what is expected.
 *
 *	first                              next
 *	  +----------- the flow's bytes -----+
 *	  |                                  |
 *	  |                  [ again ]       |             was queued here before
 *	  |                            [ partly|new ]
 *	  |                                  [ new ]
 *	  |                                  | lost  [ new ]   counts as queued
 *
 * What is further away, or follows a SYN, is of another connection between the same
 * ports: offsets go on, sequence numbers begin anew.
 */
#ifndef _CLOSNET_PCRP_SEQ_H
#define _CLOSNET_PCRP_SEQ_H

#include <closnet/core.h>

/* TCP's greatest window: no packet of a connection is further away */
#define PCRP_SEQ_WINDOW		0x40000000U

/**
 * struct pcrp_seq - a flow's sequence numbers; zeros at first
 * @first: of its byte 0
 * @next: what is new begins here
 * @known: they are those of the connection that sends now
 */
struct pcrp_seq {
	u32 first;
	u32 next;
	bool known;
};

/**
 * pcrp_seq_forget() - a SYN: what comes then has other sequence numbers
 * @s: the flow's
 */
static inline void pcrp_seq_forget(struct pcrp_seq *s)
{
	s->known = false;
}

/**
 * pcrp_seq_again() - has all of a packet been here before?
 * @s: its flow's
 * @seq: of its first byte
 * @bytes: its payload
 * @fin: the connection's end takes a sequence number after that
 *
 * Not one that takes no sequence number: it belongs behind what it follows.
 *
 * Return: true if so: it is sent again, or is a keep-alive probe.
 */
static inline bool pcrp_seq_again(const struct pcrp_seq *s, u32 seq, u32 bytes, bool fin)
{
	return s->known && (bytes || fin) &&
	       s->next - (seq + bytes + fin) <= PCRP_SEQ_WINDOW;
}

/**
 * pcrp_seq_add() - a packet comes
 * @s: its flow's
 * @seq: of its first byte
 * @bytes: its payload
 * @fin: as above
 * @starts: it is the first of a flow, unless it adds nothing
 *
 * A RST's sequence number may be anything, and means nothing.
 *
 * Return: bytes that it adds, with those before it that were lost on the way here.
 */
static inline u32 pcrp_seq_add(struct pcrp_seq *s, u32 seq, u32 bytes, bool fin,
			       bool starts)
{
	u32 added;

	if ((!bytes && !fin) || pcrp_seq_again(s, seq, bytes, fin))
		return 0;
	if (!s->known || seq - s->next + PCRP_SEQ_WINDOW > 2 * PCRP_SEQ_WINDOW) {
		s->first += seq - s->next;
		s->next = seq;
		s->known = true;
	}
	if (starts) {
		if ((s32)(seq - s->next) > 0)
			s->next = seq;
		s->first = s->next;
	}
	added = seq + bytes - s->next;
	s->next = seq + bytes + fin;
	return added;
}

/**
 * pcrp_seq_at() - a byte's sequence number
 * @s: its flow's
 * @offset: in the flow
 *
 * Return: the number.
 */
static inline u32 pcrp_seq_at(const struct pcrp_seq *s, u64 offset)
{
	return s->first + (u32)offset;
}

/**
 * pcrp_seq_unsent() - what a flow's socket has that it never sent
 * @s: the flow's
 * @write_seq: of what the program writes next
 * @snd_nxt: of what TCP sends next for the first time; may be behind what came here
 * @shutdown: an end that is still to be said has a number, but is no byte
 *
 * Return: bytes.
 */
static inline u32 pcrp_seq_unsent(const struct pcrp_seq *s, u32 write_seq, u32 snd_nxt,
				  bool shutdown)
{
	u32 from = s->known && (s32)(s->next - snd_nxt) > 0 ? s->next : snd_nxt;
	s32 unsent = write_seq - from - shutdown;

	return unsent > 0 ? unsent : 0;
}

#endif /* _CLOSNET_PCRP_SEQ_H */
