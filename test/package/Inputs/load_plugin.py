# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Asks a plugin what it has, as mlir-opt does, in a program without MLIR, and prints what is loaded then: load_plugin.py FILE"""

import ctypes
import sys


class Info(ctypes.Structure):
    """mlir::PassPluginLibraryInfo"""

    _fields_ = [("api", ctypes.c_uint32), ("name", ctypes.c_char_p), ("version", ctypes.c_char_p), ("register", ctypes.c_void_p)]


plugin = ctypes.CDLL(sys.argv[1])
plugin.mlirGetPassPluginInfo.restype = Info
print("version of the interface:", plugin.mlirGetPassPluginInfo().api)
with open("/proc/self/maps", encoding="ascii") as file:
    print(file.read())
