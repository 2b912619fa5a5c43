"""Kills training with SIGKILL at random times, again and again, and goes on from its checkpoints.

usage: kill_checkpoints.py [--kills N] [--within SECONDS] [--seed S] [--ranks R] [--most SECONDS] [--mpirun COMMAND] ARTIFACT -- TRAIN_OPTIONS...

ARTIFACT is trained as one process, or as R of them, of which one or all are killed. After each kill the last checkpoint must be
whole, and never an earlier one than before. At last training goes on to its end, with the bits of a run that was not killed. Of many
kills, some have to be in the middle of a checkpoint. With --mpirun that starts the ranks, by MPI.
"""

import argparse
import contextlib
import glob
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

from launch import free_port


def start(command, ranks, output=subprocess.PIPE):
    """As one process, or as several."""
    if ranks == 1:
        return [subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, text=True)]
    common = {"WORLD_SIZE": str(ranks), "MASTER_PORT": str(free_port()), "VEELINE_TOKEN": f"kill {os.getpid()}"}
    return [subprocess.Popen(command, env={**os.environ, **common, "RANK": str(rank)}, stdout=output, stderr=subprocess.STDOUT,
                             text=True) for rank in range(ranks)]


class MpiRank:
    """Of one that mpirun starts: it can be killed, and mpirun says how it ends."""

    def __init__(self, rank):
        self.path = f"pid.{rank}"

    def send_signal(self, number):
        with contextlib.suppress(ProcessLookupError):  # mpirun has ended it.
            os.kill(int(open(self.path).read()), number)


def newest():
    """The step of the last checkpoint with an index, or 0."""
    return max((int(path.split("-")[1].split("/")[0]) for path in glob.glob("folder/step-*/index.json")), default=0)


def start_mpi(mpirun, command, ranks):
    """Returns mpirun and its ranks, once they have written a checkpoint: where a rank is killed before, mpirun may wait for ever."""
    before = newest()
    victims = [MpiRank(rank) for rank in range(ranks)]
    told = 'echo $$ > pid.$OMPI_COMM_WORLD_RANK && exec "$@"'
    runner = start([*mpirun, "-np", str(ranks), "sh", "-c", told, "sh", *command], 1)
    while newest() <= before and runner[0].poll() is None:
        time.sleep(0.01)
    return runner, victims


def finish(processes):
    """What they said, and whether all succeeded."""
    said = [process.communicate()[0] for process in processes]
    return "".join(said), all(process.returncode == 0 for process in processes)


def last_step(artifact, options):
    """Of the last checkpoint; 0: there is none. All of it is read."""
    said = subprocess.run(["veeline", "train", artifact, *options, "--resume", "folder", "--steps", "1"], capture_output=True, text=True).stderr
    found = re.search(r"is of step (\d+), and training ends with step", said)
    if found:
        return int(found[1])
    if "has no checkpoint" in said or "there is no folder" in said:
        return 0
    sys.exit(f"the last checkpoint is no good: {said}")


def unfinished():
    """Checkpoints that are being written, and have no index yet: what identifies their folders."""
    found = set()
    for name in os.listdir("folder") if os.path.isdir("folder") else []:
        path = os.path.join("folder", name)
        if not os.path.exists(os.path.join(path, "index.json")):
            status = os.stat(path)
            found.add((status.st_ino, status.st_ctime_ns))
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--within", type=float, default=float("inf"), help="seconds after which no further kill begins")
    parser.add_argument("--most", type=float, default=0.8, help="seconds until a kill")
    parser.add_argument("--mpirun", type=shlex.split, default=[])
    parser.add_argument("artifact")
    split = sys.argv.index("--")
    arguments, options = parser.parse_args(sys.argv[1:split]), sys.argv[split + 1 :]
    random.seed(arguments.seed)
    shutil.rmtree("folder", ignore_errors=True)
    train = ["veeline", "train", arguments.artifact, *options, "--timeout", "1"]
    before = survived = partial = of_all = 0
    begin = time.monotonic()
    for number in range(arguments.kills):
        if time.monotonic() - begin > arguments.within:
            break
        resume = ["--resume", "folder"] if before else []
        old = unfinished()
        command = train + ["--steps", "1000000", "--checkpoint", "folder", "--every", "2", "--keep", "3"] + resume
        if arguments.mpirun:
            processes, ranks = start_mpi(arguments.mpirun, command, arguments.ranks)
        else:
            processes = ranks = start(command, arguments.ranks)
        time.sleep(random.uniform(0, arguments.most))
        # One rank is killed every other time; the others end by themselves.
        victims = ranks if number % 2 else [random.choice(ranks)]
        ended = [process for process in processes if process.poll() is not None]
        for process in victims:
            process.send_signal(signal.SIGKILL)
        said, _ = finish(processes)
        if ended:
            sys.exit(f"it ended before it was killed:\n{said}")
        partial += bool(unfinished() - old)
        of_all += len(victims) == len(ranks)
        step = last_step(arguments.artifact, options)
        if step < before:
            sys.exit(f"the last checkpoint is of step {step}, and was of step {before}")
        survived += 1
        before = step
    last = before + 3
    resume = ["--resume", "folder"] if before else []
    said, good = finish(start(train + ["--steps", str(last), "--save", "killed"] + resume, arguments.ranks))
    if not good:
        sys.exit(said)
    said, good = finish(start(train + ["--steps", str(last), "--save", "whole"], arguments.ranks))
    if not good:
        sys.exit(said)
    same = open("killed", "rb").read() == open("whole", "rb").read()
    if partial == 0 and survived >= 50:
        sys.exit("no kill was in the middle of a checkpoint")
    print(f"{survived} kills, {of_all} of them of all ranks, {partial} in the middle of a checkpoint; {last} steps have {'the same' if same else 'OTHER'} bits")


if __name__ == "__main__":
    main()
