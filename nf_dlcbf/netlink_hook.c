// SPDX-License-Identifier: GPL-2.0
/* Hooks over netlink: HOOK_* requests and notifications. */
#include <linux/netlink.h>
#include <net/netlink.h>
#include <net/sock.h>

#include "hook.h"
#include "netlink.h"
#include "netlink_internal.h"
#include "table.h"

#define NAME_POLICY	{ .type = NLA_NUL_STRING, .len = NF_DLCBF_NAME_MAX }
#define DEVICE_POLICY	{ .type = NLA_NUL_STRING, .len = IFNAMSIZ - 1 }
#define HOOK_POLICY \
	NLA_POLICY_RANGE(NLA_U32, NF_DLCBF_HOOK_PREROUTING, NF_DLCBF_HOOK_INGRESS)
#define VERDICT_POLICY \
	NLA_POLICY_RANGE(NLA_U32, NF_DLCBF_VERDICT_CONTINUE, NF_DLCBF_VERDICT_MARK)

const struct nla_policy nf_dlcbf_nl_hook_add_policy[NF_DLCBF_A_HOOK_MAX + 1] = {
	[NF_DLCBF_A_HOOK_TABLE] = NAME_POLICY,
	[NF_DLCBF_A_HOOK_HOOK] = HOOK_POLICY,
	[NF_DLCBF_A_HOOK_PRIORITY] = { .type = NLA_S32 },
	[NF_DLCBF_A_HOOK_DEVICE] = DEVICE_POLICY,
	[NF_DLCBF_A_HOOK_HIT] = VERDICT_POLICY,
	[NF_DLCBF_A_HOOK_HIT_MARK] = { .type = NLA_U32 },
	[NF_DLCBF_A_HOOK_HIT_MASK] = NLA_POLICY_MIN(NLA_U32, 1),
	[NF_DLCBF_A_HOOK_MISS] = VERDICT_POLICY,
	[NF_DLCBF_A_HOOK_MISS_MARK] = { .type = NLA_U32 },
	[NF_DLCBF_A_HOOK_MISS_MASK] = NLA_POLICY_MIN(NLA_U32, 1),
	[NF_DLCBF_A_HOOK_STAGED] = { .type = NLA_FLAG },
	[NF_DLCBF_A_HOOK_EXIST] = { .type = NLA_FLAG },
};

const struct nla_policy nf_dlcbf_nl_hook_del_policy[NF_DLCBF_A_HOOK_MAX + 1] = {
	[NF_DLCBF_A_HOOK_TABLE] = NAME_POLICY,
	[NF_DLCBF_A_HOOK_HOOK] = HOOK_POLICY,
	[NF_DLCBF_A_HOOK_PRIORITY] = { .type = NLA_S32 },
	[NF_DLCBF_A_HOOK_DEVICE] = DEVICE_POLICY,
	[NF_DLCBF_A_HOOK_EXIST] = { .type = NLA_FLAG },
};

const struct nla_policy nf_dlcbf_nl_hook_get_policy[NF_DLCBF_A_HOOK_MAX + 1] = {
	[NF_DLCBF_A_HOOK_TABLE] = NAME_POLICY,
};

/* ---- requests ---- */

/* The attributes of one verdict, and what to say of them. */
struct judgement_words {
	int verdict;
	int mark;
	int mask;
	const char *no_mark;
	const char *needless;
	const char *outside;
};

static const struct judgement_words hit_words = {
	.verdict = NF_DLCBF_A_HOOK_HIT,
	.mark = NF_DLCBF_A_HOOK_HIT_MARK,
	.mask = NF_DLCBF_A_HOOK_HIT_MASK,
	.no_mark = "hit mark needs a mark to set",
	.needless = "a mark or mask on hit needs the verdict mark on hit",
	.outside = "the mark on hit has bits that its mask lacks",
};

