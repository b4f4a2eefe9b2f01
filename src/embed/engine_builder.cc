#include <fmt/format.h>
#include <stdlib.h>

#include <boost/json.hpp>
#include <set>

#include "base/try.h"
#include "embed/engine_body.h"
#include "embed/function_parts.h"
#include "embed/function_tool.h"
#include "embed/run_task.h"
#include "guards/detectors.h"
#include "guards/output_sanitizer.h"
#include "guards/query_result.h"
#include "guards/size_limiter.h"
#include "guards/storage_redactor.h"
#include "ledger/private_file.h"
#include "policy/policy.h"

namespace sallyport {

namespace {

using Pool = boost::asio::thread_pool;

core::IntentDurability promptness(WriteIntents durability) {
  switch (durability) {
    case WriteIntents::Strict:
      return core::IntentDurability::Strict;
    case WriteIntents::Effect:
      return core::IntentDurability::Effect;
    case WriteIntents::Relaxed:
      break;
  }
  return core::IntentDurability::Relaxed;
}

std::unexpected<Error> no_function(const std::string& what, const std::string& name) {
  return fail(ErrorCode::InvalidInput, fmt::format("{} `{}` has no function", what, name), what);
}

// The ledger's own name in errors of events.
constexpr std::string_view kAuditHook = "audit";

Result<void> check_tools(const std::vector<Tool>& tools) {
  std::set<std::pair<std::string, std::string>> names;
  for (const Tool& tool : tools) {
    const auto refused = [&](const char* what) {
      return fail(ErrorCode::InvalidInput, fmt::format("tool `{}` {}", tool.name, what), "tool");
    };
    if (tool.name.empty()) return refused("has no name");
    if (!tool.run) return refused("has no function");
    if (!names.emplace(tool.server, tool.name).second) return refused("is there twice");
  }
  return {};
}

Result<std::filesystem::path> temporary_folder() {
  std::string name = (std::filesystem::temp_directory_path() / "sallyport-XXXXXX").string();
  if (mkdtemp(name.data()) != nullptr) return std::filesystem::path(name);
  return fail(ErrorCode::Unavailable, "no temporary folder can be made");
}

}  // namespace

struct EngineBuilder::Parts {
  // What a guard needs is there only once the engine is being put together.
  using AddToPlan = std::function<Result<void>(core::PlanBuilder&, Engine::Body&)>;

  std::filesystem::path data_folder;
  std::vector<Tool> tools;
  std::vector<AddToPlan> plan;
  template <class Function>
  struct Listener {
    std::string name;
    Function function;
    ListenerOptions options;
  };
  std::vector<Listener<Hook>> hooks;
  std::vector<Listener<Sink>> sinks;
  Approver approver;
  core::PlanBuilder settings;
  unsigned threads = 8;
  std::optional<Error> refused;  // the first thing that cannot be

  void refuse(const std::unexpected<Error>& error) {
    if (!refused) refused = error.error();
  }

  // `has_function`: of a guard that is there and cannot be asked.
  void add(const std::string& name, bool has_function, bool fail_open, AddToPlan step) {
    if (!has_function) refuse(no_function("guard", name));
    plan.push_back(std::move(step));
    if (fail_open) settings.fail_open(name);
  }

  void check_time(std::string_view name, std::chrono::milliseconds time) {
    if (time > std::chrono::milliseconds::zero()) return;
    refuse(fail(ErrorCode::InvalidInput, fmt::format("`{}` is not above zero", name),
                std::string(name)));
  }

  Result<void> check_listeners() const;

