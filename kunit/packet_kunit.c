// SPDX-License-Identifier: GPL-2.0
/*
 * Reading packets: each is written here byte by byte, and what must be read of
 * it follows from the RFC that defines it.
 */
#include <kunit/test.h>
#include <linux/module.h>

#include "../nf_dlcbf/packet.c"

#define NONE		NF_DLCBF_DEPTH_NONE
#define ADDRESS		NF_DLCBF_DEPTH_ADDRESS
#define PROTOCOL	NF_DLCBF_DEPTH_PROTOCOL
#define PORTS		NF_DLCBF_DEPTH_PORTS

#define FRAGMENT	NF_DLCBF_A_STATS_FRAGMENT
#define TRUNCATED	NF_DLCBF_A_STATS_TRUNCATED
#define MALFORMED	NF_DLCBF_A_STATS_MALFORMED
#define NOT_IP		NF_DLCBF_A_STATS_NOT_IP

/* 16 bits in network byte order */
#define BE16(x)		((x) >> 8), ((x) & 0xff)

/* RFC 791: version and length, then @len in all, @frag, and @proto */
#define IP4_WITH(first, len, frag, proto) \
	(first), 0, BE16(len), 0, 1, BE16(frag), 64, (proto), 0, 0, \
	192, 0, 2, 1, 198, 51, 100, 7
#define IP4(len, proto)		IP4_WITH(0x45, len, 0, proto)

/* RFC 8200: @len after this header, the @next one, and the hop limit */
#define IP6_WITH(len, next, hops) \
	0x60, 0, 0, 0, BE16(len), (next), (hops), \
	0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, \
	0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2
#define IP6(len, next)		IP6_WITH(len, next, 64)

/* An extension header of 8 bytes (hop-by-hop, destination, routing) */
#define EXT(next)		(next), 0, 1, 4, 0, 0, 0, 0
#define EXT4(next)		EXT(next), EXT(next), EXT(next), EXT(next)
#define FRAG6(next, frag)	(next), 0, BE16(frag), 0, 0, 0, 1

/* Ports 12345 and 443, in the first 4 of 8 bytes */
#define UDP			0x30, 0x39, 0x01, 0xbb, 0, 8, 0, 0
#define TCP			0x30, 0x39, 0x01, 0xbb, 0, 0, 0, 1, 0, 0, 0, 0, 0x50, 2, 0xff, \
				0xff, 0, 0, 0, 0

#define HOP	0
#define ROUTING	43
#define FRAG	44
#define ESP	50
#define AH	51
#define ICMP6	58
#define NO_NEXT	59
#define DEST	60

