// SPDX-License-Identifier: GPL-2.0
/* Keys of flows over netlink: from attributes to tuples and back. */
#include <linux/netlink.h>
#include <net/netlink.h>

#include "filter.h"
#include "netlink_internal.h"

#define LACKS(word)	"the flow lacks " word " of the table's key"
#define HAS_NO(word)	"the table's key has no " word

/* A field that one attribute stands for. */
struct key_field {
	int attribute;
	u32 field;
	const char *missing;
	const char *superfluous;
};

static const struct key_field key_fields[] = {
	{ NF_DLCBF_A_FLOW_SADDR, NF_DLCBF_FIELD_SADDR, LACKS("saddr"), HAS_NO("saddr") },
	{ NF_DLCBF_A_FLOW_DADDR, NF_DLCBF_FIELD_DADDR, LACKS("daddr"), HAS_NO("daddr") },
	{ NF_DLCBF_A_FLOW_PROTO, NF_DLCBF_FIELD_PROTO, LACKS("proto"), HAS_NO("proto") },
	{ NF_DLCBF_A_FLOW_IIF, NF_DLCBF_FIELD_IIF, LACKS("iif"), HAS_NO("iif") },
	{ NF_DLCBF_A_FLOW_OIF, NF_DLCBF_FIELD_OIF, LACKS("oif"), HAS_NO("oif") },
	{ NF_DLCBF_A_FLOW_MARK, NF_DLCBF_FIELD_MARK, LACKS("mark"), HAS_NO("mark") },
	{ NF_DLCBF_A_FLOW_VLAN, NF_DLCBF_FIELD_VLAN, LACKS("vlan"), HAS_NO("vlan") },
};

/* An attribute that stands for a port, or for a part of the two. */
struct port_field {
	int attribute;
	enum nf_dlcbf_words words;
	u32 fields;
	const char *missing;
	const char *superfluous;
};

static const struct port_field port_fields[] = {
	{ NF_DLCBF_A_FLOW_SPORT, NF_DLCBF_WORDS_PORTS, NF_DLCBF_FIELD_SPORT,
	  LACKS("sport"), HAS_NO("sport") },
	{ NF_DLCBF_A_FLOW_DPORT, NF_DLCBF_WORDS_PORTS, NF_DLCBF_FIELD_DPORT,
	  LACKS("dport"), HAS_NO("dport") },
	{ NF_DLCBF_A_FLOW_ICMP_ID, NF_DLCBF_WORDS_ICMP, NF_DLCBF_FIELD_SPORT,
	  LACKS("the icmp id (sport)"), HAS_NO("icmp id (sport)") },
	{ NF_DLCBF_A_FLOW_ICMP_TYPE, NF_DLCBF_WORDS_ICMP, NF_DLCBF_FIELD_DPORT,
	  LACKS("the icmp type (dport)"), HAS_NO("icmp type (dport)") },
	{ NF_DLCBF_A_FLOW_ICMP_CODE, NF_DLCBF_WORDS_ICMP, NF_DLCBF_FIELD_DPORT,
	  LACKS("the icmp code (dport)"), HAS_NO("icmp code (dport)") },
	{ NF_DLCBF_A_FLOW_SPI, NF_DLCBF_WORDS_SPI, NF_DLCBF_FIELD_SPORT | NF_DLCBF_FIELD_DPORT,
	  LACKS("the spi (sport, dport)"), HAS_NO("spi (sport, dport)") },
};

/* What to say of a word that does not go with the flow's protocol. */
static const char * const strange_words[] = {
	[NF_DLCBF_WORDS_PORTS] = "sport and dport do not go with this protocol",
	[NF_DLCBF_WORDS_ICMP] = "icmp id, type and code go with icmp and icmpv6 only",
	[NF_DLCBF_WORDS_SPI] = "spi goes with esp, ah and gre only",
};

/* ---- families and addresses ---- */

static int read_address(const struct nlattr *attr, struct in6_addr *address)
{
	switch (nla_len(attr)) {
	case sizeof(__be32):
		address->s6_addr32[3] = nla_get_in_addr(attr);
		return 4;
	case sizeof(struct in6_addr):
		*address = nla_get_in6_addr(attr);
		return 6;
	}
	return -EINVAL;
}

