// SPDX-License-Identifier: GPL-2.0
/*
 * flood: sends UDP packets of many flows, which are the same every time.
 *
 * Flow i comes from the i-th address after a first one, or, with -a, from the
 * (i mod A)-th address and the (i / A)-th port.  So a test knows each key, can
 * put some of them in a table, and can ask the receiver (sink) for the others.
 */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sender.h"
#include "stream.h"

#define MAX_LEN	2048	/* of a frame */

struct options {
	const char *device;
	uint8_t to[ETH_ALEN];
	bool six;
	bool print;
	bool random;
	uint64_t flows;
	uint64_t first;
	uint64_t step;
	uint64_t packets;
	double seconds;
	uint64_t pps;
	uint64_t addresses;
	unsigned int len;
	unsigned int sport;
	unsigned int dport;
	const char *fields;
	struct in6_addr saddr;	/* IPv4 in the last word */
	struct in6_addr daddr;
};

struct packet {
	struct ether_header eth;
	union {
		struct {
			struct iphdr ip;
			struct udphdr udp;
			struct stream_mark mark;
		} __attribute__((packed)) four;
		struct {
			struct ip6_hdr ip;
			struct udphdr udp;
			struct stream_mark mark;
		} __attribute__((packed)) six;
	};
} __attribute__((packed));

static void usage(FILE *to)
{
	fprintf(to,
		"usage: flood [OPTION...]\n"
		"\n"
		"Sends UDP packets of many flows, each flow in its turn, and prints what was\n"
		"sent as JSON.\n"
		"\n"
		"  -i DEV   send out of DEV\n"
		"  -m MAC   to this hardware address (default: broadcast)\n"
		"  -6       IPv6 (default: IPv4)\n"
		"  -f N     number of flows (default 1)\n"
		"  -k N     number of the first flow (default 0)\n"
		"  -j N     take only every N-th flow (default 1)\n"
		"  -n N     packets (default: one of each flow; 0: no end)\n"
		"  -t SEC   stop after so many seconds\n"
		"  -r PPS   packets a second (default: as many as possible)\n"
		"  -l LEN   length of each IP packet (default: the shortest)\n"
		"  -S ADDR  source address of flow 0 (default 10.16.0.0, fd00:16::)\n"
		"  -D ADDR  destination address (default 198.18.0.1, fd00:18::1)\n"
		"  -p PORT  source port of flow 0 (default 1024)\n"
		"  -d PORT  destination port (default 9)\n"
		"  -a N     use N source addresses, and a port more after each round\n"
		"  -R       send the flows in random order\n"
		"  -P       print the flows' keys, one a line, and send nothing\n"
		"  -F LIST  what of a key -P prints (default saddr,daddr,sport,dport,proto)\n");
}

static struct in6_addr parse_address(const char *text, bool six)
{
	struct in6_addr address = {};

	if (inet_pton(six ? AF_INET6 : AF_INET, text,
		      six ? (void *)&address : (void *)&address.s6_addr32[3]) != 1)
		die("not an IPv%d address: %s", six ? 6 : 4, text);
	return address;
}

static uint32_t sum16(const void *data, unsigned int len, uint32_t sum)
{
	const uint8_t *byte = data;
	unsigned int i;

	for (i = 0; i + 1 < len; i += 2)
		sum += (uint32_t)byte[i] << 8 | byte[i + 1];
	if (len & 1)
		sum += (uint32_t)byte[len - 1] << 8;
	return sum;
}

static uint16_t fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons((uint16_t)~sum);
}

static uint32_t flow_address(const struct options *o, uint64_t flow)
{
	return ntohl(o->saddr.s6_addr32[3]) + (uint32_t)(flow % o->addresses);
}

static uint16_t flow_port(const struct options *o, uint64_t flow)
{
	return (uint16_t)(o->sport + flow / o->addresses);
}

