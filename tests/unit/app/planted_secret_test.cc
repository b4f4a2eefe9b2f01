// A secret is planted in turn in every text that comes from outside, and then searched for in every
// file of the data folder.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/handoff/interrupted_call.h"
#include "core/plan/authorizer.h"
#include "core/plan/pre_hook.h"
#include "support/governed.h"
#include "support/governed_ledger.h"
#include "support/ledger_checks.h"

namespace sallyport::core {
namespace {

using test::FakePreparer;
using test::FakeUpstream;
using test::FunctionApprover;
using test::FunctionGuard;
using test::FunctionHook;
using test::FunctionResultGuard;
using test::FunctionSink;
using test::Governed;

// One call on a separate ledger, with a secret in one of its fields.
struct Scene {
  PlanBuilder plan = PlanBuilder().autonomy(Autonomy::ActAuto);
  Call call = Governed::read_file();
  std::shared_ptr<Upstream> tool = std::make_shared<FakeUpstream>();
  std::shared_ptr<const Approver> approver;
  HookRegistry hooks;
  std::vector<std::shared_ptr<const Sink>> sinks;

  void guard(Verdict verdict) {
    plan.guard(std::make_shared<FunctionGuard>("g", [verdict](const Call&) { return verdict; }));
  }
  void result_guard(Verdict verdict) {
    plan.result_guard(std::make_shared<FunctionResultGuard>(
        "r", [verdict](const Envelope&, const ResultContext&) { return verdict; }));
  }
  void hook(PreHookDecision decision) {
    plan.guard(std::make_shared<PreHookGuard>(
        "h", [decision](PreHookContext) -> Task<PreHookDecision> { co_return decision; },
        PreHookGuard::Options{}));
  }
  void answers(Result<Envelope> envelope) {
    tool = std::make_shared<FakeUpstream>(FakeUpstream::Simple(
        [envelope](Call, std::stop_token) -> Task<Envelope> { co_return envelope; }));
  }
  void asks(Result<Reply> reply) {
    plan.autonomy(Autonomy::ActWithApproval);
    approver = std::make_shared<FunctionApprover>([reply](const Question&) { return reply; });
  }
  void hears(std::string_view event, std::string error) {
    EXPECT_TRUE(hooks.with_hook(std::make_shared<FunctionHook>(
        "listener", [event, error](const Event& heard, const Subject&) -> Result<void> {
          if (event_type(heard) != event) return {};
          return fail(ErrorCode::Unavailable, error);
        })));
  }
  FakePreparer& prepares() {
    const auto preparer = std::make_shared<FakePreparer>();
    tool = preparer;
    return *preparer;
  }
  void prepares(Result<std::optional<PrepareStep>> step) {
    prepares().next = [step](unsigned) -> Task<std::optional<PrepareStep>> { co_return step; };
  }
};

struct Field {
  std::string name;
  std::function<void(Scene&, const std::string& text)> plant;
  bool kept = true;  // the ledger holds the text around the secret; else the whole text is left out
};

Verdict with_evidence(Verdict verdict, json::value evidence) {
  verdict.evidence = std::move(evidence);
  return verdict;
}

std::vector<Field> fields_of_the_call() {
  const auto set = [](std::string Call::* member) {
    return [member](Scene& scene, const std::string& text) { scene.call.*member = text; };
  };
  return {
      {"input", [](Scene& s, const std::string& t) { s.call.input = {{"a", {1, t}}}; }},
      {"input as text", [](Scene& s, const std::string& t) { s.call.input = t; }},
      {"member name", [](Scene& s, const std::string& t) { s.call.input = {{t, 1}}; }},
      {"exact input",
       [](Scene& s, const std::string& t) {
         s.call.raw_input = "{\"n\":12345678901234567890,\"t\":\"" + t + "\"}";
         s.call.input = {{"n", 12345678901234567890.0}, {"t", t}};
       }},
      {"session_id", set(&Call::session_id)},
      {"agent_id", set(&Call::agent_id)},
      {"agent_name", set(&Call::agent_name), false},
      {"trace_id", set(&Call::trace_id)},
      {"server", set(&Call::server)},
      {"tool", set(&Call::tool)},
      {"tool_call_id", set(&Call::tool_call_id)},
      {"provider", [](Scene& s, const std::string& t) { s.call.provenance.provider = t; }},
      {"model", [](Scene& s, const std::string& t) { s.call.provenance.model = t; }},
  };
}

std::vector<Field> fields_of_the_first_door() {
  return {
      {"deny reason", [](Scene& s, const std::string& t) { s.guard(Verdict::deny(t)); }},
      {"rule", [](Scene& s, const std::string& t) { s.guard(Verdict::deny("no", t)); }},
      {"evidence",
       [](Scene& s, const std::string& t) {
         s.guard(with_evidence(Verdict::allow(), {{"seen", t}}));
       }},
      {"evidence as text",
       [](Scene& s, const std::string& t) {
         s.guard(with_evidence(Verdict::allow(), json::value(t)));
       }},
      {"question",
       [](Scene& s, const std::string& t) {
         s.asks(Reply::approve("user:ada"));
         s.guard(Verdict::ask(t));
       }},
      {"escalation", [](Scene& s, const std::string& t) { s.guard(Verdict::escalate(t)); }},
      {"rewrite", [](Scene& s, const std::string& t) { s.guard(Verdict::rewrite({{"a", t}})); }},
      {"rewrite reason",
       [](Scene& s, const std::string& t) { s.guard(Verdict::rewrite({{"a", 1}}, t)); }},
      {"guard error",
       [](Scene& s, const std::string& t) {
         s.plan.guard(std::make_shared<FunctionGuard>(
             "g", [t](const Call&) -> Result<Verdict> { return fail(ErrorCode::Unavailable, t); }));
       },
       false},
      {"guard exception",
       [](Scene& s, const std::string& t) {
         s.plan.guard(std::make_shared<FunctionGuard>(
             "g", [t](const Call&) -> Result<Verdict> { throw std::runtime_error(t); }));
       },
       false},
      {"hook reason", [](Scene& s, const std::string& t) { s.hook(PreHookDecision::deny(t)); }},
      {"hook input",
       [](Scene& s, const std::string& t) {
         s.hook(PreHookDecision::modify("{\"a\":\"" + t + "\"}", t));
       }},
      {"hook input that is no JSON",
       [](Scene& s, const std::string& t) { s.hook(PreHookDecision::modify("{\"a\":" + t)); },
       false},
      {"authorizer",
       [](Scene& s, const std::string& t) {
         s.plan.guard(std::make_shared<AuthorizerGuard>(
             "host", [t](AuthorizationRequest) -> Task<Authorization> {
               co_return Authorization{Authorization::Kind::Deny, t};
             }));
       }},
      {"authorizer's question",
       [](Scene& s, const std::string& t) {
         s.asks(Reply::approve("user:ada"));
         s.plan.guard(std::make_shared<AuthorizerGuard>(
             "host", [t](AuthorizationRequest) -> Task<Authorization> {
               co_return Authorization{Authorization::Kind::Prompt, t};
             }));
       }},
      {"error of a listener that stops",
       [](Scene& s, const std::string& t) { s.hears("tool_execution_started", t); }, false},
      {"error of a listener that is told",
       [](Scene& s, const std::string& t) { s.hears("tool_execution_finished", t); }},
      {"error of a sink",
       [](Scene& s, const std::string& t) {
         s.sinks.push_back(std::make_shared<FunctionSink>(
             "sink",
             [t](const AuditRecord&) -> Result<void> { return fail(ErrorCode::Unavailable, t); }));
       }},
      {"reviewer", [](Scene& s, const std::string& t) { s.asks(Reply::approve("user:" + t)); }},
      {"reason of a person",
       [](Scene& s, const std::string& t) { s.asks(Reply::deny("user:ada", t)); }},
      {"error of an approver",
       [](Scene& s, const std::string& t) {
         s.asks(std::unexpected(Error{ErrorCode::Unavailable, t}));
       }},
  };
}

class DescribedTool final : public Upstream {
 public:
  DescribedTool(Result<json::value> structured, std::string directory)
      : structured_(std::move(structured)), directory_(std::move(directory)) {}
  Task<Envelope> invoke(Call, std::shared_ptr<Delivery>, std::stop_token) override {
    co_return Envelope::of("hello");
  }
  Result<json::value> structured_input(const Call&) const override { return structured_; }
  std::string working_directory() const override { return directory_; }

