# sallyport_module(mcp PUBLIC core PRIVATE net LIBRARIES PkgConfig::X)
#
# A folder of src/ is a target. Each target publishes an include root that holds only itself, so an
# include that the graph does not allow is a file that does not exist.
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
    sallyport_unity(sallyport_${name} ${sources})
  endif()
  target_link_libraries(sallyport_${name} PUBLIC ${M_PUBLIC} PRIVATE ${M_PRIVATE} ${M_LIBRARIES})
  sallyport_precompiled(sallyport_${name})
endfunction()

# Boost.JSON, Asio's coroutine core and the standard library cost seconds a unit; here they are paid once.
function(sallyport_precompiled target)
  if(target STREQUAL "sallyport_base")
    target_precompile_headers(sallyport_base PRIVATE ${PROJECT_SOURCE_DIR}/src/precompiled.h)
  else()
    target_precompile_headers(${target} REUSE_FROM sallyport_base)
  endif()
endfunction()

# Entries are made on one thread and freed on another, which is what mimalloc is good at (numbers in
# docs/performance.md). Sanitizers bring allocators of their own.
function(sallyport_allocator target)
  if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    target_link_options(${target} PRIVATE -Wl,--no-as-needed)
    target_link_libraries(${target} PRIVATE ${MIMALLOC_LIBRARY})
  endif()
endfunction()

# A build from nothing takes half the time when a dozen sources are one unit. A source whose own names
# clash with a neighbour's says so here and is compiled alone. The preset `dev` compiles each by itself.
function(sallyport_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
  foreach(source ${ARGN})
    file(RELATIVE_PATH short ${PROJECT_SOURCE_DIR}/src ${source})
    if(short IN_LIST SALLYPORT_ALONE)
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
endfunction()
set(SALLYPORT_ALONE
    agent/anthropic_wire.cc
    agent/chat_wire.cc
    agent/history.cc
    agent/script_model.cc
    cli/approvals_batch.cc
    cli/completion.cc
    cli/demo.cc
    cli/demo_scene.cc
    app/outside/event_feed.cc
    app/outside/http_sink.cc
    app/outside/jetstream_sink.cc
    app/records/entry_text.cc
    app/records/gaps.cc
    cli/grants_list.cc
    cli/guard_stream.cc
    cli/policy_cases.cc
    app/workbench/policy_tree.cc
    console/assets.cc
    core/approval/approvals.cc
    core/call/continuations.cc
    core/event/emitter.cc
    core/event/provider_error.cc
    core/record/recorder.cc
    core/event/runtime_error.cc
    core/event/topic_event.cc
    core/call/turns.cc
    grants/delegation.cc
    grants/path.cc
    grants/token.cc
    guards/sensitive_name.cc
    guards/settings_object.cc
    hook/codex.cc
    hook/copilot.cc
    hook/cursor.cc
    hook/gemini.cc
    ledger/entry_reader.cc
    ledger/export_tiles.cc
    ledger/opening.cc
    ledger/receipt.cc
    match/stream.cc
    mcp/http_rules.cc
    mcp/remote_old_transport.cc
    mcp/remote_session.cc
    mcp/sealed_state.cc
    mcp/switchboard.cc
    net/frame_server.cc
    net/line_reader.cc
    net/server_request.cc
    net/unix_socket.cc
    policy/policy_keys.cc
    policy/rule_keys.cc)
