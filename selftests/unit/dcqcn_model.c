// SPDX-License-Identifier: GPL-2.0-only
/*
 * Model of DCQCN's reaction point with timers that fire one by one
 */
#include "dcqcn_model.h"

/* The highest count */
#define STAGE_END	255

static unsigned int smaller(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

static unsigned int larger(unsigned int a, unsigned int b)
{
	return a < b ? b : a;
}

/* x * g, truncated to the last bit of x */
static __uint128_t times_g(const struct model *m, __uint128_t x)
{
	__uint128_t high = (x >> 64) * m->g, low = (__uint128_t)(uint64_t)x * m->g;

	return (high << 1) + (low >> 63);
}

static __uint128_t decayed(const struct model *m)
{
	return m->alpha - times_g(m, m->alpha);
}

__uint128_t model_raised(const struct model *m)
{
	return decayed(m) + ((__uint128_t)m->g << MODEL_SHIFT);
}

/* State machine, after a count has advanced */
static enum model_change rate_event(struct model *m)
{
	enum model_change change;

	if (larger(m->TC, m->BC) < m->F) {
		change = MODEL_FAST;
	} else if (smaller(m->TC, m->BC) > m->F) {
		change = MODEL_HYPER;
		m->R_T += (smaller(m->TC, m->BC) - m->F + 1) * m->R_HAI;
	} else {
		change = MODEL_ADDITIVE;
		m->R_T += m->by_rate && m->R_AI > m->R_C / 128 ? m->R_C / 128 + 1 : m->R_AI;
	}
	if (m->R_T > m->max_rate)
		m->R_T = m->max_rate;
	m->R_C = (m->R_T + m->R_C) / 2 + (m->R_T + m->R_C) % 2;
	return change;
}

static enum model_change timer_event(struct model *m)
{
	if (m->TC < STAGE_END)
		m->TC++;
	m->rate_timer += m->T;
	return rate_event(m);
}

/*
 * Timer events until @now. Once the count is saturated and an event changes no rate,
 * later events do not either, and are skipped.
 */
static enum model_change timer_events(struct model *m, uint64_t now)
{
	enum model_change change = MODEL_NONE;
	uint64_t R_C, R_T;

	while (m->rate_timer <= now) {
		R_C = m->R_C;
		R_T = m->R_T;
		change = timer_event(m);
		if (m->TC == STAGE_END && R_C == m->R_C && R_T == m->R_T && m->rate_timer <= now)
			m->rate_timer += (now - m->rate_timer) / m->T * m->T + m->T;
	}
	return change;
}

static enum model_change byte_events(struct model *m, uint64_t bytes)
{
	enum model_change change = MODEL_NONE;
	uint64_t R_C, R_T;

	while (bytes >= m->bytes) {
		bytes -= m->bytes;
		m->bytes = m->B;
		if (m->BC < STAGE_END)
			m->BC++;
		R_C = m->R_C;
		R_T = m->R_T;
		change = rate_event(m);
		if (m->BC == STAGE_END && R_C == m->R_C && R_T == m->R_T)
			bytes %= m->B;
	}
	m->bytes -= bytes;
	return change;
}

static void alpha_events(struct model *m, uint64_t now)
{
	__uint128_t before;

	while (m->cnp_seen && m->alpha_timer <= now) {
		before = m->alpha;
		m->alpha = decayed(m);
		m->alpha_timer += m->K;
		if (m->alpha == before && m->alpha_timer <= now)
			m->alpha_timer += (now - m->alpha_timer) / m->K * m->K + m->K;
	}
}

/* Recompute alpha from the last CNP, one K after the other */
static void alpha_from_cnp(struct model *m, uint64_t now)
{
	uint64_t period = 1500 * (uint64_t)1000000000 / m->R_C, at;
	__uint128_t before;

	if (!m->cnp_seen)
		return;
	if (period < m->K)
		period = m->K;
	m->alpha = m->alpha_cnp;
	for (at = m->cnp; now - at >= period; at += period) {
		before = m->alpha;
		m->alpha = decayed(m);
		if (m->alpha == before)
			break;
	}
}

enum model_change model_run(struct model *m, uint64_t now, uint64_t bytes)
{
	enum model_change by_time, by_bytes;

	if (!m->by_rate)
		alpha_events(m, now);
	by_time = timer_events(m, now);
	by_bytes = byte_events(m, bytes);
	if (m->by_rate)
		alpha_from_cnp(m, now);
	return by_bytes == MODEL_NONE ? by_time : by_bytes;
}

static void reset(struct model *m, uint64_t now)
{
	m->rate_timer = now + m->T;
	m->bytes = m->B;
	m->TC = 0;
	m->BC = 0;
}

void model_start(struct model *m, uint64_t now, __uint128_t alpha)
{
	m->R_C = m->max_rate;
	m->R_T = m->max_rate;
	m->alpha = alpha;
	m->cnp_seen = false;
	m->lost = false;
	reset(m, now);
}

void model_cnp(struct model *m, uint64_t now, uint64_t alpha)
{
	m->R_T = m->R_C;
	m->R_C -= (uint64_t)((__uint128_t)m->R_C * alpha >> 64);
	if (m->R_C < m->min_rate)
		m->R_C = m->min_rate;
	m->alpha = model_raised(m);
	m->alpha_cnp = m->alpha;
	m->alpha_timer = now + m->K;
	m->cnp_seen = true;
	m->cnp = now;
	m->lost = false;
	reset(m, now);
}

void model_loss(struct model *m, uint64_t now)
{
	m->R_T = m->R_C;
	m->R_C /= 2;
	if (m->R_C < m->min_rate)
		m->R_C = m->min_rate;
	m->lost = true;
	reset(m, now);
	if (m->by_rate)
		alpha_from_cnp(m, now);
}

bool model_undo(struct model *m)
{
	bool lost = m->lost;

	if (lost)
		m->R_C = m->R_T;
	m->lost = false;
	return lost;
}
