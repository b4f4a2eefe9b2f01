// Reads the inputs of the commands about grants: tokens, grants, keys and calls in files.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "grants/signer.h"
#include "sallyport/call.h"
#include "sallyport/json.h"

namespace sallyport::app {

// A file, `-`, or the JSON itself. An unreadable or too large token is a refusal, not a usage
// error.
Result<std::string> read_token_text(const std::string& token);

// One grant, a list of them, or `{"grants":[...]}`.
Result<json::array> read_grants(const std::filesystem::path& file);

Result<grants::Signer> read_holder_key(const std::filesystem::path& file);

// `{"server":S,"tool":S,"input":{...}}`, and `agent_id` and `effect_class` where they are known.
struct CallFile {
  Call call;
  bool names_principal = false;
  std::string effect_class;
};
Result<CallFile> read_call(const std::filesystem::path& file);

// 1 s to 30 d. `InvalidInput` for anything else.
Result<std::chrono::seconds> lifetime_from(const std::optional<std::string>& text);

// `2026-11-17T09:00:00Z`. A later time than this form can express becomes the last one that it can.
std::string time_text(std::uint64_t second);

Result<void> check_subject_key(const std::optional<std::string>& key);

}  // namespace sallyport::app
