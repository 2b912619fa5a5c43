"""Runs a command on a terminal of its own and prints what it wrote there, with
carriage returns as [CR] and escapes as [ESC]."""

import os
import pty
import sys

pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
output = b""
while True:
    try:
        piece = os.read(terminal, 65536)
    except OSError:  # The command has ended.
        break
    if not piece:
        break
    output += piece
text = output.decode().replace("\r\n", "\n")
sys.stdout.write(text.replace("\r", "[CR]").replace("\x1b", "[ESC]"))
os.waitpid(pid, 0)
