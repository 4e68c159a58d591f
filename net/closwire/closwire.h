/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * closwire: interface between its files
 *
 *	main.c			device: creation, settings, up and down
 *	tx.c			ring and transmitter
 *	cable.c			frames on the cable, and their memory
 *	ctrl.c			MAC control frames
 *	wire.c			reception, start and stop of a port
 *	batch.c			reception by a host whose CPU takes time
 *	pfc.c			<closnet/pfc.h>: pause frames for other modules
 *	ethtool.c		ethtool
 *	dcb.c			priority flow control by dcb(8)
 *	ptp.c			PTP clock and hardware timestamps
 *	delay.c			measurement of one-way delays
 *	closwire_options.c	options (generated)
 *	closwire_line.c		times of frames, pauses (plain C)
 *	closwire_clock.c	clock with offset and drift (plain C)
 *	closwire_delay.c	histogram of delays (plain C)
 *	closwire_cpu.c		costs of the host's CPU (plain C)
 */
#ifndef _CLOSWIRE_H
#define _CLOSWIRE_H

#include <linux/ethtool.h>
#include <linux/hrtimer.h>
#include <linux/if_closwire.h>
#include <linux/net_tstamp.h>
#include <linux/netdevice.h>
#include <linux/ptp_clock_kernel.h>
#include <linux/seqlock.h>
#include <linux/skbuff.h>
#include "closwire_clock.h"
#include "closwire_cpu.h"
#include "closwire_delay.h"
#include "closwire_line.h"

#define CLOSWIRE_NAME		"closwire"

/* Maximum delay of the RX interrupt, and of waiting MAC control frames */
#define CLOSWIRE_RX_USECS_MAX	10000
#define CLOSWIRE_CTRL_MAX	64

/* Frames that wait for the host's CPU, if it takes time; the default of many NICs */
#define CLOSWIRE_RX_RING	1024

/* Maximum number of frames and pauses processed at once, with softirqs disabled */
#define CLOSWIRE_TX_BUDGET	256

/*
 * Memory of ports of user namespaces, bytes: maximum per port, maximum of all ports,
 * and guaranteed share of a port
 */
#define CLOSWIRE_HELD_MAX	(16 << 20)
#define CLOSWIRE_HELD_ALL_MAX	(64 << 20)
#define CLOSWIRE_HELD_MIN	(256 << 10)

/* Ring number of MAC control frames */
#define CLOSWIRE_CTRL		0xff

/**
 * struct closwire_cb - control block of a frame between xmit and receive
 * @sfd_ns: time when the start frame delimiter passes the sender, and on the cable the
 *	receiver; CLOCK_MONOTONIC
 * @arrival_ns: time when the last bit arrives
 * @ready_ns: time when the sending host's CPU has finished the packet
 * @len: length on the link, bytes, with VLAN tag, without padding and FCS
 * @held: memory that the sending port is charged for, bytes; 0: not charged
 * @txq: ring, or CLOSWIRE_CTRL
 * @prio: priority for PFC: PCP of a VLAN tag, else skb->priority if below 8, else 0
 * @last: last frame of its packet
 * @stamp: the sender requests a hardware timestamp
 * @lost: lost on the cable
 */
struct closwire_cb {
	u64 sfd_ns;
	u64 arrival_ns;
	u64 ready_ns;
	u32 len;
	u32 held;
	u8 txq;
	u8 prio;
	bool last;
	bool stamp;
	bool lost;
};

static inline struct closwire_cb *closwire_cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct closwire_cb) > sizeof(skb->cb));
	return (struct closwire_cb *)skb->cb;
}

/**
 * struct closwire_tx - transmission of a port
 * @lock: protects the other members; taken with softirqs disabled, before an rx lock
 * @waiting: rings with a frame, one bit each
 * @last_txq: ring served last
 * @frame: frame on the link, if the end of its transmission must be signalled
 * @line: transmitter
 * @cpu: core of the host that sends
 * @ctrl: waiting MAC control frames
 * @ring: waiting frames, by TX queue
 * @posted: packets in each ring, including the one on the link
 * @ring_max: maximum number of packets in a ring
 * @loss: probability of a loss on the cable, in units of 1 / U32_MAX
 * @rate_Bps: rate, bytes per second
 * @delay_ns: delay of the cable
 * @pfc: priorities that obey pause frames, one bit each
 * @up: the port is up
 * @paused: all waiting frames are paused
 * @limited: the port belongs to a user namespace: its memory is limited
 * @held: memory of frames in rings and on the cable that is not charged to a socket,
 *	bytes; counted if @limited
 * @from_ns: earliest start of the next frame, apart from the gap
 * @due_ns: last set expiry of @timer
 * @timer: expires when the frame on the link has left or a pause ends
 */
struct closwire_tx {
	spinlock_t lock;	/* protects all below */
	u32 waiting;
	u32 last_txq;
	struct sk_buff *frame;
	struct closwire_line line;
	struct closwire_cpu cpu;
	struct sk_buff_head ctrl;
	struct sk_buff_head ring[CLOSWIRE_TX_QUEUES_MAX];
	u32 posted[CLOSWIRE_TX_QUEUES_MAX];
	u32 ring_max;
	u32 loss;
	u64 rate_Bps;
	u64 delay_ns;
	u8 pfc;
	bool up;
	bool paused;
	bool limited;
	atomic_t held;
	u64 from_ns;
	u64 due_ns;
	struct hrtimer timer;
};

