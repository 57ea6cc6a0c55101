// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"

#define FAMILY_ID	40
#define KEY_MAX		256
#define REPLY_SIZE	(32 << 10)

struct fake_flow {
	unsigned char key[KEY_MAX];	/* attributes */
	size_t len;
	u32 count;
	u64 packets, bytes, timeout;
};

struct fake_table {
	struct fake_table *next;
	char name[32];
	u32 portid;	/* staged by; 0: live */
	u32 id;
	unsigned char settings[4096];	/* attributes */
	size_t len;
	struct fake_flow *flows;
	size_t n, size;
};

struct fake_hook {
	struct fake_hook *next;
	char table[32];
	u32 portid;
	unsigned char attrs[512];
	size_t len;
};

struct reply {
	struct reply *next;
	size_t len;
	char data[REPLY_SIZE];
};

struct fake_troubles fake_troubles;
unsigned int fake_messages, fake_flow_messages;

static struct fake_table *tables;
static struct fake_hook *hooks;
static struct reply *replies;
static u32 last_port, last_id;

static void free_table(struct fake_table *t)
{
	free(t->flows);
	free(t);
}

static void drop_tables(u32 portid, bool all)
{
	struct fake_table **t = &tables;
	struct fake_hook **h = &hooks;

	while (*t) {
		struct fake_table *old = *t;

		if (!all && (!portid || old->portid != portid)) {
			t = &old->next;
			continue;
		}
		*t = old->next;
		free_table(old);
	}
	while (*h) {
		struct fake_hook *old = *h;

		if (!all && (!portid || old->portid != portid)) {
			h = &old->next;
			continue;
		}
		*h = old->next;
		free(old);
	}
}

void fake_reset(void)
{
	drop_tables(0, true);
	memset(&fake_troubles, 0, sizeof(fake_troubles));
	fake_messages = 0;
	fake_flow_messages = 0;
}

/* ---- answers ---- */

static struct nlmsghdr *reply_begin(const struct nlmsghdr *req, u8 cmd,
				    u16 flags)
{
	struct reply *r = calloc(1, sizeof(*r)), **p = &replies;
	struct genlmsghdr *g;
	struct nlmsghdr *nlh;

	while (*p)
		p = &(*p)->next;
	*p = r;
	nlh = mnl_nlmsg_put_header(r->data);
	nlh->nlmsg_type = FAMILY_ID;
	nlh->nlmsg_flags = flags;
	nlh->nlmsg_seq = req->nlmsg_seq;
	nlh->nlmsg_pid = req->nlmsg_pid;
	g = mnl_nlmsg_put_extra_header(nlh, sizeof(*g));
	g->cmd = cmd;
	g->version = 1;
	return nlh;
}

static void reply_end(const struct nlmsghdr *nlh)
{
	struct reply *r = replies;

	while ((const void *)r->data != nlh)
		r = r->next;
	r->len = nlh->nlmsg_len;
}

static void add_bytes(struct nlmsghdr *nlh, const void *data, size_t len)
{
	memcpy((char *)nlh + nlh->nlmsg_len, data, len);
	nlh->nlmsg_len += len;
}

static void acknowledge(const struct nlmsghdr *req, int error, const char *text,
			u32 offset)
{
	struct nlmsghdr *nlh = reply_begin(req, 0, 0);
	struct nlmsgerr err = { .error = error };

	nlh->nlmsg_type = NLMSG_ERROR;
	nlh->nlmsg_flags = NLM_F_CAPPED;
	nlh->nlmsg_len = NLMSG_HDRLEN;
	err.msg = *req;
	add_bytes(nlh, &err, sizeof(err));
	if (text) {
		nlh->nlmsg_flags |= NLM_F_ACK_TLVS;
		mnl_attr_put_strz(nlh, NLMSGERR_ATTR_MSG, text);
	}
	if (offset) {
		nlh->nlmsg_flags |= NLM_F_ACK_TLVS;
		mnl_attr_put_u32(nlh, NLMSGERR_ATTR_OFFS, offset);
	}
	reply_end(nlh);
}

