// SPDX-License-Identifier: GPL-2.0
/*
 * /proc/net/nf_dlcbf: what tables there are, and for each a folder.
 *
 * A table's files hold a pointer to it.  Removing them waits for readers, and
 * that is done before a table goes, with nf_dlcbf_net.lock held: so nothing here
 * may take that lock.  Contents can be replaced at any time; they are read
 * under RCU, or with a reference where it takes longer.
 */
#include <linux/proc_fs.h>
#include <linux/rculist.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/seq_file_net.h>
#include <net/net_namespace.h>

#include "dlcbf_core/sizing.h"
#include "filter.h"
#include "proc.h"
#include "table.h"
#include "words.h"

/* Buckets that are counted before others may run. */
#define BUCKETS_STEP	4096

#define PPB		1000000000U

/* ---- words and numbers ---- */

static const char * const type_names[] = {
	[NF_DLCBF_TYPE_SET]	= "set",
	[NF_DLCBF_TYPE_FLOW]	= "flow",
};

static const char * const family_names[] = {
	[NF_DLCBF_FAMILY_IPV4]	= "ipv4",
	[NF_DLCBF_FAMILY_IPV6]	= "ipv6",
	[NF_DLCBF_FAMILY_INET]	= "inet",
};

static const char * const fragments_names[] = {
	[NF_DLCBF_FRAGMENTS_MISS]	= "miss",
	[NF_DLCBF_FRAGMENTS_ACCEPT]	= "accept",
	[NF_DLCBF_FRAGMENTS_DROP]	= "drop",
};

/* By bit */
static const char * const field_names[] = {
	"saddr", "daddr", "sport", "dport", "proto", "iif", "oif", "mark", "vlan",
};

static const char * const stats_names[NF_DLCBF_STATS_COUNT] = {
	[NF_DLCBF_A_STATS_PACKETS]	= "packets",
	[NF_DLCBF_A_STATS_HIT]		= "hit",
	[NF_DLCBF_A_STATS_LEARNED]	= "learned",
	[NF_DLCBF_A_STATS_MISS]		= "miss",
	[NF_DLCBF_A_STATS_REFUSED]	= "refused",
	[NF_DLCBF_A_STATS_FRAGMENT]	= "fragment",
	[NF_DLCBF_A_STATS_TRUNCATED]	= "truncated",
	[NF_DLCBF_A_STATS_MALFORMED]	= "malformed",
	[NF_DLCBF_A_STATS_NOT_IP]	= "not-ip",
	[NF_DLCBF_A_STATS_OTHER_FAMILY]	= "other-family",
	[NF_DLCBF_A_STATS_NEIGHBOUR]	= "neighbour",
	[NF_DLCBF_A_STATS_DROPPED]	= "dropped",
	[NF_DLCBF_A_STATS_MARKED]	= "marked",
	[NF_DLCBF_A_STATS_ADDED]	= "added",
	[NF_DLCBF_A_STATS_DELETED]	= "deleted",
	[NF_DLCBF_A_STATS_EXPIRED]	= "expired",
	[NF_DLCBF_A_STATS_EVICTED]	= "evicted",
	[NF_DLCBF_A_STATS_RACED]	= "raced",
	[NF_DLCBF_A_STATS_EVENTS_LOST]	= "events-lost",
};

static const struct {
	u8 number;
	const char *name;
} protocols[] = {
	{ IPPROTO_TCP, "tcp" }, { IPPROTO_UDP, "udp" }, { IPPROTO_ICMP, "icmp" },
	{ IPPROTO_ICMPV6, "icmpv6" }, { IPPROTO_SCTP, "sctp" }, { IPPROTO_DCCP, "dccp" },
	{ IPPROTO_UDPLITE, "udplite" }, { IPPROTO_ESP, "esp" }, { IPPROTO_AH, "ah" },
	{ IPPROTO_GRE, "gre" },
};

static const char *on_off(bool on)
{
	return on ? "on" : "off";
}

static u64 cells_of(const struct nf_dlcbf_filter *filter)
{
	return filter->core.cells;
}

