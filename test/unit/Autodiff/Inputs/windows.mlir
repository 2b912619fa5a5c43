// Convolutions and poolings, with strides, dilations, groups and pads. Where
// channels come before the window, products are summed in another order.

func.func @conv_1d(%x: tensor<6xf64>, %k: tensor<3xf64>) -> tensor<4xf64> {
  %start = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<4xf64>
  %c = linalg.fill ins(%start : f64) outs(%e : tensor<4xf64>) -> tensor<4xf64>
  %0 = linalg.conv_1d ins(%x, %k : tensor<6xf64>, tensor<3xf64>) outs(%c : tensor<4xf64>) -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

func.func @conv_1d_nwc(%x: tensor<2x9x2xf64>, %k: tensor<3x2x3xf64>) -> tensor<2x3x3xf64> {
  %start = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<2x3x3xf64>
  %c = linalg.fill ins(%start : f64) outs(%e : tensor<2x3x3xf64>) -> tensor<2x3x3xf64>
  %0 = linalg.conv_1d_nwc_wcf {strides = dense<2> : tensor<1xi64>, dilations = dense<2> : tensor<1xi64>} ins(%x, %k : tensor<2x9x2xf64>, tensor<3x2x3xf64>) outs(%c : tensor<2x3x3xf64>) -> tensor<2x3x3xf64>
  return %0 : tensor<2x3x3xf64>
}

func.func @conv_1d_ncw(%x: tensor<2x2x7xf64>, %k: tensor<3x2x3xf64>) -> tensor<2x3x3xf64> attributes {test.reordered} {
  %start = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<2x3x3xf64>
  %c = linalg.fill ins(%start : f64) outs(%e : tensor<2x3x3xf64>) -> tensor<2x3x3xf64>
  %0 = linalg.conv_1d_ncw_fcw {strides = dense<2> : tensor<1xi64>, dilations = dense<1> : tensor<1xi64>} ins(%x, %k : tensor<2x2x7xf64>, tensor<3x2x3xf64>) outs(%c : tensor<2x3x3xf64>) -> tensor<2x3x3xf64>
  return %0 : tensor<2x3x3xf64>
}

func.func @depthwise_1d_nwc(%x: tensor<2x7x3xf64>, %k: tensor<3x3xf64>) -> tensor<2x3x3xf64> {
  %start = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<2x3x3xf64>
  %c = linalg.fill ins(%start : f64) outs(%e : tensor<2x3x3xf64>) -> tensor<2x3x3xf64>
  %0 = linalg.depthwise_conv_1d_nwc_wc {strides = dense<2> : tensor<1xi64>, dilations = dense<1> : tensor<1xi64>} ins(%x, %k : tensor<2x7x3xf64>, tensor<3x3xf64>) outs(%c : tensor<2x3x3xf64>) -> tensor<2x3x3xf64>
  return %0 : tensor<2x3x3xf64>
}

func.func @depthwise_1d_ncw(%x: tensor<2x3x7xf64>, %k: tensor<3x3xf64>) -> tensor<2x3x3xf64> {
  %start = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<2x3x3xf64>
  %c = linalg.fill ins(%start : f64) outs(%e : tensor<2x3x3xf64>) -> tensor<2x3x3xf64>
  %0 = linalg.depthwise_conv_1d_ncw_cw {strides = dense<2> : tensor<1xi64>, dilations = dense<1> : tensor<1xi64>} ins(%x, %k : tensor<2x3x7xf64>, tensor<3x3xf64>) outs(%c : tensor<2x3x3xf64>) -> tensor<2x3x3xf64>
  return %0 : tensor<2x3x3xf64>
}

func.func @depthwise_1d_multiplier(%x: tensor<1x6x2xf64>, %k: tensor<2x2x3xf64>) -> tensor<1x4x2x3xf64> {
  %start = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<1x4x2x3xf64>
  %c = linalg.fill ins(%start : f64) outs(%e : tensor<1x4x2x3xf64>) -> tensor<1x4x2x3xf64>
  %0 = linalg.depthwise_conv_1d_nwc_wcm {strides = dense<1> : tensor<1xi64>, dilations = dense<2> : tensor<1xi64>} ins(%x, %k : tensor<1x6x2xf64>, tensor<2x2x3xf64>) outs(%c : tensor<1x4x2x3xf64>) -> tensor<1x4x2x3xf64>
  return %0 : tensor<1x4x2x3xf64>
}

func.func @conv_2d(%x: tensor<4x5xf64>, %k: tensor<2x3xf64>) -> tensor<3x3xf64> {
  %start = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<3x3xf64>
  %c = linalg.fill ins(%start : f64) outs(%e : tensor<3x3xf64>) -> tensor<3x3xf64>
  %0 = linalg.conv_2d ins(%x, %k : tensor<4x5xf64>, tensor<2x3xf64>) outs(%c : tensor<3x3xf64>) -> tensor<3x3xf64>
  return %0 : tensor<3x3xf64>
}

// Another stride in each dimension.
func.func @conv_2d_nhwc_hwcf(%x: tensor<2x5x6x2xf64>, %k: tensor<2x3x2x3xf64>) -> tensor<2x2x2x3xf64> {
  %start = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<2x2x2x3xf64>
  %c = linalg.fill ins(%start : f64) outs(%e : tensor<2x2x2x3xf64>) -> tensor<2x2x2x3xf64>
  %0 = linalg.conv_2d_nhwc_hwcf {strides = dense<[2, 3]> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%x, %k : tensor<2x5x6x2xf64>, tensor<2x3x2x3xf64>) outs(%c : tensor<2x2x2x3xf64>) -> tensor<2x2x2x3xf64>
  return %0 : tensor<2x2x2x3xf64>
}

func.func @conv_2d_dilated(%x: tensor<1x5x5x2xf64>, %k: tensor<2x2x2x2xf64>) -> tensor<1x3x1x2xf64> {
  %start = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<1x3x1x2xf64>
  %c = linalg.fill ins(%start : f64) outs(%e : tensor<1x3x1x2xf64>) -> tensor<1x3x1x2xf64>
  %0 = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>, dilations = dense<[2, 4]> : tensor<2xi64>} ins(%x, %k : tensor<1x5x5x2xf64>, tensor<2x2x2x2xf64>) outs(%c : tensor<1x3x1x2xf64>) -> tensor<1x3x1x2xf64>
  return %0 : tensor<1x3x1x2xf64>
}

