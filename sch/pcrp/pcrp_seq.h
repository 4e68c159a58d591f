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
u32 pcrp_seq_unsent(const struct pcrp_seq *s, u32 write_seq, u32 snd_nxt, bool shutdown);

/**
 * pcrp_seq_continue() - account for a packet that begins at the next new byte
 * @s: sequence numbers of its flow, which has begun
 * @seq: sequence number of the packet's first byte
 * @bytes: its payload; it has no FIN
 *
 * Return: false: it begins elsewhere: pcrp_seq_is_retrans(), pcrp_seq_add()
 */
static inline bool pcrp_seq_continue(struct pcrp_seq *s, u32 seq, u32 bytes)
{
	if (!s->known || seq != s->next)
		return false;
	s->next += bytes;
	return true;
}

#endif /* _PCRP_SEQ_H */
