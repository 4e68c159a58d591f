/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The NDP transport: what its files share
 *
 *	  sendmsg, recvmsg, poll, setsockopt
 *	        ndp_sock.c
 *	ndp_send.c        ndp_recv.c		a socket's messages
 *	    |                  ^
 *	ndp_tx.c           ndp_rx.c		flows: the cores ndp_snd.h, ndp_rcv.h
 *	    |   ^            |  ^   \
 *	    |   |            |  |    ndp_host.c	pull queues: the core ndp_pull.h
 *	ndp_out.c, ndp_peer.c|  |			paths: the core ndp_path.h
 *	    |   |            |  |
 *	    v   +---- ndp_in.c -+			hooks of netfilter
 *	   IP                ^   ndp_udp.c		the UDP port
 *
 * Locks, all taken with bottom halves off; each line stands for itself, and within it,
 * the left one is taken first:
 *
 *	tx->lock > peer->lock		a flow that sends; the peer's paths
 *	ns->rcv_lock > host->lock	all that a socket receives; a pull queue
 *	ns->rcv_lock > struct ndp_owed	a CPU's flows whose packets wait for an answer
 *	either > ns->mem_lock		memory of a socket
 *
 * A mutex, ns->region_lock, is taken before rcv_lock, and behind mmap_lock.
 *
 * tx->lock and rcv_lock are never held together. Nothing is transmitted, and no
 * sleeper woken whose callback may take one of them, while one is held. What softirqs
 * do never takes the socket's lock (lock_sock()).
 *
 * Peers, flows and sockets are found under RCU. A flow that sends (struct ndp_tx) is
 * counted (@refs) and keeps its socket; one that is received (struct ndp_rx) belongs to its
 * socket, which ends it before it goes; a peer is counted by both.
 */
#ifndef _NDP_H
#define _NDP_H

#include <linux/hashtable.h>
#include <linux/hrtimer.h>
#include <linux/idr.h>
#include <linux/mutex.h>
#include <linux/netfilter.h>
#include <linux/rhashtable.h>
#include <linux/siphash.h>
#include <linux/xarray.h>
#include <net/dst_cache.h>
#include <net/inet_sock.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <net/sock.h>
#include <closnet/counters.h>
#include "ndp_batch.h"
#include "ndp_path.h"
#include "ndp_rcv_run.h"
#include "ndp_rcv_share.h"
#include "ndp_rcv_turn.h"
#include "ndp_snd.h"

#define NDP_PORT_BUCKETS_BITS	10
#define NDP_HOST_BUCKETS_BITS	6
/* of a message's memory: a power of two of bytes, up to the kernel's costly order */
#define NDP_CHUNK_SHIFT_MAX	15
/*
 * At the NIC a socket has at most so many bytes of data, as TCP has with TSQ: 100 us at
 * 10 Gbit/s, and less than the 100 packets that fq has room for
 */
#define NDP_NIC_BYTES		131072
/* Of SO_RCVBUF more is not used: a reader's message may need three times as much. */
#define NDP_RCVBUF_MAX		536870912
/* After close() messages go on for so long at most */
#define NDP_ORPHAN_MS		60000

/* What a namespace counts in the glue; ndp_stats.c has the rest. */
enum ndp_counter {
	NDP_N_IN_PACKETS,	/* datagrams that came, all types */
	NDP_N_IN_DATA,		/* of these: DATA, whole */
	NDP_N_IN_TRIMMED,	/* of these: DATA, trimmed */
	NDP_N_IN_CONTROL,
	NDP_N_IN_PROBE,
	NDP_N_IN_COOKIE,
	NDP_N_IN_ERROR,
	NDP_N_IN_RETURNED,	/* of these: returned by a switch */
	NDP_N_IN_RUNS,		/* packets that were taken as one */
	NDP_N_IN_REPAIRED,	/* lengths of IP or UDP that a switch left as they were */
	NDP_N_IN_SHORT,		/* dropped: enum ndp_read */
	NDP_N_IN_VERSION,
	NDP_N_IN_HDR_CSUM,
	NDP_N_IN_VALUE,
	NDP_N_IN_UDP_CSUM,	/* dropped: whole, but the UDP checksum is wrong */
	NDP_N_IN_NO_SOCKET,	/* answered with NO_PORT */
	NDP_N_IN_NO_FLOW,	/* answers to no flow of ours, or not SYN */
	NDP_N_IN_NO_MEMORY,	/* dropped for want of memory */
	NDP_N_IN_FLOWS_MAX,	/* dropped: too many flows */
	NDP_N_IN_FILTERED,	/* dropped by a filter of the socket or its control group */
	NDP_N_OUT_DATA,
	NDP_N_OUT_RTX,		/* of these: retransmissions */
	NDP_N_OUT_BATCHED,	/* of these: in batches */
	NDP_N_OUT_BATCHES,	/* which were so many */
	NDP_N_OUT_PROBE,
	NDP_N_OUT_CONTROL,
	NDP_N_OUT_PULL,		/* of these: by the pacer */
	NDP_N_OUT_COOKIE,
	NDP_N_OUT_ERROR,
	NDP_N_OUT_NO_MEMORY,	/* not sent */
	NDP_N_OUT_NO_ROUTE,	/* not sent */
	NDP_N_OUT_FORGED,	/* dropped: of the port, but made by others */
	NDP_N_FAILED_UNTOLD,	/* messages that failed, of which the error queue has no word */
	NDP_N_TX_FLOWS,		/* flows that began */
	NDP_N_RX_FLOWS,
	NDP_COUNTERS,
};

