"""Usage: compile.py MODEL. Compiles, trains and is refused, without a file."""

import os
import pathlib
import resource
import signal
import sys
import threading

import veeline
from errors import print_error

path = pathlib.Path(sys.argv[1])
options = {"stages": 2, "microbatches": 4, "schedule": "zb-h1", "optimizer": "sgd", "optimize": 0, "evaluation": True, "memory_limit": ["1GiB", "1GiB"],
           "recompute": None, "forward_only": False}
artifact = veeline.compile(path, **options)
artifact.save("path.vee")
print(artifact.data == veeline.compile(path.read_text(), **options).data == veeline.compile(str(path), **options).data)
module = veeline.Module(path)
print(veeline.compile(module.to_bytecode(), **options).data == artifact.data)
print(module.compile(**options).data == artifact.data, len(artifact) == len(artifact.data))



class Binding:
    """A module as MLIR's Python bindings have it, as far as Veeline asks: its `operation` writes bytecode."""

    def __init__(self, module):
        self.operation, self.module = self, module

    def write_bytecode(self, file):
        file.write(self.module.to_bytecode())


again = veeline.Module(Binding(module))
print("binding:", again.compile(**options).data == artifact.data, str(again) == str(module), str(veeline.Module(str(again))) == str(module))
# A joint graph, whose results are named by a pass.
JOINT = """func.func @main(%w: tensor<4xf32>, %x: tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %loss = linalg.dot ins(%w, %x : tensor<4xf32>, tensor<4xf32>) outs(%zero : tensor<f32>) -> tensor<f32>
  return %loss, %x : tensor<f32>, tensor<4xf32>
}
"""
joint = veeline.Module(JOINT).run("pipe-import-joint{params=0 results=gradients}").compile(optimizer="sgd", optimize=0)
with veeline.Trainer(joint, lr=0.5) as trainer:
    trainer.parameters["arg0"] = [1.0] * 4
    trainer.step({"arg1": [2.0, 0.0, -2.0, 1.0]})
    print("joint:", trainer.parameters["arg0"].tolist())

x = [float(i % 7) - 3 for i in range(4 * 8 * 4)]
batch = {"x": x, "y": [x[4 * i] - x[4 * i + 3] for i in range(4 * 8)]}
with veeline.Trainer(artifact) as trainer:
    losses = [trainer.step(batch) for _ in range(10)]
print("the loss falls" if losses[-1] < losses[0] else losses)

together = [None] * 3


def compile_one(i):
    together[i] = veeline.compile(path, **{**options, "stages": 1 + i % 2, "memory_limit": None}).data


threads = [threading.Thread(target=compile_one, args=[i]) for i in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("threads:", together[0] == together[2] != together[1])
print("pipe.pipeline @net stages(2)" in str(module.run("pipe-partition{stages=2}").run("builtin.module(canonicalize)")))
limit = resource.getrlimit(resource.RLIMIT_FSIZE)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limit[1]))
try:
    artifact.save("path.vee")
except OSError as error:
    resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    print(error.strerror, pathlib.Path("path.vee").read_bytes() == artifact.data, list(pathlib.Path().glob("path.vee?*")))
try:
    artifact.save("nowhere/x.vee")
except FileNotFoundError as error:
    print(error)
print_error("no path", artifact.save, None)
# Threads that write one file, a path in bytes, and Ctrl-C.
threads = [threading.Thread(target=artifact.save, args=[b"path.vee"]) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
replace = os.replace


def interrupted(*_):
    raise KeyboardInterrupt


os.replace = interrupted
try:
    artifact.save(pathlib.Path("new.vee"))
except KeyboardInterrupt:
    print(pathlib.Path("path.vee").read_bytes() == artifact.data, sorted(map(str, pathlib.Path().glob("*.vee*"))))
os.replace = replace
try:
    veeline.compile(path, schedule="1f1b\0x")
except ValueError as error:
    print(error)
print(sorted(veeline.compile_options())[:3], "output" in veeline.compile_options())
print_error("option", veeline.compile, path, stage=2)
print_error("value", veeline.compile, path, stages="two")
print_error("model", veeline.compile, 7)
print_error("file", veeline.compile, "none.mlir")
print_error("pass", module.run, "pipe-partitoin")
print_error("stages", veeline.compile, path, stages=99)
try:
    veeline.compile("func.func @f() {return}\nfunc.func @f() {return}\n", name="two.mlir")
except veeline.CompileError as error:
    print(error)
    for diagnostic in error.diagnostics:
        print(diagnostic.severity, diagnostic.file, diagnostic.line, diagnostic.column, len(diagnostic.notes))
        print(diagnostic)
print("done")
