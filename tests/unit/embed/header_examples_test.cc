// The examples at the top of the public headers, as code. `tools/check_docs.py` finds every line of
// them here; the statements in an example's comments are asserted.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <charconv>
#include <fstream>
#include <iostream>
#include <set>

#include "engine_setup.h"
#include "sallyport/agent.h"
#include "sallyport/engine.h"
#include "sallyport/idempotency_row.h"
#include "sallyport/result_pipeline.h"
#include "sallyport/retry.h"
#include "support/temp_folder.h"

namespace sallyport {
namespace {

using test::call_of;
using test::CountedTool;
using test::kActs;
using test::kLooks;
using test::opened;

// The output of an example.
class Printed {
 public:
  explicit Printed(std::ostream& stream) : stream_(stream), before_(stream.rdbuf(text_.rdbuf())) {}
  Printed(const Printed&) = delete;
  ~Printed() { stream_.rdbuf(before_); }
  std::string text() const { return text_.str(); }

 private:
  std::ostream& stream_;
  std::ostringstream text_;
  std::streambuf* before_;
};

TEST(HeaderExamplesTest, Agent) {
  const test::TempFolder folder;
  const std::filesystem::path talk = folder / "talk.yaml";
  std::ofstream(talk) << "turns: [{calls: [{tool: add, input: {a: 2, b: 2}}]}, {text: It is 4.}]";
  const auto engine = opened(EngineBuilder("")
                                 .autonomy(Autonomy::ActAuto)
                                 .tool({.name = "add",
                                        .classification = kLooks,
                                        .run = [](const Invocation& call) -> Result<json::value> {
                                          return call.call().input.at("a").as_int64() +
                                                 call.call().input.at("b").as_int64();
                                        }}));
  // clang-format off
  auto agent = Agent::open(*engine, {.id = "agent:adder",
                                     .model = {.provider = AgentModel::Provider::Script,
                                               .name = "demo", .script = talk},
                                     .tools = {{.name = "add", .description = "adds a and b",
                                                .schema = {{"type", "object"}}}}});
  // clang-format on
  ASSERT_TRUE(agent);
  Result<AgentRun> run = (*agent)->run("s-1", "What is 2 + 2?");
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run->text, "It is 4.");
  EXPECT_EQ(run->status, AgentStatus::Finished);
  EXPECT_EQ(engine->records()->size(), 1u);
}

TEST(HeaderExamplesTest, Answer) {
  const auto engine = opened(EngineBuilder("").tool(CountedTool("look", kLooks).tool()));
  std::vector<std::string> asked;
  const auto ask_a_person = [&](const std::string& call_id) { asked.push_back(call_id); };
  const auto tell = [&](const Call& call) {
    const Result<Answer> answer = engine->call(call);
    if (!answer) return;
    std::cout << answer->result.output << '\n';
    if (answer->effect == EffectState::Unknown) ask_a_person(answer->call_id);
  };
  const Printed printed(std::cout);
  tell(call_of("unknown"));
  tell(call_of("look"));
  EXPECT_EQ(printed.text(), "Blocked: unknown tool `unknown`\nlook ran\n");
  EXPECT_TRUE(asked.empty());
}

namespace of_approval {
Result<Reply> answer(const Question& question) {
  std::cout << question.description << '\n';
  return Reply::approve("user:ada");
}
}  // namespace of_approval

TEST(HeaderExamplesTest, Approval) {
  const auto engine = opened(
      EngineBuilder("").tool(CountedTool("act", kActs).tool()).approver(of_approval::answer));
  const Printed printed(std::cout);
  EXPECT_TRUE(engine->call(call_of("act"))->result.success);
  EXPECT_EQ(printed.text(), "Confirm act?\n");
}

TEST(HeaderExamplesTest, AuditRecord) {
  const auto engine = opened(
      EngineBuilder("").tool(CountedTool("transfer", kActs).tool()).autonomy(Autonomy::ActAuto));
  (void)engine->call(call_of("transfer"));
  json::value line = engine->record_json()->front();
  bool asked = false;
  const auto ask_a_person = [&] { asked = true; };
  {
    Result<AuditRecord> record = audit_record_from_json(line);
    EXPECT_EQ(record->tool_name, "transfer");
    EXPECT_EQ(to_string(record->outcome.kind), "completed");
    record->effect_state = EffectState::Unknown;
    if (record->has_additions() && record->effect_state == EffectState::Unknown) ask_a_person();
    EXPECT_TRUE(asked);
  }
  line.at("outcome").at("kind") = "lost";
  const Printed printed(std::cerr);
  Result<AuditRecord> record = audit_record_from_json(line);
  if (!record) std::cerr << record.error().message;
  EXPECT_TRUE(printed.text().starts_with("`outcome.kind` is `lost`, ")) << printed.text();
}

namespace of_authorizer {
Result<Authorization> decide(const AuthorizationRequest& request) {
  if (request.preview.side_effect_level == SideEffectLevel::None) return Authorization{};
  return Authorization{Authorization::Kind::Prompt, "touches the world"};
}
}  // namespace of_authorizer

TEST(HeaderExamplesTest, Authorizer) {
  const auto engine = opened(EngineBuilder("")
                                 .tool(CountedTool("look", kLooks).tool())
                                 .tool(CountedTool("act", kActs).tool())
                                 .authorizer("house", of_authorizer::decide)
                                 .autonomy(Autonomy::ActAuto));
  EXPECT_EQ(engine->call(call_of("look"))->outcome.kind, Outcome::Kind::Completed);
  EXPECT_EQ(engine->call(call_of("act"), {.hold = false})->outcome,
            Outcome::requires_confirmation("touches the world"));
}

TEST(HeaderExamplesTest, AutonomyScopes) {
  const CountedTool write("write", kActs);
  const auto engine = opened(EngineBuilder("").tool(write.tool()).autonomy(Autonomy::ActAuto));
  std::size_t inherited = 0;
  const auto run_sub_agent = [&](AutonomyScopes own) { inherited = own.depth(); };
  AutonomyScopes scopes;
  const auto inside = scopes.push({{"tier", "suggest"}, {"budget", {{"max_per_hour", 5}}}});
  (void)engine->call({.agent_id = "agent:a", .tool = "write", .scopes = scopes});
  EXPECT_EQ(write.runs(), 0);
  run_sub_agent(scopes);
  EXPECT_EQ(inherited, 1u);
}

TEST(HeaderExamplesTest, Call) {
  Call call{.agent_id = "agent:planner",
            .session_id = "s-1",
            .tool = "read_file",
            .input = {{"path", "/tmp/x"}}};
  call.tool_call_id = "toolu_01";
  EXPECT_EQ(call.input.at("path"), "/tmp/x");
}

TEST(HeaderExamplesTest, Classification) {
  Classification reads{.tier = Tier::Observe, .effect_class = "none"};
  EXPECT_TRUE(reads.replay_safe());
  EXPECT_FALSE(Classification().replay_safe());
}

TEST(HeaderExamplesTest, Continuation) {
  const auto engine = opened(EngineBuilder("").tool(CountedTool("look", kLooks).tool()));
  const Continuation::Payload frame{.session_id = "s-1"};
  const std::vector<Call> calls{call_of("look", "t-1"), call_of("look", "t-2")};
  std::string sent;
  const auto send = [&](const std::string& text) { sent = text; };
  HandOff hand_off = engine->hand_out(frame, calls)->hand_off;
  send(canonical_json(to_json(hand_off)));
  EXPECT_NE(sent.find("t-2"), std::string::npos);
  const std::string body = canonical_json(
      to_json(Submission{hand_off.continuation, {{"t-1", {.success = true, .output = "a"}}}}));
  Result<Submission> back = submission_from_text(body);
  ASSERT_TRUE(back);
  EXPECT_EQ(check_results(ids_of(hand_off.tool_calls), *back).error().cause, "missing_result");
}

// The example uses a relative folder.
TEST(HeaderExamplesTest, Engine) {
  const test::TempFolder folder;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  auto engine =
      EngineBuilder("my-agent-data")
          .tool({.name = "add",
                 .classification = {Tier::Observe, "none"},
                 .run = [](const Invocation& i) -> Result<json::value> {
                   return i.call().input.at("a").as_int64() + i.call().input.at("b").as_int64();
                 }})
          .guard("small-numbers",
                 [](const Call& call, const GuardView&) -> Result<Verdict> {
                   if (call.input.at("a").as_int64() < 1000) return Verdict::allow();
                   return Verdict::deny("too large");
                 })
          .open();
  ASSERT_TRUE(engine);
  Result<Answer> answer = (*engine)->call(
      {.agent_id = "agent:me", .session_id = "s-1", .tool = "add", .input = {{"a", 1}, {"b", 2}}});
  EXPECT_EQ(answer->result.output, "3");
  EXPECT_TRUE((*engine)->receipt(answer->sequence));
  EXPECT_TRUE(std::filesystem::exists(folder / "my-agent-data"));
  EXPECT_EQ((*engine)->call(call_of("add", "", {{"a", 1000}, {"b", 2}}))->outcome,
            Outcome::blocked("too large"));
  std::filesystem::current_path(before);
}

TEST(HeaderExamplesTest, Envelope) {
  Envelope envelope = Envelope::of({{"rows", 3}});
  EXPECT_EQ(canonical_json(envelope.to_json()), R"({"kind":"value","value":{"rows":3}})");
  EXPECT_EQ(envelope.to_result().output, "{\"rows\":3}");
  EXPECT_FALSE(Envelope::error("no such table").to_result().success);
}

TEST(HeaderExamplesTest, Escalation) {
  const auto engine = opened(EngineBuilder("")
                                 .tool(CountedTool("look", kLooks).tool())
                                 .guard("watch", [](const Call&, const GuardView&) {
                                   return Result<Verdict>(Verdict::escalate("again"));
                                 }));
  for (int i = 0; i < 2; ++i) (void)engine->call(call_of("look"));
  const auto list = [&] {
    const Result<std::vector<EscalationItem>> items = engine->escalations();
    if (!items) return;
    for (const EscalationItem& item : *items)
      std::cout << item.tool << ": " << item.message << " (" << item.count << ")\n";
  };
  const Printed printed(std::cout);
  list();
  EXPECT_EQ(printed.text(), "look: again (2)\n");
}

TEST(HeaderExamplesTest, Event) {
  Event event = event::ModelRequestStarted{.agent_id = "agent:a", .model = "m", .attempt = 1};
  EXPECT_EQ(event_type(event), "model_request_started");
  EXPECT_EQ(scope(event), "agent:a");
  EXPECT_TRUE(announces(event));
  EXPECT_EQ(to_json(event).at("kind"), "model_request_started");
  EXPECT_EQ(to_json(event).at("agent_id"), "agent:a");
  EXPECT_TRUE(event_from_json(to_json(event)).value() == event);
}

TEST(HeaderExamplesTest, IdempotencyRow) {
  IdempotencyRow row{.session_id = "s-1", .tool_call_id = "toolu_01", .tool_name = "transfer"};
  row.status = IdempotencyRow::Status::Completed;
  EXPECT_EQ(to_json(row).at("status"), "Completed");
}

TEST(HeaderExamplesTest, Json) {
  Result<ParsedJson> input = parse_json(R"({"path":"/tmp/x"})");
  EXPECT_EQ(input->value.at("path"), "/tmp/x");
  EXPECT_EQ(canonical_json(input->value), R"({"path":"/tmp/x"})");
  EXPECT_EQ(parse_json(R"({"a":1,"a":2})").error().message,
            "member `a` occurs twice in one object");
}

TEST(HeaderExamplesTest, Outcome) {
  Outcome outcome = Outcome::blocked("writes outside the workspace");
  EXPECT_EQ(to_string(outcome.kind), "blocked");
  EXPECT_EQ(json::serialize(to_json(outcome)),
            R"({"kind":"blocked","reason":"writes outside the workspace"})");
  EXPECT_FALSE(outcome.result);
}

namespace of_pre_hook {
Result<PreHookDecision> decide(const PreHookContext& context) {
  if (context.input_json.contains("rm -rf")) return PreHookDecision::deny("no mass deletion");
  return PreHookDecision::allow();
}
}  // namespace of_pre_hook

TEST(HeaderExamplesTest, PreHook) {
  const auto engine = opened(EngineBuilder("")
                                 .tool(CountedTool("shell", kLooks).tool())
                                 .pre_hook("no-deletion", of_pre_hook::decide));
  EXPECT_TRUE(engine->call(call_of("shell", "", {{"command", "ls"}}))->result.success);
  EXPECT_EQ(engine->call(call_of("shell", "", {{"command", "rm -rf /"}}))->result.output,
            "Blocked by pre-execution hook: no mass deletion");
}

TEST(HeaderExamplesTest, Prepared) {
  Prepared prepared{.operation_id = "op-7",
                    .revision = 2,
                    .snapshot = {{"amount", 40}},
                    .expires_at = "2026-11-15T12:00:00.000000Z"};
  EXPECT_EQ(effective_input({{"to", "bob"}}, prepared),
            json::parse(R"({"requested_input":{"to":"bob"},"prepared_snapshot":{"amount":40},
                            "operation_id":"op-7","revision":2,
                            "expires_at":"2026-11-15T12:00:00.000000Z"})"));
}

TEST(HeaderExamplesTest, Preview) {
  Preview preview = Preview::unclassified();
  preview.capabilities = {{Capability::FilesystemRead}, Capability::custom("crm.read")};
  EXPECT_EQ(to_json(preview).at("capabilities"),
            json::parse(R"(["FilesystemRead",{"Custom":"crm.read"}])"));
}

TEST(HeaderExamplesTest, RecordQuery) {
  const auto engine = opened(EngineBuilder("").tool(CountedTool("look", kLooks).tool()));
  for (const char* const tool : {"unknown", "look"}) (void)engine->call(call_of(tool));
  RecordQuery query{.session_id = "s-1", .outcome = "blocked"};
  query.limit = 20;
  Result<std::vector<AuditRecord>> page = engine->records(query);
  if (page && !page->empty()) query.after = page->back().sequence;
  ASSERT_EQ(page->size(), 1u);
  EXPECT_EQ(page->front().tool_name, "unknown");
  EXPECT_TRUE(engine->records(query)->empty());
}

Result<int> parse_port(const std::string& text) {
  int port = 0;
  std::from_chars(text.data(), text.data() + text.size(), port);
  if (port >= 1 && port <= 65535) return port;
  return fail(ErrorCode::InvalidInput, "`" + text + "` is not a port, use 1..65535");
}

TEST(HeaderExamplesTest, Result) {
  const Printed printed(std::cerr);
  Result<int> port = parse_port("70000");
  if (!port) std::cerr << port.error().message;
  EXPECT_EQ(printed.text(), "`70000` is not a port, use 1..65535");
  EXPECT_EQ(parse_port("443").value(), 443);
}

namespace of_result_context {
Result<Verdict> judge(const Envelope&, const ResultContext& context) {
  if (!context.call) return Verdict::deny("this guard needs `call`");
  if (context.is_error || context.call->agent_id == "agent:auditor") return Verdict::allow();
  return Verdict::escalate("read by " + context.call->agent_id);
}
}  // namespace of_result_context

TEST(HeaderExamplesTest, ResultContext) {
  EXPECT_EQ(of_result_context::judge({}, {.tool = "look"})->kind, Verdict::Kind::Deny);
  const auto engine = opened(EngineBuilder("")
                                 .tool(CountedTool("look", kLooks).tool())
                                 .result_guard("readers", of_result_context::judge));
  EXPECT_TRUE(engine->call(call_of("look"))->result.success);
  EXPECT_EQ(engine->escalations()->front().message, "read by agent:a");
}

TEST(HeaderExamplesTest, Scope) {
  const ResultContext context{
      .tool = "query",
      .scope = std::make_shared<Scope>(
          Scope{{Grant{.tool = "read"}, Grant{.constraints = {{"max_rows_returned", 10}}}}}),
      .matched_grant_index = 1};
  std::vector<std::string> obeyed;
  const auto obey = [&](const std::string& type, const json::value&) { obeyed.push_back(type); };
  const Grant& grant = context.scope->grants.at(*context.matched_grant_index);
  for (const Constraint& constraint : grant.constraints) obey(constraint.type, constraint.value);
  EXPECT_EQ(obeyed, (std::vector<std::string>{"max_rows_returned"}));
}

TEST(HeaderExamplesTest, Subject) {
  std::set<std::string> calls;
  const auto count = [&](const std::string& call_id) { calls.insert(call_id); };
  const auto engine = opened(EngineBuilder("")
                                 .tool(CountedTool("look", kLooks).tool())
                                 .hook("counts", [&](const Event&, const Subject& subject) {
                                   if (subject.session_id == "s-1") count(subject.call_id);
                                   return Result<void>();
                                 }));
  Call call = call_of("look");
  const std::string counted = engine->call(call)->call_id;
  call.session_id = "s-2";
  (void)engine->call(call);
  EXPECT_EQ(calls, (std::set<std::string>{counted}));
}

TEST(HeaderExamplesTest, Tool) {
  Tool read_note{.name = "read_note",
                 .classification = {Tier::Observe, "none"},
                 .run = [](const Invocation& invocation) -> Result<json::value> {
                   return json::value("text of " +
                                      std::string(invocation.call().input.at("title").as_string()));
                 }};
  const auto engine = opened(EngineBuilder("").tool(read_note));
  EXPECT_EQ(engine->call(call_of("read_note", "", {{"title", "plans"}}))->result.output,
            "text of plans");
}

TEST(HeaderExamplesTest, HumanQuestion) {
  EngineBuilder builder("");
  const auto engine = opened(builder.approval_time(std::chrono::seconds(1)));
  const auto use = [](const std::string&) { FAIL() << "nobody has answered"; };
  const Result<HumanAnswer> answer =
      engine->ask({.agent_id = "agent:me", .session_id = "s-1", .text = "Which branch?"});
  if (answer && answer->kind == HumanAnswer::Kind::Answered) use(answer->text);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->kind, HumanAnswer::Kind::Expired);
}

