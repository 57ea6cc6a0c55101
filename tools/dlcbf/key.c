// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "key.h"

const char *const family_names[] = { "", "ipv4", "ipv6", "inet", NULL };

/* By the number of the bit of enum nf_dlcbf_field. */
const char *const field_names[] = {
	"saddr", "daddr", "sport", "dport", "proto", "iif", "oif", "mark",
	"vlan", NULL
};

/*
 * The protocols that flows are made of.  What is printed comes from here, so
 * that it can be read back on any machine; what is read may also come from the
 * machine's own list.
 */
static const struct {
	const char *name;
	u8 number;
	bool ports;		/* it has some, or words that stand for them */
} protocols[] = {
	{ "tcp",	IPPROTO_TCP,		true },
	{ "udp",	IPPROTO_UDP,		true },
	{ "icmp",	IPPROTO_ICMP,		true },
	{ "icmpv6",	IPPROTO_ICMPV6,		true },
	{ "sctp",	IPPROTO_SCTP,		true },
	{ "dccp",	IPPROTO_DCCP,		true },
	{ "udplite",	IPPROTO_UDPLITE,	true },
	{ "esp",	IPPROTO_ESP,		true },
	{ "ah",		IPPROTO_AH,		true },
	{ "gre",	IPPROTO_GRE,		true },
	{ "igmp",	IPPROTO_IGMP,		false },
	{ "ipip",	IPPROTO_IPIP,		false },
	{ "ipv6",	IPPROTO_IPV6,		false },
	{ "ospf",	89,			false },
	{ "pim",	IPPROTO_PIM,		false },
	{ "vrrp",	112,			false },
	{ "l2tp",	115,			false },
	{ "comp",	IPPROTO_COMP,		false },
};

const char *proto_name(u8 proto, char *buf)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(protocols); i++)
		if (protocols[i].number == proto)
			return strcpy(buf, protocols[i].name);
	sprintf(buf, "%u", proto);
	return buf;
}

static bool proto_has_ports(u8 proto)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(protocols); i++)
		if (protocols[i].number == proto)
			return protocols[i].ports;
	return false;
}

/* Its ports are the zeros that need not be given. */
static bool has_no_ports(const struct key *k)
{
	return (k->have & KEY_PROTO) && !proto_has_ports(k->proto) &&
	       !k->sport && !k->dport;
}

static int parse_proto(const char *s, u8 *proto, struct error *e)
{
	const struct protoent *p;
	u64 v;
	size_t i;

	if (isdigit((unsigned char)*s)) {
		if (parse_uint("proto", s, 255, &v, e))
			return -EINVAL;
		*proto = v;
		return 0;
	}
	for (i = 0; i < ARRAY_SIZE(protocols); i++) {
		if (!strcmp(s, protocols[i].name)) {
			*proto = protocols[i].number;
			return 0;
		}
	}
	p = getprotobyname(s);
	if (!p || p->p_proto < 0 || p->p_proto > 255)
		return err_set(e, "proto: \"%s\" is not a protocol", s);
	*proto = p->p_proto;
	return 0;
}

/**
 * device_name - the name of a device, or its number when it has none
 * @d: a cache, or NULL
 * @index: the device's index; 0 stands for no device
 * @buf: IF_NAMESIZE bytes
 *
 * Return: @buf.
 */
const char *device_name(struct devices *d, u32 index, char *buf)
{
	size_t slot = index % ARRAY_SIZE(d->slot);

	if (d && index && d->slot[slot].index == index)
		return strcpy(buf, d->slot[slot].name);
	if (!index || !if_indextoname(index, buf))
		sprintf(buf, "%" PRIu32, index);
	if (d && index) {
		d->slot[slot].index = index;
		strcpy(d->slot[slot].name, buf);
	}
	return buf;
}

static int parse_device(const char *what, const char *s, struct devices *d,
			u32 *index, struct error *e)
{
	u64 v;
	size_t i;

	for (i = 0; d && i < ARRAY_SIZE(d->slot); i++) {
		if (d->slot[i].index && !strcmp(d->slot[i].name, s)) {
			*index = d->slot[i].index;
			return 0;
		}
	}
	*index = strlen(s) < IF_NAMESIZE ? if_nametoindex(s) : 0;
	if (!*index) {
		if (!isdigit((unsigned char)*s) ||
		    parse_uint(what, s, UINT32_MAX, &v, e))
			return err_set(e, "%s: there is no device \"%s\"", what,
				       s);
		*index = v;
	}
	if (d && *index && strlen(s) < IF_NAMESIZE) {
		i = *index % ARRAY_SIZE(d->slot);
		d->slot[i].index = *index;
		strcpy(d->slot[i].name, s);
	}
	return 0;
}

/* An address, with what people write around it. */
struct address {
	u32 family;
	u8 bytes[16];
	int prefix;		/* -1: none was given */
	int port;		/* -1: none was given */
};

