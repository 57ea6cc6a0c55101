// SPDX-License-Identifier: GPL-2.0
/*
 * Tables: their names and settings, what is refused and why, memory, and that
 * what is in them is what was put there.
 */
#include <linux/module.h>
#include <linux/prandom.h>

#include "common.h"
#include "memory.h"

/* ---- names ---- */

static const struct name_case {
	const char *desc;
	const char *name;
	int err;
} name_cases[] = {
	{ "one letter", "a", 0 },
	{ "31 characters", "0123456789012345678901234567890", 0 },
	{ "punctuation", "a.b-c_d:e", 0 },
	{ "begins with a dot", ".a", 0 },
	{ "three dots", "...", 0 },
	{ "empty", "", -EINVAL },
	{ "32 characters", "01234567890123456789012345678901", -ENAMETOOLONG },
	{ "slash", "a/b", -EINVAL },
	{ "space", "a b", -EINVAL },
	{ "line end", "a\n", -EINVAL },
	{ "delete", "a\x7f", -EINVAL },
	{ "not ASCII", "a\xc3\xa4", -EINVAL },
	{ "this folder", ".", -EINVAL },
	{ "the one above", "..", -EINVAL },
	{ "the file beside it", "tables", -EINVAL },
};

KUNIT_ARRAY_PARAM_DESC(name, name_cases, desc);

static void test_name(struct kunit *test)
{
	const struct name_case *c = test->param_value;
	const struct nf_dlcbf_config config = test_config(NF_DLCBF_TYPE_SET, SADDR, 10);
	struct nf_dlcbf_refusal refusal = {};
	struct nf_dlcbf_table *table;

	table = test_table_create(c->name, &config, &refusal);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(table), c->err);
	if (!c->err)
		return;
	KUNIT_EXPECT_EQ(test, refusal.attribute, (int)NF_DLCBF_A_TABLE_NAME);
	KUNIT_EXPECT_NOT_NULL(test, refusal.message);
	KUNIT_EXPECT_TRUE(test, list_empty(&test_net()->tables));
}

/* ---- settings ---- */

#define TYPE_SET	NF_DLCBF_TYPE_SET
#define TYPE_FLOW	NF_DLCBF_TYPE_FLOW
#define REFUSED(_desc, _type, _err, _attribute, ...) { \
	.desc = _desc, .type = _type, .err = _err, \
	.attribute = NF_DLCBF_A_TABLE_##_attribute, .change = { __VA_ARGS__ } }

/* Fields of .change that are not 0 replace those of a good configuration. */
static const struct config_case {
	const char *desc;
	u32 type;
	int err;
	int attribute;
	struct nf_dlcbf_config change;
} config_cases[] = {
	REFUSED("no such type", 3, -EINVAL, TYPE, .fields = SADDR),
	REFUSED("no such family", TYPE_SET, -EINVAL, FAMILY, .family = 4),
	REFUSED("an unknown field", TYPE_SET, -EINVAL, FIELDS, .fields = 1 << 9),
	REFUSED("prefix of 33 bits", TYPE_SET, -EINVAL, SADDR_PREFIX4, .saddr_prefix4 = 33),
	REFUSED("prefix of 129 bits", TYPE_SET, -EINVAL, DADDR_PREFIX4, .daddr_prefix6 = 129),
	REFUSED("2^30 and one flows", TYPE_SET, -ERANGE, MAX_FLOWS,
		.max_flows = NF_DLCBF_MAX_FLOWS + 1),
	REFUSED("2^40 flows", TYPE_FLOW, -ERANGE, MAX_FLOWS, .max_flows = 1ULL << 40),
	REFUSED("all flows that 64 bits can count", TYPE_FLOW, -ERANGE, MAX_FLOWS,
		.max_flows = U64_MAX),
	REFUSED("a rate of 1", TYPE_SET, -EINVAL, FPR, .fpr = NF_DLCBF_FPR_UNIT),
	REFUSED("a rate of more than 1", TYPE_SET, -EINVAL, FPR, .fpr = U64_MAX),
	REFUSED("a rate for an exact table", TYPE_FLOW, -EINVAL, FPR, .fpr = 1000),
	REFUSED("a rate that 32 bits do not give", TYPE_SET, -ERANGE, FPR, .fpr = 1),
	REFUSED("timeout of a set", TYPE_SET, -EINVAL, TIMEOUT, .timeout_ms = 1000),
	REFUSED("eviction from a set", TYPE_SET, -EINVAL, ON_FULL,
		.on_full = NF_DLCBF_ON_FULL_EVICT),
	REFUSED("a timeout of ages", TYPE_FLOW, -ERANGE, TIMEOUT, .timeout_ms = U64_MAX),
	REFUSED("no such policy", TYPE_FLOW, -EINVAL, ON_FULL, .on_full = 3),
	REFUSED("no such policy for fragments", TYPE_FLOW, -EINVAL, FRAGMENTS, .fragments = 4),
	REFUSED("nine subtables", TYPE_FLOW, -EINVAL, GEOMETRY, .geometry.subtables = 9),
	REFUSED("buckets of 12 cells", TYPE_FLOW, -EINVAL, GEOMETRY,
		.geometry.bucket_cells = 12),
	REFUSED("cells of 24 bits", TYPE_FLOW, -EINVAL, GEOMETRY, .geometry.cell_bits = 24),
	REFUSED("counters of nine bits", TYPE_FLOW, -EINVAL, GEOMETRY,
		.geometry.counter_bits = 9),
};

