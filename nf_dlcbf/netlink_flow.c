// SPDX-License-Identifier: GPL-2.0
/*
 * Flows over netlink: FLOW_* requests, dumps and notifications.
 *
 * A message may carry tens of thousands of flows.  They are changed with a
 * reference to the table's contents, without nf_dlcbf_net.lock: flows have
 * locks of their own, and nobody should wait for a restore.  The contents may
 * be replaced meanwhile, by a swap for instance.  So after every few flows it
 * is asked whether they are still the table's; flows of which that cannot be
 * said are reported as failed with EAGAIN.  A flow that is reported as applied
 * was in the table before its contents were replaced.
 *
 * A dump refers to contents only while a buffer is filled.  It goes from cell
 * to cell, and cells do not move, so a flow that is there all the time is told
 * once.  How large a buffer is depends on how much its reader reads at once, up
 * to 32 KiB; the core sees to that, and more would be cut off for a reader of
 * less.
 */
#include <linux/bitops.h>
#include <linux/netlink.h>
#include <linux/overflow.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <net/netlink.h>
#include <net/sock.h>

#include "filter.h"
#include "netlink.h"
#include "netlink_internal.h"
#include "table.h"

/* Flows between two looks at whether the contents are still the table's: bits of a u64. */
#define STEP	64

#define NAME_POLICY	{ .type = NLA_NUL_STRING, .len = NF_DLCBF_NAME_MAX }

/* ---- what may be asked ---- */

/* Not const: the policies of older kernels want them so. */
static struct netlink_range_validation timeout_range = {
	.min = 1,
	.max = NF_DLCBF_NL_TIMEOUT_MAX,
};

/* Idle for longer than a timeout can be is as good as expired. */
static struct netlink_range_validation idle_range = {
	.max = NF_DLCBF_NL_TIMEOUT_MAX,
};

#define KEY_POLICIES \
	[NF_DLCBF_A_FLOW_FAMILY] = \
		NLA_POLICY_RANGE(NLA_U32, NF_DLCBF_FAMILY_IPV4, NF_DLCBF_FAMILY_IPV6), \
	[NF_DLCBF_A_FLOW_SADDR] = NLA_POLICY_RANGE(NLA_BINARY, 4, 16), \
	[NF_DLCBF_A_FLOW_DADDR] = NLA_POLICY_RANGE(NLA_BINARY, 4, 16), \
	[NF_DLCBF_A_FLOW_SPORT] = { .type = NLA_U16 }, \
	[NF_DLCBF_A_FLOW_DPORT] = { .type = NLA_U16 }, \
	[NF_DLCBF_A_FLOW_PROTO] = { .type = NLA_U8 }, \
	[NF_DLCBF_A_FLOW_IIF] = { .type = NLA_U32 }, \
	[NF_DLCBF_A_FLOW_OIF] = { .type = NLA_U32 }, \
	[NF_DLCBF_A_FLOW_MARK] = { .type = NLA_U32 }, \
	[NF_DLCBF_A_FLOW_VLAN] = NLA_POLICY_MAX(NLA_U16, 4095), \
	[NF_DLCBF_A_FLOW_ICMP_ID] = { .type = NLA_U16 }, \
	[NF_DLCBF_A_FLOW_ICMP_TYPE] = { .type = NLA_U8 }, \
	[NF_DLCBF_A_FLOW_ICMP_CODE] = { .type = NLA_U8 }, \
	[NF_DLCBF_A_FLOW_SPI] = { .type = NLA_U32 }

/*
 * COUNT is as much as one cell of a dump says.  The flow is added so often with
 * a lock held.
 */
static const struct nla_policy new_flow_policy[NF_DLCBF_A_FLOW_MAX + 1] = {
	KEY_POLICIES,
	[NF_DLCBF_A_FLOW_BUCKET] = { .type = NLA_U32 },
	[NF_DLCBF_A_FLOW_REMAINDER] = { .type = NLA_U32 },
	[NF_DLCBF_A_FLOW_COUNT] = NLA_POLICY_MAX(NLA_U32, 1 << DLCBF_MAX_COUNTER_BITS),
	[NF_DLCBF_A_FLOW_PACKETS] = { .type = NLA_U64 },
	[NF_DLCBF_A_FLOW_BYTES] = { .type = NLA_U64 },
	[NF_DLCBF_A_FLOW_IDLE] = NLA_POLICY_FULL_RANGE(NLA_U64, &idle_range),
	[NF_DLCBF_A_FLOW_TIMEOUT] = NLA_POLICY_FULL_RANGE(NLA_U64, &timeout_range),
	[NF_DLCBF_A_FLOW_LEARNED] = { .type = NLA_FLAG },
};

static const struct nla_policy old_flow_policy[NF_DLCBF_A_FLOW_MAX + 1] = {
	KEY_POLICIES,
	[NF_DLCBF_A_FLOW_BUCKET] = { .type = NLA_U32 },
	[NF_DLCBF_A_FLOW_REMAINDER] = { .type = NLA_U32 },
};

