#include "Train.h"

#include "veeline/training.h"

#include <cstdio>

static int fail(const std::string &message) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  return 1;
}

// [docs: train]
int train(const std::string &artifact, const std::string &parameters) {
  veeline::TrainingOptions options;
  options.values = {{"synthetic", "fixed"}, {"lr", "1e-2"}};
  auto training = veeline::Training::open(artifact, options);
  if (!training.ok())
    return fail(training.message());
  for (int step = 1; step <= 20; ++step) {
    veeline::Expected<double> loss = (*training)->step();
    if (!loss.ok())
      return fail(loss.message());
    std::printf("step %d loss %.6f\n", step, *loss);
  }
  veeline::Status saved = (*training)->save(parameters);
  return saved.ok() ? 0 : fail(saved.message());
}
// [docs: end]
