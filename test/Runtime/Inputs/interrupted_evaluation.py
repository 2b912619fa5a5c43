"""interrupted_evaluation.py COMMAND ...: runs a training command with --eval-every 2 and --steps 4 and interrupts it in each evaluation. The run goes on
from its checkpoints, each time it is started, and has the evaluations of a run that nothing disturbs.

COMMAND takes the options of checkpoints and evaluations that are added here. Prints for each start which evaluations have ended, and which checkpoints owe one."""

import json
import os
import re
import signal
import subprocess
import sys
import time

command = sys.argv[1:]


def options(folder):
    given = ["--log", "json", "--steps", "4", "--eval-every", "2", "--eval-metrics", f"{folder}.csv", "--checkpoint", folder, "--every", "2"]
    return given + (["--resume", folder] if os.path.isdir(folder) and os.listdir(folder) else [])


def evaluated(output):
    return " ".join(re.findall(r'"event":"evaluation","step":(\d+)', output)) or "none"


def interrupt(folder, step):
    """Interrupts the evaluation after `step`, or after the last step of the run before, and prints which ones have ended."""
    process = subprocess.Popen(command + options(folder), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    output = ""
    while not re.search(rf'"step":{step}\b' if step else '"begin"', output):
        line = process.stdout.readline()
        assert line, output
        output += line
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    output += process.communicate(timeout=100)[0]
    print("interrupted:", evaluated(output), "- owes", " ".join(step[-1] for step in sorted(os.listdir(folder)) if owes(folder, step)))


def owes(folder, step):
    index = f"{folder}/{step}/index.json"
    return os.path.exists(index) and json.load(open(index)).get("owes_evaluation", False)


def run(what, folder):
    done = subprocess.run(command + options(folder), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(what, evaluated(done.stdout), "- exit", done.returncode)


run("undisturbed:", "whole")
interrupt("cut", 2)
interrupt("cut", None)
interrupt("cut", 4)
run("continued:", "cut")
run("once more:", "cut")
with open("whole.csv") as a, open("cut.csv") as b:
    print("the same evaluations" if a.read() == b.read() else "OTHER evaluations")
