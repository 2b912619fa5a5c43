"""Usage: exit_codes.py

Checks docs/tools.md: the exit code of every command of veeline, and that an error says something and prints nothing else. net.vee and
net.mlir are there.
"""

import re
import signal
import subprocess
import sys

# Of each command: arguments that succeed, that fail, and that are no command line.
COMMANDS = {
    "compile": (["net.mlir", "-o", "new.vee", "-O0", "-q"], ["none.mlir"], ["net.mlir", "--stages", "two"]),
    "inspect": (["net.vee"], ["none.vee"], ["net.vee", "--pieces"]),
    "doctor": ([], ["--calibrate", "-o", "none/table.json"], ["--calibrate=yes"]),
    "completion": (["bash"], None, ["tcsh"]),
    "train": (["net.vee", "--synthetic", "fixed", "--steps", "2"], ["none.vee"], ["net.vee", "--steps", "-1"]),
    "eval": (["net.vee", "--synthetic", "fixed", "--steps", "1"], ["none.vee"], ["net.vee", "--steps", "x"]),
    "run": (["job.yaml"], ["none.yaml"], ["job.yaml", "--unknown"]),
    "export": (["checkpoint", "-o", "exported.safetensors"], ["none", "-o", "exported.safetensors"], ["checkpoint"]),
    "timeline": (["net.vee", "-o", "net.html"], ["net.mlir", "-o", "net.html"], ["net.vee", "-o", "net.json"]),
    "schedule": (["--schedule", "1f1b", "--stages", "2", "--microbatches", "4"], ["--schedule", "gpipe", "--stages", "2", "--microbatches", "4", "--memory-limit", "1"], ["--schedule", "1f2b", "--stages", "2", "--microbatches", "4"]),
}


def run(*arguments):
    return subprocess.run(["veeline", *arguments], capture_output=True, text=True)


def check(expected, *arguments):
    done = run(*arguments)
    if done.returncode != expected:
        sys.exit(f"veeline {' '.join(arguments)}: exit code {done.returncode}, not {expected}\n{done.stderr}")
    if expected and "error:" not in done.stderr:
        sys.exit(f"veeline {' '.join(arguments)}: no error is said: {done.stderr!r}")


listed = re.findall(r"^  ([a-z]+)  ", run("--help").stdout.split("Subcommands:")[1], re.M)
if sorted(listed) != sorted(COMMANDS):
    sys.exit(f"the commands are {listed}")
check(0, "--version")
if run().returncode != 2:
    sys.exit("veeline without a command is not understood, and prints help")
check(2, "trian")
for name, (right, failing, wrong) in COMMANDS.items():
    check(0, name, "--help")
    check(0, name, *right)
    check(2, name, *wrong)
    check(2, name, "--no-such-option")
    if failing:
        check(1, name, *failing)
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
    process = subprocess.Popen(["veeline", "train", "net.vee", "--synthetic", "fixed", "--steps", "100000000"], stdout=subprocess.PIPE)
    process.stdout.readline()
    process.send_signal(number)
    process.communicate()
    # As a shell has it, where the signal itself ends the process.
    if process.returncode not in (128 + number, -number):
        sys.exit(f"{number.name}: exit code {process.returncode}")
print(f"{len(COMMANDS)} commands have the exit codes")
