/* SPDX-License-Identifier: GPL-2.0 */
/* What a hook reads of a packet, once, for all the tables that judge it. */
#ifndef NF_DLCBF_PACKET_H
#define NF_DLCBF_PACKET_H

#include <linux/netfilter.h>
#include <linux/skbuff.h>

#include "key.h"

/**
 * enum nf_dlcbf_readable - how much of a packet could be read
 * @NF_DLCBF_READ:           all of it
 * @NF_DLCBF_READ_FRAGMENT:  a later fragment: everything but the ports
 * @NF_DLCBF_READ_TRUNCATED: it ends within its headers
 * @NF_DLCBF_READ_MALFORMED: its headers contradict themselves
 * @NF_DLCBF_READ_NOT_IP:    neither IPv4 nor IPv6
 */
enum nf_dlcbf_readable {
	NF_DLCBF_READ,
	NF_DLCBF_READ_FRAGMENT,
	NF_DLCBF_READ_TRUNCATED,
	NF_DLCBF_READ_MALFORMED,
	NF_DLCBF_READ_NOT_IP,
};

/**
 * struct nf_dlcbf_packet - a packet as a table sees it
 * @tuple:     the fields of its key
 * @readable:  how much of @tuple is valid
 * @packets:   packets on the wire that this skb was or will be, at least 1
 * @bytes:     their bytes at layer 3, headers of each included
 * @neighbour: it is ARP or IPv6 neighbour discovery
 */
struct nf_dlcbf_packet {
	struct nf_dlcbf_tuple tuple;
	enum nf_dlcbf_readable readable;
	u32 packets;
	u32 bytes;
	bool neighbour;
};

void nf_dlcbf_packet_read(struct nf_dlcbf_packet *packet, const struct sk_buff *skb,
			  const struct nf_hook_state *state);

#endif /* NF_DLCBF_PACKET_H */
