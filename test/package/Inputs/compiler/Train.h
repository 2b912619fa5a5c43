#ifndef TRAIN_H
#define TRAIN_H

#include <string>

/// Trains an artifact for 20 steps, prints the loss of each, and saves the
/// parameters. The exit code of the process.
int train(const std::string &artifact, const std::string &parameters);

#endif // TRAIN_H
