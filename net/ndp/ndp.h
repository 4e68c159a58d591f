/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The NDP transport: structures that its files share
 *
 *	main.c  diag.c				begin and end; counters, sysctls, netlink
 *	af_ndp.c				sockets: options, poll(), close()
 *	dev.c  input.c				devices; packets from UDP
 *	output.c	recvmsg.c		sendmsg(), recvmsg()
 *	sender_flow.c	receiver.c		messages of a flow; packets of a flow
 *	sender.c	receiver_flow.c		packets of a flow; begin and end of flows
 *	rx_ride.c  rx_batch.c			ACKs that DATA carries; batches that arrived
 *			rx_msg.c  region.c	received messages
 *			pacer.c			pull queues
 *	peer.c  sock.c  mem.c  auth.c		IP, paths; ports, addresses; memory; tags
 *
 * A file calls only those beside or below it, and the cores (snd.h, rcv.h, ...); there is no cycle.
 *
 * Locks, with softirqs disabled, in the order in which they are taken:
 *
 *	tx->lock > peer->lock		a sending flow; paths to a peer
 *	ns->rx_lock > pacer->lock	reception of a socket; pull queue of a device
 *	each of them > ns->mem_lock	memory of a socket
 *
 * and a mutex, ns->region_lock, between mmap_lock and rx_lock. tx->lock and rx_lock are never held
 * together: an ACK that DATA may carry goes from one to the other by an atomic variable (tx->ride).
 * While one is held, no packet is transmitted and no process woken. Softirqs never take
 * the socket's own lock (lock_sock()).
 *
 * Peers, flows and sockets are found under RCU. A sending flow (struct ndp_tx) is counted and keeps
 * its socket. A receiving flow (struct ndp_rx) belongs to its socket, which ends it.
 */
#ifndef _NDP_H
#define _NDP_H

#include <linux/hashtable.h>
#include <linux/hrtimer.h>
#include <linux/mutex.h>
#include <linux/netfilter.h>
#include <linux/rhashtable.h>
#include <linux/siphash.h>
#include <linux/sysctl.h>
#include <linux/xarray.h>
#include <net/dst_cache.h>
#include <net/inet_sock.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <net/sock.h>
#include <closnet/counters.h>
#include "batch.h"
#include "counters.h"
#include "pacer.h"
#include "rcv.h"
#include "rx_part.h"
#include "snd.h"

#define NDP_PORT_BUCKETS_BITS	10
#define NDP_DEV_BUCKETS_BITS	6
#define NDP_SENDER_BUCKETS_BITS	6
/* log2 of the largest chunk of a message's memory: the kernel's costly order */
#define NDP_CHUNK_SHIFT_MAX	15
/* bytes that a socket has at the NIC, as with TCP's TSQ: 100 µs at 10 Gbit/s */
#define NDP_NIC_BYTES		131072
/* after close(), messages continue for this long */
#define NDP_ORPHAN_MS		60000
/* flows that are processed until a lock is dropped */
#define NDP_RX_BATCH		64U
/* Levels of DATA: IP precedences 6 and 7 are for the network and for trimmed packets. */
#define NDP_BANDS_MAX		6

/**
 * struct ndp_conf - sysctls net.ndp.NAME of a namespace; read with READ_ONCE()
 * @initial_window: packets, 0..NDP_WINDOW_MAX; 0: by the rate of the link
 * @paths: entropies to a peer, 1..NDP_PATHS_MAX; for new peers
 * @rto_us: timeout, 100..1000000
 * @timeout_ms: NDP_TIMEOUT of sockets without one
 * @pull_policy: enum ndp_pull_policy; for devices on which no flow waits
 * @line_rate_Mbps: rate of devices without one, 0..1000000; 0: 10 Gbit/s
 * @flows_max: receiving flows, 1..1000000
 * @gso_packets: new packets that leave as one, 1..NDP_BATCH_PACKETS
 * @bands: levels of DATA, 1..NDP_BANDS_MAX
 */
struct ndp_conf {
	int initial_window;
	int paths;
	int rto_us;
	int timeout_ms;
	int pull_policy;
	int line_rate_Mbps;
	int flows_max;
	int gso_packets;
	int bands;
};

/**
 * struct ndp_addrs - addresses of a flow; IPv4 is mapped into IPv6
 * @local: ours
 * @remote: the peer's
 * @ifindex: VRF, or device of a link-local address; else 0
 */
struct ndp_addrs {
	struct in6_addr local;
	struct in6_addr remote;
	int ifindex;
};

static inline bool ndp_is_ipv4(const struct ndp_addrs *a)
{
	return ipv6_addr_v4mapped(&a->remote);
}

