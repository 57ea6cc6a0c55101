// SPDX-License-Identifier: GPL-2.0
#include <linux/ctype.h>
#include <linux/rculist.h>
#include <linux/slab.h>

#include "filter.h"
#include "hook.h"
#include "netlink.h"
#include "proc.h"
#include "table.h"

static struct nf_dlcbf_filter *filter_of(const struct nf_dlcbf_table *table)
{
	return rcu_dereference_protected(table->filter, lockdep_is_held(&table->dn->lock));
}

/* Tell dumps that what they walk has changed.  0 is what they begin with. */
static void changed(struct nf_dlcbf_net *dn)
{
	WRITE_ONCE(dn->generation, dn->generation + 1 ?: 1);
}

/**
 * nf_dlcbf_table_find() - a table by its name
 * @dn:     namespace
 * @name:   name
 * @portid: netlink socket whose staged table is meant, or 0 for a live one
 *
 * Context: RCU read side, or nf_dlcbf_net.lock held.
 * Return: the table, or NULL.
 */
struct nf_dlcbf_table *nf_dlcbf_table_find(struct nf_dlcbf_net *dn, const char *name, u32 portid)
{
	struct nf_dlcbf_table *table;

	list_for_each_entry_rcu(table, &dn->tables, list, lockdep_is_held(&dn->lock))
		if (READ_ONCE(table->portid) == portid && !strcmp(table->name, name))
			return table;
	return NULL;
}

/**
 * nf_dlcbf_table_check_name() - may a table have this name?
 * @name:    name
 * @refusal: set when not
 *
 * A table's name is that of a directory beside /proc/net/nf_dlcbf/tables, and a
 * word in files and on command lines.
 *
 * Context: any.
 * Return: 0, -EINVAL or -ENAMETOOLONG.
 */
int nf_dlcbf_table_check_name(const char *name, struct nf_dlcbf_refusal *refusal)
{
	const char *c;

	if (!*name)
		return nf_dlcbf_refuse(refusal, -EINVAL, NF_DLCBF_A_TABLE_NAME,
				       "a table's name may not be empty");
	if (strlen(name) > NF_DLCBF_NAME_MAX)
		return nf_dlcbf_refuse(refusal, -ENAMETOOLONG, NF_DLCBF_A_TABLE_NAME,
				       "a table's name has at most 31 characters");
	for (c = name; *c; c++) {
		if (*c == '/')
			return nf_dlcbf_refuse(refusal, -EINVAL, NF_DLCBF_A_TABLE_NAME,
					       "a table's name may not contain a slash");
		if (!isascii(*c) || !isgraph(*c))
			return nf_dlcbf_refuse(refusal, -EINVAL, NF_DLCBF_A_TABLE_NAME,
					       "a table's name may contain only printable ASCII characters and no space");
	}
	if (!strcmp(name, ".") || !strcmp(name, "..") || !strcmp(name, "tables"))
		return nf_dlcbf_refuse(refusal, -EINVAL, NF_DLCBF_A_TABLE_NAME,
				       "a table may not be called \".\", \"..\" or \"tables\"");
	return 0;
}

static void free_table(struct rcu_head *rcu)
{
	struct nf_dlcbf_table *table = container_of(rcu, struct nf_dlcbf_table, rcu);

	free_percpu(table->stats);
	kfree(table);
}

/**
 * nf_dlcbf_table_create() - make a table
 * @dn:      namespace
 * @name:    its name
 * @wanted:  settings; what is 0 there is chosen
 * @portid:  netlink socket that stages it, or 0 for a live table
 * @refusal: set when it was not made
 *
 * Context: process, may sleep, nf_dlcbf_net.lock held.
 * Return: the table, or an ERR_PTR: -EEXIST, -EINVAL, -ENAMETOOLONG, -ENOMEM,
 * -ERANGE, -ENODEV (the namespace is going away).
 */
struct nf_dlcbf_table *nf_dlcbf_table_create(struct nf_dlcbf_net *dn, const char *name,
					     const struct nf_dlcbf_config *wanted, u32 portid,
					     struct nf_dlcbf_refusal *refusal)
{
	struct nf_dlcbf_config config = *wanted;
	struct nf_dlcbf_filter *filter;
	struct nf_dlcbf_table *table;
	int err;

	if (dn->closing)
		return ERR_PTR(-ENODEV);
	err = nf_dlcbf_table_check_name(name, refusal);
	if (err)
		return ERR_PTR(err);
	if (nf_dlcbf_table_find(dn, name, portid))
		return ERR_PTR(nf_dlcbf_refuse(refusal, -EEXIST, NF_DLCBF_A_TABLE_NAME,
					       "a table of this name exists"));
	err = nf_dlcbf_config_complete(&config, refusal);
	if (err)
		return ERR_PTR(err);

