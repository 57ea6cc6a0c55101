#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Keys of every protocol that has ports, or something in their place, behind
# IPv6 extension headers too; and packets that cannot be read.
#
#   C ---- G ---- S
#     cg gc  gs sg

# shellcheck source=tools/testing/selftests/lib.sh
. "$(dirname -- "$0")/lib.sh"
lab

IP4=ip:saddr=10.16.0.1,daddr=198.18.0.1
IP6=ip6:saddr=fd00:16::1,daddr=fd00:18::1
PORTS=sport=1000,dport=2000
FIVE=saddr,daddr,sport,dport,proto

d table add t type flow family inet key $FIVE max-flows 1000 learn on
d hook add t hook prerouting
d table add in type flow family inet key $FIVE max-flows 1000 learn on
d hook add in hook ingress device gc

# IPv4: 20 bytes, then each protocol's header, then 10.
send "$IP4/tcp:$PORTS/10" "$IP4/udp:$PORTS/10" "$IP4/udplite:$PORTS/10" "$IP4/sctp:$PORTS/10" \
	"$IP4/dccp:$PORTS/10" "$IP4/gre/10" "2*$IP4/gre:key=0x12345678/10" \
	"3*$IP4/gre:key=0x12345678,csum=1/10" "$IP4/gre:csum=1/10" "$IP4/esp:spi=0xdeadbeef/10" \
	"$IP4/esp:spi=0xdeadbef0/10" "$IP4/ah:spi=0x100/tcp:$PORTS/10" \
	"$IP4/icmp:type=8,id=77/10" "2*$IP4/icmp:type=8,id=78/10" "$IP4/icmp:type=0,id=77/10" \
	"$IP4/icmp:type=3,code=1,id=9/10" "3*$IP4/icmp:type=3,code=3,id=8/10" \
	"$IP4/icmp:type=13,id=5/10" "$IP4/icmp:type=17,id=6/10" "$IP4,proto=99/10" \
	"$IP4/ip:saddr=1.1.1.1,daddr=2.2.2.2/udp:sport=5,dport=6/10"
wanted4="10.16.0.1:1000 198.18.0.1:2000 proto tcp packets 1 bytes 50
10.16.0.1:1000 198.18.0.1:2000 proto udp packets 1 bytes 38
10.16.0.1:1000 198.18.0.1:2000 proto udplite packets 1 bytes 38
10.16.0.1:1000 198.18.0.1:2000 proto sctp packets 1 bytes 42
10.16.0.1:1000 198.18.0.1:2000 proto dccp packets 1 bytes 50
10.16.0.1 198.18.0.1 proto gre gre-key 0x00000000 packets 2 bytes $((34 + 38))
10.16.0.1 198.18.0.1 proto gre gre-key 0x12345678 packets 5 bytes $((2 * 38 + 3 * 42))
10.16.0.1 198.18.0.1 proto esp spi 0xdeadbeef packets 1 bytes 38
10.16.0.1 198.18.0.1 proto esp spi 0xdeadbef0 packets 1 bytes 38
10.16.0.1 198.18.0.1 proto ah spi 0x00000100 packets 1 bytes $((20 + 24 + 30))
10.16.0.1 198.18.0.1 proto icmp type 8 code 0 id 77 packets 1 bytes 38
10.16.0.1 198.18.0.1 proto icmp type 8 code 0 id 78 packets 2 bytes 76
10.16.0.1 198.18.0.1 proto icmp type 0 code 0 id 77 packets 1 bytes 38
10.16.0.1 198.18.0.1 proto icmp type 3 code 1 id 0 packets 1 bytes 38
10.16.0.1 198.18.0.1 proto icmp type 3 code 3 id 0 packets 3 bytes 114
10.16.0.1 198.18.0.1 proto icmp type 13 code 0 id 5 packets 1 bytes 38
10.16.0.1 198.18.0.1 proto icmp type 17 code 0 id 6 packets 1 bytes 38
10.16.0.1 198.18.0.1 proto 99 packets 1 bytes 30
10.16.0.1 198.18.0.1 proto ipip packets 1 bytes 58"
is_flows "IPv4" t <<<"$wanted4"
is_flows "IPv4 at ingress" in <<<"$wanted4"
check "a GRE flow is found by its key" d flow test t 10.16.0.1 198.18.0.1 proto gre gre-key 0x12345678
check "an ESP flow by its SPI" d flow test t 10.16.0.1 198.18.0.1 proto esp spi 0xdeadbeef
check "an ICMP flow by type, code and id" \
	d flow test t 10.16.0.1 198.18.0.1 proto icmp type 8 code 0 id 78
