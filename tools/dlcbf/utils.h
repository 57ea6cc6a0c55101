/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading and writing the small things: numbers, times, rates, words, lines.
 * Nothing here has state, so that tests and fuzzers can call it as it is.
 */
#ifndef DLCBF_UTILS_H
#define DLCBF_UTILS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As in the kernel, whose numbers these are. */
typedef __UINT8_TYPE__ u8;
typedef __UINT16_TYPE__ u16;
typedef __UINT32_TYPE__ u32;
typedef __UINT64_TYPE__ u64;
typedef __INT32_TYPE__ s32;
typedef __INT64_TYPE__ s64;

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* What was wrong, in words for the user. */
struct error {
	char text[512];
};

int err_set(struct error *e, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
int err_prefix(struct error *e, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The words of a command, and how far they are read. */
struct args {
	char **v;
	int n;
	int i;
};

const char *args_peek(const struct args *a);
const char *args_next(struct args *a);
bool args_take(struct args *a, const char *word);
int args_value(struct args *a, const char *word, const char **value,
	       struct error *e);
int args_end(const struct args *a, struct error *e);

int parse_decimal(const char *s, int scale, u64 *out, const char **end,
		  bool *exact);
int parse_uint(const char *what, const char *s, u64 max, u64 *out,
	       struct error *e);
int parse_count(const char *what, const char *s, u64 *out,
		struct error *e);
int parse_time(const char *what, const char *s, u64 *ms, struct error *e);
int parse_fpr(const char *what, const char *s, u64 *out, struct error *e);
int parse_hex(const char *what, const char *s, u8 *out, size_t len,
	      struct error *e);
int parse_name(const char *what, const char *s, struct error *e);
int parse_enum(const char *what, const char *s, const char *const *names,
	       u32 *out, struct error *e);

/* Large enough for everything that a format_ function below writes. */
#define FORMAT_MAX	64

const char *format_fpr(u64 fpr, char *buf);
const char *format_fpr_short(u64 fpr, char *buf);
const char *format_time(u64 ms, char *buf);
const char *format_size(u64 bytes, char *buf);
const char *format_hex(const u8 *data, size_t len, char *buf);

/* Most words on one line of a file, and most bytes. */
#define LINE_WORDS	128
#define LINE_BYTES	4096

int split_line(char *line, char **words, int max, struct error *e);
size_t quote_word(const char *word, char *buf, size_t size);

/*
 * A file read line by line, with a buffer of fixed size: a file without line
 * ends must not take all memory.
 */
struct lines {
	int fd;
	const char *name;
	unsigned long number;	/* of the line read last, from 1 */
	size_t start, end;
	bool eof;
	char buf[1 << 16];
};

void lines_init(struct lines *l, int fd, const char *name);
int lines_rewind(struct lines *l, struct error *e);
int lines_next(struct lines *l, char **line, struct error *e);
int open_input(const char *path, bool again, struct error *e);

#endif
