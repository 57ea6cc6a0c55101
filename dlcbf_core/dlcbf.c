// SPDX-License-Identifier: GPL-2.0
/*
 * d-left counting Bloom filter.
 *
 * DOC: Theory of operation
 *
 * The problem: remember which of up to n 64-bit hashes were put in, how often,
 * forget them again, and answer for any other hash wrongly with a probability P
 * that was chosen beforehand; in little memory, at a bounded cost, with readers
 * that never wait.
 *
 * The construction is that of Bonomi, Mitzenmacher, Panigrahy, Singh and
 * Varghese, "An Improved Construction for Counting Bloom Filters", ESA 2006.
 * A hash is cut down to a fingerprint f = (b, r) once.  There are d subtables
 * of NB buckets of C cells, and in subtable i the fingerprint may live in any
 * cell of bucket b_i, where (b_i, r) = P_i(f) and each P_i is a permutation of
 * all fingerprints:
 *
 *	b_i = (b + g_i(r)) mod NB,  g_0 = 0
 *
 * A cell holds r, never 0, and a counter.  An element goes to the least loaded
 * of its d buckets, the leftmost of those if several are ("d-left"), so loads
 * hardly vary: with d = 4 and 6 of 8 cells filled on average, one bucket in
 * 10^27 would want a ninth.
 *
 * Worked example, d = 2, NB = 10, with g_1(7) = 4 and g_1(5) = 9:
 *
 *	insert (b=3, r=7)	may use bucket 3 of the left subtable or
 *				bucket (3 + 4) mod 10 = 7 of the right one;
 *				both are empty: left, cell "7 x1"
 *	insert (b=3, r=5)	left bucket 3 has one cell, right bucket
 *				(3 + 9) mod 10 = 2 has none: right, "5 x1"
 *	insert (b=3, r=7)	found on the left, which becomes "7 x2"
 *	look up (b=9, r=7)	left bucket 9 and right bucket 3: not there.
 *				That some other bucket has a 7 is no matter
 *	remove (b=3, r=5)	found on the right, bucket 2, and emptied
 *
 * Read backwards, "5" in right bucket 2 can only be b = (2 - 9) mod 10 = 3:
 * since P_i can be inverted, a cell gives back the fingerprint.  From this:
 *
 *  - Different fingerprints never share a cell, so that removing one cannot
 *    harm another.  (With d independent hash functions in place of permutations
 *    it can: two keys may agree in one subtable and not in the others.)
 *  - A key that was not put in is reported only if its fingerprint was:
 *    P = 1 - (1 - 1/F)^n with F = NB (2^R - 1), R the bits of a remainder,
 *    whatever d, C, and g are.  These only decide when a bucket overflows.
 *  - The filter is a multiset of fingerprints that can be walked, copied to
 *    another geometry with the same NB and R, and subtracted.
 *  - When a counter is full a second cell of the same fingerprint goes on
 *    counting.  The multiplicity is the sum over the cells.
 *
 * Elements never move once they are placed.  A cell index can therefore name
 * the element in arrays of the caller's, for its whole life.
 *
 * DOC: Concurrency
 *
 * Cells are packed into unsigned longs.  Every change of a word is one cmpxchg
 * of the whole word from a value that was read, so writers of different cells
 * of a word never undo each other, and a reader sees each cell either before or
 * after a change.  Readers take no lock.
 *
 * What a lock is needed for is that one fingerprint is not put in twice where
 * the caller wants it once, and that counts are not lost between its cells.
 * dlcbf_lock() serialises the writers of a fingerprint; those of different ones
 * only meet when they want the same empty cell, where cmpxchg decides and the
 * loser looks again.  A failed cmpxchg means that another writer succeeded, so
 * somebody always makes progress.
 *
 * The life of a cell in a table with records:
 *
 *	empty --claim--> held --publish--> live --withdraw--> held --release--> empty
 *
 * Records are written while a cell is held, before it is published, and read
 * while it is live.  Between withdraw and release the caller waits for its
 * readers, for instance for a grace period.  withdraw does not need the lock of
 * the cell's fingerprint: an evictor, which holds the lock of the fingerprint
 * that it wants to put in, may take another's cell.  Therefore even the holder
 * of a fingerprint's lock must be ready to see its cells vanish, and all
 * functions here are.
 */
#include <linux/bug.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "dlcbf.h"

