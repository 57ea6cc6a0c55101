// SPDX-License-Identifier: GPL-2.0
/* Sends Ethernet frames out of a device, many at a time, as paced as asked. */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "sender.h"

void die(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(2);
}

uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void parse_mac(const char *text, uint8_t mac[ETH_ALEN])
{
	unsigned int byte[ETH_ALEN];
	char rest;
	int i;

	if (sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x%c", &byte[0], &byte[1], &byte[2], &byte[3],
		   &byte[4], &byte[5], &rest) != ETH_ALEN)
		die("not a hardware address: %s", text);
	for (i = 0; i < ETH_ALEN; i++)
		mac[i] = (uint8_t)byte[i];
}

uint64_t parse_number(const char *text, const char *what, uint64_t max)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 0);
	if (errno || end == text || *end || *text == '-' || number > max)
		die("%s: not a number from 0 to %" PRIu64 ": %s", what, max, text);
	return number;
}

static uint64_t device_statistic(const char *device, const char *which)
{
	unsigned long long value = 0;
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/class/net/%s/statistics/%s", device, which);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, "%llu", &value) != 1)
		value = 0;
	fclose(file);
	return value;
}

static void device_ioctl(int fd, unsigned long what, const char *device, struct ifreq *request)
{
	memset(request, 0, sizeof(*request));
	snprintf(request->ifr_name, sizeof(request->ifr_name), "%s", device);
	if (ioctl(fd, what, request))
		die("%s: %s", device, strerror(errno));
}

void sender_open(struct sender *sender, const char *device, uint64_t pps)
{
	struct sockaddr_ll address = { .sll_family = AF_PACKET };
	int size = 8 << 20, one = 1;
	struct ifreq request;

	memset(sender, 0, sizeof(*sender));
	snprintf(sender->name, sizeof(sender->name), "%s", device);
	sender->pps = pps;
	/* Protocol 0: it only sends, nothing is queued for it to read. */
	sender->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (sender->fd < 0)
		die("packet socket: %s", strerror(errno));
	device_ioctl(sender->fd, SIOCGIFHWADDR, device, &request);
	memcpy(sender->mac, request.ifr_hwaddr.sa_data, ETH_ALEN);
	device_ioctl(sender->fd, SIOCGIFMTU, device, &request);
	sender->mtu = (unsigned int)request.ifr_mtu;
	device_ioctl(sender->fd, SIOCGIFINDEX, device, &request);
	address.sll_ifindex = request.ifr_ifindex;
	if (bind(sender->fd, (struct sockaddr *)&address, sizeof(address)))
		die("%s: %s", device, strerror(errno));
	setsockopt(sender->fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
	/*
	 * Faster, but the kernel then divides by the number of the device's
	 * queues, which is 0 while the device goes.
	 */
	if (!getenv("SENDER_QDISC"))
		setsockopt(sender->fd, SOL_PACKET, PACKET_QDISC_BYPASS, &one, sizeof(one));
	sender->dropped0 = device_statistic(device, "tx_dropped");
}

uint64_t sender_dropped(const struct sender *sender)
{
	return device_statistic(sender->name, "tx_dropped") - sender->dropped0;
}

/* Wait until it is time for the next frame. */
static void pace(const struct sender *sender)
{
	uint64_t due, now;
	struct timespec until;

	if (!sender->pps)
		return;
	due = sender->started +
	      (uint64_t)((double)(sender->sent + sender->refused) * 1e9 / (double)sender->pps);
	now = now_ns();
	if (due <= now)
		return;
	until.tv_sec = (time_t)(due / 1000000000);
	until.tv_nsec = (long)(due % 1000000000);
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

void sender_flush(struct sender *sender)
{
	struct mmsghdr message[SENDER_BATCH];
	struct iovec part[SENDER_BATCH];
	unsigned int i, done = 0;

	memset(message, 0, sizeof(message));
	for (i = 0; i < sender->queued; i++) {
		part[i].iov_base = (void *)(uintptr_t)sender->frame[i].data;
		part[i].iov_len = sender->frame[i].len;
		message[i].msg_hdr.msg_iov = &part[i];
		message[i].msg_hdr.msg_iovlen = 1;
	}
	if (!sender->started)
		sender->started = now_ns();
	pace(sender);
	while (done < sender->queued) {
		int n = sendmmsg(sender->fd, message + done, sender->queued - done, 0);

		if (n > 0) {
			for (i = 0; i < (unsigned int)n; i++)
				sender->bytes += sender->frame[done + i].len;
			done += (unsigned int)n;
			sender->sent += (unsigned int)n;
			continue;
		}
		switch (errno) {
		case EINTR:
			break;
		case EAGAIN:
		case ENOBUFS:
			poll(NULL, 0, 1);
			break;
		case EINVAL:
		case EMSGSIZE:
			/* The frame itself is at fault: go on with the next. */
			sender->refused++;
			done++;
			break;
		default:
			die("%s: %s", sender->name, strerror(errno));
		}
	}
	sender->queued = 0;
}

void sender_put(struct sender *sender, const void *data, unsigned int len)
{
	/* A slow pace must not come in bursts of a whole batch. */
	unsigned int limit = sender->pps && sender->pps < 20000 ?
			     1 + (unsigned int)(sender->pps / 320) : SENDER_BATCH;

	if (limit > SENDER_BATCH)
		limit = SENDER_BATCH;
	sender->frame[sender->queued].data = data;
	sender->frame[sender->queued].len = len;
	if (++sender->queued >= limit)
		sender_flush(sender);
}
