//===- Generators.h - the generators, one a file ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What Registry.cpp lists. Every generator expects a problem that passed
// `check`, with a placement and a v that its entry allows.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_GENERATORS_GENERATORS_H
#define VEELINE_LIB_SCHEDULE_GENERATORS_GENERATORS_H

#include "veeline/Schedule/Generators.h"

namespace veeline::schedule {

Expected<Schedule> generateSequential(const Problem &problem,
                                      const GeneratorOptions &options);
Expected<Schedule> generateGPipe(const Problem &problem,
                                 const GeneratorOptions &options);
Expected<Schedule>
generateOneForwardOneBackward(const Problem &problem,
                              const GeneratorOptions &options);
Expected<Schedule>
generateEagerOneForwardOneBackward(const Problem &problem,
                                   const GeneratorOptions &options);
Expected<Schedule>
generateInterleavedOneForwardOneBackward(const Problem &problem,
                                         const GeneratorOptions &options);
Expected<Schedule>
generateInterleavedRemainder(const Problem &problem,
                             const GeneratorOptions &options);
Expected<Schedule> generateLoopedBreadthFirst(const Problem &problem,
                                              const GeneratorOptions &options);
Expected<Schedule> generateHanayo(const Problem &problem,
                                  const GeneratorOptions &options);
Expected<Schedule> generateZeroBubbleH1(const Problem &problem,
                                        const GeneratorOptions &options);
Expected<Schedule> generateZeroBubbleH2(const Problem &problem,
                                        const GeneratorOptions &options);
Expected<Schedule> generateZeroBubbleV(const Problem &problem,
                                       const GeneratorOptions &options);
Expected<Schedule> generateDualPipeV(const Problem &problem,
                                     const GeneratorOptions &options);
Expected<Schedule> generatePipeDream(const Problem &problem,
                                     const GeneratorOptions &options);
Expected<Schedule>
generatePipeDreamDoubleBuffered(const Problem &problem,
                                const GeneratorOptions &options);
Expected<Schedule> generateVHalf(const Problem &problem,
                                 const GeneratorOptions &options);
Expected<Schedule> generateVMin(const Problem &problem,
                                const GeneratorOptions &options);
Expected<Schedule> generateZeroBubble1P(const Problem &problem,
                                        const GeneratorOptions &options);
Expected<Schedule> generateZeroBubble2P(const Problem &problem,
                                        const GeneratorOptions &options);
/// The same heuristic with all the memory that the limits admit, which only
/// `auto` tries. For a linear placement with one chunk a stage.
Expected<Schedule> generateZeroBubbleInLimit(const Problem &problem,
                                             const GeneratorOptions &options);
Expected<Schedule>
generateZeroBubbleVReference(const Problem &problem,
                             const GeneratorOptions &options);
Expected<Schedule>
generateInterleavedZeroBubble(const Problem &problem,
                              const GeneratorOptions &options);
Expected<Schedule> generateZeroBubbleWave(const Problem &problem,
                                          const GeneratorOptions &options);
Expected<Schedule> generateAuto(const Problem &problem,
                                const GeneratorOptions &options);

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_GENERATORS_GENERATORS_H
