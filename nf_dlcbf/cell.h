/* SPDX-License-Identifier: GPL-2.0 */
/* What packets and the administrator both do to a filter's cells. */
#ifndef NF_DLCBF_CELL_H
#define NF_DLCBF_CELL_H

#include "filter.h"

/**
 * struct nf_dlcbf_key_match - for nf_dlcbf_key_matches()
 * @filter: with keys
 * @key:    the one that is looked for
 */
struct nf_dlcbf_key_match {
	const struct nf_dlcbf_filter *filter;
	const struct nf_dlcbf_key *key;
};

static __always_inline bool nf_dlcbf_key_matches(const void *ctx, u32 cell)
{
	const struct nf_dlcbf_key_match *match = ctx;
	const u32 words = match->filter->layout.words;
	const u64 *stored = match->filter->keys + (size_t)cell * words;
	u32 i;

	for (i = 0; i < words; i++)
		if (READ_ONCE(stored[i]) != match->key->words[i])
			return false;
	return true;
}

/* The cell of a flow; @key is not read in a table without keys. */
static __always_inline u32 nf_dlcbf_cell_find(const struct nf_dlcbf_filter *filter,
					      struct dlcbf_fingerprint fingerprint,
					      const struct nf_dlcbf_key *key)
{
	const struct nf_dlcbf_key_match match = { .filter = filter, .key = key };

	if (filter->keys)
		return dlcbf_find_if(&filter->core, fingerprint, nf_dlcbf_key_matches, &match);
	return dlcbf_find(&filter->core, fingerprint);
}

/* Context: the cell is held by the caller. */
static inline void nf_dlcbf_cell_write_key(struct nf_dlcbf_filter *filter, u32 cell,
					   const struct nf_dlcbf_key *key)
{
	const u32 words = filter->layout.words;
	u64 *stored = filter->keys + (size_t)cell * words;
	u32 i;

	for (i = 0; i < words; i++)
		WRITE_ONCE(stored[i], key->words[i]);
}

static inline void nf_dlcbf_cell_read_key(const struct nf_dlcbf_filter *filter, u32 cell,
					  struct nf_dlcbf_key *key)
{
	const u32 words = filter->layout.words;
	const u64 *stored = filter->keys + (size_t)cell * words;
	u32 i;

	for (i = 0; i < words; i++)
		key->words[i] = READ_ONCE(stored[i]);
}

/**
 * nf_dlcbf_cell_claim() - hold an empty cell for a new flow
 * @filter:      contents of a table
 * @fingerprint: of the flow, whose lock is held
 *
 * Return: the cell, for dlcbf_publish(); DLCBF_NO_CELL when the table has
 * max_flows, or all buckets of the fingerprint are full.
 */
static inline u32 nf_dlcbf_cell_claim(struct nf_dlcbf_filter *filter,
				      struct dlcbf_fingerprint fingerprint)
{
	u32 cell;

	if (!atomic_add_unless(&filter->flows, 1, filter->config.max_flows))
		return DLCBF_NO_CELL;
	cell = dlcbf_claim(&filter->core, fingerprint);
	if (cell == DLCBF_NO_CELL)
		atomic_dec(&filter->flows);
	return cell;
}

/* An expired flow is there until the sweep finds it, and is not to be met. */
static inline bool nf_dlcbf_cell_expired(const struct nf_dlcbf_filter *filter, u32 cell, u32 now)
{
	return filter->records && nf_dlcbf_record_expired(&filter->records[cell], now,
							  READ_ONCE(filter->timeout));
}

#endif /* NF_DLCBF_CELL_H */