/**
 * struct closwire_rx - reception of a port
 * @lock: protects the other members; taken with softirqs disabled
 * @flight: data frames on the cable to the port, in order of arrival
 * @ctrl: MAC control frames on the cable to the port, in order of arrival
 * @ring: arrived frames that wait for the CPU
 * @batch: frames that the CPU processes
 * @batch_ns: time when @batch is passed to the stack
 * @cpu: core of the host that receives
 * @usecs: delay of the interrupt after a frame, us
 * @due_ns: time of the interrupt for the first frame in @flight
 * @up: the port is up
 * @timer: the interrupt
 */
struct closwire_rx {
	spinlock_t lock;	/* protects all below */
	struct sk_buff_head flight;
	struct sk_buff_head ctrl;
	struct sk_buff_head ring;
	struct sk_buff_head batch;
	u64 batch_ns;
	struct closwire_cpu cpu;
	u32 usecs;
	u64 due_ns;
	bool up;
	struct hrtimer timer;
};

/**
 * struct closwire_stats - counters of a port
 *
 * @tx_* and the counters of received MAC control frames are written under the tx lock,
 * the other @rx_* by NAPI; all are read without a lock. Frames and bytes are those of
 * data frames, without preamble, FCS and padding, as in other drivers. The time of
 * pauses is in struct closwire_line.
 *
 * @tx_frames: data frames sent
 * @tx_bytes: their bytes
 * @tx_dropped_carrier: frames dropped for lack of carrier
 * @tx_ctrl: MAC control frames sent
 * @tx_pause: pause frames of 802.3x sent
 * @rx_frames: data frames received
 * @rx_bytes: their bytes
 * @rx_lost: frames lost on the cable
 * @rx_dropped_length: frames dropped, as they exceeded the MTU
 * @rx_missed: frames lost, as the RX ring was full
 * @rx_ctrl: MAC control frames received
 * @rx_ctrl_unknown: MAC control frames received that are not PFC
 * @rx_pause: pause frames of 802.3x received
 * @own: counters of ethtool -S that no standard group has
 * @tx_prio_pause: pause frames sent that pause or resume a priority, by priority
 * @tx_ring_full: number of times that a full ring stopped its queue
 * @tx_paused: number of times that pauses stopped the transmission
 * @tx_dropped_ctrl: MAC control frames dropped, as too many were waiting
 * @tx_dropped_limit: frames dropped, as the port used its maximum of memory
 * @tx_dropped_nomem: packets dropped, as they could not be segmented
 * @tx_hwtstamps: hardware timestamps delivered to senders
 * @rx_prio_pause: pause frames received that name a priority, by priority
 * @rx_dropped_down: frames dropped that were on the cable when the port went down
 * @rx_dropped_nomem: frames dropped for lack of memory
 * @rx_interrupts: interrupts for received frames
 * @rx_hwtstamps: frames with a hardware timestamp
 */
struct closwire_stats {
	u64 tx_frames;
	u64 tx_bytes;
	u64 tx_dropped_carrier;
	u64 tx_ctrl;
	u64 tx_pause;
	u64 rx_frames;
	u64 rx_bytes;
	u64 rx_lost;
	u64 rx_dropped_length;
	u64 rx_missed;
	u64 rx_ctrl;
	u64 rx_ctrl_unknown;
	u64 rx_pause;
	struct_group_tagged(closwire_own_stats, own,
		u64 tx_prio_pause[CLOSWIRE_PRIOS];
		u64 tx_ring_full;
		u64 tx_paused;
		u64 tx_dropped_ctrl;
		u64 tx_dropped_limit;
		u64 tx_dropped_nomem;
		u64 tx_hwtstamps;
		u64 rx_prio_pause[CLOSWIRE_PRIOS];
		u64 rx_dropped_down;
		u64 rx_dropped_nomem;
		u64 rx_interrupts;
		u64 rx_hwtstamps;
	);
};

/* A counter has one writer at a time. Access to a u64 is atomic (64BIT). */
static inline void closwire_add(u64 *counter, u64 n)
{
	WRITE_ONCE(*counter, *counter + n);
}

static inline void closwire_drop(struct sk_buff *skb, u64 *counter)
{
	closwire_add(counter, 1);
	kfree_skb(skb);
}

/**
 * struct closwire_ptp - PTP clock of a port
 * @lock: protects @clock; readers do not block
 * @clock: conversion of CLOCK_MONOTONIC_RAW to the port's time
 * @offset_ns: option clock_offset
 * @info: operations for the PTP core
 * @ptp: clock registered with the PTP core, or NULL
 * @config: set by SIOCSHWTSTAMP under RTNL, read by xmit and NAPI
 */