/**
 * struct ndp_conf - sysctls, net.ndp.NAME of a namespace; read with READ_ONCE()
 * @initial_window: packets that a flow begins with, 1..NDP_WINDOW_MAX
 * @paths: entropies to a peer, 1..NDP_PATHS_MAX; for peers that come
 * @rto_us: timeout, 100..1000000
 * @timeout_ms: NDP_TIMEOUT of sockets that have none, NDP_TIMEOUT_MIN..MAX
 * @pull_policy: enum ndp_pull_policy; for devices that come, and when no flow waits
 * @line_rate_Mbps: of links whose rate ethtool does not tell, 0..1000000; 0: 10 Gbit/s
 * @flows_max: flows received, 1..1000000
 * @gso_packets: new packets of a path that leave as one, 1..NDP_BATCH_PACKETS; 1: none do
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
};

/**
 * struct ndp_addrs - from where to where; IPv4 is mapped into IPv6
 * @local: ours
 * @remote: the peer's
 * @ifindex: link-local addresses only, else 0
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
 * struct ndp_net - of a network namespace
 * @net: it
 * @conf: sysctls
 * @sysctl: their table
 * @counters: enum ndp_counter
 * @totals_lock: protects @snd_totals, @rcv_totals, @pull_totals
 * @snd_totals: of flows that are no more
 * @rcv_totals: of sockets that are no more, by enum ndp_rcv_verdict
 * @pull_totals: of devices that are no more
 * @peers: struct ndp_peer by @addrs
 * @tx: struct ndp_tx by @flow_id
 * @tx_by_to: struct ndp_tx by @to
 * @rx: struct ndp_rx by @key
 * @rx_flows: flows in @rx
 * @lines: struct ndp_line by who sends to which socket
 * @ports_lock: protects @ports
 * @ports: struct ndp_sock by port
 * @hosts: struct ndp_host by ifindex; protected by RTNL
 * @cookie_key: of siphash
 * @gc: once a second, as long as there are flows
 * @udp_lock: makes @udp4, @udp6
 * @udp_taken: these are there: packets are NDP's
 * @udp4: has the UDP port, for IPv4
 * @udp6: for IPv6; NULL: the kernel has none
 */
