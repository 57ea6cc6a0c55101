// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "test.h"

unsigned int test_passed, test_failed;

void test_result(bool ok, const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	if (ok) {
		test_passed++;
		return;
	}
	test_failed++;
	printf("FAIL %s:%d: ", file, line);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
}

void test_text(const char *got, const char *want, const char *file, int line)
{
	test_result(!strcmp(got, want), file, line, "\"%s\" is not \"%s\"", got,
		    want);
}

void test_has(const char *got, const char *part, const char *file, int line)
{
	test_result(strstr(got, part), file, line, "\"%s\" is not in \"%s\"",
		    part, got);
}

int main(void)
{
	test_utils();
	test_key();
	test_command();
	printf("%u passed, %u failed, 0 skipped\n", test_passed, test_failed);
	return test_failed != 0;
}
