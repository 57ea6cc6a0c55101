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
# A series whose image is not there yet has the version that install-deps chose
# when it installed the headers, so that image and headers always match.
kernel_release()
{
	local image

	for image in "$(kernel_dir "$1")"/boot/vmlinuz-*; do
		if [ -e "$image" ]; then
			printf '%s\n' "${image##*/vmlinuz-}"
			return
		fi
	done
	cat "$CACHE/kernels/$1.release" 2>/dev/null
}