static void done(const struct nlmsghdr *req)
{
	struct nlmsghdr *nlh = reply_begin(req, 0, NLM_F_MULTI);
	int zero = 0;

	nlh->nlmsg_type = NLMSG_DONE;
	nlh->nlmsg_len = NLMSG_HDRLEN;
	if (fake_troubles.interrupt) {
		fake_troubles.interrupt--;
		nlh->nlmsg_flags |= NLM_F_DUMP_INTR;
	}
	add_bytes(nlh, &zero, sizeof(zero));
	reply_end(nlh);
}

static u32 offset_of(const struct nlmsghdr *req, const struct nlattr *attr)
{
	return (const char *)attr - (const char *)req;
}

/* ---- tables ---- */

static struct fake_table *find_table(const struct nlattr *name, u32 portid)
{
	struct fake_table *t;
	char buf[32];

	if (!name)
		return NULL;
	nl_get_str(name, buf, sizeof(buf));
	for (t = tables; t; t = t->next)
		if (!strcmp(t->name, buf) && t->portid == portid)
			return t;
	return NULL;
}

static void put_table(struct nlmsghdr *nlh, const struct fake_table *t)
{
	struct nlattr *nest;

	mnl_attr_put_strz(nlh, NF_DLCBF_A_TABLE_NAME, t->name);
	mnl_attr_put_u32(nlh, NF_DLCBF_A_TABLE_ID, t->id);
	if (fake_troubles.no_secret) {
		const struct nlattr *attr;

		mnl_attr_for_each_payload((void *)t->settings, t->len)
			if (mnl_attr_get_type(attr) != NF_DLCBF_A_TABLE_SECRET)
				add_bytes(nlh, attr, MNL_ALIGN(attr->nla_len));
	} else {
		add_bytes(nlh, t->settings, t->len);
	}
	mnl_attr_put_u32(nlh, NF_DLCBF_A_TABLE_HOOKS, 0);
	mnl_attr_put_u64(nlh, NF_DLCBF_A_TABLE_MEMORY, 1 << 20);
	mnl_attr_put_u64(nlh, NF_DLCBF_A_TABLE_CELLS, 1000);
	mnl_attr_put_u64(nlh, NF_DLCBF_A_TABLE_USED, t->n);
	mnl_attr_put_u64(nlh, NF_DLCBF_A_TABLE_FLOWS, t->n);
	mnl_attr_put_u64(nlh, NF_DLCBF_A_TABLE_FPR_MAX, 953674316406ULL);
	mnl_attr_put_u64(nlh, NF_DLCBF_A_TABLE_FPR_NOW, 0);
	mnl_attr_put_u32(nlh, NF_DLCBF_A_TABLE_OVERFLOW, -12300);
	nest = mnl_attr_nest_start(nlh, NF_DLCBF_A_TABLE_STATS);
	mnl_attr_put_u64(nlh, NF_DLCBF_A_STATS_PACKETS, UINT64_MAX);
	mnl_attr_put_u64(nlh, NF_DLCBF_A_STATS_HIT, 7);
	mnl_attr_put_u64(nlh, NF_DLCBF_A_STATS_DROPPED, 3);
	mnl_attr_put_u64(nlh, NF_DLCBF_A_STATS_ADDED, 2);
	mnl_attr_nest_end(nlh, nest);
}

