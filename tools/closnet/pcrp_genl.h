/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Generic netlink with PCRP's statistics unit in the kernel, closnet_pcrp, for
 * the programs that speak with it
 */
#ifndef _CLOSNET_PCRP_GENL_H
#define _CLOSNET_PCRP_GENL_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/pcrp.h>

/**
 * struct pcrp_numbers - what a network namespace has counted, and its thresholds
 * @sizes: flows that ended, by class of size
 * @bytes: of all of them
 * @set: are there thresholds? If not, each qdisc has its own
 * @thresholds: bytes up to which a flow's first chain has P0, P1, P2
 * @updates: times that thresholds were set or reset
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
 * @family: the number that the kernel gave closnet_pcrp
 * @numbers: where an answer to PCRP_CMD_GET goes
 * @error: what was wrong, after a call that did not return 0
 */
struct pcrp_genl {
	struct mnl_socket *nl;
	uint16_t family;
	struct pcrp_numbers *numbers;
	char error[256];
};

/*
 * Each returns 0 or a negative errno. After pcrp_genl_open() failed there is
 * nothing to close; -ENOENT: the kernel does not have sch_pcrp.
 */
int pcrp_genl_open(struct pcrp_genl *g);
void pcrp_genl_close(struct pcrp_genl *g);
int pcrp_genl_get(struct pcrp_genl *g, struct pcrp_numbers *numbers);
int pcrp_genl_set(struct pcrp_genl *g,
		  const uint64_t thresholds[PCRP_THRESHOLDS]);
int pcrp_genl_reset(struct pcrp_genl *g);

#endif /* _CLOSNET_PCRP_GENL_H */
