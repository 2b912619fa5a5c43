#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Starts the ranks of a run as processes, does something to them, and prints how each ended.

Usage: launch.py [what to do] RANKS COMMAND ARGUMENT ...

What is done waits until the first rank has printed a step. Standard output of rank 0
is printed, then for each rank its exit code and its last line on standard error, and
whether it ended in time: --within counts from the start, --after from the deed or, where
there is none, from when the first rank has ended or is stopped.
"""

import argparse
import multiprocessing
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

import network


# Keeps other tests' ranks out.
TOKEN = f"open sesame {os.getpid()}"
reserved = []


def free_port():
    """Of none that a system chooses, nor another test's, as long as this process lives."""
    while True:
        port, mark = random.randrange(10000, 29000), socket.socket(socket.AF_UNIX)
        try:
            mark.bind(f"\0veeline-test-port-{port}")
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", port))
        except OSError:
            continue  # It is somebody's.
        reserved.append(mark)
        return port


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--signal", help="NAME:RANK, sent to a rank in its steps")
    parser.add_argument("--interrupt", type=float, help="seconds after which all ranks get SIGINT")
    parser.add_argument("--pause", type=float, help="seconds for which all ranks are stopped in their steps")
    parser.add_argument("--omit", type=int, help="a rank that is not started")
    parser.add_argument("--only", action="append", default=[], help="RANK=ARGUMENTS, further ones of a rank, separated by blanks")
    parser.add_argument("--environment", action="append", default=[], help="RANK:NAME=VALUE; *: all ranks")
    parser.add_argument("--stranger", choices=("garbage", "silent", "token", "astray", "crowd", "user"), help="who else connects to rank 0")
    parser.add_argument("--other-run", help="NAME=VALUE,...:ARGUMENTS: the command as rank 1 of another run, with these "
                        "variables and further arguments, before the ranks above 0")
    parser.add_argument("--network", help="MILLISECONDS,LOSS: every rank on a host of its own, with this "
                        "delay of a packet, and this share of packets lost")
    parser.add_argument("--cut-off", type=int, help="a rank whose host loses its network in its steps")
    parser.add_argument("--within", type=float, default=20)
    parser.add_argument("--after", type=float, default=20)
    parser.add_argument("--world", type=int, help="WORLD_SIZE, where it is not the number of ranks")
    parser.add_argument("ranks", type=int)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    return parser.parse_args()


def make_network(options):
    if not options.network:
        return None
    delay, loss = map(float, options.network.split(","))
    return network.Network(options.ranks, delay / 1000, loss)


def environment(options, rank, port):
    variables = {"RANK": str(rank), "WORLD_SIZE": str(options.world or options.ranks),
                 "MASTER_PORT": str(port), "VEELINE_TOKEN": TOKEN}
    if options.network:
        variables["MASTER_ADDR"] = network.address(0)
    for setting in options.environment:
        which, assignment = setting.split(":", 1)
        if which in ("*", str(rank)):
            name, value = assignment.split("=", 1)
            variables[name] = value
    return {**os.environ, **variables}


def start(options, rank, port, hosts):
    command = list(options.command)
    for only in options.only:
        which, arguments = only.split("=", 1)
        if which == str(rank):
            command += arguments.split()
    return subprocess.Popen(command, env=environment(options, rank, port), text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            preexec_fn=hosts.enter(rank) if hosts else None)


def connect_crowd(port):
    crowd = []
    for _ in range(500):
        crowd.append(socket.socket())
        crowd[-1].setblocking(False)
        crowd[-1].connect_ex(("127.0.0.1", port))
    return crowd


def connect_stranger(kind, port):
    """Connects as soon as rank 0 listens; the connection stays."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            stranger = socket.create_connection(("127.0.0.1", port))
            break
        except OSError:
            time.sleep(0.01)
    if kind == "garbage":
        stranger.sendall(b"GET / HTTP/1.1\r\nHost: veeline\r\n\r\n" * 10)
    if kind == "token":
        stranger.sendall(b"VEELINE2" + b"wrong".ljust(64, b"\0") + bytes(20))
    if kind == "astray":
        # Rank 2 of another run, where rank 1 has ended, and this rank 0 listens at its place.
        about = b"job \n"
        stranger.sendall(b"VEELINE2" + TOKEN.encode().ljust(64, b"\0") + struct.pack("<iiiIHH", 2, 1, 3, len(about), 1, 0) + about)
    if kind == "user":
        # Ends a run of its user where it is heard: rank 7 of 9, without a token.
        about = b"job \n"
        stranger.sendall(b"VEELINE2" + bytes(64) + struct.pack("<iiiIHH", 7, 0, 9, len(about), 1, 0) + about)
    return stranger, connect_crowd(port) if kind == "crowd" else None


def connect_other_user(port):
    """As connect_stranger, from a process of user 65534, which lives as long as this one."""
    context = multiprocessing.get_context("fork")
    is_connected = context.Event()
    "127.0.0.1".encode("idna")  # Loads what that user may not read.

    def run():
        os.setuid(65534)
        stranger = connect_stranger("user", port)
        is_connected.set()
        time.sleep(60)
        stranger.close()

    context.Process(target=run, daemon=True).start()
    is_connected.wait(20)


def await_listener(port):
    """Without a connection, which rank 0 would see."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        with open("/proc/net/tcp") as file:
            if any(line.split()[1].endswith(f":{port:04X}") and line.split()[3] == "0A" for line in list(file)[1:]):
                return
        time.sleep(0.01)


