// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dlcbf.h"

#define TRIES	8

static const char *const hook_names[] = {
	"", "prerouting", "input", "forward", "output", "postrouting",
	"ingress", NULL
};

static const char *const verdict_names[] = {
	"", "continue", "accept", "drop", "mark", NULL
};

/* The words that nft has for the usual places. */
static const struct {
	const char *name;
	s32 priority;
} priorities[] = {
	{ "raw", -300 }, { "mangle", -150 }, { "dstnat", -100 },
	{ "filter", 0 }, { "security", 50 }, { "srcnat", 100 },
};

static int parse_priority(const char *s, s32 *priority, struct error *e)
{
	u64 v;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(priorities); i++) {
		if (!strcmp(s, priorities[i].name)) {
			*priority = priorities[i].priority;
			return 0;
		}
	}
	if (!isdigit((unsigned char)s[*s == '-' || *s == '+']))
		return err_set(e, "priority: \"%s\" is not a number, nor a name that nft has",
			       s);
	if (*s == '-') {
		if (parse_uint("priority", s + 1, 1ULL << 31, &v, e))
			return -EINVAL;
		*priority = (s32)-(s64)v;
		return 0;
	}
	if (parse_uint("priority", s + (*s == '+'), INT32_MAX, &v, e))
		return -EINVAL;
	*priority = v;
	return 0;
}

static int parse_verdict(const char *what, struct args *a, struct verdict *v,
			 struct error *e)
{
	char value[32];
	const char *s, *slash;
	u64 n;
	int ret;

	if (v->verdict)
		return err_set(e, "%s is given twice", what);
	ret = args_value(a, what, &s, e);
	if (ret)
		return ret;
	ret = parse_enum(what, s, verdict_names, &v->verdict, e);
	if (ret || v->verdict != NF_DLCBF_VERDICT_MARK)
		return ret;

	ret = args_value(a, "mark", &s, e);
	if (ret)
		return ret;
	slash = strchr(s, '/');
	if (slash) {
		ret = parse_uint("the mark's mask", slash + 1, UINT32_MAX, &n, e);
		if (ret)
			return ret;
		v->mask = n;
	} else {
		v->mask = UINT32_MAX;
	}
	snprintf(value, sizeof(value), "%.*s",
		 slash ? (int)(slash - s) : (int)strlen(s), s);
	ret = parse_uint("mark", value, UINT32_MAX, &n, e);
	if (ret)
		return ret;
	if (n & ~(u64)v->mask)
		return err_set(e, "mark: 0x%" PRIx64 " has bits outside of the mask 0x%" PRIx32,
			       n, v->mask);
	v->mark = n;
	return 0;
}

/**
 * hook_parse - read where a table is hooked, and what that does
 * @a: the words, all of which are read
 * @verdicts: whether there may be any
 * @h: the hook
 * @e: what is wrong
 *
 * Return: 0 or -EINVAL.
 */
int hook_parse(struct args *a, bool verdicts, struct hook *h, struct error *e)
{
	bool have_priority = false;
	const char *word, *value;
	int ret;

	memset(h, 0, sizeof(*h));
	word = args_next(a);
	if (!word)
		return err_set(e, "the table's name is missing");
	ret = parse_name("the table's name", word, e);
	if (ret)
		return ret;
	strcpy(h->table, word);

	while ((word = args_next(a))) {
		if (verdicts && !strcmp(word, "hit")) {
			ret = parse_verdict(word, a, &h->hit, e);
			if (ret)
				return ret;
			continue;
		}
		if (verdicts && !strcmp(word, "miss")) {
			ret = parse_verdict(word, a, &h->miss, e);
			if (ret)
				return ret;
			continue;
		}
		if (!strcmp(word, "hook")) {
			if (h->hook)
				return err_set(e, "hook is given twice");
			ret = args_value(a, word, &value, e);
			if (!ret)
				ret = parse_enum(word, value, hook_names,
						 &h->hook, e);
		} else if (!strcmp(word, "priority")) {
			if (have_priority)
				return err_set(e, "priority is given twice");
			have_priority = true;
			ret = args_value(a, word, &value, e);
			if (!ret)
				ret = parse_priority(value, &h->priority, e);
		} else if (!strcmp(word, "device")) {
			if (h->device[0])
				return err_set(e, "device is given twice");
			ret = args_value(a, word, &value, e);
			if (!ret && (!*value || strlen(value) >= IF_NAMESIZE))
				ret = err_set(e, "device: \"%s\" is not a device's name",
					      value);
			if (!ret)
				strcpy(h->device, value);
		} else {
			ret = err_set(e, "what is \"%s\"?", word);
		}
		if (ret)
			return ret;
	}
	if (!h->hook)
		return err_set(e, "hook is missing: where the table is to see packets");
	if (h->hook == NF_DLCBF_HOOK_INGRESS && !h->device[0])
		return err_set(e, "device is missing: ingress is a hook of one device");
	if (h->hook != NF_DLCBF_HOOK_INGRESS && h->device[0])
		return err_set(e, "device goes with hook ingress only");
	return 0;
}

