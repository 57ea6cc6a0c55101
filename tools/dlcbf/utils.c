// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/nf_dlcbf.h>

#include "utils.h"

/**
 * err_set - say what is wrong
 * @e: where to
 * @fmt: as for printf
 *
 * Return: -EINVAL, so that a parser can end with it.
 */
int err_set(struct error *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	return -EINVAL;
}

/**
 * err_prefix - put something before what is already said, such as a line number
 * @e: what is said
 * @fmt: as for printf
 *
 * Return: -EINVAL.
 */
int err_prefix(struct error *e, const char *fmt, ...)
{
	char old[sizeof(e->text)];
	va_list ap;
	int n;

	memcpy(old, e->text, sizeof(old));
	va_start(ap, fmt);
	n = vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof(e->text))
		snprintf(e->text + n, sizeof(e->text) - n, "%s", old);
	return -EINVAL;
}

/** args_peek - the next word, or NULL; it stays the next word */
const char *args_peek(const struct args *a)
{
	return a->i < a->n ? a->v[a->i] : NULL;
}

/** args_next - the next word, or NULL */
const char *args_next(struct args *a)
{
	return a->i < a->n ? a->v[a->i++] : NULL;
}

/** args_take - skip the next word if it is @word, and say whether it was */
bool args_take(struct args *a, const char *word)
{
	const char *next = args_peek(a);

	if (!next || strcmp(next, word))
		return false;
	a->i++;
	return true;
}

/** args_value - the value that has to follow @word, which was read already */
int args_value(struct args *a, const char *word, const char **value,
	       struct error *e)
{
	*value = args_next(a);
	return *value ? 0 : err_set(e, "\"%s\" needs a value", word);
}

/** args_end - fail if there are words left */
int args_end(const struct args *a, struct error *e)
{
	if (a->i < a->n)
		return err_set(e, "what is \"%s\"?", a->v[a->i]);
	return 0;
}

/**
 * parse_decimal - read a decimal number as a multiple of a power of ten
 * @s: digits, with a point and an exponent if need be, and without a sign
 * @scale: the result is the number times ten to the power of this
 * @out: where to put it, rounded to the nearest
 * @end: set to what follows the number
 * @exact: set to whether nothing was lost by rounding
 *
 * The digits are counted out one by one, so the result does not pass through a
 * binary fraction, which would turn 0.1 into something else.
 *
 * Return: 0, -EINVAL if there is no number, -ERANGE if it is too large.
 */
int parse_decimal(const char *s, int scale, u64 *out, const char **end,
		  bool *exact)
{
	const char *p = s, *first = NULL, *q;
	long before = 0, exponent = 0, want;
	bool point = false, digit = false, nonzero_rest = false;
	u64 value = 0;
	int round = 0;

	/* Where the first digit that counts is, and its place. */
	for (; isdigit((unsigned char)*p) || (*p == '.' && !point); p++) {
		if (*p == '.') {
			point = true;
			continue;
		}
		digit = true;
		if (!first && *p != '0')
			first = p;
		if (first && !point)
			before++;
		else if (!first && point)
			before--;
	}
	if (!digit)
		return -EINVAL;

	if (*p == 'e' || *p == 'E') {
		bool negative = false;

		q = p + 1;
		if (*q == '+' || *q == '-')
			negative = *q++ == '-';
		if (isdigit((unsigned char)*q)) {
			for (; isdigit((unsigned char)*q); q++)
				if (exponent < 100000)
					exponent = exponent * 10 + (*q - '0');
			if (negative)
				exponent = -exponent;
			p = q;
		}
	}
	*end = p;
	*exact = true;
	*out = 0;
	if (!first)
		return 0;

	want = before + exponent + scale;
	if (want > 20)
		return -ERANGE;

	for (q = first; q < p && (isdigit((unsigned char)*q) || *q == '.'); q++) {
		if (*q == '.')
			continue;
		if (want > 0) {
			if (__builtin_mul_overflow(value, 10, &value) ||
			    __builtin_add_overflow(value, *q - '0', &value))
				return -ERANGE;
		} else if (want == 0) {
			round = *q - '0';
			nonzero_rest |= round != 0;
		} else {
			nonzero_rest |= *q != '0';
		}
		want--;
	}
	for (; want > 0; want--)
		if (__builtin_mul_overflow(value, 10, &value))
			return -ERANGE;
	if (round >= 5 && __builtin_add_overflow(value, 1, &value))
		return -ERANGE;
	*exact = !nonzero_rest;
	*out = value;
	return 0;
}

