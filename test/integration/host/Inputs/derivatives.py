"""Puts every kind of op that has a derivative through the whole command.

Usage: derivatives.py [--fault] [--no-samples] WORK FILE.mlir...

Every function of the files, a few ops each, becomes a part of a model: half of
its float arguments are parameters, the other half is computed from parameters
in an earlier chunk, so that backward has gradients of both to give. Its results
are summed up with weights, which is the part's loss and a metric of the model;
the loss of the model is the sum. Four chunks on two ranks (`zb-v`). Then

- the gradients of the pipeline are, bit for bit, those of its chunks one after
  the other (`train --verify`);
- in f64 (`--retype`), the gradient of each part is compared with central
  differences of its metric along random directions, one for each of the first
  four arguments and one for the others: relative error at most 1e-6;
- two samples in a microbatch (`--microbatch-size`) give the loss and the
  gradient of two microbatches: relative difference at most 1e-12 (not with
  --no-samples, which takes less time);
- as the file is, with islands of other floats, or, where it is in f64
  throughout, in f32, the pipeline again has the bits of its chunks, and the
  gradients are those in f64 up to the precision (a function with the attribute
  `test.coarse`: 5 %).

Arguments may have the attributes of test/unit/Autodiff/Inputs: `test.range`,
and `test.below` for integers.
"""

import array
import json
import math
import pathlib
import random
import re
import struct
import sys

from models import QUICK, RATE, npy, run

DIRECTIONS = 5
STEP = 1e-3
# Functions that take scalars out of tensors, which several samples do not allow.
WITH_SCALARS = ("elements", "fill", "scalars", "branch")
# With --fault, all gradients are a little too large.
FAULT = 1 + 1e-5 * ("--fault" in sys.argv)
# What the samples multiply parameters by.
SCALES = [1.0, 1.0625]


class Function:
    """One of a file: its text, and what goes in and out."""

    def __init__(self, text):
        head = text.index("(")
        self.name = re.match(r"func\.func (?:private )?@(\w+)", text)[1]
        end = self.close(text, head)
        self.arguments = [self.argument(a) for a in self.split(text[head + 1 : end])]
        results, rest = text[end + 1 :].split("{\n", 1)
        self.is_coarse = "test.coarse" in results
        results = re.sub(r"attributes \{.*", "", results).strip().removeprefix("->").strip()
        self.results = self.split(results[1:-1] if results.startswith("(") else results)
        named = ", ".join(f"{name}: {kind}" for name, kind, _, _ in self.arguments)
        self.text = f"func.func private @{self.name}({named}) -> ({', '.join(self.results)}) {{\n{rest}"

    @staticmethod
    def close(text, begin):
        depth = 0
        for place in range(begin, len(text)):
            depth += (text[place] == "(") - (text[place] == ")")
            if depth == 0:
                return place
        raise ValueError(text)

    @staticmethod
    def split(text):
        parts, depth = [""], 0
        for character in text:
            depth += (character in "<({[") - (character in ">)}]")
            if character == "," and depth == 0:
                parts.append("")
            else:
                parts[-1] += character
        return [part.strip() for part in parts if part.strip()]

    @staticmethod
    def argument(text):
        name, kind = text.split(":", 1)
        kind, _, attributes = kind.partition("{")
        bounds = re.search(r"test\.range = \[(.*?), (.*?)\]", attributes)
        below = re.search(r"test\.below = (\d+)", attributes)
        return (name.strip(), kind.strip(), tuple(map(float, bounds.groups())) if bounds else (-1.0, 1.0),
                int(below[1]) if below else 2)


def element(kind):
    return re.search(r"[<x]([a-z]+\d+)>$", kind)[1]


def is_float(kind):
    return element(kind) in ("f64", "f32", "f16", "bf16")


def shape(kind):
    return [int(extent) for extent in re.findall(r"(\d+)x", kind)]