  void add_policy(std::function<Result<policy::Policy>()> read) {
    plan.push_back(
        [read = std::move(read)](core::PlanBuilder& builder, Engine::Body& body) -> Result<void> {
          SALLYPORT_TRY(const policy::Policy policy, read());
          SALLYPORT_TRY(auto guardrails, policy::compile_guardrails(policy, 1));
          SALLYPORT_CHECK_OK(policy::add_to_plan(
              builder, policy, std::move(guardrails),
              {body.clock, body.entropy, body.ledger->fingerprint_key(), body.ledger.get()}));
          // What the program says of tiers holds where the policy says nothing.
          if (!policy.autonomy) builder.autonomy_rules(nullptr);
          return {};
        });
  }
};

EngineBuilder::EngineBuilder(std::filesystem::path data_folder)
    : parts_(std::make_unique<Parts>()) {
  parts_->data_folder = std::move(data_folder);
}

EngineBuilder::EngineBuilder(EngineBuilder&&) noexcept = default;
EngineBuilder::~EngineBuilder() = default;

EngineBuilder& EngineBuilder::policy(std::string text) {
  parts_->add_policy([text = std::move(text)] { return policy::read_policy(text, "policy"); });
  return *this;
}

EngineBuilder& EngineBuilder::policy_file(std::filesystem::path file) {
  parts_->add_policy([file = std::move(file)] { return policy::load_policy(file); });
  return *this;
}

EngineBuilder& EngineBuilder::tool(Tool tool) {
  parts_->settings.tool(tool.server, tool.name, tool.classification);
  parts_->tools.push_back(std::move(tool));
  return *this;
}

EngineBuilder& EngineBuilder::guard(std::string name, Guard judge, GuardOptions options) {
  parts_->add(name, static_cast<bool>(judge), options.fail_open,
              [=](core::PlanBuilder& plan, Engine::Body& body) -> Result<void> {
                plan.guard(embed::make_guard(name, judge, options, *body.pool));
                return {};
              });
  return *this;
}

EngineBuilder& EngineBuilder::result_guard(std::string name, ResultGuard judge,
                                           GuardOptions options) {
  parts_->add(name, static_cast<bool>(judge), options.fail_open,
              [=](core::PlanBuilder& plan, Engine::Body& body) -> Result<void> {
                plan.result_guard(embed::make_result_guard(name, judge, options, *body.pool));
                return {};
              });
  return *this;
}

EngineBuilder& EngineBuilder::pre_hook(std::string name, PreHook decide, GuardOptions options) {
  parts_->add(name, static_cast<bool>(decide), options.fail_open,
              [=](core::PlanBuilder& plan, Engine::Body& body) -> Result<void> {
                plan.guard(embed::make_pre_hook(name, decide, options, false, *body.pool));
                return {};
              });
  return *this;
}

EngineBuilder& EngineBuilder::rewriting_hook(std::string name, PreHook decide,
                                             GuardOptions options) {
  parts_->add(name, static_cast<bool>(decide), options.fail_open,
              [=](core::PlanBuilder& plan, Engine::Body& body) -> Result<void> {
                plan.guard(embed::make_pre_hook(name, decide, options, true, *body.pool));
                return {};
              });
  return *this;
}

EngineBuilder& EngineBuilder::authorizer(std::string name, Authorizer authorize,
                                         GuardOptions options) {
  parts_->add(name, static_cast<bool>(authorize), options.fail_open,
              [=](core::PlanBuilder& plan, Engine::Body& body) -> Result<void> {
                plan.guard(embed::make_authorizer(name, authorize, options, *body.pool));
                return {};
              });
  return *this;
}

EngineBuilder& EngineBuilder::output_sanitizer(json::value settings) {
  parts_->plan.push_back([=](core::PlanBuilder& plan, Engine::Body& body) -> Result<void> {
    SALLYPORT_TRY(guards::SanitizerSettings read, guards::sanitizer_settings_from_json(settings));
    SALLYPORT_TRY(auto guard, guards::OutputSanitizer::build(
                                  std::move(read), body.ledger->fingerprint_key(), body.clock));
    plan.result_guard(std::move(guard));
    return {};
  });
  return *this;
}

EngineBuilder& EngineBuilder::size_limiter(json::value settings) {
  parts_->plan.push_back([=](core::PlanBuilder& plan, Engine::Body&) -> Result<void> {
    SALLYPORT_TRY(const guards::SizeLimits limits, guards::size_limits_from_json(settings));
    plan.result_guard(std::make_shared<guards::SizeLimiter>(limits));
    return {};
  });
  return *this;
}

EngineBuilder& EngineBuilder::query_result() {
  parts_->plan.push_back([](core::PlanBuilder& plan, Engine::Body&) -> Result<void> {
    plan.result_guard(std::make_shared<guards::QueryResult>());
    return {};
  });
  return *this;
}

EngineBuilder& EngineBuilder::hook(std::string name, Hook hear, ListenerOptions options) {
  parts_->hooks.push_back({std::move(name), std::move(hear), options});
  return *this;
}

EngineBuilder& EngineBuilder::sink(std::string name, Sink take, ListenerOptions options) {
  parts_->sinks.push_back({std::move(name), std::move(take), options});
  return *this;
}

EngineBuilder& EngineBuilder::approver(Approver answer) {
  parts_->approver = std::move(answer);
  return *this;
}

EngineBuilder& EngineBuilder::autonomy(Autonomy autonomy) {
  parts_->settings.autonomy(autonomy);
  return *this;
}

EngineBuilder& EngineBuilder::durability(WriteIntents durability) {
  parts_->settings.durability(promptness(durability));
  return *this;
}

EngineBuilder& EngineBuilder::time_limit(std::chrono::milliseconds limit) {
  parts_->check_time("time_limit", limit);
  parts_->settings.time_limit(limit);
  return *this;
}

EngineBuilder& EngineBuilder::approval_time(std::chrono::seconds time) {
  parts_->check_time("approval_time", time);
  parts_->settings.approval_time(time);
  return *this;
}

EngineBuilder& EngineBuilder::threads(unsigned count) {
  parts_->threads = std::max(count, 1u);
  return *this;
}

Result<void> EngineBuilder::Parts::check_listeners() const {
  for (const Listener<Hook>& hook : hooks) {
    if (!hook.function) return no_function("hook", hook.name);
    if (hook.name == kAuditHook) {
      return fail(ErrorCode::InvalidInput, "hook name `audit` is the ledger's", "hook");
    }
  }
  std::set<std::string_view> names;
  for (const Listener<Sink>& sink : sinks) {
    if (!sink.function) return no_function("sink", sink.name);
    if (sink.name.empty() || !names.insert(sink.name).second) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("sink name `{}` is empty or used twice", sink.name), "sink");
    }
  }
  return {};
}

