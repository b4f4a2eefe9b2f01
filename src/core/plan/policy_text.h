// The text of a policy, kept so that a decision can be made again by it (WB-7).
#pragma once

#include <optional>
#include <string>

#include "core/record/record_reader.h"

namespace sallyport::core {

struct PolicyText {
  std::string text{};
  // For a policy that extends another one: the name as written, and the text of that policy.
  std::string base_name{};
  std::string base_text{};
};

// Key: hash of a plan. Value: the place of the entry that holds the text.
inline constexpr std::string_view kPolicyText = "policy_text";

// A policy that was in force, as its entry has it.
struct KeptPolicy {
  PolicyText text{};
  std::string source{};  // the file or the name it was loaded from
  std::uint64_t sequence = 0;
};

// No value: no text was kept for the hash, or it was erased.
Result<std::optional<KeptPolicy>> kept_policy(RecordReader& records, const std::string& hash);

}  // namespace sallyport::core
