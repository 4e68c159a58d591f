/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cells: IP packets cut into parts, and put together again
 *
 * The interface of fab_cell.c, which explains it.
 */
#ifndef _CLOSNET_FAB_CELL_H
#define _CLOSNET_FAB_CELL_H

#include "fab_wire.h"

/**
 * struct fab_cells - a packet that is being put together
 * @bytes: length of its cells so far
 * @next: sequence number of its next cell
 * @open: its first cell was received
 */
struct fab_cells {
	u32 bytes;
	u32 next;
	bool open;
};

/**
 * enum fab_cell - what to do with a cell
 * @FAB_CELL_DROP: drop it
 * @FAB_CELL_APPEND: append it to the packet
 * @FAB_CELL_DONE: append it; the packet is complete
 */
enum fab_cell {
	FAB_CELL_DROP,
	FAB_CELL_APPEND,
	FAB_CELL_DONE,
};

u32 fab_cell_cut(u32 len, u32 offset, u32 size, u8 *flags);
bool fab_cells_breaks(struct fab_cells *c, u32 seq, u8 flags);
enum fab_cell fab_cells_receive(struct fab_cells *c, u32 seq, u8 flags, u32 bytes, u32 max);

#endif /* _CLOSNET_FAB_CELL_H */
