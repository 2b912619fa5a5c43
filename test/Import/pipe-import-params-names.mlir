// Names may have what is special in patterns: they are compared as they are, too.
// RUN: veeline-opt %s "--pipe-import-params=freeze=params['dense']['bias']" 2>/dev/null | FileCheck %s
// RUN: not veeline-opt %s "--pipe-import-params=params=params['dense']*" 2>&1 | FileCheck %s --check-prefix=PATTERN

// CHECK: func.func @model(
// CHECK-SAME: pipe.param = #pipe.param<"params['dense']['kernel']"
// CHECK-SAME: pipe.frozen, pipe.param = #pipe.param<"params['dense']['bias']", init = zeros>

// PATTERN: no argument is named 'params['dense']*'

func.func @model(%k: tensor<4x4xf32> loc("params['dense']['kernel']"),
                 %b: tensor<4xf32> loc("params['dense']['bias']"),
                 %x: tensor<1x4xf32> loc("x")) -> tensor<1x4xf32> {
  %e = tensor.empty() : tensor<1x4xf32>
  %0 = linalg.broadcast ins(%b : tensor<4xf32>) outs(%e : tensor<1x4xf32>) dimensions = [0]
  %1 = linalg.matmul ins(%x, %k : tensor<1x4xf32>, tensor<4x4xf32>) outs(%0 : tensor<1x4xf32>) -> tensor<1x4xf32>
  return %1 : tensor<1x4xf32>
}
