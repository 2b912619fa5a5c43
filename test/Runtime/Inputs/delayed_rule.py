"""Checks the rule of pipedream-2bw (docs/asynchronous.md) by single steps of an ordinary program.

delayed_rule.py FACTOR ORDINARY DELAYED DATA...: both are compiled with sgd. One step of ORDINARY from parameters W subtracts
u(W). DELAYED has to have W(t+1) = W(t) - u(W(t-1)) - FACTOR (u(W(t-1)) - u(W(t-2))), with W(-1) = W(0), and without the last
term in its first step. Where FACTOR is 0, DELAYED has no error feedback."""

import json
import struct
import subprocess
import sys

FACTOR, (ORDINARY, DELAYED, *DATA) = float(sys.argv[1]), sys.argv[2:]
STEPS = 4


def train(artifact, path, steps, rate, *options):
    command = ["veeline", "train", artifact, *DATA, "--steps", steps, "--lr", rate, "--save", path, *options]
    subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL)


def read(path):
    """All elements, of f64."""
    data = open(path, "rb").read()
    size = struct.unpack("<Q", data[:8])[0]
    elements = []
    for name, entry in sorted(json.loads(data[8 : 8 + size]).items()):
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            elements += struct.unpack(f"<{(end - begin) // 8}d", data[8 + size + begin : 8 + size + end])
    return elements


factor = ["--error-feedback-factor", FACTOR] if FACTOR else []
train(ORDINARY, "w0.st", 1, 0)
for step in range(1, STEPS + 1):
    train(DELAYED, f"w{step}.st", step, 0.25, *factor)
values = [read(f"w{step}.st") for step in range(STEPS + 1)]
updates = []
for step in range(STEPS):
    train(ORDINARY, "after.st", 1, 0.25, "--init", f"w{step}.st")
    updates.append([old - new for old, new in zip(values[step], read("after.st"))])
for step in range(1, STEPS + 1):
    now, before = updates[max(step - 2, 0)], updates[max(step - 3, 0)]
    correction = FACTOR if step > 1 else 0
    for old, new, u, v in zip(values[step - 1], values[step], now, before):
        assert abs(old - u - correction * (u - v) - new) < 1e-15, (step, old, new, u, v)
assert max(map(abs, updates[0])) > 1e-3
print(f"{STEPS} steps follow the rule")
