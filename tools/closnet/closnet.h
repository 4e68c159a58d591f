/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * closnet(8): its commands, and what they share
 */
#ifndef _CLOSNET_CLOSNET_H
#define _CLOSNET_CLOSNET_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Exit status; cannot: what is asked for does not exist */
#define DONE	0
#define CANNOT	1
#define USAGE	2

/* A message, and the exit status that comes of it */
#define fail_as(command, status, format, ...) \
	(fprintf(stderr, "closnet " command ": " format "\n", ##__VA_ARGS__), (status))

/**
 * struct unit - a unit, in tables that end with a name of NULL
 * @name: what stands behind the number
 * @factor: by which that is multiplied
 */
struct unit {
	const char *name;
	double factor;
};

extern const struct unit size_units[];

/* A decimal number and one of the units; 0: good */
int parse_number(const char *text, const struct unit *unit, uint64_t *value);

/*
 * Options of a command that has no others than --json and --help; argv[0] is the command. 0: go on
 * at optind; else *@status is the exit status: help was shown, or there was another option.
 */
int read_options(int argc, char **argv, void (*help)(FILE *to), bool *json, int *status);

int buffers(int argc, char **argv);
int check_nic(int argc, char **argv);
int dcqcn(int argc, char **argv);
int metrics(int argc, char **argv);
int ndp(int argc, char **argv);
int pcrp(int argc, char **argv);
int top(int argc, char **argv);

#endif /* _CLOSNET_CLOSNET_H */
