/* SPDX-License-Identifier: GPL-2.0 */
/* What a flow table counts of each flow. */
#ifndef NF_DLCBF_RECORD_H
#define NF_DLCBF_RECORD_H

#include <linux/atomic.h>
#include <linux/jiffies.h>
#include <linux/log2.h>
#include <linux/types.h>

/*
 * Time is kept in stamps of 2^NF_DLCBF_STAMP_SHIFT jiffies: between a 16th and
 * an 8th of a second, so that 32 bits last for more than eight years and the
 * stamp of a busy flow is seldom written.
 */
#define NF_DLCBF_STAMP_SHIFT	(HZ < 32 ? 0 : ilog2(HZ) - 4)

/* Deadlines that are not times. */
#define NF_DLCBF_DEADLINE_IDLE	0	/* the table's idle timeout counts */
#define NF_DLCBF_DEADLINE_NEVER	U32_MAX	/* it stays until it is deleted */

/**
 * struct nf_dlcbf_record - the counters of one flow
 * @packets:  packets on the wire
 * @bytes:    bytes at layer 3
 * @last:     stamp of the last packet
 * @deadline: stamp at which the flow goes, or NF_DLCBF_DEADLINE_*
 */
struct nf_dlcbf_record {
	atomic64_t packets;
	atomic64_t bytes;
	u32 last;
	u32 deadline;
};

/* Counters of one or more records, as read. */
struct nf_dlcbf_counters {
	u64 packets;
	u64 bytes;
};

static inline u32 nf_dlcbf_stamp_now(void)
{
	const u64 now = get_jiffies_64();

	return (u32)(now >> NF_DLCBF_STAMP_SHIFT);
}

/* Rounded up: a timeout never ends early. */
static inline u32 nf_dlcbf_stamp_from_ms(u64 ms)
{
	u64 limit = (u64)(S32_MAX >> 1);
	u64 jif = div_u64(min_t(u64, ms, U64_MAX / HZ - 1) * HZ + 999, 1000);
	u64 stamps = (jif >> NF_DLCBF_STAMP_SHIFT) + 1;

	return (u32)min(stamps, limit);
}

static inline u64 nf_dlcbf_stamp_to_ms(u32 stamps)
{
	return div_u64(((u64)stamps << NF_DLCBF_STAMP_SHIFT) * 1000, HZ);
}

/**
 * nf_dlcbf_record_expired() - has a flow's time run out?
 * @record:  the flow's record
 * @now:     the current stamp
 * @timeout: the table's idle timeout in stamps, 0 for none
 *
 * Context: any.
 * Return: true when it has; the answer may be out of date at once.
 */
static inline bool nf_dlcbf_record_expired(const struct nf_dlcbf_record *record, u32 now,
					   u32 timeout)
{
	u32 deadline = READ_ONCE(record->deadline);

	if (deadline == NF_DLCBF_DEADLINE_IDLE)
		return timeout && (s32)(now - READ_ONCE(record->last)) > (s32)timeout;
	return deadline != NF_DLCBF_DEADLINE_NEVER && (s32)(now - deadline) >= 0;
}

/* Count packets of a flow.  Context: RCU read side, after its cell was found. */
static inline void nf_dlcbf_record_count(struct nf_dlcbf_record *record, u32 packets, u32 bytes,
					 u32 now)
{
	atomic64_add(packets, &record->packets);
	atomic64_add(bytes, &record->bytes);
	if (READ_ONCE(record->last) != now)
		WRITE_ONCE(record->last, now);
}

/* Set a record up.  Context: its cell is held by the caller. */
static inline void nf_dlcbf_record_start(struct nf_dlcbf_record *record, u64 packets, u64 bytes,
					 u32 last, u32 deadline)
{
	atomic64_set(&record->packets, packets);
	atomic64_set(&record->bytes, bytes);
	WRITE_ONCE(record->last, last);
	WRITE_ONCE(record->deadline, deadline);
}

/* Add a record's counters to @sum; with @reset take them out of the record. */
static inline void nf_dlcbf_record_read(struct nf_dlcbf_record *record, bool reset,
					struct nf_dlcbf_counters *sum)
{
	if (reset) {
		sum->packets += atomic64_xchg(&record->packets, 0);
		sum->bytes += atomic64_xchg(&record->bytes, 0);
	} else {
		sum->packets += atomic64_read(&record->packets);
		sum->bytes += atomic64_read(&record->bytes);
	}
}

#endif /* NF_DLCBF_RECORD_H */