/* A held cell: no remainder, so nothing matches it, and yet not empty. */
#define HELD	1U

/**
 * dlcbf_geometry_check() - can there be a filter of this shape
 * @g: geometry
 *
 * Context: Any.
 * Return: 0, -EINVAL for a field out of its range, -E2BIG for more than
 * DLCBF_MAX_CELLS cells or more bytes than this machine can address.
 */
int dlcbf_geometry_check(const struct dlcbf_geometry *g)
{
	u64 cells;

	if (!g->buckets || !g->subtables || g->subtables > DLCBF_MAX_SUBTABLES)
		return -EINVAL;
	if (g->bucket_cells != 8 && g->bucket_cells != 16 &&
	    g->bucket_cells != DLCBF_MAX_BUCKET_CELLS)
		return -EINVAL;
	if (g->cell_bits != 16 && g->cell_bits != 32)
		return -EINVAL;
	if (!g->counter_bits || g->counter_bits > DLCBF_MAX_COUNTER_BITS)
		return -EINVAL;

	cells = (u64)g->buckets * g->subtables * g->bucket_cells;
	if (cells > DLCBF_MAX_CELLS || cells * (g->cell_bits / 8) > SIZE_MAX / 2)
		return -E2BIG;
	return 0;
}

static u32 geometry_cells(const struct dlcbf_geometry *g)
{
	return g->buckets * g->subtables * g->bucket_cells;
}

/**
 * dlcbf_words_bytes() - memory for the cells of a filter
 * @g: geometry that passed dlcbf_geometry_check(), which rules out an overflow
 *
 * Context: Any.
 * Return: bytes, a multiple of 16.  Allocate them aligned to a cache line.
 */
size_t dlcbf_words_bytes(const struct dlcbf_geometry *g)
{
	return (size_t)geometry_cells(g) * (g->cell_bits / 8);
}

/**
 * dlcbf_stripe_count() - how many stripes a filter should have
 * @g:    geometry that passed dlcbf_geometry_check()
 * @cpus: how many CPUs may write at once, from 1
 *
 * With 16 stripes for each CPU, a writer meets another one by chance less than
 * once in 16 times even if all CPUs do nothing but write.  More stripes than
 * buckets in a subtable gain nothing.
 *
 * Context: Any.
 * Return: a power of two from 1 to DLCBF_MAX_STRIPES.
 */
u32 dlcbf_stripe_count(const struct dlcbf_geometry *g, unsigned int cpus)
{
	u32 want = clamp(cpus, 1U, DLCBF_MAX_STRIPES / 16U) * 16;

	return rounddown_pow_of_two(min_t(u32, roundup_pow_of_two(want),
					  g->buckets));
}

/**
 * dlcbf_stripes_bytes() - memory for the stripes of a filter
 * @nstripes: how many, at most DLCBF_MAX_STRIPES
 *
 * Context: Any.
 * Return: bytes.
 */
size_t dlcbf_stripes_bytes(u32 nstripes)
{
	return nstripes * sizeof(struct dlcbf_stripe);
}

/**
 * dlcbf_init() - make an empty filter
 * @t:        filter
 * @g:        its geometry
 * @words:    dlcbf_words_bytes(@g) bytes, zeroed
 * @stripes:  dlcbf_stripes_bytes(@nstripes) bytes, zeroed
 * @nstripes: a power of two from 1 to DLCBF_MAX_STRIPES
 *
 * The memory stays the caller's, to be freed when the filter is out of use.
 * There is nothing else to undo.
 *
 * Context: Any.
 * Return: 0, or an error of dlcbf_geometry_check(), or -EINVAL without memory
 * or for another number of stripes.
 */
int dlcbf_init(struct dlcbf *t, const struct dlcbf_geometry *g,
	       unsigned long *words, struct dlcbf_stripe *stripes,
	       u32 nstripes)
{
	int err = dlcbf_geometry_check(g);
	u32 i;

	if (err)
		return err;
	if (!words || !stripes || !is_power_of_2(nstripes) ||
	    nstripes > DLCBF_MAX_STRIPES)
		return -EINVAL;

	*t = (struct dlcbf){
		.geometry = *g,
		.cells = geometry_cells(g),
		.max_counter = (1U << g->counter_bits) - 1,
		.max_remainder = (1U << (g->cell_bits - g->counter_bits)) - 1,
		.shape = DLCBF_SHAPE(g->subtables, g->bucket_cells,
				     g->cell_bits),
		.words = words,
		.stripes = stripes,
		.stripe_mask = nstripes - 1,
	};
	for (i = 0; i < nstripes; i++)
		spin_lock_init(&stripes[i].lock);
	return 0;
}

