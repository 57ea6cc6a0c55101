/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The generic netlink interface of nf_dlcbf, and the only thing that userspace
 * shares with the module.  Documentation/netlink/specs/nf_dlcbf.yaml describes
 * the same interface for machines; Documentation/abi.md explains it.
 *
 * Requests (a: CAP_NET_ADMIN in the user namespace that owns the network
 * namespace; anything else may be asked by anyone who can see the namespace):
 *
 *   TABLE_ADD      a  struct of NF_DLCBF_A_TABLE_*; replies with the table
 *   TABLE_SET      a  NAME and the settings to change; replies with the table
 *   TABLE_DEL      a  NAME [EXIST]
 *   TABLE_GET         NAME, or a dump of all tables
 *   TABLE_FLUSH    a  NAME: removes all flows
 *   TABLE_SWAP     a  NAME, OTHER: exchanges the contents of two tables
 *   TABLE_PUBLISH  a  makes all tables that this socket staged live, at once
 *   HOOK_ADD       a  struct of NF_DLCBF_A_HOOK_*
 *   HOOK_DEL       a  TABLE, HOOK, PRIORITY, [DEVICE], [EXIST]
 *   HOOK_GET          a dump, of all hooks or of those of TABLE
 *   FLOW_ADD       a  TABLE, FLOW..., [EXIST], [STAGED]
 *   FLOW_DEL       a  TABLE, FLOW..., [EXIST]
 *   FLOW_GET       a  TABLE, FLOW; or a dump of TABLE, with [FILTER]
 *   FLOW_RESET     a  as FLOW_GET; reads the counters and sets them to 0 in
 *                     one step that loses no packet
 *
 * A FLOW_ADD or FLOW_DEL with one FLOW succeeds or fails as a whole, with the
 * error in the acknowledgment.  With more than one, each is tried; the reply
 * has APPLIED, FAILED and a FAILURE for each that failed, and the
 * acknowledgment is an error only when the message itself was not well formed,
 * in which case nothing was changed.
 *
 * A table made with STAGED belongs to the socket that made it.  Only that
 * socket sees it (with STAGED in FLOW_ADD and HOOK_ADD), until TABLE_PUBLISH;
 * when the socket closes before that the table is gone.
 */
#ifndef _UAPI_LINUX_NF_DLCBF_H
#define _UAPI_LINUX_NF_DLCBF_H

#define NF_DLCBF_FAMILY_NAME		"nf_dlcbf"
#define NF_DLCBF_FAMILY_VERSION		1

#define NF_DLCBF_MCGRP_TABLE		"table"
#define NF_DLCBF_MCGRP_FLOW		"flow"

/* Longest name of a table, without the terminating zero. */
#define NF_DLCBF_NAME_MAX		31
#define NF_DLCBF_SECRET_LEN		16
/* False positive rates are given in units of 10^-18. */
#define NF_DLCBF_FPR_UNIT		1000000000000000000ULL
/* Most flows that a table can be made for. */
#define NF_DLCBF_MAX_FLOWS		(1ULL << 30)

enum nf_dlcbf_cmd {
	NF_DLCBF_CMD_UNSPEC,
	NF_DLCBF_CMD_TABLE_ADD,
	NF_DLCBF_CMD_TABLE_SET,
	NF_DLCBF_CMD_TABLE_DEL,
	NF_DLCBF_CMD_TABLE_GET,
	NF_DLCBF_CMD_TABLE_FLUSH,
	NF_DLCBF_CMD_TABLE_SWAP,
	NF_DLCBF_CMD_TABLE_PUBLISH,
	NF_DLCBF_CMD_HOOK_ADD,
	NF_DLCBF_CMD_HOOK_DEL,
	NF_DLCBF_CMD_HOOK_GET,
	NF_DLCBF_CMD_FLOW_ADD,
	NF_DLCBF_CMD_FLOW_DEL,
	NF_DLCBF_CMD_FLOW_GET,
	NF_DLCBF_CMD_FLOW_RESET,

	/* Notifications, group "table" */
	NF_DLCBF_CMD_TABLE_ADD_NTF,
	NF_DLCBF_CMD_TABLE_SET_NTF,
	NF_DLCBF_CMD_TABLE_DEL_NTF,
	NF_DLCBF_CMD_TABLE_FLUSH_NTF,
	NF_DLCBF_CMD_TABLE_SWAP_NTF,
	NF_DLCBF_CMD_TABLE_FULL_NTF,
	NF_DLCBF_CMD_HOOK_ADD_NTF,
	NF_DLCBF_CMD_HOOK_DEL_NTF,

