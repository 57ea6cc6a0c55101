// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dlcbf.h"

/* Tables that events were seen of: their keys' prefix lengths are wanted. */
#define KNOWN_TABLES	16

struct monitor {
	struct run *run;
	struct nl query;	/* asks for tables; events come by the other */
	struct table known[KNOWN_TABLES];
	unsigned int next;	/* the one to forget */
};

static const struct event {
	u8 cmd;
	const char *object;
	const char *name;
} events[] = {
	{ NF_DLCBF_CMD_TABLE_ADD_NTF, "table", "add" },
	{ NF_DLCBF_CMD_TABLE_SET_NTF, "table", "change" },
	{ NF_DLCBF_CMD_TABLE_DEL_NTF, "table", "delete" },
	{ NF_DLCBF_CMD_TABLE_FLUSH_NTF, "table", "flush" },
	{ NF_DLCBF_CMD_TABLE_SWAP_NTF, "table", "swap" },
	{ NF_DLCBF_CMD_TABLE_FULL_NTF, "table", "full" },
	{ NF_DLCBF_CMD_HOOK_ADD_NTF, "hook", "add" },
	{ NF_DLCBF_CMD_HOOK_DEL_NTF, "hook", "delete" },
	{ NF_DLCBF_CMD_FLOW_ADD_NTF, "flow", "add" },
	{ NF_DLCBF_CMD_FLOW_DEL_NTF, "flow", "delete" },
	{ NF_DLCBF_CMD_FLOW_EXPIRE_NTF, "flow", "expire" },
	{ NF_DLCBF_CMD_FLOW_EVICT_NTF, "flow", "evict" },
};

/* The table of that name, or NULL if it is gone already. */
static const struct table *know_table(struct monitor *m, const char *name)
{
	struct table *t;
	size_t i;

	for (i = 0; i < KNOWN_TABLES; i++)
		if (!strcmp(m->known[i].name, name))
			return &m->known[i];
	t = &m->known[m->next++ % KNOWN_TABLES];
	t->name[0] = 0;
	nl_request(&m->query, NF_DLCBF_CMD_TABLE_GET, 0);
	nl_put_str(&m->query, NF_DLCBF_A_TABLE_NAME, name);
	if (nl_talk(&m->query, table_reply_cb, t) < 0) {
		t->name[0] = 0;
		return NULL;
	}
	return t;
}

static void begin_event(struct run *r, const char *object, const char *name)
{
	struct out *o = &r->out;
	char when[64], whole[96];
	struct timespec ts;
	struct tm tm;

	json_begin(o);
	json_object(o, NULL);
	if (r->timestamp) {
		clock_gettime(CLOCK_REALTIME, &ts);
		localtime_r(&ts.tv_sec, &tm);
		strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", &tm);
		snprintf(whole, sizeof(whole), "%s.%06u", when,
			 (unsigned int)(ts.tv_nsec / 1000));
		out_text(o, "[%s] ", whole);
		json_str(o, "timestamp", whole);
	}
	if (object) {
		out_text(o, "%s %s", object, name);
		json_str(o, "object", object);
	}
	json_str(o, "event", name);
}

static void end_event(struct run *r)
{
	out_text(&r->out, "\n");
	json_object_end(&r->out);
	json_end(&r->out);
}

static int table_event(struct run *r, const struct event *event,
		       const struct nlmsghdr *nlh)
{
	const struct nlattr *tb[NF_DLCBF_A_TABLE_MAX + 1];
	char other[NF_DLCBF_NAME_MAX + 1];
	struct table t;

	if (!table_take(nlh, &t))
		return 0;
	nl_parse(nlh, tb, NF_DLCBF_A_TABLE_MAX);
	begin_event(r, event->object, event->name);
	out_text(&r->out, " %s", t.name);
	json_str(&r->out, "table", t.name);
	if (tb[NF_DLCBF_A_TABLE_OTHER]) {
		nl_get_str(tb[NF_DLCBF_A_TABLE_OTHER], other, sizeof(other));
		out_text(&r->out, " %s", other);
		json_str(&r->out, "other", other);
	}
	if (event->cmd == NF_DLCBF_CMD_TABLE_ADD_NTF ||
	    event->cmd == NF_DLCBF_CMD_TABLE_SET_NTF) {
		json_object(&r->out, "settings");
		table_print_settings(&r->out, &t, false);
		json_object_end(&r->out);
	}
	end_event(r);
	return 0;
}