static const struct nla_policy filter_policy[NF_DLCBF_A_FLOW_MAX + 1] = {
	KEY_POLICIES,
	[NF_DLCBF_A_FLOW_SADDR_PREFIX] = NLA_POLICY_MAX(NLA_U8, 128),
	[NF_DLCBF_A_FLOW_DADDR_PREFIX] = NLA_POLICY_MAX(NLA_U8, 128),
};

const struct nla_policy nf_dlcbf_nl_flow_add_policy[NF_DLCBF_A_FLOWS_MAX + 1] = {
	[NF_DLCBF_A_FLOWS_TABLE] = NAME_POLICY,
	[NF_DLCBF_A_FLOWS_FLOW] = NLA_POLICY_NESTED(new_flow_policy),
	[NF_DLCBF_A_FLOWS_STAGED] = { .type = NLA_FLAG },
	[NF_DLCBF_A_FLOWS_EXIST] = { .type = NLA_FLAG },
};

const struct nla_policy nf_dlcbf_nl_flow_del_policy[NF_DLCBF_A_FLOWS_MAX + 1] = {
	[NF_DLCBF_A_FLOWS_TABLE] = NAME_POLICY,
	[NF_DLCBF_A_FLOWS_FLOW] = NLA_POLICY_NESTED(old_flow_policy),
	[NF_DLCBF_A_FLOWS_EXIST] = { .type = NLA_FLAG },
};

const struct nla_policy nf_dlcbf_nl_flow_get_policy[NF_DLCBF_A_FLOWS_MAX + 1] = {
	[NF_DLCBF_A_FLOWS_TABLE] = NAME_POLICY,
	[NF_DLCBF_A_FLOWS_FLOW] = NLA_POLICY_NESTED(old_flow_policy),
	[NF_DLCBF_A_FLOWS_FILTER] = NLA_POLICY_NESTED(filter_policy),
};

/* ---- reading flows ---- */

static bool has_counters(const struct nf_dlcbf_filter *filter)
{
	return filter->records;
}

static int check_values(const struct nf_dlcbf_filter *filter, struct nlattr *const tb[],
			struct nf_dlcbf_refusal *refusal)
{
	static const int flow_only[] = {
		NF_DLCBF_A_FLOW_PACKETS, NF_DLCBF_A_FLOW_BYTES, NF_DLCBF_A_FLOW_IDLE,
		NF_DLCBF_A_FLOW_TIMEOUT, NF_DLCBF_A_FLOW_LEARNED,
	};
	unsigned int i;
	u32 count;

	for (i = 0; i < ARRAY_SIZE(flow_only) && !has_counters(filter); i++)
		if (tb[flow_only[i]])
			return nf_dlcbf_refuse(refusal, -EINVAL, flow_only[i],
					       "a set has no counters and no times");
	if (!tb[NF_DLCBF_A_FLOW_COUNT])
		return 0;
	count = nla_get_u32(tb[NF_DLCBF_A_FLOW_COUNT]);
	if (!count && !has_counters(filter))
		return nf_dlcbf_refuse(refusal, -ERANGE, NF_DLCBF_A_FLOW_COUNT,
				       "a set has nothing that was added 0 times");
	if (count && nla_get_flag(tb[NF_DLCBF_A_FLOW_LEARNED]))
		return nf_dlcbf_refuse(refusal, -EINVAL, NF_DLCBF_A_FLOW_COUNT,
				       "a learned flow was not added: its count is 0");
	if (count > 1 && filter->keys)
		return nf_dlcbf_refuse(refusal, -ERANGE, NF_DLCBF_A_FLOW_COUNT,
				       "a table with keys has each flow once");
	return 0;
}

static void read_values(struct nlattr *const tb[], struct nf_dlcbf_flow *flow)
{
	flow->count = 1;
	if (tb[NF_DLCBF_A_FLOW_COUNT])
		flow->count = nla_get_u32(tb[NF_DLCBF_A_FLOW_COUNT]);
	if (nla_get_flag(tb[NF_DLCBF_A_FLOW_LEARNED]))
		flow->count = 0;
	if (tb[NF_DLCBF_A_FLOW_PACKETS])
		flow->counters.packets = nla_get_u64(tb[NF_DLCBF_A_FLOW_PACKETS]);
	if (tb[NF_DLCBF_A_FLOW_BYTES])
		flow->counters.bytes = nla_get_u64(tb[NF_DLCBF_A_FLOW_BYTES]);
	if (tb[NF_DLCBF_A_FLOW_IDLE])
		flow->idle_ms = nla_get_u64(tb[NF_DLCBF_A_FLOW_IDLE]);
	if (tb[NF_DLCBF_A_FLOW_TIMEOUT]) {
		flow->has_timeout = true;
		flow->timeout_ms = nla_get_u64(tb[NF_DLCBF_A_FLOW_TIMEOUT]);
	}
}

/* The core has validated @tb against the policy of the command. */
static int read_flow(const struct nf_dlcbf_filter *filter, struct nlattr *const tb[],
		     struct nf_dlcbf_flow *flow, struct nf_dlcbf_refusal *refusal)
{
	int err;

	memset(flow, 0, sizeof(*flow));
	err = check_values(filter, tb, refusal);
	if (err)
		return err;
	read_values(tb, flow);
	return nf_dlcbf_nl_read_key(filter, tb, flow, refusal);
}

