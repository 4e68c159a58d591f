/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CLOSNET_COMPAT_LINUX_UDP_H
#define _CLOSNET_COMPAT_LINUX_UDP_H

#include_next <linux/udp.h>

/* Arguments of encap_err_rcv() besides socket and packet. The packet contains them all. */
#ifdef CLOSNET_HAVE_ENCAP_ERR_INFO
#define CLOSNET_ENCAP_ERR_ARGS int err, __be16 port, u32 info, u8 *payload
#else
#define CLOSNET_ENCAP_ERR_ARGS unsigned int udp_offset
#endif

#endif /* _CLOSNET_COMPAT_LINUX_UDP_H */
