// The sum and the sum of squares of each row, added to what there is.
#row = affine_map<(d0, d1) -> (d0, d1)>
#one = affine_map<(d0, d1) -> (d0)>
func.func @block(%rank: !llvm.ptr, %x: memref<64x2048xf32>, %sum: memref<64xf32>, %squares: memref<64xf32>) attributes {pipe.num_results = 2 : i64} {
  linalg.generic {indexing_maps = [#row, #one], iterator_types = ["parallel", "reduction"]}
    ins(%x : memref<64x2048xf32>) outs(%sum : memref<64xf32>) {
  ^bb0(%e: f32, %s: f32):
    %next = arith.addf %s, %e : f32
    linalg.yield %next : f32
  }
  linalg.generic {indexing_maps = [#row, #one], iterator_types = ["parallel", "reduction"]}
    ins(%x : memref<64x2048xf32>) outs(%squares : memref<64xf32>) {
  ^bb0(%e: f32, %s: f32):
    %square = arith.mulf %e, %e : f32
    %next = arith.addf %s, %square : f32
    linalg.yield %next : f32
  }
  return
}
