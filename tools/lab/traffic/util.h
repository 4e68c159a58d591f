/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Errors, memory, and numbers with units
 */
#ifndef _TRAFFIC_UTIL_H
#define _TRAFFIC_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define NS_PER_S 1000000000LL

/* Message of a failed function, for its caller to print */
struct error {
	char text[256];
};

/**
 * refuse() - format an error message
 * @e: result
 * @format: as in printf()
 *
 * Return: false
 */
bool refuse(struct error *e, const char *format, ...);

/* Print the message and end the program with status 2. */
_Noreturn void die(const char *format, ...);

/* calloc() that ends the program on failure */
void *zalloc(size_t count, size_t size);

/**
 * grow() - make room for one more element of an array
 * @array: result of an earlier call, or NULL
 * @count: elements in use
 * @size: bytes of an element
 *
 * Return: the array, possibly moved
 */
void *grow(void *array, size_t count, size_t size);

/* 1500, 64k, 1.5M (powers of 1000), 64Ki (of 1024) */
bool parse_bytes(const char *text, uint64_t *bytes);

/* 10us, 1.5ms, 2s; without a unit only 0 */
bool parse_duration(const char *text, int64_t *ns);

/* 800kbit, 2.5gbit: bits per second */
bool parse_rate(const char *text, uint64_t *bps);

bool parse_number(const char *text, uint64_t min, uint64_t max, uint64_t *number);

/* 0.6: a number without a unit */
bool parse_fraction(const char *text, double *fraction);

#endif /* _TRAFFIC_UTIL_H */