static int parse_address(const char *s, struct address *a, struct error *e)
{
	char text[INET6_ADDRSTRLEN + 8], *prefix;
	const char *rest, *close;
	size_t len;
	u64 v;

	a->prefix = -1;
	a->port = -1;

	/* Which part is the address: [A] or, but for IPv6, all before a colon. */
	if (*s == '[') {
		close = strchr(s, ']');
		if (!close)
			return err_set(e, "\"%s\" has no ]", s);
		rest = close + 1;
		len = close - ++s;
	} else {
		rest = strchr(s, ':');
		if (!rest || strchr(rest + 1, ':'))
			rest = s + strlen(s);
		len = rest - s;
	}
	if (len >= sizeof(text))
		return err_set(e, "\"%.64s\" is not an address", s);
	memcpy(text, s, len);
	text[len] = 0;

	prefix = strchr(text, '/');
	if (prefix)
		*prefix++ = 0;
	if (inet_pton(AF_INET, text, a->bytes) == 1)
		a->family = NF_DLCBF_FAMILY_IPV4;
	else if (inet_pton(AF_INET6, text, a->bytes) == 1)
		a->family = NF_DLCBF_FAMILY_IPV6;
	else
		return err_set(e, "\"%s\" is not an address", text);

	if (prefix) {
		u64 max = a->family == NF_DLCBF_FAMILY_IPV4 ? 32 : 128;

		if (!isdigit((unsigned char)*prefix) ||
		    parse_uint("the prefix length", prefix, max, &v, e))
			return err_set(e, "\"%s/%s\": the prefix length is 0 to %"
				       PRIu64, text, prefix, max);
		a->prefix = v;
	}
	if (*rest == ':') {
		if (!isdigit((unsigned char)rest[1]) ||
		    parse_uint("port", rest + 1, 65535, &v, e))
			return err_set(e, "\"%s\" is not a port", rest + 1);
		a->port = v;
	} else if (*rest) {
		return err_set(e, "\"%s\" is not an address", s);
	}
	return 0;
}

static void mask_address(u8 *bytes, unsigned int prefix)
{
	unsigned int i;

	for (i = 0; i < 16; i++) {
		if (prefix >= 8) {
			prefix -= 8;
		} else {
			bytes[i] &= 0xff00 >> prefix;
			prefix = 0;
		}
	}
}

static unsigned int spec_prefix(const struct key_spec *spec, bool destination,
				u32 family)
{
	if (destination)
		return family == NF_DLCBF_FAMILY_IPV4 ? spec->dprefix4 :
							spec->dprefix6;
	return family == NF_DLCBF_FAMILY_IPV4 ? spec->sprefix4 : spec->sprefix6;
}

/* Note that the key now has @part, which it must not have had before. */
static int take_part(struct key *k, u32 part, const char *what,
		     struct error *e)
{
	if (k->have & part)
		return err_set(e, "%s is given twice", what);
	k->have |= part;
	return 0;
}

static int take_family(const struct key_spec *spec, struct key *k,
		       const char *said, u32 family, struct error *e)
{
	if (spec->family != NF_DLCBF_FAMILY_INET && family != spec->family)
		return err_set(e, "%s: table %s is for %s, not for %s", said,
			       spec->table, family_names[spec->family],
			       family_names[family]);
	if (k->family && k->family != family)
		return err_set(e, "%s: IPv4 and IPv6 in one key", said);
	k->family = family;
	return 0;
}

static int take_port(struct key *k, bool destination, u16 port,
		     struct error *e)
{
	if (destination) {
		k->dport = port;
		return take_part(k, KEY_DPORT, "dport", e);
	}
	k->sport = port;
	return take_part(k, KEY_SPORT, "sport", e);
}

static int take_address(const struct key_spec *spec, bool filter, struct key *k,
			bool destination, const char *s, struct error *e)
{
	const char *what = destination ? "daddr" : "saddr";
	unsigned int most;
	struct address a;
	u8 *bytes;
	int ret;

	ret = parse_address(s, &a, e);
	if (ret)
		return ret;
	ret = take_family(spec, k, s, a.family, e);
	if (ret)
		return ret;
	ret = take_part(k, destination ? KEY_DADDR : KEY_SADDR, what, e);
	if (ret)
		return ret;
	if (a.port >= 0) {
		ret = take_port(k, destination, a.port, e);
		if (ret)
			return ret;
	}

	most = spec_prefix(spec, destination, a.family);
	if (a.prefix > (int)most)
		return err_set(e, "%s: table %s keeps /%u, which does not tell a /%d",
			       s, spec->table, most, a.prefix);
	if (a.prefix >= 0 && a.prefix < (int)most && !filter)
		return err_set(e, "%s: table %s has single %s, not a /%d", s,
			       spec->table, most == 32 || most == 128 ?
			       "addresses" : "networks", a.prefix);
	if (a.prefix >= 0)
		k->have |= destination ? KEY_DPREFIX : KEY_SPREFIX;
	else
		a.prefix = most;
	bytes = destination ? k->daddr : k->saddr;
	memset(bytes, 0, 16);
	memcpy(bytes, a.bytes, a.family == NF_DLCBF_FAMILY_IPV4 ? 4 : 16);
	mask_address(bytes, a.prefix);
	if (destination)
		k->dprefix = a.prefix;
	else
		k->sprefix = a.prefix;
	return 0;
}

