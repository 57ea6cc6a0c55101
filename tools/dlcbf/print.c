// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "print.h"

/* Written in pieces of this size; */
#define OUT_CHUNK	(64 << 10)
/* what is held back goes out when it gets larger than this. */
#define OUT_HOLD	(1 << 20)

static void gen_print(void *ctx, const char *s, size_t len)
{
	out_write(ctx, s, len);
}

static yajl_gen gen_new(struct out *o)
{
	yajl_gen gen = yajl_gen_alloc(NULL);

	if (!gen) {
		fprintf(stderr, "Error: not enough memory.\n");
		exit(2);
	}
	yajl_gen_config(gen, yajl_gen_print_callback, gen_print, o);
	yajl_gen_config(gen, yajl_gen_validate_utf8, 1);
	if (o->pretty) {
		yajl_gen_config(gen, yajl_gen_beautify, 1);
		yajl_gen_config(gen, yajl_gen_indent_string, "    ");
	}
	return gen;
}

void out_init(struct out *o, int fd, bool json, bool pretty)
{
	memset(o, 0, sizeof(*o));
	o->fd = fd;
	o->json = json;
	o->pretty = pretty;
}

void out_free(struct out *o)
{
	if (o->gen)
		yajl_gen_free(o->gen);
	free(o->buf);
	memset(o, 0, sizeof(*o));
}

static void write_all(struct out *o)
{
	size_t done = 0;

	while (done < o->len && !o->failed) {
		ssize_t n = write(o->fd, o->buf + done, o->len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			fprintf(stderr, "Error: write: %s.\n", strerror(errno));
			o->failed = true;
			break;
		}
		done += n;
	}
	o->len = 0;
}

/** out_flush - write what there is; negative if any of it ever failed */
int out_flush(struct out *o)
{
	write_all(o);
	return o->failed ? -EIO : 0;
}

/** out_hold - begin to keep back what is printed */
void out_hold(struct out *o)
{
	write_all(o);
	o->holding = true;
}

/**
 * out_take_back - forget what was printed since out_hold()
 * @o: the output, which goes on being held back
 *
 * Return: false if it was so much that some was written already.
 */
bool out_take_back(struct out *o)
{
	if (!o->holding)
		return false;
	o->len = 0;
	if (o->gen) {
		yajl_gen_free(o->gen);
		o->gen = NULL;
	}
	return true;
}

/** out_release - what was held back is right */
void out_release(struct out *o)
{
	o->holding = false;
}

void out_write(struct out *o, const char *data, size_t len)
{
	if (o->failed)
		return;
	if (o->len + len > o->size) {
		size_t size = o->size ? o->size : 2 * OUT_CHUNK;
		char *buf;

		while (size < o->len + len)
			size *= 2;
		buf = realloc(o->buf, size);
		if (!buf) {
			fprintf(stderr, "Error: not enough memory.\n");
			exit(2);
		}
		o->buf = buf;
		o->size = size;
	}
	memcpy(o->buf + o->len, data, len);
	o->len += len;
	if (o->len > OUT_HOLD)
		o->holding = false;
	if (!o->holding && o->len > OUT_CHUNK)
		write_all(o);
}

void out_text(struct out *o, const char *fmt, ...)
{
	char buf[1024], *p = buf;
	va_list ap;
	int n;

	if (o->json)
		return;
	va_start(ap, fmt);
	n = vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	if (n >= (int)sizeof(buf)) {
		va_start(ap, fmt);
		n = vasprintf(&p, fmt, ap);
		va_end(ap);
	}
	if (n > 0)
		out_write(o, p, n);
	if (p != buf && n >= 0)
		free(p);
}

void json_begin(struct out *o)
{
	if (!o->json)
		return;
	if (o->gen)
		yajl_gen_free(o->gen);
	o->gen = gen_new(o);
}

void json_end(struct out *o)
{
	if (!o->json)
		return;
	yajl_gen_free(o->gen);
	o->gen = NULL;
	/* With indentation the generator ends the line itself. */
	if (!o->pretty)
		out_write(o, "\n", 1);
}

static void gen_string(struct out *o, const char *s)
{
	const unsigned char *u = (const unsigned char *)s;
	size_t len = strlen(s), i;
	unsigned char *copy;

	if (yajl_gen_string(o->gen, u, len) != yajl_gen_invalid_string)
		return;
	/* JSON has no way to write bytes that are not text. */
	copy = (unsigned char *)strdup(s);
	for (i = 0; copy && i < len; i++)
		if (copy[i] >= 0x80)
			copy[i] = '?';
	yajl_gen_string(o->gen, copy ? copy : u, copy ? len : 0);
	free(copy);
}

static void gen_name(struct out *o, const char *name)
{
	char buf[64];
	size_t i;

	if (!name)
		return;
	for (i = 0; name[i] && i < sizeof(buf) - 1; i++)
		buf[i] = name[i] == '-' ? '_' : name[i];
	buf[i] = 0;
	gen_string(o, buf);
}

/** json_name - the name of what comes next, when that does not take one */
void json_name(struct out *o, const char *name)
{
	if (o->json)
		gen_name(o, name);
}

void json_object(struct out *o, const char *name)
{
	if (!o->json)
		return;
	gen_name(o, name);
	yajl_gen_map_open(o->gen);
}

void json_object_end(struct out *o)
{
	if (o->json)
		yajl_gen_map_close(o->gen);
}

void json_array(struct out *o, const char *name)
{
	if (!o->json)
		return;
	gen_name(o, name);
	yajl_gen_array_open(o->gen);
}

void json_array_end(struct out *o)
{
	if (o->json)
		yajl_gen_array_close(o->gen);
}

void json_str(struct out *o, const char *name, const char *value)
{
	if (!o->json)
		return;
	gen_name(o, name);
	gen_string(o, value);
}

void json_number(struct out *o, const char *name, const char *value)
{
	if (!o->json)
		return;
	gen_name(o, name);
	yajl_gen_number(o->gen, value, strlen(value));
}

void json_uint(struct out *o, const char *name, u64 value)
{
	char buf[FORMAT_MAX];

	/* The generator's own integers are signed. */
	snprintf(buf, sizeof(buf), "%" PRIu64, value);
	json_number(o, name, buf);
}

void json_bool(struct out *o, const char *name, bool value)
{
	if (!o->json)
		return;
	gen_name(o, name);
	yajl_gen_bool(o->gen, value);
}

void put_str(struct out *o, const char *word, const char *value)
{
	out_text(o, " %s %s", word, value);
	json_str(o, word, value);
}

void put_uint(struct out *o, const char *word, u64 value)
{
	out_text(o, " %s %" PRIu64, word, value);
	json_uint(o, word, value);
}

void put_number(struct out *o, const char *word, const char *value)
{
	out_text(o, " %s %s", word, value);
	json_number(o, word, value);
}
