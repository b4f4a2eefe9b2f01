// Serves the model requests of agents: `/v1/` of `sallyport serve`.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "proxy/exchange.h"

namespace sallyport::proxy {

// Used on the loop of the gate.
class ModelFront final : public net::HttpHandler {
 public:
  // Returns the agent of a request. `Unauthenticated` says why it is refused.
  using Authenticate = std::function<Task<std::string>(const net::ServerRequest& request)>;
  struct Parts {
    core::Governor& governor;
    core::Recorder& recorder;
    const core::PlanSource& plans;
    const Clock& clock;
    Entropy& entropy;
    KeyedDigest digest;
    Metrics& metrics;
    bool latest_names = false;  // metric names by OTEL_SEMCONV_STABILITY_OPT_IN
    telemetry::Tracer& tracer;
    boost::asio::any_io_executor executor;
    std::string approvals_url;
    Authenticate authenticate;
    std::function<bool()> needs_token;  // false: every client is admitted, with any token
    std::function<void(std::string_view)> log;
  };
  ModelFront(Parts parts, Settings settings, UpstreamList upstreams);
  ~ModelFront() override;

  // Ends requests that a dead process left open. Call it before the first request.
  Task<void> recover();
  // Replaces the configuration from the next request on.
  void replace(Settings settings, UpstreamList upstreams);
  // Ends running streams with the failure frame of their API.
  void end_streams() { ending_.request_stop(); }
  // The upstreams that currently get no requests.
  std::vector<std::string> open_circuits() const;

  Async<std::optional<net::ServerResponse>> refuse(net::ServerRequest& head) override;
  Async<void> handle(net::ServerExchange& exchange) override;
  bool answers_unread() const override { return true; }

 private:
  net::ServerResponse models(const net::ServerRequest& request, const Route& route) const;
  // Deletes old facts about requests, once an hour.
  void retire_facts();
  Async<void> retire_old_facts();

  Parts parts_;
  std::shared_ptr<const Live> live_;  // shared with the requests that began with it
  std::stop_source ending_;
  core::Continuations continuations_;
  core::HandOffs hand_offs_;
  core::HostEvents events_;
  net::TaskGroup asides_;
  core::FailOpenLog fail_open_;
  Meter meter_;
  std::optional<SteadyTime> retired_;
  Shared shared_;
};

}  // namespace sallyport::proxy
