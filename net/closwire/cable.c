// SPDX-License-Identifier: GPL-2.0-only
/*
 * closwire: the cable, a FIFO of frames with their arrival times, and the memory of
 * the frames on it
 *
 * The receiver's interrupt comes when the first frame has arrived, or rx-usecs later,
 * and handles all frames that have arrived. MAC control frames have a FIFO of their
 * own, since the NIC obeys them at once, without its host.
 */
#include "closwire.h"

/* ---- memory ---- */

/*
 * When a frame has left, a NIC returns its memory to the sender. On the cable a frame
 * is therefore not charged to any socket, nor is a forwarded frame in a ring. The
 * host's root may use any amount of both. A port of a user namespace may use
 * CLOSWIRE_HELD_MAX, and all such ports together CLOSWIRE_HELD_ALL_MAX. Beyond that,
 * each keeps CLOSWIRE_HELD_MIN, so that a user cannot block the ports of another.
 */
static atomic_long_t closwire_held_all;

/**
 * closwire_full() - check whether a port's frames use their maximum of memory
 * @tx: transmitter
 *
 * Return: true if no more memory may be charged.
 */
bool closwire_full(const struct closwire_tx *tx)
{
	int held;

	if (likely(!tx->limited))
		return false;
	held = atomic_read(&tx->held);
	return held >= CLOSWIRE_HELD_MAX ||
	       (held >= CLOSWIRE_HELD_MIN &&
		atomic_long_read(&closwire_held_all) >= CLOSWIRE_HELD_ALL_MAX);
}

/**
 * closwire_hold() - charge a port for a frame without owner, unless it is charged
 * @tx: transmitter of the port
 * @skb: frame
 */
void closwire_hold(struct closwire_tx *tx, struct sk_buff *skb)
{
	struct closwire_cb *cb = closwire_cb(skb);

	if (likely(!tx->limited) || cb->held)
		return;
	cb->held = skb->truesize;
	atomic_add(cb->held, &tx->held);
	atomic_long_add(cb->held, &closwire_held_all);
}

/**
 * closwire_unhold() - undo closwire_hold()
 * @sender: charged port; NULL if it is being deleted
 * @cb: control block of the frame
 */
void closwire_unhold(struct closwire_port *sender, const struct closwire_cb *cb)
{
	if (sender)
		atomic_sub(cb->held, &sender->tx.held);
	atomic_long_sub(cb->held, &closwire_held_all);
}

/* ---- FIFOs ---- */

/* Time of the next event for data frames: the end of a batch, a free CPU, an interrupt */
static u64 closwire_data_ns(const struct closwire_rx *rx)
{
	if (unlikely(!skb_queue_empty(&rx->batch)))
		return rx->batch_ns;
	if (unlikely(!skb_queue_empty(&rx->ring)))
		return rx->cpu.free_ns;
	if (!skb_queue_empty(&rx->flight))
		return max(rx->due_ns, rx->cpu.free_ns);
	return U64_MAX;
}

/**
 * closwire_arm_rx() - set the timer for the next event
 * @rx: receiver
 *
 * Context: rx lock held.
 */
void closwire_arm_rx(struct closwire_rx *rx)
{
	struct sk_buff *ctrl = skb_peek(&rx->ctrl);
	u64 t_ns = closwire_data_ns(rx);

	if (unlikely(ctrl))
		t_ns = min(t_ns, closwire_cb(ctrl)->arrival_ns);
	if (t_ns != U64_MAX)
		hrtimer_start(&rx->timer, ns_to_ktime(t_ns), HRTIMER_MODE_ABS);
}

/**
 * closwire_due_ns() - get the time of the interrupt for a frame
 * @rx: receiver
 * @skb: frame
 *
 * Return: time, ns.
 */
u64 closwire_due_ns(const struct closwire_rx *rx, struct sk_buff *skb)
{
	return closwire_cb(skb)->arrival_ns + (u64)rx->usecs * NSEC_PER_USEC;
}

/**
 * closwire_cable_enqueue() - put a frame on the cable to a port
 * @port: receiving port
 * @skb: frame, its arrival time set
 *
 * Return: false if the port is down; the frame still belongs to the caller.
 */