	/* Notifications, group "flow"; the last three with final counters */
	NF_DLCBF_CMD_FLOW_ADD_NTF,
	NF_DLCBF_CMD_FLOW_DEL_NTF,
	NF_DLCBF_CMD_FLOW_EXPIRE_NTF,
	NF_DLCBF_CMD_FLOW_EVICT_NTF,

	__NF_DLCBF_CMD_MAX,
	NF_DLCBF_CMD_MAX = __NF_DLCBF_CMD_MAX - 1
};

enum nf_dlcbf_type {
	NF_DLCBF_TYPE_SET = 1,
	NF_DLCBF_TYPE_FLOW,
};

enum nf_dlcbf_family {
	NF_DLCBF_FAMILY_IPV4 = 1,
	NF_DLCBF_FAMILY_IPV6,
	NF_DLCBF_FAMILY_INET,
};

/**
 * enum nf_dlcbf_field - bits of NF_DLCBF_A_TABLE_FIELDS: what a key is made of
 * @NF_DLCBF_FIELD_SADDR: source address, as far as the prefix length says
 * @NF_DLCBF_FIELD_DADDR: destination address, likewise
 * @NF_DLCBF_FIELD_SPORT: source port of TCP, UDP, UDP-Lite, SCTP and DCCP; the
 *	identifier of an ICMP query; the upper half of an SPI or GRE key
 * @NF_DLCBF_FIELD_DPORT: destination port; ICMP type and code; the lower half
 *	of an SPI or GRE key
 * @NF_DLCBF_FIELD_PROTO: transport protocol, after IPv6 extension headers
 * @NF_DLCBF_FIELD_IIF: index of the device by which the packet came
 * @NF_DLCBF_FIELD_OIF: index of the device by which the packet leaves
 * @NF_DLCBF_FIELD_MARK: the packet's mark
 * @NF_DLCBF_FIELD_VLAN: identifier of the outermost VLAN tag, 0 for none
 */
enum nf_dlcbf_field {
	NF_DLCBF_FIELD_SADDR	= 1 << 0,
	NF_DLCBF_FIELD_DADDR	= 1 << 1,
	NF_DLCBF_FIELD_SPORT	= 1 << 2,
	NF_DLCBF_FIELD_DPORT	= 1 << 3,
	NF_DLCBF_FIELD_PROTO	= 1 << 4,
	NF_DLCBF_FIELD_IIF	= 1 << 5,
	NF_DLCBF_FIELD_OIF	= 1 << 6,
	NF_DLCBF_FIELD_MARK	= 1 << 7,
	NF_DLCBF_FIELD_VLAN	= 1 << 8,
};

#define NF_DLCBF_FIELDS_ALL		0x1ff

/* What becomes of a new flow when there is no cell for it. */
enum nf_dlcbf_on_full {
	NF_DLCBF_ON_FULL_DROP_NEW = 1,	/* it is not learned */
	NF_DLCBF_ON_FULL_EVICT,		/* it takes the place of the stalest */
};

/* What becomes of a later fragment in a table whose key has ports. */
enum nf_dlcbf_fragments {
	NF_DLCBF_FRAGMENTS_MISS = 1,
	NF_DLCBF_FRAGMENTS_ACCEPT,
	NF_DLCBF_FRAGMENTS_DROP,
};

enum nf_dlcbf_hook_name {
	NF_DLCBF_HOOK_PREROUTING = 1,
	NF_DLCBF_HOOK_INPUT,
	NF_DLCBF_HOOK_FORWARD,
	NF_DLCBF_HOOK_OUTPUT,
	NF_DLCBF_HOOK_POSTROUTING,
	NF_DLCBF_HOOK_INGRESS,
};

/**
 * enum nf_dlcbf_verdict - what a hook does with a packet that hits or misses
 * @NF_DLCBF_VERDICT_CONTINUE: nothing: the next table at the same hook and
 *	priority judges it, and after the last one it goes on
 * @NF_DLCBF_VERDICT_ACCEPT: it goes on; no later table at the same hook and
 *	priority sees it
 * @NF_DLCBF_VERDICT_DROP: it is dropped
 * @NF_DLCBF_VERDICT_MARK: mark = (mark & ~MASK) | VALUE, and as for continue
 */
enum nf_dlcbf_verdict {
	NF_DLCBF_VERDICT_CONTINUE = 1,
	NF_DLCBF_VERDICT_ACCEPT,
	NF_DLCBF_VERDICT_DROP,
	NF_DLCBF_VERDICT_MARK,
};

