// More chunks than pieces: cuts go between the ops of a piece. There are two pieces of products here, and eight fine ones.

// RUN: veeline-opt %s --pipe-print-pieces -o /dev/null | FileCheck %s --check-prefix=PIECES
// PIECES:      piece
// PIECES-NEXT: 0 {{ *}}6
// PIECES-NEXT: 1 {{ *}}7
// PIECES-NEXT: all

// What no gradient flows through stays with what follows: an integer, a comparison, an op whose result nobody uses. So does a
// scalar, which is no message.
// RUN: veeline-opt %s --pipe-print-pieces=fine -o /dev/null | FileCheck %s --check-prefix=FINE
// FINE:      piece
// FINE-NEXT: 0 {{ *}}1 {{.*}}linalg.matmul
// FINE-NEXT: 1 {{ *}}1 {{.*}}math.tanh
// FINE-NEXT: 2 {{ *}}4 {{.*}}math.exp
// FINE-NEXT: 3 {{ *}}1 {{.*}}linalg.matmul
// FINE-NEXT: 4 {{ *}}1 {{.*}}math.tanh
// FINE-NEXT: 5 {{ *}}3 {{.*}}tensor.extract
// FINE-NEXT: 6 {{ *}}1 {{.*}}arith.mulf
// FINE-NEXT: 7 {{ *}}1 {{.*}}linalg.reduce
// FINE-NEXT: all

// RUN: veeline-opt %s --pipe-partition="stages=4 chunks-per-stage=2" | FileCheck %s --check-prefix=EIGHT
// EIGHT-COUNT-8: pipe.chunk
// EIGHT-NOT:     pieces =
// RUN: veeline-opt %s --pipe-partition="stages=2" | FileCheck %s --check-prefix=TWO
// TWO-COUNT-2: pipe.chunk
// TWO-NOT:     pieces =

// A list counts pieces or fine ones, whichever it adds up to.
// RUN: veeline-opt %s --pipe-partition="stages=2 pieces=1,1" | FileCheck %s --check-prefix=TWO
// RUN: veeline-opt %s --pipe-partition="stages=2 pieces=2,6" | FileCheck %s --check-prefix=LIST
// LIST: pipe.chunk 0 {{.*}}pieces = 2
// LIST: pipe.chunk 1 {{.*}}pieces = 6
// RUN: not veeline-opt %s --pipe-partition="stages=2 pieces=2,2" 2>&1 | FileCheck %s --check-prefix=SUM
// SUM: error: the list of pieces adds up to 4, but the model has 2 pieces (veeline inspect --pieces lists them, --fine-pieces their parts)
// RUN: not veeline-opt %s --pipe-partition="stages=3 pieces=2,2,2" 2>&1 | FileCheck %s --check-prefix=SUMS
// SUMS: error: the list of pieces adds up to 6, but the model has 8 pieces (veeline inspect
// RUN: not veeline-opt %s --pipe-partition="stages=9" 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: error: more chunks than pieces: 9 stages of 1 chunk each, but the model has 8 pieces; ask for fewer stages or chunks a stage
// MANY-NOT: boundary

// A profile of pieces serves fine ones, and one of fine pieces the others: chunks 0 to 2 are of the first piece.
// RUN: sed -n 's/^.. PROFILE-OF-2: //p' %s > %t.2.json
// RUN: sed -n 's/^.. PROFILE-OF-8: //p' %s > %t.8.json
// RUN: veeline-opt %s --pipe-partition="stages=4 chunks-per-stage=2 profile=%t.2.json" | FileCheck %s --check-prefix=REFINED
// REFINED: transfers = {{.*}} 5.000000e+03, 7.000000e+03
// REFINED: pipe.chunk 2 {{.*}}cost_scale = array<f64: 2.0
// REFINED: pipe.chunk 3 {{.*}}cost_scale = array<f64: 3.0
// RUN: veeline-opt %s --pipe-partition="stages=2 profile=%t.8.json" | FileCheck %s --check-prefix=OF_FINE
// RUN: veeline-opt %s --pipe-partition="stages=2 pieces=1,1 profile=%t.8.json" | FileCheck %s --check-prefix=OF_LIST
// OF_FINE: pipe.chunk 0 {{.*}}cost_scale
// OF_FINE: pipe.chunk 1 {{.*}}cost_scale
// OF_LIST: pipe.chunk 0 {{.*}}cost_scale = array<f64: 2.0{{.*}}pieces = 3
// OF_LIST: pipe.chunk 1 {{.*}}cost_scale = array<f64: 3.0{{.*}}pieces = 5
// RUN: sed 's/"pieces": 5/"pieces": 4/' %t.8.json > %t.7.json
// RUN: not veeline-opt %s --pipe-partition="stages=2 profile=%t.7.json" 2>&1 | FileCheck %s --check-prefix=SEVEN
// SEVEN: error: profile '{{.*}}.json' has times of 7 pieces, but the model has 8
// PROFILE-OF-2: {"format": "veeline-profile", "version": 2, "model": "net", "fingerprint": "958a77fb775d9a1a",
// PROFILE-OF-2:  "chunks": [{"pieces": 1, "F": {"us": 2, "scale": 2}}, {"pieces": 1, "F": {"us": 2, "scale": 3}}],
// PROFILE-OF-2:  "edges": [{"from": 0, "to": 1, "bytes": 256, "activation": {"us": 5, "samples": 1}, "gradient": {"us": 7, "samples": 1}}]}
// PROFILE-OF-8: {"format": "veeline-profile", "version": 2, "model": "net", "fingerprint": "958a77fb775d9a1a",
// PROFILE-OF-8:  "chunks": [{"pieces": 3, "F": {"us": 2, "scale": 2}}, {"pieces": 5, "F": {"us": 2, "scale": 3}}]}

func.func @net(%x: tensor<8x8xf32> {pipe.batch = "x"},
               %w: tensor<8x8xf32> {pipe.param = #pipe.param<"w", init = zeros>}) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<8x8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %zeros = arith.constant dense<0.0> : tensor<8x8xf32>
  %h0 = linalg.matmul ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%init : tensor<8x8xf32>) -> tensor<8x8xf32>
  %t0 = math.tanh %h0 : tensor<8x8xf32>
  %unused = math.exp %t0 : tensor<8x8xf32>
  %p = arith.cmpf ogt, %t0, %zeros : tensor<8x8xf32>
  %i = arith.extui %p : tensor<8x8xi1> to tensor<8x8xi32>
  %s0 = arith.select %p, %t0, %zeros : tensor<8x8xi1>, tensor<8x8xf32>
  %h1 = linalg.matmul ins(%s0, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%init : tensor<8x8xf32>) -> tensor<8x8xf32>
  %t1 = math.tanh %h1 : tensor<8x8xf32>
  %a = tensor.extract %t1[%c0, %c0] : tensor<8x8xf32>
  %b = arith.mulf %a, %a : f32
  %s1 = tensor.insert %b into %t1[%c0, %c0] : tensor<8x8xf32>
  %m = arith.mulf %s1, %s1 : tensor<8x8xf32>
  %le = tensor.empty() : tensor<f32>
  %l0 = linalg.fill ins(%zero : f32) outs(%le : tensor<f32>) -> tensor<f32>
  %loss = linalg.reduce { arith.addf } ins(%m : tensor<8x8xf32>) outs(%l0 : tensor<f32>) dimensions = [0, 1]
  return %loss : tensor<f32>
}
