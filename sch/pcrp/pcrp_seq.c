// SPDX-License-Identifier: GPL-2.0-only
/*
 * PCRP's sender: classify a flow's TCP packets by their sequence numbers
 *
 * Plain C, for the module and its unit test. A flow may be of any length: arithmetic is
 * modulo 2^32, and each packet is within a window of the next new byte.
 *
 *	first                              next
 *	  +-------- bytes of the flow -------+
 *	  |                                  |
 *	  |                  [ retrans ]     |             was queued here before
 *	  |                            [ old | new ]
 *	  |                                  [ new ]
 *	  |                                  | lost  [ new ]   lost bytes count as queued
 *
 * A packet that is further away, or follows a SYN, belongs to another connection with
 * the same ports: the flow's offsets go on, its sequence numbers start anew.
 */

#include "pcrp_seq.h"

/**
 * pcrp_seq_forget() - note a SYN: later packets have other sequence numbers
 * @s: sequence numbers of the flow
 */
void pcrp_seq_forget(struct pcrp_seq *s)
{
	s->known = false;
}

/**
 * pcrp_seq_is_retrans() - test whether all of a packet was queued before
 * @s: sequence numbers of its flow
 * @seq: sequence number of the packet's first byte
 * @bytes: its payload
 * @fin: it carries a FIN, which takes a sequence number after the payload
 *
 * A packet that takes no sequence number is no retransmission: it keeps its place
 * behind the data that it follows.
 *
 * Return: true if it is a retransmission or a keep-alive probe.
 */
bool pcrp_seq_is_retrans(const struct pcrp_seq *s, u32 seq, u32 bytes, bool fin)
{
	return s->known && (bytes || fin) &&
	       s->next - (seq + bytes + fin) <= PCRP_SEQ_WINDOW;
}

/**
 * pcrp_seq_add() - account for a packet
 * @s: sequence numbers of its flow
 * @seq: sequence number of the packet's first byte
 * @bytes: its payload
 * @fin: it carries a FIN
 * @starts: it starts a flow, if it adds bytes
 *
 * Packets without payload and FIN are ignored: a RST may carry any number.
 *
 * Return: new bytes, including bytes before them that were lost on the way here.
 */
u32 pcrp_seq_add(struct pcrp_seq *s, u32 seq, u32 bytes, bool fin, bool starts)
{
	u32 added;

	if ((!bytes && !fin) || pcrp_seq_is_retrans(s, seq, bytes, fin))
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
 * pcrp_seq_at() - convert an offset to a sequence number
 * @s: sequence numbers of the flow
 * @offset: offset in the flow, bytes
 *
 * Return: the sequence number.
 */
u32 pcrp_seq_at(const struct pcrp_seq *s, u64 offset)
{
	return s->first + (u32)offset;
}
