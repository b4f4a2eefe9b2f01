# One set of flags for every target, so that one precompiled header serves them all.
add_compile_options(-Wall -Wextra -Werror -Wno-missing-field-initializers -Wno-unknown-warning-option)
# One code model for libraries and programs, or they could not share the precompiled header.
add_compile_options(-fPIC)
add_compile_definitions(BOOST_ASIO_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_DISABLE_BOOST_COROUTINE)

if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_compile_options(-Wthread-safety -Wimplicit-fallthrough)
  # ccache may reuse objects only when the precompiled header carries no time stamp.
  add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
  add_link_options(-fuse-ld=lld)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  foreach(language C CXX)
    set(CMAKE_${language}_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
        CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
  endforeach()
endif()
