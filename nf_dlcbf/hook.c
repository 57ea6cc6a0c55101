// SPDX-License-Identifier: GPL-2.0
/*
 * A packet's way: hook_packet() reads it once, hands it to each table at this
 * hook and priority in the order in which they were added, and does what the
 * first says that has an opinion.
 */
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/netfilter_netdev.h>
#include <linux/rculist.h>
#include <linux/slab.h>

#include "defrag.h"
#include "filter.h"
#include "hook.h"
#include "netlink.h"
#include "packet.h"
#include "table.h"

/**
 * struct nf_dlcbf_hook_point - one place in the kernel's lists of hooks
 * @list:   in nf_dlcbf_net.points
 * @hooks:  struct nf_dlcbf_hook, in order of evaluation; RCU
 * @dn:     namespace
 * @hook:   enum nf_dlcbf_hook
 * @device: of ingress; valid until NETDEV_UNREGISTER, which removes the point
 * @ops:    what is registered
 * @rcu:    frees it
 */
struct nf_dlcbf_hook_point {
	struct list_head list;
	struct list_head hooks;
	struct nf_dlcbf_net *dn;
	u32 hook;
	struct net_device *device;
	struct nf_hook_ops ops;
	struct rcu_head rcu;
};

/* ---- packets ---- */

static const struct nf_dlcbf_judgement judgement_continue = {
	.verdict = NF_DLCBF_VERDICT_CONTINUE,
};

static const struct nf_dlcbf_judgement judgement_accept = {
	.verdict = NF_DLCBF_VERDICT_ACCEPT,
};

static const struct nf_dlcbf_judgement judgement_drop = {
	.verdict = NF_DLCBF_VERDICT_DROP,
};

static bool other_family(const struct nf_dlcbf_filter *filter, const struct nf_dlcbf_packet *packet)
{
	return filter->layout.family != NF_DLCBF_FAMILY_INET &&
	       packet->tuple.family != (filter->layout.family == NF_DLCBF_FAMILY_IPV4 ? 4 : 6);
}

/* What the packet is to the table: the counter that it goes under. */
static enum nf_dlcbf_attr_stats classify(struct nf_dlcbf_filter *filter,
					 const struct nf_dlcbf_packet *packet,
					 struct nf_dlcbf_stats __percpu *stats)
{
	if (packet->depth != NF_DLCBF_DEPTH_NONE && other_family(filter, packet))
		return NF_DLCBF_A_STATS_OTHER_FAMILY;
	if (packet->depth < filter->layout.depth)
		return packet->reason;
	return (enum nf_dlcbf_attr_stats)nf_dlcbf_filter_packet(filter, packet, stats);
}

static const struct nf_dlcbf_judgement *judge_fragment(const struct nf_dlcbf_filter *filter,
						       const struct nf_dlcbf_hook *hook)
{
	switch (READ_ONCE(filter->config.fragments)) {
	case NF_DLCBF_FRAGMENTS_ACCEPT:
		return &judgement_accept;
	case NF_DLCBF_FRAGMENTS_DROP:
		return &judgement_drop;
	}
	return &hook->config.miss;
}

/*
 * An allow list must not cut off the neighbours whom it allows: without ARP and
 * neighbour discovery none of them can be reached.
 */
static bool spare_neighbour(const struct nf_dlcbf_filter *filter,
			    const struct nf_dlcbf_packet *packet,
			    const struct nf_dlcbf_judgement *judgement)
{
	return packet->neighbour && judgement->verdict == NF_DLCBF_VERDICT_DROP &&
	       !filter->config.judge_neighbours;
}

static const struct nf_dlcbf_judgement *judge(const struct nf_dlcbf_filter *filter,
					      const struct nf_dlcbf_hook *hook,
					      const struct nf_dlcbf_packet *packet,
					      enum nf_dlcbf_attr_stats *what)
{
	const struct nf_dlcbf_judgement *judgement = &hook->config.miss;

