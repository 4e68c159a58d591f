// SPDX-License-Identifier: GPL-2.0-only
/*
 * The agent: reports its network namespace's counters and installs the
 * thresholds of the answers
 *
 * Reports carry the kernel's cumulative counters, so a lost report loses no
 * flows. On any error the agent continues, and the kernel keeps its thresholds.
 */
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../closnet/pcrp_genl.h"
#include "pcrpd.h"

/* Unanswered reports before a warning */
#define SILENCE		3

struct agent {
	struct service service;
	const struct config *config;
	struct key *key;
	/* of the next report, see message.h */
	uint64_t id;
	uint64_t nonce;
	uint64_t number;
	/* the answer to that report is outstanding */
	bool waiting;
	uint64_t unanswered;
	/* the kernel's counters at the last report */
	struct pcrp_numbers numbers;
	/* error of the kernel interface, or empty */
	char kernel_error[256];
	/* the error is of setting thresholds; reading counters does not clear it */
	bool cannot_set;
	/* errno of the last send */
	int send_error;
	uint64_t answers;
	uint64_t installed;
	struct refused refused;
};

/* Record the result of a call of the kernel, and log changes. */
static void kernel_result(struct agent *a, int error, const char *text)
{
	if (!error)
		text = "";
	if (!strcmp(a->kernel_error, text))
		return;
	snprintf(a->kernel_error, sizeof(a->kernel_error), "%s", text);
	warnx("%s", error ? text : "the kernel interface works again");
}

/* Connect each time, because the module may have been reloaded. */
static bool read_kernel(struct agent *a)
{
	struct pcrp_genl g;
	int error = pcrp_genl_open(&g);

	if (!error) {
		error = pcrp_genl_get(&g, &a->numbers);
		pcrp_genl_close(&g);
	}
	if (error) {
		a->numbers = (struct pcrp_numbers) {};
		a->cannot_set = false;
	}
	if (!a->cannot_set)
		kernel_result(a, error, g.error);
	return !error;
}

static bool installed(const struct agent *a, const uint64_t *thresholds)
{
	return a->numbers.set &&
	       !memcmp(a->numbers.thresholds, thresholds, sizeof(a->numbers.thresholds));
}

static void install(struct agent *a, const uint64_t *thresholds)
{
	struct pcrp_genl g;
	int error;

	error = pcrp_genl_open(&g);
	if (!error) {
		error = pcrp_genl_set(&g, thresholds);
		pcrp_genl_close(&g);
	}
	kernel_result(a, error, g.error);
	a->cannot_set = error;
	if (error)
		return;
	a->numbers.set = true;
	memcpy(a->numbers.thresholds, thresholds, sizeof(a->numbers.thresholds));
	a->installed++;
}

static void report(struct agent *a)
{
	const struct config *c = a->config;
	struct message m = {
		.type = MESSAGE_REPORT,
		.agent = a->id,
		.nonce = a->nonce,
		.number = ++a->number,
		.period_ms = c->period_ms,
	};
	uint8_t datagram[MESSAGE_MAX];
	size_t length;
	int error = 0;

	memcpy(m.sizes, a->numbers.sizes, sizeof(m.sizes));
	length = message_write(&m, a->key, datagram);
	if (sendto(a->service.socket, datagram, length, 0,
		   (const struct sockaddr *)&c->socket_address, c->socket_length) < 0)
		error = errno;
	if (error && error != a->send_error)
		warnx("%s: %s", c->address, strerror(error));
	a->send_error = error;
	a->waiting = true;
}

static void write_status(const struct agent *a)
{
	struct json_object *o = json_object_new_object();
	uint64_t flows = 0;
	int i;

	for (i = 0; i < PCRP_SIZE_CLASSES; i++)
		flows += a->numbers.sizes[i];
	status_text(o, "role", "agent");
	status_text(o, "kernel", a->kernel_error[0] ? a->kernel_error : "fine");
	status_number(o, "flows", flows);
	status_thresholds(o, a->numbers.set ? a->numbers.thresholds : NULL);
	status_number(o, "installed", a->installed);
	status_number(o, "reports", a->number);
	status_number(o, "answers", a->answers);
	status_number(o, "unanswered", a->unanswered);
	status_refused(o, &a->refused);
	status_write(a->config->status, o);
}

static void tick(struct service *service, uint64_t periods)
{
	struct agent *a = (struct agent *)service;

	(void)periods;
	if (a->waiting && ++a->unanswered == SILENCE)
		warnx("%s does not answer; the last thresholds stay", a->config->address);
	a->waiting = false;
	if (read_kernel(a))
		report(a);
	write_status(a);
}

static void take(struct service *service, const uint8_t *datagram, size_t length,
		 const struct sockaddr_storage *from, socklen_t from_length)
{
	struct agent *a = (struct agent *)service;
	struct message m;

	if (!genuine(&a->refused, message_read(datagram, length, MESSAGE_ANSWER, a->key, &m), from,
		     from_length))
		return;
	if (!a->waiting || m.agent != a->id || m.number != a->number) {
		log_rarely(++a->refused.replayed, from, from_length, "an answer without a report");
		return;
	}
	if (a->unanswered >= SILENCE)
		warnx("%s answers again", a->config->address);
	a->waiting = false;
	a->unanswered = 0;
	a->answers++;
	a->nonce = m.nonce;
	if (m.known && !installed(a, m.thresholds))
		install(a, m.thresholds);
	write_status(a);
}

void agent_run(const struct config *config, struct key *key)
{
	struct agent a = {
		.service = { .period_ms = config->period_ms, .tick = tick, .take = take },
		.config = config,
		.key = key,
		.id = random_number(),
	};

	a.service.socket = socket(config->socket_address.ss_family,
				  SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (a.service.socket < 0)
		err(1, "socket");
	/* a random first interval: hosts that boot together report at different times */
	serve(&a.service, a.id % config->period_ms);
}
