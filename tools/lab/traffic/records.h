/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CSV files and the summary
 */
#ifndef _TRAFFIC_RECORDS_H
#define _TRAFFIC_RECORDS_H

#include <stdio.h>

#include "pattern.h"

/* Write a line per flow, by id. */
void records_flows(FILE *out);

void records_series_head(FILE *out);

/* Write a line per running flow. */
void records_series(FILE *out);

/* Print the summary as text or JSON. Return: number of failed flows */
unsigned int records_summary(const struct pattern *patterns, unsigned int count, bool json);

/* Return: ideal completion time; 0 if the flow is endless or its path unknown */
int64_t flow_ideal_ns(const struct flow *flow);

#endif /* _TRAFFIC_RECORDS_H */