static const struct packet_case {
	const char *desc;
	u16 len;	/* of what is there */
	u8 data[232];
	enum nf_dlcbf_depth depth;
	enum nf_dlcbf_attr_stats reason;	/* 0: all could be read */
	u8 proto;
	u16 sport;
	u16 dport;
	u32 bytes;
	bool neighbour;
} packet_cases[] = {
	/* IPv4 */
	{ "UDP", 28, { IP4(28, 17), UDP }, PORTS, 0, 17, 12345, 443, 28 },
	{ "TCP", 40, { IP4(40, 6), TCP }, PORTS, 0, 6, 12345, 443, 40 },
	{ "UDP-Lite", 28, { IP4(28, 136), UDP }, PORTS, 0, 136, 12345, 443, 28 },
	{ "SCTP: its 12 bytes begin with ports", 32, { IP4(32, 132), UDP, 0, 0, 0, 0 }, PORTS, 0,
	  132, 12345, 443, 32 },
	{ "DCCP", 28, { IP4(28, 33), UDP }, PORTS, 0, 33, 12345, 443, 28 },
	{ "four bytes of options", 32, { IP4_WITH(0x46, 32, 0, 17), 1, 1, 1, 0, UDP }, PORTS, 0,
	  17, 12345, 443, 32 },
	{ "forty bytes of options", 68, { IP4_WITH(0x4f, 68, 0, 17), [60] = 0x30, 0x39, 1, 0xbb },
	  PORTS, 0, 17, 12345, 443, 68 },
	{ "padding after the end", 46, { IP4(28, 17), UDP }, PORTS, 0, 17, 12345, 443, 28 },
	{ "a protocol without ports", 24, { IP4(24, 2), 0x16 }, PORTS, 0, 2, 0, 0, 24 },
	{ "no payload, of a protocol without ports", 20, { IP4(20, 89) }, PORTS, 0, 89, 0, 0, 20 },
	{ "ICMPv6 in IPv4 has no meaning", 28, { IP4(28, 58), 135 }, PORTS, 0, 58, 0, 0, 28 },

	/* RFC 791: offset in 8 bytes, with three flags before it */
	{ "first fragment", 28, { IP4_WITH(0x45, 28, 0x2000, 17), UDP }, PORTS, 0, 17, 12345, 443,
	  28 },
	{ "do not fragment", 28, { IP4_WITH(0x45, 28, 0x4000, 17), UDP }, PORTS, 0, 17, 12345, 443,
	  28 },
	{ "middle fragment", 28, { IP4_WITH(0x45, 28, 0x2001, 17), UDP }, PROTOCOL, FRAGMENT, 17,
	  0, 0, 28 },
	{ "last fragment", 28, { IP4_WITH(0x45, 28, 0x1fff, 17), UDP }, PROTOCOL, FRAGMENT, 17,
	  0, 0, 28 },
	{ "later fragment of ESP", 28, { IP4_WITH(0x45, 28, 0x0100, ESP), UDP }, PROTOCOL,
	  FRAGMENT, ESP, 0, 0, 28 },

	/* RFC 792: type, code, checksum, and in queries an identifier */
	{ "echo request", 28, { IP4(28, 1), 8, 0, 0, 0, 0x12, 0x34 }, PORTS, 0, 1, 0x1234, 0x0800,
	  28 },
	{ "echo reply", 28, { IP4(28, 1), 0, 0, 0, 0, 0x12, 0x34 }, PORTS, 0, 1, 0x1234, 0, 28 },
	{ "timestamp", 40, { IP4(40, 1), 13, 0, 0, 0, 0x12, 0x34 }, PORTS, 0, 1, 0x1234, 0x0d00,
	  40 },
	{ "port unreachable: bytes 4 and 5 mean nothing", 28,
	  { IP4(28, 1), 3, 3, 0, 0, 0x12, 0x34 }, PORTS, 0, 1, 0, 0x0303, 28 },
	{ "ICMP of one byte", 21, { IP4(21, 1), 8 }, PROTOCOL, MALFORMED, 1, 0, 0, 21 },
	{ "echo request without its identifier", 25, { IP4(25, 1), 8 }, PROTOCOL, MALFORMED, 1, 0,
	  0x0800, 25 },

	/* RFC 4303, RFC 4302, RFC 2784, RFC 2890 */
	{ "ESP: SPI first", 28, { IP4(28, ESP), 0x12, 0x34, 0x56, 0x78 }, PORTS, 0, ESP, 0x1234,
	  0x5678, 28 },
	{ "AH: SPI after four bytes", 44, { IP4(44, AH), 6, 4, 0, 0, 0x12, 0x34, 0x56, 0x78 },
	  PORTS, 0, AH, 0x1234, 0x5678, 44 },
	{ "AH without its SPI", 26, { IP4(26, AH), 6, 4, 0, 0, 0x12, 0x34 }, PROTOCOL, MALFORMED,
	  AH, 0, 0, 26 },
	{ "GRE without a key", 28, { IP4(28, 47), 0, 0, 8, 0, 0x12, 0x34, 0x56, 0x78 }, PORTS, 0,
	  47, 0, 0, 28 },
	{ "GRE with a key", 28, { IP4(28, 47), 0x20, 0, 8, 0, 0x12, 0x34, 0x56, 0x78 }, PORTS, 0,
	  47, 0x1234, 0x5678, 28 },
	{ "GRE with a checksum and a key", 32,
	  { IP4(32, 47), 0xa0, 0, 8, 0, 0xff, 0xff, 0, 0, 0x12, 0x34, 0x56, 0x78 }, PORTS, 0,
	  47, 0x1234, 0x5678, 32 },
	{ "GRE with a checksum alone", 28, { IP4(28, 47), 0x80, 0, 8, 0, 0xff, 0xff, 0, 0 }, PORTS,
	  0, 47, 0, 0, 28 },
	{ "GRE without the key that it announces", 26, { IP4(26, 47), 0x20, 0, 8, 0, 0x12, 0x34 },
	  PROTOCOL, MALFORMED, 47, 0, 0, 26 },

	{ "UDP of three bytes", 23, { IP4(23, 17), 0x30, 0x39, 1 }, PROTOCOL, MALFORMED, 17, 0, 0,
	  23 },
	{ "ports in the padding", 46, { IP4(22, 17), UDP }, PROTOCOL, MALFORMED, 17, 0, 0, 22 },
	{ "cut within the IPv4 header", 19, { IP4(28, 17) }, NONE, TRUNCATED, 0, 0, 0, 19 },
	{ "cut after the IPv4 header", 20, { IP4(28, 17) }, PROTOCOL, TRUNCATED, 17, 0, 0, 20 },
	{ "one byte less than it says", 27, { IP4(28, 17), UDP }, PROTOCOL, TRUNCATED, 17, 0, 0,
	  27 },
	{ "IPv4 of version 5", 28, { IP4_WITH(0x55, 28, 0, 17), UDP }, NONE, MALFORMED, 0, 0, 0,
	  28 },
	{ "IPv4 header of 16 bytes", 28, { IP4_WITH(0x44, 28, 0, 17), UDP }, NONE, MALFORMED, 0, 0,
	  0, 28 },
	{ "total length of 0", 28, { IP4(0, 17), UDP }, PROTOCOL, MALFORMED, 17, 0, 0, 28 },
	{ "total length less than the header", 28, { IP4_WITH(0x46, 23, 0, 17), UDP }, PROTOCOL,
	  MALFORMED, 17, 0, 0, 28 },
	{ "options longer than the packet", 28, { IP4_WITH(0x4f, 28, 0, 17), UDP }, PROTOCOL,
	  MALFORMED, 17, 0, 0, 28 },

	/* IPv6 */
	{ "UDP over IPv6", 48, { IP6(8, 17), UDP }, PORTS, 0, 17, 12345, 443, 48 },
	{ "TCP over IPv6", 60, { IP6(20, 6), TCP }, PORTS, 0, 6, 12345, 443, 60 },
	{ "hop-by-hop options", 56, { IP6(16, HOP), EXT(17), UDP }, PORTS, 0, 17, 12345, 443, 56 },
	{ "destination options of 16 bytes", 64, { IP6(24, DEST), 17, 1, 1, 12, [56] = UDP }, PORTS,
	  0, 17, 12345, 443, 64 },
	{ "routing header", 56, { IP6(16, ROUTING), EXT(17), UDP }, PORTS, 0, 17, 12345, 443, 56 },
	{ "the order that RFC 8200 recommends", 88,
	  { IP6(48, HOP), EXT(DEST), EXT(ROUTING), EXT(FRAG), FRAG6(DEST, 1), EXT(17), UDP }, PORTS,
	  0, 17, 12345, 443, 88 },
	{ "first fragment over IPv6", 56, { IP6(16, FRAG), FRAG6(17, 1), UDP }, PORTS, 0, 17, 12345,
	  443, 56 },
	{ "atomic fragment (RFC 6946)", 56, { IP6(16, FRAG), FRAG6(17, 0), UDP }, PORTS, 0, 17,
	  12345, 443, 56 },
	{ "later fragment over IPv6", 56, { IP6(16, FRAG), FRAG6(17, 8), UDP }, PROTOCOL, FRAGMENT,
	  17, 0, 0, 56 },
	{ "later fragment that hides its protocol", 56, { IP6(16, FRAG), FRAG6(DEST, 8), EXT(17) },
	  ADDRESS, FRAGMENT, DEST, 0, 0, 56 },
	{ "later fragment after hop-by-hop options", 64,
	  { IP6(24, HOP), EXT(FRAG), FRAG6(6, 0xfff8), UDP }, PROTOCOL, FRAGMENT, 6, 0, 0, 64 },
	{ "no next header", 40, { IP6(0, NO_NEXT) }, PORTS, 0, NO_NEXT, 0, 0, 40 },
	{ "no next header, after options", 48, { IP6(8, DEST), EXT(NO_NEXT) }, PORTS, 0, NO_NEXT, 0,
	  0, 48 },
	{ "AH over IPv6", 64, { IP6(24, AH), 17, 4, 0, 0, 0x12, 0x34, 0x56, 0x78 }, PORTS, 0, AH,
	  0x1234, 0x5678, 64 },
	{ "ESP over IPv6", 48, { IP6(8, ESP), 0x12, 0x34, 0x56, 0x78 }, PORTS, 0, ESP, 0x1234,
	  0x5678, 48 },
	{ "ICMP in IPv6 has no meaning", 48, { IP6(8, 1), 8, 0, 0, 0, 0x12, 0x34 }, PORTS, 0, 1, 0,
	  0, 48 },
	{ "padding after the end of IPv6", 60, { IP6(8, 17), UDP }, PORTS, 0, 17, 12345, 443, 48 },
	{ "jumbogram (RFC 2675): its length is in an option", 56,
	  { IP6(0, HOP), 17, 0, 0xc2, 4, 0, 0, 0, 16, UDP }, PORTS, 0, 17, 12345, 443, 56 },
	{ "sixteen extension headers", 176,
	  { IP6(136, DEST), EXT4(DEST), EXT4(DEST), EXT4(DEST), EXT(DEST), EXT(DEST), EXT(DEST),
	    EXT(17), UDP }, PORTS, 0, 17, 12345, 443, 176 },
	{ "seventeen extension headers", 184,
	  { IP6(144, DEST), EXT4(DEST), EXT4(DEST), EXT4(DEST), EXT4(DEST), EXT(17), UDP }, ADDRESS,
	  MALFORMED, DEST, 0, 0, 184 },

	/* RFC 4443; RFC 4861 wants a hop limit of 255 */
	{ "echo request over IPv6", 48, { IP6(8, ICMP6), 128, 0, 0, 0, 0x12, 0x34 }, PORTS, 0,
	  ICMP6, 0x1234, 0x8000, 48 },
	{ "packet too big", 48, { IP6(8, ICMP6), 2, 0, 0, 0, 0x12, 0x34 }, PORTS, 0, ICMP6, 0,
	  0x0200, 48 },
	{ "neighbour solicitation", 64, { IP6_WITH(24, ICMP6, 255), 135 }, PORTS, 0, ICMP6, 0,
	  0x8700, 64, true },
	{ "router solicitation", 48, { IP6_WITH(8, ICMP6, 255), 133 }, PORTS, 0, ICMP6, 0, 0x8500,
	  48, true },
	{ "redirect", 80, { IP6_WITH(40, ICMP6, 255), 137 }, PORTS, 0, ICMP6, 0, 0x8900, 80, true },
	{ "solicitation that was forwarded", 64, { IP6_WITH(24, ICMP6, 254), 135 }, PORTS, 0, ICMP6,
	  0, 0x8700, 64, false },
	{ "echo request with a hop limit of 255", 48,
	  { IP6_WITH(8, ICMP6, 255), 128, 0, 0, 0, 0x12, 0x34 }, PORTS, 0, ICMP6, 0x1234, 0x8000,
	  48, false },
	{ "multicast listener report", 48, { IP6_WITH(8, ICMP6, 255), 131 }, PORTS, 0, ICMP6, 0,
	  0x8300, 48, false },

	{ "cut within the IPv6 header", 39, { IP6(8, 17) }, NONE, TRUNCATED, 0, 0, 0, 39 },
	{ "cut after the IPv6 header", 40, { IP6(8, 17) }, ADDRESS, TRUNCATED, 0, 0, 0, 40 },
	{ "IPv6 of version 4", 48, { 0x40, 0, 0, 0, 0, 8, 17 }, NONE, MALFORMED, 0, 0, 0, 48 },
	{ "payload length of 0, and UDP", 48, { IP6(0, 17), UDP }, PROTOCOL, MALFORMED, 17, 0, 0,
	  40 },
	{ "UDP over IPv6 of three bytes", 43, { IP6(3, 17), 0x30, 0x39, 1 }, PROTOCOL, MALFORMED,
	  17, 0, 0, 43 },
	{ "options cut after a byte", 41, { IP6(1, DEST), 17 }, ADDRESS, MALFORMED, DEST, 0, 0,
	  41 },
	{ "options longer than the packet", 48, { IP6(8, DEST), 17, 9 }, PROTOCOL, MALFORMED, 17, 0,
	  0, 48 },
	{ "fragment header cut", 44, { IP6(4, FRAG), 17, 0, 0, 0 }, ADDRESS, MALFORMED, FRAG, 0, 0,
	  44 },
};