// A product of matrices.
func.func @conv_2d_pointwise(%x: tensor<2x3x3x4xf64>, %k: tensor<1x1x4x3xf64>) -> tensor<2x3x3x3xf64> {
  %start = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<2x3x3x3xf64>
  %c = linalg.fill ins(%start : f64) outs(%e : tensor<2x3x3x3xf64>) -> tensor<2x3x3x3xf64>
  %0 = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%x, %k : tensor<2x3x3x4xf64>, tensor<1x1x4x3xf64>) outs(%c : tensor<2x3x3x3xf64>) -> tensor<2x3x3x3xf64>
  return %0 : tensor<2x3x3x3xf64>
}

func.func @conv_2d_nhwc_fhwc(%x: tensor<1x5x5x2xf64>, %k: tensor<3x3x3x2xf64>) -> tensor<1x2x2x3xf64> {
  %start = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<1x2x2x3xf64>
  %c = linalg.fill ins(%start : f64) outs(%e : tensor<1x2x2x3xf64>) -> tensor<1x2x2x3xf64>
  %0 = linalg.conv_2d_nhwc_fhwc {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%x, %k : tensor<1x5x5x2xf64>, tensor<3x3x3x2xf64>) outs(%c : tensor<1x2x2x3xf64>) -> tensor<1x2x2x3xf64>
  return %0 : tensor<1x2x2x3xf64>
}

