// SPDX-License-Identifier: GPL-2.0
/*
 * malformed: sends the module netlink messages that are not well formed, and
 * sees that each is refused with an error that says why.
 *
 * Each message would change something if it were whole: what it needs most
 * comes last.  It is cut after every byte of it, with the lengths that its
 * header, or its last attribute, then has; each of its attributes is made
 * shorter and longer than its type is; and it gets attributes, flags and
 * headers that no command knows.  The caller sees that nothing has changed.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/nf_dlcbf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include <libmnl/libmnl.h>

static struct mnl_socket *sock;
static uint16_t family;
static unsigned int sequence;
static unsigned int sent, refused, wrong;

/* A message as it would be right. */
struct message {
	const char *name;
	bool nested;		/* its last attribute is a nest */
	char buf[1024];
	struct nlattr *last;
};

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static struct nlmsghdr *header(void *buf, uint16_t type, uint8_t cmd)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *genl;

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	genl->cmd = cmd;
	genl->version = NF_DLCBF_FAMILY_VERSION;
	return nlh;
}

static int read_family(const struct nlmsghdr *nlh, void *data)
{
	struct nlattr *attr;

	(void)data;
	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
			family = mnl_attr_get_u16(attr);
	return MNL_CB_OK;
}

static void find_family(void)
{
	char buf[8192];
	struct nlmsghdr *nlh = header(buf, GENL_ID_CTRL, CTRL_CMD_GETFAMILY);
	ssize_t len;

	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, NF_DLCBF_FAMILY_NAME);
	if (mnl_socket_sendto(sock, nlh, nlh->nlmsg_len) < 0)
		die("send");
	do {
		len = mnl_socket_recvfrom(sock, buf, sizeof(buf));
		if (len < 0)
			die("receive");
	} while (mnl_cb_run(buf, len, 0, 0, read_family, NULL) > 0 && !family);
	if (!family) {
		fputs("malformed: the module is not loaded\n", stderr);
		exit(2);
	}
	/* The acknowledgment. */
	if (mnl_socket_recvfrom(sock, buf, sizeof(buf)) < 0)
		die("receive");
}

/* Whether the acknowledgment says why, in words or by naming an attribute. */
static bool explains(const struct nlmsghdr *nlh, char *text, size_t size)
{
	const struct nlmsgerr *err = mnl_nlmsg_get_payload(nlh);
	size_t at = sizeof(*err);
	struct nlattr *attr;
	bool does = false;

	snprintf(text, size, "nothing");
	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS))
		return false;
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
		at += err->msg.nlmsg_len - MNL_NLMSG_HDRLEN;
	mnl_attr_for_each(attr, nlh, MNL_ALIGN(at)) {
		switch (mnl_attr_get_type(attr)) {
		case NLMSGERR_ATTR_MSG:
			snprintf(text, size, "%s", mnl_attr_get_str(attr));
			does = true;
			break;
		case NLMSGERR_ATTR_OFFS:
		case NLMSGERR_ATTR_MISS_TYPE:
			does = true;
			break;
		}
	}
	return does;
}

/*
 * Sends a message and expects an error, with @words unless generic netlink
 * itself refuses it, which has none.
 */
static void expect(const struct nlmsghdr *nlh, size_t len, bool words, const char *fmt,
		   const char *name, unsigned int n)
{
	char buf[16384], text[256], what[128];
	const struct nlmsghdr *reply = (const void *)buf;
	const struct nlmsgerr *err;
	ssize_t got;

	snprintf(what, sizeof(what), fmt, name, n);
	sent++;
	if (mnl_socket_sendto(sock, nlh, len) < 0)
		die("send");
	for (;;) {
		got = mnl_socket_recvfrom(sock, buf, sizeof(buf));
		if (got < 0) {
			printf("%s: no answer: %s\n", what, strerror(errno));
			wrong++;
			return;
		}
		if (reply->nlmsg_seq != nlh->nlmsg_seq)
			continue;
		if (reply->nlmsg_type == NLMSG_ERROR)
			break;
		printf("%s: was answered\n", what);
		wrong++;
		return;
	}
	err = mnl_nlmsg_get_payload(reply);
	if (!err->error) {
		printf("%s: was taken\n", what);
		wrong++;
	} else if (words && !explains(reply, text, sizeof(text))) {
		printf("%s: %s, without a reason\n", what, strerror(-err->error));
		wrong++;
	} else {
		refused++;
	}
}

