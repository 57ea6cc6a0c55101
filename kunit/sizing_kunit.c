// SPDX-License-Identifier: GPL-2.0
/*
 * Sizing in the kernel, with the kernel's own arithmetic, against figures that
 * were published or come from the formulas.  dlcbf_core/user has the C library
 * to compare with, and tests it at greater length.
 */
#include <kunit/test.h>
#include <linux/module.h>

#include "../dlcbf_core/dlcbf.c"
#include "../dlcbf_core/sizing.c"

#define HALF	(DLCBF_FPR_UNIT / 2)

/* |have - want| <= want * ppm / 10^6 */
static void expect_near(struct kunit *test, u64 have, u64 want, u32 ppm)
{
	const u64 slack = div_u64(want, 1000000) * ppm + 4;

	KUNIT_EXPECT_GE(test, have + slack, want);
	KUNIT_EXPECT_LE(test, have, want + slack);
}

/* 1 - (1 - 1/F)^n, computed with 30 digits */
static const struct fpr_case {
	const char *desc;
	struct dlcbf_geometry g;
	u64 n;
	u64 want;
} fpr_cases[] = {
	{ "the paper's: 14 bits", { 2048, 4, 8, 16, 2 }, 49152,
	  1463860693410906ULL },
	{ "11 bits", { 2048, 4, 8, 16, 5 }, 49152,
	  11656012396819654ULL },
	{ "29 bits", { 2048, 4, 8, 32, 3 }, 49152,
	  44703482666ULL },
	{ "a million, 31 bits", { 41667, 4, 8, 32, 1 }, 1000000,
	  11175781432ULL },
	{ "empty", { 2048, 4, 8, 16, 2 }, 0,
	  0ULL },
	{ "one of 255", { 1, 1, 8, 16, 8 }, 1,
	  3921568627450980ULL },
	{ "255 of 255", { 1, 1, 8, 16, 8 }, 255,
	  632843072029771819ULL },
	{ "sixteen times that", { 1, 1, 8, 16, 8 }, 4080,
	  999999890949505615ULL },
	{ "twenty times that", { 1, 1, 8, 16, 8 }, 5100,
	  999999998018315336ULL },
	{ "the largest", { 1 << 28, 1, 8, 32, 1 }, 1ULL << 31,
	  3725290293ULL },
};

