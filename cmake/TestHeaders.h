// What most unit tests include, precompiled: see VeelineTargets.cmake.
#include "StandardHeaders.h"

#include <gtest/gtest.h>
