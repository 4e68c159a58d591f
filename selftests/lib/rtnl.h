/* SPDX-License-Identifier: GPL-2.0-only */
/* Raw netlink for test programs: random numbers, attributes, requests and their answers */
#ifndef _SELFTESTS_RTNL_H
#define _SELFTESTS_RTNL_H

#include <libmnl/libmnl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdint.h>

#include "netns.h"

#define BLOB_MAX 4096

/* A buffer of consecutive attributes */
struct blob {
	unsigned int len;
	uint8_t b[BLOB_MAX];
};

/* ---- random numbers; a seed always gives the same sequence */

void seed_random(const char *number);
uint64_t random64(void);
unsigned int below(unsigned int n);

/* ---- attributes */

void put_attr(struct blob *blob, uint16_t type, const void *data, unsigned int len);

/* ---- requests */

extern struct mnl_socket *nl;
extern char message[256]; /* extack message of the last answer, or empty */

void open_netlink(void);
/* Send a request and wait for its ACK. Return: 0 or the kernel's positive error number */
int request(const struct nlmsghdr *nlh);

/* Print @why, the kernel's last message and the attributes to stderr, and exit with status 1 */
void show(const char *why, const struct blob *blob);

#endif
