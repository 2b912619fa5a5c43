# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Output of the example scripts: a file is there whole or not at all."""

import os
import sys
import tempfile


def write_output(path, data):
    """Writes the bytes `data` to the file `path`, or to standard output where it is None.

    Ends the program with a message and status 1 where that fails.
    """
    try:
        if path is None:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        elif os.path.exists(path) and not os.path.isfile(path):
            # A device or a pipe must not be replaced by a file.
            with open(path, "wb") as file:
                file.write(data)
        else:
            _replace(os.path.realpath(path), data)
    except BrokenPipeError:
        # Who reads has enough; keep the interpreter from flushing once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        name = "standard output" if path is None else f"'{path}'"
        if path is None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(f"{os.path.basename(sys.argv[0])}: error: cannot write {name}: {error.strerror}")


def _replace(path, data):
    handle, temporary = tempfile.mkstemp(prefix=os.path.basename(path) + ".",
                                         dir=os.path.dirname(path))
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
