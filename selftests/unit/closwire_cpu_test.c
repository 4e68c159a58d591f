// SPDX-License-Identifier: GPL-2.0-only
/*
 * net/closwire/closwire_cpu.c: times of packets, one by one and waiting
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "../../net/closwire/closwire_cpu.h"

static void test_without_costs_nothing_takes_time(void **state)
{
	struct closwire_cpu cpu = {};

	(void)state;
	assert_false(closwire_cpu_costs(&cpu));
	assert_int_equal(closwire_cpu_send(&cpu, 1000, 65536), 0);
	assert_int_equal(closwire_cpu_receive(&cpu, 1000, 64), 1000);
	closwire_cpu_received(&cpu, 64);
	closwire_cpu_bytes(&cpu, 65536);
	assert_int_equal(cpu.free_ns, 1000);
}

static void test_each_cost_counts_alone(void **state)
{
	(void)state;
	assert_true(closwire_cpu_costs(&(struct closwire_cpu){ .packet_ns = 1 }));
	assert_true(closwire_cpu_costs(&(struct closwire_cpu){ .frame_ns = 1 }));
	assert_true(closwire_cpu_costs(&(struct closwire_cpu){ .kb_ns = 1 }));
}

static void test_bytes_of_a_sent_packet_delay_only_the_next(void **state)
{
	struct closwire_cpu cpu = { .packet_ns = 1500, .frame_ns = 500, .kb_ns = 100 };

	(void)state;
	assert_int_equal(closwire_cpu_send(&cpu, 10000, 2048), 11500);
	assert_int_equal(cpu.free_ns, 11700);
	assert_int_equal(closwire_cpu_send(&cpu, 10000, 1024), 13200);
	/* an idle core starts at once */
	assert_int_equal(closwire_cpu_send(&cpu, 20000, 1024), 21500);
}

static void test_batch_is_received_after_one_packet_and_all_frames(void **state)
{
	struct closwire_cpu cpu = { .packet_ns = 1500, .frame_ns = 500, .kb_ns = 100 };

	(void)state;
	assert_int_equal(closwire_cpu_receive(&cpu, 10000, 10), 16500);
	closwire_cpu_received(&cpu, 1);
	assert_int_equal(cpu.free_ns, 16500);
}

static void test_further_packets_and_bytes_delay_the_next_batch(void **state)
{
	struct closwire_cpu cpu = { .packet_ns = 1500, .frame_ns = 500, .kb_ns = 100 };

	(void)state;
	closwire_cpu_receive(&cpu, 10000, 10);
	/* in two polls */
	closwire_cpu_bytes(&cpu, 1024);
	closwire_cpu_received(&cpu, 2);
	closwire_cpu_bytes(&cpu, 2048);
	closwire_cpu_received(&cpu, 1);
	assert_int_equal(cpu.free_ns, 16500 + 2 * 1500 + 300);
}

static void test_largest_costs_do_not_overflow(void **state)
{
	struct closwire_cpu cpu = { .packet_ns = 1000000, .frame_ns = 1000000, .kb_ns = 1000000 };
	u64 now_ns = (u64)1 << 62;

	(void)state;
	assert_int_equal(closwire_cpu_send(&cpu, now_ns, 1 << 20) - now_ns, 1000000);
	assert_int_equal(cpu.free_ns - now_ns, 1000000ULL + 1024 * 1000000ULL);
	assert_int_equal(closwire_cpu_receive(&cpu, now_ns, 10000) - now_ns, 10001 * 1000000ULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_costs_nothing_takes_time),
		cmocka_unit_test(test_each_cost_counts_alone),
		cmocka_unit_test(test_bytes_of_a_sent_packet_delay_only_the_next),
		cmocka_unit_test(test_batch_is_received_after_one_packet_and_all_frames),
		cmocka_unit_test(test_further_packets_and_bytes_delay_the_next_batch),
		cmocka_unit_test(test_largest_costs_do_not_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
