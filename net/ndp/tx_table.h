/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The NDP transport: tables of sending flows
 */
#ifndef _NDP_TX_TABLE_H
#define _NDP_TX_TABLE_H

#include "ndp.h"

extern const struct rhashtable_params ndp_tx_params;
extern const struct rhashtable_params ndp_tx_to_params;

static inline struct ndp_net *ndp_tx_net(const struct ndp_tx *tx)
{
	return ndp_net(sock_net(tx->sk));
}

/**
 * ndp_tx_lookup() - find the flow to a socket
 * @to: key
 *
 * Most programs send to the same socket several times. Under RCU.
 *
 * Return: flow, not counted, or NULL.
 */
static inline struct ndp_tx *ndp_tx_lookup(const struct ndp_tx_to *to)
{
	struct ndp_tx *recent = rcu_dereference(ndp_sk(to->sk)->recent);

	if (recent && !memcmp(&recent->to, to, sizeof(*to)))
		return recent;
	return rhashtable_lookup(&ndp_net(sock_net(to->sk))->tx_by_to, to, ndp_tx_to_params);
}

#endif /* _NDP_TX_TABLE_H */
