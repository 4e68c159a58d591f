// SPDX-License-Identifier: GPL-2.0-only
/* Checks of NDP's sockets: regions, and messages that are placed in them */
#define _GNU_SOURCE
#include <err.h>
#include <linux/sock_diag.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ndp_api.h"

/* One a test: what a closed socket has sent may still come */
enum { PLACED = 1101, FULL, KILLED, MEMORY, CLOSED };

#define REGION		65536
#define LARGE		(16 << 20)
#define PATIENCE_MS	20000

/* What one recvmsg() gave */
static struct {
	ssize_t n;
	int flags;
	bool is_placed;
	struct ndp_placed placed;
	union ndp_address from;
	uint8_t b[100000];
} got;

static ssize_t get(int fd, int flags, size_t control_len)
{
	union {
		struct cmsghdr align;
		char b[256];
	} control;
	struct iovec iov = { got.b, sizeof(got.b) };
	struct msghdr msg = {
		.msg_name = &got.from, .msg_namelen = sizeof(got.from), .msg_iov = &iov,
		.msg_iovlen = 1, .msg_control = &control, .msg_controllen = control_len,
	};
	struct cmsghdr *cm;

	memset(&got, 0, sizeof(got));
	got.n = api_wait(fd, POLLIN, PATIENCE_MS) ? recvmsg(fd, &msg, flags) : -1;
	got.flags = msg.msg_flags;
	cm = got.n < 0 ? NULL : CMSG_FIRSTHDR(&msg);
	if (cm && cm->cmsg_level == SOL_NDP && cm->cmsg_type == NDP_CMSG_PLACED) {
		got.is_placed = cm->cmsg_len == CMSG_LEN(sizeof(got.placed));
		memcpy(&got.placed, CMSG_DATA(cm), sizeof(got.placed));
	}
	return got.n;
}

static int option(int fd, int name, uint64_t value)
{
	return setsockopt(fd, SOL_NDP, name, &value, sizeof(value));
}

static uint8_t *map(int fd, size_t bytes, int flags, off_t offset)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, offset);
}

static uint8_t *region(int fd, size_t bytes)
{
	uint8_t *r;

	if (option(fd, NDP_REGION, bytes))
		err(2, "NDP_REGION");
	r = map(fd, bytes, MAP_SHARED, 0);
	if (r == MAP_FAILED)
		err(2, "mmap");
	return r;
}

static uint64_t used(int fd)
{
	struct ndp_info info;

	ndp_info(fd, &info);
	return info.region_used;
}

/* Message NO, of LEN bytes, was placed in R, and is what api_send() sends. */
static bool is_placed(const uint8_t *r, uint64_t no, size_t len)
{
	return got.is_placed && got.placed.msg == no && got.placed.msg_bytes == len &&
	       got.flags & MSG_EOR && !(got.flags & MSG_CTRUNC) &&
	       got.from.v4.sin_addr.s_addr == htonl(0x0a000001) &&
	       !(got.placed.offset_bytes % NDP_REGION_UNIT) &&
	       ndp_right(r + got.placed.offset_bytes, len, len, 0) == len;
}

static bool is_ordinary(size_t len)
{
	return got.n == (ssize_t)len && !got.is_placed && got.flags & MSG_EOR &&
	       ndp_right(got.b, len, len, 0) == len;
}

/* ---- options, mmap() */

static void check_sizes(int fd)
{
	uint32_t half = REGION;

	check(api_refused(option(fd, NDP_REGION, 1), EINVAL), "a region of 1 byte");
	check(api_refused(option(fd, NDP_REGION, REGION + 100), EINVAL), "half a page");
	check(api_refused(option(fd, NDP_REGION, NDP_REGION_MAX + (uint64_t)REGION), EINVAL),
	      "more than NDP_REGION_MAX");
	check(api_refused(option(fd, NDP_REGION, -(uint64_t)REGION), EINVAL), "2^64");
	check(api_refused(setsockopt(fd, SOL_NDP, NDP_REGION, &half, sizeof(half)), EINVAL),
	      "a size of 32 bits");
	check(api_refused(setsockopt(fd, SOL_NDP, NDP_REGION, NULL, 8), EFAULT), "no size");
	check(api_refused(option(fd, NDP_REGION_FREE, 0), EINVAL), "free without a region");
	check(!option(fd, NDP_REGION, 0), "there is none to be removed");
}

