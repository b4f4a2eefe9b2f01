#include "ledger/entry/entry.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <set>
#include <stdexcept>

#include "base/encoding.h"
#include "ledger/maintenance.h"
#include "support/test_clock.h"
#include "support/test_ledger.h"
#include "vectors.h"

namespace sallyport::ledger {
namespace {

std::vector<Opening> openings_of(const SealedDraft& sealed) {
  return *unpack_openings(sealed.packed_openings());
}

using test::TestLedger;

constexpr std::string_view kInstance = "01966f4c-2000-7000-8000-0000000000aa";
constexpr std::string_view kId = "01966f4c-2000-7000-8000-000000000001";

class EntryTest : public testing::Test {
 protected:
  Result<SealedDraft> seal(core::Draft draft) {
    const SealedDraft::Parts parts{redactor_, digest_, entropy_, kInstance};
    SealedDraft::LastSubject none;
    return SealedDraft::seal(std::move(draft), *parse_uuid(kId), parts, none);
  }

  std::string bytes(core::Draft draft) {
    const Result<SealedDraft> sealed = seal(std::move(draft));
    EXPECT_TRUE(sealed) << sealed.error().message;
    return sealed ? sealed->bytes(7, clock_.wall(), 3) : "";
  }

  static core::Draft draft(json::object body) {
    return {.kind = core::Kind::ToolAudit, .body = std::move(body)};
  }

