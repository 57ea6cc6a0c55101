// SPDX-License-Identifier: GPL-2.0
/*
 * The netlink family, by real messages from a socket in the kernel: what a
 * message lacks or has too much is named, one that is cut anywhere changes
 * nothing, and flows come back as they were put in.
 */
#include <linux/file.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/sizes.h>
#include <net/genetlink.h>
#include <net/netlink.h>

#include "common.h"
#include "netlink_internal.h"

#define T(_attribute)	NF_DLCBF_A_TABLE_##_attribute
#define H(_attribute)	NF_DLCBF_A_HOOK_##_attribute
#define F(_attribute)	NF_DLCBF_A_FLOWS_##_attribute

/* A NUL makes it four bytes: no padding that could be cut without loss. */
#define NAME	"tab"

#define MAX_FAILURES	8

/**
 * struct answer - what came back to a request
 * @error:     of the acknowledgment, or of a dump's end
 * @explained: it came with words
 * @offset:    of the attribute that it names, 0 for none
 * @missing:   the attribute that it names as missing, 0 for none
 * @messages:  messages of data
 * @flows:     flows in them
 * @packets:   sum of their counters
 * @applied:   flows changed
 * @failed:    flows not changed
 * @positions: of the first of these
 * @errors:    likewise
 * @nfailures: how many of them were listed
 */
struct answer {
	int error;
	bool explained;
	u32 offset;
	u32 missing;
	u32 messages;
	u32 flows;
	u64 packets;
	u32 applied;
	u32 failed;
	u32 positions[MAX_FAILURES];
	u32 errors[MAX_FAILURES];
	u32 nfailures;
};

/**
 * struct client - a socket, and what came back to the last request
 * @sock:     netlink
 * @file:     of @sock; the core asks it whether the sender is an administrator
 * @buffer:   for what comes back
 * @sequence: of the last request
 * @answer:   to it
 */
struct client {
	struct socket *sock;
	struct file *file;
	u8 *buffer;
	u32 sequence;
	struct answer answer;
};

#define BUFFER_SIZE	SZ_32K

static int netlink_init(struct kunit *test)
{
	struct client *client = kunit_kzalloc(test, sizeof(*client), GFP_KERNEL);
	int err, on = 1;

	if (!client)
		return -ENOMEM;
	client->buffer = kunit_kmalloc(test, BUFFER_SIZE, GFP_KERNEL);
	if (!client->buffer)
		return -ENOMEM;
	test_init(test);
	err = sock_create_kern(&init_net, AF_NETLINK, SOCK_RAW, NETLINK_GENERIC, &client->sock);
	if (err)
		return err;
	client->file = sock_alloc_file(client->sock, O_NONBLOCK, "netlink");
	if (IS_ERR(client->file))
		return PTR_ERR(client->file);
	test->priv = client;
	return client->sock->ops->setsockopt(client->sock, SOL_NETLINK, NETLINK_EXT_ACK,
					     KERNEL_SOCKPTR(&on), sizeof(on));
}

static void netlink_exit(struct kunit *test)
{
	struct client *client = test->priv;

	if (client) {
		fput(client->file);
		/* A kernel thread's files are closed later, and tables with them. */
		flush_delayed_fput();
	}
	test_exit(test);
}

/* ---- answers ---- */

static void read_failure(struct answer *answer, const struct nlattr *nest)
{
	struct nlattr *tb[NF_DLCBF_A_FAILURE_MAX + 1];

	if (nla_parse_nested(tb, NF_DLCBF_A_FAILURE_MAX, nest, NULL, NULL) ||
	    !tb[NF_DLCBF_A_FAILURE_POSITION] || !tb[NF_DLCBF_A_FAILURE_ERROR] ||
	    answer->nfailures == MAX_FAILURES)
		return;
	answer->positions[answer->nfailures] = nla_get_u32(tb[NF_DLCBF_A_FAILURE_POSITION]);
	answer->errors[answer->nfailures++] = nla_get_u32(tb[NF_DLCBF_A_FAILURE_ERROR]);
}

