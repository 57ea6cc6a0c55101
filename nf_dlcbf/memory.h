/* SPDX-License-Identifier: GPL-2.0 */
/* Memory of tables, counted and capped for each network namespace. */
#ifndef NF_DLCBF_MEMORY_H
#define NF_DLCBF_MEMORY_H

#include <linux/types.h>

struct nf_dlcbf_net;

int nf_dlcbf_memory_charge(struct nf_dlcbf_net *dn, u64 bytes);
void nf_dlcbf_memory_uncharge(struct nf_dlcbf_net *dn, u64 bytes);
u64 nf_dlcbf_memory_limit(void);
void *nf_dlcbf_memory_alloc(u64 bytes);
void nf_dlcbf_memory_free(const void *memory);

#endif /* NF_DLCBF_MEMORY_H */
