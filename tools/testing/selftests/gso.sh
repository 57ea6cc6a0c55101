#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# One skb may be many packets: what is counted is what the wire carries.
#
#   C ---- G ---- S        C and S hand over segments of up to 64 KiB (TSO, GSO);
#     cg gc  gs sg         G has to cut them up for its devices, where they are
#                          counted one by one as they arrive
#
# nft counts skbs: that it counts fewer shows that there was something to see.

# shellcheck source=tools/testing/selftests/lib.sh
. "$(dirname -- "$0")/lib.sh"
lab

for n in gc gs; do
	inside "$G" ethtool -K $n tso off gso off tx-udp-segmentation off >/dev/null 2>&1
done
inside "$C" ethtool -K cg tso on gso on >/dev/null 2>&1
inside "$S" ethtool -K sg tso on gso on >/dev/null 2>&1

d table add t type flow family inet key saddr,daddr,proto max-flows 100 learn on
d hook add t hook forward
d table add pre type flow family inet key saddr,daddr,proto max-flows 100 learn on
d hook add pre hook prerouting
d table add in type flow family inet key saddr,daddr,proto max-flows 100 learn on
d hook add in hook ingress device gc
inside "$G" nft -f - <<-END
table inet n {
	counter skbs { }
	chain c {
		type filter hook forward priority 10
		counter name skbs
	}
}
END

program='
import socket, sys
what, address, size = sys.argv[1], sys.argv[2], int(sys.argv[3])
family = socket.AF_INET6 if ":" in address else socket.AF_INET
if what == "listen":
    s = socket.socket(family)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind((address, 8080))
    s.listen()
    print("ready", flush=True)
    c, _ = s.accept()
    while c.recv(1 << 20):
        pass
    c.close()
elif what == "send":
    s = socket.create_connection((address, 8080))
    s.sendall(bytes(size))
    s.shutdown(socket.SHUT_WR)
    s.recv(1)
else:
    s = socket.socket(family, socket.SOCK_DGRAM)
    s.setsockopt(17, 103, 1000)    # UDP_SEGMENT
    for _ in range(size):
        s.sendto(bytes(20500), (address, 9))
'
transfer()
{
	local ns=$1 from=$2 address=$3

	rm -f "$TMP/ready"
	inside "$ns" python3 -c "$program" listen "$address" 0 >"$TMP/ready" &
	eventually 1 grep -c ready "$TMP/ready"
	inside "$from" python3 -c "$program" send "$address" 1500000
	wait $!
}

# rx NAMESPACE DEVICE: packets, and their bytes from the IP header on
rx()
{
	local json

	json=$(ip -n "$1" -s -j link show "$2")
	json=${json#*\"rx\":}
	echo "$(number "$json" packets) $(($(number "$json" bytes) - 14 * $(number "$json" packets)))"
}

skbs()
{
	inside "$G" nft reset counter inet n skbs | grep -oE 'packets [0-9]+' | cut -d ' ' -f 2
}

# counted TABLE SADDR: packets and bytes of all from there
counted()
{
	d flow show "$1" "$2" | grep -oE 'packets [0-9]+ bytes [0-9]+' |
		awk '{ p += $2; b += $4 } END { print p + 0, b + 0 }'
}

# compare WHAT SERVER'S-NAMESPACE CLIENT'S-NAMESPACE SERVER CLIENT'S-ADDRESS
compare()
{
	local what=$1 server=$2 client=$3 to=$4 from=$5 s0 s1 c0 c1 few t

	for t in t pre in; do
		d table flush $t
	done
	skbs >/dev/null
	s0=$(rx "$S" sg)
	c0=$(rx "$C" cg)
	if [ "$server" = udp ]; then
		inside "$client" python3 -c "$program" udp "$to" 20
		sleep 0.2
	else
		transfer "$server" "$client" "$to"
	fi
	s1=$(rx "$S" sg)
	c1=$(rx "$C" cg)
	few=$(skbs)
	local to_s to_c
	to_s="$((${s1% *} - ${s0% *})) $((${s1#* } - ${s0#* }))"
	to_c="$((${c1% *} - ${c0% *})) $((${c1#* } - ${c0#* }))"
	# What goes to S comes from C, and the other way round.
	if [ "$client" = "$C" ]; then
		is "$what: forward, to S" "$(counted t "$from")" "$to_s"
		[ "$server" = udp ] || is "$what: forward, to C" "$(counted t "$to")" "$to_c"
		is "$what: prerouting, to S" "$(counted pre "$from")" "$to_s"
		is "$what: ingress, from C" "$(counted in "$from")" "$to_s"
	else
		is "$what: forward, to C" "$(counted t "$from")" "$to_c"
		is "$what: forward, to S" "$(counted t "$to")" "$to_s"
		is "$what: prerouting, to C" "$(counted pre "$from")" "$to_c"
		is "$what: ingress, from C" "$(counted in "$to")" "$to_s"
	fi
	local all=$((${to_s% *} + ${to_c% *}))
	if [ "$few" -lt $((all * 3 / 4)) ]; then
		ok "$what: they came as $few skbs, not $all"
	else
		skip "$what: large skbs" "the devices made none: $few for $all packets"
	fi
}

compare "TCP upload" "$S" "$C" 10.2.0.2 10.1.0.2
compare "TCP download" "$C" "$S" 10.1.0.2 10.2.0.2
compare "TCP upload, IPv6" "$S" "$C" fd00:2::2 fd00:1::2
compare "TCP download, IPv6" "$C" "$S" fd00:1::2 fd00:2::2
compare "UDP segments" udp "$C" 198.18.0.1 10.1.0.2
compare "UDP segments, IPv6" udp "$C" fd00:18::1 fd00:1::2
exit 0
