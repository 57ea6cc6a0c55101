/* SPDX-License-Identifier: GPL-2.0 */
/*
 * d-left counting Bloom filter over 64-bit hashes.
 *
 * The filter knows no keys and no networking: its caller hashes a key once,
 * with a secret, and hands in the 64 bits.  See Documentation/theory.md for the
 * construction and dlcbf.c for the locking.
 */
#ifndef DLCBF_H
#define DLCBF_H

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/math.h>
#include <linux/prefetch.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#define DLCBF_MAX_SUBTABLES	8
#define DLCBF_MAX_BUCKET_CELLS	32
#define DLCBF_MAX_COUNTER_BITS	8
/* A cell index is a u32, and DLCBF_NO_CELL must not be one. */
#define DLCBF_MAX_CELLS		0x80000000U
#define DLCBF_NO_CELL		(~0U)
#define DLCBF_MAX_STRIPES	1024

/**
 * struct dlcbf_geometry - the shape of a filter
 * @buckets:      buckets in each subtable, any number from 1
 * @subtables:    d, the number of subtables, 1 to DLCBF_MAX_SUBTABLES
 * @bucket_cells: cells in each bucket: 8, 16 or 32
 * @cell_bits:    bits in each cell: 16 or 32
 * @counter_bits: how many of them count, 1 to DLCBF_MAX_COUNTER_BITS; the
 *                others hold the remainder
 */
struct dlcbf_geometry {
	u32 buckets;
	u8 subtables;
	u8 bucket_cells;
	u8 cell_bits;
	u8 counter_bits;
};

/**
 * struct dlcbf_fingerprint - what the filter keeps of a key
 * @bucket:    b, in [0, buckets)
 * @remainder: r, in [1, 2^(cell_bits - counter_bits) - 1]
 *
 * Every element is its fingerprint.  Two keys that have the same fingerprint
 * cannot be told apart; two fingerprints that differ never share a cell.
 */
struct dlcbf_fingerprint {
	u32 bucket;
	u32 remainder;
};

/**
 * struct dlcbf_stripe - a writer lock, and counts that it keeps off other CPUs
 * @lock:      serialises the writers of the fingerprints of this stripe
 * @used:      cells taken less cells emptied, changed under @lock
 * @live:      cells published less cells cleared, changed under @lock
 * @extra:     counter increments less decrements, changed under @lock
 * @released:  cells that were emptied by dlcbf_release(), without @lock
 * @withdrawn: cells that were held by dlcbf_withdraw(), without @lock
 *
 * A cell may be taken in one stripe and released in another, so one stripe's
 * counts mean nothing and may be negative.  Their sums are the filter's.
 */
struct dlcbf_stripe {
	spinlock_t lock;	/* see above */
	long used;
	long live;
	long extra;
	atomic_long_t released;
	atomic_long_t withdrawn;
} ____cacheline_aligned_in_smp;

/**
 * struct dlcbf - a filter
 * @geometry:      its shape, constant
 * @cells:         number of cells in all subtables
 * @max_counter:   largest value of a cell's counter field
 * @max_remainder: largest value of a cell's remainder field
 * @shape:         what the loops over a bucket are specialised by
 * @words:         the cells, packed; a cell never straddles a word
 * @stripes:       writer locks and element counts, picked by fingerprint
 * @stripe_mask:   number of stripes less one
 *
 * A cell is empty (all zeros), held (remainder zero, counter not zero) or live
 * (remainder not zero).  No lookup matches an empty or a held cell.
 */
struct dlcbf {
	struct dlcbf_geometry geometry;
	u32 cells;
	u32 max_counter;
	u32 max_remainder;
	u32 shape;
	unsigned long *words;
	struct dlcbf_stripe *stripes;
	u32 stripe_mask;
};

/**
 * typedef dlcbf_match_fn - ask the caller whether a cell is the one it means
 * @ctx:  what was given to dlcbf_find_if()
 * @cell: a cell that has the fingerprint; its record may be read
 *
 * Return: true to take this cell, false to look further.
 */
typedef bool (*dlcbf_match_fn)(const void *ctx, u32 cell);

int dlcbf_geometry_check(const struct dlcbf_geometry *g);
size_t dlcbf_words_bytes(const struct dlcbf_geometry *g);
u32 dlcbf_stripe_count(const struct dlcbf_geometry *g, unsigned int cpus);
size_t dlcbf_stripes_bytes(u32 nstripes);
int dlcbf_init(struct dlcbf *t, const struct dlcbf_geometry *g,
	       unsigned long *words, struct dlcbf_stripe *stripes,
	       u32 nstripes);