IN_F32 = {"0x7FF0000000000000": "0x7F800000", "0xFFF0000000000000": "0xFF800000", "0x7FF8000000000000": "0x7FC00000"}


def in_f32(text):
    """The text of a file in f64 with f32 for it."""
    for wide, narrow in IN_F32.items():
        text = text.replace(wide, narrow)
    return text.replace("f64", "f32")


def read(text):
    """The aliases of a file, and its functions."""
    text = re.sub(r"^ *//.*\n", "", text, flags=re.M)
    functions = [Function(f) for f in re.findall(r"^func\.func .*?^}\n", text, flags=re.M | re.S)]
    return re.findall(r"^#.*$", text, flags=re.M), functions


class Model:
    """The text of a model of many functions."""

    def __init__(self, aliases, functions, base):
        self.aliases, self.functions, self.base = aliases, functions, base
        self.lines, self.count = [], 0
        # Per parameter: its part, its range; per batch argument: its bound.
        self.params, self.below, self.head = [], [], []
        self.losses = [self.part(number, function) for number, function in enumerate(functions)]

    def line(self, text):
        self.count += 1
        self.lines.append(f"    %{self.count} = {text}")
        return f"%{self.count}"

    def generic(self, operand, kind, maps, iterators, start, result, body):
        self.count += 1
        name = f"%{self.count}"
        self.lines.append(f"    {name} = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{', '.join(iterators)}]}} "
                          f"ins({operand} : {kind}) outs({start} : {result}) {{\n{body}    }} -> {result}")
        return name

    def part(self, number, function):
        """Computes the arguments, calls the function; gives its loss."""
        group, self.lines_before = 3 * number // len(self.functions), len(self.lines)
        scale, actual, is_computed = f"%s{group}", [], True
        for _, kind, bounds, below in function.arguments:
            if not is_float(kind):
                actual.append(self.data(function.name, kind, below))
                continue
            self.head.append(f"%p{len(self.params)}: {kind}")
            value = f"%p{len(self.params)}"
            self.params.append((number, kind, bounds))
            if is_computed:
                value = self.line(f"pipe.boundary {self.scaled(value, kind, scale)} : {kind}")
            is_computed = not is_computed
            actual.append(value)
        self.count += 1
        results = [f"%{self.count}#{i}" if len(function.results) > 1 else f"%{self.count}" for i in range(len(function.results))]
        name = f"%{self.count}:{len(results)}" if len(results) > 1 else f"%{self.count}"
        kinds = ", ".join(kind for _, kind, _, _ in function.arguments)
        self.lines.append(f"    {name} = func.call @{function.name}({', '.join(actual)}) : ({kinds}) -> ({', '.join(function.results)})")
        loss = "%zero"
        for result, kind in zip(results, function.results):
            if is_float(kind):
                loss = self.weighted(result, kind, loss)
        return loss

    def data(self, seed, kind, below):
        """A batch argument, which has a dimension for samples."""
        name, one = f"%d{len(self.below)}", kind.replace("<", "<1x")
        self.head.append(f"{name}: {one}")
        self.below.append((one, below, seed))
        groups = ", ".join(["[0, 1]" if i == 0 else f"[{i + 1}]" for i in range(len(shape(kind)))])
        return self.line(f"tensor.collapse_shape {name} [{groups}] : {one} into {kind}")

    def scaled(self, value, kind, scale):
        rank, of = len(shape(kind)), element(kind)
        dims = ", ".join(f"d{i}" for i in range(rank))
        identity = f"affine_map<({dims}) -> ({dims})>"
        body = f"    ^bb0(%a: {of}, %o: {of}):\n      %c0 = arith.constant 0 : index\n"
        body += f"      %e = tensor.extract {scale}[%c0] : tensor<1x{self.base}>\n"
        if of != self.base:
            body += f"      %t = arith.truncf %e : {self.base} to {of}\n"
        body += f"      %m = arith.mulf %a, {'%e' if of == self.base else '%t'} : {of}\n      linalg.yield %m : {of}\n"
        start = self.line(f"tensor.empty() : {kind}")
        return self.generic(value, kind, [identity] * 2, ['"parallel"'] * rank, start, kind, body)

    def weighted(self, value, kind, loss):
        """Adds all elements, each with a weight of its own."""
        rank, of = len(shape(kind)), element(kind)
        dims = ", ".join(f"d{i}" for i in range(rank))
        maps = [f"affine_map<({dims}) -> ({dims})>", f"affine_map<({dims}) -> ()>"]
        body = f"    ^bb0(%a: {of}, %o: {self.base}):\n      %w0 = arith.constant 0.8 : {self.base}\n"
        for i in range(rank):
            body += f"      %i{i} = linalg.index {i} : index\n      %n{i} = arith.index_cast %i{i} : index to i32\n"
            body += f"      %f{i} = arith.sitofp %n{i} : i32 to {self.base}\n      %c{i} = arith.constant {0.7 + 0.4 * i} : {self.base}\n"
            body += f"      %q{i} = arith.mulf %f{i}, %c{i} : {self.base}\n      %w{i + 1} = arith.addf %w{i}, %q{i} : {self.base}\n"
        body += f"      %w = math.sin %w{rank} : {self.base}\n"
        wide = "%a"
        if of != self.base:
            cast = "arith.truncf" if of == "f64" else "arith.extf"
            body += f"      %x = {cast} %a : {of} to {self.base}\n"
            wide = "%x"
        body += f"      %m = arith.mulf {wide}, %w : {self.base}\n      %r = arith.addf %o, %m : {self.base}\n      linalg.yield %r : {self.base}\n"
        return self.generic(value, kind, maps, ['"reduction"'] * rank, loss, f"tensor<{self.base}>", body)

    def text(self):
        scalar = f"tensor<{self.base}>"
        calls = "\n".join(self.lines)
        total = "%zero"
        sums = ""
        for number, loss in enumerate(self.losses):
            sums += f"    %t{number} = arith.addf {total}, {loss} : {scalar}\n"
            total = f"%t{number}"
        kinds = ", ".join([scalar] * (len(self.losses) + 1))
        return "\n".join(self.aliases) + f"""
module {{
{"".join(function.text for function in self.functions)}
  func.func @main({", ".join(self.head)}, %s0: tensor<1x{self.base}>) -> ({kinds}) {{
    %zero = arith.constant dense<0.0> : {scalar}
    %s1 = pipe.boundary %s0 : tensor<1x{self.base}>
    %s2 = pipe.boundary %s1 : tensor<1x{self.base}>
{calls}
{sums}    return {", ".join([total] + self.losses)} : {kinds}
  }}
}}
"""