is "and not by another SPI" "$(has t 10.16.0.1 198.18.0.1 proto esp spi 1)" no

d table flush t
d table flush in
# IPv6: 40 bytes, 8 for each small extension header, and so on.
send "$IP6/tcp:$PORTS/10" "$IP6/udp:$PORTS/10" "$IP6/udplite:$PORTS/10" "$IP6/sctp:$PORTS/10" \
	"$IP6/dccp:$PORTS/10" "$IP6/gre:key=7/10" "$IP6/esp:spi=9/10" "$IP6/ah:spi=9/udp:$PORTS/10" \
	"$IP6/icmp6:type=128,id=77/10" "2*$IP6/icmp6:type=128,id=78/10" \
	"$IP6/icmp6:type=1,code=4,id=9/10" \
	"$IP6/hop/tcp:$PORTS/10" "$IP6/dst/tcp:$PORTS/10" "$IP6/hop/route/dst/tcp:$PORTS/10" \
	"$IP6/dst:n=9/udp:$PORTS/10" "$IP6/hop/dst/route/dst/icmp6:type=128,id=77/10" \
	"$IP6/hop/ah:spi=9/udp:$PORTS/10" "$IP6/10" "$IP6/dst/10" "$IP6,next=99/10"
wanted6="[fd00:16::1]:1000 [fd00:18::1]:2000 proto tcp packets 4 bytes $((70 + 78 + 78 + 94))
[fd00:16::1]:1000 [fd00:18::1]:2000 proto udp packets 2 bytes $((58 + 138))
[fd00:16::1]:1000 [fd00:18::1]:2000 proto udplite packets 1 bytes 58
[fd00:16::1]:1000 [fd00:18::1]:2000 proto sctp packets 1 bytes 62
[fd00:16::1]:1000 [fd00:18::1]:2000 proto dccp packets 1 bytes 70
fd00:16::1 fd00:18::1 proto gre gre-key 0x00000007 packets 1 bytes 58
fd00:16::1 fd00:18::1 proto esp spi 0x00000009 packets 1 bytes 58
fd00:16::1 fd00:18::1 proto ah spi 0x00000009 packets 2 bytes $((40 + 24 + 18 + 40 + 8 + 24 + 18))
fd00:16::1 fd00:18::1 proto icmpv6 type 128 code 0 id 77 packets 2 bytes $((58 + 90))
fd00:16::1 fd00:18::1 proto icmpv6 type 128 code 0 id 78 packets 2 bytes 116
fd00:16::1 fd00:18::1 proto icmpv6 type 1 code 4 id 0 packets 1 bytes 58
fd00:16::1 fd00:18::1 proto 59 packets 2 bytes $((50 + 58))
fd00:16::1 fd00:18::1 proto 99 packets 1 bytes 50"
is_flows "IPv6" t <<<"$wanted6"
is_flows "IPv6 at ingress" in <<<"$wanted6"

# ---- what cannot be read is counted under its reason and learned by none ----
d table delete t
d table flush in
before=$(counters in truncated malformed not_ip)
send "$IP4,cut=19/udp/10" "$IP4,cut=23/udp/10" "$IP6,cut=39/udp/10" "$IP6,cut=43/udp/10" \
	"$IP6,cut=47/dst:n=9/udp/10" "$IP4,cut=60,len=100/udp/72" \
	"$IP4,ihl=4/udp/10" "$IP4,version=5/udp/10" "$IP4,len=19/udp/10" "$IP4,len=22/udp/10" \
	"$IP6,version=7/udp/10" "$IP6,plen=2/udp/10" "$IP6,plen=4/dst:n=9/udp/10" \
	"$IP6$(printf '/dst%.0s' {1..17})/udp/10" \
	type=0x88cc/20 type=0x0806/28 type=0x4444/46
becomes "ingress: nothing of it is learned" 0 stat in flows
read -r t m n <<<"$before"
read -r t2 m2 n2 <<<"$(counters in truncated malformed not_ip)"
# A packet whose version is not that of its Ethernet type contradicts itself.
is "ingress: cut, contradictory and other" "$((t2 - t)) $((m2 - m)) $((n2 - n))" "6 8 3"
is "every packet is counted once" "$(account in)" "$(counters in packets) $(counters in packets)"

# With a table that drops what misses, the unreadable is dropped too; what is
# not IP goes on.
d table delete in
d table add allow type set family inet key saddr max-flows 10
d hook add allow hook ingress device gc miss drop
send "$IP4,ihl=4/udp/10" "$IP6,cut=39/udp/10" type=0x88cc/20
becomes "ingress, miss drop: dropped, but for what is not IP" "3 2" counters allow packets dropped
exit 0
