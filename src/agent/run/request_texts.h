// The policy's checks of what is said to a model: every text of people, of the configuration and of
// memory at the stage `input`, and what tool servers say of their tools at the stage `tool_output`.
// Results of tools have passed the second door before.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "agent/model/model.h"
#include "core/plan/stream_guard.h"

namespace sallyport::agent {

struct CheckedTexts {
  std::optional<core::TextBlock> block{};  // nothing may be sent
  std::vector<Finding> findings{};
  std::vector<Finding> tool_findings{};  // in what servers say of their tools
  std::uint64_t tools_withheld = 0;      // they are not offered
  std::uint64_t changes = 0;
  std::uint64_t bytes = 0;  // of all texts, results included
};

// Replaces in `request` what checks take out, and takes out tools that cannot be told. `guard`
// null: there are no checks.
CheckedTexts check_texts(ModelRequest& request, const core::StreamGuard* guard);

// All that the model is told, in a form that belongs to no provider: what a record commits to.
std::string request_text(const ModelRequest& request);

}  // namespace sallyport::agent