	switch (*what) {
	case NF_DLCBF_A_STATS_HIT:
		return &hook->config.hit;
	case NF_DLCBF_A_STATS_OTHER_FAMILY:
		return &judgement_continue;
	case NF_DLCBF_A_STATS_NOT_IP:
		if (packet->neighbour && filter->config.judge_neighbours)
			return judgement;
		return &judgement_continue;
	case NF_DLCBF_A_STATS_FRAGMENT:
		judgement = judge_fragment(filter, hook);
		break;
	default:
		break;
	}
	if (spare_neighbour(filter, packet, judgement)) {
		/* Learned it was all the same. */
		if (*what != NF_DLCBF_A_STATS_LEARNED)
			*what = NF_DLCBF_A_STATS_NEIGHBOUR;
		return &judgement_continue;
	}
	return judgement;
}

/* Return: enum nf_dlcbf_verdict, with the mark set where that was the verdict. */
static u32 apply(const struct nf_dlcbf_judgement *judgement, struct nf_dlcbf_table *table,
		 struct nf_dlcbf_packet *packet, struct sk_buff *skb)
{
	switch (judgement->verdict) {
	case NF_DLCBF_VERDICT_DROP:
		nf_dlcbf_stats_add(table->stats, NF_DLCBF_A_STATS_DROPPED, packet->packets);
		break;
	case NF_DLCBF_VERDICT_MARK:
		nf_dlcbf_stats_add(table->stats, NF_DLCBF_A_STATS_MARKED, packet->packets);
		skb->mark = (skb->mark & ~judgement->mask) | (judgement->mark & judgement->mask);
		packet->tuple.mark = skb->mark;
		return NF_DLCBF_VERDICT_CONTINUE;
	}
	return judgement->verdict;
}

static u32 hook_table(const struct nf_dlcbf_hook *hook, struct nf_dlcbf_packet *packet,
		      struct sk_buff *skb)
{
	struct nf_dlcbf_table *table = READ_ONCE(hook->table);
	struct nf_dlcbf_filter *filter = rcu_dereference(table->filter);
	const struct nf_dlcbf_judgement *judgement;
	enum nf_dlcbf_attr_stats what;

	/* A staged table is not there yet. */
	if (READ_ONCE(table->portid))
		return NF_DLCBF_VERDICT_CONTINUE;

	what = classify(filter, packet, table->stats);
	judgement = judge(filter, hook, packet, &what);
	nf_dlcbf_stats_add(table->stats, NF_DLCBF_A_STATS_PACKETS, packet->packets);
	nf_dlcbf_stats_add(table->stats, what, packet->packets);
	return apply(judgement, table, packet, skb);
}

static unsigned int hook_packet(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	const struct nf_dlcbf_hook_point *point = priv;
	const struct nf_dlcbf_hook *hook;
	struct nf_dlcbf_packet packet;

	nf_dlcbf_packet_read(&packet, skb, state);
	list_for_each_entry_rcu(hook, &point->hooks, point_list) {
		switch (hook_table(hook, &packet, skb)) {
		case NF_DLCBF_VERDICT_DROP:
			return NF_DROP;
		case NF_DLCBF_VERDICT_ACCEPT:
			return NF_ACCEPT;
		}
	}
	return NF_ACCEPT;
}

/* ---- points ---- */

static const u8 inet_hooks[] = {
	[NF_DLCBF_HOOK_PREROUTING]	= NF_INET_PRE_ROUTING,
	[NF_DLCBF_HOOK_INPUT]		= NF_INET_LOCAL_IN,
	[NF_DLCBF_HOOK_FORWARD]		= NF_INET_FORWARD,
	[NF_DLCBF_HOOK_OUTPUT]		= NF_INET_LOCAL_OUT,
	[NF_DLCBF_HOOK_POSTROUTING]	= NF_INET_POST_ROUTING,
};

