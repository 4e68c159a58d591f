/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * closwire: interface of the CPU's costs in closwire_cpu.c
 */
#ifndef _CLOSWIRE_CPU_H
#define _CLOSWIRE_CPU_H

#include <closnet/core.h>

/**
 * struct closwire_cpu - core of a host that sends or receives the packets of a port
 * @packet_ns: time of a packet
 * @frame_ns: time of a received frame, in addition
 * @kb_ns: time of 1024 bytes, in addition
 * @free_ns: time from which the core is free
 */
struct closwire_cpu {
	u32 packet_ns;
	u32 frame_ns;
	u32 kb_ns;
	u64 free_ns;
};

bool closwire_cpu_costs(const struct closwire_cpu *cpu);
void closwire_cpu_bytes(struct closwire_cpu *cpu, u32 bytes);
u64 closwire_cpu_send(struct closwire_cpu *cpu, u64 now_ns, u32 bytes);
u64 closwire_cpu_receive(struct closwire_cpu *cpu, u64 now_ns, u32 frames);
void closwire_cpu_received(struct closwire_cpu *cpu, u32 packets);

#endif /* _CLOSWIRE_CPU_H */
