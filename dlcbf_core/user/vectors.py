#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""vectors.py: prints kunit/dlcbf_vectors.h, the known answers of the hashing.

Written from the definition, with integers that cannot overflow, and from
nothing in dlcbf.h: the constants, too, are computed here.
"""

from math import isqrt

PRIMES = (2, 3, 5, 7, 11, 13, 17)
# g_0 is 0; the others multiply by the fraction of a square root, made odd.
SPREAD = [0] + [isqrt(p << 128) % 2**64 | 1 for p in PRIMES]

# (buckets, bits of the remainder, hash)
CASES = [
    (2048, 14, 0),
    (2048, 14, 2**64 - 1),
    (2048, 14, 2**32 - 1),
    (2048, 14, 2**64 - 2**32),
    (2048, 14, 0xf2a74de452e6b438),
    (2048, 14, 0x6513270e269e0d37),
    (1, 8, 0x1818e811892f902b),
    (37, 8, 0x0fd630f1f29d0da9),
    (3000, 15, 0xe8e25d940ed90475),
    (1756, 30, 2**64 - 1),
    (1756, 30, 0x6b0d549b6f03675a),
    (2**20, 29, 0x8d116ece1738f7d9),
    (2**26 - 5, 28, 0xa170b33839263059),
    (2**25, 31, 0x90c192cfd3ac94af),
    (2**25, 31, 2**64 - 1),
]


def main():
    print("""\
/* SPDX-License-Identifier: GPL-2.0 */
/* Made by dlcbf_core/user/vectors.py: do not edit. */
#ifndef DLCBF_VECTORS_H
#define DLCBF_VECTORS_H

/* A hash, its fingerprint, and the bucket of that in each subtable */
static const struct dlcbf_vector {
	u32 buckets;
	u8 remainder_bits;
	u64 hash;
	struct dlcbf_fingerprint f;
	u32 bucket[DLCBF_MAX_SUBTABLES];
} dlcbf_vectors[] = {""")
    for buckets, bits, value in CASES:
        b = (value >> 32) * buckets >> 32
        r = 1 + (value % 2**32 * (2**bits - 1) >> 32)
        where = [(b + (r * k % 2**64 // 2**32 * buckets >> 32)) % buckets
                 for k in SPREAD]
        print("\t{")
        print(f"\t\t{buckets}, {bits}, 0x{value:016x}ULL, {{ {b}, {r} }},")
        print(f"\t\t{{ {', '.join(map(str, where[:4]))},")
        print(f"\t\t  {', '.join(map(str, where[4:]))} }},")
        print("\t},")
    print("""\
};

#endif /* DLCBF_VECTORS_H */""")


if __name__ == "__main__":
    main()
