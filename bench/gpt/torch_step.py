#!/usr/bin/env python3
"""One step of the example GPT in eager PyTorch, on one thread: the peer of bench/gpt/run.

Prints the seconds of each step after the first, one a line. The model has the
shapes of examples/gpt/generate.py: pre-norm, tanh GELU, learned positions,
untied head, mean cross entropy; a step is 8 microbatches and AdamW.
"""

import argparse
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

    def forward(self, x, mask):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).chunk(3, dim=-1)
        split = (batch, length, self.heads, width // self.heads)
        q, k, v = (t.reshape(split).transpose(1, 2) for t in (q, k, v))
        scores = q @ k.transpose(-1, -2) / math.sqrt(split[-1])
        context = torch.softmax(scores.masked_fill(mask, -math.inf), dim=-1) @ v
        x = x + self.proj(context.transpose(1, 2).reshape(x.shape))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self, layers, width, heads, length, vocabulary):
        super().__init__()
        self.wte = nn.Embedding(vocabulary, width)
        self.wpe = nn.Parameter(torch.zeros(length, width))
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        mask = torch.ones(length, length, dtype=torch.bool).triu(1)
        self.register_buffer("mask", mask)

    def forward(self, tokens, labels):
        x = self.wte(tokens) + self.wpe
        for block in self.blocks:
            x = block(x, self.mask)
        logits = self.head(self.norm(x))
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--width", type=int, default=320)
    parser.add_argument("--heads", type=int, default=5)
    parser.add_argument("--sequence", type=int, default=128)
    parser.add_argument("--microbatch-size", type=int, default=4)
    parser.add_argument("--microbatches", type=int, default=8)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = Gpt(options.layers, options.width, options.heads, options.sequence, 256)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    shape = (options.microbatches, options.microbatch_size, options.sequence)
    for step in range(options.steps + 1):
        tokens = torch.randint(256, shape)
        labels = torch.randint(256, shape)
        begin = time.perf_counter()
        optimizer.zero_grad(set_to_none=False)
        for i in range(options.microbatches):
            (model(tokens[i], labels[i]) / options.microbatches).backward()
        optimizer.step()
        if step > 0:
            print(time.perf_counter() - begin, flush=True)


if __name__ == "__main__":
    main()
