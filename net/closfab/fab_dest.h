/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ConWeave at the destination leaf: which packets wait, and how long
 *
 * The interface of fab_dest.c, which explains the algorithm.
 */
#ifndef _CLOSNET_FAB_DEST_H
#define _CLOSNET_FAB_DEST_H

#include "fab_wire.h"

/* Epochs before and after the present one from which packets may come: others are strays */
#define FAB_EPOCHS	64

/**
 * struct fab_dest_params - parameters, named after the paper's symbols
 * @extra_ns: theta_resume_extra: added to the estimated arrival of TAIL
 * @default_ns: theta_resume_default: without information about the old path
 * @max_ns: bound of the time that a FIFO is held
 */
struct fab_dest_params {
	u32 extra_ns;
	u32 default_ns;
	u32 max_ns;
};

/**
 * struct fab_dest - state of a flow
 * @old_ns: when the last packet of the old path arrived
 * @deadline_ns: T_resume: when the FIFO is flushed without TAIL; valid with @held
 * @held_ns: when the FIFO was taken; valid with @held
 * @old_us: when that packet was sent, the sender's clock
 * @tail_us: when TAIL was sent, the sender's clock
 * @newest: place in the flow of the last packet that was delivered, fab_place()
 * @strays: packets in a row whose epoch is outside the window
 * @stray: epoch of the last one
 * @epoch: its epoch
 * @known: a packet was received
 * @old_seen: a packet of the old path has arrived in this epoch
 * @passed: TAIL has arrived, or is no longer waited for
 * @held: it has a FIFO
 */
struct fab_dest {
	u64 old_ns;
	u64 deadline_ns;
	u64 held_ns;
	u32 old_us;
	u32 tail_us;
	u32 newest;
	u32 strays;
	u16 stray;
	u16 epoch;
	bool known;
	bool old_seen;
	bool passed;
	bool held;
};

/**
 * struct fab_todo - what to do with a packet, in this order
 * @restart: the window of epochs has moved to it
 * @flush_before: release the FIFO, as the source has begun another epoch
 * @hold: append the packet to the FIFO; otherwise deliver it
 * @start: take a FIFO for it; if all are in use, call fab_dest_pass() and deliver it
 * @stray: deliver it, its epoch is outside the window
 * @late: deliver it out of order: packets that were sent after it were delivered
 * @flush: release the FIFO
 * @reply: send RTT_REPLY
 * @clear: send CLEAR
 */
struct fab_todo {
	bool restart;
	bool flush_before;
	bool hold;
	bool start;
	bool stray;
	bool late;
	bool flush;
	bool reply;
	bool clear;
};

struct fab_todo fab_dest_receive(struct fab_dest *d, const struct fab_dest_params *p,
				 const struct fab_header *h, u64 now_ns);
void fab_dest_pass(struct fab_dest *d);

#endif /* _CLOSNET_FAB_DEST_H */
