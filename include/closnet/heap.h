/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A binary heap whose entries can be found again: who is first by a key
 *
 * Entries are numbers (ids) below a capacity that is fixed when it is made, each
 * at most once in the heap. The heap knows where each stands, so that one whose
 * key changes, or that goes, is found at once:
 *
 *	node[]	{key, tie, id}	in heap order: a node is not before its parent
 *	place[]	by id: where it stands in node[], or HEAP_NONE
 *
 * The keys stand in the heap: comparing touches nothing else. First is the least
 * key, of equal ones the tie that was given out first (in serial arithmetic, as
 * it is a number that may have wrapped around).
 *
 * All of it is O(log n): a change moves the nodes of one path between a leaf and
 * the root, and none if the entry stays where it is. No locks.
 */
#ifndef _CLOSNET_HEAP_H
#define _CLOSNET_HEAP_H

#include <closnet/core.h>

#define HEAP_NONE	0xffffffffU

/**
 * struct heap_node - an entry
 * @key: the least is first
 * @tie: of equal keys, the earlier is first
 * @id: whose it is
 */
struct heap_node {
	u64 key;
	u32 tie;
	u32 id;
};

/**
 * struct heap - a heap
 * @node: entries, in heap order
 * @place: where each id stands in @node; HEAP_NONE: nowhere
 * @count: entries
 */
struct heap {
	struct heap_node *node;
	u32 *place;
	u32 count;
};

/**
 * heap_init() - an empty heap
 * @h: the heap
 * @node: room for all ids
 * @place: room for all ids
 * @ids: how many there are
 */
static inline void heap_init(struct heap *h, struct heap_node *node, u32 *place,
			     u32 ids)
{
	u32 i;

	h->node = node;
	h->place = place;
	h->count = 0;
	for (i = 0; i < ids; i++)
		place[i] = HEAP_NONE;
}

static inline bool heap_before(const struct heap_node *a, const struct heap_node *b)
{
	if (a->key != b->key)
		return a->key < b->key;
	return (s32)(a->tie - b->tie) < 0;
}

static inline void heap_put(struct heap *h, u32 place, struct heap_node node)
{
	h->node[place] = node;
	h->place[node.id] = place;
}

/* Parents that are after @node move down; where it belongs then */
static inline u32 heap_rise(struct heap *h, u32 place, struct heap_node node)
{
	while (place) {
		u32 parent = (place - 1) / 2;

		if (!heap_before(&node, &h->node[parent]))
			break;
		heap_put(h, place, h->node[parent]);
		place = parent;
	}
	return place;
}

/* Who of the children of @place is first; not less than @count: there is none */
static inline u32 heap_first_child(const struct heap *h, u32 place)
{
	u32 child = 2 * place + 1;

	if (child + 1 < h->count)
		child += heap_before(&h->node[child + 1], &h->node[child]);
	return child;
}

/* Children that are before @node move up; where it belongs then */
static inline u32 heap_sink(struct heap *h, u32 place, struct heap_node node)
{
	u32 child;

	while ((child = heap_first_child(h, place)) < h->count) {
		if (!heap_before(&h->node[child], &node))
			break;
		heap_put(h, place, h->node[child]);
		place = child;
	}
	return place;
}

/* The gap at @place moves down to a leaf; where it is then. Copies: nothing writes to them. */
static inline u32 heap_gap_down(const struct heap *h, u32 place)
{
	struct heap_node *node = h->node, *gap = &node[place], *child;
	u32 *places = h->place, last = h->count - 1, next;

	while ((next = 2 * place + 1) <= last) {
		child = &node[next];
		if (next < last && heap_before(&child[1], child)) {
			child++;
			next++;
		}
		*gap = *child;
		places[child->id] = place;
		gap = child;
		place = next;
	}
	return place;
}

/* The node at @place may be before its parent. */
static noinline __maybe_unused void heap_up(struct heap *h, u32 place)
{
	struct heap_node node = h->node[place];

	heap_put(h, heap_rise(h, place, node), node);
}

/* The node at @place may be after its children. */
static noinline __maybe_unused void heap_down(struct heap *h, u32 place)
{
	struct heap_node node = h->node[place];

	heap_put(h, heap_sink(h, place, node), node);
}

/**
 * heap_has() - is it in the heap?
 * @h: the heap
 * @id: which
 *
 * Return: true if so.
 */
static inline bool heap_has(const struct heap *h, u32 id)
{
	return h->place[id] != HEAP_NONE;
}

/**
 * heap_first() - who is first
 * @h: the heap
 *
 * Return: its id; HEAP_NONE if the heap is empty.
 */
static inline u32 heap_first(const struct heap *h)
{
	return h->count ? h->node[0].id : HEAP_NONE;
}

/**
 * heap_first_key() - the least key
 * @h: the heap
 *
 * Return: the key; U64_MAX if the heap is empty.
 */
static inline u64 heap_first_key(const struct heap *h)
{
	return h->count ? h->node[0].key : U64_MAX;
}

/**
 * heap_set() - put an entry in, or change its key
 * @h: the heap
 * @id: which
 * @key: the least is first
 * @tie: of equal keys, the earlier is first
 */
static inline void heap_set(struct heap *h, u32 id, u64 key, u32 tie)
{
	const struct heap_node node = { .key = key, .tie = tie, .id = id };
	u32 place = h->place[id];

	if (place == HEAP_NONE) {
		place = h->count++;
		heap_put(h, place, node);
		if (place)
			heap_up(h, place);
	} else if (heap_before(&node, &h->node[place])) {
		h->node[place] = node;
		if (place)
			heap_up(h, place);
	} else {
		h->node[place] = node;
		if (2 * place + 1 < h->count)
			heap_down(h, place);
	}
}

/*
 * The last node comes to @place, where there is none now. As it was a leaf, it mostly
 * belongs near one: so the gap is moved down to a leaf first, without a look at it.
 */
static noinline __maybe_unused void heap_fill(struct heap *h, u32 place)
{
	struct heap_node last = h->node[h->count];

	place = heap_rise(h, heap_gap_down(h, place), last);
	heap_put(h, place, last);
}

/**
 * heap_remove() - take an entry out
 * @h: the heap
 * @id: which; need not be in it
 */
static inline void heap_remove(struct heap *h, u32 id)
{
	u32 place = h->place[id];

	if (place == HEAP_NONE)
		return;
	h->place[id] = HEAP_NONE;
	if (place != --h->count)
		heap_fill(h, place);
}

#endif /* _CLOSNET_HEAP_H */
