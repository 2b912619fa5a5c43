// Pieces of equal estimates, of which the first takes 6 us, the second and third 1.5 us each, the fourth 3 us.

// RUN: veeline-opt %s --pipe-partition="stages=2" | FileCheck %s --check-prefix=EQUAL
// EQUAL:     pipe.pipeline @net stages(2)
// EQUAL-NOT: transfers
// EQUAL:     pipe.chunk 0 @net_chunk0{{.*}}pieces = 2
// EQUAL:     pipe.chunk 1 @net_chunk1{{.*}}pieces = 2
// EQUAL-NOT: cost_scale

// The first is as heavy as all others. Chunk 1 has the mean of its pieces' scales.
// RUN: veeline-opt %s --pipe-partition="stages=2 profile=%S/Inputs/profile.json" | FileCheck %s --check-prefix=CUT
// The edge between the first two pieces was measured in both directions.
// CUT: pipe.pipeline @net stages(2) {{.*}}transfers = array<f64: 3.000000e+03, 7.000000e+03>
// CUT: pipe.chunk 0 @net_chunk0{{.*}}cost_scale = array<f64: 2.000000e+00, 4.000000e+00, 4.000000e+00>
// CUT-NOT: pieces
// CUT: pipe.chunk 1 @net_chunk1{{.*}}cost_scale = array<f64: 1.30{{[0-9]+}}, 2.23{{[0-9]+}}, 1.000000e+00>{{.*}}pieces = 3

// Costs are estimates times the scales, 6144 ns for a product.
// RUN: veeline-opt %s --pipe-partition="stages=4 profile=%S/Inputs/profile.json" --pipe-differentiate --pipe-split-backward \
// RUN:   --pipe-schedule="schedule=zb-h1 microbatches=2" | FileCheck %s --check-prefix=COST
// COST: pipe.chunk 0 @net_chunk0{{.*}}cost = #pipe.cost<forward = 12288, backward_input = 0, backward_weight = 24576>
// COST: pipe.chunk 1 @net_chunk1{{.*}}cost = #pipe.cost<forward = 9216, backward_input = 18432, backward_weight = 6144>
// COST: pipe.chunk 2 @net_chunk2{{.*}}cost = #pipe.cost<forward = 9216, backward_input = 18432, backward_weight = 6144>

// Other edges take the mean of all messages, weighted by their number; so does the gradient of the last one, of which none was
// waited for.
// RUN: veeline-opt %s --pipe-partition="stages=4 profile=%S/Inputs/profile.json" | FileCheck %s --check-prefix=EDGES
// EDGES: transfers = array<f64: 3.000000e+03, 7.000000e+03, 6.600000e+03, 6.600000e+03, 9.000000e+03, 6.600000e+03>
// RUN: veeline-opt %s --pipe-partition="pieces=2,2 stages=2 profile=%S/Inputs/profile.json" | FileCheck %s --check-prefix=MEAN
// MEAN: transfers = array<f64: 6.600000e+03, 6.600000e+03>

// The schedule is made with them.
// RUN: veeline-opt %s --pipe-partition="stages=2 profile=%S/Inputs/profile.json" --pipe-differentiate \
// RUN:   --pipe-schedule="schedule=gpipe microbatches=1" | FileCheck %s --check-prefix=SCHEDULE
// SCHEDULE: pipe.forward chunk(0) {{.*}}pipe.predicted = array<f64: 0.000000e+00, 1.228800e+04>
// SCHEDULE: pipe.forward chunk(1) {{.*}}pipe.predicted = array<f64: 1.528800e+04,
// RUN: veeline-opt %s --pipe-partition="stages=2 profile=%S/Inputs/profile.json" --pipe-differentiate \
// RUN:   | sed 's/transfers = array<f64: [^,]*, /transfers = array<f64: /' > %t.mlir
// RUN: not veeline-opt %t.mlir --pipe-schedule 2>&1 | FileCheck %s --check-prefix=TRANSFERS
// TRANSFERS: error: 'pipe.pipeline' op attribute 'transfers' has to be an array of two times, of a message and of its gradient, for each of the 1 edges, found array<f64: 7.000000e+03>
// RUN: sed 's/"edges": ./&{"from": 1, "to": 1, "bytes": 8},/' %S/Inputs/profile.json > %t.json
// RUN: not veeline-opt %s --pipe-partition="profile=%t.json" 2>&1 | FileCheck %s --check-prefix=EDGE
// EDGE: error: profile '{{.*}}.json': edge 0: expected 'from' and 'to', one of the chunks and a later one, and its 'bytes'; found {"bytes":8,"from":1,"to":1}

