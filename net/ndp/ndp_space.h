/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NDP's receive regions: which space is free
 *
 * Plain C, no kernel types. Space is slots in a row; a message gets as many as it needs,
 * next to each other, the first that fit. Which are free is in a binary tree over them,
 * whose root is node 1, and the children of node i are 2 i and 2 i + 1:
 *
 *	slots    . . # . . . . #	# taken
 *	        +-------+-------+
 *	        | 2 1 2 | 3 0 3 |	head, tail, best: free slots at a node's begin, at
 *	        +-------+-------+	its end, and the most in a row anywhere in it
 *	        |     2 0 4     |
 *	        +---------------+
 *
 * What is free in a row in a node is all in one of its children, or the tail of the left
 * one and the head of the right one. Of a node that is all free or all taken, the
 * children are not looked at, and say anything: they are told when it becomes mixed.
 *
 * To take and to give back is O(log slots), whatever was taken before, and neighbours
 * that are free are one at once. No locks.
 */
#ifndef _NDP_SPACE_H
#define _NDP_SPACE_H

#include <closnet/core.h>

#define NDP_SPACE_NONE	0xffffffffU
/* Slots; their leaves are numbered in 32 bits */
#define NDP_SPACE_MAX	0x40000000U

/**
 * struct ndp_space_node - a power of 2 of slots
 * @head: free ones from the first on
 * @tail: free ones up to the last
 * @best: most free ones in a row
 */
struct ndp_space_node {
	u32 head;
	u32 tail;
	u32 best;
};

/**
 * struct ndp_space - space: ndp_space_init()
 * @node: the tree; ndp_space_nodes() of them, the first is not used
 * @levels: log2 of its leaves
 * @free: slots that are
 */
struct ndp_space {
	struct ndp_space_node *node;
	u32 levels;
	u32 free;
};

static inline u32 ndp_space_levels(u32 slots)
{
	u32 levels = 0;

	while (1U << levels < slots)
		levels++;
	return levels;
}

/**
 * ndp_space_nodes() - how large the tree is
 * @slots: 1..NDP_SPACE_MAX
 *
 * Return: nodes.
 */
static inline u32 ndp_space_nodes(u32 slots)
{
	return 2U << ndp_space_levels(slots);
}

/* All of a node's @size slots are free, or taken. */
static inline void ndp_space_fill(struct ndp_space_node *n, u32 size, bool free)
{
	n->head = free ? size : 0;
	n->tail = n->head;
	n->best = n->head;
}

/* Node @i, of @size slots, becomes mixed: its children say what it has said. */
static inline void ndp_space_push(struct ndp_space *s, u32 i, u32 size)
{
	u32 best = s->node[i].best;

	if (best && best != size)
		return;
	ndp_space_fill(&s->node[2 * i], size / 2, best);
	ndp_space_fill(&s->node[2 * i + 1], size / 2, best);
}

/* Node @i, of @size slots, says what its children say. */
static inline void ndp_space_pull(struct ndp_space *s, u32 i, u32 size)
{
	const struct ndp_space_node *a = &s->node[2 * i], *b = a + 1;
	struct ndp_space_node *n = &s->node[i];
	u32 best = max_t(u32, a->best, b->best);

	n->head = a->head == size / 2 ? a->head + b->head : a->head;
	n->tail = b->tail == size / 2 ? a->tail + b->tail : b->tail;
	n->best = max_t(u32, best, a->tail + b->head);
}

/*
 * Slots from @start on become free, or taken. They are the nodes that begin or end where
 * the row does on their level; mixed are only those above its two ends.
 */
static inline void ndp_space_set(struct ndp_space *s, u32 start, u32 count, bool free)
{
	u32 first = (1U << s->levels) + start, end = first + count, a, b, level;

	for (level = s->levels; level; level--) {
		ndp_space_push(s, first >> level, 1U << level);
		ndp_space_push(s, (end - 1) >> level, 1U << level);
	}
	for (a = first, b = end; a < b; a /= 2, b /= 2, level++) {
		if (a % 2)
			ndp_space_fill(&s->node[a++], 1U << level, free);
		if (b % 2)
			ndp_space_fill(&s->node[--b], 1U << level, free);
	}
	for (level = 1; level <= s->levels; level++) {
		/* not those that are filled, whose children say anything */
		if (first >> level << level != first)
			ndp_space_pull(s, first >> level, 1U << level);
		if (end >> level << level != end)
			ndp_space_pull(s, (end - 1) >> level, 1U << level);
	}
}

/**
 * ndp_space_init() - all is free
 * @s: space
 * @node: ndp_space_nodes(@slots) of them
 * @slots: 1..NDP_SPACE_MAX
 *
 * O(log slots).
 */
static inline void ndp_space_init(struct ndp_space *s, struct ndp_space_node *node, u32 slots)
{
	*s = (struct ndp_space) { .node = node, .levels = ndp_space_levels(slots) };
	ndp_space_fill(&node[1], 1U << s->levels, false);
	ndp_space_set(s, 0, slots, true);
	s->free = slots;
}

/**
 * ndp_space_take() - take slots in a row
 * @s: space
 * @count: how many; 1 or more
 *
 * Return: the first of them, at the least place there is; NDP_SPACE_NONE: there is none.
 */
static inline u32 ndp_space_take(struct ndp_space *s, u32 count)
{
	u32 i = 1, start = 0, size = 1U << s->levels;

	if (s->node[1].best < count)
		return NDP_SPACE_NONE;
	while (s->node[i].best != size) {
		const struct ndp_space_node *a = &s->node[2 * i], *b = a + 1;

		size /= 2;
		i *= 2;
		if (a->best >= count)
			continue;
		start += size;
		if (a->tail + b->head >= count) {
			start -= a->tail;
			break;
		}
		i++;
	}
	ndp_space_set(s, start, count, false);
	s->free -= count;
	return start;
}

/**
 * ndp_space_give() - give slots back
 * @s: space
 * @start: that ndp_space_take() has returned
 * @count: that it was asked for
 */
static inline void ndp_space_give(struct ndp_space *s, u32 start, u32 count)
{
	ndp_space_set(s, start, count, true);
	s->free += count;
}

#endif /* _NDP_SPACE_H */
