"""Runs a command on a terminal of its own and prints what it wrote there, with
carriage returns as [CR] and escapes as [ESC].

Usage: terminal.py [--interrupt TEXT] COMMAND...; Ctrl-C is pressed when TEXT has appeared
"""

import os
import pty
import signal
import sys

command, awaited = sys.argv[1:], None
if command[0] == "--interrupt":
    awaited, command = command[1].encode(), command[2:]
pid, terminal = pty.fork()
if pid == 0:
    # Whoever runs the tests may ignore Ctrl-C.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.execvp(command[0], command)
output = b""
while True:
    try:
        piece = os.read(terminal, 65536)
    except OSError:  # The command has ended.
        break
    if not piece:
        break
    output += piece
    if awaited and awaited in output:
        awaited = None
        os.write(terminal, b"\x03")
text = output.decode().replace("\r\n", "\n")
sys.stdout.write(text.replace("\r", "[CR]").replace("\x1b", "[ESC]"))
os.waitpid(pid, 0)
