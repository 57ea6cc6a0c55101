// SPDX-License-Identifier: GPL-2.0
/*
 * Writers and readers at once, for a second at a time: small filters, so that
 * they meet.  Worth most under a thread sanitizer.
 */
#include <pthread.h>
#include <time.h>

#include "test.h"

#define WRITERS		3
#define READERS		2
#define THREADS		(WRITERS + READERS)

static int stop;

static bool stopped(void)
{
	return __atomic_load_n(&stop, __ATOMIC_RELAXED);
}

/* Run @writer WRITERS times and @reader READERS times for a second. */
static void run_threads(void *(*writer)(void *), void *(*reader)(void *))
{
	const struct timespec second = { 1, 0 };
	pthread_t threads[THREADS];
	unsigned long i;

	__atomic_store_n(&stop, 0, __ATOMIC_RELAXED);
	for (i = 0; i < THREADS; i++)
		check_eq(pthread_create(&threads[i], NULL,
					i < WRITERS ? writer : reader,
					(void *)i), 0);
	nanosleep(&second, NULL);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (i = 0; i < THREADS; i++)
		check_eq(pthread_join(threads[i], NULL), 0);
}

/* Sets */

static struct dlcbf set;

/* Each writer's own, many of which have the fingerprints of another's. */
#define OWN		40
static struct dlcbf_fingerprint own[WRITERS][OWN];
static u32 times[WRITERS][OWN];

/* In from the beginning to the end; writers add copies and take them away. */
#define ALWAYS		8
static struct dlcbf_fingerprint always[ALWAYS];
static u32 copies[WRITERS][ALWAYS];

static u64 refused, inserted;

static void *set_writer(void *arg)
{
	const unsigned long me = (unsigned long)arg;
	struct rng rng = { 100 + me };
	u64 full = 0, done = 0;

	while (!stopped()) {
		const bool extra = rng_below(&rng, 2);
		const u32 i = rng_below(&rng, extra ? ALWAYS : OWN);
		const struct dlcbf_fingerprint f = extra ? always[i] : own[me][i];
		u32 *n = extra ? &copies[me][i] : &times[me][i];

		if (rng_below(&rng, 10) < 5) {
			const int err = dlcbf_insert(&set, f);

			check(!err || err == -ENOSPC);
			*n += !err;
			done += !err;
			full += !!err;
		} else if (*n) {
			/* Its own copies are in, whatever others do. */
			check(dlcbf_find(&set, f) != DLCBF_NO_CELL);
			check_eq(dlcbf_remove(&set, f), 0);
			--*n;
		}
	}
	__atomic_fetch_add(&refused, full, __ATOMIC_RELAXED);
	__atomic_fetch_add(&inserted, done, __ATOMIC_RELAXED);
	return NULL;
}

static void *set_reader(void *arg)
{
	struct rng rng = { 200 + (unsigned long)arg };
	struct dlcbf_fingerprint f;
	u64 hist[DLCBF_MAX_BUCKET_CELLS + 1] = {};
	u32 cell, counter;
	unsigned int n;

	while (!stopped()) {
		for (n = 0; n < 1000; n++) {
			f = always[rng_below(&rng, ALWAYS)];
			check(dlcbf_find(&set, f) != DLCBF_NO_CELL);
		}
		/* A walk meets nothing that was never put in. */
		for (cell = 0; (cell = dlcbf_next_live(&set, cell, set.cells)) !=
			       DLCBF_NO_CELL; cell++)
			if (dlcbf_cell_read(&set, cell, &f, &counter))
				check(f.bucket < set.geometry.buckets &&
				      counter <= set.max_counter);
		dlcbf_histogram(&set, 0, 0, ~0U, hist);
		check(dlcbf_used_cells(&set) <= set.cells);
		check(dlcbf_live_cells(&set) <= set.cells);
	}
	return NULL;
}

static bool same(struct dlcbf_fingerprint a, struct dlcbf_fingerprint b)
{
	return a.bucket == b.bucket && a.remainder == b.remainder;
}

/* how often @f is in, by the writers' own books */
static u32 booked(struct dlcbf_fingerprint f)
{
	unsigned int w, i;
	u32 n = 0;

	for (w = 0; w < WRITERS; w++) {
		for (i = 0; i < OWN; i++)
			if (same(own[w][i], f))
				n += times[w][i];
		for (i = 0; i < ALWAYS; i++)
			if (same(always[i], f))
				n += copies[w][i];
	}
	for (i = 0; i < ALWAYS; i++)
		n += same(always[i], f);
	return n;
}

