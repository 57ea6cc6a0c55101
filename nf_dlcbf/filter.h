/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The contents of a table: cells, and beside each cell its key and its record.
 *
 * A table (table.h) is a name with hooks; what it holds is a filter, which can
 * be replaced as a whole under RCU: by flush, swap, restore.
 *
 * In a set, a cell's counter field c says that the element was added c + 1
 * times.  In a flow table c says how often an administrator added the flow; 0
 * means that a packet did, and that it may expire or be evicted.
 */
#ifndef NF_DLCBF_FILTER_H
#define NF_DLCBF_FILTER_H

#include <linux/list.h>
#include <linux/llist.h>
#include <linux/refcount.h>
#include <linux/siphash.h>
#include <linux/workqueue.h>

#include "config.h"
#include "dlcbf_core/dlcbf.h"
#include "event.h"
#include "key.h"
#include "record.h"
#include "stats.h"

struct nf_dlcbf_net;
struct nf_dlcbf_packet;
struct nf_dlcbf_table;

/**
 * struct nf_dlcbf_filter - contents of a table
 * @core:     the cells
 * @layout:   of the keys
 * @secret:   hash key
 * @records:  one for each cell; NULL in a set
 * @keys:     @layout.words 64-bit words for each cell; NULL without keys
 * @timeout:  idle timeout of learned flows in stamps, 0 for none
 * @learn:    packets add flows
 * @evict:    a new flow may take the place of the stalest
 * @events:   packets queue events
 * @config:   settings as completed at creation; those that may change are
 *	      kept in step with the fields above, under the namespace's lock
 * @flows:    live cells; bounded by config.max_flows
 * @dn:       namespace that is charged
 * @table:    the table that it is in; changes under RCU with a swap
 * @memory:   bytes charged
 * @refs:     users that may sleep; packets rely on RCU alone
 * @draining: chunks of withdrawn cells that wait for a grace period
 * @leaving:  withdrawn cells that @sweep has still to give back
 * @sweep_at: next cell that the sweep looks at
 * @sweep:    work that expires, drains, and sends events
 * @sweep_due: jiffies when the next part of the table is to be swept
 * @full_at:  jiffies before which "full" is not announced again
 * @deadlines: some flow has a deadline of its own
 * @stopped:  @sweep must not be queued any more
 * @queue:    events of packets
 * @free:     frees the filter after a grace period
 */
struct nf_dlcbf_filter {
	struct dlcbf core;
	struct nf_dlcbf_key_layout layout;
	siphash_key_t secret;
	struct nf_dlcbf_record *records;
	u64 *keys;
	u32 timeout;
	bool learn;
	bool evict;
	bool events;

	struct nf_dlcbf_config config;
	atomic_t flows ____cacheline_aligned_in_smp;
	struct nf_dlcbf_net *dn ____cacheline_aligned_in_smp;
	struct nf_dlcbf_table __rcu *table;
	u64 memory;
	refcount_t refs;
	struct llist_head draining;
	atomic_t leaving;
	u32 sweep_at;
	struct delayed_work sweep;
	unsigned long sweep_due;
	unsigned long full_at;
	bool deadlines;
	bool stopped;
	struct nf_dlcbf_event_queue queue;
	struct rcu_work free;
};

/**
 * struct nf_dlcbf_flow - one flow, on its way in or out
 * @tuple:       its key, where @has_key
 * @has_key:     @tuple is valid; otherwise only @fingerprint is known
 * @fingerprint: what the core keeps of it
 * @counters:    its packets and bytes
 * @count:       how often it was added; 0 in a flow table: it was learned
 * @idle_ms:     milliseconds since its last packet
 * @has_timeout: it has a deadline of its own
 * @timeout_ms:  milliseconds until then
 */
struct nf_dlcbf_flow {
	struct nf_dlcbf_tuple tuple;
	bool has_key;
	struct dlcbf_fingerprint fingerprint;
	struct nf_dlcbf_counters counters;
	u32 count;
	u64 idle_ms;
	bool has_timeout;
	u64 timeout_ms;
};

