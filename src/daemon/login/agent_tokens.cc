#include "daemon/login/agent_tokens.h"

#include <algorithm>

#include "base/encoding.h"
#include "base/try.h"
#include "daemon/login/bearer.h"
#include "ledger/secret/private_file.h"
#include "terminal/input.h"

namespace sallyport::app {

namespace {

// Compares in constant time.
bool same(const Hash& a, const Hash& b) {
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned>(a[i] ^ b[i]);
  return difference == 0;
}

Result<std::string> local_token(const std::filesystem::path& file, Entropy& entropy) {
  SALLYPORT_TRY(const std::optional<std::string> there, ledger::read_private_file(file));
  if (there) return std::string(trimmed(*there));
  std::array<std::uint8_t, 32> random{};
  entropy.fill(random);
  std::string made = "sp_" + hex(random);
  SALLYPORT_TRY(const bool is_ours, ledger::create_private_file(file, made + '\n'));
  if (is_ours) return made;
  return local_token(file, entropy);
}

}  // namespace

AgentTokens AgentTokens::of(const std::vector<ServeConfig::Agent>& agents) {
  AgentTokens tokens;
  for (const ServeConfig::Agent& agent : agents) {
    Entry entry{.agent = agent.name, .digest = {}};
    const std::string bytes = *from_hex(agent.token_sha256);
    std::ranges::copy(bytes, entry.digest.begin());
    tokens.entries_.push_back(std::move(entry));
  }
  return tokens;
}

Result<AgentTokens> AgentTokens::open(const ServeConfig& config, std::string local,
                                      const std::filesystem::path& data_dir, Entropy& entropy) {
  AgentTokens tokens = of(config.agents);
  if (!config.needs_token) {
    tokens.anybody_ = std::move(local);
    return tokens;
  }
  if (!tokens.entries_.empty() || config.authorization) return tokens;
  tokens.file_ = data_dir / "keys" / "local.token";
  SALLYPORT_TRY(const std::string token, local_token(tokens.file_, entropy));
  if (token.size() < 32) {
    return fail(ErrorCode::InvalidInput,
                "the token is shorter than 32 characters; remove the file and another one is made",
                tokens.file_.string());
  }
  tokens.entries_.push_back({std::move(local), sha256(token)});
  return tokens;
}

std::optional<std::string> AgentTokens::agent_of(const net::ServerRequest& request) const {
  if (anybody_) return anybody_;
  const auto token = bearer_of(request);
  return token ? agent_with(*token) : std::nullopt;
}

std::optional<std::string> AgentTokens::agent_with(std::string_view token) const {
  const Hash given = sha256(token);
  const Entry* found = nullptr;
  for (const Entry& entry : entries_) {
    if (same(entry.digest, given)) found = &entry;
  }
  return found ? std::optional(found->agent) : std::nullopt;
}

}  // namespace sallyport::app
