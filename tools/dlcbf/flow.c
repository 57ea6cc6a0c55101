// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dlcbf.h"

#define TRIES	8

/**
 * flow_parse - read a flow: its key, and with what it is to be added
 * @spec: what the table's keys have
 * @a: the words, all of which are read
 * @values: whether there may be more than the key
 * @f: the flow
 * @e: what is wrong
 *
 * Return: 0 or -EINVAL.
 */
int flow_parse(const struct key_spec *spec, struct args *a, bool values,
	       struct flow *f, struct error *e)
{
	const char *word, *value;
	u64 v;
	int ret;

	f->have = 0;
	ret = key_parse(spec, false, a, &f->key, e);
	if (ret || !values)
		return ret ? ret : args_end(a, e);

	while ((word = args_next(a))) {
		u32 part;

		if (!strcmp(word, "learned")) {
			f->have |= FLOW_LEARNED;
			continue;
		}
		if (!strcmp(word, "packets"))
			part = FLOW_PACKETS;
		else if (!strcmp(word, "bytes"))
			part = FLOW_BYTES;
		else if (!strcmp(word, "idle"))
			part = FLOW_IDLE;
		else if (!strcmp(word, "timeout"))
			part = FLOW_TIMEOUT;
		else if (!strcmp(word, "count"))
			part = FLOW_COUNT;
		else
			return err_set(e, "what is \"%s\"?", word);
		if (f->have & part)
			return err_set(e, "%s is given twice", word);
		f->have |= part;
		ret = args_value(a, word, &value, e);
		if (ret)
			return ret;
		switch (part) {
		case FLOW_PACKETS:
			ret = parse_uint(word, value, UINT64_MAX, &f->packets, e);
			break;
		case FLOW_BYTES:
			ret = parse_uint(word, value, UINT64_MAX, &f->bytes, e);
			break;
		case FLOW_IDLE:
			ret = parse_time(word, value, &f->idle, e);
			break;
		case FLOW_TIMEOUT:
			ret = parse_time(word, value, &f->timeout, e);
			break;
		case FLOW_COUNT:
			ret = parse_uint(word, value, UINT32_MAX, &v, e);
			f->count = v;
			if (!ret && !v)
				ret = err_set(e, "count: a flow is added once at least");
			break;
		}
		if (ret)
			return ret;
	}
	if ((f->have & FLOW_LEARNED) && (f->have & FLOW_COUNT))
		return err_set(e, "count and learned: what was learned was not added");
	return 0;
}

/** flow_put - put a flow and its values into the request */
void flow_put(struct nl *nl, const struct flow *f)
{
	u32 nest = nl_nest(nl, NF_DLCBF_A_FLOWS_FLOW);

	key_put(nl, &f->key, false);
	if (f->have & FLOW_COUNT)
		nl_put_u32(nl, NF_DLCBF_A_FLOW_COUNT, f->count);
	if (f->have & FLOW_PACKETS)
		nl_put_u64(nl, NF_DLCBF_A_FLOW_PACKETS, f->packets);
	if (f->have & FLOW_BYTES)
		nl_put_u64(nl, NF_DLCBF_A_FLOW_BYTES, f->bytes);
	if (f->have & FLOW_IDLE)
		nl_put_u64(nl, NF_DLCBF_A_FLOW_IDLE, f->idle);
	/* Not to have a timeout is not to give one. */
	if ((f->have & FLOW_TIMEOUT) && f->timeout)
		nl_put_u64(nl, NF_DLCBF_A_FLOW_TIMEOUT, f->timeout);
	if (f->have & FLOW_LEARNED)
		nl_put_flag(nl, NF_DLCBF_A_FLOW_LEARNED);
	nl_nest_end(nl, nest);
}

/** flow_take - read a flow from its nest; false if it has no key */
bool flow_take(const struct nlattr *nest, const struct key_spec *spec,
	       struct flow *f)
{
	const struct nlattr *tb[NF_DLCBF_A_FLOW_MAX + 1];

