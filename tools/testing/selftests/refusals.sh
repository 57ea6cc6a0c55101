#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Bad input: each gets an error that names it, and changes nothing.
# No traffic; only G of the lab (see lib.sh) has anything to do.

# shellcheck source=tools/testing/selftests/lib.sh
. "$(dirname -- "$0")/lib.sh"
lab

FIVE=saddr,daddr,sport,dport,proto
SET=(type set family ipv4 key saddr)
LONG=a23456789012345678901234567890123

# What there is, which no refusal may change.
d table add web type flow family inet key $FIVE max-flows 1000
d table add blocked "${SET[@]}" max-flows 1000 fpr 1e-6
d flow add web 10.0.0.7:51234 203.0.113.9:443 proto tcp packets 3 bytes 300
d flow add blocked 192.0.2.1
d hook add web hook forward

# everything: all that the module has, but for what depends on the time.
everything()
{
	dlcbf -n "$G" save | sed -E 's/ idle [^ ]+//; s/ timeout [^ ]+//'
}
before=$(everything)
is "there is something to lose" "$(wc -l <<<"$before")" 7

# no WHAT PATTERN WORDS...: refused, naming PATTERN.
no()
{
	local what=$1 pattern=$2

	shift 2
	refused "$what" "$pattern" d "$@"
}

# unchanged AFTER-WHAT
unchanged()
{
	is "$1: nothing is changed" "$(everything)" "$before"
}

# ---- tables ----
no "a name too long" "$LONG" table add $LONG "${SET[@]}" max-flows 10
no "a name with a slash" "a/b" table add a/b "${SET[@]}" max-flows 10
no "a name of dots" "\.\." table add .. "${SET[@]}" max-flows 10
no "a name with a space" "a b" table add '"a b"' "${SET[@]}" max-flows 10
no "an empty name" "name" table add '""' "${SET[@]}" max-flows 10
no "no name" "[Nn]ame|NAME" table add
no "an unknown type" "\"?bag" table add t type bag key saddr max-flows 10
no "no type" "type" table add t key saddr max-flows 10
no "no key" "key" table add t type set max-flows 10
no "an unknown field" "colour" table add t type set key saddr,colour max-flows 10
no "a field twice" "saddr" table add t type set family ipv4 key saddr,saddr max-flows 10
no "a prefix too long" "33" table add t type set family ipv4 key saddr/33 max-flows 10
no "a prefix that is no number" "saddr/x" table add t type set family ipv4 key saddr/x max-flows 10
no "no max-flows" "max-flows" table add t "${SET[@]}"
no "max-flows 0" "max-flows|0" table add t "${SET[@]}" max-flows 0
no "max-flows 2^40" "1099511627776" table add t "${SET[@]}" max-flows 1099511627776
no "max-flows 2^64" "18446744073709551616" table add t "${SET[@]}" max-flows 18446744073709551616
no "max-flows -1" "-1" table add t "${SET[@]}" max-flows -1
no "max-flows that is no number" "many" table add t "${SET[@]}" max-flows many
for p in 0 1 nan NaN inf -0.5 1.5 100% 1e-400 x; do
	no "fpr $p" "$p" table add t "${SET[@]}" max-flows 10 fpr $p
done
no "a false positive rate that cannot be had" "fpr|false positive" \
	table add t "${SET[@]}" max-flows 1M fpr 1e-18
no "fpr of a table that makes no mistakes" "fpr" \
	table add t "${SET[@]}" keys on max-flows 10 fpr 0.1
no "9 subtables" "subtables|9" table add t "${SET[@]}" max-flows 10 subtables 9
no "0 subtables" "subtables|0" table add t "${SET[@]}" max-flows 10 subtables 0
no "no buckets" "buckets|0" table add t "${SET[@]}" max-flows 10 buckets 0
no "2^32 buckets" "buckets.*4294967296|4294967296" table add t "${SET[@]}" max-flows 10 buckets 4294967296
no "7 cells a bucket" "bucket-cells|7" table add t "${SET[@]}" max-flows 10 bucket-cells 7
no "cells of 17 bits" "a cell has 16 or 32 bits" table add t "${SET[@]}" max-flows 10 cell-bits 17
no "a counter as wide as the cell" "counter-bits|16" \
	table add t "${SET[@]}" max-flows 10 cell-bits 16 counter-bits 16
no "a geometry too small" "geometry" \
	table add t "${SET[@]}" max-flows 1000 subtables 2 buckets 4 bucket-cells 8
no "a secret too short" "secret|1234" table add t "${SET[@]}" max-flows 10 secret 1234
no "a secret of other letters" "secret|g" \
	table add t "${SET[@]}" max-flows 10 secret gggggggggggggggggggggggggggggggg
