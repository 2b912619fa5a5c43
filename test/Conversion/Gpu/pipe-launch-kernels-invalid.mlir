// RUN: veeline-opt %s --pipe-launch-kernels --split-input-file --verify-diagnostics

func.func private @kernel(%x: memref<4xf32>) attributes {pipe.kernel} {
  return
}
func.func @step(%rank: !llvm.ptr, %x: memref<4xf32>) {
  // expected-error @below {{calls kernel 'kernel', which has no gpu.func; run --pipe-gpu-kernels first}}
  call @kernel(%x) : (memref<4xf32>) -> ()
  return
}

// -----

// The attribute alone is not enough.
module attributes {gpu.container_module} {
  gpu.module @kernels {
  }
  func.func private @kernel(%x: memref<4xf32>) attributes {pipe.kernel, pipe.gpu_kernel = @kernels::@gone} {
    return
  }
  func.func @step(%rank: !llvm.ptr, %x: memref<4xf32>) {
    // expected-error @below {{calls kernel 'kernel', which has no gpu.func}}
    call @kernel(%x) : (memref<4xf32>) -> ()
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @fill(%x: memref<4xf32>) kernel {
      gpu.return
    }
  }
  func.func private @kernel(%x: memref<4xf32>) attributes {pipe.kernel, pipe.gpu_kernel = @kernels::@fill} {
    return
  }
  func.func @step(%rank: !llvm.ptr) {
    // expected-note @below {{it is allocated here; run --pipe-plan-workspace first}}
    %x = memref.alloca() : memref<4xf32>
    // expected-error @below {{a kernel of a GPU takes memory of its host}}
    call @kernel(%x) : (memref<4xf32>) -> ()
    return
  }
}

// -----

func.func @step(%rank: !llvm.ptr, %x: memref<4xf32>, %i: index) {
  %one = arith.constant 1.0 : f32
  // expected-error @below {{touches memory of a GPU in code for its host: only kernels can, and this is in none}}
  memref.store %one, %x[%i] : memref<4xf32>
  return
}

// -----

func.func @step(%rank: !llvm.ptr, %x: memref<4xf32>) {
  %one = arith.constant 1.0 : f32
  // expected-error @below {{touches memory of a GPU in code for its host}}
  linalg.fill ins(%one : f32) outs(%x : memref<4xf32>)
  return
}

// -----

memref.global "private" constant @table : memref<4xf32> = dense<1.0>
func.func @step(%rank: !llvm.ptr) {
  // expected-error @below {{is a constant that is not in the module's 'pipe.constants'; run --pipe-plan-memory=target=cuda first}}
  %table = memref.get_global @table : memref<4xf32>
  return
}

// -----

// expected-error @below {{needs the rank as its first argument to launch kernels}}
func.func @step(%x: memref<4xf32>, %i: index) -> f32 {
  %value = memref.load %x[%i] : memref<4xf32>
  return %value : f32
}

// -----

// expected-error @below {{entry 0 of 'pipe.kernels' does not describe a kernel: {name = "scale"}}}
module attributes {pipe.kernels = [{name = "scale"}]} {
}
