#!/usr/bin/env python3
"""Steps of the example GPT in PyTorch on a GPU: the peer of bench/gpu/run.

Prints a line of JSON: the seconds of each step after the warm-up, the losses (and
norms) of all, and the version of PyTorch. The model is that of examples/gpt/generate.py
--tied: pre-norm, tanh GELU, learned positions, mean cross entropy; a step is some
microbatches and AdamW. Attention and the optimiser are PyTorch's fused ones. With
the parameters and the data of veeline train it has its losses.
"""

import argparse
import contextlib
import json
import math
import re
import struct
import time

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def attention(self, q, k, v):
        if hasattr(F, "scaled_dot_product_attention"):
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)
        length = q.shape[-2]
        mask = torch.ones(length, length, dtype=torch.bool, device=q.device).triu(1)
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        return torch.softmax(scores.masked_fill(mask, -math.inf), dim=-1) @ v

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).chunk(3, dim=-1)
        split = (batch, length, self.heads, width // self.heads)
        context = self.attention(*(t.reshape(split).transpose(1, 2) for t in (q, k, v)))
        x = x + self.proj(context.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.wte = nn.Embedding(sizes.vocabulary, sizes.width)
        nn.init.normal_(self.wte.weight, std=0.02)
        self.wpe = nn.Parameter(0.005 * torch.randn(sizes.sequence, sizes.width))
        self.blocks = nn.ModuleList(Block(sizes.width, sizes.heads) for _ in range(sizes.layers))
        self.norm = nn.LayerNorm(sizes.width)

    def forward(self, tokens, labels):
        x = self.wte(tokens) + self.wpe
        for block in self.blocks:
            x = block(x)
        logits = F.linear(self.norm(x), self.wte.weight)
        # In f32, as autocast does on a GPU.
        return F.cross_entropy(logits.flatten(0, 1).float(), labels.flatten())


def read_safetensors(path):
    """Reads what veeline train --save has written, by name."""
    with open(path, "rb") as file:
        size, = struct.unpack("<Q", file.read(8))
        entries = json.loads(file.read(size))
        data = bytearray(file.read())
    entries.pop("__metadata__", None)
    found = {}
    for name, entry in entries.items():
        if entry["dtype"] != "F32":
            raise SystemExit(f"error: '{path}': expected '{name}' of F32, found {entry['dtype']}")
        begin, end = entry["data_offsets"]
        found[name] = torch.frombuffer(data[begin:end], dtype=torch.float32).reshape(entry["shape"])
    return found


def example_name(name):
    """The name of a parameter in examples/gpt, such as "h3.attn.qkv.weight"."""
    if name == "wte.weight":
        return "wte"
    name = re.sub(r"^blocks\.(\d+)", r"h\1", name)
    name = re.sub(r"\b(qkv|proj)\b", r"attn.\1", name)
    return re.sub(r"\b(up|down)\b", r"mlp.\1", name)


def load_parameters(model, path):
    found = read_safetensors(path)
    linear = {layer.weight for layer in model.modules() if isinstance(layer, nn.Linear)}
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            value = found.pop(example_name(name))
            # The example's weights are [inputs, outputs].
            parameter.copy_(value.t() if parameter in linear else value)
    if found:
        raise SystemExit(f"error: '{path}' has {', '.join(found)}, which the model has not")


def make_batches(options, device):
    """Tokens and labels of the microbatches of a step."""
    shape = (options.microbatches, options.microbatch_size, options.sequence)
    if not options.tokens:
        return tuple(torch.randint(options.vocabulary, shape, device=device) for _ in range(2))
    import numpy
    return tuple(torch.from_numpy(numpy.load(path).astype("int64")).reshape(shape).to(device)
                 for path in (options.tokens, options.labels))


def trace(make_step, path, on_gpu):
    """Profiles a step. Returns the seconds in which the device was busy with it."""
    kinds = [torch.profiler.ProfilerActivity.CPU] + ([torch.profiler.ProfilerActivity.CUDA] if on_gpu else [])
    with torch.profiler.profile(activities=kinds) as profile:
        make_step()
    profile.export_chrome_trace(path)
    # PyTorch has renamed it.
    names = ("self_device_time_total", "self_cuda_time_total") if on_gpu else ("self_cpu_time_total",)
    return sum(next(getattr(event, name) for name in names if hasattr(event, name)) for event in profile.key_averages()) / 1e6


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("layers", "width", "heads", "sequence", "vocabulary", "microbatch-size", "microbatches"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--warm-up", type=int, default=3)
    parser.add_argument("--mode", choices=("eager", "compile"), default="eager")
    parser.add_argument("--type", choices=("f32", "tf32", "bf16"), default="f32",
                        help="of products: f32, tf32, or bf16 by autocast; parameters are f32")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--init", help="parameters that veeline train has saved")
    parser.add_argument("--tokens", help="a .npy file of those of a step, in place of random ones; with --labels")
    parser.add_argument("--labels")
    parser.add_argument("--norms", action="store_true", help="print the norm of all gradients of each step, too")
    parser.add_argument("--trace", help="profile one step more, and write its trace, for Perfetto, to this file")
    return parser.parse_args()


def main():
    options = parse_arguments()
    torch.manual_seed(0)
    torch.set_float32_matmul_precision("high" if options.type == "tf32" else "highest")
    device = torch.device(options.device)
    on_gpu = device.type == "cuda"
    model = Gpt(options)
    if options.init:
        load_parameters(model, options.init)
    model.to(device)
    forward = torch.compile(model) if options.mode == "compile" else model
    # As veeline train does.
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.0, **({"fused": True} if on_gpu else {}))
    tokens, labels = make_batches(options, device)

    def narrow():
        if options.type != "bf16":
            return contextlib.nullcontext()
        return torch.autocast(device.type, dtype=torch.bfloat16)

    def synchronize():
        if on_gpu:
            torch.cuda.synchronize()

    norms = []

    def make_step():
        synchronize()
        begin, parts = time.perf_counter(), []
        optimizer.zero_grad(set_to_none=True)
        for i in range(options.microbatches):
            with narrow():
                loss = forward(tokens[i], labels[i])
            (loss / options.microbatches).backward()
            parts.append(loss.detach())
        if options.norms:
            norms.append(math.sqrt(sum(float(p.grad.double().square().sum()) for p in model.parameters())))
        optimizer.step()
        synchronize()
        return time.perf_counter() - begin, float(torch.stack(parts).mean())

    made = [make_step() for _ in range(options.warm_up + options.steps)]
    found = {"torch": torch.__version__, "seconds": [seconds for seconds, _ in made[options.warm_up:]], "losses": [loss for _, loss in made],
             "norms": norms, "peak_bytes": torch.cuda.max_memory_allocated() if on_gpu else 0,
             "parameters": sum(p.numel() for p in model.parameters())}
    if options.trace:
        found["busy_seconds"] = trace(make_step, options.trace, on_gpu)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