static struct nf_dlcbf_hook_point *point_find(struct nf_dlcbf_net *dn,
					      const struct nf_dlcbf_hook_config *config,
					      const struct net_device *device)
{
	struct nf_dlcbf_hook_point *point;

	list_for_each_entry(point, &dn->points, list)
		if (point->hook == config->hook && point->ops.priority == config->priority &&
		    point->device == device)
			return point;
	return NULL;
}

static struct nf_dlcbf_hook_point *point_create(struct nf_dlcbf_net *dn,
						const struct nf_dlcbf_hook_config *config,
						struct net_device *device)
{
	struct nf_dlcbf_hook_point *point;
	int err;

	point = kzalloc(sizeof(*point), GFP_KERNEL_ACCOUNT);
	if (!point)
		return ERR_PTR(-ENOMEM);
	INIT_LIST_HEAD(&point->hooks);
	point->dn = dn;
	point->hook = config->hook;
	point->device = device;
	point->ops.hook = hook_packet;
	point->ops.priv = point;
	point->ops.priority = config->priority;
	if (device) {
		point->ops.pf = NFPROTO_NETDEV;
		point->ops.hooknum = NF_NETDEV_INGRESS;
		point->ops.dev = device;
	} else {
		point->ops.pf = NFPROTO_INET;
		point->ops.hooknum = inet_hooks[config->hook];
	}
	err = nf_register_net_hook(dn->net, &point->ops);
	if (err) {
		kfree(point);
		return ERR_PTR(err);
	}
	list_add_tail(&point->list, &dn->points);
	return point;
}

static void point_put(struct nf_dlcbf_hook_point *point)
{
	if (!list_empty(&point->hooks))
		return;
	nf_unregister_net_hook(point->dn->net, &point->ops);
	list_del(&point->list);
	kfree_rcu(point, rcu);
}

/* ---- tables at points ---- */

static bool wants_defrag(const struct nf_dlcbf_config *table,
			 const struct nf_dlcbf_hook_config *config)
{
	if (config->hook == NF_DLCBF_HOOK_INGRESS)
		return false;
	/*
	 * Before input the kernel puts datagrams together by itself, and then
	 * forgets of how many fragments, unless that was done before.
	 */
	return table->fields & (NF_DLCBF_FIELD_SPORT | NF_DLCBF_FIELD_DPORT) ||
	       config->hook == NF_DLCBF_HOOK_INPUT;
}

static int check_judgement(const struct nf_dlcbf_judgement *judgement, int attribute,
			   struct nf_dlcbf_refusal *refusal)
{
	if (judgement->verdict < NF_DLCBF_VERDICT_CONTINUE ||
	    judgement->verdict > NF_DLCBF_VERDICT_MARK)
		return nf_dlcbf_refuse(refusal, -EINVAL, attribute, "no such verdict");
	if (judgement->verdict == NF_DLCBF_VERDICT_MARK && judgement->mark & ~judgement->mask)
		return nf_dlcbf_refuse(refusal, -EINVAL, attribute,
				       "the mark has bits that its mask has not");
	return 0;
}

/**
 * nf_dlcbf_hook_check_fields() - can a key be made at a hook?
 * @fields:  enum nf_dlcbf_field
 * @hook:    enum nf_dlcbf_hook
 * @refusal: set when not
 *
 * A field that is always 0 would make a table that silently does nothing.
 *
 * Context: any.
 * Return: 0, or -EINVAL.
 */
int nf_dlcbf_hook_check_fields(u32 fields, u32 hook, struct nf_dlcbf_refusal *refusal)
{
	if (fields & NF_DLCBF_FIELD_OIF &&
	    (hook == NF_DLCBF_HOOK_PREROUTING || hook == NF_DLCBF_HOOK_INPUT ||
	     hook == NF_DLCBF_HOOK_INGRESS))
		return nf_dlcbf_refuse(refusal, -EINVAL, NF_DLCBF_A_HOOK_HOOK,
				       "the table's key has oif, which is not known at this hook");
	if (fields & NF_DLCBF_FIELD_IIF && hook == NF_DLCBF_HOOK_OUTPUT)
		return nf_dlcbf_refuse(refusal, -EINVAL, NF_DLCBF_A_HOOK_HOOK,
				       "the table's key has iif, which is not known at this hook");
	return 0;
}

