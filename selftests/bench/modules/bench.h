/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the benchmarks share: the clock, and what is made of its readings
 *
 * They run in a guest whose clock counts instructions (QEMU, -icount shift=0):
 * a difference of get_cycles() is then an exact number, the same in each run.
 */
#ifndef _BENCH_H
#define _BENCH_H

#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sort.h>
#include <linux/timex.h>

#define BENCH_COUNT_MAX		100000

/*
 * BENCH_CYCLES() - instructions of a statement
 *
 * Its time, less the time from one reading of the clock to the next: what the
 * reading itself takes cancels out.
 */
#define BENCH_CYCLES(statement) ({				\
	u64 __start = get_cycles(), __call = get_cycles();	\
								\
	statement;						\
	(u32)(get_cycles() - __call - (__call - __start));	\
})

/* The answer of the last run; protected by the parameters' lock */
static char bench_answer[256];

static int bench_get(char *buf, const struct kernel_param *kp)
{
	return scnprintf(buf, PAGE_SIZE, "%s", bench_answer);
}

/* The module's parameter "run": a write of @words runs @set, a read is the answer. */
#define BENCH_PARAM(set_run, words)					\
	static const struct kernel_param_ops bench_ops = {		\
		.set = set_run,						\
		.get = bench_get,					\
	};								\
	module_param_cb(run, &bench_ops, NULL, 0600);			\
	MODULE_PARM_DESC(run, "write: \"" words "\", and it runs; read: the result")

static int bench_compare(const void *a, const void *b)
{
	return (int)(*(const u32 *)a - *(const u32 *)b);
}

/* Sorts @costs. */
static inline u32 bench_median(u32 *costs, u32 n)
{
	sort(costs, n, sizeof(*costs), bench_compare, NULL);
	return costs[n / 2];
}

#endif /* _BENCH_H */
