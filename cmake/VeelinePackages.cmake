# What cpack makes of the components: a Debian package of each. scripts/package
# runs it; packaging/debian has what it reads when it runs.

set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL runtime tools development python)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
# Modes and times, sizes, names and dependencies follow when it runs.
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/packaging/debian/fields.cmake)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/packaging/debian/stage.cmake)
set(CPACK_VEELINE_SOURCE_DIR ${PROJECT_SOURCE_DIR})
set(CPACK_VEELINE_BUILD_DIR ${PROJECT_BINARY_DIR})

set(VEELINE_MAINTAINER
    "Veeline maintainers <maintainers@veeline.example>"
    CACHE STRING "Who is responsible for the packages, as 'NAME <ADDRESS>'")
set(CPACK_PACKAGE_CONTACT ${VEELINE_MAINTAINER})

# What is installed, without what only tests need.
add_custom_target(veeline-installed DEPENDS ${VEELINE_INSTALLED_TARGETS})
foreach(target veeline_mpi veeline-man)
  if(TARGET ${target})
    add_dependencies(veeline-installed ${target})
  endif()
endforeach()

include(CPack)
