"""What the scripts under bench/ share."""

import os
import pathlib
import random
import statistics
import struct
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Debian's PyTorch belongs to Debian's Python.
PYTHON_WITH_TORCH = "/usr/bin/python3"

median = statistics.median


def run(command, **options):
    """Returns the standard output of the command; ends the script if the command fails."""
    result = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, text=True, **options)
    if result.returncode != 0:
        sys.exit(f"bench: {' '.join(map(str, command))} failed with exit code {result.returncode}")
    return result.stdout


def write_indices(path, shape, limit, seed):
    """Writes a .npy file of random int32 below `limit`."""
    rng = random.Random(seed)
    header = f"{{'descr': '<i4', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    values = [rng.randrange(limit) for _ in range(shape[0] * shape[1])]
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}i", *values))


def pin(cores):
    """A preexec_fn that keeps a process on `cores`."""
    return lambda: os.sched_setaffinity(0, cores)


def machine():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return f"{line.split(':', 1)[1].strip()}, {len(os.sched_getaffinity(0))} cores"
    return "unknown machine"


def has_torch():
    return subprocess.run([PYTHON_WITH_TORCH, "-c", "import torch"], capture_output=True).returncode == 0


def torch_seconds(model, core, *flags):
    """Seconds of the steps that bench/`model`/torch_step.py takes on one thread."""
    output = run([PYTHON_WITH_TORCH, ROOT / "bench" / model / "torch_step.py", *flags], preexec_fn=pin([core]),
                 env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})
    return [float(line) for line in output.split()]
