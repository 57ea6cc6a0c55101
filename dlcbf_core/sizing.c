// SPDX-License-Identifier: GPL-2.0
/*
 * Sizing: the false positive rate, the load distribution and the shape.
 *
 * All of it is computed when a table is made or looked at, in process context,
 * with integers only, so that every machine comes to the same answers.
 */
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/slab.h>

#include "sizing.h"

/*
 * False positive rate
 *
 * A key that is not in is reported when its fingerprint equals that of one of
 * the n that are, each being one of F = NB (2^R - 1):
 *
 *	P = 1 - (1 - 1/F)^n = 1 - exp(-x),  x = n (1/F + 1/2F^2 + 1/3F^3 + ...)
 */

/* a * b / c, not rounded; the caller knows that it fits. */
static u64 mul_div(u64 a, u64 b, u64 c)
{
	const u64 low = (u64)(u32)a * (u32)b;
	const u64 mid = (a >> 32) * (u32)b + (low >> 32);
	const u64 mid2 = (u64)(u32)a * (b >> 32) + (u32)mid;
	u64 high = (a >> 32) * (b >> 32) + (mid >> 32) + (mid2 >> 32);
	u64 rest = mid2 << 32 | (u32)low;
	unsigned int i;

	if (!high)
		return div64_u64(rest, c);

	/* Long division.  What is shifted out of @high counts as well. */
	for (i = 0; i < 64; i++) {
		const bool carry = high >> 63;

		high = high << 1 | rest >> 63;
		rest <<= 1;
		if (carry || high >= c) {
			high -= c;
			rest |= 1;
		}
	}
	return rest;
}

static u64 mul_unit(u64 a, u64 b)
{
	return mul_div(a, b, DLCBF_FPR_UNIT);
}

/* 1 - exp(-x), both in DLCBF_FPR_UNIT, for x less than 18 units */
static u64 one_minus_exp(u64 x)
{
	unsigned int halvings = 0;
	u64 term, sum, k;

	while (x > DLCBF_FPR_UNIT / 16) {
		x /= 2;
		halvings++;
	}

	/* x - x^2/2! + x^3/3! - ...; no digits are lost, since x is small */
	sum = x;
	term = x;
	for (k = 2; term; k++) {
		term = div_u64(mul_unit(term, x), k);
		sum += k % 2 ? term : -term;
	}

	/* 1 - exp(-2x) = q (2 - q) where q = 1 - exp(-x) */
	while (halvings--)
		sum = mul_unit(sum, 2 * DLCBF_FPR_UNIT - sum);
	return sum;
}

/**
 * dlcbf_fpr() - the false positive rate of a filter
 * @g:        geometry that passed dlcbf_geometry_check()
 * @elements: how many different elements are in it
 *
 * The rate depends on @g only by the number of fingerprints, and is exact to
 * 10^-6 of itself or to a few units, whichever is more.
 *
 * Context: Any.
 * Return: the probability that a key which is not in is reported, in
 * DLCBF_FPR_UNIT.
 */
u64 dlcbf_fpr(const struct dlcbf_geometry *g, u64 elements)
{
	const u64 remainders = (1ULL << (g->cell_bits - g->counter_bits)) - 1;
	const u64 fingerprints = g->buckets * remainders;
	u64 x, more;

	/* exp(-17) is 4 * 10^-8, which is nothing beside 1. */
	if (div64_u64(elements, fingerprints) >= 17)
		return DLCBF_FPR_UNIT;

	x = mul_div(elements, DLCBF_FPR_UNIT, fingerprints);
	more = div64_u64(x, fingerprints);
	x += more / 2 + div64_u64(more, fingerprints) / 3;
	return one_minus_exp(x);
}

