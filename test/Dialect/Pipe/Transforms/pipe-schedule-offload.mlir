// What chunks keep waits in the host's memory: ops of the schedule, places in the plan, calls of the runtime.

// DEFINE: %{cut} = veeline-opt %s --pipe-partition=stages=2 --pipe-differentiate
// DEFINE: %{schedule} = %{cut} --pipe-schedule='schedule=gpipe microbatches=4 offload=1000'
// RUN: %{schedule} | FileCheck %s
// RUN: %{schedule} --pipe-insert-communication --pipe-bufferize-chunks --pipe-plan-memory | FileCheck %s --check-prefix=PLAN
// RUN: %{cut} --pipe-schedule='schedule=gpipe microbatches=4' --pipe-insert-communication --pipe-bufferize-chunks --pipe-plan-memory \
// RUN:   | FileCheck %s --check-prefix=WITHOUT
// RUN: %{schedule} --pipe-insert-communication --pipe-bufferize-chunks --pipe-plan-memory --pipe-lower-to-runtime --canonicalize --cse \
// RUN:   | FileCheck %s --check-prefix=CALLS
// RUN: not %{cut} --pipe-schedule='schedule=gpipe microbatches=4 offload=-1' 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: %{cut} --pipe-schedule='schedule=gpipe microbatches=4 offload=1000 sequential' | FileCheck %s --check-prefix=SEQUENTIAL

// The first to return leaves last, or not at all. A value that is sent is kept until then, too.
// CHECK-LABEL: pipe.program @net_rank0
// CHECK-NEXT:    %[[Y0:.*]] = pipe.forward chunk(0) microbatch(0)
// CHECK-NEXT:    %[[Y1:.*]] = pipe.forward chunk(0) microbatch(1)
// CHECK-NEXT:    %[[A1:.*]] = pipe.offload chunk(0) microbatch(1) (%[[Y1]]) : (tensor<2x64xf32>) -> tensor<2x64xf32>
// CHECK-NEXT:    pipe.release chunk(0) microbatch(1) (%[[Y1]])
// CHECK-NEXT:    pipe.forward chunk(0) microbatch(2)
// CHECK:         pipe.backward chunk(0) microbatch(0) (%[[Y0]],
// CHECK-NEXT:    %[[C1:.*]] = pipe.reload chunk(0) microbatch(1) (%[[A1]])
// CHECK-NEXT:    %[[B1:.*]] = pipe.restore chunk(0) microbatch(1) (%[[C1]])
// CHECK:         pipe.backward chunk(0) microbatch(1) (%[[B1]],

// The input that was received goes away with the residual.
// CHECK-LABEL: pipe.program @net_rank1
// CHECK-NEXT:    %[[X:.*]] = pipe.edge_value edge(0) activation microbatch(0)
// CHECK-NEXT:    %[[F:.*]]:2 = pipe.forward chunk(1) microbatch(0) (%[[X]])
// CHECK-NEXT:    %{{.*}}:2 = pipe.offload chunk(1) microbatch(0) (%[[X]], %[[F]]#1)

// Each value has 512 bytes. Of rank 1, up to four pairs are away at a time, and none is any more when the first one is there again.
// PLAN-LABEL:    pipe.program @net_rank1
// PLAN-SAME:       arena_bytes = [[SMALL:[0-9]+]] : i64, {{.*}}host_bytes = 4096 : i64
// PLAN:            pipe.offload chunk(1) microbatch(0) {{.*}} {pipe.offsets = array<i64: {{[0-9]+}}, {{[0-9]+}}>}
// PLAN:            pipe.release chunk(1) microbatch(0) ({{[^)]*}}) : tensor
// PLAN:            pipe.reload chunk(1) microbatch(0) {{.*}} {pipe.offsets = array<i64: {{[0-9]+}}, {{[0-9]+}}>}
// WITHOUT-LABEL: pipe.program @net_rank1
// WITHOUT-NOT:     host_bytes

// The parts are numbered by their F.
// CALLS-LABEL: func.func @net_rank0_step
// CALLS-DAG:     %[[ZERO:.*]] = llvm.mlir.constant(0 : i32) : i32
// CALLS-DAG:     %[[ONE:.*]] = llvm.mlir.constant(1 : i32) : i32
// CALLS-DAG:     %[[BYTES:.*]] = llvm.mlir.constant(512 : i64) : i64
// CALLS:         call @net_chunk0_forward
// CALLS:         call @net_chunk0_forward
// CALLS:         call @veeline_op_begin
// CALLS:         call @veeline_offload(%{{.*}}, %[[ZERO]], %{{.*}}, %[[FROM:.*]], %[[BYTES]]) : (!llvm.ptr, i32, i64, !llvm.ptr, i64) -> ()
// CALLS-NEXT:    call @veeline_op_end
// CALLS:         call @veeline_release(%{{.*}}, %[[ZERO]])
// CALLS:         call @net_chunk0_forward
// CALLS:         call @veeline_release(%{{.*}}, %[[ONE]])
// CALLS:         call @net_chunk0_backward
// CALLS:         call @veeline_reload(%{{.*}}, %[[ZERO]], %{{.*}}, %{{.*}}, %[[BYTES]]) : (!llvm.ptr, i32, !llvm.ptr, i64, i64) -> ()
// CALLS:         call @veeline_restore(%{{.*}}, %[[ZERO]])
// CALLS:         call @net_chunk0_backward

// NEGATIVE: error: offload is a bandwidth in gigabytes a second from 0 to 1000000, found -1

// The reference keeps everything.
// SEQUENTIAL-LABEL: pipe.program @net_sequential_rank0
// SEQUENTIAL-NOT:     pipe.offload
// SEQUENTIAL:         }

func.func @net(%x: tensor<2x64xf32> {pipe.batch = "x"}, %w: tensor<64x64xf32> {pipe.param = #pipe.param<"w", init = normal(0.0, 0.02)>}, %v: tensor<64x64xf32> {pipe.param = #pipe.param<"v", init = normal(0.0, 0.02)>}) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x64xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x64xf32>) -> tensor<2x64xf32>
  %h = linalg.matmul ins(%x, %w : tensor<2x64xf32>, tensor<64x64xf32>) outs(%i : tensor<2x64xf32>) -> tensor<2x64xf32>
  %a = math.tanh %h : tensor<2x64xf32>
  %b = pipe.boundary %a : tensor<2x64xf32>
  %k = linalg.matmul ins(%b, %v : tensor<2x64xf32>, tensor<64x64xf32>) outs(%i : tensor<2x64xf32>) -> tensor<2x64xf32>
  %s = arith.mulf %k, %k : tensor<2x64xf32>
  %c = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<f32>) -> tensor<f32>
  %l = linalg.reduce ins(%s : tensor<2x64xf32>) outs(%f : tensor<f32>) dimensions = [0, 1] (%p: f32, %q: f32) { %r = arith.addf %p, %q : f32 linalg.yield %r : f32 }
  return %l : tensor<f32>
}
