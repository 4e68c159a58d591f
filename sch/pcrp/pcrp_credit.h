/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PCRP, receiver: how many places of the table a source may hold
 *
 * A REQUEST is cheap, and so is the first byte of a flow. If either were enough for a
 * place in the table, a host that sends little else could keep all places. So a source
 * pays with data:
 *
 *	data of a flow that it has announced	credit += bytes, at most 64 units
 *	a place that it does not use		credit -= 16 units, at least -64 units
 *
 *	places <= credit / unit, but always one
 *
 * A place must deliver a unit in PCRP_PLACE_NS. A source that has a unit of
 * credit is trusted. A flow of a source that is not gives its place to a waiting flow
 * of one that is. As an honest flow's first chain needs no GRANT, its source is
 * trusted before its second chain. To block n places for PCRP_PLACE_NS, a forger
 * has to deliver 17 n units, 278 KB for each place.
 *
 * Plain C, as pcrp_receiver.h.
 */
#ifndef _CLOSNET_PCRP_CREDIT_H
#define _CLOSNET_PCRP_CREDIT_H

#include <closnet/core.h>

/* A place that delivers no unit for so long is revoked. */
#define PCRP_PLACE_NS		20000000ULL
#define PCRP_UNIT_MAX		16384U	/* bytes; in PCRP_PLACE_NS: 6.6 Mbit/s */
#define PCRP_CREDIT_UNITS	64	/* most credit, and most debt: PCRP_GRANTS_MAX places */
#define PCRP_WASTE_UNITS	16	/* price of a place that was not used */

/**
 * struct pcrp_source - a host that sends to us; zeros at first
 * @credit: bytes that it has delivered, less its debt
 * @places: its flows in the table
 * @flows: its flows that are remembered
 */
struct pcrp_source {
	s64 credit;
	u32 places;
	u32 flows;
};

/**
 * pcrp_unit() - bytes that a place has to deliver in PCRP_PLACE_NS
 * @chain_bytes: C
 *
 * Return: bytes.
 */
static inline u32 pcrp_unit(u32 chain_bytes)
{
	return min_t(u32, chain_bytes, PCRP_UNIT_MAX);
}

/**
 * pcrp_source_delivered() - data came
 * @s: the source
 * @unit: pcrp_unit()
 * @bytes: payload
 */
static inline void pcrp_source_delivered(struct pcrp_source *s, u32 unit, u32 bytes)
{
	s->credit = min_t(s64, s->credit + bytes, PCRP_CREDIT_UNITS * (s64)unit);
}

/**
 * pcrp_source_wasted() - a place was not used
 * @s: the source
 * @unit: pcrp_unit()
 */
static inline void pcrp_source_wasted(struct pcrp_source *s, u32 unit)
{
	s->credit = max_t(s64, s->credit - PCRP_WASTE_UNITS * (s64)unit,
			  -PCRP_CREDIT_UNITS * (s64)unit);
}

/**
 * pcrp_source_trusted() - has it delivered something?
 * @s: the source
 * @unit: pcrp_unit()
 *
 * Return: true if so.
 */
static inline bool pcrp_source_trusted(const struct pcrp_source *s, u32 unit)
{
	return s->credit >= unit;
}

/**
 * pcrp_source_may_have() - may it have another place?
 * @s: the source
 * @unit: pcrp_unit()
 *
 * Return: true if so.
 */
static inline bool pcrp_source_may_have(const struct pcrp_source *s, u32 unit)
{
	return !s->places || s->credit >= (s->places + 1) * (s64)unit;
}

#endif /* _CLOSNET_PCRP_CREDIT_H */
