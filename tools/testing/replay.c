// SPDX-License-Identifier: GPL-2.0
/*
 * replay: sends the packets of a capture out of a device.
 *
 * Whatever link the capture was taken from, its IP packets get an Ethernet
 * header of their own, addressed to a given machine, so that the kernel there
 * takes them as its own to forward.  Nothing else in them is changed.  What
 * cannot be sent as it was on the wire is left out, and counted by reason.
 */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sender.h"

/* Why a frame of a capture was not sent. */
enum reason {
	SENT,
	NOT_IP,		/* and -e or -x were not given */
	CUT,		/* by the capture's snap length, and -c was not given */
	TOO_LONG,	/* for the device's MTU */
	REASONS
};

static const char *const reason_name[REASONS] = {
	[SENT] = "sent",
	[NOT_IP] = "not_ip",
	[CUT] = "cut",
	[TOO_LONG] = "too_long",
};

struct options {
	const char *device;
	uint8_t to[ETH_ALEN];
	uint8_t from[ETH_ALEN];
	bool have_to;
	bool have_from;
	bool keep;		/* -e: Ethernet frames as they are */
	bool cut;		/* -c: cut frames too */
	bool verbose;
	bool local;		/* -o: as this machine's own */
	int other;		/* -x: ethertype for all that is not IP, or -1 */
	uint64_t pps;
	uint64_t loops;
};

struct frame {
	size_t at;		/* in the arena */
	unsigned int len;
};

/* All frames to send, one after the other, so that sending touches no file. */
static struct {
	uint8_t *arena;
	size_t used, room;
	struct frame *frame;
	size_t frames, frame_room;
} load;

static uint64_t count[REASONS];
static uint64_t l3_bytes;

static void usage(FILE *to)
{
	fprintf(to,
		"usage: replay [OPTION...] FILE...\n"
		"\n"
		"Sends the IP packets of captures out of a device and prints what was sent as\n"
		"JSON. Frames that are not IP, that the capture's snap length cut, or that are\n"
		"longer than the device's MTU are left out and counted.\n"
		"\n"
		"  -i DEV   send out of DEV (without: only say what would be sent)\n"
		"  -o       send IP packets as this machine's own, by raw sockets; what those do\n"
		"           not take is counted as refused\n"
		"  -m MAC   to this hardware address (default: broadcast)\n"
		"  -s MAC   from this hardware address (default: that of DEV)\n"
		"  -r PPS   frames a second (default: as many as possible)\n"
		"  -n N     go through all files N times (default 1)\n"
		"  -e       keep Ethernet frames of any type as they are, VLAN tags too, but\n"
		"           for the addresses given by -m and -s\n"
		"  -c       send frames that were cut, too\n"
		"  -x TYPE  send the bytes of frames in which no IP packet is found after an\n"
		"           Ethernet header of this type (a number, ip or ip6)\n"
		"  -v       name each frame that is left out\n");
}

static unsigned int be16(const uint8_t *at)
{
	return (unsigned int)at[0] << 8 | at[1];
}

static uint16_t type_of_ip(const uint8_t *data, unsigned int len)
{
	if (!len)
		return 0;
	switch (data[0] >> 4) {
	case 4:
		return ETHERTYPE_IP;
	case 6:
		return ETHERTYPE_IPV6;
	}
	return 0;
}

static uint16_t type_of_ppp(unsigned int protocol)
{
	switch (protocol) {
	case 0x0021:
		return ETHERTYPE_IP;
	case 0x0057:
		return ETHERTYPE_IPV6;
	}
	return 0;
}

static bool is_ip(uint16_t type)
{
	return type == ETHERTYPE_IP || type == ETHERTYPE_IPV6;
}

/* LLC and SNAP; @at moves past them. */
static uint16_t type_of_llc(const uint8_t *data, unsigned int len, unsigned int *at)
{
	static const uint8_t snap[6] = { 0xaa, 0xaa, 0x03, 0, 0, 0 };
	uint16_t type;

	if (*at + 8 > len || memcmp(data + *at, snap, sizeof(snap)))
		return 0;
	type = (uint16_t)be16(data + *at + 6);
	*at += 8;
	return type;
}

