# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the selftests share. Sourced by each, never run.
#
# A selftest says "lab", or loads the module itself, then checks one thing after
# the other, and ends. Each check is one line of TAP. When the script ends, its
# namespaces and the module go, and four more checks follow: that nothing of the
# module's memory is left, that the module can be unloaded, that the kernel
# logged nothing bad, and that the script came to its end.
#
#                        the lab
#   +------------+    +-------------------+    +------------+
#   | C          |    | G                 |    |          S |
#   |         cg |----| gc             gs |----| sg         |
#   +------------+    +-------------------+    +------------+
#     10.1.0.2      10.1.0.1        10.2.0.1      10.2.0.2
#     fd00:1::2     fd00:1::1       fd00:2::1     fd00:2::2
#
# G forwards 198.18.0.0/15 and fd00:18::/32 to S, which takes in none of it, and
# answers to 10.16.0.0/12 and fd00:16::/32 to C. Neighbours are written down, and
# nobody says anything by himself: what a table counts is what a test sent.

set -u

TREE=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../../.." && pwd -P)
PATH=$TREE/build/tools/dlcbf:$TREE/build/testing:$TREE/tools/testing:$PATH
export PYTHONDONTWRITEBYTECODE=1
KO=${NF_DLCBF_KO:-$TREE/build/$(uname -r)/nf_dlcbf.ko}

# Exit status of a test that could do nothing, as kselftest has it.
ksft_skip=4

passed=0
failed=0
skipped=0
TMP=
# What a command printed last, see eventually().
got=

# The namespaces' names are this script's own.
C=c-$$
G=g-$$
S=s-$$
MAC_CG=02:00:00:00:01:02
MAC_GC=02:00:00:00:01:01
MAC_GS=02:00:00:00:02:01
MAC_SG=02:00:00:00:02:02
# shellcheck disable=SC2034 # for the tests
UDP4=ip:saddr=10.16.0.1,daddr=198.18.0.1/udp:sport=1000,dport=2000/72
# shellcheck disable=SC2034
UDP6=ip6:saddr=fd00:16::1,daddr=fd00:18::1/udp:sport=1000,dport=2000/52

# ---- results ----

ok()
{
	passed=$((passed + 1))
	printf 'ok %d %s\n' $((passed + failed + skipped)) "$1"
}

# not_ok WHAT [DETAILS]
not_ok()
{
	failed=$((failed + 1))
	printf 'not ok %d %s\n' $((passed + failed + skipped)) "$1"
	[ -z "${2-}" ] || printf '%s\n' "$2" | head -n 40 | sed 's/^/#   /'
}

# skip WHAT WHY
skip()
{
	skipped=$((skipped + 1))
	printf 'ok %d %s # SKIP %s\n' $((passed + failed + skipped)) "$1" "$2"
	printf 'SKIP: %s: %s\n' "$1" "$2"
}

# is WHAT GOT WANTED
is()
{
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		not_ok "$1" "got:
$2
wanted:
$3"
	fi
}

# check WHAT COMMAND...: it succeeds.
check()
{
	local what=$1 out

	shift
	if out=$("$@" 2>&1); then
		ok "$what"
	else
		not_ok "$what" "status $? of: $*
$out"
	fi
}

# refused WHAT PATTERN COMMAND...: it fails, and says something like PATTERN.
refused()
{
	local what=$1 pattern=$2 out status

	shift 2
	out=$("$@" 2>&1)
	status=$?
	if [ "$status" = 0 ]; then
		not_ok "$what" "this succeeded: $*
$out"
	elif [ "$status" -gt 128 ] && [ "$status" != 255 ]; then
		not_ok "$what" "killed by a signal: $*"
	elif ! grep -qE -- "$pattern" <<<"$out"; then
		not_ok "$what" "said: $out
wanted: $pattern"
	else
		ok "$what"
	fi
}

# eventually WANTED COMMAND...: whether it prints WANTED within two seconds;
# what it printed last is in $got.
eventually()
{
	local wanted=$1 n

	shift
	for ((n = 0; n < 20; n++)); do
		got=$("$@" 2>&1)
		[ "$got" != "$wanted" ] || return 0
		sleep 0.1
	done
	return 1
}

