#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What packets do to a flow table by themselves: flows are learned, expire, and
# give place to others when it is full. Each step is announced.

# shellcheck source=tools/testing/selftests/lib.sh
. "$(dirname -- "$0")/lib.sh"
lab

FIVE=saddr,daddr,sport,dport,proto
KEY4="10.16.0.1:1000 198.18.0.1:2000 proto udp"
KEY6="[fd00:16::1]:1000 [fd00:18::1]:2000 proto udp"
# One bucket of eight cells: the ninth flow has no place.
# shellcheck disable=SC2054 # the comma is in the key
TINY=(type flow family ipv4 key saddr,daddr max-flows 8 subtables 1 buckets 1 bucket-cells 8)

# from N: a packet of flow N, 100 bytes long.
from()
{
	echo "ip:saddr=10.16.1.$1,daddr=198.18.0.1/udp:sport=1,dport=2/72"
}

# from_each FIRST LAST
from_each()
{
	local n packets=()

	for ((n = $1; n <= $2; n++)); do
		packets+=("$(from "$n")")
	done
	send "${packets[@]}"
}

# learned: the N of all flows of a table.
learned()
{
	flows "$1" | sed -n 's/^10\.16\.1\.\([0-9]*\) .*/\1/p' | sort -n | paste -s -d ' '
}

# shellcheck disable=SC2317 # becomes calls these
# said PATTERN: how many events like that there were.
said()
{
	grep -cE -- "$1" "$TMP/events"
}

# shellcheck disable=SC2317
# announced PATTERN: there was an event like that.
announced()
{
	[ "$(said "$1")" = 0 ] && echo no || echo yes
}

# shellcheck disable=SC2317
arrived_and_dropped()
{
	echo "$(arrived) $(counters tiny dropped)"
}

dlcbf -n "$G" monitor >"$TMP/events" 2>&1 &
MONITOR=$!
# It listens when it tells of what is done.
for ((n = 0; n < 50; n++)); do
	d table add ready type set family ipv4 key saddr max-flows 10
	d table delete ready
	[ "$(said 'table delete ready')" = 0 ] || break
	sleep 0.1
done
is "the monitor listens" "$((n < 50))" 1

# ---- learn ----
d table add web type flow family inet key "$FIVE" max-flows 1000 events
d hook add web hook forward
becomes "a new table and its hook are announced" 2 said \
	'^(table add web type flow family inet .*max-flows 1000|hook add web hook forward)'
send "3*$UDP4"
becomes "without learn a packet of no flow is a miss" "3 3 0" \
	counters web packets miss learned
is "and no flow is made of it" "$(stat web flows)" 0
d table change web learn on
send "3*$UDP4" "2*$UDP6"
becomes "with learn its first packet makes one" "2 3" counters web learned hit
is_flows "which counts the first packet and the others" web <<-END
$KEY4 packets 3 bytes 300
$KEY6 packets 2 bytes 200
END
becomes "both are announced" 2 said '^flow add web .*(10\.16\.0\.1|fd00:16::1).*:1000 '
d table change web learn off
send "$UDP4" "ip:saddr=10.16.0.2,daddr=198.18.0.1/udp:sport=1000,dport=2000/72"
becomes "after that those flows are counted, and no new ones are made" "2 4 4" \
	counters web learned hit miss
is "a flow that was learned is found" "$(has web "$KEY4")" yes
check "a flow that was learned can be deleted" d flow delete web "$KEY4"
becomes "and is announced with its final counters" 1 said "^flow delete web $KEY4 packets 4 bytes 400"
d table flush web
becomes "a flush is announced" 1 said '^table flush web'

# ---- timeout ----
d table change web learn on timeout 2s
d flow add web 10.16.0.9:1000 198.18.0.1:2000 proto udp
d flow add web 10.16.0.8:1000 198.18.0.1:2000 proto udp timeout 1s
send "4*$UDP4"
is_flows "a flow is learned beside two of the administrator's" web <<-END
$KEY4 packets 4 bytes 400
10.16.0.8:1000 198.18.0.1:2000 proto udp packets 0 bytes 0 pinned
10.16.0.9:1000 198.18.0.1:2000 proto udp packets 0 bytes 0 pinned
END
for n in 1 2 3 4; do
	sleep 1
	send "$UDP4"
done
is "it stays as long as packets come" "$(flows web 10.16.0.1)" "$KEY4 packets 8 bytes 800"
is "the flow with a time of its own is gone" "$(has web 10.16.0.8:1000 198.18.0.1:2000 proto udp)" no
sleep 2
becomes "without packets it goes" no has web "$KEY4"
is "it is not listed either" "$(flows web)" \
	"10.16.0.9:1000 198.18.0.1:2000 proto udp packets 0 bytes 0 pinned"
becomes "both are announced with their final counters" 2 said \
	"^flow expire web ($KEY4 packets 8 bytes 800|10\.16\.0\.8:1000 .* packets 0 bytes 0)"
becomes "the table counts both" 2 counters web expired
is "and has one flow left" "$(stat web flows)" 1
send "$UDP4"
is_flows "a packet after that starts anew" web <<-END
$KEY4 packets 1 bytes 100
10.16.0.9:1000 198.18.0.1:2000 proto udp packets 0 bytes 0 pinned
END
check "learned flows can be pinned" d flow add web "$KEY4"
sleep 3
is_flows "then they stay, with what they have counted" web <<-END
$KEY4 packets 1 bytes 100 pinned
10.16.0.9:1000 198.18.0.1:2000 proto udp packets 0 bytes 0 pinned
END
d table delete web
becomes "the deletion of a table is announced" 1 said '^table delete web'

