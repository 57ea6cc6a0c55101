// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "netlink.h"

/* What the attributes are called in the command's grammar, for messages. */
static const char *const table_names[NF_DLCBF_A_TABLE_MAX + 1] = {
	[NF_DLCBF_A_TABLE_NAME] = "name",
	[NF_DLCBF_A_TABLE_TYPE] = "type",
	[NF_DLCBF_A_TABLE_FAMILY] = "family",
	[NF_DLCBF_A_TABLE_FIELDS] = "key",
	[NF_DLCBF_A_TABLE_SADDR_PREFIX4] = "key saddr/PREFIX",
	[NF_DLCBF_A_TABLE_SADDR_PREFIX6] = "key saddr/PREFIX",
	[NF_DLCBF_A_TABLE_DADDR_PREFIX4] = "key daddr/PREFIX",
	[NF_DLCBF_A_TABLE_DADDR_PREFIX6] = "key daddr/PREFIX",
	[NF_DLCBF_A_TABLE_MAX_FLOWS] = "max-flows",
	[NF_DLCBF_A_TABLE_FPR] = "fpr",
	[NF_DLCBF_A_TABLE_KEYS] = "keys",
	[NF_DLCBF_A_TABLE_LEARN] = "learn",
	[NF_DLCBF_A_TABLE_BIDIR] = "bidir",
	[NF_DLCBF_A_TABLE_JUDGE_NEIGHBOURS] = "judge-neighbours",
	[NF_DLCBF_A_TABLE_EVENTS] = "events",
	[NF_DLCBF_A_TABLE_ON_FULL] = "on-full",
	[NF_DLCBF_A_TABLE_FRAGMENTS] = "fragments",
	[NF_DLCBF_A_TABLE_TIMEOUT] = "timeout",
	[NF_DLCBF_A_TABLE_SECRET] = "secret",
	[NF_DLCBF_A_TABLE_GEOMETRY] = "geometry",
	[NF_DLCBF_A_TABLE_STAGED] = "staged",
	[NF_DLCBF_A_TABLE_EXIST] = "-exist",
	[NF_DLCBF_A_TABLE_OTHER] = "the other table",
	[NF_DLCBF_A_TABLE_KEEP_COUNTERS] = "keep-counters",
	[NF_DLCBF_A_TABLE_DRY_RUN] = "dry-run",
};

static const char *const geometry_names[NF_DLCBF_A_GEOMETRY_MAX + 1] = {
	[NF_DLCBF_A_GEOMETRY_SUBTABLES] = "subtables",
	[NF_DLCBF_A_GEOMETRY_BUCKETS] = "buckets",
	[NF_DLCBF_A_GEOMETRY_BUCKET_CELLS] = "bucket-cells",
	[NF_DLCBF_A_GEOMETRY_CELL_BITS] = "cell-bits",
	[NF_DLCBF_A_GEOMETRY_COUNTER_BITS] = "counter-bits",
};

static const char *const hook_names[NF_DLCBF_A_HOOK_MAX + 1] = {
	[NF_DLCBF_A_HOOK_TABLE] = "table",
	[NF_DLCBF_A_HOOK_HOOK] = "hook",
	[NF_DLCBF_A_HOOK_PRIORITY] = "priority",
	[NF_DLCBF_A_HOOK_DEVICE] = "device",
	[NF_DLCBF_A_HOOK_HIT] = "hit",
	[NF_DLCBF_A_HOOK_HIT_MARK] = "hit mark",
	[NF_DLCBF_A_HOOK_HIT_MASK] = "hit mark",
	[NF_DLCBF_A_HOOK_MISS] = "miss",
	[NF_DLCBF_A_HOOK_MISS_MARK] = "miss mark",
	[NF_DLCBF_A_HOOK_MISS_MASK] = "miss mark",
	[NF_DLCBF_A_HOOK_STAGED] = "staged",
	[NF_DLCBF_A_HOOK_EXIST] = "-exist",
};

