// SPDX-License-Identifier: GPL-2.0-only
/*
 * closnet pcrp: what sch_pcrp has counted in this network namespace, and the
 * thresholds that give flows' first chains their priority
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "closnet.h"
#include "pcrp_genl.h"

#define fail(status, ...) fail_as("pcrp", status, __VA_ARGS__)

static void help(FILE *to)
{
	fprintf(to, "Usage: closnet pcrp [get [OPTION]]\n"
		    "       closnet pcrp set P0 P1 P2\n"
		    "       closnet pcrp reset\n"
		    "  get          sizes of the flows that ended, and the thresholds\n"
		    "  set          sizes up to which a flow's first chain has priority P0, P1, P2\n"
		    "  reset        no thresholds: each qdisc has its own\n"
		    "  -j, --json   numbers as JSON\n"
		    "kb, mb and gb are powers of ten; kib, mib and gib are powers of two.\n");
}

/* ---- get ---- */

static uint64_t count_flows(const struct pcrp_numbers *n)
{
	uint64_t flows = 0;
	int i;

	for (i = 0; i < PCRP_SIZE_CLASSES; i++)
		flows += n->sizes[i];
	return flows;
}

static void print_class(const struct pcrp_numbers *n, int i, double share)
{
	uint64_t first = i ? 1ULL << (i - 1) : 0;
	char range[64];

	if (i == PCRP_SIZE_CLASSES - 1)
		snprintf(range, sizeof(range), "%" PRIu64 " and more", first);
	else if (i < 2)
		snprintf(range, sizeof(range), "%" PRIu64, first);
	else
		snprintf(range, sizeof(range), "%" PRIu64 " to %" PRIu64, first,
			 2 * first - 1);
	printf("%-30s %12" PRIu64 " %9.2f%%\n", range, n->sizes[i], 100 * share);
}

/* Classes between the smallest and the largest flow */
static void print_classes(const struct pcrp_numbers *n, uint64_t flows)
{
	uint64_t before = 0;
	int i;

	printf("%-30s %12s %10s\n", "bytes", "flows", "up to here");
	for (i = 0; before < flows; i++) {
		if (!before && !n->sizes[i])
			continue;
		before += n->sizes[i];
		print_class(n, i, (double)before / flows);
	}
}

static void print_text(const struct pcrp_numbers *n)
{
	uint64_t flows = count_flows(n);
	int i;

	if (n->set) {
		printf("thresholds:");
		for (i = 0; i < PCRP_THRESHOLDS; i++)
			printf(" P%d %" PRIu64, i, n->thresholds[i]);
		printf(" bytes\n");
	} else {
		printf("thresholds: none, each qdisc has its own\n");
	}
	printf("updates: %" PRIu32 "\n", n->updates);
	printf("flows: %" PRIu64 ", %" PRIu64 " bytes\n", flows, n->bytes);
	if (flows)
		print_classes(n, flows);
}

static void print_array(const char *name, const uint64_t *values, int count)
{
	int i;

	printf("  \"%s\": [", name);
	for (i = 0; i < count; i++)
		printf("%s%" PRIu64, i ? ", " : "", values[i]);
	printf("]");
}

static void print_json(const struct pcrp_numbers *n)
{
	printf("{\n");
	if (n->set)
		print_array("thresholds_bytes", n->thresholds, PCRP_THRESHOLDS);
	else
		printf("  \"thresholds_bytes\": null");
	printf(",\n  \"updates\": %" PRIu32 ",\n", n->updates);
	printf("  \"flows\": %" PRIu64 ",\n", count_flows(n));
	printf("  \"bytes\": %" PRIu64 ",\n", n->bytes);
	print_array("sizes_flows", n->sizes, PCRP_SIZE_CLASSES);
	printf("\n}\n");
}

static int get(struct pcrp_genl *g, bool json)
{
	struct pcrp_numbers numbers;

	if (pcrp_genl_get(g, &numbers))
		return fail(CANNOT, "%s", g->error);
	if (json)
		print_json(&numbers);
	else
		print_text(&numbers);
	return DONE;
}

/* ---- command line ---- */

/* What the user wants */
struct wish {
	enum pcrp_cmd command;
	bool json;
	uint64_t thresholds[PCRP_THRESHOLDS];
};

static int read_thresholds(struct wish *wish, int argc, char **argv)
{
	int i;

	if (argc != PCRP_THRESHOLDS)
		return fail(USAGE, "set needs %d sizes", PCRP_THRESHOLDS);
	for (i = 0; i < PCRP_THRESHOLDS; i++) {
		if (parse_number(argv[i], size_units, &wish->thresholds[i]))
			return fail(USAGE, "'%s' is not a size, as in 25kb", argv[i]);
	}
	return DONE;
}

static int read_words(struct wish *wish, int argc, char **argv)
{
	const char *word = argc ? argv[0] : "get";

	if (!strcmp(word, "set")) {
		wish->command = PCRP_CMD_SET;
		return read_thresholds(wish, argc - 1, argv + 1);
	}
	if (!strcmp(word, "get"))
		wish->command = PCRP_CMD_GET;
	else if (!strcmp(word, "reset"))
		wish->command = PCRP_CMD_RESET;
	else
		return fail(USAGE, "'%s' is not get, set or reset", word);
	if (argc > 1)
		return fail(USAGE, "%s takes no '%s'", word, argv[1]);
	return DONE;
}

static int fulfil(const struct wish *wish)
{
	struct pcrp_genl g;
	int status = DONE;

	if (pcrp_genl_open(&g))
		return fail(CANNOT, "%s", g.error);
	if (wish->command == PCRP_CMD_GET)
		status = get(&g, wish->json);
	else if (wish->command == PCRP_CMD_SET ? pcrp_genl_set(&g, wish->thresholds) :
						 pcrp_genl_reset(&g))
		status = fail(CANNOT, "%s", g.error);
	pcrp_genl_close(&g);
	return status;
}

int pcrp(int argc, char **argv)
{
	struct wish wish = {};
	int status;

	argv[0] = "closnet pcrp";
	if (read_options(argc, argv, help, &wish.json, &status))
		return status;
	status = read_words(&wish, argc - optind, argv + optind);
	return status ? status : fulfil(&wish);
}
