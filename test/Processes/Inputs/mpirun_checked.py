"""mpirun in a build with a sanitizer: a rank's finding ends this by a signal.

mpirun ends with an exit code where a rank has died by a signal, which a test
that expects an error would take for that error.

Usage: mpirun_checked.py ARGUMENTS-OF-MPIRUN
"""

import glob
import os
import signal
import subprocess
import sys
import tempfile

with tempfile.TemporaryDirectory() as folder:
    # Open MPI leaks, much of it from modules that it has unloaded by the end, which no suppression can name.
    own = [os.environ.get("ASAN_OPTIONS", ""), "detect_leaks=0", f"log_path={folder}/finding"]
    environment = {**os.environ, "ASAN_OPTIONS": ":".join(filter(None, own)), "TSAN_OPTIONS": f"log_path={folder}/finding"}
    mpirun = subprocess.Popen(["mpirun", *sys.argv[1:]], env=environment)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, frame: mpirun.send_signal(number))
    code = mpirun.wait()
    findings = glob.glob(f"{folder}/finding.*")
    for finding in findings:
        with open(finding, encoding="utf-8", errors="replace") as text:
            sys.stderr.write(text.read())
if findings:
    os.abort()
if code < 0:
    os.kill(os.getpid(), -code)
sys.exit(code)
