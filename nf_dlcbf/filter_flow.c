// SPDX-License-Identifier: GPL-2.0
/*
 * What an administrator does to the flows in a table: adds, removes, reads, one
 * or all of them.
 */
#include <linux/bitmap.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "cell.h"
#include "filter.h"
#include "table.h"

/* Cells that a walk looks at before it lets others run. */
#define WALK_CELLS	16384

/* ---- adding and removing ---- */

static void resolve(const struct nf_dlcbf_filter *filter, struct nf_dlcbf_flow *flow,
		    struct nf_dlcbf_key *key)
{
	if (!flow->has_key)
		return;
	nf_dlcbf_key_pack(&filter->layout, &flow->tuple, key);
	flow->fingerprint = dlcbf_fingerprint(&filter->core,
					      nf_dlcbf_key_hash(&filter->layout, &filter->secret,
								key));
}

static bool is_set(const struct nf_dlcbf_filter *filter)
{
	return !filter->records;
}

/* The counter field of a cell that was added @count times. */
static u32 counter_of(const struct nf_dlcbf_filter *filter, u32 count)
{
	return is_set(filter) ? count - 1 : count;
}

/* How often a cell with this counter field was added. */
static u32 count_of(const struct nf_dlcbf_filter *filter, u32 counter)
{
	return is_set(filter) ? counter + 1 : counter;
}

static u32 deadline_of(struct nf_dlcbf_filter *filter, const struct nf_dlcbf_flow *flow, u32 now)
{
	u32 deadline;

	if (!flow->has_timeout)
		return flow->count ? NF_DLCBF_DEADLINE_NEVER : NF_DLCBF_DEADLINE_IDLE;
	deadline = now + nf_dlcbf_stamp_from_ms(flow->timeout_ms);
	if (deadline == NF_DLCBF_DEADLINE_IDLE || deadline == NF_DLCBF_DEADLINE_NEVER)
		deadline = 1;
	if (!READ_ONCE(filter->deadlines))
		WRITE_ONCE(filter->deadlines, true);
	return deadline;
}

static u32 last_of(const struct nf_dlcbf_flow *flow, u32 now)
{
	return flow->idle_ms ? now - nf_dlcbf_stamp_from_ms(flow->idle_ms) + 1 : now;
}

/* Counters of the table that the filter is in, NULL if it is in none. */
static struct nf_dlcbf_stats __percpu *stats_of(const struct nf_dlcbf_filter *filter)
{
	const struct nf_dlcbf_table *table = rcu_dereference(filter->table);

	return table ? table->stats : NULL;
}

static u32 claim(struct nf_dlcbf_filter *filter, struct dlcbf_fingerprint fingerprint, u32 now)
{
	struct nf_dlcbf_stats __percpu *stats;
	u32 cell = nf_dlcbf_cell_claim(filter, fingerprint);

	if (cell != DLCBF_NO_CELL || !READ_ONCE(filter->evict))
		return cell;
	stats = stats_of(filter);
	return stats ? nf_dlcbf_evict(filter, fingerprint, now, stats) : DLCBF_NO_CELL;
}

static int add_new(struct nf_dlcbf_filter *filter, const struct nf_dlcbf_flow *flow,
		   const struct nf_dlcbf_key *key, u32 count)
{
	const u32 now = nf_dlcbf_stamp_now();
	u32 cell = claim(filter, flow->fingerprint, now);

	if (cell == DLCBF_NO_CELL)
		return -ENOSPC;
	if (filter->keys)
		nf_dlcbf_cell_write_key(filter, cell, key);
	if (filter->records)
		nf_dlcbf_record_start(&filter->records[cell], flow->counters.packets,
				      flow->counters.bytes, last_of(flow, now),
				      deadline_of(filter, flow, now));
	dlcbf_publish(&filter->core, cell, flow->fingerprint, counter_of(filter, count));
	return 0;
}

