"""Usage: make.py OP ...

Writes a transform script. Each OP is one of transform.pipe with its attributes, "partition{stages = 2}"; "cut" is behind the division of
the model.
"""

import sys

FUNCTION, PIPELINE = '!transform.op<"func.func">', '!transform.op<"pipe.pipeline">'
print("""module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["func.func"]} in %module : (!transform.any_op) -> !transform.op<"func.func">""")
type_ = FUNCTION
for number, op in enumerate(sys.argv[1:], 1):
    name, _, attributes = op.partition("{")
    if name == "cut":
        print(f'    %cut = transform.structured.match ops{{["arith.divf"]}} in %module : (!transform.any_op) -> !transform.any_op')
        print("    transform.pipe.cut %cut : !transform.any_op")
        print(f'    %{number} = transform.structured.match ops{{["func.func"]}} in %module : (!transform.any_op) -> {FUNCTION}')
        continue
    print(f"    %{number} = transform.pipe.{name} %{number - 1} {'{' if attributes else ''}{attributes} : ({type_}) -> {PIPELINE}")
    type_ = PIPELINE
print("    transform.yield\n  }\n}")
