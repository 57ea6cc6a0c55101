// SPDX-License-Identifier: GPL-2.0
/*
 * Flows that go: by idleness, by a deadline, for others. Time is not waited for:
 * records are made older.
 */
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/workqueue.h>

#include "cell.h"
#include "common.h"

#define TIMEOUT_MS	60000

#define STAT(name)	NF_DLCBF_A_STATS_##name

/* ---- stamps ---- */

static const struct stamp_case {
	const char *desc;
	u64 ms;
} stamp_cases[] = {
	{ "one millisecond", 1 },
	{ "99 milliseconds", 99 },
	{ "a second", 1000 },
	{ "a minute", 60000 },
	{ "a day", 24ULL * 3600 * 1000 },
	{ "a year", 366ULL * 24 * 3600 * 1000 },
};

KUNIT_ARRAY_PARAM_DESC(stamp, stamp_cases, desc);

/* A timeout never ends early, and not much late. */
static void test_stamp(struct kunit *test)
{
	const struct stamp_case *c = test->param_value;
	const u64 back = nf_dlcbf_stamp_to_ms(nf_dlcbf_stamp_from_ms(c->ms));

	KUNIT_EXPECT_GE(test, back, c->ms);
	KUNIT_EXPECT_LE(test, back, c->ms + 300);
}

static void test_stamp_limits(struct kunit *test)
{
	/* Differences of stamps are signed. */
	KUNIT_EXPECT_GT(test, (s32)nf_dlcbf_stamp_from_ms(U64_MAX), 0);
	KUNIT_EXPECT_GT(test, (s32)nf_dlcbf_stamp_from_ms(U64_MAX / HZ), 0);
	KUNIT_EXPECT_GT(test, nf_dlcbf_stamp_from_ms(0), 0U);
}

static const struct expired_case {
	const char *desc;
	u32 last;
	u32 deadline;
	u32 now;
	u32 timeout;
	bool expired;
} expired_cases[] = {
	{ "no timeout", 100, NF_DLCBF_DEADLINE_IDLE, 1000000, 0, false },
	{ "at the timeout", 100, NF_DLCBF_DEADLINE_IDLE, 110, 10, false },
	{ "past the timeout", 100, NF_DLCBF_DEADLINE_IDLE, 111, 10, true },
	{ "past it, over the end of the stamps", U32_MAX - 4, NF_DLCBF_DEADLINE_IDLE, 6, 10, true },
	{ "at it, over the end of the stamps", U32_MAX - 4, NF_DLCBF_DEADLINE_IDLE, 5, 10, false },
	{ "a packet that is newer than now", 101, NF_DLCBF_DEADLINE_IDLE, 100, 10, false },
	{ "an administrator's", 100, NF_DLCBF_DEADLINE_NEVER, 1000000, 10, false },
	{ "before its deadline", 100, 200, 199, 10, false },
	{ "at its deadline", 100, 200, 200, 10, true },
	{ "at it, whatever packets come", 200, 200, 200, 10, true },
	{ "at it, over the end of the stamps", 0, 3, 5, 0, true },
	{ "before it, over the end of the stamps", 0, 3, U32_MAX - 5, 0, false },
};

KUNIT_ARRAY_PARAM_DESC(expired, expired_cases, desc);

static void test_expired(struct kunit *test)
{
	const struct expired_case *c = test->param_value;
	const struct nf_dlcbf_record record = { .last = c->last, .deadline = c->deadline };

	KUNIT_EXPECT_EQ(test, nf_dlcbf_record_expired(&record, c->now, c->timeout), c->expired);
}

/* ---- flows ---- */

static struct nf_dlcbf_table *learner(struct kunit *test, const struct nf_dlcbf_config *config)
{
	struct nf_dlcbf_table *table = test_table(test, "t", config);

	KUNIT_ASSERT_EQ(test, test_hook(table, NF_DLCBF_HOOK_FORWARD, 0, NF_DLCBF_VERDICT_CONTINUE,
					NF_DLCBF_VERDICT_CONTINUE), 0);
	return table;
}

static struct nf_dlcbf_record *record_of(struct kunit *test, struct nf_dlcbf_table *table, u32 n)
{
	struct nf_dlcbf_filter *filter = test_filter(table);
	struct nf_dlcbf_flow flow = test_flow(n);
	struct dlcbf_fingerprint fingerprint;
	struct nf_dlcbf_key key;
	u32 cell;

	nf_dlcbf_key_pack(&filter->layout, &flow.tuple, &key);
	fingerprint = dlcbf_fingerprint(&filter->core, nf_dlcbf_key_hash(&filter->layout,
									 &filter->secret, &key));
	cell = nf_dlcbf_cell_find(filter, fingerprint, &key);
	KUNIT_ASSERT_NE(test, cell, DLCBF_NO_CELL);
	return &filter->records[cell];
}