static void run_sets(const struct dlcbf_geometry *g)
{
	struct rng rng = { g->cell_bits };
	unsigned int w, i;
	u64 total = ALWAYS;
	u32 cell, counter;
	struct dlcbf_fingerprint f;

	memset(times, 0, sizeof(times));
	memset(copies, 0, sizeof(copies));
	refused = 0;
	inserted = 0;
	test_filter_init(&set, g, dlcbf_stripe_count(g, 2));
	for (i = 0; i < ALWAYS; i++) {
		always[i] = dlcbf_fingerprint(&set, rng_next(&rng));
		check_eq(dlcbf_insert(&set, always[i]), 0);
	}
	for (w = 0; w < WRITERS; w++)
		for (i = 0; i < OWN; i++)
			own[w][i] = w && i % 2 ? own[0][i] :
				    dlcbf_fingerprint(&set, rng_next(&rng));

	run_threads(set_writer, set_reader);

	for (w = 0; w < WRITERS; w++) {
		for (i = 0; i < OWN; i++) {
			check_eq(dlcbf_count(&set, own[w][i]), booked(own[w][i]));
			total += times[w][i];
		}
		for (i = 0; i < ALWAYS; i++)
			total += copies[w][i];
	}
	check_eq(dlcbf_elements(&set), total);
	for (cell = 0; (cell = dlcbf_next_live(&set, cell, set.cells)) !=
		       DLCBF_NO_CELL; cell++) {
		check(dlcbf_cell_read(&set, cell, &f, &counter));
		check(booked(f) > counter);
	}
	/* Nothing was worth the while if the filter was never full. */
	check(inserted > 1000 && refused > 0);
	test_filter_free(&set);
}

static void test_sets_16(void)
{
	static const struct dlcbf_geometry g = { 3, 2, 8, 16, 1 };

	run_sets(&g);
}

static void test_sets_32(void)
{
	static const struct dlcbf_geometry g = { 1, 3, 16, 32, 2 };

	run_sets(&g);
}

/* Tables with a record per cell, and readers that look into it */

#define KEYS		200
#define CELLS		96

struct record {
	u64 key;
	u64 check;
};

static struct dlcbf table;
static struct record records[CELLS];
static struct dlcbf_fingerprint key_f[KEYS];
static u64 evictions, hits;

/*
 * What RCU is in the kernel: odd while a thread uses records.  A cell that was
 * withdrawn is released when every thread that was odd has moved on.
 */
static struct section {
	unsigned long n;
} __attribute__((aligned(64))) sections[THREADS];

static void enter(unsigned long me)
{
	__atomic_fetch_add(&sections[me].n, 1, __ATOMIC_SEQ_CST);
}

static void leave(unsigned long me)
{
	__atomic_fetch_add(&sections[me].n, 1, __ATOMIC_SEQ_CST);
}

static void wait_for_readers(void)
{
	unsigned int i;

	for (i = 0; i < THREADS; i++) {
		const unsigned long n = __atomic_load_n(&sections[i].n,
							__ATOMIC_SEQ_CST);

		while (n % 2 && __atomic_load_n(&sections[i].n,
						__ATOMIC_SEQ_CST) == n)
			sched_yield();
	}
}

static bool key_matches(const void *ctx, u32 cell)
{
	const u64 key = *(const u64 *)ctx;

	/* Whoever finds the cell sees all of its record. */
	check_eq(records[cell].check, ~records[cell].key);
	return records[cell].key == key;
}

/* Learn @key.  Returns a cell that was evicted for it, or DLCBF_NO_CELL. */
static u32 learn(struct rng *rng, u64 key)
{
	const struct dlcbf_fingerprint f = key_f[key];
	u32 cell, counter, evicted = DLCBF_NO_CELL;
	struct dlcbf_fingerprint other;
	unsigned int pos = 0, skip;

	dlcbf_lock(&table, f);
	cell = dlcbf_find_if(&table, f, key_matches, &key);
	if (cell != DLCBF_NO_CELL) {
		/* Fails when it is being evicted or changed just now. */
		counter = rng_below(rng, table.max_counter + 1);
		dlcbf_set_counter(&table, cell, f, counter,
				  rng_below(rng, table.max_counter + 1));
		goto unlock;
	}

	cell = dlcbf_claim(&table, f);
	if (cell != DLCBF_NO_CELL) {
		records[cell] = (struct record){ key, ~key };
		if (rng_below(rng, 50))
			dlcbf_publish(&table, cell, f, 0);
		else
			dlcbf_release(&table, cell);
		goto unlock;
	}

	for (skip = rng_below(rng, 16);
	     (cell = dlcbf_next_candidate(&table, f, &pos)) != DLCBF_NO_CELL &&
	     skip; skip--)
		;
	if (cell != DLCBF_NO_CELL &&
	    dlcbf_cell_read(&table, cell, &other, &counter) &&
	    dlcbf_withdraw(&table, cell, other, counter))
		evicted = cell;
unlock:
	dlcbf_unlock(&table, f);
	return evicted;
}

