// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the ports of act_lb from the kernel: a dump of all its actions, RTM_GETACTION
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include <libmnl/libmnl.h>
#include <linux/pkt_cls.h>
#include <linux/rtnetlink.h>
#include <linux/tc_act/tc_lb.h>

#include "lb_netlink.h"

/* The kernel's messages of a dump have at most 32 KB. */
#define ANSWER_MAX	32768

/* ---- replies ---- */

/* Modules of other versions may send fewer or more bits. */
static uint64_t number(const struct nlattr *attr)
{
	size_t len = mnl_attr_get_payload_len(attr);
	uint64_t value = 0;
	uint32_t half = 0;

	if (len >= sizeof(value)) {
		memcpy(&value, mnl_attr_get_payload(attr), sizeof(value));
		return value;
	}
	if (len >= sizeof(half))
		memcpy(&half, mnl_attr_get_payload(attr), sizeof(half));
	return half;
}

static int take_number(const struct nlattr *attr, void *data)
{
	struct lb_port *port = data;

	switch (mnl_attr_get_type(attr)) {
	case TCA_LB_STATS_PORT_IFINDEX:
		port->ifindex = number(attr);
		break;
	case TCA_LB_STATS_PORT_PACKETS:
		port->packets = number(attr);
		break;
	case TCA_LB_STATS_PORT_BYTES:
		port->bytes = number(attr);
		break;
	case TCA_LB_STATS_PORT_QUALITY:
		port->quality = number(attr);
		break;
	case TCA_LB_STATS_PORT_UTILIZATION:
		port->utilization = number(attr);
		break;
	case TCA_LB_STATS_PORT_DRAIN:
		port->drain_ns = number(attr);
		break;
	case TCA_LB_STATS_PORT_RATE:
		port->rate_Bps = number(attr);
		break;
	}
	return MNL_CB_OK;
}

/* Add an action's numbers of a port to those of earlier actions. */
static void add_port(struct lb_ports *ports, const struct lb_port *port)
{
	struct lb_port *p;

	for (p = ports->list; p < ports->list + ports->count; p++) {
		if (p->ifindex != port->ifindex)
			continue;
		p->packets += port->packets;
		p->bytes += port->bytes;
		if (port->quality < p->quality)
			p->quality = port->quality;
		return;
	}
	if (ports->count < LB_PORTS_MAX)
		ports->list[ports->count++] = *port;
}

static int take_stats(const struct nlattr *attr, void *data)
{
	struct lb_port port = { };

	if (mnl_attr_get_type(attr) != TCA_LB_STATS_PORT)
		return MNL_CB_OK;
	mnl_attr_parse_nested(attr, take_number, &port);
	add_port(data, &port);
	return MNL_CB_OK;
}

static int take_option(const struct nlattr *attr, void *data)
{
	if (mnl_attr_get_type(attr) == TCA_LB_STATS)
		mnl_attr_parse_nested(attr, take_stats, data);
	return MNL_CB_OK;
}

static int take_part(const struct nlattr *attr, void *data)
{
	if (mnl_attr_get_type(attr) == TCA_ACT_OPTIONS)
		mnl_attr_parse_nested(attr, take_option, data);
	return MNL_CB_OK;
}

static int take_action(const struct nlattr *attr, void *data)
{
	struct lb_ports *ports = data;

	ports->actions++;
	mnl_attr_parse_nested(attr, take_part, ports);
	return MNL_CB_OK;
}

static int take_table(const struct nlattr *attr, void *data)
{
	if (mnl_attr_get_type(attr) == TCA_ACT_TAB)
		mnl_attr_parse_nested(attr, take_action, data);
	return MNL_CB_OK;
}

static int take_message(const struct nlmsghdr *nlh, void *data)
{
	mnl_attr_parse(nlh, sizeof(struct tcamsg), take_table, data);
	return MNL_CB_OK;
}

/* ---- request ---- */

static int send_request(struct mnl_socket *nl, unsigned int seq)
{
	const struct nla_bitfield32 flags = {
		.value = TCA_ACT_FLAG_LARGE_DUMP_ON, .selector = TCA_ACT_FLAG_LARGE_DUMP_ON,
	};
	char buf[256];
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct nlattr *table, *action;

	nlh->nlmsg_type = RTM_GETACTION;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	nlh->nlmsg_seq = seq;
	mnl_nlmsg_put_extra_header(nlh, sizeof(struct tcamsg));
	table = mnl_attr_nest_start(nlh, TCA_ACT_TAB);
	action = mnl_attr_nest_start(nlh, 1);
	mnl_attr_put_strz(nlh, TCA_ACT_KIND, "lb");
	mnl_attr_nest_end(nlh, action);
	mnl_attr_nest_end(nlh, table);
	mnl_attr_put(nlh, TCA_ROOT_FLAGS, sizeof(flags), &flags);
	return mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0 ? -errno : 0;
}

static int read_reply(struct mnl_socket *nl, unsigned int seq, struct lb_ports *ports)
{
	unsigned int own = mnl_socket_get_portid(nl);
	char buf[ANSWER_MAX];
	ssize_t len;
	int more;

	do {
		len = mnl_socket_recvfrom(nl, buf, sizeof(buf));
		if (len < 0)
			return -errno;
		more = mnl_cb_run(buf, len, seq, own, take_message, ports);
	} while (more > MNL_CB_STOP);
	return more == MNL_CB_STOP ? 0 : -errno;
}

int lb_read_ports(struct lb_ports *ports)
{
	struct mnl_socket *nl = mnl_socket_open(NETLINK_ROUTE);
	unsigned int seq = time(NULL);
	int err;

	*ports = (struct lb_ports) { };
	if (!nl)
		return -errno;
	err = mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) < 0 ? -errno : send_request(nl, seq);
	if (!err)
		err = read_reply(nl, seq, ports);
	mnl_socket_close(nl);
	return err;
}
