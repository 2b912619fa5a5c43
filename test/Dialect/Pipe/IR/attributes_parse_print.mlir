// RUN: veeline-opt %s | veeline-opt | FileCheck %s
// RUN: veeline-opt %s -mlir-print-op-generic | veeline-opt | FileCheck %s
// RUN: veeline-opt %s -emit-bytecode | veeline-opt | FileCheck %s

// CHECK-LABEL: func.func private @init(
// CHECK-SAME:    tensor<f32> {pipe.param = #pipe.param<"a", init = zeros>}
// CHECK-SAME:    tensor<f32> {pipe.param = #pipe.param<"b", init = ones>}
// CHECK-SAME:    tensor<f32> {pipe.param = #pipe.param<"c", init = constant(1.000000e+00)>}
// CHECK-SAME:    tensor<f32> {pipe.param = #pipe.param<"d", init = normal(0.000000e+00, 2.000000e-02)>}
// CHECK-SAME:    tensor<f32> {pipe.param = #pipe.param<"e \22\\", init = uniform(-1.000000e+00, 1.000000e+00)>}
// CHECK-SAME:    tensor<2xf32> {pipe.param = #pipe.param<"v", init = values(dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>)>}
// CHECK-SAME:    tensor<2xf32> {pipe.param = #pipe.param<"r", init = values(dense_resource<two{{.*}}> : tensor<2xbf16>)>}
// CHECK-SAME:    tensor<f32> {pipe.frozen, pipe.param = #pipe.param<"f", init = ones>}
// CHECK-SAME:    tensor<4xi32> {pipe.batch = "tokens", pipe.range = array<i64: 0, 9>}
// CHECK-SAME:    tensor<4xf32> {pipe.buffer = "cos"}
func.func private @init(
  tensor<f32> {pipe.param = #pipe.param<"a", init = zeros>},
  tensor<f32> {pipe.param = #pipe.param<"b", init = ones>},
  tensor<f32> {pipe.param = #pipe.param<"c", init = constant(1.0)>},
  tensor<f32> {pipe.param = #pipe.param<"d", init = normal(0.0, 0.02)>},
  tensor<f32> {pipe.param = #pipe.param<"e \"\\", init = uniform(-1.0, 1.0)>},
  tensor<2xf32> {pipe.param = #pipe.param<"v", init = values(dense<[1.0, 2.0]> : tensor<2xf32>)>},
  tensor<2xf32> {pipe.param = #pipe.param<"r", init = values(dense_resource<two> : tensor<2xbf16>)>},
  tensor<f32> {pipe.param = #pipe.param<"f", init = ones>, pipe.frozen},
  tensor<4xi32> {pipe.batch = "tokens", pipe.range = array<i64: 0, 9>},
  tensor<4xf32> {pipe.buffer = "cos"})

// CHECK-LABEL: func.func private @roles(
// CHECK-SAME:    tensor<f32> {pipe.role = #pipe.role<operand 0>}
// CHECK-SAME:    tensor<f32> {pipe.role = #pipe.role<result 1>}
// CHECK-SAME:    tensor<f32> {pipe.role = #pipe.role<residual 2>}
// CHECK-SAME:    tensor<f32> {pipe.role = #pipe.role<saved 3>}
// CHECK-SAME:    tensor<f32> {pipe.role = #pipe.role<result_grad 4>}
// CHECK-SAME:  -> (tensor<f32> {pipe.role = #pipe.role<operand_grad 5>}, tensor<f32> {pipe.role = #pipe.role<param_grad 6>})
func.func private @roles(
  tensor<f32> {pipe.role = #pipe.role<operand 0>},
  tensor<f32> {pipe.role = #pipe.role<result 1>},
  tensor<f32> {pipe.role = #pipe.role<residual 2>},
  tensor<f32> {pipe.role = #pipe.role<saved 3>},
  tensor<f32> {pipe.role = #pipe.role<result_grad 4>})
  -> (tensor<f32> {pipe.role = #pipe.role<operand_grad 5>},
      tensor<f32> {pipe.role = #pipe.role<param_grad 6>})

// CHECK-LABEL: func.func private @others()
// CHECK-SAME:    cost = #pipe.cost<forward = 1, backward_input = 2, backward_weight = 3>
// CHECK-SAME:    init = #pipe.init<constant(2.500000e-01)>
// CHECK-SAME:    shared = #pipe.cost<forward = 1, backward_input = 2, backward_weight = 3, backward_shared = 1>
func.func private @others() attributes {
  cost = #pipe.cost<forward = 1, backward_input = 2, backward_weight = 3>,
  init = #pipe.init<constant(0.25)>,
  shared = #pipe.cost<forward = 1, backward_input = 2, backward_weight = 3, backward_shared = 1>
}

// CHECK: two{{.*}}: "0x02000000803F0040"
{-#
  dialect_resources: {
    builtin: {
      two: "0x02000000803F0040"
    }
  }
#-}
