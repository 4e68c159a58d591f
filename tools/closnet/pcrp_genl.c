// SPDX-License-Identifier: GPL-2.0-only
/*
 * Generic netlink with PCRP's statistics unit in the kernel, closnet_pcrp
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>

#include "pcrp_genl.h"

/* A reply has less than 1 KB. */
#define ANSWER_MAX	8192

static int fail(struct pcrp_genl *g, int error, const char *what)
{
	snprintf(g->error, sizeof(g->error), "%s: %s", what, strerror(error));
	return -error;
}

/* ---- replies ---- */

static int take_message(const struct nlattr *attr, void *data)
{
	struct pcrp_genl *g = data;

	if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG &&
	    !mnl_attr_validate(attr, MNL_TYPE_NUL_STRING))
		snprintf(g->error, sizeof(g->error), "%s",
			 mnl_attr_get_str(attr));
	return MNL_CB_OK;
}

/* Handle the acknowledgment, which does not repeat the request: NETLINK_CAP_ACK. */
static int take_ack(const struct nlmsghdr *nlh, void *data)
{
	const struct nlmsgerr *ack = mnl_nlmsg_get_payload(nlh);
	struct pcrp_genl *g = data;

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*ack)) {
		errno = EBADMSG;
		return MNL_CB_ERROR;
	}
	if (!ack->error)
		return MNL_CB_STOP;
	if (nlh->nlmsg_flags & NLM_F_ACK_TLVS)
		mnl_attr_parse(nlh, sizeof(*ack), take_message, g);
	errno = -ack->error;
	return MNL_CB_ERROR;
}

static int take_family(const struct nlattr *attr, void *data)
{
	struct pcrp_genl *g = data;

	if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID &&
	    !mnl_attr_validate(attr, MNL_TYPE_U16))
		g->family = mnl_attr_get_u16(attr);
	return MNL_CB_OK;
}

/* Modules of other versions may send fewer or more attributes. */
static void copy(void *to, size_t size, const struct nlattr *attr)
{
	size_t len = mnl_attr_get_payload_len(attr);

	memcpy(to, mnl_attr_get_payload(attr), len < size ? len : size);
}

/* Parse the flows of a size class. */
struct size {
	uint32_t class;
	uint64_t flows;
};

static int take_size(const struct nlattr *attr, void *data)
{
	struct size *size = data;

	if (mnl_attr_get_type(attr) == PCRP_A_SIZE_CLASS)
		copy(&size->class, sizeof(size->class), attr);
	else if (mnl_attr_get_type(attr) == PCRP_A_SIZE_FLOWS)
		copy(&size->flows, sizeof(size->flows), attr);
	return MNL_CB_OK;
}

static int take_threshold(const struct nlattr *attr, void *data)
{
	struct pcrp_numbers *n = data;
	uint16_t type = mnl_attr_get_type(attr);

	if (type >= PCRP_A_THRESHOLD_P0 && type <= PCRP_A_THRESHOLD_P2)
		copy(&n->thresholds[type - PCRP_A_THRESHOLD_P0],
		     sizeof(n->thresholds[0]), attr);
	return MNL_CB_OK;
}

static int take_number(const struct nlattr *attr, void *data)
{
	struct pcrp_numbers *n = ((struct pcrp_genl *)data)->numbers;
	struct size size = { .class = PCRP_SIZE_CLASSES };

	switch (mnl_attr_get_type(attr)) {
	case PCRP_A_SIZE:
		mnl_attr_parse_nested(attr, take_size, &size);
		if (size.class < PCRP_SIZE_CLASSES)
			n->sizes[size.class] = size.flows;
		break;
	case PCRP_A_BYTES:
		copy(&n->bytes, sizeof(n->bytes), attr);
		break;
	case PCRP_A_THRESHOLDS:
		mnl_attr_parse_nested(attr, take_threshold, n);
		n->set = true;
		break;
	case PCRP_A_UPDATES:
		copy(&n->updates, sizeof(n->updates), attr);
		break;
	}
	return MNL_CB_OK;
}

