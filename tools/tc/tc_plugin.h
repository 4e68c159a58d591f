/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a plug-in needs of tc(8)
 *
 * iproute2 installs no header for plug-ins. tc looks up q_KIND.so in its
 * plug-in directory, takes the symbol KIND_qdisc_util of it, and lets the
 * plug-in call the functions that tc itself exports. These are declared here:
 * only those that the plug-ins call, and only such as have had the same
 * binary interface in tc 6.1 and in all that came later. tc-symbols.allow
 * names them for the test that keeps it so.
 */
#ifndef _CLOSNET_TC_PLUGIN_H
#define _CLOSNET_TC_PLUGIN_H

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/**
 * struct qdisc_util - what tc calls in a plug-in
 * @next: tc's own list
 * @id: kind of the qdisc
 * @parse_qopt: turn words of the command line into TCA_OPTIONS; not 0: error,
 *	about which the plug-in has told the user
 * @print_qopt: print TCA_OPTIONS, which may be missing
 * @print_xstats: print the qdisc's own statistics
 * @parse_copt: as @parse_qopt, for a class
 * @print_copt: as @print_qopt, for a class
 * @has_block: does the qdisc have shared filter blocks?
 */
struct qdisc_util {
	struct qdisc_util *next;
	const char *id;
	int (*parse_qopt)(const struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *n, const char *dev);
	int (*print_qopt)(const struct qdisc_util *qu, FILE *f,
			  struct rtattr *opt);
	int (*print_xstats)(const struct qdisc_util *qu, FILE *f,
			    struct rtattr *xstats);
	int (*parse_copt)(const struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *n, const char *dev);
	int (*print_copt)(const struct qdisc_util *qu, FILE *f,
			  struct rtattr *opt);
	int (*has_block)(const struct qdisc_util *qu, struct rtattr *opt,
			 __u32 block_idx, bool *p_has);
};

/* What tc looks up in a plug-in, by this very name */
extern struct qdisc_util ndp_qdisc_util;

/* For which kind of output a call prints. */
enum output_type {
	PRINT_FP = 1,
	PRINT_JSON = 2,
	PRINT_ANY = 4,
};

enum color_attr {
	COLOR_NONE = 6,
};

/* Numbers from words; 0: good */
int get_u8(__u8 *val, const char *arg, int base);
int get_u16(__u16 *val, const char *arg, int base);
int get_u32(__u32 *val, const char *arg, int base);
int get_rate64(__u64 *bytes_per_sec, const char *arg);

/* Netlink attributes; the adders return 0 when there was room */
int addattr8(struct nlmsghdr *n, int maxlen, int type, __u8 val);
int addattr16(struct nlmsghdr *n, int maxlen, int type, __u16 val);
int addattr32(struct nlmsghdr *n, int maxlen, int type, __u32 val);
int addattr64(struct nlmsghdr *n, int maxlen, int type, __u64 val);
struct rtattr *addattr_nest(struct nlmsghdr *n, int maxlen, int type);
int addattr_nest_end(struct nlmsghdr *n, struct rtattr *nest);
int parse_rtattr(struct rtattr *tb[], int max, struct rtattr *rta, int len);

/* Output: fmt for text, key for JSON */
int print_color_bool(enum output_type t, enum color_attr c, const char *key,
		     const char *fmt, bool val);
int print_color_string(enum output_type t, enum color_attr c, const char *key,
		       const char *fmt, const char *val);
int print_color_u64(enum output_type t, enum color_attr c, const char *key,
		    const char *fmt, uint64_t val);
void print_nl(void);
void open_json_object(const char *key);
void close_json_object(void);
void open_json_array(enum output_type t, const char *key);
void close_json_array(enum output_type t, const char *end);

#endif /* _CLOSNET_TC_PLUGIN_H */