class Artifact:
    """A compiled model, and values for all it reads."""

    def __init__(self, model, source, work, options, microbatches=len(SCALES)):
        self.model, self.path = model, work / f"{source.stem}.vee"
        self.options, self.work = options, work
        positions = [i for i, argument in enumerate(model.head) if argument.startswith("%p")]
        run("veeline", "compile", str(source), "-o", str(self.path), "--entry", "main", "--params", ",".join(map(str, positions)),
            "--stages", "2", "--chunks-per-stage", "2", "--schedule", "zb-v", "--microbatches", str(microbatches), "--optimizer", "sgd",
            "--no-reference", "--quiet", *options)
        self.metadata = json.loads(run("veeline", "inspect", "--json", str(self.path))[0])
        # What no op uses is no parameter.
        self.params, begin = {}, 0
        for position, (_, kind, _) in zip(positions, model.params):
            self.params[f"arg{position}"] = (begin, begin + math.prod(shape(kind)))
            begin += math.prod(shape(kind))
        self.code = {"f64": "d", "f32": "f"}[self.metadata["params"][0]["type"]]
        self.data = []
        below = {f"arg{model.head.index(f'%d{i}: {kind}')}": (bound, seed) for i, (kind, bound, seed) in enumerate(model.below)}
        for batch in self.metadata["batches"]:
            path = work / f"{source.stem}.{batch['name']}.npy"
            if batch["name"] in below:
                bound, seed = below[batch["name"]]
                # The same whatever other functions there are.
                one = random.Random(seed)
                extents = [len(SCALES)] + batch["shape"][1:]
                npy.write(path, batch["type"], extents, [one.randrange(bound) for _ in range(math.prod(extents))])
            else:
                npy.write(path, batch["type"], [len(SCALES)], SCALES)
            self.data += ["--data", f"{batch['name']}={path}"]

    def train(self, *options):
        run("veeline", "train", str(self.path), "--weight-decay", "0", *options, *self.data)

    def write(self, values):
        """A file of parameters, of which `values` has those of all arguments."""
        header, data = {}, b""
        for param in self.metadata["params"]:
            begin, end = self.params[param["name"]]
            own = array.array(self.code, values[begin:end]).tobytes()
            header[param["name"]] = {"dtype": param["type"].upper(), "shape": param["shape"], "data_offsets": [len(data), len(data) + len(own)]}
            data += own
        text = json.dumps(header).encode()
        path = self.work / "values.safetensors"
        path.write_bytes(struct.pack("<Q", len(text)) + text + data)
        return path

    def parts(self, values):
        """The loss of each part."""
        metrics = self.work / "metrics.csv"
        self.train("--steps", "1", "--lr", "0", "--init", str(self.write(values)), "--metrics", str(metrics))
        rows = [line.split(",") for line in metrics.read_text().splitlines()]
        first = next(i for i, name in enumerate(rows[0]) if name.startswith("metric"))
        return [float(value) for value in rows[1][first:]]

    def gradient(self, values):
        saved = self.work / "saved.safetensors"
        self.train("--steps", "1", "--lr", str(RATE), "--init", str(self.write(values)), "--save", str(saved))
        data = saved.read_bytes()
        (length,) = struct.unpack("<Q", data[:8])
        after, header = list(values), json.loads(data[8 : 8 + length])
        for param in self.metadata["params"]:
            begin, end = header[param["name"]]["data_offsets"]
            first, last = self.params[param["name"]]
            after[first:last] = array.array(self.code, data[8 + length + begin : 8 + length + end])
        return [(a - b) / RATE for a, b in zip(values, after)]


