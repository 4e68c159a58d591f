// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NDP transport: answers that wait for more packets
 *
 * An answer costs as much as a packet. Packets of a flow that came together share one
 * (ndp_rcv_reply()): it waits as long as there are packets that the CPU has yet to look at.
 * Flows whose answers wait are in a list of the CPU:
 *
 *	packets --> ndp_rx_input() --> ndp_owed_add() --> list
 *	                                                   |
 *	a NAPI, polled behind those that had packets       |
 *	64 packets, or a reader to be woken                v
 *	                      ndp_owed_run() ---> ndp_rx_settle() --> CONTROL
 *
 * The NAPI is of no device. It is scheduled when the list gets its first flow, so that the
 * softirq in which packets came does not end without it. (A tasklet, or on 6.1 the NAPI, comes in
 * another round of softirqs, for which ksoftirqd has to be waited if a process is to run. That is
 * why readers are woken last.)
 *
 * Packets of one flow may come on several CPUs at a time; the first one sends the answer.
 */

#include <linux/netdevice.h>
#include "ndp.h"

/* Packets of all flows after which answers wait no longer: as many as a device has in a poll */
#define NDP_OWED_PACKETS	64U

/**
 * struct ndp_owed - of a CPU
 * @lock: protects @flows; those that end leave it from any CPU
 * @flows: struct ndp_rx, by @owed_node
 * @packets: that wait for an answer, or did when @flows was empty last
 * @napi: sends them
 */
struct ndp_owed {
	spinlock_t lock;		/* @flows */
	struct list_head flows;
	u32 packets;
	struct napi_struct napi;
};

static DEFINE_PER_CPU(struct ndp_owed, ndp_owed);
static struct net_device *ndp_owed_dev;

/**
 * ndp_owed_add() - a packet of a flow waits for its answer
 * @rx: flow
 *
 * Under rcv_lock, with bottom halves off; ndp_owed_run() has to follow.
 */
void ndp_owed_add(struct ndp_rx *rx)
{
	struct ndp_owed *owed = this_cpu_ptr(&ndp_owed);

	if (!rx->owed_at) {
		rx->owed_at = owed;
		spin_lock(&owed->lock);
		list_add_tail(&rx->owed_node, &owed->flows);
		spin_unlock(&owed->lock);
		napi_schedule(&owed->napi);
	}
	owed->packets++;
}

/**
 * ndp_owed_del() - a flow ends
 * @rx: flow
 *
 * Nobody answers its packets any more. Under rcv_lock, with bottom halves off.
 */
void ndp_owed_del(struct ndp_rx *rx)
{
	if (!rx->owed_at)
		return;
	spin_lock(&rx->owed_at->lock);
	list_del_init(&rx->owed_node);
	spin_unlock(&rx->owed_at->lock);
}

/* Under RCU. A flow that is in the list has not ended, so that it is there for as long as that. */
static struct ndp_rx *ndp_owed_next(struct ndp_owed *owed)
{
	struct ndp_rx *rx;

	spin_lock(&owed->lock);
	rx = list_first_entry_or_null(&owed->flows, struct ndp_rx, owed_node);
	if (rx)
		list_del_init(&rx->owed_node);
	spin_unlock(&owed->lock);
	return rx;
}

static void ndp_owed_send(struct ndp_owed *owed)
{
	struct ndp_rx *rx;

	owed->packets = 0;
	rcu_read_lock();
	while ((rx = ndp_owed_next(owed)))
		ndp_rx_settle(rx);
	rcu_read_unlock();
}

/**
 * ndp_owed_run() - a packet was looked at
 * @at_once: answers of this CPU wait no longer, even if they are few
 *
 * With bottom halves off, without locks.
 */
void ndp_owed_run(bool at_once)
{
	struct ndp_owed *owed = this_cpu_ptr(&ndp_owed);

	if (owed->packets >= NDP_OWED_PACKETS || (at_once && !list_empty(&owed->flows)))
		ndp_owed_send(owed);
}

static int ndp_owed_poll(struct napi_struct *napi, int budget)
{
	ndp_owed_send(container_of(napi, struct ndp_owed, napi));
	napi_complete_done(napi, 0);
	return 0;
}

/**
 * ndp_owed_init() - when the module begins
 *
 * Return: 0 or a negative error.
 */
int ndp_owed_init(void)
{
	struct ndp_owed *owed;
	int cpu;

	ndp_owed_dev = alloc_netdev_dummy(0);
	if (!ndp_owed_dev)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		owed = per_cpu_ptr(&ndp_owed, cpu);
		spin_lock_init(&owed->lock);
		INIT_LIST_HEAD(&owed->flows);
		/* nobody who sleeps polls it */
		set_bit(NAPI_STATE_NO_BUSY_POLL, &owed->napi.state);
		netif_napi_add(ndp_owed_dev, &owed->napi, ndp_owed_poll);
		napi_enable(&owed->napi);
	}
	return 0;
}

/**
 * ndp_owed_exit() - take back ndp_owed_init(); there are no flows any more
 */
void ndp_owed_exit(void)
{
	struct ndp_owed *owed;
	int cpu;

	for_each_possible_cpu(cpu) {
		owed = per_cpu_ptr(&ndp_owed, cpu);
		napi_disable(&owed->napi);
		netif_napi_del(&owed->napi);
	}
	closnet_free_netdev_dummy(ndp_owed_dev);
}
