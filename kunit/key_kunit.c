// SPDX-License-Identifier: GPL-2.0
/*
 * Keys: where fields lie, what is packed, what both directions share, and what
 * the hash of the bytes is.  Expected bytes were written down by hand.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/random.h>

#include "../nf_dlcbf/key.c"

#define SADDR	NF_DLCBF_FIELD_SADDR
#define DADDR	NF_DLCBF_FIELD_DADDR
#define SPORT	NF_DLCBF_FIELD_SPORT
#define DPORT	NF_DLCBF_FIELD_DPORT
#define PROTO	NF_DLCBF_FIELD_PROTO
#define IIF	NF_DLCBF_FIELD_IIF
#define OIF	NF_DLCBF_FIELD_OIF
#define MARK	NF_DLCBF_FIELD_MARK
#define VLAN	NF_DLCBF_FIELD_VLAN
#define TUPLE5	(SADDR | DADDR | SPORT | DPORT | PROTO)

#define IPV4	NF_DLCBF_FAMILY_IPV4
#define IPV6	NF_DLCBF_FAMILY_IPV6
#define INET	NF_DLCBF_FAMILY_INET

static struct nf_dlcbf_config config_of(u32 family, u32 fields)
{
	return (struct nf_dlcbf_config){
		.family = family,
		.fields = fields,
		.saddr_prefix4 = 32,
		.saddr_prefix6 = 128,
		.daddr_prefix4 = 32,
		.daddr_prefix6 = 128,
	};
}

static void layout_of(struct kunit *test, const struct nf_dlcbf_config *config,
		      struct nf_dlcbf_key_layout *layout)
{
	struct nf_dlcbf_refusal refusal = {};

	KUNIT_ASSERT_EQ(test, nf_dlcbf_key_layout_init(layout, config, &refusal), 0);
}

static struct in6_addr v4(u8 a, u8 b, u8 c, u8 d)
{
	struct in6_addr address;

	/* The rest is undefined. */
	memset(&address, 0xa5, sizeof(address));
	address.s6_addr32[3] = htonl((u32)a << 24 | b << 16 | c << 8 | d);
	return address;
}

/* 2001:db8::HIGH:LOW */
static struct in6_addr v6(u16 high, u16 low)
{
	return (struct in6_addr){
		.s6_addr = { 0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0,
			     high >> 8, high & 0xff, low >> 8, low & 0xff },
	};
}

static bool same_key(const struct nf_dlcbf_key_layout *layout, const struct nf_dlcbf_tuple *a,
		     const struct nf_dlcbf_tuple *b)
{
	struct nf_dlcbf_key key_a, key_b;

	/* Whatever was there before. */
	memset(&key_a, 0x00, sizeof(key_a));
	memset(&key_b, 0xff, sizeof(key_b));
	nf_dlcbf_key_pack(layout, a, &key_a);
	nf_dlcbf_key_pack(layout, b, &key_b);
	return !memcmp(&key_a, &key_b, layout->words * sizeof(u64));
}

/* ---- layout ---- */

