// SPDX-License-Identifier: GPL-2.0
#include <linux/ip.h>
#include <linux/module.h>
#include <linux/netfilter.h>
#include <linux/rcupdate.h>
#include <linux/udp.h>
#include <net/net_namespace.h>

#include "common.h"

/* The suites' namespace is the first one, and they have it for themselves. */
struct nf_dlcbf_net *test_net(void)
{
	return nf_dlcbf_net(&init_net);
}

int test_init(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, list_empty(&test_net()->tables));
	return 0;
}

/* Also after a test that was given up half-way. */
void test_exit(struct kunit *test)
{
	struct nf_dlcbf_net *dn = test_net();
	struct nf_dlcbf_table *table, *next;

	mutex_lock(&dn->lock);
	list_for_each_entry_safe(table, next, &dn->tables, list)
		nf_dlcbf_table_destroy(table);
	KUNIT_EXPECT_TRUE(test, list_empty(&dn->points));
	mutex_unlock(&dn->lock);
	rcu_barrier();
	KUNIT_EXPECT_EQ(test, atomic64_read(&dn->memory), 0LL);
}

struct nf_dlcbf_config test_config(u32 type, u32 fields, u64 max_flows)
{
	struct nf_dlcbf_config config;

	nf_dlcbf_config_defaults(&config, type);
	config.family = NF_DLCBF_FAMILY_IPV4;
	config.fields = fields;
	config.max_flows = max_flows;
	return config;
}

/* One bucket of eight cells: the ninth flow has no place. */
struct nf_dlcbf_config test_config_tiny(u32 type)
{
	struct nf_dlcbf_config config = test_config(type, SADDR, 8);

	config.geometry.subtables = 1;
	config.geometry.buckets = 1;
	config.geometry.bucket_cells = 8;
	return config;
}

/* As nf_dlcbf_table_create(), of a live table. */
struct nf_dlcbf_table *test_table_create(const char *name, const struct nf_dlcbf_config *config,
					 struct nf_dlcbf_refusal *refusal)
{
	struct nf_dlcbf_table *table;

	mutex_lock(&test_net()->lock);
	table = nf_dlcbf_table_create(test_net(), name, config, 0, refusal);
	mutex_unlock(&test_net()->lock);
	return table;
}

struct nf_dlcbf_table *test_table(struct kunit *test, const char *name,
				  const struct nf_dlcbf_config *config)
{
	struct nf_dlcbf_refusal refusal = {};
	struct nf_dlcbf_table *table = test_table_create(name, config, &refusal);

	if (IS_ERR(table))
		kunit_info(test, "%s: %s\n", name, refusal.message ?: "no reason");
	KUNIT_ASSERT_FALSE(test, IS_ERR(table));
	return table;
}

void test_table_delete(struct nf_dlcbf_table *table)
{
	struct nf_dlcbf_net *dn = table->dn;

	mutex_lock(&dn->lock);
	nf_dlcbf_table_destroy(table);
	mutex_unlock(&dn->lock);
}

/* Its contents: nobody replaces them but the test. */
struct nf_dlcbf_filter *test_filter(const struct nf_dlcbf_table *table)
{
	return rcu_dereference_protected(table->filter, true);
}

u64 test_stat(const struct nf_dlcbf_table *table, enum nf_dlcbf_attr_stats which)
{
	u64 sum[NF_DLCBF_STATS_COUNT];

	nf_dlcbf_stats_sum(table->stats, sum);
	return sum[which];
}

/* ---- flows ---- */

static __be32 address_of(u32 n)
{
	return htonl(0x0a000000 + n);
}

/* From 10.0.0.0 plus @n, port 1, to 198.51.100.1, port 2 */
struct nf_dlcbf_flow test_flow(u32 n)
{
	struct nf_dlcbf_flow flow = {
		.has_key = true,
		.count = 1,
		.tuple = {
			.family = 4,
			.proto = IPPROTO_UDP,
			.sport = htons(1),
			.dport = htons(2),
		},
	};

	flow.tuple.saddr.s6_addr32[3] = address_of(n);
	flow.tuple.daddr.s6_addr32[3] = htonl(0xc6336401);
	return flow;
}

int test_add(struct nf_dlcbf_table *table, u32 n)
{
	struct nf_dlcbf_flow flow = test_flow(n);

	return nf_dlcbf_filter_add(test_filter(table), &flow, false);
}