/* Attributes of TABLE_* messages */
enum nf_dlcbf_attr_table {
	NF_DLCBF_A_TABLE_UNSPEC,
	NF_DLCBF_A_TABLE_PAD,
	NF_DLCBF_A_TABLE_NAME,		/* string */
	NF_DLCBF_A_TABLE_ID,		/* u32, set by the kernel */
	NF_DLCBF_A_TABLE_TYPE,		/* u32, enum nf_dlcbf_type */
	NF_DLCBF_A_TABLE_FAMILY,	/* u32, enum nf_dlcbf_family */
	NF_DLCBF_A_TABLE_FIELDS,	/* u32, enum nf_dlcbf_field */
	NF_DLCBF_A_TABLE_SADDR_PREFIX4,	/* u8, 1 to 32, default 32 */
	NF_DLCBF_A_TABLE_SADDR_PREFIX6,	/* u8, 1 to 128, default 128 */
	NF_DLCBF_A_TABLE_DADDR_PREFIX4,	/* u8 */
	NF_DLCBF_A_TABLE_DADDR_PREFIX6,	/* u8 */
	NF_DLCBF_A_TABLE_MAX_FLOWS,	/* u64 */
	NF_DLCBF_A_TABLE_FPR,		/* u64, NF_DLCBF_FPR_UNIT */
	NF_DLCBF_A_TABLE_KEYS,		/* u8, 0 or 1: store the keys */
	NF_DLCBF_A_TABLE_LEARN,		/* u8, 0 or 1: packets add flows */
	NF_DLCBF_A_TABLE_BIDIR,		/* u8, 0 or 1: both directions are one */
	NF_DLCBF_A_TABLE_JUDGE_NEIGHBOURS, /* u8, 0 or 1 */
	NF_DLCBF_A_TABLE_EVENTS,	/* u8, 0 or 1: learned flows notify too */
	NF_DLCBF_A_TABLE_ON_FULL,	/* u32, enum nf_dlcbf_on_full */
	NF_DLCBF_A_TABLE_FRAGMENTS,	/* u32, enum nf_dlcbf_fragments */
	NF_DLCBF_A_TABLE_TIMEOUT,	/* u64, ms of idleness; 0: none */
	NF_DLCBF_A_TABLE_SECRET,	/* binary, hash key; shown to admins only */
	NF_DLCBF_A_TABLE_GEOMETRY,	/* nest, NF_DLCBF_A_GEOMETRY_* */
	NF_DLCBF_A_TABLE_STAGED,	/* flag */
	NF_DLCBF_A_TABLE_EXIST,		/* flag: absent (del) or same (add) is fine */
	NF_DLCBF_A_TABLE_OTHER,		/* string: the other table of a swap */
	NF_DLCBF_A_TABLE_KEEP_COUNTERS,	/* flag of TABLE_PUBLISH */
	NF_DLCBF_A_TABLE_DRY_RUN,	/* flag of TABLE_ADD: answer, make nothing */
	/* Set by the kernel */
	NF_DLCBF_A_TABLE_HOOKS,		/* u32, number of hooks */
	NF_DLCBF_A_TABLE_MEMORY,	/* u64, bytes */
	NF_DLCBF_A_TABLE_CELLS,		/* u64 */
	NF_DLCBF_A_TABLE_USED,		/* u64, cells that are not empty */
	NF_DLCBF_A_TABLE_FLOWS,		/* u64, flows (set: elements) in it */
	NF_DLCBF_A_TABLE_FPR_MAX,	/* u64, predicted at MAX_FLOWS */
	NF_DLCBF_A_TABLE_FPR_NOW,	/* u64, predicted at FLOWS */
	NF_DLCBF_A_TABLE_OVERFLOW,	/* s32, log10 of the predicted chance, in
					 * thousandths, that a table of MAX_FLOWS
					 * has no cell for one of them
					 */
	NF_DLCBF_A_TABLE_STATS,		/* nest, NF_DLCBF_A_STATS_* */

	__NF_DLCBF_A_TABLE_MAX,
	NF_DLCBF_A_TABLE_MAX = __NF_DLCBF_A_TABLE_MAX - 1
};

