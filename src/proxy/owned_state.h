// The owners of state that providers keep. An id works only for the agent that obtained it through
// this proxy, also after a restart (MP-25). Stored as facts beside the log.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "core/record/record_reader.h"
#include "llm/responses_request.h"

namespace sallyport::proxy {

class OwnedState {
 public:
  explicit OwnedState(core::RecordReader& reader) : reader_(reader) {}

  struct Owner {
    std::string agent_id;
    std::string upstream;
    std::string request_id;  // the request that obtained it
    // Calls that the provider keeps and the client never received (MP-64).
    std::vector<llm::UnansweredCall> unanswered{};
    WallTime at{};  // when it was last used
  };
  // No value: no agent obtained the id through this proxy.
  std::optional<Owner> find(const std::string& kind, const std::string& id) const;
  // State that was not used for this time is forgotten. Its id then works for no agent.
  static constexpr std::chrono::hours kKnownFor{30 * 24};
  static constexpr std::string_view kSpace = "model_state";
  // Written with the record of the request that deleted the state.
  static core::Fact gone(const std::string& kind, const std::string& id);
  // Written with the record of the request that obtained the state.
  static core::Fact fact(const std::string& kind, const std::string& id, const Owner& owner);

 private:
  core::RecordReader& reader_;
};

}  // namespace sallyport::proxy
