// SPDX-License-Identifier: GPL-2.0
/*
 * The filter beside a reference: an array of cells that is searched from end to
 * end, with the definitions of the construction spelt out.  Both are given the
 * same operations, and must agree in every answer and in every cell.
 */
#include <math.h>

#include "fluid.h"
#include "test.h"
#include "../../kunit/dlcbf_vectors.h"

#define PAPER	{ 2048, 4, 8, 16, 2 }	/* the geometry of ESA 2006 */

static const struct dlcbf_geometry paper = PAPER;

/* Known answers */

static void geometry_of_vector(const struct dlcbf_vector *v,
			       struct dlcbf_geometry *g)
{
	const u8 cell_bits = v->remainder_bits < 16 ? 16 : 32;

	*g = (struct dlcbf_geometry){
		.buckets = v->buckets,
		.subtables = DLCBF_MAX_SUBTABLES,
		.bucket_cells = 8,
		.cell_bits = cell_bits,
		.counter_bits = cell_bits - v->remainder_bits,
	};
}

static void test_vectors(void)
{
	unsigned int v, i;

	for (v = 0; v < ARRAY_SIZE(dlcbf_vectors); v++) {
		const struct dlcbf_vector *k = &dlcbf_vectors[v];
		struct dlcbf_fingerprint f, back;
		struct dlcbf t = {};

		/* What fingerprints depend on, without the cells' memory. */
		geometry_of_vector(k, &t.geometry);
		t.max_remainder = (1U << k->remainder_bits) - 1;

		f = dlcbf_fingerprint(&t, k->hash);
		check_eq(f.bucket, k->f.bucket);
		check_eq(f.remainder, k->f.remainder);
		for (i = 0; i < DLCBF_MAX_SUBTABLES; i++) {
			check_eq(dlcbf_bucket(k->buckets, f, i), k->bucket[i]);
			back = dlcbf_invert(k->buckets, k->bucket[i],
					    f.remainder, i);
			check_eq(back.bucket, f.bucket);
			check_eq(back.remainder, f.remainder);
		}
	}
}

/* Every P_i meets each (bucket, remainder) once: tried with all there are. */
static void test_permutations(void)
{
	static const u32 sizes[] = { 1, 2, 3, 64, 100, 257 };
	const u32 remainders = 255;
	unsigned int n, i;

	for (n = 0; n < ARRAY_SIZE(sizes); n++) {
		const u32 buckets = sizes[n];
		u8 *met = calloc(buckets, remainders + 1);

		for (i = 0; i < DLCBF_MAX_SUBTABLES; i++) {
			struct dlcbf_fingerprint f, back;

			memset(met, 0, buckets * (remainders + 1));
			for (f.bucket = 0; f.bucket < buckets; f.bucket++) {
				for (f.remainder = 1; f.remainder <= remainders;
				     f.remainder++) {
					u32 b = dlcbf_bucket(buckets, f, i);

					check(b < buckets);
					check(!met[b * (remainders + 1) +
						   f.remainder]++);
					back = dlcbf_invert(buckets, b,
							    f.remainder, i);
					check_eq(back.bucket, f.bucket);
				}
			}
		}
		free(met);
	}
}

static void test_inversion_at_random(void)
{
	struct rng rng = { 1 };
	unsigned int n;

	for (n = 0; n < 1000000; n++) {
		const u32 buckets = 1 + rng_below(&rng, 1U << (n % 28 + 1));
		const u32 remainders = (1U << (8 + n % 24)) - 1;
		struct dlcbf_fingerprint f = {
			rng_below(&rng, buckets),
			1 + rng_below(&rng, remainders),
		};
		const unsigned int i = n % DLCBF_MAX_SUBTABLES;
		const u32 b = dlcbf_bucket(buckets, f, i);

		check(b < buckets);
		check_eq(dlcbf_invert(buckets, b, f.remainder, i).bucket,
			 f.bucket);
	}
}

/* The lane arithmetic beside a loop over lanes */
static void test_lanes(void)
{
	static const u32 corner[] = { 0, 1, 2, 0x7fff, 0x8000, 0x8001, 0xffff,
				      0x10000, 0x7fffffff, 0x80000000,
				      0x80000001, 0xffffffff };
	struct rng rng = { 2 };
	unsigned int bits, n, i;

	for (bits = 16; bits <= 32; bits *= 2) {
		const unsigned int lanes = BITS_PER_LONG / bits;
		const unsigned long mask = dlcbf_lane_mask(bits);

		for (n = 0; n < 200000; n++) {
			unsigned long v = 0, zeros = 0, lane;

			for (i = 0; i < lanes; i++) {
				lane = n % 2 ? rng_next(&rng) :
				       corner[rng_below(&rng, ARRAY_SIZE(corner))];
				lane &= mask;
				v |= lane << i * bits;
				if (!lane)
					zeros |= 1UL << (i * bits + bits - 1);
			}
			check(dlcbf_zero_lanes(v, bits) == zeros);
		}
	}
}

