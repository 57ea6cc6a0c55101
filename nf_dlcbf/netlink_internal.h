/* SPDX-License-Identifier: GPL-2.0 */
/* What the netlink files share; nobody else includes this. */
#ifndef NF_DLCBF_NETLINK_INTERNAL_H
#define NF_DLCBF_NETLINK_INTERNAL_H

#include <linux/nf_dlcbf.h>
#include <net/genetlink.h>

#include "compat/netlink.h"
#include "config.h"
#include "key.h"
#include "words.h"

struct nf_dlcbf_filter;
struct nf_dlcbf_flow;
struct nf_dlcbf_net;
struct nf_dlcbf_table;

/* The longest timeout, in milliseconds: a year.  What is longer means never. */
#define NF_DLCBF_NL_TIMEOUT_MAX	(366ULL * 24 * 60 * 60 * 1000)

/* Indices into the family's multicast groups */
enum nf_dlcbf_nl_group {
	NF_DLCBF_NL_GROUP_TABLE,
	NF_DLCBF_NL_GROUP_FLOW,
};

extern struct genl_family nf_dlcbf_nl_family;

extern const struct nla_policy nf_dlcbf_nl_table_add_policy[NF_DLCBF_A_TABLE_MAX + 1];
extern const struct nla_policy nf_dlcbf_nl_table_set_policy[NF_DLCBF_A_TABLE_MAX + 1];
extern const struct nla_policy nf_dlcbf_nl_table_del_policy[NF_DLCBF_A_TABLE_MAX + 1];
extern const struct nla_policy nf_dlcbf_nl_table_name_policy[NF_DLCBF_A_TABLE_MAX + 1];
extern const struct nla_policy nf_dlcbf_nl_table_swap_policy[NF_DLCBF_A_TABLE_MAX + 1];
extern const struct nla_policy nf_dlcbf_nl_table_publish_policy[NF_DLCBF_A_TABLE_MAX + 1];
extern const struct nla_policy nf_dlcbf_nl_hook_add_policy[NF_DLCBF_A_HOOK_MAX + 1];
extern const struct nla_policy nf_dlcbf_nl_hook_del_policy[NF_DLCBF_A_HOOK_MAX + 1];
extern const struct nla_policy nf_dlcbf_nl_hook_get_policy[NF_DLCBF_A_HOOK_MAX + 1];
extern const struct nla_policy nf_dlcbf_nl_flow_add_policy[NF_DLCBF_A_FLOWS_MAX + 1];
extern const struct nla_policy nf_dlcbf_nl_flow_del_policy[NF_DLCBF_A_FLOWS_MAX + 1];
extern const struct nla_policy nf_dlcbf_nl_flow_get_policy[NF_DLCBF_A_FLOWS_MAX + 1];

/* netlink.c */

/**
 * struct nf_dlcbf_nl_message - a message that is being written
 * @skb:    it
 * @header: as genlmsg_put() gave it
 */
struct nf_dlcbf_nl_message {
	struct sk_buff *skb;
	void *header;
};

int nf_dlcbf_nl_refuse(struct netlink_ext_ack *extack, struct nlattr *const tb[],
		       const struct nlattr *nest, const struct nf_dlcbf_refusal *refusal,
		       int error);
int nf_dlcbf_nl_require(struct netlink_ext_ack *extack, struct nlattr *const tb[], int attribute,
			const char *message);
struct nf_dlcbf_table *nf_dlcbf_nl_find_table(struct nf_dlcbf_net *dn, const struct nlattr *name,
					      u32 portid, struct netlink_ext_ack *extack);
int nf_dlcbf_nl_reply_start(struct nf_dlcbf_nl_message *reply, const struct genl_info *info,
			    size_t size);
int nf_dlcbf_nl_reply_send(struct nf_dlcbf_nl_message *reply, struct genl_info *info);
int nf_dlcbf_nl_dump_put(struct nf_dlcbf_nl_message *message, struct sk_buff *skb,
			 struct netlink_callback *cb, int cmd);
void nf_dlcbf_nl_dump_end(struct nf_dlcbf_nl_message *message, struct netlink_callback *cb);
int nf_dlcbf_nl_dump_attributes(struct netlink_callback *cb, struct nlattr *tb[], int max,
				const struct nla_policy *policy);
bool nf_dlcbf_nl_notify_start(struct nf_dlcbf_nl_message *message, int cmd, size_t size,
			      gfp_t gfp);
