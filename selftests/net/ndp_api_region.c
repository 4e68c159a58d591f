// SPDX-License-Identifier: GPL-2.0-only
/* Checks of NDP sockets: regions, and messages that are placed in them */
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

/* A port for each test: packets of closed sockets may still arrive */
enum { PLACED = 1101, FULL, KILLED, MEMORY, CLOSED };

#define REGION		65536
#define LARGE		(16 << 20)
#define PATIENCE_MS	20000

/* Result of one recvmsg() */
static struct {
	ssize_t n;
	int flags;
	bool is_placed;
	struct ndp_placed placed;
	union ndp_address from;
	uint8_t b[100000];
} result;

static ssize_t get(int fd, int flags, size_t control_len)
{
	union {
		struct cmsghdr align;
		char b[256];
	} control;
	struct iovec iov = { result.b, sizeof(result.b) };
	struct msghdr msg = {
		.msg_name = &result.from, .msg_namelen = sizeof(result.from), .msg_iov = &iov,
		.msg_iovlen = 1, .msg_control = &control, .msg_controllen = control_len,
	};
	struct cmsghdr *cm;

	memset(&result, 0, sizeof(result));
	result.n = api_wait(fd, POLLIN, PATIENCE_MS) ? recvmsg(fd, &msg, flags) : -1;
	result.flags = msg.msg_flags;
	cm = result.n < 0 ? NULL : CMSG_FIRSTHDR(&msg);
	if (cm && cm->cmsg_level == SOL_NDP && cm->cmsg_type == NDP_CMSG_PLACED) {
		result.is_placed = cm->cmsg_len == CMSG_LEN(sizeof(result.placed));
		memcpy(&result.placed, CMSG_DATA(cm), sizeof(result.placed));
	}
	return result.n;
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

/* Return: true if message @no of api_send(), of @len bytes, was placed in @r */
static bool is_placed(const uint8_t *r, uint64_t no, size_t len)
{
	return result.is_placed && result.placed.msg == no && result.placed.msg_bytes == len &&
	       result.flags & MSG_EOR && !(result.flags & MSG_CTRUNC) &&
	       result.from.v4.sin_addr.s_addr == htonl(0x0a000001) &&
	       !(result.placed.offset_bytes % NDP_REGION_UNIT) &&
	       ndp_right(r + result.placed.offset_bytes, len, len, 0) == len;
}

static bool is_ordinary(size_t len)
{
	return result.n == (ssize_t)len && !result.is_placed && result.flags & MSG_EOR &&
	       ndp_right(result.b, len, len, 0) == len;
}

/* ---- options, mmap() */

static void check_sizes(int fd)
{
	uint32_t half = REGION;

	check(api_refused(option(fd, NDP_REGION, 1), EINVAL), "region of 1 byte is refused");
	check(api_refused(option(fd, NDP_REGION, REGION + 100), EINVAL),
	      "region that ends within a page is refused");
	check(api_refused(option(fd, NDP_REGION, NDP_REGION_MAX + (uint64_t)REGION), EINVAL),
	      "region above NDP_REGION_MAX is refused");
	check(api_refused(option(fd, NDP_REGION, -(uint64_t)REGION), EINVAL),
	      "region of nearly 2^64 bytes is refused");
	check(api_refused(setsockopt(fd, SOL_NDP, NDP_REGION, &half, sizeof(half)), EINVAL),
	      "NDP_REGION with a 32-bit size is refused");
	check(api_refused(setsockopt(fd, SOL_NDP, NDP_REGION, NULL, 8), EFAULT),
	      "NDP_REGION without an address fails with EFAULT");
	check(api_refused(option(fd, NDP_REGION_FREE, 0), EINVAL),
	      "NDP_REGION_FREE without a region fails with EINVAL");
	check(!option(fd, NDP_REGION, 0), "removal without a region succeeds");
}

static void check_mappings(int fd)
{
	struct ndp_info info;
	uint8_t *r;

	check(map(fd, REGION, MAP_SHARED, 0) == MAP_FAILED && errno == EINVAL,
	      "mmap() without a region fails with EINVAL");
	check(!option(fd, NDP_REGION, REGION), "NDP_REGION creates a region");
	ndp_info(fd, &info);
	check(info.region_bytes == REGION && !info.region_used, "NDP_INFO has the region's size");
	check(api_refused(option(fd, NDP_REGION, REGION), EBUSY),
	      "second region is refused with EBUSY");
	check(map(fd, REGION / 2, MAP_SHARED, 0) == MAP_FAILED && errno == EINVAL,
	      "mmap() of half the region fails with EINVAL");
	check(map(fd, REGION * 2, MAP_SHARED, 0) == MAP_FAILED && errno == EINVAL,
	      "mmap() of twice the region fails with EINVAL");
	check(map(fd, REGION, MAP_PRIVATE, 0) == MAP_FAILED && errno == EINVAL,
	      "mmap() with MAP_PRIVATE fails with EINVAL");
	check(map(fd, REGION / 2, MAP_SHARED, REGION / 2) == MAP_FAILED && errno == EINVAL,
	      "mmap() of the region's second half fails with EINVAL");
	r = map(fd, REGION, MAP_SHARED, 0);
	check(r != MAP_FAILED, "mmap() of the whole region succeeds");
	check(!r[0] && !r[REGION - 1], "new region is zeroed");
	check(mremap(r, REGION, 2 * REGION, MREMAP_MAYMOVE) == MAP_FAILED,
	      "mremap() cannot enlarge the mapping");
	check(api_refused(option(fd, NDP_REGION, 0), EBUSY),
	      "removal of a mapped region fails with EBUSY");
	munmap(r, REGION / 2);
	check(api_refused(option(fd, NDP_REGION, 0), EBUSY),
	      "removal of a half-mapped region fails with EBUSY");
	munmap(r + REGION / 2, REGION / 2);
	check(!option(fd, NDP_REGION, 0), "unmapped region is removed");
	ndp_info(fd, &info);
	check(!info.region_bytes, "NDP_INFO has no region after its removal");
}

/* A child inherits the mapping. */
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
	check(api_refused(option(fd, NDP_REGION, 0), EBUSY),
	      "removal of a region mapped by a child fails with EBUSY");
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	check(!option(fd, NDP_REGION, 0), "region is removed after the child has ended");
}