static struct nlmsghdr *copy(const struct message *m, char *buf)
{
	const struct nlmsghdr *nlh = (const void *)m->buf;
	struct nlmsghdr *mine = (void *)buf;

	/* What follows a message that was cut short is there, and is not read. */
	memset(buf, 0xff, sizeof(m->buf) + 256);
	memcpy(buf, m->buf, nlh->nlmsg_len);
	mine->nlmsg_seq = ++sequence;
	return mine;
}

/* Cuts before the last byte that matters: padding may go. */
static void cut(const struct message *m)
{
	size_t start = MNL_NLMSG_HDRLEN, len;
	size_t end = (const char *)m->last - m->buf + m->last->nla_len;
	char buf[sizeof(m->buf) + 256];
	struct nlmsghdr *nlh;
	struct nlattr *last;

	for (len = start; len < end; len++) {
		nlh = copy(m, buf);
		nlh->nlmsg_len = len;
		expect(nlh, len, len >= start + GENL_HDRLEN, "%s cut to %u bytes", m->name, len);
	}
	if (!m->nested)
		return;
	for (len = (const char *)m->last - m->buf + MNL_ATTR_HDRLEN; len < end; len++) {
		nlh = copy(m, buf);
		nlh->nlmsg_len = len;
		last = (void *)(buf + ((const char *)m->last - m->buf));
		last->nla_len = (const char *)nlh + len - (const char *)last;
		expect(nlh, len, true, "%s, its nest cut to %u bytes", m->name, len);
	}
}

/* Makes an attribute @by bytes longer, or shorter, and moves what follows. */
static bool resize(struct nlmsghdr *nlh, struct nlattr *attr, int by)
{
	char *next = (char *)attr + MNL_ALIGN(attr->nla_len);
	size_t rest = (char *)nlh + nlh->nlmsg_len - next;
	int shift;

	if (attr->nla_len + by < (int)MNL_ATTR_HDRLEN)
		return false;
	shift = (int)MNL_ALIGN(attr->nla_len + by) - (int)MNL_ALIGN(attr->nla_len);
	memmove(next + shift, next, rest);
	attr->nla_len += by;
	nlh->nlmsg_len += shift;
	return true;
}

/* A string may be followed by more zeros, or by anything; only its end counts. */
static bool is_string(const struct nlattr *attr)
{
	const char *text = mnl_attr_get_payload(attr);
	size_t len = mnl_attr_get_payload_len(attr);

	return len > 1 && text[0] >= 'a' && text[0] <= 'z' && !text[len - 1];
}

/* Every attribute of a fixed size, and every string, in another size. */
static void wrong_sizes(const struct message *m)
{
	static const int by[] = { -16, -8, -7, -6, -5, -4, -3, -2, -1, 1, 2, 3, 4,
				  5, 6, 7, 8, 200 };
	char buf[sizeof(m->buf) + 256];
	struct nlattr *attr, *mine;
	struct nlmsghdr *nlh;
	unsigned int i;

	mnl_attr_for_each(attr, (const struct nlmsghdr *)m->buf, GENL_HDRLEN) {
		for (i = 0; i < MNL_ARRAY_SIZE(by); i++) {
			nlh = copy(m, buf);
			mine = (void *)(buf + ((const char *)attr - m->buf));
			if (is_string(attr) && by[i] > 0 && by[i] < 200)
				continue;
			if (!resize(nlh, mine, by[i]))
				continue;
			/* A nest may end where one of its attributes does. */
			if (m->nested && attr == m->last && by[i] < 0)
				continue;
			if (by[i] > 0)
				memset((char *)mine + attr->nla_len, 0xff, by[i]);
			expect(nlh, nlh->nlmsg_len, true, "%s with an attribute %u",
			       m->name, mnl_attr_get_type(attr) * 1000 + 500 + by[i]);
		}
	}
}