def owners(model):
    """Per element of the parameters, its part and its place among the arguments."""
    owner, seen = [], {}
    for number, kind, _ in model.params:
        place = seen.setdefault(number, 0)
        seen[number] += 1
        owner += [(number, min(place, DIRECTIONS - 1))] * math.prod(shape(kind))
    return owner


def check_differences(artifact, values, gradient):
    model = artifact.model
    owner = owners(model)
    worst, kinks, checked = 0, [], 0
    for place in range(DIRECTIONS):
        direction = [random.gauss(0, 1) if own[1] == place else 0.0 for own in owner]
        if not any(direction):
            continue
        losses = {step: artifact.parts([v + step * STEP * d for v, d in zip(values, direction)]) for step in (-2, -1, 1, 2)}
        for number, function in enumerate(model.functions):
            if not any(own == (number, place) for own in owner):
                continue
            expected = sum(g * d for g, d, own in zip(gradient, direction, owner) if own[0] == number)
            near = (losses[1][number] - losses[-1][number]) / (2 * STEP)
            far = (losses[2][number] - losses[-2][number]) / (4 * STEP)
            found = (4 * near - far) / 3
            if abs(found - expected) <= 1e-6 * abs(expected) + 1e-9:
                checked += 1
                worst = max(worst, abs(found - expected) / max(abs(expected), 1e-3))
            elif abs(near - far) > 1e-3 * abs(found):
                kinks.append(function.name)
            else:
                sys.exit(f"{function.name}: argument {place}: the gradient is {expected}, differences say {found}")
    return checked, kinks, worst


