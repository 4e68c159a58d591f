/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions for all tools that test NDP sockets */
#ifndef _SELFTESTS_NDP_TOOL_H
#define _SELFTESTS_NDP_TOOL_H

#include <linux/ndp.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

union ndp_address {
	struct sockaddr sa;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

extern int ndp_type;

int ndp_socket(const char *ns, int family);
void ndp_address(const char *text, uint16_t port, union ndp_address *a);
socklen_t ndp_address_len(const union ndp_address *a);
uint16_t ndp_port(const union ndp_address *a);
uint16_t ndp_own_port(int fd);
void ndp_option(int fd, int level, int name, int value);
void ndp_info(int fd, struct ndp_info *info);
long long ndp_now_us(void);

uint64_t ndp_key(uint64_t seed, uint16_t port, uint32_t n);
void ndp_fill(uint8_t *b, size_t len, uint64_t key, uint64_t offset);
size_t ndp_right(const uint8_t *b, size_t len, uint64_t key, uint64_t offset);

#endif
