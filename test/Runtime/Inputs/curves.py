# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the files of curves in a folder: curves.py DIR. A line for each scalar: step, tag, value.

Lengths and checksums of records are checked, by a CRC-32C of its own.
"""

import pathlib
import struct
import sys

from crc import reflected_crc


def crc32c(data):
    return reflected_crc(data, 32, 0x82F63B78)


def masked(data):
    crc = crc32c(data)
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def records(content):
    at = 0
    while at < len(content):
        length, check = struct.unpack_from("<QI", content, at)
        data = content[at + 12 : at + 12 + length]
        (end,) = struct.unpack_from("<I", content, at + 12 + length)
        if check != masked(content[at : at + 8]) or end != masked(data):
            sys.exit(f"a checksum at byte {at} is wrong")
        yield data
        at += 16 + length


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def fields(data):
    """Numbers and values of the fields of a message."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 1:
            (value,) = struct.unpack_from("<d", data, at)
            at += 8
        elif key & 7 == 5:
            (value,) = struct.unpack_from("<f", data, at)
            at += 4
        else:
            length, at = varint(data, at)
            value = data[at : at + length]
            at += length
        yield key >> 3, value


def main():
    assert crc32c(b"123456789") == 0xE3069283
    for path in sorted(pathlib.Path(sys.argv[1]).iterdir(), key=lambda path: path.stat().st_mtime_ns):
        print("file")
        for record in records(path.read_bytes()):
            event = dict(fields(record))
            assert event[1] > 1.5e9, "seconds since 1970"
            if 3 in event:
                print("version", event[3].decode())
            if 7 in event:
                print("restart at step", event[2], dict(fields(event[7])))
            for number, value in fields(event.get(5, b"")):
                assert number == 1
                scalar = dict(fields(value))
                print(event[2], scalar[1].decode(), f"{scalar[2]:.9g}")


if __name__ == "__main__":
    main()
