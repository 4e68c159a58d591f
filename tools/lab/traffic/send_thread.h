/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages that do not fit into a socket's send buffer: a thread sends each by a blocking call
 */
#ifndef _TRAFFIC_SEND_THREAD_H
#define _TRAFFIC_SEND_THREAD_H

#include <stdint.h>

struct send_thread;

/**
 * send_thread_start() - send a message of zeros
 * @fd: blocking socket
 * @bytes: length
 * @done: called by the event loop when the call has returned, with 0 or a negative errno; not
 *	called after send_thread_cancel()
 * @arg: its argument
 *
 * Return: thread, which ends before @done is called
 */
struct send_thread *send_thread_start(int fd, uint64_t bytes, void (*done)(void *arg, int error),
				      void *arg);

/* Interrupt the call, which aborts the message, and free the thread. */
void send_thread_cancel(struct send_thread *thread);

/* sendmsg() of BYTES zeros. Return: 0, or a negative errno */
int send_zeros(int fd, uint64_t bytes, int flags);

#endif /* _TRAFFIC_SEND_THREAD_H */