/* All of a packet that is the same for each flow. */
static void make_template(const struct options *o, const uint8_t from[ETH_ALEN],
			  struct packet *packet)
{
	memcpy(packet->eth.ether_dhost, o->to, ETH_ALEN);
	memcpy(packet->eth.ether_shost, from, ETH_ALEN);
	if (o->six) {
		packet->eth.ether_type = htons(ETHERTYPE_IPV6);
		packet->six.ip.ip6_flow = htonl(6u << 28);
		packet->six.ip.ip6_plen = htons((uint16_t)(o->len - sizeof(packet->six.ip)));
		packet->six.ip.ip6_nxt = IPPROTO_UDP;
		packet->six.ip.ip6_hlim = 64;
		packet->six.ip.ip6_src = o->saddr;
		packet->six.ip.ip6_dst = o->daddr;
		packet->six.udp.uh_dport = htons((uint16_t)o->dport);
		packet->six.udp.uh_ulen = packet->six.ip.ip6_plen;
		packet->six.mark.magic = htonl(STREAM_MAGIC);
	} else {
		packet->eth.ether_type = htons(ETHERTYPE_IP);
		packet->four.ip.version = 4;
		packet->four.ip.ihl = 5;
		packet->four.ip.tot_len = htons((uint16_t)o->len);
		packet->four.ip.frag_off = htons(IP_DF);
		packet->four.ip.ttl = 64;
		packet->four.ip.protocol = IPPROTO_UDP;
		packet->four.ip.daddr = o->daddr.s6_addr32[3];
		packet->four.udp.uh_dport = htons((uint16_t)o->dport);
		packet->four.udp.uh_ulen = htons((uint16_t)(o->len - sizeof(packet->four.ip)));
		packet->four.mark.magic = htonl(STREAM_MAGIC);
	}
}

static void set_flow(const struct options *o, uint64_t flow, struct packet *packet)
{
	uint32_t address = htonl(flow_address(o, flow));
	uint16_t port = htons(flow_port(o, flow));

	if (o->six) {
		uint32_t sum;

		packet->six.ip.ip6_src.s6_addr32[3] = address;
		packet->six.udp.uh_sport = port;
		packet->six.mark.flow = htonl((uint32_t)flow);
		/* IPv6 allows no UDP without a checksum; the rest is zeros. */
		packet->six.udp.uh_sum = 0;
		sum = sum16(&packet->six.ip.ip6_src, 32, 0);
		sum = sum16(&packet->six.udp, sizeof(packet->six.udp) +
			    sizeof(packet->six.mark), sum);
		packet->six.udp.uh_sum = fold(sum + IPPROTO_UDP +
					      ntohs(packet->six.udp.uh_ulen));
		if (!packet->six.udp.uh_sum)
			packet->six.udp.uh_sum = 0xffff;
	} else {
		packet->four.ip.saddr = address;
		packet->four.udp.uh_sport = port;
		packet->four.mark.flow = htonl((uint32_t)flow);
		packet->four.ip.check = 0;
		packet->four.ip.check = fold(sum16(&packet->four.ip, sizeof(packet->four.ip), 0));
	}
}

static void print_flow(const struct options *o, uint64_t flow)
{
	char saddr[INET6_ADDRSTRLEN], daddr[INET6_ADDRSTRLEN];
	bool sport = strstr(o->fields, "sport"), dport = strstr(o->fields, "dport");
	struct in6_addr address = o->saddr;
	const char *gap = "";

	address.s6_addr32[3] = htonl(flow_address(o, flow));
	inet_ntop(o->six ? AF_INET6 : AF_INET,
		  o->six ? (void *)&address : (void *)&address.s6_addr32[3], saddr, sizeof(saddr));
	inet_ntop(o->six ? AF_INET6 : AF_INET,
		  o->six ? (const void *)&o->daddr : (const void *)&o->daddr.s6_addr32[3],
		  daddr, sizeof(daddr));
	if (strstr(o->fields, "saddr")) {
		if (sport)
			printf(o->six ? "[%s]:%u" : "%s:%u", saddr, flow_port(o, flow));
		else
			printf("%s", saddr);
		gap = " ";
	}
	if (strstr(o->fields, "daddr")) {
		if (dport)
			printf(o->six ? "%s[%s]:%u" : "%s%s:%u", gap, daddr, o->dport);
		else
			printf("%s%s", gap, daddr);
		gap = " ";
	}
	if (strstr(o->fields, "proto"))
		printf("%sproto udp", gap);
	putchar('\n');
}

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static void send_all(const struct options *o)
{
	static union {
		struct packet packet;
		uint8_t room[MAX_LEN];
	} slot[SENDER_BATCH];
	uint64_t sent, turn = 0, seed = 1, until = 0, begin;
	unsigned int len = o->len + ETH_HLEN, i;
	struct sender sender;

	sender_open(&sender, o->device, o->pps);
	if (o->len > sender.mtu)
		die("%u bytes are more than the MTU of %s", o->len, o->device);
	for (i = 0; i < SENDER_BATCH; i++)
		make_template(o, sender.mac, &slot[i].packet);

	begin = now_ns();
	if (o->seconds > 0)
		until = begin + (uint64_t)(o->seconds * 1e9);
	for (sent = 0; !o->packets || sent < o->packets; sent++) {
		uint64_t flow = o->random ? next_random(&seed) % o->flows : turn;
		struct packet *packet = &slot[sender.queued].packet;

		if (++turn == o->flows)
			turn = 0;
		set_flow(o, o->first + flow * o->step, packet);
		sender_put(&sender, packet, len);
		/* The clock costs more than a packet: look at it now and then. */
		if (until && !sender.queued && now_ns() >= until)
			break;
	}
	sender_flush(&sender);
	printf("{\"sent\":%" PRIu64 ",\"sent_bytes\":%" PRIu64 ",\"refused\":%" PRIu64
	       ",\"dropped\":%" PRIu64 ",\"seconds\":%.3f}\n", sender.sent,
	       sender.bytes - sender.sent * ETH_HLEN, sender.refused, sender_dropped(&sender),
	       (double)(now_ns() - begin) / 1e9);
	if (sender.refused)
		exit(1);
}

