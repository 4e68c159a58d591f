/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Options and statistics of the qdiscs' plug-ins: rates, DSCPs, priorities, sets and maps
 */
#ifndef _CLOSNET_TC_OPTIONS_H
#define _CLOSNET_TC_OPTIONS_H

#include "options.h"
#include "tc_plugin.h"

/**
 * struct tc_map - a map being parsed: FROM:TO and FROM-FROM:TO, separated by commas
 * @to: value of each FROM
 * @get_from: parses a FROM, for which @to has room
 * @get_to: parses a TO
 */
struct tc_map {
	__u8 *to;
	int (*get_from)(__u8 *val, const char *arg);
	int (*get_to)(__u8 *val, const char *arg);
};

/* Parse a number. Return: 0 or -1 */
int get_prio(__u8 *val, const char *arg);
int get_dscp(__u8 *val, const char *arg);
/* Parse a rate in bytes per second. Return: 0 or -1 */
int get_rate_Bps(__u64 *val, const char *arg);
/* Parse FIRST or FIRST-LAST, below 64, as a set of bits; writes to @item. Return: 0 or -1 */
int get_range(__u64 *mask, int (*get)(__u8 *val, const char *arg), char *item);
/* Call @take for each item between separators, which may write to it. Return: 0 or -1 */
int take_items(const char *arg, const char *separators, int (*take)(void *result, char *item),
	       void *result);
/* For take_items(), with a struct tc_map */
int add_mapping(void *result, char *item);
int parse_dscp(const struct plugin_opt *opt, struct words *w, struct nlmsghdr *n);
/* Parse all words into TCA_OPTIONS; @explain prints the help. Return: 0 or -1 */
int parse_opts(const struct plugin_opt *opts, size_t count, struct words *w, struct nlmsghdr *n,
	       void (*explain)(FILE *f));

/* Print the numbers of set bits: an array in JSON, in text a list of ranges */
void out_bits(const char *key, __u64 mask);
void out_json_bits(const char *key, __u64 mask);
/*
 * Print a map: an array in JSON; in text FROM:TO and FROM-FROM:TO, except values that
 * equal @none; off if all do
 */
void out_map(const char *key, const __u8 *map, unsigned int count, int none);

/* Parse nested statistics into @tb with @max + 1 entries; ignore attributes of newer kernels */
void parse_stats(struct rtattr **tb, int max, struct rtattr *nest);
/* Print a counter. An older kernel may not send it. */
void print_stat(struct rtattr **tb, int attr, const char *key, const char *label, const char *unit);

#endif /* _CLOSNET_TC_OPTIONS_H */
