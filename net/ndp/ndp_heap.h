/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A binary heap whose entries can be found again: who is first by a key
 *
 * Entries are numbers (ids) below a capacity that is fixed when it is made, each
 * at most once in the heap. The heap knows where each stands, so that one whose
 * key changes, or that goes, is found at once:
 *
 *	node[]	{key, tie, id}	in heap order: a node is not before its parent
 *	place[]	by id: where it stands in node[], or NDP_HEAP_NONE
 *
 * The keys stand in the heap: comparing touches nothing else. First is the least
 * key, of equal ones the tie that was given out first (in serial arithmetic, as
 * it is a number that may have wrapped around).
 *
 * All of it is O(log n): a change moves the nodes of one path between a leaf and
 * the root, and none if the entry stays where it is. No locks.
 */
#ifndef _NDP_HEAP_H
#define _NDP_HEAP_H

#include <closnet/core.h>

#define NDP_HEAP_NONE	0xffffffffU

/**
 * struct ndp_heap_node - an entry
 * @key: the least is first
 * @tie: of equal keys, the earlier is first
 * @id: whose it is
 */
struct ndp_heap_node {
	u64 key;
	u32 tie;
	u32 id;
};

/**
 * struct ndp_heap - a heap
 * @node: entries, in heap order
 * @place: where each id stands in @node; NDP_HEAP_NONE: nowhere
 * @count: entries
 */
struct ndp_heap {
	struct ndp_heap_node *node;
	u32 *place;
	u32 count;
};

/**
 * ndp_heap_init() - an empty heap
 * @h: the heap
 * @node: room for all ids
 * @place: room for all ids
 * @ids: how many there are
 */
static inline void ndp_heap_init(struct ndp_heap *h, struct ndp_heap_node *node, u32 *place,
				 u32 ids)
{
	u32 i;

	h->node = node;
	h->place = place;
	h->count = 0;
	for (i = 0; i < ids; i++)
		place[i] = NDP_HEAP_NONE;
}

static inline bool ndp_heap_before(const struct ndp_heap_node *a, const struct ndp_heap_node *b)
{
	if (a->key != b->key)
		return a->key < b->key;
	return (s32)(a->tie - b->tie) < 0;
}

static inline void ndp_heap_put(struct ndp_heap *h, u32 place, struct ndp_heap_node node)
{
	h->node[place] = node;
	h->place[node.id] = place;
}

/* Parents that are after @node move down; where it belongs then */
static inline u32 ndp_heap_rise(struct ndp_heap *h, u32 place, struct ndp_heap_node node)
{
	while (place) {
		u32 parent = (place - 1) / 2;

		if (!ndp_heap_before(&node, &h->node[parent]))
			break;
		ndp_heap_put(h, place, h->node[parent]);
		place = parent;
	}
	return place;
}

/* Who of the children of @place is first; not less than @count: there is none */
static inline u32 ndp_heap_first_child(const struct ndp_heap *h, u32 place)
{
	u32 child = 2 * place + 1;

	if (child + 1 < h->count)
		child += ndp_heap_before(&h->node[child + 1], &h->node[child]);
	return child;
}

/* Children that are before @node move up; where it belongs then */
static inline u32 ndp_heap_sink(struct ndp_heap *h, u32 place, struct ndp_heap_node node)
{
	u32 child;

	while ((child = ndp_heap_first_child(h, place)) < h->count) {
		if (!ndp_heap_before(&h->node[child], &node))
			break;
		ndp_heap_put(h, place, h->node[child]);
		place = child;
	}
	return place;
}

/* The gap at @place moves down to a leaf; where it is then. Copies: nothing writes to them. */
static inline u32 ndp_heap_gap_down(const struct ndp_heap *h, u32 place)
{
	struct ndp_heap_node *node = h->node, *gap = &node[place], *child;
	u32 *places = h->place, last = h->count - 1, next;

	while ((next = 2 * place + 1) <= last) {
		child = &node[next];
		if (next < last && ndp_heap_before(&child[1], child)) {
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
static noinline __maybe_unused void ndp_heap_up(struct ndp_heap *h, u32 place)
{
	struct ndp_heap_node node = h->node[place];

	ndp_heap_put(h, ndp_heap_rise(h, place, node), node);
}

/* The node at @place may be after its children. */
static noinline __maybe_unused void ndp_heap_down(struct ndp_heap *h, u32 place)
{
	struct ndp_heap_node node = h->node[place];

	ndp_heap_put(h, ndp_heap_sink(h, place, node), node);
}

/**
 * ndp_heap_has() - is it in the heap?
 * @h: the heap
 * @id: which
 *
 * Return: true if so.
 */
static inline bool ndp_heap_has(const struct ndp_heap *h, u32 id)
{
	return h->place[id] != NDP_HEAP_NONE;
}

/**
 * ndp_heap_first() - who is first
 * @h: the heap
 *
 * Return: its id; NDP_HEAP_NONE if the heap is empty.
 */
static inline u32 ndp_heap_first(const struct ndp_heap *h)
{
	return h->count ? h->node[0].id : NDP_HEAP_NONE;
}

/**
 * ndp_heap_first_key() - the least key
 * @h: the heap
 *
 * Return: the key; U64_MAX if the heap is empty.
 */
static inline u64 ndp_heap_first_key(const struct ndp_heap *h)
{
	return h->count ? h->node[0].key : U64_MAX;
}

/**
 * ndp_heap_set() - put an entry in, or change its key
 * @h: the heap
 * @id: which
 * @key: the least is first
 * @tie: of equal keys, the earlier is first
 */
static inline void ndp_heap_set(struct ndp_heap *h, u32 id, u64 key, u32 tie)
{
	const struct ndp_heap_node node = { .key = key, .tie = tie, .id = id };
	u32 place = h->place[id];

	if (place == NDP_HEAP_NONE) {
		place = h->count++;
		ndp_heap_put(h, place, node);
		if (place)
			ndp_heap_up(h, place);
	} else if (ndp_heap_before(&node, &h->node[place])) {
		h->node[place] = node;
		if (place)
			ndp_heap_up(h, place);
	} else {
		h->node[place] = node;
		if (2 * place + 1 < h->count)
			ndp_heap_down(h, place);
	}
}

/*
 * The last node comes to @place, where there is none now. As it was a leaf, it mostly
 * belongs near one: so the gap is moved down to a leaf first, without a look at it.
 */
static noinline __maybe_unused void ndp_heap_fill(struct ndp_heap *h, u32 place)
{
	struct ndp_heap_node last = h->node[h->count];

	place = ndp_heap_rise(h, ndp_heap_gap_down(h, place), last);
	ndp_heap_put(h, place, last);
}

/**
 * ndp_heap_remove() - take an entry out
 * @h: the heap
 * @id: which; need not be in it
 */
static inline void ndp_heap_remove(struct ndp_heap *h, u32 id)
{
	u32 place = h->place[id];

	if (place == NDP_HEAP_NONE)
		return;
	h->place[id] = NDP_HEAP_NONE;
	if (place != --h->count)
		ndp_heap_fill(h, place);
}

#endif /* _NDP_HEAP_H */
