#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Fragments: with ports in the key, without, and at ingress.
#
#   C ---- G ---- S
#     cg gc  gs sg
#
# A datagram of 1008 bytes in fragments of 400: IPv4 420 + 420 + 228 = 1068
# bytes in three packets, IPv6 with its larger headers 448 + 448 + 256 = 1152.

# shellcheck source=tools/testing/selftests/lib.sh
. "$(dirname -- "$0")/lib.sh"
lab

f4()
{
	echo "ip:saddr=10.16.0.1,daddr=198.18.0.1,frag=400,$1/udp:sport=1000,dport=2000/1000"
}

f6()
{
	echo "ip6:saddr=fd00:16::1,daddr=fd00:18::1,frag=400,$1/udp:sport=1000,dport=2000/1000"
}

K4="10.16.0.1:1000 198.18.0.1:2000 proto udp"
K6="[fd00:16::1]:1000 [fd00:18::1]:2000 proto udp"
FIVE=saddr,daddr,sport,dport,proto

# ---- ingress: nothing is put together ----
d table add in type flow family inet key $FIVE max-flows 100 learn on
d hook add in hook ingress device gc
d table add addr type flow family inet key saddr,daddr,proto max-flows 100 learn on
d hook add addr hook ingress device gc
before=$(arrived)
send "$(f4 id=1)" "$(f6 id=1)"
is_flows "ingress: the first fragment has ports" in <<-END
$K4 packets 1 bytes 420
$K6 packets 1 bytes 448
END
is "ingress: the later ones are counted as fragments" "$(counters in packets learned fragment)" "6 2 4"
is_flows "ingress: without ports in the key all belong to the flow" addr <<-END
10.16.0.1 198.18.0.1 proto udp packets 3 bytes 1068
fd00:16::1 fd00:18::1 proto udp packets 3 bytes 1152
END
becomes "and all of them go on" $((before + 6)) arrived
d table delete in
d table delete addr

d table add judge type set family inet key $FIVE max-flows 100
# shellcheck disable=SC2086 # a list of words
d flow add judge $K4
# shellcheck disable=SC2086
d flow add judge $K6
# fragments SETTING VERDICTS WANTED
fragments()
{
	local before

	d table change judge fragments "$1"
	# shellcheck disable=SC2086
	d hook add judge hook ingress device gc $2
	before=$(arrived)
	send "$(f4 id=2)" "$(f6 id=2)"
	becomes "ingress: fragments $1, $2" $((before + $3)) arrived
	d hook delete judge hook ingress device gc
}
fragments miss "hit accept miss drop" 2
fragments miss "hit drop miss accept" 4
fragments accept "hit accept miss drop" 6
fragments accept "hit drop miss drop" 4
fragments drop "hit accept miss accept" 2
fragments drop "hit drop miss accept" 0
is "and none but later fragments were counted so" "$(counters judge packets hit fragment)" "36 12 24"
d table delete judge

# ---- without ports, no datagram is put together ----
d table add addr type flow family inet key saddr,daddr,proto max-flows 100 learn on
d hook add addr hook prerouting
before=$(arrived)
send "$(f4 id=3,only=0+2)" "$(f6 id=3,only=1+2)"
is_flows "prerouting: without ports each fragment counts" addr <<-END
10.16.0.1 198.18.0.1 proto udp packets 2 bytes 648
fd00:16::1 fd00:18::1 proto udp packets 2 bytes 704
END
becomes "and goes on, for nobody waits for the rest" $((before + 4)) arrived

# ---- with ports ----
d table add ports type flow family inet key $FIVE max-flows 100 learn on
d hook add ports hook prerouting
d table flush addr
before=$(arrived)
send "$(f4 id=4)" "$(f6 id=4)"
is_flows "prerouting: a datagram is its fragments" ports <<-END
$K4 packets 3 bytes 1068
$K6 packets 3 bytes 1152
END
is_flows "for the table without ports, too" addr <<-END
10.16.0.1 198.18.0.1 proto udp packets 3 bytes 1068
fd00:16::1 fd00:18::1 proto udp packets 3 bytes 1152
END
becomes "and it goes on in fragments" $((before + 6)) arrived
send "$(f4 id=5,order=reverse)" "$(f6 id=5,order=reverse)"
is_flows "in reverse order" ports <<-END
$K4 packets 6 bytes 2136
$K6 packets 6 bytes 2304
END
send "$(f4 id=6,only=2)" "$(f6 id=6,only=2)" "$(f4 id=7,only=1)" "$(f6 id=7,only=1)" \
	"$(f4 id=6,only=0)" "$(f6 id=6,only=0)" "$(f4 id=7,only=0)" "$(f6 id=7,only=0)" \
	"$(f4 id=6,only=1)" "$(f6 id=6,only=1)" "$(f4 id=7,only=2)" "$(f6 id=7,only=2)"
