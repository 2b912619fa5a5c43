"""Random arrays with strides of all kinds are read as element by element."""

import array
import itertools
import math
import random

from veeline import _arrays


def expected(values, offset, shape, strides):
    return array.array("f", (values[offset + sum(i * s for i, s in zip(indices, strides))]
                             for indices in itertools.product(*map(range, shape)))).tobytes()


random.seed(1)
values = array.array("f", range(5000))
address, _ = values.buffer_info()
for number in range(300):
    shape = [random.randint(1, 5) for _ in range(random.randint(1, 4))]
    strides = [random.choice((-9, -4, -1, 0, 1, 2, 7, 25)) for _ in shape]
    offset = 2500
    found = _arrays._read(address + 4 * offset, shape, [4 * stride for stride in strides], 4)
    assert found == expected(values, offset, shape, strides), (number, shape, strides)
    assert len(found) == 4 * math.prod(shape)
# Bytes that are no whole elements apart.
packed = bytearray(b"".join(array.array("f", [i]).tobytes() + b"x" for i in range(6)))
kept = array.array("B", packed)
place, _ = kept.buffer_info()
assert _arrays._read(place, [6], [5], 4) == array.array("f", range(6)).tobytes()
print("301 arrays")
