// SPDX-License-Identifier: GPL-2.0
/* Keys: text to structure to attributes and all the way back. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "../key.h"

/* A socket that only builds messages. */
static struct nl scratch;

static struct key_spec spec_of(const char *family, const char *fields)
{
	struct key_spec spec = { .table = "t", .keys = true };
	struct error e = { "" };

	CHECK(!parse_enum("family", family, family_names, &spec.family, &e));
	test_result(!parse_fields(fields, &spec, &e), __FILE__, __LINE__, "%s: %s",
		    fields, e.text);
	return spec;
}

static int parse(const struct key_spec *spec, bool filter, const char *text,
		 struct key *k, struct error *e)
{
	char line[1024], *words[64];
	struct args a = { .v = words };
	int ret;

	snprintf(line, sizeof(line), "%s", text);
	a.n = split_line(line, words, 64, e);
	if (a.n < 0)
		return a.n;
	ret = key_parse(spec, filter, &a, k, e);
	return ret ? ret : args_end(&a, e);
}

/* Through attributes, as if the kernel gave the key back. */
static bool carry(const struct key_spec *spec, const struct key *k,
		  struct key *back)
{
	const struct nlattr *tb[NF_DLCBF_A_FLOW_MAX + 1], *attr;
	u32 nest;

	nl_request(&scratch, NF_DLCBF_CMD_FLOW_ADD, 0);
	nest = nl_nest(&scratch, NF_DLCBF_A_FLOWS_FLOW);
	key_put(&scratch, k, false);
	nl_nest_end(&scratch, nest);
	if (scratch.overflow)
		return false;
	attr = (const struct nlattr *)(scratch.tx + nest);
	nl_parse_nested(attr, tb, NF_DLCBF_A_FLOW_MAX);
	return key_take(tb, spec, back);
}

static void good(const char *family, const char *fields, const char *text,
		 const char *want)
{
	struct key_spec spec = spec_of(family, fields);
	struct key k, again, back;
	char out[KEY_TEXT_MAX];
	struct error e = { "" };
	size_t n;

	if (strstr(text, "fingerprint"))
		spec.keys = false;
	if (parse(&spec, false, text, &k, &e)) {
		test_result(false, __FILE__, __LINE__, "%s: %s", text, e.text);
		return;
	}
	CHECK(key_is_full(&spec, &k));
	CHECK(carry(&spec, &k, &back));
	n = key_format(&spec, &back, out, sizeof(out));
	CHECK(n == strlen(out));
	CHECK_TEXT(out, want);
	/* What is printed says the same. */
	test_result(!parse(&spec, false, out, &again, &e), __FILE__, __LINE__,
		    "%s: %s", out, e.text);
	again.have &= ~(KEY_SPREFIX | KEY_DPREFIX);
	k.have &= ~(KEY_SPREFIX | KEY_DPREFIX);
	/* The family goes without saying where there are addresses. */
	if (k.have & (KEY_SADDR | KEY_DADDR))
		k.have &= ~KEY_FAMILY;
	CHECK(!memcmp(&again, &k, sizeof(k)));
}

static void bad(const char *family, const char *fields, bool filter,
		const char *text, const char *error)
{
	struct key_spec spec = spec_of(family, fields);
	struct error e = { "" };
	struct key k;

	if (parse(&spec, filter, text, &k, &e) == 0)
		test_result(false, __FILE__, __LINE__, "\"%s\" was taken", text);
	else
		CHECK_HAS(e.text, error);
}

static const char five[] = "saddr,daddr,sport,dport,proto";

