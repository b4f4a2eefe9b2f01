// The providers that the proxy reaches and the prices of their tokens: `serve.models` of the
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
    Client,  // the client's own key goes upstream (MP-19)
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
  std::map<std::string, std::string> rename{};  // name that agents use, to the provider's
  bool usage_as_sent = false;                   // the proxy never asks for usage (MP-73)
  std::filesystem::path ca_file{};              // more root certificates
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
  std::vector<std::pair<std::string, Price>> prices{};  // by wildcard; the first match counts
  // Headers that name the session, in lower case. The first one that is present counts (MP-90).
  std::vector<std::string> session_headers{"x-claude-code-session-id", "session_id", "session-id",
                                           "x-session-id"};
  // The longest wait for the start of an answer, and for the next byte within one (MP-78).
  std::chrono::seconds answer_time{600};
  std::chrono::seconds silence{300};

  bool operator==(const Settings&) const = default;
};

}  // namespace sallyport::proxy
