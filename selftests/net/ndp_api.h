/* SPDX-License-Identifier: GPL-2.0-only */
/* Checks of NDP sockets, one call at a time: two hosts, "a" with 10.0.0.1 and "b" with 10.0.0.2 */
#ifndef _SELFTESTS_NDP_API_H
#define _SELFTESTS_NDP_API_H

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ndp_tool.h"

extern const char *ns_a, *ns_b;

/* Print the result of a check, with errno if it failed */
void check(bool good, const char *format, ...);

int api_sender(void);
int api_receiver(uint16_t port);
int api_connected(uint16_t port);
void api_address(uint16_t port, union ndp_address *a);
ssize_t api_send(int fd, uint16_t port, size_t len, int flags);
bool api_wait(int fd, short events, int ms);
bool api_sent(int fd);
bool api_fails_with(int fd, int error, uint64_t msg, uint16_t port);
bool api_refused(int result, int error);

void test_parts(void);
void test_flags(void);
void test_poll(void);
void test_bind(void);
void test_options(void);
void test_arguments(void);
void test_failures(void);
void test_region(void);
void test_region_placed(void);
void test_region_full(void);
void test_region_killed(void);
void test_region_memory(void);
void test_region_closed(void);
void test_turns(void);
void test_turns_poll(void);
void test_no_room(void);
void test_silent(void);
void test_queues(void);
void test_filter(void);
void test_cgroup(void);
void test_scatter(void);
void test_huge(void);
void test_errqueue_etf(void);
void test_errqueue_icmp(void);
void test_errqueue_stamps(void);

#endif