bool nf_dlcbf_nl_notify_send(struct nf_dlcbf_nl_message *message, struct net *net,
			     enum nf_dlcbf_nl_group group, gfp_t gfp);
bool nf_dlcbf_nl_listeners(struct net *net, enum nf_dlcbf_nl_group group);

/* netlink_table.c */
int nf_dlcbf_nl_table_add(struct sk_buff *skb, struct genl_info *info);
int nf_dlcbf_nl_table_set(struct sk_buff *skb, struct genl_info *info);
int nf_dlcbf_nl_table_del(struct sk_buff *skb, struct genl_info *info);
int nf_dlcbf_nl_table_get(struct sk_buff *skb, struct genl_info *info);
int nf_dlcbf_nl_table_dump_start(struct netlink_callback *cb);
int nf_dlcbf_nl_table_dump(struct sk_buff *skb, struct netlink_callback *cb);
int nf_dlcbf_nl_table_flush(struct sk_buff *skb, struct genl_info *info);
int nf_dlcbf_nl_table_swap(struct sk_buff *skb, struct genl_info *info);
int nf_dlcbf_nl_table_publish(struct sk_buff *skb, struct genl_info *info);

/* netlink_hook.c */
int nf_dlcbf_nl_hook_add(struct sk_buff *skb, struct genl_info *info);
int nf_dlcbf_nl_hook_del(struct sk_buff *skb, struct genl_info *info);
int nf_dlcbf_nl_hook_dump_start(struct netlink_callback *cb);
int nf_dlcbf_nl_hook_dump(struct sk_buff *skb, struct netlink_callback *cb);

/* netlink_key.c */

/**
 * struct nf_dlcbf_nl_match - which flows a dump is of
 * @fields:     fields that must be equal; enum nf_dlcbf_field
 * @family:     4 or 6; 0: either
 * @has_words:  @words must be the words of the flow's protocol
 * @words:      in which the ports were given
 * @tuple:      what the fields must be equal to
 * @saddr_mask: significant bits of the source address, as those of
 *		struct nf_dlcbf_tuple
 * @daddr_mask: likewise, destination
 * @dport_mask: significant bits of the destination port: an ICMP type may be
 *		given without a code
 */
struct nf_dlcbf_nl_match {
	u32 fields;
	u8 family;
	bool has_words;
	enum nf_dlcbf_words words;
	struct nf_dlcbf_tuple tuple;
	struct in6_addr saddr_mask;
	struct in6_addr daddr_mask;
	__be16 dport_mask;
};

/* Most bytes that a key takes in a message */
#define NF_DLCBF_NL_KEY_ROOM \
	(2 * nla_total_size(sizeof(struct in6_addr)) + 4 * nla_total_size(sizeof(u32)) + \
	 2 * nla_total_size(sizeof(u16)) + 3 * nla_total_size(sizeof(u8)))

int nf_dlcbf_nl_read_key(const struct nf_dlcbf_filter *filter, struct nlattr *const tb[],
			 struct nf_dlcbf_flow *flow, struct nf_dlcbf_refusal *refusal);
int nf_dlcbf_nl_read_match(const struct nf_dlcbf_key_layout *layout, struct nlattr *const tb[],
			   struct nf_dlcbf_nl_match *match, struct nf_dlcbf_refusal *refusal);
bool nf_dlcbf_nl_matches(const struct nf_dlcbf_key_layout *layout,
			 const struct nf_dlcbf_nl_match *match,
			 const struct nf_dlcbf_tuple *tuple);
int nf_dlcbf_nl_put_key(struct sk_buff *skb, const struct nf_dlcbf_key_layout *layout,
			const struct nf_dlcbf_flow *flow);

/* netlink_flow.c */
int nf_dlcbf_nl_flow_add(struct sk_buff *skb, struct genl_info *info);
int nf_dlcbf_nl_flow_del(struct sk_buff *skb, struct genl_info *info);
int nf_dlcbf_nl_flow_get(struct sk_buff *skb, struct genl_info *info);
int nf_dlcbf_nl_flow_dump_start(struct netlink_callback *cb);
int nf_dlcbf_nl_flow_dump(struct sk_buff *skb, struct netlink_callback *cb);
int nf_dlcbf_nl_flow_dump_done(struct netlink_callback *cb);

#endif /* NF_DLCBF_NETLINK_INTERNAL_H */
