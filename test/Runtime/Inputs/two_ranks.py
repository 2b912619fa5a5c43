"""Writes the metadata of two_ranks.c to stdout; KEY=VALUE arguments change a
top-level member, as in cpu_features='["xop"]'."""

import json
import sys

MICROBATCHES = 4
MESSAGE = 128
SCRATCH = 65536


def param(index, base, chunk):
    return {
        "param": index,
        "value_offset": base,
        "state_offset": base + 1024,
        "gradients": [{"chunk": chunk, "offset": base + 3072}],
        "is_home": True,
    }


def region(name, kind, offset, size):
    return {
        "name": name,
        "kind": kind,
        "offset": offset,
        "bytes": size,
        "first_op": -1,
        "last_op": -1,
    }


def param_regions(name, base):
    return [
        region(name, "param", base, 1024),
        region(name + " state", "state", base + 1024, 2048),
        region(name + " gradient", "gradient", base + 3072, 1024),
    ]


def op(kind, chunk=-1, microbatch=-1, channel=-1, of_param=-1, begin=-1.0):
    return {
        "kind": kind,
        "chunk": chunk,
        "microbatch": microbatch,
        "channel": channel,
        "param": of_param,
        "reduction": -1,
        "stream": 0,
        "predicted_begin": begin,
        "predicted_end": begin + 1 if begin >= 0 else -1.0,
    }


def gemm(m, n, k, a_strides, b_strides):
    return {
        "type": "f32",
        "batch": [],
        "m": m,
        "n": n,
        "k": k,
        "a_strides": a_strides,
        "b_strides": b_strides,
        "c_strides": [n, 1],
        "scratch_bytes": SCRATCH,
        "c_type": "f32",
        "compute": "f32",
        "alignment": 4,
        "accumulate": False,
        "epilogue": "none",
    }


GEMMS = [
    gemm(2, 16, 16, [16, 1], [16, 1]),
    gemm(16, 16, 2, [1, 16], [16, 1]),
    gemm(2, 16, 16, [16, 1], [1, 16]),
]


def rank(symbol, size, regions, params, gemms, ops):
    return {
        "step_symbol": symbol,
        "object": 0,
        "arena_bytes": size,
        "peak_live_bytes": size,
        "regions": regions,
        "params": params,
        "gemms": gemms,
        "convolutions": [],
        "reductions": [],
        "ops": ops,
        "inputs": [],
        "constants": [],
        "attentions": [],
        "compute_streams": 1,
        "events": 0,
        "library_offset": -1,
        "library_bytes": 0,
        "settings_offset": -1,
        "norms_offset": -1,
        "norm_parts": 0,
        "reads_back": False,
    }


def channel(kind, from_rank, to_rank):
    return {
        "kind": kind,
        "edge": 0,
        "from_rank": from_rank,
        "to_rank": to_rank,
        "message_bytes": MESSAGE,
        "messages_per_step": MICROBATCHES,
        "type": "f32",
        "shape": [2, MESSAGE // 8],
        "length_shapes": [],
        "microbatches": [],
        "parts": 1,
        "stream": 1,
        "communicator": 0,
        "receive_stream": -1,
    }


def program(name, ranks, channels, chunks_per_stage):
    return {
        "name": name,
        "schedule": "gpipe" if len(ranks) > 1 else "sequential",
        "stages": len(ranks),
        "chunks_per_stage": chunks_per_stage,
        "replicas": 1,
        "stage_replicas": [],
        "microbatches": 0,
        "chunks": [],
        "edges": [],
        "channels": channels,
        "ranks": ranks,
    }


def rank0_ops():
    ops = []
    for i in range(MICROBATCHES):
        ops += [op("F", 0, i, begin=float(i))]
        ops += [op("send", microbatch=i, channel=0)]
    for i in range(MICROBATCHES):
        ops += [op("recv", microbatch=i, channel=1)]
        ops += [op("BW", 0, i, begin=float(10 + i))]
    return ops + [op("update", of_param=0)]


def rank1_ops():
    ops = []
    for i in range(MICROBATCHES):
        ops += [op("recv", microbatch=i, channel=0)]
        ops += [op("F", 1, i, begin=float(1 + 2 * i))]
        ops += [op("BW", 1, i, begin=float(2 + 2 * i))]
        ops += [op("send", microbatch=i, channel=1)]
    return ops + [op("update", of_param=1)]


def work_regions(offset):
    return [
        region("h", "workspace", offset, 128),
        region("dw", "workspace", offset + 128, 1024),
        region("scratch", "workspace", offset + 1152, SCRATCH),
    ]


def pipeline():
    messages = region("messages", "message", 4096, MICROBATCHES * MESSAGE)
    # Rank 0 has 64 bytes at its end that no region covers.
    rank0 = rank(
        "rank0_step",
        4672,
        param_regions("table", 0) + [messages],
        [param(0, 0, 0)],
        [],
        rank0_ops(),
    )
    rank1 = rank(
        "rank1_step",
        5760 + SCRATCH,
        param_regions("w", 0) + [messages] + work_regions(4608),
        [param(1, 0, 1)],
        GEMMS,
        rank1_ops(),
    )
    channels = [channel("activation", 0, 1), channel("gradient", 1, 0)]
    return program("pipeline", [rank0, rank1], channels, 1)


def single(name, chunk_of_w):
    regions = param_regions("table", 0) + param_regions("w", 4096)
    regions += [region("e, de", "message", 8192, 256)] + work_regions(8448)
    params = [param(0, 0, 0), param(1, 4096, chunk_of_w)]
    step = rank(name + "_step", 9600 + SCRATCH, regions, params, GEMMS, [])
    return program(name, [step], [], 2)


def tokens(name):
    return {"name": name, "shape": [2, 16], "type": "i32", "range": [0, 256],
            "length_dim": -1, "tokens": name == "tokens"}


def parameter(name, shape, kind, first, second):
    init = {"kind": kind, "first": first, "second": second, "stored": None}
    return {"name": name, "shape": shape, "type": "f32", "init": init}


metadata = {
    "model": "two ranks",
    "fingerprint": "",
    "cpu": "x86-64",
    "cpu_features": ["sse2"],
    "optimizer": "adamw",
    "microbatches": MICROBATCHES,
    "lengths": [],
    "options": [["stages", "2"]],
    "results": [{"name": "loss", "type": "f32"}],
    "params": [
        parameter("table", [256], "normal", 0.0, 1.0),
        parameter("w", [16, 16], "uniform", -0.25, 0.25),
    ],
    "batches": [tokens("tokens"), tokens("labels")],
    "buffers": [],
    "programs": [pipeline(), single("sequential", 1), single("reference", 0)],
    "target": "host",
    "device": None,
}
for argument in sys.argv[1:]:
    key, value = argument.split("=", 1)
    metadata[key] = json.loads(value)
json.dump(metadata, sys.stdout)