/*
 * A count of a stripe, written under its lock and summed without it.  The sums
 * go through unsigned arithmetic: on a 32-bit machine a stripe's own count may
 * wrap while the sum over all of them does not.
 */
static void count(long *counter, long by)
{
	WRITE_ONCE(*counter, (long)((unsigned long)*counter + by));
}

/* A sum that ran beside writers may be off by what they did meanwhile. */
static u32 clamp_cells(const struct dlcbf *t, unsigned long sum)
{
	return clamp_t(long, (long)sum, 0, t->cells);
}

/**
 * dlcbf_used_cells() - count the cells that are held or live
 * @t: filter
 *
 * Reads a cache line of each stripe: not for every packet.
 *
 * Context: Any, no lock.
 * Return: cells; beside writers, a number that was nearly right.
 */
u32 dlcbf_used_cells(const struct dlcbf *t)
{
	unsigned long sum = 0;
	u32 i;

	for (i = 0; i <= t->stripe_mask; i++)
		sum += READ_ONCE(t->stripes[i].used) -
		       atomic_long_read(&t->stripes[i].released);
	return clamp_cells(t, sum);
}

static unsigned long sum_live(const struct dlcbf *t)
{
	unsigned long sum = 0;
	u32 i;

	for (i = 0; i <= t->stripe_mask; i++)
		sum += READ_ONCE(t->stripes[i].live) -
		       atomic_long_read(&t->stripes[i].withdrawn);
	return sum;
}

/**
 * dlcbf_live_cells() - count the cells that lookups can find
 * @t: filter
 *
 * Context: Any, no lock.
 * Return: cells; beside writers, a number that was nearly right.
 */
u32 dlcbf_live_cells(const struct dlcbf *t)
{
	return clamp_cells(t, sum_live(t));
}

/**
 * dlcbf_elements() - count the elements of a plain set, each as often as it is in
 * @t: filter that is only changed with dlcbf_insert(), dlcbf_insert_unique()
 *     and dlcbf_remove()
 *
 * Context: Any, no lock.
 * Return: sum of the multiplicities, on a 32-bit machine modulo 2^32; beside
 * writers, a number that was nearly right.
 */
u64 dlcbf_elements(const struct dlcbf *t)
{
	unsigned long sum = sum_live(t);
	u32 i;

	for (i = 0; i <= t->stripe_mask; i++)
		sum += READ_ONCE(t->stripes[i].extra);
	return (long)sum < 0 ? 0 : sum;
}

/* where a cell is */
struct place {
	unsigned long *word;
	unsigned int shift;
};

static struct place cell_place(const struct dlcbf *t, u32 cell)
{
	const unsigned int lane_shift = dlcbf_lane_shift(t->geometry.cell_bits);
	const unsigned int lanes = BITS_PER_LONG >> lane_shift;

	return (struct place){
		.word = &t->words[cell / lanes],
		.shift = cell % lanes << lane_shift,
	};
}

static u32 cell_value(const struct dlcbf *t, u32 cell)
{
	const struct place p = cell_place(t, cell);

	return READ_ONCE(*p.word) >> p.shift &
	       dlcbf_lane_mask(t->geometry.cell_bits);
}

static u32 live_value(const struct dlcbf *t, struct dlcbf_fingerprint f,
		      u32 counter)
{
	return f.remainder << t->geometry.counter_bits | counter;
}

/* Change a cell from @old to @new, unless it is not @old (any more). */
static bool replace(struct dlcbf *t, u32 cell, u32 old, u32 new)
{
	const unsigned long mask = dlcbf_lane_mask(t->geometry.cell_bits);
	const struct place p = cell_place(t, cell);
	unsigned long seen = READ_ONCE(*p.word);

	do {
		if ((seen >> p.shift & mask) != old)
			return false;
	} while (!try_cmpxchg(p.word, &seen,
			      seen ^ (unsigned long)(old ^ new) << p.shift));
	return true;
}