static int read_addresses(struct nlattr *const tb[], struct nf_dlcbf_tuple *tuple,
			  struct nf_dlcbf_refusal *refusal)
{
	static const int attributes[] = { NF_DLCBF_A_FLOW_SADDR, NF_DLCBF_A_FLOW_DADDR };
	struct in6_addr *to[] = { &tuple->saddr, &tuple->daddr };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(attributes); i++) {
		const struct nlattr *attr = tb[attributes[i]];
		int family;

		if (!attr)
			continue;
		family = read_address(attr, to[i]);
		if (family < 0)
			return nf_dlcbf_refuse(refusal, -EINVAL, attributes[i],
					       "an address has 4 or 16 bytes");
		if (tuple->family && tuple->family != family)
			return nf_dlcbf_refuse(refusal, -EINVAL, attributes[i],
					       "the flow's addresses are of two families");
		tuple->family = family;
	}
	return 0;
}

/* The family that the attributes speak of, 0 if none does. */
static int read_family(const struct nf_dlcbf_key_layout *layout, struct nlattr *const tb[],
		       struct nf_dlcbf_tuple *tuple, struct nf_dlcbf_refusal *refusal)
{
	const u8 table = layout->family == NF_DLCBF_FAMILY_IPV4 ? 4 :
			 layout->family == NF_DLCBF_FAMILY_IPV6 ? 6 : 0;
	int err, attribute;

	if (tb[NF_DLCBF_A_FLOW_FAMILY])
		tuple->family = nla_get_u32(tb[NF_DLCBF_A_FLOW_FAMILY]) == NF_DLCBF_FAMILY_IPV4 ?
				4 : 6;
	err = read_addresses(tb, tuple, refusal);
	if (err)
		return err;
	if (!table || !tuple->family || tuple->family == table)
		return 0;
	attribute = tb[NF_DLCBF_A_FLOW_SADDR] ? NF_DLCBF_A_FLOW_SADDR :
		    tb[NF_DLCBF_A_FLOW_DADDR] ? NF_DLCBF_A_FLOW_DADDR : NF_DLCBF_A_FLOW_FAMILY;
	return nf_dlcbf_refuse(refusal, -EINVAL, attribute,
			       table == 4 ? "the table is of IPv4 and the flow of IPv6" :
					    "the table is of IPv6 and the flow of IPv4");
}

/* ---- ports and what stands for them ---- */

static int check_words(const struct nf_dlcbf_key_layout *layout, struct nlattr *const tb[],
		       enum nf_dlcbf_words *words, bool *given, struct nf_dlcbf_refusal *refusal)
{
	unsigned int i;

	*given = false;
	*words = NF_DLCBF_WORDS_PORTS;
	for (i = 0; i < ARRAY_SIZE(port_fields); i++) {
		const struct port_field *field = &port_fields[i];

		if (!tb[field->attribute])
			continue;
		if ((layout->fields & field->fields) != field->fields)
			return nf_dlcbf_refuse(refusal, -EINVAL, field->attribute,
					       field->superfluous);
		if (*given && *words != field->words)
			return nf_dlcbf_refuse(refusal, -EINVAL, field->attribute,
					       "ports, icmp and spi exclude each other");
		*given = true;
		*words = field->words;
	}
	return 0;
}

/* The first port attribute of the request, for words that do not fit. */
static int first_port_attribute(struct nlattr *const tb[])
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(port_fields); i++)
		if (tb[port_fields[i].attribute])
			return port_fields[i].attribute;
	return 0;
}

static void read_ports(struct nlattr *const tb[], struct nf_dlcbf_tuple *tuple)
{
	u16 type_code = 0;
	u32 spi;

	if (tb[NF_DLCBF_A_FLOW_SPORT])
		tuple->sport = nla_get_be16(tb[NF_DLCBF_A_FLOW_SPORT]);
	if (tb[NF_DLCBF_A_FLOW_DPORT])
		tuple->dport = nla_get_be16(tb[NF_DLCBF_A_FLOW_DPORT]);
	if (tb[NF_DLCBF_A_FLOW_ICMP_ID])
		tuple->sport = nla_get_be16(tb[NF_DLCBF_A_FLOW_ICMP_ID]);
	if (tb[NF_DLCBF_A_FLOW_ICMP_TYPE])
		type_code = nla_get_u8(tb[NF_DLCBF_A_FLOW_ICMP_TYPE]) << 8;
	if (tb[NF_DLCBF_A_FLOW_ICMP_CODE])
		type_code |= nla_get_u8(tb[NF_DLCBF_A_FLOW_ICMP_CODE]);
	if (tb[NF_DLCBF_A_FLOW_ICMP_TYPE] || tb[NF_DLCBF_A_FLOW_ICMP_CODE])
		tuple->dport = htons(type_code);
	if (tb[NF_DLCBF_A_FLOW_SPI]) {
		spi = be32_to_cpu(nla_get_be32(tb[NF_DLCBF_A_FLOW_SPI]));
		tuple->sport = htons(spi >> 16);
		tuple->dport = htons(spi & 0xffff);
	}
}