static int take_number(struct key *k, u32 part, const char *what,
		       const char *s, u64 max, u64 *v,
		       struct error *e)
{
	int ret = parse_uint(what, s, max, v, e);

	return ret ? ret : take_part(k, part, what, e);
}

static int take_fingerprint(const struct key_spec *spec, struct key *k,
			    const char *s, struct error *e)
{
	unsigned long bucket, remainder;
	const char *said = s;
	char *end;

	if (spec->keys)
		return err_set(e, "table %s stores keys: its flows are not known by fingerprint",
			       spec->table);
	if (!isxdigit((unsigned char)*s))
		goto bad;
	bucket = strtoul(s, &end, 16);
	if (end - s > 8 || *end != ':')
		goto bad;
	s = end + 1;
	if (!isxdigit((unsigned char)*s))
		goto bad;
	remainder = strtoul(s, &end, 16);
	if (end - s > 8 || *end)
		goto bad;
	k->bucket = bucket;
	k->remainder = remainder;
	return take_part(k, KEY_BUCKET, "fingerprint", e);
bad:
	return err_set(e, "fingerprint: \"%s\" is not BUCKET:REMAINDER, both hexadecimal",
		       said);
}

enum word {
	WORD_SADDR, WORD_DADDR, WORD_SPORT, WORD_DPORT, WORD_PROTO, WORD_IIF,
	WORD_OIF, WORD_MARK, WORD_VLAN, WORD_FAMILY, WORD_ID, WORD_TYPE,
	WORD_CODE, WORD_SPI, WORD_GRE, WORD_FINGERPRINT, WORD_NONE
};

static const char *const words[] = {
	[WORD_SADDR] = "saddr", [WORD_DADDR] = "daddr", [WORD_SPORT] = "sport",
	[WORD_DPORT] = "dport", [WORD_PROTO] = "proto", [WORD_IIF] = "iif",
	[WORD_OIF] = "oif", [WORD_MARK] = "mark", [WORD_VLAN] = "vlan",
	[WORD_FAMILY] = "family", [WORD_ID] = "id", [WORD_TYPE] = "type",
	[WORD_CODE] = "code", [WORD_SPI] = "spi", [WORD_GRE] = "gre-key",
	[WORD_FINGERPRINT] = "fingerprint",
};

static int take_word(const struct key_spec *spec, bool filter, struct key *k,
		     enum word w, const char *s, struct error *e)
{
	u64 v = 0;
	u32 family;
	int ret;

	switch (w) {
	case WORD_SADDR:
		return take_address(spec, filter, k, false, s, e);
	case WORD_DADDR:
		return take_address(spec, filter, k, true, s, e);
	case WORD_SPORT:
		ret = parse_uint("sport", s, 65535, &v, e);
		return ret ? ret : take_port(k, false, v, e);
	case WORD_DPORT:
		ret = parse_uint("dport", s, 65535, &v, e);
		return ret ? ret : take_port(k, true, v, e);
	case WORD_PROTO:
		ret = parse_proto(s, &k->proto, e);
		return ret ? ret : take_part(k, KEY_PROTO, "proto", e);
	case WORD_IIF:
		ret = parse_device("iif", s, spec->devices, &k->iif, e);
		return ret ? ret : take_part(k, KEY_IIF, "iif", e);
	case WORD_OIF:
		ret = parse_device("oif", s, spec->devices, &k->oif, e);
		return ret ? ret : take_part(k, KEY_OIF, "oif", e);
	case WORD_MARK:
		ret = take_number(k, KEY_MARK, "mark", s, UINT32_MAX, &v, e);
		k->mark = v;
		return ret;
	case WORD_VLAN:
		ret = take_number(k, KEY_VLAN, "vlan", s, 4095, &v, e);
		k->vlan = v;
		return ret;
	case WORD_FAMILY:
		ret = parse_enum("family", s, family_names, &family, e);
		if (!ret && family == NF_DLCBF_FAMILY_INET)
			ret = err_set(e, "family: a key is ipv4 or ipv6");
		if (!ret)
			ret = take_part(k, KEY_FAMILY, "family", e);
		return ret ? ret : take_family(spec, k, "family", family, e);
	case WORD_ID:
		ret = take_number(k, KEY_ICMP_ID, "id", s, 65535, &v, e);
		k->icmp_id = v;
		return ret;
	case WORD_TYPE:
		ret = take_number(k, KEY_ICMP_TYPE, "type", s, 255, &v, e);
		k->icmp_type = v;
		return ret;
	case WORD_CODE:
		ret = take_number(k, KEY_ICMP_CODE, "code", s, 255, &v, e);
		k->icmp_code = v;
		return ret;
	case WORD_SPI:
	case WORD_GRE:
		if (k->have & (KEY_SPI | KEY_GRE))
			return err_set(e, "%s is given twice", words[w]);
		ret = take_number(k, w == WORD_SPI ? KEY_SPI : KEY_GRE,
				  words[w], s, UINT32_MAX, &v, e);
		k->spi = v;
		return ret;
	case WORD_FINGERPRINT:
		return take_fingerprint(spec, k, s, e);
	case WORD_NONE:
		break;
	}
	return -EINVAL;
}

