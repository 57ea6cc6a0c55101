/* SPDX-License-Identifier: GPL-2.0 */
/* The generic netlink family, and the notifications that the rest asks for. */
#ifndef NF_DLCBF_NETLINK_H
#define NF_DLCBF_NETLINK_H

#include <linux/types.h>

struct nf_dlcbf_flow;
struct nf_dlcbf_hook;
struct nf_dlcbf_table;

int nf_dlcbf_netlink_init(void);
void nf_dlcbf_netlink_exit(void);

/*
 * Notifications.  Process context; @table may only need an RCU reference, they
 * allocate with GFP_KERNEL unless called under RCU (GFP_ATOMIC then): @gfp says.
 * nf_dlcbf_notify_flow() returns false when somebody listens and the message
 * could not be sent; the caller counts that.
 */
void nf_dlcbf_notify_table(struct nf_dlcbf_table *table, int cmd, gfp_t gfp);
void nf_dlcbf_notify_hook(const struct nf_dlcbf_hook *hook, int cmd, gfp_t gfp);
bool nf_dlcbf_notify_flow(struct nf_dlcbf_table *table, int cmd,
			  const struct nf_dlcbf_flow *flow, gfp_t gfp);
bool nf_dlcbf_flow_listeners(struct nf_dlcbf_table *table);

#endif /* NF_DLCBF_NETLINK_H */
