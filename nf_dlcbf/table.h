/* SPDX-License-Identifier: GPL-2.0 */
/* Tables by name, in each network namespace. */
#ifndef NF_DLCBF_TABLE_H
#define NF_DLCBF_TABLE_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "config.h"
#include "stats.h"

struct nf_dlcbf_filter;
struct proc_dir_entry;

/**
 * struct nf_dlcbf_net - all that the module keeps of a network namespace
 * @net:         the namespace
 * @lock:        serialises every change of tables and hooks
 * @tables:      struct nf_dlcbf_table, by age; read under RCU, changed under @lock
 * @points:      struct nf_dlcbf_hook_point, under @lock
 * @generation:  changes with every change of the list of tables or hooks; dumps
 *		 compare it, never 0
 * @next_id:     of the next table, under @lock
 * @memory:      bytes that its tables take
 * @proc:        /proc/net/nf_dlcbf
 * @closing:     the namespace goes away: no new tables or hooks
 */
struct nf_dlcbf_net {
	struct net *net;
	struct mutex lock;	/* of tables and points */
	struct list_head tables;
	struct list_head points;
	unsigned int generation;
	u32 next_id;
	atomic64_t memory;
	struct proc_dir_entry *proc;
	bool closing;
};

/**
 * struct nf_dlcbf_table - a table
 * @list:    in nf_dlcbf_net.tables
 * @dn:      its namespace
 * @filter:  its contents, never NULL
 * @stats:   counters of its packets; they stay when the contents are replaced
 * @id:      unique in the namespace
 * @portid:  the netlink socket that staged it; 0 once it is live
 * @hooks:   struct nf_dlcbf_hook, under nf_dlcbf_net.lock
 * @proc:    its directory; NULL while staged
 * @rcu:     frees it
 * @name:    its name
 */
struct nf_dlcbf_table {
	struct list_head list;
	struct nf_dlcbf_net *dn;
	struct nf_dlcbf_filter __rcu *filter;
	struct nf_dlcbf_stats __percpu *stats;
	u32 id;
	u32 portid;
	struct list_head hooks;
	struct proc_dir_entry *proc;
	struct rcu_head rcu;
	char name[NF_DLCBF_NAME_MAX + 1];
};

extern unsigned int nf_dlcbf_net_id;

static inline struct nf_dlcbf_net *nf_dlcbf_net(const struct net *net)
{
	return net_generic(net, nf_dlcbf_net_id);
}

/*
 * All of these want nf_dlcbf_net.lock held, but for nf_dlcbf_table_find(), which
 * is content with an RCU read side section.  @portid 0 means live tables.
 */
struct nf_dlcbf_table *nf_dlcbf_table_find(struct nf_dlcbf_net *dn, const char *name, u32 portid);
int nf_dlcbf_table_check_name(const char *name, struct nf_dlcbf_refusal *refusal);
struct nf_dlcbf_table *nf_dlcbf_table_create(struct nf_dlcbf_net *dn, const char *name,
					     const struct nf_dlcbf_config *config, u32 portid,
					     struct nf_dlcbf_refusal *refusal);
int nf_dlcbf_table_change(struct nf_dlcbf_table *table, const struct nf_dlcbf_config *config,
			  struct nf_dlcbf_refusal *refusal);
void nf_dlcbf_table_destroy(struct nf_dlcbf_table *table);
int nf_dlcbf_table_swap(struct nf_dlcbf_table *table, struct nf_dlcbf_table *other,
			struct nf_dlcbf_refusal *refusal);
int nf_dlcbf_table_publish(struct nf_dlcbf_net *dn, u32 portid, bool keep_counters,
			   struct nf_dlcbf_refusal *refusal);
void nf_dlcbf_table_drop_staged(struct nf_dlcbf_net *dn, u32 portid);
struct nf_dlcbf_filter *nf_dlcbf_table_get_filter(struct nf_dlcbf_table *table);

#endif /* NF_DLCBF_TABLE_H */
