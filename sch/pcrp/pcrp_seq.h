/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PCRP's sender: TCP sequence numbers of a flow. pcrp_seq.c describes them.
 */
#ifndef _PCRP_SEQ_H
#define _PCRP_SEQ_H

#include <closnet/core.h>

/* TCP's largest window: no packet of a connection is further from the next byte. */
#define PCRP_SEQ_WINDOW		0x40000000U

/**
 * struct pcrp_seq - sequence numbers of a flow; zeroed at first
 * @first: sequence number of byte 0 of the flow
 * @next: sequence number of the next new byte
 * @known: both belong to the connection that is sending now
 */
struct pcrp_seq {
	u32 first;
	u32 next;
	bool known;
};

void pcrp_seq_forget(struct pcrp_seq *s);
bool pcrp_seq_is_retrans(const struct pcrp_seq *s, u32 seq, u32 bytes, bool fin);
u32 pcrp_seq_add(struct pcrp_seq *s, u32 seq, u32 bytes, bool fin, bool starts);
u32 pcrp_seq_at(const struct pcrp_seq *s, u64 offset);

/**
 * pcrp_seq_continue() - account for a packet that begins at the next new byte
 * @s: sequence numbers of its flow
 * @seq: sequence number of the packet's first byte
 * @bytes: its payload; it has no FIN
 * @starts: it starts a flow
 *
 * Return: false: it begins elsewhere: pcrp_seq_is_retrans(), pcrp_seq_add()
 */
static inline bool pcrp_seq_continue(struct pcrp_seq *s, u32 seq, u32 bytes, bool starts)
{
	if (!s->known || seq != s->next)
		return false;
	if (starts)
		s->first = seq;
	s->next += bytes;
	return true;
}

/**
 * pcrp_seq_unsent() - count the bytes that a flow's socket has never sent
 * @s: sequence numbers of the flow
 * @write_seq: sequence number that the program writes next
 * @snd_nxt: sequence number that TCP sends next; may be behind the packets queued here
 * @shutdown: an unsent FIN has a number, but is no byte
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

#endif /* _PCRP_SEQ_H */
