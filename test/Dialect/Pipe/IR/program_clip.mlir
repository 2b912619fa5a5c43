// Updates that know the norm of all gradients: what parses and prints, and what
// is refused.

// RUN: split-file %s %t && cd %t
// RUN: cat right.mlir net.mlir | veeline-opt | FileCheck %s
// RUN: cat right.mlir net.mlir | veeline-opt -mlir-print-op-generic | veeline-opt | FileCheck %s
// RUN: cat right.mlir net.mlir | veeline-opt -emit-bytecode | veeline-opt | FileCheck %s

// CHECK-LABEL: pipe.program @net_rank0 of @net stage(0) {
// CHECK:         %[[N:.*]] = pipe.squared_norm param(0) (%[[G:.*]]) : tensor<4xf32>
// CHECK-NEXT:    %[[SOME:.*]] = pipe.gather_norms [0](%[[N]]) -> tensor<2xf64>
// CHECK-NEXT:    %[[COMPLETE:.*]] = pipe.edge_value edge(1) gradient microbatch(0) : tensor<2xf64>
// CHECK-NEXT:    %[[ALL:.*]] = pipe.gather_norms []() after %[[COMPLETE]] : tensor<2xf64> -> tensor<2xf64>
// CHECK-NEXT:    %[[F:.*]] = pipe.clip %[[ALL]] : tensor<2xf64>
// CHECK-NEXT:    pipe.update param(0) (%[[G]]) clipped %[[F]] : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-LABEL: pipe.pipeline @net stages(2) {{.*}} microbatches(1) clip_sync(barrier) {

// RUN: sed 's/barrier/optimistic/' net.mlir > opt.mlir
// RUN: cat validated.mlir opt.mlir | veeline-opt | FileCheck %s --check-prefix=VALIDATED
// RUN: cat validated.mlir opt.mlir | veeline-opt -mlir-print-op-generic | veeline-opt | FileCheck %s --check-prefix=VALIDATED

// VALIDATED-LABEL: pipe.program @net_rank0 of @net stage(0) {
// VALIDATED-NEXT:    pipe.validate
// VALIDATED-NEXT:    %[[G:.*]] = pipe.gradient param(0) chunk(0) : tensor<4xf32>
// VALIDATED-NEXT:    pipe.update param(0) (%[[G]]) : (tensor<4xf32>) -> tensor<4xf32>
// VALIDATED:       clip_sync(optimistic)

// RUN: cat twice.mlir opt.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: cat unvalidated.mlir opt.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=UNVALIDATED
// RUN: cat alone.mlir net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=WAITS
// RUN: cat norms.mlir opt.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=OPEN
// TWICE:       'pipe.validate' op validates updates a second time
// TWICE:       note: the first time is here
// RUN: cat after.mlir opt.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=AFTER
// RUN: cat shared.mlir opt.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=SHARED
// RUN: cat slipped.mlir opt.mlir | veeline-opt | FileCheck %s --check-prefix=SLIPPED
// AFTER:       'pipe.gradient' op is of the step before, whose updates are validated when all of it is done
// AFTER:       note: they are validated here
// SHARED:      'pipe.assign' op is about a parameter of several ranks, and late: optimistic updates of it end with their step
// SLIPPED:     pipe.update late param(0)
// SLIPPED:     pipe.validate
// UNVALIDATED: 'pipe.update' op changes gradients or parameters before optimistic updates of the step before are validated; put a pipe.validate before it
// WAITS:       'pipe.validate' op is about optimistic updates, but the pipeline has no 'clip_sync(optimistic)'

// RUN: cat types.mlir net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=TYPES
// RUN: cat other.mlir net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: cat far.mlir net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=FAR
// RUN: cat counts.mlir net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=COUNTS
// RUN: cat order.mlir net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: cat before.mlir net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=BEFORE
// RUN: cat none.mlir net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: cat plain.mlir net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=PLAIN
// RUN: cat late.mlir net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=LATE
// RUN: cat shape.mlir net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: cat rank.mlir net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=RANK
// RUN: sed 's/ clip_sync(barrier)//' net.mlir > open.mlir
// RUN: cat norms.mlir open.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=OPEN