static void make_older(struct kunit *test, struct nf_dlcbf_table *table, u32 n, u64 ms)
{
	struct nf_dlcbf_record *record = record_of(test, table, n);

	WRITE_ONCE(record->last, record->last - nf_dlcbf_stamp_from_ms(ms));
	if (record->deadline != NF_DLCBF_DEADLINE_IDLE &&
	    record->deadline != NF_DLCBF_DEADLINE_NEVER)
		WRITE_ONCE(record->deadline, record->deadline - nf_dlcbf_stamp_from_ms(ms));
}

static void sweep_now(struct nf_dlcbf_table *table)
{
	struct nf_dlcbf_filter *filter = test_filter(table);

	/* What is due later is due now. */
	cancel_delayed_work_sync(&filter->sweep);
	filter->sweep_due = jiffies;
	nf_dlcbf_expire_kick(filter);
	flush_delayed_work(&filter->sweep);
}

static void test_idle(struct kunit *test)
{
	struct nf_dlcbf_config config = test_config(NF_DLCBF_TYPE_FLOW, SADDR, 100);
	struct nf_dlcbf_counters counters;
	struct nf_dlcbf_table *table;
	u32 n;

	config.learn = true;
	config.timeout_ms = TIMEOUT_MS;
	table = learner(test, &config);
	KUNIT_ASSERT_EQ(test, test_add(table, 1), 0);
	for (n = 1; n <= 4; n++)
		KUNIT_EXPECT_TRUE(test, test_send(test, n));
	make_older(test, table, 1, 2 * TIMEOUT_MS);
	make_older(test, table, 2, 2 * TIMEOUT_MS);
	make_older(test, table, 3, 2 * TIMEOUT_MS);

	/* Not swept yet, and not there any more; but for the administrator's. */
	KUNIT_EXPECT_TRUE(test, test_lookup(table, 1, NULL));
	KUNIT_EXPECT_FALSE(test, test_lookup(table, 2, NULL));
	KUNIT_EXPECT_TRUE(test, test_lookup(table, 4, NULL));
	KUNIT_EXPECT_EQ(test, test_count(table), 2U);
	KUNIT_EXPECT_EQ(test, test_remove(test, table, 2), -ENOENT);

	/* A packet begins it anew. */
	KUNIT_EXPECT_TRUE(test, test_send(test, 3));
	KUNIT_EXPECT_TRUE(test, test_lookup(table, 3, &counters));
	KUNIT_EXPECT_EQ(test, counters.packets, 1ULL);
	KUNIT_EXPECT_EQ(test, test_stat(table, STAT(LEARNED)), 4ULL);
	KUNIT_EXPECT_EQ(test, test_stat(table, STAT(EXPIRED)), 1ULL);

	KUNIT_EXPECT_EQ(test, atomic_read(&test_filter(table)->flows), 4);
	sweep_now(table);
	KUNIT_EXPECT_EQ(test, test_stat(table, STAT(EXPIRED)), 2ULL);
	KUNIT_EXPECT_EQ(test, atomic_read(&test_filter(table)->flows), 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&test_filter(table)->leaving), 0);
	KUNIT_EXPECT_EQ(test, test_count(table), 3U);
	sweep_now(table);
	KUNIT_EXPECT_EQ(test, test_count(table), 3U);
}

static void test_deadline(struct kunit *test)
{
	const struct nf_dlcbf_config config = test_config(NF_DLCBF_TYPE_FLOW, SADDR, 100);
	struct nf_dlcbf_table *table = learner(test, &config);
	struct nf_dlcbf_flow flow = test_flow(1);

	flow.has_timeout = true;
	flow.timeout_ms = TIMEOUT_MS;
	KUNIT_ASSERT_EQ(test, nf_dlcbf_filter_add(test_filter(table), &flow, false), 0);
	KUNIT_ASSERT_EQ(test, test_add(table, 2), 0);
	make_older(test, table, 1, TIMEOUT_MS / 2);
	sweep_now(table);
	KUNIT_EXPECT_TRUE(test, test_lookup(table, 1, NULL));
	/* Packets do not put it off. */
	KUNIT_EXPECT_TRUE(test, test_send(test, 1));
	make_older(test, table, 1, TIMEOUT_MS);
	KUNIT_EXPECT_TRUE(test, test_send(test, 1));
	KUNIT_EXPECT_FALSE(test, test_lookup(table, 1, NULL));
	KUNIT_EXPECT_EQ(test, test_stat(table, STAT(HIT)), 1ULL);
	KUNIT_EXPECT_EQ(test, test_stat(table, STAT(MISS)), 1ULL);
	sweep_now(table);
	KUNIT_EXPECT_EQ(test, test_count(table), 1U);
	KUNIT_EXPECT_TRUE(test, test_lookup(table, 2, NULL));
}