/* Part of the cells that are not empty, in hundredths of a percent. */
static u32 load_of(const struct nf_dlcbf_filter *filter)
{
	return div64_u64(10000ULL * dlcbf_used_cells(&filter->core), cells_of(filter));
}

/* A rate in units of 10^-18, with four significant digits. */
static void show_rate(struct seq_file *m, const char *name, u64 rate)
{
	int exponent = -15;	/* of @rate taken as D.DDD */

	if (!rate) {
		seq_printf(m, "%s: 0\n", name);
		return;
	}
	for (; rate >= 10000; exponent++)
		rate = div_u64(rate, 10);
	for (; rate < 1000; exponent--)
		rate *= 10;
	seq_printf(m, "%s: %u.%03ue%+03d\n", name, (u32)rate / 1000, (u32)rate % 1000, exponent);
}

/* A number of thousandths. */
static void show_thousandths(struct seq_file *m, const char *name, s32 value)
{
	const u32 size = abs(value);

	seq_printf(m, "%s: %s%u.%03u\n", name, value < 0 ? "-" : "", size / 1000, size % 1000);
}

static void show_seconds(struct seq_file *m, const char *name, u64 ms)
{
	u32 rest;
	u64 seconds = div_u64_rem(ms, 1000, &rest);

	seq_printf(m, "%s%llu.%03u", name, seconds, rest);
}

/* The table of the file that is read. */
static struct nf_dlcbf_table *table_of(const struct seq_file *m)
{
	return pde_data(file_inode(m->file));
}

static struct nf_dlcbf_filter *get_contents(const struct seq_file *m)
{
	struct nf_dlcbf_filter *filter;

	rcu_read_lock();
	filter = nf_dlcbf_table_get_filter(table_of(m));
	rcu_read_unlock();
	return filter;
}

/* ---- tables ---- */

static void *tables_start(struct seq_file *m, loff_t *pos)
	__acquires(RCU)
{
	rcu_read_lock();
	return seq_list_start_head_rcu(&nf_dlcbf_net(seq_file_net(m))->tables, *pos);
}

static void *tables_next(struct seq_file *m, void *v, loff_t *pos)
{
	return seq_list_next_rcu(v, &nf_dlcbf_net(seq_file_net(m))->tables, pos);
}

static void tables_stop(struct seq_file *m, void *v)
	__releases(RCU)
{
	rcu_read_unlock();
}

/* The counters that a line of "tables" has. */
static const u8 tables_stats[] = {
	NF_DLCBF_A_STATS_PACKETS, NF_DLCBF_A_STATS_HIT, NF_DLCBF_A_STATS_MISS,
	NF_DLCBF_A_STATS_LEARNED, NF_DLCBF_A_STATS_REFUSED, NF_DLCBF_A_STATS_EVICTED,
	NF_DLCBF_A_STATS_EXPIRED,
};

static void show_heading(struct seq_file *m)
{
	unsigned int i;

	seq_printf(m, "%-15s %-4s %-6s %10s %10s %10s %6s %12s", "name", "type", "family",
		   "flows", "max-flows", "cells", "load%", "memory");
	for (i = 0; i < ARRAY_SIZE(tables_stats); i++)
		seq_printf(m, " %10s", stats_names[tables_stats[i]]);
	seq_putc(m, '\n');
}

/* Nothing here takes longer for a larger table. */
static void show_table(struct seq_file *m, const struct nf_dlcbf_table *table)
{
	const struct nf_dlcbf_filter *filter = rcu_dereference(table->filter);
	const struct nf_dlcbf_config *config = &filter->config;
	const u32 load = load_of(filter);
	u64 sum[NF_DLCBF_STATS_COUNT];
	unsigned int i;

	seq_printf(m, "%-15s %-4s %-6s %10d %10llu %10llu %3u.%02u %12llu", table->name,
		   type_names[config->type], family_names[config->family],
		   atomic_read(&filter->flows), config->max_flows, cells_of(filter),
		   load / 100, load % 100, filter->memory);
	nf_dlcbf_stats_sum(table->stats, sum);
	for (i = 0; i < ARRAY_SIZE(tables_stats); i++)
		seq_printf(m, " %10llu", sum[tables_stats[i]]);
	seq_putc(m, '\n');
}

