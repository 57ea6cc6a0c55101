// SPDX-License-Identifier: GPL-2.0
/*
 * The contents of a table.
 *
 * Concurrency.  A packet finds its flow's cell without a lock and adds to the
 * record beside it, under RCU alone.  Whoever adds or removes a flow holds the
 * lock of its fingerprint.  A cell that was live is not given to another flow
 * before a grace period has passed (expire.c), so a packet that found a cell
 * counts into the right record, with one exception: eviction.  There the new
 * flow cannot wait; a packet of the evicted flow that is being counted on
 * another CPU at that moment is counted for the new one, and under "raced".
 */
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "filter.h"
#include "main.h"
#include "memory.h"
#include "table.h"

/* Bytes of the parts of a filter; the caller checked that they do not overflow. */
struct sizes {
	u64 words;
	u64 stripes;
	u64 records;
	u64 keys;
	u32 nstripes;
};

static void sizes_of(const struct nf_dlcbf_config *config, u32 key_words, struct sizes *sizes)
{
	const struct dlcbf_geometry *g = &config->geometry;
	const u64 cells = (u64)g->buckets * g->subtables * g->bucket_cells;

	/* Each factor has 31 bits or fewer: none of these overflows. */
	sizes->words = dlcbf_words_bytes(g);
	sizes->nstripes = dlcbf_stripe_count(g, num_possible_cpus());
	sizes->stripes = dlcbf_stripes_bytes(sizes->nstripes);
	sizes->records = config->type == NF_DLCBF_TYPE_FLOW ?
			 cells * sizeof(struct nf_dlcbf_record) : 0;
	sizes->keys = config->keys ? cells * key_words * sizeof(u64) : 0;
}

static u64 sizes_sum(const struct sizes *sizes)
{
	return sizeof(struct nf_dlcbf_filter) + sizes->words + sizes->stripes + sizes->records +
	       sizes->keys;
}

/**
 * nf_dlcbf_filter_memory() - what a filter takes
 * @config: settings, as nf_dlcbf_config_complete() left them
 *
 * Context: any.
 * Return: bytes.
 */
u64 nf_dlcbf_filter_memory(const struct nf_dlcbf_config *config)
{
	struct nf_dlcbf_refusal refusal = {};
	struct nf_dlcbf_key_layout layout;
	struct sizes sizes;

	if (nf_dlcbf_key_layout_init(&layout, config, &refusal))
		return 0;
	sizes_of(config, layout.words, &sizes);
	return sizes_sum(&sizes);
}

static void free_memory(struct nf_dlcbf_filter *filter)
{
	nf_dlcbf_event_queue_destroy(&filter->queue);
	nf_dlcbf_memory_free(filter->core.words);
	nf_dlcbf_memory_free(filter->core.stripes);
	nf_dlcbf_memory_free(filter->records);
	nf_dlcbf_memory_free(filter->keys);
	kfree(filter);
}

static int allocate(struct nf_dlcbf_filter *filter, const struct sizes *sizes)
{
	struct dlcbf_stripe *stripes = NULL;
	unsigned long *words;
	int err = -ENOMEM;

	words = nf_dlcbf_memory_alloc(sizes->words);
	stripes = nf_dlcbf_memory_alloc(sizes->stripes);
	if (words && stripes)
		err = dlcbf_init(&filter->core, &filter->config.geometry, words, stripes,
				 sizes->nstripes);
	/* Whatever happened, free_memory() finds them here. */
	filter->core.words = words;
	filter->core.stripes = stripes;
	if (err)
		return err;
	if (sizes->records) {
		filter->records = nf_dlcbf_memory_alloc(sizes->records);
		if (!filter->records)
			return -ENOMEM;
	}
	if (sizes->keys) {
		filter->keys = nf_dlcbf_memory_alloc(sizes->keys);
		if (!filter->keys)
			return -ENOMEM;
	}
	if (filter->config.events)
		return nf_dlcbf_event_queue_enable(&filter->queue);
	return 0;
}

/**
 * nf_dlcbf_filter_apply() - let packets see settings that may change
 * @filter: contents of a table; its @config was changed
 *
 * Context: process, nf_dlcbf_net.lock held.
 */