static void test_good(void)
{
	good("ipv4", "saddr", "10.0.0.7", "10.0.0.7");
	good("ipv4", "saddr", "saddr 10.0.0.7", "10.0.0.7");
	good("ipv4", "saddr", "10.0.0.7/32", "10.0.0.7");
	good("ipv4", "daddr", "10.0.0.7", "10.0.0.7");
	good("ipv4", "saddr/24", "10.0.0.7", "10.0.0.0/24");
	good("ipv4", "saddr/24", "10.0.0.0/24", "10.0.0.0/24");
	good("ipv4", "saddr/20,sport", "10.0.255.7:80", "10.0.240.0/20:80");
	good("ipv4", "saddr/1", "255.0.0.1", "128.0.0.0/1");
	good("ipv6", "saddr/64,sport", "[2001:db8::5]:443",
	     "[2001:db8::/64]:443");
	good("inet", "saddr/24/64", "2001:db8::5", "2001:db8::/64");
	good("inet", "saddr/24/64", "10.1.2.3", "10.1.2.0/24");
	good("inet", five, "10.0.0.7:51234 203.0.113.9:443 proto tcp",
	     "10.0.0.7:51234 203.0.113.9:443 proto tcp");
	good("inet", five,
	     "proto 17 dport 53 saddr 10.0.0.7 daddr 10.0.0.1 sport 1024",
	     "10.0.0.7:1024 10.0.0.1:53 proto udp");
	good("inet", five, "[2001:db8::1]:443 [::1]:80 proto tcp",
	     "[2001:db8::1]:443 [::1]:80 proto tcp");
	good("inet", five, "2001:db8::1 ::1 sport 1 dport 2 proto sctp",
	     "[2001:db8::1]:1 [::1]:2 proto sctp");
	good("inet", five, "::ffff:10.0.0.1 ::1 sport 1 dport 2 proto tcp",
	     "[::ffff:10.0.0.1]:1 [::1]:2 proto tcp");
	good("inet", five, "10.0.0.7 10.0.0.1 proto icmp type 8 code 0 id 77",
	     "10.0.0.7 10.0.0.1 proto icmp type 8 code 0 id 77");
	good("inet", five, "::1 ::2 proto icmpv6 type 128 code 0 id 1",
	     "::1 ::2 proto icmpv6 type 128 code 0 id 1");
	good("inet", five, "10.0.0.7 10.0.0.1 proto esp spi 0x1000",
	     "10.0.0.7 10.0.0.1 proto esp spi 0x00001000");
	good("inet", five, "10.0.0.7 10.0.0.1 proto gre gre-key 7",
	     "10.0.0.7 10.0.0.1 proto gre gre-key 0x00000007");
	good("inet", five, "10.0.0.7 10.0.0.1 proto ospf",
	     "10.0.0.7 10.0.0.1 proto ospf");
	good("inet", five, "10.0.0.7 10.0.0.1 proto 253",
	     "10.0.0.7 10.0.0.1 proto 253");
	good("ipv4", "sport,dport", "sport 1 dport 2", "sport 1 dport 2");
	good("inet", "proto,dport", "family ipv6 dport 443 proto tcp",
	     "family ipv6 dport 443 proto tcp");
	good("inet", "saddr", "family ipv4 10.0.0.1", "10.0.0.1");
	good("ipv4", "daddr,dport", "10.0.0.1:443", "10.0.0.1:443");
	good("ipv4", "saddr,dport", "10.0.0.1 dport 443", "10.0.0.1 dport 443");
	good("ipv4", "iif,mark,vlan", "iif lo mark 0xff vlan 100",
	     "iif lo mark 0xff vlan 100");
	good("ipv4", "oif", "oif 4000000", "oif 4000000");
	good("ipv4", "iif", "iif 0", "iif 0");
	good("ipv4", "saddr,proto,dport", "10.0.0.1 proto esp dport 0",
	     "10.0.0.1 dport 0 proto esp");
	good("ipv4", "saddr,proto,dport", "10.0.0.1 proto icmp type 3 code 1",
	     "10.0.0.1 proto icmp type 3 code 1");
	good("ipv4", "saddr", "fingerprint 1a2b:3c4d", "fingerprint 1a2b:3c4d");
	good("ipv4", "saddr", "fingerprint FFFFFFFF:1",
	     "fingerprint ffffffff:1");
}

