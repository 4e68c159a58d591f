// SPDX-License-Identifier: GPL-2.0-only
/* Frames for the tests of packet cores, see frame.h. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"

static u32 l2_len(enum frame_l2 l2)
{
	return l2 == L2_NONE ? 0 : 14 + 4 * (l2 - L2_ETHER);
}

static u32 ip_len(const struct frame_spec *spec)
{
	if (!spec->ipv6)
		return 20 + 4 * spec->options;
	return 40 + spec->exts * (8 + 8 * spec->ext_units);
}

u32 frame_min_len(const struct frame_spec *spec)
{
	return l2_len(spec->l2) + ip_len(spec) + 8 + spec->pad;
}

u16 sum16(const u8 *b, u32 len, u16 start)
{
	u64 sum = start;
	u32 i;

	for (i = 0; i < len; i++)
		sum += i % 2 ? b[i] : b[i] * 256;
	while (sum > 0xffff)
		sum = sum % 65536 + sum / 65536;
	return (u16)sum;
}

void ipv4_fill_check(u8 *iph)
{
	set16(iph + 10, 0);
	set16(iph + 10, 0xffff - sum16(iph, iph[0] % 16 * 4, 0));
}

bool ipv4_check_valid(const u8 *iph)
{
	return sum16(iph, iph[0] % 16 * 4, 0) == 0xffff;
}

u16 frame_l4_sum(const struct frame *f, const struct frame_spec *spec)
{
	const u8 *iph = f->b + f->l3;
	u32 len = f->len - spec->pad - f->l4;
	u16 sum;

	if (spec->ipv6)
		sum = sum16(iph + 8, 32, spec->proto);
	else
		sum = sum16(iph + 12, 8, spec->proto);
	sum = sum16((u8[]) { (u8)(len / 256), (u8)(len % 256) }, 2, sum);
	return sum16(f->b + f->l4, len, sum);
}

static void build_l2(struct frame *f, const struct frame_spec *spec)
{
	u32 end = f->l3, tags;

	if (spec->l2 == L2_NONE)
		return;
	f->b[0] &= 0xfe;
	f->b[6] &= 0xfe;
	set16(f->b + end - 2, f->ethertype);
	for (tags = spec->l2 - L2_ETHER; tags; tags--) {
		end -= 4;
		set16(f->b + end - 2, 0x8100);
	}
	if (spec->l2 >= L2_QINQ)
		set16(f->b + 12, 0x88a8);
}

static void build_ipv4(struct frame *f, const struct frame_spec *spec)
{
	u8 *iph = f->b + f->l3;

	iph[0] = 0x45 + spec->options;
	iph[1] = (u8)(spec->dscp * 4 + spec->ecn);
	set16(iph + 2, f->len - spec->pad - f->l3);
	set16(iph + 6, 0x4000);
	iph[9] = spec->proto;
	iph[12] = 10;
	iph[16] = 10;
	ipv4_fill_check(iph);
}

static void build_ipv6(struct frame *f, const struct frame_spec *spec)
{
	u8 *iph = f->b + f->l3, *next = iph + 6, *ext = iph + 40;
	u32 i;

	iph[0] = 0x60 + spec->dscp / 4;
	iph[1] = (u8)(spec->dscp % 4 * 64 + spec->ecn * 16 + iph[1] % 16);
	set16(iph + 4, f->len - spec->pad - f->l3 - 40);
	iph[8] = 0xfd;
	iph[24] = 0xfd;
	for (i = 0; i < spec->exts; i++) {
		*next = spec->ext[i];
		ext[1] = spec->ext_units;
		next = ext;
		ext += 8 + 8 * spec->ext_units;
	}
	*next = spec->proto;
}

static void build_l4(struct frame *f, const struct frame_spec *spec)
{
	u8 *l4 = f->b + f->l4;
	u32 check;

	if (spec->proto == PROTO_UDP)
		check = 6;
	else if (spec->proto == PROTO_TCP && f->len - spec->pad - f->l4 >= 20)
		check = 16;
	else
		return;
	set16(l4, spec->sport);
	set16(l4 + 2, spec->dport);
	if (spec->proto == PROTO_UDP)
		set16(l4 + 4, f->len - spec->pad - f->l4);
	set16(l4 + check, 0);
	set16(l4 + check, 0xffff - frame_l4_sum(f, spec));
}

void frame_build(struct frame *f, const struct frame_spec *spec, struct rng *rng)
{
	u32 i;

	assert(spec->len >= frame_min_len(spec) && spec->len <= FRAME_MAX);
	f->len = spec->len;
	f->l3 = l2_len(spec->l2);
	f->l4 = f->l3 + ip_len(spec);
	f->ethertype = spec->ipv6 ? 0x86dd : 0x0800;
	for (i = 0; i < f->len; i++)
		f->b[i] = (u8)rng_u32(rng);
	build_l2(f, spec);
	if (spec->ipv6)
		build_ipv6(f, spec);
	else
		build_ipv4(f, spec);
	build_l4(f, spec);
}

u8 *exact_copy(const u8 *b, u32 len)
{
	u8 *base = malloc(len + 1);

	assert(base);
	memcpy(base + 1, b, len);
	return base + 1;
}

void exact_free(u8 *copy)
{
	free(copy - 1);
}
