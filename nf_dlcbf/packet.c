// SPDX-License-Identifier: GPL-2.0
/*
 * From an skb to what tables want to know of it.
 *
 * Nothing that a packet says of itself is believed before it was checked: at
 * ingress no one looked at it before.  All reads go through
 * skb_header_pointer(), which copies what is not in the linear part.
 */
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/sctp.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/gre.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/ndisc.h>

#include "packet.h"

/* Extension headers that are followed before a packet is called malformed. */
#define MAX_EXTENSION_HEADERS	16
/* VLAN tags that are followed when they are not offloaded. */
#define MAX_VLAN_TAGS		4

/* Where the reading of a packet is. */
struct reader {
	const struct sk_buff *skb;
	struct nf_dlcbf_packet *packet;
	int network;	/* offset of the IP header */
	int transport;	/* offset of the transport header */
	u32 length;	/* bytes at layer 3: there, then what the IP header says */
	bool on_link;	/* IPv6, and no router has had it (RFC 4861, 11.2) */
};

static bool within(const struct reader *reader, int offset, int len)
{
	return offset - reader->network + len <= reader->length;
}

/*
 * @len bytes at @offset, copied to @copy if need be; NULL with the reason noted
 * when the packet does not have them, or does not say that it has.
 */
static const void *header(struct reader *reader, int offset, int len, void *copy)
{
	const void *found = NULL;

	if (!within(reader, offset, len)) {
		reader->packet->reason = NF_DLCBF_A_STATS_MALFORMED;
		return NULL;
	}
	found = skb_header_pointer(reader->skb, offset, len, copy);
	if (!found)
		reader->packet->reason = NF_DLCBF_A_STATS_TRUNCATED;
	return found;
}

/* Port pairs, and 32-bit names in their place: SPI of ESP and AH, key of GRE. */
static bool read_port_pair(struct reader *reader, int offset)
{
	struct nf_dlcbf_tuple *tuple = &reader->packet->tuple;
	const __be16 *ports;
	__be16 copy[2];

	ports = header(reader, offset, sizeof(copy), copy);
	if (!ports)
		return false;
	tuple->sport = ports[0];
	tuple->dport = ports[1];
	return true;
}

/* RFC 2890: the key follows the checksum, where there is one. */
static bool read_gre(struct reader *reader)
{
	const struct gre_base_hdr *gre;
	struct gre_base_hdr copy;
	int offset = reader->transport + sizeof(copy);

	gre = header(reader, reader->transport, sizeof(copy), &copy);
	if (!gre)
		return false;
	if (!(gre->flags & GRE_KEY))
		return true;
	if (gre->flags & GRE_CSUM)
		offset += sizeof(__be32);
	return read_port_pair(reader, offset);
}

/* Queries and replies carry an identifier (RFC 792, RFC 950, RFC 4443). */
static bool icmp_has_id(u8 family, u8 type)
{
	if (family == 6)
		return type == ICMPV6_ECHO_REQUEST || type == ICMPV6_ECHO_REPLY;
	switch (type) {
	case ICMP_ECHO:
	case ICMP_ECHOREPLY:
	case ICMP_TIMESTAMP:
	case ICMP_TIMESTAMPREPLY:
	case ICMP_INFO_REQUEST:
	case ICMP_INFO_REPLY:
	case ICMP_ADDRESS:
	case ICMP_ADDRESSREPLY:
		return true;
	}
	return false;
}

static bool read_icmp(struct reader *reader)
{
	struct nf_dlcbf_tuple *tuple = &reader->packet->tuple;
	const u8 *type_code;
	const __be16 *id;
	__be16 id_copy;
	u8 copy[2];

	type_code = header(reader, reader->transport, sizeof(copy), copy);
	if (!type_code)
		return false;
	tuple->dport = htons(type_code[0] << 8 | type_code[1]);
	if (reader->on_link)
		reader->packet->neighbour = type_code[0] >= NDISC_ROUTER_SOLICITATION &&
					    type_code[0] <= NDISC_REDIRECT;
	if (!icmp_has_id(tuple->family, type_code[0]))
		return true;
	id = header(reader, reader->transport + offsetof(struct icmphdr, un.echo.id),
		    sizeof(id_copy), &id_copy);
	if (!id)
		return false;
	tuple->sport = *id;
	return true;
}

