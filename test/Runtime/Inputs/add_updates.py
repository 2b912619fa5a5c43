# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gives a joint graph that returns the gradients %dw and %dv of 4x4 matrices their update: add_updates.py momentum|adamw|lion < GRAPH."""

import sys

TYPE = "tensor<4x4xf32>"
CONSTANTS = {"rate": 0.05, "kept": 0.9, "new": 0.1, "kept2": 0.99, "new2": 0.01, "epsilon": 1e-8, "decayed": 1 - 0.05 * 0.25,
             "nothing": 0.0, "whole": 1.0}
kind, text = sys.argv[1], sys.stdin.read()
states = {"momentum": ["m"], "adamw": ["m", "s"], "lion": ["m"]}[kind]
arguments = [f'%{s}{p}: {TYPE} {{pipe.state_of = "{p}"}}' for p in "wv" for s in states] + ["%number: tensor<i32> {pipe.step}"] * (kind == "adamw")
results = [f'{TYPE} {{pipe.state_of = "{p}"}}' for p in "wv" for s in states] + ["tensor<i32> {pipe.step}"] * (kind == "adamw")
ops = [f"%{name} = arith.constant dense<{value:.9e}> : {TYPE}" for name, value in CONSTANTS.items()]
if kind == "adamw":
    ops += ["%count = arith.constant dense<1> : tensor<i32>", "%number1 = arith.addi %number, %count : tensor<i32>",
            "%real = arith.sitofp %number1 : tensor<i32> to tensor<f32>", "%unit = arith.constant dense<1.0> : tensor<f32>"]
    for moment, beta in (("m", 0.9), ("s", 0.99)):
        ops += [f"%beta{moment} = arith.constant dense<{beta}> : tensor<f32>", f"%power{moment} = math.powf %beta{moment}, %real : tensor<f32>",
                f"%small{moment} = arith.subf %unit, %power{moment} : tensor<f32>", f"%shape{moment} = tensor.empty() : {TYPE}",
                f"%bias{moment} = linalg.broadcast ins(%small{moment} : tensor<f32>) outs(%shape{moment} : {TYPE}) dimensions = [0, 1]"]


BOOLEANS = TYPE.replace("f32", "i1")


def add(result, op, *operands):
    ops.append(f"%{result} = {op} {', '.join(f'%{operand}' for operand in operands)} : {TYPE}")


for p in "wv":
    add(f"a{p}", "arith.mulf", f"m{p}", "kept")
    if kind == "momentum":
        add(f"m1{p}", "arith.addf", f"a{p}", f"d{p}")
        add(f"step{p}", "arith.mulf", "rate", f"m1{p}")
        add(f"new{p}", "arith.subf", p, f"step{p}")
        continue
    add(f"b{p}", "arith.mulf", f"d{p}", "new")
    if kind == "lion":
        add(f"c{p}", "arith.addf", f"a{p}", f"b{p}")
        add(f"unit{p}", "math.copysign", "whole", f"c{p}")
        ops += [f"%none{p} = arith.cmpf oeq, %c{p}, %nothing : {TYPE}", f"%sign{p} = arith.select %none{p}, %nothing, %unit{p} : {BOOLEANS}, {TYPE}"]
        add(f"old{p}", "arith.mulf", f"m{p}", "kept2")
        add(f"add{p}", "arith.mulf", f"d{p}", "new2")
        add(f"m1{p}", "arith.addf", f"old{p}", f"add{p}")
        add(f"step{p}", "arith.mulf", "rate", f"sign{p}")
        add(f"decay{p}", "arith.mulf", p, "decayed")
        add(f"new{p}", "arith.subf", f"decay{p}", f"step{p}")
        continue
    add(f"m1{p}", "arith.addf", f"a{p}", f"b{p}")
    add(f"c{p}", "arith.mulf", f"s{p}", "kept2")
    add(f"e{p}", "arith.mulf", f"d{p}", f"d{p}")
    add(f"f{p}", "arith.mulf", f"e{p}", "new2")
    add(f"s1{p}", "arith.addf", f"c{p}", f"f{p}")
    add(f"mhat{p}", "arith.divf", f"m1{p}", "biasm")
    add(f"shat{p}", "arith.divf", f"s1{p}", "biass")
    add(f"root{p}", "math.sqrt", f"shat{p}")
    add(f"below{p}", "arith.addf", f"root{p}", "epsilon")
    add(f"way{p}", "arith.divf", f"mhat{p}", f"below{p}")
    add(f"step{p}", "arith.mulf", f"way{p}", "rate")
    add(f"decay{p}", "arith.mulf", p, "decayed")
    add(f"new{p}", "arith.subf", f"decay{p}", f"step{p}")
values = [f"%{s}1{p}" for p in "wv" for s in states] + ["%number1"] * (kind == "adamw")
types = [TYPE] * (2 * len(states)) + ["tensor<i32>"] * (kind == "adamw")
# The signature ends with the parameter v, and the body with what is returned.
text = text.replace(')>})\n    -> (', f')>}},\n    {", ".join(arguments)})\n    -> (', 1).replace("pipe.gradient_of", "pipe.updated")
text = text.replace('{pipe.updated = "v"}) {', f'{{pipe.updated = "v"}}, {", ".join(results)}) {{', 1)
body, _ = text.split("  return ")
print(body + "\n".join(f"  {op}" for op in ops))
print(f"  return %loss, %neww, %newv, {', '.join(values)} : tensor<f32>, {TYPE}, {TYPE}, {', '.join(types)}\n}}")
