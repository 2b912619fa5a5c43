"""Writes the metadata of device_ranks.c to stdout; KEY=VALUE arguments change a
top-level member, --no-regions leaves out what is planned."""

import json
import sys

MICROBATCHES = 2
WIDTH = 64
BYTES = 4 * WIDTH
HAS_REGIONS = "--no-regions" not in sys.argv


def rank(symbol, size, params=(), x=None, settings=-1, norms=-1,
         results=-1):
    inputs = []
    if x is not None:
        inputs = [{"input": 0, "offset": x, "bytes": MICROBATCHES * BYTES}]
    return {
        "step_symbol": symbol,
        "object": 0,
        "arena_bytes": size,
        "peak_live_bytes": size,
        "regions": [{"name": "all", "kind": "other", "offset": 0, "bytes": size,
                     "first_op": -1, "last_op": -1}] if HAS_REGIONS else [],
        "params": list(params),
        "gemms": [],
        "convolutions": [],
        "reductions": [],
        "ops": [],
        "inputs": inputs,
        "constants": [],
        "attentions": [],
        "compute_streams": 1,
        "events": 0,
        "library_offset": -1,
        "library_bytes": 0,
        "settings_offset": settings,
        "norms_offset": norms,
        "norm_parts": 1 if norms >= 0 else 0,
        "results_offset": results,
        "reads_back": False,
    }


def param(value):
    gradient = {"chunk": 1, "offset": value + BYTES}
    return {"param": 0, "value_offset": value, "state_offset": -1,
            "gradients": [gradient], "is_home": True}


def program(name, ranks, channels, chunks):
    return {
        "name": name,
        "schedule": "gpipe",
        "stages": len(ranks),
        "chunks_per_stage": chunks,
        "replicas": 1,
        "stage_replicas": [],
        "microbatches": 0,
        "chunks": [],
        "edges": [],
        "channels": channels,
        "ranks": ranks,
    }


def kernel(name, arguments):
    return {"name": name, "grid": [1, 1, 1], "block": [WIDTH, 1, 1],
            "shared_bytes": 0, "num_arguments": arguments}


channel = {
    "kind": "activation",
    "edge": 0,
    "from_rank": 0,
    "to_rank": 1,
    "message_bytes": BYTES,
    "messages_per_step": MICROBATCHES,
    "type": "f32",
    "shape": [WIDTH],
    "length_shapes": [],
    "microbatches": [],
    "parts": 1,
    "stream": 1,
    "communicator": 0,
    "receive_stream": -1,
}
pipeline = program(
    "pipeline",
    [rank("rank0_step", 1024, x=0),
     rank("rank1_step", 1792, [param(0)], settings=1024, norms=1280, results=1536)],
    [channel], 1)
sequential = program(
    "sequential",
    [rank("sequential_step", 2304, [param(512)], x=0, settings=1536, norms=1792,
          results=2048)],
    [], 2)
metadata = {
    "model": "device ranks",
    "fingerprint": "",
    "cpu": "x86-64",
    "cpu_features": ["sse2"],
    "optimizer": "sgd",
    "microbatches": MICROBATCHES,
    "lengths": [],
    "options": [],
    "results": [{"name": "loss", "type": "f32"}],
    "params": [{"name": "w", "shape": [WIDTH], "type": "f32",
                "init": {"kind": "normal", "first": 0.0, "second": 1.0,
                         "stored": None}}],
    "batches": [{"name": "x", "shape": [WIDTH], "type": "f32", "range": None,
                 "length_dim": -1}],
    "buffers": [],
    "programs": [pipeline, sequential],
    "target": "cuda",
    "device": {"chips": ["sm_80"], "ptx": "sm_80", "toolkit": "13.0",
               "kernels": [kernel("half_of", 2), kernel("loss_of", 4),
                           kernel("update_by_sgd", 4)]},
}
for argument in sys.argv[1:]:
    if argument == "--no-regions":
        continue
    key, value = argument.split("=", 1)
    metadata[key] = json.loads(value)
json.dump(metadata, sys.stdout)