/*
 * Load distribution
 *
 * Let s(i, k) be the part of subtable i's buckets that hold k elements or more,
 * and let a = n / NB elements come and go in each d-tuple of buckets.  In the
 * limit of many buckets (Mitzenmacher and Voecking, "The Asymptotics of
 * Selecting the Shortest of Two, Improved", 1999; with deletions as in ESA 2006)
 * the k-th place of a bucket in subtable i is filled at the rate
 *
 *	a  prod_{l<i} s(l, k)  prod_{l>i} s(l, k-1)
 *
 * for the element goes there if the buckets to the left are fuller than k - 1
 * and those to the right are no emptier; and each of k elements leaves at the
 * rate 1.  For fixed other subtables this is a birth and death process, whose
 * equilibrium is a product of the ratios of those rates.  Going round the
 * subtables until nothing changes finds the equilibrium of them all.  For
 * d = 4, C = 8, n = 6 * 4 NB it gives the published fractions, from .9505 for 5
 * or more to 1.681 * 10^-27 for 9 or more.
 *
 * The tails are far smaller than any fixed point has digits for, and nothing is
 * ever subtracted: so numbers are floating here, with 32 bits of mantissa.
 */
struct real {
	u32 m;		/* 2^31 to 2^32 - 1, or 0 */
	s32 e;		/* value = m * 2^e */
};

/*
 * The k-th place of d subtables is taken with a probability of the order of
 * exp(-d^k), which may be beyond any exponent: what is below this is 0.
 */
#define REAL_MIN_EXPONENT	-10000

static struct real real(u64 m, s32 e)
{
	const int excess = fls64(m) - 32;

	if (!m || e + excess < REAL_MIN_EXPONENT)
		return (struct real){ 0, 0 };
	return (struct real){ excess > 0 ? m >> excess : m << -excess,
			      e + excess };
}

static struct real real_mul(struct real a, struct real b)
{
	return real((u64)a.m * b.m, a.e + b.e);
}

static struct real real_div(struct real a, struct real b)
{
	return real(div_u64((u64)a.m << 32, b.m), a.e - b.e - 32);
}

static struct real real_add(struct real a, struct real b)
{
	if (!a.m || (b.m && b.e > a.e))
		swap(a, b);
	if (!b.m || a.e - b.e > 31)
		return a;
	return real(((u64)a.m << 31) + ((u64)b.m << (31 - (a.e - b.e))),
		    a.e - 31);
}

/*
 * Do they agree to 2^-25 of themselves?  Of what is less than 2^-32, which only
 * matters as a power of ten and magnifies every rounding, 2^-12 will do.
 */
static bool real_near(struct real a, struct real b)
{
	s64 diff, limit;

	if (a.e < b.e)
		swap(a, b);
	if (!a.m || !b.m || a.e - b.e > 1)
		return a.m == b.m;
	diff = ((s64)a.m << (a.e - b.e)) - b.m;
	limit = 1LL << (a.e + 32 < -32 ? 20 : 7);
	return diff < limit && diff > -limit;
}

/* a * scale, for a value that fits */
static u64 real_scaled(struct real a, u32 scale)
{
	const u64 m = (u64)a.m * scale;

	if (a.e >= 0)
		return m << a.e;
	return a.e > -64 ? m >> -a.e : 0;
}

/* 1000 * log10(a), rounded down, but DLCBF_OVERFLOW_NEVER at least */
static s32 real_mlog10(struct real a)
{
	s64 log2 = a.e + 31;
	unsigned int i;
	u64 m = a.m;

	if (!m)
		return DLCBF_OVERFLOW_NEVER;

	/* The digits of log2(m / 2^31) come out as m is squared. */
	for (i = 0; i < 20; i++) {
		m = (m * m) >> 31;
		log2 *= 2;
		if (m >> 32) {
			m >>= 1;
			log2++;
		}
	}
	/* log10(2) = .30103000 */
	return max_t(s64, log2 * 30103 / 100 >> 20, DLCBF_OVERFLOW_NEVER);
}

/* places of a bucket that are looked at: two more than there may be */
#define MAX_PLACES	(DLCBF_MAX_BUCKET_CELLS + 2)
/* Even 8 subtables of 32-cell buckets settle in half of this. */
#define MAX_ROUNDS	1000

