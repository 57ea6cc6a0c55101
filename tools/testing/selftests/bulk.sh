#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A million flows: into a table at work in one step, out of it again by netlink
# and by /proc, to a file and back, while packets flow and none is lost.

# shellcheck source=tools/testing/selftests/lib.sh
. "$(dirname -- "$0")/lib.sh"

FLOWS=${NF_DLCBF_BULK_FLOWS:-1000000}
# What the command may need, in KiB, however many flows there are.
PEAK=65536

# Half of the usual time until the kernel complains of a CPU that does not
# schedule: a stall has to be shorter than what is logged without this.
echo 5 >/proc/sys/kernel/watchdog_thresh
lab

# measured WHAT WORDS...: run the command; says how it went, its time and peak.
# shellcheck disable=SC2016 # Python's
program='
import os, resource, subprocess, sys, time
start = time.monotonic()
status = subprocess.run(sys.argv[2:], stdout=open(sys.argv[1], "wb")).returncode
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(status, peak, "%.1f" % (time.monotonic() - start))
'
measured()
{
	local what=$1 status peak time

	shift
	read -r status peak time < <(python3 -c "$program" "$TMP/out" \
		dlcbf -n "$G" "$@" 2>"$TMP/errors")
	if [ "$status" = 0 ]; then
		ok "$what"
	else
		not_ok "$what" "status $status: $(cat "$TMP/errors")"
	fi
	if [ "${peak:-$PEAK}" -lt "$PEAK" ]; then
		ok "$what: the command needs less than $((PEAK / 1024)) MiB"
	else
		not_ok "$what: the command needs less than $((PEAK / 1024)) MiB" "$peak KiB"
	fi
	echo "# $what: $time s, $peak KiB"
}

# left: packets that C has sent.
left()
{
	local json

	json=$(ip -n "$C" -s -j link show cg)
	numbers "${json#*\"tx\":}" packets
}

# A sum over all keys of flows that are listed, in any order.
keys()
{
	sed 's/ packets[ =].*//' | LC_ALL=C sort | md5sum
}

# the size of the table every so often, and each only once, until DONE exists
watch_size()
{
	local flows

	while [ ! -e "$TMP/done" ]; do
		flows=$(number "$(dlcbf -j -n "$G" table show t)" flows)
		echo "$flows"
		sleep 0.2
	done | uniq >"$TMP/sizes"
}

# Two lists, with $SHARED flows in both of them: those are sent all the time, and
# the miss verdict drops what is in neither at any moment.
SHARED=500
lists()
{
	flood -P -f 1000 >"$TMP/small"
	flood -P -k 500 -f "$FLOWS" -a 50000 >"$TMP/large"
	{ cat "$TMP/large"; echo "10.16.0.1:1 198.18.0.1:70000 proto udp"; } >"$TMP/wrong"
}
lists
is "the list has that many flows" "$(LC_ALL=C sort -u "$TMP/large" | wc -l)" "$FLOWS"
want=$(LC_ALL=C sort "$TMP/large" | md5sum)

d table add t type flow family ipv4 key saddr,daddr,sport,dport,proto \
	max-flows "$FLOWS"
d flow add t file "$TMP/small"
d hook add t hook forward miss drop
is "the table begins with a short list" "$(stat t flows)" 1000

# As many packets as an emulated machine can forward beside all else.
sent=$(left)
received=$(arrived)
flood4 -k 500 -f "$SHARED" -n 0 -r 1000 >/dev/null 2>&1 &
watch_size &
WATCH=$!

refused "a list with a mistake in its last line" ":$((FLOWS + 1)): .70000. is not a port" \
	dlcbf -n "$G" flow replace t file "$TMP/wrong"
is "after that the table is as it was" "$(stat t flows)" 1000
measured "replace 1,000 flows by $FLOWS" flow replace t file "$TMP/large"
sleep 1
touch "$TMP/done"
wait "$WATCH"
is "nobody sees a table that is half loaded" "$(cat "$TMP/sizes")" "1000
$FLOWS"
is "a flow of the old list is gone" "$(has t "$(head -n 1 "$TMP/small")")" no

measured "list all flows by netlink" flow show t
is "netlink lists each flow once" "$(keys <"$TMP/out")" "$want"
start=$SECONDS
inside "$G" cat /proc/net/nf_dlcbf/t/flows >"$TMP/proc"
echo "# list all flows by /proc: $((SECONDS - start)) s"
# There a key's fields have names, and ports come after the protocol.
is "/proc lists each flow once" "$(keys <"$TMP/proc")" \
	"$(sed 's/\(.*\):\(.*\) \(.*\):\(.*\) proto \(.*\)/family=ipv4 saddr=\1 daddr=\3 proto=\5 sport=\2 dport=\4/' \
		"$TMP/large" | LC_ALL=C sort | md5sum)"
measured "reset the counters of all flows" flow reset t
first=$(awk '{ for (i = 1; i < NF; i++) if ($i == "packets") n += $(i + 1) } END { print n }' \
	"$TMP/out")

measured "save the table" save t file "$TMP/save"
is "a save file has all flows" "$(grep -c " proto udp" "$TMP/save")" "$FLOWS"
measured "restore it over the table at work" restore "$TMP/save"
is "it has all flows again" "$(stat t flows)" "$FLOWS"

pkill -x flood
wait %?flood4 2>/dev/null
sent=$(($(left) - sent))
# Those on their way get there.
becomes "no packet was lost in all that" "$((received + sent))" arrived
is "the table, its lists and its copies had more than one second of packets" \
	"$((sent > 1000))" 1
echo "# $sent packets, $first of them counted until the reset"