/* What was given, and a default for each setting that was not. */
static void make_settings(struct fake_table *t, const struct nlattr **tb,
			  bool secret)
{
	static const struct { u16 type; size_t len; u64 value; } defaults[] = {
		{ NF_DLCBF_A_TABLE_FAMILY, 4, NF_DLCBF_FAMILY_INET },
		{ NF_DLCBF_A_TABLE_FPR, 8, 1000000000000ULL },
		{ NF_DLCBF_A_TABLE_KEYS, 1, 1 },
		{ NF_DLCBF_A_TABLE_LEARN, 1, 0 },
		{ NF_DLCBF_A_TABLE_BIDIR, 1, 0 },
		{ NF_DLCBF_A_TABLE_JUDGE_NEIGHBOURS, 1, 0 },
		{ NF_DLCBF_A_TABLE_EVENTS, 1, 0 },
		{ NF_DLCBF_A_TABLE_ON_FULL, 4, NF_DLCBF_ON_FULL_DROP_NEW },
		{ NF_DLCBF_A_TABLE_FRAGMENTS, 4, NF_DLCBF_FRAGMENTS_MISS },
		{ NF_DLCBF_A_TABLE_TIMEOUT, 8, 0 },
	};
	char buf[8192];
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	unsigned char random[NF_DLCBF_SECRET_LEN];
	struct nlattr *nest;
	size_t i;

	for (i = NF_DLCBF_A_TABLE_ID; i <= NF_DLCBF_A_TABLE_GEOMETRY; i++)
		if (tb[i])
			add_bytes(nlh, tb[i], MNL_ALIGN(tb[i]->nla_len));
	for (i = 0; i < ARRAY_SIZE(defaults); i++)
		if (!tb[defaults[i].type])
			mnl_attr_put(nlh, defaults[i].type, defaults[i].len,
				     &defaults[i].value);
	if (!tb[NF_DLCBF_A_TABLE_SECRET] && secret) {
		memset(random, 0xa0 + t->id % 16, sizeof(random));
		mnl_attr_put(nlh, NF_DLCBF_A_TABLE_SECRET, sizeof(random),
			     random);
	}
	if (!tb[NF_DLCBF_A_TABLE_GEOMETRY]) {
		nest = mnl_attr_nest_start(nlh, NF_DLCBF_A_TABLE_GEOMETRY);
		for (i = 1; i <= NF_DLCBF_A_GEOMETRY_MAX; i++)
			mnl_attr_put_u32(nlh, i, 4 * i);
		mnl_attr_nest_end(nlh, nest);
	}
	t->len = nlh->nlmsg_len - NLMSG_HDRLEN;
	memcpy(t->settings, buf + NLMSG_HDRLEN, t->len);
}

static void table_add(const struct nlmsghdr *req, const struct nlattr **tb)
{
	bool staged = tb[NF_DLCBF_A_TABLE_STAGED];
	struct fake_table *t;
	struct nlmsghdr *nlh;

	t = find_table(tb[NF_DLCBF_A_TABLE_NAME], staged ? req->nlmsg_pid : 0);
	if (t && !tb[NF_DLCBF_A_TABLE_EXIST]) {
		acknowledge(req, -EEXIST, "there is a table of this name",
			    offset_of(req, tb[NF_DLCBF_A_TABLE_NAME]));
		return;
	}
	if (!t) {
		t = calloc(1, sizeof(*t));
		nl_get_str(tb[NF_DLCBF_A_TABLE_NAME], t->name, sizeof(t->name));
		t->id = ++last_id;
		t->portid = staged ? req->nlmsg_pid : 0;
		make_settings(t, tb, !tb[NF_DLCBF_A_TABLE_DRY_RUN]);
		if (!tb[NF_DLCBF_A_TABLE_DRY_RUN]) {
			t->next = tables;
			tables = t;
		}
	}
	nlh = reply_begin(req, NF_DLCBF_CMD_TABLE_ADD, 0);
	put_table(nlh, t);
	reply_end(nlh);
	if (tb[NF_DLCBF_A_TABLE_DRY_RUN])
		free_table(t);
	acknowledge(req, 0, NULL, 0);
}

