#include <fmt/format.h>
#include <stdlib.h>

#include <boost/json.hpp>
#include <map>
#include <set>

#include "agent/tool/tools.h"
#include "autonomy/policy_rules.h"
#include "autonomy/trust_memory.h"
#include "base/try.h"
#include "embed/engine_body.h"
#include "embed/function_parts.h"
#include "embed/function_tool.h"
#include "embed/run_task.h"
#include "guards/detect/detectors.h"
#include "guards/query_result.h"
#include "guards/redact/output_sanitizer.h"
#include "guards/redact/storage_redactor.h"
#include "guards/size_limiter.h"
#include "ledger/secret/private_file.h"
#include "policy/policy.h"
#include "policy/reviewer_file.h"
#include "store/open_store.h"

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

Result<std::filesystem::path> temporary_folder() {
  std::string name = (std::filesystem::temp_directory_path() / "sallyport-XXXXXX").string();
  if (mkdtemp(name.data()) != nullptr) return std::filesystem::path(name);
  return fail(ErrorCode::Unavailable, "no temporary folder can be made");
}

}  // namespace

struct EngineBuilder::Parts {
  // Adds a guard to the plan. It runs late, because a guard needs parts of the engine.
  using AddToPlan = std::function<Result<void>(core::PlanBuilder&, Engine::Body&)>;

  std::filesystem::path data_folder;
  std::optional<store::SharedLog> shared_log;  // none: a file of the data folder
  std::string home_folder;                     // empty: unknown
  std::map<std::string, std::string> variables;
  std::vector<Tool> tools;
  std::vector<AddToPlan> plan;
  // Kept only if the policy alone is the plan; otherwise the plan has another hash (WB-7).
  std::shared_ptr<const core::PolicyText> policy_text;
  std::string policy_alone;
  template <class Function>
  struct Listener {
    std::string name;
    Function function;
    ListenerOptions options;
  };
  std::vector<Listener<RowHook>> hooks;
  std::vector<Listener<Sink>> sinks;
  Approver approver;
  core::PlanBuilder settings;
  std::optional<Autonomy> autonomy;           // where the program says one
  std::vector<autonomy::PolicyScope> scopes;  // of the policy
  unsigned threads = 8;
  std::optional<Error> refused;  // the first thing that cannot be

  void refuse(const std::unexpected<Error>& error) {
    if (!refused) refused = error.error();
  }

  // Adds a function of the program that judges. `make` builds a guard that calls it.
  template <class Judge>
  void add(const std::string& name, const Judge& judge, const GuardOptions& options,
           std::function<void(core::PlanBuilder&, Pool&)> make) {
    if (!judge) refuse(no_function("guard", name));
    if (options.fail_open) settings.fail_open(name);
    plan.push_back([make = std::move(make)](core::PlanBuilder& builder, Engine::Body& body) {
      make(builder, *body.pool);
      return Result<void>();
    });
  }

  void check_time(std::string_view name, std::chrono::milliseconds time) {
    if (time > std::chrono::milliseconds::zero()) return;
    refuse(fail(ErrorCode::InvalidInput, fmt::format("`{}` is not above zero", name),
                std::string(name)));
  }

  Result<void> check_tools() const;
  Result<void> check_listeners() const;
  // The functions below build an engine, in this order. Each may move from the parts it uses.
  Result<void> load_plan(Engine::Body& body);
  Result<void> make_governor(Engine::Body& body);

  std::shared_ptr<external::Host> host(const Engine::Body& body) const {
    const auto variable = [known = variables](const std::string& name) {
      const auto found = known.find(name);
      return found == known.end() ? std::nullopt : std::optional(found->second);
    };
    return std::make_shared<external::Host>(
        *body.redactor,
        external::Host::Settings{.variable = variable, .data_folder = body.folder.string()});
  }