static const char *const flows_names[NF_DLCBF_A_FLOWS_MAX + 1] = {
	[NF_DLCBF_A_FLOWS_TABLE] = "table",
	[NF_DLCBF_A_FLOWS_FLOW] = "flow",
	[NF_DLCBF_A_FLOWS_FILTER] = "filter",
	[NF_DLCBF_A_FLOWS_STAGED] = "staged",
	[NF_DLCBF_A_FLOWS_EXIST] = "-exist",
};

static const char *const flow_names[NF_DLCBF_A_FLOW_MAX + 1] = {
	[NF_DLCBF_A_FLOW_FAMILY] = "family",
	[NF_DLCBF_A_FLOW_SADDR] = "saddr",
	[NF_DLCBF_A_FLOW_DADDR] = "daddr",
	[NF_DLCBF_A_FLOW_SPORT] = "sport",
	[NF_DLCBF_A_FLOW_DPORT] = "dport",
	[NF_DLCBF_A_FLOW_PROTO] = "proto",
	[NF_DLCBF_A_FLOW_IIF] = "iif",
	[NF_DLCBF_A_FLOW_OIF] = "oif",
	[NF_DLCBF_A_FLOW_MARK] = "mark",
	[NF_DLCBF_A_FLOW_VLAN] = "vlan",
	[NF_DLCBF_A_FLOW_ICMP_ID] = "id",
	[NF_DLCBF_A_FLOW_ICMP_TYPE] = "type",
	[NF_DLCBF_A_FLOW_ICMP_CODE] = "code",
	[NF_DLCBF_A_FLOW_SPI] = "spi",
	[NF_DLCBF_A_FLOW_SADDR_PREFIX] = "saddr/PREFIX",
	[NF_DLCBF_A_FLOW_DADDR_PREFIX] = "daddr/PREFIX",
	[NF_DLCBF_A_FLOW_BUCKET] = "fingerprint",
	[NF_DLCBF_A_FLOW_REMAINDER] = "fingerprint",
	[NF_DLCBF_A_FLOW_COUNT] = "count",
	[NF_DLCBF_A_FLOW_PACKETS] = "packets",
	[NF_DLCBF_A_FLOW_BYTES] = "bytes",
	[NF_DLCBF_A_FLOW_TIMEOUT] = "timeout",
	[NF_DLCBF_A_FLOW_LEARNED] = "learned",
};

struct names {
	const char *const *names;
	unsigned int max;
};

#define NAMES(n) { n, ARRAY_SIZE(n) - 1 }

static struct names names_of_command(u8 cmd)
{
	static const struct names table = NAMES(table_names);
	static const struct names hook = NAMES(hook_names);
	static const struct names flows = NAMES(flows_names);

	if (cmd >= NF_DLCBF_CMD_FLOW_ADD)
		return flows;
	if (cmd >= NF_DLCBF_CMD_HOOK_ADD)
		return hook;
	return table;
}

/* What is within the attribute @type of a message with @cmd. */
static struct names names_of_nest(u8 cmd, u16 type)
{
	static const struct names geometry = NAMES(geometry_names);
	static const struct names flow = NAMES(flow_names);

	if (cmd < NF_DLCBF_CMD_HOOK_ADD && type == NF_DLCBF_A_TABLE_GEOMETRY)
		return geometry;
	if (cmd >= NF_DLCBF_CMD_FLOW_ADD && (type == NF_DLCBF_A_FLOWS_FLOW ||
					     type == NF_DLCBF_A_FLOWS_FILTER))
		return flow;
	return (struct names){ NULL, 0 };
}

static const char *name_of(struct names n, u16 type)
{
	return n.names && type <= n.max ? n.names[type] : NULL;
}