/**
 * struct equilibrium - the load distribution of a filter
 * @d:       subtables
 * @places:  places of a bucket, at most MAX_PLACES
 * @coming:  elements that come for each d-tuple of buckets in one lifetime
 * @at_least: s(i, k)
 * @with:    part of one subtable's buckets that hold k, not scaled
 */
struct equilibrium {
	unsigned int d;
	unsigned int places;
	struct real coming;
	struct real at_least[DLCBF_MAX_SUBTABLES][MAX_PLACES + 1];
	struct real with[MAX_PLACES + 1];
};

/* Bring subtable @i into balance with the others. */
static bool settle_subtable(struct equilibrium *q, unsigned int i)
{
	struct real total = real(1, 0), above = real(0, 0);
	bool settled = true;
	unsigned int k, l;

	q->with[0] = total;
	for (k = 1; k <= q->places; k++) {
		struct real rate = q->coming;

		for (l = 0; l < q->d; l++)
			if (l != i)
				rate = real_mul(rate,
						q->at_least[l][l < i ? k : k - 1]);
		q->with[k] = real_div(real_mul(q->with[k - 1], rate),
				      real(k, 0));
		total = real_add(total, q->with[k]);
	}

	for (k = q->places; k; k--) {
		struct real *s = &q->at_least[i][k], was = *s;

		above = real_add(above, q->with[k]);
		*s = real_div(above, total);
		settled &= real_near(was, *s);
	}
	return settled;
}

/*
 * With elements turned away, fewer stay than come.  Bring the rate of arrivals
 * to where @want stay in each d-tuple of buckets.
 */
static bool settle_arrivals(struct equilibrium *q, struct real want)
{
	struct real sum = real(0, 0);
	unsigned int i, k;

	for (i = 0; i < q->d; i++)
		for (k = 1; k <= q->places; k++)
			sum = real_add(sum, q->at_least[i][k]);

	q->coming = real_div(real_mul(q->coming, want), sum);
	return real_near(sum, want);
}

/*
 * Find the equilibrium for @elements in the buckets of @g, when each bucket has
 * @places.  With @refuse, elements that find all places taken are turned away,
 * and so many come that @elements are in.
 */
static struct equilibrium *equilibrium(const struct dlcbf_geometry *g,
				       u32 elements, unsigned int places,
				       bool refuse)
{
	const struct real want = real_div(real(elements, 0),
					  real(g->buckets, 0));
	struct equilibrium *q = kmalloc(sizeof(*q), GFP_KERNEL);
	unsigned int i, k, round;
	u32 mean;

	if (!q)
		return NULL;

	q->d = g->subtables;
	q->places = places;
	q->coming = want;

	/* Begin near: full up to the mean, and hardly anything above. */
	mean = div_u64(elements, g->buckets) / g->subtables;
	for (i = 0; i < q->d; i++)
		for (k = 0; k <= places; k++)
			q->at_least[i][k] = real(1, k > mean ?
						 -10 * (s32)(k - mean) : 0);

	for (round = 0; round < MAX_ROUNDS; round++) {
		bool settled = true;

		for (i = 0; i < q->d; i++)
			settled &= settle_subtable(q, i);
		if (refuse)
			settled &= settle_arrivals(q, want);
		if (settled)
			break;
	}
	return q;
}

/**
 * dlcbf_predict_overflow() - how many elements are expected to find no room
 * @g:        geometry that passed dlcbf_geometry_check()
 * @elements: how many are in the filter, while old ones go and new ones come
 * @mlog10:   set to 1000 times the decimal logarithm of the number of places
 *            that are wanted, at a time, beyond the last of a bucket; or to
 *            DLCBF_OVERFLOW_NEVER if that is smaller
 *
 * This is for filters in long use, which have more full buckets than those that
 * were only ever filled.
 *
 * Context: Process, may sleep.  Takes 0.1 ms for 4 subtables of 8 cells, 10 ms
 * for 8 of 32.
 * Return: 0 or -ENOMEM.
 */
