// SPDX-License-Identifier: GPL-2.0-only
/*
 * A stand-in for the kernel's part of pcrpd(8), which keeps its state in files
 *
 * $PCRPD_KERNEL: lines "CLASS FLOWS"; without this file, the module is not loaded
 * $PCRPD_KERNEL.set: the thresholds that were set, three numbers
 * $PCRPD_KERNEL.refuses: if this file exists, setting thresholds is not permitted
 * $PCRPD_KERNEL.slow: if this file exists, each answer takes a second
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pcrp_genl.h"

static const char *name(const char *suffix)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s%s", getenv("PCRPD_KERNEL"), suffix);
	return path;
}

static int fail(struct pcrp_genl *g, int error)
{
	snprintf(g->error, sizeof(g->error), "stand-in: %s", strerror(error));
	return -error;
}

int pcrp_genl_open(struct pcrp_genl *g)
{
	return access(name(""), R_OK) ? fail(g, ENOENT) : 0;
}

void pcrp_genl_close(struct pcrp_genl *g)
{
	(void)g;
}

int pcrp_genl_get(struct pcrp_genl *g, struct pcrp_numbers *n)
{
	unsigned int class;
	uint64_t flows;
	FILE *f = fopen(name(""), "r");

	*n = (struct pcrp_numbers) {};
	if (!access(name(".slow"), F_OK))
		sleep(1);
	if (!f)
		return fail(g, errno);
	while (fscanf(f, "%u %" SCNu64, &class, &flows) == 2 && class < PCRP_SIZE_CLASSES)
		n->sizes[class] = flows;
	fclose(f);
	f = fopen(name(".set"), "r");
	if (!f)
		return 0;
	n->set = fscanf(f, "%" SCNu64 "%" SCNu64 "%" SCNu64, &n->thresholds[0],
			&n->thresholds[1], &n->thresholds[2]) == 3;
	fclose(f);
	return 0;
}

int pcrp_genl_set(struct pcrp_genl *g, const uint64_t t[PCRP_THRESHOLDS])
{
	FILE *f;

	if (!access(name(".refuses"), F_OK))
		return fail(g, EPERM);
	f = fopen(name(".set"), "w");
	if (!f)
		return fail(g, errno);
	fprintf(f, "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", t[0], t[1], t[2]);
	fclose(f);
	return 0;
}
