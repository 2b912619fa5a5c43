"""Runs job files that are wrong, and prints what `veeline run` says of each."""

import os
import subprocess

MODEL = "model: gpt.mlir\n"
FAST = MODEL + "microbatches: 4\nquiet: true\nno-reference: true\n"
CASES = {
    "empty": "",
    "no mapping": "- gpt.mlir\n",
    "no YAML": MODEL + "stages: 2\n  replicas: [2\n",
    "two documents": MODEL + "---\n" + MODEL,
    "no model": "stages: 2\n",
    "twice": MODEL + "stages: 2\nstages: 3\n",
    "unknown": MODEL + "stagse: 2\n",
    "other name": MODEL + "learning-rate: 4\n",
    "section": MODEL + "compile: {stages: 2}\n",
    "of VPipe": MODEL + "batch_size: 4\n",
    "no value": MODEL + "stages:\nmicrobatches: 2\n",
    "empty list": MODEL + "partition: []\n",
    "list for one": MODEL + "stages: [2, 2]\n",
    "mapping for one": MODEL + "stages: {first: 2}\n",
    "list in a list": MODEL + "partition: [[1, 2], 3]\n",
    "anchor": MODEL + "stages: &p 2\n",
    "alias": MODEL + "lr: 1\nmicrobatches: *p\n",
    "tag": MODEL + "stages: !!int 2\n",
    "key that is a list": MODEL + "[a, b]: 2\n",
    "no number": MODEL + "stages: two\n",
    "out of range": MODEL + "microbatches: 0\n",
    "no flag": MODEL + "quiet: yes\n",
    "unknown schedule": MODEL + "stages: 2\nschedule: zbv\n",
    "unknown optimizer": MODEL + "optimizer: adagrad\n",
    "unknown strategy": MODEL + "communication: mail\n",
    "recompute ratio": MODEL + "stages: 2\nrecompute: [1.5, 0]\n",
    "recompute count": MODEL + "stages: 2\nrecompute: [0.5, none, none]\n",
    "learning rate": MODEL + "lr: -1\n",
    "steps": MODEL + "steps: 0\n",
    "steps and epochs": MODEL + "steps: 2\nepochs: 2\n",
    "data": MODEL + "data: x.npy\n",
    "data twice": MODEL + "data:\n  x: a.npy\n  x: b.npy\n",
    "machine": MODEL + "machines:\n  - localhost:0\n  - localhost\n",
    "device": MODEL + "machines:\n  - localhost:0\n  - localhost:one\n",
    "device twice": MODEL + "machines:\n  - localhost:0\n  - localhost:0\n",
    "too few machines": "stages: 2\n" + MODEL + "machines: [a:0]\nreplicas: 2\n",
    "several hosts": "stages: 2\n" + MODEL + "machines: [a:0, a:1, b:0, b:1]\nreplicas: 2\n",
    "batch": MODEL + "batch-size: many\n",
    "batch and replicas": MODEL + "replicas: 2\nbatch-size: 9\n",
    "batch of the model": MODEL + "microbatches: 4\nbatch-size: 7\nquiet: true\nno-reference: true\ntext: gpt.mlir\n",
    "microbatches of the model": MODEL + "batch-size: 32\nquiet: true\nno-reference: true\ntext: gpt.mlir\n",
    "another host": MODEL + "text: gpt.mlir\nstages: 2\nmachines: [elsewhere:0, elsewhere:1]\n",
    "transport": MODEL + "text: gpt.mlir\ntransport: mpi\n",
    "record": MODEL + "text: gpt.mlir\nflight-recorder: none/x\n",
    "record without a name": MODEL + "text: gpt.mlir\nflight-recorder: ''\n",
    "output": MODEL + "output: x.vee\n",
    "devices": MODEL + "device: [0, one]\n",
    "no such model": "model: none.mlir\n",
    "partition": MODEL + "stages: 2\npartition: [1, 1]\n",
    "no table": MODEL + "machine-table: none.json\n",
    "wrong table": MODEL + "stages: 2\nmachine-table: gpt.mlir\n",
    "no profile": MODEL + "profile: none.json\n",
    "wrong profile": MODEL + "stages: 2\nprofile: gpt.mlir\n",
    "partition of VPipe": MODEL + "stages: 2\npartition: partition.json\n",
    "pieces in a file": MODEL + "stages: 2\npartition: pieces.txt\n",
    "keys of a partition": MODEL + "stages: 2\npartition: keys.json\n",
    "no partition": MODEL + "stages: 2\npartition: ratios.json\n",
    "mode of VPipe": MODEL + "sync_mode: ssp\n",
    "mode and schedule": MODEL + "schedule: gpipe\nsync_mode: bsp\n",
    "data of VPipe": MODEL + "data_dir: books\n",
    "checkpoints of VPipe": MODEL + "checkpoint_dir: books\n",
    "chunks of zb-v": MODEL + "stages: 2\nschedule: zb-v\nchunks-per-stage: 3\n",
    "no text": MODEL + "lr: 1\ntext: none.txt\n",
    "no array": MODEL + "data:\n  tokens: none.npy\n  labels: text:gpt.mlir\n",
    "no kind of data": MODEL + "data:\n  tokens: text:gpt.mlir\n  labels: gpt.mlir\n",
    "no init": MODEL + "text: gpt.mlir\ninit: none.st\n",
    "save": MODEL + "text: gpt.mlir\nsave: none/params\n",
    "profile": MODEL + "write-profile: none/profile\n",
    "no checkpoint": MODEL + "text: gpt.mlir\nresume: none\n",
    "folder of checkpoints": MODEL + "text: gpt.mlir\ncheckpoint: none/folder\n",
    "every": MODEL + "text: gpt.mlir\nevery: 2\n",
    "text and init": MODEL + "text: none.txt\ninit: none.st\n",
    "no data": FAST,
    "data name": FAST + "data:\n  labels: random\n  tokns: random\n",
    "data name without another": FAST + "data:\n  tokens: random\n  tokns: random\n",
    "data that are no parameters": FAST + "synthetic: fixed\ninit: empty.st\n",
    "program": FAST + "text: gpt.mlir\nprogram: pipelin\n",
    "rank order that is no number": FAST + "replicas: 2\nrank-order: [a, b]\ntext: gpt.mlir\n",
    "rank order": FAST + "replicas: 2\nrank-order: [0, 0]\ntext: gpt.mlir\n",
}


def say(name, file):
    environment = {k: v for k, v in os.environ.items() if k not in ("RANK", "WORLD_SIZE")}
    result = subprocess.run(["veeline", "run", file], capture_output=True, text=True, timeout=120, env=environment)
    line = (result.stderr.strip().splitlines() or ["nothing"])[0]
    print(f"{name}: {line.removeprefix('veeline: error: ')}")
    return result.returncode != 0


with open("empty.st", "wb") as file:
    file.write((2).to_bytes(8, "little") + b"{}")
for name, text in {"keys": '{"partition": [3, 3], "stages": 2}', "ratios": '{"recompute_ratio": [0, 1]}'}.items():
    with open(name + ".json", "w") as file:
        file.write(text)
wrong = [say("no file", "none.yaml"), say("model", "gpt.mlir")]
for name, text in CASES.items():
    with open("job.yaml", "w") as file:
        file.write(text)
    wrong.append(say(name, "job.yaml"))
print("all are errors" if all(wrong) else "some are no errors")
