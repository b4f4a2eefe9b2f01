// `sallyport grants`: making, narrowing, reading and revoking capability tokens.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/login_options.h"
#include "app/context.h"

namespace sallyport::app {

struct GrantOptions {
  std::string subject;
  std::filesystem::path grant;
  std::optional<std::string> ttl;
  std::optional<std::string> subject_key;
  LoginOptions login;
};
Result<int> grants_issue(const Context& context, const GrantOptions& options);

struct AttenuateOptions {
  std::string token;
  GrantOptions grant;
  std::filesystem::path key_file;
};
Result<int> grants_attenuate(const Context& context, const AttenuateOptions& options);

struct InspectOptions {
  std::string token;
  std::optional<std::filesystem::path> call;
  std::optional<std::string> principal;
  std::optional<std::string> at;
  std::vector<std::string> trust;
};
Result<int> grants_inspect(const Context& context, const InspectOptions& options);

struct RevokeOptions {
  std::string id;
  std::string reason;
  LoginOptions login;
};
Result<int> grants_revoke(const Context& context, const RevokeOptions& options);
Result<int> grants_list(const Context& context);

}  // namespace sallyport::app