/* An unsigned number, decimal or with 0x hexadecimal. */
int parse_uint(const char *what, const char *s, u64 max, u64 *out,
	       struct error *e)
{
	const char *digits = s;
	int base = 10;
	char *end;

	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
		base = 16;
		digits = s + 2;
	}
	/* strtoull would take a sign or space. */
	if (!isxdigit((unsigned char)*digits))
		return err_set(e, "%s: \"%s\" is not a number", what, s);
	errno = 0;
	*out = strtoull(digits, &end, base);
	if (end == digits || *end)
		return err_set(e, "%s: \"%s\" is not a number", what, s);
	if (errno == ERANGE || *out > max)
		return err_set(e, "%s: %s is more than %" PRIu64, what, s, max);
	return 0;
}

/* A number of things; k, M and G are thousands, Ki, Mi and Gi 1024s. */
int parse_count(const char *what, const char *s, u64 *out,
		struct error *e)
{
	static const char suffixes[] = "kmg";
	const char *end, *suffix;
	u64 factor = 1;
	int scale = 0, ret;
	bool exact;

	ret = parse_decimal(s, 0, out, &end, &exact);
	if (ret == -EINVAL)
		return err_set(e, "%s: \"%s\" is not a number", what, s);
	suffix = *end ? strchr(suffixes, tolower((unsigned char)*end)) : NULL;
	if (suffix) {
		int power = suffix - suffixes + 1;

		end++;
		if (*end == 'i') {
			factor = 1ULL << (10 * power);
			end++;
		} else {
			scale = 3 * power;
		}
	}
	if (*end)
		return err_set(e, "%s: \"%s\" is not a number", what, s);
	ret = parse_decimal(s, scale, out, &end, &exact);
	if (ret == -ERANGE || __builtin_mul_overflow(*out, factor, out))
		return err_set(e, "%s: %s is too large", what, s);
	if (!exact)
		return err_set(e, "%s: %s is not a whole number", what, s);
	return 0;
}

/* A time; seconds unless a unit follows. */
int parse_time(const char *what, const char *s, u64 *ms, struct error *e)
{
	static const struct {
		const char *unit;
		int scale;
		u64 factor;
	} units[] = {
		{ "", 3, 1 }, { "ms", 0, 1 }, { "s", 3, 1 }, { "m", 3, 60 },
		{ "h", 3, 3600 }, { "d", 3, 86400 },
	};
	const char *end;
	bool exact;
	size_t i;
	int ret;

	if (!strcmp(s, "none")) {
		*ms = 0;
		return 0;
	}
	ret = parse_decimal(s, 0, ms, &end, &exact);
	if (ret == -EINVAL)
		return err_set(e, "%s: \"%s\" is not a time", what, s);
	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(end, units[i].unit))
			break;
	if (i == ARRAY_SIZE(units))
		return err_set(e, "%s: \"%s\": the unit of a time is ms, s, m, h or d",
			       what, s);
	ret = parse_decimal(s, units[i].scale, ms, &end, &exact);
	if (ret == -ERANGE || __builtin_mul_overflow(*ms, units[i].factor, ms))
		return err_set(e, "%s: %s is too long", what, s);
	if (!exact)
		return err_set(e, "%s: %s is finer than a millisecond", what, s);
	return 0;
}

