#include "daemon/door/model_door.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "base/run_on.h"
#include "base/try.h"
#include "machine/environment.h"
#include "proxy/budgets.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kLargestBody = 64u << 20;
constexpr std::chrono::seconds kUnreadTime{120};  // for a client that does not read its stream

// Each stream has two connections.
void allow_many_files() {
  struct rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &limit);
}

// The variable is a list of words; only one of them concerns us.
bool wants_latest_names() {
  const std::string words =
      "," + variable_of_this_process("OTEL_SEMCONV_STABILITY_OPT_IN").value_or("") + ",";
  return words.find(",gen_ai_latest_experimental,") != std::string::npos;
}

// Looked up when they are read: other processes on the ledger spend too.
void show_budgets(Gate& gate) {
  MetricNumbers& used = gate.metrics().gauge(
      "sallyport_model_budget_used_ratio",
      "How full a budget of the policy is, by the limit that is nearest; 1 is full.",
      {"agent", "model", "per"});
  gate.metrics().before_reading([&gate, &used] {
    const std::shared_ptr<const core::Plan> plan = gate.plans().current();
    const auto uses =
        proxy::budget_uses(plan->model_rules(), gate.recorder(), gate.workspace().clock().wall());
    if (!uses) return;
    for (const proxy::BudgetUse& use : *uses) {
      used.at({use.agent, use.model, use.per}).set(use.ratio);
    }
  });
}

}  // namespace

// Clients probe whether a server is there (MP-1).
class ModelDoor::Root final : public net::HttpHandler {
 public:
  Async<std::optional<net::ServerResponse>> refuse(net::ServerRequest& head) override {
    const bool looks = head.path == "/" && (head.method == "HEAD" || head.method == "GET");
    if (looks) co_return std::nullopt;
    co_return net::ServerResponse::text(
        404, "no page at this path; see /mcp, /v1, /console/ and /api/v1\n");
  }
  Async<void> handle(net::ServerExchange& exchange) override {
    co_await exchange.respond({.status = 200});
  }
};

ModelDoor::ModelDoor(Gate& gate, Authenticator& authenticator, std::string approvals_url)
    : gate_(gate),
      authenticator_(authenticator),
      approvals_url_(std::move(approvals_url)),
      ending_(gate.loop()),
      root_(std::make_unique<Root>()) {}

ModelDoor::~ModelDoor() = default;

Result<ModelDoor::Change> ModelDoor::prepare(const proxy::Settings& settings) {
  SALLYPORT_TRY(proxy::UpstreamList upstreams,
                proxy::open_upstreams(gate_.loop().get_executor(), settings,
                                      gate_.workspace().clock(), variable_of_this_process));
  for (const auto& upstream : upstreams) {
    const Result<std::string> key = upstream->key();
    if (key) continue;
    gate_.log(fmt::format("warning: the upstream `{}` has no key, so its requests are refused: {}",
                          upstream->settings().name, key.error().message));
  }
  return Change{settings, std::move(upstreams)};
}

Result<void> ModelDoor::open(const proxy::Settings& settings) {
  SALLYPORT_TRY(Change change, prepare(settings));
  allow_many_files();
  Workspace& workspace = gate_.workspace();
  front_ = std::make_unique<proxy::ModelFront>(
      proxy::ModelFront::Parts{.governor = gate_.governor(),
                               .recorder = gate_.recorder(),
                               .plans = gate_.plans(),
                               .clock = workspace.clock(),
                               .entropy = workspace.entropy(),
                               .digest = gate_.ledger().digest(),
                               .metrics = gate_.metrics(),
                               .latest_names = wants_latest_names(),
                               .tracer = gate_.tracer(),
                               .executor = gate_.loop().get_executor(),
                               .approvals_url = approvals_url_,
                               .authenticate =
                                   [this](const net::ServerRequest& request) {
                                     return authenticator_.model_principal_of(request);
                                   },
                               .needs_token = [this] { return !authenticator_.tokens().anybody(); },
                               .log = [this](std::string_view line) { gate_.log(line); }},
      std::move(change.settings), std::move(change.upstreams));
  show_budgets(gate_);
  return run_on(gate_.loop(), front_->recover());
}

void ModelDoor::route(net::HttpServer& server) {
  server.route("/v1/", *front_, {.body_bytes = kLargestBody, .write = kUnreadTime});
  // Paths of Gemini, which are refused and recorded (MP-1).
  for (const char* const path : {"/v1alpha/", "/v1beta/", "/v1beta1/", "/upload/"}) {
    server.route(path, *front_);
  }
  server.route("/", *root_);
}

void ModelDoor::apply(Change change) {
  front_->replace(std::move(change.settings), std::move(change.upstreams));
}

void ModelDoor::stop(std::chrono::milliseconds patience) {
  ending_.expires_after(patience);
  ending_.async_wait([this](const boost::system::error_code& error) {
    if (!error) front_->end_streams();
  });
}

void ModelDoor::stopped() {
  ending_.cancel();
  front_->replace({}, {});  // also closes idle connections
}

std::vector<std::string> ModelDoor::open_circuits() const {
  return front_->open_circuits();
}

}  // namespace sallyport::app