static int check_config(const struct nf_dlcbf_hook_config *config, u32 fields,
			struct nf_dlcbf_refusal *refusal)
{
	const bool ingress = config->hook == NF_DLCBF_HOOK_INGRESS;
	int err;

	if (config->hook < NF_DLCBF_HOOK_PREROUTING || config->hook > NF_DLCBF_HOOK_INGRESS)
		return nf_dlcbf_refuse(refusal, -EINVAL, NF_DLCBF_A_HOOK_HOOK, "no such hook");
	if (ingress && !config->device[0])
		return nf_dlcbf_refuse(refusal, -EINVAL, NF_DLCBF_A_HOOK_DEVICE,
				       "hook ingress needs a device");
	if (!ingress && config->device[0])
		return nf_dlcbf_refuse(refusal, -EINVAL, NF_DLCBF_A_HOOK_DEVICE,
				       "only hook ingress takes a device");
	err = check_judgement(&config->hit, NF_DLCBF_A_HOOK_HIT, refusal);
	if (!err)
		err = check_judgement(&config->miss, NF_DLCBF_A_HOOK_MISS, refusal);
	if (!err)
		err = nf_dlcbf_hook_check_fields(fields, config->hook, refusal);
	return err;
}

/**
 * nf_dlcbf_hook_find() - a table's hook
 * @table:  table
 * @config: hook, priority and device are compared
 *
 * Context: nf_dlcbf_net.lock held.
 * Return: the hook, or NULL.
 */
struct nf_dlcbf_hook *nf_dlcbf_hook_find(struct nf_dlcbf_table *table,
					 const struct nf_dlcbf_hook_config *config)
{
	struct nf_dlcbf_hook *hook;

	list_for_each_entry(hook, &table->hooks, table_list)
		if (hook->config.hook == config->hook &&
		    hook->config.priority == config->priority &&
		    !strncmp(nf_dlcbf_hook_device(hook), config->device, IFNAMSIZ))
			return hook;
	return NULL;
}

static bool same_judgement(const struct nf_dlcbf_judgement *a, const struct nf_dlcbf_judgement *b)
{
	if (a->verdict != b->verdict)
		return false;
	return a->verdict != NF_DLCBF_VERDICT_MARK || (a->mark == b->mark && a->mask == b->mask);
}

static bool same_judgements(const struct nf_dlcbf_hook_config *a,
			    const struct nf_dlcbf_hook_config *b)
{
	return same_judgement(&a->hit, &b->hit) && same_judgement(&a->miss, &b->miss);
}

/* With a reference to the device where there is one. */
static int find_device(struct nf_dlcbf_net *dn, const struct nf_dlcbf_hook_config *config,
		       struct net_device **device, struct nf_dlcbf_refusal *refusal)
{
	*device = NULL;
	if (config->hook != NF_DLCBF_HOOK_INGRESS)
		return 0;
	*device = dev_get_by_name(dn->net, config->device);
	if (!*device)
		return nf_dlcbf_refuse(refusal, -ENODEV, NF_DLCBF_A_HOOK_DEVICE,
				       "no such device");
	return 0;
}

static int attach(struct nf_dlcbf_table *table, struct nf_dlcbf_hook *hook,
		  struct net_device *device, struct nf_dlcbf_refusal *refusal)
{
	struct nf_dlcbf_net *dn = table->dn;
	struct nf_dlcbf_hook_point *point = point_find(dn, &hook->config, device);

	if (!point)
		point = point_create(dn, &hook->config, device);
	if (IS_ERR(point))
		return nf_dlcbf_refuse(refusal, PTR_ERR(point), NF_DLCBF_A_HOOK_HOOK,
				       "the kernel refused the hook");
	hook->point = point;
	hook->table = table;
	list_add_tail_rcu(&hook->point_list, &point->hooks);
	list_add_tail(&hook->table_list, &table->hooks);

