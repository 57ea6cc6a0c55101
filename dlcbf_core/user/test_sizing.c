// SPDX-License-Identifier: GPL-2.0
/*
 * Sizing beside the C library's floating point, and beside another solver of
 * the load distribution.  Includes the source, to reach what is static there.
 */
#include <math.h>

#include "fluid.h"
#include "test.h"
#include "../sizing.c"

#define PPM	.000001

static const u8 bucket_sizes[] = { 8, 16, 32 };

static double rate(const struct dlcbf_geometry *g, double n)
{
	const double f = g->buckets *
			 (exp2(g->cell_bits - g->counter_bits) - 1);

	return -expm1(n * log1p(-1 / f));
}

/* The arithmetic */

/*
 * Where there are no numbers of 128 bits, a long double has 64 bits of mantissa
 * and tells what comes near.
 */
#ifdef __SIZEOF_INT128__
#define wide(x)	((__uint128_t)(x))
#else
#define wide(x)	((long double)(x))
#endif

static bool fits_u64(u64 a, u64 b, u64 c)
{
	return wide(a) * b / c < wide(1ULL << 32) * (1ULL << 31) * 2;
}

static bool is_mul_div(u64 a, u64 b, u64 c, u64 q)
{
#ifdef __SIZEOF_INT128__
	return wide(a) * b / c == q;
#else
	return fabsl(wide(a) * b / c - q) <= 1 + wide(q) / (1ULL << 62);
#endif
}