def run_other(options, port):
    """Until it ends."""
    await_listener(port)
    variables, arguments = options.other_run.split(":", 1)
    env = environment(options, 1, port) | dict(item.split("=", 1) for item in variables.split(",") if item)
    other = subprocess.run([*options.command, *arguments.split()], env=env, text=True, stderr=subprocess.PIPE)
    print(f"another run: exit {other.returncode}: {other.stderr.strip()}")


class Reader(threading.Thread):
    """Reads a stream to its end; `first` is set at the first line that has `text`."""

    def __init__(self, stream, text):
        super().__init__(daemon=True)
        self.stream, self.text, self.lines, self.first = stream, text, [], threading.Event()
        self.start()

    def run(self):
        for line in self.stream:
            self.lines.append(line)
            if self.text in line:
                self.first.set()
        self.first.set()


def is_stopped(process):
    with open(f"/proc/{process.pid}/stat") as file:
        return file.read().rsplit(")", 1)[1].split()[0] == "T"


def await_ends(ranks, deadline, after, deed):
    """Until all have ended that are not stopped; what is to be said of those that have not."""
    while True:
        left = {rank: process for rank, process in ranks.items() if process.poll() is None}
        if not deed and (len(left) < len(ranks) or any(map(is_stopped, left.values()))):
            deed = time.monotonic()
        late = time.monotonic() > min(deadline, deed + after if deed else deadline)
        ends = {rank: "is stopped" if is_stopped(process) else "still runs" for rank, process in left.items()}
        if late or "still runs" not in ends.values():
            return ends
        time.sleep(0.01)


def main():
    options = parse_arguments()
    port, hosts = int(os.environ.get("MASTER_PORT") or free_port()), make_network(options)
    stranger = None
    ranks = {}
    for rank in range(options.ranks):
        if rank == options.omit:
            continue
        ranks[rank] = start(options, rank, port, hosts)
        if rank == 0 and options.stranger == "user":
            connect_other_user(port)
            time.sleep(0.1)
        elif rank == 0 and options.stranger:
            stranger = connect_stranger(options.stranger, port)
            time.sleep(0.1)
        if rank == 0 and options.other_run is not None:
            run_other(options, port)
    out = {rank: Reader(process.stdout, "step ") for rank, process in ranks.items()}
    err = {rank: Reader(process.stderr, "\0") for rank, process in ranks.items()}
    begin, deed = time.monotonic(), None
    if options.signal:
        out[0].first.wait(30)
        name, victim = options.signal.split(":")
        ranks[int(victim)].send_signal(getattr(signal, "SIG" + name))
        deed = time.monotonic()
    if options.interrupt:
        time.sleep(options.interrupt)
        for process in ranks.values():
            process.send_signal(signal.SIGINT)
        deed = time.monotonic()
    if options.pause:
        out[0].first.wait(30)
        for process in ranks.values():
            process.send_signal(signal.SIGSTOP)
        time.sleep(options.pause)
        for process in ranks.values():
            process.send_signal(signal.SIGCONT)
    if options.cut_off is not None:
        out[0].first.wait(30)
        hosts.cut_off(options.cut_off)
        deed = time.monotonic()
    ends = await_ends(ranks, begin + options.within, options.after, deed)
    for process in ranks.values():
        process.kill()
        process.wait()
    for rank in ranks:
        out[rank].join()
        err[rank].join()
    if 0 in ranks:
        sys.stdout.write("".join(out[0].lines))
    for rank, process in ranks.items():
        text = "".join(err[rank].lines).strip()
        ended = ends.get(rank, f"exit {process.returncode}")
        print(f"rank {rank}: {ended}{': ' if text else ''}{text}")
    del stranger


if __name__ == "__main__":
    main()
