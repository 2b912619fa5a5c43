# The three kinds of target in this tree. Every one of them gets the same
# warnings, all of which are errors in our own code.

add_library(veeline_options INTERFACE)
target_compile_options(veeline_options INTERFACE
  # The same roundings by every compiler.
  -ffp-contract=off
  -Wall -Wextra -Werror -Wno-unused-parameter
  # clang reports libstdc++'s own uses of what it has deprecated as ours.
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>
  # g++ 12 reports false positives for these inside LLVM's headers.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized -Wno-dangling-pointer
  -Wno-array-bounds -Wno-stringop-overflow -Wno-restrict>)
if(VEELINE_ENABLE_CHECKS)
  target_compile_definitions(veeline_options INTERFACE
    VEELINE_ENABLE_CHECKS=1 _GLIBCXX_ASSERTIONS)
endif()
if(VEELINE_SANITIZER)
  # Without recovery: what only prints would not fail a test.
  target_compile_options(veeline_options INTERFACE
    -fsanitize=${VEELINE_SANITIZER} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  target_link_options(veeline_options INTERFACE
    -fsanitize=${VEELINE_SANITIZER})
  # Here, and not where tests run, so that it holds by hand, too.
  add_library(veeline_sanitizer_options OBJECT
    ${PROJECT_SOURCE_DIR}/cmake/SanitizerOptions.c)
  target_link_libraries(veeline_options INTERFACE
    $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:$<TARGET_OBJECTS:veeline_sanitizer_options>>)
endif()

# What every target that includes MLIR headers needs: libMLIR is built with
# RTTI and without exceptions.
# Installed, it has the headers of the MLIR that VeelineConfig.cmake finds.
add_library(veeline_mlir INTERFACE)
target_include_directories(veeline_mlir SYSTEM INTERFACE
  "$<BUILD_INTERFACE:${MLIR_INCLUDE_DIRS};${LLVM_INCLUDE_DIRS}>")
target_compile_options(veeline_mlir INTERFACE
  $<BUILD_INTERFACE:-fno-exceptions>)
target_compile_features(veeline_mlir INTERFACE cxx_std_20)
target_link_libraries(veeline_mlir INTERFACE MLIR LLVM)

# veeline_add_headers(NAME HEADER LINK targets... OPTIONS options...)
# Makes cmake/HEADER.h a precompiled header, for veeline_use_headers. Does
# nothing with g++, whose precompiled header of MLIR would take a gigabyte.
function(veeline_add_headers name header)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "LINK;OPTIONS" ${ARGN})
  add_library(${name} OBJECT ${PROJECT_SOURCE_DIR}/cmake/Headers.cpp)
  target_link_libraries(${name} PRIVATE ${ARG_LINK} veeline_options)
  target_compile_options(${name} PRIVATE -fPIC "SHELL:-Xclang -fno-pch-timestamp"
    ${ARG_OPTIONS})
  target_precompile_headers(${name} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/${header}.h)
endfunction()

# veeline_use_headers(NAME HEADERS)
# Puts the precompiled HEADERS before everything that the files of target NAME
# include. For many files, reading these headers is most of the work.
function(veeline_use_headers name headers)
  if(TARGET ${headers})
    target_precompile_headers(${name} REUSE_FROM ${headers})
    # The header is compiled with -fPIC, as libraries are, not with -fPIE.
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${name} PRIVATE -fPIC)
  endif()
endfunction()

# The code of tests does little work itself: libraries do what they test.
set(VEELINE_TEST_OPTIONS $<$<CONFIG:Release>:-O1>)
veeline_add_headers(veeline_headers StandardHeaders)
if(GTest_FOUND)
  veeline_add_headers(veeline_test_headers TestHeaders LINK GTest::gtest
    OPTIONS ${VEELINE_TEST_OPTIONS})
endif()
veeline_add_headers(veeline_mlir_headers MlirHeaders LINK veeline_mlir)

# veeline_use_mlir(NAME)
# For a target whose files include MLIR's headers.
function(veeline_use_mlir name)
  target_link_libraries(${name} PUBLIC veeline_mlir)
  veeline_use_headers(${name} veeline_mlir_headers)
endfunction()

# veeline_add_library(NAME sources... LINK targets... DEPENDS tablegen...)
# A static library of plain C++.
function(veeline_add_library name)
  veeline_add_any_library(${name} ${ARGN})
  veeline_use_headers(${name} veeline_headers)
endfunction()

# The same, for a library that uses MLIR.
function(veeline_add_mlir_library name)
  veeline_add_any_library(${name} ${ARGN})
  veeline_use_mlir(${name})
endfunction()

# What these have in common.
function(veeline_add_any_library name)
  cmake_parse_arguments(ARG "" "" "LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>)
  target_link_libraries(${name} PUBLIC ${ARG_LINK}
    PRIVATE $<BUILD_INTERFACE:veeline_options>)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# veeline_add_unittest(NAME [MLIR] sources... LINK targets...)
# A GoogleTest binary in test/unit, which check-veeline runs through lit. lit
# finds it by its name, which ends in Test. With MLIR its files include MLIR's
# headers.
function(veeline_add_unittest name)
  if(NOT name MATCHES "Test$")
    message(FATAL_ERROR "lit would not find ${name}: its name must end in Test")
  endif()
  cmake_parse_arguments(ARG "MLIR" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest_main
                        veeline_options)
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/test/unit)
  add_dependencies(VeelineUnitTests ${name})
  if(ARG_MLIR)
    veeline_use_mlir(${name})
  else()
    target_compile_options(${name} PRIVATE ${VEELINE_TEST_OPTIONS})
    veeline_use_headers(${name} veeline_test_headers)
  endif()
endfunction()
