"""Usage: check_installed.py PREFIX GONE...

Checks that nothing below PREFIX names one of the folders GONE, that shared objects and `veeline` export what is meant to be looked up
and nothing else, and that the symbols of libraries are in Veeline's namespace.
"""

import collections
import pathlib
import re
import subprocess
import sys

prefix, gone = pathlib.Path(sys.argv[1]), sys.argv[2:]
# Variables of MLIR's and LLVM's inline functions: one object in a process. And templates of the C++ library that libMLIR or oneDNN
# have, too, which the linker exports whatever it is told.
SHARED = re.compile(r"_(ZZ|ZGVZ)N(4mlir|4llvm)|_ZNK?St")
MODULES = {
    "libVeelineCompiler.so": {"veeline_compiler_main", "veeline_check_partition", "veeline_read_job_file", "veeline_register_passes",
                              "veeline_register_dialects"},
    "VeelinePlugin.so": {"mlirGetPassPluginInfo", "mlirGetDialectPluginInfo"},
    "libveeline_mpi.so": {"veeline_mpi_library"},
    "libveeline_allocation_counter.so": None,  # It stands in front of the functions that allocate.
}


def symbols(path, *options):
    """Pairs of a kind and a name."""
    text = subprocess.run(["nm", "--defined-only", *options, path], capture_output=True, text=True, check=True).stdout
    return [line.split(" ", 2)[-2:] for line in text.splitlines() if re.match(r"[0-9a-f]{8,} \S ", line)]


def check_places():
    files = [path for path in prefix.rglob("*") if path.is_file()]
    for path in files:
        data = path.read_bytes()
        for folder in gone:
            if folder.encode() in data:
                sys.exit(f"{path} names {folder}")
    print(f"{len(files)} files name no place that is gone")


def check_modules():
    said = []
    for path in sorted(next(prefix.rglob("VeelinePlugin.so")).parent.glob("*.so")):
        names = {name for _, name in symbols(path, "--dynamic") if not SHARED.match(name)}
        allowed = MODULES[path.name]
        if allowed is None:
            allowed = {name for name in names if name.startswith("veeline_") or not name.startswith("_Z")}
        if names != allowed:
            sys.exit(f"{path} exports {sorted(names ^ allowed)[:20]} besides, or instead of, what it should")
        said.append(f"{path.name}: {len(names)} functions")
    print("modules export", "; ".join(sorted(said, key=lambda text: "Plugin" in text)))


def check_program():
    listed = set(re.findall(r"veeline_\w+", next(prefix.rglob("exports.list")).read_text(encoding="utf-8")))
    names = {name for _, name in symbols(prefix / "bin/veeline", "--dynamic") if not name.startswith("_Z")}
    if names != listed:
        sys.exit(f"veeline exports {sorted(names ^ listed)} besides, or instead of, what compiled steps call")
    print(f"veeline exports {len(names)} functions")


def check_c_libraries():
    """What they export is in a header of theirs, or is what compiled steps call; and nothing of a header is missing."""
    declared = {name for path in (prefix / "include/veeline-c").glob("*.h")
                for name in re.findall(r"VEELINE_C_EXPORTED[^;]*?\b(veeline\w+)\(", path.read_text(encoding="utf-8"))}
    called = set(re.findall(r"veeline_\w+", next(prefix.rglob("exports.list")).read_text(encoding="utf-8")))
    libraries = [path for path in sorted(prefix.rglob("libveeline-c-*.so")) if path.is_symlink()]
    exported = set()
    for path in libraries:
        names = {name for _, name in symbols(path, "--dynamic") if not SHARED.match(name)}
        if not names <= declared | called:
            sys.exit(f"{path} exports {sorted(names - declared - called)[:20]}, which is in no header")
        exported |= names
    if declared - exported:
        sys.exit(f"no library exports {sorted(declared - exported)}")
    print(f"{len(libraries)} libraries export {len(exported & declared)} functions of the C API")


def check_libraries():
    libraries = sorted(prefix.rglob("*.a"))
    count, strangers = 0, collections.defaultdict(list)
    for path in libraries:
        for kind, name in symbols(path, "--extern-only", "--demangle"):
            if kind not in "TDBR":
                continue
            count += 1
            if not re.match(r"(vtable for |typeinfo (name )?for |guard variable for |non-virtual thunk to )?(veeline::|veeline_|mlir::.*veeline)", name):
                strangers[path.name].append(name)
    if strangers:
        sys.exit(f"symbols outside the namespace: {dict(strangers)}")
    print(f"{count} strong symbols of {len(libraries)} libraries are in the namespace")


check_places()
check_modules()
check_program()
check_c_libraries()
check_libraries()