/* All that the key has of ports, in the words of the protocol. */
static int read_whole_ports(const struct nf_dlcbf_key_layout *layout, struct nlattr *const tb[],
			    struct nf_dlcbf_tuple *tuple, struct nf_dlcbf_refusal *refusal)
{
	enum nf_dlcbf_words words;
	unsigned int i;
	bool given;
	int err;

	err = check_words(layout, tb, &words, &given, refusal);
	if (err)
		return err;
	if (layout->fields & NF_DLCBF_FIELD_PROTO) {
		const enum nf_dlcbf_words right = nf_dlcbf_key_words(layout, tuple->proto);

		if (given && words != right)
			return nf_dlcbf_refuse(refusal, -EINVAL, first_port_attribute(tb),
					       strange_words[words]);
		words = right;
	}
	for (i = 0; i < ARRAY_SIZE(port_fields); i++) {
		const struct port_field *field = &port_fields[i];

		if (field->words == words && (layout->fields & field->fields) &&
		    !tb[field->attribute])
			return nf_dlcbf_refuse(refusal, -EINVAL, field->attribute, field->missing);
	}
	read_ports(tb, tuple);
	return 0;
}

/* ---- keys ---- */

static int check_fields(const struct nf_dlcbf_key_layout *layout, struct nlattr *const tb[],
			bool whole, struct nf_dlcbf_refusal *refusal)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(key_fields); i++) {
		const struct key_field *field = &key_fields[i];
		const bool in_key = layout->fields & field->field;

		if (tb[field->attribute] && !in_key)
			return nf_dlcbf_refuse(refusal, -EINVAL, field->attribute,
					       field->superfluous);
		if (whole && in_key && !tb[field->attribute])
			return nf_dlcbf_refuse(refusal, -EINVAL, field->attribute,
					       field->missing);
	}
	return 0;
}

static void read_numbers(struct nlattr *const tb[], struct nf_dlcbf_tuple *tuple)
{
	if (tb[NF_DLCBF_A_FLOW_PROTO])
		tuple->proto = nla_get_u8(tb[NF_DLCBF_A_FLOW_PROTO]);
	if (tb[NF_DLCBF_A_FLOW_IIF])
		tuple->iif = nla_get_u32(tb[NF_DLCBF_A_FLOW_IIF]);
	if (tb[NF_DLCBF_A_FLOW_OIF])
		tuple->oif = nla_get_u32(tb[NF_DLCBF_A_FLOW_OIF]);
	if (tb[NF_DLCBF_A_FLOW_MARK])
		tuple->mark = nla_get_u32(tb[NF_DLCBF_A_FLOW_MARK]);
	if (tb[NF_DLCBF_A_FLOW_VLAN])
		tuple->vlan = nla_get_u16(tb[NF_DLCBF_A_FLOW_VLAN]);
}

static int read_tuple(const struct nf_dlcbf_key_layout *layout, struct nlattr *const tb[],
		      struct nf_dlcbf_tuple *tuple, struct nf_dlcbf_refusal *refusal)
{
	int err;

	memset(tuple, 0, sizeof(*tuple));
	err = check_fields(layout, tb, true, refusal);
	if (!err)
		err = read_family(layout, tb, tuple, refusal);
	if (err)
		return err;
	if (!tuple->family && layout->family == NF_DLCBF_FAMILY_INET)
		return nf_dlcbf_refuse(refusal, -EINVAL, NF_DLCBF_A_FLOW_FAMILY,
				       "the flow lacks its family, which is in the table's key");
	if (!tuple->family)
		tuple->family = layout->family == NF_DLCBF_FAMILY_IPV4 ? 4 : 6;
	read_numbers(tb, tuple);
	return read_whole_ports(layout, tb, tuple, refusal);
}

