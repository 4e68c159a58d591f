// SPDX-License-Identifier: GPL-2.0-only
/*
 * closwire: reception by a host whose CPU takes time
 *
 *	cable --> RX ring --> batch --> stack
 *	          CLOSWIRE_   at most one NAPI budget, for as long as closwire_cpu.c says
 *	          RX_RING
 *
 * While the core is busy, arrived frames wait in the RX ring, and are lost if it is full.
 * A free core takes a batch, and passes it to the stack when its time is over. So the
 * more frames wait, the more of them GRO can merge, as on a busy host. Only the end of
 * a batch empties the ring: frames are moved there later than they arrive, with the same
 * result.
 *
 * Ports of a host without costs do not use this file, unless frames still wait here.
 */
#include "closwire.h"

/**
 * closwire_set_cpu() - set the costs of the host's CPU
 * @port: port
 * @o: options
 */
void closwire_set_cpu(struct closwire_port *port, const struct closwire_options *o)
{
	struct closwire_cpu *cpus[] = { &port->tx.cpu, &port->rx.cpu };
	size_t i;

	spin_lock_bh(&port->tx.lock);
	spin_lock(&port->rx.lock);
	for (i = 0; i < ARRAY_SIZE(cpus); i++) {
		WRITE_ONCE(cpus[i]->packet_ns, o->cpu_packet_ns);
		WRITE_ONCE(cpus[i]->frame_ns, o->cpu_frame_ns);
		WRITE_ONCE(cpus[i]->kb_ns, o->cpu_kb_ns);
	}
	spin_unlock(&port->rx.lock);
	spin_unlock_bh(&port->tx.lock);
}

/**
 * closwire_batch_idle() - check whether no frame waits for the CPU
 * @rx: receiver
 *
 * Return: true if ring and batch are empty.
 */
bool closwire_batch_idle(const struct closwire_rx *rx)
{
	return skb_queue_empty_lockless(&rx->ring) && skb_queue_empty_lockless(&rx->batch);
}

/**
 * closwire_batch_used() - check whether the port's frames wait for the CPU
 * @rx: receiver
 *
 * Return: true if the functions below receive the frames, false if
 * closwire_cable_arrived() does.
 */
bool closwire_batch_used(const struct closwire_rx *rx)
{
	return closwire_cpu_costs(&rx->cpu) || !closwire_batch_idle(rx);
}

/**
 * closwire_batch_done() - take the frames of the batch once its time is over
 * @rx: receiver
 * @now_ns: present time
 * @budget: maximum number of frames
 * @frames: list to which they are appended
 *
 * Return: number of frames.
 */
int closwire_batch_done(struct closwire_rx *rx, u64 now_ns, int budget,
			struct sk_buff_head *frames)
{
	struct sk_buff *skb;
	int n = 0;

	spin_lock(&rx->lock);
	while (rx->batch_ns <= now_ns && n < budget && (skb = __skb_dequeue(&rx->batch))) {
		closwire_cpu_bytes(&rx->cpu, closwire_cb(skb)->len);
		__skb_queue_tail(frames, skb);
		n++;
	}
	spin_unlock(&rx->lock);
	return n;
}

/*
 * Move arrived frames to the ring, and those that find it full to @missed, whose number is
 * bounded. Return: false if more frames may have found it full.
 */
static bool closwire_ring_fill(struct closwire_rx *rx, u64 now_ns, struct sk_buff_head *missed)
{
	struct sk_buff *skb;
	int n;

	if (rx->due_ns > now_ns)
		return true;
	closwire_cable_dequeue(&rx->flight, &rx->ring, now_ns,
			       CLOSWIRE_RX_RING - skb_queue_len(&rx->ring));
	n = closwire_cable_dequeue(&rx->flight, missed, now_ns, CLOSWIRE_RX_RING);
	skb = skb_peek(&rx->flight);
	if (skb)
		WRITE_ONCE(rx->due_ns, closwire_due_ns(rx, skb));
	return n < CLOSWIRE_RX_RING;
}

/* Start the next batch if the core is free. */
static void closwire_batch_start(struct closwire_rx *rx, u64 now_ns)
{
	int n;

	if (!skb_queue_empty(&rx->batch) || rx->cpu.free_ns > now_ns)
		return;
	n = closwire_cable_dequeue(&rx->ring, &rx->batch, now_ns, NAPI_POLL_WEIGHT);
	if (n)
		rx->batch_ns = closwire_cpu_receive(&rx->cpu, now_ns, n);
}

/**
 * closwire_batch_next() - charge the core for received packets, and start the next batch
 * @port: receiving port
 * @now_ns: present time
 * @packets: number of packets that the stack got from closwire_batch_done()'s frames
 */
void closwire_batch_next(struct closwire_port *port, u64 now_ns, u32 packets)
{
	struct closwire_port *sender = rcu_dereference_bh(port->peer);
	struct closwire_rx *rx = &port->rx;
	struct sk_buff_head missed;
	struct sk_buff *skb;

	__skb_queue_head_init(&missed);
	spin_lock(&rx->lock);
	closwire_cpu_received(&rx->cpu, packets);
	/* Otherwise the timer fires at once, to continue. */
	if (closwire_ring_fill(rx, now_ns, &missed))
		closwire_batch_start(rx, now_ns);
	closwire_arm_rx(rx);
	spin_unlock(&rx->lock);

	while ((skb = __skb_dequeue(&missed))) {
		closwire_unhold(sender, closwire_cb(skb));
		closwire_drop(skb, &port->stats.rx_missed);
	}
}
