// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read the counters that closnet's modules have in this network namespace
 *
 * The result is a JSON object: the name of a module, and an array with an object for each
 * of its qdiscs or devices. Its strings name the qdisc or device, its numbers are
 * counters and gauges, and it may contain nested objects:
 *
 *	{ "sch_ndp": [ { "dev": "eth1", "handle": "1:", "data": { "qlen_packets": 2, ... }, ... } ],
 *	  "tcp_timely": [ { "samples_hw": 7, ... } ] }
 *
 * An action has its number as label "index", and an array "port" of its ports.
 *
 * Sources: tc(8) with closnet's plug-ins, /proc/net, and the ethtool statistics of closwire.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "closnet.h"
#include "counters.h"

/* Separators of columns */
#define SPACE	"\n "

/* Files with a line "NAME VALUE" for each counter */
static const struct {
	const char *module, *path;
} files[] = {
	{ "ndp", "/proc/net/ndp/snmp" },
	{ "tcp_dcqcn", "/proc/net/closnet/dcqcn" },
	{ "tcp_timely", "/proc/net/closnet/timely" },
};

/* ---- reading ---- */

/* The array of a module; made when it is needed */
static struct json_object *array_of(struct json_object *counters, const char *module)
{
	struct json_object *array;

	if (!json_object_object_get_ex(counters, module, &array)) {
		array = json_object_new_array();
		json_object_object_add(counters, module, array);
	}
	return array;
}

/* Output of a command, as JSON; NULL if it fails */
static struct json_object *json_from(const char *command)
{
	struct json_tokener *tokener = json_tokener_new();
	struct json_object *found = NULL;
	FILE *from = popen(command, "r");
	char piece[4096];
	size_t len;

	while (from && (len = fread(piece, 1, sizeof(piece), from)) > 0)
		found = json_tokener_parse_ex(tokener, piece, len);
	json_tokener_free(tokener);
	if (from && pclose(from)) {
		json_object_put(found);
		return NULL;
	}
	return found;
}

/* Select closnet's qdiscs from tc's list. */
static void read_qdiscs(struct json_object *counters)
{
	struct json_object *all = json_from("tc -s -j qdisc show"), *qdisc, *kind;
	char module[32];
	size_t i;

	for (i = 0; all && i < json_object_array_length(all); i++) {
		qdisc = json_object_array_get_idx(all, i);
		if (!json_object_object_get_ex(qdisc, "kind", &kind))
			continue;
		snprintf(module, sizeof(module), "sch_%s", json_object_get_string(kind));
		if (strcmp(module, "sch_ndp") && strcmp(module, "sch_dcqcn") &&
		    strcmp(module, "sch_pcrp") && strcmp(module, "sch_roce"))
			continue;
		json_object_object_del(qdisc, "kind");
		json_object_object_del(qdisc, "options");
		json_object_object_del(qdisc, "refcnt");
		json_object_object_del(qdisc, "root");
		json_object_array_add(array_of(counters, module), json_object_get(qdisc));
	}
	json_object_put(all);
}

/* Move a member of an object to another one, under a new name */
static void move_member(struct json_object *from, const char *name, struct json_object *to,
			const char *new_name)
{
	struct json_object *member;

	if (!json_object_object_get_ex(from, name, &member))
		return;
	json_object_object_add(to, new_name, json_object_get(member));
	json_object_object_del(from, name);
}

/* The counters of an action as those of a qdisc: without options, with tc's own at the top */
static struct json_object *action_counters(struct json_object *action)
{
	static const char * const own[] = {
		"sent_packets", "segmented_packets", "dropped_packets", "new_flows", "gaps",
		"moves", "failovers", "overflows", "told_messages",
		"delayed_messages", "heard_messages", "refused_messages", "passed",
	};
	static const char * const common[] = { "bytes", "packets", "drops", "overlimits" };
	struct json_object *found = json_object_new_object(), *part, *port;
	size_t i;

	if (json_object_object_get_ex(action, "index", &part))
		json_object_object_add(found, "index",
				       json_object_new_string(json_object_get_string(part)));
	if (json_object_object_get_ex(action, "stats", &part)) {
		for (i = 0; i < COUNT(common); i++)
			move_member(part, common[i], found, common[i]);
	}
	for (i = 0; i < COUNT(own); i++)
		move_member(action, own[i], found, own[i]);
	if (json_object_object_get_ex(action, "ports", &part)) {
		for (i = 0; i < json_object_array_length(part); i++) {
			port = json_object_array_get_idx(part, i);
			move_member(port, "dev", port, "port");
		}
		move_member(action, "ports", found, "port");
	}
	return found;
}