/* A false positive rate, in units of NF_DLCBF_FPR_UNIT. */
int parse_fpr(const char *what, const char *s, u64 *out, struct error *e)
{
	const char *end;
	int scale = 18, ret;
	bool exact;

	if (*s == '-')
		return err_set(e, "%s: %s is negative", what, s);
	ret = parse_decimal(s, scale, out, &end, &exact);
	if (ret != -EINVAL && *end == '%') {
		scale = 16;
		ret = parse_decimal(s, scale, out, &end, &exact);
		end++;
	}
	if (ret == -EINVAL || *end)
		return err_set(e, "%s: \"%s\" is not a number", what, s);
	if (ret == -ERANGE || *out >= NF_DLCBF_FPR_UNIT)
		return err_set(e, "%s: %s is not less than 1", what, s);
	if (!*out && exact)
		return err_set(e, "%s: a rate of 0 cannot be had; \"keys on\" makes a set exact",
			       what);
	if (!*out)
		return err_set(e, "%s: %s is less than 1e-18", what, s);
	return 0;
}

int parse_hex(const char *what, const char *s, u8 *out, size_t len,
	      struct error *e)
{
	size_t i;

	if (strlen(s) != 2 * len || strspn(s, "0123456789abcdefABCDEF") != 2 * len)
		return err_set(e, "%s: it takes %zu hexadecimal digits", what,
			       2 * len);
	for (i = 0; i < len; i++) {
		char pair[3] = { s[2 * i], s[2 * i + 1] };

		out[i] = strtoul(pair, NULL, 16);
	}
	return 0;
}

/* A table's name is a folder's in /proc, a word here and a line in a file. */
int parse_name(const char *what, const char *s, struct error *e)
{
	const char *p;

	if (!*s)
		return err_set(e, "%s: a name cannot be empty", what);
	if (strlen(s) > NF_DLCBF_NAME_MAX)
		return err_set(e, "%s: \"%.40s...\" is longer than %d characters",
			       what, s, NF_DLCBF_NAME_MAX);
	if (!strcmp(s, ".") || !strcmp(s, ".."))
		return err_set(e, "%s: \"%s\" cannot be a name", what, s);
	for (p = s; *p; p++) {
		if (*p == '/')
			return err_set(e, "%s: \"%s\" has a slash", what, s);
		if (isspace((unsigned char)*p))
			return err_set(e, "%s: \"%s\" has a space", what, s);
		if (*p < 0x21 || *p > 0x7e)
			return err_set(e, "%s: a name has printable ASCII characters only",
				       what);
	}
	return 0;
}

/* One of @names, which starts at the value 1 and ends with NULL. */
int parse_enum(const char *what, const char *s, const char *const *names,
	       u32 *out, struct error *e)
{
	char list[256] = "";
	size_t len = 0;
	int i;

	for (i = 1; names[i]; i++) {
		if (!strcmp(s, names[i])) {
			*out = i;
			return 0;
		}
	}
	for (i = 1; names[i] && len < sizeof(list); i++)
		len += snprintf(list + len, sizeof(list) - len, "%s%s",
				i == 1 ? "" : names[i + 1] ? ", " : " or ",
				names[i]);
	return err_set(e, "%s: \"%s\" is not %s", what, s, list);
}

/* @value as @places digits after the point, without trailing zeros. */
static void format_digits(const char *digits, int exponent, char *buf)
{
	int n = strlen(digits);

	while (n > 1 && digits[n - 1] == '0')
		n--;
	if (exponent >= 0)
		/* Only ever 1: a rate is not larger. */
		sprintf(buf, "%.*s", n, digits);
	else if (exponent >= -4)
		sprintf(buf, "0.%.*s%.*s", -exponent - 1, "000", n, digits);
	else if (n == 1)
		sprintf(buf, "%ce-%02d", digits[0], -exponent);
	else
		sprintf(buf, "%c.%.*se-%02d", digits[0], n - 1, digits + 1,
			-exponent);
}

/** format_fpr - a rate with all of its digits: parse_fpr gives it back */
const char *format_fpr(u64 fpr, char *buf)
{
	char digits[24];
	int n;

	if (!fpr)
		return strcpy(buf, "0");
	n = sprintf(digits, "%" PRIu64, fpr);
	format_digits(digits, n - 19, buf);
	return buf;
}

/** format_fpr_short - a rate to three digits, for predictions */
const char *format_fpr_short(u64 fpr, char *buf)
{
	u64 step = 1;

	while (fpr / step >= 1000)
		step *= 10;
	return format_fpr((fpr + step / 2) / step * step, buf);
}

