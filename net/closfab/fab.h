/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * closfab: a device, its peers and the flows between them
 */
#ifndef _CLOSNET_FAB_H
#define _CLOSNET_FAB_H

#include <linux/hrtimer.h>
#include <linux/if_closfab.h>
#include <linux/netdevice.h>
#include <linux/sched/mm.h>
#include <linux/siphash.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <net/ip_tunnels.h>
#include "../../sch/act_lb/lb_port.h"
#include "../../sch/act_lb/lb_select.h"
#include "closfab_options.h"
#include "fab_cell.h"
#include "fab_dest.h"
#include "fab_order.h"
#include "fab_source.h"

#define FAB_NAME		"closfab"
#define FAB_KEY_LEN		16
/* Buckets of the table of peers */
#define FAB_PEER_BITS		8
/* Flow buckets that are allocated together: a page */
#define FAB_CHUNK		64U
#define FAB_CHUNKS		(FAB_BUCKETS_MAX / FAB_CHUNK)
/* Flow buckets from any peer that a device puts in order, 1.5 kB each */
#define FAB_STREAMS_MAX		16384
/* Queues to the stack: each is served by one CPU at a time */
#define FAB_LANES_MAX		16U
/* Packets of a lane; a bucket may release FAB_HELD_MAX at once */
#define FAB_LANE_PACKETS	4096
/* Memory of packets held by all devices in user namespaces: 64 MB */
#define FAB_USERS_HELD_MAX	(64U << 20)
/* Idle time after which a peer is forgotten; period of the search */
#define FAB_PEER_IDLE		(60 * HZ)
#define FAB_PEER_PERIOD		(10 * HZ)
/* Longest headers: IPv6, UDP, closfab with MAC */
#define FAB_OVERHEAD \
	(sizeof(struct ipv6hdr) + sizeof(struct udphdr) + FAB_HLEN + FAB_MAC_LEN)

/* Counters, in packets; ip-link-closfab(8) describes them */
enum fab_counter {
	FAB_CNT_tx_ordered,
	FAB_CNT_tx_cells,
	FAB_CNT_tx_conweave,
	FAB_CNT_tx_unordered,
	FAB_CNT_tx_no_peer,
	FAB_CNT_tx_no_path,
	FAB_CNT_tx_too_big,
	FAB_CNT_tx_nomem,
	FAB_CNT_tx_epochs,
	FAB_CNT_tx_tails,
	FAB_CNT_tx_moves,
	FAB_CNT_tx_refused,
	FAB_CNT_tx_replies,
	FAB_CNT_tx_clears,
	FAB_CNT_tx_notifies,
	FAB_CNT_rx_passed,
	FAB_CNT_rx_released,
	FAB_CNT_rx_late,
	FAB_CNT_rx_unheld,
	FAB_CNT_rx_stray,
	FAB_CNT_rx_unordered,
	FAB_CNT_rx_duplicate,
	FAB_CNT_rx_skipped,
	FAB_CNT_rx_restarts,
	FAB_CNT_rx_fifos,
	FAB_CNT_rx_timers,
	FAB_CNT_rx_epoch_flushes,
	FAB_CNT_rx_broken_cells,
	FAB_CNT_rx_replies,
	FAB_CNT_rx_clears,
	FAB_CNT_rx_notifies,
	FAB_CNT_rx_ignored,
	FAB_CNT_rx_malformed,
	FAB_CNT_rx_not_authentic,
	FAB_CNT_rx_ecn_error,
	FAB_CNT_rx_backlog,
	FAB_CNT_COUNT,
};

/**
 * struct fab_stats - counters of a CPU
 * @n: indexed by enum fab_counter
 */
struct fab_stats {
	u64 n[FAB_CNT_COUNT];
};

/**
 * struct fab_path - a next hop to a peer
 * @dst: route by it
 * @cookie: cookie of @dst
 * @ifindex: its device
 * @slot: number of the device's port, which identifies the path
 * @weight: weight of the next hop
 * @saddr4: source address, if the peer's address is IPv4
 * @saddr6: source address otherwise
 */
struct fab_path {
	struct dst_entry *dst;
	u32 cookie;
	u32 ifindex;
	u32 slot;
	u32 weight;
	union {
		__be32 saddr4;
		struct in6_addr saddr6;
	};
};

/**
 * struct fab_paths - next hops to a peer, replaced as a whole
 * @rcu: for freeing
 * @count: number of them
 * @path: the next hops
 */
struct fab_paths {
	struct rcu_head rcu;
	u32 count;
	struct fab_path path[];
};

/**
 * struct fab_bucket - a flow bucket at the sender
 * @lock: guards the bucket
 * @seq: number of the next packet
 * @source: ConWeave
 */
struct fab_bucket {
	spinlock_t lock;	/* guards the bucket */
	u32 seq;
	struct fab_source source;
};

