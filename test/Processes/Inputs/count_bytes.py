#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command as ranks and counts what goes over the connections of rank 0.

Usage: count_bytes.py [--ranks COUNT] COMMAND ARGUMENT ...

Each other rank (one, unless told) finds rank 0 at a port of this script's, which hands everything on and
counts it. Prints for each of them the bytes that rank 0 has sent it and those that it has sent rank 0.
"""

import os
import socket
import subprocess
import sys
import threading
import time

from launch import TOKEN, free_port


class Pump(threading.Thread):
    """Hands on what one end of a connection sends to the other."""

    def __init__(self, source, target):
        super().__init__(daemon=True)
        self.source, self.target, self.count = source, target, 0
        self.start()

    def run(self):
        while True:
            try:
                content = self.source.recv(1 << 16)
            except OSError:
                content = b""
            if not content:
                break
            self.count += len(content)
            self.target.sendall(content)
        try:
            self.target.shutdown(socket.SHUT_WR)
        except OSError:
            pass


def connect(port):
    for _ in range(1000):
        try:
            return socket.create_connection(("127.0.0.1", port))
        except OSError:
            time.sleep(0.01)
    sys.exit("rank 0 does not listen")


def start(command, rank, count, port):
    variables = {"RANK": str(rank), "WORLD_SIZE": str(count), "MASTER_PORT": str(port), "VEELINE_TOKEN": TOKEN}
    return subprocess.Popen(command, env={**os.environ, **variables}, stdout=subprocess.DEVNULL)


def main():
    command, count, port = sys.argv[1:], 2, free_port()
    if command[0] == "--ranks":
        count, command = int(command[1]), command[2:]
    ranks, pumps = [start(command, 0, count, port)], []
    for rank in range(1, count):
        with socket.create_server(("127.0.0.1", 0)) as server:
            ranks.append(start(command, rank, count, server.getsockname()[1]))
            server.settimeout(30)
            accepted, _ = server.accept()
            connected = connect(port)
            pumps += [Pump(connected, accepted), Pump(accepted, connected)]
    codes = [rank.wait() for rank in ranks]
    for pump in pumps:
        pump.join(10)
    if any(codes):
        sys.exit(f"the ranks exit with {codes}")
    print(*[pump.count for pump in pumps])


if __name__ == "__main__":
    main()
