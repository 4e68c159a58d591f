// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters of a module, per network namespace and CPU
 */
#include <linux/percpu.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <net/net_namespace.h>
#include <closnet/counters.h>

/**
 * closnet_counters_show() - write a line for each counter
 * @seq: the file
 * @c: counters
 * @names: their names
 * @count: number of counters
 */
void closnet_counters_show(struct seq_file *seq, const struct closnet_counters *c,
			   const char * const *names, unsigned int count)
{
	unsigned int i;
	u64 sum;
	int cpu;

	for (i = 0; i < count; i++) {
		sum = 0;
		for_each_possible_cpu(cpu)
			sum += READ_ONCE(per_cpu_ptr(c->values, cpu)[i]);
		seq_printf(seq, "%s %llu\n", names[i], sum);
	}
}

/**
 * closnet_counters_init() - allocate a namespace's counters and create their file
 * @net: namespace
 * @c: counters
 * @count: number of counters
 * @path: path of the file below /proc/net
 * @show: writes the file
 *
 * Return: 0 or -ENOMEM.
 */
int closnet_counters_init(struct net *net, struct closnet_counters *c,
			  unsigned int count, const char *path,
			  int (*show)(struct seq_file *seq, void *unused))
{
	c->values = __alloc_percpu(count * sizeof(u64), __alignof__(u64));
	if (!c->values)
		return -ENOMEM;
	if (!proc_create_net_single(path, 0444, net->proc_net, show, NULL)) {
		free_percpu(c->values);
		return -ENOMEM;
	}
	return 0;
}

/**
 * closnet_counters_exit() - remove the file and free the counters
 * @net: namespace
 * @c: counters
 * @path: as for closnet_counters_init()
 */
void closnet_counters_exit(struct net *net, struct closnet_counters *c, const char *path)
{
	remove_proc_entry(path, net->proc_net);
	free_percpu(c->values);
}
