// SPDX-License-Identifier: GPL-2.0-only
/* A fuzz target without libFuzzer, see fuzz_main.h. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_main.h"

static u8 *input;

/* The target's input ends where its memory ends. */
static void run_one(size_t size)
{
	u8 *copy = malloc(size + 1);

	if (!copy)
		err(2, "malloc");
	memcpy(copy + 1, input, size);
	LLVMFuzzerTestOneInput(copy + 1, size);
	free(copy);
}

static int run_own(void)
{
	const struct fuzz_target *t = &fuzz_target;
	size_t size;
	bool all;
	u32 i;

	for (i = 0; i < t->inputs; i++) {
		size = t->make(input);
		if (t->mutate)
			size = t->mutate(input, size);
		run_one(size);
	}
	all = t->reached();
	printf("1..2\nok 1 - %u inputs\n", t->inputs);
	printf("%s 2 - they reach everything\n", all ? "ok" : "not ok");
	return !all;
}

static void run_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	size_t size;

	if (!f)
		err(2, "%s", path);
	size = fread(input, 1, fuzz_target.input_max, f);
	fclose(f);
	run_one(size);
}

static void write_seeds(const char *dir)
{
	char path[4096];
	size_t size;
	FILE *f;
	u32 i;

	for (i = 0; i < fuzz_target.seeds; i++) {
		size = fuzz_target.make(input);
		snprintf(path, sizeof(path), "%s/seed-%02u", dir, i);
		f = fopen(path, "wb");
		if (!f || fwrite(input, 1, size, f) != size || fclose(f))
			err(2, "%s", path);
	}
}

int main(int argc, char **argv)
{
	int i, status = 0;

	input = malloc(fuzz_target.input_max);
	if (!input)
		err(2, "malloc");
	rng_seed(fuzz_target.rng, fuzz_target.seed);
	if (argc == 1)
		status = run_own();
	else if (argc == 3 && !strcmp(argv[1], "--seeds"))
		write_seeds(argv[2]);
	else
		for (i = 1; i < argc; i++)
			run_file(argv[i]);
	free(input);
	return status;
}
