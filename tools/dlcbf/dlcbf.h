/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the command share: the run, and the tables, hooks and flows
 * it is about.
 */
#ifndef DLCBF_H
#define DLCBF_H

#include "key.h"
#include "netlink.h"
#include "print.h"
#include "utils.h"

#define DLCBF_VERSION	"1.0"

/* Exit status. */
enum {
	EXIT_OK		= 0,
	EXIT_NO		= 1,	/* "flow test": it is not in the table */
	EXIT_FAIL	= 2,	/* the kernel or the system refused */
	EXIT_USAGE	= 255,	/* the command was not understood */
};

enum table_type {
	TYPE_SET	= NF_DLCBF_TYPE_SET,
	TYPE_FLOW	= NF_DLCBF_TYPE_FLOW,
};

/* A table: what an administrator says of it, and what the kernel does. */
struct table {
	u64 have;		/* by the number of the attribute */
	u32 have_geometry;	/* likewise */
	u64 have_stats;	/* likewise */
	char name[NF_DLCBF_NAME_MAX + 1];
	u32 id;
	u32 type;
	u32 family;
	u32 fields;
	u8 saddr_prefix4, saddr_prefix6, daddr_prefix4, daddr_prefix6;
	u64 max_flows;
	u64 fpr;
	u8 keys, learn, bidir, judge_neighbours, events;
	u32 on_full;
	u32 fragments;
	u64 timeout;
	u8 secret[NF_DLCBF_SECRET_LEN];
	u32 geometry[NF_DLCBF_A_GEOMETRY_MAX + 1];
	bool dry_run;
	u32 hooks;
	u64 memory, cells, used, flows;
	u64 fpr_max, fpr_now;
	s32 overflow;
	u64 stats[NF_DLCBF_A_STATS_MAX + 1];
};

#define TABLE_HAS(t, attr) ((t)->have >> NF_DLCBF_A_TABLE_##attr & 1)

struct verdict {
	u32 verdict;	/* enum nf_dlcbf_verdict */
	u32 mark;
	u32 mask;
};

struct hook {
	char table[NF_DLCBF_NAME_MAX + 1];
	u32 hook;		/* enum nf_dlcbf_hook */
	s32 priority;
	char device[IF_NAMESIZE];
	struct verdict hit;
	struct verdict miss;
};

enum flow_part {
	FLOW_COUNT	= 1 << 0,
	FLOW_PACKETS	= 1 << 1,
	FLOW_BYTES	= 1 << 2,
	FLOW_IDLE	= 1 << 3,
	FLOW_TIMEOUT	= 1 << 4,
	FLOW_LEARNED	= 1 << 5,
};

struct flow {
	struct key key;
	u32 have;		/* enum flow_part */
	u32 count;
	u64 packets;
	u64 bytes;
	u64 idle;		/* ms */
	u64 timeout;	/* ms */
};

/* One run of the command. */
struct run {
	bool json, pretty, stats, timestamp, force, exist, quiet;
	const struct nl_ops *ops;
	struct nl nl;		/* opened when it is first needed */
	bool opened;
	struct out out;
	struct devices devices;
	struct table table;	/* looked at last; .name is empty if none was */
};

struct verb {
	const char *name;
	int (*run)(struct run *r, struct args *a);
	const char *usage;	/* what follows the name, a line each */
};

struct noun {
	const char *name;
	const struct verb *verbs;	/* the first is the default */
	int (*run)(struct run *r, struct args *a);	/* in place of verbs */
	const char *usage;
	const char *terms;	/* what the words in capitals stand for */
};

extern const struct noun table_noun, hook_noun, flow_noun, monitor_noun,
	save_noun, restore_noun, top_noun;

/* main.c */
int run_main(int argc, char **argv, const struct nl_ops *ops);
int fail(const struct error *e);
int usage(const struct error *e);
int run_open(struct run *r);
int run_refused(struct run *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* table.c */
int table_parse(struct args *a, struct table *t, struct error *e);
int table_check(const struct table *t, struct error *e);
void table_put(struct nl *nl, const struct table *t);
bool table_take(const struct nlmsghdr *nlh, struct table *t);
int table_reply_cb(const struct nlmsghdr *nlh, void *data);
int table_get(struct run *r, const char *name, struct table *t);
int table_find(struct run *r, struct args *a, struct key_spec *spec);
void table_spec(struct run *r, const struct table *t, struct key_spec *spec);
void table_print(struct run *r, const struct table *t);
void table_print_settings(struct out *o, const struct table *t, bool all);

typedef int (*table_fn)(struct run *r, const struct table *t, void *data);
int table_for_each(struct run *r, table_fn fn, void *data);

/* hook.c */
int hook_parse(struct args *a, bool verdicts, struct hook *h, struct error *e);
void hook_put(struct nl *nl, const struct hook *h, bool verdicts);
bool hook_take(const struct nlmsghdr *nlh, struct hook *h);
void hook_print(struct out *o, const struct hook *h);

typedef int (*hook_fn)(struct run *r, const struct hook *h, void *data);
int hook_for_each(struct run *r, const char *table, hook_fn fn, void *data);

/* flow.c */
int flow_parse(const struct key_spec *spec, struct args *a, bool values,
	       struct flow *f, struct error *e);
void flow_put(struct nl *nl, const struct flow *f);
bool flow_take(const struct nlattr *nest, const struct key_spec *spec,
	       struct flow *f);
void flow_print(struct out *o, const struct table *t,
		const struct key_spec *spec, const struct flow *f);

typedef int (*flow_fn)(struct run *r, const struct flow *f, void *data);
int flow_for_each(struct run *r, u8 cmd, const struct key_spec *spec,
		  const struct key *filter, flow_fn fn, void *data,
		  bool *interrupted);

/* load.c */
#define LOAD_FLOWS	8192	/* most in one message */

/* Flows on their way to the kernel, many in a message. */
struct load {
	struct run *run;
	u8 cmd;		/* NF_DLCBF_CMD_FLOW_ADD or _DEL */
	bool staged;
	bool no_counters;	/* the kernel adds the flows' own to them */
	const char *table;
	const char *file;
	u64 done;
	u64 failed;
	unsigned int pending;
	unsigned long line[LOAD_FLOWS];	/* of each pending flow */
};

void load_init(struct load *l, struct run *r, u8 cmd, const char *table,
	       const char *file, bool staged);
int load_flow(struct load *l, const struct flow *f, unsigned long line);
int load_flush(struct load *l);
int load_file(struct load *l, const struct key_spec *spec);

#endif