/* From an ethertype to IP, through VLAN tags and PPPoE; @at moves along. */
static uint16_t type_inside(uint16_t type, const uint8_t *data, unsigned int len, unsigned int *at)
{
	for (;;) {
		switch (type) {
		case ETHERTYPE_VLAN:
		case 0x88a8:
		case 0x9100:
			if (*at + 4 > len)
				return 0;
			type = (uint16_t)be16(data + *at + 2);
			*at += 4;
			continue;
		case 0x8864:	/* PPPoE: version, code, session, length, protocol */
			if (*at + 8 > len || data[*at + 1])
				return 0;
			type = type_of_ppp(be16(data + *at + 6));
			*at += 8;
			return type;
		}
		/* A length in place of a type: 802.3. */
		if (type < 1536)
			return type_of_llc(data, len, at);
		return type;
	}
}

/*
 * The type of the packet in a frame and, in @at, where it begins.  0: there is
 * none, or it is of a kind that is not looked for.
 */
static uint16_t find_packet(int link, const uint8_t *data, unsigned int len, unsigned int *at)
{
	uint16_t type;

	*at = 0;
	switch (link) {
	case DLT_EN10MB:
		if (len < ETH_HLEN)
			return 0;
		*at = ETH_HLEN;
		return type_inside((uint16_t)be16(data + 12), data, len, at);
	case DLT_LINUX_SLL:
		if (len < 16)
			return 0;
		*at = 16;
		return type_inside((uint16_t)be16(data + 14), data, len, at);
	case DLT_LINUX_SLL2:
		if (len < 20)
			return 0;
		*at = 20;
		return type_inside((uint16_t)be16(data), data, len, at);
	case DLT_RAW:
	case DLT_IPV4:
	case DLT_IPV6:
		return type_of_ip(data, len);
	case DLT_NULL:
	case DLT_LOOP:
		/* An address family, whose number depends on the system. */
		if (len < 5)
			return 0;
		*at = 4;
		return type_of_ip(data + 4, len - 4);
	case DLT_PPP:
	case DLT_PPP_SERIAL:
	case DLT_PPP_ETHER:
		if (link == DLT_PPP_ETHER) {
			if (len < 6 || data[1])
				return 0;
			*at = 6;
		} else if (len >= 2 && data[0] == 0xff && data[1] == 0x03) {
			*at = 2;
		}
		/* A protocol below 256 may be sent in one byte, which is odd. */
		if (*at + 1 <= len && (data[*at] & 1)) {
			type = type_of_ppp(data[*at]);
			*at += 1;
			return type;
		}
		if (*at + 2 > len)
			return 0;
		type = type_of_ppp(be16(data + *at));
		*at += 2;
		return type;
	case DLT_C_HDLC:
		if (len < 4)
			return 0;
		*at = 4;
		return (uint16_t)be16(data + 2);
	case DLT_IEEE802:
		if (len < 22)
			return 0;
		*at = 14;
		return type_of_llc(data, len, at);
	case DLT_FDDI:
		*at = 13;
		return type_of_llc(data, len, at);
	case DLT_ATM_RFC1483:
		return type_of_llc(data, len, at);
	}
	return 0;
}

static void *grow(void *old, size_t *room, size_t want, size_t size)
{
	if (want <= *room)
		return old;
	while (*room < want)
		*room = *room ? *room * 2 : 4096;
	old = realloc(old, *room * size);
	if (!old)
		die("out of memory");
	return old;
}

