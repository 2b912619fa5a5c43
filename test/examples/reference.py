# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The loss of the example models, computed by loops over plain Python lists.

An independent reading of what the generators should write: it goes token by token
and head by head, shares no code with them, and takes parameters by their names.
"""

import math


def gpt_loss(config, parameters, tokens, labels):
    """The mean cross entropy of `tokens` [batch][time] against `labels`."""
    losses = []
    for row, targets in zip(tokens, labels):
        for logits, target in zip(_gpt_logits(config, parameters, row), targets):
            losses.append(_cross_entropy(logits, target))
    return math.fsum(losses) / len(losses)


def _cross_entropy(logits, target):
    shift = max(logits)
    log_sum = shift + math.log(math.fsum(math.exp(v - shift) for v in logits))
    return log_sum - logits[target]


def mlp_loss(config, parameters, inputs, targets):
    """The mean squared error of `inputs` [batch][in] against `targets` [batch][out]."""
    errors = []
    layers = len(config.widths) - 1
    for row, target in zip(inputs, targets):
        for layer in range(layers):
            row = _linear(parameters, f"layer{layer}", row)
            if layer + 1 < layers:
                row = [activate(config.activation, v) for v in row]
        errors += [(a - b) ** 2 for a, b in zip(row, target)]
    return math.fsum(errors) / len(errors)


def gru_loss(config, parameters, inputs, targets):
    """The mean squared error of `inputs` [batch][time][in] against `targets`."""
    errors = []
    for sequence, target in zip(inputs, targets):
        state = [0.0] * config.hidden
        for row, expected in zip(sequence, target):
            state = _gru_step(config, parameters, row, state)
            errors += [(a - b) ** 2
                       for a, b in zip(_linear(parameters, "head", state), expected)]
    return math.fsum(errors) / len(errors)


def _gru_step(config, parameters, row, state):
    of_input, of_state = _linear(parameters, "input", row), _linear(parameters, "state", state)
    following = []
    for i, old in enumerate(state):
        reset, update = (1.0 / (1.0 + math.exp(-of_input[at] - of_state[at]))
                         for at in (i, i + config.hidden))
        at = i + 2 * config.hidden
        new = math.tanh(of_input[at] + reset * of_state[at])
        following.append((1.0 - update) * new + update * old)
    return following


def resnet_loss(config, parameters, images, labels):
    """The mean cross entropy of `images` [batch][row][column][color] against `labels` [batch]."""
    x = _rectified(_convolved(parameters, "stem", images, 1))
    for stage in range(config.stages):
        for block in range(config.blocks):
            name, stride = f"s{stage}b{block}", 2 if stage > 0 and block == 0 else 1
            inner = _rectified(_convolved(parameters, name + ".first", x, stride))
            inner = _convolved(parameters, name + ".second", inner, 1)
            if stride > 1:
                x = _convolved(parameters, name + ".skip", x, stride)
            x = _rectified([[[[a + b for a, b in zip(*pixels)] for pixels in zip(*rows)]
                             for rows in zip(*images)] for images in zip(inner, x)])
    losses = []
    for image, label in zip(x, labels):
        pixels = [pixel for row in image for pixel in row]
        pooled = [math.fsum(channel) / len(pixels) for channel in zip(*pixels)]
        losses.append(_cross_entropy(_linear(parameters, "head", pooled), label))
    return math.fsum(losses) / len(losses)


def _rectified(images):
    return [[[[max(v, 0.0) for v in pixel] for pixel in row] for row in image] for image in images]


def _convolved(parameters, name, images, stride):
    """A convolution that goes as far beyond each edge as its window, and batch norm."""
    weight = parameters[name + ".weight"]
    window, height, width = len(weight), len(images[0]), len(images[0][0])
    reach = window // 2

    def at(image, row, column):
        total = [0.0] * len(weight[0][0][0])
        for dy in range(window):
            for dx in range(window):
                y, x = row * stride + dy - reach, column * stride + dx - reach
                if 0 <= y < height and 0 <= x < width:
                    for value, outputs in zip(image[y][x], weight[dy][dx]):
                        total = [t + value * w for t, w in zip(total, outputs)]
        return total

    found = [[[at(image, row, column) for column in range(-(-width // stride))]
              for row in range(-(-height // stride))] for image in images]
    channels = list(zip(*(pixel for image in found for row in image for pixel in row)))
    means = [math.fsum(channel) / len(channel) for channel in channels]
    scales = [weight / math.sqrt(math.fsum((v - mean) ** 2 for v in channel) / len(channel) + 1e-5)
              for channel, mean, weight in zip(channels, means, parameters[name + ".norm.weight"])]
    biases = parameters[name + ".norm.bias"]
    return [[[[(v - mean) * scale + bias for v, mean, scale, bias in zip(pixel, means, scales, biases)]
              for pixel in row] for row in image] for image in found]


def activate(kind, x):
    if kind == "relu":
        return x if x > 0 else 0.0
    if kind == "silu":
        return x / (1.0 + math.exp(-x))
    if kind == "gelu-erf":
        return x * 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))
    return x * 0.5 * (1.0 + math.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x ** 3)))


def _linear(parameters, name, row):
    weight = parameters[name + ".weight"]
    bias = parameters.get(name + ".bias", [0.0] * len(weight[0]))
    return [math.fsum([b, *(v * weights[column] for v, weights in zip(row, weight))])
            for column, b in enumerate(bias)]


def _norm(config, parameters, name, row):
    mean = math.fsum(row) / len(row) if config.norm == "layer" else 0.0
    centered = [v - mean for v in row]
    deviation = math.sqrt(math.fsum(v * v for v in centered) / len(row) + 1e-5)
    bias = parameters.get(name + ".bias", [0.0] * len(row))
    return [v / deviation * w + b
            for v, w, b in zip(centered, parameters[name + ".weight"], bias)]


def _rotate(vector, position):
    half = len(vector) // 2
    result = [0.0] * len(vector)
    for pair in range(half):
        turn = complex(vector[pair], vector[pair + half])
        angle = position / 10000.0 ** (2.0 * pair / len(vector))
        turn *= complex(math.cos(angle), math.sin(angle))
        result[pair], result[pair + half] = turn.real, turn.imag
    return result


def _attention(config, parameters, name, rows):
    """Attends from every row to itself and the rows before it."""
    width = len(rows[0])
    size = width // config.heads
    projected = [_linear(parameters, name + ".qkv", row) for row in rows]
    outputs = [[] for _ in rows]
    for head in range(config.heads):
        start = head * size
        q, k, v = ([row[part * width + start:part * width + start + size] for row in projected]
                   for part in range(3))
        if config.position == "rotary":
            q = [_rotate(vector, time) for time, vector in enumerate(q)]
            k = [_rotate(vector, time) for time, vector in enumerate(k)]
        for time, query in enumerate(q):
            scores = [math.fsum(a * b for a, b in zip(query, key)) / math.sqrt(size)
                      for key in k[:time + 1]]
            powers = [math.exp(score - max(scores)) for score in scores]
            total = math.fsum(powers)
            outputs[time] += [math.fsum(power / total * value[d] for power, value in zip(powers, v))
                              for d in range(size)]
    return [_linear(parameters, name + ".proj", row) for row in outputs]


def _gpt_logits(config, parameters, tokens):
    rows = [list(parameters["wte"][token]) for token in tokens]
    if config.position == "learned":
        rows = [[a + b for a, b in zip(row, place)]
                for row, place in zip(rows, parameters["wpe"])]
    first = None
    for layer in range(config.layers):
        h = f"h{layer}."
        normed = [_norm(config, parameters, h + "norm1", row) for row in rows]
        rows = [[a + b for a, b in zip(row, update)]
                for row, update in zip(rows, _attention(config, parameters, h + "attn", normed))]
        for time, row in enumerate(rows):
            up = _linear(parameters, h + "mlp.up", _norm(config, parameters, h + "norm2", row))
            down = _linear(parameters, h + "mlp.down",
                           [activate(config.activation, v) for v in up])
            rows[time] = [a + b for a, b in zip(row, down)]
        first = first or rows
    if config.skip_edge:
        rows = [[a + b for a, b in zip(row, early)] for row, early in zip(rows, first)]
    rows = [_norm(config, parameters, "norm", row) for row in rows]
    if config.tied:
        return [[math.fsum(a * b for a, b in zip(row, entry)) for entry in parameters["wte"]]
                for row in rows]
    return [_linear(parameters, "head", row) for row in rows]
