// SPDX-License-Identifier: GPL-2.0
/*
 * What happens to a flow after its last packet: the sweep that finds it idle,
 * the grace period that its cell waits for, and its last event.
 *
 * One work item for each filter does all of it, in pieces.  A packet never
 * waits for it: an expired flow that was not swept yet is not a hit.
 */
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "filter.h"
#include "main.h"
#include "netlink.h"
#include "table.h"

/* Cells that one run looks at, and flows that it expires. */
#define SWEEP_CELLS	65536
#define SWEEP_FLOWS	4096
#define SWEEP_STEP	1024

/**
 * nf_dlcbf_withdrawn_alloc() - room for cells that will be withdrawn
 * @room:  how many
 * @event: what will be announced of them
 *
 * Context: process, may sleep.
 * Return: for nf_dlcbf_withdrawn_drain(), or NULL.
 */
struct nf_dlcbf_withdrawn *nf_dlcbf_withdrawn_alloc(u32 room, int event)
{
	struct nf_dlcbf_withdrawn *withdrawn;

	withdrawn = kvmalloc(struct_size(withdrawn, cell, room), GFP_KERNEL_ACCOUNT);
	if (!withdrawn)
		return NULL;
	withdrawn->event = event;
	withdrawn->count = 0;
	withdrawn->room = room;
	return withdrawn;
}

/**
 * nf_dlcbf_withdrawn_drain() - give cells back after a grace period
 * @filter:    contents of a table, of which the caller has a reference
 * @withdrawn: cells; freed by this
 *
 * Context: process; does not wait.
 */
void nf_dlcbf_withdrawn_drain(struct nf_dlcbf_filter *filter,
			      struct nf_dlcbf_withdrawn *withdrawn)
{
	if (!withdrawn->count) {
		kvfree(withdrawn);
		return;
	}
	atomic_add(withdrawn->count, &filter->leaving);
	llist_add(&withdrawn->node, &filter->draining);
	nf_dlcbf_expire_kick(filter);
}

/**
 * nf_dlcbf_withdrawn_wait() - wait for the cells that are on their way out
 * @filter: contents of a table, of which the caller has a reference
 *
 * A flow that was deleted has its cell until a grace period is over.  Whoever
 * deletes one in a full table and then adds another expects that it has room.
 *
 * Context: process, may sleep.
 * Return: there were any, so that it is worth looking for an empty cell again.
 */
bool nf_dlcbf_withdrawn_wait(struct nf_dlcbf_filter *filter)
{
	if (!atomic_read(&filter->leaving))
		return false;
	flush_delayed_work(&filter->sweep);
	return true;
}

static void read_last(const struct nf_dlcbf_filter *filter, u32 cell, struct nf_dlcbf_flow *flow)
{
	struct nf_dlcbf_key key;

	if (filter->keys) {
		memcpy(key.words, filter->keys + (size_t)cell * filter->layout.words,
		       filter->layout.words * sizeof(u64));
		nf_dlcbf_key_unpack(&filter->layout, &key, &flow->tuple);
	}
	if (filter->records)
		nf_dlcbf_record_read(&filter->records[cell], false, &flow->counters);
}

/* Who hears that the flow is gone may rely on it that its cell is empty. */
static void release(struct nf_dlcbf_filter *filter, int kind, u32 cell,
		    struct dlcbf_fingerprint fingerprint)
{
	struct nf_dlcbf_flow flow = { .fingerprint = fingerprint, .has_key = filter->keys };
	struct nf_dlcbf_table *table;

	rcu_read_lock();
	table = rcu_dereference(filter->table);
	if (table && !nf_dlcbf_flow_listeners(table))
		table = NULL;
	if (table)
		read_last(filter, cell, &flow);
	dlcbf_release(&filter->core, cell);
	if (table && !nf_dlcbf_notify_flow(table, kind, &flow, GFP_ATOMIC))
		nf_dlcbf_stats_add(table->stats, NF_DLCBF_A_STATS_EVENTS_LOST, 1);
	rcu_read_unlock();
}

/* A grace period has passed: records have their final value. */
static void finish(struct nf_dlcbf_filter *filter, struct nf_dlcbf_withdrawn *withdrawn)
{
	u32 i;

	for (i = 0; i < withdrawn->count; i++) {
		release(filter, withdrawn->event, withdrawn->cell[i].cell,
			withdrawn->cell[i].fingerprint);
		if (!(i % SWEEP_STEP))
			cond_resched();
	}
	atomic_sub(withdrawn->count, &filter->leaving);
	kvfree(withdrawn);
}

static void expire_cell(struct nf_dlcbf_filter *filter, u32 cell, u32 now, u32 timeout,
			struct nf_dlcbf_withdrawn *withdrawn)
{
	struct dlcbf_fingerprint fingerprint;
	u32 counter;

	if (!nf_dlcbf_record_expired(&filter->records[cell], now, timeout) ||
	    !dlcbf_cell_read(&filter->core, cell, &fingerprint, &counter))
		return;
	dlcbf_lock(&filter->core, fingerprint);
	/* Whoever revives or adds a flow holds this lock: ask again. */
	if (nf_dlcbf_record_expired(&filter->records[cell], now, timeout) &&
	    dlcbf_withdraw(&filter->core, cell, fingerprint, counter)) {
		atomic_dec(&filter->flows);
		withdrawn->cell[withdrawn->count].cell = cell;
		withdrawn->cell[withdrawn->count].fingerprint = fingerprint;
		withdrawn->count++;
	}
	dlcbf_unlock(&filter->core, fingerprint);
}

