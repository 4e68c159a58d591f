// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shared by both roles: event loop, refused datagrams, status file
 */
#include <err.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "pcrpd.h"

/* Datagrams handled between two reads of the clock */
#define BURST	64

/* Return: a signalfd that is readable after SIGTERM or SIGINT */
static int end_fd(void)
{
	sigset_t ends;
	int fd;

	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGINT);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	fd = signalfd(-1, &ends, SFD_CLOEXEC);
	if (fd < 0)
		err(1, "signalfd");
	return fd;
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

static void take_datagrams(struct service *service)
{
	/* one byte more than any message, to detect longer datagrams */
	uint8_t datagram[MESSAGE_MAX + 1];
	struct sockaddr_storage from;
	socklen_t from_length;
	ssize_t length;
	int i;

	for (i = 0; i < BURST; i++) {
		from_length = sizeof(from);
		length = recvfrom(service->socket, datagram, sizeof(datagram), 0,
				  (struct sockaddr *)&from, &from_length);
		if (length < 0)
			return;
		service->take(service, datagram, length, &from, from_length);
	}
}

void serve(struct service *service, int64_t first_ms)
{
	struct pollfd fds[] = {
		{ .fd = end_fd(), .events = POLLIN },
		{ .fd = service->socket, .events = POLLIN },
	};
	int64_t next = now_ms() + first_ms, left;
	uint64_t periods;

	/* handle signal, timer and datagrams each round, so that a flood delays no tick */
	while (!fds[0].revents) {
		left = next - now_ms();
		if (left <= 0) {
			/* if the process is late, an answer may have arrived already */
			take_datagrams(service);
			periods = -left / service->period_ms + 1;
			next += periods * service->period_ms;
			service->tick(service, periods);
			left = 0;
		}
		if (poll(fds, COUNT(fds), left) > 0 && fds[1].revents)
			take_datagrams(service);
	}
	close(fds[0].fd);
}

uint64_t random_number(void)
{
	uint64_t number = 0;

	while (!number) {
		if (getrandom(&number, sizeof(number), 0) != sizeof(number))
			err(1, "getrandom");
	}
	return number;
}

void log_rarely(uint64_t count, const struct sockaddr_storage *from, socklen_t length,
		const char *what)
{
	char host[NI_MAXHOST] = "?", port[NI_MAXSERV] = "?";

	if (count & (count - 1))
		return;
	getnameinfo((const struct sockaddr *)from, length, host, sizeof(host), port, sizeof(port),
		    NI_NUMERICHOST | NI_NUMERICSERV | NI_DGRAM);
	warnx("%s port %s: %s (%ju so far)", host, port, what, (uintmax_t)count);
}

bool genuine(struct refused *refused, enum verdict verdict, const struct sockaddr_storage *from,
	     socklen_t length)
{
	static const char * const what[] = {
		[MALFORMED] = "malformed message",
		[VERSION] = "message of another version of pcrpd",
		[FORGED] = "message with another key",
	};

	if (verdict != GENUINE)
		log_rarely(++refused->by_verdict[verdict], from, length, what[verdict]);
	return verdict == GENUINE;
}

void status_number(struct json_object *object, const char *name, uint64_t number)
{
	json_object_object_add(object, name, json_object_new_uint64(number));
}

void status_text(struct json_object *object, const char *name, const char *text)
{
	json_object_object_add(object, name, json_object_new_string(text));
}

void status_refused(struct json_object *object, const struct refused *refused)
{
	status_number(object, "malformed", refused->by_verdict[MALFORMED]);
	status_number(object, "other_version", refused->by_verdict[VERSION]);
	status_number(object, "forged", refused->by_verdict[FORGED]);
	status_number(object, "replayed", refused->replayed);
}

void status_thresholds(struct json_object *object, const uint64_t *thresholds)
{
	struct json_object *array = NULL;
	int i;

	if (thresholds)
		array = json_object_new_array();
	for (i = 0; i < PCRP_THRESHOLDS && array; i++)
		json_object_array_add(array, json_object_new_uint64(thresholds[i]));
	json_object_object_add(object, "thresholds_bytes", array);
}

/* O_EXCL, so that a symbolic link of another user is not followed */
static bool write_new(const char *path, struct json_object *object)
{
	bool fine;
	int fd;

	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return false;
	fine = !json_object_to_fd(fd, object, JSON_C_TO_STRING_PRETTY);
	close(fd);
	return fine;
}

void status_write(const char *path, struct json_object *object)
{
	static bool failed;
	char new[4096];
	bool fine;

	if (path) {
		snprintf(new, sizeof(new), "%s.new", path);
		fine = write_new(new, object) && !rename(new, path);
		if (!fine && !failed)
			warn("%s", path);
		failed = !fine;
	}
	json_object_put(object);
}