static void table_get(const struct nlmsghdr *req, const struct nlattr **tb)
{
	struct fake_table *t;
	struct nlmsghdr *nlh;

	if (req->nlmsg_flags & NLM_F_DUMP) {
		for (t = tables; t; t = t->next) {
			if (t->portid)
				continue;
			nlh = reply_begin(req, NF_DLCBF_CMD_TABLE_GET,
					  NLM_F_MULTI);
			put_table(nlh, t);
			reply_end(nlh);
		}
		done(req);
		return;
	}
	t = find_table(tb[NF_DLCBF_A_TABLE_NAME], 0);
	if (!t) {
		acknowledge(req, -ENOENT, NULL, 0);
		return;
	}
	nlh = reply_begin(req, NF_DLCBF_CMD_TABLE_GET, 0);
	put_table(nlh, t);
	reply_end(nlh);
	acknowledge(req, 0, NULL, 0);
}

static void table_del(const struct nlmsghdr *req, const struct nlattr **tb)
{
	struct fake_table *t = find_table(tb[NF_DLCBF_A_TABLE_NAME], 0), **p;

	if (!t && !tb[NF_DLCBF_A_TABLE_EXIST]) {
		acknowledge(req, -ENOENT, "no such table",
			    offset_of(req, tb[NF_DLCBF_A_TABLE_NAME]));
		return;
	}
	for (p = &tables; t && *p; p = &(*p)->next) {
		if (*p == t) {
			*p = t->next;
			free_table(t);
			break;
		}
	}
	acknowledge(req, 0, NULL, 0);
}

static void publish(const struct nlmsghdr *req)
{
	struct fake_table **p = &tables;
	struct fake_hook *h, **q = &hooks;

	if (fake_troubles.refuse_publish) {
		fake_troubles.refuse_publish--;
		acknowledge(req, -ENOMEM, "no memory for this", 0);
		return;
	}
	while (*p) {
		struct fake_table *live = *p, *staged;

		for (staged = tables; staged; staged = staged->next)
			if (staged->portid == req->nlmsg_pid &&
			    !strcmp(staged->name, live->name))
				break;
		if (!live->portid && staged) {
			*p = live->next;
			free_table(live);
			continue;
		}
		p = &live->next;
	}
	for (p = &tables; *p; p = &(*p)->next)
		if ((*p)->portid == req->nlmsg_pid)
			(*p)->portid = 0;
	/* Hooks take the place of those of the same table. */
	while (*q) {
		struct fake_hook *live = *q, *staged;

		for (staged = hooks; staged; staged = staged->next)
			if (staged->portid == req->nlmsg_pid &&
			    !strcmp(staged->table, live->table))
				break;
		if (!live->portid && staged) {
			*q = live->next;
			free(live);
			continue;
		}
		q = &live->next;
	}
	for (h = hooks; h; h = h->next)
		if (h->portid == req->nlmsg_pid)
			h->portid = 0;
	acknowledge(req, 0, NULL, 0);
}

/* ---- hooks ---- */

static void hook_add(const struct nlmsghdr *req, const struct nlattr **tb)
{
	bool staged = tb[NF_DLCBF_A_HOOK_STAGED];
	struct fake_hook *h;
	int i;

	if (!find_table(tb[NF_DLCBF_A_HOOK_TABLE], staged ? req->nlmsg_pid : 0)) {
		acknowledge(req, -ENOENT, "no such table",
			    offset_of(req, tb[NF_DLCBF_A_HOOK_TABLE]));
		return;
	}
	h = calloc(1, sizeof(*h));
	nl_get_str(tb[NF_DLCBF_A_HOOK_TABLE], h->table, sizeof(h->table));
	h->portid = staged ? req->nlmsg_pid : 0;
	for (i = NF_DLCBF_A_HOOK_TABLE; i <= NF_DLCBF_A_HOOK_MISS_MASK; i++) {
		if (!tb[i])
			continue;
		memcpy(h->attrs + h->len, tb[i], MNL_ALIGN(tb[i]->nla_len));
		h->len += MNL_ALIGN(tb[i]->nla_len);
	}
	h->next = hooks;
	hooks = h;
	acknowledge(req, 0, NULL, 0);
}

