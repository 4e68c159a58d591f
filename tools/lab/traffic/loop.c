// SPDX-License-Identifier: GPL-2.0-only
#include "loop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>

#include "util.h"

#define EVENTS_MAX 256

struct call {
	int64_t ns;
	uint64_t seq;
	void (*call)(void *arg);
	void *arg;
};

static struct {
	int epoll;
	int timer;
	int64_t origin_ns;
	int64_t armed_ns;	/* expiry of the timer, or 0 */
	struct call *calls;	/* binary heap, earliest first */
	size_t call_count;
	uint64_t seq;
	void **dead;
	size_t dead_count;
	bool stop;
} loop;

static int64_t monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

void loop_init(void)
{
	loop.epoll = epoll_create1(EPOLL_CLOEXEC);
	loop.timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (loop.epoll < 0 || loop.timer < 0)
		die("epoll or timerfd: %s", strerror(errno));
	/* rearmed after each expiry, so it is never read */
	loop_watch(loop.timer, EPOLLIN | EPOLLET, NULL);
	loop_start_clock(0);
}

bool loop_start_clock(int64_t origin_ns)
{
	int64_t now = monotonic_ns();

	loop.origin_ns = origin_ns ? origin_ns : now;
	return loop.origin_ns >= now;
}

int64_t loop_now(void)
{
	return monotonic_ns() - loop.origin_ns;
}

static bool earlier(const struct call *a, const struct call *b)
{
	return a->ns != b->ns ? a->ns < b->ns : a->seq < b->seq;
}

static void swap_calls(size_t i, size_t j)
{
	struct call c = loop.calls[i];

	loop.calls[i] = loop.calls[j];
	loop.calls[j] = c;
}

void loop_at(int64_t ns, void (*call)(void *arg), void *arg)
{
	size_t i = loop.call_count;

	loop.calls = grow(loop.calls, loop.call_count, sizeof(*loop.calls));
	loop.calls[loop.call_count++] = (struct call){ ns, loop.seq++, call, arg };
	for (; i && earlier(&loop.calls[i], &loop.calls[(i - 1) / 2]); i = (i - 1) / 2)
		swap_calls(i, (i - 1) / 2);
}

static struct call pop_call(void)
{
	struct call first = loop.calls[0];
	size_t i = 0, child;

	swap_calls(0, --loop.call_count);
	while ((child = 2 * i + 1) < loop.call_count) {
		if (child + 1 < loop.call_count &&
		    earlier(&loop.calls[child + 1], &loop.calls[child]))
			child++;
		if (!earlier(&loop.calls[child], &loop.calls[i]))
			break;
		swap_calls(i, child);
		i = child;
	}
	return first;
}

static void control(int operation, int fd, uint32_t events, struct watch *watch)
{
	struct epoll_event event = { .events = events, .data.ptr = watch };

	if (epoll_ctl(loop.epoll, operation, fd, &event))
		die("epoll_ctl: %s", strerror(errno));
}

void loop_watch(int fd, uint32_t events, struct watch *watch)
{
	control(EPOLL_CTL_ADD, fd, events, watch);
}

void loop_rewatch(int fd, uint32_t events, struct watch *watch)
{
	control(EPOLL_CTL_MOD, fd, events, watch);
}

void loop_free(void *p)
{
	loop.dead = grow(loop.dead, loop.dead_count, sizeof(*loop.dead));
	loop.dead[loop.dead_count++] = p;
}

static void bury(void)
{
	while (loop.dead_count)
		free(loop.dead[--loop.dead_count]);
}

static void arm(void)
{
	int64_t ns = loop.call_count ? loop.origin_ns + loop.calls[0].ns : 0;
	struct itimerspec t = { };

	if (ns == loop.armed_ns)
		return;
	t.it_value.tv_sec = ns / NS_PER_S;
	t.it_value.tv_nsec = ns % NS_PER_S;
	if (timerfd_settime(loop.timer, TFD_TIMER_ABSTIME, &t, NULL))
		die("timerfd_settime: %s", strerror(errno));
	loop.armed_ns = ns;
}

static void run_calls(void)
{
	struct call c;

	while (!loop.stop && loop.call_count && loop.calls[0].ns <= loop_now()) {
		c = pop_call();
		c.call(c.arg);
	}
}

static void wait_events(void)
{
	struct epoll_event events[EVENTS_MAX];
	struct watch *w;
	int n, i;

	n = epoll_wait(loop.epoll, events, EVENTS_MAX, -1);
	if (n < 0 && errno != EINTR)
		die("epoll_wait: %s", strerror(errno));
	for (i = 0; i < n; i++) {
		w = events[i].data.ptr;
		if (w && w->ready)
			w->ready(w, events[i].events);
	}
	bury();
}

void loop_run(void)
{
	loop.stop = false;
	for (run_calls(); !loop.stop; run_calls()) {
		arm();
		wait_events();
	}
}

void loop_stop(void)
{
	loop.stop = true;
}
