#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Every verb of tables, hooks and flows, and what they refuse.
# No traffic; only G of the lab (see lib.sh) has anything to do.

# shellcheck source=tools/testing/selftests/lib.sh
. "$(dirname -- "$0")/lib.sh"
lab

FIVE=saddr,daddr,sport,dport,proto
K4=(10.0.0.7:51234 203.0.113.9:443 proto tcp)
K6=("[2001:db8::7]:51234" "[2001:db8::9]:443" proto tcp)

# have TABLE N...: which of 192.0.2.N are in it
have()
{
	local table=$1 n

	shift
	for n; do
		has "$table" "192.0.2.$n"
	done | paste -s -d ' '
}

# ---- tables ----
check "table add" d table add web type flow family inet key "$FIVE" max-flows 1000
refused "table add: it exists" "exist" d table add web type flow family inet key "$FIVE" max-flows 1000
check "table add -exist: the same again" \
	d -exist table add web type flow family inet key "$FIVE" max-flows 1000
refused "table add -exist: but not the same" "exist|differ" \
	d -exist table add web type set family inet key "$FIVE" max-flows 1000
check "table add: a set" d table add blocked type set family ipv4 key saddr max-flows 5000 fpr 1e-6
is "table show lists both" "$(d table show | grep -c ': type')" 2
is "table show says what was asked for" \
	"$(d table show blocked | head -n 1 | grep -oE 'type set family ipv4 key saddr max-flows 5000')" \
	"type set family ipv4 key saddr max-flows 5000"
check "table show -s" d -s table show web
check "table show -j is JSON" sh -c "dlcbf -n $G -j table show | python3 -m json.tool"
refused "table show of none" "no table" d table show nothing

check "table change learn" d table change web learn on
is "changed" "$(dj table show web | grep -o '"learn":true')" '"learn":true'
check "table change timeout" d table change web timeout 90s
is "changed" "$(number "$(dj table show web)" timeout_ms)" 90000
check "table change on-full" d table change web on-full evict
check "table change fragments" d table change web fragments drop
check "table change events" d table change web events on
refused "table change of what a table is made of" "cannot|may not|fixed|change" \
	d table change web max-flows 2000
refused "table change of the key" "cannot|may not|fixed|change" d table change web key saddr
refused "table change of none" "no table|no such" d table change nothing learn on

memory=$(stat web memory)
json=$(dj table add plan type flow family inet key "$FIVE" max-flows 1000 dry-run)
is "table add dry-run says how large it would be" "$(number "$json" memory)" "$memory"
refused "and makes nothing" "no table" d table show plan

# ---- flows ----
check "flow add, IPv4" d flow add web "${K4[@]}"
check "flow add, IPv6" d flow add web "${K6[@]}"
refused "flow add: it is there" "exist" d flow add web "${K4[@]}"
check "flow add -exist" d -exist flow add web "${K4[@]}"
is "added once, says the table" "$(stat web flows)" 2
check "flow test" d flow test web "${K4[@]}"
refused "flow test: not there" "not in" d flow test web 10.0.0.7:51234 203.0.113.9:443 proto udp
d -q flow test web 10.0.0.7:51234 203.0.113.9:443 proto udp
is "and exits with 1" "$?" 1
is_flows "flow show" web <<-END
${K4[*]} packets 0 bytes 0 pinned
${K6[*]} packets 0 bytes 0 pinned
END
check "flow show -j is JSON" sh -c "dlcbf -n $G -j flow show web | python3 -m json.tool"
is "flow show of one" "$(flows web "${K4[@]}")" "${K4[*]} packets 0 bytes 0 pinned"
is "flow show by address" "$(flows web 10.0.0.7)" "${K4[*]} packets 0 bytes 0 pinned"
is "flow show by network" "$(flows web 2001:db8::/32)" "${K6[*]} packets 0 bytes 0 pinned"
is "flow show by port" "$(flows web dport 443 | wc -l)" 2
is "flow show by what is not there" "$(flows web dport 444 | wc -l)" 0

check "flow add with counters" d flow add web 10.0.0.8:1 203.0.113.9:2 proto udp packets 7 bytes 700
is "they are kept" "$(flows web 10.0.0.8:1 203.0.113.9:2 proto udp)" \
	"10.0.0.8:1 203.0.113.9:2 proto udp packets 7 bytes 700 pinned"
is "flow reset prints them" "$(flows web 10.0.0.8 | wc -l; d flow reset web 10.0.0.8 | grep -o 'packets 7 bytes 700')" \
	"1
packets 7 bytes 700"
is "and sets them to 0" "$(flows web 10.0.0.8 | grep -o 'packets 0 bytes 0')" "packets 0 bytes 0"
check "flow add with a timeout" d flow add web 10.0.0.9:1 203.0.113.9:2 proto udp timeout 1h
is "it is shown" "$(d flow show web 10.0.0.9 | grep -cE 'timeout (3600|3599)')" 1

