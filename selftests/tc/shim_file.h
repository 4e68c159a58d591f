/* SPDX-License-Identifier: GPL-2.0-only */
/* Attributes in files of raw bytes, for both shims */
#ifndef _CLOSNET_SHIM_FILE_H
#define _CLOSNET_SHIM_FILE_H

#include <linux/rtnetlink.h>
#include <stdio.h>

/* Return: an attribute whose payload is the file's content, or NULL without the file */
static inline struct rtattr *load(const char *path, unsigned short type)
{
	static union {
		struct rtattr rta;
		char space[65536];
	} buf;
	FILE *f = fopen(path, "rb");
	size_t len;

	if (!f)
		return NULL;
	len = fread(buf.space + RTA_LENGTH(0), 1, sizeof(buf) - RTA_LENGTH(0), f);
	fclose(f);
	buf.rta.rta_type = type;
	buf.rta.rta_len = RTA_LENGTH(len);
	return &buf.rta;
}

static inline int save(const char *path, const void *data, size_t len)
{
	FILE *f = fopen(path, "wb");

	if (!f) {
		perror(path);
		return -1;
	}
	fwrite(data, 1, len, f);
	return fclose(f);
}

#endif /* _CLOSNET_SHIM_FILE_H */
