//===- Decisions.cpp - remarks on decisions of the import -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decisions.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace veeline;

namespace {
/// The text after a single argument; the text after a number, before the names;
/// then a hint.
struct Wording {
  const char *one, *many, *hint;
};
} // namespace

static Wording getWording(Decision decision) {
  constexpr const char *train = "--params names what is to be trained";
  constexpr const char *freeze = "--freeze names what is not";
  switch (decision) {
  case Decision::Parameter:
    return {" is taken for a parameter", " arguments are taken for parameters",
            ""};
  case Decision::Trained:
    return {" is trained, and starts from its values",
            " constants are trained, and start from their values", freeze};
  case Decision::Number:
    return {" is trained, and starts from the one number that it is everywhere",
            " constants are trained, and start from the one number that each "
            "is everywhere",
            freeze};
  case Decision::Frozen:
    return {" is frozen, and keeps its values",
            " constants are frozen, and keep their values", ""};
  case Decision::Drawn:
    return {" is taken for a weight that the file leaves out, and is drawn",
            " constants are taken for weights that the file leaves out, and "
            "are drawn",
            ""};
  case Decision::Constant:
    return {" stays a constant, since it is used as no weight is",
            " constants stay what they are, since they are used as no weight "
            "is",
            train};
  case Decision::Mask:
    return {" is taken for a mask, and stays what it is",
            " constants are taken for masks, and stay what they are", train};
  case Decision::Variance:
    return {" is taken for a running variance, which stays what it is",
            " constants are taken for running variances, which stay what they "
            "are",
            train};
  case Decision::Mean:
    return {" is taken for a running mean, which stays what it is",
            " constants are taken for running means, which stay what they are",
            train};
  case Decision::MissingVariance:
    return {" is taken for a running variance, which stays 1",
            " arguments are taken for running variances, which stay 1", train};
  case Decision::MissingMean:
    return {" is taken for a running mean, which stays 0",
            " arguments are taken for running means, which stay 0", train};
  case Decision::ZeroBias:
    return {" is the bias of a convolution, is zero in the file and stays so",
            " biases of convolutions are zero in the file and stay so", train};
  case Decision::Unused:
    return {" is not used", " arguments are not used", ""};
  }
  llvm_unreachable("all decisions have words");
}

void Decisions::add(Decision decision, Location location, StringRef name,
                    StringRef description) {
  arguments[decision].push_back({location, name.str(), description.str()});
}

void Decisions::say(func::FuncOp model, bool verbose) const {
  auto hint = [](const Wording &wording) {
    return *wording.hint ? std::string("; ") + wording.hint : std::string();
  };
  for (const auto &[decision, list] : arguments) {
    Wording wording = getWording(decision);
    if (verbose || list.size() == 1) {
      for (const Argument &argument : list)
        emitRemark(argument.location)
            << argument.description << wording.one << hint(wording);
      continue;
    }
    constexpr size_t most = 3;
    InFlightDiagnostic remark = emitRemark(model.getLoc());
    remark << list.size() << wording.many << ": ";
    llvm::interleaveComma(ArrayRef(list).take_front(most), remark,
                          [&](const Argument &argument) {
                            remark << '"' << argument.name << '"';
                          });
    if (list.size() > most)
      remark << " and " << list.size() - most << " more (--verbose: each)";
    remark << hint(wording);
  }
}