KUNIT_ARRAY_PARAM_DESC(config, config_cases, desc);

static void test_config_refused(struct kunit *test)
{
	const struct config_case *c = test->param_value;
	const struct nf_dlcbf_config *change = &c->change;
	struct nf_dlcbf_config config = test_config(c->type, SADDR, 10);
	struct nf_dlcbf_refusal refusal = {};
	struct nf_dlcbf_table *table;

	config.family = change->family ?: config.family;
	config.fields = change->fields ?: config.fields;
	config.saddr_prefix4 = change->saddr_prefix4 ?: config.saddr_prefix4;
	config.daddr_prefix6 = change->daddr_prefix6 ?: config.daddr_prefix6;
	config.max_flows = change->max_flows ?: config.max_flows;
	config.fpr = change->fpr ?: config.fpr;
	config.timeout_ms = change->timeout_ms ?: config.timeout_ms;
	config.on_full = change->on_full ?: config.on_full;
	config.fragments = change->fragments ?: config.fragments;
	config.geometry.subtables = change->geometry.subtables ?: config.geometry.subtables;
	config.geometry.bucket_cells =
		change->geometry.bucket_cells ?: config.geometry.bucket_cells;
	config.geometry.cell_bits = change->geometry.cell_bits ?: config.geometry.cell_bits;
	config.geometry.counter_bits =
		change->geometry.counter_bits ?: config.geometry.counter_bits;
	table = test_table_create("t", &config, &refusal);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(table), c->err);
	KUNIT_EXPECT_EQ(test, refusal.attribute, c->attribute);
	KUNIT_EXPECT_NOT_NULL(test, refusal.message);
	KUNIT_EXPECT_TRUE(test, list_empty(&test_net()->tables));
	KUNIT_EXPECT_EQ(test, atomic64_read(&test_net()->memory), 0LL);
}

static void test_no_flows(struct kunit *test)
{
	const struct nf_dlcbf_config config = test_config(TYPE_SET, SADDR, 0);
	struct nf_dlcbf_refusal refusal = {};
	struct nf_dlcbf_table *table;

	table = test_table_create("t", &config, &refusal);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(table), -EINVAL);
	KUNIT_EXPECT_EQ(test, refusal.attribute, (int)NF_DLCBF_A_TABLE_MAX_FLOWS);
}

static void test_same_name(struct kunit *test)
{
	const struct nf_dlcbf_config config = test_config(TYPE_SET, SADDR, 10);
	struct nf_dlcbf_table *first = test_table(test, "t", &config);
	struct nf_dlcbf_refusal refusal = {};
	struct nf_dlcbf_table *second;

	mutex_lock(&test_net()->lock);
	second = nf_dlcbf_table_create(test_net(), "t", &config, 0, &refusal);
	KUNIT_EXPECT_PTR_EQ(test, nf_dlcbf_table_find(test_net(), "t", 0), first);
	mutex_unlock(&test_net()->lock);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(second), -EEXIST);
}

