/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NDP sender: a flow, its messages, and the rules by which it sends
 *
 * Plain C; time and randomness are arguments. A flow goes from one socket to another and carries
 * messages, cut into packets. Each packet that leaves has a permission, in this order:
 *
 *	push	a lost packet that timed out or was returned, if no pull will come for it; or one
 *		new packet, to test whether the receiver has room
 *	credit	a pull (pulls received - pulls used). Lost packets go first, then new ones
 *	spec	new packets of the initial window, when the flow begins to send
 *
 * Demand: the sender announces how many packets it needs to be pulled, as a cumulative number:
 *
 *	need       = lost + new packets
 *	expected   = announced - pull
 *	announced += need - (credit + expected + spec), if that is positive
 *
 * Once half of an initial window of new packets is on its way, new packets raise it by at most 2
 * per packet sent: by 1 if credit is left, by 0 if the credit exceeds half of a window. A sender
 * whose link is busy with other flows is thus pulled as often as it sends. `announced` goes out as
 * pull_target with each packet. The receiver adds its NACKs to the demand, and so does the sender
 * when it learns their number (trimmed). It never falls until the flow is idle, or begins again.
 * If no packet that carried it was answered (unheard), the number of pulls to expect is unknown.
 *
 *	            submit                       all acknowledged
 *	+------+ ------------> +--------------+ -----------------> +------+
 *	| idle |               | busy         |                    | idle |
 *	+------+               |  permission: |                    +------+
 *	                       |  send; none: |  no answer, ERROR
 *	                       |  wait        | -----------------> (failed)
 *	                       +--------------+
 *
 *	                           more
 *	 submit     +-------+ <-------------- +-----+
 *	----------> | order | --------------> | dry |	dry: all bytes that are ready were sent
 *	            +-------+                 +-----+
 *	     room ^  |  | all sent              |
 *	          |  |  v                       | cancel, fail
 *	          | +-------+ all acknowledged  v
 *	          | | sent  | -------------> +-------+
 *	          | +-------+                | ended |
 *	          |  | REFUSED               +-------+
 *	          |  v
 *	        +---------+
 *	        | refused |	its packets are given up; later it begins again
 *	        +---------+
 *
 * Loss: a packet is lost if an answer names one that was sent later by the reordering time, in its
 * band or a lower one (RACK, [2]). It waits for a pull. If a packet arrives that counted as lost,
 * its path is only slow: the reordering time doubles, up to 3/4 of the timeout. One doubling ends
 * with each 15 answers by which packets are lost, unless such a packet arrives meanwhile.
 *
 * Timer: if packets are in flight, it is for the packet that was sent first. All packets as old are
 * lost; the first is pushed, and its pull_target has the other packets pulled. A port sends a band
 * only while higher ones are empty, so each band above a packet's doubles its timeout. With no
 * packet in flight, a PROBE requests the flow's state, and the next time a lost packet is pushed.
 * The timeout doubles until there is progress. A flow fails when no answer arrived for timeout_ns,
 * or one packet timed out max_tries times and the receiver did not report that it has no room.
 *
 * A returned packet goes first. It is pushed at once only if no other event would continue the
 * flow, or if more than a quarter of the last 12 answers were ACKs, which indicates a bad path
 * ([1] section 3.2.4). Otherwise the receiver is overloaded, and the packet waits for a pull.
 *
 * No room: a receiver that has answered FULL may still accept the first missing packet of some
 * message. So those of all messages in progress take turns: if it is a new packet for one of them,
 * that one goes before the lost packets; then the one that was sent longest ago. If the ring has no
 * place for the new packet, the message that found no room gives up its own, which are new again.
 * Until a packet is acknowledged, pulls wait while one is in flight, which tests for room.
 *
 * Order: strict by priority, then by the least key: a message's length plus the bytes that the
 * flow had sent when it was submitted. With one message at a time, that is the order of remaining
 * bytes; no message waits for more bytes of shorter ones than it has itself. Messages of one
 * priority begin in the order of submission, so that a receiver can deliver them in order: if it
 * is the turn of a later message, the earlier ones send one packet each before.
 *
 * A false receiver has no advantage: ACKs of packets that were never sent are refused, credit is
 * limited to the initial window, and packets in flight to the ring.
 *
 * [1] M. Handley, C. Raiciu, A. Agache, A. Voinescu, A. W. Moore, G. Antichi, M. Wojcik,
 *     "Re-architecting datacenter networks and stacks for low latency and high performance",
 *     SIGCOMM 2017, sections 3.2 and 3.2.4.
 * [2] Y. Cheng, N. Cardwell, N. Dukkipati, P. Jha, "The RACK-TLP Loss Detection Algorithm for TCP",
 *     RFC 8985, section 6.2.
 *
 * Differences from the paper: the sender announces its demand, as in EQDS; if packets time out
 * together, only the first is pushed; PROBE, cumulative and selective ACKs, many messages per flow.
 */