void nf_dlcbf_filter_apply(struct nf_dlcbf_filter *filter)
{
	const struct nf_dlcbf_config *config = &filter->config;

	WRITE_ONCE(filter->timeout,
		   config->timeout_ms ? nf_dlcbf_stamp_from_ms(config->timeout_ms) : 0);
	WRITE_ONCE(filter->evict, config->on_full == NF_DLCBF_ON_FULL_EVICT);
	WRITE_ONCE(filter->learn, config->learn);
	/* Pairs with the acquire in nf_dlcbf_event_put(): the ring is there. */
	smp_store_release(&filter->events, config->events && filter->queue.ring);
	nf_dlcbf_expire_kick(filter);
}

/**
 * nf_dlcbf_filter_create() - make empty contents
 * @dn:      namespace to charge
 * @config:  settings, as nf_dlcbf_config_complete() left them
 * @refusal: set when it cannot be had
 *
 * Context: process, may sleep.
 * Return: a filter with one reference, or an ERR_PTR: -ENOMEM, -EINVAL.
 */
struct nf_dlcbf_filter *nf_dlcbf_filter_create(struct nf_dlcbf_net *dn,
					       const struct nf_dlcbf_config *config,
					       struct nf_dlcbf_refusal *refusal)
{
	struct nf_dlcbf_filter *filter;
	struct sizes sizes;
	int err;

	filter = kzalloc(sizeof(*filter), GFP_KERNEL_ACCOUNT);
	if (!filter)
		return ERR_PTR(-ENOMEM);
	filter->config = *config;
	filter->dn = dn;
	refcount_set(&filter->refs, 1);
	init_llist_head(&filter->draining);
	nf_dlcbf_event_queue_init(&filter->queue);
	nf_dlcbf_expire_init(filter);
	memcpy(&filter->secret, config->secret, sizeof(filter->secret));

	err = nf_dlcbf_key_layout_init(&filter->layout, config, refusal);
	if (err)
		goto err_free;
	sizes_of(config, filter->layout.words, &sizes);
	filter->memory = sizes_sum(&sizes);
	err = nf_dlcbf_memory_charge(dn, filter->memory);
	if (err) {
		nf_dlcbf_refuse(refusal, err, NF_DLCBF_A_TABLE_MAX_FLOWS,
				"max-flows needs more memory than this namespace's tables may take (module parameter memory_max)");
		goto err_free;
	}
	err = allocate(filter, &sizes);
	if (err) {
		nf_dlcbf_refuse(refusal, err, NF_DLCBF_A_TABLE_MAX_FLOWS,
				"not enough memory for max-flows");
		goto err_uncharge;
	}
	nf_dlcbf_filter_apply(filter);
	return filter;

err_uncharge:
	nf_dlcbf_memory_uncharge(dn, filter->memory);
err_free:
	free_memory(filter);
	return ERR_PTR(err);
}

static void free_work(struct work_struct *work)
{
	struct nf_dlcbf_filter *filter = container_of(to_rcu_work(work), struct nf_dlcbf_filter,
						      free);
	struct nf_dlcbf_withdrawn *withdrawn, *next;

	/* A packet may have queued it until the grace period ended. */
	cancel_delayed_work_sync(&filter->sweep);
	llist_for_each_entry_safe(withdrawn, next, llist_del_all(&filter->draining), node)
		kvfree(withdrawn);
	free_memory(filter);
}

/* Take a reference.  Context: RCU read side or a reference held.  Return: got it. */
bool nf_dlcbf_filter_get(struct nf_dlcbf_filter *filter)
{
	return refcount_inc_not_zero(&filter->refs);
}

/**
 * nf_dlcbf_filter_put() - drop a reference
 * @filter: contents; freed with the last reference, after a grace period
 *
 * Context: process.
 */
void nf_dlcbf_filter_put(struct nf_dlcbf_filter *filter)
{
	if (!refcount_dec_and_test(&filter->refs))
		return;
	WRITE_ONCE(filter->stopped, true);
	INIT_RCU_WORK(&filter->free, free_work);
	queue_rcu_work(nf_dlcbf_workqueue, &filter->free);
}

/**
 * nf_dlcbf_filter_stop() - retire contents that no table has any more
 * @filter: contents; the caller's reference is dropped
 *
 * The namespace gets its memory back at once: it may be gone when the last
 * reader drops his reference.
 *
 * Context: process, may sleep, nf_dlcbf_net.lock held.
 */
void nf_dlcbf_filter_stop(struct nf_dlcbf_filter *filter)
{
	WRITE_ONCE(filter->stopped, true);
	rcu_assign_pointer(filter->table, NULL);
	cancel_delayed_work_sync(&filter->sweep);
	nf_dlcbf_memory_uncharge(filter->dn, filter->memory);
	filter->dn = NULL;
	nf_dlcbf_filter_put(filter);
}