static void test_geometry_check(void)
{
	static const struct {
		struct dlcbf_geometry g;
		int err;
		const char *what;
	} cases[] = {
		{ PAPER, 0, "the paper's" },
		{ { 1, 1, 8, 16, 1 }, 0, "the smallest" },
		{ { 0, 4, 8, 16, 2 }, -EINVAL, "no buckets" },
		{ { 1, 0, 8, 16, 2 }, -EINVAL, "no subtables" },
		{ { 1, 9, 8, 16, 2 }, -EINVAL, "nine subtables" },
		{ { 1, 4, 0, 16, 2 }, -EINVAL, "no cells" },
		{ { 1, 4, 7, 16, 2 }, -EINVAL, "seven cells" },
		{ { 1, 4, 24, 16, 2 }, -EINVAL, "24 cells" },
		{ { 1, 4, 64, 16, 2 }, -EINVAL, "64 cells" },
		{ { 1, 4, 8, 8, 2 }, -EINVAL, "8 bits" },
		{ { 1, 4, 8, 64, 2 }, -EINVAL, "64 bits" },
		{ { 1, 4, 8, 16, 0 }, -EINVAL, "no counter" },
		{ { 1, 4, 8, 16, 9 }, -EINVAL, "nine bits of counter" },
		{ { 1, 4, 8, 32, 8 }, 0, "eight bits of counter" },
		{ { 1 << 25, 8, 8, 16, 2 }, BITS_PER_LONG == 64 ? 0 : -E2BIG,
		  "2^31 cells" },
		{ { (1 << 25) + 1, 8, 8, 16, 2 }, -E2BIG, "more" },
		{ { 1 << 26, 1, 32, 32, 1 }, BITS_PER_LONG == 64 ? 0 : -E2BIG,
		  "2^33 bytes" },
		{ { ~0U, 8, 32, 32, 8 }, -E2BIG, "the largest" },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		check_msg(dlcbf_geometry_check(&cases[i].g) == cases[i].err,
			  "%s", cases[i].what);
}

static void test_init_refuses(void)
{
	struct dlcbf_stripe stripes[4] = {};
	struct dlcbf_geometry bad = paper;
	unsigned long word = 0;
	struct dlcbf t;

	bad.cell_bits = 24;
	check_eq(dlcbf_init(&t, &bad, &word, stripes, 1), -EINVAL);
	check_eq(dlcbf_init(&t, &paper, NULL, stripes, 1), -EINVAL);
	check_eq(dlcbf_init(&t, &paper, &word, NULL, 1), -EINVAL);
	check_eq(dlcbf_init(&t, &paper, &word, stripes, 0), -EINVAL);
	check_eq(dlcbf_init(&t, &paper, &word, stripes, 3), -EINVAL);
	check_eq(dlcbf_init(&t, &paper, &word, stripes, 2048), -EINVAL);
	check_eq(dlcbf_init(&t, &paper, &word, stripes, 4), 0);
}

static void test_stripe_count(void)
{
	static const struct {
		u32 buckets;
		unsigned int cpus;
		u32 want;
	} cases[] = {
		{ 2048, 1, 16 }, { 2048, 2, 32 }, { 2048, 3, 64 },
		{ 2048, 64, 1024 }, { 2048, 8192, 1024 }, { 2048, 0, 16 },
		{ 1, 4, 1 }, { 5, 4, 4 }, { 100, 16, 64 },
	};
	struct dlcbf_geometry g = paper;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		g.buckets = cases[i].buckets;
		check_eq(dlcbf_stripe_count(&g, cases[i].cpus), cases[i].want);
	}
}

/* The reference */

struct ref_cell {
	u32 r;
	u32 c;
};

struct ref {
	struct dlcbf_geometry g;
	u32 cells;
	u32 max_c;
	struct ref_cell *cell;
};

static void ref_init(struct ref *ref, const struct dlcbf_geometry *g)
{
	ref->g = *g;
	ref->cells = g->buckets * g->subtables * g->bucket_cells;
	ref->max_c = (1U << g->counter_bits) - 1;
	ref->cell = calloc(ref->cells, sizeof(*ref->cell));
}

/* the first cell of f's bucket in subtable i, by the definition of P_i */
static u32 ref_bucket(const struct ref *ref, struct dlcbf_fingerprint f,
		      unsigned int i)
{
	const u64 g = (f.remainder * dlcbf_spread[i] >> 32) * ref->g.buckets >> 32;
	const u32 b = (f.bucket + g) % ref->g.buckets;

	return (i * ref->g.buckets + b) * ref->g.bucket_cells;
}

/* the j-th of the d * C cells that f may be in */
static u32 ref_candidate(const struct ref *ref, struct dlcbf_fingerprint f,
			 unsigned int j)
{
	return ref_bucket(ref, f, j / ref->g.bucket_cells) +
	       j % ref->g.bucket_cells;
}

static unsigned int ref_candidates(const struct ref *ref)
{
	return ref->g.subtables * ref->g.bucket_cells;
}

static u32 ref_find(const struct ref *ref, struct dlcbf_fingerprint f)
{
	unsigned int j;

	for (j = 0; j < ref_candidates(ref); j++)
		if (ref->cell[ref_candidate(ref, f, j)].r == f.remainder)
			return ref_candidate(ref, f, j);
	return DLCBF_NO_CELL;
}

static u64 ref_count(const struct ref *ref, struct dlcbf_fingerprint f)
{
	unsigned int j;
	u64 n = 0;

	for (j = 0; j < ref_candidates(ref); j++) {
		const struct ref_cell *c = &ref->cell[ref_candidate(ref, f, j)];

		if (c->r == f.remainder)
			n += c->c + 1;
	}
	return n;
}

static u32 ref_smallest(const struct ref *ref, struct dlcbf_fingerprint f)
{
	u32 found = DLCBF_NO_CELL;
	unsigned int j;

	for (j = 0; j < ref_candidates(ref); j++) {
		const u32 cell = ref_candidate(ref, f, j);

		if (ref->cell[cell].r == f.remainder &&
		    (found == DLCBF_NO_CELL ||
		     ref->cell[cell].c < ref->cell[found].c))
			found = cell;
	}
	return found;
}

/* least loaded bucket, leftmost of those, first empty cell of it */
static u32 ref_place(struct ref *ref, struct dlcbf_fingerprint f,
		     struct ref_cell value)
{
	unsigned int i, k, least = ref->g.bucket_cells;
	u32 best = DLCBF_NO_CELL;

	for (i = 0; i < ref->g.subtables; i++) {
		const u32 first = ref_bucket(ref, f, i);
		u32 empty = DLCBF_NO_CELL;
		unsigned int load = 0;

		for (k = 0; k < ref->g.bucket_cells; k++) {
			const struct ref_cell *c = &ref->cell[first + k];

			if (c->r || c->c)
				load++;
			else if (empty == DLCBF_NO_CELL)
				empty = first + k;
		}
		if (load < least) {
			least = load;
			best = empty;
		}
	}
	if (best != DLCBF_NO_CELL)
		ref->cell[best] = value;
	return best;
}

static int ref_insert(struct ref *ref, struct dlcbf_fingerprint f)
{
	const u32 cell = ref_smallest(ref, f);

	if (cell != DLCBF_NO_CELL && ref->cell[cell].c < ref->max_c) {
		ref->cell[cell].c++;
		return 0;
	}
	if (ref_place(ref, f, (struct ref_cell){ f.remainder, 0 }) ==
	    DLCBF_NO_CELL)
		return -ENOSPC;
	return 0;
}

