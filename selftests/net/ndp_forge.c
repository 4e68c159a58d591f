// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sends NDP packets by a raw socket, including packets that no peer may send
 *
 * ndp_forge -s NS/DEV STEP...
 *
 * Runs the STEPs in order, and prints a line for each NDP packet received on DEV meanwhile. A STEP
 * is one of
 *
 *	TYPE[:SPEC[:FIELD=VALUE,...]]	send a packet of TYPE data, control, probe, error or
 *			cookie. SPEC: frame as in frame_parse_spec(), default udp4. FIELDs are
 *			header fields, see the table, and
 *			n=COUNT		send COUNT packets with increasing flow_id
 *			here=BYTES	cut the packet to BYTES of header and payload
 *			lens=ip|none	after a cut, update only IP's length, or no length
 *			flip=BIT	invert a bit after the checksums were computed
 *			sums=wrong	with flip=, do not update the header's checksums
 *			payload=BYTES	payload, default payload_len
 *			Answers copy fields that are not given from the last received packet.
 *	flips:SPEC:wrong|right	send DATA once for each bit of the header, with that bit flipped;
 *			the header's checksums are wrong, or right for the new header
 *	cuts:SPEC:LENS	send DATA cut at each length; LENS: all, or as above
 *	random:SPEC:N[,SEED]	send N packets of random types with random fields, often close to
 *			right answers to the last received packet
 *	wait=MS		wait for MS milliseconds
 *	await		wait until a packet is received
 *	sh=COMMAND	run a shell command
 *
 * Written from the protocol's description, independently of net/ndp/wire.c.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/packet.h"
#include "../sch/frame.h"
#include "ndp_tool.h"

#define PORT 61199
#define HEADER 56U
#define PATIENCE_MS 5000

enum { DATA = 1, CONTROL, PROBE, ERROR, COOKIE, TYPES };

static const char *const type_names[TYPES] = {
	"?", "data", "control", "probe", "error", "cookie"
};

/* Header fields: offset and length in bytes, packet types that have the field, default value */
static const struct field {
	const char *name;
	unsigned int at, len, types;
	uint64_t initial;
} fields[] = {
#define ALL 0x3e
#define OF(type) (1U << (type))
	{ "version", 0, 1, 0, 0 },
	{ "flags", 1, 1, ALL, 0 },
	{ "payload_len", 2, 2, ALL, 0 },
	{ "flow_id", 4, 4, ALL, 1 },
	{ "seq", 8, 4, ALL, 0 },
	{ "path", 12, 1, ALL, 0 },
	{ "try_no", 13, 1, ALL, 0 },
	{ "check", 14, 2, 0, 0 },
	{ "check_rest", 16, 2, 0, 0 },
	{ "from", 18, 2, ALL, 2000 },
	{ "to", 20, 2, ALL, 1000 },
	{ "prio", 22, 1, OF(DATA) | OF(PROBE), 0 },
	{ "dsfield", 22, 1, OF(CONTROL), 0 },
	{ "code", 22, 1, OF(ERROR), 0 },
	{ "reserved", 23, 1, 0, 0 },
	{ "msg_id", 24, 4, OF(DATA) | OF(ERROR), 0 },
	{ "ack_base", 24, 4, OF(CONTROL), 0 },
	{ "base", 28, 4, OF(DATA) | OF(PROBE), 0 },
	{ "pull", 28, 4, OF(CONTROL), 0 },
	{ "pull_target", 32, 4, OF(DATA) | OF(PROBE), 0 },
	{ "sack", 32, 8, OF(CONTROL), 0 },
	{ "offset", 36, 6, OF(DATA), 0 },
	{ "nack", 40, 8, OF(CONTROL), 0 },
	{ "msg_len", 42, 6, OF(DATA), 0 },
	{ "msg_base", 48, 4, OF(DATA) | OF(PROBE), 0 },
	{ "trimmed", 48, 2, OF(CONTROL), 0 },
	{ "window", 50, 2, OF(CONTROL), 0 },
	{ "token", 52, 4, OF(DATA) | OF(PROBE), 0 },
	{ "token", 52, 4, OF(CONTROL) | OF(COOKIE), 1 },
};

