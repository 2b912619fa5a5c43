# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checksums for other scripts, written here anew."""


def reflected_crc(data, bits, polynomial):
    """A cyclic redundancy check that takes the lowest bit first, and begins and ends with all bits turned."""
    ones = (1 << bits) - 1
    crc = ones
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (polynomial if crc & 1 else 0)
    return crc ^ ones