static void hook_get(const struct nlmsghdr *req, const struct nlattr **tb)
{
	const struct fake_hook *h;
	char name[32] = "";

	if (tb[NF_DLCBF_A_HOOK_TABLE])
		nl_get_str(tb[NF_DLCBF_A_HOOK_TABLE], name, sizeof(name));
	for (h = hooks; h; h = h->next) {
		struct nlmsghdr *nlh;

		if (h->portid || (name[0] && strcmp(name, h->table)))
			continue;
		nlh = reply_begin(req, NF_DLCBF_CMD_HOOK_GET, NLM_F_MULTI);
		add_bytes(nlh, h->attrs, h->len);
		reply_end(nlh);
	}
	done(req);
}

/* ---- flows ---- */

/* The attributes of a flow that are its key, in the order of their types. */
static size_t take_key(const struct nlattr **tb, unsigned char *key)
{
	size_t len = 0;
	int i;

	for (i = NF_DLCBF_A_FLOW_FAMILY; i <= NF_DLCBF_A_FLOW_REMAINDER; i++) {
		if (!tb[i] || i == NF_DLCBF_A_FLOW_SADDR_PREFIX ||
		    i == NF_DLCBF_A_FLOW_DADDR_PREFIX)
			continue;
		memcpy(key + len, tb[i], MNL_ALIGN(tb[i]->nla_len));
		len += MNL_ALIGN(tb[i]->nla_len);
	}
	return len;
}

static struct fake_flow *find_flow(struct fake_table *t, const struct nlattr *nest)
{
	const struct nlattr *tb[NF_DLCBF_A_FLOW_MAX + 1];
	unsigned char key[KEY_MAX] = { 0 };
	size_t len, i;

	nl_parse_nested(nest, tb, NF_DLCBF_A_FLOW_MAX);
	len = take_key(tb, key);
	for (i = 0; i < t->n; i++)
		if (t->flows[i].len == len && !memcmp(t->flows[i].key, key, len))
			return &t->flows[i];
	return NULL;
}

static int add_flow(struct fake_table *t, const struct nlattr *nest, bool exist)
{
	const struct nlattr *tb[NF_DLCBF_A_FLOW_MAX + 1];
	struct fake_flow *f;

	/* Looking for each would make large lists slow to test. */
	f = t->n < 5000 ? find_flow(t, nest) : NULL;
	if (f)
		return exist ? 0 : -EEXIST;
	if (t->n == t->size) {
		t->size = t->size ? 2 * t->size : 64;
		t->flows = realloc(t->flows, t->size * sizeof(*t->flows));
	}
	f = &t->flows[t->n++];
	memset(f, 0, sizeof(*f));
	nl_parse_nested(nest, tb, NF_DLCBF_A_FLOW_MAX);
	f->len = take_key(tb, f->key);
	f->count = !tb[NF_DLCBF_A_FLOW_LEARNED];
	if (tb[NF_DLCBF_A_FLOW_COUNT])
		f->count = nl_get_uint(tb[NF_DLCBF_A_FLOW_COUNT]);
	if (tb[NF_DLCBF_A_FLOW_PACKETS])
		f->packets = nl_get_uint(tb[NF_DLCBF_A_FLOW_PACKETS]);
	if (tb[NF_DLCBF_A_FLOW_BYTES])
		f->bytes = nl_get_uint(tb[NF_DLCBF_A_FLOW_BYTES]);
	if (tb[NF_DLCBF_A_FLOW_TIMEOUT])
		f->timeout = nl_get_uint(tb[NF_DLCBF_A_FLOW_TIMEOUT]);
	return 0;
}

static int del_flow(struct fake_table *t, const struct nlattr *nest, bool exist)
{
	struct fake_flow *f = find_flow(t, nest);

	if (!f)
		return exist ? 0 : -ENOENT;
	*f = t->flows[--t->n];
	return 0;
}