func.func @conv_2d_nchw(%x: tensor<2x2x5x4xf64>, %k: tensor<3x2x3x2xf64>) -> tensor<2x3x2x3xf64> attributes {test.reordered} {
  %start = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<2x3x2x3xf64>
  %c = linalg.fill ins(%start : f64) outs(%e : tensor<2x3x2x3xf64>) -> tensor<2x3x2x3xf64>
  %0 = linalg.conv_2d_nchw_fchw {strides = dense<[2, 1]> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%x, %k : tensor<2x2x5x4xf64>, tensor<3x2x3x2xf64>) outs(%c : tensor<2x3x2x3xf64>) -> tensor<2x3x2x3xf64>
  return %0 : tensor<2x3x2x3xf64>
}

// Groups: the second dimension is one of the result, too.
func.func @grouped_ngchw_fgchw(%x: tensor<1x2x2x4x4xf64>, %k: tensor<3x2x2x2x2xf64>) -> tensor<1x2x3x2x2xf64> attributes {test.reordered} {
  %start = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<1x2x3x2x2xf64>
  %c = linalg.fill ins(%start : f64) outs(%e : tensor<1x2x3x2x2xf64>) -> tensor<1x2x3x2x2xf64>
  %0 = linalg.conv_2d_ngchw_fgchw {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%x, %k : tensor<1x2x2x4x4xf64>, tensor<3x2x2x2x2xf64>) outs(%c : tensor<1x2x3x2x2xf64>) -> tensor<1x2x3x2x2xf64>
  return %0 : tensor<1x2x3x2x2xf64>
}

func.func @grouped_ngchw_gfchw(%x: tensor<1x2x2x4x4xf64>, %k: tensor<2x3x2x2x2xf64>) -> tensor<1x2x3x3x3xf64> attributes {test.reordered} {
  %start = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<1x2x3x3x3xf64>
  %c = linalg.fill ins(%start : f64) outs(%e : tensor<1x2x3x3x3xf64>) -> tensor<1x2x3x3x3xf64>
  %0 = linalg.conv_2d_ngchw_gfchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%x, %k : tensor<1x2x2x4x4xf64>, tensor<2x3x2x2x2xf64>) outs(%c : tensor<1x2x3x3x3xf64>) -> tensor<1x2x3x3x3xf64>
  return %0 : tensor<1x2x3x3x3xf64>
}

func.func @grouped_nhwgc_gfhwc(%x: tensor<1x4x4x2x2xf64>, %k: tensor<2x3x2x2x2xf64>) -> tensor<1x3x3x2x3xf64> {
  %start = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<1x3x3x2x3xf64>
  %c = linalg.fill ins(%start : f64) outs(%e : tensor<1x3x3x2x3xf64>) -> tensor<1x3x3x2x3xf64>
  %0 = linalg.conv_2d_nhwgc_gfhwc {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%x, %k : tensor<1x4x4x2x2xf64>, tensor<2x3x2x2x2xf64>) outs(%c : tensor<1x3x3x2x3xf64>) -> tensor<1x3x3x2x3xf64>
  return %0 : tensor<1x3x3x2x3xf64>
}

func.func @depthwise_2d_nhwc(%x: tensor<1x5x5x3xf64>, %k: tensor<3x3x3xf64>) -> tensor<1x2x2x3xf64> {
  %start = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<1x2x2x3xf64>
  %c = linalg.fill ins(%start : f64) outs(%e : tensor<1x2x2x3xf64>) -> tensor<1x2x2x3xf64>
  %0 = linalg.depthwise_conv_2d_nhwc_hwc {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%x, %k : tensor<1x5x5x3xf64>, tensor<3x3x3xf64>) outs(%c : tensor<1x2x2x3xf64>) -> tensor<1x2x2x3xf64>
  return %0 : tensor<1x2x2x3xf64>
}

