/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interface of iproute2 for plug-ins of tc(8) and ip(8)
 *
 * iproute2 installs no header for plug-ins. tc and ip each load plug-ins from a directory and let
 * them call exported functions. This file declares functions that both programs export, with the
 * same binary interface since iproute2 6.1. tc-symbols.allow and ip-symbols.allow list them for a
 * test.
 */
#ifndef _CLOSNET_PLUGIN_H
#define _CLOSNET_PLUGIN_H

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Plug-ins are built with -fvisibility=hidden; this makes a symbol visible to tc and ip. */
#define PLUGIN_EXPORT __attribute__((visibility("default")))

/* Kind of output that a call is for */
enum output_type {
	PRINT_FP = 1,
	PRINT_JSON = 2,
	PRINT_ANY = 4,
};

enum color_attr {
	COLOR_NONE = 6,
};

/* Parse numbers. Return: 0, or not 0 after an error */
int get_u8(__u8 *val, const char *arg, int base);
int get_u16(__u16 *val, const char *arg, int base);
int get_u32(__u32 *val, const char *arg, int base);

/* Add attributes. Return: 0, or not 0 if the message is full */
int addattr8(struct nlmsghdr *n, int maxlen, int type, __u8 val);
int addattr16(struct nlmsghdr *n, int maxlen, int type, __u16 val);
int addattr32(struct nlmsghdr *n, int maxlen, int type, __u32 val);
int addattr64(struct nlmsghdr *n, int maxlen, int type, __u64 val);
int addattr_l(struct nlmsghdr *n, int maxlen, int type, const void *data,
	      int len);
int addraw_l(struct nlmsghdr *n, int maxlen, const void *data, int len);
struct rtattr *addattr_nest(struct nlmsghdr *n, int maxlen, int type);
int addattr_nest_end(struct nlmsghdr *n, struct rtattr *nest);
int parse_rtattr(struct rtattr *tb[], int max, struct rtattr *rta, int len);
/* For types that carry these flags */
int parse_rtattr_flags(struct rtattr *tb[], int max, struct rtattr *rta,
		       int len, unsigned short flags);

/* Output: fmt for text, key for JSON */
bool is_json_context(void);
int print_color_bool(enum output_type t, enum color_attr c, const char *key,
		     const char *fmt, bool val);
int print_color_float(enum output_type t, enum color_attr c, const char *key,
		      const char *fmt, double val);
int print_color_s64(enum output_type t, enum color_attr c, const char *key,
		    const char *fmt, int64_t val);
int print_color_string(enum output_type t, enum color_attr c, const char *key,
		       const char *fmt, const char *val);
int print_color_u64(enum output_type t, enum color_attr c, const char *key,
		    const char *fmt, uint64_t val);
void print_nl(void);
void open_json_object(const char *key);
void close_json_object(void);
void open_json_array(enum output_type t, const char *key);
void close_json_array(enum output_type t, const char *end);

#endif /* _CLOSNET_PLUGIN_H */
