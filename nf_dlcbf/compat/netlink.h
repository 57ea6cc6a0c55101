/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Since 6.3 an extended acknowledgment has room for a text of its own; since
 * 6.7, and with updates of older kernels, a multicast group says who may join.
 */
#ifndef NF_DLCBF_COMPAT_NETLINK_H
#define NF_DLCBF_COMPAT_NETLINK_H

#include <linux/net.h>
#include <linux/netlink.h>
#include <linux/string.h>

#include <net/genetlink.h>

/* For groups that tell what only administrators may ask for; open to all before. */
#ifdef GENL_MCAST_CAP_NET_ADMIN
#define NF_DLCBF_COMPAT_MCAST_ADMIN	.flags = GENL_MCAST_CAP_NET_ADMIN,
#else
#define NF_DLCBF_COMPAT_MCAST_ADMIN
#endif

/*
 * Say why, and what could be had instead where there is room for both; @message
 * must last, as string constants do.
 */
static inline void nf_dlcbf_compat_extack_message(struct netlink_ext_ack *extack,
						  const char *message, const char *detail)
{
#ifdef NL_SET_ERR_MSG_FMT
	if (*detail && strlen(message) + strlen(detail) + 3 < NETLINK_MAX_FMTMSG_LEN) {
		NL_SET_ERR_MSG_FMT(extack, "%s (%s)", message, detail);
		return;
	}
#endif
	/* NL_SET_ERR_MSG() takes nothing but literals. */
	if (extack)
		extack->_msg = message;
}

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
