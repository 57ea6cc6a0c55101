// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dlcbf.h"

struct restore {
	struct run *run;
	struct lines *lines;
	struct load *load;
	struct table *tables;	/* staged so far */
	size_t n_tables;
	size_t current;		/* the one that flows were last added to */
	struct key_spec spec;	/* of that one */
	u64 count;		/* of commands */
	u64 flows;
	bool begun;		/* the first line that says anything was read */
	bool header;
	bool ended;
};

static int at_line(const struct restore *s, struct error *e)
{
	err_prefix(e, "%s:%lu: ", s->lines->name, s->lines->number);
	return usage(e);
}

static int refused_at_line(const struct restore *s, const char *what,
			   const char *name)
{
	struct error e;

	nl_describe(&s->run->nl, &e, "%s:%lu: cannot add %s %s", s->lines->name,
		    s->lines->number, what, name);
	return fail(&e);
}

static int find_staged(struct restore *s, const char *name, size_t *which)
{
	size_t i;

	/* Flows come in long runs of the same table. */
	if (s->current < s->n_tables &&
	    !strcmp(s->tables[s->current].name, name)) {
		*which = s->current;
		return 0;
	}
	for (i = 0; i < s->n_tables; i++) {
		if (!strcmp(s->tables[i].name, name)) {
			*which = i;
			return 0;
		}
	}
	return -ENOENT;
}

static int flush(struct restore *s)
{
	int ret = load_flush(s->load);

	return s->run->force ? 0 : ret;
}

static int restore_table(struct restore *s, struct args *a)
{
	struct nl *nl = &s->run->nl;
	struct table t, reply = { 0 }, *tables;
	struct error e;
	size_t which;
	int ret;

	if (table_parse(a, &t, &e) || table_check(&t, &e))
		return at_line(s, &e);
	if (t.dry_run) {
		err_set(&e, "dry-run has no place in a save file");
		return at_line(s, &e);
	}
	if (!find_staged(s, t.name, &which)) {
		err_set(&e, "table %s is there twice", t.name);
		return at_line(s, &e);
	}
	ret = flush(s);
	if (ret)
		return ret;
	nl_request(nl, NF_DLCBF_CMD_TABLE_ADD, 0);
	table_put(nl, &t);
	nl_put_flag(nl, NF_DLCBF_A_TABLE_STAGED);
	if (nl_talk(nl, table_reply_cb, &reply) < 0 || !reply.name[0])
		return refused_at_line(s, "table", t.name);

	tables = realloc(s->tables, (s->n_tables + 1) * sizeof(*tables));
	if (!tables) {
		err_set(&e, "not enough memory");
		return fail(&e);
	}
	s->tables = tables;
	tables[s->n_tables++] = reply;
	/* The old array, which the key's needs point into, may be gone. */
	s->current = SIZE_MAX;
	return 0;
}

static int restore_hook(struct restore *s, struct args *a)
{
	struct nl *nl = &s->run->nl;
	char what[64];
	struct error e;
	struct hook h;
	size_t which;
	int ret;

	if (hook_parse(a, true, &h, &e))
		return at_line(s, &e);
	if (find_staged(s, h.table, &which)) {
		err_set(&e, "table %s is not added before this line", h.table);
		return at_line(s, &e);
	}
	ret = flush(s);
	if (ret)
		return ret;
	nl_request(nl, NF_DLCBF_CMD_HOOK_ADD, 0);
	hook_put(nl, &h, true);
	nl_put_flag(nl, NF_DLCBF_A_HOOK_STAGED);
	if (nl_talk(nl, NULL, NULL) < 0) {
		snprintf(what, sizeof(what), "a hook%s%s of table",
			 h.device[0] ? " of device " : "", h.device);
		return refused_at_line(s, what, h.table);
	}
	return 0;
}

static int restore_flow(struct restore *s, struct args *a)
{
	const char *name = args_next(a);
	struct error e;
	struct flow f;
	size_t which;
	int ret;

	if (!name) {
		err_set(&e, "the table's name is missing");
		return at_line(s, &e);
	}
	if (find_staged(s, name, &which)) {
		err_set(&e, "table %s is not added before this line", name);
		return at_line(s, &e);
	}
	if (which != s->current) {
		ret = flush(s);
		if (ret)
			return ret;
		s->current = which;
		table_spec(s->run, &s->tables[which], &s->spec);
		s->load->table = s->tables[which].name;
	}
	if (flow_parse(&s->spec, a, true, &f, &e)) {
		ret = at_line(s, &e);
		/* With -force the rest is worth having without this one. */
		s->load->failed++;
		return s->run->force ? 0 : ret;
	}
	s->flows++;
	return load_flow(s->load, &f, s->lines->number);
}

/* The first line of a file that "save" wrote. */
static int read_header(struct restore *s, struct args *a)
{
	const char *version = args_next(a);
	struct error e;

	if (s->begun) {
		err_set(&e, "a second beginning: are these two files in one?");
		return at_line(s, &e);
	}
	if (!version || strcmp(version, "1") || args_end(a, &e)) {
		err_set(&e, "a save file of version %s; this command knows version 1",
			version ? version : "?");
		return at_line(s, &e);
	}
	s->header = true;
	return 0;
}