no "a timeout that is no time" "soon" table add t type flow key saddr max-flows 10 timeout soon
no "a negative timeout" "-5" table add t type flow key saddr max-flows 10 timeout -5
no "an unknown on-full" "panic" table add t type flow key saddr max-flows 10 on-full panic
no "an unknown family" "ipx" table add t type set family ipx key saddr max-flows 10
no "bidir without both ends" "bidir" table add t type flow key saddr max-flows 10 bidir on
no "an unknown word" "bananas" table add t "${SET[@]}" max-flows 10 bananas 7
no "a value missing" "max-flows" table add t "${SET[@]}" max-flows
no "a setting twice" "max-flows" table add t "${SET[@]}" max-flows 10 max-flows 20
no "a table that exists" "web.*exist|exist.*web" table add web type flow family inet key $FIVE max-flows 1000
no "a table that does not exist: show" "none" table show none
no "a table that does not exist: delete" "none" table delete none
no "a table that does not exist: flush" "none" table flush none
no "a table that does not exist: change" "none" table change none learn on
no "a table that does not exist: swap" "none" table swap web none
no "change of a set's timeout" "timeout|set" table change blocked timeout 5
unchanged tables

# ---- hooks ----
no "a hook of no table" "none" hook add none hook forward
no "an unknown hook" "sideways" hook add web hook sideways
no "no hook" "hook" hook add web
no "ingress without a device" "device" hook add web hook ingress
no "a device that is missing" "eth99" hook add web hook ingress device eth99
no "a device's name that is too long" "averyveryverylongdevicename" \
	hook add web hook ingress device averyveryverylongdevicename
no "a device for a hook that has none" "device" hook add web hook forward device gc
no "a priority that is no number" "high" hook add web hook forward priority high
no "a priority too large" "4294967296" hook add web hook forward priority 4294967296
no "an unknown verdict" "reject" hook add web hook input miss reject
no "a mark that is no number" "red" hook add web hook input hit mark red
no "a mark too wide" "0x100000000" hook add web hook input hit mark 0x100000000
no "a mask that is no number" "mask: \"x\"" hook add web hook input hit mark 1/x
no "a hook that exists" "exist|already" hook add web hook forward
no "delete of a hook that is not there" "no|not" hook delete web hook input
check "delete of it with -exist" d -exist hook delete web hook input
unchanged hooks

# ---- flows ----
T=(10.0.0.7:51234 203.0.113.9:443 proto tcp)
no "a flow of no table" "none" flow add none 192.0.2.1
no "a flow without a key" "[Kk]ey|KEY|saddr" flow add web
no "an address that does not parse" "300\.0\.0\.1" flow add blocked 300.0.0.1
no "an address cut short" "192\.0\.2" flow add blocked 192.0.2
no "a name for an address" "example" flow add blocked example.org
no "the other family" "2001:db8::1" flow add blocked 2001:db8::1
no "both families" "2001:db8::1" flow add web 10.0.0.7:1 "[2001:db8::1]:2" proto tcp
no "a field missing" "proto" flow add web 10.0.0.7:1 203.0.113.9:443
no "a port missing" "sport|port" flow add web 10.0.0.7 203.0.113.9:443 proto tcp
no "a field too many" "dport|port" flow add blocked 192.0.2.1 dport 80
no "a field twice" "proto" flow add web "${T[@]}" proto udp
no "a port too large" "65536" flow add web 10.0.0.7:65536 203.0.113.9:443 proto tcp
no "a port that is no number" "http" flow add web 10.0.0.7:1 203.0.113.9:http proto tcp
no "an unknown protocol" "tpc" flow add web 10.0.0.7:1 203.0.113.9:443 proto tpc
no "a protocol too large" "256" flow add web 10.0.0.7:1 203.0.113.9:443 proto 256
no "a prefix of another length" "24" flow add blocked 192.0.2.0/24
no "ICMP with ports" "icmp|port" flow add web 10.0.0.7:1 203.0.113.9:443 proto icmp
no "counters in a set" "packets" flow add blocked 192.0.2.2 packets 3
no "a count in a table with keys" "count" flow add web 10.0.0.8:1 203.0.113.9:2 proto udp count 5
no "a count of 0" "count|0" flow add blocked 192.0.2.2 count 0
no "packets that are no number" "few" flow add web 10.0.0.8:1 203.0.113.9:2 proto udp packets few
no "an unknown word" "bananas" flow add blocked 192.0.2.2 bananas
no "a flow that exists" "exist" flow add web "${T[@]}"
check "adding it with -exist" d -exist flow add web "${T[@]}"
no "delete of what is not there" "no|not" flow delete web 10.0.0.8:51234 203.0.113.9:443 proto tcp
check "delete of it with -exist" d -exist flow delete web 10.0.0.8:51234 203.0.113.9:443 proto tcp
no "delete from a set of what is not there" "no|not" flow delete blocked 192.0.2.2
check "delete of it with -exist" d -exist flow delete blocked 192.0.2.2
no "a fingerprint in a table with keys" "fingerprint|keys" flow delete web fingerprint 1:1
no "a fingerprint beyond the table" "fingerprint|bucket|ffffffff" \
	flow delete blocked fingerprint ffffffff:1
