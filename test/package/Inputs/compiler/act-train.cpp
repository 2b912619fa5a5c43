// `act-train ARTIFACT.vee PARAMETERS.safetensors` needs no MLIR.

#include "Train.h"

#include <cstdio>

int main(int argc, char **argv) {
  if (argc == 3)
    return train(argv[1], argv[2]);
  std::fprintf(stderr, "error: expected an artifact, and a file for its "
                       "parameters\n");
  return 1;
}
