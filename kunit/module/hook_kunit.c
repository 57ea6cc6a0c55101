// SPDX-License-Identifier: GPL-2.0
/*
 * Hooks: what packets meet there, verdicts, their order, and what is counted.
 * The packets go through the kernel's own lists of hooks.
 */
#include <linux/ipv6.h>
#include <linux/module.h>
#include <linux/netfilter_ipv6.h>

#include "common.h"

#define CONTINUE	NF_DLCBF_VERDICT_CONTINUE
#define ACCEPT		NF_DLCBF_VERDICT_ACCEPT
#define DROP		NF_DLCBF_VERDICT_DROP
#define MARK		NF_DLCBF_VERDICT_MARK
#define FORWARD		NF_DLCBF_HOOK_FORWARD

#define STAT(name)	NF_DLCBF_A_STATS_##name

/* A table whose flow 1 is in, at forward. */
static struct nf_dlcbf_table *hooked(struct kunit *test, const char *name, s32 priority, u32 hit,
				     u32 miss)
{
	const struct nf_dlcbf_config config = test_config(NF_DLCBF_TYPE_FLOW, SADDR, 100);
	struct nf_dlcbf_table *table = test_table(test, name, &config);

	KUNIT_ASSERT_EQ(test, test_add(table, 1), 0);
	KUNIT_ASSERT_EQ(test, test_hook(table, FORWARD, priority, hit, miss), 0);
	return table;
}

/* ---- verdicts ---- */

static const struct verdict_case {
	const char *desc;
	u32 hit;
	u32 miss;
	bool hit_passes;
	bool miss_passes;
} verdict_cases[] = {
	{ "hit continue miss continue", CONTINUE, CONTINUE, true, true },
	{ "hit continue miss accept", CONTINUE, ACCEPT, true, true },
	{ "hit continue miss drop", CONTINUE, DROP, true, false },
	{ "hit accept miss continue", ACCEPT, CONTINUE, true, true },
	{ "hit accept miss accept", ACCEPT, ACCEPT, true, true },
	{ "hit accept miss drop", ACCEPT, DROP, true, false },
	{ "hit drop miss continue", DROP, CONTINUE, false, true },
	{ "hit drop miss accept", DROP, ACCEPT, false, true },
	{ "hit drop miss drop", DROP, DROP, false, false },
};

KUNIT_ARRAY_PARAM_DESC(verdict, verdict_cases, desc);

static void test_verdict(struct kunit *test)
{
	const struct verdict_case *c = test->param_value;
	struct nf_dlcbf_table *table = hooked(test, "t", 0, c->hit, c->miss);
	struct nf_dlcbf_counters counters;
	int i;

	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, test_send(test, 1), c->hit_passes);
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, test_send(test, 2), c->miss_passes);
	KUNIT_EXPECT_EQ(test, test_stat(table, STAT(PACKETS)), 5ULL);
	KUNIT_EXPECT_EQ(test, test_stat(table, STAT(HIT)), 3ULL);
	KUNIT_EXPECT_EQ(test, test_stat(table, STAT(MISS)), 2ULL);
	KUNIT_EXPECT_EQ(test, test_stat(table, STAT(DROPPED)),
			(c->hit_passes ? 0ULL : 3ULL) + (c->miss_passes ? 0ULL : 2ULL));
	/* A packet that is dropped is counted all the same. */
	KUNIT_EXPECT_TRUE(test, test_lookup(table, 1, &counters));
	KUNIT_EXPECT_EQ(test, counters.packets, 3ULL);
	KUNIT_EXPECT_EQ(test, counters.bytes, 3ULL * PACKET_BYTES);
}

static const struct mark_case {
	const char *desc;
	u32 before;
	u32 mark;
	u32 mask;
	u32 after;
} mark_cases[] = {
	{ "all bits", 0xdeadbeef, 0x12345678, 0xffffffff, 0x12345678 },
	{ "some bits", 0xdeadbeef, 0x00005600, 0x0000ff00, 0xdead56ef },
	{ "to 0", 0xdeadbeef, 0, 0x000000ff, 0xdeadbe00 },
	{ "none", 0xdeadbeef, 0, 0, 0xdeadbeef },
};

