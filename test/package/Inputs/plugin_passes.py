"""Usage: plugin_passes.py PLUGIN TESTS NET

Runs pipelines by mlir-opt with the plugin and by veeline-opt, and compares what they print. Every pass and every pipeline of Veeline has
to be in one of them. NET is a model of two layers, TESTS the folder of all tests.
"""

import pathlib
import re
import subprocess
import sys

plugin, tests, net = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
MLIR_OPT = ["mlir-opt", f"--load-dialect-plugin={plugin}", f"--load-pass-plugin={plugin}"]
PIPELINES = {"pipe-import", "pipe-bufferize-chunks", "pipe-host-code", "pipe-gpu-code", "pipe-compile"}
RUNS = [
    (net, "pipe-print-pieces,pipe-scale-loss,func.func(pipe-recognize-attention),pipe-partition{stages=2},pipe-differentiate"),
    (net, "pipe-compile{stages=2 microbatches=4 schedule=zb-h1 memory-limit=1MiB}"),
    (net, "pipe-compile{stages=2 microbatches=4 recompute=full recompute-ahead=true}"),
    (net, "pipe-compile{stages=2 microbatches=4 schedule=zb-h1 target=cuda chunk-streams=true},pipe-gpu-code"),
    (net, "pipe-import{freeze=w0}"),
    (tests / "Dialect/Pipe/Transforms/pipe-bind-lengths.mlir", "pipe-bind-lengths{bound=6 multiple=3}"),
    (tests / "Dialect/Pipe/Transforms/pipe-weight-loss.mlir", "pipe-weight-loss{weight=tokens}"),
    (net, "pipe-joint-graph,pipe-separate-joint,pipe-partition{stages=2},pipe-differentiate"),
    (tests / "Import/joint.mlir", "pipe-import-joint{params=0-1}"),
    (tests / "Conversion/pipelines.mlir", "pipe-bufferize-chunks,pipe-host-code"),
]


def run(command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{result.stderr}")
    return result.stdout, result.stderr


def passes(command):
    return set(re.findall(r"^  --(\S+)", run([*command, "--list-passes"])[0], re.M))


wanted = passes(["veeline-opt"]) - passes(["mlir-opt"])
missing = wanted - passes(MLIR_OPT)
if missing or not wanted:
    sys.exit(f"the plugin lacks {missing}")
print(f"{len(wanted)} passes are listed")

seen = set()
for path, pipeline in RUNS:
    option = f"--pass-pipeline=builtin.module({pipeline})"
    theirs, dumped = run([*MLIR_OPT, path, option, "--dump-pass-pipeline"])
    mine, _ = run(["veeline-opt", path, option])
    if theirs != mine or not mine:
        sys.exit(f"mlir-opt and veeline-opt differ after {pipeline}")
    seen |= set(re.findall(r"[\w-]+", f"{pipeline} {dumped}"))
unseen = sorted((wanted | PIPELINES) - seen)
if unseen:
    sys.exit(f"nothing here runs {unseen}")
print(f"{len(wanted)} passes and {len(PIPELINES)} pipelines run and print the same")