// What all-reduces have taken.
// RUN: sed 's/"version"/"all_reduce": {"bytes": 64, "us": 5, "samples": 2}, &/' %S/Inputs/profile.json > %t.json
// RUN: veeline-opt %s --pipe-partition="stages=2 profile=%t.json" | FileCheck %s --check-prefix=REDUCE
// REDUCE: pipe.pipeline {{.*}}all_reduce = array<f64: 6.400000e+01, 5.000000e+03>
// RUN: veeline-opt %s --pipe-partition="stages=2 profile=%t.json" --pipe-differentiate \
// RUN:   "--pipe-schedule=schedule=1f1b microbatches=1 replicas=2" --pipe-insert-communication | FileCheck %s --check-prefix=WAIT
// WAIT: pipe.wait {{.*}} {pipe.predicted = array<f64: {{.*}}>}
// RUN: sed 's/"version"/"all_reduce": {"bytes": 0, "us": 5}, &/' %S/Inputs/profile.json > %t.json
// RUN: not veeline-opt %s --pipe-partition="profile=%t.json" 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: error: profile '{{.*}}.json': all_reduce: expected its 'bytes' and a time 'us' above 0; found {"bytes":0,"us":5}

// What updates have taken.
// RUN: sed 's/"version"/"updates": {"bytes": 64, "us": 5, "samples": 2}, &/' %S/Inputs/profile.json > %t.json
// RUN: veeline-opt %s --pipe-partition="stages=2 profile=%t.json" | FileCheck %s --check-prefix=UPDATES
// UPDATES: pipe.pipeline {{.*}}updates = array<f64: 6.400000e+01, 5.000000e+03>
// RUN: sed 's/"version"/"updates": {"bytes": 8, "us": -5}, &/' %S/Inputs/profile.json > %t.json
// RUN: not veeline-opt %s --pipe-partition="profile=%t.json" 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: error: profile '{{.*}}.json': updates: expected its 'bytes' and a time 'us' above 0; found {"bytes":8,"us":-5}

// Fitting into memory cuts with the profile, and hands it on.
// RUN: veeline-opt %s --pipe-fit-memory="stages=2 profile=%S/Inputs/profile.json memory-limit=1GiB recompute=auto" \
// RUN:   | FileCheck %s --check-prefix=CUT

// Files that are no profile, or not one of this model.

// RUN: not veeline-opt %s --pipe-partition="profile=%t.none" 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: profile.mlir:[[#@LINE+56]]:1: error: profile '{{.*}}.none': No such file or directory

// RUN: echo '{"format": "veeline-profile", ' > %t.json
// RUN: not veeline-opt %s --pipe-partition="profile=%t.json" 2>&1 | FileCheck %s --check-prefix=JSON
// JSON: error: profile '{{.*}}.json': no JSON: [

// RUN: echo '[1]' > %t.json
// RUN: not veeline-opt %s --pipe-partition="profile=%t.json" 2>&1 | FileCheck %s --check-prefix=FORMAT
// FORMAT: error: profile '{{.*}}.json': this is no profile of veeline train --profile

// RUN: sed 's/"version": 2/"version": 1/' %S/Inputs/profile.json > %t.json
// RUN: not veeline-opt %s --pipe-partition="profile=%t.json" 2>&1 | FileCheck %s --check-prefix=VERSION
// VERSION: error: profile '{{.*}}.json': expected version 2 of the format, found 1; measure again with veeline train --profile

// RUN: sed 's/"pieces": 2/"pieces": 0/' %S/Inputs/profile.json > %t.json
// RUN: not veeline-opt %s --pipe-partition="profile=%t.json" 2>&1 | FileCheck %s --check-prefix=ZERO
// ZERO: error: profile '{{.*}}.json': chunk 1: expected 'pieces', a number of 1 or more; found 0

// RUN: sed 's/"pieces": 2/"pieces": 3/' %S/Inputs/profile.json > %t.json
// RUN: not veeline-opt %s --pipe-partition="profile=%t.json" 2>&1 | FileCheck %s --check-prefix=PIECES
// PIECES: error: profile '{{.*}}.json' has times of 5 pieces, but the model has 4; measure it with veeline train --profile

