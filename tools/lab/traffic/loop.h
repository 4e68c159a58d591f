/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Event loop: sockets and timers
 *
 * The program sleeps in epoll_wait() while it is idle. Virtual time passes only
 * then.
 */
#ifndef _TRAFFIC_LOOP_H
#define _TRAFFIC_LOOP_H

#include <stdbool.h>
#include <stdint.h>

/* Embedded in the owner of a socket; @ready is NULL after the socket is closed */
struct watch {
	void (*ready)(struct watch *watch, uint32_t events);
};

void loop_init(void);

/**
 * loop_start_clock() - set time 0 of the loop's clock
 * @origin_ns: CLOCK_MONOTONIC time of 0, not in the past; 0: now
 *
 * Return: false if @origin_ns has passed
 */
bool loop_start_clock(int64_t origin_ns);

/* Return: ns since time 0 */
int64_t loop_now(void);

/**
 * loop_at() - schedule a single call
 * @ns: time of the call; calls at the same time run in the order of loop_at()
 * @call: function
 * @arg: its argument
 */
void loop_at(int64_t ns, void (*call)(void *arg), void *arg);

/* Watch a socket for EVENTS of epoll. */
void loop_watch(int fd, uint32_t events, struct watch *watch);

/* Rearm a watch with EPOLLONESHOT. */
void loop_rewatch(int fd, uint32_t events, struct watch *watch);

/* free() after the events that epoll_wait() has already returned are handled */
void loop_free(void *p);

/* Run until loop_stop(). */
void loop_run(void);

void loop_stop(void);

#endif /* _TRAFFIC_LOOP_H */
