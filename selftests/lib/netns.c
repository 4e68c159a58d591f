// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "netns.h"

static void enter(const char *name, int len)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%.*s", len, name);
	fd = open(path, O_RDONLY);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		err(2, "network namespace %.*s", len, name);
	close(fd);
}

void enter_ns(const char *ns)
{
	if (ns)
		enter(ns, (int)strlen(ns));
}

const char *enter_ns_of(const char *where)
{
	const char *slash = strchr(where, '/');

	if (!slash)
		errx(2, "%s: NS/DEV expected", where);
	enter(where, (int)(slash - where));
	return slash + 1;
}
