#include "ledger/read/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <sstream>

#include "base/encoding.h"
#include "ledger/maintenance.h"
#include "ledger/proof/merkle.h"
#include "ledger/proof/note.h"
#include "ledger/proof/verify.h"
#include "support/test_clock.h"
#include "support/test_ledger.h"

namespace sallyport::ledger {
namespace {

using test::TestClock;
using test::TestLedger;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

using Text = std::vector<std::string>;

Text json_lines(TestLedger& ledger, std::optional<std::uint64_t> after = std::nullopt) {
  Text lines;
  const Result<void> done = ledger.store().read([&](ReadView& view) {
    return export_json_lines(view, after, [&](std::string_view line) -> Result<void> {
      lines.emplace_back(line);
      return {};
    });
  });
  EXPECT_TRUE(done) << done.error().message;
  return lines;
}

Text cef(TestLedger& ledger, const Filter& filter = {}, bool with_openings = false) {
  Text lines;
  const Result<void> done = ledger.store().read([&](ReadView& view) {
    return export_cef(view, filter, "1.2", with_openings,
                      [&](std::string_view line) -> Result<void> {
                        lines.emplace_back(line);
                        return {};
                      });
  });
  EXPECT_TRUE(done) << done.error().message;
  return lines;
}

VerifierKey key_of(TestLedger& ledger) {
  std::string text;
  const Result<void> done = ledger.store().read([&](ReadView& view) -> Result<void> {
    text = view.fact("ledger", "key")->value();
    return {};
  });
  EXPECT_TRUE(done);
  return *VerifierKey::parse(text);
}

std::string joined(const Text& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

LedgerReport verified(const std::string& text, const VerifierKey& key) {
  std::istringstream in(text);
  return verify_export(in, key);
}

// Returns the `check` of the first fault, or "" for a good file.
std::string check_of(const Text& lines, const VerifierKey& key) {
  const LedgerReport report = verified(joined(lines), key);
  EXPECT_EQ(report.ok, !report.first_bad.has_value());
  return report.first_bad ? report.first_bad->check : "";
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from << " is not in " << text;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

core::Draft audit(std::string tool, std::string outcome, json::object body = {}) {
  core::Draft draft{
      .kind = core::Kind::ToolAudit, .outcome = std::move(outcome), .body = std::move(body)};
  draft.subject = Subject{.policy_hash = "sha256:ab",
                          .call_id = "call_1",
                          .agent_id = "bot",
                          .tool_name = std::move(tool)};
  return draft;
}

core::Draft on_topic(std::string topic) {
  core::Draft draft = TestLedger::event({{"n", 1}});
  draft.topic = std::move(topic);
  return draft;
}

// LE-64
TEST(JsonLinesExportTest, EachLineHoldsTheSignedBytesAndOnlyOpenOpenings) {
  TestLedger ledger;
  ledger.open();
  core::Draft draft = TestLedger::event({{"reason", "because"}, {"result", "never kept"}});
  draft.exact.push_back({.path = "/result", .bytes = "secret", .raw = true, .withheld = true});
  const core::Position place = ledger.append(std::move(draft));
  const Text lines = json_lines(ledger);
  ASSERT_EQ(lines.size(), place.sequence + 2);

  std::string bytes;
  ASSERT_TRUE(ledger.store().read([&](ReadView& view) -> Result<void> {
    bytes = *view.entry(place.sequence)->value().bytes;
    return {};
  }));
  const std::string& line = lines[place.sequence];
  EXPECT_THAT(line, StartsWith(R"({"entry":)" + bytes +
                               R"(,"openings":[{"form":"json","path":"/body/reason","salt":")"));
  EXPECT_THAT(line, testing::EndsWith(R"(","value":"because"}]})"));
  const json::value parsed = *parse_own_json(line);
  EXPECT_EQ(parsed.at("openings").as_array().size(), 1u);
  EXPECT_THAT(lines.back(), StartsWith(R"({"checkpoint":")" + ledger->origin() + R"(\n)"));
}

// LE-64
TEST(JsonLinesExportTest, VerifiesOfflineAgainstThePinnedKey) {
  TestLedger ledger;
  ledger.open();
  ledger.append_many(600);
  const LedgerReport report = verified(joined(json_lines(ledger)), key_of(ledger));
  EXPECT_TRUE(report.ok) << canonical_json(report.to_json());
  EXPECT_EQ(report.tree_size, 602u);
  EXPECT_EQ(report.origin, ledger->origin());
}

// LE-37
TEST(JsonLinesExportTest, AnOpeningIsExportedUpToTheLongestLineAndLeftOutBeyondIt) {
  TestLedger ledger;
  ledger.open();
  const auto line_with = [&](std::size_t size) {
    const core::Position place =
        ledger.append(TestLedger::event({{"reason", std::string(size, 'x')}}));
    return json_lines(ledger).at(place.sequence);
  };
  const std::size_t rest = line_with(1).size() - 1;
  EXPECT_EQ(line_with(kMaxExportLine - rest).size(), kMaxExportLine);
  EXPECT_THAT(line_with(kMaxExportLine - rest + 1), testing::EndsWith(R"(,"openings":[]})"));
  EXPECT_EQ(check_of(json_lines(ledger), key_of(ledger)), "");
}

// LE-67, LE-62
TEST(JsonLinesExportTest, ResumesAfterASequenceAndTheSameRangeHasTheSameBytes) {
  TestLedger ledger;
  ledger.open();
  ledger.append_many(20);
  const Text whole = json_lines(ledger);
  EXPECT_EQ(json_lines(ledger), whole);
  const Text later = json_lines(ledger, 9);
  ASSERT_EQ(later.size(), whole.size() - 10);
  EXPECT_TRUE(std::equal(later.begin(), later.end(), whole.begin() + 10));
  EXPECT_THAT(json_lines(ledger, 21), ElementsAre(whole.back()));
  EXPECT_THAT(json_lines(ledger, UINT64_MAX), ElementsAre(whole.back()));
  ledger.close();
  ledger.open();
  const Text restarted = json_lines(ledger);
  EXPECT_TRUE(std::equal(whole.begin(), whole.end() - 1, restarted.begin()));
}

// LE-67
TEST(JsonLinesExportTest, ErasedContentIsInNoLaterExportAndItsEntryStillVerifies) {
  TestLedger ledger;
  ledger.open();
  ledger.append(TestLedger::event({{"text", "a thing to forget"}}, "call-9"));
  ASSERT_TRUE(ledger->transact(erase({.call_id = "call-9"}, "ops", "asked for")));
  const Text lines = json_lines(ledger);
  EXPECT_THAT(joined(lines), Not(HasSubstr("a thing to forget")));
  EXPECT_EQ(check_of(lines, key_of(ledger)), "");
}

// LE-64
TEST(JsonLinesExportTest, AnEmptyLedgerHasNothingToExport) {
  auto store = store::SqliteStore::in_memory();
  ASSERT_TRUE(store);
  const Result<void> done = (*store)->read([](ReadView& view) {
    return export_json_lines(view, {}, [](std::string_view) -> Result<void> { return {}; });
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::NotFound);
}

// LE-64, LE-67
TEST(VerifyExportTest, ConcatenatedPartsVerifyAndALaterPartAloneSaysWhatIsMissing) {
  TestLedger ledger;
  ledger.open();
  ledger.append_many(10);
  const Text first = json_lines(ledger);
  ledger.append_many(10);
  const Text second = json_lines(ledger, 11);
  const VerifierKey key = key_of(ledger);
  EXPECT_TRUE(verified(joined(first) + joined(second), key).ok);
  EXPECT_TRUE(verified(joined(first) + joined(json_lines(ledger, 11)) + second.back(), key).ok);

  const LedgerReport alone = verified(joined(second), key);
  ASSERT_TRUE(alone.first_bad);
  EXPECT_EQ(alone.first_bad->check, "missing_sequence");
  EXPECT_THAT(alone.first_bad->detail, HasSubstr("put the export of entries 0 to 11 before it"));
  EXPECT_EQ(check_of({second.back()}, key), "missing_sequence");
}

// LE-64, LE-50
TEST(VerifyExportTest, EachKindOfDamageIsNamed) {
  TestLedger ledger;
  ledger.open();
  ledger.append(TestLedger::event({{"n", 1}, {"text", "one"}}, "call-1"));
  ledger.append(TestLedger::event({{"n", 2}, {"text", "two"}}, "call-2"));
  ledger.append(on_topic("t"));
  ledger.append(on_topic("t"));
  const Text good = json_lines(ledger);
  const VerifierKey key = key_of(ledger);
  ASSERT_EQ(check_of(good, key), "");
  const auto damaged = [&](auto change) {
    Text lines = good;
    change(lines);
    return check_of(lines, key);
  };
  EXPECT_EQ(damaged([](Text& l) { l[2] = replaced(l[2], R"("n":1)", R"("n":3)"); }), "root");
  EXPECT_EQ(damaged([](Text& l) { l[2] = replaced(l[2], R"("value":"one")", R"("value":"One")"); }),
            "opening");
  EXPECT_EQ(damaged([](Text& l) { l[2] = replaced(l[2], R"("/body/text")", R"("/body/n")"); }),
            "opening");
  EXPECT_EQ(damaged([](Text& l) { l[2] = replaced(l[2], R"("n":1)", R"("n": 1)"); }),
            "entry_bytes");
  EXPECT_EQ(
      damaged([](Text& l) { l[2] = replaced(l[2], R"("kind":"event")", R"("kind":"other")"); }),
      "entry_bytes");
  EXPECT_EQ(damaged([](Text& l) { l[2] += "\r"; }), "entry_bytes");
  EXPECT_EQ(damaged([](Text& l) { l[2].pop_back(); }), "entry_bytes");
  EXPECT_EQ(damaged([](Text& l) { l[2].clear(); }), "entry_bytes");
  EXPECT_EQ(damaged([](Text& l) { l.erase(l.begin() + 2); }), "missing_sequence");
  EXPECT_EQ(damaged([](Text& l) { std::swap(l[2], l[3]); }), "missing_sequence");
  EXPECT_EQ(damaged([](Text& l) { l.insert(l.begin() + 2, l[2]); }), "missing_sequence");
  EXPECT_EQ(damaged([](Text& l) { l[5] = replaced(l[5], R"("topic_id":2)", R"("topic_id":3)"); }),
            "topic_order");
  EXPECT_EQ(damaged([](Text& l) {
              const std::string id(parse_own_json(l[2])->at("entry").at("id").as_string());
              l[3] = replaced(l[3], parse_own_json(l[3])->at("entry").at("id").as_string(), id);
            }),
            "duplicate_id");
  EXPECT_EQ(damaged([](Text& l) { l.pop_back(); }), "checkpoint_signature");
  EXPECT_EQ(damaged([](Text& l) { std::swap(l[5], l[6]); }), "missing_sequence");
  EXPECT_EQ(damaged([](Text& l) { l.clear(); }), "checkpoint_signature");
}

// LE-64: values missing in the file are counted, except values that the log itself erased.
TEST(VerifyExportTest, OpeningsThatAreMissingAreCountedUnlessTheyWereErased) {
  TestLedger ledger;
  ledger.open();
  for (const char* const call : {"call-1", "call-2"}) {
    ledger.append(TestLedger::event({{"input", "one"}, {"text", "two"}}, call));
  }
  const VerifierKey key = key_of(ledger);
  const auto missing = [&](const Text& lines) {
    const LedgerReport report = verified(joined(lines), key);
    EXPECT_TRUE(report.ok) << report.first_bad->detail;
    return report.openings_missing;
  };
  const auto without_openings = [](std::string line) {
    return line.substr(0, line.find(R"("openings":[)") + 12) + "]}";
  };
  Text lines = json_lines(ledger);
  EXPECT_EQ(missing(lines), 0u);
  lines[2] = without_openings(lines[2]);
  EXPECT_EQ(missing(lines), 2u);
  ASSERT_TRUE(ledger->transact(erase({.call_id = "call-1"}, "ops", "asked to")));
  EXPECT_EQ(missing(json_lines(ledger)), 0u);
  lines = json_lines(ledger);
  lines[3] = without_openings(lines[3]);
  EXPECT_EQ(missing(lines), 2u) << "of another call";
}

// LE-64, LE-50
TEST(VerifyExportTest, NoByteOfAnExportCanBeChangedUnnoticed) {
  TestLedger ledger;
  ledger.open();
  ledger.append(TestLedger::event({{"n", 1}, {"text", "one"}}, "call-1"));
  std::string text = joined(json_lines(ledger));
  const VerifierKey key = key_of(ledger);
  ASSERT_TRUE(verified(text, key).ok);
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (const char bit : {char(1), char(0x20)}) {
      text[i] = static_cast<char>(text[i] ^ bit);
      EXPECT_FALSE(verified(text, key).ok) << i;
      text[i] = static_cast<char>(text[i] ^ bit);
    }
    if (i + 1 < text.size()) EXPECT_FALSE(verified(text.substr(0, i), key).ok) << i;
  }
}

// LE-64, LE-49
TEST(VerifyExportTest, AFaultNamesItsLineAndTheFirstEntryInDoubt) {
  TestLedger ledger;
  ledger.open();
  ledger.append_many(4);
  const Text first = json_lines(ledger);
  ledger.append_many(4);
  Text second = json_lines(ledger, 5);
  second[1] = replaced(second[1], R"("n":1)", R"("n":9)");
  const LedgerReport report = verified(joined(first) + joined(second), key_of(ledger));
  ASSERT_TRUE(report.first_bad);
  EXPECT_EQ(report.first_bad->check, "root");
  EXPECT_EQ(report.first_bad->sequence, 6u);
  EXPECT_THAT(report.first_bad->detail, StartsWith("line 12: "));

  const LedgerReport broken = verified(first[0] + "\n{\n", key_of(ledger));
  EXPECT_EQ(broken.first_bad->check, "entry_bytes");
  EXPECT_EQ(broken.first_bad->sequence, 1u);
  EXPECT_THAT(broken.first_bad->detail, StartsWith("line 2: "));
  const LedgerReport blank = verified(first[0] + "\n\n" + first[1] + "\n", key_of(ledger));
  EXPECT_EQ(blank.first_bad->detail, "line 2: the line is empty");
}

// LE-64
TEST(VerifyExportTest, AnotherKeyAForgedSignatureAndAnotherOriginAreRefused) {
  TestLedger ledger;
  ledger.open();
  const Text good = json_lines(ledger);
  const VerifierKey key = key_of(ledger);
  SystemEntropy entropy;
  const SigningKey other = SigningKey::generate(key.name, entropy);
  EXPECT_EQ(check_of(good, other.verifier()), "checkpoint_signature");
  EXPECT_EQ(check_of(good, SigningKey::generate("else.example", entropy).verifier()),
            "checkpoint_signature");

  const std::string note(parse_own_json(good.back())->at("checkpoint").as_string());
  Text forged = good;
  const Checkpoint state = *Checkpoint::parse(Note::parse(note)->text);
  forged.back() = canonical_json(json::object{{"checkpoint", state.sign({&other})}});
  EXPECT_EQ(check_of(forged, key), "checkpoint_signature");
  std::string bent = note;
  bent[bent.size() - 20] = bent[bent.size() - 20] == 'A' ? 'B' : 'A';
  forged.back() = canonical_json(json::object{{"checkpoint", bent}});
  EXPECT_EQ(check_of(forged, key), "checkpoint_signature");
}

// LE-64, LE-27
TEST(VerifyExportTest, PartsFromBeforeAndAfterARotationVerifyWithTheNewKey) {
  TestLedger ledger;
  ledger.open();
  const VerifierKey old_key = key_of(ledger);
  const Text first = json_lines(ledger);
  ASSERT_TRUE(ledger->rotate_key(false));
  ledger.append_many(3);
  const VerifierKey new_key = key_of(ledger);
  Text second = json_lines(ledger, first.size() - 2);
  EXPECT_TRUE(verified(joined(first) + joined(second), new_key).ok);
  EXPECT_TRUE(verified(joined(first) + joined(second), old_key).ok);
  // Without the checkpoint that both keys signed, only the new key vouches for itself.
  ASSERT_TRUE(second.at(1).starts_with(R"({"checkpoint":)"));
  second.erase(second.begin() + 1);
  EXPECT_TRUE(verified(joined(first) + joined(second), new_key).ok);
  EXPECT_FALSE(verified(joined(first) + joined(second), old_key).ok);
}

// LE-64, LE-27
TEST(VerifyExportTest, TheOldKeyLeadsToTheNewOneUnlessItWasCompromised) {
  for (const bool compromised : {false, true}) {
    TestLedger ledger;
    ledger.open();
    const VerifierKey old_key = key_of(ledger);
    ASSERT_TRUE(ledger->rotate_key(compromised));
    const Text first = json_lines(ledger);  // its checkpoint carries both signatures
    ledger.append_many(3);
    const std::string both = joined(first) + joined(json_lines(ledger, first.size() - 2));
    EXPECT_EQ(verified(both, old_key).ok, !compromised);
    EXPECT_TRUE(verified(both, key_of(ledger)).ok);
    // One export made later holds the checkpoint of the rotation too.
    EXPECT_EQ(verified(joined(json_lines(ledger)), old_key).ok, !compromised);
    EXPECT_TRUE(verified(joined(json_lines(ledger)), key_of(ledger)).ok);
  }
}

// LE-64, LE-60
TEST(VerifyExportTest, PrunedEntriesStandAsLeavesAndOthersMayNot) {
  TestLedger ledger;
  ledger.open();
  for (int i = 0; i < 5; ++i) ledger.append(on_topic("t"));
  const Text before = json_lines(ledger);
  ASSERT_TRUE(ledger->transact(prune(5, "ops", "old")));
  ledger.append(on_topic("t"));
  const Text lines = json_lines(ledger);
  EXPECT_THAT(lines[2], testing::MatchesRegex(R"(\{"leaf":"[^"]{44}","sequence":2\})"));
  const VerifierKey key = key_of(ledger);
  EXPECT_EQ(check_of(lines, key), "");

  Text hidden = lines;
  const std::string bytes = canonical_json(parse_own_json(lines[5])->at("entry"));
  const Hash leaf = leaf_hash(bytes);
  hidden[5] = R"({"leaf":")" + base64(leaf) + R"(","sequence":5})";
  EXPECT_EQ(check_of(hidden, key), "entry_bytes");
  hidden[5] = R"({"leaf":"AAAA","sequence":5})";
  EXPECT_EQ(check_of(hidden, key), "entry_bytes");
}

// LE-78
TEST(VerifyExportTest, ALineOverTheLimitEndsInsteadOfFillingMemory) {
  TestLedger ledger;
  ledger.open();
  const VerifierKey key = key_of(ledger);
  const LedgerReport report = verified(std::string(kMaxExportLine + 2, ' '), key);
  ASSERT_TRUE(report.first_bad);
  EXPECT_EQ(report.first_bad->check, "entry_bytes");
  EXPECT_THAT(report.first_bad->detail, HasSubstr("line 1: it is longer than 16 MiB"));
}

// LE-78, LE-79
TEST(VerifyExportTest, MalformedCheckpointsAndForeignBytesAreRefused) {
  TestLedger ledger;
  ledger.open();
  const Text good = json_lines(ledger);
  const VerifierKey key = key_of(ledger);
  for (const std::string& last :
       {std::string("{\"checkpoint\":1}"), std::string("{\"checkpoint\":\"\"}"),
        std::string("{\"checkpoint\":\"a\\n01\\nb\\n\\n\"}"), std::string("\xff"),
        std::string("\xef\xbb\xbf{}"), std::string("{\"a\":1,\"a\":1}"), std::string("[]"),
        replaced(good.back(), "{", R"({"a":1,)"), replaced(good.back(), R"(\n2\n)", R"(\n02\n)")}) {
    Text lines = good;
    lines.back() = last;
    EXPECT_EQ(check_of(lines, key), "entry_bytes") << last;
  }
}

// LE-66
TEST(CefExportTest, AnEventHasTheHeaderAndTheFieldsOfItsEntry) {
  const TestClock clock;
  TestLedger ledger;
  ledger.clock = &clock;
  ledger.open();
  ledger.append(audit("read_file", "completed", {{"result", "the content"}}));
  EXPECT_EQ(cef(ledger).back(),
            "CEF:0|Sallyport|sallyport|1.2|tool_audit.completed|read_file|3|rt=1763172000000 "
            "externalId=2 suser=bot act=completed cs1Label=policyHash cs1=sha256:ab cs2Label=call "
            "cs2=call_1");
  EXPECT_EQ(
      cef(ledger)[1],
      "CEF:0|Sallyport|sallyport|1.2|control.started|control|1|rt=1763172000000 externalId=1");
}

// LE-66
TEST(CefExportTest, SpecialCharactersAreEscapedByTheRulesOfThePlaceTheyStandIn) {
  TestLedger ledger;
  ledger.open();
  core::Draft draft = audit("a|b\\c=d\nCEF:0|x", "blocked");
  draft.subject.set(&Subject::agent_id, "x=1|2\\\r\ny\x1b[2J\u009b2J\u00e9");
  ledger.append(std::move(draft));
  const std::string line = cef(ledger).back();
  EXPECT_THAT(line, HasSubstr("|tool_audit.blocked|a\\|b\\\\c=d CEF:0\\|x|6|"));
  EXPECT_THAT(line, HasSubstr(" suser=x\\=1|2\\\\\\r\\ny [2J 2J\u00e9 act="));
  EXPECT_THAT(line, Not(HasSubstr("\n")));
}

// Bidirectional characters and line separators once went out as they are.
// LE-66, AP-39
TEST(CefExportTest, HiddenCharactersAreShownByTheirNumbers) {
  TestLedger ledger;
  ledger.open();
  ledger.append(audit("t\xe2\x80\xaex \xe2\x80\xa8z \xc2\x85 \xc3\xbc", "blocked"));
  EXPECT_THAT(cef(ledger).back(), HasSubstr("|t\\\\u{202E}x \\\\u{2028}z   \xc3\xbc|"));
}

// LE-66
TEST(CefExportTest, SealedValuesAppearOnlyWhenAskedFor) {
  TestLedger ledger;
  ledger.open();
  ledger.append(audit("t", "completed", {{"result", "a=b"}, {"n", 1}}));
  EXPECT_THAT(cef(ledger).back(), Not(HasSubstr("a\\=b")));
  EXPECT_THAT(cef(ledger).back(), Not(HasSubstr("msg=")));
  EXPECT_THAT(cef(ledger, {}, true).back(), testing::EndsWith(R"( msg={"n":1,"result":"a\=b"})"));
}

// LE-66
TEST(CefExportTest, AMessageIsCutBetweenCharacters) {
  TestLedger ledger;
  ledger.open();
  std::string text = "x";
  for (int i = 0; i < 800; ++i) text += "\u00e9";
  ledger.append(audit("t", "completed", {{"result", text}}));
  const std::string line = cef(ledger, {}, true).back();
  const std::string message = line.substr(line.find(" msg=") + 5);
  EXPECT_LE(message.size(), 1023u);
  EXPECT_GE(message.size(), 1020u);
  EXPECT_THAT(message, testing::EndsWith("\u00e9..."));
}

// LE-66
TEST(CefExportTest, SeverityFollowsOutcomeAndControl) {
  const auto severity = [](core::Draft draft) {
    TestLedger ledger;
    ledger.open();
    ledger.append(std::move(draft));
    const std::string line = cef(ledger).back();
    std::size_t at = 0;
    for (int bars = 0; bars < 6; ++bars) at = line.find('|', at) + 1;
    return std::stoi(line.substr(at));
  };
  EXPECT_EQ(severity(audit("t", "cached")), 2);
  EXPECT_EQ(severity(audit("t", "requires_confirmation")), 5);
  EXPECT_EQ(severity(audit("t", "invalidated")), 6);
  EXPECT_EQ(severity(audit("t", "persistence_failed")), 8);
  EXPECT_EQ(severity(control("fail_open_started")), 8);
  EXPECT_EQ(severity(control("refused_control")), 9);
  EXPECT_EQ(severity(control("rollback_acknowledged")), 9);
  EXPECT_EQ(severity(control("gap", {{"clean", false}})), 5);
  EXPECT_EQ(severity(control("gap", {{"clean", true}})), 1);
  EXPECT_EQ(severity(TestLedger::event({})), 1);
}

// LE-62, LE-67
TEST(CefExportTest, TheFilterOfQueriesChoosesTheEvents) {
  TestLedger ledger;
  ledger.open();
  ledger.append_many(300);
  const Text one_call = cef(ledger, {.facets = {{Facet::Call, "call-10"}}});
  EXPECT_EQ(one_call.size(), 4u);
  EXPECT_EQ(cef(ledger, {.after = 299}).size(), 2u);
  EXPECT_EQ(cef(ledger, {.limit = 7}).size(), 7u);
  EXPECT_EQ(cef(ledger, {.after = 299}), cef(ledger, {.after = 299}));
}

}  // namespace
}  // namespace sallyport::ledger