static void read_flow(struct answer *answer, const struct nlattr *nest)
{
	struct nlattr *tb[NF_DLCBF_A_FLOW_MAX + 1];

	if (nla_parse_nested(tb, NF_DLCBF_A_FLOW_MAX, nest, NULL, NULL))
		return;
	answer->flows++;
	if (tb[NF_DLCBF_A_FLOW_PACKETS])
		answer->packets += nla_get_u64(tb[NF_DLCBF_A_FLOW_PACKETS]);
}

static void read_data(struct answer *answer, const struct nlmsghdr *nlh)
{
	const struct genlmsghdr *header = nlmsg_data(nlh);
	const struct nlattr *attr;
	int rem;

	answer->messages++;
	if (header->cmd < NF_DLCBF_CMD_FLOW_ADD)
		return;
	nlmsg_for_each_attr(attr, nlh, GENL_HDRLEN, rem) {
		switch (nla_type(attr)) {
		case F(FLOW):
			read_flow(answer, attr);
			break;
		case F(FAILURE):
			read_failure(answer, attr);
			break;
		case F(APPLIED):
			answer->applied = nla_get_u32(attr);
			break;
		case F(FAILED):
			answer->failed = nla_get_u32(attr);
			break;
		}
	}
}

/* The words of an acknowledgment come after the request or its header. */
static void read_error(struct answer *answer, const struct nlmsghdr *nlh)
{
	const struct nlmsgerr *error = nlmsg_data(nlh);
	struct nlattr *tb[NLMSGERR_ATTR_MAX + 1];
	int skip = sizeof(*error);

	answer->error = error->error;
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
		skip += nlmsg_len(&error->msg);
	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS) ||
	    nla_parse(tb, NLMSGERR_ATTR_MAX, nlmsg_attrdata(nlh, skip),
		      nlmsg_attrlen(nlh, skip), NULL, NULL))
		return;
	answer->explained = tb[NLMSGERR_ATTR_MSG];
	if (tb[NLMSGERR_ATTR_OFFS])
		answer->offset = nla_get_u32(tb[NLMSGERR_ATTR_OFFS]);
	if (tb[NLMSGERR_ATTR_MISS_TYPE])
		answer->missing = nla_get_u32(tb[NLMSGERR_ATTR_MISS_TYPE]);
}

/* Return: nothing more will come. */
static bool read_messages(struct client *client, int length)
{
	const struct nlmsghdr *nlh = (const struct nlmsghdr *)client->buffer;
	struct answer *answer = &client->answer;

	for (; nlmsg_ok(nlh, length); nlh = nlmsg_next(nlh, &length)) {
		if (nlh->nlmsg_type == NLMSG_ERROR) {
			read_error(answer, nlh);
			return true;
		}
		if (nlh->nlmsg_type == NLMSG_DONE) {
			answer->error = *(int *)nlmsg_data(nlh);
			return true;
		}
		read_data(answer, nlh);
	}
	return false;
}

static void receive(struct kunit *test)
{
	struct client *client = test->priv;
	struct msghdr msg = {};
	struct kvec vec;
	int length;

	do {
		vec.iov_base = client->buffer;
		vec.iov_len = BUFFER_SIZE;
		length = kernel_recvmsg(client->sock, &msg, &vec, 1, BUFFER_SIZE, MSG_DONTWAIT);
		/* A request that is handled has been answered. */
		KUNIT_ASSERT_GT(test, length, 0);
	} while (!read_messages(client, length));
}

/* ---- requests ---- */

/* What came back last; it changes with every request. */
static const struct answer *answer_of(struct kunit *test)
{
	const struct client *client = test->priv;

	return &client->answer;
}