#define FIELDS (sizeof(fields) / sizeof(fields[0]))

/* A packet to be sent */
struct forged {
	struct frame_spec spec;
	uint8_t b[HEADER + 2048];
	unsigned int payload;	/* bytes */
	int here;		/* bytes from the header on; -1: all */
	bool ip_len, udp_len;	/* update these lengths after a cut */
	int flip;		/* bit to invert, or -1 */
	bool wrong_sums;
};

static int fd;
static uint8_t last[HEADER];	/* header of the last received packet */
static bool have_last;
static uint64_t seed = 1;

static uint64_t get(const uint8_t *b, const struct field *f)
{
	uint64_t v = 0;
	unsigned int i;

	for (i = 0; i < f->len; i++)
		v = v << 8 | b[f->at + i];
	return v;
}

static void put(uint8_t *b, const struct field *f, uint64_t v)
{
	unsigned int i;

	for (i = f->len; i-- > 0; v >>= 8)
		b[f->at + i] = (uint8_t)v;
}

static const struct field *find_field(const char *name)
{
	unsigned int i;

	for (i = 0; i < FIELDS; i++)
		if (!strcmp(fields[i].name, name))
			return &fields[i];
	return NULL;
}

static uint64_t field(const uint8_t *b, const char *name)
{
	return get(b, find_field(name));
}

static void set(uint8_t *b, const char *name, uint64_t v)
{
	put(b, find_field(name), v);
}

static uint64_t chance(uint64_t n)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % n;
}

/* ---- sending */

