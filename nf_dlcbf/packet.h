/* SPDX-License-Identifier: GPL-2.0 */
/* What a hook reads of a packet, once, for all the tables that judge it. */
#ifndef NF_DLCBF_PACKET_H
#define NF_DLCBF_PACKET_H

#include <linux/netfilter.h>
#include <linux/skbuff.h>

#include "key.h"

/**
 * enum nf_dlcbf_depth - how far the reading of a packet came
 * @NF_DLCBF_DEPTH_NONE:     nothing of it
 * @NF_DLCBF_DEPTH_ADDRESS:  family and addresses
 * @NF_DLCBF_DEPTH_PROTOCOL: and the transport protocol
 * @NF_DLCBF_DEPTH_PORTS:    and ports, or what stands for them
 *
 * A table judges every packet of which it knows enough: one that hides its
 * ports in fragments does not escape a list of addresses.
 */
enum nf_dlcbf_depth {
	NF_DLCBF_DEPTH_NONE,
	NF_DLCBF_DEPTH_ADDRESS,
	NF_DLCBF_DEPTH_PROTOCOL,
	NF_DLCBF_DEPTH_PORTS,
};

/**
 * struct nf_dlcbf_packet - a packet as a table sees it
 * @tuple:     the fields of its key, as far as @depth says
 * @depth:     how much of @tuple is valid
 * @reason:    where @depth is less than all, why: NF_DLCBF_A_STATS_FRAGMENT,
 *	       _TRUNCATED, _MALFORMED or _NOT_IP
 * @packets:   packets on the wire that this skb was or will be, at least 1
 * @bytes:     their bytes at layer 3, headers of each included
 * @neighbour: it is ARP or IPv6 neighbour discovery
 */
struct nf_dlcbf_packet {
	struct nf_dlcbf_tuple tuple;
	enum nf_dlcbf_depth depth;
	enum nf_dlcbf_attr_stats reason;
	u32 packets;
	u32 bytes;
	bool neighbour;
};

void nf_dlcbf_packet_read(struct nf_dlcbf_packet *packet, const struct sk_buff *skb,
			  const struct nf_hook_state *state);

#endif /* NF_DLCBF_PACKET_H */
