// SPDX-License-Identifier: GPL-2.0-only
#include "pattern.h"

#include <errno.h>
#include <linux/ndp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "sockets.h"
#include "udp.h"

/* Bits of the patterns that accept a key */
enum { BULK = 1, RPC = 2, INCAST = 4, PERMUTATION = 8, POISSON = 16, BLAST = 32, CLOSED = 64 };

#define RANDOM (POISSON | CLOSED)
#define STREAMS (BULK | RPC | INCAST | PERMUTATION | RANDOM)
#define ALL (STREAMS | BLAST)
#define FLOWS_MAX 1000000
#define FIRST_PORT 20000

enum type {
	NUMBER, BYTES, DURATION, RATE, FRACTION, TEXT, HOSTS, CDF_FILE, TRANSPORT, VERB, CONNECT
};

struct word {
	const char *key;
	unsigned int kinds;
	unsigned int needed;	/* patterns that require it */
	enum type type;
	size_t offset;
	uint64_t min;
	uint64_t max;
	const char *help;
};

#define FIELD(f) offsetof(struct settings, f)

static const struct word words[] = {
	{ "name", ALL, 0, TEXT, FIELD(name), 1, 31,
	  "name in the output; default: the pattern's" },
	{ "src", ALL, ALL & ~(PERMUTATION | RANDOM), HOSTS, FIELD(src), 0, 0,
	  "hosts that send, incast: dst is left out, permutation: hosts that send\n"
	  "and receive; poisson, closed, permutation: default all" },
	{ "dst", ALL & ~PERMUTATION, ALL & ~(PERMUTATION | RANDOM), HOSTS, FIELD(dst), 0, 0,
	  "hosts that receive, incast: one host; poisson, closed: default all" },
	{ "flows", BULK | BLAST, 0, NUMBER, FIELD(flows), 1, FLOWS_MAX,
	  "flow I goes from the I-th of src to the I-th of dst, cyclically;\n"
	  "default: length of the longer list" },
	{ "bytes", BULK | INCAST | PERMUTATION, INCAST, BYTES, FIELD(bytes), 1, 1ULL << 50,
	  "size of each flow; default: it sends until --time" },
	{ "rounds", INCAST, 0, NUMBER, FIELD(rounds), 1, FLOWS_MAX,
	  "a round starts when the previous one has ended; default 1" },
	{ "request", RPC, RPC, BYTES, FIELD(request), 1, 1ULL << 50, "bytes of a request" },
	{ "response", RPC, RPC, BYTES, FIELD(response), 1, 1ULL << 50, "bytes of its response" },
	{ "count", RPC, 0, NUMBER, FIELD(count), 1, FLOWS_MAX,
	  "requests of each connection, one after the other; default: until --time" },
	{ "concurrency", RPC | RANDOM, 0, NUMBER, FIELD(concurrency), 1, 10000,
	  "connections of each pair of hosts before time 0, closed: flows of each host\n"
	  "of src; default 1" },
	{ "load", POISSON, POISSON, FRACTION, FIELD(load), 0, 0,
	  "data that each host of src sends, as a share of its link's rate: 0.6" },
	{ "cdf", RANDOM, RANDOM, CDF_FILE, FIELD(cdf), 0, 0,
	  "file with the distribution of sizes" },
	{ "size", BLAST, 0, BYTES, FIELD(size), UDP_SIZE_MIN, UDP_SIZE_MAX,
	  "bytes of data of a datagram; default 1472" },
	{ "rate", BLAST, 0, RATE, FIELD(rate_bps), 1, 1ULL << 50,
	  "data rate of each flow, as 2.5gbit; default: as the NIC takes them" },
	{ "start", ALL, 0, DURATION, FIELD(start_ns), 0, 1ULL << 60,
	  "start of the first flow; default 0" },
	{ "stagger", ALL & ~POISSON, 0, DURATION, FIELD(stagger_ns), 0, 1ULL << 60,
	  "interval between the starts of two flows; default 1us, incast 1ns" },
	{ "jitter", ALL & ~POISSON, 0, DURATION, FIELD(jitter_ns), 0, 1ULL << 60,
	  "each flow starts later by up to this, at random; default 0" },
	{ "transport", STREAMS, 0, TRANSPORT, FIELD(transport), 0, 0,
	  "tcp; ndp: each flow is a message, and so is its response; without bytes=,\n"
	  "messages of 1 MB; gbn, sr: packets of RoCEv2, paced, with go-back-N or\n"
	  "selective repeat; roce, iwarp: RDMA by the hosts' rxe or siw; default tcp" },
	{ "verb", STREAMS, 0, VERB, FIELD(verb), 0, 0,
	  "roce: operation that carries a message: imm (WRITE with immediate data),\n"
	  "send, write, nccl (WRITE, then an empty imm), write_only (a WRITE for each\n"
	  "packet, the last one imm); default imm" },
	{ "message", STREAMS, 0, BYTES, FIELD(message), 1, MESSAGE_MAX,
	  "RDMA: bytes of a message; default 1M" },
	{ "ack_timeout", STREAMS, 0, NUMBER, FIELD(ack_timeout), 1, 31,
	  "RDMA, gbn, sr: retransmission timeout, 4.096 us * 2^N; default 14, gbn, sr: 7" },
	{ "window", STREAMS, 0, NUMBER, FIELD(window), 1, NIC_WINDOW_MAX,
	  "gbn, sr: packets without acknowledgment; default 64" },
	{ "region", STREAMS, 0, BYTES, FIELD(region), 1, NDP_REGION_MAX,
	  "ndp: size of each receiver's region, a multiple of 4096; messages that\n"
	  "find no space there fail; default: no region" },
	{ "cc", STREAMS, 0, TEXT, FIELD(cc), 1, 15, "TCP's congestion control, on both sides" },
	{ "connect", BULK | INCAST | PERMUTATION | POISSON, 0, CONNECT, FIELD(connect_before), 0, 0,
	  "flow: a flow's time begins with connect(); before: connections are\n"
	  "opened before time 0 and kept, poisson: as a pool for each pair of hosts;\n"
	  "default flow, rpc: always before" },
	{ "nodelay", STREAMS, 0, NUMBER, FIELD(nodelay), 0, 1, "TCP_NODELAY; default 1" },
	{ "sndbuf", ALL, 0, BYTES, FIELD(sndbuf), 1, 1 << 30,
	  "SO_SNDBUF; default: the system's" },
	{ "port", ALL, 0, NUMBER, FIELD(port), 1, 65535,
	  "port of the receivers; default 20000, 20001 for the second pattern, ...;\n"
	  "gbn, sr: 4791" },
	{ "tos", ALL, 0, NUMBER, FIELD(tos), 0, 255,
	  "TOS or traffic class, as 0x28; TCP controls the ECN bits" },
	{ "bands", STREAMS & ~RPC, 0, NUMBER, FIELD(bands), 2, 8,
	  "TCP: levels of IP precedence by the length of a flow: N - 1 up to 8 KiB,\n"
	  "and one less for each 8 times of that; ACKs have N - 1; conflicts with tos" },
	{ "prio", STREAMS, 0, NUMBER, FIELD(prio), 0, 7,
	  "SO_PRIORITY; ndp transmits it, and 7 is pulled first; default 0" },
};