static int ref_remove(struct ref *ref, struct dlcbf_fingerprint f)
{
	const u32 cell = ref_smallest(ref, f);

	if (cell == DLCBF_NO_CELL)
		return -ENOENT;
	if (ref->cell[cell].c)
		ref->cell[cell].c--;
	else
		ref->cell[cell].r = 0;
	return 0;
}

static struct ref_cell raw_cell(const struct dlcbf *t, u32 cell)
{
	const unsigned int bits = t->geometry.cell_bits;
	const unsigned int lanes = BITS_PER_LONG / bits;
	const u64 value = t->words[cell / lanes] >> cell % lanes * bits &
			  ((1ULL << bits) - 1);

	return (struct ref_cell){
		value >> t->geometry.counter_bits,
		value & ((1U << t->geometry.counter_bits) - 1),
	};
}

/*
 * Every cell, the walk, and the counts are what the reference has.  Returns how
 * many elements that is, if it is a plain set.
 */
static u64 compare_cells(const struct dlcbf *t, const struct ref *ref)
{
	u32 cell, live = 0, used = 0, next = 0;
	u64 elements = 0;

	for (cell = 0; cell < ref->cells; cell++) {
		const struct ref_cell *want = &ref->cell[cell];
		const struct ref_cell have = raw_cell(t, cell);
		struct dlcbf_fingerprint f;
		u32 counter;

		if (!check_msg(have.r == want->r && have.c == want->c,
			       "%s: cell %u is (%u, %u), not (%u, %u)",
			       test_geometry(&ref->g), cell, have.r, have.c,
			       want->r, want->c))
			return 0;
		used += want->r || want->c;
		if (!want->r) {
			check(!dlcbf_cell_read(t, cell, &f, &counter));
			continue;
		}

		live++;
		elements += want->c + 1;
		check_eq(dlcbf_next_live(t, next, ref->cells), cell);
		next = cell + 1;
		check(dlcbf_cell_read(t, cell, &f, &counter));
		check_eq(counter, want->c);
		check_eq(f.remainder, want->r);
		check(f.bucket < ref->g.buckets);
		/* Its fingerprint leads back to it. */
		check_eq(ref_bucket(ref, f, cell / ref->g.bucket_cells /
					    ref->g.buckets),
			 cell - cell % ref->g.bucket_cells);
	}
	check_eq(dlcbf_next_live(t, next, ref->cells), DLCBF_NO_CELL);
	check_eq(dlcbf_used_cells(t), used);
	check_eq(dlcbf_live_cells(t), live);
	return elements;
}

static void compare(const struct dlcbf *t, const struct ref *ref)
{
	const u64 elements = compare_cells(t, ref);

	check_eq(dlcbf_elements(t), elements);
}

/* Random operations on a plain set, at one geometry */

struct multiset {
	struct dlcbf_fingerprint *f;
	u32 *times;
	u32 n;
};

/*
 * Fingerprints that meet: few buckets, neighbouring and extreme remainders.
 * Each is in the list once.
 */
static void make_universe(struct multiset *m, const struct dlcbf_geometry *g,
			  u32 n, struct rng *rng)
{
	const u32 max_r = (1U << (g->cell_bits - g->counter_bits)) - 1;
	u32 i, j;

	m->f = calloc(n, sizeof(*m->f));
	m->times = calloc(n, sizeof(*m->times));
	m->n = 0;
	for (i = 0; i < n; i++) {
		struct dlcbf_fingerprint f = {
			rng_below(rng, g->buckets),
			1 + rng_below(rng, max_r),
		};

		if (i % 8 == 0)
			f.remainder = i % 16 ? 1 : max_r;
		if (i % 8 == 1 && m->n)
			f.remainder = m->f[m->n - 1].remainder ^ 1 ?: 1;
		for (j = 0; j < m->n; j++)
			if (m->f[j].bucket == f.bucket &&
			    m->f[j].remainder == f.remainder)
				break;
		if (j == m->n)
			m->f[m->n++] = f;
	}
}

static bool all_full(const struct ref *ref, struct dlcbf_fingerprint f)
{
	unsigned int j;

	for (j = 0; j < ref_candidates(ref); j++) {
		const struct ref_cell *c = &ref->cell[ref_candidate(ref, f, j)];

		if (!c->r && !c->c)
			return false;
	}
	return true;
}

static void random_set(const struct dlcbf_geometry *g, u32 ops, u64 seed,
		       u32 *refusals)
{
	const size_t bytes = dlcbf_words_bytes(g);
	void *before = malloc(bytes);
	struct rng rng = { seed };
	struct multiset m;
	struct dlcbf t;
	struct ref ref;
	u32 op, i;

	test_filter_init(&t, g, 4);
	ref_init(&ref, g);
	make_universe(&m, g, ref.cells + ref.cells / 4 + 8, &rng);

	for (op = 0; op < ops; op++) {
		/* Waves: nearly all insertions, nearly all removals, ... */
		const u32 inserts = op / (ops / 8) % 2 ? 30 : 70;
		const u32 k = rng_below(&rng, m.n);
		const struct dlcbf_fingerprint f = m.f[k];
		const u32 dice = rng_below(&rng, 100);
		int err, want;

		if (dice < 3) {
			err = dlcbf_insert_unique(&t, f);
			want = m.times[k] ? -EEXIST : ref_insert(&ref, f);
			check_eq(err, want);
			m.times[k] += !err;
		} else if (dice < inserts) {
			const bool full = all_full(&ref, f);

			if (full)
				memcpy(before, t.words, bytes);
			err = dlcbf_insert(&t, f);
			want = ref_insert(&ref, f);
			check_eq(err, want);
			m.times[k] += !err;
			if (err) {
				++*refusals;
				check(full);
				check(!memcmp(before, t.words, bytes));
			}
		} else {
			err = dlcbf_remove(&t, f);
			check_eq(err, m.times[k] ? 0 : -ENOENT);
			check_eq(err, ref_remove(&ref, f));
			m.times[k] -= !err;
		}
		check_eq(dlcbf_count(&t, f), m.times[k]);
		check_eq(dlcbf_find(&t, f), ref_find(&ref, f));
		check_eq(dlcbf_find(&t, f) == DLCBF_NO_CELL, !m.times[k]);
		if (op % (ops / 4) == 0)
			compare(&t, &ref);
	}

	/* Nobody was disturbed, and all can be taken out again. */
	compare(&t, &ref);
	for (i = 0; i < m.n; i++) {
		check_eq(dlcbf_count(&t, m.f[i]), m.times[i]);
		check_eq(ref_count(&ref, m.f[i]), m.times[i]);
		while (m.times[i]) {
			check_eq(dlcbf_remove(&t, m.f[i]), 0);
			m.times[i]--;
		}
		check_eq(dlcbf_remove(&t, m.f[i]), -ENOENT);
	}
	check_eq(dlcbf_used_cells(&t), 0);
	check_eq(dlcbf_elements(&t), 0);
	for (i = 0; i < bytes / sizeof(*t.words); i++)
		check(!t.words[i]);

	test_filter_free(&t);
	free(before);
	free(ref.cell);
	free(m.f);
	free(m.times);
}

