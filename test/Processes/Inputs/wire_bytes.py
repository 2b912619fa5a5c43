"""How many bytes of parameters processes send to each other in a step, by TCP.

Usage: wire_bytes.py RANKS ELEMENTS ARTIFACT ARGUMENT ...

Runs `veeline train` as RANKS processes in a network of its own, which has nothing else to
carry, for 4 and for 24 steps: what the loopback device has sent in 20 steps. Prints that as
a multiple of the bytes of ELEMENTS floats, for all ranks together.
"""

import ctypes
import fcntl
import os
import pathlib
import socket
import struct
import subprocess
import sys

CLONE_NEWNET = 0x40000000
SIOCSIFFLAGS, IFF_UP = 0x8914, 1


def enter_network():
    """Of a loopback device alone."""
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "no network of its own")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))


def sent_bytes():
    for line in pathlib.Path("/proc/net/dev").read_text().splitlines():
        if line.strip().startswith("lo:"):
            return int(line.split(":")[1].split()[8])
    sys.exit("there is no loopback device")


def bytes_of_run(ranks, steps, command):
    before = sent_bytes()
    environment = {**os.environ, "WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}
    processes = [subprocess.Popen([*command, "--steps", str(steps)], stdout=subprocess.DEVNULL,
                                  env={**environment, "RANK": str(rank)}) for rank in range(ranks)]
    if any(process.wait() != 0 for process in processes):
        sys.exit("a rank has failed")
    return sent_bytes() - before


def main(ranks, elements, *arguments):
    enter_network()
    command = ["veeline", "train", *arguments]
    sent = bytes_of_run(int(ranks), 24, command) - bytes_of_run(int(ranks), 4, command)
    print(f"{sent / 20 / (4 * int(elements)):.2f} times the parameters")


main(*sys.argv[1:])