enum nf_dlcbf_attr_geometry {
	NF_DLCBF_A_GEOMETRY_UNSPEC,
	NF_DLCBF_A_GEOMETRY_SUBTABLES,	/* u32, 1 to 8 */
	NF_DLCBF_A_GEOMETRY_BUCKETS,	/* u32, in each subtable */
	NF_DLCBF_A_GEOMETRY_BUCKET_CELLS, /* u32: 8, 16 or 32 */
	NF_DLCBF_A_GEOMETRY_CELL_BITS,	/* u32: 16 or 32 */
	NF_DLCBF_A_GEOMETRY_COUNTER_BITS, /* u32, 1 to 8 */

	__NF_DLCBF_A_GEOMETRY_MAX,
	NF_DLCBF_A_GEOMETRY_MAX = __NF_DLCBF_A_GEOMETRY_MAX - 1
};

/*
 * Counters of a table, all u64.  Each packet that a hook hands to a table is
 * counted in PACKETS and in exactly one of HIT to NEIGHBOUR.  One skb counts as
 * the packets it was or will be on the wire.
 */
enum nf_dlcbf_attr_stats {
	NF_DLCBF_A_STATS_UNSPEC,
	NF_DLCBF_A_STATS_PAD,
	NF_DLCBF_A_STATS_PACKETS,	/* seen */
	NF_DLCBF_A_STATS_HIT,		/* of a flow in the table */
	NF_DLCBF_A_STATS_LEARNED,	/* first of a new flow */
	NF_DLCBF_A_STATS_MISS,		/* of no flow in the table, not learned */
	NF_DLCBF_A_STATS_REFUSED,	/* not learned: the table is full */
	NF_DLCBF_A_STATS_FRAGMENT,	/* later fragment: has no ports */
	NF_DLCBF_A_STATS_TRUNCATED,	/* ends within its headers */
	NF_DLCBF_A_STATS_MALFORMED,	/* headers that contradict themselves */
	NF_DLCBF_A_STATS_NOT_IP,	/* ARP, LLDP, ...: not judged */
	NF_DLCBF_A_STATS_OTHER_FAMILY,	/* IPv6 in an IPv4 table, or vice versa */
	NF_DLCBF_A_STATS_NEIGHBOUR,	/* neighbour discovery kept from a drop */
	/* What was done with them */
	NF_DLCBF_A_STATS_DROPPED,
	NF_DLCBF_A_STATS_MARKED,
	/* What became of flows */
	NF_DLCBF_A_STATS_ADDED,		/* by an administrator */
	NF_DLCBF_A_STATS_DELETED,
	NF_DLCBF_A_STATS_EXPIRED,
	NF_DLCBF_A_STATS_EVICTED,
	NF_DLCBF_A_STATS_RACED,		/* packets whose flow was evicted just
					 * while they were counted
					 */
	NF_DLCBF_A_STATS_EVENTS_LOST,	/* notifications not sent */

	__NF_DLCBF_A_STATS_MAX,
	NF_DLCBF_A_STATS_MAX = __NF_DLCBF_A_STATS_MAX - 1
};

/* Attributes of HOOK_* messages */
enum nf_dlcbf_attr_hook {
	NF_DLCBF_A_HOOK_UNSPEC,
	NF_DLCBF_A_HOOK_TABLE,		/* string */
	NF_DLCBF_A_HOOK_HOOK,		/* u32, enum nf_dlcbf_hook_name */
	NF_DLCBF_A_HOOK_PRIORITY,	/* s32, default 0 */
	NF_DLCBF_A_HOOK_DEVICE,		/* string, for ingress */
	NF_DLCBF_A_HOOK_HIT,		/* u32, enum nf_dlcbf_verdict,
					 * default continue
					 */
	NF_DLCBF_A_HOOK_HIT_MARK,	/* u32 */
	NF_DLCBF_A_HOOK_HIT_MASK,	/* u32, default all bits */
	NF_DLCBF_A_HOOK_MISS,		/* u32 */
	NF_DLCBF_A_HOOK_MISS_MARK,	/* u32 */
	NF_DLCBF_A_HOOK_MISS_MASK,	/* u32 */
	NF_DLCBF_A_HOOK_STAGED,		/* flag */
	NF_DLCBF_A_HOOK_EXIST,		/* flag */

	__NF_DLCBF_A_HOOK_MAX,
	NF_DLCBF_A_HOOK_MAX = __NF_DLCBF_A_HOOK_MAX - 1
};