static int kernel_open(struct nl *nl, struct error *e)
{
	int one = 1, size = 4 << 20, fd;

	nl->sock = mnl_socket_open2(NETLINK_GENERIC, SOCK_CLOEXEC);
	if (!nl->sock)
		return err_set(e, "cannot open a netlink socket: %s",
			       strerror(errno));
	if (mnl_socket_bind(nl->sock, 0, MNL_SOCKET_AUTOPID) < 0) {
		err_set(e, "cannot bind a netlink socket: %s", strerror(errno));
		mnl_socket_close(nl->sock);
		nl->sock = NULL;
		return -errno;
	}
	nl->portid = mnl_socket_get_portid(nl->sock);
	fd = mnl_socket_get_fd(nl->sock);

	/* All of these only make things better, and old kernels lack some. */
	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	setsockopt(fd, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &one, sizeof(one));
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	return 0;
}

static ssize_t kernel_send(struct nl *nl, const void *buf, size_t len)
{
	return mnl_socket_sendto(nl->sock, buf, len);
}

static ssize_t kernel_recv(struct nl *nl, void *buf, size_t size)
{
	return mnl_socket_recvfrom(nl->sock, buf, size);
}

static int kernel_join(struct nl *nl, u32 group)
{
	return setsockopt(mnl_socket_get_fd(nl->sock), SOL_NETLINK,
			  NETLINK_ADD_MEMBERSHIP, &group, sizeof(group));
}

static void kernel_close(struct nl *nl)
{
	if (nl->sock)
		mnl_socket_close(nl->sock);
	nl->sock = NULL;
}

const struct nl_ops nl_kernel_ops = {
	.open = kernel_open,
	.send = kernel_send,
	.recv = kernel_recv,
	.join = kernel_join,
	.close = kernel_close,
};

static int family_cb(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *tb[CTRL_ATTR_MAX + 1], *group;
	struct nl *nl = data;

	if (!nl_parse(nlh, tb, CTRL_ATTR_MAX))
		return 0;
	if (tb[CTRL_ATTR_FAMILY_ID])
		nl->family = nl_get_uint(tb[CTRL_ATTR_FAMILY_ID]);
	if (!tb[CTRL_ATTR_MCAST_GROUPS])
		return 0;
	mnl_attr_for_each_nested(group, tb[CTRL_ATTR_MCAST_GROUPS]) {
		const struct nlattr *g[CTRL_ATTR_MCAST_GRP_MAX + 1];
		char name[32];
		u32 id;

		nl_parse_nested(group, g, CTRL_ATTR_MCAST_GRP_MAX);
		if (!g[CTRL_ATTR_MCAST_GRP_NAME] || !g[CTRL_ATTR_MCAST_GRP_ID])
			continue;
		nl_get_str(g[CTRL_ATTR_MCAST_GRP_NAME], name, sizeof(name));
		id = nl_get_uint(g[CTRL_ATTR_MCAST_GRP_ID]);
		if (!strcmp(name, NF_DLCBF_MCGRP_TABLE))
			nl->group_table = id;
		else if (!strcmp(name, NF_DLCBF_MCGRP_FLOW))
			nl->group_flow = id;
	}
	return 0;
}

/**
 * nl_open - open a socket and find the module's family
 * @nl: to be filled in
 * @ops: &nl_kernel_ops, but for tests
 * @e: what is wrong
 *
 * Return: 0 or negative.
 */
int nl_open(struct nl *nl, const struct nl_ops *ops, struct error *e)
{
	int ret;

	memset(nl, 0, sizeof(*nl));
	nl->ops = ops;
	nl->tx = malloc(NL_TX_SIZE);
	nl->rx = malloc(NL_RX_SIZE);
	if (!nl->tx || !nl->rx) {
		ret = err_set(e, "not enough memory");
		goto fail;
	}
	ret = ops->open(nl, e);
	if (ret < 0)
		goto fail;

	nl_request(nl, CTRL_CMD_GETFAMILY, 0);
	nl->req->nlmsg_type = GENL_ID_CTRL;
	nl_put_str(nl, CTRL_ATTR_FAMILY_NAME, NF_DLCBF_FAMILY_NAME);
	ret = nl_talk(nl, family_cb, nl);
	if (ret == -ENOENT || (!ret && !nl->family)) {
		ret = err_set(e, "the module nf_dlcbf is not loaded (modprobe nf_dlcbf)");
		goto fail;
	}
	if (ret < 0) {
		nl_describe(nl, e, "cannot find the module nf_dlcbf");
		goto fail;
	}
	return 0;
fail:
	nl_close(nl);
	return ret;
}

