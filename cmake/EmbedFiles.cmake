# sallyport_embed(guardrails document/gallery_files.cc.in NAME FILES a.json ...): files inside the program, so that it needs
# none beside it. The template's @FILES@ becomes one `{"name", "text"}` for each; NAME is the property of a path
# that names it (CMake's get_filename_component).
function(sallyport_embed module template naming)
  cmake_parse_arguments(E "" "" "FILES" ${ARGN})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${E_FILES})
  set(FILES "")
  foreach(file ${E_FILES})
    get_filename_component(name ${file} ${naming})
    file(READ ${file} text)
    string(APPEND FILES "    {\"${name}\", R\"embedded(${text})embedded\"},\n")
  endforeach()
  string(REGEX REPLACE "\\.in$" "" source ${template})
  configure_file(${PROJECT_SOURCE_DIR}/src/${module}/${template}
                 ${PROJECT_BINARY_DIR}/generated/${source} @ONLY)
  target_sources(sallyport_${module} PRIVATE ${PROJECT_BINARY_DIR}/generated/${source})
endfunction()