# ---- on-full drop-new ----
d table add tiny "${TINY[@]}" learn events
d hook add tiny hook forward miss drop
before=$(arrived)
from_each 1 20
becomes "a full table learns no more" "8 12" counters tiny learned refused
is "those that it has stay" "$(learned tiny)" "1 2 3 4 5 6 7 8"
becomes "that it is full is announced" yes announced '^table full tiny'
from_each 1 20
becomes "it goes on counting what it has" "8 8 24" counters tiny hit learned refused
# The first packet of each was not in the table when it came.
becomes "packets of no flow are a miss, here dropped" "$((before + 8)) 32" \
	arrived_and_dropped
is "each twice" "$(flows tiny | grep -c ' packets 2 bytes 200$')" 8
is "and accounts for each packet" "$(account tiny)" "40 40"
refused "an administrator's flow has no place either" "full|no cell|room" \
	d flow add tiny 10.16.1.99 198.18.0.1
is "and changes nothing" "$(learned tiny)" "1 2 3 4 5 6 7 8"
d flow delete tiny 10.16.1.3 198.18.0.1
# Its cell is empty when this is said, not before.
becomes "when one goes" 1 said '^flow delete tiny 10\.16\.1\.3 198\.18\.0\.1 packets 2 bytes 200'
from_each 21 21
becomes "the next has its place" "1 2 4 5 6 7 8 21" learned tiny

# ---- on-full evict ----
d table change tiny on-full evict
# Times are kept to a sixteenth of a second: these two are newer than the others.
sleep 0.5
from_each 1 2
sleep 0.5
from_each 31 36
becomes "a full table that evicts learns" 6 counters tiny evicted
is "in the place of those that were idle longest" "$(learned tiny)" "1 2 31 32 33 34 35 36"
becomes "they are announced with their final counters" 5 said \
	'^flow evict tiny 10\.16\.1\.[45678] 198\.18\.0\.1 packets 2 bytes 200'
is "and so is one that came later" "$(said '^flow evict tiny 10\.16\.1\.21 .* packets 1 bytes 100')" 1
d flow add tiny 10.16.1.1 198.18.0.1
from_each 41 60
becomes "a pinned flow is never evicted" yes has tiny 10.16.1.1 198.18.0.1
is "its counters are those of before" "$(flows tiny 10.16.1.1)" \
	"10.16.1.1 198.18.0.1 packets 3 bytes 300 pinned"
becomes "the others went" 26 counters tiny evicted
for n in $(learned tiny); do
	d flow add tiny "10.16.1.$n" 198.18.0.1 >/dev/null
done
is "all can be pinned" "$(flows tiny | grep -c pinned)" 8
from_each 71 75
becomes "then a new flow is refused" "26 29" counters tiny evicted refused
is "every packet is accounted for" "$(account tiny | tr ' ' '\n' | uniq | wc -l)" 1
d table delete tiny

# ---- an administrator's flow in the place of another ----
for type in set flow; do
	for keys in on off; do
		d table add full type "$type" keys "$keys" family ipv4 key saddr max-flows 8 \
			subtables 1 buckets 1 bucket-cells 8
		{
			for ((n = 1; n <= 8; n++)); do
				echo "flow add full 10.16.1.$n"
			done
			for ((n = 9; n <= 28; n++)); do
				echo "flow delete full 10.16.1.$((n - 8))"
				echo "flow add full 10.16.1.$n"
			done
		} >"$TMP/in-turn"
		check "type $type keys $keys: who deletes a flow of a full table has room for another" \
			dlcbf -n "$G" -b "$TMP/in-turn"
		is "type $type keys $keys: those are there" \
			"$(stat full flows) $(has full 10.16.1.20) $(has full 10.16.1.28)" "8 no yes"
		refused "type $type keys $keys: and no more" "full|no cell|room" \
			d flow add full 10.16.1.29
		d table delete full
	done
done

# ---- counters ----
d table add wide type flow family ipv4 key saddr,daddr max-flows 100
d hook add wide hook forward
d flow add wide 10.16.1.1 198.18.0.1 packets 4294967295 bytes 4294967290
d flow add wide 10.16.1.2 198.18.0.1 packets 1 bytes 9007199254740991
from_each 1 2
is_flows "counters go on past 32 bits and past what a double can hold" wide <<-END
10.16.1.1 198.18.0.1 packets 4294967296 bytes 4294967390 pinned
10.16.1.2 198.18.0.1 packets 2 bytes 9007199254741091 pinned
END
is "JSON has every digit" "$(number "$(dj flow show wide 10.16.1.2)" bytes)" 9007199254741091
is "and /proc" "$(inside "$G" grep -o 'bytes=9007199254741091' /proc/net/nf_dlcbf/wide/flows)" \
	"bytes=9007199254741091"
is "and a reset" "$(d flow reset wide 10.16.1.2 | grep -o 'bytes 9007199254741091')" \
	"bytes 9007199254741091"

# ---- no events ----
d table add quiet type flow family ipv4 key saddr,daddr max-flows 100 learn
d hook add quiet hook forward
from_each 1 2
becomes "a table without events learns the same" 2 stat quiet flows
sleep 0.3
is "and says nothing of it" "$(said '^flow add quiet')" 0
d flow delete quiet 10.16.1.1 198.18.0.1
becomes "what an administrator does is announced still" 1 said '^flow delete quiet 10\.16\.1\.1 '
kill "$MONITOR"
is "no event was lost" "$(said 'lost')" 0
exit 0