/* RLIMIT_MEMLOCK is per user; a region counts two additional pages. */
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
	check(!status, "RLIMIT_MEMLOCK limits the regions of a user (%#x)", WEXITSTATUS(status));
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
	const size_t no_room = CMSG_SPACE(sizeof(result.placed)) - sizeof(size_t);

	check(api_refused((int)get(rx, 0, no_room), EINVAL),
	      "recvmsg() without room for control data fails with EINVAL");
	check(api_refused(option(rx, NDP_REGION_FREE, 0), EINVAL),
	      "NDP_REGION_FREE of an unread message fails with EINVAL");
	check(get(rx, MSG_PEEK, 256) == 0 && is_placed(r, 1, 100),
	      "MSG_PEEK returns a placed message");
	check(api_refused(option(rx, NDP_REGION_FREE, 0), EINVAL),
	      "NDP_REGION_FREE after MSG_PEEK fails with EINVAL");
	check(api_refused(option(rx, NDP_REGION, 0), EBUSY),
	      "removal of a region with a message fails with EBUSY");
	check(get(rx, MSG_TRUNC, 256) == 100 && is_placed(r, 1, 100),
	      "MSG_TRUNC returns the length of a placed message");
	check(!result.b[0], "buffer is unchanged by a placed message");
	check(used(rx) == NDP_REGION_UNIT, "placed message uses one unit of the region");
}

static void check_free(int rx, uint64_t offset)
{
	check(api_refused(option(rx, NDP_REGION_FREE, offset + 1), EINVAL),
	      "NDP_REGION_FREE within a message fails with EINVAL");
	check(api_refused(option(rx, NDP_REGION_FREE, offset + NDP_REGION_UNIT), EINVAL),
	      "NDP_REGION_FREE of free space fails with EINVAL");
	check(api_refused(option(rx, NDP_REGION_FREE, REGION), EINVAL),
	      "NDP_REGION_FREE at the region's end fails with EINVAL");
	check(api_refused(option(rx, NDP_REGION_FREE, UINT64_MAX), EINVAL),
	      "NDP_REGION_FREE of 2^64 - 1 fails with EINVAL");
	check(!option(rx, NDP_REGION_FREE, offset), "NDP_REGION_FREE releases a message");
	check(api_refused(option(rx, NDP_REGION_FREE, offset), EINVAL),
	      "second NDP_REGION_FREE of a message fails with EINVAL");
	check(!used(rx), "region is empty after NDP_REGION_FREE");
}