struct room_match {
	const struct nf_dlcbf_filter *filter;
	u32 limit;
};

static bool has_room(const void *ctx, u32 cell)
{
	const struct room_match *match = ctx;
	struct dlcbf_fingerprint fingerprint;
	u32 counter;

	return dlcbf_cell_read(&match->filter->core, cell, &fingerprint, &counter) &&
	       counter < match->limit;
}

/*
 * One more reference to a fingerprint that is in a table without keys.  A full
 * counter takes another cell, so that none is ever forgotten.
 */
static int add_reference(struct nf_dlcbf_filter *filter, const struct nf_dlcbf_flow *flow)
{
	const struct room_match match = { .filter = filter, .limit = filter->core.max_counter };
	struct dlcbf_fingerprint same;
	u32 cell, counter;

	do {
		cell = dlcbf_find_if(&filter->core, flow->fingerprint, has_room, &match);
		if (cell == DLCBF_NO_CELL)
			return add_new(filter, flow, NULL, 1);
		/* Evictors take cells without the lock: then look again. */
	} while (!dlcbf_cell_read(&filter->core, cell, &same, &counter) ||
		 !dlcbf_set_counter(&filter->core, cell, flow->fingerprint, counter, counter + 1));

	/* The first one pins a flow that was learned. */
	if (filter->records && (!counter || flow->has_timeout))
		WRITE_ONCE(filter->records[cell].deadline,
			   deadline_of(filter, flow, nf_dlcbf_stamp_now()));
	return 0;
}

static int remove_reference(struct nf_dlcbf_filter *filter, const struct nf_dlcbf_flow *flow,
			    const struct nf_dlcbf_key *key, u32 *withdrawn);

static int add_references(struct nf_dlcbf_filter *filter, const struct nf_dlcbf_flow *flow)
{
	u32 done, cell;
	int err = 0;

	for (done = 0; done < flow->count; done++) {
		err = add_reference(filter, flow);
		if (err)
			break;
	}
	if (!err)
		return 0;
	for (; done; done--) {
		remove_reference(filter, flow, NULL, &cell);
		if (cell != DLCBF_NO_CELL)
			dlcbf_release(&filter->core, cell);
	}
	return err;
}

static void count_expired(struct nf_dlcbf_filter *filter)
{
	struct nf_dlcbf_stats __percpu *stats = stats_of(filter);

	if (stats)
		nf_dlcbf_stats_add(stats, NF_DLCBF_A_STATS_EXPIRED, 1);
}

/* What adding does to a flow that is there, in a flow table. */
static int add_to_record(struct nf_dlcbf_filter *filter, const struct nf_dlcbf_flow *flow, u32 cell,
			 bool exist)
{
	struct nf_dlcbf_record *record = &filter->records[cell];
	const u32 now = nf_dlcbf_stamp_now();
	const bool gone = nf_dlcbf_cell_expired(filter, cell, now);
	const u32 wanted = min(flow->count, filter->core.max_counter);
	struct nf_dlcbf_counters old = {};
	struct dlcbf_fingerprint same;
	u32 counter;

	if (!dlcbf_cell_read(&filter->core, cell, &same, &counter))
		return -EAGAIN;
	if (counter && !gone && flow->count) {
		if (!exist)
			return -EEXIST;
		if (flow->has_timeout)
			WRITE_ONCE(record->deadline, deadline_of(filter, flow, now));
		return 0;
	}

	/* It is new, or becomes the administrator's; or its counters add up. */
	if ((gone || flow->count) && counter != wanted &&
	    !dlcbf_set_counter(&filter->core, cell, flow->fingerprint, counter, wanted))
		return -EAGAIN;
	if (gone) {
		nf_dlcbf_record_read(record, true, &old);
		WRITE_ONCE(record->last, last_of(flow, now));
		count_expired(filter);
	}
	if (gone || flow->count)
		WRITE_ONCE(record->deadline, deadline_of(filter, flow, now));
	atomic64_add(flow->counters.packets, &record->packets);
	atomic64_add(flow->counters.bytes, &record->bytes);
	return 0;
}