  test::TestClock clock_;
  core::NoRedactor redactor_;
  KeyedDigest digest_{"key of the data folder"};
  SystemEntropy entropy_;
};

// LE-1
TEST_F(EntryTest, WhatDoesNotApplyIsLeftOut) {
  EXPECT_EQ(bytes({.kind = core::Kind::Event, .body = {{"n", 1}}}),
            R"({"body":{"n":1},"id":"01966f4c-2000-7000-8000-000000000001",)"
            R"("instance_id":"01966f4c-2000-7000-8000-0000000000aa","kind":"event",)"
            R"("recorded_at":"2025-11-15T02:00:00.000000Z","schema":"sallyport.entry.v1",)"
            R"("sequence":7})");
}

core::Draft full_draft() {
  core::Draft full{
      .kind = core::Kind::ToolAudit,
      .subject = Subject{"sha256:11", "call_1", "session_1", "agent\n1", "fs", "read", "trace_1"},
      .outcome = "completed",
      .topic = "builds",
      .body = {{"z", true}, {"a", "b"}}};
  return full;
}

// LE-1
TEST_F(EntryTest, EveryMemberStandsInItsCanonicalPlace) {
  const std::string text = bytes(full_draft());
  EXPECT_EQ(text, R"({"agent_id":"agent\n1","body":{"a":"b","z":true},"call_id":"call_1",)"
                  R"("id":"01966f4c-2000-7000-8000-000000000001",)"
                  R"("instance_id":"01966f4c-2000-7000-8000-0000000000aa","kind":"tool_audit",)"
                  R"("outcome":"completed","policy_hash":"sha256:11",)"
                  R"("recorded_at":"2025-11-15T02:00:00.000000Z","schema":"sallyport.entry.v1",)"
                  R"("sequence":7,"server":"fs","session_id":"session_1","tool_name":"read",)"
                  R"("topic":"builds","topic_id":3,"trace_id":"trace_1"})");
  const Result<json::value> entry = parse_own_json(text);
  ASSERT_TRUE(entry);
  EXPECT_EQ(canonical_json(*entry), text);
  EXPECT_TRUE(check_entry(*entry));
}

// LE-1
TEST_F(EntryTest, AViewHasEveryMember) {
  const Result<EntryView> view = view_entry(bytes(full_draft()));
  ASSERT_TRUE(view);
  EXPECT_EQ(view->sequence, 7U);
  EXPECT_EQ(view->id, kId);
  EXPECT_EQ(view->kind, "tool_audit");
  EXPECT_EQ(view->recorded_at, "2025-11-15T02:00:00.000000Z");
  EXPECT_EQ(view->instance_id, kInstance);
  EXPECT_EQ(view->policy_hash, "sha256:11");
  EXPECT_EQ(view->call_id, "call_1");
  EXPECT_EQ(view->session_id, "session_1");
  EXPECT_EQ(view->agent_id, "agent\n1");
  EXPECT_EQ(view->server, "fs");
  EXPECT_EQ(view->tool_name, "read");
  EXPECT_EQ(view->outcome, "completed");
  EXPECT_EQ(view->trace_id, "trace_1");
  EXPECT_EQ(view->topic, "builds");
  EXPECT_EQ(view->topic_id, 3U);
}

// LE-50
TEST_F(EntryTest, AViewOfDamagedBytesIsAnError) {
  const std::string text = bytes(full_draft());
  for (const std::string& bad :
       {std::string(), std::string("[]"), std::string("{"), text.substr(0, text.size() / 2),
        vectors::with(text, R"("sequence":7)", R"("sequence":"7")"),
        vectors::with(text, R"("sequence":7)", R"("sequence":-7)"),
        vectors::with(text, R"("kind":"tool_audit")", R"("kind":5)")}) {
    const Result<EntryView> view = view_entry(bad);
    ASSERT_FALSE(view) << bad;
    EXPECT_EQ(view.error().code, ErrorCode::Corrupt);
  }
}

// LE-2
TEST_F(EntryTest, EveryKindHasItsName) {
  const std::pair<core::Kind, std::string_view> kinds[] = {{core::Kind::Event, "event"},
                                                           {core::Kind::Intent, "intent"},
                                                           {core::Kind::ToolAudit, "tool_audit"},
                                                           {core::Kind::GuardHit, "guard_hit"},
                                                           {core::Kind::Approval, "approval"},
                                                           {core::Kind::Trust, "trust"},
                                                           {core::Kind::Grant, "grant"},
                                                           {core::Kind::Topic, "topic"},
                                                           {core::Kind::HookFailed, "hook_failed"},
                                                           {core::Kind::Control, "control"}};
  for (const auto& [kind, name] : kinds) {
    EXPECT_EQ(view_entry(bytes({.kind = kind}))->kind, name);
    EXPECT_EQ(core::kind_from(name), kind);
  }
  for (const std::string_view name : {"", "Event", "events", "unknown"}) {
    EXPECT_EQ(core::kind_from(name), std::nullopt);
  }
}

// LE-1, LE-2, LE-80
TEST_F(EntryTest, AnEntryFromElsewhereIsCheckedMemberByMember) {
  const std::string good = bytes(full_draft());
  struct Case {
    std::string text;
    std::string_view where;
  };
  const auto changed = [&](std::string_view from, std::string_view to) {
    return vectors::with(good, from, to);
  };
  for (const Case& bad : std::initializer_list<Case>{
           {"[]", "entry"},
           {changed(R"("sequence":7,)", ""), "sequence"},
           {changed(R"("sequence":7)", R"("sequence":-1)"), "sequence"},
           {changed(R"("sequence":7)", R"("sequence":"7")"), "sequence"},
           {changed(R"("sequence":7)", R"("sequence":0.5)"), "sequence"},
           {changed(R"("kind":"tool_audit")", R"("kind":"gossip")"), "kind"},
           {changed(R"("kind":"tool_audit")", R"("kind":null)"), "kind"},
           {changed("entry.v1", "entry.v2"), "schema"},
           {changed("-000000000001", "-00000000000"), "id"},
           {changed("01966f4c-2000-7000-8000-000000000001", "01966F4C-2000-7000-8000-000000000001"),
            "id"},
           {changed("00.000000Z", "00Z"), "recorded_at"},
           {changed("00.000000Z", "00.000000+00:00"), "recorded_at"},
           {changed("2025-11-15", "2025-13-15"), "recorded_at"},
           {changed(R"("call_id":"call_1")", R"("call_id":null)"), "call_id"},
           {changed(R"("body":{"a":"b","z":true})", R"("body":[])"), "body"},
           {changed(R"("topic_id":3)", R"("topic_id":"3")"), "topic_id"},
           {changed(R"("server":"fs")", R"("servant":"fs")"), "servant"},
           {changed(R"("kind":)", R"("redactions":{},"kind":)"), "redactions"},
           {changed(R"("a":"b")", R"("text":"plain")"), "text"},
           {changed(R"("a":"b")", R"("a":[{"b":{"input":{"$sealed":"sha256:00"}}}])"), "input"},
           {changed(R"("a":"b")", R"("result":{"$sealed":7})"), "result"}}) {
    const Result<ParsedJson> entry = parse_json(bad.text);
    ASSERT_TRUE(entry) << bad.text;
    const Result<void> checked = check_entry(entry->value);
    ASSERT_FALSE(checked) << bad.text;
    EXPECT_EQ(checked.error().code, ErrorCode::InvalidInput);
    EXPECT_EQ(checked.error().where, bad.where) << bad.text;
  }
}

// LE-4
TEST_F(EntryTest, AnEntryIsAtMost65535Bytes) {
  std::size_t largest = 0;
  for (std::size_t length = 65'000; length < 65'600; ++length) {
    const Result<SealedDraft> sealed = seal(draft({{"n", std::string(length, 'x')}}));
    if (!sealed) {
      EXPECT_NE(sealed.error().message.find("65535"), std::string::npos);
      break;
    }
    const std::uint64_t last = std::numeric_limits<std::int64_t>::max();
    largest = sealed->bytes(last, clock_.wall(), last).size();
  }
  EXPECT_LE(largest, kMaxEntryBytes);
  EXPECT_GT(largest, kMaxEntryBytes - 100);
}

// LE-4
TEST_F(EntryTest, SealedContentDoesNotCount) {
  const Result<SealedDraft> sealed = seal(draft({{"text", std::string(1 << 20, 'x')}}));
  ASSERT_TRUE(sealed) << sealed.error().message;
  EXPECT_LT(sealed->bytes(0, clock_.wall(), 0).size(), 1000U);
  EXPECT_EQ(openings_of(*sealed).at(0).value.size(), (1U << 20) + 2);
}

// LE-12, LE-14
TEST_F(EntryTest, ContentIsSealedAtAnyDepthAndNullStaysNull) {
  const Result<SealedDraft> sealed =
      seal(draft({{"input", {{"path", "/tmp/x"}}},
                  {"call_id", "call_1"},
                  {"list", {1, {{"deep~/name", {{"text", "b"}}}}, {{"error", nullptr}}}},
                  {"reason", ""},
                  {"args", json::array{}},
                  {"answer", false}}));
  ASSERT_TRUE(sealed) << sealed.error().message;
  const json::value entry = *parse_own_json(sealed->bytes(0, clock_.wall(), 0));
  EXPECT_TRUE(check_entry(entry));
  std::set<std::string> paths;
  for (const Opening& opening : openings_of(*sealed)) {
    EXPECT_TRUE(check_opening(entry, opening)) << opening.path;
    EXPECT_EQ(opening.form, Form::Json);
    EXPECT_EQ(opening.state, OpeningState::Open);
    paths.insert(opening.path);
  }
  EXPECT_EQ(paths, (std::set<std::string>{"/body/input", "/body/list/1/deep~0~1name/text",
                                          "/body/reason", "/body/args", "/body/answer"}));
  EXPECT_TRUE(entry.at_pointer("/body/list/2/error").is_null());
  EXPECT_EQ(entry.at_pointer("/body/call_id"), "call_1");
  EXPECT_EQ(canonical_json(entry).find("/tmp/x"), std::string::npos);
}

// LE-14
TEST_F(EntryTest, ContentThatLooksLikeACommitmentIsSealedLikeAllOther) {
  const std::string fake = "sha256:" + std::string(64, '0');
  const Result<SealedDraft> sealed = seal(draft({{"input", {{"$sealed", fake}}}}));
  ASSERT_TRUE(sealed);
  EXPECT_EQ(sealed->bytes(0, clock_.wall(), 0).find(fake), std::string::npos);
  EXPECT_EQ(openings_of(*sealed).at(0).value, "{\"$sealed\":\"" + fake + "\"}");
}

// LE-15
TEST_F(EntryTest, EqualContentIsSealedDifferentlyEachTime) {
  std::set<std::string> digests;
  std::set<Salt> salts;
  for (int i = 0; i < 50; ++i) {
    const Result<SealedDraft> sealed = seal(draft({{"text", "same"}, {"input", "same"}}));
    ASSERT_TRUE(sealed);
    const std::string text = sealed->bytes(0, clock_.wall(), 0);
    EXPECT_EQ(text.find(hex(sha256("\"same\""))), std::string::npos);
    EXPECT_EQ(text.find(hex(sha256("same"))), std::string::npos);
    for (const Opening& opening : openings_of(*sealed)) {
      salts.insert(opening.salt);
      digests.insert(seal_digest(opening.form, opening.salt, opening.value));
    }
  }
  EXPECT_EQ(salts.size(), 100U);
  EXPECT_EQ(digests.size(), 100U);
}

// LE-10: integers beyond 2^53 were once rounded when they were stored, so that the records of two
// different inputs were equal
TEST_F(EntryTest, ContentWithNumbersBeyond2To53IsStoredRawAndUnrounded) {
  for (const std::string_view number :
       {"9007199254740993", "-9007199254740993", "18446744073709551615", "9007199254740992"}) {
    const std::string content = "{\"id\":" + std::string(number) + "}";
    const Result<SealedDraft> sealed =
        seal(draft({{"input", parse_json(content)->value}, {"text", "t"}}));
    ASSERT_TRUE(sealed);
    const json::value entry = *parse_own_json(sealed->bytes(0, clock_.wall(), 0));
    const Opening opening = openings_of(*sealed).at(0);
    EXPECT_EQ(opening.form, Form::Raw);
    EXPECT_EQ(opening.value, content);
    EXPECT_TRUE(check_opening(entry, opening));
    EXPECT_EQ(json::serialize(opened_body(entry, openings_of(*sealed)).at("input")), content);
  }
  EXPECT_EQ(openings_of(*seal(draft({{"input", 9007199254740991}}))).at(0).form, Form::Json);
  EXPECT_EQ(openings_of(*seal(draft({{"input", {1e300}}}))).at(0).form, Form::Raw);
  EXPECT_EQ(openings_of(*seal(draft({{"input", {1.5, 1e-7}}}))).at(0).form, Form::Json);
}

// LE-9, LE-80
TEST_F(EntryTest, AnUnsealedNumberBeyond2To53IsRefused) {
  EXPECT_FALSE(seal(draft({{"n", 9007199254740992}})));
  EXPECT_FALSE(seal(draft({{"list", {{{"n", 1e21}}}}})));
  EXPECT_TRUE(seal(draft({{"n", 9007199254740991}})));
}

// LE-80
TEST_F(EntryTest, DraftsThatCanBeNoEntryAreRefused) {
  EXPECT_FALSE(seal(draft({{"n", "\xff"}})));
  EXPECT_FALSE(seal(draft({{"text", "\xc3"}})));
  EXPECT_FALSE(seal(draft({{"\xed\xa0\x80", 1}})));
  EXPECT_FALSE(seal(draft({{"n", HUGE_VAL}})));
  json::value deep = 1;
  for (int i = 0; i < 119; ++i) deep = json::array{deep};
  EXPECT_TRUE(seal(draft({{"text", deep}})));
  EXPECT_FALSE(seal(draft({{"text", json::array{deep}}})));
  for (std::string Subject::* member :
       {&Subject::policy_hash, &Subject::call_id, &Subject::session_id, &Subject::agent_id,
        &Subject::server, &Subject::tool_name, &Subject::trace_id}) {
    core::Draft bad;
    bad.subject.set(member, "\xff");
    EXPECT_FALSE(seal(bad));
    bad.subject.set(member, std::string(4097, 'x'));
    EXPECT_FALSE(seal(bad));
    bad.subject.set(member, std::string(4096, 'x'));
    EXPECT_TRUE(seal(bad));
  }
}

// LE-16
TEST_F(EntryTest, AnOpenedBodyShowsTheStateOfWhatIsNotOpen) {
  const Result<SealedDraft> sealed = seal(
      draft({{"input", {{"a", 1}}}, {"text", "t"}, {"error", "e"}, {"list", {{{"reason", "r"}}}}}));
  ASSERT_TRUE(sealed);
  const json::value entry = *parse_own_json(sealed->bytes(0, clock_.wall(), 0));
  std::vector<Opening> openings = openings_of(*sealed);
  EXPECT_EQ(
      opened_body(entry, openings),
      (json::value{
          {"input", {{"a", 1}}}, {"text", "t"}, {"error", "e"}, {"list", {{{"reason", "r"}}}}}));
  std::erase_if(openings, [](const Opening& o) { return o.path == "/body/list/0/reason"; });
  for (Opening& opening : openings) {
    if (opening.path == "/body/text") opening.state = OpeningState::Withheld;
    if (opening.path == "/body/error") opening.state = OpeningState::Erased;
  }
  const json::value body = opened_body(entry, openings);
  EXPECT_EQ(body.at_pointer("/input/a"), 1);
  EXPECT_EQ(body.at_pointer("/text/state"), "withheld");
  EXPECT_EQ(body.at_pointer("/error/state"), "erased");
  EXPECT_EQ(body.at_pointer("/list/0/reason/state"), "sealed");
  EXPECT_EQ(body.at_pointer("/text/$sealed"), entry.at_pointer("/body/text/$sealed"));
}

// LE-33
TEST_F(EntryTest, MembersThatRepeatTheBodyMustAgreeWithIt) {
  const auto meaning = [](json::value outer, json::object body) {
    outer.as_object()["body"] = std::move(body);
    return check_meaning(outer);
  };
  EXPECT_TRUE(meaning({{"call_id", "a"}}, {{"call_id", "a"}}));
  EXPECT_TRUE(meaning({{"call_id", "a"}}, {}));
  EXPECT_TRUE(meaning({{"outcome", "ok"}}, {{"outcome", {{"kind", "ok"}}}}));
  EXPECT_TRUE(meaning({{"server", "a"}}, {{"server", {{"name", "b"}}}}));
  for (const std::string_view name : {"policy_hash", "call_id", "session_id", "agent_id", "server",
                                      "tool_name", "outcome", "trace_id", "topic", "instance_id"}) {
    const Result<void> checked = meaning({{name, "a"}}, {{name, "b"}});
    ASSERT_FALSE(checked) << name;
    EXPECT_EQ(checked.error().where, name);
  }
  EXPECT_FALSE(meaning({{"outcome", "ok"}}, {{"outcome", {{"kind", "failed"}}}}));
  EXPECT_FALSE(meaning({{"topic_id", 1}}, {{"topic_id", 2}}));
}

// LE-3
TEST(EntryInLedgerTest, SequencesHaveNoGapsAndNoRepeats) {
  TestLedger ledger;
  ledger.open();
  const std::vector<core::Position> positions = ledger.append_many(600);
  std::set<std::string> ids;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    EXPECT_EQ(positions[i].sequence, positions[0].sequence + i);
    ids.insert(positions[i].id);
  }
  EXPECT_EQ(ids.size(), 600U);
}

// LE-3
TEST(EntryInLedgerTest, SequenceDecidesOrderWhenTheClockGoesBack) {
  test::TestClock clock;
  TestLedger ledger;
  ledger.clock = &clock;
  ledger.open();
  const core::Position before = ledger.append(TestLedger::event({{"n", 1}}));
  clock.step_wall(-std::chrono::hours(1));
  const core::Position after = ledger.append(TestLedger::event({{"n", 2}}));
  EXPECT_GT(after.sequence, before.sequence);
  EXPECT_TRUE(ledger.store().read([&](ReadView& view) -> Result<void> {
    const EntryView first = view_entry(*view.entry(before.sequence).value()->bytes).value();
    const EntryView second = view_entry(*view.entry(after.sequence).value()->bytes).value();
    EXPECT_LT(second.recorded_at, first.recorded_at);
    return {};
  }));
  ledger.close();
}

// LE-5
TEST(EntryInLedgerTest, AnIdThatExistsIsAnsweredWithItsPlace) {
  TestLedger ledger;
  ledger.open();
  core::Draft draft = TestLedger::event({{"n", 1}});
  draft.id = "01966f4c-2000-7000-8000-000000000077";
  const core::Position first = ledger.append(draft);
  EXPECT_EQ(first.id, *draft.id);
  EXPECT_EQ(ledger.append(draft), first);
  ledger.append_many(600);
  draft.body["n"] = 2;
  EXPECT_EQ(ledger.append(draft), first);
  ledger.close();
  ledger.open();
  EXPECT_EQ(ledger.append(draft), first);
  const core::Position next = ledger.append(TestLedger::event({}));
  EXPECT_EQ(ledger.append(draft), first);
  EXPECT_EQ(ledger.append(TestLedger::event({})).sequence, next.sequence + 1);
}

std::vector<std::string> written_bytes(TestLedger& ledger) {
  std::vector<std::string> bytes;
  EXPECT_TRUE(ledger.store().read([&](ReadView& view) {
    return view.scan(0, view.size().value(), [&](const StoredEntry& entry) -> Result<bool> {
      bytes.push_back(entry.bytes.value());
      return true;
    });
  }));
  return bytes;
}

// LE-6
TEST(EntryInLedgerTest, WrittenBytesStayAsTheyWereWhateverIsDone) {
  TestLedger ledger;
  ledger.open();
  ledger.append_many(300);
  const std::vector<std::string> before = written_bytes(ledger);
  EXPECT_TRUE(ledger->transact(erase({.call_id = "call-3"}, "somebody", "asked to")));
  EXPECT_TRUE(ledger->transact(set_hold("h", {.call_id = "call-4"}, "somebody", "a case")));
  EXPECT_TRUE(ledger->rotate_key(false));
  ledger.close();
  ledger.open();
  std::vector<std::string> after = written_bytes(ledger);
  ASSERT_GT(after.size(), before.size() + 3);
  after.resize(before.size());
  EXPECT_EQ(after, before);
}

// LE-5, LE-80
TEST(EntryInLedgerTest, ADraftThatIsRefusedLeavesNothingBehind) {
  TestLedger ledger;
  ledger.open();
  const core::Position before = ledger.append(TestLedger::event({{"n", 1}}));
  core::Draft no_uuid = TestLedger::event({{"n", 2}});
  no_uuid.id = "not a uuid";
  for (const core::Draft& bad : {no_uuid, TestLedger::event({{"n", "\xff"}}),
                                 TestLedger::event({{"n", std::string(70'000, 'x')}})}) {
    const auto refused =
        ledger->append_blocking({TestLedger::event({{"n", 3}}), bad}, core::Urgency::Announces);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::InvalidInput);
  }
  EXPECT_EQ(ledger.append(TestLedger::event({{"n", 4}})).sequence, before.sequence + 1);
}

}  // namespace
}  // namespace sallyport::ledger
