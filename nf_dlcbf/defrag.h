/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's defragmentation, asked for where a key has ports. */
#ifndef NF_DLCBF_DEFRAG_H
#define NF_DLCBF_DEFRAG_H

#include <linux/types.h>

struct net;

int nf_dlcbf_defrag_enable(struct net *net, u32 family);
void nf_dlcbf_defrag_disable(struct net *net, u32 family);

#endif /* NF_DLCBF_DEFRAG_H */