static const struct judgement_words miss_words = {
	.verdict = NF_DLCBF_A_HOOK_MISS,
	.mark = NF_DLCBF_A_HOOK_MISS_MARK,
	.mask = NF_DLCBF_A_HOOK_MISS_MASK,
	.no_mark = "miss mark needs a mark to set",
	.needless = "a mark or mask on miss needs the verdict mark on miss",
	.outside = "the mark on miss has bits that its mask lacks",
};

static int read_judgement(struct nlattr *const tb[], const struct judgement_words *words,
			  struct nf_dlcbf_judgement *judgement, struct nf_dlcbf_refusal *refusal)
{
	judgement->verdict = tb[words->verdict] ? nla_get_u32(tb[words->verdict]) :
						  NF_DLCBF_VERDICT_CONTINUE;
	judgement->mark = 0;
	judgement->mask = 0;
	if (judgement->verdict != NF_DLCBF_VERDICT_MARK) {
		if (tb[words->mark])
			return nf_dlcbf_refuse(refusal, -EINVAL, words->mark, words->needless);
		if (tb[words->mask])
			return nf_dlcbf_refuse(refusal, -EINVAL, words->mask, words->needless);
		return 0;
	}
	if (!tb[words->mark])
		return nf_dlcbf_refuse(refusal, -EINVAL, words->mark, words->no_mark);
	judgement->mark = nla_get_u32(tb[words->mark]);
	judgement->mask = tb[words->mask] ? nla_get_u32(tb[words->mask]) : U32_MAX;
	if (judgement->mark & ~judgement->mask)
		return nf_dlcbf_refuse(refusal, -EINVAL, words->mark, words->outside);
	return 0;
}

/* Which hook: of that table, there, at that priority. */
static int read_place(struct nlattr *const tb[], struct nf_dlcbf_hook_config *config,
		      struct nf_dlcbf_refusal *refusal)
{
	memset(config, 0, sizeof(*config));
	if (!tb[NF_DLCBF_A_HOOK_TABLE])
		return nf_dlcbf_refuse(refusal, -EINVAL, NF_DLCBF_A_HOOK_TABLE,
				       "the request names no table");
	if (!tb[NF_DLCBF_A_HOOK_HOOK])
		return nf_dlcbf_refuse(refusal, -EINVAL, NF_DLCBF_A_HOOK_HOOK,
				       "the request names no hook");
	config->hook = nla_get_u32(tb[NF_DLCBF_A_HOOK_HOOK]);
	if (tb[NF_DLCBF_A_HOOK_PRIORITY])
		config->priority = nla_get_s32(tb[NF_DLCBF_A_HOOK_PRIORITY]);

	if (tb[NF_DLCBF_A_HOOK_DEVICE])
		nla_strscpy(config->device, tb[NF_DLCBF_A_HOOK_DEVICE], sizeof(config->device));
	return 0;
}

static int read_hook(struct nlattr *const tb[], struct nf_dlcbf_hook_config *config,
		     struct nf_dlcbf_refusal *refusal)
{
	int err;

	err = read_place(tb, config, refusal);
	if (!err)
		err = read_judgement(tb, &hit_words, &config->hit, refusal);
	if (!err)
		err = read_judgement(tb, &miss_words, &config->miss, refusal);
	return err;
}

static int add_hook(struct nf_dlcbf_net *dn, struct genl_info *info,
		    const struct nf_dlcbf_hook_config *config, struct nf_dlcbf_refusal *refusal)
{
	const u32 portid = nla_get_flag(info->attrs[NF_DLCBF_A_HOOK_STAGED]) ? info->snd_portid : 0;
	const bool exist = nla_get_flag(info->attrs[NF_DLCBF_A_HOOK_EXIST]);
	struct nf_dlcbf_table *table;
	int err;

	table = nf_dlcbf_nl_find_table(dn, info->attrs[NF_DLCBF_A_HOOK_TABLE], portid,
				       info->extack);
	if (!table)
		return -ENOENT;
	err = nf_dlcbf_hook_add(table, config, exist, refusal);
	return err ? nf_dlcbf_nl_refuse(info->extack, info->attrs, NULL, refusal, err) : 0;
}

