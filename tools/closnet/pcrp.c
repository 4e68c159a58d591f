// SPDX-License-Identifier: GPL-2.0-only
/*
 * closnet pcrp: sch_pcrp's flow sizes in this network namespace, and the
 * thresholds that determine the priority of a flow's first chain
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
		    "  get          print the sizes of ended flows, and the thresholds\n"
		    "  set          set the largest flow sizes with priority P0, P1, P2 of first chains\n"
		    "  reset        restore the qdiscs' default thresholds\n"
		    "  -j, --json   print JSON\n"
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

	printf("%-30s %12s %10s\n", "bytes", "flows", "cumulative");
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
		printf("thresholds: not set, each qdisc uses its defaults\n");
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

/* Parsed command line */
struct request {
	enum pcrp_cmd command;
	bool json;
	uint64_t thresholds[PCRP_THRESHOLDS];
};

static int read_thresholds(struct request *request, int argc, char **argv)
{
	int i;

	if (argc != PCRP_THRESHOLDS)
		return fail(USAGE, "set requires %d sizes", PCRP_THRESHOLDS);
	for (i = 0; i < PCRP_THRESHOLDS; i++) {
		if (parse_number(argv[i], size_units, &request->thresholds[i]))
			return fail(USAGE, "\"%s\" is not a size, as in 25kb", argv[i]);
	}
	return DONE;
}

static int read_words(struct request *request, int argc, char **argv)
{
	const char *word = argc ? argv[0] : "get";

	if (!strcmp(word, "set")) {
		request->command = PCRP_CMD_SET;
		return read_thresholds(request, argc - 1, argv + 1);
	}
	if (!strcmp(word, "get"))
		request->command = PCRP_CMD_GET;
	else if (!strcmp(word, "reset"))
		request->command = PCRP_CMD_RESET;
	else
		return fail(USAGE, "\"%s\" is not get, set or reset", word);
	if (argc > 1)
		return fail(USAGE, "unexpected argument \"%s\" after %s", argv[1], word);
	return DONE;
}

static int run_request(const struct request *request)
{
	struct pcrp_genl g;
	int status = DONE;

	if (pcrp_genl_open(&g))
		return fail(CANNOT, "%s", g.error);
	if (request->command == PCRP_CMD_GET)
		status = get(&g, request->json);
	else if (request->command == PCRP_CMD_SET ? pcrp_genl_set(&g, request->thresholds) :
						 pcrp_genl_reset(&g))
		status = fail(CANNOT, "%s", g.error);
	pcrp_genl_close(&g);
	return status;
}

int pcrp(int argc, char **argv)
{
	struct request request = {};
	int status;

	argv[0] = "closnet pcrp";
	if (read_options(argc, argv, help, &request.json, &status))
		return status;
	status = read_words(&request, argc - optind, argv + optind);
	return status ? status : run_request(&request);
}
