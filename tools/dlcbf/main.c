// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dlcbf.h"

static const struct noun *const nouns[] = {
	&table_noun, &hook_noun, &flow_noun, &monitor_noun, &save_noun,
	&restore_noun, &top_noun,
};

static void print_error(const struct error *e)
{
	size_t len = strlen(e->text);

	fprintf(stderr, "Error: %s%s\n", e->text,
		len && strchr(".?", e->text[len - 1]) ? "" : ".");
}

/** fail - report an error of the kernel or the system; its exit status */
int fail(const struct error *e)
{
	print_error(e);
	return EXIT_FAIL;
}

/** usage - report a command that was not understood; its exit status */
int usage(const struct error *e)
{
	print_error(e);
	return EXIT_USAGE;
}

/** run_open - see that there is a socket to the module; an exit status */
int run_open(struct run *r)
{
	struct error e;

	if (r->opened)
		return 0;
	if (nl_open(&r->nl, r->ops, &e) < 0)
		return fail(&e);
	r->opened = true;
	return 0;
}

/** run_refused - report why the kernel refused the last request */
int run_refused(struct run *r, const char *fmt, ...)
{
	struct error e;
	char what[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	nl_describe(&r->nl, &e, "%s", what);
	return fail(&e);
}

/* One command's line of the usage, whose own lines are put below each other. */
static void print_usage_line(FILE *f, const char *head, const char *noun,
			     const char *verb, const char *text)
{
	int indent = fprintf(f, "%s dlcbf %s%s%s", head, noun, verb ? " " : "",
			     verb ? verb : "");
	const char *end;

	while (text && *text) {
		end = strchrnul(text, '\n');
		fprintf(f, " %.*s", (int)(end - text), text);
		if (!*end)
			break;
		fprintf(f, "\n%*s", indent, "");
		text = end + 1;
	}
	fputc('\n', f);
}

static void print_noun_help(FILE *f, const struct noun *n)
{
	const char *head = "Usage:";
	const struct verb *v;

	if (!n->verbs)
		print_usage_line(f, head, n->name, NULL, n->usage);
	for (v = n->verbs; v && v->name; v++) {
		print_usage_line(f, head, n->name, v->name, v->usage);
		head = "      ";
	}
	if (n->terms)
		fprintf(f, "%s", n->terms);
}

static void print_help(FILE *f)
{
	size_t i;

	fprintf(f, "Usage: dlcbf [ OPTIONS ] OBJECT { COMMAND | help }\n"
		"       dlcbf [ OPTIONS ] -batch FILE\n"
		"where  OBJECT := {");
	for (i = 0; i < ARRAY_SIZE(nouns); i++)
		fprintf(f, " %s |", nouns[i]->name);
	fprintf(f, " help }\n"
		"       OPTIONS := { -j[son] | -p[retty] | -s[tats] | -t[imestamp] |\n"
		"                    -n[etns] NETNS | -b[atch] FILE | -force | -exist |\n"
		"                    -q[uiet] | -V[ersion] }\n");
}

static const struct verb *find_verb(const struct noun *n, const char *name)
{
	/* The short forms that fingers know from ip. */
	static const char *const aliases[][2] = {
		{ "del", "delete" }, { "list", "show" }
	};
	const struct verb *v;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(aliases); i++)
		if (!strcmp(name, aliases[i][0]))
			name = aliases[i][1];
	for (v = n->verbs; v->name; v++)
		if (!strcmp(v->name, name))
			return v;
	return NULL;
}

static int run_command(struct run *r, struct args *a)
{
	const char *name = args_next(a), *verb;
	const struct noun *n = NULL;
	const struct verb *v;
	struct error e;
	size_t i;
	int ret;

	if (!strcmp(name, "help")) {
		print_help(stdout);
		fflush(stdout);
		return 0;
	}
	for (i = 0; i < ARRAY_SIZE(nouns); i++)
		if (!strcmp(name, nouns[i]->name))
			n = nouns[i];
	if (!n) {
		err_set(&e, "object \"%s\" is unknown, try \"dlcbf help\"", name);
		return usage(&e);
	}
	verb = args_peek(a);
	if (verb && !strcmp(verb, "help")) {
		print_noun_help(stdout, n);
		fflush(stdout);
		return 0;
	}
	if (n->verbs) {
		v = verb ? find_verb(n, verb) : n->verbs;
		if (!v) {
			err_set(&e, "command \"%s\" is unknown, try \"dlcbf %s help\"",
				verb, n->name);
			return usage(&e);
		}
		args_next(a);
		ret = v->run(r, a);
	} else {
		ret = n->run(r, a);
	}
	if (out_flush(&r->out) < 0 && !ret)
		ret = EXIT_FAIL;
	return ret;
}

