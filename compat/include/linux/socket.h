/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CLOSNET_COMPAT_LINUX_SOCKET_H
#define _CLOSNET_COMPAT_LINUX_SOCKET_H

#include_next <linux/socket.h>

/* Since 6.19, bind() and connect() receive addresses as struct sockaddr_unsized. */
#ifndef CLOSNET_HAVE_SOCKADDR_UNSIZED
#define sockaddr_unsized sockaddr
#endif

#endif /* _CLOSNET_COMPAT_LINUX_SOCKET_H */