  // `file`: the file of the policy; empty: it has none.
  void add_policy(std::function<Result<policy::Policy>()> read, const std::string& file) {
    plan.push_back([this, read = std::move(read), file](core::PlanBuilder& builder,
                                                        Engine::Body& body) -> Result<void> {
      SALLYPORT_TRY(const policy::Policy policy, read());
      SALLYPORT_TRY(auto checks, policy::compile_guardrails(policy, 1));
      const policy::Surroundings surroundings{
          .clock = body.clock,
          .entropy = body.entropy,
          .fingerprint_key = body.ledger->fingerprint_key(),
          .records = body.ledger.get(),
          .machine = {.home = home_folder, .data = body.folder.string(), .policy = file},
          .external = host(body)};
      core::PlanBuilder alone;
      SALLYPORT_CHECK_OK(policy::add_to_plan(alone, policy, checks, surroundings));
      SALLYPORT_TRY(const auto lone, alone.build());
      policy_alone = lone->hash();
      policy_text = policy.text;
      SALLYPORT_CHECK_OK(policy::add_to_plan(builder, policy, checks, surroundings));
      // The autonomy of the program applies if the policy has none.
      if (!policy.autonomy) builder.autonomy_rules(nullptr);
      scopes = policy.scopes;
      body.guardrails = checks;
      body.excerpts = policy::excerpts_of(policy);
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
  parts_->add_policy([text = std::move(text)] { return policy::read_policy(text, "policy"); }, "");
  return *this;
}

EngineBuilder& EngineBuilder::policy_file(std::filesystem::path file) {
  std::error_code code;
  const std::string absolute = std::filesystem::absolute(file, code).string();
  parts_->add_policy([file = std::move(file)] { return policy::load_policy(file); }, absolute);
  return *this;
}

EngineBuilder& EngineBuilder::shared_log(std::string url, std::string log) {
  parts_->shared_log = store::SharedLog{.url = std::move(url), .name = std::move(log)};
  return *this;
}

EngineBuilder& EngineBuilder::home_folder(std::filesystem::path folder) {
  if (!folder.is_absolute()) {
    parts_->refuse(fail(ErrorCode::InvalidInput,
                        fmt::format("`{}` is not an absolute folder", folder.string()),
                        "home_folder"));
  }
  parts_->home_folder = folder.string();
  return *this;
}

EngineBuilder& EngineBuilder::variable(std::string name, std::string value) {
  parts_->variables.insert_or_assign(std::move(name), std::move(value));
  return *this;
}

EngineBuilder& EngineBuilder::tool(Tool tool) {
  parts_->settings.tool(tool.server, tool.name, tool.classification);
  parts_->tools.push_back(std::move(tool));
  return *this;
}

EngineBuilder& EngineBuilder::guard(std::string name, Guard judge, GuardOptions options) {
  parts_->add(name, judge, options, [=](core::PlanBuilder& plan, Pool& pool) {
    plan.guard(embed::make_guard(name, judge, options, pool));
  });
  return *this;
}

EngineBuilder& EngineBuilder::result_guard(std::string name, ResultGuard judge,
                                           GuardOptions options) {
  parts_->add(name, judge, options, [=](core::PlanBuilder& plan, Pool& pool) {
    plan.result_guard(embed::make_result_guard(name, judge, options, pool));
  });
  return *this;
}

EngineBuilder& EngineBuilder::pre_hook(std::string name, PreHook decide, GuardOptions options) {
  parts_->add(name, decide, options, [=](core::PlanBuilder& plan, Pool& pool) {
    plan.guard(embed::make_pre_hook(name, decide, options, false, pool));
  });
  return *this;
}

EngineBuilder& EngineBuilder::rewriting_hook(std::string name, PreHook decide,
                                             GuardOptions options) {
  parts_->add(name, decide, options, [=](core::PlanBuilder& plan, Pool& pool) {
    plan.guard(embed::make_pre_hook(name, decide, options, true, pool));
  });
  return *this;
}

EngineBuilder& EngineBuilder::authorizer(std::string name, Authorizer authorize,
                                         GuardOptions options) {
  parts_->add(name, authorize, options, [=](core::PlanBuilder& plan, Pool& pool) {
    plan.guard(embed::make_authorizer(name, authorize, options, pool));
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

EngineBuilder& EngineBuilder::hook(std::string name, Hook on_event, ListenerOptions options) {
  RowHook without_rows;
  if (on_event) {
    without_rows = [on_event = std::move(on_event)](const Event& event, const Subject& subject) {
      const Result<void> done = on_event(event, subject);
      using Rows = Result<std::vector<TopicEvent>>;
      return done ? Rows() : Rows(std::unexpected(done.error()));
    };
  }
  return row_hook(std::move(name), std::move(without_rows), options);
}

EngineBuilder& EngineBuilder::row_hook(std::string name, RowHook on_event,
                                       ListenerOptions options) {
  parts_->hooks.push_back({std::move(name), std::move(on_event), options});
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
  parts_->autonomy = autonomy;
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

Result<void> EngineBuilder::Parts::check_tools() const {
  std::set<std::pair<std::string, std::string>> names;
  for (const Tool& tool : tools) {
    const auto refused = [&](const char* what) {
      return fail(ErrorCode::InvalidInput, fmt::format("tool `{}` {}", tool.name, what), "tool");
    };
    if (tool.name.empty()) return refused("has no name");
    if (!tool.run) return refused("has no function");
    if (!names.emplace(tool.server, tool.name).second) return refused("is a duplicate");
  }
  return {};
}

Result<void> EngineBuilder::Parts::check_listeners() const {
  for (const Listener<RowHook>& hook : hooks) {
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

Result<void> Engine::Body::open_ledger(std::filesystem::path data_folder,
                                       std::optional<sallyport::store::SharedLog> shared) {
  if (data_folder.empty()) {
    SALLYPORT_TRY(temporary, temporary_folder());
    data_folder = temporary;
  }
  // The program may change its directory later.
  folder = std::filesystem::absolute(data_folder);
  SALLYPORT_CHECK_OK(ledger::make_private_folder(folder));
  SALLYPORT_TRY(std::shared_ptr<const guards::Detectors> detectors, guards::Detectors::build());
  redactor = std::make_unique<guards::StorageRedactor>(std::move(detectors));
  SALLYPORT_TRY(store, sallyport::store::open_store(
                           {.file = folder / "ledger.db", .shared = std::move(shared)}));
  SALLYPORT_TRY(
      ledger,
      ledger::Ledger::open(
          {*store, *redactor, clock, entropy, autonomy::closing_interrupted(clock, entropy)},
          {.data_folder = folder, .role = "embedded", .checkpoint_copy = folder / "witness"}));
  return {};
}

void Engine::Body::start_threads(unsigned for_functions) {
  pool = std::make_unique<Pool>(for_functions);
  for (int i = 0; i < 2; ++i) loops.emplace_back([this] { loop.run(); });
}

Result<void> EngineBuilder::Parts::load_plan(Engine::Body& body) {
  for (const AddToPlan& step : plan) SALLYPORT_CHECK_OK(step(settings, body));
  settings.scope_rules(
      std::make_shared<const autonomy::PolicyRules>(autonomy::AutonomyPolicy{.tier = autonomy},
                                                    body.clock, body.entropy, false, scopes),
      !scopes.empty());
  // The program vouches for its own people. Answers of other processes on the same folder, and
  // promotions, need a person who is registered there.
  settings.reviewers(
      std::make_shared<const policy::DataFolderReviewers>(body.folder / policy::kReviewersFile),
      true);
  agent::add_agent_tools(settings);
  SALLYPORT_TRY(auto built, settings.build());
  body.policy_hash = built->hash();
  SALLYPORT_TRY(const auto before, body.ledger->fact("policy", "hash"));
  body.plans = std::make_unique<core::PlanShelf>(*body.ledger, before.value_or(""));
  core::PlanShelf::Origin origin{.source = "program", .who = "program"};
  if (policy_alone == built->hash()) origin.text = policy_text;
  return embed::run_task(body.loop, body.plans->load(std::move(built), std::move(origin)));
}

Result<void> EngineBuilder::Parts::make_governor(Engine::Body& body) {
  core::Governor::Parts parts{*body.plans, *body.ledger, *body.redactor,
                              body.clock,  body.entropy, body.ledger->digest()};
  const auto thread_for = [&](const ListenerOptions& options) -> Pool* {
    if (!options.waits) return nullptr;
    return body.listeners.emplace_back(std::make_unique<Pool>(1)).get();
  };
  for (auto& [name, on_event, options] : hooks) {
    SALLYPORT_CHECK_OK(parts.hooks.with_hook(
        embed::make_hook(name, std::move(on_event), options.limit, thread_for(options))));
  }
  for (auto& [name, take, options] : sinks) {
    parts.sinks.push_back(
        embed::make_sink(name, std::move(take), options.limit, thread_for(options)));
  }
  if (approver) parts.approver = embed::make_approver(std::move(approver), *body.pool);
  body.governor = std::make_unique<core::Governor>(std::move(parts));
  if (!sinks.empty() || !body.plans->current()->listeners().sinks.empty()) {
    body.listen_for_late_records();
  }
  return {};
}

void Engine::Body::add_tools(std::vector<Tool> given) {
  for (Tool& tool : given) {
    const std::pair key(tool.server, tool.name);
    tools[key] = embed::make_function_tool(std::move(tool), *pool);
  }
}

// Builds the parts around the Governor and closes what earlier runs left open.
Result<void> Engine::Body::start() {
  continuations =
      std::make_unique<core::Continuations>(*ledger, *ledger, ledger->digest(), clock, entropy);
  turns = std::make_unique<core::Turns>(*governor, *continuations,
                                        [this](const Call& call) { return find_tool(call); });
  hand_offs = std::make_unique<core::HandOffs>(*governor, *continuations);
  questions = std::make_unique<core::Questions>(
      core::Questions::Parts{*plans, *ledger, clock, entropy, governor->approvals()});
  host_events = std::make_unique<core::HostEvents>(governor->emitter(), *ledger, *ledger);
  SALLYPORT_CHECK_OK(embed::run_task(loop, governor->start()));
  return embed::run_task(loop, hand_offs->expire());
}

Result<std::unique_ptr<Engine>> EngineBuilder::open() {
  const std::unique_ptr<Parts> parts = std::exchange(parts_, std::make_unique<Parts>());
  if (parts->refused) return std::unexpected(*parts->refused);
  SALLYPORT_CHECK_OK(parts->check_tools());
  SALLYPORT_CHECK_OK(parts->check_listeners());
  auto body = std::make_unique<Engine::Body>();
  SALLYPORT_CHECK_OK(body->open_ledger(parts->data_folder, parts->shared_log));
  body->start_threads(parts->threads);
  SALLYPORT_CHECK_OK(parts->load_plan(*body));
  SALLYPORT_CHECK_OK(parts->make_governor(*body));
  body->add_tools(std::move(parts->tools));
  SALLYPORT_CHECK_OK(body->start());
  return std::unique_ptr<Engine>(new Engine(std::move(body)));
}

}  // namespace sallyport