static int tables_show(struct seq_file *m, void *v)
{
	const struct nf_dlcbf_table *table;

	if (v == &nf_dlcbf_net(seq_file_net(m))->tables) {
		show_heading(m);
		return 0;
	}
	table = list_entry(v, struct nf_dlcbf_table, list);
	if (READ_ONCE(table->portid))
		return SEQ_SKIP;
	show_table(m, table);
	return 0;
}

static const struct seq_operations tables_ops = {
	.start = tables_start,
	.next = tables_next,
	.stop = tables_stop,
	.show = tables_show,
};

/* ---- info ---- */

/* The significant bits of an address, where they are not all. */
static void show_prefixes(struct seq_file *m, const struct nf_dlcbf_config *config, u8 prefix4,
			  u8 prefix6)
{
	if (config->family != NF_DLCBF_FAMILY_IPV6 && prefix4 < 32)
		seq_printf(m, "/%u", prefix4);
	if (config->family != NF_DLCBF_FAMILY_IPV4 && prefix6 < 128)
		seq_printf(m, "/%u", prefix6);
}

static void show_key(struct seq_file *m, const struct nf_dlcbf_config *config)
{
	const char *separator = "key: ";
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(field_names); i++) {
		if (!(config->fields & BIT(i)))
			continue;
		seq_printf(m, "%s%s", separator, field_names[i]);
		separator = ",";
		if (BIT(i) == NF_DLCBF_FIELD_SADDR)
			show_prefixes(m, config, config->saddr_prefix4, config->saddr_prefix6);
		if (BIT(i) == NF_DLCBF_FIELD_DADDR)
			show_prefixes(m, config, config->daddr_prefix4, config->daddr_prefix6);
	}
	seq_putc(m, '\n');
}

static void show_settings(struct seq_file *m, const struct nf_dlcbf_filter *filter)
{
	const struct nf_dlcbf_config *config = &filter->config;

	seq_printf(m, "type: %s\n", type_names[config->type]);
	seq_printf(m, "family: %s\n", family_names[config->family]);
	show_key(m, config);
	seq_printf(m, "keys: %s\n", on_off(config->keys));
	seq_printf(m, "bidir: %s\n", on_off(config->bidir));
	seq_printf(m, "learn: %s\n", on_off(READ_ONCE(filter->learn)));
	seq_printf(m, "events: %s\n", on_off(READ_ONCE(filter->events)));
	seq_printf(m, "on-full: %s\n", READ_ONCE(filter->evict) ? "evict" : "drop-new");
	seq_printf(m, "fragments: %s\n", fragments_names[READ_ONCE(config->fragments)]);
	seq_printf(m, "judge-neighbours: %s\n", on_off(config->judge_neighbours));
	show_seconds(m, "timeout: ", READ_ONCE(config->timeout_ms));
	seq_printf(m, "\nmax-flows: %llu\n", config->max_flows);
}

static void show_geometry(struct seq_file *m, const struct nf_dlcbf_filter *filter)
{
	const struct dlcbf_geometry *g = &filter->config.geometry;

	seq_printf(m, "subtables: %u\n", g->subtables);
	seq_printf(m, "buckets: %u\n", g->buckets);
	seq_printf(m, "bucket-cells: %u\n", g->bucket_cells);
	seq_printf(m, "cell-bits: %u\n", g->cell_bits);
	seq_printf(m, "counter-bits: %u\n", g->counter_bits);
	seq_printf(m, "cells: %llu\n", cells_of(filter));
	seq_printf(m, "memory: %llu\n", filter->memory);
}

static void show_load(struct seq_file *m, const struct nf_dlcbf_filter *filter)
{
	const struct nf_dlcbf_config *config = &filter->config;
	const u32 flows = atomic_read(&filter->flows);
	const u32 load = load_of(filter);

	seq_printf(m, "flows: %u\n", flows);
	seq_printf(m, "used: %u\n", dlcbf_used_cells(&filter->core));
	seq_printf(m, "load: %u.%02u%%\n", load / 100, load % 100);
	show_rate(m, "fpr-wanted", config->fpr);
	show_rate(m, "fpr-at-max-flows", config->fpr_max);
	show_rate(m, "fpr-now", nf_dlcbf_config_fpr(config, flows));
	if (config->overflow == DLCBF_OVERFLOW_NEVER)
		seq_puts(m, "overflow-log10: never\n");
	else
		show_thousandths(m, "overflow-log10", config->overflow);
}

