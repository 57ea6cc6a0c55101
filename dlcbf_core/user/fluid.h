/* SPDX-License-Identifier: GPL-2.0 */
#ifndef DLCBF_FLUID_H
#define DLCBF_FLUID_H

#define FLUID_MAX_D		8
#define FLUID_MAX_PLACES	34

/**
 * struct fluid - a d-left hash table of infinitely many buckets
 * @load:     elements for each d-tuple of buckets
 * @at_least: [i][k] is the part of subtable i's buckets with k or more
 * @d:        subtables
 * @places:   places of a bucket; who finds none goes away
 */
struct fluid {
	long double load;
	long double at_least[FLUID_MAX_D][FLUID_MAX_PLACES + 2];
	int d;
	int places;
};

/* Put @load elements for each d-tuple of buckets into an empty table. */
void fluid_fill(struct fluid *f, int d, int places, long double load);

/* Then let random ones go and new ones come for so many lifetimes of one. */
void fluid_churn(struct fluid *f, long double lifetimes);

/* the part of all buckets that has @k or more */
long double fluid_mean(const struct fluid *f, int k);

/* the sum over subtables of the part of the buckets that has @k or more */
long double fluid_sum(const struct fluid *f, int k);

#endif /* DLCBF_FLUID_H */