struct ndp_net {
	struct net *net;
	struct ndp_conf conf;
	struct ctl_table_header *sysctl;
	struct closnet_counters counters;
	spinlock_t totals_lock;		/* the three behind it */
	struct ndp_snd_stats snd_totals;
	u64 rcv_totals[NDP_RCV_VERDICTS];
	struct ndp_pull_stats pull_totals;
	struct rhashtable peers;
	struct rhashtable tx;
	struct rhashtable tx_by_to;
	struct rhashtable rx;
	atomic_t rx_flows;
	struct rhashtable lines;
	spinlock_t ports_lock;		/* changes of @ports */
	DECLARE_HASHTABLE(ports, NDP_PORT_BUCKETS_BITS);
	DECLARE_HASHTABLE(hosts, NDP_HOST_BUCKETS_BITS);
	siphash_key_t cookie_key;
	struct delayed_work gc;
	struct mutex udp_lock;		/* the three behind it */
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

/* ---- ndp_peer.c: who we talk with ---- */

/**
 * struct ndp_peer - a pair of addresses
 * @node: in struct ndp_net's @peers
 * @addrs: the key
 * @nn: namespace
 * @refs: flows, and whoever has just got it: strangers, to whom there is no flow, have none
 * @dst: routes
 * @rx_flows: flows of it that are received
 * @port_base: ndp_path_port(): random
 * @answers: answers sent; each goes by the next path
 * @lock: protects @paths
 * @paths: entropies
 * @rcu: frees it
 */
struct ndp_peer {
	struct rhash_head node;
	struct ndp_addrs addrs;
	struct ndp_net *nn;
	refcount_t refs;
	struct dst_cache dst;
	atomic_t rx_flows;
	u16 port_base;
	atomic_t answers;
	spinlock_t lock;		/* @paths */
	struct ndp_paths paths;
	struct rcu_head rcu;
};

struct ndp_peer *ndp_peer_find(struct ndp_net *nn, const struct ndp_addrs *addrs);
struct ndp_peer *ndp_peer_get(struct ndp_net *nn, const struct ndp_addrs *addrs);
void ndp_peer_put(struct ndp_peer *peer);
u32 ndp_peer_memory(const struct ndp_peer *peer);
int ndp_peers_init(struct ndp_net *nn);
void ndp_peers_exit(struct ndp_net *nn);

/* ---- ndp_out.c: from header to IP ---- */

/**
 * struct ndp_route - what ndp_out_route() finds out
 * @local: address that packets come from
 * @mtu: of the route, bytes of IP
 * @ifindex: of the link, if @remote is link-local; else 0
 */
struct ndp_route {
	struct in6_addr local;
	u32 mtu;
	int ifindex;
};

struct ndp_packet;

int ndp_out_route(struct sock *sk, const struct in6_addr *local, const struct in6_addr *remote,
		  int ifindex, struct ndp_route *route);
u16 ndp_out_payload(const struct ndp_addrs *addrs, u32 mtu);
struct sk_buff *ndp_out_skb(const struct ndp_peer *peer, const struct ndp_hdr *h);
bool ndp_out_more(const struct ndp_peer *peer, struct sk_buff *skb, const struct ndp_hdr *h);
void ndp_out_xmit(struct ndp_peer *peer, struct sk_buff *skb, u16 sport, struct sock *sk);
void ndp_out_answer(struct ndp_peer *peer, const struct ndp_hdr *h);
void ndp_out_reply(const struct ndp_packet *p, const struct ndp_hdr *h);

/* ---- ndp_in.c: from the network ---- */

/**
 * struct ndp_packet - a packet that came
 * @nn: namespace
 * @skb: it; its data begins behind the header, at the payload
 * @h: its header
 * @addrs: where from, where to
 * @ifindex: of the device by which it came
 * @dsfield: DSCP and ECN bits
 */
struct ndp_packet {
	struct ndp_net *nn;
	struct sk_buff *skb;
	struct ndp_hdr h;
	struct ndp_addrs addrs;
	int ifindex;
	u8 dsfield;
};

int ndp_in_init(struct ndp_net *nn);
void ndp_in_exit(struct ndp_net *nn);
int ndp_in_dev_init(struct net_device *dev, struct nf_hook_ops *ops);
bool ndp_in_peek(const struct sk_buff *skb, u32 off, struct ndp_hdr *h);
void ndp_in_udp(struct ndp_net *nn, struct sk_buff *skb);

/* ---- ndp_udp.c: the UDP port ---- */

int ndp_udp_take(struct ndp_net *nn);
struct sock *ndp_udp_sk(const struct ndp_net *nn, u8 pf);
void ndp_udp_exit(struct ndp_net *nn);

/* ---- ndp_guard.c: packets that others forge ---- */

int ndp_guard_init(struct ndp_net *nn);
void ndp_guard_exit(struct ndp_net *nn);

/* ---- ndp_sock.c: sockets ---- */

/**
 * struct ndp_sock - a socket
 * @inet: first; of AF_INET6, @inet6 is behind
 * @port_node: in struct ndp_net's @ports
 * @initial_window: NDP_INITIAL_WINDOW, 0: the namespace's
 * @timeout_ms: NDP_TIMEOUT, 0: the namespace's
 * @closed: close() was called: nothing is received any more; under @rcv_lock
 * @mem_lock: protects sk_forward_alloc
 * @flow_bytes: memory of flows, their rings and peers
 * @tx_lock: protects @tx_list; innermost
 * @tx_list: flows that send, struct ndp_tx's @sock_node; read under RCU
 * @tx_busy: messages that have not ended; close() may wait for 0
 * @snd_bytes: memory of messages that are sent, against SO_SNDBUF
 * @turn_denied: of SOCK_SEQPACKET, a sendmsg() was told that it is not its turn, and since
 *	then none has ended; set under the lock of the flow
 * @sent_no: number of the last message that was sent
 * @snd_totals: of flows that are no more; under @tx_lock
 * @nic_waits: flows wait for sk_write_space(): the NIC has enough of ours
 * @nic_bytes: truesize of all packets that the NIC was ever given, modulo 2^32
 * @rcv_lock: protects the rest
 * @rcv: the core
 * @rcv_params: of @rcv
 * @packet_memory: most that a packet took which came
 * @rx_list: flows received, struct ndp_rx's @sock_node
 * @flows: how many these are
 * @held: of these, those for whose packets there was no room, struct ndp_rx's @held_node
 * @missing: of these, those of which something is missing
 * @lines: of SOCK_SEQPACKET, messages by sender, struct ndp_line's @sock_node
 * @whole: messages that are whole, or of which a part was read and which will never be,
 *	struct ndp_got's @node
 * @partial: longer ones of which a prefix is there, and which may be read by and by
 * @reading: the message that recvmsg() is at, and the next one goes on with; in no list
 * @lent: the message that has a packet for which all sockets had no memory; NULL: none; who frees
 *	the message changes it without the lock
 * @got_no: number of the last message that came
 * @bytes_received: payload that was taken, for NDP_INFO
 * @msgs_received: messages that came whole, for NDP_INFO
 * @pulls_sent: packets asked for, for NDP_INFO
 * @region: where messages are placed; NULL: nowhere; changes under @region_lock, too
 * @msgs_placed: messages that came whole there, for NDP_INFO
 * @region_lock: for who sets @region, and maps it
 */
struct ndp_sock {
	struct inet_sock inet;
	struct hlist_node port_node;
	u32 initial_window;
	u32 timeout_ms;
	bool closed;
	spinlock_t mem_lock;		/* sk_forward_alloc */
	atomic64_t flow_bytes;

