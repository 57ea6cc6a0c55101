/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From a number of elements and a false positive rate to the shape of a filter,
 * and what to expect of it.
 */
#ifndef DLCBF_SIZING_H
#define DLCBF_SIZING_H

#include "dlcbf.h"

/* A false positive rate of 1: rates are integers in units of 10^-18. */
#define DLCBF_FPR_UNIT		1000000000000000000ULL

/* No overflow worth a number: less than 10^-1000 of it. */
#define DLCBF_OVERFLOW_NEVER	(-1000000)

/**
 * struct dlcbf_sizing_request - what a filter is wanted for
 * @max_elements: how many different elements it must hold at once, from 1
 * @fpr:          largest false positive rate to accept when that many are in,
 *                from 1 to DLCBF_FPR_UNIT - 1
 * @buckets:      0, or the buckets of each subtable
 * @subtables:    0, or d
 * @bucket_cells: 0, or the cells of a bucket
 * @cell_bits:    0, or the bits of a cell
 * @counter_bits: 0, or how many of them count
 *
 * What is 0 is chosen.
 */
struct dlcbf_sizing_request {
	u64 max_elements;
	u64 fpr;
	u32 buckets;
	u8 subtables;
	u8 bucket_cells;
	u8 cell_bits;
	u8 counter_bits;
};

/**
 * struct dlcbf_sizing - the answer
 * @geometry:          the filter to make
 * @fpr:               its false positive rate with max_elements in it
 * @bytes:             memory for its cells
 * @load_ppm:          part of its cells that max_elements occupy, in millionths
 * @overflow_mlog10:   1000 times the decimal logarithm of how many elements
 *                     are expected to find no room, of those present at a time
 *                     when max_elements come and go; DLCBF_OVERFLOW_NEVER if
 *                     smaller
 * @reason:            why the request is refused, a constant without newline;
 *                     NULL if it is not
 * @possible_fpr:      when refused: the smallest rate to be had for that many
 *                     elements, 0 if none is
 * @possible_elements: when refused: the largest number to be had at that rate,
 *                     0 if none is
 */
struct dlcbf_sizing {
	struct dlcbf_geometry geometry;
	u64 fpr;
	u64 bytes;
	u32 load_ppm;
	s32 overflow_mlog10;
	const char *reason;
	u64 possible_fpr;
	u64 possible_elements;
};

int dlcbf_size(const struct dlcbf_sizing_request *req, struct dlcbf_sizing *s);
u64 dlcbf_fpr(const struct dlcbf_geometry *g, u64 elements);
int dlcbf_predict_overflow(const struct dlcbf_geometry *g, u32 elements,
			   s32 *mlog10);
int dlcbf_predict_loads(const struct dlcbf_geometry *g, u32 used,
			u32 at_least_ppb[DLCBF_MAX_BUCKET_CELLS + 1]);

#endif /* DLCBF_SIZING_H */
