// Calls that a model proposed through the proxy, as facts: a door behind the proxy finds them by
// agent and by the id of the model, since it does not know the session of the proxy (MP-61, MP-62).
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "core/record/record_reader.h"
#include "core/record/vault.h"
#include "sallyport/call.h"

namespace sallyport::core::model_calls {

// Agent and id of the model, as a digest: the calls that were proposed under it.
inline constexpr std::string_view kSpace = "model_call";
// Agent, session and id of the model, as a digest: a call that was left to a later door.
inline constexpr std::string_view kDeferred = "model_deferred";
// How long a proposed call is known. A hand-off expires after the same time (AU-60).
inline constexpr std::chrono::hours kKnownFor{24};
// How long a deferred call is remembered. Its result may come late, and later requests repeat it.
inline constexpr std::chrono::hours kDeferredFor{30 * 24};

struct Proposed {
  std::string call_id{};     // of a call that was handed out; empty: it was left to a later door
  std::string session_id{};  // of the proxy, if it was handed out
  std::string deferred{};    // key in `kDeferred`
  std::string tool{};        // as `tool_mark` gives it
};

// The name of a tool in the letters that model APIs allow, as a digest.
std::string tool_mark(std::string_view tool);
// True if the model may have meant this tool: clients of several servers see `server.tool`.
bool is_same_tool(const Proposed& proposed, const Call& call);

// Adds a call to those under its id. Removes calls that are too old, and the oldest over a bound.
std::shared_ptr<const FactChange> add(const Call& call, const Proposed& proposed, Vault& vault,
                                      WallTime now);
// The calls under an id, newest first.
Result<std::vector<Proposed>> find(RecordReader& records, const Vault& vault,
                                   const std::string& agent_id, const std::string& tool_call_id);

// A call that was left to a later door.
struct Deferred {
  enum class State {
    Open,      // no door has seen it yet
    Seen,      // a door has decided it
    Bypassed,  // its result came, and no door had seen it
  };
  State state = State::Open;
  std::string request_id{};  // that proposed it
  std::string asked{};       // digest of the input
  WallTime at{};
};
std::string deferred_key(const std::string& agent_id, const std::string& session_id,
                         const std::string& tool_call_id);
std::string asked_digest(const Call& call);
Fact deferred_fact(const std::string& key, const Deferred& deferred);
Result<std::optional<Deferred>> find_deferred(RecordReader& reader, const std::string& key);

}  // namespace sallyport::core::model_calls