static void every_geometry(void (*run)(const struct dlcbf_geometry *g, u64 seed))
{
	static const u8 counters[] = { 1, 2, 3, 5, 8 };
	struct dlcbf_geometry g;
	unsigned int n = 0;

	for (g.cell_bits = 16; g.cell_bits <= 32; g.cell_bits *= 2)
		for (g.bucket_cells = 8; g.bucket_cells <= 32;
		     g.bucket_cells *= 2)
			for (g.subtables = 1; g.subtables <= 8; g.subtables++) {
				g.counter_bits = counters[n % ARRAY_SIZE(counters)];
				g.buckets = 1 + n % 7;
				run(&g, n++);
			}
}

static u32 refusals;

static void random_set_at(const struct dlcbf_geometry *g, u64 seed)
{
	random_set(g, 60000, seed, &refusals);
}

static void test_random_sets(void)
{
	refusals = 0;
	every_geometry(random_set_at);
	/* or else the full case was not tried */
	check(refusals > 10000);
}

/* Tables with a record per cell */

#define KEYS		600
#define DRAINING	64

struct record {
	u32 key;
	u32 counter;
};

struct keyed {
	struct dlcbf t;
	struct record *records;
};

struct wanted {
	const struct record *records;
	u32 key;
};

static bool key_matches(const void *ctx, u32 cell)
{
	const struct wanted *w = ctx;

	return w->records[cell].key == w->key;
}

static u32 keyed_find(const struct keyed *k, struct dlcbf_fingerprint f, u32 key)
{
	const struct wanted w = { k->records, key };

	return dlcbf_find_if(&k->t, f, key_matches, &w);
}

static u32 keyed_insert(struct keyed *k, struct ref *ref,
			struct dlcbf_fingerprint f, u32 key, u32 counter)
{
	u32 cell;

	dlcbf_lock(&k->t, f);
	cell = dlcbf_claim(&k->t, f);
	check_eq(ref_place(ref, f, (struct ref_cell){ 0, 1 }), cell);
	if (cell != DLCBF_NO_CELL) {
		/* Held: occupied, and nothing finds it. */
		k->records[cell] = (struct record){ key, counter };
		check_eq(keyed_find(k, f, key), DLCBF_NO_CELL);
		dlcbf_publish(&k->t, cell, f, counter);
		ref->cell[cell] = (struct ref_cell){ f.remainder, counter };
	}
	dlcbf_unlock(&k->t, f);
	return cell;
}

/*
 * Keys of which up to six have the same fingerprint, with random counters,
 * that are put in, found, changed, withdrawn, evicted, and released later.
 */
static void random_keyed_at(const struct dlcbf_geometry *g, u64 seed)
{
	static u32 where[KEYS], draining[DRAINING];
	struct dlcbf_fingerprint f[KEYS];
	struct rng rng = { ~seed };
	u32 i, op, ndraining = 0;
	struct keyed k;
	struct ref ref;

	test_filter_init(&k.t, g, 4);
	ref_init(&ref, g);
	k.records = calloc(ref.cells, sizeof(*k.records));
	for (i = 0; i < KEYS; i++) {
		where[i] = DLCBF_NO_CELL;
		f[i] = dlcbf_fingerprint(&k.t, rng_next(&rng));
		if (i % 6)
			f[i] = f[i - i % 6 + rng_below(&rng, i % 6)];
	}

	for (op = 0; op < 20000; op++) {
		const u32 key = rng_below(&rng, KEYS);
		const u32 counter = rng_below(&rng, k.t.max_counter + 1);
		u32 cell = where[key];
		unsigned int pos = 0;
		struct record *r;

		check_eq(keyed_find(&k, f[key], key), cell);
		r = cell == DLCBF_NO_CELL ? NULL : &k.records[cell];

		switch (rng_below(&rng, 4)) {
		case 0:
		case 1:
			if (r)
				break;
			cell = keyed_insert(&k, &ref, f[key], key, counter);
			where[key] = cell;
			if (cell != DLCBF_NO_CELL || ndraining == DRAINING)
				break;

			/* Full: take the place of a random candidate. */
			for (i = rng_below(&rng, ref_candidates(&ref)) + 1; i; i--) {
				u32 c = dlcbf_next_candidate(&k.t, f[key], &pos);

				if (c == DLCBF_NO_CELL)
					break;
				cell = c;
			}
			if (cell == DLCBF_NO_CELL)
				break;
			r = &k.records[cell];
			check(dlcbf_withdraw(&k.t, cell, f[r->key], r->counter));
			check(!dlcbf_withdraw(&k.t, cell, f[r->key], r->counter));
			check_eq(keyed_find(&k, f[r->key], r->key), DLCBF_NO_CELL);
			where[r->key] = DLCBF_NO_CELL;
			ref.cell[cell] = (struct ref_cell){ 0, 1 };
			draining[ndraining++] = cell;
			break;
		case 2:
			if (!r)
				break;
			check(!dlcbf_set_counter(&k.t, cell, f[key],
						 r->counter ^ 1, counter));
			check(dlcbf_set_counter(&k.t, cell, f[key], r->counter,
						counter));
			r->counter = counter;
			ref.cell[cell].c = counter;
			break;
		case 3:
			if (!r || ndraining == DRAINING)
				break;
			check(!dlcbf_withdraw(&k.t, cell, f[key],
					      r->counter ^ 1));
			check(dlcbf_withdraw(&k.t, cell, f[key], r->counter));
			where[key] = DLCBF_NO_CELL;
			ref.cell[cell] = (struct ref_cell){ 0, 1 };
			draining[ndraining++] = cell;
			break;
		}

		if (ndraining == DRAINING || op % 97 == 0) {
			while (ndraining) {
				cell = draining[--ndraining];
				dlcbf_release(&k.t, cell);
				ref.cell[cell] = (struct ref_cell){ 0, 0 };
			}
		}
		if (op % 2500 == 0)
			compare_cells(&k.t, &ref);
	}
	compare_cells(&k.t, &ref);

	test_filter_free(&k.t);
	free(k.records);
	free(ref.cell);
}