	/*
	 * A device that begins to go after this test finds the point, in
	 * device_event(), once nf_dlcbf_net.lock is free.
	 */
	if (device && READ_ONCE(device->reg_state) != NETREG_REGISTERED) {
		list_del(&hook->table_list);
		list_del_rcu(&hook->point_list);
		point_put(point);
		return nf_dlcbf_refuse(refusal, -ENODEV, NF_DLCBF_A_HOOK_DEVICE,
				       "the device is going away");
	}
	return 0;
}

/**
 * nf_dlcbf_hook_add() - put a table at a hook
 * @table:   table
 * @config:  where, and what to do
 * @exist:   that the same hook is there already is no error
 * @refusal: set when it was not done
 *
 * Context: process, may sleep, nf_dlcbf_net.lock held.
 * Return: 0; -EEXIST, -EINVAL, -ENODEV, -ENOMEM, -EOPNOTSUPP with @refusal.
 */
int nf_dlcbf_hook_add(struct nf_dlcbf_table *table, const struct nf_dlcbf_hook_config *config,
		      bool exist, struct nf_dlcbf_refusal *refusal)
{
	struct nf_dlcbf_net *dn = table->dn;
	const struct nf_dlcbf_filter *filter;
	struct net_device *device;
	struct nf_dlcbf_hook *hook;
	int err;

	if (dn->closing)
		return -ENODEV;
	filter = rcu_dereference_protected(table->filter, lockdep_is_held(&dn->lock));
	err = check_config(config, filter->config.fields, refusal);
	if (err)
		return err;
	hook = nf_dlcbf_hook_find(table, config);
	if (hook) {
		if (exist && same_judgements(&hook->config, config))
			return 0;
		return nf_dlcbf_refuse(refusal, -EEXIST, NF_DLCBF_A_HOOK_HOOK,
				       "the table is at this hook and priority already");
	}

	hook = kzalloc(sizeof(*hook), GFP_KERNEL_ACCOUNT);
	if (!hook)
		return -ENOMEM;
	hook->config = *config;
	err = find_device(dn, config, &device, refusal);
	if (err)
		goto err_free;
	if (wants_defrag(&filter->config, config)) {
		hook->defrag_family = filter->config.family;
		err = nf_dlcbf_defrag_enable(dn->net, hook->defrag_family);
		if (err) {
			nf_dlcbf_refuse(refusal, err, NF_DLCBF_A_HOOK_HOOK,
					"the table's key has ports, and the kernel's defragmentation cannot be had");
			goto err_put;
		}
	}
	err = attach(table, hook, device, refusal);
	if (err)
		goto err_defrag;
	dev_put(device);
	WRITE_ONCE(dn->generation, dn->generation + 1 ?: 1);
	if (!table->portid)
		nf_dlcbf_notify_hook(hook, NF_DLCBF_CMD_HOOK_ADD_NTF, GFP_KERNEL);
	return 0;

err_defrag:
	if (hook->defrag_family)
		nf_dlcbf_defrag_disable(dn->net, hook->defrag_family);
err_put:
	dev_put(device);
err_free:
	/* It may have been in a list for a moment. */
	kfree_rcu(hook, rcu);
	return err;
}

/**
 * nf_dlcbf_hook_remove() - take a table from a hook
 * @hook: freed by this
 *
 * Packets that are in the hook now may still be judged.
 *
 * Context: process, may sleep, nf_dlcbf_net.lock held.
 */
