// SPDX-License-Identifier: GPL-2.0-only
#include "topology.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX (PATH_LINKS_MAX + 3)

/* A line of the file */
struct line {
	const char *file;
	unsigned int number;
	char *words[WORDS_MAX];
	unsigned int count;
};

static const char *const distance_names[DISTANCES] = { "same-leaf", "same-pod", "far" };

static const struct host *find_host(const struct topology *t, const char *name)
{
	unsigned int i;

	for (i = 0; i < t->count; i++)
		if (!strcmp(t->hosts[i].name, name))
			return &t->hosts[i];
	return NULL;
}

static bool parse_address(const char *text, union address *a)
{
	memset(a, 0, sizeof(*a));
	if (inet_pton(AF_INET, text, &a->in.sin_addr) == 1) {
		a->sa.sa_family = AF_INET;
		return true;
	}
	a->sa.sa_family = AF_INET6;
	return inet_pton(AF_INET6, text, &a->in6.sin6_addr) == 1;
}

static bool parse_host(const struct line *l, struct topology *t, struct error *e)
{
	struct host *h;
	uint64_t leaf, pod;

	if (l->count != 6)
		return refuse(e, "%s:%u: not \"host NAME NETNS ADDRESS LEAF POD\"", l->file,
			    l->number);
	if (find_host(t, l->words[1]) || !strcmp(l->words[1], "all"))
		return refuse(e, "%s:%u: duplicate host %s", l->file, l->number, l->words[1]);
	t->hosts = grow(t->hosts, t->count, sizeof(*t->hosts));
	h = &t->hosts[t->count];
	if (strlen(l->words[1]) >= sizeof(h->name) || strlen(l->words[2]) >= sizeof(h->netns) ||
	    strpbrk(l->words[1], ",\"\\") || strchr(l->words[2], '/'))
		return refuse(e, "%s:%u: bad name: %s or %s", l->file, l->number, l->words[1],
			    l->words[2]);
	if (!parse_address(l->words[3], &h->address))
		return refuse(e, "%s:%u: bad address: %s", l->file, l->number, l->words[3]);
	if (!parse_number(l->words[4], 0, UINT32_MAX, &leaf) ||
	    !parse_number(l->words[5], 0, UINT32_MAX, &pod))
		return refuse(e, "%s:%u: bad leaf or pod: %s %s", l->file, l->number, l->words[4],
			    l->words[5]);
	memcpy(h->name, l->words[1], strlen(l->words[1]) + 1);
	memcpy(h->netns, l->words[2], strlen(l->words[2]) + 1);
	h->leaf = (unsigned int)leaf;
	h->pod = (unsigned int)pod;
	t->count++;
	return true;
}

static bool parse_link(char *word, struct link *link)
{
	char *colon = strchr(word, ':');
	uint64_t delay;
	bool good;

	if (!colon)
		return false;
	*colon = '\0';
	good = parse_number(word, 1, 1000000000000000ULL, &link->rate_bps) &&
	       parse_number(colon + 1, 0, 1000 * NS_PER_S, &delay);
	*colon = ':';
	if (good)
		link->delay_ns = (int64_t)delay;
	return good;
}

static bool parse_path(const struct line *l, struct topology *t, struct error *e)
{
	struct path *path;
	unsigned int d, i;

	for (d = 0; d < DISTANCES && l->count > 2; d++)
		if (!strcmp(l->words[1], distance_names[d]))
			break;
	if (l->count <= 2 || d == DISTANCES)
		return refuse(e, "%s:%u: not \"path same-leaf|same-pod|far RATE_BPS:DELAY_NS ...\"",
			    l->file, l->number);
	path = &t->paths[d];
	if (path->count || l->count > PATH_LINKS_MAX + 2)
		return refuse(e, "%s:%u: %s", l->file, l->number,
			    path->count ? "duplicate path" : "too many links");
	for (i = 0; i < l->count - 2; i++)
		if (!parse_link(l->words[i + 2], &path->links[i]))
			return refuse(e, "%s:%u: not RATE_BPS:DELAY_NS: %s", l->file, l->number,
				    l->words[i + 2]);
	path->count = l->count - 2;
	return true;
}

static bool parse_mtu(const struct line *l, struct topology *t, struct error *e)
{
	uint64_t mtu;

	/* must hold the headers of ideal_fct_ns() and data */
	if (l->count != 2 || !parse_number(l->words[1], 256, 65535, &mtu))
		return refuse(e, "%s:%u: not \"mtu BYTES\", 256 to 65535", l->file, l->number);
	t->mtu = (unsigned int)mtu;
	return true;
}

static bool split(char *text, struct line *l)
{
	char *state, *word;

	text[strcspn(text, "#")] = '\0';
	l->count = 0;
	for (word = strtok_r(text, " \t\r\n", &state); word;
	     word = strtok_r(NULL, " \t\r\n", &state)) {
		if (l->count == WORDS_MAX)
			return false;
		l->words[l->count++] = word;
	}
	return true;
}

