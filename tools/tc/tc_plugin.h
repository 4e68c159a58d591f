/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interface of tc(8) for plug-ins of qdiscs and actions
 *
 * tc loads q_KIND.so or m_KIND.so from its plug-in directory, TC_LIB_DIR, and looks up the symbol
 * KIND_qdisc_util or KIND_action_util.
 */
#ifndef _CLOSNET_TC_PLUGIN_H
#define _CLOSNET_TC_PLUGIN_H

#include "plugin.h"

/**
 * struct qdisc_util - functions that tc calls in a plug-in
 * @next: tc's own list
 * @id: kind of the qdisc
 * @parse_qopt: parse words of the command line into TCA_OPTIONS; returns not 0
 *	after an error message
 * @print_qopt: print TCA_OPTIONS, which may be missing
 * @print_xstats: print the qdisc's own statistics
 * @parse_copt: as @parse_qopt, for a class
 * @print_copt: as @print_qopt, for a class
 * @has_block: check for shared filter blocks
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

/**
 * struct action_util - functions that tc calls in a plug-in of an action
 * @next: for tc
 * @id: kind of the action
 * @parse_aopt: parse words of the command line into an attribute @type; moves on @argc and @argv;
 *	returns not 0 after an error message
 * @print_aopt: print the attribute, which may be missing
 * @print_xstats: print the action's own statistics
 */
struct action_util {
	struct action_util *next;
	char id[16];
	int (*parse_aopt)(const struct action_util *au, int *argc, char ***argv, int type,
			  struct nlmsghdr *n);
	int (*print_aopt)(const struct action_util *au, FILE *f, struct rtattr *opt);
	int (*print_xstats)(const struct action_util *au, FILE *f, struct rtattr *xstats);
};

/* tc looks up KIND_action_util and KIND_qdisc_util */
extern struct action_util lb_action_util PLUGIN_EXPORT;
extern struct qdisc_util ndp_qdisc_util PLUGIN_EXPORT;
extern struct qdisc_util dcqcn_qdisc_util PLUGIN_EXPORT;
extern struct qdisc_util pcrp_qdisc_util PLUGIN_EXPORT;
extern struct qdisc_util roce_qdisc_util PLUGIN_EXPORT;
extern struct qdisc_util voq_qdisc_util PLUGIN_EXPORT;

/* tc -s */
extern int show_stats;

/* Parse "pass", "goto chain 1" and the like. Return: 0, or not 0 for another word */
int parse_action_control(int *argc, char ***argv, int *result, bool allow_number);
/* Number of a device, 0 if it does not exist; name of a device */
unsigned int ll_name_to_index(const char *name);
const char *ll_index_to_name(unsigned int index);
int get_rate64(__u64 *bytes_per_sec, const char *arg);
/* Text of a time, into the 64 bytes at buf, which it returns */
char *sprint_time64(__s64 ns, char *buf);

#endif /* _CLOSNET_TC_PLUGIN_H */