#ifndef _NDP_SND_H
#define _NDP_SND_H

#include <linux/list.h>
#include <linux/rbtree.h>
#include "path.h"
#include "scoreboard.h"

#define NDP_SND_PAYLOAD_MIN	256	/* bytes, so that a message has less than 2^32 packets */
/* Missing bytes of a message of the highest level; each level below has so many times as many. */
#define NDP_SND_TOP_BYTES	8192U
#define NDP_SND_LEVEL_STEP	4U
/* Messages in progress: a receiver remembers the last 1024. */
#define NDP_SND_MSGS_MAX	1024U
/*
 * Pushes without effect until an answer arrives. In an incast through a short header queue, a
 * packet may be returned several times while the port returns other senders' packets.
 */
#define NDP_SND_STALLS_MAX	16
/* Answers by which a path is bad, not a receiver overloaded ([1] section 3.2.4; htsim: HIST_LEN) */
#define NDP_SND_ANSWERS		12

/**
 * struct ndp_snd_msg - a message
 * @len: bytes; 1..NDP_MSG_MAX
 * @ready: bytes that are present, for packets
 * @sent: bytes that were sent once: offset of the next packet
 * @done: all bytes before this one are acknowledged
 * @key: order among messages of its priority: the flow's bytes sent at submission, plus @len
 * @rb: in the flow's order
 * @node: in the flow's dry or refused messages, once it is not fresh
 * @fresh: in the flow's fresh messages
 * @news: in the flow's messages with news
 * @begun: in the flow's messages in progress, by id
 * @arrival: serial number, in the order of submission
 * @id: serial number, in the order of first packets
 * @pending: packets sent and not done
 * @acked: packets acknowledged
 * @payload: bytes of each packet but the last
 * @oldest: slot of its first packet that is not done
 * @newest: slot of its last packet
 * @prio: 0..7; 7 is first
 * @error: after the end: 0: all acknowledged; or ETIMEDOUT, ...
 * @ended: the flow has forgotten it
 * @is_refused: the receiver has no room for it
 *
 * The caller of ndp_snd_submit() sets @len, @ready, @payload and @prio.
 */
struct ndp_snd_msg {
	u64 len;
	u64 ready;
	u64 sent;
	u64 done;
	u64 key;
	struct rb_node rb;
	union {
		struct list_head node;
		struct rb_node fresh;
	};
	struct list_head news;
	struct list_head begun;
	u32 arrival;
	u32 id;
	u32 pending;
	u32 acked;
	u16 payload;
	u16 oldest;
	u16 newest;
	u8 prio;
	u8 error;
	bool ended;
	bool is_refused;
};

/**
 * struct ndp_snd_params - configuration
 * @renew_ns: an idle flow continues under a new id after this time; with a message in progress
 *	it shows that it is alive
 * @timeout_ns: the flow fails if no answer arrives for this long
 * @rto_ns: retransmission timeout
 * @rto_max_ns: limit of its doubling; below 2^31
 * @reorder_ns: by so much, packets of one band usually overtake each other; 0: unknown
 * @initial_window: packets that are sent without a pull; at most a ring
 * @max_tries: timeouts of one packet before the flow fails
 */
