/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the program writes
 */
#ifndef _TRAFFIC_RECORDS_H
#define _TRAFFIC_RECORDS_H

#include <stdio.h>

#include "pattern.h"

/* A line for each flow, in order of their id */
void records_flows(FILE *out);

void records_series_head(FILE *out);

/* A line for each flow that runs */
void records_series(FILE *out);

/* For people, or as JSON. Return: how many flows have failed */
unsigned int records_summary(const struct pattern *patterns, unsigned int count, bool json);

/* Ideal completion time, or 0 where there is none */
int64_t flow_ideal_ns(const struct flow *flow);

#endif /* _TRAFFIC_RECORDS_H */
