// SPDX-License-Identifier: GPL-2.0
/* Tables over netlink: TABLE_* requests, replies and notifications. */
#include <linux/netlink.h>
#include <linux/rculist.h>
#include <net/netlink.h>
#include <net/sock.h>

#include "filter.h"
#include "hook.h"
#include "netlink.h"
#include "netlink_internal.h"
#include "table.h"

/* ---- what may be asked ---- */

/* Not const: the policies of older kernels want them so. */
static struct netlink_range_validation max_flows_range = {
	.min = 1,
	.max = NF_DLCBF_MAX_FLOWS,
};

static struct netlink_range_validation fpr_range = {
	.min = 1,
	.max = NF_DLCBF_FPR_UNIT - 1,
};

static struct netlink_range_validation timeout_range = {
	.max = NF_DLCBF_NL_TIMEOUT_MAX,
};

static const struct nla_policy geometry_policy[NF_DLCBF_A_GEOMETRY_MAX + 1] = {
	[NF_DLCBF_A_GEOMETRY_SUBTABLES] = NLA_POLICY_RANGE(NLA_U32, 1, DLCBF_MAX_SUBTABLES),
	[NF_DLCBF_A_GEOMETRY_BUCKETS] = NLA_POLICY_MIN(NLA_U32, 1),
	[NF_DLCBF_A_GEOMETRY_BUCKET_CELLS] = NLA_POLICY_RANGE(NLA_U32, 8, DLCBF_MAX_BUCKET_CELLS),
	[NF_DLCBF_A_GEOMETRY_CELL_BITS] = NLA_POLICY_RANGE(NLA_U32, 16, 32),
	[NF_DLCBF_A_GEOMETRY_COUNTER_BITS] = NLA_POLICY_RANGE(NLA_U32, 1, DLCBF_MAX_COUNTER_BITS),
};

#define NAME_POLICY	{ .type = NLA_NUL_STRING, .len = NF_DLCBF_NAME_MAX }
#define BOOL_POLICY	NLA_POLICY_MAX(NLA_U8, 1)
#define ON_FULL_POLICY	NLA_POLICY_RANGE(NLA_U32, NF_DLCBF_ON_FULL_DROP_NEW, NF_DLCBF_ON_FULL_EVICT)
#define FRAGMENTS_POLICY \
	NLA_POLICY_RANGE(NLA_U32, NF_DLCBF_FRAGMENTS_MISS, NF_DLCBF_FRAGMENTS_DROP)

const struct nla_policy nf_dlcbf_nl_table_add_policy[NF_DLCBF_A_TABLE_MAX + 1] = {
	[NF_DLCBF_A_TABLE_NAME] = NAME_POLICY,
	[NF_DLCBF_A_TABLE_TYPE] = NLA_POLICY_RANGE(NLA_U32, NF_DLCBF_TYPE_SET, NF_DLCBF_TYPE_FLOW),
	[NF_DLCBF_A_TABLE_FAMILY] =
		NLA_POLICY_RANGE(NLA_U32, NF_DLCBF_FAMILY_IPV4, NF_DLCBF_FAMILY_INET),
	[NF_DLCBF_A_TABLE_FIELDS] = NLA_POLICY_MASK(NLA_U32, NF_DLCBF_FIELDS_ALL),
	[NF_DLCBF_A_TABLE_SADDR_PREFIX4] = NLA_POLICY_RANGE(NLA_U8, 1, 32),
	[NF_DLCBF_A_TABLE_SADDR_PREFIX6] = NLA_POLICY_RANGE(NLA_U8, 1, 128),
	[NF_DLCBF_A_TABLE_DADDR_PREFIX4] = NLA_POLICY_RANGE(NLA_U8, 1, 32),
	[NF_DLCBF_A_TABLE_DADDR_PREFIX6] = NLA_POLICY_RANGE(NLA_U8, 1, 128),
	[NF_DLCBF_A_TABLE_MAX_FLOWS] = NLA_POLICY_FULL_RANGE(NLA_U64, &max_flows_range),
	[NF_DLCBF_A_TABLE_FPR] = NLA_POLICY_FULL_RANGE(NLA_U64, &fpr_range),
	[NF_DLCBF_A_TABLE_KEYS] = BOOL_POLICY,
	[NF_DLCBF_A_TABLE_LEARN] = BOOL_POLICY,
	[NF_DLCBF_A_TABLE_BIDIR] = BOOL_POLICY,
	[NF_DLCBF_A_TABLE_JUDGE_NEIGHBOURS] = BOOL_POLICY,
	[NF_DLCBF_A_TABLE_EVENTS] = BOOL_POLICY,
	[NF_DLCBF_A_TABLE_ON_FULL] = ON_FULL_POLICY,
	[NF_DLCBF_A_TABLE_FRAGMENTS] = FRAGMENTS_POLICY,
	[NF_DLCBF_A_TABLE_TIMEOUT] = NLA_POLICY_FULL_RANGE(NLA_U64, &timeout_range),
	[NF_DLCBF_A_TABLE_SECRET] = NLA_POLICY_EXACT_LEN(NF_DLCBF_SECRET_LEN),
	[NF_DLCBF_A_TABLE_GEOMETRY] = NLA_POLICY_NESTED(geometry_policy),
	[NF_DLCBF_A_TABLE_STAGED] = { .type = NLA_FLAG },
	[NF_DLCBF_A_TABLE_EXIST] = { .type = NLA_FLAG },
	[NF_DLCBF_A_TABLE_DRY_RUN] = { .type = NLA_FLAG },
};