static void test_mul_div(void)
{
	static const struct {
		u64 a, b, c, want;
	} cases[] = {
		{ 0, 5, 7, 0 },
		{ 6, 7, 8, 5 },
		{ U64_MAX, 1, U64_MAX, 1 },
		{ U64_MAX, U64_MAX, U64_MAX, U64_MAX },
		{ U64_MAX, U64_MAX - 1, U64_MAX, U64_MAX - 1 },
		{ 1ULL << 63, 1ULL << 63, 1ULL << 63, 1ULL << 63 },
		{ (1ULL << 63) + 1, 3, 1ULL << 63, 3 },
		{ DLCBF_FPR_UNIT, DLCBF_FPR_UNIT, DLCBF_FPR_UNIT, DLCBF_FPR_UNIT },
		{ 1ULL << 31, DLCBF_FPR_UNIT, (1ULL << 59) - 3, 3725290298ULL },
	};
	struct rng rng = { 10 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		check_eq(mul_div(cases[i].a, cases[i].b, cases[i].c),
			 cases[i].want);
	for (i = 0; i < 200000; i++) {
		const u64 a = rng_next(&rng) >> rng_below(&rng, 64);
		const u64 b = rng_next(&rng) >> rng_below(&rng, 64);
		const u64 c = (rng_next(&rng) >> rng_below(&rng, 64)) + 1 ?: 1;

		check(!fits_u64(a, b, c) || is_mul_div(a, b, c, mul_div(a, b, c)));
	}
}

static long double value(struct real a)
{
	return ldexpl(a.m, a.e);
}

static void test_real(void)
{
	struct rng rng = { 11 };
	unsigned int i;

	for (i = 0; i < 200000; i++) {
		const struct real a = real(rng_next(&rng) >> rng_below(&rng, 63),
					   (s32)rng_below(&rng, 200) - 100);
		const struct real b = real((rng_next(&rng) >>
					    rng_below(&rng, 63)) | 1,
					   (s32)rng_below(&rng, 200) - 100);
		const long double near = 1.1L / (1U << 31);
		long double want = value(a) * value(b);

		check(fabsl(value(real_mul(a, b)) - want) <= near * want);
		want = value(a) / value(b);
		check(fabsl(value(real_div(a, b)) - want) <= near * want);
		want = value(a) + value(b);
		check(fabsl(value(real_add(a, b)) - want) <= near * want);
		check(fabsl(value(real_add(b, a)) - want) <= near * want);
		check(real_near(b, b));
		check(!real_near(b, real_add(b, b)));
		want = floorl(1000 * log10l(value(b)));
		check(fabsl(real_mlog10(b) - want) <= 1);
	}
	check_eq(real_add(real(0, 0), real(0, 0)).m, 0);
	check_eq(real_scaled(real(1, 0), 1000000000), 1000000000);
	check_eq(real_scaled(real(1, -1), 1000000000), 500000000);
	check_eq(real_scaled(real(1, -200), 1000000000), 0);
	check_eq(real_mlog10(real(0, 0)), DLCBF_OVERFLOW_NEVER);
	check_eq(real_mul(real(1, -9000), real(1, -9000)).m, 0);
}

/* The false positive rate */

static void test_fpr(void)
{
	struct rng rng = { 12 };
	unsigned int i;

	for (i = 0; i < 100000; i++) {
		const struct dlcbf_geometry g = {
			.buckets = 1 + rng_below(&rng, 1U << rng_below(&rng, 29)),
			.subtables = 1,
			.bucket_cells = 8,
			.cell_bits = i % 2 ? 16 : 32,
			.counter_bits = 1 + rng_below(&rng, 8),
		};
		const u64 n = rng_next(&rng) >> (33 + rng_below(&rng, 31));
		const double want = rate(&g, n) * 1e18;
		const double have = dlcbf_fpr(&g, n);

		check_msg(fabs(have - want) <= PPM * want + 4,
			  "%s, %llu: %.0f, not %.0f", test_geometry(&g), n,
			  have, want);
	}
}

static void test_fpr_paper(void)
{
	static const struct {
		struct dlcbf_geometry g;
		u64 n;
		double want;
		const char *what;
	} cases[] = {
		{ { 2048, 4, 8, 16, 2 }, 49152, 0.0014638, "14 bits" },
		{ { 2048, 4, 8, 16, 5 }, 49152, 0.011656, "11 bits" },
		{ { 2048, 4, 8, 32, 3 }, 49152, 0.0000000447, "29 bits" },
		{ { 2048, 4, 8, 16, 2 }, 0, 0, "empty" },
		{ { 1, 1, 8, 16, 8 }, 1, 1 / 255., "one in 255" },
		{ { 1, 1, 8, 16, 8 }, 1ULL << 40, 1, "more than full" },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		check_msg(fabs(dlcbf_fpr(&cases[i].g, cases[i].n) / 1e18 -
			       cases[i].want) <= 100 * PPM * cases[i].want,
			  "%s", cases[i].what);
}

/* The load distribution */

static const struct {
	u8 d;
	u8 cells;
	double load;
} shapes[] = {
	{ 1, 8, .1 }, { 1, 32, .5 }, { 2, 8, .45 }, { 2, 16, .7 },
	{ 2, 32, .84 }, { 3, 8, .67 }, { 3, 16, .82 }, { 4, 8, .02 },
	{ 4, 8, .5 }, { 4, 8, .75 }, { 4, 8, .78 }, { 4, 8, .85 },
	{ 4, 16, .86 }, { 4, 32, .3 }, { 5, 8, .8 }, { 6, 16, .9 },
	{ 8, 8, .86 }, { 8, 16, .92 },
};

static void test_overflow(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		const struct dlcbf_geometry g = { 100000, shapes[i].d,
						  shapes[i].cells, 16, 2 };
		const u32 n = 100000 * shapes[i].load * g.subtables *
			      g.bucket_cells;
		struct fluid fluid;
		double want;
		s32 have;

		fluid_fill(&fluid, g.subtables, g.bucket_cells + 2, n / 1e5L);
		fluid_churn(&fluid, 15);
		want = log10l(1e5L * fluid_sum(&fluid, g.bucket_cells + 1));
		check_eq(dlcbf_predict_overflow(&g, n, &have), 0);
		check_msg(want < -1000 ? have == DLCBF_OVERFLOW_NEVER :
			  fabs(have / 1000. - want) < .005,
			  "%s, %g: 10^%g, not 10^%g", test_geometry(&g),
			  shapes[i].load, have / 1000., want);
	}
}

static void test_overflow_paper(void)
{
	/* The published 1.681 * 10^-27, of 8192 buckets */
	const struct dlcbf_geometry g = { 2048, 4, 8, 16, 2 };
	s32 have;

	check_eq(dlcbf_predict_overflow(&g, 49152, &have), 0);
	check(fabs(have / 1000. - (log10(1.681 * 8192) - 27)) < .002);
	check_eq(dlcbf_predict_overflow(&g, 0, &have), 0);
	check_eq(have, DLCBF_OVERFLOW_NEVER);
	check_eq(dlcbf_predict_overflow(&g, 1, &have), 0);
	check_eq(have, DLCBF_OVERFLOW_NEVER);
}

static void compare_loads(const struct dlcbf_geometry *g, u32 used)
{
	u32 have[DLCBF_MAX_BUCKET_CELLS + 1];
	struct fluid fluid;
	unsigned int k;

	fluid_fill(&fluid, g->subtables, g->bucket_cells,
		   (long double)used / g->buckets);
	fluid_churn(&fluid, 20);
	check_eq(dlcbf_predict_loads(g, used, have), 0);
	for (k = 0; k <= g->bucket_cells; k++)
		check_msg(fabsl(have[k] / 1e9L - fluid_mean(&fluid, k)) < PPM,
			  "%s, %u used, %u: %.7f, not %.7Lf", test_geometry(g),
			  used, k, have[k] / 1e9, fluid_mean(&fluid, k));
	for (; k <= DLCBF_MAX_BUCKET_CELLS; k++)
		check_eq(have[k], 0);
}

static void test_loads(void)
{
	unsigned int i, k;

	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		const struct dlcbf_geometry g = { 12345, shapes[i].d,
						  shapes[i].cells, 16, 2 };
		const u32 cells = 12345 * g.subtables * g.bucket_cells;
		u32 have[DLCBF_MAX_BUCKET_CELLS + 1];

		compare_loads(&g, cells * shapes[i].load);
		if (i % 3 == 0)
			compare_loads(&g, cells * .95);

		check_eq(dlcbf_predict_loads(&g, 0, have), 0);
		check_eq(have[0], 1000000000);
		check_eq(have[1], 0);
		check_eq(dlcbf_predict_loads(&g, cells, have), 0);
		for (k = 0; k <= DLCBF_MAX_BUCKET_CELLS; k++)
			check_eq(have[k], k <= g.bucket_cells ? 1000000000 : 0);
		check_eq(dlcbf_predict_loads(&g, cells + 1, have), -EINVAL);
	}
}