/* The first attribute of a key in the request, 0 if it has none. */
static int first_key_attribute(struct nlattr *const tb[])
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(key_fields); i++)
		if (tb[key_fields[i].attribute])
			return key_fields[i].attribute;
	if (tb[NF_DLCBF_A_FLOW_FAMILY])
		return NF_DLCBF_A_FLOW_FAMILY;
	return first_port_attribute(tb);
}

static int read_fingerprint(const struct nf_dlcbf_filter *filter, struct nlattr *const tb[],
			    struct dlcbf_fingerprint *fingerprint,
			    struct nf_dlcbf_refusal *refusal)
{
	struct nlattr *bucket = tb[NF_DLCBF_A_FLOW_BUCKET];
	struct nlattr *remainder = tb[NF_DLCBF_A_FLOW_REMAINDER];
	const int key = first_key_attribute(tb);

	if (filter->keys)
		return nf_dlcbf_refuse(refusal, -EINVAL,
				       bucket ? NF_DLCBF_A_FLOW_BUCKET : NF_DLCBF_A_FLOW_REMAINDER,
				       "the table has keys: give the flow's key");
	if (key)
		return nf_dlcbf_refuse(refusal, -EINVAL, key,
				       "give a key, or bucket and remainder, not both");
	if (!bucket)
		return nf_dlcbf_refuse(refusal, -EINVAL, NF_DLCBF_A_FLOW_BUCKET,
				       "remainder needs bucket");
	if (!remainder)
		return nf_dlcbf_refuse(refusal, -EINVAL, NF_DLCBF_A_FLOW_REMAINDER,
				       "bucket needs remainder");
	fingerprint->bucket = nla_get_u32(bucket);
	fingerprint->remainder = nla_get_u32(remainder);
	if (fingerprint->bucket >= filter->core.geometry.buckets)
		return nf_dlcbf_refuse(refusal, -ERANGE, NF_DLCBF_A_FLOW_BUCKET,
				       "the table has not so many buckets");
	if (!fingerprint->remainder || fingerprint->remainder > filter->core.max_remainder)
		return nf_dlcbf_refuse(refusal, -ERANGE, NF_DLCBF_A_FLOW_REMAINDER,
				       "the table has no such remainder");
	return 0;
}

/**
 * nf_dlcbf_nl_read_key() - what a flow is known by
 * @filter:  contents of the table that it is or will be in
 * @tb:      attributes of the flow, validated
 * @flow:    its key, or else its fingerprint, is set
 * @refusal: set when they are not exactly those of the table's key
 *
 * Context: any.
 * Return: 0, or an errno with @refusal.
 */
int nf_dlcbf_nl_read_key(const struct nf_dlcbf_filter *filter, struct nlattr *const tb[],
			 struct nf_dlcbf_flow *flow, struct nf_dlcbf_refusal *refusal)
{
	flow->has_key = !tb[NF_DLCBF_A_FLOW_BUCKET] && !tb[NF_DLCBF_A_FLOW_REMAINDER];
	if (!flow->has_key)
		return read_fingerprint(filter, tb, &flow->fingerprint, refusal);
	return read_tuple(&filter->layout, tb, &flow->tuple, refusal);
}

/* ---- filters ---- */

/* How one of the two addresses of a filter is told. */
struct address_words {
	int address;
	int prefix;
	u32 field;
};

static const struct address_words saddr_words = {
	.address = NF_DLCBF_A_FLOW_SADDR,
	.prefix = NF_DLCBF_A_FLOW_SADDR_PREFIX,
	.field = NF_DLCBF_FIELD_SADDR,
};

static const struct address_words daddr_words = {
	.address = NF_DLCBF_A_FLOW_DADDR,
	.prefix = NF_DLCBF_A_FLOW_DADDR_PREFIX,
	.field = NF_DLCBF_FIELD_DADDR,
};

static void keep_bits(struct in6_addr *address, u8 family, const struct in6_addr *mask)
{
	int i;

	for (i = family == 4 ? 3 : 0; i < 4; i++)
		address->s6_addr32[i] &= mask->s6_addr32[i];
}