	nl_parse_nested(nest, tb, NF_DLCBF_A_FLOW_MAX);
	f->have = 0;
	if (!key_take(tb, spec, &f->key))
		return false;
	if (tb[NF_DLCBF_A_FLOW_COUNT]) {
		f->count = nl_get_uint(tb[NF_DLCBF_A_FLOW_COUNT]);
		f->have |= FLOW_COUNT;
	}
	if (tb[NF_DLCBF_A_FLOW_PACKETS]) {
		f->packets = nl_get_uint(tb[NF_DLCBF_A_FLOW_PACKETS]);
		f->have |= FLOW_PACKETS;
	}
	if (tb[NF_DLCBF_A_FLOW_BYTES]) {
		f->bytes = nl_get_uint(tb[NF_DLCBF_A_FLOW_BYTES]);
		f->have |= FLOW_BYTES;
	}
	if (tb[NF_DLCBF_A_FLOW_IDLE]) {
		f->idle = nl_get_uint(tb[NF_DLCBF_A_FLOW_IDLE]);
		f->have |= FLOW_IDLE;
	}
	if (tb[NF_DLCBF_A_FLOW_TIMEOUT]) {
		f->timeout = nl_get_uint(tb[NF_DLCBF_A_FLOW_TIMEOUT]);
		f->have |= FLOW_TIMEOUT;
	}
	if (tb[NF_DLCBF_A_FLOW_LEARNED])
		f->have |= FLOW_LEARNED;
	return true;
}

static void print_address(struct out *o, const char *name, const char *prefix,
			  const struct key *k, bool destination)
{
	bool v4 = k->family == NF_DLCBF_FAMILY_IPV4;
	unsigned int len = destination ? k->dprefix : k->sprefix;
	char buf[INET6_ADDRSTRLEN];

	inet_ntop(v4 ? AF_INET : AF_INET6, destination ? k->daddr : k->saddr,
		  buf, sizeof(buf));
	json_str(o, name, buf);
	if (len < (v4 ? 32 : 128))
		json_uint(o, prefix, len);
}

static void print_key_json(struct out *o, const struct key_spec *spec,
			   const struct key *k)
{
	struct devices *devices = spec ? spec->devices : NULL;
	char buf[FORMAT_MAX];

	if (k->family)
		json_str(o, "family", family_names[k->family]);
	if (k->have & KEY_SADDR)
		print_address(o, "saddr", "saddr_prefix", k, false);
	if (k->have & KEY_DADDR)
		print_address(o, "daddr", "daddr_prefix", k, true);
	if (k->have & KEY_SPORT)
		json_uint(o, "sport", k->sport);
	if (k->have & KEY_DPORT)
		json_uint(o, "dport", k->dport);
	if (k->have & KEY_PROTO)
		json_str(o, "proto", proto_name(k->proto, buf));
	if (k->have & KEY_ICMP_TYPE)
		json_uint(o, "type", k->icmp_type);
	if (k->have & KEY_ICMP_CODE)
		json_uint(o, "code", k->icmp_code);
	if (k->have & KEY_ICMP_ID)
		json_uint(o, "id", k->icmp_id);
	if (k->have & KEY_SPI)
		json_uint(o, "spi", k->spi);
	if (k->have & KEY_GRE)
		json_uint(o, "gre_key", k->spi);
	if (k->have & KEY_IIF)
		json_str(o, "iif", device_name(devices, k->iif, buf));
	if (k->have & KEY_OIF)
		json_str(o, "oif", device_name(devices, k->oif, buf));
	if (k->have & KEY_MARK)
		json_uint(o, "mark", k->mark);
	if (k->have & KEY_VLAN)
		json_uint(o, "vlan", k->vlan);
	if (k->have & KEY_BUCKET) {
		json_uint(o, "bucket", k->bucket);
		json_uint(o, "remainder", k->remainder);
	}
}

