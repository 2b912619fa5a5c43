// RUN: veeline-opt %s --pipe-import-retype=type=f64 | FileCheck %s
// RUN: veeline-opt %s --pipe-import-retype | FileCheck %s --check-prefix=SAME
// RUN: not veeline-opt %s --pipe-import-retype=type=f16 2>&1 | FileCheck %s --check-prefix=WRONG

// SAME:  tensor<2xbf16>
// WRONG: error: --retype: unknown type 'f16'; expected f64

// Types, constants, resources and attributes have the same values in f64; casts
// go. What the file leaves out stays left out, integers stay.
// CHECK-LABEL: func.func @model(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2xf64>,
// CHECK-SAME:    tensor<2xf64> {pipe.constant = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf64>},
// CHECK-SAME:    tensor<2xf64> {pipe.constant = dense_resource<__elided__> : tensor<2xf64>},
// CHECK-SAME:    tensor<2xi32>) -> tensor<2xf64>
// CHECK-NEXT:    %[[C:.*]] = arith.constant dense<0.10000000149011612> : tensor<2xf64>
// CHECK-NEXT:    %[[Y:.*]] = arith.addf %[[X]], %[[C]] : tensor<2xf64>
// CHECK-NEXT:    tensor.empty() : tensor<2xf64>
// CHECK-NEXT:    linalg.generic
// CHECK-NEXT:    ^bb0(%{{.*}}: f64, %{{.*}}: f64):
// CHECK-NEXT:      arith.constant 5.000000e-01 : f64
// CHECK-NEXT:      arith.mulf
// CHECK-NEXT:      arith.constant 2.500000e-01 : f64
// CHECK-NOT:     arith.extf
// CHECK-NOT:     arith.truncf
func.func @model(%x: tensor<2xbf16>, %w: tensor<2xbf16> {pipe.constant = dense_resource<w> : tensor<2xbf16>},
    %v: tensor<2xf32> {pipe.constant = dense_resource<__elided__> : tensor<2xf32>}, %n: tensor<2xi32>) -> tensor<2xf64> {
  %c = arith.constant dense<0.1> : tensor<2xf32>
  %wide = arith.extf %x : tensor<2xbf16> to tensor<2xf32>
  %y = arith.addf %wide, %c : tensor<2xf32>
  %e = tensor.empty() : tensor<2xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%y : tensor<2xf32>) outs(%e : tensor<2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %half = arith.constant 0.5 : f16
    %h = arith.extf %half : f16 to f32
    %r = arith.mulf %in, %h : f32
    %quarter = arith.constant 0.25 : f8E4M3FN
    %q = arith.extf %quarter : f8E4M3FN to f32
    %s = arith.addf %r, %q : f32
    linalg.yield %s : f32
  } -> tensor<2xf32>
  %d = arith.extf %z : tensor<2xf32> to tensor<2xf64>
  return %d : tensor<2xf64>
}

{-#
  dialect_resources: {
    builtin: {
      w: "0x02000000803F0040"
    }
  }
#-}