u32 dlcbf_used_cells(const struct dlcbf *t);
u32 dlcbf_live_cells(const struct dlcbf *t);
u64 dlcbf_elements(const struct dlcbf *t);

u32 dlcbf_claim(struct dlcbf *t, struct dlcbf_fingerprint f);
void dlcbf_publish(struct dlcbf *t, u32 cell, struct dlcbf_fingerprint f,
		   u32 counter);
void dlcbf_release(struct dlcbf *t, u32 cell);
bool dlcbf_withdraw(struct dlcbf *t, u32 cell, struct dlcbf_fingerprint f,
		    u32 counter);
bool dlcbf_set_counter(struct dlcbf *t, u32 cell, struct dlcbf_fingerprint f,
		       u32 old, u32 new);

bool dlcbf_cell_read(const struct dlcbf *t, u32 cell,
		     struct dlcbf_fingerprint *f, u32 *counter);
u32 dlcbf_next_live(const struct dlcbf *t, u32 cell, u32 end);
u32 dlcbf_next_candidate(const struct dlcbf *t, struct dlcbf_fingerprint f,
			 unsigned int *pos);
void dlcbf_histogram(const struct dlcbf *t, unsigned int subtable,
		     u32 first_bucket, u32 nbuckets,
		     u64 hist[DLCBF_MAX_BUCKET_CELLS + 1]);

int dlcbf_insert(struct dlcbf *t, struct dlcbf_fingerprint f);
int dlcbf_insert_unique(struct dlcbf *t, struct dlcbf_fingerprint f);
int dlcbf_remove(struct dlcbf *t, struct dlcbf_fingerprint f);
u64 dlcbf_count(const struct dlcbf *t, struct dlcbf_fingerprint f);

/*
 * g_i(r) takes the top half of r times the i-th of these, modulo 2^64.  They
 * are the first 64 bits of the fractions of the square roots of the primes from
 * 2 to 17, made odd, after a zero for g_0.  No two are in a ratio of small
 * integers, nor is any sum of small multiples of them near zero: it is such
 * ratios (1, 3, 5, 7 for instance) that send elements which share one bucket to
 * the same further buckets, and overflow them.
 */
static const u64 dlcbf_spread[DLCBF_MAX_SUBTABLES] = {
	0,
	0x6a09e667f3bcc909ULL, 0xbb67ae8584caa73bULL, 0x3c6ef372fe94f82bULL,
	0xa54ff53a5f1d36f1ULL, 0x510e527fade682d1ULL, 0x9b05688c2b3e6c1fULL,
	0x1f83d9abfb41bd6bULL,
};

/**
 * dlcbf_fingerprint() - reduce a hash to what the filter keeps
 * @t:    filter
 * @hash: 64 uniformly distributed bits, from a keyed hash wherever somebody
 *        else may choose the keys
 *
 * b comes from the upper half of the hash and r from the lower, each scaled by
 * a multiplication, so any number of buckets will do.  Scaling 2^32 values to
 * fewer than 2^28 buckets favours some by 1/16 at the very worst; at a million
 * buckets the probabilities differ by 2^-12.
 *
 * Context: Any.
 * Return: the fingerprint.
 */
static __always_inline struct dlcbf_fingerprint
dlcbf_fingerprint(const struct dlcbf *t, u64 hash)
{
	return (struct dlcbf_fingerprint){
		.bucket = reciprocal_scale(hash >> 32, t->geometry.buckets),
		.remainder = 1 + reciprocal_scale((u32)hash, t->max_remainder),
	};
}

/* g_i(r), how far subtable i moves the bucket of remainder r */
static __always_inline u32 dlcbf_shift(u32 buckets, u32 r, unsigned int i)
{
	return reciprocal_scale((r * dlcbf_spread[i]) >> 32, buckets);
}

/*
 * P_i(b, r) = (b + g_i(r) mod NB, r), a bijection whatever g_i is.  The ESA 2006
 * paper asks for d permutations of the fingerprint; one that leaves r as it is
 * lets one broadcast of r be compared with all d buckets.
 */
static __always_inline u32 dlcbf_bucket(u32 buckets, struct dlcbf_fingerprint f,
					unsigned int i)
{
	u32 b = f.bucket + dlcbf_shift(buckets, f.remainder, i);

	return b >= buckets ? b - buckets : b;
}

/* the inverse of P_i */
static __always_inline struct dlcbf_fingerprint
dlcbf_invert(u32 buckets, u32 bucket, u32 r, unsigned int i)
{
	u32 shift = dlcbf_shift(buckets, r, i);

	return (struct dlcbf_fingerprint){
		.bucket = bucket >= shift ? bucket - shift :
					    bucket + buckets - shift,
		.remainder = r,
	};
}