static void flow_change(const struct nlmsghdr *req, const struct nlattr **tb,
			bool add)
{
	bool staged = tb[NF_DLCBF_A_FLOWS_STAGED];
	bool exist = tb[NF_DLCBF_A_FLOWS_EXIST];
	unsigned int most = fake_troubles.failures ? fake_troubles.failures : 16;
	struct fake_table *t = find_table(tb[NF_DLCBF_A_FLOWS_TABLE],
					  staged ? req->nlmsg_pid : 0);
	u32 position = 0, failed = 0, positions[64];
	const struct nlattr *attr;
	struct nlmsghdr *nlh;
	struct nlattr *nest;
	u32 i;
	int ret = 0;

	if (!t) {
		acknowledge(req, -ENOENT, "no such table",
			    offset_of(req, tb[NF_DLCBF_A_FLOWS_TABLE]));
		return;
	}
	fake_flow_messages++;
	mnl_attr_for_each(attr, req, sizeof(struct genlmsghdr)) {
		if (mnl_attr_get_type(attr) != NF_DLCBF_A_FLOWS_FLOW)
			continue;
		ret = add ? add_flow(t, attr, exist) : del_flow(t, attr, exist);
		if (ret) {
			if (failed < ARRAY_SIZE(positions))
				positions[failed] = position;
			failed++;
		}
		position++;
	}
	if (position == 1) {
		acknowledge(req, ret, ret ? "this flow is not right" : NULL,
			    ret ? offset_of(req, tb[NF_DLCBF_A_FLOWS_FLOW]) : 0);
		return;
	}
	nlh = reply_begin(req, nl_command(req), 0);
	mnl_attr_put_u32(nlh, NF_DLCBF_A_FLOWS_APPLIED, position - failed);
	mnl_attr_put_u32(nlh, NF_DLCBF_A_FLOWS_FAILED, failed);
	for (i = 0; i < failed && i < most && i < ARRAY_SIZE(positions); i++) {
		nest = mnl_attr_nest_start(nlh, NF_DLCBF_A_FLOWS_FAILURE);
		mnl_attr_put_u32(nlh, NF_DLCBF_A_FAILURE_POSITION, positions[i]);
		mnl_attr_put_u32(nlh, NF_DLCBF_A_FAILURE_ERROR,
				 add ? EEXIST : ENOENT);
		if (!i)
			mnl_attr_put_strz(nlh, NF_DLCBF_A_FAILURE_MESSAGE,
					  "this flow is not right");
		mnl_attr_nest_end(nlh, nest);
	}
	reply_end(nlh);
	acknowledge(req, 0, NULL, 0);
}

static void put_flow(struct nlmsghdr *nlh, const struct fake_flow *f)
{
	struct nlattr *nest = mnl_attr_nest_start(nlh, NF_DLCBF_A_FLOWS_FLOW);

	add_bytes(nlh, f->key, f->len);
	if (f->count)
		mnl_attr_put_u32(nlh, NF_DLCBF_A_FLOW_COUNT, f->count);
	else
		mnl_attr_put(nlh, NF_DLCBF_A_FLOW_LEARNED, 0, NULL);
	mnl_attr_put_u64(nlh, NF_DLCBF_A_FLOW_PACKETS, f->packets);
	mnl_attr_put_u64(nlh, NF_DLCBF_A_FLOW_BYTES, f->bytes);
	mnl_attr_put_u64(nlh, NF_DLCBF_A_FLOW_IDLE, 1200);
	if (f->timeout)
		mnl_attr_put_u64(nlh, NF_DLCBF_A_FLOW_TIMEOUT, f->timeout);
	mnl_attr_nest_end(nlh, nest);
}

