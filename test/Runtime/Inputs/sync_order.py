"""Checks the order in which checkpoints become durable, in a log of sync_log.c.

usage: sync_order.py LOG PIECES ROWS

After a crash of the machine, a checkpoint has to be whole or without its index. So bytes are synced before they get a name, and before the
index gets its own, PIECES pieces have durable names, their folder too, and the rows in the file ROWS are synced. Of what is deleted, the index
goes first, durably.
"""

import os
import re
import sys

log, pieces, rows = sys.argv[1], int(sys.argv[2]), sys.argv[3]
dirty = set()  # Inodes with bytes that are not synced.
names = {}  # Of each folder: those that are not durable.
durable = {}  # Of each folder: those that are.
rows_synced = False
written, deleted = [], []


def check(holds, what):
    if not holds:
        sys.exit(f"{log}:{number}: {what}: {line}")


for number, line in enumerate(open(log), 1):
    line = line.rstrip("\n")
    action, *words = line.split(" ", 2)
    path = os.path.abspath(words[-1])
    folder, name = os.path.split(path)
    if action == "write":
        dirty.add(words[0])
    elif action == "sync":
        dirty.discard(words[0])
        rows_synced |= path == os.path.abspath(rows)
        durable.setdefault(path, set()).update(names.pop(path, set()))
    elif action == "make":
        names.setdefault(folder, set()).add(name)
    elif action == "name":
        check(words[0] not in dirty, "its bytes are not synced")
        if name == "index.json" and "step-" in folder:
            parent, step = os.path.split(folder)
            there = [file for file in durable.get(folder, ()) if re.fullmatch(r"rank-\d+\.safetensors", file)]
            check(len(there) == pieces, f"{len(there)} of {pieces} pieces are durable")
            check(step in durable.get(parent, ()), "its folder is not durable")
            check(rows_synced, "the rows are not synced")
            rows_synced = False
            written.append(folder)
        names.setdefault(folder, set()).add(name)
    elif action == "delete" and folder in written:
        if name == "index.json":
            # From here on a sync of the folder makes that durable.
            names.setdefault(folder, set()).add("no index")
        elif name.startswith("rank-"):
            check("no index" in durable[folder], "its index may still be there")
            deleted.append(folder)
for folder in written:
    if folder not in deleted:
        check("index.json" in durable[folder], f"the index of {folder} is not durable")
print(f"{len(written)} checkpoints were written in order, and {len(set(deleted))} deleted")