static int info_show(struct seq_file *m, void *v)
{
	const struct nf_dlcbf_table *table = table_of(m);
	const struct nf_dlcbf_filter *filter;
	u64 sum[NF_DLCBF_STATS_COUNT];
	int i;

	seq_printf(m, "name: %s\n", table->name);
	seq_printf(m, "id: %u\n", table->id);
	rcu_read_lock();
	filter = rcu_dereference(table->filter);
	show_settings(m, filter);
	show_geometry(m, filter);
	show_load(m, filter);
	rcu_read_unlock();
	nf_dlcbf_stats_sum(table->stats, sum);
	for (i = NF_DLCBF_STATS_FIRST; i < NF_DLCBF_STATS_COUNT; i++)
		seq_printf(m, "%s: %llu\n", stats_names[i], sum[i]);
	return 0;
}

/* ---- flows ---- */

/**
 * struct flows_reader - an open "flows"
 * @net:    must be first
 * @filter: contents, with a reference, from start to stop
 * @flow:   what is shown next
 *
 * The position is the index of a cell.  Cells do not move, so reading on finds
 * its place whatever was added or deleted meanwhile.
 */
struct flows_reader {
	struct seq_net_private net;
	struct nf_dlcbf_filter *filter;
	struct nf_dlcbf_flow flow;
};

/* The flow in the first cell from *pos on that has one. */
static void *flows_at(struct flows_reader *reader, loff_t *pos)
{
	struct nf_dlcbf_filter *filter = reader->filter;
	u32 cell = DLCBF_NO_CELL;

	if (signal_pending(current))
		return ERR_PTR(-EINTR);
	if (*pos < filter->core.cells)
		cell = nf_dlcbf_filter_next(filter, *pos, &reader->flow, false);
	if (cell == DLCBF_NO_CELL) {
		*pos = max_t(loff_t, *pos, filter->core.cells);
		return NULL;
	}
	*pos = cell;
	return &reader->flow;
}

static void *flows_start(struct seq_file *m, loff_t *pos)
{
	struct flows_reader *reader = m->private;

	reader->filter = get_contents(m);
	return reader->filter ? flows_at(reader, pos) : NULL;
}

static void *flows_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return flows_at(m->private, pos);
}

static void flows_stop(struct seq_file *m, void *v)
{
	struct flows_reader *reader = m->private;

	if (reader->filter)
		nf_dlcbf_filter_put(reader->filter);
	reader->filter = NULL;
}

static void show_address(struct seq_file *m, const char *name, u8 family,
			 const struct in6_addr *address, u8 prefix4, u8 prefix6)
{
	const u8 prefix = family == 4 ? prefix4 : prefix6;

	if (family == 4)
		seq_printf(m, " %s=%pI4", name, &address->s6_addr32[3]);
	else
		seq_printf(m, " %s=%pI6c", name, address);
	if (prefix < (family == 4 ? 32 : 128))
		seq_printf(m, "/%u", prefix);
}

static void show_addresses(struct seq_file *m, const struct nf_dlcbf_config *config,
			   const struct nf_dlcbf_tuple *tuple)
{
	const u32 fields = config->fields;

	/* An address says it too. */
	seq_printf(m, "family=%s", tuple->family == 4 ? "ipv4" : "ipv6");
	if (fields & NF_DLCBF_FIELD_SADDR)
		show_address(m, "saddr", tuple->family, &tuple->saddr, config->saddr_prefix4,
			     config->saddr_prefix6);
	if (fields & NF_DLCBF_FIELD_DADDR)
		show_address(m, "daddr", tuple->family, &tuple->daddr, config->daddr_prefix4,
			     config->daddr_prefix6);
}

static void show_proto(struct seq_file *m, u8 proto)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(protocols); i++) {
		if (protocols[i].number == proto) {
			seq_printf(m, " proto=%s", protocols[i].name);
			return;
		}
	}
	seq_printf(m, " proto=%u", proto);
}