 private:
  Result<json::value> structured_;
  std::string directory_;
};

Envelope failed(std::string message, json::value data) {
  Envelope envelope = Envelope::error(std::move(message));
  envelope.data = std::move(data);
  return envelope;
}

std::vector<Field> fields_of_the_tool() {
  return {
      {"result text",
       [](Scene& s, const std::string& t) { s.answers(Envelope::of(json::value(t))); }},
      {"result data",
       [](Scene& s, const std::string& t) { s.answers(Envelope::of({{"a", {{"b", t}}}})); }},
      {"error message", [](Scene& s, const std::string& t) { s.answers(Envelope::error(t)); }},
      {"error data",
       [](Scene& s, const std::string& t) { s.answers(failed("failed", {{"detail", t}})); }},
      {"bytes that are no answer",
       [](Scene& s, const std::string& t) { s.answers(Envelope::malformed_output("{" + t)); },
       false},
      {"stream",
       [](Scene& s, const std::string& t) {
         s.tool = std::make_shared<FakeUpstream>(
             [t](Call, std::shared_ptr<Delivery> delivery, std::stop_token) -> Task<Envelope> {
               delivery->add("a piece ");
               delivery->add(json::value(t));
               co_return delivery->finish();
             });
       }},
      {"progress",
       [](Scene& s, const std::string& t) {
         s.tool = std::make_shared<FakeUpstream>(
             [t](Call, std::shared_ptr<Delivery> delivery, std::stop_token) -> Task<Envelope> {
               co_await delivery->progress(json::value(t));
               co_return Envelope::of("hello");
             });
       },
       false},
      {"long output",
       [](Scene& s, const std::string& t) {
         s.answers(Envelope::of(json::value(std::string(70'000, 'x') + "\n" + t)));
       }},
      {"secret across the cut",
       [](Scene& s, const std::string& t) {
         s.answers(Envelope::of(json::value(std::string(50 * 1024 - 10, ' ') + t)));
       }},
      {"way to the tool",
       [](Scene& s, const std::string& t) {
         s.answers(std::unexpected(Error{ErrorCode::Unavailable, t}));
       }},
      {"exception of the tool",
       [](Scene& s, const std::string& t) {
         s.tool = std::make_shared<FakeUpstream>(FakeUpstream::Simple(
             [t](Call, std::stop_token) -> Task<Envelope> { throw std::runtime_error(t); }));
       },
       false},
      {"preview",
       [](Scene& s, const std::string& t) {
         s.tool = std::make_shared<DescribedTool>(json::value{{"a", t}}, "");
       }},
      {"error of the preview",
       [](Scene& s, const std::string& t) {
         s.tool = std::make_shared<DescribedTool>(fail(ErrorCode::InvalidInput, t), "");
       }},
      {"working directory",
       [](Scene& s, const std::string& t) {
         s.tool = std::make_shared<DescribedTool>(json::value(), "/home/" + t);
       }},
  };
}

std::vector<Field> fields_of_the_second_door() {
  return {
      {"result guard's reason",
       [](Scene& s, const std::string& t) { s.result_guard(Verdict::deny(t)); }},
      {"result guard's evidence",
       [](Scene& s, const std::string& t) {
         s.result_guard(with_evidence(Verdict::allow(), {{"seen", t}}));
       }},
      {"result guard's rule",
       [](Scene& s, const std::string& t) { s.result_guard(Verdict::deny("no", t)); }},
      {"result guard's escalation",
       [](Scene& s, const std::string& t) { s.result_guard(Verdict::escalate(t)); }},
      {"result guard's rewrite",
       [](Scene& s, const std::string& t) {
         s.result_guard(Verdict::rewrite(Envelope::of(json::value(t)).to_json()));
       }},
      {"original of a rewrite",
       [](Scene& s, const std::string& t) {
         s.answers(Envelope::of(json::value(t)));
         s.result_guard(Verdict::rewrite(Envelope::of("masked").to_json()));
       },
       false},
  };
}

std::vector<Field> fields_of_a_preparation() {
  using Step = PrepareStep;
  return {
      {"snapshot",
       [](Scene& s, const std::string& t) {
         s.asks(Reply::approve("user:ada"));
         s.prepares().prepared.snapshot = {{"a", t}};
       }},
      {"operation id",
       [](Scene& s, const std::string& t) {
         s.asks(Reply::approve("user:ada"));
         s.prepares().prepared.operation_id = t;
       }},
      {"end of a preparation",
       [](Scene& s, const std::string& t) { s.prepares().prepared.expires_at = t; }},
      {"invalid preparation",
       [](Scene& s, const std::string& t) {
         s.prepares(Step{.kind = Step::Kind::Invalid, .text = t});
       }},
      {"refused preparation",
       [](Scene& s, const std::string& t) {
         s.prepares(Step{.kind = Step::Kind::Refused, .text = t});
       }},
      {"failed preparation",
       [](Scene& s, const std::string& t) {
         s.prepares(std::unexpected(Error{ErrorCode::Unavailable, t}));
       }},
      {"other revision",
       [](Scene& s, const std::string& t) {
         s.prepares().execute = [t](Call, std::stop_token) -> Task<Envelope> {
           co_return PreparingUpstream::other_revision(t);
         };
       }},
  };
}

// The secret of one field, so that each is searched for alone: the last two letters name it.
std::string numbered(const std::string& secret, std::size_t number) {
  std::string own = secret;
  own[own.size() - 2] = static_cast<char>('A' + number / 26);
  own[own.size() - 1] = static_cast<char>('A' + number % 26);
  return own;
}

class PlantedSecretTest : public testing::TestWithParam<std::string> {
 protected:
  PlantedSecretTest() {
    ledger_.redactor = &test::storage_redactor();
    ledger_.close_interrupted = close_interrupted;
    ledger_.open();
  }

  void plant(const Field& field, const std::string& text, const std::string& id) {
    Scene scene;
    scene.call.tool_call_id = id;
    field.plant(scene, text);
    const FixedPlan plans(*scene.plan.build());
    Governor governor({.plans = plans,
                       .recorder = *ledger_,
                       .redactor = test::storage_redactor(),
                       .clock = clock_,
                       .entropy = entropy_,
                       .digest = ledger_->digest(),
                       .hooks = scene.hooks,
                       .sinks = scene.sinks,
                       .approver = scene.approver});
    for (int presented = 1; presented <= 2; ++presented) {
      const Result<Answer> answer = test::run_now(governor.run(scene.call, scene.tool));
      EXPECT_TRUE(answer) << field.name << ": " << answer.error().message;
    }
  }

  void expect_in_no_file(const std::vector<Field>& fields, std::string_view when) {
    for (const auto& file : std::filesystem::recursive_directory_iterator(ledger_.folder.path())) {
      if (!file.is_regular_file()) continue;
      std::ostringstream bytes;
      bytes << std::ifstream(file.path(), std::ios::binary).rdbuf();
      const std::string content = bytes.str();
      for (std::size_t i = 0; i < fields.size(); ++i) {
        EXPECT_EQ(content.find(numbered(GetParam(), i)), std::string::npos)
            << fields[i].name << " in " << file.path().filename() << " " << when;
      }
    }
  }

  void look_for(const std::vector<Field>& fields) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const std::string id = "n" + std::to_string(i);
      plant(fields[i], id + "planted " + numbered(GetParam(), i) + " here", id);
    }
    std::string all;
    for (const test::Seen& seen : test::all_entries(ledger_.store())) {
      all += json::serialize(seen.entry) + json::serialize(seen.body);
    }
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const std::string around = "n" + std::to_string(i) + "planted [REDACTED:";
      EXPECT_EQ(all.find(around) != std::string::npos, fields[i].kept) << fields[i].name;
    }
    expect_in_no_file(fields, "while the ledger is open");
    EXPECT_EQ(test::verdict(ledger_.store()), "ok");
    ledger_.close();
    expect_in_no_file(fields, "when it is closed");
  }

  test::TestLedger ledger_;
  SystemClock clock_;
  SystemEntropy entropy_;
};

INSTANTIATE_TEST_SUITE_P(Secrets, PlantedSecretTest,
                         testing::Values("AKIAIOSFODNN7EXAMPLE",
                                         "ghp_16C7e42F292c6912E7710c838347Ae178B4a"),
                         [](const auto& tested) { return tested.param.substr(0, 3); });

// AU-81 AU-84 PI-47
TEST_P(PlantedSecretTest, OfACallerIsInNoFile) {
  look_for(fields_of_the_call());
}

// AU-81 AU-84 PI-47
TEST_P(PlantedSecretTest, OfAGuardAHookOrAPersonIsInNoFile) {
  look_for(fields_of_the_first_door());
}

// AU-20 AU-81 AU-84 PI-47
TEST_P(PlantedSecretTest, OfAToolIsInNoFile) {
  look_for(fields_of_the_tool());
}

// AU-81 AU-84 PI-47
TEST_P(PlantedSecretTest, OfAGuardOfResultsIsInNoFile) {
  look_for(fields_of_the_second_door());
}

// AU-81 AU-84 PI-47
TEST_P(PlantedSecretTest, OfAPreparationIsInNoFile) {
  look_for(fields_of_a_preparation());
}

}  // namespace
}  // namespace sallyport::core