/* Attributes of FLOW_* messages */
enum nf_dlcbf_attr_flows {
	NF_DLCBF_A_FLOWS_UNSPEC,
	NF_DLCBF_A_FLOWS_TABLE,		/* string */
	NF_DLCBF_A_FLOWS_FLOW,		/* nest, NF_DLCBF_A_FLOW_*, repeated */
	NF_DLCBF_A_FLOWS_FILTER,	/* nest, NF_DLCBF_A_FLOW_*, of a dump */
	NF_DLCBF_A_FLOWS_STAGED,	/* flag */
	NF_DLCBF_A_FLOWS_EXIST,		/* flag */
	NF_DLCBF_A_FLOWS_APPLIED,	/* u32 */
	NF_DLCBF_A_FLOWS_FAILED,	/* u32 */
	NF_DLCBF_A_FLOWS_FAILURE,	/* nest, NF_DLCBF_A_FAILURE_*, repeated */

	__NF_DLCBF_A_FLOWS_MAX,
	NF_DLCBF_A_FLOWS_MAX = __NF_DLCBF_A_FLOWS_MAX - 1
};

/*
 * One flow.  A key has exactly the fields of its table; where the table's key
 * has ports, SPORT and DPORT, or ICMP_ID, ICMP_TYPE and ICMP_CODE, or SPI, say
 * the same 32 bits in the words of the protocol.  A table without keys also
 * takes, and its dumps give, BUCKET and REMAINDER in place of a key.
 */
enum nf_dlcbf_attr_flow {
	NF_DLCBF_A_FLOW_UNSPEC,
	NF_DLCBF_A_FLOW_PAD,
	NF_DLCBF_A_FLOW_FAMILY,		/* u32, enum nf_dlcbf_family; inet tables
					 * whose key has no address need it
					 */
	NF_DLCBF_A_FLOW_SADDR,		/* binary, 4 or 16 bytes */
	NF_DLCBF_A_FLOW_DADDR,		/* binary, 4 or 16 bytes */
	NF_DLCBF_A_FLOW_SPORT,		/* u16, network byte order */
	NF_DLCBF_A_FLOW_DPORT,		/* u16, network byte order */
	NF_DLCBF_A_FLOW_PROTO,		/* u8 */
	NF_DLCBF_A_FLOW_IIF,		/* u32 */
	NF_DLCBF_A_FLOW_OIF,		/* u32 */
	NF_DLCBF_A_FLOW_MARK,		/* u32 */
	NF_DLCBF_A_FLOW_VLAN,		/* u16 */
	NF_DLCBF_A_FLOW_ICMP_ID,	/* u16, network byte order */
	NF_DLCBF_A_FLOW_ICMP_TYPE,	/* u8 */
	NF_DLCBF_A_FLOW_ICMP_CODE,	/* u8 */
	NF_DLCBF_A_FLOW_SPI,		/* u32, network byte order; GRE: its key */
	NF_DLCBF_A_FLOW_SADDR_PREFIX,	/* u8, of a filter */
	NF_DLCBF_A_FLOW_DADDR_PREFIX,	/* u8, of a filter */
	NF_DLCBF_A_FLOW_BUCKET,		/* u32 */
	NF_DLCBF_A_FLOW_REMAINDER,	/* u32 */
	NF_DLCBF_A_FLOW_COUNT,		/* u32, how often it was added; 0: learned */
	NF_DLCBF_A_FLOW_PACKETS,	/* u64; on add: the value to start from */
	NF_DLCBF_A_FLOW_BYTES,		/* u64 */
	NF_DLCBF_A_FLOW_IDLE,		/* u64, ms since its last packet or add */
	NF_DLCBF_A_FLOW_TIMEOUT,	/* u64, ms from now until it goes, packets or
					 * not; absent: never
					 */
	NF_DLCBF_A_FLOW_LEARNED,	/* flag: as if a packet had added it */

	__NF_DLCBF_A_FLOW_MAX,
	NF_DLCBF_A_FLOW_MAX = __NF_DLCBF_A_FLOW_MAX - 1
};

enum nf_dlcbf_attr_failure {
	NF_DLCBF_A_FAILURE_UNSPEC,
	NF_DLCBF_A_FAILURE_POSITION,	/* u32, of the flow in the message, from 0 */
	NF_DLCBF_A_FAILURE_ERROR,	/* u32, errno */
	NF_DLCBF_A_FAILURE_MESSAGE,	/* string, in the first of each ERROR */

	__NF_DLCBF_A_FAILURE_MAX,
	NF_DLCBF_A_FAILURE_MAX = __NF_DLCBF_A_FAILURE_MAX - 1
};

#endif /* _UAPI_LINUX_NF_DLCBF_H */
