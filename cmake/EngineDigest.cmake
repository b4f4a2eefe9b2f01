# A digest of the sources that determine the form of compiled patterns. A cache of another build is not reused.
# It is computed again when one of these sources changes, so there is no version number to maintain.
if(CMAKE_SCRIPT_MODE_FILE)
  set(all "")
  foreach(source ${SOURCES})
    file(SHA256 ${source} digest)
    string(APPEND all ${digest})
  endforeach()
  string(SHA256 digest "${all}")
  file(WRITE ${OUTPUT} "namespace sallyport::match {\nextern const char* const kEngineDigest;\n"
                       "const char* const kEngineDigest = \"${digest}\";\n}  // namespace sallyport::match\n")
  return()
endif()

file(GLOB_RECURSE engine_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/match/*.cc ${PROJECT_SOURCE_DIR}/src/match/*.h
     ${PROJECT_SOURCE_DIR}/src/guardrails/*.cc ${PROJECT_SOURCE_DIR}/src/guardrails/*.h)
set(engine_digest ${PROJECT_BINARY_DIR}/generated/engine_digest.cc)
add_custom_command(
  OUTPUT ${engine_digest}
  COMMAND ${CMAKE_COMMAND} "-DSOURCES=${engine_sources}" -DOUTPUT=${engine_digest} -P ${CMAKE_CURRENT_LIST_FILE}
  DEPENDS ${engine_sources} ${CMAKE_CURRENT_LIST_FILE}
  VERBATIM)
target_sources(sallyport_match PRIVATE ${engine_digest})