/* ---- writing flows ---- */

/* What is told of a flow beside its key. */
enum parts {
	PART_NEW,	/* how often it was added, or whether it was learned */
	PART_FINAL,	/* its counters */
	PART_ALL,
};

/* Most bytes that a flow takes in a message */
#define FLOW_ROOM \
	(nla_total_size(0) + NF_DLCBF_NL_KEY_ROOM + nla_total_size(sizeof(u32)) + \
	 4 * nla_total_size_64bit(sizeof(u64)))

static int put_u64(struct sk_buff *skb, int attribute, u64 value)
{
	return nla_put_u64_64bit(skb, attribute, value, NF_DLCBF_A_FLOW_PAD);
}

static int put_counters(struct sk_buff *skb, const struct nf_dlcbf_flow *flow)
{
	if (put_u64(skb, NF_DLCBF_A_FLOW_PACKETS, flow->counters.packets) ||
	    put_u64(skb, NF_DLCBF_A_FLOW_BYTES, flow->counters.bytes))
		return -EMSGSIZE;
	return 0;
}

static int put_times(struct sk_buff *skb, const struct nf_dlcbf_flow *flow)
{
	if (put_u64(skb, NF_DLCBF_A_FLOW_IDLE, flow->idle_ms) ||
	    (flow->has_timeout && put_u64(skb, NF_DLCBF_A_FLOW_TIMEOUT, flow->timeout_ms)))
		return -EMSGSIZE;
	return 0;
}

static int put_values(struct sk_buff *skb, const struct nf_dlcbf_filter *filter,
		      const struct nf_dlcbf_flow *flow, enum parts parts)
{
	if (parts != PART_FINAL && nla_put_u32(skb, NF_DLCBF_A_FLOW_COUNT, flow->count))
		return -EMSGSIZE;
	if (parts == PART_NEW || !has_counters(filter))
		return 0;
	if (put_counters(skb, flow))
		return -EMSGSIZE;
	return parts == PART_ALL ? put_times(skb, flow) : 0;
}