/* What the filter says of a packet; the first five are counters' names. */
enum nf_dlcbf_found {
	NF_DLCBF_FOUND_HIT	= NF_DLCBF_A_STATS_HIT,
	NF_DLCBF_FOUND_LEARNED	= NF_DLCBF_A_STATS_LEARNED,
	NF_DLCBF_FOUND_MISS	= NF_DLCBF_A_STATS_MISS,
	NF_DLCBF_FOUND_REFUSED	= NF_DLCBF_A_STATS_REFUSED,
};

/**
 * struct nf_dlcbf_withdrawn - cells that were taken out and may still be read
 * @node:  in filter.draining
 * @event: NF_DLCBF_CMD_FLOW_DEL_NTF or _EXPIRE_NTF, what is announced of them
 * @count: entries
 * @room:  entries that fit
 * @cell:  the cells and the fingerprints that they had
 *
 * A packet that found a cell just before may still add to its record, so the
 * record is read for the last time, and the cell is given back, only after a
 * grace period.
 */
struct nf_dlcbf_withdrawn {
	struct llist_node node;
	int event;
	u32 count;
	u32 room;
	struct {
		u32 cell;
		struct dlcbf_fingerprint fingerprint;
	} cell[];
};

/* filter.c */
u64 nf_dlcbf_filter_memory(const struct nf_dlcbf_config *config);
struct nf_dlcbf_filter *nf_dlcbf_filter_create(struct nf_dlcbf_net *dn,
					       const struct nf_dlcbf_config *config,
					       struct nf_dlcbf_refusal *refusal);
bool nf_dlcbf_filter_get(struct nf_dlcbf_filter *filter);
void nf_dlcbf_filter_put(struct nf_dlcbf_filter *filter);
void nf_dlcbf_filter_stop(struct nf_dlcbf_filter *filter);
void nf_dlcbf_filter_apply(struct nf_dlcbf_filter *filter);

/* filter_packet.c */
enum nf_dlcbf_found nf_dlcbf_filter_packet(struct nf_dlcbf_filter *filter,
					   const struct nf_dlcbf_packet *packet,
					   struct nf_dlcbf_stats __percpu *stats);

/* filter_flow.c */
int nf_dlcbf_filter_add(struct nf_dlcbf_filter *filter, struct nf_dlcbf_flow *flow, bool exist);
int nf_dlcbf_filter_remove(struct nf_dlcbf_filter *filter, struct nf_dlcbf_flow *flow,
			   struct nf_dlcbf_withdrawn *withdrawn);
int nf_dlcbf_filter_lookup(struct nf_dlcbf_filter *filter, struct nf_dlcbf_flow *flow, bool reset);
u32 nf_dlcbf_filter_next(struct nf_dlcbf_filter *filter, u32 cell, struct nf_dlcbf_flow *flow,
			 bool reset);
void nf_dlcbf_filter_adopt_counters(struct nf_dlcbf_filter *filter,
				    struct nf_dlcbf_filter *old);
int nf_dlcbf_filter_flush(struct nf_dlcbf_filter *filter);

/* evict.c */
u32 nf_dlcbf_evict(struct nf_dlcbf_filter *filter, struct dlcbf_fingerprint fingerprint, u32 now,
		   struct nf_dlcbf_stats __percpu *stats);

/* expire.c */
struct nf_dlcbf_withdrawn *nf_dlcbf_withdrawn_alloc(u32 room, int event);
void nf_dlcbf_withdrawn_drain(struct nf_dlcbf_filter *filter,
			      struct nf_dlcbf_withdrawn *withdrawn);
bool nf_dlcbf_withdrawn_wait(struct nf_dlcbf_filter *filter);
void nf_dlcbf_expire_init(struct nf_dlcbf_filter *filter);
void nf_dlcbf_expire_kick(struct nf_dlcbf_filter *filter);

#endif /* NF_DLCBF_FILTER_H */
