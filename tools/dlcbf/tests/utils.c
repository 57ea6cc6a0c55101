// SPDX-License-Identifier: GPL-2.0
/* Numbers, times, rates, names, words and lines. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "test.h"
#include "../utils.h"

static void test_fpr(void)
{
	static const struct { const char *text; u64 value; } good[] = {
		{ "0.1", 100000000000000000 },
		{ "1e-6", 1000000000000 },
		{ "0.000001", 1000000000000 },
		{ ".5", 500000000000000000 },
		{ "5E-1", 500000000000000000 },
		{ "0.15%", 1500000000000000 },
		{ "1e-18", 1 },
		{ "0.999999999999999999", 999999999999999999 },
		{ "0.0000000000000000005", 1 },
		{ "0.0015", 1500000000000000 },
		{ "3e-7", 300000000000 },
		{ "0.123456789012345678", 123456789012345678 },
		{ "000.25", 250000000000000000 },
	};
	static const struct { const char *text, *error; } bad[] = {
		{ "0", "rate of 0" }, { "0.0", "rate of 0" },
		{ "0e9", "rate of 0" }, { "1", "not less than 1" },
		{ "1.0", "not less than 1" }, { "2", "not less than 1" },
		{ "100%", "not less than 1" },
		{ "0.9999999999999999999", "not less than 1" },
		{ "1e99", "not less than 1" },
		{ "1e99999999999", "not less than 1" },
		{ "-0.1", "negative" }, { "-1", "negative" },
		{ "nan", "not a number" }, { "inf", "not a number" },
		{ "", "not a number" }, { ".", "not a number" },
		{ "0.1x", "not a number" }, { "0.1.2", "not a number" },
		{ "1e", "not a number" }, { "0x1p-3", "not a number" },
		{ "1e-", "not a number" }, { " 0.1", "not a number" },
		{ "+0.1", "not a number" }, { "0,1", "not a number" },
		{ "1e-19", "less than 1e-18" },
		{ "1e-99999999999", "less than 1e-18" },
	};
	char buf[FORMAT_MAX];
	u64 v, back, i;
	struct error e;

	for (i = 0; i < ARRAY_SIZE(good); i++) {
		CHECK(!parse_fpr("fpr", good[i].text, &v, &e));
		test_result(v == good[i].value, __FILE__, __LINE__,
			    "%s is %" PRIu64, good[i].text, v);
		format_fpr(v, buf);
		CHECK(!parse_fpr("fpr", buf, &back, &e) && back == v);
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		test_result(parse_fpr("fpr", bad[i].text, &v, &e) < 0, __FILE__,
			    __LINE__, "\"%s\" was taken", bad[i].text);
		CHECK_HAS(e.text, bad[i].error);
		CHECK_HAS(e.text, "fpr");
	}
	/* Every length of digits comes back as it was. */
	for (i = 0, v = 1; i < 4000; i++) {
		v = v * 6364136223846793005ULL + 1442695040888963407ULL;
		back = (v >> (i % 60)) % 1000000000000000000ULL;
		if (!back)
			continue;
		format_fpr(back, buf);
		if (parse_fpr("fpr", buf, &v, &e) || v != back)
			test_result(false, __FILE__, __LINE__,
				    "%" PRIu64 " became %s", back, buf);
	}
	CHECK_TEXT(format_fpr(1000000000000, buf), "1e-06");
	CHECK_TEXT(format_fpr(1500000000000000, buf), "0.0015");
	CHECK_TEXT(format_fpr(100000000000000, buf), "0.0001");
	CHECK_TEXT(format_fpr(12000000000, buf), "1.2e-08");
	CHECK_TEXT(format_fpr(1, buf), "1e-18");
	CHECK_TEXT(format_fpr(0, buf), "0");
	CHECK_TEXT(format_fpr(1000000000000000000, buf), "1");
	CHECK_TEXT(format_fpr_short(123456789012345678, buf), "0.123");
	CHECK_TEXT(format_fpr_short(999999999999999999, buf), "1");
	CHECK_TEXT(format_fpr_short(953674316406, buf), "9.54e-07");
}

