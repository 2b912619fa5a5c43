// Kernels that are wrong in one way each, beside twins that add 1 to 64 numbers.

// RUN: not veeline-gpu-run %s | FileCheck %s
// RUN: not veeline-gpu-run %s --only=beyond | FileCheck %s --check-prefix=ONE

// ONE: beyond: 1x1x1 blocks of 64: DIFFERS: {{.*}}
// ONE-NEXT: 1 kernels, 0 with the bits of their twins, 1 wrong

// CHECK: right: 1x1x1 blocks of 64: same bits
// CHECK-NEXT: value: 1x1x1 blocks of 64: DIFFERS: element 0 of argument 0 (64 of f32) is {{.*}} of the twin, {{.*}} of the threads{{$}}
// CHECK-NEXT: beyond: 1x1x1 blocks of 64: DIFFERS: thread 63 of block (0, 0, 0) reads element 64 of argument 0, which has 64 (4 bytes at once)
// CHECK-NEXT: before: 1x1x1 blocks of 64: DIFFERS: thread 0 of block (0, 0, 0) reads element -1 of argument 0, which has 64 (4 bytes at once)
// CHECK-NEXT: unaligned: 1x1x1 blocks of 64: DIFFERS: thread 0 of block (0, 0, 0) reads element 1 of argument 1, not at a multiple of 16 bytes as it says
// CHECK-NEXT: neighbour: 1x1x1 blocks of 64: DIFFERS: {{.*}}; thread {{[0-9]+}} reads element {{[0-9]+}} of argument 0, which another thread writes without a barrier in between
// CHECK-NEXT: twice: 1x1x1 blocks of 64: DIFFERS: thread 1 of block (0, 0, 0) writes element 0 of argument 0, which another thread writes, too
// CHECK-NEXT: empty: 1x1x1 blocks of 64: DIFFERS: element 0 of argument 0 {{.*}}nan of the threads; thread 0 reads element 63 of shared buffer 0, which no thread wrote
// CHECK-NEXT: apart: 1x1x1 blocks of 64: DIFFERS: thread 32 of block (0, 0, 0) has left, thread 0 waits at another one
// CHECK-NEXT: lanes: 1x1x1 blocks of 64: DIFFERS: thread 1 of block (0, 0, 0) is not at the exchange at which others of its warp wait
// CHECK-NEXT: narrow: 1x1x1 blocks of 64: DIFFERS: thread 0 of block (0, 0, 0) names some lanes of its warp alone
// CHECK-NEXT: 11 kernels, 1 with the bits of their twins, 10 wrong

