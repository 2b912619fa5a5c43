"""Usage: check_dockerfiles.py PROJECT FILE...

Checks what can be checked of Dockerfiles without Docker: that images have versions, that what is copied is in the project or in an earlier
stage, that scripts are called with options that they have, that nothing of apt's is left in a layer, and that no image ends as root.
"""

import pathlib
import re
import subprocess
import sys

project = pathlib.Path(sys.argv[1])
INSTRUCTIONS = {"ARG", "FROM", "WORKDIR", "COPY", "RUN", "USER", "ENV", "CMD"}


def check_install(command, where):
    for part in command.split("&&"):
        if "apt-get install" in part and not ("--yes" in part and "--no-install-recommends" in part):
            return f"{where}: apt-get asks, or installs more than is named"
    if "apt-get install" in command and not ("apt-get update" in command and "rm -rf /var/lib/apt/lists/*" in command):
        return f"{where}: lists of packages are old, or stay in the layer"
    return None


def check_scripts(command, where):
    for script, options in re.findall(r"(?:^|&& )(scripts/\S+)((?: --\S+)*)", command):
        text = subprocess.run([project / script, "--help"], capture_output=True, text=True, check=True).stdout
        for option in options.split():
            if option not in text:
                return f"{where}: {script} has no {option}"
    return None


def check_copy(rest, stages, where):
    *sources, _ = rest.split()
    if sources[0].startswith("--from="):
        stage = sources[0].partition("=")[2]
        return None if stage in stages else f"{where}: there is no stage '{stage}'"
    missing = [source for source in sources if not (project / source).exists()]
    return f"{where}: the project has no {missing}" if missing else None


def problems(path):
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE).replace("\\\n", "  ")
    defaults, stages, user = {}, {}, None
    for line in filter(None, map(str.strip, text.splitlines())):
        word, _, rest = line.partition(" ")
        rest = re.sub(r"\s+", " ", rest)
        where = f"{path.name}: {word} {rest[:40]}"
        if word not in INSTRUCTIONS:
            yield f"{where}: not used here"
        if word == "ARG" and not stages:
            name, _, defaults[name] = rest.partition("=")
        elif word == "FROM":
            image, _, name = re.sub(r"\$\{(\w+)\}", lambda found: defaults[found[1]], rest).partition(" AS ")
            if image not in stages and (":" not in image or image.endswith(":latest")):
                yield f"{where}: an image without a version"
            # Whose user the image has; another's is root, for all that is known.
            user = stages.get(image, "root" if not image.startswith("veeline") else "veeline")
            stages[name or "image"] = user
        elif word == "USER":
            user = rest
            stages[list(stages)[-1]] = user
        elif word == "COPY":
            yield check_copy(rest, stages, where)
        elif word == "RUN":
            for stage in re.findall(r"from=(\w+)", rest):
                if stage not in stages:
                    yield f"{where}: there is no stage '{stage}'"
            command = re.sub(r"--mount=\S+ ", "", rest)
            yield check_install(command, where)
            yield check_scripts(command, where)
        elif word == "CMD" and not rest.startswith("["):
            yield f"{where}: starts a shell, which does not pass signals on"
    if user == "root":
        yield f"{path.name}: its programs run as root"


found = [problem for file in map(pathlib.Path, sys.argv[2:]) for problem in problems(file) if problem]
if found:
    sys.exit("\n".join(found))
print(f"{len(sys.argv) - 2} Dockerfiles are right")
