// SPDX-License-Identifier: GPL-2.0
/*
 * The command itself.  All of it is in the other files, so that tests can run
 * it against a kernel of their own.
 */
#include "dlcbf.h"

int main(int argc, char **argv)
{
	return run_main(argc, argv, &nl_kernel_ops);
}
