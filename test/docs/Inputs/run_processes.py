# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the sh blocks of docs/processes.md, in the current directory, which has gpt.mlir and book.txt.

Programs that are not there, or that would need a cluster, are stood in for by scripts which
start the same processes with the same variables; `mpirun` is the real one. Runs are short, and
addresses and ports are those of this machine.
"""

import os
import pathlib
import random
import re
import shutil
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).parents[2] / "Processes/Inputs"))
from launch import free_port  # noqa: E402

STAND_INS = {
    "srun": r"""
n=${SLURM_NTASKS:-4}
while [[ $1 == -* ]]; do
  case $1 in
    -n) n=$2; shift 2 ;;
    --kill-on-bad-exit) shift ;;
    *) echo "srun: $1?" >&2; exit 64 ;;
  esac
done
export SLURM_JOB_ID=${SLURM_JOB_ID:-7} SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=$n
for ((i = 0; i < n; i++)); do
  SLURM_PROCID=$i SLURM_LOCALID=$i "$@" & pids+=($!)
done
for pid in ${pids[@]}; do wait $pid || status=1; done
exit ${status:-0}
""",
    "mpirun": r"""
if [[ "$*" != *PMI_RANK* ]]; then exec REAL --oversubscribe "$@"; fi
[ $1 = -n ] || exit 64
n=$2; shift 2
for ((i = 0; i < n; i++)); do
  PMI_RANK=$i PMI_SIZE=$n "$@" & pids+=($!)
done
for pid in ${pids[@]}; do wait $pid || status=1; done
exit ${status:-0}
""",
    "scontrol": '[ "$*" = "show hostnames nodes" ] && echo localhost\n',
    "apptainer": """
[ $1 = build ] && exit 0
[ $1 = exec ] || exit 64
until [[ $1 == *.sif ]]; do shift; done
shift; exec "$@"
""",
    "docker": """
[ $1 = run ] || exit 64
until [[ $1 == veeline:* ]]; do shift; done
shift; exec "$@"
""",
}


def write_stand_ins():
    folder = pathlib.Path("stand-ins").absolute()
    folder.mkdir(exist_ok=True)
    for name, text in STAND_INS.items():
        file = folder / name
        file.write_text("#!/bin/bash\n" + text.replace("REAL", shutil.which("mpirun") or "false"))
        file.chmod(0o755)
    return folder


def start(text, environment, **variables):
    return subprocess.Popen(["bash", "-ec", text], env={**environment, **variables}, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def run(block, environment):
    """The commands one after the other; those of single ranks at once."""
    lines = re.sub(r"\\\n", " ", block).splitlines()
    if block.startswith("docker run"):
        runs = [start(block, environment, RANK=str(rank), WORLD_SIZE="4") for rank in range(4)]
    elif lines[0].startswith("RANK="):
        runs = [start(line, environment) for line in lines]
    else:
        runs = [start(block, environment)]
    for process in runs:
        output, _ = process.communicate(timeout=240)
        if process.returncode != 0:
            sys.exit(f"{block}failed with exit code {process.returncode}:\n{output}")


def main():
    page = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    job = random.randrange(10000)
    environment = {**os.environ, "PATH": f"{write_stand_ins()}:{os.environ['PATH']}", "TOKEN": "secret",
                   "SLURM_JOB_NODELIST": "nodes", "SLURM_JOB_ID": str(job)}
    environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    blocks = re.findall(r"^```sh\n(.*?)^```$", page, re.S | re.M)
    for block in blocks:
        stages = 2 if "WORLD_SIZE=2" in block else 4
        shutil.copy(f"stages{stages}.vee", "gpt.vee")
        port = str(free_port())
        block = block.replace("10.0.0.1", "127.0.0.1").replace("29500", port)
        run(re.sub(r"--steps \d+", "--steps 2", block), environment | {"MASTER_PORT": port})
    print(f"{len(blocks)} blocks")


if __name__ == "__main__":
    main()
