/* SPDX-License-Identifier: GPL-2.0 */
#include "../dlcbf_shim.h"