/* Takes FLOW_ROOM at most; leaves nothing behind when there is not so much. */
static int put_flow(struct sk_buff *skb, const struct nf_dlcbf_filter *filter,
		    const struct nf_dlcbf_flow *flow, enum parts parts)
{
	struct nlattr *nest = nla_nest_start(skb, NF_DLCBF_A_FLOWS_FLOW);

	if (!nest)
		return -EMSGSIZE;
	if (nf_dlcbf_nl_put_key(skb, &filter->layout, flow) ||
	    put_values(skb, filter, flow, parts)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

/* ---- requests ---- */

/**
 * struct request - a request of flows
 * @info:      as the core gave it
 * @filter:    contents of the table, with a reference
 * @table_id:  the table
 * @withdrawn: takes cells of deleted flows; NULL: the request is to add
 * @notify:    somebody may listen to additions
 * @news:      the additions that were not sent yet; skb is NULL without one
 * @nnews:     flows in @news
 * @lost:      additions that could not be told
 */
struct request {
	struct genl_info *info;
	struct nf_dlcbf_filter *filter;
	u32 table_id;
	struct nf_dlcbf_withdrawn *withdrawn;
	bool notify;
	struct nf_dlcbf_nl_message news;
	u32 nnews;
	u32 lost;
};

static struct nf_dlcbf_filter *get_contents(struct nf_dlcbf_net *dn, const struct nlattr *name,
					    u32 portid, u32 *id, struct netlink_ext_ack *extack)
{
	struct nf_dlcbf_filter *filter = NULL;
	struct nf_dlcbf_table *table;

	rcu_read_lock();
	table = nf_dlcbf_nl_find_table(dn, name, portid, extack);
	if (table) {
		*id = table->id;
		filter = nf_dlcbf_table_get_filter(table);
	}
	rcu_read_unlock();
	return filter;
}

/* Find the table.  With success request_end() must follow. */
static int request_begin(struct request *request, struct genl_info *info)
{
	struct nf_dlcbf_net *dn = nf_dlcbf_net(genl_info_net(info));
	const bool staged = nla_get_flag(info->attrs[NF_DLCBF_A_FLOWS_STAGED]);
	int err;

	memset(request, 0, sizeof(*request));
	request->info = info;
	err = nf_dlcbf_nl_require(info->extack, info->attrs, NF_DLCBF_A_FLOWS_TABLE,
				  "the request names no table");
	if (!err)
		err = nf_dlcbf_nl_require(info->extack, info->attrs, NF_DLCBF_A_FLOWS_FLOW,
					  "the request has no flow");
	if (err)
		return err;
	request->filter = get_contents(dn, info->attrs[NF_DLCBF_A_FLOWS_TABLE],
				       staged ? info->snd_portid : 0, &request->table_id,
				       info->extack);
	if (!request->filter)
		return -ENOENT;
	request->notify = !staged && nf_dlcbf_nl_listeners(dn->net, NF_DLCBF_NL_GROUP_FLOW);
	return 0;
}

static void request_end(struct request *request)
{
	if (request->withdrawn)
		nf_dlcbf_withdrawn_drain(request->filter, request->withdrawn);
	nf_dlcbf_filter_put(request->filter);
}

/* The core keeps the last attribute of a kind. */
static bool is_only_flow(const struct request *request, const struct nlattr *first)
{
	return first == request->info->attrs[NF_DLCBF_A_FLOWS_FLOW];
}

static int refuse_flow(struct request *request, const struct nlattr *nest,
		       struct nlattr *const tb[], u32 position, bool only,
		       const struct nf_dlcbf_refusal *refusal, int err)
{
	struct netlink_ext_ack *extack = request->info->extack;

	nf_dlcbf_nl_refuse(extack, tb, nest, refusal, err);
	if (!only)
		nf_dlcbf_compat_extack_flow(extack, position, refusal->message);
	return err;
}

static int parse_flow(struct request *request, const struct nlattr *nest, struct nlattr *tb[])
{
	/* Validated by the core, against the policy of the command. */
	return nla_parse_nested(tb, NF_DLCBF_A_FLOW_MAX, nest, NULL, request->info->extack);
}

/*
 * Read all flows before any is changed, so that a message which is not well
 * formed does nothing.
 */
static int check_flows(struct request *request, u32 *count)
{
	const struct nlattr *attr, *first = NULL;
	struct nlattr *tb[NF_DLCBF_A_FLOW_MAX + 1];
	struct nf_dlcbf_refusal refusal = {};
	struct nf_dlcbf_flow flow;
	int rem, err;

	*count = 0;
	nlmsg_for_each_attr(attr, request->info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(attr) != NF_DLCBF_A_FLOWS_FLOW)
			continue;
		if (!first)
			first = attr;
		err = parse_flow(request, attr, tb);
		if (err)
			return err;
		err = read_flow(request->filter, tb, &flow, &refusal);
		if (err)
			return refuse_flow(request, attr, tb, *count, is_only_flow(request, first),
					   &refusal, err);
		if (!(++*count % STEP))
			cond_resched();
	}
	return 0;
}

/* ---- telling of additions ---- */

static void send_news(struct request *request)
{
	struct net *net = genl_info_net(request->info);

	if (!request->news.skb)
		return;
	if (!nf_dlcbf_nl_notify_send(&request->news, net, NF_DLCBF_NL_GROUP_FLOW, GFP_KERNEL))
		request->lost += request->nnews;
	request->news.skb = NULL;
	request->nnews = 0;
}

static bool start_news(struct request *request)
{
	const struct nlattr *name = request->info->attrs[NF_DLCBF_A_FLOWS_TABLE];

	if (!nf_dlcbf_nl_notify_start(&request->news, NF_DLCBF_CMD_FLOW_ADD_NTF,
				      GENLMSG_DEFAULT_SIZE, GFP_KERNEL)) {
		request->news.skb = NULL;
		return false;
	}
	return !nla_put_string(request->news.skb, NF_DLCBF_A_FLOWS_TABLE, nla_data(name));
}

/* Additions of one request share messages. */
static void add_news(struct request *request, const struct nf_dlcbf_flow *flow)
{
	if (!request->notify)
		return;
	if (request->news.skb && skb_tailroom(request->news.skb) < FLOW_ROOM)
		send_news(request);
	if ((!request->news.skb && !start_news(request)) ||
	    put_flow(request->news.skb, request->filter, flow, PART_NEW))
		request->lost++;
	else
		request->nnews++;
}

static void drop_news(struct request *request)
{
	if (request->news.skb)
		nlmsg_free(request->news.skb);
	request->news.skb = NULL;
	request->nnews = 0;
}

/* ---- changing flows ---- */

/* The last stands for all other errors. */
static const struct {
	int error;
	const char *message;
} explanations[] = {
	{ -EEXIST,	"the flow is in the table already" },
	{ -ENOENT,	"the table has no such flow" },
	{ -ENOSPC,	"the table has no cell for the flow: it is full" },
	{ -EAGAIN,	"the table's contents were replaced meanwhile: try again" },
	{ 0,		"the flow cannot be changed" },
};

#define EXPLANATION_SIZE_MAX	64

/* Which of @explanations is that of @err. */
static unsigned int explain(int err)
{
	unsigned int i = 0;

	while (explanations[i].error && explanations[i].error != err)
		i++;
	return i;
}

static int change_flow(struct request *request, struct nf_dlcbf_flow *flow)
{
	const bool exist = nla_get_flag(request->info->attrs[NF_DLCBF_A_FLOWS_EXIST]);
	int err;

	if (request->withdrawn) {
		err = nf_dlcbf_filter_remove(request->filter, flow, request->withdrawn);
		return err == -ENOENT && exist ? 0 : err;
	}
	err = nf_dlcbf_filter_add(request->filter, flow, exist);
	if (!err)
		add_news(request, flow);
	return err;
}

/*
 * @changed flows were changed since the last call: were they the table's?  If
 * so count and tell them.
 */
static bool settle(struct request *request, u32 changed)
{
	const enum nf_dlcbf_attr_stats which = request->withdrawn ? NF_DLCBF_A_STATS_DELETED :
								    NF_DLCBF_A_STATS_ADDED;
	const struct nf_dlcbf_table *table;
	bool current_contents;

	rcu_read_lock();
	table = rcu_dereference(request->filter->table);
	current_contents = table && table->id == request->table_id;
	if (current_contents && changed)
		nf_dlcbf_stats_add(table->stats, which, changed);
	if (current_contents && request->lost) {
		nf_dlcbf_stats_add(table->stats, NF_DLCBF_A_STATS_EVENTS_LOST, request->lost);
		request->lost = 0;
	}
	rcu_read_unlock();
	return current_contents;
}

/* The flow of a message that has one: its error is the message's. */
static int change_one(struct request *request)
{
	struct nlattr *nest = request->info->attrs[NF_DLCBF_A_FLOWS_FLOW];
	struct nlattr *tb[NF_DLCBF_A_FLOW_MAX + 1];
	struct nf_dlcbf_refusal refusal = {};
	struct nf_dlcbf_flow flow;
	int err;

	err = parse_flow(request, nest, tb);
	if (!err)
		err = read_flow(request->filter, tb, &flow, &refusal);
	if (WARN_ON_ONCE(err))
		return err;
	err = change_flow(request, &flow);
	if (!err) {
		send_news(request);
		if (!settle(request, 1))
			err = -EAGAIN;
	}
	if (err) {
		refusal.message = explanations[explain(err)].message;
		refusal.attribute = NF_DLCBF_A_FLOWS_FLOW;
		nf_dlcbf_nl_refuse(request->info->extack, request->info->attrs, NULL, &refusal,
				   err);
	}
	return err;
}

/**
 * struct tally - what became of the flows of a message
 * @skb:       the reply; it has room for a failure of every flow
 * @explained: which of @explanations are in @skb
 * @position:  of the next flow
 * @settled:   flows before this one need no further look
 * @applied:   flows changed
 * @failed:    flows not changed
 * @pending:   which of the flows since @settled were changed
 * @stale:     the contents are not the table's any more
 */
struct tally {
	struct sk_buff *skb;
	unsigned long explained;
	u32 position;
	u32 settled;
	u32 applied;
	u32 failed;
	u64 pending;
	bool stale;
};

static size_t failures_size(u32 count)
{
	return size_add(size_mul(count, nla_total_size(2 * nla_total_size(sizeof(u32)))),
			ARRAY_SIZE(explanations) * nla_total_size(EXPLANATION_SIZE_MAX));
}

static void note_failure(struct tally *tally, u32 position, int err)
{
	struct nlattr *nest = nla_nest_start(tally->skb, NF_DLCBF_A_FLOWS_FAILURE);
	const unsigned int i = explain(err);

	tally->failed++;
	if (WARN_ON_ONCE(!nest))
		return;
	if (WARN_ON_ONCE(nla_put_u32(tally->skb, NF_DLCBF_A_FAILURE_POSITION, position) ||
			 nla_put_u32(tally->skb, NF_DLCBF_A_FAILURE_ERROR, -err))) {
		nla_nest_cancel(tally->skb, nest);
		return;
	}
	/* The same words every time would be most of the message. */
	if (!__test_and_set_bit(i, &tally->explained))
		WARN_ON_ONCE(nla_put_string(tally->skb, NF_DLCBF_A_FAILURE_MESSAGE,
					    explanations[i].message));
	nla_nest_end(tally->skb, nest);
}

/*
 * After every STEP flows, and after the last.  When the contents turn out to be
 * replaced, of the flows since the last time it is not known which were changed
 * before that: all of them are to be tried again.
 */
static void settle_step(struct request *request, struct tally *tally)
{
	const u32 count = hweight64(tally->pending);
	unsigned int i;

	if (settle(request, count)) {
		tally->applied += count;
	} else {
		tally->stale = true;
		for (i = 0; i < STEP; i++)
			if (tally->pending & BIT_ULL(i))
				note_failure(tally, tally->settled + i, -EAGAIN);
		drop_news(request);
	}
	tally->pending = 0;
	tally->settled = tally->position;
}

static void change_all(struct request *request, struct tally *tally)
{
	struct nlattr *tb[NF_DLCBF_A_FLOW_MAX + 1];
	struct nf_dlcbf_refusal refusal;
	struct nf_dlcbf_flow flow;
	const struct nlattr *attr;
	int rem, err;

	nlmsg_for_each_attr(attr, request->info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(attr) != NF_DLCBF_A_FLOWS_FLOW)
			continue;
		err = -EAGAIN;
		if (!tally->stale && !WARN_ON_ONCE(parse_flow(request, attr, tb) ||
						   read_flow(request->filter, tb, &flow, &refusal)))
			err = change_flow(request, &flow);
		if (err)
			note_failure(tally, tally->position, err);
		else
			tally->pending |= BIT_ULL(tally->position - tally->settled);
		if (!(++tally->position % STEP)) {
			if (!tally->stale)
				settle_step(request, tally);
			cond_resched();
		}
	}
	send_news(request);
	if (!tally->stale)
		settle_step(request, tally);
}