static int add_locked(struct nf_dlcbf_filter *filter, const struct nf_dlcbf_flow *flow,
		      const struct nf_dlcbf_key *key, bool exist)
{
	u32 cell;
	int err;

	do {
		cell = nf_dlcbf_cell_find(filter, flow->fingerprint, key);
		if (cell == DLCBF_NO_CELL) {
			if (filter->keys || flow->count <= 1)
				return add_new(filter, flow, key, flow->count);
			return add_references(filter, flow);
		}
		if (is_set(filter) && filter->keys)
			return exist ? 0 : -EEXIST;
		/* Without keys it may be another key's: count, unless told not to. */
		if (is_set(filter))
			return exist ? 0 : add_references(filter, flow);
		if (!filter->keys && !exist && flow->count &&
		    !nf_dlcbf_cell_expired(filter, cell, nf_dlcbf_stamp_now()))
			return add_references(filter, flow);
		err = add_to_record(filter, flow, cell, exist);
	} while (err == -EAGAIN);
	return err;
}

static int try_add(struct nf_dlcbf_filter *filter, const struct nf_dlcbf_flow *flow,
		   const struct nf_dlcbf_key *key, bool exist)
{
	int err;

	rcu_read_lock();
	dlcbf_lock(&filter->core, flow->fingerprint);
	err = add_locked(filter, flow, key, exist);
	dlcbf_unlock(&filter->core, flow->fingerprint);
	rcu_read_unlock();
	return err;
}

/**
 * nf_dlcbf_filter_add() - add a flow
 * @filter: contents of a table
 * @flow:   its key, or without keys its fingerprint, which is set otherwise; in
 *	    a flow table its counters to start from, and its timeout.  @flow.count
 *	    is how often to add it, 1 for once; 0, in a flow table, adds it as if a
 *	    packet had
 * @exist:  that it is there already is no error
 *
 * A flow that was learned becomes the administrator's: it is not evicted, and
 * does not expire but by a timeout of its own.  A table without keys counts how
 * often each flow was added.
 *
 * Context: process; may sleep when there is no room.
 * Return: 0, -EEXIST, or -ENOSPC when all buckets of the flow, or the table,
 * are full, flows that are on their way out not counted; nothing was changed
 * then.
 */
int nf_dlcbf_filter_add(struct nf_dlcbf_filter *filter, struct nf_dlcbf_flow *flow, bool exist)
{
	const bool had_deadlines = READ_ONCE(filter->deadlines);
	struct nf_dlcbf_key key;
	int err;

	/* A set learns as it adds; a key is there once. */
	if (is_set(filter))
		flow->count = max(flow->count, 1U);
	if (filter->keys)
		flow->count = min(flow->count, 1U);
	resolve(filter, flow, &key);
	err = try_add(filter, flow, &key, exist);
	if (err == -ENOSPC && nf_dlcbf_withdrawn_wait(filter))
		err = try_add(filter, flow, &key, exist);
	if (!had_deadlines && READ_ONCE(filter->deadlines))
		nf_dlcbf_expire_kick(filter);
	return err;
}

struct least_match {
	const struct nf_dlcbf_filter *filter;
	u32 cell;
	u32 counter;
};

static bool note_least(const void *ctx, u32 cell)
{
	struct least_match *least = (struct least_match *)ctx;
	struct dlcbf_fingerprint fingerprint;
	u32 counter;

	if (dlcbf_cell_read(&least->filter->core, cell, &fingerprint, &counter) &&
	    (least->cell == DLCBF_NO_CELL || counter < least->counter)) {
		least->cell = cell;
		least->counter = counter;
	}
	return false;
}

/*
 * Take one reference back; the last one takes the cell, which is left held.
 * Where a fingerprint has several cells the least counted gives.
 */
