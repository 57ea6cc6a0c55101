/* SPDX-License-Identifier: GPL-2.0 */
#ifndef NF_DLCBF_MAIN_H
#define NF_DLCBF_MAIN_H

#include <linux/workqueue.h>

/* Sweeps, and frees after a grace period; drained before the module goes. */
extern struct workqueue_struct *nf_dlcbf_workqueue;

#endif /* NF_DLCBF_MAIN_H */
