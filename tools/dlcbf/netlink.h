/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Talking to the kernel: a request is built in the buffer of a struct nl, sent,
 * and its answers are handed to a callback.
 */
#ifndef DLCBF_NETLINK_H
#define DLCBF_NETLINK_H

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/nf_dlcbf.h>

#include "utils.h"

/*
 * What a socket takes in one message without more privileges is a little less
 * than its send buffer, which is 208 KiB unless an administrator changed that.
 */
#define NL_TX_SIZE	(128 << 10)
#define NL_RX_SIZE	(256 << 10)

struct nl;

/* Where messages go; tests put a kernel of their own here. */
struct nl_ops {
	int (*open)(struct nl *nl, struct error *e);
	ssize_t (*send)(struct nl *nl, const void *buf, size_t len);
	ssize_t (*recv)(struct nl *nl, void *buf, size_t size);
	int (*join)(struct nl *nl, u32 group);
	void (*close)(struct nl *nl);
};

extern const struct nl_ops nl_kernel_ops;

/* What the kernel had against the last request. */
struct nl_error {
	int code;		/* errno */
	u32 offset;	/* in the request, of the attribute, or 0 */
	char text[256];		/* its own words, may be empty */
	char attr[64];		/* the attribute's name, may be empty */
};

struct nl {
	const struct nl_ops *ops;
	struct mnl_socket *sock;
	u32 portid;
	u32 seq;
	u16 family;
	u32 group_table;
	u32 group_flow;
	struct nlmsghdr *req;	/* in tx, the request that is being built */
	bool overflow;		/* and whether it did not fit */
	char *tx;
	char *rx;
	struct nl_error error;
};

int nl_open(struct nl *nl, const struct nl_ops *ops, struct error *e);
void nl_close(struct nl *nl);

void nl_request(struct nl *nl, u8 cmd, u16 flags);
void nl_put(struct nl *nl, u16 type, const void *data, size_t len);
void nl_put_flag(struct nl *nl, u16 type);
void nl_put_u8(struct nl *nl, u16 type, u8 v);
void nl_put_u16(struct nl *nl, u16 type, u16 v);
void nl_put_be16(struct nl *nl, u16 type, u16 v);
void nl_put_u32(struct nl *nl, u16 type, u32 v);
void nl_put_be32(struct nl *nl, u16 type, u32 v);
void nl_put_u64(struct nl *nl, u16 type, u64 v);
void nl_put_str(struct nl *nl, u16 type, const char *s);
u32 nl_nest(struct nl *nl, u16 type);
void nl_nest_end(struct nl *nl, u32 nest);
u32 nl_mark(const struct nl *nl);
void nl_cut(struct nl *nl, u32 mark);

/* Called for each answer; negative makes the rest be thrown away. */
typedef int (*nl_cb)(const struct nlmsghdr *nlh, void *data);

int nl_talk(struct nl *nl, nl_cb cb, void *data);
int nl_dump(struct nl *nl, nl_cb cb, void *data, bool *interrupted);
int nl_listen(struct nl *nl, nl_cb cb, void *data);
int nl_attr_position(const struct nl *nl, u16 type, u32 offset);
int nl_describe(const struct nl *nl, struct error *e, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

bool nl_parse(const struct nlmsghdr *nlh, const struct nlattr **tb,
	      unsigned int max);
void nl_parse_nested(const struct nlattr *nest, const struct nlattr **tb,
		     unsigned int max);
u64 nl_get_uint(const struct nlattr *attr);
u16 nl_get_be16(const struct nlattr *attr);
u32 nl_get_be32(const struct nlattr *attr);
const char *nl_get_str(const struct nlattr *attr, char *buf, size_t size);

static inline u8 nl_command(const struct nlmsghdr *nlh)
{
	const struct genlmsghdr *g = mnl_nlmsg_get_payload(nlh);

	return g->cmd;
}

#endif
