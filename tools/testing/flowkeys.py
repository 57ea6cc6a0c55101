# SPDX-License-Identifier: GPL-2.0
"""Flows as the tools here name them, whatever counted them."""

import ipaddress
import sys

ICMP, IGMP, TCP, UDP, DCCP = 1, 2, 6, 17, 33
GRE, ESP, AH, ICMPV6, SCTP, UDPLITE = 47, 50, 51, 58, 132, 136

# As dlcbf prints them.
PROTO_NAMES = {
    ICMP: "icmp", IGMP: "igmp", 4: "ipip", TCP: "tcp", UDP: "udp", DCCP: "dccp", 41: "ipv6",
    GRE: "gre", ESP: "esp", AH: "ah", ICMPV6: "icmpv6", 89: "ospf", 103: "pim", 108: "comp",
    112: "vrrp", 115: "l2tp", SCTP: "sctp", UDPLITE: "udplite",
}
PROTO_NUMBERS = {name: number for number, name in PROTO_NAMES.items()}

WITH_PORTS = (TCP, UDP, DCCP, SCTP, UDPLITE)
WITH_SPI = (GRE, ESP, AH)

# Types of queries: their messages carry an identifier.
ICMP_QUERIES = (0, 8, 13, 14, 15, 16, 17, 18)
ICMPV6_QUERIES = (128, 129)

# Both directions of a query are one conversation, as those of a port are.
ICMP_REPLY_OF = {8: 0, 13: 14, 15: 16, 17: 18, 128: 129}


class Flow:
    """A flow's key, and what was counted of it.

    a and b are what a port is to TCP: for ICMP a is the identifier and b type
    and code, for ESP, AH and GRE both together are the SPI or key.
    """

    __slots__ = ("saddr", "daddr", "a", "b", "proto")

    def __init__(self, saddr, daddr, a, b, proto):
        self.saddr = ipaddress.ip_address(saddr)
        self.daddr = ipaddress.ip_address(daddr)
        self.a = a
        self.b = b
        self.proto = proto

    def key(self):
        return (self.saddr.version, self.saddr.packed, self.daddr.packed, self.a, self.b,
                self.proto)

    def __hash__(self):
        return hash(self.key())

    def __eq__(self, other):
        return self.key() == other.key()

    def __lt__(self, other):
        return self.key() < other.key()

    def one_way(self):
        """The same flow for both directions."""
        swapped = Flow(self.daddr, self.saddr, self.b, self.a, self.proto)
        if self.proto in (ICMP, ICMPV6):
            kind = ICMP_REPLY_OF.get(self.b >> 8, self.b >> 8) << 8 | self.b & 255
            this = Flow(self.saddr, self.daddr, self.a, kind, self.proto)
            swapped = Flow(self.daddr, self.saddr, self.a, kind, self.proto)
        elif self.proto in WITH_SPI:
            this = self
            swapped = Flow(self.daddr, self.saddr, self.a, self.b, self.proto)
        else:
            this = self
        return min(this, swapped)

    def __str__(self):
        """As dlcbf writes and reads it."""
        proto = "proto " + PROTO_NAMES.get(self.proto, str(self.proto))
        if self.proto in WITH_PORTS:
            form = "[{}]:{}" if self.saddr.version == 6 else "{}:{}"
            return (form.format(self.saddr, self.a) + " " + form.format(self.daddr, self.b) +
                    f" {proto}")
        text = f"{self.saddr} {self.daddr} {proto}"
        if self.proto in (ICMP, ICMPV6):
            text += f" type {self.b >> 8} code {self.b & 255} id {self.a}"
        elif self.proto in WITH_SPI:
            word = "gre-key" if self.proto == GRE else "spi"
            text += f" {word} 0x{self.a << 16 | self.b:08x}"
        return text

    def to_json(self):
        return [str(self.saddr), str(self.daddr), self.a, self.b, self.proto]

    @classmethod
    def from_words(cls, words):
        """A flow from the words of a line, of which it takes those that it knows.

        Returns the flow and a dictionary of the other words, two by two.
        """
        addresses = []
        value = {}
        words = iter(words)
        for word in words:
            if word[0].isdigit() or word[0] in "[:" or ":" in word:
                addresses.append(split_address(word))
            else:
                value[word] = next(words, "")
        (saddr, sport), (daddr, dport) = addresses
        proto = parse_proto(value.pop("proto"))
        return cls.from_parts(saddr, daddr, proto, {**value, "sport": sport, "dport": dport}), \
            value

    @classmethod
    def from_parts(cls, saddr, daddr, proto, value):
        """A flow from its fields; value may have sport, dport, id, type, code, spi, gre-key."""
        a, b = int(value.get("sport") or 0), int(value.get("dport") or 0)
        if "type" in value:
            a = int(value.get("id", 0))
            b = int(value["type"]) << 8 | int(value["code"])
        for word in ("spi", "gre-key", "gre_key"):
            if word in value:
                spi = value[word] if isinstance(value[word], int) else int(value[word], 0)
                a, b = spi >> 16, spi & 0xffff
        return cls(saddr, daddr, a, b, proto)


def parse_proto(text):
    if isinstance(text, int):
        return text
    return int(text) if text.isdigit() else PROTO_NUMBERS[text]


def split_address(text):
    """ADDRESS, ADDRESS:PORT or [ADDRESS]:PORT."""
    if text.startswith("["):
        address, _, port = text[1:].partition("]")
        return address, port[1:]
    if text.count(":") == 1:
        address, _, port = text.partition(":")
        return address, port
    return text, ""


def fail(text):
    print(f"{sys.argv[0].rsplit('/', 1)[-1]}: {text}", file=sys.stderr)
    sys.exit(2)
