/* SPDX-License-Identifier: GPL-2.0 */
/* /proc/net/nf_dlcbf */
#ifndef NF_DLCBF_PROC_H
#define NF_DLCBF_PROC_H

struct nf_dlcbf_net;
struct nf_dlcbf_table;

int nf_dlcbf_proc_net_init(struct nf_dlcbf_net *dn);
void nf_dlcbf_proc_net_exit(struct nf_dlcbf_net *dn);
/* Context: process; may sleep until readers of the files are done. */
int nf_dlcbf_proc_table_add(struct nf_dlcbf_table *table);
void nf_dlcbf_proc_table_remove(struct nf_dlcbf_table *table);

#endif /* NF_DLCBF_PROC_H */