/* Select closnet's actions from tc's list, which nests them. */
static void find_actions(struct json_object *counters, struct json_object *in)
{
	struct json_object *kind;
	size_t i;

	if (json_object_is_type(in, json_type_array)) {
		for (i = 0; i < json_object_array_length(in); i++)
			find_actions(counters, json_object_array_get_idx(in, i));
	} else if (json_object_object_get_ex(in, "kind", &kind)) {
		if (!strcmp(json_object_get_string(kind), "lb"))
			json_object_array_add(array_of(counters, "act_lb"), action_counters(in));
	} else if (json_object_object_get_ex(in, "actions", &kind)) {
		find_actions(counters, kind);
	}
}

static void read_actions(struct json_object *counters)
{
	struct json_object *all = json_from("tc -s -j actions list action lb 2>/dev/null");

	find_actions(counters, all);
	json_object_put(all);
}

static void read_file(struct json_object *counters, const char *module, const char *path)
{
	FILE *from = fopen(path, "r");
	struct json_object *found;
	char name[64];
	uint64_t value;

	if (!from)
		return;
	found = json_object_new_object();
	while (fscanf(from, "%63s %ju", name, &value) == 2)
		json_object_object_add(found, name, json_object_new_uint64(value));
	fclose(from);
	json_object_array_add(array_of(counters, module), found);
}

/* A table: the first line has the names of the columns, the first column is the device. */
static void read_clocks(struct json_object *counters)
{
	FILE *from = fopen("/proc/net/closnet/nicclock", "r");
	char head[256], copy[256], line[256], *name, *value, *names, *values, *end;
	struct json_object *found;
	long long number;

	if (!from)
		return;
	if (!fgets(head, sizeof(head), from))
		head[0] = '\0';
	while (fgets(line, sizeof(line), from)) {
		snprintf(copy, sizeof(copy), "%s", head);
		found = json_object_new_object();
		name = strtok_r(copy, SPACE, &names);
		value = strtok_r(line, SPACE, &values);
		while (name && value) {
			number = strtoll(value, &end, 10);
			json_object_object_add(found, strcmp(name, "device") ? name : "dev",
					       *end ? json_object_new_string(value) :
						      json_object_new_int64(number));
			name = strtok_r(NULL, SPACE, &names);
			value = strtok_r(NULL, SPACE, &values);
		}
		json_object_array_add(array_of(counters, "nicclock"), found);
	}
	fclose(from);
}

/* Is the interface a port of closwire? */
static bool is_closwire(int fd, const char *dev)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
	struct ifreq request = { .ifr_data = (char *)&info };

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", dev);
	return !ioctl(fd, SIOCETHTOOL, &request) && !strcmp(info.driver, "closwire");
}

/* An ethtool command whose answer has @count items of @size bytes; NULL if it fails */
static void *ethtool(int fd, const char *dev, uint32_t command, uint32_t count, size_t size)
{
	/* both structures begin alike: command, for strings the set, and the number of items */
	size_t head = command == ETHTOOL_GSTRINGS ? sizeof(struct ethtool_gstrings) :
						    sizeof(struct ethtool_stats);
	uint32_t *answer = calloc(1, head + count * size);
	struct ifreq request = { .ifr_data = (char *)answer };

	if (!answer)
		return NULL;
	answer[0] = command;
	if (command == ETHTOOL_GSTRINGS)
		answer[1] = ETH_SS_STATS;
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", dev);
	if (ioctl(fd, SIOCETHTOOL, &request)) {
		free(answer);
		return NULL;
	}
	return answer;
}

static struct json_object *read_port(int fd, const char *dev)
{
	struct json_object *found = json_object_new_object();
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
	struct ifreq request = { .ifr_data = (char *)&info };
	struct ethtool_gstrings *names;
	struct ethtool_stats *stats;
	char name[ETH_GSTRING_LEN + 1] = "";
	uint32_t i;

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", dev);
	json_object_object_add(found, "dev", json_object_new_string(dev));
	if (ioctl(fd, SIOCETHTOOL, &request))
		return found;
	names = ethtool(fd, dev, ETHTOOL_GSTRINGS, info.n_stats, ETH_GSTRING_LEN);
	stats = ethtool(fd, dev, ETHTOOL_GSTATS, info.n_stats, sizeof(uint64_t));
	for (i = 0; names && stats && i < info.n_stats; i++) {
		memcpy(name, &names->data[i * ETH_GSTRING_LEN], ETH_GSTRING_LEN);
		json_object_object_add(found, name, json_object_new_uint64(stats->data[i]));
	}
	free(names);
	free(stats);
	return found;
}