/**
 * struct ndp_net - state of a network namespace
 * @net: namespace
 * @conf: sysctls
 * @sysctl: their table
 * @counters: enum ndp_counter
 * @totals_lock: protects @snd_totals, @rcv_totals
 * @snd_totals: counters of sending flows that have ended
 * @rcv_totals: counters of sockets that were closed, by enum ndp_rcv_verdict
 * @pull_totals: counters of devices that are gone; RTNL
 * @peers: struct ndp_peer by @key
 * @tx: struct ndp_tx by @flow_id
 * @tx_by_to: struct ndp_tx by @to
 * @rx: struct ndp_rx by @key
 * @rx_flows: flows in @rx
 * @ports_lock: protects changes of @ports
 * @ports: struct ndp_sock by port
 * @devs: struct ndp_dev by ifindex; changes under RTNL
 * @hook: registers the repair on devices
 * @idle: takes it back, NDP_DEV_IDLE after a socket was closed
 * @hooked_all: all devices with an address have it
 * @token_key: key of siphash
 * @gc: runs once a second while there are flows
 * @keyed: packets have tags; constant from the first NDP socket on
 * @keys: keys of the tags; NULL: none
 * @udp_lock: protects the creation of @udp4 and @udp6, and changes of @keyed and @keys
 * @udp_taken: they exist
 * @udp4: has the UDP port
 * @udp6: the same for IPv6; NULL: the kernel has no IPv6
 */
struct ndp_net {
	struct net *net;
	struct ndp_conf conf;
	struct ctl_table_header *sysctl;
	struct closnet_counters counters;
	spinlock_t totals_lock;		/* @snd_totals, @rcv_totals */
	struct ndp_snd_stats snd_totals;
	u64 rcv_totals[NDP_RCV_VERDICTS];
	struct ndp_pull_stats pull_totals;
	struct rhashtable peers;
	struct rhashtable tx;
	struct rhashtable tx_by_to;
	struct rhashtable rx;
	atomic_t rx_flows;
	spinlock_t ports_lock;		/* changes of @ports */
	DECLARE_HASHTABLE(ports, NDP_PORT_BUCKETS_BITS);
	DECLARE_HASHTABLE(devs, NDP_DEV_BUCKETS_BITS);
	struct work_struct hook;
	struct delayed_work idle;
	bool hooked_all;
	siphash_key_t token_key;
	struct delayed_work gc;
	bool keyed;
	struct ndp_keys __rcu *keys;
	struct mutex udp_lock;		/* creation of the sockets, @keyed, @keys */
	bool udp_taken;
	struct socket *udp4;
	struct socket *udp6;
};

extern unsigned int ndp_net_id;

static inline struct ndp_net *ndp_net(const struct net *net)
{
	return net_generic(net, ndp_net_id);
}

static inline void ndp_count(const struct ndp_net *nn, enum ndp_counter counter)
{
	closnet_count(nn->counters.values, counter);
}

/* Start garbage collection, once a second until there are no flows. Any context. */
static inline void ndp_gc_start(struct ndp_net *nn)
{
	schedule_delayed_work(&nn->gc, HZ);
}

/* sockets that are closed and opened again meanwhile do not change hooks */
#define NDP_DEV_IDLE	(10 * HZ)

/* Devices, addresses or bound sockets have changed: dev.c registers hooks soon. Any context */
static inline void ndp_devs_changed(struct ndp_net *nn)
{
	if (READ_ONCE(nn->udp_taken))
		schedule_work(&nn->hook);
}

/* The socket that has the UDP port; NULL: the namespace has no NDP socket yet. Under RCU */
static inline struct sock *ndp_udp_sk(const struct ndp_net *nn, bool ipv4)
{
	const struct socket *sock;

	/* pairs with ndp_input_take() */
	if (!smp_load_acquire(&nn->udp_taken))
		return NULL;
	sock = ipv4 ? nn->udp4 : nn->udp6;
	/* sock_release() sets it to NULL when the namespace ends */
	return sock ? READ_ONCE(sock->sk) : NULL;
}

/* ---- peer.c: addresses, routes and paths; packets to IP ---- */

/**
 * struct ndp_peer_key - key of struct ndp_peer
 * @addrs: addresses
 * @oif: device of the socket (SO_BINDTODEVICE); 0: any
 */
struct ndp_peer_key {
	struct ndp_addrs addrs;
	int oif;
};

/**
 * struct ndp_peer - a pair of addresses
 * @node: in struct ndp_net's @peers
 * @key: key
 * @nn: namespace
 * @refs: flows, and callers that have just found it
 * @dst: routes
 * @rx_flows: its receiving flows
 * @port_base: random, see ndp_path_port()
 * @answers: answers sent; each takes the next path
 * @rtt_min_ns: shortest round trip that its sending flows have measured; 0: unknown
 * @lock: protects @paths
 * @paths: entropies
 * @rcu: frees it
 */
