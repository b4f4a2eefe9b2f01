// `sallyport trust`: what an agent has earned, and changing it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/context.h"
#include "sallyport/classification.h"

namespace sallyport::app {

struct TrustShowOptions {
  std::optional<std::string> agent;
  std::optional<std::string> action;
  std::optional<std::string> since;
  std::optional<std::string> until;
  std::optional<std::string> tier;
  std::optional<std::string> outcome;
  std::optional<std::string> limit;
  std::optional<std::filesystem::path> file;
  std::optional<std::string> declared;  // nothing: as the policy in force says
  bool records = false;
  bool by_trace = false;
};
Result<int> trust_show(const Context& context, const TrustShowOptions& options);

struct TrustChangeOptions {
  std::string agent;
  std::string to;
  std::optional<std::string> declared;  // nothing: as the policy in force says
  std::optional<std::filesystem::path> key_file;
  std::optional<std::filesystem::path> passphrase_file;
  std::optional<std::filesystem::path> reviewers;
};
Result<int> trust_promote(const Context& context, const TrustChangeOptions& options);
Result<int> trust_demote(const Context& context, const TrustChangeOptions& options);

// Signs a change that another machine asks for, and prints it.
struct TrustSignOptions {
  std::optional<std::filesystem::path> file;
  std::optional<std::filesystem::path> key_file;
  std::optional<std::filesystem::path> passphrase_file;
};
Result<int> trust_sign(const Context& context, const TrustSignOptions& options);
// `InvalidInput` names the option.
Result<Autonomy> tier_named(const std::string& word, std::string_view option);

struct TrustExportOptions {
  std::optional<std::string> limit;
  std::optional<std::filesystem::path> out;
  std::vector<std::filesystem::path> reviewers;
};
Result<int> trust_export(const Context& context, const TrustExportOptions& options);

struct TrustVerifyOptions {
  std::optional<std::filesystem::path> file;
  std::vector<std::filesystem::path> reviewers;
  std::optional<std::string> origin;
};
Result<int> trust_verify(const Context& context, const TrustVerifyOptions& options);

}  // namespace sallyport::app