/* Return: the ports, or what stands for them, are there; many have none. */
static bool read_transport(struct reader *reader)
{
	const struct nf_dlcbf_tuple *tuple = &reader->packet->tuple;

	switch (tuple->proto) {
	case IPPROTO_TCP:
	case IPPROTO_UDP:
	case IPPROTO_UDPLITE:
	case IPPROTO_SCTP:
	case IPPROTO_DCCP:
	case IPPROTO_ESP:
		return read_port_pair(reader, reader->transport);
	case IPPROTO_AH:
		return read_port_pair(reader,
				      reader->transport + offsetof(struct ip_auth_hdr, spi));
	case IPPROTO_GRE:
		return read_gre(reader);
	case IPPROTO_ICMP:
		return tuple->family == 4 ? read_icmp(reader) : true;
	case IPPROTO_ICMPV6:
		return tuple->family == 6 ? read_icmp(reader) : true;
	}
	return true;
}

/*
 * Headers that each packet on the wire repeats and a GSO skb has once, from the
 * IP header on; 0 when they cannot be told.
 */
static u32 gso_headers(struct reader *reader)
{
	const struct sk_buff *skb = reader->skb;
	int transport = reader->transport;
	const struct tcphdr *tcp;
	struct tcphdr copy;

	if (skb->encapsulation)
		transport = skb_inner_transport_offset(skb);
	if (skb_shinfo(skb)->gso_type & (SKB_GSO_TCPV4 | SKB_GSO_TCPV6)) {
		tcp = header(reader, transport, sizeof(copy), &copy);
		return tcp ? transport - reader->network + tcp->doff * 4 : 0;
	}
	if (skb_shinfo(skb)->gso_type & SKB_GSO_UDP_L4)
		return transport - reader->network + sizeof(struct udphdr);
	if (skb_shinfo(skb)->gso_type & SKB_GSO_SCTP)
		return transport - reader->network + sizeof(struct sctphdr);
	return 0;
}

static void count_gso(struct reader *reader)
{
	struct nf_dlcbf_packet *packet = reader->packet;
	const struct skb_shared_info *shared = skb_shinfo(reader->skb);
	const u32 headers = gso_headers(reader);
	u32 segments = shared->gso_segs;

	/* A guest's or a program's skb says how large, not how many. */
	if (!segments && shared->gso_size && packet->bytes > headers)
		segments = DIV_ROUND_UP(packet->bytes - headers, shared->gso_size);
	if (segments > 1) {
		packet->packets = segments;
		packet->bytes += (segments - 1) * headers;
	}
}

/*
 * A datagram that the kernel put together came as several packets.  Each was
 * pulled to its payload and still has its own headers before it.  The work is
 * bounded by the 64 KiB of a datagram, and less than reassembly was.
 */
static void count_fragments(struct nf_dlcbf_packet *packet, const struct sk_buff *skb)
{
	const struct sk_buff *fragment;

	skb_walk_frags(skb, fragment) {
		packet->packets++;
		packet->bytes += fragment->data - skb_network_header(fragment);
	}
}

static enum nf_dlcbf_depth stop(struct reader *reader, enum nf_dlcbf_depth depth,
				enum nf_dlcbf_attr_stats reason)
{
	reader->packet->reason = reason;
	return depth;
}

static enum nf_dlcbf_depth read_ipv4(struct reader *reader)
{
	struct nf_dlcbf_packet *packet = reader->packet;
	const struct iphdr *ip;
	struct iphdr copy;
	u32 header_len;
	u32 length;

	ip = header(reader, reader->network, sizeof(copy), &copy);
	if (!ip)
		return stop(reader, NF_DLCBF_DEPTH_NONE, NF_DLCBF_A_STATS_TRUNCATED);
	header_len = ip->ihl * 4;
	if (ip->version != 4 || header_len < sizeof(copy))
		return stop(reader, NF_DLCBF_DEPTH_NONE, NF_DLCBF_A_STATS_MALFORMED);

	packet->tuple.family = 4;
	packet->tuple.proto = ip->protocol;
	packet->tuple.saddr.s6_addr32[3] = ip->saddr;
	packet->tuple.daddr.s6_addr32[3] = ip->daddr;

