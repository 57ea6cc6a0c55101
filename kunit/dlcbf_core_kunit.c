// SPDX-License-Identifier: GPL-2.0
/*
 * The filter in the kernel: that it compiles to the same there, with the
 * kernel's own locks and atomics.  dlcbf_core/user tests it at greater length.
 */
#include <kunit/test.h>
#include <linux/module.h>

#include "../dlcbf_core/dlcbf.c"
#include "dlcbf_vectors.h"

#define STRIPES	4

/* splitmix64: the same numbers each time */
static u64 next_random(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static u32 random_below(u64 *state, u32 n)
{
	return reciprocal_scale(next_random(state) >> 32, n);
}

static struct dlcbf *make_filter(struct kunit *test,
				 const struct dlcbf_geometry *g)
{
	struct dlcbf *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	struct dlcbf_stripe *stripes;
	unsigned long *words;

	KUNIT_ASSERT_NOT_NULL(test, t);
	KUNIT_ASSERT_EQ(test, dlcbf_geometry_check(g), 0);
	words = kunit_kzalloc(test, dlcbf_words_bytes(g), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, words);
	stripes = kunit_kzalloc(test, dlcbf_stripes_bytes(STRIPES), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, stripes);
	KUNIT_ASSERT_EQ(test, dlcbf_init(t, g, words, stripes, STRIPES), 0);
	return t;
}

/* Known answers */

static void vector_desc(const struct dlcbf_vector *v, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%016llx in %u buckets, %u bits",
		 v->hash, v->buckets, v->remainder_bits);
}

KUNIT_ARRAY_PARAM(vector, dlcbf_vectors, vector_desc);

static void test_vector(struct kunit *test)
{
	const struct dlcbf_vector *v = test->param_value;
	struct dlcbf_fingerprint f, back;
	struct dlcbf t = {
		.geometry.buckets = v->buckets,
		.max_remainder = (1U << v->remainder_bits) - 1,
	};
	unsigned int i;

	f = dlcbf_fingerprint(&t, v->hash);
	KUNIT_EXPECT_EQ(test, f.bucket, v->f.bucket);
	KUNIT_EXPECT_EQ(test, f.remainder, v->f.remainder);
	for (i = 0; i < DLCBF_MAX_SUBTABLES; i++) {
		KUNIT_EXPECT_EQ(test, dlcbf_bucket(v->buckets, f, i),
				v->bucket[i]);
		back = dlcbf_invert(v->buckets, v->bucket[i], f.remainder, i);
		KUNIT_EXPECT_EQ(test, back.bucket, f.bucket);
		KUNIT_EXPECT_EQ(test, back.remainder, f.remainder);
	}
}

/* Geometries */

static const struct geometry_case {
	const char *desc;
	struct dlcbf_geometry g;
	int err;
} geometry_cases[] = {
	{ "the paper's", { 2048, 4, 8, 16, 2 }, 0 },
	{ "the smallest", { 1, 1, 8, 16, 1 }, 0 },
	{ "no buckets", { 0, 4, 8, 16, 2 }, -EINVAL },
	{ "no subtables", { 1, 0, 8, 16, 2 }, -EINVAL },
	{ "nine subtables", { 1, 9, 8, 16, 2 }, -EINVAL },
	{ "seven cells", { 1, 4, 7, 16, 2 }, -EINVAL },
	{ "64 cells", { 1, 4, 64, 16, 2 }, -EINVAL },
	{ "cells of 24 bits", { 1, 4, 8, 24, 2 }, -EINVAL },
	{ "no counter", { 1, 4, 8, 16, 0 }, -EINVAL },
	{ "nine bits of counter", { 1, 4, 8, 16, 9 }, -EINVAL },
	{ "2^28 cells", { 1 << 22, 8, 8, 16, 2 }, 0 },
	{ "more than 2^31 cells", { (1 << 25) + 1, 8, 8, 16, 2 }, -E2BIG },
	{ "so many that 32 bits wrap", { ~0U, 8, 32, 32, 8 }, -E2BIG },
};

