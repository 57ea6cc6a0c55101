// SPDX-License-Identifier: GPL-2.0
/* The whole command, as it is typed, against a kernel that is not one. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../dlcbf.h"
#include "fake.h"
#include "test.h"

static char *out, *err;	/* what the last command wrote */
static char dir[64] = "/tmp/dlcbf-test.XXXXXX";

static char *read_back(int fd)
{
	off_t len = lseek(fd, 0, SEEK_END);
	char *text = malloc(len + 1);

	if (pread(fd, text, len, 0) != len)
		abort();
	text[len] = 0;
	close(fd);
	return text;
}

/* Run a command line; its standard input is @input, if that is not NULL. */
static int run_with(const char *input, const char *line)
{
	char copy[4096], *argv[LINE_WORDS + 1];
	int saved[3], file[3], i, argc, status;
	struct error e;

	snprintf(copy, sizeof(copy), "dlcbf %s", line);
	argc = split_line(copy, argv, LINE_WORDS, &e);
	argv[argc] = NULL;
	fflush(stdout);
	fflush(stderr);
	for (i = 0; i < 3; i++) {
		saved[i] = dup(i);
		file[i] = memfd_create("test", 0);
		if (!i && input && write(file[0], input, strlen(input)) < 0)
			abort();
		lseek(file[i], 0, SEEK_SET);
		dup2(file[i], i);
	}
	status = run_main(argc, argv, &fake_ops);
	fflush(stdout);
	fflush(stderr);
	for (i = 0; i < 3; i++) {
		dup2(saved[i], i);
		close(saved[i]);
	}
	close(file[0]);
	free(out);
	free(err);
	out = read_back(file[1]);
	err = read_back(file[2]);
	return status;
}

static int run(const char *line)
{
	return run_with(NULL, line);
}

static const char *path(const char *name)
{
	static char buf[4][256];
	static int i;

	i = (i + 1) % 4;
	snprintf(buf[i], sizeof(buf[i]), "%s/%s", dir, name);
	return buf[i];
}

static void write_file(const char *name, const char *text)
{
	FILE *f = fopen(path(name), "w");

	fputs(text, f);
	fclose(f);
}

static char *read_file(const char *name)
{
	return read_back(open(path(name), O_RDONLY));
}

static int runf(const char *fmt, const char *name)
{
	char line[1024];

	snprintf(line, sizeof(line), fmt, path(name));
	return run(line);
}

/* For long lines. */
#define CHECK_RUN(status, line) \
	test_result(run(line) == (status), __FILE__, __LINE__, "%s", line)

#define SET "table add blocked type set family ipv4 key saddr max-flows 1000"

static void test_usage(void)
{
	CHECK(run("") == 255);
	CHECK_HAS(err, "Usage: dlcbf");
	CHECK(run("help") == 0);
	CHECK_HAS(out, "Usage: dlcbf");
	CHECK(run("-V") == 0);
	CHECK_HAS(out, "dlcbf utility, version");
	CHECK(run("table help") == 0);
	CHECK_HAS(out, "max-flows NUMBER");
	CHECK(run("hook help") == 0 && run("flow help") == 0);
	CHECK(run("monitor help") == 0 && run("save help") == 0);
	CHECK(run("restore help") == 0 && run("top help") == 0);
	CHECK_HAS(out, "Usage: dlcbf top TABLE");
	CHECK(run("tabl show") == 255);
	CHECK_HAS(err, "Error: object \"tabl\" is unknown");
	CHECK(run("table sho") == 255);
	CHECK_HAS(err, "try \"dlcbf table help\"");
	CHECK(run("-x table") == 255);
	CHECK_HAS(err, "option \"-x\" is unknown");
	CHECK(run("-n") == 255);
	CHECK_HAS(err, "needs a value");
	CHECK(run("-n nosuchnamespace table") == 2);
	CHECK_HAS(err, "cannot open network namespace \"nosuchnamespace\"");
	CHECK(run("-b x table") == 255);
	fake_troubles.absent = 1;
	CHECK(run("table") == 2);
	CHECK_HAS(err, "module nf_dlcbf is not loaded");
	fake_troubles.absent = 0;
	fake_troubles.eperm = 1;
	CHECK(run(SET) == 2);
	CHECK_TEXT(err, "Error: cannot add table blocked: Operation not permitted (it takes CAP_NET_ADMIN).\n");
}

