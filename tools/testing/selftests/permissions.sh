#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Who may do what: root, a user without privileges, and the root of a user
# namespace. And how much memory the tables of a network namespace may take.

# shellcheck source=tools/testing/selftests/lib.sh
. "$(dirname -- "$0")/lib.sh"
lab

FIVE=saddr,daddr,sport,dport,proto
SECRET=000102030405060708090a0b0c0d0e0f

# Somebody in G without any capability.
nobody()
{
	inside "$G" setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all \
		--inh-caps=-all "$@"
}

# shellcheck disable=SC2317 # called by refused
# Root of a user namespace that was made in the network namespace G: all
# capabilities there, but G is not its own.
stranger()
{
	inside "$G" unshare -Ur "$@"
}

# shellcheck disable=SC2317 # called by check
# Root of a user namespace with a network namespace of its own.
owner()
{
	inside "$G" unshare -Urn "$@"
}

# ---- a user without privileges ----
d table add s type set family ipv4 key saddr max-flows 1000 secret $SECRET
d table add f type flow family ipv4 key saddr max-flows 1000
d flow add s 192.0.2.1
d flow add f 192.0.2.1 packets 7 bytes 700
d hook add s hook forward hit drop
# All but how long flows were idle.
saved()
{
	d save | sed 's/ idle [^ ]*//'
}
before=$(saved)

DENIED="Operation not permitted"
while read -r words; do
	# shellcheck disable=SC2086 # a list of words
	refused "a user may not: $words" "$DENIED" nobody dlcbf $words
	# shellcheck disable=SC2086
	refused "nor may the root of a user namespace: $words" "$DENIED" stranger dlcbf $words
done <<-END
table add mine type set family ipv4 key saddr max-flows 10
table change f learn on
table flush s
table swap s f
table delete s
hook add f hook forward
hook show
hook delete s hook forward
flow add s 192.0.2.2
flow delete s 192.0.2.1
flow show f
flow test s 192.0.2.1
flow reset f
monitor
monitor table
monitor flow
save
END
is "nothing was changed" "$(saved)" "$before"

check "a user may see tables" nobody dlcbf -s table show
is "but not their secrets" "$(nobody dlcbf -s table show | grep -c "$SECRET")" 0
is "nor in JSON" "$(nobody dlcbf -j -s table show | grep -ci secret)" 0
is "nor in /proc" "$(inside "$G" sh -c 'cat /proc/net/nf_dlcbf/*/info' | grep -ci "$SECRET")" 0
is "the saved tables have the secret" "$(d save | grep -c "secret $SECRET")" 1
refused "a user cannot read flows in /proc" "Permission denied" \
	nobody cat /proc/self/net/nf_dlcbf/f/flows
check "a user can read tables in /proc" nobody cat /proc/self/net/nf_dlcbf/tables

# ---- a network namespace of one's own ----
# shellcheck disable=SC2016 # the inner shell expands it
check "its owner may make, fill and delete a table" owner sh -ec '
	dlcbf table add mine type set family ipv4 key saddr max-flows 10
	dlcbf hook add mine hook input
	dlcbf flow add mine 192.0.2.1
	dlcbf flow test mine 192.0.2.1
	test "$(dlcbf table show | grep -c ": type")" = 1
	dlcbf table delete mine'

# ---- memory ----
end_batches
unload_module
load_module memory_max=1
begin_batches
plan()
{
	dj table add x type flow family ipv4 key $FIVE max-flows "$1" dry-run
}
small=$(number "$(plan 8000)" memory)
is "two tables of 8000 flows fit in a MiB, three do not" \
	"$((2 * small <= 1048576 && 3 * small > 1048576))" 1
# shellcheck disable=SC2317 # called by check
table()
{
	d table add "$1" type flow family ipv4 key "$FIVE" max-flows 8000
}
check "the first table fits" table a
check "the second" table b
refused "the third is one too many, and max-flows is to blame" \
	"max-flows.*more memory than this namespace's tables may take" table c
is "nothing was made" "$(d table show | grep -c ': type')" 2
echo "192.0.2.9:1 198.51.100.1:2 proto udp" >"$TMP/list"
refused "a table that is to replace another counts too" "more memory" \
	dlcbf -n "$G" flow replace a file "$TMP/list"
check "what is deleted is given back" d table delete a
becomes "and can be had again" "" table c
d table delete b
check "with room for both a list is put in place of another" dlcbf -n "$G" flow replace c file "$TMP/list"
is "the list is in" "$(has c 192.0.2.9:1 198.51.100.1:2 proto udp)" yes
# shellcheck disable=SC2016 # the inner shell expands it
check "another namespace has its own share" owner sh -ec '
	FIVE=saddr,daddr,sport,dport,proto
	dlcbf table add a type flow family ipv4 key "$FIVE" max-flows 8000
	dlcbf table add b type flow family ipv4 key "$FIVE" max-flows 8000
	! dlcbf table add c type flow family ipv4 key $FIVE max-flows 8000 2>/dev/null'
is "which does not count here" "$(d table show | grep -c ': type')" 1
check "there is room for one more" table e
refused "and not for two" "more memory" table f
echo 2 >/sys/module/nf_dlcbf/parameters/memory_max
check "the limit can be raised" table f
exit 0
