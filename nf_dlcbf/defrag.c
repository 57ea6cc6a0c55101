// SPDX-License-Identifier: GPL-2.0
/*
 * Only the first fragment of a datagram has ports.  With the kernel's
 * defragmentation, at priority -400 of prerouting and output, a table sees the
 * datagram.
 *
 * It lives in modules of its own, and insmod resolves no dependencies: so its
 * functions are looked up, and their modules loaded, when a table first wants
 * them.
 */
#include <linux/module.h>
#include <linux/nf_dlcbf.h>
#include <net/netfilter/ipv4/nf_defrag_ipv4.h>
#include <net/netfilter/ipv6/nf_defrag_ipv6.h>
#include <net/net_namespace.h>

#include "defrag.h"

static int enable_ipv4(struct net *net)
{
	int (*enable)(struct net *net) = symbol_request(nf_defrag_ipv4_enable);
	int err;

	if (!enable)
		return -EOPNOTSUPP;
	err = enable(net);
	/* Success keeps the module until disable_ipv4(). */
	if (err)
		symbol_put(nf_defrag_ipv4_enable);
	return err;
}

static void disable_ipv4(struct net *net)
{
	void (*disable)(struct net *net) = symbol_get(nf_defrag_ipv4_disable);

	if (WARN_ON_ONCE(!disable))
		return;
	disable(net);
	symbol_put(nf_defrag_ipv4_disable);
	symbol_put(nf_defrag_ipv4_enable);
}

static int enable_ipv6(struct net *net)
{
	int (*enable)(struct net *net) = symbol_request(nf_defrag_ipv6_enable);
	int err;

	if (!enable)
		return -EOPNOTSUPP;
	err = enable(net);
	if (err)
		symbol_put(nf_defrag_ipv6_enable);
	return err;
}

static void disable_ipv6(struct net *net)
{
	void (*disable)(struct net *net) = symbol_get(nf_defrag_ipv6_disable);

	if (WARN_ON_ONCE(!disable))
		return;
	disable(net);
	symbol_put(nf_defrag_ipv6_disable);
	symbol_put(nf_defrag_ipv6_enable);
}

/**
 * nf_dlcbf_defrag_enable() - have datagrams put together in a namespace
 * @net:    namespace
 * @family: enum nf_dlcbf_family
 *
 * Context: process, may sleep and load modules.
 * Return: 0; -EOPNOTSUPP where the kernel has no such module, or its errno.
 */
int nf_dlcbf_defrag_enable(struct net *net, u32 family)
{
	int err = 0;

	if (family != NF_DLCBF_FAMILY_IPV6)
		err = enable_ipv4(net);
	if (err || family == NF_DLCBF_FAMILY_IPV4)
		return err;
	err = enable_ipv6(net);
	if (err && family == NF_DLCBF_FAMILY_INET)
		disable_ipv4(net);
	return err;
}

/* Undo one nf_dlcbf_defrag_enable().  Context: process, may sleep. */
void nf_dlcbf_defrag_disable(struct net *net, u32 family)
{
	if (family != NF_DLCBF_FAMILY_IPV6)
		disable_ipv4(net);
	if (family != NF_DLCBF_FAMILY_IPV4)
		disable_ipv6(net);
}
