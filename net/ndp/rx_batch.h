/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The NDP transport: packets that arrive as one
 */
#ifndef _NDP_RX_BATCH_H
#define _NDP_RX_BATCH_H

#include <linux/skbuff.h>

bool ndp_rx_batch_is(const struct sk_buff *skb, u32 off);
void ndp_rx_batch_keep(struct sk_buff *skb, u32 off);

#endif /* _NDP_RX_BATCH_H */
