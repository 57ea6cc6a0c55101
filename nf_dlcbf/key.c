// SPDX-License-Identifier: GPL-2.0
/*
 * Keys: a tuple of fields, packed so that a table stores and hashes only what
 * it was asked for.
 *
 * Widest fields come first, so every field is aligned to its size and the rest
 * of the last word is the only padding.  An IPv4 5-tuple takes 13 bytes of two
 * words, an IPv4 address 4 bytes of one.  Numbers are in network byte order, so
 * that machines of either byte order agree on a key's hash.
 */
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/string.h>
#include <net/ipv6.h>

#include "key.h"
#include "packet.h"

static void put_be32(u32 value, u8 *at)
{
	const __be32 there = cpu_to_be32(value);

	memcpy(at, &there, sizeof(there));
}

static void put_be16(u16 value, u8 *at)
{
	const __be16 there = cpu_to_be16(value);

	memcpy(at, &there, sizeof(there));
}

static u32 get_be32(const u8 *at)
{
	__be32 there;

	memcpy(&there, at, sizeof(there));
	return be32_to_cpu(there);
}

static u16 get_be16(const u8 *at)
{
	__be16 there;

	memcpy(&there, at, sizeof(there));
	return be16_to_cpu(there);
}

/* An IPv4 address of a wide key is mapped, as in RFC 4291, 2.5.5.2. */
static void mapped_mask(struct in6_addr *mask, unsigned int prefix)
{
	memset(mask, 0, sizeof(*mask));
	mask->s6_addr32[3] = prefix ? cpu_to_be32(~0U << (32 - prefix)) : 0;
}

static void address_masks(struct in6_addr mask[2], u8 prefix4, u8 prefix6)
{
	struct in6_addr ones;

	mapped_mask(&mask[0], prefix4);
	memset(&ones, 0xff, sizeof(ones));
	/* It clears the mask before it reads the address: they cannot be one. */
	ipv6_addr_prefix(&mask[1], &ones, prefix6);
}

/* Give a field of @size bytes its place. */
static u8 place(u32 *offset, u32 size)
{
	u32 at = *offset;

	*offset += size;
	return at;
}

static int check_bidir(const struct nf_dlcbf_config *config, struct nf_dlcbf_refusal *refusal)
{
	const u32 addresses = NF_DLCBF_FIELD_SADDR | NF_DLCBF_FIELD_DADDR;
	const u32 ports = NF_DLCBF_FIELD_SPORT | NF_DLCBF_FIELD_DPORT;
	const u32 devices = NF_DLCBF_FIELD_IIF | NF_DLCBF_FIELD_OIF;

	if ((config->fields & addresses) != addresses)
		return nf_dlcbf_refuse(refusal, -EINVAL, NF_DLCBF_A_TABLE_BIDIR,
				       "bidir needs both saddr and daddr in the key");
	if ((config->fields & ports) && (config->fields & ports) != ports)
		return nf_dlcbf_refuse(refusal, -EINVAL, NF_DLCBF_A_TABLE_BIDIR,
				       "bidir needs both sport and dport in the key, or neither");
	if (config->fields & devices)
		return nf_dlcbf_refuse(refusal, -EINVAL, NF_DLCBF_A_TABLE_BIDIR,
				       "bidir and the key fields iif and oif exclude each other");
	if (config->saddr_prefix4 != config->daddr_prefix4 ||
	    config->saddr_prefix6 != config->daddr_prefix6)
		return nf_dlcbf_refuse(refusal, -EINVAL, NF_DLCBF_A_TABLE_BIDIR,
				       "bidir needs the same prefix length for saddr and daddr");
	return 0;
}

/**
 * nf_dlcbf_key_layout_init() - lay the fields of a table's key out
 * @layout:  set
 * @config:  the table's settings, of which family, fields, prefixes and bidir
 *	     are read
 * @refusal: set when the fields do not go together
 *
 * Context: any.
 * Return: 0, or -EINVAL with @refusal.
 */
