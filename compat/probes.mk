# SPDX-License-Identifier: GPL-2.0-only
# Probes the kernel headers for features. Version numbers are unreliable, as
# distributions and stable kernels backport features.

# closnet-probe NAME,HEADER,WORD: defines CLOSNET_HAVE_NAME if include/HEADER has WORD
closnet-probe = $(if $(shell grep -sqw '$(3)' $(srctree)/include/$(2) && echo y),-DCLOSNET_HAVE_$(1))

ccflags-y += $(call closnet-probe,QDISC_DROP_REASON,net/sch_generic.h,qdisc_drop_reason)
ccflags-y += $(call closnet-probe,ENUM_QDISC_DROP_REASON,net/dropreason-qdisc.h,QDISC_DROP_OVERLIMIT)
ccflags-y += $(call closnet-probe,QDISC_QLEN_INC,net/sch_generic.h,qdisc_qlen_inc)
ccflags-y += $(call closnet-probe,QDISC_PKT_SEGS,net/sch_generic.h,qdisc_pkt_segs)
ccflags-y += $(call closnet-probe,CONST_RANGE,net/netlink.h,const struct netlink_range_validation)
ccflags-y += $(call closnet-probe,NET_GSO_H,net/gso.h,skb_gso_segment)
ccflags-y += $(call closnet-probe,NETDEV_LOCK_H,net/netdev_lock.h,netdev_lockdep_set_classes)
ccflags-y += $(call closnet-probe,NLA_GET_DEFAULT,net/netlink.h,nla_get_u32_default)
ccflags-y += $(call closnet-probe,HRTIMER_SETUP,linux/hrtimer.h,hrtimer_setup)
ccflags-y += $(call closnet-probe,RTNL_NEWLINK_PARAMS,net/rtnetlink.h,struct rtnl_newlink_params)
ccflags-y += $(call closnet-probe,KERNEL_HWTSTAMP_CONFIG,linux/net_tstamp.h,struct kernel_hwtstamp_config)
ccflags-y += $(call closnet-probe,KERNEL_ETHTOOL_TS_INFO,linux/ethtool.h,struct kernel_ethtool_ts_info)
ccflags-y += $(call closnet-probe,KTIME_GET_SNAPSHOT_ID,linux/timekeeping.h,ktime_get_snapshot_id)
ccflags-y += $(call closnet-probe,CONG_CONTROL_ACK,net/tcp.h,cong_control.*u32 ack)
ccflags-y += $(call closnet-probe,CWND_EVENT_TX_START,net/tcp.h,cwnd_event_tx_start)
ccflags-y += $(call closnet-probe,TCP_SEND_ACK_FLAGS,net/tcp.h,__tcp_send_ack.*u16 flags)
ccflags-y += $(call closnet-probe,TCP_ACCECN,net/tcp.h,tcp_ecn_mode_accecn)
ccflags-y += $(call closnet-probe,TCP_USEC_TS,linux/tcp.h,tcp_usec_ts)
ccflags-y += $(call closnet-probe,TCP_PROBE_CONST,trace/events/tcp.h,TP_PROTO.struct sock .sk. const struct sk_buff .skb)
ccflags-y += $(call closnet-probe,NETIF_GET_LINK_KSETTINGS,linux/ethtool.h,netif_get_link_ksettings)
ccflags-y += $(call closnet-probe,SOCKADDR_UNSIZED,linux/socket.h,struct sockaddr_unsized)
ccflags-y += $(call closnet-probe,IPV6_PINFO_OFFSET,net/sock.h,ipv6_pinfo_offset)
ccflags-y += $(call closnet-probe,REGISTER_NET_SYSCTL_SZ,net/net_namespace.h,register_net_sysctl_sz)
ccflags-y += $(call closnet-probe,CONST_CTL_TABLE,linux/sysctl.h,proc_handler.const struct ctl_table .ctl)
ccflags-y += $(call closnet-probe,VM_FLAGS_SET,linux/mm.h,vm_flags_set)
ccflags-y += $(call closnet-probe,ENCAP_ERR_INFO,linux/udp.h,encap_err_rcv.*int err)
ccflags-y += $(call closnet-probe,ALLOC_NETDEV_DUMMY,linux/netdevice.h,alloc_netdev_dummy)