static int remove_reference(struct nf_dlcbf_filter *filter, const struct nf_dlcbf_flow *flow,
			    const struct nf_dlcbf_key *key, u32 *withdrawn)
{
	struct dlcbf_fingerprint same;
	struct least_match least;

	*withdrawn = DLCBF_NO_CELL;
	for (;;) {
		least = (struct least_match){ .filter = filter, .cell = DLCBF_NO_CELL };
		if (filter->keys) {
			least.cell = nf_dlcbf_cell_find(filter, flow->fingerprint, key);
			if (least.cell != DLCBF_NO_CELL &&
			    !dlcbf_cell_read(&filter->core, least.cell, &same, &least.counter))
				continue;
		} else {
			dlcbf_find_if(&filter->core, flow->fingerprint, note_least, &least);
		}
		if (least.cell == DLCBF_NO_CELL ||
		    nf_dlcbf_cell_expired(filter, least.cell, nf_dlcbf_stamp_now()))
			return -ENOENT;

		if (count_of(filter, least.counter) > 1) {
			if (dlcbf_set_counter(&filter->core, least.cell, flow->fingerprint,
					      least.counter, least.counter - 1))
				return 0;
		} else if (dlcbf_withdraw(&filter->core, least.cell, flow->fingerprint,
					  least.counter)) {
			atomic_dec(&filter->flows);
			*withdrawn = least.cell;
			return 0;
		}
	}
}

/**
 * nf_dlcbf_filter_remove() - remove a flow
 * @filter:    contents of a table
 * @flow:      its key or fingerprint
 * @withdrawn: takes the cell, for nf_dlcbf_withdrawn_drain(); must have room
 *
 * In a table without keys this takes back one addition; the flow goes with the
 * last.  In any other, and for a flow that was learned, it goes at once.
 *
 * Context: process.
 * Return: 0, or -ENOENT.
 */
int nf_dlcbf_filter_remove(struct nf_dlcbf_filter *filter, struct nf_dlcbf_flow *flow,
			   struct nf_dlcbf_withdrawn *withdrawn)
{
	struct nf_dlcbf_key key;
	u32 cell;
	int err;

	resolve(filter, flow, &key);
	rcu_read_lock();
	dlcbf_lock(&filter->core, flow->fingerprint);
	err = remove_reference(filter, flow, &key, &cell);
	dlcbf_unlock(&filter->core, flow->fingerprint);
	rcu_read_unlock();

	if (!err && cell != DLCBF_NO_CELL) {
		withdrawn->cell[withdrawn->count].cell = cell;
		withdrawn->cell[withdrawn->count].fingerprint = flow->fingerprint;
		withdrawn->count++;
	}
	return err;
}

/* ---- reading ---- */

static void add_cell(struct nf_dlcbf_filter *filter, struct nf_dlcbf_flow *flow, u32 cell,
		     u32 counter, u32 now, bool reset)
{
	struct nf_dlcbf_record *record;
	u32 deadline;

	flow->count += count_of(filter, counter);
	if (!filter->records)
		return;
	record = &filter->records[cell];
	nf_dlcbf_record_read(record, reset, &flow->counters);
	flow->idle_ms = nf_dlcbf_stamp_to_ms(now - READ_ONCE(record->last));
	deadline = READ_ONCE(record->deadline);
	flow->has_timeout = false;
	flow->timeout_ms = 0;
	if (deadline != NF_DLCBF_DEADLINE_IDLE && deadline != NF_DLCBF_DEADLINE_NEVER) {
		flow->has_timeout = true;
		flow->timeout_ms = nf_dlcbf_stamp_to_ms(deadline - now);
	}
}

struct sum_match {
	struct nf_dlcbf_filter *filter;
	struct nf_dlcbf_flow *flow;
	const struct nf_dlcbf_key *key;
	u32 now;
	bool reset;
	bool found;
};

