#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "sallyport/outcome.h"
#include "unit/core/shape_checks.h"

namespace sallyport {
namespace {

using Kind = Outcome::Kind;

const auto read = [](const json::value& value) { return outcome_from_json(value); };
const auto read_prepared = [](const json::value& value) { return prepared_from_json(value); };

constexpr std::string_view kResult =
    R"({"success":true,"output":"ok","data":null,"duration_ms":3})";
constexpr std::string_view kPrepared =
    R"({"operation_id":"op-7","revision":2,"snapshot":{"amount":40},)"
    R"("expires_at":"2026-11-15T12:00:00.000000Z"})";

struct Case {
  Kind kind;
  std::string text;
  Outcome made;
};

std::vector<Case> cases() {
  const ToolResult ok{.success = true, .output = "ok", .duration_ms = 3};
  const Prepared prepared{"op-7", 2, {{"amount", 40}}, "2026-11-15T12:00:00.000000Z"};
  return {
      {Kind::Blocked, R"({"kind":"blocked","reason":"no"})", Outcome::blocked("no")},
      {Kind::RequiresConfirmation,
       R"({"kind":"requires_confirmation","description":"sure?","listen_context":null})",
       Outcome::requires_confirmation("sure?")},
      {Kind::RequiresConfirmation,
       fmt::format(
           R"({{"kind":"requires_confirmation","description":"sure?","listen_context":{}}})",
           kPrepared),
       Outcome::requires_confirmation("sure?", prepared)},
      {Kind::Cached, fmt::format(R"({{"kind":"cached","result":{}}})", kResult),
       Outcome::cached(ok)},
      {Kind::Replayed, fmt::format(R"({{"kind":"replayed","result":{}}})", kResult),
       Outcome::replayed(ok)},
      {Kind::Invalidated, R"({"kind":"invalidated","reason":"gone"})",
       Outcome::invalidated("gone")},
      {Kind::Completed, fmt::format(R"({{"kind":"completed","result":{}}})", kResult),
       Outcome::completed(ok)},
      {Kind::PersistenceFailed, R"({"kind":"persistence_failed","result":null,"error":"full"})",
       Outcome::persistence_failed("full")},
      {Kind::PersistenceFailed,
       fmt::format(R"({{"kind":"persistence_failed","result":{},"error":"full"}})", kResult),
       Outcome::persistence_failed("full", ok)},
  };
}

// AU-21
TEST(OutcomeShapeTest, EachOfTheSevenIsReadAndWrittenAgainByteForByte) {
  std::set<Kind> met;
  for (const Case& each : cases()) {
    expect_round_trip(each.text, read);
    EXPECT_EQ(canonical_json(to_json(each.made)), canonical_json(parsed(each.text)));
    const Result<Outcome> outcome = read(parsed(each.text));
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_EQ(*outcome, each.made);
    EXPECT_EQ(outcome->kind, each.kind);
    EXPECT_EQ(to_string(outcome->kind), parsed(each.text).at("kind").as_string());
    met.insert(each.kind);
  }
  EXPECT_EQ(met.size(), 7u);
}

// AU-22
TEST(OutcomeShapeTest, OnlyFourKindsHaveAResult) {
  for (const Case& each : cases()) {
    const json::value value = parsed(each.text);
    const json::value* const written = value.as_object().if_contains("result");
    EXPECT_EQ(each.made.result.has_value(), written != nullptr && !written->is_null()) << each.text;
  }
  for (const std::string_view kind : {"blocked", "invalidated"}) {
    const Result<Outcome> outcome =
        read(parsed(fmt::format(R"({{"kind":"{}","reason":"r","result":{}}})", kind, kResult)));
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_FALSE(outcome->result) << kind;
  }
}

// AU-94 (partly)
TEST(OutcomeShapeTest, AMemberThatIsMissingOrOfAnotherTypeIsNamed) {
  for (const Case& each : cases()) {
    const json::value value = parsed(each.text);
    Leniency leniency;
    if (value.as_object().contains("listen_context")) {
      leniency.optional.insert("/listen_context");
      if (!value.at("listen_context").is_null()) {
        leniency.open.insert("/listen_context/snapshot");
        leniency.optional.insert("/listen_context/expires_at");
      }
    }
    if (each.kind == Kind::PersistenceFailed) leniency.optional.insert("/result");
    if (each.made.result) {
      leniency.open.insert("/result/data");
      leniency.optional.insert({"/result/data", "/result/duration_ms"});
    }
    expect_each_member_is_checked(each.text, "outcome", leniency, read);
  }
  expect_refused(json::value("blocked"), "outcome", read);
}

// AU-93 (partly)
TEST(OutcomeShapeTest, AnUnknownKindIsRefusedWithTheSeven) {
  for (const std::string_view word : {"lost", "Blocked", ""}) {
    const json::value value{{"kind", word}, {"reason", "r"}};
    expect_refused(value, "outcome.kind", read);
    const std::string message = read(value).error().message;
    EXPECT_NE(message.find(fmt::format("`{}`", word)), std::string::npos) << message;
    for (const Case& each : cases()) {
      EXPECT_NE(message.find(fmt::format("`{}`", to_string(each.kind))), std::string::npos)
          << message;
    }
  }
}

// AU-93 (partly)
TEST(OutcomeShapeTest, UnknownMembersAreIgnored) {
  const Result<Outcome> outcome =
      read(parsed(R"({"kind":"blocked","reason":"no","rule":"r1","extra":{}})"));
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(*outcome, Outcome::blocked("no"));
}

// AU-17 (partly)
TEST(OutcomeShapeTest, EffectStatesAreWords) {
  for (const EffectState state : {EffectState::None, EffectState::Done, EffectState::Unknown}) {
    EXPECT_EQ(effect_state_from(to_string(state)), state);
  }
  EXPECT_EQ(to_string(EffectState::None), "none");
  EXPECT_EQ(to_string(EffectState::Done), "done");
  EXPECT_EQ(to_string(EffectState::Unknown), "unknown");
  EXPECT_EQ(effect_state_from("Done"), std::nullopt);
}

// AU-61
TEST(PreparedTest, IsReadAndWrittenAgainByteForByte) {
  expect_round_trip(kPrepared, read_prepared);
  expect_round_trip(R"({"operation_id":"","revision":0,"snapshot":null})", read_prepared);
  expect_each_member_is_checked(
      kPrepared, "prepared", {.open = {"/snapshot"}, .optional = {"/expires_at"}}, read_prepared);
}

// AU-61 AU-96 (partly)
TEST(PreparedTest, AnExpiryIsWrittenInUtcOrRefused) {
  json::value value = parsed(kPrepared);
  value.at("expires_at") = "2026-11-15T14:00:00+02:00";
  const Result<Prepared> prepared = read_prepared(value);
  ASSERT_TRUE(prepared) << prepared.error().message;
  EXPECT_EQ(prepared->expires_at, "2026-11-15T12:00:00.000000Z");
  for (const std::string_view wrong : {"", "tomorrow", "2026-11-15", "2026-11-15T12:00:00",
                                       "2026-13-15T12:00:00Z", "1763208000"}) {
    value.at("expires_at") = wrong;
    expect_refused(value, "prepared.expires_at", read_prepared);
  }
}

// AU-63 (partly)
TEST(PreparedTest, TheEffectiveInputHoldsWhatWasAskedAndWhatWasPrepared) {
  Prepared prepared{"op-7", 2, {{"amount", 40}}, "2026-11-15T12:00:00.000000Z"};
  EXPECT_EQ(canonical_json(effective_input({{"to", "bob"}}, prepared)),
            R"({"expires_at":"2026-11-15T12:00:00.000000Z","operation_id":"op-7",)"
            R"("prepared_snapshot":{"amount":40},"requested_input":{"to":"bob"},"revision":2})");
  prepared.expires_at.reset();
  EXPECT_EQ(canonical_json(effective_input(nullptr, prepared)),
            R"({"expires_at":null,"operation_id":"op-7","prepared_snapshot":{"amount":40},)"
            R"("requested_input":null,"revision":2})");
}

}  // namespace
}  // namespace sallyport