static unsigned int kind_bit(const struct pattern_kind *kind)
{
	unsigned int i;

	for (i = 0; pattern_kinds[i] != kind; i++)
		;
	return 1U << i;
}

static bool parse_hosts(const struct word *w, const char *value, struct host_set *set,
			struct error *e)
{
	struct error why;

	if (!host_set_parse(&run.topology, value, set, &why))
		return refuse(e, "%s=%.100s: %.100s", w->key, value, why.text);
	return true;
}

static bool parse_cdf(const struct word *w, const char *value, struct cdf *cdf, struct error *e)
{
	FILE *in = fopen(value, "r");
	bool good;

	if (!in)
		return refuse(e, "%s=%.200s: %s", w->key, value, strerror(errno));
	good = cdf_read(in, value, cdf, e);
	fclose(in);
	return good;
}

static bool parse_integer(const struct word *w, const char *value, uint64_t *n)
{
	switch (w->type) {
	case NUMBER:
		return parse_number(value, w->min, w->max, n);
	case BYTES:
		return parse_bytes(value, n) && *n >= w->min && *n <= w->max;
	case RATE:
		return parse_rate(value, n) && *n >= w->min && *n <= w->max;
	default:
		return false;
	}
}

static bool parse_text(const struct word *w, const char *value, const char **text)
{
	*text = value;
	return strlen(value) >= w->min && strlen(value) <= w->max && !strpbrk(value, ",\"\\\n");
}

static bool parse_transport(const char *value, const struct transport **transport)
{
	static const struct transport *const all[] = {
		&tcp_transport, &ndp_transport, &gbn_transport, &sr_transport,
		&roce_transport, &iwarp_transport,
	};
	size_t i;

	for (i = 0; i < ARRAY_COUNT(all); i++)
		if (!strcmp(value, all[i]->name))
			*transport = all[i];
	return *transport;
}

