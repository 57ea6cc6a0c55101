// SPDX-License-Identifier: GPL-2.0
#include <linux/rcupdate.h>

#include "cell.h"
#include "filter.h"

/* Victims that are tried before a new flow is refused. */
#define EVICT_TRIES	4

static u32 stalest_candidate(struct nf_dlcbf_filter *filter,
			     struct dlcbf_fingerprint fingerprint, u32 now,
			     struct dlcbf_fingerprint *victim)
{
	u32 cell, stalest = DLCBF_NO_CELL, longest = 0;
	unsigned int pos = 0;

	while ((cell = dlcbf_next_candidate(&filter->core, fingerprint, &pos)) != DLCBF_NO_CELL) {
		struct dlcbf_fingerprint candidate;
		u32 counter, idle;

		/* A counter says that an administrator added it. */
		if (!dlcbf_cell_read(&filter->core, cell, &candidate, &counter) || counter)
			continue;
		idle = now - READ_ONCE(filter->records[cell].last);
		if (stalest == DLCBF_NO_CELL || idle > longest) {
			stalest = cell;
			longest = idle;
			*victim = candidate;
		}
	}
	return stalest;
}

/**
 * nf_dlcbf_evict() - make room for a new flow in a table that is full
 * @filter:      contents of a table with records
 * @fingerprint: of the new flow, whose lock is held
 * @now:         the current stamp
 * @stats:       counters of the table
 *
 * The stalest of the flows that could be in its way goes, unless an
 * administrator added it.  The work is bounded by the cells of d buckets.
 *
 * Context: softirq or process, RCU read side.
 * Return: a cell of the new flow's buckets, held; DLCBF_NO_CELL if none goes.
 */
u32 nf_dlcbf_evict(struct nf_dlcbf_filter *filter, struct dlcbf_fingerprint fingerprint, u32 now,
		   struct nf_dlcbf_stats __percpu *stats)
{
	int try;

	for (try = 0; try < EVICT_TRIES; try++) {
		struct nf_dlcbf_counters counters = {};
		struct dlcbf_fingerprint victim;
		u32 cell;

		cell = stalest_candidate(filter, fingerprint, now, &victim);
		if (cell == DLCBF_NO_CELL)
			break;
		/* It may have been pinned, deleted or evicted meanwhile. */
		if (!dlcbf_withdraw(&filter->core, cell, victim, 0))
			continue;
		nf_dlcbf_record_read(&filter->records[cell], true, &counters);
		nf_dlcbf_stats_add(stats, NF_DLCBF_A_STATS_EVICTED, 1);
		if (READ_ONCE(filter->events))
			nf_dlcbf_event_put_flow(filter, NF_DLCBF_CMD_FLOW_EVICT_NTF, victim, cell,
						&counters, stats);
		return cell;
	}
	return DLCBF_NO_CELL;
}
