#!/usr/bin/env python3
"""Steps of the example GPT in PyTorch on a GPU: the peer of bench/gpu/run.

Prints a line of JSON: the seconds of each step after the warm-up, and the
version of PyTorch. The model has the shapes of examples/gpt/generate.py --tied:
pre-norm, tanh GELU, learned positions, mean cross entropy; a step is some
microbatches and AdamW. Attention and the optimiser are PyTorch's fused ones.
"""

import argparse
import contextlib
import json
import math
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
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten())


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
    return parser.parse_args()


def main():
    options = parse_arguments()
    torch.manual_seed(0)
    torch.set_float32_matmul_precision("high" if options.type == "tf32" else "highest")
    device = torch.device(options.device)
    on_gpu = device.type == "cuda"
    model = Gpt(options).to(device)
    forward = torch.compile(model) if options.mode == "compile" else model
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, **({"fused": True} if on_gpu else {}))
    shape = (options.microbatches, options.microbatch_size, options.sequence)
    tokens = torch.randint(options.vocabulary, shape, device=device)
    labels = torch.randint(options.vocabulary, shape, device=device)

    def narrow():
        if options.type != "bf16":
            return contextlib.nullcontext()
        return torch.autocast(device.type, dtype=torch.bfloat16)

    def synchronize():
        if on_gpu:
            torch.cuda.synchronize()

    seconds = []
    for step in range(options.warm_up + options.steps):
        synchronize()
        begin = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        for i in range(options.microbatches):
            with narrow():
                loss = forward(tokens[i], labels[i])
            (loss / options.microbatches).backward()
        optimizer.step()
        synchronize()
        if step >= options.warm_up:
            seconds.append(time.perf_counter() - begin)
    peak = torch.cuda.max_memory_allocated() if on_gpu else 0
    print(json.dumps({"torch": torch.__version__, "seconds": seconds, "loss": float(loss), "peak_bytes": peak,
                      "parameters": sum(p.numel() for p in model.parameters())}))


if __name__ == "__main__":
    main()