static void test_bad(void)
{
	bad("ipv4", "saddr", false, "", "no key");
	bad("ipv4", "saddr", false, "10.0.0.256", "not an address");
	bad("ipv4", "saddr", false, "10.0.0", "not an address");
	bad("ipv4", "saddr", false, "example.org", "not an address");
	bad("ipv4", "saddr", false, "nonsense", "not part of a key");
	bad("ipv4", "saddr", false, "10.0.0.1 nonsense", "what is \"nonsense\"");
	bad("ipv4", "saddr", false, "10.0.0.1:80", "sport is not in the key");
	bad("ipv4", "saddr", false, "10.0.0.1:x", "not a port");
	bad("ipv4", "saddr,sport", false, "10.0.0.1:65536", "not a port");
	bad("ipv4", "saddr,sport", false, "10.0.0.1:", "not a port");
	bad("ipv4", "saddr,sport", false, "10.0.0.1:80:81", "not an address");
	bad("ipv4", "saddr", false, "[10.0.0.1", "no ]");
	bad("ipv4", "saddr", false, "[10.0.0.1]x", "not an address");
	bad("ipv4", "saddr", false, "::1", "::1: table t is for ipv4, not for ipv6");
	bad("ipv6", "saddr", false, "10.0.0.1", "is for ipv6, not for ipv4");
	bad("inet", "saddr,daddr", false, "10.0.0.1 ::1", "in one key");
	bad("inet", "saddr,daddr", false, "10.0.0.1", "daddr is missing");
	bad("inet", "saddr,daddr", false, "10.0.0.1 10.0.0.2 10.0.0.3",
	    "two addresses already");
	bad("inet", "daddr", false, "10.0.0.1 10.0.0.2", "two addresses already");
	bad("ipv4", "saddr", false, "10.0.0.1 10.0.0.2",
	    "daddr is not in the key of table t");
	bad("ipv4", "saddr", false, "saddr 10.0.0.1 saddr 10.0.0.1", "twice");
	bad("ipv4", "saddr", false, "saddr", "needs a value");
	bad("ipv4", "saddr", false, "10.0.0.1 proto tcp",
	    "proto is not in the key");
	bad("ipv4", "saddr", false, "10.0.0.0/8", "has single addresses");
	bad("ipv4", "saddr/24", false, "10.0.0.0/8", "has single networks");
	bad("ipv4", "saddr/24", false, "10.0.0.1/32", "does not tell");
	bad("ipv4", "saddr", false, "10.0.0.1/33", "prefix length is 0 to 32");
	bad("ipv4", "saddr", false, "10.0.0.1/", "prefix length");
	bad("ipv6", "saddr", false, "::1/129", "prefix length is 0 to 128");
	bad("ipv6", "saddr", false, "fe80::1%lo", "not an address");
	bad("inet", five, false, "10.0.0.7:1 10.0.0.1:2", "proto is missing");
	bad("inet", five, false, "10.0.0.7 10.0.0.1:2 proto tcp",
	    "sport is missing");
	bad("inet", five, false, "10.0.0.7 10.0.0.1 proto icmp", "id is missing");
	bad("inet", five, false, "10.0.0.7 10.0.0.1 proto icmp id 1",
	    "type is missing");
	bad("inet", five, false, "10.0.0.7 10.0.0.1 proto icmp id 1 type 8",
	    "code is missing");
	bad("inet", five, false, "10.0.0.7 10.0.0.1 proto tcp id 1 type 8 code 0",
	    "cannot be given with proto tcp");
	bad("inet", five, false, "10.0.0.7:1 10.0.0.1:2 proto icmp",
	    "proto icmp has no ports");
	bad("inet", five, false, "10.0.0.7:1 10.0.0.1:2 proto esp",
	    "proto esp has no ports: give spi");
	bad("inet", five, false, "10.0.0.7 10.0.0.1 proto esp", "spi is missing");
	bad("inet", five, false, "10.0.0.7 10.0.0.1 proto gre",
	    "gre-key is missing");
	bad("inet", five, false, "10.0.0.7 10.0.0.1 proto gre spi 1",
	    "spi cannot be given with proto gre");
	bad("inet", five, false, "10.0.0.7:1 10.0.0.1 spi 1 proto esp",
	    "cannot be given with ports");
	bad("inet", five, false, "10.0.0.7 10.0.0.1 spi 1 spi 1 proto esp",
	    "twice");
	bad("inet", five, false, "10.0.0.7 10.0.0.1 spi 1 id 1 proto esp",
	    "cannot be given with");
	bad("inet", five, false, "10.0.0.7:1 10.0.0.1:2 proto nonsuch",
	    "not a protocol");
	bad("inet", five, false, "10.0.0.7:1 10.0.0.1:2 proto 256",
	    "more than 255");
	bad("inet", "dport", false, "dport 443", "family is missing");
	bad("inet", "dport", false, "dport 443 family inet", "ipv4 or ipv6");
	bad("ipv4", "dport", false, "dport 443 family ipv6", "is for ipv4");
	bad("ipv4", "dport", false, "dport 70000", "more than 65535");
	bad("ipv4", "vlan", false, "vlan 4096", "more than 4095");
	bad("ipv4", "iif", false, "iif nosuchdevice", "no device");
	bad("ipv4", "mark", false, "mark 0x100000000", "more than");
	bad("ipv4", "saddr", false, "fingerprint 1:2", "stores keys");
	/* A filter may be short, but not of anything. */
	bad("ipv4", "saddr/24", true, "10.0.0.0/25", "does not tell");
	bad("ipv4", "saddr", true, "proto tcp", "not in the key");
	bad("ipv4", "saddr", true, "", "no key");
}