struct ndp_peer {
	struct rhash_head node;
	struct ndp_peer_key key;
	struct ndp_net *nn;
	refcount_t refs;
	struct dst_cache dst;
	atomic_t rx_flows;
	u16 port_base;
	atomic_t answers;
	u32 rtt_min_ns;
	spinlock_t lock;		/* @paths */
	struct ndp_paths paths;
	struct rcu_head rcu;
};

/**
 * struct ndp_route - result of ndp_route()
 * @local: source address
 * @mtu: the route's, bytes of IP
 * @ifindex: VRF, or device of a link-local address; else 0
 * @dev: device by which packets leave
 */
struct ndp_route {
	struct in6_addr local;
	u32 mtu;
	int ifindex;
	int dev;
};

struct ndp_packet;

struct ndp_peer *ndp_peer_find(struct ndp_net *nn, const struct ndp_addrs *addrs, int oif);
struct ndp_peer *ndp_peer_get(struct ndp_net *nn, const struct ndp_addrs *addrs, int oif);
void ndp_peer_put(struct ndp_peer *peer);
u32 ndp_peer_memory(const struct ndp_peer *peer);
int ndp_peers_init(struct ndp_net *nn);
void ndp_peers_exit(struct ndp_net *nn);

int ndp_route(struct sock *sk, const struct in6_addr *local, const struct in6_addr *remote,
	      int ifindex, struct ndp_route *route);
bool ndp_peer_route(struct ndp_peer *peer, struct ndp_route *route);
u32 ndp_net_hlen(const struct ndp_net *nn);
u16 ndp_route_payload(const struct ndp_net *nn, const struct ndp_addrs *addrs, u32 mtu);
struct sk_buff *ndp_out_skb(const struct ndp_peer *peer, const struct ndp_hdr *h);
bool ndp_out_more(const struct ndp_peer *peer, struct sk_buff *skb, const struct ndp_hdr *h,
		  u8 *head);
void ndp_out_xmit(struct ndp_peer *peer, struct sk_buff *skb, u16 sport, u8 dsfield,
		  struct sock *sk);
void ndp_out_answer(struct ndp_peer *peer, const struct ndp_hdr *h);
void ndp_out_reply(const struct ndp_packet *p, const struct ndp_hdr *h);

/* ---- auth.c: tags ---- */

void ndp_auth_sign(const struct ndp_peer *peer, u8 *b);
bool ndp_auth_check(const struct ndp_net *nn, const struct in6_addr *from,
		    const struct in6_addr *to, const struct ndp_hdr *h, const u8 *b);
int ndp_auth_sysctl(closnet_ctl_table *table, int write, void *buffer, size_t *lenp, loff_t *ppos);
void ndp_auth_exit(struct ndp_net *nn);

/* ---- input.c: packets from UDP ---- */

/**
 * struct ndp_packet - a packet that arrived, or a batch that is processed as one
 * @nn: namespace
 * @skb: packet; its data begins with the payload, a batch's with UDP's header until it is accepted.
 *	NULL: no payload is needed
 * @h: header; of a batch, the first packet's
 * @last: header of the last packet of a batch
 * @packets: number of packets of a batch; 0: a single packet
 * @addrs: addresses
 * @ifindex: device by which it arrived
 * @dsfield: DSCP and ECN bits
 */
struct ndp_packet {
	struct ndp_net *nn;
	struct sk_buff *skb;
	struct ndp_hdr h;
	struct ndp_hdr last;
	u32 packets;
	struct ndp_addrs addrs;
	int ifindex;
	u8 dsfield;
};

/* Payload in bytes of a whole packet or a batch */
static inline u32 ndp_packet_len(const struct ndp_packet *p)
{
	if (!p->packets)
		return p->h.payload_len;
	return (u32)(p->last.data.offset - p->h.data.offset) + p->last.payload_len;
}

int ndp_input_take(struct ndp_net *nn);
void ndp_input_hook(struct nf_hook_ops *ops, struct net_device *dev);
int ndp_input_init(struct ndp_net *nn);
void ndp_input_exit(struct ndp_net *nn);

/* ---- sock.c: sockets ---- */

