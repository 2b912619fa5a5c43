# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How far apart colours are, as people with and without colour blindness see them, and whether text can be read."""

import itertools
import math

# Linear light as it looks to people who lack one kind of cone: Machado, Oliveira and Fernandes (2009), severity 1.
SIGHTS = {
    "all": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def channels(color):
    return [int(color[at:at + 2], 16) / 255 for at in (1, 3, 5)]


def linear(color):
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels(color)]


def lab(light):
    """CIELAB of linear sRGB, under D65."""
    r, g, b = (min(max(c, 0), 1) for c in light)
    xyz = ((0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047, 0.2126729 * r + 0.7151522 * g + 0.0721750 * b,
           (0.0193339 * r + 0.1191920 * g + 0.9503041 * b) / 1.08883)
    x, y, z = (c ** (1 / 3) if c > 0.008856 else 7.787 * c + 16 / 116 for c in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def difference(first, second, sight):
    """About 2 can just be seen side by side (CIE 1976)."""
    seen = [lab([sum(m * c for m, c in zip(row, linear(color))) for row in SIGHTS[sight]]) for color in (first, second)]
    return math.dist(*seen)


def mixed(first, second, share):
    return "#" + "".join(f"{round(255 * (a + share * (b - a))):02x}" for a, b in zip(channels(first), channels(second)))


def least_difference(palette):
    """Between any two roles, in any shade, and the lane; and between which."""
    shades = [(role, mixed(first, last, share)) for role, (first, last) in palette["roles"].items() for share in (0, 0.5, 1)]
    return min((difference(a, b, sight), f"{one} and {other} for {sight}")
               for (one, a), (other, b) in itertools.combinations([*shades, ("lane", palette["lane"])], 2) if one != other
               for sight in SIGHTS)


def contrast(first, second):
    """As WCAG 2 defines it."""
    luminances = sorted(sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear(color))) for color in (first, second))
    return (luminances[1] + 0.05) / (luminances[0] + 0.05)


def unreadable(palette):
    """Text below 4.5 : 1, and lines below 3 : 1."""
    pairs = [(text, ground, 4.5) for text in ("text", "faint") for ground in ("page", "raised", "lane")]
    pairs += [("hint-text", "hint", 4.5)] + [(line, "page", 3) for line in ("accent", "limit", "path", "memory-line")]
    return [f"{one} on {other}" for one, other, least in pairs if contrast(palette[one], palette[other]) < least]