static void unknown(const struct message *m)
{
	char buf[sizeof(m->buf) + 256];
	struct genlmsghdr *genl;
	struct nlmsghdr *nlh;
	unsigned int i;

	for (i = 0; i < 256; i += 5) {
		nlh = copy(m, buf);
		mnl_attr_put_u32(nlh, 200 + i, i);
		expect(nlh, nlh->nlmsg_len, true, "%s with an attribute of type %u", m->name,
		       200 + i);
	}
	nlh = copy(m, buf);
	genl = mnl_nlmsg_get_payload(nlh);
	genl->reserved = 1;
	expect(nlh, nlh->nlmsg_len, false, "%s with %u in its reserved field", m->name, 1);
	for (i = 0x100; i <= 0x800; i <<= 1) {
		nlh = copy(m, buf);
		/* Two of them ask for a dump. */
		nlh->nlmsg_flags |= i;
		expect(nlh, nlh->nlmsg_len, false, "%s with flags %u", m->name, i);
	}
	for (i = NF_DLCBF_CMD_TABLE_ADD_NTF; i < 256; i++) {
		nlh = copy(m, buf);
		genl = mnl_nlmsg_get_payload(nlh);
		genl->cmd = i;
		expect(nlh, nlh->nlmsg_len, false, "%s as command %u", m->name, i);
	}
}

static void finish(struct message *m, bool nested)
{
	struct nlmsghdr *nlh = (void *)m->buf;
	struct nlattr *attr;

	m->nested = nested;
	mnl_attr_for_each(attr, nlh, GENL_HDRLEN)
		m->last = attr;
}

static void put_flow(struct nlmsghdr *nlh, const char *saddr)
{
	struct nlattr *nest = mnl_attr_nest_start(nlh, NF_DLCBF_A_FLOWS_FLOW);
	struct in_addr in;

	mnl_attr_put_u32(nlh, NF_DLCBF_A_FLOW_COUNT, 1);
	inet_pton(AF_INET, saddr, &in);
	mnl_attr_put(nlh, NF_DLCBF_A_FLOW_SADDR, sizeof(in), &in);
	mnl_attr_nest_end(nlh, nest);
}

static void try(struct message *m)
{
	unsigned int before = wrong;

	cut(m);
	wrong_sizes(m);
	unknown(m);
	if (wrong != before)
		printf("%s: %u wrong\n", m->name, wrong - before);
}

