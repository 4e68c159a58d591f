// SPDX-License-Identifier: GPL-2.0-only
/*
 * TIMELY in double precision, from the equations of the papers
 */
#include <math.h>

#include "timely_model.h"

/* CoNEXT 2016: between T_low and T_high */
static double patched_rate(const struct model *m, double rtt, double factor)
{
	double gradient = m->diff / m->min_rtt;
	double w = fmin(fmax(2 * gradient + 0.5, 0), 1);
	/* with T_low below minRTT, an RTT can be below the target */
	double err = fmax((rtt - m->ref) / m->ref, 0);

	return fmax(m->rate * (1 - m->beta * w * err * factor), 0.5 * m->rate) +
	       m->delta * (1 - w) * factor;
}

static bool positive(double number, enum model_sign sign)
{
	return sign == MODEL_OWN ? number > 0 : sign == MODEL_YES;
}

/* Algorithm 1, after the update of the gradient */
static double new_rate(const struct model *m, double rtt, double factor, enum model_sign sign)
{
	double gradient = m->diff / m->min_rtt;

	if (rtt < m->t_low)
		return m->rate + m->delta * factor;
	if (rtt > m->t_high)
		return m->rate * (1 - m->beta_high * (1 - m->t_high / rtt) * factor);
	if (m->patched)
		return patched_rate(m, rtt, factor);
	if (positive(gradient, sign))
		return m->rate * (1 - m->beta * gradient);
	if (m->calm >= m->hai_threshold)
		return m->rate + m->hai_n * m->delta * factor;
	return m->rate + m->delta * factor;
}

void model_update(struct model *m, double rtt, double dt, bool hold,
		  enum model_sign diff, enum model_sign gradient)
{
	bool rises = rtt > m->prev_rtt;
	double rate;

	m->diff = (1 - m->alpha) * m->diff + m->alpha * (rtt - m->prev_rtt);
	m->prev_rtt = rtt;
	m->calm = rises || positive(m->diff, diff) ? 0 : m->calm + 1;

	rate = new_rate(m, rtt, fmin(dt / m->min_rtt, 1), gradient);
	if (hold)
		rate = fmin(rate, m->rate);
	rate = fmax(rate, 0.5 * m->rate);
	m->rate = fmax(fmin(rate, m->max_rate), m->min_rate);
}
