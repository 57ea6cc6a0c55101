#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Two network namespaces with tables of the same names do not see each other.

# shellcheck source=tools/testing/selftests/lib.sh
. "$(dirname -- "$0")/lib.sh"
lab

there()
{
	dlcbf -n "$S" "$@"
}

for ns in "$G" "$S"; do
	dlcbf -n "$ns" monitor >"$TMP/events-$ns" 2>&1 &
done
sleep 1

d table add t type flow family ipv4 key saddr,daddr max-flows 100 learn on
check "a table of the same name" there table add t type set family ipv4 key saddr max-flows 500
is "each sees its own" "$(d table show | head -n 1 | cut -d ' ' -f 1-3; there table show | head -n 1 | cut -d ' ' -f 1-3)" \
	"t: type flow
t: type set"
check "and in the other hooks" there hook add t hook input
is "a hook is in one" "$(d hook show; there hook show)" \
	"t hook input priority 0 hit continue miss continue"
d hook add t hook forward
there flow add t 192.0.2.1
is "so is a flow" "$(d flow show t; there table show t | grep -o 'flows 1')" "flows 1"

send "5*ip:saddr=10.16.0.1,daddr=198.18.0.1/udp/72"
becomes "packets are counted in G" "5 4 1" counters t packets hit learned
is "and not in S, which took none of them in" \
	"$(number "$(there -j -s table show t)" packets)" 0
send "3*ip:saddr=10.16.0.1,daddr=10.2.0.2/udp/72"
becomes "packets to S are counted in S" 3 sh -c \
	"dlcbf -n $S -j -s table show t | grep -oE '\"packets\": ?[0-9]+' | grep -oE '[0-9]+$'"

is "/proc of each has its own" "$(inside "$G" cat /proc/self/net/nf_dlcbf/t/info | grep -c 'type.*flow'
	inside "$S" cat /proc/self/net/nf_dlcbf/t/info | grep -c 'type.*set')" "1
1"
check "a table in one can be deleted" there table delete t
is "without the other's" "$(d table show | grep -c ': type')" 1
refused "and is gone" "no table" there table show t

becomes "events of S are told in S" yes sh -c "grep -q 'type set' '$TMP/events-$S' && echo yes"
becomes "and those of G in G" yes sh -c "grep -q 'type flow' '$TMP/events-$G' && echo yes"
is "but not in G" "$(grep -c 'type set' "$TMP/events-$G")" 0
is "nor those of G in S" "$(grep -c 'type flow' "$TMP/events-$S")" 0

# ---- a device that moves ----
# shellcheck disable=SC2317 # called by becomes
ingress_hooks()
{
	d hook show t | grep -c ingress
}
ip -n "$G" link add m0 type dummy
ip -n "$G" link set m0 up
check "a hook at a device" d hook add t hook ingress device m0
ip -n "$G" link set m0 netns "$S"
becomes "goes when the device does" 0 ingress_hooks
is "it is not in the other either" "$(there hook show)" ""
check "another table may be there" there table add u type set family ipv4 key saddr max-flows 10
check "with a hook at the device" there hook add u hook ingress device m0

# ---- a namespace that goes ----
# shellcheck disable=SC2034 # for lib.sh
OTHER_NAMESPACES="x-$$"
ip netns add "x-$$"
check "a table in a third" dlcbf -n "x-$$" table add t type flow family inet \
	key saddr,daddr max-flows 10000
dlcbf -n "x-$$" hook add t hook input
ip netns delete "x-$$"
is "that goes leaves the first" "$(has t 10.16.0.1 198.18.0.1)" yes
exit 0
