// SPDX-License-Identifier: GPL-2.0-only
#include "send_thread.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "loop.h"
#include "util.h"

#define CHUNK (1 << 20)
#define STACK (64 << 10)

struct send_thread {
	struct watch watch;
	pthread_t id;
	int fd;
	int event_fd;
	uint64_t bytes;
	int error;
	void (*done)(void *arg, int error);
	void *arg;
};

int send_zeros(int fd, uint64_t bytes, int flags)
{
	static char zeros[CHUNK];
	struct iovec chunks[IOV_MAX];
	struct msghdr out = { .msg_iov = chunks };

	while (bytes) {
		if (out.msg_iovlen == IOV_MAX)
			return -EMSGSIZE;
		chunks[out.msg_iovlen].iov_base = zeros;
		chunks[out.msg_iovlen].iov_len = bytes < CHUNK ? bytes : CHUNK;
		bytes -= chunks[out.msg_iovlen++].iov_len;
	}
	return sendmsg(fd, &out, flags | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static void *run_thread(void *arg)
{
	struct send_thread *t = arg;

	t->error = send_zeros(t->fd, t->bytes, 0);
	eventfd_write(t->event_fd, 1);
	return NULL;
}

static void free_thread(struct send_thread *t)
{
	pthread_join(t->id, NULL);
	t->watch.ready = NULL;
	close(t->event_fd);
	loop_free(t);
}

static void has_sent(struct watch *w, uint32_t events)
{
	struct send_thread *t = (struct send_thread *)w;

	(void)events;
	free_thread(t);
	/* its memory remains until the loop has handled all events */
	t->done(t->arg, t->error);
}

struct send_thread *send_thread_start(int fd, uint64_t bytes, void (*done)(void *arg, int error),
				      void *arg)
{
	struct send_thread *t = zalloc(1, sizeof(*t));
	pthread_attr_t attr;
	int error;

	*t = (struct send_thread){
		.watch.ready = has_sent, .fd = fd, .bytes = bytes, .done = done, .arg = arg,
		.event_fd = eventfd(0, EFD_CLOEXEC),
	};
	if (t->event_fd < 0)
		die("eventfd: %s", strerror(errno));
	loop_watch(t->event_fd, EPOLLIN, &t->watch);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	error = pthread_create(&t->id, &attr, run_thread, t);
	if (error)
		die("pthread_create: %s", strerror(error));
	pthread_attr_destroy(&attr);
	return t;
}

void send_thread_cancel(struct send_thread *t)
{
	pthread_cancel(t->id);
	free_thread(t);
}
