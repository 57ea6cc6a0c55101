#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Every field of a key alone, prefixes, and the families of tables.
#
#   C ---- G ---- S        VLAN 5 has a device in G, gc.5; VLAN 6 has none
#     cg gc  gs sg
#
# Every packet has 100 bytes from its IP header on.

# shellcheck source=tools/testing/selftests/lib.sh
. "$(dirname -- "$0")/lib.sh"
lab

# p4 SADDR DADDR [SPORT DPORT]
p4()
{
	echo "ip:saddr=$1,daddr=$2/udp:sport=${3-1000},dport=${4-2000}/72"
}

p6()
{
	echo "ip6:saddr=$1,daddr=$2/udp:sport=${3-1000},dport=${4-2000}/52"
}

# table NAME FAMILY KEY [SETTING...]: made and hooked to prerouting
table()
{
	local name=$1 family=$2 key=$3

	shift 3
	check "a table for $family with key $key $*" \
		d table add "$name" type flow family "$family" key "$key" max-flows 1000 learn on "$@"
	d hook add "$name" hook prerouting
}

table saddr inet saddr
table daddr inet daddr
table sport inet sport
table dport inet dport
table proto inet proto
table iif inet iif
table near ipv4 saddr/24
table far ipv6 daddr/64
table both inet saddr/16/32,daddr/15/40
table four ipv4 saddr,daddr,sport,dport,proto
table six ipv6 saddr,daddr,sport,dport,proto
table set inet saddr,proto keys off

send "$(p4 10.16.0.1 198.18.0.1)" "2*$(p4 10.16.0.2 198.18.0.1)" \
	"3*$(p4 10.17.3.1 198.19.0.1 1001 2001)" \
	"4*ip:saddr=10.16.0.1,daddr=198.18.0.1/tcp:sport=1000,dport=2000/60" \
	"5*$(p6 fd00:16::1 fd00:18::1)" "6*$(p6 fd00:16:0:1::1 fd00:18::2 1001)" \
	"7*$(p6 fd00:16::1 fd00:18:0:1::1)"

is_flows saddr saddr <<-END
10.16.0.1 packets 5 bytes 500
10.16.0.2 packets 2 bytes 200
10.17.3.1 packets 3 bytes 300
fd00:16::1 packets 12 bytes 1200
fd00:16:0:1::1 packets 6 bytes 600
END
is_flows daddr daddr <<-END
198.18.0.1 packets 7 bytes 700
198.19.0.1 packets 3 bytes 300
fd00:18::1 packets 5 bytes 500
fd00:18::2 packets 6 bytes 600
fd00:18:0:1::1 packets 7 bytes 700
END
is_flows sport sport <<-END
family ipv4 sport 1000 packets 7 bytes 700
family ipv4 sport 1001 packets 3 bytes 300
family ipv6 sport 1000 packets 12 bytes 1200
family ipv6 sport 1001 packets 6 bytes 600
END
is_flows dport dport <<-END
family ipv4 dport 2000 packets 7 bytes 700
family ipv4 dport 2001 packets 3 bytes 300
family ipv6 dport 2000 packets 18 bytes 1800
END
is_flows proto proto <<-END
family ipv4 proto udp packets 6 bytes 600
family ipv4 proto tcp packets 4 bytes 400
family ipv6 proto udp packets 18 bytes 1800
END
is_flows iif iif <<-END
family ipv4 iif gc packets 10 bytes 1000
family ipv6 iif gc packets 18 bytes 1800
END
is_flows "a /24 of IPv4" near <<-END
10.16.0.0/24 packets 7 bytes 700
10.17.3.0/24 packets 3 bytes 300
END
is_flows "a /64 of IPv6" far <<-END
fd00:18::/64 packets 11 bytes 1100
fd00:18:0:1::/64 packets 7 bytes 700
END
is_flows "prefixes of both" both <<-END
10.16.0.0/16 198.18.0.0/15 packets 7 bytes 700
10.17.0.0/16 198.18.0.0/15 packets 3 bytes 300
fd00:16::/32 fd00:18::/40 packets 18 bytes 1800
END
is_flows "a table for IPv4 keeps to it" four <<-END
10.16.0.1:1000 198.18.0.1:2000 proto udp packets 1 bytes 100
10.16.0.2:1000 198.18.0.1:2000 proto udp packets 2 bytes 200
10.17.3.1:1001 198.19.0.1:2001 proto udp packets 3 bytes 300
10.16.0.1:1000 198.18.0.1:2000 proto tcp packets 4 bytes 400
END
is "and says how much was of the other" "$(counters four packets other_family)" "28 18"
is_flows "a table for IPv6 keeps to it" six <<-END
[fd00:16::1]:1000 [fd00:18::1]:2000 proto udp packets 5 bytes 500
[fd00:16:0:1::1]:1001 [fd00:18::2]:2000 proto udp packets 6 bytes 600
[fd00:16::1]:1000 [fd00:18:0:1::1]:2000 proto udp packets 7 bytes 700
END
is "and says how much was of the other" "$(counters six packets other_family)" "28 10"
is "without keys: as many flows" "$(stat set flows)" 6
is "found by their key" "$(for k in "10.16.0.1 proto tcp" "10.16.0.1 proto udp" \
	"10.17.3.1 proto udp" "fd00:16::1 proto udp"; do
	# shellcheck disable=SC2086 # a list of words
	d flow show set $k | grep -oE 'packets [0-9]+ bytes [0-9]+'