static void make_mask(struct in6_addr *mask, u8 family, unsigned int prefix)
{
	int i;

	memset(mask, 0, sizeof(*mask));
	for (i = family == 4 ? 3 : 0; i < 4 && prefix; i++) {
		const unsigned int bits = min(prefix, 32U);

		mask->s6_addr32[i] = htonl(~0U << (32 - bits));
		prefix -= bits;
	}
}

/*
 * A filter never looks at bits that the table does not keep, so an address
 * finds the flows of its network.
 */
static int read_prefix(struct nlattr *const tb[], const struct address_words *words,
		       const struct in6_addr table_mask[2], struct nf_dlcbf_nl_match *match,
		       struct in6_addr *address, struct in6_addr *mask,
		       struct nf_dlcbf_refusal *refusal)
{
	const u8 family = match->family;
	const u8 longest = family == 4 ? 32 : 128;
	u8 prefix = longest;

	if (!tb[words->address] && tb[words->prefix])
		return nf_dlcbf_refuse(refusal, -EINVAL, words->address,
				       "a prefix length needs an address");
	if (!tb[words->address])
		return 0;
	if (tb[words->prefix])
		prefix = nla_get_u8(tb[words->prefix]);
	if (prefix > longest)
		return nf_dlcbf_refuse(refusal, -ERANGE, words->prefix,
				       "the prefix is longer than the address");
	make_mask(mask, family, prefix);
	keep_bits(mask, family, &table_mask[family == 6]);
	keep_bits(address, family, mask);
	match->fields |= words->field;
	return 0;
}

static int read_match_ports(const struct nf_dlcbf_key_layout *layout, struct nlattr *const tb[],
			    struct nf_dlcbf_nl_match *match, struct nf_dlcbf_refusal *refusal)
{
	u16 mask = 0;
	int err;

	err = check_words(layout, tb, &match->words, &match->has_words, refusal);
	if (err)
		return err;
	read_ports(tb, &match->tuple);
	if (tb[NF_DLCBF_A_FLOW_SPORT] || tb[NF_DLCBF_A_FLOW_ICMP_ID] || tb[NF_DLCBF_A_FLOW_SPI])
		match->fields |= NF_DLCBF_FIELD_SPORT;
	if (tb[NF_DLCBF_A_FLOW_DPORT] || tb[NF_DLCBF_A_FLOW_SPI])
		mask = 0xffff;
	if (tb[NF_DLCBF_A_FLOW_ICMP_TYPE])
		mask |= 0xff00;
	if (tb[NF_DLCBF_A_FLOW_ICMP_CODE])
		mask |= 0x00ff;
	match->dport_mask = htons(mask);
	if (mask)
		match->fields |= NF_DLCBF_FIELD_DPORT;
	/* In a key without a protocol any words will do. */
	if (!(layout->fields & NF_DLCBF_FIELD_PROTO))
		match->has_words = false;
	return 0;
}

/**
 * nf_dlcbf_nl_read_match() - which flows a dump is wanted of
 * @layout:  of the table's keys
 * @tb:      attributes of the filter, validated
 * @match:   set
 * @refusal: set when the table's key lacks a field
 *
 * Context: any.
 * Return: 0, or an errno with @refusal.
 */
int nf_dlcbf_nl_read_match(const struct nf_dlcbf_key_layout *layout, struct nlattr *const tb[],
			   struct nf_dlcbf_nl_match *match, struct nf_dlcbf_refusal *refusal)
{
	struct nf_dlcbf_tuple *tuple = &match->tuple;
	unsigned int i;
	int err;

	memset(match, 0, sizeof(*match));
	err = check_fields(layout, tb, false, refusal);
	if (!err)
		err = read_family(layout, tb, tuple, refusal);
	if (err)
		return err;
	match->family = tuple->family;
	for (i = 0; i < ARRAY_SIZE(key_fields); i++)
		if (tb[key_fields[i].attribute])
			match->fields |= key_fields[i].field;
	read_numbers(tb, tuple);
	err = read_match_ports(layout, tb, match, refusal);
	if (!err)
		err = read_prefix(tb, &saddr_words, layout->saddr_mask, match, &tuple->saddr,
				  &match->saddr_mask, refusal);
	if (!err)
		err = read_prefix(tb, &daddr_words, layout->daddr_mask, match, &tuple->daddr,
				  &match->daddr_mask, refusal);
	return err;
}