module attributes {gpu.container_module} {
  func.func private @twin_right(%a: memref<64xf32>, %b: memref<64xf32>) attributes {pipe.gpu_kernel = @kernels::@right, pipe.kernel} {
    linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%a : memref<64xf32>) {
    ^bb0(%x: f32):
      %one = arith.constant 1.0 : f32
      %s = arith.addf %x, %one : f32
      linalg.yield %s : f32
    }
    return
  }
  func.func private @twin_value(%a: memref<64xf32>, %b: memref<64xf32>) attributes {pipe.gpu_kernel = @kernels::@value, pipe.kernel} {
    linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%a : memref<64xf32>) {
    ^bb0(%x: f32):
      %one = arith.constant 1.0 : f32
      %s = arith.addf %x, %one : f32
      linalg.yield %s : f32
    }
    return
  }
  func.func private @twin_beyond(%a: memref<64xf32>, %b: memref<64xf32>) attributes {pipe.gpu_kernel = @kernels::@beyond, pipe.kernel} {
    linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%a : memref<64xf32>) {
    ^bb0(%x: f32):
      %one = arith.constant 1.0 : f32
      %s = arith.addf %x, %one : f32
      linalg.yield %s : f32
    }
    return
  }
  func.func private @twin_before(%a: memref<64xf32>, %b: memref<64xf32>) attributes {pipe.gpu_kernel = @kernels::@before, pipe.kernel} {
    linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%a : memref<64xf32>) {
    ^bb0(%x: f32):
      %one = arith.constant 1.0 : f32
      %s = arith.addf %x, %one : f32
      linalg.yield %s : f32
    }
    return
  }
  func.func private @twin_unaligned(%a: memref<64xf32>, %b: memref<64xf32>) attributes {pipe.gpu_kernel = @kernels::@unaligned, pipe.kernel} {
    linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%a : memref<64xf32>) {
    ^bb0(%x: f32):
      %one = arith.constant 1.0 : f32
      %s = arith.addf %x, %one : f32
      linalg.yield %s : f32
    }
    return
  }
  func.func private @twin_neighbour(%a: memref<64xf32>, %b: memref<64xf32>) attributes {pipe.gpu_kernel = @kernels::@neighbour, pipe.kernel} {
    linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%a : memref<64xf32>) {
    ^bb0(%x: f32):
      %one = arith.constant 1.0 : f32
      %s = arith.addf %x, %one : f32
      linalg.yield %s : f32
    }
    return
  }
  func.func private @twin_twice(%a: memref<64xf32>, %b: memref<64xf32>) attributes {pipe.gpu_kernel = @kernels::@twice, pipe.kernel} {
    linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%a : memref<64xf32>) {
    ^bb0(%x: f32):
      %one = arith.constant 1.0 : f32
      %s = arith.addf %x, %one : f32
      linalg.yield %s : f32
    }
    return
  }
  func.func private @twin_empty(%a: memref<64xf32>, %b: memref<64xf32>) attributes {pipe.gpu_kernel = @kernels::@empty, pipe.kernel} {
    linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%a : memref<64xf32>) {
    ^bb0(%x: f32):
      %one = arith.constant 1.0 : f32
      %s = arith.addf %x, %one : f32
      linalg.yield %s : f32
    }
    return
  }
  func.func private @twin_apart(%a: memref<64xf32>, %b: memref<64xf32>) attributes {pipe.gpu_kernel = @kernels::@apart, pipe.kernel} {
    linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%a : memref<64xf32>) {
    ^bb0(%x: f32):
      %one = arith.constant 1.0 : f32
      %s = arith.addf %x, %one : f32
      linalg.yield %s : f32
    }
    return
  }
  func.func private @twin_lanes(%a: memref<64xf32>, %b: memref<64xf32>) attributes {pipe.gpu_kernel = @kernels::@lanes, pipe.kernel} {
    linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%a : memref<64xf32>) {
    ^bb0(%x: f32):
      %one = arith.constant 1.0 : f32
      %s = arith.addf %x, %one : f32
      linalg.yield %s : f32
    }
    return
  }
  func.func private @twin_narrow(%a: memref<64xf32>, %b: memref<64xf32>) attributes {pipe.gpu_kernel = @kernels::@narrow, pipe.kernel} {
    linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%a : memref<64xf32>) {
    ^bb0(%x: f32):
      %one = arith.constant 1.0 : f32
      %s = arith.addf %x, %one : f32
      linalg.yield %s : f32
    }
    return
  }
  gpu.module @kernels {
    gpu.func @right(%a: memref<64xf32> {llvm.align = 16 : i64, llvm.noalias}, %b: memref<64xf32> {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
      %one = arith.constant 1.0 : f32
      %t = gpu.thread_id x
      %v = memref.load %a[%t] : memref<64xf32>
      %s = arith.addf %v, %one : f32
      memref.store %s, %a[%t] : memref<64xf32>
      gpu.return
    }
    gpu.func @value(%a: memref<64xf32> {llvm.align = 16 : i64, llvm.noalias}, %b: memref<64xf32> {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
      %t = gpu.thread_id x
      %v = memref.load %a[%t] : memref<64xf32>
      %s = arith.addf %v, %v : f32
      memref.store %s, %a[%t] : memref<64xf32>
      gpu.return
    }
    gpu.func @beyond(%a: memref<64xf32> {llvm.align = 16 : i64, llvm.noalias}, %b: memref<64xf32> {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
      %one = arith.constant 1.0 : f32
      %c1 = arith.constant 1 : index
      %t = gpu.thread_id x
      %next = arith.addi %t, %c1 : index
      %v = memref.load %a[%next] : memref<64xf32>
      %s = arith.addf %v, %one : f32
      memref.store %s, %a[%t] : memref<64xf32>
      gpu.return
    }
    gpu.func @before(%a: memref<64xf32> {llvm.align = 16 : i64, llvm.noalias}, %b: memref<64xf32> {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
      %one = arith.constant 1.0 : f32
      %c1 = arith.constant 1 : index
      %t = gpu.thread_id x
      %next = arith.subi %t, %c1 : index
      %v = memref.load %a[%next] : memref<64xf32>
      %s = arith.addf %v, %one : f32
      memref.store %s, %a[%t] : memref<64xf32>
      gpu.return
    }
    gpu.func @unaligned(%a: memref<64xf32> {llvm.align = 16 : i64, llvm.noalias}, %b: memref<64xf32> {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
      %zero = arith.constant 0.0 : f32
      %c1 = arith.constant 1 : index
      %c32 = arith.constant 32 : index
      %t = gpu.thread_id x
      %half = arith.andi %t, %c32 : index
      %x = arith.ori %half, %c1 : index
      %v = vector.load %b[%x] {alignment = 16 : i64} : memref<64xf32>, vector<4xf32>
      %s = vector.reduction <add>, %v, %zero : vector<4xf32> into f32
      memref.store %s, %a[%t] : memref<64xf32>
      gpu.return
    }
    gpu.func @neighbour(%a: memref<64xf32> {llvm.align = 16 : i64, llvm.noalias}, %b: memref<64xf32> {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
      %one = arith.constant 1.0 : f32
      %c1 = arith.constant 1 : index
      %t = gpu.thread_id x
      %x = arith.xori %t, %c1 : index
      %v = memref.load %a[%x] : memref<64xf32>
      %s = arith.addf %v, %one : f32
      memref.store %s, %a[%t] : memref<64xf32>
      gpu.return
    }
    gpu.func @twice(%a: memref<64xf32> {llvm.align = 16 : i64, llvm.noalias}, %b: memref<64xf32> {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
      %one = arith.constant 1.0 : f32
      %c62 = arith.constant 62 : index
      %t = gpu.thread_id x
      %x = arith.andi %t, %c62 : index
      memref.store %one, %a[%x] : memref<64xf32>
      gpu.return
    }
    gpu.func @empty(%a: memref<64xf32> {llvm.align = 16 : i64, llvm.noalias}, %b: memref<64xf32> {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}) workgroup(%m : memref<64xf32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
      %c63 = arith.constant 63 : index
      %t = gpu.thread_id x
      %x = arith.subi %c63, %t : index
      %isLess = arith.cmpi ult, %t, %c63 : index
      %old = memref.load %a[%t] : memref<64xf32>
      scf.if %isLess {
        memref.store %old, %m[%t] : memref<64xf32, #gpu.address_space<workgroup>>
      }
      gpu.barrier
      %v = memref.load %m[%x] : memref<64xf32, #gpu.address_space<workgroup>>
      memref.store %v, %a[%t] : memref<64xf32>
      gpu.return
    }
    gpu.func @apart(%a: memref<64xf32> {llvm.align = 16 : i64, llvm.noalias}, %b: memref<64xf32> {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
      %one = arith.constant 1.0 : f32
      %c32 = arith.constant 32 : index
      %t = gpu.thread_id x
      %half = arith.cmpi ult, %t, %c32 : index
      scf.if %half {
        gpu.barrier
      }
      %v = memref.load %a[%t] : memref<64xf32>
      %s = arith.addf %v, %one : f32
      memref.store %s, %a[%t] : memref<64xf32>
      gpu.return
    }
    gpu.func @lanes(%a: memref<64xf32> {llvm.align = 16 : i64, llvm.noalias}, %b: memref<64xf32> {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
      %c1 = arith.constant 1 : index
      %i1 = arith.constant 1 : i32
      %i32 = arith.constant 32 : i32
      %t = gpu.thread_id x
      %half = arith.cmpi ult, %t, %c1 : index
      %v = memref.load %a[%t] : memref<64xf32>
      scf.if %half {
        %x, %valid = gpu.shuffle xor %v, %i1, %i32 : f32
        memref.store %x, %a[%t] : memref<64xf32>
      }
      gpu.return
    }
    gpu.func @narrow(%a: memref<64xf32> {llvm.align = 16 : i64, llvm.noalias}, %b: memref<64xf32> {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
      %i1 = arith.constant 1 : i32
      %i4 = arith.constant 4 : i32
      %t = gpu.thread_id x
      %v = memref.load %a[%t] : memref<64xf32>
      %x, %valid = gpu.shuffle idx %v, %i1, %i4 : f32
      memref.store %x, %a[%t] : memref<64xf32>
      gpu.return
    }
  }
}