/** format_time - a time with all of its digits: parse_time gives it back */
const char *format_time(u64 ms, char *buf)
{
	int n;

	if (ms && ms < 1000) {
		sprintf(buf, "%" PRIu64 "ms", ms);
		return buf;
	}
	n = sprintf(buf, "%" PRIu64, ms / 1000);
	if (ms % 1000) {
		n += sprintf(buf + n, ".%03u", (unsigned int)(ms % 1000));
		while (buf[n - 1] == '0')
			n--;
	}
	strcpy(buf + n, "s");
	return buf;
}

/** format_size - a number of bytes for people: three digits and a unit */
const char *format_size(u64 bytes, char *buf)
{
	static const char *const units[] = {
		"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"
	};
	double v = bytes;
	size_t u = 0;

	while (v >= 1024 && u + 1 < ARRAY_SIZE(units)) {
		v /= 1024;
		u++;
	}
	sprintf(buf, "%.*f%s", u && v < 10 ? 2 : u && v < 100 ? 1 : 0, v,
		units[u]);
	return buf;
}

const char *format_hex(const u8 *data, size_t len, char *buf)
{
	size_t i;

	buf[0] = 0;
	for (i = 0; i < len && 2 * i + 3 <= FORMAT_MAX; i++)
		sprintf(buf + 2 * i, "%02x", data[i]);
	return buf;
}

/**
 * split_line - cut a line into words
 * @line: the line; it is changed, and the words point into it
 * @words: where to put them
 * @max: how many fit
 * @e: what is wrong
 *
 * Words end at space; a comment starts with # or ; and ends with the line.
 * Within single or double quotes all of these are ordinary characters.
 *
 * Return: the number of words, or -EINVAL.
 */
int split_line(char *line, char **words, int max, struct error *e)
{
	char *in = line, *out;
	int n = 0;

	for (;;) {
		while (isspace((unsigned char)*in))
			in++;
		if (!*in || *in == '#' || *in == ';')
			return n;
		if (n == max)
			return err_set(e, "more than %d words", max);
		out = in;
		words[n++] = out;
		while (*in && !isspace((unsigned char)*in) && *in != '#' &&
		       *in != ';') {
			char quote = *in;

			if (quote != '"' && quote != '\'') {
				*out++ = *in++;
				continue;
			}
			for (in++; *in != quote; in++) {
				if (!*in)
					return err_set(e, "a quote is not closed");
				*out++ = *in;
			}
			in++;
		}
		/* Look at what ended the word before its zero goes there. */
		if (!*in || *in == '#' || *in == ';') {
			*out = 0;
			return n;
		}
		in++;
		*out = 0;
	}
}

/**
 * quote_word - write a word so that split_line() gives it back
 * @word: the word
 * @buf: where to
 * @size: how large that is
 *
 * Return: the length, as snprintf: more than @size means that it did not fit.
 */
size_t quote_word(const char *word, char *buf, size_t size)
{
	bool plain = *word != 0;
	size_t n = 0;
	const char *p;

#define PUT(c) do { if (n + 1 < size) buf[n] = (c); n++; } while (0)
	for (p = word; *p; p++)
		if (isspace((unsigned char)*p) || strchr("#;\"'", *p))
			plain = false;
	if (!plain)
		PUT('"');
	for (p = word; *p; p++) {
		if (*p == '"') {
			PUT('"'); PUT('\''); PUT('"'); PUT('\''); PUT('"');
		} else {
			PUT(*p);
		}
	}
	if (!plain)
		PUT('"');
#undef PUT
	if (size)
		buf[n < size ? n : size - 1] = 0;
	return n;
}

void lines_init(struct lines *l, int fd, const char *name)
{
	l->fd = fd;
	l->name = name;
	l->number = 0;
	l->start = 0;
	l->end = 0;
	l->eof = false;
}

/** lines_rewind - start again at the first line */
int lines_rewind(struct lines *l, struct error *e)
{
	if (lseek(l->fd, 0, SEEK_SET) < 0)
		return err_set(e, "%s: %s", l->name, strerror(errno));
	lines_init(l, l->fd, l->name);
	return 0;
}