static int read_end(struct restore *s, struct args *a)
{
	const char *value;
	struct error e;
	u64 count;

	if (args_value(a, "end", &value, &e) || args_end(a, &e) ||
	    parse_uint("end", value, UINT64_MAX, &count, &e))
		return at_line(s, &e);
	if (count != s->count) {
		err_set(&e, "%" PRIu64 " commands were saved, and %" PRIu64 " are here",
			count, s->count);
		return at_line(s, &e);
	}
	s->ended = true;
	return 0;
}

static int restore_line(struct restore *s, char *line)
{
	static const struct {
		const char *noun;
		int (*run)(struct restore *s, struct args *a);
	} commands[] = {
		/* Most lines are of the first kind. */
		{ "flow", restore_flow },
		{ "table", restore_table },
		{ "hook", restore_hook },
	};
	char *words[LINE_WORDS];
	struct args a = { .v = words };
	const char *noun, *verb;
	struct error e;
	size_t i;
	int ret;

	a.n = split_line(line, words, LINE_WORDS, &e);
	if (a.n < 0)
		return at_line(s, &e);
	noun = args_next(&a);
	if (!noun)
		return 0;
	if (s->ended) {
		err_set(&e, "there is more after the end");
		return at_line(s, &e);
	}
	if (!strcmp(noun, "dlcbf-save")) {
		ret = read_header(s, &a);
		s->begun = true;
		return ret;
	}
	s->begun = true;
	if (!strcmp(noun, "end"))
		return read_end(s, &a);
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(noun, commands[i].noun))
			break;
	verb = args_next(&a);
	if (i == ARRAY_SIZE(commands) || !verb || strcmp(verb, "add")) {
		err_set(&e, "\"%s%s%s\" is not table add, hook add or flow add",
			noun, verb ? " " : "", verb ? verb : "");
		return at_line(s, &e);
	}
	s->count++;
	return commands[i].run(s, &a);
}

static int publish(struct restore *s, bool keep)
{
	struct run *r = s->run;

	nl_request(&r->nl, NF_DLCBF_CMD_TABLE_PUBLISH, 0);
	if (keep)
		nl_put_flag(&r->nl, NF_DLCBF_A_TABLE_KEEP_COUNTERS);
	if (nl_talk(&r->nl, NULL, NULL) < 0)
		return run_refused(r, "cannot put the tables in place");
	if (r->stats && !r->json)
		out_text(&r->out, "%zu tables with %" PRIu64 " flows are in place.\n",
			 s->n_tables, s->flows - (s->load->failed < s->flows ?
						  s->load->failed : s->flows));
	return 0;
}

static int restore_all(struct restore *s, bool keep)
{
	struct error e;
	char *line;
	int ret, status;

	while ((ret = lines_next(s->lines, &line, &e)) > 0) {
		status = restore_line(s, line);
		if (status)
			return status;
	}
	if (ret < 0)
		return usage(&e);
	status = flush(s);
	if (status)
		return status;
	if (s->header && !s->ended) {
		err_set(&e, "%s: the end is missing: the file was cut off",
			s->lines->name);
		return usage(&e);
	}
	if (!s->begun) {
		err_set(&e, "%s: there is nothing in it", s->lines->name);
		return usage(&e);
	}
	if (!s->n_tables)
		return 0;
	status = publish(s, keep);
	return !status && s->load->failed ? EXIT_FAIL : status;
}

static int run_restore(struct run *r, struct args *a)
{
	struct restore s = { .run = r, .current = SIZE_MAX };
	const char *file = "-";
	bool keep, failed;
	struct error e;
	int fd, ret;

	keep = args_take(a, "keep-counters");
	if (args_take(a, "file")) {
		if (args_value(a, "file", &file, &e))
			return usage(&e);
	} else if (args_peek(a)) {
		file = args_next(a);
	}
	if (!keep)
		keep = args_take(a, "keep-counters");
	if (args_end(a, &e))
		return usage(&e);

	fd = open_input(file, false, &e);
	if (fd < 0)
		return fail(&e);
	s.lines = malloc(sizeof(*s.lines));
	s.load = malloc(sizeof(*s.load));
	if (!s.lines || !s.load) {
		err_set(&e, "not enough memory");
		ret = fail(&e);
		goto out;
	}
	lines_init(s.lines, fd, strcmp(file, "-") ? file : "standard input");
	load_init(s.load, r, NF_DLCBF_CMD_FLOW_ADD, "", s.lines->name, true);
	s.load->no_counters = keep;
	/* A socket of its own: what others staged is not ours to publish. */
	if (r->opened)
		nl_close(&r->nl);
	r->opened = false;
	r->table.name[0] = 0;
	ret = run_open(r);
	if (ret)
		goto out;
	ret = restore_all(&s, keep);
	failed = ret && !(r->force && s.load->failed);
	if (failed) {
		/* What is staged goes with its socket. */
		fprintf(stderr, "Nothing was changed.\n");
		nl_close(&r->nl);
		r->opened = false;
	}
out:
	free(s.tables);
	free(s.load);
	free(s.lines);
	close(fd);
	return ret;
}

const struct noun restore_noun = {
	.name = "restore",
	.run = run_restore,
	.usage = "[ FILE ] [ keep-counters ]",
};