struct closwire_ptp {
	seqlock_t lock;
	struct closwire_clock clock;
	s64 offset_ns;
	struct ptp_clock_info info;
	struct ptp_clock *ptp;
	struct {
		int tx_type;
		int rx_filter;
	} config;
};

/**
 * struct closwire_port - port: netdev_priv()
 * @dev: device
 * @peer: port at the other end of the cable; protected by RTNL and RCU
 * @unplugged: the user has removed the carrier; protected by RTNL
 * @napi: reception and transmit completion
 * @tx: transmission
 * @rx: reception
 * @ptp: clock
 * @stats: counters
 * @measurement: histogram of the delays of received frames, or NULL; written under RTNL
 */
struct closwire_port {
	struct net_device *dev;
	struct closwire_port __rcu *peer;
	bool unplugged;
	struct napi_struct napi;
	struct closwire_tx tx ____cacheline_aligned_in_smp;
	struct closwire_rx rx ____cacheline_aligned_in_smp;
	struct closwire_ptp ptp;
	struct closwire_stats stats;
	struct closwire_measurement __rcu *measurement;
};

/* main.c */
bool closwire_is_port(const struct net_device *dev);
void closwire_set_ring(struct closwire_port *port, u32 packets);

/* cable.c */
bool closwire_full(const struct closwire_tx *tx);
void closwire_hold(struct closwire_tx *tx, struct sk_buff *skb);
void closwire_unhold(struct closwire_port *sender, const struct closwire_cb *cb);
void closwire_arm_rx(struct closwire_rx *rx);
u64 closwire_due_ns(const struct closwire_rx *rx, struct sk_buff *skb);
bool closwire_cable_enqueue(struct closwire_port *port, struct sk_buff *skb);
int closwire_cable_dequeue(struct sk_buff_head *from, struct sk_buff_head *to, u64 now_ns,
			   int max);
struct sk_buff *closwire_cable_ctrl(struct closwire_rx *rx, u64 now_ns);
void closwire_cable_take_ctrl(struct closwire_rx *rx, struct sk_buff *skb, u64 now_ns);
int closwire_cable_arrived(struct closwire_port *port, u64 now_ns, int budget,
			   struct sk_buff_head *frames);

/* ctrl.c */
void closwire_schedule_qdiscs(struct net_device *dev);
void closwire_receive_ctrl(struct closwire_port *port, struct sk_buff *skb);
void closwire_count_ctrl(struct closwire_stats *stats, const struct sk_buff *skb);

/* tx.c */
void closwire_tx_run(struct closwire_port *port, u64 now_ns);
void closwire_tx_catch_up(struct closwire_port *port, u64 now_ns);
void closwire_set_pfc(struct closwire_port *port, u8 enable);
int closwire_post_ctrl(struct closwire_port *port, struct sk_buff *skb);
netdev_tx_t closwire_xmit(struct sk_buff *skb, struct net_device *dev);

/* wire.c */
int closwire_poll(struct napi_struct *napi, int budget);
void closwire_wire_init(struct closwire_port *port);
void closwire_wire_start(struct closwire_port *port);
void closwire_wire_stop(struct closwire_port *port);

/* batch.c */
void closwire_set_cpu(struct closwire_port *port, const struct closwire_options *o);
bool closwire_batch_idle(const struct closwire_rx *rx);
bool closwire_batch_used(const struct closwire_rx *rx);
int closwire_batch_done(struct closwire_rx *rx, u64 now_ns, int budget,
			struct sk_buff_head *frames);
void closwire_batch_next(struct closwire_port *port, u64 now_ns, u32 packets);

/* ethtool.c */
extern const struct ethtool_ops closwire_ethtool_ops;

/* delay.c */
void closwire_delay_depart(struct sk_buff *skb);
void closwire_delay_arrive(struct closwire_port *port, const struct sk_buff *skb, u64 now_ns);
void closwire_delay_stop(struct closwire_port *port);
int closwire_set_dump(struct net_device *dev, struct ethtool_dump *dump);
int closwire_get_dump_flag(struct net_device *dev, struct ethtool_dump *dump);
int closwire_get_dump_data(struct net_device *dev, struct ethtool_dump *dump, void *data);

/* dcb.c */
#ifdef CONFIG_DCB
void closwire_dcb_setup(struct net_device *dev);
#else
static inline void closwire_dcb_setup(struct net_device *dev)
{
}
#endif

/* ptp.c */
void closwire_ptp_init(struct closwire_port *port);
int closwire_ptp_register(struct closwire_port *port);
void closwire_ptp_unregister(struct closwire_port *port);
void closwire_ptp_set_offset(struct closwire_port *port, s64 offset_ns);
void closwire_ptp_set_drift(struct closwire_port *port, s32 drift_ppb);
ktime_t closwire_stamp(struct closwire_port *port, u64 mono_ns);
int closwire_get_ts_info(struct net_device *dev, struct kernel_ethtool_ts_info *info);
int closwire_hwtstamp_get(struct net_device *dev, struct kernel_hwtstamp_config *config);
int closwire_hwtstamp_set(struct net_device *dev, struct kernel_hwtstamp_config *config,
			  struct netlink_ext_ack *extack);

#endif /* _CLOSWIRE_H */