	spinlock_t tx_lock;		/* changes of @tx_list; @snd_totals */
	struct list_head tx_list;
	atomic_t tx_busy;
	atomic64_t snd_bytes;
	bool turn_denied;
	atomic64_t sent_no;
	struct ndp_snd_stats snd_totals;
	atomic_t nic_waits;
	atomic_t nic_bytes;

	spinlock_t rcv_lock ____cacheline_aligned_in_smp; /* the rest */
	struct ndp_rcv rcv;
	struct ndp_rcv_params rcv_params;
	u32 packet_memory;
	struct list_head rx_list;
	u32 flows;
	struct list_head held;
	u32 missing;
	struct list_head lines;
	struct list_head whole;
	struct list_head partial;
	struct ndp_got *reading;
	struct ndp_got *lent;
	u64 got_no;
	u64 bytes_received;
	u64 msgs_received;
	u64 pulls_sent;
	struct ndp_region *region;
	u64 msgs_placed;

	struct mutex region_lock;	/* changes of @region */
};

/* Of AF_INET6; the kernel looks for ipv6_pinfo at the end of the socket. */
struct ndp6_sock {
	struct ndp_sock ndp;
	struct ipv6_pinfo inet6;
};

static inline struct ndp_sock *ndp_sk(const struct sock *sk)
{
	return (struct ndp_sock *)sk;
}

/* Does it deliver messages of each sender in order, and send them one after the other? */
static inline bool ndp_is_ordered(const struct sock *sk)
{
	return sk->sk_type == SOCK_SEQPACKET;
}

/* What the messages may take that a socket receives: its own counter has 31 bits. */
static inline u32 ndp_rcvbuf(const struct sock *sk)
{
	return min_t(u32, READ_ONCE(sk->sk_rcvbuf), NDP_RCVBUF_MAX);
}

bool ndp_is_sock(const struct sock *sk);
struct sock *ndp_sock_lookup(struct ndp_net *nn, const struct ndp_packet *p);
int ndp_autobind(struct sock *sk);
int ndp_addr_read(const struct sock *sk, const struct sockaddr *from, int len,
		  struct in6_addr *addr, u16 *port, int *ifindex);
int ndp_addr_write(const struct sock *sk, const struct in6_addr *addr, u16 port, int ifindex,
		   void *to);
struct in6_addr ndp_bound(const struct sock *sk);
extern atomic_long_t ndp_memory_allocated;
DECLARE_PER_CPU(int, ndp_memory_fw_alloc);
extern long ndp_memory_limits[3];
extern int ndp_memory_min;

void ndp_mem_init(void);
bool ndp_mem_is_short(u32 bytes);
bool ndp_mem_charge(struct sock *sk, u32 bytes, int kind);
void ndp_mem_uncharge(struct sock *sk, u32 bytes, int kind);
bool ndp_mem_charge_flow(struct sock *sk, u32 bytes);
void ndp_mem_uncharge_flow(struct sock *sk, u32 bytes);
void ndp_sock_writable(struct sock *sk);

int ndp_socks_init(void);
void ndp_socks_exit(void);

/*
 * Tells a struct ndp_failure from what others put into sk_error_queue: none of SO_EE_ORIGIN_*;
 * user space never sees it
 */
#define NDP_EE_ORIGIN		0xfe

/**
 * struct ndp_failure - a message that failed: the data of a skb in sk_error_queue
 * @remote: to whom it was
 * @ifindex: link-local addresses only, else 0
 * @port: to which port, host byte order
 * @failed: what recvmsg() tells
 */
struct ndp_failure {
	struct in6_addr remote;
	int ifindex;
	u16 port;
	struct ndp_failed failed;
};

void ndp_sock_failed(struct sock *sk, const struct ndp_addrs *addrs, u16 port, u64 msg_no,
		     u8 error);

/* ---- ndp_send.c: messages to be sent ---- */

/**
 * struct ndp_msg - a message that is sent
 * @core: first
 * @sk: its socket
 * @node: in the flow's @msgs
 * @no: number on its socket, from 1 on, once all of it is there
 * @chunks: its bytes: struct page, by offset >> @chunk_shift; of those done there are none
 * @begin: of the first chunk, in its page; 0 but if others share that
 * @chunk_shift: log2 of a chunk's bytes
 * @freed: bytes before this one have no memory any more
 * @reserved: memory charged to the socket for chunks to come; sendmsg()'s own
 * @feeding: sendmsg() is still at it and frees it; else who ends it does; under the
 *	flow's lock
 */
struct ndp_msg {
	struct ndp_snd_msg core;
	struct sock *sk;
	struct list_head node;
	u64 no;
	struct xarray chunks;
	u32 begin;
	u8 chunk_shift;
	u64 freed;
	u32 reserved;
	bool feeding;
};

int ndp_sendmsg(struct socket *sock, struct msghdr *msg, size_t len);
bool ndp_msg_add(struct ndp_msg *m, struct sk_buff *skb, u64 offset, u32 len);
bool ndp_msg_done(struct ndp_msg *m);
void ndp_msg_free(struct ndp_msg *m);

/* ---- ndp_tx.c, ndp_tx_run.c: flows that send ---- */

/**
 * struct ndp_tx_to - key of struct ndp_tx: from which socket to which
 * @sk: ours
 * @addrs: addresses
 * @port: the peer's, host byte order
 */
struct ndp_tx_to {
	struct sock *sk;
	struct ndp_addrs addrs;
	u32 port;
};

/**
 * struct ndp_tx - a flow from one of our sockets
 * @node: in struct ndp_net's @tx
 * @flow_id: the key; changes when the flow is renewed, under @lock
 * @to_node: in struct ndp_net's @tx_by_to
 * @to: the key
 * @refs: its socket's list, a sendmsg() at work, and whoever has just found it
 * @sk: socket, counted
 * @peer: counted
 * @sock_node: in the socket's @tx_list; RCU
 * @params: of the core
 * @timer: of the core; soft
 * @lock: protects the rest
 * @f: the core
 * @stats: of the core
 * @msgs: messages that have not ended, struct ndp_msg's @node
 * @fed: of SOCK_SEQPACKET, the one that sendmsg() is still at; NULL: none
 * @dead: it sends no more, and takes no messages
 * @icmp_error: what ICMP has said since something was heard: errno; 0: nothing
 * @nic_waits: has something to send, but the NIC has enough
 * @nic_left: the socket's @nic_bytes, less what was at the NIC when the timer expired last
 * @close_ns: when its socket was closed; 0: it was not
 * @charged: bytes charged to the socket, but for the ring
 * @rtt_ns: mean round-trip time, 1/8; 0: unknown
 * @rtt_min_ns: least
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
	spinlock_t lock;		/* the rest */
	struct ndp_snd_flow f;
	struct ndp_snd_stats stats;
	struct list_head msgs;
	const struct ndp_msg *fed;
	bool dead;
	u8 icmp_error;
	bool nic_waits;
	u32 nic_left;
	u64 close_ns;
	u32 charged;
	u32 rtt_ns;
	u32 rtt_min_ns;
	struct rcu_head rcu;
};

