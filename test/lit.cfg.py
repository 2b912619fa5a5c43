"""What every lit test of Veeline may rely on: tools, substitutions, features."""

import ctypes
import importlib.util
import os
import platform
import shutil
import subprocess

import lit.formats
import lit.llvm  # noqa: F401  (present wherever lit is)

config.name = "veeline"
config.suffixes = [".mlir", ".test", ".md"]
config.test_format = lit.formats.ShTest(execute_external=False)
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.veeline_build_dir, "test")
config.excludes = ["Inputs", "README.md", "CMakeLists.txt"]
# What hangs is a failure with a name. Far more than any test takes; lit ends what a test has started by psutil.
if importlib.util.find_spec("psutil"):
    lit_config.maxIndividualTestTime = 7200 if lit_config.params.get("long") or config.sanitizer else 900

bin_dir = os.path.join(config.veeline_build_dir, "bin")
# A script that chooses among installed versions more than doubles the time that Python takes to start.
config.python = subprocess.check_output([config.python, "-c", "import sys; print(sys.executable)"], text=True).strip()
config.environment["PATH"] = os.path.pathsep.join(
    [bin_dir, config.llvm_tools_dir, config.environment["PATH"]]
)
# What veeline doctor has measured for this user is none of a test's business.
# Tests of models in StableHLO name the program themselves.
config.environment["VEELINE_STABLEHLO_OPT"] = ""
config.environment["XDG_CACHE_HOME"] = os.path.join(config.test_exec_root, "no-cache")
config.substitutions += [
    ("%veeline_src", config.veeline_source_dir),
    ("%veeline_build", config.veeline_build_dir),
    # What others have installed may take three times as long to load as Python does, and no test needs it.
    ("%python", f"{config.python} -S"),
    # A model of text that compiles fast, where a test is not about the ops of a model.
    ("%text_model", f"{config.python} -S {config.test_source_root}/Inputs/text_model.py"),
]

# What users have is what is installed: tests of tools and APIs (C, Python, Tools) run against that. Files that are there already are not copied again.
config.installed_dir = os.path.join(config.veeline_build_dir, "installed")
install = [config.cmake, "--install", config.veeline_build_dir, "--prefix", config.installed_dir]
installed = subprocess.run(install, capture_output=True, text=True)
if installed.returncode == 0:
    config.available_features.add("installed")
else:
    lit_config.warning("tests of what is installed do not run, because not all of it is built: " + installed.stderr.strip())

# A detected tool becomes a feature that tests name in REQUIRES.
for tool in ("fish", "help2man", "qemu-x86_64", "z3", "zsh"):
    if shutil.which(tool):
        config.available_features.add(tool)
# The site of the documentation is made with Debian's Sphinx, its reader of Markdown and its theme.
probe = "import importlib.util, sys; sys.exit(not all(map(importlib.util.find_spec, ('sphinx', 'myst_parser', 'furo'))))"
if shutil.which("sphinx-build") and subprocess.run(["/usr/bin/python3", "-c", probe], capture_output=True).returncode == 0:
    config.available_features.add("sphinx")
# Manual pages are made when Veeline is built.
if shutil.which("dpkg-shlibdeps") and os.path.isdir(os.path.join(config.veeline_build_dir, "man")):
    config.available_features.add("packaging")
# Where the compiler looks for it, too.
cuda = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH") or "/usr/local/cuda"
ptxas = os.path.join(cuda, "bin", "ptxas")
if os.access(ptxas, os.X_OK) or shutil.which("ptxas"):
    config.available_features.add("cuda-toolkit")
    ptxas = ptxas if os.access(ptxas, os.X_OK) else shutil.which("ptxas")
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if variable in os.environ:
            config.environment[variable] = os.environ[variable]
else:
    # Functions of f64, which test/gpu's interpreter has, and no assembler.
    config.environment["CUDA_HOME"] = os.path.join(config.veeline_build_dir, "test/standin/toolkit")

# Lists machine code, also that of newer assemblers: of the toolkit, or what scripts/fetch-disassembler has fetched.
fetched = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "veeline", "disassembler")
disassembler = next((path for path in (os.path.join(cuda, "bin", "nvdisasm"), shutil.which("nvdisasm"), os.path.join(fetched, "nvdisasm"))
                     if path and os.access(path, os.X_OK)), None)
sass_assembler = ptxas if "cuda-toolkit" in config.available_features else os.path.join(fetched, "ptxas")
if disassembler and os.access(sass_assembler, os.X_OK):
    try:
        chips = subprocess.run([disassembler, "--help"], stdout=subprocess.PIPE, text=True).stdout
        subprocess.run([sass_assembler, "--help"], stdout=subprocess.DEVNULL, check=True)
        config.available_features |= {"sass", "sass-sm_100"} if "'SM100'" in chips else {"sass"}
    except (OSError, subprocess.CalledProcessError):
        pass  # They are for other machines, or not whole.
