# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where each rank of a run comes to rest when one of them stops at a certain call of its step.

A model of what the ranks of an artifact wait for. Before an operation its receives are
posted; where the sender computes straight into the receiver's memory, it waits for that
before it computes; else when it sends, as shapes, parameters and the first message of a
step always are. A rank that has ended a step goes on to the next one.
"""

import collections


def describe(op):
    text = op["kind"]
    if op["chunk"] >= 0:
        text += f" of chunk {op['chunk']}"
    return text + (f", microbatch {op['microbatch']}" if op["microbatch"] >= 0 else "")


class Program:
    """The ranks of all replicas, in the order stages-first."""

    def __init__(self, program):
        self.replicas, stages = program["replicas"], len(program["ranks"])
        widths = program.get("stage_replicas") or [1] * stages
        self.stage_of = [stage for stage, width in enumerate(widths) for _ in range(width)] * self.replicas
        self.channels, self.ops, self.posts, self.reductions = [], [], [], []
        for replica in range(self.replicas):
            self.channels += [{**channel, "from_rank": channel["from_rank"] + replica * stages,
                               "to_rank": channel["to_rank"] + replica * stages} for channel in program["channels"]]
            for rank in program["ranks"]:
                self.add_rank(rank, replica * len(program["channels"]))

    def add_rank(self, rank, first_channel):
        ops = [{**op, "channel": op["channel"] + first_channel if op["channel"] >= 0 else -1} for op in rank["ops"]]
        first_ops = {region["name"]: region["first_op"] for region in rank["regions"] if region["kind"] == "message"}
        posts = collections.defaultdict(list)
        for number, op in enumerate(ops):
            if op["kind"] == "recv":
                channel = self.channels[op["channel"]]
                edge = channel["edge"]
                if channel["kind"].startswith("param-"):
                    edge += 1 + max(other["edge"] for other in self.channels if other["kind"] == "activation")
                what = "shape" if channel["kind"] == "shape" else "message"
                region = f"{what} of edge {edge} m{max(op['microbatch'], 0)}"
                posts[first_ops.get(region, number)].append(op["channel"])
        self.ops.append(ops)
        self.posts.append(posts)
        self.reductions.append(rank["reductions"])

    def members(self, rank):
        return [other for other, stage in enumerate(self.stage_of) if stage == self.stage_of[rank]]


class Steps:
    """A step and the next one. Messages are computed into the receiver's memory ("direct"), or sent when it is posted
    ("copied") or at once ("buffered", "lazy"). Gradients are added up when all have posted them, or when
    all wait for them ("lazy": by MPI a rank helps when it calls).
    """

    def __init__(self, program, victim, function, index, count, sends):
        self.program, self.victim, self.sends = program, victim, sends
        self.function, self.index, self.count = function, index, count
        self.counts = collections.Counter()  # Of posts, acquires, commits and waits of channels and reductions.
        # The step that a rank is in, 0 or 1, and the operation that it is at or before.
        self.at = [(0, 0)] * len(program.ops)
        ranks = {rank: self.run_rank(rank) for rank in range(len(program.ops))}
        waits = {rank: next(run) for rank, run in ranks.items()}
        while True:
            ready = [rank for rank, (_, is_ready) in waits.items() if is_ready()]
            if not ready:
                break
            for rank in ready:
                waits[rank] = next(ranks[rank])
        self.places = {rank: (self.at[rank][0], text) for rank, (text, _) in waits.items()}

    def call(self, rank, function, index):
        """True where the victim makes the call at which it stops."""
        if (rank, function, index) == (self.victim, self.function, self.index):
            self.count -= 1
        return self.count == 0 and rank == self.victim

    def run_rank(self, rank):
        """Yields what the rank waits for, and when it can go on."""
        for step in range(2):
            for text, is_ready, calls in self.waits(rank, step):
                yield text, is_ready
                if any(self.call(rank, *call) for call in calls):
                    yield "has stopped", lambda: False
            self.at[rank] = (step, len(self.program.ops[rank]))
        yield "is at the end of its step", lambda: False

    def waits(self, rank, step):
        """(what is waited for, whether it is there, the calls after it) of a rank's step."""
        ops, no_wait = self.program.ops[rank], ("", lambda: True)
        first = -self.first_channel(rank)
        for number, op in enumerate(ops):
            self.at[rank] = (step, number)
            for channel in self.program.posts[rank][number]:
                yield *no_wait, [("veeline_recv_post", channel + first)]
                self.counts["post", channel] += 1
            for channel in self.computed_channels(rank, number):
                yield from self.acquire(rank, f"is before {describe(op)}", channel)
            yield *no_wait, [("veeline_op_begin", number)]
            yield from self.inside(rank, op)
            yield *no_wait, [("veeline_op_end", number)]

    def inside(self, rank, op):
        channel, place = op["channel"], f"is at {describe(op)}"
        first = -self.first_channel(rank)
        no_wait = ("", lambda: True)
        if op["kind"] == "send":
            if not self.is_direct(channel):
                yield from self.acquire(rank, place, channel)
            yield *no_wait, [("veeline_send_commit", channel + first)]
            sent = self.counts["commit", channel] + 1
            yield (f"{place}, and {self.describe_channel(rank, channel)}", lambda: self.is_posted(channel, sent), [])
            self.counts["commit", channel] += 1
        elif op["kind"] == "recv":
            yield *no_wait, [("veeline_recv_wait", channel + first)]
            self.counts["wait", channel] += 1
            awaited = self.counts["wait", channel]
            yield (f"{place}, and {self.describe_channel(rank, channel)}",
                   lambda: self.counts["commit", channel] >= awaited, [])
        elif op["kind"] == "all-reduce":
            yield *no_wait, [("veeline_reduce_post", op["reduction"])]
            self.counts["reduce", rank, op["reduction"]] += 1
        elif op["kind"] == "all-reduce-wait":
            yield *no_wait, [("veeline_reduce_wait", op["reduction"])]
            self.counts["reduce-wait", rank, op["reduction"]] += 1
            needed = "reduce-wait" if self.sends == "lazy" else "reduce"
            awaited = self.counts["reduce-wait", rank, op["reduction"]]
            yield (f"{place}, and {self.describe_reduction(rank, op['reduction'])}",
                   lambda: all(self.counts[needed, member, op["reduction"]] >= awaited for member in self.program.members(rank)),
                   [])

    def acquire(self, rank, place, channel):
        yield "", lambda: True, [("veeline_send_acquire", channel - self.first_channel(rank))]
        self.counts["acquire", channel] += 1
        acquired = self.counts["acquire", channel]
        is_first = (acquired - 1) % self.program.channels[channel]["messages_per_step"] == 0
        yield (f"{place}, and {self.describe_channel(rank, channel)}", lambda: is_first or self.is_posted(channel, acquired), [])

    def is_posted(self, channel, number):
        return self.sends in ("buffered", "lazy") or self.counts["post", channel] >= number

    def computed_channels(self, rank, number):
        """What operation `number` computes for others: the sends that follow it."""
        ops = self.program.ops[rank]
        if ops[number]["chunk"] < 0:
            return []
        following = []
        for op in ops[number + 1:]:
            if op["chunk"] >= 0:
                break
            following += [op["channel"]] * (op["kind"] == "send" and self.is_direct(op["channel"]))
        return following

    def is_direct(self, channel):
        return self.sends == "direct" and self.program.channels[channel]["kind"] in ("activation", "gradient")

    def first_channel(self, rank):
        return rank // (len(self.program.ops) // self.program.replicas) * (len(self.program.channels) // self.program.replicas)

    def describe_channel(self, rank, index):
        channel = self.program.channels[index]
        if channel["to_rank"] == rank:
            text = f"waits for a message of rank {channel['from_rank']}"
        else:
            text = f"waits for a place to send to from rank {channel['to_rank']}"
        return f"{text} (channel {index}, {channel['kind']} {channel['edge']})"

    def describe_reduction(self, rank, number):
        others = [str(other) for other in self.program.members(rank) if other != rank]
        chunk = self.program.reductions[rank][number]["chunk"]
        return f"waits for the gradients of chunk {chunk} of rank{'s' * (len(others) > 1)} {', '.join(others)}"


def pipeline(metadata):
    return Program(next(p for p in metadata["programs"] if p["name"] == "pipeline"))


def senders_to(metadata, victim):
    return {channel["from_rank"] for channel in pipeline(metadata).channels if channel["to_rank"] == victim}


def rest(metadata, victim, function, index, count, by_mpi):
    """For each rank the places where it may be when `victim` stops at this call of a step: (0: that
    step, 1: the next one; the place, as the runtime says it), with the operation there.
    """
    # To fill a place by copying and to say that it is filled is the same here.
    function = {"veeline_send_copy": "veeline_send_commit"}.get(function, function)
    program = pipeline(metadata)
    steps = [Steps(program, victim, function, index, count, sends)
             for sends in (["buffered", "lazy"] if by_mpi else ["direct", "copied"])]
    return [{step.places[rank]: step.at[rank][1] for step in steps} for rank in range(len(program.ops))]
