#!/usr/bin/env python3
"""One step of the example ResNet in eager PyTorch, on one thread: the peer of bench/resnet/run.

Prints the seconds of each step after the first, one a line. The model has the
shapes of examples/resnet/generate.py; a step is several microbatches and AdamW.
"""

import argparse
import time

import torch
import torch.nn.functional as F
from torch import nn


def convolution(inputs, outputs, window, stride):
    return nn.Sequential(nn.Conv2d(inputs, outputs, window, stride, window // 2, bias=False), nn.BatchNorm2d(outputs))


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.first = convolution(inputs, outputs, 3, stride)
        self.second = convolution(outputs, outputs, 3, 1)
        self.skip = convolution(inputs, outputs, 1, stride) if stride > 1 else nn.Identity()

    def forward(self, x):
        return F.relu(self.second(F.relu(self.first(x))) + self.skip(x))


class ResNet(nn.Module):
    def __init__(self, stages, blocks, width, classes):
        super().__init__()
        layers, channels = [convolution(3, width, 3, 1), nn.ReLU()], width
        for stage in range(stages):
            for block in range(blocks):
                layers.append(Block(channels, width << stage, 2 if stage and not block else 1))
                channels = width << stage
        self.body = nn.Sequential(*layers)
        self.head = nn.Linear(channels, classes)

    def forward(self, image, labels):
        return F.cross_entropy(self.head(self.body(image).mean(dim=(2, 3))), labels)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--stages", type=int, default=3)
    parser.add_argument("--blocks", type=int, default=3)
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--size", type=int, default=32)
    parser.add_argument("--microbatch-size", type=int, default=16)
    parser.add_argument("--microbatches", type=int, default=8)
    parser.add_argument("--channels-last", action="store_true", help="keep images as [n, h, w, c]")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    layout = torch.channels_last if options.channels_last else torch.contiguous_format
    model = ResNet(options.stages, options.blocks, options.width, 10).to(memory_format=layout)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(options.steps + 1):
        shape = (options.microbatch_size, 3, options.size, options.size)
        images = [torch.randn(shape).to(memory_format=layout) for _ in range(options.microbatches)]
        labels = torch.randint(10, (options.microbatches, options.microbatch_size))
        begin = time.perf_counter()
        optimizer.zero_grad(set_to_none=False)
        for i in range(options.microbatches):
            (model(images[i], labels[i]) / options.microbatches).backward()
        optimizer.step()
        if step > 0:
            print(time.perf_counter() - begin, flush=True)


if __name__ == "__main__":
    main()
