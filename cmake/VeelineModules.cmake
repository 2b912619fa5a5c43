# Shared objects that are loaded on demand, by executables or by mlir-opt. They
# are in a folder of their own, since nobody links them. From an executable it
# is at the same place in the build as once installed, so that both find it
# without knowing where they are.

include(GNUInstallDirs)
set(VEELINE_INSTALL_MODULEDIR ${CMAKE_INSTALL_LIBDIR}/veeline)
foreach(folder BINDIR LIBDIR INCLUDEDIR)
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${folder}}")
    message(FATAL_ERROR "CMAKE_INSTALL_${folder} is '${CMAKE_INSTALL_${folder}}', "
      "but what is installed could not be moved with it: give it relative to "
      "CMAKE_INSTALL_PREFIX")
  endif()
endforeach()
cmake_path(RELATIVE_PATH VEELINE_INSTALL_MODULEDIR
  BASE_DIRECTORY ${CMAKE_INSTALL_BINDIR} OUTPUT_VARIABLE VEELINE_MODULE_DIRECTORY)
cmake_path(ABSOLUTE_PATH VEELINE_MODULE_DIRECTORY
  BASE_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} NORMALIZE
  OUTPUT_VARIABLE VEELINE_BUILD_MODULEDIR)

# veeline_make_module(NAME FILE [MAP])
# Makes the library NAME such a shared object, libFILE.so, that exports what the
# version script MAP lists, by default what is declared so.
function(veeline_make_module name file)
  set_target_properties(${name} PROPERTIES
    OUTPUT_NAME ${file}
    LIBRARY_OUTPUT_DIRECTORY ${VEELINE_BUILD_MODULEDIR})
  if(ARGC GREATER 2)
    target_link_options(${name} PRIVATE LINKER:--version-script=${ARGV2})
    set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS ${ARGV2})
  endif()
endfunction()