static void show_ports(struct seq_file *m, const struct nf_dlcbf_key_layout *layout,
		       const struct nf_dlcbf_tuple *tuple)
{
	const bool has_sport = layout->fields & NF_DLCBF_FIELD_SPORT;
	const bool has_dport = layout->fields & NF_DLCBF_FIELD_DPORT;
	const u16 sport = ntohs(tuple->sport), dport = ntohs(tuple->dport);

	switch (nf_dlcbf_key_words(layout, tuple->proto)) {
	case NF_DLCBF_WORDS_ICMP:
		if (has_dport)
			seq_printf(m, " type=%u code=%u", dport >> 8, dport & 0xff);
		if (has_sport)
			seq_printf(m, " id=%u", sport);
		break;
	case NF_DLCBF_WORDS_SPI:
		/* "gre-key" for GRE: it is not an SPI to anybody who uses it. */
		if (has_sport && has_dport)
			seq_printf(m, " %s=0x%04x%04x",
				   tuple->proto == IPPROTO_GRE ? "gre-key" : "spi", sport, dport);
		break;
	case NF_DLCBF_WORDS_PORTS:
		if (has_sport)
			seq_printf(m, " sport=%u", sport);
		if (has_dport)
			seq_printf(m, " dport=%u", dport);
		break;
	}
}

static void show_flow_key(struct seq_file *m, const struct nf_dlcbf_filter *filter,
			  const struct nf_dlcbf_flow *flow)
{
	const struct nf_dlcbf_tuple *tuple = &flow->tuple;
	const u32 fields = filter->layout.fields;

	if (!flow->has_key) {
		seq_printf(m, "bucket=%u remainder=%u", flow->fingerprint.bucket,
			   flow->fingerprint.remainder);
		return;
	}
	show_addresses(m, &filter->config, tuple);
	if (fields & NF_DLCBF_FIELD_PROTO)
		show_proto(m, tuple->proto);
	show_ports(m, &filter->layout, tuple);
	if (fields & NF_DLCBF_FIELD_IIF)
		seq_printf(m, " iif=%u", tuple->iif);
	if (fields & NF_DLCBF_FIELD_OIF)
		seq_printf(m, " oif=%u", tuple->oif);
	if (fields & NF_DLCBF_FIELD_MARK)
		seq_printf(m, " mark=0x%x", tuple->mark);
	if (fields & NF_DLCBF_FIELD_VLAN)
		seq_printf(m, " vlan=%u", tuple->vlan);
}

static int flows_show(struct seq_file *m, void *v)
{
	const struct flows_reader *reader = m->private;
	const struct nf_dlcbf_filter *filter = reader->filter;
	const struct nf_dlcbf_flow *flow = v;

	show_flow_key(m, filter, flow);
	if (filter->records) {
		seq_printf(m, " packets=%llu bytes=%llu", flow->counters.packets,
			   flow->counters.bytes);
		show_seconds(m, " idle=", flow->idle_ms);
		if (flow->has_timeout)
			show_seconds(m, " timeout=", flow->timeout_ms);
		if (flow->count)
			seq_puts(m, " [pinned]");
	}
	if (!filter->keys && flow->count)
		seq_printf(m, " count=%u", flow->count);
	seq_putc(m, '\n');
	return 0;
}

static const struct seq_operations flows_ops = {
	.start = flows_start,
	.next = flows_next,
	.stop = flows_stop,
	.show = flows_show,
};

/* ---- buckets ---- */

/**
 * struct buckets_reader - an open "buckets"
 * @net:       must be first
 * @geometry:  of the contents when they were counted
 * @measured:  buckets by subtable and load
 * @at_least:  predicted part of all buckets with so many cells or more, in 10^-9
 * @predicted: @at_least is valid
 *
 * Counted when the file is read from its beginning, and kept: a line is not to
 * contradict the one before it.
 */
struct buckets_reader {
	struct seq_net_private net;
	struct dlcbf_geometry geometry;
	u64 measured[DLCBF_MAX_SUBTABLES][DLCBF_MAX_BUCKET_CELLS + 1];
	u32 at_least[DLCBF_MAX_BUCKET_CELLS + 1];
	bool predicted;
};

