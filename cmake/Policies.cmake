# The shipped policies inside the program: where none is given, one of them is in force.
set(policies_folder ${PROJECT_SOURCE_DIR}/policies)
file(GLOB shipped_policies CONFIGURE_DEPENDS ${policies_folder}/*.yaml)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${shipped_policies})
set(SHIPPED_POLICIES "")
foreach(file ${shipped_policies})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  string(APPEND SHIPPED_POLICIES "    {\"${name}\", R\"policy(${text})policy\"},\n")
endforeach()
configure_file(${PROJECT_SOURCE_DIR}/src/policy/shipped.cc.in
               ${PROJECT_BINARY_DIR}/generated/shipped_policies.cc @ONLY)
target_sources(sallyport_policy PRIVATE ${PROJECT_BINARY_DIR}/generated/shipped_policies.cc)