config.substitutions += [("%sass_assembler", sass_assembler), ("%disassembler", disassembler or "nvdisasm")]


def load(*names):
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            pass
    return None


def count_gpus():
    driver, count = load("libcuda.so.1"), ctypes.c_int(0)
    if driver is None or driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return 0
    return count.value


# A GPU is of use with the library of products, several with that of messages: cuda-devices-2 to cuda-devices-N are there.
gpus = count_gpus() if load("libcublasLt.so.13", "libcublasLt.so.12") else 0
if gpus >= 1:
    config.available_features.add("cuda-device")
if gpus >= 2 and load("libnccl.so.2"):
    config.available_features |= {f"cuda-devices-{n}" for n in range(2, gpus + 1)}
# Debian's PyTorch belongs to Debian's Python.
torch_python = "/usr/bin/python3"
probe = "import importlib.util, sys; sys.exit(not all(map(importlib.util.find_spec, ('torch', 'numpy'))))"
if os.access(torch_python, os.X_OK) and subprocess.run([torch_python, "-c", probe], capture_output=True).returncode == 0:
    config.available_features.add("torch")
    config.substitutions.append(("%torch_python", torch_python))
browser = shutil.which("chromium-headless-shell") or shutil.which("chromium")
if browser:
    config.available_features.add("chromium")
    # Tests may run as root, whom the sandbox does not take, and in small /dev/shm.
    flags = "--headless --no-sandbox --disable-gpu --disable-dev-shm-usage"
    config.substitutions.append(("%chromium", f"timeout 120 {browser} {flags}"))
if shutil.which("node"):
    config.available_features.add("node")
# More ranks than cores, and perhaps as root, in the containers that tests run in.
if shutil.which("mpirun"):
    config.available_features.add("mpirun")
    checked = os.path.join(config.test_source_root, "Processes/Inputs/mpirun_checked.py")
    mpirun = f"{config.python} -S {checked}" if config.sanitizer else "mpirun"
    config.substitutions.append(
        ("%mpirun", f"env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 60 {mpirun} --oversubscribe"))
# Hosts of their own on one machine: needs the right to make namespaces, TUN devices, and iproute2.
probe = "import network; network.Network(2, 0, 0)"
processes = os.path.join(config.test_source_root, "Processes", "Inputs")
if subprocess.run([config.python, "-c", probe], cwd=processes, capture_output=True).returncode == 0:
    config.available_features.add("namespaces")
# May be any user.
if os.geteuid() == 0:
    config.available_features.add("root")
# Model files by others: VEELINE_MODELS, or what lies beside the source tree.
models = os.environ.get("VEELINE_MODELS", os.path.join(config.veeline_source_dir, "../shared/models"))
if os.path.isdir(models):
    config.available_features.add("models")
    config.substitutions.append(("%models", os.path.abspath(models)))
if config.sanitizer:
    config.available_features.add("sanitizer")
# Python that loads libraries of the build, AddressSanitizer's runtime before them: put there by the loader, not by the environment,
# which what Python starts would have, too. Python itself leaks; the other options are those of cmake/SanitizerOptions.c.
config.load = ""
if "address" in config.sanitizer:
    loader = f"/lib64/ld-linux-{platform.machine().replace('_', '-')}.so.2"
    options = [os.environ.get("ASAN_OPTIONS", ""), "allow_user_poisoning=0", "use_sigaltstack=0", "abort_on_error=1", "detect_leaks=0"]
    name = f"-print-file-name=libclang_rt.asan-{platform.machine()}.so"
    runtime = subprocess.check_output([config.compilers[0], name], text=True).strip()
    if os.path.exists(loader) and os.path.isabs(runtime):
        config.load = f"env ASAN_OPTIONS={':'.join(filter(None, options))} {loader} --preload {runtime} "
if config.load or not config.sanitizer:
    config.available_features.add("python-loads")
config.substitutions.append(
    ("%veeline_python", f"env PYTHONPATH={config.installed_dir}/lib/python3/dist-packages {config.load}{config.python} -S"))
with open("/proc/cpuinfo") as cpuinfo:
    if " avx2 " in cpuinfo.read():
        config.available_features.add("avx2")
config.substitutions.append(("%ptxas", ptxas))
# Random tests in full, and every combination where the suite takes a part of them.
if lit_config.params.get("long"):
    config.available_features.add("long")
# Options of veeline compile where its code has to be right and need not be fast; Compiler/optimize.test compares the bits. The long
# suite optimises everything.
quick = "" if lit_config.params.get("long") else "-O0"
# It also assembles every kernel that tests compile for a GPU, and reads the machine code.
if lit_config.params.get("long") and "cuda-toolkit" in config.available_features:
    config.environment["VEELINE_TEST_PTXAS"] = ptxas
    if "sass" in config.available_features:
        config.environment["VEELINE_TEST_DISASSEMBLER"] = disassembler
config.substitutions.append(("%quick", quick))
config.environment["VEELINE_TEST_QUICK"] = quick