static void test_memory(struct kunit *test)
{
	struct nf_dlcbf_config config = test_config(TYPE_FLOW, TUPLE5, 1000);
	struct nf_dlcbf_refusal refusal = {};
	struct nf_dlcbf_table *table;
	u64 bytes;

	KUNIT_ASSERT_EQ(test, nf_dlcbf_config_complete(&config, &refusal), 0);
	bytes = nf_dlcbf_filter_memory(&config);
	table = test_table(test, "t", &config);
	KUNIT_EXPECT_EQ(test, (u64)atomic64_read(&test_net()->memory), bytes);
	/* At the least a cell of 16 bits, a record and three words of a key each. */
	KUNIT_EXPECT_GE(test, bytes, 1000ULL * (2 + 24 + 24));
	KUNIT_EXPECT_LT(test, bytes, 2000ULL * (2 + 24 + 24));
	test_table_delete(table);
	KUNIT_EXPECT_EQ(test, atomic64_read(&test_net()->memory), 0LL);

	/* One that exceeds the share is refused before memory is asked for. */
	config = test_config(TYPE_FLOW, TUPLE5, NF_DLCBF_MAX_FLOWS);
	KUNIT_ASSERT_EQ(test, nf_dlcbf_config_complete(&config, &refusal), 0);
	KUNIT_ASSERT_GT(test, nf_dlcbf_filter_memory(&config), nf_dlcbf_memory_limit());
	table = test_table_create("t", &config, &refusal);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(table), -ENOMEM);
	KUNIT_EXPECT_EQ(test, refusal.attribute, (int)NF_DLCBF_A_TABLE_MAX_FLOWS);
	KUNIT_EXPECT_EQ(test, atomic64_read(&test_net()->memory), 0LL);
}

/* ---- contents ---- */

#define KEYS		300
#define OPERATIONS	20000

static const struct kind_case {
	const char *desc;
	u32 type;
	bool keys;
} kind_cases[] = {
	{ "set", NF_DLCBF_TYPE_SET, false },
	{ "set with keys", NF_DLCBF_TYPE_SET, true },
	{ "flows without keys", NF_DLCBF_TYPE_FLOW, false },
	{ "flows", NF_DLCBF_TYPE_FLOW, true },
};

KUNIT_ARRAY_PARAM_DESC(kind, kind_cases, desc);

/* Random adds and removes, beside an array that says what must be there. */
static void test_contents(struct kunit *test)
{
	const struct kind_case *c = test->param_value;
	/* Without keys a table counts how often, and a counter that is full takes a cell. */
	struct nf_dlcbf_config config = test_config(c->type, SADDR, c->keys ? KEYS : 4 * KEYS);
	u8 *count = kunit_kzalloc(test, KEYS, GFP_KERNEL);
	struct nf_dlcbf_table *table;
	struct rnd_state rnd;
	u32 i, n, there = 0;

	KUNIT_ASSERT_NOT_NULL(test, count);
	config.keys = c->keys;
	/* A stranger that is taken for another would be no fault of the code. */
	if (!c->keys)
		config.fpr = NF_DLCBF_FPR_UNIT / 10000000;
	table = test_table(test, "t", &config);
	prandom_seed_state(&rnd, 20061130);

	for (i = 0; i < OPERATIONS; i++) {
		n = prandom_u32_state(&rnd) % KEYS;
		if (prandom_u32_state(&rnd) & 1) {
			if (!c->keys && count[n] == 20)
				continue;
			KUNIT_ASSERT_EQ(test, test_add(table, n),
					c->keys && count[n] ? -EEXIST : 0);
			there += !count[n];
			count[n] = c->keys ? 1 : count[n] + 1;
		} else {
			KUNIT_ASSERT_EQ(test, test_remove(test, table, n), count[n] ? 0 : -ENOENT);
			there -= count[n] == 1;
			count[n] -= count[n] ? 1 : 0;
		}
		n = prandom_u32_state(&rnd) % KEYS;
		KUNIT_ASSERT_EQ(test, test_lookup(table, n, NULL), !!count[n]);
	}
	if (c->keys)
		KUNIT_EXPECT_EQ(test, test_count(table), there);
	KUNIT_EXPECT_GE(test, test_count(table), there);
	for (n = 0; n < KEYS; n++)
		for (; count[n]; count[n]--)
			KUNIT_ASSERT_EQ(test, test_remove(test, table, n), 0);
	KUNIT_EXPECT_EQ(test, test_count(table), 0U);
	KUNIT_EXPECT_EQ(test, atomic_read(&test_filter(table)->flows), 0);
}