static void flow_get(const struct nlmsghdr *req, const struct nlattr **tb,
		     bool reset)
{
	struct fake_table *t = find_table(tb[NF_DLCBF_A_FLOWS_TABLE], 0);
	struct nlmsghdr *nlh = NULL;
	struct fake_flow *f;
	size_t i;

	if (!t) {
		acknowledge(req, -ENOENT, "no such table", 0);
		return;
	}
	if (!(req->nlmsg_flags & NLM_F_DUMP)) {
		f = find_flow(t, tb[NF_DLCBF_A_FLOWS_FLOW]);
		if (!f) {
			acknowledge(req, -ENOENT, NULL, 0);
			return;
		}
		nlh = reply_begin(req, nl_command(req), 0);
		mnl_attr_put_strz(nlh, NF_DLCBF_A_FLOWS_TABLE, t->name);
		put_flow(nlh, f);
		reply_end(nlh);
		if (reset) {
			f->packets = 0;
			f->bytes = 0;
		}
		acknowledge(req, 0, NULL, 0);
		return;
	}
	for (i = 0; i < t->n; i++) {
		if (!nlh) {
			nlh = reply_begin(req, nl_command(req), NLM_F_MULTI);
			mnl_attr_put_strz(nlh, NF_DLCBF_A_FLOWS_TABLE, t->name);
		}
		put_flow(nlh, &t->flows[i]);
		if (reset) {
			t->flows[i].packets = 0;
			t->flows[i].bytes = 0;
		}
		if (nlh->nlmsg_len > REPLY_SIZE - 1024) {
			reply_end(nlh);
			nlh = NULL;
		}
	}
	if (nlh)
		reply_end(nlh);
	done(req);
}

/* ---- the socket ---- */

static void get_family(const struct nlmsghdr *req)
{
	static const char *const names[] = { "table", "flow" };
	struct nlattr *groups, *group;
	struct nlmsghdr *nlh;
	u32 i;

	if (fake_troubles.absent) {
		acknowledge(req, -ENOENT, NULL, 0);
		return;
	}
	nlh = reply_begin(req, CTRL_CMD_NEWFAMILY, 0);
	nlh->nlmsg_type = GENL_ID_CTRL;
	mnl_attr_put_u16(nlh, CTRL_ATTR_FAMILY_ID, FAMILY_ID);
	groups = mnl_attr_nest_start(nlh, CTRL_ATTR_MCAST_GROUPS);
	for (i = 0; i < 2; i++) {
		group = mnl_attr_nest_start(nlh, i + 1);
		mnl_attr_put_strz(nlh, CTRL_ATTR_MCAST_GRP_NAME, names[i]);
		mnl_attr_put_u32(nlh, CTRL_ATTR_MCAST_GRP_ID, i + 7);
		mnl_attr_nest_end(nlh, group);
	}
	mnl_attr_nest_end(nlh, groups);
	reply_end(nlh);
	acknowledge(req, 0, NULL, 0);
}

static int fake_open(struct nl *nl, struct error *e)
{
	(void)e;
	nl->portid = ++last_port;
	return 0;
}

static ssize_t fake_send(struct nl *nl, const void *buf, size_t len)
{
	union {
		const struct nlattr *table[NF_DLCBF_A_TABLE_MAX + 1];
		const struct nlattr *hook[NF_DLCBF_A_HOOK_MAX + 1];
		const struct nlattr *flows[NF_DLCBF_A_FLOWS_MAX + 1];
	} tb;
	struct nlmsghdr *req = malloc(len);
	u8 cmd;

	memcpy(req, buf, len);
	req->nlmsg_pid = nl->portid;
	fake_messages++;
	if (req->nlmsg_type == GENL_ID_CTRL) {
		get_family(req);
		goto out;
	}
	if (fake_troubles.eperm) {
		fake_troubles.eperm--;
		acknowledge(req, -EPERM, NULL, 0);
		goto out;
	}
	cmd = nl_command(req);
	if (cmd < NF_DLCBF_CMD_HOOK_ADD)
		nl_parse(req, tb.table, NF_DLCBF_A_TABLE_MAX);
	else if (cmd < NF_DLCBF_CMD_FLOW_ADD)
		nl_parse(req, tb.hook, NF_DLCBF_A_HOOK_MAX);
	else
		nl_parse(req, tb.flows, NF_DLCBF_A_FLOWS_MAX);
	switch (cmd) {
	case NF_DLCBF_CMD_TABLE_ADD:
		table_add(req, tb.table);
		break;
	case NF_DLCBF_CMD_TABLE_GET:
		table_get(req, tb.table);
		break;
	case NF_DLCBF_CMD_TABLE_DEL:
		table_del(req, tb.table);
		break;
	case NF_DLCBF_CMD_TABLE_PUBLISH:
		publish(req);
		break;
	case NF_DLCBF_CMD_HOOK_ADD:
		hook_add(req, tb.hook);
		break;
	case NF_DLCBF_CMD_HOOK_GET:
		hook_get(req, tb.hook);
		break;
	case NF_DLCBF_CMD_FLOW_ADD:
		flow_change(req, tb.flows, true);
		break;
	case NF_DLCBF_CMD_FLOW_DEL:
		flow_change(req, tb.flows, false);
		break;
	case NF_DLCBF_CMD_FLOW_GET:
		flow_get(req, tb.flows, false);
		break;
	case NF_DLCBF_CMD_FLOW_RESET:
		flow_get(req, tb.flows, true);
		break;
	default:
		acknowledge(req, -EOPNOTSUPP, NULL, 0);
	}
out:
	free(req);
	return len;
}