static int run_batch(struct run *r, const char *path)
{
	struct lines *lines = malloc(sizeof(*lines));
	char *line, *words[LINE_WORDS];
	int fd, status = 0, ret;
	struct error e;

	fd = open_input(path, false, &e);
	if (fd < 0 || !lines) {
		free(lines);
		return fd < 0 ? fail(&e) : EXIT_FAIL;
	}
	lines_init(lines, fd, path);
	while ((ret = lines_next(lines, &line, &e)) > 0) {
		struct args a = { .v = words };

		a.n = split_line(line, words, LINE_WORDS, &e);
		if (!a.n)
			continue;
		ret = a.n < 0 ? usage(&e) : run_command(r, &a);
		if (!ret)
			continue;
		fprintf(stderr, "Command failed %s:%lu\n", path, lines->number);
		if (!status)
			status = ret;
		if (!r->force)
			break;
	}
	if (ret < 0) {
		fail(&e);
		if (!status)
			status = EXIT_FAIL;
	}
	close(fd);
	free(lines);
	return status;
}

static int enter_netns(const char *name, struct error *e)
{
	char path[4096];
	int fd;

	if (strchr(name, '/'))
		snprintf(path, sizeof(path), "%s", name);
	else
		snprintf(path, sizeof(path), "/run/netns/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, "cannot open network namespace \"%s\": %s",
			       name, strerror(errno));
	if (setns(fd, CLONE_NEWNET) < 0) {
		err_set(e, "cannot enter network namespace \"%s\": %s", name,
			strerror(errno));
		close(fd);
		return -errno;
	}
	close(fd);
	return 0;
}

struct options {
	const char *batch;
	const char *netns;
	bool version;
	bool help;
};

/* Options come before the object, with one hyphen as in ip, or with two. */
static int parse_options(struct run *r, struct args *a, struct options *o,
			 struct error *e)
{
	const struct {
		const char *brief, *full;
		bool *flag;
		const char **value;
	} options[] = {
		{ "j", "json", &r->json, NULL },
		{ "p", "pretty", &r->pretty, NULL },
		{ "s", "stats", &r->stats, NULL },
		{ "s", "statistics", &r->stats, NULL },
		{ "t", "timestamp", &r->timestamp, NULL },
		{ "q", "quiet", &r->quiet, NULL },
		{ "force", "force", &r->force, NULL },
		{ "exist", "exist", &r->exist, NULL },
		{ "n", "netns", NULL, &o->netns },
		{ "b", "batch", NULL, &o->batch },
		{ "V", "Version", &o->version, NULL },
		{ "V", "version", &o->version, NULL },
		{ "h", "help", &o->help, NULL },
	};
	const char *word;
	size_t i;
	int ret;

	while ((word = args_peek(a)) && word[0] == '-' && word[1]) {
		const char *name = word + 1 + (word[1] == '-');

		args_next(a);
		if (!*name)
			break;
		for (i = 0; i < ARRAY_SIZE(options); i++)
			if (!strcmp(name, options[i].brief) ||
			    !strcmp(name, options[i].full))
				break;
		if (i == ARRAY_SIZE(options))
			return err_set(e, "option \"%s\" is unknown, try \"dlcbf help\"",
				       word);
		if (options[i].flag) {
			*options[i].flag = true;
			continue;
		}
		ret = args_value(a, word, options[i].value, e);
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * run_main - what main() does
 * @argc: as main()
 * @argv: as main()
 * @ops: where netlink messages go
 *
 * Return: an exit status.
 */
int run_main(int argc, char **argv, const struct nl_ops *ops)
{
	struct args a = { .v = argv, .n = argc, .i = argc ? 1 : 0 };
	struct options o = { 0 };
	struct run r = { .ops = ops };
	struct error e;
	int ret;

	if (parse_options(&r, &a, &o, &e))
		return usage(&e);
	if (o.version) {
		printf("dlcbf utility, version " DLCBF_VERSION "\n");
		return 0;
	}
	if (o.help) {
		print_help(stdout);
		return 0;
	}
	if (!o.batch && !args_peek(&a)) {
		print_help(stderr);
		return EXIT_USAGE;
	}
	if (o.batch && args_peek(&a)) {
		err_set(&e, "a command besides -batch: \"%s\"", args_peek(&a));
		return usage(&e);
	}
	if (o.netns && enter_netns(o.netns, &e))
		return fail(&e);

	out_init(&r.out, STDOUT_FILENO, r.json, r.pretty);
	ret = o.batch ? run_batch(&r, o.batch) : run_command(&r, &a);
	if (out_flush(&r.out) < 0 && !ret)
		ret = EXIT_FAIL;
	out_free(&r.out);
	if (r.opened)
		nl_close(&r.nl);
	return ret;
}