/**
 * flow_print - print a flow, without a line's end
 * @o: the output
 * @t: its table, or NULL if that is not known
 * @spec: what the table's keys have, or NULL
 * @f: the flow
 */
void flow_print(struct out *o, const struct table *t,
		const struct key_spec *spec, const struct flow *f)
{
	bool learned = (f->have & FLOW_LEARNED) ||
		       ((f->have & FLOW_COUNT) && !f->count);
	bool pinned = !learned && (f->have & FLOW_COUNT);
	char buf[FORMAT_MAX], key[KEY_TEXT_MAX];

	json_object(o, NULL);
	if (o->json) {
		print_key_json(o, spec, &f->key);
	} else {
		key_format(spec, &f->key, key, sizeof(key));
		out_text(o, "%s", key);
	}
	if (f->have & FLOW_PACKETS)
		put_uint(o, "packets", f->packets);
	if (f->have & FLOW_BYTES)
		put_uint(o, "bytes", f->bytes);
	if (f->have & FLOW_IDLE) {
		out_text(o, " idle %s", format_time(f->idle, buf));
		json_uint(o, "idle_ms", f->idle);
	}
	/* In a table that learns nothing there is no other kind. */
	if (pinned && t && (t->type == TYPE_FLOW || t->learn))
		out_text(o, " pinned");
	if (pinned || learned) {
		json_bool(o, "pinned", pinned);
		json_uint(o, "count", pinned ? f->count : 0);
	}
	if (f->have & FLOW_TIMEOUT) {
		out_text(o, " timeout %s", format_time(f->timeout, buf));
		json_uint(o, "timeout_ms", f->timeout);
	}
	if (pinned && f->count > 1)
		out_text(o, " count %" PRIu32, f->count);
	json_object_end(o);
}

struct each {
	struct run *run;
	const struct key_spec *spec;
	flow_fn fn;
	void *data;
	int status;
};

static int each_cb(const struct nlmsghdr *nlh, void *data)
{
	struct each *each = data;
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		struct flow f;

		if (mnl_attr_get_type(attr) != NF_DLCBF_A_FLOWS_FLOW ||
		    !flow_take(attr, each->spec, &f))
			continue;
		each->status = each->fn(each->run, &f, each->data);
		if (each->status)
			return -ECANCELED;
	}
	return 0;
}

/**
 * flow_for_each - call a function for each flow of a table, as they come
 * @r: the run
 * @cmd: NF_DLCBF_CMD_FLOW_GET or NF_DLCBF_CMD_FLOW_RESET
 * @spec: the table, and what its keys have
 * @filter: which flows, or NULL for all
 * @fn: returns an exit status, which ends the listing unless it is 0; it must
 *	not talk to the kernel
 * @data: for @fn
 * @interrupted: set to whether the table changed shape meanwhile
 *
 * Return: an exit status.
 */
int flow_for_each(struct run *r, u8 cmd, const struct key_spec *spec,
		  const struct key *filter, flow_fn fn, void *data,
		  bool *interrupted)
{
	struct each each = { r, spec, fn, data, 0 };
	u32 nest;

	nl_request(&r->nl, cmd, NLM_F_DUMP);
	nl_put_str(&r->nl, NF_DLCBF_A_FLOWS_TABLE, spec->table);
	if (filter) {
		nest = nl_nest(&r->nl, NF_DLCBF_A_FLOWS_FILTER);
		key_put(&r->nl, filter, true);
		nl_nest_end(&r->nl, nest);
	}
	if (nl_dump(&r->nl, each_cb, &each, interrupted) < 0 && !each.status)
		return run_refused(r, "cannot list the flows of table %s",
				   spec->table);
	return each.status;
}

static int print_each(struct run *r, const struct flow *f, void *data)
{
	flow_print(&r->out, &r->table, data, f);
	out_text(&r->out, "\n");
	return r->out.failed ? EXIT_FAIL : 0;
}

