/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Client of the generic netlink family closnet_pcrp, PCRP's statistics in the
 * kernel
 */
#ifndef _CLOSNET_PCRP_GENL_H
#define _CLOSNET_PCRP_GENL_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/pcrp.h>

/**
 * struct pcrp_numbers - counters and thresholds of a network namespace
 * @sizes: ended flows, by size class
 * @bytes: sum of the bytes of ended flows
 * @set: thresholds are set; otherwise each qdisc uses its defaults
 * @thresholds: largest flow sizes with P0, P1, P2 of first chains, bytes
 * @updates: number of times that thresholds were set or reset
 */
struct pcrp_numbers {
	uint64_t sizes[PCRP_SIZE_CLASSES];
	uint64_t bytes;
	bool set;
	uint64_t thresholds[PCRP_THRESHOLDS];
	uint32_t updates;
};

/**
 * struct pcrp_genl - a connection to the kernel
 * @nl: socket
 * @family: id of the family closnet_pcrp
 * @numbers: result of PCRP_CMD_GET
 * @error: message, after a call that failed
 */
struct pcrp_genl {
	struct mnl_socket *nl;
	uint16_t family;
	struct pcrp_numbers *numbers;
	char error[256];
};

/*
 * Each function returns 0 or a negative errno. If pcrp_genl_open() fails, do not
 * call pcrp_genl_close(). -ENOENT: sch_pcrp is not loaded.
 */
int pcrp_genl_open(struct pcrp_genl *g);
void pcrp_genl_close(struct pcrp_genl *g);
int pcrp_genl_get(struct pcrp_genl *g, struct pcrp_numbers *numbers);
int pcrp_genl_set(struct pcrp_genl *g,
		  const uint64_t thresholds[PCRP_THRESHOLDS]);
int pcrp_genl_reset(struct pcrp_genl *g);

#endif /* _CLOSNET_PCRP_GENL_H */
