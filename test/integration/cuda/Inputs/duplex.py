# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a model whose sends and receives run side by side, over the stand-ins.

Usage: duplex.py BUILD MODEL WORK ORDERS OPTION ...

What `--communication overlap` gives is what `duplex` has to give, bit for bit: losses, norms and parameters, of one compute
stream and of one for each chunk, in every of the orders, of steps that are issued and of graphs, of threads and of
processes with a GPU each that has room for two units at once; and of a host. On GPUs that have room for one, processes have to
end with an error. Prints how many communicators the messages have, and how much larger the largest arena is.
"""

import json
import pathlib
import sys

from standin import LAUNCH, QUICK, compile_for_gpu, libraries, run
from train import metrics


def read_program(artifact):
    metadata = json.loads(run("veeline", "inspect", artifact, "--json"))
    program, = (program for program in metadata["programs"] if program["name"] == "pipeline")
    return program


def arena(program):
    return max(rank["arena_bytes"] - rank["library_bytes"] for rank in program["ranks"])


def check_streams(program):
    """What a rank receives is on no communicator of what it sends."""
    channels = [channel for channel in program["channels"] if channel["kind"] != "shape"]
    for channel in channels:
        if (channel["stream"], channel["receive_stream"]) != (1, 2):
            sys.exit(f"not on streams 1 and 2: {channel}")
    for rank in range(len(program["ranks"])):
        sent = {channel["communicator"] for channel in channels if channel["from_rank"] == rank}
        received = {channel["communicator"] for channel in channels if channel["to_rank"] == rank}
        if len(sent) > 1 or sent & received:
            sys.exit(f"rank {rank} sends on communicators {sent} and receives on {received}")
    return len({channel["communicator"] for channel in channels})


def main():
    build, model, work, orders, *options = sys.argv[1:]
    work = pathlib.Path(work)
    made = {}
    for name, more in (("overlap", []), ("duplex", ["--communication", "duplex"]),
                       ("chunk", ["--communication", "duplex", "--compute-streams", "chunk"])):
        place = work / name
        place.mkdir(parents=True, exist_ok=True)
        device = compile_for_gpu(model, place, ["--no-reference", *options, *more])
        train = ["veeline", "train", device, "--steps", "4", "--synthetic", "fixed", *libraries(build)]
        made[name] = device, train

    def written(name):
        return ["--metrics", work / f"{name}.csv", "--save", work / f"{name}.st"]

    def expect(name, other="expected"):
        if metrics(work / f"{name}.csv") != metrics(work / f"{other}.csv"):
            sys.exit(f"{name}: other losses: see {work}")
        if (work / f"{name}.st").read_bytes() != (work / f"{other}.st").read_bytes():
            sys.exit(f"{name}: other parameters: see {work}")

    def launch(train, environment, units, *more):
        return run(sys.executable, LAUNCH, "--within", "100", "--after", "100", count, *train, *more, VEELINE_STANDIN_DEVICES=str(count),
                   VEELINE_STANDIN_UNITS=str(units), VEELINE_STANDIN_CONNECT="together", **environment)

    _, train = made["overlap"]
    run(*train, *written("expected"))
    program = read_program(made["duplex"][0])
    count = len(program["ranks"]) * program["replicas"]
    print(f"communicators {check_streams(program)}")
    print(f"arena {arena(program) / arena(read_program(made['overlap'][0])):.2f} times")
    runs = 0
    for streams in ("duplex", "chunk"):
        _, train = made[streams]
        for order in orders.split(","):
            environment = {"VEELINE_STANDIN_ORDER": order}
            for how, more in (("graph", []), ("eager", ["--eager"])):
                name = f"{streams}-{order}-{how}"
                run(*train, *more, *written(name), "--check-memory", VEELINE_STANDIN_REPORT=str(work / "report"), **environment)
                expect(name)
                if "live 0\n" not in (work / "report").read_text(encoding="utf-8"):
                    sys.exit(f"{name}: something was not freed")
                output = launch(train, environment, 2, *more, *written(f"{name}-processes"), "--check-messages")
                if output.count(": exit 0") != count:
                    sys.exit(f"{name}: processes failed:\n{output}")
                expect(f"{name}-processes")
                runs += 2
    print(f"bits of overlap in {runs} runs")
    _, train = made["duplex"]
    # Some order is lucky.
    for order in ("late", "random:1", "random:2", "random:3", "random:4"):
        output = launch(train, {"VEELINE_STANDIN_ORDER": order}, 1, "--timeout", "2")
        if output.count(": exit 0") == 0 and "waits for" in output:
            print("not with room for one")
            break
    else:
        sys.exit(f"there is room for one unit, and processes went on in every order:\n{output}")
    for name in ("overlap", "duplex"):
        run("veeline", "compile", *QUICK, "-q", model, "-o", work / f"{name}.vee", "--no-reference", "--communication", name, *options)
        run("veeline", "train", work / f"{name}.vee", "--steps", "4", "--synthetic", "fixed", *written(f"host-{name}"))
    expect("host-duplex", "host-overlap")
    print("bits of overlap on a host")


if __name__ == "__main__":
    main()
