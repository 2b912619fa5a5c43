# Makes Debian's packages of what cpack has installed, before it packs them: adds
# what Debian wants in them, and finds out what they depend on.

find_program(VEELINE_PYTHON python3 REQUIRED)
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} name)
  set(fields CPACK_DEBIAN_${name}_PACKAGE)
  set(control ${CPACK_TOPLEVEL_DIRECTORY}/control/${component})
  execute_process(
    COMMAND ${VEELINE_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/stage.py
      --package ${${fields}_NAME}
      --version ${CPACK_DEBIAN_PACKAGE_VERSION}
      --release ${CPACK_DEBIAN_PACKAGE_RELEASE}
      --depends "${${fields}_DEPENDS}"
      --maintainer "${CPACK_PACKAGE_CONTACT}"
      --build ${CPACK_VEELINE_BUILD_DIR}
      --control ${control}
      ${CPACK_TEMPORARY_DIRECTORY}/${component}
    OUTPUT_VARIABLE found RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${${fields}_NAME} cannot be made; why is said above")
  endif()
  foreach(field DEPENDS RECOMMENDS)
    if(found MATCHES "${field}=([^\n]+)")
      set(libraries "${CMAKE_MATCH_1}")
      if(${fields}_${field})
        set(${fields}_${field} "${libraries}, ${${fields}_${field}}")
      else()
        set(${fields}_${field} "${libraries}")
      endif()
    endif()
  endforeach()
  file(GLOB files ${control}/*)
  set(${fields}_CONTROL_EXTRA "${files}")
  set(${fields}_CONTROL_STRICT_PERMISSION ON)
endforeach()
