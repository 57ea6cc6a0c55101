/* SPDX-License-Identifier: GPL-2.0 */
/* What a flow is known by: from a packet, or from an administrator, to a key. */
#ifndef NF_DLCBF_KEY_H
#define NF_DLCBF_KEY_H

#include <linux/in6.h>
#include <linux/siphash.h>
#include <linux/types.h>

#include "config.h"

/*
 * The widest key: two IPv6 addresses, three u32 (iif, oif, mark), three u16
 * (ports, VLAN), protocol and family: 52 bytes, in whole 64-bit words.
 */
#define NF_DLCBF_KEY_WORDS	7

/**
 * struct nf_dlcbf_key - a flow's key, packed by a struct nf_dlcbf_key_layout
 * @words: as many as the layout has; unused bytes are zero
 */
struct nf_dlcbf_key {
	u64 words[NF_DLCBF_KEY_WORDS];
};

/**
 * struct nf_dlcbf_key_layout - where each field of a key lies
 * @fields:     enum nf_dlcbf_field
 * @family:     enum nf_dlcbf_family
 * @words:      length in 64-bit words
 * @bidir:      both directions give one key
 * @depth:      enum nf_dlcbf_depth: how much of a packet the key needs
 * @wide:       addresses take 16 bytes; IPv4 ones are mapped (::ffff:a.b.c.d)
 * @saddr:      byte offsets of the fields, valid for those in @fields
 * @daddr:      likewise
 * @iif:        likewise
 * @oif:        likewise
 * @mark:       likewise
 * @sport:      likewise
 * @dport:      likewise
 * @vlan:       likewise
 * @proto:      likewise
 * @family_at:  likewise, for inet: 4 or 6, so that a mapped address is not
 *		taken for the IPv4 address that it looks like
 * @saddr_mask: significant bits, IPv4 in s6_addr32[3]; [0] for IPv4 packets,
 *		[1] for IPv6 packets
 * @daddr_mask: likewise
 */
struct nf_dlcbf_key_layout {
	u32 fields;
	u8 family;
	u8 words;
	u8 depth;
	bool bidir;
	bool wide;
	u8 saddr;
	u8 daddr;
	u8 iif;
	u8 oif;
	u8 mark;
	u8 sport;
	u8 dport;
	u8 vlan;
	u8 proto;
	u8 family_at;
	struct in6_addr saddr_mask[2];
	struct in6_addr daddr_mask[2];
};

/**
 * struct nf_dlcbf_tuple - all that a key can be made of, unpacked
 * @family: 4 or 6
 * @proto:  transport protocol
 * @vlan:   VLAN identifier, 0 for none
 * @sport:  source port, or what stands for it
 * @dport:  destination port, or what stands for it
 * @iif:    index of the device that the packet came by, 0 for none
 * @oif:    index of the device that it leaves by, 0 for none
 * @mark:   its mark
 * @saddr:  source address; IPv4 in s6_addr32[3], the rest undefined
 * @daddr:  destination address, likewise
 *
 * For ICMP queries @sport is the identifier, and for all ICMP @dport is type
 * and code.  For ESP, AH and GRE the two hold the SPI or key, upper half first.
 */
struct nf_dlcbf_tuple {
	u8 family;
	u8 proto;
	u16 vlan;
	__be16 sport;
	__be16 dport;
	u32 iif;
	u32 oif;
	u32 mark;
	struct in6_addr saddr;
	struct in6_addr daddr;
};

int nf_dlcbf_key_layout_init(struct nf_dlcbf_key_layout *layout,
			     const struct nf_dlcbf_config *config,
			     struct nf_dlcbf_refusal *refusal);
void nf_dlcbf_key_pack(const struct nf_dlcbf_key_layout *layout,
		       const struct nf_dlcbf_tuple *tuple, struct nf_dlcbf_key *key);
void nf_dlcbf_key_unpack(const struct nf_dlcbf_key_layout *layout,
			 const struct nf_dlcbf_key *key, struct nf_dlcbf_tuple *tuple);

/**
 * nf_dlcbf_key_hash() - the one hash of a key
 * @layout: its layout
 * @secret: the table's hash key
 * @key:    the key
 *
 * Context: any.
 * Return: 64 bits that nobody predicts who does not know the secret.
 */
static inline u64 nf_dlcbf_key_hash(const struct nf_dlcbf_key_layout *layout,
				    const siphash_key_t *secret, const struct nf_dlcbf_key *key)
{
	const __le64 *word = (const __le64 *)key->words;

	/* All the same hash of the key's bytes; short ones in one call. */
	switch (layout->words) {
	case 1:
		return siphash_1u64(le64_to_cpu(word[0]), secret);
	case 2:
		return siphash_2u64(le64_to_cpu(word[0]), le64_to_cpu(word[1]), secret);
	case 3:
		return siphash_3u64(le64_to_cpu(word[0]), le64_to_cpu(word[1]),
				    le64_to_cpu(word[2]), secret);
	case 4:
		return siphash_4u64(le64_to_cpu(word[0]), le64_to_cpu(word[1]),
				    le64_to_cpu(word[2]), le64_to_cpu(word[3]), secret);
	default:
		return siphash(word, layout->words * sizeof(*word), secret);
	}
}

#endif /* NF_DLCBF_KEY_H */