static void test_fingerprint(void)
{
	static const char *const texts[] = {
		"1", "1:", ":1", "x:1", "1:x", "123456789:1", "1:123456789", "-1:1"
	};
	struct key_spec spec = spec_of("ipv4", "saddr");
	struct error e;
	struct key k;
	char text[64];
	size_t i;

	spec.keys = false;
	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		snprintf(text, sizeof(text), "fingerprint %s", texts[i]);
		CHECK(parse(&spec, false, text, &k, &e) < 0);
		CHECK_HAS(e.text, "BUCKET:REMAINDER");
	}
	CHECK(parse(&spec, false, "10.0.0.1 fingerprint 1:2", &k, &e) < 0);
	CHECK_HAS(e.text, "whole key");
}

static void test_filter(void)
{
	struct key_spec spec = spec_of("inet", five);
	char out[KEY_TEXT_MAX];
	struct error e;
	struct key k;

	CHECK(!parse(&spec, true, "10.1.2.3/8 proto tcp", &k, &e));
	CHECK(!key_is_full(&spec, &k));
	CHECK(k.sprefix == 8 && k.saddr[0] == 10 && k.saddr[1] == 0);
	CHECK(!parse(&spec, true, "dport 443", &k, &e));
	CHECK(!key_is_full(&spec, &k));
	CHECK(!parse(&spec, true, "daddr 10.0.0.1", &k, &e));
	key_format(&spec, &k, out, sizeof(out));
	CHECK_TEXT(out, "daddr 10.0.0.1");
	CHECK(!parse(&spec, true, "10.0.0.1:1 10.0.0.2:2 proto tcp", &k, &e));
	CHECK(key_is_full(&spec, &k));
	CHECK(!parse(&spec, true, "10.0.0.1:1 10.0.0.2/31 dport 2 proto tcp", &k,
		     &e));
	CHECK(!key_is_full(&spec, &k));
	CHECK(!parse(&spec, true, "0.0.0.0/0", &k, &e));
	CHECK(k.sprefix == 0 && (k.have & KEY_SADDR));
	CHECK(!parse(&spec, true, "family ipv6", &k, &e));
}

