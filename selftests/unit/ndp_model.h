/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reference model of the NDP switch port
 *
 * For the unit test of sch/ndp/ndpq_queue.c, written from the paper without using
 * its code, types or constants. The model has lists of packets, and adds them up
 * instead of keeping counters.
 *
 * The test uses these types for the model and for the port under test.
 */
#ifndef _CLOSNET_UNIT_NDP_MODEL_H
#define _CLOSNET_UNIT_NDP_MODEL_H

#include <closnet/core.h>

enum pkt_sort {
	SORT_FULL,	/* a data packet */
	SORT_SHORT,	/* a control packet */
	SORT_CUT,	/* a trimmed packet */
	SORT_BOUNCED,	/* a trimmed packet on its way back */
	SORT_FOREIGN,	/* other traffic */
	SORTS,
};

struct pkt {
	u32 id;
	u32 len;
	enum pkt_sort sort;
	u8 dscp;
};

enum port_mode {
	PORT_NDP,
	PORT_CP,
	PORT_DROPTAIL,
	PORT_MODES,
};

/**
 * struct port_conf - configuration
 * @mode: kind of switch
 * @data_packets: data queue, packets
 * @data_bytes: data queue, bytes; 0: unlimited
 * @header_bytes: header queue, bytes
 * @bands: priorities of data in mode PORT_NDP; else 1
 * @headers_per_data: headers per data packet while both wait
 * @keep: bytes that a cut packet keeps
 * @bounce: a cut packet without room returns to its sender
 * @foreign_bytes: queue of foreign packets, bytes
 * @mark_from: bytes in that queue at which arrivals are marked; 0: never
 */
struct port_conf {
	enum port_mode mode;
	u32 data_packets;
	u32 data_bytes;
	u32 header_bytes;
	u32 bands;
	u32 headers_per_data;
	u32 keep;
	bool bounce;
	u32 foreign_bytes;
	u32 mark_from;
};

enum fate {
	FATE_NONE,	/* there is no such packet */
	FATE_DATA,	/* waits as data */
	FATE_HEADER,	/* waits as header */
	FATE_FOREIGN,	/* waits as foreign packet */
	FATE_BOUNCED,	/* returned to its sender */
	FATE_LOST,	/* dropped */
	FATES,
};

/**
 * struct outcome - result of an arrival
 * @arrival: fate of the arriving packet
 * @tail: fate of the packet that gave up its place at the tail
 * @tail_id: id of that packet
 * @marked: the arriving packet was marked CE
 */
struct outcome {
	enum fate arrival;
	enum fate tail;
	u32 tail_id;
	bool marked;
};

enum tally_queue {
	TALLY_DATA,
	TALLY_HEADER,
	TALLY_FOREIGN,
	TALLY_QUEUES,
};

/**
 * struct tally - counters of a port
 * @queue: current, peak and sent, indexed by enum tally_queue
 *
 * All members have the same type, so that two tallies can be compared as bytes.
 */
struct tally {
	struct {
		u64 packets;
		u64 bytes;
		u64 peak_packets;
		u64 peak_bytes;
		u64 sent_packets;
		u64 sent_bytes;
	} queue[TALLY_QUEUES];
	u64 cut_arrivals;
	u64 cut_tails;
	u64 cut_bytes;
	u64 bounced;
	u64 marked;
	u64 lost_data;
	u64 lost_headers;
	u64 lost_bounced;
	u64 lost_foreign;
};

struct ndp_model;

struct ndp_model *model_new(void);
void model_free(struct ndp_model *m);

/**
 * model_configure() - change the configuration, packets may wait
 * @m: model
 * @conf: new configuration; the mode changes only while no packet waits
 */
void model_configure(struct ndp_model *m, const struct port_conf *conf);

/**
 * model_arrive() - let a packet arrive
 * @m: model
 * @p: the packet
 * @coin: the coin, if one is needed; true: the tail is cut
 */
struct outcome model_arrive(struct ndp_model *m, struct pkt p, bool coin);

/**
 * model_depart() - send a packet
 * @m: model
 * @p: result: the packet that leaves
 *
 * Return: false if no packet waits.
 */
bool model_depart(struct ndp_model *m, struct pkt *p);

/**
 * model_tally() - get the counters
 * @m: model
 * @t: result
 */
void model_tally(const struct ndp_model *m, struct tally *t);

#endif /* _CLOSNET_UNIT_NDP_MODEL_H */
