#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# An allow list does not cut off the neighbours that it allows: ARP and IPv6
# neighbour discovery pass, unless the table was made with judge-neighbours.

# shellcheck source=tools/testing/selftests/lib.sh
. "$(dirname -- "$0")/lib.sh"
lab

# C pings from addresses that are allowed; that by which it is a neighbour of G
# is not.
ip -n "$C" addr add 10.16.0.9/32 dev cg
ip -n "$C" addr add fd00:16::9/128 dev cg nodad

forget()
{
	ip -n "$C" neigh flush all nud permanent
	ip -n "$G" neigh flush all nud permanent
	ip -n "$C" neigh flush all
	ip -n "$G" neigh flush all
}

# pings FAMILY
pings()
{
	forget >/dev/null 2>&1
	if [ "$1" = 4 ]; then
		inside "$C" ping -q -c 1 -W 3 -I 10.16.0.9 10.1.0.1
	else
		inside "$C" ping -q -c 1 -W 3 -I fd00:16::9 fd00:1::1
	fi >/dev/null 2>&1 && echo yes || echo no
}

is "without a table neighbours are found" "$(pings 4) $(pings 6)" "yes yes"

# try HOOK WORDS...: a table with these settings, at that hook
try()
{
	local hook=$1

	shift
	d table add t type set family inet key saddr max-flows 100 keys on "$@"
	d flow add t 10.16.0.9
	d flow add t fd00:16::9
	d hook add t hook "$hook" miss drop
}

for hook in prerouting "ingress device gc"; do
	try "$hook"
	is "${hook%% *}: an allow list leaves neighbours alone" "$(pings 4) $(pings 6)" "yes yes"
	is "${hook%% *}: what a miss would have dropped is counted" \
		"$(($(counters t neighbour) > 0))" 1
	dropped=$(counters t dropped)
	send "ip6:saddr=fd00:1::2,daddr=fd00:1::1,hops=254/na:target=fd00:1::2"
	becomes "${hook%% *}: from beyond a router it is no neighbour discovery" \
		$((dropped + 1)) counters t dropped
	is "${hook%% *}: a stranger stays out" \
		"$(inside "$C" ping -q -c 1 -W 1 -I 10.1.0.2 10.1.0.1 >/dev/null 2>&1 && echo in)" ""
	is "${hook%% *}: the books balance" "$(account t | awk '{ print $1 - $2 }')" 0
	d table delete t
done

try prerouting judge-neighbours on
is "judge-neighbours at prerouting: only ARP passes" "$(pings 4) $(pings 6)" "yes no"
d table delete t
try "ingress device gc" judge-neighbours on
is "judge-neighbours at ingress: neither does" "$(pings 4) $(pings 6)" "no no"
is "and nothing was spared" "$(counters t neighbour)" 0
d table delete t
is "without the table neighbours are found again" "$(pings 4) $(pings 6)" "yes yes"
exit 0
