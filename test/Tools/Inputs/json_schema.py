"""Usage: json_schema.py PAGE schedule|dial|comparison|compilation|report|explained|inspect|inspection|kernels|pieces|evaluation|export|timeline|doctor|doctor-of-runtime < JSON

Checks that the members have these types, and that PAGE, docs/tools.md, lists them. Those of a schedule are in docs/scheduling.md.
"""

import json
import sys

NUMBER = (int, float)
SCHEMAS = {
    "schedule": {"format": str, "version": int, "name": str, "stages": int, "microbatches": int, "placement": list, "order": list,
                 "chunks": list, "edges": list, "prediction": dict},
    "dial": {"format": str, "version": int, "schedule": str, "stages": int, "microbatches": int, "objective": str, "memory_unit": str,
             "limits": list},
    "comparison": {"format": str, "version": int, "stages": int, "microbatches": int, "memory_unit": str, "schedules": list},
    "compilation": {"format": str, "version": int, "artifact": str, "bytes": int, "model": str, "target": str, "microbatches": int,
                    "programs": list, "phases": list, "seconds": NUMBER, "messages": list},
    "pieces": {"format": str, "version": int, "model": str, "machine_table": (str, type(None)), "pieces": list},
    "evaluation": {"event": str, "loss": NUMBER, "metrics": dict, "perplexity": NUMBER, "microbatches": int, "seconds": NUMBER},
    "inspect": {"format": str, "version": int, "model": str, "fingerprint": str, "cpu": str, "cpu_features": list, "optimizer": str, "error_feedback": bool,
                "microbatches": int, "lengths": list, "options": list, "results": list, "loss_weight": int, "params": list,
                "batches": list, "buffers": list, "programs": list, "target": str, "device": (dict, type(None))},
    "inspection": {"format": str, "version": int, "model": str, "program": (str, type(None)), "parameters": list, "schedule": list,
                   "communication": list, "memory": list},
    "kernels": {"format": str, "version": int, "model": str, "program": (str, type(None)), "kernels": list},
    "report": {"format": str, "version": int, "schedule": str, "communication": dict, "explanation": dict},
    "explained": {"format": str, "version": int, "schedule": str, "explanation": dict},
    "doctor": {"format": str, "version": int, "cpu": str, "cpu_features": list, "cores": int, "memory_bytes": int, "library": str, "libraries": list,
               "devices": list, "table_path": str, "table": (dict, type(None))},
    "export": {"format": str, "version": int, "file": str, "model": str, "step": int, "parameters": int, "as_init": bool},
    "timeline": {"format": str, "version": int, "file": str, "panels": list},
    "doctor-of-runtime": {"format": str, "version": int, "cpu": str, "cores": int, "memory_bytes": int, "library": str, "libraries": list,
                          "devices": list},
}
# Their members have the names of metrics, or of kinds of operations.
NAMED = {"metrics", "made_of"}


def members(value):
    """The names of all members, at any depth."""
    if isinstance(value, list):
        for element in value:
            yield from members(element)
    elif isinstance(value, dict):
        for name, inside in value.items():
            yield name
            if name not in NAMED:
                yield from members(inside)


value = json.load(sys.stdin)
schema = SCHEMAS[sys.argv[2]]
with open(sys.argv[1], encoding="utf-8") as file:
    page = file.read()
for name, type_ in schema.items():
    if not isinstance(value.get(name), type_):
        sys.exit(f"member '{name}' is {value.get(name)!r}")
# Those of metadata are in another page.
missing = {name for name in (value if sys.argv[2] == "inspect" else members(value)) if f"`{name}`" not in page}
if missing:
    sys.exit(f"{sys.argv[1]} does not list {', '.join(sorted(missing))}")
print(sys.argv[2], "has", len(value), "members")
