// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fuzz target without a fuzzer
 *
 *	ndp_pkt_fuzz			inputs of its own, the same in each run
 *	ndp_pkt_fuzz FILE...		inputs from files, as libFuzzer leaves them
 *	ndp_pkt_fuzz --seeds DIR	write some inputs for libFuzzer to start from
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ndp_pkt_common.h"
#include "ndp_pkt_fuzz.h"

#define INPUTS		200000
#define SEEDS		100
#define INPUT_MAX	(sizeof(struct fuzz_input) + FRAME_MAX)

static u8 input[INPUT_MAX];

/* A frame as a sender could build it, at a port that may want it. */
static size_t make_input(void)
{
	struct fuzz_input *in = (void *)input;
	const struct frame_spec *stack = &stacks[rng_in(&rng, 0, STACKS - 1)];
	struct frame_spec s;
	u32 min_len, i;

	s = spec_of(stack, protos[rng_in(&rng, 0, PROTOS - 1)], 0);
	min_len = s.len;
	s.len = rng_in(&rng, min_len, rng_percent(&rng, 80) ? min_len + 200 : 3000);
	s.dscp = rng_percent(&rng, 30) ? DSCP_TRIMMED : 10;
	frame_build(&frame, &s, &rng);

	in->flags = (u8)(rng_u32(&rng) & (FUZZ_MATCH | FUZZ_TAG));
	if (s.l2 == L2_NONE)
		in->flags |= FUZZ_NO_L2;
	if (s.ipv6)
		in->flags |= FUZZ_IPV6;
	set16(in->trim_size, rng_in(&rng, 0, rng_percent(&rng, 90) ? 192 : 9152));
	in->dscp_trimmed = DSCP_TRIMMED;
	in->dscp_returned = DSCP_RETURNED;
	set16(in->udp_port, PORT);
	for (i = 0; i < sizeof(in->dscp_mask); i++)
		in->dscp_mask[i] = (u8)rng_u32(&rng);
	in->linear = (u8)rng_in(&rng, 0, 255);
	memcpy(in->frame, frame.b, frame.len);
	return sizeof(*in) + frame.len;
}

/* Some bytes differ, most of them in headers; or the end is missing. */
static size_t mutate(size_t size)
{
	static const u8 bytes[] = { 0, 1, 0x7f, 0x80, 0xff, 4, 6, 17, 44, 60, 0x45, 0x60 };
	u32 n = rng_in(&rng, 0, 6), near = (u32)size < 100 ? (u32)size : 100;

	while (n--) {
		u32 at = rng_in(&rng, 0, rng_percent(&rng, 90) ? near - 1 : (u32)size - 1);

		if (rng_percent(&rng, 50))
			input[at] = bytes[rng_in(&rng, 0, sizeof(bytes) - 1)];
		else
			input[at] ^= (u8)(1U << rng_in(&rng, 0, 7));
	}
	if (rng_percent(&rng, 10))
		size = rng_in(&rng, 0, (u32)size);
	return size;
}

static void run_own(void)
{
	const struct fuzz_met *m = &fuzz_met;
	bool all;
	int i;

	for (i = 0; i < INPUTS; i++) {
		size_t size = mutate(make_input());
		/* the target's input ends where its memory ends */
		u8 *b = malloc(size + 1);

		if (!b)
			err(2, "malloc");
		memcpy(b + 1, input, size);
		ndp_pkt_fuzz_one(b + 1, size);
		free(b);
	}
	all = m->trimmed > 1000 && m->turned > 1000 && m->refused > 100;
	for (i = 0; i <= NDP_KIND_RETURNED; i++)
		all = all && m->kind[i] > 100;
	printf("# other %lu data %lu control %lu trimmed %lu returned %lu\n",
	       m->kind[NDP_KIND_OTHER], m->kind[NDP_KIND_DATA],
	       m->kind[NDP_KIND_CONTROL], m->kind[NDP_KIND_TRIMMED],
	       m->kind[NDP_KIND_RETURNED]);
	printf("# trims %lu turns %lu refused %lu\n", m->trimmed, m->turned,
	       m->refused);
	printf("1..2\nok 1 - %d inputs\n", INPUTS);
	printf("%s 2 - they reach everything\n", all ? "ok" : "not ok");
	if (!all)
		exit(1);
}

static void run_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	size_t size;
	u8 *b;

	if (!f)
		err(2, "%s", path);
	b = malloc(INPUT_MAX);
	if (!b)
		err(2, "malloc");
	size = fread(b, 1, INPUT_MAX, f);
	fclose(f);
	ndp_pkt_fuzz_one(b, size);
	free(b);
}

static void write_seeds(const char *dir)
{
	char path[4096];
	size_t size;
	FILE *f;
	int i;

	for (i = 0; i < SEEDS; i++) {
		size = make_input();
		snprintf(path, sizeof(path), "%s/seed-%02d", dir, i);
		f = fopen(path, "wb");
		if (!f || fwrite(input, 1, size, f) != size || fclose(f))
			err(2, "%s", path);
	}
}

int main(int argc, char **argv)
{
	int i;

	rng_seed(&rng, 48);
	if (argc == 1)
		run_own();
	else if (argc == 3 && !strcmp(argv[1], "--seeds"))
		write_seeds(argv[2]);
	else
		for (i = 1; i < argc; i++)
			run_file(argv[i]);
	return 0;
}
