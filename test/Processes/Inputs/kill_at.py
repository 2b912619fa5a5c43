#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ends one rank of a run at each kind of operation, and checks what the others say.

Usage: kill_at.py [--stop] [--mpirun COMMAND] [--at NAME ...] ARTIFACT VICTIM KILL_LIBRARY COMMAND ARGUMENT ...

Prints a line for each kind of operation: that the others end as they have to, or what
is wrong. Each has to exit with 1, to say that it misses the victim, and its own place:
operation, microbatch, and what it waits for, as places.py has it. Its flight record has
to end there. With --stop the victim is stopped, and stays silent.

With --mpirun that starts the ranks, by MPI. It ends the others by a signal when it sees
that one is dead, so they say their place in its handler, or as an error, or both. So may
a rank that was stopped.
"""

import argparse
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile

import places

STEP = 3


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stop", action="store_true")
    parser.add_argument("--mpirun", type=shlex.split)
    parser.add_argument("--at", action="append", help="what to do alone, instead of all")
    parser.add_argument("artifact")
    parser.add_argument("victim", type=int)
    parser.add_argument("library")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    return parser.parse_args()


def find_points(program, victim, copies):
    """(name, function, index, its calls in a step): of each kind of operation the one in the middle."""
    ops = program["ranks"][victim % len(program["ranks"])]["ops"]

    def middle(kind):
        numbers = [number for number, op in enumerate(ops) if op["kind"] == kind]
        return numbers[len(numbers) // 2] if numbers else None

    for kind in ("F", "B", "W", "BW", "send", "recv", "all-reduce", "all-reduce-wait", "update"):
        if (number := middle(kind)) is not None:
            yield f"before {kind}", "veeline_op_begin", number, 1
            yield f"after {kind}", "veeline_op_end", number, 1
    for kind in ("send", "recv"):
        # Of tied parameters.
        for number in [number for number, op in enumerate(ops) if op["kind"] == kind and op["microbatch"] < 0][:1]:
            yield f"before {kind} of a parameter", "veeline_op_begin", number, 1
            yield f"after {kind} of a parameter", "veeline_op_end", number, 1
    for kind, calls in (("send", {"before a place for": "acquire", "in a send of": "copy"}),
                        ("recv", {"before a post of": "post", "before a wait for": "wait"})):
        shapes = [number for number, op in enumerate(ops)
                  if op["kind"] == kind and program["channels"][op["channel"]]["kind"] == "shape"]
        for number in shapes[len(shapes) // 2:][:1]:
            yield f"before {kind} of a shape", "veeline_op_begin", number, 1
            yield f"after {kind} of a shape", "veeline_op_end", number, 1
            channel = ops[number]["channel"]
            for name, function in calls.items():
                yield f"{name} a shape", f"veeline_{kind}_{function}", channel, program["channels"][channel]["messages_per_step"]
    for kind, name, function in (("send", "before a place to send to", "veeline_send_acquire"),
                                 ("send", "in a send", "veeline_send_copy" if copies else "veeline_send_commit"),
                                 ("recv", "before a post", "veeline_recv_post"),
                                 ("recv", "before a wait", "veeline_recv_wait")):
        channel = ops[middle(kind)]["channel"]
        yield name, function, channel, program["channels"][channel]["messages_per_step"]
    for kind, name, function in (("all-reduce", "before a post of gradients", "veeline_reduce_post"),
                                 ("all-reduce-wait", "before a wait for gradients", "veeline_reduce_wait")):
        if (number := middle(kind)) is not None:
            yield name, function, ops[number]["reduction"], 1


def run_by_mpi(options, ranks, settings, prefix, command):
    """What each rank said."""
    # mpirun loses some of what ranks say last.
    hurt = (f'test $OMPI_COMM_WORLD_RANK != {options.victim} || export {" ".join(settings)}; '
            f'exec "$@" 2> {prefix}.said.$OMPI_COMM_WORLD_RANK')
    said = {}
    # Seconds between the signal that lets ranks say their place and the one that does not. On a
    # busy machine the usual one may be too little for a rank to run at all.
    for patience in (1, 10):
        environment = {**os.environ, "OMPI_MCA_odls_base_sigkill_timeout": str(patience)}
        run = subprocess.run([*options.mpirun, "-np", str(ranks), "sh", "-c", hurt, "sh", *command], capture_output=True,
                             env=environment)
        if run.returncode:
            said = {rank: pathlib.Path(f"{prefix}.said.{rank}").read_text() for rank in range(ranks)}
        if all(text for rank, text in said.items() if rank != options.victim):
            break
    return said


def run_ranks(options, ranks, settings, prefix):
    """What each rank said, with its exit code where that is known."""
    command = [*options.command, "--flight-recorder", prefix]
    if options.mpirun:
        return run_by_mpi(options, ranks, settings, prefix, command)
    launch = os.path.join(os.path.dirname(__file__), "launch.py")
    said = {}
    # On a busy machine a rank that is slow to write its record is ended, within the timeout,
    # before it has said its place.
    for timeout in (2, 10):
        command[command.index("--timeout") + 1] = str(timeout)
        run = subprocess.run([sys.executable, launch, *(f"--environment={options.victim}:{setting}" for setting in settings),
                              # The others have ended within the timeout.
                              f"--after={timeout + 0.5}", str(ranks), *command], capture_output=True, text=True)
        said = {int(rank): text for rank, text in re.findall(r"^rank (\d): (.*)$", run.stdout, re.MULTILINE)}
        if all(" step " in text for rank, text in said.items() if rank != options.victim):
            break
    return said


def is_said(options, text, rank, accepted, missing):
    """Whether a rank tells of the failure, as it may have heard from another one, and of its own place."""
    return any(is_said_in(options, STEP + step, text, rank, [place for at, place in accepted if at == step], missing)
               for step in {step for step, _ in accepted})


def is_said_in(options, step, text, rank, accepted, missing):
    end = "is at the end of its step"
    own = [f"rank {rank} {re.escape(place)}" for place in accepted]
    if end in accepted:
        own.append(f"rank {rank} waits for what rank [{missing}] has to tell all at the end of the step")
        # By MPI a rank goes on sending there.
        own.append(f"rank {rank} {end}, and waits for a place to send to from rank {options.victim} .*")
    place = f"; ({'|'.join(own)})"
    silence = r"has not answered for [\d.]+ s" if options.stop else "is gone: its connection is closed"
    failure = rf"(rank \d has failed: )?rank {options.victim} {silence}(; rank [^;]*)*?"
    error = f"veeline: error: step {step}: {failure}{place}"
    if not options.mpirun:
        return re.fullmatch(f"exit 1: {error}", text)
    # The failure may not be known before the signal comes; that is to be said all the same.
    told = rf"veeline: told to end by signal {int(signal.SIGTERM)} in step {step}: ({failure}; )?({'|'.join(own)})"
    return any(re.fullmatch(f"{error}|{told}", line) for line in text.splitlines())


def check_record(prefix, rank, text, accepted):
    """The flight record of a rank ends with what it said, at the operation before the one it was at."""
    with open(f"{prefix}.rank{rank}.txt") as file:
        lines = file.read().splitlines()
    if f"veeline: error: {lines[-1]}" not in text or not re.match(r"step +begin us +us", lines[0]):
        return f"its record ends with '{lines[-1]}'"
    with open(f"{prefix}.rank{rank}.trace.json") as file:
        events = [e for e in json.load(file)["traceEvents"] if e["ph"] == "X" and e["pid"] == 0]
    measured = [e["args"] for e in events if "op" in e["args"]]
    said = int(re.match(r"step (\d+)", lines[-1])[1])
    if {e["tid"] for e in events} != {rank} or {e["step"] for e in measured} - {said} != {said - 1}:
        return "its trace is not of the last two steps of its own"
    # Of a rank at its first operation there is none of this step.
    done = measured[-1]["op"] if measured[-1]["step"] == said else -1
    if (said - STEP, done + 1) not in {(step, op) for (step, _), op in accepted.items()}:
        return f"its trace ends with operation {done}"
    names = [line.split("  ")[-1] for line in lines[1:] if re.match(r" *\d+ +[\d.]+ +[\d.]+  ", line)]
    if [e["name"] for e in events] != names:
        return "its record and its trace differ"
    return None


def what_victim_says(options):
    if not options.mpirun:
        return "is stopped" if options.stop else f"exit -{int(signal.SIGKILL)}"
    if not options.stop:
        return ""
    # mpirun may let a stopped rank go on, to end it; it is where it was stopped, and misses the others.
    told = rf"veeline: (told to end by signal {int(signal.SIGTERM)} in|error:) step {STEP}: "
    return rf"({told}([^\n]*; )?rank {options.victim} is (at|before) [^;\n]*\n?)*"


def find_flaws(options, metadata, point, folder):
    name, function, index, calls = point
    count = (STEP - 1) * calls + calls // 2 + 1
    accepted = places.rest(metadata, options.victim, function, index, calls // 2 + 1, bool(options.mpirun))
    deed = signal.SIGSTOP if options.stop else signal.SIGKILL
    settings = [f"LD_PRELOAD={options.library}", f"KILL_AT={function}:{index}:{count}:{int(deed)}"]
    prefix = os.path.join(folder, name.replace(" ", "-"))
    said = run_ranks(options, len(accepted), settings, prefix)
    if not re.fullmatch(what_victim_says(options), said.get(options.victim, "nothing")):
        yield f"rank {options.victim}: {said.get(options.victim)}"
    late = {rank for rank, at in enumerate(accepted) if set(at) != {(1, "is at the end of its step")}}
    if options.mpirun:
        # Who has sent to the victim may wait at the end until it has taken that.
        late |= places.senders_to(metadata, options.victim)
    missing = "".join(map(str, late))
    for rank in set(range(len(accepted))) - {options.victim}:
        text = said.get(rank, "nothing")
        if not is_said(options, text, rank, accepted[rank], missing):
            yield f"rank {rank}: {text}\n    is not at: {set(accepted[rank])}"
        elif "error: " in text and (flaw := check_record(prefix, rank, text, accepted[rank])):
            yield f"rank {rank}: {text}\n    {flaw}"
    if os.path.exists(f"{prefix}.rank{options.victim}.txt") and not (options.mpirun and options.stop):
        yield "the victim has written a record"


def main():
    options = parse_arguments()
    inspected = subprocess.run(["veeline", "inspect", options.artifact, "--json"], capture_output=True, check=True)
    metadata = json.loads(inspected.stdout)
    program = next(p for p in metadata["programs"] if p["name"] == "pipeline")
    with tempfile.TemporaryDirectory() as folder:
        copies = dict(metadata["options"])["communication"] != "overlap"
        for point in find_points(program, options.victim, copies):
            if options.at and point[0] not in options.at:
                continue
            flaws = list(find_flaws(options, metadata, point, folder))
            print(f"{point[0]}: " + ("\n  ".join(["wrong", *flaws]) if flaws else "the others say so"), flush=True)


if __name__ == "__main__":
    main()
