// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA transports of a generator without RDMA (make RDMA=no), which needs no
 * libraries of RDMA
 */
#include "pattern.h"

static _Noreturn void refuse_to_listen(struct listener *l)
{
	die("transport=%s: built without RDMA", l->pattern->transport->name);
}

const struct transport roce_transport = { .name = "roce", .listen = refuse_to_listen };
const struct transport iwarp_transport = { .name = "iwarp", .listen = refuse_to_listen };