static struct sk_buff *request(struct kunit *test, u8 cmd, int flags)
{
	struct client *client = test->priv;
	struct sk_buff *skb = nlmsg_new(SZ_16K, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	genlmsg_put(skb, 0, ++client->sequence, &nf_dlcbf_nl_family,
		    NLM_F_REQUEST | NLM_F_ACK | flags, cmd);
	return skb;
}

/* Send so many bytes of what is in @skb, and read all that comes back. */
static int send_part(struct kunit *test, struct sk_buff *skb, u32 length)
{
	struct client *client = test->priv;
	struct kvec vec = { .iov_base = skb->data, .iov_len = length };
	struct msghdr msg = {};

	nlmsg_hdr(skb)->nlmsg_len = length;
	memset(&client->answer, 0, sizeof(client->answer));
	KUNIT_ASSERT_EQ(test, kernel_sendmsg(client->sock, &msg, &vec, 1, length), (int)length);
	receive(test);
	return client->answer.error;
}

/* @skb is gone afterwards. */
static int ask(struct kunit *test, struct sk_buff *skb)
{
	const int err = send_part(test, skb, skb->len);

	nlmsg_free(skb);
	return err;
}

/* As libmnl does it: whoever sends does not pad. */
static void put_u64(struct sk_buff *skb, int attribute, u64 value)
{
	nla_put(skb, attribute, sizeof(value), &value);
}

static void put_table(struct sk_buff *skb, u32 type)
{
	nla_put_u32(skb, T(TYPE), type);
	nla_put_u32(skb, T(FAMILY), NF_DLCBF_FAMILY_IPV4);
	nla_put_u32(skb, T(FIELDS), SADDR);
	put_u64(skb, T(MAX_FLOWS), 1000);
	nla_put_u8(skb, T(KEYS), 1);
	nla_put_string(skb, T(NAME), NAME);
}

static void add_table(struct kunit *test)
{
	struct sk_buff *skb = request(test, NF_DLCBF_CMD_TABLE_ADD, 0);

	put_table(skb, NF_DLCBF_TYPE_FLOW);
	KUNIT_ASSERT_EQ(test, ask(test, skb), 0);
}

/* Flow @n, with @packets in its counters. */
static void put_flow(struct sk_buff *skb, u32 n, u64 packets)
{
	struct nlattr *nest = nla_nest_start(skb, F(FLOW));

	nla_put_in_addr(skb, NF_DLCBF_A_FLOW_SADDR, htonl(0x0a000000 + n));
	if (packets)
		put_u64(skb, NF_DLCBF_A_FLOW_PACKETS, packets);
	nla_nest_end(skb, nest);
}

static u32 count_tables(void)
{
	struct nf_dlcbf_table *table;
	u32 count = 0;

	mutex_lock(&test_net()->lock);
	list_for_each_entry(table, &test_net()->tables, list)
		count++;
	mutex_unlock(&test_net()->lock);
	return count;
}

static struct nf_dlcbf_table *only_table(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, count_tables(), 1U);
	return list_first_entry(&test_net()->tables, struct nf_dlcbf_table, list);
}

/* ---- what a request lacks ---- */