	/*
	 * Where segments add up to more than 64 KiB the field is 0.  A packet
	 * that lies about its length counts as what is there.
	 */
	length = ntohs(ip->tot_len);
	if (!length && skb_is_gso(reader->skb))
		length = reader->length;
	if (length < header_len)
		return stop(reader, NF_DLCBF_DEPTH_PROTOCOL, NF_DLCBF_A_STATS_MALFORMED);
	if (length > reader->length)
		return stop(reader, NF_DLCBF_DEPTH_PROTOCOL, NF_DLCBF_A_STATS_TRUNCATED);
	reader->length = length;
	packet->bytes = length;

	reader->transport = reader->network + header_len;
	if (ip->frag_off & htons(IP_OFFSET))
		return stop(reader, NF_DLCBF_DEPTH_PROTOCOL, NF_DLCBF_A_STATS_FRAGMENT);
	return read_transport(reader) ? NF_DLCBF_DEPTH_PORTS : NF_DLCBF_DEPTH_PROTOCOL;
}

/* AH names a flow: it is not skipped. */
static bool is_transport(u8 next)
{
	return next == NEXTHDR_AUTH || next == NEXTHDR_NONE || !ipv6_ext_hdr(next);
}

/*
 * Follow the extension headers (RFC 8200, 4) to the transport protocol.  A later
 * fragment has only those before the fragment header, and shows its protocol
 * when no other came after.
 */
static enum nf_dlcbf_depth skip_extension_headers(struct reader *reader, u8 next, int offset)
{
	struct nf_dlcbf_tuple *tuple = &reader->packet->tuple;
	int i;

	/* After as many, one more look: at the transport header. */
	for (i = 0; i <= MAX_EXTENSION_HEADERS; i++) {
		const struct ipv6_opt_hdr *option;
		const struct frag_hdr *fragment;
		struct ipv6_opt_hdr option_copy;
		struct frag_hdr fragment_copy;

		tuple->proto = next;
		reader->transport = offset;
		if (is_transport(next))
			return read_transport(reader) ? NF_DLCBF_DEPTH_PORTS :
							NF_DLCBF_DEPTH_PROTOCOL;

		if (next == NEXTHDR_FRAGMENT) {
			fragment = header(reader, offset, sizeof(fragment_copy), &fragment_copy);
			if (!fragment)
				return NF_DLCBF_DEPTH_ADDRESS;
			next = fragment->nexthdr;
			offset += sizeof(fragment_copy);
			if (fragment->frag_off & htons(IP6_OFFSET)) {
				tuple->proto = next;
				return stop(reader, is_transport(next) ? NF_DLCBF_DEPTH_PROTOCOL :
									 NF_DLCBF_DEPTH_ADDRESS,
					    NF_DLCBF_A_STATS_FRAGMENT);
			}
			continue;
		}

		option = header(reader, offset, sizeof(option_copy), &option_copy);
		if (!option)
			return NF_DLCBF_DEPTH_ADDRESS;
		next = option->nexthdr;
		offset += ipv6_optlen(option);
	}
	return stop(reader, NF_DLCBF_DEPTH_ADDRESS, NF_DLCBF_A_STATS_MALFORMED);
}

static enum nf_dlcbf_depth read_ipv6(struct reader *reader)
{
	struct nf_dlcbf_packet *packet = reader->packet;
	const struct ipv6hdr *ip;
	struct ipv6hdr copy;
	u32 length;

	ip = header(reader, reader->network, sizeof(copy), &copy);
	if (!ip)
		return stop(reader, NF_DLCBF_DEPTH_NONE, NF_DLCBF_A_STATS_TRUNCATED);
	if (ip->version != 6)
		return stop(reader, NF_DLCBF_DEPTH_NONE, NF_DLCBF_A_STATS_MALFORMED);

	packet->tuple.family = 6;
	packet->tuple.saddr = ip->saddr;
	packet->tuple.daddr = ip->daddr;
	reader->on_link = ip->hop_limit == 255;

	/* A length of 0 is that of a jumbogram (RFC 2675), or of many segments. */
	length = sizeof(copy) + ntohs(ip->payload_len);
	if (!ip->payload_len && (ip->nexthdr == NEXTHDR_HOP || skb_is_gso(reader->skb)))
		length = reader->length;
	if (length > reader->length)
		return stop(reader, NF_DLCBF_DEPTH_ADDRESS, NF_DLCBF_A_STATS_TRUNCATED);
	reader->length = length;
	packet->bytes = length;
	return skip_extension_headers(reader, ip->nexthdr, reader->network + sizeof(copy));
}

