"""The programs that bench/gpu/run starts, and what is wrong where they fail."""

import csv
import ctypes
import os
import pathlib
import signal
import socket
import statistics
import subprocess
import sysconfig
import time

# Names that the loader knows, and where Python's packages have them.
LIBRARIES = {"cuda-driver": ["libcuda.so.1"], "cublaslt": ["libcublasLt.so.13", "libcublasLt.so.12"], "nccl": ["libnccl.so.2"],
             "cudnn": ["libcudnn.so.9"]}
TOOLKIT_PATH = os.pathsep.join((os.environ.get("PATH", ""), "/usr/local/cuda/bin"))

# After which a kernel counts as hung, which costs no more than its own row.
STALL_SECONDS = 30


class Failed(Exception):
    """A measurement that says why it is none."""


class NotMeasured(Exception):
    """What this machine, or this bundle, does not have, or what there is no time for."""


TIME_IS_UP = "the time is up"


def first_error(text, otherwise):
    """The message of a program that has failed."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for line in lines:
        if "error:" in line:
            return line.split("error:", 1)[1].strip()
    return lines[-1] if lines else otherwise


def find_library(names):
    """A file among Python's packages or in a toolkit, where the loader finds none by itself; else nothing."""
    for name in names:
        try:
            ctypes.CDLL(name)
            return ""
        except OSError:
            pass
    places = [pathlib.Path(sysconfig.get_path("platlib")) / "nvidia", pathlib.Path("/usr/local/cuda/lib64")]
    found = [path for name in names for place in places for path in sorted(place.rglob(name))]
    return str(found[0]) if found else ""


class Programs:
    """Those of a bundle, in the folder `work`. None begins after `last`."""

    def __init__(self, options, work):
        self.options = options
        self.top = options.bundle
        self.work = work
        self.last = float("inf")

    def execute_all(self, commands, timeout=300, is_kept=False):
        """Results of commands, each with what is added to its environment, side by side. They are ended with their children when
        their time is up, or this one is interrupted; what they have printed may be kept then."""
        limit = min(timeout, self.last - time.monotonic())
        if limit <= 0:
            raise NotMeasured(TIME_IS_UP)
        running, results, end = [], [], time.monotonic() + limit
        try:
            for command, environment in commands:
                running.append(subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                                text=True, env={**os.environ, **environment}, cwd=self.work, start_new_session=True))
            for process in running:
                out, err = process.communicate(timeout=max(end - time.monotonic(), 0.1))
                results.append(subprocess.CompletedProcess(process.args, process.returncode, out, err))
            return results
        except OSError as error:
            raise NotMeasured(f"cannot run '{error.filename}': {error.strerror}") from None
        except subprocess.TimeoutExpired:
            if limit < timeout:
                raise NotMeasured(TIME_IS_UP) from None
            message = f"it has not ended in {limit:.0f} s"
            if not is_kept:
                raise Failed(message) from None
            os.killpg(running[0].pid, signal.SIGKILL)
            return [subprocess.CompletedProcess(running[0].args, 1, running[0].communicate()[0], f"error: {message}")]
        finally:
            for process in running:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.communicate()

    def execute(self, command, timeout=300, is_kept=False, **environment):
        return self.execute_all([(command, environment)], timeout, is_kept)[0]

    def libraries(self, *names):
        given = vars(self.options)
        return [f"--{name}={given[name.replace('-', '_')]}" for name in names if given[name.replace("-", "_")]]

    def tool_command(self, *arguments):
        return [self.top / "bin/bench-gpu", *self.libraries("cuda-driver", "cublaslt", "nccl"), "--stall-timeout", STALL_SECONDS,
                *arguments]

    def tool(self, *arguments, timeout=300, **environment):
        """Rows of bench-gpu, and what was wrong, or None."""
        result = self.execute(self.tool_command(*arguments), timeout, is_kept=True, **environment)
        rows = []
        for line in result.stdout.splitlines():
            kind, *rest = line.split("\t")
            if kind == "row" and len(rest) == 4:
                rows.append((rest[0], float(rest[1]), rest[2], rest[3]))
            elif kind == "failed" and len(rest) == 2:
                rows.append((rest[0], None, "", rest[1]))
        wrong = None
        if result.returncode != 0:
            wrong = first_error(result.stderr, f"it ended with exit code {result.returncode}")
        return rows, wrong

    def rows_of(self, *arguments, **options):
        """The same, where all of it has to work."""
        rows, wrong = self.tool(*arguments, **options)
        for what, value, _, note in rows:
            if value is None:
                wrong = wrong or f"{what}: {note}"
        if wrong:
            raise Failed(wrong)
        return rows

    def veeline_paths(self):
        return {"LD_LIBRARY_PATH": os.pathsep.join(filter(None, (str(self.top / "lib"), os.environ.get("LD_LIBRARY_PATH"))))}

    def veeline(self, *arguments, timeout=300):
        return self.execute([self.top / "bin/veeline", *arguments], timeout, **self.veeline_paths())

    def train(self, artifact, *flags, steps, processes=1, data=("--synthetic", "fixed"), under=()):
        """Lines of --metrics, and what was printed."""
        metrics = self.work / "metrics.csv"
        names = ["cuda-driver", "cublaslt"] + (["nccl"] if processes > 1 else [])
        if not any(str(flag).startswith("--cudnn=") for flag in flags):
            names.append("cudnn")
        command = [*under, self.top / "bin/veeline", "train", self.top / artifact, *data, "--steps", steps, "--metrics", metrics,
                   "--log-every", 100000, "--stall-timeout", STALL_SECONDS, *self.libraries(*names), *flags]
        results = self.execute_all([(command, {**self.veeline_paths(), **own}) for own in ranks_of(processes)])
        for result in results:
            if result.returncode != 0:
                raise Failed(first_error(result.stderr, f"veeline train ended with exit code {result.returncode}"))
        with open(metrics, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file)), results[0].stdout + results[0].stderr

    def step_seconds(self, artifact, steps, *flags):
        """The median of the last `steps`, after those that warm up: one is issued, one captured."""
        lines, _ = self.train(artifact, *flags, steps=steps + 3)
        return statistics.median(float(line["seconds"]) for line in lines[3:])


def ranks_of(count):
    """What a launcher tells each of `count` processes; nothing to one."""
    if count == 1:
        return [{}]
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    return [{"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(count), "MASTER_ADDR": "127.0.0.1",
             "MASTER_PORT": port} for rank in range(count)]


def from_here(path):
    """Commands run in another folder; a name without one is the loader's matter. Links stay: the Python of a virtual environment
    is one, which finds its packages beside itself."""
    return os.path.abspath(path) if os.sep in path else path