struct fab_dev;

/**
 * struct fab_peer - another device of the fabric
 * @node: in the table of peers
 * @gone: in a list of peers that are to be freed
 * @fab: the device
 * @addr: address; IPv4 is mapped
 * @used: jiffies of the last packet
 * @instance: instance of the numbers that are sent
 * @paths: next hops to it, or NULL
 * @unreachable: jiffies, at least 1, when no path was found; 0: paths were found
 * @chunks: flow buckets to it, allocated by the first packet that needs them
 * @memory: memory of the selection of paths
 * @busy: NOTIFY table
 * @rtt_lock: guards changes of @rtt
 * @rtt: base RTT
 * @refused_ns: until then, the peer refuses reroutes
 * @streams: flow buckets from it
 * @skew: skew between the paths from it
 * @notified: a NOTIFY was sent for these paths just now
 */
struct fab_peer {
	struct hlist_node node;
	struct list_head gone;
	struct fab_dev *fab;
	struct in6_addr addr;
	unsigned long used;
	u16 instance;
	struct fab_paths __rcu *paths;
	unsigned long unreachable;
	struct fab_bucket *chunks[FAB_CHUNKS];
	struct lb_memory memory;
	struct fab_busy busy;
	spinlock_t rtt_lock;	/* guards changes of @rtt */
	struct fab_rtt rtt;
	u64 refused_ns;
	struct xarray streams;
	struct fab_skew skew;
	struct fab_busy notified;
};

/**
 * struct fab_stream - a flow bucket at the receiver
 * @lock: guards the stream; packets are given to the lane under it
 * @timer: ends the wait of the packets that are held, and of a packet whose cells do not come
 * @timer_ns: when it expires; U64_MAX: it does not
 * @peer: its sender
 * @started: a packet was received
 * @bucket: its number
 * @instance: instance of the numbers
 * @last_instance: instance before that
 * @old_packets: packets of it in a row after @restarted
 * @restarted: jiffies when it changed
 * @held_bytes: memory of packets that are held
 * @order: packets with numbers, and cells
 * @dest: ConWeave
 * @fifo: its FIFO
 * @cells: the packet that is put together from cells
 * @partial: its cells
 * @partial_until_ns: until then, it waits for the next one
 * @partial_tos: traffic class of its outer headers
 */
struct fab_stream {
	spinlock_t lock;	/* guards the stream */
	struct hrtimer timer;
	u64 timer_ns;
	struct fab_peer *peer;
	bool started;
	u16 bucket;
	u16 instance;
	u16 last_instance;
	u32 old_packets;
	unsigned long restarted;
	u32 held_bytes;
	struct fab_order order;
	struct fab_dest dest;
	struct sk_buff_head fifo;
	struct fab_cells cells;
	struct sk_buff *partial;
	u64 partial_until_ns;
	u8 partial_tos;
};

/**
 * struct fab_lane - a queue to the stack
 * @napi: serves it
 * @queue: packets
 * @fab: the device
 */
struct fab_lane {
	struct napi_struct napi;
	struct sk_buff_head queue;
	struct fab_dev *fab;
} ____cacheline_aligned_in_smp;

/**
 * struct fab_dev - a device
 * @dev: the device
 * @net: namespace of the tunnel's packets
 * @ports: its devices
 * @list: in the list of the namespace
 * @options: options; changed under RTNL, read without
 * @local: address of this host; all zero: the route decides. IPv4 is mapped
 * @remote: peer of packets whose route names none; all zero: they are dropped
 * @link: VRF or device of the tunnel's packets, or 0
 * @of_user: root of a user namespace has power over the device
 * @keyed: headers are authenticated
 * @key: the key
 * @hash_key: key of the flows' and the peers' hash
 * @select: how paths are selected
 * @sk4: UDP socket, or NULL
 * @sk6: UDP socket, or NULL
 * @up: peers may be created; under @lock
 * @lock: guards changes of @peers
 * @peers: table of peers
 * @peer_count: number of them
 * @streams: number of streams
 * @held_bytes: memory of packets that are held
 * @fifos: FIFOs in use
 * @held_bytes_max: maximum of @held_bytes
 * @fifos_max: maximum of @fifos
 * @gc: forgets idle peers
 * @lanes: queues to the stack
 * @lane_count: number of them
 * @stats: counters
 * @memcg: memory cgroup of the process that created the device: peers and flows are charged to it
 */
