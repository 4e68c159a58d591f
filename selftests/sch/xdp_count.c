// SPDX-License-Identifier: GPL-2.0-only
/*
 * xdp_count: count the runs of a generic XDP program
 *
 * xdp_count NS DEV COMMAND [ARGUMENT...]
 *
 * Attaches a program that counts its runs and passes each packet, runs COMMAND, and
 * prints "runs N". Exits with the status of COMMAND, or with 4 if the kernel has no BPF.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/rtnl.h"

#define SKIP 4

static int bpf(enum bpf_cmd cmd, union bpf_attr *attr)
{
	return (int)syscall(__NR_bpf, cmd, attr, sizeof(*attr));
}

static int make_counter(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 8, .max_entries = 1,
	};
	int map = bpf(BPF_MAP_CREATE, &attr);

	if (map < 0)
		err(SKIP, "cannot create a map");
	return map;
}

static uint64_t counted(int map)
{
	uint64_t value = 0;
	uint32_t key = 0;
	union bpf_attr attr = {
		.map_fd = (uint32_t)map, .key = (uintptr_t)&key, .value = (uintptr_t)&value,
	};

	if (bpf(BPF_MAP_LOOKUP_ELEM, &attr))
		err(2, "cannot read the counter");
	return value;
}

/* map[0]++; return XDP_PASS */
static int load(int map)
{
	const struct bpf_insn program[] = {
		{ BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, -4, 0 },
		{ BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_2, BPF_REG_10, 0, 0 },
		{ BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, -4 },
		{ BPF_LD | BPF_DW | BPF_IMM, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, map },
		{ 0, 0, 0, 0, 0 },
		{ BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem },
		{ BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 2, 0 },
		{ BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_1, 0, 0, 1 },
		{ BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_0, BPF_REG_1, 0, BPF_ADD },
		{ BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, XDP_PASS },
		{ BPF_JMP | BPF_EXIT, 0, 0, 0, 0 },
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_XDP, .insns = (uintptr_t)program,
		.insn_cnt = sizeof(program) / sizeof(program[0]), .license = (uintptr_t)"GPL",
	};
	int fd = bpf(BPF_PROG_LOAD, &attr);

	if (fd < 0)
		err(2, "cannot load the program");
	return fd;
}

static void attach(const char *dev, int program)
{
	char buffer[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *n = mnl_nlmsg_put_header(buffer);
	struct ifinfomsg *info;
	struct nlattr *nest;

	n->nlmsg_type = RTM_SETLINK;
	n->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	info = mnl_nlmsg_put_extra_header(n, sizeof(*info));
	info->ifi_index = (int)if_nametoindex(dev);
	nest = mnl_attr_nest_start(n, IFLA_XDP);
	mnl_attr_put_u32(n, IFLA_XDP_FD, (uint32_t)program);
	mnl_attr_put_u32(n, IFLA_XDP_FLAGS, XDP_FLAGS_SKB_MODE);
	mnl_attr_nest_end(n, nest);
	errno = request(n);
	if (errno)
		err(2, "%s: %s", dev, message);
}

static int run(char **command)
{
	int status;
	pid_t pid;

	errno = posix_spawnp(&pid, command[0], NULL, NULL, command, environ);
	if (errno || waitpid(pid, &status, 0) != pid)
		err(2, "%s", command[0]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}

int main(int argc, char **argv)
{
	int map, program, status;

	if (argc < 4)
		errx(2, "usage: xdp_count NS DEV COMMAND [ARGUMENT...]");
	map = make_counter();
	program = load(map);
	enter_ns(argv[1]);
	open_netlink();
	attach(argv[2], program);
	status = run(argv + 3);
	printf("runs %llu\n", (unsigned long long)counted(map));
	attach(argv[2], -1);
	return status;
}