static int take_answer(const struct nlmsghdr *nlh, void *data)
{
	return mnl_attr_parse(nlh, sizeof(struct genlmsghdr),
			      nlh->nlmsg_type == GENL_ID_CTRL ? take_family :
								take_number, data);
}

/* ---- requests ---- */

static struct nlmsghdr *start(void *buf, uint16_t family, uint8_t version,
			      uint8_t command)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *genl;

	nlh->nlmsg_type = family;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	genl->cmd = command;
	genl->version = version;
	return nlh;
}

/* Send a request; process its reply, if any, and the acknowledgment. */
static int talk(struct pcrp_genl *g, const struct nlmsghdr *nlh)
{
	static mnl_cb_t control[NLMSG_MIN_TYPE] = {
		[NLMSG_ERROR] = take_ack,
	};
	char buf[ANSWER_MAX];
	ssize_t len;
	int more;

	if (mnl_socket_sendto(g->nl, nlh, nlh->nlmsg_len) < 0)
		return fail(g, errno, "netlink");
	g->error[0] = '\0';
	do {
		len = mnl_socket_recvfrom(g->nl, buf, sizeof(buf));
		if (len < 0)
			return fail(g, errno, "netlink");
		more = mnl_cb_run2(buf, len, 0, 0, take_answer, g, control,
				   NLMSG_MIN_TYPE);
	} while (more > MNL_CB_STOP);
	if (more == MNL_CB_STOP)
		return 0;
	if (g->error[0])
		return -errno;
	return fail(g, errno, PCRP_GENL_NAME);
}

static struct nlmsghdr *start_pcrp(struct pcrp_genl *g, void *buf,
				   enum pcrp_cmd command)
{
	return start(buf, g->family, PCRP_GENL_VERSION, command);
}

static int find_family(struct pcrp_genl *g)
{
	char buf[256];
	struct nlmsghdr *nlh = start(buf, GENL_ID_CTRL, 1, CTRL_CMD_GETFAMILY);

	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, PCRP_GENL_NAME);
	return talk(g, nlh);
}

int pcrp_genl_open(struct pcrp_genl *g)
{
	int on = 1, error;

	*g = (struct pcrp_genl) { .nl = mnl_socket_open(NETLINK_GENERIC) };
	if (!g->nl)
		return fail(g, errno, "netlink");
	if (mnl_socket_bind(g->nl, 0, MNL_SOCKET_AUTOPID) < 0 ||
	    mnl_socket_setsockopt(g->nl, NETLINK_EXT_ACK, &on, sizeof(on)) ||
	    mnl_socket_setsockopt(g->nl, NETLINK_CAP_ACK, &on, sizeof(on)))
		error = fail(g, errno, "netlink");
	else
		error = find_family(g);
	if (error == -ENOENT)
		snprintf(g->error, sizeof(g->error),
			 "no netlink family " PCRP_GENL_NAME ": load the module sch_pcrp");
	if (error)
		pcrp_genl_close(g);
	return error;
}

void pcrp_genl_close(struct pcrp_genl *g)
{
	mnl_socket_close(g->nl);
}

int pcrp_genl_get(struct pcrp_genl *g, struct pcrp_numbers *numbers)
{
	char buf[64];

	*numbers = (struct pcrp_numbers) {};
	g->numbers = numbers;
	return talk(g, start_pcrp(g, buf, PCRP_CMD_GET));
}

int pcrp_genl_set(struct pcrp_genl *g,
		  const uint64_t thresholds[PCRP_THRESHOLDS])
{
	char buf[128];
	struct nlmsghdr *nlh = start_pcrp(g, buf, PCRP_CMD_SET);
	struct nlattr *nest;
	int i;

	nest = mnl_attr_nest_start(nlh, PCRP_A_THRESHOLDS);
	for (i = 0; i < PCRP_THRESHOLDS; i++)
		mnl_attr_put_u64(nlh, PCRP_A_THRESHOLD_P0 + i, thresholds[i]);
	mnl_attr_nest_end(nlh, nest);
	return talk(g, nlh);
}

int pcrp_genl_reset(struct pcrp_genl *g)
{
	char buf[64];

	return talk(g, start_pcrp(g, buf, PCRP_CMD_RESET));
}
