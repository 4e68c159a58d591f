// SPDX-License-Identifier: GPL-2.0-only
/*
 * include/uapi/linux/ndp.h: the same bytes for 32 and 64 bits, no hole in them, and no
 * number that the C library has given to something else
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <cmocka.h>

#include <linux/ndp.h>
#include "../../net/ndp/path.h"
#include "../../net/ndp/wire.h"

/* What programs are compiled with stays: a structure only grows at its end. */
static_assert(sizeof(struct ndp_part) == 24, "ABI");
static_assert(sizeof(struct ndp_failed) == 16, "ABI");
static_assert(sizeof(struct ndp_placed) == 24, "ABI");
static_assert(offsetof(struct ndp_failed, error) == 8, "ABI");
static_assert(sizeof(struct ndp_info) == 31 * 8, "ABI");
static_assert(offsetof(struct ndp_info, bytes_sent) == 64, "ABI");
static_assert(offsetof(struct ndp_info, packets_received) == 152, "ABI");
static_assert(offsetof(struct ndp_info, paths_avoided) == 216, "ABI");
static_assert(offsetof(struct ndp_info, msgs_placed) == 224, "ABI");
static_assert(NDP_INFO == 1 && NDP_TIMEOUT == 3 && NDP_REGION == 4, "ABI");
static_assert(NDP_CMSG_PART == 1 && NDP_CMSG_FAILED == 2 && NDP_CMSG_PLACED == 3, "ABI");

/* What the ABI promises, the header can carry. */
static_assert(NDP_MSG_MAX < 1ULL << 48, "wire");
static_assert(NDP_PATHS_MAX <= 1 << 8 * sizeof(((struct ndp_hdr *)0)->path), "wire");

static void test_numbers(void **state)
{
	static const int others[] = {
		SOL_SOCKET, SOL_RAW, SOL_DECNET, SOL_X25, SOL_PACKET, SOL_ATM, SOL_AAL, SOL_IRDA,
		SOL_NETBEUI, SOL_LLC, SOL_DCCP, SOL_NETLINK, SOL_TIPC, SOL_RXRPC, SOL_PPPOL2TP,
		SOL_BLUETOOTH, SOL_PNPIPE, SOL_RDS, SOL_IUCV, SOL_CAIF, SOL_ALG, SOL_NFC, SOL_KCM,
		SOL_TLS, SOL_XDP,
	};
	size_t i;

	(void)state;
	assert_in_range(IPPROTO_NDP, 256, IPPROTO_MAX - 1);
	assert_int_not_equal(IPPROTO_NDP, IPPROTO_MPTCP);
	for (i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_int_not_equal(SOL_NDP, others[i]);
	assert_true(SOL_NDP > IPPROTO_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
