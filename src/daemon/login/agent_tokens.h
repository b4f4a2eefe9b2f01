// Maps bearer tokens to agents. Only digests are stored.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/entropy.h"
#include "net/server_request.h"
#include "workspace/config/serve_config.h"

namespace sallyport::app {

class AgentTokens {
 public:
  // The tokens of the configuration. If it names neither tokens nor an issuer, the token of this
  // machine, which is made on first use. Without tokens (`auth: none`) every agent is `local`.
  static Result<AgentTokens> open(const ServeConfig& config, std::string local,
                                  const std::filesystem::path& data_dir, Entropy& entropy);

  // Only these tokens.
  static AgentTokens of(const std::vector<ServeConfig::Agent>& agents);

  // The agent whose token is in the one `Authorization` header.
  std::optional<std::string> agent_of(const net::ServerRequest& request) const;
  // The agent that this token belongs to.
  std::optional<std::string> agent_with(std::string_view token) const;
  // The agent of every request if no token is required.
  const std::optional<std::string>& anybody() const { return anybody_; }

  // The file of this machine's token; empty: there is none.
  const std::filesystem::path& file() const { return file_; }

 private:
  struct Entry {
    std::string agent;
    Hash digest;
  };
  std::vector<Entry> entries_;
  std::optional<std::string> anybody_;
  std::filesystem::path file_;
};

}  // namespace sallyport::app