// RUN: sed 's/"us": 1,/"us": -1,/' %S/Inputs/profile.json > %t.json
// RUN: not veeline-opt %s --pipe-partition="profile=%t.json" 2>&1 | FileCheck %s --check-prefix=TIME
// TIME: error: profile '{{.*}}.json': chunk 1, F: expected a time 'us' from 0 to 1e10; found {{-1|1.*e\+300}}

// RUN: sed 's/"scale": 4/"scale": 0/' %S/Inputs/profile.json > %t.json
// RUN: not veeline-opt %s --pipe-partition="profile=%t.json" 2>&1 | FileCheck %s --check-prefix=SCALE
// SCALE: error: profile '{{.*}}.json': chunk 0, BW: expected a 'scale' from 1e-9 to 1e9; found {{0|1e\+30}}

// RUN: sed 's/"scale": 4/"scale": 1e30/' %S/Inputs/profile.json > %t.json
// RUN: not veeline-opt %s --pipe-partition="profile=%t.json" 2>&1 | FileCheck %s --check-prefix=SCALE
// RUN: sed 's/"us": 1,/"us": 1e300,/' %S/Inputs/profile.json > %t.json
// RUN: not veeline-opt %s --pipe-partition="profile=%t.json" 2>&1 | FileCheck %s --check-prefix=TIME

// What is as large as a profile may say makes a schedule all the same.
// RUN: sed 's/"us": 1,/"us": 1e10,/; s/"scale": 4/"scale": 1e9/' %S/Inputs/profile.json > %t.json
// RUN: veeline-opt %s --pipe-partition="stages=2 profile=%t.json" --pipe-differentiate --pipe-split-backward \
// RUN:   --pipe-schedule="schedule=zb-h1 microbatches=2" | FileCheck %s --check-prefix=LARGE
// LARGE: cost = #pipe.cost<

// A model that does other work under the same name: other sizes, types, ops or parameters. What a model is called, and what
// its parameters start from, makes no other model.
// RUN: sed 's/64x64xf32/32x32xf32/g' %s > %t.mlir
// RUN: not veeline-opt %t.mlir --pipe-partition="profile=%S/Inputs/profile.json" 2>&1 | FileCheck %s --check-prefix=MODEL
// RUN: sed 's/f32/f64/g' %s > %t.mlir
// RUN: not veeline-opt %t.mlir --pipe-partition="profile=%S/Inputs/profile.json" 2>&1 | FileCheck %s --check-prefix=MODEL
// RUN: sed 's/ins(%%m2, %%w/ins(%%m2, %%m0/' %s > %t.mlir
// RUN: not veeline-opt %t.mlir --pipe-partition="profile=%S/Inputs/profile.json" 2>&1 | FileCheck %s --check-prefix=MODEL
// RUN: sed 's/ {pipe.batch = "x"}//' %s > %t.mlir
// RUN: not veeline-opt %t.mlir --pipe-partition="profile=%S/Inputs/profile.json" 2>&1 | FileCheck %s --check-prefix=MODEL
// MODEL: error: profile '{{.*}}.json' is of another model: of 'net' with fingerprint {{[0-9a-f]+}}, but this is 'net' with {{[0-9a-f]+}} (other sizes, types or frozen parameters make another model too); measure this one with veeline train --profile
// RUN: sed 's/@net/@renamed/; s/<"w", init = zeros>/<"v", init = ones>/; s/"x"/"y"/' %s \
// RUN:   | veeline-opt --pipe-partition="stages=2 profile=%S/Inputs/profile.json" | FileCheck %s --check-prefix=RENAMED
// RENAMED: pipe.pipeline @renamed stages(2) {{.*}}transfers

func.func @net(%w: tensor<64x64xf32> {pipe.param = #pipe.param<"w", init = zeros>},
               %x: tensor<64x64xf32> {pipe.batch = "x"}) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %h0 = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  %m0 = pipe.boundary %h0 : tensor<64x64xf32>
  %h1 = linalg.matmul ins(%m0, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  %m1 = pipe.boundary %h1 : tensor<64x64xf32>
  %h2 = linalg.matmul ins(%m1, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  %m2 = pipe.boundary %h2 : tensor<64x64xf32>
  %h3 = linalg.matmul ins(%m2, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  %le = tensor.empty() : tensor<f32>
  %l0 = linalg.fill ins(%zero : f32) outs(%le : tensor<f32>) -> tensor<f32>
  %loss = linalg.reduce { arith.addf } ins(%h3 : tensor<64x64xf32>) outs(%l0 : tensor<f32>) dimensions = [0, 1]
  return %loss : tensor<f32>
}