/* cells of a bucket that are held or live */
static __always_inline unsigned int bucket_load(const unsigned long *bucket,
						unsigned int bucket_cells,
						unsigned int cell_bits)
{
	unsigned int w, words = dlcbf_bucket_words(bucket_cells, cell_bits);
	unsigned long empty = 0;

	/* Each lane of @empty counts, to 8 at most, then the top one sums up. */
	for (w = 0; w < words; w++)
		empty += dlcbf_zero_lanes(READ_ONCE(bucket[w]), cell_bits) >>
			 (cell_bits - 1);
	empty = dlcbf_lanes(empty, cell_bits) >> (BITS_PER_LONG - cell_bits);
	return bucket_cells - empty;
}

/* Put @value into the first empty cell of the bucket that starts at @start. */
static __always_inline u32 fill(struct dlcbf *t, size_t start, u32 value,
				unsigned int words, unsigned int cell_bits)
{
	size_t word;

	for (word = start; word < start + words; word++) {
		unsigned long seen = READ_ONCE(t->words[word]), empty;

		while ((empty = dlcbf_zero_lanes(seen, cell_bits))) {
			const unsigned int shift =
				__ffs(empty) & ~(cell_bits - 1);

			if (try_cmpxchg(&t->words[word], &seen,
					seen | (unsigned long)value << shift))
				return dlcbf_cell_at(word, empty, cell_bits);
		}
	}
	return DLCBF_NO_CELL;
}

static __always_inline u32 __place(struct dlcbf *t, struct dlcbf_fingerprint f,
				   u32 value, unsigned int cell_bits)
{
	const unsigned int d = t->geometry.subtables;
	const unsigned int bucket_cells = t->geometry.bucket_cells;
	const unsigned int words = dlcbf_bucket_words(bucket_cells, cell_bits);
	size_t start[DLCBF_MAX_SUBTABLES];
	unsigned int i;

	for (i = 0; i < d; i++) {
		start[i] = dlcbf_bucket_start(t, f, i, words);
		dlcbf_prefetch_bucket(&t->words[start[i]], words);
	}

	for (;;) {
		unsigned int load, least = bucket_cells;
		size_t best = 0;
		u32 cell;

		for (i = 0; i < d; i++) {
			load = bucket_load(&t->words[start[i]], bucket_cells,
					   cell_bits);
			if (load < least) {
				least = load;
				best = start[i];
			}
		}
		if (least == bucket_cells)
			return DLCBF_NO_CELL;

		/* Others may have filled the bucket since it was looked at. */
		cell = fill(t, best, value, words, cell_bits);
		if (cell != DLCBF_NO_CELL)
			return cell;
	}
}

/*
 * Put @value into an empty cell of the least loaded bucket of @f, of the
 * leftmost if there are several.  The lock of @f is held.
 */
static u32 place(struct dlcbf *t, struct dlcbf_fingerprint f, u32 value)
{
	u32 cell;

	if (t->geometry.cell_bits == 16)
		cell = __place(t, f, value, 16);
	else
		cell = __place(t, f, value, 32);
	if (cell != DLCBF_NO_CELL)
		count(&dlcbf_stripe_of(t, f)->used, 1);
	return cell;
}

/**
 * dlcbf_claim() - reserve a cell for a fingerprint
 * @t: filter
 * @f: fingerprint
 *
 * The cell is held: it counts as occupied and no lookup matches it.  Write the
 * record, then call dlcbf_publish(), or else dlcbf_release().
 *
 * Context: Any, the lock of @f held.
 * Return: a cell of the least loaded bucket of @f; DLCBF_NO_CELL when all of
 * its buckets are full, and nothing was changed.
 */
u32 dlcbf_claim(struct dlcbf *t, struct dlcbf_fingerprint f)
{
	return place(t, f, HELD);
}

/**
 * dlcbf_publish() - let lookups find a held cell
 * @t:       filter
 * @cell:    from dlcbf_claim() for @f
 * @f:       fingerprint
 * @counter: initial value of the counter field, at most @t->max_counter
 *
 * Whoever finds the cell sees what was written before this call.
 *
 * Context: Any, the lock of @f held.
 */
void dlcbf_publish(struct dlcbf *t, u32 cell, struct dlcbf_fingerprint f,
		   u32 counter)
{
	if (WARN_ON_ONCE(!replace(t, cell, HELD, live_value(t, f, counter))))
		return;
	count(&dlcbf_stripe_of(t, f)->live, 1);
}

