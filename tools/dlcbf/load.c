// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dlcbf.h"

/** load_init - get ready to send flows to a table */
void load_init(struct load *l, struct run *r, u8 cmd, const char *table,
	       const char *file, bool staged)
{
	l->run = r;
	l->cmd = cmd;
	l->table = table;
	l->file = file;
	l->staged = staged;
	l->no_counters = false;
	l->done = 0;
	l->failed = 0;
	l->pending = 0;
}

static void load_begin(struct load *l)
{
	struct nl *nl = &l->run->nl;

	nl_request(nl, l->cmd, 0);
	nl_put_str(nl, NF_DLCBF_A_FLOWS_TABLE, l->table);
	if (l->staged)
		nl_put_flag(nl, NF_DLCBF_A_FLOWS_STAGED);
	if (l->run->exist)
		nl_put_flag(nl, NF_DLCBF_A_FLOWS_EXIST);
}

/*
 * What the kernel says of a message with many flows.  It explains an error the
 * first time only.
 */
struct reply {
	struct load *load;
	u64 failed;
	unsigned int reported;
	struct explanation {
		u32 error;
		char text[256];
	} explanations[8];
};

static const char *explanation(struct reply *reply, u32 error,
			       const struct nlattr *message)
{
	struct explanation *x;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(reply->explanations); i++) {
		x = &reply->explanations[i];
		if (!x->text[0] && message) {
			x->error = error;
			nl_get_str(message, x->text, sizeof(x->text));
		}
		if (x->text[0] && x->error == error)
			return x->text;
	}
	return NULL;
}

static int reply_cb(const struct nlmsghdr *nlh, void *data)
{
	struct reply *reply = data;
	struct load *l = reply->load;
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		const struct nlattr *tb[NF_DLCBF_A_FAILURE_MAX + 1];
		const char *text;
		u32 position, code;
		struct error e;

		if (mnl_attr_get_type(attr) == NF_DLCBF_A_FLOWS_FAILED)
			reply->failed = nl_get_uint(attr);
		if (mnl_attr_get_type(attr) != NF_DLCBF_A_FLOWS_FAILURE)
			continue;
		nl_parse_nested(attr, tb, NF_DLCBF_A_FAILURE_MAX);
		if (!tb[NF_DLCBF_A_FAILURE_POSITION] ||
		    !tb[NF_DLCBF_A_FAILURE_ERROR])
			continue;
		position = nl_get_uint(tb[NF_DLCBF_A_FAILURE_POSITION]);
		code = nl_get_uint(tb[NF_DLCBF_A_FAILURE_ERROR]);
		if (position >= l->pending)
			continue;
		text = explanation(reply, code, tb[NF_DLCBF_A_FAILURE_MESSAGE]);
		if (text)
			err_set(&e, "%s:%lu: %s (%s)", l->file,
				l->line[position], text, strerror(code));
		else
			err_set(&e, "%s:%lu: %s", l->file, l->line[position],
				strerror(code));
		fail(&e);
		reply->reported++;
	}
	return 0;
}

/**
 * load_flush - send what is pending
 * @l: the load
 *
 * Return: an exit status: what failed was reported, by its line.
 */
int load_flush(struct load *l)
{
	struct reply reply = { .load = l };
	struct run *r = l->run;
	unsigned int n = l->pending;
	struct error e;
	int ret;

	if (!n)
		return 0;
	ret = nl_talk(&r->nl, reply_cb, &reply);
	if (ret < 0) {
		/* One flow: it failed. Many: one of them made no sense. */
		int position = n == 1 ? 0 : nl_attr_position(&r->nl,
							NF_DLCBF_A_FLOWS_FLOW,
							r->nl.error.offset);

		l->pending = 0;
		l->failed += n;
		if (position >= 0)
			nl_describe(&r->nl, &e, "%s:%lu", l->file,
				    l->line[position]);
		else
			nl_describe(&r->nl, &e, "%s:%lu to %lu", l->file,
				    l->line[0], l->line[n - 1]);
		fail(&e);
		return EXIT_FAIL;
	}
	l->pending = 0;
	l->failed += reply.failed;
	l->done += n - reply.failed;
	if (reply.failed > reply.reported) {
		err_set(&e, "%s:%lu to %lu: %" PRIu64 " more flows failed",
			l->file, l->line[0], l->line[n - 1],
			reply.failed - reply.reported);
		fail(&e);
	}
	return reply.failed ? EXIT_FAIL : 0;
}