static bool parse_line(char *text, struct line *l, struct topology *t, struct error *e)
{
	if (!split(text, l))
		return refuse(e, "%s:%u: too many words", l->file, l->number);
	if (!l->count)
		return true;
	if (!strcmp(l->words[0], "host"))
		return parse_host(l, t, e);
	if (!strcmp(l->words[0], "path"))
		return parse_path(l, t, e);
	if (!strcmp(l->words[0], "mtu"))
		return parse_mtu(l, t, e);
	return refuse(e, "%s:%u: not host, path or mtu: %s", l->file, l->number, l->words[0]);
}

bool topology_read(FILE *in, const char *name, struct topology *t, struct error *e)
{
	struct line l = { .file = name };
	bool good = true;
	char *text = NULL;
	size_t room = 0;

	memset(t, 0, sizeof(*t));
	t->mtu = 1500;
	while (good && getline(&text, &room, in) >= 0) {
		l.number++;
		good = parse_line(text, &l, t, e);
	}
	free(text);
	if (good && t->count < 2)
		good = refuse(e, "%s: fewer than two hosts", name);
	if (!good)
		topology_free(t);
	return good;
}

void topology_free(struct topology *t)
{
	free(t->hosts);
	t->hosts = NULL;
	t->count = 0;
}

const struct path *topology_path(const struct topology *t, const struct host *a,
				 const struct host *b)
{
	const struct path *path = &t->paths[FAR];

	if (a->pod == b->pod)
		path = &t->paths[a->leaf == b->leaf ? SAME_LEAF : SAME_POD];
	return path->count ? path : NULL;
}

static bool add_host(struct host_set *set, const struct host *host, struct error *e)
{
	unsigned int i;

	for (i = 0; i < set->count; i++)
		if (set->hosts[i] == host)
			return refuse(e, "duplicate host %s", host->name);
	set->hosts = grow(set->hosts, set->count, sizeof(*set->hosts));
	set->hosts[set->count++] = host;
	return true;
}

/* Split "h7" before the 7. Return: false if there is no number */
static bool split_name(const char *name, size_t *prefix, uint64_t *number)
{
	*prefix = strlen(name);
	while (*prefix && isdigit(name[*prefix - 1]))
		--*prefix;
	return parse_number(name + *prefix, 0, UINT32_MAX, number);
}

static bool add_range(const struct topology *t, const char *from, const char *to,
		      struct host_set *set, struct error *e)
{
	size_t prefix, prefix_to;
	uint64_t first, last, i;
	const struct host *host;
	char name[64];

	if (!split_name(from, &prefix, &first) || !split_name(to, &prefix_to, &last) ||
	    prefix != prefix_to || memcmp(from, to, prefix) || first > last)
		return refuse(e, "not a range of hosts: %s-%s", from, to);
	for (i = first; i <= last; i++) {
		snprintf(name, sizeof(name), "%.*s%llu", (int)prefix, from, (unsigned long long)i);
		host = find_host(t, name);
		if (!host)
			return refuse(e, "unknown host \"%s\" in the range %s-%s", name, from, to);
		if (!add_host(set, host, e))
			return false;
	}
	return true;
}

static bool add_word(const struct topology *t, char *word, struct host_set *set, struct error *e)
{
	const struct host *host = find_host(t, word);
	char *dash = strchr(word, '-');
	unsigned int i;

	if (host)
		return add_host(set, host, e);
	if (dash) {
		*dash = '\0';
		return add_range(t, word, dash + 1, set, e);
	}
	if (strcmp(word, "all"))
		return refuse(e, "unknown host \"%s\"", word);
	for (i = 0; i < t->count; i++)
		if (!add_host(set, &t->hosts[i], e))
			return false;
	return true;
}

bool host_set_parse(const struct topology *t, const char *text, struct host_set *set,
		    struct error *e)
{
	char *copy = strdup(text), *state, *word;
	bool good = true;

	if (!copy)
		die("out of memory");
	memset(set, 0, sizeof(*set));
	for (word = strtok_r(copy, ",", &state); good && word; word = strtok_r(NULL, ",", &state))
		good = add_word(t, word, set, e);
	if (good && !set->count)
		good = refuse(e, "no hosts");
	if (!good) {
		free(set->hosts);
		memset(set, 0, sizeof(*set));
	}
	free(copy);
	return good;
}

bool host_set_remove(struct host_set *set, const struct host *host)
{
	unsigned int i, n = 0;

	for (i = 0; i < set->count; i++)
		if (set->hosts[i] != host)
			set->hosts[n++] = set->hosts[i];
	set->count = n;
	return n;
}
