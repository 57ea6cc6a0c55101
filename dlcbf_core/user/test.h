/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The harness of the tests, in TAP: small enough that the same programs also
 * build for other machines, for which there are no test libraries here.
 */
#ifndef DLCBF_TEST_H
#define DLCBF_TEST_H

#include "../dlcbf.h"

/* A test says by failing checks that it failed; it may go on after them. */
struct test {
	const char *name;
	void (*run)(void);
};

int test_main(const struct test *tests, unsigned int n);

/* Print what went wrong, of each test only the first few. */
void test_fail(const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#define check_msg(cond, ...)						\
({									\
	const bool __ok = (cond);					\
									\
	if (!__ok)							\
		test_fail(__FILE__, __LINE__, __VA_ARGS__);		\
	__ok;								\
})

#define check(cond)	check_msg(cond, "%s", #cond)

#define check_eq(a, b)							\
({									\
	const long long __l = (a), __r = (b);				\
									\
	check_msg(__l == __r, "%s is %lld, not %s, %lld", #a, __l, #b, __r); \
})

/* splitmix64: the n-th number of a stream is a function of seed and n */
struct rng {
	u64 state;
};

static inline u64 rng_next(struct rng *r)
{
	u64 z = r->state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static inline u32 rng_below(struct rng *r, u32 n)
{
	return ((rng_next(r) >> 32) * n) >> 32;
}

/* a filter with its memory */
void test_filter_init(struct dlcbf *t, const struct dlcbf_geometry *g,
		      u32 nstripes);
void test_filter_free(struct dlcbf *t);

/* "4 x 37 x 8 of 14+2 bits", in a buffer that the next call overwrites */
const char *test_geometry(const struct dlcbf_geometry *g);

#endif /* DLCBF_TEST_H */
