/* SPDX-License-Identifier: GPL-2.0 */
/* What flood puts in a packet, so that sink can say which flow it belongs to. */
#ifndef STREAM_H
#define STREAM_H

#include <stdint.h>

#define STREAM_MAGIC	0x666c6f77	/* "flow" */

/**
 * struct stream_mark - at the start of a packet's UDP payload
 * @magic: STREAM_MAGIC
 * @flow:  number of the flow, from 0
 *
 * Both in network byte order.
 */
struct stream_mark {
	uint32_t magic;
	uint32_t flow;
};

#endif /* STREAM_H */