done)" "packets 4 bytes 400
packets 1 bytes 100
packets 3 bytes 300
packets 12 bytes 1200"
is "and no other" "$(has set 10.17.3.1 proto tcp)" no
is "in a listing they have a fingerprint" \
	"$(flows set | grep -cE '^fingerprint [0-9a-f]+:[0-9a-f]+ packets [0-9]+ bytes [0-9]+$')" 6

# The other way round: an IPv4-mapped address is no IPv4 address.
send "$(p6 ::ffff:10.16.0.1 fd00:18::1)"
becomes "a mapped IPv6 address is another flow" "::ffff:10.16.0.1 packets 1 bytes 100
10.16.0.1 packets 5 bytes 500" sh -c "dlcbf -n $G flow show saddr | sed 's/ idle.*//' | grep -F 10.16.0.1 | sort -r"

for t in saddr daddr sport dport proto iif near far both four six set; do
	d table delete $t
done

# ---- oif, mark, vlan ----
d table add oif type flow family inet key oif,daddr max-flows 100 learn on
refused "oif is not known at prerouting" "oif" d hook add oif hook prerouting
refused "oif is not known at input" "oif" d hook add oif hook input
refused "oif is not known at ingress" "oif" d hook add oif hook ingress device gc
check "oif at forward" d hook add oif hook forward
d table add ends type flow family inet key iif,oif max-flows 100 learn on
refused "iif is not known at output" "iif" d hook add ends hook output
check "iif and oif at forward" d hook add ends hook forward
d table add mark type flow family inet key mark,proto max-flows 100 learn on
d hook add mark hook forward
d table add vlan type flow family inet key vlan,saddr max-flows 100 learn on
check "vlan at ingress" d hook add vlan hook ingress device gc
d table add inner type flow family inet key vlan,saddr max-flows 100 learn on
check "vlan at prerouting" d hook add inner hook prerouting
inside "$G" nft -f - <<-END
table inet m {
	chain c {
		type filter hook prerouting priority -10
		ip saddr 10.16.0.2 meta mark set 0xabcd
	}
}
END
ip -n "$G" link add link gc name gc.5 type vlan id 5
ip -n "$G" link set gc.5 addrgenmode none up
send "$(p4 10.16.0.1 198.18.0.1)" "2*$(p4 10.16.0.2 198.18.0.1)" "3*$(p6 fd00:16::1 fd00:18::1)" \
	"4*vlan:id=5/$(p4 10.16.0.5 198.18.0.1)" "5*vlan:id=6/$(p4 10.16.0.6 198.18.0.1)" \
	"6*vlan:id=7,type=0x88a8/vlan:id=5/$(p4 10.16.0.7 198.18.0.1)" \
	"7*vlan:id=0/$(p4 10.16.0.1 198.18.0.1)" "8*vlan:id=5/$(p6 fd00:16::5 fd00:18::1)"
is_flows "vlan at ingress is that of the outermost tag" vlan <<-END
10.16.0.1 vlan 0 packets 8 bytes 800
10.16.0.2 vlan 0 packets 2 bytes 200
fd00:16::1 vlan 0 packets 3 bytes 300
10.16.0.5 vlan 5 packets 4 bytes 400
fd00:16::5 vlan 5 packets 8 bytes 800
10.16.0.6 vlan 6 packets 5 bytes 500
10.16.0.7 vlan 7 packets 6 bytes 600
END
# A tag of VLAN 0 is a priority: the packet belongs to no VLAN.
is_flows "vlan at prerouting is that of the device" inner <<-END
10.16.0.1 vlan 0 packets 8 bytes 800
10.16.0.2 vlan 0 packets 2 bytes 200
fd00:16::1 vlan 0 packets 3 bytes 300
10.16.0.5 vlan 5 packets 4 bytes 400
fd00:16::5 vlan 5 packets 8 bytes 800
END
is_flows "oif" oif <<-END
198.18.0.1 oif gs packets 14 bytes 1400
fd00:18::1 oif gs packets 11 bytes 1100
END
is_flows "iif and oif" ends <<-END
family ipv4 iif gc oif gs packets 10 bytes 1000
family ipv6 iif gc oif gs packets 3 bytes 300
family ipv4 iif gc.5 oif gs packets 4 bytes 400
family ipv6 iif gc.5 oif gs packets 8 bytes 800
END
is_flows "mark" mark <<-END
family ipv4 proto udp mark 0x0 packets 12 bytes 1200
family ipv4 proto udp mark 0xabcd packets 2 bytes 200
family ipv6 proto udp mark 0x0 packets 11 bytes 1100
END

# ---- what does not go together ----
refused "a prefix of 0" "prefix" d table add x type set family ipv4 key saddr/0 max-flows 10
refused "a prefix of 33" "prefix" d table add x type set family ipv4 key saddr/33 max-flows 10
refused "a prefix of 129" "prefix" d table add x type set family ipv6 key saddr/129 max-flows 10
refused "one prefix for two families" "PREFIX" d table add x type set family inet key saddr/24 max-flows 10
refused "a prefix of a port" "prefix" d table add x type set family ipv4 key sport/8 max-flows 10
refused "a field twice" "twice" d table add x type set family ipv4 key saddr,saddr max-flows 10
refused "no such field" "colour" d table add x type set family ipv4 key colour max-flows 10
exit 0
