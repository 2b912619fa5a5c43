// RUN: veeline-opt %s --pipe-gpu-kernels --split-input-file --verify-diagnostics

// Rows in order are for a CPU.

// expected-error @+1 {{loops over rows must be parallel for a GPU: make kernels by pipe-outline-kernels=target=cuda}}
func.func private @kernel(%x: memref<8x8xf32>) attributes {pipe.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c8 step %c1 {
    %offset = arith.muli %i, %c8 : index
    %row = memref.reinterpret_cast %x to offset: [%offset], sizes: [8], strides: [1] : memref<8x8xf32> to memref<8xf32, strided<[1], offset: ?>>
    linalg.fill ins(%zero : f32) outs(%row : memref<8xf32, strided<[1], offset: ?>>)
  }
  return
}

// -----

func.func private @kernel(%x: memref<8x8xf32>, %at: memref<8xindex>) attributes {pipe.kernel} {
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (8) {
    %offset = memref.load %at[%i] : memref<8xindex>
    %row = memref.reinterpret_cast %x to offset: [%offset], sizes: [8], strides: [1] : memref<8x8xf32> to memref<8xf32, strided<[1], offset: ?>>
    // expected-error @+1 {{a kernel's operand needs a place in one of its buffers that is a linear function of the rows}}
    linalg.fill ins(%zero : f32) outs(%row : memref<8xf32, strided<[1], offset: ?>>)
  }
  return
}

// -----

// expected-error @+1 {{a kernel needs structured ops or one loop, found neither}}
func.func private @kernel(%x: memref<8x8xf32>) attributes {pipe.kernel} {
  return
}

// -----

func.func private @kernel(%x: memref<8xf32>, %n: index) attributes {pipe.kernel} {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{a kernel needs one loop over rows around all its ops, which counts from 0 to a constant}}
  scf.forall (%i) in (%n) {
    %row = memref.reinterpret_cast %x to offset: [%i], sizes: [1], strides: [1] : memref<8xf32> to memref<1xf32, strided<[1], offset: ?>>
    linalg.fill ins(%zero : f32) outs(%row : memref<1xf32, strided<[1], offset: ?>>)
  }
  return
}

// -----

// expected-error @+1 {{entries of 'pipe.sums' are a float type and how many are added, found [i32, 2]}}
module attributes {pipe.sums = [[f32, 2], [i32, 2]]} {
}

// -----

// expected-error @+1 {{entries of 'pipe.sums' are a float type and how many are added, found [f32, 9223372036854775807]}}
module attributes {pipe.sums = [[f32, 9223372036854775807]]} {
}