static void test_time(void)
{
	static const struct { const char *text; u64 ms; } good[] = {
		{ "60s", 60000 }, { "60", 60000 }, { "5m", 300000 },
		{ "1h", 3600000 }, { "500ms", 500 }, { "1.5s", 1500 },
		{ "1.5m", 90000 }, { "2d", 172800000 }, { "0", 0 },
		{ "none", 0 }, { "0.001", 1 },
	};
	static const struct { const char *text, *error; } bad[] = {
		{ "", "not a time" }, { "s", "not a time" },
		{ "-1", "not a time" }, { "5x", "unit" }, { "5 s", "unit" },
		{ "1.5ms", "finer" }, { "0.0001", "finer" },
		{ "99999999999999999999", "too long" },
		{ "18446744073709551615h", "too long" }, { "5sm", "unit" },
	};
	char buf[FORMAT_MAX];
	u64 v, back;
	struct error e;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(good); i++) {
		CHECK(!parse_time("timeout", good[i].text, &v, &e));
		test_result(v == good[i].ms, __FILE__, __LINE__, "%s is %" PRIu64,
			    good[i].text, v);
		format_time(v, buf);
		CHECK(!parse_time("timeout", buf, &back, &e) && back == v);
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		test_result(parse_time("timeout", bad[i].text, &v, &e) < 0,
			    __FILE__, __LINE__, "\"%s\" was taken", bad[i].text);
		CHECK_HAS(e.text, bad[i].error);
	}
	CHECK_TEXT(format_time(1200, buf), "1.2s");
	CHECK_TEXT(format_time(60000, buf), "60s");
	CHECK_TEXT(format_time(999, buf), "999ms");
	CHECK_TEXT(format_time(UINT64_MAX, buf), "18446744073709551.615s");
}

static void test_count(void)
{
	static const struct { const char *text; u64 value; } good[] = {
		{ "1000000", 1000000 }, { "1M", 1000000 }, { "1m", 1000000 },
		{ "2k", 2000 }, { "1.5M", 1500000 }, { "4Ki", 4096 },
		{ "1Gi", 1 << 30 }, { "1e6", 1000000 }, { "0", 0 },
		{ "18446744073709551615", UINT64_MAX },
	};
	static const struct { const char *text, *error; } bad[] = {
		{ "", "not a number" }, { "k", "not a number" },
		{ "-1", "not a number" }, { "1x", "not a number" },
		{ "1kk", "not a number" }, { "1.5", "whole" },
		{ "0.0001k", "whole" }, { "18446744073709551616", "too large" },
		{ "99999999999G", "too large" }, { "0x10", "not a number" },
		{ "17179869184Gi", "too large" },
	};
	struct error e;
	u64 v;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(good); i++) {
		CHECK(!parse_count("max-flows", good[i].text, &v, &e));
		test_result(v == good[i].value, __FILE__, __LINE__,
			    "%s is %" PRIu64, good[i].text, v);
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		test_result(parse_count("max-flows", bad[i].text, &v, &e) < 0,
			    __FILE__, __LINE__, "\"%s\" was taken", bad[i].text);
		CHECK_HAS(e.text, bad[i].error);
	}
}

static void test_uint(void)
{
	struct error e;
	u64 v;

	CHECK(!parse_uint("mark", "0xff", 255, &v, &e) && v == 255);
	CHECK(!parse_uint("mark", "010", 255, &v, &e) && v == 10);
	CHECK(parse_uint("mark", "256", 255, &v, &e) < 0);
	CHECK_TEXT(e.text, "mark: 256 is more than 255");
	CHECK(parse_uint("mark", "-1", 255, &v, &e) < 0);
	CHECK(parse_uint("mark", " 1", 255, &v, &e) < 0);
	CHECK(parse_uint("mark", "0x", 255, &v, &e) < 0);
	CHECK(parse_uint("mark", "", 255, &v, &e) < 0);
	CHECK(parse_uint("mark", "ff", 255, &v, &e) < 0);
	CHECK(parse_uint("mark", "99999999999999999999", UINT64_MAX, &v, &e) < 0);
}

static void test_name(void)
{
	static const struct { const char *name, *error; } bad[] = {
		{ "", "empty" }, { ".", "cannot be" }, { "..", "cannot be" },
		{ "a/b", "slash" }, { "a b", "space" }, { "a\tb", "space" },
		{ "a\x01", "printable" }, { "caf\xc3\xa9", "printable" },
		{ "12345678901234567890123456789012", "longer than 31" },
	};
	struct error e;
	size_t i;

	CHECK(!parse_name("name", "blocked", &e));
	CHECK(!parse_name("name", "1234567890123456789012345678901", &e));
	CHECK(!parse_name("name", "...", &e));
	CHECK(!parse_name("name", "a\"b#c", &e));
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		CHECK(parse_name("name", bad[i].name, &e) < 0);
		CHECK_HAS(e.text, bad[i].error);
	}
}