/**
 * struct ndp_tx_work - what is done to a flow at once, and its consequences
 * @c: call of the core
 * @out: packets to be sent when the lock is dropped
 * @ended: messages that have ended, struct ndp_msg's @node
 * @wake: somebody may wait for what has happened
 * @gone: the flow has become dead with this
 */
struct ndp_tx_work {
	struct ndp_snd_call c;
	struct sk_buff_head out;
	struct list_head ended;
	bool wake;
	bool gone;
};

extern const struct rhashtable_params ndp_tx_params;

struct ndp_tx *ndp_tx_get(struct sock *sk, const struct ndp_addrs *addrs, u16 port);
void ndp_tx_put(struct ndp_tx *tx);
int ndp_tx_submit(struct ndp_tx *tx, struct ndp_msg *m);
int ndp_tx_more(struct ndp_tx *tx, struct ndp_msg *m, u64 ready);
void ndp_tx_cancel(struct ndp_tx *tx, struct ndp_msg *m, u8 error);
void ndp_tx_close(struct sock *sk, bool abort);
bool ndp_tx_gc(struct ndp_net *nn);
void ndp_tx_info(struct sock *sk, struct ndp_info *info);
int ndp_tx_init(struct ndp_net *nn);
void ndp_tx_exit(struct ndp_net *nn);
bool ndp_tx_renew(struct ndp_tx *tx, struct ndp_tx_work *w);
void ndp_tx_kill(struct ndp_tx *tx, struct ndp_tx_work *w);
void ndp_tx_unlink(struct ndp_tx *tx);
void ndp_tx_set_rto(struct ndp_tx *tx);
void ndp_tx_fed(struct ndp_tx *tx, struct ndp_tx_work *w, const struct ndp_msg *m);

