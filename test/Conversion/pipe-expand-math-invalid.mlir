// RUN: veeline-opt %s --pipe-expand-math --split-input-file --verify-diagnostics

func.func @scalable(%x: vector<[4]xf32>) -> vector<[4]xf32> {
  // expected-error @+1 {{expanding a function needs vectors of fixed length}}
  %0 = math.exp %x : vector<[4]xf32>
  return %0 : vector<[4]xf32>
}

// -----

// expected-note @+1 {{it is here}}
func.func @exp(%x: f64) -> f64 {
  // expected-error @+1 {{this op needs libm's function 'exp', but the module has a symbol of this name: rename it}}
  %0 = math.exp %x : f64
  return %0 : f64
}
