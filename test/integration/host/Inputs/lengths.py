"""Trains a GPT on text whose length varies, and compares.

Usage: lengths.py WORK LENGTHS BOUND MULTIPLE MODEL-OPTIONS COMPILE-OPTIONS [--no-static]

Compiles examples/gpt with a dynamic length, once, and trains it twice: on samples of
all sorts of LENGTHS (as 1,5,12; they repeat), where every loss and the parameters have
to be those of sequential execution; and for each length that there is a version for
on samples of this length alone, where losses and parameters have to be those of a
model without a dynamic dimension, unless that is told not to. Both options are one argument each. Also adds up
what the timeline says of the messages of the last step, in numbers of which each
follows from the length of its microbatch.
"""

import json
import pathlib
import struct
import sys

from models import QUICK, run

SOURCE = pathlib.Path(__file__).resolve().parents[4]
STEPS = 3


def write_array(path, shape, values):
    header = "{'descr': '<i4', 'fortran_order': False, 'shape': %s, }" % (shape,)
    header = header.ljust(117) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
                     + struct.pack(f"<{len(values)}i", *values))
    return path


def generate(work, name, options):
    path = work / name
    run(sys.executable, str(SOURCE / "examples/gpt/generate.py"), *options, "-o", str(path))
    return path


class Trainer:
    def __init__(self, work, samples, microbatches):
        self.work, self.samples, self.microbatches = work, samples, microbatches

        self.count = STEPS * samples * microbatches

    def train(self, artifact, name, width, *options):
        """The bytes of the parameters, and the losses as text; `width` is that of the samples."""
        saved, metrics = self.work / f"{name}.safetensors", self.work / f"{name}.csv"
        data = []
        text = (SOURCE / "LICENSE").read_bytes()
        for argument, shift in (("tokens", 0), ("labels", 1)):
            rows = [text[100 * row + shift :][:width] for row in range(self.count)]
            path = write_array(self.work / f"{argument}.npy", (self.count, width), b"".join(rows))
            data += ["--data", f"{argument}={path}"]
        run("veeline", "train", str(artifact), "--steps", str(STEPS), "--log-every", "1",
            "--save", str(saved), "--metrics", str(metrics), *data, *options)
        losses = [line.split(",")[1] for line in metrics.read_text().splitlines()[1:]]
        return saved.read_bytes(), losses

    def write(self, name, lengths):
        values = [lengths[i % len(lengths)] for i in range(self.count)]
        return str(write_array(self.work / name, (self.count,), values)), values


def count_bytes(trace):
    """Bytes that the ranks sent in the last step, by kind of message and microbatch."""
    events = [e for e in json.loads(trace.read_text())["traceEvents"] if e.get("cat") == "send" and e["pid"] == 0]
    last = max(e["args"]["step"] for e in events)
    sums = {}
    for event in events:
        if event["args"]["step"] != last:
            continue
        kind = event["name"].split()[1]
        key = kind, event["args"].get("length", 0)
        sums.setdefault(key, []).append(event["args"]["bytes"])
    return sums


def main():
    work, lengths, bound, multiple = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    model_options, compile_options = sys.argv[5].split(), sys.argv[6].split()
    work.mkdir(parents=True, exist_ok=True)
    lengths = [int(length) for length in lengths.split(",")]
    microbatches = int(compile_options[compile_options.index("--microbatches") + 1])
    replicas = int(compile_options[compile_options.index("--replicas") + 1]) if "--replicas" in compile_options else 1
    microbatches *= replicas
    samples = 2
    sizes = [*model_options, "--microbatch-size", str(samples)]
    trainer = Trainer(work, samples, microbatches)

    dynamic = generate(work, "dynamic.mlir", [*sizes, "--sequence", str(bound), "--dynamic-length"])
    artifact = work / "dynamic.vee"
    run("veeline", "compile", *QUICK, str(dynamic), "-o", str(artifact), "--quiet", "--no-reference", "--length-bound", str(bound),
        "--length-multiple", str(multiple), *compile_options)

    path, values = trainer.write("mixed.npy", lengths)
    trace = work / "trace.json"
    trainer.train(artifact, "mixed", bound, "--lengths", path, "--compare-sequential", "--timeline", str(trace))
    rounded = [-(-max(values[i : i + samples]) // multiple) * multiple for i in range(0, len(values), samples)][-microbatches:]
    for (kind, length), sent in sorted(count_bytes(trace).items()):
        if kind == "shape":
            assert sent == [8] * len(sent), sent
        elif length:
            assert len(set(sent)) == 1, sent
            width = sent[0] / (samples * length * 4)
            assert width == int(width) and len(sent) % rounded.count(length) == 0, (kind, length, sent)
            print(f"{kind} of length {length}: {len(sent)} messages of {sent[0]} bytes, "
                  f"{int(width)} numbers for each token")
    print(f"{len(set(rounded))} lengths in a step: equal to sequential execution")

    if sys.argv[7:] == ["--no-static"]:
        return
    # What is added up in which order depends on the cuts.
    program = json.loads(run("veeline", "inspect", "--json", str(artifact))[0])["programs"][0]
    cuts = ",".join(str(chunk["pieces"]) for chunk in program["chunks"])
    versions = range(multiple, bound + 1, multiple)
    for length in versions:
        static = generate(work, "static.mlir", [*sizes, "--sequence", str(length)])
        fixed = work / "static.vee"
        run("veeline", "compile", *QUICK, str(static), "-o", str(fixed), "--quiet", "--no-reference", "--partition", cuts,
            *compile_options)
        path, _ = trainer.write("equal.npy", [length])
        found = trainer.train(artifact, "dynamic", bound, "--lengths", path)
        expected = trainer.train(fixed, "static", length)
        print(f"length {length}: {'equal to' if found == expected else 'different from'} a model of this length")


main()
