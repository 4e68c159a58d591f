// SPDX-License-Identifier: GPL-2.0-only
#include "histogram.h"

#include <stdlib.h>
#include <string.h>

static uint64_t total_of(const uint64_t *sizes)
{
	uint64_t total = 0;
	int i;

	for (i = 0; i < PCRP_SIZE_CLASSES; i++)
		total += sizes[i];
	return total;
}

/* The smallest size of a class */
static uint64_t least_of(int class)
{
	return class ? 1ULL << (class - 1) : 0;
}

/* Find the flow of rank @rank, from 1, in ascending order of size. Return: its class */
static int size_of(const uint64_t *sizes, uint64_t rank, uint64_t *size)
{
	uint64_t least;
	int i = 0;

	for (; rank > sizes[i]; i++)
		rank -= sizes[i];
	/* class i has 2^(i-1) sizes, as many as its smallest size; class 0 has only size 0 */
	least = least_of(i);
	*size = least + (uint64_t)((__uint128_t)least * (rank - 1) / sizes[i]);
	return i;
}

static void one_level(uint64_t *thresholds)
{
	thresholds[0] = 1;
	thresholds[1] = PCRP_THRESHOLD_MAX - 1;
	thresholds[2] = PCRP_THRESHOLD_MAX;
}

/* Thresholds before @class, in it, and after it */
static void around(int class, uint64_t *thresholds)
{
	uint64_t next = least_of(class + 1);

	thresholds[0] = (next - 1) / 2;
	thresholds[1] = next - 1;
	thresholds[2] = next;
}

static void ascend(uint64_t *thresholds)
{
	uint64_t least, most;
	int i;

	for (i = 0; i < PCRP_THRESHOLDS; i++) {
		least = i ? thresholds[i - 1] + 1 : 1;
		most = PCRP_THRESHOLD_MAX - (PCRP_THRESHOLDS - 1 - i);
		if (thresholds[i] < least)
			thresholds[i] = least;
		if (thresholds[i] > most)
			thresholds[i] = most;
	}
}

uint64_t thresholds_of(const uint64_t sizes[PCRP_SIZE_CLASSES],
		       uint64_t thresholds[PCRP_THRESHOLDS])
{
	uint64_t total = total_of(sizes);
	int i, classes[PCRP_THRESHOLDS];

	if (total < SAMPLES_MIN) {
		one_level(thresholds);
		return total;
	}
	for (i = 0; i < PCRP_THRESHOLDS; i++)
		classes[i] = size_of(sizes, (total * (i + 1) + 3) / 4, &thresholds[i]);
	if (classes[0] == classes[2])
		around(classes[0], thresholds);
	ascend(thresholds);
	return total;
}

bool window_init(struct window *w, unsigned int periods)
{
	*w = (struct window) { .periods = periods };
	w->counts = calloc(periods, sizeof(*w->counts));
	return w->counts;
}

void window_free(struct window *w)
{
	free(w->counts);
}

void window_add(struct window *w, const uint64_t sizes[PCRP_SIZE_CLASSES])
{
	uint64_t *counts = w->counts[w->at], room, n;
	int i;

	for (i = 0; i < PCRP_SIZE_CLASSES; i++) {
		room = COUNT_MAX - counts[i];
		n = sizes[i] < room ? sizes[i] : room;
		counts[i] += n;
		w->sum[i] += n;
	}
}

static void turn(struct window *w)
{
	uint64_t *oldest;
	int i;

	w->at = (w->at + 1) % w->periods;
	oldest = w->counts[w->at];
	for (i = 0; i < PCRP_SIZE_CLASSES; i++)
		w->sum[i] -= oldest[i];
	memset(oldest, 0, sizeof(w->counts[0]));
	if (w->age < w->periods)
		w->age++;
}

void window_turn(struct window *w, uint64_t turns)
{
	if (turns > w->periods)
		turns = w->periods;
	while (turns--)
		turn(w);
}

bool window_thresholds(const struct window *w, uint64_t thresholds[PCRP_THRESHOLDS],
		       uint64_t *flows)
{
	*flows = thresholds_of(w->sum, thresholds);
	return *flows >= SAMPLES_MIN || w->age == w->periods;
}
