/* SPDX-License-Identifier: GPL-2.0 */
/* In which words the 32 bits that stand for ports are told. */
#ifndef NF_DLCBF_WORDS_H
#define NF_DLCBF_WORDS_H

#include <linux/in.h>
#include <linux/in6.h>

#include "key.h"

/**
 * enum nf_dlcbf_words - what the port fields of a tuple hold
 * @NF_DLCBF_WORDS_PORTS: two ports, or nothing
 * @NF_DLCBF_WORDS_ICMP:  identifier, and type and code
 * @NF_DLCBF_WORDS_SPI:   the halves of an SPI or of a GRE key
 */
enum nf_dlcbf_words {
	NF_DLCBF_WORDS_PORTS,
	NF_DLCBF_WORDS_ICMP,
	NF_DLCBF_WORDS_SPI,
};

/* The words of a transport protocol. */
static inline enum nf_dlcbf_words nf_dlcbf_words_of(u8 proto)
{
	switch (proto) {
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		return NF_DLCBF_WORDS_ICMP;
	case IPPROTO_ESP:
	case IPPROTO_AH:
	case IPPROTO_GRE:
		return NF_DLCBF_WORDS_SPI;
	}
	return NF_DLCBF_WORDS_PORTS;
}

/**
 * nf_dlcbf_key_words() - the words for a flow of a table
 * @layout: of the table's keys
 * @proto:  the flow's protocol, if the key has it
 *
 * A key that has one port and not the other cannot hold an SPI, and a key
 * without a protocol does not know of any.
 *
 * Context: any.
 * Return: enum nf_dlcbf_words.
 */
static inline enum nf_dlcbf_words nf_dlcbf_key_words(const struct nf_dlcbf_key_layout *layout,
						     u8 proto)
{
	const u32 both = NF_DLCBF_FIELD_SPORT | NF_DLCBF_FIELD_DPORT;
	enum nf_dlcbf_words words;

	if (!(layout->fields & NF_DLCBF_FIELD_PROTO))
		return NF_DLCBF_WORDS_PORTS;
	words = nf_dlcbf_words_of(proto);
	if (words == NF_DLCBF_WORDS_SPI && (layout->fields & both) != both)
		return NF_DLCBF_WORDS_PORTS;
	return words;
}

#endif /* NF_DLCBF_WORDS_H */
