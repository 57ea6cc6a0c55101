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

# is_own_kernel KERNEL: is it one that scripts/kernel builds?
is_own_kernel()
{
	case $1 in
	common | x86 | */* | "") return 1 ;;
	esac
	[ -f "$TREE/scripts/kconfig/$1" ]
}

# own_kernel_config NAME: what it is built with, less the comments.
own_kernel_config()
{
	local parts=(common)

	case $1 in
	uml) ;;
	uml-*) parts+=(uml) ;;
	*) parts+=(x86) ;;
	esac
	(cd "$TREE/scripts/kconfig" && cat "${parts[@]}" "$1") | sed '/^$/d; /^#/d'
	printf 'CONFIG_LOCALVERSION="-%s"\n' "$1"
}

# own_kernel_hash NAME: names a configuration.
own_kernel_hash()
{
	local sum

	sum=$(own_kernel_config "$1" | sha256sum)
	printf '%s\n' "${sum:0:12}"
}

# newest FILE...: the last in the order of versions of those that are there.
newest()
{
	local file

	for file in "$@"; do
		[ ! -e "$file" ] || printf '%s\n' "$file"
	done | sort -V | tail -n 1
}

# kernel_source: the folder that install-deps has unpacked the source to.
kernel_source()
{
	newest "$CACHE"/source/linux-*
}

# kernel_dir KERNEL: the folder that holds boot/vmlinuz-VERSION and
# lib/modules/VERSION. KERNEL is a series ("6.12"), a name that scripts/kernel
# knows, or such a folder.
kernel_dir()
{
	local dir

	if is_own_kernel "$1"; then
		dir=$(newest "$CACHE/kernels/$1"-*-"$(own_kernel_hash "$1")")
		printf '%s\n' "${dir:-$CACHE/kernels/$1}"
		return
	fi
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

# What a kernel says when it is not well. Each is a bug in something that the
# command did, even where the command itself did not notice.
SPLATS='------------\[ cut here \]|WARNING: |BUG: |kernel BUG at|Oops: |general protection fault'
SPLATS+='|Kernel panic|double fault:|Unable to handle kernel|unable to handle page fault'
SPLATS+='|INFO: rcu_|rcu: INFO:|rcu:.*detected.*stall|soft lockup|hard LOCKUP|INFO: task .* blocked'
SPLATS+='|possible (circular|recursive|irq lock)|inconsistent lock state|suspicious RCU usage'
SPLATS+='|INFO: trying to register non-static key|lock held when returning|DEBUG_LOCKS_WARN_ON'
SPLATS+='|scheduling while atomic|sleeping function called from invalid context'
SPLATS+='|refcount_t: |UBSAN: |KASAN: |KCSAN: |KMSAN: |ODEBUG: |kmemleak: [1-9]'
SPLATS+='|list_(add|del) corruption|corrupted|page allocation failure|vmalloc error'
SPLATS+='|unregister_netdevice: waiting for|Objects remaining|still has objects'
SPLATS+='|Out of memory: Killed'

# guest_job KERNEL [VAR[=VALUE]...] -- COMMAND [ARG...]: the command, quoted for
# the shell that reads it in the guest. VAR without a value has the one it has
# here, if any.
guest_job()
{
	local var

	printf 'cd %q || exit 125\n' "$TREE"
	printf 'export HOME=/root LANG=C.UTF-8\n'
	printf 'export NF_DLCBF_VM=%q NF_DLCBF_CACHE=%q\n' "$1" "$CACHE"
	shift
	while [ "$1" != -- ]; do
		var=$1
		shift
		case $var in
		*=*) printf 'export %s=%q\n' "${var%%=*}" "${var#*=}" ;;
		*) [ -z "${!var+set}" ] || printf 'export %s=%q\n' "$var" "${!var}" ;;
		esac
	done
	shift
	printf 'exec'
	printf ' %q' "$@"
	printf '\n'
}

# guest_status LOG STATUS SECONDS ALLOW_SPLAT: says what went wrong in a guest,
# and returns what its runner exits with. STATUS is the command's, or empty when
# it did not end; SECONDS is empty unless they were too few for it.
guest_status()
{
	local log=$1 status=$2

	if [ -n "$3" ]; then
		printf '%s: time-out after %s s\n' "${0##*/}" "$3" >&2
		status=124
	elif [ -z "$status" ]; then
		printf '%s: the guest died before the command ended\n' "${0##*/}" >&2
		status=125
	fi
	if [ -z "$4" ] && grep -qaE -- "$SPLATS" "$log"; then
		printf '%s: the kernel log has:\n' "${0##*/}" >&2
		# The lines after a splat say where it was.
		grep -aE -m 1 -A 30 -- "$SPLATS" "$log" >&2
		[ "$status" != 0 ] || status=126
	elif [ "$status" = 124 ] || [ "$status" = 125 ]; then
		printf "%s: the kernel's last words:\\n" "${0##*/}" >&2
		tail -n 20 "$log" >&2
	fi
	return "$status"
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