no "a fingerprint that does not parse" "zz" flow delete blocked fingerprint zz:1
no "test of an address that does not parse" "300\.0\.0\.1" flow test blocked 300.0.0.1
no "show of an address that does not parse" "300\.0\.0\.1" flow show web 300.0.0.1
no "show of a part of a key without keys" "blocked has no keys" flow show blocked 192.0.2.0/24
no "reset of a set" "blocked is a set" flow reset blocked
no "show of no table" "none" flow show none
no "top of no table" "none" top none count 1 interval 0.1
no "top of a set" "blocked.*(set|counters)" top blocked count 1 interval 0.1
no "a file that is missing" "$TMP/missing" flow add blocked file "$TMP/missing"
no "a file that is a folder" "$TMP" flow add blocked file "$TMP"
is "test of what is not there exits with 1" "$(d -q flow test blocked 192.0.2.2; echo $?)" 1
is "test in no table exits with 2" "$(d -q flow test none 192.0.2.2 2>/dev/null; echo $?)" 2
is "test of what is no key exits with 255" "$(d -q flow test blocked x 2>/dev/null; echo $?)" 255
unchanged flows

# ---- the command itself ----
no "an unknown object" "chair" -j chair show
no "an unknown command" "paint" table paint web
no "an unknown option" "-x" -x table show
refused "a namespace that is missing" "nowhere" dlcbf -n nowhere table show
refused "a batch file that is missing" "$TMP/missing" dlcbf -n "$G" -batch "$TMP/missing"
unchanged "the command"

# ---- save files ----
dlcbf -n "$G" save >"$TMP/saved"
lines=$(wc -l <"$TMP/saved")

# file WHAT PATTERN: what is in $TMP/bad is refused.
file()
{
	refused "restore: $1" "$2" dlcbf -n "$G" restore "$TMP/bad"
}

: >"$TMP/bad"
file "an empty file" "bad"
echo "dlcbf-save 2" >"$TMP/bad"
file "of another version" "bad:1.*version|version.*2"
sed '$d' "$TMP/saved" >"$TMP/bad"
file "without its end" "end|cut|truncated"
for n in 1 2 $((lines - 2)); do
	head -n "$n" "$TMP/saved" >"$TMP/bad"
	file "cut after line $n" "end|cut|truncated"
done
head -c $(($(wc -c <"$TMP/saved") / 2)) "$TMP/saved" >"$TMP/bad"
file "cut in a line" "bad"
sed "s/^end .*/end 99/" "$TMP/saved" >"$TMP/bad"
file "with another number of lines" "99|end"
for n in $(seq 2 $((lines - 1))); do
	sed "${n}s/\$/ bananas/" "$TMP/saved" >"$TMP/bad"
	file "a bad word in line $n" "bad:$n:.*bananas|bad:$n.*"
done
sed '2i flow add nothing 192.0.2.1' "$TMP/saved" | sed "s/^end .*/end $((lines - 1))/" >"$TMP/bad"
file "a flow before its table" "bad:2"
awk '/^flow add/ && !n++ { print } { print }' "$TMP/saved" | sed "s/^end .*/end $((lines - 1))/" >"$TMP/bad"
file "a flow twice" "bad:[0-9]+.*exist"
awk '/^table add/ && !n++ { print } { print }' "$TMP/saved" | sed "s/^end .*/end $((lines - 1))/" >"$TMP/bad"
file "a table twice" "bad:3"
sed 's/device [^ ]*//; s/hook forward/hook ingress device eth99/' "$TMP/saved" >"$TMP/bad"
file "a device that is missing" "bad:[0-9]+.*eth99"
head -c 100000 /dev/urandom >"$TMP/bad"
file "a file of something else" "bad:1"
unchanged "save files"
check "and the file itself can be restored" dlcbf -n "$G" restore "$TMP/saved"
unchanged "what was saved is what there was"

# ---- memory ----
no "a table beyond the namespace's limit" "memory" \
	table add t type flow family inet key $FIVE max-flows 1G
unchanged memory

# ---- messages that are not well formed ----
malformed=$(inside "$G" malformed 2>&1)
is "malformed: no message did what it should not, and none was taken" \
	"$(tail -n 1 <<<"$malformed" | grep -oE '[0-9]+ wrong')" "0 wrong"
printf '%s\n' "$malformed" | sed 's/^/# malformed: /'
unchanged "malformed messages"
exit 0