int nf_dlcbf_nl_hook_add(struct sk_buff *skb, struct genl_info *info)
{
	struct nf_dlcbf_net *dn = nf_dlcbf_net(genl_info_net(info));
	struct nf_dlcbf_refusal refusal = {};
	struct nf_dlcbf_hook_config config;
	int err;

	err = read_hook(info->attrs, &config, &refusal);
	if (err)
		return nf_dlcbf_nl_refuse(info->extack, info->attrs, NULL, &refusal, err);
	mutex_lock(&dn->lock);
	err = add_hook(dn, info, &config, &refusal);
	mutex_unlock(&dn->lock);
	return err;
}

static int del_hook(struct nf_dlcbf_net *dn, struct genl_info *info,
		    const struct nf_dlcbf_hook_config *config)
{
	struct nf_dlcbf_table *table;
	struct nf_dlcbf_hook *hook;

	table = nf_dlcbf_nl_find_table(dn, info->attrs[NF_DLCBF_A_HOOK_TABLE], 0, info->extack);
	if (!table)
		return -ENOENT;
	hook = nf_dlcbf_hook_find(table, config);
	if (!hook) {
		if (nla_get_flag(info->attrs[NF_DLCBF_A_HOOK_EXIST]))
			return 0;
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[NF_DLCBF_A_HOOK_HOOK],
				    "the table is not at this hook and priority");
		return -ENOENT;
	}
	nf_dlcbf_hook_remove(hook);
	return 0;
}

int nf_dlcbf_nl_hook_del(struct sk_buff *skb, struct genl_info *info)
{
	struct nf_dlcbf_net *dn = nf_dlcbf_net(genl_info_net(info));
	struct nf_dlcbf_refusal refusal = {};
	struct nf_dlcbf_hook_config config;
	int err;

	err = read_place(info->attrs, &config, &refusal);
	if (err)
		return nf_dlcbf_nl_refuse(info->extack, info->attrs, NULL, &refusal, err);
	mutex_lock(&dn->lock);
	err = del_hook(dn, info, &config);
	mutex_unlock(&dn->lock);
	return err;
}

/* ---- writing hooks ---- */

static int put_judgement(struct sk_buff *skb, const struct judgement_words *words,
			 const struct nf_dlcbf_judgement *judgement)
{
	if (nla_put_u32(skb, words->verdict, judgement->verdict))
		return -EMSGSIZE;
	if (judgement->verdict != NF_DLCBF_VERDICT_MARK)
		return 0;
	if (nla_put_u32(skb, words->mark, judgement->mark) ||
	    nla_put_u32(skb, words->mask, judgement->mask))
		return -EMSGSIZE;
	return 0;
}

static int put_hook(struct sk_buff *skb, const struct nf_dlcbf_hook *hook)
{
	const struct nf_dlcbf_hook_config *config = &hook->config;

	if (nla_put_string(skb, NF_DLCBF_A_HOOK_TABLE, hook->table->name) ||
	    nla_put_u32(skb, NF_DLCBF_A_HOOK_HOOK, config->hook) ||
	    nla_put_s32(skb, NF_DLCBF_A_HOOK_PRIORITY, config->priority) ||
	    put_judgement(skb, &hit_words, &config->hit) ||
	    put_judgement(skb, &miss_words, &config->miss))
		return -EMSGSIZE;
	if (config->hook == NF_DLCBF_HOOK_INGRESS &&
	    nla_put_string(skb, NF_DLCBF_A_HOOK_DEVICE, nf_dlcbf_hook_device(hook)))
		return -EMSGSIZE;
	return 0;
}

/* Where a dump of hooks is. */
struct hook_dump {
	char table[NF_DLCBF_NAME_MAX + 1];	/* only its hooks, unless empty */
	unsigned int done;			/* hooks that were put */
};

