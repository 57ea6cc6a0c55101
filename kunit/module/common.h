/* SPDX-License-Identifier: GPL-2.0 */
/* What the suites of the whole module share. */
#ifndef MODULE_KUNIT_COMMON_H
#define MODULE_KUNIT_COMMON_H

#include <kunit/test.h>
#include <linux/skbuff.h>

#include "filter.h"
#include "hook.h"
#include "table.h"

/* Linux 6.4 has it. */
#ifndef KUNIT_ARRAY_PARAM_DESC
#define KUNIT_ARRAY_PARAM_DESC(name, array, member) \
	static void name##_describe(typeof(&(array)[0]) c, char *desc) \
	{ \
		strscpy(desc, c->member, KUNIT_PARAM_DESC_SIZE); \
	} \
	KUNIT_ARRAY_PARAM(name, array, name##_describe)
#endif

#define SADDR	NF_DLCBF_FIELD_SADDR
#define DADDR	NF_DLCBF_FIELD_DADDR
#define SPORT	NF_DLCBF_FIELD_SPORT
#define DPORT	NF_DLCBF_FIELD_DPORT
#define PROTO	NF_DLCBF_FIELD_PROTO
#define TUPLE5	(SADDR | DADDR | SPORT | DPORT | PROTO)

/* A test's packets: UDP in IPv4, this long at layer 3. */
#define PACKET_BYTES	100

struct nf_dlcbf_net *test_net(void);
int test_init(struct kunit *test);
void test_exit(struct kunit *test);

struct nf_dlcbf_config test_config(u32 type, u32 fields, u64 max_flows);
struct nf_dlcbf_config test_config_tiny(u32 type);
struct nf_dlcbf_table *test_table_create(const char *name, const struct nf_dlcbf_config *config,
					 struct nf_dlcbf_refusal *refusal);
struct nf_dlcbf_table *test_table(struct kunit *test, const char *name,
				  const struct nf_dlcbf_config *config);
void test_table_delete(struct nf_dlcbf_table *table);
struct nf_dlcbf_filter *test_filter(const struct nf_dlcbf_table *table);
u64 test_stat(const struct nf_dlcbf_table *table, enum nf_dlcbf_attr_stats which);

struct nf_dlcbf_flow test_flow(u32 n);
int test_add(struct nf_dlcbf_table *table, u32 n);
int test_remove(struct kunit *test, struct nf_dlcbf_table *table, u32 n);
bool test_lookup(struct nf_dlcbf_table *table, u32 n, struct nf_dlcbf_counters *counters);
u32 test_count(struct nf_dlcbf_table *table);

int test_hook_add(struct nf_dlcbf_table *table, const struct nf_dlcbf_hook_config *config,
		  struct nf_dlcbf_refusal *refusal);
int test_hook(struct nf_dlcbf_table *table, u32 hook, s32 priority, u32 hit, u32 miss);
struct sk_buff *test_skb(struct kunit *test, u32 n);
bool test_passes(struct sk_buff *skb, u8 family, unsigned int hook);
bool test_send(struct kunit *test, u32 n);
int test_deliver(struct sk_buff *skb, u8 family, unsigned int hook);

#endif /* MODULE_KUNIT_COMMON_H */