TEST(HeaderExamplesTest, Usage) {
  Usage usage{.input_tokens = 1200, .output_tokens = 80};
  EXPECT_EQ(to_json(usage).at("output_tokens"), 80);
  EXPECT_TRUE(to_json(usage).at("total_tokens").is_null());
  EXPECT_EQ(usage_from_json(json::parse(R"({"input_tokens":-1})")).error().where,
            "usage.input_tokens");
}

namespace of_verdict {
Result<Verdict> judge(const Call& call, const GuardView&) {
  if (call.tool == "delete") return Verdict::deny("nothing is deleted here", "fs.delete");
  if (call.tool == "write") return Verdict::rewrite({{"path", "/tmp/x"}}, "kept in /tmp");
  return Verdict::allow();
}
}  // namespace of_verdict

TEST(HeaderExamplesTest, Verdict) {
  EngineBuilder builder("");
  for (const char* const name : {"delete", "write", "read"}) {
    builder.tool(test::tool_of(
        name, [](const Invocation& i) -> Result<json::value> { return i.call().input; }));
  }
  const auto engine = opened(builder.guard("files", of_verdict::judge));
  EXPECT_EQ(engine->call(call_of("delete"))->outcome, Outcome::blocked("nothing is deleted here"));
  EXPECT_EQ(engine->call(call_of("write"))->result.output, R"({"path":"/tmp/x"})");
  EXPECT_EQ(engine->call(call_of("read"))->result.output, "{}");
}