func.func @depthwise_2d_nchw(%x: tensor<1x3x5x5xf64>, %k: tensor<3x3x3xf64>) -> tensor<1x3x2x2xf64> {
  %start = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<1x3x2x2xf64>
  %c = linalg.fill ins(%start : f64) outs(%e : tensor<1x3x2x2xf64>) -> tensor<1x3x2x2xf64>
  %0 = linalg.depthwise_conv_2d_nchw_chw {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%x, %k : tensor<1x3x5x5xf64>, tensor<3x3x3xf64>) outs(%c : tensor<1x3x2x2xf64>) -> tensor<1x3x2x2xf64>
  return %0 : tensor<1x3x2x2xf64>
}

func.func @depthwise_2d_multiplier(%x: tensor<1x4x4x2xf64>, %k: tensor<2x2x2x3xf64>) -> tensor<1x2x2x2x3xf64> {
  %start = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<1x2x2x2x3xf64>
  %c = linalg.fill ins(%start : f64) outs(%e : tensor<1x2x2x2x3xf64>) -> tensor<1x2x2x2x3xf64>
  %0 = linalg.depthwise_conv_2d_nhwc_hwcm {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%x, %k : tensor<1x4x4x2xf64>, tensor<2x2x2x3xf64>) outs(%c : tensor<1x2x2x2x3xf64>) -> tensor<1x2x2x2x3xf64>
  return %0 : tensor<1x2x2x2x3xf64>
}

func.func @pool_nhwc_sum(%x: tensor<1x4x4x2xf64>) -> tensor<1x2x2x2xf64> {
  %start = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<1x2x2x2xf64>
  %c = linalg.fill ins(%start : f64) outs(%e : tensor<1x2x2x2xf64>) -> tensor<1x2x2x2xf64>
  %window = tensor.empty() : tensor<2x2xf64>
  %0 = linalg.pooling_nhwc_sum {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%x, %window : tensor<1x4x4x2xf64>, tensor<2x2xf64>) outs(%c : tensor<1x2x2x2xf64>) -> tensor<1x2x2x2xf64>
  return %0 : tensor<1x2x2x2xf64>
}

func.func @pool_nchw_sum(%x: tensor<1x2x4x4xf64>) -> tensor<1x2x2x2xf64> {
  %start = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<1x2x2x2xf64>
  %c = linalg.fill ins(%start : f64) outs(%e : tensor<1x2x2x2xf64>) -> tensor<1x2x2x2xf64>
  %window = tensor.empty() : tensor<3x3xf64>
  %0 = linalg.pooling_nchw_sum {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%x, %window : tensor<1x2x4x4xf64>, tensor<3x3xf64>) outs(%c : tensor<1x2x2x2xf64>) -> tensor<1x2x2x2xf64>
  return %0 : tensor<1x2x2x2xf64>
}

// The whole picture is one window.
func.func @pool_all(%x: tensor<1x3x4x2xf64>) -> tensor<1x1x1x2xf64> {
  %start = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<1x1x1x2xf64>
  %c = linalg.fill ins(%start : f64) outs(%e : tensor<1x1x1x2xf64>) -> tensor<1x1x1x2xf64>
  %window = tensor.empty() : tensor<3x4xf64>
  %0 = linalg.pooling_nhwc_sum {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%x, %window : tensor<1x3x4x2xf64>, tensor<3x4xf64>) outs(%c : tensor<1x1x1x2xf64>) -> tensor<1x1x1x2xf64>
  return %0 : tensor<1x1x1x2xf64>
}

func.func @pool_nhwc_max(%x: tensor<1x4x4x2xf64>) -> tensor<1x2x2x2xf64> {
  %start = arith.constant 0xFFF0000000000000 : f64
  %e = tensor.empty() : tensor<1x2x2x2xf64>
  %c = linalg.fill ins(%start : f64) outs(%e : tensor<1x2x2x2xf64>) -> tensor<1x2x2x2xf64>
  %window = tensor.empty() : tensor<3x3xf64>
  %0 = linalg.pooling_nhwc_max {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%x, %window : tensor<1x4x4x2xf64>, tensor<3x3xf64>) outs(%c : tensor<1x2x2x2xf64>) -> tensor<1x2x2x2xf64>
  return %0 : tensor<1x2x2x2xf64>
}