static int count_subtable(const struct nf_dlcbf_filter *filter, unsigned int subtable,
			  struct buckets_reader *reader)
{
	const u32 buckets = reader->geometry.buckets;
	u32 first, step;

	for (first = 0; first < buckets; first += step) {
		step = min(buckets - first, (u32)BUCKETS_STEP);
		dlcbf_histogram(&filter->core, subtable, first, step, reader->measured[subtable]);
		cond_resched();
		if (signal_pending(current))
			return -EINTR;
	}
	return 0;
}

/* Of all subtables */
static u64 measured_sum(const struct buckets_reader *reader, u32 load)
{
	unsigned int i;
	u64 sum = 0;

	for (i = 0; i < reader->geometry.subtables; i++)
		sum += reader->measured[i][load];
	return sum;
}

static void predict_buckets(struct buckets_reader *reader)
{
	u64 used = 0;
	u32 load;

	for (load = 1; load <= reader->geometry.bucket_cells; load++)
		used += load * measured_sum(reader, load);
	reader->predicted = !dlcbf_predict_loads(&reader->geometry, used, reader->at_least);
}

static int count_buckets(const struct seq_file *m)
{
	struct buckets_reader *reader = m->private;
	struct nf_dlcbf_filter *filter = get_contents(m);
	unsigned int i;
	int err = 0;

	if (!filter)
		return -ENOENT;
	reader->geometry = filter->config.geometry;
	memset(reader->measured, 0, sizeof(reader->measured));
	for (i = 0; i < reader->geometry.subtables && !err; i++)
		err = count_subtable(filter, i, reader);
	nf_dlcbf_filter_put(filter);
	if (!err)
		predict_buckets(reader);
	return err;
}

/* The heading, then a line for each load; never NULL but as the end. */
static void *buckets_at(struct buckets_reader *reader, loff_t pos)
{
	return pos <= reader->geometry.bucket_cells + 1 ? reader : NULL;
}

static void *buckets_start(struct seq_file *m, loff_t *pos)
{
	int err = *pos ? 0 : count_buckets(m);

	return err ? ERR_PTR(err) : buckets_at(m->private, *pos);
}

static void *buckets_next(struct seq_file *m, void *v, loff_t *pos)
{
	return buckets_at(m->private, ++*pos);
}

static void buckets_stop(struct seq_file *m, void *v)
{
}

/* Buckets that should hold @load cells. */
static u64 predicted_sum(const struct buckets_reader *reader, u32 load)
{
	const struct dlcbf_geometry *g = &reader->geometry;
	const u32 more = load < g->bucket_cells ? reader->at_least[load + 1] : 0;
	const u32 part = reader->at_least[load] - min(more, reader->at_least[load]);

	/* Below 2^31 buckets and 2^30 parts. */
	return div_u64((u64)g->buckets * g->subtables * part + PPB / 2, PPB);
}

static void show_buckets_heading(struct seq_file *m, const struct buckets_reader *reader)
{
	char name[16];
	unsigned int i;

	seq_printf(m, "%4s %10s %10s", "load", "predicted", "measured");
	for (i = 0; i < reader->geometry.subtables; i++) {
		snprintf(name, sizeof(name), "subtable%u", i);
		seq_printf(m, " %10s", name);
	}
	seq_putc(m, '\n');
}

static int buckets_show(struct seq_file *m, void *v)
{
	const struct buckets_reader *reader = v;
	const u32 load = m->index - 1;
	unsigned int i;

	if (!m->index) {
		show_buckets_heading(m, reader);
		return 0;
	}
	seq_printf(m, "%4u", load);
	if (reader->predicted)
		seq_printf(m, " %10llu", predicted_sum(reader, load));
	else
		seq_printf(m, " %10s", "-");
	seq_printf(m, " %10llu", measured_sum(reader, load));
	for (i = 0; i < reader->geometry.subtables; i++)
		seq_printf(m, " %10llu", reader->measured[i][load]);
	seq_putc(m, '\n');
	return 0;
}