static const struct missing_case {
	const char *desc;
	u8 cmd;
	int flags;
	/* Attributes that it has: its table's name, in which, and one number. */
	int name;
	int number;
	int missing;
} missing_cases[] = {
	{ "table add: name", NF_DLCBF_CMD_TABLE_ADD, 0, 0, T(TYPE), T(NAME) },
	{ "table add: type", NF_DLCBF_CMD_TABLE_ADD, 0, T(NAME), 0, T(TYPE) },
	{ "table add: key", NF_DLCBF_CMD_TABLE_ADD, 0, T(NAME), T(TYPE), T(FIELDS) },
	{ "table set: name", NF_DLCBF_CMD_TABLE_SET, 0, 0, 0, T(NAME) },
	{ "table del: name", NF_DLCBF_CMD_TABLE_DEL, 0, 0, 0, T(NAME) },
	{ "table get: name", NF_DLCBF_CMD_TABLE_GET, 0, 0, 0, T(NAME) },
	{ "table flush: name", NF_DLCBF_CMD_TABLE_FLUSH, 0, 0, 0, T(NAME) },
	{ "table swap: name", NF_DLCBF_CMD_TABLE_SWAP, 0, 0, 0, T(NAME) },
	{ "table swap: other", NF_DLCBF_CMD_TABLE_SWAP, 0, T(NAME), 0, T(OTHER) },
	{ "hook add: table", NF_DLCBF_CMD_HOOK_ADD, 0, 0, H(HOOK), H(TABLE) },
	{ "hook add: hook", NF_DLCBF_CMD_HOOK_ADD, 0, H(TABLE), 0, H(HOOK) },
	{ "hook del: table", NF_DLCBF_CMD_HOOK_DEL, 0, 0, H(HOOK), H(TABLE) },
	{ "hook del: hook", NF_DLCBF_CMD_HOOK_DEL, 0, H(TABLE), 0, H(HOOK) },
	{ "flow add: table", NF_DLCBF_CMD_FLOW_ADD, 0, 0, 0, F(TABLE) },
	{ "flow add: flow", NF_DLCBF_CMD_FLOW_ADD, 0, F(TABLE), 0, F(FLOW) },
	{ "flow del: table", NF_DLCBF_CMD_FLOW_DEL, 0, 0, 0, F(TABLE) },
	{ "flow del: flow", NF_DLCBF_CMD_FLOW_DEL, 0, F(TABLE), 0, F(FLOW) },
	{ "flow get: table", NF_DLCBF_CMD_FLOW_GET, 0, 0, 0, F(TABLE) },
	{ "flow get: flow", NF_DLCBF_CMD_FLOW_GET, 0, F(TABLE), 0, F(FLOW) },
	{ "flow reset: table", NF_DLCBF_CMD_FLOW_RESET, 0, 0, 0, F(TABLE) },
	{ "flow reset: flow", NF_DLCBF_CMD_FLOW_RESET, 0, F(TABLE), 0, F(FLOW) },
	{ "flow dump: table", NF_DLCBF_CMD_FLOW_GET, NLM_F_DUMP, 0, 0, F(TABLE) },
};

KUNIT_ARRAY_PARAM_DESC(missing, missing_cases, desc);

static void test_missing(struct kunit *test)
{
	const struct missing_case *c = test->param_value;
	const struct answer *answer = answer_of(test);
	struct sk_buff *skb = request(test, c->cmd, c->flags);

	if (c->name)
		nla_put_string(skb, c->name, NAME);
	if (c->number)
		nla_put_u32(skb, c->number, 1);
	KUNIT_EXPECT_EQ(test, ask(test, skb), -EINVAL);
	KUNIT_EXPECT_EQ(test, answer->missing, (u32)c->missing);
	KUNIT_EXPECT_TRUE(test, answer->explained);
	KUNIT_EXPECT_EQ(test, count_tables(), 0U);
}

/* ---- what a request has too much ---- */

