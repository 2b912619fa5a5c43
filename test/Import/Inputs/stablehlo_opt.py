#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stands in for stablehlo-opt: refuses other arguments than its passes, and lowers the ops of one test, in the generic form with places."""

import re
import sys

PASSES = ["--chlo-legalize-to-stablehlo", "--stablehlo-convert-to-signless", "--stablehlo-legalize-to-linalg=enable-primitive-ops"]

path, *options = sys.argv[1:]
if options != PASSES + ["--mlir-print-debuginfo", "--mlir-print-op-generic"]:
    sys.exit(f"unknown options {options}")
text = open(path).read()
if "wrong" in text:
    sys.exit(f"{path}:2:8: error: custom op 'stablehlo.wrong' is unknown")
# As the program that it stands for, it leaves what it does not know.
known = {"tanh": "math.tanh", "erf": "math.erf", "add": "arith.addf"}
args = dict(re.findall(r"(%\w+): (tensor<\w+>)", text))
ops = []
for number, line in enumerate(text.splitlines(), start=1):
    if found := re.match(r" +(%\w+) = (?:stablehlo|chlo)\.(\w+) ([%\w, ]+) : (\S+)", line):
        result, name, operands, kind = found.groups()
        kinds = ", ".join([kind] * len(operands.split(",")))
        op = known.get(name, f"stablehlo.{name}")
        ops.append(f'  {result} = "{op}"({operands}) <{{fastmath = #arith.fastmath<none>}}> : ({kinds}) -> {kind} loc("{path}":{number}:3)')
    elif found := re.match(r" +return (%\w+) : (\S+)", line):
        ops.append(f'  "func.return"({found[1]}) : ({found[2]}) -> () loc("{path}":{number}:3)')
        result = found[2]
block = ", ".join(f'{name}: {kind} loc("{name[1:]}"("{path}":1:1))' for name, kind in args.items())
place = f'loc("{path}":1:1)'
print(f"""
"builtin.module"() ({{
  "func.func"() <{{function_type = ({", ".join(args.values())}) -> {result}, sym_name = "main"}}> ({{
  ^bb0({block}):
""" + "\n".join(ops) + f"""
  }}) : () -> () {place}
}}) : () -> () {place}""")
