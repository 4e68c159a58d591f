/* SPDX-License-Identifier: GPL-2.0-only */
/* UDP tunnels. Later kernels pass struct sock, and flags of the IP control block. */
#ifndef _CLOSNET_COMPAT_NET_UDP_TUNNEL_H
#define _CLOSNET_COMPAT_NET_UDP_TUNNEL_H

#include_next <net/udp_tunnel.h>

#ifdef CLOSNET_HAVE_UDP_TUNNEL_SOCK
#define closnet_udp_tunnel_setup(net, sk, cfg)	setup_udp_tunnel_sock(net, sk, cfg)
#define closnet_udp_tunnel_release(sk)		udp_tunnel_sock_release(sk)
#else
#define closnet_udp_tunnel_setup(net, sk, cfg)	setup_udp_tunnel_sock(net, (sk)->sk_socket, cfg)
#define closnet_udp_tunnel_release(sk)		udp_tunnel_sock_release((sk)->sk_socket)
#endif

#ifdef CLOSNET_HAVE_UDP_TUNNEL_IPCB
#define closnet_udp_tunnel_xmit(...)	udp_tunnel_xmit_skb(__VA_ARGS__, 0)
#define closnet_udp_tunnel6_xmit(...)	udp_tunnel6_xmit_skb(__VA_ARGS__, 0)
#else
#define closnet_udp_tunnel_xmit(...)	udp_tunnel_xmit_skb(__VA_ARGS__)
#define closnet_udp_tunnel6_xmit(...)	udp_tunnel6_xmit_skb(__VA_ARGS__)
#endif

#endif /* _CLOSNET_COMPAT_NET_UDP_TUNNEL_H */
