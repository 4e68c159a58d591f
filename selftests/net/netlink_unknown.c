// SPDX-License-Identifier: GPL-2.0-only
/*
 * netlink_unknown.so: an LD_PRELOAD library that simulates a later kernel for programs that read
 * generic netlink
 *
 * It inserts an unknown attribute at the start of each message and each nest that recvmsg()
 * returns. At exit it prints their number to stderr.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define UNKNOWN 0x3fff
#define PIECE (1 << 18)

static unsigned int count;

__attribute__((destructor)) static void print_count(void)
{
	fprintf(stderr, "unknown attributes: %u\n", count);
}

static char *put_unknown(char *to)
{
	struct nlattr attr = { .nla_len = NLA_HDRLEN + 4, .nla_type = UNKNOWN };

	memcpy(to, &attr, sizeof(attr));
	memset(to + NLA_HDRLEN, 0xff, 4);
	count++;
	return to + NLA_HDRLEN + 4;
}

/* Copy attributes with an unknown one in front, also in nests. Return: the end of the copy */
static char *copy_attrs(char *to, const char *from, size_t len)
{
	const struct nlattr *attr;
	struct nlattr *copy;
	size_t size;

	to = put_unknown(to);
	while (len >= NLA_HDRLEN) {
		attr = (const struct nlattr *)from;
		copy = (struct nlattr *)to;
		if (attr->nla_len < NLA_HDRLEN || attr->nla_len > len)
			break;
		size = NLA_ALIGN(attr->nla_len);
		if (attr->nla_type & NLA_F_NESTED) {
			*copy = *attr;
			to = copy_attrs(to + NLA_HDRLEN, from + NLA_HDRLEN,
					attr->nla_len - NLA_HDRLEN);
			copy->nla_len = (uint16_t)(to - (char *)copy);
		} else {
			memcpy(to, from, size < len ? size : len);
			to += size;
		}
		from += size;
		len -= size < len ? size : len;
	}
	return to;
}

/* Change the messages in @b, which has @room bytes. Return: their new length */
static size_t change(char *b, size_t len, size_t room)
{
	static char out[PIECE];
	const size_t head = NLMSG_HDRLEN + GENL_HDRLEN;
	struct nlmsghdr *nlh, *copy;
	char *to = out;

	for (nlh = (struct nlmsghdr *)b; NLMSG_OK(nlh, len); nlh = NLMSG_NEXT(nlh, len)) {
		copy = (struct nlmsghdr *)to;
		/* neither control messages nor replies of nlctrl */
		if (nlh->nlmsg_type > GENL_ID_CTRL && nlh->nlmsg_len >= head) {
			memcpy(to, nlh, head);
			to = copy_attrs(to + head, (char *)nlh + head, nlh->nlmsg_len - head);
			copy->nlmsg_len = (uint32_t)(to - (char *)copy);
		} else {
			memcpy(to, nlh, NLMSG_ALIGN(nlh->nlmsg_len));
			to += NLMSG_ALIGN(nlh->nlmsg_len);
		}
	}
	if ((size_t)(to - out) > room)
		abort();
	memcpy(b, out, (size_t)(to - out));
	return (size_t)(to - out);
}

ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
	__typeof__(recvmsg) *real = (__typeof__(recvmsg) *)dlsym(RTLD_NEXT, "recvmsg");
	ssize_t n = real(fd, msg, flags);

	if (n <= 0 || msg->msg_iovlen != 1)
		return n;
	return (ssize_t)change(msg->msg_iov->iov_base, (size_t)n, msg->msg_iov->iov_len);
}