static void check_mappings(int fd)
{
	struct ndp_info info;
	uint8_t *r;

	check(map(fd, REGION, MAP_SHARED, 0) == MAP_FAILED && errno == EINVAL, "nothing to map");
	check(!option(fd, NDP_REGION, REGION), "a region");
	ndp_info(fd, &info);
	check(info.region_bytes == REGION && !info.region_used, "NDP_INFO tells its size");
	check(api_refused(option(fd, NDP_REGION, REGION), EBUSY), "a second one");
	check(map(fd, REGION / 2, MAP_SHARED, 0) == MAP_FAILED && errno == EINVAL, "half of it");
	check(map(fd, REGION * 2, MAP_SHARED, 0) == MAP_FAILED && errno == EINVAL, "twice");
	check(map(fd, REGION, MAP_PRIVATE, 0) == MAP_FAILED && errno == EINVAL, "MAP_PRIVATE");
	check(map(fd, REGION / 2, MAP_SHARED, REGION / 2) == MAP_FAILED && errno == EINVAL,
	      "its second half");
	r = map(fd, REGION, MAP_SHARED, 0);
	check(r != MAP_FAILED, "mmap()");
	check(!r[0] && !r[REGION - 1], "it is empty");
	check(mremap(r, REGION, 2 * REGION, MREMAP_MAYMOVE) == MAP_FAILED, "it does not grow");
	check(api_refused(option(fd, NDP_REGION, 0), EBUSY), "it is mapped");
	munmap(r, REGION / 2);
	check(api_refused(option(fd, NDP_REGION, 0), EBUSY), "half of it still is");
	munmap(r + REGION / 2, REGION / 2);
	check(!option(fd, NDP_REGION, 0), "it is removed");
	ndp_info(fd, &info);
	check(!info.region_bytes, "it is gone");
}

/* A child has the mapping, too. */
static void check_fork(int fd)
{
	uint8_t *r = region(fd, REGION);
	pid_t child = fork();
	int status;

	if (!child) {
		pause();
		_exit(0);
	}
	munmap(r, REGION);
	check(api_refused(option(fd, NDP_REGION, 0), EBUSY), "a child has mapped it");
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	check(!option(fd, NDP_REGION, 0), "the child is gone");
}

/* RLIMIT_MEMLOCK counts two pages more, and is of a user. */
static void check_limit(int fd)
{
	const struct rlimit limit = { REGION + 2 * (rlim_t)getpagesize(), RLIM_INFINITY };
	int second = ndp_socket(ns_b, AF_INET), status;
	pid_t child = fork();

	if (!child) {
		/* without CAP_IPC_LOCK */
		if (setrlimit(RLIMIT_MEMLOCK, &limit) || seteuid(65534))
			_exit(1);
		status = 2 * !api_refused(option(fd, NDP_REGION, 2 * REGION), ENOBUFS);
		status |= 4 * !!option(fd, NDP_REGION, REGION);
		status |= 8 * !api_refused(option(second, NDP_REGION, REGION), ENOBUFS);
		status |= 16 * !!option(fd, NDP_REGION, 0);
		status |= 32 * !!option(second, NDP_REGION, REGION);
		_exit(status);
	}
	waitpid(child, &status, 0);
	check(!status, "RLIMIT_MEMLOCK (%#x)", WEXITSTATUS(status));
	close(second);
}

void test_region(void)
{
	int fd = ndp_socket(ns_b, AF_INET);

	check_sizes(fd);
	check_mappings(fd);
	check_fork(fd);
	check_limit(fd);
	close(fd);
}

/* ---- messages */

