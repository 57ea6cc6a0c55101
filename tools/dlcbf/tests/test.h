/* SPDX-License-Identifier: GPL-2.0 */
/* Counting what holds, for the tests of the command. */
#ifndef DLCBF_TEST_H
#define DLCBF_TEST_H

#include <stdbool.h>
#include <stddef.h>

extern unsigned int test_passed, test_failed;

void test_result(bool ok, const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* The condition holds. */
#define CHECK(cond) \
	test_result(cond, __FILE__, __LINE__, "%s", #cond)

/* Two texts are the same. */
#define CHECK_TEXT(got, want) \
	test_text(got, want, __FILE__, __LINE__)

/* One text is in the other. */
#define CHECK_HAS(got, part) \
	test_has(got, part, __FILE__, __LINE__)

void test_text(const char *got, const char *want, const char *file, int line);
void test_has(const char *got, const char *part, const char *file, int line);

void test_utils(void);
void test_key(void);
void test_command(void);

#endif
