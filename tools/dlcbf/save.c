// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dlcbf.h"

#define TRIES	8
/* The longest that the module takes: a year. A pinned flow may idle longer. */
#define IDLE_MAX	(366ULL * 24 * 60 * 60 * 1000)

struct save {
	struct out *out;
	const struct table *table;
	const struct key_spec *spec;
	char name[4 * NF_DLCBF_NAME_MAX + 16];	/* the table's, quoted */
	u64 lines;		/* of the part that is being written */
	u64 total;		/* of those before it */
};

static int save_hook(struct run *r, const struct hook *h, void *data)
{
	struct save *s = data;

	(void)r;
	out_text(s->out, "hook add ");
	hook_print(s->out, h);
	out_text(s->out, "\n");
	s->lines++;
	return 0;
}

static int save_flow(struct run *r, const struct flow *f, void *data)
{
	char key[KEY_TEXT_MAX], buf[FORMAT_MAX];
	struct save *s = data;

	(void)r;
	/* This one is gone; and a timeout of 0 would mean that it never goes. */
	if ((f->have & FLOW_TIMEOUT) && !f->timeout)
		return 0;
	key_format(s->spec, &f->key, key, sizeof(key));
	out_text(s->out, "flow add %s %s", s->name, key);
	if (f->have & FLOW_PACKETS)
		out_text(s->out, " packets %" PRIu64, f->packets);
	if (f->have & FLOW_BYTES)
		out_text(s->out, " bytes %" PRIu64, f->bytes);
	if ((f->have & FLOW_IDLE) && f->idle)
		out_text(s->out, " idle %s",
			 format_time(f->idle < IDLE_MAX ? f->idle : IDLE_MAX,
				     buf));
	if (f->have & FLOW_TIMEOUT)
		out_text(s->out, " timeout %s", format_time(f->timeout, buf));
	if ((f->have & FLOW_LEARNED) ||
	    ((f->have & FLOW_COUNT) && !f->count))
		out_text(s->out, " learned");
	else if ((f->have & FLOW_COUNT) && f->count > 1)
		out_text(s->out, " count %" PRIu32, f->count);
	out_text(s->out, "\n");
	s->lines++;
	return s->out->failed ? EXIT_FAIL : 0;
}

/* One try to save a table: an exit status, and whether it changed meanwhile. */
static int try_table(struct run *r, struct save *s, const char *name,
		     bool *interrupted)
{
	struct table t, after;
	struct key_spec spec;
	struct error e;
	int ret;

	ret = table_get(r, name, &t);
	if (ret)
		return ret;
	if (!TABLE_HAS(&t, SECRET)) {
		err_set(&e, "cannot save table %s: %s (it takes CAP_NET_ADMIN)",
			name, strerror(EPERM));
		return fail(&e);
	}
	table_spec(r, &t, &spec);
	s->table = &t;
	s->spec = &spec;
	s->lines = 1;
	quote_word(name, s->name, sizeof(s->name));
	out_text(s->out, "table add %s", s->name);
	table_print_settings(s->out, &t, true);
	out_text(s->out, "\n");

	ret = hook_for_each(r, name, save_hook, s);
	if (!ret)
		ret = flow_for_each(r, NF_DLCBF_CMD_FLOW_GET, &spec, NULL,
				    save_flow, s, interrupted);
	/* Flows of another table, with another secret, are of no use here. */
	if (!ret)
		ret = table_get(r, name, &after);
	if (!ret && (after.id != t.id ||
		     memcmp(after.secret, t.secret, sizeof(t.secret))))
		*interrupted = true;
	return ret;
}

static int save_table(struct run *r, struct save *s, const char *name)
{
	struct error e;
	int i;

	for (i = 0; i < TRIES; i++) {
		bool interrupted = false;
		int ret;

		out_hold(s->out);
		ret = try_table(r, s, name, &interrupted);
		if (ret || !interrupted) {
			out_release(s->out);
			s->total += s->lines;
			return ret;
		}
		if (!out_take_back(s->out))
			break;
	}
	out_release(s->out);
	err_set(&e, "tables changed while table %s was saved: it is not complete",
		name);
	return fail(&e);
}

static int save_each(struct run *r, const struct table *t, void *data)
{
	return save_table(r, data, t->name);
}

static int save_all(struct run *r, struct out *out, char **names, int n)
{
	struct save s = { .out = out };
	int ret = run_open(r), i;

	if (ret)
		return ret;
	out_text(out, "dlcbf-save 1\n");
	if (!n)
		ret = table_for_each(r, save_each, &s);
	for (i = 0; i < n && !ret; i++)
		ret = save_table(r, &s, names[i]);
	/* Without this line "restore" takes the file for a part of one. */
	if (!ret)
		out_text(out, "end %" PRIu64 "\n", s.total);
	if (out_flush(out) < 0 && !ret)
		ret = EXIT_FAIL;
	return ret;
}

/* The file has either all of it or what it had before. */
static int save_file(struct run *r, const char *file, char **names, int n)
{
	char temporary[4096];
	struct error e;
	struct out out;
	int fd, ret;

	if (snprintf(temporary, sizeof(temporary), "%s.XXXXXX", file) >=
	    (int)sizeof(temporary)) {
		err_set(&e, "the name of the file is too long");
		return fail(&e);
	}
	/* Only its owner may read it: it has the tables' secrets. */
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0) {
		err_set(&e, "%s: %s", temporary, strerror(errno));
		return fail(&e);
	}
	out_init(&out, fd, false, false);
	ret = save_all(r, &out, names, n);
	out_free(&out);
	if (!ret && (fsync(fd) < 0 || rename(temporary, file) < 0)) {
		err_set(&e, "%s: %s", file, strerror(errno));
		ret = fail(&e);
	}
	if (ret)
		unlink(temporary);
	close(fd);
	return ret;
}

static int run_save(struct run *r, struct args *a)
{
	char **names = a->v + a->i;
	const char *file = NULL;
	struct error e;
	int n = 0;

	if (r->json) {
		err_set(&e, "a save file is not JSON");
		return usage(&e);
	}
	while (args_peek(a) && !file) {
		if (args_take(a, "file")) {
			if (args_value(a, "file", &file, &e))
				return usage(&e);
			break;
		}
		if (parse_name("the table's name", args_next(a), &e))
			return usage(&e);
		n++;
	}
	if (args_end(a, &e))
		return usage(&e);
	if (!file || !strcmp(file, "-"))
		return save_all(r, &r->out, names, n);
	return save_file(r, file, names, n);
}

const struct noun save_noun = {
	.name = "save",
	.run = run_save,
	.usage = "[ TABLE ]... [ file FILE ]",
};
