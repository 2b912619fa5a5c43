"""Usage: pytorch.py compute_only|compute_comms FILE...
       pytorch.py lower FOLDER NAME.csv...

Checks schedules by the rules of PyTorch's torch.distributed.pipelining: the grammar of actions, what its validator asks of an order, and
what its runtime asks of communication. Where a PyTorch with that module is installed, its own loader and validator read the files, too.
`lower` writes compute-only orders with communication, as PyTorch adds it and writes files, to FOLDER/NAME.comms.csv.
"""

import csv
import re
import sys

ACTION = re.compile(r"(\d+)(F|I|B|W|UNSHARD|RESHARD|REDUCE_GRAD|SEND_F|RECV_F|SEND_B|RECV_B)(\d*)")
BLOCK = re.compile(r"\((.+);(.+)\)OVERLAP_F_B")
WORK = ("F", "I", "B", "W")


class Wrong(Exception):
    pass


def parse(cell):
    """The actions of a cell, as (chunk, kind, microbatch or None): none, one, or the two of a block."""
    cell = cell.strip()
    if not cell:
        return []
    parts = BLOCK.fullmatch(cell).groups() if cell.startswith("(") and BLOCK.fullmatch(cell) else [cell]
    actions = []
    for part in parts:
        match = ACTION.fullmatch(part.strip())
        if not match:
            raise Wrong(f"'{cell}' is no action")
        chunk, kind, microbatch = match.groups()
        if bool(microbatch) != (kind not in ("UNSHARD", "RESHARD", "REDUCE_GRAD")):
            raise Wrong(f"'{cell}' has a microbatch where none belongs, or none")
        actions.append((int(chunk), kind, int(microbatch) if microbatch else None))
    return actions


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return [[actions for actions in map(parse, row) if actions] for row in csv.reader(file)]


def check_order(rows):
    """One rank for each chunk; each F, and then B, or I and then W, once. Returns the rank of each chunk and the number of microbatches."""
    rank_of, done = {}, set()
    for rank, row in enumerate(rows):
        for chunk, kind, microbatch in (action for cell in row for action in cell):
            if rank_of.setdefault(chunk, rank) != rank:
                raise Wrong(f"chunk {chunk} is on ranks {rank_of[chunk]} and {rank}")
            if kind not in WORK:
                continue
            before = {"F": None, "B": "F", "I": "F", "W": "I"}[kind]
            if (chunk, kind, microbatch) in done or before and (chunk, before, microbatch) not in done:
                raise Wrong(f"{chunk}{kind}{microbatch} comes twice, or before {chunk}{before}{microbatch}")
            done.add((chunk, kind, microbatch))
    chunks, microbatches = max(rank_of) + 1, 1 + max(microbatch for _, _, microbatch in done)
    for chunk in range(chunks):
        for microbatch in range(microbatches):
            kinds = {kind for kind in WORK if (chunk, kind, microbatch) in done}
            if kinds not in ({"F", "B"}, {"F", "I", "W"}):
                raise Wrong(f"chunk {chunk}, microbatch {microbatch} has {sorted(kinds)}")
    return rank_of, microbatches