struct ndp_snd_params {
	u64 renew_ns;
	u64 timeout_ns;
	u32 rto_ns;
	u32 rto_max_ns;
	u32 reorder_ns;
	u16 initial_window;
	u8 max_tries;
};

/*
 * [1] section 3.2: timeout; section 6.2: window. A receiver forgets a flow after 10 s of silence:
 * the sender fails after 5 s, and renews a flow after 4 s.
 */
#define NDP_SND_DEFAULTS { .rto_ns = 1000000, .rto_max_ns = 500000000, \
			   .renew_ns = 4000000000ULL, .timeout_ns = 5000000000ULL, \
			   .initial_window = 30, .max_tries = 20 }

/*
 * Initial window of a link: its rate times 40 µs, a round trip in a datacenter without queues. On
 * slow links, where packets take most of the round trip, at least 6 packets. A shortest measured
 * round trip of more than 100 µs is that of a long path, since trimming switches have less than
 * 60 µs of packets (8 of 9000 bytes at 10 Gbit/s); it takes the place of the 40 µs.
 */
#define NDP_SND_RTT_NS		40000U
#define NDP_SND_RTT_LONG_NS	100000U
#define NDP_SND_WINDOW_MIN	6U
/*
 * A message of at most so many windows is sent at once. To pull its end would take another round
 * trip, which is most of its time; longer messages gain little, and leave the port to it.
 */
#define NDP_SND_WINDOWS_WHOLE	2U

/**
 * ndp_snd_auto_window() - initial window of a message on a link
 * @Mbps: rate of the link
 * @payload: bytes of a packet
 * @rtt_min_ns: shortest measured round trip; 0: unknown
 * @msg_packets: packets of the message
 *
 * Return: packets, NDP_SND_WINDOW_MIN..NDP_RING_MAX.
 */
static inline u32 ndp_snd_auto_window(u32 Mbps, u16 payload, u32 rtt_min_ns, u64 msg_packets)
{
	const u32 rtt_ns = rtt_min_ns > NDP_SND_RTT_LONG_NS ? rtt_min_ns : NDP_SND_RTT_NS;
	/* a link of 1 Mbit/s carries a byte in 8000 ns */
	const u32 unit = 8000U * payload;
	u64 packets = div_u64((u64)Mbps * rtt_ns + unit - 1, unit);

	packets = max_t(u64, packets, NDP_SND_WINDOW_MIN);
	if (msg_packets <= NDP_SND_WINDOWS_WHOLE * packets)
		packets = max_t(u64, packets, msg_packets);
	return (u32)min_t(u64, packets, NDP_RING_MAX);
}

/**
 * struct ndp_snd_stats - counters of senders
 * @new_packets: packets sent for the first time
 * @new_bytes: their payload
 * @spec_packets: those sent without a pull
 * @rtx_packets: retransmissions
 * @pushed_packets: retransmissions without a pull
 * @stalls: retransmissions of flows that would have stalled
 * @probes: PROBEs sent
 * @acked_packets: packets acknowledged
 * @nacked_packets: packets in flight reported trimmed
 * @full_packets: packets in flight for which the receiver had no room
 * @returned_packets: packets returned by a switch
 * @overtaken_packets: packets in flight that were lost since later ones were answered
 * @timeouts: packets that timed out
 * @cookies: COOKIEs received
 * @refused_msgs: messages for which the receiver had no room
 * @pulls: packets pulled
 * @pulls_unused: pulls that were not used
 * @answers_stale: answers about an earlier transmission
 * @answers_refused: answers that cannot be true
 * @pulls_refused: pulls beyond the demand
 * @msgs_done: messages acknowledged
 * @msgs_failed: messages that failed
 */
struct ndp_snd_stats {
	u64 new_packets;
	u64 new_bytes;
	u64 spec_packets;
	u64 rtx_packets;
	u64 pushed_packets;
	u64 stalls;
	u64 probes;
	u64 acked_packets;
	u64 nacked_packets;
	u64 full_packets;
	u64 returned_packets;
	u64 overtaken_packets;
	u64 timeouts;
	u64 cookies;
	u64 refused_msgs;
	u64 pulls;
	u64 pulls_unused;
	u64 answers_stale;
	u64 answers_refused;
	u64 pulls_refused;
	u64 msgs_done;
	u64 msgs_failed;
};