/**
 * struct ndp_sock - a socket
 * @inet: first; AF_INET6 sockets have ipv6_pinfo behind struct ndp_sock
 * @port_node: in struct ndp_net's @ports
 * @initial_window: NDP_INITIAL_WINDOW; 0: the namespace's
 * @timeout_ms: NDP_TIMEOUT; 0: the namespace's
 * @closed: close() was called; changes under @rx_lock
 * @connect_dev: connect() has bound the socket to the device of a link-local peer; under its lock
 * @mem_lock: protects sk_forward_alloc
 * @flow_bytes: memory of flows, scoreboards and peers
 * @tx_lock: protects @tx_list and @snd_totals; innermost
 * @tx_list: sending flows, struct ndp_tx's @sock_node; read under RCU
 * @recent: flow of the last message, alive; under RCU, set under the flow's lock
 * @tx_busy: messages that have not ended
 * @snd_bytes: memory of messages, limited by SO_SNDBUF
 * @turn_denied: SOCK_SEQPACKET: a sendmsg() waits for another one; set under the flow's lock
 * @sent_no: number of the last message
 * @snd_totals: counters of flows that have ended
 * @nic_waits: flows wait for ndp_tx_write_space()
 * @nic_bytes: truesize of the packets passed to the NIC, modulo 2^32
 * @rx_lock: protects the members below
 * @rcv: core
 * @rx_list: receiving flows, struct ndp_rx's @sock_node
 * @flows: their number
 * @missing: number of flows with incomplete messages
 * @waiting: flows that wait for room, in order; @wait_node
 * @promised: flows with a reservation for their next message; @wait_node
 * @senders: SOCK_SEQPACKET: flows by sender, struct ndp_rx's @sender_node
 * @tick: looks after reservations while flows wait
 * @tick_ns: its interval; 0: it does not run
 * @ready: whole messages, and failed ones that were read in part: struct ndp_rx_msg's @node
 * @partial: incomplete messages whose prefix may be read
 * @reading: message that recvmsg() continues; in no list
 * @rx_no: number of the last message
 * @bytes_received: counter for NDP_INFO
 * @msgs_received: counter for NDP_INFO
 * @pulls_sent: counter for NDP_INFO
 * @region: memory for placed messages; NULL: none; changes under @region_lock as well
 * @msgs_placed: counter for NDP_INFO
 * @region_lock: protects setting and mapping of @region
 */
struct ndp_sock {
	struct inet_sock inet;
	struct hlist_node port_node;
	u32 initial_window;
	u32 timeout_ms;
	bool closed;
	bool connect_dev;
	spinlock_t mem_lock;		/* sk_forward_alloc */
	atomic64_t flow_bytes;

	spinlock_t tx_lock;		/* @tx_list, @snd_totals */
	struct list_head tx_list;
	struct ndp_tx __rcu *recent;
	atomic_t tx_busy;
	atomic64_t snd_bytes;
	bool turn_denied;
	atomic64_t sent_no;
	struct ndp_snd_stats snd_totals;
	atomic_t nic_waits;
	atomic_t nic_bytes;

	spinlock_t rx_lock ____cacheline_aligned_in_smp; /* the members below */
	struct ndp_rcv rcv;
	struct list_head rx_list;
	u32 flows;
	u32 missing;
	struct list_head waiting;
	struct list_head promised;
	DECLARE_HASHTABLE(senders, NDP_SENDER_BUCKETS_BITS);
	struct hrtimer tick;
	u64 tick_ns;
	struct list_head ready;
	struct list_head partial;
	struct ndp_rx_msg *reading;
	u64 rx_no;
	u64 bytes_received;
	u64 msgs_received;
	u64 pulls_sent;
	struct ndp_region *region;
	u64 msgs_placed;

	struct mutex region_lock;	/* @region */
};

/* AF_INET6: the kernel looks for ipv6_pinfo at the end of the socket. */
struct ndp6_sock {
	struct ndp_sock ndp;
	struct ipv6_pinfo inet6;
};

static inline struct ndp_sock *ndp_sk(const struct sock *sk)
{
	return (struct ndp_sock *)sk;
}

/* Does a socket deliver messages of each sender in order, and send them one by one? */
static inline bool ndp_is_ordered(const struct sock *sk)
{
	return sk->sk_type == SOCK_SEQPACKET;
}

struct ndp_dev *ndp_dev_find(struct ndp_net *nn, int ifindex);
struct ndp_dev *ndp_sock_dev(const struct sock *sk);
void ndp_sock_wait_hooked(const struct sock *sk);
u32 ndp_sender_hash(const struct ndp_net *nn, const struct ndp_addrs *addrs, u16 port);
struct sock *ndp_sock_lookup(struct ndp_net *nn, const struct ndp_packet *p);
int ndp_autobind(struct sock *sk);
int ndp_addr_read(const struct sock *sk, const struct sockaddr *from, int len,
		  struct in6_addr *addr, u16 *port, int *ifindex);
int ndp_addr_write(const struct sock *sk, const struct in6_addr *addr, u16 port, int ifindex,
		   void *to);