int main(void)
{
	static struct message m[16];
	struct timeval patience = { .tv_sec = 5 };
	struct nlmsghdr *nlh;
	struct nlattr *nest;
	unsigned int n = 0, i;
	int one = 1;

	sock = mnl_socket_open(NETLINK_GENERIC);
	if (!sock || mnl_socket_bind(sock, 0, MNL_SOCKET_AUTOPID) < 0)
		die("netlink socket");
	if (mnl_socket_setsockopt(sock, NETLINK_EXT_ACK, &one, sizeof(one)) < 0)
		die("NETLINK_EXT_ACK");
	if (setsockopt(mnl_socket_get_fd(sock), SOL_SOCKET, SO_RCVTIMEO, &patience,
		       sizeof(patience)) < 0)
		die("SO_RCVTIMEO");
	sequence = time(NULL);
	find_family();

	/* What a command cannot do without comes last, so that a cut loses it. */
	nlh = header(m[n].buf, family, NF_DLCBF_CMD_TABLE_ADD);
	m[n].name = "TABLE_ADD";
	mnl_attr_put_strz(nlh, NF_DLCBF_A_TABLE_NAME, "malformed");
	mnl_attr_put_u32(nlh, NF_DLCBF_A_TABLE_TYPE, NF_DLCBF_TYPE_SET);
	mnl_attr_put_u32(nlh, NF_DLCBF_A_TABLE_FIELDS, NF_DLCBF_FIELD_SADDR);
	mnl_attr_put_u8(nlh, NF_DLCBF_A_TABLE_SADDR_PREFIX4, 24);
	mnl_attr_put_u64(nlh, NF_DLCBF_A_TABLE_FPR, NF_DLCBF_FPR_UNIT / 1000);
	mnl_attr_put(nlh, NF_DLCBF_A_TABLE_SECRET, NF_DLCBF_SECRET_LEN, "0123456789abcdef");
	mnl_attr_put_u64(nlh, NF_DLCBF_A_TABLE_MAX_FLOWS, 100);
	finish(&m[n++], false);

	nlh = header(m[n].buf, family, NF_DLCBF_CMD_TABLE_SET);
	m[n].name = "TABLE_SET";
	mnl_attr_put_u8(nlh, NF_DLCBF_A_TABLE_LEARN, 1);
	mnl_attr_put_u64(nlh, NF_DLCBF_A_TABLE_TIMEOUT, 1000);
	mnl_attr_put_strz(nlh, NF_DLCBF_A_TABLE_NAME, "web");
	finish(&m[n++], false);

	nlh = header(m[n].buf, family, NF_DLCBF_CMD_TABLE_DEL);
	m[n].name = "TABLE_DEL";
	mnl_attr_put_strz(nlh, NF_DLCBF_A_TABLE_NAME, "web");
	finish(&m[n++], false);

	nlh = header(m[n].buf, family, NF_DLCBF_CMD_TABLE_FLUSH);
	m[n].name = "TABLE_FLUSH";
	mnl_attr_put_strz(nlh, NF_DLCBF_A_TABLE_NAME, "web");
	finish(&m[n++], false);

	nlh = header(m[n].buf, family, NF_DLCBF_CMD_TABLE_SWAP);
	m[n].name = "TABLE_SWAP";
	mnl_attr_put_strz(nlh, NF_DLCBF_A_TABLE_OTHER, "web");
	mnl_attr_put_strz(nlh, NF_DLCBF_A_TABLE_NAME, "blocked");
	finish(&m[n++], false);

	nlh = header(m[n].buf, family, NF_DLCBF_CMD_HOOK_ADD);
	m[n].name = "HOOK_ADD";
	mnl_attr_put_strz(nlh, NF_DLCBF_A_HOOK_TABLE, "web");
	mnl_attr_put_u32(nlh, NF_DLCBF_A_HOOK_PRIORITY, -100);
	mnl_attr_put_u32(nlh, NF_DLCBF_A_HOOK_MISS, NF_DLCBF_VERDICT_DROP);
	mnl_attr_put_u32(nlh, NF_DLCBF_A_HOOK_HOOK, NF_DLCBF_HOOK_INPUT);
	finish(&m[n++], false);

	nlh = header(m[n].buf, family, NF_DLCBF_CMD_HOOK_DEL);
	m[n].name = "HOOK_DEL";
	mnl_attr_put_strz(nlh, NF_DLCBF_A_HOOK_TABLE, "web");
	mnl_attr_put_u32(nlh, NF_DLCBF_A_HOOK_PRIORITY, 0);
	mnl_attr_put_u32(nlh, NF_DLCBF_A_HOOK_HOOK, NF_DLCBF_HOOK_FORWARD);
	finish(&m[n++], false);

	nlh = header(m[n].buf, family, NF_DLCBF_CMD_FLOW_ADD);
	m[n].name = "FLOW_ADD";
	mnl_attr_put_strz(nlh, NF_DLCBF_A_FLOWS_TABLE, "blocked");
	put_flow(nlh, "192.0.2.77");
	finish(&m[n++], true);

	nlh = header(m[n].buf, family, NF_DLCBF_CMD_FLOW_ADD);
	m[n].name = "FLOW_ADD of two";
	mnl_attr_put_strz(nlh, NF_DLCBF_A_FLOWS_TABLE, "blocked");
	put_flow(nlh, "192.0.2.78");
	nest = mnl_nlmsg_get_payload_tail(nlh);
	put_flow(nlh, "192.0.2.79");
	/* Only the second can be cut; without it the first would be right. */
	finish(&m[n], true);
	m[n].last = nest;
	for (i = MNL_ATTR_HDRLEN; i < nest->nla_len; i++) {
		char buf[sizeof(m[n].buf) + 256];
		struct nlattr *mine;

		nlh = copy(&m[n], buf);
		mine = (void *)(buf + ((char *)nest - m[n].buf));
		mine->nla_len = i;
		nlh->nlmsg_len = (char *)mine + i - buf;
		expect(nlh, nlh->nlmsg_len, true, "%s, the second cut to %u bytes", m[n].name, i);
	}

	nlh = header(m[n].buf, family, NF_DLCBF_CMD_FLOW_DEL);
	m[n].name = "FLOW_DEL";
	mnl_attr_put_strz(nlh, NF_DLCBF_A_FLOWS_TABLE, "blocked");
	put_flow(nlh, "192.0.2.1");
	finish(&m[n++], true);

	for (i = 0; i < n; i++)
		try(&m[i]);
	mnl_socket_close(sock);
	printf("%u messages, %u refused, %u wrong\n", sent, refused, wrong);
	return wrong ? 1 : 0;
}