static bool sum_cell(const void *ctx, u32 cell)
{
	struct sum_match *sum = (struct sum_match *)ctx;
	const struct nf_dlcbf_key_match match = { .filter = sum->filter, .key = sum->key };
	struct dlcbf_fingerprint fingerprint;
	u32 counter;

	if (sum->filter->keys && !nf_dlcbf_key_matches(&match, cell))
		return false;
	if (nf_dlcbf_cell_expired(sum->filter, cell, sum->now) ||
	    !dlcbf_cell_read(&sum->filter->core, cell, &fingerprint, &counter))
		return false;
	add_cell(sum->filter, sum->flow, cell, counter, sum->now, sum->reset);
	sum->found = true;
	return sum->filter->keys;
}

/**
 * nf_dlcbf_filter_lookup() - read a flow
 * @filter: contents of a table
 * @flow:   its key or fingerprint; the rest is set
 * @reset:  set the counters to 0 in the same step, which loses no packet
 *
 * Context: process or RCU read side.
 * Return: 0, or -ENOENT.
 */
int nf_dlcbf_filter_lookup(struct nf_dlcbf_filter *filter, struct nf_dlcbf_flow *flow, bool reset)
{
	struct nf_dlcbf_key key;
	struct sum_match sum = {
		.filter = filter,
		.flow = flow,
		.key = &key,
		.now = nf_dlcbf_stamp_now(),
		.reset = reset,
	};

	resolve(filter, flow, &key);
	flow->count = 0;
	flow->counters = (struct nf_dlcbf_counters){};
	rcu_read_lock();
	dlcbf_find_if(&filter->core, flow->fingerprint, sum_cell, &sum);
	rcu_read_unlock();
	return sum.found ? 0 : -ENOENT;
}

static bool read_cell(struct nf_dlcbf_filter *filter, u32 cell, struct nf_dlcbf_flow *flow,
		      bool reset)
{
	const u32 now = nf_dlcbf_stamp_now();
	struct nf_dlcbf_key key;
	u32 counter;

	if (!dlcbf_cell_read(&filter->core, cell, &flow->fingerprint, &counter) ||
	    nf_dlcbf_cell_expired(filter, cell, now))
		return false;
	flow->count = 0;
	flow->counters = (struct nf_dlcbf_counters){};
	flow->has_timeout = false;
	flow->idle_ms = 0;
	flow->has_key = filter->keys;
	if (filter->keys) {
		nf_dlcbf_cell_read_key(filter, cell, &key);
		nf_dlcbf_key_unpack(&filter->layout, &key, &flow->tuple);
	}
	add_cell(filter, flow, cell, counter, now, reset);
	return true;
}

/**
 * nf_dlcbf_filter_next() - walk the flows of a filter
 * @filter: contents of a table, of which the caller has a reference
 * @cell:   first cell to look at; 0 to begin
 * @flow:   set to the flow that was found
 * @reset:  set its counters to 0 in the same step
 *
 * A flow that is in the filter all the time is met exactly once; cells never
 * move.  In a table without keys a flow that was added more often than a
 * counter holds has several cells, and is met once for each.
 *
 * Context: process, may sleep.
 * Return: the cell of the flow; DLCBF_NO_CELL when there are no more.
 */
u32 nf_dlcbf_filter_next(struct nf_dlcbf_filter *filter, u32 cell, struct nf_dlcbf_flow *flow,
			 bool reset)
{
	while (cell < filter->core.cells) {
		const u32 end = min(filter->core.cells - cell, (u32)WALK_CELLS) + cell;

		rcu_read_lock();
		for (; cell < end; cell++) {
			cell = dlcbf_next_live(&filter->core, cell, end);
			if (cell == DLCBF_NO_CELL)
				break;
			if (read_cell(filter, cell, flow, reset)) {
				rcu_read_unlock();
				return cell;
			}
		}
		rcu_read_unlock();
		cell = end;
		cond_resched();
	}
	return DLCBF_NO_CELL;
}