static bool parse_verb(const char *value, enum verb *verb)
{
	static const char *const names[] = {
		[VERB_IMM] = "imm",
		[VERB_SEND] = "send",
		[VERB_WRITE] = "write",
		[VERB_NCCL] = "nccl",
		[VERB_WRITE_ONLY] = "write_only",
	};

	for (*verb = 0; *verb < ARRAY_COUNT(names); (*verb)++)
		if (!strcmp(value, names[*verb]))
			return true;
	return false;
}

static bool parse_connect(const char *value, bool *before)
{
	*before = !strcmp(value, "before");
	return *before || !strcmp(value, "flow");
}

static bool parse_value(const struct word *w, const char *value, void *field, struct error *e)
{
	bool good;

	switch (w->type) {
	case HOSTS:
		return parse_hosts(w, value, field, e);
	case CDF_FILE:
		return parse_cdf(w, value, field, e);
	case TEXT:
		good = parse_text(w, value, field);
		break;
	case DURATION:
		good = parse_duration(value, field);
		break;
	case FRACTION:
		good = parse_fraction(value, field);
		break;
	case TRANSPORT:
		good = parse_transport(value, field);
		break;
	case VERB:
		good = parse_verb(value, field);
		break;
	case CONNECT:
		good = parse_connect(value, field);
		break;
	default:
		good = parse_integer(w, value, field);
	}
	return good || refuse(e, "bad value for key \"%s\": \"%.200s\"", w->key, value);
}

static const struct word *find_word(unsigned int kind, const char *key, size_t len)
{
	size_t i;

	for (i = 0; i < ARRAY_COUNT(words); i++)
		if (words[i].kinds & kind && strlen(words[i].key) == len &&
		    !memcmp(words[i].key, key, len))
			return &words[i];
	return NULL;
}

/* @seen: a bit for each key parsed so far */
static bool parse_word(struct pattern *p, char *text, uint64_t *seen, struct error *e)
{
	char *equals = strchr(text, '=');
	const struct word *w = NULL;

	if (equals)
		w = find_word(kind_bit(p->kind), text, (size_t)(equals - text));
	if (!w)
		return refuse(e, "%s: unknown key \"%.200s\"", p->kind->name, text);
	if (*seen & 1ULL << (w - words))
		return refuse(e, "%s: duplicate key \"%s\"", p->kind->name, w->key);
	*seen |= 1ULL << (w - words);
	return parse_value(w, equals + 1, (char *)&p->set + w->offset, e);
}

static bool has_needed_words(const struct pattern *p, uint64_t seen, struct error *e)
{
	size_t i;

	for (i = 0; i < ARRAY_COUNT(words); i++)
		if (words[i].needed & kind_bit(p->kind) && !(seen & 1ULL << i))
			return refuse(e, "%s: missing key \"%s\"", p->kind->name, words[i].key);
	return true;
}

/* gbn and sr have no responses */
static bool models_nic(const struct pattern *p)
{
	return p->transport == &gbn_transport || p->transport == &sr_transport;
}

/* Refuse keys of other transports. */
static bool right_transport(const struct pattern *p, uint64_t seen, struct error *e)
{
	static const struct {
		const char *key;
		const struct transport *of[4];	/* the rest is NULL */
	} keys[] = {
		{ "cc", { &tcp_transport } },
		{ "bands", { &tcp_transport } },
		{ "nodelay", { &tcp_transport } },
		{ "sndbuf", { &tcp_transport, &ndp_transport } },
		{ "prio", { &tcp_transport, &ndp_transport, &gbn_transport, &sr_transport } },
		{ "region", { &ndp_transport } },
		{ "verb", { &roce_transport } },
		{ "message", { &roce_transport, &iwarp_transport } },
		{ "ack_timeout",
		  { &roce_transport, &iwarp_transport, &gbn_transport, &sr_transport } },
		{ "window", { &gbn_transport, &sr_transport } },
	};
	const struct word *w;
	size_t i, j;

	for (i = 0; i < ARRAY_COUNT(keys) && p->transport != &udp_transport; i++) {
		w = find_word(kind_bit(p->kind), keys[i].key, strlen(keys[i].key));
		for (j = 0; j < ARRAY_COUNT(keys[i].of) && p->transport != keys[i].of[j]; j++)
			;
		if (w && seen & 1ULL << (w - words) && j == ARRAY_COUNT(keys[i].of))
			return refuse(e, "key \"%s\" conflicts with transport=%s", w->key,
				    p->transport->name);
	}
	if (p->set.bands && p->set.tos)
		return refuse(e, "keys \"bands\" and \"tos\" conflict");
	if (models_nic(p) && kind_bit(p->kind) == RPC)
		return refuse(e, "rpc conflicts with transport=%s", p->transport->name);
	return true;
}

