# The gallery's files inside the program, so that `gallery:NAME` needs no files beside it.
set(gallery_folder ${PROJECT_SOURCE_DIR}/policies/gallery)
file(GLOB gallery_files CONFIGURE_DEPENDS ${gallery_folder}/*.json)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${gallery_files})
set(GALLERY_FILES "")
foreach(file ${gallery_files})
  get_filename_component(name ${file} NAME)
  file(READ ${file} text)
  string(APPEND GALLERY_FILES "    {\"${name}\", R\"gallery(${text})gallery\"},\n")
endforeach()
configure_file(${PROJECT_SOURCE_DIR}/src/guardrails/gallery_files.cc.in
               ${PROJECT_BINARY_DIR}/generated/gallery_files.cc @ONLY)
target_sources(sallyport_guardrails PRIVATE ${PROJECT_BINARY_DIR}/generated/gallery_files.cc)