/* What of the table's fields a key says, in whatever words. */
static u32 fields_of(const struct key *k)
{
	u32 fields = k->have & NF_DLCBF_FIELDS_ALL;

	if (k->have & KEY_ICMP_ID)
		fields |= NF_DLCBF_FIELD_SPORT;
	if ((k->have & KEY_ICMP_TYPE) && (k->have & KEY_ICMP_CODE))
		fields |= NF_DLCBF_FIELD_DPORT;
	if (k->have & (KEY_SPI | KEY_GRE))
		fields |= NF_DLCBF_FIELD_SPORT | NF_DLCBF_FIELD_DPORT;
	return fields;
}

/* What the port fields of a protocol hold, in the words of that protocol. */
static const struct word_rule {
	u32 parts;		/* what else stands for ports */
	const char *words;
	u8 proto[2];
	bool both;		/* it takes both port fields */
} word_rules[] = {
	{ KEY_ICMP_ID | KEY_ICMP_TYPE | KEY_ICMP_CODE, "type, code and id",
	  { IPPROTO_ICMP, IPPROTO_ICMPV6 }, false },
	{ KEY_SPI, "spi", { IPPROTO_ESP, IPPROTO_AH }, true },
	{ KEY_GRE, "gre-key", { IPPROTO_GRE }, true },
};

static bool rule_has(const struct word_rule *rule, u8 proto)
{
	/* The list ends with 0, which is not among these protocols. */
	return proto && (proto == rule->proto[0] || proto == rule->proto[1]);
}

/* The words of one protocol do not go with those of another. */
static int check_words(const struct key_spec *spec, const struct key *k,
		       struct error *e)
{
	const u32 ports = KEY_SPORT | KEY_DPORT;
	const struct word_rule *rule, *given = NULL;
	char name[FORMAT_MAX];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(word_rules); i++) {
		rule = &word_rules[i];
		if (!(k->have & rule->parts))
			continue;
		if (given || (k->have & ports))
			return err_set(e, "%s cannot be given with %s",
				       rule->words, given ? given->words :
				       "ports: it stands for them");
		given = rule;
	}
	if (!(k->have & KEY_PROTO))
		return 0;
	proto_name(k->proto, name);
	if (given && !rule_has(given, k->proto))
		return err_set(e, "%s cannot be given with proto %s",
			       given->words, name);
	for (i = 0; i < ARRAY_SIZE(word_rules); i++) {
		rule = &word_rules[i];
		if (rule_has(rule, k->proto) && (k->have & ports) &&
		    (!rule->both || (spec->fields & ports) == ports))
			return err_set(e, "proto %s has no ports: give %s",
				       name, rule->words);
	}
	return 0;
}

/* What to say in place of the name of a field that is missing. */
static const char *missing_word(const struct key_spec *spec,
				const struct key *k, int field)
{
	const u32 ports = KEY_SPORT | KEY_DPORT;

	if (!(ports & 1U << field))
		return field_names[field];
	if ((k->have & (KEY_ICMP_TYPE | KEY_ICMP_CODE | KEY_ICMP_ID)) ||
	    ((k->have & KEY_PROTO) && rule_has(&word_rules[0], k->proto)))
		return 1U << field == KEY_SPORT ? "id" :
		       k->have & KEY_ICMP_TYPE ? "code" : "type";
	if (!(k->have & KEY_PROTO) || (spec->fields & ports) != ports)
		return field_names[field];
	if (rule_has(&word_rules[1], k->proto))
		return "spi";
	if (rule_has(&word_rules[2], k->proto))
		return "gre-key";
	return field_names[field];
}

static int check_fields(const struct key_spec *spec, bool filter,
			struct key *k, struct error *e)
{
	const u32 ports = NF_DLCBF_FIELD_SPORT | NF_DLCBF_FIELD_DPORT;
	u32 have, missing, extra;
	int i;

	if (k->have & KEY_BUCKET) {
		if (k->have & ~KEY_BUCKET)
			return err_set(e, "a fingerprint stands for the whole key");
		return 0;
	}
	i = check_words(spec, k, e);
	if (i)
		return i;

	/* Protocols without ports have zeros there. */
	have = fields_of(k);
	if (!filter && (spec->fields & NF_DLCBF_FIELD_PROTO) &&
	    (have & NF_DLCBF_FIELD_PROTO) && !(have & ports) &&
	    !(k->have & (KEY_ICMP_TYPE | KEY_ICMP_CODE)) &&
	    !proto_has_ports(k->proto)) {
		k->have |= spec->fields & ports;
		have |= spec->fields & ports;
	}