static const struct strange_case {
	const char *desc;
	u8 cmd;
	int flags;
	int name;
	int strange;
} strange_cases[] = {
	{ "table add: unknown", NF_DLCBF_CMD_TABLE_ADD, 0, T(NAME), NF_DLCBF_A_TABLE_MAX + 1 },
	{ "table add: memory", NF_DLCBF_CMD_TABLE_ADD, 0, T(NAME), T(MEMORY) },
	{ "table add: other", NF_DLCBF_CMD_TABLE_ADD, 0, T(NAME), T(OTHER) },
	{ "table set: type", NF_DLCBF_CMD_TABLE_SET, 0, T(NAME), T(TYPE) },
	{ "table set: key", NF_DLCBF_CMD_TABLE_SET, 0, T(NAME), T(FIELDS) },
	{ "table del: type", NF_DLCBF_CMD_TABLE_DEL, 0, T(NAME), T(TYPE) },
	{ "table get: type", NF_DLCBF_CMD_TABLE_GET, 0, T(NAME), T(TYPE) },
	{ "table dump: type", NF_DLCBF_CMD_TABLE_GET, NLM_F_DUMP, T(NAME), T(TYPE) },
	{ "table flush: unknown", NF_DLCBF_CMD_TABLE_FLUSH, 0, T(NAME), NF_DLCBF_A_TABLE_MAX + 1 },
	{ "table swap: type", NF_DLCBF_CMD_TABLE_SWAP, 0, T(NAME), T(TYPE) },
	{ "publish: name", NF_DLCBF_CMD_TABLE_PUBLISH, 0, 0, T(ID) },
	{ "hook add: unknown", NF_DLCBF_CMD_HOOK_ADD, 0, H(TABLE), NF_DLCBF_A_HOOK_MAX + 1 },
	{ "hook del: verdict", NF_DLCBF_CMD_HOOK_DEL, 0, H(TABLE), H(HIT) },
	{ "hook dump: verdict", NF_DLCBF_CMD_HOOK_GET, NLM_F_DUMP, H(TABLE), H(HIT) },
	{ "flow add: applied", NF_DLCBF_CMD_FLOW_ADD, 0, F(TABLE), F(APPLIED) },
	{ "flow add: unknown", NF_DLCBF_CMD_FLOW_ADD, 0, F(TABLE), NF_DLCBF_A_FLOWS_MAX + 1 },
	{ "flow del: failed", NF_DLCBF_CMD_FLOW_DEL, 0, F(TABLE), F(FAILED) },
	{ "flow get: applied", NF_DLCBF_CMD_FLOW_GET, 0, F(TABLE), F(APPLIED) },
	{ "flow dump: applied", NF_DLCBF_CMD_FLOW_GET, NLM_F_DUMP, F(TABLE), F(APPLIED) },
	{ "flow reset: applied", NF_DLCBF_CMD_FLOW_RESET, 0, F(TABLE), F(APPLIED) },
};

KUNIT_ARRAY_PARAM_DESC(strange, strange_cases, desc);

static void test_strange(struct kunit *test)
{
	const struct strange_case *c = test->param_value;
	const struct answer *answer = answer_of(test);
	struct sk_buff *skb = request(test, c->cmd, c->flags);
	u32 offset;

	if (c->name)
		nla_put_string(skb, c->name, NAME);
	offset = skb->len;
	nla_put_u32(skb, c->strange, 1);
	KUNIT_EXPECT_LT(test, ask(test, skb), 0);
	KUNIT_EXPECT_EQ(test, answer->offset, offset);
	KUNIT_EXPECT_TRUE(test, answer->explained);
	KUNIT_EXPECT_EQ(test, count_tables(), 0U);
}

static void test_no_such_command(struct kunit *test)
{
	const u8 cmds[] = { NF_DLCBF_CMD_UNSPEC, NF_DLCBF_CMD_TABLE_ADD_NTF,
			    NF_DLCBF_CMD_FLOW_EVICT_NTF, NF_DLCBF_CMD_MAX + 1, 255 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cmds); i++)
		KUNIT_EXPECT_EQ(test, ask(test, request(test, cmds[i], 0)), -EOPNOTSUPP);
}

/* ---- messages that end too early ---- */

static void test_cut_table(struct kunit *test)
{
	struct sk_buff *skb = request(test, NF_DLCBF_CMD_TABLE_ADD, 0);
	u32 length;

	put_table(skb, NF_DLCBF_TYPE_FLOW);
	for (length = NLMSG_HDRLEN; length < skb->len; length++)
		KUNIT_EXPECT_LT_MSG(test, send_part(test, skb, length), 0, "%u bytes", length);
	KUNIT_EXPECT_EQ(test, count_tables(), 0U);
	KUNIT_EXPECT_EQ(test, ask(test, skb), 0);
	KUNIT_EXPECT_EQ(test, count_tables(), 1U);
}

