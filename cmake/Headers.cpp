// The targets of precompiled headers need a file: see VeelineTargets.cmake.