static void test_random_keyed(void)
{
	const unsigned long warnings = dlcbf_shim_warnings;

	every_geometry(random_keyed_at);
	check_eq(dlcbf_shim_warnings, warnings);
}

/* What public implementations of the construction have got wrong */

static const struct dlcbf_geometry narrow = { 1, 1, 8, 16, 2 };

/* fingerprint of the only bucket of @narrow */
static struct dlcbf_fingerprint fp(u32 remainder)
{
	return (struct dlcbf_fingerprint){ 0, remainder };
}

/* A ninth element overran the bucket, or was looked for beyond it. */
static void test_full_bucket(void)
{
	struct dlcbf t;
	u32 r;

	test_filter_init(&t, &narrow, 1);
	for (r = 1; r <= 8; r++)
		check_eq(dlcbf_insert(&t, fp(r)), 0);
	for (r = 9; r <= 16383; r++) {
		check_eq(dlcbf_find(&t, fp(r)), DLCBF_NO_CELL);
		check_eq(dlcbf_insert(&t, fp(r)), -ENOSPC);
		check_eq(dlcbf_insert_unique(&t, fp(r)), -ENOSPC);
		check_eq(dlcbf_claim(&t, fp(r)), DLCBF_NO_CELL);
		check_eq(dlcbf_remove(&t, fp(r)), -ENOENT);
	}
	check_eq(dlcbf_used_cells(&t), 8);
	for (r = 1; r <= 8; r++) {
		/* A counter has room where a bucket has not. */
		check_eq(dlcbf_insert(&t, fp(r)), 0);
		check_eq(dlcbf_count(&t, fp(r)), 2);
	}
	test_filter_free(&t);
}

/* A fingerprint of zero matched every empty cell, and was itself lost. */
static void test_zero(void)
{
	static const u64 hashes[] = { 0, 1, 1ULL << 32, (1ULL << 19) - 1 };
	unsigned int i;
	struct dlcbf t;

	test_filter_init(&t, &paper, 1);
	for (i = 0; i < ARRAY_SIZE(hashes); i++) {
		struct dlcbf_fingerprint f = dlcbf_fingerprint(&t, hashes[i]);

		check(f.remainder > 0);
		check_eq(dlcbf_find(&t, f), DLCBF_NO_CELL);
		check_eq(dlcbf_remove(&t, f), -ENOENT);
		check_eq(dlcbf_insert(&t, f), 0);
		check_eq(dlcbf_count(&t, f), 1);
		check_eq(dlcbf_remove(&t, f), 0);
		check_eq(dlcbf_find(&t, f), DLCBF_NO_CELL);
	}
	test_filter_free(&t);
}

/* No fingerprint at all matches a held cell, whatever the cells beside hold. */
static void test_held_never_matches(void)
{
	u32 cell, counter, r;
	struct dlcbf_fingerprint f;
	struct dlcbf t;

	test_filter_init(&t, &narrow, 1);
	check_eq(dlcbf_insert(&t, fp(16383)), 0);
	cell = dlcbf_claim(&t, fp(7));
	check(cell != DLCBF_NO_CELL);
	check_eq(dlcbf_insert(&t, fp(1)), 0);

	for (r = 1; r <= 16383; r++)
		check_eq(dlcbf_find(&t, fp(r)) != DLCBF_NO_CELL,
			 r == 1 || r == 16383);
	check(!dlcbf_cell_read(&t, cell, &f, &counter));
	check(!dlcbf_withdraw(&t, cell, fp(7), 0));
	check(!dlcbf_set_counter(&t, cell, fp(7), 0, 1));
	check_eq(dlcbf_used_cells(&t), 3);
	check_eq(dlcbf_live_cells(&t), 2);
	dlcbf_release(&t, cell);
	check_eq(dlcbf_used_cells(&t), 2);
	test_filter_free(&t);
}

/* Publishing or releasing what is not held does no harm, and warns. */
static void test_misuse(void)
{
	const unsigned long warnings = dlcbf_shim_warnings;
	struct dlcbf t;

	test_filter_init(&t, &narrow, 1);
	check_eq(dlcbf_insert(&t, fp(5)), 0);
	dlcbf_publish(&t, 0, fp(6), 0);
	dlcbf_publish(&t, 1, fp(6), 0);
	dlcbf_release(&t, 0);
	dlcbf_release(&t, 1);
	check_eq(dlcbf_shim_warnings - warnings, 4);
	check_eq(dlcbf_count(&t, fp(5)), 1);
	check_eq(dlcbf_count(&t, fp(6)), 0);
	check_eq(dlcbf_used_cells(&t), 1);
	check_eq(dlcbf_live_cells(&t), 1);
	test_filter_free(&t);
}

/*
 * Deleting lost the last cell of the bucket, left the dead one matching, or
 * cleared all cells that matched.
 */
static void test_delete_each(void)
{
	u32 gone, r;

	for (gone = 1; gone <= 8; gone++) {
		struct dlcbf t;

		test_filter_init(&t, &narrow, 1);
		for (r = 1; r <= 8; r++)
			check_eq(dlcbf_insert(&t, fp(r * 1000)), 0);
		check_eq(dlcbf_remove(&t, fp(gone * 1000)), 0);
		for (r = 1; r <= 8; r++)
			check_eq(dlcbf_count(&t, fp(r * 1000)), r != gone);
		check_eq(dlcbf_remove(&t, fp(gone * 1000)), -ENOENT);

		/* The hole before them hides nothing. */
		check_eq(dlcbf_insert(&t, fp(8000)), 0);
		check_eq(dlcbf_count(&t, fp(8000)), gone == 8 ? 1 : 2);
		check_eq(dlcbf_used_cells(&t), gone == 8 ? 8 : 7);
		test_filter_free(&t);
	}
}