Result<void> Engine::Body::open_ledger(std::filesystem::path folder) {
  if (folder.empty()) {
    SALLYPORT_TRY(temporary, temporary_folder());
    folder = temporary;
  }
  // The program may change its directory later.
  folder = std::filesystem::absolute(folder);
  SALLYPORT_CHECK_OK(ledger::make_private_folder(folder));
  SALLYPORT_TRY(std::shared_ptr<const guards::Detectors> detectors, guards::Detectors::build());
  redactor = std::make_unique<guards::StorageRedactor>(std::move(detectors));
  SALLYPORT_TRY(store, sallyport::store::SqliteStore::open({.file = folder / "ledger.db"}));
  SALLYPORT_TRY(ledger,
                ledger::Ledger::open(
                    {*store, *redactor, clock, entropy, core::close_interrupted},
                    {.data_folder = folder, .role = "embedded", .witness = folder / "witness"}));
  return {};
}

Result<std::unique_ptr<Engine>> EngineBuilder::open() {
  const std::unique_ptr<Parts> parts = std::exchange(parts_, std::make_unique<Parts>());
  if (parts->refused) return std::unexpected(*parts->refused);
  SALLYPORT_CHECK_OK(check_tools(parts->tools));
  SALLYPORT_CHECK_OK(parts->check_listeners());
  auto body = std::make_unique<Engine::Body>();
  SALLYPORT_CHECK_OK(body->open_ledger(parts->data_folder));
  body->pool = std::make_unique<Pool>(parts->threads);
  for (int i = 0; i < 2; ++i) body->loops.emplace_back([&loop = body->loop] { loop.run(); });

  for (const Parts::AddToPlan& step : parts->plan) {
    SALLYPORT_CHECK_OK(step(parts->settings, *body));
  }
  SALLYPORT_TRY(auto plan, parts->settings.build());
  body->policy_hash = plan->hash();
  SALLYPORT_TRY(const auto before, body->ledger->fact("policy", "hash"));
  body->plans = std::make_unique<core::PlanShelf>(*body->ledger, before.value_or(""));
  SALLYPORT_CHECK_OK(embed::run_task(
      body->loop, body->plans->load(std::move(plan), {.source = "program", .who = "program"})));

  core::Governor::Parts governed{*body->plans, *body->ledger, *body->redactor,
                                 body->clock,  body->entropy, body->ledger->digest()};
  const auto thread_for = [&](const ListenerOptions& options) -> Pool* {
    if (!options.waits) return nullptr;
    return body->listeners.emplace_back(std::make_unique<Pool>(1)).get();
  };
  for (auto& [name, hear, options] : parts->hooks) {
    SALLYPORT_CHECK_OK(governed.hooks.with_hook(
        embed::make_hook(name, std::move(hear), options.limit, thread_for(options))));
  }
  for (auto& [name, take, options] : parts->sinks) {
    governed.sinks.push_back(
        embed::make_sink(name, std::move(take), options.limit, thread_for(options)));
  }
  if (parts->approver) {
    governed.approver = embed::make_approver(std::move(parts->approver), *body->pool);
  }
  for (Tool& tool : parts->tools) {
    const std::pair key(tool.server, tool.name);
    body->tools[key] = embed::make_function_tool(std::move(tool), *body->pool);
  }
  const bool sinks = !governed.sinks.empty();
  body->governor = std::make_unique<core::Governor>(std::move(governed));
  if (sinks) body->listen_for_unheard();
  body->continuations = std::make_unique<core::Continuations>(*body->ledger, body->ledger->digest(),
                                                              body->clock, body->entropy);
  body->turns = std::make_unique<core::Turns>(
      *body->governor, *body->continuations,
      [raw = body.get()](const Call& call) { return raw->find_tool(call); });
  body->hand_offs = std::make_unique<core::HandOffs>(*body->governor, *body->continuations);
  body->questions = std::make_unique<core::Questions>(core::Questions::Parts{
      *body->plans, *body->ledger, body->clock, body->entropy, body->governor->approvals()});
  SALLYPORT_CHECK_OK(embed::run_task(body->loop, body->governor->start()));
  SALLYPORT_CHECK_OK(embed::run_task(body->loop, body->hand_offs->expire()));
  return std::unique_ptr<Engine>(new Engine(std::move(body)));
}

}  // namespace sallyport