	extra = have & ~spec->fields;
	missing = spec->fields & ~have;
	for (i = 0; field_names[i]; i++)
		if (extra & (1U << i))
			return err_set(e, "%s is not in the key of table %s",
				       field_names[i], spec->table);
	if (filter) {
		if (!k->have)
			return err_set(e, "there is no key");
		return 0;
	}
	for (i = 0; field_names[i]; i++) {
		if (missing & 1U << i)
			return err_set(e, "%s is missing: it is in the key of table %s",
				       missing_word(spec, k, i), spec->table);
	}
	if (spec->family == NF_DLCBF_FAMILY_INET && !k->family)
		return err_set(e, "family is missing: table %s has both and no addresses",
			       spec->table);
	return 0;
}

/**
 * key_parse - read a key
 * @spec: what the table's keys have
 * @filter: parts may be missing, and prefixes shorter
 * @a: the words; what is read is taken from them, and the first word that is
 *	not part of a key is the next
 * @k: the key
 * @e: what is wrong
 *
 * Return: 0 or -EINVAL.
 */
int key_parse(const struct key_spec *spec, bool filter, struct args *a,
	      struct key *k, struct error *e)
{
	int addresses = 0, start = a->i, ret;
	const char *s, *value;

	memset(k, 0, sizeof(*k));
	while ((s = args_peek(a))) {
		enum word w = 0;

		while (w < WORD_NONE && strcmp(s, words[w]))
			w++;
		if (w != WORD_NONE) {
			args_next(a);
			ret = args_value(a, s, &value, e);
			if (!ret)
				ret = take_word(spec, filter, k, w, value, e);
			if (ret)
				return ret;
			continue;
		}
		if (!isdigit((unsigned char)*s) && !strpbrk(s, ".:["))
			break;
		/* The first is the source, if the table has sources. */
		if (addresses == 0 && !(spec->fields & KEY_SADDR) &&
		    (spec->fields & KEY_DADDR))
			addresses = 1;
		if (addresses == 2)
			return err_set(e, "what is \"%s\"? there are two addresses already",
				       s);
		args_next(a);
		ret = take_address(spec, filter, k, addresses++, s, e);
		if (ret)
			return ret;
	}
	if (a->i == start) {
		if (s)
			return err_set(e, "\"%s\" is not part of a key", s);
		return err_set(e, "there is no key");
	}
	return check_fields(spec, filter, k, e);
}

/** key_is_full - whether a key that was read as a filter says one flow */
bool key_is_full(const struct key_spec *spec, const struct key *k)
{
	if (k->have & KEY_BUCKET)
		return true;
	if (fields_of(k) != spec->fields)
		return false;
	if ((k->have & KEY_SADDR) &&
	    k->sprefix != spec_prefix(spec, false, k->family))
		return false;
	if ((k->have & KEY_DADDR) &&
	    k->dprefix != spec_prefix(spec, true, k->family))
		return false;
	return spec->family != NF_DLCBF_FAMILY_INET || k->family;
}

/** key_put - put a key's attributes into the nest that is open */
void key_put(struct nl *nl, const struct key *k, bool filter)
{
	size_t len = k->family == NF_DLCBF_FAMILY_IPV4 ? 4 : 16;

	if (k->have & KEY_FAMILY)
		nl_put_u32(nl, NF_DLCBF_A_FLOW_FAMILY, k->family);
	if (k->have & KEY_SADDR)
		nl_put(nl, NF_DLCBF_A_FLOW_SADDR, k->saddr, len);
	if (k->have & KEY_DADDR)
		nl_put(nl, NF_DLCBF_A_FLOW_DADDR, k->daddr, len);
	if (filter && (k->have & KEY_SADDR))
		nl_put_u8(nl, NF_DLCBF_A_FLOW_SADDR_PREFIX, k->sprefix);
	if (filter && (k->have & KEY_DADDR))
		nl_put_u8(nl, NF_DLCBF_A_FLOW_DADDR_PREFIX, k->dprefix);
	if (k->have & KEY_SPORT)
		nl_put_be16(nl, NF_DLCBF_A_FLOW_SPORT, k->sport);
	if (k->have & KEY_DPORT)
		nl_put_be16(nl, NF_DLCBF_A_FLOW_DPORT, k->dport);
	if (k->have & KEY_PROTO)
		nl_put_u8(nl, NF_DLCBF_A_FLOW_PROTO, k->proto);
	if (k->have & KEY_IIF)
		nl_put_u32(nl, NF_DLCBF_A_FLOW_IIF, k->iif);
	if (k->have & KEY_OIF)
		nl_put_u32(nl, NF_DLCBF_A_FLOW_OIF, k->oif);
	if (k->have & KEY_MARK)
		nl_put_u32(nl, NF_DLCBF_A_FLOW_MARK, k->mark);
	if (k->have & KEY_VLAN)
		nl_put_u16(nl, NF_DLCBF_A_FLOW_VLAN, k->vlan);
	if (k->have & KEY_ICMP_ID)
		nl_put_be16(nl, NF_DLCBF_A_FLOW_ICMP_ID, k->icmp_id);
	if (k->have & KEY_ICMP_TYPE)
		nl_put_u8(nl, NF_DLCBF_A_FLOW_ICMP_TYPE, k->icmp_type);
	if (k->have & KEY_ICMP_CODE)
		nl_put_u8(nl, NF_DLCBF_A_FLOW_ICMP_CODE, k->icmp_code);
	if (k->have & (KEY_SPI | KEY_GRE))
		nl_put_be32(nl, NF_DLCBF_A_FLOW_SPI, k->spi);
	if (k->have & KEY_BUCKET) {
		nl_put_u32(nl, NF_DLCBF_A_FLOW_BUCKET, k->bucket);
		nl_put_u32(nl, NF_DLCBF_A_FLOW_REMAINDER, k->remainder);
	}
}

