// Generated histories of calls, and the conditions that hold after each of them.
#include "support/call_history.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/effort.h"

namespace sallyport::core {
namespace {

using test::Fault;
using test::History;

constexpr std::uint64_t kBaseSeed = 20'250'601;

std::uint64_t wanted_histories(std::uint64_t usual) {
  const char* const text = std::getenv("SALLYPORT_HISTORIES");
  return text == nullptr ? test::rounds(static_cast<int>(usual)) : std::strtoull(text, nullptr, 10);
}

std::string described(std::uint64_t seed, const Fault& fault) {
  constexpr std::array kNames{"None", "Refuses", "RefusesAnnouncements", "DiesBefore", "DiesAfter"};
  return fmt::format("seed {}, fault {} at write {} for {}", seed,
                     kNames[static_cast<std::size_t>(fault.kind)], fault.at, fault.period);
}

// The outcomes of the histories, each with the first words of its text.
using Endings = std::set<std::string>;

void note_endings(const History& history, Endings& endings) {
  for (const test::ModelDisk::Entry& entry : history.disk.entries) {
    if (entry.draft.kind != Kind::ToolAudit) continue;
    const std::string reason = test::text_at(entry.draft, "/outcome/reason");
    const std::string error = test::text_at(entry.draft, "/outcome/error");
    const std::string& text = reason == "(absent)" ? error : reason;
    endings.insert(entry.draft.outcome);
    endings.insert(fmt::format("{} {}", entry.draft.outcome, text.substr(0, text.find(':'))));
  }
}

// Returns the number of writes; nothing after a violation.
std::optional<std::size_t> play_and_check(std::uint64_t seed, const Fault& fault,
                                          Endings* endings = nullptr) {
  History history(seed);
  test::play(history, fault);
  const std::vector<std::string> violations = test::violations_of(history);
  for (const std::string& violation : violations) {
    ADD_FAILURE() << described(seed, fault) << ": " << violation;
  }
  if (!violations.empty()) return std::nullopt;
  if (endings != nullptr) note_endings(history, *endings);
  return history.disk.writes;
}

Fault any_fault(std::uint64_t seed) {
  const test::Dice dice(seed);
  return {.kind = static_cast<Fault::Kind>(dice.pick(5, {"fault"})),
          .at = 1 + dice.pick(40, {"fault at"}),
          .period = 1 + dice.pick(4, {"fault for"})};
}

void fail_every_write(Fault::Kind kind, std::uint64_t period, std::uint64_t histories) {
  for (std::uint64_t n = 0; n < histories; ++n) {
    const std::uint64_t seed = kBaseSeed + 1'000'000 + n;
    const std::optional<std::size_t> writes = play_and_check(seed, {});
    ASSERT_TRUE(writes);
    for (std::size_t at = 1; at <= *writes; ++at) {
      ASSERT_TRUE(play_and_check(seed, {kind, at, period}));
    }
  }
}

// AU-32 AU-33 AU-34 AU-35 AU-36 AU-38 AU-45 AU-49 AU-50 AU-76 AU-78 EV-51 EV-54 EV-60 EV-62
TEST(CallHistoryTest, WhateverHappensEachCallIsToldOnceAndInOrder) {
  Endings endings;
  const std::uint64_t wanted = wanted_histories(800);
  for (std::uint64_t n = 0; n < wanted; ++n) {
    const std::uint64_t seed = kBaseSeed + n;
    ASSERT_TRUE(play_and_check(seed, any_fault(seed), &endings));
  }
  if (wanted < 800) return;
  for (const char* const ending :
       {"completed", "cached", "replayed", "requires_confirmation", "blocked in flight",
        "blocked unknown outcome", "blocked idempotency conflict", "blocked approval_expired",
        "blocked event sink failed", "blocked shadow", "invalidated interrupted",
        "invalidated the hand-off expired without a result", "persistence_failed interrupted",
        "persistence_failed the intent could not be recorded",
        "persistence_failed the approval question could not be recorded",
        "persistence_failed completed could not be recorded",
        "persistence_failed blocked could not be recorded"}) {
    EXPECT_TRUE(endings.contains(ending)) << "no history came to `" << ending << "`";
  }
}

// AU-32 AU-34 AU-35 AU-45 AU-76 EV-62
TEST(CallHistoryTest, AnyWriteMayBeRefused) {
  fail_every_write(Fault::Kind::Refuses, 2, wanted_histories(800) / 100);
}

// AU-32 AU-35 AU-50 AU-78 EV-51
TEST(CallHistoryTest, TheProcessMayDieBeforeAnyWrite) {
  fail_every_write(Fault::Kind::DiesBefore, 1, wanted_histories(800) / 100);
}

// AU-32 AU-35 AU-50 AU-78 EV-51
TEST(CallHistoryTest, TheProcessMayDieBehindAnyWrite) {
  fail_every_write(Fault::Kind::DiesAfter, 1, wanted_histories(800) / 100);
}

}  // namespace
}  // namespace sallyport::core