TEST(HeaderExamplesTest, GuardrailGate) {
  const auto engine = opened(EngineBuilder("").policy(
      "version: 1\nguardrails: {checks: [{type: blocklist, stage: output, on_fail: redact, "
      "words: [bluebird]}]}\n"));
  const std::vector<std::string> deltas = {"a blue", "bird sings"};
  std::string shown;
  const auto show = [&](const std::string& text) { shown += text; };
  Result<std::unique_ptr<GuardrailGate>> gate = engine->arm(GuardrailStage::Output);
  for (const std::string& delta : deltas) show((*gate)->push(delta)->text);
  show((*gate)->finish()->text);
  EXPECT_EQ(shown, "a [redacted] sings");
}

TEST(HeaderExamplesTest, ModelError) {
  ProviderError busy{.kind = ProviderError::Kind::Http, .status = 503, .body = "overloaded"};
  EXPECT_TRUE(is_transient(busy));
  EXPECT_EQ(text_of(busy), "http 503: overloaded");
  RuntimeError error{RuntimeError::Kind::SendRequest, "the request failed", busy};
  EXPECT_EQ(error.category(), ErrorCategory::Retryable);
  EXPECT_EQ(abort_reason(error), "error: the request failed");
}

namespace of_pipeline {
Result<Verdict> hide_names(const Envelope&, const ResultContext&) {
  return Verdict::rewrite(Envelope::of("A. pays").to_json());
}
}  // namespace of_pipeline