/* Copies beyond one counter took others with them, or were forgotten. */
static void test_many_copies(void)
{
	struct dlcbf t;
	u32 n, max;

	/* one cell for another, six for this: 4 copies in each */
	test_filter_init(&t, &narrow, 1);
	check_eq(dlcbf_insert(&t, fp(99)), 0);
	max = 7 * (t.max_counter + 1);
	for (n = 1; n <= max; n++) {
		check_eq(dlcbf_insert(&t, fp(5)), 0);
		check_eq(dlcbf_count(&t, fp(5)), n);
		check_eq(dlcbf_elements(&t), n + 1);
		check_eq(dlcbf_used_cells(&t), 1 + (n + 3) / 4);
	}
	check_eq(dlcbf_insert(&t, fp(5)), -ENOSPC);
	check_eq(dlcbf_insert_unique(&t, fp(5)), -EEXIST);
	check_eq(dlcbf_count(&t, fp(5)), max);
	for (n = max; n; n--) {
		check_eq(dlcbf_count(&t, fp(5)), n);
		check_eq(dlcbf_remove(&t, fp(5)), 0);
		check_eq(dlcbf_used_cells(&t), 1 + (n + 2) / 4);
		check_eq(dlcbf_count(&t, fp(99)), 1);
	}
	check_eq(dlcbf_remove(&t, fp(5)), -ENOENT);
	test_filter_free(&t);
}

/*
 * Two keys that agree in one subtable, by bucket and remainder, and not in
 * another: with independent hashes for each subtable they disturb each other.
 * Here they can only agree in all subtables, and then they are one element.
 */
static void test_colliding_pairs(void)
{
	struct rng rng = { 3 };
	unsigned int n, i, order;

	for (n = 0; n < 2000; n++) {
		const u32 r = 1 + rng_below(&rng, 16383);
		struct dlcbf_fingerprint x = { rng_below(&rng, 2048), r }, y;
		struct dlcbf_geometry g = paper;

		/* The right of x's buckets is the left one of y. */
		i = 1 + n % 3;
		y = (struct dlcbf_fingerprint){ dlcbf_bucket(2048, x, i), r };
		g.buckets = 2048;
		for (order = 0; order < 4; order++) {
			const struct dlcbf_fingerprint first = order & 1 ? y : x;
			const struct dlcbf_fingerprint second = order & 1 ? x : y;
			const struct dlcbf_fingerprint gone = order & 2 ? x : y;
			const struct dlcbf_fingerprint left = order & 2 ? y : x;
			static struct dlcbf t;
			u64 one = 1;

			if (!t.words)
				test_filter_init(&t, &g, 1);
			check_eq(dlcbf_insert(&t, first), 0);
			check_eq(dlcbf_insert(&t, second), 0);
			if (x.bucket == y.bucket)
				one = 2;
			check_eq(dlcbf_count(&t, x), one);
			check_eq(dlcbf_count(&t, y), one);
			check_eq(dlcbf_remove(&t, gone), 0);
			check_eq(dlcbf_count(&t, left), 1);
			check_eq(dlcbf_count(&t, gone), one - 1);
			check_eq(dlcbf_remove(&t, left), 0);
			check_eq(dlcbf_used_cells(&t), 0);
			if (n == 1999 && order == 3)
				test_filter_free(&t);
		}
	}
}

/* Writing one cell zeroed the low byte of the next. */
static void test_neighbours(void)
{
	unsigned int bits, n, i;

	for (bits = 16; bits <= 32; bits *= 2) {
		const struct dlcbf_geometry g = { 1, 1, 8, bits, 8 };
		u32 times[8];
		struct dlcbf t;

		/* eight cells of nothing but ones: 256 copies of each */
		test_filter_init(&t, &g, 1);
		for (i = 0; i < 8; i++) {
			times[i] = 256;
			for (n = 0; n < 256; n++)
				check_eq(dlcbf_insert(&t, fp(t.max_remainder - i)),
					 0);
		}
		for (i = 0; i < dlcbf_words_bytes(&g) / sizeof(long); i++)
			check((t.words[i] | dlcbf_lanes(7 << 8, bits)) == ~0UL);

		for (n = 0; n < 8 * 256; n++) {
			const unsigned int gone = n * 5 % 8;

			check_eq(dlcbf_remove(&t, fp(t.max_remainder - gone)), 0);
			times[gone]--;
			for (i = 0; i < 8; i++)
				check_eq(dlcbf_count(&t, fp(t.max_remainder - i)),
					 times[i]);
		}
		check_eq(dlcbf_used_cells(&t), 0);
		test_filter_free(&t);
	}
}

/* Walks and pieces of walks */

static void test_next_live(void)
{
	struct dlcbf_geometry g = { 5, 3, 8, 16, 2 };
	u32 from, to, n;
	struct ref ref;
	struct dlcbf t;
	struct rng rng = { 4 };

	test_filter_init(&t, &g, 1);
	ref_init(&ref, &g);
	for (n = 0; n < 20; n++) {
		struct dlcbf_fingerprint f = dlcbf_fingerprint(&t, rng_next(&rng));

		check_eq(dlcbf_insert(&t, f), 0);
		ref_insert(&ref, f);
		if (n % 4 == 0) {
			u32 cell = dlcbf_claim(&t, f);

			check_eq(ref_place(&ref, f, (struct ref_cell){ 0, 1 }),
				 cell);
		}
	}
	for (from = 0; from <= ref.cells; from++) {
		for (to = 0; to <= ref.cells; to++) {
			for (n = from; n < to && !ref.cell[n].r; n++)
				;
			check_eq(dlcbf_next_live(&t, from, to),
				 n < to ? n : DLCBF_NO_CELL);
		}
	}
	test_filter_free(&t);
	free(ref.cell);
}

static void candidates_at(const struct dlcbf_geometry *g, u64 seed)
{
	struct rng rng = { seed };
	unsigned int n, j, pos;
	struct ref ref;
	struct dlcbf t;

	test_filter_init(&t, g, 1);
	ref_init(&ref, g);
	for (n = 0; n < ref.cells / 2; n++) {
		struct dlcbf_fingerprint f = dlcbf_fingerprint(&t, rng_next(&rng));

		if (!dlcbf_insert(&t, f))
			ref_insert(&ref, f);
	}
	for (n = 0; n < 200; n++) {
		struct dlcbf_fingerprint f = dlcbf_fingerprint(&t, rng_next(&rng));

		pos = 0;
		for (j = 0; j < ref_candidates(&ref); j++)
			if (ref.cell[ref_candidate(&ref, f, j)].r)
				check_eq(dlcbf_next_candidate(&t, f, &pos),
					 ref_candidate(&ref, f, j));
		check_eq(dlcbf_next_candidate(&t, f, &pos), DLCBF_NO_CELL);
		dlcbf_prefetch(&t, f);
	}
	test_filter_free(&t);
	free(ref.cell);
}