void nl_close(struct nl *nl)
{
	if (nl->ops)
		nl->ops->close(nl);
	free(nl->tx);
	free(nl->rx);
	memset(nl, 0, sizeof(*nl));
}

/** nl_request - begin a request; it replaces the one before */
void nl_request(struct nl *nl, u8 cmd, u16 flags)
{
	struct genlmsghdr *g;

	nl->req = mnl_nlmsg_put_header(nl->tx);
	nl->req->nlmsg_type = nl->family;
	nl->req->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	g = mnl_nlmsg_put_extra_header(nl->req, sizeof(*g));
	g->cmd = cmd;
	g->version = NF_DLCBF_FAMILY_VERSION;
	nl->overflow = false;
}

void nl_put(struct nl *nl, u16 type, const void *data, size_t len)
{
	if (!mnl_attr_put_check(nl->req, NL_TX_SIZE, type, len, data))
		nl->overflow = true;
}

void nl_put_flag(struct nl *nl, u16 type)
{
	nl_put(nl, type, NULL, 0);
}

void nl_put_u8(struct nl *nl, u16 type, u8 v)
{
	nl_put(nl, type, &v, sizeof(v));
}

void nl_put_u16(struct nl *nl, u16 type, u16 v)
{
	nl_put(nl, type, &v, sizeof(v));
}

void nl_put_be16(struct nl *nl, u16 type, u16 v)
{
	nl_put_u16(nl, type, htons(v));
}

void nl_put_u32(struct nl *nl, u16 type, u32 v)
{
	nl_put(nl, type, &v, sizeof(v));
}

void nl_put_be32(struct nl *nl, u16 type, u32 v)
{
	nl_put_u32(nl, type, htonl(v));
}

void nl_put_u64(struct nl *nl, u16 type, u64 v)
{
	nl_put(nl, type, &v, sizeof(v));
}

void nl_put_str(struct nl *nl, u16 type, const char *s)
{
	nl_put(nl, type, s, strlen(s) + 1);
}

/** nl_nest - begin a nest; the return value is for nl_nest_end() */
u32 nl_nest(struct nl *nl, u16 type)
{
	u32 mark = nl_mark(nl);

	nl_put(nl, type | NLA_F_NESTED, NULL, 0);
	return mark;
}

void nl_nest_end(struct nl *nl, u32 nest)
{
	struct nlattr *attr = (struct nlattr *)(nl->tx + nest);
	u32 len = nl_mark(nl) - nest;

	if (nl->overflow)
		return;
	if (len > UINT16_MAX)
		nl->overflow = true;
	else
		attr->nla_len = len;
}

/** nl_mark - where the request ends now, for nl_cut() */
u32 nl_mark(const struct nl *nl)
{
	return nl->req->nlmsg_len;
}

/** nl_cut - take back what was put since nl_mark(), also when it overflowed */
void nl_cut(struct nl *nl, u32 mark)
{
	nl->req->nlmsg_len = mark;
	nl->overflow = false;
}

/*
 * The attribute of the request that is at @offset, by its name.  Offsets count
 * from the start of the message, and may lie within a nest.
 */
