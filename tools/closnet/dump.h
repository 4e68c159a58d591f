/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Dumps of generic netlink families as text and JSON
 *
 * A table is the reply to a dump command. Text has a line for each entry, and omits
 * zeros; JSON has an array of objects.
 */
#ifndef _CLOSNET_DUMP_H
#define _CLOSNET_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct mnl_socket;
struct nlattr;
struct nlmsghdr;

/**
 * struct dump_table - a table
 * @name: its name
 * @command: command of the family
 */
struct dump_table {
	const char *name;
	uint8_t command;
};

/**
 * struct dump_field - a numeric attribute
 * @name: its name; NULL: not a number, or unknown
 * @size: 4 or 8 bytes
 * @shown: text has it even if it is 0
 */
struct dump_field {
	const char *name;
	size_t size;
	bool shown;
};

/**
 * struct dump - a family and the state of the output
 * @command: command of closnet, for errors
 * @name: name of the family
 * @module: kernel module of the family
 * @version: version of the family
 * @tables: tables
 * @count: number of @tables
 * @print_object: prints the fields of an entry
 * @json: print JSON
 * @nl: socket
 * @family: id of the family
 * @objects: number of entries printed in this table
 * @fields: number of fields printed in this entry
 */
struct dump {
	const char *command;
	const char *name;
	const char *module;
	uint8_t version;
	const struct dump_table *tables;
	size_t count;
	void (*print_object)(struct dump *d, const struct nlmsghdr *nlh);
	bool json;
	struct mnl_socket *nl;
	uint16_t family;
	unsigned int objects;
	unsigned int fields;
};

/* Print the name of a field; the caller prints its value. */
void dump_name(struct dump *d, const char *name);
/* Print a number; @shown as in struct dump_field */
void dump_number(struct dump *d, const char *name, uint64_t value, bool shown);
/* Print an IPv6 address, or an IPv4 address that is mapped to one. */
void dump_address(struct dump *d, const char *name, const struct nlattr *attr);
/* Print an attribute, if it has the field's size. */
void dump_attr(struct dump *d, const struct dump_field *field, const struct nlattr *attr);
/* Print the table that the command line names, or all. Return: exit status */
int dump_run(struct dump *d, int argc, char **argv, void (*help)(FILE *to));

#endif /* _CLOSNET_DUMP_H */