int dlcbf_predict_overflow(const struct dlcbf_geometry *g, u32 elements,
			   s32 *mlog10)
{
	struct real beyond = real(0, 0);
	struct equilibrium *q;
	unsigned int i;

	if (!elements) {
		*mlog10 = DLCBF_OVERFLOW_NEVER;
		return 0;
	}

	q = equilibrium(g, elements, g->bucket_cells + 2, false);
	if (!q)
		return -ENOMEM;
	for (i = 0; i < g->subtables; i++)
		beyond = real_add(beyond,
				  q->at_least[i][g->bucket_cells + 1]);
	kfree(q);

	beyond = real_mul(beyond, real(g->buckets, 0));
	*mlog10 = real_mlog10(beyond);
	return 0;
}

/**
 * dlcbf_predict_loads() - the load distribution that a filter should show
 * @g:            geometry that passed dlcbf_geometry_check()
 * @used:         how many of its cells are occupied
 * @at_least_ppb: [k] is set to the part of all its buckets, of whatever
 *                subtable, that should hold k cells or more, in 10^-9; up to
 *                k = @g->bucket_cells, and 0 beyond
 *
 * For a filter in long use, as dlcbf_predict_overflow(), that turns elements
 * away when their buckets are full.  A filter that was only filled is more even.
 *
 * Context: Process, may sleep.  Takes as long as dlcbf_predict_overflow().
 * Return: 0, -EINVAL for more cells than there are, or -ENOMEM.
 */
int dlcbf_predict_loads(const struct dlcbf_geometry *g, u32 used,
			u32 at_least_ppb[DLCBF_MAX_BUCKET_CELLS + 1])
{
	const u32 cells = g->buckets * g->subtables * g->bucket_cells;
	struct equilibrium *q;
	unsigned int i, k;

	if (used > cells)
		return -EINVAL;
	for (k = 0; k <= DLCBF_MAX_BUCKET_CELLS; k++)
		at_least_ppb[k] = !k || (used == cells && k <= g->bucket_cells) ?
				  1000000000 : 0;
	if (!used || used == cells)
		return 0;

	q = equilibrium(g, used, g->bucket_cells, true);
	if (!q)
		return -ENOMEM;
	for (k = 1; k <= g->bucket_cells; k++) {
		struct real sum = real(0, 0);

		for (i = 0; i < g->subtables; i++)
			sum = real_add(sum, q->at_least[i][k]);
		sum = real_div(sum, real(g->subtables, 0));
		at_least_ppb[k] = min_t(u64, real_scaled(sum, 1000000000),
					1000000000);
	}
	kfree(q);
	return 0;
}

/*
 * Shape
 *
 * How full a filter may be planned is decided by overflow: here, the highest
 * load, in 1/10000 and rounded down, at which even a filter of 2^28 buckets
 * that is 2 % fuller than planned expects less than 10^-9 elements without
 * room.  The 2 % are for cells that are held until their readers are gone.
 * user/fluid.c computes the numbers again and compares.
 */
static const u16 design_load[DLCBF_MAX_SUBTABLES][3] = {
	/* 8,   16,   32 cells */
	{   59,  430, 1300 },
	{ 4700, 7000, 8300 },
	{ 6700, 8200, 8900 },
	{ 7500, 8600, 9200 },
	{ 8000, 8800, 9300 },
	{ 8300, 9000, 9400 },
	{ 8500, 9100, 9400 },
	{ 8600, 9200, 9500 },
};

