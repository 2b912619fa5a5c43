# What `cmake --install` installs, in four components:
#   runtime      `veeline`, its manual pages and completions, what `veeline train` needs, and the libraries of the C
#                API that use no LLVM
#   python       the package of Python (python/CMakeLists.txt)
#   tools        the compiler that `veeline` loads, veeline-opt and MLIR's other
#                tools, veeline-pack, the plugin of mlir-opt, and the library of
#                the C API that compiles
#   development  headers, libraries, the CMake package, veeline-config
# Nothing that is installed names a place in the source or the build, and all of
# it can be moved together.

include(CMakePackageConfigHelpers)
set(VEELINE_INSTALL_CMAKEDIR ${CMAKE_INSTALL_LIBDIR}/cmake/Veeline)

install(TARGETS veeline RUNTIME COMPONENT runtime)
install(TARGETS veeline_allocation_counter
  LIBRARY DESTINATION ${VEELINE_INSTALL_MODULEDIR} COMPONENT runtime)
if(TARGET veeline_mpi)
  install(TARGETS veeline_mpi
    LIBRARY DESTINATION ${VEELINE_INSTALL_MODULEDIR} COMPONENT runtime)
endif()
install(TARGETS veeline-lsp-server veeline-opt veeline-pack veeline-reduce
                veeline-translate RUNTIME COMPONENT tools)
# One page is about all of them.
foreach(tool veeline-lsp-server veeline-opt veeline-pack veeline-reduce
             veeline-translate)
  install(FILES docs/man/veeline-tools.1 RENAME ${tool}.1
    DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools)
endforeach()
install(TARGETS VeelineCompilerModule VeelinePlugin
  LIBRARY DESTINATION ${VEELINE_INSTALL_MODULEDIR} COMPONENT tools)
set(VEELINE_INSTALLED_TARGETS
  veeline veeline_allocation_counter veeline-completions
  veeline-lsp-server veeline-opt veeline-pack veeline-reduce veeline-translate
  VeelineCompilerModule VeelinePlugin)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)

#===------------------------------------------------------------------------===#
# Libraries
#===------------------------------------------------------------------------===#

# veeline_export(PART TARGET=NAME...)
# Installs libraries as Veeline::NAME, in the order in which they are linked:
# each uses only those before it. PART is a component of find_package. Shared
# libraries of `compiler` are of no use without LLVM, and are in `tools`.
function(veeline_export part)
  set(component runtime)
  if(part STREQUAL "compiler")
    set(component tools)
  endif()
  foreach(entry ${ARGN})
    string(REPLACE "=" ";" pair ${entry})
    list(GET pair 0 target)
    list(GET pair 1 name)
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
    get_target_property(type ${target} TYPE)
    if(NOT type STREQUAL "INTERFACE_LIBRARY")
      list(APPEND VEELINE_INSTALLED_TARGETS ${target})
    endif()
    install(TARGETS ${target} EXPORT Veeline-${part}
      ARCHIVE COMPONENT development
      LIBRARY COMPONENT ${component} NAMELINK_COMPONENT development
      INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
    if(type STREQUAL "STATIC_LIBRARY")
      list(PREPEND flags -l${target})
    endif()
  endforeach()
  install(EXPORT Veeline-${part} NAMESPACE Veeline::
    DESTINATION ${VEELINE_INSTALL_CMAKEDIR} COMPONENT development)
  list(JOIN flags " " flags)
  set(VEELINE_LIBS_${part} "${flags}" PARENT_SCOPE)
  set(VEELINE_INSTALLED_TARGETS ${VEELINE_INSTALLED_TARGETS} PARENT_SCOPE)
endfunction()

veeline_export(schedule
  veeline_runtime_headers=abi
  VeelineBase=base
  VeelineCommandLine=command-line
  VeelineArtifact=artifact
  VeelinePage=page
  VeelineSchedule=schedule
  VeelineScheduleCommunication=schedule-communication
  VeelineScheduleFormats=schedule-formats
  VeelineScheduleCommand=schedule-command
  VeelineCSchedule=c-schedule)
veeline_export(runtime
  VeelineLibraryCalls=library
  VeelineConvolutionPlan=convolution-plan
  VeelineEngine=engine
  VeelineHost=host
  VeelineNet=net
  VeelineCuda=cuda
  VeelineInventory=inventory
  VeelineData=data
  VeelineTrain=train
  veeline_runtime_exports=exports
  veeline_runtime=runtime
  VeelineCTraining=c-training)
veeline_export(passes
  veeline_mlir=mlir
  VeelineOffsetAllocator=offset-allocator
  VeelineCuts=cuts
  VeelineRecompute=recompute
  VeelinePipe=ir
  VeelineAnalysis=analysis
  VeelineAutodiff=autodiff
  VeelinePipeTransforms=transforms
  VeelinePipeTransformOps=transform-ops
  VeelineConversion=conversion
  VeelineImport=import
  VeelineLimits=limits
  VeelinePipelines=pipelines)
veeline_export(compiler
  VeelineCompilerOptions=compiler-options
  VeelineCompiler=compiler
  VeelineCCompile=c-compile)

install(FILES runtime/exports.list
  DESTINATION ${VEELINE_INSTALL_MODULEDIR} COMPONENT development)
foreach(include ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/runtime/include
                ${PROJECT_BINARY_DIR}/include)
  install(DIRECTORY ${include}/veeline
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
    FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.inc"
    PATTERN "CMakeFiles" EXCLUDE)
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/veeline-c
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)

#===------------------------------------------------------------------------===#
# The package
#===------------------------------------------------------------------------===#

configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/package/VeelineConfig.cmake.in VeelineConfig.cmake
  INSTALL_DESTINATION ${VEELINE_INSTALL_CMAKEDIR}
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR VEELINE_INSTALL_MODULEDIR)
# Until 1.0 another minor version is another interface.
write_basic_package_version_file(VeelineConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/VeelineConfig.cmake
              ${PROJECT_BINARY_DIR}/VeelineConfigVersion.cmake
  DESTINATION ${VEELINE_INSTALL_CMAKEDIR} COMPONENT development)

string(REGEX REPLACE "[^/]+" ".." VEELINE_UP_FROM_BINDIR ${CMAKE_INSTALL_BINDIR})
list(GET MLIR_INCLUDE_DIRS 0 VEELINE_MLIR_INCLUDE_DIR)
configure_file(cmake/package/veeline-config.in veeline-config @ONLY
  FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
                   WORLD_READ WORLD_EXECUTE)
install(PROGRAMS ${PROJECT_BINARY_DIR}/veeline-config
  DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT development)
install(FILES docs/man/veeline-config.1
  DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT development)