/* Its cell is given back as ever: after a grace period. */
int test_remove(struct kunit *test, struct nf_dlcbf_table *table, u32 n)
{
	struct nf_dlcbf_withdrawn *withdrawn;
	struct nf_dlcbf_flow flow = test_flow(n);
	int err;

	withdrawn = nf_dlcbf_withdrawn_alloc(1, NF_DLCBF_CMD_FLOW_DEL_NTF);
	KUNIT_ASSERT_NOT_NULL(test, withdrawn);
	err = nf_dlcbf_filter_remove(test_filter(table), &flow, withdrawn);
	nf_dlcbf_withdrawn_drain(test_filter(table), withdrawn);
	return err;
}

/* @counters may be NULL. */
bool test_lookup(struct nf_dlcbf_table *table, u32 n, struct nf_dlcbf_counters *counters)
{
	struct nf_dlcbf_flow flow = test_flow(n);

	if (nf_dlcbf_filter_lookup(test_filter(table), &flow, false))
		return false;
	if (counters)
		*counters = flow.counters;
	return true;
}

/* What a walk meets. */
u32 test_count(struct nf_dlcbf_table *table)
{
	struct nf_dlcbf_filter *filter = test_filter(table);
	struct nf_dlcbf_flow flow = {};
	u32 cell, count = 0;

	for (cell = nf_dlcbf_filter_next(filter, 0, &flow, false); cell != DLCBF_NO_CELL;
	     cell = nf_dlcbf_filter_next(filter, cell + 1, &flow, false))
		count++;
	return count;
}

/* ---- hooks and packets ---- */

/* As nf_dlcbf_hook_add(). */
int test_hook_add(struct nf_dlcbf_table *table, const struct nf_dlcbf_hook_config *config,
		  struct nf_dlcbf_refusal *refusal)
{
	int err;

	mutex_lock(&table->dn->lock);
	err = nf_dlcbf_hook_add(table, config, false, refusal);
	mutex_unlock(&table->dn->lock);
	return err;
}

int test_hook(struct nf_dlcbf_table *table, u32 hook, s32 priority, u32 hit, u32 miss)
{
	const struct nf_dlcbf_hook_config config = {
		.hook = hook,
		.priority = priority,
		.hit.verdict = hit,
		.miss.verdict = miss,
	};
	struct nf_dlcbf_refusal refusal = {};

	return test_hook_add(table, &config, &refusal);
}

/* A packet of test_flow(@n) */
struct sk_buff *test_skb(struct kunit *test, u32 n)
{
	struct sk_buff *skb = alloc_skb(PACKET_BYTES, GFP_KERNEL);
	struct udphdr *udp;
	struct iphdr *ip;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_reset_network_header(skb);
	ip = skb_put_zero(skb, PACKET_BYTES);
	ip->version = 4;
	ip->ihl = 5;
	ip->ttl = 64;
	ip->protocol = IPPROTO_UDP;
	ip->tot_len = htons(PACKET_BYTES);
	ip->saddr = address_of(n);
	ip->daddr = htonl(0xc6336401);
	udp = (struct udphdr *)(ip + 1);
	udp->source = htons(1);
	udp->dest = htons(2);
	udp->len = htons(PACKET_BYTES - sizeof(*ip));
	skb->protocol = htons(ETH_P_IP);
	skb->dev = init_net.loopback_dev;
	return skb;
}

static int go_on(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	return 0;
}

/*
 * Through a hook as a packet goes.  Return: nf_hook()'s: 1 means that it goes
 * on, and the caller has it; otherwise it is gone.
 */
int test_deliver(struct sk_buff *skb, u8 family, unsigned int hook)
{
	int ret;

	local_bh_disable();
	ret = nf_hook(family, hook, &init_net, NULL, skb, init_net.loopback_dev,
		      init_net.loopback_dev, go_on);
	local_bh_enable();
	return ret;
}

/* Likewise, and the packet is gone in any case.  Return: it went on. */
bool test_passes(struct sk_buff *skb, u8 family, unsigned int hook)
{
	if (test_deliver(skb, family, hook) != 1)
		return false;
	kfree_skb(skb);
	return true;
}

/* A packet of test_flow(@n) through forward.  Return: it went on. */
bool test_send(struct kunit *test, u32 n)
{
	return test_passes(test_skb(test, n), NFPROTO_IPV4, NF_INET_FORWARD);
}
