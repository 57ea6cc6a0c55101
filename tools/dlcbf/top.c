// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "dlcbf.h"

/*
 * What is remembered of the flows from one look to the next: 24 bytes a flow in
 * two tables of this many places at most, that is 48 MiB whatever the table of
 * flows has.  When more flows come than fit, those that did not fit cannot be
 * ranked, and the view says how many they are.
 */
#define SLOTS_MAX	(1U << 20)
#define LINES_MAX	1000

struct slot {
	u64 hash;		/* 0: empty */
	u64 packets;
	u64 bytes;
};

struct memory {
	struct slot *slots;
	size_t size;		/* a power of two, or 0 */
	size_t used;
	bool full;		/* not all flows fitted */
};

struct row {
	struct flow flow;
	double packets;		/* a second */
	double bytes;
};

struct top {
	struct memory before;
	struct memory now;
	double seconds;		/* between the two; 0 when there is no before */
	bool by_packets;
	struct row *rows;	/* sorted, fastest first */
	size_t lines;		/* room for rows */
	size_t n;		/* rows */
	u64 flows;
	u64 unranked;
	double packets;		/* of all flows, a second */
	double bytes;
};

/* Keys are compared by this alone: 64 bits do not collide in practice. */
static u64 hash_key(const struct key *k)
{
	const unsigned char *p = (const unsigned char *)k;
	u64 h = 0x9e3779b97f4a7c15ULL, word;
	size_t i;

	for (i = 0; i < sizeof(*k); i += sizeof(word)) {
		size_t n = sizeof(*k) - i;

		word = 0;
		memcpy(&word, p + i, n < sizeof(word) ? n : sizeof(word));
		h = (h ^ word) * 0xff51afd7ed558ccdULL;
		h ^= h >> 32;
	}
	return h ? h : 1;
}

static int memory_init(struct memory *m, u64 flows)
{
	size_t size = 1024;

	while (size < SLOTS_MAX && size < flows + flows / 2)
		size *= 2;
	if (size != m->size) {
		free(m->slots);
		m->slots = calloc(size, sizeof(*m->slots));
		m->size = m->slots ? size : 0;
	} else {
		memset(m->slots, 0, size * sizeof(*m->slots));
	}
	m->used = 0;
	m->full = false;
	return m->slots ? 0 : -ENOMEM;
}

/* Where the flow is, or the empty place where it would be. */
static struct slot *memory_find(const struct memory *m, u64 hash)
{
	size_t i = hash & (m->size - 1);

	while (m->slots[i].hash && m->slots[i].hash != hash)
		i = (i + 1) & (m->size - 1);
	return &m->slots[i];
}

static void memory_add(struct memory *m, u64 hash, const struct flow *f)
{
	struct slot *s = memory_find(m, hash);

	if (!s->hash && m->used >= m->size - m->size / 5) {
		m->full = true;
		return;
	}
	if (!s->hash)
		m->used++;
	s->hash = hash;
	s->packets = f->packets;
	s->bytes = f->bytes;
}

static bool is_faster(const struct top *t, const struct row *a,
		      const struct row *b)
{
	if (t->by_packets)
		return a->packets != b->packets ? a->packets > b->packets :
						  a->bytes > b->bytes;
	return a->bytes != b->bytes ? a->bytes > b->bytes :
				      a->packets > b->packets;
}

static void rank(struct top *t, const struct row *row)
{
	size_t i = t->n;

	if (!t->lines)
		return;
	if (t->n == t->lines) {
		if (!is_faster(t, row, &t->rows[t->n - 1]))
			return;
		i--;
	} else {
		t->n++;
	}
	for (; i && is_faster(t, row, &t->rows[i - 1]); i--)
		t->rows[i] = t->rows[i - 1];
	t->rows[i] = *row;
}

/* A counter that went back was reset, and has counted anew since. */
static double rate(u64 now, u64 before, double seconds)
{
	return (now >= before ? now - before : now) / seconds;
}

static int look_at(struct run *r, const struct flow *f, void *data)
{
	u64 hash = hash_key(&f->key);
	struct top *t = data;
	struct row row;
	struct slot *s;

	(void)r;
	t->flows++;
	memory_add(&t->now, hash, f);
	if (!t->seconds)
		return 0;
	s = memory_find(&t->before, hash);
	if (!s->hash && t->before.full) {
		t->unranked++;
		return 0;
	}
	/* Where there was no such flow all of it is new. */
	row.flow = *f;
	row.packets = rate(f->packets, s->hash ? s->packets : 0, t->seconds);
	row.bytes = rate(f->bytes, s->hash ? s->bytes : 0, t->seconds);
	t->packets += row.packets;
	t->bytes += row.bytes;
	if (row.packets || row.bytes)
		rank(t, &row);
	return 0;
}