static int change_many(struct request *request, u32 count)
{
	struct nf_dlcbf_nl_message reply;
	struct nlattr *applied, *failed;
	struct tally tally = {};
	int err;

	err = nf_dlcbf_nl_reply_start(&reply, request->info,
				      size_add(failures_size(count),
					       2 * nla_total_size(sizeof(u32))));
	if (err)
		return err;
	applied = nla_reserve(reply.skb, NF_DLCBF_A_FLOWS_APPLIED, sizeof(u32));
	failed = nla_reserve(reply.skb, NF_DLCBF_A_FLOWS_FAILED, sizeof(u32));
	if (WARN_ON_ONCE(!applied || !failed)) {
		nlmsg_free(reply.skb);
		return -EMSGSIZE;
	}
	tally.skb = reply.skb;
	change_all(request, &tally);
	memcpy(nla_data(applied), &tally.applied, sizeof(tally.applied));
	memcpy(nla_data(failed), &tally.failed, sizeof(tally.failed));
	return nf_dlcbf_nl_reply_send(&reply, request->info);
}

int nf_dlcbf_nl_flow_add(struct sk_buff *skb, struct genl_info *info)
{
	struct request request;
	u32 count;
	int err;

	err = request_begin(&request, info);
	if (err)
		return err;
	err = check_flows(&request, &count);
	if (!err)
		err = count == 1 ? change_one(&request) : change_many(&request, count);
	request_end(&request);
	return err;
}

