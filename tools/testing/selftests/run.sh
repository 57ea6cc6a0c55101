#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# run.sh [-l] [SCRIPT|1/2|2/2]...: runs the selftests, each in a shell of its
# own, as root and in a kernel that may be given modules.
#
# Ends with "N passed, N failed, N skipped", where each check of each script
# counts, and fails when one of them did.

set -u
cd -- "$(dirname -- "$0")" || exit 1

TIMEOUT=${NF_DLCBF_TEST_TIMEOUT:-900}

all()
{
	local script

	for script in *.sh; do
		case $script in
		lib.sh | run.sh) ;;
		*) printf '%s\n' "$script" ;;
		esac
	done
}

# half N: every second script.
half()
{
	all | awk -v n="$1" 'NR % 2 == n % 2'
}

scripts=()
while [ "$#" -gt 0 ]; do
	case $1 in
	-l) all; exit 0 ;;
	1/2 | 2/2) mapfile -t -O "${#scripts[@]}" scripts < <(half "${1%/2}") ;;
	*) scripts+=("${1##*/}") ;;
	esac
	shift
done
[ "${#scripts[@]}" -gt 0 ] || mapfile -t scripts < <(all)

[ "$(id -u)" = 0 ] || {
	echo "SKIP: selftests: they need root, to make network namespaces"
	echo "0 passed, 0 failed, 1 skipped"
	exit 4
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0
failed=0
skipped=0
for script in "${scripts[@]}"; do
	echo "# $script"
	start=$SECONDS
	timeout -k 10 "$TIMEOUT" bash "./$script" </dev/null 2>&1 | tee "$log"
	status=${PIPESTATUS[0]}
	p=$(grep -c '^ok ' "$log")
	f=$(grep -c '^not ok ' "$log")
	s=$(grep -c '^ok .* # SKIP' "$log")
	# A script that ends in another way than by its own count is a failure.
	if [ "$f" = 0 ] && ! { [ "$status" = 0 ] || [ "$status" = 4 ]; }; then
		echo "not ok - $script ended with status $status"
		f=1
	elif [ $((p + f)) = 0 ]; then
		echo "not ok - $script checked nothing"
		f=1
	fi
	echo "# $script: $((p - s)) passed, $f failed, $s skipped ($((SECONDS - start)) s)"
	passed=$((passed + p - s))
	failed=$((failed + f))
	skipped=$((skipped + s))
	# The next script must not suffer for what this one left behind.
	if [ "$f" != 0 ]; then
		for ns in $(ip netns list | awk '/^[a-z]+-[0-9]+/ { print $1 }'); do
			ip netns pids "$ns" | xargs -r kill -9
			ip netns delete "$ns"
		done
		[ ! -d /sys/module/nf_dlcbf ] || rmmod nf_dlcbf
	fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