/**
 * dlcbf_release() - empty a held cell
 * @t:    filter
 * @cell: from dlcbf_claim(), not published, or taken by dlcbf_withdraw() so
 *        long ago that no reader uses its record any more
 *
 * Context: Any, no lock needed; that of a fingerprint may be held.
 */
void dlcbf_release(struct dlcbf *t, u32 cell)
{
	if (WARN_ON_ONCE(!replace(t, cell, HELD, 0)))
		return;
	atomic_long_inc(&t->stripes[cell & t->stripe_mask].released);
}

/**
 * dlcbf_withdraw() - take a live cell out of the reach of lookups
 * @t:       filter
 * @cell:    cell
 * @f:       the fingerprint that it should have
 * @counter: the counter that it should have
 *
 * Of several that try at once, one succeeds.  The cell is held then, until the
 * winner calls dlcbf_release().  Readers that found it before may still use its
 * record.
 *
 * Context: Any, no lock needed; that of a fingerprint may be held.
 * Return: true if the cell is held now, false if it is not live with @f and
 * @counter, and was left alone.
 */
bool dlcbf_withdraw(struct dlcbf *t, u32 cell, struct dlcbf_fingerprint f,
		    u32 counter)
{
	if (!replace(t, cell, live_value(t, f, counter), HELD))
		return false;
	atomic_long_inc(&dlcbf_stripe_of(t, f)->withdrawn);
	return true;
}

/**
 * dlcbf_set_counter() - change the counter of a live cell
 * @t:    filter
 * @cell: cell
 * @f:    the fingerprint that it should have
 * @old:  the counter that it should have
 * @new:  the counter to give it, at most @t->max_counter
 *
 * For tables that use the counter field for something of their own.
 *
 * Context: Any, no lock needed.
 * Return: true if it was changed, false if the cell is not live with @f and
 * @old, and was left alone.
 */
bool dlcbf_set_counter(struct dlcbf *t, u32 cell, struct dlcbf_fingerprint f,
		       u32 old, u32 new)
{
	return replace(t, cell, live_value(t, f, old), live_value(t, f, new));
}

/**
 * dlcbf_cell_read() - what is in a cell
 * @t:       filter
 * @cell:    cell, less than @t->cells
 * @f:       set to its fingerprint, as it was given to the insertion
 * @counter: set to its counter
 *
 * Pairs with dlcbf_publish(), as dlcbf_find_if() does.
 *
 * Context: Any, no lock.
 * Return: true if the cell is live; otherwise false, with nothing set.
 */
bool dlcbf_cell_read(const struct dlcbf *t, u32 cell,
		     struct dlcbf_fingerprint *f, u32 *counter)
{
	const struct dlcbf_geometry *g = &t->geometry;
	const u32 value = cell_value(t, cell);
	const u32 r = value >> g->counter_bits;
	const u32 bucket = cell / g->bucket_cells;

	if (!r)
		return false;
	smp_acquire__after_ctrl_dep();
	*f = dlcbf_invert(g->buckets, bucket % g->buckets, r,
			  bucket / g->buckets);
	*counter = value & t->max_counter;
	return true;
}

/**
 * dlcbf_next_live() - find the next live cell of a walk
 * @t:    filter
 * @cell: first cell to look at
 * @end:  the cell to stop before, at most @t->cells
 *
 * @end bounds the work, for an empty table is long.  An element that is in
 * the filter during a whole walk from cell 0 to @t->cells is met exactly once.
 *
 * Context: Any, no lock.
 * Return: the first live cell of [@cell, @end), DLCBF_NO_CELL without one.
 */
u32 dlcbf_next_live(const struct dlcbf *t, u32 cell, u32 end)
{
	const unsigned int cell_bits = t->geometry.cell_bits;
	const unsigned int lane_shift = dlcbf_lane_shift(cell_bits);
	const unsigned int lanes = BITS_PER_LONG >> lane_shift;
	const unsigned long tops = dlcbf_lanes(1UL << (cell_bits - 1),
					       cell_bits);
	unsigned long skip;
	size_t word;

	if (cell >= end)
		return DLCBF_NO_CELL;

	skip = ~0UL << (cell % lanes << lane_shift);
	for (word = cell / lanes; word <= (end - 1) / lanes; word++) {
		/* Nothing matches a remainder of zero: what is left is live. */
		unsigned long live = tops & skip &
			~dlcbf_match_lanes(READ_ONCE(t->words[word]), 0,
					   cell_bits, t->geometry.counter_bits);

		if (live) {
			cell = dlcbf_cell_at(word, live, cell_bits);
			return cell < end ? cell : DLCBF_NO_CELL;
		}
		skip = ~0UL;
	}
	return DLCBF_NO_CELL;
}

