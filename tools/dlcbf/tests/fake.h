/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A kernel of a few hundred lines, which keeps tables as the attributes that
 * they came in.  It is enough to see what the command sends and what it makes
 * of the answers; how the module really behaves is tested with the module.
 */
#ifndef DLCBF_FAKE_H
#define DLCBF_FAKE_H

#include "../netlink.h"

extern const struct nl_ops fake_ops;

/* What goes wrong, each until the count has come down to 0. */
struct fake_troubles {
	int absent;		/* the module is not loaded */
	int interrupt;		/* dumps that end with NLM_F_DUMP_INTR */
	int refuse_publish;
	int eperm;		/* requests that are refused */
	bool no_secret;		/* as for whoever is not an administrator */
	unsigned int failures;	/* most that one reply tells of; 0: 16 */
	const char *events;	/* what a listener gets: words for fake.c */
};

extern struct fake_troubles fake_troubles;
extern unsigned int fake_messages;	/* requests since fake_reset() */
extern unsigned int fake_flow_messages;	/* of these, with flows to add */

void fake_reset(void);

#endif