/*
 * The IP header of a frame at ingress, behind VLAN tags that the device did not
 * take off.  The outermost tag names the VLAN.
 */
static __be16 find_network(struct reader *reader)
{
	const struct sk_buff *skb = reader->skb;
	struct nf_dlcbf_tuple *tuple = &reader->packet->tuple;
	__be16 protocol = skb->protocol;
	bool tagged = skb_vlan_tag_present(skb);
	int i;

	if (tagged)
		tuple->vlan = skb_vlan_tag_get_id(skb);
	for (i = 0; i < MAX_VLAN_TAGS && eth_type_vlan(protocol); i++) {
		const struct vlan_hdr *vlan;
		struct vlan_hdr copy;

		vlan = skb_header_pointer(skb, reader->network, sizeof(copy), &copy);
		if (!vlan)
			break;
		if (!tagged)
			tuple->vlan = ntohs(vlan->h_vlan_TCI) & VLAN_VID_MASK;
		tagged = true;
		protocol = vlan->h_vlan_encapsulated_proto;
		reader->network += sizeof(copy);
	}
	return protocol;
}

/* In the IP hooks a tag has become a device. */
static u16 vlan_of_device(const struct net_device *device)
{
	return device && is_vlan_dev(device) ? vlan_dev_vlan_id(device) : 0;
}

/* Reassembly notes the size of the largest fragment, also when it was the only one. */
static bool was_reassembled(const struct sk_buff *skb, u8 family)
{
	return family == 4 ? IPCB(skb)->frag_max_size : IP6CB(skb)->frag_max_size;
}

static void count_wire_packets(struct reader *reader, bool ingress)
{
	struct nf_dlcbf_packet *packet = reader->packet;

	if (skb_is_gso(reader->skb)) {
		count_gso(reader);
	} else if (!ingress && was_reassembled(reader->skb, packet->tuple.family)) {
		count_fragments(packet, reader->skb);
		/* Reassembly took the first packet's fragment header out. */
		if (packet->tuple.family == 6)
			packet->bytes += sizeof(struct frag_hdr);
	}
}

/**
 * nf_dlcbf_packet_read() - read a packet
 * @packet: set, as far as the packet could be read
 * @skb:    the packet, its data at or before the network header
 * @state:  where it is
 *
 * Context: a netfilter hook.
 */
void nf_dlcbf_packet_read(struct nf_dlcbf_packet *packet, const struct sk_buff *skb,
			  const struct nf_hook_state *state)
{
	const bool ingress = state->pf == NFPROTO_NETDEV;
	struct reader reader = {
		.skb = skb,
		.packet = packet,
		.network = skb_network_offset(skb),
	};
	__be16 protocol;

	packet->depth = NF_DLCBF_DEPTH_NONE;
	packet->reason = NF_DLCBF_A_STATS_NOT_IP;
	packet->packets = 1;
	packet->neighbour = false;
	packet->tuple.family = 0;
	packet->tuple.proto = 0;
	packet->tuple.sport = 0;
	packet->tuple.dport = 0;
	packet->tuple.vlan = 0;
	packet->tuple.mark = skb->mark;
	packet->tuple.iif = state->in ? state->in->ifindex : skb->skb_iif;
	packet->tuple.oif = state->out ? state->out->ifindex : 0;

	if (ingress) {
		protocol = find_network(&reader);
	} else {
		packet->tuple.vlan = vlan_of_device(state->in ? state->in : state->out);
		protocol = state->pf == NFPROTO_IPV4 ? htons(ETH_P_IP) : htons(ETH_P_IPV6);
	}
	reader.length = skb->len - reader.network;
	packet->bytes = reader.length;

	switch (protocol) {
	case htons(ETH_P_IP):
		packet->depth = read_ipv4(&reader);
		break;
	case htons(ETH_P_IPV6):
		packet->depth = read_ipv6(&reader);
		break;
	case htons(ETH_P_ARP):
		packet->neighbour = true;
		break;
	}
	if (packet->depth != NF_DLCBF_DEPTH_NONE)
		count_wire_packets(&reader, ingress);
}
