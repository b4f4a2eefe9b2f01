# One set of flags for every target, so that one precompiled header serves them all.
add_compile_options(-Wall -Wextra -Werror -Wno-missing-field-initializers -Wno-unknown-warning-option)
# Libraries and programs use one code model, because they share the precompiled header.
add_compile_options(-fPIC)
add_compile_definitions(BOOST_ASIO_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_DISABLE_BOOST_COROUTINE)

if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_compile_options(-Wthread-safety -Wimplicit-fallthrough)
  # ccache may reuse objects only when the precompiled header carries no time stamp.
  add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
  add_link_options(-fuse-ld=lld)
endif()

# The profile of `tools/make_profile.py` shows the compiler which code is hot. A function that has changed since then is
# compiled without a profile. The profile names a local function by its source file, without the build folder.
set(SALLYPORT_PROFILE "" CACHE STRING "a profile for Clang 19; `measure`: build programs that make one")
if(SALLYPORT_PROFILE AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 19)
  add_compile_options("SHELL:-mllvm -static-func-full-module-prefix=false")
  if(SALLYPORT_PROFILE STREQUAL "measure")
    add_compile_options(-fprofile-generate)
    add_link_options(-fprofile-generate)
  else()
    # The content names the copy: objects do not depend on the file, so a new profile must change their command.
    file(SHA256 ${SALLYPORT_PROFILE} digest)
    string(SUBSTRING ${digest} 0 12 digest)
    set(profile ${PROJECT_BINARY_DIR}/generated/${digest}.profdata)
    configure_file(${SALLYPORT_PROFILE} ${profile} COPYONLY)
    add_compile_options(-fprofile-use=${profile} -Wno-profile-instr-unprofiled -Wno-profile-instr-out-of-date
                        -Wno-backend-plugin)
  endif()
endif()

find_program(CCACHE ccache)
if(CCACHE)
  foreach(language C CXX)
    set(CMAKE_${language}_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
        CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
  endforeach()
endif()
