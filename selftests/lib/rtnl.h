/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the programs share that configure by raw netlink: random numbers,
 * attributes, requests and their answers
 */
#ifndef _SELFTESTS_RTNL_H
#define _SELFTESTS_RTNL_H

#include <libmnl/libmnl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdint.h>

#define BLOB_MAX 4096

/* Attributes one after the other */
struct blob {
	unsigned int len;
	uint8_t b[BLOB_MAX];
};

/* ---- random numbers, the same in each run with the same seed */

void seed_random(const char *number);
uint64_t random64(void);
unsigned int below(unsigned int n);

/* ---- attributes */

void put_attr(struct blob *blob, uint16_t type, const void *data, unsigned int len);

/* ---- requests */

extern struct mnl_socket *nl;
extern char message[256]; /* of the last refusal, or empty */

void enter_ns(const char *ns);
void open_netlink(void);
/* Return: 0 or the kernel's error number */
int request(const struct nlmsghdr *nlh);

/* Tells WHY, of which attributes, with the kernel's last message; exit status 1 */
void show(const char *why, const struct blob *blob);

#endif