#define FIXED_POLICY(what) \
	{ .type = NLA_REJECT, .reject_message = "a table's " what " cannot be changed" }

const struct nla_policy nf_dlcbf_nl_table_set_policy[NF_DLCBF_A_TABLE_MAX + 1] = {
	[NF_DLCBF_A_TABLE_NAME] = NAME_POLICY,
	[NF_DLCBF_A_TABLE_TYPE] = FIXED_POLICY("type"),
	[NF_DLCBF_A_TABLE_FAMILY] = FIXED_POLICY("family"),
	[NF_DLCBF_A_TABLE_FIELDS] = FIXED_POLICY("key"),
	[NF_DLCBF_A_TABLE_SADDR_PREFIX4] = FIXED_POLICY("saddr prefix"),
	[NF_DLCBF_A_TABLE_SADDR_PREFIX6] = FIXED_POLICY("saddr prefix"),
	[NF_DLCBF_A_TABLE_DADDR_PREFIX4] = FIXED_POLICY("daddr prefix"),
	[NF_DLCBF_A_TABLE_DADDR_PREFIX6] = FIXED_POLICY("daddr prefix"),
	[NF_DLCBF_A_TABLE_MAX_FLOWS] = FIXED_POLICY("max-flows"),
	[NF_DLCBF_A_TABLE_FPR] = FIXED_POLICY("fpr"),
	[NF_DLCBF_A_TABLE_KEYS] = FIXED_POLICY("keys"),
	[NF_DLCBF_A_TABLE_LEARN] = BOOL_POLICY,
	[NF_DLCBF_A_TABLE_BIDIR] = FIXED_POLICY("bidir"),
	[NF_DLCBF_A_TABLE_JUDGE_NEIGHBOURS] = FIXED_POLICY("judge-neighbours"),
	[NF_DLCBF_A_TABLE_EVENTS] = BOOL_POLICY,
	[NF_DLCBF_A_TABLE_ON_FULL] = ON_FULL_POLICY,
	[NF_DLCBF_A_TABLE_FRAGMENTS] = FRAGMENTS_POLICY,
	[NF_DLCBF_A_TABLE_TIMEOUT] = NLA_POLICY_FULL_RANGE(NLA_U64, &timeout_range),
	[NF_DLCBF_A_TABLE_SECRET] = FIXED_POLICY("secret"),
	[NF_DLCBF_A_TABLE_GEOMETRY] = FIXED_POLICY("geometry"),
};

const struct nla_policy nf_dlcbf_nl_table_del_policy[NF_DLCBF_A_TABLE_MAX + 1] = {
	[NF_DLCBF_A_TABLE_NAME] = NAME_POLICY,
	[NF_DLCBF_A_TABLE_EXIST] = { .type = NLA_FLAG },
};

const struct nla_policy nf_dlcbf_nl_table_name_policy[NF_DLCBF_A_TABLE_MAX + 1] = {
	[NF_DLCBF_A_TABLE_NAME] = NAME_POLICY,
};

const struct nla_policy nf_dlcbf_nl_table_swap_policy[NF_DLCBF_A_TABLE_MAX + 1] = {
	[NF_DLCBF_A_TABLE_NAME] = NAME_POLICY,
	[NF_DLCBF_A_TABLE_OTHER] = NAME_POLICY,
};

const struct nla_policy nf_dlcbf_nl_table_publish_policy[NF_DLCBF_A_TABLE_MAX + 1] = {
	[NF_DLCBF_A_TABLE_KEEP_COUNTERS] = { .type = NLA_FLAG },
};

/* ---- reading settings ---- */

static void read_u8(struct nlattr *const tb[], int attribute, u8 *value)
{
	if (tb[attribute])
		*value = nla_get_u8(tb[attribute]);
}

static void read_bool(struct nlattr *const tb[], int attribute, bool *value)
{
	if (tb[attribute])
		*value = nla_get_u8(tb[attribute]);
}

static void read_u32(struct nlattr *const tb[], int attribute, u32 *value)
{
	if (tb[attribute])
		*value = nla_get_u32(tb[attribute]);
}

static void read_small_u32(struct nlattr *const tb[], int attribute, u8 *value)
{
	if (tb[attribute])
		*value = nla_get_u32(tb[attribute]);
}

static void read_u64(struct nlattr *const tb[], int attribute, u64 *value)
{
	if (tb[attribute])
		*value = nla_get_u64(tb[attribute]);
}

static int read_geometry(const struct nlattr *nest, struct dlcbf_geometry *geometry,
			 struct netlink_ext_ack *extack)
{
	struct nlattr *tb[NF_DLCBF_A_GEOMETRY_MAX + 1];
	int err;