KUNIT_ARRAY_PARAM_DESC(mark, mark_cases, desc);

static void test_mark(struct kunit *test)
{
	const struct mark_case *c = test->param_value;
	const struct nf_dlcbf_config config = test_config(NF_DLCBF_TYPE_SET, SADDR, 100);
	const struct nf_dlcbf_hook_config hook = {
		.hook = FORWARD,
		.hit = { .verdict = MARK, .mark = c->mark, .mask = c->mask },
		.miss.verdict = CONTINUE,
	};
	struct nf_dlcbf_table *table = test_table(test, "t", &config);
	struct nf_dlcbf_refusal refusal = {};
	struct sk_buff *skb;
	u32 n;

	KUNIT_ASSERT_EQ(test, test_add(table, 1), 0);
	KUNIT_EXPECT_EQ(test, test_hook_add(table, &hook, &refusal), 0);
	for (n = 1; n <= 2; n++) {
		skb = test_skb(test, n);
		skb->mark = c->before;
		KUNIT_ASSERT_EQ(test, test_deliver(skb, NFPROTO_IPV4, NF_INET_FORWARD), 1);
		KUNIT_EXPECT_EQ(test, skb->mark, n == 1 ? c->after : c->before);
		kfree_skb(skb);
	}
	KUNIT_EXPECT_EQ(test, test_stat(table, STAT(MARKED)), 1ULL);
}

/* ---- several tables ---- */

static const struct order_case {
	const char *desc;
	u32 first;	/* verdict on hit of the table that was hooked first */
	u32 second;
	s32 priority;	/* of the second; the first is at 0 */
	bool passes;
	u64 first_sees;
	u64 second_sees;
} order_cases[] = {
	{ "continue: the next judges", CONTINUE, DROP, 0, false, 1, 1 },
	{ "accept: no later one at this priority does", ACCEPT, DROP, 0, true, 1, 0 },
	{ "accept says nothing to another priority", ACCEPT, DROP, 1, false, 1, 1 },
	{ "drop: no later one sees it", DROP, CONTINUE, 0, false, 1, 0 },
	{ "drop: nor at another priority", DROP, CONTINUE, 1, false, 1, 0 },
	{ "a lower priority is earlier", CONTINUE, DROP, -1, false, 0, 1 },
	{ "mark: the next judges", MARK, DROP, 0, false, 1, 1 },
};

KUNIT_ARRAY_PARAM_DESC(order, order_cases, desc);

static void test_order(struct kunit *test)
{
	const struct order_case *c = test->param_value;
	struct nf_dlcbf_table *first = hooked(test, "first", 0, c->first, CONTINUE);
	struct nf_dlcbf_table *second = hooked(test, "second", c->priority, c->second, CONTINUE);

	KUNIT_EXPECT_EQ(test, test_send(test, 1), c->passes);
	KUNIT_EXPECT_EQ(test, test_stat(first, STAT(PACKETS)), c->first_sees);
	KUNIT_EXPECT_EQ(test, test_stat(second, STAT(PACKETS)), c->second_sees);
}

static void test_removed(struct kunit *test)
{
	struct nf_dlcbf_table *table = hooked(test, "t", 0, DROP, DROP);
	struct nf_dlcbf_table *other = hooked(test, "other", 0, CONTINUE, CONTINUE);

	KUNIT_EXPECT_FALSE(test, test_send(test, 1));
	KUNIT_EXPECT_EQ(test, test_hook(table, FORWARD, 0, ACCEPT, ACCEPT), -EEXIST);
	mutex_lock(&test_net()->lock);
	KUNIT_EXPECT_EQ(test, nf_dlcbf_hook_count(table), 1U);
	nf_dlcbf_hook_remove_all(table);
	KUNIT_EXPECT_EQ(test, nf_dlcbf_hook_count(table), 0U);
	KUNIT_EXPECT_FALSE(test, list_empty(&test_net()->points));
	mutex_unlock(&test_net()->lock);
	KUNIT_EXPECT_TRUE(test, test_send(test, 1));
	KUNIT_EXPECT_EQ(test, test_stat(table, STAT(PACKETS)), 1ULL);
	KUNIT_EXPECT_EQ(test, test_stat(other, STAT(PACKETS)), 1ULL);
	/* The point goes with its last hook. */
	mutex_lock(&test_net()->lock);
	nf_dlcbf_hook_remove_all(other);
	KUNIT_EXPECT_TRUE(test, list_empty(&test_net()->points));
	mutex_unlock(&test_net()->lock);
	KUNIT_EXPECT_TRUE(test, test_send(test, 1));
	KUNIT_EXPECT_EQ(test, test_stat(other, STAT(PACKETS)), 1ULL);
}