/* Append a frame: @header of an Ethernet frame, then @data. */
static void append(const struct ether_header *header, const uint8_t *data, unsigned int len)
{
	struct frame *frame;

	load.arena = grow(load.arena, &load.room, load.used + sizeof(*header) + len, 1);
	load.frame = grow(load.frame, &load.frame_room, load.frames + 1, sizeof(*load.frame));
	frame = &load.frame[load.frames++];
	frame->at = load.used;
	frame->len = (unsigned int)sizeof(*header) + len;
	memcpy(load.arena + load.used, header, sizeof(*header));
	if (len)
		memcpy(load.arena + load.used + sizeof(*header), data, len);
	load.used += frame->len;
	l3_bytes += len;
}

static enum reason take(const struct options *o, unsigned int mtu, int link,
			const struct pcap_pkthdr *info, const uint8_t *data)
{
	struct ether_header header;
	unsigned int at, len;
	uint16_t type;

	if (info->caplen < info->len && !o->cut)
		return CUT;
	memcpy(header.ether_dhost, o->to, ETH_ALEN);
	memcpy(header.ether_shost, o->from, ETH_ALEN);

	if (o->keep && link == DLT_EN10MB && info->caplen >= ETH_HLEN) {
		const struct ether_header *old = (const void *)data;

		if (!o->have_to)
			memcpy(header.ether_dhost, old->ether_dhost, ETH_ALEN);
		header.ether_type = old->ether_type;
		/* A VLAN tag does not count for the MTU. */
		at = old->ether_type == htons(ETHERTYPE_VLAN) ? ETH_HLEN + 4 : ETH_HLEN;
		if (info->caplen > at && info->caplen - at > mtu)
			return TOO_LONG;
		append(&header, data + ETH_HLEN, info->caplen - ETH_HLEN);
		return SENT;
	}

	type = find_packet(link, data, info->caplen, &at);
	if (!is_ip(type)) {
		if (o->other < 0)
			return NOT_IP;
		type = (uint16_t)o->other;
		at = link == DLT_EN10MB && info->caplen >= ETH_HLEN ? ETH_HLEN : 0;
	}
	len = info->caplen > at ? info->caplen - at : 0;
	if (len > mtu)
		return TOO_LONG;
	header.ether_type = htons(type);
	append(&header, data + at, len);
	return SENT;
}

static void read_capture(const struct options *o, unsigned int mtu, const char *name)
{
	char error[PCAP_ERRBUF_SIZE];
	struct pcap_pkthdr *info;
	const uint8_t *data;
	uint64_t number = 0;
	pcap_t *capture;
	int link, got;

	capture = pcap_open_offline(name, error);
	if (!capture)
		die("%s: %s", name, error);
	link = pcap_datalink(capture);
	while ((got = pcap_next_ex(capture, &info, &data)) == 1) {
		enum reason reason = take(o, mtu, link, info, data);

		number++;
		count[reason]++;
		if (reason != SENT && o->verbose)
			fprintf(stderr, "%s: frame %" PRIu64 ": %s\n", name, number,
				reason_name[reason]);
	}
	/* A capture that breaks off is sent as far as it goes. */
	if (got == PCAP_ERROR)
		fprintf(stderr, "replay: %s: after frame %" PRIu64 ": %s\n", name, number,
			pcap_geterr(capture));
	pcap_close(capture);
}