struct fab_dev {
	struct net_device *dev;
	struct net *net;
	struct lb_ports *ports;
	struct list_head list;
	struct closfab_options options;
	struct in6_addr local;
	struct in6_addr remote;
	u32 link;
	bool of_user;
	bool keyed;
	siphash_key_t key;
	siphash_key_t hash_key;
	struct lb_select_params select;
	struct sock __rcu *sk4;
	struct sock __rcu *sk6;
	bool up;
	spinlock_t lock;	/* guards changes of @peers */
	struct hlist_head peers[1 << FAB_PEER_BITS];
	u32 peer_count;
	atomic_t streams;
	atomic_t held_bytes;
	atomic_t fifos;
	atomic_t held_bytes_max;
	atomic_t fifos_max;
	struct delayed_work gc;
	struct fab_lane *lanes;
	u32 lane_count;
	struct fab_stats __percpu *stats;
	struct mem_cgroup *memcg;
};

/**
 * struct fab_out - a packet on its way
 * @fab: device
 * @peer: its peer
 * @paths: paths to the peer
 * @h: header
 * @tos: traffic class of the outer header
 * @ttl: TTL of the outer header
 * @df: DF of the outer header, if it is IPv4; 0: the outer packet may be fragmented
 * @mtu: longest packet that fits all paths without fragmentation
 */
struct fab_out {
	struct fab_dev *fab;
	struct fab_peer *peer;
	const struct fab_paths *paths;
	struct fab_header h;
	u8 tos;
	u8 ttl;
	__be16 df;
	u32 mtu;
};

extern const struct ethtool_ops fab_ethtool_ops;

static inline void fab_count(const struct fab_dev *fab, enum fab_counter counter)
{
	this_cpu_inc(fab->stats->n[counter]);
}

/**
 * fab_alloc() - allocate memory that packets cause to be used
 * @fab: device, whose creator is charged
 * @size: bytes
 *
 * Context: BH off.
 *
 * Return: memory that is zero, for kfree(); NULL if there is none, or the cgroup has its limit.
 */
static inline void *fab_alloc(const struct fab_dev *fab, size_t size)
{
	struct mem_cgroup *before = set_active_memcg(fab->memcg);
	void *mem = kzalloc(size, GFP_NOWAIT | __GFP_ACCOUNT | __GFP_NOWARN);

	set_active_memcg(before);
	return mem;
}

/* fab_dev.c */
void fab_setup(struct net_device *dev);
bool fab_is_device(const struct net_device *dev);

/* fab_nl.c */
int fab_nl_init(void);
void fab_nl_exit(void);

/* fab_peer.c */
struct fab_peer *fab_peer_find(struct fab_dev *fab, const struct in6_addr *addr);
struct fab_peer *fab_peer_get(struct fab_dev *fab, const struct in6_addr *addr, bool sends);
struct fab_bucket *fab_bucket_get(struct fab_peer *peer, u32 bucket);
struct fab_bucket *fab_bucket_find(const struct fab_peer *peer, u32 bucket);
void fab_peers_remove(struct fab_dev *fab);
void fab_peers_gc(struct work_struct *work);

/* fab_path.c */
const struct fab_paths *fab_paths_get(struct fab_peer *peer);
void fab_paths_put(struct fab_paths *paths);
bool fab_path_draw(const struct fab_dev *fab, const struct fab_paths *paths, int *drawn, u32 count);
int fab_path_select(struct fab_peer *peer, const struct fab_paths *paths, u32 bytes, u64 now_ns);
bool fab_path_is_up(const struct fab_path *path);
int fab_path_find(const struct fab_paths *paths, u16 id);

static inline u16 fab_path_id(const struct fab_path *path, u32 entropy)
{
	return path->slot << 8 | entropy;
}

/* fab_xmit.c */
netdev_tx_t fab_xmit(struct sk_buff *skb, struct net_device *dev);

/* fab_out.c */
void fab_drop(const struct fab_dev *fab, struct sk_buff *skb, enum fab_counter counter);
void fab_send(struct fab_out *out, const struct fab_path *path, struct sk_buff *skb);
void fab_control(struct fab_peer *peer, const struct fab_header *h);
u64 fab_mac(const struct fab_dev *fab, const struct in6_addr *from, const struct in6_addr *to,
	    const u8 *header, u32 len);

/* fab_rx.c */
int fab_receive(struct sock *sk, struct sk_buff *skb);

/* fab_stream.c */
void fab_stream_receive(struct fab_peer *peer, struct sk_buff *skb, const struct fab_header *h,
			bool ce);
void fab_stream_free(struct fab_stream *s);
void fab_deliver(struct fab_dev *fab, struct sk_buff *skb, const struct fab_header *h, u32 lane);

/* fab_lane.c */
int fab_lanes_create(struct fab_dev *fab);
void fab_lanes_destroy(struct fab_dev *fab);
void fab_lanes_start(struct fab_dev *fab);
void fab_lanes_stop(struct fab_dev *fab);
void fab_lane_add(struct fab_dev *fab, u32 lane, struct sk_buff *skb);

#endif /* _CLOSNET_FAB_H */