void ndp_tx_enter(struct ndp_tx *tx, struct ndp_tx_work *w);
void ndp_tx_leave(struct ndp_tx *tx, struct ndp_tx_work *w);
void ndp_tx_abort(struct ndp_tx *tx, struct ndp_tx_work *w, const struct ndp_msg *m);
enum hrtimer_restart ndp_tx_timeout(struct hrtimer *timer);
void ndp_tx_input(struct ndp_packet *p);
void ndp_tx_returned(struct ndp_packet *p);
void ndp_tx_icmp(const struct ndp_packet *p, u8 error);
void ndp_tx_write_space(struct sock *sk);

/* ---- ndp_host.c: devices, and what is pulled through them ---- */

/**
 * struct ndp_host - a device by which packets come
 * @node: in struct ndp_net's @hosts
 * @nn: namespace
 * @ifindex: the key
 * @hook: of netfilter's ingress: ndp_in_dev_init()
 * @refs: the device, and flows
 * @timer: the pacer; soft
 * @ids: of flows, for srpt
 * @grow: makes room for more flows, for srpt
 * @lock: protects the rest, and the timer's start
 * @q: the core
 * @link_Mbps: rate of the link; 0: unknown
 * @rate_Mbps: at which is pulled
 * @ids_end: behind the greatest id that a flow had
 * @places: flows for which there is room with srpt
 * @armed: the timer is, or its function runs and will start it again
 * @dead: the device is gone
 * @rcu: frees it
 */
struct ndp_host {
	struct hlist_node node;
	struct ndp_net *nn;
	int ifindex;
	struct nf_hook_ops hook;
	refcount_t refs;
	struct hrtimer timer;
	struct ida ids;
	struct work_struct grow;
	spinlock_t lock;		/* @q, @dead, the timer's start */
	struct ndp_pull q;
	u32 link_Mbps;
	u32 rate_Mbps;
	u32 ids_end;
	u32 places;
	bool armed;
	bool dead;
	struct rcu_head rcu;
};

extern struct notifier_block ndp_host_notifier;

struct ndp_host *ndp_host_get(struct ndp_net *nn, int ifindex);
void ndp_host_put(struct ndp_host *host);
int ndp_host_reserve(struct ndp_host *host);
void ndp_host_join(struct ndp_host *host, struct ndp_pull_node *n, int id);
void ndp_host_leave(struct ndp_host *host, struct ndp_pull_node *n, bool ends);
bool ndp_host_wish(struct ndp_host *host, struct ndp_rcv_flow *f, const struct ndp_hdr *h,
		   enum ndp_rcv_verdict v, bool yields, u64 now);
void ndp_host_resume(struct ndp_host *host, struct ndp_pull_node *n);
void ndp_host_exit(struct ndp_net *nn);

/* ---- ndp_rx.c, ndp_rx_flow.c: flows that are received ---- */

struct ndp_owed;

/**
 * struct ndp_rx_key - key of struct ndp_rx
 * @addrs: from whom, to where
 * @flow_id: the peer's name of it
 */
struct ndp_rx_key {
	struct ndp_addrs addrs;
	u32 flow_id;
};