static void name_at(const struct nl *nl, u32 offset, char *buf, size_t size)
{
	const char *start = (const char *)nl->req;
	const struct nlattr *attr, *inner;
	u8 cmd = nl_command(nl->req);
	const char *name = NULL;

	if (nl->req->nlmsg_type == GENL_ID_CTRL)
		return;
	mnl_attr_for_each(attr, nl->req, sizeof(struct genlmsghdr)) {
		u32 at = (const char *)attr - start;
		u16 type = mnl_attr_get_type(attr);
		struct names nest = names_of_nest(cmd, type);

		if (offset < at || offset >= at + attr->nla_len)
			continue;
		name = name_of(names_of_command(cmd), type);
		if (!nest.names)
			break;
		mnl_attr_for_each_nested(inner, attr) {
			at = (const char *)inner - start;
			if (offset < at || offset >= at + inner->nla_len)
				continue;
			name = name_of(nest, mnl_attr_get_type(inner));
			break;
		}
		break;
	}
	if (name)
		snprintf(buf, size, "%s", name);
}

/* The attribute of type @type that is missing in the nest at @offset, or 0. */
static void name_missing(const struct nl *nl, u32 type, u32 offset,
			 char *buf, size_t size)
{
	u8 cmd = nl_command(nl->req);
	struct names names = names_of_command(cmd);
	const struct nlattr *nest;
	const char *name;

	if (offset && offset + sizeof(*nest) <= nl->req->nlmsg_len) {
		nest = (const struct nlattr *)(nl->tx + offset);
		names = names_of_nest(cmd, mnl_attr_get_type(nest));
	}
	name = type <= UINT16_MAX ? name_of(names, type) : NULL;
	if (name)
		snprintf(buf, size, "%s", name);
}

/* The text and attributes that follow an acknowledgment. */
static void parse_extack(struct nl *nl, const void *start, size_t len)
{
	const struct nlattr *attr, *missing = NULL, *nest = NULL;
	struct nl_error *err = &nl->error;

	mnl_attr_for_each_payload(start, len) {
		switch (mnl_attr_get_type(attr)) {
		case NLMSGERR_ATTR_MSG:
			nl_get_str(attr, err->text, sizeof(err->text));
			break;
		case NLMSGERR_ATTR_OFFS:
			err->offset = nl_get_uint(attr);
			name_at(nl, err->offset, err->attr, sizeof(err->attr));
			break;
		case NLMSGERR_ATTR_MISS_TYPE:
			missing = attr;
			break;
		case NLMSGERR_ATTR_MISS_NEST:
			nest = attr;
			break;
		}
	}
	if (missing) {
		if (nest)
			err->offset = nl_get_uint(nest);
		name_missing(nl, nl_get_uint(missing), err->offset, err->attr,
			     sizeof(err->attr));
		if (err->attr[0] && !err->text[0])
			snprintf(err->text, sizeof(err->text), "it is missing");
	}
}

/* The end of a request: an acknowledgment, or the end of a dump. */
static int parse_end(struct nl *nl, const struct nlmsghdr *nlh)
{
	size_t len = mnl_nlmsg_get_payload_len(nlh), head;
	int code = 0;

	if (len < sizeof(code))
		return 0;
	memcpy(&code, mnl_nlmsg_get_payload(nlh), sizeof(code));
	if (code >= 0)
		return 0;
	nl->error.code = -code;

	if (nlh->nlmsg_type == NLMSG_ERROR) {
		const struct nlmsgerr *err = mnl_nlmsg_get_payload(nlh);

		head = sizeof(*err);
		if (len >= head && !(nlh->nlmsg_flags & NLM_F_CAPPED))
			head += MNL_ALIGN(mnl_nlmsg_get_payload_len(&err->msg));
	} else {
		head = sizeof(code);
	}
	if ((nlh->nlmsg_flags & NLM_F_ACK_TLVS) && head < len)
		parse_extack(nl, mnl_nlmsg_get_payload_offset(nlh, head),
			     len - head);
	return code;
}

static int fail_errno(struct nl *nl, const char *what)
{
	nl->error.code = errno;
	snprintf(nl->error.text, sizeof(nl->error.text), "%s", what);
	return -nl->error.code;
}

static int send_request(struct nl *nl)
{
	memset(&nl->error, 0, sizeof(nl->error));
	if (nl->overflow) {
		errno = EMSGSIZE;
		return fail_errno(nl, "the request is too large");
	}
	nl->req->nlmsg_seq = ++nl->seq;
	if (nl->ops->send(nl, nl->req, nl->req->nlmsg_len) < 0)
		return fail_errno(nl, "cannot send to the kernel");
	return 0;
}

