# The files of the web console, bundled by esbuild and embedded by src/console/assets.cc. Needs no Node.
find_program(ESBUILD esbuild REQUIRED)
set(assets ${PROJECT_BINARY_DIR}/console)
file(GLOB_RECURSE console_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/console/*)
add_custom_command(OUTPUT ${assets}/assets.inc
                   COMMAND ${PROJECT_SOURCE_DIR}/console/build.sh ${assets} ${ESBUILD}
                   DEPENDS ${console_sources} VERBATIM COMMENT "Bundling the console")
target_sources(sallyport_console PRIVATE ${assets}/assets.inc)
target_include_directories(sallyport_console PRIVATE ${assets})