struct in6_addr ndp_bound(const struct sock *sk);
int ndp_get_port(struct sock *sk, unsigned short port);
void ndp_put_port(struct sock *sk);
void ndp_unhash(struct sock *sk);
bool ndp_sock_is_writable(const struct ndp_sock *ns);
void ndp_sock_writable(struct sock *sk);

/* Origin of NDP's entries in sk_error_queue, unlike SO_EE_ORIGIN_*; hidden from user space */
#define NDP_EE_ORIGIN		0xfe

/**
 * struct ndp_failure - data of an entry in sk_error_queue: a message that failed
 * @remote: its destination
 * @ifindex: as in struct ndp_addrs
 * @port: destination port, host byte order
 * @failed: result of recvmsg()
 */
struct ndp_failure {
	struct in6_addr remote;
	int ifindex;
	u16 port;
	struct ndp_failed failed;
};

void ndp_sock_failed(struct sock *sk, const struct ndp_addrs *addrs, u16 port, u64 msg_no,
		     u8 error);

/* ---- mem.c: memory of sockets ---- */

extern atomic_long_t ndp_memory_allocated;
DECLARE_PER_CPU(int, ndp_memory_fw_alloc);
extern long ndp_memory_limits[3];
extern int ndp_memory_min;

void ndp_mem_init(void);
bool ndp_mem_charge_send(struct sock *sk, u32 bytes);
bool ndp_mem_charge_receive(struct sock *sk, u32 bytes, enum ndp_rmem_share share);
void ndp_mem_uncharge(struct sock *sk, u32 bytes, int kind);
bool ndp_mem_charge_flow(struct sock *sk, u32 bytes);
void ndp_mem_uncharge_flow(struct sock *sk, u32 bytes);

/* ---- output.c: sendmsg() ---- */

/**
 * struct ndp_msg - a message that is sent
 * @core: core; first
 * @sk: its socket
 * @node: in the flow's @msgs
 * @no: number on its socket, from 1, when all of it is copied
 * @first: memory: the first chunk, which most messages have only; NULL: it was freed
 * @chunks: the other chunks: struct page by place >> @chunk_shift
 * @page: one of these from which a packet was sent; or NULL
 * @page_index: its index in @chunks
 * @begin: offset in the first chunk's page; 0 unless it is shared
 * @chunk_shift: log2 of the bytes of a chunk
 * @gap: bytes before the payload of each packet, for its header; 0: headers have other memory
 * @written: the gaps of packets before this offset were used
 * @freed: the memory before this place was freed
 * @reserved: bytes charged for chunks to come; sendmsg()'s own
 * @copying: sendmsg() still copies it, and frees it; under the flow's lock
 */
struct ndp_msg {
	struct ndp_snd_msg core;
	struct sock *sk;
	struct list_head node;
	u64 no;
	struct page *first;
	struct xarray chunks;
	struct page *page;
	u64 page_index;
	u32 begin;
	u8 chunk_shift;
	u8 gap;
	u64 written;
	u64 freed;
	u32 reserved;
	bool copying;
};

/* Does a message share its page with other messages? Then it is one chunk. */
static inline bool ndp_msg_shares(const struct ndp_msg *m)
{
	return m->core.len <= PAGE_SIZE / 2;
}

/* Place of a byte in a message's memory: packets follow each other, each behind its gap. */
static inline u64 ndp_msg_place(const struct ndp_msg *m, u64 offset)
{
	return m->gap ? offset + (div_u64(offset, m->core.payload) + 1) * m->gap : offset;
}

u32 ndp_chunk_memory(const struct ndp_msg *m, u64 bytes);
u8 *ndp_msg_header(struct ndp_msg *m, u64 offset);
bool ndp_msg_add(struct ndp_msg *m, struct sk_buff *skb, u64 offset, u32 len, bool header);
bool ndp_msg_done(struct ndp_msg *m);
void ndp_msg_free(struct ndp_msg *m);
int ndp_sendmsg(struct socket *sock, struct msghdr *msg, size_t len);

/* ---- ring.c: memory of scoreboards ---- */

/**
 * struct ndp_tx_ring - memory of a scoreboard, charged to the flow's socket
 * @mem: ndp_sb_bytes(); NULL if unset
 * @packets: its size
 */
struct ndp_tx_ring {
	void *mem;
	u32 packets;
};

struct ndp_tx_ring ndp_tx_alloc_ring(struct sock *sk, u32 packets);
void ndp_tx_free_ring(struct sock *sk, struct ndp_tx_ring ring);
struct ndp_tx_ring ndp_tx_take_ring(struct ndp_tx *tx);

/* ---- sender.c, sender_flow.c: sending flows ---- */

/**
 * struct ndp_tx_to - key of a sending flow
 * @sk: our socket
 * @addrs: addresses
 * @port: the peer's, host byte order
 */
