/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRAFFIC_UDP_H
#define _TRAFFIC_UDP_H

#include "pattern.h"

/* bytes of data: room for the flow's header; the limit of IPv4 */
#define UDP_SIZE_MIN 16
#define UDP_SIZE_MAX (65535 - 20 - 8)

#endif /* _TRAFFIC_UDP_H */