static void test_candidates(void)
{
	every_geometry(candidates_at);
}

static void histogram_at(const struct dlcbf_geometry *g, u64 seed)
{
	u64 hist[DLCBF_MAX_BUCKET_CELLS + 1], want[DLCBF_MAX_BUCKET_CELLS + 1];
	struct dlcbf_geometry large = *g;
	struct rng rng = { seed };
	unsigned int i, k, n;
	struct ref ref;
	struct dlcbf t;
	u32 b;

	large.buckets = 23;
	test_filter_init(&t, &large, 1);
	ref_init(&ref, &large);
	for (n = 0; n < ref.cells; n++) {
		struct dlcbf_fingerprint f = dlcbf_fingerprint(&t, rng_next(&rng));

		if (n % 9 == 0)
			check_eq(dlcbf_claim(&t, f),
				 ref_place(&ref, f, (struct ref_cell){ 0, 1 }));
		else
			check_eq(dlcbf_insert(&t, f), ref_insert(&ref, f));
	}
	for (i = 0; i < large.subtables; i++) {
		memset(hist, 0, sizeof(hist));
		memset(want, 0, sizeof(want));
		for (b = 0; b < large.buckets; b++) {
			const u32 first = (i * large.buckets + b) *
					  large.bucket_cells;
			unsigned int load = 0;

			for (k = 0; k < large.bucket_cells; k++)
				load += ref.cell[first + k].r ||
					ref.cell[first + k].c;
			want[load]++;
		}
		/* in pieces, the last of which goes beyond the end */
		for (b = 0; b < large.buckets; b += 7)
			dlcbf_histogram(&t, i, b, 7, hist);
		dlcbf_histogram(&t, i, large.buckets, 7, hist);
		dlcbf_histogram(&t, i, ~0U, ~0U, hist);
		check(!memcmp(hist, want, sizeof(hist)));
	}
	memset(hist, 0, sizeof(hist));
	dlcbf_histogram(&t, large.subtables, 0, 1, hist);
	check_eq(hist[0], 0);
	test_filter_free(&t);
	free(ref.cell);
}

static void test_histogram(void)
{
	every_geometry(histogram_at);
}

/* Statistics */

/*
 * An error of more than four standard errors is a fault: by chance it happens
 * once in 15,000 times, and the seeds are fixed.
 */
static void check_near(const char *what, double mean, double want, double error)
{
	check_msg(fabs(mean - want) <= 4 * error,
		  "%s is %g, not %g: %.1f standard errors", what, mean, want,
		  (mean - want) / error);
}

static int insert_random(struct dlcbf *t, struct rng *rng)
{
	return dlcbf_insert(t, dlcbf_fingerprint(t, rng_next(rng)));
}

static bool find_random(const struct dlcbf *t, struct rng *rng)
{
	return dlcbf_find(t, dlcbf_fingerprint(t, rng_next(rng))) !=
	       DLCBF_NO_CELL;
}

/*
 * With D different fingerprints in, a random key is reported with probability
 * D / F.  Geometries with few fingerprints, so that there is much to count.
 */
static void false_positives_at(const struct dlcbf_geometry *g, u64 seed)
{
	const u32 queries = 400000;
	struct rng rng = { seed };
	u32 q, n, hits = 0, cells;
	double p, f;
	struct dlcbf_geometry large = *g;
	struct dlcbf t;

	large.buckets = 60 + seed;
	test_filter_init(&t, &large, 1);
	f = (double)large.buckets * t.max_remainder;
	n = large.buckets * large.subtables * large.bucket_cells * 2 / 5;
	/* Unique, so that cells are fingerprints.  What has no room stays out. */
	for (q = 0; q < n; q++)
		dlcbf_insert_unique(&t, dlcbf_fingerprint(&t, rng_next(&rng)));
	cells = dlcbf_live_cells(&t);

	for (q = 0; q < queries; q++)
		hits += find_random(&t, &rng);
	p = cells / f;
	/* A handful of rare events is not normally distributed: allow one more. */
	check_near(test_geometry(&large), hits, queries * p,
		   sqrt(queries * p * (1 - p)) + .25);
	test_filter_free(&t);
}

static void test_false_positives(void)
{
	every_geometry(false_positives_at);
}

/* The published rate, .001463, and the number of cells behind it */
static void test_false_positives_paper(void)
{
	const double f = 2048 * 16383., n = 49152;
	const u32 trials = 40, queries = 200000;
	const double p = -expm1(n * log1p(-1 / f));
	u64 hits = 0, cells = 0;
	u32 trial, q;

	for (trial = 0; trial < trials; trial++) {
		struct rng rng = { 1000 + trial };
		struct dlcbf t;

		test_filter_init(&t, &paper, 1);
		for (q = 0; q < n; q++)
			check_eq(insert_random(&t, &rng), 0);
		for (q = 0; q < queries; q++)
			hits += find_random(&t, &rng);
		check_eq(dlcbf_elements(&t), 49152);
		cells += dlcbf_live_cells(&t);
		test_filter_free(&t);
	}
	check(fabs(p - .0014638) < .0000001);
	check_near("rate", (double)hits / trials / queries, p,
		   sqrt(p * (1 - p) / trials / queries));
	/* Pairs of equal fingerprints are as good as independent. */
	check_near("cells", (double)cells / trials, f * p,
		   sqrt(n * n / 2 / f / trials));
}

/* The mean and its standard error, over trials */
struct mean {
	double sum;
	double squares;
	u32 n;
};

static void mean_add(struct mean *m, double x)
{
	m->sum += x;
	m->squares += x * x;
	m->n++;
}

static double mean_of(const struct mean *m)
{
	return m->sum / m->n;
}

static double mean_error(const struct mean *m)
{
	const double variance = m->squares / m->n - mean_of(m) * mean_of(m);

	return sqrt(fmax(variance, 0) / (m->n - 1));
}

#define LOADS	9