static bool take_bytes(const struct nlattr *attr, u8 *bytes,
		       u32 *family)
{
	size_t len = mnl_attr_get_payload_len(attr);

	if (len != 4 && len != 16)
		return false;
	memcpy(bytes, mnl_attr_get_payload(attr), len);
	*family = len == 4 ? NF_DLCBF_FAMILY_IPV4 : NF_DLCBF_FAMILY_IPV6;
	return true;
}

/**
 * key_take - read a key from attributes
 * @tb: the attributes of a flow, by type
 * @spec: of the table, or NULL if that is not known
 * @k: the key
 *
 * Return: whether there was one.
 */
bool key_take(const struct nlattr *const *tb, const struct key_spec *spec,
	      struct key *k)
{
	memset(k, 0, sizeof(*k));
	if (tb[NF_DLCBF_A_FLOW_FAMILY]) {
		k->family = nl_get_uint(tb[NF_DLCBF_A_FLOW_FAMILY]);
		if (k->family != NF_DLCBF_FAMILY_IPV4 &&
		    k->family != NF_DLCBF_FAMILY_IPV6)
			k->family = 0;
		/* Where there are addresses, they say it. */
		else if (!tb[NF_DLCBF_A_FLOW_SADDR] &&
			 !tb[NF_DLCBF_A_FLOW_DADDR])
			k->have |= KEY_FAMILY;
	}
	if (tb[NF_DLCBF_A_FLOW_SADDR]) {
		if (!take_bytes(tb[NF_DLCBF_A_FLOW_SADDR], k->saddr, &k->family))
			return false;
		k->sprefix = spec ? spec_prefix(spec, false, k->family) : 128;
		k->have |= KEY_SADDR;
	}
	if (tb[NF_DLCBF_A_FLOW_DADDR]) {
		if (!take_bytes(tb[NF_DLCBF_A_FLOW_DADDR], k->daddr, &k->family))
			return false;
		k->dprefix = spec ? spec_prefix(spec, true, k->family) : 128;
		k->have |= KEY_DADDR;
	}
	if (tb[NF_DLCBF_A_FLOW_SPORT]) {
		k->sport = nl_get_be16(tb[NF_DLCBF_A_FLOW_SPORT]);
		k->have |= KEY_SPORT;
	}
	if (tb[NF_DLCBF_A_FLOW_DPORT]) {
		k->dport = nl_get_be16(tb[NF_DLCBF_A_FLOW_DPORT]);
		k->have |= KEY_DPORT;
	}
	if (tb[NF_DLCBF_A_FLOW_PROTO]) {
		k->proto = nl_get_uint(tb[NF_DLCBF_A_FLOW_PROTO]);
		k->have |= KEY_PROTO;
	}
	if (tb[NF_DLCBF_A_FLOW_IIF]) {
		k->iif = nl_get_uint(tb[NF_DLCBF_A_FLOW_IIF]);
		k->have |= KEY_IIF;
	}
	if (tb[NF_DLCBF_A_FLOW_OIF]) {
		k->oif = nl_get_uint(tb[NF_DLCBF_A_FLOW_OIF]);
		k->have |= KEY_OIF;
	}
	if (tb[NF_DLCBF_A_FLOW_MARK]) {
		k->mark = nl_get_uint(tb[NF_DLCBF_A_FLOW_MARK]);
		k->have |= KEY_MARK;
	}
	if (tb[NF_DLCBF_A_FLOW_VLAN]) {
		k->vlan = nl_get_uint(tb[NF_DLCBF_A_FLOW_VLAN]);
		k->have |= KEY_VLAN;
	}
	if (tb[NF_DLCBF_A_FLOW_ICMP_ID]) {
		k->icmp_id = nl_get_be16(tb[NF_DLCBF_A_FLOW_ICMP_ID]);
		k->have |= KEY_ICMP_ID;
	}
	if (tb[NF_DLCBF_A_FLOW_ICMP_TYPE]) {
		k->icmp_type = nl_get_uint(tb[NF_DLCBF_A_FLOW_ICMP_TYPE]);
		k->have |= KEY_ICMP_TYPE;
	}
	if (tb[NF_DLCBF_A_FLOW_ICMP_CODE]) {
		k->icmp_code = nl_get_uint(tb[NF_DLCBF_A_FLOW_ICMP_CODE]);
		k->have |= KEY_ICMP_CODE;
	}
	if (tb[NF_DLCBF_A_FLOW_SPI]) {
		k->spi = nl_get_be32(tb[NF_DLCBF_A_FLOW_SPI]);
		k->have |= (k->have & KEY_PROTO) && k->proto == IPPROTO_GRE ?
			   KEY_GRE : KEY_SPI;
	}
	if (tb[NF_DLCBF_A_FLOW_BUCKET] && tb[NF_DLCBF_A_FLOW_REMAINDER]) {
		k->bucket = nl_get_uint(tb[NF_DLCBF_A_FLOW_BUCKET]);
		k->remainder = nl_get_uint(tb[NF_DLCBF_A_FLOW_REMAINDER]);
		k->have |= KEY_BUCKET;
	}
	return k->have != 0;
}

