/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * closwire: what its files share
 *
 *	main.c		the device: links, settings, up and down
 *	wire.c		the way of a frame: ring, line, cable, receiver
 *	pfc.c		pause frames of other modules
 *	ethtool.c	ethtool
 *	dcb.c		priority flow control by dcb(8)
 *	ptp.c		PTP clock and hardware time stamps
 *	wire_core.h	when a frame leaves, and which (plain C)
 *	clock_core.h	a clock that is off and drifts (plain C)
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
#include "clock_core.h"
#include "wire_core.h"

#define CLOSWIRE_NAME		"closwire"

/* Longest delay of the RX interrupt, and most MAC control frames that wait */
#define CLOSWIRE_RX_USECS_MAX	10000
#define CLOSWIRE_CTRL_MAX	64

/* Frames and pauses that are handled in one go, with softirqs off */
#define CLOSWIRE_TX_BUDGET	256

/*
 * Memory that ports of user namespaces hold, in bytes: the most of one port, the
 * most of all, and the share of a port that no other can take
 */
#define CLOSWIRE_HELD_MAX	(16 << 20)
#define CLOSWIRE_HELD_ALL_MAX	(64 << 20)
#define CLOSWIRE_HELD_MIN	(256 << 10)

/* In place of a ring's number: a MAC control frame */
#define CLOSWIRE_CTRL		0xff

/**
 * struct closwire_cb - what a frame carries along between xmit and receive
 * @sfd_ns: when its start frame delimiter passed the sender, and after the
 *	hand-over: passes the receiver; CLOCK_MONOTONIC
 * @arrival_ns: when its last bit is there
 * @len: bytes on the line, with a VLAN tag and without padding and FCS
 * @held: memory for which the sending port is charged, in bytes; 0: none
 * @txq: the ring that it was in, or CLOSWIRE_CTRL
 * @prio: for PFC: PCP of a VLAN tag, else skb->priority if below 8, else 0
 * @last: the last frame of its packet
 * @stamp: its sender wants a hardware time stamp
 * @lost: the cable has lost it
 */
