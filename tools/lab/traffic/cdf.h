/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Distributions of flow sizes, as points of the cumulative distribution
 *
 * A file has lines "BYTES PROBABILITY", both ascending, the last probability 1,
 * and comments after #. Between two points the size is linear in the
 * probability, as in the generators of HPCC (custom_rand.py), ConWeave and
 * pFabric. A first probability above 0 is that of exactly that size.
 */
#ifndef _TRAFFIC_CDF_H
#define _TRAFFIC_CDF_H

#include <stdio.h>

#include "rng.h"
#include "util.h"

struct cdf_point {
	double bytes;
	double probability;
};

struct cdf {
	struct cdf_point *points;
	unsigned int count;
};

/**
 * cdf_read() - read a distribution
 * @in: the file
 * @name: of the file, for messages
 * @cdf: filled; cdf_free() frees it
 * @e: says file and line where false is returned
 */
bool cdf_read(FILE *in, const char *name, struct cdf *cdf, struct error *e);

void cdf_free(struct cdf *cdf);

/* The size that a share of @probability of the flows does not exceed; at least 1 */
uint64_t cdf_quantile(const struct cdf *cdf, double probability);

/* Mean size, in bytes */
double cdf_mean(const struct cdf *cdf);

#endif /* _TRAFFIC_CDF_H */
