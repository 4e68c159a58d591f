/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RoCEv2 packets as skbs: see roce_cnp.c
 */
#ifndef _CLOSNET_ROCE_CNP_H
#define _CLOSNET_ROCE_CNP_H

#include <linux/skbuff.h>
#include "roce_pkt.h"

enum roce_kind roce_skb_parse(const struct sk_buff *skb, u32 l2_len, struct roce_pkt *pkt);
int roce_skb_set_ecn(struct sk_buff *skb, const struct roce_pkt *pkt, u8 ecn);
bool roce_skb_cnp_valid(const struct sk_buff *skb, const struct roce_pkt *pkt);
struct sk_buff *roce_skb_cnp(const struct sk_buff *data, const struct roce_cnp *cnp, u8 prio);

#endif /* _CLOSNET_ROCE_CNP_H */