struct ndp_tx_to {
	struct sock *sk;
	struct ndp_addrs addrs;
	u32 port;
};

/**
 * struct ndp_tx - a sending flow
 * @node: in struct ndp_net's @tx
 * @flow_id: key; changes under @lock when the flow is renewed
 * @to_node: in struct ndp_net's @tx_by_to
 * @to: key
 * @refs: the tables, sendmsg() calls, and callers that have just found it
 * @sk: socket, counted
 * @peer: counted
 * @sock_node: in the socket's @tx_list
 * @params: the core's
 * @timer: the core's; soft
 * @lock: protects the members below
 * @link: device by which it sends, counted; changes while it is idle; NULL: unknown
 * @nicq: the flow in its queue; under the queue's lock as well
 * @f: core
 * @stats: counters of the core
 * @msgs: messages that have not ended, struct ndp_msg's @node
 * @copying: SOCK_SEQPACKET: message that sendmsg() still copies; NULL if unset
 * @dead: it takes no messages and sends no packets
 * @icmp_error: last ICMP error since the last answer: errno; 0: unset
 * @nic_waits: it has packets to send, and the socket has enough at the NIC
 * @nic_left: the socket's @nic_bytes that had left the NIC when the timer last expired
 * @close_ns: time of close(); 0: not closed
 * @charged: bytes charged, without the scoreboard
 * @rtt_ns: smoothed round-trip time, 1/8; 0: unknown
 * @rttvar_ns: smoothed difference from @rtt_ns, 1/4
 * @carrier_seq: packet that carried @carried
 * @carried: the last ACK that DATA has carried; 0: none
 * @ride_ns: time of @ride, modulo 2^32; before @ride
 * @ride: ACK that the next new packet may carry: struct ndp_rx's flow_id and seq; 0: none
 * @rcu: frees it
 */
struct ndp_tx {
	struct rhash_head node;
	u32 flow_id;
	struct rhash_head to_node;
	struct ndp_tx_to to;
	refcount_t refs;
	struct sock *sk;
	struct ndp_peer *peer;
	struct list_head sock_node;
	struct ndp_snd_params params;
	struct hrtimer timer;
	spinlock_t lock;		/* the members below */
	struct ndp_pacer *link;
	struct ndp_nicq_node nicq;
	struct ndp_snd_flow f;
	struct ndp_snd_stats stats;
	struct list_head msgs;
	const struct ndp_msg *copying;
	bool dead;
	u8 icmp_error;
	bool nic_waits;
	u32 nic_left;
	u64 close_ns;
	u32 charged;
	u32 rtt_ns;
	u32 rttvar_ns;
	u32 carrier_seq;
	u64 carried;
	u32 ride_ns;
	atomic64_t ride;
	struct rcu_head rcu;
};

/**
 * struct ndp_tx_work - a change of a flow and its consequences
 * @c: call of the core
 * @out: packets to be sent after the lock is dropped
 * @ended: messages that have ended, struct ndp_msg's @node
 * @repeat: ACK whose carrier was lost; 0: none
 * @wake: processes may wait for the change
 * @gone: the flow has become dead
 */
struct ndp_tx_work {
	struct ndp_snd_call c;
	struct sk_buff_head out;
	struct list_head ended;
	u64 repeat;
	bool wake;
	bool gone;
};

struct ndp_tx *ndp_tx_get(struct sock *sk, const struct ndp_addrs *addrs, u16 port);
void ndp_tx_put(struct ndp_tx *tx);
int ndp_tx_submit(struct ndp_tx *tx, struct ndp_msg *m, int ifindex);
int ndp_tx_more(struct ndp_tx *tx, struct ndp_msg *m, u64 ready);
void ndp_tx_cancel(struct ndp_tx *tx, struct ndp_msg *m, u8 error);
void ndp_tx_close(struct sock *sk, bool abort);
bool ndp_tx_gc(struct ndp_net *nn);
void ndp_tx_info(struct sock *sk, struct ndp_info *info);
int ndp_tx_init(struct ndp_net *nn);
void ndp_tx_exit(struct ndp_net *nn);

