# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A network of hosts on one machine: a namespace for each, and a forwarder between them.

Each namespace has a TUN device whose packets a thread of this process forwards,
after a delay, and but for those that it loses. A host can be cut off.
Needs the right to make namespaces.
"""

import ctypes
import fcntl
import heapq
import os
import random
import select
import struct
import subprocess
import threading
import time

CLONE_NEWNET = 0x40000000
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
LIBC = ctypes.CDLL(None, use_errno=True)


def check(result):
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def address(host):
    return f"10.93.0.{host + 1}"


class Network:
    def __init__(self, hosts, delay, loss):
        self.delay, self.loss = delay, loss
        self.random = random.Random(1)
        self.cut = set()
        self.namespaces, self.devices = [], []
        home = os.open("/proc/self/ns/net", os.O_RDONLY)
        for host in range(hosts):
            check(LIBC.unshare(CLONE_NEWNET))
            self.namespaces.append(os.open("/proc/self/ns/net", os.O_RDONLY))
            device = os.open("/dev/net/tun", os.O_RDWR)
            fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", b"tun0", IFF_TUN | IFF_NO_PI))
            os.set_blocking(device, False)
            for command in ("link set lo up", f"addr add {address(host)}/24 dev tun0",
                            "link set tun0 up mtu 60000 txqueuelen 10000"):
                subprocess.run(["ip", *command.split()], check=True)
            self.devices.append(device)
        check(LIBC.setns(home, CLONE_NEWNET))
        os.close(home)
        threading.Thread(target=self.forward, daemon=True).start()

    def enter(self, host):
        """A preexec_fn for a process on `host`."""
        return lambda: check(LIBC.setns(self.namespaces[host], CLONE_NEWNET))

    def cut_off(self, host):
        """From now on nothing comes to the host and nothing leaves it, with no word about it."""
        self.cut.add(host)

    def forward(self):
        waiting, number = [], 0
        while True:
            timeout = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
            readable, _, _ = select.select(self.devices, [], [], timeout)
            for device in readable:
                packet = self.read(device)
                target = packet[19] - 1 if packet and packet[0] >> 4 == 4 else -1
                source = self.devices.index(device)
                if not 0 <= target < len(self.devices) or {source, target} & self.cut:
                    continue
                if self.random.random() >= self.loss:
                    number += 1
                    heapq.heappush(waiting, (time.monotonic() + self.delay, number, target, packet))
            while waiting and waiting[0][0] <= time.monotonic():
                _, _, target, packet = heapq.heappop(waiting)
                try:
                    os.write(self.devices[target], packet)
                except OSError:
                    pass  # Lost, as on any network.

    @staticmethod
    def read(device):
        try:
            return os.read(device, 65536)
        except OSError:
            return b""
