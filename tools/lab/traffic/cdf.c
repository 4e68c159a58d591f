// SPDX-License-Identifier: GPL-2.0-only
#include "cdf.h"

#include <stdlib.h>
#include <string.h>

static bool parse_point(char *text, struct cdf_point *p)
{
	char *state, *bytes = strtok_r(text, " \t\r\n", &state);
	char *probability = strtok_r(NULL, " \t\r\n", &state);

	return bytes && probability && !strtok_r(NULL, " \t\r\n", &state) &&
	       parse_fraction(bytes, &p->bytes) && parse_fraction(probability, &p->probability) &&
	       p->bytes <= 1e12;
}

static bool add_point(struct cdf *cdf, struct cdf_point p, const char *name, unsigned int line,
		      struct error *e)
{
	const struct cdf_point *last = cdf->count ? &cdf->points[cdf->count - 1] : NULL;

	if (p.probability > 1)
		return refuse(e, "%s:%u: probability above 1", name, line);
	if (last && (p.bytes < last->bytes || p.probability < last->probability))
		return refuse(e, "%s:%u: not ascending", name, line);
	if (last && p.bytes == last->bytes && p.probability == last->probability)
		return refuse(e, "%s:%u: the same point again", name, line);
	cdf->points = grow(cdf->points, cdf->count, sizeof(p));
	cdf->points[cdf->count++] = p;
	return true;
}

static bool parse_line(char *text, struct cdf *cdf, const char *name, unsigned int line,
		       struct error *e)
{
	struct cdf_point p;

	text[strcspn(text, "#")] = '\0';
	if (!text[strspn(text, " \t\r\n")])
		return true;
	if (!parse_point(text, &p))
		return refuse(e, "%s:%u: not \"BYTES PROBABILITY\"", name, line);
	return add_point(cdf, p, name, line, e);
}

bool cdf_read(FILE *in, const char *name, struct cdf *cdf, struct error *e)
{
	unsigned int line = 0;
	bool good = true;
	char *text = NULL;
	size_t room = 0;

	memset(cdf, 0, sizeof(*cdf));
	while (good && getline(&text, &room, in) >= 0)
		good = parse_line(text, cdf, name, ++line, e);
	free(text);
	if (good && (!cdf->count || cdf->points[cdf->count - 1].probability != 1))
		good = refuse(e, "%s:%u: the last probability is not 1", name, line);
	if (good && cdf->points[cdf->count - 1].bytes < 1)
		good = refuse(e, "%s:%u: no size above 0", name, line);
	if (!good)
		cdf_free(cdf);
	return good;
}

void cdf_free(struct cdf *cdf)
{
	free(cdf->points);
	memset(cdf, 0, sizeof(*cdf));
}

uint64_t cdf_quantile(const struct cdf *cdf, double probability)
{
	const struct cdf_point *p = cdf->points, *end = p + cdf->count - 1;
	double bytes = p->bytes, part;

	while (p < end && p->probability < probability)
		p++;
	if (p > cdf->points && p->probability > p[-1].probability) {
		part = (probability - p[-1].probability) / (p->probability - p[-1].probability);
		bytes = p[-1].bytes + part * (p->bytes - p[-1].bytes);
	}
	return bytes < 1 ? 1 : (uint64_t)llround(bytes);
}

double cdf_mean(const struct cdf *cdf)
{
	const struct cdf_point *p = cdf->points;
	double mean = p->bytes * p->probability;
	unsigned int i;

	for (i = 1; i < cdf->count; i++)
		mean += (p[i].bytes + p[i - 1].bytes) / 2 *
			(p[i].probability - p[i - 1].probability);
	return mean;
}
