// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>

#include "test.h"

#define SHOWN	8

static unsigned int failures;

void test_fail(const char *file, int line, const char *format, ...)
{
	va_list args;

	if (__atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED) >= SHOWN)
		return;
	va_start(args, format);
	flockfile(stdout);
	printf("# %s:%d: ", file, line);
	vprintf(format, args);
	putchar('\n');
	funlockfile(stdout);
	va_end(args);
}

int test_main(const struct test *tests, unsigned int n)
{
	unsigned int i, failed = 0;

	printf("1..%u\n", n);
	for (i = 0; i < n; i++) {
		failures = 0;
		tests[i].run();
		if (failures > SHOWN)
			printf("# ... %u failed checks\n", failures);
		printf("%sok %u - %s\n", failures ? "not " : "", i + 1,
		       tests[i].name);
		fflush(stdout);
		failed += !!failures;
	}
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

static void *zeroed(size_t size)
{
	const size_t whole = (size + 63) & ~(size_t)63;
	void *p = aligned_alloc(64, whole);

	if (!p) {
		perror("aligned_alloc");
		exit(EXIT_FAILURE);
	}
	return memset(p, 0, whole);
}

void test_filter_init(struct dlcbf *t, const struct dlcbf_geometry *g,
		      u32 nstripes)
{
	int err = dlcbf_geometry_check(g);

	if (!err)
		err = dlcbf_init(t, g, zeroed(dlcbf_words_bytes(g)),
				 zeroed(dlcbf_stripes_bytes(nstripes)), nstripes);
	if (err) {
		fprintf(stderr, "%s: %s\n", test_geometry(g), strerror(-err));
		exit(EXIT_FAILURE);
	}
}

void test_filter_free(struct dlcbf *t)
{
	free(t->words);
	free(t->stripes);
}

const char *test_geometry(const struct dlcbf_geometry *g)
{
	static char text[64];

	snprintf(text, sizeof(text), "%u x %u x %u of %d+%u bits",
		 g->subtables, g->buckets, g->bucket_cells,
		 g->cell_bits - g->counter_bits, g->counter_bits);
	return text;
}