/* Something for a listener: one event a call, then the socket breaks. */
static ssize_t next_event(char *buf)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf), *req = nlh;
	struct genlmsghdr *g;
	struct nlattr *nest;
	u8 address[4] = { 10, 0, 0, 7 };
	const struct fake_table *t = tables;

	(void)req;
	nlh->nlmsg_type = FAMILY_ID;
	g = mnl_nlmsg_put_extra_header(nlh, sizeof(*g));
	switch (*fake_troubles.events++) {
	case 't':
		g->cmd = NF_DLCBF_CMD_TABLE_ADD_NTF;
		put_table(nlh, t);
		break;
	case 's':
		g->cmd = NF_DLCBF_CMD_TABLE_SWAP_NTF;
		mnl_attr_put_strz(nlh, NF_DLCBF_A_TABLE_NAME, t->name);
		mnl_attr_put_strz(nlh, NF_DLCBF_A_TABLE_OTHER, "other");
		break;
	case 'h':
		g->cmd = NF_DLCBF_CMD_HOOK_DEL_NTF;
		mnl_attr_put_strz(nlh, NF_DLCBF_A_HOOK_TABLE, t->name);
		mnl_attr_put_u32(nlh, NF_DLCBF_A_HOOK_HOOK,
				 NF_DLCBF_HOOK_INPUT);
		break;
	case 'f':
		g->cmd = NF_DLCBF_CMD_FLOW_EXPIRE_NTF;
		mnl_attr_put_strz(nlh, NF_DLCBF_A_FLOWS_TABLE, t->name);
		nest = mnl_attr_nest_start(nlh, NF_DLCBF_A_FLOWS_FLOW);
		mnl_attr_put(nlh, NF_DLCBF_A_FLOW_SADDR, 4, address);
		mnl_attr_put_u64(nlh, NF_DLCBF_A_FLOW_PACKETS, 5);
		mnl_attr_nest_end(nlh, nest);
		break;
	case '!':
		errno = ENOBUFS;
		return -1;
	default:
		fake_troubles.events = NULL;
		errno = EPIPE;
		return -1;
	}
	return nlh->nlmsg_len;
}

static ssize_t fake_recv(struct nl *nl, void *buf, size_t size)
{
	struct reply *r = replies;
	ssize_t len;

	(void)nl;
	(void)size;
	if (!r && fake_troubles.events)
		return next_event(buf);
	if (!r) {
		errno = EPIPE;
		return -1;
	}
	len = r->len;
	memcpy(buf, r->data, len);
	replies = r->next;
	free(r);
	return len;
}

static int fake_join(struct nl *nl, u32 group)
{
	(void)nl;
	return group == 7 || group == 8 ? 0 : -1;
}

static void fake_close(struct nl *nl)
{
	drop_tables(nl->portid, false);
}

const struct nl_ops fake_ops = {
	.open = fake_open,
	.send = fake_send,
	.recv = fake_recv,
	.join = fake_join,
	.close = fake_close,
};