is_flows "two datagrams at a time, out of order" ports <<-END
$K4 packets 12 bytes 4272
$K6 packets 12 bytes 4608
END
# The kernel drops a repeated fragment.
send "$(f4 id=8,only=0+0+1+2)" "$(f6 id=8,only=0+0+1+2)"
is_flows "a repeated fragment" ports <<-END
$K4 packets 15 bytes 5340
$K6 packets 15 bytes 5760
END
send "$(f4 id=9,only=0+2)" "$(f6 id=9,only=0+2)"
is_flows "what never becomes a datagram never comes by" ports <<-END
$K4 packets 15 bytes 5340
$K6 packets 15 bytes 5760
END
# A whole packet with a fragment header: it is one fragment of 48 bytes more.
send "ip6:saddr=fd00:16::1,daddr=fd00:18::1/frag6:id=10/udp:sport=1000,dport=2000/40"
is_flows "an IPv6 packet of one fragment" ports <<-END
$K4 packets 15 bytes 5340
$K6 packets 16 bytes 5856
END
# More fragments than fit in the skb's own list of pages, and larger than any MTU.
send "ip:saddr=10.16.0.1,daddr=198.18.0.1,frag=1400,id=11/udp:sport=1,dport=2/60000" \
	"ip6:saddr=fd00:16::1,daddr=fd00:18::1,frag=1400,id=11/udp:sport=1,dport=2/60000" \
	"ip:saddr=10.16.0.1,daddr=198.18.0.1,frag=8,id=12/udp:sport=3,dport=4/5000"
# 60008 / 1400 = 43 fragments with 20 or 48 bytes of headers; 5008 / 8 = 626 with 20.
is_flows "datagrams of many fragments" ports <<-END
$K4 packets 15 bytes 5340
$K6 packets 16 bytes 5856
10.16.0.1:1 198.18.0.1:2 proto udp packets 43 bytes $((60008 + 43 * 20))
[fd00:16::1]:1 [fd00:18::1]:2 proto udp packets 43 bytes $((60008 + 43 * 48))
10.16.0.1:3 198.18.0.1:4 proto udp packets 626 bytes $((5008 + 626 * 20))
END
is "no fragment was seen alone" "$(counters ports fragment)" 0

# ---- before the kernel puts datagrams together ----
d table add early type flow family inet key $FIVE max-flows 100 learn on
d hook add early hook prerouting priority -450
send "$(f4 id=20)" "$(f6 id=20)"
is_flows "before defragmentation: the first fragment has ports" early <<-END
$K4 packets 1 bytes 420
$K6 packets 1 bytes 448
END
is "the later ones are counted as fragments" "$(counters early packets learned fragment)" "6 2 4"
is "and after it the datagram is whole" "$(flows ports sport 1000 | sort)" "\
$K4 packets 18 bytes 6408
$K6 packets 19 bytes 7008"

# ---- at the other hooks ----
d table delete early
d table delete addr
for hook in input forward postrouting; do
	d table add $hook type flow family inet key $FIVE max-flows 100 learn on
	d hook add $hook hook $hook
done
send "$(f4 id=30)" "$(f6 id=30)" \
	"ip:saddr=10.16.0.1,daddr=10.1.0.1,frag=400,id=31/icmp:type=0,id=9/1000" \
	"ip6:saddr=fd00:16::1,daddr=fd00:1::1,frag=400,id=31/icmp6:type=129,id=9/1000"
for hook in forward postrouting; do
	is_flows "$hook: a datagram is its fragments" $hook <<-END
	$K4 packets 3 bytes 1068
	$K6 packets 3 bytes 1152
	END
done
is_flows "input: a datagram is its fragments" input <<-END
10.16.0.1 10.1.0.1 proto icmp type 0 code 0 id 9 packets 3 bytes 1068
fd00:16::1 fd00:1::1 proto icmpv6 type 129 code 0 id 9 packets 3 bytes 1152
END
for hook in ports forward postrouting input; do
	d table delete $hook
done
d table add input type flow family inet key saddr,daddr,proto max-flows 100 learn on
d hook add input hook input
send "ip:saddr=10.16.0.1,daddr=10.1.0.1,frag=400,id=41/icmp:type=0,id=9/1000" \
	"ip6:saddr=fd00:16::1,daddr=fd00:1::1,frag=400,id=41/icmp6:type=129,id=9/1000"
is_flows "input, without ports in the key" input <<-END
10.16.0.1 10.1.0.1 proto icmp packets 3 bytes 1068
fd00:16::1 fd00:1::1 proto icmpv6 packets 3 bytes 1152
END
exit 0
