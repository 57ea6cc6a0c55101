#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# bidir: both directions of a connection are one flow.
#
#   C ---- G ---- S        real ping and TCP between C and S
#     cg gc  gs sg

# shellcheck source=tools/testing/selftests/lib.sh
. "$(dirname -- "$0")/lib.sh"
lab

FIVE=saddr,daddr,sport,dport,proto
d table add two type flow family inet key $FIVE max-flows 100 learn on
d table add one type flow family inet key $FIVE max-flows 100 learn on bidir
d table add hosts type flow family inet key saddr,daddr max-flows 100 learn on bidir
d table add nets type flow family ipv4 key saddr/16,daddr/16 max-flows 100 learn on bidir
for t in two one hosts nets; do
	d hook add $t hook forward
done

check "ping" inside "$C" ping -q -c 3 -i 0.2 -W 5 10.2.0.2
check "ping, IPv6" inside "$C" ping -q -c 3 -i 0.2 -W 5 fd00:2::2
# Three requests of 84 (104) bytes, and their replies.
is "each direction by itself: four flows" "$(stat two flows)" 4
is "both directions: two flows" "$(d flow show one | grep -oE '(type|packets) .*' | sed -E 's/ id [0-9]+//; s/ idle.*//' | sort)" "\
type 128 code 0 packets 6 bytes 624
type 8 code 0 packets 6 bytes 504"
is_flows "of hosts" hosts <<-END
10.1.0.2 10.2.0.2 packets 6 bytes 504
fd00:1::2 fd00:2::2 packets 6 bytes 624
END
is_flows "of networks" nets <<-END
10.1.0.0/16 10.2.0.0/16 packets 6 bytes 504
END
read -r id < <(d flow show one proto icmp | grep -oE 'id [0-9]+')
# shellcheck disable=SC2086 # a list of words
check "asked for one way" d flow test one 10.1.0.2 10.2.0.2 proto icmp type 8 code 0 $id
# shellcheck disable=SC2086
check "asked for the other way" d flow test one 10.2.0.2 10.1.0.2 proto icmp type 0 code 0 $id

# ---- TCP, held against what C's device sent and received ----
server='
import socket
for family, address in ((socket.AF_INET, "10.2.0.2"), (socket.AF_INET6, "fd00:2::2")):
    s = socket.socket(family)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind((address, 8080))
    s.listen()
    print("ready", flush=True)
    c, _ = s.accept()
    while c.recv(65536):
        pass
    c.sendall(bytes(100000))
    c.close()
'
client='
import socket, sys
s = socket.create_connection((sys.argv[1], 8080))
s.sendall(bytes(200000))
s.shutdown(socket.SHUT_WR)
n = 0
while True:
    data = s.recv(65536)
    if not data:
        break
    n += len(data)
print(n)
'
# The wire as it is, so that the device counts packets.
for n in "$C cg" "$G gc" "$G gs" "$S sg"; do
	# shellcheck disable=SC2086 # a list of words
	inside ${n% *} ethtool -K ${n#* } tso off gso off gro off >/dev/null 2>&1
done
for t in two one hosts nets; do
	d table flush $t
done
json0=$(ip -n "$C" -s -j link show cg)
inside "$S" python3 -c "$server" >"$TMP/server" &
eventually 1 grep -c ready "$TMP/server"
is "TCP" "$(inside "$C" python3 -c "$client" 10.2.0.2)" 100000
eventually 2 grep -c ready "$TMP/server"
is "TCP, IPv6" "$(inside "$C" python3 -c "$client" fd00:2::2)" 100000
sleep 0.2
json1=$(ip -n "$C" -s -j link show cg)
wire()
{
	local a=${json0#*\""$1"\":} b=${json1#*\""$1"\":}

	echo $(($(number "$b" "$2") - $(number "$a" "$2")))
}
packets=$(($(wire rx packets) + $(wire tx packets)))
bytes=$(($(wire rx bytes) + $(wire tx bytes) - 14 * packets))
sums()
{
	d flow show "$1" | awk '{
		for (i = 1; i < NF; i++) {
			if ($i == "packets") p += $(i + 1)
			if ($i == "bytes") b += $(i + 1)
		}
	} END { print NR, p + 0, b + 0 }'
}
is "each direction by itself is the wire's sum" "$(sums two)" "4 $packets $bytes"
is "both directions are the wire's sum" "$(sums one)" "2 $packets $bytes"
is "hosts are the wire's sum" "$(sums hosts)" "2 $packets $bytes"
is "and each lot of packets went both ways" "$(d flow show two | awk '/packets [1-9]/' | wc -l)" 4

refused "bidir needs both addresses" "bidir" d table add x type flow family inet key saddr,sport max-flows 10 bidir
refused "bidir needs both ports" "bidir" d table add x type flow family inet key saddr,daddr,sport max-flows 10 bidir
refused "bidir needs the same prefix" "bidir" d table add x type flow family ipv4 key saddr/24,daddr max-flows 10 bidir
exit 0
