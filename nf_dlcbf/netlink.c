// SPDX-License-Identifier: GPL-2.0
/*
 * The generic netlink family: which message goes where, who may send it, and
 * what the other netlink files need to answer.
 *
 * The core checks every message against the policy of its command, strictly:
 * what a policy does not name is refused, and the core says which attribute it
 * was.  What is left to check by hand is what depends on a table.  Requests run
 * in parallel; changes of tables and hooks are serialised by nf_dlcbf_net.lock.
 */
#include <linux/netlink.h>
#include <linux/rculist.h>
#include <net/netlink.h>
#include <net/sock.h>

#include "netlink.h"
#include "netlink_internal.h"
#include "table.h"

static const struct genl_ops nf_dlcbf_nl_ops[] = {
	{
		.cmd = NF_DLCBF_CMD_TABLE_ADD,
		.flags = GENL_UNS_ADMIN_PERM,
		.doit = nf_dlcbf_nl_table_add,
		.policy = nf_dlcbf_nl_table_add_policy,
		.maxattr = NF_DLCBF_A_TABLE_MAX,
	},
	{
		.cmd = NF_DLCBF_CMD_TABLE_SET,
		.flags = GENL_UNS_ADMIN_PERM,
		.doit = nf_dlcbf_nl_table_set,
		.policy = nf_dlcbf_nl_table_set_policy,
		.maxattr = NF_DLCBF_A_TABLE_MAX,
	},
	{
		.cmd = NF_DLCBF_CMD_TABLE_DEL,
		.flags = GENL_UNS_ADMIN_PERM,
		.doit = nf_dlcbf_nl_table_del,
		.policy = nf_dlcbf_nl_table_del_policy,
		.maxattr = NF_DLCBF_A_TABLE_MAX,
	},
	{
		.cmd = NF_DLCBF_CMD_TABLE_GET,
		.doit = nf_dlcbf_nl_table_get,
		.start = nf_dlcbf_nl_table_dump_start,
		.dumpit = nf_dlcbf_nl_table_dump,
		.policy = nf_dlcbf_nl_table_name_policy,
		.maxattr = NF_DLCBF_A_TABLE_MAX,
	},
	{
		.cmd = NF_DLCBF_CMD_TABLE_FLUSH,
		.flags = GENL_UNS_ADMIN_PERM,
		.doit = nf_dlcbf_nl_table_flush,
		.policy = nf_dlcbf_nl_table_name_policy,
		.maxattr = NF_DLCBF_A_TABLE_MAX,
	},
	{
		.cmd = NF_DLCBF_CMD_TABLE_SWAP,
		.flags = GENL_UNS_ADMIN_PERM,
		.doit = nf_dlcbf_nl_table_swap,
		.policy = nf_dlcbf_nl_table_swap_policy,
		.maxattr = NF_DLCBF_A_TABLE_MAX,
	},
	{
		.cmd = NF_DLCBF_CMD_TABLE_PUBLISH,
		.flags = GENL_UNS_ADMIN_PERM,
		.doit = nf_dlcbf_nl_table_publish,
		.policy = nf_dlcbf_nl_table_publish_policy,
		.maxattr = NF_DLCBF_A_TABLE_MAX,
	},
	{
		.cmd = NF_DLCBF_CMD_HOOK_ADD,
		.flags = GENL_UNS_ADMIN_PERM,
		.doit = nf_dlcbf_nl_hook_add,
		.policy = nf_dlcbf_nl_hook_add_policy,
		.maxattr = NF_DLCBF_A_HOOK_MAX,
	},
	{
		.cmd = NF_DLCBF_CMD_HOOK_DEL,
		.flags = GENL_UNS_ADMIN_PERM,
		.doit = nf_dlcbf_nl_hook_del,
		.policy = nf_dlcbf_nl_hook_del_policy,
		.maxattr = NF_DLCBF_A_HOOK_MAX,
	},
	{
		.cmd = NF_DLCBF_CMD_HOOK_GET,
		.flags = GENL_UNS_ADMIN_PERM,
		.start = nf_dlcbf_nl_hook_dump_start,
		.dumpit = nf_dlcbf_nl_hook_dump,
		.policy = nf_dlcbf_nl_hook_get_policy,
		.maxattr = NF_DLCBF_A_HOOK_MAX,
	},
	{
		.cmd = NF_DLCBF_CMD_FLOW_ADD,
		.flags = GENL_UNS_ADMIN_PERM,
		.doit = nf_dlcbf_nl_flow_add,
		.policy = nf_dlcbf_nl_flow_add_policy,
		.maxattr = NF_DLCBF_A_FLOWS_MAX,
	},
	{
		.cmd = NF_DLCBF_CMD_FLOW_DEL,
		.flags = GENL_UNS_ADMIN_PERM,
		.doit = nf_dlcbf_nl_flow_del,
		.policy = nf_dlcbf_nl_flow_del_policy,
		.maxattr = NF_DLCBF_A_FLOWS_MAX,
	},
	{
		.cmd = NF_DLCBF_CMD_FLOW_GET,
		.flags = GENL_UNS_ADMIN_PERM,
		.doit = nf_dlcbf_nl_flow_get,
		.start = nf_dlcbf_nl_flow_dump_start,
		.dumpit = nf_dlcbf_nl_flow_dump,
		.done = nf_dlcbf_nl_flow_dump_done,
		.policy = nf_dlcbf_nl_flow_get_policy,
		.maxattr = NF_DLCBF_A_FLOWS_MAX,
	},
	{
		.cmd = NF_DLCBF_CMD_FLOW_RESET,
		.flags = GENL_UNS_ADMIN_PERM,
		.doit = nf_dlcbf_nl_flow_get,
		.start = nf_dlcbf_nl_flow_dump_start,
		.dumpit = nf_dlcbf_nl_flow_dump,
		.done = nf_dlcbf_nl_flow_dump_done,
		.policy = nf_dlcbf_nl_flow_get_policy,
		.maxattr = NF_DLCBF_A_FLOWS_MAX,
	},
};

