// SPDX-License-Identifier: GPL-2.0
#include "dlcbf_shim.h"

unsigned long dlcbf_shim_warnings;
long dlcbf_shim_alloc_fail_at;