	err = nla_parse_nested(tb, NF_DLCBF_A_GEOMETRY_MAX, nest, geometry_policy, extack);
	if (err)
		return err;
	read_u32(tb, NF_DLCBF_A_GEOMETRY_BUCKETS, &geometry->buckets);
	read_small_u32(tb, NF_DLCBF_A_GEOMETRY_SUBTABLES, &geometry->subtables);
	read_small_u32(tb, NF_DLCBF_A_GEOMETRY_BUCKET_CELLS, &geometry->bucket_cells);
	read_small_u32(tb, NF_DLCBF_A_GEOMETRY_CELL_BITS, &geometry->cell_bits);
	read_small_u32(tb, NF_DLCBF_A_GEOMETRY_COUNTER_BITS, &geometry->counter_bits);
	return 0;
}

static void read_changeable(struct nlattr *const tb[], struct nf_dlcbf_config *config)
{
	read_bool(tb, NF_DLCBF_A_TABLE_LEARN, &config->learn);
	read_bool(tb, NF_DLCBF_A_TABLE_EVENTS, &config->events);
	read_u32(tb, NF_DLCBF_A_TABLE_ON_FULL, &config->on_full);
	read_u32(tb, NF_DLCBF_A_TABLE_FRAGMENTS, &config->fragments);
	read_u64(tb, NF_DLCBF_A_TABLE_TIMEOUT, &config->timeout_ms);
}

/* What a request says of a table replaces what @config has; the rest stays. */
static int read_settings(struct nlattr *const tb[], struct nf_dlcbf_config *config,
			 struct netlink_ext_ack *extack)
{
	read_u32(tb, NF_DLCBF_A_TABLE_TYPE, &config->type);
	read_u32(tb, NF_DLCBF_A_TABLE_FAMILY, &config->family);
	read_u32(tb, NF_DLCBF_A_TABLE_FIELDS, &config->fields);
	read_u8(tb, NF_DLCBF_A_TABLE_SADDR_PREFIX4, &config->saddr_prefix4);
	read_u8(tb, NF_DLCBF_A_TABLE_SADDR_PREFIX6, &config->saddr_prefix6);
	read_u8(tb, NF_DLCBF_A_TABLE_DADDR_PREFIX4, &config->daddr_prefix4);
	read_u8(tb, NF_DLCBF_A_TABLE_DADDR_PREFIX6, &config->daddr_prefix6);
	read_u64(tb, NF_DLCBF_A_TABLE_MAX_FLOWS, &config->max_flows);
	read_u64(tb, NF_DLCBF_A_TABLE_FPR, &config->fpr);
	read_bool(tb, NF_DLCBF_A_TABLE_KEYS, &config->keys);
	read_bool(tb, NF_DLCBF_A_TABLE_BIDIR, &config->bidir);
	read_bool(tb, NF_DLCBF_A_TABLE_JUDGE_NEIGHBOURS, &config->judge_neighbours);
	read_changeable(tb, config);
	if (tb[NF_DLCBF_A_TABLE_SECRET]) {
		nla_memcpy(config->secret, tb[NF_DLCBF_A_TABLE_SECRET], sizeof(config->secret));
		config->has_secret = true;
	}
	if (tb[NF_DLCBF_A_TABLE_GEOMETRY])
		return read_geometry(tb[NF_DLCBF_A_TABLE_GEOMETRY], &config->geometry, extack);
	return 0;
}

/* The attribute of the first setting in which two tables differ, 0 without one. */
static int first_difference(const struct nf_dlcbf_config *a, const struct nf_dlcbf_config *b)
{
	if (a->type != b->type)
		return NF_DLCBF_A_TABLE_TYPE;
	if (a->family != b->family)
		return NF_DLCBF_A_TABLE_FAMILY;
	if (a->fields != b->fields)
		return NF_DLCBF_A_TABLE_FIELDS;
	if (a->saddr_prefix4 != b->saddr_prefix4)
		return NF_DLCBF_A_TABLE_SADDR_PREFIX4;
	if (a->saddr_prefix6 != b->saddr_prefix6)
		return NF_DLCBF_A_TABLE_SADDR_PREFIX6;
	if (a->daddr_prefix4 != b->daddr_prefix4)
		return NF_DLCBF_A_TABLE_DADDR_PREFIX4;
	if (a->daddr_prefix6 != b->daddr_prefix6)
		return NF_DLCBF_A_TABLE_DADDR_PREFIX6;
	if (a->max_flows != b->max_flows)
		return NF_DLCBF_A_TABLE_MAX_FLOWS;
	if (a->fpr != b->fpr)
		return NF_DLCBF_A_TABLE_FPR;
	if (a->keys != b->keys)
		return NF_DLCBF_A_TABLE_KEYS;
	if (a->learn != b->learn)
		return NF_DLCBF_A_TABLE_LEARN;
	if (a->bidir != b->bidir)
		return NF_DLCBF_A_TABLE_BIDIR;
	if (a->judge_neighbours != b->judge_neighbours)
		return NF_DLCBF_A_TABLE_JUDGE_NEIGHBOURS;
	if (a->events != b->events)
		return NF_DLCBF_A_TABLE_EVENTS;
	if (a->on_full != b->on_full)
		return NF_DLCBF_A_TABLE_ON_FULL;
	if (a->fragments != b->fragments)
		return NF_DLCBF_A_TABLE_FRAGMENTS;
	if (a->timeout_ms != b->timeout_ms)
		return NF_DLCBF_A_TABLE_TIMEOUT;
	if (memcmp(a->secret, b->secret, sizeof(a->secret)))
		return NF_DLCBF_A_TABLE_SECRET;
	if (memcmp(&a->geometry, &b->geometry, sizeof(a->geometry)))
		return NF_DLCBF_A_TABLE_GEOMETRY;
	return 0;
}

