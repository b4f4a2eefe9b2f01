# The library that programs embed: all modules behind include/sallyport/ in one archive, found by
# `find_package(Sallyport)` and linked as `Sallyport::Sallyport`.
include(CMakePackageConfigHelpers)

set(objects)
foreach(module base core match guardrails guards trust autonomy grants effects rules net external config policy ledger store
               llm telemetry proxy sessions agent embed)
  list(APPEND objects $<TARGET_OBJECTS:sallyport_${module}>)
endforeach()
add_library(sallyport_library STATIC ${objects})
set_target_properties(sallyport_library PROPERTIES OUTPUT_NAME sallyport EXPORT_NAME Sallyport
                                                   LINKER_LANGUAGE CXX)
target_sources(sallyport_library PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include
                                        FILES ${public_headers})
target_compile_features(sallyport_library PUBLIC cxx_std_23)
get_filename_component(simdjson_name ${SIMDJSON_LIBRARY} NAME_WE)
string(REGEX REPLACE "^lib" "" simdjson_name ${simdjson_name})
target_link_libraries(sallyport_library
                      PUBLIC Boost::headers
                      PRIVATE fmt::fmt OpenSSL::SSL OpenSSL::Crypto SQLite::SQLite3 ${CMAKE_DL_LIBS} Threads::Threads
                              PkgConfig::SODIUM PkgConfig::HS PkgConfig::PCRE2 PkgConfig::ICU
                              PkgConfig::ICU_I18N PkgConfig::FYAML PkgConfig::ZLIB PkgConfig::BROTLI
                              PkgConfig::ZSTD ${simdjson_name})

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Sallyport)
install(TARGETS sallyport_library EXPORT Sallyport ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT Sallyport NAMESPACE Sallyport:: DESTINATION ${package} FILE SallyportTargets.cmake)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/SallyportConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/generated/SallyportConfig.cmake
                              INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/SallyportConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/generated/SallyportConfig.cmake
              ${PROJECT_BINARY_DIR}/generated/SallyportConfigVersion.cmake DESTINATION ${package})
