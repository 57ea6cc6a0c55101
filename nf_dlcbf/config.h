/* SPDX-License-Identifier: GPL-2.0 */
/* What an administrator asks of a table, and what it becomes. */
#ifndef NF_DLCBF_CONFIG_H
#define NF_DLCBF_CONFIG_H

#include <linux/types.h>
#include <linux/nf_dlcbf.h>

#include "dlcbf_core/dlcbf.h"

/**
 * struct nf_dlcbf_refusal - why something was not done
 * @message:   one line for a person, a string constant; NULL: none
 * @attribute: the netlink attribute at fault, of the set that the request
 *	       uses; 0: none in particular
 * @detail:    what could be had instead, or empty
 *
 * The table code knows no netlink messages; netlink.c turns this into extack.
 */
struct nf_dlcbf_refusal {
	const char *message;
	int attribute;
	char detail[64];
};

/* Fill in a refusal and give its errno, for `return nf_dlcbf_refuse(...)`. */
static inline int nf_dlcbf_refuse(struct nf_dlcbf_refusal *refusal, int error, int attribute,
				  const char *message)
{
	refusal->message = message;
	refusal->attribute = attribute;
	return error;
}

/**
 * struct nf_dlcbf_config - the settings of a table
 * @type:             enum nf_dlcbf_type
 * @family:           enum nf_dlcbf_family
 * @fields:           enum nf_dlcbf_field, what the key is made of
 * @saddr_prefix4:    significant bits of an IPv4 source address, 1 to 32
 * @saddr_prefix6:    likewise IPv6, 1 to 128
 * @daddr_prefix4:    likewise, destination
 * @daddr_prefix6:    likewise, destination
 * @keys:             the keys are stored beside the cells
 * @bidir:            both directions of a connection are one flow
 * @judge_neighbours: ARP and neighbour discovery get the verdict on miss too
 * @has_secret:       @secret was given and not drawn
 * @learn:            packets add flows; may be changed
 * @events:           learned and evicted flows are notified; may be changed
 * @on_full:          enum nf_dlcbf_on_full; may be changed
 * @fragments:        enum nf_dlcbf_fragments; may be changed
 * @timeout_ms:       milliseconds of idleness after which a learned flow goes,
 *		      0 for never; may be changed
 * @max_flows:        flows that the table is made for
 * @fpr:              wanted false positive rate in units of 10^-18
 * @geometry:         fields that are 0 are chosen
 * @secret:           hash key
 * @fpr_max:          predicted false positive rate at @max_flows (out)
 * @overflow:         log10 in thousandths of the predicted chance that one of
 *		      @max_flows finds no cell (out)
 */
struct nf_dlcbf_config {
	u32 type;
	u32 family;
	u32 fields;
	u8 saddr_prefix4;
	u8 saddr_prefix6;
	u8 daddr_prefix4;
	u8 daddr_prefix6;
	bool keys;
	bool bidir;
	bool judge_neighbours;
	bool has_secret;
	bool learn;
	bool events;
	u32 on_full;
	u32 fragments;
	u64 timeout_ms;
	u64 max_flows;
	u64 fpr;
	struct dlcbf_geometry geometry;
	u8 secret[NF_DLCBF_SECRET_LEN];
	u64 fpr_max;
	s32 overflow;
};

void nf_dlcbf_config_defaults(struct nf_dlcbf_config *config, u32 type);
int nf_dlcbf_config_complete(struct nf_dlcbf_config *config, struct nf_dlcbf_refusal *refusal);
int nf_dlcbf_config_check_changeable(const struct nf_dlcbf_config *config,
				     struct nf_dlcbf_refusal *refusal);
u64 nf_dlcbf_config_fpr(const struct nf_dlcbf_config *config, u64 flows);

#endif /* NF_DLCBF_CONFIG_H */