/**
 * key_address - one of a key's addresses as text
 * @k: the key
 * @destination: which one
 * @buf: INET6_ADDRSTRLEN + 4 bytes or more; a prefix length follows the address
 *	if it does not reach as far as it could
 * @size: how many
 *
 * Return: @buf.
 */
const char *key_address(const struct key *k, bool destination, char *buf,
			size_t size)
{
	bool v4 = k->family == NF_DLCBF_FAMILY_IPV4;
	unsigned int prefix = destination ? k->dprefix : k->sprefix;

	inet_ntop(v4 ? AF_INET : AF_INET6, destination ? k->daddr : k->saddr,
		  buf, size);
	if (prefix < (v4 ? 32 : 128))
		sprintf(buf + strlen(buf), "/%u", prefix);
	return buf;
}

/* Text that is put together piece by piece, as far as there is room. */
struct text {
	char *buf;
	size_t size;
	size_t len;
};

static void __attribute__((format(printf, 2, 3)))
add(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->len < t->size ? t->buf + t->len : NULL,
		      t->len < t->size ? t->size - t->len : 0, fmt, ap);
	va_end(ap);
	if (n > 0)
		t->len += n;
}

static void add_quoted(struct text *t, const char *word)
{
	char buf[4 * IF_NAMESIZE + 16];

	quote_word(word, buf, sizeof(buf));
	add(t, " %s", buf);
}

/**
 * key_format - write a key so that key_parse() reads it
 * @spec: of the table, or NULL if that is not known
 * @k: the key
 * @buf: where to
 * @size: KEY_TEXT_MAX, which is always enough
 *
 * Return: the length.
 */
size_t key_format(const struct key_spec *spec, const struct key *k, char *buf,
		  size_t size)
{
	struct devices *devices = spec ? spec->devices : NULL;
	struct text t = { buf, size, 0 };
	char word[INET6_ADDRSTRLEN + IF_NAMESIZE];
	u32 have = k->have & ~(has_no_ports(k) ? KEY_SPORT | KEY_DPORT : 0);
	bool sport = have & KEY_SPORT, dport = have & KEY_DPORT;

	buf[0] = 0;
	if (k->have & KEY_SADDR) {
		bool brackets = sport && k->family == NF_DLCBF_FAMILY_IPV6;

		key_address(k, false, word, sizeof(word));
		add(&t, " %s%s%s", brackets ? "[" : "", word,
		    brackets ? "]" : "");
		if (sport)
			add(&t, ":%u", k->sport);
	}
	if (k->have & KEY_DADDR) {
		bool brackets = dport && k->family == NF_DLCBF_FAMILY_IPV6;

		/* Alone it would be taken for the source of a table with both. */
		key_address(k, true, word, sizeof(word));
		add(&t, "%s %s%s%s", (k->have & KEY_SADDR) ||
		    (spec && !(spec->fields & KEY_SADDR)) ? "" : " daddr",
		    brackets ? "[" : "", word, brackets ? "]" : "");
		if (dport)
			add(&t, ":%u", k->dport);
	}
	if ((k->have & KEY_FAMILY) && k->family)
		add(&t, " family %s", family_names[k->family]);
	if (sport && !(k->have & KEY_SADDR))
		add(&t, " sport %u", k->sport);
	if (dport && !(k->have & KEY_DADDR))
		add(&t, " dport %u", k->dport);
	if (k->have & KEY_PROTO)
		add(&t, " proto %s", proto_name(k->proto, word));
	if (k->have & KEY_ICMP_TYPE)
		add(&t, " type %u", k->icmp_type);
	if (k->have & KEY_ICMP_CODE)
		add(&t, " code %u", k->icmp_code);
	if (k->have & KEY_ICMP_ID)
		add(&t, " id %u", k->icmp_id);
	if (k->have & (KEY_SPI | KEY_GRE))
		add(&t, " %s 0x%08" PRIx32, k->have & KEY_GRE ? "gre-key" : "spi",
		    k->spi);
	if (k->have & KEY_IIF) {
		add(&t, " iif");
		add_quoted(&t, device_name(devices, k->iif, word));
	}
	if (k->have & KEY_OIF) {
		add(&t, " oif");
		add_quoted(&t, device_name(devices, k->oif, word));
	}
	if (k->have & KEY_MARK)
		add(&t, " mark 0x%" PRIx32, k->mark);
	if (k->have & KEY_VLAN)
		add(&t, " vlan %u", k->vlan);
	if (k->have & KEY_BUCKET)
		add(&t, " fingerprint %" PRIx32 ":%" PRIx32, k->bucket,
		    k->remainder);
	/* Each piece came with a space in front. */
	if (t.len) {
		t.len--;
		memmove(buf, buf + 1, strlen(buf));
	}
	return t.len;
}