static bool same_address(const struct in6_addr *a, const struct in6_addr *b, u8 family,
			 const struct in6_addr *mask)
{
	__be32 differ = 0;
	int i;

	for (i = family == 4 ? 3 : 0; i < 4; i++)
		differ |= (a->s6_addr32[i] ^ b->s6_addr32[i]) & mask->s6_addr32[i];
	return !differ;
}

static bool matches_one_way(const struct nf_dlcbf_nl_match *match,
			    const struct nf_dlcbf_tuple *tuple)
{
	const struct nf_dlcbf_tuple *want = &match->tuple;
	const u32 fields = match->fields;

	if ((fields & NF_DLCBF_FIELD_SADDR) &&
	    !same_address(&tuple->saddr, &want->saddr, tuple->family, &match->saddr_mask))
		return false;
	if ((fields & NF_DLCBF_FIELD_DADDR) &&
	    !same_address(&tuple->daddr, &want->daddr, tuple->family, &match->daddr_mask))
		return false;
	if ((fields & NF_DLCBF_FIELD_SPORT) && tuple->sport != want->sport)
		return false;
	return !(fields & NF_DLCBF_FIELD_DPORT) ||
	       !((tuple->dport ^ want->dport) & match->dport_mask);
}

/**
 * nf_dlcbf_nl_matches() - is a flow one of those that a dump is wanted of?
 * @layout: of the table's keys
 * @match:  which are
 * @tuple:  the flow's key
 *
 * Where both directions are one flow, either may be meant.
 *
 * Context: any.
 * Return: it is.
 */
bool nf_dlcbf_nl_matches(const struct nf_dlcbf_key_layout *layout,
			 const struct nf_dlcbf_nl_match *match, const struct nf_dlcbf_tuple *tuple)
{
	const struct nf_dlcbf_tuple *want = &match->tuple;
	const enum nf_dlcbf_words words = nf_dlcbf_key_words(layout, tuple->proto);
	const u32 fields = match->fields;
	struct nf_dlcbf_tuple turned;

	if ((match->family && tuple->family != match->family) ||
	    (match->has_words && words != match->words) ||
	    ((fields & NF_DLCBF_FIELD_PROTO) && tuple->proto != want->proto) ||
	    ((fields & NF_DLCBF_FIELD_IIF) && tuple->iif != want->iif) ||
	    ((fields & NF_DLCBF_FIELD_OIF) && tuple->oif != want->oif) ||
	    ((fields & NF_DLCBF_FIELD_MARK) && tuple->mark != want->mark) ||
	    ((fields & NF_DLCBF_FIELD_VLAN) && tuple->vlan != want->vlan))
		return false;
	if (matches_one_way(match, tuple))
		return true;
	if (!layout->bidir)
		return false;

	turned = *tuple;
	swap(turned.saddr, turned.daddr);
	if (words == NF_DLCBF_WORDS_PORTS)
		swap(turned.sport, turned.dport);
	return matches_one_way(match, &turned);
}

/* ---- writing ---- */

static int put_address(struct sk_buff *skb, int attribute, u8 family,
		       const struct in6_addr *address)
{
	if (family == 4)
		return nla_put_in_addr(skb, attribute, address->s6_addr32[3]);
	return nla_put_in6_addr(skb, attribute, address);
}

static int put_icmp(struct sk_buff *skb, u32 fields, const struct nf_dlcbf_tuple *tuple)
{
	const u16 type_code = ntohs(tuple->dport);

	if ((fields & NF_DLCBF_FIELD_SPORT) &&
	    nla_put_be16(skb, NF_DLCBF_A_FLOW_ICMP_ID, tuple->sport))
		return -EMSGSIZE;
	if ((fields & NF_DLCBF_FIELD_DPORT) &&
	    (nla_put_u8(skb, NF_DLCBF_A_FLOW_ICMP_TYPE, type_code >> 8) ||
	     nla_put_u8(skb, NF_DLCBF_A_FLOW_ICMP_CODE, type_code & 0xff)))
		return -EMSGSIZE;
	return 0;
}