/* A socket's staged table is hooked, and is not there for packets. */
static void test_staged(struct kunit *test)
{
	const struct nf_dlcbf_config config = test_config(NF_DLCBF_TYPE_SET, SADDR, 100);
	struct nf_dlcbf_refusal refusal = {};
	struct nf_dlcbf_net *dn = test_net();
	struct nf_dlcbf_table *table;

	mutex_lock(&dn->lock);
	table = nf_dlcbf_table_create(dn, "t", &config, 77, &refusal);
	mutex_unlock(&dn->lock);
	KUNIT_ASSERT_FALSE(test, IS_ERR(table));
	KUNIT_EXPECT_EQ(test, test_hook(table, FORWARD, 0, DROP, DROP), 0);
	KUNIT_EXPECT_TRUE(test, test_send(test, 1));
	KUNIT_EXPECT_EQ(test, test_stat(table, STAT(PACKETS)), 0ULL);
	mutex_lock(&dn->lock);
	KUNIT_EXPECT_EQ(test, nf_dlcbf_table_publish(dn, 77, false, &refusal), 0);
	mutex_unlock(&dn->lock);
	KUNIT_EXPECT_FALSE(test, test_send(test, 1));
}

/* ---- every hook ---- */

static const struct place_case {
	const char *desc;
	u32 hook;
	unsigned int kernel_hook;
} place_cases[] = {
	{ "prerouting", NF_DLCBF_HOOK_PREROUTING, NF_INET_PRE_ROUTING },
	{ "input", NF_DLCBF_HOOK_INPUT, NF_INET_LOCAL_IN },
	{ "forward", NF_DLCBF_HOOK_FORWARD, NF_INET_FORWARD },
	{ "output", NF_DLCBF_HOOK_OUTPUT, NF_INET_LOCAL_OUT },
	{ "postrouting", NF_DLCBF_HOOK_POSTROUTING, NF_INET_POST_ROUTING },
};

KUNIT_ARRAY_PARAM_DESC(place, place_cases, desc);

static void test_place(struct kunit *test)
{
	const struct place_case *c = test->param_value;
	const struct nf_dlcbf_config config = test_config(NF_DLCBF_TYPE_SET, SADDR, 100);
	struct nf_dlcbf_table *table = test_table(test, "t", &config);
	size_t i;

	KUNIT_ASSERT_EQ(test, test_add(table, 1), 0);
	KUNIT_ASSERT_EQ(test, test_hook(table, c->hook, 0, DROP, CONTINUE), 0);
	for (i = 0; i < ARRAY_SIZE(place_cases); i++) {
		const struct place_case *at = &place_cases[i];

		KUNIT_EXPECT_EQ_MSG(test,
				    test_passes(test_skb(test, 1), NFPROTO_IPV4, at->kernel_hook),
				    at->hook != c->hook, "at %s", at->desc);
	}
	KUNIT_EXPECT_EQ(test, test_stat(table, STAT(PACKETS)), 1ULL);
}

/* ---- what cannot be ---- */

