// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dumps of generic netlink families as text and JSON
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <string.h>

#include <arpa/inet.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>

#include "closnet.h"
#include "dump.h"

/* Size of the receive buffer, bytes; the kernel sends up to 32 KiB of a dump at once */
#define PIECE	65536

/* Print an error message. The value is CANNOT. */
#define fail(d, format, ...) \
	(fprintf(stderr, "closnet %s: " format "\n", (d)->command, ##__VA_ARGS__), CANNOT)

/* ---- output ---- */

void dump_name(struct dump *d, const char *name)
{
	if (d->json)
		printf("%s\"%s\": ", d->fields++ ? ", " : "", name);
	else
		printf("%s%s ", d->fields++ ? " " : "", name);
}

void dump_number(struct dump *d, const char *name, uint64_t value, bool shown)
{
	if (!value && !shown && !d->json)
		return;
	dump_name(d, name);
	printf("%" PRIu64, value);
}

void dump_address(struct dump *d, const char *name, const struct nlattr *attr)
{
	const struct in6_addr *a = mnl_attr_get_payload(attr);
	char text[INET6_ADDRSTRLEN];

	if (mnl_attr_get_payload_len(attr) != sizeof(*a))
		return;
	dump_name(d, name);
	if (IN6_IS_ADDR_V4MAPPED(a))
		inet_ntop(AF_INET, &a->s6_addr[12], text, sizeof(text));
	else
		inet_ntop(AF_INET6, a, text, sizeof(text));
	printf(d->json ? "\"%s\"" : "%s", text);
}

void dump_attr(struct dump *d, const struct dump_field *field, const struct nlattr *attr)
{
	if (!field->name || mnl_attr_get_payload_len(attr) != field->size)
		return;
	/* u32 or u64 in host byte order */
	dump_number(d, field->name, field->size == 4 ? mnl_attr_get_u32(attr) :
						       mnl_attr_get_u64(attr), field->shown);
}

/* Print an entry. */
static int take_object(const struct nlmsghdr *nlh, void *data)
{
	struct dump *d = data;

	d->fields = 0;
	if (d->json)
		printf("%s    { ", d->objects ? ",\n" : "");
	else
		printf("  ");
	d->objects++;
	d->print_object(d, nlh);
	printf(d->json ? " }" : "\n");
	return MNL_CB_OK;
}

/* ---- requests ---- */

static int take_family(const struct nlattr *attr, void *data)
{
	if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID &&
	    !mnl_attr_validate(attr, MNL_TYPE_U16))
		((struct dump *)data)->family = mnl_attr_get_u16(attr);
	return MNL_CB_OK;
}

static int take_families(const struct nlmsghdr *nlh, void *data)
{
	return mnl_attr_parse(nlh, sizeof(struct genlmsghdr), take_family, data);
}

static struct nlmsghdr *start(void *buf, uint16_t type, uint8_t version, uint8_t command,
			      uint16_t flags)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *genl;

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	genl->cmd = command;
	genl->version = version;
	return nlh;
}

/* Send a request and process all replies. Return: 0 or an errno */
static int talk(struct dump *d, const struct nlmsghdr *nlh,
		int (*take)(const struct nlmsghdr *nlh, void *data))
{
	static char buf[PIECE];
	ssize_t len;
	int more;

	if (mnl_socket_sendto(d->nl, nlh, nlh->nlmsg_len) < 0)
		return errno;
	do {
		len = mnl_socket_recvfrom(d->nl, buf, sizeof(buf));
		if (len < 0)
			return errno;
		more = mnl_cb_run(buf, (size_t)len, 0, 0, take, d);
	} while (more > MNL_CB_STOP);
	return more == MNL_CB_STOP ? 0 : errno;
}

static int find_family(struct dump *d)
{
	char buf[256];
	struct nlmsghdr *nlh = start(buf, GENL_ID_CTRL, 1, CTRL_CMD_GETFAMILY, NLM_F_ACK);
	int error;

	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, d->name);
	error = talk(d, nlh, take_families);
	if (error == ENOENT)
		return fail(d, "no netlink family %s: load the module %s", d->name, d->module);
	return error ? fail(d, "netlink: %s", strerror(error)) : DONE;
}

static int show(struct dump *d, const struct dump_table *t, bool first)
{
	char buf[64];
	int error;

	d->objects = 0;
	if (d->json)
		printf("%s  \"%s\": [\n", first ? "{\n" : ",\n", t->name);
	else
		printf("%s:\n", t->name);
	error = talk(d, start(buf, d->family, d->version, t->command, NLM_F_DUMP), take_object);
	if (error)
		return fail(d, "%s: %s", t->name, strerror(error));
	if (d->json)
		printf("%s  ]", d->objects ? "\n" : "");
	return DONE;
}

static int show_tables(struct dump *d, const struct dump_table *only)
{
	size_t i;

	if (find_family(d))
		return CANNOT;
	for (i = 0; i < d->count; i++) {
		if (only && only != &d->tables[i])
			continue;
		if (show(d, &d->tables[i], only || !i))
			return CANNOT;
	}
	if (d->json)
		printf("\n}\n");
	return DONE;
}

static int dump_show(struct dump *d, const struct dump_table *only)
{
	int status;

	d->nl = mnl_socket_open(NETLINK_GENERIC);
	if (!d->nl || mnl_socket_bind(d->nl, 0, MNL_SOCKET_AUTOPID) < 0)
		return fail(d, "netlink: %s", strerror(errno));
	status = show_tables(d, only);
	mnl_socket_close(d->nl);
	return status;
}

/* Find the table that a word names. Return: NULL and an error message if there is none */
static const struct dump_table *find_table(const struct dump *d, const char *word)
{
	size_t i;

	for (i = 0; i < d->count; i++)
		if (!strcmp(word, d->tables[i].name))
			return &d->tables[i];
	fprintf(stderr, "closnet %s: \"%s\" is not ", d->command, word);
	for (i = 0; i < d->count; i++) {
		if (i)
			fprintf(stderr, i + 1 < d->count ? ", " : " or ");
		fprintf(stderr, "%s", d->tables[i].name);
	}
	fprintf(stderr, "\n");
	return NULL;
}

int dump_run(struct dump *d, int argc, char **argv, void (*help)(FILE *to))
{
	const struct dump_table *only = NULL;
	char name[32];
	int status;

	snprintf(name, sizeof(name), "closnet %s", d->command);
	argv[0] = name;
	if (read_options(argc, argv, help, &d->json, &status))
		return status;
	argc -= optind;
	argv += optind;
	if (argc > 1) {
		fprintf(stderr, "closnet %s: unexpected argument \"%s\" after %s\n", d->command,
			argv[1], argv[0]);
		return USAGE;
	}
	if (argc)
		only = find_table(d, argv[0]);
	return argc && !only ? USAGE : dump_show(d, only);
}
