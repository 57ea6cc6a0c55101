/* SPDX-License-Identifier: GPL-2.0 */
/* Where packets meet tables. */
#ifndef NF_DLCBF_HOOK_H
#define NF_DLCBF_HOOK_H

#include <linux/list.h>
#include <linux/netfilter.h>
#include <linux/netdevice.h>

#include "config.h"

struct nf_dlcbf_hook_point;
struct nf_dlcbf_net;
struct nf_dlcbf_table;

/**
 * struct nf_dlcbf_judgement - what to do with a packet
 * @verdict: enum nf_dlcbf_verdict
 * @mark:    for NF_DLCBF_VERDICT_MARK: bits to set,
 * @mask:    of these
 */
struct nf_dlcbf_judgement {
	u32 verdict;
	u32 mark;
	u32 mask;
};

/**
 * struct nf_dlcbf_hook_config - one table at one hook
 * @hook:     enum nf_dlcbf_hook
 * @priority: among all netfilter hooks there, lower is earlier
 * @device:   name of the device, for ingress; otherwise empty
 * @hit:      what to do with a packet whose flow is in the table
 * @miss:     what to do with any other
 */
struct nf_dlcbf_hook_config {
	u32 hook;
	s32 priority;
	char device[IFNAMSIZ];
	struct nf_dlcbf_judgement hit;
	struct nf_dlcbf_judgement miss;
};

/**
 * struct nf_dlcbf_hook - a table at a hook
 * @table_list: in nf_dlcbf_table.hooks
 * @point_list: in nf_dlcbf_hook_point.hooks, in the order of evaluation
 * @table:      the table
 * @point:      the hook, priority and device
 * @config:     as asked for; the device's name may be out of date, use
 *		nf_dlcbf_hook_device()
 * @defrag_family: enum nf_dlcbf_family that is defragmented for this hook, or 0
 * @rcu:        frees it
 */
struct nf_dlcbf_hook {
	struct list_head table_list;
	struct list_head point_list;
	struct nf_dlcbf_table *table;
	struct nf_dlcbf_hook_point *point;
	struct nf_dlcbf_hook_config config;
	u32 defrag_family;
	struct rcu_head rcu;
};

/* All with nf_dlcbf_net.lock held. */
int nf_dlcbf_hook_add(struct nf_dlcbf_table *table, const struct nf_dlcbf_hook_config *config,
		      bool exist, struct nf_dlcbf_refusal *refusal);
struct nf_dlcbf_hook *nf_dlcbf_hook_find(struct nf_dlcbf_table *table,
					 const struct nf_dlcbf_hook_config *config);
void nf_dlcbf_hook_remove(struct nf_dlcbf_hook *hook);
void nf_dlcbf_hook_remove_all(struct nf_dlcbf_table *table);
void nf_dlcbf_hook_move_all(struct nf_dlcbf_table *from, struct nf_dlcbf_table *to);
const char *nf_dlcbf_hook_device(const struct nf_dlcbf_hook *hook);
u32 nf_dlcbf_hook_count(const struct nf_dlcbf_table *table);

int nf_dlcbf_hook_check_fields(u32 fields, u32 hook, struct nf_dlcbf_refusal *refusal);

int nf_dlcbf_hook_init(void);
void nf_dlcbf_hook_exit(void);

#endif /* NF_DLCBF_HOOK_H */
