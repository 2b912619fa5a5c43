"""Runs a command that may have so many bytes of addresses."""

import os
import resource
import sys

size = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_AS, (size, size))
os.execvp(sys.argv[2], sys.argv[2:])