int ndp_tx_name(struct ndp_tx *tx);
void ndp_tx_begin(struct ndp_tx *tx, u64 now);
bool ndp_tx_renew(struct ndp_tx *tx, struct ndp_tx_work *w);
void ndp_tx_kill(struct ndp_tx *tx, struct ndp_tx_work *w);
void ndp_tx_unlink(struct ndp_tx *tx);
void ndp_tx_set_rto(struct ndp_tx *tx);
void ndp_tx_copied(struct ndp_tx *tx, struct ndp_tx_work *w, const struct ndp_msg *m);
void ndp_tx_enter(struct ndp_tx *tx, struct ndp_tx_work *w);
void ndp_tx_leave(struct ndp_tx *tx, struct ndp_tx_work *w);
void ndp_tx_abort(struct ndp_tx *tx, struct ndp_tx_work *w, const struct ndp_msg *m);
enum hrtimer_restart ndp_tx_timeout(struct hrtimer *timer);
void ndp_tx_input(struct ndp_packet *p, bool returned);
void ndp_tx_carried(const struct ndp_packet *p, const struct sock *sk);
void ndp_tx_icmp(const struct ndp_packet *p, u8 error);
void ndp_tx_go(struct ndp_tx *tx);
void ndp_tx_write_space(struct sock *sk);

/* ---- dev.c: devices ---- */

/**
 * struct ndp_dev - a device of a namespace
 * @node: in struct ndp_net's @devs
 * @nn: namespace
 * @ifindex: key
 * @pacer: its pull queue, counted; changes under RTNL
 * @shares: @pacer is a lower device's
 * @arrives: flows have arrived by it
 * @wanted: it needs the repair
 * @hooked: @hook is registered; changes under RTNL
 * @hook: netfilter's ingress
 * @rcu: frees it
 */
struct ndp_dev {
	struct hlist_node node;
	struct ndp_net *nn;
	int ifindex;
	struct ndp_pacer __rcu *pacer;
	bool shares;
	bool arrives;
	bool wanted;			/* RTNL */
	bool hooked;
	struct nf_hook_ops hook;
	struct rcu_head rcu;
};

int ndp_dev_notify(void);
void ndp_dev_unnotify(void);
void ndp_devs_init(struct ndp_net *nn);
void ndp_devs_exit(struct ndp_net *nn);
void ndp_devs_stats(struct ndp_net *nn, struct ndp_pull_stats *sum);

/* ---- receiver.c, receiver_flow.c: receiving flows ---- */

/**
 * struct ndp_rx_key - key of struct ndp_rx
 * @addrs: addresses
 * @flow_id: the sender's name of the flow
 */
struct ndp_rx_key {
	struct ndp_addrs addrs;
	u32 flow_id;
};

/**
 * struct ndp_rx - a receiving flow
 * @node: in struct ndp_net's @rx
 * @key: key
 * @peer: counted
 * @sk: its socket, which ends it
 * @pacer: device by which it is pulled, counted
 * @ifindex: device by which its packets arrive
 * @sock_node: in the socket's @rx_list
 * @sender_node: in the socket's @senders
 * @wait_node: in the socket's @waiting or @promised; empty: in neither
 * @promised_ns: @promised: since when
 * @opened_ns: begin of the flow
 * @asked_ns: first PING that was not answered; 0: unset
 * @pings: PINGs from then on
 * @calm: PINGs answered since the last part of a message
 * @deferred_node: in @pacer's @deferred
 * @deferred_ns: time of the deferred answer
 * @charged: bytes charged
 * @reported: @f.pull.granted in the last CONTROL
 * @reported_trimmed: @f.trimmed in the last CONTROL
 * @reported_room: the last CONTROL reported room
 * @offered: ACK that is offered to the flow of the other direction; 0: none
 * @offered_to: that flow's flow_id
 * @ride_misses: offers in vain, less others; NDP_RIDE_MISSES: only some ACKs are offered
 * @unoffered: ACKs that were not offered since the last offer
 * @missing: it counts in the socket's @missing
 * @succeeded: it has ended older flows of its sender
 * @f: core; under rx_lock, but @f.pull under the pacer's
 * @dead: it was ended
 * @rcu: frees it
 */
struct ndp_rx {
	struct rhash_head node;
	struct ndp_rx_key key;
	struct ndp_peer *peer;
	struct sock *sk;
	struct ndp_pacer *pacer;
	int ifindex;
	struct list_head sock_node;
	struct hlist_node sender_node;
	struct list_head wait_node;
	u64 promised_ns;
	u64 opened_ns;
	u64 asked_ns;
	struct list_head deferred_node;
	u64 deferred_ns;
	u32 charged;
	u32 reported;
	u16 reported_trimmed;
	bool reported_room;
	s8 ride_misses;
	u8 unoffered;
	u32 offered_to;
	u64 offered;
	u8 pings;
	u8 calm;
	bool missing;
	bool succeeded;
	struct ndp_rcv_flow f;
	bool dead;
	struct rcu_head rcu;
};

/**
 * struct ndp_rx_msg - a message that is received
 * @core: core; first
 * @node: in its socket's @ready or @partial; empty: in neither
 * @rx: its flow while it is incomplete; else NULL
 * @addrs: addresses
 * @port: the sender's, host byte order
 * @no: number on its socket, from 1
 * @skbs: unread packets up to the first hole
 * @next: offset behind them
 * @ahead: packets after a hole by offset: skb->rbnode
 * @failed: it will not become whole: errno
 * @slot: first slot in the region
 * @slots: slots in the region; 0: it is kept in packets
 */