static int parse_prefix(const char *s, size_t len, unsigned int max,
			u8 *prefix)
{
	unsigned int v = 0;
	size_t i;

	if (!len || len > 3)
		return -EINVAL;
	for (i = 0; i < len; i++) {
		if (!isdigit((unsigned char)s[i]))
			return -EINVAL;
		v = v * 10 + (s[i] - '0');
	}
	if (!v || v > max)
		return -EINVAL;
	*prefix = v;
	return 0;
}

/* "/24" for one family, "/24/64" for both. */
static int parse_prefixes(const char *s, size_t len, const char *field,
			  const struct key_spec *spec, u8 *v4, u8 *v6,
			  struct error *e)
{
	const char *second = memchr(s, '/', len);
	size_t first = second ? (size_t)(second - s) : len;
	int ret;

	if (spec->family == NF_DLCBF_FAMILY_INET) {
		if (!second)
			return err_set(e, "key: in an inet table it is %s/IPV4-PREFIX/IPV6-PREFIX",
				       field);
		ret = parse_prefix(s, first, 32, v4);
		if (!ret)
			ret = parse_prefix(second + 1, len - first - 1, 128, v6);
	} else if (second) {
		return err_set(e, "key: %s takes one prefix length in a table for %s",
			       field, family_names[spec->family]);
	} else if (spec->family == NF_DLCBF_FAMILY_IPV4) {
		ret = parse_prefix(s, first, 32, v4);
	} else {
		ret = parse_prefix(s, first, 128, v6);
	}
	if (ret)
		return err_set(e, "key: %s/%.*s: the prefix length is 1 to %s",
			       field, (int)len, s, spec->family == NF_DLCBF_FAMILY_INET ?
			       "32 for IPv4 and 1 to 128 for IPv6" :
			       spec->family == NF_DLCBF_FAMILY_IPV4 ?
			       "32" : "128");
	return 0;
}

/**
 * parse_fields - read what a table's key is made of: FIELD[,FIELD...]
 * @s: the text
 * @spec: its family is given, the rest is filled in
 * @e: what is wrong
 *
 * Return: 0 or -EINVAL.
 */
int parse_fields(const char *s, struct key_spec *spec, struct error *e)
{
	spec->fields = 0;
	spec->sprefix4 = 32;
	spec->dprefix4 = 32;
	spec->sprefix6 = 128;
	spec->dprefix6 = 128;

	for (;;) {
		size_t len = strcspn(s, ","), word = strcspn(s, ",/");
		u32 field;
		int i, ret;

		for (i = 0; field_names[i]; i++)
			if (strlen(field_names[i]) == word &&
			    !memcmp(s, field_names[i], word))
				break;
		if (!field_names[i])
			return err_set(e, "key: \"%.*s\" is not a field, see \"dlcbf table help\"",
				       (int)word, s);
		field = 1U << i;
		if (spec->fields & field)
			return err_set(e, "key: %s is given twice",
				       field_names[i]);
		spec->fields |= field;
		if (word < len) {
			const char *p = s + word + 1;
			size_t n = len - word - 1;

			if (field == KEY_SADDR)
				ret = parse_prefixes(p, n, "saddr", spec,
						     &spec->sprefix4,
						     &spec->sprefix6, e);
			else if (field == KEY_DADDR)
				ret = parse_prefixes(p, n, "daddr", spec,
						     &spec->dprefix4,
						     &spec->dprefix6, e);
			else
				ret = err_set(e, "key: %s takes no prefix length",
					      field_names[i]);
			if (ret)
				return ret;
		}
		s += len;
		if (!*s++)
			return 0;
	}
}

static void add_prefixes(struct text *t, const struct key_spec *spec,
			 u8 v4, u8 v6)
{
	if (spec->family == NF_DLCBF_FAMILY_INET) {
		if (v4 != 32 || v6 != 128)
			add(t, "/%u/%u", v4, v6);
	} else if (spec->family == NF_DLCBF_FAMILY_IPV4) {
		if (v4 != 32)
			add(t, "/%u", v4);
	} else if (v6 != 128) {
		add(t, "/%u", v6);
	}
}

/** format_fields - write what a table's key is made of, for parse_fields() */
void format_fields(const struct key_spec *spec, char *buf, size_t size)
{
	struct text t = { buf, size, 0 };
	int i;

	buf[0] = 0;
	for (i = 0; field_names[i]; i++) {
		if (!(spec->fields & (1U << i)))
			continue;
		add(&t, "%s%s", t.len ? "," : "", field_names[i]);
		if ((1U << i) == KEY_SADDR)
			add_prefixes(&t, spec, spec->sprefix4, spec->sprefix6);
		if ((1U << i) == KEY_DADDR)
			add_prefixes(&t, spec, spec->dprefix4, spec->dprefix6);
	}
}