struct closwire_cb {
	u64 sfd_ns;
	u64 arrival_ns;
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
 * struct closwire_tx - what a port transmits
 * @lock: protects all below; softirqs off; taken before an rx lock
 * @line: the transmitter
 * @frame: the frame on the line, if somebody waits for its departure
 * @ctrl: MAC control frames that wait
 * @ring: frames that wait, by TX queue
 * @posted: packets in each ring, the one on the line included
 * @waiting: rings that have a frame, one bit each
 * @last_txq: ring served last
 * @ring_max: packets that a ring holds
 * @rate_Bps: bytes per second
 * @delay_ns: of the cable
 * @loss: probability that a frame gets lost, of U32_MAX
 * @pfc: priorities that pause frames hold, one bit each
 * @up: the port is up
 * @paused: the line stands still because of a pause
 * @limited: root of a user namespace owns the port: its memory is bounded
 * @held: memory of frames in the rings and on the cable that no socket is
 *	charged for, in bytes; counted if @limited
 * @from_ns: the next frame does not start before, nor before the gap's end
 * @due_ns: when the timer fires, or fired last
 * @timer: fires when the frame on the line has left or a pause ends
 */
struct closwire_tx {
	spinlock_t lock;	/* protects all below */
	u32 waiting;
	u32 last_txq;
	struct sk_buff *frame;
	struct closwire_line line;
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
 * struct closwire_rx - what comes to a port
 * @lock: protects all below; softirqs off
 * @flight: frames on the cable, in order of arrival
 * @ctrl: MAC control frames on the cable, the same
 * @usecs: how long after a frame the interrupt comes
 * @due_ns: when the interrupt comes for the first frame in flight, or came
 * @up: the port is up
 * @timer: the interrupt
 */
struct closwire_rx {
	spinlock_t lock;	/* protects all below */
	struct sk_buff_head flight;
	struct sk_buff_head ctrl;
	u32 usecs;
	u64 due_ns;
	bool up;
	struct hrtimer timer;
};

/**
 * struct closwire_stats - counters of a port
 *
 * Those of @tx_*, and of MAC control frames received, are written under the tx
 * lock, the other @rx_* by NAPI; read by anyone. The frames and bytes are of
 * data frames, without preamble, FCS and padding, as other drivers count. How
 * long each priority was paused, the line knows.
 *
 * @tx_frames: data frames sent
 * @tx_bytes: their bytes
 * @tx_dropped_carrier: frames dropped for lack of carrier
 * @tx_ctrl: MAC control frames sent
 * @tx_pause: pause frames of 802.3x sent, for all priorities
 * @rx_frames: data frames received
 * @rx_bytes: their bytes
 * @rx_lost: frames that the cable has lost
 * @rx_dropped_length: frames longer than the MTU allows
 * @rx_ctrl: MAC control frames received
 * @rx_ctrl_unknown: those that are not PFC
 * @rx_pause: pause frames of 802.3x received
 * @own: counters that have no place in a standard group, for ethtool -S
 * @tx_prio_pause: by priority, pause frames sent that pause or resume it
 * @tx_ring_full: times that a queue was stopped because its ring was full
 * @tx_paused: times that the line stood still because of a pause
 * @tx_dropped_ctrl: MAC control frames dropped since too many waited
 * @tx_dropped_limit: frames dropped since the port held too much memory
 * @tx_dropped_nomem: packets that could not be cut into frames
 * @tx_hwtstamps: hardware time stamps given to senders
 * @rx_prio_pause: by priority, pause frames received that name it
 * @rx_dropped_down: frames on the cable when the port went down
 * @rx_dropped_nomem: frames dropped for lack of memory
 * @rx_interrupts: interrupts for received frames
 * @rx_hwtstamps: frames stamped by hardware
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

/* A counter has one writer at a time; a u64 is read and written at once (64BIT). */
static inline void closwire_add(u64 *counter, u64 n)
{
	WRITE_ONCE(*counter, *counter + n);
}

/**
 * struct closwire_ptp - a port's PTP clock; see ptp.c
 * @lock: protects @clock; readers do not block
 * @clock: from CLOCK_MONOTONIC_RAW to the port's time
 * @offset_ns: as given by the user
 * @info: what the PTP core calls
 * @ptp: the PTP core's half; NULL without PTP in the kernel
 * @config: as set by SIOCSHWTSTAMP; under RTNL, read by xmit and NAPI
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
 * struct closwire_port - a NIC: netdev_priv()
 * @dev: the device
 * @peer: the port at the cable's other end; under RTNL and RCU
 * @unplugged: carrier taken away by the user; under RTNL
 * @napi: receives, and frees what has been sent
 * @tx: what it transmits
 * @rx: what it receives
 * @ptp: its clock
 * @stats: its counters
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
};

/* main.c */
bool closwire_is_port(const struct net_device *dev);

/**
 * closwire_set_ring() - set how many packets the TX rings hold
 * @port: the port
 * @packets: CLOSWIRE_RING_MIN to CLOSWIRE_RING_MAX; what is in stays in
 */
void closwire_set_ring(struct closwire_port *port, u32 packets);

/* wire.c */

/* Under the TX lock, but for closwire_schedule_qdiscs() */
void closwire_tx_run(struct closwire_port *port, u64 now_ns);
void closwire_tx_catch_up(struct closwire_port *port, u64 now_ns);
int closwire_post_ctrl(struct closwire_port *port, struct sk_buff *skb);
void closwire_schedule_qdiscs(struct net_device *dev);

netdev_tx_t closwire_xmit(struct sk_buff *skb, struct net_device *dev);
int closwire_poll(struct napi_struct *napi, int budget);
void closwire_wire_init(struct closwire_port *port);
void closwire_wire_start(struct closwire_port *port);
void closwire_wire_stop(struct closwire_port *port);

/* pfc.c */

/**
 * closwire_set_pfc() - set which priorities obey pause frames
 * @port: the port
 * @enable: one bit each; a pause of another priority ends at once
 */
void closwire_set_pfc(struct closwire_port *port, u8 enable);

/* ethtool.c */
extern const struct ethtool_ops closwire_ethtool_ops;

/* dcb.c */
#ifdef CONFIG_DCB
void closwire_dcb_setup(struct net_device *dev);
#else
static inline void closwire_dcb_setup(struct net_device *dev)
{
}
#endif

/* ptp.c */

/**
 * closwire_ptp_init() - start the clock at real time, without drift
 * @port: the port
 */
void closwire_ptp_init(struct closwire_port *port);

/**
 * closwire_ptp_register() - show the clock to user space; under RTNL
 * @port: the port; its device is registered
 *
 * A port that is made in a user namespace shows none: PTP clocks are the host's,
 * and anybody could use up their numbers.
 *
 * Return: 0 or a negative error.
 */
int closwire_ptp_register(struct closwire_port *port);

/**
 * closwire_ptp_unregister() - take the clock from user space; under RTNL
 * @port: the port; also if it was never registered
 */
void closwire_ptp_unregister(struct closwire_port *port);

/**
 * closwire_ptp_set_offset() - set the clock to real time plus an offset
 * @port: the port
 * @offset_ns: the offset
 */
void closwire_ptp_set_offset(struct closwire_port *port, s64 offset_ns);

/**
 * closwire_ptp_set_drift() - set how much too fast the oscillator runs
 * @port: the port
 * @drift_ppb: CLOSWIRE_CLOCK_DRIFT_MIN to CLOSWIRE_CLOCK_DRIFT_MAX; from now on
 */
void closwire_ptp_set_drift(struct closwire_port *port, s32 drift_ppb);

/**
 * closwire_stamp() - what the port's clock showed at a moment
 * @port: the port
 * @mono_ns: the moment, CLOCK_MONOTONIC, in the near past or future
 *
 * Return: the clock's time. Any context.
 */
ktime_t closwire_stamp(struct closwire_port *port, u64 mono_ns);

/* struct ethtool_ops.get_ts_info and the ndo of time stamping */
int closwire_get_ts_info(struct net_device *dev,
			 struct kernel_ethtool_ts_info *info);
int closwire_hwtstamp_get(struct net_device *dev,
			  struct kernel_hwtstamp_config *config);
int closwire_hwtstamp_set(struct net_device *dev,
			  struct kernel_hwtstamp_config *config,
			  struct netlink_ext_ack *extack);

#endif /* _CLOSWIRE_H */
