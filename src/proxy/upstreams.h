// The providers behind the proxy: connections, credentials, and circuits that open when one fails.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
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

  // How long it stays open; no value: an attempt may be made.
  std::optional<std::chrono::seconds> blocked();
  bool is_open() const;
  void failed();
  void worked();

 private:
  const Clock& clock_;
  std::deque<SteadyTime> failures_;
  std::optional<SteadyTime> open_until_;
  bool testing_ = false;
};

// A variable of the environment; no value: it is not set.
using Variable = std::function<std::optional<std::string>(const std::string& name)>;

// One provider. Requests hold it shared: a reload leaves those that run what they began with.
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
  // Our key for it; empty where it takes none, or the client's. `Unavailable`: the variable is not
  // set, or the file cannot be read or is open to others.
  Result<std::string> key() const;
  // The path of a route below the path of its address.
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
