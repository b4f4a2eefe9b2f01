// A C++ function as a tool, and what the function can do while it runs.
//
//   Tool read_note{.name = "read_note",
//                  .classification = {Tier::Observe, "none"},
//                  .run = [](const Invocation& invocation) -> Result<json::value> {
//                    return json::value("text of " + std::string(
//                        invocation.call().input.at("title").as_string()));
//                  }};
//
// The function may block. It runs on a thread of the engine's pool, under the deadline of the call,
// and possibly for several calls at once. The engine does not stop it by force. `stop_requested`
// tells it that the caller no longer waits.
#pragma once

#include <boost/json/value.hpp>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "sallyport/call.h"
#include "sallyport/classification.h"
#include "sallyport/json.h"
#include "sallyport/prepared.h"
#include "sallyport/result.h"

namespace sallyport {

// One run of a tool. The engine creates it and passes it to the function. The function may use it
// on any thread.
class Invocation {
 public:
  // Where pieces and progress messages go. The engine implements it; tests may implement their own.
  class Channel {
   public:
    virtual ~Channel() = default;
    virtual bool chunk(json::value piece) = 0;
    virtual void progress(json::value message) = 0;
  };
  Invocation(Call call, std::shared_ptr<Channel> channel, std::stop_token stop)
      : call_(std::move(call)), channel_(std::move(channel)), stop_(std::move(stop)) {}

  // The call with its final input, after all guards. For a prepared tool the input is the object of
  // `effective_input` (AU-63).
  const Call& call() const { return call_; }
  bool stop_requested() const { return stop_.stop_requested(); }
  const std::stop_token& stop_token() const { return stop_; }

  // Sends one piece of an answer that comes in pieces. The engine holds all pieces until the result
  // guards have seen them, and ignores the value that the function returns. Blocks while too many
  // pieces are queued. Returns false if the engine takes no more pieces.
  bool chunk(json::value piece) const { return channel_->chunk(std::move(piece)); }

  // Sends a progress message to the caller. The result guards judge each message by itself.
  void progress(json::value message) const { channel_->progress(std::move(message)); }

 private:
  Call call_;
  std::shared_ptr<Channel> channel_;  // shared: an abandoned call still uses it
  std::stop_token stop_;
};

// A value. What `EngineBuilder::tool` takes.
struct Tool {
  std::string name{};
  std::string server{};  // empty: the tool answers calls to any server
  Classification classification{};
  // Runs the tool. A value is the answer. An error is the tool's failure; the caller receives it.
  std::function<Result<json::value>(const Invocation&)> run{};

  // Returns the input as the tool reads it, for previews. An error denies the call.
  std::function<Result<json::value>(const Call&)> structured_input{};

  // Set by a tool that prepares first. A person sees and confirms what was prepared, and exactly
  // that runs.
  std::function<Result<Prepared>(const Call&)> prepare{};
  std::function<void(const std::string& operation_id)> cancel{};
  bool outlives_process = false;  // prepared operations survive a restart of the process
};

// The error that `run` of a prepared tool returns if it finds another revision than the confirmed
// one. It means that nothing was done.
inline std::unexpected<Error> other_revision(std::string message) {
  return fail(ErrorCode::Conflict, std::move(message), {}, "other_revision");
}

}  // namespace sallyport
