//===- Generators.h - the generators, one file each -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that Registry.cpp lists. Every generator expects a problem that
// passed `check`, with a placement and a v that its entry allows.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_GENERATORS_GENERATORS_H
#define VEELINE_LIB_SCHEDULE_GENERATORS_GENERATORS_H

#include "veeline/Schedule/Generators.h"

namespace veeline::schedule {

using GeneratorFunction = Expected<Schedule>(const Problem &problem,
                                             const GeneratorOptions &options);

/// Generates a schedule like `generate`, but without R and offloads, and with
/// errors about this schedule only.
Expected<Schedule> generateInLimits(std::string_view name,
                                    const Problem &problem,
                                    const GeneratorOptions &options);

GeneratorFunction generateSequential;
GeneratorFunction generateGPipe;
GeneratorFunction generateOneForwardOneBackward;
GeneratorFunction generateEagerOneForwardOneBackward;
GeneratorFunction generateInterleavedOneForwardOneBackward;
GeneratorFunction generateInterleavedRemainder;
GeneratorFunction generateLoopedBreadthFirst;
GeneratorFunction generateHanayo;
GeneratorFunction generateZeroBubbleH1;
GeneratorFunction generateZeroBubbleH2;
GeneratorFunction generateZeroBubbleV;
GeneratorFunction generateDualPipeV;
GeneratorFunction generatePipeDream;
GeneratorFunction generatePipeDreamDoubleBuffered;
GeneratorFunction generateVHalf;
GeneratorFunction generateVMin;
GeneratorFunction generateZeroBubble1P;
GeneratorFunction generateZeroBubble2P;
/// The same heuristic with all the memory that the limits admit, which only
/// `auto` tries. For a linear placement with one chunk a stage.
GeneratorFunction generateZeroBubbleInLimit;
GeneratorFunction generateZeroBubbleVReference;
GeneratorFunction generateInterleavedZeroBubble;
GeneratorFunction generateZeroBubbleWave;
GeneratorFunction generateZeroBubbleLoop;
GeneratorFunction generateAuto;

/// A schedule for one step, and its period if steps follow each other.
struct ScheduleByPeriod {
  Schedule schedule;
  double period;
};
/// For generators that do not support periods: returns the order for the
/// longest span or the one for the makespan, whichever has the shorter period.
/// Errors are those of the generator.
Expected<ScheduleByPeriod> generateByPeriod(const Generator &generator,
                                            const Problem &problem,
                                            const GeneratorOptions &options);

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_GENERATORS_GENERATORS_H
