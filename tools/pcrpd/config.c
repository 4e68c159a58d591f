// SPDX-License-Identifier: GPL-2.0-only
#include "config.h"

#include <ctype.h>
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <json-c/json.h>

#include "agents.h"
#include "histogram.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define ANYWHERE	"::"

/* Limit of the file's size, in bytes */
#define CONFIG_MAX	65535

/*
 * Only numbers have a range. Defaults: a report every 10 s, so that
 * 1000 agents send 320 kbit/s; a window of 5 minutes.
 */
static const struct setting {
	const char *name;
	int roles;
	size_t offset;
	int64_t min;
	int64_t max;
	int64_t unset;
} settings[] = {
	{ "aggregator", AGENT, offsetof(struct config, address), 0, 0, 0 },
	{ "listen", AGGREGATOR, offsetof(struct config, address), 0, 0, 0 },
	{ "status", AGENT | AGGREGATOR, offsetof(struct config, status), 0, 0, 0 },
	{ "port", AGENT | AGGREGATOR, offsetof(struct config, port), 1, 65535, PCRPD_PORT },
	{ "period_ms", AGENT | AGGREGATOR, offsetof(struct config, period_ms), PERIOD_MIN_MS,
	  PERIOD_MAX_MS, 10000 },
	{ "periods", AGGREGATOR, offsetof(struct config, periods), 1, PERIODS_MAX, 30 },
	{ "agents", AGGREGATOR, offsetof(struct config, agents), 1, AGENTS_MAX, 1024 },
};

static const struct setting *find_setting(const char *name, enum role role)
{
	size_t i;

	for (i = 0; i < COUNT(settings); i++) {
		if ((settings[i].roles & role) && !strcmp(settings[i].name, name))
			return &settings[i];
	}
	return NULL;
}

static void set_defaults(struct config *c)
{
	size_t i;

	for (i = 0; i < COUNT(settings); i++) {
		if (settings[i].max)
			*(int64_t *)((char *)c + settings[i].offset) = settings[i].unset;
	}
}

static void set(struct config *c, const struct setting *s, struct json_object *value,
		const char *path)
{
	void *place = (char *)c + s->offset;
	int64_t number = json_object_get_int64(value);
	const char *text;

	if (!s->max) {
		text = json_object_get_string(value);
		if (!json_object_is_type(value, json_type_string) ||
		    strlen(text) != (size_t)json_object_get_string_len(value))
			errx(2, "%s: %s must be a string", path, s->name);
		*(char **)place = strdup(text);
		if (!*(char **)place)
			err(2, "%s", path);
		return;
	}
	if (!json_object_is_type(value, json_type_int) || number < s->min || number > s->max)
		errx(2, "%s: %s must be a number from %" PRId64 " to %" PRId64 ", not %s", path,
		     s->name, s->min, s->max, json_object_to_json_string(value));
	*(int64_t *)place = number;
}

/* Host names are not accepted: DNS may not be available when the service starts. */
static void set_address(struct config *c, const char *path)
{
	static const struct addrinfo hints = {
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
		.ai_socktype = SOCK_DGRAM,
	};
	struct addrinfo *found;
	char port[8];
	int error;

	snprintf(port, sizeof(port), "%" PRId64, c->port);
	error = getaddrinfo(c->address, port, &hints, &found);
	if (error)
		errx(2, "%s: invalid IP address \"%s\": %s", path, c->address,
		     gai_strerror(error));
	memcpy(&c->socket_address, found->ai_addr, found->ai_addrlen);
	c->socket_length = found->ai_addrlen;
	freeaddrinfo(found);
}

static int line_of(const char *text, size_t at)
{
	int line = 1;

	while (at--)
		line += text[at] == '\n';
	return line;
}

static struct json_object *parse(const char *path)
{
	static char text[CONFIG_MAX + 1];
	struct json_tokener *tokener = json_tokener_new();
	FILE *f = fopen(path, "r");
	enum json_tokener_error error;
	struct json_object *root;
	size_t length, end;

	if (!f || !tokener)
		err(2, "%s", path);
	length = fread(text, 1, sizeof(text), f);
	if (ferror(f))
		err(2, "%s", path);
	if (length > CONFIG_MAX)
		errx(2, "%s: more than %d bytes", path, CONFIG_MAX);
	fclose(f);
	/* the parser would stop at the first NUL */
	if (memchr(text, 0, length))
		errx(2, "%s: not a text file: it has a NUL byte", path);
	/* parse the NUL at the end as well, which refuses trailing text */
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
	root = json_tokener_parse_ex(tokener, text, length + 1);
	error = json_tokener_get_error(tokener);
	end = json_tokener_get_parse_end(tokener);
	json_tokener_free(tokener);
	if (error != json_tokener_success)
		errx(2, "%s: line %d: %s", path, line_of(text, end),
		     json_tokener_error_desc(error));
	return root;
}

void config_read(struct config *c, const char *path, enum role role)
{
	struct json_object *root = parse(path);

	if (!json_object_is_type(root, json_type_object))
		errx(2, "%s: not a JSON object", path);
	*c = (struct config) {};
	set_defaults(c);
	json_object_object_foreach(root, name, value) {
		const struct setting *s = find_setting(name, role);

		if (!s)
			errx(2, "%s: unknown setting \"%s\"", path, name);
		set(c, s, value, path);
	}
	json_object_put(root);
	if (!c->address && role == AGENT)
		errx(2, "%s: missing setting \"aggregator\"", path);
	if (!c->address)
		c->address = ANYWHERE;
	set_address(c, path);
}

static int digit(int c)
{
	return isdigit(c) ? c - '0' : tolower(c) - 'a' + 10;
}

/* systemd passes credentials with read permission for group root. */
static void check_owner(int fd, const char *path)
{
	struct stat s;

	if (fstat(fd, &s))
		err(2, "%s", path);
	if (!S_ISREG(s.st_mode))
		errx(2, "%s: not a regular file", path);
	if (s.st_uid && s.st_uid != geteuid())
		errx(2, "%s: owned by another user", path);
	if ((s.st_mode & 037) || ((s.st_mode & 040) && s.st_gid))
		errx(2, "%s: accessible to other users; run chmod 600", path);
}

void key_read(struct key *key, const char *path)
{
	/* room for a newline, and one byte more to detect a file that is too long */
	char text[2 * KEY_BYTES + 2];
	uint8_t bytes[KEY_BYTES];
	int i, fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t length;

	if (fd < 0)
		err(2, "%s", path);
	check_owner(fd, path);
	length = read(fd, text, sizeof(text));
	if (length < 0)
		err(2, "%s", path);
	close(fd);
	if (length && text[length - 1] == '\n')
		length--;
	for (i = 0; i < length && isxdigit((unsigned char)text[i]); i++)
		;
	if (i != length || i != 2 * KEY_BYTES)
		errx(2, "%s: must have %d hexadecimal digits in one line", path, 2 * KEY_BYTES);
	for (i = 0; i < KEY_BYTES; i++)
		bytes[i] = digit(text[2 * i]) << 4 | digit(text[2 * i + 1]);
	key_set(key, bytes);
	explicit_bzero(text, sizeof(text));
	explicit_bzero(bytes, sizeof(bytes));
}