static const struct refused_case {
	const char *desc;
	u32 fields;
	struct nf_dlcbf_hook_config hook;
	int err;
	int attribute;
} refused_cases[] = {
	{ "no such hook", SADDR, { .hook = 7, .hit = { CONTINUE }, .miss = { CONTINUE } }, -EINVAL,
	  NF_DLCBF_A_HOOK_HOOK },
	{ "hook 0", SADDR, { .hit = { CONTINUE }, .miss = { CONTINUE } }, -EINVAL,
	  NF_DLCBF_A_HOOK_HOOK },
	{ "no verdict", SADDR, { .hook = FORWARD, .miss = { CONTINUE } }, -EINVAL,
	  NF_DLCBF_A_HOOK_HIT },
	{ "no such verdict", SADDR, { .hook = FORWARD, .hit = { DROP }, .miss = { 5 } }, -EINVAL,
	  NF_DLCBF_A_HOOK_MISS },
	{ "a mark beyond its mask", SADDR,
	  { .hook = FORWARD, .hit = { MARK, 0x100, 0xff }, .miss = { CONTINUE } }, -EINVAL,
	  NF_DLCBF_A_HOOK_HIT },
	{ "ingress of no device", SADDR,
	  { .hook = NF_DLCBF_HOOK_INGRESS, .hit = { DROP }, .miss = { CONTINUE } }, -EINVAL,
	  NF_DLCBF_A_HOOK_DEVICE },
	{ "ingress of a device that is not there", SADDR,
	  { .hook = NF_DLCBF_HOOK_INGRESS, .device = "nosuchdev", .hit = { DROP },
	    .miss = { CONTINUE } }, -ENODEV, NF_DLCBF_A_HOOK_DEVICE },
	{ "forward of a device", SADDR,
	  { .hook = FORWARD, .device = "lo", .hit = { DROP }, .miss = { CONTINUE } }, -EINVAL,
	  NF_DLCBF_A_HOOK_DEVICE },
	{ "oif at prerouting", SADDR | NF_DLCBF_FIELD_OIF,
	  { .hook = NF_DLCBF_HOOK_PREROUTING, .hit = { DROP }, .miss = { CONTINUE } }, -EINVAL,
	  NF_DLCBF_A_HOOK_HOOK },
	{ "oif at input", SADDR | NF_DLCBF_FIELD_OIF,
	  { .hook = NF_DLCBF_HOOK_INPUT, .hit = { DROP }, .miss = { CONTINUE } }, -EINVAL,
	  NF_DLCBF_A_HOOK_HOOK },
	{ "oif at ingress", SADDR | NF_DLCBF_FIELD_OIF,
	  { .hook = NF_DLCBF_HOOK_INGRESS, .device = "lo", .hit = { DROP },
	    .miss = { CONTINUE } }, -EINVAL, NF_DLCBF_A_HOOK_HOOK },
	{ "iif at output", SADDR | NF_DLCBF_FIELD_IIF,
	  { .hook = NF_DLCBF_HOOK_OUTPUT, .hit = { DROP }, .miss = { CONTINUE } }, -EINVAL,
	  NF_DLCBF_A_HOOK_HOOK },
};

KUNIT_ARRAY_PARAM_DESC(refused, refused_cases, desc);

static void test_refused(struct kunit *test)
{
	const struct refused_case *c = test->param_value;
	const struct nf_dlcbf_config config = test_config(NF_DLCBF_TYPE_SET, c->fields, 100);
	struct nf_dlcbf_table *table = test_table(test, "t", &config);
	struct nf_dlcbf_refusal refusal = {};

	KUNIT_EXPECT_EQ(test, test_hook_add(table, &c->hook, &refusal), c->err);
	mutex_lock(&test_net()->lock);
	KUNIT_EXPECT_EQ(test, refusal.attribute, c->attribute);
	KUNIT_EXPECT_NOT_NULL(test, refusal.message);
	KUNIT_EXPECT_EQ(test, nf_dlcbf_hook_count(table), 0U);
	KUNIT_EXPECT_TRUE(test, list_empty(&test_net()->points));
	mutex_unlock(&test_net()->lock);
}

/* ---- packets that are not of the table ---- */

