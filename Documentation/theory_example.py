#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The worked example of theory.md: a filter so small that it can be drawn.

Hash, fingerprint and choice of buckets are those of the module (key.h, dlcbf.h),
for a table with "family ipv4 key saddr" and the secret 000102...0f. Only the
bucket of two cells is smaller than the module makes them.
"""

NB, D, CELLS = 5, 2, 2          # buckets in a subtable, subtables, cells
REMAINDER_BITS, COUNTER_BITS = 4, 2
MAX_R = 2 ** REMAINDER_BITS - 1
FULL = 2 ** COUNTER_BITS        # copies that one cell can count
SPREAD = (0, 0x6A09E667F3BCC909)
SECRET = bytes(range(16))
U64 = 2 ** 64 - 1


def siphash24(key, message):
    def rotate(x, n):
        return (x << n | x >> 64 - n) & U64

    def rounds(n):
        for _ in range(n):
            v[0] = v[0] + v[1] & U64
            v[1] = rotate(v[1], 13) ^ v[0]
            v[0] = rotate(v[0], 32)
            v[2] = v[2] + v[3] & U64
            v[3] = rotate(v[3], 16) ^ v[2]
            v[0] = v[0] + v[3] & U64
            v[3] = rotate(v[3], 21) ^ v[0]
            v[2] = v[2] + v[1] & U64
            v[1] = rotate(v[1], 17) ^ v[2]
            v[2] = rotate(v[2], 32)

    k = [int.from_bytes(key[i:i + 8], "little") for i in (0, 8)]
    v = [k[0] ^ 0x736F6D6570736575, k[1] ^ 0x646F72616E646F6D,
         k[0] ^ 0x6C7967656E657261, k[1] ^ 0x7465646279746573]
    whole = len(message) // 8 * 8
    last = message[whole:].ljust(7, b"\0") + bytes([len(message) & 255])
    for i in range(0, whole + 8, 8):
        word = int.from_bytes((message[:whole] + last)[i:i + 8], "little")
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 255
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def scale(x, n):
    return (x & 0xFFFFFFFF) * n >> 32


def fingerprint(host):
    """(b, r) of 192.0.2.HOST"""
    h = siphash24(SECRET, bytes((192, 0, 2, host)) + bytes(4))
    return scale(h >> 32, NB), 1 + scale(h, MAX_R)


def g(i, r):
    return scale((r * SPREAD[i] & U64) >> 32, NB)


def buckets(f):
    """the bucket of f in each subtable"""
    return [(f[0] + g(i, f[1])) % NB for i in range(D)]


# table[i][bucket] is a list of [remainder, copies]
table = [[[] for _ in range(NB)] for _ in range(D)]


def cells_of(f):
    return [(i, cell) for i, b in enumerate(buckets(f))
            for cell in table[i][b] if cell[0] == f[1]]


def insert(f):
    room = [c for _, c in cells_of(f) if c[1] < FULL]
    if room:
        room[0][1] += 1
        return
    load, i = min((len(table[i][b]), i) for i, b in enumerate(buckets(f)))
    assert load < CELLS, "no room"
    table[i][buckets(f)[i]].append([f[1], 1])


def remove(f):
    i, cell = min(cells_of(f), key=lambda found: found[1][1])
    cell[1] -= 1
    if not cell[1]:
        table[i][buckets(f)[i]].remove(cell)


def draw(title):
    print(f"\n{title}")
    print("bucket:   " + "".join(f"{b:^13}" for b in range(NB)))
    for i, name in enumerate(("left", "right")):
        row = ""
        for bucket in table[i]:
            cells = [f"{r}x{n}" for r, n in bucket] + ["."] * (CELLS - len(bucket))
            row += "[" + "|".join(f"{c:^5}" for c in cells) + "]"
        print(f"{name:<9} {row}")


def say(verb, host):
    f = fingerprint(host)
    print(f"{verb} 192.0.2.{host}: f = {f}, buckets {buckets(f)}, "
          f"{'found' if cells_of(f) else 'not found'}")
    return f


assert siphash24(SECRET, bytes(range(15))) == 0xA129CA6149BE45E5

print("g_1:", {r: g(1, r) for r in range(1, MAX_R + 1)})
members = (1, 14, 5, 4, 13, 21, 39, 11)
for member in members:
    insert(say("add", member))
draw("after eight additions")
for other in (2, 17, 7):
    say("look up", other)

fingerprints = NB * MAX_R
print(f"\nF = {NB} x {MAX_R} = {fingerprints}, "
      f"P = 1 - (1 - 1/F)^8 = {1 - (1 - 1 / fingerprints) ** 8:.4f}")
stored = {fingerprint(m) for m in members}
others = [h for h in range(256) if h not in members]
wrong = [h for h in others if fingerprint(h) in stored]
print(f"of the {len(others)} other addresses of 192.0.2.0/24, {len(wrong)} are "
      f"reported: {len(wrong) / len(others):.4f}")

remove(say("\ndelete", 14))
draw("without 192.0.2.14")
for member in members:
    print(member, "found" if cells_of(fingerprint(member)) else "not found", end="; ")
print()

for _ in range(4):
    insert(fingerprint(5))
draw("192.0.2.5 added four more times: 5 in all")
for _ in range(2):
    remove(fingerprint(5))
draw("and deleted twice")