/*
 * The default is d = 4 with 8 cells, 75 % full, as in ESA 2006.  Beside others
 * that hardly waste memory, with 16-bit cells, R = 14 and 8 million elements:
 *
 *	 d x C	load	bits/element	P		cache	lookup, ns
 *						lines	hit	miss
 *	 4 x 8	.75	21.3	  24 / 2^14	4	100	100
 *	 4 x 16	.86	18.6	  55 / 2^14	4	121	137
 *	 3 x 16	.82	19.5	39.4 / 2^14	3	 88	101
 *	 2 x 32	.83	19.3	53.1 / 2^14	2	116	123
 *	 2 x 16	.70	22.9	22.4 / 2^14	2	 78	 88
 *
 * (one core of a shared EPYC, best of 5 runs: good for ratios within 10 %).  A
 * lookup that fails reads all cells of its buckets.  So larger and fuller
 * buckets save up to 13 % of the memory, and pay for it with twice the false
 * positives, or one bit of the remainder, and with slower misses.  2 x 16 is the
 * fastest and as safe, and takes 7 % more.  4 x 8 lies between in everything.
 */
static unsigned int default_cells(unsigned int subtables)
{
	if (subtables <= 2)
		return 32;
	return subtables == 3 ? 16 : 8;
}

static unsigned int default_subtables(unsigned int bucket_cells)
{
	return bucket_cells == 32 ? 2 : 4;
}

/* Memory for fewer is nothing, and small numbers scatter. */
#define MIN_BUCKETS	8

/* Of those that take the same memory the first is chosen. */
static const struct {
	u8 cell_bits;
	u8 counter_bits;
} cell_choice[] = {
	{ 16, 2 }, { 16, 1 }, { 32, 3 }, { 32, 2 }, { 32, 1 },
};

/*
 * One way to fulfil a request: a geometry, and whether its number of buckets
 * was asked for, in which case they may be filled to the last cell.
 */
struct option {
	struct dlcbf_geometry g;
	bool fixed;
};

static u32 max_buckets(const struct option *o)
{
	const u64 cells = min_t(u64, DLCBF_MAX_CELLS,
				SIZE_MAX / 2 / (o->g.cell_bits / 8));

	return div_u64(cells, o->g.subtables * o->g.bucket_cells);
}

static u64 capacity(const struct option *o)
{
	const u64 cells = (u64)o->g.buckets * o->g.subtables *
			  o->g.bucket_cells;

	if (o->fixed)
		return cells;
	return div_u64(cells * design_load[o->g.subtables - 1]
					  [ilog2(o->g.bucket_cells) - 3],
		       10000);
}

static bool fits(const struct option *o, u64 elements, u64 fpr)
{
	return elements <= capacity(o) && dlcbf_fpr(&o->g, elements) <= fpr;
}

/*
 * Give @o the fewest buckets that fit, or the most that are possible if none
 * do.  More buckets never fit worse.
 */
static void choose_buckets(struct option *o, u64 elements, u64 fpr)
{
	u32 low = MIN_BUCKETS, high = max_buckets(o);

	if (o->fixed)
		return;

	while (low < high) {
		o->g.buckets = low + (high - low) / 2;
		if (fits(o, elements, fpr))
			high = o->g.buckets;
		else
			low = o->g.buckets + 1;
	}
	o->g.buckets = high;
}

/* What could be had, from @o, in place of a request that is refused? */
static void suggest(struct dlcbf_sizing *s, const struct option *o,
		    u64 elements, u64 fpr)
{
	u64 low = 0, high = capacity(o);

	if (elements <= high) {
		const u64 possible = dlcbf_fpr(&o->g, elements);

		if (!s->possible_fpr || possible < s->possible_fpr)
			s->possible_fpr = max_t(u64, possible, 1);
	}

	while (low < high) {
		const u64 n = high - (high - low) / 2;

		if (dlcbf_fpr(&o->g, n) <= fpr)
			low = n;
		else
			high = n - 1;
	}
	s->possible_elements = max(s->possible_elements, low);
}

static int refuse(struct dlcbf_sizing *s, int err, const char *reason)
{
	s->reason = reason;
	return err;
}