int nf_dlcbf_nl_hook_dump_start(struct netlink_callback *cb)
{
	struct nf_dlcbf_net *dn = nf_dlcbf_net(sock_net(cb->skb->sk));
	struct hook_dump *dump = (struct hook_dump *)cb->ctx;
	struct nlattr *tb[NF_DLCBF_A_HOOK_MAX + 1];
	struct nlattr *name;
	bool found;
	int err;

	BUILD_BUG_ON(sizeof(struct hook_dump) > sizeof(cb->ctx));

	err = nf_dlcbf_nl_dump_attributes(cb, tb, NF_DLCBF_A_HOOK_MAX, nf_dlcbf_nl_hook_get_policy);
	if (err)
		return err;
	name = tb[NF_DLCBF_A_HOOK_TABLE];
	if (!name)
		return 0;
	rcu_read_lock();
	found = nf_dlcbf_nl_find_table(dn, name, 0, cb->extack);
	rcu_read_unlock();
	if (!found)
		return -ENOENT;
	nla_strscpy(dump->table, name, sizeof(dump->table));
	return 0;
}

static int dump_hook(struct sk_buff *skb, struct netlink_callback *cb,
		     const struct nf_dlcbf_hook *hook)
{
	struct nf_dlcbf_nl_message message;
	int err;

	err = nf_dlcbf_nl_dump_put(&message, skb, cb, NF_DLCBF_CMD_HOOK_GET);
	if (err)
		return err;
	err = put_hook(skb, hook);
	if (err) {
		genlmsg_cancel(skb, message.header);
		return err;
	}
	nf_dlcbf_nl_dump_end(&message, cb);
	return 0;
}

/* The hooks of a table; @index counts hooks of all tables. */
static int dump_table_hooks(struct sk_buff *skb, struct netlink_callback *cb,
			    const struct nf_dlcbf_table *table, unsigned int *index)
{
	struct hook_dump *dump = (struct hook_dump *)cb->ctx;
	const struct nf_dlcbf_hook *hook;
	int err;

	list_for_each_entry(hook, &table->hooks, table_list) {
		if ((*index)++ < dump->done)
			continue;
		err = dump_hook(skb, cb, hook);
		if (err)
			return err;
		dump->done = *index;
	}
	return 0;
}

int nf_dlcbf_nl_hook_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nf_dlcbf_net *dn = nf_dlcbf_net(sock_net(skb->sk));
	const struct hook_dump *dump = (const struct hook_dump *)cb->ctx;
	const struct nf_dlcbf_table *table;
	unsigned int index = 0;
	int err = 0;

	/* Hooks are only ever read under the lock; one buffer is soon full. */
	mutex_lock(&dn->lock);
	cb->seq = dn->generation;
	list_for_each_entry(table, &dn->tables, list) {
		if (table->portid || (*dump->table && strcmp(table->name, dump->table)))
			continue;
		err = dump_table_hooks(skb, cb, table, &index);
		if (err)
			break;
	}
	mutex_unlock(&dn->lock);
	return err && !skb->len ? err : skb->len;
}

/* ---- notifications ---- */

/**
 * nf_dlcbf_notify_hook() - tell listeners that a table is or was at a hook
 * @hook: a hook; one of a staged table is nobody's business
 * @cmd:  NF_DLCBF_CMD_HOOK_*_NTF
 * @gfp:  how to allocate
 *
 * Context: as @gfp allows, nf_dlcbf_net.lock held.
 */
void nf_dlcbf_notify_hook(const struct nf_dlcbf_hook *hook, int cmd, gfp_t gfp)
{
	struct net *net = hook->table->dn->net;
	struct nf_dlcbf_nl_message message;

	if (hook->table->portid || !nf_dlcbf_nl_listeners(net, NF_DLCBF_NL_GROUP_TABLE) ||
	    !nf_dlcbf_nl_notify_start(&message, cmd, GENLMSG_DEFAULT_SIZE, gfp))
		return;
	if (put_hook(message.skb, hook)) {
		nlmsg_free(message.skb);
		return;
	}
	nf_dlcbf_nl_notify_send(&message, net, NF_DLCBF_NL_GROUP_TABLE, gfp);
}