/*
 * Lanes: a word is taken as BITS_PER_LONG / cell_bits cells side by side, the
 * first one in the lowest bits of its value whatever the byte order.
 */
static __always_inline unsigned int dlcbf_lane_shift(unsigned int cell_bits)
{
	return cell_bits == 16 ? 4 : 5;
}

static __always_inline unsigned long dlcbf_lane_mask(unsigned int cell_bits)
{
	return cell_bits == 16 ? 0xffffUL : 0xffffffffUL;
}

/* @value in every lane */
static __always_inline unsigned long dlcbf_lanes(unsigned long value,
						 unsigned int cell_bits)
{
	return value * (cell_bits == 16 ? ~0UL / 0xffffUL :
					  ~0UL / 0xffffffffUL);
}

/*
 * The top bit of every lane that is zero, and no other bit.  The sum carries
 * into a lane's top bit when any of its other bits is set and never beyond it,
 * so unlike (v - 1) & ~v this is exact in every lane.
 */
static __always_inline unsigned long dlcbf_zero_lanes(unsigned long v,
						      unsigned int cell_bits)
{
	const unsigned long low = dlcbf_lanes(dlcbf_lane_mask(cell_bits) >> 1,
					      cell_bits);

	return ~(((v & low) + low) | v | low);
}

/* the lanes of @word whose remainder is that of @want, a broadcast live cell */
static __always_inline unsigned long
dlcbf_match_lanes(unsigned long word, unsigned long want, unsigned int cell_bits,
		  unsigned int counter_bits)
{
	const unsigned long remainders =
		dlcbf_lanes(dlcbf_lane_mask(cell_bits) >> counter_bits <<
			    counter_bits, cell_bits);

	return dlcbf_zero_lanes((word ^ want) & remainders, cell_bits);
}

/* the index of the cell that is the first of @lanes in word @word */
static __always_inline u32 dlcbf_cell_at(size_t word, unsigned long lanes,
					 unsigned int cell_bits)
{
	return word * (BITS_PER_LONG >> dlcbf_lane_shift(cell_bits)) +
	       (__ffs(lanes) >> dlcbf_lane_shift(cell_bits));
}

/* words in a bucket */
static __always_inline unsigned int dlcbf_bucket_words(unsigned int bucket_cells,
						       unsigned int cell_bits)
{
	return (bucket_cells << dlcbf_lane_shift(cell_bits)) / BITS_PER_LONG;
}

/* the first word of f's bucket in subtable i */
static __always_inline size_t
dlcbf_bucket_start(const struct dlcbf *t, struct dlcbf_fingerprint f,
		   unsigned int i, unsigned int bucket_words)
{
	const u32 buckets = t->geometry.buckets;

	return ((size_t)i * buckets + dlcbf_bucket(buckets, f, i)) *
	       bucket_words;
}

static __always_inline void dlcbf_prefetch_bucket(const unsigned long *bucket,
						  unsigned int bucket_words)
{
	unsigned int w;

	for (w = 0; w < bucket_words; w += L1_CACHE_BYTES / sizeof(*bucket))
		prefetch(&bucket[w]);
}

/* dlcbf_find_if() for one shape; the compiler sees constants and unrolls */
static __always_inline u32
__dlcbf_find_if(const struct dlcbf *t, struct dlcbf_fingerprint f,
		dlcbf_match_fn match, const void *ctx, unsigned int d,
		unsigned int bucket_cells, unsigned int cell_bits)
{
	const unsigned int bucket_words = dlcbf_bucket_words(bucket_cells,
							     cell_bits);
	const unsigned int counter_bits = t->geometry.counter_bits;
	const unsigned long want =
		dlcbf_lanes((unsigned long)f.remainder << counter_bits,
			    cell_bits);
	size_t start[DLCBF_MAX_SUBTABLES];
	unsigned int i, w;

	/* The cache misses of all d buckets overlap. */
	for (i = 0; i < d; i++) {
		start[i] = dlcbf_bucket_start(t, f, i, bucket_words);
		dlcbf_prefetch_bucket(&t->words[start[i]], bucket_words);
	}

	for (i = 0; i < d; i++) {
		for (w = 0; w < bucket_words; w++) {
			const size_t word = start[i] + w;
			unsigned long hits;

			hits = dlcbf_match_lanes(READ_ONCE(t->words[word]),
						 want, cell_bits, counter_bits);
			for (; hits; hits &= hits - 1) {
				u32 cell = dlcbf_cell_at(word, hits, cell_bits);

				/*
				 * Pairs with dlcbf_publish(): what was written
				 * of the cell's record before is seen after.
				 */
				smp_acquire__after_ctrl_dep();
				if (!match || match(ctx, cell))
					return cell;
			}
		}
	}
	return DLCBF_NO_CELL;
}