/* RFC 4861: type 135 or 136, from the same link */
static struct sk_buff *neighbour_skb(struct kunit *test, u8 type, u8 hop_limit)
{
	struct sk_buff *skb = alloc_skb(64, GFP_KERNEL);
	struct ipv6hdr *ip;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_reset_network_header(skb);
	ip = skb_put_zero(skb, 64);
	ip->version = 6;
	ip->payload_len = htons(24);
	ip->nexthdr = IPPROTO_ICMPV6;
	ip->hop_limit = hop_limit;
	ip->saddr.s6_addr[0] = 0xfe;
	ip->saddr.s6_addr[1] = 0x80;
	ip->daddr.s6_addr[0] = 0xff;
	ip->daddr.s6_addr[1] = 0x02;
	*(u8 *)(ip + 1) = type;
	skb->protocol = htons(ETH_P_IPV6);
	skb->dev = init_net.loopback_dev;
	return skb;
}

static const struct neighbour_case {
	const char *desc;
	u8 type;
	u8 hop_limit;
	bool judge;
	bool passes;
} neighbour_cases[] = {
	{ "solicitation", 135, 255, false, true },
	{ "advertisement", 136, 255, false, true },
	{ "solicitation that came over a router", 135, 254, false, false },
	{ "echo request", 128, 255, false, false },
	{ "solicitation that is to be judged", 135, 255, true, false },
};

KUNIT_ARRAY_PARAM_DESC(neighbour, neighbour_cases, desc);

static void test_neighbour(struct kunit *test)
{
	const struct neighbour_case *c = test->param_value;
	struct nf_dlcbf_config config = test_config(NF_DLCBF_TYPE_SET, SADDR, 100);
	struct nf_dlcbf_table *table;
	struct sk_buff *skb;

	config.family = NF_DLCBF_FAMILY_INET;
	config.judge_neighbours = c->judge;
	table = test_table(test, "t", &config);
	KUNIT_ASSERT_EQ(test, test_hook(table, NF_DLCBF_HOOK_INPUT, 0, CONTINUE, DROP), 0);
	skb = neighbour_skb(test, c->type, c->hop_limit);
	KUNIT_EXPECT_EQ(test, test_passes(skb, NFPROTO_IPV6, NF_INET_LOCAL_IN), c->passes);
	KUNIT_EXPECT_EQ(test, test_stat(table, STAT(NEIGHBOUR)), c->passes ? 1ULL : 0ULL);
	KUNIT_EXPECT_EQ(test, test_stat(table, STAT(MISS)), c->passes ? 0ULL : 1ULL);
}

static void test_other_family(struct kunit *test)
{
	const struct nf_dlcbf_config config = test_config(NF_DLCBF_TYPE_SET, SADDR, 100);
	struct nf_dlcbf_table *table = test_table(test, "t", &config);
	struct sk_buff *skb = neighbour_skb(test, 128, 64);

	KUNIT_ASSERT_EQ(test, test_hook(table, FORWARD, 0, DROP, DROP), 0);
	KUNIT_EXPECT_TRUE(test, test_passes(skb, NFPROTO_IPV6, NF_INET_FORWARD));
	KUNIT_EXPECT_EQ(test, test_stat(table, STAT(OTHER_FAMILY)), 1ULL);
	KUNIT_EXPECT_EQ(test, test_stat(table, STAT(PACKETS)), 1ULL);
	KUNIT_EXPECT_EQ(test, test_stat(table, STAT(DROPPED)), 0ULL);
}

static const struct fragment_case {
	const char *desc;
	u32 fields;
	u32 fragments;
	u32 miss;
	bool passes;
	bool counted;	/* as a fragment; otherwise it is an ordinary miss */
} fragment_cases[] = {
	{ "a miss, which goes on", TUPLE5, NF_DLCBF_FRAGMENTS_MISS, CONTINUE, true, true },
	{ "a miss, which is dropped", TUPLE5, NF_DLCBF_FRAGMENTS_MISS, DROP, false, true },
	{ "accepted, though a miss is not", TUPLE5, NF_DLCBF_FRAGMENTS_ACCEPT, DROP, true, true },
	{ "dropped, though a miss is not", TUPLE5, NF_DLCBF_FRAGMENTS_DROP, CONTINUE, false,
	  true },
	{ "no matter without ports in the key", SADDR, NF_DLCBF_FRAGMENTS_DROP, CONTINUE, true,
	  false },
};