/**
 * struct ndp_snd_call - context of a call
 * @p: configuration
 * @stats: counters
 * @now: time, ns
 * @bands: ndp_snd_send(): bands by which messages are sent, 1..NDP_PRIOS
 * @paths: ndp_snd_control(): the peer's paths; NULL: outcomes are not recorded
 */
struct ndp_snd_call {
	const struct ndp_snd_params *p;
	struct ndp_snd_stats *stats;
	u64 now;
	u32 bands;
	struct ndp_paths *paths;
};

/**
 * struct ndp_snd_flow - a flow
 * @sb: scoreboard
 * @order: messages with a packet to send, first the next one
 * @fresh: messages of @order that have not begun, by priority and in the order of submission
 * @dry: messages whose ready bytes are all sent
 * @refused: messages for which the receiver has no room
 * @news: messages with news, for ndp_snd_reap()
 * @begun: messages in progress, by id
 * @retried: message that begins again, without an acknowledged packet; NULL if unset
 * @new_packets: packets that messages in @order make
 * @sent_bytes: payload of packets sent for the first time
 * @quiet_ns: last transmission or progress
 * @announced_ns: last growth of @announced
 * @silent_ns: if @unanswered: since when
 * @full_ns: last report that the receiver has no room; 0: never
 * @rto_ns: present timeout
 * @flow_id: random name of the flow
 * @token: the receiver's; 0: unknown
 * @arrivals: messages submitted
 * @probed_arrival: serial number of the last message that began again after a PROBE
 * @msg_next: id of the next message that begins
 * @msgs_begun: messages in @begun
 * @pull: pulls received, cumulative
 * @announced: pull_target, and NACKs reported since
 * @trimmed: NACKs of the receiver, cumulative, as reported
 * @window: initial window that the receiver permits; 0: it has no room
 * @credit: pulls not used
 * @spec: remainder of the initial window
 * @sport: port of our socket
 * @dport: port of the receiver's socket
 * @answers: last answers, the latest in bit 0; 1: ACK
 * @answers_count: number of them
 * @stalls: pushes without effect
 * @probe_no: number of the next PROBE
 * @error: reason of the failure; 0: unset
 * @in_order: messages are sent in the order of submission; otherwise the shortest first
 * @push: the first lost packet is sent without a pull
 * @probe: a PROBE is sent
 * @overdue: ndp_snd_expire() has more to do
 * @unheard: no packet that carried @announced was answered
 * @said_last: a transmission of the last packet had LAST
 * @probed: a PROBE was sent since the last progress
 * @known: the receiver knows the flow
 * @unanswered: a packet was sent, and no answer arrived since
 * @full: the receiver had no room for a packet, and no new packet was sent since
 * @refused_room: the receiver had no room for a packet, and none was acknowledged since
 * @reorder: doublings of reorder_ns
 * @persist: answers by which packets are lost until one of them ends
 */
struct ndp_snd_flow {
	struct ndp_scoreboard sb;
	struct rb_root_cached order;
	struct rb_root_cached fresh;
	struct list_head dry;
	struct list_head refused;
	struct list_head news;
	struct list_head begun;
	const struct ndp_snd_msg *retried;
	u64 new_packets;
	u64 sent_bytes;
	u64 quiet_ns;
	u64 announced_ns;
	u64 silent_ns;
	u64 full_ns;
	u32 rto_ns;
	u32 flow_id;
	u32 token;
	u32 arrivals;
	u32 probed_arrival;
	u32 msg_next;
	u32 msgs_begun;
	u32 pull;
	u32 announced;
	u16 trimmed;
	u16 window;
	u16 credit;
	u16 spec;
	u16 sport;
	u16 dport;
	u16 answers : NDP_SND_ANSWERS;
	u16 answers_count : 4;
	u8 stalls;
	u8 probe_no;
	u8 error;
	bool in_order : 1;
	bool push : 1;
	bool probe : 1;
	bool overdue : 1;
	bool unheard : 1;
	bool said_last : 1;
	bool probed : 1;
	bool known : 1;
	bool unanswered : 1;
	bool full : 1;
	bool refused_room : 1;
	u8 reorder : 3;
	u8 persist : 4;
};