static const struct genl_multicast_group nf_dlcbf_nl_groups[] = {
	[NF_DLCBF_NL_GROUP_TABLE] = {
		.name = NF_DLCBF_MCGRP_TABLE,
		NF_DLCBF_COMPAT_MCAST_ADMIN
	},
	[NF_DLCBF_NL_GROUP_FLOW] = {
		.name = NF_DLCBF_MCGRP_FLOW,
		NF_DLCBF_COMPAT_MCAST_ADMIN
	},
};

/*
 * With resv_start_op left at 0 the core validates reserved fields, flags and
 * attributes of all commands strictly.
 */
struct genl_family nf_dlcbf_nl_family __ro_after_init = {
	.name = NF_DLCBF_FAMILY_NAME,
	.version = NF_DLCBF_FAMILY_VERSION,
	.netnsok = true,
	.parallel_ops = true,
	.module = THIS_MODULE,
	.ops = nf_dlcbf_nl_ops,
	.n_ops = ARRAY_SIZE(nf_dlcbf_nl_ops),
	.mcgrps = nf_dlcbf_nl_groups,
	.n_mcgrps = ARRAY_SIZE(nf_dlcbf_nl_groups),
};

/**
 * nf_dlcbf_nl_refuse() - say in an acknowledgment what the table code refused
 * @extack:  of the request
 * @tb:      attributes of the request; NULL: none is to be named
 * @nest:    the attribute that @tb was nested in, NULL: the message itself
 * @refusal: why
 * @error:   its errno
 *
 * An attribute that is not in the request is named as missing.
 *
 * Context: any.
 * Return: @error.
 */
int nf_dlcbf_nl_refuse(struct netlink_ext_ack *extack, struct nlattr *const tb[],
		       const struct nlattr *nest, const struct nf_dlcbf_refusal *refusal,
		       int error)
{
	const int attribute = refusal->attribute;

	if (!extack)
		return error;
	if (refusal->message)
		nf_dlcbf_compat_extack_message(extack, refusal->message, refusal->detail);
	else if (error == -ENOMEM)
		NL_SET_ERR_MSG(extack, "not enough memory");
	else if (error == -ENODEV)
		NL_SET_ERR_MSG(extack, "the network namespace is going away");
	if (attribute && tb) {
		if (tb[attribute])
			NL_SET_BAD_ATTR(extack, tb[attribute]);
		else
			NL_SET_ERR_ATTR_MISS(extack, nest, attribute);
	}
	return error;
}

/**
 * nf_dlcbf_nl_require() - refuse a request that lacks an attribute
 * @extack:    of the request
 * @tb:        attributes of the request
 * @attribute: one that must be there
 * @message:   what is missing, in words; a string constant
 *
 * Context: any.
 * Return: 0, or -EINVAL.
 */