/* Sends every packet as if a program of this machine had made it. */
static void send_local(struct sender *sender)
{
	int ip4 = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
	int ip6 = socket(AF_INET6, SOCK_RAW, IPPROTO_RAW);
	int one = 1;
	size_t i;

	if (ip4 < 0 || ip6 < 0 || setsockopt(ip4, SOL_SOCKET, SO_BROADCAST, &one, sizeof(one)))
		die("raw socket: %s", strerror(errno));
	for (i = 0; i < load.frames; i++) {
		const uint8_t *frame = load.arena + load.frame[i].at;
		const struct ether_header *header = (const void *)frame;
		unsigned int len = load.frame[i].len - ETH_HLEN;
		struct sockaddr_in6 to6 = { .sin6_family = AF_INET6 };
		struct sockaddr_in to4 = { .sin_family = AF_INET };
		ssize_t sent = -1;

		frame += ETH_HLEN;
		if (header->ether_type == htons(ETHERTYPE_IP) && len >= 20) {
			memcpy(&to4.sin_addr, frame + 16, 4);
			sent = sendto(ip4, frame, len, MSG_DONTWAIT, (void *)&to4, sizeof(to4));
		} else if (header->ether_type == htons(ETHERTYPE_IPV6) && len >= 40) {
			memcpy(&to6.sin6_addr, frame + 24, 16);
			sent = sendto(ip6, frame, len, MSG_DONTWAIT, (void *)&to6, sizeof(to6));
		}
		if (sent < 0) {
			sender->refused++;
		} else {
			sender->sent++;
			sender->bytes += load.frame[i].len;
		}
	}
	close(ip4);
	close(ip6);
}

int main(int argc, char **argv)
{
	struct options o = { .other = -1, .loops = 1 };
	struct sender sender = { .mtu = 65535 };
	uint64_t loop, elapsed;
	size_t i;
	int c;

	memset(o.to, 0xff, ETH_ALEN);
	while ((c = getopt(argc, argv, "i:m:s:r:n:ecx:ovh")) != -1) {
		switch (c) {
		case 'i':
			o.device = optarg;
			break;
		case 'm':
			parse_mac(optarg, o.to);
			o.have_to = true;
			break;
		case 's':
			parse_mac(optarg, o.from);
			o.have_from = true;
			break;
		case 'r':
			o.pps = parse_number(optarg, "-r", 1000000000);
			break;
		case 'n':
			o.loops = parse_number(optarg, "-n", UINT32_MAX);
			break;
		case 'e':
			o.keep = true;
			break;
		case 'c':
			o.cut = true;
			break;
		case 'x':
			if (!strcmp(optarg, "ip"))
				o.other = ETHERTYPE_IP;
			else if (!strcmp(optarg, "ip6"))
				o.other = ETHERTYPE_IPV6;
			else
				o.other = (int)parse_number(optarg, "-x", 0xffff);
			break;
		case 'o':
			o.local = true;
			break;
		case 'v':
			o.verbose = true;
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return 2;
		}
	}
	if (optind == argc || (o.device && o.local)) {
		usage(stderr);
		return 2;
	}

	if (o.device) {
		sender_open(&sender, o.device, o.pps);
		if (!o.have_from)
			memcpy(o.from, sender.mac, ETH_ALEN);
	}
	for (; optind < argc; optind++)
		read_capture(&o, sender.mtu, argv[optind]);

	elapsed = now_ns();
	if (o.device) {
		for (loop = 0; loop < o.loops; loop++)
			for (i = 0; i < load.frames; i++)
				sender_put(&sender, load.arena + load.frame[i].at,
					   load.frame[i].len);
		sender_flush(&sender);
	} else if (o.local) {
		for (loop = 0; loop < o.loops; loop++)
			send_local(&sender);
	}
	elapsed = now_ns() - elapsed;

	printf("{\"frames\":%" PRIu64 ",\"taken\":%" PRIu64 ",\"taken_bytes\":%" PRIu64,
	       count[SENT] + count[NOT_IP] + count[CUT] + count[TOO_LONG], count[SENT], l3_bytes);
	for (c = NOT_IP; c < REASONS; c++)
		printf(",\"%s\":%" PRIu64, reason_name[c], count[c]);
	if (o.device || o.local)
		printf(",\"sent\":%" PRIu64 ",\"sent_bytes\":%" PRIu64 ",\"refused\":%" PRIu64
		       ",\"dropped\":%" PRIu64 ",\"seconds\":%.3f", sender.sent,
		       sender.bytes - sender.sent * ETH_HLEN, sender.refused,
		       o.device ? sender_dropped(&sender) : 0, (double)elapsed / 1e9);
	printf("}\n");
	return sender.refused && !o.local ? 1 : 0;
}