/**
 * enum ndp_snd_action - action of a flow
 * @NDP_SND_WAIT: wait until a packet arrives or the timer expires
 * @NDP_SND_RTX: retransmit the first lost packet, by another path
 * @NDP_SND_NEW: send a new packet
 * @NDP_SND_PROBE: send a PROBE
 */
enum ndp_snd_action {
	NDP_SND_WAIT,
	NDP_SND_RTX,
	NDP_SND_NEW,
	NDP_SND_PROBE,
};

/**
 * struct ndp_snd_next - the DATA packet of a flow's next action
 * @rest: bytes of its message from this packet on
 * @len: payload
 * @prio: priority of the message, 0..7
 * @level: ndp_snd_level()
 */
struct ndp_snd_next {
	u64 rest;
	u16 len;
	u8 prio;
	u8 level;
};

/**
 * enum ndp_snd_verdict - effect of an answer
 * @NDP_SND_NEWS: it had news
 * @NDP_SND_STALE: it had no news
 * @NDP_SND_REFUSED: it cannot be true, and was ignored
 */
enum ndp_snd_verdict {
	NDP_SND_NEWS,
	NDP_SND_STALE,
	NDP_SND_REFUSED,
};

/**
 * enum ndp_snd_expiry - effect of ndp_snd_expire()
 * @NDP_SND_QUIET: finished
 * @NDP_SND_LOST: a packet timed out; call again
 * @NDP_SND_FAILED: the flow has failed
 */
enum ndp_snd_expiry {
	NDP_SND_QUIET,
	NDP_SND_LOST,
	NDP_SND_FAILED,
};

/* Pulls that were announced and not received */
static inline u32 ndp_snd_expected(const struct ndp_snd_flow *f)
{
	return f->announced - f->pull;
}

/* Has a flow anything to send or to wait for? */
static inline bool ndp_snd_is_busy(const struct ndp_snd_flow *f)
{
	return f->new_packets || !ndp_sb_is_empty(&f->sb) || !list_empty(&f->refused);
}

/* Has a flow neither messages in progress nor packets? Then its ring may be taken away. */
static inline bool ndp_snd_is_idle(const struct ndp_snd_flow *f)
{
	return !ndp_snd_is_busy(f) && list_empty(&f->begun);
}

/**
 * ndp_snd_count() - add to a counter that is read without a lock
 * @counter: counter
 * @n: summand
 */
static inline void ndp_snd_count(u64 *counter, u64 n)
{
	WRITE_ONCE(*counter, *counter + n);
}

/* ---- snd_rack.c: overtaken packets ---- */

void ndp_snd_judge(const struct ndp_snd_call *c, u8 path, enum ndp_outcome outcome);
void ndp_snd_slow(struct ndp_snd_flow *f, const struct ndp_snd_pkt *pkt);
void ndp_snd_vain(struct ndp_snd_flow *f, const struct ndp_hdr *h);
void ndp_snd_overtake(const struct ndp_snd_call *c, struct ndp_snd_flow *f, u64 sent_ns, u8 below);

/* ---- snd_msg.c: flows and messages ---- */

void ndp_snd_init(struct ndp_snd_flow *f, const struct ndp_snd_params *p,
		  bool in_order, u32 flow_id, u32 seq);
bool ndp_snd_is_old(const struct ndp_snd_call *c, const struct ndp_snd_flow *f);
void ndp_snd_renew(struct ndp_snd_flow *f, u32 flow_id);
bool ndp_snd_submit(const struct ndp_snd_call *c, struct ndp_snd_flow *f, struct ndp_snd_msg *m);
bool ndp_snd_more(const struct ndp_snd_call *c, struct ndp_snd_flow *f, struct ndp_snd_msg *m,
		  u64 ready);
