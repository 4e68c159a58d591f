// SPDX-License-Identifier: GPL-2.0-only
#include "util.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct unit {
	const char *name;
	double factor;
};

bool refuse(struct error *e, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(e->text, sizeof(e->text), format, args);
	va_end(args);
	return false;
}

void die(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fputs("traffic: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(2);
}

void *zalloc(size_t count, size_t size)
{
	void *p = calloc(count ? count : 1, size);

	if (!p)
		die("out of memory");
	return p;
}

void *grow(void *array, size_t count, size_t size)
{
	/* the room is a power of two, so it is full if count is a power of two */
	if (count & (count - 1))
		return array;
	array = reallocarray(array, count ? 2 * count : 1, size);
	if (!array)
		die("out of memory");
	return array;
}

/* Accept fewer forms than strtod(): no sign, blanks, hexadecimal numbers or infinity. */
static bool plain_number(const char *text, const char **end, double *number)
{
	size_t digits = strspn(text, "0123456789.");
	char *stop;

	if (!isdigit(*text))
		return false;
	*number = strtod(text, &stop);
	*end = stop;
	return stop == text + digits;
}

/* The limit is 2^53: a double represents all smaller integers. */
static bool with_unit(const char *text, const struct unit *units, size_t count, uint64_t *value)
{
	const char *end;
	double number;
	size_t i;

	if (!plain_number(text, &end, &number))
		return false;
	for (i = 0; i < count && strcmp(end, units[i].name); i++)
		;
	if (i == count && (number != 0 || *end))
		return false;
	if (i < count)
		number *= units[i].factor;
	if (number > 0x1p53)
		return false;
	*value = (uint64_t)llround(number);
	return true;
}

bool parse_bytes(const char *text, uint64_t *bytes)
{
	static const struct unit units[] = {
		{ "", 1 }, { "k", 1e3 }, { "M", 1e6 }, { "G", 1e9 },
		{ "Ki", 0x1p10 }, { "Mi", 0x1p20 }, { "Gi", 0x1p30 },
	};

	return with_unit(text, units, ARRAY_COUNT(units), bytes);
}

bool parse_duration(const char *text, int64_t *ns)
{
	static const struct unit units[] = {
		{ "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 },
	};
	uint64_t value;

	if (!with_unit(text, units, ARRAY_COUNT(units), &value))
		return false;
	*ns = (int64_t)value;
	return true;
}

bool parse_rate(const char *text, uint64_t *bps)
{
	static const struct unit units[] = {
		{ "bit", 1 }, { "kbit", 1e3 }, { "mbit", 1e6 }, { "gbit", 1e9 },
	};

	return with_unit(text, units, ARRAY_COUNT(units), bps);
}

bool parse_number(const char *text, uint64_t min, uint64_t max, uint64_t *number)
{
	char *end;

	if (!isdigit(*text))
		return false;
	errno = 0;
	*number = strtoull(text, &end, 0);
	return !errno && !*end && *number >= min && *number <= max;
}

bool parse_fraction(const char *text, double *fraction)
{
	const char *end;

	return plain_number(text, &end, fraction) && !*end;
}