static bool must_sweep(const struct nf_dlcbf_filter *filter)
{
	return filter->records && (READ_ONCE(filter->timeout) || READ_ONCE(filter->deadlines));
}

/* Look at the next part of the table.  Return: what was found expired. */
static struct nf_dlcbf_withdrawn *sweep(struct nf_dlcbf_filter *filter)
{
	const u32 timeout = READ_ONCE(filter->timeout);
	const u32 now = nf_dlcbf_stamp_now();
	struct nf_dlcbf_withdrawn *withdrawn;
	struct nf_dlcbf_table *table;
	u32 cell = filter->sweep_at;
	u32 last;

	withdrawn = nf_dlcbf_withdrawn_alloc(SWEEP_FLOWS, NF_DLCBF_CMD_FLOW_EXPIRE_NTF);
	if (!withdrawn)
		return NULL;
	last = min(filter->core.cells - cell, (u32)SWEEP_CELLS) + cell;
	while (cell < last && withdrawn->count < withdrawn->room) {
		const u32 end = min(last - cell, (u32)SWEEP_STEP) + cell;

		rcu_read_lock();
		for (; cell < end && withdrawn->count < withdrawn->room; cell++) {
			cell = dlcbf_next_live(&filter->core, cell, end);
			if (cell == DLCBF_NO_CELL)
				break;
			expire_cell(filter, cell, now, timeout, withdrawn);
		}
		rcu_read_unlock();
		if (cell == DLCBF_NO_CELL)
			cell = end;
		cond_resched();
	}
	filter->sweep_at = cell < filter->core.cells ? cell : 0;
	atomic_add(withdrawn->count, &filter->leaving);

	rcu_read_lock();
	table = rcu_dereference(filter->table);
	if (table)
		nf_dlcbf_stats_add(table->stats, NF_DLCBF_A_STATS_EXPIRED, withdrawn->count);
	rcu_read_unlock();
	return withdrawn;
}

/*
 * The whole table is looked at four times within the idle timeout, though not
 * more often than every quarter of a second nor less than every 10 seconds;
 * for the sake of deadlines at least once a second.
 */
static unsigned long sweep_delay(const struct nf_dlcbf_filter *filter)
{
	const u32 pieces = DIV_ROUND_UP(filter->core.cells, SWEEP_CELLS);
	const unsigned long least = HZ / 4;
	unsigned long pass = 10 * HZ;
	u32 timeout = READ_ONCE(filter->timeout);

	if (timeout)
		pass = min_t(u64, ((u64)timeout << NF_DLCBF_STAMP_SHIFT) / 4, pass);
	if (READ_ONCE(filter->deadlines))
		pass = min_t(unsigned long, pass, HZ);
	return max(pass, least) / pieces;
}

static void sweep_work(struct work_struct *work)
{
	struct nf_dlcbf_filter *filter = container_of(to_delayed_work(work),
						      struct nf_dlcbf_filter, sweep);
	struct nf_dlcbf_withdrawn *expired = NULL, *withdrawn, *next;
	struct llist_node *draining;
	bool more = false;

	nf_dlcbf_event_send_queued(filter);
	draining = llist_del_all(&filter->draining);
	if (must_sweep(filter) && time_after_eq(jiffies, filter->sweep_due)) {
		expired = sweep(filter);
		more = expired && expired->count == expired->room;
		filter->sweep_due = jiffies + (more ? 0 : sweep_delay(filter));
	}
	if (draining || (expired && expired->count))
		synchronize_rcu();
	llist_for_each_entry_safe(withdrawn, next, draining, node)
		finish(filter, withdrawn);
	if (expired)
		finish(filter, expired);

	if (READ_ONCE(filter->stopped))
		return;
	if (must_sweep(filter))
		queue_delayed_work(nf_dlcbf_workqueue, &filter->sweep,
				   time_before(jiffies, filter->sweep_due) ?
				   filter->sweep_due - jiffies : 0);
	else if (READ_ONCE(filter->queue.full))
		queue_delayed_work(nf_dlcbf_workqueue, &filter->sweep, HZ);
}

/* Set the work up.  Context: any. */
void nf_dlcbf_expire_init(struct nf_dlcbf_filter *filter)
{
	INIT_DELAYED_WORK(&filter->sweep, sweep_work);
	filter->sweep_due = jiffies;
	filter->full_at = jiffies;
}

/**
 * nf_dlcbf_expire_kick() - have the work run soon
 * @filter: contents of a table
 *
 * A few milliseconds are waited so that what comes in a burst goes in one run.
 *
 * Context: any but hard interrupts; RCU read side or a reference held.
 */
void nf_dlcbf_expire_kick(struct nf_dlcbf_filter *filter)
{
	const unsigned long soon = msecs_to_jiffies(4);

	if (READ_ONCE(filter->stopped))
		return;
	/* An item that waits for the next sweep is brought forward. */
	if (delayed_work_pending(&filter->sweep) &&
	    !time_after(READ_ONCE(filter->sweep.timer.expires), jiffies + soon))
		return;
	mod_delayed_work(nf_dlcbf_workqueue, &filter->sweep, soon);
}