int nf_dlcbf_key_layout_init(struct nf_dlcbf_key_layout *layout,
			     const struct nf_dlcbf_config *config,
			     struct nf_dlcbf_refusal *refusal)
{
	const u32 fields = config->fields;
	const bool wide = config->family != NF_DLCBF_FAMILY_IPV4;
	const u32 address = wide ? sizeof(struct in6_addr) : sizeof(__be32);
	u32 offset = 0;
	int err;

	BUILD_BUG_ON(2 * sizeof(struct in6_addr) + 3 * sizeof(u32) + 3 * sizeof(u16) + 2 >
		     sizeof(struct nf_dlcbf_key));

	if (!fields || fields & ~NF_DLCBF_FIELDS_ALL)
		return nf_dlcbf_refuse(refusal, -EINVAL, NF_DLCBF_A_TABLE_FIELDS,
				       "the key needs at least one field");
	if (config->bidir) {
		err = check_bidir(config, refusal);
		if (err)
			return err;
	}

	memset(layout, 0, sizeof(*layout));
	layout->fields = fields;
	layout->family = config->family;
	layout->bidir = config->bidir;
	layout->depth = fields & (NF_DLCBF_FIELD_SPORT | NF_DLCBF_FIELD_DPORT) ?
			NF_DLCBF_DEPTH_PORTS :
			fields & NF_DLCBF_FIELD_PROTO ? NF_DLCBF_DEPTH_PROTOCOL :
			NF_DLCBF_DEPTH_ADDRESS;
	layout->wide = wide;
	address_masks(layout->saddr_mask, config->saddr_prefix4, config->saddr_prefix6);
	address_masks(layout->daddr_mask, config->daddr_prefix4, config->daddr_prefix6);

	if (fields & NF_DLCBF_FIELD_SADDR)
		layout->saddr = place(&offset, address);
	if (fields & NF_DLCBF_FIELD_DADDR)
		layout->daddr = place(&offset, address);
	if (fields & NF_DLCBF_FIELD_IIF)
		layout->iif = place(&offset, sizeof(u32));
	if (fields & NF_DLCBF_FIELD_OIF)
		layout->oif = place(&offset, sizeof(u32));
	if (fields & NF_DLCBF_FIELD_MARK)
		layout->mark = place(&offset, sizeof(u32));
	if (fields & NF_DLCBF_FIELD_SPORT)
		layout->sport = place(&offset, sizeof(__be16));
	if (fields & NF_DLCBF_FIELD_DPORT)
		layout->dport = place(&offset, sizeof(__be16));
	if (fields & NF_DLCBF_FIELD_VLAN)
		layout->vlan = place(&offset, sizeof(u16));
	if (fields & NF_DLCBF_FIELD_PROTO)
		layout->proto = place(&offset, sizeof(u8));
	if (layout->family == NF_DLCBF_FAMILY_INET)
		layout->family_at = place(&offset, sizeof(u8));
	layout->words = DIV_ROUND_UP(offset, sizeof(u64));
	return 0;
}

static void pack_address(const struct nf_dlcbf_key_layout *layout, u8 family, u8 *at,
			 const struct in6_addr *address, const struct in6_addr mask[2])
{
	struct in6_addr wide;

	if (family == 4) {
		wide.s6_addr32[3] = address->s6_addr32[3] & mask[0].s6_addr32[3];
		if (!layout->wide) {
			memcpy(at, &wide.s6_addr32[3], sizeof(wide.s6_addr32[3]));
			return;
		}
		wide.s6_addr32[0] = 0;
		wide.s6_addr32[1] = 0;
		wide.s6_addr32[2] = htonl(0xffff);
	} else {
		wide.s6_addr32[0] = address->s6_addr32[0] & mask[1].s6_addr32[0];
		wide.s6_addr32[1] = address->s6_addr32[1] & mask[1].s6_addr32[1];
		wide.s6_addr32[2] = address->s6_addr32[2] & mask[1].s6_addr32[2];
		wide.s6_addr32[3] = address->s6_addr32[3] & mask[1].s6_addr32[3];
	}
	memcpy(at, &wide, sizeof(wide));
}

