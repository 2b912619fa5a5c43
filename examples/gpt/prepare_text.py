#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes one plain text file for byte training out of text that Debian ships.

Without sources it takes the licence texts of base-files, which every Debian system
has. A source is a text file, a gzip file (.gz), or a directory of such files.
"""

import argparse
import gzip
import math
import pathlib
import sys
import zlib
from collections import Counter

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from output_file import write_output  # noqa: E402

DEFAULT_SOURCE = "/usr/share/common-licenses"


def files_of(source):
    """The files that `source` names, in an order that is the same everywhere."""
    path = pathlib.Path(source)
    if not path.is_dir():
        return [path]
    # Links are other names of a file that is there already (GPL of GPL-3).
    return sorted((entry for entry in path.iterdir() if entry.is_file() and not entry.is_symlink()),
                  key=lambda entry: entry.name)


def read_text(path):
    """The bytes of one text file with Unix line ends, unpacked where it is packed."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    data = data.replace(b"\r\n", b"\n").strip(b"\n")
    if b"\0" in data:
        raise ValueError("not a text: it holds a zero byte")
    return data + b"\n" if data else b""


def byte_entropy(text):
    """Nats per byte of a model that knows only how frequent each byte is."""
    return -sum(count / len(text) * math.log(count / len(text))
                for count in Counter(text).values())


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="*", metavar="SOURCE", default=[DEFAULT_SOURCE],
                        help=f"files or directories of text (default: {DEFAULT_SOURCE})")
    parser.add_argument("-o", "--output", metavar="FILE", help="write to FILE, not to standard output")
    options = parser.parse_args()

    texts = []
    for source in options.sources:
        try:
            files = files_of(source)
        except OSError as error:
            parser.exit(1, f"{parser.prog}: error: cannot list '{source}': {error.strerror}\n")
        for path in files:
            try:
                texts.append(read_text(path))
            except (OSError, EOFError, ValueError, zlib.error) as error:
                reason = getattr(error, "strerror", None) or str(error)
                parser.exit(1, f"{parser.prog}: error: cannot read '{path}': {reason}\n")
    text = b"\n".join(part for part in texts if part)
    if not text:
        parser.exit(1, f"{parser.prog}: error: no text in {', '.join(options.sources)}\n")
    write_output(options.output, text)
    print(f"{len(text)} bytes, {len(set(text))} different, "
          f"{byte_entropy(text):.3f} nats a byte by their frequencies", file=sys.stderr)


if __name__ == "__main__":
    main()