static void *table_writer(void *arg)
{
	const unsigned long me = (unsigned long)arg;
	struct rng rng = { 300 + me };
	u32 draining[8], n = 0;
	u64 evicted = 0;

	while (!stopped()) {
		u32 cell;

		enter(me);
		cell = learn(&rng, rng_below(&rng, KEYS));
		leave(me);
		if (cell == DLCBF_NO_CELL)
			continue;
		draining[n++] = cell;
		evicted++;
		if (n == ARRAY_SIZE(draining)) {
			wait_for_readers();
			while (n)
				dlcbf_release(&table, draining[--n]);
		}
	}
	wait_for_readers();
	while (n)
		dlcbf_release(&table, draining[--n]);
	__atomic_fetch_add(&evictions, evicted, __ATOMIC_RELAXED);
	return NULL;
}

static void *table_reader(void *arg)
{
	const unsigned long me = (unsigned long)arg;
	struct rng rng = { 400 + me };
	u64 found = 0;

	while (!stopped()) {
		const u64 key = rng_below(&rng, KEYS);
		struct dlcbf_fingerprint f;
		u32 cell, counter;

		enter(me);
		cell = dlcbf_find_if(&table, key_f[key], key_matches, &key);
		if (cell != DLCBF_NO_CELL) {
			check_eq(records[cell].key, key);
			check_eq(records[cell].check, ~key);
			found++;
		}
		/* and by the walk */
		cell = dlcbf_next_live(&table, rng_below(&rng, CELLS), CELLS);
		if (cell != DLCBF_NO_CELL &&
		    dlcbf_cell_read(&table, cell, &f, &counter)) {
			check_eq(records[cell].check, ~records[cell].key);
			check(same(f, key_f[records[cell].key]));
		}
		leave(me);
	}
	__atomic_fetch_add(&hits, found, __ATOMIC_RELAXED);
	return NULL;
}

static void test_table(void)
{
	static const struct dlcbf_geometry g = { 4, 3, 8, 16, 2 };
	const unsigned long warnings = dlcbf_shim_warnings;
	struct rng rng = { 500 };
	struct dlcbf_fingerprint f;
	u32 cell, counter, live = 0;
	u8 met[KEYS] = {};
	unsigned int i;

	test_filter_init(&table, &g, 2);
	check_eq(table.cells, CELLS);
	/* Four keys have the same fingerprint each. */
	for (i = 0; i < KEYS; i++)
		key_f[i] = i % 4 ? key_f[i - 1] :
			   dlcbf_fingerprint(&table, rng_next(&rng));

	run_threads(table_writer, table_reader);

	/* No key is in twice, none in the cell of another, no cell is lost. */
	for (cell = 0; (cell = dlcbf_next_live(&table, cell, CELLS)) !=
		       DLCBF_NO_CELL; cell++) {
		const u64 key = records[cell].key;

		check(dlcbf_cell_read(&table, cell, &f, &counter));
		check(same(f, key_f[key]));
		check_eq(met[key]++, 0);
		check(dlcbf_withdraw(&table, cell, f, counter));
		dlcbf_release(&table, cell);
		live++;
	}
	check(live > 0);
	check_eq(dlcbf_live_cells(&table), 0);
	check_eq(dlcbf_used_cells(&table), 0);
	for (i = 0; i < dlcbf_words_bytes(&g) / sizeof(long); i++)
		check_eq(table.words[i], 0);
	check_eq(dlcbf_shim_warnings, warnings);
	check(evictions > 100 && hits > 100);
	test_filter_free(&table);
}

static const struct test tests[] = {
	{ "writers and readers of a set, 16-bit cells", test_sets_16 },
	{ "writers and readers of a set, 32-bit cells", test_sets_32 },
	{ "learning, evicting and reading records", test_table },
};

int main(void)
{
	return test_main(tests, ARRAY_SIZE(tests));
}