static void test_table_errors(void)
{
	static const struct { const char *line, *error; } bad[] = {
		{ "table add", "name is missing" },
		{ "table add \"\"", "empty" },
		{ "table add a/b type set", "slash" },
		{ "table add \"a b\" type set", "space" },
		{ "table add . type set", "cannot be a name" },
		{ "table add t", "type is missing" },
		{ "table add t type set", "key is missing" },
		{ "table add t type set key saddr", "max-flows is missing" },
		{ "table add t type bag", "\"bag\" is not set or flow" },
		{ "table add t type", "\"type\" needs a value" },
		{ "table add t type set type set", "type is given twice" },
		{ "table add t type set key saddr max-flows 0", "0 flows" },
		{ "table add t type set key saddr max-flows 2G", "more than 1073741824" },
		{ "table add t type set key saddr max-flows x", "not a number" },
		{ "table add t type set key saddr max-flows 9 fpr 0", "rate of 0" },
		{ "table add t type set key saddr max-flows 9 fpr 1", "less than 1" },
		{ "table add t type set key saddr max-flows 9 fpr nan", "nan" },
		{ "table add t key saddr/33/1", "1 to 32 for IPv4" },
		{ "table add t family ipv4 key saddr/33", "1 to 32" },
		{ "table add t key saddr/33 family ipv4", "1 to 32" },
		{ "table add t secret 12", "32 hexadecimal digits" },
		{ "table add t keys yes", "\"yes\" is not a setting" },
		{ "table add t nonsense", "\"nonsense\" is not a setting" },
		{ "table add t timeout 5x", "unit" },
		{ "table add t subtables x", "not a number" },
		{ "table show a b", "what is \"b\"?" },
		{ "table swap a", "other table's name is missing" },
		{ "table delete", "name is missing" },
		{ "table flush a b", "what is \"b\"?" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		test_result(run(bad[i].line) == 255, __FILE__, __LINE__, "%s",
			    bad[i].line);
		CHECK_HAS(err, bad[i].error);
		CHECK_HAS(err, "Error: ");
		CHECK_TEXT(out, "");
	}
	CHECK(fake_messages == 0);
}

static void test_table(void)
{
	CHECK(run(SET " fpr 1e-6 timeout 5m") == 0);
	CHECK_TEXT(out, "");
	CHECK(run(SET) == 2);
	CHECK_TEXT(err, "Error: cannot add table blocked: name: there is a table of this name (File exists).\n");
	CHECK(run("-exist " SET) == 0);
	CHECK(run("table") == 0);
	CHECK_TEXT(out, "blocked: type set family ipv4 key saddr max-flows 1000 fpr 1e-06 keys on learn off timeout 300s on-full drop-new\n"
		   "    flows 0 cells 1000 used 0 load 0.0% memory 1.00MiB hooks 0\n");
	CHECK(run("-s table show blocked") == 0);
	CHECK_HAS(out, "geometry subtables 4 buckets 8 bucket-cells 12");
	CHECK_HAS(out, "predicted fpr-now 0 fpr-max 9.54e-07 overflow 5e-13\n");
	CHECK_HAS(out, "packets 18446744073709551615 hit 7\n    dropped 3\n    added 2\n");
	CHECK(run("-j table list blocked") == 0);
	CHECK_HAS(out, "[{\"name\":\"blocked\",\"type\":\"set\",\"family\":\"ipv4\",\"key\":[\"saddr\"],\"saddr_prefix4\":32,\"max_flows\":1000,\"fpr\":1e-06,\"keys\":true,");
	CHECK_HAS(out, "\"timeout_ms\":300000");
	CHECK_HAS(out, "\"packets\":18446744073709551615");
	CHECK_HAS(out, "\"overflow_log10\":-12.300");
	CHECK(!strstr(out, "secret"));
	CHECK(run("-j -p table") == 0);
	CHECK_HAS(out, "[\n    {\n        \"name\": \"blocked\",");
	CHECK_RUN(0,
		  "table add web type flow key saddr/24/64,dport max-flows 1k bidir keys off dry-run");
	CHECK_HAS(out, "web: type flow family inet key saddr/24/64,dport max-flows 1000 fpr 1e-06 keys off learn off bidir on-full drop-new fragments miss\n");
	CHECK(run("table show web") == 2);
	CHECK_TEXT(err, "Error: there is no table web.\n");
	CHECK(run("table delete web") == 2);
	CHECK(run("-exist table del web") == 0);
	CHECK(run("table delete blocked") == 0);
	CHECK(run("-j table") == 0);
	CHECK_TEXT(out, "[]\n");
	CHECK(run(SET) == 0);
	fake_troubles.interrupt = 3;
	CHECK(run("table") == 0);
	CHECK_HAS(out, "blocked:");
	CHECK(!strstr(strstr(out, "blocked:") + 1, "blocked:"));
	fake_troubles.interrupt = 100;
	CHECK(run("table") == 2);
	CHECK_HAS(err, "kept changing");
	fake_reset();
}

static void test_hook(void)
{
	static const struct { const char *line, *error; } bad[] = {
		{ "hook add", "name is missing" },
		{ "hook add t", "hook is missing" },
		{ "hook add t hook nowhere", "\"nowhere\" is not prerouting" },
		{ "hook add t hook ingress", "device is missing" },
		{ "hook add t hook input device lo", "ingress only" },
		{ "hook add t hook input priority x", "not a number" },
		{ "hook add t hook input priority -", "not a number" },
		{ "hook add t hook input priority 2147483648", "more than" },
		{ "hook add t hook input priority -2147483649", "more than" },
		{ "hook add t hook input hit maybe", "\"maybe\" is not continue" },
		{ "hook add t hook input hit mark", "needs a value" },
		{ "hook add t hook input hit mark 0x1ff/0xff", "outside of the mask" },
		{ "hook add t hook input hit mark x", "not a number" },
		{ "hook add t hook input hit drop hit drop", "twice" },
		{ "hook add t hook ingress device 1234567890123456", "device's name" },
		{ "hook delete t hook input hit drop", "what is \"hit\"?" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		test_result(run(bad[i].line) == 255, __FILE__, __LINE__, "%s",
			    bad[i].line);
		CHECK_HAS(err, bad[i].error);
	}
	CHECK(fake_messages == 0);
	CHECK(run("hook add blocked hook input") == 2);
	CHECK_TEXT(err, "Error: cannot add hook input of table blocked: table: no such table (No such file or directory).\n");
	CHECK(run(SET) == 0);
	CHECK(run("hook add blocked hook prerouting priority raw hit drop miss accept") == 0);
	CHECK_RUN(0,
		  "hook add blocked hook ingress device \"we#rd\" priority -2147483648 hit mark 0x10/0xf0 miss mark 7");
	CHECK(run("hook") == 0);
	CHECK_TEXT(out, "blocked hook ingress device \"we#rd\" priority -2147483648 hit mark 0x10/0xf0 miss mark 0x7\n"
		   "blocked hook prerouting priority -300 hit drop miss accept\n");
	CHECK(run("-j hook show blocked") == 0);
	CHECK_HAS(out, "{\"table\":\"blocked\",\"hook\":\"ingress\",\"device\":\"we#rd\",\"priority\":-2147483648,\"hit\":{\"verdict\":\"mark\",\"mark\":16,\"mask\":240},\"miss\":{\"verdict\":\"mark\",\"mark\":7,\"mask\":4294967295}}");
	CHECK(run("hook show other") == 0);
	CHECK_TEXT(out, "");
	fake_reset();
}

static void test_flow(void)
{
	CHECK(run(SET) == 0);
	CHECK(run("flow add blocked 10.0.0.7") == 0);
	CHECK(run("flow add blocked 10.0.0.7") == 2);
	CHECK_TEXT(err, "Error: cannot add 10.0.0.7 to table blocked: flow: this flow is not right (File exists).\n");
	CHECK(run("-exist flow add blocked 10.0.0.7") == 0);
	CHECK(run("flow add blocked 10.0.0.8 packets 3 bytes 400 timeout 59s count 2") == 0);
	CHECK(run("flow show blocked") == 0);
	CHECK_TEXT(out, "10.0.0.7 packets 0 bytes 0 idle 1.2s\n"
		   "10.0.0.8 packets 3 bytes 400 idle 1.2s timeout 59s count 2\n");
	CHECK(run("-j flow show blocked 10.0.0.8") == 0);
	CHECK_TEXT(out, "[{\"family\":\"ipv4\",\"saddr\":\"10.0.0.8\",\"packets\":3,\"bytes\":400,\"idle_ms\":1200,\"pinned\":true,\"count\":2,\"timeout_ms\":59000}]\n");
	CHECK(run("flow show blocked 10.0.0.9") == 2);
	CHECK_TEXT(err, "Error: 10.0.0.9 is not in table blocked.\n");
	CHECK(run("flow test blocked 10.0.0.7") == 0);
	CHECK_TEXT(out, "10.0.0.7 is in table blocked.\n");
	CHECK(run("flow test blocked 10.0.0.9") == 1);
	CHECK_TEXT(out, "10.0.0.9 is not in table blocked.\n");
	CHECK(run("-q flow test blocked 10.0.0.9") == 1);
	CHECK_TEXT(out, "");
	CHECK(run("-j flow test blocked 10.0.0.9") == 1);
	CHECK_TEXT(out, "{\"table\":\"blocked\",\"family\":\"ipv4\",\"saddr\":\"10.0.0.9\",\"in\":false}\n");
	CHECK(run("flow test nosuch 10.0.0.9") == 2);
	CHECK(run("flow test blocked 10.0.0") == 255);
	CHECK(run("flow test blocked") == 255);
	CHECK(run("flow reset blocked 10.0.0.8") == 0);
	CHECK_HAS(out, "packets 3");
	CHECK(run("flow show blocked 10.0.0.8") == 0);
	CHECK_HAS(out, "packets 0");
	CHECK(run("flow delete blocked 10.0.0.7") == 0);
	CHECK(run("flow delete blocked 10.0.0.7") == 2);
	CHECK(run("-exist flow delete blocked 10.0.0.7") == 0);
	CHECK(run("flow show") == 255);
	CHECK(run("flow add blocked 10.0.0.1 packets") == 255);
	CHECK(run("flow add blocked 10.0.0.1 packets x") == 255);
	CHECK(run("flow add blocked 10.0.0.1 count 0") == 255);
	CHECK(run("flow add blocked 10.0.0.1 count 1 learned") == 255);
	CHECK(run("flow add blocked 10.0.0.1 what") == 255);
	CHECK_HAS(err, "what is \"what\"?");
	CHECK(run("flow delete blocked 10.0.0.1 packets 1") == 255);
	fake_troubles.interrupt = 3;
	CHECK(run("flow show blocked") == 0);
	CHECK_TEXT(out, "10.0.0.8 packets 0 bytes 0 idle 1.2s timeout 59s count 2\n");
	fake_troubles.interrupt = 3;
	CHECK(run("-j flow show blocked") == 0);
	CHECK(out[0] == '[' && !strstr(out + 1, "["));
	fake_troubles.interrupt = 100;
	CHECK(run("flow show blocked") == 2);
	CHECK_HAS(err, "while table blocked was listed");
	fake_troubles.interrupt = 1;
	CHECK(run("flow reset blocked") == 2);
	fake_reset();
}

static void test_flow_file(void)
{
	char *text;
	FILE *f;
	int i;

	CHECK(run(SET) == 0);
	write_file("list", "\xef\xbb\xbf# a list\r\n10.0.0.1\r\n\r\n"
		   "10.0.0.2 # a bad one\n ; nothing\n10.0.0.3;x\n10.0.0.4/32\n10.0.0.5 timeout 1h");
	CHECK(runf("-s flow add blocked file %s", "list") == 0);
	CHECK_TEXT(out, "5 flows added to table blocked.\n");
	CHECK(runf("flow add blocked file %s", "list") == 2);
	CHECK_HAS(err, "/list:2: this flow is not right (File exists)");
	CHECK_HAS(err, "/list:8: ");
	CHECK(runf("-exist flow add blocked file %s", "list") == 0);
	fake_troubles.failures = 2;
	CHECK(runf("flow add blocked file %s", "list") == 2);
	CHECK_HAS(err, "/list:2 to 8: 3 more flows failed");
	CHECK(runf("flow delete blocked file %s", "none") == 2);
	CHECK_HAS(err, "No such file");
	CHECK(run("flow add blocked file /tmp") == 2);
	CHECK(run("flow add blocked file") == 255);
	CHECK(run("flow add blocked file a b") == 255);

	/* Deleting takes keys and nothing else. */
	CHECK(runf("flow delete blocked file %s", "list") == 255);
	CHECK_HAS(err, "/list:8: what is \"timeout\"?");
	write_file("list", "10.0.0.1\n10.0.0.2\n10.0.0.3\n10.0.0.4\n10.0.0.5\n");
	CHECK(runf("flow delete blocked file %s", "list") == 0);
	CHECK(run("flow show blocked") == 0);
	CHECK_TEXT(out, "");

	/* A mistake on the last line, and nothing is added. */
	write_file("bad", "10.0.1.1\n10.0.1.2\n10.0.1.256\n");
	i = fake_flow_messages;
	CHECK(runf("flow add blocked file %s", "bad") == 255);
	CHECK_HAS(err, "/bad:3: \"10.0.1.256\" is not an address");
	CHECK(fake_flow_messages == (unsigned int)i);
	CHECK(runf("-force flow add blocked file %s", "bad") == 255);
	CHECK_HAS(err, "/bad:3:");
	CHECK(run("flow show blocked") == 0);
	CHECK_HAS(out, "10.0.1.1 ");
	CHECK_HAS(out, "10.0.1.2 ");

	/* From a pipe, which cannot be read twice, and many in a message. */
	text = malloc(20000 * 20);
	text[0] = 0;
	for (i = 0, f = fmemopen(text, 20000 * 20, "w"); i < 20000; i++)
		fprintf(f, "10.9.%d.%d\n", i / 250, i % 250);
	fclose(f);
	i = fake_flow_messages;
	CHECK(run_with(text, "-s flow add blocked file -") == 0);
	CHECK_HAS(out, "20000 flows added");
	CHECK(fake_flow_messages - i == 3);
	CHECK(run("-j flow show blocked") == 0);
	for (i = 0, f = fmemopen(out, strlen(out), "r"); !feof(f);)
		i += fgetc(f) == '{';
	fclose(f);
	CHECK(i == 20002);
	/* What went out already cannot be taken back. */
	fake_troubles.interrupt = 1;
	CHECK(run("-j flow show blocked") == 2);
	CHECK(run_with("10.0.0.x\n", "flow add blocked file -") == 255);
	CHECK_HAS(err, "standard input:1:");
	free(text);
	fake_reset();
}

static void test_replace(void)
{
	CHECK(run(SET) == 0);
	CHECK(run("flow add blocked 10.0.0.1") == 0);
	write_file("list", "10.0.0.2\n10.0.0.3\n");
	CHECK(runf("-s flow replace blocked file %s keep-counters", "list") == 0);
	CHECK_HAS(out, "2 flows");
	CHECK(run("flow show blocked") == 0);
	CHECK(!strstr(out, "10.0.0.1 ") && strstr(out, "10.0.0.2 "));
	CHECK(run("table show blocked") == 0);
	CHECK_HAS(out, "type set family ipv4 key saddr max-flows 1000");
	write_file("bad", "10.0.0.4\nx\n");
	CHECK(runf("flow replace blocked file %s", "bad") == 255);
	write_file("bad", "10.0.0.4\n10.0.0.4\n");
	CHECK(runf("flow replace blocked file %s", "bad") == 2);
	CHECK_HAS(err, "/bad:2: ");
	CHECK(!strstr(err, "all the same"));
	fake_troubles.refuse_publish = 1;
	CHECK(runf("flow replace blocked file %s", "list") == 2);
	CHECK_HAS(err, "no memory for this");
	CHECK(run("flow show blocked") == 0);
	CHECK(strstr(out, "10.0.0.2 ") && !strstr(out, "10.0.0.4 "));
	fake_troubles.no_secret = true;
	CHECK(runf("flow replace blocked file %s", "list") == 2);
	CHECK_HAS(err, "CAP_NET_ADMIN");
	CHECK(run("flow replace blocked 10.0.0.1") == 255);
	CHECK(run("flow replace blocked file a b") == 255);
	fake_reset();
}

static void test_batch(void)
{
	write_file("batch", "# comment\n" SET "\n\nflow add blocked 10.0.0.1\n"
		   "flow add blocked 10.0.0.1\nflow add blocked 10.0.0.2\n");
	CHECK(runf("-b %s", "batch") == 2);
	CHECK_HAS(err, "Command failed ");
	CHECK_HAS(err, "/batch:5\n");
	CHECK(run("flow show blocked") == 0);
	CHECK(!strstr(out, "10.0.0.2"));
	CHECK(run("table delete blocked") == 0);
	CHECK(runf("-force -b %s", "batch") == 2);
	CHECK(run("flow show blocked") == 0);
	CHECK_HAS(out, "10.0.0.2");
	CHECK(run_with("table help\nflow \"\n", "-batch -") == 255);
	CHECK_HAS(err, "Command failed -:2");
	CHECK(runf("-b %s", "nosuchfile") == 2);
	/* The table's name means another table now. */
	CHECK(run_with("flow add blocked 10.0.0.3\ntable delete blocked\n"
		       "table add blocked type set family ipv6 key saddr max-flows 9\n"
		       "flow add blocked ::1\nflow add blocked 10.0.0.3\n",
		       "-b -") == 255);
	CHECK_HAS(err, "-:5");
	fake_reset();
}

static void test_save(void)
{
	char *first, *second;
	struct stat st;

	CHECK(run("-exist " SET " secret 000102030405060708090a0b0c0d0e0f") == 0);
	CHECK_RUN(0,
		  "table add \"we#rd\" type flow key saddr,daddr,sport,dport,proto max-flows 100 learn on timeout 1h");
	CHECK(run("hook add blocked hook prerouting priority raw hit drop") == 0);
	CHECK(run("flow add blocked 10.0.0.1 count 3") == 0);
	CHECK(run("flow add blocked 10.0.0.2 timeout 90s packets 5 bytes 18446744073709551615") ==
	      0);
	CHECK(run("flow add \"we#rd\" [2001:db8::1]:443 [::1]:80 proto tcp learned") == 0);
	CHECK(run("flow add \"we#rd\" 10.0.0.1 10.0.0.2 proto icmp type 8 code 0 id 5") == 0);
	CHECK(run("save") == 0);
	first = strdup(out);
	CHECK(!strncmp(first, "dlcbf-save 1\n", 13));
	CHECK_HAS(first, "table add blocked type set family ipv4 key saddr max-flows 1000 fpr 1e-06 keys on learn off bidir off timeout 0s on-full drop-new events off judge-neighbours off secret 000102030405060708090a0b0c0d0e0f subtables 4 buckets 8 bucket-cells 12 cell-bits 16 counter-bits 20\n");
	CHECK_HAS(first, "hook add blocked hook prerouting priority -300 hit drop miss continue\n");
	CHECK_HAS(first, "flow add blocked 10.0.0.1 packets 0 bytes 0 idle 1.2s count 3\n");
	CHECK_HAS(first, "flow add blocked 10.0.0.2 packets 5 bytes 18446744073709551615 idle 1.2s timeout 90s\n");
	CHECK_HAS(first, "table add \"we#rd\" type flow family inet key saddr,daddr,sport,dport,proto");
	CHECK_HAS(first, "flow add \"we#rd\" [2001:db8::1]:443 [::1]:80 proto tcp packets 0 bytes 0 idle 1.2s learned\n");
	CHECK_HAS(first, "\nend 7\n");

	/* Back again, over what there is and into nothing. */
	CHECK(run_with(first, "-s restore") == 0);
	CHECK_HAS(out, "2 tables with 4 flows are in place.");
	fake_reset();
	CHECK(run_with(first, "restore") == 0);
	CHECK(run("save blocked") == 0);
	CHECK_HAS(out, "end 4\n");
	CHECK(!strstr(out, "we#rd"));
	CHECK(run("save blocked \"we#rd\"") == 0);
	second = strdup(out);
	CHECK(strlen(first) == strlen(second));
	free(second);

	CHECK(runf("save file %s", "saved") == 0);
	CHECK_TEXT(out, "");
	CHECK(!stat(path("saved"), &st) && (st.st_mode & 0777) == 0600);
	second = read_file("saved");
	CHECK(strlen(first) == strlen(second));
	free(second);
	CHECK(runf("restore %s", "saved") == 0);
	CHECK(run("save nosuch") == 2);
	CHECK(!strstr(out, "end"));
	CHECK(run("-j save") == 255);
	CHECK(run("save file") == 255);
	CHECK(run("save blocked file a b") == 255);
	fake_troubles.no_secret = true;
	CHECK(run("save") == 2);
	CHECK_HAS(err, "CAP_NET_ADMIN");
	fake_troubles.no_secret = false;
	/* A failed save leaves the file as it was. */
	CHECK(runf("save nosuch file %s", "saved") == 2);
	second = read_file("saved");
	CHECK(strlen(first) == strlen(second));
	free(second);
	fake_troubles.interrupt = 1;
	CHECK(run("save") == 0);
	CHECK(strlen(first) == strlen(out));
	fake_troubles.interrupt = 1000;
	CHECK(run("save blocked") == 2);
	CHECK(!strstr(out, "end"));
	fake_troubles.interrupt = 0;
	/* The module adds the counters that it keeps; those here do not count. */
	CHECK(runf("restore file %s keep-counters", "saved") == 0);
	CHECK(run("flow show blocked 10.0.0.2") == 0);
	CHECK_HAS(out, "packets 0 bytes 0 idle 1.2s timeout 90s");
	CHECK(runf("restore keep-counters %s", "saved") == 0);
	free(first);
	fake_reset();
}

#define TABLE "table add t type set family ipv4 key saddr max-flows 10\n"
#define HEAD "dlcbf-save 1\n"

static void test_restore_errors(void)
{
	static const struct { const char *file, *error; int status; } bad[] = {
		{ "", "there is nothing in it", 255 },
		{ "# nothing\n", "there is nothing in it", 255 },
		{ HEAD TABLE, "the file was cut off", 255 },
		{ HEAD TABLE "flow add t 10.0.0.1\nend 1\n",
		  ":4: 1 commands were saved, and 2 are here", 255 },
		{ HEAD TABLE "flow add t 10.0.0.1\nend 3\n", ":4:", 255 },
		{ HEAD TABLE "end 1\nflow add t 10.0.0.1\n",
		  ":4: there is more after the end", 255 },
		{ HEAD HEAD TABLE "end 1\n", ":2: a second beginning", 255 },
		{ TABLE HEAD, ":2: a second beginning", 255 },
		{ "dlcbf-save 2\n", ":1: a save file of version 2", 255 },
		{ "dlcbf-save\n", ":1: a save file of version ?", 255 },
		{ HEAD TABLE "end\n", ":3: \"end\" needs a value", 255 },
		{ HEAD TABLE "end x\n", ":3: end: \"x\" is not a number", 255 },
		{ TABLE "flow add t 10.0.0.1\nflow add t 10.0.0.x\n",
		  ":3: \"10.0.0.x\" is not an address", 255 },
		{ TABLE "flow delete t 10.0.0.1\n", ":2: \"flow delete\" is not", 255 },
		{ TABLE "flow\n", ":2: \"flow\" is not", 255 },
		{ TABLE "flow add\n", ":2: the table's name is missing", 255 },
		{ TABLE "flow add u 10.0.0.1\n", ":2: table u is not added before", 255 },
		{ "flow add t 10.0.0.1\n" TABLE, ":1: table t is not added before", 255 },
		{ TABLE TABLE, ":2: table t is there twice", 255 },
		{ TABLE "hook add u hook input\n", ":2: table u is not added", 255 },
		{ TABLE "hook add t hook nowhere\n", ":2: hook: \"nowhere\"", 255 },
		{ "table add t type set\n", ":1: key is missing", 255 },
		{ "table add t type set key saddr max-flows 1 dry-run\n", ":1: dry-run", 255 },
		{ TABLE "flow add t \"10.0.0.1\n", ":2: a quote is not closed", 255 },
		{ TABLE "flow add t 10.0.0.1\nflow add t 10.0.0.1\n",
		  ":3: this flow is not right", 2 },
		{ "monitor\n", ":1: \"monitor\" is not", 255 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		test_result(run_with(bad[i].file, "restore") == bad[i].status,
			    __FILE__, __LINE__, "%s", bad[i].file);
		CHECK_HAS(err, bad[i].error);
		CHECK_HAS(err, "Nothing was changed.");
		CHECK(run("-j table") == 0);
		CHECK_TEXT(out, "[]\n");
	}
	fake_troubles.refuse_publish = 1;
	CHECK(run_with(TABLE, "restore") == 2);
	CHECK_HAS(err, "no memory for this");
	fake_troubles.eperm = 1;
	CHECK(run_with(TABLE, "restore") == 2);
	CHECK_HAS(err, ":1: cannot add table t: Operation not permitted");
	CHECK(run("restore /nosuchfile") == 2);
	CHECK(run("restore a b") == 255);
	CHECK(run_with(TABLE "flow add t 10.0.0.1\nflow add t 10.0.0.1\nflow add t x\nflow add t 10.0.0.2\n",
		       "-force restore") == 2);
	CHECK_HAS(err, ":3:");
	CHECK_HAS(err, ":4:");
	CHECK(run("flow show t") == 0);
	CHECK_HAS(out, "10.0.0.2");
	CHECK(run_with(TABLE "flow add t 10.0.0.1\nflow add t 10.0.0.1\n",
		       "-exist restore") == 0);
	fake_reset();
}

static void test_monitor(void)
{
	CHECK(run("table add web type set family ipv4 key saddr/24 max-flows 9") == 0);
	fake_troubles.events = "tshf!f";
	CHECK(run("monitor") == 2);
	CHECK_TEXT(out, "table add web type set family ipv4 key saddr/24 max-flows 9 fpr 1e-06 keys on learn off on-full drop-new\n"
		   "table swap web other\n"
		   "hook delete web hook input priority 0 hit continue miss continue\n"
		   "flow expire web 10.0.0.7/24 packets 5\n"
		   "flow expire web 10.0.0.7/24 packets 5\n");
	CHECK_HAS(err, "some are lost");
	fake_troubles.events = "sh!f";
	CHECK(run("-j -t monitor all") == 2);
	CHECK_HAS(out, "{\"timestamp\":\"20");
	CHECK_HAS(out, ",\"object\":\"table\",\"event\":\"swap\",\"table\":\"web\",\"other\":\"other\"}\n");
	CHECK_HAS(out, "\"table\":\"web\",\"hook\":{\"table\":\"web\",");
	CHECK_HAS(out, "\"event\":\"lost\"}\n");
	CHECK_HAS(out, "\"table\":\"web\",\"flow\":{\"family\":\"ipv4\",\"saddr\":\"10.0.0.7\",\"saddr_prefix\":24,\"packets\":5}}\n");
	CHECK(run("monitor nonsense") == 255);
	CHECK(run("monitor flow x") == 255);
	fake_reset();
}

static void test_top(void)
{
	CHECK(run(SET) == 0);
	CHECK(run("top blocked") == 2);
	CHECK_HAS(err, "counts no flows");
	CHECK(run("top") == 255);
	CHECK(run("table add web type flow family ipv4 key saddr max-flows 9") == 0);
	CHECK(run("flow add web 10.0.0.1 packets 5 bytes 5") == 0);
	CHECK(run("top web interval 100ms count 1") == 0);
	CHECK_HAS(out, "web: 1 flows, 0 B/s, 0 packets/s\n");
	CHECK(run("-j top web 10.0.0.0/8 interval 0.1 count 1 lines 5 by packets") == 0);
	CHECK_HAS(out, "{\"table\":\"web\",\"flows\":1,\"unranked\":0,");
	CHECK(run("top web interval 1ms") == 255);
	CHECK(run("top web by colour") == 255);
	CHECK(run("top web count x") == 255);
	CHECK(run("top web what") == 255);
	fake_reset();
}

void test_command(void)
{
	if (!mkdtemp(dir))
		abort();
	fake_reset();
	test_usage();
	fake_reset();
	test_table_errors();
	test_table();
	test_hook();
	test_flow();
	test_flow_file();
	test_replace();
	test_batch();
	test_save();
	test_restore_errors();
	test_monitor();
	test_top();
	unlink(path("list"));
	unlink(path("bad"));
	unlink(path("batch"));
	unlink(path("saved"));
	rmdir(dir);
	free(out);
	free(err);
}
