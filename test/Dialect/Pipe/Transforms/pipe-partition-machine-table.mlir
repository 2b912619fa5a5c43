// What a machine was measured to take, where there is no profile: three pieces, and the exact times of their classes.

// RUN: veeline-opt %s --pipe-partition="stages=3 machine-table=%S/../../../Compiler/Inputs/machine.json" --pipe-differentiate \
// RUN:   --pipe-schedule="schedule=1f1b microbatches=1" | FileCheck %s

// The table goes along: costs are of what differentiation makes.
// CHECK: pipe.pipeline @net {{.*}}machine_table = "{\0A \22format\22: \22veeline-machine\22

// A convolution over windows, channels last, min(16, 25) of them: 2 * 4 * 25 * 9 * 16 FLOPs are 1800 ns at 16 a nanosecond, backward at
// 4 7200. The 14400 bytes of its weights are read and written, and a call takes 100. Zeros that it adds to are nothing. Backward adds
// its gradients to those of earlier microbatches: 3 times 14400 bytes.
// CHECK: pipe.chunk 0 {{.*}}cost = #pipe.cost<forward = 30700, backward_input = 0, backward_weight = 79300>

// What a profile of this cut will be of is said as if it came from a profile: 30700 and 79300 ns of what the cost model has without.
// CHECK-SAME: cost_scale = array<f64: {{[2-9][0-9]\.[0-9]+}}, 1.000000e+00,

// 10000 FLOPs of a product are halfway, by their logarithm, between 1000 at 2 and 100000 at 8: 2000 ns at 5, and a call; their gradients are 20000 bytes.
// CHECK: pipe.chunk 1 {{.*}}cost = #pipe.cost<forward = 2100, backward_input = 0, backward_weight = 64200>

// A sum reads 50 elements and writes one, whose line of a cache is read first.
// CHECK: pipe.chunk 2 {{.*}}cost = #pipe.cost<forward = 208,

// Three ranks have a core each of four, and a message takes 2000 ns; of two they share cores, sleep, and take 70000 to wake.
// RUN: sed 's/"cores": 4/"cores": 2/' %S/../../../Compiler/Inputs/machine.json > %t.json
// RUN: veeline-opt %s --pipe-partition="stages=3 machine-table=%t.json" --pipe-differentiate --pipe-schedule="schedule=1f1b microbatches=1" \
// RUN:   | FileCheck %s --check-prefixes=TIMES,SHARED
// TIMES: pipe.forward chunk(0) {{.*}}predicted = array<f64: 0.000000e+00, 3.070000e+04>
// CHECK: pipe.forward chunk(1) {{.*}}predicted = array<f64: 3.270000e+04, 3.480000e+04>
// SHARED: pipe.forward chunk(1) {{.*}}predicted = array<f64: 1.007000e+05, 1.028000e+05>

// Who compiles knows how many there are now.
// RUN: veeline-opt %s --pipe-partition="stages=3 machine-cores=2 machine-table=%S/../../../Compiler/Inputs/machine.json" --pipe-differentiate \
// RUN:   --pipe-schedule="schedule=1f1b microbatches=1" | FileCheck %s --check-prefixes=TIMES,SHARED

// Cores slow each other down: here convolutions take 1800 ns while one core works and 3600 while four do. Beside one of three ranks two of
// three others work; of six ranks of two replicas, or of stages of several ranks, on six cores more than were measured, on two cores one.
// RUN: sed '/last window forward/s/16, 16, 16/16, 16, 8/' %S/../../../Compiler/Inputs/machine.json > %t.json
// DEFINE: %{cores} =
// DEFINE: %{alone} = veeline-opt %s --pipe-partition="%{cores} machine-table=%t.json" --pipe-differentiate --pipe-schedule="schedule=1f1b microbatches=1" | FileCheck %s --check-prefix
// REDEFINE: %{cores} = stages=1
// RUN: %{alone}=ALONE
// REDEFINE: %{cores} = stages=3
// RUN: %{alone}=MOST
// REDEFINE: %{cores} = stages=3 machine-cores=2
// RUN: %{alone}=ONE
// REDEFINE: %{cores} = stages=3 replicas=2 machine-cores=6
// RUN: %{alone}=TOGETHER
// RUN: veeline-opt %s --pipe-partition="stages=3 stage-replicas=2,3,1 machine-cores=6 machine-table=%t.json" --pipe-differentiate \
// RUN:   --pipe-schedule="schedule=1f1b microbatches=6" | FileCheck %s --check-prefix=TOGETHER
// ALONE:    pipe.chunk 0 {{.*}}cost = #pipe.cost<forward = 33008, backward_input = 0,
// MOST:     pipe.chunk 0 {{.*}}cost = #pipe.cost<forward = 31900, backward_input = 0,
// ONE:      pipe.chunk 0 {{.*}}cost = #pipe.cost<forward = 31300, backward_input = 0,
// TOGETHER: pipe.chunk 0 {{.*}}cost = #pipe.cost<forward = 32500, backward_input = 0,