/* ---- writing tables ---- */

static int put_u64(struct sk_buff *skb, int attribute, u64 value)
{
	return nla_put_u64_64bit(skb, attribute, value, NF_DLCBF_A_TABLE_PAD);
}

static int put_prefixes(struct sk_buff *skb, const struct nf_dlcbf_config *config)
{
	const bool saddr = config->fields & NF_DLCBF_FIELD_SADDR;
	const bool daddr = config->fields & NF_DLCBF_FIELD_DADDR;
	const bool ipv4 = config->family != NF_DLCBF_FAMILY_IPV6;
	const bool ipv6 = config->family != NF_DLCBF_FAMILY_IPV4;

	return (saddr && ipv4 &&
		nla_put_u8(skb, NF_DLCBF_A_TABLE_SADDR_PREFIX4, config->saddr_prefix4)) ||
	       (saddr && ipv6 &&
		nla_put_u8(skb, NF_DLCBF_A_TABLE_SADDR_PREFIX6, config->saddr_prefix6)) ||
	       (daddr && ipv4 &&
		nla_put_u8(skb, NF_DLCBF_A_TABLE_DADDR_PREFIX4, config->daddr_prefix4)) ||
	       (daddr && ipv6 &&
		nla_put_u8(skb, NF_DLCBF_A_TABLE_DADDR_PREFIX6, config->daddr_prefix6));
}

