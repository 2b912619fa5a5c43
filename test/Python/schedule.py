"""Checks every function of veeline.schedule, and prints what FileCheck looks at."""

import array
import gc

import veeline
from errors import print_error
from veeline.schedule import ACTIVATION, Op, Problem, generate, names, read

schedule = generate("zb-h1", stages=3, microbatches=6)
schedule.verify()
simulation = schedule.simulate()
print(f"{schedule.name}: makespan {simulation.makespan:g}, period {simulation.period:g}")
rows = schedule.ranks
assert [len(row) for row in rows] == [18, 18, 18] or [len(row) for row in rows] == [12, 18, 18], rows
assert rows[0][0] == Op("F", 0, 0, False) and not schedule.warnings
last = 0
for rank, row in enumerate(rows):
    starts, ends, memory = simulation.times(rank)
    assert isinstance(starts, array.array) and len(starts) == len(ends) == len(memory) == len(row)
    assert all(a >= b for a, b in zip(starts[1:], ends))
    last = max(last, ends[-1])
assert last == simulation.makespan and simulation.peak_memory % ACTIVATION == 0
assert schedule.simulate(rendezvous=True, contention=True).makespan >= simulation.makespan
# A simulation needs its schedule no longer.
kept = generate("1f1b", 2, 2).simulate()
gc.collect()
assert len(kept.times(1).starts) == 4

assert schedule._repr_svg_().startswith("<svg") and schedule.to("html").startswith("<!") and "makespan" in str(schedule)
for format in ("csv", "json"):
    again = read(schedule.to(format), format, problem=schedule.problem)
    again.verify()
    assert again.ranks == rows and again.to("csv") == schedule.to("csv")
    assert read(schedule.to(format).encode(), format).simulate().makespan == simulation.makespan

problem = Problem("1f1b", 2, 3)
assert problem.stages == 2 and problem.microbatches == 3 and problem.stage_of_chunk == [0, 1]
problem.set_chunk(1, forward=5, backward_input=7)
problem.set_edges([(0, 1, 0.5, 0.25)])
assert problem.chunk(1).forward == 5 and problem.chunk(1).backward_weight == 1
assert generate("1f1b", problem=problem).simulate().makespan == 1 + 0.5 + 3 * 13 + 0.25 + 2
problem.set_memory_limits([ACTIVATION, ACTIVATION], unit=(ACTIVATION, "layers"))
print_error("limit", generate, "gpipe", problem=problem)
problem.set_memory_limits([])
generate("gpipe", problem=problem)

away = generate("gpipe", 2, 8, memory_limit=4, offload_time=0.5)
away.verify()
assert [len(row) >= 4 for row in away.offloads] == [True, True] and away.offloads[0][0].chunk == 0
assert away.simulate().peak_memory <= 4 * ACTIVATION and generate("gpipe", 2, 8).offloads == [[], []]
assert read(away.to("json"), "json").offloads == away.offloads
print_error("away", generate, "gpipe", problem=away.problem)
assert generate("gpipe", problem=away.problem, offload=True).offloads == away.offloads

again = Problem("1f1b", 2, 4)
for chunk in range(2):
    again.set_chunk(chunk, forward_memory=ACTIVATION // 8, has_recompute=True, recompute=1, recompute_memory=ACTIVATION - ACTIVATION // 8)
ahead = generate("1f1b", problem=again)
assert [op.kind for op in ahead.ranks[1][:3]] == ["F", "R", "BW"] and again.chunk(0).recompute == 1
same = generate("1f1b", 2, 4, recompute=1, recompute_activation=0.875, activation=(0.125, 0, -1))
assert same.ranks == ahead.ranks and same.simulate().peak_memory == ahead.simulate().peak_memory
assert ahead.simulate().makespan < 4 * 5 and ahead.simulate().peak_memory < 1.25 * ACTIVATION

assert "zb-v" in names() and "auto" in names()
found = generate("auto", 2, 4, chunks_per_stage=2, memory_limit=1.5, objective="makespan", search_seconds=0.1, seed=3)
found.verify()
print_error("name", generate, "1f2b", 2, 2)
print_error("chunks", generate, "1f1b", 2, 2, chunks_per_stage=3)
print_error("large", generate, "1f1b", 2**32 + 2, 2)
print_error("integer", generate, "1f1b", "4", 8)
print_error("integer", generate, "1f1b", 4.5, 8)
print_error("integer", simulation.times, "first")
print_error("integer", generate, "auto", 2, 2, seed=-1)
print_error("costs", generate, "1f1b", 4, 8, cost=(1, 2))
print_error("costs", generate, "1f1b", 4, 8, cost=())
print_error("costs", generate, "1f1b", 4, 8, cost=2)
print_error("costs", generate, "1f1b", 4, 8, cost="abc")
print_error("costs", generate, "1f1b", 4, 8, activation=(1, 0, -1, 2))
print_error("number", generate, "1f1b", 4, 8, transfer="x")
print_error("number", problem.set_chunk, 0, forward="x")
print_error("edge", problem.set_edges, [(0, 1, 1)])
print_error("text", generate, None, 4, 8)
print_error("text", schedule.to, None)
print_error("text", read, "0F0,0B0", None)
print_error("sizes", generate, "1f1b", 2)
print_error("both", generate, "1f1b", 2, problem=problem)
print_error("objective", generate, "1f1b", 2, 2, objective="cost")
print_error("field", problem.set_chunk, 0, forwards=1)
print_error("chunk", problem.chunk, 2)
print_error("wraps", problem.chunk, 2**32)
print_error("wraps", problem.set_edges, [(0, 2**32 + 1, 1, 1)])
print_error("wraps", problem.set_memory_limits, [2**64, 1])
print_error("rank", simulation.times, 3)
print_error("format", schedule.to, "png")
print_error("cell", read, "0F0,0B0\n1F0,1X0\n", "csv", file="a.csv")
print_error("twice", read("0F0,0F0,0B0\n1F0,1B0\n", "csv").verify)
assert dir(veeline.schedule) == veeline.schedule.__all__ and all(hasattr(veeline.schedule, it) for it in dir(veeline.schedule))
assert "POINTER" not in dir(veeline.schedule) and not [it for it in dir(veeline.compiler) + dir(veeline.training) if "c_" in it]
print("done")
