#!/usr/bin/env python3
"""Asks the solver z3 whether any schedule is shorter than the one of `auto`.

Every operation gets an integer start time. Two operations of a stage run one
after the other, which is a Boolean for each pair; memory is a sum of such
Booleans. Microbatches of one kind ascend, as `verify` demands of B and W; for F
this loses nothing, since microbatches are alike. If the solver proves that no
schedule takes one unit of time less, the schedule is optimal.

Usage: optimum.py VEELINE SECONDS P M V F,B,W TRANSFER LIMIT
with costs of one chunk, all integers, and the limit in chunks of one
microbatch a stage. Chunks lie on a wave. Prints "optimal MAKESPAN",
"shorter exists than MAKESPAN" or "not finished MAKESPAN".
"""

import itertools
import re
import subprocess
import sys


class Model:
    def __init__(self, p, m, v, costs, transfer, limit):
        self.p, self.m, self.v, self.limit, self.transfer = p, m, v, limit, transfer
        self.cost = dict(zip("FBW", costs))
        self.lines = ["(set-logic ALL)"]
        chunks = range(p * v)
        self.ops = list(itertools.product("FBW", chunks, range(m)))
        for op in self.ops:
            self.lines.append(f"(declare-const {self.start(op)} Int)(assert (>= {self.start(op)} 0))")
        self.flow()
        for stage in range(p):
            self.order([op for op in self.ops if self.stage(op[1]) == stage])

    def stage(self, chunk):
        turn, place = divmod(chunk, self.p)
        return place if turn % 2 == 0 else self.p - 1 - place

    def start(self, op):
        return f"{op[0]}_{op[1]}_{op[2]}"

    def end(self, op):
        return f"(+ {self.start(op)} {self.cost[op[0]]})"

    def after(self, op, other):
        transfer = self.transfer if self.stage(op[1]) != self.stage(other[1]) else 0
        self.lines.append(f"(assert (>= {self.start(op)} (+ {self.end(other)} {transfer})))")

    def flow(self):
        for k, i in itertools.product(range(self.p * self.v), range(self.m)):
            if k > 0:
                self.after(("F", k, i), ("F", k - 1, i))
                self.after(("B", k - 1, i), ("B", k, i))
            self.after(("B", k, i), ("F", k, i))
            self.after(("W", k, i), ("B", k, i))
            if i > 0:
                for kind in "FBW":
                    self.after((kind, k, i), (kind, k, i - 1))

    def order(self, ops):
        """Pairs of one stage, and its memory at each F."""
        name = {}
        for a, b in itertools.combinations(ops, 2):
            if a[1] == b[1] and (a[0] == b[0] or a[2] == b[2]):
                first = a[2] <= b[2] if a[0] == b[0] else "FBW".index(a[0]) < "FBW".index(b[0])
                name[a, b], name[b, a] = ("true", "false") if first else ("false", "true")
                continue
            var = f"o_{self.start(a)}_{self.start(b)}"
            name[a, b], name[b, a] = var, f"(not {var})"
            self.lines.append(f"(declare-const {var} Bool)"
                              f"(assert (=> {var} (>= {self.start(b)} {self.end(a)})))"
                              f"(assert (=> (not {var}) (>= {self.start(a)} {self.end(b)})))")
        for f in (op for op in ops if op[0] == "F"):
            held = [f"(ite {name[o, f]} {1 if o[0] == 'F' else -1} 0)" for o in ops if o[0] in "FW" and o != f]
            self.lines.append(f"(assert (<= (+ 1 {' '.join(held)} 0) {self.limit}))")

    def within(self, makespan):
        bounds = [f"(assert (<= {self.end(op)} {makespan}))" for op in self.ops]
        return "\n".join(self.lines + bounds + ["(check-sat)"])


def main():
    veeline, seconds, p, m, v, costs, transfer, limit = sys.argv[1:]
    p, m, v, limit = int(p), int(m), int(v), int(limit)
    f, b, w = map(int, costs.split(","))
    output = subprocess.run(
        [veeline, "schedule", "--schedule", "auto", "--stages", str(p), "--chunks-per-stage", str(v),
         "--microbatches", str(m), "--chunk-cost", f"F={f},B={b},W={w}", "--transfer", transfer,
         "--memory-limit", str(limit / v), "--show", "summary"],
        stdout=subprocess.PIPE, text=True, check=True).stdout
    makespan = int(re.search(r"makespan\s+(\d+)", output).group(1))
    model = Model(p, m, v, (f, b, w), int(transfer), limit)
    result = subprocess.run(["z3", "-in", f"-T:{seconds}"], input=model.within(makespan - 1),
                            stdout=subprocess.PIPE, text=True).stdout.split()
    answer = {"unsat": "optimal", "sat": "shorter exists than"}.get(result[0] if result else "", "not finished")
    print(answer, makespan)


if __name__ == "__main__":
    main()
