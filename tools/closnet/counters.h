/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters of closnet's modules, for closnet metrics and closnet top
 */
#ifndef _CLOSNET_TOOL_COUNTERS_H
#define _CLOSNET_TOOL_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

/**
 * struct sample - value of a counter or gauge
 * @module: its module, "sch_ndp"
 * @labels: where it was counted, as OpenMetrics writes labels: dev="eth1",handle="1:"; may be empty
 * @name: its name, as in JSON; names of nested objects are joined by "_"
 * @value: its value
 */
struct sample {
	char *module;
	char *labels;
	char *name;
	int64_t value;
};

/**
 * struct samples - list of samples
 * @count: number of samples
 * @list: the samples, in the order in which they were read
 */
struct samples {
	size_t count;
	struct sample *list;
};

struct json_object *read_counters(void);
struct samples flatten_counters(struct json_object *counters);
void free_samples(struct samples *samples);

#endif /* _CLOSNET_TOOL_COUNTERS_H */
