/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A flow's key as text, as attributes, and as a structure between the two.
 */
#ifndef DLCBF_KEY_H
#define DLCBF_KEY_H

#include <net/if.h>

#include <linux/nf_dlcbf.h>

#include "netlink.h"
#include "utils.h"

/* What a struct key has; the first nine are enum nf_dlcbf_field. */
enum key_part {
	KEY_SADDR	= NF_DLCBF_FIELD_SADDR,
	KEY_DADDR	= NF_DLCBF_FIELD_DADDR,
	KEY_SPORT	= NF_DLCBF_FIELD_SPORT,
	KEY_DPORT	= NF_DLCBF_FIELD_DPORT,
	KEY_PROTO	= NF_DLCBF_FIELD_PROTO,
	KEY_IIF		= NF_DLCBF_FIELD_IIF,
	KEY_OIF		= NF_DLCBF_FIELD_OIF,
	KEY_MARK	= NF_DLCBF_FIELD_MARK,
	KEY_VLAN	= NF_DLCBF_FIELD_VLAN,
	KEY_FAMILY	= 1 << 16,
	KEY_ICMP_ID	= 1 << 17,
	KEY_ICMP_TYPE	= 1 << 18,
	KEY_ICMP_CODE	= 1 << 19,
	KEY_SPI		= 1 << 20,
	KEY_GRE		= 1 << 21,	/* as SPI, in other words */
	KEY_BUCKET	= 1 << 22,	/* and the remainder */
	KEY_SPREFIX	= 1 << 23,
	KEY_DPREFIX	= 1 << 24,
};

struct key {
	u32 have;		/* enum key_part */
	u32 family;	/* enum nf_dlcbf_family; 0 without addresses */
	u8 saddr[16];
	u8 daddr[16];
	u8 sprefix;	/* as far as the address is meant */
	u8 dprefix;
	u16 sport;
	u16 dport;
	u8 proto;
	u8 icmp_type;
	u8 icmp_code;
	u16 icmp_id;
	u32 spi;
	u16 vlan;
	u32 iif;
	u32 oif;
	u32 mark;
	u32 bucket;
	u32 remainder;
};

/*
 * Names of devices that were looked up before: each look-up is a few system
 * calls, and a dump may need millions.  All zeros is an empty cache.
 */
struct devices {
	struct {
		u32 index;
		char name[IF_NAMESIZE];
	} slot[16];
};

/* What a key of some table has to have. */
struct key_spec {
	const char *table;		/* for messages */
	u32 family;		/* enum nf_dlcbf_family */
	u32 fields;		/* enum nf_dlcbf_field */
	u8 sprefix4, sprefix6;
	u8 dprefix4, dprefix6;
	bool keys;			/* stored: there are no fingerprints */
	struct devices *devices;	/* may be NULL */
};

/* More than the text of any key. */
#define KEY_TEXT_MAX	512

int key_parse(const struct key_spec *spec, bool filter, struct args *a,
	      struct key *k, struct error *e);
bool key_is_full(const struct key_spec *spec, const struct key *k);
void key_put(struct nl *nl, const struct key *k, bool filter);
bool key_take(const struct nlattr *const *tb, const struct key_spec *spec,
	      struct key *k);
size_t key_format(const struct key_spec *spec, const struct key *k, char *buf,
		  size_t size);
const char *key_address(const struct key *k, bool destination, char *buf,
			size_t size);
const char *proto_name(u8 proto, char *buf);
const char *device_name(struct devices *d, u32 index, char *buf);

int parse_fields(const char *s, struct key_spec *spec, struct error *e);
void format_fields(const struct key_spec *spec, char *buf, size_t size);

extern const char *const family_names[];
extern const char *const field_names[];

#endif
