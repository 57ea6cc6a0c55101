// SPDX-License-Identifier: GPL-2.0
/*
 * sink: counts what arrives at a device, by flow for the packets of flood.
 *
 * It sees frames as the device gets them, before any filter of the machine that
 * it runs on.
 */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sender.h"
#include "stream.h"

#define BLOCK_SIZE	(1u << 20)
#define BLOCKS		64u

static uint64_t frames, packets, bytes, outgoing;
static uint32_t *seen;
static uint32_t flows_room;
static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	(void)signal;
	stopped = 1;
}

static void usage(FILE *to)
{
	fprintf(to,
		"usage: sink -i DEV [OPTION...]\n"
		"\n"
		"Counts the frames that DEV receives, and the packets of flood by flow. Ends\n"
		"after it got as many as expected, when none came for some time, or on SIGINT\n"
		"or SIGTERM, and prints what it saw as JSON.\n"
		"\n"
		"  -n N     end after N packets of flood\n"
		"  -t SEC   end when none came for this long after the first (default: never)\n"
		"  -w SEC   end when none came at all for this long (default: never)\n"
		"  -o FILE  write one line for each flow that was seen: number, packets\n"
		"  -r FILE  create FILE when ready to count\n");
}

static void count_flow(const struct stream_mark *mark)
{
	uint32_t flow = ntohl(mark->flow);

	if (flow >= flows_room) {
		uint32_t room = flows_room ? flows_room : 65536;

		/* Numbers are dense from 0: a wild one is not of flood. */
		if (flow >= 1u << 26)
			return;
		while (room <= flow)
			room *= 2;
		seen = realloc(seen, (size_t)room * sizeof(*seen));
		if (!seen)
			die("out of memory");
		memset(seen + flows_room, 0, (size_t)(room - flows_room) * sizeof(*seen));
		flows_room = room;
	}
	seen[flow]++;
	packets++;
}

static void count_frame(const uint8_t *l3, unsigned int len, uint16_t type)
{
	struct stream_mark mark;
	unsigned int at;

	frames++;
	bytes += len;
	if (type == ETHERTYPE_IP && len >= sizeof(struct iphdr) && l3[9] == IPPROTO_UDP)
		at = (l3[0] & 15u) * 4 + 8;
	else if (type == ETHERTYPE_IPV6 && len >= sizeof(struct ip6_hdr) && l3[6] == IPPROTO_UDP)
		at = sizeof(struct ip6_hdr) + 8;
	else
		return;
	if (at + sizeof(mark) > len)
		return;
	memcpy(&mark, l3 + at, sizeof(mark));
	if (mark.magic == htonl(STREAM_MAGIC))
		count_flow(&mark);
}

static void count_block(const struct tpacket_block_desc *block)
{
	const struct tpacket3_hdr *header = (const void *)((const uint8_t *)block +
						block->hdr.bh1.offset_to_first_pkt);
	uint32_t i;

	for (i = 0; i < block->hdr.bh1.num_pkts; i++) {
		const struct sockaddr_ll *from = (const void *)((const uint8_t *)header +
						TPACKET_ALIGN(sizeof(*header)));

		if (from->sll_pkttype == PACKET_OUTGOING)
			outgoing++;
		else
			count_frame((const uint8_t *)header + header->tp_net,
				    header->tp_snaplen - (header->tp_net - header->tp_mac),
				    ntohs(from->sll_protocol));
		header = (const void *)((const uint8_t *)header + header->tp_next_offset);
	}
}

int main(int argc, char **argv)
{
	struct tpacket_req3 ring = {
		.tp_block_size = BLOCK_SIZE,
		.tp_block_nr = BLOCKS,
		.tp_frame_size = 2048,
		.tp_frame_nr = BLOCK_SIZE / 2048 * BLOCKS,
		.tp_retire_blk_tov = 20,
	};
	struct sockaddr_ll address = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
	};
	const char *device = NULL, *output = NULL, *ready = NULL;
	uint64_t expect = 0, idle = 0, wait = 0, last = 0, begin;
	struct tpacket_stats_v3 stats;
	socklen_t size = sizeof(stats);
	int version = TPACKET_V3, c;
	uint64_t distinct = 0;
	unsigned int next = 0;
	struct pollfd poller;
	uint8_t *map;
	uint32_t i;

	while ((c = getopt(argc, argv, "i:n:t:w:o:r:h")) != -1) {
		switch (c) {
		case 'i':
			device = optarg;
			break;
		case 'n':
			expect = parse_number(optarg, "-n", UINT64_MAX);
			break;
		case 't':
			idle = (uint64_t)(atof(optarg) * 1e9);
			break;
		case 'w':
			wait = (uint64_t)(atof(optarg) * 1e9);
			break;
		case 'o':
			output = optarg;
			break;
		case 'r':
			ready = optarg;
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return 2;
		}
	}
	if (!device || optind != argc) {
		usage(stderr);
		return 2;
	}
	signal(SIGINT, stop);
	signal(SIGTERM, stop);

	poller.fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	poller.events = POLLIN;
	if (poller.fd < 0)
		die("packet socket: %s", strerror(errno));
	if (setsockopt(poller.fd, SOL_PACKET, PACKET_VERSION, &version, sizeof(version)) ||
	    setsockopt(poller.fd, SOL_PACKET, PACKET_RX_RING, &ring, sizeof(ring)))
		die("packet ring: %s", strerror(errno));
	map = mmap(NULL, (size_t)BLOCK_SIZE * BLOCKS, PROT_READ | PROT_WRITE, MAP_SHARED,
		   poller.fd, 0);
	if (map == MAP_FAILED)
		die("packet ring: %s", strerror(errno));
	address.sll_ifindex = (int)if_nametoindex(device);
	if (!address.sll_ifindex || bind(poller.fd, (struct sockaddr *)&address, sizeof(address)))
		die("%s: %s", device, strerror(errno));
	if (ready) {
		FILE *file = fopen(ready, "we");

		if (!file || fclose(file))
			die("%s: %s", ready, strerror(errno));
	}

	begin = now_ns();
	while (!stopped && (!expect || packets < expect)) {
		struct tpacket_block_desc *block =
			(void *)(map + (size_t)next * BLOCK_SIZE);
		uint64_t now;

		if (__atomic_load_n(&block->hdr.bh1.block_status, __ATOMIC_ACQUIRE) &
		    TP_STATUS_USER) {
			count_block(block);
			__atomic_store_n(&block->hdr.bh1.block_status, TP_STATUS_KERNEL,
					 __ATOMIC_RELEASE);
			next = (next + 1) % BLOCKS;
			last = now_ns();
			continue;
		}
		now = now_ns();
		if (last ? idle && now - last >= idle : wait && now - begin >= wait)
			break;
		poll(&poller, 1, 10);
	}

	if (getsockopt(poller.fd, SOL_PACKET, PACKET_STATISTICS, &stats, &size))
		die("statistics: %s", strerror(errno));
	for (i = 0; i < flows_room; i++)
		distinct += !!seen[i];
	if (output) {
		FILE *file = fopen(output, "we");

		if (!file)
			die("%s: %s", output, strerror(errno));
		for (i = 0; i < flows_room; i++)
			if (seen[i])
				fprintf(file, "%" PRIu32 " %" PRIu32 "\n", i, seen[i]);
		if (fclose(file))
			die("%s: %s", output, strerror(errno));
	}
	printf("{\"frames\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"packets\":%" PRIu64
	       ",\"flows\":%" PRIu64 ",\"lost\":%u}\n", frames, bytes, packets, distinct,
	       stats.tp_drops);
	return stats.tp_drops ? 1 : 0;
}