/*
 * Read the answers to the last request until the one that ends them.  When the
 * callback fails the rest is read all the same: the socket, with what is staged
 * on it, stays good.
 */
static int receive(struct nl *nl, nl_cb cb, void *data, bool *interrupted)
{
	int failed = 0;

	for (;;) {
		const struct nlmsghdr *nlh = (const struct nlmsghdr *)nl->rx;
		ssize_t n = nl->ops->recv(nl, nl->rx, NL_RX_SIZE);
		int len, ret;

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = EPIPE;
		if (n <= 0)
			return fail_errno(nl, "cannot receive from the kernel");
		for (len = n; mnl_nlmsg_ok(nlh, len);
		     nlh = mnl_nlmsg_next(nlh, &len)) {
			if (nlh->nlmsg_seq != nl->seq ||
			    nlh->nlmsg_pid != nl->portid)
				continue;
			if (interrupted && (nlh->nlmsg_flags & NLM_F_DUMP_INTR))
				*interrupted = true;
			if (nlh->nlmsg_type == NLMSG_ERROR ||
			    nlh->nlmsg_type == NLMSG_DONE) {
				ret = parse_end(nl, nlh);
				return ret ? ret : failed;
			}
			if (nlh->nlmsg_type < NLMSG_MIN_TYPE ||
			    mnl_nlmsg_get_payload_len(nlh) <
			    sizeof(struct genlmsghdr))
				continue;
			if (!failed && cb) {
				ret = cb(nlh, data);
				if (ret < 0)
					failed = ret;
			}
		}
	}
}

/**
 * nl_talk - send the request and wait for its acknowledgment
 * @nl: with a request in it
 * @cb: called for each answer; may be NULL
 * @data: for @cb
 *
 * Return: 0, or negative with the kernel's reason in @nl->error.
 */
int nl_talk(struct nl *nl, nl_cb cb, void *data)
{
	int ret = send_request(nl);

	return ret < 0 ? ret : receive(nl, cb, data, NULL);
}

/**
 * nl_dump - send the request, which has NLM_F_DUMP, and read the whole dump
 * @nl: with a request in it
 * @cb: called for each message
 * @data: for @cb
 * @interrupted: set to whether what was dumped changed shape meanwhile
 *
 * Return: 0, or negative with the kernel's reason in @nl->error.
 */
int nl_dump(struct nl *nl, nl_cb cb, void *data, bool *interrupted)
{
	int ret = send_request(nl);

	*interrupted = false;
	return ret < 0 ? ret : receive(nl, cb, data, interrupted);
}

/**
 * nl_listen - wait for notifications and hand them over
 * @nl: a socket that joined a group
 * @cb: called for each
 * @data: for @cb
 *
 * Return: 0 when some were handled, -ENOBUFS when some were lost, or another
 * negative error, also the callback's.
 */
int nl_listen(struct nl *nl, nl_cb cb, void *data)
{
	const struct nlmsghdr *nlh = (const struct nlmsghdr *)nl->rx;
	ssize_t n = nl->ops->recv(nl, nl->rx, NL_RX_SIZE);
	int len;

	memset(&nl->error, 0, sizeof(nl->error));
	if (n < 0 && errno == EINTR)
		return 0;
	if (n < 0)
		return fail_errno(nl, "cannot receive from the kernel");
	for (len = n; mnl_nlmsg_ok(nlh, len); nlh = mnl_nlmsg_next(nlh, &len)) {
		int ret;

		if (nlh->nlmsg_type != nl->family ||
		    mnl_nlmsg_get_payload_len(nlh) < sizeof(struct genlmsghdr))
			continue;
		ret = cb(nlh, data);
		if (ret < 0)
			return ret;
	}
	return 0;
}