void test_region_placed(void)
{
	static const size_t sizes[] = { 1, 1400, NDP_REGION_UNIT, NDP_REGION_UNIT + 1, REGION };
	int rx = api_receiver(PLACED), tx = api_sender();
	uint8_t *r = region(rx, REGION);
	size_t i, space;

	check(api_send(tx, PLACED, 100, 0) == 100 && api_sent(tx),
	      "message to a region is acknowledged");
	check_read(rx, r);
	check_free(rx, result.placed.offset_bytes);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		/* the kernel does not use the content of a region */
		memset(r, 0xff, REGION);
		api_send(tx, PLACED, sizes[i], 0);
		check(get(rx, 0, 256) == 0 && is_placed(r, i + 2, sizes[i]),
		      "message of %zu bytes is placed",
		      sizes[i]);
		space = (sizes[i] + NDP_REGION_UNIT - 1) / NDP_REGION_UNIT * NDP_REGION_UNIT;
		check(used(rx) == space, "message of %zu bytes uses %zu bytes of the region",
		      sizes[i], space);
		check(space == REGION || r[space] == 0xff,
		      "message of %zu bytes writes only to its space", sizes[i]);
		option(rx, NDP_REGION_FREE, result.placed.offset_bytes);
	}
	munmap(r, REGION);
	close(tx);
	close(rx);
}

/* Messages that do not fit the region are delivered normally. */
void test_region_full(void)
{
	int rx = api_receiver(FULL), tx = api_sender(), i;
	uint8_t *r = region(rx, REGION);
	uint64_t offset[3];

	for (i = 0; i < 5; i++)
		check(api_send(tx, FULL, 20000, 0) == 20000 && api_sent(tx),
		      "message %d of 20000 bytes is acknowledged", i);
	for (i = 0; i < 3; i++) {
		check(get(rx, 0, 256) == 0 && is_placed(r, i + 1U, 20000), "message %d is placed",
		      i);
		offset[i] = result.placed.offset_bytes;
	}
	for (; i < 5; i++)
		check(get(rx, 0, 256) == 20000 && is_ordinary(20000),
		      "message %d does not fit and is delivered normally", i);
	check(!option(rx, NDP_REGION_FREE, offset[1]), "space between two messages is released");
	api_send(tx, FULL, 20480, 0);
	check(get(rx, 0, 256) == 0 && is_placed(r, 6, 20480),
	      "message as long as the released space is placed");
	check(result.placed.offset_bytes == offset[1], "message is placed in the released space");
	for (i = 0; i < 3; i++)
		option(rx, NDP_REGION_FREE, offset[i]);
	check(!used(rx), "full region is empty after all messages were released");
	api_send(tx, FULL, REGION + 1, 0);
	check(get(rx, 0, 256) == REGION + 1 && is_ordinary(REGION + 1),
	      "message longer than the region is delivered normally");
	check(!used(rx), "message longer than the region uses no space");
	munmap(r, REGION);
	close(tx);
	close(rx);
}

/* Fork a child that sends a long message slowly. */
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
	check(info.region_used >= 10000000 && info.msgs_receiving == 1,
	      "partly received message uses the region");
	check(api_refused(option(rx, NDP_REGION, 0), EBUSY),
	      "removal of a region with a partly received message fails with EBUSY");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	for (i = 0; i < PATIENCE_MS && used(rx); i++)
		usleep(1000);
	check(!used(rx), "region is empty after the sender was killed");
	check(!api_wait(rx, POLLIN, 0), "message of a killed sender is not readable");
	check(!option(rx, NDP_REGION, 0), "region is removed after the sender was killed");
	close(rx);
}

/* Return: the peak receive memory of a message with reordered packets; 1: it failed */
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
	check(most > len / 2, "reordered packets take memory without a region: %u bytes", most);
	close(rx);

	rx = api_receiver(MEMORY);
	r = region(rx, LARGE);
	most = most_memory(rx, len);
	check(most > 1 && most < 2000,
	      "reordered packets take hardly any memory with a region: %u bytes", most);
	check(get(rx, 0, 256) == 0 && is_placed(r, 1, len),
	      "message with reordered packets is placed intact");
	munmap(r, LARGE);
	close(rx);
}

/* The mapping holds a reference to the socket. */
void test_region_closed(void)
{
	int rx = api_receiver(CLOSED), tx = api_sender();
	uint8_t *r = region(rx, REGION);

	api_send(tx, CLOSED, 5000, 0);
	check(get(rx, 0, 256) == 0 && is_placed(r, 1, 5000), "message of 5000 bytes is placed");
	check(!madvise(r, REGION, MADV_DONTNEED) && is_placed(r, 1, 5000),
	      "placed message survives MADV_DONTNEED");
	close(rx);
	check(is_placed(r, 1, 5000), "placed message survives close()");
	api_send(tx, CLOSED, 6000, 0);
	check(api_sent(tx) && ndp_right(r + 8192, 6000, 6000, 0) == 6000,
	      "message is placed in a mapped region after close()");
	munmap(r, REGION);
	api_send(tx, CLOSED, 7000, 0);
	check(api_fails_with(tx, ECONNREFUSED, 3, CLOSED),
	      "message fails with ECONNREFUSED after munmap()");
	close(tx);
}