// TYPES:   'pipe.gather_norms' op has norms of type 'tensor<3xf64>', expected 'tensor<2xf64>': one for each parameter
// OTHER:   'pipe.gather_norms' op takes something else as the norm of parameter 1; expected its pipe.squared_norm
// OTHER:   note: found this
// FAR:     'pipe.gather_norms' op names parameter 7, but the pipeline has 2
// COUNTS:  'pipe.gather_norms' op has 1 norms of 2 parameters; it takes one of each
// ORDER:   'pipe.gather_norms' op takes the norms of parameters in ascending order, each once
// BEFORE:  'pipe.gather_norms' op adds to 'tensor<3xf64>', but gives 'tensor<2xf64>'
// NONE:    'pipe.squared_norm' op needs at least one gradient
// PLAIN:   'pipe.update' op of a pipeline with 'clip_sync(barrier)' is clipped by the factor of a pipe.clip
// LATE:    'pipe.update' op is late in a pipeline with 'clip_sync(barrier)', whose steps end with their updates
// SHAPE:   'pipe.edge_value' op is about the shape of edge 1, of norms, whose shape is known
// RANK:    'pipe.edge_value' op is for rank 1 of stage 0, which has 1 rank: on the edge of norms the microbatch is the number of the receiving rank
// OPEN:   'pipe.squared_norm' op is about the norm of all gradients, but the pipeline has no 'clip_sync(barrier)'

