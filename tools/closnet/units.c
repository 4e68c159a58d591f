// SPDX-License-Identifier: GPL-2.0-only
/*
 * Numbers with units, and the time
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "closnet.h"

/* Powers of ten, as in papers and data sheets; tc(8) uses powers of two */
const struct unit size_units[] = {
	{ "", 1 }, { "b", 1 }, { "kb", 1e3 }, { "mb", 1e6 }, { "gb", 1e9 },
	{ "kib", 1 << 10 }, { "mib", 1 << 20 }, { "gib", 1 << 30 }, { NULL }
};

int parse_number(const char *text, const struct unit *unit, uint64_t *value)
{
	const char *suffix = text + strspn(text, "0123456789.");
	double number;
	char *end;

	number = strtod(text, &end);
	/* refuses 1.2.3, 0x10, 1e3 */
	if (suffix == text || end != suffix)
		return -1;
	for (; unit->name; unit++) {
		if (!strcmp(suffix, unit->name)) {
			*value = llround(fmin(number * unit->factor, 1e18));
			return 0;
		}
	}
	return -1;
}

const char *scaled(double value, char *text, size_t size)
{
	static const char prefixes[] = " kMGT";
	unsigned int i;

	for (i = 0; value >= 999.5 && i + 2 < sizeof(prefixes); i++)
		value /= 1000;
	snprintf(text, size, "%.*f%.1s", value >= 99.95 || !i ? 0 : value >= 9.995 ? 1 : 2, value,
		 i ? &prefixes[i] : "");
	return text;
}

double monotonic_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}
