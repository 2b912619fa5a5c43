"""Runs a command that may write files of so many bytes."""

import os
import resource
import signal
import sys

# Without the signal, a write beyond the limit fails as on a full disk.
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
size = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
os.execvp(sys.argv[2], sys.argv[2:])