check "flow delete" d flow delete web "${K4[@]}"
refused "flow delete: gone" "not|no such" d flow delete web "${K4[@]}"
check "flow delete -exist" d -exist flow delete web "${K4[@]}"
becomes "three are left" 3 stat web flows

# ---- a set counts how often it was told ----
check "set: flow add" d flow add blocked 192.0.2.1
check "set: flow add again" d -exist flow add blocked 192.0.2.1
check "set: flow test" d flow test blocked 192.0.2.1
check "set: flow delete" d flow delete blocked 192.0.2.1

# ---- files ----
printf '%s\n' "# a comment" "" "192.0.2.10" "192.0.2.11" "192.0.2.12" >"$TMP/list"
check "flow add file" d flow add blocked file "$TMP/list"
is "all of it" "$(have blocked 10 11 12 13)" "yes yes yes no"
head -n 4 "$TMP/list" >"$TMP/two"
check "flow delete file" d flow delete blocked file "$TMP/two"
is "just those" "$(have blocked 10 11 12)" "no no yes"
echo "192.0.2.99" >"$TMP/other"
check "flow replace file" d flow replace blocked file "$TMP/other"
is "replaced" "$(have blocked 12 99)" "no yes"
printf '%s\n' 192.0.2.20 "not an address" 192.0.2.21 >"$TMP/bad"
# The process that d() talks to was started with -force.
refused "flow add file with a bad line" "bad:2" dlcbf -n "$G" flow add blocked file "$TMP/bad"
is "adds nothing" "$(has blocked 192.0.2.20)" no
refused "flow add -force file with a bad line" "bad:2" d flow add blocked file "$TMP/bad"
is "adds the others" "$(have blocked 20 21)" "yes yes"

# ---- hooks ----
check "hook add" d hook add web hook forward
refused "hook add: it is there" "already|exist" d hook add web hook forward
check "hook add -exist" d -exist hook add web hook forward
refused "hook add -exist: but does something else" "already|exist" d -exist hook add web hook forward miss drop
check "hook add at another priority" d hook add web hook forward priority -150
check "hook add ingress" d hook add blocked hook ingress device gc hit drop
check "hook add with marks" d hook add web hook prerouting priority raw hit mark 0x10/0xf0 miss mark 7
is "hook show" "$(d hook show web | sort)" "\
web hook forward priority -150 hit continue miss continue
web hook forward priority 0 hit continue miss continue
web hook prerouting priority -300 hit mark 0x10/0xf0 miss mark 0x7"
is "hook show of all" "$(d hook show | wc -l)" 4
is "hook show of one at ingress" "$(d hook show blocked)" \
	"blocked hook ingress device gc priority 0 hit drop miss continue"
check "hook show -j is JSON" sh -c "dlcbf -n $G -j hook show | python3 -m json.tool"
check "hook delete" d hook delete web hook forward priority -150
refused "hook delete: gone" "no|not" d hook delete web hook forward priority -150
check "hook delete -exist" d -exist hook delete web hook forward priority -150
is "the others stay" "$(d hook show | wc -l)" 3
is "a table says how many it has" "$(stat web hooks)" 2

# ---- flush, swap, delete ----
check "table flush" d table flush web
is "no flow is left" "$(stat web flows; flows web)" 0
check "table add of a second set" d table add other type set family ipv4 key saddr max-flows 5000
check "flow add there" d flow add other 192.0.2.77
check "table swap" d table swap blocked other
is "swapped" "$(has blocked 192.0.2.77; has other 192.0.2.99)" "yes
yes"
refused "table swap with itself" "itself" d table swap blocked blocked
refused "table swap with none" "no table|no such" d table swap blocked nothing

# ---- batch ----
printf '%s\n' "flow add other 192.0.2.50" "flow add other 192.0.2.51" >"$TMP/batch"
check "-batch" d -batch "$TMP/batch"
printf '%s\n' "flow add other 192.0.2.52" "flow add nothing 192.0.2.1" "flow add other 192.0.2.53" >"$TMP/batch"
refused "-batch stops at the first failure" "batch:2" d -batch "$TMP/batch"
is "before what follows" "$(have other 52 53)" "yes no"
refused "-batch -force" "batch:2" d -force -exist -batch "$TMP/batch"
is "goes on" "$(has other 192.0.2.53)" yes

check "table delete" d table delete web
refused "table delete: gone" "no table|no such" d table delete web
check "table delete -exist" d -exist table delete web
is "its hooks are gone with it" "$(d hook show | grep -c ^web)" 0
check "table delete of another" d table delete blocked
check "and of the last" d table delete other
is "none is left" "$(d table show)" ""
exit 0