def check_small(artifact, values, exact):
    """Whether gradients in small floats are near those in f64."""
    gradient = artifact.gradient(values)
    owner, worst = owners(artifact.model), 0
    for number, function in enumerate(artifact.model.functions):
        own = [i for i, (part, _) in enumerate(owner) if part == number]
        off = math.dist([gradient[i] for i in own], [exact[i] for i in own]) / max(math.hypot(*(exact[i] for i in own)), 1e-6)
        if not off <= (0.05 if function.is_coarse else 1e-4):
            sys.exit(f"{function.name}: the gradient differs by {off} from that in f64")
        worst = max(worst, off)
    return worst


def check_samples(artifact, values, exact, make):
    """Whether two samples in a microbatch give what two microbatches do."""
    model, owner = artifact.model, owners(artifact.model)
    numbers = [n for n, function in enumerate(model.functions) if function.name not in WITH_SCALARS]
    losses = artifact.parts(values)
    together = make([model.functions[n] for n in numbers])
    own = [[i for i, (part, _) in enumerate(owner) if part == n] for n in numbers]
    values_together = [values[i] for part in own for i in part]
    gradient = iter(together.gradient(values_together))
    worst = 0
    for number, part, loss in zip(numbers, own, together.parts(values_together)):
        of_part = [exact[i] for i in part]
        off = math.dist([next(gradient) for _ in part], of_part) / max(math.hypot(*of_part), 1e-6)
        off = max(off, abs(loss - losses[number]) / max(abs(loss), 1e-3))
        if not off <= 1e-12:
            sys.exit(f"{model.functions[number].name}: with two samples in a microbatch, loss or gradient differ by {off}")
        worst = max(worst, off)
    return len(numbers), worst


def check(path, work):
    random.seed(path.stem)
    text = path.read_text()
    aliases, functions = read(text)
    base = "f64" if any(element(kind) == "f64" for f in functions for _, kind, _, _ in f.arguments) else "f32"
    model = Model(aliases, functions, base)
    source = work / path.name
    source.write_text(model.text())
    # Faults are in numbers that are read, not in code.
    artifact = Artifact(model, source, work, [*(QUICK if "--fault" in sys.argv else []), "--retype", "f64"])
    values = [random.uniform(*bounds) for _, kind, bounds in model.params for _ in range(math.prod(shape(kind)))]
    artifact.train("--steps", "2", "--verify", "--lr", "0.001", "--init", str(artifact.write(values)))
    gradient = artifact.gradient(values)
    checked, kinks, worst = check_differences(artifact, values, [g * FAULT for g in gradient])
    print(f"{path.stem}: {len(model.functions)} functions, {checked} derivatives, relative error {worst:.1e}, {len(kinks)} near a kink")
    if len(kinks) > 2:
        sys.exit(f"too many kinks: {kinks}")

    def make_together(functions):
        model = Model(aliases, functions, base)
        source.write_text(model.text())
        return Artifact(model, source, work, [*QUICK, "--retype", "f64", "--microbatch-size", str(len(SCALES))], 1)

    if "--no-samples" not in sys.argv:
        count, worst = check_samples(artifact, values, gradient, make_together)
        print(f"{path.stem}: {count} functions on two samples in a microbatch, relative difference {worst:.1e}")
    if "f32" not in text:
        model = Model(*read(in_f32(text)), "f32")
        source.write_text(model.text())
    small = Artifact(model, source, work, [])
    small.train("--steps", "2", "--verify", "--lr", "0.001", "--init", str(small.write(values)))
    print(f"{path.stem}: in {model.base}, gradients differ by {check_small(small, values, gradient):.1e}")


def main():
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    work = pathlib.Path(arguments[0])
    work.mkdir(parents=True, exist_ok=True)
    for name in arguments[1:]:
        check(pathlib.Path(name), work)


main()
