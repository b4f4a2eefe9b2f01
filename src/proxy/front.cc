#include "proxy/front.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "core/handoff/model_calls.h"
#include "core/record/retired_facts.h"
#include "proxy/kept_messages.h"

namespace sallyport::proxy {

namespace {

constexpr std::size_t kBodyRoom = std::size_t{1} << 30;

// Model names without wildcards, which clients can request by name.
std::vector<std::string> names_of(const UpstreamList& upstreams) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  const auto add = [&](const std::string& name) {
    const bool plain = name.find_first_of("*?") == std::string::npos;
    if (plain && seen.insert(name).second) names.push_back(name);
  };
  for (const std::shared_ptr<ModelUpstream>& upstream : upstreams) {
    for (const std::string& model : upstream->settings().models) add(model);
    for (const auto& [name, other] : upstream->settings().rename) add(name);
  }
  return names;
}

json::object model_json(const std::string& name, bool anthropic) {
  if (anthropic) {
    return {{"type", "model"},
            {"id", name},
            {"display_name", name},
            {"created_at", "1970-01-01T00:00:00Z"}};
  }
  return {{"id", name}, {"object", "model"}, {"created", 0}, {"owned_by", "sallyport"}};
}

}  // namespace

ModelFront::ModelFront(Parts parts, Settings settings, UpstreamList upstreams)
    : parts_(std::move(parts)),
      continuations_(parts_.recorder, parts_.recorder, parts_.digest, parts_.clock, parts_.entropy),
      hand_offs_(parts_.governor, continuations_),
      events_(parts_.governor.emitter(), parts_.recorder, parts_.recorder),
      asides_(parts_.executor, parts_.log),
      fail_open_(parts_.recorder, parts_.log),
      meter_(parts_.metrics, parts_.latest_names),
      shared_{parts_.governor,
              hand_offs_,
              events_,
              parts_.recorder,
              parts_.plans,
              parts_.clock,
              parts_.entropy,
              parts_.digest,
              fail_open_,
              meter_,
              parts_.tracer,
              parts_.executor,
              parts_.approvals_url,
              parts_.needs_token,
              net::Quota({.all = kBodyRoom, .each = kBodyRoom / 2}),
              net::Turnstile(parts_.executor),
              asides_,
              ending_.get_token()} {
  replace(std::move(settings), std::move(upstreams));
}

ModelFront::~ModelFront() = default;

void ModelFront::replace(Settings settings, UpstreamList upstreams) {
  live_ = std::make_shared<const Live>(Live{std::move(settings), std::move(upstreams)});
}

Task<void> ModelFront::recover() {
  return close_lost_requests(parts_.recorder);
}

void ModelFront::retire_facts() {
  constexpr std::chrono::hours kOften{1};
  const SteadyTime now = parts_.clock.steady();
  if (retired_ && now - *retired_ < kOften) return;
  retired_ = now;
  asides_.start(retire_old_facts());
}

Async<void> ModelFront::retire_old_facts() {
  const Result<void> retired = co_await core::retire_facts(
      parts_.recorder,
      {{std::string(core::model_calls::kSpace), core::model_calls::kKnownFor},
       {std::string(core::model_calls::kDeferred), core::model_calls::kDeferredFor},
       {std::string(OwnedState::kSpace), OwnedState::kKnownFor},
       {std::string(KeptMessages::kSpace), KeptMessages::kKnownFor}},
      parts_.clock.wall());
  if (!retired && parts_.log) parts_.log("old facts stay: " + retired.error().message);
}

std::vector<std::string> ModelFront::open_circuits() const {
  std::vector<std::string> names;
  for (const std::shared_ptr<ModelUpstream>& upstream : live_->upstreams) {
    if (upstream->circuit().is_open()) names.push_back(upstream->settings().name);
  }
  return names;
}

Async<std::optional<net::ServerResponse>> ModelFront::refuse(net::ServerRequest& head) {
  Result<std::string> agent = co_await parts_.authenticate(head);
  if (agent) {
    head.principal = std::move(*agent);
    co_return std::nullopt;
  }
  net::ServerResponse response = net::ServerResponse::json(
      401,
      llm::error_body(api_of(head),
                      {.status = 401, .message = agent.error().message, .code = "invalid_token"}));
  response.headers.emplace_back("x-should-retry", "false");
  response.headers.emplace_back("www-authenticate", "Bearer");
  co_return response;
}

// Lists exactly the models that this agent may use, without asking a provider (MP-23).
net::ServerResponse ModelFront::models(const net::ServerRequest& request,
                                       const Route& route) const {
  const bool anthropic = request.count("anthropic-version") > 0;
  const auto plan = parts_.plans.current();
  json::array list;
  for (const std::string& name : names_of(live_->upstreams)) {
    if (!plan->model_rules().may_use(request.principal, name)) continue;
    if (route.id == name) {
      return net::ServerResponse::json(200, json::serialize(model_json(name, anthropic)));
    }
    list.push_back(model_json(name, anthropic));
  }
  const auto serves = [&](const std::shared_ptr<ModelUpstream>& upstream) {
    return upstream->serves(route.id);
  };
  // A model that only a wildcard names.
  if (!route.id.empty() && plan->model_rules().may_use(request.principal, route.id) &&
      std::ranges::any_of(live_->upstreams, serves)) {
    return net::ServerResponse::json(200, json::serialize(model_json(route.id, anthropic)));
  }
  if (!route.id.empty()) {
    return net::ServerResponse::json(
        404,
        llm::error_body(route.api, {.status = 404,
                                    .message = fmt::format("there is no model `{:.200}`", route.id),
                                    .code = "model_not_found"}));
  }
  json::object page{{"data", list}};
  if (anthropic) {
    page["has_more"] = false;
    page["first_id"] = list.empty() ? json::value() : list.front().at("id");
    page["last_id"] = list.empty() ? json::value() : list.back().at("id");
  } else {
    page["object"] = "list";
  }
  return net::ServerResponse::json(200, json::serialize(page));
}

Async<void> ModelFront::handle(net::ServerExchange& exchange) {
  const Route route = route_of(exchange.request());
  retire_facts();
  ModelExchange request(shared_, live_, exchange, route);
  if (route.kind == Route::Kind::Models) {
    co_await request.answer_here(models(exchange.request(), route));
  } else {
    co_await request.run();
  }
}

}  // namespace sallyport::proxy
