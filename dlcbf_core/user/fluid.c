// SPDX-License-Identifier: GPL-2.0
/*
 * The fluid limit of d-left hashing, by integrating its differential equations
 * through time with the classical Runge-Kutta method.
 *
 * sizing.c comes to the equilibrium in an altogether different way.  That both
 * agree, and agree with the published figures and with the filter itself, is
 * what the tests check.
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "fluid.h"

/*
 * The rate of change.  Without churn one element comes in a unit of time, so
 * that time is the number of those that are in.  With churn each goes at the
 * rate 1, and as many come.
 */
static void derive(const struct fluid *f, bool churn,
		   long double ds[FLUID_MAX_D][FLUID_MAX_PLACES + 2])
{
	long double come[FLUID_MAX_D][FLUID_MAX_PLACES + 2];
	long double in = 0, out = 0, scale;
	int i, k, l;

	for (i = 0; i < f->d; i++) {
		for (k = 1; k <= f->places; k++) {
			const long double (*s)[FLUID_MAX_PLACES + 2] =
				f->at_least;
			long double p = s[i][k - 1] - s[i][k];

			for (l = 0; l < f->d; l++)
				if (l != i)
					p *= s[l][l < i ? k : k - 1];
			come[i][k] = p;
			in += p;
			out += s[i][k];
		}
	}

	scale = (churn ? out : 1) / in;
	for (i = 0; i < f->d; i++) {
		for (k = 1; k <= f->places; k++) {
			const long double *s = f->at_least[i];

			ds[i][k] = scale * come[i][k];
			if (churn)
				ds[i][k] -= k * (s[k] - s[k + 1]);
		}
	}
}

static void add(struct fluid *f, const struct fluid *to, long double by,
		long double ds[FLUID_MAX_D][FLUID_MAX_PLACES + 2])
{
	int i, k;

	for (i = 0; i < f->d; i++)
		for (k = 1; k <= f->places; k++)
			f->at_least[i][k] = to->at_least[i][k] + by * ds[i][k];
}

static void step(struct fluid *f, bool churn, long double dt)
{
	long double a[FLUID_MAX_D][FLUID_MAX_PLACES + 2];
	long double b[FLUID_MAX_D][FLUID_MAX_PLACES + 2];
	long double c[FLUID_MAX_D][FLUID_MAX_PLACES + 2];
	long double e[FLUID_MAX_D][FLUID_MAX_PLACES + 2];
	struct fluid at = *f;
	int i, k;

	derive(&at, churn, a);
	add(&at, f, dt / 2, a);
	derive(&at, churn, b);
	add(&at, f, dt / 2, b);
	derive(&at, churn, c);
	add(&at, f, dt, c);
	derive(&at, churn, e);

	for (i = 0; i < f->d; i++)
		for (k = 1; k <= f->places; k++)
			f->at_least[i][k] += dt / 6 * (a[i][k] + 2 * b[i][k] +
						       2 * c[i][k] + e[i][k]);
}

void fluid_fill(struct fluid *f, int d, int places, long double load)
{
	const int steps = 40 * d * places;
	int i;

	memset(f, 0, sizeof(*f));
	f->d = d;
	f->places = places;
	f->load = load;
	for (i = 0; i < d; i++)
		f->at_least[i][0] = 1;
	for (i = 0; i < steps; i++)
		step(f, false, load / steps);
}

void fluid_churn(struct fluid *f, long double lifetimes)
{
	/* The fastest thing that happens is an arrival in a d-tuple. */
	const long double dt = .5L / (f->load + f->places);
	const int steps = ceill(lifetimes / dt);
	int i;

	for (i = 0; i < steps; i++)
		step(f, true, dt);
}

long double fluid_sum(const struct fluid *f, int k)
{
	long double sum = 0;
	int i;

	for (i = 0; i < f->d; i++)
		sum += f->at_least[i][k];
	return sum;
}

long double fluid_mean(const struct fluid *f, int k)
{
	return fluid_sum(f, k) / f->d;
}