bool closwire_cable_enqueue(struct closwire_port *port, struct sk_buff *skb)
{
	struct closwire_cb *cb = closwire_cb(skb);
	struct closwire_rx *rx = &port->rx;
	struct sk_buff_head *frames;
	struct sk_buff *before;

	spin_lock(&rx->lock);
	if (unlikely(!rx->up)) {
		spin_unlock(&rx->lock);
		return false;
	}
	/* A lost control frame is not obeyed but only counted, as a lost data frame. */
	frames = cb->txq == CLOSWIRE_CTRL && !cb->lost ? &rx->ctrl : &rx->flight;
	before = skb_peek_tail(frames);
	/* Frames do not overtake, even if the delay has been reduced. */
	if (before)
		cb->arrival_ns = max(cb->arrival_ns,
				     closwire_cb(before)->arrival_ns);
	else if (frames == &rx->flight)
		WRITE_ONCE(rx->due_ns, closwire_due_ns(rx, skb));
	__skb_queue_tail(frames, skb);
	if (!before)
		closwire_arm_rx(rx);
	spin_unlock(&rx->lock);
	return true;
}

/**
 * closwire_cable_dequeue() - move arrived frames
 * @from: list in the order of arrival
 * @to: list to which they are appended
 * @now_ns: present time
 * @max: maximum number of frames
 *
 * Return: number of frames.
 */
int closwire_cable_dequeue(struct sk_buff_head *from, struct sk_buff_head *to, u64 now_ns,
			   int max)
{
	struct sk_buff *skb;
	int n;

	for (n = 0; n < max; n++) {
		skb = skb_peek(from);
		if (!skb || closwire_cb(skb)->arrival_ns > now_ns)
			break;
		__skb_unlink(skb, from);
		__skb_queue_tail(to, skb);
	}
	return n;
}

/**
 * closwire_cable_ctrl() - get the first MAC control frame, if it has arrived
 * @rx: receiver
 * @now_ns: present time
 *
 * The frame remains the first one until closwire_cable_take_ctrl(): both are called
 * under the tx lock of this port.
 *
 * Return: frame, or NULL.
 */
struct sk_buff *closwire_cable_ctrl(struct closwire_rx *rx, u64 now_ns)
{
	struct sk_buff *skb;

	if (likely(skb_queue_empty_lockless(&rx->ctrl)))
		return NULL;
	spin_lock(&rx->lock);
	skb = skb_peek(&rx->ctrl);
	if (skb && closwire_cb(skb)->arrival_ns > now_ns)
		skb = NULL;
	spin_unlock(&rx->lock);
	return skb;
}

/**
 * closwire_cable_take_ctrl() - take that frame off the cable
 * @rx: receiver
 * @skb: frame
 * @now_ns: present time
 *
 * Sets the timer for the next event, unless data has arrived: NAPI is then pending.
 */
void closwire_cable_take_ctrl(struct closwire_rx *rx, struct sk_buff *skb, u64 now_ns)
{
	spin_lock(&rx->lock);
	__skb_unlink(skb, &rx->ctrl);
	if (skb_queue_empty(&rx->flight) || rx->due_ns > now_ns)
		closwire_arm_rx(rx);
	spin_unlock(&rx->lock);
}

/**
 * closwire_cable_arrived() - take the arrived data frames once their interrupt is due
 * @port: receiving port
 * @now_ns: present time
 * @budget: maximum number of frames
 * @frames: list to which they are appended
 *
 * Return: number of frames.
 */
int closwire_cable_arrived(struct closwire_port *port, u64 now_ns, int budget,
			   struct sk_buff_head *frames)
{
	struct closwire_rx *rx = &port->rx;
	struct sk_buff *skb;
	bool arm;
	int n = 0;

	spin_lock(&rx->lock);
	arm = !skb_queue_empty(&rx->ctrl);
	if (rx->due_ns <= now_ns) {
		n = closwire_cable_dequeue(&rx->flight, frames, now_ns, budget);
		skb = skb_peek(&rx->flight);
		if (skb && n < budget) {
			WRITE_ONCE(rx->due_ns, closwire_due_ns(rx, skb));
			arm = true;
		}
	}
	if (arm)
		closwire_arm_rx(rx);
	spin_unlock(&rx->lock);
	return n;
}
