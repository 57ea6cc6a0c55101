/* SPDX-License-Identifier: GPL-2.0 */
/* Since 6.3 an extended acknowledgment has room for a text of its own. */
#ifndef NF_DLCBF_COMPAT_NETLINK_H
#define NF_DLCBF_COMPAT_NETLINK_H

#include <linux/net.h>
#include <linux/netlink.h>

/*
 * Say which flow of a message is refused, and why.  Without room for a text the
 * position is told only by the offset of the bad attribute.  60 characters of
 * @message always fit; @message must last, as string constants do.
 */
static inline void nf_dlcbf_compat_extack_flow(struct netlink_ext_ack *extack, u32 position,
					       const char *message)
{
#ifdef NL_SET_ERR_MSG_FMT
	NL_SET_ERR_MSG_FMT(extack, "flow %u: %.60s", position, message);
#else
	if (extack)
		extack->_msg = message;
#endif
}

#endif /* NF_DLCBF_COMPAT_NETLINK_H */
