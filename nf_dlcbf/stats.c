// SPDX-License-Identifier: GPL-2.0
#include <linux/string.h>

#include "stats.h"

/**
 * nf_dlcbf_stats_alloc() - counters of a table, all 0
 *
 * Context: process, may sleep.  Free with free_percpu().
 * Return: per-CPU counters, or NULL.
 */
struct nf_dlcbf_stats __percpu *nf_dlcbf_stats_alloc(void)
{
	struct nf_dlcbf_stats __percpu *stats;
	int cpu;

	stats = alloc_percpu_gfp(struct nf_dlcbf_stats, GFP_KERNEL_ACCOUNT);
	if (!stats)
		return NULL;
	for_each_possible_cpu(cpu)
		u64_stats_init(&per_cpu_ptr(stats, cpu)->sync);
	return stats;
}

/**
 * nf_dlcbf_stats_sum() - read the counters of all CPUs
 * @stats: a table's counters
 * @sum:   set, indexed by enum nf_dlcbf_attr_stats
 *
 * Each counter is exact at some moment of the call, not all at the same one.
 *
 * Context: any.
 */
void nf_dlcbf_stats_sum(struct nf_dlcbf_stats __percpu *stats, u64 sum[NF_DLCBF_STATS_COUNT])
{
	int cpu, i;

	memset(sum, 0, sizeof(*sum) * NF_DLCBF_STATS_COUNT);
	for_each_possible_cpu(cpu) {
		const struct nf_dlcbf_stats *there = per_cpu_ptr(stats, cpu);

		for (i = NF_DLCBF_STATS_FIRST; i < NF_DLCBF_STATS_COUNT; i++) {
			unsigned int start;
			u64 value;

			do {
				start = u64_stats_fetch_begin(&there->sync);
				value = READ_ONCE(there->counter[i]);
			} while (u64_stats_fetch_retry(&there->sync, start));
			sum[i] += value;
		}
	}
}
