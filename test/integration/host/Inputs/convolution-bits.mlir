// Backward reads the gradient of the second convolution in two orders: channels
// first for the means, channels last for the convolution.
func.func @f(%x: tensor<1x7x7x24xf32>, %w0: tensor<24x1x1x24xf32>, %w1: tensor<48x1x1x24xf32>, %mean: tensor<1x48x1x1xf32>, %scale: tensor<1x48x1x1xf32>) -> tensor<1x48x7x7xf32> {
  %z0 = "tosa.const"() <{values = dense<0.0> : tensor<24xf32>}> : () -> tensor<24xf32>
  %z1 = "tosa.const"() <{values = dense<0.0> : tensor<48xf32>}> : () -> tensor<48xf32>
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %a = tosa.conv2d %x, %w0, %z0, %zp, %zp {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x7x7x24xf32>, tensor<24x1x1x24xf32>, tensor<24xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x7x7x24xf32>
  %t = tosa.tanh %a : (tensor<1x7x7x24xf32>) -> tensor<1x7x7x24xf32>
  %b = tosa.conv2d %t, %w1, %z1, %zp, %zp {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x7x7x24xf32>, tensor<48x1x1x24xf32>, tensor<48xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x7x7x48xf32>
  %c = tosa.transpose %b {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x7x7x48xf32>) -> tensor<1x48x7x7xf32>
  %d = tosa.sub %c, %mean : (tensor<1x48x7x7xf32>, tensor<1x48x1x1xf32>) -> tensor<1x48x7x7xf32>
  %e = tosa.mul %d, %scale, %s : (tensor<1x48x7x7xf32>, tensor<1x48x1x1xf32>, tensor<1xi8>) -> tensor<1x48x7x7xf32>
  return %e : tensor<1x48x7x7xf32>
}
