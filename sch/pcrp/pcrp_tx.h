/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PCRP's sender: shared by pcrp_sender.c and pcrp_gate.c
 */
#ifndef _PCRP_TX_H
#define _PCRP_TX_H

#include <closnet/core.h>
#include "pcrp_sender.h"

void pcrp_tx_rearm(struct pcrp_sender *s, struct pcrp_tx_flow *f);
void pcrp_tx_set_begun(struct pcrp_sender *s, struct pcrp_tx_flow *f);
void pcrp_tx_clear_begun(struct pcrp_tx_flow *f);
void pcrp_tx_resettle(struct pcrp_sender *s, struct pcrp_tx_flow *f, u64 now);
void pcrp_tx_begin_chain(struct pcrp_sender *s, struct pcrp_tx_flow *f);

/* Does the next packet begin a chain? A packet without payload does not. */
static inline bool pcrp_tx_begins_chain(const struct pcrp_tx_flow *f)
{
	return f->sent >= f->chain_end && f->queued && !f->retrans;
}

/*
 * Must a REQUEST announce the size? Yes, if the receiver does not know the flow, or has
 * granted all that it knows of and the flow is longer. pcrp_tx_pick() decides for the
 * first chain.
 */
static inline bool pcrp_tx_must_announce(const struct pcrp_sender *s,
					 const struct pcrp_tx_flow *f)
{
	if (f->gate != PCRP_GATE_GRANT || !f->chain_no ||
	    f->size <= s->params->first_bytes || f->size <= f->announced)
		return false;
	return !f->announced || (f->size > f->granted && f->granted >= f->announced);
}

#endif /* _PCRP_TX_H */