# becomes WHAT WANTED COMMAND...
becomes()
{
	local what=$1 wanted=$2

	shift 2
	eventually "$wanted" "$@" || :
	is "$what" "$got" "$wanted"
}

# ---- the module ----

# load_module [PARAMETER=VALUE]...
# shellcheck disable=SC2120 # most give none
load_module()
{
	local needed

	[ -f "$KO" ] || { not_ok "there is a module to test" "no $KO"; exit 1; }
	for needed in $(modinfo -F depends "$KO" | tr , ' '); do
		modprobe "$needed"
	done
	insmod "$KO" "$@"
}

unload_module()
{
	local n

	# A namespace is taken apart after "ip netns delete" has returned.
	for ((n = 0; n < 100; n++)); do
		[ -d /sys/module/nf_dlcbf ] || return 0
		rmmod nf_dlcbf 2>/dev/null && return 0
		sleep 0.1
	done
	rmmod nf_dlcbf
}

# The command in the gateway. To start a program takes a tenth of a second on an
# emulated machine, so one process in batch mode stays for all commands without
# options, and one for those with -j.

# batch NAME OPTIONS...: start it; its ends are the files NAME_IN and NAME_OUT.
batch()
{
	local name=$1 in out

	shift
	rm -f "$TMP/$name-in" "$TMP/$name-out"
	mkfifo "$TMP/$name-in" "$TMP/$name-out"
	dlcbf -n "$G" "$@" -force -batch - <"$TMP/$name-in" >"$TMP/$name-out" 2>&1 &
	exec {in}>"$TMP/$name-in" {out}<"$TMP/$name-out"
	printf -v "${name}_IN" %d "$in"
	printf -v "${name}_OUT" %d "$out"
}

# ask IN OUT WORDS...: what the process says to that.
ask()
{
	local in=$1 out=$2 status=0 line

	shift 2
	# A command that does not exist marks the end of the answer.
	printf '%s\nthe-end\n' "$*" >&"$in"
	while read -r line <&"$out"; do
		case $line in
		'Error: object "the-end"'*)
			read -r line <&"$out"
			return "$status"
			;;
		'Command failed -:'*) status=2 ;;
		*) printf '%s\n' "$line" ;;
		esac
	done
	echo "dlcbf ended by itself after: $*"
	return 3
}

# d WORDS...
d()
{
	case $1 in
	-*) dlcbf -n "$G" "$@" ;;
	*) ask "$BATCH_IN" "$BATCH_OUT" "$@" ;;
	esac
}

# dj WORDS...: in JSON
dj()
{
	ask "$JSON_IN" "$JSON_OUT" "$@"
}

# has TABLE KEY...: yes or no
has()
{
	if d flow test "$@" >/dev/null; then
		echo yes
	else
		echo no
	fi
}

# After the module or the namespace was changed for another.
begin_batches()
{
	batch BATCH
	batch JSON -j
}

end_batches()
{
	[ -n "${BATCH_IN-}" ] || return 0
	exec {BATCH_IN}>&- {BATCH_OUT}<&- {JSON_IN}>&- {JSON_OUT}<&-
	BATCH_IN=
}