static void check_read(int rx, const uint8_t *r)
{
	const size_t no_room = CMSG_SPACE(sizeof(got.placed)) - sizeof(size_t);

	check(api_refused((int)get(rx, 0, no_room), EINVAL), "no room for control data");
	check(api_refused(option(rx, NDP_REGION_FREE, 0), EINVAL), "free before it was read");
	check(get(rx, MSG_PEEK, 256) == 0 && is_placed(r, 1, 100), "MSG_PEEK");
	check(api_refused(option(rx, NDP_REGION_FREE, 0), EINVAL), "free after a look");
	check(api_refused(option(rx, NDP_REGION, 0), EBUSY), "it is not removed meanwhile");
	check(get(rx, MSG_TRUNC, 256) == 100 && is_placed(r, 1, 100), "MSG_TRUNC: its length");
	check(!got.b[0], "nothing in the buffer");
	check(used(rx) == NDP_REGION_UNIT, "its space is used");
}

static void check_free(int rx, uint64_t offset)
{
	check(api_refused(option(rx, NDP_REGION_FREE, offset + 1), EINVAL), "not at its begin");
	check(api_refused(option(rx, NDP_REGION_FREE, offset + NDP_REGION_UNIT), EINVAL),
	      "nobody's");
	check(api_refused(option(rx, NDP_REGION_FREE, REGION), EINVAL), "behind the end");
	check(api_refused(option(rx, NDP_REGION_FREE, UINT64_MAX), EINVAL), "far behind");
	check(!option(rx, NDP_REGION_FREE, offset), "NDP_REGION_FREE");
	check(api_refused(option(rx, NDP_REGION_FREE, offset), EINVAL), "twice");
	check(!used(rx), "its space is free");
}

void test_region_placed(void)
{
	static const size_t sizes[] = { 1, 1400, NDP_REGION_UNIT, NDP_REGION_UNIT + 1, REGION };
	int rx = api_receiver(PLACED), tx = api_sender();
	uint8_t *r = region(rx, REGION);
	size_t i, taken;

	check(api_send(tx, PLACED, 100, 0) == 100 && api_sent(tx), "a message");
	check_read(rx, r);
	check_free(rx, got.placed.offset_bytes);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		/* what a program does there, nobody looks at */
		memset(r, 0xff, REGION);
		api_send(tx, PLACED, sizes[i], 0);
		check(get(rx, 0, 256) == 0 && is_placed(r, i + 2, sizes[i]), "%zu bytes",
		      sizes[i]);
		taken = (sizes[i] + NDP_REGION_UNIT - 1) / NDP_REGION_UNIT * NDP_REGION_UNIT;
		check(used(rx) == taken, "they take %zu", taken);
		check(taken == REGION || r[taken] == 0xff, "and not more");
		option(rx, NDP_REGION_FREE, got.placed.offset_bytes);
	}
	munmap(r, REGION);
	close(tx);
	close(rx);
}

/* What does not fit comes the ordinary way. */
void test_region_full(void)
{
	int rx = api_receiver(FULL), tx = api_sender(), i;
	uint8_t *r = region(rx, REGION);
	uint64_t offset[3];

	for (i = 0; i < 5; i++)
		check(api_send(tx, FULL, 20000, 0) == 20000 && api_sent(tx), "%d", i);
	for (i = 0; i < 3; i++) {
		check(get(rx, 0, 256) == 0 && is_placed(r, i + 1U, 20000), "%d has space", i);
		offset[i] = got.placed.offset_bytes;
	}
	for (; i < 5; i++)
		check(get(rx, 0, 256) == 20000 && is_ordinary(20000), "%d has none", i);
	check(!option(rx, NDP_REGION_FREE, offset[1]), "there is space again");
	api_send(tx, FULL, 20480, 0);
	check(get(rx, 0, 256) == 0 && is_placed(r, 6, 20480), "just as much");
	check(got.placed.offset_bytes == offset[1], "at that place");
	for (i = 0; i < 3; i++)
		option(rx, NDP_REGION_FREE, offset[i]);
	check(!used(rx), "all is free");
	api_send(tx, FULL, REGION + 1, 0);
	check(get(rx, 0, 256) == REGION + 1 && is_ordinary(REGION + 1), "more than there is");
	check(!used(rx), "takes nothing");
	munmap(r, REGION);
	close(tx);
	close(rx);
}