static const char *format_rate(double v, char *buf)
{
	static const char units[] = { 0, 'k', 'M', 'G', 'T', 'P' };
	size_t u = 0;

	while (v >= 999.5 && u + 1 < sizeof(units)) {
		v /= 1000;
		u++;
	}
	sprintf(buf, "%.*f%c", u && v < 9.995 ? 2 : u && v < 99.95 ? 1 : 0, v,
		units[u] ? units[u] : ' ');
	return buf;
}

static void print_json(struct run *r, const struct top *t,
		       const struct key_spec *spec)
{
	struct out *o = &r->out;
	char buf[FORMAT_MAX];
	size_t i;

	json_begin(o);
	json_object(o, NULL);
	json_str(o, "table", spec->table);
	json_uint(o, "flows", t->flows);
	json_uint(o, "unranked", t->unranked);
	snprintf(buf, sizeof(buf), "%.3f", t->seconds);
	json_number(o, "seconds", buf);
	snprintf(buf, sizeof(buf), "%.1f", t->packets);
	json_number(o, "packets_per_second", buf);
	snprintf(buf, sizeof(buf), "%.1f", t->bytes);
	json_number(o, "bytes_per_second", buf);
	json_array(o, "top");
	for (i = 0; i < t->n; i++) {
		json_object(o, NULL);
		snprintf(buf, sizeof(buf), "%.1f", t->rows[i].packets);
		json_number(o, "packets_per_second", buf);
		snprintf(buf, sizeof(buf), "%.1f", t->rows[i].bytes);
		json_number(o, "bytes_per_second", buf);
		json_name(o, "flow");
		flow_print(o, &r->table, spec, &t->rows[i].flow);
		json_object_end(o);
	}
	json_array_end(o);
	json_object_end(o);
	json_end(o);
}

static void print_text(struct run *r, const struct top *t,
		       const struct key_spec *spec, unsigned int columns)
{
	char packets[FORMAT_MAX], bytes[FORMAT_MAX], all_p[FORMAT_MAX],
	     all_b[FORMAT_MAX], key[KEY_TEXT_MAX], line[KEY_TEXT_MAX + 128];
	struct out *o = &r->out;
	size_t i;
	int n;

	n = snprintf(line, sizeof(line), "%s: %" PRIu64 " flows, %sB/s, %spackets/s",
		     spec->table, t->flows, format_rate(t->bytes, bytes),
		     format_rate(t->packets, packets));
	if (t->unranked)
		snprintf(line + n, sizeof(line) - n, ", %" PRIu64 " flows not ranked: too many",
			 t->unranked);
	out_text(o, "%.*s\n", columns, line);
	snprintf(line, sizeof(line), "%8s %10s %8s %8s  FLOW", "B/s",
		 "packets/s", "bytes", "packets");
	out_text(o, "%.*s\n", columns, line);
	for (i = 0; i < t->n; i++) {
		const struct row *row = &t->rows[i];

		key_format(spec, &row->flow.key, key, sizeof(key));
		snprintf(line, sizeof(line), "%8s %10s %8s %8s  %s",
			 format_rate(row->bytes, bytes),
			 format_rate(row->packets, packets),
			 format_rate(row->flow.bytes, all_b),
			 format_rate(row->flow.packets, all_p), key);
		out_text(o, "%.*s\n", columns, line);
	}
}

static double seconds_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void sleep_ms(u64 ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&ts, &ts) < 0 && errno == EINTR)
		;
}

struct view {
	struct key_spec spec;
	struct key filter;
	bool filtered;
	u64 interval;	/* ms */
	u64 count;		/* 0: for ever */
	u64 lines;		/* 0: as many as there is room for */
	bool by_packets;
};

/* How many rows and columns there are to fill. */
static void measure(const struct view *v, bool terminal, size_t *lines,
		    unsigned int *columns)
{
	struct winsize w;

	*lines = v->lines ? v->lines : 20;
	*columns = 4096;
	if (!terminal || ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) < 0)
		return;
	if (w.ws_col)
		*columns = w.ws_col;
	if (!v->lines && w.ws_row)
		*lines = w.ws_row > 4 ? w.ws_row - 3 : 1;
	if (*lines > LINES_MAX)
		*lines = LINES_MAX;
}