class Run:
    """Executes rows with communication as PyTorch's runtime does."""

    def __init__(self, rows, rank_of, microbatches):
        self.rows, self.rank_of, self.microbatches = rows, rank_of, microbatches
        self.at = [0] * len(rows)
        self.made, self.sent, self.received, self.used = set(), set(), set(), set()
        self.whole, self.finished, self.reduced = set(), {}, set()
        # Messages have no tags: the n-th of a pair of ranks is the n-th on both ends.
        self.sends, self.receives = {}, {}

    def other(self, chunk, kind):
        """The chunk that an F or a backward takes its input from; None where there is no such chunk, or it is on the same rank."""
        other = chunk - 1 if kind == "F" else chunk + 1
        return other if kind != "W" and other in self.rank_of and self.rank_of[other] != self.rank_of[chunk] else None

    def is_ready(self, chunk, kind, microbatch):
        if chunk not in self.whole:
            raise Wrong(f"{chunk}{kind}{microbatch} runs on a chunk that is not unsharded")
        other = self.other(chunk, kind)
        if other is None:
            # What it takes has to be made on this rank before.
            source = (chunk - 1, "F", microbatch) if kind == "F" else (chunk + 1, "B", microbatch)
            if kind != "W" and source[0] in self.rank_of and source not in self.made:
                raise Wrong(f"{chunk}{kind}{microbatch} runs before its input is made")
            return True
        key = (chunk, "F" if kind == "F" else "B", microbatch)
        if key not in self.received or key in self.used:
            raise Wrong(f"{chunk}{kind}{microbatch} runs without a receive of its own")
        return key in self.sent

    def message(self, chunk, kind, microbatch):
        """A message by the chunk that receives it."""
        what, direction = kind.split("_")
        step = 1 if direction == "F" else -1
        receiver = chunk + step if what == "SEND" else chunk
        if receiver - step not in self.rank_of or receiver not in self.rank_of:
            raise Wrong(f"{chunk}{kind}{microbatch} has no other end")
        ends = (self.rank_of[receiver - step], self.rank_of[receiver])
        key = (receiver, direction, microbatch)
        if what == "SEND":
            if (chunk, direction, microbatch) not in self.made:
                raise Wrong(f"{chunk}{kind}{microbatch} sends what is not made")
            self.sent.add(key)
            self.sends.setdefault(ends, []).append(key)
        else:
            if key in self.received:
                raise Wrong(f"{chunk}{kind}{microbatch} receives twice")
            self.received.add(key)
            self.receives.setdefault(ends, []).append(key)

    def work(self, chunk, kind, microbatch):
        if self.other(chunk, kind) is not None:
            self.used.add((chunk, "F" if kind == "F" else "B", microbatch))
        if kind != "W":
            self.made.add((chunk, "F" if kind == "F" else "B", microbatch))
        if kind in ("B", "W"):
            self.finished[chunk] = self.finished.get(chunk, 0) + 1

    def manage(self, chunk, kind):
        if kind == "UNSHARD":
            if chunk in self.whole:
                raise Wrong(f"chunk {chunk} is unsharded twice")
            self.whole.add(chunk)
        elif kind == "RESHARD":
            self.whole.remove(chunk)
        else:
            if self.finished.get(chunk) != self.microbatches or chunk in self.reduced:
                raise Wrong(f"{chunk}REDUCE_GRAD does not stand once, after all backwards")
            self.reduced.add(chunk)

    def step(self, rank):
        """Runs the next cell of a rank; whether it could."""
        if self.at[rank] == len(self.rows[rank]):
            return False
        cell = self.rows[rank][self.at[rank]]
        if not all([self.is_ready(*action) for action in cell if action[1] in WORK]):
            return False
        for chunk, kind, microbatch in cell:
            if kind in WORK:
                self.work(chunk, kind, microbatch)
            elif microbatch is None:
                self.manage(chunk, kind)
            else:
                self.message(chunk, kind, microbatch)
        self.at[rank] += 1
        return True

    def run(self):
        while any([self.step(rank) for rank in range(len(self.rows))]):
            pass
        waiting = [f"rank {rank} at {row[at]}" for rank, (row, at) in enumerate(zip(self.rows, self.at)) if at < len(row)]
        if waiting:
            raise Wrong(f"a deadlock: {', '.join(waiting)}")
        if self.sends != self.receives:
            raise Wrong("messages of two ranks are received in another order than sent, or not all of them")
        if self.whole or self.reduced != set(self.rank_of):
            raise Wrong("a chunk stays unsharded, or its gradients are not reduced")


def is_work(cell):
    return all(kind in WORK for _, kind, _ in cell)


def check(form, path):
    rows = read(path)
    rank_of, microbatches = check_order(rows)
    if form == "compute_comms":
        Run(rows, rank_of, microbatches).run()
    elif not all(is_work(cell) for row in rows for cell in row):
        raise Wrong("it has communication")


def load_torch():
    try:
        from torch.distributed.pipelining import schedules
        return schedules if hasattr(schedules, "_validate_schedule") and hasattr(schedules._ComputationType, "REDUCE_GRAD") else None
    except ImportError:
        return None


def check_by_torch(schedules, form, path):
    """PyTorch's own loader, which validates; without stages of a model."""
    rank_of, microbatches = check_order(read(path))
    runtime = object.__new__(schedules._PipelineScheduleRuntime)
    runtime._stages, runtime._num_stages = [], len(rank_of)
    runtime.pp_group_size, runtime._n_microbatches = 1 + max(rank_of.values()), microbatches
    runtime.pipeline_order = {}
    runtime._load_csv(path, format=form)
    runtime._simulate()


def lower(rows):
    """Whoever makes a value sends it, and the receive stands where the other rank is then."""
    rank_of, _ = check_order(rows)
    result, at, there = [[] for _ in rows], [0] * len(rows), set()
    needed = lambda chunk, kind, microbatch: (chunk, "F" if kind == "F" else "B", microbatch)
    waits = lambda chunk, kind: (chunk - 1 if kind == "F" else chunk + 1) in rank_of and kind != "W"
    while any(at[rank] < len(row) for rank, row in enumerate(rows)):
        for rank, row in enumerate(rows):
            if at[rank] == len(row) or not all(needed(*action) in there for action in row[at[rank]] if waits(*action[:2])):
                continue
            cell = [f"{chunk}{kind}{microbatch}" for chunk, kind, microbatch in row[at[rank]]]
            result[rank].append(cell[0] if len(cell) == 1 else f"({';'.join(cell)})OVERLAP_F_B")
            for chunk, kind, microbatch in row[at[rank]]:
                direction, target = ("F", chunk + 1) if kind == "F" else ("B", chunk - 1)
                if kind == "W" or target not in rank_of:
                    continue
                there.add((target, direction, microbatch))
                if rank_of[target] != rank:
                    result[rank].append(f"{chunk}SEND_{direction}{microbatch}")
                    result[rank_of[target]].append(f"{target}RECV_{direction}{microbatch}")
            at[rank] += 1
    return result


def main(form, *paths):
    if form == "lower":
        for path in paths[1:]:
            with open(f"{paths[0]}/{path.removesuffix('.csv')}.comms.csv", "w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows(lower(read(path)))
        return
    schedules = load_torch()
    for path in paths:
        try:
            check(form, path)
            if schedules:
                check_by_torch(schedules, form, path)
        except Wrong as error:
            sys.exit(f"{path}: {error}")
    print(f"{len(paths)} files are right by {'PyTorch' if schedules else 'the rules'}")


main(*sys.argv[1:])
