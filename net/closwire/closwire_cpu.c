// SPDX-License-Identifier: GPL-2.0-only
/*
 * closwire: costs of a host's CPU
 *
 * In the lab's virtual time, the CPU takes no time. These functions give it back: a
 * port's host has a core that sends and a core that receives. A core does one thing
 * after the other, and is busy until free_ns.
 *
 *	sent packet		packet_ns, then kb_ns for each 1024 bytes
 *	received batch		packet_ns + frame_ns for each frame, then packet_ns for each
 *				further packet, and kb_ns for each 1024 bytes
 *
 * A batch is the frames of a NAPI poll; its packets are what GRO makes of them. The time
 * before "then" delays the packet or batch, the time after it only the following ones:
 * bytes are copied before TCP sends a packet, and after it has received one, and the
 * number of packets is known after GRO. Time is an argument of all functions, so that
 * the unit test runs the code of the module.
 */
#include "closwire_cpu.h"

#define CLOSWIRE_CPU_KB_SHIFT	10

/**
 * closwire_cpu_costs() - check whether anything takes time
 * @cpu: core
 *
 * Return: false if all costs are 0.
 */
bool closwire_cpu_costs(const struct closwire_cpu *cpu)
{
	return READ_ONCE(cpu->packet_ns) | READ_ONCE(cpu->frame_ns) | READ_ONCE(cpu->kb_ns);
}

/**
 * closwire_cpu_bytes() - let a busy core process bytes
 * @cpu: core
 * @bytes: number of bytes
 */
void closwire_cpu_bytes(struct closwire_cpu *cpu, u32 bytes)
{
	cpu->free_ns += (u64)bytes * cpu->kb_ns >> CLOSWIRE_CPU_KB_SHIFT;
}

/**
 * closwire_cpu_send() - let the core send a packet
 * @cpu: core
 * @now_ns: present time
 * @bytes: length of the packet
 *
 * Return: time when the NIC gets the packet; at most @now_ns if nothing takes time.
 */
u64 closwire_cpu_send(struct closwire_cpu *cpu, u64 now_ns, u32 bytes)
{
	u64 ready_ns;

	if (likely(!closwire_cpu_costs(cpu)))
		return 0;
	ready_ns = max_t(u64, cpu->free_ns, now_ns) + cpu->packet_ns;
	cpu->free_ns = ready_ns;
	closwire_cpu_bytes(cpu, bytes);
	return ready_ns;
}

/**
 * closwire_cpu_receive() - let the core, which is free, receive a batch
 * @cpu: core
 * @now_ns: present time
 * @frames: number of frames
 *
 * closwire_cpu_received() and closwire_cpu_bytes() must follow for all of the batch.
 *
 * Return: time when the stack gets the batch.
 */
u64 closwire_cpu_receive(struct closwire_cpu *cpu, u64 now_ns, u32 frames)
{
	cpu->free_ns = now_ns + (u64)frames * cpu->frame_ns;
	return cpu->free_ns + cpu->packet_ns;
}

/**
 * closwire_cpu_received() - let the core process the packets of a batch
 * @cpu: core
 * @packets: number of packets after GRO, from all or a part of the batch's frames
 */
void closwire_cpu_received(struct closwire_cpu *cpu, u32 packets)
{
	cpu->free_ns += (u64)packets * cpu->packet_ns;
}
