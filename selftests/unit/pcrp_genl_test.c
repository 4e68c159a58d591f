// SPDX-License-Identifier: GPL-2.0-only
/*
 * tools/closnet/pcrp_genl.c, the reader of closnet(8) and pcrpd: kernels that are newer or
 * older than it
 */
#include "../../tools/closnet/pcrp_genl.c"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static uint64_t storage[256];
static struct nlmsghdr *answer;

static void begin(void)
{
	memset(storage, 0, sizeof(storage));
	answer = mnl_nlmsg_put_header(storage);
	answer->nlmsg_type = NLMSG_MIN_TYPE + 1;
	mnl_nlmsg_put_extra_header(answer, sizeof(struct genlmsghdr));
}

static struct pcrp_numbers taken(void)
{
	struct pcrp_numbers numbers = {};
	struct pcrp_genl g = { .numbers = &numbers };

	assert_int_equal(take_answer(answer, &g), MNL_CB_OK);
	return numbers;
}

static void put_thresholds(void)
{
	struct nlattr *nest = mnl_attr_nest_start(answer, PCRP_A_THRESHOLDS);
	int i;

	mnl_attr_put_u64(answer, 99, 1);
	for (i = 0; i < PCRP_THRESHOLDS; i++)
		mnl_attr_put_u64(answer, PCRP_A_THRESHOLD_P0 + i, 1000 + i);
	mnl_attr_put_u64(answer, PCRP_A_THRESHOLD_MAX + 1, 1);
	mnl_attr_nest_end(answer, nest);
}

static void put_size(uint32_t class, uint64_t flows)
{
	struct nlattr *nest = mnl_attr_nest_start(answer, PCRP_A_SIZE);

	mnl_attr_put(answer, PCRP_A_SIZE_PAD, 0, NULL);
	mnl_attr_put_u64(answer, PCRP_A_SIZE_MAX + 1, 1);
	mnl_attr_put_u32(answer, PCRP_A_SIZE_CLASS, class);
	mnl_attr_put_u64(answer, 999, 1);
	mnl_attr_put_u64(answer, PCRP_A_SIZE_FLOWS, flows);
	mnl_attr_nest_end(answer, nest);
}

static void test_newer(void **state)
{
	struct pcrp_numbers n;

	(void)state;
	begin();
	mnl_attr_put_u32(answer, 999, 1);
	put_size(1, 5);
	put_size(PCRP_SIZE_CLASSES, 8);
	put_size(PCRP_SIZE_CLASSES - 1, 7);
	put_thresholds();
	mnl_attr_put_u64(answer, PCRP_A_BYTES, 77);
	mnl_attr_put_u64(answer, PCRP_A_MAX + 1, 1);
	mnl_attr_put_u32(answer, PCRP_A_UPDATES, 3);
	n = taken();
	assert_int_equal(n.sizes[0], 0);
	assert_int_equal(n.sizes[1], 5);
	assert_int_equal(n.sizes[2], 0);
	assert_int_equal(n.sizes[PCRP_SIZE_CLASSES - 1], 7);
	assert_int_equal(n.bytes, 77);
	assert_int_equal(n.updates, 3);
	assert_true(n.set);
	assert_int_equal(n.thresholds[0], 1000);
	assert_int_equal(n.thresholds[2], 1002);
}

static void test_older(void **state)
{
	struct pcrp_numbers n;

	(void)state;
	begin();
	mnl_attr_put_u32(answer, PCRP_A_BYTES, 77);
	n = taken();
	assert_int_equal(n.bytes, 77);
	assert_false(n.set);
	assert_int_equal(n.updates, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_newer),
		cmocka_unit_test(test_older),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