static int hook_event(struct run *r, const struct event *event,
		      const struct nlmsghdr *nlh)
{
	struct hook h;

	if (!hook_take(nlh, &h))
		return 0;
	begin_event(r, event->object, event->name);
	out_text(&r->out, " ");
	json_str(&r->out, "table", h.table);
	json_name(&r->out, "hook");
	hook_print(&r->out, &h);
	end_event(r);
	return 0;
}

static int flow_event(struct monitor *m, const struct event *event,
		      const struct nlmsghdr *nlh)
{
	const struct nlattr *tb[NF_DLCBF_A_FLOWS_MAX + 1], *attr;
	char name[NF_DLCBF_NAME_MAX + 1];
	struct run *r = m->run;
	const struct table *t;
	struct key_spec spec;

	nl_parse(nlh, tb, NF_DLCBF_A_FLOWS_MAX);
	if (!tb[NF_DLCBF_A_FLOWS_TABLE])
		return 0;
	nl_get_str(tb[NF_DLCBF_A_FLOWS_TABLE], name, sizeof(name));
	t = know_table(m, name);
	if (t) {
		table_spec(r, t, &spec);
		/* Devices come and go while we watch. */
		spec.devices = NULL;
	}
	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		struct flow f;

		if (mnl_attr_get_type(attr) != NF_DLCBF_A_FLOWS_FLOW ||
		    !flow_take(attr, t ? &spec : NULL, &f))
			continue;
		begin_event(r, event->object, event->name);
		out_text(&r->out, " %s ", name);
		json_str(&r->out, "table", name);
		json_name(&r->out, "flow");
		flow_print(&r->out, t, t ? &spec : NULL, &f);
		end_event(r);
	}
	return 0;
}

static int event_cb(const struct nlmsghdr *nlh, void *data)
{
	const struct event *event = NULL;
	struct monitor *m = data;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(events); i++)
		if (events[i].cmd == nl_command(nlh))
			event = &events[i];
	if (!event)
		return 0;
	if (!strcmp(event->object, "flow"))
		return flow_event(m, event, nlh);
	if (!strcmp(event->object, "hook"))
		return hook_event(m->run, event, nlh);
	/* Another table may have the name from now on. */
	for (i = 0; i < KNOWN_TABLES; i++)
		m->known[i].name[0] = 0;
	return table_event(m->run, event, nlh);
}

static int watch(struct monitor *m)
{
	struct run *r = m->run;

	for (;;) {
		int ret = nl_listen(&r->nl, event_cb, m);

		if (ret == -ENOBUFS) {
			fprintf(stderr,
				"Warning: events came faster than they were read; some are lost.\n");
			if (r->json) {
				begin_event(r, NULL, "lost");
				end_event(r);
			}
		} else if (ret < 0) {
			return run_refused(r, "cannot monitor");
		}
		/* Who reads this wants to see it now. */
		if (out_flush(&r->out) < 0)
			return EXIT_FAIL;
	}
}

static int run_monitor(struct run *r, struct args *a)
{
	bool tables = true, flows = true;
	const char *what = args_next(a);
	struct monitor *m;
	struct error e;
	int ret;

	if (what && !strcmp(what, "table")) {
		flows = false;
	} else if (what && !strcmp(what, "flow")) {
		tables = false;
	} else if (what && strcmp(what, "all")) {
		err_set(&e, "\"%s\" is not table, flow or all", what);
		return usage(&e);
	}
	if (args_end(a, &e))
		return usage(&e);
	ret = run_open(r);
	if (ret)
		return ret;
	m = calloc(1, sizeof(*m));
	if (!m)
		return EXIT_FAIL;
	m->run = r;
	if (nl_open(&m->query, r->ops, &e) < 0) {
		free(m);
		return fail(&e);
	}
	if ((tables && r->ops->join(&r->nl, r->nl.group_table) < 0) ||
	    (flows && r->ops->join(&r->nl, r->nl.group_flow) < 0)) {
		err_set(&e, "cannot monitor: %s", strerror(errno));
		ret = fail(&e);
	} else {
		ret = watch(m);
	}
	nl_close(&m->query);
	free(m);
	return ret;
}

const struct noun monitor_noun = {
	.name = "monitor",
	.run = run_monitor,
	.usage = "[ table | flow | all ]",
};
