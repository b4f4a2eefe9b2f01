// The providers behind the proxy: connections, credentials, and circuit breakers.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <deque>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "net/http_client.h"
#include "proxy/settings.h"

namespace sallyport::proxy {

// Five transient errors in a row within 30 s open it for 15 s; then one request tests it (MP-76).
class Circuit {
 public:
  explicit Circuit(const Clock& clock) : clock_(clock) {}

  // The right to make attempts. One request at a time has the right to test an open circuit: until
  // an attempt has worked or failed, or until this is destroyed.
  struct Attempt {
    std::shared_ptr<const bool> test;  // null: it tests nothing
  };
  // An error: the time until an attempt may be made.
  [[nodiscard]] std::expected<Attempt, std::chrono::seconds> allow();
  bool is_open() const;
  void failed();
  void begun();   // the head of an answer has come, which ends a test: others need not wait longer
  void worked();  // the whole answer has come

 private:
  const Clock& clock_;
  std::deque<SteadyTime> failures_;
  std::optional<SteadyTime> open_until_;
  std::weak_ptr<const bool> test_;  // of the request that tests; expired: none does
};

// Returns an environment variable; no value: it is not set.
using Variable = std::function<std::optional<std::string>(const std::string& name)>;

// One provider. Requests share it, so that a request that runs during a reload keeps its provider.
class ModelUpstream {
 public:
  // `InvalidInput`: the address or the CA file is not usable.
  static Result<std::shared_ptr<ModelUpstream>> open(boost::asio::any_io_executor executor,
                                                     UpstreamSettings settings, const Clock& clock,
                                                     Variable variable);

  const UpstreamSettings& settings() const { return settings_; }
  bool serves(const std::string& model) const;
  // The provider's name of a model.
  std::string renamed(const std::string& model) const;
  // Our key for the provider; empty if it takes none or the client's key. `Unavailable`: the
  // variable is not set, or the file cannot be read or is open to others.
  Result<std::string> key() const;
  // True for two entries of one provider, such as one for each API.
  bool shares_host_with(const ModelUpstream& other) const {
    return url_.tls == other.url_.tls && url_.authority() == other.url_.authority();
  }
  // The path of a request, below the path of the provider's address.
  std::string target(std::string_view path, std::string_view query) const;
  std::unique_ptr<net::HttpExchange> exchange() { return client_->exchange(); }
  Circuit& circuit() { return circuit_; }
  const Circuit& circuit() const { return circuit_; }

 private:
  ModelUpstream(UpstreamSettings settings, net::Url url, std::unique_ptr<net::HttpClient> client,
                const Clock& clock, Variable variable)
      : settings_(std::move(settings)),
        url_(std::move(url)),
        client_(std::move(client)),
        variable_(std::move(variable)),
        circuit_(clock) {}

  UpstreamSettings settings_;
  net::Url url_;
  std::unique_ptr<net::HttpClient> client_;
  Variable variable_;
  Circuit circuit_;
};

using UpstreamList = std::vector<std::shared_ptr<ModelUpstream>>;

Result<UpstreamList> open_upstreams(boost::asio::any_io_executor executor, const Settings& settings,
                                    const Clock& clock, const Variable& variable);

}  // namespace sallyport::proxy
