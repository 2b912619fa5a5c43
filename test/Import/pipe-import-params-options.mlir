// RUN: veeline-opt %s "--pipe-import-params=params=0,2-3" 2>/dev/null | FileCheck %s --check-prefix=POSITIONS
// RUN: veeline-opt %s "--pipe-import-params=params=w*" 2>/dev/null | FileCheck %s --check-prefix=NAMES
// RUN: veeline-opt %s "--pipe-import-params=params=w*,0 freeze=w1" 2>/dev/null | FileCheck %s --check-prefix=FREEZE
// RUN: not veeline-opt %s "--pipe-import-params=params=7" 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not veeline-opt %s "--pipe-import-params=params=2-1" 2>&1 | FileCheck %s --check-prefix=ROUND
// RUN: not veeline-opt %S/Inputs/elided.mlir "--pipe-import-params=params=0-2" 2>&1 | FileCheck %s --check-prefix=CONSTANT
// RUN: not veeline-opt %s "--pipe-import-params=params=w0,v*" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not veeline-opt %s "--pipe-import-params=freeze=kernel" 2>&1 | FileCheck %s --check-prefix=FROZEN
// RUN: not veeline-opt %s "--pipe-import-params=freeze=[" 2>&1 | FileCheck %s --check-prefix=PATTERN

// RUN: not veeline-opt %S/Inputs/elided.mlir "--pipe-import-params=buffer=w" 2>&1 | FileCheck %s --check-prefix=ELIDED
// ELIDED:    error: argument 1 ("w", 'tensor<2xf32>') is chosen by --buffer, and the file leaves its elements out

// POSITIONS: func.func @model(
// POSITIONS-SAME: pipe.param = #pipe.param<"w0"
// POSITIONS-SAME: pipe.batch = "w1"
// POSITIONS-SAME: pipe.param = #pipe.param<"x"
// POSITIONS-SAME: pipe.param = #pipe.param<"arg3"
// NAMES: func.func @model(
// NAMES-SAME: pipe.param = #pipe.param<"w0"
// NAMES-SAME: pipe.param = #pipe.param<"w1"
// NAMES-SAME: pipe.batch = "x"
// NAMES-SAME: pipe.batch = "arg3"
// FREEZE: func.func @model(
// FREEZE-SAME: pipe.param = #pipe.param<"w0"
// FREEZE-SAME: pipe.frozen, pipe.param = #pipe.param<"w1", init =
// FREEZE-SAME: pipe.batch = "x"
// FREEZE-SAME: pipe.batch = "arg3"
// RANGE:     error: --params: there is no argument 7; the model has 4
// ROUND:     error: --params: the range 2-1 is the wrong way round; write 1-2
// CONSTANT:  error: --params: there is no argument 0-2; the model has 1, and 1 constant, which counts from 1 on
// NONE:      error: --params: no argument is named 'v*'; the names are w0, w1, x, arg3
// FROZEN:    error: --freeze: no argument is named 'kernel'; the names are w0, w1, x, arg3
// PATTERN:   error: --freeze: '[' is no pattern of names
func.func @model(%w0: tensor<2xf32> {iree.identifier = "w0"}, %w1: tensor<2xf32> {iree.identifier = "w1"}, %x: tensor<2xf32> {iree.identifier = "x"}, %y: tensor<2xf32>) -> tensor<2xf32> {
  %0 = arith.addf %w0, %w1 : tensor<2xf32>
  %1 = arith.addf %0, %x : tensor<2xf32>
  %2 = arith.addf %1, %y : tensor<2xf32>
  return %2 : tensor<2xf32>
}