/*
 * The table of loads, computed again: with 2 % more, 2^28 buckets overflow less
 * than 10^-9 times, and with the table's next step more often.
 */
/* in 10^-9 */
static double beyond(unsigned int d, unsigned int cells, double load)
{
	struct fluid fluid;

	fluid_fill(&fluid, d, cells + 1, 1.02 * load * d * cells);
	fluid_churn(&fluid, 10);
	return fluid_mean(&fluid, cells + 1) * (1 << 28) * 1000000000;
}

static void test_design_loads(void)
{
	unsigned int d, c;

	for (d = 1; d <= DLCBF_MAX_SUBTABLES; d++) {
		for (c = 0; c < 3; c++) {
			const u16 load = design_load[d - 1][c];
			const u16 step = load >= 1000 ? 100 :
					 load >= 100 ? 10 : 1;

			check_msg(beyond(d, bucket_sizes[c], load / 1e4) < 1,
				  "%u x %u is too full", d, bucket_sizes[c]);
			check_msg(beyond(d, bucket_sizes[c],
					 (load + step) / 1e4) > 1,
				  "%u x %u could be fuller", d, bucket_sizes[c]);
		}
	}
}

/* The choice */

static void check_choice(const struct dlcbf_sizing_request *req,
			 const struct dlcbf_sizing *s)
{
	const struct dlcbf_geometry *g = &s->geometry;
	struct dlcbf_geometry fewer = *g;
	const u64 cells = (u64)g->buckets * g->subtables * g->bucket_cells;
	const u64 n = req->max_elements;

	check_eq(dlcbf_geometry_check(g), 0);
	check(!s->reason && !s->possible_fpr && !s->possible_elements);
	check_eq(s->bytes, cells * g->cell_bits / 8);
	check(s->fpr <= req->fpr);
	check(rate(g, n) * 1e18 <= req->fpr * (1 + PPM) + 4);
	check_eq(s->load_ppm, n * 1000000 / cells);

	check(!req->buckets || g->buckets == req->buckets);
	check(!req->subtables || g->subtables == req->subtables);
	check(!req->bucket_cells || g->bucket_cells == req->bucket_cells);
	check(!req->cell_bits || g->cell_bits == req->cell_bits);
	check(!req->counter_bits || g->counter_bits == req->counter_bits);
	if (req->buckets)
		return;

	/* Overflow is out of the question, and no bucket is to spare. */
	check_msg(s->overflow_mlog10 < -9000, "%s for %llu: 10^%g",
		  test_geometry(g), n, s->overflow_mlog10 / 1000.);
	if (--fewer.buckets >= MIN_BUCKETS) {
		const double load = design_load[g->subtables - 1]
					[ilog2(g->bucket_cells) - 3] / 1e4;
		const double room = load * fewer.buckets * g->subtables *
				    g->bucket_cells;

		check(room < n + 1 ||
		      rate(&fewer, n) * 1e18 >= req->fpr * (1 - PPM) - 4);
	}
}