/* A listing; it is begun again if the table was replaced while it ran. */
static int list_flows(struct run *r, u8 cmd, struct key_spec *spec,
		      const struct key *filter)
{
	bool interrupted = true;
	struct error e;
	int ret = 0, i;

	/*
	 * The module refuses these too, but some kernels lose what it says when
	 * it does not begin a dump.
	 */
	if (cmd == NF_DLCBF_CMD_FLOW_RESET &&
	    r->table.type == NF_DLCBF_TYPE_SET) {
		err_set(&e, "table %s is a set: it has no counters to reset",
			spec->table);
		return fail(&e);
	}
	if (filter && !spec->keys) {
		err_set(&e, "table %s has no keys: only all of its flows or a whole key can be asked for",
			spec->table);
		return fail(&e);
	}

	for (i = 0; !ret && i < TRIES; i++) {
		out_hold(&r->out);
		json_begin(&r->out);
		json_array(&r->out, NULL);
		ret = flow_for_each(r, cmd, spec, filter, print_each, spec,
				    &interrupted);
		json_array_end(&r->out);
		json_end(&r->out);
		/* Counters that were reset are known to us alone. */
		if (!interrupted || cmd == NF_DLCBF_CMD_FLOW_RESET ||
		    i == TRIES - 1 || !out_take_back(&r->out))
			break;
	}
	out_release(&r->out);
	if (ret || !interrupted)
		return ret;
	err_set(&e, "tables changed while table %s was listed: flows may be missing",
		spec->table);
	return fail(&e);
}

/* Ask for one flow: 0, or the kernel's error. */
static int ask_flow(struct run *r, u8 cmd, const struct key_spec *spec,
		    const struct key *k, flow_fn fn, void *data)
{
	struct each each = { r, spec, fn, data, 0 };
	u32 nest;

	nl_request(&r->nl, cmd, 0);
	nl_put_str(&r->nl, NF_DLCBF_A_FLOWS_TABLE, spec->table);
	nest = nl_nest(&r->nl, NF_DLCBF_A_FLOWS_FLOW);
	key_put(&r->nl, k, false);
	nl_nest_end(&r->nl, nest);
	return nl_talk(&r->nl, each_cb, &each);
}

static int no_such_flow(const struct key_spec *spec, const struct key *k)
{
	char text[KEY_TEXT_MAX];
	struct error e;

	key_format(spec, k, text, sizeof(text));
	err_set(&e, "%s is not in table %s", text, spec->table);
	return fail(&e);
}

static int show_or_reset(struct run *r, struct args *a, u8 cmd,
			 const char *what)
{
	struct key_spec spec;
	struct error e;
	struct key k;
	int ret;

	ret = table_find(r, a, &spec);
	if (ret)
		return ret;
	if (!args_peek(a))
		return list_flows(r, cmd, &spec, NULL);
	if (key_parse(&spec, true, a, &k, &e) || args_end(a, &e))
		return usage(&e);
	if (!key_is_full(&spec, &k))
		return list_flows(r, cmd, &spec, &k);

	json_begin(&r->out);
	json_array(&r->out, NULL);
	ret = ask_flow(r, cmd, &spec, &k, print_each, &spec);
	json_array_end(&r->out);
	json_end(&r->out);
	if (ret == -ENOENT)
		return no_such_flow(&spec, &k);
	if (ret < 0)
		return run_refused(r, "cannot %s a flow of table %s", what,
				   spec.table);
	return 0;
}

static int flow_show(struct run *r, struct args *a)
{
	return show_or_reset(r, a, NF_DLCBF_CMD_FLOW_GET, "show");
}

static int flow_reset(struct run *r, struct args *a)
{
	return show_or_reset(r, a, NF_DLCBF_CMD_FLOW_RESET, "reset");
}

static int ignore_flow(struct run *r, const struct flow *f, void *data)
{
	(void)r;
	(void)f;
	(void)data;
	return 0;
}