static const struct layout_case {
	const char *desc;
	u32 family;
	u32 fields;
	u8 words;
	u8 depth;
} layout_cases[] = {
	{ "IPv4 address: 4 bytes", IPV4, SADDR, 1, NF_DLCBF_DEPTH_ADDRESS },
	{ "IPv4 pair: 8 bytes", IPV4, SADDR | DADDR, 1, NF_DLCBF_DEPTH_ADDRESS },
	{ "IPv4 pair and protocol: 9 bytes", IPV4, SADDR | DADDR | PROTO, 2,
	  NF_DLCBF_DEPTH_PROTOCOL },
	{ "IPv4 5-tuple: 13 bytes", IPV4, TUPLE5, 2, NF_DLCBF_DEPTH_PORTS },
	{ "IPv4 with everything: 27 bytes", IPV4, NF_DLCBF_FIELDS_ALL, 4, NF_DLCBF_DEPTH_PORTS },
	{ "IPv6 address: 16 bytes", IPV6, DADDR, 2, NF_DLCBF_DEPTH_ADDRESS },
	{ "IPv6 5-tuple: 37 bytes", IPV6, TUPLE5, 5, NF_DLCBF_DEPTH_PORTS },
	{ "IPv6 with everything: 51 bytes", IPV6, NF_DLCBF_FIELDS_ALL, 7, NF_DLCBF_DEPTH_PORTS },
	{ "inet address: 17 bytes", INET, SADDR, 3, NF_DLCBF_DEPTH_ADDRESS },
	{ "inet 5-tuple: 38 bytes", INET, TUPLE5, 5, NF_DLCBF_DEPTH_PORTS },
	{ "inet with everything: 52 bytes", INET, NF_DLCBF_FIELDS_ALL, 7, NF_DLCBF_DEPTH_PORTS },
	{ "one port: 2 bytes", IPV4, DPORT, 1, NF_DLCBF_DEPTH_PORTS },
	{ "protocol: 1 byte", IPV4, PROTO, 1, NF_DLCBF_DEPTH_PROTOCOL },
	{ "mark and devices: 12 bytes", IPV4, MARK | IIF | OIF, 2, NF_DLCBF_DEPTH_ADDRESS },
	{ "VLAN: 2 bytes", IPV6, VLAN, 1, NF_DLCBF_DEPTH_ADDRESS },
};