/** hook_put - put a hook's attributes into the request */
void hook_put(struct nl *nl, const struct hook *h, bool verdicts)
{
	nl_put_str(nl, NF_DLCBF_A_HOOK_TABLE, h->table);
	nl_put_u32(nl, NF_DLCBF_A_HOOK_HOOK, h->hook);
	nl_put_u32(nl, NF_DLCBF_A_HOOK_PRIORITY, h->priority);
	if (h->device[0])
		nl_put_str(nl, NF_DLCBF_A_HOOK_DEVICE, h->device);
	if (!verdicts)
		return;
	if (h->hit.verdict)
		nl_put_u32(nl, NF_DLCBF_A_HOOK_HIT, h->hit.verdict);
	if (h->hit.verdict == NF_DLCBF_VERDICT_MARK) {
		nl_put_u32(nl, NF_DLCBF_A_HOOK_HIT_MARK, h->hit.mark);
		nl_put_u32(nl, NF_DLCBF_A_HOOK_HIT_MASK, h->hit.mask);
	}
	if (h->miss.verdict)
		nl_put_u32(nl, NF_DLCBF_A_HOOK_MISS, h->miss.verdict);
	if (h->miss.verdict == NF_DLCBF_VERDICT_MARK) {
		nl_put_u32(nl, NF_DLCBF_A_HOOK_MISS_MARK, h->miss.mark);
		nl_put_u32(nl, NF_DLCBF_A_HOOK_MISS_MASK, h->miss.mask);
	}
}

static void take_verdict(const struct nlattr *verdict,
			 const struct nlattr *mark, const struct nlattr *mask,
			 struct verdict *v)
{
	v->verdict = verdict ? nl_get_uint(verdict) : NF_DLCBF_VERDICT_CONTINUE;
	v->mark = mark ? nl_get_uint(mark) : 0;
	v->mask = mask ? nl_get_uint(mask) : UINT32_MAX;
}

/** hook_take - read a hook from a message; false if it has none */
bool hook_take(const struct nlmsghdr *nlh, struct hook *h)
{
	const struct nlattr *tb[NF_DLCBF_A_HOOK_MAX + 1];

	memset(h, 0, sizeof(*h));
	if (!nl_parse(nlh, tb, NF_DLCBF_A_HOOK_MAX) ||
	    !tb[NF_DLCBF_A_HOOK_TABLE] || !tb[NF_DLCBF_A_HOOK_HOOK])
		return false;
	nl_get_str(tb[NF_DLCBF_A_HOOK_TABLE], h->table, sizeof(h->table));
	h->hook = nl_get_uint(tb[NF_DLCBF_A_HOOK_HOOK]);
	if (tb[NF_DLCBF_A_HOOK_PRIORITY])
		h->priority = (s32)nl_get_uint(tb[NF_DLCBF_A_HOOK_PRIORITY]);
	if (tb[NF_DLCBF_A_HOOK_DEVICE])
		nl_get_str(tb[NF_DLCBF_A_HOOK_DEVICE], h->device,
			   sizeof(h->device));
	take_verdict(tb[NF_DLCBF_A_HOOK_HIT], tb[NF_DLCBF_A_HOOK_HIT_MARK],
		     tb[NF_DLCBF_A_HOOK_HIT_MASK], &h->hit);
	take_verdict(tb[NF_DLCBF_A_HOOK_MISS], tb[NF_DLCBF_A_HOOK_MISS_MARK],
		     tb[NF_DLCBF_A_HOOK_MISS_MASK], &h->miss);
	return true;
}

static const char *name_of(const char *const *names, u32 v)
{
	u32 i;

	for (i = 1; names[i]; i++)
		if (i == v)
			return names[i];
	return "unknown";
}

static void print_verdict(struct out *o, const char *word,
			  const struct verdict *v)
{
	const char *name = name_of(verdict_names, v->verdict);

	out_text(o, " %s %s", word, name);
	json_object(o, word);
	json_str(o, "verdict", name);
	if (v->verdict == NF_DLCBF_VERDICT_MARK) {
		out_text(o, " 0x%" PRIx32, v->mark);
		if (v->mask != UINT32_MAX)
			out_text(o, "/0x%" PRIx32, v->mask);
		json_uint(o, "mark", v->mark);
		json_uint(o, "mask", v->mask);
	}
	json_object_end(o);
}

