// SPDX-License-Identifier: GPL-2.0
/*
 * From what an administrator gave to what a table is: defaults, checks, and the
 * geometry that follows from the number of flows and the false positive rate.
 */
#include <linux/kernel.h>
#include <linux/random.h>
#include <linux/string.h>

#include "config.h"
#include "dlcbf_core/sizing.h"

/*
 * The rate of a table that was given none.  A list that drops what it hits
 * takes this part of good traffic for bad.
 */
#define DEFAULT_FPR		(NF_DLCBF_FPR_UNIT / 1000000)

/*
 * In a table with keys a fingerprint that matches by chance costs the reading of
 * a key, and nothing else: one in fifty is cheap.
 */
#define FPR_WITH_KEYS		(NF_DLCBF_FPR_UNIT / 50)

/* Stamps are compared as signed 32-bit numbers: a year is well within. */
#define TIMEOUT_MAX_MS		(366ULL * 24 * 3600 * 1000)

/**
 * nf_dlcbf_config_defaults() - the settings of a table that was given none
 * @config: set
 * @type:   enum nf_dlcbf_type, on which some defaults depend
 *
 * Context: any.
 */
void nf_dlcbf_config_defaults(struct nf_dlcbf_config *config, u32 type)
{
	*config = (struct nf_dlcbf_config){
		.type = type,
		.family = NF_DLCBF_FAMILY_INET,
		.saddr_prefix4 = 32,
		.saddr_prefix6 = 128,
		.daddr_prefix4 = 32,
		.daddr_prefix6 = 128,
		.keys = type == NF_DLCBF_TYPE_FLOW,
		.on_full = NF_DLCBF_ON_FULL_DROP_NEW,
		.fragments = NF_DLCBF_FRAGMENTS_MISS,
	};
}

/**
 * nf_dlcbf_config_check_changeable() - check settings that may be changed later
 * @config:  settings
 * @refusal: set when they cannot be
 *
 * Context: any.
 * Return: 0, or -EINVAL or -ERANGE.
 */
int nf_dlcbf_config_check_changeable(const struct nf_dlcbf_config *config,
				     struct nf_dlcbf_refusal *refusal)
{
	if (config->on_full != NF_DLCBF_ON_FULL_DROP_NEW &&
	    config->on_full != NF_DLCBF_ON_FULL_EVICT)
		return nf_dlcbf_refuse(refusal, -EINVAL, NF_DLCBF_A_TABLE_ON_FULL,
				       "on-full is neither drop-new nor evict");
	if (config->fragments < NF_DLCBF_FRAGMENTS_MISS ||
	    config->fragments > NF_DLCBF_FRAGMENTS_DROP)
		return nf_dlcbf_refuse(refusal, -EINVAL, NF_DLCBF_A_TABLE_FRAGMENTS,
				       "fragments is none of miss, accept and drop");
	if (config->timeout_ms > TIMEOUT_MAX_MS)
		return nf_dlcbf_refuse(refusal, -ERANGE, NF_DLCBF_A_TABLE_TIMEOUT,
				       "timeout is longer than a year");
	if (config->type == NF_DLCBF_TYPE_FLOW)
		return 0;
	if (config->timeout_ms)
		return nf_dlcbf_refuse(refusal, -EINVAL, NF_DLCBF_A_TABLE_TIMEOUT,
				       "a set keeps no times: timeout needs type flow");
	if (config->on_full == NF_DLCBF_ON_FULL_EVICT)
		return nf_dlcbf_refuse(refusal, -EINVAL, NF_DLCBF_A_TABLE_ON_FULL,
				       "a set keeps no times: on-full evict needs type flow");
	return 0;
}

static bool prefix_ok(u8 prefix4, u8 prefix6)
{
	return prefix4 >= 1 && prefix4 <= 32 && prefix6 >= 1 && prefix6 <= 128;
}

