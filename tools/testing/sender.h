/* SPDX-License-Identifier: GPL-2.0 */
/* Sends Ethernet frames out of a device, many at a time, as paced as asked. */
#ifndef SENDER_H
#define SENDER_H

#include <net/ethernet.h>
#include <stdbool.h>
#include <stdint.h>

#define SENDER_BATCH	64

/**
 * struct sender - a device and what went out of it
 * @fd:       AF_PACKET socket, bound to the device
 * @name:     its name
 * @mac:      its hardware address
 * @mtu:      longest layer 3 packet that it takes
 * @pps:      frames a second, 0 for as many as possible
 * @started:  when the first frame went out, in nanoseconds
 * @sent:     frames that the kernel took
 * @bytes:    bytes of them, with the Ethernet header
 * @refused:  frames that it did not take
 * @queued:   frames in the batch
 * @frame:    the batch
 * @dropped0: frames that the device had dropped when it was opened
 */
struct sender {
	int fd;
	char name[16];
	uint8_t mac[ETH_ALEN];
	unsigned int mtu;
	uint64_t pps;
	uint64_t started;
	uint64_t sent;
	uint64_t bytes;
	uint64_t refused;
	unsigned int queued;
	struct {
		const void *data;
		unsigned int len;
	} frame[SENDER_BATCH];
	uint64_t dropped0;
};

void sender_open(struct sender *sender, const char *device, uint64_t pps);
/* @data must stay as it is until @sender->queued is 0 again. */
void sender_put(struct sender *sender, const void *data, unsigned int len);
void sender_flush(struct sender *sender);
/* Frames that the device dropped since it was opened. */
uint64_t sender_dropped(const struct sender *sender);

uint64_t now_ns(void);
void parse_mac(const char *text, uint8_t mac[ETH_ALEN]);
uint64_t parse_number(const char *text, const char *what, uint64_t max);
void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

#endif /* SENDER_H */
