// RUN: veeline-opt %s --split-input-file --verify-diagnostics

func.func @integers(%q: tensor<4x8xi32>, %k: tensor<4x8xi32>, %v: tensor<4x8xi32>, %o: tensor<4x8xi32>, %l: tensor<4xf32>) {
  // expected-error @below {{expects elements of f16, bf16, f32 or f64, found 'i32'}}
  %0, %1 = pipe.attention scale(1.0) ins(%q, %k, %v : tensor<4x8xi32>, tensor<4x8xi32>, tensor<4x8xi32>)
      outs(%o, %l : tensor<4x8xi32>, tensor<4xf32>) -> tensor<4x8xi32>, tensor<4xf32>
  return
}

// -----

func.func @vector_query(%q: tensor<8xf32>, %k: tensor<8xf32>, %v: tensor<8xf32>, %o: tensor<8xf32>, %l: tensor<f32>) {
  // expected-error @below {{expects a query of at least two dimensions, queries and depth, found 'tensor<8xf32>'}}
  %0, %1 = pipe.attention scale(1.0) ins(%q, %k, %v : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
      outs(%o, %l : tensor<8xf32>, tensor<f32>) -> tensor<8xf32>, tensor<f32>
  return
}

// -----

func.func @ranks(%q: tensor<2x4x8xf32>, %k: tensor<4x8xf32>, %v: tensor<4x8xf32>, %o: tensor<2x4x8xf32>, %l: tensor<2x4xf32>) {
  // expected-error @below {{expects the key to have the query's rank, 3, found 2}}
  %0, %1 = pipe.attention scale(1.0) ins(%q, %k, %v : tensor<2x4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
      outs(%o, %l : tensor<2x4x8xf32>, tensor<2x4xf32>) -> tensor<2x4x8xf32>, tensor<2x4xf32>
  return
}

// -----

func.func @depth(%q: tensor<4x8xf32>, %k: tensor<4x16xf32>, %v: tensor<4x8xf32>, %o: tensor<4x8xf32>, %l: tensor<4xf32>) {
  // expected-error @below {{expects the key's last dimension to be the query's depth, 8, found 16}}
  %0, %1 = pipe.attention scale(1.0) ins(%q, %k, %v : tensor<4x8xf32>, tensor<4x16xf32>, tensor<4x8xf32>)
      outs(%o, %l : tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @batches(%q: tensor<2x3x4x8xf32>, %k: tensor<3x3x4x8xf32>, %v: tensor<3x3x4x8xf32>, %o: tensor<2x3x4x8xf32>, %l: tensor<2x3x4xf32>) {
  // expected-error @below {{expects batch dimension 0 of the key to have the query's extent of it, 2, found 3}}
  %0, %1 = pipe.attention scale(1.0) ins(%q, %k, %v : tensor<2x3x4x8xf32>, tensor<3x3x4x8xf32>, tensor<3x3x4x8xf32>)
      outs(%o, %l : tensor<2x3x4x8xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4x8xf32>, tensor<2x3x4xf32>
  return
}

// -----

func.func @groups(%q: tensor<2x6x4x8xf32>, %k: tensor<2x4x4x8xf32>, %v: tensor<2x4x4x8xf32>, %o: tensor<2x6x4x8xf32>, %l: tensor<2x6x4xf32>) {
  // expected-error @below {{expects batch dimension 1 of the key to have the query's extent or a divisor of it, 6, found 4}}
  %0, %1 = pipe.attention scale(1.0) ins(%q, %k, %v : tensor<2x6x4x8xf32>, tensor<2x4x4x8xf32>, tensor<2x4x4x8xf32>)
      outs(%o, %l : tensor<2x6x4x8xf32>, tensor<2x6x4xf32>) -> tensor<2x6x4x8xf32>, tensor<2x6x4xf32>
  return
}

// -----

func.func @key_type(%q: tensor<4x8xf32>, %k: tensor<4x8xbf16>, %v: tensor<4x8xf32>, %o: tensor<4x8xf32>, %l: tensor<4xf32>) {
  // expected-error @below {{expects the key to have elements of 'f32', found 'bf16'}}
  %0, %1 = pipe.attention scale(1.0) ins(%q, %k, %v : tensor<4x8xf32>, tensor<4x8xbf16>, tensor<4x8xf32>)
      outs(%o, %l : tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @value_length(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<4x8xf32>, %o: tensor<4x8xf32>, %l: tensor<4xf32>) {
  // expected-error @below {{expects the value to have the shape [6, 8], found [4, 8]}}
  %0, %1 = pipe.attention scale(1.0) ins(%q, %k, %v : tensor<4x8xf32>, tensor<6x8xf32>, tensor<4x8xf32>)
      outs(%o, %l : tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @output_depth(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x16xf32>, %o: tensor<4x8xf32>, %l: tensor<4xf32>) {
  // expected-error @below {{expects the output to have the shape [4, 16], found [4, 8]}}
  %0, %1 = pipe.attention scale(1.0) ins(%q, %k, %v : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x16xf32>)
      outs(%o, %l : tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @lse_type(%q: tensor<4x8xbf16>, %k: tensor<4x8xbf16>, %v: tensor<4x8xbf16>, %o: tensor<4x8xbf16>, %l: tensor<4xbf16>) {
  // expected-error @below {{expects lse to have elements of 'f32', found 'bf16'}}
  %0, %1 = pipe.attention scale(1.0) ins(%q, %k, %v : tensor<4x8xbf16>, tensor<4x8xbf16>, tensor<4x8xbf16>)
      outs(%o, %l : tensor<4x8xbf16>, tensor<4xbf16>) -> tensor<4x8xbf16>, tensor<4xbf16>
  return
}

// -----

func.func @lse_of_doubles(%q: tensor<4x8xf64>, %k: tensor<4x8xf64>, %v: tensor<4x8xf64>, %o: tensor<4x8xf64>, %l: tensor<4xf32>) {
  // expected-error @below {{expects lse to have elements of 'f64', found 'f32'}}
  %0, %1 = pipe.attention scale(1.0) ins(%q, %k, %v : tensor<4x8xf64>, tensor<4x8xf64>, tensor<4x8xf64>)
      outs(%o, %l : tensor<4x8xf64>, tensor<4xf32>) -> tensor<4x8xf64>, tensor<4xf32>
  return
}

// -----

func.func @mask_elements(%q: tensor<4x8xf32>, %k: tensor<4x8xf32>, %v: tensor<4x8xf32>, %m: tensor<4x4xi32>, %o: tensor<4x8xf32>, %l: tensor<4xf32>) {
  // expected-error @below {{expects a mask of i1 or of floats, found 'tensor<4x4xi32>'}}
  %0, %1 = pipe.attention scale(1.0) ins(%q, %k, %v : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
      mask(%m : tensor<4x4xi32>) dims [0, 1]
      outs(%o, %l : tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @mask_shape(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x8xf32>, %m: tensor<4xf32>, %o: tensor<4x8xf32>, %l: tensor<4xf32>) {
  // expected-error @below {{expects the mask to have the shape [6] of dimensions [1] of the scores, found [4]}}
  %0, %1 = pipe.attention scale(1.0) ins(%q, %k, %v : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>)
      mask(%m : tensor<4xf32>) dims [1]
      outs(%o, %l : tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @mask_order(%q: tensor<4x8xf32>, %k: tensor<4x8xf32>, %v: tensor<4x8xf32>, %m: tensor<4x4xf32>, %o: tensor<4x8xf32>, %l: tensor<4xf32>) {
  // expected-error @below {{expects 'dims' to be ascending dimensions of the scores, of which there are 2, found [1, 0]}}
  %0, %1 = pipe.attention scale(1.0) ins(%q, %k, %v : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
      mask(%m : tensor<4x4xf32>) dims [1, 0]
      outs(%o, %l : tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @mask_dims(%q: tensor<4x8xf32>, %k: tensor<4x8xf32>, %v: tensor<4x8xf32>, %m: tensor<4xf32>, %o: tensor<4x8xf32>, %l: tensor<4xf32>) {
  // expected-error @below {{expects 'dims' to be ascending dimensions of the scores, of which there are 2, found [2]}}
  %0, %1 = pipe.attention scale(1.0) ins(%q, %k, %v : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
      mask(%m : tensor<4xf32>) dims [2]
      outs(%o, %l : tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @fill_of_floats(%q: tensor<4x8xf32>, %k: tensor<4x8xf32>, %v: tensor<4x8xf32>, %m: tensor<4xf32>, %o: tensor<4x8xf32>, %l: tensor<4xf32>) {
  // expected-error @below {{has a 'fill', which only a mask of i1 has, found 'tensor<4xf32>'}}
  %0, %1 = pipe.attention scale(1.0) ins(%q, %k, %v : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
      mask(%m : tensor<4xf32>) dims [1] fill(-1.0)
      outs(%o, %l : tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @columns(%q: memref<4x8xf32, strided<[1, 4]>>, %o: memref<4x8xf32>, %l: memref<4xf32>) {
  // expected-error @below {{expects the query to have a stride of 1 in its last dimension, found 'memref<4x8xf32, strided<[1, 4]>>'}}
  pipe.attention scale(1.0) ins(%q, %o, %o : memref<4x8xf32, strided<[1, 4]>>, memref<4x8xf32>, memref<4x8xf32>) outs(%o, %l : memref<4x8xf32>, memref<4xf32>)
  return
}

// -----

func.func @unranked(%q: tensor<*xf32>, %o: tensor<4x8xf32>, %l: tensor<4xf32>) {
  // expected-error @below {{expects the query to be a tensor with a rank or a memref, found 'tensor<*xf32>'}}
  %0, %1 = pipe.attention scale(1.0) ins(%q, %q, %q : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) outs(%o, %l : tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @fill_without_mask(%q: memref<4x8xf32>, %l: memref<4xf32>) {
  // expected-error @below {{has 'mask_dims' or 'fill', but no mask}}
  "pipe.attention"(%q, %q, %q, %q, %l) {scale = 1.0 : f64, fill = -1.0 : f64} : (memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>, memref<4xf32>) -> ()
  return
}

// -----

func.func @mask_without_dims(%q: memref<4x8xf32>, %m: memref<4x4xf32>, %l: memref<4xf32>) {
  // expected-error @below {{expects 'dims' to say which dimensions of the scores its mask has}}
  "pipe.attention"(%q, %q, %q, %m, %q, %l) {scale = 1.0 : f64} : (memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>, memref<4x4xf32>, memref<4x8xf32>, memref<4xf32>) -> ()
  return
}

// -----

func.func @scale(%q: memref<4x8xf32>, %l: memref<4xf32>) {
  // expected-error @below {{expects a finite scale}}
  pipe.attention scale(0x7FF0000000000000) ins(%q, %q, %q : memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>) outs(%q, %l : memref<4x8xf32>, memref<4xf32>)
  return
}

// -----

func.func @delta(%q: tensor<4x8xf32>, %l: tensor<4xf32>, %d: tensor<8xf32>) {
  // expected-error @below {{expects delta to have the shape [4], found [8]}}
  %0 = pipe.attention_backward_q scale(1.0) ins(%q, %q, %q, %q, %l, %d : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<8xf32>)
      outs(%q : tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @output_grad(%q: tensor<4x8xf32>, %g: tensor<4x16xf32>, %l: tensor<4xf32>) {
  // expected-error @below {{expects the gradient of the output to have the shape [4, 8], found [4, 16]}}
  %0 = pipe.attention_backward_q scale(1.0) ins(%q, %q, %q, %g, %l, %l : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x16xf32>, tensor<4xf32>, tensor<4xf32>)
      outs(%q : tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @gradient(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %l: tensor<4xf32>) {
  // expected-error @below {{expects the gradient of the value to have the shape [6, 8], found [4, 8]}}
  %0, %1 = pipe.attention_backward_kv scale(1.0) ins(%q, %k, %k, %q, %l, %l : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
      outs(%k, %q : tensor<6x8xf32>, tensor<4x8xf32>) -> tensor<6x8xf32>, tensor<4x8xf32>
  return
}

// -----

func.func @output(%q: tensor<4x8xf32>, %o: tensor<4x6xf32>, %l: tensor<4xf32>) {
  // expected-error @below {{expects the output to have the shape [4, 8], found [4, 6]}}
  %0:3 = pipe.attention_backward scale(1.0) ins(%q, %q, %q, %o, %q, %l : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x6xf32>, tensor<4x8xf32>, tensor<4xf32>)
      outs(%q, %q, %q : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  return
}

// -----

func.func @both_gradients(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %l: tensor<4xf32>) {
  // expected-error @below {{expects the gradient of the key to have the shape [6, 8], found [4, 8]}}
  %0:3 = pipe.attention_backward scale(1.0) ins(%q, %k, %k, %q, %q, %l : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>)
      outs(%q, %q, %k : tensor<4x8xf32>, tensor<4x8xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>, tensor<4x8xf32>, tensor<6x8xf32>
  return
}
