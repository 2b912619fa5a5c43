"""Runs a command and renames a folder once it has a checkpoint.

usage: take_away.py FOLDER COMMAND...
"""

import glob
import os
import subprocess
import sys
import time

folder, command = sys.argv[1], sys.argv[2:]
process = subprocess.Popen(command)
while not glob.glob(os.path.join(folder, "*", "index.json")) and process.poll() is None:
    time.sleep(0.01)
os.rename(folder, folder + ".away")
sys.exit(process.wait())