static void read_closwire(struct json_object *counters)
{
	struct if_nameindex *all = if_nameindex(), *dev;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	for (dev = all; dev && dev->if_name; dev++) {
		if (is_closwire(fd, dev->if_name))
			json_object_array_add(array_of(counters, "closwire"),
					      read_port(fd, dev->if_name));
	}
	if_freenameindex(all);
	close(fd);
}

/**
 * read_counters() - read the counters of the loaded modules
 *
 * Return: a JSON object, see above; the caller frees it with json_object_put().
 */
struct json_object *read_counters(void)
{
	struct json_object *counters = json_object_new_object();
	size_t i;

	read_qdiscs(counters);
	read_actions(counters);
	for (i = 0; i < COUNT(files); i++)
		read_file(counters, files[i].module, files[i].path);
	read_clocks(counters);
	read_closwire(counters);
	return counters;
}

/* ---- a list of samples ---- */

static char *text(const char *format, ...)
{
	char *made = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&made, format, args) < 0)
		made = NULL;
	va_end(args);
	if (!made) {
		fprintf(stderr, "closnet: %s\n", strerror(ENOMEM));
		exit(CANNOT);
	}
	return made;
}

static void add_sample(struct samples *to, const char *module, const char *labels, const char *name,
		       int64_t value)
{
	/* reallocated when the count is a power of two */
	if (!(to->count & (to->count - 1)))
		to->list = realloc(to->list, (to->count ? 2 * to->count : 1) * sizeof(*to->list));
	if (!to->list) {
		fprintf(stderr, "closnet: %s\n", strerror(ENOMEM));
		exit(CANNOT);
	}
	to->list[to->count++] = (struct sample) {
		text("%s", module), text("%s", labels), text("%s", name), value
	};
}

static void flatten(struct samples *to, const char *module, const char *labels, const char *prefix,
		    struct json_object *from, const char *label);

/* A label identifies an item of an array: its member of the array's name, or its index. */
static void flatten_array(struct samples *to, const char *module, const char *labels,
			  const char *name, struct json_object *array)
{
	struct json_object *item, *own;
	char *with;
	size_t i;

	for (i = 0; i < json_object_array_length(array); i++) {
		item = json_object_array_get_idx(array, i);
		if (json_object_is_type(item, json_type_object) &&
		    json_object_object_get_ex(item, name, &own))
			with = text("%s%s%s=\"%s\"", labels, *labels ? "," : "", name,
				    json_object_get_string(own));
		else
			with = text("%s%sindex=\"%zu\"", labels, *labels ? "," : "", i);
		if (json_object_is_type(item, json_type_object))
			flatten(to, module, with, name, item, name);
		else if (json_object_is_type(item, json_type_int))
			add_sample(to, module, with, name, json_object_get_int64(item));
		free(with);
	}
}

/* Numbers of an object; @label: member that is a label already */
static void flatten(struct samples *to, const char *module, const char *labels, const char *prefix,
		    struct json_object *from, const char *label)
{
	char *name;

	json_object_object_foreach(from, key, value) {
		if (label && !strcmp(key, label))
			continue;
		name = text("%s%s%s", prefix, *prefix ? "_" : "", key);
		if (json_object_is_type(value, json_type_int))
			add_sample(to, module, labels, name, json_object_get_int64(value));
		else if (json_object_is_type(value, json_type_object))
			flatten(to, module, labels, name, value, NULL);
		else if (json_object_is_type(value, json_type_array))
			flatten_array(to, module, labels, name, value);
		free(name);
	}
}

/* Strings of an object as labels */
static char *labels_of(struct json_object *from)
{
	char *labels = text("%s", ""), *more;

	json_object_object_foreach(from, key, value) {
		if (!json_object_is_type(value, json_type_string))
			continue;
		more = text("%s%s%s=\"%s\"", labels, *labels ? "," : "", key,
			    json_object_get_string(value));
		free(labels);
		labels = more;
	}
	return labels;
}

/**
 * flatten_counters() - list every number with its labels
 * @counters: result of read_counters()
 *
 * Return: the list; the caller frees it with free_samples().
 */
struct samples flatten_counters(struct json_object *counters)
{
	struct samples all = { };
	struct json_object *from;
	char *labels;
	size_t i;

	json_object_object_foreach(counters, module, array) {
		for (i = 0; i < json_object_array_length(array); i++) {
			from = json_object_array_get_idx(array, i);
			labels = labels_of(from);
			flatten(&all, module, labels, "", from, NULL);
			free(labels);
		}
	}
	return all;
}

void free_samples(struct samples *samples)
{
	size_t i;

	for (i = 0; i < samples->count; i++) {
		free(samples->list[i].module);
		free(samples->list[i].labels);
		free(samples->list[i].name);
	}
	free(samples->list);
	*samples = (struct samples) { };
}