/**
 * lines_next - read a line
 * @l: the file
 * @line: set to the line without its end; good until the next call
 * @e: what is wrong
 *
 * Return: 1, 0 at the end of the file, or negative.
 */
int lines_next(struct lines *l, char **line, struct error *e)
{
	char *newline;
	size_t len;

	for (;;) {
		ssize_t n;

		newline = memchr(l->buf + l->start, '\n', l->end - l->start);
		if (newline || l->eof)
			break;
		if (l->end - l->start > LINE_BYTES)
			return err_set(e, "%s:%lu: longer than %d bytes",
				       l->name, l->number + 1, LINE_BYTES);
		memmove(l->buf, l->buf + l->start, l->end - l->start);
		l->end -= l->start;
		l->start = 0;
		/* One byte is kept for the zero after an unended last line. */
		n = read(l->fd, l->buf + l->end, sizeof(l->buf) - 1 - l->end);
		if (n < 0) {
			if (errno == EINTR)
				continue;
			return err_set(e, "%s: %s", l->name, strerror(errno));
		}
		if (!n)
			l->eof = true;
		l->end += n;
	}
	if (!newline && l->start == l->end)
		return 0;

	*line = l->buf + l->start;
	len = newline ? (size_t)(newline - *line) : l->end - l->start;
	l->start = newline ? l->start + len + 1 : l->end;
	l->number++;
	(*line)[len] = 0;
	if (len > LINE_BYTES)
		return err_set(e, "%s:%lu: longer than %d bytes", l->name,
			       l->number, LINE_BYTES);
	if (strlen(*line) != len)
		return err_set(e, "%s:%lu: a zero byte: this is not a text file",
			       l->name, l->number);
	/* Some editors start a file with a mark of its encoding. */
	if (l->number == 1 && !strncmp(*line, "\xef\xbb\xbf", 3))
		*line += 3;
	return 1;
}

/* Copy what cannot be read twice to a file that nobody else sees. */
static int spool(int in, struct error *e)
{
	const char *dir = getenv("TMPDIR");
	char path[4096], buf[1 << 16];
	int fd;

	if (!dir || !*dir)
		dir = "/tmp";
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0) {
		if (snprintf(path, sizeof(path), "%s/dlcbf.XXXXXX", dir) >=
		    (int)sizeof(path))
			return err_set(e, "TMPDIR is too long");
		fd = mkostemp(path, O_CLOEXEC);
		if (fd < 0)
			return err_set(e, "%s: %s", dir, strerror(errno));
		unlink(path);
	}
	for (;;) {
		ssize_t n = read(in, buf, sizeof(buf)), done = 0;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			err_set(e, "read: %s", strerror(errno));
			break;
		}
		if (!n) {
			if (lseek(fd, 0, SEEK_SET) == 0)
				return fd;
			err_set(e, "%s: %s", dir, strerror(errno));
			break;
		}
		while (done < n) {
			ssize_t w = write(fd, buf + done, n - done);

			if (w < 0 && errno == EINTR)
				continue;
			if (w < 0) {
				err_set(e, "%s: %s", dir, strerror(errno));
				close(fd);
				return -EIO;
			}
			done += w;
		}
	}
	close(fd);
	return -EIO;
}

/**
 * open_input - open a file for reading
 * @path: its path, "-" for standard input
 * @again: whether it will be read twice, so that a pipe has to be kept
 * @e: what is wrong
 *
 * Return: a file descriptor to be closed, or negative.
 */
int open_input(const char *path, bool again, struct error *e)
{
	struct stat st;
	int fd, copy;

	if (!strcmp(path, "-"))
		fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	else
		fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, "%s: %s", path, strerror(errno));
	if (fstat(fd, &st) || S_ISDIR(st.st_mode)) {
		close(fd);
		return err_set(e, "%s: is not a file", path);
	}
	if (!again || (S_ISREG(st.st_mode) && lseek(fd, 0, SEEK_CUR) == 0))
		return fd;
	copy = spool(fd, e);
	close(fd);
	return copy;
}