/* A child sends a message that takes long. */
static pid_t sends(uint16_t port, size_t len)
{
	pid_t child = fork();
	int tx;

	if (child)
		return child;
	tx = api_sender();
	ndp_option(tx, SOL_SOCKET, SO_SNDBUFFORCE, 20000);
	_exit(api_send(tx, port, len, 0) != (ssize_t)len || !api_sent(tx));
}

void test_region_killed(void)
{
	int rx = api_receiver(KILLED), i;
	struct ndp_info info = { 0 };
	pid_t child;

	if (option(rx, NDP_REGION, LARGE))
		err(2, "NDP_REGION");
	child = sends(KILLED, 10000000);
	for (i = 0; i < PATIENCE_MS && info.bytes_received < 100000; i++) {
		usleep(100);
		ndp_info(rx, &info);
	}
	check(info.region_used >= 10000000 && info.msgs_receiving == 1, "a message has begun");
	check(api_refused(option(rx, NDP_REGION, 0), EBUSY), "its region stays");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	for (i = 0; i < PATIENCE_MS && used(rx); i++)
		usleep(1000);
	check(!used(rx), "its sender was killed: its space is free");
	check(!api_wait(rx, POLLIN, 0), "there is nothing to be read");
	check(!option(rx, NDP_REGION, 0), "the region can be removed");
	close(rx);
}

/* The most memory that a message takes whose packets come out of order; 1: it failed */
static unsigned int most_memory(int rx, size_t len)
{
	unsigned int mem[SK_MEMINFO_VARS], most = 0;
	pid_t child = sends(MEMORY, len);
	struct ndp_info info = { 0 };
	socklen_t n;
	int i;

	for (i = 0; i < PATIENCE_MS && !info.msgs_received; i++) {
		n = sizeof(mem);
		if (getsockopt(rx, SOL_SOCKET, SO_MEMINFO, mem, &n))
			err(2, "SO_MEMINFO");
		if (mem[SK_MEMINFO_RMEM_ALLOC] > most)
			most = mem[SK_MEMINFO_RMEM_ALLOC];
		usleep(500);
		ndp_info(rx, &info);
	}
	waitpid(child, &i, 0);
	return i ? 1 : most;
}

void test_region_memory(void)
{
	const size_t len = 3000000;
	int rx = api_receiver(MEMORY);
	unsigned int most;
	uint8_t *r;

	ndp_option(rx, SOL_SOCKET, SO_RCVBUFFORCE, LARGE);
	most = most_memory(rx, len);
	check(most > len / 2, "without a region, %u bytes", most);
	close(rx);

	rx = api_receiver(MEMORY);
	r = region(rx, LARGE);
	most = most_memory(rx, len);
	check(most > 1 && most < 2000, "with one, %u", most);
	check(get(rx, 0, 256) == 0 && is_placed(r, 1, len), "all of it is there");
	munmap(r, LARGE);
	close(rx);
}

/* The mapping keeps the socket. */
void test_region_closed(void)
{
	int rx = api_receiver(CLOSED), tx = api_sender();
	uint8_t *r = region(rx, REGION);

	api_send(tx, CLOSED, 5000, 0);
	check(get(rx, 0, 256) == 0 && is_placed(r, 1, 5000), "a message");
	check(!madvise(r, REGION, MADV_DONTNEED) && is_placed(r, 1, 5000),
	      "MADV_DONTNEED: it is there still");
	close(rx);
	check(is_placed(r, 1, 5000), "close(): it is there");
	api_send(tx, CLOSED, 6000, 0);
	check(api_sent(tx) && ndp_right(r + 8192, 6000, 6000, 0) == 6000, "others still come");
	munmap(r, REGION);
	api_send(tx, CLOSED, 7000, 0);
	check(api_fails_with(tx, ECONNREFUSED, 3, CLOSED), "munmap(): no more");
	close(tx);
}
