// What chunks keep waits in the host's memory: ops of the schedule, places in the plan, calls of the runtime.

// DEFINE: %{cut} = veeline-opt %s --pipe-partition=stages=2 --pipe-differentiate
// DEFINE: %{schedule} = %{cut} --pipe-schedule='schedule=gpipe microbatches=4 offload=2'
// RUN: %{schedule} | FileCheck %s
// RUN: %{schedule} --pipe-insert-communication --pipe-bufferize-chunks --pipe-plan-memory | FileCheck %s --check-prefix=PLAN
// RUN: %{cut} --pipe-schedule='schedule=gpipe microbatches=4' --pipe-insert-communication --pipe-bufferize-chunks --pipe-plan-memory \
// RUN:   | FileCheck %s --check-prefix=WITHOUT
// RUN: %{schedule} --pipe-insert-communication --pipe-bufferize-chunks --pipe-plan-memory --pipe-lower-to-runtime --canonicalize --cse \
// RUN:   | FileCheck %s --check-prefix=CALLS
// RUN: not %{cut} --pipe-schedule='schedule=gpipe microbatches=4 offload=-1' 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: %{cut} --pipe-schedule='schedule=gpipe microbatches=4 offload=2 sequential' | FileCheck %s --check-prefix=SEQUENTIAL

// Rank 0 holds no more than rank 1 then has to. There, the first to return stays. Others leave with the input that was received, and copies of one
// microbatch run while others are computed.
// CHECK-LABEL: pipe.program @net_rank0
// CHECK-NOT:     pipe.offload
// CHECK-LABEL: pipe.program @net_rank1
// CHECK:         pipe.forward chunk(1) microbatch(0)
// CHECK:         %[[X:.*]] = pipe.edge_value edge(0) activation microbatch(1)
// CHECK-NEXT:    %[[F:.*]]:2 = pipe.forward chunk(1) microbatch(1) (%[[X]])
// CHECK-NEXT:    %[[AWAY:.*]]:2 = pipe.offload chunk(1) microbatch(1) (%[[X]], %[[F]]#1) : (tensor<2x64xf32>, tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<2x64xf32>)
// CHECK:         pipe.forward chunk(1) microbatch(2)
// CHECK:         pipe.release chunk(1) microbatch(1) (%[[X]], %[[F]]#1)
// CHECK:         pipe.forward chunk(1) microbatch(3)
// CHECK:         %[[COMING:.*]]:2 = pipe.reload chunk(1) microbatch(1) (%[[AWAY]]#0, %[[AWAY]]#1)
// CHECK-NEXT:    pipe.backward chunk(1) microbatch(0)
// CHECK:         %[[BACK:.*]]:2 = pipe.restore chunk(1) microbatch(1) (%[[COMING]]#0, %[[COMING]]#1)
// CHECK-NEXT:    pipe.backward chunk(1) microbatch(1) (%[[BACK]]#0, %[[BACK]]#1)

// Each value has 512 bytes. Two pairs of them are away at a time.
// PLAN-LABEL:    pipe.program @net_rank1
// PLAN-SAME:       arena_bytes = 85504 : i64, host_bytes = 2048 : i64
// PLAN:            pipe.offload chunk(1) microbatch(1) {{.*}} {pipe.offsets = array<i64: 0, 512>}
// PLAN:            pipe.offload chunk(1) microbatch(2) {{.*}} {pipe.offsets = array<i64: 1024, 1536>}
// PLAN:            pipe.reload chunk(1) microbatch(1) {{.*}} {pipe.offsets = array<i64: {{[0-9]+}}, {{[0-9]+}}>}
// WITHOUT-LABEL: pipe.program @net_rank1
// WITHOUT-SAME:    arena_bytes = 86528 : i64
// WITHOUT-NOT:     host_bytes

// The parts are numbered by their F.
// CALLS-LABEL: func.func @net_rank1_step
// CALLS-DAG:     %[[ZERO:.*]] = llvm.mlir.constant(0 : i32) : i32
// CALLS-DAG:     %[[ONE:.*]] = llvm.mlir.constant(1 : i32) : i32
// CALLS-DAG:     %[[BYTES:.*]] = llvm.mlir.constant(512 : i64) : i64
// CALLS:         call @net_chunk1_forward
// CALLS:         call @net_chunk1_forward
// CALLS:         call @veeline_op_begin
// CALLS:         call @veeline_offload(%{{.*}}, %[[ZERO]], %{{.*}}, %{{.*}}, %[[BYTES]]) : (!llvm.ptr, i32, i64, !llvm.ptr, i64) -> ()
// CALLS-NEXT:    call @veeline_offload(%{{.*}}, %[[ZERO]], %[[BYTES]], %{{.*}}, %[[BYTES]])
// CALLS-NEXT:    call @veeline_op_end
// CALLS:         call @net_chunk1_forward
// CALLS:         call @veeline_release(%{{.*}}, %[[ZERO]])
// CALLS:         call @net_chunk1_forward
// CALLS:         call @veeline_release(%{{.*}}, %[[ONE]])
// CALLS:         call @veeline_reload(%{{.*}}, %[[ZERO]], %{{.*}}, %{{.*}}, %[[BYTES]]) : (!llvm.ptr, i32, !llvm.ptr, i64, i64) -> ()
// CALLS:         call @net_chunk1_backward
// CALLS:         call @veeline_restore(%{{.*}}, %[[ZERO]])
// CALLS:         call @net_chunk1_backward

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