static void test_full(struct kunit *test)
{
	const struct kind_case *c = test->param_value;
	struct nf_dlcbf_config config = test_config_tiny(c->type);
	struct nf_dlcbf_table *table;
	u32 n;

	config.keys = c->keys;
	table = test_table(test, "t", &config);
	for (n = 0; n < 8; n++)
		KUNIT_ASSERT_EQ(test, test_add(table, n), 0);
	KUNIT_EXPECT_EQ(test, test_add(table, 8), -ENOSPC);
	for (n = 0; n < 8; n++)
		KUNIT_EXPECT_TRUE(test, test_lookup(table, n, NULL));
	KUNIT_EXPECT_EQ(test, test_count(table), 8U);
	/* Each gives its place to the next at once. */
	for (n = 8; n < 24; n++) {
		KUNIT_EXPECT_EQ(test, test_remove(test, table, n - 8), 0);
		KUNIT_EXPECT_EQ(test, test_add(table, n), 0);
	}
	KUNIT_EXPECT_EQ(test, test_add(table, 24), -ENOSPC);
	KUNIT_EXPECT_EQ(test, nf_dlcbf_filter_flush(test_filter(table)), 0);
	KUNIT_EXPECT_EQ(test, test_count(table), 0U);
	KUNIT_EXPECT_EQ(test, test_add(table, 24), 0);
}

static void test_swap(struct kunit *test)
{
	const struct nf_dlcbf_config config = test_config(TYPE_SET, SADDR, 10);
	struct nf_dlcbf_table *a = test_table(test, "a", &config);
	struct nf_dlcbf_table *b = test_table(test, "b", &config);
	struct nf_dlcbf_refusal refusal = {};

	KUNIT_EXPECT_EQ(test, test_add(a, 1), 0);
	KUNIT_EXPECT_EQ(test, test_add(b, 2), 0);
	mutex_lock(&test_net()->lock);
	KUNIT_EXPECT_EQ(test, nf_dlcbf_table_swap(a, b, &refusal), 0);
	KUNIT_EXPECT_EQ(test, nf_dlcbf_table_swap(a, a, &refusal), -EINVAL);
	mutex_unlock(&test_net()->lock);
	KUNIT_EXPECT_EQ(test, refusal.attribute, (int)NF_DLCBF_A_TABLE_OTHER);
	KUNIT_EXPECT_FALSE(test, test_lookup(a, 1, NULL));
	KUNIT_EXPECT_TRUE(test, test_lookup(a, 2, NULL));
	KUNIT_EXPECT_TRUE(test, test_lookup(b, 1, NULL));
	KUNIT_EXPECT_PTR_EQ(test, rcu_dereference_protected(test_filter(a)->table, true), a);
	KUNIT_EXPECT_PTR_EQ(test, rcu_dereference_protected(test_filter(b)->table, true), b);
}

#define SOCKET 77

