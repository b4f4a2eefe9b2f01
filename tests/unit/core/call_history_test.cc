// Generated histories of calls, and what must hold after each of them.
#include "support/call_history.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace sallyport::core {
namespace {

using test::Fault;
using test::History;

constexpr std::uint64_t kBaseSeed = 20'250'601;

std::uint64_t wanted_histories(std::uint64_t usual) {
  const char* const text = std::getenv("SALLYPORT_HISTORIES");
  return text == nullptr ? usual : std::strtoull(text, nullptr, 10);
}

std::string described(std::uint64_t seed, const Fault& fault) {
  constexpr std::array kNames{"None", "Refuses", "RefusesAnnouncements", "DiesBefore", "DiesAfter"};
  return fmt::format("seed {}, fault {} at write {} for {}", seed,
                     kNames[static_cast<std::size_t>(fault.kind)], fault.at, fault.period);
}

// The number of writes it took; nothing once something was wrong.
std::optional<std::size_t> play_and_check(std::uint64_t seed, const Fault& fault) {
  History history(seed);
  test::play(history, fault);
  const std::vector<std::string> violations = test::violations_of(history);
  for (const std::string& violation : violations) {
    ADD_FAILURE() << described(seed, fault) << ": " << violation;
  }
  if (!violations.empty()) return std::nullopt;
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
  for (std::uint64_t n = 0; n < wanted_histories(1500); ++n) {
    const std::uint64_t seed = kBaseSeed + n;
    ASSERT_TRUE(play_and_check(seed, any_fault(seed)));
  }
}

// AU-32 AU-34 AU-35 AU-45 AU-76 EV-62
TEST(CallHistoryTest, AnyWriteMayBeRefused) {
  fail_every_write(Fault::Kind::Refuses, 2, wanted_histories(150) / 10);
}

// AU-32 AU-35 AU-50 AU-78 EV-51
TEST(CallHistoryTest, TheProcessMayDieBeforeAnyWrite) {
  fail_every_write(Fault::Kind::DiesBefore, 1, wanted_histories(150) / 10);
}

// AU-32 AU-35 AU-50 AU-78 EV-51
TEST(CallHistoryTest, TheProcessMayDieBehindAnyWrite) {
  fail_every_write(Fault::Kind::DiesAfter, 1, wanted_histories(150) / 10);
}

}  // namespace
}  // namespace sallyport::core