/* ---- all of them ---- */

/* Keys of one filter mean the same in another. */
static bool same_keys(const struct nf_dlcbf_filter *a, const struct nf_dlcbf_filter *b)
{
	if (!memcmp(&a->secret, &b->secret, sizeof(a->secret)) &&
	    !memcmp(&a->config.geometry, &b->config.geometry, sizeof(a->config.geometry)) &&
	    !memcmp(&a->layout, &b->layout, sizeof(a->layout)))
		return true;
	return a->keys && b->keys && a->layout.fields == b->layout.fields &&
	       a->layout.family == b->layout.family && a->layout.bidir == b->layout.bidir;
}

/**
 * nf_dlcbf_filter_adopt_counters() - carry counters from old contents over
 * @filter: contents that have just replaced @old
 * @old:    contents that no packet counts into any more
 *
 * The counters of flows that are in both add up.  Does nothing where flows of
 * one cannot be found in the other.
 *
 * Context: process, may sleep; after a grace period.
 */
void nf_dlcbf_filter_adopt_counters(struct nf_dlcbf_filter *filter, struct nf_dlcbf_filter *old)
{
	struct nf_dlcbf_flow flow = {};
	u32 cell;

	if (!filter->records || !old->records || !same_keys(filter, old))
		return;
	for (cell = nf_dlcbf_filter_next(old, 0, &flow, false); cell != DLCBF_NO_CELL;
	     cell = nf_dlcbf_filter_next(old, cell + 1, &flow, false)) {
		struct nf_dlcbf_key key;
		u32 to;

		resolve(filter, &flow, &key);
		rcu_read_lock();
		to = nf_dlcbf_cell_find(filter, flow.fingerprint, &key);
		if (to != DLCBF_NO_CELL) {
			atomic64_add(flow.counters.packets, &filter->records[to].packets);
			atomic64_add(flow.counters.bytes, &filter->records[to].bytes);
		}
		rcu_read_unlock();
	}
}

/* Hold every live cell from @cell to @end and note it in @taken. */
static void withdraw_range(struct nf_dlcbf_filter *filter, u32 cell, u32 end, unsigned long *taken)
{
	for (; cell < end; cell++) {
		struct dlcbf_fingerprint fingerprint;
		u32 counter;

		cell = dlcbf_next_live(&filter->core, cell, end);
		if (cell == DLCBF_NO_CELL)
			return;
		while (dlcbf_cell_read(&filter->core, cell, &fingerprint, &counter)) {
			if (!dlcbf_withdraw(&filter->core, cell, fingerprint, counter))
				continue;
			atomic_dec(&filter->flows);
			__set_bit(cell, taken);
			break;
		}
	}
}

/**
 * nf_dlcbf_filter_flush() - remove all flows
 * @filter: contents of a table, of which the caller has a reference
 *
 * Flows that are added meanwhile may stay or go.
 *
 * Context: process, may sleep.
 * Return: 0, or -ENOMEM and nothing was changed.
 */
int nf_dlcbf_filter_flush(struct nf_dlcbf_filter *filter)
{
	const u32 cells = filter->core.cells;
	unsigned long *taken;
	u32 cell, end;

	taken = kvcalloc(BITS_TO_LONGS(cells), sizeof(*taken), GFP_KERNEL_ACCOUNT);
	if (!taken)
		return -ENOMEM;
	for (cell = 0; cell < cells; cell = end) {
		end = min(cells - cell, (u32)WALK_CELLS) + cell;
		withdraw_range(filter, cell, end, taken);
		cond_resched();
	}
	/* No packet that found one of the cells is still at it. */
	synchronize_rcu();
	for_each_set_bit(cell, taken, cells) {
		dlcbf_release(&filter->core, cell);
		if (!(cell % WALK_CELLS))
			cond_resched();
	}
	kvfree(taken);
	return 0;
}