static int put_ports(struct sk_buff *skb, const struct nf_dlcbf_key_layout *layout,
		     const struct nf_dlcbf_tuple *tuple)
{
	switch (nf_dlcbf_key_words(layout, tuple->proto)) {
	case NF_DLCBF_WORDS_ICMP:
		return put_icmp(skb, layout->fields, tuple);
	case NF_DLCBF_WORDS_SPI:
		return nla_put_be32(skb, NF_DLCBF_A_FLOW_SPI,
				    htonl((u32)ntohs(tuple->sport) << 16 | ntohs(tuple->dport)));
	case NF_DLCBF_WORDS_PORTS:
		break;
	}
	if ((layout->fields & NF_DLCBF_FIELD_SPORT) &&
	    nla_put_be16(skb, NF_DLCBF_A_FLOW_SPORT, tuple->sport))
		return -EMSGSIZE;
	if ((layout->fields & NF_DLCBF_FIELD_DPORT) &&
	    nla_put_be16(skb, NF_DLCBF_A_FLOW_DPORT, tuple->dport))
		return -EMSGSIZE;
	return 0;
}

static int put_numbers(struct sk_buff *skb, u32 fields, const struct nf_dlcbf_tuple *tuple)
{
	if (((fields & NF_DLCBF_FIELD_PROTO) &&
	     nla_put_u8(skb, NF_DLCBF_A_FLOW_PROTO, tuple->proto)) ||
	    ((fields & NF_DLCBF_FIELD_IIF) &&
	     nla_put_u32(skb, NF_DLCBF_A_FLOW_IIF, tuple->iif)) ||
	    ((fields & NF_DLCBF_FIELD_OIF) &&
	     nla_put_u32(skb, NF_DLCBF_A_FLOW_OIF, tuple->oif)) ||
	    ((fields & NF_DLCBF_FIELD_MARK) &&
	     nla_put_u32(skb, NF_DLCBF_A_FLOW_MARK, tuple->mark)) ||
	    ((fields & NF_DLCBF_FIELD_VLAN) &&
	     nla_put_u16(skb, NF_DLCBF_A_FLOW_VLAN, tuple->vlan)))
		return -EMSGSIZE;
	return 0;
}

/* Only where no address tells it. */
static int put_family(struct sk_buff *skb, const struct nf_dlcbf_key_layout *layout, u8 family)
{
	if (layout->family != NF_DLCBF_FAMILY_INET ||
	    (layout->fields & (NF_DLCBF_FIELD_SADDR | NF_DLCBF_FIELD_DADDR)))
		return 0;
	return nla_put_u32(skb, NF_DLCBF_A_FLOW_FAMILY,
			   family == 4 ? NF_DLCBF_FAMILY_IPV4 : NF_DLCBF_FAMILY_IPV6);
}

/**
 * nf_dlcbf_nl_put_key() - write what a flow is known by
 * @skb:    message, within the flow's nest
 * @layout: of the table's keys
 * @flow:   the flow
 *
 * Takes NF_DLCBF_NL_KEY_ROOM bytes at most.
 *
 * Context: any.
 * Return: 0, or -EMSGSIZE.
 */
int nf_dlcbf_nl_put_key(struct sk_buff *skb, const struct nf_dlcbf_key_layout *layout,
			const struct nf_dlcbf_flow *flow)
{
	const struct nf_dlcbf_tuple *tuple = &flow->tuple;
	const u32 fields = layout->fields;

	if (!flow->has_key) {
		if (nla_put_u32(skb, NF_DLCBF_A_FLOW_BUCKET, flow->fingerprint.bucket) ||
		    nla_put_u32(skb, NF_DLCBF_A_FLOW_REMAINDER, flow->fingerprint.remainder))
			return -EMSGSIZE;
		return 0;
	}
	if (put_family(skb, layout, tuple->family) ||
	    ((fields & NF_DLCBF_FIELD_SADDR) &&
	     put_address(skb, NF_DLCBF_A_FLOW_SADDR, tuple->family, &tuple->saddr)) ||
	    ((fields & NF_DLCBF_FIELD_DADDR) &&
	     put_address(skb, NF_DLCBF_A_FLOW_DADDR, tuple->family, &tuple->daddr)) ||
	    put_numbers(skb, fields, tuple) ||
	    put_ports(skb, layout, tuple))
		return -EMSGSIZE;
	return 0;
}
