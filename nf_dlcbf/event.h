/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events: from a packet, which may not allocate, to a netlink message.
 *
 * A packet puts its event into a ring that was allocated with the table; the
 * filter's work sends what the ring holds.  What does not fit is counted.
 */
#ifndef NF_DLCBF_EVENT_H
#define NF_DLCBF_EVENT_H

#include <linux/spinlock.h>
#include <linux/types.h>

#include "key.h"
#include "record.h"
#include "stats.h"

struct nf_dlcbf_filter;
struct nf_dlcbf_flow;
struct nf_dlcbf_table;

#define NF_DLCBF_EVENT_QUEUE_LEN	4096	/* a power of two */

/**
 * struct nf_dlcbf_event - what happened to a flow
 * @kind:        NF_DLCBF_CMD_FLOW_*_NTF
 * @fingerprint: of the flow
 * @key:         of the flow
 * @counters:    final ones, unless it was added
 */
struct nf_dlcbf_event {
	int kind;
	struct dlcbf_fingerprint fingerprint;
	struct nf_dlcbf_key key;
	struct nf_dlcbf_counters counters;
};

/**
 * struct nf_dlcbf_event_queue - events that wait to be sent
 * @lock:  of the ring
 * @ring:  NF_DLCBF_EVENT_QUEUE_LEN events; NULL while events are off
 * @head:  events put in so far
 * @tail:  events taken out so far
 * @full:  the table refused a flow and that was not announced yet
 */
struct nf_dlcbf_event_queue {
	spinlock_t lock;	/* of the ring */
	struct nf_dlcbf_event *ring;
	u32 head;
	u32 tail;
	unsigned long full;
};

void nf_dlcbf_event_queue_init(struct nf_dlcbf_event_queue *queue);
int nf_dlcbf_event_queue_enable(struct nf_dlcbf_event_queue *queue);
void nf_dlcbf_event_queue_destroy(struct nf_dlcbf_event_queue *queue);
void nf_dlcbf_event_put_flow(struct nf_dlcbf_filter *filter, int kind,
			     struct dlcbf_fingerprint fingerprint, u32 cell,
			     const struct nf_dlcbf_counters *counters,
			     struct nf_dlcbf_stats __percpu *stats);
void nf_dlcbf_event_put_full(struct nf_dlcbf_filter *filter);
void nf_dlcbf_event_send_queued(struct nf_dlcbf_filter *filter);

#endif /* NF_DLCBF_EVENT_H */
