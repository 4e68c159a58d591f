/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The NDP transport: ACKs that DATA of the other direction carries
 */
#ifndef _NDP_RX_RIDE_H
#define _NDP_RX_RIDE_H

#include "ndp.h"

bool ndp_ride_offer(struct ndp_rx *rx, const struct ndp_packet *p, enum ndp_rcv_verdict v,
		    u64 now);
void ndp_ride_end(struct ndp_rx *rx, bool late);
void ndp_ride_take(struct ndp_tx *tx, struct ndp_hdr *h, u64 now);
void ndp_ride_lost(struct ndp_tx *tx, struct ndp_tx_work *w, const struct ndp_hdr *h);
void ndp_ride_repeat(const struct ndp_tx *tx, u64 ride);
u64 ndp_ride_heard(const struct ndp_data *d, u64 now);

#endif /* _NDP_RX_RIDE_H */