/**
 * dlcbf_next_candidate() - walk the live cells that an element could displace
 * @t:   filter
 * @f:   fingerprint that found no room
 * @pos: 0 at the beginning, then what the last call left
 *
 * The cells belong to any fingerprint: see dlcbf_cell_read().  They may change
 * at any time, which dlcbf_withdraw() notices.
 *
 * Context: Any, no lock.
 * Return: the next live cell of the d buckets of @f, DLCBF_NO_CELL at the end.
 */
u32 dlcbf_next_candidate(const struct dlcbf *t, struct dlcbf_fingerprint f,
			 unsigned int *pos)
{
	const struct dlcbf_geometry *g = &t->geometry;

	while (*pos < g->subtables * g->bucket_cells) {
		const unsigned int i = *pos / g->bucket_cells;
		const unsigned int slot = *pos % g->bucket_cells;
		const u32 first = dlcbf_bucket_start(t, f, i, g->bucket_cells);
		const u32 cell = dlcbf_next_live(t, first + slot,
						 first + g->bucket_cells);

		if (cell != DLCBF_NO_CELL) {
			*pos = i * g->bucket_cells + (cell - first) + 1;
			return cell;
		}
		*pos = (i + 1) * g->bucket_cells;
	}
	return DLCBF_NO_CELL;
}

/**
 * dlcbf_histogram() - count buckets by their load
 * @t:            filter
 * @subtable:     which one, from 0 on the left
 * @first_bucket: first bucket to count
 * @nbuckets:     how many to count; fewer are if the subtable ends before
 * @hist:         @hist[k] is increased by the number of buckets with k cells
 *                held or live
 *
 * Context: Any, no lock.  The caller bounds the work by @nbuckets.
 */
void dlcbf_histogram(const struct dlcbf *t, unsigned int subtable,
		     u32 first_bucket, u32 nbuckets,
		     u64 hist[DLCBF_MAX_BUCKET_CELLS + 1])
{
	const struct dlcbf_geometry *g = &t->geometry;
	const unsigned int words = dlcbf_bucket_words(g->bucket_cells,
						      g->cell_bits);
	size_t word;

	if (subtable >= g->subtables || first_bucket >= g->buckets)
		return;

	word = ((size_t)subtable * g->buckets + first_bucket) * words;
	for (nbuckets = min(nbuckets, g->buckets - first_bucket); nbuckets;
	     nbuckets--, word += words)
		hist[bucket_load(&t->words[word], g->bucket_cells,
				 g->cell_bits)]++;
}

/*
 * The live cell of @f with the smallest counter, the first of them if there are
 * several.  The lock of @f is held.
 *
 * Both insertion and removal work on this cell.  So at most one cell of @f is
 * not full, and when all are, the first in the order of lookups is taken from.
 * This keeps a lookup that runs beside from passing by an element that is in:
 * it would have to pass cell X before X is taken and reach cell Y after Y is
 * emptied, with X staying behind.  But a Y older than X outlives it, for X is
 * not full or else comes first; and a Y that is newer than X was not needed to
 * keep the element in when X was taken, so what was in then is met by the same
 * argument.
 */
static u32 smallest(const struct dlcbf *t, struct dlcbf_fingerprint f,
		    u32 *value)
{
	const struct dlcbf_geometry *g = &t->geometry;
	const unsigned int words = dlcbf_bucket_words(g->bucket_cells,
						      g->cell_bits);
	const unsigned long want = dlcbf_lanes(live_value(t, f, 0),
					       g->cell_bits);
	u32 found = DLCBF_NO_CELL;
	unsigned int i;

	for (i = 0; i < g->subtables; i++) {
		const size_t start = dlcbf_bucket_start(t, f, i, words);
		size_t word;

		for (word = start; word < start + words; word++) {
			const unsigned long seen = READ_ONCE(t->words[word]);
			unsigned long hits;

			hits = dlcbf_match_lanes(seen, want, g->cell_bits,
						 g->counter_bits);
			for (; hits; hits &= hits - 1) {
				u32 v = seen >> (__ffs(hits) & ~(g->cell_bits - 1)) &
					dlcbf_lane_mask(g->cell_bits);

				if (found == DLCBF_NO_CELL || v < *value) {
					*value = v;
					found = dlcbf_cell_at(word, hits,
							      g->cell_bits);
				}
			}
		}
	}
	return found;
}

