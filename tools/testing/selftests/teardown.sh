#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Tables, devices, the namespace and the module go while packets come as fast as
# they can be sent, in both families, and while others read.

# shellcheck source=tools/testing/selftests/lib.sh
. "$(dirname -- "$0")/lib.sh"
ROUNDS=${ROUNDS:-10}
# Devices that flood sends out of go, see sender.c.
export SENDER_QDISC=1
lab

# The kernel patches its code when the first hook of a kind comes and the last
# one goes. An emulated CPU may trip over that under load, so these stay.
inside "$C" nft -f - <<-END
	table netdev stay {
		chain i { type filter hook ingress device lo priority 0; }
	}
	table inet stay {
		chain p { type filter hook prerouting priority 0; }
		chain f { type filter hook forward priority 0; }
	}
END

start_traffic()
{
	flood4 -f 3000 -n 0 >/dev/null 2>&1 &
	flood6 -f 3000 -n 0 >/dev/null 2>&1 &
}

stop_traffic()
{
	pkill -x flood
	# The shell says nothing of them.
	wait %?flood4 %?flood6 2>/dev/null
}

# Readers go on until the file is there. What they read must be whole lines.
# shellcheck disable=SC2016 # the inner shell expands it
start_readers()
{
	rm -f "$TMP/enough" "$TMP/garbage"
	inside "$G" sh -c '
		while [ ! -e "$0/enough" ]; do
			cat /proc/self/net/nf_dlcbf/*/flows /proc/self/net/nf_dlcbf/tables \
				/proc/self/net/nf_dlcbf/*/info /proc/self/net/nf_dlcbf/*/buckets \
				2>/dev/null >"$0/read"
			grep "^family=" "$0/read" | grep -vE \
				"^family=ipv[46] saddr=[0-9a-f.:]+ daddr=[0-9a-f.:]+( [a-z]+=[^ ]+)*$" \
				>>"$0/garbage"
		done' "$TMP" &
	sh -c 'while [ ! -e "$0/enough" ]; do dlcbf -n "$1" flow show t >/dev/null 2>&1; done' \
		"$TMP" "$G" &
}

stop_readers()
{
	: >"$TMP/enough"
	wait %?start_readers 2>/dev/null
	sleep 2
	is "readers saw only whole lines" "$(head -n 3 "$TMP/garbage" 2>/dev/null)" ""
}

FLOW="type flow family inet key saddr,daddr,sport,dport,proto max-flows 4000 learn on timeout 1s"

start_traffic
start_readers

rounds=0
worked=0
while [ "$rounds" -lt "$ROUNDS" ]; do
	rounds=$((rounds + 1))
	full=drop-new
	[ $((rounds % 2)) = 0 ] || full=evict
	# shellcheck disable=SC2086 # a list of words
	d table add t $FLOW on-full $full &&
		d table add u $FLOW &&
		d table add b type set family inet key saddr,daddr max-flows 4000 keys on learn on &&
		d hook add t hook prerouting &&
		d hook add t hook ingress device gc &&
		d hook add b hook forward hit drop &&
		d table flush t && d table swap t u && d table flush b &&
		d table delete t && d table delete b && d table delete u &&
		worked=$((worked + 1))
done
is "tables are made, hooked, flushed, swapped and deleted, $ROUNDS times" "$worked" "$ROUNDS"
is "none is left" "$(d table show; d hook show)" ""

# Not only when nothing was learned yet.
# shellcheck disable=SC2086
d table add t $FLOW
d hook add t hook prerouting
learned=0
for ((n = 0; n < 100 && learned == 0; n++)); do
	learned=$(counters t learned)
done
is "packets are learned meanwhile" "$((learned > 0))" 1
check "a table full of flows is deleted" d table delete t

# ---- a device ----
worked=0
# shellcheck disable=SC2086
d table add t $FLOW
for ((n = 0; n < ROUNDS; n++)); do
	ip -n "$G" link add p0 type veth peer name p1 || break
	ip -n "$G" link set p0 up
	ip -n "$G" link set p1 up
	d hook add t hook ingress device p1 || break
	inside "$G" flood -i p0 -f 100 -n 0 >/dev/null 2>&1 &
	sleep 0.05
	ip -n "$G" link delete p0 || break
	[ -z "$(d hook show t)" ] || break
	worked=$((worked + 1))
done
is "a device goes under traffic, and its hook with it, $ROUNDS times" "$worked" "$ROUNDS"
stop_readers

# ---- the module ----
end_batches
worked=0
for ((n = 0; n < 5; n++)); do
	# shellcheck disable=SC2086
	dlcbf -n "$G" -exist table add t $FLOW || break
	dlcbf -n "$G" hook add t hook prerouting || break
	dlcbf -n "$G" hook add t hook ingress device gc || break
	sleep 0.2
	unload_module || break
	load_module || break
	worked=$((worked + 1))
done
is "the module goes under traffic, with tables and hooks, five times" "$worked" 5

# ---- the namespace ----
# shellcheck disable=SC2086
dlcbf -n "$G" table add t $FLOW
dlcbf -n "$G" hook add t hook prerouting
dlcbf -n "$G" hook add t hook ingress device gc
check "the namespace goes under traffic" ip netns delete "$G"
stop_traffic
becomes "and its table with it" 0 sh -c 'grep -c nf_dlcbf_ /proc/vmallocinfo || :'
exit 0
