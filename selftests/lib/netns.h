/* SPDX-License-Identifier: GPL-2.0-only */
/* Network namespaces of ip-netns(8), for the C tools of the kselftests */
#ifndef _SELFTESTS_NETNS_H
#define _SELFTESTS_NETNS_H

/**
 * enter_ns() - enter a network namespace; on failure, exit with status 2
 * @ns: its name; NULL: stay in the present namespace
 */
void enter_ns(const char *ns);

/**
 * enter_ns_of() - enter the network namespace of a device; on failure, exit with status 2
 * @where: NS/DEV
 *
 * Return: DEV.
 */
const char *enter_ns_of(const char *where);

#endif