static void test_words(void)
{
	static const char *const whole[] = {
		"plain", "a b", "a\"b", "a'b", "#", "a;b", "", "\"", "'\"'", "a\tb"
	};
	char line[512], *words[8];
	struct error e;
	size_t i;
	int n;

	strcpy(line, "  flow add\tt \"a b\" 'c\"d' x'y z'w # comment");
	n = split_line(line, words, 8, &e);
	CHECK(n == 6);
	CHECK_TEXT(words[3], "a b");
	CHECK_TEXT(words[4], "c\"d");
	CHECK_TEXT(words[5], "xy zw");
	strcpy(line, "10.0.0.1;comment");
	CHECK(split_line(line, words, 8, &e) == 1);
	CHECK_TEXT(words[0], "10.0.0.1");
	strcpy(line, "10.0.0.1\r");
	CHECK(split_line(line, words, 8, &e) == 1);
	CHECK_TEXT(words[0], "10.0.0.1");
	strcpy(line, "");
	CHECK(split_line(line, words, 8, &e) == 0);
	strcpy(line, "# nothing");
	CHECK(split_line(line, words, 8, &e) == 0);
	strcpy(line, "a \"b");
	CHECK(split_line(line, words, 8, &e) < 0);
	CHECK_HAS(e.text, "not closed");
	strcpy(line, "1 2 3 4 5 6 7 8 9");
	CHECK(split_line(line, words, 8, &e) < 0);
	CHECK_HAS(e.text, "more than 8");

	for (i = 0; i < ARRAY_SIZE(whole); i++) {
		CHECK(quote_word(whole[i], line, sizeof(line)) == strlen(line));
		CHECK(split_line(line, words, 8, &e) == 1);
		CHECK_TEXT(words[0], whole[i]);
	}
	CHECK(quote_word("a b c", line, 4) == 7 && strlen(line) == 3);
}

static int file_of(const char *text, size_t len)
{
	int fd = memfd_create("test", 0);

	if (write(fd, text, len) != (ssize_t)len)
		abort();
	lseek(fd, 0, SEEK_SET);
	return fd;
}

static void test_lines(void)
{
	struct lines *l = malloc(sizeof(*l));
	char *line, *big;
	struct error e;
	int fd, i;

	fd = file_of("\xef\xbb\xbfone\n\nthree\r\nfour", 19);
	lines_init(l, fd, "f");
	CHECK(lines_next(l, &line, &e) == 1 && !strcmp(line, "one"));
	CHECK(lines_next(l, &line, &e) == 1 && !strcmp(line, ""));
	CHECK(lines_next(l, &line, &e) == 1 && !strcmp(line, "three\r"));
	CHECK(lines_next(l, &line, &e) == 1 && !strcmp(line, "four"));
	CHECK(l->number == 4);
	CHECK(lines_next(l, &line, &e) == 0);
	CHECK(!lines_rewind(l, &e));
	CHECK(lines_next(l, &line, &e) == 1 && !strcmp(line, "one"));
	close(fd);

	fd = file_of("a\0b\n", 4);
	lines_init(l, fd, "f");
	CHECK(lines_next(l, &line, &e) < 0);
	CHECK_HAS(e.text, "f:1: a zero byte");
	close(fd);

	/* Many lines, so that the buffer is refilled in the middle of some. */
	big = malloc(200000);
	memset(big, 'x', 200000);
	for (i = 100; i < 200000; i += 101)
		big[i] = '\n';
	fd = file_of(big, 200000);
	lines_init(l, fd, "f");
	for (i = 0; lines_next(l, &line, &e) == 1; i++)
		if (strlen(line) != 100 && i != 1980)
			break;
	CHECK(i == 1981);
	close(fd);

	/* A line without an end must not take all memory. */
	memset(big, 'x', 200000);
	fd = file_of(big, 200000);
	lines_init(l, fd, "f");
	CHECK(lines_next(l, &line, &e) < 0);
	CHECK_HAS(e.text, "f:1: longer than");
	close(fd);
	memset(big + LINE_BYTES + 1, '\n', 1);
	fd = file_of(big, LINE_BYTES + 2);
	lines_init(l, fd, "f");
	CHECK(lines_next(l, &line, &e) < 0);
	close(fd);
	free(big);
	free(l);
}

static void test_small(void)
{
	static const char *const names[] = { "", "set", "flow", "x", NULL };
	u8 bytes[4];
	char buf[FORMAT_MAX];
	struct error e;
	u32 v;

	CHECK(!parse_hex("secret", "00fFa0b1", bytes, 4, &e));
	CHECK_TEXT(format_hex(bytes, 4, buf), "00ffa0b1");
	CHECK(parse_hex("secret", "00ff", bytes, 4, &e) < 0);
	CHECK(parse_hex("secret", "00ffa0bg", bytes, 4, &e) < 0);
	CHECK_HAS(e.text, "8 hexadecimal digits");
	CHECK(!parse_enum("type", "flow", names, &v, &e) && v == 2);
	CHECK(parse_enum("type", "fl", names, &v, &e) < 0);
	CHECK_TEXT(e.text, "type: \"fl\" is not set, flow or x");
	CHECK_TEXT(format_size(0, buf), "0B");
	CHECK_TEXT(format_size(1536, buf), "1.50KiB");
	CHECK_TEXT(format_size(50 << 20, buf), "50.0MiB");
	CHECK_TEXT(format_size(UINT64_MAX, buf), "16.0EiB");
	err_set(&e, "b%d", 1);
	err_prefix(&e, "a:%d: ", 2);
	CHECK_TEXT(e.text, "a:2: b1");
}

void test_utils(void)
{
	test_fpr();
	test_time();
	test_count();
	test_uint();
	test_name();
	test_words();
	test_lines();
	test_small();
}
