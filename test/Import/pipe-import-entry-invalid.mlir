// RUN: veeline-opt %s --pipe-import-entry --split-input-file --verify-diagnostics

// expected-error @below {{2 functions could be the model: @a, @b; choose one by --entry}}
module {
  // expected-note @below {{@a is here}}
  func.func @a(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
  // expected-note @below {{@b is here}}
  func.func @b(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

// expected-error @below {{expected a func.func with a body that returns a tensor of floats, the model; found none}}
module {
  // expected-note @below {{@main returns nothing}}
  func.func @main() {
    return
  }
  // expected-note @below {{@whole returns 'tensor<4xi32>', 'index'}}
  func.func @whole(%x: tensor<4xi32>, %i: index) -> (tensor<4xi32>, index) {
    return %x, %i : tensor<4xi32>, index
  }
  // expected-note @below {{@outside has no body}}
  func.func private @outside() -> tensor<4xf32>
}

// -----

module {
  func.func @model(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = call @a(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
  func.func private @a(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = call @b(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
  func.func private @b(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @below {{calls go in a circle, and a model is a graph without circles: @a calls @b calls @a}}
    %y = call @a(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

// -----

module {
  // expected-note @below {{declared here}}
  func.func private @table() -> tensor<4xf32>
  func.func @model() -> tensor<4xf32> {
    // expected-error @below {{the model uses what @table returns, which has no body}}
    %y = call @table() : () -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

// -----

// expected-error @below {{expected a func.func with a body that returns a tensor of floats, the model; found none}}
module {
  // expected-note @below {{functions of an inner module are not looked at; take them out of it}}
  module @inner {
    func.func @model(%x: tensor<4xf32>) -> tensor<4xf32> {
      return %x : tensor<4xf32>
    }
  }
}