static void test_random_requests(void)
{
	struct rng rng = { 13 };
	unsigned int i, good = 0, ranges = 0, bigs = 0;

	for (i = 0; i < 3000; i++) {
		struct dlcbf_sizing_request req = {
			.max_elements = 1 + (rng_next(&rng) >>
					     (31 + rng_below(&rng, 33))),
			.fpr = 1 + DLCBF_FPR_UNIT * exp2(-1. -
						rng_below(&rng, 500) / 10.),
		};
		struct dlcbf_sizing s;
		int err;

		/* The larger shapes take long to settle. */
		if (i % 2)
			req.subtables = 1 + rng_below(&rng, 4);
		if (i % 3 == 1)
			req.bucket_cells = bucket_sizes[rng_below(&rng, 2)];
		if (i % 5 == 1)
			req.cell_bits = i % 2 ? 16 : 32;
		if (i % 7 == 1)
			req.counter_bits = 1 + rng_below(&rng, 8);
		if (i % 11 == 1)
			req.buckets = 1 + rng_below(&rng, 1 << 20);

		err = dlcbf_size(&req, &s);
		switch (err) {
		case 0:
			good++;
			check_choice(&req, &s);
			continue;
		case -ERANGE:
			ranges++;
			check(s.possible_fpr > req.fpr);
			check(s.possible_elements < req.max_elements);
			break;
		case -E2BIG:
			bigs++;
			check(s.possible_elements < req.max_elements);
			break;
		default:
			check_msg(false, "error %d", err);
		}
		check(s.reason && *s.reason);
		check_eq(s.bytes, 0);

		/* What it says is possible is so, and not a bit more. */
		if (s.possible_fpr) {
			struct dlcbf_sizing_request other = req;

			other.fpr = s.possible_fpr;
			check_eq(dlcbf_size(&other, &s), 0);
			check_choice(&other, &s);
			other.fpr--;
			if (other.fpr)
				check_eq(dlcbf_size(&other, &s), -ERANGE);
		}
		dlcbf_size(&req, &s);
		if (s.possible_elements) {
			struct dlcbf_sizing_request other = req;

			other.max_elements = s.possible_elements;
			check_eq(dlcbf_size(&other, &s), 0);
			check_choice(&other, &s);
			other.max_elements++;
			check(dlcbf_size(&other, &s) < 0);
		}
	}
	check(good > 1000 && ranges > 100 && bigs > 100);
}