#define DLCBF_SHAPE(d, bucket_cells, cell_bits) \
	((d) << 16 | (bucket_cells) << 8 | (cell_bits))

/**
 * dlcbf_find_if() - find the cell of an element, asking about each candidate
 * @t:     filter
 * @f:     fingerprint
 * @match: predicate, or NULL to take the first cell; inlined where it can be
 * @ctx:   given to @match
 *
 * For a table that keeps each element's key beside its cell.  An element that
 * is in the filter from before the call until after it is always found, since
 * cells never move.
 *
 * Context: Any, no lock.  A caller that reads the cell's record must keep the
 * cell from being released meanwhile, with RCU for instance.
 * Return: a live cell of @f for which @match holds, DLCBF_NO_CELL without one.
 */
static __always_inline u32
dlcbf_find_if(const struct dlcbf *t, struct dlcbf_fingerprint f,
	      dlcbf_match_fn match, const void *ctx)
{
	const struct dlcbf_geometry *g = &t->geometry;

	/* Other shapes are as right, and slower. */
	switch (t->shape) {
	case DLCBF_SHAPE(4, 8, 16):
		return __dlcbf_find_if(t, f, match, ctx, 4, 8, 16);
	case DLCBF_SHAPE(4, 8, 32):
		return __dlcbf_find_if(t, f, match, ctx, 4, 8, 32);
	}
	if (g->cell_bits == 16)
		return __dlcbf_find_if(t, f, match, ctx, g->subtables,
				       g->bucket_cells, 16);
	return __dlcbf_find_if(t, f, match, ctx, g->subtables,
			       g->bucket_cells, 32);
}

/**
 * dlcbf_find() - find the first cell of a fingerprint
 * @t: filter
 * @f: fingerprint
 *
 * Context: Any, no lock.
 * Return: the first live cell of @f, DLCBF_NO_CELL if there is none.
 */
static __always_inline u32 dlcbf_find(const struct dlcbf *t,
				      struct dlcbf_fingerprint f)
{
	return dlcbf_find_if(t, f, NULL, NULL);
}

/**
 * dlcbf_prefetch() - start to bring the buckets of a fingerprint into the cache
 * @t: filter
 * @f: fingerprint that will be looked up soon
 *
 * For callers with a batch at hand.
 *
 * Context: Any, no lock.
 */
static __always_inline void dlcbf_prefetch(const struct dlcbf *t,
					   struct dlcbf_fingerprint f)
{
	const unsigned int bucket_words =
		dlcbf_bucket_words(t->geometry.bucket_cells,
				   t->geometry.cell_bits);
	unsigned int i;

	for (i = 0; i < t->geometry.subtables; i++) {
		size_t start = dlcbf_bucket_start(t, f, i, bucket_words);

		dlcbf_prefetch_bucket(&t->words[start], bucket_words);
	}
}

/* the stripe of f: every bit of f counts, for either half may be small */
static __always_inline struct dlcbf_stripe *
dlcbf_stripe_of(const struct dlcbf *t, struct dlcbf_fingerprint f)
{
	u32 mixed = (f.bucket ^ f.remainder * 0x9e3779b1U) * 0x85ebca6bU;

	return &t->stripes[mixed >> 16 & t->stripe_mask];
}

/**
 * dlcbf_lock() - keep other writers of a fingerprint out
 * @t: filter
 * @f: fingerprint
 *
 * Writers of other fingerprints may go on, those of the same stripe excepted.
 * Nobody may hold the locks of two fingerprints at once.
 *
 * Context: Process or softirq.  Disables softirqs and takes a spinlock, until
 * dlcbf_unlock().
 */
static inline void dlcbf_lock(struct dlcbf *t, struct dlcbf_fingerprint f)
	__acquires(&dlcbf_stripe_of(t, f)->lock)
{
	spin_lock_bh(&dlcbf_stripe_of(t, f)->lock);
}

/**
 * dlcbf_unlock() - let other writers of a fingerprint in
 * @t: filter
 * @f: the fingerprint given to dlcbf_lock()
 */
static inline void dlcbf_unlock(struct dlcbf *t, struct dlcbf_fingerprint f)
	__releases(&dlcbf_stripe_of(t, f)->lock)
{
	spin_unlock_bh(&dlcbf_stripe_of(t, f)->lock);
}

#endif /* DLCBF_H */