/** hook_print - print a hook as hook_parse() reads it, without a line's end */
void hook_print(struct out *o, const struct hook *h)
{
	char quoted[4 * IF_NAMESIZE + 160];

	json_object(o, NULL);
	quote_word(h->table, quoted, sizeof(quoted));
	out_text(o, "%s", quoted);
	json_str(o, "table", h->table);
	put_str(o, "hook", name_of(hook_names, h->hook));
	if (h->device[0]) {
		quote_word(h->device, quoted, sizeof(quoted));
		out_text(o, " device %s", quoted);
		json_str(o, "device", h->device);
	}
	out_text(o, " priority %" PRId32, h->priority);
	snprintf(quoted, sizeof(quoted), "%" PRId32, h->priority);
	json_number(o, "priority", quoted);
	print_verdict(o, "hit", &h->hit);
	print_verdict(o, "miss", &h->miss);
	json_object_end(o);
}

struct list {
	struct hook *v;
	size_t n, size;
};

static int list_cb(const struct nlmsghdr *nlh, void *data)
{
	struct list *l = data;

	if (l->n == l->size) {
		size_t size = l->size ? 2 * l->size : 16;
		struct hook *v = realloc(l->v, size * sizeof(*v));

		if (!v)
			return -ENOMEM;
		l->v = v;
		l->size = size;
	}
	if (hook_take(nlh, &l->v[l->n]))
		l->n++;
	return 0;
}

/**
 * hook_for_each - call a function for each hook
 * @r: the run
 * @table: of this table, or NULL for all
 * @fn: returns an exit status, which ends the listing unless it is 0
 * @data: for @fn
 *
 * Return: an exit status.
 */
int hook_for_each(struct run *r, const char *table, hook_fn fn, void *data)
{
	struct list l = { 0 };
	bool interrupted = true;
	int ret = run_open(r), i;
	size_t n;

	for (i = 0; !ret && interrupted && i < TRIES; i++) {
		l.n = 0;
		nl_request(&r->nl, NF_DLCBF_CMD_HOOK_GET, NLM_F_DUMP);
		if (table)
			nl_put_str(&r->nl, NF_DLCBF_A_HOOK_TABLE, table);
		if (nl_dump(&r->nl, list_cb, &l, &interrupted) < 0)
			ret = run_refused(r, "cannot list the hooks");
	}
	if (!ret && interrupted) {
		struct error e;

		err_set(&e, "the hooks kept changing while they were listed");
		ret = fail(&e);
	}
	for (n = 0; !ret && n < l.n; n++)
		ret = fn(r, &l.v[n], data);
	free(l.v);
	return ret;
}

static int hook_send(struct run *r, struct args *a, u8 cmd)
{
	bool add = cmd == NF_DLCBF_CMD_HOOK_ADD;
	struct error e;
	struct hook h;
	int ret;

	if (hook_parse(a, add, &h, &e))
		return usage(&e);
	ret = run_open(r);
	if (ret)
		return ret;
	nl_request(&r->nl, cmd, 0);
	hook_put(&r->nl, &h, add);
	if (r->exist)
		nl_put_flag(&r->nl, NF_DLCBF_A_HOOK_EXIST);
	if (nl_talk(&r->nl, NULL, NULL) < 0)
		return run_refused(r, "cannot %s hook %s%s%s of table %s",
				   add ? "add" : "delete", hook_names[h.hook],
				   h.device[0] ? " device " : "", h.device,
				   h.table);
	return 0;
}

static int hook_add(struct run *r, struct args *a)
{
	return hook_send(r, a, NF_DLCBF_CMD_HOOK_ADD);
}

static int hook_delete(struct run *r, struct args *a)
{
	return hook_send(r, a, NF_DLCBF_CMD_HOOK_DEL);
}

static int show_each(struct run *r, const struct hook *h, void *data)
{
	(void)data;
	hook_print(&r->out, h);
	out_text(&r->out, "\n");
	return 0;
}

static int hook_show(struct run *r, struct args *a)
{
	const char *table = args_next(a);
	struct error e;
	int ret;

	if (args_end(a, &e) ||
	    (table && parse_name("the table's name", table, &e)))
		return usage(&e);
	ret = run_open(r);
	if (ret)
		return ret;
	json_begin(&r->out);
	json_array(&r->out, NULL);
	ret = hook_for_each(r, table, show_each, NULL);
	json_array_end(&r->out);
	json_end(&r->out);
	return ret;
}

static const struct verb verbs[] = {
	{ "show", hook_show, "[ TABLE ]" },
	{ "add", hook_add,
	  "TABLE hook HOOK [ priority PRIORITY ]\n"
	  "[ hit VERDICT ] [ miss VERDICT ]" },
	{ "delete", hook_delete, "TABLE hook HOOK [ priority PRIORITY ]" },
	{ NULL, NULL, NULL }
};

const struct noun hook_noun = {
	.name = "hook",
	.verbs = verbs,
	.terms =
	"HOOK     := { prerouting | input | forward | output | postrouting |\n"
	"              ingress device DEVICE }\n"
	"PRIORITY := { NUMBER | raw | mangle | dstnat | filter | security | srcnat }\n"
	"VERDICT  := { accept | drop | continue | mark VALUE[/MASK] }\n",
};