TEST(HeaderExamplesTest, ResultPipeline) {
  using of_pipeline::hide_names;
  ResultPipeline pipeline;
  (void)pipeline.add("no-names", hide_names);
  const PipelineOutcome outcome = pipeline.evaluate(Envelope::of("Ada pays"));
  EXPECT_EQ(outcome.verdict, Verdict::Kind::Rewrite);
  EXPECT_EQ(outcome.released.to_result().output, "A. pays");
}

TEST(HeaderExamplesTest, Retry) {
  int sent = 0;
  const auto send_request = [&](std::uint64_t) -> std::optional<ProviderError> {
    ++sent;
    return ProviderError{.kind = ProviderError::Kind::Http, .status = 400};
  };
  const RetrySchedule schedule;
  for (std::uint64_t attempt = 1;; ++attempt) {
    const std::optional<ProviderError> error = send_request(attempt);
    if (!error) break;
    const auto wait = schedule.after(attempt, *error);
    if (!wait || !wait_for_retry(*wait)) break;
  }
  EXPECT_EQ(sent, 1);
}

TEST(HeaderExamplesTest, Topic) {
  const auto engine = opened(EngineBuilder("").threads(2));
  std::vector<std::string> mails;
  const auto send_mail = [&](const std::string& kind, const json::value&) {
    mails.push_back(kind);
  };
  (void)engine->publish({.topic = "builds", .kind = "build.started", .payload = {{"id", 7}}});
  Result<TopicPage> page = engine->read_topic("builds", *engine->cursor("builds", "mailer"));
  for (const StoredEvent& event : page->events) send_mail(event.kind, event.payload);
  (void)engine->move_cursor("builds", "mailer", page->events.back().id);
  EXPECT_EQ(mails, std::vector<std::string>{"build.started"});
  EXPECT_EQ(engine->cursor("builds", "mailer"), 1u);
}

}  // namespace
}  // namespace sallyport