void nf_dlcbf_hook_remove(struct nf_dlcbf_hook *hook)
{
	struct nf_dlcbf_net *dn = hook->table->dn;

	if (!hook->table->portid)
		nf_dlcbf_notify_hook(hook, NF_DLCBF_CMD_HOOK_DEL_NTF, GFP_KERNEL);
	list_del(&hook->table_list);
	list_del_rcu(&hook->point_list);
	point_put(hook->point);
	if (hook->defrag_family)
		nf_dlcbf_defrag_disable(dn->net, hook->defrag_family);
	WRITE_ONCE(dn->generation, dn->generation + 1 ?: 1);
	kfree_rcu(hook, rcu);
}

/* Take a table from all its hooks.  Context: as nf_dlcbf_hook_remove(). */
void nf_dlcbf_hook_remove_all(struct nf_dlcbf_table *table)
{
	struct nf_dlcbf_hook *hook, *next;

	list_for_each_entry_safe(hook, next, &table->hooks, table_list)
		nf_dlcbf_hook_remove(hook);
}

/**
 * nf_dlcbf_hook_move_all() - replace a table's hooks by those of another
 * @from: staged table, left without hooks
 * @to:   live table; hooks of its own that @from has too stay as they are
 *
 * Context: process, may sleep, nf_dlcbf_net.lock held.
 */
void nf_dlcbf_hook_move_all(struct nf_dlcbf_table *from, struct nf_dlcbf_table *to)
{
	struct nf_dlcbf_hook *hook, *next, *same;
	LIST_HEAD(old);

	list_splice_init(&to->hooks, &old);
	list_for_each_entry_safe(hook, next, &from->hooks, table_list) {
		list_for_each_entry(same, &old, table_list)
			if (same->point == hook->point &&
			    same_judgements(&same->config, &hook->config))
				break;
		if (!list_entry_is_head(same, &old, table_list)) {
			list_move_tail(&same->table_list, &to->hooks);
			nf_dlcbf_hook_remove(hook);
			continue;
		}
		list_move_tail(&hook->table_list, &to->hooks);
		WRITE_ONCE(hook->table, to);
		nf_dlcbf_notify_hook(hook, NF_DLCBF_CMD_HOOK_ADD_NTF, GFP_KERNEL);
	}
	list_for_each_entry_safe(hook, next, &old, table_list)
		nf_dlcbf_hook_remove(hook);
}

/* The current name of a hook's device, "" without.  Context: nf_dlcbf_net.lock held. */
const char *nf_dlcbf_hook_device(const struct nf_dlcbf_hook *hook)
{
	return hook->point->device ? hook->point->device->name : "";
}

/* Context: nf_dlcbf_net.lock held. */
u32 nf_dlcbf_hook_count(const struct nf_dlcbf_table *table)
{
	const struct nf_dlcbf_hook *hook;
	u32 count = 0;

	list_for_each_entry(hook, &table->hooks, table_list)
		count++;
	return count;
}

/* ---- devices that go ---- */

static int device_event(struct notifier_block *block, unsigned long event, void *info)
{
	struct net_device *device = netdev_notifier_info_to_dev(info);
	struct nf_dlcbf_net *dn = nf_dlcbf_net(dev_net(device));
	struct nf_dlcbf_hook_point *point, *next_point;
	struct nf_dlcbf_hook *hook, *next;

	if (event != NETDEV_UNREGISTER)
		return NOTIFY_DONE;
	mutex_lock(&dn->lock);
	list_for_each_entry_safe(point, next_point, &dn->points, list) {
		bool last = false;

		if (point->device != device)
			continue;
		/* The point goes with its last hook. */
		list_for_each_entry_safe(hook, next, &point->hooks, point_list) {
			last = list_is_last(&hook->point_list, &point->hooks);
			nf_dlcbf_hook_remove(hook);
			if (last)
				break;
		}
	}
	mutex_unlock(&dn->lock);
	return NOTIFY_DONE;
}

static struct notifier_block device_notifier = {
	.notifier_call = device_event,
};

int nf_dlcbf_hook_init(void)
{
	return register_netdevice_notifier(&device_notifier);
}

void nf_dlcbf_hook_exit(void)
{
	unregister_netdevice_notifier(&device_notifier);
}
