// Runs the policy's checks on the texts of a model request. Texts of people, of the configuration
// and of memory are checked at the stage `input`; tool descriptions of servers at `tool_output`.
// Tool results are not checked here, because they have passed the second door.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "agent/model/model.h"
#include "core/plan/stream_guard.h"

namespace sallyport::agent {

struct CheckedTexts {
  std::optional<core::TextBlock> block{};  // set: the request must not be sent
  std::vector<Finding> findings{};
  std::vector<Finding> tool_findings{};  // in tool descriptions of servers
  std::uint64_t tools_withheld = 0;      // tools that are not offered
  bool recall_withheld = false;          // what was recalled is blocked and left out
  std::uint64_t changes = 0;
  std::uint64_t bytes = 0;  // of all texts, results included
};

// Redacts the texts of `request`. Removes tools with a blocked description and blocked recalled
// text. Replaces a blocked text of an earlier request by the notice of its check; only the system
// text and the newest text of a person block the request. A null `guard` means that there are no
// checks.
CheckedTexts check_texts(ModelRequest& request, const core::StreamGuard* guard);

// The whole request as text, independent of any provider. A record commits to it.
std::string request_text(const ModelRequest& request);

}  // namespace sallyport::agent
