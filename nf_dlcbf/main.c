// SPDX-License-Identifier: GPL-2.0
/*
 * Order of life.  In: workqueue, namespaces (with /proc), devices' notifier,
 * netlink.  Out: the reverse.  In each namespace hooks go before tables.
 */
#include <linux/module.h>
#include <linux/rcupdate.h>

#include "hook.h"
#include "main.h"
#include "netlink.h"
#include "proc.h"
#include "table.h"

unsigned int nf_dlcbf_net_id __read_mostly;
struct workqueue_struct *nf_dlcbf_workqueue;

static int __net_init net_init(struct net *net)
{
	struct nf_dlcbf_net *dn = nf_dlcbf_net(net);

	dn->net = net;
	mutex_init(&dn->lock);
	INIT_LIST_HEAD(&dn->tables);
	INIT_LIST_HEAD(&dn->points);
	dn->generation = 1;
	dn->next_id = 1;
	atomic64_set(&dn->memory, 0);
	return nf_dlcbf_proc_net_init(dn);
}

/* While the namespace's devices are still there. */
static void __net_exit net_pre_exit(struct net *net)
{
	struct nf_dlcbf_net *dn = nf_dlcbf_net(net);
	struct nf_dlcbf_table *table;

	mutex_lock(&dn->lock);
	dn->closing = true;
	list_for_each_entry(table, &dn->tables, list)
		nf_dlcbf_hook_remove_all(table);
	mutex_unlock(&dn->lock);
}

/* After a grace period: no packet is in a hook any more. */
static void __net_exit net_exit(struct net *net)
{
	struct nf_dlcbf_net *dn = nf_dlcbf_net(net);
	struct nf_dlcbf_table *table, *next;

	mutex_lock(&dn->lock);
	list_for_each_entry_safe(table, next, &dn->tables, list)
		nf_dlcbf_table_destroy(table);
	mutex_unlock(&dn->lock);
	nf_dlcbf_proc_net_exit(dn);
	WARN_ON_ONCE(atomic64_read(&dn->memory));
}

static struct pernet_operations net_ops = {
	.init = net_init,
	.pre_exit = net_pre_exit,
	.exit = net_exit,
	.id = &nf_dlcbf_net_id,
	.size = sizeof(struct nf_dlcbf_net),
};

static int __init nf_dlcbf_init(void)
{
	int err;

	nf_dlcbf_workqueue = alloc_workqueue("nf_dlcbf", WQ_UNBOUND, 0);
	if (!nf_dlcbf_workqueue)
		return -ENOMEM;
	err = register_pernet_subsys(&net_ops);
	if (err)
		goto err_workqueue;
	err = nf_dlcbf_hook_init();
	if (err)
		goto err_net;
	err = nf_dlcbf_netlink_init();
	if (err)
		goto err_hook;
	return 0;

err_hook:
	nf_dlcbf_hook_exit();
err_net:
	unregister_pernet_subsys(&net_ops);
err_workqueue:
	destroy_workqueue(nf_dlcbf_workqueue);
	return err;
}

static void __exit nf_dlcbf_exit(void)
{
	nf_dlcbf_netlink_exit();
	nf_dlcbf_hook_exit();
	unregister_pernet_subsys(&net_ops);
	/* Tables are freed by RCU callbacks, filters by work that those queue. */
	rcu_barrier();
	destroy_workqueue(nf_dlcbf_workqueue);
	rcu_barrier();
}

module_init(nf_dlcbf_init);
module_exit(nf_dlcbf_exit);

MODULE_AUTHOR("nf_dlcbf developers");
MODULE_DESCRIPTION("Count and filter network flows in bounded memory");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1.0");
