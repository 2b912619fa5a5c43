# What the packages' control files say. cpack reads this each time that it runs.

# The date of what is packaged is that of the source, so that two builds of it
# are the same bytes (reproducible-builds.org/specs/source-date-epoch).
if(NOT "$ENV{SOURCE_DATE_EPOCH}" MATCHES "^[0-9]+$")
  message(FATAL_ERROR "SOURCE_DATE_EPOCH is '$ENV{SOURCE_DATE_EPOCH}', and has "
    "to be the date of the source, in seconds since 1970; scripts/package sets it")
endif()
# Neither who builds nor where.
set(ENV{TZ} UTC)
set(ENV{LC_ALL} C.UTF-8)

# What is not released yet sorts before what will be, by date
# (docs/versioning.md).
set(version ${CPACK_PACKAGE_VERSION})
file(STRINGS ${CPACK_VEELINE_SOURCE_DIR}/CHANGELOG.md heading
     REGEX "^## ${version}" LIMIT_COUNT 1)
if(NOT heading)
  message(FATAL_ERROR "CHANGELOG.md says nothing of ${version}")
endif()
if(heading MATCHES "not yet released")
  string(TIMESTAMP date "%Y%m%d%H%M%S" UTC)
  string(APPEND version "~${date}")
endif()
set(CPACK_DEBIAN_PACKAGE_VERSION ${version})
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(same "(= ${version}-${CPACK_DEBIAN_PACKAGE_RELEASE})")

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SOURCE veeline)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
if(NOT CPACK_DEBIAN_COMPRESSION_TYPE)
  set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
endif()

# Debian wants lines of less than 80 characters.
set(about "Veeline compiles training of neural networks as a pipeline of stages: it
cuts a model in MLIR into chunks, derives the backward pass, orders
everything by a schedule, and writes native code for each rank.
.
")

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME veeline-runtime)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION science)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "veeline-tools ${same}, openmpi-bin")
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION "training as a pipeline, by compiled programs
${about}This package trains and evaluates what was compiled, and makes schedules.
It does not need LLVM. It has the command veeline, and the libraries of the
interface in C.")

set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME veeline-tools)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "veeline-runtime ${same}, binutils")
set(CPACK_DEBIAN_TOOLS_DESCRIPTION "compiler of training as a pipeline
${about}This package has the compiler that the command veeline loads, veeline-opt
and other tools for MLIR, and a plugin of mlir-opt.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME veeline-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "veeline-runtime ${same}, veeline-tools ${same}")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS
    "libdnnl-dev, libmlir-22-dev, llvm-22-dev, mlir-22-tools, ocl-icd-opencl-dev")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "headers and libraries of Veeline
${about}This package has headers, static libraries and a CMake package for other
compilers and programs. Schedules need nothing else; the runtime needs
oneDNN's headers, and passes those of MLIR.")

set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-veeline)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3, veeline-runtime ${same}")
set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS "veeline-tools ${same}")
set(CPACK_DEBIAN_PYTHON_DESCRIPTION "training as a pipeline, from Python
${about}This package has the module veeline of Python, which makes schedules,
compiles models and trains them.")