static void set_defaults(struct pattern *p)
{
	p->set = (struct settings){
		.name = p->kind->name,
		.concurrency = 1,
		.rounds = 1,
		.size = 1472,
		.nodelay = 1,
		.message = 1000000,
		.window = 64,
		.stagger_ns = kind_bit(p->kind) == INCAST ? 1 : 1000,
		.connect_before = kind_bit(p->kind) == RPC,
	};
}

/* Optional lists of hosts default to all hosts. */
static void default_hosts(struct pattern *p)
{
	struct error e;

	if (!p->set.src.count)
		host_set_parse(&run.topology, "all", &p->set.src, &e);
	if (!p->set.dst.count && kind_bit(p->kind) != PERMUTATION)
		host_set_parse(&run.topology, "all", &p->set.dst, &e);
}

static bool same_family(const struct pattern *p, struct error *e)
{
	const struct host_set *sets[] = { &p->set.src, &p->set.dst };
	const struct host *first = p->set.src.hosts[0];
	unsigned int i, j;

	for (i = 0; i < 2; i++)
		for (j = 0; j < sets[i]->count; j++)
			if (sets[i]->hosts[j]->address.sa.sa_family != first->address.sa.sa_family)
				return refuse(e, "hosts %s and %s mix IPv4 and IPv6",
					    first->name, sets[i]->hosts[j]->name);
	return true;
}

static const struct pattern_kind *find_kind(const char *name)
{
	unsigned int i;

	for (i = 0; pattern_kinds[i]; i++)
		if (!strcmp(pattern_kinds[i]->name, name))
			return pattern_kinds[i];
	return NULL;
}

bool pattern_parse(struct pattern *p, char **text, int count, struct error *e)
{
	uint64_t seen = 0;
	int i;

	p->kind = count ? find_kind(text[0]) : NULL;
	if (!p->kind)
		return count ? refuse(e, "unknown pattern \"%.200s\"", text[0]) :
			       refuse(e, "missing pattern");
	rng_seed(&p->rng, run.seed, p->index);
	set_defaults(p);
	for (i = 1; i < count; i++)
		if (!parse_word(p, text[i], &seen, e))
			return false;
	p->transport = p->set.transport ? p->set.transport : p->kind->transport;
	if (!has_needed_words(p, seen, e) || !right_transport(p, seen, e))
		return false;
	if (!p->set.port)
		p->set.port = models_nic(p) ? ROCE_PORT : FIRST_PORT + p->index;
	if (p->set.message > run.message_max)
		run.message_max = p->set.message;
	default_hosts(p);
	return same_family(p, e) && p->kind->check(p, e);
}

void pattern_help(void)
{
	const char *line;
	size_t i, k;

	for (i = 0; i < ARRAY_COUNT(words); i++) {
		printf("  %-12s", words[i].key);
		for (line = words[i].help; *line; line++)
			printf(*line == '\n' ? "%c%14s" : "%c", *line, "");
		printf("\n%14s(", "");
		for (k = 0; pattern_kinds[k]; k++)
			if (words[i].kinds & 1U << k)
				printf(" %s%s", pattern_kinds[k]->name,
				       words[i].needed & 1U << k ? "*" : "");
		printf(" )\n");
	}
}

static bool listens(const struct pattern *p, const struct host *host)
{
	/* permutation: src receives */
	const struct host_set *set = p->set.dst.count ? &p->set.dst : &p->set.src;
	unsigned int i;

	for (i = 0; i < set->count; i++)
		if (set->hosts[i] == host)
			return true;
	return false;
}

void pattern_listen(struct pattern *p)
{
	unsigned int i;

	p->listeners = zalloc(run.topology.count, sizeof(*p->listeners));
	for (i = 0; i < run.topology.count; i++) {
		if (!listens(p, &run.topology.hosts[i]))
			continue;
		p->listeners[i].pattern = p;
		p->listeners[i].host = &run.topology.hosts[i];
		enter_host(p->listeners[i].host);
		p->transport->listen(&p->listeners[i]);
	}
}

void pattern_catch_up(struct pattern *p)
{
	unsigned int i;

	for (i = 0; p->transport->catch_up && i < run.topology.count; i++)
		if (p->listeners[i].pattern)
			p->transport->catch_up(&p->listeners[i]);
}
