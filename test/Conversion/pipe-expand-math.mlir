// RUN: veeline-opt %s --pipe-expand-math | FileCheck %s

// CHECK-DAG: func.func private @exp(f64) -> f64
// CHECK-DAG: func.func private @pow(f64, f64) -> f64
// CHECK-DAG: func.func private @atan(f64) -> f64

// In f32 the same arithmetic for a scalar and for a vector.

// CHECK-LABEL: func.func @f32
// CHECK-NOT: math.exp
// CHECK: math.fma %{{.*}} : f32
// CHECK: arith.bitcast %{{.*}} : i32 to f32
// CHECK: math.fma %{{.*}} : vector<16xf32>
// CHECK: arith.bitcast %{{.*}} : vector<16xi32> to vector<16xf32>
// CHECK-NOT: call
// CHECK: return
func.func @f32(%x: f32, %y: vector<16xf32>) -> (f32, vector<16xf32>) {
  %0 = math.exp %x : f32
  %1 = math.exp %y : vector<16xf32>
  return %0, %1 : f32, vector<16xf32>
}

// In f64 a call for each element.

// CHECK-LABEL: func.func @f64
// CHECK: %[[A:.*]] = vector.extract %arg0[0]
// CHECK: %[[B:.*]] = call @exp(%[[A]])
// CHECK: vector.insert %[[B]], %{{.*}} [0]
// CHECK: call @exp
// CHECK: call @pow
func.func @f64(%x: vector<2xf64>, %y: f64) -> (vector<2xf64>, f64) {
  %0 = math.exp %x : vector<2xf64>
  %1 = math.powf %y, %y : f64
  return %0, %1 : vector<2xf64>, f64
}

// What has no polynomial is rounded from f64, half precision from f32.

// CHECK-LABEL: func.func @rounded
// CHECK: arith.extf %arg0 : f32 to f64
// CHECK: call @atan
// CHECK: arith.truncf {{.*}} : f64 to f32
// CHECK: arith.extf %arg1 : bf16 to f32
// CHECK-NOT: call
// CHECK: arith.truncf {{.*}} : f32 to bf16
func.func @rounded(%x: f32, %y: bf16) -> (f32, bf16) {
  %0 = math.atan %x : f32
  %1 = math.tanh %y : bf16
  return %0, %1 : f32, bf16
}

// Exact operations stay.

// CHECK-LABEL: func.func @exact
// CHECK: math.sqrt
// CHECK: math.absf
// CHECK: math.floor
// CHECK: math.fma
func.func @exact(%x: f32) -> f32 {
  %0 = math.sqrt %x : f32
  %1 = math.absf %0 : f32
  %2 = math.floor %1 : f32
  %3 = math.fma %2, %1, %0 : f32
  return %3 : f32
}