static int put_geometry(struct sk_buff *skb, const struct dlcbf_geometry *geometry)
{
	struct nlattr *nest = nla_nest_start(skb, NF_DLCBF_A_TABLE_GEOMETRY);

	if (!nest ||
	    nla_put_u32(skb, NF_DLCBF_A_GEOMETRY_SUBTABLES, geometry->subtables) ||
	    nla_put_u32(skb, NF_DLCBF_A_GEOMETRY_BUCKETS, geometry->buckets) ||
	    nla_put_u32(skb, NF_DLCBF_A_GEOMETRY_BUCKET_CELLS, geometry->bucket_cells) ||
	    nla_put_u32(skb, NF_DLCBF_A_GEOMETRY_CELL_BITS, geometry->cell_bits) ||
	    nla_put_u32(skb, NF_DLCBF_A_GEOMETRY_COUNTER_BITS, geometry->counter_bits))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* Whoever knows the secret can choose keys that fill a bucket. */
static int put_settings(struct sk_buff *skb, const struct nf_dlcbf_config *config, bool admin)
{
	if (nla_put_u32(skb, NF_DLCBF_A_TABLE_TYPE, config->type) ||
	    nla_put_u32(skb, NF_DLCBF_A_TABLE_FAMILY, config->family) ||
	    nla_put_u32(skb, NF_DLCBF_A_TABLE_FIELDS, config->fields) ||
	    put_prefixes(skb, config) ||
	    put_u64(skb, NF_DLCBF_A_TABLE_MAX_FLOWS, config->max_flows) ||
	    (!config->keys && put_u64(skb, NF_DLCBF_A_TABLE_FPR, config->fpr)) ||
	    nla_put_u8(skb, NF_DLCBF_A_TABLE_KEYS, config->keys) ||
	    nla_put_u8(skb, NF_DLCBF_A_TABLE_LEARN, config->learn) ||
	    nla_put_u8(skb, NF_DLCBF_A_TABLE_BIDIR, config->bidir) ||
	    nla_put_u8(skb, NF_DLCBF_A_TABLE_JUDGE_NEIGHBOURS, config->judge_neighbours) ||
	    nla_put_u8(skb, NF_DLCBF_A_TABLE_EVENTS, config->events) ||
	    nla_put_u32(skb, NF_DLCBF_A_TABLE_ON_FULL, config->on_full) ||
	    nla_put_u32(skb, NF_DLCBF_A_TABLE_FRAGMENTS, config->fragments) ||
	    put_u64(skb, NF_DLCBF_A_TABLE_TIMEOUT, config->timeout_ms) ||
	    put_geometry(skb, &config->geometry) ||
	    put_u64(skb, NF_DLCBF_A_TABLE_FPR_MAX, config->fpr_max) ||
	    nla_put_s32(skb, NF_DLCBF_A_TABLE_OVERFLOW, config->overflow))
		return -EMSGSIZE;
	if (admin && nla_put(skb, NF_DLCBF_A_TABLE_SECRET, sizeof(config->secret), config->secret))
		return -EMSGSIZE;
	return 0;
}

static int put_stats(struct sk_buff *skb, const struct nf_dlcbf_table *table)
{
	u64 sum[NF_DLCBF_STATS_COUNT];
	struct nlattr *nest;
	int i;

	nf_dlcbf_stats_sum(table->stats, sum);
	nest = nla_nest_start(skb, NF_DLCBF_A_TABLE_STATS);
	if (!nest)
		return -EMSGSIZE;
	for (i = NF_DLCBF_STATS_FIRST; i < NF_DLCBF_STATS_COUNT; i++)
		if (nla_put_u64_64bit(skb, i, sum[i], NF_DLCBF_A_STATS_PAD))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_sizes(struct sk_buff *skb, const struct nf_dlcbf_config *config, u64 memory)
{
	const struct dlcbf_geometry *g = &config->geometry;

	if (put_u64(skb, NF_DLCBF_A_TABLE_MEMORY, memory) ||
	    put_u64(skb, NF_DLCBF_A_TABLE_CELLS, (u64)g->buckets * g->subtables * g->bucket_cells))
		return -EMSGSIZE;
	return 0;
}

static int put_load(struct sk_buff *skb, struct nf_dlcbf_filter *filter)
{
	const u32 flows = atomic_read(&filter->flows);

	if (put_u64(skb, NF_DLCBF_A_TABLE_USED, dlcbf_used_cells(&filter->core)) ||
	    put_u64(skb, NF_DLCBF_A_TABLE_FLOWS, flows) ||
	    put_u64(skb, NF_DLCBF_A_TABLE_FPR_NOW, nf_dlcbf_config_fpr(&filter->config, flows)))
		return -EMSGSIZE;
	return 0;
}

static int put_identity(struct sk_buff *skb, const struct nf_dlcbf_table *table)
{
	if (nla_put_string(skb, NF_DLCBF_A_TABLE_NAME, table->name) ||
	    nla_put_u32(skb, NF_DLCBF_A_TABLE_ID, table->id) ||
	    (table->portid && nla_put_flag(skb, NF_DLCBF_A_TABLE_STAGED)))
		return -EMSGSIZE;
	return 0;
}

/* The contents of a table, with the lock held: they stay. */
static struct nf_dlcbf_filter *contents(struct nf_dlcbf_table *table)
{
	return rcu_dereference_protected(table->filter, lockdep_is_held(&table->dn->lock));
}

/* All of a table; with the lock held, for its hooks and settings. */
static int put_table(struct sk_buff *skb, struct nf_dlcbf_table *table, bool admin)
{
	struct nf_dlcbf_filter *filter = contents(table);

	if (put_identity(skb, table) ||
	    put_settings(skb, &filter->config, admin) ||
	    put_sizes(skb, &filter->config, filter->memory) ||
	    put_load(skb, filter) ||
	    nla_put_u32(skb, NF_DLCBF_A_TABLE_HOOKS, nf_dlcbf_hook_count(table)) ||
	    put_stats(skb, table))
		return -EMSGSIZE;
	return 0;
}

/* ---- TABLE_ADD, TABLE_SET ---- */

static int read_new(struct genl_info *info, struct nf_dlcbf_config *config)
{
	struct nlattr **tb = info->attrs;
	struct nf_dlcbf_refusal refusal = {};
	int err;

	err = nf_dlcbf_nl_require(info->extack, tb, NF_DLCBF_A_TABLE_NAME, "the table has no name");
	if (!err)
		err = nf_dlcbf_nl_require(info->extack, tb, NF_DLCBF_A_TABLE_TYPE,
					  "the table has no type");
	if (err)
		return err;
	err = nf_dlcbf_table_check_name(nla_data(tb[NF_DLCBF_A_TABLE_NAME]), &refusal);
	if (err)
		return nf_dlcbf_nl_refuse(info->extack, tb, NULL, &refusal, err);
	nf_dlcbf_config_defaults(config, nla_get_u32(tb[NF_DLCBF_A_TABLE_TYPE]));
	return read_settings(tb, config, info->extack);
}

/* What a table would be, to the byte, without making it. */
static int dry_run(struct genl_info *info, struct nf_dlcbf_config *config)
{
	const bool has_secret = config->has_secret;
	struct nf_dlcbf_refusal refusal = {};
	struct nf_dlcbf_nl_message reply;
	int err;

	err = nf_dlcbf_config_complete(config, &refusal);
	if (err)
		return nf_dlcbf_nl_refuse(info->extack, info->attrs, NULL, &refusal, err);
	err = nf_dlcbf_nl_reply_start(&reply, info, GENLMSG_DEFAULT_SIZE);
	if (err)
		return err;
	/* Of the secret only what was given: another would be drawn in earnest. */
	if (nla_put_string(reply.skb, NF_DLCBF_A_TABLE_NAME,
			   nla_data(info->attrs[NF_DLCBF_A_TABLE_NAME])) ||
	    nla_put_flag(reply.skb, NF_DLCBF_A_TABLE_DRY_RUN) ||
	    put_settings(reply.skb, config, has_secret) ||
	    put_sizes(reply.skb, config, nf_dlcbf_filter_memory(config))) {
		nlmsg_free(reply.skb);
		return -EMSGSIZE;
	}
	return nf_dlcbf_nl_reply_send(&reply, info);
}

/* A table of the name is there: fine if asked so, and if it is as wanted. */
static int check_same(struct genl_info *info, struct nf_dlcbf_table *table)
{
	struct nf_dlcbf_refusal refusal = {
		.message = "there is a table of this name, and this setting differs",
	};
	struct nlattr **tb = info->attrs;
	struct nf_dlcbf_config wanted;
	int err;

	if (!nla_get_flag(tb[NF_DLCBF_A_TABLE_EXIST])) {
		NL_SET_ERR_MSG_ATTR(info->extack, tb[NF_DLCBF_A_TABLE_NAME],
				    "there is a table of this name");
		return -EEXIST;
	}
	wanted = contents(table)->config;
	err = read_settings(tb, &wanted, info->extack);
	if (err)
		return err;
	refusal.attribute = first_difference(&wanted, &contents(table)->config);
	if (!refusal.attribute)
		return 0;
	return nf_dlcbf_nl_refuse(info->extack, tb, NULL, &refusal, -EEXIST);
}

/* Find or make the table.  Context: lock held.  Return: it, or an ERR_PTR. */
static struct nf_dlcbf_table *add_table(struct nf_dlcbf_net *dn, struct genl_info *info,
					const struct nf_dlcbf_config *config)
{
	const char *name = nla_data(info->attrs[NF_DLCBF_A_TABLE_NAME]);
	const bool staged = nla_get_flag(info->attrs[NF_DLCBF_A_TABLE_STAGED]);
	const u32 portid = staged ? info->snd_portid : 0;
	struct nf_dlcbf_refusal refusal = {};
	struct nf_dlcbf_table *table;
	int err;

	table = nf_dlcbf_table_find(dn, name, portid);
	if (table) {
		err = check_same(info, table);
		return err ? ERR_PTR(err) : table;
	}
	table = nf_dlcbf_table_create(dn, name, config, portid, &refusal);
	if (IS_ERR(table))
		nf_dlcbf_nl_refuse(info->extack, info->attrs, NULL, &refusal, PTR_ERR(table));
	return table;
}

int nf_dlcbf_nl_table_add(struct sk_buff *skb, struct genl_info *info)
{
	struct nf_dlcbf_net *dn = nf_dlcbf_net(genl_info_net(info));
	struct nf_dlcbf_nl_message reply;
	struct nf_dlcbf_config config;
	struct nf_dlcbf_table *table;
	int err;

	err = read_new(info, &config);
	if (err)
		return err;
	if (nla_get_flag(info->attrs[NF_DLCBF_A_TABLE_DRY_RUN]))
		return dry_run(info, &config);
	err = nf_dlcbf_nl_reply_start(&reply, info, GENLMSG_DEFAULT_SIZE);
	if (err)
		return err;

	mutex_lock(&dn->lock);
	table = add_table(dn, info, &config);
	err = IS_ERR(table) ? PTR_ERR(table) : put_table(reply.skb, table, true);
	mutex_unlock(&dn->lock);
	if (err) {
		nlmsg_free(reply.skb);
		return err;
	}
	return nf_dlcbf_nl_reply_send(&reply, info);
}

static int set_table(struct nf_dlcbf_net *dn, struct genl_info *info, struct sk_buff *reply)
{
	struct nf_dlcbf_refusal refusal = {};
	struct nf_dlcbf_config config;
	struct nf_dlcbf_table *table;
	int err;

	table = nf_dlcbf_nl_find_table(dn, info->attrs[NF_DLCBF_A_TABLE_NAME], 0, info->extack);
	if (!table)
		return -ENOENT;
	config = contents(table)->config;
	read_changeable(info->attrs, &config);
	err = nf_dlcbf_table_change(table, &config, &refusal);
	if (err)
		return nf_dlcbf_nl_refuse(info->extack, info->attrs, NULL, &refusal, err);
	return put_table(reply, table, true);
}

int nf_dlcbf_nl_table_set(struct sk_buff *skb, struct genl_info *info)
{
	struct nf_dlcbf_net *dn = nf_dlcbf_net(genl_info_net(info));
	struct nf_dlcbf_nl_message reply;
	int err;

	err = nf_dlcbf_nl_require(info->extack, info->attrs, NF_DLCBF_A_TABLE_NAME,
				  "the request names no table");
	if (!err)
		err = nf_dlcbf_nl_reply_start(&reply, info, GENLMSG_DEFAULT_SIZE);
	if (err)
		return err;

	mutex_lock(&dn->lock);
	err = set_table(dn, info, reply.skb);
	mutex_unlock(&dn->lock);
	if (err) {
		nlmsg_free(reply.skb);
		return err;
	}
	return nf_dlcbf_nl_reply_send(&reply, info);
}

/* ---- the other requests ---- */

static int del_table(struct nf_dlcbf_net *dn, struct genl_info *info)
{
	struct nlattr *name = info->attrs[NF_DLCBF_A_TABLE_NAME];
	struct nf_dlcbf_table *table = nf_dlcbf_table_find(dn, nla_data(name), 0);

	if (!table && nla_get_flag(info->attrs[NF_DLCBF_A_TABLE_EXIST]))
		return 0;
	if (!table)
		table = nf_dlcbf_nl_find_table(dn, name, 0, info->extack);
	if (!table)
		return -ENOENT;
	nf_dlcbf_table_destroy(table);
	return 0;
}

int nf_dlcbf_nl_table_del(struct sk_buff *skb, struct genl_info *info)
{
	struct nf_dlcbf_net *dn = nf_dlcbf_net(genl_info_net(info));
	int err;

	err = nf_dlcbf_nl_require(info->extack, info->attrs, NF_DLCBF_A_TABLE_NAME,
				  "the request names no table");
	if (err)
		return err;
	mutex_lock(&dn->lock);
	err = del_table(dn, info);
	mutex_unlock(&dn->lock);
	return err;
}

static bool sender_is_admin(struct sk_buff *request, struct net *net)
{
	return netlink_ns_capable(request, net->user_ns, CAP_NET_ADMIN);
}

int nf_dlcbf_nl_table_get(struct sk_buff *skb, struct genl_info *info)
{
	struct nf_dlcbf_net *dn = nf_dlcbf_net(genl_info_net(info));
	const bool admin = sender_is_admin(skb, dn->net);
	struct nf_dlcbf_nl_message reply;
	struct nf_dlcbf_table *table;
	int err;

	err = nf_dlcbf_nl_require(info->extack, info->attrs, NF_DLCBF_A_TABLE_NAME,
				  "the request names no table");
	if (!err)
		err = nf_dlcbf_nl_reply_start(&reply, info, GENLMSG_DEFAULT_SIZE);
	if (err)
		return err;

	mutex_lock(&dn->lock);
	table = nf_dlcbf_nl_find_table(dn, info->attrs[NF_DLCBF_A_TABLE_NAME], 0, info->extack);
	err = table ? put_table(reply.skb, table, admin) : -ENOENT;
	mutex_unlock(&dn->lock);
	if (err) {
		nlmsg_free(reply.skb);
		return err;
	}
	return nf_dlcbf_nl_reply_send(&reply, info);
}

/* Where a dump of tables is. */
struct table_dump {
	unsigned int done;	/* live tables that were put */
};

int nf_dlcbf_nl_table_dump_start(struct netlink_callback *cb)
{
	struct nlattr *tb[NF_DLCBF_A_TABLE_MAX + 1];
	int err;

	BUILD_BUG_ON(sizeof(struct table_dump) > sizeof(cb->ctx));

	err = nf_dlcbf_nl_dump_attributes(cb, tb, NF_DLCBF_A_TABLE_MAX,
					  nf_dlcbf_nl_table_name_policy);
	if (err)
		return err;
	if (tb[NF_DLCBF_A_TABLE_NAME]) {
		NL_SET_ERR_MSG_ATTR(cb->extack, tb[NF_DLCBF_A_TABLE_NAME],
				    "a dump is of all tables; ask for one without");
		return -EINVAL;
	}
	return 0;
}

static int dump_table(struct sk_buff *skb, struct netlink_callback *cb,
		      struct nf_dlcbf_table *table, bool admin)
{
	struct nf_dlcbf_nl_message message;
	int err;

	err = nf_dlcbf_nl_dump_put(&message, skb, cb, NF_DLCBF_CMD_TABLE_GET);
	if (err)
		return err;
	err = put_table(skb, table, admin);
	if (err) {
		genlmsg_cancel(skb, message.header);
		return err;
	}
	nf_dlcbf_nl_dump_end(&message, cb);
	return 0;
}

/*
 * A table is small in a message and its hooks are counted under the lock, so
 * this takes it, for no longer than it takes to fill one buffer.
 */
int nf_dlcbf_nl_table_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nf_dlcbf_net *dn = nf_dlcbf_net(sock_net(skb->sk));
	struct table_dump *dump = (struct table_dump *)cb->ctx;
	const bool admin = sender_is_admin(cb->skb, dn->net);
	struct nf_dlcbf_table *table;
	unsigned int index = 0;
	int err = 0;

	mutex_lock(&dn->lock);
	cb->seq = dn->generation;
	list_for_each_entry(table, &dn->tables, list) {
		if (table->portid || index++ < dump->done)
			continue;
		err = dump_table(skb, cb, table, admin);
		if (err)
			break;
		dump->done = index;
	}
	mutex_unlock(&dn->lock);
	return err && !skb->len ? err : skb->len;
}

static int flush_table(struct nf_dlcbf_net *dn, struct genl_info *info)
{
	struct nf_dlcbf_table *table;
	int err;

	table = nf_dlcbf_nl_find_table(dn, info->attrs[NF_DLCBF_A_TABLE_NAME], 0, info->extack);
	if (!table)
		return -ENOENT;
	err = nf_dlcbf_filter_flush(contents(table));
	if (err) {
		NL_SET_ERR_MSG(info->extack, "no memory to flush the table");
		return err;
	}
	nf_dlcbf_notify_table(table, NF_DLCBF_CMD_TABLE_FLUSH_NTF, GFP_KERNEL);
	return 0;
}

int nf_dlcbf_nl_table_flush(struct sk_buff *skb, struct genl_info *info)
{
	struct nf_dlcbf_net *dn = nf_dlcbf_net(genl_info_net(info));
	int err;

	err = nf_dlcbf_nl_require(info->extack, info->attrs, NF_DLCBF_A_TABLE_NAME,
				  "the request names no table");
	if (err)
		return err;
	mutex_lock(&dn->lock);
	err = flush_table(dn, info);
	mutex_unlock(&dn->lock);
	return err;
}

static int swap_tables(struct nf_dlcbf_net *dn, struct genl_info *info)
{
	struct nf_dlcbf_refusal refusal = {};
	struct nf_dlcbf_table *table, *other;
	int err;

	table = nf_dlcbf_nl_find_table(dn, info->attrs[NF_DLCBF_A_TABLE_NAME], 0, info->extack);
	if (!table)
		return -ENOENT;
	other = nf_dlcbf_nl_find_table(dn, info->attrs[NF_DLCBF_A_TABLE_OTHER], 0, info->extack);
	if (!other)
		return -ENOENT;
	err = nf_dlcbf_table_swap(table, other, &refusal);
	return err ? nf_dlcbf_nl_refuse(info->extack, info->attrs, NULL, &refusal, err) : 0;
}

int nf_dlcbf_nl_table_swap(struct sk_buff *skb, struct genl_info *info)
{
	struct nf_dlcbf_net *dn = nf_dlcbf_net(genl_info_net(info));
	int err;

	err = nf_dlcbf_nl_require(info->extack, info->attrs, NF_DLCBF_A_TABLE_NAME,
				  "the request names no table");
	if (!err)
		err = nf_dlcbf_nl_require(info->extack, info->attrs, NF_DLCBF_A_TABLE_OTHER,
					  "the request names no other table");
	if (err)
		return err;
	mutex_lock(&dn->lock);
	err = swap_tables(dn, info);
	mutex_unlock(&dn->lock);
	return err;
}

int nf_dlcbf_nl_table_publish(struct sk_buff *skb, struct genl_info *info)
{
	const bool keep_counters = nla_get_flag(info->attrs[NF_DLCBF_A_TABLE_KEEP_COUNTERS]);
	struct nf_dlcbf_net *dn = nf_dlcbf_net(genl_info_net(info));
	struct nf_dlcbf_refusal refusal = {};
	int err;

	mutex_lock(&dn->lock);
	err = nf_dlcbf_table_publish(dn, info->snd_portid, keep_counters, &refusal);
	mutex_unlock(&dn->lock);
	return err ? nf_dlcbf_nl_refuse(info->extack, info->attrs, NULL, &refusal, err) : 0;
}

/* ---- notifications ---- */

/* Without the lock: what a table is called and how full it is. */
static int put_summary(struct sk_buff *skb, struct nf_dlcbf_table *table)
{
	struct nf_dlcbf_filter *filter;
	int err = -EMSGSIZE;

	rcu_read_lock();
	filter = rcu_dereference(table->filter);
	if (!put_identity(skb, table) &&
	    !put_u64(skb, NF_DLCBF_A_TABLE_MAX_FLOWS, filter->config.max_flows) &&
	    !put_load(skb, filter) &&
	    !put_stats(skb, table))
		err = 0;
	rcu_read_unlock();
	return err;
}

/**
 * nf_dlcbf_notify_table() - tell listeners what happened to a table
 * @table: a table; one that is staged is nobody's business
 * @cmd:   NF_DLCBF_CMD_TABLE_*_NTF
 * @gfp:   how to allocate
 *
 * Settings are told when a table is made or changed, and without the secret.
 *
 * Context: as @gfp allows; nf_dlcbf_net.lock held for _ADD_NTF and _SET_NTF,
 * for others it or the RCU read side.
 */
void nf_dlcbf_notify_table(struct nf_dlcbf_table *table, int cmd, gfp_t gfp)
{
	struct net *net = table->dn->net;
	struct nf_dlcbf_nl_message message;
	int err;

	if (table->portid || !nf_dlcbf_nl_listeners(net, NF_DLCBF_NL_GROUP_TABLE) ||
	    !nf_dlcbf_nl_notify_start(&message, cmd, GENLMSG_DEFAULT_SIZE, gfp))
		return;
	if (cmd == NF_DLCBF_CMD_TABLE_ADD_NTF || cmd == NF_DLCBF_CMD_TABLE_SET_NTF)
		err = put_table(message.skb, table, false);
	else
		err = put_summary(message.skb, table);
	if (err) {
		nlmsg_free(message.skb);
		return;
	}
	nf_dlcbf_nl_notify_send(&message, net, NF_DLCBF_NL_GROUP_TABLE, gfp);
}