/* part[i][k]: buckets of subtable i with k or more; [4][k]: of all of them */
static void add_loads(struct mean part[5][LOADS], const struct dlcbf *t)
{
	u64 hist[DLCBF_MAX_BUCKET_CELLS + 1];
	double all[LOADS] = {};
	unsigned int i, k;

	for (i = 0; i < 4; i++) {
		u64 n = 0;

		memset(hist, 0, sizeof(hist));
		dlcbf_histogram(t, i, 0, ~0U, hist);
		for (k = LOADS; k-- > 0;) {
			n += hist[k];
			mean_add(&part[i][k], n / 2048.);
			all[k] += n / 2048. / 4;
		}
		check_eq(n, 2048);
	}
	for (k = 0; k < LOADS; k++)
		mean_add(&part[4][k], all[k]);
}

/*
 * Beside the fluid limit for as many cells as there are on average.  What is so
 * rare that hardly any trial sees it has a Poisson error.
 */
static void check_loads(struct mean part[5][LOADS], const struct fluid *fluid)
{
	unsigned int i, k;
	char what[32];

	for (i = 0; i < 5; i++) {
		for (k = 1; k < LOADS; k++) {
			const double want = i < 4 ? fluid->at_least[i][k] :
						    fluid_mean(fluid, k);
			const double buckets = 2048. * (i < 4 ? 1 : 4) *
					       part[i][k].n;

			snprintf(what, sizeof(what), "subtable %u, load %u", i, k);
			check_near(what, mean_of(&part[i][k]), want,
				   mean_error(&part[i][k]) +
				   .3 * sqrt(want / buckets) + .25 / buckets);
		}
	}
}

/*
 * The experiment of ESA 2006, section 4: 3 * 2^14 elements in 2^16 cells, then
 * 2^20 times one goes and another comes.  Nothing may overflow or be lost.
 */
static void test_loads_after_churn(void)
{
	static const double published[LOADS] = {
		[5] = .9502, [6] = .7655, [7] = .2868, [8] = .0022,
	};
	const u32 n = 49152, trials = 24;
	static u64 keys[49152];
	static struct mean part[5][LOADS];
	struct mean cells = {};
	struct fluid fluid;
	u32 trial, i;

	for (trial = 0; trial < trials; trial++) {
		struct rng rng = { 2000 + trial };
		struct dlcbf t;

		test_filter_init(&t, &paper, 1);
		for (i = 0; i < n; i++) {
			keys[i] = rng_next(&rng);
			check_eq(dlcbf_insert(&t, dlcbf_fingerprint(&t, keys[i])),
				 0);
		}
		for (i = 0; i < 1 << 20; i++) {
			u64 *key = &keys[rng_below(&rng, n)];

			check_eq(dlcbf_remove(&t, dlcbf_fingerprint(&t, *key)), 0);
			*key = rng_next(&rng);
			check_eq(dlcbf_insert(&t, dlcbf_fingerprint(&t, *key)), 0);
		}
		for (i = 0; i < n; i++)
			check(dlcbf_count(&t, dlcbf_fingerprint(&t, keys[i])) > 0);
		check_eq(dlcbf_elements(&t), n);
		mean_add(&cells, dlcbf_live_cells(&t));
		add_loads(part, &t);
		test_filter_free(&t);
	}

	fluid_fill(&fluid, 4, 9, mean_of(&cells) / 2048);
	fluid_churn(&fluid, 30);
	check_loads(part, &fluid);
	for (i = 5; i < LOADS; i++)
		check_near("published load", mean_of(&part[4][i]), published[i],
			   mean_error(&part[4][i]) + .00005 / 4);
}

static void test_loads_after_filling(void)
{
	static struct mean part[5][LOADS];
	const u32 n = 49152, trials = 60;
	struct mean cells = {};
	struct fluid fluid;
	u32 trial, i;

	for (trial = 0; trial < trials; trial++) {
		struct rng rng = { 3000 + trial };
		struct dlcbf t;

		test_filter_init(&t, &paper, 1);
		for (i = 0; i < n; i++)
			check_eq(insert_random(&t, &rng), 0);
		mean_add(&cells, dlcbf_live_cells(&t));
		add_loads(part, &t);
		test_filter_free(&t);
	}

	fluid_fill(&fluid, 4, 9, mean_of(&cells) / 2048);
	check_loads(part, &fluid);
}

/* 2^20 operations on random keys of a small and of a large set */
static void test_churn_is_exact(void)
{
	struct dlcbf_geometry g = { 101, 4, 8, 16, 2 };
	u32 refused = 0;

	random_set(&g, 1 << 17, 77, &refused);
	g = (struct dlcbf_geometry){ 64, 2, 16, 32, 3 };
	random_set(&g, 1 << 17, 78, &refused);
	g = (struct dlcbf_geometry){ 33, 3, 32, 16, 1 };
	random_set(&g, 1 << 17, 79, &refused);
}

static const struct test tests[] = {
	{ "fingerprints, buckets and inverses: known answers", test_vectors },
	{ "every P_i is a permutation", test_permutations },
	{ "inversion for any number of buckets", test_inversion_at_random },
	{ "lane arithmetic is exact", test_lanes },
	{ "geometries that can and cannot be", test_geometry_check },
	{ "init refuses what it must", test_init_refuses },
	{ "number of stripes", test_stripe_count },
	{ "random sets at every geometry", test_random_sets },
	{ "random tables with records at every geometry", test_random_keyed },
	{ "random sets, larger", test_churn_is_exact },
	{ "a full bucket", test_full_bucket },
	{ "fingerprints near zero", test_zero },
	{ "a held cell matches nothing", test_held_never_matches },
	{ "misuse warns and changes nothing", test_misuse },
	{ "deleting each cell of a bucket", test_delete_each },
	{ "more copies than a counter counts", test_many_copies },
	{ "pairs that agree in one subtable", test_colliding_pairs },
	{ "cells beside each other", test_neighbours },
	{ "walk from and to anywhere", test_next_live },
	{ "candidates at every geometry", test_candidates },
	{ "histogram at every geometry", test_histogram },
	{ "false positive rate at every geometry", test_false_positives },
	{ "false positive rate of the paper", test_false_positives_paper },
	{ "loads after insertions", test_loads_after_filling },
	{ "loads after 2^20 replacements", test_loads_after_churn },
};

int main(void)
{
	return test_main(tests, ARRAY_SIZE(tests));
}