static const struct seq_operations buckets_ops = {
	.start = buckets_start,
	.next = buckets_next,
	.stop = buckets_stop,
	.show = buckets_show,
};

/* ---- files ---- */

/* Root of the user namespace that owns the network namespace is the owner. */
static void set_owner(struct proc_dir_entry *entry, struct net *net)
{
	kuid_t uid = make_kuid(net->user_ns, 0);
	kgid_t gid = make_kgid(net->user_ns, 0);

	if (!uid_valid(uid))
		uid = GLOBAL_ROOT_UID;
	if (!gid_valid(gid))
		gid = GLOBAL_ROOT_GID;
	proc_set_user(entry, uid, gid);
}

static int add_seq(const char *name, umode_t mode, struct proc_dir_entry *parent,
		   const struct seq_operations *ops, unsigned int size, struct net *net, void *data)
{
	struct proc_dir_entry *entry;

	entry = proc_create_net_data(name, mode, parent, ops, size, data);
	if (!entry)
		return -ENOMEM;
	set_owner(entry, net);
	return 0;
}

static int add_info(struct nf_dlcbf_table *table)
{
	struct proc_dir_entry *entry;

	entry = proc_create_net_single("info", 0444, table->proc, info_show, table);
	if (!entry)
		return -ENOMEM;
	set_owner(entry, table->dn->net);
	return 0;
}

static int add_table_files(struct nf_dlcbf_table *table)
{
	struct net *net = table->dn->net;
	int err;

	err = add_info(table);
	if (!err)
		/* Who talks to whom is not for everybody. */
		err = add_seq("flows", 0440, table->proc, &flows_ops, sizeof(struct flows_reader),
			      net, table);
	if (!err)
		err = add_seq("buckets", 0444, table->proc, &buckets_ops,
			      sizeof(struct buckets_reader), net, table);
	return err;
}

/**
 * nf_dlcbf_proc_table_add() - show a table
 * @table: table, complete but for its place in the list
 *
 * Context: process, may sleep, nf_dlcbf_net.lock held.
 * Return: 0, or -ENOMEM.
 */
int nf_dlcbf_proc_table_add(struct nf_dlcbf_table *table)
{
	int err;

	if (!IS_ENABLED(CONFIG_PROC_FS))
		return 0;
	table->proc = proc_net_mkdir(table->dn->net, table->name, table->dn->proc);
	if (!table->proc)
		return -ENOMEM;
	set_owner(table->proc, table->dn->net);
	err = add_table_files(table);
	if (err)
		nf_dlcbf_proc_table_remove(table);
	return err;
}

/**
 * nf_dlcbf_proc_table_remove() - stop showing a table
 * @table: table, shown or not
 *
 * Nobody reads it after this.
 *
 * Context: process, may sleep, nf_dlcbf_net.lock held.
 */
void nf_dlcbf_proc_table_remove(struct nf_dlcbf_table *table)
{
	proc_remove(table->proc);
	table->proc = NULL;
}

/**
 * nf_dlcbf_proc_net_init() - make /proc/net/nf_dlcbf
 * @dn: namespace
 *
 * Context: process, may sleep.
 * Return: 0, or -ENOMEM.
 */
int nf_dlcbf_proc_net_init(struct nf_dlcbf_net *dn)
{
	int err;

	if (!IS_ENABLED(CONFIG_PROC_FS))
		return 0;
	dn->proc = proc_net_mkdir(dn->net, "nf_dlcbf", dn->net->proc_net);
	if (!dn->proc)
		return -ENOMEM;
	set_owner(dn->proc, dn->net);
	err = add_seq("tables", 0444, dn->proc, &tables_ops, sizeof(struct seq_net_private),
		      dn->net, NULL);
	if (err)
		nf_dlcbf_proc_net_exit(dn);
	return err;
}

/**
 * nf_dlcbf_proc_net_exit() - take /proc/net/nf_dlcbf away
 * @dn: namespace, without tables
 *
 * Context: process, may sleep.
 */
void nf_dlcbf_proc_net_exit(struct nf_dlcbf_net *dn)
{
	proc_remove(dn->proc);
	dn->proc = NULL;
}