static int show(struct run *r, struct top *t, struct view *v)
{
	bool terminal = isatty(STDOUT_FILENO) && !r->json, interrupted;
	char name[NF_DLCBF_NAME_MAX + 1];
	double last = 0, now;
	u64 shown = 0;
	unsigned int columns;
	struct memory swap;
	struct error e;
	int ret;

	strcpy(name, v->spec.table);
	for (;;) {
		/* How many flows there are to remember, and whether any. */
		ret = table_get(r, name, &r->table);
		if (ret)
			return ret;
		table_spec(r, &r->table, &v->spec);
		/* The names that devices have now. */
		memset(&r->devices, 0, sizeof(r->devices));
		measure(v, terminal, &t->lines, &columns);
		t->n = 0;
		t->flows = 0;
		t->unranked = 0;
		t->packets = 0;
		t->bytes = 0;
		if (memory_init(&t->now, r->table.flows) < 0) {
			err_set(&e, "not enough memory");
			return fail(&e);
		}
		now = seconds_now();
		t->seconds = last ? now - last : 0;
		last = now;
		ret = flow_for_each(r, NF_DLCBF_CMD_FLOW_GET, &v->spec,
				    v->filtered ? &v->filter : NULL, look_at, t,
				    &interrupted);
		if (ret)
			return ret;
		if (t->seconds) {
			if (r->json) {
				print_json(r, t, &v->spec);
			} else {
				if (terminal)
					out_text(&r->out, "\033[H\033[2J");
				else if (shown)
					out_text(&r->out, "\n");
				print_text(r, t, &v->spec, columns);
			}
			if (out_flush(&r->out) < 0)
				return EXIT_FAIL;
			if (++shown == v->count)
				return 0;
		}
		swap = t->before;
		t->before = t->now;
		t->now = swap;
		sleep_ms(v->interval);
	}
}

static int parse_view(struct args *a, struct view *v, struct error *e)
{
	const char *word, *value;
	int ret;

	while ((word = args_next(a))) {
		ret = args_value(a, word, &value, e);
		if (ret)
			return ret;
		if (!strcmp(word, "interval")) {
			ret = parse_time(word, value, &v->interval, e);
			if (!ret && v->interval < 100)
				ret = err_set(e, "interval: 100ms is the least");
			if (!ret && v->interval > 86400000)
				ret = err_set(e, "interval: a day is the most");
		} else if (!strcmp(word, "count")) {
			ret = parse_uint(word, value, UINT64_MAX, &v->count, e);
		} else if (!strcmp(word, "lines")) {
			ret = parse_uint(word, value, LINES_MAX, &v->lines, e);
		} else if (!strcmp(word, "by")) {
			v->by_packets = !strcmp(value, "packets");
			if (!v->by_packets && strcmp(value, "bytes"))
				ret = err_set(e, "by: \"%s\" is not bytes or packets",
					      value);
		} else {
			ret = err_set(e, "what is \"%s\"?", word);
		}
		if (ret)
			return ret;
	}
	return 0;
}

/* Whether a word is one of top's own, not the start of a key. */
static bool is_option(const char *word)
{
	return !strcmp(word, "interval") || !strcmp(word, "count") ||
	       !strcmp(word, "lines") || !strcmp(word, "by");
}

static int run_top(struct run *r, struct args *a)
{
	struct view v = { .interval = 2000 };
	struct top t = { 0 };
	struct error e;
	int ret;

	ret = table_find(r, a, &v.spec);
	if (ret)
		return ret;
	if (r->table.type != TYPE_FLOW) {
		err_set(&e, "table %s is a set: it counts no flows",
			v.spec.table);
		return fail(&e);
	}
	if (args_peek(a) && !is_option(args_peek(a))) {
		if (key_parse(&v.spec, true, a, &v.filter, &e))
			return usage(&e);
		v.filtered = true;
	}
	if (parse_view(a, &v, &e))
		return usage(&e);
	t.by_packets = v.by_packets;
	t.rows = calloc(LINES_MAX, sizeof(*t.rows));
	if (!t.rows) {
		err_set(&e, "not enough memory");
		return fail(&e);
	}
	ret = show(r, &t, &v);
	free(t.rows);
	free(t.before.slots);
	free(t.now.slots);
	return ret;
}

const struct noun top_noun = {
	.name = "top",
	.run = run_top,
	.usage = "TABLE [ KEY ] [ interval TIME ] [ count NUMBER ]\n"
		 "[ lines NUMBER ] [ by { bytes | packets } ]",
};