static void test_known_requests(void)
{
	static const struct {
		struct dlcbf_sizing_request req;
		struct dlcbf_geometry g;
		const char *what;
	} cases[] = {
		{ { 49152, 1464000000000000ULL }, { 2048, 4, 8, 16, 2 },
		  "the paper's" },
		{ { 49152, 1000000000000000ULL }, { 2048, 4, 8, 16, 1 },
		  "a bit of the counter for a smaller rate" },
		{ { 49152, 1000000000000ULL }, { 2048, 4, 8, 32, 3 },
		  "one in a million" },
		{ { 49152, 20000000000ULL }, { 2048, 4, 8, 32, 1 },
		  "two in a hundred million" },
		{ { 49152, 10000000000ULL }, { 2289, 4, 8, 32, 1 },
		  "one in a hundred million: no more bits, so more buckets" },
		{ { 1, DLCBF_FPR_UNIT / 2 }, { 8, 4, 8, 16, 2 }, "one" },
		{ { 28672, DLCBF_FPR_UNIT / 2, .bucket_cells = 32 },
		  { 540, 2, 32, 16, 2 }, "buckets of 32 cells" },
		{ { 30000, DLCBF_FPR_UNIT / 2, .subtables = 3 },
		  { 763, 3, 16, 16, 2 }, "three subtables" },
		{ { 512, DLCBF_FPR_UNIT / 2, 16, 4, 8, 16, 2 },
		  { 16, 4, 8, 16, 2 }, "full to the last cell, as demanded" },
	};
	struct dlcbf_sizing s;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		check_eq(dlcbf_size(&cases[i].req, &s), 0);
		check_choice(&cases[i].req, &s);
		check_msg(!memcmp(&s.geometry, &cases[i].g, sizeof(s.geometry)),
			  "%s: %s", cases[i].what, test_geometry(&s.geometry));
	}
}

static void test_refusals(void)
{
	static const u64 half = DLCBF_FPR_UNIT / 2;
	static const struct {
		struct dlcbf_sizing_request req;
		int err;
		const char *what;
	} cases[] = {
		{ { 0, 1000 }, -EINVAL, "no elements" },
		{ { 1, 0 }, -EINVAL, "no false positives" },
		{ { 1, DLCBF_FPR_UNIT }, -EINVAL, "nothing but them" },
		{ { 1, U64_MAX }, -EINVAL, "more than that" },
		{ { 1, half, .subtables = 9 }, -EINVAL, "nine subtables" },
		{ { 1, half, .bucket_cells = 12 }, -EINVAL, "12 cells" },
		{ { 1, half, .cell_bits = 24 }, -EINVAL, "24 bits" },
		{ { 1, half, .counter_bits = 9 }, -EINVAL, "9 bits" },
		{ { 1, half, .buckets = ~0U }, -E2BIG, "2^37 cells" },
		{ { 1ULL << 40, half }, -E2BIG, "2^40 elements" },
		{ { U64_MAX, 1 }, -E2BIG, "2^64 elements, and exactly" },
		{ { 1000000, 1 }, -ERANGE, "a million, and exactly" },
		{ { 513, half, 16, 4, 8, 16, 2 }, -E2BIG, "one too many" },
		{ { 512, 1000, 16, 4, 8, 16, 2 }, -ERANGE, "16 bits for 10^-15" },
	};
	struct dlcbf_sizing s;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		check_msg(dlcbf_size(&cases[i].req, &s) == cases[i].err, "%s",
			  cases[i].what);
		check(s.reason && *s.reason);
		check_eq(s.bytes, 0);
	}
}

static void test_no_memory(void)
{
	const struct dlcbf_sizing_request req = { 1000, DLCBF_FPR_UNIT / 10 };
	const struct dlcbf_geometry g = { 100, 4, 8, 16, 2 };
	u32 loads[DLCBF_MAX_BUCKET_CELLS + 1];
	struct dlcbf_sizing s;
	s32 mlog10;

	dlcbf_shim_alloc_fail_at = 1;
	check_eq(dlcbf_size(&req, &s), -ENOMEM);
	dlcbf_shim_alloc_fail_at = 1;
	check_eq(dlcbf_predict_overflow(&g, 100, &mlog10), -ENOMEM);
	dlcbf_shim_alloc_fail_at = 1;
	check_eq(dlcbf_predict_loads(&g, 100, loads), -ENOMEM);
	check_eq(dlcbf_shim_alloc_fail_at, 0);
}

static const struct test tests[] = {
	{ "products of 128 bits", test_mul_div },
	{ "floating numbers", test_real },
	{ "false positive rate", test_fpr },
	{ "false positive rate, published and extreme", test_fpr_paper },
	{ "overflow", test_overflow },
	{ "overflow, published and extreme", test_overflow_paper },
	{ "load distribution", test_loads },
	{ "loads that filters are planned for", test_design_loads },
	{ "known requests", test_known_requests },
	{ "random requests", test_random_requests },
	{ "refusals", test_refusals },
	{ "no memory", test_no_memory },
};

int main(void)
{
	return test_main(tests, ARRAY_SIZE(tests));
}