static void test_fields(void)
{
	static const struct { const char *family, *fields, *error; } wrong[] = {
		{ "ipv4", "", "not a field" }, { "ipv4", "saddr,", "not a field" },
		{ "ipv4", "address", "not a field" },
		{ "ipv4", "sadd", "not a field" },
		{ "ipv4", "saddr,saddr", "twice" },
		{ "ipv4", "saddr/0", "is 1 to 32" },
		{ "ipv4", "saddr/33", "is 1 to 32" },
		{ "ipv4", "saddr/", "is 1 to 32" },
		{ "ipv4", "saddr/1x", "is 1 to 32" },
		{ "ipv4", "saddr/24/64", "one prefix length" },
		{ "ipv6", "daddr/129", "is 1 to 128" },
		{ "inet", "saddr/24", "IPV4-PREFIX" },
		{ "inet", "saddr/24/", "1 to 128 for IPv6" },
		{ "inet", "saddr/24/64/1", "1 to 128 for IPv6" },
		{ "ipv4", "sport/8", "takes no prefix" },
	};
	struct key_spec spec;
	char buf[128];
	struct error e;
	size_t i;

	spec = spec_of("ipv4", "dport,saddr/24,daddr");
	format_fields(&spec, buf, sizeof(buf));
	CHECK_TEXT(buf, "saddr/24,daddr,dport");
	spec = spec_of("inet", "saddr/24/64,daddr/32/64,proto,iif,oif,mark,vlan");
	format_fields(&spec, buf, sizeof(buf));
	CHECK_TEXT(buf, "saddr/24/64,daddr/32/64,proto,iif,oif,mark,vlan");
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		memset(&spec, 0, sizeof(spec));
		parse_enum("", wrong[i].family, family_names, &spec.family, &e);
		CHECK(parse_fields(wrong[i].fields, &spec, &e) < 0);
		CHECK_HAS(e.text, wrong[i].error);
	}
}

static unsigned int any(unsigned int below)
{
	static unsigned int seed = 1;

	seed = seed * 1103515245 + 12345;
	return (seed >> 8) % below;
}

