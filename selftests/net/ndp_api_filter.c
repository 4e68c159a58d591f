// SPDX-License-Identifier: GPL-2.0-only
/* Checks of NDP sockets: socket filters (classic BPF) and BPF programs of control groups */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ndp_api.h"

/* A port for each test: packets of closed sockets may still arrive */
enum { FILTER = 1201, CGROUP };

#define GOOD	500
#define BAD	600

/* Return: true if a message of @len bytes arrives intact */
static bool arrives(int tx, int rx, uint16_t port, size_t len)
{
	uint8_t b[BAD + 1];

	return api_send(tx, port, len, 0) == (ssize_t)len && api_wait(rx, POLLIN, 10000) &&
	       recv(rx, b, sizeof(b), 0) == (ssize_t)len && ndp_right(b, len, len, 0) == len;
}

/* Return: true if message @no times out and no part of it is received */
static bool is_lost(int tx, int rx, uint16_t port, size_t len, uint64_t no)
{
	return api_send(tx, port, len, 0) == (ssize_t)len &&
	       api_fails_with(tx, ETIMEDOUT, no, port) && !api_wait(rx, POLLIN, 0);
}

/* Attach a filter that accepts only packets to NDP's UDP port with GOOD bytes of payload. */
static bool attach(int fd)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 2),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 61199, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 8 + 56 + GOOD, 0, 1),
		/* accept with a length of one byte, which must not truncate the packet */
		BPF_STMT(BPF_RET | BPF_K, 1),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(code[0]), code };

	return !setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog));
}

void test_filter(void)
{
	int rx = api_receiver(FILTER), tx = api_sender(), none = 0;

	ndp_option(tx, SOL_NDP, NDP_TIMEOUT, 200);
	check(arrives(tx, rx, FILTER, GOOD) && arrives(tx, rx, FILTER, BAD),
	      "messages arrive without a filter");
	check(attach(rx), "SO_ATTACH_FILTER accepts a filter");
	check(arrives(tx, rx, FILTER, GOOD), "message accepted by the filter arrives whole");
	check(is_lost(tx, rx, FILTER, BAD, 4), "message dropped by the filter times out");
	check(arrives(tx, rx, FILTER, GOOD), "next accepted message arrives");
	check(!setsockopt(rx, SOL_SOCKET, SO_DETACH_FILTER, &none, sizeof(none)) &&
	      arrives(tx, rx, FILTER, BAD), "message arrives after SO_DETACH_FILTER");
	close(rx);
	close(tx);
}

/* ---- control groups */

static int bpf(enum bpf_cmd cmd, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

/* Load a program that drops all packets. */
static int load(void)
{
	const struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_CGROUP_SKB, .insns = (uint64_t)(uintptr_t)code,
		.insn_cnt = 2, .license = (uint64_t)(uintptr_t)"GPL",
	};
	int fd = bpf(BPF_PROG_LOAD, &attr);

	if (fd < 0)
		err(2, "BPF_PROG_LOAD");
	return fd;
}

static bool change(enum bpf_cmd cmd, int group, int prog, enum bpf_attach_type type)
{
	union bpf_attr attr = {
		.target_fd = (uint32_t)group, .attach_bpf_fd = (uint32_t)prog, .attach_type = type,
	};

	return !bpf(cmd, &attr);
}

/* Move the process to a group; sockets belong to the group in which they were created. */
static void enter(const char *group, const char *below)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s%s/cgroup.procs", group, below);
	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, "0", 1) != 1)
		err(2, "%s", path);
	close(fd);
}

/* $NDP_CGROUP is the mount point of cgroup2; the test's group is $NDP_CGROUP/ndp. */
void test_cgroup(void)
{
	const char *root = getenv("NDP_CGROUP");
	int rx, tx, group, prog = load();
	char path[256];

	if (!root)
		errx(2, "no NDP_CGROUP");
	snprintf(path, sizeof(path), "%s/ndp", root);
	group = open(path, O_RDONLY | O_DIRECTORY);
	enter(root, "/ndp");
	rx = api_receiver(CGROUP);
	tx = api_sender();
	enter(root, "");
	ndp_option(tx, SOL_NDP, NDP_TIMEOUT, 200);
	check(arrives(tx, rx, CGROUP, GOOD), "message arrives without a program");
	check(change(BPF_PROG_ATTACH, group, prog, BPF_CGROUP_INET_INGRESS),
	      "ingress program is attached");
	check(is_lost(tx, rx, CGROUP, GOOD, 2), "message dropped by the ingress program times out");
	check(change(BPF_PROG_DETACH, group, prog, BPF_CGROUP_INET_INGRESS),
	      "ingress program is detached");
	check(arrives(tx, rx, CGROUP, GOOD),
	      "message arrives after the ingress program was detached");
	check(change(BPF_PROG_ATTACH, group, prog, BPF_CGROUP_INET_EGRESS),
	      "egress program is attached");
	check(is_lost(tx, rx, CGROUP, GOOD, 4), "message dropped by the egress program times out");
	check(change(BPF_PROG_DETACH, group, prog, BPF_CGROUP_INET_EGRESS),
	      "egress program is detached");
	check(arrives(tx, rx, CGROUP, GOOD),
	      "message arrives after the egress program was detached");
	close(rx);
	close(tx);
}