static int insert(struct dlcbf *t, struct dlcbf_fingerprint f, bool unique)
{
	struct dlcbf_stripe *stripe = dlcbf_stripe_of(t, f);
	u32 cell, value;

	for (;;) {
		cell = smallest(t, f, &value);
		if (cell == DLCBF_NO_CELL ||
		    (value & t->max_counter) == t->max_counter)
			break;
		if (unique)
			return -EEXIST;
		if (replace(t, cell, value, value + 1)) {
			count(&stripe->extra, 1);
			return 0;
		}
		/* It was withdrawn meanwhile. */
	}
	if (cell != DLCBF_NO_CELL && unique)
		return -EEXIST;

	if (place(t, f, live_value(t, f, 0)) == DLCBF_NO_CELL)
		return -ENOSPC;
	count(&stripe->live, 1);
	return 0;
}

/**
 * dlcbf_insert() - put an element into a set, once more if it is in already
 * @t: filter
 * @f: fingerprint
 *
 * A live cell with counter c says that its fingerprint is in c + 1 times.
 *
 * Context: Process or softirq.  Takes the lock of @f.
 * Return: 0, -ENOSPC if there is no room, and nothing was changed.
 */
int dlcbf_insert(struct dlcbf *t, struct dlcbf_fingerprint f)
{
	int err;

	dlcbf_lock(t, f);
	err = insert(t, f, false);
	dlcbf_unlock(t, f);
	return err;
}

/**
 * dlcbf_insert_unique() - put an element into a set unless it is in already
 * @t: filter
 * @f: fingerprint
 *
 * Context: Process or softirq.  Takes the lock of @f.
 * Return: 0, -EEXIST if @f was in, -ENOSPC if there is no room; nothing was
 * changed then.
 */
int dlcbf_insert_unique(struct dlcbf *t, struct dlcbf_fingerprint f)
{
	int err;

	dlcbf_lock(t, f);
	err = insert(t, f, true);
	dlcbf_unlock(t, f);
	return err;
}

/**
 * dlcbf_remove() - take an element out of a set, once
 * @t: filter
 * @f: fingerprint
 *
 * Only for what was put in: removing a key that was not removes any other one
 * that has its fingerprint, if there is one.
 *
 * Context: Process or softirq.  Takes the lock of @f.
 * Return: 0, -ENOENT if @f is not in.
 */
int dlcbf_remove(struct dlcbf *t, struct dlcbf_fingerprint f)
{
	struct dlcbf_stripe *stripe = dlcbf_stripe_of(t, f);
	int err = -ENOENT;
	u32 cell, value;

	dlcbf_lock(t, f);
	while ((cell = smallest(t, f, &value)) != DLCBF_NO_CELL) {
		const bool last = !(value & t->max_counter);

		if (!replace(t, cell, value, last ? 0 : value - 1))
			continue;	/* It was withdrawn meanwhile. */
		if (last) {
			count(&stripe->used, -1);
			count(&stripe->live, -1);
		} else {
			count(&stripe->extra, -1);
		}
		err = 0;
		break;
	}
	dlcbf_unlock(t, f);
	return err;
}

/**
 * dlcbf_count() - how often an element is in a set
 * @t: filter
 * @f: fingerprint
 *
 * Context: Any.  Without the lock of @f, a count that runs beside a writer of
 * @f may mix cells from before and after its change.
 * Return: the multiplicity, 0 if @f is not in.
 */
u64 dlcbf_count(const struct dlcbf *t, struct dlcbf_fingerprint f)
{
	unsigned int pos = 0;
	u64 sum = 0;
	u32 cell;

	while ((cell = dlcbf_next_candidate(t, f, &pos)) != DLCBF_NO_CELL) {
		const u32 value = cell_value(t, cell);

		if (value >> t->geometry.counter_bits == f.remainder)
			sum += (value & t->max_counter) + 1;
	}
	return sum;
}