//--- right.mlir
pipe.program @net_rank0 of @net stage(0) {
  %g = pipe.gradient param(0) chunk(0) : tensor<4xf32>
  %n = pipe.squared_norm param(0) (%g) : tensor<4xf32>
  %some = pipe.gather_norms [0] (%n) -> tensor<2xf64>
  %complete = pipe.edge_value edge(1) gradient microbatch(0) : tensor<2xf64>
  %all = pipe.gather_norms [] () after %complete : tensor<2xf64> -> tensor<2xf64>
  %factor = pipe.clip %all : tensor<2xf64>
  %w = pipe.update param(0) (%g) clipped %factor : (tensor<4xf32>) -> tensor<4xf32>
}
//--- types.mlir
pipe.program @net_rank0 of @net stage(0) {
  %all = pipe.gather_norms [] () -> tensor<3xf64>
}
//--- other.mlir
pipe.program @net_rank0 of @net stage(0) {
  %g = pipe.gradient param(0) chunk(0) : tensor<4xf32>
  %n = pipe.squared_norm param(0) (%g) : tensor<4xf32>
  %all = pipe.gather_norms [1] (%n) -> tensor<2xf64>
}
//--- far.mlir
pipe.program @net_rank0 of @net stage(0) {
  %g = pipe.gradient param(0) chunk(0) : tensor<4xf32>
  %n = pipe.squared_norm param(0) (%g) : tensor<4xf32>
  %all = pipe.gather_norms [7] (%n) -> tensor<2xf64>
}
//--- counts.mlir
pipe.program @net_rank0 of @net stage(0) {
  %g = pipe.gradient param(0) chunk(0) : tensor<4xf32>
  %n = pipe.squared_norm param(0) (%g) : tensor<4xf32>
  %all = pipe.gather_norms [0, 1] (%n) -> tensor<2xf64>
}
//--- order.mlir
pipe.program @net_rank0 of @net stage(0) {
  %g = pipe.gradient param(0) chunk(0) : tensor<4xf32>
  %n = pipe.squared_norm param(0) (%g) : tensor<4xf32>
  %all = pipe.gather_norms [0, 0] (%n, %n) -> tensor<2xf64>
}
//--- before.mlir
pipe.program @net_rank0 of @net stage(0) {
  %some = pipe.gather_norms [] () -> tensor<3xf64>
  %all = pipe.gather_norms [] () after %some : tensor<3xf64> -> tensor<2xf64>
}
//--- none.mlir
pipe.program @net_rank0 of @net stage(0) {
  %n = "pipe.squared_norm"() {param = 0} : () -> tensor<f64>
}
//--- plain.mlir
pipe.program @net_rank0 of @net stage(0) {
  %g = pipe.gradient param(0) chunk(0) : tensor<4xf32>
  %w = pipe.update param(0) (%g) : (tensor<4xf32>) -> tensor<4xf32>
}
//--- late.mlir
pipe.program @net_rank0 of @net stage(0) {
  %g = pipe.gradient late param(0) chunk(0) : tensor<4xf32>
  %w = pipe.update late param(0) (%g) : (tensor<4xf32>) -> tensor<4xf32>
}
//--- after.mlir
pipe.program @net_rank0 of @net stage(0) {
  pipe.validate
  %g = pipe.gradient late param(0) chunk(0) : tensor<4xf32>
  %w = pipe.update late param(0) (%g) : (tensor<4xf32>) -> tensor<4xf32>
}
//--- slipped.mlir
pipe.program @net_rank0 of @net stage(0) {
  %g = pipe.gradient late param(0) chunk(0) : tensor<4xf32>
  %w = pipe.update late param(0) (%g) : (tensor<4xf32>) -> tensor<4xf32>
  pipe.validate
}
//--- shared.mlir
pipe.program @net_rank0 of @net stage(0) {
  %g = pipe.gradient late param(0) chunk(0) : tensor<4xf32>
  pipe.assign late param(0) %g : tensor<4xf32>
  pipe.validate
}
//--- shape.mlir
pipe.program @net_rank1 of @net stage(1) {
  %all = pipe.edge_value edge(1) shape microbatch(0) : tensor<i64>
}
//--- rank.mlir
pipe.program @net_rank0 of @net stage(0) {
  %all = pipe.edge_value edge(1) gradient microbatch(1) : tensor<2xf64>
}
//--- norms.mlir
pipe.program @net_rank0 of @net stage(0) {
  %g = pipe.gradient param(0) chunk(0) : tensor<4xf32>
  %n = pipe.squared_norm param(0) (%g) : tensor<4xf32>
}
//--- validated.mlir
pipe.program @net_rank0 of @net stage(0) {
  pipe.validate
  %g = pipe.gradient param(0) chunk(0) : tensor<4xf32>
  %w = pipe.update param(0) (%g) {} : (tensor<4xf32>) -> tensor<4xf32>
}
//--- alone.mlir
pipe.program @net_rank0 of @net stage(0) {
  pipe.validate
}
//--- twice.mlir
pipe.program @net_rank0 of @net stage(0) {
  pipe.validate
  pipe.validate
}
//--- unvalidated.mlir
pipe.program @net_rank0 of @net stage(0) {
  %g = pipe.gradient param(0) chunk(0) : tensor<4xf32>
  %w = pipe.update param(0) (%g) : (tensor<4xf32>) -> tensor<4xf32>
  pipe.validate
}
//--- net.mlir
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) microbatches(1) clip_sync(barrier) {
  %x = pipe.batch "x" : tensor<2xf32>
  %w0 = pipe.param <"w0", init = zeros> : tensor<4xf32>
  %w1 = pipe.param <"w1", init = zeros> : tensor<4xf32>
  %0 = pipe.chunk 0 @c0(%x, %w0) : (tensor<2xf32>, tensor<4xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0, %w1) : (tensor<2xf32>, tensor<4xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<2xf32>, tensor<4xf32>) -> tensor<2xf32>
func.func private @c1(tensor<2xf32>, tensor<4xf32>) -> tensor<f32>