int nf_dlcbf_nl_flow_del(struct sk_buff *skb, struct genl_info *info)
{
	struct request request;
	u32 count;
	int err;

	err = request_begin(&request, info);
	if (err)
		return err;
	err = check_flows(&request, &count);
	if (err)
		goto out;
	request.withdrawn = nf_dlcbf_withdrawn_alloc(count, NF_DLCBF_CMD_FLOW_DEL_NTF);
	if (!request.withdrawn) {
		NL_SET_ERR_MSG(info->extack, "no memory to delete so many flows at once");
		err = -ENOMEM;
		goto out;
	}
	err = count == 1 ? change_one(&request) : change_many(&request, count);
out:
	request_end(&request);
	return err;
}

/* ---- one flow ---- */

static int check_resettable(const struct nf_dlcbf_filter *filter, const struct nlattr *name,
			    struct netlink_ext_ack *extack)
{
	if (has_counters(filter))
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, name, "the table is a set: it has no counters to reset");
	return -EOPNOTSUPP;
}

static int check_one(struct request *request)
{
	struct genl_info *info = request->info;
	u32 count;
	int err;

	if (info->attrs[NF_DLCBF_A_FLOWS_FILTER]) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[NF_DLCBF_A_FLOWS_FILTER],
				    "a filter is for a dump");
		return -EINVAL;
	}
	err = check_flows(request, &count);
	if (err)
		return err;
	if (count > 1) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[NF_DLCBF_A_FLOWS_FLOW],
				    "only one flow can be asked for at a time");
		return -EINVAL;
	}
	return 0;
}

/* All that may fail comes before the counters are reset. */
static int get_flow(struct request *request, bool reset)
{
	struct genl_info *info = request->info;
	struct nlattr *nest = info->attrs[NF_DLCBF_A_FLOWS_FLOW];
	struct nlattr *name = info->attrs[NF_DLCBF_A_FLOWS_TABLE];
	struct nlattr *tb[NF_DLCBF_A_FLOW_MAX + 1];
	struct nf_dlcbf_refusal refusal = {};
	struct nf_dlcbf_nl_message reply;
	struct nf_dlcbf_flow flow;
	int err;

	err = parse_flow(request, nest, tb);
	if (!err)
		err = read_flow(request->filter, tb, &flow, &refusal);
	if (!err)
		err = nf_dlcbf_nl_reply_start(&reply, info,
					      nla_total_size(NF_DLCBF_NAME_MAX + 1) + FLOW_ROOM);
	if (err)
		return err;
	err = nla_put_string(reply.skb, NF_DLCBF_A_FLOWS_TABLE, nla_data(name));
	if (!err) {
		err = nf_dlcbf_filter_lookup(request->filter, &flow, reset);
		if (err)
			NL_SET_ERR_MSG_ATTR(info->extack, nest, "the table has no such flow");
	}
	if (!err)
		err = put_flow(reply.skb, request->filter, &flow, PART_ALL);
	if (err) {
		nlmsg_free(reply.skb);
		return err;
	}
	return nf_dlcbf_nl_reply_send(&reply, info);
}

int nf_dlcbf_nl_flow_get(struct sk_buff *skb, struct genl_info *info)
{
	const bool reset = info->genlhdr->cmd == NF_DLCBF_CMD_FLOW_RESET;
	struct request request;
	int err;

	err = request_begin(&request, info);
	if (err)
		return err;
	err = check_one(&request);
	if (!err && reset)
		err = check_resettable(request.filter, info->attrs[NF_DLCBF_A_FLOWS_TABLE],
				       info->extack);
	if (!err)
		err = get_flow(&request, reset);
	request_end(&request);
	return err;
}

/* ---- dumps ---- */