int main(int argc, char **argv)
{
	const char *saddr = NULL, *daddr = NULL;
	struct options o = {
		.flows = 1, .step = 1, .sport = 1024, .dport = 9,
		.fields = "saddr,daddr,sport,dport,proto",
	};
	bool have_packets = false;
	unsigned int shortest;
	uint64_t i;
	int c;

	memset(o.to, 0xff, ETH_ALEN);
	while ((c = getopt(argc, argv, "i:m:6f:k:j:n:t:r:l:S:D:p:d:a:RPF:h")) != -1) {
		switch (c) {
		case 'i':
			o.device = optarg;
			break;
		case 'm':
			parse_mac(optarg, o.to);
			break;
		case '6':
			o.six = true;
			break;
		case 'f':
			o.flows = parse_number(optarg, "-f", UINT32_MAX);
			break;
		case 'k':
			o.first = parse_number(optarg, "-k", UINT32_MAX);
			break;
		case 'j':
			o.step = parse_number(optarg, "-j", UINT32_MAX);
			break;
		case 'n':
			o.packets = parse_number(optarg, "-n", UINT64_MAX);
			have_packets = true;
			break;
		case 't':
			o.seconds = atof(optarg);
			break;
		case 'r':
			o.pps = parse_number(optarg, "-r", 1000000000);
			break;
		case 'l':
			o.len = (unsigned int)parse_number(optarg, "-l", MAX_LEN - ETH_HLEN);
			break;
		case 'S':
			saddr = optarg;
			break;
		case 'D':
			daddr = optarg;
			break;
		case 'p':
			o.sport = (unsigned int)parse_number(optarg, "-p", 65535);
			break;
		case 'd':
			o.dport = (unsigned int)parse_number(optarg, "-d", 65535);
			break;
		case 'a':
			o.addresses = parse_number(optarg, "-a", UINT32_MAX);
			break;
		case 'R':
			o.random = true;
			break;
		case 'P':
			o.print = true;
			break;
		case 'F':
			o.fields = optarg;
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return 2;
		}
	}
	if (optind != argc || !o.flows || !o.step || (!o.device && !o.print)) {
		usage(stderr);
		return 2;
	}
	if (!o.addresses)
		o.addresses = o.first + o.flows * o.step;
	o.saddr = parse_address(saddr ? saddr : o.six ? "fd00:16::" : "10.16.0.0", o.six);
	o.daddr = parse_address(daddr ? daddr : o.six ? "fd00:18::1" : "198.18.0.1", o.six);
	shortest = o.six ? sizeof(((struct packet *)0)->six) : sizeof(((struct packet *)0)->four);
	if (!o.len)
		o.len = shortest;
	if (o.len < shortest)
		die("the shortest packet has %u bytes", shortest);

	if (o.print) {
		for (i = 0; i < o.flows; i++)
			print_flow(&o, o.first + i * o.step);
		return 0;
	}
	if (!have_packets)
		o.packets = o.seconds > 0 ? 0 : o.flows;
	send_all(&o);
	return 0;
}