static int flow_test(struct run *r, struct args *a)
{
	char text[KEY_TEXT_MAX];
	struct key_spec spec;
	struct error e;
	struct flow f;
	int ret;

	ret = table_find(r, a, &spec);
	if (ret)
		return ret;
	if (flow_parse(&spec, a, false, &f, &e))
		return usage(&e);
	ret = ask_flow(r, NF_DLCBF_CMD_FLOW_GET, &spec, &f.key, ignore_flow,
		       NULL);
	if (ret < 0 && ret != -ENOENT)
		return run_refused(r, "cannot look into table %s", spec.table);
	if (r->quiet)
		return ret ? EXIT_NO : EXIT_OK;
	key_format(&spec, &f.key, text, sizeof(text));
	out_text(&r->out, "%s is %sin table %s.\n", text, ret ? "not " : "",
		 spec.table);
	json_begin(&r->out);
	json_object(&r->out, NULL);
	json_str(&r->out, "table", spec.table);
	print_key_json(&r->out, &spec, &f.key);
	json_bool(&r->out, "in", !ret);
	json_object_end(&r->out);
	json_end(&r->out);
	return ret ? EXIT_NO : EXIT_OK;
}

static int change_file(struct run *r, u8 cmd, const struct key_spec *spec,
		       struct args *a, bool staged, bool keep, u64 *done)
{
	const char *file;
	struct load *l;
	struct error e;
	int ret;

	if (args_value(a, "file", &file, &e))
		return usage(&e);
	l = malloc(sizeof(*l));
	if (!l) {
		err_set(&e, "not enough memory");
		return fail(&e);
	}
	load_init(l, r, cmd, spec->table, file, staged);
	l->no_counters = keep;
	ret = load_file(l, spec);
	*done = l->done;
	if (l->failed && l->done && !staged)
		fprintf(stderr, "%" PRIu64 " flows were %s all the same.\n",
			l->done, cmd == NF_DLCBF_CMD_FLOW_ADD ? "added" :
			"deleted");
	free(l);
	return ret;
}

static int say_done(struct run *r, const char *what, const char *table,
		    u64 done, int status)
{
	if (!r->stats || status)
		return status;
	out_text(&r->out, "%" PRIu64 " flows %s table %s.\n", done, what, table);
	json_begin(&r->out);
	json_object(&r->out, NULL);
	json_str(&r->out, "table", table);
	json_uint(&r->out, "flows", done);
	json_object_end(&r->out);
	json_end(&r->out);
	return 0;
}

static int flow_change(struct run *r, struct args *a, u8 cmd)
{
	bool add = cmd == NF_DLCBF_CMD_FLOW_ADD;
	struct key_spec spec;
	u64 done = 0;
	struct error e;
	struct flow f;
	int ret;

	ret = table_find(r, a, &spec);
	if (ret)
		return ret;
	if (args_take(a, "file")) {
		/* A file's name is the last word. */
		if (a->n - a->i > 1) {
			a->i++;
			args_end(a, &e);
			return usage(&e);
		}
		ret = change_file(r, cmd, &spec, a, false, false, &done);
		return say_done(r, add ? "added to" : "deleted from",
				spec.table, done, ret);
	}
	if (flow_parse(&spec, a, add, &f, &e))
		return usage(&e);
	nl_request(&r->nl, cmd, 0);
	nl_put_str(&r->nl, NF_DLCBF_A_FLOWS_TABLE, spec.table);
	if (r->exist)
		nl_put_flag(&r->nl, NF_DLCBF_A_FLOWS_EXIST);
	flow_put(&r->nl, &f);
	if (nl_talk(&r->nl, NULL, NULL) < 0) {
		char text[KEY_TEXT_MAX];

		key_format(&spec, &f.key, text, sizeof(text));
		return run_refused(r, "cannot %s %s %s table %s",
				   add ? "add" : "delete", text,
				   add ? "to" : "from", spec.table);
	}
	return 0;
}

static int flow_add(struct run *r, struct args *a)
{
	return flow_change(r, a, NF_DLCBF_CMD_FLOW_ADD);
}

