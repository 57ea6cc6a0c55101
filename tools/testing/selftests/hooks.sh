#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What each hook sees, of both families, to the last packet and byte.
#
#   C ---- G ---- S        forwarded:  C to S      prerouting, forward, postrouting
#     cg gc  gs sg         for G:      C to G      prerouting, input
#                          by G:       G to S      output, postrouting
#                          ingress of gc sees all that comes from C
#
# Every packet has 100 bytes from its IP header on.

# shellcheck source=tools/testing/selftests/lib.sh
. "$(dirname -- "$0")/lib.sh"
lab

for hook in prerouting input forward output postrouting; do
	d table add $hook type flow family inet key saddr,daddr,proto max-flows 100 learn on
	check "hook $hook" d hook add $hook hook $hook
done
d table add ingress type flow family inet key saddr,daddr,proto max-flows 100 learn on
check "hook ingress" d hook add ingress hook ingress device gc

for round in 1 2; do
	send "5*ip:saddr=10.16.0.1,daddr=198.18.0.1/udp/72" \
		"4*ip6:saddr=fd00:16::1,daddr=fd00:18::1/udp/52" \
		"3*ip:saddr=10.16.0.1,daddr=10.1.0.1/icmp:type=0,id=5/72" \
		"2*ip6:saddr=fd00:16::1,daddr=fd00:1::1/icmp6:type=129,id=5/52"
	inside "$G" bash -c 'printf %72s >/dev/udp/198.18.0.1/9; printf %52s >/dev/udp/fd00:18::1/9'

	forwarded="10.16.0.1 198.18.0.1 proto udp packets $((5 * round)) bytes $((500 * round))
fd00:16::1 fd00:18::1 proto udp packets $((4 * round)) bytes $((400 * round))"
	for_g="10.16.0.1 10.1.0.1 proto icmp packets $((3 * round)) bytes $((300 * round))
fd00:16::1 fd00:1::1 proto icmpv6 packets $((2 * round)) bytes $((200 * round))"
	by_g="10.2.0.1 198.18.0.1 proto udp packets $round bytes $((100 * round))
fd00:2::1 fd00:18::1 proto udp packets $round bytes $((100 * round))"
	is_flows "prerouting, round $round" prerouting <<<"$forwarded
$for_g"
	is_flows "input, round $round" input <<<"$for_g"
	is_flows "forward, round $round" forward <<<"$forwarded"
	is_flows "output, round $round" output <<<"$by_g"
	is_flows "postrouting, round $round" postrouting <<<"$forwarded
$by_g"
	is_flows "ingress, round $round" ingress <<<"$forwarded
$for_g"
done

# 14 packets of 4 flows come from C in a round, 2 of 2 flows are made by G.
is "prerouting: packets, first ones, others" "$(counters prerouting packets learned hit)" "28 4 24"
is "input: packets, first ones, others" "$(counters input packets learned hit)" "10 2 8"
is "forward: packets, first ones, others" "$(counters forward packets learned hit)" "18 2 16"
is "output: packets, first ones, others" "$(counters output packets learned hit)" "4 2 2"
is "postrouting: packets, first ones, others" "$(counters postrouting packets learned hit)" "22 4 18"
is "ingress: packets, first ones, others" "$(counters ingress packets learned hit)" "28 4 24"

# One table at several hooks counts a packet at each.
d table flush forward
d hook add forward hook prerouting
d hook add forward hook postrouting priority 20
send "5*ip:saddr=10.16.0.1,daddr=198.18.0.1/udp/72"
is_flows "a table at three hooks" forward <<-END
10.16.0.1 198.18.0.1 proto udp packets 15 bytes 1500
END

# A hook that is taken away sees nothing more.
d hook delete forward hook prerouting
d hook delete forward hook postrouting priority 20
d hook delete forward hook forward
send "5*ip:saddr=10.16.0.1,daddr=198.18.0.1/udp/72"
becomes "the others go on" "10.16.0.1 198.18.0.1 proto udp packets 20 bytes 2000" flows ingress 10.16.0.1 198.18.0.1 proto udp
is_flows "without a hook nothing is counted" forward <<-END
10.16.0.1 198.18.0.1 proto udp packets 15 bytes 1500
END
exit 0