/**
 * struct ndp_rx - a flow to one of our sockets
 * @node: in struct ndp_net's @rx
 * @key: the key
 * @peer: counted
 * @sk: its socket, which ends it before it goes
 * @host: where it is pulled, counted
 * @sock_node: in the socket's @rx_list
 * @held_node: in the socket's @held; empty: not held
 * @held_ns: since when
 * @owed_node: in @owed_at's list
 * @owed_at: the CPU that sends the answer to packets that wait for it; NULL: none do
 * @charged: bytes charged to the socket
 * @told: packets that its sender was asked for
 * @missing: something is, and it counts in the socket's @missing
 * @line: where its messages wait for each other; NULL: they do not
 * @f: the core; under the socket's rcv_lock, but @f.pull, under the host's
 * @dead: it is no longer found, and takes nothing
 * @rcu: frees it
 */
struct ndp_rx {
	struct rhash_head node;
	struct ndp_rx_key key;
	struct ndp_peer *peer;
	struct sock *sk;
	struct ndp_host *host;
	struct list_head sock_node;
	struct list_head held_node;
	u64 held_ns;
	struct list_head owed_node;
	struct ndp_owed *owed_at;
	u32 charged;
	u32 told;
	bool missing;
	struct ndp_line *line;
	struct ndp_rcv_flow f;
	bool dead;
	struct rcu_head rcu;
};

/**
 * struct ndp_got - a message that is received
 * @core: first; of a message of one packet, all but @core.len and @core.read is 0
 * @turn: its place among those of its sender, if they are in order
 * @node: in its socket's @whole or @partial; empty: in none
 * @rx: its flow, as long as it is not whole; NULL: it is, or will never be
 * @addrs: whom it came from, and to where
 * @port: the sender's, host byte order
 * @no: number on its socket, from 1 on
 * @skbs: packets from its begin on without a hole, less what was read
 * @next: offset behind those
 * @ahead: packets beyond a hole, by offset: skb->rbnode
 * @memory: bytes charged to the socket for it
 * @failed: it will never be whole: errno
 * @slot: where it is placed in the region
 * @slots: how many it has there; 0: its packets are kept in @skbs and @ahead
 */
struct ndp_got {
	struct ndp_rcv_msg core;
	struct ndp_turn turn;
	struct list_head node;
	struct ndp_rx *rx;
	struct ndp_addrs addrs;
	u16 port;
	u64 no;
	struct sk_buff_head skbs;
	u64 next;
	struct rb_root ahead;
	u64 memory;
	u8 failed;
	u32 slot;
	u32 slots;
};

/* Under rcv_lock */
static inline void ndp_rx_set_missing(struct ndp_rx *rx, bool missing)
{
	ndp_sk(rx->sk)->missing += missing - rx->missing;
	rx->missing = missing;
}

struct ndp_host *ndp_rx_host(const struct ndp_packet *p, int *id);
struct ndp_rx *ndp_rx_lookup(const struct ndp_packet *p);
struct ndp_rx *ndp_rx_find(const struct ndp_packet *p, struct ndp_hdr *answer);
void ndp_rx_limit(struct ndp_sock *ns, const struct ndp_rx *rx, u32 memory);
void ndp_rx_respond(struct ndp_rx *rx, const struct ndp_packet *p, enum ndp_rcv_verdict v, u64 now,
		    bool at_once, struct ndp_hdr *answer);
void ndp_rx_input(struct ndp_packet *p);
void ndp_rx_error(struct ndp_packet *p);
void ndp_rx_pull(struct ndp_rx *rx);
void ndp_rx_settle(struct ndp_rx *rx);
void ndp_rx_fail(struct ndp_sock *ns, struct ndp_rcv_msg *m, u8 error, struct list_head *garbage);
void ndp_rx_free_all(struct sock *sk, struct list_head *garbage);
void ndp_rx_close(struct sock *sk);
void ndp_rx_room(struct sock *sk);
bool ndp_rx_freed(struct ndp_sock *ns);
bool ndp_rx_gc(struct ndp_net *nn);
void ndp_rx_info(struct sock *sk, struct ndp_info *info);
int ndp_rx_init(struct ndp_net *nn);
void ndp_rx_exit(struct ndp_net *nn);

/* ---- ndp_rx_run.c: packets of a flow that come as one ---- */

bool ndp_rx_run(struct ndp_packet *p, const struct ndp_run *run);

/* ---- ndp_owed.c: answers that wait for more packets ---- */