static void test_cut_flows(struct kunit *test)
{
	struct sk_buff *skb;
	u32 length;

	add_table(test);
	skb = request(test, NF_DLCBF_CMD_FLOW_ADD, 0);
	put_flow(skb, 1, 5);
	put_flow(skb, 2, 0);
	nla_put_string(skb, F(TABLE), NAME);
	for (length = NLMSG_HDRLEN; length < skb->len; length++)
		KUNIT_EXPECT_LT_MSG(test, send_part(test, skb, length), 0, "%u bytes", length);
	KUNIT_EXPECT_EQ(test, test_count(only_table(test)), 0U);
	KUNIT_EXPECT_EQ(test, ask(test, skb), 0);
	KUNIT_EXPECT_EQ(test, test_count(only_table(test)), 2U);
}

/* A length within a message that says more or less than is there. */
static void test_wrong_length(struct kunit *test)
{
	struct sk_buff *skb;
	struct nlattr *nest;
	u32 was, length;

	add_table(test);
	skb = request(test, NF_DLCBF_CMD_FLOW_ADD, 0);
	nla_put_string(skb, F(TABLE), NAME);
	put_flow(skb, 1, 0);
	nest = (struct nlattr *)(skb->data + NLMSG_HDRLEN + GENL_HDRLEN + 8);
	was = nest->nla_len;
	for (length = 0; length < 2 * was; length++) {
		if (length == was)
			continue;
		nest->nla_len = length;
		KUNIT_EXPECT_LT_MSG(test, send_part(test, skb, skb->len), 0, "%u bytes", length);
	}
	KUNIT_EXPECT_EQ(test, test_count(only_table(test)), 0U);
	nest->nla_len = was;
	KUNIT_EXPECT_EQ(test, ask(test, skb), 0);
	KUNIT_EXPECT_EQ(test, test_count(only_table(test)), 1U);
}

/* ---- what requests do ---- */

static struct sk_buff *flow_request(struct kunit *test, u8 cmd, int flags)
{
	struct sk_buff *skb = request(test, cmd, flags);

	nla_put_string(skb, F(TABLE), NAME);
	return skb;
}

static int one_flow(struct kunit *test, u8 cmd, u32 n, u64 packets)
{
	struct sk_buff *skb = flow_request(test, cmd, 0);

	put_flow(skb, n, packets);
	return ask(test, skb);
}

static void test_one(struct kunit *test)
{
	const struct answer *answer = answer_of(test);

	KUNIT_EXPECT_EQ(test, one_flow(test, NF_DLCBF_CMD_FLOW_ADD, 1, 7), -ENOENT);
	add_table(test);
	KUNIT_EXPECT_EQ(test, one_flow(test, NF_DLCBF_CMD_FLOW_GET, 1, 0), -ENOENT);
	KUNIT_EXPECT_EQ(test, one_flow(test, NF_DLCBF_CMD_FLOW_ADD, 1, 7), 0);
	KUNIT_EXPECT_EQ(test, one_flow(test, NF_DLCBF_CMD_FLOW_ADD, 1, 7), -EEXIST);
	KUNIT_EXPECT_TRUE(test, answer->explained);
	KUNIT_EXPECT_EQ(test, answer->offset, (u32)(NLMSG_HDRLEN + GENL_HDRLEN + 8));
	KUNIT_EXPECT_EQ(test, one_flow(test, NF_DLCBF_CMD_FLOW_GET, 1, 0), 0);
	KUNIT_EXPECT_EQ(test, answer->flows, 1U);
	KUNIT_EXPECT_EQ(test, answer->packets, 7ULL);
	KUNIT_EXPECT_EQ(test, one_flow(test, NF_DLCBF_CMD_FLOW_RESET, 1, 0), 0);
	KUNIT_EXPECT_EQ(test, answer->packets, 7ULL);
	KUNIT_EXPECT_EQ(test, one_flow(test, NF_DLCBF_CMD_FLOW_GET, 1, 0), 0);
	KUNIT_EXPECT_EQ(test, answer->packets, 0ULL);
	KUNIT_EXPECT_EQ(test, one_flow(test, NF_DLCBF_CMD_FLOW_DEL, 1, 0), 0);
	KUNIT_EXPECT_EQ(test, one_flow(test, NF_DLCBF_CMD_FLOW_DEL, 1, 0), -ENOENT);
	KUNIT_EXPECT_TRUE(test, answer->explained);
	KUNIT_EXPECT_EQ(test, test_count(only_table(test)), 0U);
}