	table = kzalloc(sizeof(*table), GFP_KERNEL_ACCOUNT);
	if (!table)
		return ERR_PTR(-ENOMEM);
	table->stats = nf_dlcbf_stats_alloc();
	if (!table->stats) {
		err = -ENOMEM;
		goto err_free;
	}
	filter = nf_dlcbf_filter_create(dn, &config, refusal);
	if (IS_ERR(filter)) {
		err = PTR_ERR(filter);
		goto err_stats;
	}
	strscpy(table->name, name, sizeof(table->name));
	table->dn = dn;
	table->id = dn->next_id++;
	table->portid = portid;
	INIT_LIST_HEAD(&table->hooks);
	RCU_INIT_POINTER(table->filter, filter);
	if (!portid) {
		err = nf_dlcbf_proc_table_add(table);
		if (err)
			goto err_filter;
	}
	rcu_assign_pointer(filter->table, table);
	list_add_tail_rcu(&table->list, &dn->tables);
	changed(dn);
	if (!portid)
		nf_dlcbf_notify_table(table, NF_DLCBF_CMD_TABLE_ADD_NTF, GFP_KERNEL);
	return table;

err_filter:
	nf_dlcbf_filter_stop(filter);
err_stats:
	free_percpu(table->stats);
err_free:
	kfree(table);
	return ERR_PTR(err);
}

/**
 * nf_dlcbf_table_change() - change settings of a table
 * @table:   table
 * @config:  its settings, of which only those marked so may differ
 * @refusal: set when they were not changed
 *
 * Context: process, may sleep, nf_dlcbf_net.lock held.
 * Return: 0, -EINVAL, or -ENOMEM.
 */
int nf_dlcbf_table_change(struct nf_dlcbf_table *table, const struct nf_dlcbf_config *config,
			  struct nf_dlcbf_refusal *refusal)
{
	struct nf_dlcbf_filter *filter = filter_of(table);
	int err;

	err = nf_dlcbf_config_check_changeable(config, refusal);
	if (err)
		return err;
	if (config->events) {
		err = nf_dlcbf_event_queue_enable(&filter->queue);
		if (err)
			return nf_dlcbf_refuse(refusal, err, NF_DLCBF_A_TABLE_EVENTS,
					       "not enough memory for the queue of events");
	}
	filter->config.learn = config->learn;
	filter->config.events = config->events;
	filter->config.on_full = config->on_full;
	WRITE_ONCE(filter->config.fragments, config->fragments);
	filter->config.timeout_ms = config->timeout_ms;
	nf_dlcbf_filter_apply(filter);
	nf_dlcbf_notify_table(table, NF_DLCBF_CMD_TABLE_SET_NTF, GFP_KERNEL);
	return 0;
}

/**
 * nf_dlcbf_table_destroy() - take a table away
 * @table: table, its hooks and all
 *
 * Packets first: its hooks go, then its files, then its name, and when none can
 * see it any more its memory.
 *
 * Context: process, may sleep, nf_dlcbf_net.lock held.
 */
void nf_dlcbf_table_destroy(struct nf_dlcbf_table *table)
{
	nf_dlcbf_hook_remove_all(table);
	nf_dlcbf_proc_table_remove(table);
	if (!table->portid)
		nf_dlcbf_notify_table(table, NF_DLCBF_CMD_TABLE_DEL_NTF, GFP_KERNEL);
	list_del_rcu(&table->list);
	changed(table->dn);
	nf_dlcbf_filter_stop(filter_of(table));
	call_rcu(&table->rcu, free_table);
}

/* Every hook of @table must be able to make the keys of @filter. */
static int check_hooks(const struct nf_dlcbf_table *table, const struct nf_dlcbf_filter *filter,
		       struct nf_dlcbf_refusal *refusal)
{
	const struct nf_dlcbf_hook *hook;

	list_for_each_entry(hook, &table->hooks, table_list) {
		if (nf_dlcbf_hook_check_fields(filter->config.fields, hook->config.hook, refusal))
			return nf_dlcbf_refuse(refusal, -EINVAL, NF_DLCBF_A_TABLE_OTHER,
					       "a table's hook does not know a field of the other's key");
	}
	return 0;
}

static void exchange(struct nf_dlcbf_table *table, struct nf_dlcbf_table *other)
{
	struct nf_dlcbf_filter *filter = filter_of(table);

	rcu_assign_pointer(table->filter, filter_of(other));
	rcu_assign_pointer(other->filter, filter);
	rcu_assign_pointer(filter_of(table)->table, table);
	rcu_assign_pointer(filter_of(other)->table, other);
}

/**
 * nf_dlcbf_table_swap() - exchange the contents of two tables
 * @table:   one
 * @other:   the other; names, hooks and counters of packets stay where they are
 * @refusal: set when they were not exchanged
 *
 * Each packet sees either the old or the new contents of a table, never none.
 *
 * Context: process, nf_dlcbf_net.lock held.
 * Return: 0, or -EINVAL.
 */
int nf_dlcbf_table_swap(struct nf_dlcbf_table *table, struct nf_dlcbf_table *other,
			struct nf_dlcbf_refusal *refusal)
{
	int err;