static void test_evict(struct kunit *test)
{
	struct nf_dlcbf_config config = test_config_tiny(NF_DLCBF_TYPE_FLOW);
	struct nf_dlcbf_counters counters;
	struct nf_dlcbf_table *table;
	u32 n;

	config.learn = true;
	config.on_full = NF_DLCBF_ON_FULL_EVICT;
	table = learner(test, &config);
	KUNIT_ASSERT_EQ(test, test_add(table, 0), 0);
	for (n = 1; n < 8; n++)
		KUNIT_EXPECT_TRUE(test, test_send(test, n));
	/* The administrator's is the oldest, flow 5 the oldest that may go. */
	make_older(test, table, 0, 9 * TIMEOUT_MS);
	make_older(test, table, 5, 2 * TIMEOUT_MS);
	make_older(test, table, 3, TIMEOUT_MS);
	KUNIT_EXPECT_TRUE(test, test_send(test, 100));
	KUNIT_EXPECT_FALSE(test, test_lookup(table, 5, NULL));
	KUNIT_EXPECT_TRUE(test, test_send(test, 101));
	KUNIT_EXPECT_FALSE(test, test_lookup(table, 3, NULL));
	for (n = 0; n < 8; n++)
		if (n != 5 && n != 3)
			KUNIT_EXPECT_TRUE_MSG(test, test_lookup(table, n, NULL), "flow %u", n);
	KUNIT_EXPECT_TRUE(test, test_lookup(table, 100, &counters));
	KUNIT_EXPECT_EQ(test, counters.packets, 1ULL);
	KUNIT_EXPECT_EQ(test, counters.bytes, (u64)PACKET_BYTES);
	KUNIT_EXPECT_EQ(test, test_stat(table, STAT(EVICTED)), 2ULL);
	KUNIT_EXPECT_EQ(test, test_stat(table, STAT(RACED)), 0ULL);
	/* What is added by hand takes the place of one that was learned. */
	KUNIT_EXPECT_EQ(test, test_add(table, 200), 0);
	KUNIT_EXPECT_EQ(test, test_stat(table, STAT(EVICTED)), 3ULL);
	KUNIT_EXPECT_EQ(test, test_count(table), 8U);
	/* With nothing but those of the administrator none goes. */
	for (n = 0; n < 8; n++)
		test_add(table, n);
	for (n = 300; n < 310; n++)
		KUNIT_EXPECT_TRUE(test, test_send(test, n));
	for (n = 300; n < 310; n++)
		KUNIT_EXPECT_FALSE(test, test_lookup(table, n, NULL));
	KUNIT_EXPECT_EQ(test, test_stat(table, STAT(REFUSED)), 10ULL);
}

/* A cell that a packet may still be at is not given to another flow. */
static void test_grace(struct kunit *test)
{
	const struct nf_dlcbf_config config = test_config_tiny(NF_DLCBF_TYPE_FLOW);
	struct nf_dlcbf_table *table = learner(test, &config);
	struct nf_dlcbf_filter *filter = test_filter(table);
	struct nf_dlcbf_withdrawn *withdrawn;
	struct nf_dlcbf_flow flow = test_flow(1);
	u32 n;

	for (n = 0; n < 8; n++)
		KUNIT_ASSERT_EQ(test, test_add(table, n), 0);
	withdrawn = nf_dlcbf_withdrawn_alloc(1, NF_DLCBF_CMD_FLOW_DEL_NTF);
	KUNIT_ASSERT_NOT_NULL(test, withdrawn);
	KUNIT_EXPECT_EQ(test, nf_dlcbf_filter_remove(filter, &flow, withdrawn), 0);
	/* Taken out, and not yet handed over: the cell is nobody's. */
	KUNIT_EXPECT_FALSE(test, test_lookup(table, 1, NULL));
	KUNIT_EXPECT_EQ(test, dlcbf_used_cells(&filter->core), 8U);
	KUNIT_EXPECT_EQ(test, test_add(table, 9), -ENOSPC);
	nf_dlcbf_withdrawn_drain(filter, withdrawn);
	KUNIT_EXPECT_EQ(test, test_add(table, 9), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&filter->leaving), 0);
}

static struct kunit_case expire_cases[] = {
	KUNIT_CASE_PARAM(test_stamp, stamp_gen_params),
	KUNIT_CASE(test_stamp_limits),
	KUNIT_CASE_PARAM(test_expired, expired_gen_params),
	KUNIT_CASE(test_idle),
	KUNIT_CASE(test_deadline),
	KUNIT_CASE(test_evict),
	KUNIT_CASE(test_grace),
	{}
};

static struct kunit_suite expire_suite = {
	.name = "nf_dlcbf_expire",
	.init = test_init,
	.exit = test_exit,
	.test_cases = expire_cases,
};

kunit_test_suite(expire_suite);