/**
 * load_flow - send a flow, together with others
 * @l: the load
 * @f: the flow
 * @line: its line in the file
 *
 * Return: an exit status, of flows that were sent before; with -force always 0.
 */
int load_flow(struct load *l, const struct flow *f, unsigned long line)
{
	struct nl *nl = &l->run->nl;
	struct flow plain;
	u32 mark;
	int ret;

	if (l->no_counters && (f->have & (FLOW_PACKETS | FLOW_BYTES))) {
		plain = *f;
		plain.have &= ~(FLOW_PACKETS | FLOW_BYTES);
		f = &plain;
	}
	if (!l->pending)
		load_begin(l);
	mark = nl_mark(nl);
	flow_put(nl, f);
	if (nl->overflow) {
		nl_cut(nl, mark);
		ret = load_flush(l);
		if (ret && !l->run->force)
			return ret;
		load_begin(l);
		flow_put(nl, f);
	}
	l->line[l->pending++] = line;
	if (l->pending < LOAD_FLOWS)
		return 0;
	ret = load_flush(l);
	return l->run->force ? 0 : ret;
}

/* One line of a list of flows: 1 if there is a flow on it, 0 if not. */
static int parse_line(const struct load *l, const struct key_spec *spec,
		      const struct lines *lines, char *line, struct flow *f,
		      struct error *e)
{
	char *words[LINE_WORDS];
	struct args a = { .v = words };
	int ret;

	a.n = split_line(line, words, LINE_WORDS, e);
	if (!a.n)
		return 0;
	ret = a.n < 0 ? a.n : flow_parse(spec, &a,
					 l->cmd == NF_DLCBF_CMD_FLOW_ADD, f, e);
	if (!ret)
		return 1;
	return err_prefix(e, "%s:%lu: ", lines->name, lines->number);
}

/**
 * load_file - send the flows that a file lists
 * @l: the load, with the name of the file
 * @spec: what the table's keys have
 *
 * The file is read twice, so that a mistake in it is found before anything
 * changes.  That takes no more memory for a large file than for a small one.
 *
 * Return: an exit status.
 */
int load_file(struct load *l, const struct key_spec *spec)
{
	struct lines *lines = malloc(sizeof(*lines));
	bool sending = false;
	int fd, ret, status = 0;
	struct error e;
	struct flow f;
	char *line;

	fd = open_input(l->file, true, &e);
	if (fd < 0 || !lines) {
		free(lines);
		return fd < 0 ? fail(&e) : EXIT_FAIL;
	}
	lines_init(lines, fd, strcmp(l->file, "-") ? l->file : "standard input");
	l->file = lines->name;
again:
	while ((ret = lines_next(lines, &line, &e)) > 0) {
		ret = parse_line(l, spec, lines, line, &f, &e);
		if (ret < 0) {
			/* Told of when it was read first. */
			if (sending && l->run->force)
				continue;
			status = usage(&e);
			if (l->run->force)
				continue;
			break;
		}
		if (!ret || !sending)
			continue;
		ret = load_flow(l, &f, lines->number);
		if (ret) {
			status = ret;
			ret = 0;
			break;
		}
	}
	if (ret < 0 && !status)
		status = usage(&e);
	if ((!status || l->run->force) && !sending) {
		sending = true;
		if (!lines_rewind(lines, &e))
			goto again;
		status = fail(&e);
	}
	if (!status || l->run->force) {
		ret = load_flush(l);
		if (!status)
			status = ret;
	}
	if (l->failed && !status)
		status = EXIT_FAIL;
	close(fd);
	free(lines);
	return status;
}
