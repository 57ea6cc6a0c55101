// SPDX-License-Identifier: GPL-2.0
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "cell.h"
#include "event.h"
#include "filter.h"
#include "memory.h"
#include "netlink.h"
#include "table.h"

#define FULL	0	/* bit of nf_dlcbf_event_queue.full */

/* Set a queue up that is off.  Context: any. */
void nf_dlcbf_event_queue_init(struct nf_dlcbf_event_queue *queue)
{
	spin_lock_init(&queue->lock);
	queue->ring = NULL;
	queue->head = 0;
	queue->tail = 0;
	queue->full = 0;
}

/**
 * nf_dlcbf_event_queue_enable() - give a queue its ring
 * @queue: queue, which may have one already
 *
 * Context: process, may sleep.
 * Return: 0, or -ENOMEM.
 */
int nf_dlcbf_event_queue_enable(struct nf_dlcbf_event_queue *queue)
{
	if (!queue->ring)
		queue->ring = nf_dlcbf_memory_alloc(NF_DLCBF_EVENT_QUEUE_LEN *
						    sizeof(*queue->ring));
	return queue->ring ? 0 : -ENOMEM;
}

/* Free the ring.  Context: process; nobody uses the queue any more. */
void nf_dlcbf_event_queue_destroy(struct nf_dlcbf_event_queue *queue)
{
	nf_dlcbf_memory_free(queue->ring);
}

/* Return: false when the queue is full. */
static bool put(struct nf_dlcbf_filter *filter, const struct nf_dlcbf_event *event)
{
	struct nf_dlcbf_event_queue *queue = &filter->queue;
	bool room;

	/* Pairs with the release in nf_dlcbf_filter_apply(): the ring is there. */
	if (!smp_load_acquire(&filter->events))
		return true;
	spin_lock_bh(&queue->lock);
	room = queue->head - queue->tail < NF_DLCBF_EVENT_QUEUE_LEN;
	if (room)
		queue->ring[queue->head++ % NF_DLCBF_EVENT_QUEUE_LEN] = *event;
	spin_unlock_bh(&queue->lock);
	nf_dlcbf_expire_kick(filter);
	return room;
}

/**
 * nf_dlcbf_event_put_flow() - have an event of a packet's doing sent soon
 * @filter:      contents of a table
 * @kind:        NF_DLCBF_CMD_FLOW_*_NTF
 * @fingerprint: of the flow
 * @cell:        of the flow, its key still there
 * @counters:    of the flow
 * @stats:       counters of the table, for an event that is lost
 *
 * Context: softirq or process, RCU read side.
 */
void nf_dlcbf_event_put_flow(struct nf_dlcbf_filter *filter, int kind,
			     struct dlcbf_fingerprint fingerprint, u32 cell,
			     const struct nf_dlcbf_counters *counters,
			     struct nf_dlcbf_stats __percpu *stats)
{
	struct nf_dlcbf_event event = {
		.kind = kind,
		.fingerprint = fingerprint,
		.counters = *counters,
	};

	if (filter->keys)
		nf_dlcbf_cell_read_key(filter, cell, &event.key);
	if (!put(filter, &event))
		nf_dlcbf_stats_add(stats, NF_DLCBF_A_STATS_EVENTS_LOST, 1);
}

/* A flow was refused.  Announced once a second at most.  Context: as above. */
void nf_dlcbf_event_put_full(struct nf_dlcbf_filter *filter)
{
	if (!test_bit(FULL, &filter->queue.full) && !test_and_set_bit(FULL, &filter->queue.full))
		nf_dlcbf_expire_kick(filter);
}

static bool take(struct nf_dlcbf_event_queue *queue, struct nf_dlcbf_event *event)
{
	bool taken = false;

	spin_lock_bh(&queue->lock);
	if (queue->head != queue->tail) {
		*event = queue->ring[queue->tail % NF_DLCBF_EVENT_QUEUE_LEN];
		queue->tail++;
		taken = true;
	}
	spin_unlock_bh(&queue->lock);
	return taken;
}

static void send(struct nf_dlcbf_filter *filter, const struct nf_dlcbf_event *event)
{
	struct nf_dlcbf_table *table;
	struct nf_dlcbf_flow flow = {
		.fingerprint = event->fingerprint,
		.counters = event->counters,
		.has_key = filter->keys,
	};

	if (filter->keys)
		nf_dlcbf_key_unpack(&filter->layout, &event->key, &flow.tuple);
	rcu_read_lock();
	table = rcu_dereference(filter->table);
	if (table && !nf_dlcbf_notify_flow(table, event->kind, &flow, GFP_ATOMIC))
		nf_dlcbf_stats_add(table->stats, NF_DLCBF_A_STATS_EVENTS_LOST, 1);
	rcu_read_unlock();
}

/**
 * nf_dlcbf_event_send_queued() - send what packets have queued
 * @filter: contents of a table
 *
 * Context: process, may sleep; one caller at a time for each filter.
 */
void nf_dlcbf_event_send_queued(struct nf_dlcbf_filter *filter)
{
	struct nf_dlcbf_table *table;
	struct nf_dlcbf_event event;

	/* What comes in meanwhile is for the next run. */
	u32 left = NF_DLCBF_EVENT_QUEUE_LEN;

	while (left-- && filter->queue.ring && take(&filter->queue, &event)) {
		send(filter, &event);
		cond_resched();
	}
	if (test_bit(FULL, &filter->queue.full) && time_after_eq(jiffies, filter->full_at)) {
		filter->full_at = jiffies + HZ;
		clear_bit(FULL, &filter->queue.full);
		rcu_read_lock();
		table = rcu_dereference(filter->table);
		if (table)
			nf_dlcbf_notify_table(table, NF_DLCBF_CMD_TABLE_FULL_NTF, GFP_ATOMIC);
		rcu_read_unlock();
	}
}