# number JSON NAME: the first number of that name.
number()
{
	[[ $1 =~ \"$2\":\ ?(-?[0-9.e-]+) ]] && printf '%s\n' "${BASH_REMATCH[1]}"
}

# numbers JSON NAME...: those, on one line.
numbers()
{
	local json=$1 name line=

	shift
	for name; do
		[[ $json =~ \"$name\":\ ?(-?[0-9.e-]+) ]] || return
		line+=" ${BASH_REMATCH[1]}"
	done
	printf '%s\n' "${line# }"
}

# stat TABLE NAME...: what the table says of itself.
stat()
{
	local json

	json=$(dj table show "$1") || return
	shift
	# "flows" and others are said of the table, and come before its counters.
	numbers "$json" "$@"
}

# counters TABLE NAME...: of its statistics, whose names may be others' too.
counters()
{
	local json

	json=$(dj table show "$1") || return
	shift
	numbers "${json#*\"stats\":}" "$@"
}

# All flows of a table, but for what depends on the time.
flows()
{
	local line

	d flow show "$@" | while read -r line; do
		[[ $line =~ \ idle\ [^\ ]+ ]] && line=${line/"${BASH_REMATCH[0]}"}
		[[ $line =~ \ timeout\ [^\ ]+ ]] && line=${line/"${BASH_REMATCH[0]}"}
		printf '%s\n' "$line"
	done | LC_ALL=C sort
}

# is_flows WHAT TABLE: standard input has the flows that there should be.
is_flows()
{
	local wanted

	wanted=$(LC_ALL=C sort)
	eventually "$wanted" flows "$2" || :
	is "$1" "$got" "$wanted"
}

# reasons TABLE: "packets" and the sum of what each packet was counted under.
account()
{
	local json name sum=0

	json=$(dj table show "$1")
	json=${json#*\"stats\":}
	for name in hit learned miss refused fragment truncated malformed not_ip \
			other_family neighbour; do
		sum=$((sum + $(number "$json" "$name")))
	done
	printf '%s %s\n' "$(number "$json" packets)" "$sum"
}

# ---- the lab ----

# inside NAMESPACE COMMAND...
inside()
{
	local ns=$1

	shift
	nsenter --net="/run/netns/$ns" "$@"
}

# quiet NAMESPACE: the kernel in it does not speak unless spoken to.
# shellcheck disable=SC2016 # the inner shell expands it
quiet()
{
	inside "$1" sh -c '
	cd /proc/sys/net
	for f in ipv4/conf/all/rp_filter ipv4/conf/default/rp_filter \
		ipv6/conf/all/accept_dad ipv6/conf/default/accept_dad \
		ipv6/conf/default/router_solicitations; do
		echo 0 >$f
	done
	# Reports of group membership are over in a moment, not in two seconds.
	echo 1 >ipv6/conf/default/mldv2_unsolicited_report_interval
	echo 1 >ipv6/conf/default/mldv1_unsolicited_report_interval
	echo 0 >ipv4/conf/all/send_redirects
	echo 0 >ipv4/conf/default/send_redirects'
}

lab()
{
	local ns

	# shellcheck disable=SC2119
	[ -d /sys/module/nf_dlcbf ] || load_module || {
		not_ok "the module can be loaded" "insmod $KO failed"
		exit 1
	}
	TMP=$(mktemp -d)
	for ns in "$C" "$G" "$S"; do
		ip netns add "$ns"
		quiet "$ns"
	done
	ip -batch - <<-END
	link add name cg netns $C address $MAC_CG type veth peer name gc netns $G address $MAC_GC
	link add name sg netns $S address $MAC_SG type veth peer name gs netns $G address $MAC_GS
	END
	ip -n "$C" -batch - <<-END
	link set lo up
	link set cg addrgenmode none up
	addr add 10.1.0.2/24 dev cg
	addr add fd00:1::2/64 dev cg nodad
	neigh add 10.1.0.1 lladdr $MAC_GC dev cg nud permanent
	neigh add fd00:1::1 lladdr $MAC_GC dev cg nud permanent
	route add default via 10.1.0.1
	route add default via fd00:1::1
	END
	ip -n "$S" -batch - <<-END
	link set lo up
	link set sg addrgenmode none up
	addr add 10.2.0.2/24 dev sg
	addr add fd00:2::2/64 dev sg nodad
	neigh add 10.2.0.1 lladdr $MAC_GS dev sg nud permanent
	neigh add fd00:2::1 lladdr $MAC_GS dev sg nud permanent
	route add default via 10.2.0.1
	route add default via fd00:2::1
	END
	ip -n "$G" -batch - <<-END
	link set lo up
	link set gc addrgenmode none up
	link set gs addrgenmode none up
	addr add 10.1.0.1/24 dev gc
	addr add fd00:1::1/64 dev gc nodad
	addr add 10.2.0.1/24 dev gs
	addr add fd00:2::1/64 dev gs nodad
	neigh add 10.1.0.2 lladdr $MAC_CG dev gc nud permanent
	neigh add fd00:1::2 lladdr $MAC_CG dev gc nud permanent
	neigh add 10.2.0.2 lladdr $MAC_SG dev gs nud permanent
	neigh add fd00:2::2 lladdr $MAC_SG dev gs nud permanent
	route add 198.18.0.0/15 via 10.2.0.2
	route add fd00:18::/32 via fd00:2::2
	route add 10.16.0.0/12 via 10.1.0.2
	route add fd00:16::/32 via fd00:1::2
	END
	inside "$G" sh -c 'cd /proc/sys/net; echo 1 >ipv4/ip_forward; echo 1 >ipv6/conf/all/forwarding'
	# Until the last of what the kernel had to say of itself is out: reports of
	# group membership are sent twice, and late on a busy machine.
	sleep 2
	trap finish EXIT
	begin_batches
	begin_craft
}

# Python takes a second to start on an emulated machine: one process sends all.
begin_craft()
{
	mkfifo "$TMP/craft-in" "$TMP/craft-out"
	inside "$C" craft -i cg -m "$MAC_GC" - <"$TMP/craft-in" >"$TMP/craft-out" &
	exec {CRAFT_IN}>"$TMP/craft-in" {CRAFT_OUT}<"$TMP/craft-out"
}

# send PACKET...: from C to G, see craft. What went out is in $sent.
send()
{
	echo "$*" >&"$CRAFT_IN"
	# shellcheck disable=SC2034 # for the tests
	read -r sent <&"$CRAFT_OUT" || { not_ok "craft can send" "$*"; exit 1; }
}

# Packets that S has received.
arrived()
{
	local json

	json=$(ip -n "$S" -s -j link show sg)
	numbers "${json#*\"rx\":}" packets
}

# start_sink ARGS...: counts what S receives; end_sink prints what that was.
start_sink()
{
	rm -f "$TMP/sink-ready"
	inside "$S" sink -i sg -r "$TMP/sink-ready" "$@" >"$TMP/sink" 2>&1 &
	SINK=$!
	local n
	for ((n = 0; n < 100; n++)); do
		[ ! -e "$TMP/sink-ready" ] || return 0
		sleep 0.05
	done
	not_ok "sink is ready" "$(cat "$TMP/sink")"
	exit 1
}

end_sink()
{
	wait "$SINK"
	cat "$TMP/sink"
}

# flood ARGS... from C to G
flood4()
{
	inside "$C" flood -i cg -m "$MAC_GC" "$@"
}

flood6()
{
	inside "$C" flood -6 -i cg -m "$MAC_GC" "$@"
}

# ---- the end ----

# What a kernel says when it is not well.
BAD='cut here|WARNING:|BUG:|Oops|general protection|Unable to handle|rcu.*(stall|INFO)'
BAD+='|soft lockup|blocked for more than|refcount_t|UBSAN|KASAN|KCSAN|ODEBUG|corruption'
BAD+='|possible (circular|recursive)|inconsistent lock|suspicious RCU|still has objects'
BAD+='|unregister_netdevice: waiting|Objects remaining|scheduling while atomic'
LOG_BEGAN=$(dmesg | wc -l)

finish()
{
	local status=$? pids ns bad

	trap - EXIT
	end_batches
	pids=$(jobs -p)
	# shellcheck disable=SC2086 # a list of numbers
	[ -z "$pids" ] || kill $pids 2>/dev/null
	wait 2>/dev/null
	for ns in "$C" "$G" "$S" ${OTHER_NAMESPACES-}; do
		[ ! -e "/run/netns/$ns" ] || ip netns delete "$ns"
	done
	if [ -d /sys/module/nf_dlcbf ]; then
		eventually 0 sh -c 'grep -c nf_dlcbf /proc/vmallocinfo' || :
		is "all memory of tables is given back" "$got" 0
		check "the module can be unloaded" unload_module
	fi
	bad=$(dmesg | tail -n +$((LOG_BEGAN + 1)) | grep -E -A 12 "$BAD")
	is "the kernel log has no warning" "$bad" ""
	[ -z "$TMP" ] || rm -rf "$TMP"
	if [ "$status" = "$ksft_skip" ] && [ "$failed" = 0 ]; then
		printf '1..%d\n' $((passed + failed + skipped))
		exit "$ksft_skip"
	fi
	is "the test came to its end" "$status" 0
	printf '1..%d\n' $((passed + failed + skipped))
	[ "$failed" = 0 ]
	exit
}

echo "TAP version 13"