/* A key that was put together at random survives text and attributes. */
static void test_random(void)
{
	static const char *const families[] = { "ipv4", "ipv6", "inet" };
	static const char *const protos[] = {
		"tcp", "udp", "icmp", "esp", "gre", "ospf", "200"
	};
	int round;

	for (round = 0; round < 20000; round++) {
		char fields[128] = "", text[512] = "", v4[64], v6[64];
		const char *proto = protos[any(ARRAY_SIZE(protos))];
		struct key_spec spec = { .table = "t", .keys = true };
		bool six, addresses;
		struct key k, back, again;
		struct error e;
		unsigned int i;
		int n = 0;

		parse_enum("", families[any(3)], family_names, &spec.family,
			   &e);
		for (i = 0; field_names[i]; i++)
			if (any(2))
				n += sprintf(fields + n, "%s%s", n ? "," : "",
					     field_names[i]);
		if (!n)
			continue;
		parse_fields(fields, &spec, &e);
		spec.sprefix4 = 1 + any(32);
		spec.sprefix6 = 1 + any(128);
		six = spec.family == NF_DLCBF_FAMILY_IPV6 ||
		      (spec.family == NF_DLCBF_FAMILY_INET && any(2));
		addresses = spec.fields & (KEY_SADDR | KEY_DADDR);
		for (i = 0, n = 0; i < 2; i++) {
			if (!(spec.fields & (1U << i)))
				continue;
			sprintf(v4, "%u.%u.%u.%u", any(256), any(256),
				any(256), any(256));
			sprintf(v6, "%x:%x::%x:%x", any(65536), any(65536),
				any(65536), any(65536));
			n += sprintf(text + n, " %s %s", field_names[i],
				     six ? v6 : v4);
		}
		if (!addresses && spec.family == NF_DLCBF_FAMILY_INET)
			n += sprintf(text + n, " family %s", six ? "ipv6" : "ipv4");
		if (!(spec.fields & KEY_PROTO))
			proto = "tcp";
		else
			n += sprintf(text + n, " proto %s", proto);
		if (!strcmp(proto, "icmp")) {
			if (spec.fields & KEY_SPORT)
				n += sprintf(text + n, " id %u", any(65536));
			if (spec.fields & KEY_DPORT)
				n += sprintf(text + n, " type %u code %u",
					     any(256), any(256));
		} else if ((spec.fields & KEY_SPORT) && (spec.fields & KEY_DPORT) &&
			   (!strcmp(proto, "esp") || !strcmp(proto, "gre"))) {
			n += sprintf(text + n, " %s %u", *proto == 'e' ? "spi" :
				     "gre-key", any(1U << 31));
		} else {
			if (spec.fields & KEY_SPORT)
				n += sprintf(text + n, " sport %u", any(65536));
			if (spec.fields & KEY_DPORT)
				n += sprintf(text + n, " dport %u", any(65536));
		}
		for (i = 5; field_names[i]; i++)
			if (spec.fields & (1U << i))
				n += sprintf(text + n, " %s %u", field_names[i],
					     any(4096));
		if (parse(&spec, false, text, &k, &e)) {
			test_result(false, __FILE__, __LINE__, "%s: %s: %s",
				    fields, text, e.text);
			continue;
		}
		if (!carry(&spec, &k, &back))
			test_result(false, __FILE__, __LINE__, "%s", text);
		key_format(&spec, &back, text, sizeof(text));
		if (parse(&spec, false, text, &again, &e)) {
			test_result(false, __FILE__, __LINE__, "%s: %s", text,
				    e.text);
			continue;
		}
		again.have &= ~(KEY_SPREFIX | KEY_DPREFIX);
		if (memcmp(&again, &k, sizeof(k)))
			test_result(false, __FILE__, __LINE__, "%s differs", text);
	}
	CHECK(round == 20000);
}

/* No text, however strange, does more than be refused. */
static void test_garbage(void)
{
	static const char *const pieces[] = {
		"10.0.0.1", ":", "[", "]", "/", "saddr", "proto", "tcp", "::", "-1",
		"fingerprint", "\"", "'", "#", "0x", "%", "type", "8", "\xff",
		"99999999999999999999", "family", "ipv6", " ", " ", " ", "spi"
	};
	unsigned int seed = 7, i, round;

	for (round = 0; round < 20000; round++) {
		struct key_spec spec = { .table = "t",
					 .family = 1 + round % 3,
					 .fields = round & NF_DLCBF_FIELDS_ALL,
					 .sprefix4 = 32, .sprefix6 = 128,
					 .dprefix4 = 24, .dprefix6 = 64 };
		char text[512] = "";
		struct error e;
		struct key k;

		for (i = 0; i < 10; i++) {
			seed = seed * 1103515245 + 12345;
			strcat(text, pieces[(seed >> 16) % ARRAY_SIZE(pieces)]);
		}
		if (!parse(&spec, round & 1, text, &k, &e)) {
			key_format(&spec, &k, text, sizeof(text));
			if (parse(&spec, round & 1, text, &k, &e))
				test_result(false, __FILE__, __LINE__, "%s: %s",
					    text, e.text);
		}
	}
	CHECK(round == 20000);
}

void test_key(void)
{
	scratch.tx = malloc(NL_TX_SIZE);
	test_good();
	test_bad();
	test_fingerprint();
	test_filter();
	test_fields();
	test_random();
	test_garbage();
	free(scratch.tx);
}
