// Which providers the proxy reaches, and what their tokens cost: `serve.models` of the
// configuration.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "llm/api.h"

namespace sallyport::proxy {

struct UpstreamSettings {
  enum class Key : std::uint8_t {
    None,    // no credential is sent
    Client,  // the client's own goes upstream (MP-19)
    Env,     // a variable of the environment holds it
    File,    // a file of mode 0600 holds it
  };

  std::string name{};
  llm::Api api = llm::Api::AnthropicMessages;
  std::string url{};
  Key key = Key::None;
  std::string key_env{};
  std::filesystem::path key_file{};
  std::vector<std::string> models{"*"};         // wildcards
  std::map<std::string, std::string> rename{};  // names that agents use, and the provider's
  bool usage_as_sent = false;                   // never asks for usage by itself (MP-73)
  std::filesystem::path ca_file{};              // further roots
  bool allow_http = false;                      // plain HTTP to other machines
  std::vector<std::string> pass_through{};      // paths that pass ungoverned (MP-1)

  bool operator==(const UpstreamSettings&) const = default;
};

// Dollars per million tokens, which are microdollars per token.
struct Price {
  double input = 0;
  double output = 0;
  double cache_read = 0;
  double cache_write = 0;

  bool operator==(const Price&) const = default;
};

struct Settings {
  std::vector<UpstreamSettings> upstreams{};
  std::vector<std::pair<std::string, Price>> prices{};  // by wildcards; the first that fits counts
  // Headers that name the session, in lower case; the first that is there counts (MP-90).
  std::vector<std::string> session_headers{"x-claude-code-session-id", "session_id", "session-id",
                                           "x-session-id"};
  // How long a provider may take to begin an answer, and to say nothing within one (MP-78).
  std::chrono::seconds answer_time{600};
  std::chrono::seconds silence{300};

  bool operator==(const Settings&) const = default;
};

}  // namespace sallyport::proxy
