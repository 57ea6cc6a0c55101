#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What a hook does with a packet: accept, drop, mark and continue, on hit and on
# miss, in the order of the tables at a hook and priority.
#
#   C ---- G ---- S        C sends to S through G; S counts what it gets, and
#     cg gc  gs sg         nft in G counts marks after the tables had their say

# shellcheck source=tools/testing/selftests/lib.sh
. "$(dirname -- "$0")/lib.sh"
lab

HIT4=ip:saddr=10.16.0.1,daddr=198.18.0.1/udp/72
MISS4=ip:saddr=10.16.0.2,daddr=198.18.0.1/udp/72
HIT6=ip6:saddr=fd00:16::1,daddr=fd00:18::1/udp/72
MISS6=ip6:saddr=fd00:16::2,daddr=fd00:18::1/udp/72

# Four packets of a flow that is in the table, two of one that is not, for each
# family, and how many of them all arrive.
sent_and_arrived()
{
	local before

	before=$(arrived)
	send "4*$HIT4" "2*$MISS4" "4*$HIT6" "2*$MISS6"
	eventually "$((before + $1))" arrived || :
	echo $((got - before))
}

d table add t type set family inet key saddr max-flows 100 keys on
d flow add t 10.16.0.1
d flow add t fd00:16::1

for hook in prerouting forward postrouting "ingress device gc"; do
	where=${hook%% *}
	# shellcheck disable=SC2086 # a list of words
	for case in "hit drop:4" "miss drop:8" "hit drop miss drop:0" \
			"hit accept miss drop:8" "hit drop miss accept:4" \
			"hit continue miss continue:12"; do
		d hook add t hook $hook ${case%:*}
		is "$where ${case%:*}" "$(sent_and_arrived "${case#*:}")" "${case#*:}"
		d hook delete t hook $hook
	done
done
is "without a hook all arrive" "$(sent_and_arrived 12)" 12
# 4 hooks and 6 cases of 12 packets
is "every packet was a hit or a miss" "$(counters t packets hit miss dropped)" \
	"288 192 96 $((4 * (8 + 4 + 12 + 4 + 8)))"

# ---- marks ----
inside "$G" nft -f - <<-END
table inet marks {
	counter m17 { }
	counter m5 { }
	counter m1234 { }
	chain c {
		type filter hook postrouting priority 300
		meta mark 0x17 counter name m17
		meta mark 0x5 counter name m5
		meta mark 0x1234 counter name m1234
	}
}
END
marks()
{
	inside "$G" nft -j reset counters | grep -oE '"name": "m[0-9]+"[^}]*"packets": [0-9]+' |
		sed -E 's/"name": "(m[0-9]+)".*"packets": ([0-9]+)/\1=\2/' | sort | paste -s -d ' '
}
d hook add t hook prerouting hit mark 0x17 miss mark 5
is "marked packets are not dropped" "$(sent_and_arrived 12)" 12
is "mark on hit and on miss" "$(marks)" "m1234=0 m17=8 m5=4"
d hook delete t hook prerouting
# 0x1204 in steps: only the bits of the mask change.
d hook add t hook prerouting priority -20 hit mark 0x1000/0xf000 miss mark 0x1000/0xf000
d hook add t hook prerouting priority -19 hit mark 0x234/0xfff miss mark 0x0/0xfff
is "still all arrive" "$(sent_and_arrived 12)" 12
is "a mask leaves the other bits" "$(marks)" "m1234=8 m17=0 m5=0"
d hook delete t hook prerouting priority -20
d hook delete t hook prerouting priority -19
d hook add t hook ingress device gc hit mark 0x17
is "mark at ingress" "$(sent_and_arrived 12; marks)" "12
m1234=0 m17=8 m5=0"
d hook delete t hook ingress device gc
d hook add t hook forward miss mark 5/255
is "mark at forward" "$(sent_and_arrived 12; marks)" "12
m1234=0 m17=0 m5=4"
d hook delete t hook forward

# ---- the order of tables ----
d table add first type set family inet key saddr max-flows 100 keys on
d table add second type set family inet key saddr max-flows 100 keys on
order()
{
	local first second

	first=$(counters first packets)
	second=$(counters second packets)
	sent_and_arrived "$1"
	echo "$(($(counters first packets) - first)) $(($(counters second packets) - second))"
}
for t in first second; do
	d flow add $t 10.16.0.1
	d flow add $t fd00:16::1
done
d hook add first hook forward hit accept
d hook add second hook forward hit drop miss drop
is "accept: no later table at the same hook and priority judges" "$(order 8)" "8
12 4"
d hook delete first hook forward
d hook add first hook forward hit accept
is "the order is that in which they were hooked" "$(order 0)" "0
0 12"
d hook delete first hook forward
d hook add first hook forward priority -1 hit accept
is "accept says nothing to another priority" "$(order 0)" "0
12 12"
d hook delete first hook forward priority -1
d hook delete second hook forward
d hook add second hook forward hit continue miss continue
d hook add first hook forward hit drop
is "continue: the next table judges" "$(order 4)" "4
12 12"
d hook delete second hook forward
d hook delete first hook forward
d hook add first hook forward priority 10 miss drop
d hook add second hook forward priority -10 hit drop
is "a lower priority is earlier" "$(order 0)" "0
4 12"
d hook delete first hook forward priority 10
d hook delete second hook forward priority -10

# A mark that one table sets is a field of the next one's key.
d table add marked type flow family inet key mark max-flows 100 learn on
d hook add t hook prerouting hit mark 0x17
d hook add marked hook prerouting
sent_and_arrived 12 >/dev/null
is_flows "the next table sees the mark" marked <<-END
family ipv4 mark 0x0 packets 2 bytes 200
family ipv6 mark 0x0 packets 2 bytes 240
family ipv4 mark 0x17 packets 4 bytes 400
family ipv6 mark 0x17 packets 4 bytes 480
END
exit 0
