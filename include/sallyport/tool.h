// A C++ function as a tool: what it is, and what it can do while it runs.
//
//   Tool read_note{.name = "read_note",
//                  .classification = {Tier::Observe, "none"},
//                  .run = [](const Invocation& invocation) -> Result<json::value> {
//                    return json::value("text of " + std::string(
//                        invocation.call().input.at("title").as_string()));
//                  }};
//
// A function may take its time: it runs on a thread of the engine's pool, under the call's
// deadline, and maybe for several calls at once. It is not stopped by force; `stop_requested` tells
// it that nobody waits any more.
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

// One execution, as its function sees it.
class Invocation {
 public:
  // What a host puts behind it; tests may put their own.
  class Channel {
   public:
    virtual ~Channel() = default;
    virtual bool chunk(json::value piece) = 0;
    virtual void progress(json::value message) = 0;
  };
  Invocation(Call call, std::shared_ptr<Channel> channel, std::stop_token stop)
      : call_(std::move(call)), channel_(std::move(channel)), stop_(std::move(stop)) {}

  // With the input that the guards left. For a prepared tool that is the object of AU-63.
  const Call& call() const { return call_; }
  bool stop_requested() const { return stop_.stop_requested(); }
  const std::stop_token& stop_token() const { return stop_; }

  // A piece of an answer that comes in pieces. All are held until the guards of results have seen
  // them; the value that the function returns is then not used. Waits while too many are on their
  // way. False: no more is wanted.
  bool chunk(json::value piece) const { return channel_->chunk(std::move(piece)); }

  // A message on the way, for whoever waits; it passes the guards of results on its own.
  void progress(json::value message) const { channel_->progress(std::move(message)); }

 private:
  Call call_;
  std::shared_ptr<Channel> channel_;  // shared: a call that was given up on still has it
  std::stop_token stop_;
};

struct Tool {
  std::string name{};
  std::string server{};  // empty: found under any
  Classification classification{};
  // A value is the answer. An error is the tool's own failure, told to the caller.
  std::function<Result<json::value>(const Invocation&)> run{};

  // How the tool understands an input, for previews. An error denies the call.
  std::function<Result<json::value>(const Call&)> structured_input{};

  // A tool that prepares first: what it would do is shown, confirmed, and then exactly that is run.
  std::function<Result<Prepared>(const Call&)> prepare{};
  std::function<void(const std::string& operation_id)> cancel{};
  bool outlives_process = false;  // prepared operations are still there after a restart
};

// For `run` of a prepared tool that finds another revision than the one confirmed: nothing was
// done.
inline std::unexpected<Error> other_revision(std::string message) {
  return fail(ErrorCode::Conflict, std::move(message), {}, "other_revision");
}

}  // namespace sallyport