static void fpr_desc(const struct fpr_case *c, char *desc)
{
	strscpy(desc, c->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(fpr, fpr_cases, fpr_desc);

static void test_fpr(struct kunit *test)
{
	const struct fpr_case *c = test->param_value;

	expect_near(test, dlcbf_fpr(&c->g, c->n), c->want, 1);
}

/* Load distributions of d-left hashing under insertions and deletions */

static const struct dlcbf_geometry paper = { 2048, 4, 8, 16, 2 };

static void test_loads(struct kunit *test)
{
	/* ESA 2006, in 10^-9, to four digits */
	static const u32 published[] = {
		[5] = 950500000, [6] = 766900000, [7] = 289400000, [8] = 2300000,
	};
	u32 have[DLCBF_MAX_BUCKET_CELLS + 1];
	unsigned int k;
	u64 sum = 0;

	KUNIT_ASSERT_EQ(test, dlcbf_predict_loads(&paper, 49152, have), 0);
	for (k = 5; k <= 8; k++) {
		KUNIT_EXPECT_LE(test, have[k], published[k] + 50000);
		KUNIT_EXPECT_GE(test, have[k], published[k] - 50000);
	}
	KUNIT_EXPECT_EQ(test, have[0], 1000000000);
	KUNIT_EXPECT_EQ(test, have[9], 0);

	/* Six in each on average */
	for (k = 1; k <= 8; k++)
		sum += have[k];
	expect_near(test, sum, 6000000000ULL, 1);

	KUNIT_EXPECT_EQ(test, dlcbf_predict_loads(&paper, 0, have), 0);
	KUNIT_EXPECT_EQ(test, have[1], 0);
	KUNIT_EXPECT_EQ(test, dlcbf_predict_loads(&paper, 65536, have), 0);
	KUNIT_EXPECT_EQ(test, have[8], 1000000000);
	KUNIT_EXPECT_EQ(test, dlcbf_predict_loads(&paper, 65537, have),
			-EINVAL);
}

/* log10 of the overflow of one bucket, in thousandths */
static const struct overflow_case {
	const char *desc;
	u8 d;
	u8 cells;
	u32 load_percent;
	s32 want;
} overflow_cases[] = {
	{ "4 x 8 at 75 %, published 1.681e-27", 4, 8, 75, -26774 },
	{ "4 x 8 at 80 %, 1.8e-10", 4, 8, 80, -9754 },
	{ "2 x 16 at 75 %, 3.9e-11", 2, 16, 75, -10414 },
	{ "3 x 16 at 85 %, 1.1e-12", 3, 16, 85, -11968 },
	{ "2 x 32 at 85 %, 9.4e-19", 2, 32, 85, -18027 },
	{ "4 x 16 at 90 %, 2.2e-9", 4, 16, 90, -8666 },
};

static void overflow_desc(const struct overflow_case *c, char *desc)
{
	strscpy(desc, c->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(overflow, overflow_cases, overflow_desc);

static void test_overflow(struct kunit *test)
{
	const struct overflow_case *c = test->param_value;
	/* 10^6 buckets in all, or nearly: 6 more in the logarithm */
	const struct dlcbf_geometry g = {
		1000000 / c->d, c->d, c->cells, 16, 2,
	};
	const u64 cells = g.buckets * g.subtables * g.bucket_cells;
	const u32 elements = div_u64(cells * c->load_percent, 100);
	s32 have = 0;

	KUNIT_ASSERT_EQ(test, dlcbf_predict_overflow(&g, elements, &have), 0);
	KUNIT_EXPECT_GE(test, have, c->want + 6000 - 10);
	KUNIT_EXPECT_LE(test, have, c->want + 6000 + 10);
}

/* Requests */

static const struct request_case {
	const char *desc;
	struct dlcbf_sizing_request req;
	int err;
	struct dlcbf_geometry g;
} request_cases[] = {
	{ "the paper's", { 49152, 1464000000000000ULL }, 0,
	  { 2048, 4, 8, 16, 2 } },
	{ "one in a thousand", { 49152, 1000000000000000ULL }, 0,
	  { 2048, 4, 8, 16, 1 } },
	{ "one in a million", { 49152, 1000000000000ULL }, 0,
	  { 2048, 4, 8, 32, 3 } },
	{ "one element", { 1, HALF }, 0, { 8, 4, 8, 16, 2 } },
	{ "full to the last cell", { 512, HALF, 16, 4, 8, 16, 2 }, 0,
	  { 16, 4, 8, 16, 2 } },
	{ "no elements", { 0, HALF }, -EINVAL },
	{ "no false positives", { 1, 0 }, -EINVAL },
	{ "nothing else", { 1, DLCBF_FPR_UNIT }, -EINVAL },
	{ "nine subtables", { 1, HALF, .subtables = 9 }, -EINVAL },
	{ "12 cells", { 1, HALF, .bucket_cells = 12 }, -EINVAL },
	{ "24 bits", { 1, HALF, .cell_bits = 24 }, -EINVAL },
	{ "9 bits of counter", { 1, HALF, .counter_bits = 9 }, -EINVAL },
	{ "2^37 cells", { 1, HALF, .buckets = ~0U }, -E2BIG },
	{ "2^40 elements", { 1ULL << 40, HALF }, -E2BIG },
	{ "one too many", { 513, HALF, 16, 4, 8, 16, 2 }, -E2BIG },
	{ "a rate beyond reach", { 1000000, 1 }, -ERANGE },
	{ "a rate beyond 16 bits", { 512, 1000, 16, 4, 8, 16, 2 }, -ERANGE },
};

static void request_desc(const struct request_case *c, char *desc)
{
	strscpy(desc, c->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(request, request_cases, request_desc);

static void test_request(struct kunit *test)
{
	const struct request_case *c = test->param_value;
	struct dlcbf_sizing s;

	KUNIT_ASSERT_EQ(test, dlcbf_size(&c->req, &s), c->err);
	if (c->err) {
		KUNIT_EXPECT_NOT_NULL(test, s.reason);
		KUNIT_EXPECT_EQ(test, s.bytes, 0);
		return;
	}
	KUNIT_EXPECT_TRUE(test, !s.reason);
	KUNIT_EXPECT_EQ(test, memcmp(&s.geometry, &c->g, sizeof(c->g)), 0);
	KUNIT_EXPECT_LE(test, s.fpr, c->req.fpr);
	KUNIT_EXPECT_EQ(test, s.bytes, dlcbf_words_bytes(&c->g));
}

/* What is said to be possible is, and no more. */
static void test_possible(struct kunit *test)
{
	struct dlcbf_sizing_request req = { 1000000, 1000 };
	struct dlcbf_sizing s, other;

	KUNIT_ASSERT_EQ(test, dlcbf_size(&req, &s), -ERANGE);
	KUNIT_ASSERT_GT(test, s.possible_fpr, 1000);
	KUNIT_ASSERT_GT(test, s.possible_elements, 0);

	req.fpr = s.possible_fpr;
	KUNIT_EXPECT_EQ(test, dlcbf_size(&req, &other), 0);
	req.fpr--;
	KUNIT_EXPECT_EQ(test, dlcbf_size(&req, &other), -ERANGE);
	req.fpr = 1000;
	req.max_elements = s.possible_elements;
	KUNIT_EXPECT_EQ(test, dlcbf_size(&req, &other), 0);
	req.max_elements++;
	KUNIT_EXPECT_EQ(test, dlcbf_size(&req, &other), -ERANGE);
}

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(test_fpr, fpr_gen_params),
	KUNIT_CASE(test_loads),
	KUNIT_CASE_PARAM(test_overflow, overflow_gen_params),
	KUNIT_CASE_PARAM(test_request, request_gen_params),
	KUNIT_CASE(test_possible),
	{}
};

static struct kunit_suite suite = {
	.name = "nf_dlcbf_sizing",
	.test_cases = cases,
};

kunit_test_suite(suite);

MODULE_DESCRIPTION("KUnit tests of the sizing of filters");
MODULE_LICENSE("GPL");