int nf_dlcbf_nl_require(struct netlink_ext_ack *extack, struct nlattr *const tb[], int attribute,
			const char *message)
{
	const struct nf_dlcbf_refusal refusal = { .message = message, .attribute = attribute };

	if (tb[attribute])
		return 0;
	return nf_dlcbf_nl_refuse(extack, tb, NULL, &refusal, -EINVAL);
}

/**
 * nf_dlcbf_nl_find_table() - find the table that a request names
 * @dn:     namespace
 * @name:   attribute with its name
 * @portid: the socket that staged it, 0 for a live one
 * @extack: of the request
 *
 * Context: RCU read side, or nf_dlcbf_net.lock held.
 * Return: the table, or NULL and @extack says why.
 */
struct nf_dlcbf_table *nf_dlcbf_nl_find_table(struct nf_dlcbf_net *dn, const struct nlattr *name,
					      u32 portid, struct netlink_ext_ack *extack)
{
	struct nf_dlcbf_table *table = nf_dlcbf_table_find(dn, nla_data(name), portid);

	if (table)
		return table;
	if (portid)
		NL_SET_ERR_MSG_ATTR(extack, name, "this socket staged no table of this name");
	else
		NL_SET_ERR_MSG_ATTR(extack, name, "there is no table of this name");
	return NULL;
}

/**
 * nf_dlcbf_nl_reply_start() - begin the reply to a request
 * @reply: set
 * @info:  the request
 * @size:  room for attributes
 *
 * To be called before a change is made, so that lack of memory undoes nothing.
 *
 * Context: process, may sleep.
 * Return: 0, or -ENOMEM.
 */
int nf_dlcbf_nl_reply_start(struct nf_dlcbf_nl_message *reply, const struct genl_info *info,
			    size_t size)
{
	reply->skb = genlmsg_new(size, GFP_KERNEL);
	if (!reply->skb) {
		NL_SET_ERR_MSG(info->extack, "no memory for the reply");
		return -ENOMEM;
	}
	reply->header = genlmsg_put(reply->skb, info->snd_portid, info->snd_seq,
				    &nf_dlcbf_nl_family, 0, info->genlhdr->cmd);
	/* genlmsg_new() made room for it. */
	if (WARN_ON_ONCE(!reply->header)) {
		nlmsg_free(reply->skb);
		return -EMSGSIZE;
	}
	return 0;
}

/**
 * nf_dlcbf_nl_reply_send() - end and send the reply to a request
 * @reply: begun by nf_dlcbf_nl_reply_start(); it is gone afterwards
 * @info:  the request
 *
 * Context: process.
 * Return: 0, or an errno of the sender's socket; what was asked is done.
 */
int nf_dlcbf_nl_reply_send(struct nf_dlcbf_nl_message *reply, struct genl_info *info)
{
	int err;

	genlmsg_end(reply->skb, reply->header);
	err = genlmsg_reply(reply->skb, info);
	if (err)
		NL_SET_ERR_MSG(info->extack, "done, but the socket has no room for the reply");
	return err;
}

/**
 * nf_dlcbf_nl_dump_put() - begin a message of a dump
 * @message: set
 * @skb:     buffer of the dump
 * @cb:      the dump
 * @cmd:     of the message
 *
 * Context: any.
 * Return: 0, or -EMSGSIZE.
 */
int nf_dlcbf_nl_dump_put(struct nf_dlcbf_nl_message *message, struct sk_buff *skb,
			 struct netlink_callback *cb, int cmd)
{
	message->skb = skb;
	message->header = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				      &nf_dlcbf_nl_family, NLM_F_MULTI, cmd);
	return message->header ? 0 : -EMSGSIZE;
}

/**
 * nf_dlcbf_nl_dump_end() - end a message of a dump
 * @message: begun by nf_dlcbf_nl_dump_put()
 * @cb:      the dump; its seq must be set
 *
 * Marks the message when what the dump walks was changed since the last one.
 * A change is told once, so this must not be done to a message that may still
 * be cancelled.
 *
 * Context: any.
 */
void nf_dlcbf_nl_dump_end(struct nf_dlcbf_nl_message *message, struct netlink_callback *cb)
{
	genl_dump_check_consistent(cb, message->header);
	genlmsg_end(message->skb, message->header);
}

/**
 * nf_dlcbf_nl_dump_attributes() - the attributes of a request for a dump
 * @cb:     the dump
 * @tb:     set
 * @max:    highest attribute
 * @policy: of the command
 *
 * The core has parsed them too, but where it keeps them differs from kernel to
 * kernel.
 *
 * Context: a dump's start.
 * Return: 0, or an errno.
 */