static void layout_desc(const struct layout_case *c, char *desc)
{
	strscpy(desc, c->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(layout, layout_cases, layout_desc);

static void test_layout(struct kunit *test)
{
	const struct layout_case *c = test->param_value;
	const struct nf_dlcbf_config config = config_of(c->family, c->fields);
	struct nf_dlcbf_key_layout layout;

	layout_of(test, &config, &layout);
	KUNIT_EXPECT_EQ(test, (u32)layout.words, (u32)c->words);
	KUNIT_EXPECT_EQ(test, (u32)layout.depth, (u32)c->depth);
	KUNIT_EXPECT_EQ(test, layout.fields, c->fields);
}

static const struct refusal_case {
	const char *desc;
	struct nf_dlcbf_config config;
	int attribute;
} refusal_cases[] = {
	{ "no field", { .family = IPV4 }, NF_DLCBF_A_TABLE_FIELDS },
	{ "an unknown field", { .family = IPV4, .fields = NF_DLCBF_FIELDS_ALL + 1 },
	  NF_DLCBF_A_TABLE_FIELDS },
	{ "bidir with one address", { .family = IPV4, .bidir = true, .fields = SADDR },
	  NF_DLCBF_A_TABLE_BIDIR },
	{ "bidir without an address", { .family = IPV4, .bidir = true, .fields = SPORT | DPORT },
	  NF_DLCBF_A_TABLE_BIDIR },
	{ "bidir with one port", { .family = IPV4, .bidir = true, .fields = SADDR | DADDR | DPORT },
	  NF_DLCBF_A_TABLE_BIDIR },
	{ "bidir with iif", { .family = IPV4, .bidir = true, .fields = TUPLE5 | IIF },
	  NF_DLCBF_A_TABLE_BIDIR },
	{ "bidir with oif", { .family = IPV4, .bidir = true, .fields = TUPLE5 | OIF },
	  NF_DLCBF_A_TABLE_BIDIR },
	{ "bidir with two IPv4 prefixes",
	  { .family = IPV4, .bidir = true, .fields = TUPLE5, .saddr_prefix4 = 24,
	    .daddr_prefix4 = 32, .saddr_prefix6 = 128, .daddr_prefix6 = 128 },
	  NF_DLCBF_A_TABLE_BIDIR },
	{ "bidir with two IPv6 prefixes",
	  { .family = IPV6, .bidir = true, .fields = TUPLE5, .saddr_prefix4 = 32,
	    .daddr_prefix4 = 32, .saddr_prefix6 = 64, .daddr_prefix6 = 128 },
	  NF_DLCBF_A_TABLE_BIDIR },
};

static void refusal_desc(const struct refusal_case *c, char *desc)
{
	strscpy(desc, c->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(refusal, refusal_cases, refusal_desc);

static void test_refusal(struct kunit *test)
{
	const struct refusal_case *c = test->param_value;
	struct nf_dlcbf_refusal refusal = {};
	struct nf_dlcbf_key_layout layout;

	KUNIT_EXPECT_EQ(test, nf_dlcbf_key_layout_init(&layout, &c->config, &refusal), -EINVAL);
	KUNIT_EXPECT_EQ(test, refusal.attribute, c->attribute);
	KUNIT_EXPECT_NOT_NULL(test, refusal.message);
}

/* ---- bytes ---- */

static const struct bytes_case {
	const char *desc;
	u32 family;
	u32 fields;
	u8 packet_family;
	u8 length;
	u8 bytes[56];
} bytes_cases[] = {
	{ "IPv4 5-tuple", IPV4, TUPLE5, 4, 16,
	  { 192, 0, 2, 1,  198, 51, 100, 7,  0x30, 0x39,  0x01, 0xbb,  6 } },
	{ "IPv4 source", IPV4, SADDR, 4, 8, { 192, 0, 2, 1 } },
	{ "IPv4 destination and protocol", IPV4, DADDR | PROTO, 4, 8, { 198, 51, 100, 7, 6 } },
	{ "IPv4 with everything", IPV4, NF_DLCBF_FIELDS_ALL, 4, 32,
	  { 192, 0, 2, 1,  198, 51, 100, 7,  0, 0, 0, 3,  0, 0, 1, 4,  0xde, 0xad, 0xbe, 0xef,
	    0x30, 0x39,  0x01, 0xbb,  0x0a, 0xbc,  6 } },
	{ "IPv6 5-tuple", IPV6, TUPLE5, 6, 40,
	  { 0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0x12, 0x34, 0x56, 0x78,
	    0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0x9a, 0xbc, 0xde, 0xf0,
	    0x30, 0x39,  0x01, 0xbb,  6 } },
	{ "inet, IPv4: mapped, and 4", INET, TUPLE5, 4, 40,
	  { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1,
	    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 198, 51, 100, 7,
	    0x30, 0x39,  0x01, 0xbb,  6,  4 } },
	{ "inet, IPv6: and 6", INET, SADDR | PROTO, 6, 24,
	  { 0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0x12, 0x34, 0x56, 0x78,  6,  6 } },
	{ "inet, mark", INET, MARK, 4, 8, { 0xde, 0xad, 0xbe, 0xef, 4 } },
	{ "VLAN and devices", IPV4, VLAN | IIF | OIF, 4, 16,
	  { 0, 0, 0, 3,  0, 0, 1, 4,  0x0a, 0xbc } },
};

static void bytes_desc(const struct bytes_case *c, char *desc)
{
	strscpy(desc, c->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(bytes, bytes_cases, bytes_desc);

static struct nf_dlcbf_tuple sample(u8 family)
{
	return (struct nf_dlcbf_tuple){
		.family = family,
		.proto = IPPROTO_TCP,
		.vlan = 0xabc,
		.sport = htons(12345),
		.dport = htons(443),
		.iif = 3,
		.oif = 260,
		.mark = 0xdeadbeef,
		.saddr = family == 4 ? v4(192, 0, 2, 1) : v6(0x1234, 0x5678),
		.daddr = family == 4 ? v4(198, 51, 100, 7) : v6(0x9abc, 0xdef0),
	};
}

static void test_bytes(struct kunit *test)
{
	const struct bytes_case *c = test->param_value;
	const struct nf_dlcbf_config config = config_of(c->family, c->fields);
	const struct nf_dlcbf_tuple tuple = sample(c->packet_family);
	struct nf_dlcbf_key_layout layout;
	struct nf_dlcbf_key key;
	int i;

	layout_of(test, &config, &layout);
	memset(&key, 0xee, sizeof(key));
	nf_dlcbf_key_pack(&layout, &tuple, &key);
	KUNIT_ASSERT_EQ(test, layout.words * sizeof(u64), (size_t)c->length);
	for (i = 0; i < c->length; i++)
		KUNIT_EXPECT_EQ_MSG(test, (u32)((u8 *)&key)[i], (u32)c->bytes[i], "byte %d", i);
}

/* The known answers of SipHash-2-4: key 00 01 .. 0f, message 00 01 02 .. */
static const struct hash_case {
	const char *desc;
	u8 words;
	u64 hash;
} hash_cases[] = {
	{ "8 bytes", 1, 0x93f5f5799a932462ULL },
	{ "16 bytes", 2, 0x3f2acc7f57c29bdbULL },
	{ "24 bytes", 3, 0xb8ad50c6f649af94ULL },
	{ "32 bytes", 4, 0x7127512f72f27cceULL },
	{ "40 bytes", 5, 0x0e3ea96b5304a7d0ULL },
	{ "48 bytes", 6, 0xe612a3cb9ecba951ULL },
	{ "56 bytes", 7, 0xb78dbfaf3a8d83bdULL },
};

static void hash_desc(const struct hash_case *c, char *desc)
{
	strscpy(desc, c->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(hash, hash_cases, hash_desc);

static void test_hash(struct kunit *test)
{
	const struct hash_case *c = test->param_value;
	const struct nf_dlcbf_key_layout layout = { .words = c->words };
	const siphash_key_t secret = { { 0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL } };
	struct nf_dlcbf_key key;
	unsigned int i;

	for (i = 0; i < sizeof(key); i++)
		((u8 *)&key)[i] = i;
	KUNIT_EXPECT_EQ(test, nf_dlcbf_key_hash(&layout, &secret, &key), c->hash);
}

/* ---- there and back ---- */

static void random_tuple(struct nf_dlcbf_tuple *tuple, u8 family)
{
	get_random_bytes(tuple, sizeof(*tuple));
	tuple->family = family;
	tuple->vlan &= 0xfff;
}

static void expect_fields(struct kunit *test, u32 fields, const struct nf_dlcbf_tuple *in,
			  const struct nf_dlcbf_tuple *out)
{
	const size_t at = in->family == 4 ? 12 : 0;

#define EXPECT_FIELD(bit, member) \
	KUNIT_EXPECT_EQ(test, (u32)out->member, fields & (bit) ? (u32)in->member : 0)
	KUNIT_EXPECT_EQ(test, (u32)out->family, (u32)in->family);
	EXPECT_FIELD(PROTO, proto);
	EXPECT_FIELD(VLAN, vlan);
	EXPECT_FIELD(SPORT, sport);
	EXPECT_FIELD(DPORT, dport);
	EXPECT_FIELD(IIF, iif);
	EXPECT_FIELD(OIF, oif);
	EXPECT_FIELD(MARK, mark);
#undef EXPECT_FIELD
	if (fields & SADDR)
		KUNIT_EXPECT_EQ(test, memcmp(&in->saddr.s6_addr[at], &out->saddr.s6_addr[at],
					     16 - at), 0);
	if (fields & DADDR)
		KUNIT_EXPECT_EQ(test, memcmp(&in->daddr.s6_addr[at], &out->daddr.s6_addr[at],
					     16 - at), 0);
}

/* Every set of fields, in every family that a packet of it may have. */
static void test_round_trip(struct kunit *test)
{
	struct nf_dlcbf_key_layout layout;
	struct nf_dlcbf_tuple in, out;
	struct nf_dlcbf_config config;
	struct nf_dlcbf_key key;
	u32 fields, family;
	int version;

	for (fields = 1; fields <= NF_DLCBF_FIELDS_ALL; fields++) {
		for (family = IPV4; family <= INET; family++) {
			config = config_of(family, fields);
			layout_of(test, &config, &layout);
			for (version = 4; version <= 6; version += 2) {
				if (family == (version == 4 ? IPV6 : IPV4))
					continue;
				random_tuple(&in, version);
				get_random_bytes(&key, sizeof(key));
				nf_dlcbf_key_pack(&layout, &in, &key);
				get_random_bytes(&out, sizeof(out));
				nf_dlcbf_key_unpack(&layout, &key, &out);
				expect_fields(test, fields, &in, &out);
			}
		}
	}
}

static void flip_bit(struct in6_addr *address, int bit)
{
	address->s6_addr[bit / 8] ^= 0x80 >> bit % 8;
}

/* All bits within the prefix count and none beyond it. */
static void test_prefixes(struct kunit *test)
{
	int version, prefix, bit, side;

	for (version = 4; version <= 6; version += 2) {
		const int first = version == 4 ? 96 : 0;

		for (prefix = 1; prefix <= 128 - first; prefix++) {
			struct nf_dlcbf_config config = config_of(version == 4 ? IPV4 : INET,
								  SADDR | DADDR);
			struct nf_dlcbf_key_layout layout;
			struct nf_dlcbf_tuple tuple;

			/* The other address keeps all of its bits. */
			if (version == 4)
				config.saddr_prefix4 = prefix;
			else
				config.daddr_prefix6 = prefix;
			layout_of(test, &config, &layout);
			random_tuple(&tuple, version);
			for (bit = 0; bit < 128 - first; bit++) {
				for (side = 0; side < 2; side++) {
					struct nf_dlcbf_tuple other = tuple;
					const bool cut = side == (version == 4 ? 0 : 1);

					flip_bit(side ? &other.daddr : &other.saddr, first + bit);
					KUNIT_EXPECT_EQ_MSG(test,
							    same_key(&layout, &tuple, &other),
							    cut && bit >= prefix,
							    "IPv%d /%d, bit %d", version, prefix,
							    bit);
				}
			}
		}
	}
}

/* RFC 4291, 2.5.5.2: such an address in an IPv6 packet is still another. */
static void test_mapped_is_not_ipv4(struct kunit *test)
{
	const struct nf_dlcbf_config config = config_of(INET, TUPLE5);
	struct nf_dlcbf_tuple four = sample(4), six = sample(6);
	struct nf_dlcbf_key_layout layout;

	layout_of(test, &config, &layout);
	ipv6_addr_set_v4mapped(four.saddr.s6_addr32[3], &six.saddr);
	ipv6_addr_set_v4mapped(four.daddr.s6_addr32[3], &six.daddr);
	KUNIT_EXPECT_FALSE(test, same_key(&layout, &four, &six));
}

/* ---- both directions ---- */

struct end {
	u8 address;	/* the last byte of it */
	u16 port;
};

static const struct bidir_case {
	const char *desc;
	u8 proto;
	struct end a_from, a_to;
	struct end b_from, b_to;
	bool same;
} bidir_cases[] = {
	{ "TCP and its answer", IPPROTO_TCP, { 1, 1000 }, { 2, 80 }, { 2, 80 }, { 1, 1000 }, true },
	{ "UDP and its answer", IPPROTO_UDP, { 9, 53 }, { 2, 53 }, { 2, 53 }, { 9, 53 }, true },
	{ "SCTP and its answer", IPPROTO_SCTP, { 9, 1 }, { 2, 2 }, { 2, 2 }, { 9, 1 }, true },
	{ "DCCP and its answer", IPPROTO_DCCP, { 9, 1 }, { 2, 2 }, { 2, 2 }, { 9, 1 }, true },
	{ "UDP-Lite and its answer", IPPROTO_UDPLITE, { 9, 1 }, { 2, 2 }, { 2, 2 }, { 9, 1 },
	  true },
	{ "only addresses swapped", IPPROTO_TCP, { 1, 1000 }, { 2, 80 }, { 2, 1000 }, { 1, 80 },
	  false },
	{ "only ports swapped", IPPROTO_TCP, { 1, 1000 }, { 2, 80 }, { 1, 80 }, { 2, 1000 },
	  false },
	{ "another port", IPPROTO_TCP, { 1, 1000 }, { 2, 80 }, { 2, 80 }, { 1, 1001 }, false },
	{ "another host", IPPROTO_TCP, { 1, 1000 }, { 2, 80 }, { 3, 80 }, { 1, 1000 }, false },
	{ "a host with itself", IPPROTO_TCP, { 1, 1000 }, { 1, 80 }, { 1, 80 }, { 1, 1000 }, true },
	/* Types and codes in network order: echo 8 and 0, unreachable 3, redirect 5. */
	{ "echo request and reply", IPPROTO_ICMP, { 1, 77 }, { 2, 8 << 8 }, { 2, 77 }, { 1, 0 },
	  true },
	{ "another identifier", IPPROTO_ICMP, { 1, 77 }, { 2, 8 << 8 }, { 2, 78 }, { 1, 0 },
	  false },
	{ "timestamp and reply", IPPROTO_ICMP, { 1, 77 }, { 2, 13 << 8 }, { 2, 77 },
	  { 1, 14 << 8 }, true },
	{ "information and reply", IPPROTO_ICMP, { 1, 77 }, { 2, 15 << 8 }, { 2, 77 },
	  { 1, 16 << 8 }, true },
	{ "address mask and reply", IPPROTO_ICMP, { 1, 77 }, { 2, 17 << 8 }, { 2, 77 },
	  { 1, 18 << 8 }, true },
	{ "echo and timestamp reply", IPPROTO_ICMP, { 1, 77 }, { 2, 8 << 8 }, { 2, 77 },
	  { 1, 14 << 8 }, false },
	{ "unreachable of another code", IPPROTO_ICMP, { 1, 0 }, { 2, 3 << 8 | 1 }, { 2, 0 },
	  { 1, 3 << 8 | 3 }, false },
	{ "unreachable and redirect", IPPROTO_ICMP, { 1, 0 }, { 2, 3 << 8 }, { 2, 0 },
	  { 1, 5 << 8 }, false },
	/* An SPI names one direction (RFC 4301, 4.1): it does not turn. */
	{ "ESP of the same SPI", IPPROTO_ESP, { 1, 0x1234 }, { 2, 0x5678 }, { 2, 0x1234 },
	  { 1, 0x5678 }, true },
	{ "ESP with its halves swapped", IPPROTO_ESP, { 1, 0x1234 }, { 2, 0x5678 }, { 2, 0x5678 },
	  { 1, 0x1234 }, false },
	{ "GRE of the same key", IPPROTO_GRE, { 1, 0 }, { 2, 7 }, { 2, 0 }, { 1, 7 }, true },
	{ "a protocol without ports", 89, { 1, 0 }, { 2, 0 }, { 2, 0 }, { 1, 0 }, true },
};

static void bidir_desc(const struct bidir_case *c, char *desc)
{
	strscpy(desc, c->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(bidir, bidir_cases, bidir_desc);

static struct nf_dlcbf_tuple between(u8 family, u8 proto, struct end from, struct end to)
{
	return (struct nf_dlcbf_tuple){
		.family = family,
		.proto = proto,
		.sport = htons(from.port),
		.dport = htons(to.port),
		.saddr = family == 4 ? v4(192, 0, 2, from.address) : v6(0, from.address),
		.daddr = family == 4 ? v4(192, 0, 2, to.address) : v6(0, to.address),
	};
}

static void expect_directions(struct kunit *test, const struct bidir_case *c, u32 family,
			      u8 version)
{
	struct nf_dlcbf_config config = config_of(family, TUPLE5);
	struct nf_dlcbf_tuple a = between(version, c->proto, c->a_from, c->a_to);
	struct nf_dlcbf_tuple b = between(version, c->proto, c->b_from, c->b_to);
	struct nf_dlcbf_key_layout layout;

	config.bidir = true;
	layout_of(test, &config, &layout);
	KUNIT_EXPECT_EQ(test, same_key(&layout, &a, &b), c->same);
	KUNIT_EXPECT_EQ(test, same_key(&layout, &b, &a), c->same);

	/* And one direction at a time without bidir. */
	config.bidir = false;
	layout_of(test, &config, &layout);
	KUNIT_EXPECT_FALSE(test, same_key(&layout, &a, &b));
}

static void test_bidir(struct kunit *test)
{
	const struct bidir_case *c = test->param_value;

	expect_directions(test, c, IPV4, 4);
	expect_directions(test, c, INET, 4);
	if (c->proto != IPPROTO_ICMP) {
		expect_directions(test, c, IPV6, 6);
		expect_directions(test, c, INET, 6);
	}
}

/* RFC 4443: echo is 128 and 129; RFC 4620: node information is 139 and 140. */
static void test_bidir_icmpv6(struct kunit *test)
{
	static const struct bidir_case cases[] = {
		{ "", IPPROTO_ICMPV6, { 1, 77 }, { 2, 128 << 8 }, { 2, 77 }, { 1, 129 << 8 },
		  true },
		{ "", IPPROTO_ICMPV6, { 1, 0 }, { 2, 139 << 8 }, { 2, 0 }, { 1, 140 << 8 }, true },
		{ "", IPPROTO_ICMPV6, { 1, 0 }, { 2, 135 << 8 }, { 2, 0 }, { 1, 136 << 8 }, false },
		/* The numbers of IPv4 mean nothing here. */
		{ "", IPPROTO_ICMPV6, { 1, 77 }, { 2, 8 << 8 }, { 2, 77 }, { 1, 0 }, false },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		expect_directions(test, &cases[i], IPV6, 6);
		expect_directions(test, &cases[i], INET, 6);
	}
}

/* Two hosts of one prefix are one end: the ports decide which goes first. */
static void test_bidir_within_a_prefix(struct kunit *test)
{
	struct nf_dlcbf_config config = config_of(IPV4, TUPLE5);
	struct nf_dlcbf_key_layout layout;
	struct nf_dlcbf_tuple there = between(4, IPPROTO_TCP, (struct end){ 1, 1000 },
					      (struct end){ 2, 80 });
	struct nf_dlcbf_tuple back = between(4, IPPROTO_TCP, (struct end){ 2, 80 },
					     (struct end){ 1, 1000 });
	struct nf_dlcbf_tuple other = between(4, IPPROTO_TCP, (struct end){ 7, 80 },
					      (struct end){ 4, 1000 });

	config.bidir = true;
	config.saddr_prefix4 = 24;
	config.daddr_prefix4 = 24;
	layout_of(test, &config, &layout);
	KUNIT_EXPECT_TRUE(test, same_key(&layout, &there, &back));
	KUNIT_EXPECT_TRUE(test, same_key(&layout, &there, &other));
}

/* What was unpacked, when it is packed again, is the same key. */
static void test_bidir_random(struct kunit *test)
{
	static const u8 protocols[] = {
		IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMP, IPPROTO_ICMPV6, IPPROTO_ESP, IPPROTO_GRE, 0,
	};
	struct nf_dlcbf_config config = config_of(INET, TUPLE5 | VLAN | MARK);
	struct nf_dlcbf_key_layout layout;
	int i;

	config.bidir = true;
	config.saddr_prefix4 = 20;
	config.daddr_prefix4 = 20;
	config.saddr_prefix6 = 61;
	config.daddr_prefix6 = 61;
	layout_of(test, &config, &layout);
	for (i = 0; i < 2000; i++) {
		struct nf_dlcbf_tuple tuple, again;
		struct nf_dlcbf_key key;

		random_tuple(&tuple, i % 2 ? 4 : 6);
		tuple.proto = protocols[i % ARRAY_SIZE(protocols)];
		nf_dlcbf_key_pack(&layout, &tuple, &key);
		nf_dlcbf_key_unpack(&layout, &key, &again);
		KUNIT_EXPECT_TRUE(test, same_key(&layout, &tuple, &again));

		again = tuple;
		swap(again.saddr, again.daddr);
		if (tuple.proto == IPPROTO_TCP || tuple.proto == IPPROTO_UDP)
			swap(again.sport, again.dport);
		KUNIT_EXPECT_TRUE(test, same_key(&layout, &tuple, &again));
	}
}

static struct kunit_case key_cases[] = {
	KUNIT_CASE_PARAM(test_layout, layout_gen_params),
	KUNIT_CASE_PARAM(test_refusal, refusal_gen_params),
	KUNIT_CASE_PARAM(test_bytes, bytes_gen_params),
	KUNIT_CASE_PARAM(test_hash, hash_gen_params),
	KUNIT_CASE(test_round_trip),
	KUNIT_CASE(test_prefixes),
	KUNIT_CASE(test_mapped_is_not_ipv4),
	KUNIT_CASE_PARAM(test_bidir, bidir_gen_params),
	KUNIT_CASE(test_bidir_icmpv6),
	KUNIT_CASE(test_bidir_within_a_prefix),
	KUNIT_CASE(test_bidir_random),
	{}
};

static struct kunit_suite key_suite = {
	.name = "nf_dlcbf_key",
	.test_cases = key_cases,
};

kunit_test_suite(key_suite);

MODULE_DESCRIPTION("KUnit suite of nf_dlcbf's keys");
MODULE_LICENSE("GPL");
