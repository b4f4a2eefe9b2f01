// The dependencies of every part of the agent runtime.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/async.h"
#include "base/clock.h"
#include "base/entropy.h"
#include "base/keyed_digest.h"
#include "base/on_pool.h"
#include "core/call/governor.h"
#include "core/event/host_events.h"
#include "core/plan/fail_open.h"
#include "sessions/session_store.h"

namespace sallyport::agent {

// Waits. Returns false if it was cancelled. Tests pass a function that moves their clock.
using Wait = std::function<Async<bool>(std::chrono::milliseconds time, std::stop_token cancel)>;
Async<bool> wait_by_timer(std::chrono::milliseconds time, std::stop_token cancel);

// The newest record of a call of a session since a time, as readers see it (AU-1). No value: there
// is none.
using LastRecord = std::function<Result<std::optional<json::object>>(
    const std::string& session_id, const std::string& tool_call_id, WallTime since)>;

// All members must outlive the runtime. It runs on `executor`, a context with one thread.
struct RuntimeParts {
  boost::asio::any_io_executor executor;
  boost::asio::thread_pool& pool;  // for blocking work
  core::Governor& governor;
  core::Recorder& recorder;
  core::HostEvents& events;
  core::FailOpenLog& fail_open;
  const core::PlanSource& plans;
  const core::Redactor& redactor;
  const Clock& clock;
  Entropy& entropy;
  KeyedDigest digest;
  sessions::SessionStore& store;
  LastRecord last_record;
  std::filesystem::path data_folder;  // snapshots of transcripts are kept below it
  std::function<void(std::string_view line)> log;
  Wait wait = wait_by_timer;
};

// Runs `work` with the store on the pool. `work` must own everything else that it uses.
template <class Work>
auto on_store(const RuntimeParts& parts, Work work)
    -> Async<std::invoke_result_t<Work, sessions::SessionStore&>> {
  using T = std::invoke_result_t<Work, sessions::SessionStore&>;
  sessions::SessionStore& store = parts.store;
  return on_pool<T>(parts.pool, [&store, work = std::move(work)]() mutable { return work(store); });
}

}  // namespace sallyport::agent
