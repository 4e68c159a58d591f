/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bench.h: instruction counts, their median, and the parameter "run" of a benchmark
 *
 * The benchmarks run in a guest whose clock counts instructions (QEMU, -icount
 * shift=0). The difference of two get_cycles() is exact and the same in each run.
 */
#ifndef _BENCH_H
#define _BENCH_H

#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sort.h>
#include <linux/timex.h>

#define BENCH_COUNT_MAX		100000

/*
 * BENCH_CYCLES() - count the instructions of a statement
 *
 * The instructions between two adjacent clock readings are subtracted, so that
 * the readings themselves do not count.
 */
#define BENCH_CYCLES(statement) ({				\
	u64 __start = get_cycles(), __call = get_cycles();	\
								\
	statement;						\
	(u32)(get_cycles() - __call - (__call - __start));	\
})

/* Result of the last run, protected by the parameters' lock */
static char bench_result[256];

static int bench_get(char *buf, const struct kernel_param *kp)
{
	return scnprintf(buf, PAGE_SIZE, "%s", bench_result);
}

/* Define the parameter "run": a write of @words calls @set_run, a read returns the result. */
#define BENCH_PARAM(set_run, words)					\
	static const struct kernel_param_ops bench_ops = {		\
		.set = set_run,						\
		.get = bench_get,					\
	};								\
	module_param_cb(run, &bench_ops, NULL, 0600);			\
	MODULE_PARM_DESC(run, "write \"" words "\" to run, read the result")

static int bench_compare(const void *a, const void *b)
{
	return (int)(*(const u32 *)a - *(const u32 *)b);
}

/* Sort @costs and return the median. */
static inline u32 bench_median(u32 *costs, u32 n)
{
	sort(costs, n, sizeof(*costs), bench_compare, NULL);
	return costs[n / 2];
}

#endif /* _BENCH_H */