void ndp_owed_add(struct ndp_rx *rx);
void ndp_owed_del(struct ndp_rx *rx);
void ndp_owed_run(bool at_once);
int ndp_owed_init(void);
void ndp_owed_exit(void);

/* ---- ndp_line.c: SOCK_SEQPACKET: messages in order ---- */

/**
 * struct ndp_line - messages from a socket to one of ours, in order
 * @node: in struct ndp_net's @lines
 * @key: the key: @key.port is the sender's
 * @sock_node: in the socket's @lines
 * @rx: the flow by which they come; NULL: it is over
 * @turns: the core
 * @rcu: frees it
 *
 * All but @node under the socket's rcv_lock.
 */
struct ndp_line {
	struct rhash_head node;
	struct ndp_tx_to key;
	struct list_head sock_node;
	struct ndp_rx *rx;
	struct ndp_turns turns;
	struct rcu_head rcu;
};

bool ndp_line_alloc(struct sock *sk, const struct ndp_packet *p, struct ndp_line **line);
int ndp_line_find(struct ndp_rx *rx);
void ndp_line_join(struct ndp_rx *rx, const struct ndp_hdr *h);
void ndp_line_put(struct ndp_line *line);
void ndp_line_leave(struct ndp_rx *rx);
bool ndp_line_purge(struct ndp_sock *ns, struct list_head *garbage, u32 max);
void ndp_line_add(struct ndp_rx *rx, struct ndp_got *got, const struct ndp_hdr *h);
bool ndp_line_run(struct ndp_rx *rx, struct list_head *garbage);
void ndp_line_fail(struct ndp_got *got);
void ndp_line_done(struct ndp_sock *ns, struct ndp_got *got);
void ndp_line_yield(struct ndp_rx *rx, struct list_head *garbage);
void ndp_line_age(struct ndp_rx *rx, u64 now, struct list_head *garbage);
int ndp_line_init(struct ndp_net *nn);
void ndp_line_exit(struct ndp_net *nn);

/* ---- ndp_recv.c: messages that came ---- */

/**
 * struct ndp_part_cb - struct sk_buff's cb of a packet that is kept; or of a run
 * @offset: of its payload in its message
 * @memory: bytes charged to the socket for it; 0: it is lent, its message is the socket's @lent
 * @len: payload, bytes
 * @seg: of a run, payload of each packet but the last, with a header between two; else @len
 */
struct ndp_part_cb {
	u64 offset;
	u32 memory;
	u32 len;
	u32 seg;
};

static inline struct ndp_part_cb *ndp_part_cb(const struct sk_buff *skb)
{
	return (struct ndp_part_cb *)skb->cb;
}

struct ndp_got *ndp_got_alloc(const struct ndp_packet *p, u16 port);
void ndp_got_add(struct ndp_got *got, struct sk_buff *skb, struct ndp_part_cb part);
void ndp_got_free(struct sock *sk, struct ndp_got *got);
bool ndp_got_queue(struct ndp_sock *ns, struct ndp_got *got, bool any);
struct ndp_got *ndp_got_next(struct ndp_sock *ns);
bool ndp_got_readable(struct ndp_sock *ns);
int ndp_recvmsg(struct socket *sock, struct msghdr *msg, size_t len, int flags);

/* ---- ndp_region.c: where messages are placed ---- */

void ndp_region_take(struct ndp_sock *ns, struct ndp_got *got, u64 len);
void ndp_region_copy(struct ndp_sock *ns, const struct ndp_got *got, const struct ndp_packet *p);
void ndp_region_deliver(struct ndp_sock *ns, struct ndp_got *got);
void ndp_region_return(struct ndp_sock *ns, struct ndp_got *got);
int ndp_region_setsockopt(struct sock *sk, int name, sockptr_t optval, unsigned int len);
int ndp_region_mmap(struct file *file, struct socket *sock, struct vm_area_struct *vma);
void ndp_region_close(struct sock *sk);
void ndp_region_info(const struct ndp_sock *ns, struct ndp_info *info);

/* ---- ndp_stats.c, ndp_sysctl.c, ndp_main.c ---- */

int ndp_stats_init(struct ndp_net *nn);
void ndp_stats_exit(struct ndp_net *nn);
void ndp_stats_add(struct ndp_snd_stats *sum, const struct ndp_snd_stats *stats);
int ndp_sysctl_init(struct ndp_net *nn);
void ndp_sysctl_exit(struct ndp_net *nn);
void ndp_gc_start(struct ndp_net *nn);

/* ---- ndp_nl.c: what people see of all that ---- */

int ndp_nl_init(void);
void ndp_nl_exit(void);

#endif /* _NDP_H */