int nf_dlcbf_nl_dump_attributes(struct netlink_callback *cb, struct nlattr *tb[], int max,
				const struct nla_policy *policy)
{
	return genlmsg_parse(cb->nlh, &nf_dlcbf_nl_family, tb, max, policy, cb->extack);
}

/**
 * nf_dlcbf_nl_listeners() - may somebody listen to a group?
 * @net:   namespace
 * @group: which
 *
 * Context: any.
 * Return: false when certainly nobody does.
 */
bool nf_dlcbf_nl_listeners(struct net *net, enum nf_dlcbf_nl_group group)
{
	return genl_has_listeners(&nf_dlcbf_nl_family, net, group);
}

/**
 * nf_dlcbf_nl_notify_start() - begin a notification
 * @message: set
 * @cmd:     of the message
 * @size:    room for attributes
 * @gfp:     how to allocate
 *
 * Context: as @gfp allows.
 * Return: false when there is no memory.
 */
bool nf_dlcbf_nl_notify_start(struct nf_dlcbf_nl_message *message, int cmd, size_t size, gfp_t gfp)
{
	message->skb = genlmsg_new(size, gfp);
	if (!message->skb)
		return false;
	message->header = genlmsg_put(message->skb, 0, 0, &nf_dlcbf_nl_family, 0, cmd);
	return true;
}

/**
 * nf_dlcbf_nl_notify_send() - end and send a notification
 * @message: begun by nf_dlcbf_nl_notify_start(); it is gone afterwards
 * @net:     namespace
 * @group:   who gets it
 * @gfp:     how to allocate
 *
 * Context: as @gfp allows.
 * Return: false when somebody listens who did not get it and asked to be waited
 * for, or when there was no memory.
 */
bool nf_dlcbf_nl_notify_send(struct nf_dlcbf_nl_message *message, struct net *net,
			     enum nf_dlcbf_nl_group group, gfp_t gfp)
{
	int err;

	genlmsg_end(message->skb, message->header);
	err = genlmsg_multicast_netns(&nf_dlcbf_nl_family, net, message->skb, 0, group, gfp);
	/* Listeners are known of all namespaces together: none here is no loss. */
	return !err || err == -ESRCH;
}

/* Has the socket staged a table that is not live yet? */
static bool has_staged(struct nf_dlcbf_net *dn, u32 portid)
{
	struct nf_dlcbf_table *table;
	bool found = false;

	rcu_read_lock();
	list_for_each_entry_rcu(table, &dn->tables, list) {
		if (READ_ONCE(table->portid) == portid) {
			found = true;
			break;
		}
	}
	rcu_read_unlock();
	return found;
}

/*
 * A generic netlink socket closes, of any family.  Few have staged tables, and
 * the lock may be held for as long as it takes to make a large table, so look
 * before taking it.  No request of the socket is under way any more.
 */
static int release_notify(struct notifier_block *block, unsigned long event, void *data)
{
	const struct netlink_notify *notify = data;
	struct nf_dlcbf_net *dn;

	if (event != NETLINK_URELEASE || notify->protocol != NETLINK_GENERIC)
		return NOTIFY_DONE;
	dn = nf_dlcbf_net(notify->net);
	if (!has_staged(dn, notify->portid))
		return NOTIFY_DONE;

	/* The chain is a blocking one, and a socket is closed in process context. */
	mutex_lock(&dn->lock);
	nf_dlcbf_table_drop_staged(dn, notify->portid);
	mutex_unlock(&dn->lock);
	return NOTIFY_DONE;
}

static struct notifier_block release_notifier = {
	.notifier_call = release_notify,
};

/**
 * nf_dlcbf_netlink_init() - let userspace in
 *
 * Context: process, module init, after the namespaces' state was registered.
 * Return: 0, or an errno.
 */
int __init nf_dlcbf_netlink_init(void)
{
	int err;

	err = netlink_register_notifier(&release_notifier);
	if (err)
		return err;
	err = genl_register_family(&nf_dlcbf_nl_family);
	if (err)
		netlink_unregister_notifier(&release_notifier);
	return err;
}

/**
 * nf_dlcbf_netlink_exit() - no request comes in, and none is under way, after this
 *
 * Context: process, module exit, before the namespaces' state goes.
 */
void nf_dlcbf_netlink_exit(void)
{
	genl_unregister_family(&nf_dlcbf_nl_family);
	netlink_unregister_notifier(&release_notifier);
}
