/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Model of DCQCN's reaction point with timers that fire one by one
 *
 * Written from sections 3 and 4 of the SIGCOMM 2015 paper. It shares no code with
 * net/lib/dcqcn.c and evaluates no event late: its clock advances from timer to timer.
 * alpha has 127 bits, rates are whole bytes per second. It follows net/lib/dcqcn.c in
 * three points: R_C is rounded up, counts saturate at 255, and losses cut the rate.
 */
#ifndef _CLOSNET_UNIT_DCQCN_MODEL_H
#define _CLOSNET_UNIT_DCQCN_MODEL_H

#include <stdbool.h>
#include <stdint.h>

/* 1 as alpha; fraction bits of alpha beyond those of the core */
#define MODEL_ONE	((__uint128_t)1 << 127)
#define MODEL_SHIFT	64

/**
 * enum model_change - kind of increase
 * @MODEL_NONE: no event
 * @MODEL_FAST: fast recovery
 * @MODEL_ADDITIVE: additive increase
 * @MODEL_HYPER: hyper increase
 */
enum model_change {
	MODEL_NONE,
	MODEL_FAST,
	MODEL_ADDITIVE,
	MODEL_HYPER,
};

/**
 * struct model - parameters and state
 * @K: period of alpha's timer, ns
 * @T: period of the rate's timer, ns
 * @B: period of the byte counter
 * @F: events in fast recovery
 * @g: weight of a CNP, Q1.63
 * @alpha_first: alpha is raised before the rate is cut
 * @R_AI: additive step
 * @R_HAI: hyper step
 * @min_rate: least rate
 * @max_rate: highest rate
 * @by_rate: R_AI is at most R_C / 128, plus 1, and K at least the time of 1500 bytes at
 *	R_C; alpha is then computed from the last CNP
 * @R_C: current rate
 * @R_T: target rate
 * @alpha: Q1.127
 * @alpha_timer: next expiry of alpha's timer
 * @alpha_cnp: alpha after the last CNP
 * @rate_timer: next expiry of the rate's timer
 * @bytes: bytes until the next byte counter event
 * @TC: events of the timer
 * @BC: events of the counter
 * @cnp_seen: there was a CNP
 * @cnp: time of the last CNP
 * @lost: the last cut was due to a loss
 */
struct model {
	uint64_t K, T, B;
	unsigned int F;
	uint64_t g;
	bool alpha_first, by_rate;
	uint64_t R_AI, R_HAI, min_rate, max_rate;

	uint64_t R_C, R_T;
	__uint128_t alpha, alpha_cnp;
	uint64_t alpha_timer, rate_timer, bytes;
	unsigned int TC, BC;
	bool cnp_seen, lost;
	uint64_t cnp;
};

/**
 * model_start() - start a flow at the highest rate
 * @m: model, with its parameters
 * @now: the time
 * @alpha: Q1.127
 */
void model_start(struct model *m, uint64_t now, __uint128_t alpha);

/**
 * model_run() - advance time, then the byte counter
 * @m: model
 * @now: time until which timers fire
 * @bytes: bytes sent at that time
 */
enum model_change model_run(struct model *m, uint64_t now, uint64_t bytes);

/**
 * model_raised() - alpha after a CNP
 * @m: model
 */
__uint128_t model_raised(const struct model *m);

/**
 * model_cnp() - process a CNP
 * @m: model
 * @now: the time that model_run() has reached
 * @alpha: alpha for the cut, Q1.63, rounded as in the core
 */
void model_cnp(struct model *m, uint64_t now, uint64_t alpha);

/**
 * model_loss() - process a loss
 * @m: model
 * @now: the time that model_run() has reached
 */
void model_loss(struct model *m, uint64_t now);

/**
 * model_undo() - revert a spurious loss
 * @m: model
 */
bool model_undo(struct model *m);

#endif /* _CLOSNET_UNIT_DCQCN_MODEL_H */
