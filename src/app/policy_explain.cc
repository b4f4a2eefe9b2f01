// Would this call run, and why? Decided by the plan and the Governor that decide about calls, over
// a ledger that is only read.
#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json.hpp>

#include "app/explanation.h"
#include "app/gateway_plan.h"
#include "app/grant_files.h"
#include "app/input.h"
#include "app/output.h"
#include "app/policy_commands.h"
#include "base/json_members.h"
#include "base/try.h"
#include "core/governor.h"
#include "core/reading_recorder.h"
#include "ledger/entry.h"
#include "ledger/opening_check.h"
#include "ledger/query.h"
#include "ledger/store_reader.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kLargestCall = 1u << 20;

struct Asked {
  Call call{};
  std::optional<RecordedDecision> then{};
};

Result<Call> call_in(const std::string& text, const std::string& where) {
  Result<ParsedJson> parsed = parse_json(text);
  if (!parsed) {
    return fail(ErrorCode::InvalidInput, parsed.error().message,
                fmt::format("{}:{}", where, parsed.error().where));
  }
  const json::object* const object = parsed->value.if_object();
  if (object == nullptr) return fail(ErrorCode::InvalidInput, "a call is an object", where);
  Call call{.input = json::object{}};
  std::string workspace;
  for (const json::key_value_pair& pair : *object) {
    const std::string_view name = pair.key();
    std::string* const member = name == "agent" || name == "agent_id"       ? &call.agent_id
                                : name == "session" || name == "session_id" ? &call.session_id
                                : name == "server"                          ? &call.server
                                : name == "tool"                            ? &call.tool
                                : name == "front"                           ? &call.setting.front
                                : name == "cwd"                             ? &call.setting.folder
                                : name == "workspace"                       ? &workspace
                                                                            : nullptr;
    if (name == "input") {
      call.input = pair.value();
    } else if (member == nullptr) {
      return fail(
          ErrorCode::InvalidInput,
          fmt::format("unknown member `{:.80}`; a call has agent, session, server, tool, input, "
                      "front, cwd and workspace",
                      name),
          where);
    } else if (!pair.value().is_string()) {
      return fail(ErrorCode::InvalidInput, fmt::format("`{}` is no text", name), where);
    } else {
      *member = pair.value().get_string();
    }
  }
  if (!workspace.empty()) call.setting.workspace.push_back(workspace);
  if (call.tool.empty()) return fail(ErrorCode::InvalidInput, "a call names its `tool`", where);
  return call;
}

Asked asked_in(const json::object& entry, const json::object& body) {
  const json::value* const input = body.if_contains("requested_input");
  Asked asked{.call = {.agent_id = text_or_empty(entry, "agent_id"),
                       .session_id = text_or_empty(entry, "session_id"),
                       .server = text_or_empty(entry, "server"),
                       .tool = text_or_empty(entry, "tool_name"),
                       .input = input ? *input : json::value()},
              .then = RecordedDecision{.sequence = number_in(entry, "sequence").value_or(0),
                                       .policy_hash = text_or_empty(entry, "policy_hash"),
                                       .tier = text_or_empty(body, "autonomy"),
                                       .tier_source = text_or_empty(body, "autonomy_source"),
                                       .redacted = entry.contains("redactions")}};
  if (const json::object* const outcome = object_in(body, "outcome")) {
    asked.then->outcome = text_or_empty(*outcome, "kind");
    for (const char* const name : {"reason", "error", "description"}) {
      if (asked.then->reason.empty()) asked.then->reason = text_or_empty(*outcome, name);
    }
  }
  return asked;
}

// Those that have a body, opened and in order, for as long as `visit` wants more.
Result<void> visit_entries(
    ledger::LedgerStore& store, const ledger::Filter& filter,
    const std::function<bool(const json::object& entry, const json::object& body)>& visit) {
  return store.read([&](ledger::ReadView& view) {
    return ledger::find_entries(
        view, filter,
        [&](const ledger::StoredEntry& stored, const ledger::EntryView&) -> Result<bool> {
          SALLYPORT_TRY(const json::object entry, ledger::opened_entry(stored));
          const json::object* const body = object_in(entry, "body");
          return body == nullptr || visit(entry, *body);
        });
  });
}

// The record that ended the call, else the last one about it.
Result<Asked> recorded(ledger::LedgerStore& store, const std::string& id) {
  std::optional<Asked> found;
  const ledger::Filter filter{
      .facets = {{ledger::Facet::Call, id}, {ledger::Facet::Kind, "tool_audit"}}};
  SALLYPORT_CHECK_OK(
      visit_entries(store, filter, [&](const json::object& entry, const json::object& body) {
        found = asked_in(entry, body);
        return !bool_in(body, "terminal").value_or(false);
      }));
  if (found) return std::move(*found);
  return fail(ErrorCode::NotFound,
              fmt::format("`{:.80}` is no file, and no call of that id is recorded", id));
}

Result<Asked> find_call(const std::string& named, Workspace* workspace) {
  if (trimmed(named).starts_with('{')) {
    SALLYPORT_TRY(Call call, call_in(named, "call"));
    return Asked{.call = std::move(call)};
  }
  std::error_code code;
  if (named == "-" || std::filesystem::exists(named, code)) {
    SALLYPORT_TRY(const std::string text, read_input(named, kLargestCall));
    SALLYPORT_TRY(Call call, call_in(text, named));
    return Asked{.call = std::move(call)};
  }
  if (workspace != nullptr) return recorded(workspace->store(), named);
  return fail(ErrorCode::NotFound,
              fmt::format("`{:.80}` is no file, and there is no ledger here", named));
}

