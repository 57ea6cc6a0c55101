#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Packets of every protocol, many of them cut or malformed, go through every
# hook, in both families and as frames of any kind. Nothing crashes, and every
# packet is in a flow or under a named reason.
#
#   C ---- G ---- S
#     cg gc  gs sg         nft counts the packets at each hook of G too

# shellcheck source=tools/testing/selftests/lib.sh
. "$(dirname -- "$0")/lib.sh"

ODD=${NF_DLCBF_ODD_PCAPS:-$TREE/../shared/pcaps/odd}
captures=("$ODD"/*cap*)
[ -e "${captures[0]}" ] || {
	skip "odd captures" "no captures in $ODD; give a folder in NF_DLCBF_ODD_PCAPS"
	printf '1..1\n'
	exit "$ksft_skip"
}
lab
echo "# ${#captures[@]} captures"

HOOKS="ingress prerouting input forward output postrouting"
FIVE=saddr,daddr,sport,dport,proto

# What is longer than a device's MTU cannot be sent.
ip -n "$C" link set cg mtu 65000
ip -n "$G" link set gc mtu 65000
ip -n "$G" link set gs mtu 65000
ip -n "$S" link set sg mtu 65000
# Everything is forwarded to S, or is for G itself, as "take" says.
ip -n "$G" route add default via 10.2.0.2
ip -n "$G" route add default via fd00:2::2
ip -n "$G" route add local default dev lo table 100
ip -n "$G" -6 route add local default dev lo table 100
# shellcheck disable=SC2016 # the inner shell expands it
inside "$G" sh -c 'cd /proc/sys/net/ipv4/conf; for f in */accept_local */route_localnet; do
	echo 1 >$f; done'

# take LOCAL|FORWARD
take()
{
	local family

	for family in -4 -6; do
		ip -n "$G" "$family" rule delete pref 10 2>/dev/null
		[ "$1" != local ] || ip -n "$G" "$family" rule add pref 10 iif gc lookup 100
	done
}

# Three tables at each hook: flows of both families; those of one, both
# directions in one; those of the other, with all that a key may have.
where()
{
	if [ "$1" = ingress ]; then
		echo "ingress device gc"
	else
		echo "$1"
	fi
}
chains=
for hook in $HOOKS; do
	rest=iif,mark,vlan
	case $hook in
	output | postrouting) rest=oif,mark,vlan ;;
	forward) rest=iif,oif,mark,vlan ;;
	esac
	d table add "$hook-both" type flow family inet key $FIVE max-flows 30000 learn on
	d table add "$hook-4" type flow family ipv4 key $FIVE bidir on max-flows 30000 learn on
	d table add "$hook-6" type flow family ipv6 key "$FIVE,$rest" max-flows 30000 learn on
	for table in both 4 6; do
		# shellcheck disable=SC2046 # two words
		d hook add "$hook-$table" hook $(where "$hook") priority 10 miss mark 1
	done
	if [ "$hook" != ingress ]; then
		chains+="chain $hook { type filter hook $hook priority 9; counter name $hook; }
"
	fi
done
is "three tables are at each hook" "$(d hook show | wc -l)" 18
inside "$G" nft -f - <<-END
table inet n {
	$(for hook in $HOOKS; do echo "counter $hook { }"; done)
	$chains
}
table netdev n {
	counter ingress { }
	chain ingress { type filter hook ingress device gc priority 9; counter name ingress; }
}
END

# nft_packets HOOK
nft_packets()
{
	local family=inet

	[ "$1" != ingress ] || family=netdev
	inside "$G" nft list counter $family n "$1" | grep -oE 'packets [0-9]+' | cut -d ' ' -f 2
}

# on_the_wire HOOK: what a table should count there. nft sees a datagram that was
# put together from fragments as one packet; a table counts the fragments. At
# ingress they are fragments for both, and there the tables say how many of them
# were not the first of their datagram. Half of what C sends is forwarded, half
# is for G, and G itself sends a third as much as C.
on_the_wire()
{
	local later part

	later=$(counters ingress-both fragment)
	case $1 in
	ingress) part=0 ;;
	prerouting) part=$later ;;
	input | forward) part=$((later / 2)) ;;
	output) part=$((later / 3)) ;;
	postrouting) part=$((later / 2 + later / 3)) ;;
	esac
	echo $(($(nft_packets "$1") + part))
}

# play WHAT ARGS...: replay out of C
play()
{
	local what=$1 out

	shift
	out=$(inside "$C" replay -i cg -m "$MAC_GC" -s "$MAC_CG" -c -r 20000 "$@" "${captures[@]}" 2>&1)
	is "$what: sent" "$(($(number "$out" sent) > 5000)) $(number "$out" refused) $(number "$out" dropped)" \
		"1 0 0"
	echo "# $what: $(tail -n 1 <<<"$out")"
}

for how in forward local; do
	take $how
	play "$how, frames as they are" -e
	play "$how, all that is no IP as IPv4" -x ip
	play "$how, all that is no IP as IPv6" -x ip6
done
out=$(inside "$G" replay -o -c -x ip "${captures[@]}" 2>&1)
is "G's own packets, IPv4: sent" "$(($(number "$out" sent) > 1000))" 1
echo "# $(tail -n 1 <<<"$out")"
out=$(inside "$G" replay -o -c -x ip6 "${captures[@]}" 2>&1)
is "G's own packets, IPv6: sent" "$(($(number "$out" sent) > 1000))" 1
echo "# $(tail -n 1 <<<"$out")"

# Until all that G had to say to that is said: its packets come to a rest.
now=
for ((n = 0; n < 20; n++)); do
	last=$now
	now=$(for hook in $HOOKS; do nft_packets "$hook"; done)
	[ "$now" != "$last" ] || break
	sleep 1
done

for hook in $HOOKS; do
	wanted=$(on_the_wire "$hook")
	is "$hook: there was something to see" "$((wanted > 1000))" 1
	for table in both 4 6; do
		is "$hook-$table: packets are those that nft counted" \
			"$(counters "$hook-$table" packets)" "$wanted"
		read -r seen sum <<<"$(account "$hook-$table")"
		is "$hook-$table: each is under one reason" "$sum" "$seen"
	done
	echo "# $hook-both: $(dj table show "$hook-both" | grep -oE '"stats":[^}]*')"
	# What the flows add up to is what hit or was learned.
	for table in both 4 6; do
		json=$(dj flow show "$hook-$table")
		is "$hook-$table: its flows have every packet that was counted" \
			"$(grep -oE '"packets": ?[0-9]+' <<<"$json" | awk -F ': ?' '{ s += $2 } END { print s + 0 }')" \
			"$(counters "$hook-$table" hit learned | awk '{ print $1 + $2 }')"
		is "$hook-$table: netlink and /proc list as many" \
			"$(inside "$G" cat "/proc/net/nf_dlcbf/$hook-$table/flows" | wc -l)" \
			"$(grep -oE '"packets": ?' <<<"$json" | wc -l)"
	done
done
json=$(dj table show ingress-both)
for reason in hit learned fragment truncated malformed not_ip; do
	is "ingress: there were packets under $reason" "$(($(number "${json#*\"stats\":}" $reason) > 0))" 1
done
exit 0
