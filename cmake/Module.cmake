# sallyport_module(mcp PUBLIC core PRIVATE net LIBRARIES PkgConfig::X)
#
# Each folder of src/ is a target. A target publishes an include root that holds only its own headers,
# so an include that the graph does not allow names a file that does not exist.
function(sallyport_module name)
  cmake_parse_arguments(M "" "" "PUBLIC;PRIVATE;LIBRARIES" ${ARGN})
  set(root ${PROJECT_BINARY_DIR}/inc/${name})
  file(MAKE_DIRECTORY ${root})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/src/${name} ${root}/${name} SYMBOLIC)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cc)
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  if(NOT sources)
    return()
  endif()
  list(TRANSFORM M_PUBLIC PREPEND sallyport_)
  list(TRANSFORM M_PRIVATE PREPEND sallyport_)
  add_library(sallyport_${name} STATIC ${sources})
  target_include_directories(sallyport_${name} PUBLIC ${root})
  if(SALLYPORT_UNITY)
    sallyport_unity(sallyport_${name})
  endif()
  target_link_libraries(sallyport_${name} PUBLIC ${M_PUBLIC} PRIVATE ${M_PRIVATE} ${M_LIBRARIES})
  sallyport_precompiled(sallyport_${name})
endfunction()

# Boost.JSON, Asio's coroutine core and the standard library take seconds per unit; here they are parsed once.
function(sallyport_precompiled target)
  if(target STREQUAL "sallyport_base")
    target_precompile_headers(sallyport_base PRIVATE ${PROJECT_SOURCE_DIR}/src/precompiled.h)
  else()
    target_precompile_headers(${target} REUSE_FROM sallyport_base)
  endif()
endfunction()

# One thread allocates entries and another frees them. mimalloc is fast in this case (numbers in
# docs/performance.md). Sanitizers bring their own allocators.
function(sallyport_allocator target)
  if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    target_link_options(${target} PRIVATE -Wl,--no-as-needed)
    target_link_libraries(${target} PRIVATE ${MIMALLOC_LIBRARY})
  endif()
endfunction()

# A clean build takes half the time if a dozen sources form one unit. So names in anonymous namespaces differ
# between the sources of a module. The preset `dev` compiles each source by itself.
function(sallyport_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
endfunction()