/* Of many flows in a message, those that fail are told by their position. */
static void test_bulk(struct kunit *test)
{
	const struct answer *answer = answer_of(test);
	struct sk_buff *skb;
	u32 n;

	add_table(test);
	KUNIT_ASSERT_EQ(test, one_flow(test, NF_DLCBF_CMD_FLOW_ADD, 2, 0), 0);
	skb = flow_request(test, NF_DLCBF_CMD_FLOW_ADD, 0);
	for (n = 0; n < 5; n++)
		put_flow(skb, n, 0);
	put_flow(skb, 0, 0);
	KUNIT_EXPECT_EQ(test, ask(test, skb), 0);
	KUNIT_EXPECT_EQ(test, answer->applied, 4U);
	KUNIT_EXPECT_EQ(test, answer->failed, 2U);
	KUNIT_ASSERT_EQ(test, answer->nfailures, 2U);
	KUNIT_EXPECT_EQ(test, answer->positions[0], 2U);
	KUNIT_EXPECT_EQ(test, answer->errors[0], (u32)EEXIST);
	KUNIT_EXPECT_EQ(test, answer->positions[1], 5U);
	KUNIT_EXPECT_EQ(test, answer->errors[1], (u32)EEXIST);
	KUNIT_EXPECT_EQ(test, test_count(only_table(test)), 5U);
	skb = flow_request(test, NF_DLCBF_CMD_FLOW_DEL, 0);
	put_flow(skb, 9, 0);
	put_flow(skb, 4, 0);
	KUNIT_EXPECT_EQ(test, ask(test, skb), 0);
	KUNIT_EXPECT_EQ(test, answer->applied, 1U);
	KUNIT_ASSERT_EQ(test, answer->nfailures, 1U);
	KUNIT_EXPECT_EQ(test, answer->positions[0], 0U);
	KUNIT_EXPECT_EQ(test, answer->errors[0], (u32)ENOENT);
	KUNIT_EXPECT_EQ(test, test_count(only_table(test)), 4U);
}

/* One flow that is not well formed, and nothing of the message is done. */
static void test_bulk_malformed(struct kunit *test)
{
	const struct answer *answer = answer_of(test);
	struct sk_buff *skb;
	struct nlattr *nest;
	u32 n;

	add_table(test);
	skb = flow_request(test, NF_DLCBF_CMD_FLOW_ADD, 0);
	for (n = 0; n < 5; n++)
		put_flow(skb, n, 0);
	nest = nla_nest_start(skb, F(FLOW));
	nla_put_be16(skb, NF_DLCBF_A_FLOW_SPORT, htons(80));
	nla_nest_end(skb, nest);
	KUNIT_EXPECT_EQ(test, ask(test, skb), -EINVAL);
	KUNIT_EXPECT_TRUE(test, answer->explained);
	KUNIT_EXPECT_EQ(test, test_count(only_table(test)), 0U);
}

#define DUMP_FLOWS	900