static void geometry_desc(const struct geometry_case *c, char *desc)
{
	strscpy(desc, c->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(geometry, geometry_cases, geometry_desc);

static void test_geometry(struct kunit *test)
{
	const struct geometry_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, dlcbf_geometry_check(&c->g), c->err);
}

static void test_init_refuses(struct kunit *test)
{
	static const struct dlcbf_geometry g = { 1, 1, 8, 16, 2 };
	struct dlcbf *t = make_filter(test, &g);

	KUNIT_EXPECT_EQ(test, dlcbf_init(t, &g, NULL, t->stripes, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, dlcbf_init(t, &g, t->words, NULL, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, dlcbf_init(t, &g, t->words, t->stripes, 0),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, dlcbf_init(t, &g, t->words, t->stripes, 3),
			-EINVAL);
}

/* Random operations beside an exact multiset of the fingerprints */

static const struct shape_case {
	const char *desc;
	struct dlcbf_geometry g;
} shape_cases[] = {
	{ "4 x 8 cells of 14+2 bits", { 7, 4, 8, 16, 2 } },
	{ "4 x 8 cells of 29+3 bits", { 7, 4, 8, 32, 3 } },
	{ "one bucket", { 1, 1, 8, 16, 1 } },
	{ "8 subtables", { 2, 8, 8, 16, 2 } },
	{ "buckets of 16 cells", { 5, 3, 16, 16, 1 } },
	{ "buckets of 32 cells", { 3, 2, 32, 32, 1 } },
	{ "counters of 8 bits", { 1, 2, 8, 16, 8 } },
};

static void shape_desc(const struct shape_case *c, char *desc)
{
	strscpy(desc, c->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(shape, shape_cases, shape_desc);

#define MAX_ELEMENTS	320

struct element {
	struct dlcbf_fingerprint f;
	u32 times;
};

static bool same(struct dlcbf_fingerprint a, struct dlcbf_fingerprint b)
{
	return a.bucket == b.bucket && a.remainder == b.remainder;
}

/* The walk returns what is in, each as often as it is. */
static void expect_walk(struct kunit *test, const struct dlcbf *t,
			const struct element *e, u32 n)
{
	u32 *times = kunit_kcalloc(test, n, sizeof(*times), GFP_KERNEL);
	u32 cell, counter, i, live = 0;
	struct dlcbf_fingerprint f;
	u64 total = 0;

	KUNIT_ASSERT_NOT_NULL(test, times);
	for (cell = 0; (cell = dlcbf_next_live(t, cell, t->cells)) !=
		       DLCBF_NO_CELL; cell++) {
		KUNIT_ASSERT_TRUE(test, dlcbf_cell_read(t, cell, &f, &counter));
		for (i = 0; i < n && !same(f, e[i].f); i++)
			;
		KUNIT_ASSERT_LT(test, i, n);
		times[i] += counter + 1;
		live++;
	}
	for (i = 0; i < n; i++) {
		KUNIT_EXPECT_EQ(test, times[i], e[i].times);
		total += times[i];
	}
	KUNIT_EXPECT_EQ(test, dlcbf_live_cells(t), live);
	KUNIT_EXPECT_EQ(test, dlcbf_used_cells(t), live);
	KUNIT_EXPECT_EQ(test, dlcbf_elements(t), total);
	kunit_kfree(test, times);
}

static void test_random_set(struct kunit *test)
{
	const struct shape_case *c = test->param_value;
	struct dlcbf *t = make_filter(test, &c->g);
	u64 state = c->g.buckets;
	struct element *e;
	u32 n = 0, i, op;

	e = kunit_kcalloc(test, MAX_ELEMENTS, sizeof(*e), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, e);
	while (n < min_t(u32, MAX_ELEMENTS, t->cells + t->cells / 4)) {
		const struct dlcbf_fingerprint f =
			dlcbf_fingerprint(t, next_random(&state));

		for (i = 0; i < n && !same(f, e[i].f); i++)
			;
		if (i == n)
			e[n++].f = f;
	}

	for (op = 0; op < 20000; op++) {
		struct element *x = &e[random_below(&state, n)];
		const u32 inserts = op / 2500 % 2 ? 30 : 70;
		int err;

		if (random_below(&state, 100) < inserts) {
			err = dlcbf_insert(t, x->f);
			if (err)
				KUNIT_ASSERT_EQ(test, err, -ENOSPC);
			else
				x->times++;
		} else {
			err = dlcbf_remove(t, x->f);
			KUNIT_ASSERT_EQ(test, err, x->times ? 0 : -ENOENT);
			if (!err)
				x->times--;
		}
		KUNIT_ASSERT_EQ(test, dlcbf_count(t, x->f), x->times);
		KUNIT_ASSERT_EQ(test, dlcbf_find(t, x->f) != DLCBF_NO_CELL,
				x->times > 0);
		if (op % 5000 == 0)
			expect_walk(test, t, e, n);
	}
	expect_walk(test, t, e, n);

	for (i = 0; i < n; i++)
		for (; e[i].times; e[i].times--)
			KUNIT_ASSERT_EQ(test, dlcbf_remove(t, e[i].f), 0);
	KUNIT_EXPECT_EQ(test, dlcbf_used_cells(t), 0);
	KUNIT_EXPECT_EQ(test, dlcbf_elements(t), 0);
}

/* Cells one by one: a filter of one bucket of eight */

static const struct dlcbf_geometry narrow = { 1, 1, 8, 16, 2 };

static struct dlcbf_fingerprint fp(u32 remainder)
{
	return (struct dlcbf_fingerprint){ 0, remainder };
}

static void test_full_bucket(struct kunit *test)
{
	struct dlcbf *t = make_filter(test, &narrow);
	u32 r;

	for (r = 1; r <= 8; r++)
		KUNIT_EXPECT_EQ(test, dlcbf_insert(t, fp(r)), 0);
	KUNIT_EXPECT_EQ(test, dlcbf_insert(t, fp(9)), -ENOSPC);
	KUNIT_EXPECT_EQ(test, dlcbf_insert_unique(t, fp(9)), -ENOSPC);
	KUNIT_EXPECT_EQ(test, dlcbf_claim(t, fp(9)), DLCBF_NO_CELL);
	KUNIT_EXPECT_EQ(test, dlcbf_find(t, fp(9)), DLCBF_NO_CELL);
	KUNIT_EXPECT_EQ(test, dlcbf_insert_unique(t, fp(8)), -EEXIST);
	KUNIT_EXPECT_EQ(test, dlcbf_insert(t, fp(8)), 0);
	KUNIT_EXPECT_EQ(test, dlcbf_count(t, fp(8)), 2);
	KUNIT_EXPECT_EQ(test, dlcbf_used_cells(t), 8);
}

static void test_many_copies(struct kunit *test)
{
	struct dlcbf *t = make_filter(test, &narrow);
	u32 n;

	KUNIT_EXPECT_EQ(test, dlcbf_insert(t, fp(99)), 0);
	for (n = 1; n <= 28; n++) {
		KUNIT_EXPECT_EQ(test, dlcbf_insert(t, fp(5)), 0);
		KUNIT_EXPECT_EQ(test, dlcbf_count(t, fp(5)), n);
		KUNIT_EXPECT_EQ(test, dlcbf_used_cells(t), 1 + (n + 3) / 4);
	}
	KUNIT_EXPECT_EQ(test, dlcbf_insert(t, fp(5)), -ENOSPC);
	for (; n > 1; n--)
		KUNIT_EXPECT_EQ(test, dlcbf_remove(t, fp(5)), 0);
	KUNIT_EXPECT_EQ(test, dlcbf_remove(t, fp(5)), -ENOENT);
	KUNIT_EXPECT_EQ(test, dlcbf_count(t, fp(99)), 1);
	KUNIT_EXPECT_EQ(test, dlcbf_used_cells(t), 1);
}

/* A record for each cell, and a key in it */
struct keyed {
	u32 key[8];
	u32 wanted;
};

static bool key_matches(const void *ctx, u32 cell)
{
	const struct keyed *k = ctx;

	return k->key[cell] == k->wanted;
}

static void test_life_of_a_cell(struct kunit *test)
{
	struct dlcbf *t = make_filter(test, &narrow);
	const struct dlcbf_fingerprint f = fp(7);
	struct dlcbf_fingerprint back;
	u32 a, b, r, counter = 0;
	struct keyed k = {};

	/* Held: taken, and whatever is looked for is not there. */
	dlcbf_lock(t, f);
	a = dlcbf_claim(t, f);
	KUNIT_ASSERT_NE(test, a, DLCBF_NO_CELL);
	for (r = 1; r <= t->max_remainder; r++)
		KUNIT_ASSERT_EQ(test, dlcbf_find(t, fp(r)), DLCBF_NO_CELL);
	KUNIT_EXPECT_FALSE(test, dlcbf_cell_read(t, a, &back, &counter));
	KUNIT_EXPECT_FALSE(test, dlcbf_withdraw(t, a, f, 0));
	KUNIT_EXPECT_EQ(test, dlcbf_used_cells(t), 1);
	KUNIT_EXPECT_EQ(test, dlcbf_live_cells(t), 0);

	k.key[a] = 100;
	dlcbf_publish(t, a, f, 3);
	b = dlcbf_claim(t, f);
	KUNIT_ASSERT_NE(test, b, DLCBF_NO_CELL);
	k.key[b] = 200;
	dlcbf_publish(t, b, f, 0);
	dlcbf_unlock(t, f);

	/* Two keys of one fingerprint, told apart by the predicate */
	KUNIT_EXPECT_EQ(test, dlcbf_find(t, f), a);
	k.wanted = 100;
	KUNIT_EXPECT_EQ(test, dlcbf_find_if(t, f, key_matches, &k), a);
	k.wanted = 200;
	KUNIT_EXPECT_EQ(test, dlcbf_find_if(t, f, key_matches, &k), b);
	k.wanted = 300;
	KUNIT_EXPECT_EQ(test, dlcbf_find_if(t, f, key_matches, &k),
			DLCBF_NO_CELL);

	KUNIT_EXPECT_TRUE(test, dlcbf_cell_read(t, a, &back, &counter));
	KUNIT_EXPECT_TRUE(test, same(back, f));
	KUNIT_EXPECT_EQ(test, counter, 3);
	KUNIT_EXPECT_FALSE(test, dlcbf_set_counter(t, a, f, 2, 1));
	KUNIT_EXPECT_TRUE(test, dlcbf_set_counter(t, a, f, 3, 1));

	/* Withdrawn by one of those who try */
	KUNIT_EXPECT_FALSE(test, dlcbf_withdraw(t, a, f, 3));
	KUNIT_EXPECT_FALSE(test, dlcbf_withdraw(t, a, fp(8), 1));
	KUNIT_EXPECT_TRUE(test, dlcbf_withdraw(t, a, f, 1));
	KUNIT_EXPECT_FALSE(test, dlcbf_withdraw(t, a, f, 1));
	KUNIT_EXPECT_EQ(test, dlcbf_find(t, f), b);
	KUNIT_EXPECT_EQ(test, dlcbf_used_cells(t), 2);
	KUNIT_EXPECT_EQ(test, dlcbf_live_cells(t), 1);

	dlcbf_release(t, a);
	KUNIT_EXPECT_EQ(test, dlcbf_used_cells(t), 1);
	KUNIT_EXPECT_EQ(test, dlcbf_claim(t, f), a);
}

static void test_candidates(struct kunit *test)
{
	struct dlcbf *t = make_filter(test, &narrow);
	unsigned int pos = 0;
	u32 cell, n = 0;

	for (cell = 0; cell < 5; cell++)
		KUNIT_EXPECT_EQ(test, dlcbf_insert(t, fp(cell + 1)), 0);
	KUNIT_EXPECT_EQ(test, dlcbf_claim(t, fp(50)), 5);
	KUNIT_EXPECT_EQ(test, dlcbf_remove(t, fp(3)), 0);

	/* Others' cells, not the held one, not the empty ones */
	while ((cell = dlcbf_next_candidate(t, fp(99), &pos)) != DLCBF_NO_CELL)
		n |= 1 << cell;
	KUNIT_EXPECT_EQ(test, n, 0x1b);
	KUNIT_EXPECT_EQ(test, dlcbf_next_live(t, 0, 8), 0);
	KUNIT_EXPECT_EQ(test, dlcbf_next_live(t, 2, 8), 3);
	KUNIT_EXPECT_EQ(test, dlcbf_next_live(t, 2, 3), DLCBF_NO_CELL);
	KUNIT_EXPECT_EQ(test, dlcbf_next_live(t, 5, 8), DLCBF_NO_CELL);
	KUNIT_EXPECT_EQ(test, dlcbf_next_live(t, 8, 8), DLCBF_NO_CELL);
}

/*
 * The table of ESA 2006: no overflow with 6 of 8 cells filled, 24 / 2^14 of
 * false positives, and loads that differ little.
 */
static void test_paper(struct kunit *test)
{
	static const struct dlcbf_geometry g = { 2048, 4, 8, 16, 2 };
	u64 hist[DLCBF_MAX_BUCKET_CELLS + 1] = {};
	struct dlcbf *t = make_filter(test, &g);
	u64 state = 1, first = state;
	struct dlcbf_fingerprint f;
	s64 hits = 0, want, over;
	u32 i, buckets = 0;

	for (i = 0; i < 49152; i++) {
		f = dlcbf_fingerprint(t, next_random(&state));
		KUNIT_ASSERT_EQ(test, dlcbf_insert(t, f), 0);
	}
	for (i = 0; i < 49152; i++) {
		f = dlcbf_fingerprint(t, next_random(&first));
		KUNIT_ASSERT_NE(test, dlcbf_find(t, f), DLCBF_NO_CELL);
	}

	/* within four standard errors, which are those of a count */
	for (i = 0; i < 1000000; i++) {
		f = dlcbf_fingerprint(t, next_random(&state));
		hits += dlcbf_find(t, f) != DLCBF_NO_CELL;
	}
	want = div_u64(1000000ULL * dlcbf_live_cells(t), 2048 * 16383);
	over = hits - want;
	KUNIT_EXPECT_LE(test, over * over, 16 * want);

	for (i = 0; i < 4; i++)
		dlcbf_histogram(t, i, 0, 2048, hist);
	for (i = 0; i <= DLCBF_MAX_BUCKET_CELLS; i++)
		buckets += hist[i];
	KUNIT_EXPECT_EQ(test, buckets, 8192);
	KUNIT_EXPECT_EQ(test, hist[8], 0);
	/* .874 and .126 of them, by the fluid limit */
	KUNIT_EXPECT_GT(test, hist[6], 8192 * 7 / 10);
	KUNIT_EXPECT_LT(test, hist[7], 8192 * 15 / 100);
}

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(test_vector, vector_gen_params),
	KUNIT_CASE_PARAM(test_geometry, geometry_gen_params),
	KUNIT_CASE(test_init_refuses),
	KUNIT_CASE_PARAM(test_random_set, shape_gen_params),
	KUNIT_CASE(test_full_bucket),
	KUNIT_CASE(test_many_copies),
	KUNIT_CASE(test_life_of_a_cell),
	KUNIT_CASE(test_candidates),
	KUNIT_CASE(test_paper),
	{}
};

static struct kunit_suite suite = {
	.name = "nf_dlcbf_core",
	.test_cases = cases,
};

kunit_test_suite(suite);

MODULE_DESCRIPTION("KUnit tests of the d-left counting Bloom filter");
MODULE_LICENSE("GPL");