/**
 * struct flow_dump - a dump of a table's flows
 * @table:    the table's name
 * @id:       its identity: another table may get the name meanwhile
 * @cmd:      NF_DLCBF_CMD_FLOW_GET or _RESET
 * @cell:     next one to look at, DLCBF_NO_CELL after the last
 * @filtered: @match says which flows
 * @match:    which flows
 */
struct flow_dump {
	char table[NF_DLCBF_NAME_MAX + 1];
	u32 id;
	int cmd;
	u32 cell;
	bool filtered;
	struct nf_dlcbf_nl_match match;
};

static struct flow_dump **dump_of(struct netlink_callback *cb)
{
	BUILD_BUG_ON(sizeof(struct flow_dump *) > sizeof(cb->ctx));
	return (struct flow_dump **)cb->ctx;
}

static int read_filter(const struct nf_dlcbf_filter *filter, const struct nlattr *nest,
		       struct flow_dump *dump, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[NF_DLCBF_A_FLOW_MAX + 1];
	struct nf_dlcbf_refusal refusal = {};
	int err;

	if (!filter->keys) {
		NL_SET_ERR_MSG_ATTR(extack, nest,
				    "the table has no keys, so its flows cannot be told apart");
		return -EOPNOTSUPP;
	}
	err = nla_parse_nested(tb, NF_DLCBF_A_FLOW_MAX, nest, filter_policy, extack);
	if (err)
		return err;
	err = nf_dlcbf_nl_read_match(&filter->layout, tb, &dump->match, &refusal);
	if (err)
		return nf_dlcbf_nl_refuse(extack, tb, nest, &refusal, err);
	dump->filtered = true;
	return 0;
}

static int read_dump(struct netlink_callback *cb, struct nlattr *const tb[],
		     struct flow_dump *dump)
{
	struct nf_dlcbf_net *dn = nf_dlcbf_net(sock_net(cb->skb->sk));
	struct nlattr *name = tb[NF_DLCBF_A_FLOWS_TABLE];
	struct nf_dlcbf_filter *filter;
	int err = 0;

	filter = get_contents(dn, name, 0, &dump->id, cb->extack);
	if (!filter)
		return -ENOENT;
	nla_strscpy(dump->table, name, sizeof(dump->table));
	if (dump->cmd == NF_DLCBF_CMD_FLOW_RESET)
		err = check_resettable(filter, name, cb->extack);
	if (!err && tb[NF_DLCBF_A_FLOWS_FILTER])
		err = read_filter(filter, tb[NF_DLCBF_A_FLOWS_FILTER], dump, cb->extack);
	nf_dlcbf_filter_put(filter);
	return err;
}

int nf_dlcbf_nl_flow_dump_start(struct netlink_callback *cb)
{
	const struct genlmsghdr *header = nlmsg_data(cb->nlh);
	struct nlattr *tb[NF_DLCBF_A_FLOWS_MAX + 1];
	struct flow_dump *dump;
	int err;

	err = nf_dlcbf_nl_dump_attributes(cb, tb, NF_DLCBF_A_FLOWS_MAX,
					  nf_dlcbf_nl_flow_get_policy);
	if (!err)
		err = nf_dlcbf_nl_require(cb->extack, tb, NF_DLCBF_A_FLOWS_TABLE,
					  "the request names no table");
	if (err)
		return err;
	if (tb[NF_DLCBF_A_FLOWS_FLOW]) {
		NL_SET_ERR_MSG_ATTR(cb->extack, tb[NF_DLCBF_A_FLOWS_FLOW],
				    "a dump takes a filter; ask for one flow without dump");
		return -EINVAL;
	}
	dump = kzalloc(sizeof(*dump), GFP_KERNEL);
	if (!dump) {
		NL_SET_ERR_MSG(cb->extack, "no memory for the dump");
		return -ENOMEM;
	}
	dump->cmd = header->cmd;
	err = read_dump(cb, tb, dump);
	if (err) {
		/* The core calls done only for a dump that has started. */
		kfree(dump);
		return err;
	}
	*dump_of(cb) = dump;
	return 0;
}

int nf_dlcbf_nl_flow_dump_done(struct netlink_callback *cb)
{
	kfree(*dump_of(cb));
	return 0;
}

static struct nf_dlcbf_filter *dump_contents(struct nf_dlcbf_net *dn, const struct flow_dump *dump)
{
	struct nf_dlcbf_filter *filter = NULL;
	struct nf_dlcbf_table *table;

	rcu_read_lock();
	table = nf_dlcbf_table_find(dn, dump->table, 0);
	if (table && table->id == dump->id)
		filter = nf_dlcbf_table_get_filter(table);
	rcu_read_unlock();
	return filter;
}

/*
 * The next flow that is wanted.  With a filter only the flows that match may be
 * reset, so that is done in a second step, for the same key; its answer is what
 * is told.  A flow that goes in between is not there any more.
 */
static u32 next_wanted(struct nf_dlcbf_filter *filter, struct flow_dump *dump,
		       struct nf_dlcbf_flow *flow)
{
	const bool reset = dump->cmd == NF_DLCBF_CMD_FLOW_RESET;
	u32 cell = dump->cell;

