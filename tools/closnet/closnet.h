/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * closnet(8): commands and shared helpers
 */
#ifndef _CLOSNET_CLOSNET_H
#define _CLOSNET_CLOSNET_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Exit status: success; the request failed or is impossible; wrong command line */
#define DONE	0
#define CANNOT	1
#define USAGE	2

/* Print an error message; evaluates to the exit status */
#define fail_as(command, status, format, ...) \
	(fprintf(stderr, "closnet " command ": " format "\n", ##__VA_ARGS__), (status))

/**
 * struct unit - a unit; tables end with @name NULL
 * @name: suffix of the number
 * @factor: multiplier of the number
 */
struct unit {
	const char *name;
	double factor;
};

extern const struct unit size_units[];

/* Parse a decimal number with one of the units. Return: 0 if valid */
int parse_number(const char *text, const struct unit *unit, uint64_t *value);

/* Print "12.3k" into text: three digits and a decimal prefix. Return: text */
const char *scaled(double value, char *text, size_t size);

/* Monotonic time, s */
double monotonic_seconds(void);

/*
 * Parse --json and --help; argv[0] is the command. Return: 0: continue at optind; otherwise exit
 * with *@status, because help was printed or an option is unknown.
 */
int read_options(int argc, char **argv, void (*help)(FILE *to), bool *json, int *status);

int buffers(int argc, char **argv);
int check_nic(int argc, char **argv);
int dcqcn(int argc, char **argv);
int fab(int argc, char **argv);
int lb(int argc, char **argv);
int metrics(int argc, char **argv);
int ndp(int argc, char **argv);
int pcrp(int argc, char **argv);
int roce(int argc, char **argv);
int top(int argc, char **argv);

#endif /* _CLOSNET_CLOSNET_H */
