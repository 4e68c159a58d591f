/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters of a module, per network namespace and CPU
 *
 * A file below /proc/net shows them, a line "NAME VALUE" each. The module makes
 * the file's directory.
 */
#ifndef _CLOSNET_COUNTERS_H
#define _CLOSNET_COUNTERS_H

#include <linux/percpu.h>

struct net;
struct seq_file;

/**
 * struct closnet_counters - counters of a namespace
 * @values: per CPU, indexed by the module's enum
 */
struct closnet_counters {
	u64 __percpu *values;
};

int closnet_counters_init(struct net *net, struct closnet_counters *c,
			  unsigned int count, const char *path,
			  int (*show)(struct seq_file *seq, void *unused));
void closnet_counters_exit(struct net *net, struct closnet_counters *c, const char *path);
void closnet_counters_show(struct seq_file *seq, const struct closnet_counters *c,
			   const char * const *names, unsigned int count);

/* Add 1 to a counter of a namespace. */
static inline void closnet_count(u64 __percpu *values, unsigned int counter)
{
	this_cpu_inc(values[counter]);
}

/* Add @n to a counter of a namespace. */
static inline void closnet_count_add(u64 __percpu *values, unsigned int counter, u64 n)
{
	this_cpu_add(values[counter], n);
}

#endif /* _CLOSNET_COUNTERS_H */