	while (cell != DLCBF_NO_CELL && !signal_pending(current)) {
		cell = nf_dlcbf_filter_next(filter, cell, flow, reset && !dump->filtered);
		dump->cell = cell == DLCBF_NO_CELL ? cell : cell + 1;
		if (cell == DLCBF_NO_CELL || !dump->filtered)
			return cell;
		/* The contents may have been replaced by others without keys. */
		if (flow->has_key && nf_dlcbf_nl_matches(&filter->layout, &dump->match,
							 &flow->tuple) &&
		    (!reset || !nf_dlcbf_filter_lookup(filter, flow, true)))
			return cell;
		cell = dump->cell;
	}
	return DLCBF_NO_CELL;
}

/*
 * Room for a flow comes before the flow: what was reset must be told.  Return:
 * how many were put.
 */
static u32 put_flows(struct sk_buff *skb, struct nf_dlcbf_filter *filter, struct flow_dump *dump)
{
	struct nf_dlcbf_flow flow = {};
	u32 count = 0;

	while (skb_tailroom(skb) >= FLOW_ROOM &&
	       next_wanted(filter, dump, &flow) != DLCBF_NO_CELL) {
		if (WARN_ON_ONCE(put_flow(skb, filter, &flow, PART_ALL)))
			break;
		count++;
		/* A full buffer of flows takes a while on a slow machine. */
		if (!(count % STEP))
			cond_resched();
	}
	return count;
}

static int fill_dump(struct sk_buff *skb, struct netlink_callback *cb,
		     struct nf_dlcbf_filter *filter, struct flow_dump *dump)
{
	struct nf_dlcbf_nl_message message;

	if (nf_dlcbf_nl_dump_put(&message, skb, cb, dump->cmd))
		return -EMSGSIZE;
	if (nla_put_string(skb, NF_DLCBF_A_FLOWS_TABLE, dump->table)) {
		genlmsg_cancel(skb, message.header);
		return -EMSGSIZE;
	}
	/* Without any, it is the end, unless a signal wants attention first. */
	if (!put_flows(skb, filter, dump) && dump->cell == DLCBF_NO_CELL) {
		genlmsg_cancel(skb, message.header);
		return 0;
	}
	nf_dlcbf_nl_dump_end(&message, cb);
	return skb->len;
}

/*
 * The call after the last flow asks once more whether tables were changed: the
 * core marks the end of the dump accordingly.
 */
int nf_dlcbf_nl_flow_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nf_dlcbf_net *dn = nf_dlcbf_net(sock_net(skb->sk));
	struct flow_dump *dump = *dump_of(cb);
	struct nf_dlcbf_filter *filter;
	int ret = 0;

	cb->seq = READ_ONCE(dn->generation);
	filter = dump_contents(dn, dump);
	if (!filter) {
		NL_SET_ERR_MSG(cb->extack, "the table was deleted during the dump");
		return -ENOENT;
	}
	if (dump->cell != DLCBF_NO_CELL)
		ret = fill_dump(skb, cb, filter, dump);
	nf_dlcbf_filter_put(filter);
	return ret;
}

/* ---- notifications ---- */

/**
 * nf_dlcbf_flow_listeners() - may somebody listen to what happens to flows?
 * @table: a table
 *
 * Context: any.
 * Return: false when certainly nobody does, or the table is not live.
 */
bool nf_dlcbf_flow_listeners(struct nf_dlcbf_table *table)
{
	return !READ_ONCE(table->portid) &&
	       nf_dlcbf_nl_listeners(table->dn->net, NF_DLCBF_NL_GROUP_FLOW);
}

/**
 * nf_dlcbf_notify_flow() - tell listeners what happened to a flow
 * @table: its table
 * @cmd:   NF_DLCBF_CMD_FLOW_*_NTF
 * @flow:  the flow, with its final counters unless it was added
 * @gfp:   how to allocate
 *
 * Context: as @gfp allows; RCU read side, or nf_dlcbf_net.lock held.
 * Return: false when somebody listens and the message was not sent.
 */
bool nf_dlcbf_notify_flow(struct nf_dlcbf_table *table, int cmd, const struct nf_dlcbf_flow *flow,
			  gfp_t gfp)
{
	const enum parts parts = cmd == NF_DLCBF_CMD_FLOW_ADD_NTF ? PART_NEW : PART_FINAL;
	struct nf_dlcbf_nl_message message;
	int err;

	if (!nf_dlcbf_flow_listeners(table))
		return true;
	if (!nf_dlcbf_nl_notify_start(&message, cmd,
				      nla_total_size(NF_DLCBF_NAME_MAX + 1) + FLOW_ROOM, gfp))
		return false;
	rcu_read_lock();
	err = nla_put_string(message.skb, NF_DLCBF_A_FLOWS_TABLE, table->name);
	if (!err)
		err = put_flow(message.skb, rcu_dereference(table->filter), flow, parts);
	rcu_read_unlock();
	if (err) {
		nlmsg_free(message.skb);
		return false;
	}
	return nf_dlcbf_nl_notify_send(&message, table->dn->net, NF_DLCBF_NL_GROUP_FLOW, gfp);
}
