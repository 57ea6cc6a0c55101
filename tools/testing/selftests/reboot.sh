#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What is saved is there again after a reboot: tables, hooks, flows and counters.
#
# NF_DLCBF_REBOOT names a folder that outlives the kernel: the first run fills it,
# and the second, after a reboot, goes on from there (scripts/check.d/vm-reboot).
# Without it one run does both, and the module is unloaded and loaded in between.

# shellcheck source=tools/testing/selftests/lib.sh
. "$(dirname -- "$0")/lib.sh"
lab

DIR=${NF_DLCBF_REBOOT:-$TMP}
FIVE=saddr,daddr,sport,dport,proto

# The save file, but for what depends on the time.
saved()
{
	sed -E 's/ (idle|timeout) [0-9.]+m?s?\>//g' "$1" | LC_ALL=C sort
}

# hits FILE: how many of the addresses are in the set.
hits()
{
	sed 's/^/flow test blocked /' "$1" >"$TMP/tests"
	dlcbf -n "$G" -force -batch "$TMP/tests" 2>&1 | grep -c ' is in '
}

if [ ! -e "$DIR/save" ]; then
	check "a flow table that learns" d table add web type flow family inet key "$FIVE" \
		max-flows 1000 learn on timeout 1h on-full evict
	check "a set" d table add blocked type set family ipv4 key saddr max-flows 5000 fpr 1e-9
	check "a table of pairs of networks" d table add nets type flow family inet \
		key saddr/24/64,daddr/16/48,iif max-flows 100 learn on
	d hook add web hook forward priority mangle
	d hook add nets hook prerouting miss mark 0x10/0xf0
	d hook add blocked hook ingress device gc hit drop

	seq 0 999 | awk '{ print "10.17." int($1 / 250) "." $1 % 250 + 1 }' >"$DIR/list"
	check "a list for the set" d flow add blocked file "$DIR/list"
	check "a flow of the administrator, with large counters" d flow add web \
		10.16.9.9:1 198.18.9.9:2 proto udp packets 1099511627776 bytes 1152921504606846976
	check "and one that is to go" d flow add web \
		"[fd00:16::9]:1" "[fd00:18::9]:2" proto udp timeout 2h
	send "20*$UDP4" "7*$UDP6"
	becomes "packets are counted" 27 counters web packets
	is "and flows learned" "$(flows web | grep -vc pinned)" 2

	flows web >"$DIR/web"
	flows nets >"$DIR/nets"
	d hook show | LC_ALL=C sort >"$DIR/hooks"
	check "save" d save file "$DIR/save"
	is "only its owner may read the file, as it has secrets" "$(command -p stat -c %a "$DIR/save")" 600
	sync
	# With nothing left to do, the second run does the rest.
	[ -z "${NF_DLCBF_REBOOT-}" ] || exit 0

	end_batches
	check "the module is unloaded with all its tables" unload_module
	check "and loaded again" load_module
	begin_batches
fi

is "no table is there" "$(d table show; d hook show)" ""
head -n -3 "$DIR/save" >"$TMP/cut"
refused "a file that was cut off is not restored" "cut|end" d restore "$TMP/cut"
is "nor a part of it" "$(d table show)" ""
check "restore" d restore "$DIR/save"
is "there are as many tables as before" "$(d table show | grep -c ': type')" 3
is_flows "the flows are those of before, with their counters" web <"$DIR/web"
is_flows "so are those of the other table" nets <"$DIR/nets"
is "so are the hooks" "$(d hook show | LC_ALL=C sort)" "$(cat "$DIR/hooks")"
is "all of the list is in the set" "$(hits "$DIR/list")" 1000
sed 's/^10\.17/10.18/' "$DIR/list" >"$TMP/others"
is "and no other address" "$(hits "$TMP/others")" 0
check "save again" d save file "$TMP/again"
is "the file is the same, its secrets too" \
	"$(diff <(saved "$DIR/save") <(saved "$TMP/again"))" ""

send "5*$UDP4" "2*ip:saddr=10.17.0.1,daddr=198.18.0.1/udp:sport=1,dport=2/10"
becomes "packets go on being counted where they stopped" \
	"10.16.0.1:1000 198.18.0.1:2000 proto udp packets 25 bytes 2500" \
	flows web 10.16.0.1 198.18.0.1
is "and dropped as before" "$(counters blocked packets dropped)" "7 2"
is "flows that were learned can still go by themselves" \
	"$(d flow show web 10.16.0.1 | grep -cE 'timeout|pinned')" 0
is "one that was to go is to go when it was" \
	"$(d flow show web fd00:16::9 | grep -cE 'timeout (7[01]..|7200)')" 1
exit 0
