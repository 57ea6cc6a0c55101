/* SPDX-License-Identifier: GPL-2.0 */
/* <asm/unaligned.h> became <linux/unaligned.h> in 6.12. */
#ifndef NF_DLCBF_COMPAT_UNALIGNED_H
#define NF_DLCBF_COMPAT_UNALIGNED_H

#if __has_include(<linux/unaligned.h>)
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

#endif /* NF_DLCBF_COMPAT_UNALIGNED_H */
