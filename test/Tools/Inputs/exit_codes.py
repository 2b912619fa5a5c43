"""Usage: exit_codes.py

Checks docs/tools.md: the exit code of every command of veeline, and that an error says something and prints nothing else. net.vee and
net.mlir are there.
"""

import pathlib
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

# Commands that print nothing with the arguments above that succeed.
SILENT = {"compile", "export", "timeline"}


def run(*arguments):
    return subprocess.run(["veeline", *arguments], capture_output=True, text=True)


def check(expected, *arguments):
    done = run(*arguments)
    if done.returncode != expected:
        sys.exit(f"veeline {' '.join(arguments)}: exit code {done.returncode}, not {expected}\n{done.stderr}")
    if expected and "error:" not in done.stderr:
        sys.exit(f"veeline {' '.join(arguments)}: no error is said: {done.stderr!r}")


def check_full_disk(*arguments):
    with open("/dev/full", "w") as full:
        done = subprocess.run(["veeline", *arguments], stdout=full, stderr=subprocess.PIPE, text=True)
    if done.returncode != 1 or done.stderr.splitlines()[-1:] != ["veeline: error: standard output could not be written"]:
        sys.exit(f"veeline {' '.join(arguments)} >/dev/full: exit code {done.returncode}, {done.stderr!r}")


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
    said = run(name, "--hlep").stderr
    if "unknown option '--hlep'; did you mean '--help'?" not in said:
        sys.exit(f"veeline {name} --hlep: {said}")
    if failing:
        check(1, name, *failing)
    if name not in SILENT:
        check_full_disk(name, *right)
# A file that cannot be read, or has something else, is no wrong command line.
pathlib.Path("wrong.csv").write_text("0F0,0X0\n")
pathlib.Path("wrong.txt").write_text("two\n")
for name, order in [("compile", "none.csv"), ("compile", "wrong.csv"), ("schedule", "none.csv"), ("schedule", "wrong.csv")]:
    check(1, name, *(["net.mlir"] if name == "compile" else []), "--schedule", f"file:{order}")
sizes = ["--schedule", "1f1b", "--stages", "2", "--microbatches", "4"]
check(1, "schedule", "--from", "net.mlir")
check(1, "schedule", *sizes, "--cost-file", "wrong.txt")
check(1, "schedule", *sizes, "--against", "file:none.csv")
check(1, "train", "net.vee", "--data", "x=none.npy")
for options, message in {
        ("--timeline", "x.htm"): "--timeline: 'x.htm' ends neither in .html, for a page, nor in .json, for a trace",
        ("--timeline-steps", "3"): "--timeline-steps requires --timeline"}.items():
    for name in ("train", "eval"):
        check(2, name, "net.vee", *options)
        if message not in (said := run(name, "net.vee", *options).stderr):
            sys.exit(f"veeline {name} {' '.join(options)}: {said}")
check(1, "compile", "net.mlir", "--script", "none.mlir")
check_full_disk("compile", "net.mlir", "-o", "new.vee", "-O0", "--json")
for name in ("inspect", "doctor", "export", "timeline"):
    check_full_disk(name, *COMMANDS[name][0], "--json")
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
    process = subprocess.Popen(["veeline", "train", "net.vee", "--synthetic", "fixed", "--steps", "100000000"], stdout=subprocess.PIPE)
    process.stdout.readline()
    process.send_signal(number)
    process.communicate()
    # As a shell has it, where the signal itself ends the process.
    if process.returncode not in (128 + number, -number):
        sys.exit(f"{number.name}: exit code {process.returncode}")
print(f"{len(COMMANDS)} commands have the exit codes")
