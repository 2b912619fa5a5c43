// Depthwise convolutions, channels last: a window of 3 by 3 with its gradients, and one of 7 by 7.

#x = affine_map<(n, h, w, g, i, j) -> (n, h + i, w + j, g)>
#x2 = affine_map<(n, h, w, g, i, j) -> (n, h * 2 + i, w * 2 + j, g)>
#w = affine_map<(n, h, w, g, i, j) -> (i, j, g)>
#y = affine_map<(n, h, w, g, i, j) -> (n, h, w, g)>

func.func @forward(%rank: !llvm.ptr, %x: memref<4x34x34x64xf32>, %w: memref<3x3x64xf32>, %y: memref<4x32x32x64xf32>) attributes {pipe.num_results = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<4x32x32x64xf32>)
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
    ins(%x, %w : memref<4x34x34x64xf32>, memref<3x3x64xf32>) outs(%y : memref<4x32x32x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  }
  return
}

func.func @data(%rank: !llvm.ptr, %y: memref<4x32x32x64xf32>, %w: memref<3x3x64xf32>, %x: memref<4x65x65x64xf32>) attributes {pipe.num_results = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%x : memref<4x65x65x64xf32>)
  linalg.generic {indexing_maps = [#y, #w, #x2], iterator_types = ["parallel", "reduction", "reduction", "parallel", "reduction", "reduction"]}
    ins(%y, %w : memref<4x32x32x64xf32>, memref<3x3x64xf32>) outs(%x : memref<4x65x65x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  }
  return
}

func.func @weights(%rank: !llvm.ptr, %x: memref<4x65x65x64xf32>, %y: memref<4x32x32x64xf32>, %w: memref<3x3x64xf32>) attributes {pipe.num_results = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%w : memref<3x3x64xf32>)
  linalg.generic {indexing_maps = [#x2, #y, #w], iterator_types = ["reduction", "reduction", "reduction", "parallel", "parallel", "parallel"]}
    ins(%x, %y : memref<4x65x65x64xf32>, memref<4x32x32x64xf32>) outs(%w : memref<3x3x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  }
  return
}

func.func @large(%rank: !llvm.ptr, %x: memref<4x38x38x64xf32>, %w: memref<7x7x64xf32>, %y: memref<4x32x32x64xf32>) attributes {pipe.num_results = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<4x32x32x64xf32>)
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
    ins(%x, %w : memref<4x38x38x64xf32>, memref<7x7x64xf32>) outs(%y : memref<4x32x32x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  }
  return
}