KUNIT_ARRAY_PARAM_DESC(fragment, fragment_cases, desc);

/* At forward one does not meet them after defragmentation, unless it is raw. */
static void test_fragment(struct kunit *test)
{
	const struct fragment_case *c = test->param_value;
	struct nf_dlcbf_config config = test_config(NF_DLCBF_TYPE_SET, c->fields, 100);
	struct sk_buff *skb = test_skb(test, 1);
	struct nf_dlcbf_table *table;

	config.fragments = c->fragments;
	table = test_table(test, "t", &config);
	KUNIT_ASSERT_EQ(test, test_hook(table, FORWARD, 0, CONTINUE, c->miss), 0);
	ip_hdr(skb)->frag_off = htons(100);
	KUNIT_EXPECT_EQ(test, test_passes(skb, NFPROTO_IPV4, NF_INET_FORWARD), c->passes);
	KUNIT_EXPECT_EQ(test, test_stat(table, STAT(FRAGMENT)), c->counted ? 1ULL : 0ULL);
	KUNIT_EXPECT_EQ(test, test_stat(table, STAT(MISS)), c->counted ? 0ULL : 1ULL);
}

/* ---- learning ---- */

static void test_learn(struct kunit *test)
{
	struct nf_dlcbf_config config = test_config_tiny(NF_DLCBF_TYPE_FLOW);
	struct nf_dlcbf_counters counters;
	struct nf_dlcbf_table *table;
	u32 n, i;

	config.learn = true;
	table = test_table(test, "t", &config);
	KUNIT_ASSERT_EQ(test, test_hook(table, FORWARD, 0, ACCEPT, DROP), 0);
	/* The first packet of a flow is a miss. */
	for (n = 0; n < 10; n++)
		KUNIT_EXPECT_FALSE(test, test_send(test, n));
	for (i = 0; i < 2; i++)
		for (n = 0; n < 8; n++)
			KUNIT_EXPECT_TRUE(test, test_send(test, n));
	KUNIT_EXPECT_FALSE(test, test_send(test, 8));
	KUNIT_EXPECT_EQ(test, test_stat(table, STAT(LEARNED)), 8ULL);
	KUNIT_EXPECT_EQ(test, test_stat(table, STAT(REFUSED)), 3ULL);
	KUNIT_EXPECT_EQ(test, test_stat(table, STAT(HIT)), 16ULL);
	KUNIT_EXPECT_EQ(test, test_stat(table, STAT(PACKETS)), 27ULL);
	KUNIT_EXPECT_EQ(test, test_stat(table, STAT(DROPPED)), 11ULL);
	for (n = 0; n < 8; n++) {
		KUNIT_EXPECT_TRUE(test, test_lookup(table, n, &counters));
		KUNIT_EXPECT_EQ(test, counters.packets, 3ULL);
		KUNIT_EXPECT_EQ(test, counters.bytes, 3ULL * PACKET_BYTES);
	}
	KUNIT_EXPECT_FALSE(test, test_lookup(table, 8, NULL));
}

static struct kunit_case hook_cases[] = {
	KUNIT_CASE_PARAM(test_verdict, verdict_gen_params),
	KUNIT_CASE_PARAM(test_mark, mark_gen_params),
	KUNIT_CASE_PARAM(test_order, order_gen_params),
	KUNIT_CASE(test_removed),
	KUNIT_CASE(test_staged),
	KUNIT_CASE_PARAM(test_place, place_gen_params),
	KUNIT_CASE_PARAM(test_refused, refused_gen_params),
	KUNIT_CASE_PARAM(test_neighbour, neighbour_gen_params),
	KUNIT_CASE(test_other_family),
	KUNIT_CASE_PARAM(test_fragment, fragment_gen_params),
	KUNIT_CASE(test_learn),
	{}
};

static struct kunit_suite hook_suite = {
	.name = "nf_dlcbf_hook",
	.init = test_init,
	.exit = test_exit,
	.test_cases = hook_cases,
};

kunit_test_suite(hook_suite);