/* More than a message holds: each of them once, with its own counters. */
static void test_dump(struct kunit *test)
{
	const struct answer *answer = answer_of(test);
	struct sk_buff *skb;
	struct nlattr *nest;
	u64 packets = 0;
	u32 n;

	add_table(test);
	for (n = 0; n < DUMP_FLOWS; n++) {
		KUNIT_ASSERT_EQ(test, one_flow(test, NF_DLCBF_CMD_FLOW_ADD, n, n + 1), 0);
		packets += n + 1;
	}
	KUNIT_EXPECT_EQ(test, ask(test, flow_request(test, NF_DLCBF_CMD_FLOW_GET, NLM_F_DUMP)), 0);
	KUNIT_EXPECT_EQ(test, answer->flows, (u32)DUMP_FLOWS);
	KUNIT_EXPECT_EQ(test, answer->packets, packets);
	KUNIT_EXPECT_GT(test, answer->messages, 1U);

	skb = flow_request(test, NF_DLCBF_CMD_FLOW_GET, NLM_F_DUMP);
	nest = nla_nest_start(skb, F(FILTER));
	nla_put_in_addr(skb, NF_DLCBF_A_FLOW_SADDR, htonl(0x0a000100));
	nla_put_u8(skb, NF_DLCBF_A_FLOW_SADDR_PREFIX, 24);
	nla_nest_end(skb, nest);
	KUNIT_EXPECT_EQ(test, ask(test, skb), 0);
	KUNIT_EXPECT_EQ(test, answer->flows, 256U);

	KUNIT_EXPECT_EQ(test,
			ask(test, flow_request(test, NF_DLCBF_CMD_FLOW_RESET, NLM_F_DUMP)), 0);
	KUNIT_EXPECT_EQ(test, answer->packets, packets);
	KUNIT_EXPECT_EQ(test, ask(test, flow_request(test, NF_DLCBF_CMD_FLOW_GET, NLM_F_DUMP)), 0);
	KUNIT_EXPECT_EQ(test, answer->flows, (u32)DUMP_FLOWS);
	KUNIT_EXPECT_EQ(test, answer->packets, 0ULL);
}

static int staged_table(struct kunit *test)
{
	struct sk_buff *skb = request(test, NF_DLCBF_CMD_TABLE_ADD, 0);

	put_table(skb, NF_DLCBF_TYPE_FLOW);
	nla_put_flag(skb, T(STAGED));
	return ask(test, skb);
}

/* Nobody sees a staged table until it is published. */
static void test_staged(struct kunit *test)
{
	struct sk_buff *skb;

	KUNIT_EXPECT_EQ(test, staged_table(test), 0);
	KUNIT_EXPECT_EQ(test, one_flow(test, NF_DLCBF_CMD_FLOW_ADD, 1, 0), -ENOENT);
	skb = flow_request(test, NF_DLCBF_CMD_FLOW_ADD, 0);
	nla_put_flag(skb, F(STAGED));
	put_flow(skb, 1, 0);
	KUNIT_EXPECT_EQ(test, ask(test, skb), 0);
	KUNIT_EXPECT_EQ(test, one_flow(test, NF_DLCBF_CMD_FLOW_GET, 1, 0), -ENOENT);
	KUNIT_EXPECT_EQ(test, ask(test, request(test, NF_DLCBF_CMD_TABLE_PUBLISH, 0)), 0);
	KUNIT_EXPECT_EQ(test, one_flow(test, NF_DLCBF_CMD_FLOW_GET, 1, 0), 0);
}

/* With the socket, what it has staged goes: netlink_exit() sees no memory held. */
static void test_staged_abandoned(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, staged_table(test), 0);
	KUNIT_EXPECT_GT(test, atomic64_read(&test_net()->memory), 0LL);
}

static struct kunit_case netlink_cases[] = {
	KUNIT_CASE_PARAM(test_missing, missing_gen_params),
	KUNIT_CASE_PARAM(test_strange, strange_gen_params),
	KUNIT_CASE(test_no_such_command),
	KUNIT_CASE(test_cut_table),
	KUNIT_CASE(test_cut_flows),
	KUNIT_CASE(test_wrong_length),
	KUNIT_CASE(test_one),
	KUNIT_CASE(test_bulk),
	KUNIT_CASE(test_bulk_malformed),
	KUNIT_CASE(test_dump),
	KUNIT_CASE(test_staged),
	KUNIT_CASE(test_staged_abandoned),
	{}
};

static struct kunit_suite netlink_suite = {
	.name = "nf_dlcbf_netlink",
	.init = netlink_init,
	.exit = netlink_exit,
	.test_cases = netlink_cases,
};

kunit_test_suite(netlink_suite);
