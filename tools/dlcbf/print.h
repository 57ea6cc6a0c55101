/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What goes to standard output: text, or JSON written as it comes, so that a
 * listing of any length takes the same memory.
 */
#ifndef DLCBF_PRINT_H
#define DLCBF_PRINT_H

#include <stdbool.h>
#include <stddef.h>

#include <yajl/yajl_gen.h>

#include "utils.h"

struct out {
	int fd;
	bool json;
	bool pretty;
	bool failed;		/* something could not be written */
	bool holding;
	yajl_gen gen;
	char *buf;
	size_t len;
	size_t size;
};

void out_init(struct out *o, int fd, bool json, bool pretty);
int out_flush(struct out *o);
void out_free(struct out *o);

/* Keep back what is printed until it is known to be right, if it is short. */
void out_hold(struct out *o);
bool out_take_back(struct out *o);
void out_release(struct out *o);

void out_write(struct out *o, const char *data, size_t len);
void out_text(struct out *o, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The outermost of a command's JSON, which ends with the line. */
void json_begin(struct out *o);
void json_end(struct out *o);

/* Nothing happens in these unless the output is JSON; name may be NULL. */
void json_name(struct out *o, const char *name);
void json_object(struct out *o, const char *name);
void json_object_end(struct out *o);
void json_array(struct out *o, const char *name);
void json_array_end(struct out *o);
void json_str(struct out *o, const char *name, const char *value);
void json_uint(struct out *o, const char *name, u64 value);
void json_number(struct out *o, const char *name, const char *value);
void json_bool(struct out *o, const char *name, bool value);

/*
 * One thing in either form: " word value" in text, and "word": value in JSON,
 * with the hyphens of the word as underscores.
 */
void put_str(struct out *o, const char *word, const char *value);
void put_uint(struct out *o, const char *word, u64 value);
void put_number(struct out *o, const char *word, const char *value);

#endif