static void test_staged(struct kunit *test)
{
	struct nf_dlcbf_config config = test_config(TYPE_FLOW, SADDR, 10);
	struct nf_dlcbf_table *live = test_table(test, "t", &config);
	struct nf_dlcbf_net *dn = test_net();
	struct nf_dlcbf_counters counters;
	struct nf_dlcbf_refusal refusal = {};
	struct nf_dlcbf_table *staged, *other;
	struct nf_dlcbf_flow flow;
	u32 n;

	for (n = 1; n <= 2; n++) {
		flow = test_flow(n);
		flow.counters.packets = 10 * n;
		flow.counters.bytes = 1000 * n;
		KUNIT_EXPECT_EQ(test, nf_dlcbf_filter_add(test_filter(live), &flow, false), 0);
	}
	mutex_lock(&dn->lock);
	KUNIT_EXPECT_EQ(test, nf_dlcbf_table_publish(dn, SOCKET, true, &refusal), -ENOENT);
	config.max_flows = 20;
	staged = nf_dlcbf_table_create(dn, "t", &config, SOCKET, &refusal);
	other = nf_dlcbf_table_create(dn, "other", &config, SOCKET, &refusal);
	KUNIT_EXPECT_FALSE(test, IS_ERR(staged));
	KUNIT_EXPECT_FALSE(test, IS_ERR(other));
	KUNIT_EXPECT_PTR_EQ(test, nf_dlcbf_table_find(dn, "t", 0), live);
	KUNIT_EXPECT_PTR_EQ(test, nf_dlcbf_table_find(dn, "t", SOCKET), staged);
	KUNIT_EXPECT_NULL(test, nf_dlcbf_table_find(dn, "t", SOCKET + 1));
	KUNIT_EXPECT_NULL(test, nf_dlcbf_table_find(dn, "other", 0));
	mutex_unlock(&dn->lock);
	if (IS_ERR(staged) || IS_ERR(other))
		return;

	flow = test_flow(2);
	flow.counters.packets = 1;
	flow.counters.bytes = 5;
	KUNIT_EXPECT_EQ(test, nf_dlcbf_filter_add(test_filter(staged), &flow, false), 0);
	KUNIT_EXPECT_EQ(test, test_add(staged, 3), 0);
	mutex_lock(&dn->lock);
	KUNIT_EXPECT_EQ(test, nf_dlcbf_table_publish(dn, SOCKET, true, &refusal), 0);
	KUNIT_EXPECT_PTR_EQ(test, nf_dlcbf_table_find(dn, "t", 0), live);
	KUNIT_EXPECT_PTR_EQ(test, nf_dlcbf_table_find(dn, "other", 0), other);
	KUNIT_EXPECT_NULL(test, nf_dlcbf_table_find(dn, "t", SOCKET));
	mutex_unlock(&dn->lock);

	KUNIT_EXPECT_EQ(test, test_filter(live)->config.max_flows, 20ULL);
	KUNIT_EXPECT_FALSE(test, test_lookup(live, 1, NULL));
	KUNIT_EXPECT_TRUE(test, test_lookup(live, 2, &counters));
	KUNIT_EXPECT_EQ(test, counters.packets, 21ULL);
	KUNIT_EXPECT_EQ(test, counters.bytes, 2005ULL);
	KUNIT_EXPECT_TRUE(test, test_lookup(live, 3, &counters));
	KUNIT_EXPECT_EQ(test, counters.packets, 0ULL);

	/* The socket closes before it has published. */
	mutex_lock(&dn->lock);
	staged = nf_dlcbf_table_create(dn, "t", &config, SOCKET, &refusal);
	KUNIT_EXPECT_FALSE(test, IS_ERR(staged));
	nf_dlcbf_table_drop_staged(dn, SOCKET + 1);
	KUNIT_EXPECT_NOT_NULL(test, nf_dlcbf_table_find(dn, "t", SOCKET));
	nf_dlcbf_table_drop_staged(dn, SOCKET);
	KUNIT_EXPECT_NULL(test, nf_dlcbf_table_find(dn, "t", SOCKET));
	KUNIT_EXPECT_PTR_EQ(test, nf_dlcbf_table_find(dn, "t", 0), live);
	mutex_unlock(&dn->lock);
}

static struct kunit_case table_cases[] = {
	KUNIT_CASE_PARAM(test_name, name_gen_params),
	KUNIT_CASE_PARAM(test_config_refused, config_gen_params),
	KUNIT_CASE(test_no_flows),
	KUNIT_CASE(test_same_name),
	KUNIT_CASE(test_memory),
	KUNIT_CASE_PARAM(test_contents, kind_gen_params),
	KUNIT_CASE_PARAM(test_full, kind_gen_params),
	KUNIT_CASE(test_swap),
	KUNIT_CASE(test_staged),
	{}
};

static struct kunit_suite table_suite = {
	.name = "nf_dlcbf_table",
	.init = test_init,
	.exit = test_exit,
	.test_cases = table_cases,
};

kunit_test_suite(table_suite);