/* The type of the query that an ICMP reply answers, or the type itself. */
static u8 icmp_query(u8 family, u8 type)
{
	if (family == 4) {
		switch (type) {
		case ICMP_ECHOREPLY:
			return ICMP_ECHO;
		case ICMP_TIMESTAMPREPLY:
			return ICMP_TIMESTAMP;
		case ICMP_INFO_REPLY:
			return ICMP_INFO_REQUEST;
		case ICMP_ADDRESSREPLY:
			return ICMP_ADDRESS;
		}
		return type;
	}
	switch (type) {
	case ICMPV6_ECHO_REPLY:
		return ICMPV6_ECHO_REQUEST;
	case ICMPV6_NI_REPLY:
		return ICMPV6_NI_QUERY;
	}
	return type;
}

static bool has_port_pair(u8 proto)
{
	switch (proto) {
	case IPPROTO_TCP:
	case IPPROTO_UDP:
	case IPPROTO_UDPLITE:
	case IPPROTO_SCTP:
	case IPPROTO_DCCP:
		return true;
	}
	return false;
}

static bool is_icmp(const struct nf_dlcbf_tuple *tuple)
{
	return tuple->proto == (tuple->family == 4 ? IPPROTO_ICMP : IPPROTO_ICMPV6);
}

static void cut_address(struct in6_addr *address, const struct in6_addr *mask)
{
	int i;

	for (i = 0; i < 4; i++)
		address->s6_addr32[i] &= mask->s6_addr32[i];
}

/*
 * The one tuple of both directions: the lower address first, as far as the
 * prefix reaches, for two hosts of one prefix are not to be told apart.  Port
 * pairs turn with the addresses; an ICMP identifier, an SPI and a GRE key do
 * not.
 */
static void unify_directions(const struct nf_dlcbf_key_layout *layout,
			     struct nf_dlcbf_tuple *tuple)
{
	const bool ports = has_port_pair(tuple->proto);
	int order;

	cut_address(&tuple->saddr, &layout->saddr_mask[tuple->family == 6]);
	cut_address(&tuple->daddr, &layout->daddr_mask[tuple->family == 6]);
	if (tuple->family == 4)
		order = memcmp(&tuple->saddr.s6_addr32[3], &tuple->daddr.s6_addr32[3],
			       sizeof(tuple->saddr.s6_addr32[3]));
	else
		order = memcmp(&tuple->saddr, &tuple->daddr, sizeof(tuple->saddr));
	if (!order && ports)
		order = memcmp(&tuple->sport, &tuple->dport, sizeof(tuple->sport));
	if (order > 0) {
		swap(tuple->saddr, tuple->daddr);
		if (ports)
			swap(tuple->sport, tuple->dport);
	}
	if (is_icmp(tuple)) {
		u16 type_code = ntohs(tuple->dport);

		tuple->dport = htons(icmp_query(tuple->family, type_code >> 8) << 8 |
				     (type_code & 0xff));
	}
}

static void pack_fields(const struct nf_dlcbf_key_layout *layout,
			const struct nf_dlcbf_tuple *tuple, u8 *bytes)
{
	const u32 fields = layout->fields;

	if (fields & NF_DLCBF_FIELD_SADDR)
		pack_address(layout, tuple->family, bytes + layout->saddr, &tuple->saddr,
			     layout->saddr_mask);
	if (fields & NF_DLCBF_FIELD_DADDR)
		pack_address(layout, tuple->family, bytes + layout->daddr, &tuple->daddr,
			     layout->daddr_mask);
	if (fields & NF_DLCBF_FIELD_SPORT)
		memcpy(bytes + layout->sport, &tuple->sport, sizeof(tuple->sport));
	if (fields & NF_DLCBF_FIELD_DPORT)
		memcpy(bytes + layout->dport, &tuple->dport, sizeof(tuple->dport));
	if (fields & NF_DLCBF_FIELD_PROTO)
		bytes[layout->proto] = tuple->proto;
	if (layout->family == NF_DLCBF_FAMILY_INET)
		bytes[layout->family_at] = tuple->family;
	if (fields & NF_DLCBF_FIELD_IIF)
		put_be32(tuple->iif, bytes + layout->iif);
	if (fields & NF_DLCBF_FIELD_OIF)
		put_be32(tuple->oif, bytes + layout->oif);
	if (fields & NF_DLCBF_FIELD_MARK)
		put_be32(tuple->mark, bytes + layout->mark);
	if (fields & NF_DLCBF_FIELD_VLAN)
		put_be16(tuple->vlan, bytes + layout->vlan);
}

