// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dlcbf.h"

/* How often a listing that changed under our eyes is begun again. */
#define TRIES	8

static const char *const type_names[] = { "", "set", "flow", NULL };
static const char *const on_full_names[] = { "", "drop-new", "evict", NULL };
static const char *const fragments_names[] = {
	"", "miss", "accept", "drop", NULL
};

enum kind {
	KIND_ENUM,	/* u32, one of names */
	KIND_SWITCH,	/* u8, on or off; the word alone means on */
	KIND_COUNT,	/* u64 */
	KIND_FPR,	/* u64 */
	KIND_TIME,	/* u64 */
	KIND_SECRET,
	KIND_KEY,	/* several attributes */
	KIND_GEOMETRY,	/* u32 in the geometry nest */
	KIND_DRY_RUN,
};

/* When text output has a setting that the administrator may not have given. */
enum show {
	SHOW_ALWAYS,
	SHOW_IF_SET,	/* it is not 0 */
	SHOW_PORTS,	/* the key has ports */
	SHOW_SAVE,	/* in a save file only */
};

/* The settings, in the order in which they are printed. */
static const struct option {
	const char *word;
	u16 attr;
	enum kind kind;
	size_t offset;
	const char *const *names;
	enum show show;
} options[] = {
#define OPTION(word, attr, kind, field, names, show) \
	{ word, NF_DLCBF_A_TABLE_##attr, kind, offsetof(struct table, field), \
	  names, show }
#define GEOMETRY(word, attr) \
	{ word, NF_DLCBF_A_GEOMETRY_##attr, KIND_GEOMETRY, \
	  offsetof(struct table, geometry[NF_DLCBF_A_GEOMETRY_##attr]), NULL, \
	  SHOW_SAVE }
	OPTION("type", TYPE, KIND_ENUM, type, type_names, SHOW_ALWAYS),
	OPTION("family", FAMILY, KIND_ENUM, family, family_names, SHOW_ALWAYS),
	OPTION("key", FIELDS, KIND_KEY, fields, NULL, SHOW_ALWAYS),
	OPTION("max-flows", MAX_FLOWS, KIND_COUNT, max_flows, NULL,
	       SHOW_ALWAYS),
	OPTION("fpr", FPR, KIND_FPR, fpr, NULL, SHOW_ALWAYS),
	OPTION("keys", KEYS, KIND_SWITCH, keys, NULL, SHOW_ALWAYS),
	OPTION("learn", LEARN, KIND_SWITCH, learn, NULL, SHOW_ALWAYS),
	OPTION("bidir", BIDIR, KIND_SWITCH, bidir, NULL, SHOW_IF_SET),
	OPTION("timeout", TIMEOUT, KIND_TIME, timeout, NULL, SHOW_IF_SET),
	OPTION("on-full", ON_FULL, KIND_ENUM, on_full, on_full_names,
	       SHOW_ALWAYS),
	OPTION("fragments", FRAGMENTS, KIND_ENUM, fragments, fragments_names,
	       SHOW_PORTS),
	OPTION("events", EVENTS, KIND_SWITCH, events, NULL, SHOW_IF_SET),
	OPTION("judge-neighbours", JUDGE_NEIGHBOURS, KIND_SWITCH,
	       judge_neighbours, NULL, SHOW_IF_SET),
	OPTION("secret", SECRET, KIND_SECRET, secret, NULL, SHOW_SAVE),
	GEOMETRY("subtables", SUBTABLES),
	GEOMETRY("buckets", BUCKETS),
	GEOMETRY("bucket-cells", BUCKET_CELLS),
	GEOMETRY("cell-bits", CELL_BITS),
	GEOMETRY("counter-bits", COUNTER_BITS),
	OPTION("dry-run", DRY_RUN, KIND_DRY_RUN, dry_run, NULL, SHOW_SAVE),
#undef OPTION
#undef GEOMETRY
};

/* The numbers that the kernel gives of a table, in the order of the enum. */
static const char *const stats_names[NF_DLCBF_A_STATS_MAX + 1] = {
	[NF_DLCBF_A_STATS_PACKETS] = "packets",
	[NF_DLCBF_A_STATS_HIT] = "hit",
	[NF_DLCBF_A_STATS_LEARNED] = "learned",
	[NF_DLCBF_A_STATS_MISS] = "miss",
	[NF_DLCBF_A_STATS_REFUSED] = "refused",
	[NF_DLCBF_A_STATS_FRAGMENT] = "fragment",
	[NF_DLCBF_A_STATS_TRUNCATED] = "truncated",
	[NF_DLCBF_A_STATS_MALFORMED] = "malformed",
	[NF_DLCBF_A_STATS_NOT_IP] = "not-ip",
	[NF_DLCBF_A_STATS_OTHER_FAMILY] = "other-family",
	[NF_DLCBF_A_STATS_NEIGHBOUR] = "neighbour",
	[NF_DLCBF_A_STATS_DROPPED] = "dropped",
	[NF_DLCBF_A_STATS_MARKED] = "marked",
	[NF_DLCBF_A_STATS_ADDED] = "added",
	[NF_DLCBF_A_STATS_DELETED] = "deleted",
	[NF_DLCBF_A_STATS_EXPIRED] = "expired",
	[NF_DLCBF_A_STATS_EVICTED] = "evicted",
	[NF_DLCBF_A_STATS_RACED] = "raced",
	[NF_DLCBF_A_STATS_EVENTS_LOST] = "events-lost",
};

static bool option_is_set(const struct option *o, const struct table *t)
{
	if (o->kind == KIND_GEOMETRY)
		return t->have_geometry >> o->attr & 1;
	return t->have >> o->attr & 1;
}

static void option_set(const struct option *o, struct table *t)
{
	if (o->kind == KIND_GEOMETRY) {
		t->have_geometry |= 1U << o->attr;
		t->have |= 1ULL << NF_DLCBF_A_TABLE_GEOMETRY;
	} else {
		t->have |= 1ULL << o->attr;
	}
}

/* The key's prefix lengths depend on a family that may come after it. */
static int parse_key_option(const char *s, struct table *t, struct error *e)
{
	struct key_spec spec = {
		.family = t->family ? t->family : NF_DLCBF_FAMILY_INET,
	};
	int ret = parse_fields(s, &spec, e);

	if (ret)
		return ret;
	t->fields = spec.fields;
	t->saddr_prefix4 = spec.sprefix4;
	t->saddr_prefix6 = spec.sprefix6;
	t->daddr_prefix4 = spec.dprefix4;
	t->daddr_prefix6 = spec.dprefix6;
	return 0;
}

static int parse_option(const struct option *o, struct args *a,
			struct table *t, const char **key, struct error *e)
{
	void *p = (char *)t + o->offset;
	const char *next = args_peek(a), *value;
	u64 v;
	int ret;

	if (option_is_set(o, t))
		return err_set(e, "%s is given twice", o->word);
	option_set(o, t);

	if (o->kind == KIND_DRY_RUN) {
		t->dry_run = true;
		return 0;
	}
	if (o->kind == KIND_SWITCH) {
		*(u8 *)p = 1;
		if (next && (!strcmp(next, "on") || !strcmp(next, "off")))
			*(u8 *)p = !strcmp(args_next(a), "on");
		return 0;
	}
	ret = args_value(a, o->word, &value, e);
	if (ret)
		return ret;
	switch (o->kind) {
	case KIND_ENUM:
		return parse_enum(o->word, value, o->names, p, e);
	case KIND_COUNT:
		return parse_count(o->word, value, p, e);
	case KIND_FPR:
		return parse_fpr(o->word, value, p, e);
	case KIND_TIME:
		return parse_time(o->word, value, p, e);
	case KIND_SECRET:
		return parse_hex(o->word, value, p, NF_DLCBF_SECRET_LEN, e);
	case KIND_KEY:
		*key = value;
		return 0;
	case KIND_GEOMETRY:
		ret = parse_uint(o->word, value, UINT32_MAX, &v, e);
		*(u32 *)p = v;
		return ret;
	default:
		return -EINVAL;
	}
}

/**
 * table_parse - read a table's name and settings
 * @a: the words, all of which are read
 * @t: the table
 * @e: what is wrong
 *
 * Return: 0 or -EINVAL.
 */
int table_parse(struct args *a, struct table *t, struct error *e)
{
	const char *word = args_next(a), *key = NULL;
	size_t i;
	int ret;

	memset(t, 0, sizeof(*t));
	if (!word)
		return err_set(e, "the table's name is missing");
	ret = parse_name("the table's name", word, e);
	if (ret)
		return ret;
	strcpy(t->name, word);
	t->have = 1ULL << NF_DLCBF_A_TABLE_NAME;

	while ((word = args_next(a))) {
		for (i = 0; i < ARRAY_SIZE(options); i++)
			if (!strcmp(word, options[i].word))
				break;
		if (i == ARRAY_SIZE(options))
			return err_set(e, "\"%s\" is not a setting of a table",
				       word);
		ret = parse_option(&options[i], a, t, &key, e);
		if (ret)
			return ret;
	}
	return key ? parse_key_option(key, t, e) : 0;
}

/**
 * table_check - see whether a new table has what it needs
 * @t: the table; the family is set if it was not given
 * @e: what is missing
 *
 * Return: 0 or -EINVAL.
 */
int table_check(const struct table *t, struct error *e)
{
	if (!TABLE_HAS(t, TYPE))
		return err_set(e, "type is missing: set or flow");
	if (!TABLE_HAS(t, FIELDS))
		return err_set(e, "key is missing: what the table's keys are made of");
	if (!TABLE_HAS(t, MAX_FLOWS))
		return err_set(e, "max-flows is missing: how many flows the table is for");
	if (!t->max_flows)
		return err_set(e, "max-flows: a table for 0 flows is of no use");
	if (t->max_flows > NF_DLCBF_MAX_FLOWS)
		return err_set(e, "max-flows: %" PRIu64 " is more than %llu",
			       t->max_flows, NF_DLCBF_MAX_FLOWS);
	return 0;
}

static void put_geometry(struct nl *nl, const struct table *t)
{
	u32 nest = nl_nest(nl, NF_DLCBF_A_TABLE_GEOMETRY);
	int i;

	for (i = 1; i <= NF_DLCBF_A_GEOMETRY_MAX; i++)
		if (t->have_geometry >> i & 1)
			nl_put_u32(nl, i, t->geometry[i]);
	nl_nest_end(nl, nest);
}

/** table_put - put a table's name and the settings it has into the request */
void table_put(struct nl *nl, const struct table *t)
{
	const struct key_spec spec = {
		.family = t->family ? t->family : NF_DLCBF_FAMILY_INET,
	};
	bool v4 = spec.family != NF_DLCBF_FAMILY_IPV6;
	bool v6 = spec.family != NF_DLCBF_FAMILY_IPV4;
	size_t i;

	nl_put_str(nl, NF_DLCBF_A_TABLE_NAME, t->name);
	for (i = 0; i < ARRAY_SIZE(options); i++) {
		const struct option *o = &options[i];
		const void *p = (const char *)t + o->offset;

		if (!option_is_set(o, t))
			continue;
		switch (o->kind) {
		case KIND_ENUM:
		case KIND_KEY:
			nl_put_u32(nl, o->attr, *(const u32 *)p);
			break;
		case KIND_SWITCH:
			nl_put_u8(nl, o->attr, *(const u8 *)p);
			break;
		case KIND_COUNT:
		case KIND_FPR:
		case KIND_TIME:
			nl_put_u64(nl, o->attr, *(const u64 *)p);
			break;
		case KIND_SECRET:
			nl_put(nl, o->attr, p, NF_DLCBF_SECRET_LEN);
			break;
		case KIND_DRY_RUN:
			nl_put_flag(nl, o->attr);
			break;
		case KIND_GEOMETRY:
			break;
		}
	}
	if (TABLE_HAS(t, FIELDS) && (t->fields & NF_DLCBF_FIELD_SADDR)) {
		if (v4)
			nl_put_u8(nl, NF_DLCBF_A_TABLE_SADDR_PREFIX4,
				  t->saddr_prefix4);
		if (v6)
			nl_put_u8(nl, NF_DLCBF_A_TABLE_SADDR_PREFIX6,
				  t->saddr_prefix6);
	}
	if (TABLE_HAS(t, FIELDS) && (t->fields & NF_DLCBF_FIELD_DADDR)) {
		if (v4)
			nl_put_u8(nl, NF_DLCBF_A_TABLE_DADDR_PREFIX4,
				  t->daddr_prefix4);
		if (v6)
			nl_put_u8(nl, NF_DLCBF_A_TABLE_DADDR_PREFIX6,
				  t->daddr_prefix6);
	}
	if (TABLE_HAS(t, GEOMETRY))
		put_geometry(nl, t);
}

static void take_option(const struct option *o, const struct nlattr *attr,
			struct table *t)
{
	void *p = (char *)t + o->offset;

	switch (o->kind) {
	case KIND_ENUM:
	case KIND_KEY:
	case KIND_GEOMETRY:
		*(u32 *)p = nl_get_uint(attr);
		break;
	case KIND_SWITCH:
		*(u8 *)p = nl_get_uint(attr);
		break;
	case KIND_COUNT:
	case KIND_FPR:
	case KIND_TIME:
		*(u64 *)p = nl_get_uint(attr);
		break;
	case KIND_SECRET:
		if (mnl_attr_get_payload_len(attr) != NF_DLCBF_SECRET_LEN)
			return;
		memcpy(p, mnl_attr_get_payload(attr), NF_DLCBF_SECRET_LEN);
		break;
	case KIND_DRY_RUN:
		return;
	}
	option_set(o, t);
}

/** table_take - read a table from a message; false if it has none */
bool table_take(const struct nlmsghdr *nlh, struct table *t)
{
	const struct nlattr *tb[NF_DLCBF_A_TABLE_MAX + 1];
	const struct nlattr *geometry[NF_DLCBF_A_GEOMETRY_MAX + 1] = { NULL };
	const struct nlattr *stats[NF_DLCBF_A_STATS_MAX + 1] = { NULL };
	const struct { u16 attr; u64 *p; } numbers[] = {
		{ NF_DLCBF_A_TABLE_MEMORY, &t->memory },
		{ NF_DLCBF_A_TABLE_CELLS, &t->cells },
		{ NF_DLCBF_A_TABLE_USED, &t->used },
		{ NF_DLCBF_A_TABLE_FLOWS, &t->flows },
		{ NF_DLCBF_A_TABLE_FPR_MAX, &t->fpr_max },
		{ NF_DLCBF_A_TABLE_FPR_NOW, &t->fpr_now },
	};
	const struct { u16 attr; u8 *p; u8 most; } prefixes[] = {
		{ NF_DLCBF_A_TABLE_SADDR_PREFIX4, &t->saddr_prefix4, 32 },
		{ NF_DLCBF_A_TABLE_SADDR_PREFIX6, &t->saddr_prefix6, 128 },
		{ NF_DLCBF_A_TABLE_DADDR_PREFIX4, &t->daddr_prefix4, 32 },
		{ NF_DLCBF_A_TABLE_DADDR_PREFIX6, &t->daddr_prefix6, 128 },
	};
	size_t i;

	memset(t, 0, sizeof(*t));
	if (!nl_parse(nlh, tb, NF_DLCBF_A_TABLE_MAX) ||
	    !tb[NF_DLCBF_A_TABLE_NAME])
		return false;
	nl_get_str(tb[NF_DLCBF_A_TABLE_NAME], t->name, sizeof(t->name));
	for (i = 0; i < ARRAY_SIZE(tb); i++)
		if (tb[i] && i != NF_DLCBF_A_TABLE_GEOMETRY)
			t->have |= 1ULL << i;
	if (tb[NF_DLCBF_A_TABLE_GEOMETRY])
		nl_parse_nested(tb[NF_DLCBF_A_TABLE_GEOMETRY], geometry,
				NF_DLCBF_A_GEOMETRY_MAX);
	if (tb[NF_DLCBF_A_TABLE_STATS])
		nl_parse_nested(tb[NF_DLCBF_A_TABLE_STATS], stats,
				NF_DLCBF_A_STATS_MAX);

	for (i = 0; i < ARRAY_SIZE(options); i++) {
		const struct option *o = &options[i];
		const struct nlattr *attr = o->kind == KIND_GEOMETRY ?
					    geometry[o->attr] : tb[o->attr];

		if (attr)
			take_option(o, attr, t);
	}
	for (i = 0; i < ARRAY_SIZE(prefixes); i++)
		*prefixes[i].p = tb[prefixes[i].attr] ?
				 nl_get_uint(tb[prefixes[i].attr]) :
				 prefixes[i].most;
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		if (tb[numbers[i].attr])
			*numbers[i].p = nl_get_uint(tb[numbers[i].attr]);
	for (i = 0; i < ARRAY_SIZE(stats); i++) {
		if (!stats[i])
			continue;
		t->stats[i] = nl_get_uint(stats[i]);
		t->have_stats |= 1ULL << i;
	}
	if (tb[NF_DLCBF_A_TABLE_ID])
		t->id = nl_get_uint(tb[NF_DLCBF_A_TABLE_ID]);
	if (tb[NF_DLCBF_A_TABLE_HOOKS])
		t->hooks = nl_get_uint(tb[NF_DLCBF_A_TABLE_HOOKS]);
	if (tb[NF_DLCBF_A_TABLE_OVERFLOW])
		t->overflow = (s32)nl_get_uint(tb[NF_DLCBF_A_TABLE_OVERFLOW]);
	return true;
}

/** table_reply_cb - an &nl_cb whose data is a struct table to fill in */
int table_reply_cb(const struct nlmsghdr *nlh, void *data)
{
	return table_take(nlh, data) ? 0 : -EBADMSG;
}

/** table_get - ask the kernel for a table; an exit status */
int table_get(struct run *r, const char *name, struct table *t)
{
	int ret = run_open(r);

	if (ret)
		return ret;
	t->name[0] = 0;
	nl_request(&r->nl, NF_DLCBF_CMD_TABLE_GET, 0);
	nl_put_str(&r->nl, NF_DLCBF_A_TABLE_NAME, name);
	ret = nl_talk(&r->nl, table_reply_cb, t);
	if (!ret && t->name[0])
		return 0;
	if (ret == -ENOENT) {
		struct error e;

		err_set(&e, "there is no table %s", name);
		return fail(&e);
	}
	return run_refused(r, "cannot look at table %s", name);
}

/** table_spec - what the keys of a table have; @t must stay where it is */
void table_spec(struct run *r, const struct table *t, struct key_spec *spec)
{
	*spec = (struct key_spec) {
		.table = t->name,
		.family = t->family,
		.fields = t->fields,
		.sprefix4 = t->saddr_prefix4,
		.sprefix6 = t->saddr_prefix6,
		.dprefix4 = t->daddr_prefix4,
		.dprefix6 = t->daddr_prefix6,
		.keys = t->keys,
		.devices = &r->devices,
	};
}

/**
 * table_find - take a table's name from the words and ask for that table
 * @r: the run; its table is the one that was found
 * @a: the words
 * @spec: what the table's keys have
 *
 * Return: an exit status.
 */
int table_find(struct run *r, struct args *a, struct key_spec *spec)
{
	const char *name = args_next(a);
	struct error e;
	int ret;

	if (!name) {
		err_set(&e, "the table's name is missing");
		return usage(&e);
	}
	if (parse_name("the table's name", name, &e))
		return usage(&e);
	/* A batch of single flows need not ask again for each of them. */
	if (strcmp(r->table.name, name)) {
		ret = table_get(r, name, &r->table);
		if (ret) {
			r->table.name[0] = 0;
			return ret;
		}
	}
	table_spec(r, &r->table, spec);
	return 0;
}

struct list {
	struct table *v;
	size_t n, size;
};

static int list_cb(const struct nlmsghdr *nlh, void *data)
{
	struct list *l = data;

	if (l->n == l->size) {
		size_t size = l->size ? 2 * l->size : 16;
		struct table *v = realloc(l->v, size * sizeof(*v));

		if (!v)
			return -ENOMEM;
		l->v = v;
		l->size = size;
	}
	if (table_take(nlh, &l->v[l->n]))
		l->n++;
	return 0;
}

/**
 * table_for_each - call a function for each table
 * @r: the run
 * @fn: returns an exit status, which ends the listing unless it is 0
 * @data: for @fn
 *
 * All tables are read first, so that @fn can talk to the kernel too.
 *
 * Return: an exit status.
 */
int table_for_each(struct run *r, table_fn fn, void *data)
{
	struct list l = { 0 };
	bool interrupted = true;
	int ret = run_open(r), i;
	size_t n;

	for (i = 0; !ret && interrupted && i < TRIES; i++) {
		l.n = 0;
		nl_request(&r->nl, NF_DLCBF_CMD_TABLE_GET, NLM_F_DUMP);
		if (nl_dump(&r->nl, list_cb, &l, &interrupted) < 0)
			ret = run_refused(r, "cannot list the tables");
	}
	if (!ret && interrupted) {
		struct error e;

		err_set(&e, "the tables kept changing while they were listed");
		ret = fail(&e);
	}
	for (n = 0; !ret && n < l.n; n++)
		ret = fn(r, &l.v[n], data);
	free(l.v);
	return ret;
}

static void print_key(struct out *o, const struct table *t)
{
	const struct key_spec spec = {
		.family = t->family,
		.fields = t->fields,
		.sprefix4 = t->saddr_prefix4,
		.sprefix6 = t->saddr_prefix6,
		.dprefix4 = t->daddr_prefix4,
		.dprefix6 = t->daddr_prefix6,
	};
	bool v4 = t->family != NF_DLCBF_FAMILY_IPV6;
	bool v6 = t->family != NF_DLCBF_FAMILY_IPV4;
	char buf[256];
	int i;

	format_fields(&spec, buf, sizeof(buf));
	out_text(o, " key %s", buf);
	json_array(o, "key");
	for (i = 0; field_names[i]; i++)
		if (t->fields & (1U << i))
			json_str(o, NULL, field_names[i]);
	json_array_end(o);
	if ((t->fields & NF_DLCBF_FIELD_SADDR) && v4)
		json_uint(o, "saddr_prefix4", t->saddr_prefix4);
	if ((t->fields & NF_DLCBF_FIELD_SADDR) && v6)
		json_uint(o, "saddr_prefix6", t->saddr_prefix6);
	if ((t->fields & NF_DLCBF_FIELD_DADDR) && v4)
		json_uint(o, "daddr_prefix4", t->daddr_prefix4);
	if ((t->fields & NF_DLCBF_FIELD_DADDR) && v6)
		json_uint(o, "daddr_prefix6", t->daddr_prefix6);
}

static bool has_ports(const struct table *t)
{
	return t->fields & (NF_DLCBF_FIELD_SPORT | NF_DLCBF_FIELD_DPORT);
}

/* Whether the text form has a setting; JSON has them all. */
static bool is_shown(const struct option *o, const struct table *t, bool all)
{
	const void *p = (const char *)t + o->offset;

	/* The kernel may give an attribute that does not say anything. */
	if (o->kind == KIND_ENUM && !*(const u32 *)p)
		return false;
	switch (o->show) {
	case SHOW_ALWAYS:
		return true;
	case SHOW_IF_SET:
		return all || (o->kind == KIND_TIME ? *(const u64 *)p :
						      *(const u8 *)p);
	case SHOW_PORTS:
		return has_ports(t);
	case SHOW_SAVE:
		return all;
	}
	return false;
}

static const char *enum_name(const char *const *names, u32 v)
{
	u32 i;

	for (i = 1; names[i]; i++)
		if (i == v)
			return names[i];
	return "unknown";
}

/**
 * table_print_settings - print what table_parse() reads, without the name
 * @o: the output
 * @t: the table
 * @all: also what is shown only in a save file
 */
void table_print_settings(struct out *o, const struct table *t, bool all)
{
	char buf[FORMAT_MAX];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(options); i++) {
		const struct option *opt = &options[i];
		const void *p = (const char *)t + opt->offset;

		if (!option_is_set(opt, t))
			continue;
		/* The secret is for save files only, where it is asked for. */
		if (o->json ? opt->kind == KIND_SECRET || opt->kind == KIND_GEOMETRY :
			      !is_shown(opt, t, all))
			continue;
		switch (opt->kind) {
		case KIND_ENUM:
			put_str(o, opt->word,
				enum_name(opt->names, *(const u32 *)p));
			break;
		case KIND_KEY:
			print_key(o, t);
			break;
		case KIND_SWITCH:
			if (opt->show == SHOW_IF_SET && !all)
				out_text(o, " %s", opt->word);
			else
				out_text(o, " %s %s", opt->word,
					 *(const u8 *)p ? "on" : "off");
			json_bool(o, opt->word, *(const u8 *)p);
			break;
		case KIND_COUNT:
			put_uint(o, opt->word, *(const u64 *)p);
			break;
		case KIND_FPR:
			/* A table that compares keys may need no rate. */
			if (*(const u64 *)p)
				put_number(o, opt->word,
					   format_fpr(*(const u64 *)p, buf));
			break;
		case KIND_TIME:
			out_text(o, " %s %s", opt->word,
				 format_time(*(const u64 *)p, buf));
			json_uint(o, "timeout_ms", *(const u64 *)p);
			break;
		case KIND_SECRET:
			out_text(o, " %s %s", opt->word,
				 format_hex(p, NF_DLCBF_SECRET_LEN, buf));
			break;
		case KIND_GEOMETRY:
			out_text(o, " %s %" PRIu32, opt->word,
				 *(const u32 *)p);
			break;
		case KIND_DRY_RUN:
			break;
		}
	}
}

/* The chance of an overflow, from its logarithm in thousandths. */
static void print_overflow(struct out *o, s32 milli)
{
	char buf[FORMAT_MAX];

	if (milli >= 0)
		out_text(o, " overflow 1");
	else if (milli > -300000)
		out_text(o, " overflow %.2g", pow(10, milli / 1000.0));
	else
		out_text(o, " overflow 1e%d", milli / 1000);
	snprintf(buf, sizeof(buf), "%s%d.%03d", milli < 0 ? "-" : "",
		 abs(milli) / 1000, abs(milli) % 1000);
	json_number(o, "overflow_log10", buf);
}

static void print_numbers(struct run *r, const struct table *t)
{
	double load = t->cells ? (double)t->used / t->cells : 0;
	struct out *o = &r->out;
	char buf[FORMAT_MAX];

	out_text(o, "   ");
	/* A dry run has no table that could have these. */
	if (TABLE_HAS(t, ID))
		json_uint(o, "id", t->id);
	if (TABLE_HAS(t, FLOWS))
		put_uint(o, "flows", t->flows);
	put_uint(o, "cells", t->cells);
	if (TABLE_HAS(t, USED)) {
		put_uint(o, "used", t->used);
		out_text(o, " load %.1f%%", 100 * load);
		snprintf(buf, sizeof(buf), "%.4f", load);
		json_number(o, "load", buf);
	}
	out_text(o, " memory %s", format_size(t->memory, buf));
	json_uint(o, "memory", t->memory);
	if (TABLE_HAS(t, HOOKS))
		put_uint(o, "hooks", t->hooks);
	out_text(o, "\n");
}

static void print_predictions(struct run *r, const struct table *t)
{
	struct out *o = &r->out;
	char buf[FORMAT_MAX];
	size_t i;

	out_text(o, "    geometry");
	json_object(o, "geometry");
	for (i = 0; i < ARRAY_SIZE(options); i++)
		if (options[i].kind == KIND_GEOMETRY &&
		    option_is_set(&options[i], t))
			put_uint(o, options[i].word, t->geometry[options[i].attr]);
	json_object_end(o);

	out_text(o, "\n    predicted");
	if (TABLE_HAS(t, FPR_NOW)) {
		out_text(o, " fpr-now %s", format_fpr_short(t->fpr_now, buf));
		json_number(o, "fpr_now", format_fpr(t->fpr_now, buf));
	}
	if (TABLE_HAS(t, FPR_MAX)) {
		out_text(o, " fpr-max %s", format_fpr_short(t->fpr_max, buf));
		json_number(o, "fpr_max", format_fpr(t->fpr_max, buf));
	}
	if (TABLE_HAS(t, OVERFLOW))
		print_overflow(o, t->overflow);
	out_text(o, "\n");
}

static void print_stats(struct run *r, const struct table *t)
{
	struct out *o = &r->out;
	int i;

	if (!t->have_stats)
		return;
	json_object(o, "stats");
	for (i = 1; i <= NF_DLCBF_A_STATS_MAX; i++) {
		if (!(t->have_stats >> i & 1))
			continue;
		/* What was seen, what was done, what became of flows. */
		if (i == NF_DLCBF_A_STATS_PACKETS)
			out_text(o, "   ");
		else if (i == NF_DLCBF_A_STATS_DROPPED ||
			 i == NF_DLCBF_A_STATS_ADDED)
			out_text(o, "\n   ");
		put_uint(o, stats_names[i], t->stats[i]);
	}
	out_text(o, "\n");
	json_object_end(o);
}

/** table_print - print a table, with statistics if the run says so */
void table_print(struct run *r, const struct table *t)
{
	struct out *o = &r->out;

	json_object(o, NULL);
	out_text(o, "%s:", t->name);
	json_str(o, "name", t->name);
	table_print_settings(o, t, false);
	out_text(o, "\n");
	print_numbers(r, t);
	if (r->stats || r->json) {
		print_predictions(r, t);
		print_stats(r, t);
	}
	json_object_end(o);
}

static void print_one(struct run *r, const struct table *t)
{
	json_begin(&r->out);
	json_array(&r->out, NULL);
	table_print(r, t);
	json_array_end(&r->out);
	json_end(&r->out);
}

static int table_send(struct run *r, struct args *a, u8 cmd,
		      const char *what)
{
	struct table t, reply = { 0 };
	struct error e;
	int ret;

	if (table_parse(a, &t, &e))
		return usage(&e);
	if (cmd == NF_DLCBF_CMD_TABLE_ADD && table_check(&t, &e))
		return usage(&e);
	ret = run_open(r);
	if (ret)
		return ret;
	r->table.name[0] = 0;
	nl_request(&r->nl, cmd, 0);
	table_put(&r->nl, &t);
	if (r->exist && cmd == NF_DLCBF_CMD_TABLE_ADD)
		nl_put_flag(&r->nl, NF_DLCBF_A_TABLE_EXIST);
	if (nl_talk(&r->nl, table_reply_cb, &reply) < 0)
		return run_refused(r, "cannot %s table %s", what, t.name);
	/* The kernel chose what was not given: say what, to who wants to know. */
	if ((r->stats || t.dry_run) && reply.name[0])
		print_one(r, &reply);
	return 0;
}

static int table_add(struct run *r, struct args *a)
{
	return table_send(r, a, NF_DLCBF_CMD_TABLE_ADD, "add");
}

static int table_change(struct run *r, struct args *a)
{
	return table_send(r, a, NF_DLCBF_CMD_TABLE_SET, "change");
}

/* A command that takes names and nothing else. */
static int table_names_only(struct run *r, struct args *a, u8 cmd,
			    const char *what, int names)
{
	const char *name[2] = { NULL };
	struct error e;
	int i, ret;

	for (i = 0; i < names; i++) {
		name[i] = args_next(a);
		if (!name[i]) {
			err_set(&e, i ? "the other table's name is missing" :
				"the table's name is missing");
			return usage(&e);
		}
		if (parse_name("the table's name", name[i], &e))
			return usage(&e);
	}
	if (args_end(a, &e))
		return usage(&e);
	ret = run_open(r);
	if (ret)
		return ret;
	r->table.name[0] = 0;
	nl_request(&r->nl, cmd, 0);
	nl_put_str(&r->nl, NF_DLCBF_A_TABLE_NAME, name[0]);
	if (names == 2)
		nl_put_str(&r->nl, NF_DLCBF_A_TABLE_OTHER, name[1]);
	if (r->exist && cmd == NF_DLCBF_CMD_TABLE_DEL)
		nl_put_flag(&r->nl, NF_DLCBF_A_TABLE_EXIST);
	if (nl_talk(&r->nl, NULL, NULL) < 0)
		return run_refused(r, "cannot %s table %s%s%s", what, name[0],
				   name[1] ? " with " : "",
				   name[1] ? name[1] : "");
	return 0;
}

static int table_delete(struct run *r, struct args *a)
{
	return table_names_only(r, a, NF_DLCBF_CMD_TABLE_DEL, "delete", 1);
}

static int table_flush(struct run *r, struct args *a)
{
	return table_names_only(r, a, NF_DLCBF_CMD_TABLE_FLUSH, "flush", 1);
}

static int table_swap(struct run *r, struct args *a)
{
	return table_names_only(r, a, NF_DLCBF_CMD_TABLE_SWAP, "swap", 2);
}

static int show_each(struct run *r, const struct table *t, void *data)
{
	(void)data;
	table_print(r, t);
	return 0;
}

static int table_show(struct run *r, struct args *a)
{
	const char *name = args_next(a);
	struct table t;
	struct error e;
	int ret;

	if (args_end(a, &e))
		return usage(&e);
	if (name) {
		if (parse_name("the table's name", name, &e))
			return usage(&e);
		ret = table_get(r, name, &t);
		if (!ret)
			print_one(r, &t);
		return ret;
	}
	ret = run_open(r);
	if (ret)
		return ret;
	json_begin(&r->out);
	json_array(&r->out, NULL);
	ret = table_for_each(r, show_each, NULL);
	json_array_end(&r->out);
	json_end(&r->out);
	return ret;
}

static const struct verb verbs[] = {
	{ "show", table_show, "[ NAME ]" },
	{ "add", table_add,
	  "NAME type { set | flow } key FIELD[,FIELD]...\n"
	  "max-flows NUMBER [ SETTING ]... [ dry-run ]" },
	{ "change", table_change, "NAME SETTING..." },
	{ "delete", table_delete, "NAME" },
	{ "flush", table_flush, "NAME" },
	{ "swap", table_swap, "NAME NAME" },
	{ NULL, NULL, NULL }
};

const struct noun table_noun = {
	.name = "table",
	.verbs = verbs,
	.terms =
	"FIELD   := { saddr[/PREFIX] | daddr[/PREFIX] | sport | dport | proto |\n"
	"             iif | oif | mark | vlan }\n"
	"PREFIX  := { LENGTH | IPV4-LENGTH/IPV6-LENGTH }\n"
	"SETTING := { family { ipv4 | ipv6 | inet } | max-flows NUMBER |\n"
	"             fpr RATE | keys { on | off } | learn { on | off } |\n"
	"             bidir | timeout TIME | on-full { drop-new | evict } |\n"
	"             fragments { miss | accept | drop } | events { on | off } |\n"
	"             judge-neighbours | secret HEX | subtables NUMBER |\n"
	"             buckets NUMBER | bucket-cells { 8 | 16 | 32 } |\n"
	"             cell-bits { 16 | 32 } | counter-bits NUMBER }\n"
	"NUMBER  := DIGITS[ k | M | G | Ki | Mi | Gi ]\n"
	"RATE    := { 0.001 | 1e-6 | 0.1% | ... }\n"
	"TIME    := NUMBER[ ms | s | m | h | d ]\n",
};