// Pieces are printed with the same times.
// RUN: veeline-opt %s --pipe-print-pieces="machine-table=%S/../../../Compiler/Inputs/machine.json" -o /dev/null | FileCheck %s --check-prefix=PIECES
// PIECES:      0 {{.*}} 30.7 400 pipe-partition-machine-table.mlir
// PIECES-NEXT: 1 {{.*}} 2.3 0 pipe-partition-machine-table.mlir

// Fitting into memory hands it on, and so do pipelines of passes; a profile knows better.
// RUN: veeline-opt %s --pipe-fit-memory="stages=3 machine-table=%S/../../../Compiler/Inputs/machine.json memory-limit=1GiB recompute=auto" \
// RUN:   | FileCheck %s --check-prefix=KEPT
// RUN: veeline-opt %s --pipe-compile="stages=3 machine-table=%S/../../../Compiler/Inputs/machine.json" --mlir-disable-threading \
// RUN:   --mlir-print-ir-after=pipe-schedule 2>&1 | FileCheck %s --check-prefix=KEPT
// KEPT: pipe.pipeline {{.*}}machine_table = "

// RUN: not veeline-opt %s --pipe-partition="stages=3 machine-table=%t.none" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not veeline-opt %s --pipe-print-pieces="machine-table=%t.none" 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: machine table '{{.*}}.none': No such file or directory; measure again with veeline doctor --calibrate

func.func @net(%x: tensor<1x4x4x16xf32> {pipe.batch = "x"}, %k: tensor<3x3x16x25xf32> {pipe.param = #pipe.param<"k", init = zeros>},
               %w: tensor<100x50xf32> {pipe.param = #pipe.param<"w", init = zeros>}) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<1x2x2x25xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<1x2x2x25xf32>) -> tensor<1x2x2x25xf32>
  %image = linalg.conv_2d_nhwc_hwcf ins(%x, %k : tensor<1x4x4x16xf32>, tensor<3x3x16x25xf32>)
                                    outs(%1 : tensor<1x2x2x25xf32>) -> tensor<1x2x2x25xf32>
  %row = tensor.collapse_shape %image [[0, 1, 2], [3]] : tensor<1x2x2x25xf32> into tensor<4x25xf32>
  %flat = tensor.collapse_shape %row [[0, 1]] : tensor<4x25xf32> into tensor<100xf32>
  %line = tensor.expand_shape %flat [[0, 1]] output_shape [1, 100] : tensor<100xf32> into tensor<1x100xf32>
  %2 = tensor.empty() : tensor<1x50xf32>
  %3 = linalg.fill ins(%zero : f32) outs(%2 : tensor<1x50xf32>) -> tensor<1x50xf32>
  %y = linalg.matmul ins(%line, %w : tensor<1x100xf32>, tensor<100x50xf32>) outs(%3 : tensor<1x50xf32>) -> tensor<1x50xf32>
  %4 = tensor.empty() : tensor<f32>
  %5 = linalg.fill ins(%zero : f32) outs(%4 : tensor<f32>) -> tensor<f32>
  %loss = linalg.reduce { arith.addf } ins(%y : tensor<1x50xf32>) outs(%5 : tensor<f32>) dimensions = [0, 1]
  return %loss : tensor<f32>
}