static int check_fixed(const struct nf_dlcbf_config *config, struct nf_dlcbf_refusal *refusal)
{
	if (config->type != NF_DLCBF_TYPE_SET && config->type != NF_DLCBF_TYPE_FLOW)
		return nf_dlcbf_refuse(refusal, -EINVAL, NF_DLCBF_A_TABLE_TYPE,
				       "type is neither set nor flow");
	if (config->family < NF_DLCBF_FAMILY_IPV4 || config->family > NF_DLCBF_FAMILY_INET)
		return nf_dlcbf_refuse(refusal, -EINVAL, NF_DLCBF_A_TABLE_FAMILY,
				       "family is none of ipv4, ipv6 and inet");
	if (!config->fields || config->fields & ~NF_DLCBF_FIELDS_ALL)
		return nf_dlcbf_refuse(refusal, -EINVAL, NF_DLCBF_A_TABLE_FIELDS,
				       "the key needs at least one field, and only known ones");
	if (!prefix_ok(config->saddr_prefix4, config->saddr_prefix6))
		return nf_dlcbf_refuse(refusal, -EINVAL, NF_DLCBF_A_TABLE_SADDR_PREFIX4,
				       "a prefix length of saddr is out of range");
	if (!prefix_ok(config->daddr_prefix4, config->daddr_prefix6))
		return nf_dlcbf_refuse(refusal, -EINVAL, NF_DLCBF_A_TABLE_DADDR_PREFIX4,
				       "a prefix length of daddr is out of range");
	if (!config->max_flows)
		return nf_dlcbf_refuse(refusal, -EINVAL, NF_DLCBF_A_TABLE_MAX_FLOWS,
				       "max-flows is missing or 0");
	if (config->max_flows > NF_DLCBF_MAX_FLOWS)
		return nf_dlcbf_refuse(refusal, -ERANGE, NF_DLCBF_A_TABLE_MAX_FLOWS,
				       "max-flows is more than 1073741824 (2^30)");
	if (config->fpr >= NF_DLCBF_FPR_UNIT)
		return nf_dlcbf_refuse(refusal, -EINVAL, NF_DLCBF_A_TABLE_FPR,
				       "fpr is not less than 1");
	if (config->fpr && config->keys)
		return nf_dlcbf_refuse(refusal, -EINVAL, NF_DLCBF_A_TABLE_FPR,
				       "a table with keys is exact and takes no fpr");
	return 0;
}

static int size(struct nf_dlcbf_config *config, struct nf_dlcbf_refusal *refusal)
{
	const struct dlcbf_geometry *g = &config->geometry;
	struct dlcbf_sizing_request request = {
		.max_elements = config->max_flows,
		.fpr = config->keys ? FPR_WITH_KEYS : config->fpr,
		.buckets = g->buckets,
		.subtables = g->subtables,
		.bucket_cells = g->bucket_cells,
		.cell_bits = g->cell_bits,
		.counter_bits = g->counter_bits,
	};
	struct dlcbf_sizing sizing = {};
	int attribute = NF_DLCBF_A_TABLE_FPR;
	int err;

	/* A key is added once: one bit tells the administrator's from learned. */
	if (config->keys && !request.counter_bits)
		request.counter_bits = 1;
	if (config->keys && !request.cell_bits)
		request.cell_bits = 16;
	err = dlcbf_size(&request, &sizing);
	if (err) {
		if (g->buckets || g->subtables || g->bucket_cells || g->cell_bits ||
		    g->counter_bits)
			attribute = NF_DLCBF_A_TABLE_GEOMETRY;
		else if (config->keys)
			attribute = NF_DLCBF_A_TABLE_MAX_FLOWS;
		if (sizing.possible_fpr && !config->keys)
			snprintf(refusal->detail, sizeof(refusal->detail),
				 "possible: fpr %llue-18", sizing.possible_fpr);
		else if (sizing.possible_elements)
			snprintf(refusal->detail, sizeof(refusal->detail),
				 "possible: max-flows %llu", sizing.possible_elements);
		return nf_dlcbf_refuse(refusal, err, attribute,
				       sizing.reason ?: "this geometry cannot be had");
	}
	config->geometry = sizing.geometry;
	config->fpr_max = config->keys ? 0 : sizing.fpr;
	config->overflow = sizing.overflow_mlog10;
	return 0;
}

/**
 * nf_dlcbf_config_complete() - check settings and choose what is missing
 * @config:  settings; fpr, the fields of geometry and the secret are chosen
 *	     where they are 0
 * @refusal: set when such a table cannot be had
 *
 * Context: process, may sleep (the first random numbers after boot).
 * Return: 0, -EINVAL, or -ERANGE.
 */
int nf_dlcbf_config_complete(struct nf_dlcbf_config *config, struct nf_dlcbf_refusal *refusal)
{
	int err;

	err = check_fixed(config, refusal);
	if (!err)
		err = nf_dlcbf_config_check_changeable(config, refusal);
	if (err)
		return err;
	if (!config->keys && !config->fpr)
		config->fpr = DEFAULT_FPR;
	err = size(config, refusal);
	if (err)
		return err;
	if (!config->has_secret) {
		get_random_bytes_wait(config->secret, sizeof(config->secret));
		config->has_secret = true;
	}
	return 0;
}

/**
 * nf_dlcbf_config_fpr() - predicted false positive rate
 * @config: completed settings
 * @flows:  flows in the table
 *
 * Context: any.
 * Return: in units of 10^-18; 0 for a table with keys.
 */
u64 nf_dlcbf_config_fpr(const struct nf_dlcbf_config *config, u64 flows)
{
	return config->keys ? 0 : dlcbf_fpr(&config->geometry, flows);
}
