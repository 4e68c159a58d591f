// SPDX-License-Identifier: GPL-2.0-only
/* frame: build frames, and derive the frames that a qdisc may make from them */
#include <err.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"

#define ETH_HLEN 14
#define PROTO_FRAGMENT 44
#define PROTO_DSTOPTS 60
#define PROTO_HOPOPTS 0

static const uint8_t mac_src[] = { 2, 0, 0, 0, 0, 0x0a };
static const uint8_t mac_dst[] = { 2, 0, 0, 0, 0, 0x0b };

static void put16(uint8_t *b, unsigned int v)
{
	b[0] = (uint8_t)(v >> 8);
	b[1] = (uint8_t)v;
}

static unsigned int get16(const uint8_t *b)
{
	return (unsigned int)(b[0] << 8 | b[1]);
}

static uint32_t sum16(const uint8_t *b, unsigned int len, uint32_t sum)
{
	unsigned int i;

	for (i = 0; i + 1 < len; i += 2)
		sum += get16(b + i);
	if (len & 1)
		sum += (uint32_t)b[len - 1] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static uint32_t pseudo_sum(const struct frame *f)
{
	const uint8_t *ip = f->b + f->l3;
	uint32_t sum = f->proto + f->end - f->l4;

	return f->v6 ? sum16(ip + 8, 32, sum) : sum16(ip + 12, 8, sum);
}

/* Content of the checksum field if the device completes the checksum */
uint16_t frame_pseudo_sum(const struct frame *f)
{
	return (uint16_t)sum16(NULL, 0, pseudo_sum(f));
}

static void fix_ip_csum(struct frame *f)
{
	uint8_t *ip = f->b + f->l3;

	if (f->v6 || !f->proto)
		return;
	put16(ip + 10, 0);
	put16(ip + 10, ~sum16(ip, (ip[0] & 0x0f) * 4U, 0));
}

static void fix_l4_csum(struct frame *f)
{
	uint32_t sum;

	put16(f->b + f->check, 0);
	sum = (uint16_t)~sum16(f->b + f->l4, f->end - f->l4, pseudo_sum(f));
	if (!sum && f->proto == IPPROTO_UDP)
		sum = 0xffff;
	put16(f->b + f->check, sum);
}

static void fix_lengths(struct frame *f)
{
	uint8_t *ip = f->b + f->l3;

	if (f->v6)
		put16(ip + 4, f->end - f->l3 - 40);
	else
		put16(ip + 2, f->end - f->l3);
	if (f->proto == IPPROTO_UDP)
		put16(f->b + f->l4 + 4, f->end - f->l4);
}

static void set_tos(struct frame *f, unsigned int tos)
{
	uint8_t *ip = f->b + f->l3;

	if (f->v6) {
		ip[0] = (uint8_t)((ip[0] & 0xf0) | tos >> 4);
		ip[1] = (uint8_t)((ip[1] & 0x0f) | tos << 4);
	} else {
		ip[1] = (uint8_t)tos;
	}
	fix_ip_csum(f);
}

static unsigned int get_tos(const struct frame *f)
{
	const uint8_t *ip = f->b + f->l3;

	return f->v6 ? (get16(ip) >> 4) & 0xff : ip[1];
}

/* -1: not IP */
int frame_dscp(const struct frame *f)
{
	return f->proto ? (int)(get_tos(f) >> 2) : -1;
}

static void fill_random(uint8_t *b, unsigned int len, uint32_t seed)
{
	uint32_t x = seed * 2654435761U + 12345;
	unsigned int i;

	for (i = 0; i < len; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		b[i] = (uint8_t)(x >> 11);
	}
}

unsigned int frame_tag_len(enum frame_vlan vlan)
{
	return vlan == VLAN_NONE ? 0 : vlan == VLAN_QINQ ? 8 : 4;
}

static unsigned int tci(const struct frame_spec *s, unsigned int pcp, unsigned int vid)
{
	return (s->pcp < 0 ? pcp : (unsigned int)s->pcp) << 13 | vid;
}

/* Write the Ethernet header and tags. Return: length of both */
static unsigned int build_l2(const struct frame_spec *s, uint8_t *b)
{
	unsigned int off = 12;

	memcpy(b, mac_dst, 6);
	memcpy(b + 6, mac_src, 6);
	if (s->mcast && s->v6)
		memcpy(b, "\x33\x33\0\0\0\1", 6);
	else if (s->mcast)
		memcpy(b, "\x01\0\x5e\1\1\1", 6);
	if (s->vlan == VLAN_QINQ) {
		put16(b + off, 0x88a8);
		put16(b + off + 2, tci(s, 1, 100));
		off += 4;
	}
	if (s->vlan != VLAN_NONE) {
		put16(b + off, 0x8100);
		put16(b + off + 2, s->vlan == VLAN_QINQ ? 0x6005 :
		      tci(s, s->vlan == VLAN_OFFLOADED ? 0 : 3, 5));
		off += 4;
	}
	put16(b + off, !s->proto ? 0x88b5 : s->v6 ? 0x86dd : 0x0800);
	return off + 2;
}

static void build_ipv4(const struct frame_spec *s, unsigned int id, struct frame *f)
{
	uint8_t *ip = f->b + f->l3;

	f->l4 = f->l3 + 20 + s->opt;
	if (s->flow)
		put16(ip + 4, id);
	ip[0] = (uint8_t)(0x45 + s->opt / 4);
	put16(ip + 6, s->frag ? 0x2000 : 0x4000);
	ip[8] = s->ttl ? (uint8_t)s->ttl : ip[8] | 2;
	ip[9] = f->proto;
	memcpy(ip + 12, "\xcb\0\x71\1", 4);
	memcpy(ip + 16, s->mcast ? "\xe0\1\1\1" : "\xcb\0\x71\2", 4);
	memset(ip + 20, 1, s->opt); /* no operation */
}

/* Write an extension header of 8 bytes with padding only. */
static uint8_t *build_ext(uint8_t *ext, uint8_t next)
{
	memcpy(ext, "\0\0\1\4\0\0\0\0", 8);
	ext[0] = next;
	return ext + 8;
}

static void build_ipv6(const struct frame_spec *s, struct frame *f)
{
	uint8_t *ip = f->b + f->l3, *ext = ip + 40;
	unsigned int i;

	f->l4 = f->l3 + 40 + s->opt + (s->frag ? 8 : 0);
	ip[0] = 0x60;
	ip[6] = s->opt ? PROTO_HOPOPTS : s->frag ? PROTO_FRAGMENT : f->proto;
	ip[7] = s->ttl ? (uint8_t)s->ttl : ip[7] | 2;
	memcpy(ip + 8, "\x20\1\xd\xb8\0\0\0\0\0\0\0\0\0\0\0\1", 16);
	memcpy(ip + 24, "\x20\1\xd\xb8\0\0\0\0\0\0\0\0\0\0\0\2", 16);
	if (s->mcast)
		memcpy(ip + 24, "\xff\2\0\0\0\0\0\0\0\0\0\0\0\0\0\1", 16);
	for (i = 8; i <= s->opt; i += 8)
		ext = build_ext(ext, i < s->opt ? PROTO_DSTOPTS :
				s->frag ? PROTO_FRAGMENT : f->proto);
	if (s->frag) {
		memcpy(ext, "\0\0\0\1\0\0\0\1", 8); /* offset 0, more fragments */
		ext[0] = f->proto;
	}
}

/* TCP: make the segment follow the one of the previous frame in sequence. */
static void build_stream(unsigned int id, struct frame *f)
{
	unsigned int seq = id * (f->end - f->l4 - 20);
	uint8_t *l4 = f->b + f->l4;

	put16(l4 + 4, seq >> 16);
	put16(l4 + 6, seq & 0xffff);
	l4[13] = 0x10; /* ACK */
}

static void build_l4(const struct frame_spec *s, unsigned int id, struct frame *f)
{
	uint8_t *l4 = f->b + f->l4;

	put16(l4, s->sport ? s->sport : 10000 + id);
	put16(l4 + 2, s->port);
	if (f->proto == IPPROTO_TCP) {
		l4[12] = 0x50;
		l4[13] = 0x18; /* PSH, ACK */
		if (s->flow)
			build_stream(id, f);
	}
	f->check = f->l4 + (f->proto == IPPROTO_UDP ? 6 : 16);
}

static void finish_csum(const struct frame_spec *s, struct frame *f)
{
	fix_l4_csum(f);
	if (s->csum == CSUM_NONE)
		put16(f->b + f->check, 0);
	else if (s->csum == CSUM_WRONG)
		put16(f->b + f->check, get16(f->b + f->check) ^ 0x1111);
}

/* Build frame number @id of a spec. Unspecified bytes are pseudo-random. */
void frame_build(const struct frame_spec *s, unsigned int id, struct frame *f)
{
	unsigned int ecn = s->ecn < 0 ? id & 3 : (unsigned int)s->ecn, min;

	memset(f, 0, sizeof(*f));
	f->b = malloc(FRAME_MAX);
	if (!f->b)
		err(2, "malloc");
	f->len = s->len;
	fill_random(f->b, s->len, id);
	if (s->flow)
		fill_random(f->b, s->len < 84 ? s->len : 84, 0);
	f->l3 = build_l2(s, f->b);
	f->v6 = s->v6;
	f->proto = s->proto;
	if (!f->proto)
		return;
	f->end = f->len - s->pad;
	if (f->v6)
		build_ipv6(s, f);
	else
		build_ipv4(s, id, f);
	min = frame_header_len(f);
	if (f->end < min)
		errx(2, "a frame of %u bytes has no room for %u bytes of headers", f->end, min);
	build_l4(s, id, f);
	fix_lengths(f);
	if (s->tot >= 0)
		put16(f->b + f->l3 + 2, (unsigned int)s->tot);
	set_tos(f, (unsigned int)s->dscp << 2 | ecn);
	finish_csum(s, f);
}

/* Write the first @len bytes of a UDP payload, which must be at least as long. */
void frame_set_payload(const struct frame_spec *s, struct frame *f, const void *b,
		       unsigned int len)
{
	memcpy(f->b + frame_header_len(f), b, len);
	finish_csum(s, f);
}

/* Length of the headers, from Ethernet to UDP or TCP */
unsigned int frame_header_len(const struct frame *f)
{
	return f->l4 + (f->proto == IPPROTO_TCP ? 20 : 8);
}

unsigned int frame_segments(const struct frame *f, unsigned int gso)
{
	unsigned int payload = f->end - frame_header_len(f);

	return gso ? (payload + gso - 1) / gso : 1;
}

/*
 * Set the checksum of a trimmed frame @t, whose lengths are correct. For
 * TRIM_PARTIAL_CSUM it covers the remaining bytes, but the pseudo header has the
 * length of the full frame @f.
 */
static void trim_csum(const struct frame *f, enum trim_csum csum, struct frame *t)
{
	uint32_t sum;

	if (csum == TRIM_NO_CSUM && t->proto == IPPROTO_UDP)
		put16(t->b + t->check, 0);
	if (csum != TRIM_PARTIAL_CSUM || t->check + 2 > t->len)
		return;
	put16(t->b + t->check, 0);
	sum = (uint16_t)~sum16(t->b + t->l4, t->end - t->l4, pseudo_sum(f));
	put16(t->b + t->check, sum ? sum : 0xffff);
}

static void copy_frame(const struct frame *f, struct frame *t)
{
	*t = *f;
	t->b = malloc(f->len);
	if (!t->b)
		err(2, "malloc");
	memcpy(t->b, f->b, f->len);
}

static void add_seq(uint8_t *seq, uint32_t n)
{
	n += (uint32_t)get16(seq) << 16 | get16(seq + 2);
	put16(seq, n >> 16);
	put16(seq + 2, n & 0xffff);
}

/* Build segment @i of a GSO frame, as a device with TSO or USO sends it. */
void frame_segment(const struct frame *f, unsigned int gso, unsigned int i,
		   struct frame *seg)
{
	unsigned int hlen = frame_header_len(f), from = hlen + i * gso;
	bool last = from + gso >= f->end;

	copy_frame(f, seg);
	seg->len = last ? hlen + f->end - from : hlen + gso;
	seg->end = seg->len;
	memcpy(seg->b + hlen, f->b + from, seg->len - hlen);
	fix_lengths(seg);
	if (!f->v6)
		put16(seg->b + seg->l3 + 4, get16(f->b + f->l3 + 4) + i);
	if (f->proto == IPPROTO_TCP) {
		add_seq(seg->b + seg->l4 + 4, i * gso);
		if (!last)
			seg->b[seg->l4 + 13] &= (uint8_t)~0x09; /* PSH, FIN */
	}
	fix_ip_csum(seg);
	fix_l4_csum(seg);
}

/* Build the frame trimmed to @size bytes, but at least 8 bytes after the IP header. */
void frame_trim(const struct frame *f, unsigned int size, int dscp, enum trim_csum csum,
		struct frame *t)
{
	uint8_t *ip, *l4;

	copy_frame(f, t);
	if (!f->proto)
		return;
	if (size < f->l4 + 8)
		size = f->l4 + 8;
	if (size < t->len)
		t->len = size;
	ip = t->b + t->l3;
	l4 = t->b + t->l4;
	if (t->end > t->len) {
		t->end = t->len;
		put16(ip + (t->v6 ? 4 : 2), t->end - t->l3 - (t->v6 ? 40 : 0));
		if (t->proto == IPPROTO_UDP)
			put16(l4 + 4, t->end - t->l4);
		trim_csum(f, csum, t);
	}
	set_tos(t, (unsigned int)dscp << 2 | (get_tos(t) & 3));
}

static void swap(uint8_t *b, unsigned int x, unsigned int y, unsigned int n)
{
	uint8_t tmp[16];

	memcpy(tmp, b + x, n);
	memcpy(b + x, b + y, n);
	memcpy(b + y, tmp, n);
}

/* Build the frame returned to its sender, with a TTL or hop limit lower by 1. */
void frame_turn(const struct frame *f, int dscp, struct frame *t)
{
	copy_frame(f, t);
	swap(t->b, 0, 6, 6);
	if (!t->proto)
		return;
	if (t->v6)
		swap(t->b, t->l3 + 8, t->l3 + 24, 16);
	else
		swap(t->b, t->l3 + 12, t->l3 + 16, 4);
	swap(t->b, t->l4, t->l4 + 2, 2);
	t->b[t->l3 + (t->v6 ? 7 : 8)]--;
	set_tos(t, (unsigned int)dscp << 2 | (get_tos(t) & 3));
}

/* Build the frame with a CE mark. */
void frame_mark_ce(const struct frame *f, struct frame *t)
{
	copy_frame(f, t);
	if (f->proto)
		set_tos(t, get_tos(t) | 3);
}

/* ---- parsing */

static const struct {
	const char *name;
	bool v6;
	uint8_t proto;
} kinds[] = {
	{ "udp4", false, IPPROTO_UDP },
	{ "udp6", true, IPPROTO_UDP },
	{ "tcp4", false, IPPROTO_TCP },
	{ "tcp6", true, IPPROTO_TCP },
	{ "raw", false, 0 },
};

static int word(const char *value, const char *const *words)
{
	int i;

	for (i = 0; words[i]; i++)
		if (!strcmp(value, words[i]))
			return i;
	return -1;
}

static bool parse_key(const char *key, const char *value, struct frame_spec *s)
{
	static const char *const vlans[] = { "none", "in", "qinq", "off", NULL };
	static const char *const csums[] = { "full", "partial", "none", "wrong", NULL };
	int n = atoi(value);

	if (!strcmp(key, "vlan"))
		return (int)(s->vlan = (enum frame_vlan)word(value, vlans)) >= 0;
	if (!strcmp(key, "csum"))
		return (int)(s->csum = (enum frame_csum)word(value, csums)) >= 0;
	if (!strcmp(key, "dscp"))
		s->dscp = n;
	else if (!strcmp(key, "ecn"))
		s->ecn = n;
	else if (!strcmp(key, "len"))
		s->len = (unsigned int)n;
	else if (!strcmp(key, "n"))
		s->count = (unsigned int)n;
	else if (!strcmp(key, "prio"))
		s->prio = n;
	else if (!strcmp(key, "pcp"))
		s->pcp = n;
	else if (!strcmp(key, "port"))
		s->port = (uint16_t)n;
	else if (!strcmp(key, "sport"))
		s->sport = (uint16_t)n;
	else if (!strcmp(key, "opt"))
		s->opt = (unsigned int)n;
	else if (!strcmp(key, "pad"))
		s->pad = (unsigned int)n;
	else if (!strcmp(key, "tot"))
		s->tot = n;
	else if (!strcmp(key, "gso"))
		s->gso = (unsigned int)n;
	else if (!strcmp(key, "lin"))
		s->lin = (unsigned int)n;
	else if (!strcmp(key, "flow"))
		s->flow = n;
	else if (!strcmp(key, "frag"))
		s->frag = n;
	else if (!strcmp(key, "mcast"))
		s->mcast = n;
	else if (!strcmp(key, "ttl"))
		s->ttl = (unsigned int)n;
	else
		return false;
	return true;
}

/* Parse KIND[,KEY=VALUE]... Return: error message, or NULL */
const char *frame_parse_spec(const char *text, struct frame_spec *s)
{
	static char error[80];
	char copy[256], *save, *tok, *value;
	unsigned int i;

	memset(s, 0, sizeof(*s));
	s->len = 1000;
	s->count = 1;
	s->dscp = 10;
	s->ecn = -1;
	s->pcp = -1;
	s->tot = -1;
	s->port = 61199;
	snprintf(copy, sizeof(copy), "%s", text);
	tok = strtok_r(copy, ",", &save);
	for (i = 0; tok && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(tok, kinds[i].name))
			break;
	if (!tok || i == sizeof(kinds) / sizeof(kinds[0]))
		return "unknown kind";
	s->v6 = kinds[i].v6;
	s->proto = kinds[i].proto;
	while ((tok = strtok_r(NULL, ",", &save))) {
		value = strchr(tok, '=');
		if (value)
			*value++ = '\0';
		if (!value || !parse_key(tok, value, s)) {
			snprintf(error, sizeof(error), "invalid option \"%s\"", tok);
			return error;
		}
	}
	return s->len < ETH_HLEN || s->len > FRAME_MAX ? "invalid length" : NULL;
}
