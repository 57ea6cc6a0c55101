// SPDX-License-Identifier: GPL-2.0
/*
 * What a packet does to the contents of a table: the hit, and learning.
 */
#include <linux/rcupdate.h>

#include "cell.h"
#include "filter.h"
#include "packet.h"

/* ---- learning; with the fingerprint's lock held ---- */

/* An expired flow whose packet came before the sweep: it starts anew. */
static void revive(struct nf_dlcbf_filter *filter, u32 cell, struct dlcbf_fingerprint fingerprint,
		   const struct nf_dlcbf_packet *packet, u32 now,
		   struct nf_dlcbf_stats __percpu *stats)
{
	struct nf_dlcbf_record *record = &filter->records[cell];
	struct nf_dlcbf_counters counters = {};
	struct dlcbf_fingerprint same;
	u32 counter;

	nf_dlcbf_record_read(record, true, &counters);
	nf_dlcbf_stats_add(stats, NF_DLCBF_A_STATS_EXPIRED, 1);
	if (READ_ONCE(filter->events))
		nf_dlcbf_event_put_flow(filter, NF_DLCBF_CMD_FLOW_EXPIRE_NTF, fingerprint, cell,
					&counters, stats);
	WRITE_ONCE(record->last, now);
	WRITE_ONCE(record->deadline, NF_DLCBF_DEADLINE_IDLE);
	nf_dlcbf_record_count(record, packet->packets, packet->bytes, now);
	/* The lock is held, so only an evictor could interfere, with counter 0. */
	if (dlcbf_cell_read(&filter->core, cell, &same, &counter) && counter)
		dlcbf_set_counter(&filter->core, cell, fingerprint, counter, 0);
}

static enum nf_dlcbf_found learn_locked(struct nf_dlcbf_filter *filter,
					struct dlcbf_fingerprint fingerprint,
					const struct nf_dlcbf_key *key,
					const struct nf_dlcbf_packet *packet, u32 now,
					struct nf_dlcbf_stats __percpu *stats)
{
	const struct nf_dlcbf_counters none = {};
	u32 cell = nf_dlcbf_cell_find(filter, fingerprint, key);

	if (cell != DLCBF_NO_CELL) {
		if (!filter->records)
			return NF_DLCBF_FOUND_HIT;
		if (nf_dlcbf_record_expired(&filter->records[cell], now,
					    READ_ONCE(filter->timeout))) {
			revive(filter, cell, fingerprint, packet, now, stats);
			return NF_DLCBF_FOUND_LEARNED;
		}
		nf_dlcbf_record_count(&filter->records[cell], packet->packets, packet->bytes, now);
		return NF_DLCBF_FOUND_HIT;
	}

	cell = nf_dlcbf_cell_claim(filter, fingerprint);
	if (cell == DLCBF_NO_CELL && READ_ONCE(filter->evict))
		cell = nf_dlcbf_evict(filter, fingerprint, now, stats);
	if (cell == DLCBF_NO_CELL)
		return NF_DLCBF_FOUND_REFUSED;

	if (filter->keys)
		nf_dlcbf_cell_write_key(filter, cell, key);
	if (filter->records)
		nf_dlcbf_record_start(&filter->records[cell], packet->packets, packet->bytes, now,
				      NF_DLCBF_DEADLINE_IDLE);
	dlcbf_publish(&filter->core, cell, fingerprint, 0);
	if (READ_ONCE(filter->events))
		nf_dlcbf_event_put_flow(filter, NF_DLCBF_CMD_FLOW_ADD_NTF, fingerprint, cell,
					&none, stats);
	return NF_DLCBF_FOUND_LEARNED;
}

static noinline enum nf_dlcbf_found learn(struct nf_dlcbf_filter *filter,
					  struct dlcbf_fingerprint fingerprint,
					  const struct nf_dlcbf_key *key,
					  const struct nf_dlcbf_packet *packet, u32 now,
					  struct nf_dlcbf_stats __percpu *stats)
{
	enum nf_dlcbf_found found;

	dlcbf_lock(&filter->core, fingerprint);
	found = learn_locked(filter, fingerprint, key, packet, now, stats);
	dlcbf_unlock(&filter->core, fingerprint);
	if (found == NF_DLCBF_FOUND_REFUSED)
		nf_dlcbf_event_put_full(filter);
	return found;
}

/* Only eviction gives a cell away under a packet that has found it. */
static bool was_evicted(const struct nf_dlcbf_filter *filter, u32 cell,
			struct dlcbf_fingerprint fingerprint)
{
	struct dlcbf_fingerprint there;
	u32 counter;

	return !dlcbf_cell_read(&filter->core, cell, &there, &counter) ||
	       there.bucket != fingerprint.bucket || there.remainder != fingerprint.remainder;
}

/**
 * nf_dlcbf_filter_packet() - find, or learn, the flow of a packet and count it
 * @filter: contents of a table
 * @packet: a packet whose key could be read
 * @stats:  counters of the table, for what befalls other flows
 *
 * Context: softirq or process, RCU read side.
 * Return: what became of it; counting that is up to the caller.
 */
enum nf_dlcbf_found nf_dlcbf_filter_packet(struct nf_dlcbf_filter *filter,
					   const struct nf_dlcbf_packet *packet,
					   struct nf_dlcbf_stats __percpu *stats)
{
	const u32 now = nf_dlcbf_stamp_now();
	struct dlcbf_fingerprint fingerprint;
	struct nf_dlcbf_record *record;
	struct nf_dlcbf_key key;
	u32 cell;

	nf_dlcbf_key_pack(&filter->layout, &packet->tuple, &key);
	fingerprint = dlcbf_fingerprint(&filter->core,
					nf_dlcbf_key_hash(&filter->layout, &filter->secret, &key));
	cell = nf_dlcbf_cell_find(filter, fingerprint, &key);
	if (cell != DLCBF_NO_CELL) {
		if (!filter->records)
			return NF_DLCBF_FOUND_HIT;
		record = &filter->records[cell];
		if (!nf_dlcbf_record_expired(record, now, READ_ONCE(filter->timeout))) {
			nf_dlcbf_record_count(record, packet->packets, packet->bytes, now);
			if (READ_ONCE(filter->evict) && was_evicted(filter, cell, fingerprint))
				nf_dlcbf_stats_add(stats, NF_DLCBF_A_STATS_RACED, packet->packets);
			return NF_DLCBF_FOUND_HIT;
		}
	}
	if (!READ_ONCE(filter->learn))
		return NF_DLCBF_FOUND_MISS;
	return learn(filter, fingerprint, &key, packet, now, stats);
}