static void packet_desc(const struct packet_case *c, char *desc)
{
	strscpy(desc, c->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(packet, packet_cases, packet_desc);

/* All of it after the first @linear bytes is in a page. */
static struct sk_buff *make_skb(struct kunit *test, const u8 *data, u32 len, u32 linear,
				__be16 protocol)
{
	struct sk_buff *skb = alloc_skb(len + 64, GFP_KERNEL);
	struct page *page;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_reserve(skb, 32);
	linear = min(linear, len);
	skb_put_data(skb, data, linear);
	if (linear < len) {
		page = alloc_page(GFP_KERNEL);
		if (!page)
			kfree_skb(skb);
		KUNIT_ASSERT_NOT_NULL(test, page);
		memcpy(page_address(page) + 8, data + linear, len - linear);
		skb_add_rx_frag(skb, 0, page, 8, len - linear, PAGE_SIZE);
	}
	skb_reset_network_header(skb);
	skb->protocol = protocol;
	return skb;
}

static void read_at(struct nf_dlcbf_packet *packet, const struct sk_buff *skb, u8 pf)
{
	const struct nf_hook_state state = { .pf = pf };

	/* Nothing may be left of what was there before. */
	memset(packet, 0xee, sizeof(*packet));
	nf_dlcbf_packet_read(packet, skb, &state);
}

static void expect_packet(struct kunit *test, const struct packet_case *c,
			  const struct nf_dlcbf_packet *packet)
{
	KUNIT_EXPECT_EQ(test, (u32)packet->depth, (u32)c->depth);
	if (c->depth != PORTS)
		KUNIT_EXPECT_EQ(test, (u32)packet->reason, (u32)c->reason);
	KUNIT_EXPECT_EQ(test, packet->packets, 1U);
	KUNIT_EXPECT_EQ(test, packet->bytes, c->bytes);
	KUNIT_EXPECT_EQ(test, packet->neighbour, c->neighbour);
	if (c->depth >= PROTOCOL)
		KUNIT_EXPECT_EQ(test, (u32)packet->tuple.proto, (u32)c->proto);
	if (c->depth == PORTS) {
		KUNIT_EXPECT_EQ(test, ntohs(packet->tuple.sport), c->sport);
		KUNIT_EXPECT_EQ(test, ntohs(packet->tuple.dport), c->dport);
	}
	if (c->depth == NONE)
		return;
	if (c->data[0] >> 4 == 4) {
		KUNIT_EXPECT_EQ(test, (u32)packet->tuple.family, 4U);
		KUNIT_EXPECT_EQ(test, memcmp(&packet->tuple.saddr.s6_addr[12], c->data + 12, 4), 0);
		KUNIT_EXPECT_EQ(test, memcmp(&packet->tuple.daddr.s6_addr[12], c->data + 16, 4), 0);
	} else {
		KUNIT_EXPECT_EQ(test, (u32)packet->tuple.family, 6U);
		KUNIT_EXPECT_EQ(test, memcmp(&packet->tuple.saddr, c->data + 8, 16), 0);
		KUNIT_EXPECT_EQ(test, memcmp(&packet->tuple.daddr, c->data + 24, 16), 0);
	}
}

static bool case_is_ipv4(const struct packet_case *c)
{
	/* Two lie about it. */
	return !strcmp(c->desc, "IPv4 of version 5") ||
	       (c->data[0] >> 4 == 4 && strcmp(c->desc, "IPv6 of version 4"));
}

/* The same at every hook, and wherever the packet's memory is cut in two. */
static void test_packet(struct kunit *test)
{
	const struct packet_case *c = test->param_value;
	const bool ipv4 = case_is_ipv4(c);
	const __be16 protocol = htons(ipv4 ? ETH_P_IP : ETH_P_IPV6);
	struct nf_dlcbf_packet packet;
	struct sk_buff *skb;
	u32 linear;

	for (linear = 0; linear <= c->len; linear++) {
		skb = make_skb(test, c->data, c->len, linear, protocol);
		read_at(&packet, skb, ipv4 ? NFPROTO_IPV4 : NFPROTO_IPV6);
		expect_packet(test, c, &packet);
		read_at(&packet, skb, NFPROTO_NETDEV);
		expect_packet(test, c, &packet);
		KUNIT_EXPECT_EQ(test, (u32)packet.tuple.vlan, 0U);
		kfree_skb(skb);
	}
}

/*
 * However short a packet is cut, what it still has decides; nothing beyond is
 * read.  KASAN sees to the latter: the buffer ends where the packet does.
 */
static void test_cut_anywhere(struct kunit *test)
{
	const struct packet_case *c = test->param_value;
	const bool ipv4 = case_is_ipv4(c);
	struct nf_dlcbf_packet whole, packet;
	struct sk_buff *skb;
	u32 len;

	skb = make_skb(test, c->data, c->len, c->len, htons(ipv4 ? ETH_P_IP : ETH_P_IPV6));
	read_at(&whole, skb, NFPROTO_NETDEV);
	kfree_skb(skb);
	for (len = 0; len < c->len; len++) {
		skb = make_skb(test, c->data, len, len, htons(ipv4 ? ETH_P_IP : ETH_P_IPV6));
		read_at(&packet, skb, NFPROTO_NETDEV);
		KUNIT_EXPECT_LE(test, (u32)packet.depth, (u32)whole.depth);
		KUNIT_EXPECT_LE(test, packet.bytes, len);
		if (len < whole.bytes && whole.depth == PORTS && !strstr(c->desc, "jumbogram"))
			KUNIT_EXPECT_EQ(test, (u32)packet.reason, (u32)TRUNCATED);
		kfree_skb(skb);
	}
}

/* ---- frames ---- */

static const struct frame_case {
	const char *desc;
	u16 protocol;
	u16 offloaded;	/* VLAN_TAG_PRESENT in bit 12, which is not in an identifier */
	u16 len;
	u8 data[64];
	enum nf_dlcbf_depth depth;
	u16 vlan;
	u32 bytes;
	bool neighbour;
} frame_cases[] = {
	{ "untagged", ETH_P_IP, 0, 28, { IP4(28, 17), UDP }, PORTS, 0, 28 },
	{ "tagged", ETH_P_8021Q, 0, 32, { 0, 100, 0x08, 0x00, IP4(28, 17), UDP }, PORTS, 100, 28 },
	{ "priority is no identifier", ETH_P_8021Q, 0, 32, { 0xf0, 100, 0x08, 0, IP4(28, 17), UDP },
	  PORTS, 100, 28 },
	{ "tag with priority only", ETH_P_8021Q, 0, 32, { 0xe0, 0, 0x08, 0, IP4(28, 17), UDP },
	  PORTS, 0, 28 },
	{ "two tags: the outer one counts", ETH_P_8021AD, 0, 36,
	  { 0, 7, 0x81, 0x00, 0, 100, 0x08, 0x00, IP4(28, 17), UDP }, PORTS, 7, 28 },
	{ "tag that the device took off", ETH_P_IP, 0x1000 | 9, 28, { IP4(28, 17), UDP }, PORTS, 9,
	  28 },
	{ "one taken off, one left", ETH_P_8021Q, 0x1000 | 9, 32,
	  { 0, 100, 0x08, 0x00, IP4(28, 17), UDP }, PORTS, 9, 28 },
	{ "priority taken off, tag left", ETH_P_8021Q, 0x1000, 32,
	  { 0, 100, 0x08, 0x00, IP4(28, 17), UDP }, PORTS, 0, 28 },
	{ "five tags", ETH_P_8021Q, 0, 48,
	  { 0, 1, 0x81, 0, 0, 2, 0x81, 0, 0, 3, 0x81, 0, 0, 4, 0x81, 0, 0, 5, 8, 0, IP4(28, 17),
	    UDP }, NONE, 1, 32 },
	{ "tag cut", ETH_P_8021Q, 0, 3, { 0, 100, 8 }, NONE, 0, 3 },
	{ "ARP", ETH_P_ARP, 0, 28, { 0, 1, 8, 0, 6, 4, 0, 1 }, NONE, 0, 28, true },
	{ "tagged ARP", ETH_P_8021Q, 0, 32, { 0, 5, 0x08, 0x06, 0, 1, 8, 0, 6, 4, 0, 1 }, NONE, 5,
	  28, true },
	{ "LLDP", ETH_P_LLDP, 0, 30, { 2, 7, 4 }, NONE, 0, 30 },
	{ "empty frame", ETH_P_IP, 0, 0, {}, NONE, 0, 0 },
};

static void frame_desc(const struct frame_case *c, char *desc)
{
	strscpy(desc, c->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(frame, frame_cases, frame_desc);

static void test_frame(struct kunit *test)
{
	const struct frame_case *c = test->param_value;
	struct nf_dlcbf_packet packet;
	struct sk_buff *skb;
	u32 linear;

	for (linear = 0; linear <= c->len; linear++) {
		skb = make_skb(test, c->data, c->len, linear, htons(c->protocol));
		if (c->offloaded)
			__vlan_hwaccel_put_tag(skb, htons(ETH_P_8021Q), c->offloaded & 0xfff);
		read_at(&packet, skb, NFPROTO_NETDEV);
		KUNIT_EXPECT_EQ(test, (u32)packet.depth, (u32)c->depth);
		KUNIT_EXPECT_EQ(test, packet.tuple.vlan, c->vlan);
		KUNIT_EXPECT_EQ(test, packet.bytes, c->bytes);
		KUNIT_EXPECT_EQ(test, packet.neighbour, c->neighbour);
		if (c->depth == NONE && c->len)
			KUNIT_EXPECT_EQ(test, (u32)packet.reason, (u32)NOT_IP);
		kfree_skb(skb);
	}
}

/* What is not in the packet: its mark and its devices. */
static void test_metadata(struct kunit *test)
{
	static const u8 data[] = { IP4(28, 17), UDP };
	struct net_device *in = kunit_kzalloc(test, sizeof(*in), GFP_KERNEL);
	struct net_device *out = kunit_kzalloc(test, sizeof(*out), GFP_KERNEL);
	struct nf_hook_state state = { .pf = NFPROTO_IPV4 };
	struct nf_dlcbf_packet packet;
	struct sk_buff *skb;

	KUNIT_ASSERT_NOT_NULL(test, in);
	KUNIT_ASSERT_NOT_NULL(test, out);
	in->ifindex = 17;
	out->ifindex = 18;
	skb = make_skb(test, data, sizeof(data), sizeof(data), htons(ETH_P_IP));
	skb->mark = 0xcafe;
	state.in = in;
	state.out = out;
	nf_dlcbf_packet_read(&packet, skb, &state);
	KUNIT_EXPECT_EQ(test, packet.tuple.mark, 0xcafeU);
	KUNIT_EXPECT_EQ(test, packet.tuple.iif, 17U);
	KUNIT_EXPECT_EQ(test, packet.tuple.oif, 18U);

	/* After routing the skb remembers by which device it came. */
	state.in = NULL;
	skb->skb_iif = 17;
	nf_dlcbf_packet_read(&packet, skb, &state);
	KUNIT_EXPECT_EQ(test, packet.tuple.iif, 17U);
	kfree_skb(skb);
}

/* ---- one skb, several packets ---- */

static const struct gso_case {
	const char *desc;
	u32 len;	/* of the skb, from the IP header on */
	u8 data[100];
	u32 gso_type;
	u16 gso_size;
	u16 gso_segs;
	u8 inner_transport;	/* offset, of a tunnel */
	u32 packets;
	u32 bytes;
} gso_cases[] = {
	/* Each of 10 segments has 40 bytes of headers: 10 x (40 + 1000). */
	{ "TCP", 10040, { IP4(10040, 6), TCP }, SKB_GSO_TCPV4, 1000, 10, 0, 10, 10400 },
	{ "TCP whose last segment is short", 9541, { IP4(9541, 6), TCP }, SKB_GSO_TCPV4, 1000, 10,
	  0, 10, 9901 },
	/* A guest gives the size alone: ceil(9501 / 1000) = 10. */
	{ "TCP that was not counted", 9541, { IP4(9541, 6), TCP }, SKB_GSO_TCPV4, 1000, 0, 0, 10,
	  9901 },
	{ "TCP of exactly two", 2040, { IP4(2040, 6), TCP }, SKB_GSO_TCPV4, 1000, 0, 0, 2, 2080 },
	{ "TCP of exactly one", 1040, { IP4(1040, 6), TCP }, SKB_GSO_TCPV4, 1000, 0, 0, 1, 1040 },
	/* The data offset says 8 words: headers of 20 + 32. */
	{ "TCP with options", 5052,
	  { IP4(5052, 6), 0x30, 0x39, 1, 0xbb, 0, 0, 0, 1, 0, 0, 0, 0, 0x80, 2 }, SKB_GSO_TCPV4,
	  1000, 5, 0, 5, 5260 },
	{ "TCP over IPv6", 5060, { IP6(5020, 6), TCP }, SKB_GSO_TCPV6, 1000, 5, 0, 5, 5300 },
	{ "TCP over IPv6 with an extension header", 5068,
	  { IP6(5028, DEST), EXT(6), TCP }, SKB_GSO_TCPV6, 1000, 5, 0, 5, 5340 },
	/* More than 64 KiB: the header has a length of 0, the skb knows. */
	{ "big TCP over IPv4", 100040, { IP4(0, 6), TCP }, SKB_GSO_TCPV4, 1000, 100, 0, 100,
	  104000 },
	{ "big TCP over IPv6", 100060, { IP6(0, 6), TCP }, SKB_GSO_TCPV6, 1000, 100, 0, 100,
	  106000 },
	{ "UDP", 3028, { IP4(3028, 17), UDP }, SKB_GSO_UDP_L4, 1000, 3, 0, 3, 3084 },
	{ "UDP that was not counted", 2529, { IP4(2529, 17), UDP }, SKB_GSO_UDP_L4, 1000, 0, 0, 3,
	  2585 },
	{ "SCTP", 3032, { IP4(3032, 132), UDP, 0, 0, 0, 0 }, SKB_GSO_SCTP, GSO_BY_FRAGS, 3, 0, 3,
	  3096 },
	/* IP, UDP, 8 of VXLAN; 14, IP, TCP within: 20 + 8 + 8 + 14 + 20 + 20 = 90. */
	{ "TCP in a tunnel", 3090, { IP4(3090, 17), UDP, [82] = 0x50 },
	  SKB_GSO_TCPV4 | SKB_GSO_UDP_TUNNEL, 1000, 3, 70, 3, 3270 },
};

static void gso_desc(const struct gso_case *c, char *desc)
{
	strscpy(desc, c->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(gso, gso_cases, gso_desc);

/* @tag bytes of a VLAN tag come first. */
static struct sk_buff *make_gso(struct kunit *test, const struct gso_case *c, u32 tag)
{
	struct sk_buff *skb = alloc_skb(c->len + 64, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_reserve(skb, 32);
	skb_put_zero(skb, tag + c->len);
	skb_reset_network_header(skb);
	if (tag) {
		memcpy(skb->data, "\x00\x05\x08\x00", 4);
		skb->protocol = htons(ETH_P_8021Q);
	} else {
		skb->protocol = htons(c->data[0] >> 4 == 4 ? ETH_P_IP : ETH_P_IPV6);
	}
	memcpy(skb->data + tag, c->data, sizeof(c->data));
	skb_shinfo(skb)->gso_type = c->gso_type;
	skb_shinfo(skb)->gso_size = c->gso_size;
	skb_shinfo(skb)->gso_segs = c->gso_segs;
	if (c->inner_transport) {
		skb->encapsulation = 1;
		skb_set_inner_transport_header(skb, c->inner_transport);
	}
	return skb;
}

static void test_gso(struct kunit *test)
{
	const struct gso_case *c = test->param_value;
	struct sk_buff *skb = make_gso(test, c, 0);
	struct nf_dlcbf_packet packet;

	read_at(&packet, skb, c->data[0] >> 4 == 4 ? NFPROTO_IPV4 : NFPROTO_IPV6);
	KUNIT_EXPECT_EQ(test, (u32)packet.depth, (u32)PORTS);
	KUNIT_EXPECT_EQ(test, packet.packets, c->packets);
	KUNIT_EXPECT_EQ(test, packet.bytes, c->bytes);
	read_at(&packet, skb, NFPROTO_NETDEV);
	KUNIT_EXPECT_EQ(test, packet.packets, c->packets);
	KUNIT_EXPECT_EQ(test, packet.bytes, c->bytes);
	kfree_skb(skb);
}

/* A guest writes both the headers and what is said of segments. */
static void test_gso_that_lies(struct kunit *test)
{
	static const struct gso_case cases[] = {
		{ "", 2040, { IP4(9999, 6), TCP }, SKB_GSO_TCPV4, 1000, 2 },
		{ "", 2040, { IP4(19, 6), TCP }, SKB_GSO_TCPV4, 1000, 2 },
		{ "", 2060, { IP6(9999, 6), TCP }, SKB_GSO_TCPV6, 1000, 2 },
		{ "", 2060, { IP6(2020, DEST), 6, 255 }, SKB_GSO_TCPV6, 1000, 2 },
	};
	unsigned int i;
	u32 tag;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct gso_case *c = &cases[i];

		for (tag = 0; tag <= 4; tag += 4) {
			struct nf_dlcbf_packet packet;
			struct sk_buff *skb;

			if (tag && c->data[0] >> 4 != 4)
				continue;
			skb = make_gso(test, c, tag);
			read_at(&packet, skb, NFPROTO_NETDEV);
			KUNIT_EXPECT_LT(test, (u32)packet.depth, (u32)PORTS);
			KUNIT_EXPECT_EQ(test, packet.packets, 2U);
			/* What is there, and for the second packet at most its headers. */
			KUNIT_EXPECT_GE(test, packet.bytes, c->len);
			KUNIT_EXPECT_LE(test, packet.bytes, c->len + 120);
			kfree_skb(skb);
		}
	}
}

/* As reassembly leaves it: fragments in a list, each behind its own headers. */
static struct sk_buff *make_reassembled(struct kunit *test, bool ipv4, const u32 *payload,
					u32 fragments)
{
	const u8 head4[] = { IP4(3020, 17), UDP }, head6[] = { IP6(3000, 17), UDP };
	const u32 headers = ipv4 ? 20 : 48;
	struct sk_buff *skb, *fragment, **link;
	u8 *buffer = kunit_kzalloc(test, 40 + payload[0], GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, buffer);
	memcpy(buffer, ipv4 ? head4 : head6, ipv4 ? sizeof(head4) : sizeof(head6));
	i = (ipv4 ? 20 : 40) + payload[0];
	skb = make_skb(test, buffer, i, i, htons(ipv4 ? ETH_P_IP : ETH_P_IPV6));
	link = &skb_shinfo(skb)->frag_list;
	for (i = 1; i < fragments; i++) {
		fragment = alloc_skb(headers + payload[i], GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, fragment);
		skb_put_zero(fragment, headers + payload[i]);
		skb_reset_network_header(fragment);
		skb_pull(fragment, headers);
		skb->len += fragment->len;
		skb->data_len += fragment->len;
		*link = fragment;
		link = &fragment->next;
	}
	return skb;
}

static void test_reassembled(struct kunit *test)
{
	static const u32 payload[] = { 1480, 1480, 40 };
	struct nf_dlcbf_packet packet;
	struct sk_buff *skb;

	/* 1500 + 1500 + 60 */
	skb = make_reassembled(test, true, payload, 3);
	IPCB(skb)->frag_max_size = 1500;
	read_at(&packet, skb, NFPROTO_IPV4);
	KUNIT_EXPECT_EQ(test, (u32)packet.depth, (u32)PORTS);
	KUNIT_EXPECT_EQ(test, packet.packets, 3U);
	KUNIT_EXPECT_EQ(test, packet.bytes, 3060U);
	/* At ingress nothing was put together, and the field is not that. */
	read_at(&packet, skb, NFPROTO_NETDEV);
	KUNIT_EXPECT_EQ(test, packet.packets, 1U);
	KUNIT_EXPECT_EQ(test, packet.bytes, 3020U);
	/* A datagram that was sent as one has a list too. */
	IPCB(skb)->frag_max_size = 0;
	read_at(&packet, skb, NFPROTO_IPV4);
	KUNIT_EXPECT_EQ(test, packet.packets, 1U);
	KUNIT_EXPECT_EQ(test, packet.bytes, 3020U);
	kfree_skb(skb);

	/* 3 x (40 + 8) + 3000 */
	skb = make_reassembled(test, false, payload, 3);
	IP6CB(skb)->frag_max_size = 1500;
	read_at(&packet, skb, NFPROTO_IPV6);
	KUNIT_EXPECT_EQ(test, packet.packets, 3U);
	KUNIT_EXPECT_EQ(test, packet.bytes, 3144U);
	kfree_skb(skb);
}

static struct kunit_case packet_cases_list[] = {
	KUNIT_CASE_PARAM(test_packet, packet_gen_params),
	KUNIT_CASE_PARAM(test_cut_anywhere, packet_gen_params),
	KUNIT_CASE_PARAM(test_frame, frame_gen_params),
	KUNIT_CASE(test_metadata),
	KUNIT_CASE_PARAM(test_gso, gso_gen_params),
	KUNIT_CASE(test_gso_that_lies),
	KUNIT_CASE(test_reassembled),
	{}
};

static struct kunit_suite packet_suite = {
	.name = "nf_dlcbf_packet",
	.test_cases = packet_cases_list,
};

kunit_test_suite(packet_suite);

MODULE_DESCRIPTION("KUnit suite of nf_dlcbf's reading of packets");
MODULE_LICENSE("GPL");