struct ndp_rx_msg {
	struct ndp_rcv_msg core;
	struct list_head node;
	struct ndp_rx *rx;
	struct ndp_addrs addrs;
	u16 port;
	u64 no;
	struct sk_buff_head skbs;
	u64 next;
	struct rb_root ahead;
	u8 failed;
	u32 slot;
	u32 slots;
};

/* RTOs without an answer to a PING after which a sender is silent */
#define NDP_RX_SILENT_RTOS	3

static inline u64 ndp_rx_rto(const struct ndp_sock *ns)
{
	return (u64)READ_ONCE(ndp_net(sock_net(&ns->inet.sk))->conf.rto_us) * NSEC_PER_USEC;
}

static inline struct ndp_rx_msg *ndp_rx_msg_of(struct ndp_rcv_msg *m)
{
	return container_of(m, struct ndp_rx_msg, core);
}

struct ndp_rx *ndp_rx_lookup(const struct ndp_packet *p);
struct ndp_rx *ndp_rx_find(const struct ndp_packet *p, struct ndp_hdr *answer);
void ndp_rx_set_missing(struct ndp_rx *rx, bool missing);
bool ndp_rx_is_second(const struct ndp_rx *rx);
void ndp_rx_deliver(struct ndp_rx *rx, struct list_head *garbage);
void ndp_rx_deliver_newer(const struct ndp_rx *old, struct list_head *garbage);
void ndp_rx_fail(struct ndp_sock *ns, struct ndp_rx_msg *rm, u8 error, struct list_head *garbage);
void ndp_rx_evict(struct ndp_rx *rx, u8 error, struct list_head *garbage);
void ndp_rx_free_all(struct sock *sk, struct list_head *garbage);
void ndp_rx_end(struct ndp_rx *rx, u8 error, struct list_head *garbage);
int ndp_rx_init(struct ndp_net *nn);
void ndp_rx_exit(struct ndp_net *nn);

void ndp_rx_input(struct ndp_packet *p);
bool ndp_rx_input_batch(struct ndp_packet *p);
void ndp_rx_error(struct ndp_packet *p);
void ndp_rx_say(struct ndp_rx *rx, u8 flags);
void ndp_rx_room(struct sock *sk);
void ndp_rx_close(struct sock *sk);
bool ndp_rx_gc(struct ndp_net *nn);
void ndp_rx_info(struct sock *sk, struct ndp_info *info);
void ndp_rx_init_sock(struct ndp_sock *ns);

/* ---- rx_msg.c, recvmsg.c: received messages ---- */

struct ndp_rx_msg *ndp_rx_msg_alloc(const struct ndp_packet *p);
void ndp_rx_msg_free(struct sock *sk, struct ndp_rx_msg *rm);
bool ndp_rx_msg_queue(struct ndp_sock *ns, struct ndp_rx_msg *rm);
struct ndp_rx_msg *ndp_rx_msg_next(struct ndp_sock *ns);
bool ndp_rx_msg_readable(struct ndp_sock *ns);
void ndp_rx_watch(struct ndp_sock *ns);
bool ndp_rx_is_silent(const struct ndp_rx *rx);
bool ndp_rx_reader_waits(const struct ndp_sock *ns);
int ndp_recvmsg(struct socket *sock, struct msghdr *msg, size_t len, int flags);

/* ---- region.c: messages placed in memory of a program ---- */

void ndp_region_take(struct ndp_sock *ns, struct ndp_rx_msg *rm, u64 len);
void ndp_region_deliver(struct ndp_sock *ns, struct ndp_rx_msg *rm);
void ndp_region_return(struct ndp_sock *ns, struct ndp_rx_msg *rm);
int ndp_region_setsockopt(struct sock *sk, int name, sockptr_t optval, unsigned int len);
int ndp_region_mmap(struct file *file, struct socket *sock, struct vm_area_struct *vma);
void ndp_region_close(struct sock *sk);
void ndp_region_info(const struct ndp_sock *ns, struct ndp_info *info);

/* ---- diag.c, af_ndp.c: begin and end ---- */

int ndp_stats_init(struct ndp_net *nn);
void ndp_stats_exit(struct ndp_net *nn);
int ndp_sysctl_init(struct ndp_net *nn);
void ndp_sysctl_exit(struct ndp_net *nn);
int ndp_nl_init(void);
void ndp_nl_exit(void);
int ndp_socks_init(void);
void ndp_socks_exit(void);

#endif /* _NDP_H */