// The policy that a recorded call ran under, by the entry that loaded it. Nothing: nobody wrote it
// down, or it was given by a program.
Result<std::optional<std::string>> policy_of(ledger::LedgerStore& store, const std::string& hash) {
  std::optional<std::string> source;
  const ledger::Filter filter{
      .facets = {{ledger::Facet::Kind, "control"}},
      .body = {{"control", json::value("policy_loaded")}, {"hash", json::value(hash)}}};
  SALLYPORT_CHECK_OK(
      visit_entries(store, filter, [&](const json::object&, const json::object& body) {
        source = text_or_empty(body, "source");
        return true;
      }));
  return source == "program" ? std::nullopt : source;
}

struct Judging {
  std::string policy = "starter";
  std::string note{};  // why it is not the one that the call ran under
};

// The policy that was named, else the one the call ran under, else that of whoever names none.
Result<Judging> judging_policy(const PolicyExplainOptions& options, const Asked& asked,
                               Workspace* workspace) {
  if (options.policy) return Judging{*options.policy};
  if (!asked.then || workspace == nullptr) return Judging{};
  SALLYPORT_TRY(const auto source, policy_of(workspace->store(), asked.then->policy_hash));
  if (!source) {
    return Judging{.note =
                       "it is not on record which policy the call ran under; name one with "
                       "--policy"};
  }
  if (policy::PolicyOrigin::named(*source).read(nullptr)) return Judging{*source};
  return Judging{.note = fmt::format("the call ran under `{}`, which cannot be read any more; name "
                                     "one with --policy",
                                     *source)};
}

// Where no ledger is, nothing is revoked, spent, promoted or pinned.
Result<std::unique_ptr<Workspace>> ledger_if_any(const Context& context) {
  SALLYPORT_TRY(const Workspace::Place place, context.place());
  std::error_code code;
  if (!std::filesystem::exists(place.ledger_file(), code)) return nullptr;
  return context.open_reading();
}

// Empty: there is none.
std::filesystem::path data_dir(const Context& context) {
  const Result<Workspace::Place> place = context.place();
  return place ? place->data_dir : std::filesystem::path();
}

class WouldRun final : public core::Upstream {
 public:
  Task<Envelope> invoke(Call, std::shared_ptr<core::Delivery>, std::stop_token) override {
    co_return fail(ErrorCode::Internal, "a rehearsal runs nothing");
  }
};

Result<core::Rehearsal> rehearse(core::Governor& governor, Call call) {
  Result<core::Rehearsal> seen = fail(ErrorCode::Internal, "a task ended without an answer");
  boost::asio::io_context loop(1);
  boost::asio::co_spawn(loop, governor.rehearse(std::move(call), std::make_shared<WouldRun>()),
                        [&](const std::exception_ptr& thrown, Result<core::Rehearsal> result) {
                          if (!thrown) seen = std::move(result);
                        });
  loop.run();
  return seen;
}

}  // namespace

Result<int> policy_explain(const Context& context, const PolicyExplainOptions& options) {
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, ledger_if_any(context));
  SALLYPORT_TRY(Asked asked, find_call(options.call, workspace.get()));
  if (options.grant) {
    SALLYPORT_TRY(std::string token, read_token_text(*options.grant));
    asked.call.grants.push_back(std::move(token));
  }
  core::NoRecords nothing;
  std::optional<ledger::StoreReader> reader;
  if (workspace) reader.emplace(workspace->store());
  core::ReadingRecorder records(reader ? static_cast<core::RecordReader&>(*reader) : nothing);
  mcp::PinBook pins(records);
  SALLYPORT_CHECK_OK(pins.recall());
  const SystemClock clock;
  SystemEntropy entropy;
  const core::NoRedactor redactor;
  SALLYPORT_TRY(Judging judging, judging_policy(options, asked, workspace.get()));
  policy::PolicyLoader loader(
      policy::PolicyOrigin::named(judging.policy),
      {.clock = clock,
       .entropy = entropy,
       .fingerprint_key = {},
       .records = &records,
       .machine = machine_of(context.environment, data_dir(context), judging.policy)},
      what_the_gateway_brings(pins));
  SALLYPORT_TRY(const auto loaded, loader.refresh());
  if (asked.call.agent_id.empty()) asked.call.agent_id = acting_agent(*loaded->plan);
  const core::FixedPlan plans(loaded->plan);
  core::Governor governor({plans, records, redactor, clock, entropy, KeyedDigest("rehearsal")});
  SALLYPORT_TRY(core::Rehearsal now, rehearse(governor, std::move(asked.call)));
  const Explained explained{.now = std::move(now),
                            .policy = loader.origin().name,
                            .policy_note = std::move(judging.note),
                            .then = std::move(asked.then)};
  if (context.json()) {
    say(visible_json(canonical_json(explanation_json(explained))));
  } else {
    say_explanation(explained);
  }
  return explained.now.runs() ? 0 : 1;
}

}  // namespace sallyport::app