func.func @pool_nchw_max(%x: tensor<1x2x4x4xf64>) -> tensor<1x2x2x2xf64> {
  %start = arith.constant 0xFFF0000000000000 : f64
  %e = tensor.empty() : tensor<1x2x2x2xf64>
  %c = linalg.fill ins(%start : f64) outs(%e : tensor<1x2x2x2xf64>) -> tensor<1x2x2x2xf64>
  %window = tensor.empty() : tensor<2x2xf64>
  %0 = linalg.pooling_nchw_max {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%x, %window : tensor<1x2x4x4xf64>, tensor<2x2xf64>) outs(%c : tensor<1x2x2x2xf64>) -> tensor<1x2x2x2xf64>
  return %0 : tensor<1x2x2x2xf64>
}

func.func @pool_nhwc_min(%x: tensor<1x4x4x2xf64>) -> tensor<1x2x2x2xf64> {
  %start = arith.constant 0x7FF0000000000000 : f64
  %e = tensor.empty() : tensor<1x2x2x2xf64>
  %c = linalg.fill ins(%start : f64) outs(%e : tensor<1x2x2x2xf64>) -> tensor<1x2x2x2xf64>
  %window = tensor.empty() : tensor<2x2xf64>
  %0 = linalg.pooling_nhwc_min {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%x, %window : tensor<1x4x4x2xf64>, tensor<2x2xf64>) outs(%c : tensor<1x2x2x2xf64>) -> tensor<1x2x2x2xf64>
  return %0 : tensor<1x2x2x2xf64>
}

func.func @pool_nwc_sum(%x: tensor<1x6x2xf64>) -> tensor<1x2x2xf64> {
  %start = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<1x2x2xf64>
  %c = linalg.fill ins(%start : f64) outs(%e : tensor<1x2x2xf64>) -> tensor<1x2x2xf64>
  %window = tensor.empty() : tensor<3xf64>
  %0 = linalg.pooling_nwc_sum {strides = dense<3> : tensor<1xi64>, dilations = dense<1> : tensor<1xi64>} ins(%x, %window : tensor<1x6x2xf64>, tensor<3xf64>) outs(%c : tensor<1x2x2xf64>) -> tensor<1x2x2xf64>
  return %0 : tensor<1x2x2xf64>
}

func.func @pool_nwc_max(%x: tensor<1x6x2xf64>) -> tensor<1x3x2xf64> {
  %start = arith.constant 0xFFF0000000000000 : f64
  %e = tensor.empty() : tensor<1x3x2xf64>
  %c = linalg.fill ins(%start : f64) outs(%e : tensor<1x3x2xf64>) -> tensor<1x3x2xf64>
  %window = tensor.empty() : tensor<2xf64>
  %0 = linalg.pooling_nwc_max {strides = dense<2> : tensor<1xi64>, dilations = dense<1> : tensor<1xi64>} ins(%x, %window : tensor<1x6x2xf64>, tensor<2xf64>) outs(%c : tensor<1x3x2xf64>) -> tensor<1x3x2xf64>
  return %0 : tensor<1x3x2xf64>
}

func.func @pool_nwc_min(%x: tensor<1x6x2xf64>) -> tensor<1x3x2xf64> {
  %start = arith.constant 0x7FF0000000000000 : f64
  %e = tensor.empty() : tensor<1x3x2xf64>
  %c = linalg.fill ins(%start : f64) outs(%e : tensor<1x3x2xf64>) -> tensor<1x3x2xf64>
  %window = tensor.empty() : tensor<2xf64>
  %0 = linalg.pooling_nwc_min {strides = dense<2> : tensor<1xi64>, dilations = dense<1> : tensor<1xi64>} ins(%x, %window : tensor<1x6x2xf64>, tensor<2xf64>) outs(%c : tensor<1x3x2xf64>) -> tensor<1x3x2xf64>
  return %0 : tensor<1x3x2xf64>
}

