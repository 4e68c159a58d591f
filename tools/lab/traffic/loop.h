/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waits for sockets and for instants
 *
 * The program sleeps whenever it has nothing to do, as virtual time passes only
 * then.
 */
#ifndef _TRAFFIC_LOOP_H
#define _TRAFFIC_LOOP_H

#include <stdbool.h>
#include <stdint.h>

/* Part of what owns a socket; @ready is NULL when it is closed */
struct watch {
	void (*ready)(struct watch *watch, uint32_t events);
};

void loop_init(void);

/**
 * loop_start_clock() - say when the clock shows 0
 * @origin_ns: of CLOCK_MONOTONIC, not before now; 0: now
 *
 * Return: false if that instant has passed
 */
bool loop_start_clock(int64_t origin_ns);

/* ns since the clock showed 0 */
int64_t loop_now(void);

/**
 * loop_at() - call a function later, once
 * @ns: instant; calls for the same one are made in the order of loop_at()
 * @call: function
 * @arg: its argument
 */
void loop_at(int64_t ns, void (*call)(void *arg), void *arg);

/* The events are epoll's. */
void loop_watch(int fd, uint32_t events, struct watch *watch);

/* After an event of EPOLLONESHOT: again */
void loop_rewatch(int fd, uint32_t events, struct watch *watch);

/* free() as soon as no event that has been fetched can be for it */
void loop_free(void *p);

/* Until loop_stop() */
void loop_run(void);

void loop_stop(void);

#endif /* _TRAFFIC_LOOP_H */