static uint16_t checksum(const uint8_t *b, unsigned int len)
{
	uint32_t sum = 0;
	unsigned int i;

	for (i = 0; i < len; i += 2)
		sum += (uint32_t)(b[i] << 8 | b[i + 1]);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

static void put_sums(uint8_t *b)
{
	set(b, "check", checksum(b, 14));
	set(b, "check_rest", checksum(b + 18, HEADER - 18));
}

/* Subtract @cut from the 16-bit length at @b. */
static void shorten(uint8_t *b, unsigned int cut)
{
	unsigned int len = (unsigned int)(b[0] << 8 | b[1]) - cut;

	b[0] = (uint8_t)(len >> 8);
	b[1] = (uint8_t)len;
}

/* Cut the frame as a switch does. Return: its new length */
static unsigned int cut(const struct forged *t, const struct frame *f)
{
	unsigned int len = f->l4 + 8 + (unsigned int)t->here, less, sum;
	uint8_t *ip = f->b + f->l3;

	if (t->here < 0 || len >= f->len)
		return f->len;
	less = f->len - len;
	if (t->ip_len)
		shorten(ip + (f->v6 ? 4 : 2), less);
	if (t->udp_len)
		shorten(f->b + f->l4 + 4, less);
	if (!f->v6) {
		memset(ip + 10, 0, 2);
		sum = checksum(ip, 20);
		ip[10] = (uint8_t)(sum >> 8);
		ip[11] = (uint8_t)sum;
	}
	return len;
}

static void send_forged(struct forged *t)
{
	struct frame_spec s = t->spec;
	uint8_t b[sizeof(t->b)];
	struct frame f;

	memcpy(b, t->b, sizeof(b));
	put_sums(b);
	if (t->flip >= 0) {
		b[t->flip / 8] ^= (uint8_t)(0x80 >> t->flip % 8);
		if (!t->wrong_sums)
			put_sums(b);
	}
	s.len = ETH_HLEN + frame_tag_len(s.vlan) + (s.v6 ? 40 : 20) + 8 + HEADER + t->payload +
		s.pad;
	if (!s.sport)
		s.sport = (uint16_t)(512 + b[12]);
	frame_build(&s, 0, &f);
	frame_set_payload(&s, &f, b, HEADER + t->payload);
	if (write(fd, f.b, cut(t, &f)) < 0)
		err(2, "send");
	free(f.b);
}

static void begin(struct forged *t, unsigned int type, const char *spec)
{
	const char *bad;
	unsigned int i;

	memset(t, 0, sizeof(*t));
	t->here = -1;
	t->flip = -1;
	t->ip_len = true;
	t->udp_len = true;
	bad = frame_parse_spec(spec && *spec ? spec : "udp4", &t->spec);
	if (bad)
		errx(2, "%s: %s", spec, bad);
	for (i = 0; i < FIELDS; i++)
		if (fields[i].types & 1U << type)
			put(t->b, &fields[i], fields[i].initial);
	t->b[0] = (uint8_t)(2 << 4 | type);
	if (type == DATA) {
		set(t->b, "flags", 1);
		set(t->b, "payload_len", 10);
		set(t->b, "msg_len", 10);
	} else if (have_last) {
		memcpy(t->b + 4, last + 4, 10);
		set(t->b, "from", field(last, "to"));
		set(t->b, "to", field(last, "from"));
	}
}

/* Set the lengths to update after a cut; @which is all or a value of lens= */
static void set_lens(struct forged *t, const char *which)
{
	t->ip_len = strcmp(which, "none");
	t->udp_len = !strcmp(which, "all");
}

static void set_field(struct forged *t, char *text, unsigned int *n)
{
	char *value = strchr(text, '=');
	const struct field *f;

	if (!value)
		errx(2, "%s: FIELD=VALUE expected", text);
	*value++ = '\0';
	f = find_field(text);
	if (f)
		put(t->b, f, strtoull(value, NULL, 0));
	else if (!strcmp(text, "n"))
		*n = (unsigned int)atoi(value);
	else if (!strcmp(text, "here"))
		t->here = atoi(value);
	else if (!strcmp(text, "flip"))
		t->flip = atoi(value);
	else if (!strcmp(text, "sums"))
		t->wrong_sums = true;
	else if (!strcmp(text, "lens"))
		set_lens(t, value);
	else if (!strcmp(text, "payload"))
		t->payload = (unsigned int)atoi(value);
	else
		errx(2, "unknown field \"%s\"", text);
}

static void send_type(unsigned int type, const char *spec, char *text)
{
	static struct forged t;
	unsigned int n = 1, i;
	char *word, *save;

	begin(&t, type, spec);
	t.payload = UINT32_MAX;
	for (word = strtok_r(text, ",", &save); word; word = strtok_r(NULL, ",", &save))
		set_field(&t, word, &n);
	if (t.payload == UINT32_MAX)
		t.payload = type == DATA ? (unsigned int)field(t.b, "payload_len") : 0;
	if (t.payload > sizeof(t.b) - HEADER)
		t.payload = sizeof(t.b) - HEADER;
	for (i = 0; i < n; i++) {
		send_forged(&t);
		set(t.b, "flow_id", field(t.b, "flow_id") + 1);
	}
}

static void send_flips(const char *spec, const char *sums)
{
	static struct forged t;
	int bit;

	for (bit = 0; bit < (int)HEADER * 8; bit++) {
		begin(&t, DATA, spec);
		t.payload = 10;
		t.flip = bit;
		t.wrong_sums = !strcmp(sums, "wrong");
		set(t.b, "flow_id", 1000 + (uint64_t)bit);
		send_forged(&t);
	}
}

static void send_cuts(const char *spec, const char *right)
{
	static struct forged t;
	int here;

	for (here = 0; here < (int)HEADER + 10; here++) {
		begin(&t, DATA, spec);
		t.payload = 10;
		t.here = here;
		set_lens(&t, right);
		set(t.b, "flow_id", 2000 + (uint64_t)here);
		send_forged(&t);
	}
}

/* Return: a random value, often close to @v or to a limit of the field */
static uint64_t random_value(const struct field *f, uint64_t v)
{
	uint64_t max = f->len == 8 ? UINT64_MAX : (1ULL << f->len * 8) - 1;

	switch (chance(6)) {
	case 0: return v + chance(5) - 2;
	case 1: return chance(4);
	case 2: return max - chance(3);
	case 3: return (chance(UINT32_MAX) << 32 | chance(UINT32_MAX)) & max;
	default: return v;
	}
}

static void send_random(const char *spec, const char *count)
{
	static struct forged t;
	unsigned int n, i, type;
	unsigned long long first = 1;
	const struct field *f;

	if (sscanf(count, "%u,%llu", &n, &first) < 1)
		errx(2, "bad count %s", count);
	seed = first;
	while (n--) {
		type = 1 + (unsigned int)chance(COOKIE);
		begin(&t, type, spec);
		for (i = 0, f = fields; i < FIELDS; i++, f++)
			if (f->types & 1U << type && !chance(3))
				put(t.b, f, random_value(f, get(t.b, f)));
		t.payload = type == DATA ? (unsigned int)chance(100) : 0;
		if (type == DATA && chance(2))
			set(t.b, "payload_len", t.payload);
		if (!chance(8))
			t.here = (int)chance(HEADER + t.payload + 1);
		send_forged(&t);
	}
}

/* ---- receiving */

/* Return: the offset of the NDP header in a frame, or 0 */
static unsigned int find_ndp(const uint8_t *b, unsigned int len)
{
	unsigned int type = (unsigned int)(b[12] << 8 | b[13]), l4 = 0;

	if (type == ETH_P_IP && len >= 42 && b[23] == IPPROTO_UDP)
		l4 = ETH_HLEN + (b[14] & 15) * 4U;
	else if (type == ETH_P_IPV6 && len >= 62 && b[20] == IPPROTO_UDP)
		l4 = ETH_HLEN + 40;
	if (!l4 || len < l4 + 8 + HEADER || (b[l4 + 2] << 8 | b[l4 + 3]) != PORT)
		return 0;
	return l4 + 8;
}

/* Receive a frame; print it if it is an NDP packet. Return: true if so */
static bool take_frame(void)
{
	static uint8_t b[FRAME_MAX];
	ssize_t n = recv(fd, b, sizeof(b), MSG_DONTWAIT);
	unsigned int at, i, type;

	at = n < ETH_HLEN ? 0 : find_ndp(b, (unsigned int)n);
	if (!at)
		return false;
	memcpy(last, b + at, HEADER);
	have_last = true;
	type = last[0] & 15;
	printf("%s", type < TYPES ? type_names[type] : "?");
	for (i = 0; i < FIELDS && type < TYPES; i++) {
		uint64_t v = fields[i].types & 1U << type ? get(last, &fields[i]) : 0;

		if (v)
			printf(" %s=%llu", fields[i].name, (unsigned long long)v);
	}
	put_sums(last);
	printf("%s\n", memcmp(last, b + at, HEADER) ? " wrong" : "");
	return true;
}

static void step(char *text)
{
	char *save, *name, *spec, *rest, none[] = "";
	unsigned int type;

	if (!strncmp(text, "sh=", 3)) {
		if (system(text + 3))
			errx(2, "%s failed", text + 3);
		return;
	}
	if (!strncmp(text, "wait=", 5)) {
		packet_wait(fd, atoi(text + 5), UINT32_MAX, take_frame);
		return;
	}
	if (!strcmp(text, "await")) {
		if (!packet_wait(fd, PATIENCE_MS, 1, take_frame))
			errx(1, "no packet received");
		return;
	}
	name = strtok_r(text, ":", &save);
	spec = strtok_r(NULL, ":", &save);
	rest = strtok_r(NULL, "", &save);
	for (type = DATA; type < TYPES; type++)
		if (!strcmp(name, type_names[type]))
			return send_type(type, spec, rest ? rest : none);
	if (!rest)
		errx(2, "unknown step \"%s\"", name);
	if (!strcmp(name, "flips"))
		send_flips(spec, rest);
	else if (!strcmp(name, "cuts"))
		send_cuts(spec, rest);
	else if (!strcmp(name, "random"))
		send_random(spec, rest);
}

int main(int argc, char *argv[])
{
	int i;

	if (argc < 3 || strcmp(argv[1], "-s"))
		errx(2, "usage: ndp_forge -s NS/DEV STEP...");
	fd = packet_socket(argv[2], ETH_P_ALL);
	packet_option(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1);
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 3; i < argc; i++)
		step(argv[i]);
	return 0;
}