func.func @pool_ncw_sum(%x: tensor<1x2x6xf64>) -> tensor<1x2x3xf64> {
  %start = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<1x2x3xf64>
  %c = linalg.fill ins(%start : f64) outs(%e : tensor<1x2x3xf64>) -> tensor<1x2x3xf64>
  %window = tensor.empty() : tensor<2xf64>
  %0 = linalg.pooling_ncw_sum {strides = dense<2> : tensor<1xi64>, dilations = dense<1> : tensor<1xi64>} ins(%x, %window : tensor<1x2x6xf64>, tensor<2xf64>) outs(%c : tensor<1x2x3xf64>) -> tensor<1x2x3xf64>
  return %0 : tensor<1x2x3xf64>
}

func.func @pool_ncw_max(%x: tensor<1x2x6xf64>) -> tensor<1x2x5xf64> {
  %start = arith.constant 0xFFF0000000000000 : f64
  %e = tensor.empty() : tensor<1x2x5xf64>
  %c = linalg.fill ins(%start : f64) outs(%e : tensor<1x2x5xf64>) -> tensor<1x2x5xf64>
  %window = tensor.empty() : tensor<2xf64>
  %0 = linalg.pooling_ncw_max {strides = dense<1> : tensor<1xi64>, dilations = dense<1> : tensor<1xi64>} ins(%x, %window : tensor<1x2x6xf64>, tensor<2xf64>) outs(%c : tensor<1x2x5xf64>) -> tensor<1x2x5xf64>
  return %0 : tensor<1x2x5xf64>
}

func.func @conv_3d(%x: tensor<3x3x4xf64>, %k: tensor<2x2x2xf64>) -> tensor<2x2x3xf64> {
  %start = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<2x2x3xf64>
  %c = linalg.fill ins(%start : f64) outs(%e : tensor<2x2x3xf64>) -> tensor<2x2x3xf64>
  %0 = linalg.conv_3d ins(%x, %k : tensor<3x3x4xf64>, tensor<2x2x2xf64>) outs(%c : tensor<2x2x3xf64>) -> tensor<2x2x3xf64>
  return %0 : tensor<2x2x3xf64>
}

func.func @conv_3d_ndhwc(%x: tensor<1x3x3x3x2xf64>, %k: tensor<2x2x2x2x2xf64>) -> tensor<1x2x2x2x2xf64> {
  %start = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<1x2x2x2x2xf64>
  %c = linalg.fill ins(%start : f64) outs(%e : tensor<1x2x2x2x2xf64>) -> tensor<1x2x2x2x2xf64>
  %0 = linalg.conv_3d_ndhwc_dhwcf {strides = dense<1> : tensor<3xi64>, dilations = dense<1> : tensor<3xi64>} ins(%x, %k : tensor<1x3x3x3x2xf64>, tensor<2x2x2x2x2xf64>) outs(%c : tensor<1x2x2x2x2xf64>) -> tensor<1x2x2x2x2xf64>
  return %0 : tensor<1x2x2x2x2xf64>
}

func.func @conv_3d_ncdhw(%x: tensor<1x2x3x3x3xf64>, %k: tensor<2x2x2x2x2xf64>) -> tensor<1x2x2x2x2xf64> attributes {test.reordered} {
  %start = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<1x2x2x2x2xf64>
  %c = linalg.fill ins(%start : f64) outs(%e : tensor<1x2x2x2x2xf64>) -> tensor<1x2x2x2x2xf64>
  %0 = linalg.conv_3d_ncdhw_fcdhw {strides = dense<1> : tensor<3xi64>, dilations = dense<1> : tensor<3xi64>} ins(%x, %k : tensor<1x2x3x3x3xf64>, tensor<2x2x2x2x2xf64>) outs(%c : tensor<1x2x2x2x2xf64>) -> tensor<1x2x2x2x2xf64>
  return %0 : tensor<1x2x2x2x2xf64>
}

