// SPDX-License-Identifier: GPL-2.0
/*
 * A table's memory is charged to the control group of its creator by the
 * allocator, and to its network namespace here: whoever may make tables in a
 * namespace of his own must not be able to take the machine's memory.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/vmalloc.h>

#include "memory.h"
#include "table.h"

static unsigned int memory_max;
module_param(memory_max, uint, 0644);
MODULE_PARM_DESC(memory_max,
		 "MiB that the tables of one network namespace may take; 0 (default): a quarter of the machine's memory");

/**
 * nf_dlcbf_memory_limit() - what the tables of one namespace may take
 *
 * Context: any.
 * Return: bytes.
 */
u64 nf_dlcbf_memory_limit(void)
{
	u64 max = READ_ONCE(memory_max);

	return max ? max << 20 : (u64)(totalram_pages() / 4) << PAGE_SHIFT;
}

/**
 * nf_dlcbf_memory_charge() - ask for memory of a namespace's share
 * @dn:    namespace
 * @bytes: how many
 *
 * Context: any.
 * Return: 0, or -ENOMEM when the namespace would exceed its share.
 */
int nf_dlcbf_memory_charge(struct nf_dlcbf_net *dn, u64 bytes)
{
	u64 limit = min_t(u64, nf_dlcbf_memory_limit(), S64_MAX);

	if (bytes > limit)
		return -ENOMEM;
	if ((u64)atomic64_add_return(bytes, &dn->memory) > limit) {
		atomic64_sub(bytes, &dn->memory);
		return -ENOMEM;
	}
	return 0;
}

/* Give back what was charged.  Context: any. */
void nf_dlcbf_memory_uncharge(struct nf_dlcbf_net *dn, u64 bytes)
{
	WARN_ON_ONCE(atomic64_sub_return(bytes, &dn->memory) < 0);
}

/**
 * nf_dlcbf_memory_alloc() - memory of a table
 * @bytes: how many
 *
 * Tables are read at random: with small pages the address translation of a
 * large one costs as much as its cache misses, so huge mappings are asked for
 * where one fits.
 *
 * Context: process, may sleep.
 * Return: zeroed memory, or NULL.
 */
void *nf_dlcbf_memory_alloc(u64 bytes)
{
	const gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN;

	if (bytes > SIZE_MAX)
		return NULL;
	if (bytes >= PMD_SIZE)
		return vmalloc_huge(bytes, gfp);
	return kvzalloc(bytes, gfp);
}

/* Free it; NULL is fine.  Context: process, may sleep. */
void nf_dlcbf_memory_free(const void *memory)
{
	kvfree(memory);
}
