/* SPDX-License-Identifier: GPL-2.0 */
/* Per-CPU counters of a table: every packet under exactly one reason. */
#ifndef NF_DLCBF_STATS_H
#define NF_DLCBF_STATS_H

#include <linux/percpu.h>
#include <linux/u64_stats_sync.h>
#include <linux/nf_dlcbf.h>

/* Counters are numbered as their netlink attributes are. */
#define NF_DLCBF_STATS_FIRST	NF_DLCBF_A_STATS_PACKETS
#define NF_DLCBF_STATS_COUNT	(NF_DLCBF_A_STATS_MAX + 1)

struct nf_dlcbf_stats {
	u64 counter[NF_DLCBF_STATS_COUNT];
	struct u64_stats_sync sync;
};

/**
 * nf_dlcbf_stats_add() - count something
 * @stats: a table's per-CPU counters
 * @which: enum nf_dlcbf_attr_stats
 * @n:     how many
 *
 * Context: process or softirq.  A 64-bit machine adds in one instruction, or
 * with the means of this_cpu_add(); a 32-bit one must keep the softirq of the
 * same CPU out while the two halves are written.
 */
static inline void nf_dlcbf_stats_add(struct nf_dlcbf_stats __percpu *stats,
				      enum nf_dlcbf_attr_stats which, u64 n)
{
#if BITS_PER_LONG == 64
	this_cpu_add(stats->counter[which], n);
#else
	struct nf_dlcbf_stats *here;

	local_bh_disable();
	here = this_cpu_ptr(stats);
	u64_stats_update_begin(&here->sync);
	here->counter[which] += n;
	u64_stats_update_end(&here->sync);
	local_bh_enable();
#endif
}

struct nf_dlcbf_stats __percpu *nf_dlcbf_stats_alloc(void);
void nf_dlcbf_stats_sum(struct nf_dlcbf_stats __percpu *stats, u64 sum[NF_DLCBF_STATS_COUNT]);

#endif /* NF_DLCBF_STATS_H */
