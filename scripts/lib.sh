# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the scripts share: where things are kept and how a kernel is named.
# Sourced, never run.

# The tree's root, whatever the caller's working directory is.
# shellcheck disable=SC2034 # for the scripts that source this
TREE=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)

# Kernels and tools that were downloaded live outside of the tree: they are
# large, the same for every clone, and "make clean" must not cost a download.
CACHE=${NF_DLCBF_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/nf_dlcbf}

# The kernel series that are supported and tested, the default first.
# shellcheck disable=SC2034 # for the scripts that source this
SERIES="6.12 6.1"

die()
{
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# kernel_dir KERNEL: the folder that holds boot/vmlinuz-VERSION and
# lib/modules/VERSION. KERNEL is a series ("6.12") or such a folder.
kernel_dir()
{
	case $1 in
	*/*) printf '%s\n' "$1" ;;
	*) printf '%s\n' "$CACHE/kernels/$1" ;;
	esac
}

# kernel_release KERNEL: its full version, as "uname -r" prints it there.
# Empty output and failure when that kernel is not there.
kernel_release()
{
	local image

	for image in "$(kernel_dir "$1")"/boot/vmlinuz-*; do
		[ -e "$image" ] || return 1
		printf '%s\n' "${image##*/vmlinuz-}"
		return
	done
}

# kernel_build KERNEL: what to build a module for it against. A name that is not
# one of ours is a version that the machine may have headers for.
kernel_build()
{
	local release

	if release=$(kernel_release "$1"); then
		printf '%s\n' "$(kernel_dir "$1")/lib/modules/$release/build"
	else
		printf '%s\n' "/lib/modules/$1/build"
	fi
}

# Counting, for a part of scripts/check: step NAME COMMAND... for each thing
# that is checked, skip NAME WHY for what cannot be, and result at the end.
PASSED=0
FAILED=0
SKIPPED=0

step()
{
	local name=$1 out

	shift
	# What a command says matters when it fails.
	if out=$("$@" 2>&1 </dev/null); then
		PASSED=$((PASSED + 1))
		printf 'ok %d - %s\n' $((PASSED + FAILED)) "$name"
	else
		FAILED=$((FAILED + 1))
		printf '%s\n' "$out" | sed 's/^/# /'
		printf 'not ok %d - %s\n' $((PASSED + FAILED)) "$name"
	fi
}

skip()
{
	SKIPPED=$((SKIPPED + 1))
	printf 'SKIP: %s: %s\n' "$1" "$2"
}

result()
{
	printf '%d passed, %d failed, %d skipped\n' "$PASSED" "$FAILED" "$SKIPPED"
	[ "$FAILED" -eq 0 ]
}