static int check_request(const struct dlcbf_sizing_request *req,
			 struct dlcbf_sizing *s)
{
	if (!req->max_elements)
		return refuse(s, -EINVAL, "a filter for no elements");
	if (!req->fpr)
		return refuse(s, -EINVAL,
			      "a filter cannot be free of false positives");
	if (req->fpr >= DLCBF_FPR_UNIT)
		return refuse(s, -EINVAL,
			      "a false positive rate of 1 or more");
	if (req->subtables > DLCBF_MAX_SUBTABLES)
		return refuse(s, -EINVAL, "subtables are 1 to 8");
	if (req->bucket_cells && req->bucket_cells != 8 &&
	    req->bucket_cells != 16 && req->bucket_cells != 32)
		return refuse(s, -EINVAL, "a bucket has 8, 16 or 32 cells");
	if (req->cell_bits && req->cell_bits != 16 && req->cell_bits != 32)
		return refuse(s, -EINVAL, "a cell has 16 or 32 bits");
	if (req->counter_bits > DLCBF_MAX_COUNTER_BITS)
		return refuse(s, -EINVAL, "a counter has 1 to 8 bits");
	return 0;
}

/* Fill in @o with the i-th choice, unless the request rules it out. */
static bool make_option(struct option *o,
			const struct dlcbf_sizing_request *req, unsigned int i)
{
	if (req->cell_bits && req->cell_bits != cell_choice[i].cell_bits)
		return false;

	*o = (struct option){
		.g = {
			.buckets = req->buckets,
			.subtables = req->subtables,
			.bucket_cells = req->bucket_cells,
			.cell_bits = cell_choice[i].cell_bits,
			.counter_bits = req->counter_bits ?:
					cell_choice[i].counter_bits,
		},
		.fixed = req->buckets,
	};
	if (!o->g.subtables)
		o->g.subtables = default_subtables(o->g.bucket_cells);
	if (!o->g.bucket_cells)
		o->g.bucket_cells = default_cells(o->g.subtables);
	return !o->fixed || !dlcbf_geometry_check(&o->g);
}

/**
 * dlcbf_size() - choose a filter
 * @req: what it is wanted for
 * @s:   set to the answer, and to what may be had instead if that is no
 *
 * Takes the least memory that fulfils the request.
 *
 * Context: Process, may sleep.
 * Return: 0; -EINVAL for a request that makes no sense; -E2BIG for more
 * elements, and -ERANGE for a smaller false positive rate, than any filter with
 * the demanded fields can do; -ENOMEM.  @s->reason says which for the first
 * three.
 */
int dlcbf_size(const struct dlcbf_sizing_request *req, struct dlcbf_sizing *s)
{
	bool possible = false, room = false;
	struct option o;
	unsigned int i;
	u64 cells;
	int err;

	*s = (struct dlcbf_sizing){};
	err = check_request(req, s);
	if (err)
		return err;

	for (i = 0; i < ARRAY_SIZE(cell_choice); i++) {
		u64 bytes;

		if (!make_option(&o, req, i))
			continue;
		possible = true;
		choose_buckets(&o, req->max_elements, req->fpr);
		if (req->max_elements <= capacity(&o))
			room = true;
		if (!fits(&o, req->max_elements, req->fpr)) {
			suggest(s, &o, req->max_elements, req->fpr);
			continue;
		}
		bytes = dlcbf_words_bytes(&o.g);
		if (!s->bytes || bytes < s->bytes) {
			s->bytes = bytes;
			s->geometry = o.g;
		}
	}

	if (!s->bytes) {
		if (!possible)
			return refuse(s, -E2BIG, "too many buckets");
		if (!room)
			return refuse(s, -E2BIG, "too many elements");
		return refuse(s, -ERANGE,
			      "false positive rate too small for that many elements");
	}

	s->possible_fpr = 0;
	s->possible_elements = 0;
	cells = (u64)s->geometry.buckets * s->geometry.subtables *
		s->geometry.bucket_cells;
	s->load_ppm = div64_u64(req->max_elements * 1000000, cells);
	s->fpr = dlcbf_fpr(&s->geometry, req->max_elements);
	return dlcbf_predict_overflow(&s->geometry, req->max_elements,
				      &s->overflow_mlog10);
}