bool ndp_snd_cancel(const struct ndp_snd_call *c, struct ndp_snd_flow *f, struct ndp_snd_msg *m,
		    u8 error);
void ndp_snd_fail(const struct ndp_snd_call *c, struct ndp_snd_flow *f, u8 error);
struct ndp_snd_msg *ndp_snd_reap(struct ndp_snd_flow *f);
void ndp_snd_stats_add(struct ndp_snd_stats *sum, const struct ndp_snd_stats *stats);

/* for snd_pkt.c and snd_loss.c */
struct ndp_snd_msg *ndp_snd_first(const struct ndp_snd_flow *f);
struct ndp_snd_pkt *ndp_snd_cut(struct ndp_snd_flow *f, struct ndp_snd_msg *m);
u16 ndp_snd_cut_len(const struct ndp_snd_msg *m);
void ndp_snd_pkt_done(const struct ndp_snd_call *c, struct ndp_snd_flow *f,
		      struct ndp_snd_pkt *pkt);
void ndp_snd_progress(const struct ndp_snd_call *c, struct ndp_snd_flow *f);
void ndp_snd_settle(const struct ndp_snd_call *c, struct ndp_snd_flow *f);
u32 ndp_snd_first_lost(const struct ndp_snd_flow *f);
struct ndp_snd_msg *ndp_snd_unsent(const struct ndp_snd_flow *f);
void ndp_snd_rewind(struct ndp_snd_flow *f, struct ndp_snd_msg *m);
void ndp_snd_refuse(const struct ndp_snd_call *c, struct ndp_snd_flow *f, struct ndp_snd_msg *m);
void ndp_snd_retry(const struct ndp_snd_call *c, struct ndp_snd_flow *f, bool probed);

/* ---- snd_pkt.c: packets, answers ---- */

enum ndp_snd_action ndp_snd_pick(const struct ndp_snd_flow *f, const struct ndp_snd_params *p);
u8 ndp_snd_avoid(const struct ndp_snd_flow *f);
struct ndp_snd_next ndp_snd_next(const struct ndp_snd_flow *f, enum ndp_snd_action action,
				 u32 bands);
u8 ndp_snd_level(const struct ndp_snd_msg *m, u32 bands);
const struct ndp_snd_pkt *ndp_snd_send(const struct ndp_snd_call *c, struct ndp_snd_flow *f,
				       enum ndp_snd_action action, u8 path, struct ndp_hdr *h);
void ndp_snd_postpone(struct ndp_snd_flow *f, struct ndp_snd_pkt *pkt, u64 now);
enum ndp_snd_verdict ndp_snd_control(const struct ndp_snd_call *c, struct ndp_snd_flow *f,
				     const struct ndp_hdr *h);
bool ndp_snd_carried(const struct ndp_snd_call *c, const struct ndp_snd_flow *f, u32 seq,
		     struct ndp_hdr *h);
enum ndp_snd_verdict ndp_snd_returned(const struct ndp_snd_call *c, struct ndp_snd_flow *f,
				      const struct ndp_hdr *h);
enum ndp_snd_verdict ndp_snd_cookie(const struct ndp_snd_call *c, struct ndp_snd_flow *f,
				    const struct ndp_hdr *h);
enum ndp_snd_verdict ndp_snd_error(const struct ndp_snd_call *c, struct ndp_snd_flow *f,
				   const struct ndp_hdr *h);

/* for snd_loss.c */
bool ndp_snd_is_stalled(const struct ndp_snd_flow *f);
bool ndp_snd_has_new(const struct ndp_snd_flow *f);

/* ---- snd_loss.c: timer ---- */

u64 ndp_snd_due_ns(const struct ndp_snd_flow *f, const struct ndp_snd_params *p);
enum ndp_snd_expiry ndp_snd_expire(const struct ndp_snd_call *c, struct ndp_snd_flow *f,
				   u32 random, u8 *path);

#endif /* _NDP_SND_H */