/**
 * nl_attr_position - which of the attributes of a type an offset lies in
 * @nl: with a request in it
 * @type: counted are the attributes of this type
 * @offset: in the request, as the kernel gave it
 *
 * Return: the position, from 0, or negative.
 */
int nl_attr_position(const struct nl *nl, u16 type, u32 offset)
{
	const char *start = (const char *)nl->req;
	const struct nlattr *attr;
	int position = 0;

	mnl_attr_for_each(attr, nl->req, sizeof(struct genlmsghdr)) {
		u32 at = (const char *)attr - start;

		if (mnl_attr_get_type(attr) != type)
			continue;
		if (offset >= at && offset < at + attr->nla_len)
			return position;
		position++;
	}
	return -ENOENT;
}

/**
 * nl_describe - say why the last request failed
 * @nl: the socket
 * @e: where to
 * @fmt: what was tried, as for printf
 *
 * Return: the error, negative.
 */
int nl_describe(const struct nl *nl, struct error *e, const char *fmt, ...)
{
	const struct nl_error *err = &nl->error;
	char what[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);

	if (err->text[0] && err->attr[0])
		err_set(e, "%s: %s: %s (%s)", what, err->attr, err->text,
			strerror(err->code));
	else if (err->text[0])
		err_set(e, "%s: %s (%s)", what, err->text, strerror(err->code));
	else if (err->attr[0])
		err_set(e, "%s: %s: %s", what, err->attr, strerror(err->code));
	else if (err->code == EPERM)
		err_set(e, "%s: %s (it takes CAP_NET_ADMIN)", what,
			strerror(err->code));
	else
		err_set(e, "%s: %s", what, strerror(err->code));
	return -err->code;
}

/**
 * nl_parse - sort the attributes of a message by type
 * @nlh: the message
 * @tb: max + 1 pointers
 * @max: types above it are not known here, and passed over
 *
 * Return: whether there was room for attributes at all.
 */
bool nl_parse(const struct nlmsghdr *nlh, const struct nlattr **tb,
	      unsigned int max)
{
	const struct nlattr *attr;

	memset(tb, 0, (max + 1) * sizeof(*tb));
	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(struct genlmsghdr))
		return false;
	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(attr) <= max)
			tb[mnl_attr_get_type(attr)] = attr;
	return true;
}

void nl_parse_nested(const struct nlattr *nest, const struct nlattr **tb,
		     unsigned int max)
{
	const struct nlattr *attr;

	memset(tb, 0, (max + 1) * sizeof(*tb));
	mnl_attr_for_each_nested(attr, nest)
		if (mnl_attr_get_type(attr) <= max)
			tb[mnl_attr_get_type(attr)] = attr;
}

/** nl_get_uint - an unsigned number, however many bytes it came in */
u64 nl_get_uint(const struct nlattr *attr)
{
	const void *p = mnl_attr_get_payload(attr);
	u64 v64;
	u32 v32;
	u16 v16;

	switch (mnl_attr_get_payload_len(attr)) {
	case 1:
		return *(const u8 *)p;
	case 2:
		memcpy(&v16, p, sizeof(v16));
		return v16;
	case 4:
		memcpy(&v32, p, sizeof(v32));
		return v32;
	case 8:
		memcpy(&v64, p, sizeof(v64));
		return v64;
	}
	return 0;
}

u16 nl_get_be16(const struct nlattr *attr)
{
	return ntohs(nl_get_uint(attr));
}

u32 nl_get_be32(const struct nlattr *attr)
{
	return ntohl(nl_get_uint(attr));
}

/** nl_get_str - a string, whether or not it came with a terminating zero */
const char *nl_get_str(const struct nlattr *attr, char *buf, size_t size)
{
	size_t len = strnlen(mnl_attr_get_payload(attr),
			     mnl_attr_get_payload_len(attr));

	if (len >= size)
		len = size - 1;
	memcpy(buf, mnl_attr_get_payload(attr), len);
	buf[len] = 0;
	return buf;
}