func.func @depthwise_3d_ndhwc(%x: tensor<1x3x3x3x2xf64>, %k: tensor<2x2x2x2xf64>) -> tensor<1x2x2x2x2xf64> {
  %start = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<1x2x2x2x2xf64>
  %c = linalg.fill ins(%start : f64) outs(%e : tensor<1x2x2x2x2xf64>) -> tensor<1x2x2x2x2xf64>
  %0 = linalg.depthwise_conv_3d_ndhwc_dhwc {strides = dense<1> : tensor<3xi64>, dilations = dense<1> : tensor<3xi64>} ins(%x, %k : tensor<1x3x3x3x2xf64>, tensor<2x2x2x2xf64>) outs(%c : tensor<1x2x2x2x2xf64>) -> tensor<1x2x2x2x2xf64>
  return %0 : tensor<1x2x2x2x2xf64>
}

func.func @depthwise_3d_ncdhw(%x: tensor<1x2x3x3x3xf64>, %k: tensor<2x2x2x2xf64>) -> tensor<1x2x2x2x2xf64> {
  %start = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<1x2x2x2x2xf64>
  %c = linalg.fill ins(%start : f64) outs(%e : tensor<1x2x2x2x2xf64>) -> tensor<1x2x2x2x2xf64>
  %0 = linalg.depthwise_conv_3d_ncdhw_cdhw {strides = dense<1> : tensor<3xi64>, dilations = dense<1> : tensor<3xi64>} ins(%x, %k : tensor<1x2x3x3x3xf64>, tensor<2x2x2x2xf64>) outs(%c : tensor<1x2x2x2x2xf64>) -> tensor<1x2x2x2x2xf64>
  return %0 : tensor<1x2x2x2x2xf64>
}

func.func @depthwise_3d_multiplier(%x: tensor<1x3x3x3x2xf64>, %k: tensor<2x2x2x2x2xf64>) -> tensor<1x2x2x2x2x2xf64> {
  %start = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<1x2x2x2x2x2xf64>
  %c = linalg.fill ins(%start : f64) outs(%e : tensor<1x2x2x2x2x2xf64>) -> tensor<1x2x2x2x2x2xf64>
  %0 = linalg.depthwise_conv_3d_ndhwc_dhwcm {strides = dense<1> : tensor<3xi64>, dilations = dense<1> : tensor<3xi64>} ins(%x, %k : tensor<1x3x3x3x2xf64>, tensor<2x2x2x2x2xf64>) outs(%c : tensor<1x2x2x2x2x2xf64>) -> tensor<1x2x2x2x2x2xf64>
  return %0 : tensor<1x2x2x2x2x2xf64>
}

func.func @pool_ndhwc_sum(%x: tensor<1x2x2x4x2xf64>) -> tensor<1x1x1x2x2xf64> {
  %start = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<1x1x1x2x2xf64>
  %c = linalg.fill ins(%start : f64) outs(%e : tensor<1x1x1x2x2xf64>) -> tensor<1x1x1x2x2xf64>
  %window = tensor.empty() : tensor<2x2x2xf64>
  %0 = linalg.pooling_ndhwc_sum {strides = dense<2> : tensor<3xi64>, dilations = dense<1> : tensor<3xi64>} ins(%x, %window : tensor<1x2x2x4x2xf64>, tensor<2x2x2xf64>) outs(%c : tensor<1x1x1x2x2xf64>) -> tensor<1x1x1x2x2xf64>
  return %0 : tensor<1x1x1x2x2xf64>
}

func.func @pool_ndhwc_max(%x: tensor<1x2x2x4x2xf64>) -> tensor<1x1x1x2x2xf64> {
  %start = arith.constant 0xFFF0000000000000 : f64
  %e = tensor.empty() : tensor<1x1x1x2x2xf64>
  %c = linalg.fill ins(%start : f64) outs(%e : tensor<1x1x1x2x2xf64>) -> tensor<1x1x1x2x2xf64>
  %window = tensor.empty() : tensor<2x2x2xf64>
  %0 = linalg.pooling_ndhwc_max {strides = dense<2> : tensor<3xi64>, dilations = dense<1> : tensor<3xi64>} ins(%x, %window : tensor<1x2x2x4x2xf64>, tensor<2x2x2xf64>) outs(%c : tensor<1x1x1x2x2xf64>) -> tensor<1x1x1x2x2xf64>
  return %0 : tensor<1x1x1x2x2xf64>
}