/**
 * nf_dlcbf_key_pack() - make a key of a tuple
 * @layout: the key's layout
 * @tuple:  fields; those of the layout must be valid, and the family must fit
 * @key:    set
 *
 * Addresses are cut to the table's prefix lengths; with bidir both directions
 * of a connection give the same key.
 *
 * Context: any.
 */
void nf_dlcbf_key_pack(const struct nf_dlcbf_key_layout *layout,
		       const struct nf_dlcbf_tuple *tuple, struct nf_dlcbf_key *key)
{
	unsigned int i;

	for (i = 0; i < layout->words; i++)
		key->words[i] = 0;
	if (layout->bidir) {
		struct nf_dlcbf_tuple unified = *tuple;

		unify_directions(layout, &unified);
		pack_fields(layout, &unified, (u8 *)key->words);
	} else {
		pack_fields(layout, tuple, (u8 *)key->words);
	}
}

static void unpack_address(const struct nf_dlcbf_key_layout *layout, const u8 *at,
			   struct in6_addr *address)
{
	if (layout->wide)
		memcpy(address, at, sizeof(*address));
	else
		memcpy(&address->s6_addr32[3], at, sizeof(address->s6_addr32[3]));
}

/**
 * nf_dlcbf_key_unpack() - the tuple of a key
 * @layout: the key's layout
 * @key:    a key
 * @tuple:  set; fields that the layout lacks are 0
 *
 * Context: any.
 */
void nf_dlcbf_key_unpack(const struct nf_dlcbf_key_layout *layout,
			 const struct nf_dlcbf_key *key, struct nf_dlcbf_tuple *tuple)
{
	const u8 *bytes = (const u8 *)key->words;
	const u32 fields = layout->fields;

	memset(tuple, 0, sizeof(*tuple));
	switch (layout->family) {
	case NF_DLCBF_FAMILY_IPV4:
		tuple->family = 4;
		break;
	case NF_DLCBF_FAMILY_IPV6:
		tuple->family = 6;
		break;
	default:
		tuple->family = bytes[layout->family_at];
		break;
	}
	if (fields & NF_DLCBF_FIELD_SADDR)
		unpack_address(layout, bytes + layout->saddr, &tuple->saddr);
	if (fields & NF_DLCBF_FIELD_DADDR)
		unpack_address(layout, bytes + layout->daddr, &tuple->daddr);
	if (fields & NF_DLCBF_FIELD_SPORT)
		memcpy(&tuple->sport, bytes + layout->sport, sizeof(tuple->sport));
	if (fields & NF_DLCBF_FIELD_DPORT)
		memcpy(&tuple->dport, bytes + layout->dport, sizeof(tuple->dport));
	if (fields & NF_DLCBF_FIELD_PROTO)
		tuple->proto = bytes[layout->proto];
	if (fields & NF_DLCBF_FIELD_IIF)
		tuple->iif = get_be32(bytes + layout->iif);
	if (fields & NF_DLCBF_FIELD_OIF)
		tuple->oif = get_be32(bytes + layout->oif);
	if (fields & NF_DLCBF_FIELD_MARK)
		tuple->mark = get_be32(bytes + layout->mark);
	if (fields & NF_DLCBF_FIELD_VLAN)
		tuple->vlan = get_be16(bytes + layout->vlan);
}
