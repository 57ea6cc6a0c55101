#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Changes to a table at work, at as many packets as the machine forwards: none is
# lost, none is counted twice, and no verdict is given that neither the table
# before nor the one after would give.

# shellcheck source=tools/testing/selftests/lib.sh
. "$(dirname -- "$0")/lib.sh"
lab

FLOWS=200
KEY=saddr,daddr,sport,dport,proto
# Bytes of the packets that flood sends, in layer 3.
LENGTH=36

# left: packets that C has sent.
left()
{
	local json

	json=$(ip -n "$C" -s -j link show cg)
	numbers "${json#*\"tx\":}" packets
}

begin_traffic()
{
	sent=$(left)
	received=$(arrived)
	flood4 -f "$FLOWS" -n 0 -r 3000 -l "$LENGTH" >/dev/null 2>&1 &
	sleep 0.5
}

# What was sent in all is in $sent afterwards.
end_traffic()
{
	pkill -x flood
	wait %?flood4 2>/dev/null
	sent=$(($(left) - sent))
	becomes "no packet was lost" "$((received + sent))" arrived
	is "there was traffic" "$((sent > 500))" 1
	echo "# $sent packets"
}

# total: packets and bytes of all flows that are listed.
total()
{
	awk '{
		for (i = 1; i < NF; i++) {
			if ($i == "packets") packets += $(i + 1)
			if ($i == "bytes") bytes += $(i + 1)
		}
	}
	END { print packets + 0, bytes + 0 }'
}

sum_of()
{
	dlcbf -n "$G" flow show "$1" | total
}

flood -P -f "$FLOWS" >"$TMP/list"

# ---- reset ----
d table add t type flow family ipv4 key "$KEY" max-flows 1000
d flow add t file "$TMP/list"
d hook add t hook forward miss drop
begin_traffic
for ((n = 0; n < 15; n++)); do
	dlcbf -n "$G" flow reset t
done >"$TMP/resets"
read -ra one <"$TMP/list"
dlcbf -n "$G" flow reset t "${one[@]}" >>"$TMP/resets"
end_traffic
dlcbf -n "$G" flow show t >>"$TMP/resets"
is "resets and what is left add up to all packets and bytes" \
	"$(total <"$TMP/resets")" "$sent $((sent * LENGTH))"
is "most were counted before the last reset" \
	"$(($(sum_of t | cut -d ' ' -f 1) * 2 < sent))" 1

# ---- netlink and /proc ----
is "netlink and /proc have the same counters" \
	"$(inside "$G" sed -E 's/.* packets=([0-9]+) bytes=([0-9]+).*/\1 \2/' \
		/proc/net/nf_dlcbf/t/flows | LC_ALL=C sort | md5sum)" \
	"$(flows t | sed -E 's/.* packets ([0-9]+) bytes ([0-9]+).*/\1 \2/' |
		LC_ALL=C sort | md5sum)"

# ---- flush ----
d table flush t
d table change t learn on
d hook delete t hook forward
d hook add t hook forward
begin_traffic
for ((n = 0; n < 15; n++)); do
	d table flush t
	sleep 0.1
done
end_traffic
becomes "a flush leaves a table that learns again" "$FLOWS" stat t flows
is "the table accounts for every packet of both" "$(account t | tr ' ' '\n' | uniq | wc -l)" 1
d table delete t

# ---- swap ----
# Between them the two have all flows at any moment.
d table add front type flow family ipv4 key "$KEY" max-flows 1000
d table add back type flow family ipv4 key "$KEY" max-flows 1000
d flow add front file "$TMP/list"
d flow add back file "$TMP/list"
d hook add front hook forward miss drop
begin_traffic
for ((n = 0; n < 101; n++)); do
	d table swap front back
done
end_traffic
is "after swaps both together have counted every packet" \
	"$({ dlcbf -n "$G" flow show front; dlcbf -n "$G" flow show back; } | total)" \
	"$sent $((sent * LENGTH))"
is "each has some" "$(for t in front back; do sum_of "$t"; done | grep -c '^[1-9]')" 2
d table delete back

# ---- replace ----
d flow reset front >/dev/null
begin_traffic
for ((n = 0; n < 10; n++)); do
	dlcbf -n "$G" flow replace front file "$TMP/list" || break
done
is "a table at work is replaced ten times" "$n" 10
for ((n = 0; n < 10; n++)); do
	dlcbf -n "$G" flow replace front file "$TMP/list" keep-counters || break
done
is "and ten times with its counters" "$n" 10
end_traffic
is "no packet was taken for one of no flow" "$(counters front miss refused dropped)" "0 0 0"
becomes "the table has the flows of the list" "$FLOWS" stat front flows

# ---- settings ----
begin_traffic
for ((n = 0; n < 20; n++)); do
	d table change front learn on timeout 60s on-full evict events on
	d table change front learn off timeout none on-full drop-new events off
done
end_traffic
is "settings change under packets, and no flow with them" "$(stat front flows)" "$FLOWS"

# ---- hooks ----
# An emulated CPU may die of code that is changed while another runs it, which the
# kernel does for the first hook of each kind: these stay, so there is no first one.
d table add other type flow family ipv4 key saddr max-flows 1000
d hook add other hook postrouting priority 1
d hook add other hook ingress device gc priority 1
begin_traffic
for ((n = 0; n < 20; n++)); do
	d hook add front hook postrouting
	d hook add front hook ingress device gc
	d hook delete front hook ingress device gc
	d hook delete front hook postrouting
done
end_traffic
is "hooks come and go under packets" "$(d hook show front)" \
	"front hook forward priority 0 hit continue miss drop"
is "those of another table see all of them" "$(counters other packets miss)" \
	"$((2 * sent)) $((2 * sent))"
exit 0