func.func @pool_ndhwc_min(%x: tensor<1x2x2x4x2xf64>) -> tensor<1x1x1x2x2xf64> {
  %start = arith.constant 0x7FF0000000000000 : f64
  %e = tensor.empty() : tensor<1x1x1x2x2xf64>
  %c = linalg.fill ins(%start : f64) outs(%e : tensor<1x1x1x2x2xf64>) -> tensor<1x1x1x2x2xf64>
  %window = tensor.empty() : tensor<2x2x2xf64>
  %0 = linalg.pooling_ndhwc_min {strides = dense<2> : tensor<3xi64>, dilations = dense<1> : tensor<3xi64>} ins(%x, %window : tensor<1x2x2x4x2xf64>, tensor<2x2x2xf64>) outs(%c : tensor<1x1x1x2x2xf64>) -> tensor<1x1x1x2x2xf64>
  return %0 : tensor<1x1x1x2x2xf64>
}

// A padded convolution that starts from a bias, relu, an average.
#nhwf = affine_map<(n, h, w, f) -> (n, h, w, f)>
#f = affine_map<(n, h, w, f) -> (f)>
func.func @layer(%x: tensor<1x4x4x2xf64>, %k: tensor<3x3x2x3xf64>, %b: tensor<3xf64>) -> tensor<1x2x2x3xf64> {
  %zero = arith.constant 0.0 : f64
  %quarter = arith.constant 0.25 : f64
  %padded = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k0: index, %l: index):
    tensor.yield %zero : f64
  } : tensor<1x4x4x2xf64> to tensor<1x6x6x2xf64>
  %e = tensor.empty() : tensor<1x4x4x3xf64>
  %bias = linalg.generic {indexing_maps = [#f, #nhwf], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%b : tensor<3xf64>) outs(%e : tensor<1x4x4x3xf64>) {
  ^bb0(%in: f64, %o: f64):
    linalg.yield %in : f64
  } -> tensor<1x4x4x3xf64>
  %y = linalg.conv_2d_nhwc_hwcf ins(%padded, %k : tensor<1x6x6x2xf64>, tensor<3x3x2x3xf64>) outs(%bias : tensor<1x4x4x3xf64>) -> tensor<1x4x4x3xf64>
  %r = linalg.generic {indexing_maps = [#nhwf, #nhwf], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y : tensor<1x4x4x3xf64>) outs(%e : tensor<1x4x4x3xf64>) {
  ^bb0(%in: f64, %o: f64):
    %m = arith.maximumf %in, %zero : f64
    linalg.yield %m : f64
  } -> tensor<1x4x4x3xf64>
  %e2 = tensor.empty() : tensor<1x2x2x3xf64>
  %z2 = linalg.fill ins(%zero : f64) outs(%e2 : tensor<1x2x2x3xf64>) -> tensor<1x2x2x3xf64>
  %window = tensor.empty() : tensor<2x2xf64>
  %sum = linalg.pooling_nhwc_sum {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%r, %window : tensor<1x4x4x3xf64>, tensor<2x2xf64>) outs(%z2 : tensor<1x2x2x3xf64>) -> tensor<1x2x2x3xf64>
  %mean = linalg.generic {indexing_maps = [#nhwf, #nhwf], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%sum : tensor<1x2x2x3xf64>) outs(%e2 : tensor<1x2x2x3xf64>) {
  ^bb0(%in: f64, %o: f64):
    %m = arith.mulf %in, %quarter : f64
    linalg.yield %m : f64
  } -> tensor<1x2x2x3xf64>
  return %mean : tensor<1x2x2x3xf64>
}
