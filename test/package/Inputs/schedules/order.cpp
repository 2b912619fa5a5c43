// Prints how long a step of a schedule takes.

#include "veeline/Schedule/Generators.h"
#include "veeline/Schedule/Simulator.h"

#include <cstdio>

// [docs: order]
using namespace veeline::schedule;

int main(int argc, char **argv) {
  std::string name = argc > 1 ? argv[1] : "zb-v";
  Expected<Placement> placement =
      placementFor(name, /*stages=*/4, /*chunksPerStage=*/2);
  if (!placement) {
    std::fprintf(stderr, "error: %s\n", placement.error().str().c_str());
    return 1;
  }
  Chunk layer{.forward = 1, .backwardInput = 1, .backwardWeight = 1};
  Problem problem = uniformProblem(*placement, /*microbatches=*/8, layer,
                                   /*transfer=*/0);
  Expected<Schedule> schedule = generate(name, problem);
  if (!schedule) {
    std::fprintf(stderr, "error: %s\n", schedule.error().str().c_str());
    return 1;
  }
  Expected<Simulation> prediction = simulate(problem, *schedule);
  std::printf("%s: %g\n", name.c_str(), prediction->makespan);
}
// [docs: end]
