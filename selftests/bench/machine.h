/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Instructions that the machine executes
 *
 * It has one processor, whose clock counts instructions (QEMU, -icount shift=0). The clock also
 * advances while the processor is idle. That time is subtracted.
 */
#ifndef _SELFTESTS_BENCH_MACHINE_H
#define _SELFTESTS_BENCH_MACHINE_H

#include <err.h>
#include <stdio.h>
#include <x86intrin.h>

/**
 * struct span - a measurement: span_begin(), span_end()
 * @instructions: clock; result: without idle time
 * @idle: idle time of the processor, ns; result: of the measurement
 */
struct span {
	unsigned long long instructions;
	unsigned long long idle;
};

static unsigned long long idle_ns(void)
{
	FILE *f = fopen("/proc/timer_list", "r");
	unsigned long long ns;
	char line[128];

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, " .idle_sleeptime : %llu", &ns) == 1) {
			fclose(f);
			return ns;
		}
	}
	errx(2, "/proc/timer_list has no idle_sleeptime");
}

static void span_begin(struct span *s)
{
	s->idle = idle_ns();
	s->instructions = __rdtsc();
}

static void span_end(struct span *s)
{
	unsigned long long end = __rdtsc();

	s->idle = idle_ns() - s->idle;
	s->instructions = end - s->instructions - s->idle;
}

#endif /* _SELFTESTS_BENCH_MACHINE_H */