static int flow_delete(struct run *r, struct args *a)
{
	return flow_change(r, a, NF_DLCBF_CMD_FLOW_DEL);
}

/* The same table once more, unseen until it is published. */
static int stage_clone(struct run *r, const struct table *t)
{
	struct error e;

	if (!TABLE_HAS(t, SECRET)) {
		err_set(&e, "cannot replace the flows of table %s: %s (it takes CAP_NET_ADMIN)",
			t->name, strerror(EPERM));
		return fail(&e);
	}
	nl_request(&r->nl, NF_DLCBF_CMD_TABLE_ADD, 0);
	table_put(&r->nl, t);
	nl_put_flag(&r->nl, NF_DLCBF_A_TABLE_STAGED);
	if (nl_talk(&r->nl, NULL, NULL) < 0)
		return run_refused(r, "cannot make a second table %s", t->name);
	return 0;
}

static int flow_replace(struct run *r, struct args *a)
{
	struct args rest = *a;
	struct key_spec spec;
	bool keep = false;
	u64 done = 0;
	struct error e;
	int ret;

	/* A look ahead, before anything is asked of the kernel. */
	rest.i++;
	if (!args_take(&rest, "file")) {
		err_set(&e, "\"file FILE\" is missing: what the flows are replaced with");
		return usage(&e);
	}
	args_next(&rest);
	keep = args_take(&rest, "keep-counters");
	if (args_end(&rest, &e))
		return usage(&e);

	/* Its settings must be those of this moment. */
	r->table.name[0] = 0;
	ret = table_find(r, a, &spec);
	if (ret)
		return ret;
	ret = stage_clone(r, &r->table);
	if (ret)
		return ret;
	args_take(a, "file");
	ret = change_file(r, NF_DLCBF_CMD_FLOW_ADD, &spec, a, true, keep,
			  &done);
	if (!ret || r->force) {
		nl_request(&r->nl, NF_DLCBF_CMD_TABLE_PUBLISH, 0);
		if (keep)
			nl_put_flag(&r->nl, NF_DLCBF_A_TABLE_KEEP_COUNTERS);
		if (nl_talk(&r->nl, NULL, NULL) == 0)
			return say_done(r, "are now all in", spec.table, done,
					ret);
		ret = run_refused(r, "cannot replace the flows of table %s",
				  spec.table);
	}
	/* What is staged goes with its socket. */
	nl_close(&r->nl);
	r->opened = false;
	r->table.name[0] = 0;
	return ret;
}

static const struct verb verbs[] = {
	{ "show", flow_show, "TABLE [ KEY ]" },
	{ "add", flow_add,
	  "TABLE { KEY [ VALUES ] | file FILE }" },
	{ "delete", flow_delete, "TABLE { KEY | file FILE }" },
	{ "replace", flow_replace, "TABLE file FILE [ keep-counters ]" },
	{ "test", flow_test, "TABLE KEY" },
	{ "reset", flow_reset, "TABLE [ KEY ]" },
	{ NULL, NULL, NULL }
};

const struct noun flow_noun = {
	.name = "flow",
	.verbs = verbs,
	.terms =
	"KEY    := { [ [saddr] ADDRESS[:PORT] ] [ [daddr] ADDRESS[:PORT] ]\n"
	"            [ sport PORT ] [ dport PORT ] [ proto PROTO ]\n"
	"            [ type TYPE code CODE id ID | spi SPI | gre-key KEY ]\n"
	"            [ iif DEVICE ] [ oif DEVICE ] [ mark MARK ] [ vlan VLAN ]\n"
	"            [ family { ipv4 | ipv6 } ] | fingerprint BUCKET:REMAINDER }\n"
	"VALUES := [ packets NUMBER ] [ bytes NUMBER ] [ idle TIME ]\n"
	"          [ timeout TIME ] [ count NUMBER | learned ]\n"
	"FILE   := { PATH | - }, with one KEY [ VALUES ] on each line\n",
};
