// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cells: IP packets cut into parts, and put together again
 *
 * As in fabrics of chassis switches (DDC, DSF), each packet is cut into cells, and cells take all
 * paths in equal shares. A cell has a sequence number of its bucket, so that fab_order.c puts
 * cells in order like packets. Then a packet is a run of numbers from FIRST to LAST, and needs no
 * offsets (MLPPP, RFC 1990, does the same). All cells of a packet but the last have the same
 * size.
 *
 *	packet of 1000 bytes, cells of 400:	n: FIRST	n + 1:		n + 2: LAST
 *						400 bytes	400 bytes	200 bytes
 *
 * A cell that is missing, late, or lies costs its packet: the cells of a packet with a gap are
 * dropped.
 */
#include "fab_cell.h"

/**
 * fab_cell_cut() - find the cell of a packet at an offset
 * @len: length of the packet
 * @offset: below @len; a multiple of @size
 * @size: size of a cell, above 0
 * @flags: FAB_F_FIRST and FAB_F_LAST are set as they apply
 *
 * Return: length of the cell.
 */
u32 fab_cell_cut(u32 len, u32 offset, u32 size, u8 *flags)
{
	*flags &= ~(FAB_F_FIRST | FAB_F_LAST);
	if (!offset)
		*flags |= FAB_F_FIRST;
	if (len - offset <= size)
		*flags |= FAB_F_LAST;
	return min_t(u32, len - offset, size);
}

/**
 * fab_cells_breaks() - check whether a cell ends an incomplete packet
 * @c: the packet
 * @seq: number of the cell
 * @flags: its flags
 *
 * Return: true if the cells so far are to be dropped; @c is empty then.
 */
bool fab_cells_breaks(struct fab_cells *c, u32 seq, u8 flags)
{
	if (!c->open || (seq == c->next && !(flags & FAB_F_FIRST)))
		return false;
	c->open = false;
	return true;
}

/**
 * fab_cells_receive() - receive a cell in order
 * @c: the packet; fab_cells_breaks() was called for this cell
 * @seq: number of the cell
 * @flags: its flags
 * @bytes: its length
 * @max: longest packet
 *
 * Return: what to do. With FAB_CELL_DROP, also drop the cells so far.
 */
enum fab_cell fab_cells_receive(struct fab_cells *c, u32 seq, u8 flags, u32 bytes, u32 max)
{
	if (flags & FAB_F_FIRST)
		*c = (struct fab_cells){ .open = true };
	if (!c->open)
		return FAB_CELL_DROP;
	if (bytes > max - c->bytes) {
		c->open = false;
		return FAB_CELL_DROP;
	}
	c->bytes += bytes;
	c->next = seq + 1;
	if (!(flags & FAB_F_LAST))
		return FAB_CELL_APPEND;
	c->open = false;
	return FAB_CELL_DONE;
}