	if (table == other)
		return nf_dlcbf_refuse(refusal, -EINVAL, NF_DLCBF_A_TABLE_OTHER,
				       "a table cannot be swapped with itself");
	err = check_hooks(table, filter_of(other), refusal);
	if (!err)
		err = check_hooks(other, filter_of(table), refusal);
	if (err)
		return err;
	exchange(table, other);
	changed(table->dn);
	nf_dlcbf_notify_table(table, NF_DLCBF_CMD_TABLE_SWAP_NTF, GFP_KERNEL);
	nf_dlcbf_notify_table(other, NF_DLCBF_CMD_TABLE_SWAP_NTF, GFP_KERNEL);
	return 0;
}

/* All that can fail, for all staged tables, before anything is changed. */
static int prepare_publish(struct nf_dlcbf_net *dn, u32 portid, struct nf_dlcbf_refusal *refusal)
{
	struct nf_dlcbf_table *staged, *live;
	int err = 0;

	list_for_each_entry(staged, &dn->tables, list) {
		if (staged->portid != portid)
			continue;
		live = nf_dlcbf_table_find(dn, staged->name, 0);
		if (!live)
			err = nf_dlcbf_proc_table_add(staged);
		else if (list_empty(&staged->hooks))
			err = check_hooks(live, filter_of(staged), refusal);
		if (err)
			goto undo;
	}
	return 0;

undo:
	list_for_each_entry_continue_reverse(staged, &dn->tables, list)
		if (staged->portid == portid)
			nf_dlcbf_proc_table_remove(staged);
	return err;
}

static void adopt_counters(struct nf_dlcbf_table *live, struct nf_dlcbf_table *staged)
{
	/* Packets that still see the old contents count there until this ends. */
	synchronize_rcu();
	nf_dlcbf_filter_adopt_counters(filter_of(live), filter_of(staged));
}

/**
 * nf_dlcbf_table_publish() - make a socket's staged tables live
 * @dn:            namespace
 * @portid:        netlink socket
 * @keep_counters: flows that a table had before keep their packets and bytes
 * @refusal:       set when nothing was changed
 *
 * A table that exists gets the contents of the staged one, and its hooks if the
 * staged one has any.
 *
 * Context: process, may sleep, nf_dlcbf_net.lock held.
 * Return: 0, -ENOENT (nothing is staged), -EINVAL, or -ENOMEM.
 */
int nf_dlcbf_table_publish(struct nf_dlcbf_net *dn, u32 portid, bool keep_counters,
			   struct nf_dlcbf_refusal *refusal)
{
	struct nf_dlcbf_table *staged, *next, *live;
	bool any = false;
	int err;

	list_for_each_entry(staged, &dn->tables, list)
		any |= staged->portid == portid;
	if (!any)
		return nf_dlcbf_refuse(refusal, -ENOENT, 0, "this socket has staged no table");
	err = prepare_publish(dn, portid, refusal);
	if (err)
		return err;

	/* First all at once, then what may take its time. */
	list_for_each_entry(staged, &dn->tables, list) {
		if (staged->portid != portid)
			continue;
		live = nf_dlcbf_table_find(dn, staged->name, 0);
		if (live)
			exchange(live, staged);
		else
			WRITE_ONCE(staged->portid, 0);
	}
	changed(dn);
	list_for_each_entry_safe(staged, next, &dn->tables, list) {
		if (staged->portid != portid)
			continue;
		live = nf_dlcbf_table_find(dn, staged->name, 0);
		if (!list_empty(&staged->hooks))
			nf_dlcbf_hook_move_all(staged, live);
		if (keep_counters)
			adopt_counters(live, staged);
		nf_dlcbf_notify_table(live, NF_DLCBF_CMD_TABLE_SWAP_NTF, GFP_KERNEL);
		nf_dlcbf_table_destroy(staged);
	}
	return 0;
}

/* The socket closed: its staged tables go.  Context: process, nf_dlcbf_net.lock held. */
void nf_dlcbf_table_drop_staged(struct nf_dlcbf_net *dn, u32 portid)
{
	struct nf_dlcbf_table *table, *next;

	list_for_each_entry_safe(table, next, &dn->tables, list)
		if (portid && table->portid == portid)
			nf_dlcbf_table_destroy(table);
}

/**
 * nf_dlcbf_table_get_filter() - a reference to a table's contents
 * @table: table
 *
 * They stay readable, and become out of date when the table gets others.
 *
 * Context: RCU read side, or nf_dlcbf_net.lock held.
 * Return: contents, for nf_dlcbf_filter_put(); NULL when the table is going.
 */
struct nf_dlcbf_filter *nf_dlcbf_table_get_filter(struct nf_dlcbf_table *table)
{
	struct nf_dlcbf_filter *filter;

	filter = rcu_dereference_check(table->filter, lockdep_is_held(&table->dn->lock));
	return nf_dlcbf_filter_get(filter) ? filter : NULL;
}
